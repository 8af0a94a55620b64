//! A manifest's `retry`: how many tries, how delays grow and are spread, and what is retried.

use super::policy::{BY, unread, unsaid};
use crate::facts::{
    Attempts, Backoff, BackoffKind, Class, Classes, Count, Counts, Jitter, JitterAt, Limit, Nanos, Policy, Sourced, Why,
};
use crate::read::data::tree::{Entry, Node};
use crate::read::data::value::{hole, shorten};
use crate::read::vocabulary::values::{DURATION, LIMIT, SHARE, duration, limit, number, share, whole};
use crate::read::vocabulary::{Faults, fields, quoted, suggestion, texts, value};
use crate::source::Span;

/// Keys of `retry`.
pub const RETRY_KEYS: &[&str] = &["attempts", "retries", "backoff", "base", "factor", "cap", "jitter", "on"];
/// Keys of a `jitter` that is a mapping.
pub const JITTER_KEYS: &[&str] = &["proportional", "additive"];
/// What `backoff` may say.
pub const BACKOFFS: &[&str] = &["none", "fixed", "linear", "exponential", "fibonacci"];
/// What `jitter` may say.
pub const JITTERS: &[&str] = &["none", "full", "equal", "decorrelated"];

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
        let expected = "a mapping such as `{ attempts: 3, backoff: exponential, base: 100ms }`";
        if let Some(why) = unread(field, expected, faults) {
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
                    faults.unknown_key(&entry, "`retry`", RETRY_KEYS);
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
        let mut written = None;
        let (expected, extra) = match counts {
            Counts::Attempts => ("the number of tries, at least 1, or `unbounded`", 0),
            Counts::Retries => ("the number of tries after the first, or `unbounded`", 1),
        };
        let attempts = value(entry, expected, faults, |node| {
            if node.text()?.trim() == "unbounded" {
                return Some(Attempts::Unbounded);
            }
            let count = whole(node)?;
            written = Some(count);
            Some(Attempts::Times(count.saturating_add(extra))).filter(|attempts| *attempts != Attempts::Times(0))
        });
        let key = if counts == Counts::Attempts { "attempts" } else { "retries" };
        (attempts.unwrap_or_else(|| unsaid(span)), written.map(|written| Count { key: key.into(), written, counts }))
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
            "base" => self.base = value(entry, DURATION, faults, duration),
            "factor" => {
                let expected = "a number of at least 1";
                self.factor = value(entry, expected, faults, |node| number(node).filter(|factor| *factor >= 1.0));
            }
            "cap" => self.cap = value(entry, LIMIT, faults, limit),
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

fn read_kind(entry: &Entry<'_>, faults: &mut Faults) -> Option<Sourced<BackoffKind>> {
    let node = entry.value;
    if node.is_seq() {
        return value(entry, "a list of times such as `[100ms, 1s]`", faults, |node| {
            let delays: Option<Vec<Nanos>> = node.items().map(duration).collect();
            delays.filter(|delays| !delays.is_empty()).map(BackoffKind::Schedule)
        });
    }
    let expected = "`none`, `fixed`, `linear`, `exponential`, `fibonacci` or a list of times";
    value(entry, expected, faults, |node| {
        Some(match node.text()? {
            "none" => BackoffKind::None,
            "fixed" => BackoffKind::Fixed,
            "linear" => BackoffKind::Linear,
            "exponential" => BackoffKind::Exponential,
            "fibonacci" => BackoffKind::Fibonacci,
            _ => return None,
        })
    })
}

fn read_jitter(entry: &Entry<'_>, faults: &mut Faults) -> Option<Sourced<Jitter>> {
    let node = entry.value;
    if node.is_map() {
        return Some(jitter_of_map(node, faults));
    }
    let expected = "`none`, `full`, `equal`, `decorrelated`, `{ proportional: 0.25 }` or `{ additive: 1s }`";
    value(entry, expected, faults, |node| {
        Some(match node.text()? {
            "none" => Jitter::NONE,
            "full" => Jitter::FULL,
            "equal" => Jitter::EQUAL,
            "decorrelated" => Jitter::DECORRELATED,
            _ => return None,
        })
    })
}

fn jitter_of_map(node: Node<'_>, faults: &mut Faults) -> Sourced<Jitter> {
    let (mut proportional, mut additive) = (None, None);
    for entry in fields(node) {
        match entry.key {
            "proportional" => proportional = value(&entry, SHARE, faults, share),
            "additive" => additive = value(&entry, DURATION, faults, duration),
            _ => faults.unknown_key(&entry, "`jitter`", JITTER_KEYS),
        }
    }
    match (proportional, additive) {
        // What is drawn above the delay may exceed the cap here: nothing says that it is cut.
        (Some(share), None) => share.map(|share| Jitter { at: JitterAt::AfterCap, ..Jitter::proportional(share) }),
        (None, Some(plus)) => plus.map(|plus| Jitter { at: JitterAt::AfterCap, ..Jitter::additive(plus) }),
        _ => {
            let message = "`jitter` should be one of `{ proportional: 0.25 }` and `{ additive: 1s }`";
            faults.add(node.span(), message, None);
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
    if let Some(why) = hole(node) {
        return Some((Sourced::unknown(why, node.span()), Classes::NONE));
    }
    let expected = "a list of failure classes such as `[overload, try-timeout]`";
    let before = faults.list.len();
    let mut classes = Classes::NONE;
    let mut why = node.items().find_map(hole);
    for (text, item) in texts(entry, expected, faults) {
        match Class::parse(text.trim()) {
            Some(class) => classes.insert(class),
            None if hole(item).is_some() => why = hole(item),
            None => {
                let names: Vec<&str> = Class::ALL.iter().map(|class| class.name()).collect();
                let help = suggestion(text, &names)
                    .unwrap_or_else(|| format!("known here: {}, an HTTP status or a gRPC code", quoted(&names)));
                faults.add(item.span(), format!("`{}` is no failure class", shorten(text)), Some(help));
            }
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
