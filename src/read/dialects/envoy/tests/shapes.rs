//! The shapes in which Envoy's configuration comes, who calls, and which requests a route takes.

use super::super::DIALECT;
use super::{only, read};
use crate::facts::{Callee, Caller, Facts, Limit, Methods, Nanos, PathMatch, PolicyKind, Position, Protocol};
use crate::read::data::yaml;
use crate::source::FileId;

fn recognised(text: &str) -> bool {
    let tree = yaml::parse(FileId(0), text);
    tree.documents().any(|document| (DIALECT.recognises)(document))
}

const ROUTES: &str =
    "{ match: { prefix: / }, route: { cluster: ledger, retry_policy: { retry_on: 5xx, num_retries: 2 } } }";

fn callees(facts: &Facts) -> Vec<String> {
    facts
        .policies
        .iter()
        .map(|policy| match &policy.callee {
            Callee::Service { service, .. } => service.host.display(),
            other => format!("{other:?}"),
        })
        .collect()
}

#[test]
fn every_shape_is_read_alike() {
    let host = format!("{{ name: v, domains: [\"*\"], routes: [{ROUTES}] }}");
    let config = format!("{{ name: r, virtual_hosts: [{host}] }}");
    let typed = |kind: &str, body: &str| format!("{{ \"@type\": type.googleapis.com/{kind}, {}", &body[1..]);
    let route_type = "envoy.config.route.v3.RouteConfiguration";
    let listener = format!(
        "{{ name: l, filter_chains: [{{ filters: [{{ name: hcm, typed_config: {{ route_config: {config} }} }}] }}] }}"
    );
    for text in [
        format!("static_resources: {{ listeners: [{listener}] }}"),
        format!("staticResources: {{ listeners: [{listener}] }}"),
        format!(
            "static_resources: {{ listeners: [{{ name: l, default_filter_chain: {{ filters: [{{ name: hcm, typed_config: {{ route_config: {config} }} }}] }} }}] }}"
        ),
        format!(
            "static_resources: {{ listeners: [{{ filter_chains: [{{ filters: [{{ name: hcm, config: {{ route_config: {config} }} }}] }}] }}] }}"
        ),
        format!("resources: [{}]", typed(route_type, &config)),
        format!("version_info: \"0\"\nresources: [{}]", typed("envoy.api.v2.RouteConfiguration", &config)),
        format!("resources: [{{ name: r, resource: {} }}]", typed(route_type, &config)),
        format!("resources: [{}]", typed("envoy.config.listener.v3.Listener", &listener)),
        typed(route_type, &config),
        typed("envoy.config.route.v3.VirtualHost", &host),
        config.clone(),
        host.clone(),
        format!("[{config}]"),
        format!("listeners: [{listener}]"),
        format!("[{listener}]"),
        format!(
            "configs: [{{ \"@type\": type.googleapis.com/envoy.admin.v3.RoutesConfigDump, dynamic_route_configs: [{{ route_config: {config} }}] }}]"
        ),
        format!(
            "configs: [{{ \"@type\": type.googleapis.com/envoy.admin.v3.RoutesConfigDump, static_route_configs: [{{ route_config: {config} }}] }}, \
                 {{ \"@type\": type.googleapis.com/envoy.admin.v3.ListenersConfigDump, static_listeners: [{{ listener: {listener} }}] }}]"
        ),
        format!(
            "configs: [{{ \"@type\": type.googleapis.com/envoy.admin.v3.ListenersConfigDump, dynamic_listeners: [{{ active_state: {{ listener: {listener} }} }}] }}]"
        ),
        format!(
            "configs: [{{ \"@type\": \"type.googleapis.com/envoy.admin.v3.RoutesConfigDump.DynamicRouteConfig\", route_config: {config} }}]"
        ),
    ] {
        let facts = read(&text);
        let policy = only(facts);
        assert_eq!((policy.tries(), &*policy.name), (Some(3), "route / of v"), "{text}");
    }
}

#[test]
fn clusters_come_in_dumps_once_each() {
    let facts = read(
        "configs: [{ \"@type\": type.googleapis.com/envoy.admin.v3.ClustersConfigDump, \
         static_clusters: [{ cluster: { name: a } }], dynamic_active_clusters: [{ cluster: { name: b } }], \
         dynamic_warming_clusters: [{ cluster: { name: b } }, { cluster: { name: c } }] }]",
    );
    let names: Vec<&str> = facts.upstreams.iter().flat_map(|upstream| &upstream.names).map(|name| &**name).collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn what_only_looks_like_envoy_is_left_to_others() {
    for text in [
        "clusters: [{ name: kind, cluster: { server: https://1.2.3.4 } }]",
        "apiVersion: v1\nkind: Config\nclusters: [{ name: kind, outlier_detection: {} }]",
        "resources: { Queue: { Type: AWS::SQS::Queue } }",
        "resources: [deployment.yaml]",
        "virtual_hosts: [shop]",
        "routes: [{ retry_policy: { num_retries: 3 } }]",
        "retry_policy: { retry_on: 5xx }",
        "- { name: x, retry_policy: { num_retries: 3 } }",
        "text",
        "[]",
        "",
    ] {
        assert!(!recognised(text), "{text}");
    }
    assert!(recognised("static_resources: {}"));
}

#[test]
fn side_calls_and_the_control_plane_are_no_routes() {
    let facts = read(
        "static_resources:
  listeners:
  - filter_chains:
    - filters:
      - name: hcm
        typed_config:
          http_filters:
          - name: ext_authz
            typed_config: { grpc_service: { envoy_grpc: { cluster_name: auth }, retry_policy: { num_retries: 5 } } }
          route_config: { virtual_hosts: [{ name: v, domains: [\"*\"], routes: [{ match: { path: /x }, redirect: { path_redirect: /y } }] }] }
dynamic_resources: { ads_config: { grpc_services: [{ envoy_grpc: { cluster_name: xds, retry_policy: { num_retries: 9 } } }] } }",
    );
    assert!(facts.policies.is_empty());
}

const NAMED: &str = "node: { id: gw-1, cluster: Edge }\nstatic_resources: { listeners: [{ filter_chains: [{ filters: [{ name: hcm, typed_config: { route_config: { virtual_hosts: [HOSTS] } } }] }] }] }";

#[test]
fn a_proxy_with_a_name_is_a_service_that_calls() {
    let hosts = "{ name: shop, domains: [shop.example], routes: [\
        { match: { prefix: /pay }, route: { cluster: ledger } }, { match: { prefix: / }, route: { cluster: web } }, \
        { match: { prefix: /api }, route: { cluster: web } }, { match: { prefix: /rpc, grpc: {} }, route: { cluster: web } }] }, \
        { name: other, domains: [\"*\"], routes: [{ match: { prefix: / }, route: { cluster: web } }] }";
    let facts = read(&NAMED.replace("HOSTS", hosts));
    let calls: Vec<(String, String, Option<Protocol>)> = facts
        .calls
        .iter()
        .map(|call| {
            (
                call.caller.service().unwrap().host.display(),
                call.callee.service().unwrap().host.display(),
                call.protocol,
            )
        })
        .collect();
    let edge = || "edge".to_string();
    assert_eq!(
        calls,
        [
            (edge(), "ledger".into(), None),
            (edge(), "web".into(), None),
            (edge(), "web".into(), Some(Protocol::Grpc)),
            (edge(), "web".into(), None)
        ]
    );
    assert_eq!(facts.calls[0].one_of, facts.calls[1].one_of, "routes of one virtual host exclude one another");
    assert_ne!(facts.calls[0].one_of, facts.calls[3].one_of);
    assert_eq!(facts.services.len(), 1);
    assert!(facts.services[0].is_proxy && &*facts.services[0].name == "edge");
    assert!(facts.policies.iter().all(|policy| policy.position == Position::Gateway));
    assert!(matches!(&facts.policies[0].caller, Caller::Service(caller) if caller.host.display() == "edge"));
    let Callee::Service { hosts, .. } = &facts.policies[0].callee else { panic!() };
    assert_eq!(hosts.iter().map(|host| host.host.display()).collect::<Vec<_>>(), ["shop.example"]);
}

#[test]
fn a_proxy_without_a_name_belongs_to_whoever_owns_the_file() {
    let facts = read(&format!("virtual_hosts: [{{ name: v, domains: [\"*\"], routes: [{ROUTES}] }}]"));
    assert_eq!((&facts.policies[0].caller, facts.policies[0].position), (&Caller::ByPath, Position::ClientSidecar));
    assert!(facts.calls.is_empty() && facts.services.is_empty());
    assert_eq!(callees(&facts), ["ledger"]);
    // The cluster is elsewhere, and with it budget, outlier detection and connect timeout.
    let policy = only(facts);
    assert!(policy.budget.known().is_none() && policy.breaker.known().is_none());
    assert!(policy.connect_timeout.as_ref().is_some_and(|timeout| timeout.known().is_none()));
}

#[test]
fn a_name_from_the_environment_is_an_unknown_caller() {
    let text = NAMED
        .replace("cluster: Edge", "cluster: \"${NAME}\"")
        .replace("HOSTS", &format!("{{ name: v, domains: [\"*\"], routes: [{ROUTES}] }}"));
    let facts = read(&text);
    assert!(matches!(facts.policies[0].caller, Caller::Unknown(_)));
    assert!(facts.calls.is_empty());
}

#[test]
fn routes_to_services_of_a_mesh_stand_in_its_sidecars_whoever_dumped_them() {
    let of = |cluster: &str| {
        let text = format!(
            "virtual_hosts: [{{ name: out, domains: [ledger], routes: [{{ match: {{ prefix: / }}, route: {{ cluster: '{cluster}', retry_policy: {{ retry_on: 5xx }} }} }}] }}]"
        );
        let policy = read(&text).policies.remove(0);
        assert_eq!(policy.position, Position::ClientSidecar);
        policy.caller
    };
    assert!(matches!(of("outbound|80||ledger.bank.svc.cluster.local"), Caller::Members { .. }));
    assert!(matches!(of("ledger"), Caller::ByPath));
}

#[test]
fn a_dumped_sidecar_stands_beside_its_service() {
    let facts = read(
        "configs:
- { \"@type\": type.googleapis.com/envoy.admin.v3.BootstrapConfigDump, bootstrap: { node: { id: sidecar~10.0.0.7~web-5d4.shop~shop.svc.cluster.local, cluster: web.shop } } }
- \"@type\": type.googleapis.com/envoy.admin.v3.RoutesConfigDump
  dynamic_route_configs:
  - route_config: { virtual_hosts: [{ name: out, domains: [ledger.bank], routes: [{ match: { prefix: / }, route: { cluster: outbound|80||ledger.bank.svc.cluster.local, timeout: 0s, retry_policy: { retry_on: connect-failure, num_retries: 2 } } }] },
      { name: allow_any, domains: [\"*\"], routes: [{ match: { prefix: / }, route: { cluster: PassthroughCluster } }] }] }
  - route_config: { virtual_hosts: [{ name: in, domains: [\"*\"], routes: [{ match: { prefix: / }, route: { cluster: inbound|8080||, retry_policy: { retry_on: reset-before-request, num_retries: 2 } } }] }] }",
    );
    assert_eq!(callees(&facts), ["ledger.bank", "web.shop"]);
    let positions: Vec<Position> = facts.policies.iter().map(|policy| policy.position).collect();
    assert_eq!(positions, [Position::ClientSidecar, Position::ServerSidecar]);
    assert!(matches!(&facts.policies[0].caller, Caller::Service(caller) if caller.host.display() == "web.shop"));
    assert!(matches!(facts.policies[1].caller, Caller::Unknown(_)));
    assert!(facts.services.is_empty(), "its service is the application beside it");
    assert_eq!(facts.calls.len(), 1);
}

#[test]
fn routes_say_which_requests_they_take() {
    let of = |matched: &str| {
        only(read(&format!(
            "virtual_hosts: [{{ name: shop, domains: [\"*\"], routes: [{{ match: {matched}, route: {{ cluster: ledger }} }}] }}]"
        )))
    };
    let route = |matched: &str| of(matched).route.unwrap();
    let pay = route("{ prefix: /pay, headers: [{ name: \":method\", string_match: { exact: POST } }] }");
    assert_eq!(
        (pay.path, pay.methods, pay.conditional),
        (PathMatch::Prefix("/pay".into()), Methods::Only(vec!["POST".into()]), false)
    );
    assert_eq!(
        &*of("{ prefix: /pay, headers: [{ name: \":method\", string_match: { exact: POST } }] }").name,
        "route POST /pay of shop"
    );
    assert_eq!(&*of("{ prefix: /pay }").name, "route /pay of shop");
    assert_eq!(route("{ prefix: / }").path, PathMatch::Any);
    assert_eq!(route("{ path: /pay }").path, PathMatch::Exact("/pay".into()));
    assert_eq!(route("{ safe_regex: { regex: \"/p.*\" } }").path, PathMatch::Pattern("/p.*".into()));
    assert_eq!(route("{ pathSeparatedPrefix: /pay }").path, PathMatch::Pattern("/pay".into()));
    assert!(route("{ prefix: /, headers: [{ name: x-beta, present_match: true }] }").conditional);
    assert!(route("{ prefix: /, query_parameters: [{ name: q }] }").conditional);
    // Not a method, but all others: a condition that is not modelled.
    let others = route("{ prefix: /, headers: [{ name: \":method\", exact_match: GET, invert_match: true }] }");
    assert_eq!((others.methods, others.conditional), (Methods::Any, true));
}

#[test]
fn routes_of_one_virtual_host_share_its_list_in_order() {
    let facts = read(
        "virtual_hosts: [{ name: v, domains: [\"*\"], routes: [{ match: { path: /old }, redirect: { path_redirect: /new } }, \
         { name: first, match: { prefix: /a }, route: { cluster: a } }, { match: { prefix: / }, route: { cluster_header: x-to } }] }, \
         { name: w, domains: [w], routes: [{ match: { prefix: / }, route: { cluster: a } }] }]",
    );
    let routes: Vec<_> = facts.policies.iter().map(|policy| policy.route.clone().unwrap()).collect();
    assert_eq!(routes.iter().map(|route| route.order).collect::<Vec<_>>(), [1, 2, 0]);
    assert_eq!(routes[0].list, routes[1].list);
    assert_ne!(routes[0].list, routes[2].list);
    assert_eq!(&*facts.policies[0].name, "route first");
    assert!(matches!(facts.policies[1].callee, Callee::Unknown(_)));
}

#[test]
fn anchors_and_merge_keys_are_followed() {
    let facts = read(
        "x-retry: &retry { retry_on: 5xx, num_retries: 2 }
static_resources:
  listeners:
  - filter_chains:
    - filters:
      - typed_config:
          route_config:
            virtual_hosts:
            - name: v
              domains: [\"*\"]
              routes:
              - { match: { prefix: /a }, route: { cluster: a, retry_policy: *retry } }
              - { match: { prefix: /b }, route: { cluster: b, retry_policy: { <<: *retry, num_retries: 4 } } }",
    );
    assert_eq!(facts.policies.iter().map(|policy| policy.tries()).collect::<Vec<_>>(), [Some(3), Some(5)]);
}

#[test]
fn a_route_without_a_policy_is_a_time_limit() {
    let policy = only(read(
        "virtual_hosts: [{ name: v, domains: [\"*\"], routes: [{ match: { prefix: / }, route: { cluster: a, timeout: 3s } }] }]",
    ));
    assert_eq!((policy.kind, policy.tries()), (PolicyKind::TimeLimit, Some(1)));
    assert_eq!(policy.total.limit.known(), Some(&Limit::At(Nanos::from_secs(3))));
    assert!(policy.attempt_timeout_flaw.is_none());
}

#[test]
fn what_only_its_own_machine_reaches_is_no_gateway() {
    let hosts = "{ domains: [stock], routes: [{ match: { prefix: / }, route: { cluster: stock, retry_policy: { num_retries: 2 } } }] }";
    let listener = |address: &str, node: &str| {
        let config = format!("{{ route_config: {{ virtual_hosts: [{hosts}] }} }}");
        let chains = format!("filter_chains: [{{ filters: [{{ name: hcm, typed_config: {config} }}] }}]");
        let facts = read(&format!("{node}static_resources: {{ listeners: [{{ {address}{chains} }}] }}"));
        assert_eq!(facts.policies.len(), 1, "{address}");
        facts.policies[0].caller.clone()
    };
    let at = |host: &str| format!("address: {{ socket_address: {{ address: \"{host}\", port_value: 9000 }} }}, ");
    for host in ["127.0.0.1", "127.0.0.53", "localhost", "::1"] {
        assert_eq!(listener(&at(host), ""), Caller::Beside, "{host}");
    }
    assert_eq!(listener("address: { pipe: { path: /run/egress.sock } }, ", ""), Caller::Beside);
    // All addresses of the machine, another machine's, one that is filled in later, and none at all.
    for host in ["0.0.0.0", "::", "10.0.0.7", "${BIND}"] {
        assert_eq!(listener(&at(host), ""), Caller::ByPath, "{host}");
    }
    assert_eq!(listener("", ""), Caller::ByPath);
    let further = format!("additional_addresses: [{{ {} }}], ", at("10.0.0.7").trim_end_matches(", "));
    assert_eq!(listener(&format!("{}{further}", at("127.0.0.1")), ""), Caller::ByPath);
    // Who says its name is known by it.
    let named = listener(&at("127.0.0.1"), "node: { id: a, cluster: web }\n");
    assert!(matches!(named, Caller::Service(_)), "{named:?}");
}

#[test]
fn a_listener_that_takes_routes_by_name_says_who_reaches_them() {
    let uses = |address: &str| {
        let config = "{ rds: { route_config_name: stock } }";
        let chains = format!("filter_chains: [{{ filters: [{{ name: hcm, typed_config: {config} }}] }}]");
        let address = format!("address: {{ socket_address: {{ address: {address}, port_value: 9000 }} }}");
        read(&format!("static_resources: {{ listeners: [{{ {address}, {chains} }}] }}")).route_uses[0].caller.clone()
    };
    assert_eq!((uses("127.0.0.1"), uses("0.0.0.0")), (Caller::Beside, Caller::ByPath));
}
