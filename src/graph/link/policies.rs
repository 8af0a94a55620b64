//! Who calls whom through each policy (contracts.md D-3, D-4).

use std::collections::HashMap;

use petgraph::graph::NodeIndex;

use super::edges::{Edges, of_evidence};
use super::identity::{Id, Place};
use super::uses::Uses;
use super::{Linker, NOWHERE};
use crate::facts::{CallId, Callee, Caller, Confidence, Dialect, Evidence, Policy, PolicyId, Position};
use crate::graph::Resolved;
use crate::source::FileId;

/// Where one policy stands.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    pub policy: PolicyId,
    pub callers: Callers,
    /// Where the requests go.
    pub callee: Option<NodeIndex>,
    /// By what other names callers reach it.
    pub hosts: Vec<Id>,
    /// A sidecar whose service is unknown is a gateway as far as anybody can tell (D-3).
    pub position: Position,
    /// The least of the policy and of how its caller and callee are known.
    pub confidence: Confidence,
    /// Whether caller or callee is inferred.
    pub is_inferred: bool,
    /// Index of the use of its routes that says who calls, if one does.
    pub used: Option<usize>,
}

impl Standing {
    /// Whether it meets its callee's edges without a known caller: what stands between services does, code does not.
    pub fn meets_any(&self) -> bool {
        match self.callers {
            Callers::Members => true,
            Callers::Unknown => matches!(
                self.position,
                Position::ClientSidecar
                    | Position::Gateway
                    | Position::EgressGateway
                    | Position::ServerSidecar
                    | Position::CalleeInbound
            ),
            Callers::Call(_) | Callers::Service(_) | Callers::Beside => false,
        }
    }

    /// Whether it is one caller's, and nobody says whose.
    pub fn is_nobodys(&self) -> bool {
        matches!(self.callers, Callers::Unknown | Callers::Beside) && !self.meets_any()
    }
}

/// Who calls through a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Callers {
    /// Whoever makes this call.
    Call(CallId),
    /// This service.
    Service(NodeIndex),
    /// Members of the mesh.
    Members,
    /// Nobody knows.
    Unknown,
    /// Nobody knows, but it is one service alone.
    Beside,
}

/// All policies of the environment, in order, and for every policy of the facts where it ended up.
#[derive(Debug, Default)]
pub(super) struct Standings {
    pub list: Vec<Standing>,
    pub resolved: Vec<Resolved>,
}

/// What a policy says by itself.
#[derive(Clone, Debug)]
struct Own {
    call: Option<CallId>,
    callers: Callers,
    caller: Option<Id>,
    callee: Option<Id>,
    inferred: bool,
    hosts: Vec<Id>,
    /// Where what says who calls puts it.
    position: Position,
    used: Option<usize>,
    confidence: Confidence,
}

impl Own {
    /// The same, as far as it is about one of its calls.
    fn of(&self, call: CallId, edges: &Edges) -> Own {
        let inferred = self.inferred || edges.is_inferred(call);
        let confidence = if inferred { self.confidence.min(Confidence::Medium) } else { self.confidence };
        Own { call: Some(call), inferred, confidence, ..self.clone() }
    }
}

impl<'f> Linker<'f> {
    /// Resolves callers and callees of all policies; callees become nodes.
    pub fn link_policies(&mut self, edges: &Edges) -> Standings {
        let scope = self.scope;
        let mut own: HashMap<PolicyId, Own> = HashMap::new();
        // Whose routes several use has a view of each, the first of them among `own`.
        let mut further: HashMap<PolicyId, Vec<Own>> = HashMap::new();
        let uses = Uses::gather(scope);
        for (id, policy) in scope.policies() {
            let mut views = self.views(&uses, policy, edges).into_iter();
            own.extend(views.next().map(|view| (id, view)));
            if views.len() > 0 {
                further.insert(id, views.collect());
            }
        }
        // Names are compared with known services, so all that are written come first.
        self.likenesses = None;
        for (id, policy) in scope.policies() {
            let Callee::Named(names) = &policy.callee else { continue };
            let Some(own) = own.get_mut(&id) else { continue };
            if let Some((callee, evidence)) = self.named(names, own.caller) {
                own.callee = Some(callee);
                own.inferred = evidence != Evidence::Written;
                own.confidence = own.confidence.min(of_evidence(evidence));
            }
        }
        // What is not in force brings no service into the graph.
        for (id, policy) in scope.policies().filter(|(_, policy)| scope.is_in_force(policy)) {
            if let Some(callee) = own.get(&id).and_then(|own| own.callee) {
                self.node(callee, policy.span);
            }
        }

        let mut standings = Standings { list: Vec::new(), resolved: vec![NOWHERE; scope.facts.policies.len()] };
        for (id, policy) in scope.policies() {
            let standing = self.standing(id, policy, &own, edges);
            if let Some(slot) = standings.resolved.get_mut(id.0 as usize) {
                let caller = match standing.callers {
                    Callers::Service(node) => Some(node),
                    Callers::Call(call) => edges.of_call(call).next().and_then(|edge| {
                        let (caller, _) = self.graph.edge_endpoints(edge)?;
                        Some(caller)
                    }),
                    Callers::Members | Callers::Unknown | Callers::Beside => None,
                };
                let inferred = own.get(&id).is_some_and(|own| own.inferred);
                let takes_nothing = self.takes_nothing(policy, &standing);
                let position = Some(standing.position);
                *slot = Resolved { caller, callee: standing.callee, inferred, position, takes_nothing };
            }
            standings.list.push(standing);
            for view in further.remove(&id).into_iter().flatten() {
                let view = HashMap::from([(id, view)]);
                standings.list.push(self.standing(id, policy, &view, edges));
            }
        }
        self.tell_enclosing(&mut standings);
        standings
    }

    /// What a policy says, once for each kind of callers that it has.
    fn views(&mut self, uses: &Uses<'f>, policy: &Policy, edges: &Edges) -> Vec<Own> {
        let mut views = Vec::new();
        for (index, one) in uses.of(self, policy) {
            let mut own = self.stated(policy, (&one.caller, one.span.file));
            let place = Place { file: Some(one.span.file), caller: own.caller };
            let names = one.whole.iter().flatten().map(|host| self.id(host, place, own.caller));
            own.hosts.extend(names);
            views.push(Own { position: one.position, used: Some(index), ..own });
        }
        if views.is_empty() {
            let own = self.stated(policy, (&policy.caller, policy.span.file));
            let calls = policy.calls.iter().filter(|call| edges.of_call(**call).next().is_some());
            views.extend(calls.map(|call| own.of(*call, edges)));
            if views.is_empty() {
                views.push(own);
            }
        }
        views
    }

    /// What a policy itself says, names that are merely alike left out. `who` calls, as the file beside it says.
    fn stated(&mut self, policy: &Policy, (who, said_in): (&Caller, FileId)) -> Own {
        let caller = self.caller(who, said_in);
        let place = Place { file: Some(policy.span.file), caller };
        let mut confidence = policy.confidence;
        if let Caller::Service(service) = who {
            confidence = confidence.min(of_evidence(service.evidence));
        }
        let mut inferred = false;
        let (callee, hosts) = match &policy.callee {
            Callee::Service { service, hosts } => {
                confidence = confidence.min(of_evidence(service.evidence));
                inferred = service.evidence != Evidence::Written;
                let callee = self.id(service, place, caller);
                (Some(callee), hosts.iter().map(|host| self.id(host, place, caller)).collect())
            }
            Callee::Named(_) | Callee::Unknown(_) => (None, Vec::new()),
        };
        let callers = match (who, caller) {
            (Caller::Members { .. }, _) => Callers::Members,
            // A proxy beside a service that leads to that service stands in front of it: its callers are others.
            (_, Some(caller)) if Some(caller) == callee => Callers::Unknown,
            (_, Some(caller)) if self.scope.is_in_force(policy) => Callers::Service(self.node(caller, policy.span)),
            (_, Some(caller)) => self.node_of(caller).map_or(Callers::Unknown, Callers::Service),
            (Caller::Beside, None) => Callers::Beside,
            (_, None) => Callers::Unknown,
        };
        let position = policy.position;
        Own { call: None, callers, caller, callee, inferred, hosts, position, used: None, confidence }
    }

    /// Where a policy stands. What it does not say itself, the policies that enclose it say for it.
    fn standing(&self, id: PolicyId, policy: &Policy, own: &HashMap<PolicyId, Own>, edges: &Edges) -> Standing {
        let mut callers = Callers::Unknown;
        let mut confidence = policy.confidence;
        let mut is_inferred = matches!(&policy.caller, Caller::Service(it) if it.evidence != Evidence::Written);
        let (mut callee, mut hosts) = (None, Vec::new());
        let mut call = None;
        for (enclosing, _) in self.scope.enclosing(id) {
            let Some(own) = own.get(&enclosing) else { break };
            if callers == Callers::Unknown {
                callers = own.callers;
            }
            if own.call.is_some() || own.callee.is_some() {
                call = own.call;
                callee = own.callee.and_then(|callee| self.node_of(callee));
                hosts.clone_from(&own.hosts);
                confidence = confidence.min(own.confidence);
                is_inferred |= own.inferred;
                break;
            }
        }
        if let Some(call) = call {
            callers = Callers::Call(call);
            let edge = edges.of_call(call).next();
            callee = edge.and_then(|edge| self.graph.edge_endpoints(edge)).map(|(_, callee)| callee).or(callee);
        }
        let (position, used) = own.get(&id).map_or((policy.position, None), |own| (own.position, own.used));
        let position = match (position, callers) {
            // A route of the mesh with unknown bindings is still one of its proxies': it stands in for the default there.
            (Position::ClientSidecar, Callers::Unknown) if policy.dialect != Dialect::Istio => Position::Gateway,
            (position, _) => position,
        };
        Standing { policy: id, callers, callee, hosts, position, confidence, is_inferred, used }
    }

    /// A policy that says nothing and encloses others that all call one service calls that service: for the list of
    /// policies; on edges it stands by enclosing them.
    fn tell_enclosing(&self, standings: &mut Standings) {
        let mut told: HashMap<PolicyId, Option<Resolved>> = HashMap::new();
        for (id, _) in self.scope.policies().filter(|(_, policy)| policy.inside.is_some()) {
            let Some(inner) = standings.resolved.get(id.0 as usize).copied().filter(|inner| inner.callee.is_some())
            else {
                continue;
            };
            for (outer, _) in self.scope.enclosing(id).skip(1) {
                let said = told.entry(outer).or_insert(Some(inner));
                if said.is_some_and(|said| (said.caller, said.callee) != (inner.caller, inner.callee)) {
                    *said = None;
                }
            }
        }
        for (outer, said) in told {
            if let Some(said) = said
                && let Some(slot) = standings.resolved.get_mut(outer.0 as usize)
                && slot.callee.is_none()
            {
                *slot = Resolved { caller: slot.caller.or(said.caller), position: slot.position, ..said };
            }
        }
    }
}

#[cfg(test)]
mod tests;
