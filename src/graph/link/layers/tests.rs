use crate::facts::{
    Attempts, CallSource, Caller, Dialect, Operation, PathMatch, PolicyId, PolicyKind, Position, Sourced, Why,
};
use crate::graph::fixtures::{Tree, callee, environment, reference, route};

fn members() -> Caller {
    Caller::Members { namespace: None, labels: Vec::new() }
}

#[test]
fn two_policies_at_one_position_are_alternatives() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    tree.virtual_service("ledger", 3);
    tree.virtual_service("ledger", 5);
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").outline(), [(Position::ClientSidecar, vec![vec![0], vec![1]])]);
}

#[test]
fn a_policy_inside_another_is_one_alternative_with_both() {
    let mut tree = Tree::default();
    for path in ["a.rs", "b.rs"] {
        tree.call_in(path, CallSource::Code, "web", "ledger");
        let call = tree.last_call();
        tree.policy(path, Dialect::Code, Position::CallerCode, 2).calls = vec![call];
    }
    let inner = tree.policy("a.rs", Dialect::Code, Position::CallerCode, 3);
    inner.inside = Some(PolicyId(0));
    let net = tree.link();
    let edge = net.edge("web", "ledger");
    assert_eq!(edge.outline(), [(Position::CallerCode, vec![vec![1], vec![0, 2]])]);
    // Findings point to the layer with most tries.
    assert_eq!(edge.layers[0].alternatives[1].site, tree.facts.policies[2].span);
}

#[test]
fn positions_stand_outermost_first() {
    let mut tree = Tree::default();
    tree.mesh();
    tree.workload("ledger", Some(true));
    tree.call("web", "ledger");
    tree.gateway("ledger", 2);
    tree.virtual_service("ledger", 3);
    tree.manifest_retry(4);
    let net = tree.link();
    let positions: Vec<_> = net.edge("web", "ledger").layers.iter().map(|layer| layer.position).collect();
    assert_eq!(positions, [Position::CallerCode, Position::ClientSidecar, Position::Gateway, Position::ServerSidecar]);
}

#[test]
fn what_was_read_wins_over_a_manifest_at_the_same_position() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    tree.manifest_retry(9);
    let policy = tree.policy("web.json", Dialect::Dotnet, Position::CallerCode, 4);
    policy.caller = Caller::Service(reference("web"));
    policy.callee = callee("ledger");
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").outline(), [(Position::CallerCode, vec![vec![1]])]);
}

#[test]
fn a_manifest_stands_where_what_was_read_is_elsewhere_unknown_or_only_a_time_limit() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    tree.manifest_retry(9);
    tree.virtual_service("ledger", 3);
    let span = tree.span("web.json");
    for (attempts, kind) in [
        (Sourced::unknown(Why::Environment("RETRIES".into()), span), PolicyKind::Config),
        (Sourced::written(Attempts::Times(1), span), PolicyKind::TimeLimit),
    ] {
        let policy = tree.policy("web.json", Dialect::Dotnet, Position::CallerCode, 1);
        policy.attempts = attempts;
        policy.kind = kind;
        policy.caller = Caller::Service(reference("web"));
        policy.callee = callee("ledger");
    }
    let net = tree.link();
    assert_eq!(
        net.edge("web", "ledger").outline(),
        [(Position::CallerCode, vec![vec![0], vec![2], vec![3]]), (Position::ClientSidecar, vec![vec![1]])]
    );
}

#[test]
fn the_settings_win_over_everything_at_their_position() {
    let mut tree = Tree::default();
    tree.call_in("retrylint.toml", CallSource::Settings, "web", "ledger");
    tree.manifest_retry(2);
    let policy = tree.policy("web.json", Dialect::Dotnet, Position::CallerCode, 4);
    policy.caller = Caller::Service(reference("web"));
    policy.callee = callee("ledger");
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").outline(), [(Position::CallerCode, vec![vec![0]])]);
}

#[test]
fn a_known_operation_leaves_out_routes_that_exclude_it() {
    let mut tree = Tree::default();
    tree.call("web", "ledger").operation = Some(Operation::parse("POST /pay"));
    tree.call("cart", "ledger");
    let list = tree.span("mesh.yaml");
    for (order, path) in
        [PathMatch::Exact("/health".into()), PathMatch::Prefix("/pay".into()), PathMatch::Any].into_iter().enumerate()
    {
        tree.virtual_service("ledger", 2 + order as u64).route = Some(route(list, order as u32, path));
    }
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").outline(), [(Position::ClientSidecar, vec![vec![1]])]);
    assert_eq!(net.edge("cart", "ledger").outline(), [(Position::ClientSidecar, vec![vec![0], vec![1], vec![2]])]);
}

#[test]
fn a_callers_own_cluster_bounds_its_route() {
    let mut tree = Tree::default();
    for name in ["web", "cart"] {
        let folder = format!("services/{name}");
        tree.service(name).paths = vec![folder.as_str().into()];
        tree.upstream(&format!("{folder}/cds.yaml"), Dialect::Envoy, Caller::ByPath, "ledger");
        tree.sidecar(&format!("{folder}/rds.yaml"), "ledger", 3);
    }
    let net = tree.link();
    let upstream = |caller| net.edge(caller, "ledger").layers[0].alternatives[0].upstream;
    assert_eq!(upstream("web"), Some(0));
    assert_eq!(upstream("cart"), Some(1));
    assert_eq!(net.graph[net.shown("ledger")].upstreams, [0, 1]);
}

#[test]
fn a_destination_rule_bounds_routes_and_defaults_of_the_mesh_but_no_other_dialect() {
    let mut tree = Tree::default();
    tree.mesh();
    tree.workload("web", Some(true));
    tree.workload("ledger", Some(true));
    tree.workload("mail", Some(true));
    tree.call("web", "ledger");
    tree.call("web", "mail");
    tree.virtual_service("ledger", 3);
    tree.gateway("ledger", 2);
    tree.upstream("rules.yaml", Dialect::Istio, members(), "ledger");
    tree.upstream("rules.yaml", Dialect::Istio, members(), "mail");
    let net = tree.link();
    let layers = &net.edge("web", "ledger").layers;
    assert_eq!(layers[0].position, Position::ClientSidecar);
    assert_eq!(layers[0].alternatives[0].upstream, Some(0));
    assert_eq!(layers[1].position, Position::Gateway);
    assert_eq!(layers[1].alternatives[0].upstream, None);
    assert_eq!(net.edge("web", "mail").layers[0].alternatives[0].upstream, Some(1));
}

#[test]
fn clusters_of_unknown_proxies_bound_only_what_is_in_their_file() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    let unknown = || Caller::Unknown(Why::Other("a gateway".into()));
    for path in ["a/envoy.yaml", "b/envoy.yaml"] {
        tree.upstream(path, Dialect::Envoy, unknown(), "ledger");
    }
    for path in ["a/envoy.yaml", "c/envoy.yaml"] {
        tree.sidecar(path, "ledger", 3);
    }
    let net = tree.link();
    let upstreams: Vec<_> = net.edge("web", "ledger").layers[0].alternatives.iter().map(|nest| nest.upstream).collect();
    assert_eq!(upstreams, [Some(0), None]);
}

#[test]
fn an_environments_own_rule_comes_before_its_bases() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    tree.virtual_service("ledger", 3);
    tree.upstream("base.yaml", Dialect::Istio, members(), "ledger");
    tree.upstream("prod.yaml", Dialect::Istio, members(), "ledger").environment = environment("prod");
    let upstream = |net: crate::graph::Net| net.edge("web", "ledger").layers[0].alternatives[0].upstream;
    assert_eq!(upstream(tree.link_in("prod")), Some(1));
    assert_eq!(upstream(tree.link_in("dev")), Some(0));
}

#[test]
fn a_default_that_nobody_wrote_does_not_silence_a_manifest() {
    let mut tree = Tree::default();
    tree.mesh();
    tree.workload("web", Some(true));
    tree.workload("ledger", Some(true));
    tree.call("web", "ledger");
    tree.manifest_retry(5).position = Position::ClientSidecar;
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").outline()[0], (Position::ClientSidecar, vec![vec![0], vec![2]]));
}

#[test]
fn a_rule_for_some_callers_bounds_theirs_and_comes_first() {
    let mut tree = Tree::default();
    for (name, space) in [("web", "shop"), ("desk", "office")] {
        tree.workload(name, Some(true)).namespace = Some(space.into());
        tree.call(name, "ledger");
    }
    tree.virtual_service("ledger", 3);
    tree.upstream("rules.yaml", Dialect::Istio, members(), "ledger");
    let shop = Caller::Members { namespace: Some("shop".into()), labels: Vec::new() };
    tree.upstream("rules.yaml", Dialect::Istio, shop, "ledger");
    let net = tree.link();
    let upstream = |caller| net.edge(caller, "ledger").layers[0].alternatives[0].upstream;
    assert_eq!((upstream("web"), upstream("desk")), (Some(1), Some(0)));
}

#[test]
fn a_gateway_of_the_mesh_has_its_rules() {
    let mut tree = Tree::default();
    tree.call_in("mesh.yaml", CallSource::Route, "ingress", "ledger");
    let policy = tree.virtual_service("ledger", 3);
    policy.position = Position::Gateway;
    policy.caller = Caller::Service(reference("ingress"));
    tree.upstream("rules.yaml", Dialect::Istio, members(), "ledger");
    let net = tree.link();
    assert_eq!(net.edge("ingress", "ledger").layers[0].alternatives[0].upstream, Some(0));
}

#[test]
fn a_cluster_is_about_the_service_that_its_routes_are_inferred_to_call() {
    let mut tree = Tree::default();
    tree.service("payments");
    tree.service("web").paths = vec!["services/web".into()];
    let policy = tree.sidecar("services/web/envoy.yaml", "unused", 3);
    policy.callee = crate::facts::Callee::Named(vec!["payments_service".into()]);
    let upstream = tree.upstream("services/web/envoy.yaml", Dialect::Envoy, Caller::ByPath, "payments_service");
    upstream.callee.evidence = crate::facts::Evidence::Inferred;
    upstream.names = vec!["payments_service".into()];
    let net = tree.link();
    assert_eq!(net.edge("web", "payments").layers[0].alternatives[0].upstream, Some(0));
    assert_eq!(net.names(), ["payments", "web"]);
}

#[test]
fn a_route_of_the_mesh_with_unknown_bindings_does_not_multiply_with_its_default() {
    let mut tree = Tree::default();
    tree.mesh();
    tree.workload("web", Some(true));
    tree.workload("ledger", Some(true));
    tree.call("web", "ledger");
    tree.virtual_service("ledger", 5).caller = Caller::Unknown(Why::Template("gateways".into()));
    let net = tree.link();
    assert_eq!(
        net.edge("web", "ledger").outline(),
        [(Position::ClientSidecar, vec![vec![2]]), (Position::ServerSidecar, vec![vec![1]])]
    );
}
