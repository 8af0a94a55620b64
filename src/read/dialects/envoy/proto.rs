//! Protobuf JSON as Envoy takes it: fields in `snake_case` or `camelCase`, numbers in wrappers or in quotes, durations in
//! seconds or as `{seconds, nanos}`. What Envoy would refuse, or what a template decides, comes out unknown.

use std::borrow::Cow;

use crate::facts::{Limit, Nanos, Sourced, Why};
use crate::read::data::duration::{self, Syntax};
use crate::read::data::tree::{Entry, Node};
use crate::read::data::value;

/// Whose defaults these are, as shown.
pub(super) const BY: &str = "Envoy";

/// The entry of a field in either spelling; none if it is missing or null, which means the same.
pub(super) fn entry<'t>(node: Node<'t>, snake: &str) -> Option<Entry<'t>> {
    let other = || if snake.contains('_') { node.entry(&camel(snake)) } else { None };
    node.entry(snake).or_else(other).filter(|entry| !entry.value.is_null())
}

/// The value of a field in either spelling.
pub(super) fn field<'t>(node: Node<'t>, snake: &str) -> Option<Node<'t>> {
    Some(entry(node, snake)?.value)
}

/// The value at the end of a path of fields.
pub(super) fn at<'t>(node: Node<'t>, path: &[&str]) -> Option<Node<'t>> {
    path.iter().try_fold(node, |node, name| field(node, name))
}

/// The items of a repeated field.
pub(super) fn list<'t>(node: Node<'t>, snake: &str) -> impl Iterator<Item = Node<'t>> {
    field(node, snake).into_iter().flat_map(Node::items)
}

/// The text of a field.
pub(super) fn text<'t>(node: Node<'t>, snake: &str) -> Option<&'t str> {
    field(node, snake)?.text()
}

/// `num_retries` as `numRetries`.
pub(super) fn camel(snake: &str) -> String {
    let mut out = String::with_capacity(snake.len());
    let mut is_start = false;
    for c in snake.chars() {
        if c == '_' {
            is_start = true;
        } else if std::mem::take(&mut is_start) {
            out.push(c.to_ascii_uppercase());
        } else {
            out.push(c);
        }
    }
    out
}

/// A field's name as this message spells its fields: for advice that can be pasted beside them.
pub(super) fn spelled(beside: Node<'_>, snake: &'static str) -> Cow<'static, str> {
    let is_camel = beside.written_entries().any(|entry| entry.key.bytes().any(|b| b.is_ascii_uppercase()));
    if is_camel { camel(snake).into() } else { snake.into() }
}

/// The value inside of a wrapper: `{value: 3}` is 3.
fn unwrapped(node: Node<'_>) -> Node<'_> {
    if node.is_map() { node.get("value").unwrap_or(node) } else { node }
}

/// Why a value cannot be told: a template, an environment variable, a placeholder.
pub(super) fn hole(node: Node<'_>) -> Option<Why> {
    value::hole(node).or_else(|| {
        let text = node.text()?;
        is_placeholder(text).then(|| Why::Template(value::shorten(text).into()))
    })
}

/// Whether text holds something that is replaced before Envoy sees it.
pub(super) fn is_placeholder(text: &str) -> bool {
    text.contains(['{', '}', '@', '$', '%', '<', '>', '\u{fffd}']) || text.contains("__")
}

/// A `uint32`, wrapped or not, quoted or not.
pub(super) fn count(node: Node<'_>) -> Sourced<u64> {
    let node = unwrapped(node);
    if let Some(why) = hole(node) {
        return Sourced::unknown(why, node.span());
    }
    value::written(node, "a whole number from 0 to 4294967295", |text| {
        let whole = text.strip_suffix(".0").unwrap_or(text);
        value::whole(whole).filter(|n| u32::try_from(*n).is_ok())
    })
}

/// A field that is a `uint32`, or Envoy's default.
pub(super) fn count_or(node: Node<'_>, snake: &'static str, default: u64) -> Sourced<u64> {
    field(node, snake).map_or_else(|| Sourced::default_of(default, BY, snake), count)
}

/// A number with a fraction.
pub(super) fn number(node: Node<'_>) -> Sourced<f64> {
    let node = unwrapped(node);
    match hole(node) {
        Some(why) => Sourced::unknown(why, node.span()),
        None => value::written(node, "a number", value::number),
    }
}

/// A boolean, wrapped or not; none if it is missing or cannot be told.
pub(super) fn flag(node: Node<'_>, snake: &str) -> Option<bool> {
    value::boolean(unwrapped(field(node, snake)?).text()?)
}

/// A duration: `0.25s`, or `{seconds: 1, nanos: 500000000}`.
pub(super) fn duration(node: Node<'_>) -> Sourced<Nanos> {
    let span = node.span();
    if let Some(why) = hole(node) {
        return Sourced::unknown(why, span);
    }
    if !node.is_map() {
        return value::written(node, Syntax::Proto.expected(), |text| duration::parse(text, Syntax::Proto));
    }
    let part = |name: &str| match node.get(name) {
        None => Some(0),
        Some(part) => value::whole(part.text()?),
    };
    match (part("seconds"), part("nanos")) {
        (Some(seconds), Some(nanos)) => Sourced::written(Nanos::from_secs(seconds) + Nanos(nanos), span),
        _ => Sourced::unknown(
            Why::Malformed { found: "a mapping".into(), expected: Syntax::Proto.expected().into() },
            span,
        ),
    }
}

/// A time limit: `0s` is how "none" is written.
pub(super) fn limit(node: Node<'_>) -> Sourced<Limit<Nanos>> {
    duration(node).map(|time| if time == Nanos::ZERO { Limit::None } else { Limit::At(time) })
}

/// A mapping that is looked at again for each route that inherits it. One larger than any real policy is left out, or a
/// file could cost its length squared.
pub(super) fn modest<'t>(node: Node<'t>, snake: &str) -> Option<Entry<'t>> {
    const FIELDS: usize = 64;
    const BYTES: u32 = 16 * 1024;
    let is_small = |node: Node<'_>| node.span().end.saturating_sub(node.span().start) <= BYTES;
    let has_few = |node: Node<'_>| node.written_entries().nth(FIELDS).is_none() && node.entries().len() <= FIELDS;
    entry(node, snake).filter(|entry| {
        let value = entry.value;
        is_small(value)
            && has_few(value)
            && value.entries().iter().all(|field| is_small(field.value) && has_few(field.value))
    })
}

/// A length of time as Envoy takes it: `0.25s`.
pub(super) fn in_seconds(time: Nanos) -> String {
    let (whole, rest) = (time.0 / 1_000_000_000, time.0 % 1_000_000_000);
    if rest == 0 {
        return format!("{whole}s");
    }
    let fraction = format!("{rest:09}");
    format!("{whole}.{}s", fraction.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_have_two_spellings() {
        assert_eq!(camel("host_selection_retry_max_attempts"), "hostSelectionRetryMaxAttempts");
        assert_eq!(camel("consecutive_5xx"), "consecutive5xx");
        assert_eq!(camel("name"), "name");
    }

    #[test]
    fn times_are_written_in_seconds() {
        assert_eq!(in_seconds(Nanos::from_millis(250)), "0.25s");
        assert_eq!(in_seconds(Nanos::from_secs(90)), "90s");
        assert_eq!(in_seconds(Nanos(1_000)), "0.000001s");
    }
}
