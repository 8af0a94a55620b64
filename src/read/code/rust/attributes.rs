//! What an attribute says about the item below it: test code, the file of a module.

use memchr::memmem;

use super::extents::{self, Asked};
use super::items::at;
use super::scan::{Kind, Scanner, Token};
use crate::read::code::tree::At;

/// An attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Whether it is about what it stands in: `#![…]`.
    pub is_inner: bool,
    /// Whether it makes its item test code.
    pub is_test: bool,
    /// The text of `path = "…"`, without the quotes.
    pub path: Option<At>,
}

/// Attributes of test code by the last word of their path; `tokio::test` is one.
const TESTS: &[&str] = &[
    "test",
    "bench",
    "rstest",
    "test_case",
    "test_matrix",
    "test_log",
    "quickcheck",
    "proptest",
    "property_test",
    "wasm_bindgen_test",
    "gtest",
];

/// Reads the attribute that `scanner` stands in, behind its `#`. None if it is none, or is never closed.
pub fn read(text: &str, scanner: &mut Scanner) -> Option<Attribute> {
    let mut open = scanner.code()?;
    let is_inner = open.kind == Kind::Sign(b'!');
    if is_inner {
        open = scanner.code()?;
    }
    if open.kind != Kind::Open(b'[') {
        return None;
    }
    let end = scanner.skip_group(b'[')?;
    let mut words = Scanner::new(text, open.end);
    let mut inside = std::iter::from_fn(|| words.code().filter(|token| token.end < end));
    let mut last = None;
    let mut behind = None;
    for token in inside.by_ref() {
        match token.kind {
            Kind::Word => last = Some(token),
            Kind::Sign(b':') => {}
            _ => {
                behind = Some(token.kind);
                break;
            }
        }
    }
    let name = last.map_or("", |token| token.of(text));
    let is_test = match (name, behind) {
        ("cfg", Some(Kind::Open(b'('))) => needs_test(text, inside.by_ref()),
        (_, None | Some(Kind::Open(_))) => TESTS.contains(&name),
        _ => false,
    };
    let path = match (name, behind) {
        ("path", Some(Kind::Sign(b'='))) => inside.next().filter(|token| token.of(text).starts_with('"')),
        _ => None,
    };
    let path = path.filter(|path| path.end - path.start >= 2).map(|path| at(path.start + 1, path.end - 1));
    Some(Attribute { is_inner, is_test, path })
}

/// Whether a condition names `test` outside of `not(…)`: what is compiled for tests and a feature is still for tests.
fn needs_test(text: &str, condition: impl Iterator<Item = Token>) -> bool {
    // How deep it is within the outermost `not(…)`.
    let mut denied = 0usize;
    let mut last = "";
    for token in condition {
        match token.kind {
            Kind::Open(_) if denied > 0 || last == "not" => denied += 1,
            Kind::Close(_) => denied = denied.saturating_sub(1),
            Kind::Word if denied == 0 && token.of(text) == "test" => return true,
            _ => {}
        }
        last = token.of(text);
    }
    false
}

/// The statements, arms and nested items within these ranges, which are in order, that are test code by an attribute of their
/// own. `start` is where the code of the text begins.
pub fn test_statements(text: &str, start: usize, ranges: impl Iterator<Item = At>) -> Vec<At> {
    let mut asked = Vec::new();
    for range in ranges {
        let (from, to) = (range.start as usize, range.end as usize);
        let has = |word: &str| {
            text.get(from..to).is_some_and(|text| memmem::find(text.as_bytes(), word.as_bytes()).is_some())
        };
        if !has("#[cfg(") || !has("test") {
            continue;
        }
        let mut scanner = Scanner::new(text, from);
        while let Some(token) = scanner.code().filter(|token| token.start < to) {
            if token.kind != Kind::Sign(b'#') {
                continue;
            }
            let attribute = read(text, &mut scanner);
            if attribute.is_some_and(|attribute| attribute.is_test && !attribute.is_inner) {
                asked.push(Asked { comment: at(token.start, token.start), line: None });
            }
        }
    }
    if asked.is_empty() { Vec::new() } else { extents::covered(text, start, &asked) }
}
