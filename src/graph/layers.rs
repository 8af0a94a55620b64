//! From policies on an edge to its layers: what competes, what encloses what, and which of two sources is believed
//! (contracts.md D-6, D-7, D-8).

use std::collections::{HashMap, HashSet};

use petgraph::graph::NodeIndex;

use super::edges::Edges;
use super::identity::Place;
use super::link::Linker;
use super::placement::{Placed, Slot};
use super::policies::{Callers, Standing, Standings};
use super::{Edge, Layer, Nest, Resolved, routes};
use crate::facts::{
    Attempts, CallSource, Caller, Dialect, Operation, Policy, PolicyId, PolicyKind, Position, Upstream,
};
use crate::source::{FileId, Span};

/// Who holds the settings of a callee.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Holder {
    File(FileId),
    Caller(NodeIndex),
    /// Every member of the mesh, or nobody knows who.
    Anyone,
}

/// Settings of proxies about callees, found by callee, position, dialect and holder. None: several, and no telling which.
#[derive(Default)]
struct Upstreams {
    of: HashMap<(NodeIndex, Position, Dialect, Holder), Option<u32>>,
}

impl Linker<'_> {
    /// Gives every edge its layers. Returns where each policy ended up, and the open edges.
    pub fn build_layers(&mut self, mut edges: Edges, standings: Standings) -> (Vec<Resolved>, Vec<(NodeIndex, Edge)>) {
        let mut placement = self.place(&mut edges, &standings);
        let upstreams = self.gather_upstreams();
        let standing: HashMap<PolicyId, &Standing> =
            standings.list.iter().map(|standing| (standing.policy, standing)).collect();

        let mut placed = std::mem::take(&mut placement.placed);
        placed.sort_unstable_by_key(|item| (item.slot, item.position, item.policy, std::cmp::Reverse(item.confidence)));
        placed.dedup_by_key(|item| (item.slot, item.position, item.policy));
        for items in placed.chunk_by(|a, b| a.slot == b.slot) {
            let Some(slot) = items.first().map(|item| item.slot) else { continue };
            let (operation, caller, callee) = match slot {
                Slot::Edge(index) => {
                    let Some((caller, callee)) = self.graph.edge_endpoints(index) else { continue };
                    (self.graph.edge_weight(index).and_then(|edge| edge.operation.as_ref()), Some(caller), callee)
                }
                Slot::Open(at) => {
                    let Some((callee, _)) = placement.open.get(at as usize) else { continue };
                    (None, None, *callee)
                }
            };
            let mut layers = self.layers(items, operation);
            for Layer { position, alternatives } in &mut layers {
                for nest in alternatives {
                    let innermost = nest.policies.last();
                    let leaf = innermost.and_then(|id| Some((self.scope.policy(*id)?, *standing.get(id)?)));
                    nest.upstream = leaf.and_then(|(policy, standing)| {
                        let holder = match standing.callers {
                            Callers::Service(_) | Callers::Call(_) => caller.map_or(Holder::Anyone, Holder::Caller),
                            Callers::Members | Callers::Unknown => Holder::Anyone,
                        };
                        upstreams.find(policy, *position, holder, [standing.callee.unwrap_or(callee), callee])
                    });
                }
            }
            let edge = match slot {
                Slot::Edge(index) => self.graph.edge_weight_mut(index),
                Slot::Open(at) => placement.open.get_mut(at as usize).map(|(_, edge)| edge),
            };
            if let Some(edge) = edge {
                edge.layers = layers;
            }
        }
        (standings.resolved, placement.open)
    }

    /// The layers of one edge, outermost first.
    fn layers(&self, items: &[Placed], operation: Option<&Operation>) -> Vec<Layer> {
        let mut layers: Vec<Layer> = Vec::new();
        let mut sidecar_texts: HashSet<Span> = HashSet::new();
        for group in items.chunk_by(|a, b| a.position == b.position) {
            let Some(position) = group.first().map(|item| item.position) else { continue };
            let mut group: Vec<(Placed, &Policy)> =
                group.iter().filter_map(|item| Some((*item, self.scope.policy(item.policy)?))).collect();
            // A route for sidecars and gateways alike is taken once: a request comes one way or the other.
            if matches!(position, Position::Gateway | Position::EgressGateway) {
                group.retain(|(_, policy)| texts(policy).all(|text| !sidecar_texts.contains(&text)));
            }
            if !group.iter().any(|(item, _)| item.is_sample) {
                routes::narrow(&mut group, |(_, policy)| policy.route.as_ref(), operation);
            }
            self.believe(&mut group);
            if position == Position::ClientSidecar {
                sidecar_texts.extend(group.iter().flat_map(|(_, policy)| texts(policy)));
            }
            let alternatives = self.nests(&group, position);
            if !alternatives.is_empty() {
                layers.push(Layer { position, alternatives });
            }
        }
        layers
    }

    /// Of alternatives at one position, what the user tells us wins over everything, and what was read wins over what a
    /// manifest says (D-8). Time limits alone say nothing about tries, and a default is nothing that anybody says: both
    /// leave the others standing.
    fn believe(&self, group: &mut Vec<(Placed, &Policy)>) {
        if group.len() < 2 {
            return;
        }
        let told = |policy: &Policy| {
            policy.call.and_then(|call| self.scope.call(call)).is_some_and(|call| call.source == CallSource::Settings)
        };
        let counts = |policy: &Policy| {
            !matches!(policy.kind, PolicyKind::TimeLimit | PolicyKind::Default) && policy.attempts.known().is_some()
        };
        if group.iter().any(|(_, policy)| told(policy) && counts(policy)) {
            group.retain(|(_, policy)| told(policy));
        } else if group.iter().any(|(_, policy)| policy.dialect != Dialect::Manifest && counts(policy)) {
            group.retain(|(_, policy)| policy.dialect != Dialect::Manifest || told(policy));
        }
    }

    /// One nest for each innermost policy, with everything at this position that encloses it.
    fn nests(&self, group: &[(Placed, &Policy)], position: Position) -> Vec<Nest> {
        let outer: HashSet<PolicyId> = group
            .iter()
            .filter(|(_, policy)| policy.inside.is_some())
            .flat_map(|(item, _)| self.scope.enclosing(item.policy).skip(1).map(|(id, _)| id))
            .collect();
        let mut nests = Vec::new();
        for (item, _) in group.iter().filter(|(item, _)| !outer.contains(&item.policy)) {
            let mut chain: Vec<(PolicyId, &Policy)> = self
                .scope
                .enclosing(item.policy)
                .filter(|(id, policy)| {
                    *id == item.policy || (policy.position == position && self.scope.is_in_force(policy))
                })
                .collect();
            chain.reverse();
            // Of equals, the innermost: it is nearest to the callee.
            let most = chain.iter().max_by_key(|(_, policy)| match policy.attempts.known() {
                None => (0, 0),
                Some(Attempts::Times(n)) => (1, *n),
                Some(Attempts::ByTime) => (2, 0),
                Some(Attempts::Unbounded) => (3, 0),
            });
            let Some(site) = item.site.or(most.map(|(_, policy)| policy.site())) else { continue };
            let confidence =
                chain.iter().map(|(_, policy)| policy.confidence).fold(item.confidence, std::cmp::Ord::min);
            let policies = chain.into_iter().map(|(id, _)| id).collect();
            nests.push(Nest { policies, site, upstream: None, confidence });
        }
        nests
    }

    /// Indexes the settings of callees and gives each node those about it.
    fn gather_upstreams(&mut self) -> Upstreams {
        let mut upstreams = Upstreams::default();
        let mut all: Vec<(u32, &Upstream)> = self.scope.upstreams().collect();
        // What an environment says about a callee comes before what its base says.
        all.sort_by_key(|(_, upstream)| upstream.environment.is_none());
        for (index, upstream) in all {
            let caller = self.caller(&upstream.caller, upstream.span.file);
            let place = Place { file: Some(upstream.span.file), caller };
            let callee = self.id(&upstream.callee, place, caller);
            let Some(node) = self.node_of(callee) else { continue };
            if let Some(node) = self.graph.node_weight_mut(node) {
                node.upstreams.push(index);
            }
            let caller = caller.filter(|caller| *caller != callee).and_then(|caller| self.node_of(caller));
            let is_member = matches!(upstream.caller, Caller::Members { .. });
            let position = match upstream.position {
                Position::ClientSidecar if caller.is_none() && !is_member => Position::Gateway,
                position => position,
            };
            upstreams.add(index, upstream, node, position, Holder::File(upstream.span.file), true);
            let holder = caller.map_or(Holder::Anyone, Holder::Caller);
            upstreams.add(index, upstream, node, position, holder, is_member || caller.is_some());
        }
        upstreams
    }
}

/// The texts that define a route: itself, and the list that it stands in.
fn texts(policy: &Policy) -> impl Iterator<Item = Span> {
    std::iter::once(policy.span).chain(policy.route.as_ref().map(|route| route.list))
}

impl Upstreams {
    /// The first of several is kept where they belong together; where nobody knows whose they are, none is.
    fn add(
        &mut self,
        index: u32,
        upstream: &Upstream,
        node: NodeIndex,
        position: Position,
        holder: Holder,
        belong_together: bool,
    ) {
        let slot = self.of.entry((node, position, upstream.dialect, holder));
        slot.and_modify(|first| {
            if !belong_together {
                *first = None;
            }
        })
        .or_insert(Some(index));
    }

    /// The settings that bound a policy: those of its own file first, then those of the same holder.
    fn find(&self, policy: &Policy, position: Position, holder: Holder, callees: [NodeIndex; 2]) -> Option<u32> {
        let at = |callee, holder| self.of.get(&(callee, position, policy.dialect, holder)).copied();
        callees
            .into_iter()
            .find_map(|callee| at(callee, Holder::File(policy.span.file)).or_else(|| at(callee, holder)).flatten())
    }
}

#[cfg(test)]
mod tests;
