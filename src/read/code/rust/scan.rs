//! Text into tokens, as far as structure needs them: comments, literals, words, brackets. No allocation, no recursion, any text.
//!
//! Where a text is valid, the tokens are those of the real lexer; where it is not, the scanner goes on as well as it can.

use memchr::{memchr, memchr2};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `// …` up to the end of its line, `/* … */`; documentation too.
    Comment,
    /// A name or keyword: `loop`, `r#type`.
    Word,
    /// A number, a text or a character, of any prefix and suffix.
    Literal,
    /// `'a`.
    Lifetime,
    /// `(`, `[`, `{`.
    Open(u8),
    /// `)`, `]`, `}`.
    Close(u8),
    /// Any other sign, one at a time.
    Sign(u8),
}

/// A piece of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: Kind,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Token {
    /// Its text within the text that was scanned.
    pub fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or_default()
    }
}

/// Goes through a text.
#[derive(Clone, Debug)]
pub struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scanner<'t> {
    /// A scanner over `text` that begins at a byte offset. It knows nothing of what stands before.
    pub fn new(text: &'t str, at: usize) -> Self {
        Scanner { text, at }
    }

    /// Where it is: behind the last token.
    pub fn at(&self) -> usize {
        self.at
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn char(&self, at: usize) -> Option<char> {
        self.text.get(at..).and_then(|rest| rest.chars().next())
    }

    fn rest(&self, at: usize) -> &'t [u8] {
        self.text.as_bytes().get(at..).unwrap_or_default()
    }

    /// Steps over a byte if it comes next.
    pub fn step_over(&mut self, byte: u8) -> bool {
        let is_next = self.byte(self.at) == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// The next token that is no comment.
    pub fn code(&mut self) -> Option<Token> {
        self.find(|token| token.kind != Kind::Comment)
    }

    /// The next token that items are told apart by: `;`, a bracket, `<` or `>`. What stands between is not made tokens of.
    pub fn structure(&mut self) -> Option<Token> {
        self.find_byte(&const { table(b"\"'/;()[]{}<>") })?;
        self.next()
    }

    /// To be called behind an opening bracket: goes behind the one that closes it, counting only brackets of its kind, so
    /// that another kind that is left open does not carry it away. None if it is never closed.
    pub fn skip_group(&mut self, open: u8) -> Option<usize> {
        let mut depth = 1usize;
        let stops = match open {
            b'(' => &const { table(b"\"'/()") },
            b'[' => &const { table(b"\"'/[]") },
            _ => &const { table(b"\"'/{}") },
        };
        loop {
            let byte = self.find_byte(stops)?;
            self.at += 1;
            if byte == open {
                depth += 1;
            } else {
                depth -= 1;
                if depth == 0 {
                    return Some(self.at);
                }
            }
        }
    }

    /// Goes to the next byte of a set, which holds `"`, `'` and `/` besides, that stands outside of literals and comments. To the
    /// end if there is none.
    fn find_byte(&mut self, stops: &Bytes) -> Option<u8> {
        loop {
            let Some(found) = self.rest(self.at).iter().position(|byte| is_in(stops, *byte)) else {
                self.at = self.text.len();
                return None;
            };
            let floor = self.at;
            self.at += found;
            match self.byte(self.at)? {
                b'"' => self.at = self.word_end(self.text_end(self.at, self.hashes_before(self.at, floor))),
                b'\'' => self.at = self.quote(self.at).1,
                b'/' => self.at = self.comment_end(self.at).unwrap_or(self.at + 1),
                byte => return Some(byte),
            }
        }
    }

    /// Where the comment that begins at `at` ends, if one does.
    fn comment_end(&self, at: usize) -> Option<usize> {
        match self.byte(at + 1)? {
            b'/' => Some(memchr(b'\n', self.rest(at)).map_or(self.text.len(), |found| at + found)),
            b'*' => Some(self.block_end(at).unwrap_or(self.text.len())),
            _ => None,
        }
    }

    /// Whether a token is a comment whose end is missing.
    pub fn is_open(&self, token: Token) -> bool {
        token.end == self.text.len()
            && self.rest(token.start).starts_with(b"/*")
            && self.block_end(token.start).is_none()
    }

    /// Where the `/* … */` that begins at `at` ends, comments within it included. None if it is never closed.
    fn block_end(&self, at: usize) -> Option<usize> {
        let mut depth = 1usize;
        let mut at = at + 2;
        while let Some(found) = memchr2(b'*', b'/', self.rest(at)) {
            at += found;
            match (self.byte(at), self.byte(at + 1)) {
                (Some(b'*'), Some(b'/')) => {
                    depth -= 1;
                    at += 2;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                (Some(b'/'), Some(b'*')) => {
                    depth += 1;
                    at += 2;
                }
                _ => at += 1,
            }
        }
        None
    }

    /// Where a text ends whose first quote is at `at`; `hashes` as of [`Scanner::hashes_before`].
    fn text_end(&self, at: usize, hashes: Option<usize>) -> usize {
        let mut at = at + 1;
        let Some(hashes) = hashes else {
            while let Some(found) = memchr2(b'"', b'\\', self.rest(at)) {
                at += found;
                if self.byte(at) == Some(b'"') {
                    return at + 1;
                }
                at += 2;
            }
            return self.text.len();
        };
        while let Some(found) = memchr(b'"', self.rest(at)) {
            at += found + 1;
            // Never more than were written in front, so that many quotes cost no more than one pass.
            let behind = self.rest(at).iter().take(hashes).take_while(|byte| **byte == b'#').count();
            if behind == hashes {
                return at + hashes;
            }
        }
        self.text.len()
    }

    /// How many `#` stand before a quote that begins a raw text; none if the text is not raw. What stands before `floor` belongs
    /// to another token.
    fn hashes_before(&self, quote: usize, floor: usize) -> Option<usize> {
        let before = self.text.get(floor..quote)?;
        let prefix = before.trim_end_matches('#');
        let hashes = before.len() - prefix.len();
        let prefix = prefix.strip_suffix('r')?;
        let mut before = prefix.strip_suffix(['b', 'c']).unwrap_or(prefix).chars().rev();
        match before.next() {
            // The end of a longer word.
            Some(char) if is_word(char) => None,
            // `r#r"…"`: a raw word.
            Some('#') if before.next() == Some('r') && !before.next().is_some_and(is_word) => None,
            _ => Some(hashes),
        }
    }

    /// What begins with the single quote at `at`, and where it ends.
    fn quote(&self, at: usize) -> (Kind, usize) {
        let inner = match self.char(at + 1) {
            Some('\\') => {
                // `'\''`, `'\x7f'`, `'\u{1f600}'`
                let first = at + 3;
                let close = self.rest(first).iter().take(12).position(|byte| *byte == b'\'');
                return match close {
                    Some(close) => (Kind::Literal, self.word_end(first + close + 1)),
                    None => (Kind::Sign(b'\''), at + 1),
                };
            }
            Some(char) => at + 1 + char.len_utf8(),
            None => return (Kind::Sign(b'\''), at + 1),
        };
        if self.byte(inner) == Some(b'\'') {
            return (Kind::Literal, self.word_end(inner + 1));
        }
        let word = self.rest(at + 1).strip_prefix(b"r#").map_or(at + 1, |_| at + 3);
        match self.word_end(word) {
            end if end == word => (Kind::Sign(b'\''), at + 1),
            // `'r"…"` is a quote and a text to the parser.
            _ if self.word(at + 1).0 == Kind::Literal => (Kind::Sign(b'\''), at + 1),
            end => (Kind::Lifetime, end),
        }
    }

    /// Where the word ends that begins at `at`; `at` itself if none does.
    fn word_end(&self, at: usize) -> usize {
        match self.char(at) {
            Some(char) if is_word(char) && !char.is_ascii_digit() => self.letters_end(at),
            _ => at,
        }
    }

    /// Where letters, digits and underscores end.
    fn letters_end(&self, mut at: usize) -> usize {
        loop {
            let rest = self.rest(at);
            at += rest.iter().position(|byte| !is_in(&LETTERS, *byte)).unwrap_or(rest.len());
            if self.byte(at).is_none_or(|byte| byte.is_ascii()) {
                return at;
            }
            match self.char(at) {
                Some(char) if is_word(char) => at += char.len_utf8(),
                _ => return at,
            }
        }
    }

    /// Where the number that begins at `at` ends, its suffix included.
    fn number_end(&self, start: usize) -> usize {
        let digits =
            |at: usize| at + self.rest(at).iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'_').count();
        let mut at = digits(start);
        if self.byte(at) == Some(b'.') {
            match self.char(at + 1) {
                // `1..2`, `1.max(2)`
                Some(char) if char == '.' || (is_word(char) && !char.is_ascii_digit()) => return at,
                _ => at = digits(at + 1),
            }
        }
        // `1e-5`: the sign belongs to the number, if digits follow.
        if matches!(self.byte(at), Some(b'e' | b'E')) && matches!(self.byte(at + 1), Some(b'+' | b'-')) {
            let exponent = digits(at + 2);
            if self.rest(at + 2).iter().take(exponent - at - 2).any(u8::is_ascii_digit) {
                at = exponent;
            }
        }
        self.letters_end(at)
    }
}

impl Iterator for Scanner<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let rest = self.rest(self.at);
        self.at += rest.iter().position(|byte| !matches!(byte, b' ' | 0x09..=0x0d)).unwrap_or(rest.len());
        let mut start = self.at;
        let mut first = self.byte(start)?;
        while !first.is_ascii() || first.is_ascii_whitespace() || first == 0x0b {
            let char = self.char(start)?;
            if !is_space(char) {
                break;
            }
            start += char.len_utf8();
            first = match self.byte(start) {
                Some(byte) => byte,
                None => {
                    self.at = start;
                    return None;
                }
            };
        }
        let (kind, end) = match first {
            b'/' => match self.comment_end(start) {
                Some(end) => (Kind::Comment, end),
                None => (Kind::Sign(b'/'), start + 1),
            },
            b'"' => (Kind::Literal, self.word_end(self.text_end(start, None))),
            b'\'' => self.quote(start),
            b'(' | b'[' | b'{' => (Kind::Open(first), start + 1),
            b')' | b']' | b'}' => (Kind::Close(first), start + 1),
            b'0'..=b'9' => (Kind::Literal, self.number_end(start)),
            b'_' | b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => self.word(start),
            other => (Kind::Sign(other), start + 1),
        };
        self.at = end;
        Some(Token { kind, start, end })
    }
}

impl Scanner<'_> {
    /// What begins with the letter at `at`: a word, or a literal with a prefix.
    fn word(&self, at: usize) -> (Kind, usize) {
        let end = self.letters_end(at);
        if !matches!(self.byte(end), Some(b'"' | b'\'' | b'#')) {
            return (Kind::Word, end);
        }
        let word = self.text.get(at..end).unwrap_or_default();
        match (word, self.byte(end)) {
            ("b" | "c", Some(b'"')) => (Kind::Literal, self.word_end(self.text_end(end, None))),
            ("b", Some(b'\'')) => match self.quote(end) {
                (Kind::Literal, end) => (Kind::Literal, end),
                _ => (Kind::Word, end),
            },
            ("r" | "br" | "cr", Some(b'"' | b'#')) => {
                let hashes = self.rest(end).iter().take_while(|byte| **byte == b'#').count();
                if self.byte(end + hashes) == Some(b'"') {
                    return (Kind::Literal, self.word_end(self.text_end(end + hashes, Some(hashes))));
                }
                let raw = if word == "r" && hashes == 1 { self.word_end(end + 1) } else { end };
                (Kind::Word, if raw > end + 1 { raw } else { end })
            }
            _ => (Kind::Word, end),
        }
    }
}

/// The ASCII letters, digits and underscores of a text, in runs.
pub fn ascii_words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (_, from) = rest.split_at_checked(rest.iter().position(|byte| is_in(&LETTERS, *byte))?)?;
        let end = from.iter().position(|byte| !is_in(&LETTERS, *byte)).unwrap_or(from.len());
        let (word, behind) = from.split_at_checked(end)?;
        rest = behind;
        Some(word)
    })
}

const LETTERS: Bytes = table(b"_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");

/// A set of bytes: one look for each byte of a text, where comparing with each of the set takes several.
type Bytes = [bool; 256];

const fn table(bytes: &[u8]) -> Bytes {
    let mut table = [false; 256];
    let mut rest = bytes;
    while let [byte, behind @ ..] = rest {
        table[*byte as usize] = true;
        rest = behind;
    }
    table
}

fn is_in(bytes: &Bytes, byte: u8) -> bool {
    bytes.get(usize::from(byte)).copied().unwrap_or_default()
}

/// The bracket that closes an opening one.
pub fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}

/// Whether a character separates tokens.
fn is_space(char: char) -> bool {
    // Marks of the direction of writing count as blanks.
    char.is_whitespace() || matches!(char, '\u{200e}' | '\u{200f}')
}

/// Whether a character may stand within a word. Signs beyond ASCII, which no valid text has outside of literals, count too.
fn is_word(char: char) -> bool {
    char == '_' || char.is_ascii_alphanumeric() || !(char.is_ascii() || is_space(char))
}

/// What a text begins with that is no code: a byte order mark, a `#!` line, a `---` block of a script's manifest. Its length.
pub fn preamble(text: &str) -> usize {
    let mut at = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let rest = |at: usize| text.get(at..).unwrap_or_default();
    let line_end = |at: usize| memchr(b'\n', rest(at).as_bytes()).map_or(text.len(), |found| at + found);
    // `#![…]` is an attribute, whatever blanks and comments stand in it.
    let is_attribute = || Scanner::new(text, at + 2).code().is_some_and(|token| token.kind == Kind::Open(b'['));
    if rest(at).starts_with("#!") && !is_attribute() {
        at = line_end(at);
    }
    let blank = rest(at).len() - rest(at).trim_start().len();
    let dashes = rest(at + blank).bytes().take_while(|byte| *byte == b'-').count();
    if dashes >= 3 {
        let fence = text.get(at + blank..at + blank + dashes).unwrap_or_default();
        let mut line = line_end(at + blank);
        while line < text.len() {
            line += 1;
            let end = line_end(line);
            if rest(line).starts_with(fence) && text.get(line + dashes..end).is_some_and(|rest| rest.trim().is_empty())
            {
                return end;
            }
            line = end;
        }
    }
    at
}

#[cfg(test)]
#[path = "scan_tests.rs"]
pub(super) mod tests;
