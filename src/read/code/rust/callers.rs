//! Who calls a function: the words of each file say which files may, an index of these says which do, and what stands there is
//! then looked at.

use std::collections::BTreeSet;
use std::hash::Hasher;
use std::sync::Arc;

use rustc_hash::FxHasher;

use super::find::Hit;
use super::finder::Modules;
use super::items::{Item, ItemKind, Outline, name_of};
use super::receiver::{Receiver, receiver};
use super::scan::{Kind as TokenKind, Scanner, Token, ascii_words};
use super::source::Source;
use crate::read::code::packages::{PackageId, Packages};
use crate::read::code::project::Callers;
use crate::read::code::tree::{At, Id, Kind, Name, Place, Unit};
use crate::source::FileId;

/// Files in which something of that name is called. Where there are more, the name says nothing.
const MOST_FILES: usize = 64;

/// Words that a text holds, each a pair of bits: it may seem to hold one that it does not (one in twenty does), and never the
/// other way round. Finding out costs a tenth of [`Index`], and takes a sixteenth of the text's room at most.
#[derive(Debug)]
pub struct Vocabulary {
    bits: Box<[u64]>,
}

impl Vocabulary {
    /// Of a text.
    pub fn of(text: &str) -> Self {
        // Code has about one new word in thirty bytes: eight bits for each.
        let mut all = Vocabulary { bits: vec![0; (text.len() / 4 / 64).next_power_of_two()].into() };
        for word in ascii_words(text.as_bytes()) {
            for (at, bit) in all.places(word) {
                if let Some(bits) = all.bits.get_mut(at) {
                    *bits |= bit;
                }
            }
        }
        all
    }

    /// Whether the text may hold a word.
    pub fn may_hold(&self, word: &str) -> bool {
        let holds = |(at, bit)| self.bits.get(at).is_some_and(|bits: &u64| bits & bit != 0);
        !word.is_ascii() || self.places(word.as_bytes()).into_iter().all(holds)
    }

    fn places(&self, word: &[u8]) -> [(usize, u64); 2] {
        let mut hasher = FxHasher::default();
        hasher.write(word);
        let hash = hasher.finish();
        // Their number is a power of two.
        let place = |hash: u64| ((hash >> 6) as usize & (self.bits.len() - 1), 1 << (hash & 63));
        [place(hash), place(hash >> 32)]
    }
}

/// What a file calls, mentions and defines, by a number made of the name.
#[derive(Debug, Default)]
pub struct Index {
    calls: Vec<u32>,
    mentions: Vec<u32>,
    members: Vec<u32>,
}

impl Index {
    /// Of a text. Test code calls nothing.
    pub fn of(text: &str) -> Self {
        let outline = Outline::of(text);
        let mut index = Index::default();
        for item in &outline.items {
            if let Some(owner) = item.parent.and_then(|id| outline.get(id)).filter(|around| has_members(around)) {
                index.members.push(number(name_of(owner, text), name_of(item, text)));
            }
        }
        for (word, is_call) in words(text, &outline) {
            let list = if is_call { &mut index.calls } else { &mut index.mentions };
            list.push(number("", plain(word.of(text))));
        }
        for list in [&mut index.calls, &mut index.mentions, &mut index.members] {
            list.sort_unstable();
            list.dedup();
            list.shrink_to_fit();
        }
        index
    }

    /// Whether a type has something of that name in the file.
    pub fn has_member(&self, owner: &str, name: &str) -> bool {
        self.members.binary_search(&number(owner, name)).is_ok()
    }
}

fn has_members(item: &Item) -> bool {
    matches!(item.kind, ItemKind::Impl | ItemKind::Trait)
}

/// A number for a name. Two names may share one: what it leads to is looked at anyway.
fn number(owner: &str, name: &str) -> u32 {
    let bytes = owner.bytes().chain([b':']).chain(name.bytes());
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// A word without the `r#` of raw ones.
pub fn plain(word: &str) -> &str {
    word.strip_prefix("r#").unwrap_or(word)
}

/// The words of a text that may name a function, outside of test code and imports, and whether each is called.
pub fn words<'t>(text: &'t str, outline: &'t Outline) -> impl Iterator<Item = (Token, bool)> + 't {
    let mut skipped: Vec<At> = outline.tests(text).collect();
    skipped.extend(outline.items.iter().filter(|item| item.kind == ItemKind::Use).map(|item| item.range));
    skipped.sort();
    let mut skipped = skipped.into_iter().peekable();
    let mut scanner = Scanner::new(text, outline.start);
    let mut last = TokenKind::Sign(b' ');
    let mut is_definition = false;
    std::iter::from_fn(move || {
        loop {
            let token = scanner.code()?;
            while let Some(range) = skipped.next_if(|range| range.start as usize <= token.start) {
                if token.start < range.end as usize {
                    scanner = Scanner::new(text, range.end as usize);
                }
            }
            if scanner.at() != token.end {
                continue;
            }
            let before = std::mem::replace(&mut last, token.kind);
            let behind_fn = std::mem::replace(&mut is_definition, token.of(text) == "fn");
            if token.kind != TokenKind::Word || behind_fn || token.of(text).starts_with(|c: char| c.is_uppercase()) {
                continue;
            }
            let mut ahead = scanner.clone();
            let mut next = || ahead.code().map(|token| token.kind);
            let is_call = match next() {
                Some(TokenKind::Open(b'(')) => true,
                Some(TokenKind::Sign(b':')) => {
                    // A path, unless it is only the types that a function is called with.
                    let behind = [next(), next()];
                    if behind != [Some(TokenKind::Sign(b':')), Some(TokenKind::Sign(b'<'))] {
                        continue;
                    }
                    true
                }
                // A macro, a field: no function.
                Some(TokenKind::Sign(b'!')) => continue,
                _ if before == TokenKind::Sign(b'.') => continue,
                _ => false,
            };
            return Some((token, is_call));
        }
    })
}

/// The function whose callers are asked for.
pub struct Target {
    /// Its file.
    pub source: Arc<Source>,
    /// Its item.
    pub item: u32,
    package: PackageId,
}

impl Target {
    /// From its full path, as its own file has it.
    pub fn new(modules: &Modules, packages: &Packages, from: &Unit, full: &str) -> Option<Target> {
        let source = modules.source_of(from.file)?;
        let (_, name) = full.rsplit_once("::")?;
        let package = from.package?;
        // Its own file knows it best: the modules that lead to the file need not be found for that.
        let is_it = |(id, item): (u32, &Item)| {
            let is_function = item.kind == ItemKind::Fn && name_of(item, &source.text) == name;
            (is_function && modules.full_path(packages, &source, id).as_deref() == Some(full)).then_some(id)
        };
        let own: Vec<u32> = (0u32..).zip(&source.outline.items).filter_map(is_it).collect();
        let own: Vec<u32> = match own.iter().any(|id| !source.is_test(*id)) {
            true => own.into_iter().filter(|id| !source.is_test(*id)).collect(),
            false => own,
        };
        match own.as_slice() {
            [item] => Some(Target { item: *item, source, package }),
            [] => match modules.hit(packages, from, full)? {
                Hit::Item(source, item) => {
                    let is_function = source.outline.get(item)?.kind == ItemKind::Fn;
                    let package = packages.of(&source.path).filter(|_| is_function)?;
                    Some(Target { source, item, package })
                }
                Hit::Outside(_) => None,
            },
            _ => None,
        }
    }

    /// Its callers. `all_or_none`: those of which it is not known that there are no others are not wanted, and not looked for
    /// any further once that is clear.
    pub fn callers(&self, modules: &Modules, packages: &Packages, all_or_none: bool) -> Callers {
        let Some(item) = self.source.outline.get(self.item) else { return Callers::default() };
        let name = name_of(item, &self.source.text).to_owned();
        let owner = item.parent.and_then(|id| self.source.outline.get(id)).filter(|around| has_members(around));
        let owner = owner.map(|owner| (name_of(owner, &self.source.text).to_owned(), owner.of_trait.is_some()));
        let is_shared = self.is_shared(item);
        let has_library = packages.get(self.package).is_some_and(|package| package.library.is_some());
        let mut all = !(is_shared && has_library);
        if all_or_none && !all {
            return Callers::default();
        }
        let mut places = Vec::new();
        let number = number("", &name);
        for package in self.packages(modules, packages, is_shared && has_library) {
            let mut files: Vec<FileId> = Vec::new();
            for (file, index) in modules.speaking_of(packages, package, &[&name]) {
                all &= index.mentions.binary_search(&number).is_err();
                files.extend(index.calls.binary_search(&number).is_ok().then_some(file));
                if files.len() > MOST_FILES || (all_or_none && !all) {
                    return Callers::default();
                }
            }
            if let Some((_, is_of_trait)) = &owner {
                // Whose method it is cannot be seen in other files.
                let is_own = files.iter().all(|file| *file == self.source.file);
                all &= files.is_empty() || (is_own && !is_shared && !is_of_trait);
            }
            if all_or_none && !all {
                return Callers::default();
            }
            for source in files.into_iter().filter_map(|file| modules.source_of(file)) {
                let is_own = source.file == self.source.file;
                // That the file speaks of the type is as good as to see whose method it is.
                if owner.as_ref().is_some_and(|(owner, _)| !is_own && !speaks_of(&source, owner)) {
                    continue;
                }
                let owner = owner.as_ref().map(|(owner, _)| &**owner);
                let calls = Calls { modules, packages, target: self, name: &name, owner };
                all &= calls.of(&source, &mut places);
                if all_or_none && !all {
                    return Callers::default();
                }
            }
        }
        places.sort_by_key(Place::span);
        Callers { places, all }
    }

    /// Whether it can be named from outside of its package: `pub`, and not `pub(crate)`.
    fn is_shared(&self, item: &Item) -> bool {
        let header = self.source.text.get(item.header.start as usize..).unwrap_or_default();
        item.is_public && !header.strip_prefix("pub").is_some_and(|rest| rest.trim_start().starts_with('('))
    }

    /// The packages in which it may be called.
    fn packages(&self, modules: &Modules, packages: &Packages, is_shared: bool) -> BTreeSet<PackageId> {
        let mut found = BTreeSet::from([self.package]);
        let mut todo = vec![self.package];
        while let Some(id) = todo.pop().filter(|_| is_shared) {
            todo.extend(modules.dependents(packages, id).iter().copied().filter(|other| found.insert(*other)));
        }
        found
    }
}

/// Whether a word stands anywhere in a file.
fn speaks_of(source: &Source, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    source.text.match_indices(word).any(|(at, _)| {
        let before = source.text.get(..at).and_then(|text| text.chars().next_back());
        let behind = source.text.get(at + word.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(is_part) && !behind.is_some_and(is_part)
    })
}

/// The calls of one function.
struct Calls<'a> {
    modules: &'a Modules,
    packages: &'a Packages,
    target: &'a Target,
    name: &'a str,
    /// The type that it is a method of.
    owner: Option<&'a str>,
}

impl Calls<'_> {
    /// Adds the calls in a file; whether it is certain that there are no others.
    fn of(&self, source: &Source, places: &mut Vec<Place>) -> bool {
        let mut is_certain = true;
        let is_own = source.file == self.target.source.file;
        let items: BTreeSet<Option<u32>> =
            source.calls(self.name).iter().map(|place| source.outline.at(*place)).collect();
        for item in items {
            let read =
                item.and_then(|id| Some((source.outline.get(id)?, self.modules.unit(self.packages, source, id)?)));
            let Some((item, unit)) = read else {
                is_certain = false;
                continue;
            };
            for (id, node) in unit.ids().filter(|(_, node)| item.range.covers(node.at)) {
                let is_call = match &node.kind {
                    Kind::Call { of, .. } => match unit.callee(*of) {
                        Some(name) if name.last() == self.name => self.is_target(&unit, name),
                        _ => Some(false),
                    },
                    Kind::Method { on, name, .. } if **name == *self.name => self.is_its_method(&unit, *on, is_own),
                    _ => Some(false),
                };
                is_certain &= is_call.is_some();
                if is_call == Some(true) && !unit.is_test(node.at) {
                    self.modules.show(source.file);
                    places.push(Place { unit: Arc::clone(&unit), id });
                }
            }
        }
        is_certain
    }

    /// Whether a method of its name is the function. In other files, which speak of its type, a variable of which nothing is
    /// known is taken for one of that type.
    fn is_its_method(&self, unit: &Unit, on: Id, is_own: bool) -> Option<bool> {
        let Some(owner) = self.owner else { return Some(false) };
        match receiver(self.modules, self.packages, unit, on, owner) {
            Receiver::Same => Some(true),
            Receiver::Other => Some(false),
            Receiver::Unknown if !is_own => Some(true),
            Receiver::Unknown | Receiver::Result => None,
        }
    }

    /// Whether a name means the function; none if that cannot be told.
    fn is_target(&self, unit: &Unit, name: &Name) -> Option<bool> {
        let hit = |full: &str| self.modules.hit(self.packages, unit, full);
        let hit = match &name.full {
            Some(full) => hit(full)?,
            None => unit.globs.iter().find_map(|module| hit(&format!("{module}::{}", name.text)))?,
        };
        Some(match hit {
            Hit::Item(source, item) => source.file == self.target.source.file && item == self.target.item,
            Hit::Outside(_) => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vocabulary_has_every_word_of_its_text_and_few_others() {
        let words: Vec<String> = (0..300).map(|n| format!("word_{n}")).collect();
        let text: String = words.iter().map(|word| format!("    self.{word}(Größe::new())?;\n")).collect();
        let vocabulary = Vocabulary::of(&text);
        assert!(words.iter().all(|word| vocabulary.may_hold(word)));
        // Words beyond ASCII are not looked for.
        assert!(vocabulary.may_hold("self") && vocabulary.may_hold("Größe") && vocabulary.may_hold("Länge"));
        let others = (0..1000).filter(|n| vocabulary.may_hold(&format!("other_{n}"))).count();
        assert!(others < 100, "{others}");
        assert!(!Vocabulary::of("").may_hold("retry"));
    }
}
