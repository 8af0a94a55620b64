//! Files as a user has them, read and linked: who calls through routes that stand in a file of their own.

use crate::facts::{Facts, File, FileKind, PolicyKind, Position, Protocol, Role, Why};
use crate::graph::Net;
use crate::graph::link::{environments, link};
use crate::read::{ReadSettings, finish, read_file};
use crate::source::FileId;

/// The facts of a tree; a file below `prod/` or `dev/` belongs to that environment.
fn read(files: &[(&str, &str)]) -> Facts {
    let settings = ReadSettings::default();
    let mut facts = Facts::default();
    for (at, (path, text)) in files.iter().enumerate() {
        let mut own = read_file(FileId(at as u32), path, FileKind::Yaml, text, &settings);
        assert_ne!(own, Facts::default(), "nothing is read in {path}");
        let environment = ["prod", "dev"].into_iter().find(|name| path.split('/').any(|part| part == *name));
        let environment = environment.map(Into::into);
        own.stamp(environment.as_ref(), Role::Production);
        facts.absorb(own);
        let (path, kind) = ((*path).into(), FileKind::Yaml);
        facts.files.push(File { path, kind, environment, role: Role::Production, named: false, told_by: None });
    }
    finish(&mut facts);
    facts
}

fn net(files: &[(&str, &str)]) -> Net {
    link(&read(files), None)
}

/// Calls with the tries of each layer: `edge -> web gateway 3`. Open edges come from `(any)`.
fn calls(facts: &Facts, net: &Net) -> Vec<String> {
    let name = |node: petgraph::graph::NodeIndex| net.graph[node].display.to_string();
    let layers = |edge: &crate::graph::Edge| {
        let mut text = String::new();
        for layer in &edge.layers {
            for nest in &layer.alternatives {
                let tries = nest.policies.iter().filter_map(|id| facts.policy(*id)?.tries()).max();
                let tries = tries.map_or("?".to_string(), |tries| tries.to_string());
                text += &format!(" {} {tries}", layer.position.name());
            }
        }
        text
    };
    let known = net.graph.edge_indices().map(|index| {
        let (caller, callee) = net.graph.edge_endpoints(index).unwrap();
        format!("{} -> {}{}", name(caller), name(callee), layers(&net.graph[index]))
    });
    let open = net.open.iter().map(|(callee, edge)| format!("(any) -> {}{}", name(*callee), layers(edge)));
    let mut all: Vec<String> = known.chain(open).collect();
    all.sort();
    all
}

fn linked(files: &[(&str, &str)]) -> Vec<String> {
    let facts = read(files);
    calls(&facts, &link(&facts, None))
}

/// A bootstrap, with `node.cluster` if `name` is one, whose connection manager has this field.
fn bootstrap(name: &str, routes: &str) -> String {
    let node = if name.is_empty() { String::new() } else { format!("node: {{ id: a, cluster: {name} }}\n") };
    format!(
        r#"{node}static_resources:
  listeners:
  - filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: in
          {routes}
"#
    )
}

fn by_name(name: &str, config: &str) -> String {
    bootstrap(name, &format!("rds: {{ route_config_name: {config}, config_source: {{ ads: {{}} }} }}"))
}

/// Two routes: a split of `/pay`, tried three times, and `web`, tried four times.
const HOST: &str = "{ name: all, domains: ['*'], routes: [\
    { match: { prefix: /pay }, route: { retry_policy: { retry_on: 5xx, num_retries: 2 }, \
        weighted_clusters: { clusters: [{ name: pay-a, weight: 1 }, { name: pay-b, weight: 1 }] } } }, \
    { match: { prefix: / }, route: { cluster: web, retry_policy: { retry_on: 5xx, num_retries: 3 } } }] }";

/// Them as a list of resources in the file of a control plane.
fn resources(config: &str) -> String {
    let kind = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";
    format!("resources:\n- {{ '@type': {kind}, name: {config}, virtual_hosts: [{HOST}] }}\n")
}

const JOINED: [&str; 3] = ["edge -> pay-a gateway 3", "edge -> pay-b gateway 3", "edge -> web gateway 4"];
const OPEN: [&str; 3] = ["(any) -> pay-a gateway 3", "(any) -> pay-b gateway 3", "(any) -> web gateway 4"];

#[test]
fn a_route_configuration_in_its_own_file_is_like_an_inline_one() {
    let inline = bootstrap("edge", &format!("route_config: {{ name: shop, virtual_hosts: [{HOST}] }}"));
    let inline = net(&[("edge/bootstrap.yaml", &inline)]);
    let own = resources("shop");
    let single = format!("name: shop\nvirtual_hosts: [{HOST}]\n");
    for routes in [&own, &single] {
        let files = [("edge/bootstrap.yaml", &*by_name("edge", "shop")), ("edge/rds.yaml", routes)];
        assert_eq!(linked(&files), JOINED);
        let net = net(&files);
        assert!(net.graph[net.shown("edge")].service.is_proxy);
        // A request takes one route of the virtual host, inline or not.
        for net in [&net, &inline] {
            let groups = ["pay-a", "pay-b", "web"].map(|callee| net.edge("edge", callee).one_of.clone());
            assert!(groups[0].is_some() && groups.iter().all(|group| *group == groups[0]), "{groups:?}");
        }
        for callee in ["pay-a", "pay-b", "web"] {
            let (one, other) = (net.edge("edge", callee), inline.edge("edge", callee));
            assert_eq!(one.outline(), other.outline());
            assert_eq!((one.per_request, one.source, one.confidence), (1.0, other.source, other.confidence));
        }
    }
}

#[test]
fn a_route_for_grpc_alone_makes_a_grpc_edge() {
    let rds = "name: shop\nvirtual_hosts:\n- domains: ['*']\n  routes:\n  - { match: { prefix: /, grpc: {} }, route: { cluster: web } }\n";
    let net = net(&[("a/b.yaml", &by_name("edge", "shop")), ("a/rds.yaml", rds)]);
    assert_eq!(net.edge("edge", "web").protocol, Some(Protocol::Grpc));
}

#[test]
fn the_only_proxy_that_names_a_route_configuration_may_stand_elsewhere() {
    let files = [("edge/bootstrap.yaml", &*by_name("edge", "shop")), ("routes/rds.yaml", &resources("shop"))];
    assert_eq!(linked(&files), JOINED);
    // Another name is another configuration.
    let files = [("edge/bootstrap.yaml", &*by_name("edge", "admin")), ("routes/rds.yaml", &resources("shop"))];
    assert_eq!(linked(&files), OPEN);
    let files = [("edge/bootstrap.yaml", &*by_name("edge", "${ROUTES}")), ("edge/rds.yaml", &resources("shop"))];
    assert_eq!(linked(&files), OPEN);
}

#[test]
fn two_proxies_with_routes_of_one_name_never_mix() {
    let (edge, inner) = (by_name("edge", "local"), by_name("inner", "local"));
    let mail = resources("local").replace("pay-a", "mail").replace("pay-b", "post").replace("web", "cart");
    let files =
        [("a/b.yaml", &*edge), ("a/rds.yaml", &resources("local")), ("b/b.yaml", &inner), ("b/rds.yaml", &mail)];
    let others = ["inner -> cart gateway 4", "inner -> mail gateway 3", "inner -> post gateway 3"];
    assert_eq!(linked(&files), [&JOINED[..], &others[..]].concat());
    // Whose routes stand in a third folder, nobody knows.
    let files = [("a/b.yaml", &*edge), ("b/b.yaml", &inner), ("routes/rds.yaml", &resources("local"))];
    assert_eq!(linked(&files), OPEN);
    // Nor which of two beside each other it is.
    let files = [("a/b.yaml", &*edge), ("a/c.yaml", &inner), ("a/rds.yaml", &resources("local"))];
    assert_eq!(linked(&files), OPEN);
    // Two listeners, or two instances, of one proxy are one.
    let files = [("a/b.yaml", &*edge), ("a/c.yaml", &edge), ("a/rds.yaml", &resources("local"))];
    assert_eq!(linked(&files), JOINED);
}

#[test]
fn routes_of_one_name_in_two_folders_belong_only_to_the_proxy_beside_them() {
    let mail = resources("shop").replace("pay-a", "mail").replace("pay-b", "post").replace("web", "cart");
    let edge = by_name("edge", "shop");
    let files = [("a/b.yaml", &*edge), ("a/rds.yaml", &resources("shop")), ("b/rds.yaml", &mail)];
    let others = ["(any) -> cart gateway 4", "(any) -> mail gateway 3", "(any) -> post gateway 3"];
    assert_eq!(linked(&files), [&others[..], &JOINED[..]].concat());
    let files = [("c/b.yaml", &*edge), ("a/rds.yaml", &resources("shop")), ("b/rds.yaml", &mail)];
    assert_eq!(linked(&files), [&others[..1], &others[1..2], &OPEN[..2], &others[2..], &OPEN[2..]].concat());
}

const SERVICES: &str = "services:\n  shop: { paths: [shop], calls: [] }\n  cart: { paths: [cart], calls: [] }\n";

#[test]
fn a_proxy_without_a_name_is_that_of_the_service_whose_file_it_is() {
    let files =
        [("services.yaml", SERVICES), ("shop/b.yaml", &by_name("", "all")), ("routes/rds.yaml", &resources("all"))];
    let calls = ["shop -> pay-a client-sidecar 3", "shop -> pay-b client-sidecar 3", "shop -> web client-sidecar 4"];
    assert_eq!(linked(&files), calls);
    // Routes that are themselves a service's file stay with it.
    let files =
        [("services.yaml", SERVICES), ("edge/b.yaml", &by_name("edge", "all")), ("shop/rds.yaml", &resources("all"))];
    assert_eq!(linked(&files), calls);
    // And a proxy of nobody's says nothing.
    let files = [("services.yaml", SERVICES), ("b.yaml", &by_name("", "all")), ("rds.yaml", &resources("all"))];
    assert_eq!(linked(&files), OPEN);
}

#[test]
fn a_proxy_of_another_environment_uses_no_routes() {
    let files = [
        ("prod/b.yaml", &*by_name("edge", "shop")),
        ("rds.yaml", &resources("shop")),
        ("dev/b.yaml", &by_name("", "admin")),
    ];
    let facts = read(&files);
    assert_eq!(environments(&facts).len(), 2);
    assert_eq!(calls(&facts, &link(&facts, Some("prod".into()))), JOINED);
    assert_eq!(calls(&facts, &link(&facts, Some("dev".into()))), OPEN);
}

#[test]
fn scoped_routes_are_used_by_name_too() {
    let scoped = "scoped_routes: { name: s, scoped_route_configurations_list: { scoped_route_configurations: \
                  [{ name: x, route_configuration_name: shop }] } }";
    let files = [("a/b.yaml", &*bootstrap("edge", scoped)), ("a/rds.yaml", &resources("shop"))];
    assert_eq!(linked(&files), JOINED);
}

/// A cluster resource.
fn cluster(name: &str, host: &str) -> String {
    let address = format!("{{ address: {{ socket_address: {{ address: {host}, port_value: 80 }} }} }}");
    format!(
        "- '@type': type.googleapis.com/envoy.config.cluster.v3.Cluster\n  name: {name}\n  load_assignment: \
         {{ endpoints: [{{ lb_endpoints: [{{ endpoint: {address} }}] }}] }}\n  circuit_breakers: \
         {{ thresholds: [{{ max_retries: 7 }}] }}\n"
    )
}

#[test]
fn routes_clusters_and_proxy_may_stand_in_three_files() {
    let clusters = |host: &str| format!("resources:\n{}", cluster("web", host));
    let edge = by_name("edge", "local");
    let (rds, cds) = (resources("local"), clusters("storefront"));
    let files = [("a/b.yaml", &*edge), ("a/rds.yaml", &rds), ("a/cds.yaml", &cds)];
    let here = ["edge -> pay-a gateway 3", "edge -> pay-b gateway 3", "edge -> storefront gateway 4"];
    assert_eq!(linked(&files), here);
    let facts = read(&files);
    let net = link(&facts, None);
    let upstream = net.edge("edge", "storefront").layers[0].alternatives[0].upstream.unwrap();
    assert_eq!(facts.upstreams[upstream as usize].retry_cap.limit(), Some(&7));

    // The cluster of that name beside another proxy is another one.
    let other = resources("local").replace("pay-a", "mail").replace("pay-b", "post");
    let (inner, admin) = (by_name("inner", "local"), clusters("backoffice"));
    let more = [("b/b.yaml", &*inner), ("b/rds.yaml", &other), ("b/cds.yaml", &admin)];
    let there = ["inner -> backoffice gateway 4", "inner -> mail gateway 3", "inner -> post gateway 3"];
    assert_eq!(linked(&[&files[..], &more[..]].concat()), [&here[..], &there[..]].concat());
}

fn virtual_service(name: &str, spec: &str) -> String {
    format!(
        "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{ name: {name}, namespace: bank }}\n\
         spec:\n{spec}\n"
    )
}

/// A root at the gateway `public`, with further fields of its route.
fn root(name: &str, fields: &str) -> String {
    let route = format!("  - delegate: {{ name: part }}\n{fields}");
    virtual_service(name, &format!("  hosts: [{name}.example.com]\n  gateways: [public]\n  http:\n{route}"))
}

/// A delegate for `ledger`, with further fields of its route.
fn part(fields: &str) -> String {
    virtual_service("part", &format!("  http:\n  - route: [{{ destination: {{ host: ledger }} }}]\n{fields}"))
}

#[test]
fn a_delegate_takes_retries_and_timeout_from_its_root_only_where_it_lacks_them() {
    // Root, delegate, tries in all, timeout in milliseconds.
    let cases = [
        ("", "", Some(3), None),
        ("    retries: { attempts: 4 }\n    timeout: 3s", "", Some(5), Some(3000)),
        ("    retries: { attempts: 4 }\n    timeout: 3s", "    retries: { attempts: 1 }", Some(2), Some(3000)),
        ("    retries: { attempts: 4 }\n    timeout: 3s", "    timeout: 1s", Some(5), Some(1000)),
        ("    retries: { attempts: 0 }", "", Some(1), None),
        ("    timeout: 3s", "    retries: null", Some(3), Some(3000)),
    ];
    for (root_says, part_says, tries, timeout) in cases {
        let facts = read(&[("root.yaml", &root("shop", root_says)), ("part.yaml", &part(part_says))]);
        let policy = facts.policies.iter().find(|policy| policy.part_of.is_some()).unwrap();
        assert_eq!(policy.tries(), tries, "{root_says} / {part_says}");
        let limit = policy.total.limit.limit().map(|limit| limit.0 / 1_000_000);
        assert_eq!((limit, policy.total.limit.is_none()), (timeout, timeout.is_none()), "{root_says} / {part_says}");
        assert_eq!(policy.kind == PolicyKind::Default, tries == Some(3));
        let net = link(&facts, None);
        let edge = net.edge("public", "ledger");
        assert_eq!(edge.layers[0].position, Position::Gateway);
    }
}

#[test]
fn a_delegate_whose_root_is_not_seen_or_not_in_force_stays_unknown() {
    let is_unknown = |files: &[(&str, &str)]| {
        let facts = read(files);
        let policy = facts.policies.iter().find(|policy| policy.part_of.is_some()).unwrap();
        matches!(policy.attempts.why(), Some(Why::Other(_))) && policy.total.limit.known().is_none()
    };
    let (shop, part) = (root("shop", "    retries: { attempts: 4 }"), part(""));
    assert!(is_unknown(&[("part.yaml", &part)]));
    assert!(is_unknown(&[("part.yaml", &part), ("root.yaml", &shop.replace("name: part", "name: other"))]));
    assert!(is_unknown(&[("dev/part.yaml", &part), ("prod/root.yaml", &shop)]));
    // `attempts` without a number: Istio takes nothing of the root.
    assert!(is_unknown(&[("part.yaml", &part), ("root.yaml", &shop.replace("4", "many"))]));
    assert!(!is_unknown(&[("part.yaml", &part), ("root.yaml", &shop)]));
}

#[test]
fn roots_that_disagree_hand_down_what_they_agree_on() {
    let part = part("");
    let tries = |one: &str, other: &str| {
        let facts = read(&[("a.yaml", &root("a", one)), ("b.yaml", &root("b", other)), ("part.yaml", &part)]);
        let policy = facts.policies.iter().find(|policy| policy.part_of.is_some()).unwrap().clone();
        (policy.tries(), policy.total.limit.limit().map(|limit| limit.0 / 1_000_000_000))
    };
    assert_eq!(tries("    retries: { attempts: 4 }", "    retries: { attempts: 4 }\n    timeout: 3s"), (Some(5), None));
    assert_eq!(tries("    retries: { attempts: 4 }\n    timeout: 3s", "    timeout: 3s"), (None, Some(3)));
}

#[test]
fn the_default_that_a_delegate_takes_is_the_one_of_the_mesh() {
    let mesh = "meshConfig:\n  defaultHttpRetryPolicy: { attempts: 6 }\n";
    let facts = read(&[("mesh.yaml", mesh), ("root.yaml", &root("shop", "")), ("part.yaml", &part(""))]);
    let policy = facts.policies.iter().find(|policy| policy.part_of.is_some()).unwrap();
    assert_eq!((policy.tries(), policy.kind), (Some(7), PolicyKind::Config));
}

#[test]
fn an_attempt_limit_of_the_root_is_measured_by_the_delegates_own_timeout() {
    let retries = "    retries: { attempts: 2, perTryTimeout: 2s, retryOn: '5xx' }\n    timeout: 9s";
    let flawed = |part_says: &str| {
        let facts = read(&[("root.yaml", &root("shop", retries)), ("part.yaml", &part(part_says))]);
        let policy = facts.policies.iter().find(|policy| policy.part_of.is_some()).unwrap();
        policy.attempt_timeout_flaw.is_some()
    };
    assert!(flawed("    timeout: 2s"));
    assert!(!flawed("    timeout: 3s"));
    assert!(!flawed(""));
}
