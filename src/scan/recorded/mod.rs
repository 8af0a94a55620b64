//! Facts that an earlier run wrote to a file (contracts.md D-22): what such a file is, and how it is read back.
//!
//! ```text
//! file ─► is it one? ─► document ─► check: everything points to something ─► join: several runs become one ─► facts
//! ```
//!
//! Nobody says that it was retrylint who wrote it, so nothing in it is trusted: what is read here holds together, or it is an
//! error.

mod check;
mod join;

use std::sync::Arc;

use serde::Deserialize;

use super::{Counts, ScanError};
use crate::facts::{Facts, File};
use crate::source::{KeptLine, Source};
pub(super) use join::join;
pub use join::{forget_known, settings};

/// What such a file says that it is.
pub const KIND: &str = "retrylint-facts";

/// The version of the format. Fields that an older file may lack are added without another one.
pub const VERSION: u64 = 1;

/// A file of facts stands for many files, so it may be so many times as large as one of them.
const LARGER: u64 = 16;

/// What was read from a file of facts.
#[derive(Debug)]
pub struct Recorded {
    /// The file, as shown.
    pub name: String,
    /// What is kept of the files that it tells of.
    pub sources: Vec<Source>,
    /// Its facts.
    pub facts: Facts,
    /// What was looked at.
    pub counts: Counts,
}

/// The document. What it has besides is of a later version, and left aside.
#[derive(Deserialize)]
struct Document<'a> {
    version: u64,
    counts: Counts,
    #[serde(borrow)]
    sources: Vec<Kept<'a>>,
    facts: Facts,
}

/// What is kept of a file.
#[derive(Deserialize)]
struct Kept<'a> {
    #[serde(borrow)]
    lines: Vec<KeptLine<'a>>,
}

/// What a document says of itself.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    kind: std::borrow::Cow<'a, str>,
    version: Option<u64>,
}

/// Whether a text is a file of facts, whatever else is right or wrong with it.
pub fn is_one(text: &str) -> bool {
    let quoted = format!("\"{KIND}\"");
    begins(text.as_bytes())
        || (memchr::memmem::find(text.as_bytes(), quoted.as_bytes()).is_some()
            && serde_json::from_str::<Head<'_>>(text).is_ok_and(|head| head.kind == KIND))
}

/// Whether a file begins as `retrylint facts` begins it. Its end may be missing.
pub fn begins(mut bytes: &[u8]) -> bool {
    let quoted = format!("\"{KIND}\"");
    ["\u{feff}", "{", "\"kind\"", ":", &quoted].into_iter().all(|token| {
        let rest = bytes.strip_prefix(token.as_bytes());
        bytes = rest.unwrap_or(bytes).trim_ascii_start();
        rest.is_some() || token == "\u{feff}"
    })
}

/// Whether such a file lies at a path.
pub fn lies_at(path: &std::path::Path) -> bool {
    super::contents::begins_as_facts(path)
}

/// How large a file may be that begins so, where other files may have `max` bytes.
pub fn largest(max: u64) -> u64 {
    max.saturating_mul(LARGER)
}

/// Reads a file of facts. What it returns holds together: see [`check`].
///
/// # Errors
/// If it is of another version, has another shape, or points to what it does not have.
pub fn read(name: &str, text: &str) -> Result<Recorded, ScanError> {
    let fault = |message: String| ScanError::Facts { path: name.to_string(), message };
    let text = text.trim_start_matches('\u{feff}');
    let document = serde_json::from_str::<Document<'_>>(text).map_err(|error| {
        // Another version may have another shape.
        let head = serde_json::from_str::<Head<'_>>(text).ok();
        let other = head.and_then(|head| head.version).filter(|version| *version != VERSION);
        fault(other.map_or_else(|| error.to_string(), of_version))
    })?;
    let Document { version, counts, sources: kept, mut facts } = document;
    if version != VERSION {
        return Err(fault(of_version(version)));
    }
    if kept.len() != facts.files.len() {
        return Err(fault(format!("there are {} files and the lines of {}", facts.files.len(), kept.len())));
    }
    let source = |(file, kept): (&File, Kept<'_>)| {
        Source::of_lines(Arc::clone(&file.path), kept.lines)
            .map_err(|line| fault(format!("line {line} of {} cannot stand where it does", file.path)))
    };
    let sources = facts.files.iter().zip(kept).map(source).collect::<Result<Vec<_>, _>>()?;
    check::check(&mut facts, &sources).map_err(fault)?;
    Ok(Recorded { name: name.to_string(), sources, facts, counts })
}

fn of_version(version: u64) -> String {
    format!("they are of version {version}, and version {VERSION} is read")
}

#[cfg(test)]
mod tests;
