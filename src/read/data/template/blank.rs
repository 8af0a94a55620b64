//! Expressions replaced by as many bytes of YAML.

use super::expression::{Expression, Kind, find};

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
}

/// Replaces all expressions; `None` if there are none, or no character is left to mark them with.
pub fn blank(text: &str) -> Option<Blanked> {
    let expressions = find(text);
    if expressions.is_empty() {
        return None;
    }
    // Private use, three bytes each, and allowed in YAML.
    let marker = ('\u{e000}'..='\u{e0ff}').find(|c| !text.contains(*c))?;
    let mut work =
        Work { source: text, text: text.as_bytes().to_vec(), marker, placed: Vec::new(), levels: Vec::new() };
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
}

impl Work<'_> {
    /// Takes note of a line's indentation.
    fn see_line(&mut self, start: usize, end: usize) {
        let line = self.source.get(start..end).unwrap_or_default();
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
        let comment = self.comment_behind(end, expressions);
        if self.is_blank_between(start, comment.unwrap_or(end), expressions) {
            for expression in expressions {
                self.fill(expression.at.start, expression.at.end);
            }
            self.print_line(start, comment.unwrap_or(end), expressions);
            return;
        }
        for expression in expressions {
            let (from, to) = (expression.at.start, expression.at.end);
            if expression.kind == Kind::Comment {
                self.fill(from, to);
            } else {
                self.mark(from, to, "", from..to);
                // Line breaks inside would end the scalar.
                if let Some(filler) = self.text.get_mut(from + 3..to) {
                    filler.fill(b'x');
                }
            }
        }
        self.see_line(start, end);
    }

    /// Where a YAML comment begins behind the last expression, if nothing else stands there.
    fn comment_behind(&self, end: usize, expressions: &[Expression]) -> Option<usize> {
        let last = expressions.last()?.at.end;
        let behind = self.source.get(last..end)?;
        let blanks = behind.len() - behind.trim_start_matches([' ', '\t']).len();
        (blanks > 0 && behind.get(blanks..)?.starts_with('#')).then_some(last + blanks)
    }

    fn is_blank_between(&self, start: usize, end: usize, expressions: &[Expression]) -> bool {
        let starts = expressions.iter().map(|one| one.at.start).chain([end]);
        let ends = [start].into_iter().chain(expressions.iter().map(|one| one.at.end));
        starts.zip(ends).all(|(stop, from)| {
            let between = self.source.get(from..stop).unwrap_or_default();
            between.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
        })
    }

    /// Blanks; line breaks stay.
    fn fill(&mut self, start: usize, end: usize) {
        for byte in self.text.get_mut(start..end).unwrap_or_default() {
            if !matches!(*byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }

    /// A line of expressions that print: an entry or item that is not known, where the printed lines would begin.
    fn print_line(&mut self, start: usize, end: usize, expressions: &[Expression]) {
        let prints = |one: &&Expression| matches!(one.kind, Kind::Prints(_));
        let Some(first) = expressions.iter().find(prints) else { return };
        let last = expressions.iter().rfind(prints).unwrap_or(first);
        let line = self.source.get(..first.at.start).and_then(|before| before.rfind('\n')).map_or(start, |at| at + 1);
        let line_end = line_end(self.source, first.at.start).min(end);
        let own_column = first.at.start.saturating_sub(line);
        let column = match last.kind {
            Kind::Prints(Some(column)) => column,
            _ => own_column,
        };
        for column in [column, own_column] {
            let is_list = self.is_list_at(column, end);
            let prefix = if is_list { "- " } else { "" };
            let needed = prefix.len() + self.marker.len_utf8() + 1;
            let room = self.text.get(line..line_end).unwrap_or_default();
            let room = room.iter().rposition(|byte| *byte == b' ').map_or(0, |last| last + 1);
            if column + needed <= room {
                let at = line + column;
                self.mark(at, at + needed, prefix, first.at.start..last.at.end);
                if !is_list && let Some(colon) = self.text.get_mut(at + needed - 1) {
                    *colon = b':';
                }
                self.levels.retain(|level| level.column < column);
                self.levels.push(Level { column, is_list });
                return;
            }
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
    fn mark(&mut self, start: usize, end: usize, prefix: &str, expression: std::ops::Range<usize>) {
        let mut buffer = [0; 4];
        let marker = self.marker.encode_utf8(&mut buffer).bytes();
        let bytes = prefix.bytes().chain(marker);
        for (slot, byte) in self.text.get_mut(start..end).unwrap_or_default().iter_mut().zip(bytes) {
            *slot = byte;
        }
        let scalar = start + prefix.len();
        let cut = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        self.placed.push(Placed {
            start: cut(scalar),
            end: cut(end),
            from: cut(expression.start),
            to: cut(expression.end),
        });
    }
}

fn is_item(line: &str) -> bool {
    line.strip_prefix('-').is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\n', '\r']))
}
