//! JSON into the spanned tree, with or without comments, one value or one a line. `jsonc-parser` reads and not
//! `serde_json`: it gives byte ranges, keeps comments and duplicate keys, at about the same speed.

use jsonc_parser::ast::{ObjectPropName, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};

use super::tree::{Comment, Data, Id, NodeData, ReadError, Tree};
use crate::source::{FileId, Span};

/// Brackets may be nested this deep: the parser calls itself once a level.
const MAX_DEPTH: usize = 512;

/// How strict a file's own reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strictness {
    /// JSON as RFC 8259 has it.
    Strict,
    /// With comments and trailing commas (`.jsonc`, .NET's `appsettings.json`).
    Comments,
}

/// Reads strict JSON; several values, one a line, are several documents.
pub fn parse(file: FileId, text: &str) -> Tree {
    parse_as(file, text, Strictness::Strict)
}

/// Reads JSON as strictly as the file's own reader would.
pub fn parse_as(file: FileId, text: &str, strictness: Strictness) -> Tree {
    let mut tree = Tree::empty(file);
    let start = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
    if let Err(error) = document(&mut tree, text, start, text.len(), strictness) {
        match lines(text, start, strictness) {
            Some(ranges) => {
                for (from, to) in ranges {
                    if let Err(error) = document(&mut tree, text, from, to, strictness) {
                        tree.errors.push(error);
                        break;
                    }
                }
            }
            None => tree.errors.push(error),
        }
    }
    tree
}

/// The lines of newline-delimited JSON: at least two, the first of which is a whole value. `None` if it is not that.
fn lines(text: &str, start: usize, strictness: Strictness) -> Option<Vec<(usize, usize)>> {
    let mut ranges = Vec::new();
    let mut at = start;
    for line in text.get(start..)?.split_inclusive('\n') {
        if !line.trim().is_empty() {
            ranges.push((at, at + line.len()));
        }
        at += line.len();
    }
    let (from, to) = *ranges.first()?;
    let first = text.get(from..to)?.trim_start();
    if ranges.len() < 2 || !first.starts_with(['{', '[']) || check_depth(first).is_err() {
        return None;
    }
    parse_to_ast(first, &CollectOptions::default(), &options(strictness)).ok()?;
    Some(ranges)
}

/// Reads one value that takes up the whole of `text[from..to]`.
fn document(tree: &mut Tree, text: &str, from: usize, to: usize, strictness: Strictness) -> Result<(), ReadError> {
    let file = tree.file;
    let error_at = |start: usize, end: usize, message: String| ReadError {
        span: Span::new(file, from + start..from + end),
        message,
    };
    let part = text.get(from..to).unwrap_or_default();
    if let Err(at) = check_depth(part) {
        return Err(error_at(at, at + 1, format!("nested more than {MAX_DEPTH} levels deep")));
    }
    let comments = match strictness {
        Strictness::Strict => CommentCollectionStrategy::Off,
        Strictness::Comments => CommentCollectionStrategy::Separate,
    };
    let collect = CollectOptions { comments, tokens: false };
    let parsed = parse_to_ast(part, &collect, &options(strictness)).map_err(|error| {
        let range = error.range();
        let end = range.end.min(part.len());
        error_at(range.start.min(end), end, ReadError::in_our_words(&error.kind().to_string()))
    })?;
    if let Some(comments) = parsed.comments {
        let mut ranges: Vec<(usize, usize)> =
            comments.values().flat_map(|comments| comments.iter()).map(|c| (c.range().start, c.range().end)).collect();
        ranges.sort_unstable();
        ranges.dedup();
        tree.comments.extend(ranges.into_iter().map(|(start, end)| {
            let before = part.get(..start).unwrap_or_default();
            let line = before.get(before.rfind('\n').map_or(0, |at| at + 1)..).unwrap_or_default();
            Comment { span: Span::new(file, from + start..from + end), alone: line.trim().is_empty() }
        }));
    }
    if let Some(value) = parsed.value {
        let root = lower(tree, value, from);
        tree.documents.push(root);
    }
    Ok(())
}

fn options(strictness: Strictness) -> ParseOptions {
    let loose = strictness == Strictness::Comments;
    ParseOptions {
        allow_comments: loose,
        allow_loose_object_property_names: false,
        allow_trailing_commas: loose,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Where brackets outside of strings are nested too deep. Quotes in comments may mislead it, towards caution at worst:
/// the parser has a limit of its own.
fn check_depth(text: &str) -> Result<(), usize> {
    let mut depth = 0_usize;
    let mut is_text = false;
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b'[' | b'{' if !is_text => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(at);
                }
            }
            b']' | b'}' if !is_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// What is still to be lowered: a value and the place that waits for it.
enum Slot {
    Root,
    Item(Id),
    Value(Id, Id),
}

fn lower(tree: &mut Tree, root: Value<'_>, base: usize) -> Id {
    let mut todo = vec![(Slot::Root, root)];
    let mut root_id = 0;
    while let Some((slot, value)) = todo.pop() {
        let range = value.range();
        let push = |tree: &mut Tree, start: usize, end: usize, data: Data| -> Id {
            let span = Span::new(tree.file, base + start..base + end);
            tree.nodes.push(NodeData { start: span.start, end: span.end, data });
            (tree.nodes.len() - 1) as Id
        };
        let data = match &value {
            Value::StringLit(text) => Data::Scalar { text: text.value.as_ref().into(), quoted: true },
            Value::NumberLit(number) => Data::Scalar { text: number.value.into(), quoted: false },
            Value::BooleanLit(boolean) => {
                Data::Scalar { text: if boolean.value { "true" } else { "false" }.into(), quoted: false }
            }
            Value::NullKeyword(_) => Data::Null,
            Value::Array(array) => Data::Seq(Vec::with_capacity(array.elements.len())),
            Value::Object(object) => Data::Map(Vec::with_capacity(object.properties.len())),
        };
        let id = push(tree, range.start, range.end, data);
        match slot {
            Slot::Root => root_id = id,
            Slot::Item(seq) => {
                if let Some(Data::Seq(items)) = tree.nodes.get_mut(seq as usize).map(|node| &mut node.data) {
                    items.push(id);
                }
            }
            Slot::Value(map, key) => {
                if let Some(Data::Map(pairs)) = tree.nodes.get_mut(map as usize).map(|node| &mut node.data) {
                    pairs.push((key, id));
                }
            }
        }
        match value {
            Value::Array(array) => {
                todo.extend(array.elements.into_iter().rev().map(|element| (Slot::Item(id), element)));
            }
            Value::Object(object) => {
                for property in object.properties.into_iter().rev() {
                    let (text, range) = match &property.name {
                        ObjectPropName::String(name) => (name.value.as_ref(), name.range),
                        ObjectPropName::Word(name) => (name.value, name.range),
                    };
                    let key = push(tree, range.start, range.end, Data::Scalar { text: text.into(), quoted: true });
                    todo.push((Slot::Value(id, key), property.value));
                }
            }
            _ => {}
        }
    }
    root_id
}

#[cfg(test)]
mod tests;
