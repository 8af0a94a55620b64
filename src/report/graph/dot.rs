//! `graph --format dot`: for Graphviz.

use super::{View, how_sure};
use crate::graph::amount::Amount;
use crate::report::text::line;

/// One directed graph; each environment is a cluster of its own if there are several.
pub fn render(views: &[View<'_>]) -> String {
    let mut out = String::from("digraph retrylint {\n  rankdir=LR;\n  node [shape=box];\n");
    for (at, view) in views.iter().enumerate() {
        let environment = view.system.net.environment.as_deref().unwrap_or_default();
        let is_cluster = views.len() > 1;
        let id = |name: &str| {
            let name = if is_cluster { format!("{environment}/{name}") } else { name.to_string() };
            quoted(&name)
        };
        if is_cluster {
            out.push_str(&format!("  subgraph cluster_{at} {{\n  label={};\n", quoted(environment)));
        }
        for node in &view.nodes {
            let Some(weight) = view.node(*node) else { continue };
            let load = view.system.amplification.nodes.get(node.index());
            let load = load.map_or_else(String::new, |load| {
                format!("\n{}×{}", how_sure(load.is_lower_bound, load.about), load.worst)
            });
            let style = if weight.external { ", style=dashed" } else { "" };
            let label = quoted(&format!("{}{load}", line(&weight.display)));
            out.push_str(&format!("  {} [label={label}{style}];\n", id(&weight.display)));
        }
        let mut has_any = false;
        for call in view.calls() {
            let from = call.from.map_or("(any)", |node| &node.display);
            has_any |= call.from.is_none();
            let tries = call.tries(view);
            let label = match tries {
                Some((class, factor)) if factor.tries != Amount::ONE || !factor.unknown.is_empty() => {
                    let how = how_sure(!factor.unknown.is_empty(), factor.about);
                    format!("{how}×{} {}", factor.tries, class.name())
                }
                _ => String::new(),
            };
            let style = if call.edge.is_async { ", style=dashed" } else { "" };
            out.push_str(&format!("  {} -> {} [label={}{style}];\n", id(from), id(&call.to.display), quoted(&label)));
        }
        if has_any {
            out.push_str(&format!("  {} [label=\"(any)\", shape=plaintext];\n", id("(any)")));
        }
        if is_cluster {
            out.push_str("  }\n");
        }
    }
    out.push_str("}\n");
    out
}

/// A quoted identifier: nothing in it ends the quotes, and what looks like an escape of DOT (`\N`, `\G`) is none.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for (at, c) in text.char_indices() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c => out.push(crate::report::text::shown_at(text, at).unwrap_or(c)),
        }
    }
    out.push('"');
    out
}
