//! What code scanning recognises a result by from commit to commit: a hash of its line and what follows, in which blanks do
//! not count. GitHub's upload action computes it too, and warns about every result that comes with another value.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::source::{FileId, Sources};

/// Code units that are hashed from the start of a line on.
const WINDOW: usize = 100;
/// What a code unit is multiplied with.
const FACTOR: u64 = 37;
/// What stands behind the last code unit of a file.
const END: u16 = 0xffff;

/// The hashes of the lines of files, each file hashed once.
pub(super) struct LineHashes<'a> {
    sources: &'a Sources,
    known: RefCell<HashMap<FileId, Vec<(u64, u32)>>>,
}

impl<'a> LineHashes<'a> {
    pub fn new(sources: &'a Sources) -> Self {
        LineHashes { sources, known: RefCell::default() }
    }

    /// The hash of a line, counted from 1; none in a file of which only some lines are known.
    pub fn of(&self, file: FileId, line: u32) -> Option<String> {
        let text = self.sources.get(file)?.text()?;
        let mut known = self.known.borrow_mut();
        let hashes = known.entry(file).or_insert_with(|| hashes(text));
        let (hash, count) = hashes.get((line as usize).checked_sub(1)?)?;
        Some(format!("{hash:x}:{count}"))
    }
}

/// The hash of every line, and how many lines up to it have the same.
///
/// The hash of a line is `Σ c(i) · 37^(99-i)` modulo 2^64 over the next hundred UTF-16 code units, without blanks and tabs;
/// every kind of line break counts as one line feed; behind the text stands one code unit of all ones, then zeros.
fn hashes(text: &str) -> Vec<(u64, u32)> {
    let units = units(text);
    let starts = std::iter::once(0).chain((1..units.len()).filter(|at| units.get(at - 1) == Some(&LINE_FEED)));
    let mut seen: HashMap<u64, u32> = HashMap::new();
    starts
        .map(|start| {
            let window = units.iter().skip(start).chain(std::iter::repeat(&0)).take(WINDOW);
            let hash = window.fold(0_u64, |hash, unit| hash.wrapping_mul(FACTOR).wrapping_add(u64::from(*unit)));
            let count = seen.entry(hash).and_modify(|count| *count += 1).or_insert(1);
            (hash, *count)
        })
        .collect()
}

const LINE_FEED: u16 = b'\n' as u16;
const RETURN: u16 = b'\r' as u16;

/// The code units that count.
fn units(text: &str) -> Vec<u16> {
    let mut units = Vec::with_capacity(text.len() + 1);
    let mut after_return = false;
    for unit in text.encode_utf16() {
        let is_rest_of_break = after_return && unit == LINE_FEED;
        after_return = unit == RETURN;
        if !is_rest_of_break && unit != u16::from(b' ') && unit != u16::from(b'\t') {
            units.push(if unit == RETURN { LINE_FEED } else { unit });
        }
    }
    units.push(END);
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_has_one_line() {
        // 65,535 · 37^99 modulo 2^64.
        assert_eq!(hashes(""), [(0xc129_715d_7a2b_c9a3, 1)]);
        let sources = Sources::new(vec![crate::source::Source::new("a", "")]);
        let all = LineHashes::new(&sources);
        assert_eq!(all.of(FileId(0), 1).as_deref(), Some("c129715d7a2bc9a3:1"));
        assert_eq!((all.of(FileId(0), 0), all.of(FileId(0), 2), all.of(FileId(1), 1)), (None, None, None));
    }

    #[test]
    fn a_short_file_by_hand() {
        // "a", line feed, end; then zeros: 97 · 37^99 + 10 · 37^98 + 65,535 · 37^97, and 65,535 · 37^99 for the last line.
        let power = |n: u32| (0..n).fold(1_u64, |power, _| power.wrapping_mul(37));
        let first = [(97, 99), (10, 98), (65_535, 97)];
        let first = first.iter().fold(0_u64, |sum, (c, n)| sum.wrapping_add(power(*n).wrapping_mul(*c)));
        assert_eq!(hashes("a\n"), [(first, 1), (0xc129_715d_7a2b_c9a3, 1)]);
    }

    #[test]
    fn blanks_and_kinds_of_line_breaks_do_not_count() {
        let plain = hashes("a: 1\nb: 2\n");
        assert_eq!(plain, hashes("a:  1\r\n\tb:2\r\n"));
        assert_eq!(plain, hashes("a: 1\rb: 2\r"));
        assert_ne!(plain[0], hashes("a: 1\n\nb: 2\n")[0]);
        assert_eq!(plain[1], hashes("\na: 1\nb: 2\n")[2]);
    }

    #[test]
    fn equal_lines_are_counted() {
        let all = hashes(&"x\n".repeat(120));
        // A window holds fifty lines: those that do not see the end look alike.
        assert_eq!(all[70], (all[0].0, 71));
        assert_ne!(all[71].0, all[0].0);
        assert_eq!(all[71].1, 1);
    }

    #[test]
    fn only_a_hundred_code_units_count() {
        let long = |n: usize, end: &str| hashes(&("x".repeat(n) + end))[0];
        assert_ne!(long(99, "a"), long(99, "b"));
        assert_eq!(long(100, "a"), long(100, "b"));
        // A character beyond the basic plane is two of them; these two differ in the second.
        assert_ne!(long(98, "😀"), long(98, "😁"));
        assert_eq!(long(99, "😀"), long(99, "😁"));
    }
}
