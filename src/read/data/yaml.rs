//! YAML into the spanned tree: every document of a stream, aliases kept as references, a broken document left out.
//!
//! `granit-parser` reads and not `serde_yaml`: it gives the byte range of every value, keeps comments, and goes on behind a
//! broken document. `serde_yaml`, which knows places of errors only, is for what nobody lints: the front matter of pages.
//!
//! The parser hands out a flat list of events, so that depth costs no stack here either. Templates are no YAML: they are
//! made into some by [`super::template`] first.

use std::collections::HashMap;

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, Span as Place, StructureStyle, Tag, options};

use super::tree::{Comment, Data, Id, NodeData, ReadError, Tree};
use crate::source::{FileId, Span};

/// Aliases may stand for this many nodes in one file, counted as if they were written out. A reader that follows them
/// through several levels would else do the work of a billion laughs.
const MAX_ALIASED: u64 = 1_000_000;

/// So many broken documents of one file are told apart.
const MAX_ERRORS: usize = 50;

/// Reads all documents of `text`. Templates are not looked for: see [`super::template::parse`].
pub fn parse(file: FileId, text: &str) -> Tree {
    let mut builder = Builder::new(file, text);
    let mut parser = Parser::new_from_str_with_options(text, settings());
    loop {
        match parser.next() {
            None => break,
            Some(Ok((event, place))) => builder.take(event, place),
            Some(Err(error)) => {
                builder.abandon(&error);
                match parser.proceed_next_document() {
                    Ok(true) => {}
                    Ok(false) | Err(_) => break,
                }
            }
        }
    }
    builder.tree
}

fn settings() -> Options {
    options! {
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
        // By default 97 lines of comment between a key and its value are an error.
        max_buffered_comment_events: usize::MAX,
    }
}

/// A collection that is not closed yet.
struct Frame {
    id: Id,
    children: Children,
    /// End of the last child that has an extent; block collections have no end mark of their own.
    end: u32,
    is_flow: bool,
    /// Nodes in it, aliases counted as written out.
    size: u64,
    anchor: usize,
}

enum Children {
    Seq(Vec<Id>),
    Map { pairs: Vec<(Id, Id)>, key: Option<Id> },
}

/// What an anchor stands for.
struct Anchor {
    id: Id,
    /// Nodes below it, aliases counted as written out; none while the collection is still open.
    size: Option<u64>,
}

struct Builder<'t> {
    text: &'t str,
    tree: Tree,
    stack: Vec<Frame>,
    anchors: HashMap<usize, Anchor>,
    root: Option<Id>,
    /// Where the nodes of the current document begin.
    first: usize,
    aliased: u64,
}

impl<'t> Builder<'t> {
    fn new(file: FileId, text: &'t str) -> Self {
        let tree = Tree::empty(file);
        Builder { text, tree, stack: Vec::new(), anchors: HashMap::new(), root: None, first: 0, aliased: 0 }
    }

    fn take(&mut self, event: Event<'_>, place: Place) {
        let range = place.byte_range().unwrap_or_default();
        let (start, end) = (offset(range.start), offset(range.end));
        match event {
            Event::StreamStart | Event::StreamEnd => {}
            Event::DocumentStart(..) => self.reset(),
            Event::DocumentEnd => {
                self.tree.documents.extend(self.root.take());
                self.reset();
            }
            Event::Comment(..) => {
                let before = self.text.get(..range.start).unwrap_or_default();
                let line = before.rfind('\n').map_or(0, |at| at + 1);
                let alone =
                    before.get(line..).is_none_or(|blank| blank.trim_matches(['\u{feff}', ' ', '\t']).is_empty());
                self.tree.comments.push(Comment { span: Span { file: self.tree.file, start, end }, alone });
            }
            // The anchor's number came with its node already.
            Event::Anchor(..) => {}
            Event::Alias(anchor) => self.alias(anchor, start, end),
            Event::UnresolvedAlias(name) => {
                self.fail(start, end, format!("`*{}` refers to no anchor", super::value::shorten(&name)));
                self.leaf(start, end, Data::Null, 0);
            }
            Event::Scalar(text, style, anchor, tag) => {
                let is_missing = style == ScalarStyle::Plain && start == end;
                let (start, end) = match style {
                    ScalarStyle::Literal | ScalarStyle::Folded => (start, self.block_end(start, end)),
                    _ if is_missing => (self.missing(start), self.missing(start)),
                    _ => (start, end),
                };
                self.leaf(start, end, scalar(&text, style, is_missing, tag.as_deref()), anchor);
            }
            Event::SequenceStart(style, anchor, _) => self.open(start, end, style, anchor, Children::Seq(Vec::new())),
            Event::MappingStart(style, anchor, _) => {
                self.open(start, end, style, anchor, Children::Map { pairs: Vec::new(), key: None });
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(end),
            // Further kinds of events would be metadata.
            _ => {}
        }
    }

    /// The place of a missing value: behind the colon or dash that asks for it.
    fn missing(&self, at: u32) -> u32 {
        let behind = self.text.get(at as usize..).unwrap_or_default();
        let blanks = behind.len() - behind.trim_start_matches([' ', '\t']).len();
        if behind.get(blanks..).is_some_and(|rest| rest.starts_with(':')) { at + offset(blanks) + 1 } else { at }
    }

    /// A block scalar without the line breaks and the next line's indentation behind it.
    fn block_end(&self, start: u32, end: u32) -> u32 {
        let text = self.text.get(start as usize..end as usize).unwrap_or_default();
        start + offset(text.trim_end().len())
    }

    /// A block sequence's first dash, which the parser's mark misses behind an anchor.
    fn first_dash(&self, start: u32, first: &[Id]) -> u32 {
        if self.text.as_bytes().get(start as usize) == Some(&b'-') {
            return start;
        }
        let item = first.first().and_then(|id| self.tree.nodes.get(*id as usize)).map_or(start, |node| node.start);
        let before = self.text.get(..item as usize).unwrap_or_default().trim_end_matches([' ', '\t']);
        if before.ends_with('-') { offset(before.len() - 1) } else { start }
    }

    fn open(&mut self, start: u32, end: u32, style: StructureStyle, anchor: usize, children: Children) {
        let id = self.push(start, end, Data::Null);
        if anchor != 0 {
            self.anchors.insert(anchor, Anchor { id, size: None });
        }
        let is_flow = style == StructureStyle::Flow;
        self.stack.push(Frame { id, children, end, is_flow, size: 1, anchor });
    }

    fn close(&mut self, end: u32) {
        let Some(frame) = self.stack.pop() else { return };
        let end = if frame.is_flow { end } else { frame.end };
        let mut start = None;
        let data = match frame.children {
            Children::Seq(items) => {
                if !frame.is_flow {
                    let at = self.tree.nodes.get(frame.id as usize).map_or(end, |node| node.start);
                    start = Some(self.first_dash(at, &items));
                }
                Data::Seq(items)
            }
            Children::Map { pairs, .. } => {
                if !frame.is_flow {
                    start = pairs.first().and_then(|(key, _)| self.tree.nodes.get(*key as usize)).map(|key| key.start);
                }
                Data::Map(pairs)
            }
        };
        if let Some(node) = self.tree.nodes.get_mut(frame.id as usize) {
            node.start = start.unwrap_or(node.start);
            node.end = end.max(node.start);
            node.data = data;
        }
        if frame.anchor != 0 {
            self.anchors.insert(frame.anchor, Anchor { id: frame.id, size: Some(frame.size) });
        }
        self.attach(frame.id, end, frame.size);
    }

    fn leaf(&mut self, start: u32, end: u32, data: Data, anchor: usize) {
        let id = self.push(start, end, data);
        if anchor != 0 {
            self.anchors.insert(anchor, Anchor { id, size: Some(1) });
        }
        self.attach(id, if start < end { end } else { 0 }, 1);
    }

    fn alias(&mut self, anchor: usize, start: u32, end: u32) {
        let (data, size) = match self.anchors.get(&anchor) {
            Some(Anchor { id, size: Some(size) }) => {
                self.aliased = self.aliased.saturating_add(*size);
                (Data::Alias(*id), *size)
            }
            Some(Anchor { size: None, .. }) => {
                self.fail(start, end, "an alias stands inside of what it refers to".to_string());
                (Data::Null, 1)
            }
            None => {
                self.fail(start, end, "an alias refers to no anchor".to_string());
                (Data::Null, 1)
            }
        };
        let data = if self.aliased > MAX_ALIASED {
            self.fail(start, end, format!("aliases stand for more than {MAX_ALIASED} nodes"));
            Data::Null
        } else {
            data
        };
        let id = self.push(start, end, data);
        self.attach(id, end, size);
    }

    /// Hands a finished node to the collection that it stands in.
    fn attach(&mut self, id: Id, end: u32, size: u64) {
        let Some(frame) = self.stack.last_mut() else {
            self.root = Some(id);
            return;
        };
        frame.end = frame.end.max(end);
        frame.size = frame.size.saturating_add(size);
        match &mut frame.children {
            Children::Seq(items) => items.push(id),
            Children::Map { pairs, key } => match key.take() {
                None => *key = Some(id),
                Some(key) => pairs.push((key, id)),
            },
        }
    }

    fn push(&mut self, start: u32, end: u32, data: Data) -> Id {
        self.tree.nodes.push(NodeData { start, end, data });
        offset(self.tree.nodes.len() - 1)
    }

    fn fail(&mut self, start: u32, end: u32, message: String) {
        if self.tree.errors.len() < MAX_ERRORS && self.tree.errors.last().is_none_or(|last| last.message != message) {
            self.tree.errors.push(ReadError { span: Span { file: self.tree.file, start, end }, message });
        }
    }

    /// The current document cannot be read: its nodes go, its error stays.
    fn abandon(&mut self, error: &ScanError) {
        let at = error.marker().byte_offset().unwrap_or(0).min(self.text.len());
        let rest = self.text.get(at..).unwrap_or_default();
        let len = rest.chars().next().filter(|c| !c.is_control()).map_or(0, char::len_utf8);
        // Without the parser's word on the position, which the span says.
        let message = match error.info() {
            info if info.contains("recursion limit") => "nested too deeply".to_string(),
            info => ReadError::in_our_words(&info),
        };
        self.fail(offset(at), offset(at + len), message);
        self.tree.nodes.truncate(self.first);
        self.root = None;
        self.reset();
    }

    fn reset(&mut self) {
        self.stack.clear();
        self.anchors.clear();
        self.root = None;
        self.first = self.tree.nodes.len();
    }
}

fn scalar(text: &str, style: ScalarStyle, is_missing: bool, tag: Option<&Tag>) -> Data {
    let is_plain = style == ScalarStyle::Plain;
    match tag {
        // `!Ref x`, `!env RETRIES`: what it becomes is up to a program that is not here.
        Some(tag) if tag.core_suffix().is_none() && !is_non_specific(tag) => {
            return Data::Hole(format!("!{} {text}", tag.suffix()).trim().into());
        }
        Some(tag) if matches!(tag.core_suffix(), None | Some("str" | "binary")) => {
            let text = if is_missing { "" } else { text };
            return Data::Scalar { text: text.into(), quoted: true };
        }
        _ => {}
    }
    if is_missing || (is_plain && matches!(text, "" | "~" | "null" | "Null" | "NULL")) {
        return Data::Null;
    }
    Data::Scalar { text: text.into(), quoted: !is_plain }
}

/// A lone `!`: the value is what it looks like, a string.
fn is_non_specific(tag: &Tag) -> bool {
    (tag.handle().is_empty() && tag.suffix() == "!") || (tag.handle() == "!" && tag.suffix().is_empty())
}

/// Byte offsets fit: the scan refuses larger files.
fn offset(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
