//! One mesh for each environment, with the policies that nobody wrote.

use std::sync::Arc;

use super::*;
use crate::facts::{Attempts, File, FileKind, Limit, Mesh, PolicyKind, Position, Role};
use crate::read::dialects::istio::finish;

const RULE: &str =
    "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: { name: ledger }\nspec: { host: ledger }\n";

/// Facts of files that stand in these environments, settled.
fn settled(files: &[(Option<&str>, &str)], version: (u32, u32)) -> Facts {
    let mut all = Facts::default();
    for (environment, text) in files {
        let mut one = facts_at("a.yaml", text, version);
        let environment: Option<Arc<str>> = environment.map(Into::into);
        one.files.push(File {
            path: "a.yaml".into(),
            kind: FileKind::Yaml,
            environment: environment.clone(),
            role: Role::Production,
            named: false,
            told_by: None,
        });
        one.stamp(environment.as_ref(), Role::Production);
        all.absorb(one);
    }
    finish(&mut all);
    all
}

fn client<'f>(facts: &'f Facts, mesh: &Mesh) -> &'f Policy {
    facts.policy(mesh.client_default.unwrap()).unwrap()
}

fn inbound<'f>(facts: &'f Facts, mesh: &Mesh) -> Option<&'f Policy> {
    facts.policy(mesh.inbound_default?)
}

#[test]
fn many_sightings_become_one_mesh_with_its_defaults() {
    let facts = settled(&[(None, RULE), (None, RULE), (Some("prod"), RULE)], (1, 31));
    let [mesh] = facts.meshes.as_slice() else { panic!("{:?}", facts.meshes) };
    assert_eq!((mesh.environment.clone(), &RULE[mesh.span.range()]), (None, "DestinationRule"));
    let client = client(&facts, mesh);
    assert_eq!(
        (client.kind, client.position, known(&client.attempts)),
        (PolicyKind::Default, Position::ClientSidecar, Attempts::Times(3))
    );
    assert_eq!((known(&client.retries_on), client.span), (default_classes(), mesh.span));
    let inbound = inbound(&facts, mesh).unwrap();
    assert_eq!(
        (inbound.kind, inbound.position, known(&inbound.attempts)),
        (PolicyKind::Default, Position::ServerSidecar, Attempts::Times(3))
    );
    assert_eq!(known(&inbound.retries_on), Classes::of(&[Class::Connect]));
    assert_eq!(facts.policies.len(), 2);
}

#[test]
fn before_1_24_there_is_no_inbound_default() {
    let facts = settled(&[(None, RULE)], (1, 23));
    assert_eq!(inbound(&facts, &facts.meshes[0]), None);
    assert!(known(&client(&facts, &facts.meshes[0]).retries_on).contains(Class::Overload));
}

#[test]
fn environments_have_a_mesh_each_where_no_file_is_for_all() {
    let facts = settled(&[(Some("prod"), RULE), (Some("dev"), RULE), (Some("prod"), RULE)], (1, 31));
    let seen: Vec<_> = facts.meshes.iter().map(|mesh| mesh.environment.clone().unwrap()).collect();
    assert_eq!(seen, ["dev".into(), Arc::from("prod")]);
    assert!(facts.meshes.iter().all(|mesh| client(&facts, mesh).environment == mesh.environment));
}

#[test]
fn no_mesh_no_defaults() {
    let kubernetes = "apiVersion: v1\nkind: Service\nmetadata: { name: a }\nspec: { selector: { app: a } }\n";
    let facts = settled(&[(None, kubernetes)], (1, 31));
    assert_eq!((facts.meshes.len(), facts.policies.len()), (0, 0));
}

#[test]
fn settling_twice_changes_nothing() {
    let mut facts = settled(&[(None, RULE)], (1, 31));
    let before = facts.clone();
    finish(&mut facts);
    assert_eq!(facts, before);
}

const OPERATOR: &str = "apiVersion: install.istio.io/v1alpha1\nkind: IstioOperator\nmetadata: { name: mesh }\nspec:\n  \
                        meshConfig:\n    defaultHttpRetryPolicy: { attempts: 0 }\n    defaultInboundHttpRetryPolicy: {}\n";

#[test]
fn mesh_configuration_replaces_the_defaults() {
    let facts = settled(&[(None, RULE), (None, OPERATOR)], (1, 31));
    let [mesh] = facts.meshes.as_slice() else { panic!() };
    for policy in [client(&facts, mesh), inbound(&facts, mesh).unwrap()] {
        assert_eq!((policy.kind, known(&policy.attempts)), (PolicyKind::Config, Attempts::Times(1)));
        assert_eq!(policy.ineffective, [], "here `{{}}` is the way to switch it off");
    }
    assert_eq!(facts.policies.len(), 2);
}

#[test]
fn mesh_configuration_of_one_environment_leaves_the_others() {
    let facts = settled(&[(None, RULE), (Some("prod"), OPERATOR), (Some("dev"), RULE)], (1, 31));
    let tries: Vec<_> = facts
        .meshes
        .iter()
        .map(|mesh| (mesh.environment.as_deref().unwrap(), client(&facts, mesh).tries().unwrap()))
        .collect();
    assert_eq!(tries, [("dev", 3), ("prod", 1)]);
}

#[test]
fn a_config_map_holds_the_mesh_as_text() {
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: istio, namespace: istio-system }\ndata:\n  mesh: |-\n    \
                accessLogFile: /dev/stdout\n    defaultHttpRetryPolicy:\n      attempts: 4\n      retryOn: 5xx\n      perTryTimeout: 2s\n";
    let facts = settled(&[(None, text)], (1, 31));
    let policy = client(&facts, &facts.meshes[0]);
    assert_eq!((known(&policy.attempts), at(text, &policy.attempts)), (Attempts::Times(5), "4"));
    assert!(known(&policy.retries_on).contains(Class::ServerError));
    // Not passed on from here.
    assert_eq!(known(&policy.attempt_timeout), Limit::None);
    assert_eq!(&text[policy.ineffective[0].span.range()], "perTryTimeout");
    // The inbound default is as ever.
    assert_eq!(inbound(&facts, &facts.meshes[0]).unwrap().kind, PolicyKind::Default);
}

#[test]
fn helm_values_hold_it_too() {
    for text in [
        "meshConfig:\n  defaultHttpRetryPolicy:\n    attempts: 1\n",
        "istiod:\n  meshConfig:\n    defaultHttpRetryPolicy:\n      attempts: 1\n",
    ] {
        let facts = settled(&[(None, text)], (1, 31));
        assert_eq!(client(&facts, &facts.meshes[0]).tries(), Some(2));
    }
}

#[test]
fn mesh_configuration_without_attempts_switches_retries_off() {
    let text = "meshConfig:\n  defaultHttpRetryPolicy:\n    numRetries: 3\n    retryOn: 5xx\n";
    let facts = settled(&[(None, text)], (1, 31));
    let policy = client(&facts, &facts.meshes[0]);
    assert_eq!(policy.tries(), Some(1));
    let [found] = policy.ineffective.as_slice() else { panic!("{:?}", policy.ineffective) };
    assert_eq!((&text[found.span.range()], &*found.help), ("retryOn", "`attempts: 2`"));
}

#[test]
fn routes_without_retries_have_the_default_of_the_configuration() {
    let route = |retries: &str| {
        format!(
            "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{ name: a }}\nspec:\n  hosts: [a]\n  \
             gateways: [mesh, edge]\n  http:\n  - route: [{{ destination: {{ host: a }} }}]\n{retries}"
        )
    };
    let config = "meshConfig:\n  defaultHttpRetryPolicy: { attempts: 4, retryOn: 5xx, backoff: 50ms }\n";
    let tries = |facts: &Facts| facts.policies.iter().map(|p| (p.kind, p.tries().unwrap())).collect::<Vec<_>>();
    let of_routes = |retries: &str, place: Option<&str>| {
        let facts = settled(&[(None, &route(retries)), (place, config)], (1, 31));
        tries(&facts)[..2].to_vec()
    };
    assert_eq!(of_routes("", None), [(PolicyKind::Config, 5), (PolicyKind::Config, 5)]);
    assert_eq!(of_routes("    retries: { attempts: 1 }\n", None), [(PolicyKind::Config, 2), (PolicyKind::Config, 2)]);
    // A route of all environments is not that of one.
    assert_eq!(of_routes("", Some("prod")), [(PolicyKind::Default, 3), (PolicyKind::Default, 3)]);

    let rejected = settled(&[(None, &route("    retries: { retryOn: 5xx }\n")), (None, config)], (1, 31));
    assert_eq!(
        rejected.policies[0].ineffective[0].message,
        "Istio rejects VirtualService `a`: `retryOn` is set and `attempts` is not; the default of the mesh's configuration \
         stays in force"
    );
    let policy = &rejected.policies[0];
    assert_eq!((policy.tries(), known(&policy.backoff.base)), (Some(5), ms(50)));
    assert!(known(&policy.retries_on).contains(Class::ServerError));
}
