//! Files into facts. Parser types stop here: what leaves this module are [`Facts`](crate::facts::Facts).

pub mod data;
pub mod dialects;
pub mod manifests;
pub mod vocabulary;

use crate::facts::Facts;
use crate::source::FileId;

/// What every reader is given besides the document.
#[derive(Debug)]
pub struct Context<'a> {
    /// The file being read.
    pub file: FileId,
    /// Its path as shown.
    pub path: &'a str,
    /// Settings that change what files mean.
    pub settings: &'a ReadSettings,
}

/// Settings of retrylint.toml that change what files mean.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadSettings {
    /// The Istio release whose defaults apply, as (major, minor); the newest known if unset.
    pub istio_version: (u32, u32),
}

/// The newest Istio release whose defaults are known.
pub const NEWEST_ISTIO: (u32, u32) = (1, 31);

impl Default for ReadSettings {
    fn default() -> Self {
        ReadSettings { istio_version: NEWEST_ISTIO }
    }
}

/// A reader of one dialect: whether a document is its own, and the facts in it. The first that recognises a document
/// has it for itself.
pub struct Dialect {
    /// Its name in output.
    pub name: &'static str,
    /// A file that holds none of these words (case-sensitive) cannot be of this dialect: what the prefilter searches for.
    pub words: &'static [&'static str],
    /// Whether a document is of this dialect, from its shape.
    pub recognises: fn(data::tree::Node<'_>) -> bool,
    /// Reads it.
    pub read: fn(data::tree::Node<'_>, &Context<'_>, &mut Facts),
}
