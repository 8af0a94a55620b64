//! The items of a file as a list: where each begins and ends, what it is called, whether it is test code. Found by brackets and
//! keywords alone; what stands in functions is not looked at.

use super::outline;
use crate::read::code::tree::At;

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ItemKind {
    /// A function, with or without a body.
    Fn,
    /// `impl Type`, `impl Trait for Type`.
    Impl,
    /// A trait.
    Trait,
    /// A module, inline or in a file of its own.
    Mod,
    /// An import.
    Use,
    /// A constant, also of an impl or trait.
    Const,
    /// A static.
    Static,
    /// A struct or union.
    Struct,
    /// An enum.
    Enum,
    /// The name of a type: `type A = B;`.
    Type,
    /// The definition of a macro.
    MacroRules,
    /// The call of a macro where an item may stand.
    Macro,
    /// `extern crate`.
    ExternCrate,
    /// `extern "C" { … }`.
    Foreign,
    /// Anything else.
    Other,
}

/// An item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// Its name; of an impl, the last word of its type's name; of a macro's call, that of the macro. Empty if it has none.
    pub name: At,
    /// All of it, attributes and documentation included.
    pub range: At,
    /// From its first word up to its body.
    pub header: At,
    /// Its body, brackets included: of functions, impls, traits, modules, macros.
    pub body: Option<At>,
    /// Of an impl: the trait.
    pub of_trait: Option<At>,
    /// `#[path = "…"]` of a module: the text in the quotes.
    pub path: Option<At>,
    /// Whether it is visible outside its module: any `pub`.
    pub is_public: bool,
    /// Whether it is test code by its own attributes.
    pub is_test: bool,
    /// The impl, trait or module around it: an index.
    pub parent: Option<u32>,
    /// One past the last item that stands in it: an index.
    pub next: u32,
}

/// The items of a file, each before those in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// In the order in which they stand.
    pub items: Vec<Item>,
    /// Where code begins: behind a byte order mark, a `#!` line, a script's manifest.
    pub start: usize,
    /// Whether the whole file is test code.
    pub is_test: bool,
    /// Where the brackets do not match: one that is never closed, or closes nothing. Items before it are listed.
    pub broken: Option<usize>,
}

impl Outline {
    /// The items of a text.
    pub fn of(text: &str) -> Outline {
        outline::read(text)
    }

    /// The items directly in one, or at the top.
    pub fn inside(&self, of: Option<u32>) -> impl Iterator<Item = (u32, &Item)> {
        let (first, end) = match of {
            Some(id) => (id + 1, self.get(id).map_or(0, |item| item.next)),
            None => (0, self.items.len() as u32),
        };
        std::iter::successors(Some(first), |id| self.get(*id).map(|item| item.next))
            .take_while(move |id| *id < end)
            .filter_map(|id| Some((id, self.get(id)?)))
    }

    /// An item.
    pub fn get(&self, id: u32) -> Option<&Item> {
        self.items.get(id as usize)
    }

    /// An item and those around it, innermost first.
    pub fn around(&self, id: u32) -> impl Iterator<Item = (u32, &Item)> {
        std::iter::successors(Some(id), |id| self.get(*id)?.parent).filter_map(|id| Some((id, self.get(id)?)))
    }

    /// The innermost item around a place, if there is one.
    pub fn at(&self, place: usize) -> Option<u32> {
        let place = place as u32;
        let mut id = self.items.partition_point(|item| item.range.start <= place).checked_sub(1)? as u32;
        loop {
            let item = self.get(id)?;
            if place < item.range.end {
                return Some(id);
            }
            id = item.parent?;
        }
    }

    /// Whether an item gives another name to something: what names in the module mean rests on it. Types that an impl or trait
    /// is made of do not count.
    pub fn gives_name(&self, item: &Item) -> bool {
        let around = || item.parent.and_then(|parent| self.get(parent));
        match item.kind {
            ItemKind::Use | ItemKind::ExternCrate => true,
            ItemKind::Type => around().is_none_or(|around| around.kind == ItemKind::Mod),
            _ => false,
        }
    }

    /// Test code: the outermost ranges of it.
    pub fn tests<'a>(&'a self, text: &'a str) -> impl Iterator<Item = At> + 'a {
        let whole = self.is_test.then(|| at(0, text.len()));
        let within = |id: u32| self.around(id).skip(1).any(|(_, around)| around.is_test);
        let items = (0u32..).zip(&self.items).filter(move |(id, item)| item.is_test && !self.is_test && !within(*id));
        whole.into_iter().chain(items.map(|(_, item)| item.range))
    }

    /// The path of the module in which the items inside of `of` stand, from that of the file: `crate::retry::inner`.
    pub fn module(&self, of: Option<u32>, file: &str, text: &str) -> String {
        let inner = of.map(|id| self.around(id).filter(|(_, item)| item.kind == ItemKind::Mod).collect::<Vec<_>>());
        let names = inner.into_iter().flatten().rev().map(|(_, item)| name_of(item, text));
        names.fold(file.to_owned(), |path, name| path + "::" + name)
    }
}

/// The name of an item, without the `r#` of raw words.
pub fn name_of<'t>(item: &Item, text: &'t str) -> &'t str {
    plain(text.get(item.name.start as usize..item.name.end as usize).unwrap_or_default())
}

/// A word without the `r#` of raw words.
pub fn plain(word: &str) -> &str {
    word.strip_prefix("r#").unwrap_or(word)
}

/// A byte range. Files past 4 GiB cannot occur: the scan refuses them.
pub fn at(start: usize, end: usize) -> At {
    At { start: u32::try_from(start).unwrap_or(u32::MAX), end: u32::try_from(end).unwrap_or(u32::MAX) }
}

#[cfg(test)]
#[path = "items_tests.rs"]
mod tests;
