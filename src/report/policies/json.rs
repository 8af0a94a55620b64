//! `policies --format json`: its shape is part of the interface (the usage page and contracts.md D-19).

use serde::Serialize;

use super::{Row, rows};
use crate::facts::{
    AttemptTimeoutFlaw, Attempts, BackoffKind, Breaker, Budget, Classes, Confidence, Exhausted, Facts, Floor, Limit,
    Measures, Methods, Nanos, Origin, Place, Policy, PolicyKind, Protocol, Sourced,
};
use crate::graph::System;
use crate::graph::deadlines::slowest;
use crate::report::json::{self, VERSION};
use crate::source::Sources;

/// All policies as JSON, with a line break at the end.
pub fn render(facts: &Facts, systems: &[System<'_>], sources: &Sources, include_tests: bool) -> String {
    let rows = rows(facts, systems, include_tests);
    json::print(&Document {
        version: VERSION,
        policies: rows.iter().filter_map(|row| PolicyJson::of(row, facts, sources)).collect(),
    })
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    policies: Vec<PolicyJson<'a>>,
}

#[derive(Serialize)]
struct PolicyJson<'a> {
    id: u32,
    #[serde(flatten)]
    place: json::Place<'a>,
    kind: PolicyKind,
    source: &'a str,
    name: Option<&'a str>,
    layer: &'static str,
    position: &'static str,
    environment: Option<&'a str>,
    test_code: bool,
    confidence: Confidence,
    caller: Option<&'a str>,
    callee: Option<&'a str>,
    protocol: Option<Protocol>,
    attempts: AttemptsJson<'a>,
    bounded_by: Option<&'static str>,
    backoff: BackoffJson<'a>,
    jitter: JitterJson<'a>,
    attempt_timeout: TimeJson<'a>,
    total_timeout: TotalJson<'a>,
    retries_on: Option<Classes>,
    methods: Option<&'a Methods>,
    idempotent: Option<bool>,
    budget: Option<BudgetJson<'a>>,
    breaker: Option<BreakerJson<'a>>,
    hedging: Option<HedgingJson>,
    observed: Option<bool>,
    exhausted: Exhausted,
    slowest_answer_ms: Option<f64>,
    why: Vec<String>,
}

/// Where a value comes from: an unknown one has no other origin.
#[derive(Serialize)]
struct OriginJson<'a> {
    origin: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<&'a str>,
}

impl<'a> OriginJson<'a> {
    fn of<T>(value: &'a Sourced<T>) -> Self {
        let origin = match (value.known(), &value.origin) {
            (None, _) => "unknown",
            (_, Origin::Written(_)) => "written",
            (_, Origin::Default { .. }) => "default",
            (_, Origin::Derived(_)) => "derived",
        };
        OriginJson { origin, by: value.default_by() }
    }
}

#[derive(Serialize)]
#[serde(untagged)]
enum Count {
    Number(u64),
    Word(&'static str),
    Text(String),
}

#[derive(Serialize)]
struct AttemptsJson<'a> {
    value: Option<Count>,
    origin: &'static str,
    /// Whose default it is. Here also where it is none: programs ask for it first.
    by: Option<&'a str>,
}

#[derive(Serialize)]
struct BackoffJson<'a> {
    kind: &'static str,
    base_ms: Option<f64>,
    factor: Option<f64>,
    cap_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule_ms: Option<Vec<f64>>,
    #[serde(flatten)]
    origin: OriginJson<'a>,
}

#[derive(Serialize)]
struct JitterJson<'a> {
    kind: &'static str,
    low: Option<f64>,
    high: Option<f64>,
    plus_ms: Option<f64>,
    #[serde(flatten)]
    origin: OriginJson<'a>,
}

#[derive(Serialize)]
struct TimeJson<'a> {
    value_ms: Option<f64>,
    #[serde(flatten)]
    origin: OriginJson<'a>,
}

#[derive(Serialize)]
struct TotalJson<'a> {
    #[serde(flatten)]
    time: TimeJson<'a>,
    measures: Measures,
    check: crate::facts::Check,
}

#[derive(Serialize)]
struct BudgetJson<'a> {
    ratio: Option<f64>,
    floor: Option<Floor>,
    window_ms: Option<f64>,
    base: Option<crate::facts::BudgetBase>,
    #[serde(flatten)]
    origin: OriginJson<'a>,
}

#[derive(Serialize)]
struct BreakerJson<'a> {
    ratio: Option<f64>,
    consecutive: Option<u64>,
    minimum: Option<u64>,
    window_ms: Option<f64>,
    open_ms: Option<f64>,
    probes: Option<u64>,
    max_ejection_percent: Option<f64>,
    place: Option<Place>,
    #[serde(flatten)]
    origin: OriginJson<'a>,
}

#[derive(Serialize)]
struct HedgingJson {
    copies: Option<u64>,
    delay_ms: Option<f64>,
    /// Whether the copies are among `attempts`.
    counts_as_try: bool,
}

impl<'a> PolicyJson<'a> {
    fn of(row: &'a Row<'_>, facts: &Facts, sources: &'a Sources) -> Option<Self> {
        let policy = row.policy;
        let call = policy.calls.first().and_then(|call| facts.calls.get(call.0 as usize));
        Some(PolicyJson {
            id: row.id.0,
            place: json::Place::of(policy.span, sources)?,
            kind: policy.kind,
            source: &policy.source,
            name: Some(&*policy.name).filter(|name| !name.is_empty()),
            layer: row.position.layer(),
            position: row.position.name(),
            environment: policy.environment.as_deref(),
            test_code: policy.test_code,
            confidence: policy.confidence,
            caller: row.caller.as_deref(),
            callee: row.callee.as_deref(),
            protocol: call.and_then(|call| call.protocol),
            attempts: attempts(policy),
            bounded_by: matches!(policy.attempts.known(), Some(Attempts::ByTime)).then_some("time"),
            backoff: backoff(policy),
            jitter: jitter(policy),
            attempt_timeout: time(&policy.attempt_timeout),
            total_timeout: TotalJson {
                time: time(&policy.total.limit),
                measures: policy.total.measures,
                check: policy.total.check,
            },
            retries_on: policy.retries_on.known().copied(),
            methods: policy.methods.known(),
            idempotent: policy.idempotent.known().copied().flatten(),
            budget: budget(in_force(&policy.budget, row.upstream.map(|upstream| &upstream.budget))),
            breaker: breaker(in_force(&policy.breaker, row.upstream.map(|upstream| &upstream.breaker))),
            hedging: policy.hedging.as_ref().map(|hedging| HedgingJson {
                copies: hedging.copies.known().copied(),
                delay_ms: hedging.delay.known().map(|delay| delay.as_millis_f64()),
                counts_as_try: hedging.counts_as_try,
            }),
            observed: policy.observed.known().copied(),
            exhausted: policy.exhausted,
            slowest_answer_ms: slowest(policy).map(Nanos::as_millis_f64),
            why: why(policy),
        })
    }
}

/// The policy's own limit, else that of its proxy for the callee.
fn in_force<'a, T>(own: &'a Sourced<Limit<T>>, upstream: Option<&'a Sourced<Limit<T>>>) -> &'a Sourced<Limit<T>> {
    if own.limit().is_some() { own } else { upstream.unwrap_or(own) }
}

/// Integers that not every JSON reader keeps whole become text (contracts.md D-19).
fn count(n: u64) -> Count {
    if n < 1 << 53 { Count::Number(n) } else { Count::Text(n.to_string()) }
}

fn attempts(policy: &Policy) -> AttemptsJson<'_> {
    let value = match policy.attempts.known() {
        Some(Attempts::Times(n)) => Some(count(*n)),
        Some(Attempts::Unbounded) => Some(Count::Word("unbounded")),
        Some(Attempts::ByTime) | None => None,
    };
    let OriginJson { origin, by } = OriginJson::of(&policy.attempts);
    AttemptsJson { value, origin, by }
}

fn backoff(policy: &Policy) -> BackoffJson<'_> {
    let backoff = &policy.backoff;
    let kind = match backoff.kind.known() {
        None => "unknown",
        Some(BackoffKind::None) => "none",
        Some(BackoffKind::Fixed) => "fixed",
        Some(BackoffKind::Linear) => "linear",
        Some(BackoffKind::Exponential) => "exponential",
        Some(BackoffKind::Fibonacci) => "fibonacci",
        Some(BackoffKind::Schedule(_)) => "schedule",
    };
    let grows = !matches!(kind, "none" | "schedule");
    let schedule_ms = match backoff.kind.known() {
        Some(BackoffKind::Schedule(delays)) => Some(delays.iter().map(|delay| delay.as_millis_f64()).collect()),
        _ => None,
    };
    BackoffJson {
        kind,
        base_ms: backoff.base.known().filter(|_| grows).map(|base| base.as_millis_f64()),
        factor: backoff.factor.known().copied().filter(|factor| kind == "exponential" && factor.is_finite()),
        cap_ms: backoff.cap.limit().filter(|_| grows).map(|cap| cap.as_millis_f64()),
        schedule_ms,
        origin: OriginJson::of(&backoff.kind),
    }
}

fn jitter(policy: &Policy) -> JitterJson<'_> {
    let jitter = policy.jitter.known();
    JitterJson {
        kind: jitter.map_or("unknown", |jitter| jitter.kind()),
        low: jitter.map(|jitter| jitter.low),
        high: jitter.map(|jitter| jitter.high),
        plus_ms: jitter.map(|jitter| jitter.plus.as_millis_f64()),
        origin: OriginJson::of(&policy.jitter),
    }
}

fn time(limit: &Sourced<Limit<Nanos>>) -> TimeJson<'_> {
    TimeJson { value_ms: limit.limit().map(|limit| limit.as_millis_f64()), origin: OriginJson::of(limit) }
}

fn budget(budget: &Sourced<Limit<Box<Budget>>>) -> Option<BudgetJson<'_>> {
    let known = budget.limit();
    if budget.is_none() {
        return None;
    }
    Some(BudgetJson {
        ratio: known.and_then(|budget| budget.ratio.known().copied()),
        floor: known.and_then(|budget| budget.floor.known().copied()),
        window_ms: known.and_then(|budget| budget.window.limit().map(|window| window.as_millis_f64())),
        base: known.map(|budget| budget.base),
        origin: OriginJson::of(budget),
    })
}

fn breaker(breaker: &Sourced<Limit<Box<Breaker>>>) -> Option<BreakerJson<'_>> {
    fn value<T: Copy>(of: Option<&Sourced<T>>) -> Option<T> {
        of.and_then(|value| value.known().copied())
    }
    let known = breaker.limit();
    if breaker.is_none() {
        return None;
    }
    Some(BreakerJson {
        ratio: value(known.and_then(|breaker| breaker.ratio.as_ref())),
        consecutive: value(known.and_then(|breaker| breaker.consecutive.as_ref())),
        minimum: value(known.and_then(|breaker| breaker.minimum.as_ref())),
        window_ms: value(known.and_then(|breaker| breaker.window.as_ref())).map(Nanos::as_millis_f64),
        open_ms: value(known.and_then(|breaker| breaker.open.as_ref())).map(Nanos::as_millis_f64),
        probes: value(known.and_then(|breaker| breaker.probes.as_ref())),
        max_ejection_percent: value(known.and_then(|breaker| breaker.max_ejection_percent.as_ref())),
        place: known.map(|breaker| breaker.place),
        origin: OriginJson::of(breaker),
    })
}

/// Why values are unknown, and where a written one is not in force.
fn why(policy: &Policy) -> Vec<String> {
    let mut why: Vec<String> = policy.unknowns().into_iter().map(ToString::to_string).collect();
    match &policy.attempt_timeout_flaw {
        Some(AttemptTimeoutFlaw::NotBelowTotal(total)) => {
            let total =
                total.limit().map_or_else(|| "the total timeout".to_string(), |limit| format!("the total of {limit}"));
            why.push(format!("the attempt timeout is not below {total} and is ignored"));
        }
        Some(AttemptTimeoutFlaw::NeverRetried { add, .. }) => {
            why.push(format!("a try that the attempt timeout cuts is not retried: `{add}` is missing"));
        }
        None => {}
    }
    why
}
