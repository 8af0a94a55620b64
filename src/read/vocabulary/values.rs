//! Values of our own vocabulary: numbers, times, rates, shares, failure classes, names. Each is one constant, which says
//! what it looks like and reads it.

use std::sync::Arc;

use super::kind::{Is, Kind};
use crate::facts::{Class, Date, Host, Limit, Nanos};
use crate::read::data::duration::{Syntax, parse};
use crate::read::data::tree::Node;
use crate::read::data::value;

/// A whole number.
pub const WHOLE: Kind<u64> = Kind::new(Is::Whole(0), whole);
/// A limit on tries: the first try is one of them.
pub const TRIES: Kind<u64> = Kind::new(Is::Whole(1), |node| whole(node).filter(|tries| *tries > 0));
/// A number from zero on.
pub const NUMBER: Kind<f64> = Kind::new(Is::Number(0), number);
/// A factor: an amplification (without any retry it is 1), a growth.
pub const TIMES: Kind<f64> = Kind::new(Is::Number(1), |node| number(node).filter(|times| *times >= 1.0));
/// `true` or `false`, in the spellings of YAML 1.1 too.
pub const SWITCH: Kind<bool> =
    Kind::new(Is::Switch, |node| value::boolean(node.text().filter(|_| !node.is_quoted())?.trim()));
/// A length of time, in every spelling that the dialects use.
pub const DURATION: Kind<Nanos> = Kind::new(Is::Duration, duration);
/// A length of time above zero.
pub const TIME: Kind<Nanos> = Kind::new(Is::Time, |node| duration(node).filter(|time| *time > Nanos::ZERO));
/// A length of time, or `none`.
pub const LIMIT: Kind<Limit<Nanos>> =
    Kind::new(Is::Either(&[DURATION.is, NONE], "a time such as `250ms` or `1.5s`, or `none`"), |node| {
        match node.text()? {
            "none" => Some(Limit::None),
            _ => duration(node).map(Limit::At),
        }
    });
/// A rate per second from `500/s`, `30/m`, `1000/h`, `2.5/min`.
pub const RATE: Kind<f64> = Kind::new(Is::Rate, |node| parse_rate(node.text()?));
/// A share from `0.1` or `10%`.
pub const SHARE: Kind<f64> = Kind::new(Is::Share, share);
/// Bytes from `1000`, `"512 KB"`, `"10MiB"`; not none.
pub const SIZE: Kind<u64> = Kind::new(Is::Size, |node| size(node).filter(|size| *size > 0));
/// The last day of something.
pub const DAY: Kind<Date> = Kind::new(Is::Date, |node| Date::parse(node.text()?));
/// (major, minor) from `"1.24"` or `"1.24.3"`.
pub const ISTIO_VERSION: Kind<(u32, u32)> = Kind::new(Is::IstioVersion, istio_version);
/// Any text that is not empty.
pub const TEXT: Kind<Arc<str>> = named("a text");
/// A text that says why, and is no placeholder.
pub const REASON: Kind<Arc<str>> =
    Kind::new(Is::Reason, |node| text(node).filter(|reason| reason.chars().any(char::is_alphanumeric)));
/// The path of another retrylint.toml.
pub const TOML_FILE: Kind<Arc<str>> = Kind::new(Is::TomlFile, |node| text(node).filter(|_| node.is_quoted()));
/// The name of a service.
pub const HOST: Kind<Host> = Kind::new(Is::Host, |node| Host::parse(string(node)?));
/// A failure class in any of its spellings: `overload`, `503`, `UNAVAILABLE`.
pub const CLASS: Kind<Class> = Kind::new(Is::Class, |node| Class::parse(node.text()?.trim()));

/// The first version of a format.
pub const FIRST: Kind<u64> = Kind::new(Is::Only(1), |node| whole(node).filter(|version| *version == 1));

/// The word for what is known to be absent.
pub const NONE: Is = Is::Words(&["none"]);
/// A list of texts, or one.
pub const TEXTS: Is = Is::Some(&TEXT.is, "a list of texts");

/// A text that a message calls so.
pub const fn named(what: &'static str) -> Kind<Arc<str>> {
    Kind::new(Is::Text(what), text)
}

/// A number's text: never a quoted one, and without the underscores that TOML and YAML 1.1 allow between digits.
fn digits(node: Node<'_>) -> Option<std::borrow::Cow<'_, str>> {
    let text = node.text().filter(|_| !node.is_quoted())?.trim();
    let is_grouped = text.contains('_') && !text.starts_with('_') && !text.ends_with('_') && !text.contains("__");
    Some(if is_grouped { text.replace('_', "").into() } else { text.into() })
}

/// A whole number; `3.0` and `1e3` are some too.
pub fn whole(node: Node<'_>) -> Option<u64> {
    parse_whole(&digits(node)?)
}

/// A whole number from its digits.
pub fn parse_whole(digits: &str) -> Option<u64> {
    let is_whole = |number: &f64| *number >= 0.0 && number.fract() == 0.0;
    value::whole(digits).or_else(|| value::number(digits).filter(is_whole).map(|number| number as u64))
}

/// A number from zero on.
fn number(node: Node<'_>) -> Option<f64> {
    value::number(&digits(node)?).filter(|number| *number >= 0.0)
}

/// The text of a text: a number or switch without quotes is none.
pub fn string(node: Node<'_>) -> Option<&str> {
    let text = node.text()?;
    // Most texts begin with a letter that no number and no switch begins with.
    let may_be_other = !node.is_quoted() && text.starts_with(|c: char| "+-.0123456789tTfF".contains(c));
    let is_other = || {
        matches!(text, "true" | "True" | "TRUE" | "false" | "False" | "FALSE")
            || digits(node).is_some_and(|digits| value::number(&digits).is_some())
    };
    (!may_be_other || !is_other()).then_some(text)
}

fn text(node: Node<'_>) -> Option<Arc<str>> {
    Some(string(node)?.trim()).filter(|text| !text.is_empty()).map(Into::into)
}

/// A length of time.
pub fn duration(node: Node<'_>) -> Option<Nanos> {
    parse(node.text()?, Syntax::Any)
}

/// A rate per second.
pub fn parse_rate(text: &str) -> Option<f64> {
    let (count, unit) = text.split_once('/')?;
    let seconds = match unit.trim() {
        "s" | "sec" | "second" => 1.0,
        "m" | "min" | "minute" => 60.0,
        "h" | "hour" => 3600.0,
        _ => return None,
    };
    decimal(count).map(|count| count / seconds)
}

fn share(node: Node<'_>) -> Option<f64> {
    let share = match node.text()?.trim().strip_suffix('%') {
        Some(percent) => decimal(percent)? / 100.0,
        None => number(node)?,
    };
    (share <= 1.0).then_some(share)
}

/// A number in front of its unit: digits, and a point at most.
fn decimal(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    value::number(text).filter(|_| is_plain)
}

fn size(node: Node<'_>) -> Option<u64> {
    if let Some(bytes) = whole(node) {
        return Some(bytes);
    }
    let text = node.text()?.trim();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (count, unit) = text.split_at_checked(digits)?;
    let unit: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "b" => 1,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return None,
    };
    Some(count.parse::<u64>().ok()?.saturating_mul(unit))
}

fn istio_version(node: Node<'_>) -> Option<(u32, u32)> {
    let text = node.text().filter(|_| node.is_quoted())?.trim();
    let mut parts = text.split('.').map(|part| part.parse::<u32>().ok());
    let (major, minor) = (parts.next()??, parts.next()??);
    (parts.all(|part| part.is_some()) && major == 1).then_some((major, minor))
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
        for text in ["500", "500/d", "/s", "-1/s", "x/s", "1/s/s", "inf/s", "1e3/s", "./s"] {
            assert_eq!(parse_rate(text), None, "{text}");
        }
    }
}
