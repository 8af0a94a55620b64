//! Who waits how long (contracts.md D-14, math.md section 9): the slowest answer of each call and service, callees first, and
//! when a caller gives up.

use std::collections::BTreeMap;

use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;

use super::fitting::{Pace, Waits, starts};
use super::order::{Order, Step};
use super::slowest::{Slowest, fold, least, repeats_slow};
use super::tries::policies;
use super::{Deadlines, Edge, EdgeTime, Layer, Net, NodeTime, System};
use crate::facts::{Facts, Limit, Measures, Nanos, Policy, PolicyId, Position, Protocol};

/// When a policy stops waiting for one try: its attempt limit; without one, its total. None: never, or it cannot be told.
pub fn patience(policy: &Policy) -> Option<Nanos> {
    match policy.attempt_limit() {
        Some(Limit::At(limit)) => Some(limit),
        _ if policy.total.measures == Measures::Delays => None,
        _ => policy.total.limit.limit().copied(),
    }
}

/// When somebody on the caller's side first stops waiting for a try, and whose limit that is: its attempt limit; without
/// one, its total. Of alternatives the most patient. None: never.
fn gives_up(facts: &Facts, edge: &Edge) -> Option<(Nanos, PolicyId)> {
    let patience = |id: &PolicyId| Some((patience(facts.policy(*id)?)?, *id));
    let of_layer = |layer: &Layer| {
        let nests = layer.alternatives.iter().map(|nest| nest.policies.iter().filter_map(patience).min());
        nests.reduce(|a, b| Some(a?.max(b?))).flatten()
    };
    edge.layers.iter().filter(|layer| layer.position <= Position::Gateway).filter_map(of_layer).min()
}

/// A caller that leaves before the service that it called has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inversion {
    /// When the caller leaves.
    pub gives_up: Nanos,
    /// How long the callee may go on.
    pub slowest: Nanos,
    /// When the last try that any call of the callee starts begins, if that is not before the caller leaves.
    pub orphan: Option<Nanos>,
}

/// Whether a call's caller leaves while its callee may go on, because something below tries again: after slow tries, or
/// by itself still when the caller is gone.
pub fn inversion(system: &System, edge: EdgeIndex) -> Option<Inversion> {
    let (_, callee) = system.net.graph.edge_endpoints(edge)?;
    let node = system.deadlines.nodes.get(callee.index())?;
    let time = system.deadlines.edges.get(edge.index())?;
    let is_async = system.net.graph.edge_weight(edge)?.is_async;
    let (gives_up, slowest) = (time.gives_up?, node.slowest?);
    if is_async || gives_up >= slowest || !(node.is_written || time.is_written) {
        return None;
    }
    let orphan = first_orphan(system, callee, gives_up);
    (node.retries_below || orphan.is_some()).then_some(Inversion { gives_up, slowest, orphan })
}

fn first_orphan(system: &System, service: NodeIndex, gives_up: Nanos) -> Option<Nanos> {
    let calls = system.net.graph.edges(service).map(|edge| edge.weight()).filter(|edge| !edge.is_async);
    calls
        .flat_map(|edge| policies(edge).map(move |id| (id, edge)))
        .filter_map(|(id, edge)| {
            let policy = system.facts.policy(id).filter(|policy| policy.may_retry() && edge.may_repeat(policy))?;
            let protocol = edge.protocol.unwrap_or(Protocol::Http);
            starts(policy, Pace::Slow(protocol), Waits::Nominal)?.last().copied()
        })
        .filter(|start| *start >= gives_up)
        .max()
}

/// Who waits how long, for every service and call.
pub fn deadlines_of(net: &Net, facts: &Facts, order: &Order) -> Deadlines {
    let mut nodes = vec![NodeTime::default(); net.graph.node_count()];
    let mut edges = vec![EdgeTime::default(); net.graph.edge_count()];
    for step in order.steps.iter().rev() {
        match step {
            Step::Service(node) => nodes[node.index()] = answer(net, facts, *node, &nodes, &mut edges),
            Step::Knot(knot) => {
                let Some(knot) = order.knots.get(*knot) else { continue };
                // Who waits for itself has no bound but its server's own.
                for node in &knot.nodes {
                    let own = timeout(net, *node);
                    nodes[node.index()] = NodeTime { slowest: own, retries_below: false, is_written: own.is_some() };
                }
                let mut retries_below = false;
                for node in &knot.nodes {
                    retries_below |= answer(net, facts, *node, &nodes, &mut edges).retries_below;
                }
                knot.nodes.iter().for_each(|node| nodes[node.index()].retries_below = retries_below);
            }
        }
    }
    let open = net.open.iter().map(|(callee, edge)| time_of(facts, edge, nodes.get(callee.index()))).collect();
    Deadlines { nodes, edges, open }
}

/// How long one call may take.
fn time_of(facts: &Facts, edge: &Edge, callee: Option<&NodeTime>) -> EdgeTime {
    let inner =
        callee.map_or_else(Slowest::default, |node| Slowest { time: node.slowest, is_written: node.is_written });
    let slowest = fold(facts, edge, inner);
    let gives_up = gives_up(facts, edge);
    EdgeTime {
        slowest: slowest.time,
        gives_up: gives_up.map(|(time, _)| time),
        gives_up_by: gives_up.map(|(_, policy)| policy),
        is_written: slowest.is_written,
    }
}

/// Whether any policy of a call may try again after a slow try.
fn goes_on(facts: &Facts, edge: &Edge) -> bool {
    let protocol = edge.protocol.unwrap_or(Protocol::Http);
    policies(edge)
        .filter_map(|id| facts.policy(id))
        .any(|policy| repeats_slow(policy, protocol) && edge.may_repeat(policy) || policy.hedging.is_some())
}

/// The limit after which a server ends a request.
fn timeout(net: &Net, node: NodeIndex) -> Option<Nanos> {
    net.graph.node_weight(node)?.service.timeout.as_ref()?.known().copied()
}

/// How long a service may take: its calls one after the other, or the longest of them where they run at once, but never
/// longer than its own server allows.
fn answer(net: &Net, facts: &Facts, node: NodeIndex, nodes: &[NodeTime], edges: &mut [EdgeTime]) -> NodeTime {
    let service = net.graph.node_weight(node).map(|node| &node.service);
    let is_parallel = service.and_then(|service| service.parallel.as_ref()?.known().copied()).unwrap_or_default();
    let mut groups = BTreeMap::new();
    let mut calls: Option<Slowest> = None;
    let mut retries_below = false;
    let add = |calls: &mut Option<Slowest>, call: Slowest| {
        *calls = Some(match *calls {
            None => call,
            Some(sum) if is_parallel => sum.or(call),
            Some(sum) => Slowest {
                time: sum.time.zip(call.time).map(|(a, b)| a + b),
                is_written: sum.is_written || call.is_written,
            },
        });
    };
    for edge in net.graph.edges(node) {
        let callee = nodes.get(edge.target().index());
        let time = time_of(facts, edge.weight(), callee);
        edges[edge.id().index()] = time;
        if edge.weight().is_async || edge.weight().per_request == 0.0 {
            continue;
        }
        retries_below |= goes_on(facts, edge.weight()) || callee.is_some_and(|callee| callee.retries_below);
        // A call that is made now and then is made now.
        let times = edge.weight().per_request.ceil().max(1.0);
        let once = Slowest { time: time.slowest, is_written: time.is_written };
        let call = Slowest { time: if is_parallel { once.time } else { once.time.map(|t| t.scale(times)) }, ..once };
        match &edge.weight().one_of {
            None => add(&mut calls, call),
            Some(group) => {
                groups.entry(group.clone()).and_modify(|most: &mut Slowest| *most = most.or(call)).or_insert(call);
            }
        }
    }
    groups.into_values().for_each(|call| add(&mut calls, call));
    let calls = calls.unwrap_or_default();
    let own = timeout(net, node);
    let slowest = least(own, calls.time);
    let by_own = own.is_some() && own == slowest;
    NodeTime { slowest, retries_below, is_written: slowest.is_some() && (by_own || calls.is_written) }
}

/// The share of a callee's slowest answer that nobody waits for (math.md section 9): 0.394 for 2 s of 3.3 s.
pub fn abandoned_share(waits: Nanos, slowest: Nanos) -> f64 {
    if slowest <= waits { 0.0 } else { 1.0 - waits.0 as f64 / slowest.0 as f64 }
}

#[cfg(test)]
#[path = "deadlines_tests.rs"]
mod tests;
