//! Single settings: bound as .NET binds them, checked as it checks them at start-up.

use crate::facts::{Ineffective, Limit, Nanos, Sourced, Why};
use crate::read::data::duration::{Syntax, parse};
use crate::read::data::tree::Node;
use crate::read::data::value::{self, shorten};
use crate::source::Span;

const DAY: Nanos = Nanos::from_secs(86_400);

/// The times that a setting may have, both ends included.
#[derive(Clone, Copy)]
pub(super) struct Times {
    least: Nanos,
    as_written: &'static str,
    example: &'static str,
}

/// Delays between tries.
pub(super) const DELAY: Times = Times { least: Nanos::ZERO, as_written: "00:00:00", example: "00:00:02" };
/// Limits of a try or of all of them.
pub(super) const TIMEOUT: Times =
    Times { least: Nanos::from_millis(10), as_written: "00:00:00.010", example: "00:00:10" };
/// Windows and pauses of a breaker.
pub(super) const BREAK: Times =
    Times { least: Nanos::from_millis(500), as_written: "00:00:00.500", example: "00:00:30" };

/// Reads settings one by one and collects those that are rejected at start-up.
pub(super) struct Options {
    /// Whose defaults stand in for what is left out.
    pub(super) by: &'static str,
    /// Set where what is left out may be written elsewhere: then it is unknown.
    pub(super) elsewhere: Option<Span>,
    /// What is rejected.
    pub(super) ineffective: Vec<Ineffective>,
}

impl Options {
    /// A setting that is left out.
    pub(super) fn left_out<T>(&self, value: T, reference: &'static str) -> Sourced<T> {
        match self.elsewhere {
            Some(span) => Sourced::unknown(Why::Other("left to appsettings.json or to the default".into()), span),
            None => Sourced::default_of(value, self.by, reference),
        }
    }

    /// A setting of any kind. `needs` says what is accepted, behind "needs".
    pub(super) fn value<T>(
        &mut self,
        node: Option<Node<'_>>,
        key: &str,
        left_out: impl FnOnce(&Self) -> Sourced<T>,
        needs: &str,
        parse: impl FnOnce(&str) -> Option<T>,
        corrected: &str,
    ) -> Sourced<T> {
        self.value_or(node, key, left_out, needs, parse, format!("`\"{key}\": {corrected}`"))
    }

    /// The same with any help for a value that is rejected.
    pub(super) fn value_or<T>(
        &mut self,
        node: Option<Node<'_>>,
        key: &str,
        left_out: impl FnOnce(&Self) -> Sourced<T>,
        needs: &str,
        parse: impl FnOnce(&str) -> Option<T>,
        help: String,
    ) -> Sourced<T> {
        let Some(node) = node else { return left_out(self) };
        let span = node.span();
        if let Some(why) = hole(node) {
            return Sourced::unknown(why, span);
        }
        let text = node.text().unwrap_or_default().trim();
        match parse(text) {
            Some(value) => Sourced::written(value, span),
            None => {
                let shown = shorten(text);
                self.reject(
                    span,
                    format!("`{key}: {shown}` is rejected when the application starts: it needs {needs}"),
                    format!("needs {needs}"),
                    help,
                );
                Sourced::unknown(Why::Malformed { found: shown.into(), expected: needs.to_string().into() }, span)
            }
        }
    }

    /// A time span within its range.
    pub(super) fn time(
        &mut self,
        node: Option<Node<'_>>,
        key: &str,
        times: Times,
        left_out: impl FnOnce(&Self) -> Sourced<Nanos>,
    ) -> Sourced<Nanos> {
        let days = node.and_then(|node| value::whole(node.text()?.trim())).filter(|days| *days > 1);
        let mut needs = format!("a time span from {} to 1.00:00:00", times.as_written);
        if let Some(days) = days {
            needs.push_str(&format!(", and a bare number counts days: {days} days"));
        }
        let parse = |text: &str| parse(text, Syntax::Dotnet).filter(|time| (times.least..=DAY).contains(time));
        let corrected = match days {
            // `30` was meant to be seconds, or else it was meant to be days, and is too long anyway.
            Some(seconds @ 2..=59) => format!("\"00:00:{seconds:02}\""),
            _ => format!("\"{}\"", times.example),
        };
        self.value(node, key, left_out, &needs, parse, &corrected)
    }

    /// A time limit.
    pub(super) fn limit(
        &mut self,
        node: Option<Node<'_>>,
        key: &str,
        times: Times,
        left_out: impl FnOnce(&Self) -> Sourced<Limit<Nanos>>,
    ) -> Sourced<Limit<Nanos>> {
        match node {
            None => left_out(self),
            Some(_) => self.time(node, key, times, |options| options.left_out(Nanos::ZERO, "")).map(Limit::At),
        }
    }

    /// Notes that the whole pipeline is rejected.
    pub(super) fn reject(&mut self, span: Span, message: String, label: String, help: String) {
        self.ineffective.push(Ineffective { span, message, label, help, rejected: true });
    }
}

/// Why a value cannot be told: what the common readers know, and the tokens of deployment tools (`#{Retries}#`,
/// `__Retries__`).
fn hole(node: Node<'_>) -> Option<Why> {
    let text = node.text().map(str::trim);
    let is_token = |text: &&str| {
        (text.starts_with("#{") && text.contains('}'))
            || (text.len() > 4 && text.starts_with("__") && text.ends_with("__"))
    };
    value::hole(node).or_else(|| text.filter(is_token).map(|text| Why::Template(shorten(text).into())))
}
