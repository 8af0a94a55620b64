use super::environments;
use crate::facts::{Position, ServiceSource, Sourced};
use crate::graph::fixtures::{Tree, environment};

#[test]
fn a_tree_without_environments_is_linked_once() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    assert_eq!(environments(&tree.facts), [None]);
    assert_eq!(tree.link().environment, None);
}

#[test]
fn facts_of_two_environments_never_meet() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    tree.virtual_service("ledger", 3).environment = environment("prod");
    tree.virtual_service("ledger", 9).environment = environment("dev");
    tree.call("web", "mail").environment = environment("dev");
    tree.virtual_service("ledger", 2);
    assert_eq!(environments(&tree.facts), [environment("dev"), environment("prod")]);

    let prod = tree.link_in("prod");
    assert_eq!(prod.edge("web", "ledger").outline(), [(Position::ClientSidecar, vec![vec![0], vec![2]])]);
    assert_eq!(prod.in_environment, [true, false, true]);
    assert_eq!(prod.resolved[1].callee, None);
    assert_eq!(prod.names(), ["ledger", "web"]);

    let dev = tree.link_in("dev");
    assert_eq!(dev.edge("web", "ledger").outline(), [(Position::ClientSidecar, vec![vec![1], vec![2]])]);
    assert_eq!(dev.names(), ["ledger", "mail", "web"]);
}

#[test]
fn an_environment_that_has_a_policy_of_its_own_is_without_its_bases() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    for (tries, own) in [(6, None), (2, environment("prod"))] {
        let policy = tree.policy("web.json", crate::facts::Dialect::Dotnet, Position::CallerCode, tries);
        policy.caller = crate::facts::Caller::Service(crate::graph::fixtures::reference("web"));
        policy.callee = crate::graph::fixtures::callee("ledger");
        policy.environment = own;
    }
    tree.facts.policies[0].replaced_in = vec!["prod".into()];
    let prod = tree.link_in("prod");
    assert_eq!(prod.edge("web", "ledger").outline(), [(Position::CallerCode, vec![vec![1]])]);
    assert_eq!(prod.in_environment, [false, true]);
    assert_eq!(tree.link_in("dev").edge("web", "ledger").outline(), [(Position::CallerCode, vec![vec![0]])]);
}

#[test]
fn namespaces_of_another_environment_do_not_make_a_name_ambiguous() {
    let mut tree = Tree::default();
    for (name, space) in [("dev", "shop-dev"), ("prod", "shop-prod")] {
        let service = tree.kube_service("ledger", "ledger");
        service.namespace = Some(space.into());
        service.environment = environment(name);
    }
    tree.call("web", "ledger");
    let net = tree.link_in("prod");
    assert_eq!(net.names(), ["ledger", "web"]);
    assert_eq!(net.graph[net.shown("ledger")].namespace.as_deref(), Some("shop-prod"));
}

#[test]
fn of_two_meshes_the_environments_own_is_in_force() {
    let mut tree = Tree::default();
    tree.mesh();
    let (client, _) = tree.mesh();
    tree.facts.meshes[1].environment = environment("prod");
    tree.workload("web", Some(true));
    tree.workload("ledger", Some(true));
    tree.call("web", "ledger");
    let layers = tree.link_in("prod").edge("web", "ledger").outline();
    assert_eq!(layers[0], (Position::ClientSidecar, vec![vec![client.0]]));
    let layers = tree.link_in("dev").edge("web", "ledger").outline();
    assert_eq!(layers[0], (Position::ClientSidecar, vec![vec![0]]));
}

#[test]
fn declarations_of_one_service_are_merged_by_precedence() {
    let mut tree = Tree::default();
    let span = tree.span("retrylint.toml");
    let mut told = crate::facts::Service::new("web", span, ServiceSource::Settings);
    told.pool = Some(Sourced::written(20, span));
    tree.facts.services.push(told);
    let stated = tree.span("services.yaml");
    let web = tree.service("web");
    web.pool = Some(Sourced::written(50, stated));
    web.rate = Some(Sourced::written(500.0, stated));
    let replicas = tree.span("k8s.yaml");
    tree.workload("web", None).replicas = Some(Sourced::written(4, replicas));
    let net = tree.link();
    let node = &net.graph[net.shown("web")];
    assert_eq!(node.service.pool.as_ref().and_then(|pool| pool.known()), Some(&20));
    assert_eq!(node.service.rate.as_ref().and_then(|rate| rate.known()), Some(&500.0));
    assert_eq!(node.service.instances.as_ref().and_then(|n| n.known()), Some(&4));
    assert_eq!((node.service.span, node.service.source), (span, ServiceSource::Settings));
    assert!(node.declared);
}

#[test]
fn twenty_thousand_calls_are_linked() {
    let mut tree = Tree::default();
    for n in 0..4_000 {
        let folder = format!("services/s{n}");
        let span = tree.span("services.yaml");
        let service = crate::facts::Service {
            paths: vec![folder.as_str().into()],
            ..crate::facts::Service::new(format!("s{n}"), span, ServiceSource::Manifest)
        };
        tree.facts.services.push(service);
        tree.virtual_service(&format!("s{n}"), 3);
        tree.workload(&format!("s{n}"), Some(n % 2 == 0));
    }
    for n in 0..20_000u32 {
        tree.call(&format!("s{}", n % 4_000), &format!("s{}", (n * 7 + 1) % 4_000));
    }
    let net = tree.link();
    assert_eq!(net.graph.node_count(), 4_000);
    // n and n + 4000 have the same ends, since 28000 is a multiple of 4000: five entries of one manifest for each pair.
    assert_eq!(net.graph.edge_count(), 4_000);
    assert!(net.graph.edge_weights().all(|edge| edge.per_request == 5.0));
    // Callers with even numbers are in the mesh.
    assert_eq!(net.graph.edge_weights().filter(|edge| edge.layers.len() == 1).count(), 2_000);
    // The routes whose only callers are outside are open.
    assert_eq!(net.open.len(), 2_000);
}
