//! Source files, spans in them, and the line index that turns byte offsets into lines and columns at the edge.
//!
//! A [`Span`] is a file and a byte range, nothing else. Lines and columns exist only in reports, which ask
//! [`Source::position`].

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

/// A file of the run: its index in [`Sources`], which is sorted by path, so that order by id is order by path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct FileId(pub u32);

/// A byte range in a file. `start..end` counts bytes of the file as it lies on disk, a BOM included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

/// One file's path and text, all of it or the lines that were kept of it. Bytes that are not UTF-8 have become U+FFFD before
/// this point.
#[derive(Debug)]
pub struct Source {
    /// Path as shown: relative to where the run started if possible, `/` between its parts.
    pub path: Arc<str>,
    /// The whole text, or pieces of whole lines in the order in which they stand in the file. Never empty.
    pieces: Vec<Piece>,
    is_whole: bool,
}

/// Neighbouring lines of a file.
#[derive(Debug)]
struct Piece {
    /// Its first line, from 0.
    line: usize,
    /// The byte of the file at which that line starts.
    start: usize,
    text: Arc<str>,
    /// Byte offsets in `text` at which lines start.
    lines: OnceLock<Vec<u32>>,
    /// What begins before each block of [`BLOCK`] bytes: a dump may be one line of many megabytes.
    blocks: OnceLock<Vec<Before>>,
}

/// A line that was kept of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KeptLine<'a> {
    /// Its number, from 1.
    pub line: u32,
    /// The byte of the file at which it starts.
    pub start: u32,
    /// Its text without the line feed, and with the carriage return before it.
    #[serde(borrow)]
    pub text: Cow<'a, str>,
}

/// How many characters begin in a run of text, and how many of them are two UTF-16 code units.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    characters: u32,
    pairs: u32,
}

impl Before {
    fn and(self, bytes: &[u8]) -> Before {
        let count = |begins: fn(u8) -> bool| bytes.iter().filter(|byte| begins(**byte)).count() as u32;
        Before {
            characters: self.characters + count(|byte| byte & 0xC0 != 0x80),
            pairs: self.pairs + count(|byte| byte >= 0xF0),
        }
    }
}

/// Bytes between two entries of [`Piece::blocks`].
const BLOCK: usize = 1024;

impl Source {
    /// A source from its path and text.
    pub fn new(path: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Source { path: path.into(), pieces: vec![Piece::new(0, 0, text.into())], is_whole: true }
    }

    /// A source of which some lines are known: in all of these it answers as the whole file would.
    ///
    /// # Errors
    /// The first line, from 1, that cannot stand behind those before it.
    pub fn of_lines<'a>(path: Arc<str>, kept: impl IntoIterator<Item = KeptLine<'a>>) -> Result<Self, u32> {
        // For each piece its first line, its start and its text.
        let mut pieces: Vec<(usize, usize, String)> = Vec::new();
        // The line and the byte behind all that is known.
        let mut next = (0, 0);
        for KeptLine { line: number, start, text } in kept {
            let line = (number as usize).checked_sub(1).ok_or(number)?;
            let start = start as usize;
            let end = start + text.len() + 1;
            let is_next = (line, start) == next;
            // A line that was left out has one byte at least, its line feed.
            let is_later = line > next.0 && start.checked_sub(next.1).is_some_and(|bytes| bytes >= line - next.0);
            if !(is_next || is_later) || text.contains('\n') || u32::try_from(end).is_err() {
                return Err(number);
            }
            match pieces.last_mut().filter(|_| is_next) {
                Some((.., known)) => known.push_str(&text),
                None => pieces.push((line, start, text.into_owned())),
            }
            if let Some((.., known)) = pieces.last_mut() {
                known.push('\n');
            }
            next = (line + 1, end);
        }
        let nothing = pieces.is_empty().then(|| Piece::new(0, 0, "".into()));
        let pieces = pieces.into_iter().map(|(line, start, text)| Piece::new(line, start, text.into()));
        Ok(Source { path, pieces: pieces.chain(nothing).collect(), is_whole: false })
    }

    /// The text, BOM included; none if only some lines are known.
    pub fn text(&self) -> Option<&Arc<str>> {
        self.pieces.first().filter(|_| self.is_whole).map(|piece| &piece.text)
    }

    /// The last piece that starts at a byte offset or before it, else the first.
    fn piece_at(&self, offset: usize) -> Option<&Piece> {
        let behind = self.pieces.partition_point(|piece| piece.start <= offset);
        self.pieces.get(behind.saturating_sub(1))
    }

    /// The same by lines, from 0.
    fn piece_of(&self, line: usize) -> Option<&Piece> {
        let behind = self.pieces.partition_point(|piece| piece.line <= line);
        self.pieces.get(behind.saturating_sub(1))
    }

    /// The line (from 0) that holds a byte offset.
    pub fn line_of(&self, offset: u32) -> usize {
        let offset = offset as usize;
        self.piece_at(offset).map_or(0, |piece| piece.line + piece.line_of(offset.saturating_sub(piece.start)))
    }

    /// Byte range of a line (from 0), without its line break.
    pub fn line_range(&self, line: usize) -> Range<usize> {
        self.piece_of(line).map_or(0..0, |piece| {
            let range = piece.line_range(line.saturating_sub(piece.line));
            piece.start + range.start..piece.start + range.end
        })
    }

    /// The text of a line (from 0), without its line break.
    pub fn line(&self, line: usize) -> &str {
        self.get(self.line_range(line))
    }

    /// Line and column of a byte offset, the column in characters. An offset inside a character counts as its start; past
    /// the end, as the end. A BOM is in no column.
    pub fn position(&self, offset: u32) -> Position {
        self.place(offset, |before| before.characters)
    }

    /// The same with the column in UTF-16 code units.
    pub fn utf16_position(&self, offset: u32) -> Position {
        self.place(offset, |before| before.characters + before.pairs)
    }

    fn place(&self, offset: u32, count: impl Fn(Before) -> u32) -> Position {
        let Some(piece) = self.piece_at(offset as usize) else { return Position { line: 1, column: 1 } };
        let (line, column) = piece.place((offset as usize).saturating_sub(piece.start), count);
        Position { line: (piece.line + line) as u32 + 1, column: column + 1 }
    }

    /// The text of a span in this file; empty if it does not fit, or reaches into lines that are not known.
    pub fn slice(&self, span: Span) -> &str {
        self.get(span.range())
    }

    fn get(&self, range: Range<usize>) -> &str {
        let within = |piece: &Piece| Some(range.start.checked_sub(piece.start)?..range.end.checked_sub(piece.start)?);
        self.piece_at(range.start).and_then(|piece| piece.text.get(within(piece)?)).unwrap_or_default()
    }

    /// Whether every line from the one at `start` to the one at `end` is known.
    pub fn knows(&self, start: u32, end: u32) -> bool {
        let piece = self.piece_at(start as usize);
        self.is_whole
            || piece
                .is_some_and(|piece| piece.start <= start as usize && end as usize <= piece.start + piece.text.len())
    }

    /// Whether it is known of both that they say the same in every line that `self` knows.
    pub fn is_part_of(&self, other: &Source) -> bool {
        self.pieces.iter().all(|piece| {
            // The end of a text is the end of its last line too.
            let text = piece.text.strip_suffix('\n').unwrap_or(&piece.text);
            other.get(piece.start..piece.start + text.len()) == text && other.line_of(piece.start as u32) == piece.line
        })
    }

    /// Lines (from 0, in ascending order), to be kept.
    pub fn kept(&self, lines: impl Iterator<Item = usize>) -> impl Iterator<Item = KeptLine<'_>> {
        lines.map(|line| {
            let start = self.line_range(line).start;
            let text = self.piece_of(line).map_or("", |piece| piece.whole_line(line.saturating_sub(piece.line)));
            KeptLine { line: line as u32 + 1, start: start as u32, text: Cow::Borrowed(text) }
        })
    }
}

impl Piece {
    fn new(line: usize, start: usize, text: Arc<str>) -> Self {
        Piece { line, start, text, lines: OnceLock::new(), blocks: OnceLock::new() }
    }

    fn lines(&self) -> &[u32] {
        self.lines.get_or_init(|| {
            std::iter::once(0).chain(memchr::memchr_iter(b'\n', self.text.as_bytes()).map(|at| at as u32 + 1)).collect()
        })
    }

    fn line_of(&self, offset: usize) -> usize {
        self.lines().partition_point(|start| *start as usize <= offset).saturating_sub(1)
    }

    /// A line with its line break.
    fn broken_line(&self, line: usize) -> Range<usize> {
        let lines = self.lines();
        let start = lines.get(line).map_or(self.text.len(), |s| *s as usize);
        start..lines.get(line + 1).map_or(self.text.len(), |s| *s as usize)
    }

    fn whole_line(&self, line: usize) -> &str {
        let text = self.text.get(self.broken_line(line)).unwrap_or_default();
        text.strip_suffix('\n').unwrap_or(text)
    }

    fn line_range(&self, line: usize) -> Range<usize> {
        let range = self.broken_line(line);
        let text = self.text.get(range.clone()).unwrap_or_default();
        range.start..range.start + text.trim_end_matches(['\n', '\r']).len()
    }

    /// Line and column of an offset, both from 0.
    fn place(&self, offset: usize, count: impl Fn(Before) -> u32) -> (usize, u32) {
        let line = self.line_of(offset);
        let start = self.line_range(line).start;
        let end = floor_boundary(&self.text, offset.max(start));
        let is_first = self.start + start == 0;
        let bom = u32::from(is_first && end > 0 && self.text.starts_with('\u{feff}'));
        (line, count(self.before(end)) - count(self.before(start)) - bom)
    }

    /// What begins before a byte offset.
    fn before(&self, offset: usize) -> Before {
        let bytes = self.text.as_bytes();
        let blocks = self.blocks.get_or_init(|| {
            let mut total = Before::default();
            // One entry more than there are full blocks, so that the end of the text has one too.
            let mut blocks = Vec::with_capacity(bytes.len() / BLOCK + 1);
            for block in bytes.chunks(BLOCK) {
                blocks.push(total);
                total = total.and(block);
            }
            blocks.push(total);
            blocks
        });
        let block = offset / BLOCK;
        let start = blocks.get(block).copied().unwrap_or_default();
        start.and(bytes.get(block * BLOCK..offset).unwrap_or_default())
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

    /// The files, in the order of their ids.
    pub fn into_files(self) -> Vec<Source> {
        self.files
    }

    /// Puts another source, of the same file, in the place of one.
    pub fn replace(&mut self, file: FileId, source: Source) {
        if let Some(slot) = self.files.get_mut(file.0 as usize) {
            *slot = source;
        }
    }

    /// The file of an id.
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
        let x = source.text().unwrap().find('x').unwrap() as u32;
        assert_eq!(source.position(x), Position { line: 1, column: 8 });
        let b = source.text().unwrap().find("b:").unwrap() as u32;
        assert_eq!(source.position(b), Position { line: 2, column: 1 });
        assert_eq!(source.line_range(0), 0..source.text().unwrap().find('\r').unwrap());
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
    fn utf16_columns_count_code_units_and_no_bom() {
        let source = Source::new("a", "\u{feff}😀é: 1\r\n");
        let one = source.text().unwrap().find('1').unwrap() as u32;
        assert_eq!(source.utf16_position(one), Position { line: 1, column: 6 });
        assert_eq!(source.position(one), Position { line: 1, column: 5 });
        assert_eq!(source.utf16_position(999), Position { line: 2, column: 1 });
    }

    #[test]
    fn an_offset_past_the_end_is_the_end() {
        let source = Source::new("a", "ab");
        assert_eq!(source.position(99), Position { line: 1, column: 3 });
        assert_eq!(source.slice(Span { file: FileId(0), start: 1, end: 9 }), "");
    }

    /// A file, and what is left of it if these lines (from 0) are kept.
    fn kept(text: &str, lines: &[usize]) -> (Source, Source) {
        let whole = Source::new("a", text);
        let kept = Source::of_lines("a".into(), whole.kept(lines.iter().copied())).unwrap();
        (whole, kept)
    }

    #[test]
    fn lines_that_are_kept_answer_as_the_file_does() {
        let text = "\u{feff}é: 1\r\n\nsecret\n  b: ☕\r\n  c: 😀x\nlast";
        let lines = [0, 3, 4, 5];
        let (whole, kept) = kept(text, &lines);
        for offset in 0..=text.len() as u32 {
            if lines.contains(&whole.line_of(offset)) {
                assert_eq!(kept.position(offset), whole.position(offset), "{offset}");
                assert_eq!(kept.utf16_position(offset), whole.utf16_position(offset), "{offset}");
                assert!(kept.knows(offset, offset));
            }
        }
        for line in lines {
            assert_eq!((kept.line(line), kept.line_range(line)), (whole.line(line), whole.line_range(line)));
        }
        let both = Span::new(FileId(0), text.find("b:").unwrap()..text.find('x').unwrap());
        assert_eq!(kept.slice(both), whole.slice(both));
        assert!(kept.is_part_of(&whole) && kept.is_part_of(&kept) && !whole.is_part_of(&kept));
        assert!(!kept.is_part_of(&Source::new("a", text.replace("b:", "d:"))));
        assert_eq!((kept.text(), whole.text().map(|text| &**text)), (None, Some(text)));
    }

    #[test]
    fn of_what_is_not_kept_nothing_is_said() {
        let text = "one\ntwo\nthree\nfour\n";
        let (whole, kept) = kept(text, &[1, 3]);
        let known = |start: u32, end: u32| kept.knows(start, end);
        // `two` with its line feed, and where the next line starts.
        assert!(known(4, 7) && known(4, 8) && kept.position(8) == whole.position(8));
        assert!(!known(0, 2) && !known(4, 9) && !known(8, 12) && !known(4, 16) && !known(4, 999));
        assert_eq!(kept.slice(Span::new(FileId(0), 4..16)), "");
        assert_eq!(kept.slice(Span::new(FileId(0), 9..11)), "");
        let nothing = Source::of_lines("a".into(), []).unwrap();
        assert_eq!((nothing.position(7), nothing.line(3)), (Position { line: 1, column: 1 }, ""));
    }

    #[test]
    fn lines_that_cannot_follow_each_other_are_refused() {
        let line = |line, start, text: &'static str| KeptLine { line, start, text: text.into() };
        let of = |lines: [KeptLine<'static>; 2]| Source::of_lines("a".into(), lines).err();
        assert_eq!(of([line(1, 0, "ab"), line(2, 3, "cd")]), None);
        assert_eq!(of([line(1, 0, "ab"), line(3, 4, "cd")]), None);
        for (number, start) in [(2, 4), (2, 2), (3, 3), (1, 3), (1, 0), (0, 3), (9, 9)] {
            assert_eq!(of([line(1, 0, "ab"), line(number, start, "cd")]), Some(number), "{number} {start}");
        }
        assert_eq!(of([line(1, 1, "ab"), line(2, 4, "cd")]), Some(1));
        assert_eq!(of([line(1, 0, "ab"), line(2, 3, "c\nd")]), Some(2));
        assert_eq!(of([line(1, 0, "ab"), line(2, u32::MAX, "cd")]), Some(2));
    }
}
