//! Facts into the call graph of one environment: every reference is resolved to a service, calls become edges, and every
//! policy comes to stand where it acts.
//!
//! ```text
//! names (identity) ─► who owns which file (ownership) ─► calls (edges) ─► policies ─► layers ─► services
//! ```
//!
//! Everything is linear in the facts: references go through hash maps, and policies meet edges through their callee.

mod diversions;
mod edges;
mod identity;
mod inference;
mod layers;
mod membership;
mod ownership;
mod placement;
mod policies;
mod routes;
mod scope;
mod selectors;
mod services;
mod unclaimed;
mod unnamed;
mod upstreams;
mod uses;
mod variables;

use std::sync::Arc;

use petgraph::graph::{DiGraph, NodeIndex};

use super::{Edge, Membership, Net, Node, Resolved};
use crate::facts::{Call, CallId, CallSource, Callee, Caller, Evidence, Facts, Service, ServiceRef, ServiceSource};
use crate::source::{FileId, Span};
use diversions::Diversions;
use edges::{Edges, Ends};
use identity::{Id, Identities, Known, Place};
use inference::Likenesses;
use membership::Spaces;
use ownership::Ownership;
pub use scope::environments;
use scope::{Scope, declared_host};
use selectors::Workloads;
pub(crate) use unnamed::{misspelt, unnamed};
use variables::Variables;

/// The call graph of one environment; `None` if the facts name none. See [`environments`].
pub fn link(facts: &Facts, environment: Option<Arc<str>>) -> Net {
    let scope = Scope::new(facts, environment.as_deref());
    let mut linker = Linker::new(scope);
    linker.declare();
    let edges = linker.link_calls();
    let standings = linker.link_policies(&edges);
    let unclaimed = linker.unclaimed(&standings);
    let (resolved, open) = linker.build_layers(edges, standings);
    linker.mark_unclaimed(&unclaimed);
    linker.describe();
    let Linker { graph, notes, .. } = linker;
    let in_environment = facts.policies.iter().map(|policy| scope.has(policy)).collect();
    let unclaimed = unclaimed.into_iter().map(|(id, _)| id).collect();
    Net { environment, graph, open, resolved, unclaimed, in_environment, notes }
}

/// What the stations of linking share.
struct Linker<'f> {
    pub scope: Scope<'f>,
    pub names: Identities,
    pub ownership: Ownership,
    pub workloads: Workloads<'f>,
    pub spaces: Spaces,
    pub graph: DiGraph<Node, Edge>,
    /// The node of an identity, where it has become one.
    nodes: Vec<Option<NodeIndex>>,
    /// The identity of a node.
    ids: Vec<Id>,
    /// What names are compared with, once a name is compared.
    pub likenesses: Option<Likenesses>,
    /// Routes that lead to others than callers name.
    diversions: Diversions<'f>,
    /// Environment variables, once one is asked for.
    variables: Option<Variables<'f>>,
    pub notes: Vec<String>,
}

impl<'f> Linker<'f> {
    fn new(scope: Scope<'f>) -> Self {
        let mut names = Identities::gather(scope);
        let mut workloads = Workloads::gather(scope, &mut names);
        let ownership = Ownership::gather(scope, &mut names);
        workloads.follow(&names);
        names.gather_ports();
        let mut linker = Linker {
            scope,
            names,
            ownership,
            workloads,
            spaces: Spaces::gather(scope),
            graph: DiGraph::new(),
            nodes: Vec::new(),
            ids: Vec::new(),
            likenesses: None,
            diversions: Diversions::default(),
            variables: None,
            notes: Vec::new(),
        };
        linker.name_clusters();
        linker
    }

    /// Makes the names of clusters mean their hosts.
    fn name_clusters(&mut self) {
        for (_, upstream) in self.scope.upstreams().filter(|(_, upstream)| !upstream.names.is_empty()) {
            let target = self.id(&upstream.callee, Place::default(), None);
            let caller = self.caller(&upstream.caller, upstream.span.file);
            for name in &upstream.names {
                self.names.add_cluster(name, target, upstream.span.file, caller);
            }
        }
    }

    /// Services that somebody declares are nodes even if nothing calls them. Kubernetes objects are not: a tree full of
    /// them would drown the system that is described.
    fn declare(&mut self) {
        for service in self.scope.services().filter(|service| service.source > ServiceSource::Kubernetes) {
            let id = self.names.own(&declared_host(service), None);
            let id = self.names.follow(id);
            self.node(id, service.span);
        }
    }

    fn link_calls(&mut self) -> Edges {
        self.gather_diversions();
        let mut ends: Vec<Ends> = Vec::with_capacity(self.scope.facts.calls.len());
        let mut named: Vec<(CallId, &Call, Id, &[Arc<str>])> = Vec::new();
        for (id, call) in self.scope.calls() {
            let Some(caller) = self.caller(&call.caller, call.span.file) else { continue };
            let service = match &call.callee {
                Callee::Service { service, .. } => service,
                Callee::Named(names) => {
                    named.push((id, call, caller, names));
                    continue;
                }
                Callee::Unknown(_) => continue,
            };
            let place = Place { file: Some(call.span.file), caller: Some(caller) };
            let callee = self.id(service, place, Some(caller));
            // A proxy whose route leads to the very service that it is named after stands in front of it, and code that
            // calls the service that it is part of is what others call it with.
            if caller == callee && matches!(call.source, CallSource::Route | CallSource::Code) {
                continue;
            }
            let evidence = call.caller.service().map_or(Evidence::Written, |caller| caller.evidence);
            self.call(&mut ends, (id, call), (caller, callee), evidence.max(service.evidence));
        }
        // Names are compared with known services, so all that are written come first.
        for (id, call, caller, names) in named {
            let Some((callee, evidence)) = self.named(names, Some(caller)) else { continue };
            self.call(&mut ends, (id, call), (caller, callee), evidence);
        }
        let with_policy = self.scope.policies().flat_map(|(_, policy)| policy.calls.iter().copied()).collect();
        let edges = Edges::link(&mut self.graph, ends, &with_policy);
        for edge in self.graph.edge_indices() {
            self.hint_protocol(edge);
        }
        edges
    }

    /// A call to wherever it may be sent.
    fn call(
        &mut self,
        ends: &mut Vec<Ends<'f>>,
        (id, call): (CallId, &'f Call),
        (caller, host): (Id, Id),
        evidence: Evidence,
    ) {
        let from = self.node(caller, call.span);
        let all = self.destinations_of(call, from, host);
        let asked = (all != [host]).then_some(host);
        for to in all.into_iter().filter(|to| *to != caller || *to == host) {
            ends.push(Ends { caller: from, callee: self.node(to, call.span), id, call, evidence, asked });
        }
    }

    /// Where no call says what an edge is spoken in, a port of the callee may.
    pub fn hint_protocol(&mut self, edge: petgraph::graph::EdgeIndex) {
        let Some((_, callee)) = self.graph.edge_endpoints(edge) else { return };
        let protocol = self.spoken_by(callee);
        if let Some(edge) = self.graph.edge_weight_mut(edge) {
            edge.protocol = edge.protocol.or(protocol);
        }
    }

    /// The service that the first of these names to mean one means, other than the caller itself (contracts.md D-4): the
    /// variable of a workload, else a known service that is called alike.
    pub fn named(&mut self, names: &[Arc<str>], caller: Option<Id>) -> Option<(Id, Evidence)> {
        let behind = names.iter().find_map(|name| self.behind_variable(name, caller));
        let found = behind.or_else(|| {
            let space = caller.and_then(|id| self.names.get(id)).and_then(|caller| caller.namespace.as_deref());
            let likenesses = self.likenesses.get_or_insert_with(|| {
                Likenesses::gather(&self.names, |id| self.nodes.get(id as usize).is_some_and(Option::is_some))
            });
            let found = likenesses.find(names.iter().map(|name| &**name), &self.names, space)?;
            Some((found, Evidence::Inferred))
        });
        // A service's settings for a client of its own name are more likely about something else.
        found.filter(|(callee, _)| Some(*callee) != caller)
    }

    /// What the ports of a service say it speaks.
    pub fn spoken_by(&self, node: NodeIndex) -> Option<crate::facts::Protocol> {
        let identity = self.ids.get(node.index()).and_then(|id| self.names.get(*id));
        identity.is_some_and(|identity| identity.ports.speak_grpc).then_some(crate::facts::Protocol::Grpc)
    }

    /// The service that a reference means. What names no namespace is looked for in that of the object that refers, else
    /// in that of the caller.
    pub fn id(&mut self, reference: &ServiceRef, place: Place, caller: Option<Id>) -> Id {
        let callers = caller.and_then(|id| self.names.get(id)).and_then(|identity| identity.namespace.clone());
        let from = reference.from_namespace.as_deref().or(callers.as_deref());
        self.names.resolve(&reference.host, from, place)
    }

    /// The service behind a caller, if one is known.
    pub fn caller(&mut self, caller: &Caller, file: FileId) -> Option<Id> {
        match caller {
            Caller::Service(service) => Some(self.id(service, Place { file: Some(file), caller: None }, None)),
            Caller::ByPath | Caller::Beside => self.ownership.owner(self.scope, file),
            Caller::Members { .. } | Caller::Unknown(_) => None,
        }
    }

    /// The node of an identity; it becomes one here, first referred to at `at`.
    pub fn node(&mut self, id: Id, at: Span) -> NodeIndex {
        if let Some(node) = self.node_of(id) {
            return node;
        }
        let identity = self.names.get(id);
        let name: Arc<str> = identity.map(|identity| identity.name.clone()).unwrap_or_default();
        let namespace = identity.and_then(|identity| identity.namespace.clone());
        let span = identity.and_then(|identity| identity.object).unwrap_or(at);
        let mut service = Service::new(name.clone(), span, ServiceSource::Kubernetes);
        service.namespace = namespace.clone();
        let node = self.graph.add_node(Node {
            display: name.clone(),
            name,
            namespace,
            external: identity.is_some_and(|identity| identity.is_whole && identity.known < Known::Declared),
            service,
            declared: identity.is_some_and(|identity| identity.known > Known::Referred),
            mesh: Membership::Unknown,
            upstreams: Vec::new(),
        });
        if self.nodes.len() <= id as usize {
            self.nodes.resize(id as usize + 1, None);
        }
        if let Some(slot) = self.nodes.get_mut(id as usize) {
            *slot = Some(node);
        }
        self.ids.push(id);
        node
    }

    /// The node of an identity, if it is one.
    pub fn node_of(&self, id: Id) -> Option<NodeIndex> {
        self.nodes.get(id as usize).copied().flatten()
    }

    /// The identity of a node.
    pub fn id_of(&self, node: NodeIndex) -> Option<Id> {
        self.ids.get(node.index()).copied()
    }
}

/// For policies of other environments.
const NOWHERE: Resolved =
    Resolved { caller: None, callee: None, inferred: false, position: None, takes_nothing: false };

#[cfg(test)]
mod tests;
