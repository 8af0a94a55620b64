//! [`Cut`]: a text put together from pieces of a file, which knows where each came from.

use std::ops::Range;

use super::items::{Item, Outline, at};
use crate::read::code::tree::At;

/// Pieces of a file, one behind the other.
#[derive(Debug, Default)]
pub struct Cut {
    text: String,
    /// Where each piece begins: here, and in the file.
    pieces: Vec<(usize, usize)>,
    /// Where the last piece ends in the file.
    end: usize,
}

impl Cut {
    /// Adds a piece of a file. Pieces are added in the order in which they stand.
    pub fn add(&mut self, file: &str, range: At) {
        let (start, end) = (range.start as usize, range.end as usize);
        let Some(piece) = file.get(start..end) else { return };
        if self.pieces.is_empty() || self.end != start {
            if !self.text.is_empty() {
                // So that the last word of one piece and the first of the next stay two.
                self.text.push('\n');
            }
            self.pieces.push((self.text.len(), start));
        }
        self.text.push_str(piece);
        self.end = end;
    }

    /// Adds the bracket that closes a body of the file, also where the file forgot it.
    fn close(&mut self, file: &str, body: At) {
        let end = body.end as usize;
        match file.as_bytes().get(end - 1) {
            Some(b'}') => self.add(file, At { start: body.end - 1, end: body.end }),
            _ => self.text.push('}'),
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where a range of the text stands in the file. One that goes over several pieces covers what was left out between them.
    pub fn at(&self, range: Range<usize>) -> At {
        let start = self.place(range.start);
        let end = if range.is_empty() { start } else { self.place(range.end - 1) + 1 };
        at(start, end)
    }

    fn place(&self, at: usize) -> usize {
        let next = self.pieces.partition_point(|(here, _)| *here <= at);
        let (here, there) = next.checked_sub(1).and_then(|last| self.pieces.get(last)).copied().unwrap_or_default();
        there + (at - here.min(at))
    }
}

/// Cuts out those items of a range of them that are taken, with the headers of what is around.
pub fn cut(text: &str, outline: &Outline, is_taken: &[bool], ids: Range<u32>) -> Cut {
    let taken = |id: u32| is_taken.get(id as usize).copied().unwrap_or_default();
    let mut cut = Cut::default();
    // What is open: the index behind its last item, and its body.
    let mut open: Vec<(u32, At)> = Vec::new();
    let around: Vec<&Item> = outline.around(ids.start).skip(1).map(|(_, item)| item).collect();
    for (item, body) in around.into_iter().rev().filter_map(|item| Some((item, item.body?))) {
        cut.add(text, head(item, body));
        open.push((ids.end, body));
    }
    let mut id = ids.start;
    while let Some(item) = outline.get(id).filter(|_| id < ids.end) {
        while let Some((_, body)) = open.pop_if(|(next, _)| *next <= id) {
            cut.close(text, body);
        }
        if taken(id) {
            cut.add(text, item.range);
            id = item.next;
            continue;
        }
        match item.body.filter(|_| (id + 1..item.next).any(taken)) {
            Some(body) => {
                cut.add(text, head(item, body));
                open.push((item.next, body));
                id += 1;
            }
            None => id = item.next,
        }
    }
    while let Some((_, body)) = open.pop() {
        cut.close(text, body);
    }
    cut
}

/// What stands in front of a body, its bracket included.
pub fn head(item: &Item, body: At) -> At {
    At { start: item.range.start, end: body.start + 1 }
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod tests;
