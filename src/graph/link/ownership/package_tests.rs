use crate::facts::{Caller, Dialect, Position};
use crate::graph::fixtures::{Tree, callee};

/// A retry in the code of `services/pay`, around a call of `ledger`.
fn tree() -> Tree {
    let mut tree = Tree::default();
    let policy = tree.policy("services/pay/src/client.rs", Dialect::Code, Position::CallerCode, 3);
    policy.caller = Caller::ByPath;
    policy.callee = callee("ledger");
    tree
}

#[test]
fn code_is_of_the_package_that_it_lies_in() {
    let mut tree = tree();
    tree.package("payments", "services/pay");
    tree.package("outer", "services");
    let net = tree.link();
    // A package that nobody calls and that calls nobody is not in the graph.
    assert_eq!(net.names(), ["ledger", "payments"]);
    assert_eq!(net.edge("payments", "ledger").outline(), [(Position::CallerCode, vec![vec![0]])]);
}

#[test]
fn whoever_declares_the_folder_gives_the_name() {
    let mut tree = tree();
    tree.package("payments-app", "services/pay");
    tree.service("payments").paths = vec!["services/pay".into()];
    tree.call("web", "payments-app");
    // The call by the package's name is one of the declared service, and there is no second one.
    assert_eq!(tree.link().names(), ["ledger", "payments", "web"]);

    // Unless somebody declares that name too.
    tree.service("payments-app");
    assert_eq!(tree.link().names(), ["ledger", "payments", "payments-app", "web"]);
}

#[test]
fn a_claim_on_a_larger_folder_owns_the_code_and_leaves_the_name() {
    let mut tree = tree();
    tree.package("payments", "services/pay");
    tree.service("shop").paths = vec!["services".into()];
    tree.call("web", "payments");
    let net = tree.link();
    assert_eq!(net.names(), ["ledger", "payments", "shop", "web"]);
    assert_eq!(net.edge("shop", "ledger").outline().len(), 1);
}

#[test]
fn a_workload_joins_by_its_name_or_by_its_image() {
    let mut by_name = tree();
    by_name.package("payments", "services/pay");
    by_name.workload("payments", None).replicas = Some(crate::facts::Sourced::default_of(3, "x", "y"));
    let net = by_name.link();
    let payments = &net.graph[net.shown("payments")];
    assert_eq!(payments.service.instances.as_ref().unwrap().known(), Some(&3));

    let mut by_image = tree();
    by_image.package("payments", "services/pay");
    by_image.workload("pay-app", None).images = vec!["registry.example/shop/payments".into()];
    assert_eq!(by_image.link().names(), ["ledger", "pay-app"]);
    // Two workloads that run it, or one of the package's name: the package keeps its own.
    by_image.workload("pay-jobs", None).images = vec!["registry.example/shop/payments".into()];
    assert_eq!(by_image.link().names(), ["ledger", "payments"]);
}
