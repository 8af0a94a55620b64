//! Files into facts. Parser types stop here: what leaves this module are [`Facts`](crate::facts::Facts).
//!
//! ```text
//! text ─► data (spanned tree) ─► documents ─► the first dialect that recognises a document ─► facts
//! ```

pub mod code;
pub mod data;
pub mod dialects;
mod embedded;
mod file;
pub mod manifests;
pub mod suppress;
pub mod vocabulary;

use std::sync::Arc;

use self::code::catalogue::format::Library;
use crate::facts::Facts;
use crate::source::FileId;

pub use file::{Parsed, Words, parse_file, read_file};

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
    /// In-house helpers that retry: `[[library]]`.
    pub libraries: Vec<Arc<Library>>,
}

/// The newest Istio release whose defaults are known.
pub const NEWEST_ISTIO: (u32, u32) = (1, 31);

impl Default for ReadSettings {
    fn default() -> Self {
        ReadSettings { istio_version: NEWEST_ISTIO, libraries: Vec::new() }
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

/// All dialects, in order of precedence: the first that recognises a document reads it.
pub static DIALECTS: &[&Dialect] = &[
    &dialects::istio::DIALECT,
    &dialects::kubernetes::DIALECT,
    &dialects::envoy::DIALECT,
    &manifests::services::DIALECT,
    &dialects::dotnet::DIALECT,
    &dialects::generic::DIALECT,
    &dialects::unread::DIALECT,
];

/// What a dialect settles when every file has been read.
pub type Finish = fn(&mut Facts);

/// In the order in which they run.
pub static FINISH: &[Finish] =
    &[dialects::istio::finish, dialects::dotnet::finish, code::assemble::finish, code::catalogue::finish];

/// Settles what needs the facts of all files. To be called once, after the last file.
pub fn finish(facts: &mut Facts) {
    for finish in FINISH {
        finish(facts);
    }
}
