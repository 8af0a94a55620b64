//! What a name refers to, in this file or in another one of the project (contracts.md D-21): the prefilter decides which files
//! are searched for sites, but whatever a site needs is asked for here, and read if it was not.
//!
//! ```text
//! path ─► the asking unit itself ─► the language's Finder: package ─► root ─► modules, re-exports ─► file ─► that item only
//! ```
//!
//! Threads share a project. What it answers rests on texts alone, so that it is the same whoever asks first.

use std::fmt::Debug;
use std::sync::{Arc, LazyLock, OnceLock};

use super::catalogue::Catalogue;
use super::languages;
use super::packages::{PackageId, Packages};
use super::search::{Search, Searches};
use super::tree::{Kind, Name, Place, Sym, Unit};
use crate::source::FileId;

/// The code of a run, as far as it may be asked for.
#[derive(Debug, Default)]
pub struct Project {
    /// Its packages.
    pub packages: Packages,
    /// The libraries that are looked for in it.
    pub catalogue: Arc<Catalogue>,
    finders: Vec<(&'static str, Box<dyn Finder>)>,
    searches: OnceLock<Vec<(&'static str, Searches)>>,
}

/// How one language finds what a path names outside of the file that asks.
pub trait Finder: Debug + Send + Sync {
    /// What the project itself defines by a full path, seen from a unit; see [`Project::item`].
    fn item(&self, packages: &Packages, from: &Unit, full: &str) -> Option<Place>;
    /// The path of something from outside that goes by this one; see [`Project::outside`].
    fn outside(&self, packages: &Packages, from: &Unit, full: &str) -> Option<Sym>;
    /// The names of the functions of a type of the project; see [`Project::methods`].
    fn methods(&self, packages: &Packages, from: &Unit, full: &str) -> Vec<Sym>;
    /// The calls of a function that `from` defines, by its full path. `all_or_none`: none is as good as some of them.
    fn callers(&self, packages: &Packages, from: &Unit, full: &str, all_or_none: bool) -> Callers;
    /// Whether only tests have a file: `#[cfg(test)] mod tests;` stands where it is named.
    fn is_test(&self, packages: &Packages, file: FileId) -> bool;
    /// The texts of all files in which something was found: spans may point into them.
    fn texts(&self) -> Vec<(FileId, Arc<str>)>;
}

/// Who calls a function.
#[derive(Clone, Debug, Default)]
pub struct Callers {
    /// The calls, each in the unit of its file, by file and place.
    pub places: Vec<Place>,
    /// Whether there are no others: nobody outside the project can call it, and no call was left out.
    pub all: bool,
}

impl Project {
    /// A project of these packages that only knows what stands in the file that asks.
    pub fn new(packages: Packages) -> Self {
        Project { packages, ..Project::default() }
    }

    /// The same, in which these libraries are looked for.
    #[must_use]
    pub fn looking_for(mut self, catalogue: Arc<Catalogue>) -> Self {
        self.catalogue = catalogue;
        self
    }

    /// The same, that finds the code of one more language elsewhere too.
    #[must_use]
    pub fn with(mut self, language: &'static str, finder: Box<dyn Finder>) -> Self {
        self.finders.push((language, finder));
        self
    }

    /// The constant, function or type of a full path (see [`Name::full`]), asked for from `unit`: `crate::…` is within the
    /// package of `unit`, a member of the workspace goes by its library's name. Re-exports are followed. Methods and constants
    /// of types are `crate::module::Type::method`. None for what registries hold, and whatever cannot be told.
    pub fn item(&self, unit: &Arc<Unit>, full: &str) -> Option<Place> {
        match only(unit, full) {
            Some(own) => own.map(|id| Place { unit: Arc::clone(unit), id }),
            None => self.finder(unit)?.item(&self.packages, unit, full),
        }
    }

    /// The names of the functions that a type of the project has in the file in which it is defined, each once. `full` as in
    /// [`Project::item`], which gives each of them as `Type::function`.
    pub fn methods(&self, unit: &Arc<Unit>, full: &str) -> Vec<Sym> {
        let elsewhere = self.finder(unit).map(|finder| finder.methods(&self.packages, unit, full)).unwrap_or_default();
        let mut all = elsewhere;
        for (_, node) in unit.ids() {
            if let Kind::Function { name, owner: Some(owner), .. } = &node.kind
                && owner.full.as_deref() == Some(full)
            {
                all.push(Sym::clone(name));
            }
        }
        let mut seen = std::collections::HashSet::new();
        all.retain(|name| seen.insert(Sym::clone(name)));
        all
    }

    /// What a name refers to: by its full path, else by what its file imports everything of.
    pub fn named(&self, unit: &Arc<Unit>, name: &Name) -> Option<Place> {
        match &name.full {
            Some(full) => self.item(unit, full),
            None => unit.globs.iter().find_map(|module| self.item(unit, &format!("{module}::{}", name.text))),
        }
    }

    /// The full path of something from outside that the project hands on by a name of its own: `tokio_retry::Retry` for
    /// `crate::prelude::Retry`. None for what the project defines, and whatever cannot be told.
    pub fn outside(&self, unit: &Arc<Unit>, full: &str) -> Option<Sym> {
        let own = unit.defined(full).next();
        if own.is_some() { None } else { self.finder(unit)?.outside(&self.packages, unit, full) }
    }

    /// Who calls a function of the unit, given by its full path.
    pub fn callers(&self, unit: &Arc<Unit>, full: &str) -> Callers {
        self.finder(unit).map_or_else(Callers::default, |finder| finder.callers(&self.packages, unit, full, false))
    }

    /// The same if it is known that nobody else does; this is found out much sooner.
    pub fn all_callers(&self, unit: &Arc<Unit>, full: &str) -> Option<Vec<Place>> {
        let callers = self.finder(unit)?.callers(&self.packages, unit, full, true);
        callers.all.then_some(callers.places)
    }

    /// Whether only tests have the file of a unit.
    pub fn is_test(&self, language: &str, file: FileId) -> bool {
        self.of(language).is_some_and(|finder| finder.is_test(&self.packages, file))
    }

    /// The texts of all files in which something was found for another: spans may point into them.
    pub fn texts(&self) -> impl Iterator<Item = (FileId, Arc<str>)> {
        self.finders.iter().flat_map(|(_, finder)| finder.texts())
    }

    /// Which code of a package is worth reading, in a language.
    pub fn search(&self, language: &str, package: Option<PackageId>) -> &Search {
        static ALL: LazyLock<Search> = LazyLock::new(|| Search::all_with([""]));
        let all = self.searches.get_or_init(|| languages::searches(&self.catalogue, &self.packages));
        all.iter().find(|(known, _)| *known == language).map_or(&ALL, |(_, searches)| searches.of(package))
    }

    fn of(&self, language: &str) -> Option<&dyn Finder> {
        self.finders.iter().find(|(known, _)| *known == language).map(|(_, finder)| &**finder)
    }

    fn finder(&self, unit: &Unit) -> Option<&dyn Finder> {
        self.of(unit.language)
    }
}

/// What a unit itself defines by a full path: the one that is no test code. None if there is none, Some(None) if it cannot be
/// told which of several is meant.
pub fn only(unit: &Unit, full: &str) -> Option<Option<super::tree::Id>> {
    let is_type = |id| matches!(unit.kind(id), Kind::Type { .. });
    let mut all: Vec<_> = unit.defined(full).collect();
    if all.iter().any(|id| !unit.is_test(unit.at(*id))) {
        all.retain(|id| !unit.is_test(unit.at(*id)));
    }
    match all.as_slice() {
        [] => None,
        [one] => Some(Some(*one)),
        // A type and the blocks of its methods are one thing.
        [first, ..] => Some(all.iter().all(|id| is_type(*id)).then_some(*first)),
    }
}

#[cfg(test)]
mod tests;
