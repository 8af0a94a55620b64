//! The measured rows of Envoy 1.40 (M-nn), and near misses beside each.

mod clusters;
mod conditions;
mod counts;
mod hostile;
mod problems;
mod shapes;
mod times;

use super::DIALECT;
use crate::facts::{Facts, Ineffective, Policy};
use crate::read::data::yaml;
use crate::read::{Context, ReadSettings};
use crate::source::FileId;

/// What all documents of a file say.
fn read(text: &str) -> Facts {
    let tree = yaml::parse(FileId(0), text);
    assert_eq!(tree.errors, [], "{text}");
    let settings = ReadSettings::default();
    let context = Context { file: FileId(0), path: "envoy.yaml", settings: &settings };
    let mut facts = Facts::default();
    for document in tree.documents() {
        assert!((DIALECT.recognises)(document), "not recognised: {text}");
        (DIALECT.read)(document, &context, &mut facts);
    }
    assert!(DIALECT.words.iter().any(|word| text.contains(word)), "the prefilter would skip: {text}");
    facts
}

/// A bootstrap with one virtual host and one cluster. `host`: further fields of the virtual host; `routes`: its routes;
/// `cluster`: further fields of the cluster. All in flow style, and what is put together here loads into Envoy.
fn bootstrap(host: &str, routes: &str, cluster: &str) -> String {
    format!(
        r#"
static_resources:
  listeners:
  - name: in
    address: {{ socket_address: {{ address: 127.0.0.1, port_value: 10000 }} }}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
          route_config:
            name: all
            virtual_hosts:
            - {{ name: shop, domains: ["*"]{host}, routes: [{routes}] }}
          http_filters:
          - name: envoy.filters.http.router
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
  clusters:
  - name: payments
    type: STRICT_DNS
    load_assignment:
      cluster_name: payments
      endpoints: [{{ lb_endpoints: [{{ endpoint: {{ address: {{ socket_address: {{ address: payments.bank.svc.cluster.local, port_value: 80 }} }} }} }}] }}]
{}"#,
        cluster.lines().map(|line| format!("    {line}\n")).collect::<String>()
    )
}

/// The one policy of a route whose action has these further fields.
fn route(action: &str) -> Policy {
    let separator = if action.is_empty() { "" } else { ", " };
    let text =
        bootstrap("", &format!("{{ match: {{ prefix: / }}, route: {{ cluster: payments{separator}{action} }} }}"), "");
    only(read(&text))
}

/// The one policy of a route with this retry policy.
fn retry(policy: &str) -> Policy {
    route(&format!("retry_policy: {policy}"))
}

fn only(mut facts: Facts) -> Policy {
    assert_eq!(facts.policies.len(), 1, "{:#?}", facts.policies);
    facts.policies.remove(0)
}

/// Total tries of the one policy of a route with this retry policy.
fn tries(policy: &str) -> Option<u64> {
    retry(policy).tries()
}

fn messages(policy: &Policy) -> Vec<&str> {
    policy.ineffective.iter().map(|problem| problem.message.as_str()).collect()
}

/// The one problem of a retry policy.
fn problem(policy: &str) -> Ineffective {
    let mut policy = retry(policy);
    assert_eq!(policy.ineffective.len(), 1, "{:#?}", policy.ineffective);
    policy.ineffective.remove(0)
}
