use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::facts::{
    AttemptTimeoutFlaw, Budget, BudgetBase, Dialect, Evidence, Floor, Host, Jitter, Position, ServiceRef, Why,
};
use crate::report::examples;
use crate::source::Span;

fn service(name: &str) -> ServiceRef {
    let host = Host::Name { name: name.into(), namespace: None };
    ServiceRef { host, from_namespace: None, evidence: Evidence::Written, at: None }
}

/// An Envoy route of `web` to `payments`: three tries, 25 ms doubling to 250 ms with full jitter, 2 s each, 10 s in all.
fn route(sources: &Sources) -> Policy {
    let at = |text: &str| examples::span(sources, text);
    let mut policy = Policy::new(Dialect::Envoy, "envoy", "Envoy", at("retry_policy: {"), "route /pay");
    policy.position = Position::ClientSidecar;
    policy.caller = Caller::Service(service("web"));
    policy.callee = Callee::Service { service: service("payments"), hosts: Vec::new() };
    policy.attempts = Sourced::written(Attempts::Times(3), at("2"));
    policy.backoff.kind = Sourced::default_of(BackoffKind::Exponential, "Envoy", "retry_back_off");
    policy.backoff.base = Sourced::default_of(Nanos::from_millis(25), "Envoy", "retry_back_off");
    policy.backoff.factor = Sourced::default_of(2.0, "Envoy", "retry_back_off");
    policy.backoff.cap = Sourced::default_of(Limit::At(Nanos::from_millis(250)), "Envoy", "retry_back_off");
    policy.jitter = Sourced::default_of(Jitter::FULL, "Envoy", "retry_back_off");
    policy.attempt_timeout = Sourced::written(Limit::At(Nanos::from_secs(2)), at("2"));
    policy.total.limit = Sourced::written(Limit::At(Nanos::from_secs(10)), at("2"));
    policy.retries_on =
        Sourced::written(Classes::of(&[crate::facts::Class::Connect, crate::facts::Class::Overload]), at("2"));
    policy
}

fn sources() -> Sources {
    examples::sources(&[("a.yaml", "x: 1\n"), ("mesh/é.yaml", "# é\nretry_policy: { num_retries: 2 }\n")])
}

fn parse(facts: &Facts, sources: &Sources) -> Vec<Value> {
    let all: Value = serde_json::from_str(&json(facts, &[], sources, false)).unwrap();
    assert_eq!(all["version"], 1);
    all["policies"].as_array().unwrap().clone()
}

#[test]
fn json_has_the_shape_that_programs_build_on() {
    let sources = sources();
    let facts = Facts { policies: vec![route(&sources)], ..Facts::default() };
    let all = parse(&facts, &sources);
    assert_eq!(
        all[0],
        json!({
            "id": 0, "path": "mesh/é.yaml", "start": 5, "end": 20, "line": 2, "column": 1, "end_line": 2,
            "end_column": 16, "kind": "config", "source": "envoy", "name": "route /pay", "layer": "client-sidecar",
            "position": "client-sidecar", "environment": null, "test_code": false, "confidence": "high",
            "caller": "web", "callee": "payments", "protocol": null,
            "attempts": { "value": 3, "origin": "written", "by": null }, "bounded_by": null,
            "backoff": {
                "kind": "exponential", "base_ms": 25.0, "factor": 2.0, "cap_ms": 250.0, "origin": "default", "by": "Envoy"
            },
            "jitter": { "kind": "full", "low": 0.0, "high": 1.0, "plus_ms": 0.0, "origin": "default", "by": "Envoy" },
            "attempt_timeout": { "value_ms": 2000.0, "origin": "written" },
            "total_timeout": { "value_ms": 10000.0, "origin": "written", "measures": "wall", "check": "cuts" },
            "retries_on": ["connect", "overload"], "methods": "any", "idempotent": null, "budget": null,
            "breaker": null, "hedging": null, "observed": false, "exhausted": "error",
            // 3 × 2 s + 25 ms + 50 ms
            "slowest_answer_ms": 6075.0, "why": []
        })
    );
}

#[test]
fn no_limit_and_not_told_differ() {
    let sources = sources();
    let mut policy = route(&sources);
    let at = policy.span;
    policy.attempts = Sourced::unknown(Why::Environment("RETRIES".into()), at);
    policy.total.limit = Sourced::written(Limit::None, at);
    policy.attempt_timeout = Sourced::unknown(Why::Template("{{ .t }}".into()), at);
    policy.retries_on = Sourced::unknown(Why::Other("a plug-in decides".into()), at);
    let facts = Facts { policies: vec![policy], ..Facts::default() };
    let one = &parse(&facts, &sources)[0];
    assert_eq!(one["attempts"], json!({ "value": null, "origin": "unknown", "by": null }));
    assert_eq!(one["total_timeout"]["value_ms"], Value::Null);
    assert_eq!(one["total_timeout"]["origin"], "written");
    assert_eq!(one["attempt_timeout"], json!({ "value_ms": null, "origin": "unknown" }));
    assert_eq!(one["retries_on"], Value::Null);
    assert_eq!(one["slowest_answer_ms"], Value::Null);
    assert_eq!(one["why"], json!(["environment variable RETRIES", "a plug-in decides", "template `{{ .t }}`"]));
}

#[test]
fn endless_huge_and_timed_counts_are_told_apart() {
    let sources = sources();
    let with = |attempts: Attempts| {
        let mut policy = route(&sources);
        policy.attempts = Sourced::written(attempts, policy.span);
        policy
    };
    let policies =
        vec![with(Attempts::Unbounded), with(Attempts::ByTime), with(Attempts::Times(9_007_199_254_740_992))];
    let facts = Facts { policies, ..Facts::default() };
    let all = parse(&facts, &sources);
    assert_eq!(all[0]["attempts"]["value"], "unbounded");
    assert_eq!((&all[1]["attempts"]["value"], &all[1]["bounded_by"]), (&Value::Null, &json!("time")));
    assert_eq!(all[2]["attempts"]["value"], "9007199254740992");
    assert_eq!(all[0]["slowest_answer_ms"], 10_000.0);
}

#[test]
fn an_ignored_attempt_timeout_is_shown_as_written_and_not_counted() {
    let sources = sources();
    let mut policy = route(&sources);
    let total = policy.total.limit.clone();
    policy.attempt_timeout = Sourced::written(Limit::At(Nanos::from_secs(20)), policy.span);
    policy.attempt_timeout_flaw = Some(AttemptTimeoutFlaw::NotBelowTotal(total));
    let facts = Facts { policies: vec![policy], ..Facts::default() };
    let one = &parse(&facts, &sources)[0];
    assert_eq!(one["attempt_timeout"]["value_ms"], 20_000.0);
    assert_eq!(one["slowest_answer_ms"], 10_000.0);
    assert_eq!(one["why"], json!(["the attempt timeout is not below the total of 10 s and is ignored"]));
}

#[test]
fn budgets_are_shown_with_their_parts() {
    let sources = sources();
    let mut policy = route(&sources);
    let at = policy.span;
    policy.budget = Sourced::written(
        Limit::At(Budget {
            ratio: Sourced::written(0.2, at),
            floor: Sourced::written(Floor::PerSecond(3.0), at),
            window: Sourced::written(Limit::At(Nanos::from_secs(10)), at),
            base: BudgetBase::Originals,
        }),
        at,
    )
    .boxed();
    let facts = Facts { policies: vec![policy], ..Facts::default() };
    assert_eq!(
        parse(&facts, &sources)[0]["budget"],
        json!({
            "ratio": 0.2, "floor": { "per-second": 3.0 }, "window_ms": 10000.0, "base": "originals", "origin": "written"
        })
    );
}

#[test]
fn rows_are_sorted_by_place_and_leave_out_tests_and_time_limits() {
    let sources = sources();
    let late = route(&sources);
    let mut early = route(&sources);
    early.span = examples::span(&sources, "x");
    let mut test = route(&sources);
    test.test_code = true;
    let mut limit = route(&sources);
    limit.kind = PolicyKind::TimeLimit;
    let facts = Facts { policies: vec![late, early, test, limit], ..Facts::default() };
    let ids: Vec<u64> = parse(&facts, &sources).iter().map(|one| one["id"].as_u64().unwrap()).collect();
    assert_eq!(ids, [1, 0]);
    assert_eq!(rows(&facts, &[], true).len(), 3);
}

#[test]
fn the_table_is_aligned_and_clean() {
    let sources = examples::sources(&[("a\u{1b}b.yaml", "retry_policy: { num_retries: 2 }\n")]);
    let mut policy = route(&sources);
    policy.caller = Caller::Members { namespace: None, labels: Vec::new() };
    policy.callee = Callee::Unknown(Why::Other("x".into()));
    policy.backoff.kind = Sourced::default_of(BackoffKind::None, "x", "y");
    policy.kind = PolicyKind::Default;
    policy.attempts = Sourced::default_of(Attempts::Times(3), "Istio 1.31", "attempts");
    let mut named = route(&sources);
    named.source = "istio\u{7}".into();
    let facts = Facts { policies: vec![policy, named], ..Facts::default() };
    assert_eq!(
        table(&facts, &[], &sources, false, Look { colour: false, width: 400 }),
        "\
place       call            layer           tries  delay               jitter  attempt  total  retries on        source
a␛b.yaml:1  (mesh) → ?      client-sidecar      3  none                –           2 s   10 s  connect,overload  envoy default
a␛b.yaml:1  web → payments  client-sidecar      3  25 ms ×2 to 250 ms  full        2 s   10 s  connect,overload  istio␇
"
    );
}

#[test]
fn a_file_that_is_not_at_hand_is_no_row() {
    let sources = sources();
    let mut policy = route(&sources);
    policy.span = Span::new(crate::source::FileId(9), 0..1);
    policy.name = Arc::from("");
    let facts = Facts { policies: vec![policy], ..Facts::default() };
    assert!(parse(&facts, &sources).is_empty());
}
