//! One tree for YAML, JSON and TOML: every key and value with its exact byte span.
//!
//! Nodes lie in an arena, so that depth costs no stack, aliases share their target, and walking visits each node once
//! however often it is aliased (a billion laughs is a hundred nodes here).

use crate::source::{FileId, Span};

/// Index of a node in its [`Tree`].
pub type Id = u32;

/// All documents of one file.
#[derive(Debug)]
pub struct Tree {
    /// The file.
    pub file: FileId,
    /// Nodes; what an alias refers to always has a smaller index than the alias.
    pub nodes: Vec<NodeData>,
    /// Root of each document that could be read.
    pub documents: Vec<Id>,
    /// Comments with their spans, in order.
    pub comments: Vec<Comment>,
    /// What could not be read, with its place.
    pub errors: Vec<ReadError>,
    /// Whether template expressions were found (`{{ … }}`): then some nodes are holes and some lines were left out.
    pub is_template: bool,
    /// Where a template prints whole lines, in order: entries that nobody sees before rendering.
    pub printed: Vec<u32>,
    /// Whether it was read although its own reader would refuse it as it is (comments in JSON); `errors` says why.
    pub is_lenient: bool,
}

/// A node: what it is and where.
#[derive(Debug)]
pub struct NodeData {
    /// Byte range in the file, without anchor and tag. A missing value has an empty range.
    pub start: u32,
    /// One past its last byte.
    pub end: u32,
    /// What it is.
    pub data: Data,
}

/// What a node is.
#[derive(Debug)]
pub enum Data {
    /// Absent or null.
    Null,
    /// Text, as the reader would see it (escapes and folding undone). Numbers and booleans are text too: their meaning
    /// depends on the dialect.
    Scalar {
        /// The text.
        text: Box<str>,
        /// Whether it is certainly a string (quoted or block), so that `"3"` is not a number by type.
        quoted: bool,
    },
    /// A value that a template decides; the expression as written.
    Hole(Box<str>),
    /// A sequence.
    Seq(Vec<Id>),
    /// A mapping: (key, value) in the order written, duplicates included.
    Map(Vec<(Id, Id)>),
    /// An alias of an earlier node.
    Alias(Id),
}

/// A comment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Where, its marker (`#`, `//`, `/*`) included.
    pub span: Span,
    /// Whether nothing but blanks stands before it on its line.
    pub alone: bool,
}

/// Something that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// Where reading broke.
    pub span: Span,
    /// What is wrong, lower case, without a full stop.
    pub message: String,
}

impl ReadError {
    /// A parser's own words as ours: lower case, without a full stop. `YAML` and `BOM` stay as they are.
    pub(super) fn in_our_words(text: &str) -> String {
        let text = text.trim().trim_end_matches('.');
        let mut chars = text.chars();
        match (chars.next(), chars.clone().next()) {
            (Some(first), second) if second.is_none_or(|c| !c.is_uppercase()) => {
                first.to_lowercase().chain(chars).collect()
            }
            _ => text.to_string(),
        }
    }
}

/// A node in its tree: cheap to copy. Aliases are followed: [`Node::span`] is where the value really stands.
#[derive(Clone, Copy, Debug)]
pub struct Node<'t> {
    tree: &'t Tree,
    id: Id,
}

/// A key with its value.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'t> {
    /// The key's text.
    pub key: &'t str,
    /// Where the key stands.
    pub key_span: Span,
    /// The value.
    pub value: Node<'t>,
}

/// Merge keys are followed this deep; deeper ones are as good as an attack.
const MERGE_DEPTH: usize = 16;

impl Tree {
    /// Of a file in which nothing was found yet.
    pub fn empty(file: FileId) -> Tree {
        Tree {
            file,
            nodes: Vec::new(),
            documents: Vec::new(),
            comments: Vec::new(),
            errors: Vec::new(),
            is_template: false,
            printed: Vec::new(),
            is_lenient: false,
        }
    }

    /// The root of each document.
    pub fn documents(&self) -> impl Iterator<Item = Node<'_>> {
        self.documents.iter().map(|id| self.node(*id))
    }

    /// A node by its index.
    pub fn node(&self, id: Id) -> Node<'_> {
        // An alias's target stands before it, so this ends.
        let mut id = id;
        while let Some(NodeData { data: Data::Alias(target), .. }) = self.nodes.get(id as usize) {
            if *target >= id {
                break;
            }
            id = *target;
        }
        Node { tree: self, id }
    }
}

impl<'t> Node<'t> {
    fn data(self) -> &'t Data {
        self.tree.nodes.get(self.id as usize).map_or(&Data::Null, |node| &node.data)
    }

    /// Its index: equal for two aliases of one anchor.
    pub fn id(self) -> Id {
        self.id
    }

    /// The tree it belongs to.
    pub fn tree(self) -> &'t Tree {
        self.tree
    }

    /// Where the value stands.
    pub fn span(self) -> Span {
        let (start, end) = self.tree.nodes.get(self.id as usize).map_or((0, 0), |node| (node.start, node.end));
        Span { file: self.tree.file, start, end }
    }

    /// Whether a template prints lines into this node's document: what is missing in it may show once it is rendered.
    pub fn may_hold_more(self) -> bool {
        let Tree { documents, nodes, printed, .. } = self.tree;
        let place = |id: &Id| nodes.get(*id as usize).map_or((0, 0), |node| (node.start, node.end));
        let at = self.span().start;
        let next = documents.partition_point(|id| place(id).0 <= at);
        let from = next.checked_sub(2).and_then(|before| documents.get(before)).map_or(0, |id| place(id).1);
        let to = documents.get(next).map_or(u32::MAX, |id| place(id).0);
        printed.get(printed.partition_point(|line| *line < from)).is_some_and(|line| *line < to)
    }

    /// Whether it is null or missing.
    pub fn is_null(self) -> bool {
        matches!(self.data(), Data::Null)
    }

    /// Whether it is a mapping.
    pub fn is_map(self) -> bool {
        matches!(self.data(), Data::Map(_))
    }

    /// Whether it is a sequence.
    pub fn is_seq(self) -> bool {
        matches!(self.data(), Data::Seq(_))
    }

    /// The text of a scalar.
    pub fn text(self) -> Option<&'t str> {
        match self.data() {
            Data::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Whether a scalar is quoted.
    pub fn is_quoted(self) -> bool {
        matches!(self.data(), Data::Scalar { quoted: true, .. })
    }

    /// The template expression of a hole.
    pub fn hole(self) -> Option<&'t str> {
        match self.data() {
            Data::Hole(text) => Some(text),
            _ => None,
        }
    }

    /// The items of a sequence; nothing otherwise.
    pub fn items(self) -> impl DoubleEndedIterator<Item = Node<'t>> + ExactSizeIterator {
        let ids: &[Id] = match self.data() {
            Data::Seq(items) => items,
            _ => &[],
        };
        ids.iter().map(move |id| self.tree.node(*id))
    }

    /// The entries of a mapping as written, merge keys (`<<`) and duplicates included; nothing otherwise.
    /// Keys that are not scalars are left out.
    pub fn written_entries(self) -> impl DoubleEndedIterator<Item = Entry<'t>> {
        let pairs: &[(Id, Id)] = match self.data() {
            Data::Map(pairs) => pairs,
            _ => &[],
        };
        pairs.iter().filter_map(move |(key, value)| {
            let key = self.tree.node(*key);
            Some(Entry { key: key.text()?, key_span: key.span(), value: self.tree.node(*value) })
        })
    }

    /// The entries in force: merge keys applied (explicit keys win), of duplicates the last.
    pub fn entries(self) -> Vec<Entry<'t>> {
        let mut out = Vec::new();
        let mut seen = std::collections::HashSet::new();
        self.collect_entries(&mut out, &mut seen, MERGE_DEPTH);
        out
    }

    fn collect_entries(self, out: &mut Vec<Entry<'t>>, seen: &mut std::collections::HashSet<&'t str>, depth: usize) {
        let from = out.len();
        // From the end, so that the last of two duplicates is the one that is kept.
        for entry in self.written_entries().rev() {
            if entry.key != "<<" && seen.insert(entry.key) {
                out.push(entry);
            }
        }
        if let Some(own) = out.get_mut(from..) {
            own.reverse();
        }
        if depth == 0 {
            return;
        }
        for entry in self.written_entries().filter(|entry| entry.key == "<<") {
            if entry.value.is_map() {
                entry.value.collect_entries(out, seen, depth - 1);
            } else {
                for item in entry.value.items() {
                    item.collect_entries(out, seen, depth - 1);
                }
            }
        }
    }

    /// The entry of a key, merge keys applied.
    pub fn entry(self, key: &str) -> Option<Entry<'t>> {
        self.entry_within(key, MERGE_DEPTH)
    }

    fn entry_within(self, key: &str, depth: usize) -> Option<Entry<'t>> {
        if let Some(entry) = self.written_entries().rev().find(|entry| entry.key == key) {
            return Some(entry);
        }
        if depth == 0 {
            return None;
        }
        self.written_entries().filter(|entry| entry.key == "<<").find_map(|entry| {
            entry
                .value
                .entry_within(key, depth - 1)
                .or_else(|| entry.value.items().find_map(|item| item.entry_within(key, depth - 1)))
        })
    }

    /// The value of a key. A key with a null value is [`Node::is_null`], a missing one is `None`.
    pub fn get(self, key: &str) -> Option<Node<'t>> {
        Some(self.entry(key)?.value)
    }

    /// The value of the first of these keys that is there (spellings of one field: `num_retries`, `numRetries`).
    pub fn get_any(self, keys: &[&str]) -> Option<Node<'t>> {
        keys.iter().find_map(|key| self.get(key))
    }

    /// The value at the end of a path of keys.
    pub fn at(self, path: &[&str]) -> Option<Node<'t>> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }

    /// Every node of this subtree once, this one first, parents before children, aliased parts only where they are written.
    pub fn walk(self) -> impl Iterator<Item = Node<'t>> {
        let mut stack = vec![self.id];
        let tree = self.tree;
        std::iter::from_fn(move || {
            let id = stack.pop()?;
            match tree.nodes.get(id as usize).map(|node| &node.data) {
                Some(Data::Seq(items)) => stack.extend(items.iter().rev()),
                Some(Data::Map(pairs)) => stack.extend(pairs.iter().rev().map(|(_, value)| value)),
                _ => {}
            }
            Some(Node { tree, id })
        })
        .filter(|node| !matches!(node.data(), Data::Alias(_)))
    }
}
