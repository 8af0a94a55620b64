//! The languages that are read, and one file of code into facts.

use std::sync::Arc;

use super::catalogue::{self, Catalogue};
use super::directive::Directive;
use super::files::Files;
use super::hits::Hits;
use super::packages::Package;
use super::project::{Finder, Project};
use super::rust::{self, Input, Read};
use super::tree::{At, Unit};
use super::words::Words;
use super::{assemble, loops};
use crate::facts::{Facts, FileKind};
use crate::read::suppress;

/// A language.
#[derive(Debug)]
pub struct Language {
    /// What [`Unit::language`] says.
    pub name: &'static str,
    /// What its files are.
    pub kind: FileKind,
    /// Reads the items of a file that hold a word.
    pub read: fn(Input<'_>, &Hits) -> Read,
    /// The path of a file's module within its package.
    pub module: fn(Option<&Package>, &str) -> String,
    /// What finds names in other files.
    pub finder: fn(Arc<dyn Files>) -> Box<dyn Finder>,
}

/// The stack, in bytes, of threads on which files are read.
pub const STACK: usize = rust::STACK;

/// All languages.
pub static LANGUAGES: &[&Language] = &[&rust::LANGUAGE];

impl Language {
    /// The language of a kind of files; none for data.
    pub fn of(kind: FileKind) -> Option<&'static Language> {
        LANGUAGES.iter().find(|language| language.kind == kind).copied()
    }
}

/// What is wanted of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted {
    /// What cannot be read is told even if the file holds no word.
    pub problems: bool,
    /// Comments in test code count.
    pub tests: bool,
}

/// For each language: the words that retrying is written with, those of libraries that are looked for, and that of comments to
/// us.
pub(super) fn hits(catalogue: &Catalogue) -> Vec<(&'static str, Hits)> {
    let libraries = catalogue.words();
    let of = |language: &&Language| {
        let search = &Words::of(language.name).search;
        let types = catalogue::telling_types(language.name, search);
        let words = search.iter().chain(&libraries).chain(&types).map(String::as_str);
        (language.name, Hits::new(words.filter(|word| !word.is_empty()).chain([suppress::MARK])))
    };
    LANGUAGES.iter().map(of).collect()
}

impl Project {
    /// One file into facts.
    pub fn read(&self, language: &Language, input: Input<'_>, wanted: Wanted) -> Facts {
        let hits = self.hits(language.name);
        let Read { unit, mut facts, directives, problems } = (language.read)(input, hits);
        // Nearly every file can be read, and then there is nothing to search it for again.
        if !problems.is_empty() && (wanted.problems || hits.is_match(input.text)) {
            facts.problems.extend(problems);
        }
        if !wanted.tests {
            // Nothing is said about what tests do, so that there is nothing to silence.
            facts.suppressions.retain(|one| !unit.is_test(At { start: one.span.start, end: one.span.end }));
        }
        facts.absorb(self.sites(&unit, &directives));
        facts.policies.iter_mut().for_each(|policy| policy.notation = language.kind);
        facts
    }

    fn sites(&self, unit: &Arc<Unit>, directives: &[Directive]) -> Facts {
        let mut sites = catalogue::sites(self, unit);
        sites.append(&mut loops::sites(self, unit));
        sites.sort_by_key(|site| (site.policy.span, std::cmp::Reverse(site.policy.span.end)));
        assemble::facts(self, unit, sites, directives)
    }
}
