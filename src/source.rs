//! Source files, spans in them, and the line index that turns byte offsets into lines and columns at the edge.
//!
//! A [`Span`] is a file and a byte range, nothing else. Lines and columns exist only in reports, which ask
//! [`Source::position`].

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

/// A file of the run: its index in [`Sources`], which is sorted by path, so that order by id is order by path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileId(pub u32);

/// A byte range in a file. `start..end` counts bytes of the file as it lies on disk, a BOM included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span over `range` of `file`. Offsets past 4 GiB cannot occur: the scan refuses such files.
    pub fn new(file: FileId, range: Range<usize>) -> Self {
        let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Span { file, start: clamp(range.start), end: clamp(range.end) }
    }

    /// The byte range, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The smallest span that covers both; `self` if they lie in different files.
    pub fn to(self, other: Span) -> Span {
        if self.file != other.file {
            return self;
        }
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// A place as people count it: line and column from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
}

/// One file's path and text. Bytes that are not UTF-8 have become U+FFFD before this point.
#[derive(Debug)]
pub struct Source {
    /// Path as shown: relative to where the run started if possible, `/` between its parts.
    pub path: Arc<str>,
    /// The text, BOM included.
    pub text: Arc<str>,
    lines: OnceLock<Vec<u32>>,
    /// Characters that begin before each block of [`BLOCK`] bytes: a dump may be one line of many megabytes.
    characters: OnceLock<Vec<u32>>,
}

/// Bytes between two entries of [`Source::characters`].
const BLOCK: usize = 1024;

impl Source {
    /// A source from its path and text.
    pub fn new(path: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Source { path: path.into(), text: text.into(), lines: OnceLock::new(), characters: OnceLock::new() }
    }

    /// Byte offsets at which lines start.
    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            std::iter::once(0).chain(memchr::memchr_iter(b'\n', self.text.as_bytes()).map(|at| at as u32 + 1)).collect()
        })
    }

    /// The line (from 0) that holds a byte offset.
    pub fn line_of(&self, offset: u32) -> usize {
        self.lines().partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// Byte range of a line (from 0), without its line break.
    pub fn line_range(&self, line: usize) -> Range<usize> {
        let lines = self.lines();
        let start = lines.get(line).map_or(self.text.len(), |s| *s as usize);
        let end = lines.get(line + 1).map_or(self.text.len(), |s| *s as usize);
        let text = self.text.get(start..end).unwrap_or_default();
        start..start + text.trim_end_matches(['\n', '\r']).len()
    }

    /// Line and column of a byte offset. An offset inside a character counts as its start; past the end, as the end.
    pub fn position(&self, offset: u32) -> Position {
        let line = self.line_of(offset);
        let start = self.line_range(line).start;
        let end = floor_boundary(&self.text, (offset as usize).max(start));
        let bom = usize::from(start == 0 && end > 0 && self.text.starts_with('\u{feff}'));
        let before = self.characters_before(end) - self.characters_before(start);
        Position { line: line as u32 + 1, column: (before - bom) as u32 + 1 }
    }

    /// How many characters begin before a byte offset.
    fn characters_before(&self, offset: usize) -> usize {
        let bytes = self.text.as_bytes();
        let blocks = self.characters.get_or_init(|| {
            let mut total = 0;
            let counts = bytes.chunks(BLOCK).map(|block| {
                let before = total;
                total += beginnings(block) as u32;
                before
            });
            counts.collect()
        });
        let block = offset / BLOCK;
        match blocks.get(block) {
            Some(before) => *before as usize + bytes.get(block * BLOCK..offset).map_or(0, beginnings),
            // The end of a text of whole blocks.
            None => {
                blocks.last().map_or(0, |before| *before as usize) + bytes.chunks(BLOCK).last().map_or(0, beginnings)
            }
        }
    }

    /// The text of a span in this file; empty if it does not fit.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }
}

/// The last character boundary that is not after `at`.
pub fn floor_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// How many characters begin in a run of UTF-8.
fn beginnings(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xC0 != 0x80).count()
}

/// Every file of the run that a fact may point into, by [`FileId`].
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

impl Sources {
    /// From the files, in the order of their ids.
    pub fn new(files: Vec<Source>) -> Self {
        Sources { files }
    }

    /// These files and one more behind them, with its id.
    pub fn with(mut self, source: Source) -> (Self, FileId) {
        let id = FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX));
        self.files.push(source);
        (self, id)
    }

    /// The file of an id. Ids come from this very list, so the only miss is a hand-written facts file.
    pub fn get(&self, file: FileId) -> Option<&Source> {
        self.files.get(file.0 as usize)
    }

    /// All files with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (FileId, &Source)> {
        self.files.iter().enumerate().map(|(id, source)| (FileId(id as u32), source))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_and_not_the_bom() {
        let source = Source::new("a.yaml", "\u{feff}café: ☕x\r\nb: 1\n");
        let x = source.text.find('x').unwrap() as u32;
        assert_eq!(source.position(x), Position { line: 1, column: 8 });
        let b = source.text.find("b:").unwrap() as u32;
        assert_eq!(source.position(b), Position { line: 2, column: 1 });
        assert_eq!(source.line_range(0), 0..source.text.find('\r').unwrap());
    }

    #[test]
    fn columns_are_right_in_lines_of_many_blocks() {
        // 3,000 characters of two bytes each, then one: over several blocks, and across their borders.
        let source = Source::new("dump.json", "é".repeat(3000) + "x");
        for at in [0, 1, 511, 512, 513, 1023, 2999] {
            assert_eq!(source.position(at * 2), Position { line: 1, column: at + 1 });
        }
        assert_eq!(source.position(6000).column, 3001);
        assert_eq!(source.position(6001).column, 3002);
        let whole_blocks = Source::new("dump.json", "x".repeat(2 * BLOCK));
        assert_eq!(whole_blocks.position(2 * BLOCK as u32).column, 2 * BLOCK as u32 + 1);
    }

    #[test]
    fn an_offset_past_the_end_is_the_end() {
        let source = Source::new("a", "ab");
        assert_eq!(source.position(99), Position { line: 1, column: 3 });
        assert_eq!(source.slice(Span { file: FileId(0), start: 1, end: 9 }), "");
    }
}
