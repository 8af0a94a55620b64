//! `policies --format json`: its shape is part of the interface (the usage page and contracts.md D-19).

use serde::Serialize;

use super::{Row, rows};
#[cfg(test)]
use crate::facts::Position;
use crate::facts::{
    AttemptTimeoutFlaw, Attempts, BackoffKind, Breaker, Budget, Classes, Confidence, Exhausted, Facts, Floor, Limit,
    Measures, Methods, Nanos, Origin, Place, Policy, PolicyKind, Protocol, Sourced,
};
use crate::graph::System;
use crate::graph::slowest::slowest;
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

/// Every retry policy with its effective values. Fields are added in later versions, never changed or taken away: ignore what you do
/// not know. Times are in milliseconds and may be fractional.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::report) struct Document<'a> {
    /// Version of this format.
    #[cfg_attr(test, schemars(extend("const" = VERSION)))]
    version: u32,
    /// By path and position.
    policies: Vec<PolicyJson<'a>>,
}

/// A retry policy with what is in force. Its place is where it is written.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PolicyJson<'a> {
    /// What `graph --format json` calls it in the same run.
    id: u32,
    #[serde(flatten)]
    place: json::Place<'a>,
    /// A loop written by hand, a library's policy, configuration, or a default that no file states.
    kind: PolicyKind,
    /// `envoy`, `istio`, `backon`, `hand-written` …
    source: &'a str,
    /// What it is called, if it is called anything.
    name: Option<&'a str>,
    /// The coarse form of `position`.
    #[cfg_attr(test, schemars(extend("enum" = Position::ALL.map(Position::layer).into_iter().collect::<std::collections::BTreeSet<_>>())))]
    layer: &'static str,
    /// Where it stands on the way from caller to callee. Two policies multiply only at different positions, or where one
    /// encloses the other.
    #[cfg_attr(test, schemars(extend("enum" = Position::ALL.map(Position::name))))]
    position: &'static str,
    /// The environment that it belongs to.
    environment: Option<&'a str>,
    /// Whether it stands in test code.
    test_code: bool,
    /// How sure the reader is.
    confidence: Confidence,
    /// Null if it is not known.
    caller: Option<&'a str>,
    /// Null if it is not known.
    callee: Option<&'a str>,
    /// What the call is spoken in, where that is known.
    protocol: Option<Protocol>,
    /// Total tries, the first included.
    attempts: AttemptsJson<'a>,
    /// What ends the tries where their number does not.
    #[cfg_attr(test, schemars(extend("enum" = ["time", null])))]
    bounded_by: Option<&'static str>,
    /// How delays between tries grow.
    backoff: BackoffJson<'a>,
    /// The random part: a delay d becomes anything from low·d to high·d + plus.
    jitter: JitterJson<'a>,
    /// The limit of one try as it is written, also where a proxy ignores it: `why` says so.
    attempt_timeout: TimeJson<'a>,
    /// The limit of all tries together.
    total_timeout: TotalJson<'a>,
    /// Which failures are tried again; null if it is unknown.
    retries_on: Option<Classes>,
    /// Which HTTP methods are retried; null if it is unknown.
    methods: Option<&'a Methods>,
    /// Whether the operation is declared idempotent, or a key makes it so; null if nothing says.
    idempotent: Option<bool>,
    /// The share of traffic that may be retries; null if there is none.
    budget: Option<BudgetJson<'a>>,
    /// A circuit breaker or outlier detection; null if there is none.
    breaker: Option<BreakerJson<'a>>,
    /// Copies sent without waiting for a failure; null if there are none.
    hedging: Option<HedgingJson>,
    /// Whether a retry is logged or counted; null if it is unknown.
    observed: Option<bool>,
    /// What happens when all tries are used up.
    exhausted: Exhausted,
    /// The longest that all tries can take, by what is in force; null if nothing bounds it.
    #[cfg_attr(test, schemars(range(min = 0)))]
    slowest_answer_ms: Option<f64>,
    /// Why values are unknown, and where a written one is not in force.
    why: Vec<String>,
}

/// What `origin` can be.
#[cfg(test)]
const ORIGINS: [&str; 4] = ["written", "default", "derived", "unknown"];

/// Where a value comes from: an unknown one has no other origin.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OriginJson<'a> {
    /// With `unknown`, null means that it could not be told; with the others, that there is none.
    #[cfg_attr(test, schemars(extend("enum" = ORIGINS)))]
    origin: &'static str,
    /// Whose default it is; only with the origin `default`.
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

/// A number of tries.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum Count {
    Number(u64),
    Word(#[cfg_attr(test, schemars(extend("const" = "unbounded")))] &'static str),
    Text(#[cfg_attr(test, schemars(regex(pattern = "^[0-9]{16,}$")))] String),
}

/// A number of tries, and where it comes from.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct AttemptsJson<'a> {
    /// Digits as text from 2^53 on. Null if it is unknown or, see `bounded_by`, bounded by time alone.
    value: Option<Count>,
    /// Where it comes from.
    #[cfg_attr(test, schemars(extend("enum" = ORIGINS)))]
    origin: &'static str,
    /// Whose default it is. Here also where it is none: programs ask for it first.
    by: Option<&'a str>,
}

/// How delays grow.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct BackoffJson<'a> {
    /// The shape.
    #[cfg_attr(test, schemars(extend("enum" = ["none", "fixed", "linear", "exponential", "fibonacci", "schedule", "unknown"])))]
    kind: &'static str,
    /// The first delay.
    #[cfg_attr(test, schemars(range(min = 0)))]
    base_ms: Option<f64>,
    /// That of an exponential one.
    #[cfg_attr(test, schemars(range(min = 0)))]
    factor: Option<f64>,
    /// The largest delay.
    #[cfg_attr(test, schemars(range(min = 0)))]
    cap_ms: Option<f64>,
    /// The delays of a schedule.
    #[serde(skip_serializing_if = "Option::is_none")]
    schedule_ms: Option<Vec<f64>>,
    #[serde(flatten)]
    origin: OriginJson<'a>,
}

/// How delays are spread.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct JitterJson<'a> {
    /// What such a spread is called.
    #[cfg_attr(test, schemars(extend("enum" = ["none", "additive", "proportional", "equal", "full", "decorrelated", "unknown"])))]
    kind: &'static str,
    /// Factor of the least delay.
    low: Option<f64>,
    /// Factor of the greatest delay.
    #[cfg_attr(test, schemars(range(min = 0)))]
    high: Option<f64>,
    /// Added to the greatest delay.
    #[cfg_attr(test, schemars(range(min = 0)))]
    plus_ms: Option<f64>,
    #[serde(flatten)]
    origin: OriginJson<'a>,
}

/// A limit of time; null if there is none.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct TimeJson<'a> {
    /// The limit.
    #[cfg_attr(test, schemars(range(min = 0)))]
    value_ms: Option<f64>,
    #[serde(flatten)]
    origin: OriginJson<'a>,
}

/// A limit of time of all tries together; null if there is none.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct TotalJson<'a> {
    #[serde(flatten)]
    time: TimeJson<'a>,
    /// What it measures.
    measures: Measures,
    /// Whether it cuts a running try.
    check: crate::facts::Check,
}

/// The share of traffic that may be retries.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct BudgetJson<'a> {
    /// The share, as a fraction.
    #[cfg_attr(test, schemars(range(min = 0)))]
    ratio: Option<f64>,
    /// Retries that are always allowed, for each instance.
    floor: Option<Floor>,
    /// What it is counted over.
    #[cfg_attr(test, schemars(range(min = 0)))]
    window_ms: Option<f64>,
    /// What the share is of.
    base: Option<crate::facts::BudgetBase>,
    #[serde(flatten)]
    origin: OriginJson<'a>,
}

/// A circuit breaker or outlier detection.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct BreakerJson<'a> {
    /// The share of failures that opens it.
    #[cfg_attr(test, schemars(range(min = 0)))]
    ratio: Option<f64>,
    /// Failures in a row that open it.
    consecutive: Option<u64>,
    /// Requests before the share counts.
    minimum: Option<u64>,
    /// The window that it looks at.
    #[cfg_attr(test, schemars(range(min = 0)))]
    window_ms: Option<f64>,
    /// How long it stays open.
    #[cfg_attr(test, schemars(range(min = 0)))]
    open_ms: Option<f64>,
    /// Requests let through to try whether it can close.
    probes: Option<u64>,
    /// The share of hosts that may be ejected.
    #[cfg_attr(test, schemars(range(min = 0)))]
    max_ejection_percent: Option<f64>,
    /// Inside the retries it counts tries, outside whole sequences.
    place: Option<Place>,
    #[serde(flatten)]
    origin: OriginJson<'a>,
}

/// Copies that are sent without waiting for a failure.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct HedgingJson {
    /// Beyond the first.
    copies: Option<u64>,
    /// How long is waited before one is sent.
    #[cfg_attr(test, schemars(range(min = 0)))]
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
            slowest_answer_ms: slowest(policy, call.and_then(|call| call.protocol).unwrap_or(Protocol::Http))
                .map(Nanos::as_millis_f64),
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
        base_ms: backoff.first().filter(|_| grows).map(|base| base.as_millis_f64()),
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
