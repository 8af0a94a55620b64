use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::facts::{
    AttemptTimeoutFlaw, Budget, BudgetBase, Dialect, Evidence, Floor, Host, Jitter, Position, ServiceRef, Why,
};
use crate::graph::fixtures::Tree;
use crate::limits::Limits;
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
fn the_first_delay_is_the_first_that_is_waited() {
    let sources = sources();
    let mut skipping = route(&sources);
    skipping.backoff.base.value = crate::facts::Value::Known(Nanos::from_millis(10));
    skipping.backoff.factor.value = crate::facts::Value::Known(10.0);
    skipping.backoff.cap.value = crate::facts::Value::Known(Limit::None);
    assert_eq!(delay(&skipping.backoff), "10 ms ×10");
    skipping.backoff.skip = 1;
    assert_eq!(delay(&skipping.backoff), "100 ms ×10");
    let facts = Facts { policies: vec![skipping.clone()], ..Facts::default() };
    assert_eq!(parse(&facts, &sources)[0]["backoff"]["base_ms"], 100.0);
    skipping.backoff.kind.value = crate::facts::Value::Known(BackoffKind::Linear);
    assert_eq!(delay(&skipping.backoff), "20 ms +10 ms");
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
place       call            layer           tries  delay               jitter  attempt  total  retries on          source
a␛b.yaml:1  (mesh) → ?      client-sidecar      3  none                –           2 s   10 s  no connection, 503  envoy default
a␛b.yaml:1  web → payments  client-sidecar      3  25 ms ×2 to 250 ms  full        2 s   10 s  no connection, 503  istio␇
"
    );
}

#[test]
fn a_row_says_what_is_hedged_and_what_is_retried_in_few_words() {
    let sources = sources();
    let mut hedged = route(&sources);
    hedged.attempts = Sourced::written(Attempts::Times(1), hedged.span);
    let (copies, delay) = (Sourced::written(1, hedged.span), Sourced::written(Nanos::from_millis(50), hedged.span));
    hedged.hedging = Some(Box::new(crate::facts::Hedging { copies, delay, counts_as_try: false }));
    hedged.retries_on = Sourced::written(Classes::ASSUMED.or(Classes::HTTP), hedged.span);
    let facts = Facts { policies: vec![hedged], ..Facts::default() };
    let shown = table(&facts, &[], &sources, false, Look { colour: false, width: 400 });
    assert!(shown.contains("  1, ×2 hedged  "), "{shown}");
    // 5xx, connections, timeouts, 4xx, UNAVAILABLE and open breakers: six, of which two are shown.
    assert!(shown.contains("  5xx, connections and 4 more  "), "{shown}");
    assert_eq!(parse(&facts, &sources)[0]["hedging"], json!({ "copies": 1, "delay_ms": 50.0, "counts_as_try": false }));
    assert_eq!(parse(&facts, &sources)[0]["retries_on"].as_array().unwrap().len(), 12);
}

#[test]
fn a_narrow_terminal_gets_a_paragraph_for_each_policy() {
    let sources = sources();
    let facts = Facts { policies: vec![route(&sources)], ..Facts::default() };
    let at = |width| table(&facts, &[], &sources, false, Look { colour: false, width });
    assert_eq!(
        at(60),
        "\
mesh/é.yaml:2  web → payments
  layer client-sidecar · tries 3 · delay 25 ms ×2 to 250 ms
  jitter full · attempt 2 s · total 10 s
  retries on no connection, 503 · source envoy

"
    );
    assert!(at(140).lines().all(|line| text::width(line) <= 140));
    assert!(at(140).starts_with("place "));
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

#[test]
fn what_another_file_says_of_the_callee_is_in_force_where_the_policy_says_nothing() {
    let mut tree = Tree::default();
    tree.call("web", "payments");
    tree.gateway("payments", 3);
    let own = tree.gateway("ledger", 3);
    own.budget = budget_of(0.1);
    tree.upstream("cds.yaml", Dialect::Envoy, Caller::Unknown(Why::Other("a proxy".into())), "payments").budget =
        budget_of(0.2);
    tree.upstream("cds.yaml", Dialect::Envoy, Caller::Unknown(Why::Other("a proxy".into())), "ledger").budget =
        budget_of(0.3);
    // A sidecar of nobody known is a gateway.
    for policy in &mut tree.facts.policies {
        policy.position = Position::ClientSidecar;
    }
    let limits = Limits::default();
    let systems = [System::new(&tree.facts, &limits, tree.link())];
    let rows = rows(&tree.facts, &systems, false);
    let said: Vec<_> = rows
        .iter()
        .map(|row| (row.position, row.upstream.and_then(|upstream| upstream.budget.limit()?.ratio.known().copied())))
        .collect();
    assert_eq!(said, [(Position::Gateway, Some(0.2)), (Position::Gateway, Some(0.3))]);
    let names: Vec<&str> = tree.facts.files.iter().map(|file| &*file.path).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (*name, "x: 1 2 3 4 5 6 7 8 9")).collect();
    let sources = examples::sources(&files);
    let all: Value = serde_json::from_str(&json(&tree.facts, &systems, &sources, false)).unwrap();
    let ratios: Vec<_> = [0, 1].map(|at| all["policies"][at]["budget"]["ratio"].clone()).into();
    assert_eq!(ratios, [0.2, 0.1]);
}

fn budget_of(ratio: f64) -> Sourced<Limit<Box<Budget>>> {
    let at = Span::new(crate::source::FileId(0), 0..0);
    let budget = Budget {
        ratio: Sourced::written(ratio, at),
        floor: Sourced::written(Floor::InFlight(3), at),
        window: Sourced::written(Limit::None, at),
        base: BudgetBase::All,
    };
    Sourced::written(Limit::At(budget), at).boxed()
}
