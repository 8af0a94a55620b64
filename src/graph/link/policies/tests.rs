use crate::facts::{
    Callee, Caller, Confidence, Dialect, Evidence, ObjectName, Policy, PolicyId, Position, RouteUse, ServiceSource, Why,
};
use crate::graph::fixtures::{Tree, callee, reference};

fn owned(tree: &mut Tree, name: &str) {
    let path = format!("services/{name}");
    tree.service(name).paths = vec![path.as_str().into()];
}

#[test]
fn a_proxy_below_a_services_paths_is_its_sidecar() {
    let mut tree = Tree::default();
    owned(&mut tree, "web");
    tree.call("web", "ledger");
    tree.sidecar("services/web/deploy/envoy.yaml", "ledger", 3);
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").outline(), [(Position::ClientSidecar, vec![vec![0]])]);
    assert_eq!(net.resolved[0].caller, Some(net.shown("web")));
    assert_eq!(net.resolved[0].callee, Some(net.shown("ledger")));
}

#[test]
fn paths_are_relative_to_the_file_that_declares_them() {
    let mut tree = Tree::default();
    let span = tree.span("system/services.yaml");
    let web = tree.service("web");
    web.span = span;
    web.paths = vec!["services/web/**".into()];
    tree.sidecar("system/services/web/envoy.yaml", "ledger", 3);
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").layers.len(), 1);
}

#[test]
fn a_proxy_anywhere_else_is_a_gateway_with_unknown_callers() {
    let mut tree = Tree::default();
    owned(&mut tree, "web");
    tree.call("web", "ledger");
    tree.sidecar("deploy/envoy.yaml", "ledger", 3);
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").outline(), [(Position::Gateway, vec![vec![0]])]);
    assert_eq!(net.resolved[0].caller, None);
}

#[test]
fn code_without_a_known_caller_stands_on_no_edge() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    tree.policy("tools/http.json", Dialect::Dotnet, Position::CallerCode, 4).callee = callee("ledger");
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").outline(), []);
    assert!(net.open.is_empty());
    assert_eq!(net.resolved[0].callee, Some(net.shown("ledger")));
}

#[test]
fn a_route_of_a_known_caller_is_a_call() {
    let mut tree = Tree::default();
    owned(&mut tree, "web");
    tree.sidecar("services/web/envoy.yaml", "ledger", 3);
    let net = tree.link();
    let edge = net.edge("web", "ledger");
    assert!(edge.calls.is_empty());
    assert_eq!(edge.source, crate::facts::CallSource::Route);
    assert_eq!(edge.span, tree.facts.policies[0].span);
}

#[test]
fn a_proxy_beside_a_service_that_leads_to_it_stands_in_front_of_it() {
    let mut tree = Tree::default();
    owned(&mut tree, "ledger");
    tree.call("web", "ledger");
    tree.sidecar("services/ledger/envoy.yaml", "ledger", 3);
    let net = tree.link();
    assert_eq!(net.graph.edge_count(), 1);
    assert_eq!(net.edge("web", "ledger").outline(), [(Position::Gateway, vec![vec![0]])]);
}

fn settings<'t>(tree: &'t mut Tree, names: &[&str]) -> &'t mut Policy {
    let policy = tree.policy("services/web/appsettings.json", Dialect::Dotnet, Position::CallerCode, 4);
    policy.callee = Callee::Named(names.iter().map(|name| (*name).into()).collect());
    policy
}

#[test]
fn a_name_like_a_known_services_is_inferred_to_be_it() {
    for name in ["PaymentsClient", "PAYMENTS_URL", "payments.base-url", "IPaymentsApi", "payments"] {
        let mut tree = Tree::default();
        owned(&mut tree, "web");
        tree.service("payments");
        settings(&mut tree, &["nonsense", name]);
        let net = tree.link();
        assert!(net.resolved[0].inferred, "{name}");
        let edge = net.edge("web", "payments");
        assert_eq!(edge.confidence, Confidence::Medium);
        assert_eq!(edge.layers[0].alternatives[0].confidence, Confidence::Medium);
    }
}

#[test]
fn a_name_like_nothing_known_has_no_callee() {
    let mut tree = Tree::default();
    owned(&mut tree, "web");
    tree.service("payments");
    settings(&mut tree, &["Payment", "PaymentsGateway", "default"]);
    let net = tree.link();
    assert_eq!(net.resolved[0].callee, None);
    assert_eq!(net.graph.edge_count(), 0);
}

#[test]
fn a_name_like_two_services_has_no_callee_unless_one_is_called_exactly_so() {
    let mut tree = Tree::default();
    owned(&mut tree, "web");
    tree.service("payments-api");
    tree.service("payments-service");
    settings(&mut tree, &["PaymentsClient"]);
    assert_eq!(tree.link().resolved[0].callee, None);
    tree.service("payments");
    let net = tree.link();
    assert_eq!(net.resolved[0].callee, Some(net.shown("payments")));
}

#[test]
fn a_services_own_name_in_its_settings_is_no_call_to_itself() {
    let mut tree = Tree::default();
    owned(&mut tree, "web");
    settings(&mut tree, &["WebClient"]);
    assert_eq!(tree.link().resolved[0].callee, None);
}

#[test]
fn a_workload_that_nothing_else_refers_to_is_a_known_service() {
    let mut tree = Tree::default();
    owned(&mut tree, "web");
    tree.workload("payments", None);
    settings(&mut tree, &["PaymentsClient"]);
    let net = tree.link();
    assert_eq!(net.edge("web", "payments").layers.len(), 1);
}

#[test]
fn policies_with_unknown_callees_change_nothing() {
    let mut tree = Tree::default();
    owned(&mut tree, "web");
    tree.call("web", "ledger");
    tree.policy("services/web/appsettings.json", Dialect::Dotnet, Position::CallerCode, 9);
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").outline(), []);
    assert_eq!(net.resolved[0].caller, Some(net.shown("web")));
    assert_eq!(net.resolved[0].callee, None);
}

#[test]
fn low_confidence_tests_and_rejected_objects_change_nothing() {
    let mut tree = Tree::default();
    owned(&mut tree, "web");
    tree.call("web", "ledger");
    settings(&mut tree, &["ledger"]).confidence = Confidence::Low;
    settings(&mut tree, &["ledger"]).test_code = true;
    settings(&mut tree, &["ledger"]).callee = callee("unheard-of");
    tree.facts.policies[2].confidence = Confidence::Low;
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").outline(), []);
    // They are still listed with what they call, but bring no service in.
    assert_eq!(net.resolved[0].callee, Some(net.shown("ledger")));
    assert_eq!(net.names(), ["ledger", "web"]);
}

#[test]
fn what_encloses_a_policy_says_what_it_leaves_open_and_the_other_way_round() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    let call = tree.last_call();
    // A loop around a call through a client whose policy is known to call `ledger`, and a layer inside that says nothing.
    tree.policy("a.rs", Dialect::Code, Position::CallerCode, 2);
    let client = tree.policy("a.rs", Dialect::Code, Position::CallerCode, 3);
    client.inside = Some(PolicyId(0));
    client.calls = vec![call];
    tree.policy("a.rs", Dialect::Code, Position::CallerCode, 4).inside = Some(PolicyId(1));
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").outline(), [(Position::CallerCode, vec![vec![0, 1, 2]])]);
    assert!(net.resolved.iter().all(|resolved| resolved.callee == Some(net.shown("ledger"))));
}

#[test]
fn policies_that_enclose_each_other_in_a_circle_end() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    for inside in [1, 0] {
        let policy = tree.policy("a.rs", Dialect::Code, Position::CallerCode, 2);
        policy.inside = Some(PolicyId(inside));
        policy.caller = Caller::Service(reference("web"));
        policy.callee = callee("ledger");
    }
    assert_eq!(tree.link().graph.edge_count(), 1);
}

#[test]
fn an_inferred_caller_makes_the_layer_less_sure() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    let mut web = reference("web");
    web.evidence = Evidence::Inferred;
    let policy = tree.sidecar("envoy.yaml", "ledger", 3);
    policy.caller = Caller::Service(web);
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").layers[0].alternatives[0].confidence, Confidence::Medium);
}

#[test]
fn a_proxy_with_a_name_is_a_service_that_calls() {
    let mut tree = Tree::default();
    let span = tree.span("gateway/envoy.yaml");
    let mut edge = crate::facts::Service::new("edge", span, ServiceSource::Proxy);
    edge.is_proxy = true;
    tree.facts.services.push(edge);
    tree.call_in("gateway/envoy.yaml", crate::facts::CallSource::Route, "edge", "web");
    let policy = tree.sidecar("gateway/envoy.yaml", "web", 3);
    policy.caller = Caller::Service(reference("edge"));
    let net = tree.link();
    assert_eq!(net.edge("edge", "web").outline(), [(Position::ClientSidecar, vec![vec![0]])]);
    assert!(net.graph[net.shown("edge")].service.is_proxy);
}

/// A route of the mesh for `ledger` in an object that says itself not who calls.
fn part(tree: &mut Tree) {
    let policy = tree.virtual_service("ledger", 3);
    policy.caller = Caller::Unknown(Why::Other("a part".into()));
    policy.part_of = Some(object("part"));
}

fn object(name: &str) -> ObjectName {
    ObjectName { dialect: Dialect::Istio, name: name.into(), namespace: None }
}

fn delegate(tree: &mut Tree, position: Position, caller: Caller) {
    let span = tree.span("mesh.yaml");
    let of = object("part");
    tree.facts.route_uses.push(RouteUse {
        of,
        position,
        caller,
        hands_down: None,
        whole: None,
        environment: None,
        span,
    });
}

#[test]
fn a_part_of_a_gateways_route_stands_in_that_gateway_only() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    part(&mut tree);
    delegate(&mut tree, Position::Gateway, Caller::Service(reference("public")));
    // Two routes that lead to the same part are one.
    delegate(&mut tree, Position::Gateway, Caller::Service(reference("public")));
    let net = tree.link();
    let edge = net.edge("public", "ledger");
    assert_eq!(edge.outline(), [(Position::Gateway, vec![vec![0]])]);
    assert_eq!(edge.one_of.as_deref(), Some("routes of public"));
    assert_eq!(net.edge("web", "ledger").outline(), []);
    assert!(net.open.is_empty());
}

#[test]
fn a_part_of_two_roots_stands_with_the_callers_of_both() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    tree.call("cart", "ledger");
    tree.workload("web", None);
    part(&mut tree);
    delegate(&mut tree, Position::Gateway, Caller::Service(reference("public")));
    let labels = vec![("app".into(), "cart".into())];
    delegate(&mut tree, Position::ClientSidecar, Caller::Members { namespace: None, labels });
    tree.workload("cart", Some(true));
    let net = tree.link();
    assert_eq!(net.edge("public", "ledger").outline(), [(Position::Gateway, vec![vec![0]])]);
    assert_eq!(net.edge("cart", "ledger").outline(), [(Position::ClientSidecar, vec![vec![0]])]);
    assert_eq!(net.edge("web", "ledger").outline(), []);
}

#[test]
fn a_part_that_nothing_leads_to_has_unknown_callers() {
    let mut tree = Tree::default();
    part(&mut tree);
    delegate(&mut tree, Position::Gateway, Caller::Service(reference("public")));
    tree.facts.route_uses[0].of = object("another");
    let net = tree.link();
    assert_eq!(net.open_of("ledger")[0].outline(), [(Position::ClientSidecar, vec![vec![0]])]);
}
