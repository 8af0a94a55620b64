//! One mapping of the generic shape becomes one policy.

use super::keys::{name, name_and_unit};
use crate::facts::{
    Attempts, BackoffKind, Callee, Class, Classes, Confidence, Count, Counts, Dialect, Exhausted, Jitter, JitterAt,
    Limit, Methods, Nanos, Policy, Sourced, Why,
};
use crate::read::data::duration::{Syntax, parse};
use crate::read::data::tree::{Entry, Node};
use crate::read::data::value::{boolean, hole, number, whole};
use crate::source::Span;

/// Counts of all tries.
const ATTEMPTS: &[&str] = &["attempts", "maxattempts", "totalattempts", "tries", "maxtries"];
/// Counts of tries after the first.
const RETRIES: &[&str] = &["retries", "maxretries", "numretries", "maxretryattempts", "retrycount"];
/// The first delay.
const DELAY: &[&str] = &[
    "delay",
    "interval",
    "wait",
    "base",
    "initial",
    "min",
    "basedelay",
    "initialdelay",
    "initialinterval",
    "initialbackoff",
    "initialwait",
    "mindelay",
    "minbackoff",
    "mininterval",
    "minwait",
    "retrydelay",
    "retryinterval",
    "waitduration",
    "baseinterval",
    "backoffbase",
    "backoffdelay",
    "delaybase",
];
/// The largest delay.
const CAP: &[&str] =
    &["cap", "maxdelay", "maxinterval", "maxbackoff", "maxwait", "delaymax", "backoffmax", "backoffcap", "max"];
/// Growth.
const FACTOR: &[&str] = &["factor", "multiplier", "backoffmultiplier", "backofffactor", "exponentialbase"];
/// How delays grow; or the first of them; or a mapping of all these.
const BACKOFF: &[&str] = &["backoff", "strategy", "backoffstrategy", "backofftype", "delaytype", "kind", "type"];
/// The random part.
const JITTER: &[&str] = &["jitter", "usejitter", "randomizationfactor", "jitterfactor"];
/// The limit of one try.
const ATTEMPT_TIMEOUT: &[&str] =
    &["attempttimeout", "perattempttimeout", "pertrytimeout", "trytimeout", "timeoutperattempt", "requesttimeout"];
/// The limit of all tries.
const TOTAL: &[&str] =
    &["total", "totaltimeout", "overalltimeout", "maxelapsedtime", "maxelapsed", "deadline", "maxduration", "maxtime"];
/// A limit of either.
const TIMEOUT: &[&str] = &["timeout"];
/// What is retried.
const ON: &[&str] = &[
    "on",
    "retryon",
    "retryablestatuscodes",
    "statuscodes",
    "retrystatuscodes",
    "statuses",
    "retryablecodes",
    "codes",
    "retryablestatuses",
];

/// Whether a mapping has a count: a number, an unlimited one, or a template hole in its place.
pub(super) fn counts(settings: Node<'_>) -> bool {
    settings.written_entries().any(|entry| counted(&entry).is_some())
}

/// Whether it says one thing more that only retrying has.
pub(super) fn says_more(settings: Node<'_>) -> bool {
    const SIGNS: [&[&str]; 8] = [DELAY, CAP, FACTOR, JITTER, ATTEMPT_TIMEOUT, TOTAL, TIMEOUT, ON];
    settings.written_entries().any(|entry| {
        let (key, _) = name_and_unit(entry.key);
        // `type` and `kind` stand everywhere; `backoff` does not.
        SIGNS.iter().any(|keys| keys.contains(&key.as_str())) || key.starts_with("backoff")
    })
}

/// Whether it is switched off.
pub(super) fn is_disabled(settings: Node<'_>) -> bool {
    let is = |entry: &Entry<'_>, key: &str, value: bool| {
        name(entry.key) == key && entry.value.text().and_then(boolean) == Some(value)
    };
    settings.written_entries().any(|entry| is(&entry, "enabled", false) || is(&entry, "disabled", true))
}

/// The count of an entry, if it is one.
fn counted(entry: &Entry<'_>) -> Option<(Counts, Sourced<Attempts>, Option<u64>)> {
    let key = name(entry.key);
    let counts = if ATTEMPTS.contains(&key.as_str()) {
        Counts::Attempts
    } else if RETRIES.contains(&key.as_str()) {
        Counts::Retries
    } else {
        return None;
    };
    let span = entry.value.span();
    if let Some(why) = hole(entry.value) {
        return Some((counts, Sourced::unknown(why, span), None));
    }
    let text = entry.value.text()?.trim();
    if let Some(count) = whole(text) {
        let tries = if counts == Counts::Retries { count.saturating_add(1) } else { count.max(1) };
        return Some((counts, Sourced::written(Attempts::Times(tries), span), Some(count)));
    }
    match text.to_ascii_lowercase().as_str() {
        "unlimited" | "unbounded" | "infinite" | "infinity" | "forever" => {
            Some((counts, Sourced::written(Attempts::Unbounded, span), None))
        }
        // For some this is without end, for others none.
        "-1" => Some((counts, Sourced::unknown(Why::Other("`-1` means different things".into()), span), None)),
        _ => None,
    }
}

/// The policy of a mapping.
pub(super) fn policy(settings: Node<'_>, path: &str, callee: Callee) -> Policy {
    let span = settings.span();
    let mut policy = Policy::new(Dialect::Generic, "generic", "unknown program", span, path);
    policy.confidence = Confidence::Low;
    policy.callee = callee;
    forget(&mut policy, span);
    let mut has_count = false;
    let mut entries = settings.entries();
    // One mapping deeper: `backoff: { initial: 1s, max: 30s }`.
    let nested: Vec<Entry<'_>> = entries
        .iter()
        .filter(|entry| entry.value.is_map() && BACKOFF.contains(&name(entry.key).as_str()))
        .flat_map(|entry| entry.value.entries())
        .collect();
    entries.extend(nested);
    for entry in &entries {
        if let Some((counts, attempts, written)) = counted(entry) {
            if has_count {
                // Two counts: which of them holds is the program's secret.
                policy.attempts = Sourced::unknown(Why::Other("two counts are written".into()), span);
                policy.count = None;
                continue;
            }
            has_count = true;
            policy.attempts = attempts;
            policy.count = written.map(|written| Count { key: entry.key.to_string().into(), written, counts });
            continue;
        }
        setting(&mut policy, entry);
    }
    if policy.attempts.known() == Some(&Attempts::Unbounded) && policy.total.limit.limit().is_some() {
        policy.attempts = policy.attempts.clone().map(|_| Attempts::ByTime);
    }
    policy
}

/// Nothing is known that is not written.
fn forget(policy: &mut Policy, span: Span) {
    fn unsaid<T>(span: Span) -> Sourced<T> {
        Sourced::unknown(Why::Other("the program that reads this is not known".into()), span)
    }
    policy.backoff.kind = unsaid(span);
    policy.backoff.base = unsaid(span);
    policy.backoff.factor = unsaid(span);
    policy.backoff.cap = unsaid(span);
    policy.jitter = unsaid(span);
    policy.attempt_timeout = unsaid(span);
    policy.total.limit = unsaid(span);
    policy.retries_on = unsaid(span);
    policy.methods = unsaid::<Methods>(span);
    policy.idempotent = unsaid(span);
    policy.budget = unsaid(span);
    policy.breaker = unsaid(span);
    policy.reads_retry_after = unsaid(span);
    policy.observed = unsaid(span);
    policy.exhausted = Exhausted::Unknown;
}

fn setting(policy: &mut Policy, entry: &Entry<'_>) {
    let (key, unit) = name_and_unit(entry.key);
    let is = |keys: &[&str]| keys.contains(&key.as_str());
    let node = entry.value;
    let span = node.span();
    let time = || -> Option<Sourced<Nanos>> {
        if let Some(why) = hole(node) {
            return Some(Sourced::unknown(why, span));
        }
        let text = node.text()?.trim();
        Some(match (parse(text, Syntax::Any), number(text), unit) {
            (Some(time), ..) => Sourced::written(time, span),
            (None, Some(0.0), _) => Sourced::written(Nanos::ZERO, span),
            (None, Some(count), Some(unit)) => Sourced::written(Nanos((count * unit as f64).round() as u64), span),
            (None, Some(_), None) => Sourced::unknown(Why::Other("the unit is not written".into()), span),
            (None, None, _) => return None,
        })
    };
    if is(BACKOFF) {
        match node.text().and_then(kind) {
            Some(kind) => policy.backoff.kind = Sourced::written(kind, span),
            None if key == "backoff" => {
                if let Some(time) = time() {
                    policy.backoff.base = time;
                }
            }
            None => {}
        }
    } else if is(DELAY) {
        if let Some(time) = time() {
            policy.backoff.base = time;
        }
    } else if is(CAP) {
        if let Some(time) = time() {
            policy.backoff.cap = time.map(Limit::At);
        }
    } else if is(FACTOR) {
        if let Some(factor) = node.text().and_then(|text| number(text.trim())).filter(|factor| *factor >= 1.0) {
            policy.backoff.factor = Sourced::written(factor, span);
            if policy.backoff.kind.known().is_none() && factor > 1.0 {
                policy.backoff.kind = Sourced::written(BackoffKind::Exponential, span);
            }
        }
    } else if is(JITTER) {
        policy.jitter = jitter(node);
    } else if is(ATTEMPT_TIMEOUT) {
        if let Some(time) = time() {
            policy.attempt_timeout = time.map(Limit::At);
        }
    } else if is(TOTAL) {
        if let Some(time) = time() {
            policy.total.limit = time.map(Limit::At);
        }
    } else if is(ON)
        && let Some(classes) = classes(node)
    {
        policy.retries_on = Sourced::written(classes, span);
        policy.names_classes = classes;
    }
}

fn kind(text: &str) -> Option<BackoffKind> {
    Some(match name(text).as_str() {
        "none" => BackoffKind::None,
        "fixed" | "constant" => BackoffKind::Fixed,
        "linear" => BackoffKind::Linear,
        "exponential" | "exponentialbackoff" | "exp" => BackoffKind::Exponential,
        "fibonacci" => BackoffKind::Fibonacci,
        _ => return None,
    })
}

/// Jitter where its amount is told; a mere `true` is some jitter, and how much is unknown.
fn jitter(node: Node<'_>) -> Sourced<Jitter> {
    let span = node.span();
    let unknown = |why: &'static str| Sourced::unknown(Why::Other(why.into()), span);
    if let Some(why) = hole(node) {
        return Sourced::unknown(why, span);
    }
    let Some(text) = node.text().map(str::trim) else { return unknown("jitter of a kind that is not known") };
    let jitter = match text.to_ascii_lowercase().as_str() {
        "none" | "false" | "off" | "no" => Jitter::NONE,
        "full" => Jitter::FULL,
        "equal" => Jitter::EQUAL,
        "decorrelated" => Jitter::DECORRELATED,
        "true" | "on" | "yes" => return unknown("jitter is on; how much is not written"),
        text => match (number(text), parse(text, Syntax::Any)) {
            (Some(share), _) if (0.0..=1.0).contains(&share) => {
                Jitter { at: JitterAt::AfterCap, ..Jitter::proportional(share) }
            }
            (_, Some(plus)) => Jitter { at: JitterAt::AfterCap, ..Jitter::additive(plus) },
            _ => return unknown("jitter of a kind that is not known"),
        },
    };
    Sourced::written(jitter, span)
}

/// The classes of a list, if every item of it is one.
fn classes(node: Node<'_>) -> Option<Classes> {
    if let Some(text) = node.text() {
        return text.split(',').map(|text| Class::parse(text.trim())).collect();
    }
    if node.items().len() == 0 {
        return None;
    }
    node.items().map(|item| Class::parse(item.text()?.trim())).collect()
}
