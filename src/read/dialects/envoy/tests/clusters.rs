//! Clusters: budgets, caps and outlier detection (M-10, M-44, M-45), and who stands behind them.

use super::{bootstrap, read};
use crate::facts::{Breaker, BudgetBase, Callee, Evidence, Floor, Host, Limit, Nanos, Upstream, Why};

fn upstream(cluster: &str) -> Upstream {
    let mut facts = read(&bootstrap("", "{ match: { prefix: / }, route: { cluster: payments } }", cluster));
    assert_eq!(facts.upstreams.len(), 1);
    facts.upstreams.remove(0)
}

#[test]
fn a_bare_cluster_has_envoys_defaults() {
    // M-44: three parallel retries.
    let bare = upstream("");
    assert_eq!((bare.retry_cap.limit(), bare.retry_cap.is_written()), (Some(&3), false));
    assert!(bare.budget.is_none());
    assert!(bare.breaker.is_none());
    assert_eq!(bare.max_connections.limit(), Some(&1024));
    assert_eq!(bare.connect_timeout.limit(), Some(&Nanos::from_secs(5)));
    assert!(!bare.connect_timeout.is_written());
    assert_eq!(bare.names, ["payments".into()]);
}

#[test]
fn caps_are_those_of_the_first_default_threshold() {
    let capped = upstream(
        "circuit_breakers: { thresholds: [{ priority: HIGH, max_retries: 9 }, { max_retries: 10, max_connections: 50 }, { max_retries: 1000 }] }",
    );
    assert_eq!((capped.retry_cap.limit(), capped.max_connections.limit()), (Some(&10), Some(&50)));
    let off = upstream("circuit_breakers: { thresholds: [{ max_retries: 0 }] }");
    assert_eq!(off.retry_cap.limit(), Some(&0));
    let lifted = upstream("circuit_breakers: { thresholds: [{ max_retries: 4294967295 }] }");
    assert!(lifted.retry_cap.is_none());
    let unknown = upstream("circuit_breakers: { thresholds: [{ max_retries: \"${CAP}\" }] }");
    assert!(unknown.retry_cap.known().is_none());
}

#[test]
fn a_budget_replaces_the_cap() {
    // M-45: 20 % and at least three, also beside max_retries 1000.
    let default = upstream("circuit_breakers: { thresholds: [{ max_retries: 1000, retry_budget: {} }] }");
    let budget = default.budget.limit().unwrap();
    assert_eq!((budget.ratio.known(), budget.floor.known()), (Some(&0.2), Some(&Floor::InFlight(3))));
    assert!(budget.window.is_none());
    assert_eq!(budget.base, BudgetBase::InFlight);
    assert!(default.retry_cap.is_none());

    let written = upstream(
        "circuitBreakers: { thresholds: [{ retryBudget: { budgetPercent: { value: 10 }, minRetryConcurrency: 1, budgetInterval: 10s } }] }",
    );
    let budget = written.budget.limit().unwrap();
    assert_eq!((budget.ratio.known(), budget.floor.known()), (Some(&0.1), Some(&Floor::InFlight(1))));
    assert_eq!(budget.window.limit(), Some(&Nanos::from_secs(10)));
    let none = upstream("circuit_breakers: { thresholds: [{ retry_budget: { budget_percent: {} } }] }");
    assert_eq!(none.budget.limit().unwrap().ratio.known(), Some(&0.0));
}

fn breaker(outlier: &str) -> Breaker {
    upstream(&format!("outlier_detection: {outlier}")).breaker.limit().unwrap().as_ref().clone()
}

#[test]
fn outlier_detection_has_defaults_even_if_empty() {
    let default = breaker("{}");
    assert_eq!(default.consecutive.unwrap().known(), Some(&5));
    assert_eq!(default.window.unwrap().known(), Some(&Nanos::from_secs(10)));
    assert_eq!(default.open.unwrap().known(), Some(&Nanos::from_secs(30)));
    assert_eq!(default.max_ejection_percent.unwrap().known(), Some(&10.0));
    assert!(!default.always_eject_one && default.ratio.is_none());

    let written = breaker(
        "{ consecutive_5xx: 2, interval: 1s, base_ejection_time: 60s, max_ejection_percent: 100, always_eject_one_host: true }",
    );
    assert_eq!(written.consecutive.unwrap().known(), Some(&2));
    assert_eq!(written.open.unwrap().known(), Some(&Nanos::from_secs(60)));
    assert_eq!(written.max_ejection_percent.unwrap().known(), Some(&100.0));
    assert!(written.always_eject_one);
    // Not enforced: it counts and ejects nobody.
    assert!(breaker("{ enforcing_consecutive_5xx: 0 }").consecutive.is_none());
    let by_share = breaker("{ enforcing_failure_percentage: 100, failure_percentage_threshold: 50 }");
    assert_eq!(by_share.ratio.unwrap().known(), Some(&0.5));
    assert_eq!(by_share.minimum.unwrap().known(), Some(&50));
}

/// The callee and the number of hosts of a cluster `backend` with these fields.
fn behind(fields: &str) -> (Callee, Option<u64>) {
    let text = format!(
        "static_resources:\n  clusters:\n  - {{ name: backend, {fields} }}\n---\nvirtual_hosts:\n- {{ name: v, domains: [\"*\"], \
         routes: [{{ match: {{ prefix: / }}, route: {{ cluster: backend }} }}] }}\n"
    );
    // In one document, so that the route finds the cluster.
    let text = text
        .replace(
            "\n---\nvirtual_hosts:\n- ",
            "\n  listeners: [{ filter_chains: [{ filters: [{ typed_config: { route_config: { virtual_hosts: [",
        )
        .trim_end()
        .to_string()
        + "] } } }] }] }]\n";
    let facts = read(&text);
    (facts.policies[0].callee.clone(), facts.upstreams.first().and_then(|upstream| upstream.hosts))
}

fn endpoints(addresses: &[&str]) -> String {
    let endpoints: Vec<String> = addresses
        .iter()
        .map(|address| {
            format!("{{ endpoint: {{ address: {{ socket_address: {{ address: \"{address}\", port_value: 80 }} }} }} }}")
        })
        .collect();
    format!("load_assignment: {{ endpoints: [{{ lb_endpoints: [{}] }}] }}", endpoints.join(", "))
}

fn host(callee: &Callee) -> (String, Evidence) {
    match callee {
        Callee::Service { service, .. } => (service.host.display(), service.evidence),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_endpoints_host_is_the_callee() {
    let (callee, hosts) = behind(&endpoints(&["ledger.bank.svc.cluster.local"]));
    assert_eq!(host(&callee), ("ledger.bank".into(), Evidence::Written));
    assert_eq!(hosts, None, "a name may stand for any number of hosts");
    // The first that is a name.
    let (callee, _) = behind(&endpoints(&["10.0.0.1", "ledger"]));
    assert_eq!(host(&callee).0, "ledger");
    let (callee, _) =
        behind("hosts: [{ socket_address: { address: ledger, port_value: 80 } }], lb_policy: ROUND_ROBIN");
    assert_eq!(host(&callee).0, "ledger");
}

#[test]
fn addresses_leave_the_clusters_name() {
    let (callee, hosts) = behind(&endpoints(&["10.0.0.1", "10.0.0.2"]));
    assert_eq!(host(&callee), ("backend".into(), Evidence::Inferred));
    assert_eq!(hosts, Some(2));
    // A port on the same machine, or a variable: whoever is known by that name, or nobody.
    assert_eq!(behind(&endpoints(&["127.0.0.1"])).0, Callee::Named(vec!["backend".into()]));
    assert_eq!(behind(&endpoints(&["${LEDGER_HOST}"])).0, Callee::Named(vec!["LEDGER_HOST".into(), "backend".into()]));
    assert!(matches!(behind("type: ORIGINAL_DST, lb_policy: CLUSTER_PROVIDED").0, Callee::Unknown(Why::Other(_))));
}

#[test]
fn discovered_clusters_go_by_their_service_name() {
    let (callee, _) = behind("eds_cluster_config: { service_name: ledger }");
    assert_eq!(host(&callee), ("ledger".into(), Evidence::Written));
    let (callee, _) = behind("eds_cluster_config: { eds_config: { ads: {} } }");
    assert_eq!(host(&callee), ("backend".into(), Evidence::Written));
}

#[test]
fn clusters_of_a_mesh_are_named_after_their_host() {
    let facts = read(
        "clusters:\n- { name: \"outbound|8080|v2|ledger.bank.svc.cluster.local\", lb_policy: LEAST_REQUEST }\n\
         - { name: \"inbound|8080||\", lb_policy: LEAST_REQUEST }\n- { name: BlackHoleCluster, lb_policy: ROUND_ROBIN }\n\
         - { name: httproute/default/shop/rule/0, lb_policy: LEAST_REQUEST }\n",
    );
    let callees: Vec<String> = facts.upstreams.iter().map(|upstream| upstream.callee.host.display()).collect();
    assert_eq!(callees, ["ledger.bank", "httproute/default/shop/rule/0"]);
    assert_eq!(facts.upstreams[0].callee.host, Host::Name { name: "ledger".into(), namespace: Some("bank".into()) });
    assert_eq!(facts.upstreams[0].retry_cap.known(), Some(&Limit::At(3)));
}
