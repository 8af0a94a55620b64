//! From nodes to [`Sourced`] values: a missing key is the dialect's default, a template or environment variable is
//! unknown, and so is text that its reader cannot take.

use super::tree::Node;
use crate::facts::{Sourced, Why};

/// The value of an optional node. Missing or null: `default`. A hole, `${VAR}` or `$(VAR)`: unknown. Text that `parse` does
/// not take: unknown, with what was `expected` ("a whole number").
pub fn sourced<T>(
    node: Option<Node<'_>>,
    default: impl FnOnce() -> Sourced<T>,
    expected: &'static str,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Sourced<T> {
    match node.filter(|node| !node.is_null()) {
        None => default(),
        Some(node) => written(node, expected, parse),
    }
}

/// The value of a node that is there.
pub fn written<T>(node: Node<'_>, expected: &'static str, parse: impl FnOnce(&str) -> Option<T>) -> Sourced<T> {
    let span = node.span();
    if let Some(why) = hole(node) {
        return Sourced::unknown(why, span);
    }
    match node.text() {
        Some(text) => match parse(text.trim()) {
            Some(value) => Sourced::written(value, span),
            None => Sourced::unknown(Why::Malformed { found: shorten(text).into(), expected: expected.into() }, span),
        },
        None => {
            let found = if node.is_map() { "a mapping" } else { "a list" };
            Sourced::unknown(Why::Malformed { found: found.into(), expected: expected.into() }, span)
        }
    }
}

/// Why a node's value cannot be told: a template expression, an environment variable.
pub fn hole(node: Node<'_>) -> Option<Why> {
    if let Some(expression) = node.hole() {
        return Some(Why::Template(shorten(expression).into()));
    }
    let text = node.text()?;
    for (open, close) in [("${", '}'), ("$(", ')')] {
        if let Some((_, rest)) = text.split_once(open)
            && let Some((inside, _)) = rest.split_once(close)
        {
            // `${VAR:-3}`, `${VAR:3}`, `${VAR}`: the name ends where a default begins.
            let name = inside.split([':', '-', '?', '=']).next().unwrap_or(inside);
            return Some(Why::Environment(shorten(name.trim()).into()));
        }
    }
    // envsubst without braces: `$RETRIES`.
    let name = text.strip_prefix('$')?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then(|| Why::Environment(name.to_string().into()))
}

/// Text short enough for a message, on one line.
pub fn shorten(text: &str) -> String {
    let line: String = text.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(61).collect();
    if line.chars().count() > 60 { line.chars().take(59).chain(['…']).collect() } else { line }
}

/// A whole number, decimal, as every dialect takes it; a proto wrapper may quote it.
pub fn whole(text: &str) -> Option<u64> {
    let digits = text.strip_prefix('+').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    // 30 digits are a number too, just not one that differs from the largest.
    Some(digits.parse().unwrap_or(u64::MAX))
}

/// A finite decimal number.
pub fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// A boolean of YAML 1.1 and 1.2 and of .NET.
pub fn boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Some(true),
        "false" | "no" | "off" => Some(false),
        _ => None,
    }
}
