//! Expressions replaced by as many bytes of YAML.
//!
//! Line breaks are the best blanks: unlike spaces they are harmless at the beginning of a block scalar, and nothing here
//! counts lines.

use std::collections::BTreeSet;

use super::expression::{Expression, Expressions, Kind, find};

/// A template made into YAML of the same length.
pub struct Blanked {
    /// The text.
    pub text: String,
    /// What marks a scalar that stands for an expression.
    pub marker: char,
    /// Where marked scalars stand, in order.
    pub placed: Vec<Placed>,
}

/// A marked scalar, and the expression that it stands for.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    pub start: u32,
    pub end: u32,
    pub from: u32,
    pub to: u32,
    /// Whether it stands for a line of its own, so that leaving it out loses no key's value.
    pub is_line: bool,
}

/// Replaces all expressions; `None` if there are none, or no character is left to mark them with. Lines that print and
/// begin at one of `left_out` are blanked like those that do not.
pub fn blank(text: &str, left_out: &BTreeSet<u32>, which: Expressions) -> Option<Blanked> {
    let expressions = find(text, which);
    if expressions.is_empty() {
        return None;
    }
    // Private use, three bytes each, and allowed in YAML.
    let marker = ('\u{e000}'..='\u{e0ff}').find(|c| !text.contains(*c))?;
    let bytes = text.as_bytes().to_vec();
    let mut work = Work {
        source: text,
        text: bytes,
        marker,
        placed: Vec::new(),
        levels: Vec::new(),
        is_in_part: false,
        is_behind_else: false,
        left_out,
    };
    let mut rest = expressions.as_slice();
    let mut at = 0;
    while at < text.len() {
        let mut end = line_end(text, at);
        let mut count = 0;
        // Lines that expressions join are taken together.
        while let Some(next) = rest.get(count).filter(|next| next.at.start < end) {
            count += 1;
            if next.at.end > end {
                end = line_end(text, next.at.end - 1);
            }
        }
        let (here, behind) = rest.split_at_checked(count)?;
        rest = behind;
        if here.is_empty() {
            work.see_line(at, end);
        } else {
            work.replace(at, end, here);
        }
        at = end;
    }
    Some(Blanked { text: String::from_utf8(work.text).ok()?, marker, placed: work.placed })
}

/// One past the line break of the line that holds `at`.
fn line_end(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    memchr::memchr(b'\n', rest).map_or(text.len(), |found| at + found + 1)
}

/// A column at which entries or items begin.
struct Level {
    column: usize,
    is_list: bool,
}

struct Work<'t> {
    source: &'t str,
    text: Vec<u8>,
    marker: char,
    placed: Vec<Placed>,
    /// The columns that are open, outermost first.
    levels: Vec<Level>,
    /// Whether a `define` is open that became a document.
    is_in_part: bool,
    /// Whether an `else` stood on the line before.
    is_behind_else: bool,
    left_out: &'t BTreeSet<u32>,
}

impl Work<'_> {
    /// Takes note of a line's indentation.
    fn see_line(&mut self, start: usize, end: usize) {
        let line = self.source.get(start..end).unwrap_or_default();
        // `{{ else }}{}{{ end }}` on three lines: nothing, where the other branch has entries.
        if std::mem::take(&mut self.is_behind_else) && matches!(line.trim(), "{}" | "[]") {
            return self.erase(start, end, b'\n');
        }
        let mut rest = line.trim_start_matches(' ');
        let mut column = line.len() - rest.len();
        if rest.trim().is_empty() || rest.starts_with('#') {
            return;
        }
        loop {
            let is_list = is_item(rest);
            self.levels.retain(|level| level.column < column);
            self.levels.push(Level { column, is_list });
            if !is_list {
                return;
            }
            let inner = rest.get(1..).unwrap_or_default().trim_start_matches(' ');
            if inner.trim().is_empty() || self.levels.len() > 100 {
                return;
            }
            column += rest.len() - inner.len();
            rest = inner;
        }
    }

    /// Replaces the expressions of one line, or of several that they join.
    fn replace(&mut self, start: usize, end: usize, expressions: &[Expression]) {
        let (Some(first), Some(last)) = (expressions.first(), expressions.last()) else { return };
        let comment = self.comment_behind(end, expressions);
        let stop = comment.unwrap_or(end);
        let is_alone = is_blank_between(self.source, start, stop, expressions);
        // `{{ if .x }}data:{{ else }}stringData:{{ end }}`: which of them is not known.
        let is_choice = !is_alone
            && matches!(first.kind, Kind::Steers | Kind::Defines)
            && matches!(last.kind, Kind::Steers | Kind::Defines)
            && is_blank(self.source, start, first.at.start)
            && is_blank(self.source, last.at.end, stop);
        if is_alone || is_choice {
            if self.part(start, stop, expressions) {
                return;
            }
            // A comment must not move to the first column, where it would end a block scalar.
            self.erase(start, stop, if comment.is_some() { b' ' } else { b'\n' });
            self.is_behind_else = is_alone && last.is_else(self.source);
            self.print_line(start, end, expressions, is_choice);
            return;
        }
        self.see_line(start, end);
        for expression in expressions {
            let (from, to) = (expression.at.start, expression.at.end);
            let is_last = to == last.at.end && is_blank(self.source, to, stop);
            if expression.kind == Kind::Comment {
                self.erase(from, to, b' ');
            } else if !(is_last && self.print_below(start, end, expression)) {
                let from = self.header_before(start, from);
                self.mark(from, to, "", from..to, false);
                // Line breaks inside would end the scalar.
                if let Some(filler) = self.text.get_mut(from + self.marker.len_utf8()..to) {
                    filler.fill(b'x');
                }
            }
        }
    }

    /// `{{ define "x" }}` in the first column and its `end`: what stands between them is printed elsewhere, so that it is a
    /// document of its own. Whether it was that.
    fn part(&mut self, start: usize, stop: usize, expressions: &[Expression]) -> bool {
        const MARK: &[u8] = b"---";
        let begins = expressions.iter().any(|one| one.kind == Kind::Defines && one.at.start == start);
        let ends = self.is_in_part && expressions.iter().any(|one| one.kind == Kind::Defines);
        if !(begins || ends) || expressions.iter().any(|one| matches!(one.kind, Kind::Prints(_))) {
            return false;
        }
        // One line may hold a whole one, or end one and begin the next.
        let was_in_part = self.is_in_part;
        let marks = expressions.iter().filter(|one| one.kind == Kind::Defines).count();
        self.is_in_part = was_in_part != (marks % 2 == 1);
        self.erase(start, stop, b'\n');
        if (was_in_part || self.is_in_part)
            && let Some(slot) = self.text.get_mut(start..start + MARK.len())
        {
            slot.copy_from_slice(MARK);
            self.levels.clear();
        }
        true
    }

    /// `labels: {{ … | nindent 4 }}`, `- {{ toYaml . }}`: what is printed are entries or items of their own, and more of
    /// them may follow. Whether it was that.
    fn print_below(&mut self, start: usize, end: usize, expression: &Expression) -> bool {
        let (from, to) = (expression.at.start, expression.at.end);
        let before = self.source.get(start..from).unwrap_or_default().trim_end_matches(' ');
        let written = self.source.get(from..to).unwrap_or_default();
        if before.ends_with(':')
            && let Kind::Prints(Some(column)) = expression.kind
            && written.contains("nindent")
        {
            let is_list = self.is_list_at(column, end);
            let needed = self.needed(is_list);
            if 1 + column + needed > to - from {
                return false;
            }
            self.erase(from, to, b'\n');
            self.lay(from + 1, column, is_list, from..to, false);
            return true;
        }
        let is_item = !before.is_empty() && before.bytes().all(|byte| matches!(byte, b' ' | b'-'));
        if is_item && (written.contains("toYaml") || written.contains("indent")) {
            self.erase(from, to, b'\n');
            self.lay(from, 0, false, from..to, false);
            return true;
        }
        false
    }

    /// `key: |-{{ … | nindent 4 }}`: the header of a block scalar is part of what is not known. Where that begins, which is
    /// `from` if there is none.
    fn header_before(&self, start: usize, from: usize) -> usize {
        let before = self.source.get(start..from).unwrap_or_default();
        let head = before.trim_end_matches(['+', '-']);
        match head.strip_suffix(['|', '>']) {
            Some(rest) if rest.ends_with(": ") => start + rest.len(),
            _ => from,
        }
    }

    /// Where a YAML comment begins behind the last expression, if nothing else stands there.
    fn comment_behind(&self, end: usize, expressions: &[Expression]) -> Option<usize> {
        let last = expressions.last()?.at.end;
        let behind = self.source.get(last..end)?;
        let blanks = behind.len() - behind.trim_start_matches([' ', '\t']).len();
        (blanks > 0 && behind.get(blanks..)?.starts_with('#')).then_some(last + blanks)
    }

    /// Blanks; line breaks stay.
    fn erase(&mut self, start: usize, end: usize, blank: u8) {
        for byte in self.text.get_mut(start..end).unwrap_or_default() {
            if !matches!(*byte, b'\n' | b'\r') {
                *byte = blank;
            }
        }
    }

    /// Bytes that an entry or item takes.
    fn needed(&self, is_list: bool) -> usize {
        let around = if is_list { "- ".len() } else { ":".len() };
        self.marker.len_utf8() + around
    }

    /// A line of expressions that print: an entry or item that is not known, where the printed lines would begin.
    fn print_line(&mut self, start: usize, end: usize, expressions: &[Expression], is_choice: bool) {
        let prints = |one: &&Expression| is_choice || matches!(one.kind, Kind::Prints(_));
        let Some(first) = expressions.iter().find(prints) else { return };
        let last = expressions.iter().rfind(prints).unwrap_or(first);
        if self.left_out.contains(&cut(first.at.start)) {
            return;
        }
        let line = self.source.get(..first.at.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let own_column = first.at.start.saturating_sub(line);
        let column = match last.kind {
            Kind::Prints(Some(column)) => column,
            _ => own_column,
        };
        for column in [column, own_column] {
            let is_list = self.is_list_at(column, end);
            if start + column + self.needed(is_list) <= last.at.end {
                self.lay(start, column, is_list, first.at.start..last.at.end, true);
                self.levels.retain(|level| level.column < column);
                self.levels.push(Level { column, is_list });
                return;
            }
        }
    }

    /// Writes an entry or item that is not known, `column` blanks behind `start`.
    fn lay(&mut self, start: usize, column: usize, is_list: bool, expression: std::ops::Range<usize>, is_line: bool) {
        let at = start + column;
        let end = at + self.needed(is_list);
        if let Some(blanks) = self.text.get_mut(start..at) {
            blanks.fill(b' ');
        }
        self.mark(at, end, if is_list { "- " } else { "" }, expression, is_line);
        if !is_list && let Some(colon) = self.text.get_mut(end - 1) {
            *colon = b':';
        }
    }

    /// Whether items (rather than entries) stand at a column.
    fn is_list_at(&self, column: usize, end: usize) -> bool {
        if let Some(level) = self.levels.iter().rev().find(|level| level.column <= column)
            && level.column == column
        {
            return level.is_list;
        }
        // Nothing before it: the next line of text may say.
        let next = self.source.get(end..).unwrap_or_default().lines().take(8).find(|line| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with(['#', '{'])
        });
        next.is_some_and(|line| {
            let rest = line.trim_start_matches(' ');
            line.len() - rest.len() == column && is_item(rest)
        })
    }

    /// Writes a marked scalar at `start`; `expression` is what it stands for.
    fn mark(&mut self, start: usize, end: usize, prefix: &str, expression: std::ops::Range<usize>, is_line: bool) {
        let mut buffer = [0; 4];
        let marker = self.marker.encode_utf8(&mut buffer).bytes();
        let bytes = prefix.bytes().chain(marker);
        for (slot, byte) in self.text.get_mut(start..end).unwrap_or_default().iter_mut().zip(bytes) {
            *slot = byte;
        }
        let scalar = start + prefix.len();
        self.placed.push(Placed {
            start: cut(scalar),
            end: cut(end),
            from: cut(expression.start),
            to: cut(expression.end),
            is_line,
        });
    }
}

/// Whether nothing but blanks stands in a range.
fn is_blank(text: &str, from: usize, to: usize) -> bool {
    let between = text.get(from..to).unwrap_or_default();
    between.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}

/// Whether nothing but blanks stands around expressions.
fn is_blank_between(text: &str, start: usize, end: usize, expressions: &[Expression]) -> bool {
    let starts = expressions.iter().map(|one| one.at.start).chain([end]);
    let ends = [start].into_iter().chain(expressions.iter().map(|one| one.at.end));
    starts.zip(ends).all(|(stop, from)| is_blank(text, from, stop))
}

fn cut(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn is_item(line: &str) -> bool {
    line.strip_prefix('-').is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\n', '\r']))
}
