//! Pools, budgets and outlier detection of a destination.

use super::*;
use crate::facts::{Breaker, Budget, BudgetBase, Floor, Limit, Place, PolicyKind, Position, Upstream, Why};

fn text(spec: &str) -> String {
    let spec: String = spec.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {{ name: ledger, namespace: bank }}\nspec:\n{spec}"
    )
}

fn upstream(spec: &str) -> Upstream {
    let facts = facts(&text(spec));
    assert_eq!(facts.policies, [], "a DestinationRule retries nothing");
    let [upstream] = facts.upstreams.as_slice() else { panic!("{:?}", facts.upstreams) };
    upstream.clone()
}

fn at_limit<T: Clone>(value: &Sourced<Limit<T>>) -> T {
    value.limit().unwrap().clone()
}

#[test]
fn nothing_written_is_known_to_be_unlimited() {
    let upstream = upstream("host: ledger");
    assert_eq!(upstream.callee.host, service("ledger", Some("bank")));
    assert_eq!((upstream.position, upstream.caller.clone()), (Position::ClientSidecar, everyone()));
    assert!(upstream.budget.is_none() && upstream.breaker.is_none() && upstream.max_connections.is_none());
    // Envoy's own cap of three parallel retries is lifted.
    assert!(upstream.retry_cap.is_none() && is_default(&upstream.retry_cap, "Istio"));
    assert_eq!(known(&upstream.connect_timeout), Limit::At(ms(10_000)));
}

#[test]
fn max_retries_caps_parallel_retries_and_counts_none() {
    let spec = "host: ledger\ntrafficPolicy:\n  connectionPool:\n    tcp: { maxConnections: 99, connectTimeout: 6s }\n    \
                http: { maxRetries: 4 }";
    let upstream = upstream(spec);
    assert_eq!(at_limit(&upstream.retry_cap), 4);
    assert_eq!(at(&text(spec), &upstream.retry_cap), "4");
    assert_eq!(at_limit(&upstream.max_connections), 99);
    assert_eq!(at_limit(&upstream.connect_timeout), ms(6000));
}

#[test]
fn max_retries_zero_is_unset() {
    let text = text("host: ledger\ntrafficPolicy: { connectionPool: { http: { maxRetries: 0 } } }");
    let facts = facts(&text);
    let (found, under) = only_ineffective(&text, &facts);
    assert_eq!((under, found.rejected), ("0", false));
    assert_eq!(
        found.message,
        "`maxRetries: 0` caps nothing: Istio takes 0 for unset, and parallel retries stay unlimited"
    );
    assert!(facts.upstreams[0].retry_cap.is_none());
    // What the finding stands on is no policy of anyone.
    assert_eq!(facts.policies[0].kind, PolicyKind::TimeLimit);
    assert!(!facts.policies[0].may_retry() && matches!(facts.policies[0].callee, Callee::Unknown(_)));
}

#[test]
fn a_retry_budget_is_a_share_of_requests_in_flight() {
    let budget = at_limit(
        &upstream("host: ledger\ntrafficPolicy: { retryBudget: { percent: 12.5, minRetryConcurrency: 7 } }").budget,
    );
    let Budget { ratio, floor, window, base } = *budget;
    assert_eq!((known(&ratio), known(&floor), base), (0.125, Floor::InFlight(7), BudgetBase::InFlight));
    assert!(window.is_none());
    let budget = at_limit(&upstream("host: ledger\ntrafficPolicy: { retryBudget: {} }").budget);
    assert_eq!((known(&budget.ratio), known(&budget.floor)), (0.2, Floor::InFlight(3)));
    assert!(!budget.ratio.is_written());
}

#[test]
fn a_budget_without_percent_was_next_to_nothing_before_1_30() {
    let text = text("host: ledger\ntrafficPolicy: { retryBudget: { minRetryConcurrency: 3 } }");
    let facts = facts_at("a.yaml", &text, (1, 28));
    assert_eq!(known(&at_limit(&facts.upstreams[0].budget).ratio), 0.002);
    assert_eq!(only_ineffective(&text, &facts).0.help, "`percent: 20`");
    let facts = facts_at("a.yaml", &text, (1, 26));
    assert!(facts.upstreams[0].budget.is_none());
    assert_eq!(
        only_ineffective(&text, &facts).0.message,
        "`retryBudget` bounds nothing: Istio 1.26 does not know it, 1.27 is the first"
    );
    assert_eq!(facts_at("a.yaml", &text, (1, 31)).policies, []);
}

#[test]
fn outlier_detection_has_its_defaults() {
    let breaker = at_limit(&upstream("host: ledger\ntrafficPolicy: { outlierDetection: {} }").breaker);
    let Breaker { ratio, consecutive, minimum, window, open, probes, max_ejection_percent, always_eject_one, place } =
        *breaker;
    assert_eq!((ratio, minimum, probes), (None, None, None));
    assert_eq!(known(&consecutive.unwrap()), 5);
    assert_eq!((known(&window.unwrap()), known(&open.unwrap())), (ms(10_000), ms(30_000)));
    // M-10: with 10 % and fewer than ten hosts nothing is ever ejected.
    assert_eq!((known(&max_ejection_percent.unwrap()), always_eject_one), (10.0, false));
    assert_eq!(place, Place::Inside);
}

#[test]
fn outlier_detection_says_what_it_counts() {
    let breaker = |written: &str| {
        upstream(&format!("host: ledger\ntrafficPolicy: {{ outlierDetection: {{ {written} }} }}")).breaker
    };
    let all =
        at_limit(&breaker("consecutive5xxErrors: 7, interval: 8ms, baseEjectionTime: 1m, maxEjectionPercent: 100"));
    assert_eq!(known(&all.consecutive.unwrap()), 7);
    assert_eq!((known(&all.window.unwrap()), known(&all.open.unwrap())), (ms(8), ms(60_000)));
    assert_eq!(known(&all.max_ejection_percent.unwrap()), 100.0);
    let gateway = at_limit(&breaker("consecutive5xxErrors: 0, consecutiveGatewayErrors: 3, maxEjectionPercent: 0"));
    assert_eq!(known(&gateway.consecutive.unwrap()), 3);
    assert_eq!(known(&gateway.max_ejection_percent.unwrap()), 10.0, "zero is unset");
    assert!(breaker("consecutive5xxErrors: 0").is_none(), "nothing is counted");
}

#[test]
fn consecutive_errors_is_no_longer_applied() {
    let text = text("host: ledger\ntrafficPolicy: { outlierDetection: { consecutiveErrors: 7 } }");
    let facts = facts(&text);
    let (found, under) = only_ineffective(&text, &facts);
    assert_eq!((under, &*found.help), ("consecutiveErrors", "`consecutive5xxErrors: 7`"));
    assert_eq!(known(at_limit(&facts.upstreams[0].breaker).consecutive.as_ref().unwrap()), 5);
}

#[test]
fn subsets_count_where_all_of_them_say_something() {
    let subset = |name: &str, cap: &str| {
        format!("\n- {{ name: {name}, trafficPolicy: {{ connectionPool: {{ http: {{ {cap} }} }} }} }}")
    };
    let both =
        upstream(&format!("host: ledger\nsubsets:{}{}", subset("v1", "maxRetries: 2"), subset("v2", "maxRetries: 5")));
    assert_eq!(at_limit(&both.retry_cap), 5, "the loosest");
    let one = upstream(&format!("host: ledger\nsubsets:{}\n- {{ name: v2 }}", subset("v1", "maxRetries: 2")));
    assert!(one.retry_cap.is_none());
    let top = "trafficPolicy: { connectionPool: { http: { maxRetries: 9 } } }";
    let top = upstream(&format!("host: ledger\n{top}\nsubsets:{}", subset("v1", "maxRetries: 2")));
    assert_eq!(at_limit(&top.retry_cap), 9);
}

#[test]
fn a_port_s_settings_drop_what_is_set_above() {
    let spec = "host: ledger\ntrafficPolicy:\n  outlierDetection: {}\n  retryBudget: { percent: 20 }\n  portLevelSettings:\n  \
                - port: { number: 8080 }\n    outlierDetection: { interval: 5s }\n";
    let text = text(spec);
    let facts = facts(&text);
    let (found, under) = only_ineffective(&text, &facts);
    assert_eq!(under, "8080");
    assert_eq!(found.message, "`retryBudget` set above does not hold for port 8080: its own settings replace it whole");
    assert!(facts.upstreams[0].budget.limit().is_some());
    // One mistake, however many ports make it; ports that lose something else are another.
    let ports =
        "- { port: { number: 1 } }\n  - { port: { number: 2 } }\n  - { port: { number: 3 }, outlierDetection: {} }";
    let spec = format!(
        "host: ledger\ntrafficPolicy:\n  outlierDetection: {{}}\n  retryBudget: {{ percent: 20 }}\n  portLevelSettings:\n  {ports}\n"
    );
    let facts = self::facts(&self::text(&spec));
    let all = facts.policies.iter().flat_map(|policy| &policy.ineffective);
    let messages: Vec<&str> = all.map(|one| &*one.message).collect();
    assert_eq!(
        messages,
        [
            "`outlierDetection` and `retryBudget` set above do not hold for ports 1 and 2: their own settings replace them whole",
            "`retryBudget` set above does not hold for port 3: its own settings replace it whole"
        ]
    );
    // All repeated, or nothing above: no trap.
    upstream(
        "host: ledger\ntrafficPolicy:\n  outlierDetection: {}\n  portLevelSettings:\n  - { port: { number: 1 }, outlierDetection: {} }",
    );
    let port = upstream(
        "host: ledger\ntrafficPolicy:\n  portLevelSettings:\n  - { port: { number: 1 }, outlierDetection: {} }",
    );
    assert!(port.breaker.limit().is_some(), "set for the only port");
}

#[test]
fn a_rule_of_another_namespace_is_for_its_own_callers() {
    let members = |namespace: Option<&str>| Caller::Members { namespace: namespace.map(Into::into), labels: vec![] };
    assert_eq!(upstream("host: ledger.bank.svc.cluster.local").caller, everyone());
    assert_eq!(upstream("host: cart.web.svc.cluster.local").caller, members(Some("bank")));
    assert_eq!(upstream("host: ledger\nexportTo: ['.']").caller, members(Some("bank")));
    let labelled = upstream("host: ledger\nworkloadSelector: { matchLabels: { app: cart } }").caller;
    assert_eq!(labelled, Caller::Members { namespace: None, labels: vec![("app".into(), "cart".into())] });
}

#[test]
fn a_wildcard_is_about_no_single_service() {
    assert_eq!(facts(&text("host: '*.bank.svc.cluster.local'\ntrafficPolicy: { outlierDetection: {} }")).upstreams, []);
}

#[test]
fn values_from_elsewhere_are_unknown() {
    let upstream = upstream(
        "host: ledger\ntrafficPolicy: { connectionPool: { http: { maxRetries: '${CAP}' } }, outlierDetection: { consecutive5xxErrors: '${N}' } }",
    );
    assert_eq!(upstream.retry_cap.why(), Some(&Why::Environment("CAP".into())));
    let breaker = at_limit(&upstream.breaker);
    assert_eq!(breaker.consecutive.unwrap().why(), Some(&Why::Environment("N".into())));
}

#[test]
fn a_rejected_rule_holds_nothing() {
    let text = text("host: ledger\ntrafficPolicy: { outlierDetection: { interval: 0s } }");
    let facts = facts(&text);
    let (found, under) = only_ineffective(&text, &facts);
    assert_eq!((under, found.rejected), ("0s", true));
    assert_eq!(
        found.message,
        "Istio rejects DestinationRule `ledger`: `interval: 0s` is below its least duration of 1 ms; Istio's own settings \
         stay in force"
    );
    assert_eq!(facts.upstreams, []);
}

#[test]
fn what_a_patch_leaves_out_holds_from_its_base() {
    let base = text(
        "host: ledger\ntrafficPolicy:\n  connectionPool: { tcp: { maxConnections: 50 } }\n  \
         outlierDetection: { consecutive5xxErrors: 3, interval: 5s }\n  retryBudget: { percent: 10 }",
    );
    let settled = |files: &[(&str, &str)]| {
        let mut all = Facts::default();
        for (path, text) in files {
            all.absorb(facts_at(path, text, (1, 31)));
        }
        crate::read::dialects::istio::finish(&mut all);
        all.upstreams
    };
    let patch =
        text("trafficPolicy: { outlierDetection: { interval: 9s }, connectionPool: { http: { maxRetries: 7 } } }");
    let all = settled(&[("overlays/prod/dr.yaml", &patch), ("base/dr.yaml", &base)]);
    let patched = &all[0];
    assert_eq!(patched.callee.host, service("ledger", Some("bank")));
    assert_eq!((at_limit(&patched.retry_cap), at_limit(&patched.max_connections)), (7, 50));
    assert_eq!(known(&at_limit(&patched.budget).ratio), 0.1);
    let breaker = at_limit(&patched.breaker);
    assert_eq!((known(&breaker.consecutive.unwrap()), known(&breaker.window.unwrap())), (3, ms(9000)));

    // One of an overlay is a patch even if it repeats the host; elsewhere it is an object of its own.
    let whole = text("host: ledger\ntrafficPolicy: { connectionPool: { http: { maxRetries: 7 } } }");
    let budget = |path: &str| settled(&[("base/dr.yaml", &base), (path, &whole)])[1].budget.limit().is_some();
    assert!(budget("overlays/prod/dr.yaml") && !budget("clusters/prod/dr.yaml"));
    // Without an object of its name a patch is about nothing that is known.
    let other = base.replace("name: ledger", "name: other");
    assert_eq!(settled(&[("overlays/prod/dr.yaml", &patch), ("base/dr.yaml", &other)]).len(), 1);
    assert_eq!(settled(&[("overlays/prod/dr.yaml", &whole)]).len(), 1);
}
