//! Which items of a file are worth parsing: functions that hold a word outside of comments, and what names and values in them
//! lead to without leaving the file.

use std::collections::HashMap;

use super::items::{Item, ItemKind, Outline, name_of, plain};
use super::scan::{Kind, Scanner};
use crate::read::code::hits::Hits;
use crate::read::code::search::Search;

/// Constants longer than this are tables: they are read if they hold a word.
const TABLE: u32 = 16 << 10;

/// Up to so many constants of a file are read without asking which are needed.
const FEW: usize = 50;

/// All items that hold no others.
pub fn all(outline: &Outline) -> Vec<bool> {
    (0u32..).zip(&outline.items).map(|(id, item)| item.next == id + 1).collect()
}

/// By index, whether an item is worth reading with all that stands in it: those that hold a word, and the imports, modules and
/// constants of the file. None at all if nothing that does something holds a word.
/// `tests`: whether test code is, too.
pub fn worth_reading(text: &str, outline: &Outline, hits: &Hits, tests: bool) -> Vec<bool> {
    let Some(places) = hits.places(text) else { return all(outline) };
    if !tests && outline.is_test {
        return vec![false; outline.items.len()];
    }
    let places: Vec<usize> = places.collect();
    let mut is_taken = vec![false; outline.items.len()];
    let mut rest = places.as_slice();
    while let Some(first) = rest.first() {
        let Some((id, item)) = outline.at(*first).and_then(|id| Some((id, outline.get(id)?))) else {
            rest = rest.get(1..).unwrap_or_default();
            continue;
        };
        if !tests && let Some((_, test)) = outline.around(id).filter(|(_, around)| around.is_test).last() {
            let behind = rest.partition_point(|place| *place < test.range.end as usize).max(1);
            rest = rest.get(behind..).unwrap_or_default();
            continue;
        }
        let is_leaf = item.next == id + 1;
        let end = if is_leaf { item.range.end } else { item.header.end } as usize;
        let (here, behind) = rest.split_at(rest.partition_point(|place| *place < end).max(1));
        rest = behind;
        if let Some(taken) = is_taken.get_mut(id as usize) {
            *taken = if is_leaf { acts(text, item) && holds(text, item, here) } else { heads(text, item, here) };
        }
    }
    if is_taken.contains(&true) {
        take_context(text, outline, &mut is_taken);
    }
    is_taken
}

/// Whether a site may stand in what is taken of a file.
pub fn may_hold_site(text: &str, outline: &Outline, is_taken: &[bool], search: &Search) -> bool {
    let taken = outline.items.iter().zip(is_taken).filter(|(_, is_taken)| **is_taken).map(|(item, _)| item);
    taken.into_iter().any(|item| {
        let all = text.get(item.range.start as usize..item.range.end as usize).unwrap_or_default();
        match outline.gives_name(item) {
            true => (item.kind == ItemKind::Type || all.contains(" as ")) && search.is_renamed(all),
            false => search.may_hold_site(all, || repeats(text, item)),
        }
    })
}

/// Whether there may be a loop in an item, or a function that calls itself.
fn repeats(text: &str, item: &Item) -> bool {
    let name = name_of(item, text);
    // The name of a function stands in its header, behind the one `fn` that it needs.
    let (mut functions, mut names) = (0, 0);
    let tokens =
        Scanner::new(text, item.header.start as usize).take_while(|token| token.end <= item.range.end as usize);
    for token in tokens.filter(|token| token.kind == Kind::Word) {
        match token.of(text) {
            "loop" | "while" | "for" => return true,
            "fn" => functions += 1,
            word => names += usize::from(plain(word) == name),
        }
        if functions > 1 || names > 1 {
            return true;
        }
    }
    !matches!(item.kind, ItemKind::Fn | ItemKind::Const | ItemKind::Static)
}

/// Whether an item may do something by itself.
fn acts(text: &str, item: &Item) -> bool {
    match item.kind {
        ItemKind::Fn | ItemKind::Macro | ItemKind::MacroRules | ItemKind::Other => true,
        // Empty, or nested so deep that what is in it was not looked into.
        ItemKind::Impl | ItemKind::Trait | ItemKind::Mod => item.body.is_some(),
        // A plain number does nothing.
        ItemKind::Const | ItemKind::Static => {
            let text = text.get(item.header.start as usize..item.header.end as usize).unwrap_or_default();
            text.split_once('=').is_some_and(|(_, value)| value.contains(['(', '{']))
        }
        ItemKind::Use
        | ItemKind::ExternCrate
        | ItemKind::Struct
        | ItemKind::Enum
        | ItemKind::Type
        | ItemKind::Foreign => false,
    }
}

/// Whether one of the places, all of them in the item, stands outside of comments.
fn holds(text: &str, item: &Item, mut places: &[usize]) -> bool {
    for token in Scanner::new(text, item.range.start as usize) {
        let behind = places.partition_point(|place| *place < token.end);
        let (here, rest) = places.split_at(behind);
        if token.kind != Kind::Comment && here.iter().any(|place| *place >= token.start) {
            return true;
        }
        places = rest;
        if places.is_empty() {
            break;
        }
    }
    false
}

/// Whether a word in the head of an impl or trait is about all that stands in it: in an attribute, or in the name of the trait
/// that is implemented.
fn heads(text: &str, item: &Item, places: &[usize]) -> bool {
    let until = match item.of_trait {
        Some(of_trait) => of_trait.end,
        None => item.header.start,
    };
    let (places, _) = places.split_at(places.partition_point(|place| *place < until as usize));
    item.kind != ItemKind::Mod && holds(text, item, places)
}

/// Takes what names and values lead to: imports, modules, constants. Not those in modules of tests in which nothing is read, and
/// of many constants only those that are named in what is read.
fn take_context(text: &str, outline: &Outline, is_taken: &mut [bool]) {
    let mut constants: Vec<u32> = Vec::new();
    let mut id = 0;
    while let Some(item) = outline.get(id) {
        let inside = id as usize..item.next as usize;
        let holds_others = item.next > id + 1;
        if item.is_test && holds_others && !is_taken.get(inside).is_some_and(|inside| inside.contains(&true)) {
            id = item.next;
            continue;
        }
        let is_context = match item.kind {
            _ if outline.gives_name(item) => true,
            ItemKind::Mod => item.body.is_none(),
            ItemKind::Const | ItemKind::Static => {
                if item.range.end - item.range.start <= TABLE {
                    constants.push(id);
                }
                false
            }
            _ => false,
        };
        if let Some(taken) = is_taken.get_mut(id as usize) {
            *taken |= is_context;
        }
        id += 1;
    }
    if constants.len() > FEW {
        constants = named_in(text, outline, is_taken, &constants);
    }
    for id in constants {
        if let Some(taken) = is_taken.get_mut(id as usize) {
            *taken = true;
        }
    }
}

/// Those constants that are named in what is taken, and in each other.
fn named_in(text: &str, outline: &Outline, is_taken: &[bool], constants: &[u32]) -> Vec<u32> {
    let of = |id: &u32| Some((*id, outline.get(*id)?));
    let mut by_name: HashMap<&str, Vec<u32>> = HashMap::new();
    for (id, item) in constants.iter().filter_map(of) {
        by_name.entry(name_of(item, text)).or_default().push(id);
    }
    let is_read = |(item, is_taken): &(&Item, &bool)| **is_taken && !matches!(item.kind, ItemKind::Use | ItemKind::Mod);
    let mut todo: Vec<&Item> = outline.items.iter().zip(is_taken).filter(is_read).map(|(item, _)| item).collect();
    let mut found = Vec::new();
    while let Some(item) = todo.pop() {
        let words =
            Scanner::new(text, item.header.start as usize).take_while(|token| token.end <= item.range.end as usize);
        for word in words.filter(|token| token.kind == Kind::Word) {
            // Each is found once, and then looked into.
            for id in by_name.remove(plain(word.of(text))).into_iter().flatten() {
                found.push(id);
                todo.extend(outline.get(id));
            }
        }
    }
    found
}

/// The items that go by a path within the module of the file, and the imports of the file. None if there is no such item.
pub fn named(text: &str, outline: &Outline, path: &str) -> Option<Vec<bool>> {
    let (around, name) = path.rsplit_once("::").unwrap_or(("", path));
    // What may be around: several modules, or several blocks of one type.
    let mut parents = vec![None];
    for part in around.split("::").filter(|part| !part.is_empty()) {
        let may_hold = |item: &Item| match item.kind {
            ItemKind::Mod | ItemKind::Trait | ItemKind::Impl => name_of(item, text) == part,
            _ => false,
        };
        let inside = parents.iter().flat_map(|parent| outline.inside(*parent));
        // An enum holds its variants.
        let is_enum = |item: &Item| item.kind == ItemKind::Enum && name_of(item, text) == part;
        parents = inside.filter(|(_, item)| may_hold(item) || is_enum(item)).map(|(id, _)| Some(id)).collect();
    }
    let mut is_taken = vec![false; outline.items.len()];
    let mut is_found = false;
    let mut take = |id: u32| {
        is_found = true;
        if let Some(taken) = is_taken.get_mut(id as usize) {
            *taken = true;
        }
    };
    for parent in parents {
        if let Some(id) = parent.filter(|id| outline.get(*id).is_some_and(|item| item.kind == ItemKind::Enum)) {
            take(id);
        }
        let is_named = |item: &Item| {
            !matches!(
                item.kind,
                ItemKind::Impl | ItemKind::Mod | ItemKind::Use | ItemKind::ExternCrate | ItemKind::Macro
            ) && name_of(item, text) == name
        };
        outline.inside(parent).filter(|(_, item)| is_named(item)).for_each(|(id, _)| take(id));
    }
    for (taken, item) in is_taken.iter_mut().zip(&outline.items) {
        *taken |= outline.gives_name(item);
    }
    is_found.then_some(is_taken)
}

#[cfg(test)]
#[path = "select_tests.rs"]
mod tests;
