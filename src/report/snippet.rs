//! Source lines with the places in them underlined and labelled, drawn by miette.
//!
//! What miette is given is not the file but a small text made for the screen: only the lines that hold a label, cleaned of
//! control characters, tabs expanded, clipped around the label if they are long. So a ten-kilobyte line costs one row, and a
//! 30,000-line file costs what its labelled lines cost.

use std::fmt;

use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteError, MietteSpanContents, SourceCode,
    SourceSpan, SpanContents, ThemeCharacters, ThemeStyles,
};

use super::Look;
use super::text;
use crate::finding::{Finding, Severity};
use crate::source::{FileId, Source, Sources, floor_boundary};

/// Lines between two labels that are shown rather than left out.
pub(super) const GAP: usize = 2;
/// Columns between tab stops.
const TAB: usize = 4;

/// Draws all labels of a finding, one snippet for each file, files in the order in which they are read. Empty if no label
/// can be placed.
pub fn draw(finding: &Finding, sources: &Sources, look: Look) -> String {
    let blocks = blocks(finding, sources);
    let digits = |block: &Block<'_>| (block.last + 1).to_string().len();
    let gutter = blocks.iter().map(digits).max().unwrap_or_default();
    let mut out = String::new();
    let mut previous = None;
    for block in &blocks {
        let screen = Screen::new(block, look, gutter);
        let mut drawn = String::new();
        if handler(&screen, finding.severity, look).render_report(&mut drawn, &screen).is_err() {
            continue;
        }
        let indent = " ".repeat(gutter - digits(block));
        // The first row is for a headline, which stands above all snippets; the last one closes a frame that stays open.
        for (row, line) in drawn.lines().skip(1).filter(|line| line.trim() != "╰────").enumerate() {
            if row == 0 && previous == Some(block.file) {
                out.push_str(&format!("{}⋮\n", " ".repeat(gutter + 2)));
            } else {
                out.push_str(&format!("{indent}{}\n", line.trim_end()));
            }
        }
        previous = Some(block.file);
    }
    out
}

/// A label reduced to one line of its file.
struct Mark<'a> {
    file: FileId,
    /// Line, from 0.
    line: usize,
    /// Byte range in the file, cut off at the end of the line.
    start: usize,
    end: usize,
    /// Column, from 0, in characters.
    column: usize,
    text: &'a str,
    primary: bool,
}

/// Neighbouring lines of one file with their marks.
struct Block<'a> {
    file: FileId,
    source: &'a Source,
    first: usize,
    last: usize,
    marks: Vec<Mark<'a>>,
}

fn blocks<'a>(finding: &'a Finding, sources: &'a Sources) -> Vec<Block<'a>> {
    let mut files: Vec<(FileId, &Source, Vec<Mark<'_>>)> = Vec::new();
    for label in finding.in_reading_order() {
        let Some(source) = sources.get(label.span.file) else { continue };
        let line = source.line_of(label.span.start);
        let range = source.line_range(line);
        let start = (label.span.start as usize).clamp(range.start, range.end);
        let end = (label.span.end as usize).clamp(start, range.end);
        let column = source.position(label.span.start).column as usize - 1;
        let primary = finding.primary().is_some_and(|primary| std::ptr::eq(primary, label));
        let mark = Mark { file: label.span.file, line, start, end, column, text: &label.text, primary };
        match files.iter_mut().find(|(file, ..)| *file == mark.file) {
            Some((_, _, marks)) => marks.push(mark),
            None => files.push((mark.file, source, vec![mark])),
        }
    }
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for (file, source, mut marks) in files {
        marks.sort_by_key(|mark| (mark.start, mark.end));
        for mark in marks {
            match blocks.last_mut() {
                Some(block) if block.file == file && mark.line <= block.last + GAP + 1 => {
                    block.last = mark.line;
                    block.marks.push(mark);
                }
                _ => blocks.push(Block { file, source, first: mark.line, last: mark.line, marks: vec![mark] }),
            }
        }
    }
    blocks
}

/// A block made ready for the screen: what miette sees as diagnostic and as source code.
#[derive(Debug)]
struct Screen {
    path: String,
    /// First line, from 0.
    first: usize,
    text: String,
    /// Where each line starts in `text`.
    starts: Vec<usize>,
    labels: Vec<LabeledSpan>,
    /// Start of each label in `text`, and its column in the file.
    columns: Vec<(usize, usize)>,
}

impl Screen {
    fn new(block: &Block<'_>, look: Look, gutter: usize) -> Self {
        let room = look.width.saturating_sub(gutter + 4).max(24);
        let mut screen = Screen {
            path: text::line(&block.source.path).into_owned(),
            first: block.first,
            text: String::new(),
            starts: Vec::new(),
            labels: Vec::new(),
            columns: Vec::new(),
        };
        for line in block.first..=block.last {
            let marks: Vec<&Mark<'_>> = block.marks.iter().filter(|mark| mark.line == line).collect();
            screen.push_line(block.source, line, &marks, room);
        }
        screen
    }

    /// Adds a line as it is shown, and its labels where they then stand.
    fn push_line(&mut self, source: &Source, line: usize, marks: &[&Mark<'_>], room: usize) {
        let range = source.line_range(line);
        let (shown, offsets) = show(source.line(line), marks, range.start, room);
        let start = self.text.len();
        self.starts.push(start);
        for (mark, (from, to)) in marks.iter().zip(offsets) {
            let middle = text::width(shown.get(..usize::midpoint(from, to)).unwrap_or_default());
            let label = wrapped(mark.text, room.saturating_sub(middle + 5).max(20));
            let span = SourceSpan::from((start + from, to - from));
            self.labels.push(if mark.primary {
                LabeledSpan::new_primary_with_span(label, span)
            } else {
                LabeledSpan::new_with_span(label, span)
            });
            self.columns.push((start + from, mark.column));
        }
        // An empty line would not be drawn, and its label neither.
        self.text.push_str(if shown.is_empty() { " " } else { &shown });
        self.text.push('\n');
    }

    fn line_at(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }
}

/// The text of a label, wrapped; none if it is empty.
fn wrapped(label: &str, limit: usize) -> Option<String> {
    (!label.is_empty()).then(|| text::wrap(&text::line(label), limit).join("\n"))
}

/// One line as it is shown, at most `room` columns wide, and for each mark its byte range there. `base` is the offset of
/// the line in its file. A line that is too long, or whose label would have no room, is cut on the left.
fn show(raw: &str, marks: &[&Mark<'_>], base: usize, room: usize) -> (String, Vec<(usize, usize)>) {
    let focus = marks.first().map_or(0, |mark| mark.start - base);
    // A megabyte on one line must not be measured for each finding: what is far from the label is cut by bytes.
    let near = floor_boundary(raw, focus.saturating_sub(8 * room))..floor_boundary(raw, focus + 8 * room);
    let mut cut_left = near.start > 0;
    let mut cut_right = near.end < raw.len();

    // Characters as shown, with their place in the line and their columns.
    let mut cells: Vec<(usize, char, usize)> = Vec::new();
    let mut columns = 0;
    let mut focus_column = 0;
    for (at, c) in raw.get(near.clone()).unwrap_or_default().char_indices() {
        let at = at + near.start;
        if at <= focus {
            focus_column = columns;
        }
        match c {
            '\u{feff}' if base + at == 0 => {}
            '\t' => {
                let stop = TAB - columns % TAB;
                cells.extend(std::iter::repeat_n((at, ' ', 1), stop));
                columns += stop;
            }
            c => {
                let c = text::shown_at(raw, at).unwrap_or(c);
                cells.push((at, c, text::char_width(c)));
                columns += text::char_width(c);
            }
        }
    }

    let label_room = if marks.iter().any(|mark| !mark.text.is_empty()) { 25 } else { 1 };
    let from = if cut_left || columns > room || focus_column + label_room > room {
        focus_column.saturating_sub(room / 3)
    } else {
        0
    };
    let mut out = String::new();
    let mut places: Vec<(usize, usize)> = Vec::new();
    let mut column = 0;
    cut_left |= from > 0;
    if cut_left {
        out.push('…');
    }
    let is_whole = !cut_left && !cut_right && columns <= room;
    let mut used = if is_whole { 0 } else { 2 }; // both ellipses
    for (at, c, columns) in cells {
        column += columns;
        if column <= from {
            continue;
        }
        if used + columns > room {
            cut_right = true;
            break;
        }
        used += columns;
        places.push((at, out.len()));
        out.push(c);
    }
    let end = out.len();
    if cut_right {
        out.push('…');
    }
    let place = |raw_at: usize| {
        let index = places.partition_point(|(at, _)| *at < raw_at);
        places.get(index).map_or(end, |(_, offset)| *offset)
    };
    let offsets = marks.iter().map(|mark| (place(mark.start - base), place(mark.end - base))).collect();
    (out, offsets)
}

impl SourceCode for Screen {
    /// The whole lines under a span. It claims a few more lines than it gives, so that miette joins labels with a small
    /// gap between them into one frame.
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        _before: usize,
        _after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let first = self.line_at(span.offset());
        // No span reaches into its line break, so its end lies on its last line.
        let last = self.line_at(span.offset() + span.len());
        let start = self.starts.get(first).copied().unwrap_or_default();
        let end = self.starts.get(last + 1).copied().unwrap_or(self.text.len());
        let data = self.text.get(start..end).ok_or(MietteError::OutOfBounds)?;
        let column = self.columns.iter().find(|(at, _)| *at == span.offset()).map_or(0, |(_, column)| *column);
        Ok(Box::new(MietteSpanContents::new_named(
            self.path.clone(),
            data.as_bytes(),
            (start, end - start).into(),
            self.first + first,
            column,
            last - first + 1 + GAP,
        )))
    }
}

impl fmt::Display for Screen {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(()) // the headline stands above all snippets of a finding, not here
    }
}

impl std::error::Error for Screen {}

impl Diagnostic for Screen {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

fn handler(screen: &Screen, severity: Severity, look: Look) -> GraphicalReportHandler {
    let ansi = ThemeStyles::ansi();
    let own = match severity {
        Severity::Error => ansi.error,
        Severity::Warning => ansi.warning,
        Severity::Note => ansi.advice,
    };
    let styles = if look.colour {
        // miette hands styles out in the order of the labels.
        let highlights = screen.labels.iter().map(|label| if label.primary() { own } else { ansi.advice }).collect();
        ThemeStyles { link: ansi.advice, highlights, ..ansi }
    } else {
        ThemeStyles::none()
    };
    GraphicalReportHandler::new_themed(GraphicalTheme { characters: ThemeCharacters::unicode(), styles })
        .with_links(false)
        .with_context_lines(0)
        .tab_width(TAB)
        .with_width(look.width)
        .without_syntax_highlighting()
}
