//! Who calls through a route, whom it reaches, and which requests it takes.

use super::*;
use crate::facts::{Attempts, CallSource, Confidence, Methods, PathMatch, PolicyKind, Position, ServiceSource, Why};

fn with(spec: &str) -> Facts {
    facts(&text(spec))
}

fn text(spec: &str) -> String {
    let spec: String = spec.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{ name: shop, namespace: web }}\nspec:\n{spec}"
    )
}

fn routes(facts: &Facts) -> Vec<(Methods, PathMatch, bool)> {
    let route = |policy: &Policy| {
        let route = policy.route.clone().unwrap();
        (route.methods, route.path, route.conditional)
    };
    facts.policies.iter().map(route).collect()
}

#[test]
fn a_host_that_may_be_any_service_may_be_the_destination_itself() {
    let route = "http:\n- route: [{ destination: { host: ledger } }]";
    let hosts = |hosts: &str| callee(&with(&format!("hosts: {hosts}\n{route}")).policies[0]).1;
    let (books, ledger) = (service("books", Some("web")), service("ledger", Some("web")));
    assert_eq!(hosts("[books]"), std::slice::from_ref(&books));
    for wide in ["'*'", "'*.bank.svc.cluster.local'", "'{{ .Values.host }}'"] {
        assert_eq!(hosts(&format!("[books, {wide}]")), [books.clone(), ledger.clone()], "{wide}");
    }
    assert_eq!(hosts("[books, '*.example.com', 10.0.0.1]"), [books]);
    // Without any other name it is the destination's alone.
    assert_eq!(hosts("['*']"), []);
}

#[test]
fn short_hosts_lie_in_the_namespace_of_the_object() {
    let facts = with(
        "hosts: [ledger, ledger.bank.svc.cluster.local, '*.example.com', shop.example.com]\nhttp:\n\
                      - route: [{ destination: { host: ledger } }]\n\
                      - route: [{ destination: { host: ledger.bank.svc.cluster.local } }]",
    );
    let (first, hosts) = callee(&facts.policies[0]);
    assert_eq!(first.host, service("ledger", Some("web")));
    assert_eq!(callee(&facts.policies[1]).0.host, service("ledger", Some("bank")));
    assert_eq!(
        hosts,
        [service("ledger", Some("web")), service("ledger", Some("bank")), Host::Dotted("shop.example.com".into())]
    );
    assert_eq!(facts.policies[0].caller, everyone());
    assert_eq!(&*facts.policies[1].name, "http[1] of shop");
    assert_eq!(facts.calls, []);
}

#[test]
fn one_policy_for_each_distinct_destination() {
    let facts = with(
        "hosts: [ledger]\nhttp:\n- retries: { attempts: 1 }\n  route:\n\
                      \x20 - { destination: { host: ledger, subset: v1 }, weight: 80 }\n\
                      \x20 - { destination: { host: ledger, subset: v2 }, weight: 10 }\n\
                      \x20 - { destination: { host: ledger-new }, weight: 10 }\n\
                      \x20 - { destination: { host: idle }, weight: 0 }",
    );
    let names: Vec<_> = facts.policies.iter().map(|policy| callee(policy).0.host.clone()).collect();
    assert_eq!(names, [service("ledger", Some("web")), service("ledger-new", Some("web"))]);
    let places: Vec<_> = facts.policies.iter().map(|policy| policy.route.as_ref().unwrap().order).collect();
    assert_eq!(places, [0, 0]);
}

#[test]
fn routes_keep_their_order_and_what_they_take() {
    let facts = with(
        "hosts: [ledger]\nhttp:\n\
         - match: [{ method: { exact: GET }, uri: { prefix: /read } }]\n  route: [{ destination: { host: ledger } }]\n\
         - match: [{ uri: { exact: /pay }, headers: { vip: { exact: 'yes' } } }]\n  route: [{ destination: { host: ledger } }]\n\
         - redirect: { uri: /gone }\n\
         - match: [{ method: { regex: '^(GET|HEAD)$' } }, { method: { exact: PUT } }]\n  route: [{ destination: { host: ledger } }]\n\
         - match: [{ uri: { exact: /a } }, { uri: { prefix: /b } }]\n  route: [{ destination: { host: ledger } }]\n\
         - match: [{ method: { exact: GET }, uri: { exact: /a } }, { method: { exact: POST }, uri: { exact: /b } }]\n  route: [{ destination: { host: ledger } }]\n\
         - match: [{ uri: { prefix: / } }]\n  route: [{ destination: { host: ledger } }]",
    );
    let only = |methods: &[&str]| Methods::Only(methods.iter().map(|method| (*method).into()).collect());
    assert_eq!(
        routes(&facts),
        [
            (only(&["GET"]), PathMatch::Prefix("/read".into()), false),
            (Methods::Any, PathMatch::Exact("/pay".into()), true),
            (only(&["GET", "HEAD", "PUT"]), PathMatch::Any, false),
            (Methods::Any, PathMatch::Pattern("/a or /b".into()), false),
            (only(&["GET", "POST"]), PathMatch::Pattern("/a or /b".into()), true),
            (Methods::Any, PathMatch::Any, false),
        ]
    );
    let orders: Vec<_> = facts.policies.iter().map(|policy| policy.route.as_ref().unwrap().order).collect();
    assert_eq!(orders, [0, 1, 3, 4, 5, 6], "the redirect has its place too");
    let lists: std::collections::HashSet<_> = facts.policies.iter().map(|p| p.route.as_ref().unwrap().list).collect();
    assert_eq!(lists.len(), 1);
}

#[test]
fn sources_narrow_the_callers() {
    let facts = with(
        "hosts: [ledger]\nhttp:\n\
         - match: [{ sourceLabels: { app: cart } }, { sourceLabels: { app: cart }, method: { exact: GET } }, { sourceNamespace: ops }]\n  \
         route: [{ destination: { host: ledger } }]\n\
         - route: [{ destination: { host: ledger } }]",
    );
    let callers: Vec<_> = facts.policies.iter().map(|policy| policy.caller.clone()).collect();
    assert_eq!(
        callers,
        [
            Caller::Members { namespace: None, labels: vec![("app".into(), "cart".into())] },
            Caller::Members { namespace: Some("ops".into()), labels: vec![] },
            everyone(),
        ]
    );
    // Of the two entries for the cart, the one without a method takes all.
    assert_eq!(routes(&facts)[0], (Methods::Any, PathMatch::Any, false));
}

#[test]
fn an_object_that_is_not_exported_has_callers_in_its_namespace() {
    let facts = with("exportTo: ['.']\nhosts: [ledger]\nhttp:\n- route: [{ destination: { host: ledger } }]");
    assert_eq!(facts.policies[0].caller, Caller::Members { namespace: Some("web".into()), labels: vec![] });
}

/// [T-04]: `attempts: 0` holds for what comes through the gateway, and for nobody else.
#[test]
fn a_gateway_alone_gives_sidecars_no_policy() {
    let facts = with(
        "hosts: [shop.example.com]\ngateways: [istio-system/public]\nhttp:\n\
         - match: [{ uri: { exact: /pay }, method: { exact: POST } }]\n  retries: { attempts: 0 }\n  \
         route: [{ destination: { host: ledger.bank.svc.cluster.local } }]\n\
         - route: [{ destination: { host: shop } }]",
    );
    let [pay, rest] = facts.policies.as_slice() else { panic!() };
    for policy in [pay, rest] {
        assert_eq!(policy.position, Position::Gateway);
        let Caller::Service(gateway) = &policy.caller else { panic!("{:?}", policy.caller) };
        assert_eq!(gateway.host, service("public", Some("istio-system")));
    }
    assert_eq!((pay.kind, known(&pay.attempts)), (PolicyKind::Config, Attempts::Times(1)));
    assert_eq!((rest.kind, known(&rest.attempts)), (PolicyKind::Default, Attempts::Times(3)));

    let [gateway] = facts.services.as_slice() else { panic!("{:?}", facts.services) };
    assert_eq!((&*gateway.name, gateway.source, gateway.is_proxy), ("public", ServiceSource::Proxy, true));
    let [to_ledger, to_shop] = facts.calls.as_slice() else { panic!("{:?}", facts.calls) };
    assert_eq!(to_ledger.source, CallSource::Route);
    assert_eq!(to_ledger.callee.service().unwrap().host, service("ledger", Some("bank")));
    assert_eq!(to_shop.callee.service().unwrap().host, service("shop", Some("web")));
    let operation = to_ledger.operation.as_ref().unwrap();
    assert_eq!((operation.method.as_deref(), operation.path.as_deref()), (Some("POST"), Some("/pay")));
    assert_eq!(to_ledger.one_of, to_shop.one_of, "a request takes one of a gateway's routes");
    assert_eq!(pay.calls[0].0, 0);
    assert_eq!(rest.calls[0].0, 1);
}

#[test]
fn a_gateway_and_the_mesh_have_one_policy_each() {
    let facts = with(
        "hosts: [shop]\ngateways: [public, mesh]\nhttp:\n\
         - match: [{ gateways: [public], uri: { prefix: /in } }]\n  route: [{ destination: { host: inner } }]\n\
         - route: [{ destination: { host: shop } }]",
    );
    let seen: Vec<_> = facts.policies.iter().map(|p| (p.position, callee(p).0.host.clone())).collect();
    assert_eq!(
        seen,
        [
            (Position::Gateway, service("inner", Some("web"))),
            (Position::Gateway, service("shop", Some("web"))),
            (Position::ClientSidecar, service("shop", Some("web"))),
        ]
    );
}

#[test]
fn a_gateway_named_like_its_service_does_not_call_itself() {
    let facts = with("hosts: ['*']\ngateways: [shop]\nhttp:\n- route: [{ destination: { host: shop } }]");
    assert_eq!(facts.calls[0].caller.service().unwrap().host, service("shop-gateway", Some("web")));
    assert_eq!(facts.calls[0].callee.service().unwrap().host, service("shop", Some("web")));
    assert_eq!(&*facts.services[0].name, "shop-gateway");
    assert!(
        matches!(&facts.policies[0].caller, Caller::Service(gateway) if gateway.host == facts.calls[0].caller.service().unwrap().host)
    );
}

#[test]
fn tls_and_tcp_routes_retry_nothing() {
    let facts = with(
        "hosts: [db]\ntcp:\n- route: [{ destination: { host: db } }]\ntls:\n\
                      - match: [{ sniHosts: [db] }]\n  route: [{ destination: { host: db } }]",
    );
    assert_eq!(facts.policies, []);
    assert_eq!(facts.meshes.len(), 1);
}

#[test]
fn a_delegate_has_its_root_s_callers_and_perhaps_its_retries() {
    let facts = with(
        "http:\n- route: [{ destination: { host: ledger } }]\n\
                      - retries: { attempts: 5 }\n  timeout: 4s\n  route: [{ destination: { host: ledger } }]",
    );
    let [inherits, own] = facts.policies.as_slice() else { panic!() };
    assert!(matches!(inherits.attempts.why(), Some(Why::Other(_))));
    assert!(matches!(inherits.total.limit.why(), Some(Why::Other(_))));
    assert_ne!(inherits.kind, PolicyKind::Default);
    assert_eq!(own.tries(), Some(6));
    assert!(matches!(own.caller, Caller::Unknown(_)));
    assert!(routes(&facts).iter().all(|(_, _, conditional)| *conditional));

    let root = with(
        "hosts: [shop]\nhttp:\n- delegate: { name: part }\n- delegate: { name: part }\n  retries: { attempts: 1 }",
    );
    let [policy] = root.policies.as_slice() else { panic!() };
    assert!(matches!(&policy.callee, Callee::Unknown(Why::Other(why)) if why.contains("`part`")));
}

#[test]
fn a_root_says_to_whom_it_delegates_and_who_calls() {
    let root = with(
        "hosts: [shop]\ngateways: [public, mesh]\nhttp:\n- delegate: { name: part, namespace: bank }\n\
                      - delegate: { name: other }\n  match: [{ gateways: [mesh] }]\n\
                      - delegate: { name: '${PART}' }\n- route: [{ destination: { host: shop } }]",
    );
    let said: Vec<_> = root
        .route_uses
        .iter()
        .filter(|one| one.whole.is_none())
        .map(|one| (&*one.of.name, one.of.namespace.as_deref(), one.position, matches!(one.caller, Caller::Service(_))))
        .collect();
    assert_eq!(
        said,
        [
            ("part", Some("bank"), Position::Gateway, true),
            ("part", Some("bank"), Position::ClientSidecar, false),
            ("other", Some("web"), Position::ClientSidecar, false),
        ]
    );
    assert_eq!((&*root.services[0].name, root.services[0].is_proxy), ("public", true));

    // One level: a part has no parts of its own.
    let part = with("http:\n- delegate: { name: other }\n- route: [{ destination: { host: shop } }]");
    assert_eq!(part.route_uses, []);
    let object = part.policies[0].part_of.as_ref().unwrap();
    assert_eq!((&*object.name, object.namespace.as_deref()), ("shop", Some("web")));
    assert!(root.policies.iter().all(|policy| policy.part_of.is_none()));
}

#[test]
fn a_patch_of_an_overlay_is_a_weak_fact() {
    let text = text("http:\n- retries: { attempts: 5 }\n  route: [{ destination: { host: ledger } }]");
    let version = ReadSettings::default().istio_version;
    let confidence = |path: &str| facts_at(path, &text, version).policies[0].confidence;
    assert_eq!(confidence("deploy/overlays/prod/shop.yaml"), Confidence::Low);
    assert_eq!(confidence("mesh/shop.yaml"), Confidence::High);
}

#[test]
fn what_a_patch_leaves_out_holds_from_its_base_and_what_its_routes_leave_out_from_nobody() {
    let object = |spec: &str| {
        format!(
            "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{ name: shop, namespace: web }}\nspec:\n  {spec}\n"
        )
    };
    let base = object(
        "{ hosts: [shop], gateways: [public, mesh], http: [{ timeout: 9s, route: [{ destination: { host: ledger } }] }] }",
    );
    let patch = object("{ http: [{ route: [{ destination: { host: ledger } }] }] }");
    let settled = |texts: &[&str]| {
        let mut all = Facts::default();
        for text in texts {
            all.absorb(facts_at("overlays/prod/shop.yaml", text, (1, 24)));
        }
        crate::read::dialects::istio::finish(&mut all);
        all
    };
    let all = settled(&[&base, &patch]);
    let whole: Vec<_> = all.route_uses.iter().map(|one| (one.position, one.whole.as_ref().map(Vec::len))).collect();
    assert_eq!(whole, [(Position::Gateway, Some(1)), (Position::ClientSidecar, Some(1))]);
    // The list of routes is replaced as a whole, so that the base's timeout is gone.
    let patched = &all.policies[2];
    assert_eq!((patched.kind, patched.tries(), patched.confidence), (PolicyKind::Default, Some(3), Confidence::High));
    assert!(is_default(&patched.attempts, "Istio 1.24") && patched.total.limit.is_none());
    // Alone it is a part of something, and what that is nobody knows.
    let alone = &settled(&[&patch]).policies[0];
    assert_eq!((alone.tries(), alone.confidence), (None, Confidence::Low));
    // A name that a template decides is nobody's own.
    let named = base.replace("name: shop", "name: '{{ .Release.Name }}'");
    assert_eq!(facts_at("shop.yaml", &named, (1, 24)).route_uses, []);
}

#[test]
fn a_destination_that_is_no_service_is_unknown() {
    let facts = with(
        "hosts: [shop]\nhttp:\n- route: [{ destination: { host: '${HOST}' } }]\n\
                      - route: [{ destination: { host: 10.0.0.1 } }]",
    );
    let why: Vec<_> = facts
        .policies
        .iter()
        .map(|policy| match &policy.callee {
            Callee::Unknown(why) => why.to_string(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(why, ["environment variable HOST", "`10.0.0.1` names no single service"]);
}

#[test]
fn the_product_of_many_routes_and_destinations_is_cut_and_said() {
    let hosts: String = (0..300).map(|i| format!("{{ destination: {{ host: s{i} }} }}, ")).collect();
    let routes: String = (0..300).map(|i| format!("- {{ name: r{i}, route: *d }}\n")).collect();
    let facts = with(&format!("hosts: [shop]\nhttp:\n- route: &d [{hosts}]\n{routes}"));
    assert_eq!(facts.policies.len(), 50_000);
    assert_eq!(facts.problems.len(), 1);
}
