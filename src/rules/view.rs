//! What rules loop over: [`EdgeView`], an edge with everything that was computed for it, and [`policies`], the policies
//! of one environment with their two ends.

use std::collections::HashSet;

use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef as _;

use super::EdgeRef;
use crate::facts::{Classes, Nanos, Policy, PolicyId, Position, Protocol};
use crate::graph::{Edge, EdgeLoad, EdgeTime, Nest, Node, Resolved, System, deadlines, handover};

/// An edge and what is known of it. Edges between services and routes whose callers nobody knows look the same.
#[derive(Clone, Copy, Debug)]
pub struct EdgeView<'s> {
    /// Which one.
    pub at: EdgeRef,
    /// Who calls; none if nobody knows.
    pub caller: Option<&'s Node>,
    /// Who is called.
    pub callee: &'s Node,
    /// The callee's index.
    pub target: NodeIndex,
    /// The edge.
    pub edge: &'s Edge,
    /// Its tries.
    pub load: Option<&'s EdgeLoad>,
    /// Its times.
    pub time: Option<&'s EdgeTime>,
}

impl<'s> EdgeView<'s> {
    /// Every edge of a system: those between services by index, then the open ones.
    pub fn all(system: &'s System<'_>) -> impl Iterator<Item = EdgeView<'s>> {
        let graph = &system.net.graph;
        let closed = graph.edge_references().filter_map(move |edge| {
            Some(EdgeView {
                at: EdgeRef::Net(edge.id()),
                caller: Some(graph.node_weight(edge.source())?),
                callee: graph.node_weight(edge.target())?,
                target: edge.target(),
                edge: edge.weight(),
                load: system.amplification.edges.get(edge.id().index()),
                time: system.deadlines.edges.get(edge.id().index()),
            })
        });
        let open = system.net.open.iter().enumerate().filter_map(move |(index, (callee, edge))| {
            Some(EdgeView {
                at: EdgeRef::Open(index),
                caller: None,
                callee: graph.node_weight(*callee)?,
                target: *callee,
                edge,
                load: system.amplification.open.get(index),
                time: system.deadlines.open.get(index),
            })
        });
        closed.chain(open)
    }

    /// The classes that it can fail with, by what it is spoken in.
    pub fn possible(&self) -> Classes {
        handover::possible(self.edge.protocol.unwrap_or(Protocol::Http))
    }

    /// `web → ledger`, or `any caller → ledger`.
    pub fn arrow(&self) -> String {
        format!("{} → {}", self.caller.map_or("any caller", |node| &node.display), self.callee.display)
    }
}

/// The nest of an edge that holds a policy.
pub fn nest_of(edge: &Edge, policy: PolicyId) -> Option<&Nest> {
    edge.layers.iter().flat_map(|layer| &layer.alternatives).find(|nest| nest.policies.contains(&policy))
}

/// A policy on an edge, inside of something that stops waiting.
pub struct Enclosed<'s> {
    /// The edge.
    pub view: EdgeView<'s>,
    /// The policy.
    pub policy: (PolicyId, &'s Policy),
    /// Where it was placed on the edge.
    pub position: Position,
    /// When the most impatient of those around it gives up.
    pub limit: Nanos,
    /// Whose limit that is.
    pub by: (PolicyId, &'s Policy),
}

/// Every policy with the least limit of the layers around it on the same edge, each pair of the two once.
pub fn enclosed<'s>(system: &'s System<'_>) -> Vec<Enclosed<'s>> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for view in EdgeView::all(system) {
        let mut outer: Option<(Nanos, PolicyId)> = None;
        for layer in &view.edge.layers {
            for nest in &layer.alternatives {
                let mut enclosing = outer;
                for id in &nest.policies {
                    let Some(policy) = system.facts.policy(*id) else { continue };
                    if let Some((limit, by)) = enclosing
                        && let Some(around) = system.facts.policy(by)
                        && seen.insert((*id, by))
                    {
                        found.push(Enclosed {
                            view,
                            policy: (*id, policy),
                            position: layer.position,
                            limit,
                            by: (by, around),
                        });
                    }
                    let own = deadlines::patience(policy).map(|limit| (limit, *id));
                    enclosing = match (enclosing, own) {
                        (Some(outer), Some(own)) if own.0 >= outer.0 => Some(outer),
                        (outer, own) => own.or(outer),
                    };
                }
                // Alternatives are no stack: only a layer with a single one encloses for certain.
                if layer.alternatives.len() == 1 {
                    outer = enclosing;
                }
            }
        }
    }
    found
}

/// What policies are spoken through in, as far as it matters: unknown counts as HTTP (contracts.md D-10).
#[derive(Debug)]
pub struct Spoken(HashSet<PolicyId>);

impl Spoken {
    /// Of all policies of this environment.
    pub fn of(system: &System) -> Spoken {
        let grpc = EdgeView::all(system).filter(|view| view.edge.protocol == Some(Protocol::Grpc));
        let layers = grpc.flat_map(|view| &view.edge.layers).flat_map(|layer| &layer.alternatives);
        Spoken(layers.flat_map(|nest| nest.policies.iter().copied()).collect())
    }

    /// Of one.
    pub fn protocol(&self, policy: PolicyId) -> Protocol {
        if self.0.contains(&policy) { Protocol::Grpc } else { Protocol::Http }
    }
}

/// The two ends of a policy, as far as they are known.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'s> {
    /// Who calls.
    pub caller: Option<&'s Node>,
    /// Who is called.
    pub callee: Option<&'s Node>,
}

impl<'s> Ends<'s> {
    fn of(system: &'s System<'_>, at: Resolved) -> Ends<'s> {
        let node = |index: Option<NodeIndex>| index.and_then(|index| system.net.graph.node_weight(index));
        Ends { caller: node(at.caller), callee: node(at.callee) }
    }

    /// A call that goes through the policy, to stand behind "one" or "a": ``call from `web` to `ledger` ``.
    pub fn call(&self, policy: &Policy) -> String {
        match (self.caller, self.callee) {
            (Some(caller), Some(callee)) => format!("call from `{}` to `{}`", caller.display, callee.display),
            (None, Some(callee)) => format!("call to `{}`", callee.display),
            (Some(caller), None) => format!("call from `{}` through `{}`", caller.display, policy.name),
            (None, None) => format!("call through `{}`", policy.name),
        }
    }

    /// The callee in backticks, or other words for it.
    pub fn callee_or(&self, unknown: &str) -> String {
        self.callee.map_or_else(|| unknown.to_owned(), |node| format!("`{}`", node.display))
    }
}

/// Every policy of this environment that retries, with its ends, in order of id. A route for requests where none are told
/// apart retries nothing.
pub fn policies<'s>(system: &'s System<'_>) -> impl Iterator<Item = (PolicyId, &'s Policy, Ends<'s>)> {
    of_environment(system)
        .filter(|(_, policy, at)| (policy.may_retry() && !at.takes_nothing) || !policy.ineffective.is_empty())
        .map(move |(id, policy, at)| (id, policy, Ends::of(system, at)))
}

/// Routes for requests of which none can be told apart, as [`policies`].
pub fn idle<'s>(system: &'s System<'_>) -> impl Iterator<Item = (PolicyId, &'s Policy, Ends<'s>)> {
    of_environment(system)
        .filter(|(_, policy, at)| at.takes_nothing && policy.may_retry() && policy.ineffective.is_empty())
        .map(move |(id, policy, at)| (id, policy, Ends::of(system, at)))
}

fn of_environment<'s>(system: &'s System<'_>) -> impl Iterator<Item = (PolicyId, &'s Policy, Resolved)> {
    let net = &system.net;
    let is_here = move |id: PolicyId| net.in_environment.get(id.0 as usize).copied().unwrap_or(true);
    let at = move |id: PolicyId| net.resolved.get(id.0 as usize).copied().unwrap_or_default();
    system.facts.policies().filter(move |(id, _)| is_here(*id)).map(move |(id, policy)| (id, policy, at(id)))
}
