//! Facts by hand, for the tests of everything that stands on the graph: a tree of files that declares services, calls and
//! policies in one line each, with spans that are all different.

use std::sync::Arc;

use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

use super::link::link;
use super::{Edge, Net};
use crate::facts::{
    Attempts, Call, CallId, CallSource, Callee, Caller, Classes, Confidence, Dialect, Evidence, Facts, File, FileKind,
    Host, KubeService, Limit, Mesh, Methods, Namespace, PathMatch, Policy, PolicyId, PolicyKind, Position, Role, Route,
    Service, ServiceRef, ServiceSource, Sourced, Upstream, Why, Workload,
};
use crate::source::{FileId, Span};

/// Facts being written.
#[derive(Default)]
pub(crate) struct Tree {
    pub facts: Facts,
    written: u32,
}

impl Tree {
    /// A file of the tree; the same one for the same path.
    pub fn file(&mut self, path: &str) -> FileId {
        let at = self.facts.files.iter().position(|file| &*file.path == path).unwrap_or_else(|| {
            self.facts.files.push(File {
                path: path.into(),
                kind: FileKind::Yaml,
                environment: None,
                role: Role::Production,
                named: false,
                told_by: None,
            });
            self.facts.files.len() - 1
        });
        FileId(at as u32)
    }

    /// A new place in a file.
    pub fn span(&mut self, path: &str) -> Span {
        let file = self.file(path);
        self.written += 10;
        Span { file, start: self.written, end: self.written + 5 }
    }

    /// A service that the manifest `services.yaml` declares.
    pub fn service(&mut self, name: &str) -> &mut Service {
        let span = self.span("services.yaml");
        self.facts.services.push(Service::new(name, span, ServiceSource::Manifest));
        self.facts.services.last_mut().unwrap()
    }

    /// A package with a program in it.
    pub fn package(&mut self, name: &str, folder: &str) -> &mut Service {
        let span = self.span(&format!("{folder}/Cargo.toml"));
        let mut service = Service::new(name, span, ServiceSource::Package);
        service.paths = vec![format!("{folder}/**").into()];
        self.facts.services.push(service);
        self.facts.services.last_mut().unwrap()
    }

    /// A call that the manifest declares. Its id is the number of calls before it.
    pub fn call(&mut self, caller: &str, callee: &str) -> &mut Call {
        self.call_in("services.yaml", CallSource::Manifest, caller, callee)
    }

    /// A call that some file tells of.
    pub fn call_in(&mut self, path: &str, source: CallSource, caller: &str, callee: &str) -> &mut Call {
        let span = self.span(path);
        self.facts.calls.push(Call {
            caller: Caller::Service(reference(caller)),
            callee: self::callee(callee),
            span,
            source,
            environment: None,
            per_request: Sourced::default_of(1.0, "the manifest", "per-request"),
            operation: None,
            protocol: None,
            one_of: None,
            is_async: false,
            idempotent: None,
            propagates_deadline: None,
            confidence: Confidence::High,
        });
        self.facts.calls.last_mut().unwrap()
    }

    /// The id of the last call.
    pub fn last_call(&self) -> CallId {
        CallId(self.facts.calls.len() as u32 - 1)
    }

    /// The id of the last policy.
    pub fn last_policy(&self) -> PolicyId {
        PolicyId(self.facts.policies.len() as u32 - 1)
    }

    /// A policy with so many tries in all, that retries everything, of the service that owns its file. Its id is the number
    /// of policies before it.
    pub fn policy(&mut self, path: &str, dialect: Dialect, position: Position, tries: u64) -> &mut Policy {
        let span = self.span(path);
        let source = match dialect {
            Dialect::Envoy => "envoy",
            Dialect::Istio => "istio",
            Dialect::Dotnet => "dotnet",
            Dialect::Generic => "generic",
            Dialect::Manifest => "manifest",
            Dialect::Code => "code",
        };
        let mut policy =
            Policy::new(dialect, source, "the test", span, format!("policy {}", self.facts.policies.len()));
        policy.position = position;
        policy.attempts = Sourced::written(Attempts::Times(tries), span);
        policy.retries_on = Sourced::written(Classes::ALL, span);
        self.facts.policies.push(policy);
        self.facts.policies.last_mut().unwrap()
    }

    /// A VirtualService for all sidecars of the mesh.
    pub fn virtual_service(&mut self, host: &str, tries: u64) -> &mut Policy {
        let policy = self.policy("mesh.yaml", Dialect::Istio, Position::ClientSidecar, tries);
        policy.caller = Caller::Members { namespace: None, labels: Vec::new() };
        policy.callee = callee(host);
        policy
    }

    /// A route of a gateway that names no caller.
    pub fn gateway(&mut self, host: &str, tries: u64) -> &mut Policy {
        let policy = self.policy("gateway/envoy.yaml", Dialect::Envoy, Position::Gateway, tries);
        policy.caller = Caller::Unknown(Why::Other("a gateway".into()));
        policy.callee = callee(host);
        policy
    }

    /// A sidecar's route: an Envoy without a name of its own.
    pub fn sidecar(&mut self, path: &str, host: &str, tries: u64) -> &mut Policy {
        let policy = self.policy(path, Dialect::Envoy, Position::ClientSidecar, tries);
        policy.caller = Caller::ByPath;
        policy.callee = callee(host);
        policy
    }

    /// The retry of the last manifest call.
    pub fn manifest_retry(&mut self, tries: u64) -> &mut Policy {
        let call = self.last_call();
        let policy = self.policy("services.yaml", Dialect::Manifest, Position::CallerCode, tries);
        policy.calls = vec![call];
        policy
    }

    /// A workload, with what its pods say about the mesh.
    pub fn workload(&mut self, name: &str, mesh: Option<bool>) -> &mut Workload {
        let span = self.span("k8s.yaml");
        self.facts.workloads.push(Workload {
            name: name.into(),
            namespace: None,
            environment: None,
            span,
            labels: vec![("app".into(), name.into())],
            mesh: mesh.map(|mesh| Sourced::written(mesh, span)),
            replicas: None,
            images: Vec::new(),
            variables: Vec::new(),
        });
        self.facts.workloads.last_mut().unwrap()
    }

    /// A Kubernetes Service that selects by the label `app`.
    pub fn kube_service(&mut self, name: &str, app: &str) -> &mut KubeService {
        let span = self.span("k8s.yaml");
        self.facts.kube_services.push(KubeService {
            name: name.into(),
            namespace: None,
            environment: None,
            span,
            selector: vec![("app".into(), app.into())],
            ports: Vec::new(),
        });
        self.facts.kube_services.last_mut().unwrap()
    }

    /// A Namespace object, with what its labels say about the mesh.
    pub fn namespace(&mut self, name: &str, mesh: Option<bool>) -> &mut Namespace {
        let span = self.span("k8s.yaml");
        self.facts.namespaces.push(Namespace {
            name: name.into(),
            environment: None,
            span,
            mesh: mesh.map(|mesh| Sourced::written(mesh, span)),
            declared: true,
        });
        self.facts.namespaces.last_mut().unwrap()
    }

    /// An Istio mesh with its two built-in defaults: three tries by the client's proxy, three by the server's.
    pub fn mesh(&mut self) -> (PolicyId, PolicyId) {
        let mut default = |position| {
            let policy = self.policy("mesh.yaml", Dialect::Istio, position, 3);
            policy.kind = PolicyKind::Default;
            policy.caller = Caller::Unknown(Why::Other("every member".into()));
            policy.callee = Callee::Unknown(Why::Other("every member".into()));
            policy.attempts = Sourced::default_of(Attempts::Times(3), "Istio 1.31", "retries");
            self.last_policy()
        };
        let (client, inbound) = (default(Position::ClientSidecar), default(Position::ServerSidecar));
        let span = self.span("mesh.yaml");
        self.facts.meshes.push(Mesh {
            source: "istio".into(),
            version: crate::read::NEWEST_ISTIO,
            span,
            environment: None,
            client_default: Some(client),
            inbound_default: Some(inbound),
        });
        (client, inbound)
    }

    /// An Envoy cluster or DestinationRule.
    pub fn upstream(&mut self, path: &str, dialect: Dialect, caller: Caller, host: &str) -> &mut Upstream {
        let span = self.span(path);
        self.facts.upstreams.push(Upstream {
            callee: reference(host),
            names: Vec::new(),
            caller,
            position: Position::ClientSidecar,
            dialect,
            span,
            environment: None,
            budget: Sourced::default_of(Limit::None, "the test", "budget"),
            retry_cap: Sourced::default_of(Limit::None, "the test", "retry cap"),
            breaker: Sourced::default_of(Limit::None, "the test", "breaker"),
            max_connections: Sourced::default_of(Limit::None, "the test", "connections"),
            connect_timeout: Sourced::default_of(Limit::None, "the test", "connect timeout"),
            hosts: None,
            object: None,
            is_patch: false,
        });
        self.facts.upstreams.last_mut().unwrap()
    }

    /// The graph of the facts without environment.
    pub fn link(&self) -> Net {
        link(&self.facts, None)
    }

    /// The graph of one environment.
    pub fn link_in(&self, environment: &str) -> Net {
        link(&self.facts, Some(environment.into()))
    }
}

/// A written reference.
pub(crate) fn reference(text: &str) -> ServiceRef {
    ServiceRef { host: Host::parse(text).expect("a host"), from_namespace: None, evidence: Evidence::Written, at: None }
}

/// A written callee.
pub(crate) fn callee(text: &str) -> Callee {
    Callee::Service { service: reference(text), hosts: Vec::new() }
}

/// A route of the list that starts at `list`.
pub(crate) fn route(list: Span, order: u32, path: PathMatch) -> Route {
    Route { list, order, methods: Methods::Any, path, conditional: false, protocol: None }
}

/// An environment's name.
pub(crate) fn environment(name: &str) -> Option<Arc<str>> {
    Some(name.into())
}

impl Call {
    /// Its caller, if it has a name.
    pub fn from(&mut self) -> &mut ServiceRef {
        let Caller::Service(service) = &mut self.caller else { panic!("no service calls") };
        service
    }

    /// Its callee, if it has a name.
    pub fn to(&mut self) -> &mut ServiceRef {
        let Callee::Service { service, .. } = &mut self.callee else { panic!("no service is called") };
        service
    }
}

impl Net {
    /// The node shown by this name.
    pub fn shown(&self, display: &str) -> NodeIndex {
        let mut found = self.graph.node_indices().filter(|node| &*self.graph[*node].display == display);
        let node = found.next().unwrap_or_else(|| panic!("no service {display} among {:?}", self.names()));
        assert!(found.next().is_none(), "two services are shown as {display}");
        node
    }

    /// All names as shown, sorted.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.graph.node_weights().map(|node| &*node.display).collect();
        names.sort_unstable();
        names
    }

    /// The edges between two services, in order.
    pub fn between(&self, caller: &str, callee: &str) -> Vec<&Edge> {
        let (caller, callee) = (self.shown(caller), self.shown(callee));
        let mut edges: Vec<_> = self.graph.edges_connecting(caller, callee).map(|edge| (edge.id(), edge)).collect();
        edges.sort_by_key(|(id, _)| *id);
        edges.into_iter().map(|(_, edge)| edge.weight()).collect()
    }

    /// The only edge between two services.
    pub fn edge(&self, caller: &str, callee: &str) -> &Edge {
        let edges = self.between(caller, callee);
        assert_eq!(edges.len(), 1, "edges from {caller} to {callee}");
        edges[0]
    }

    /// The open edges of a service.
    pub fn open_of(&self, callee: &str) -> Vec<&Edge> {
        let callee = self.shown(callee);
        self.open.iter().filter(|(node, _)| *node == callee).map(|(_, edge)| edge).collect()
    }
}

impl Edge {
    /// Its layers in short: for each position the policies of every alternative, by number, outermost first.
    pub fn outline(&self) -> Vec<(Position, Vec<Vec<u32>>)> {
        let nests = |layer: &super::Layer| {
            layer.alternatives.iter().map(|nest| nest.policies.iter().map(|id| id.0).collect()).collect()
        };
        self.layers.iter().map(|layer| (layer.position, nests(layer))).collect()
    }
}
