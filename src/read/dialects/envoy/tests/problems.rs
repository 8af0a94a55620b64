//! Measured.md 2.7 (M-50) and the traps of infra.md: what Envoy rejects, what does nothing, and what must stay silent.

use super::{bootstrap, messages, problem, read, retry, route};
use crate::facts::{Facts, PolicyKind};

fn silent(policy: &str) {
    let policy_read = retry(policy);
    assert!(policy_read.ineffective.is_empty(), "{policy}: {:?}", policy_read.ineffective);
}

#[test]
fn what_loads_is_no_fault() {
    for policy in [
        "{ retry_on: 5xx, per_try_timeout: { seconds: 1 } }",
        "{ retry_on: 5xx, per_try_timeout: 0s }",
        "{ retry_on: 5xx, per_try_timeout: 0.0000001s }",
        "{ retry_on: 5xx, retry_back_off: { base_interval: 0.0005s } }",
        "{ retry_on: 5xx, retry_back_off: { base_interval: 0.1s, max_interval: 0.1s } }",
        "{ retry_on: 5xx, num_retries: \"3\" }",
        "{ retry_on: 5xx, num_retries: { value: 3 } }",
        "{ retry_on: 5xx, num_retries: 4294967295 }",
        "{ retryOn: 5xx, numRetries: 3 }",
        "{ retry_on: retriable-status-codes, retriable_status_codes: [\"503\"] }",
        "{ retry_on: retriable-status-codes, retriable_status_codes: [99] }",
        "{ retry_on: 5xx, num_retries: \"{{ .Values.retries }}\", per_try_timeout: \"{{ .Values.try }}\" }",
        "{ retry_on: 5xx, some_field_of_tomorrow: 3 }",
    ] {
        silent(policy);
    }
}

#[test]
fn what_does_not_load_is_rejected() {
    for (policy, message, help) in [
        (
            "{ retry_on: 5xx, per_try_timeout: 250ms }",
            "Envoy rejects `per_try_timeout: 250ms`: a duration is a number of seconds that ends in `s`",
            "`per_try_timeout: 0.25s`",
        ),
        (
            "{ retryOn: 5xx, perTryTimeout: 1m }",
            "Envoy rejects `perTryTimeout: 1m`: a duration is a number of seconds that ends in `s`",
            "`perTryTimeout: 60s`",
        ),
        (
            "{ retry_on: 5xx, per_try_timeout: 2 }",
            "Envoy rejects `per_try_timeout: 2`: a duration is a number of seconds that ends in `s`",
            "`per_try_timeout: 2s`",
        ),
        (
            "{ retry_on: 5xx, per_try_timeout: -1s }",
            "Envoy rejects `per_try_timeout: -1s`: a duration is not negative",
            "`per_try_timeout: 1s`",
        ),
        (
            "{ retry_on: 5xx, num_retries: -1 }",
            "Envoy rejects `num_retries: -1`: it counts retries from 0 to 4294967295",
            "`num_retries: 0`",
        ),
        (
            "{ retry_on: 5xx, num_retries: 1.5 }",
            "Envoy rejects `num_retries: 1.5`: it counts retries from 0 to 4294967295",
            "`num_retries: 2`",
        ),
        (
            "{ retry_on: 5xx, num_retries: 4294967296 }",
            "Envoy rejects `num_retries: 4294967296`: it counts retries from 0 to 4294967295",
            "`num_retries: 3`",
        ),
        (
            "{ retry_on: [5xx, reset], num_retries: 2 }",
            "Envoy rejects `retry_on` as a list: it is one text with commas",
            "`retry_on: \"5xx,reset\"`",
        ),
        (
            "{ retry_on: 5xx, num_retires: 2 }",
            "Envoy rejects this configuration: a retry policy has no field `num_retires`",
            "the field is called `num_retries`",
        ),
        (
            "{ retryOn: 5xx, attempts: 2 }",
            "Envoy rejects this configuration: a retry policy has no field `attempts`",
            "the field is called `numRetries`",
        ),
        (
            "{ retry_on: 5xx, retry_back_off: { base_interval: 0.25s, max_interval: 0.1s } }",
            "Envoy rejects this configuration: `max_interval` of 100 ms is below `base_interval` of 250 ms",
            "`max_interval: 2.5s`",
        ),
        (
            "{ retry_on: 5xx, retry_back_off: { max_interval: 1s } }",
            "Envoy rejects `retry_back_off` without `base_interval`",
            "`retry_back_off: { base_interval: 0.025s }`",
        ),
        (
            "{ retry_on: 5xx, retry_back_off: { base_interval: 0s } }",
            "Envoy rejects `base_interval: 0s`: the first delay must be longer than zero",
            "`base_interval: 0.025s`",
        ),
        (
            "{ retry_on: 5xx, rate_limited_retry_back_off: {} }",
            "Envoy rejects `rate_limited_retry_back_off` without `reset_headers`",
            "`rate_limited_retry_back_off: { reset_headers: [{ name: Retry-After, format: SECONDS }] }`",
        ),
    ] {
        let found = problem(policy);
        assert_eq!((found.message.as_str(), found.help.as_str(), found.rejected), (message, help, true), "{policy}");
        let policy = retry(policy);
        assert_eq!(policy.kind, PolicyKind::Config);
        assert_eq!(policy.tries(), None, "what is rejected is not in force, and what is in its place nobody knows");
    }
}

#[test]
fn a_route_timeout_of_another_dialect_is_rejected_too() {
    let policy = route("timeout: 250ms");
    assert_eq!(
        messages(&policy),
        ["Envoy rejects `timeout: 250ms`: a duration is a number of seconds that ends in `s`"]
    );
    assert!(policy.total.limit.known().is_none());
    assert!(route("timeout: 0.25s").ineffective.is_empty());
}

#[test]
fn the_smallest_text_at_fault_is_underlined() {
    let text = bootstrap(
        "",
        "{ match: { prefix: / }, route: { cluster: payments, retry_policy: { retry_on: 5xx, per_try_timeout: 250ms } } }",
        "",
    );
    let facts = read(&text);
    assert_eq!(&text[facts.policies[0].ineffective[0].span.range()], "250ms");
}

#[test]
fn policies_without_conditions_say_what_is_missing() {
    let found = problem("{ num_retries: 5 }");
    assert_eq!(found.message, "`num_retries: 5` retries nothing: no `retry_on` says which failures");
    assert!(!found.rejected);
    assert_eq!(
        problem("{ numRetries: 5 }").message,
        "`numRetries: 5` retries nothing: no `retryOn` says which failures"
    );
    silent("{}");
    silent("{ num_retries: 0 }");
    silent("{ retry_on: 5xx, num_retries: 5 }");
}

#[test]
fn misspelt_conditions_name_the_nearest() {
    let found = problem("{ retry_on: 5XX, num_retries: 2 }");
    assert_eq!(found.message, "`5XX` is no retry condition: nothing is retried");
    assert_eq!(found.help, "`retry_on: 5xx`");
    let found = problem("{ retry_on: \"5xx,gatway-error\" }");
    assert_eq!(found.message, "`gatway-error` is no retry condition: Envoy drops it without a word");
    assert_eq!(found.help, "`retry_on: \"5xx,gateway-error\"`");
    let found = problem("{ retry_on: \"reset,503\" }");
    assert_eq!(found.help, "`retry_on: \"reset,retriable-status-codes\"` with `retriable_status_codes: [503]`");
    silent("{ retry_on: \"5xx, gateway-error\" }");
}

#[test]
fn tokens_and_their_lists_need_each_other() {
    let found = problem("{ retry_on: retriable-status-codes }");
    assert_eq!(
        found.message,
        "`retriable-status-codes` matches nothing: `retriable_status_codes` is empty, so nothing is retried"
    );
    let found = problem("{ retry_on: \"connect-failure,retriable-headers\" }");
    assert_eq!(found.message, "`retriable-headers` matches nothing: `retriable_headers` is empty");
    let found = problem("{ retry_on: \"connect-failure\", retriable_status_codes: [503] }");
    assert_eq!(found.message, "503 is not retried: `retry_on` lacks `retriable-status-codes`");
    assert_eq!(found.help, "`retry_on: \"connect-failure,retriable-status-codes\"`");
    let found = problem("{ retry_on: 5xx, retriable_status_codes: [429, 503, 409] }");
    assert_eq!(found.message, "429 and 409 are not retried: `retry_on` lacks `retriable-status-codes`");
    let found = problem("{ retry_on: reset, retriable_headers: [{ name: x-again, present_match: true }] }");
    assert_eq!(found.message, "`retriable_headers` does nothing: `retry_on` lacks `retriable-headers`");
    // What the list asks for happens anyway.
    silent("{ retry_on: gateway-error, retriable_status_codes: [502, 503, 504] }");
    silent("{ retry_on: retriable-4xx, retriable_status_codes: [409] }");
    silent("{ retry_on: \"connect-failure,retriable-status-codes\", retriable_status_codes: [503] }");
}

#[test]
fn trusted_clients_may_bring_the_conditions() {
    let text =
        bootstrap("", "{ match: { prefix: / }, route: { cluster: payments, retry_policy: { num_retries: 3 } } }", "");
    let trusting = text.replace("stat_prefix: in", "stat_prefix: in\n          internal_address_config: {}");
    let policy = &read(&trusting).policies[0];
    assert_eq!(policy.tries(), Some(4));
    assert_eq!(policy.retries_on.known(), None);
    assert!(policy.ineffective.is_empty());
    assert_eq!(read(&text).policies[0].ineffective.len(), 1);
}

#[test]
fn hedging_fields_that_do_nothing_are_named() {
    let hedged = |fields: &str, policy: &str| {
        let policy = route(&format!("hedge_policy: {{ {fields} }}, retry_policy: {policy}"));
        policy.ineffective.into_iter().map(|problem| problem.message).collect::<Vec<_>>()
    };
    let policy = "{ retry_on: 5xx, num_retries: 1 }";
    assert_eq!(
        hedged("initial_requests: 3", policy),
        ["`initial_requests` does nothing: Envoy has not implemented it"]
    );
    assert_eq!(
        route("hedge_policy: { initial_requests: 3 }, retry_policy: { retry_on: 5xx, num_retries: 1 }").tries(),
        Some(2)
    );
    assert_eq!(
        hedged("hedge_on_per_try_timeout: true", policy),
        ["`hedge_on_per_try_timeout` never sends a second request: the retry policy has no `per_try_timeout` in force"]
    );
    assert!(hedged("hedge_on_per_try_timeout: false", policy).is_empty());
    assert!(hedged("hedge_on_per_try_timeout: true", "{ retry_on: 5xx, per_try_timeout: 0.3s }").is_empty());
}

fn host_with(policy: &str, routes: &[&str]) -> Facts {
    let routes: Vec<String> = routes
        .iter()
        .enumerate()
        .map(|(i, policy)| format!("{{ match: {{ prefix: /{i} }}, route: {{ cluster: payments{policy} }} }}"))
        .collect();
    read(&bootstrap(&format!(", retry_policy: {policy}"), &routes.join(", "), ""))
}

#[test]
fn a_host_policy_that_every_route_replaces_is_dead() {
    let own = ", retry_policy: { retry_on: reset }";
    let facts = host_with("{ retry_on: 5xx, num_retries: 1 }", &[own, own]);
    assert_eq!(facts.policies.len(), 3);
    assert_eq!(facts.policies[2].kind, PolicyKind::TimeLimit);
    assert_eq!(
        messages(&facts.policies[2]),
        ["the retry policy of virtual host `shop` is never used: each of its routes has its own"]
    );
    assert!(facts.policies[..2].iter().all(|policy| policy.ineffective.is_empty()));
    // One route inherits it; there is no route; it says nothing.
    assert_eq!(host_with("{ retry_on: 5xx, num_retries: 1 }", &[own, ""]).policies.len(), 2);
    assert!(host_with("{ retry_on: 5xx, num_retries: 1 }", &[]).policies.is_empty());
    assert_eq!(host_with("{}", &[own]).policies.len(), 1);
}

#[test]
fn a_route_policy_under_a_clusters_own_is_dead() {
    let cluster = "typed_extension_protocol_options:
  envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
    \"@type\": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
    explicit_http_config: { http_protocol_options: {} }
    retry_policy: { retry_on: connect-failure, num_retries: 2 }";
    let with = |route: &str| {
        read(&bootstrap("", &format!("{{ match: {{ prefix: / }}, route: {{ cluster: payments{route} }} }}"), cluster))
    };
    let facts = with(", retry_policy: { retry_on: 5xx, num_retries: 4 }");
    assert_eq!(facts.policies[0].tries(), Some(3));
    assert_eq!(
        messages(&facts.policies[1]),
        ["this retry policy is never used: cluster `payments` has its own, which replaces it"]
    );
    assert_eq!(with("").policies.len(), 1);
    // Its limit on one try holds all the same.
    let facts = with(", retry_policy: { retry_on: 5xx, num_retries: 4, per_try_timeout: 0.3s }");
    assert_eq!(
        messages(&facts.policies[1]),
        [
            "of this retry policy only `per_try_timeout` is used: cluster `payments` has its own, which replaces the rest"
        ]
    );
    assert_eq!(with(", retry_policy: { per_try_timeout: 0.3s }").policies.len(), 1);
    let host = |fields: &str| {
        let route = "{ match: { prefix: / }, route: { cluster: payments } }";
        read(&bootstrap(&format!(", retry_policy: {{ retry_on: 5xx{fields} }}"), route, cluster)).policies.len()
    };
    assert_eq!((host(""), host(", per_try_timeout: 0.3s")), (2, 1));
}

#[test]
fn a_limit_on_one_try_in_a_clusters_policy_does_nothing() {
    let cluster = |fields: &str| {
        let options = format!(
            "typed_extension_protocol_options:
  envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
    \"@type\": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
    explicit_http_config: {{ http_protocol_options: {{}} }}
    retry_policy: {{ retry_on: 5xx, num_retries: 2{fields} }}"
        );
        // Two routes to one cluster say it once.
        let routes = "{ match: { prefix: /a }, route: { cluster: payments } }, { match: { prefix: / }, route: { cluster: payments } }";
        read(&bootstrap("", routes, &options))
    };
    // Measured: `5xx/2`, upstream hangs, timeout 3 s: one try, 3.0 s, with either of the two.
    for name in ["per_try_timeout", "per_try_idle_timeout"] {
        let facts = cluster(&format!(", {name}: 0.3s"));
        let said: Vec<&str> = facts.policies.iter().flat_map(messages).collect();
        assert_eq!(said, [format!("`{name}` does nothing in a cluster's retry policy: no try is cut")]);
    }
    assert!(cluster("").policies.iter().all(|policy| policy.ineffective.is_empty()));
}

#[test]
fn a_policy_that_is_no_mapping_is_unknown_and_not_left_out() {
    for policy in ["3", "[3]", "\"{{ .Values.retry }}\""] {
        let policy = retry(policy);
        assert_eq!(policy.kind, PolicyKind::Config);
        assert_eq!((policy.attempts.known(), policy.retries_on.known(), policy.attempt_limit()), (None, None, None));
    }
    assert_eq!(retry("null").kind, PolicyKind::TimeLimit);
}
