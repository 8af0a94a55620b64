//! On which edges each policy stands (contracts.md D-3, D-6, D-9, D-15).
//!
//! A policy whose caller is known stands on that caller's edges, and makes one where no call was told: the route of a known
//! caller is a call. Any other meets edges through its callee: routes of a mesh on the edges of its members, gateways on
//! all of them. What meets none stands on an open edge, `(any) -> callee`.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use petgraph::Direction;
use petgraph::graph::{EdgeIndex, NodeIndex};

use super::Linker;
use super::diversions::is_of_mesh;
use super::edges::Edges;
use super::membership;
use super::policies::{Callers, Standing, Standings};
use crate::facts::{
    CallSource, Caller, Classes, Confidence, Dialect, Policy, PolicyId, Position, Protocol, ServiceSource,
};
use crate::graph::Edge;
use crate::graph::Membership;
use crate::source::Span;

/// An edge, or an open one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Slot {
    Edge(EdgeIndex),
    Open(u32),
}

/// One policy on one edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed {
    pub slot: Slot,
    pub position: Position,
    pub policy: PolicyId,
    pub confidence: Confidence,
    /// What findings point to, where the policy has no text of its own.
    pub site: Option<Span>,
    /// Whether it is one of so many that routes are not told apart.
    pub is_sample: bool,
    /// Whether its standing here is inferred.
    pub is_inferred: bool,
}

/// Everything placed, and the open edges.
#[derive(Debug, Default)]
pub(super) struct Placement {
    pub placed: Vec<Placed>,
    pub open: Vec<(NodeIndex, Edge)>,
    /// The first policy of each open edge has brought it in; by callee and position.
    open_at: HashMap<(NodeIndex, Position), u32>,
    /// Open edges of a callee.
    open_of: HashMap<NodeIndex, Vec<u32>>,
}

/// A policy that meets edges through their callee.
struct Candidate<'a> {
    standing: &'a Standing,
    policy: &'a Policy,
}

/// With more meetings of routes and calls than this many for each fact, only the most different routes are looked at.
const MEETINGS: usize = 32;
/// How many of them.
const SAMPLE: usize = 16;

impl<'f> Linker<'f> {
    /// Places every policy that is in force.
    pub(super) fn place(&mut self, edges: &mut Edges, standings: &Standings) -> Placement {
        let mut placement = Placement::default();
        self.place_known(edges, standings, &mut placement);
        let members = self.membership(standings);
        let covered = self.place_others(edges, standings, &members, &mut placement);
        self.place_defaults(edges, &members, &covered, &mut placement);
        placement
    }

    /// Policies whose caller is known.
    fn place_known(&mut self, edges: &mut Edges, standings: &Standings, placement: &mut Placement) {
        // Of edges that a policy makes: the one route that leads there, if it is only one.
        let mut made: HashMap<EdgeIndex, Option<(Span, u32)>> = HashMap::new();
        let most = MEETINGS * (standings.list.len() + self.graph.edge_count()) + 1_000_000;
        for standing in &standings.list {
            let Some(policy) = self.scope.policy(standing.policy).filter(|policy| self.scope.is_in_force(policy))
            else {
                continue;
            };
            let crowded = placement.placed.len() > most;
            let mut put = |edge: EdgeIndex| placement.placed.push(Placed::new(Slot::Edge(edge), standing));
            match (standing.callers, standing.callee) {
                (Callers::Call(call), _) => edges.of_call(call).for_each(put),
                (Callers::Service(caller), Some(callee)) => {
                    let mut met: Vec<EdgeIndex> = self
                        .targets(standing, callee)
                        .into_iter()
                        .flat_map(|target| edges.between(caller, target))
                        .collect();
                    met.extend(self.id_of(callee).into_iter().flat_map(|host| edges.sent_on(caller, host)));
                    met.sort_unstable();
                    met.dedup();
                    if met.is_empty() {
                        let (all, asked) = self.proven_by(policy, standing, caller, callee);
                        for (callee, edge) in all {
                            let edge = edges.add(&mut self.graph, caller, callee, edge);
                            edges.ask(edge, caller, asked);
                            self.hint_protocol(edge);
                            made.insert(edge, policy.route.as_ref().map(|route| (route.list, route.order)));
                            met.push(edge);
                        }
                    } else if let [edge] = met.as_slice()
                        && let Some(route) = made.get_mut(edge)
                    {
                        if *route != policy.route.as_ref().map(|route| (route.list, route.order)) {
                            *route = None;
                        }
                        let group = self.routes_of(policy, standing);
                        if let Some(edge) = self.graph.edge_weight_mut(*edge) {
                            edge.confidence = edge.confidence.max(standing.confidence);
                            edge.protocol = edge.protocol.or(spoken(policy));
                            // What several lists lead to belongs to no choice of one of them.
                            edge.one_of = edge.one_of.take().filter(|one| Some(one) == group.as_ref());
                        }
                    }
                    if crowded {
                        met.truncate(1);
                    }
                    met.into_iter().for_each(&mut put);
                }
                _ => {}
            }
        }
        self.join_choices(made);
    }

    /// Destinations of one weighted route exclude one another, as long as nothing else leads there.
    fn join_choices(&mut self, made: HashMap<EdgeIndex, Option<(Span, u32)>>) {
        let mut choices: HashMap<(NodeIndex, Span, u32), Vec<EdgeIndex>> = HashMap::new();
        for (edge, route) in made {
            if let (Some((list, order)), Some((caller, _))) = (route, self.graph.edge_endpoints(edge)) {
                choices.entry((caller, list, order)).or_default().push(edge);
            }
        }
        for ((_, list, order), edges) in choices.into_iter().filter(|(_, edges)| edges.len() > 1) {
            let group: Arc<str> = format!("route {order} of {}:{}", list.file.0, list.start).into();
            for edge in edges {
                if let Some(edge) = self.graph.edge_weight_mut(edge) {
                    edge.one_of.get_or_insert_with(|| group.clone());
                }
            }
        }
    }

    /// The nodes by which callers reach a policy's callee.
    fn targets(&self, standing: &Standing, callee: NodeIndex) -> Vec<NodeIndex> {
        let mut targets = vec![callee];
        for host in standing.hosts.iter().filter_map(|host| self.node_of(*host)) {
            if !targets.contains(&host) && targets.len() < 64 {
                targets.push(host);
            }
        }
        targets
    }

    /// Who is in the mesh, by node.
    fn membership(&mut self, standings: &Standings) -> Vec<membership::Standing> {
        let mut named = vec![false; self.graph.node_count()];
        let mut name = |node: Option<NodeIndex>| {
            if let Some(slot) = node.and_then(|node| named.get_mut(node.index())) {
                *slot = true;
            }
        };
        for standing in &standings.list {
            if self.scope.policy(standing.policy).is_some_and(|policy| policy.dialect == Dialect::Istio) {
                name(standing.callee);
                standing.hosts.iter().for_each(|host| name(self.node_of(*host)));
            }
        }
        for (_, upstream) in self.scope.upstreams().filter(|(_, upstream)| upstream.dialect == Dialect::Istio) {
            let id = self.id(&upstream.callee, super::identity::Place::default(), None);
            name(self.node_of(id));
        }
        let mut proxies = HashSet::new();
        for service in self.scope.services() {
            let id = self.names.own(&super::scope::declared_host(service), None);
            let id = self.names.follow(id);
            if service.is_proxy {
                proxies.insert(id);
            }
            // An object that declares a service of the outside is one of the mesh: a ServiceEntry.
            if service.source == ServiceSource::Kubernetes {
                name(self.node_of(id));
            }
        }
        // The route of a mesh's gateway stands in that gateway.
        let gateways: HashSet<NodeIndex> = standings
            .list
            .iter()
            .filter(|standing| matches!(standing.position, Position::Gateway | Position::EgressGateway))
            .filter(|standing| {
                self.scope.policy(standing.policy).is_some_and(|policy| policy.dialect == Dialect::Istio)
            })
            .filter_map(|standing| standings.resolved.get(standing.policy.0 as usize)?.caller)
            .collect();
        let mut standings = Vec::with_capacity(self.graph.node_count());
        for node in self.graph.node_indices() {
            let (Some(id), Some(weight)) = (self.id_of(node), self.graph.node_weight(node)) else { continue };
            let workloads = self.workloads.of(id);
            // A gateway is a proxy of the mesh itself and has none beside it, whatever its namespace says.
            let said = match gateways.contains(&node) {
                true => Membership::Outside,
                false => self.spaces.says(workloads, weight.namespace.as_ref()),
            };
            standings.push(membership::Standing {
                said,
                is_unseen: workloads.is_empty(),
                may_be_assumed: !weight.external && !proxies.contains(&id),
                is_named: named.get(node.index()).copied().unwrap_or_default(),
            });
        }
        for node in self.graph.node_indices() {
            let Some(standing) = standings.get(node.index()).copied() else { continue };
            let calls_named = || {
                let mut callees = self.graph.neighbors(node);
                callees.any(|callee| standings.get(callee.index()).is_some_and(|callee| callee.is_named))
            };
            let is_assumed = standing.said == Membership::Unknown
                && standing.as_caller(true).is_some()
                && (standing.is_named || calls_named());
            let mesh = if is_assumed { Membership::Assumed } else { standing.said };
            if let Some(weight) = self.graph.node_weight_mut(node) {
                weight.mesh = mesh;
            }
        }
        standings
    }

    /// Policies that meet edges through their callee. Gives back the edges that a route of the mesh covers.
    fn place_others(
        &mut self,
        edges: &Edges,
        standings: &Standings,
        members: &[membership::Standing],
        placement: &mut Placement,
    ) -> HashSet<EdgeIndex> {
        let mut candidates: Vec<Vec<Candidate>> = self.graph.node_indices().map(|_| Vec::new()).collect();
        let mut waiting: Vec<Candidate> = Vec::new();
        for standing in &standings.list {
            let Some(policy) = self.scope.policy(standing.policy).filter(|policy| self.scope.is_in_force(policy))
            else {
                continue;
            };
            // What is one unknown service's alone meets nobody's edges and has an open one all the same.
            let is_route = standing.meets_any() || standing.callers == Callers::Beside;
            let Some(callee) = standing.callee.filter(|_| is_route) else { continue };
            if self.takes_nothing(policy, standing) {
                continue;
            }
            if let Some(list) = candidates.get_mut(callee.index()).filter(|_| standing.meets_any()) {
                list.push(Candidate { standing, policy });
            }
            waiting.push(Candidate { standing, policy });
        }
        let is_crowded = self.is_crowded(&mut candidates);

        let mut covered = HashSet::new();
        let mut met: HashSet<PolicyId> = HashSet::new();
        for (target, candidates) in candidates.iter().enumerate().filter(|(_, list)| !list.is_empty()) {
            let incoming: Vec<(EdgeIndex, NodeIndex)> = {
                use petgraph::visit::EdgeRef;
                let incoming = self.graph.edges_directed(NodeIndex::new(target), Direction::Incoming);
                incoming.map(|edge| (edge.id(), edge.source())).collect()
            };
            for candidate in candidates {
                for (edge, caller) in &incoming {
                    let Some(confidence) = self.admits(candidate.policy, candidate.standing, *caller, members) else {
                        continue;
                    };
                    let over = (edges, *edge);
                    let is_shut = is_of_mesh(candidate.policy, candidate.standing.position) && self.is_opaque(over);
                    if is_shut || !self.is_asked(candidate.policy, candidate.standing, over) {
                        continue;
                    }
                    met.insert(candidate.standing.policy);
                    if candidate.policy.dialect == Dialect::Istio
                        && candidate.standing.position == Position::ClientSidecar
                    {
                        covered.insert(*edge);
                    }
                    let placed = Placed::new(Slot::Edge(*edge), candidate.standing);
                    let is_inferred = placed.is_inferred || confidence < Confidence::High;
                    let confidence = placed.confidence.min(confidence);
                    placement.placed.push(Placed { confidence, is_sample: is_crowded, is_inferred, ..placed });
                }
            }
        }
        if is_crowded {
            // Those that were not looked at are on edges as much as their like.
            let busy = |candidate: &Candidate| {
                candidate
                    .standing
                    .callee
                    .is_some_and(|callee| self.graph.edges_directed(callee, Direction::Incoming).next().is_some())
            };
            met.extend(waiting.iter().filter(|candidate| busy(candidate)).map(|candidate| candidate.standing.policy));
        }
        waiting.retain(|candidate| !met.contains(&candidate.standing.policy));
        self.open_edges(&waiting, placement);
        covered
    }

    /// Whether a caller's requests go through a policy, and how sure that is.
    fn admits(
        &self,
        policy: &Policy,
        standing: &Standing,
        caller: NodeIndex,
        members: &[membership::Standing],
    ) -> Option<Confidence> {
        // A route of the mesh whose bindings cannot be told is in no proxy outside of it either.
        if standing.callers != Callers::Members && !is_of_mesh(policy, standing.position) {
            // What stands before its callee takes every request; that callers come through a gateway which none of them
            // names is inferred.
            let is_at_callee = standing.position >= Position::ServerSidecar;
            return Some(if is_at_callee { Confidence::High } else { Confidence::Medium });
        }
        // The policy is itself the object that names the callee.
        let confidence = members.get(caller.index())?.as_caller(true)?;
        let used = standing.used.and_then(|index| self.scope.facts.route_uses.get(index));
        let members = used.map_or(&policy.caller, |used| &used.caller);
        self.is_among(members, Some(caller)).then_some(confidence)
    }

    /// Whether a service is one of the members that a route or rule is narrowed to. A caller that is not known is one of
    /// all members, and of no part of them.
    pub(super) fn is_among(&self, members: &Caller, caller: Option<NodeIndex>) -> bool {
        let Caller::Members { namespace, labels } = members else { return true };
        let workloads = caller.and_then(|node| self.id_of(node)).map(|id| self.workloads.of(id)).unwrap_or_default();
        let is_there = namespace.as_ref().is_none_or(|space| {
            let node = caller.and_then(|node| self.graph.node_weight(node)).and_then(|node| node.namespace.as_ref());
            node == Some(space) || workloads.iter().any(|workload| workload.namespace.as_ref() == Some(space))
        });
        let has_labels = labels.is_empty()
            || workloads.iter().any(|workload| labels.iter().all(|label| workload.labels.contains(label)));
        is_there && has_labels
    }

    /// Whether so many routes meet so many calls that only a sample of them can be looked at; then takes it.
    fn is_crowded(&mut self, candidates: &mut [Vec<Candidate<'_>>]) -> bool {
        let mut meetings = 0usize;
        let mut policies = 0usize;
        for (target, list) in candidates.iter().enumerate().filter(|(_, list)| !list.is_empty()) {
            let callers = self.graph.edges_directed(NodeIndex::new(target), Direction::Incoming).count();
            meetings = meetings.saturating_add(callers.saturating_mul(list.len()));
            policies += list.len();
        }
        if meetings <= MEETINGS * (policies + self.graph.edge_count()) + 1_000_000 {
            return false;
        }
        for list in candidates.iter_mut().filter(|list| list.len() > SAMPLE) {
            list.sort_by_key(|candidate| std::cmp::Reverse(candidate.policy.tries().unwrap_or(u64::MAX)));
            let mut seen: HashSet<(Position, bool, Option<u64>, Option<Classes>)> = HashSet::new();
            list.retain(|candidate| {
                let classes = candidate.policy.retries_on.known().copied();
                let key =
                    (candidate.standing.position, candidate.policy.is_unbounded(), candidate.policy.tries(), classes);
                seen.len() < SAMPLE && seen.insert(key)
            });
        }
        self.notes.push("so many routes meet so many calls that only the most different ones were combined".into());
        true
    }

    /// One open edge for each callee and position: who comes through a gateway and who comes through a sidecar are not the
    /// same callers. What stands at the callee stands on all of its open edges.
    fn open_edges(&mut self, waiting: &[Candidate<'_>], placement: &mut Placement) {
        let (at_callee, before): (Vec<&Candidate>, Vec<&Candidate>) = waiting.iter().partition(|candidate| {
            matches!(candidate.standing.position, Position::ServerSidecar | Position::CalleeInbound)
        });
        for candidate in before.into_iter().chain(at_callee) {
            let standing = candidate.standing;
            let Some(callee) = standing.callee else { continue };
            let is_at_callee = standing.position >= Position::ServerSidecar;
            let slots = placement.open_of.get(&callee).filter(|_| is_at_callee).cloned().unwrap_or_else(|| {
                let next = placement.open.len() as u32;
                let slot = *placement.open_at.entry((callee, standing.position)).or_insert(next);
                if slot == next {
                    let mut edge = made_by(candidate.policy, standing);
                    edge.protocol = edge.protocol.or(self.spoken_by(callee));
                    placement.open.push((callee, edge));
                    placement.open_of.entry(callee).or_default().push(slot);
                }
                vec![slot]
            });
            for slot in slots {
                placement.placed.push(Placed::new(Slot::Open(slot), standing));
            }
        }
    }

    /// The built-in defaults of the mesh.
    fn place_defaults(
        &mut self,
        edges: &Edges,
        members: &[membership::Standing],
        covered: &HashSet<EdgeIndex>,
        placement: &mut Placement,
    ) {
        let Some(mesh) = self.scope.mesh() else { return };
        let default = |id: Option<PolicyId>| Some((id?, self.scope.policy(id?)?));
        let client = default(mesh.client_default);
        let inbound = default(mesh.inbound_default);
        if client.is_none() && inbound.is_none() {
            return;
        }
        let placed = |slot, position, (policy, fact): (PolicyId, &Policy), confidence: Confidence, site| Placed {
            slot,
            position,
            policy,
            confidence: confidence.min(fact.confidence),
            site: Some(site),
            is_sample: false,
            is_inferred: confidence < Confidence::High,
        };
        for index in self.graph.edge_indices() {
            let (Some((caller, callee)), Some(edge)) =
                (self.graph.edge_endpoints(index), self.graph.edge_weight(index))
            else {
                continue;
            };
            // A queue is no HTTP route.
            if edge.is_async {
                continue;
            }
            let is_open = |node: NodeIndex| self.id_of(node).is_none_or(|id| !self.has_opaque_ports(id));
            let inbound = inbound.filter(|_| is_open(callee));
            let client = client.filter(|_| !self.is_opaque((edges, index)));
            let (Some(caller), Some(callee)) = (members.get(caller.index()), members.get(callee.index())) else {
                continue;
            };
            let slot = Slot::Edge(index);
            if let Some(client) = client
                && !covered.contains(&index)
                && let Some(confidence) = caller.as_caller(callee.is_named)
                && let Some(other) = callee.as_callee().or(callee.is_named.then_some(Confidence::High))
            {
                let confidence = confidence.min(other);
                placement.placed.push(placed(slot, Position::ClientSidecar, client, confidence, edge.span));
            }
            if let Some(inbound) = inbound
                && edge.protocol != Some(Protocol::Grpc)
                && let Some(confidence) = callee.as_callee()
            {
                placement.placed.push(placed(slot, Position::ServerSidecar, inbound, confidence, edge.span));
            }
        }
        let Some(inbound) = inbound else { return };
        for (at, (callee, edge)) in placement.open.iter().enumerate() {
            if edge.protocol != Some(Protocol::Grpc)
                && self.id_of(*callee).is_none_or(|id| !self.has_opaque_ports(id))
                && let Some(confidence) = members.get(callee.index()).and_then(|callee| callee.as_callee())
            {
                let slot = Slot::Open(at as u32);
                placement.placed.push(placed(slot, Position::ServerSidecar, inbound, confidence, edge.span));
            }
        }
    }
}

impl Placed {
    fn new(slot: Slot, standing: &Standing) -> Placed {
        Placed {
            slot,
            position: standing.position,
            policy: standing.policy,
            confidence: standing.confidence,
            site: None,
            is_sample: false,
            is_inferred: standing.is_inferred,
        }
    }
}

/// What the route of a policy says that its requests are spoken in.
fn spoken(policy: &Policy) -> Option<Protocol> {
    policy.route.as_ref()?.protocol
}

/// The edge that a policy proves by itself.
pub(super) fn made_by(policy: &Policy, standing: &Standing) -> Edge {
    let is_route = policy.dialect.proxy().is_some();
    Edge {
        calls: Vec::new(),
        source: if is_route { CallSource::Route } else { CallSource::Code },
        span: policy.span,
        per_request: 1.0,
        protocol: spoken(policy),
        operation: None,
        one_of: None,
        is_async: !standing.position.is_request_path(),
        idempotent: None,
        propagates_deadline: false,
        confidence: standing.confidence,
        layers: Vec::new(),
        unclaimed: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
