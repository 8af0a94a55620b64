//! Load and worst path of every service (contracts.md D-5, math.md section 2), by one walk from callers to callees.
//!
//! Tries multiply along a path but add up where paths meet, so a load is a sum of products; it is carried forward, never
//! counted by enumerating paths. What a service answers depends on what failed below it, so each service carries one
//! figure for each kind of failure ([`super::alike`]) that may reach its handler: the requests that it gets for one
//! request into every root, if that is what its own calls fail with.

use std::collections::BTreeMap;
use std::sync::Arc;

use petgraph::Direction::Incoming;
use petgraph::graph::{EdgeIndex, EdgeReference, NodeIndex};
use petgraph::visit::EdgeRef;
use rayon::prelude::*;

use super::alike::Alike;
use super::amount::Amount;
use super::budgets::Traffic;
use super::handover::{self, answers, translate};
use super::load::Rate;
use super::order::{Order, Step};
use super::product::Greatest;
use super::tries::{Hop, Scratch, Tries, View};
use super::{Amplification, Edge, EdgeLoad, Factor, Net, NodeLoad, System, choices, cycles};
use crate::facts::{Class, PolicyId, Protocol};

/// Policies with unknown tries that are kept for a service.
const NAMED: usize = 8;

/// What arrives, for one kind of failure.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reach {
    /// Requests.
    pub(super) load: Amount,
    /// The greatest products of tries on the way.
    pub(super) most: Greatest,
    /// Whether a policy that time ends is on the way with most tries.
    pub(super) about: bool,
}

impl Reach {
    /// Nothing arrives.
    pub(super) const NONE: Reach = Reach { load: Amount::ZERO, most: Greatest::NONE, about: false };
    /// A request enters here.
    pub(super) const ROOT: Reach = Reach { load: Amount::ZERO, most: Greatest::ONE, about: false };

    /// Takes over the other's ways where they are worse. Returns whether any is.
    pub(super) fn worsen(&mut self, other: &Reach) -> bool {
        if other.most.tries > self.most.tries {
            self.about = other.about;
        }
        self.most.take(&other.most)
    }

    /// The greater of both loads, the worse of both ways.
    fn at_worst(&mut self, other: &Reach) {
        self.load = self.load.max(other.load);
        self.worsen(other);
    }

    /// The sum of both loads, the worse of both ways.
    pub(super) fn join(&mut self, other: &Reach) {
        self.load = self.load + other.load;
        self.worsen(other);
    }
}

/// What arrives at one service over some of its calls.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    /// By kind of failure of its own calls.
    pub(super) by_kind: Vec<Reach>,
    /// By cause, if the service itself is what fails.
    pub(super) by_cause: Vec<Reach>,
    /// Without retries.
    pub(super) base: Amount,
}

impl Arrivals {
    pub(super) fn none(alike: &Alike) -> Arrivals {
        Arrivals {
            by_kind: vec![Reach::NONE; alike.count()],
            by_cause: vec![Reach::NONE; alike.causes().len()],
            base: Amount::ZERO,
        }
    }

    pub(super) fn clear(&mut self) {
        self.by_kind.fill(Reach::NONE);
        self.by_cause.fill(Reach::NONE);
        self.base = Amount::ZERO;
    }

    fn both(&mut self, other: &Arrivals, with: impl Fn(&mut Reach, &Reach)) {
        self.by_kind.iter_mut().zip(&other.by_kind).for_each(|(a, b)| with(a, b));
        self.by_cause.iter_mut().zip(&other.by_cause).for_each(|(a, b)| with(a, b));
    }

    pub(super) fn join(&mut self, other: &Arrivals) {
        self.both(other, Reach::join);
        self.base = self.base + other.base;
    }

    fn at_worst(&mut self, other: &Arrivals) {
        self.both(other, Reach::at_worst);
        self.base = self.base.max(other.base);
    }
}

/// The walk over one graph.
#[derive(Debug)]
pub struct Walk<'a> {
    pub(super) net: &'a Net,
    pub(super) tries: &'a Tries<'a>,
    pub(super) alike: &'a Alike,
    pub(super) order: &'a Order,
    /// Healthy rate of each service, as far as it is known.
    rates: &'a [Option<f64>],
    /// Requests that enter at each service.
    entries: &'a [Amount],
    /// By service and kind.
    pub(super) reach: Vec<Reach>,
    /// By service.
    pub(super) base: Vec<Amount>,
    pub(super) scratch: Scratch,
    /// Buffer of [`Walk::arrive`]: what one kind of answer makes of an edge.
    known: Vec<Option<Reach>>,
    /// How often an edge was looked at.
    visits: usize,
}

impl<'a> Walk<'a> {
    /// A walk that has not begun. `entries` and `rates` are by service.
    pub fn new(
        net: &'a Net,
        (tries, alike, order): (&'a Tries<'a>, &'a Alike, &'a Order),
        rates: &'a [Option<f64>],
        entries: &'a [Amount],
    ) -> Self {
        let count = net.graph.node_count();
        Walk {
            net,
            tries,
            alike,
            order,
            rates,
            entries,
            reach: vec![Reach::NONE; count * alike.count()],
            base: vec![Amount::ZERO; count],
            scratch: Scratch::default(),
            known: Vec::new(),
            visits: 0,
        }
    }

    /// Walks, and returns load and worst path of every service and the cycles on the way. Unknown factors are not told.
    pub fn run(mut self) -> (Vec<NodeLoad>, Vec<super::Cycle>, usize) {
        let mut nodes = vec![NodeLoad::default(); self.net.graph.node_count()];
        let mut found = Vec::new();
        let mut arrivals = Arrivals::none(self.alike);
        for step in &self.order.steps {
            match step {
                Step::Service(node) => {
                    self.gather(*node, |walk, edge| !walk.order.is_closing(edge), &mut arrivals);
                    self.enter(*node, &mut arrivals);
                    self.keep(*node, &arrivals);
                    nodes[node.index()] = self.told(*node, &arrivals);
                }
                Step::Knot(knot) => {
                    if let Some(knot) = self.order.knots.get(*knot) {
                        found.push(cycles::settle(&mut self, knot, &mut nodes));
                    }
                }
            }
        }
        // What leads back without closing a cycle arrives as well; it is not followed any further.
        for node in self.order.closed_at(self.net) {
            self.gather(node, |_, _| true, &mut arrivals);
            self.enter(node, &mut arrivals);
            nodes[node.index()] = self.told(node, &arrivals);
        }
        let visits = self.visits;
        choices::refine(&mut self, &mut nodes);
        (nodes, found, visits)
    }

    /// What arrives at a service over those of its calls that `over` lets through.
    pub(super) fn gather(&mut self, node: NodeIndex, over: impl Fn(&Self, EdgeIndex) -> bool, arrivals: &mut Arrivals) {
        arrivals.clear();
        let mut groups: BTreeMap<(NodeIndex, Arc<str>), Arrivals> = BTreeMap::new();
        let net = self.net;
        for edge in net.graph.edges_directed(node, Incoming) {
            if !over(self, edge.id()) {
                continue;
            }
            // Choices of one caller that lead here exclude one another.
            match &edge.weight().one_of {
                None => self.arrive(edge, arrivals),
                Some(group) => {
                    let mut one = Arrivals::none(self.alike);
                    self.arrive(edge, &mut one);
                    groups.entry((edge.source(), group.clone())).and_modify(|most| most.at_worst(&one)).or_insert(one);
                }
            }
        }
        for group in groups.values() {
            arrivals.join(group);
        }
    }

    /// Adds what arrives over one edge.
    pub(super) fn arrive(&mut self, edge: EdgeReference<'_, Edge>, arrivals: &mut Arrivals) {
        self.visits += 1;
        let (weight, from) = (edge.weight(), edge.source());
        let fan_out = fan_out(weight);
        if fan_out == Amount::ZERO {
            return;
        }
        let view = View::new(weight, traffic(self.net, self.rates, from, weight));
        arrivals.base = arrivals.base + fan_out * self.base[from.index()];
        for (at, cause) in self.alike.causes().iter().enumerate() {
            let class = spoken(*cause, view.protocol);
            let reach = self.over(view, from, class, Hop::Last, fan_out);
            arrivals.by_cause[at].join(&reach);
            if self.alike.count() == 1 {
                // Whatever fails is retried by all or none, so that it does not matter where it came about.
                arrivals.by_kind[0].join(&reach);
                return;
            }
        }
        let emits = emits(self.net, edge.target());
        let mut known = std::mem::take(&mut self.known);
        known.clear();
        known.resize(self.alike.count(), None);
        for (at, below) in self.alike.representatives().iter().enumerate() {
            let mut most = Reach::NONE;
            for class in answers(*below, view.protocol, emits).iter() {
                let kind = self.alike.kind(class);
                let reach = match known[kind] {
                    Some(reach) => reach,
                    None => *known[kind].insert(self.over(view, from, class, Hop::Above, fan_out)),
                };
                most.at_worst(&reach);
            }
            arrivals.by_kind[at].join(&most);
        }
        self.known = known;
    }

    /// What reaches an edge's callee if `class` goes back over it, the worst outcome taken.
    fn over(&mut self, view: View, from: NodeIndex, class: Class, hop: Hop, fan_out: Amount) -> Reach {
        let mut most = Reach::NONE;
        self.scratch.next_edge();
        for outcome in self.tries.outcomes(view, class, hop, &mut self.scratch) {
            let above = self.reach[from.index() * self.alike.count() + self.alike.kind(outcome.class)];
            most.at_worst(&Reach {
                load: above.load * fan_out * outcome.product.tries,
                most: above.most.times(&outcome.product),
                about: above.about || outcome.about,
            });
        }
        most
    }

    /// Requests that enter at a service from outside.
    pub(super) fn entry(&self, node: NodeIndex) -> Amount {
        self.entries.get(node.index()).copied().unwrap_or(Amount::ZERO)
    }

    /// Adds what enters at a service from outside.
    pub(super) fn enter(&self, node: NodeIndex, arrivals: &mut Arrivals) {
        let entry = self.entry(node);
        let is_root = self.order.is_root(self.net, node);
        if entry == Amount::ZERO && !is_root {
            return;
        }
        arrivals.base = arrivals.base + entry;
        for reach in arrivals.by_kind.iter_mut().chain(&mut arrivals.by_cause) {
            reach.load = reach.load + entry;
            if is_root {
                reach.worsen(&Reach::ROOT);
            }
        }
    }

    /// Keeps what arrives at a service for those that it calls.
    pub(super) fn keep(&mut self, node: NodeIndex, arrivals: &Arrivals) {
        let from = node.index() * self.alike.count();
        self.reach[from..from + self.alike.count()].copy_from_slice(&arrivals.by_kind);
        self.base[node.index()] = arrivals.base;
    }

    /// What is said about a service: its greatest figures, and the class that they hold for.
    pub(super) fn told(&self, node: NodeIndex, arrivals: &Arrivals) -> NodeLoad {
        let mut most = Reach::NONE;
        most.load = arrivals.by_cause.iter().fold(Amount::ZERO, |most, reach| most.max(reach.load));
        let mut class = None;
        for (cause, reach) in self.alike.causes().iter().zip(&arrivals.by_cause) {
            let before = class.map_or(Amount::ZERO, |(_, load): (Class, Amount)| load);
            if reach.most.tries > most.most.tries || (reach.most.tries == most.most.tries && reach.load > before) {
                class = Some((*cause, reach.load));
            }
            most.worsen(reach);
        }
        let mut callers = self.net.graph.edges_directed(node, Incoming).peekable();
        if callers.peek().is_none() {
            // Nobody calls it, so there is nothing that could be repeated.
            let load = self.entry(node);
            return NodeLoad {
                load,
                base: load,
                amplification: 1.0,
                bounded: Some(1.0),
                figure: 1.0,
                ..NodeLoad::default()
            };
        }
        let protocols = callers.map(|edge| edge.weight().protocol.unwrap_or(Protocol::Http));
        let class = class.map(|(class, _)| in_words_of(class, protocols));
        if most.most.tries == Amount::ZERO {
            // Every call to it is made zero times per request.
            most.worsen(&Reach::ROOT);
        }
        let worst = most.most.tries;
        let (figure, figure_tries) = most.most.figure();
        NodeLoad {
            load: most.load,
            base: arrivals.base,
            amplification: amplification(most.load, arrivals.base, worst),
            worst,
            class,
            bounded: most.most.bounded(),
            figure,
            figure_tries,
            about: most.about,
            ..NodeLoad::default()
        }
    }
}

/// Load and amplification of every service, and the tries of every edge.
pub fn amplification_of(net: &Net, (tries, alike, order): (&Tries, &Alike, &Order), rates: &[Rate]) -> Amplification {
    let healthy: Vec<Option<f64>> = rates.iter().map(|rate| rate.healthy).collect();
    let entries: Vec<Amount> = net
        .graph
        .node_indices()
        .map(|node| if order.is_root(net, node) { Amount::ONE } else { Amount::ZERO })
        .collect();
    let (mut nodes, cycles, _) = Walk::new(net, (tries, alike, order), &healthy, &entries).run();
    for (node, rate) in nodes.iter_mut().zip(rates) {
        (node.rate, node.rate_worst) = (rate.healthy, rate.worst);
    }

    let greatest = |scratch: &mut Scratch, edge: &Edge, traffic: Traffic| -> EdgeLoad {
        let view = View::new(edge, traffic);
        let (arriving, unsent) = (alike.arriving(view.protocol), alike.unsent(view.protocol));
        if edge.layers.is_empty() {
            let class = arriving.first().copied().unwrap_or(Class::Overload);
            let factor = Factor { unknown: tries.unknown_on(edge), ..Factor::default() };
            return EdgeLoad { class, factor, unheld: None, unsent: None };
        }
        tries.greatest(view, arriving, unsent, scratch)
    };
    let edges: Vec<EdgeLoad> = net
        .graph
        .raw_edges()
        .par_iter()
        .with_min_len(1024)
        .map_init(Scratch::default, |scratch, edge| {
            greatest(scratch, &edge.weight, traffic(net, &healthy, edge.source(), &edge.weight))
        })
        .collect();
    let mut scratch = Scratch::default();
    let open = net.open.iter().map(|(_, edge)| greatest(&mut scratch, edge, Traffic::default())).collect();
    name_unknown(net, order, &edges, &mut nodes);
    Amplification { nodes, edges, open, cycles }
}

/// Carries the policies with unknown tries to everything below them.
fn name_unknown(net: &Net, order: &Order, edges: &[EdgeLoad], nodes: &mut [NodeLoad]) {
    if edges.iter().all(|edge| edge.factor.unknown.is_empty()) {
        return;
    }
    let mut above = |members: &[NodeIndex]| {
        let mut unknown: Vec<PolicyId> = Vec::new();
        for edge in members.iter().flat_map(|node| net.graph.edges_directed(*node, Incoming)) {
            unknown.extend(edges.get(edge.id().index()).into_iter().flat_map(|edge| &edge.factor.unknown));
            if let Some(caller) = nodes.get(edge.source().index()) {
                unknown.extend(&caller.unknown);
            }
            // Sorted and cut as it grows: the callers of one service may be many.
            if unknown.len() > 4 * NAMED {
                unknown.sort_unstable();
                unknown.dedup();
                unknown.truncate(NAMED);
            }
        }
        unknown.sort_unstable();
        unknown.dedup();
        unknown.truncate(NAMED);
        for node in members {
            if let Some(node) = nodes.get_mut(node.index()) {
                node.is_lower_bound = !unknown.is_empty();
                node.unknown.clone_from(&unknown);
            }
        }
    };
    for step in &order.steps {
        match step {
            Step::Service(node) => above(&[*node]),
            Step::Knot(knot) => order.knots.get(*knot).into_iter().for_each(|knot| above(&knot.nodes)),
        }
    }
}

/// `load / base`; where both are without end, the worst path stands for it, which it never exceeds.
pub(super) fn amplification(load: Amount, base: Amount, worst: Amount) -> f64 {
    let ratio = load.as_f64() / base.as_f64();
    if ratio.is_nan() { worst.as_f64() } else { ratio }
}

/// Calls per request of an edge; what is no number counts as one.
pub(super) fn fan_out(edge: &Edge) -> Amount {
    let per_request = edge.per_request;
    if per_request.is_finite() && per_request >= 0.0 { Amount::from_f64(per_request) } else { Amount::ONE }
}

/// What an edge's budgets see: the requests that its caller gets while all is well.
pub(super) fn traffic(net: &Net, rates: &[Option<f64>], from: NodeIndex, edge: &Edge) -> Traffic {
    traffic_with(net, rates.get(from.index()).copied().flatten(), from, edge)
}

fn traffic_with(net: &Net, rate: Option<f64>, from: NodeIndex, edge: &Edge) -> Traffic {
    let rate = rate.map(|rate| rate * fan_out(edge).as_f64());
    let instances = net
        .graph
        .node_weight(from)
        .and_then(|node| node.service.instances.as_ref())
        .and_then(|instances| instances.known().copied());
    Traffic { rate, instances }
}

/// The same once rates are known.
pub(super) fn traffic_from(system: &System, from: NodeIndex, edge: &Edge) -> Traffic {
    let rate = system.amplification.nodes.get(from.index()).and_then(|node| node.rate);
    traffic_with(&system.net, rate, from, edge)
}

/// What a service answers whenever its own calls fail, where that is declared.
pub(super) fn emits(net: &Net, node: NodeIndex) -> Option<Class> {
    net.graph.node_weight(node)?.service.emits.as_ref()?.known().copied()
}

/// A failure of a service as one of its callers sees it.
pub fn spoken(class: Class, protocol: Protocol) -> Class {
    if handover::possible(protocol).contains(class) { class } else { translate(class, protocol) }
}

/// A class in the words of a service's own protocol: unchanged if one of its callers could see it.
fn in_words_of(class: Class, protocols: impl Iterator<Item = Protocol>) -> Class {
    let mut other = class;
    for protocol in protocols {
        if handover::possible(protocol).contains(class) {
            return class;
        }
        other = translate(class, protocol);
    }
    other
}

#[cfg(test)]
#[path = "amplification_tests.rs"]
mod tests;
