//! Services and references to them, and the Kubernetes objects that identity and mesh membership rest on
//! (contracts.md D-1, D-3, D-9).

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::suppression::is_past;
use super::{Class, Date, Nanos, Sourced, Why};
use crate::source::Span;

/// A host name, normalised as far as one file allows. Whether `a.b` is a name with a namespace is decided at linking,
/// when all namespaces are known.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Host {
    /// A name, with its namespace where the cluster suffix or the object said it.
    Name {
        /// The service's name.
        name: Arc<str>,
        /// Its namespace.
        namespace: Option<Arc<str>>,
    },
    /// Dotted, without a cluster suffix: `a.b` is (a, namespace b) if b is a known namespace, else it stays whole and
    /// is an external service.
    Dotted(Arc<str>),
}

/// A reference to a service, with how it is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ServiceRef {
    /// The name.
    pub host: Host,
    /// The namespace to look in first where `host` names none: that of the object that refers.
    pub from_namespace: Option<Arc<str>>,
    /// How it is known.
    pub evidence: Evidence,
    /// Where it is written.
    pub at: Option<Span>,
}

/// How a reference is known, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// Written out.
    Written,
    /// Concluded from a name that is like a known service's.
    Inferred,
    /// Taken for granted where nothing says otherwise.
    Assumed,
}

/// Who calls through a policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Caller {
    /// This service.
    Service(ServiceRef),
    /// The service whose paths cover the file that the policy stands in; if none does, nobody knows.
    ByPath,
    /// The same of what only its own machine reaches, a listener on 127.0.0.1: if no paths cover the file, some one service,
    /// and never several.
    Beside,
    /// Every member of the mesh (D-9), narrowed to a namespace or to workloads with these labels where the route says so.
    Members {
        /// Only callers in this namespace.
        namespace: Option<Arc<str>>,
        /// Only callers whose workload has all of these labels.
        labels: Vec<(Arc<str>, Arc<str>)>,
    },
    /// Not told.
    Unknown(Why),
}

/// Whom a policy calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Callee {
    /// This service. `hosts`: further names by which callers reach it through this policy (a VirtualService's hosts).
    Service {
        /// Where the requests go.
        service: ServiceRef,
        /// What callers ask for.
        hosts: Vec<ServiceRef>,
    },
    /// Whichever *known* service one of these names is equal to, once normalised (D-4): inferred. Best first.
    Named(Vec<Arc<str>>),
    /// Not told.
    Unknown(Why),
}

impl Caller {
    /// The service that it names.
    pub fn service(&self) -> Option<&ServiceRef> {
        match self {
            Caller::Service(service) => Some(service),
            Caller::ByPath | Caller::Beside | Caller::Members { .. } | Caller::Unknown(_) => None,
        }
    }
}

impl Callee {
    /// The service that it names; none where a name is merely like a service's.
    pub fn service(&self) -> Option<&ServiceRef> {
        match self {
            Callee::Service { service, .. } => Some(service),
            Callee::Named(_) | Callee::Unknown(_) => None,
        }
    }
}

/// A service that some file declares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Service {
    /// Its name.
    pub name: Arc<str>,
    /// Its namespace.
    pub namespace: Option<Arc<str>>,
    /// Its environment (D-2).
    pub environment: Option<Arc<str>>,
    /// Where it is declared.
    pub span: Span,
    /// What declares it.
    pub source: ServiceSource,
    /// Globs of the paths that hold its code and configuration, relative to the scanned root.
    pub paths: Vec<Arc<str>>,
    /// Other names of it.
    pub aliases: Vec<Host>,
    /// Whether it is itself a proxy that calls others (an Envoy with a name of its own): never in a mesh by assumption.
    pub is_proxy: bool,
    /// Who looks after it.
    pub owner: Option<Arc<str>>,
    /// Requests per second that arrive from outside the described system.
    pub rate: Option<Sourced<f64>>,
    /// Clients that call it from outside.
    pub clients: Option<Sourced<u64>>,
    /// Requests per second that it can serve.
    pub capacity: Option<Sourced<f64>>,
    /// Connections or slots that its outgoing calls share.
    pub pool: Option<Sourced<u64>>,
    /// How many instances run.
    pub instances: Option<Sourced<u64>>,
    /// Healthy latency.
    pub latency: Option<Sourced<Nanos>>,
    /// The limit after which its server ends a request.
    pub timeout: Option<Sourced<Nanos>>,
    /// The class with which it answers after its own calls failed.
    pub emits: Option<Sourced<Class>>,
    /// Whether its calls run one after the other (the default) or at once.
    pub parallel: Option<Sourced<bool>>,
    /// Edges that one request may follow round a cycle.
    pub max_hops: Option<Sourced<u64>>,
    /// A standing decision about its amplification.
    pub accept: Option<Accept>,
    /// What its ports say they speak, each answer once.
    #[serde(default)]
    pub ports: Vec<PortProtocol>,
}

impl Service {
    /// A service of which nothing but the name is known.
    pub fn new(name: impl Into<Arc<str>>, span: Span, source: ServiceSource) -> Self {
        Service {
            name: name.into(),
            namespace: None,
            environment: None,
            span,
            source,
            paths: Vec::new(),
            aliases: Vec::new(),
            is_proxy: false,
            owner: None,
            rate: None,
            clients: None,
            capacity: None,
            pool: None,
            instances: None,
            latency: None,
            timeout: None,
            emits: None,
            parallel: None,
            max_hops: None,
            accept: None,
            ports: Vec::new(),
        }
    }
}

/// What declares a service; a later one wins where two disagree (D-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ServiceSource {
    /// A package of source code with a program in it.
    Package,
    /// A Kubernetes object.
    Kubernetes,
    /// A proxy's own name (`node.cluster`).
    Proxy,
    /// A services manifest.
    Manifest,
    /// retrylint.toml.
    Settings,
}

/// `accept = { max-amplification = 9, reason = "…", until = 2027-01-31 }`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Accept {
    /// The amplification that was decided to be fine.
    pub max_amplification: f64,
    /// Why.
    pub reason: Cow<'static, str>,
    /// The last day on which it holds; none: for ever.
    pub until: Option<Date>,
    /// Where that is written.
    pub span: Span,
}

impl Accept {
    /// Whether it holds no more. Where nobody says what day it is, it does.
    pub fn is_expired(&self, today: Option<Date>) -> bool {
        is_past(self.until, today)
    }
}

/// A workload (Deployment, StatefulSet, DaemonSet …): identity, labels and mesh membership.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Workload {
    /// `metadata.name`.
    pub name: Arc<str>,
    /// `metadata.namespace`.
    pub namespace: Option<Arc<str>>,
    /// Its environment.
    pub environment: Option<Arc<str>>,
    /// Where it stands.
    pub span: Span,
    /// Labels of its pods.
    pub labels: Vec<(Arc<str>, Arc<str>)>,
    /// What its pods say about the mesh: member, not a member, or nothing.
    pub mesh: Option<Sourced<bool>>,
    /// Replicas, where written.
    pub replicas: Option<Sourced<u64>>,
    /// Container images without tag.
    pub images: Vec<Arc<str>>,
    /// Environment variables of its containers whose values name a host.
    pub variables: Vec<(Arc<str>, ServiceRef)>,
}

/// A Kubernetes Service: a host name and the labels that it selects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KubeService {
    /// `metadata.name`.
    pub name: Arc<str>,
    /// `metadata.namespace`.
    pub namespace: Option<Arc<str>>,
    /// Its environment.
    pub environment: Option<Arc<str>>,
    /// Where it stands.
    pub span: Span,
    /// `spec.selector`; empty selects nothing.
    pub selector: Vec<(Arc<str>, Arc<str>)>,
    /// What its ports say they speak, each answer once.
    #[serde(default)]
    pub ports: Vec<PortProtocol>,
}

/// What a port is declared to speak, as a mesh sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PortProtocol {
    /// HTTP, gRPC-Web included.
    Http,
    /// gRPC.
    Grpc,
    /// Bytes that no proxy looks into (TCP, TLS, HTTPS, a database): nothing but connections, so nothing to send again.
    Opaque,
    /// Nothing: the first bytes decide.
    Unsaid,
}

/// A namespace, or anything else that proves one exists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Namespace {
    /// Its name.
    pub name: Arc<str>,
    /// Its environment.
    pub environment: Option<Arc<str>>,
    /// Where it stands.
    pub span: Span,
    /// What its labels say about the mesh; none if the object itself was not seen or says nothing.
    pub mesh: Option<Sourced<bool>>,
    /// Whether the Namespace object itself was seen (rather than a `metadata.namespace`).
    pub declared: bool,
}

/// A mesh whose objects were seen: its built-in defaults stand on edges between its members. Each file that shows one adds
/// a sighting without policies; once all files are read, one for each environment is left, with its default policies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Mesh {
    /// `istio`.
    pub source: Cow<'static, str>,
    /// The release whose defaults apply where it is sighted, as (major, minor).
    pub version: (u32, u32),
    /// Where it was seen first.
    pub span: Span,
    /// Its environment.
    pub environment: Option<Arc<str>>,
    /// The client-side default on every edge between members, as a policy without caller and callee. None: a sighting, or
    /// a mesh whose default is switched off.
    pub client_default: Option<super::PolicyId>,
    /// The inbound default at every member, likewise.
    pub inbound_default: Option<super::PolicyId>,
}
