//! A file as far as names lead into it: its items by name, its imports by scope.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashMap;

use super::Input;
use super::callers::{plain, words};
use super::items::{Item, ItemKind, Outline, name_of};
use super::names::Names;
use super::parse::Reading;
use super::uses::{self, Use};
use crate::source::FileId;

/// A module within a file: none for the file itself.
pub type Scope = Option<u32>;

/// A file that names lead into.
#[derive(Debug)]
pub struct Source {
    /// Its number.
    pub file: FileId,
    /// Its path.
    pub path: Arc<str>,
    /// Its text.
    pub text: Arc<str>,
    /// Its items.
    pub outline: Outline,
    named: FxHashMap<(Scope, String), Vec<u32>>,
    members: FxHashMap<(String, String), Vec<u32>>,
    uses: FxHashMap<Scope, Vec<Use>>,
    names: OnceLock<Option<Arc<Names>>>,
    calls: OnceLock<FxHashMap<String, Vec<usize>>>,
}

impl Source {
    /// From its text.
    pub fn new(file: FileId, path: Arc<str>, text: Arc<str>) -> Self {
        let outline = Outline::of(&text);
        let mut named: FxHashMap<(Scope, String), Vec<u32>> = FxHashMap::default();
        let mut members: FxHashMap<(String, String), Vec<u32>> = FxHashMap::default();
        let mut uses: FxHashMap<Scope, Vec<Use>> = FxHashMap::default();
        for (id, item) in (0u32..).zip(&outline.items) {
            let name = name_of(item, &text);
            match item.kind {
                ItemKind::Use | ItemKind::Type => uses.entry(item.parent).or_default().extend(uses::read(&text, item)),
                ItemKind::Impl | ItemKind::Macro | ItemKind::MacroRules | ItemKind::Foreign | ItemKind::Other => {
                    continue;
                }
                _ => {}
            }
            let around = item.parent.and_then(|parent| outline.get(parent));
            if let Some(owner) = around.filter(|around| matches!(around.kind, ItemKind::Impl | ItemKind::Trait)) {
                let key = (name_of(owner, &text).to_owned(), name.to_owned());
                members.entry(key).or_default().push(id);
            } else if !name.is_empty() {
                named.entry((item.parent, name.to_owned())).or_default().push(id);
            }
        }
        Source { file, path, text, outline, named, members, uses, names: OnceLock::new(), calls: OnceLock::new() }
    }

    /// The items of a name in a scope; those that are no test code, if there are any.
    pub fn named(&self, scope: Scope, name: &str) -> Vec<(u32, &Item)> {
        self.outside_tests(self.named.get(&(scope, name.to_owned())))
    }

    /// What a type has of that name, in the blocks of this file; what it has by itself before what it has of a trait.
    pub fn members(&self, owner: &str, name: &str) -> Vec<(u32, &Item)> {
        let mut all = self.outside_tests(self.members.get(&(owner.to_owned(), name.to_owned())));
        let is_own = |item: &Item| {
            item.parent.and_then(|id| self.outline.get(id)).is_some_and(|around| around.of_trait.is_none())
        };
        if all.iter().any(|(_, item)| is_own(item)) {
            all.retain(|(_, item)| is_own(item));
        }
        all
    }

    /// The names of all functions that a type has in the blocks of this file, in order.
    pub fn methods<'s>(&'s self, owner: &'s str) -> impl Iterator<Item = &'s str> {
        self.outline.items.iter().filter_map(move |item| {
            let around = self.outline.get(item.parent?)?;
            let is_its = around.kind == ItemKind::Impl && name_of(around, &self.text) == owner;
            (item.kind == ItemKind::Fn && is_its).then(|| name_of(item, &self.text))
        })
    }

    fn outside_tests(&self, ids: Option<&Vec<u32>>) -> Vec<(u32, &Item)> {
        let all = ids.into_iter().flatten().filter_map(|id| Some((*id, self.outline.get(*id)?)));
        let mut all: Vec<(u32, &Item)> = all.collect();
        if all.iter().any(|(id, _)| !self.is_test(*id)) {
            all.retain(|(id, _)| !self.is_test(*id));
        }
        all
    }

    /// Whether an item is test code.
    pub fn is_test(&self, id: u32) -> bool {
        self.outline.is_test || self.outline.around(id).any(|(_, item)| item.is_test)
    }

    /// The imports and aliases of a scope.
    pub fn uses(&self, scope: Scope) -> &[Use] {
        self.uses.get(&scope).map_or(&[], Vec::as_slice)
    }

    /// What names mean in it, read once. `input`: the file. None if its imports do not parse.
    pub fn names(&self, input: Input<'_>) -> Option<Arc<Names>> {
        self.names.get_or_init(|| Reading::names_of(input, &self.outline)).clone()
    }

    /// Where something of that name is called, outside of test code.
    pub fn calls(&self, name: &str) -> &[usize] {
        let calls = self.calls.get_or_init(|| {
            let mut calls: FxHashMap<String, Vec<usize>> = FxHashMap::default();
            for (word, _) in words(&self.text, &self.outline).filter(|(_, is_call)| *is_call) {
                calls.entry(plain(word.of(&self.text)).to_owned()).or_default().push(word.start);
            }
            calls
        });
        calls.get(name).map_or(&[], Vec::as_slice)
    }

    /// The text of `#[path = "…"]` of a module.
    pub fn path_of(&self, item: &Item) -> Option<&str> {
        let path = item.path?;
        self.text.get(path.start as usize..path.end as usize)
    }
}
