//! Which documents are read at all, and what they say about services, namespaces and the mesh.

use super::*;
use crate::facts::{PortProtocol, ServiceSource};

#[test]
fn what_merely_looks_like_istio_is_not_read() {
    for text in [
        // A definition of the type.
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: { name: virtualservices.networking.istio.io }\n\
         spec: { group: networking.istio.io, names: { kind: VirtualService } }\n",
        // Gateway API.
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: { name: a, namespace: b }\nspec:\n  rules:\n  \
         - retry: { attempts: 3, codes: [503] }\n",
        // Release notes.
        "apiVersion: release-notes/v2\nkind: feature\narea: traffic-management\nreleaseNotes:\n- |\n  defaultInboundHttpRetryPolicy\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: istio }\ndata: { meshNetworks: 'networks: {}' }\n",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: shop }\ndata: { mesh: 'defaultHttpRetryPolicy: {}' }\n",
        "kind: VirtualService\nspec: { http: [] }\n",
        "meshConfig: istio\n",
    ] {
        // That there is something to be read is known.
        let found = Facts { unread: Vec::new(), ..facts(text) };
        assert_eq!(found, Facts::default(), "{text}");
    }
}

#[test]
fn every_object_of_istio_sights_the_mesh() {
    for (group, kind) in [
        ("networking.istio.io/v1alpha3", "EnvoyFilter"),
        ("networking.istio.io/v1beta1", "Gateway"),
        ("networking.istio.io/v1", "Sidecar"),
        ("security.istio.io/v1", "AuthorizationPolicy"),
    ] {
        let text = format!(
            "apiVersion: {group}\nkind: {kind}\nmetadata: {{ name: a, namespace: bank }}\nspec:\n  configPatches:\n  \
             - patch: {{ value: {{ route: {{ retry_policy: {{ num_retries: 9 }} }} }} }}\n"
        );
        let facts = facts(&text);
        assert_eq!((facts.meshes.len(), facts.policies.len()), (1, 0));
        assert_eq!(&text[facts.meshes[0].span.range()], kind);
        assert_eq!(&*facts.namespaces[0].name, "bank");
        assert!(!facts.namespaces[0].declared);
    }
}

#[test]
fn a_service_entry_names_services() {
    let facts = facts(
        "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: { name: a, namespace: bank }\nspec:\n  \
         hosts: [api.stripe.com, '*.stripe.com', api.visa.com]\n---\n\
         apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: { name: b, namespace: bank }\nspec:\n  \
         hosts: [db.example.com, db]\n  endpoints: [{ address: db.corp.example.com }, { address: 10.0.0.1 }]\n",
    );
    let seen: Vec<_> =
        facts.services.iter().map(|s| (&*s.name, s.namespace.as_deref(), s.source, s.aliases.clone())).collect();
    let dotted = |host: &str| Host::Dotted(host.into());
    assert_eq!(
        seen,
        [
            ("api.stripe.com", None, ServiceSource::Kubernetes, vec![dotted("api.stripe.com")]),
            ("api.visa.com", None, ServiceSource::Kubernetes, vec![dotted("api.visa.com")]),
            (
                "db.example.com",
                None,
                ServiceSource::Kubernetes,
                vec![dotted("db.example.com"), service("db", Some("bank")), dotted("db.corp.example.com")]
            ),
        ]
    );
}

#[test]
fn namespaces_and_pods_say_whether_they_are_members() {
    let facts = facts(
        "apiVersion: v1\nkind: Namespace\nmetadata: { name: bank, labels: { istio-injection: enabled } }\n---\n\
         apiVersion: v1\nkind: Namespace\nmetadata: { name: batch, labels: { istio-injection: disabled } }\n---\n\
         apiVersion: v1\nkind: Namespace\nmetadata: { name: plain }\n---\n\
         apiVersion: v1\nkind: Namespace\nmetadata: { name: rev, labels: { istio.io/rev: canary } }\n---\n\
         apiVersion: v1\nkind: Namespace\nmetadata: { name: linked, annotations: { linkerd.io/inject: enabled } }\n---\n\
         apiVersion: v1\nkind: Namespace\nmetadata: { name: ambient, labels: { istio.io/dataplane-mode: ambient } }\n",
    );
    let mesh: Vec<_> = facts.namespaces.iter().map(|n| (&*n.name, n.mesh.as_ref().map(known), n.declared)).collect();
    assert_eq!(
        mesh,
        [
            ("bank", Some(true), true),
            ("batch", Some(false), true),
            ("plain", None, true),
            ("rev", Some(true), true),
            ("linked", Some(true), true),
            ("ambient", Some(true), true),
        ]
    );
    assert_eq!(facts.meshes.len(), 1);
}

#[test]
fn linkerd_is_no_sighting_of_istio() {
    let text =
        "apiVersion: v1\nkind: Namespace\nmetadata: { name: linked, annotations: { linkerd.io/inject: enabled } }\n";
    assert_eq!(facts(text).meshes, []);
}

#[test]
fn workloads_show_identity_membership_and_size() {
    let text = "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: ledger, namespace: bank }\nspec:\n  replicas: 3\n  template:\n    \
                metadata: { labels: { app: ledger, sidecar.istio.io/inject: \"true\" } }\n    spec:\n      containers:\n      \
                - { name: app, image: 'registry:5000/bank/ledger:1.0' }\n      - { name: b, image: 'b@sha256:00' }\n      - { name: c, image: '${IMAGE}' }\n";
    let read = facts(text);
    let [workload] = read.workloads.as_slice() else { panic!() };
    assert_eq!((&*workload.name, workload.namespace.as_deref()), ("ledger", Some("bank")));
    assert_eq!(workload.labels[0], ("app".into(), "ledger".into()));
    assert_eq!(workload.mesh.as_ref().map(known), Some(true));
    assert_eq!(workload.replicas.as_ref().map(known), Some(3));
    assert_eq!(workload.images, ["registry:5000/bank/ledger".into(), std::sync::Arc::from("b")]);
    assert_eq!(read.meshes.len(), 1);
    assert_eq!(&text[workload.span.range()], "ledger");

    let outside = facts(&text.replace("\"true\"", "\"false\""));
    assert_eq!(outside.workloads[0].mesh.as_ref().map(known), Some(false));
    assert_eq!(outside.meshes, []);
    // An annotation says the same.
    let annotated = facts(&text.replace("labels: { app: ledger, ", "annotations: { "));
    assert_eq!(annotated.workloads[0].mesh.as_ref().map(known), Some(true));
}

#[test]
fn variables_that_name_a_host_are_kept() {
    let env = [
        "{ name: PAYMENTS_URL, value: 'http://payments.bank.svc:8080/v1' }",
        "{ name: LEDGER, value: 'ledger:50051' }",
        "{ name: MAIL_HOST, value: mail }",
        // A word that names nobody, this machine, a value that is put in later, one that lies elsewhere.
        "{ name: LOG_LEVEL, value: debug }",
        "{ name: CACHE_URL, value: 'redis://localhost:6379' }",
        "{ name: BANK_URL, value: 'http://$(BANK)/v1' }",
        "{ name: TOKEN_URL, valueFrom: { secretKeyRef: { name: t, key: u } } }",
    ];
    let container = format!("{{ name: app, env: [{}] }}", env.join(", "));
    let read = facts(&format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{ name: web, namespace: shop }}\n\
         spec: {{ template: {{ spec: {{ containers: [{container}] }} }} }}\n"
    ));
    let shown = |(name, value): &(std::sync::Arc<str>, crate::facts::ServiceRef)| {
        assert_eq!(value.from_namespace.as_deref(), Some("shop"));
        format!("{name} {}", value.host.display())
    };
    let found: Vec<String> = read.workloads[0].variables.iter().map(shown).collect();
    assert_eq!(found, ["PAYMENTS_URL payments.bank", "LEDGER ledger", "MAIL_HOST mail"]);
}

#[test]
fn pods_of_jobs_lie_deeper() {
    let facts = facts(
        "apiVersion: batch/v1\nkind: CronJob\nmetadata: { name: sweep }\nspec: { jobTemplate: { spec: { template: { metadata: { labels: { app: sweep } } } } } }\n---\n\
         apiVersion: v1\nkind: Pod\nmetadata: { name: probe, labels: { app: probe } }\nspec: { containers: [{ image: probe }] }\n---\n\
         apiVersion: argoproj.io/v1alpha1\nkind: Rollout\nmetadata: { name: shop }\nspec: { template: { metadata: { labels: { app: shop } } } }\n",
    );
    let labels: Vec<_> = facts.workloads.iter().map(|w| (&*w.name, w.labels.clone())).collect();
    let app = |name: &str| vec![("app".into(), name.into())];
    assert_eq!(labels, [("sweep", app("sweep")), ("probe", app("probe")), ("shop", app("shop"))]);
}

#[test]
fn services_select_and_say_what_their_ports_speak() {
    use PortProtocol::{Grpc, Http, Opaque, Unsaid};
    let service = |ports: &str| {
        let text = format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{ name: ledger, namespace: bank }}\nspec: {{ selector: {{ app: ledger }}, ports: [{ports}] }}\n"
        );
        facts(&text).kube_services[0].clone()
    };
    let read = service("{ name: grpc-pay, port: 1 }");
    assert_eq!(
        (&*read.name, read.namespace.as_deref(), read.selector, read.ports),
        ("ledger", Some("bank"), vec![("app".into(), "ledger".into())], vec![Grpc])
    );
    for (port, speaks) in [
        ("{ name: x, appProtocol: grpc, port: 1 }", Grpc),
        ("{ name: x, appProtocol: kubernetes.io/grpc, port: 1 }", Grpc),
        ("{ name: http, port: 1 }", Http),
        ("{ name: http2-web, port: 1 }", Http),
        ("{ name: grpc-web, port: 1 }", Http),
        ("{ name: grpc, appProtocol: http, port: 1 }", Http),
        ("{ name: tcp, appProtocol: kubernetes.io/h2c, port: 1 }", Http),
        // Kubernetes' own protocol is TCP for HTTP as well.
        ("{ name: http, protocol: TCP, port: 5432 }", Http),
        ("{ name: https, port: 443 }", Opaque),
        ("{ name: tcp-postgres, port: 5432 }", Opaque),
        ("{ name: http, appProtocol: tcp, port: 80 }", Opaque),
        ("{ name: TLS-passthrough, port: 443 }", Opaque),
        ("{ name: redis, port: 6379 }", Opaque),
        ("{ name: mongo, port: 1 }", Opaque),
        ("{ name: http, protocol: UDP, port: 53 }", Opaque),
        // The server speaks first: nothing can be detected.
        ("{ name: db, port: 3306 }", Opaque),
        ("{ name: http, port: 3306 }", Http),
        ("{ name: grpcx, port: 1 }", Unsaid),
        ("{ name: httpx, port: 1 }", Unsaid),
        ("{ name: web-http, port: 1 }", Unsaid),
        ("{ port: 443 }", Unsaid),
        ("{ name: \"{{ .Values.port }}\", port: 443 }", Unsaid),
    ] {
        assert_eq!(service(port).ports, [speaks], "{port}");
    }
    assert_eq!(service("{ name: tcp-a }, { name: tls-b }, { name: http }").ports, [Opaque, Http]);
}

#[test]
fn service_entries_say_what_their_ports_speak_in_the_protocol_alone() {
    use PortProtocol::{Http, Opaque, Unsaid};
    let entry = |ports: &str| {
        let text = format!(
            "apiVersion: networking.istio.io/v1\nkind: ServiceEntry\nmetadata: {{ name: stripe }}\nspec: {{ hosts: [api.stripe.com], ports: [{ports}] }}\n"
        );
        facts(&text).services[0].ports.clone()
    };
    assert_eq!(entry("{ number: 443, name: tls, protocol: TLS }"), [Opaque]);
    assert_eq!(entry("{ number: 443, name: http, protocol: HTTPS }"), [Opaque]);
    assert_eq!(entry("{ number: 80, name: tcp, protocol: HTTP }"), [Http]);
    assert_eq!(entry("{ number: 80, name: http }"), [Unsaid]);
    assert_eq!(entry("{ number: 443, protocol: TLS }, { number: 80, protocol: HTTP }"), [Opaque, Http]);
    assert_eq!(entry(""), []);
}

#[test]
fn other_objects_prove_their_namespace() {
    let facts = facts("apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: { name: a, namespace: edge }\n");
    assert_eq!((&*facts.namespaces[0].name, facts.namespaces[0].declared), ("edge", false));
}
