//! Graphs built by hand, for tests.

use petgraph::graph::{EdgeIndex, NodeIndex};

use super::{Edge, Layer, Membership, Nest, Net, Node, System};
use crate::facts::{
    Attempts, Backoff, BackoffKind, CallSource, Class, Classes, Confidence, Dialect, Facts, Jitter, Limit, Nanos,
    Policy, PolicyId, Position, Protocol, Service, ServiceSource, Sourced, Value, Why,
};
use crate::limits::Limits;
use crate::source::{FileId, Span};

/// Somewhere in a file.
pub const SPAN: Span = Span { file: FileId(0), start: 0, end: 0 };

/// Istio's set before 1.24 (no `cancelled`, which is gRPC's).
pub const OLD_ISTIO: Classes = Classes::of(&[Class::Connect, Class::Unsent, Class::Unavailable, Class::Overload]);
/// Istio's set from 1.24 on.
pub const NEW_ISTIO: Classes = Classes::of(&[Class::Connect, Class::Unsent, Class::Unavailable]);
/// Istio's inbound default.
pub const INBOUND: Classes = Classes::of(&[Class::Connect]);
/// Envoy's `5xx`.
pub const FIVE_XX: Classes = Classes::of(&[
    Class::Connect,
    Class::Unsent,
    Class::Reset,
    Class::TryTimeout,
    Class::Overload,
    Class::BadGateway,
    Class::ServerError,
]);

/// A value that a test wrote.
pub fn written<T>(value: T) -> Sourced<T> {
    Sourced::written(value, SPAN)
}

/// A value that cannot be told.
pub fn unknown<T>() -> Sourced<T> {
    Sourced::unknown(Why::Environment("RETRIES".into()), SPAN)
}

/// Code that tries `n` times whatever happens, without delays or limits.
pub fn code(n: u64) -> Policy {
    let mut policy = Policy::new(Dialect::Code, "hand-written", "a test", SPAN, "loop");
    policy.attempts = written(Attempts::Times(n));
    policy
}

/// A sidecar of the caller's that tries `n` times on these classes.
pub fn sidecar(n: u64, on: Classes) -> Policy {
    let mut policy = Policy::new(Dialect::Istio, "istio", "a test", SPAN, "route");
    policy.attempts = written(Attempts::Times(n));
    policy.retries_on = written(on);
    policy.position = Position::ClientSidecar;
    policy
}

/// The same at another position.
pub fn at(position: Position, mut policy: Policy) -> Policy {
    policy.position = position;
    policy
}

/// The same for these classes only.
pub fn on(classes: Classes, mut policy: Policy) -> Policy {
    policy.retries_on = written(classes);
    policy
}

/// The same with a limit for one try and for all tries, in milliseconds.
pub fn timed(attempt: Option<u64>, total: Option<u64>, mut policy: Policy) -> Policy {
    let limit = |millis: Option<u64>| millis.map_or(Limit::None, |n| Limit::At(Nanos::from_millis(n)));
    policy.attempt_timeout = written(limit(attempt));
    policy.total.limit = written(limit(total));
    policy
}

/// The same with these delays, in milliseconds.
pub fn waiting(delays: &[u64], jitter: Jitter, mut policy: Policy) -> Policy {
    let delays = delays.iter().map(|n| Nanos::from_millis(*n)).collect();
    policy.backoff = Backoff {
        kind: written(BackoffKind::Schedule(delays)),
        base: written(Nanos::ZERO),
        factor: written(1.0),
        cap: written(Limit::None),
        skip: 0,
    };
    policy.jitter = written(jitter);
    policy
}

/// A graph in the making.
#[derive(Debug, Default)]
pub struct Sketch {
    /// Its policies.
    pub facts: Facts,
    /// Its services and calls.
    pub net: Net,
}

impl Sketch {
    /// The service of a name, added if it is new.
    pub fn service(&mut self, name: &str) -> NodeIndex {
        let found = self.net.graph.node_indices().find(|node| &*self.net.graph[*node].name == name);
        found.unwrap_or_else(|| self.add(name))
    }

    /// A new service; its name is not looked for.
    pub fn add(&mut self, name: &str) -> NodeIndex {
        self.net.graph.add_node(Node {
            name: name.into(),
            namespace: None,
            display: name.into(),
            external: false,
            service: Service::new(name, SPAN, ServiceSource::Manifest),
            declared: true,
            mesh: Membership::Unknown,
            upstreams: Vec::new(),
        })
    }

    /// The declaration of a service.
    pub fn declared(&mut self, name: &str) -> &mut Service {
        let node = self.service(name);
        &mut self.net.graph[node].service
    }

    /// A call with a layer for each policy, outermost first.
    pub fn call(&mut self, from: &str, to: &str, policies: impl IntoIterator<Item = Policy>) -> EdgeIndex {
        let layers = policies.into_iter().map(|policy| vec![vec![policy]]).collect();
        self.layered(from, to, layers)
    }

    /// A call with layers, each with alternatives, each a nest; all outermost first.
    pub fn layered(&mut self, from: &str, to: &str, layers: Vec<Vec<Vec<Policy>>>) -> EdgeIndex {
        let (from, to) = (self.service(from), self.service(to));
        let edge = self.edge(layers);
        self.net.graph.add_edge(from, to, edge)
    }

    /// An edge that joins nothing yet.
    pub fn edge(&mut self, layers: Vec<Vec<Vec<Policy>>>) -> Edge {
        let layers = layers.into_iter().map(|alternatives| self.layer(alternatives)).collect();
        Edge {
            calls: Vec::new(),
            source: CallSource::Manifest,
            span: SPAN,
            per_request: 1.0,
            protocol: None,
            operation: None,
            one_of: None,
            is_async: false,
            idempotent: None,
            propagates_deadline: false,
            confidence: Confidence::High,
            layers,
            unclaimed: Vec::new(),
        }
    }

    fn layer(&mut self, alternatives: Vec<Vec<Policy>>) -> Layer {
        let position = alternatives[0][0].position;
        let alternatives = alternatives
            .into_iter()
            .map(|nest| {
                let policies = nest.into_iter().map(|policy| self.policy(policy)).collect();
                Nest { policies, site: SPAN, upstream: None, confidence: Confidence::High, is_inferred: false }
            })
            .collect();
        Layer { position, alternatives }
    }

    fn policy(&mut self, policy: Policy) -> PolicyId {
        self.facts.policies.push(policy);
        PolicyId(self.facts.policies.len() as u32 - 1)
    }

    /// An edge, to be changed.
    pub fn edge_mut(&mut self, edge: EdgeIndex) -> &mut Edge {
        &mut self.net.graph[edge]
    }

    /// Everything is spoken in gRPC.
    pub fn all_grpc(mut self) -> Sketch {
        self.net.graph.edge_weights_mut().for_each(|edge| edge.protocol = Some(Protocol::Grpc));
        self
    }

    /// Computes everything and hands it to `look`.
    pub fn analysed<R>(self, look: impl FnOnce(&System) -> R) -> R {
        let limits = Limits::default();
        look(&System::new(&self.facts, &limits, self.net))
    }
}

/// A policy with unknown tries.
pub fn of_unknown_tries(mut policy: Policy) -> Policy {
    policy.attempts.value = Value::Unknown(Box::new(Why::Environment("FLAG_RETRIES".into())));
    policy
}
