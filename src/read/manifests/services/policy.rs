//! What a manifest says about retrying: in a call itself, or once under a name in `policies`.
//!
//! A manifest describes a system, it does not run it. Of an aspect that it describes, what is left out has a default: no
//! cap, no jitter, all classes. An aspect that it does not mention at all (delays, timeouts) is unknown, not absent:
//! somebody who only wrote `retry: { attempts: 3 }` has not said that there is no timeout.

use std::sync::Arc;

use super::keys;
use super::retry::Retry;
use crate::facts::{
    Breaker, Budget, BudgetBase, Call, CallId, Dialect, Exhausted, Floor, Hedging, Limit, Nanos, Place, Policy,
    PolicyKind, Position, Purpose, ServiceRef, Sourced, Why,
};
use crate::read::data::tree::{Entry, Node};
use crate::read::data::value::shorten;
use crate::read::vocabulary::values::{DURATION, LIMIT, RATE, SHARE, WHOLE, duration};
use crate::read::vocabulary::{Faults, Is, Kind, Table, fields, found, plain, quoted, suggestion, value};
use crate::source::Span;
use crate::suggest::did_you_mean;

/// Retries that a budget always allows.
pub(super) const FLOOR: Kind<Floor> =
    Kind::new(Is::Either(&[RATE.is, WHOLE.is], "a rate such as `3/s`, or a number of retries in flight"), |node| {
        WHOLE.parse(node).map(Floor::InFlight).or_else(|| RATE.parse(node).map(Floor::PerSecond))
    });
/// What the ratio of a budget is of.
pub(super) const BUDGET_BASE: Kind<BudgetBase> = Kind::words(&[
    ("originals", BudgetBase::Originals),
    ("all", BudgetBase::All),
    ("in-flight", BudgetBase::InFlight),
    ("successes", BudgetBase::Successes),
]);
/// Where a breaker stands, seen from the retry.
pub(super) const PLACE: Kind<Place> = Kind::words(&[("inside", Place::Inside), ("outside", Place::Outside)]);

/// Whose default a value is that the manifest leaves out.
pub(super) const BY: &str = "the manifest";

/// Known to be set, and to what is not said.
pub(super) fn unsaid<T>(at: Span) -> Sourced<T> {
    Sourced::unknown(Why::Other("the manifest does not say".into()), at)
}

/// Why nothing is known of a section that is no mapping, with a fault where that is a mistake.
pub(super) fn unread(field: &Entry<'_>, expected: &str, faults: &mut Faults) -> Option<Why> {
    let node = field.value;
    if let Some(why) = faults.hole(node) {
        return Some(why);
    }
    let what = || node.text().map_or_else(|| found(node), shorten);
    (!faults.is_map(field, expected)).then(|| Why::Malformed { found: what().into(), expected: "a mapping".into() })
}

/// What a call or a named policy says about retrying.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    retry: Option<Retry>,
    timeout: Option<Timeout>,
    budget: Option<Sourced<Limit<Budget>>>,
    breaker: Option<Sourced<Limit<Breaker>>>,
    hedge: Option<Hedging>,
    layer: Option<Position>,
    /// Name and place of the named policy that the main part comes from.
    named: Option<(Arc<str>, Span)>,
}

#[derive(Clone, Debug)]
struct Timeout {
    attempt: Sourced<Limit<Nanos>>,
    total: Sourced<Limit<Nanos>>,
}

impl Settings {
    /// An entry of `policies`.
    pub(super) fn named(entry: &Entry<'_>, faults: &mut Faults) -> Settings {
        let mut settings = Settings::default();
        if entry.value.is_null() {
        } else if let Some(why) = unread(entry, keys::POLICY.shape, faults) {
            settings = Settings::unknown(&why, entry.value.span());
        } else {
            for field in fields(entry.value) {
                if !settings.take(&field, faults) {
                    faults.unknown(&field, &keys::POLICY);
                    settings.misspelt(&field, &keys::POLICY);
                }
            }
        }
        settings.named = Some((format!("policies.{}", entry.key).into(), entry.value.span()));
        settings
    }

    /// Those of a policy of which nothing is known but that it is there.
    pub(super) fn unknown(why: &Why, span: Span) -> Settings {
        fn limit<T>(why: &Why, span: Span) -> Sourced<Limit<T>> {
            Sourced::unknown(why.clone(), span)
        }
        Settings {
            retry: Some(Retry::unknown(why.clone(), span)),
            timeout: Some(Timeout { attempt: limit(why, span), total: limit(why, span) }),
            budget: Some(limit(why, span)),
            breaker: Some(limit(why, span)),
            ..Settings::default()
        }
    }

    /// A key that nobody knows and that was probably meant to say how calls are retried.
    pub(super) fn misspelt(&mut self, field: &Entry<'_>, known: &Table) {
        if matches!(did_you_mean(field.key, known.names()), Some("retry" | "policy")) {
            let why = Why::Other(format!("the key `{}` is not known", shorten(field.key)).into());
            self.retry.get_or_insert_with(|| Retry::unknown(why, field.value.span()));
        }
    }

    /// Takes one field; false if it is none of these.
    pub(super) fn take(&mut self, field: &Entry<'_>, faults: &mut Faults) -> bool {
        match field.key {
            "retry" => self.retry = Retry::read(field, faults),
            "timeout" => self.timeout = timeout(field, faults),
            "budget" => self.budget = section(field, faults, &keys::BUDGET, budget),
            "breaker" => self.breaker = section(field, faults, &keys::BREAKER, breaker),
            "hedge" => self.hedge = hedge(field, faults),
            "layer" => self.layer = layer(field, faults),
            _ => return false,
        }
        true
    }

    /// Takes from a named policy what the call does not say itself.
    pub(super) fn fill(&mut self, policy: &Settings) {
        let has_own = self.retry.is_some() || (policy.retry.is_none() && !self.is_empty());
        if !has_own {
            self.named.clone_from(&policy.named);
        }
        fn or<T: Clone>(slot: &mut Option<T>, other: &Option<T>) {
            if slot.is_none() {
                slot.clone_from(other);
            }
        }
        or(&mut self.retry, &policy.retry);
        or(&mut self.timeout, &policy.timeout);
        or(&mut self.budget, &policy.budget);
        or(&mut self.breaker, &policy.breaker);
        or(&mut self.hedge, &policy.hedge);
        or(&mut self.layer, &policy.layer);
    }

    fn is_empty(&self) -> bool {
        self.retry.is_none()
            && self.timeout.is_none()
            && self.budget.is_none()
            && self.breaker.is_none()
            && self.hedge.is_none()
    }

    /// The policy of a call, if the manifest says anything about one.
    pub(super) fn build(self, call: &Call, id: CallId) -> Option<Policy> {
        if self.is_empty() {
            return None;
        }
        let (name, span) = match &self.named {
            Some((name, span)) => (Arc::clone(name), *span),
            None => (path_name(call), call.span),
        };
        let span = self.retry.as_ref().map_or(span, |retry| retry.span);
        let mut policy = Policy::new(Dialect::Manifest, "manifest", BY, span, name);
        policy.kind = PolicyKind::TimeLimit;
        policy.position = self.layer.unwrap_or(Position::CallerCode);
        if !policy.position.is_request_path() {
            policy.purpose = Purpose::Background;
        }
        policy.caller = call.caller.clone();
        policy.callee = call.callee.clone();
        policy.calls = vec![id];
        policy.environment = call.environment.clone();
        policy.exhausted = Exhausted::Unknown;
        policy.reads_retry_after = unsaid(span);
        policy.observed = unsaid(span);
        match self.timeout {
            Some(timeout) => {
                policy.attempt_timeout = timeout.attempt;
                policy.total.limit = timeout.total;
            }
            None => {
                policy.attempt_timeout = unsaid(span);
                policy.total.limit = unsaid(span);
            }
        }
        if let Some(retry) = self.retry {
            policy.kind = PolicyKind::Config;
            retry.apply(&mut policy);
        }
        if let Some(hedge) = self.hedge {
            policy.kind = PolicyKind::Config;
            policy.hedging = Some(Box::new(hedge));
        }
        if let Some(budget) = self.budget {
            policy.budget = budget.boxed();
        }
        if let Some(breaker) = self.breaker {
            policy.breaker = breaker.boxed();
        }
        if let Some(idempotent) = &call.idempotent {
            policy.idempotent = idempotent.clone().map(Some);
        }
        Some(policy)
    }
}

/// `web → checkout`, with the operation where it is said.
fn path_name(call: &Call) -> Arc<str> {
    let shown = |service: Option<&ServiceRef>| service.map(|service| service.host.display()).unwrap_or_default();
    let mut name = format!("{} → {}", shown(call.caller.service()), shown(call.callee.service()));
    if let Some(operation) = &call.operation {
        for part in [&operation.method, &operation.path].into_iter().flatten() {
            name.push(' ');
            name.push_str(part);
        }
    }
    name.into()
}

/// A section that is a mapping: `none` is known to be absent, a template hole is unknown.
fn section<T>(
    field: &Entry<'_>,
    faults: &mut Faults,
    table: &Table,
    read: fn(Node<'_>, &mut Faults) -> Option<T>,
) -> Option<Sourced<Limit<T>>> {
    let node = field.value;
    if node.is_null() {
        return None;
    }
    if let Some(why) = faults.hole(node) {
        return Some(Sourced::unknown(why, node.span()));
    }
    if node.text() == Some("none") {
        return Some(Sourced::written(Limit::None, node.span()));
    }
    if !faults.is_map(field, &format!("{}, or `none`", table.shape)) {
        return Some(unsaid(node.span()));
    }
    Some(match read(node, faults) {
        Some(value) => Sourced::written(Limit::At(value), node.span()),
        None => unsaid(node.span()),
    })
}

fn timeout(field: &Entry<'_>, faults: &mut Faults) -> Option<Timeout> {
    let node = field.value;
    let span = node.span();
    if node.is_null() {
        return None;
    }
    if let Some(why) = faults.hole(node) {
        let unknown = || Sourced::unknown(why.clone(), span);
        return Some(Timeout { attempt: unknown(), total: unknown() });
    }
    if node.text() == Some("none") {
        let none = Sourced::written(Limit::None, span);
        return Some(Timeout { attempt: none.clone(), total: none });
    }
    if let Some(text) = node.text().filter(|_| duration(node).is_some()) {
        let help = format!("write `timeout: {{ attempt: {text} }}` for one try, `{{ total: {text} }}` for all of them");
        faults.add(span, "`timeout` does not say whether one try or all of them are meant", Some(help));
        return Some(Timeout { attempt: unsaid(span), total: unsaid(span) });
    }
    if !faults.is_map(field, &format!("{}, or `none`", keys::TIMEOUT.shape)) {
        return Some(Timeout { attempt: unsaid(span), total: unsaid(span) });
    }
    let (mut attempt, mut total) = (None, None);
    let mut is_misspelt = false;
    for entry in fields(node) {
        match entry.key {
            "attempt" => attempt = value(&entry, LIMIT, faults),
            "total" => total = value(&entry, LIMIT, faults),
            _ => {
                faults.unknown(&entry, &keys::TIMEOUT);
                is_misspelt = true;
            }
        }
    }
    let none = |key| if is_misspelt { unsaid(span) } else { Sourced::default_of(Limit::None, BY, key) };
    Some(Timeout {
        attempt: attempt.unwrap_or_else(|| none("timeout.attempt")),
        total: total.unwrap_or_else(|| none("timeout.total")),
    })
}

fn budget(node: Node<'_>, faults: &mut Faults) -> Option<Budget> {
    let (mut ratio, mut floor, mut window, mut base) = (None, None, None, BudgetBase::Originals);
    for entry in fields(node) {
        match entry.key {
            "ratio" => ratio = value(&entry, SHARE, faults),
            "floor" => floor = value(&entry, FLOOR, faults),
            "window" => window = value(&entry, LIMIT, faults),
            "base" => base = plain(&entry, BUDGET_BASE, faults).unwrap_or(base),
            _ => faults.unknown(&entry, &keys::BUDGET),
        }
    }
    let Some(ratio) = ratio else {
        faults.add(
            node.span(),
            "a budget without `ratio`",
            Some("`ratio: 0.1` allows one retry for ten requests".into()),
        );
        return None;
    };
    Some(Budget {
        ratio,
        floor: floor.unwrap_or_else(|| Sourced::default_of(Floor::PerSecond(0.0), BY, "floor")),
        window: window.unwrap_or_else(|| Sourced::default_of(Limit::None, BY, "window")),
        base,
    })
}

fn breaker(node: Node<'_>, faults: &mut Faults) -> Option<Breaker> {
    let mut breaker = Breaker::default();
    for entry in fields(node) {
        match entry.key {
            "ratio" => breaker.ratio = value(&entry, SHARE, faults),
            "consecutive" => breaker.consecutive = value(&entry, WHOLE, faults),
            "minimum" => breaker.minimum = value(&entry, WHOLE, faults),
            "window" => breaker.window = value(&entry, DURATION, faults),
            "open" => breaker.open = value(&entry, DURATION, faults),
            "probes" => breaker.probes = value(&entry, WHOLE, faults),
            "place" => breaker.place = plain(&entry, PLACE, faults).unwrap_or(Place::Unknown),
            _ => faults.unknown(&entry, &keys::BREAKER),
        }
    }
    Some(breaker)
}

fn hedge(field: &Entry<'_>, faults: &mut Faults) -> Option<Hedging> {
    let span = field.value.span();
    if field.value.is_null() {
        return None;
    }
    if let Some(why) = unread(field, keys::HEDGE.shape, faults) {
        return Some(Hedging { copies: Sourced::unknown(why, span), delay: unsaid(span), counts_as_try: false });
    }
    let (mut copies, mut delay) = (None, None);
    let mut is_misspelt = false;
    for entry in fields(field.value) {
        match entry.key {
            "copies" => copies = value(&entry, WHOLE, faults),
            "delay" => delay = value(&entry, DURATION, faults),
            _ => {
                faults.unknown(&entry, &keys::HEDGE);
                is_misspelt = true;
            }
        }
    }
    Some(Hedging {
        copies: copies.unwrap_or_else(|| match is_misspelt {
            true => unsaid(span),
            false => Sourced::default_of(1, BY, "copies"),
        }),
        delay: delay.unwrap_or_else(|| unsaid(span)),
        counts_as_try: false,
    })
}

/// Where the retry stands (D-6, D-8).
fn layer(field: &Entry<'_>, faults: &mut Faults) -> Option<Position> {
    let node = field.value;
    if node.is_null() || faults.hole(node).is_some() {
        return None;
    }
    let position = node.text().and_then(Position::parse);
    if position.is_none() {
        let known = Position::ALL.map(Position::name);
        let help = node.text().and_then(|text| suggestion(text, &known));
        let help = help.unwrap_or_else(|| format!("known here: {}", quoted(&known)));
        let message = format!("`layer` should be a position on the edge, found {}", found(node));
        faults.add(node.span(), message, Some(help));
    }
    position
}
