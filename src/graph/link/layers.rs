//! From policies on an edge to its layers: what competes, what encloses what, and which of two sources is believed
//! (contracts.md D-6, D-7, D-8).

use std::collections::{HashMap, HashSet};

use petgraph::graph::NodeIndex;

use super::Linker;
use super::edges::Edges;
use super::placement::{Placed, Slot};
use super::policies::{Callers, Standing, Standings};
use super::routes;
use super::upstreams::Through;
use crate::facts::{Attempts, CallSource, Dialect, Operation, Policy, PolicyId, PolicyKind, Position};
use crate::graph::{Edge, Layer, Nest, Resolved};
use crate::source::Span;

impl Linker<'_> {
    /// Gives every edge its layers. Returns where each policy ended up, and the open edges.
    pub fn build_layers(&mut self, mut edges: Edges, standings: Standings) -> (Vec<Resolved>, Vec<(NodeIndex, Edge)>) {
        let mut placement = self.place(&mut edges, &standings);
        let upstreams = self.gather_upstreams();
        let standing: HashMap<(PolicyId, Position), &Standing> =
            standings.list.iter().map(|standing| ((standing.policy, standing.position), standing)).collect();

        let mut placed = std::mem::take(&mut placement.placed);
        placed.sort_unstable_by_key(|item| (item.slot, item.position, item.policy, std::cmp::Reverse(item.confidence)));
        placed.dedup_by_key(|item| (item.slot, item.position, item.policy));
        let is_placed: HashSet<PolicyId> = placed.iter().map(|item| item.policy).collect();
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
            let mut layers = self.layers(items, operation, &is_placed);
            for Layer { position, alternatives } in &mut layers {
                for nest in alternatives {
                    let innermost = nest.policies.last();
                    let leaf =
                        innermost.and_then(|id| Some((self.scope.policy(*id)?, *standing.get(&(*id, *position))?)));
                    nest.upstream = leaf.and_then(|(policy, standing)| {
                        let is_own = matches!(standing.callers, Callers::Service(_) | Callers::Call(_));
                        let through = Through { policy, position: *position, caller, is_own };
                        // Of the callees of several calls, the one at the end of this edge.
                        let own = standing.callee.filter(|_| !matches!(standing.callers, Callers::Call(_)));
                        upstreams.find(self, through, [own.unwrap_or(callee), callee])
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
    fn layers(&self, items: &[Placed], operation: Option<&Operation>, is_placed: &HashSet<PolicyId>) -> Vec<Layer> {
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
            let alternatives = self.nests(&group, position, is_placed);
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
            let mut calls = policy.calls.iter().filter_map(|call| self.scope.call(*call));
            calls.any(|call| call.source == CallSource::Settings)
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

    /// One nest for each innermost policy, with everything at this position that encloses it; what stands on other edges
    /// encloses it there.
    fn nests(&self, group: &[(Placed, &Policy)], position: Position, is_placed: &HashSet<PolicyId>) -> Vec<Nest> {
        let here: HashSet<PolicyId> = group.iter().map(|(item, _)| item.policy).collect();
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
                    let is_here = here.contains(id) || !is_placed.contains(id);
                    *id == item.policy || (is_here && policy.position == position && self.scope.is_in_force(policy))
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
            nests.push(Nest { policies, site, upstream: None, confidence, is_inferred: item.is_inferred });
        }
        nests
    }
}

/// The texts that define a route: itself, and the list that it stands in.
fn texts(policy: &Policy) -> impl Iterator<Item = Span> {
    std::iter::once(policy.span).chain(policy.route.as_ref().map(|route| route.list))
}

#[cfg(test)]
mod tests;
