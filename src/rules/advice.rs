//! What to write instead, in the dialect at hand, as text that can be pasted; and the words that rules share.

use super::findings::{Draft, Findings};
use super::notation;
use super::view::nest_of;
use crate::facts::{Attempts, Dialect, Facts, Floor, Policy, Position, words};
use crate::graph::budgets::budget_of;
use crate::graph::{Edge, Part, System};
use crate::source::Span;

/// The share of requests that suggested budgets allow as retries.
pub(super) const BUDGET: f64 = 0.2;

/// Text to be pasted into the policy's file, given as YAML on one line.
pub(super) fn code(policy: &Policy, yaml: &str) -> String {
    format!("`{}`", notation::write(yaml, policy.notation))
}

/// How to make a policy retry no more.
pub(super) fn retry_off(policy: &Policy) -> String {
    match policy.dialect {
        Dialect::Istio => code(policy, "retries: { attempts: 0 }"),
        Dialect::Envoy => code(policy, "num_retries: 0"),
        Dialect::Dotnet => "no retry strategy".to_owned(),
        Dialect::Manifest => code(policy, "retry: { attempts: 1 }"),
        Dialect::Generic | Dialect::Code => "no retry".to_owned(),
    }
}

/// How to give a policy this many tries.
pub(super) fn tries(policy: &Policy, tries: u64) -> String {
    let retries = tries.saturating_sub(1);
    match policy.dialect {
        Dialect::Istio => code(policy, &format!("attempts: {retries}")),
        Dialect::Envoy => code(policy, &format!("num_retries: {retries}")),
        Dialect::Dotnet => format!("`\"MaxRetryAttempts\": {retries}`"),
        Dialect::Manifest => code(policy, &format!("attempts: {tries}")),
        Dialect::Generic | Dialect::Code => format!("at most {}", words::tries(tries)),
    }
}

/// How to give the retries towards a callee a budget of [`BUDGET`]: what to write and where; none if the dialect has no such
/// thing.
pub(super) fn budget(policy: &Policy, callee: &str) -> Option<(String, String)> {
    Some(match policy.dialect {
        Dialect::Envoy => {
            let budget = code(policy, "retry_budget: { budget_percent: { value: 20 } }");
            (budget, format!("on cluster `{callee}`"))
        }
        Dialect::Istio => {
            let budget = code(policy, "trafficPolicy: { retryBudget: { percent: 20 } }");
            (budget, format!("in a DestinationRule for `{callee}`"))
        }
        Dialect::Manifest => {
            let budget = code(policy, &format!("budget: {{ ratio: {BUDGET} }}"));
            (budget, format!("on the call to `{callee}`"))
        }
        Dialect::Dotnet | Dialect::Generic | Dialect::Code => return None,
    })
}

/// What [`budget`] leaves of a policy's tries, by the arithmetic of its proxy (contracts.md D-13).
pub(super) fn budget_leaves(policy: &Policy, tries: f64) -> f64 {
    let bound = match policy.dialect {
        // Envoy counts retries among what is in flight, themselves included.
        Dialect::Envoy | Dialect::Istio => 1.0 / (1.0 - BUDGET),
        _ => 1.0 + BUDGET,
    };
    tries.min(bound)
}

/// How to put a breaker in front of a callee.
pub(super) fn breaker(policy: &Policy, callee: &str) -> String {
    match policy.dialect {
        Dialect::Envoy => {
            let ejection = code(policy, "outlier_detection: { max_ejection_percent: 50 }");
            format!("eject hosts that fail: {ejection} on cluster `{callee}`")
        }
        Dialect::Istio => {
            let ejection = code(
                policy,
                "trafficPolicy: { outlierDetection: { consecutive5xxErrors: 5, maxEjectionPercent: 50 } }",
            );
            format!("eject hosts that fail: {ejection} in a DestinationRule for `{callee}`")
        }
        Dialect::Manifest => {
            let breaker = code(policy, "breaker: { ratio: 0.5, minimum: 20, open: 30s }");
            format!("declare the breaker that stands there, for example {breaker} on the call to `{callee}`")
        }
        Dialect::Dotnet | Dialect::Generic | Dialect::Code => {
            format!("put a circuit breaker inside the retry, so that it counts every try to `{callee}`")
        }
    }
}

/// A policy's tries as a label says them: `two retries, three tries`; a default says whose.
pub(super) fn layer(policy: &Policy) -> String {
    match policy.attempts.default_by() {
        Some(by) => format!("{by}'s default: {}", tries_in_words(policy)),
        None => tries_in_words(policy),
    }
}

/// A policy's tries, whoever set them: `two retries, three tries`.
pub(super) fn tries_in_words(policy: &Policy) -> String {
    let tries = plain_tries_in_words(policy);
    match policy.hedged_in_words() {
        // Copies are sent for a slow try, whether or not anything is retried.
        Some(hedged) if policy.tries() == Some(1) => format!("one try {hedged}"),
        Some(hedged) => format!("{tries}, each {hedged}"),
        None => tries,
    }
}

fn plain_tries_in_words(policy: &Policy) -> String {
    match policy.attempts.known() {
        Some(Attempts::Times(n)) => format!("{}, {}", words::retries(n.saturating_sub(1)), words::tries(*n)),
        Some(Attempts::Unbounded) => "retries without end".to_owned(),
        Some(Attempts::ByTime) => match policy.total.limit.limit() {
            Some(limit) => format!("retries for {limit}"),
            None => "retries until its time is up".to_owned(),
        },
        None => match policy.attempts.why() {
            Some(why) => format!("an unknown number of tries ({why})"),
            None => "an unknown number of tries".to_owned(),
        },
    }
}

/// Where a layer stands, in a sentence.
pub(super) fn place(position: Position) -> &'static str {
    match position {
        Position::CallerCode => "in the caller's code",
        Position::ClientSidecar => "in the caller's sidecar",
        Position::EgressGateway => "at the egress gateway",
        Position::Gateway => "at the gateway",
        Position::ServerSidecar => "in the callee's sidecar",
        Position::CalleeInbound => "in the callee's own server",
        Position::Broker => "in the broker",
        Position::Consumer => "in the consumer",
        Position::Job => "in the job runner",
        Position::Workflow => "in the workflow engine",
    }
}

/// Where a value of a policy is to be mended.
pub(super) fn site(policy: &Policy, value: Option<Span>) -> Span {
    policy.place_of(value)
}

/// A finding about a place in code: on that place if it stands in the policy's own construct, else on the construct, which is
/// then `construct`, with the place beside it.
pub(super) fn report_in_code<'f>(
    findings: &'f mut Findings,
    policy: &Policy,
    (at, place): (Span, &str),
    construct: &str,
    message: String,
) -> &'f mut Draft {
    let site = site(policy, Some(at));
    let draft = findings.report(site, message);
    if site == at { draft.label(place) } else { draft.label(construct).related(at, place) }
}

/// What the budget over a part lets through besides its share, where that is in no figure (contracts.md D-13): `its floor of
/// 10/s per instance`. `rate`: that of the caller; with it, a floor per second counts.
pub(super) fn floor(system: &System, edge: &Edge, part: &Part, rate: Option<f64>) -> Option<String> {
    part.bound?;
    let upstream = nest_of(edge, part.policy)?.upstream.and_then(|at| system.facts.upstreams.get(at as usize));
    match *budget_of(system.facts.policy(part.policy)?, upstream)?.floor.known()? {
        Floor::PerSecond(floor) if floor > 0.0 && rate.is_none() => {
            Some(format!("its floor of {}/s per instance", words::factor(floor)))
        }
        Floor::InFlight(floor) if floor > 0 => Some(format!("its floor of {} in flight", words::retries(floor))),
        _ => None,
    }
}

/// The path of the file that a span lies in.
pub(super) fn path(facts: &Facts, span: Span) -> &str {
    facts.file(span.file).map_or("", |file| &*file.path)
}
