//! The languages that are read, and one file of code into facts.

use std::sync::Arc;

use super::catalogue::{self, Catalogue};
use super::directive::Directive;
use super::files::Files;
use super::packages::{Package, Packages};
use super::project::{Finder, Project};
use super::rust::{self, Input, Read};
use super::search::{Search, Searches};
use super::tree::{At, Unit};
use super::words::Words;
use super::{assemble, loops};
use crate::facts::{Facts, FileKind};

/// A language.
#[derive(Debug)]
pub struct Language {
    /// What [`Unit::language`] says.
    pub name: &'static str,
    /// What its files are.
    pub kind: FileKind,
    /// Reads the items of a file that hold a word; those of test code only if they are asked for.
    pub read: fn(Input<'_>, &Search, bool) -> Read,
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
    /// All that holds a word is read, whether or not a site may stand in it: only to show that this changes nothing.
    pub whatever_it_needs: bool,
}

/// For each language: which code of each package is worth reading.
pub(super) fn searches(catalogue: &Catalogue, packages: &Packages) -> Vec<(&'static str, Searches)> {
    let of = |language: &&Language| (language.name, Searches::new(Words::of(language.name), catalogue, packages));
    LANGUAGES.iter().map(of).collect()
}

impl Project {
    /// One file into facts.
    pub fn read(&self, language: &Language, input: Input<'_>, wanted: Wanted) -> Facts {
        let search = self.search(language.name, input.package.map(|(id, _)| id));
        let search = match wanted.whatever_it_needs {
            true => &search.whatever_it_needs(),
            false => search,
        };
        let Read { unit, mut facts, directives, problems } = (language.read)(input, search, wanted.tests);
        // Nearly every file can be read, and then there is nothing to search it for again.
        if !problems.is_empty() && (wanted.problems || search.words.is_match(input.text)) {
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
