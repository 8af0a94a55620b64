//! Items into trees: what the guard lets pass is cut out, parsed and lowered, in as few pieces as possible.

use std::ops::Range;
use std::sync::Arc;

use proc_macro2::{LexError, LineColumn, Span as Place, TokenStream};

use super::Input;
use super::cut::{Cut, cut, head};
use super::items::{Item, ItemKind, Outline, at, name_of};
use super::names::Names;
use super::scan::{Kind, Scanner};
use super::{attributes, guard, lower};
use crate::facts::Problem;
use crate::read::code::build::Builder;
use crate::read::code::tree::{At, Unit};

/// The parser is given at most this much text at once, in bytes: trees take many times the room of their text.
const LARGEST: usize = 8 << 20;

/// Items that are left out are told one by one up to this many.
const MOST_PROBLEMS: usize = 20;

/// A file that is being read.
pub struct Reading<'a> {
    input: Input<'a>,
    outline: &'a Outline,
    names: Arc<Names>,
    builder: Builder,
    problems: Vec<Problem>,
    is_template: Option<bool>,
}

/// Why a text was not parsed.
struct Fault {
    /// In the file.
    at: At,
    why: String,
}

impl<'a> Reading<'a> {
    /// A file of which nothing is read yet.
    pub fn new(input: Input<'a>, outline: &'a Outline) -> Self {
        let mut builder = Builder::new(input.file, lower::LANGUAGE, input.package.map(|(id, _)| id), input.module);
        outline.tests(input.text).for_each(|test| builder.test(test));
        let names = Arc::new(Names::new(input.package.map(|(_, package)| package)));
        let mut reading = Reading { input, outline, names, builder, problems: Vec::new(), is_template: None };
        if let Some(broken) = outline.broken {
            let rest = input.text.get(broken..).unwrap_or_default();
            let found = rest.chars().next().unwrap_or(' ');
            let why = match found {
                '/' if rest.starts_with("/*") => "a comment is never closed".to_owned(),
                '(' | '[' | '{' => format!("`{found}` is never closed"),
                ')' | ']' | '}' => format!("`{found}` closes nothing"),
                _ => "an item does not end".to_owned(),
            };
            reading.problem(at(broken, broken + found.len_utf8()), why, false);
        }
        reading
    }

    /// What names mean in a file, whatever is read of it. None if its imports do not parse at once.
    pub fn names_of(input: Input<'a>, outline: &'a Outline) -> Option<Arc<Names>> {
        let mut reading = Reading::new(input, outline);
        reading.define();
        let mut imports: Vec<bool> = outline.items.iter().map(|item| outline.gives_name(item)).collect();
        reading.refuse(&mut imports);
        let cut = cut(input.text, outline, &imports, 0..outline.items.len() as u32);
        if !cut.text().is_empty() {
            reading.import(&cut).ok()?;
        }
        Some(reading.names)
    }

    /// Reads these items, where it is known already what names mean. None if they do not parse at once.
    pub fn known(mut self, mut is_taken: Vec<bool>, names: Arc<Names>) -> Option<Unit> {
        self.mark_tests(&is_taken);
        for (taken, item) in is_taken.iter_mut().zip(&self.outline.items) {
            *taken &= !self.outline.gives_name(item);
        }
        self.names = names;
        self.names.tell(&mut self.builder);
        self.refuse(&mut is_taken);
        let cut = cut(self.input.text, self.outline, &is_taken, 0..self.outline.items.len() as u32);
        if !cut.text().is_empty() {
            self.piece(&cut, false).ok()?;
        }
        Some(self.builder.finish())
    }

    /// Marks the statements of these items that are test code by themselves.
    fn mark_tests(&mut self, is_taken: &[bool]) {
        let Input { text, .. } = self.input;
        let bodies = self.outline.items.iter().zip(is_taken).filter(|(_, is_taken)| **is_taken);
        let bodies = bodies.filter_map(|(item, _)| item.body);
        for test in attributes::test_statements(text, self.outline.start, bodies) {
            self.builder.test(test);
        }
    }

    /// Tells the names what the file defines, whether it is parsed or not.
    fn define(&mut self) {
        let names = Arc::make_mut(&mut self.names);
        let mut modules: Vec<(u32, String)> = Vec::new();
        for (id, item) in (0u32..).zip(&self.outline.items) {
            while modules.pop_if(|(next, _)| *next <= id).is_some() {}
            let module = modules.last().map_or(self.input.module, |(_, module)| module);
            // What stands in impls and traits is not known by its name alone.
            let parent = item.parent.and_then(|parent| self.outline.get(parent));
            if parent.is_some_and(|parent| parent.kind != ItemKind::Mod) {
                continue;
            }
            let name = name_of(item, self.input.text);
            match item.kind {
                ItemKind::MacroRules => names.define_macro(name),
                ItemKind::Mod => names.define_module(module, name),
                ItemKind::Fn
                | ItemKind::Trait
                | ItemKind::Const
                | ItemKind::Static
                | ItemKind::Struct
                | ItemKind::Enum => names.define(module, name),
                // `pin_project! { struct … }`
                ItemKind::Macro => {
                    defined_in(self.input.text, item).into_iter().for_each(|name| names.define(module, name));
                }
                // Imports and aliases are always parsed: these tell where they lead.
                ItemKind::Type
                | ItemKind::Use
                | ItemKind::Impl
                | ItemKind::ExternCrate
                | ItemKind::Foreign
                | ItemKind::Other => {}
            }
            if item.kind == ItemKind::Mod && item.next > id + 1 {
                let inner = format!("{module}::{name}");
                modules.push((item.next, inner));
            }
        }
    }

    /// Reads the whole file at once, so far as it may be and parses; else these items of it.
    pub fn whole(&mut self, is_taken: Vec<bool>) {
        self.define();
        self.mark_tests(&is_taken);
        if !self.text_as_it_is() {
            self.parts(is_taken);
        }
    }

    /// Reads these items only.
    pub fn items(&mut self, is_taken: Vec<bool>) {
        if !is_taken.contains(&true) {
            return;
        }
        self.define();
        self.mark_tests(&is_taken);
        self.parts(is_taken);
    }

    /// Reads these items at once; the whole file, if they do not parse like this; one by one, if that does not either.
    fn parts(&mut self, mut is_taken: Vec<bool>) {
        self.refuse(&mut is_taken);
        let cut = cut(self.input.text, self.outline, &is_taken, 0..self.outline.items.len() as u32);
        if cut.text().is_empty() || self.piece(&cut, true).is_ok() || self.text_as_it_is() {
            return;
        }
        self.one_by_one(&mut is_taken);
    }

    /// Reads the whole text, if it may be parsed and does.
    fn text_as_it_is(&mut self) -> bool {
        let all = at(self.outline.start, self.input.text.len());
        if self.outline.broken.is_some() || guard::check(self.input.text, all).is_err() {
            return false;
        }
        let mut cut = Cut::default();
        cut.add(self.input.text, all);
        self.piece(&cut, true).is_ok()
    }

    /// Leaves out what nests too deep.
    fn refuse(&mut self, is_taken: &mut [bool]) {
        let mut refused = 0;
        for (id, item) in (0u32..).zip(&self.outline.items) {
            let Some((taken, inside)) =
                is_taken.get_mut(id as usize..item.next as usize).and_then(<[bool]>::split_first_mut)
            else {
                continue;
            };
            let range = match item.body {
                _ if *taken => item.range,
                Some(body) if inside.contains(&true) => head(item, body),
                _ => continue,
            };
            let Err(too_deep) = guard::check(self.input.text, range) else { continue };
            *taken = false;
            inside.fill(false);
            refused += 1;
            if refused <= MOST_PROBLEMS {
                self.problem(at(too_deep.place, too_deep.place + 1), too_deep.why.to_owned(), true);
            }
        }
    }

    /// Reads items each by itself, so that one that does not parse costs no other: first the imports, which the others need.
    fn one_by_one(&mut self, is_taken: &mut [bool]) {
        let mut imports = vec![false; is_taken.len()];
        for ((import, taken), item) in imports.iter_mut().zip(is_taken.iter_mut()).zip(&self.outline.items) {
            if self.outline.gives_name(item) {
                *import = std::mem::take(taken);
            }
        }
        self.each(&mut imports, Self::import);
        self.names.tell(&mut self.builder);
        self.each(is_taken, |reading, cut| reading.piece(cut, false));
    }

    /// Reads items in ever smaller pieces, until a piece parses or holds one item only.
    fn each(&mut self, is_taken: &mut [bool], read: impl Fn(&mut Self, &Cut) -> Result<(), Fault>) {
        // What is around an item is parsed with each of many: not without end.
        let mut budget = self.input.text.len().saturating_mul(8);
        let mut told = 0;
        let mut todo: Vec<u32> = self.outline.inside(None).map(|(id, _)| id).collect();
        todo.reverse();
        while let Some((id, item)) = todo.pop().and_then(|id| Some((id, self.outline.get(id)?))) {
            if !is_taken.get(id as usize..item.next as usize).is_some_and(|inside| inside.contains(&true)) {
                continue;
            }
            let cut = cut(self.input.text, self.outline, is_taken, id..item.next);
            let Some(rest) = budget.checked_sub(cut.text().len()) else { break };
            budget = rest;
            let Err(fault) = read(self, &cut) else { continue };
            let inner: Vec<u32> = self.outline.inside(Some(id)).map(|(id, _)| id).collect();
            if let Some([taken, inside @ ..]) = is_taken.get_mut(id as usize..item.next as usize)
                && *taken
            {
                inside.fill(true);
            }
            told += usize::from(inner.is_empty());
            if inner.is_empty() && told <= MOST_PROBLEMS {
                self.problem(fault.at, format!("`{}` does not parse: {}", self.title(item), fault.why), true);
            }
            todo.extend(inner.into_iter().rev());
        }
    }

    /// What an item is called where it is told of.
    fn title(&self, item: &Item) -> &'a str {
        let name = name_of(item, self.input.text);
        let header = self.input.text.get(item.header.start as usize..item.header.end as usize).unwrap_or_default();
        if name.is_empty() { header.lines().next().unwrap_or_default().trim() } else { name }
    }

    /// Parses a text and lowers its items. `names`: whether they tell what names mean, for it is all that is read.
    fn piece(&mut self, cut: &Cut, names: bool) -> Result<(), Fault> {
        let parsed = parse(cut);
        if let Ok(items) = &parsed {
            if names {
                let names = Arc::make_mut(&mut self.names);
                items.iter().for_each(|item| names.add(self.input.module, item));
                names.tell(&mut self.builder);
            }
            let bytes = Bytes::of(cut.text());
            let to_file = |place: Place| cut.at(bytes.range(place));
            lower::items(&mut self.builder, &self.names, self.input.module, &to_file, items);
        }
        proc_macro2::extra::invalidate_current_thread_spans();
        parsed.map(|_| ())
    }

    /// Parses imports, for the names alone.
    fn import(&mut self, cut: &Cut) -> Result<(), Fault> {
        let parsed = parse(cut);
        if let Ok(items) = &parsed {
            let names = Arc::make_mut(&mut self.names);
            items.iter().for_each(|item| names.add(self.input.module, item));
        }
        proc_macro2::extra::invalidate_current_thread_spans();
        parsed.map(|_| ())
    }

    fn problem(&mut self, at: At, message: String, partial: bool) {
        let template = *self.is_template.get_or_insert_with(|| is_template(self.input.text));
        let span = at.in_file(self.input.file);
        self.problems.push(Problem { span, message, partial, recognised: true, template });
    }

    /// The tree, and what is missing in it.
    pub fn finish(self) -> (Unit, Vec<Problem>) {
        (self.builder.finish(), self.problems)
    }
}

/// The names that a macro among items defines, if what it is given is items and nothing else.
fn defined_in<'t>(text: &'t str, item: &Item) -> Vec<&'t str> {
    let inside = item.body.and_then(|body| text.get(body.start as usize + 1..(body.end as usize).checked_sub(1)?));
    let Some(inside) = inside else { return Vec::new() };
    let outline = Outline::of(inside);
    let is_known = |item: &Item| !matches!(item.kind, ItemKind::Macro | ItemKind::Other);
    if outline.broken.is_some() || !outline.items.iter().all(is_known) {
        return Vec::new();
    }
    let defines = |item: &&Item| {
        use ItemKind::{Const, Enum, Fn, Static, Struct, Trait};
        item.parent.is_none() && matches!(item.kind, Fn | Trait | Const | Static | Struct | Enum)
    };
    outline.items.iter().filter(defines).map(|item| name_of(item, inside)).filter(|name| !name.is_empty()).collect()
}

/// Where spans stand in a text, in bytes.
struct Bytes {
    /// Where its lines begin, if it is ASCII. The parser counts characters; making bytes of them, it keeps a map that costs more
    /// than finding a line.
    lines: Option<Vec<usize>>,
}

impl Bytes {
    fn of(text: &str) -> Self {
        let behind = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        Bytes { lines: text.is_ascii().then(|| std::iter::once(0).chain(behind).collect()) }
    }

    fn range(&self, place: Place) -> Range<usize> {
        let byte = |at: LineColumn| Some(self.lines.as_ref()?.get(at.line.checked_sub(1)?)? + at.column);
        match (byte(place.start()), byte(place.end())) {
            (Some(start), Some(end)) => start..end,
            _ => place.byte_range(),
        }
    }
}

fn parse(cut: &Cut) -> Result<Vec<syn::Item>, Fault> {
    let text = cut.text();
    if text.len() > LARGEST {
        let why = format!("{} MB at once are too much for the parser", text.len() / 1_000_000);
        return Err(Fault { at: cut.at(0..1), why });
    }
    let fault = |place: usize, why: String| {
        let length = text.get(place..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        Fault { at: cut.at(place..place + length), why }
    };
    let tokens: TokenStream = text.parse().map_err(|error: LexError| {
        let place = error.span().byte_range().start;
        let is_bracket = text.get(place..).is_some_and(|rest| rest.starts_with(['(', ')', '[', ']', '{', '}']));
        let why = if is_bracket { "brackets do not match" } else { "no word begins like this, or a text has no end" };
        fault(place, why.to_owned())
    })?;
    let file: syn::File = syn::parse2(tokens).map_err(|error| {
        // What is missing at the end of the text has no place.
        let range = Some(error.span().byte_range()).filter(|range| !range.is_empty());
        fault(range.map_or(text.len().saturating_sub(1), |range| range.start), error.to_string())
    })?;
    Ok(file.items)
}

/// Whether a text that is no valid code looks like a template of some: `{% if %}`, `{{ name }}`.
fn is_template(text: &str) -> bool {
    let mut scanner = Scanner::new(text, 0);
    let mut before = Kind::Comment;
    while let Some(token) = scanner.code() {
        // `=> {{` is a macro's.
        if token.kind == Kind::Open(b'{') && before != Kind::Sign(b'>') {
            let rest = text.as_bytes().get(token.start..).unwrap_or_default();
            if is_hole(rest, b"{{", b"}}") || is_hole(rest, b"{%", b"%}") {
                return true;
            }
        }
        before = token.kind;
    }
    false
}

/// Whether a text begins with a hole that is filled in later: words between these marks, in one line.
fn is_hole(text: &[u8], open: &[u8], close: &[u8]) -> bool {
    /// Bytes of a hole at most.
    const MOST: usize = 200;
    let Some(rest) = text.strip_prefix(open) else { return false };
    let rest = rest.get(..MOST).unwrap_or(rest);
    let is_end = |byte: &u8| matches!(byte, b'{' | b'}' | b'%' | b';' | b'\n');
    let (inside, behind) = rest.split_at(rest.iter().position(is_end).unwrap_or(rest.len()));
    inside.iter().any(u8::is_ascii_alphanumeric) && behind.starts_with(close)
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
