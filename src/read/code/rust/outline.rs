//! Text into an [`Outline`]: one pass over the file, in which the bodies of functions are stepped over.

use super::attributes::{self, Attribute};
use super::items::{Item, ItemKind, Outline, at};
use super::scan::{Kind, Scanner, Token, preamble};
use crate::read::code::tree::At;

/// Modules, impls and traits are looked into down to this depth.
const DEEPEST: usize = 64;

/// The items of a text.
pub fn read(text: &str) -> Outline {
    let start = preamble(text);
    let outline = Outline { start, ..Outline::default() };
    Reader { text, scanner: Scanner::new(text, start), outline, open: Vec::new() }.read()
}

struct Reader<'t> {
    text: &'t str,
    scanner: Scanner<'t>,
    outline: Outline,
    /// The modules, impls and traits around, outermost first.
    open: Vec<u32>,
}

/// What stands before an item's first word.
#[derive(Default)]
struct Before {
    /// Where its attributes and documentation begin.
    start: Option<usize>,
    is_test: bool,
    path: Option<At>,
}

/// What ends an item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// A `;` only: `use a::{b, c};`.
    Semicolon,
    /// A `;` or a body in braces, whichever comes first.
    Body,
    /// A body in braces, or in any other brackets with a `;` behind: `thread_local!(…);`.
    Macro,
}

/// How an item ended.
enum Ended {
    /// Without a body.
    Bare,
    /// With a body that begins here.
    Body(usize),
    /// Its body begins here, and is still to be read.
    Inside(usize),
}

/// The brackets do not match, from here on.
struct Broken(usize);

impl Reader<'_> {
    fn read(mut self) -> Outline {
        if let Err(Broken(place)) = self.items() {
            self.outline.broken = Some(place);
        }
        // What is not closed goes up to the end.
        while let Some(id) = self.open.pop() {
            self.close(id, self.text.len());
        }
        self.outline
    }

    fn items(&mut self) -> Result<(), Broken> {
        let mut before = Before::default();
        while let Some(token) = self.scanner.next() {
            match token.kind {
                Kind::Comment => {
                    if self.scanner.is_open(token) {
                        return Err(Broken(token.start));
                    }
                    if is_documentation(token.of(self.text)) {
                        before.start.get_or_insert(token.start);
                    }
                }
                Kind::Sign(b'#') => {
                    let attribute = attributes::read(self.text, &mut self.scanner).ok_or(Broken(token.start))?;
                    before.start.get_or_insert(token.start);
                    self.take(attribute, &mut before);
                }
                Kind::Sign(b';') => before = Before::default(),
                Kind::Close(b'}') => {
                    before = Before::default();
                    let id = self.open.pop().ok_or(Broken(token.start))?;
                    self.close(id, token.end);
                }
                Kind::Close(_) => return Err(Broken(token.start)),
                _ => self.item(token, std::mem::take(&mut before))?,
            }
        }
        let body = self.open.first().and_then(|id| self.outline.get(*id)?.body);
        body.map_or(Ok(()), |body| Err(Broken(body.start as usize)))
    }

    fn close(&mut self, id: u32, end: usize) {
        let next = self.outline.items.len() as u32;
        if let Some(item) = self.outline.items.get_mut(id as usize) {
            item.next = next;
            item.range.end = at(0, end).end;
            item.body = item.body.map(|body| At { end: item.range.end, ..body });
        }
    }

    fn take(&mut self, attribute: Attribute, before: &mut Before) {
        if !attribute.is_inner {
            before.is_test |= attribute.is_test;
            before.path = before.path.or(attribute.path);
            return;
        }
        *before = Before::default();
        match self.open.last() {
            Some(id) => {
                if let Some(item) = self.outline.items.get_mut(*id as usize) {
                    item.is_test |= attribute.is_test;
                }
            }
            None => self.outline.is_test |= attribute.is_test,
        }
    }

    /// Reads the item that begins with `first`.
    fn item(&mut self, first: Token, before: Before) -> Result<(), Broken> {
        let broken = Broken(first.start);
        let mut word = first;
        let is_public = first.of(self.text) == "pub";
        if is_public {
            let Some(mut next) = self.scanner.code() else { return Err(broken) };
            if next.kind == Kind::Open(b'(') {
                self.scanner.skip_group(b'(').ok_or(Broken(next.start))?;
                let Some(behind) = self.scanner.code() else { return Err(broken) };
                next = behind;
            }
            word = next;
        }
        let (kind, name, end) = self.begin(word);
        let id = self.outline.items.len() as u32;
        let is_container =
            matches!(kind, ItemKind::Impl | ItemKind::Trait | ItemKind::Mod) && self.open.len() < DEEPEST;
        let ended = self.end(first.start, end, is_container)?;
        let until = self.scanner.at();
        let (header_end, body) = match ended {
            Ended::Bare => (until, None),
            Ended::Body(start) | Ended::Inside(start) => (start, Some(at(start, until))),
        };
        let header = at(first.start, header_end);
        let (name, of_trait) = match kind {
            ItemKind::Impl => self.impl_header(word.end, header_end),
            _ => (name.map_or(at(header_end, header_end), |name| at(name.start, name.end)), None),
        };
        self.outline.items.push(Item {
            kind,
            name,
            range: at(before.start.unwrap_or(first.start), until),
            header,
            body,
            of_trait,
            path: before.path,
            is_public,
            is_test: before.is_test,
            parent: self.open.last().copied(),
            next: id + 1,
        });
        if matches!(ended, Ended::Inside(_)) {
            self.open.push(id);
        }
        Ok(())
    }

    /// What comes next, without taking it.
    fn ahead(&self) -> Option<Token> {
        self.scanner.clone().code()
    }

    fn next_word(&mut self) -> Option<Token> {
        let next = self.ahead().filter(|token| token.kind == Kind::Word)?;
        self.scanner = Scanner::new(self.text, next.end);
        Some(next)
    }

    /// What kind of item begins with `word`, and its name.
    fn begin(&mut self, mut word: Token) -> (ItemKind, Option<Token>, End) {
        loop {
            let next = self.ahead();
            let next_text = next.map_or("", |token| token.of(self.text));
            let is_next_word = next.is_some_and(|token| token.kind == Kind::Word);
            let (kind, end) = match word.of(self.text) {
                "const" if !matches!(next_text, "fn" | "unsafe" | "async" | "extern" | "trait" | "impl") => {
                    (ItemKind::Const, End::Semicolon)
                }
                "extern" if next_text == "crate" => {
                    self.next_word();
                    (ItemKind::ExternCrate, End::Semicolon)
                }
                "extern" if next_text == "{" => return (ItemKind::Foreign, None, End::Body),
                "extern" if next.is_some_and(|token| token.kind == Kind::Literal) => {
                    self.scanner.code();
                    if self.ahead().is_some_and(|token| token.kind == Kind::Open(b'{')) {
                        return (ItemKind::Foreign, None, End::Body);
                    }
                    match self.next_word() {
                        Some(next) => word = next,
                        None => return (ItemKind::Other, None, End::Body),
                    }
                    continue;
                }
                "const" | "extern" | "unsafe" | "safe" | "async" | "gen" | "default" | "auto" if is_next_word => {
                    word = self.next_word().unwrap_or(word);
                    continue;
                }
                "fn" => (ItemKind::Fn, End::Body),
                "struct" => (ItemKind::Struct, End::Body),
                "union" if is_next_word => (ItemKind::Struct, End::Body),
                "enum" => (ItemKind::Enum, End::Body),
                "trait" => (ItemKind::Trait, End::Body),
                "mod" => (ItemKind::Mod, End::Body),
                "type" => (ItemKind::Type, End::Semicolon),
                "macro" if is_next_word => (ItemKind::MacroRules, End::Body),
                "impl" => return (ItemKind::Impl, None, End::Body),
                "use" => return (ItemKind::Use, None, End::Semicolon),
                "static" => {
                    if matches!(next_text, "mut" | "ref") {
                        self.next_word();
                    }
                    (ItemKind::Static, End::Semicolon)
                }
                _ => return self.begin_macro(word),
            };
            return (kind, self.next_word(), end);
        }
    }

    /// `path::name! …`, or nothing that is known.
    fn begin_macro(&mut self, word: Token) -> (ItemKind, Option<Token>, End) {
        let mut ahead = Scanner::new(self.text, word.start);
        let mut name = None;
        while let Some(token) = ahead.code() {
            match token.kind {
                Kind::Word => name = Some(token),
                Kind::Sign(b':') => {}
                Kind::Sign(b'!') if name.is_some() => {
                    self.scanner = ahead;
                    if name.is_some_and(|name| name.of(self.text) == "macro_rules") {
                        return (ItemKind::MacroRules, self.next_word(), End::Macro);
                    }
                    return (ItemKind::Macro, name, End::Macro);
                }
                _ => break,
            }
        }
        self.scanner = Scanner::new(self.text, word.start);
        (ItemKind::Other, None, End::Body)
    }

    /// Goes to the end of the item that begins at `start`.
    fn end(&mut self, start: usize, end: End, is_container: bool) -> Result<Ended, Broken> {
        let mut angles = 0usize;
        while let Some(token) = self.scanner.structure() {
            let before = self.text.get(..token.start).unwrap_or_default();
            match token.kind {
                Kind::Sign(b';') => return Ok(Ended::Bare),
                Kind::Open(open) => {
                    // `Matrix<{ N + 1 }>`
                    let is_argument = angles > 0 && before.trim_end().ends_with(['<', ',', '=']);
                    let is_body = match end {
                        End::Semicolon => false,
                        End::Body => open == b'{' && !is_argument,
                        End::Macro => true,
                    };
                    if is_body && is_container {
                        return Ok(Ended::Inside(token.start));
                    }
                    self.scanner.skip_group(open).ok_or(Broken(token.start))?;
                    if is_body {
                        let is_closed = open == b'{' || self.ahead().is_none_or(|next| next.kind != Kind::Sign(b';'));
                        if !is_closed {
                            self.scanner.code();
                        }
                        return Ok(Ended::Body(token.start));
                    }
                }
                // What is around ends before the item does.
                Kind::Close(_) => {
                    self.scanner = Scanner::new(self.text, token.start);
                    return Ok(Ended::Bare);
                }
                Kind::Sign(b'<') => angles += 1,
                Kind::Sign(b'>') if !before.ends_with(['-', '=']) => angles = angles.saturating_sub(1),
                _ => {}
            }
        }
        Err(Broken(start))
    }

    /// The last words of the type and, if there is one, of the trait of an impl whose header goes on from `start`.
    fn impl_header(&self, start: usize, end: usize) -> (At, Option<At>) {
        let mut scanner = Scanner::new(self.text, start);
        let (mut angles, mut last, mut name, mut of_trait) = (0usize, Kind::Sign(b' '), None, None);
        while let Some(token) = scanner.code().filter(|token| token.end <= end) {
            match token.kind {
                Kind::Open(open) => {
                    scanner.skip_group(open);
                }
                Kind::Sign(b'<') => angles += 1,
                Kind::Sign(b'>') if !matches!(last, Kind::Sign(b'-' | b'=')) => angles = angles.saturating_sub(1),
                Kind::Word if angles == 0 => match token.of(self.text) {
                    "where" => break,
                    // Not `for<'a>`.
                    "for" if scanner.clone().code().is_none_or(|next| next.kind != Kind::Sign(b'<')) => {
                        of_trait = name.take();
                    }
                    "for" | "dyn" | "mut" | "const" | "unsafe" | "async" => {}
                    _ => name = Some(at(token.start, token.end)),
                },
                _ => {}
            }
            last = token.kind;
        }
        (name.unwrap_or(at(end, end)), of_trait)
    }
}

/// Whether a comment is documentation of what follows.
fn is_documentation(comment: &str) -> bool {
    (comment.starts_with("///") && !comment.starts_with("////"))
        || (comment.starts_with("/**") && !comment.starts_with("/***") && comment.len() > "/**/".len())
}
