use crate::facts::{CallSource, Callee, Caller, Confidence, ServiceSource};
use crate::graph::fixtures::{Tree, reference};

/// A service that owns `services/NAME`, and a call in its code to whatever `PAYMENTS_URL` says.
fn reader(tree: &mut Tree, name: &str) {
    let path = format!("services/{name}/**");
    let service = tree.service(name);
    service.source = ServiceSource::Package;
    service.paths = vec![path.into()];
    let call = tree.call_in(&format!("services/{name}/src/pay.rs"), CallSource::Code, name, "x");
    call.caller = Caller::ByPath;
    call.callee = Callee::Named(vec!["PAYMENTS_URL".into()]);
}

fn workload(tree: &mut Tree, name: &str, host: &str) {
    tree.workload(name, None).variables = vec![("PAYMENTS_URL".into(), reference(host))];
}

#[test]
fn the_variable_of_the_callers_own_workload_is_as_good_as_written() {
    let mut tree = Tree::default();
    reader(&mut tree, "web");
    workload(&mut tree, "web", "billing");
    workload(&mut tree, "cart", "stripe-mock");
    let net = tree.link();
    assert_eq!(net.edge("web", "billing").confidence, Confidence::High);
    assert_eq!(net.names(), ["billing", "web"]);
}

#[test]
fn a_workload_belongs_to_the_service_whose_folder_holds_it() {
    let mut tree = Tree::default();
    reader(&mut tree, "web");
    workload(&mut tree, "shop-front", "billing");
    let span = tree.span("services/web/deploy/k8s.yaml");
    tree.facts.workloads[0].span = span;
    workload(&mut tree, "cart", "stripe-mock");
    assert_eq!(tree.link().edge("web", "billing").confidence, Confidence::High);
}

#[test]
fn without_a_workload_of_its_own_all_others_must_agree() {
    let mut tree = Tree::default();
    reader(&mut tree, "web");
    workload(&mut tree, "cart", "billing");
    workload(&mut tree, "mail", "billing");
    assert_eq!(tree.link().edge("web", "billing").confidence, Confidence::Medium);
    workload(&mut tree, "desk", "ledger");
    assert_eq!(tree.link().graph.edge_count(), 0);
}

#[test]
fn what_no_workload_sets_is_a_name_like_any_other() {
    let mut tree = Tree::default();
    reader(&mut tree, "web");
    assert_eq!(tree.link().graph.edge_count(), 0);
    tree.service("payments");
    assert_eq!(tree.link().edge("web", "payments").confidence, Confidence::Medium);
}
