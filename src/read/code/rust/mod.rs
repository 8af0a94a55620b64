//! Rust: text into the neutral tree.
//!
//! ```text
//! text ─► outline (items, test code) and comments, by brackets and keywords alone
//!      ─► select: the items that hold a word, if a site may stand in one ─► guard (nesting) ─► cut: their text
//!      ─► syn ─► lower ─► Unit
//! ```
//!
//! Nothing of the parser leaves this module, and it needs a thread with a large stack: see [`STACK`].

mod attributes;
mod callers;
mod comments;
mod cut;
mod extents;
mod find;
mod finder;
#[cfg(test)]
mod finder_tests;
mod guard;
pub mod items;
mod layout;
pub mod lower;
pub mod names;
mod outline;
mod parse;
mod receiver;
pub mod scan;
mod select;
mod source;
mod uses;

use std::sync::Arc;

use super::Language;
use super::directive::Directive;
use super::packages::{Package, PackageId};
use super::search::Search;
use super::tree::Unit;
use crate::facts::{Facts, FileKind, Problem};
use crate::source::FileId;
use items::Outline;
use names::Names;
use parse::Reading;

/// The stack, in bytes, that a thread needs which calls [`read`] or [`item`].
pub const STACK: usize = 64 << 20;

/// Rust.
pub static LANGUAGE: Language = Language {
    name: "rust",
    kind: FileKind::Rust,
    read: |input, search, tests| read(input, search, if tests { How::Ranges } else { How::Production }),
    module: layout::module,
    finder: |files| Box::new(finder::Modules::new(files)),
};

/// A Rust file to be read.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The file.
    pub file: FileId,
    /// Its text as it lies on disk, a BOM included.
    pub text: &'a str,
    /// The path of its module within its package: `crate::retry`.
    pub module: &'a str,
    /// The package that it belongs to, if one is known.
    pub package: Option<(PackageId, &'a Package)>,
}

/// What came of a file.
#[derive(Debug)]
pub struct Read {
    /// Its tree: the items that hold a word, and the constants and imports of the file.
    pub unit: Arc<Unit>,
    /// Suppressions, and comments that are not understood.
    pub facts: Facts,
    /// What comments state of the code.
    pub directives: Vec<Directive>,
    /// Why parts of it are missing.
    pub problems: Vec<Problem>,
}

/// How a file is parsed. Functions that hold a word come out the same, where they are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Only what is worth it.
    Ranges,
    /// The same without test code.
    Production,
    /// All of it.
    Whole,
}

/// Reads a file.
pub fn read(input: Input<'_>, search: &Search, how: How) -> Read {
    // Most files that hold a word speak of something else: then nothing of them is needed, whether it parses or not.
    if how != How::Whole && !comments::speaks_to_us(input.text) && !search.may_hold_site(input.text, || true) {
        let unit = Reading::new(input, &Outline::default()).finish().0;
        return Read { unit: Arc::new(unit), facts: Facts::default(), directives: Vec::new(), problems: Vec::new() };
    }
    let outline = Outline::of(input.text);
    let comments = comments::read(input.text, outline.start, input.file);
    let is_taken = match how {
        How::Ranges | How::Production => {
            let tests = how == How::Ranges;
            let mut is_taken = select::worth_reading(input.text, &outline, &search.words, tests);
            // What comments say may be about any code.
            if comments.is_empty() && !select::may_hold_site(input.text, &outline, &is_taken, search) {
                is_taken.fill(false);
            }
            is_taken
        }
        How::Whole => select::all(&outline),
    };
    let mut reading = Reading::new(input, &outline);
    match how {
        How::Ranges | How::Production => reading.items(is_taken),
        How::Whole => reading.whole(is_taken),
    }
    let (unit, problems) = reading.finish();
    Read { unit: Arc::new(unit), facts: comments.facts, directives: comments.directives, problems }
}

/// Reads one item of a file, and the imports of the file: a function, constant, static, type, trait, or what stands in an impl or
/// trait. `path` is its path within the module of the file: `MAX`, `inner::MAX`, `Client::send`. All that go by that path are
/// read: there may be one for each platform. None if there is none. `names`: what names mean in the file, if that is known.
pub fn item(input: Input<'_>, outline: &Outline, names: Option<Arc<Names>>, path: &str) -> Option<Unit> {
    let is_taken = select::named(input.text, outline, path)?;
    let known = names.and_then(|names| Reading::new(input, outline).known(is_taken.clone(), names));
    if known.is_some() {
        return known;
    }
    let mut reading = Reading::new(input, outline);
    reading.items(is_taken);
    Some(reading.finish().0)
}

#[cfg(test)]
mod crates_tests;
