use crate::facts::{Caller, Dialect, Host, ServiceSource, Why};
use crate::graph::fixtures::{Tree, reference};

fn kube(tree: &mut Tree, name: &str, namespace: Option<&str>) {
    tree.kube_service(name, name).namespace = namespace.map(Into::into);
}

#[test]
fn a_name_without_namespace_is_the_only_service_of_that_name() {
    let mut tree = Tree::default();
    kube(&mut tree, "ledger", Some("bank"));
    tree.call("web", "ledger");
    tree.call("shop", "ledger.bank.svc.cluster.local");
    tree.call("cart", "http://LEDGER:8080/pay");
    let net = tree.link();
    assert_eq!(net.names(), ["cart", "ledger", "shop", "web"]);
    assert_eq!(net.graph[net.shown("ledger")].namespace.as_deref(), Some("bank"));
}

#[test]
fn two_namespaces_with_the_same_name_never_join() {
    let mut tree = Tree::default();
    kube(&mut tree, "ledger", Some("bank"));
    kube(&mut tree, "ledger", Some("shop"));
    tree.call("web", "ledger.bank.svc");
    tree.call("web", "ledger.shop.svc");
    tree.call("web", "ledger");
    let net = tree.link();
    // The third could be either, so it is neither.
    assert_eq!(net.names(), ["ledger", "ledger.bank", "ledger.shop", "web"]);
}

#[test]
fn of_two_namespaces_the_callers_own_is_meant() {
    let mut tree = Tree::default();
    kube(&mut tree, "ledger", Some("bank"));
    kube(&mut tree, "ledger", Some("shop"));
    tree.call("web", "ledger").to().from_namespace = Some("bank".into());
    tree.call("cart.shop.svc", "ledger");
    tree.call("desk", "ledger").to().from_namespace = Some("office".into());
    let net = tree.link();
    assert_eq!(net.between("web", "ledger.bank").len(), 1);
    assert_eq!(net.between("cart", "ledger.shop").len(), 1);
    assert_eq!(net.between("desk", "ledger").len(), 1);
}

#[test]
fn what_is_declared_without_namespace_is_exactly_that() {
    let mut tree = Tree::default();
    kube(&mut tree, "ledger", Some("bank"));
    kube(&mut tree, "ledger", Some("shop"));
    tree.service("ledger");
    tree.call("cart.shop.svc", "ledger");
    let net = tree.link();
    assert_eq!(net.between("cart", "ledger").len(), 1);
}

#[test]
fn a_dotted_name_is_split_only_at_a_known_namespace() {
    let mut tree = Tree::default();
    tree.namespace("bank", None);
    tree.call("web", "ledger.bank");
    tree.call("web", "api.stripe.com");
    tree.call("web", "ledger.vault");
    let net = tree.link();
    assert_eq!(net.names(), ["api.stripe.com", "ledger", "ledger.vault", "web"]);
    assert!(!net.graph[net.shown("ledger")].external);
    assert!(net.graph[net.shown("api.stripe.com")].external);
    assert!(net.graph[net.shown("ledger.vault")].external);
}

#[test]
fn a_suffix_proves_its_namespace_for_everyone() {
    let mut tree = Tree::default();
    tree.call("web", "ledger.bank.svc");
    tree.call("cart", "ledger.bank");
    let net = tree.link();
    assert_eq!(net.names(), ["cart", "ledger", "web"]);
}

#[test]
fn a_declared_service_with_dots_is_not_external() {
    let mut tree = Tree::default();
    tree.service("payments.internal");
    tree.call("web", "payments.internal");
    assert!(!tree.link().graph[tree.link().shown("payments.internal")].external);
}

#[test]
fn an_alias_means_its_service_unless_another_is_declared_by_that_name() {
    let mut tree = Tree::default();
    tree.service("checkout").aliases = vec![Host::parse("checkout-v2").unwrap(), Host::parse("cart").unwrap()];
    tree.service("cart");
    tree.call("web", "checkout-v2");
    tree.call("web", "cart");
    let net = tree.link();
    assert_eq!(net.names(), ["cart", "checkout", "web"]);
}

#[test]
fn an_alias_of_the_settings_wins_over_a_declaration() {
    let mut tree = Tree::default();
    tree.service("cart");
    let checkout = tree.service("checkout");
    checkout.aliases = vec![Host::parse("cart").unwrap()];
    checkout.source = ServiceSource::Settings;
    tree.call("web", "cart");
    assert_eq!(tree.link().names(), ["checkout", "web"]);
}

#[test]
fn an_alias_that_two_services_claim_is_neither() {
    let mut tree = Tree::default();
    tree.service("checkout").aliases = vec![Host::parse("pay").unwrap()];
    tree.service("payments").aliases = vec![Host::parse("pay").unwrap()];
    tree.call("web", "pay");
    assert_eq!(tree.link().names(), ["checkout", "pay", "payments", "web"]);
}

#[test]
fn a_service_that_selects_one_workload_is_that_workload() {
    let mut tree = Tree::default();
    tree.workload("ledger", None);
    tree.kube_service("ledger-svc", "ledger");
    tree.service("ledger");
    tree.call("web", "ledger-svc");
    assert_eq!(tree.link().names(), ["ledger", "web"]);
}

#[test]
fn versions_behind_one_service_go_by_its_name() {
    let mut tree = Tree::default();
    for version in ["reviews-v1", "reviews-v2"] {
        tree.workload(version, None).labels = vec![("app".into(), "reviews".into())];
    }
    tree.kube_service("reviews", "reviews");
    tree.call("web", "reviews");
    tree.call("reviews-v2", "ratings");
    assert_eq!(tree.link().names(), ["ratings", "reviews", "web"]);
}

#[test]
fn a_selector_does_not_reach_into_another_namespace() {
    let mut tree = Tree::default();
    tree.workload("ledger", None).namespace = Some("shop".into());
    tree.kube_service("ledger-svc", "ledger").namespace = Some("bank".into());
    tree.call("web", "ledger-svc");
    tree.call("web", "ledger");
    assert_eq!(tree.link().names(), ["ledger", "ledger-svc", "web"]);
}

#[test]
fn two_declared_services_stay_apart_even_behind_one_workload() {
    let mut tree = Tree::default();
    tree.workload("web-deploy", None).labels = vec![("app".into(), "web".into())];
    tree.kube_service("web", "web");
    tree.kube_service("web-admin", "web");
    tree.service("web");
    tree.service("web-admin");
    tree.call("edge", "web-deploy");
    let net = tree.link();
    assert_eq!(net.names(), ["edge", "web", "web-admin", "web-deploy"]);
}

#[test]
fn the_name_of_a_cluster_means_its_host_in_other_files_too() {
    let mut tree = Tree::default();
    let unknown = || Caller::Unknown(Why::Other("a gateway".into()));
    tree.upstream("cds.yaml", Dialect::Envoy, unknown(), "ledger.bank.svc").names = vec!["ledger_cluster".into()];
    tree.service("ledger");
    tree.gateway("ledger_cluster", 3);
    let net = tree.link();
    assert_eq!(net.names(), ["ledger"]);
    assert_eq!(net.resolved[0].callee, Some(net.shown("ledger")));
}

#[test]
fn clusters_of_two_proxies_with_one_name_are_told_apart_by_file() {
    let mut tree = Tree::default();
    let unknown = || Caller::Unknown(Why::Other("a gateway".into()));
    tree.upstream("a.yaml", Dialect::Envoy, unknown(), "ledger").names = vec!["backend".into()];
    tree.upstream("b.yaml", Dialect::Envoy, unknown(), "payments").names = vec!["backend".into()];
    for path in ["a.yaml", "b.yaml", "c.yaml"] {
        let policy = tree.sidecar(path, "backend", 2);
        policy.caller = unknown();
    }
    let net = tree.link();
    let callee = |policy: usize| &*net.graph[net.resolved[policy].callee.unwrap()].display;
    assert_eq!([callee(0), callee(1), callee(2)], ["ledger", "payments", "backend"]);
}

#[test]
fn kubernetes_objects_are_no_nodes_until_something_refers_to_them() {
    let mut tree = Tree::default();
    tree.workload("batch", None);
    tree.kube_service("metrics", "metrics");
    tree.workload("web", None);
    tree.call("web", "ledger");
    let net = tree.link();
    assert_eq!(net.names(), ["ledger", "web"]);
    assert!(net.graph[net.shown("web")].declared);
    assert!(!net.graph[net.shown("ledger")].declared);
    assert_eq!(net.graph[net.shown("web")].service.span, tree.facts.workloads[1].span);
}

#[test]
fn a_port_says_that_a_service_speaks_grpc_where_no_call_does() {
    let mut tree = Tree::default();
    tree.kube_service("ledger", "ledger").ports = vec![crate::facts::PortProtocol::Grpc];
    tree.call("web", "ledger");
    tree.call("cart", "ledger").protocol = Some(crate::facts::Protocol::Http);
    let net = tree.link();
    assert_eq!(net.edge("web", "ledger").protocol, Some(crate::facts::Protocol::Grpc));
    assert_eq!(net.edge("cart", "ledger").protocol, Some(crate::facts::Protocol::Http));
}

#[test]
fn only_names_that_look_alike_are_shown_with_their_namespace() {
    let mut tree = Tree::default();
    tree.call("web.shop.svc", "ledger.bank.svc");
    tree.call("web.shop.svc", "ledger.vault.svc");
    assert_eq!(tree.link().names(), ["ledger.bank", "ledger.vault", "web"]);
    assert_eq!(reference("ledger.bank.svc").host.display(), "ledger.bank");
}

#[test]
fn what_a_service_entry_has_as_its_endpoint_stands_behind_it() {
    let mut tree = Tree::default();
    kube(&mut tree, "ledger", Some("bank"));
    let span = tree.span("mesh.yaml");
    let mut entry = crate::facts::Service::new("ledger.example.com", span, ServiceSource::Kubernetes);
    entry.aliases = vec![Host::parse("ledger.example.com").unwrap(), Host::parse("ledger.bank.svc").unwrap()];
    tree.facts.services.push(entry);
    tree.call("web", "ledger");
    tree.call("web", "ledger.example.com");
    let net = tree.link();
    assert_eq!(net.names(), ["ledger", "web"]);
    assert!(!net.graph[net.shown("ledger")].external);
}
