//! TOML into the spanned tree, with its comments, which the parser drops.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::tree::{Comment, Data, Id, NodeData, ReadError, Tree};
use crate::source::{FileId, Span, floor_boundary};

/// Brackets and dotted keys may be nested this deep: tables in tables are dropped by recursion.
const MAX_DEPTH: usize = 128;

/// Reads `text`; what is readable beside an error stays.
pub fn parse(file: FileId, text: &str) -> Tree {
    let mut tree = Tree::empty(file);
    if let Err(at) = scan(&mut tree, text) {
        tree.errors.push(ReadError {
            span: Span::new(file, at..at + 1),
            message: format!("nested more than {MAX_DEPTH} levels deep"),
        });
        return tree;
    }
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let range = error.span().unwrap_or_default();
        let end = floor_boundary(text, range.end);
        let start = floor_boundary(text, range.start).min(end);
        let message = error.message().lines().next().unwrap_or("not TOML").to_string();
        tree.errors.push(ReadError { span: Span::new(file, start..end), message });
    }
    let root = lower(&mut tree, table.into_inner(), text.len());
    tree.documents.push(root);
    tree
}

/// Collects comments; says where nesting goes too deep. Strings are skipped as TOML has them: basic and literal, each on
/// one line or on several.
fn scan(tree: &mut Tree, text: &str) -> Result<(), usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut depth = 0_usize;
    let mut dots = 0_usize;
    let mut alone = true;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'#' => {
                let rest = text.get(at..).unwrap_or_default();
                let end = at + rest.lines().next().unwrap_or_default().len();
                tree.comments.push(Comment { span: Span::new(tree.file, at..end), alone });
                at = end;
                continue;
            }
            b'"' | b'\'' => {
                at = string_end(bytes, at, byte);
                alone = false;
                continue;
            }
            b'[' | b'{' => {
                depth += 1;
                dots = 0;
            }
            b']' | b'}' => {
                depth = depth.saturating_sub(1);
                dots = 0;
            }
            b'.' => dots += 1,
            b'\n' | b',' | b'=' => dots = 0,
            _ => {}
        }
        if depth > MAX_DEPTH || dots > MAX_DEPTH {
            return Err(at);
        }
        match byte {
            b'\n' => alone = true,
            b' ' | b'\t' | b'\r' | 0xef | 0xbb | 0xbf => {}
            _ => alone = false,
        }
        at += 1;
    }
    Ok(())
}

/// One past the string that starts at `at`; the end of the line or text if it is not closed.
fn string_end(bytes: &[u8], at: usize, quote: u8) -> usize {
    let has = |at: usize| bytes.get(at) == Some(&quote);
    let is_long = has(at + 1) && has(at + 2);
    let mut at = if is_long { at + 3 } else { at + 1 };
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' if quote == b'"' => at += 1,
            b'\n' if !is_long => return at,
            _ if byte != quote => {}
            _ if !is_long => return at + 1,
            _ if has(at + 1) && has(at + 2) => {
                // Up to two quotes may stand right before the closing three.
                at += 3;
                while has(at) {
                    at += 1;
                }
                return at;
            }
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// What is still to be lowered: a value and the place that waits for it.
enum Slot {
    Item(Id),
    Value(Id, Id),
}

fn lower(tree: &mut Tree, root: DeTable<'_>, len: usize) -> Id {
    let mut todo: Vec<(Slot, Spanned<DeValue<'_>>)> = Vec::new();
    let root_id = push(tree, 0, len, Data::Map(Vec::new()));
    entries(tree, &mut todo, root_id, root);
    while let Some((slot, value)) = todo.pop() {
        let range = value.span();
        let id = push(tree, range.start, range.end, Data::Null);
        match slot {
            Slot::Item(seq) => {
                if let Some(Data::Seq(items)) = data_mut(tree, seq) {
                    items.push(id);
                }
            }
            Slot::Value(map, key) => {
                if let Some(Data::Map(pairs)) = data_mut(tree, map) {
                    pairs.push((key, id));
                }
            }
        }
        let data = match value.into_inner() {
            DeValue::String(text) => Data::Scalar { text: text.as_ref().into(), quoted: true },
            DeValue::Integer(number) => {
                let text = match number.radix() {
                    10 => number.as_str().to_string(),
                    radix => u128::from_str_radix(number.as_str(), radix)
                        .map_or_else(|_| number.to_string(), |value| value.to_string()),
                };
                Data::Scalar { text: text.into(), quoted: false }
            }
            DeValue::Float(number) => Data::Scalar { text: number.as_str().into(), quoted: false },
            DeValue::Boolean(value) => {
                Data::Scalar { text: if value { "true" } else { "false" }.into(), quoted: false }
            }
            DeValue::Datetime(time) => Data::Scalar { text: time.to_string().into(), quoted: false },
            DeValue::Array(array) => {
                todo.extend(array.into_iter().rev().map(|item| (Slot::Item(id), item)));
                Data::Seq(Vec::new())
            }
            DeValue::Table(table) => {
                entries(tree, &mut todo, id, table);
                Data::Map(Vec::new())
            }
        };
        if let Some(slot) = data_mut(tree, id) {
            *slot = data;
        }
    }
    widen(tree);
    root_id
}

/// Queues the entries of a table in the order written; the parser hands them out by name.
fn entries<'i>(tree: &mut Tree, todo: &mut Vec<(Slot, Spanned<DeValue<'i>>)>, map: Id, table: DeTable<'i>) {
    let mut pairs: Vec<_> = table.into_iter().collect();
    pairs.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in pairs.into_iter().rev() {
        let range = key.span();
        let text = key.into_inner();
        let key = push(tree, range.start, range.end, Data::Scalar { text: text.as_ref().into(), quoted: true });
        todo.push((Slot::Value(map, key), value));
    }
}

/// A table's span is its header; make it reach from its first key to the end of its last value.
fn widen(tree: &mut Tree) {
    // Children stand behind their parents, so one pass from the end sees every child widened before its parent.
    for id in (0..tree.nodes.len()).rev() {
        let children: Vec<Id> = match tree.nodes.get(id).map(|node| &node.data) {
            Some(Data::Map(pairs)) => pairs.iter().flat_map(|(key, value)| [*key, *value]).collect(),
            Some(Data::Seq(items)) => items.clone(),
            _ => continue,
        };
        let ends = children.iter().filter_map(|child| tree.nodes.get(*child as usize)).map(|n| (n.start, n.end));
        let Some((start, end)) = ends.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))) else { continue };
        if let Some(node) = tree.nodes.get_mut(id) {
            node.start = node.start.min(start);
            node.end = node.end.max(end);
        }
    }
}

fn push(tree: &mut Tree, start: usize, end: usize, data: Data) -> Id {
    let span = Span::new(tree.file, start..end);
    tree.nodes.push(NodeData { start: span.start, end: span.end, data });
    (tree.nodes.len() - 1) as Id
}

fn data_mut(tree: &mut Tree, id: Id) -> Option<&mut Data> {
    tree.nodes.get_mut(id as usize).map(|node| &mut node.data)
}

#[cfg(test)]
mod tests;
