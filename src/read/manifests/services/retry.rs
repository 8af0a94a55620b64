//! A manifest's `retry`: how many tries, how delays grow and are spread, and what is retried.

use super::keys;
use super::policy::{BY, unread, unsaid};
use crate::facts::{
    Attempts, Backoff, BackoffKind, Class, Classes, Count, Counts, Jitter, JitterAt, Limit, Nanos, Policy, Sourced, Why,
};
use crate::read::data::tree::{Entry, Node};
use crate::read::data::value::shorten;
use crate::read::vocabulary::values::{CLASS, DURATION, LIMIT, SHARE, TIMES, WHOLE, duration, whole};
use crate::read::vocabulary::{Faults, Is, Kind, fields, quoted, suggestion, value};
use crate::source::Span;

/// Tries, the first included, and the number as written.
pub(super) const ATTEMPTS: Kind<(Attempts, Option<u64>)> =
    Kind::new(Is::Either(&[Is::Whole(1), UNBOUNDED], "the number of tries, at least 1, or `unbounded`"), |node| {
        count(node, 0)
    });
/// The same from the number of tries after the first.
pub(super) const RETRIES: Kind<(Attempts, Option<u64>)> =
    Kind::new(Is::Either(&[WHOLE.is, UNBOUNDED], "the number of tries after the first, or `unbounded`"), |node| {
        count(node, 1)
    });
const UNBOUNDED: Is = Is::Words(&["unbounded"]);

/// How delays grow, in a word.
const GROWTH: Kind<BackoffKind> = Kind::words(&[
    ("none", BackoffKind::None),
    ("fixed", BackoffKind::Fixed),
    ("linear", BackoffKind::Linear),
    ("exponential", BackoffKind::Exponential),
    ("fibonacci", BackoffKind::Fibonacci),
]);
/// How delays grow, or all of them.
pub(super) const BACKOFF: Kind<BackoffKind> = Kind::new(
    Is::Either(
        &[GROWTH.is, Is::Series(&DURATION.is)],
        "`none`, `fixed`, `linear`, `exponential`, `fibonacci` or a list of times such as `[100ms, 1s]`",
    ),
    |node| match node.is_seq() {
        true => node
            .items()
            .map(duration)
            .collect::<Option<_>>()
            .filter(|all: &Vec<_>| !all.is_empty())
            .map(BackoffKind::Schedule),
        false => GROWTH.parse(node),
    },
);

/// The random part, in a word.
pub(super) const SPREAD_WORDS: Kind<Jitter> = Kind::words(&[
    ("none", Jitter::NONE),
    ("full", Jitter::FULL),
    ("equal", Jitter::EQUAL),
    ("decorrelated", Jitter::DECORRELATED),
]);
/// The random part; its table has a reader of its own.
pub(super) const JITTER: Kind<Jitter> = Kind::new(
    Is::Either(
        keys::SPREADS,
        "`none`, `full`, `equal`, `decorrelated`, `{ proportional: 0.25 }` or `{ additive: 1s }`",
    ),
    |node| SPREAD_WORDS.parse(node),
);

/// A `retry` mapping, read.
#[derive(Clone, Debug)]
pub(super) struct Retry {
    pub(super) span: Span,
    attempts: Sourced<Attempts>,
    count: Option<Count>,
    backoff: Backoff,
    jitter: Sourced<Jitter>,
    on: Option<(Sourced<Classes>, Classes)>,
}

impl Retry {
    /// One of which nothing is known but that it is there.
    pub(super) fn unknown(why: Why, span: Span) -> Retry {
        Retry {
            span,
            attempts: Sourced::unknown(why, span),
            count: None,
            backoff: unsaid_backoff(span),
            jitter: unsaid(span),
            on: Some((unsaid(span), Classes::NONE)),
        }
    }

    /// From the entry `retry`; none if it is null.
    pub(super) fn read(field: &Entry<'_>, faults: &mut Faults) -> Option<Retry> {
        let node = field.value;
        let span = node.span();
        if node.is_null() {
            return None;
        }
        if let Some(why) = unread(field, keys::RETRY.shape, faults) {
            return Some(Retry::unknown(why, span));
        }
        let (mut attempts, mut retries, mut jitter, mut on) = (None, None, None, None);
        // What a key that nobody knows was meant to say is not left out.
        let mut is_misspelt = false;
        let mut delays = Delays::default();
        for entry in fields(node) {
            match entry.key {
                "attempts" => attempts = Some(entry).filter(|entry| !entry.value.is_null()),
                "retries" => retries = Some(entry).filter(|entry| !entry.value.is_null()),
                "jitter" => jitter = read_jitter(&entry, faults),
                "on" => on = read_classes(&entry, faults),
                _ if delays.take(&entry, faults) => {}
                _ => {
                    faults.unknown(&entry, &keys::RETRY);
                    is_misspelt = true;
                }
            }
        }
        if is_misspelt {
            on = on.or_else(|| Some((unsaid(span), Classes::NONE)));
            jitter = jitter.or_else(|| Some(unsaid(span)));
            delays.leave_open(span);
        }
        let (attempts, count) = read_count(span, attempts.as_ref(), retries.as_ref(), faults);
        let says_delays = delays.is_said();
        let backoff = delays.build(span, faults);
        let jitter = jitter.unwrap_or_else(|| match says_delays {
            true => Sourced::default_of(Jitter::NONE, BY, "jitter"),
            false => unsaid(span),
        });
        Some(Retry { span, attempts, count, backoff, jitter, on })
    }

    /// Puts it into a policy whose time limits are already there.
    pub(super) fn apply(self, policy: &mut Policy) {
        policy.attempts = self.attempts;
        if policy.total.limit.limit().is_some() {
            // A count without limit under a limit of time ends with the time.
            policy.attempts = policy.attempts.clone().map(|attempts| match attempts {
                Attempts::Unbounded => Attempts::ByTime,
                other => other,
            });
        }
        policy.count = self.count;
        policy.backoff = self.backoff;
        policy.jitter = self.jitter;
        if let Some((on, named)) = self.on {
            policy.retries_on = on;
            policy.names_classes = named;
        }
    }
}

fn read_count(
    span: Span,
    attempts: Option<&Entry<'_>>,
    retries: Option<&Entry<'_>>,
    faults: &mut Faults,
) -> (Sourced<Attempts>, Option<Count>) {
    let counted = |entry: &Entry<'_>, counts, faults: &mut Faults| {
        let (key, kind) = match counts {
            Counts::Attempts => ("attempts", ATTEMPTS),
            Counts::Retries => ("retries", RETRIES),
        };
        let read = value(entry, kind, faults);
        let written = read.as_ref().and_then(|read| read.known()?.1);
        let attempts = read.map_or_else(|| unsaid(span), |read| read.map(|(attempts, _)| attempts));
        (attempts, written.map(|written| Count { key: key.into(), written, counts }))
    };
    match (attempts, retries) {
        (Some(entry), None) => counted(entry, Counts::Attempts, faults),
        (None, Some(entry)) => counted(entry, Counts::Retries, faults),
        (Some(first), Some(second)) => {
            let (a, count) = counted(first, Counts::Attempts, faults);
            let (r, _) = counted(second, Counts::Retries, faults);
            if let (Some(tries), Some(others)) = (a.known(), r.known())
                && tries != others
            {
                let text = |entry: &Entry<'_>| shorten(entry.value.text().unwrap_or_default());
                let (a, r) = (text(first), text(second));
                let message = format!(
                    "`attempts: {a}` and `retries: {r}` contradict each other: attempts count the first try too, retries do not"
                );
                faults.add(second.value.span(), message, Some("keep one of them".to_string()));
                let why = Why::Other("`attempts` and `retries` contradict each other".into());
                return (Sourced::unknown(why, first.value.span().to(second.value.span())), None);
            }
            (a, count)
        }
        (None, None) => {
            let help = "`attempts` is the number of all tries, `retries` of those after the first".to_string();
            faults.add(span, "`retry` without `attempts` or `retries`", Some(help));
            (unsaid(span), None)
        }
    }
}

fn unsaid_backoff(span: Span) -> Backoff {
    Backoff { kind: unsaid(span), base: unsaid(span), factor: unsaid(span), cap: unsaid(span), skip: 0 }
}

/// The keys that say how delays grow, as they are met.
#[derive(Default)]
struct Delays {
    kind: Option<Sourced<BackoffKind>>,
    base: Option<Sourced<Nanos>>,
    factor: Option<Sourced<f64>>,
    cap: Option<Sourced<Limit<Nanos>>>,
    first_key: Option<Span>,
}

impl Delays {
    fn take(&mut self, entry: &Entry<'_>, faults: &mut Faults) -> bool {
        match entry.key {
            "backoff" => self.kind = read_kind(entry, faults),
            "base" => self.base = value(entry, DURATION, faults),
            "factor" => self.factor = value(entry, TIMES, faults),
            "cap" => self.cap = value(entry, LIMIT, faults),
            _ => return false,
        }
        self.first_key = self.first_key.or(Some(entry.key_span));
        true
    }

    /// Of what is said of them, what is missing is not known.
    fn leave_open(&mut self, span: Span) {
        if self.is_said() {
            self.kind.get_or_insert_with(|| unsaid(span));
            self.base.get_or_insert_with(|| unsaid(span));
            self.factor.get_or_insert_with(|| unsaid(span));
            self.cap.get_or_insert_with(|| unsaid(span));
        }
    }

    fn is_said(&self) -> bool {
        self.kind.is_some() || self.base.is_some() || self.factor.is_some() || self.cap.is_some()
    }

    fn build(self, span: Span, faults: &mut Faults) -> Backoff {
        if !self.is_said() {
            return unsaid_backoff(span);
        }
        let kind = self.kind.unwrap_or_else(|| {
            let help = "`backoff: fixed`, `linear`, `exponential` or `fibonacci` says so".to_string();
            let message = "delays are given without `backoff`: how they grow is not said";
            faults.add(self.first_key.unwrap_or(span), message, Some(help));
            unsaid(span)
        });
        let is_delay = |kind: &BackoffKind| matches!(kind, BackoffKind::None | BackoffKind::Schedule(_));
        let without_base = kind.known().is_some_and(is_delay);
        let growth = if kind.known() == Some(&BackoffKind::Exponential) { 2.0 } else { 1.0 };
        Backoff {
            base: self.base.unwrap_or_else(|| match without_base {
                true => Sourced::default_of(Nanos::ZERO, BY, "base"),
                false => unsaid(span),
            }),
            factor: self.factor.unwrap_or_else(|| Sourced::default_of(growth, BY, "factor")),
            cap: self.cap.unwrap_or_else(|| Sourced::default_of(Limit::None, BY, "cap")),
            kind,
            skip: 0,
        }
    }
}

/// Tries from a number that leaves out so many of them; not none at all.
fn count(node: Node<'_>, extra: u64) -> Option<(Attempts, Option<u64>)> {
    if node.text()? == "unbounded" {
        return Some((Attempts::Unbounded, None));
    }
    let written = whole(node)?;
    let tries = written.saturating_add(extra);
    (tries > 0).then_some((Attempts::Times(tries), Some(written)))
}

fn read_kind(entry: &Entry<'_>, faults: &mut Faults) -> Option<Sourced<BackoffKind>> {
    // One delay that is unknown leaves the series unknown.
    match entry.value.items().find_map(|item| faults.hole(item)) {
        Some(why) => Some(Sourced::unknown(why, entry.value.span())),
        None => value(entry, BACKOFF, faults),
    }
}

fn read_jitter(entry: &Entry<'_>, faults: &mut Faults) -> Option<Sourced<Jitter>> {
    match entry.value.is_map() {
        true => Some(jitter_of_map(entry.value, faults)),
        false => value(entry, JITTER, faults),
    }
}

fn jitter_of_map(node: Node<'_>, faults: &mut Faults) -> Sourced<Jitter> {
    let (mut proportional, mut additive) = (None, None);
    for entry in fields(node) {
        match entry.key {
            "proportional" => proportional = value(&entry, SHARE, faults),
            "additive" => additive = value(&entry, DURATION, faults),
            _ => faults.unknown(&entry, &keys::SPREAD),
        }
    }
    match (proportional, additive) {
        // What is drawn above the delay may exceed the cap here: nothing says that it is cut.
        (Some(share), None) => share.map(|share| Jitter { at: JitterAt::AfterCap, ..Jitter::proportional(share) }),
        (None, Some(plus)) => plus.map(|plus| Jitter { at: JitterAt::AfterCap, ..Jitter::additive(plus) }),
        _ => {
            faults.add(node.span(), format!("`jitter` should be {}", keys::SPREAD.shape), None);
            unsaid(node.span())
        }
    }
}

/// The classes of `on`, and those that are written one by one.
fn read_classes(entry: &Entry<'_>, faults: &mut Faults) -> Option<(Sourced<Classes>, Classes)> {
    let node = entry.value;
    if node.is_null() {
        return None;
    }
    if let Some(why) = faults.hole(node) {
        return Some((Sourced::unknown(why, node.span()), Classes::NONE));
    }
    let before = faults.list.len();
    let mut classes = Classes::NONE;
    let mut why = None;
    let one = (!node.is_seq()).then_some(node);
    for item in node.items().chain(one) {
        match (CLASS.parse(item), item.text()) {
            (Some(class), _) => classes.insert(class),
            _ if faults.hole(item).is_some() => why = faults.hole(item),
            (None, Some(text)) => {
                let names = Class::ALL.map(Class::name);
                let help = suggestion(text, &names)
                    .unwrap_or_else(|| format!("known here: {}, an HTTP status or a gRPC code", quoted(&names)));
                faults.add(item.span(), format!("`{}` is no failure class", shorten(text)), Some(help));
            }
            (None, None) => faults.misfit("on", item, "a list of failure classes such as `[overload, try-timeout]`"),
        }
    }
    if faults.list.len() > before {
        why = Some(Why::Malformed { found: "a class that is not known".into(), expected: "a failure class".into() });
    }
    let set = match why {
        Some(why) => Sourced::unknown(why, node.span()),
        None => Sourced::written(classes, node.span()),
    };
    Some((set, classes))
}
