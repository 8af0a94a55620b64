use crate::facts::{Callee, Caller, Operation, PathMatch, Policy, PortProtocol, Position};
use crate::graph::Net;
use crate::graph::fixtures::{Tree, reference, route};
use crate::source::Span;

/// Routes of one list for `checkout`: some requests to `checkout-canary`, five tries; all others to itself, one try.
fn canary(tree: &mut Tree) {
    let list = tree.span("mesh.yaml");
    way(tree, list, "checkout-canary", 5).route.as_mut().unwrap().conditional = true;
    way(tree, list, "checkout", 1).route.as_mut().unwrap().order = 1;
}

fn way<'t>(tree: &'t mut Tree, list: Span, to: &str, tries: u64) -> &'t mut Policy {
    let policy = tree.virtual_service(to, tries);
    policy.route = Some(route(list, 0, PathMatch::Any));
    policy.callee = Callee::Service { service: reference(to), hosts: vec![reference("checkout")] };
    policy
}

fn sidecar(policy: u32) -> [(Position, Vec<Vec<u32>>); 1] {
    [(Position::ClientSidecar, vec![vec![policy]])]
}

fn calls(net: &Net) -> Vec<String> {
    let name = |node: petgraph::graph::NodeIndex| &*net.graph[node].display;
    let mut all: Vec<String> = net
        .graph
        .edge_indices()
        .filter_map(|edge| net.graph.edge_endpoints(edge))
        .map(|(from, to)| format!("{} → {}", name(from), name(to)))
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn a_call_of_a_host_is_one_of_either_destination_each_with_its_own_routes() {
    let mut tree = Tree::default();
    canary(&mut tree);
    tree.call("web", "checkout");
    let net = tree.link();
    assert_eq!(calls(&net), ["web → checkout", "web → checkout-canary"]);
    assert_eq!(net.edge("web", "checkout-canary").outline(), sidecar(0));
    assert_eq!(net.edge("web", "checkout").outline(), sidecar(1));
    let group = &net.edge("web", "checkout").one_of;
    assert!(group.is_some());
    assert_eq!(&net.edge("web", "checkout-canary").one_of, group);
    assert!(net.open.is_empty());
}

#[test]
fn two_calls_are_two_choices() {
    let mut tree = Tree::default();
    canary(&mut tree);
    tree.call("web", "checkout").operation = Some(Operation::parse("GET /cart"));
    tree.call("web", "checkout").operation = Some(Operation::parse("POST /orders"));
    let net = tree.link();
    let groups = |to| net.between("web", to).iter().map(|edge| edge.one_of.clone()).collect::<Vec<_>>();
    assert_eq!(groups("checkout"), groups("checkout-canary"));
    assert_ne!(groups("checkout")[0], groups("checkout")[1]);
}

#[test]
fn who_calls_a_destination_by_its_own_name_passes_no_route_of_the_host() {
    let mut tree = Tree::default();
    canary(&mut tree);
    tree.call("web", "checkout");
    tree.call("admin", "checkout-canary");
    assert_eq!(tree.link().edge("admin", "checkout-canary").outline(), []);
}

#[test]
fn destinations_that_the_operation_rules_out_are_not_called() {
    let mut tree = Tree::default();
    let list = tree.span("mesh.yaml");
    way(&mut tree, list, "search", 6).route = Some(route(list, 0, PathMatch::Prefix("/search".into())));
    way(&mut tree, list, "checkout", 1).route = Some(route(list, 1, PathMatch::Any));
    tree.call("web", "checkout").operation = Some(Operation::parse("GET /search/shoes"));
    tree.call("cart", "checkout").operation = Some(Operation::parse("GET /cart"));
    tree.call("app", "checkout");
    let net = tree.link();
    assert_eq!(calls(&net), ["app → checkout", "app → search", "cart → checkout", "web → search"]);
    assert_eq!(net.edge("web", "search").outline(), sidecar(0));
    assert_eq!(net.edge("web", "search").one_of.as_deref().map(|_| ()), Some(()));
    assert_eq!(net.edge("cart", "checkout").outline(), sidecar(1));
    assert_eq!(net.edge("cart", "checkout").one_of, None);
}

#[test]
fn what_no_route_surely_takes_may_stay_with_its_host() {
    let mut tree = Tree::default();
    let list = tree.span("mesh.yaml");
    way(&mut tree, list, "checkout-canary", 5).route.as_mut().unwrap().conditional = true;
    tree.call("web", "checkout");
    assert_eq!(calls(&tree.link()), ["web → checkout", "web → checkout-canary"]);
}

#[test]
fn a_caller_outside_the_mesh_calls_the_host_itself() {
    let mut tree = Tree::default();
    canary(&mut tree);
    tree.workload("web", Some(false));
    tree.call("web", "checkout");
    let net = tree.link();
    assert_eq!(calls(&net), ["web → checkout"]);
    assert_eq!(net.edge("web", "checkout").outline(), []);
}

#[test]
fn routes_for_other_callers_send_nobody_on() {
    let mut tree = Tree::default();
    canary(&mut tree);
    let batch = vec![("app".into(), "batch".into())];
    tree.facts.policies[0].caller = Caller::Members { namespace: None, labels: batch };
    tree.workload("batch", Some(true));
    tree.workload("web", Some(true));
    tree.call("web", "checkout");
    tree.call("batch", "checkout");
    assert_eq!(calls(&tree.link()), ["batch → checkout", "batch → checkout-canary", "web → checkout"]);
}

#[test]
fn a_host_that_leads_to_itself_is_one_call_and_no_choice() {
    let mut tree = Tree::default();
    let list = tree.span("mesh.yaml");
    way(&mut tree, list, "checkout", 3);
    way(&mut tree, list, "checkout.shop.svc", 3);
    tree.call("web", "checkout");
    let net = tree.link();
    assert_eq!(calls(&net), ["web → checkout"]);
    assert_eq!(net.edge("web", "checkout").one_of, None);
}

#[test]
fn the_retries_of_the_caller_stand_before_every_destination() {
    let mut tree = Tree::default();
    canary(&mut tree);
    tree.call("web", "checkout");
    tree.manifest_retry(2);
    let net = tree.link();
    for (to, route) in [("checkout-canary", 0), ("checkout", 1)] {
        let layers = [(Position::CallerCode, vec![vec![2]]), (Position::ClientSidecar, vec![vec![route]])];
        assert_eq!(net.edge("web", to).outline(), layers);
    }
}

#[test]
fn a_call_that_only_a_policy_proves_is_sent_on_as_well() {
    let mut tree = Tree::default();
    canary(&mut tree);
    let policy = tree.policy("web.json", crate::facts::Dialect::Dotnet, Position::CallerCode, 4);
    policy.caller = Caller::Service(reference("web"));
    policy.callee = crate::graph::fixtures::callee("checkout");
    let net = tree.link();
    assert_eq!(calls(&net), ["web → checkout", "web → checkout-canary"]);
    assert_eq!(net.edge("web", "checkout").one_of, net.edge("web", "checkout-canary").one_of);
}

#[test]
fn a_policy_of_a_caller_for_the_host_stands_before_what_answers_for_it() {
    let mut tree = Tree::default();
    canary(&mut tree);
    tree.call("web", "checkout");
    let policy = tree.policy("web.json", crate::facts::Dialect::Dotnet, Position::CallerCode, 4);
    policy.caller = Caller::Service(reference("web"));
    policy.callee = crate::graph::fixtures::callee("checkout");
    let net = tree.link();
    assert_eq!(calls(&net), ["web → checkout", "web → checkout-canary"]);
    for to in ["checkout", "checkout-canary"] {
        assert_eq!(net.edge("web", to).outline()[0], (Position::CallerCode, vec![vec![2]]));
    }
}

#[test]
fn a_proxy_that_a_call_may_not_pass_leaves_the_host_among_the_callees() {
    let mut tree = Tree::default();
    let gateway = tree.gateway("checkout-canary", 5);
    gateway.callee = Callee::Service { service: reference("checkout-canary"), hosts: vec![reference("checkout")] };
    tree.call("web", "checkout");
    let net = tree.link();
    assert_eq!(calls(&net), ["web → checkout", "web → checkout-canary"]);
    assert_eq!(net.edge("web", "checkout").outline(), []);
    assert_eq!(net.edge("web", "checkout-canary").outline(), [(Position::Gateway, vec![vec![0]])]);
}

/// The layers of the call `web → ledger`, both in the mesh, for ports of `ledger`; the policies 0 and 1 are the defaults.
fn layers_for(ports: &[PortProtocol]) -> Vec<(Position, Vec<Vec<u32>>)> {
    let mut tree = Tree::default();
    tree.mesh();
    tree.workload("web", Some(true));
    tree.workload("ledger", Some(true));
    tree.kube_service("ledger", "ledger").ports = ports.to_vec();
    tree.call("web", "ledger");
    tree.link().edge("web", "ledger").outline()
}

#[test]
fn on_a_port_that_is_declared_to_be_opaque_no_proxy_retries() {
    use PortProtocol::{Http, Opaque, Unsaid};
    let defaults = [(Position::ClientSidecar, vec![vec![0]]), (Position::ServerSidecar, vec![vec![1]])];
    assert_eq!(layers_for(&[Opaque]), []);
    assert_eq!(layers_for(&[Http]), defaults);
    assert_eq!(layers_for(&[Unsaid]), defaults);
    // Which of them is called is not known.
    assert_eq!(layers_for(&[Opaque, Http]), defaults);
    assert_eq!(layers_for(&[Opaque, Unsaid]), defaults);
    assert_eq!(layers_for(&[]), defaults);
}

#[test]
fn a_service_of_another_name_says_what_its_workload_speaks() {
    let mut tree = Tree::default();
    tree.mesh();
    tree.workload("web", Some(true));
    tree.workload("ledger", Some(true));
    tree.kube_service("ledger-db", "ledger").ports = vec![PortProtocol::Opaque];
    tree.call("web", "ledger-db");
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger-db").outline(), []);
}

#[test]
fn a_route_for_requests_takes_none_of_an_opaque_port() {
    let mut tree = Tree::default();
    tree.kube_service("ledger", "ledger").ports = vec![PortProtocol::Opaque];
    tree.call("web", "ledger");
    tree.virtual_service("ledger", 3);
    // A gateway takes the TLS off, or is told so; its routes are for what it has in its hands.
    tree.gateway("ledger", 4);
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").outline(), [(Position::Gateway, vec![vec![1]])]);
    assert!(net.open.is_empty());
    assert_eq!([0, 1].map(|at: usize| net.resolved[at].takes_nothing), [true, false]);
}

#[test]
fn the_ports_of_the_host_that_is_asked_decide_and_behind_it_those_of_the_callee() {
    use PortProtocol::{Http, Opaque};
    let layers = |host: PortProtocol, destination: PortProtocol| {
        let mut tree = Tree::default();
        tree.mesh();
        for (name, port) in [("checkout", host), ("checkout-tls", destination)] {
            tree.workload(name, Some(true));
            tree.kube_service(name, name).ports = vec![port];
        }
        tree.workload("web", Some(true));
        let list = tree.span("mesh.yaml");
        way(&mut tree, list, "checkout-tls", 3);
        tree.call("web", "checkout");
        tree.link().edge("web", "checkout-tls").outline()
    };
    assert_eq!(layers(Http, Opaque), sidecar(2));
    assert_eq!(layers(Opaque, Http), [(Position::ServerSidecar, vec![vec![1]])]);
    let both = [(Position::ClientSidecar, vec![vec![2]]), (Position::ServerSidecar, vec![vec![1]])];
    assert_eq!(layers(Http, Http), both);
}
