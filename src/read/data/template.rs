//! Helm and Jinja templates of YAML, read without rendering them.
//!
//! A template is no YAML: `x: {{ .Values.y }}` parses as a mapping in a mapping, and `{{- if … }}` alone on a line not at
//! all. So expressions are replaced by text of the same length in bytes, which keeps every other place where it is:
//! blanks for what steers, a marked scalar for what prints. A marked scalar becomes a [`Data::Hole`], an unknown value.

mod blank;
mod expression;

use std::collections::BTreeSet;

use super::tree::{Data, NodeData, Tree};
use super::yaml;
use crate::source::{FileId, floor_boundary};
use blank::{Blanked, Placed};
use expression::Expressions;

/// So many lines of a template may be left out to make the rest fit together.
const MAX_LEFT_OUT: usize = 12;

/// Larger templates are read once; none that people write is.
const SMALL: usize = 1 << 20;

/// Reads YAML that may be a template. Texts that merely hold braces (`${{ … }}` of GitHub, `{{ $labels.x }}` in a quoted
/// text of Prometheus) come out as they are, the quoted ones as holes.
pub fn parse(file: FileId, text: &str) -> Tree {
    let mut plain = yaml::parse(file, text);
    if text.contains("{{") || text.contains("{%") {
        if plain.errors.is_empty() && !is_damaged(&plain, text) {
            plain.is_template = mark_scalars(&mut plain, text);
            return plain;
        }
        if let Some(mut tree) = read(file, text, Expressions::Braces) {
            if !tree.errors.is_empty() && plain.errors.is_empty() {
                // Better the little that braces in the wrong place have left than nothing.
                plain.printed = expression::find(text, Expressions::Braces).iter().map(|one| start(&one.at)).collect();
                mark_maps(&mut plain, text);
                mark_scalars(&mut plain, text);
                tree = plain;
            }
            plain = Tree { is_template: true, ..tree };
        }
    }
    // Variables are plain scalars wherever YAML has room for one; they matter where they break it.
    if !plain.errors.is_empty()
        && text.contains("${")
        && let Some(tree) = read(file, text, Expressions::Variables)
        && tree.errors.len() < plain.errors.len()
    {
        return Tree { is_template: true, ..tree };
    }
    plain
}

fn start(range: &std::ops::Range<usize>) -> u32 {
    u32::try_from(range.start).unwrap_or(u32::MAX)
}

/// Reads a template; `None` if it holds no expression.
///
/// Both branches of a condition stay, and may not fit together: items where the other one prints entries. Then the line
/// that prints before the place where reading breaks is left out, and it is tried again.
fn read(file: FileId, text: &str, which: Expressions) -> Option<Tree> {
    let mut left_out = BTreeSet::new();
    let mut best: Option<Tree> = None;
    let tries = if text.len() > SMALL { 1 } else { MAX_LEFT_OUT + 1 };
    for _ in 0..tries {
        let blanked = blank::blank(text, &left_out, which)?;
        let mut tree = yaml::parse(file, &blanked.text);
        restore(&mut tree, &blanked, text);
        tree.printed =
            blanked.placed.iter().filter(|p| p.is_line).map(|p| p.from).chain(left_out.iter().copied()).collect();
        tree.printed.sort_unstable();
        let broken = tree.errors.first().map(|error| error.span.start);
        if best.as_ref().is_none_or(|best| tree.errors.len() < best.errors.len()) {
            best = Some(tree);
        }
        let Some(broken) = broken else { break };
        let Some(line) = blanked.placed.iter().rfind(|p| p.is_line && p.from <= broken) else { break };
        left_out.insert(line.from);
    }
    best
}

fn source<'t>(text: &'t str, node: &NodeData) -> &'t str {
    text.get(node.start as usize..node.end as usize).unwrap_or_default()
}

/// Whether expressions were taken for YAML: for a flow mapping, or for more lines of a plain scalar.
fn is_damaged(tree: &Tree, text: &str) -> bool {
    tree.nodes.iter().any(|node| {
        let written = source(text, node);
        match node.data {
            Data::Map(_) => is_expression(written),
            Data::Scalar { quoted: false, .. } => {
                written.contains('\n') && (written.contains("{{") || written.contains("{%"))
            }
            _ => false,
        }
    })
}

fn is_expression(written: &str) -> bool {
    written.starts_with("{{") || written.starts_with("{%")
}

/// Whether a scalar holds an expression; GitHub's `${{ … }}` is evaluated by its own reader, and is none.
fn holds_expression(text: &str) -> bool {
    let opens = text.match_indices("{{").filter(|(at, _)| !text.get(..*at).is_some_and(|before| before.ends_with('$')));
    opens.into_iter().any(|(at, _)| text.get(at..).is_some_and(|rest| rest.contains("}}")))
}

/// Scalars on one line that hold an expression become holes; block scalars stay text. Whether there were any.
fn mark_scalars(tree: &mut Tree, text: &str) -> bool {
    let mut any = false;
    for node in &mut tree.nodes {
        let written = source(text, node);
        let Data::Scalar { text: value, quoted } = &node.data else { continue };
        let is_block = *quoted && !written.starts_with(['"', '\'']);
        if !is_block && holds_expression(value) {
            node.data = Data::Hole(unquoted(written).into());
            any = true;
        }
    }
    any
}

fn mark_maps(tree: &mut Tree, text: &str) {
    for node in &mut tree.nodes {
        let written = source(text, node);
        if matches!(node.data, Data::Map(_)) && is_expression(written) {
            node.data = Data::Hole(written.into());
        }
    }
}

fn unquoted(written: &str) -> &str {
    let inner = |quote: char| written.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).unwrap_or(written)
}

/// Puts the expressions back: marked scalars become holes, and their places those of the expressions.
fn restore(tree: &mut Tree, blanked: &Blanked, text: &str) {
    for node in &mut tree.nodes {
        (node.start, node.end) = place(&blanked.placed, node.start, node.end);
        if let Data::Scalar { text: value, .. } | Data::Hole(value) = &node.data
            && value.contains(blanked.marker)
        {
            node.data = Data::Hole(unquoted(source(text, node)).into());
        }
    }
    // A mapping of nothing but a line that prints is that line.
    for id in 0..tree.nodes.len() {
        let Some(Data::Map(pairs)) = tree.nodes.get(id).map(|node| &node.data) else { continue };
        let is = |id: &u32, is: fn(&Data) -> bool| tree.nodes.get(*id as usize).is_some_and(|node| is(&node.data));
        let printed = pairs.iter().all(|(key, value)| {
            is(key, |data| matches!(data, Data::Hole(_))) && is(value, |data| matches!(data, Data::Null))
        });
        if printed
            && !pairs.is_empty()
            && let Some(node) = tree.nodes.get_mut(id)
        {
            node.data = Data::Hole(source(text, node).trim().into());
        }
    }
    for span in tree.comments.iter_mut().map(|comment| &mut comment.span) {
        (span.start, span.end) = place(&blanked.placed, span.start, span.end);
    }
    for span in tree.errors.iter_mut().map(|error| &mut error.span) {
        (span.start, span.end) = place(&blanked.placed, span.start, span.end);
        span.start = floor_boundary(text, span.start as usize) as u32;
        span.end = floor_boundary(text, span.end as usize).max(span.start as usize) as u32;
    }
}

/// A range of the blanked text in the original: what begins or ends in a marked scalar begins or ends with its expression.
fn place(placed: &[Placed], start: u32, end: u32) -> (u32, u32) {
    let at = |offset: u32| placed.get(placed.partition_point(|p| p.start <= offset).wrapping_sub(1));
    if start == end {
        // A missing value behind a marked key.
        let to = at(start).filter(|p| start <= p.end).map_or(start, |p| p.to);
        return (to, to);
    }
    let from = at(start).filter(|p| start < p.end).map_or(start, |p| p.from);
    let to = at(end.saturating_sub(1)).filter(|p| end <= p.end).map_or(end, |p| p.to);
    (from, to.max(from))
}

#[cfg(test)]
mod tests;
