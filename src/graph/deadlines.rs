//! Who waits how long (contracts.md D-14, math.md section 9): the slowest answer of each policy, call and service, callees
//! first, and when a caller gives up.

use std::collections::BTreeMap;

use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

use super::order::{Order, Step};
use super::tries::Tries;
use super::{Deadlines, Edge, EdgeTime, Layer, Nest, Net, NodeTime};
use crate::facts::{Attempts, Check, Facts, Limit, Measures, Nanos, Policy, PolicyId, Position, Upstream};

/// A time that something takes at most, and whether a written number is among what it rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Slowest {
    /// None: no finite bound.
    time: Option<Nanos>,
    is_written: bool,
}

impl Slowest {
    /// The greater of two, for alternatives.
    fn or(self, other: Slowest) -> Slowest {
        match (self.time, other.time) {
            (None, _) => self,
            (_, None) => other,
            (Some(a), Some(b)) if b > a => other,
            _ => self,
        }
    }
}

/// What is added up: everything, or only the time in which a try runs (delays hold no slot of a pool).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sum {
    Everything,
    Tries,
    FirstTry,
}

/// The slowest answer of one policy, if nothing but its own limits ends a try. None: no finite bound.
pub fn slowest(policy: &Policy) -> Option<Nanos> {
    around(policy, None, Slowest::default(), Sum::Everything).time
}

/// The time to connect that comes on top of each try, where the attempt limit starts on an open connection and the time
/// is written: for this callee, else with the policy. A default one never counts (D-14).
fn connect_time(policy: &Policy, upstream: Option<&Upstream>) -> Nanos {
    let Some(own) = &policy.connect_timeout else { return Nanos::ZERO };
    let for_callee = upstream.map(|upstream| &upstream.connect_timeout);
    let mut written = for_callee.into_iter().chain([own]).filter(|connect| connect.is_written());
    written.find_map(|connect| connect.limit().copied()).unwrap_or_default()
}

/// The slowest answer of a policy around something that answers within `inner`. `upstream`: settings for its callee.
fn around(policy: &Policy, upstream: Option<&Upstream>, inner: Slowest, sum: Sum) -> Slowest {
    let limit = match policy.attempt_limit() {
        Some(Limit::At(limit)) => Some(limit),
        // An unknown limit can only shorten what is inside.
        _ => None,
    };
    let attempt = least(limit, inner.time);
    let connect = connect_time(policy, upstream);
    let attempt = attempt.and_then(|attempt| Some(attempt + connect + hedged(policy)?));

    let count = match policy.attempts.known() {
        _ if sum == Sum::FirstTry => Some(1),
        Some(Attempts::Times(n)) => Some((*n).max(1)),
        _ => None,
    };
    let delays = |n: u64| match sum {
        Sum::Everything => policy.delays(n - 1).map(|sum| sum.greatest),
        Sum::Tries | Sum::FirstTry => Some(Nanos::ZERO),
    };
    let counted = || Some(attempt?.times(count?) + delays(count?)?);
    let time = match (policy.total.limit.limit().copied(), policy.total.measures) {
        (None, _) => counted(),
        (Some(total), Measures::Wall) => {
            let cut = match policy.total.check {
                Check::Cuts => Some(total),
                // It only stops a further try, and the last one may begin just before.
                Check::BetweenAttempts => attempt.map(|attempt| total + attempt),
            };
            least(cut, counted())
        }
        (Some(total), Measures::Delays) => count.and_then(|n| {
            let waited = delays(n).map_or(total, |sum| sum.min(total));
            Some(attempt?.times(n) + waited)
        }),
    };
    let repeats = count != Some(1);
    let is_written = (limit.is_some() && policy.attempt_timeout.is_written())
        || (policy.total.limit.limit().is_some() && policy.total.limit.is_written())
        || (repeats && (policy.attempts.is_written() || policy.backoff.base.is_written()))
        || connect > Nanos::ZERO
        || (inner.time.is_some() && inner.is_written);
    Slowest { time, is_written }
}

/// The time until the last copy of a hedged try is sent. None if it is unknown. A copy that counts as a try has its time
/// among the tries.
fn hedged(policy: &Policy) -> Option<Nanos> {
    match &policy.hedging {
        Some(hedging) if !hedging.counts_as_try => Some(hedging.delay.known()?.times(*hedging.copies.known()?)),
        _ => Some(Nanos::ZERO),
    }
}

/// The slowest answer of a call whose callee answers within `inner`: layers folded from the inside out, of alternatives
/// the greatest.
fn fold(facts: &Facts, edge: &Edge, inner: Slowest, sum: Sum) -> Slowest {
    edge.layers.iter().rev().fold(inner, |inner, layer| {
        let of_nest = |nest: &Nest| {
            let upstream = nest.upstream.and_then(|at| facts.upstreams.get(at as usize));
            let policies = nest.policies.iter().rev().filter_map(|id| facts.policy(*id));
            policies.fold(inner, |inner, policy| {
                let sum = if edge.may_repeat(policy) { sum } else { Sum::FirstTry };
                around(policy, upstream, inner, sum)
            })
        };
        layer.alternatives.iter().map(of_nest).reduce(Slowest::or).unwrap_or(inner)
    })
}

/// How long a call holds a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// If its first try is slow and no other follows.
    pub once: Nanos,
    /// If all of its tries are, without the delays between them.
    pub all: Nanos,
}

/// How long a call holds a connection if its callee never answers. None if nothing ends it.
pub fn held(facts: &Facts, edge: &Edge) -> Option<Held> {
    Some(Held {
        once: fold(facts, edge, Slowest::default(), Sum::FirstTry).time?,
        all: fold(facts, edge, Slowest::default(), Sum::Tries).time?,
    })
}

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

/// Who waits how long, for every service and call.
pub fn deadlines_of(net: &Net, facts: &Facts, tries: &Tries, order: &Order) -> Deadlines {
    let mut nodes = vec![NodeTime::default(); net.graph.node_count()];
    let mut edges = vec![EdgeTime::default(); net.graph.edge_count()];
    for step in order.steps.iter().rev() {
        match step {
            Step::Service(node) => nodes[node.index()] = answer(net, facts, tries, *node, &nodes, &mut edges),
            Step::Knot(knot) => {
                let Some(knot) = order.knots.get(*knot) else { continue };
                // Who waits for itself has no bound but its server's own.
                for node in &knot.nodes {
                    let own = timeout(net, *node);
                    nodes[node.index()] = NodeTime { slowest: own, retries_below: false, is_written: own.is_some() };
                }
                let mut retries_below = false;
                for node in &knot.nodes {
                    retries_below |= answer(net, facts, tries, *node, &nodes, &mut edges).retries_below;
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
    let slowest = fold(facts, edge, inner, Sum::Everything);
    let gives_up = gives_up(facts, edge);
    EdgeTime {
        slowest: slowest.time,
        gives_up: gives_up.map(|(time, _)| time),
        gives_up_by: gives_up.map(|(_, policy)| policy),
        is_written: slowest.is_written,
    }
}

/// The limit after which a server ends a request.
fn timeout(net: &Net, node: NodeIndex) -> Option<Nanos> {
    net.graph.node_weight(node)?.service.timeout.as_ref()?.known().copied()
}

/// How long a service may take: its calls one after the other, or the longest of them where they run at once, but never
/// longer than its own server allows.
fn answer(
    net: &Net,
    facts: &Facts,
    tries: &Tries,
    node: NodeIndex,
    nodes: &[NodeTime],
    edges: &mut [EdgeTime],
) -> NodeTime {
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
        retries_below |= tries.may_retry(edge.weight()) || callee.is_some_and(|callee| callee.retries_below);
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

/// The lesser of two bounds, either of which may be missing.
fn least(a: Option<Nanos>, b: Option<Nanos>) -> Option<Nanos> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, None) | (None, one) => one,
    }
}

/// The share of a callee's slowest answer that nobody waits for (math.md section 9): 0.394 for 2 s of 3.3 s.
pub fn abandoned_share(waits: Nanos, slowest: Nanos) -> f64 {
    if slowest <= waits { 0.0 } else { 1.0 - waits.0 as f64 / slowest.0 as f64 }
}

#[cfg(test)]
#[path = "deadlines_tests.rs"]
mod tests;
