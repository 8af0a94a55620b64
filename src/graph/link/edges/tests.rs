use crate::facts::{CallSource, Confidence, Evidence, Operation, Protocol, Sourced, Why};
use crate::graph::fixtures::Tree;

fn times(tree: &mut Tree, n: f64) -> Sourced<f64> {
    Sourced::written(n, tree.span("services.yaml"))
}

#[test]
fn two_entries_of_one_manifest_add_up() {
    let mut tree = Tree::default();
    let two = times(&mut tree, 2.0);
    tree.call("web", "db").per_request = two;
    tree.call("web", "db");
    let net = tree.link();
    assert_eq!(net.edge("web", "db").per_request, 3.0);
    assert_eq!(net.edge("web", "db").calls.len(), 2);
}

#[test]
fn two_manifests_and_two_places_in_code_speak_of_the_same_calls() {
    let mut tree = Tree::default();
    let (two, three) = (times(&mut tree, 2.0), times(&mut tree, 3.0));
    tree.call("web", "db").per_request = two;
    tree.call_in("other.yaml", CallSource::Manifest, "web", "db").per_request = three;
    tree.call_in("a.rs", CallSource::Code, "web", "cache");
    tree.call_in("a.rs", CallSource::Code, "web", "cache");
    let net = tree.link();
    assert_eq!(net.edge("web", "db").per_request, 3.0);
    assert_eq!(net.edge("web", "cache").per_request, 1.0);
}

#[test]
fn code_is_believed_before_a_manifest_and_the_settings_before_both() {
    let mut tree = Tree::default();
    let (two, five, seven) = (times(&mut tree, 2.0), times(&mut tree, 5.0), times(&mut tree, 7.0));
    tree.call("web", "db").per_request = two.clone();
    tree.call_in("a.rs", CallSource::Code, "web", "db").per_request = five.clone();
    tree.call("web", "api").per_request = two.clone();
    tree.call_in("a.rs", CallSource::Code, "web", "api").per_request = five;
    tree.call_in("retrylint.toml", CallSource::Settings, "web", "api").per_request = seven;
    // Code that says nothing about the number leaves the manifest's.
    tree.call("web", "mail").per_request = two;
    tree.call_in("a.rs", CallSource::Code, "web", "mail");
    let net = tree.link();
    assert_eq!(net.edge("web", "db").per_request, 5.0);
    assert_eq!(net.edge("web", "db").source, CallSource::Manifest);
    assert_eq!(net.edge("web", "api").per_request, 7.0);
    assert_eq!(net.edge("web", "api").source, CallSource::Settings);
    assert_eq!(net.edge("web", "mail").per_request, 2.0);
}

#[test]
fn a_number_that_cannot_be_told_counts_one() {
    let mut tree = Tree::default();
    let span = tree.span("services.yaml");
    tree.call("web", "db").per_request = Sourced::unknown(Why::Environment("N".into()), span);
    let nonsense = times(&mut tree, -4.0);
    tree.call("web", "api").per_request = nonsense;
    let net = tree.link();
    assert_eq!(net.edge("web", "db").per_request, 1.0);
    assert_eq!(net.edge("web", "api").per_request, 1.0);
}

#[test]
fn operations_that_differ_are_different_edges() {
    let mut tree = Tree::default();
    tree.call("web", "payments").operation = Some(Operation::parse("POST /charge"));
    tree.call("web", "payments").operation = Some(Operation::parse("POST /refund"));
    tree.call("web", "payments").operation = Some(Operation::parse("POST /charge"));
    let net = tree.link();
    let edges = net.between("web", "payments");
    assert_eq!(edges.len(), 2);
    assert_eq!(edges[0].per_request, 2.0);
    assert_eq!(edges[0].operation, Some(Operation::parse("POST /charge")));
    assert_eq!(edges[1].per_request, 1.0);
}

#[test]
fn entries_of_one_list_that_differ_are_calls_of_their_own() {
    let mut tree = Tree::default();
    // Two tries of one call and four of the other are six requests, not eight.
    for tries in [2, 4] {
        tree.call("web", "ledger");
        let call = tree.last_call();
        tree.policy("services.yaml", crate::facts::Dialect::Manifest, crate::facts::Position::CallerCode, tries)
            .calls = vec![call];
    }
    tree.call("web", "mail");
    tree.call("web", "mail").is_async = true;
    let net = tree.link();
    let edges = net.between("web", "ledger");
    assert_eq!(edges.len(), 2);
    assert!(edges.iter().all(|edge| edge.per_request == 1.0 && edge.layers.len() == 1));
    // The caller waits for one of the two.
    let waits: Vec<bool> = net.between("web", "mail").iter().map(|edge| !edge.is_async).collect();
    assert_eq!(waits, [true, false]);
}

#[test]
fn an_unknown_operation_is_no_different_one() {
    let mut tree = Tree::default();
    tree.call("web", "payments").operation = Some(Operation::parse("POST /charge"));
    tree.call_in("a.rs", CallSource::Code, "web", "payments").operation = Some(Operation::parse("/charge"));
    tree.call_in("b.rs", CallSource::Code, "web", "payments");
    let net = tree.link();
    assert_eq!(net.edge("web", "payments").operation, Some(Operation::parse("POST /charge")));
    assert_eq!(net.edge("web", "payments").per_request, 1.0);
}

#[test]
fn a_call_that_may_be_any_of_several_operations_brings_its_policy_to_all() {
    let mut tree = Tree::default();
    tree.call("web", "payments").operation = Some(Operation::parse("POST /charge"));
    tree.call("web", "payments").operation = Some(Operation::parse("POST /refund"));
    tree.call_in("a.rs", CallSource::Code, "web", "payments");
    let call = tree.last_call();
    tree.policy("a.rs", crate::facts::Dialect::Code, crate::facts::Position::CallerCode, 4).calls = vec![call];
    let net = tree.link();
    let edges = net.between("web", "payments");
    assert_eq!(edges.len(), 2);
    assert!(edges.iter().all(|edge| edge.per_request == 1.0 && edge.layers.len() == 1));
}

#[test]
fn a_list_that_leaves_an_operation_out_speaks_of_a_further_call() {
    let mut tree = Tree::default();
    tree.call("web", "payments").operation = Some(Operation::parse("POST /charge"));
    tree.call("web", "payments").operation = Some(Operation::parse("POST /refund"));
    tree.call("web", "payments");
    let net = tree.link();
    assert_eq!(net.between("web", "payments").len(), 3);
}

#[test]
fn entries_that_exclude_one_another_do_not_add_up() {
    let mut tree = Tree::default();
    let two = times(&mut tree, 2.0);
    tree.call("web", "pay").one_of = Some("provider".into());
    let other = tree.call("web", "pay");
    other.one_of = Some("provider".into());
    other.per_request = two;
    tree.call("web", "bank").one_of = Some("provider".into());
    tree.call("web", "mail").one_of = Some("channel".into());
    tree.call("web", "mail");
    let net = tree.link();
    assert_eq!(net.edge("web", "pay").per_request, 2.0);
    assert_eq!(net.edge("web", "pay").one_of.as_deref(), Some("provider"));
    assert_eq!(net.edge("web", "bank").one_of.as_deref(), Some("provider"));
    // One of them is made in any case, so the edge is no choice.
    assert_eq!(net.edge("web", "mail").per_request, 2.0);
    assert_eq!(net.edge("web", "mail").one_of, None);
}

#[test]
fn an_edge_is_as_sure_as_its_best_call() {
    let mut tree = Tree::default();
    tree.call_in("a.rs", CallSource::Code, "web", "db").to().evidence = Evidence::Inferred;
    tree.call_in("a.rs", CallSource::Code, "web", "mail").to().evidence = Evidence::Inferred;
    tree.call("web", "mail");
    tree.call_in("a.rs", CallSource::Code, "web", "api").confidence = Confidence::Low;
    let net = tree.link();
    assert_eq!(net.edge("web", "db").confidence, Confidence::Medium);
    assert_eq!(net.edge("web", "mail").confidence, Confidence::High);
    assert_eq!(net.edge("web", "api").confidence, Confidence::Low);
}

#[test]
fn what_one_source_leaves_open_another_says() {
    let mut tree = Tree::default();
    let yes = Sourced::written(true, tree.span("services.yaml"));
    let call = tree.call("web", "db");
    call.protocol = Some(Protocol::Grpc);
    call.propagates_deadline = Some(yes);
    tree.call_in("a.rs", CallSource::Code, "web", "db").is_async = true;
    let net = tree.link();
    let edge = net.edge("web", "db");
    assert_eq!((edge.protocol, edge.is_async, edge.propagates_deadline), (Some(Protocol::Grpc), true, true));
    assert_eq!(edge.idempotent, None);
}

#[test]
fn a_service_may_call_itself_but_a_route_to_its_own_service_is_the_way_in() {
    let mut tree = Tree::default();
    tree.call("tree", "tree");
    tree.call_in("envoy.yaml", CallSource::Route, "payments", "payments");
    tree.service("payments");
    let net = tree.link();
    assert_eq!(net.graph.edge_count(), 1);
    assert_eq!(net.between("tree", "tree").len(), 1);
}

/// A call in the code of the service that owns the file.
fn in_code<'t>(tree: &'t mut Tree, path: &str, callee: &str) -> &'t mut crate::facts::Call {
    let call = tree.call_in(path, CallSource::Code, "x", callee);
    call.caller = crate::facts::Caller::ByPath;
    call
}

#[test]
fn a_call_in_code_belongs_to_the_service_whose_file_it_stands_in() {
    let mut tree = Tree::default();
    tree.service("web").paths = vec!["web/**".into()];
    in_code(&mut tree, "web/src/a.rs", "payments");
    // Nobody owns the second one, and what calls its own service is what others call it with.
    in_code(&mut tree, "tools/src/a.rs", "mail");
    in_code(&mut tree, "web/src/client.rs", "web");
    let net = tree.link();
    assert_eq!(net.edge("web", "payments").source, CallSource::Code);
    assert_eq!((net.names(), net.graph.edge_count()), (vec!["payments", "web"], 1));
}

#[test]
fn places_in_code_that_call_different_operations_are_one_call_as_long_as_nobody_tells_them_apart() {
    let mut tree = Tree::default();
    tree.service("web").paths = vec!["web/**".into()];
    let times = times(&mut tree, 2.0);
    for (path, tries, operation) in [("web/a.rs", 2, "GET /status"), ("web/b.rs", 5, "POST /charge")] {
        in_code(&mut tree, path, "payments").operation = Some(Operation::parse(operation));
        let call = tree.last_call();
        tree.policy(path, crate::facts::Dialect::Code, crate::facts::Position::CallerCode, tries).calls = vec![call];
    }
    let net = tree.link();
    let edge = net.edge("web", "payments");
    assert_eq!((edge.operation.clone(), edge.per_request), (None, 1.0));
    assert_eq!(edge.outline(), [(crate::facts::Position::CallerCode, vec![vec![0], vec![1]])]);
    // A manifest says how often, not which.
    tree.call("web", "payments").per_request = times;
    assert_eq!(tree.link().edge("web", "payments").per_request, 2.0);
    // One that lists operations tells them apart.
    tree.call("web", "payments").operation = Some(Operation::parse("POST /charge"));
    assert_eq!(tree.link().between("web", "payments").len(), 3);
}

#[test]
fn a_policy_of_shared_code_stands_on_the_calls_of_all_who_use_it() {
    let mut tree = Tree::default();
    for name in ["web", "cart"] {
        tree.service(name).paths = vec![format!("{name}/**").into()];
    }
    in_code(&mut tree, "web/src/a.rs", "payments");
    in_code(&mut tree, "cart/src/a.rs", "ledger");
    in_code(&mut tree, "tools/src/a.rs", "mail");
    let calls = (0..3).map(crate::facts::CallId).collect();
    tree.policy("shared/retry.rs", crate::facts::Dialect::Code, crate::facts::Position::CallerCode, 4).calls = calls;
    let net = tree.link();
    for (from, to) in [("web", "payments"), ("cart", "ledger")] {
        assert_eq!(net.edge(from, to).outline(), [(crate::facts::Position::CallerCode, vec![vec![0]])]);
    }
    assert_eq!(net.graph.edge_count(), 2);
}
