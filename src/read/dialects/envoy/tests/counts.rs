//! Measured.md 2.2 and M-7: how often, by which policy, for which requests.

use super::{bootstrap, messages, only, read, retry, route, tries};
use crate::facts::{Attempts, Count, Counts, Limit, Methods, Nanos, Origin, Policy, PolicyKind};

#[test]
fn a_policy_without_a_count_means_one_retry_and_no_policy_none() {
    // M-30, [T-03].
    let none = route("");
    assert_eq!((none.kind, none.tries()), (PolicyKind::TimeLimit, Some(1)));
    assert_eq!(tries("{}"), Some(1));
    assert_eq!(tries("{ num_retries: 3 }"), Some(1));
    let default = retry("{ retry_on: 5xx }");
    assert_eq!(default.tries(), Some(2));
    assert_eq!(default.attempts.default_by(), Some("Envoy"));
    assert_eq!(default.count, None);
    assert!(retry("{}").ineffective.is_empty());
}

#[test]
fn counts_may_be_quoted_or_wrapped() {
    // M-31.
    assert_eq!(tries("{ retry_on: 5xx, num_retries: 0 }"), Some(1));
    for count in ["3", "\"3\"", "{ value: 3 }", "3.0"] {
        assert_eq!(tries(&format!("{{ retry_on: 5xx, num_retries: {count} }}")), Some(4), "{count}");
        assert_eq!(tries(&format!("{{ retryOn: 5xx, numRetries: {count} }}")), Some(4), "{count}");
    }
    assert_eq!(tries("{ retry_on: 5xx, num_retries: 4294967295 }"), Some(4_294_967_296));
    let policy = retry("{ retryOn: 5xx, numRetries: 3 }");
    assert_eq!(policy.count, Some(Count { key: "numRetries".into(), written: 3, counts: Counts::Retries }));
    assert_eq!(policy.count_in_words().as_deref(), Some("`numRetries: 3` means three retries: four tries"));
}

#[test]
fn a_mirror_gets_each_request_once() {
    // M-11: four tries on the main route, one at the mirror.
    let mirrored =
        route("retry_policy: { retry_on: 5xx, num_retries: 3 }, request_mirror_policies: [{ cluster: shadow }]");
    assert_eq!(mirrored.tries(), Some(4));
    // Two hosts behind one cluster share the count: six tries for `5xx/5` (M-36).
    assert_eq!(tries("{ retry_on: 5xx, num_retries: 5 }"), Some(6));
}

#[test]
fn attempts_to_connect_over_tcp_are_no_retries_of_requests() {
    // M-40
    let facts = read(
        "static_resources:
  listeners:
  - filter_chains:
    - filters:
      - name: envoy.filters.network.tcp_proxy
        typed_config:
          \"@type\": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
          stat_prefix: db
          cluster: db
          max_connect_attempts: 3",
    );
    assert!(facts.policies.is_empty());
}

#[test]
fn a_count_from_the_environment_is_unknown() {
    let policy = retry("{ retry_on: 5xx, num_retries: \"${RETRIES}\" }");
    assert_eq!(policy.tries(), None);
    assert!(policy.ineffective.is_empty());
    assert!(policy.may_retry());
}

#[test]
fn any_method_is_retried_unless_a_header_matcher_limits_it() {
    // M-33, M-34.
    assert_eq!(retry("{ retry_on: 5xx }").methods.known(), Some(&Methods::Any));
    let only = |matchers: &str| retry(&format!("{{ retry_on: 5xx, retriable_request_headers: {matchers} }}"));
    let get = only("[{ name: \":method\", string_match: { exact: GET } }]");
    assert_eq!(get.methods.known(), Some(&Methods::Only(vec!["GET".into()])));
    assert_eq!(get.tries(), Some(2));
    let safe = only("[{ name: \":method\", string_match: { safe_regex: { regex: \"GET|HEAD\" } } }]");
    assert_eq!(safe.methods.known(), Some(&Methods::Only(vec!["GET".into(), "HEAD".into()])));
    let two = only("[{ name: \":method\", exact_match: GET }, { name: x-again, present_match: true }]");
    assert_eq!(two.methods.known(), None);
}

#[test]
fn picking_another_host_is_no_retry() {
    // M-35 and infra.md section 20.
    assert_eq!(tries("{ retry_on: 5xx, num_retries: 1, host_selection_retry_max_attempts: 5 }"), Some(2));
    let policy = retry(
        "{ retry_on: 5xx, retry_host_predicate: [{ name: envoy.retry_host_predicates.previous_hosts, typed_config: { \
         \"@type\": type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate } }] }",
    );
    assert!(policy.other_host);
    assert!(!retry("{ retry_on: 5xx }").other_host);
}

#[test]
fn a_route_replaces_the_policy_of_its_virtual_host_as_a_whole() {
    // M-37: virtual host `5xx/1`.
    let host = ", retry_policy: { retry_on: 5xx, num_retries: 1 }";
    let with = |policy: &str| {
        let text =
            bootstrap(host, &format!("{{ match: {{ prefix: / }}, route: {{ cluster: payments{policy} }} }}"), "");
        read(&text).policies.remove(0)
    };
    assert_eq!(with("").tries(), Some(2));
    assert_eq!(with(", retry_policy: { retry_on: 5xx, num_retries: 4 }").tries(), Some(5));
    assert_eq!(with(", retry_policy: {}").tries(), Some(1));
    assert_eq!(with(", retry_policy: { num_retries: 5 }").tries(), Some(1));
}

const CLUSTER_RETRY: &str = "typed_extension_protocol_options:
  envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
    \"@type\": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
    explicit_http_config: { http_protocol_options: {} }
    retry_policy: POLICY";

#[test]
fn a_cluster_replaces_the_policies_of_route_and_virtual_host() {
    // M-38.
    let with = |cluster: &str, host: &str, route: &str| {
        let route = format!("{{ match: {{ prefix: / }}, route: {{ cluster: payments{route} }} }}");
        read(&bootstrap(host, &route, &CLUSTER_RETRY.replace("POLICY", cluster))).policies.remove(0)
    };
    let five = "{ retry_on: 5xx, num_retries: 2 }";
    assert_eq!(with(five, "", ", retry_policy: { retry_on: 5xx, num_retries: 4 }").tries(), Some(3));
    assert_eq!(with(five, ", retry_policy: { retry_on: 5xx, num_retries: 1 }", "").tries(), Some(3));
    let inert = with("{ num_retries: 2 }", "", ", retry_policy: { retry_on: 5xx, num_retries: 4 }");
    assert_eq!(inert.tries(), Some(1));
    // `connect-failure/2` over the virtual host's 5xx: a 503 is tried once.
    let narrow = with("{ retry_on: connect-failure, num_retries: 2 }", ", retry_policy: { retry_on: 5xx }", "");
    assert!(!narrow.names_classes.contains(crate::facts::Class::Overload));
}

#[test]
fn the_limit_on_one_try_is_the_routes_even_where_the_cluster_decides_on_the_retries() {
    let with = |cluster: &str, host: &str, route: &str| {
        let route = format!("{{ match: {{ prefix: / }}, route: {{ cluster: payments, timeout: 3s{route} }} }}");
        read(&bootstrap(host, &route, &CLUSTER_RETRY.replace("POLICY", cluster))).policies.remove(0)
    };
    let slow = |policy: &Policy| (policy.tries(), policy.attempt_limit());
    let at = |seconds| Some(Limit::At(Nanos::from_millis(seconds)));
    let (bare, limited) =
        ("{ retry_on: 5xx, num_retries: 2 }", "{ retry_on: 5xx, num_retries: 2, per_try_timeout: 0.3s }");
    // Measured with an upstream that hangs: one try, 3.0 s.
    assert_eq!(slow(&with(limited, "", "")), (Some(3), Some(Limit::None)));
    // Three tries, 0.94 s, though the route's own policy retries nothing.
    let own = ", retry_policy: { retry_on: 5xx, num_retries: 0, per_try_timeout: 0.3s }";
    assert_eq!(slow(&with(bare, "", own)), (Some(3), at(300)));
    // Three tries, 3.06 s under a timeout of 4 s: the route's 1 s, not the cluster's 0.3 s.
    assert_eq!(slow(&with(limited, "", ", retry_policy: { per_try_timeout: 1s }")), (Some(3), at(1000)));
    // The virtual host's, three tries, 0.95 s.
    assert_eq!(slow(&with(bare, &format!(", retry_policy: {limited}"), "")), (Some(3), at(300)));
    // A route without one has none of its virtual host's either.
    assert_eq!(
        slow(&with(bare, &format!(", retry_policy: {limited}"), ", retry_policy: {}")),
        (Some(3), Some(Limit::None))
    );
    // The backoff goes with the retries: cluster base 0.5 s, 503 at once, 0.68 s; the same in the route, 0.08 s.
    let waits = "{ retry_on: 5xx, num_retries: 2, retry_back_off: { base_interval: 0.5s } }";
    assert_eq!(with(waits, "", "").backoff.base.known(), Some(&Nanos::from_millis(500)));
    assert_eq!(with(bare, "", &format!(", retry_policy: {waits}")).backoff.base.known(), Some(&Nanos::from_millis(25)));
}

#[test]
fn each_weighted_destination_has_its_own_tries() {
    // M-39: retries stay in the cluster that was chosen; a weight of 0 gets nothing.
    let text = bootstrap(
        "",
        "{ match: { prefix: / }, route: { weighted_clusters: { clusters: [{ name: payments, weight: 50 }, \
         { name: payments-v2, weight: 50 }, { name: payments-v3, weight: 0 }] }, \
         retry_policy: { retry_on: 5xx, num_retries: 9 } } }",
        "",
    );
    let facts = read(&text);
    let names: Vec<&str> = facts.policies.iter().map(|policy| &*policy.name).collect();
    assert_eq!(names, ["route / of shop to payments", "route / of shop to payments-v2"]);
    assert!(facts.policies.iter().all(|policy| policy.tries() == Some(10)));
    let orders: Vec<u32> = facts.policies.iter().filter_map(|policy| policy.route.as_ref()).map(|r| r.order).collect();
    assert_eq!(orders, [0, 0]);
}

fn with_header(level: &str, key: &str, value: &str, policy: &str) -> crate::facts::Facts {
    let headers = format!("request_headers_to_add: [{{ header: {{ key: {key}, value: \"{value}\" }} }}]");
    let (host, route) = match level {
        "host" => (format!(", {headers}"), String::new()),
        _ => (String::new(), format!(", {headers}")),
    };
    read(&bootstrap(&host, &format!("{{ match: {{ prefix: / }}, route: {{ cluster: payments{policy} }}{route} }}"), ""))
}

#[test]
fn a_retry_header_that_the_route_adds_is_a_retry_source() {
    // M-7: `x-envoy-max-retries: 4` over `5xx/1`.
    let one = ", retry_policy: { retry_on: 5xx, num_retries: 1 }";
    let policy = only(with_header("route", "x-envoy-max-retries", "4", one));
    assert_eq!(policy.attempts.known(), Some(&Attempts::Times(5)));
    assert_eq!(policy.count_in_words().as_deref(), Some("`x-envoy-max-retries: 4` means four retries: five tries"));
    assert!(matches!(policy.attempts.origin, Origin::Written(_)));
    assert!(policy.ineffective.is_empty());
    // The same at the virtual host, in capitals, and 0, which switches off (M-41); text is ignored.
    assert_eq!(only(with_header("host", "X-Envoy-Max-Retries", "3", one)).tries(), Some(4));
    assert_eq!(only(with_header("route", "x-envoy-max-retries", "0", one)).tries(), Some(1));
    assert_eq!(only(with_header("route", "x-envoy-max-retries", "many", one)).tries(), Some(2));
    // Another header is just a header.
    assert_eq!(only(with_header("route", "x-max-retries", "4", one)).tries(), Some(2));
}

#[test]
fn a_condition_header_retries_once_without_any_policy() {
    assert_eq!(only(with_header("route", "x-envoy-retry-on", "5xx", "")).tries(), Some(2));
    let both = only(with_header(
        "route",
        "x-envoy-retry-on",
        "5xx",
        ", retry_policy: { retry_on: connect-failure, num_retries: 3 }",
    ));
    assert_eq!(both.tries(), Some(4));
    assert!(both.names_classes.contains(crate::facts::Class::Overload));
    let filled = only(with_header("route", "x-envoy-retry-on", "5xx", ", retry_policy: { num_retries: 3 }"));
    assert_eq!((filled.tries(), filled.ineffective.len()), (Some(4), 0));
}

#[test]
fn timeout_headers_and_a_lonely_count_do_nothing() {
    let one = ", retry_policy: { retry_on: 5xx, num_retries: 1 }";
    let facts = with_header("route", "x-envoy-upstream-rq-timeout-ms", "500", one);
    assert_eq!(facts.policies.len(), 2);
    assert_eq!(facts.policies[0].tries(), Some(2));
    assert!(facts.policies[0].ineffective.is_empty());
    assert_eq!(
        messages(&facts.policies[1]),
        ["`x-envoy-upstream-rq-timeout-ms` does nothing here: Envoy reads it before it adds headers"]
    );
    assert_eq!(facts.policies[1].ineffective[0].help, "`timeout: 0.5s` in the route");
    assert!(!facts.policies[1].may_retry());

    let facts = with_header("route", "x-envoy-max-retries", "4", "");
    assert_eq!(facts.policies[0].tries(), Some(1));
    assert_eq!(
        messages(&facts.policies[1]),
        ["`x-envoy-max-retries` retries nothing: no condition says which failures"]
    );
}
