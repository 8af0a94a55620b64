//! Values of our own vocabulary: numbers, times, rates, shares, failure classes, host names.

use std::sync::Arc;

use crate::facts::{Class, Limit, Nanos};
use crate::read::data::duration::{Syntax, parse};
use crate::read::data::tree::Node;
use crate::read::data::value;

/// What a duration looks like, for messages.
pub const DURATION: &str = "a time such as `250ms`, `1.5s` or `1m30s`";
/// What a duration or its absence looks like.
pub const LIMIT: &str = "a time such as `250ms` or `1.5s`, or `none`";
/// What a rate looks like.
pub const RATE: &str = "a rate such as `500/s` or `30/m`";
/// What a share looks like.
pub const SHARE: &str = "a share such as `0.1` or `10%`";
/// What a count looks like.
pub const WHOLE: &str = "a whole number";
/// What a number looks like.
pub const NUMBER: &str = "a number that is not negative";
/// What an amplification looks like: without any retry it is 1.
pub const TIMES: &str = "a number from 1 on";
/// What a switch looks like.
pub const SWITCH: &str = "`true` or `false`";
/// What a text looks like.
pub const TEXT: &str = "a text";
/// What a list of texts looks like.
pub const TEXTS: &str = "a list of texts";

/// A number's text: never a quoted one, and without the underscores that TOML and YAML 1.1 allow between digits.
fn digits(node: Node<'_>) -> Option<std::borrow::Cow<'_, str>> {
    let text = node.text().filter(|_| !node.is_quoted())?.trim();
    let is_grouped = text.contains('_') && !text.starts_with('_') && !text.ends_with('_') && !text.contains("__");
    Some(if is_grouped { text.replace('_', "").into() } else { text.into() })
}

/// A whole number.
pub fn whole(node: Node<'_>) -> Option<u64> {
    value::whole(&digits(node)?)
}

/// A number from zero on.
pub fn number(node: Node<'_>) -> Option<f64> {
    value::number(&digits(node)?).filter(|number| *number >= 0.0)
}

/// An amplification.
pub fn times(node: Node<'_>) -> Option<f64> {
    number(node).filter(|times| *times >= 1.0)
}

/// `true` or `false`, in the spellings of YAML 1.1 too.
pub fn switch(node: Node<'_>) -> Option<bool> {
    value::boolean(node.text().filter(|_| !node.is_quoted())?.trim())
}

/// Any text that is not empty.
pub fn text(node: Node<'_>) -> Option<Arc<str>> {
    Some(node.text()?.trim()).filter(|text| !text.is_empty()).map(Into::into)
}

/// A length of time, in every spelling that the dialects use.
pub fn duration(node: Node<'_>) -> Option<Nanos> {
    parse(node.text()?, Syntax::Any)
}

/// A length of time, or `none`.
pub fn limit(node: Node<'_>) -> Option<Limit<Nanos>> {
    if node.text()?.trim() == "none" { Some(Limit::None) } else { duration(node).map(Limit::At) }
}

/// A rate per second from `500/s`, `30/m`, `1000/h`, `2.5/min`.
pub fn rate(node: Node<'_>) -> Option<f64> {
    parse_rate(node.text()?)
}

/// [`rate`] of a text.
pub fn parse_rate(text: &str) -> Option<f64> {
    let (count, unit) = text.split_once('/')?;
    let seconds = match unit.trim() {
        "s" | "sec" | "second" => 1.0,
        "m" | "min" | "minute" => 60.0,
        "h" | "hour" => 3600.0,
        _ => return None,
    };
    value::number(count.trim()).filter(|count| *count >= 0.0).map(|count| count / seconds)
}

/// A share from `0.1` or `10%`.
pub fn share(node: Node<'_>) -> Option<f64> {
    let text = node.text()?.trim();
    let share = match text.strip_suffix('%') {
        Some(percent) => value::number(percent.trim())? / 100.0,
        None => number(node)?,
    };
    (0.0..=1.0).contains(&share).then_some(share)
}

/// A failure class in any of its spellings: `overload`, `503`, `UNAVAILABLE`.
pub fn class(node: Node<'_>) -> Option<Class> {
    Class::parse(node.text()?.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_per_second() {
        assert_eq!(parse_rate("500/s"), Some(500.0));
        assert_eq!(parse_rate("30/m"), Some(0.5));
        assert_eq!(parse_rate(" 1.5 / min"), Some(0.025));
        assert_eq!(parse_rate("7200/h"), Some(2.0));
        for text in ["500", "500/d", "/s", "-1/s", "x/s", "1/s/s", "inf/s"] {
            assert_eq!(parse_rate(text), None, "{text}");
        }
    }
}
