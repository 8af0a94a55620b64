//! Files that nobody meant to be read: whatever stands where, reading ends, and soon.

use proptest::prelude::*;

use super::super::DIALECT;
use super::{bootstrap, read};
use crate::facts::Facts;
use crate::read::data::yaml;
use crate::read::{Context, ReadSettings};
use crate::source::FileId;

const FULL: &str = "{ match: { prefix: /pay, headers: [{ name: \":method\", string_match: { exact: POST } }] }, \
     request_headers_to_add: [{ header: { key: x-envoy-max-retries, value: \"4\" } }], \
     route: { weighted_clusters: { clusters: [{ name: payments, weight: 1 }, { name: \"outbound|80||b.c.svc\" }] }, timeout: 2s, \
     hedge_policy: { hedge_on_per_try_timeout: true }, retry_policy: { retry_on: \"5xx,retriable-status-codes\", \
     num_retries: { value: 3 }, per_try_timeout: 0.5s, retriable_status_codes: [503], \
     retry_back_off: { base_interval: 0.1s, max_interval: 1s } } } }";

const CLUSTER: &str =
    "circuit_breakers: { thresholds: [{ max_retries: 9, retry_budget: { budget_percent: { value: 20 } } }] }
outlier_detection: { consecutive_5xx: 3, max_ejection_percent: 50 }
eds_cluster_config: { service_name: ledger }";

proptest! {
    #[test]
    fn no_change_to_a_file_makes_its_reader_fail(
        cuts in prop::collection::vec((0usize..3000, 0usize..12, "[a-z0-9{}\\[\\]:,\"*&<. -]{0,6}"), 0..12),
    ) {
        let mut text = bootstrap(", retry_policy: { retry_on: 5xx }", FULL, CLUSTER);
        for (at, length, new) in cuts {
            let start = at.min(text.len());
            let end = (start + length).min(text.len());
            text.replace_range(start..end, &new);
        }
        let tree = yaml::parse(FileId(0), &text);
        let settings = ReadSettings::default();
        let context = Context { file: FileId(0), path: "envoy.yaml", settings: &settings };
        let mut facts = Facts::default();
        for document in tree.documents() {
            let _ = (DIALECT.recognises)(document);
            (DIALECT.read)(document, &context, &mut facts);
        }
        for policy in &facts.policies {
            prop_assert!(policy.tries() != Some(0));
            for problem in &policy.ineffective {
                prop_assert!(problem.span.range().end <= text.len());
            }
        }
    }
}

#[test]
fn what_is_inherited_by_many_routes_costs_once() {
    // Each route inherits a policy of 50,000 fields, 50,000 headers and 50,000 domains: looked at per route, that
    // would be some hundred million steps.
    let many = 50_000;
    let fields: String = (0..many).map(|i| format!("f{i}: 1, ")).collect();
    let headers = vec!["{ header: { key: a, value: b } }"; many].join(", ");
    let domains = vec!["\"10.0.0.1\""; many].join(", ");
    let routes = vec!["{ match: { prefix: / }, route: { cluster: a } }"; 5_000].join(", ");
    let started = std::time::Instant::now();
    let facts = read(&format!(
        "virtual_hosts: [{{ name: v, domains: [{domains}], request_headers_to_add: [{headers}], \
         retry_policy: {{ {fields}retry_on: 5xx }}, routes: [{routes}] }}]"
    ));
    assert_eq!(facts.policies.len(), 5_000);
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
}
