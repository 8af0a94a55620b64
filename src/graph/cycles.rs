//! Load in a circle of calls (contracts.md D-15, math.md section 5).
//!
//! One walk round a circle turns what arrives into `gain` times as much. With a hop limit the rounds are added up one by
//! one; without, they add up to `(I - M)^-1` while the gain is below 1, and to no number at all from 1 on.

use petgraph::Direction::Incoming;
use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

use super::amount::Amount;
use super::amplification::{Arrivals, Reach, Walk, fan_out};
use super::order::Knot;
use super::product::Greatest;
use super::{Cycle, NodeLoad};

/// Edges looked at in one circle, over all rounds. A circle that is not settled by then is taken to go on.
const WORK: usize = 1 << 20;
/// Rounds that settle every gain that is not next to 1.
const ROUNDS: usize = 2048;
/// Gains closer to 1 than this are 1: what is left of rounding.
const NEXT_TO_ONE: f64 = 1e-9;

/// How a circle ends.
#[derive(Clone, Copy, Debug)]
struct Ends {
    hops: Option<usize>,
    rounds: usize,
}

/// The sums over all rounds.
#[derive(Debug)]
struct Sum {
    /// Everything.
    all: Vec<Amount>,
    /// Everything that may still be sent one hop further.
    sent_on: Vec<Amount>,
}

/// Settles one circle: what arrives at each of its services, for those that it calls as well as for the report.
pub(super) fn settle(walk: &mut Walk, knot: &Knot, nodes: &mut [NodeLoad]) -> Cycle {
    let kinds = walk.alike.count();
    let blank = Arrivals::none(walk.alike);
    let mut entering: Vec<Arrivals> = Vec::with_capacity(knot.nodes.len());
    for node in &knot.nodes {
        let mut arrivals = blank.clone();
        walk.gather(*node, |walk, edge| !walk.order.is_internal(walk.net, edge), &mut arrivals);
        walk.enter(*node, &mut arrivals);
        entering.push(arrivals);
    }

    let rounds = (WORK / (knot.edges.len().max(1) * kinds)).clamp(8, ROUNDS);
    let limit = hop_limit(walk, knot);
    // More hops than can be added up are as good as none.
    let hops = limit.and_then(|hops| usize::try_from(hops).ok()).filter(|hops| *hops <= rounds);
    let ends = Ends { hops, rounds };

    let loads: Vec<Amount> = entering.iter().flat_map(|a| a.by_kind.iter().map(|reach| reach.load)).collect();
    let bases: Vec<Amount> = entering.iter().map(|arrivals| arrivals.base).collect();
    let ways: Vec<Reach> = entering.iter().flat_map(|a| a.by_kind.iter().copied()).collect();

    let plain = plain_gain(walk, knot);
    let per_hop = match plain {
        Some(round) => round.powf(1.0 / knot.round.len() as f64),
        None => gain(loads.len(), rounds, |loads| go_on(walk, knot, loads)).max(least_gain(walk, knot)),
    };
    let base_per_hop = match plain {
        Some(_) => {
            let once: f64 = knot
                .round
                .iter()
                .filter_map(|edge| walk.net.graph.edge_weight(*edge))
                .map(|e| fan_out(e).as_f64())
                .product();
            once.powf(1.0 / knot.round.len() as f64)
        }
        None => gain(bases.len(), rounds, |bases| go_on_once(walk, knot, bases)).max(least_gain(walk, knot)),
    };
    let load = sum(loads, ends, per_hop, |loads| go_on(walk, knot, loads));
    let base = sum(bases, ends, base_per_hop, |bases| go_on_once(walk, knot, bases));
    let (worst, worst_sent_on) = worst(walk, knot, ways, ends, per_hop < 1.0);

    // One request that enters at the first service of the round, and nothing else.
    let first = knot.round.first().and_then(|edge| Some(walk.net.graph.edge_endpoints(*edge)?.0));
    let at_first = |at: usize| knot.nodes.get(at / kinds).copied() == first;
    let alone: Vec<Amount> =
        (0..knot.nodes.len() * kinds).map(|at| if at_first(at) { Amount::ONE } else { Amount::ZERO }).collect();
    let one = sum(alone, ends, per_hop, |loads| go_on(walk, knot, loads));
    let total = one.all.iter().enumerate().filter(|(at, _)| at_first(*at)).fold(Amount::ZERO, |m, (_, a)| m.max(*a));

    // The last hop into a service of the circle starts from what may still be sent on.
    put(walk, knot, &load.sent_on, &base.sent_on, &worst_sent_on);
    let mut arrivals = blank;
    for (node, entering) in knot.nodes.iter().zip(&entering) {
        walk.gather(*node, |walk, edge| walk.order.is_internal(walk.net, edge), &mut arrivals);
        arrivals.join(entering);
        nodes[node.index()] = walk.told(*node, &arrivals);
    }
    put(walk, knot, &load.all, &base.all, &worst);

    let gain = per_hop.powi(i32::try_from(knot.round.len()).unwrap_or(i32::MAX));
    Cycle {
        nodes: knot.round.iter().filter_map(|edge| Some(walk.net.graph.edge_endpoints(*edge)?.0)).collect(),
        edges: knot.round.clone(),
        gain: plain.unwrap_or(gain),
        max_hops: limit,
        total,
    }
}

/// The least hop limit that is declared in a circle.
fn hop_limit(walk: &Walk, knot: &Knot) -> Option<u64> {
    knot.nodes
        .iter()
        .filter_map(|node| walk.net.graph.node_weight(*node)?.service.max_hops.as_ref()?.known().copied())
        .min()
}

/// The gain of one way round a plain circle, in which every service is called once: a product, without the rounding of an
/// iteration.
fn plain_gain(walk: &mut Walk, knot: &Knot) -> Option<f64> {
    if knot.edges.len() != knot.round.len() || knot.edges.len() != knot.nodes.len() {
        return None;
    }
    let kinds = walk.alike.count();
    let round: Vec<_> = knot.round.iter().filter_map(|edge| walk.net.graph.edge_endpoints(*edge)).collect();
    let mut arrivals = Arrivals::none(walk.alike);
    let mut at = vec![Amount::ONE; kinds];
    let (mut gain, mut before) = (1.0, 1.0);
    // What fails on the first way round may come out as another kind, so that only later ones repeat themselves.
    for _ in 0..kinds {
        for (from, to) in &round {
            let slots = walk.reach.iter_mut().skip(from.index() * kinds).take(kinds);
            slots.zip(&at).for_each(|(slot, load)| *slot = Reach { load: *load, ..Reach::NONE });
            walk.gather(*to, |walk, edge| walk.order.is_internal(walk.net, edge), &mut arrivals);
            at = arrivals.by_kind.iter().map(|reach| reach.load).collect();
        }
        let most = at.iter().fold(Amount::ZERO, |most, load| most.max(*load)).as_f64();
        gain = if before > 0.0 && most.is_finite() { most / before } else { most };
        before = most;
        if !(most.is_finite() && most > 0.0) {
            break;
        }
    }
    Some(gain)
}

/// A gain that is certain without iterating: where every call is made at least once, nothing fades.
fn least_gain(walk: &Walk, knot: &Knot) -> f64 {
    let often = |edge| walk.net.graph.edge_weight(edge).is_some_and(|edge| fan_out(edge) >= Amount::ONE);
    if knot.edges.iter().all(|edge| often(*edge)) { 1.0 } else { 0.0 }
}

/// Puts figures in place as what arrives at the circle's services.
fn put(walk: &mut Walk, knot: &Knot, loads: &[Amount], bases: &[Amount], ways: &[Reach]) {
    let kinds = walk.alike.count();
    for (at, node) in knot.nodes.iter().enumerate() {
        walk.base[node.index()] = bases.get(at).copied().unwrap_or(Amount::ZERO);
        for kind in 0..kinds {
            let slot = &mut walk.reach[node.index() * kinds + kind];
            *slot = ways.get(at * kinds + kind).copied().unwrap_or(Reach::NONE);
            slot.load = loads.get(at * kinds + kind).copied().unwrap_or(Amount::ZERO);
        }
    }
}

/// One hop over every call of the circle.
fn hop(walk: &mut Walk, knot: &Knot) -> Vec<Arrivals> {
    let blank = Arrivals::none(walk.alike);
    knot.nodes
        .iter()
        .map(|node| {
            let mut arrivals = blank.clone();
            walk.gather(*node, |walk, edge| walk.order.is_internal(walk.net, edge), &mut arrivals);
            arrivals
        })
        .collect()
}

/// What loads become one hop on, with retries.
fn go_on(walk: &mut Walk, knot: &Knot, loads: &[Amount]) -> Vec<Amount> {
    put(walk, knot, loads, &[], &[]);
    hop(walk, knot).iter().flat_map(|arrivals| arrivals.by_kind.iter().map(|reach| reach.load)).collect()
}

/// What loads become one hop on, without retries.
fn go_on_once(walk: &mut Walk, knot: &Knot, bases: &[Amount]) -> Vec<Amount> {
    put(walk, knot, &[], bases, &[]);
    // Only the plain sums are wanted, so the edges are not fed with failures.
    let mut next = vec![Amount::ZERO; knot.nodes.len()];
    for (slot, node) in next.iter_mut().zip(&knot.nodes) {
        *slot = base_over(walk, *node);
    }
    next
}

/// The base that arrives at a service over the calls of its circle. Choices count once for each, like in
/// [`Walk::gather`].
fn base_over(walk: &Walk, node: NodeIndex) -> Amount {
    let mut groups = std::collections::BTreeMap::new();
    let mut sum = Amount::ZERO;
    for edge in walk.net.graph.edges_directed(node, Incoming) {
        if !walk.order.is_internal(walk.net, edge.id()) {
            continue;
        }
        let base = fan_out(edge.weight()) * walk.base[edge.source().index()];
        match &edge.weight().one_of {
            None => sum = sum + base,
            Some(group) => {
                let most = groups.entry((edge.source(), group.clone())).or_insert(Amount::ZERO);
                *most = most.max(base);
            }
        }
    }
    groups.into_values().fold(sum, |sum, base| sum + base)
}

/// The factor of one hop in the long run (the spectral radius): the growth of `M + I`, which does not swing from one hop
/// to the next as `M` does, less 1.
fn gain(size: usize, rounds: usize, mut step: impl FnMut(&[Amount]) -> Vec<Amount>) -> f64 {
    let mut at: Vec<f64> = vec![1.0; size];
    let mut growth = 1.0;
    for _ in 0..rounds.min(512) {
        let amounts: Vec<Amount> = at.iter().map(|x| Amount::Real(*x)).collect();
        let next: Vec<f64> = step(&amounts).iter().zip(&at).map(|(next, now)| next.as_f64() + now).collect();
        let norm = next.iter().copied().fold(0.0, f64::max);
        if !norm.is_finite() {
            return f64::INFINITY;
        }
        let settled = (norm - growth).abs() <= 1e-14 * norm;
        growth = norm;
        if norm <= 0.0 || settled {
            break;
        }
        at = next.into_iter().map(|x| x / norm).collect();
    }
    let gain = (growth - 1.0).max(0.0);
    if (gain - 1.0).abs() < NEXT_TO_ONE { 1.0 } else { gain }
}

/// The sum of what arrives over all rounds.
fn sum(entry: Vec<Amount>, ends: Ends, per_hop: f64, mut step: impl FnMut(&[Amount]) -> Vec<Amount>) -> Sum {
    let add = |a: &[Amount], b: &[Amount]| a.iter().zip(b).map(|(a, b)| *a + *b).collect::<Vec<_>>();
    let (mut now, mut all) = (entry.clone(), entry);
    if let Some(hops) = ends.hops {
        let mut sent_on = vec![Amount::ZERO; all.len()];
        for _ in 0..hops {
            now = step(&now);
            sent_on = all.clone();
            all = add(&all, &now);
        }
        return Sum { all, sent_on };
    }
    if per_hop >= 1.0 {
        // A circle that is entered anywhere is entered everywhere.
        if now.iter().any(|amount| *amount != Amount::ZERO) {
            all = vec![Amount::Unbounded; all.len()];
        }
        return Sum { sent_on: all.clone(), all };
    }
    for _ in 0..ends.rounds {
        let next = step(&now);
        let sum = add(&all, &next);
        let settled = sum.iter().zip(&all).all(|(a, b)| a.as_f64() - b.as_f64() <= 1e-16 * a.as_f64());
        (all, now) = (sum, next);
        if settled {
            return Sum { sent_on: all.clone(), all };
        }
    }
    // What is left is close to a geometric series.
    let rest = Amount::from_f64(per_hop / (1.0 - per_hop));
    let tail: Vec<Amount> = now.iter().map(|now| *now * rest).collect();
    let all = add(&all, &tail);
    Sum { sent_on: all.clone(), all }
}

/// The worst ways over all rounds: all of them, and those that may still be sent one hop further.
///
/// A circle with a gain below 1 and no hop limit is followed once round: beyond, a way is worse and worse but less and less
/// often taken, and the load says what comes of it.
fn worst(walk: &mut Walk, knot: &Knot, ways: Vec<Reach>, ends: Ends, fades: bool) -> (Vec<Reach>, Vec<Reach>) {
    if ends.hops.is_none() && !fades && !multiplies(walk, knot) {
        let worst = spread(walk, knot, ways);
        return (worst.clone(), worst);
    }
    let mut worst = ways;
    let mut before = vec![Reach::NONE; worst.len()];
    // A way that has still more tries after every service and kind has been passed has gone round. One that no budget holds
    // may begin as one that they hold.
    let round = worst.len() + 1;
    let limit = ends.hops.unwrap_or(if fades { knot.nodes.len() } else { 2 * round }).min(ends.rounds);
    let mut now = worst.clone();
    for hops in 1..=limit {
        put(walk, knot, &[], &[], &now);
        let next: Vec<Reach> = hop(walk, knot).into_iter().flat_map(|arrivals| arrivals.by_kind).collect();
        before.clone_from(&worst);
        let (mut is_worse, mut has_more_tries) = (false, false);
        for (slot, next) in worst.iter_mut().zip(&next) {
            has_more_tries |= next.most.tries > slot.most.tries;
            is_worse |= slot.worsen(next);
        }
        now = next;
        if !is_worse {
            return (worst.clone(), worst);
        }
        if has_more_tries && hops >= round && ends.hops.is_none() {
            break;
        }
    }
    if ends.hops.is_none() && !fades {
        for way in &mut worst {
            way.most = Greatest::UNBOUNDED;
        }
        before.clone_from(&worst);
    }
    (worst, before)
}

/// Whether any call of the circle may multiply what goes round.
fn multiplies(walk: &mut Walk, knot: &Knot) -> bool {
    put(walk, knot, &[], &[], &vec![Reach::ROOT; knot.nodes.len() * walk.alike.count()]);
    hop(walk, knot).iter().any(|arrivals| arrivals.by_kind.iter().any(|reach| reach.most.tries > Amount::ONE))
}

/// The worst ways in a circle that multiplies nothing: each is passed on as it is, the worst first, so that every service
/// is settled once for each kind and measure.
fn spread(walk: &mut Walk, knot: &Knot, ways: Vec<Reach>) -> Vec<Reach> {
    let kinds = walk.alike.count();
    put(walk, knot, &[], &[], &ways);
    let mut arrivals = Arrivals::none(walk.alike);
    let net = walk.net;
    for measure in 0..Greatest::ONE.measures().len() {
        let of = |reach: &Reach| reach.most.measures().into_iter().nth(measure).unwrap_or_default();
        let most = |node: &NodeIndex| {
            let slots = walk.reach.iter().skip(node.index() * kinds).take(kinds);
            slots.map(of).fold(0.0, f64::max)
        };
        let mut open: Vec<(f64, NodeIndex)> = knot.nodes.iter().map(|node| (most(node), *node)).collect();
        open.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        for (_, start) in open {
            let mut stack = vec![start];
            while let Some(node) = stack.pop() {
                for edge in net.graph.edges(node).filter(|edge| walk.order.is_internal(net, edge.id())) {
                    arrivals.clear();
                    walk.arrive(edge, &mut arrivals);
                    let slots = walk.reach.iter_mut().skip(edge.target().index() * kinds).take(kinds);
                    let mut is_worse = false;
                    for (slot, new) in slots.zip(&arrivals.by_kind) {
                        is_worse |= of(new) > of(slot);
                        slot.worsen(new);
                    }
                    if is_worse {
                        stack.push(edge.target());
                    }
                }
            }
        }
    }
    let slots = |node: &NodeIndex| walk.reach.iter().skip(node.index() * kinds).take(kinds).copied();
    knot.nodes.iter().flat_map(slots).collect()
}

#[cfg(test)]
#[path = "cycles_tests.rs"]
mod tests;
