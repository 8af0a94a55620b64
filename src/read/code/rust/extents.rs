//! How far the statement, item, argument or arm goes that begins at a place: what a comment covers. Found by brackets and
//! keywords, so that it works in text that does not parse.

use super::items::at;
use super::scan::{Kind, Scanner, Token};
use crate::read::code::tree::At;

/// A comment, or another place, of which it is asked what it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The comment.
    pub comment: At,
    /// Where its line begins, if code stands before it on the line.
    pub line: Option<usize>,
}

/// What the comments cover, in their order. Behind code: its line, and what begins on it up to its end. Alone: what comes next up
/// to its end; nothing if nothing does. The comments are sorted by place; `start` is where code begins.
pub fn covered(text: &str, start: usize, asked: &[Asked]) -> Vec<At> {
    let nothing = |asked: &Asked| At { start: asked.comment.end, end: asked.comment.end };
    let mut walk = Walk {
        text,
        levels: vec![Level::default()],
        last: None,
        unanswered: 0,
        found: asked.iter().map(nothing).collect(),
    };
    let mut scanner = Scanner::new(text, start);
    let mut next = 0;
    let mut waiting = 0..0;
    while let Some(token) = scanner.next() {
        while let Some(one) = asked.get(next).filter(|one| one.comment.start as usize <= token.start) {
            match one.line {
                Some(line) => walk.behind(next, one.comment, line),
                None if waiting.is_empty() => waiting = next..next + 1,
                None => waiting.end = next + 1,
            }
            next += 1;
        }
        if token.kind != Kind::Comment {
            walk.take(token, &scanner, std::mem::take(&mut waiting));
            if next == asked.len() && walk.unanswered == 0 {
                break;
            }
        }
    }
    // What is never closed goes as far as it was read.
    let mut end = 0;
    while let Some(level) = walk.levels.last_mut() {
        if let Some(element) = &mut level.element {
            element.end = element.end.max(end);
            end = element.end;
        }
        walk.end();
        walk.levels.pop();
    }
    walk.found
}

/// What an element begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Head {
    /// Attributes, visibility, modifiers, labels: it is not known yet.
    #[default]
    Unknown,
    /// `fn`, `impl`, `struct` and the like: a body in braces ends it, a comma does not.
    Item,
    /// `if`, `match`, `for`, `{` and the like: a body in braces ends it, if it does not go on with `else`.
    Block,
    /// A path with a `!` behind it: braces end it.
    Macro,
    /// Any other statement, argument, arm, field.
    Plain,
}

/// A statement, item, argument, arm, field.
#[derive(Debug, Default)]
struct Element {
    start: usize,
    /// The end of what was read of it.
    end: usize,
    head: Head,
    /// Whether it ends here, if what comes next does not go on with it.
    may_end: bool,
    /// Between the two signs around a closure's parameters.
    in_params: bool,
    /// Open type arguments.
    angles: usize,
    /// Whether it is a path so far.
    is_path: bool,
    /// Who asks, and from where on.
    asked: Vec<(usize, usize)>,
}

/// What stands between two brackets.
#[derive(Debug, Default)]
struct Level {
    element: Option<Element>,
    /// Whether the brackets end what they belong to.
    is_body: bool,
    /// Whether they are those of an attribute.
    is_attribute: bool,
}

struct Walk<'t> {
    text: &'t str,
    levels: Vec<Level>,
    /// The last token; none behind an attribute, which ends nothing that a sign could go on with.
    last: Option<Token>,
    unanswered: usize,
    found: Vec<At>,
}

impl Walk<'_> {
    /// A comment behind code: it is about what begins on its line, the widest if several do.
    fn behind(&mut self, asked: usize, comment: At, line: usize) {
        let is_before = |level: &Level| level.element.as_ref().is_some_and(|element| element.start < line);
        let first = self.levels.partition_point(is_before);
        if let Some(found) = self.found.get_mut(asked) {
            *found = At { start: at(line, line).start, end: comment.end };
        }
        if let Some(element) = self.levels.get_mut(first).and_then(|level| level.element.as_mut()) {
            element.asked.push((asked, line));
            self.unanswered += 1;
        }
    }

    /// The innermost element ends.
    fn end(&mut self) {
        let Some(element) = self.levels.last_mut().and_then(|level| level.element.take()) else { return };
        for (asked, from) in element.asked {
            self.unanswered -= 1;
            if let Some(found) = self.found.get_mut(asked) {
                let range = at(from, element.end);
                *found = At { start: range.start, end: range.end.max(found.end) };
            }
        }
    }

    fn take(&mut self, token: Token, scanner: &Scanner, waiting: std::ops::Range<usize>) {
        if self.ends_before(token) {
            self.end();
        }
        match token.kind {
            Kind::Close(_) => {
                self.end();
                if self.levels.len() > 1 {
                    self.close(token);
                    return;
                }
            }
            Kind::Sign(b';') => {
                if let Some(element) = self.levels.last_mut().and_then(|level| level.element.as_mut()) {
                    element.end = token.end;
                }
                self.end();
            }
            Kind::Sign(b',') if self.separates() => self.end(),
            _ => self.go_on(token, scanner, waiting),
        }
        self.last = Some(token);
    }

    /// Whether an element that may end does so before `token`.
    fn ends_before(&mut self, token: Token) -> bool {
        let Some(element) = self.levels.last_mut().and_then(|level| level.element.as_mut()) else { return false };
        if !std::mem::take(&mut element.may_end) {
            return false;
        }
        match token.kind {
            Kind::Sign(b'.' | b'?') => {
                element.head = Head::Plain;
                false
            }
            Kind::Word => element.head != Head::Block || token.of(self.text) != "else",
            // `;` belongs to it.
            Kind::Sign(b';') | Kind::Close(_) => false,
            _ => true,
        }
    }

    /// Whether a comma ends the element.
    fn separates(&self) -> bool {
        let element = self.levels.last().and_then(|level| level.element.as_ref());
        element.is_none_or(|element| element.head != Head::Item && !element.in_params && element.angles == 0)
    }

    fn close(&mut self, token: Token) {
        let Some(closed) = self.levels.pop() else { return };
        self.last = (!closed.is_attribute).then_some(token);
        if let Some(element) = self.levels.last_mut().and_then(|level| level.element.as_mut()) {
            element.end = token.end;
            element.may_end = closed.is_body;
        }
    }

    fn go_on(&mut self, token: Token, scanner: &Scanner, waiting: std::ops::Range<usize>) {
        let (text, last) = (self.text, self.last);
        self.unanswered += waiting.len();
        let Some(level) = self.levels.last_mut() else { return };
        let new = || Element { start: token.start, is_path: true, ..Element::default() };
        let element = level.element.get_or_insert_with(new);
        element.asked.extend(waiting.map(|asked| (asked, token.start)));
        element.end = token.end;
        let is_attribute = is_attribute(text, token, last);
        if element.head == Head::Unknown {
            element.head = head(text, token, last, scanner);
        }
        match token.kind {
            Kind::Open(open) => {
                let is_inner = is_attribute && last.is_some_and(|last| last.kind == Kind::Sign(b'!'));
                let is_body = is_inner || (open == b'{' && element.is_body(text, last));
                self.levels.push(Level { element: None, is_body, is_attribute });
                return;
            }
            Kind::Sign(sign) => element.sign(sign, token, text, last),
            _ => {}
        }
        let is_path = matches!(token.kind, Kind::Word | Kind::Sign(b':' | b'!'));
        element.is_path &= is_path;
        if element.is_path && token.kind == Kind::Sign(b'!') {
            element.head = Head::Macro;
        }
    }
}

impl Element {
    /// Whether braces are what the element ends with.
    fn is_body(&self, text: &str, last: Option<Token>) -> bool {
        let sign = match last.map(|last| last.kind) {
            Some(Kind::Sign(sign)) => sign,
            _ => b' ',
        };
        match self.head {
            // `Matrix<{ N }>`
            Head::Item => !matches!(sign, b'<' | b',' | b'='),
            // `if a == unsafe { b } {`
            Head::Block => {
                let is_value = last.is_some_and(|last| matches!(last.of(text), "unsafe" | "async" | "const" | "move"));
                let is_operand = matches!(sign, b'=' | b'&' | b'|' | b'!' | b'+' | b'-' | b'*' | b'/' | b'%' | b'<');
                !(is_operand || (is_value && last.is_some_and(|last| last.start > self.start)))
            }
            Head::Macro => true,
            Head::Unknown | Head::Plain => false,
        }
    }

    fn sign(&mut self, sign: u8, token: Token, text: &str, last: Option<Token>) {
        let is_behind = |sign: u8| last.is_some_and(|last| last.kind == Kind::Sign(sign) && last.end == token.start);
        match sign {
            b'|' => self.in_params = !self.in_params && !is_operand(text, last),
            b'<' if self.angles > 0 || is_behind(b':') || is_type(text, token, last) => self.angles += 1,
            // The body of an arm has a head of its own.
            b'>' if is_behind(b'=') => {
                self.head = Head::Unknown;
                (self.in_params, self.angles, self.is_path) = (false, 0, false);
            }
            b'>' if !is_behind(b'-') => self.angles = self.angles.saturating_sub(1),
            _ => {}
        }
    }
}

/// What an element begins with whose first words say nothing yet.
fn head(text: &str, token: Token, last: Option<Token>, scanner: &Scanner) -> Head {
    let next = || scanner.clone().code();
    let is_next_word = || next().is_some_and(|next| next.kind == Kind::Word);
    match token.kind {
        Kind::Word => match token.of(text) {
            "fn" | "struct" | "enum" | "trait" | "impl" | "mod" => Head::Item,
            "union" | "macro" if is_next_word() => Head::Item,
            "if" | "match" | "while" | "for" | "loop" => Head::Block,
            "pub" => Head::Unknown,
            "const" => match next() {
                Some(next) if next.kind == Kind::Open(b'{') => Head::Unknown,
                Some(next) if matches!(next.of(text), "fn" | "async" | "unsafe" | "extern") => Head::Unknown,
                _ => Head::Plain,
            },
            "extern" if next().is_some_and(|next| next.kind == Kind::Literal) => Head::Unknown,
            "async" | "unsafe" | "extern" | "move" | "default" | "safe" | "auto" => match next() {
                Some(next) if next.kind == Kind::Open(b'{') => Head::Unknown,
                Some(next) if next.kind == Kind::Word && next.of(text) != "crate" => Head::Unknown,
                _ => Head::Plain,
            },
            _ => Head::Plain,
        },
        Kind::Literal if last.is_some_and(|last| last.of(text) == "extern") => Head::Unknown,
        Kind::Open(b'{') => Head::Block,
        Kind::Open(b'(') if last.is_some_and(|last| last.of(text) == "pub") => Head::Unknown,
        Kind::Open(b'[') if is_attribute(text, token, last) => Head::Unknown,
        Kind::Sign(b'#') => Head::Unknown,
        Kind::Sign(b'!') if last.is_some_and(|last| last.kind == Kind::Sign(b'#')) => Head::Unknown,
        // `'outer: loop`
        Kind::Lifetime => Head::Unknown,
        Kind::Sign(b':') if last.is_some_and(|last| last.kind == Kind::Lifetime) => Head::Unknown,
        _ => Head::Plain,
    }
}

/// Whether a bracket is that of an attribute.
fn is_attribute(text: &str, token: Token, last: Option<Token>) -> bool {
    let before = || text.get(..token.start).unwrap_or_default().trim_end();
    token.kind == Kind::Open(b'[')
        && match last.map(|last| last.kind) {
            Some(Kind::Sign(b'#')) => true,
            Some(Kind::Sign(b'!')) => before().trim_end_matches('!').trim_end().ends_with('#'),
            _ => false,
        }
}

/// Whether a token may end an operand, so that a sign behind it stands between two.
fn is_operand(text: &str, last: Option<Token>) -> bool {
    let Some(last) = last else { return false };
    match last.kind {
        Kind::Word => !matches!(
            last.of(text),
            "return"
                | "break"
                | "move"
                | "async"
                | "in"
                | "else"
                | "if"
                | "match"
                | "while"
                | "let"
                | "static"
                | "mut"
                | "ref"
        ),
        Kind::Literal | Kind::Close(_) | Kind::Sign(b'?') => true,
        _ => false,
    }
}

/// Whether a `<` stands right behind the name of a type, as its arguments do.
fn is_type(text: &str, token: Token, last: Option<Token>) -> bool {
    last.is_some_and(|last| {
        let name = last.of(text);
        let is_camel =
            name.starts_with(|first: char| first.is_uppercase()) && name.contains(|c: char| c.is_lowercase());
        last.kind == Kind::Word && last.end == token.start && is_camel
    })
}

#[cfg(test)]
#[path = "extents_tests.rs"]
mod tests;
