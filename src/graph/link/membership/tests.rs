use crate::facts::{Caller, Confidence, Dialect, Host, Position, Protocol, ServiceRef, ServiceSource, Sourced, Why};
use crate::graph::fixtures::{Tree, callee, reference};
use crate::graph::{Membership, Net};

/// A mesh with a route for `ledger`, and one call `web -> ledger`. The route is policy 2, after both defaults.
fn tree() -> Tree {
    let mut tree = Tree::default();
    tree.mesh();
    tree.virtual_service("ledger", 4);
    tree.call("web", "ledger");
    tree
}

fn has_route(tree: &Tree) -> bool {
    let net = tree.link();
    net.edge("web", "ledger").outline().iter().any(|(position, _)| *position == Position::ClientSidecar)
}

fn web(tree: &Tree) -> Membership {
    let net = tree.link();
    net.graph[net.shown("web")].mesh
}

fn name(name: &str, namespace: &str) -> Host {
    Host::Name { name: name.into(), namespace: Some(namespace.into()) }
}

fn positions(net: &Net, caller: &str, callee: &str) -> Vec<Position> {
    net.edge(caller, callee).outline().into_iter().map(|(position, _)| position).collect()
}

#[test]
fn a_caller_whose_workload_says_so_is_in() {
    let mut tree = tree();
    tree.workload("web", Some(true));
    assert!(has_route(&tree));
    assert_eq!(web(&tree), Membership::Member);
}

#[test]
fn a_caller_whose_workload_says_no_is_out_whatever_its_namespace_says() {
    let mut tree = tree();
    tree.workload("web", Some(false)).namespace = Some("shop".into());
    tree.namespace("shop", Some(true));
    assert!(!has_route(&tree));
    assert_eq!(web(&tree), Membership::Outside);
}

#[test]
fn a_namespace_speaks_for_its_workloads() {
    let mut tree = tree();
    tree.workload("web", None).namespace = Some("shop".into());
    tree.namespace("shop", Some(true));
    assert!(has_route(&tree));
    assert_eq!(web(&tree), Membership::Member);
}

#[test]
fn a_namespace_without_label_is_out_where_others_have_one() {
    let mut tree = tree();
    tree.workload("web", None).namespace = Some("shop".into());
    tree.namespace("shop", None);
    tree.namespace("bank", Some(true));
    assert!(!has_route(&tree));
    assert_eq!(web(&tree), Membership::Outside);
}

#[test]
fn a_namespace_whose_object_was_not_seen_says_nothing() {
    let mut tree = tree();
    tree.workload("web", None).namespace = Some("shop".into());
    tree.namespace("shop", None).declared = false;
    tree.namespace("bank", Some(true));
    assert_eq!(web(&tree), Membership::Unknown);
    assert!(!has_route(&tree));
}

#[test]
fn a_caller_without_a_workload_is_assumed_to_be_in_where_the_mesh_names_its_callee() {
    let tree = tree();
    assert_eq!(web(&tree), Membership::Assumed);
    let net = tree.link();
    let sidecar = &net.edge("web", "ledger").layers[0];
    assert_eq!(sidecar.position, Position::ClientSidecar);
    assert_eq!(sidecar.alternatives[0].confidence, Confidence::Medium);
}

#[test]
fn nobody_is_assumed_to_be_in_where_the_mesh_does_not_name_the_callee() {
    let mut tree = tree();
    tree.call("web", "cart");
    let net = tree.link();
    assert_eq!(net.edge("web", "cart").outline(), []);
}

#[test]
fn a_caller_whose_workload_is_shown_and_says_nothing_is_not_assumed_to_be_in() {
    let mut tree = tree();
    tree.workload("web", None);
    assert!(!has_route(&tree));
    assert_eq!(web(&tree), Membership::Unknown);
}

#[test]
fn a_label_that_cannot_be_told_is_no_assumption_either() {
    let mut tree = tree();
    let span = tree.span("k8s.yaml");
    tree.workload("web", None).mesh = Some(Sourced::unknown(Why::Template("inject".into()), span));
    assert!(!has_route(&tree));
}

#[test]
fn a_proxy_is_never_assumed_to_be_in() {
    let mut tree = tree();
    let web = tree.service("web");
    web.is_proxy = true;
    web.source = ServiceSource::Proxy;
    assert!(!has_route(&tree));
    tree.workload("web", Some(true));
    assert!(has_route(&tree));
}

#[test]
fn a_gateway_of_the_mesh_has_no_sidecar_whatever_its_namespace_says() {
    let mut tree = tree();
    tree.namespace("shop", Some(true));
    tree.call("public", "ledger");
    tree.call("cart", "ledger").from().host = name("cart", "shop");
    tree.call("public", "cart").from().host = name("public", "shop");
    let route = tree.policy("mesh.yaml", Dialect::Istio, Position::Gateway, 3);
    route.caller = Caller::Service(ServiceRef { host: name("public", "shop"), ..reference("public") });
    route.callee = callee("ledger");
    let net = tree.link();
    // Neither the mesh's route nor its default stands beside the gateway's own route.
    assert_eq!(positions(&net, "public", "ledger"), [Position::Gateway, Position::ServerSidecar]);
    assert_eq!(positions(&net, "cart", "ledger"), [Position::ClientSidecar, Position::ServerSidecar]);
    assert_eq!(positions(&net, "public", "cart"), [Position::ServerSidecar]);
}

#[test]
fn a_route_of_the_mesh_with_unknown_bindings_is_in_no_proxy_outside_of_it() {
    let mut tree = tree();
    tree.facts.policies[2].caller = Caller::Unknown(Why::Other("a delegate".into()));
    tree.call("cart", "ledger");
    tree.workload("cart", Some(false));
    let net = tree.link();
    assert_eq!(positions(&net, "cart", "ledger"), [Position::ServerSidecar]);
    assert_eq!(positions(&net, "web", "ledger"), [Position::ClientSidecar, Position::ServerSidecar]);
}

#[test]
fn a_proxy_of_ones_own_may_have_a_sidecar_where_a_gateway_of_the_mesh_has_none() {
    let mut tree = Tree::default();
    tree.mesh();
    tree.namespace("shop", Some(true));
    let mut in_shop = |name: &str, is_proxy: bool| {
        let service = tree.service(name);
        service.namespace = Some("shop".into());
        service.is_proxy = is_proxy;
    };
    in_shop("entry", true);
    in_shop("front", true);
    in_shop("ledger", false);
    // Policy 2 is the route of the gateway, 3 that of a proxy of one's own, which may have a sidecar.
    for (name, dialect) in [("entry", Dialect::Istio), ("front", Dialect::Envoy)] {
        let route = tree.policy("mesh.yaml", dialect, Position::Gateway, 4);
        route.caller = Caller::Service(reference(&format!("{name}.shop")));
        route.callee = callee("ledger.shop");
    }
    // The routes of gateways make their calls themselves.
    tree.call("entry.shop", "ledger.shop");
    let call = tree.last_call();
    tree.facts.policies[2].calls = vec![call];
    let net = tree.link();
    assert_eq!(
        net.edge("entry", "ledger").outline(),
        [(Position::Gateway, vec![vec![2]]), (Position::ServerSidecar, vec![vec![1]])]
    );
    assert_eq!(
        net.edge("front", "ledger").outline(),
        [
            (Position::ClientSidecar, vec![vec![0]]),
            (Position::Gateway, vec![vec![3]]),
            (Position::ServerSidecar, vec![vec![1]])
        ]
    );
}

#[test]
fn workloads_behind_a_service_speak_for_it() {
    let mut tree = tree();
    tree.workload("web-v1", Some(true)).labels = vec![("app".into(), "web".into())];
    tree.kube_service("web", "web");
    assert_eq!(web(&tree), Membership::Member);
}

/// Two members, no route: the defaults are policies 0 and 1.
fn members() -> Tree {
    let mut tree = Tree::default();
    tree.mesh();
    tree.call("web", "ledger");
    tree.workload("web", Some(true));
    tree.workload("ledger", Some(true));
    tree
}

#[test]
fn the_defaults_of_a_mesh_stand_on_every_edge_between_members() {
    let tree = members();
    let net = tree.link();
    let edge = net.edge("web", "ledger");
    assert_eq!(edge.outline(), [(Position::ClientSidecar, vec![vec![0]]), (Position::ServerSidecar, vec![vec![1]])]);
    // Nobody wrote them: the call is what brings them in.
    let sites: Vec<_> = edge.layers.iter().map(|layer| layer.alternatives[0].site).collect();
    assert_eq!(sites, [edge.span, edge.span]);
    assert!(edge.layers.iter().all(|layer| layer.alternatives[0].confidence == Confidence::High));
}

#[test]
fn a_route_of_the_mesh_stands_in_for_the_clients_default() {
    let mut tree = members();
    tree.virtual_service("ledger", 4);
    let net = tree.link();
    assert_eq!(
        net.edge("web", "ledger").outline(),
        [(Position::ClientSidecar, vec![vec![2]]), (Position::ServerSidecar, vec![vec![1]])]
    );
}

#[test]
fn a_route_that_the_control_plane_rejects_stands_in_for_nothing() {
    let mut tree = members();
    let span = tree.span("mesh.yaml");
    tree.virtual_service("ledger", 4).ineffective = vec![crate::facts::Ineffective {
        span,
        message: String::new(),
        label: String::new(),
        help: String::new(),
        rejected: true,
    }];
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").outline()[0], (Position::ClientSidecar, vec![vec![0]]));
}

#[test]
fn the_clients_default_needs_both_ends_and_the_inbound_one_only_the_callee() {
    let mut outside = members();
    outside.facts.workloads[0].mesh = Some(Sourced::written(false, outside.facts.workloads[0].span));
    let net = outside.link();
    assert_eq!(net.edge("web", "ledger").outline(), [(Position::ServerSidecar, vec![vec![1]])]);

    let mut beyond = members();
    beyond.facts.workloads[1].mesh = Some(Sourced::written(false, beyond.facts.workloads[1].span));
    let net = beyond.link();
    assert_eq!(net.edge("web", "ledger").outline(), []);
}

#[test]
fn the_inbound_default_is_for_http_and_no_default_is_for_queues() {
    let mut grpc = members();
    grpc.facts.calls[0].protocol = Some(Protocol::Grpc);
    assert_eq!(grpc.link().edge("web", "ledger").outline(), [(Position::ClientSidecar, vec![vec![0]])]);

    let mut queue = members();
    queue.facts.calls[0].is_async = true;
    assert_eq!(queue.link().edge("web", "ledger").outline(), []);
}

#[test]
fn an_external_service_has_the_clients_default_where_an_object_of_the_mesh_names_it() {
    let mut tree = members();
    tree.call("web", "api.stripe.com");
    tree.call("web", "api.paypal.com");
    let span = tree.span("mesh.yaml");
    tree.facts.services.push(crate::facts::Service::new("api.stripe.com", span, ServiceSource::Kubernetes));
    let net = tree.link();
    assert_eq!(net.edge("web", "api.stripe.com").outline(), [(Position::ClientSidecar, vec![vec![0]])]);
    assert_eq!(net.edge("web", "api.paypal.com").outline(), []);
}

#[test]
fn without_a_mesh_there_are_no_defaults() {
    let mut tree = members();
    tree.facts.meshes.clear();
    assert_eq!(tree.link().edge("web", "ledger").outline(), []);
}

#[test]
fn a_default_that_is_switched_off_stands_nowhere() {
    let mut tree = members();
    tree.facts.meshes[0].client_default = None;
    assert_eq!(tree.link().edge("web", "ledger").outline(), [(Position::ServerSidecar, vec![vec![1]])]);
}

#[test]
fn a_route_is_for_callers_of_its_namespace_and_labels_only() {
    let route = |namespace: Option<&str>, labels: &[(&str, &str)]| {
        let mut tree = members();
        tree.facts.workloads[0].namespace = Some("shop".into());
        tree.virtual_service("ledger", 4).caller = Caller::Members {
            namespace: namespace.map(Into::into),
            labels: labels.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect(),
        };
        tree.link().edge("web", "ledger").outline()[0].1.clone()
    };
    assert_eq!(route(Some("shop"), &[]), [[2]]);
    assert_eq!(route(None, &[("app", "web")]), [[2]]);
    // Where the route is not for this caller, the mesh's default is.
    assert_eq!(route(Some("bank"), &[]), [[0]]);
    assert_eq!(route(None, &[("app", "cart")]), [[0]]);
}
