//! Loads, worst paths and best lists of small random graphs against a model that plays every path, every alternative and
//! every outcome, and shares no arithmetic with the program.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::graph::{EdgeIndex, NodeIndex};

use super::Path;
use super::amount::Amount;
use super::nets::{FIVE_XX, INBOUND, NEW_ISTIO, OLD_ISTIO, Sketch, at, code, of_unknown_tries, on, sidecar, written};
use super::paths::{By, k_best};
use super::product::Product;
use crate::facts::{Budget, BudgetBase, Class, Class::*, Classes, Floor, Limit, Policy, Position, Protocol};

/// A repeatable stream of numbers (xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// One policy as the model sees it.
#[derive(Clone)]
struct Party {
    is_proxy: bool,
    /// None: unknown.
    tries: Option<u128>,
    on: Classes,
    /// What its budget leaves, if it has one.
    budget: Option<f64>,
}

/// One way in which something can end: tries, the same with budgets (as bits, which are in the order of the numbers),
/// whether every layer that multiplies has a budget, and what is handed out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    tries: u128,
    bounded: u64,
    all_bounded: bool,
    class: Class,
}

impl End {
    fn fresh(class: Class) -> End {
        End { tries: 1, bounded: 1_f64.to_bits(), all_bounded: true, class }
    }

    fn bounded(&self) -> f64 {
        f64::from_bits(self.bounded)
    }

    fn times(self, other: End) -> End {
        End {
            tries: self.tries * other.tries,
            bounded: (self.bounded() * other.bounded()).to_bits(),
            all_bounded: self.all_bounded && other.all_bounded,
            class: other.class,
        }
    }

    fn retried(self, party: &Party) -> End {
        if !party.on.contains(self.class) || party.tries == Some(1) {
            return self;
        }
        let most = party.tries.map_or(f64::INFINITY, |tries| tries as f64);
        let bounded = self.bounded() * party.budget.map_or(most, |left| left.min(most));
        End {
            tries: self.tries * party.tries.unwrap_or(1),
            bounded: bounded.to_bits(),
            all_bounded: self.all_bounded && party.budget.is_some(),
            class: self.class,
        }
    }

    fn figure(&self) -> f64 {
        if self.all_bounded { self.bounded() } else { self.tries as f64 }
    }
}

/// One call as the model sees it: layers, outermost first, each with alternatives.
#[derive(Clone)]
struct Call {
    from: usize,
    to: usize,
    times: u128,
    is_grpc: bool,
    layers: Vec<Vec<Party>>,
}

struct Model {
    services: usize,
    calls: Vec<Call>,
    emits: Vec<Option<Class>>,
}

fn party(dice: &mut Dice, budgets: bool) -> (Policy, Party) {
    // With budgets more, so that what they hold may have more tries than what they do not.
    let tries = dice.below(if budgets { 6 } else { 3 }) + 1;
    let sets = [Classes::ALL, OLD_ISTIO, NEW_ISTIO, FIVE_XX, INBOUND];
    let set = match dice.below(7) {
        set @ 0..5 => sets[set as usize],
        _ => Class::ALL.into_iter().filter(|_| dice.one_in(2)).collect(),
    };
    let is_proxy = dice.one_in(2);
    let mut policy = if is_proxy { sidecar(tries, set) } else { on(set, code(tries)) };
    let mut party = Party { is_proxy, tries: Some(tries.into()), on: set, budget: None };
    if budgets && dice.one_in(2) {
        let ratio = [0.0, 0.25, 0.5, 1.0][dice.below(4) as usize];
        policy.budget = written(Limit::At(Box::new(Budget {
            ratio: written(ratio),
            floor: written(Floor::PerSecond(0.0)),
            window: written(Limit::None),
            base: BudgetBase::Originals,
        })));
        party.budget = Some(1.0 + ratio);
    }
    if budgets && dice.one_in(12) {
        policy = of_unknown_tries(policy);
        party.tries = None;
    }
    (policy, party)
}

fn random(dice: &mut Dice, budgets: bool) -> (Sketch, Model) {
    let services = dice.below(5) as usize + 2;
    let mut sketch = Sketch::default();
    let nodes: Vec<NodeIndex> = (0..services).map(|i| sketch.add(&format!("s{i}"))).collect();
    let mut model = Model { services, calls: Vec::new(), emits: vec![None; services] };
    let mixed = dice.below(3);
    for to in 1..services {
        for _ in 0..dice.below(3) + 1 {
            let from = dice.below(to as u64) as usize;
            let mut call = Call { from, to, times: 1, is_grpc: false, layers: Vec::new() };
            let mut layers = Vec::new();
            for place in 0..dice.below(3) {
                let mut alternatives = Vec::new();
                let mut parties = Vec::new();
                for _ in 0..if dice.one_in(4) { 2 } else { 1 } {
                    let (policy, party) = party(dice, budgets);
                    let position = if place == 0 { Position::Gateway } else { Position::ServerSidecar };
                    alternatives.push(vec![at(position, policy)]);
                    parties.push(party);
                }
                layers.push(alternatives);
                call.layers.push(parties);
            }
            let mut edge = sketch.edge(layers);
            if dice.one_in(4) {
                (call.times, edge.per_request) = (2, 2.0);
            }
            // All HTTP, all gRPC, or both.
            call.is_grpc = mixed == 1 || (mixed == 2 && dice.one_in(2));
            edge.protocol = if call.is_grpc { Some(Protocol::Grpc) } else { None };
            sketch.net.graph.add_edge(nodes[from], nodes[to], edge);
            model.calls.push(call);
        }
    }
    for (service, emits) in model.emits.iter_mut().enumerate() {
        if dice.one_in(6) {
            let class = [ServerError, Overload, ClientError][dice.below(3) as usize];
            *emits = Some(class);
            sketch.net.graph[nodes[service]].service.emits = Some(written(class));
        }
    }
    (sketch, model)
}

fn is_answer(class: Class) -> bool {
    !matches!(class, Connect | Unsent | Reset | TryTimeout | BreakerOpen)
}

fn said_in(is_grpc: bool, class: Class) -> Class {
    let pairs = [
        (Overload, Unavailable, true),
        (BadGateway, Deadline, false),
        (RateLimited, Exhausted, false),
        (ServerError, Internal, true),
        (Conflict, Aborted, true),
        (ClientError, Rejected, true),
    ];
    for (http, grpc, both_ways) in pairs {
        if is_grpc && class == http {
            // 502, 504 and 429 are UNAVAILABLE to a gRPC client.
            return if both_ways { grpc } else { Unavailable };
        }
        if !is_grpc && class == grpc {
            return http;
        }
    }
    class
}

fn out(party: &Party, is_grpc: bool, class: Class) -> Vec<Class> {
    match class {
        _ if !party.is_proxy || is_answer(class) => vec![class],
        TryTimeout if is_grpc => vec![Unavailable, Deadline],
        _ if is_grpc => vec![Unavailable],
        Reset => vec![Overload, BadGateway],
        TryTimeout => vec![BadGateway],
        _ => vec![Overload],
    }
}

fn handler(class: Class, is_grpc: bool, emits: Option<Class>) -> Vec<Class> {
    match emits {
        Some(class) => vec![said_in(is_grpc, class)],
        None if is_answer(class) => vec![said_in(is_grpc, class)],
        None if is_grpc => vec![Unavailable, Deadline, Internal],
        None => vec![Overload, BadGateway, ServerError],
    }
}

/// Every end of a call; if it is the last hop, the failure arises just inside any layer.
fn ends(call: &Call, class: Class, is_last: bool) -> BTreeSet<End> {
    let from = if is_last { 0 } else { call.layers.len() };
    let mut all = BTreeSet::new();
    for depth in from..=call.layers.len() {
        let mut now = BTreeSet::from([End::fresh(class)]);
        for layer in call.layers[..depth].iter().rev() {
            let mut next = BTreeSet::new();
            for end in now {
                for party in layer {
                    let retried = end.retried(party);
                    next.extend(out(party, call.is_grpc, end.class).into_iter().map(|class| End { class, ..retried }));
                }
            }
            now = next;
        }
        all.extend(now);
    }
    all
}

/// What can arrive at a service: everything but the classes that never leave the caller.
fn causes() -> Vec<Class> {
    Class::ALL.into_iter().filter(|class| !matches!(class, Connect | Unsent | BreakerOpen)).collect()
}

impl Model {
    fn calls_to(&self, service: usize) -> impl Iterator<Item = (usize, &Call)> {
        self.calls.iter().enumerate().filter(move |(_, call)| call.to == service)
    }

    /// Every path to a service, as indices of calls, the last one first.
    fn paths(&self, service: usize) -> Vec<Vec<usize>> {
        let mut paths = Vec::new();
        for (at, call) in self.calls_to(service) {
            let above = self.paths(call.from);
            if above.is_empty() {
                paths.push(vec![at]);
            }
            paths.extend(above.into_iter().map(|path| [vec![at], path].concat()));
        }
        paths
    }

    /// Every product of one path: every cause, every outcome of every hop.
    fn products(&self, path: &[usize]) -> Vec<End> {
        let mut all = Vec::new();
        for cause in causes() {
            let mut now: BTreeSet<End> = BTreeSet::new();
            for (hop, at) in path.iter().enumerate() {
                let call = &self.calls[*at];
                if hop == 0 {
                    now = ends(call, said_in_if_foreign(call, cause), true);
                    continue;
                }
                let mut next = BTreeSet::new();
                for end in now {
                    for class in handler(end.class, call.is_grpc, self.emits[call.to]) {
                        next.extend(ends(call, class, false).into_iter().map(|more| end.times(more)));
                    }
                }
                now = next;
            }
            all.extend(now);
        }
        all
    }

    /// The greatest product of tries of one path, and the greatest figure that levels go by.
    fn greatest(&self, path: &[usize]) -> (u128, f64) {
        let products = self.products(path);
        let tries = products.iter().map(|end| end.tries).max().unwrap();
        (tries, products.iter().map(End::figure).fold(0.0, f64::max))
    }

    /// Requests at a service whose own calls fail with `below`; each caller is answered what is worst for it.
    fn load(&self, service: usize, below: Class) -> u128 {
        let mut sum = 0;
        let mut is_root = true;
        for (_, call) in self.calls_to(service) {
            is_root = false;
            let mut most = 0;
            for class in handler(below, call.is_grpc, self.emits[service]) {
                for end in ends(call, class, false) {
                    most = most.max(call.times * end.tries * self.load(call.from, end.class));
                }
            }
            sum += most;
        }
        if is_root { 1 } else { sum }
    }

    /// Requests at a service that fails itself with `cause`.
    fn load_of(&self, service: usize, cause: Class) -> u128 {
        self.calls_to(service)
            .map(|(_, call)| {
                let ends = ends(call, said_in_if_foreign(call, cause), true);
                ends.into_iter().map(|end| call.times * end.tries * self.load(call.from, end.class)).max().unwrap_or(0)
            })
            .sum()
    }

    fn base(&self, service: usize) -> u128 {
        let sum = self.calls_to(service).map(|(_, call)| call.times * self.base(call.from)).sum();
        if self.calls_to(service).next().is_none() { 1 } else { sum }
    }
}

fn said_in_if_foreign(call: &Call, cause: Class) -> Class {
    let own = if call.is_grpc { Classes::GRPC } else { Classes::HTTP };
    if own.contains(cause) { cause } else { said_in(call.is_grpc, cause) }
}

/// Floats that were multiplied in another order.
fn close(a: f64, b: f64) -> bool {
    a == b || (a - b).abs() <= 1e-9 * b.abs()
}

fn agree_with_the_model(seed: u64, rounds: usize, budgets: bool) {
    let mut dice = Dice(seed);
    for round in 0..rounds {
        let (sketch, model) = random(&mut dice, budgets);
        sketch.analysed(|system| {
            for service in 0..model.services {
                let node = &system.amplification.nodes[service];
                let paths = model.paths(service);
                if paths.is_empty() {
                    assert_eq!((node.load.as_f64(), node.worst.as_f64(), node.figure), (1.0, 1.0, 1.0));
                    continue;
                }
                let at = format!("graph {round}, service {service}");
                let greatest: Vec<(u128, f64)> = paths.iter().map(|path| model.greatest(path)).collect();
                let mut tries: Vec<f64> = greatest.iter().map(|(tries, _)| *tries as f64).collect();
                let mut figures: Vec<f64> = greatest.iter().map(|(_, figure)| *figure).collect();
                for all in [&mut tries, &mut figures] {
                    all.sort_by(|a, b| b.total_cmp(a));
                }
                let bounded = paths.iter().flat_map(|path| model.products(path)).map(|end| end.bounded());
                let bounded = bounded.fold(0.0, f64::max);

                let load = causes().into_iter().map(|cause| model.load_of(service, cause)).max().unwrap();
                assert_eq!(node.worst.as_f64(), tries[0], "worst path, {at}");
                assert!(close(node.figure, figures[0]), "figure {} of {figures:?}, {at}", node.figure);
                match node.bounded {
                    Some(found) => assert!(close(found, bounded), "with budgets {found}, not {bounded}, {at}"),
                    None => assert!(bounded.is_infinite(), "with budgets nothing, not {bounded}, {at}"),
                }
                assert_eq!(node.load.as_f64(), load as f64, "load, {at}");
                assert_eq!(node.base.as_f64(), model.base(service) as f64, "base, {at}");

                for (by, expected) in [(By::Tries, &tries), (By::Figure, &figures)] {
                    let best = k_best(system, NodeIndex::new(service), 3, by);
                    let measure = |path: &Path| match by {
                        By::Tries => path.product.tries.as_f64(),
                        By::Figure => path.product.figure(),
                    };
                    assert_eq!(best.len(), expected.len().min(3), "best paths, {at}");
                    for (path, expected) in best.iter().zip(expected) {
                        assert!(close(measure(path), *expected), "{by:?}: {best:?} and not {expected:?}, {at}");
                        // The list tells the truth about each path, and its hops multiply to its product.
                        let edges: Vec<usize> = path.hops.iter().rev().map(|hop| hop.edge.index()).collect();
                        let (tries, figure) = model.greatest(&edges);
                        let of_model = if by == By::Tries { tries as f64 } else { figure };
                        assert!(close(of_model, measure(path)), "path {edges:?}, {at}");
                        let hops = path.hops.iter().fold(Product::ONE, |all, hop| all * hop.factor.product());
                        assert_eq!(hops.tries, path.product.tries, "hops of {edges:?}, {at}");
                        assert_eq!(hops.all_bounded, path.product.all_bounded, "hops of {edges:?}, {at}");
                        assert!(close(hops.bounded, path.product.bounded), "hops of {edges:?}, {at}");
                        for hop in &path.hops {
                            let parts = hop.factor.parts.iter().fold(Amount::ONE, |all, part| all * part.tries);
                            assert_eq!(parts, hop.factor.tries, "parts of {edges:?}, {at}");
                        }
                    }
                }
            }
            for (at, call) in model.calls.iter().enumerate() {
                let tries = |class| ends(call, class, true).into_iter().map(|end| end.tries).max().unwrap();
                let here = || causes().into_iter().map(|cause| said_in_if_foreign(call, cause));
                let most = here().map(tries).max().unwrap();
                let figures = here().flat_map(|class| ends(call, class, true)).map(|end| end.figure());
                let figure = figures.fold(0.0, f64::max);
                let unsent = [Connect, Unsent].map(tries).into_iter().max().unwrap();
                let edge = &system.amplification.edges[EdgeIndex::<u32>::new(at).index()];
                assert_eq!(edge.factor.tries.as_f64(), most as f64, "call {at} of graph {round}");
                let found = edge.unsent.as_ref().map(|(_, factor)| factor.tries.as_f64());
                assert_eq!(found, (unsent > most).then_some(unsent as f64), "unsent, call {at} of graph {round}");
                let parts: f64 = edge.factor.parts.iter().map(|part| part.tries.as_f64()).product();
                assert_eq!(parts, most as f64, "parts of call {at} of graph {round}");
                let (_, deciding) = edge.deciding();
                assert!(close(deciding.figure(), figure), "{deciding:?} and not {figure}, call {at} of graph {round}");
            }
        });
    }
}

#[test]
fn small_graphs_agree_with_a_model_that_plays_everything() {
    agree_with_the_model(0x5eed_2026, 2500, false);
}

#[test]
fn small_graphs_with_budgets_agree_with_it_too() {
    agree_with_the_model(0xb0d9_e713, 1500, true);
}

/// Of calls that exclude one another the model plays every choice: the load is that of the worst one with rare exceptions, in
/// which it is that of another one, and never below the worst path, since every call is made at least once.
#[test]
fn choices_are_the_worst_that_can_be_made_and_never_below_the_worst_path() {
    let mut dice = Dice(0x0c40_1ce5);
    let (mut looked, mut missed) = (0, 0);
    for round in 0..1500 {
        let (mut sketch, model) = random(&mut dice, false);
        let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (at, call) in model.calls.iter().enumerate() {
            if dice.one_in(2) {
                groups.entry(call.from).or_default().push(at);
                sketch.net.graph[EdgeIndex::new(at)].one_of = Some("route".into());
            }
        }
        // Which call of each group is not made, for all ways to pick one of each.
        let mut ways: Vec<Vec<usize>> = vec![Vec::new()];
        for group in groups.values() {
            let others = |made: &usize| group.iter().copied().filter(|at| at != made).collect::<Vec<_>>();
            let with = |way: &Vec<usize>, made| way.iter().copied().chain(others(made)).collect();
            ways = ways.iter().flat_map(|way| group.iter().map(move |made| with(way, made))).collect();
        }
        let models: Vec<Model> = ways
            .into_iter()
            .map(|unmade| {
                let mut calls = model.calls.clone();
                unmade.into_iter().for_each(|at| calls[at].times = 0);
                Model { services: model.services, calls, emits: model.emits.clone() }
            })
            .collect();
        sketch.analysed(|system| {
            for service in 1..model.services {
                let node = &system.amplification.nodes[service];
                let loads = models.iter().flat_map(|one| causes().into_iter().map(|cause| one.load_of(service, cause)));
                let most = loads.max().unwrap() as f64;
                let at = format!("graph {round}, service {service}");
                assert!(node.worst.as_f64() <= node.load.as_f64(), "{at}: {:?} {:?}", node.worst, node.load);
                // Kinds of failure are looked at one by one, and each may have a worst choice of its own.
                looked += 1;
                missed += u32::from(node.load.as_f64() != most);
            }
        });
    }
    assert!(missed * 100 < looked, "{missed} of {looked}");
}

/// The numbers that the model was drawn up with: T-19 27 and 1, T-20 3, Istio 1.24 3, `5xx` 27, library and mesh 12 and 4.
#[test]
fn the_model_gives_its_own_published_numbers() {
    let chain = |layers: Vec<Party>, hops: usize, emits: Option<Class>| Model {
        services: hops + 1,
        calls: (0..hops)
            .map(|i| Call {
                from: i,
                to: i + 1,
                times: 1,
                is_grpc: false,
                layers: layers.iter().map(|party| vec![party.clone()]).collect(),
            })
            .collect(),
        emits: (0..=hops).map(|i| if i + 1 == hops { emits } else { None }).collect(),
    };
    let proxy = |on| Party { is_proxy: true, tries: Some(3), on, budget: None };
    let most = |model: &Model, class| {
        let mut now: BTreeSet<End> = BTreeSet::new();
        for call in model.calls.iter().rev() {
            let mut next = BTreeSet::new();
            if now.is_empty() {
                next = ends(call, class, true);
            }
            for end in now {
                for class in handler(end.class, false, model.emits[call.to]) {
                    next.extend(ends(call, class, false).into_iter().map(|more| end.times(more)));
                }
            }
            now = next;
        }
        now.into_iter().map(|end| end.tries).max().unwrap()
    };
    let old = chain(vec![proxy(OLD_ISTIO)], 3, None);
    assert_eq!([Overload, ServerError, Connect].map(|class| most(&old, class)), [27, 1, 27]);
    assert_eq!(most(&chain(vec![proxy(OLD_ISTIO)], 3, Some(ServerError)), Overload), 3);
    let new = chain(vec![proxy(NEW_ISTIO)], 3, None);
    assert_eq!([Overload, Connect].map(|class| most(&new, class)), [1, 3]);
    assert_eq!(most(&chain(vec![proxy(FIVE_XX)], 3, None), Reset), 27);
    assert_eq!(most(&chain(vec![proxy(FIVE_XX)], 2, None), Reset), 9);
    let library = Party { is_proxy: false, tries: Some(4), on: Classes::ALL, budget: None };
    let stacked = chain(vec![library, proxy(NEW_ISTIO), proxy(INBOUND)], 1, None);
    assert_eq!([Connect, Overload].map(|class| most(&stacked, class)), [12, 4]);
}
