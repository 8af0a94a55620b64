use crate::facts::{Callee, Caller, Dialect, PathMatch, Position, Why};
use crate::graph::fixtures::{Tree, callee, reference, route};

#[test]
fn a_gateways_route_stands_on_the_edges_of_known_callers_only() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    tree.call("cart", "ledger");
    tree.call("web", "mail");
    tree.gateway("ledger", 3);
    let net = tree.link();
    let gateway = [(Position::Gateway, vec![vec![0]])];
    assert_eq!(net.edge("web", "ledger").outline(), gateway);
    assert_eq!(net.edge("cart", "ledger").outline(), gateway);
    assert_eq!(net.edge("web", "mail").outline(), []);
    assert!(net.open.is_empty());
}

#[test]
fn a_route_without_any_caller_is_an_open_edge() {
    let mut tree = Tree::default();
    tree.service("web");
    tree.call("web", "mail");
    tree.gateway("web", 3);
    tree.gateway("web", 5);
    let net = tree.link();
    let open = net.open_of("web");
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].outline(), [(Position::Gateway, vec![vec![0], vec![1]])]);
    assert_eq!(open[0].span, tree.facts.policies[0].span);
    assert!(open[0].calls.is_empty());
    assert_eq!(net.graph.edge_count(), 1);
}

#[test]
fn a_route_of_the_mesh_whose_members_are_unknown_is_an_open_edge() {
    let mut tree = Tree::default();
    tree.virtual_service("ledger", 3);
    let net = tree.link();
    assert_eq!(net.open_of("ledger")[0].outline(), [(Position::ClientSidecar, vec![vec![0]])]);
}

#[test]
fn sidecars_and_gateways_have_different_unknown_callers() {
    let mut tree = Tree::default();
    tree.virtual_service("ledger", 3);
    tree.gateway("ledger", 2);
    let net = tree.link();
    // Nobody says that one request passes through both.
    let open: Vec<_> = net.open_of("ledger").iter().map(|edge| edge.outline()).collect();
    assert_eq!(open, [[(Position::ClientSidecar, vec![vec![0]])], [(Position::Gateway, vec![vec![1]])]]);
}

#[test]
fn what_stands_at_the_callee_stands_on_its_open_edges_too() {
    let mut tree = Tree::default();
    tree.mesh();
    tree.workload("ledger", Some(true));
    tree.gateway("ledger", 2);
    let net = tree.link();
    let open = net.open_of("ledger");
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].outline(), [(Position::Gateway, vec![vec![2]]), (Position::ServerSidecar, vec![vec![1]])]);
    assert_eq!(open[0].layers[1].alternatives[0].site, open[0].span);
}

#[test]
fn sidecar_and_gateway_multiply_on_the_edge_of_a_known_caller() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    tree.virtual_service("ledger", 3);
    tree.gateway("ledger", 2);
    let net = tree.link();
    assert_eq!(
        net.edge("web", "ledger").outline(),
        [(Position::ClientSidecar, vec![vec![0]]), (Position::Gateway, vec![vec![1]])]
    );
}

#[test]
fn one_text_for_sidecars_and_gateways_is_taken_once() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    let list = tree.span("mesh.yaml");
    tree.virtual_service("ledger", 3).route = Some(route(list, 0, PathMatch::Any));
    tree.virtual_service("ledger", 3).route = Some(route(list, 0, PathMatch::Any));
    let gateway = &mut tree.facts.policies[1];
    gateway.position = Position::Gateway;
    gateway.caller = Caller::Unknown(Why::Other("a gateway".into()));
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").outline(), [(Position::ClientSidecar, vec![vec![0]])]);
}

#[test]
fn a_route_covers_what_is_asked_for_by_its_hosts() {
    let mut tree = Tree::default();
    tree.call("web", "reviews");
    tree.virtual_service("reviews-v2", 3).callee = Callee::Service {
        service: reference("reviews-v2"),
        hosts: vec![reference("reviews"), reference("unheard-of")],
    };
    let net = tree.link();
    // What is asked for by the host's name is answered by the destination.
    assert_eq!(net.edge("web", "reviews-v2").outline(), [(Position::ClientSidecar, vec![vec![0]])]);
    assert!(net.open.is_empty());
    assert_eq!(net.names(), ["reviews-v2", "web"]);
}

#[test]
fn weighted_destinations_of_one_route_exclude_one_another() {
    let mut tree = Tree::default();
    tree.service("web").paths = vec!["services/web".into()];
    let list = tree.span("services/web/envoy.yaml");
    for (order, host) in [(0, "pay-a"), (0, "pay-b"), (1, "mail")] {
        tree.sidecar("services/web/envoy.yaml", host, 3).route = Some(route(list, order, PathMatch::Any));
    }
    let net = tree.link();
    let group = net.edge("web", "pay-a").one_of.clone();
    assert!(group.is_some());
    assert_eq!(net.edge("web", "pay-b").one_of, group);
    assert_eq!(net.edge("web", "mail").one_of, None);
}

#[test]
fn a_destination_that_another_route_leads_to_as_well_is_no_choice() {
    let mut tree = Tree::default();
    tree.service("web").paths = vec!["services/web".into()];
    let list = tree.span("services/web/envoy.yaml");
    for (order, host) in [(0, "pay-a"), (0, "pay-b"), (1, "pay-a")] {
        tree.sidecar("services/web/envoy.yaml", host, 3).route = Some(route(list, order, PathMatch::Any));
    }
    let net = tree.link();
    assert_eq!(net.edge("web", "pay-a").one_of, None);
}

#[test]
fn a_policy_of_a_known_call_stands_on_that_edge_only() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    tree.call("cart", "ledger");
    tree.manifest_retry(3);
    let net = tree.link();
    assert_eq!(net.edge("cart", "ledger").outline(), [(Position::CallerCode, vec![vec![0]])]);
    assert_eq!(net.edge("web", "ledger").outline(), []);
}

#[test]
fn a_policy_with_caller_and_callee_stands_on_their_edge_only() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    tree.call("cart", "ledger");
    let policy = tree.policy("web.json", Dialect::Dotnet, Position::CallerCode, 4);
    policy.caller = Caller::Service(reference("web"));
    policy.callee = callee("ledger");
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").outline(), [(Position::CallerCode, vec![vec![0]])]);
    assert_eq!(net.edge("cart", "ledger").outline(), []);
}

#[test]
fn more_meetings_than_can_be_looked_at_are_sampled() {
    let mut tree = Tree::default();
    for n in 0..1500 {
        tree.call(&format!("caller-{n}"), "ledger");
        tree.gateway("ledger", 1 + n % 4);
    }
    let net = tree.link();
    assert_eq!(net.notes.len(), 1);
    assert!(net.open.is_empty());
    // 4, 3, 2 and 1 tries: one of each.
    assert!(net.graph.edge_weights().all(|edge| edge.layers[0].alternatives.len() == 4));
}
