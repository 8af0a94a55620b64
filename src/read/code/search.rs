//! [`Search`]: which code is worth reading. Cheap questions to its text alone, asked before anything is parsed:
//!
//! ```text
//! file: does it hold a word? ─► its items: which hold one? ─► is there one in which a site may stand? ─► parse all of these
//! ```
//!
//! The words stand in `rules/languages/<language>.toml` and in the catalogue. What a site needs is what its recogniser asks for
//! first: a loop one of the names that speak of tries or waits, a library one of the names that its shapes go by. No answer may
//! be no where a site is.

use std::collections::HashMap;
use std::sync::Arc;

use super::catalogue::format::Library;
use super::catalogue::{Catalogue, telling};
use super::hits::Hits;
use super::packages::{Package, PackageId, Packages};
use super::words::Words;
use crate::read::suppress;

/// Which code of a package is worth reading.
#[derive(Clone, Debug)]
pub struct Search {
    /// What a file must hold one of, and then an item.
    pub words: Hits,
    /// None if every item that holds a word may hold a site.
    needs: Option<Needs>,
}

/// What sites need, by what they are.
#[derive(Clone, Debug)]
struct Needs {
    /// A loop, or a function that calls itself.
    repeated: Hits,
    /// A helper that is called, an object that is made, by its name.
    named: Hits,
    /// The fields of an object that says how often …
    counts: Hits,
    /// … and how long to wait.
    delays: Hits,
    /// A use of a library; none if the package uses none.
    libraries: Option<Hits>,
}

impl Search {
    /// For these words; every item that holds one may hold a site.
    pub fn all_with<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        Search { words: Hits::new(words), needs: None }
    }

    /// The same, but that every item which holds a word may hold a site.
    #[must_use]
    pub fn whatever_it_needs(&self) -> Self {
        Search { needs: None, ..self.clone() }
    }

    /// For what a language calls retrying, and for these libraries.
    fn of(words: &Words, libraries: &[&Library]) -> Self {
        let names = &words.loops.names;
        let roots: Vec<String> = libraries.iter().flat_map(|library| telling::roots(library)).collect();
        let types: Vec<String> = libraries.iter().flat_map(|library| telling::types(library, &words.search)).collect();
        let all = words.search.iter().chain(&roots).chain(&types).map(String::as_str);
        let all = all.filter(|word| !word.is_empty()).chain([suppress::MARK]);
        let waits: Vec<String> = words.loops.waits.words().map(telling::spelled).collect();
        let lists: [&[String]; 5] = [&names.attempts, &names.schedules, &names.waits, &names.retries, &waits];
        let constructs: Vec<String> = libraries.iter().flat_map(|library| telling::constructs(library)).collect();
        // What a library asks whether to try again is known by the method that it asks.
        let asked = words.loops.deciders.iter().map(|decider| &decider.method);
        let hits = |words: &[String]| Hits::new(words.iter().map(String::as_str));
        let needs = Needs {
            repeated: Hits::new(lists.into_iter().flatten().map(String::as_str)),
            named: Hits::new(names.schedules.iter().chain(names.retries.iter()).chain(asked).map(String::as_str)),
            counts: hits(&names.attempts),
            delays: hits(&names.delays),
            libraries: (!constructs.is_empty()).then(|| hits(&constructs)),
        };
        Search { words: Hits::with_parts(all, words.search_parts.iter().map(String::as_str)), needs: Some(needs) }
    }

    /// Whether a site may stand in the text of an item. `repeats`: whether there may be a loop in it, or a function that calls
    /// itself.
    pub fn may_hold_site(&self, item: &str, repeats: impl FnOnce() -> bool) -> bool {
        let Some(needs) = &self.needs else { return true };
        needs.named.is_match(item)
            || needs.libraries.as_ref().is_some_and(|libraries| libraries.is_match(item))
            || (needs.counts.is_match(item) && needs.delays.is_match(item))
            || (needs.repeated.is_match(item) && repeats())
    }

    /// Whether an import or alias gives another name to something that a site needs.
    pub fn is_renamed(&self, import: &str) -> bool {
        self.may_hold_site(import, || true)
    }
}

/// The searches of all packages in one language: one for each set of libraries that a package uses.
#[derive(Debug)]
pub struct Searches {
    /// By package.
    packages: Vec<Arc<Search>>,
    /// For code of which no package is known: any library may be used.
    other: Arc<Search>,
}

impl Searches {
    /// For these packages.
    pub fn new(words: &Words, catalogue: &Catalogue, packages: &Packages) -> Self {
        let mut known: HashMap<Vec<bool>, Arc<Search>> = HashMap::new();
        let mut of = |package: Option<&Package>| {
            let is_used: Vec<bool> = catalogue.libraries().map(|library| library.may_be_used_by(package)).collect();
            let used = || catalogue.libraries().zip(&is_used).filter(|(_, is_used)| **is_used);
            let search = || Arc::new(Search::of(words, &used().map(|(library, _)| library).collect::<Vec<_>>()));
            let found = known.get(&is_used).cloned().unwrap_or_else(search);
            Arc::clone(known.entry(is_used).or_insert(found))
        };
        Searches { other: of(None), packages: packages.iter().map(|(_, package)| of(Some(package))).collect() }
    }

    /// That of a package.
    pub fn of(&self, package: Option<PackageId>) -> &Search {
        package.and_then(|id| self.packages.get(id.0 as usize)).unwrap_or(&self.other)
    }
}

#[cfg(test)]
#[path = "search_tests.rs"]
mod tests;
