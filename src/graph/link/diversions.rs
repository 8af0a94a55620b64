//! Where proxies on the way send what is asked of a host (contracts.md D-7): a route may lead to another service than the
//! one that callers name, and then that one is called. Several destinations are alternatives.

use std::collections::{HashMap, HashSet};

use petgraph::graph::{EdgeIndex, NodeIndex};

use super::edges::{Edges, sent_on};
use super::identity::{Id, Known, Place};
use super::placement::made_by;
use super::policies::Standing;
use super::uses::Uses;
use super::{Linker, routes};
use crate::facts::{Call, CallSource, Callee, Caller, Dialect, Operation, Policy, Position};
use crate::graph::{Edge, Membership};

/// So many destinations of one call are told apart.
const MOST: usize = 16;
/// So many routes are compared with calls, past which calls stay with the host that they name.
const WORK: usize = 1 << 22;

/// Routes that lead elsewhere, by the host that callers name.
#[derive(Default)]
pub(super) struct Diversions<'f> {
    ways: HashMap<Id, Vec<Way<'f>>>,
    /// What is a proxy itself.
    proxies: HashSet<Id>,
    /// Hosts of which calls were sent on.
    asked: HashSet<Id>,
    work: usize,
}

/// One route.
#[derive(Clone, Copy)]
struct Way<'f> {
    policy: &'f Policy,
    to: Id,
}

impl<'f> Linker<'f> {
    /// Gathers the routes of proxies that are not one caller's own: what such a proxy calls is told by its routes.
    pub(super) fn gather_diversions(&mut self) {
        let scope = self.scope;
        let uses = Uses::gather(scope);
        let mut ways: HashMap<Id, Vec<Way>> = HashMap::new();
        for (_, policy) in scope.policies().filter(|(_, policy)| scope.is_in_force(policy)) {
            let Callee::Service { service, hosts } = &policy.callee else { continue };
            let is_between =
                matches!(policy.position, Position::ClientSidecar | Position::Gateway | Position::EgressGateway);
            let is_own = matches!(policy.caller, Caller::Service(_))
                || self.caller(&policy.caller, policy.span.file).is_some()
                || !uses.of(self, policy).is_empty();
            if hosts.is_empty() || !is_between || is_own {
                continue;
            }
            let place = Place { file: Some(policy.span.file), caller: None };
            let to = self.id(service, place, None);
            for host in hosts {
                let host = self.id(host, place, None);
                ways.entry(host).or_default().push(Way { policy, to });
            }
        }
        ways.retain(|host, ways| ways.iter().any(|way| way.to != *host));
        let mut proxies = HashSet::new();
        for service in scope.services().filter(|service| service.is_proxy) {
            let id = self.names.own(&super::scope::declared_host(service), None);
            proxies.insert(self.names.follow(id));
        }
        self.diversions = Diversions { ways, proxies, asked: HashSet::new(), work: 0 };
    }

    /// The services that a call of `host` may go to, the host itself first if it is one of them.
    pub(super) fn destinations(&mut self, caller: NodeIndex, host: Id, operation: Option<&Operation>) -> Vec<Id> {
        let Some(ways) = self.diversions.ways.get(&host).filter(|ways| self.diversions.work + ways.len() <= WORK)
        else {
            return vec![host];
        };
        let is_member = self.calls_through_mesh(caller);
        let mut taken: Vec<Way> = ways
            .iter()
            .filter(|way| !way.is_of_mesh() || (is_member && self.is_among(&way.policy.caller, Some(caller))))
            .copied()
            .collect();
        routes::narrow(&mut taken, |way| way.policy.route.as_ref(), operation);
        // Whether a call goes through a proxy that is nobody's is not known, nor is what an unknown route takes.
        let is_certain = |way: &Way| {
            let route = way.policy.route.as_ref();
            way.is_of_mesh() && route.is_none_or(|route| routes::surely_takes(route, operation))
        };
        let mut all = if taken.iter().any(is_certain) { Vec::new() } else { vec![host] };
        for way in &taken {
            if !all.contains(&way.to) && all.len() < MOST {
                all.push(way.to);
            }
        }
        all.sort_by_key(|to| *to != host);
        self.diversions.work += ways.len();
        if all != [host] {
            self.diversions.asked.insert(host);
        }
        all
    }

    /// The destinations of a call; those of a proxy's route are what it leads to already.
    pub(super) fn destinations_of(&mut self, call: &Call, caller: NodeIndex, host: Id) -> Vec<Id> {
        match call.source {
            CallSource::Route => vec![host],
            _ => self.destinations(caller, host, call.operation.as_ref()),
        }
    }

    /// The edges that a policy of a known caller proves, with the host that they ask for where that is another.
    pub(super) fn proven_by(
        &mut self,
        policy: &Policy,
        standing: &Standing,
        caller: NodeIndex,
        callee: NodeIndex,
    ) -> (Vec<(NodeIndex, Edge)>, Option<Id>) {
        let mut edge = made_by(policy, standing);
        edge.one_of = self.routes_of(policy, standing);
        // A proxy's route leads to its destination already.
        let Some(host) = self.id_of(callee).filter(|_| policy.dialect.proxy().is_none()) else {
            return (vec![(callee, edge)], None);
        };
        let all = self.destinations(caller, host, None);
        let asked = (all != [host]).then_some(host);
        if asked.is_some() {
            edge.one_of = Some(sent_on(host, None));
        }
        (all.into_iter().map(|to| (self.node(to, policy.span), edge.clone())).collect(), asked)
    }

    /// Whether the routes of a mesh hold for what a service calls, where one of them names the callee (contracts.md D-9).
    fn calls_through_mesh(&self, caller: NodeIndex) -> bool {
        let (Some(id), Some(node)) = (self.id_of(caller), self.graph.node_weight(caller)) else { return false };
        let workloads = self.workloads.of(id);
        match self.spaces.says(workloads, node.namespace.as_ref()) {
            Membership::Member => true,
            Membership::Outside => false,
            _ => workloads.is_empty() && !node.external && !self.diversions.proxies.contains(&id),
        }
    }

    /// Whether what goes over an edge was asked of a host that a policy is a route for. Hosts that nobody knows otherwise
    /// are further names of the callee.
    pub(super) fn is_asked(&self, policy: &Policy, standing: &Standing, (edges, edge): (&Edges, EdgeIndex)) -> bool {
        let own = self.graph.edge_endpoints(edge).and_then(|(_, callee)| self.id_of(callee));
        let is_direct = |asked: Id| Some(asked) == own && !is_of_mesh(policy, standing.position);
        standing.hosts.is_empty()
            || edges.asked(edge, own).any(|asked| standing.hosts.contains(&asked) || is_direct(asked))
            || standing.hosts.iter().all(|host| {
                self.names.known(*host) == Known::Referred
                    && self.node_of(*host).is_none()
                    && !self.diversions.asked.contains(host)
            })
    }

    /// Whether no proxy can tell requests from each other on an edge: by the ports of the hosts that are asked.
    pub(super) fn is_opaque(&self, (edges, edge): (&Edges, EdgeIndex)) -> bool {
        let own = self.graph.edge_endpoints(edge).and_then(|(_, callee)| self.id_of(callee));
        edges.asked(edge, own).all(|host| self.has_opaque_ports(host))
    }

    /// Whether a route for requests can take none: all hosts that it is for are declared to speak something else.
    pub(super) fn takes_nothing(&self, policy: &Policy, standing: &Standing) -> bool {
        let callee = standing.callee.and_then(|callee| self.id_of(callee));
        let mut hosts = standing.hosts.iter().copied().chain(callee.filter(|_| standing.hosts.is_empty())).peekable();
        is_of_mesh(policy, standing.position) && hosts.peek().is_some() && hosts.all(|host| self.has_opaque_ports(host))
    }

    /// Whether nothing can be told apart on any port of a service.
    pub(super) fn has_opaque_ports(&self, id: Id) -> bool {
        self.names.get(id).is_some_and(|identity| identity.ports.are_opaque())
    }
}

/// Whether a policy that stands there is in the proxies of a mesh's members.
pub(super) fn is_of_mesh(policy: &Policy, position: Position) -> bool {
    policy.dialect == Dialect::Istio && position == Position::ClientSidecar
}

impl Way<'_> {
    fn is_of_mesh(&self) -> bool {
        is_of_mesh(self.policy, self.policy.position)
    }
}

#[cfg(test)]
mod tests;
