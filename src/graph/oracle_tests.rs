//! Loads, worst paths and best lists of small random graphs against a model that plays every path, every alternative and
//! every outcome, and shares no arithmetic with the program.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::graph::{EdgeIndex, NodeIndex};

use super::nets::{FIVE_XX, INBOUND, NEW_ISTIO, OLD_ISTIO, Sketch, at, code, on, sidecar, written};
use super::paths::k_best;
use crate::facts::{Class, Class::*, Classes, Policy, Position, Protocol};

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
    tries: u128,
    on: Classes,
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

fn party(dice: &mut Dice) -> (Policy, Party) {
    let tries = dice.below(3) + 1;
    let sets = [Classes::ALL, OLD_ISTIO, NEW_ISTIO, FIVE_XX, INBOUND];
    let set = match dice.below(7) {
        set @ 0..5 => sets[set as usize],
        _ => Class::ALL.into_iter().filter(|_| dice.one_in(2)).collect(),
    };
    let is_proxy = dice.one_in(2);
    let policy = if is_proxy { sidecar(tries, set) } else { on(set, code(tries)) };
    (policy, Party { is_proxy, tries: tries.into(), on: set })
}

fn random(dice: &mut Dice) -> (Sketch, Model) {
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
                    let (policy, party) = party(dice);
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

/// Every (tries, class handed out) of a call; if it is the last hop, the failure arises just inside any layer.
fn ends(call: &Call, class: Class, is_last: bool) -> BTreeSet<(u128, Class)> {
    let from = if is_last { 0 } else { call.layers.len() };
    let mut all = BTreeSet::new();
    for depth in from..=call.layers.len() {
        let mut now = BTreeSet::from([(1, class)]);
        for layer in call.layers[..depth].iter().rev() {
            let mut next = BTreeSet::new();
            for (tries, class) in now {
                for party in layer {
                    let tries = if party.on.contains(class) { tries * party.tries } else { tries };
                    next.extend(out(party, call.is_grpc, class).into_iter().map(|class| (tries, class)));
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

    /// The greatest product of one path: every cause, every outcome of every hop.
    fn product(&self, path: &[usize]) -> u128 {
        let mut most = 0;
        for cause in causes() {
            let mut now: BTreeSet<(u128, Class)> = BTreeSet::new();
            for (hop, at) in path.iter().enumerate() {
                let call = &self.calls[*at];
                if hop == 0 {
                    now = ends(call, said_in_if_foreign(call, cause), true);
                    continue;
                }
                let mut next = BTreeSet::new();
                for (tries, class) in now {
                    for class in handler(class, call.is_grpc, self.emits[call.to]) {
                        next.extend(ends(call, class, false).into_iter().map(|(more, class)| (tries * more, class)));
                    }
                }
                now = next;
            }
            most = now.into_iter().map(|(tries, _)| tries).max().unwrap_or(0).max(most);
        }
        most
    }

    /// Requests at a service whose own calls fail with `below`; each caller is answered what is worst for it.
    fn load(&self, service: usize, below: Class) -> u128 {
        let mut sum = 0;
        let mut is_root = true;
        for (_, call) in self.calls_to(service) {
            is_root = false;
            let mut most = 0;
            for class in handler(below, call.is_grpc, self.emits[service]) {
                for (tries, class) in ends(call, class, false) {
                    most = most.max(call.times * tries * self.load(call.from, class));
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
                ends.into_iter()
                    .map(|(tries, class)| call.times * tries * self.load(call.from, class))
                    .max()
                    .unwrap_or(0)
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

#[test]
fn small_graphs_agree_with_a_model_that_plays_everything() {
    let mut dice = Dice(0x5eed_2026);
    for round in 0..2500 {
        let (sketch, model) = random(&mut dice);
        sketch.analysed(|system| {
            for service in 0..model.services {
                let node = &system.amplification.nodes[service];
                let paths = model.paths(service);
                if paths.is_empty() {
                    assert_eq!((node.load.as_f64(), node.worst.as_f64()), (1.0, 1.0));
                    continue;
                }
                let mut products: Vec<(u128, Vec<usize>)> =
                    paths.into_iter().map(|path| (model.product(&path), path)).collect();
                products.sort_by_key(|(product, _)| std::cmp::Reverse(*product));
                let load = causes().into_iter().map(|cause| model.load_of(service, cause)).max().unwrap();
                let at = format!("graph {round}, service {service}");
                assert_eq!(node.worst.as_f64(), products[0].0 as f64, "worst path, {at}");
                assert_eq!(node.load.as_f64(), load as f64, "load, {at}");
                assert_eq!(node.base.as_f64(), model.base(service) as f64, "base, {at}");

                let best = k_best(system, NodeIndex::new(service), 3);
                let found: Vec<u128> = best.iter().map(|path| path.product.as_f64() as u128).collect();
                let expected: Vec<u128> = products.iter().take(3).map(|(product, _)| *product).collect();
                assert_eq!(found, expected, "best paths, {at}");
                for path in best {
                    // The list tells the truth about each path, and its hops multiply to its product.
                    let edges: Vec<usize> = path.hops.iter().rev().map(|hop| hop.edge.index()).collect();
                    assert_eq!(model.product(&edges), path.product.as_f64() as u128, "path {edges:?}, {at}");
                    let hops: f64 = path.hops.iter().map(|hop| hop.factor.tries.as_f64()).product();
                    assert_eq!(hops, path.product.as_f64(), "hops of {edges:?}, {at}");
                }
            }
            for (at, call) in model.calls.iter().enumerate() {
                let tries = |class| ends(call, class, true).into_iter().map(|(tries, _)| tries).max().unwrap();
                let most = causes().into_iter().map(|cause| tries(said_in_if_foreign(call, cause))).max().unwrap();
                let unsent = [Connect, Unsent].map(tries).into_iter().max().unwrap();
                let edge = &system.amplification.edges[EdgeIndex::<u32>::new(at).index()];
                assert_eq!(edge.factor.tries.as_f64(), most as f64, "call {at} of graph {round}");
                let found = edge.unsent.as_ref().map(|(_, factor)| factor.tries.as_f64());
                assert_eq!(found, (unsent > most).then_some(unsent as f64), "unsent, call {at} of graph {round}");
                let parts: f64 = edge.factor.parts.iter().map(|part| part.tries.as_f64()).product();
                assert_eq!(parts, most as f64, "parts of call {at} of graph {round}");
            }
        });
    }
}

/// Of calls that exclude one another the model plays every choice: the load is that of the worst one with rare exceptions, in
/// which it is that of another one, and never below the worst path, since every call is made at least once.
#[test]
fn choices_are_the_worst_that_can_be_made_and_never_below_the_worst_path() {
    let mut dice = Dice(0x0c40_1ce5);
    let (mut looked, mut missed) = (0, 0);
    for round in 0..1500 {
        let (mut sketch, model) = random(&mut dice);
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
    let proxy = |on| Party { is_proxy: true, tries: 3, on };
    let most = |model: &Model, class| {
        let mut now: BTreeSet<(u128, Class)> = BTreeSet::new();
        for call in model.calls.iter().rev() {
            let mut next = BTreeSet::new();
            if now.is_empty() {
                next = ends(call, class, true);
            }
            for (tries, class) in now {
                for class in handler(class, false, model.emits[call.to]) {
                    next.extend(ends(call, class, false).into_iter().map(|(more, class)| (tries * more, class)));
                }
            }
            now = next;
        }
        now.into_iter().map(|(tries, _)| tries).max().unwrap()
    };
    let old = chain(vec![proxy(OLD_ISTIO)], 3, None);
    assert_eq!([Overload, ServerError, Connect].map(|class| most(&old, class)), [27, 1, 27]);
    assert_eq!(most(&chain(vec![proxy(OLD_ISTIO)], 3, Some(ServerError)), Overload), 3);
    let new = chain(vec![proxy(NEW_ISTIO)], 3, None);
    assert_eq!([Overload, Connect].map(|class| most(&new, class)), [1, 3]);
    assert_eq!(most(&chain(vec![proxy(FIVE_XX)], 3, None), Reset), 27);
    assert_eq!(most(&chain(vec![proxy(FIVE_XX)], 2, None), Reset), 9);
    let library = Party { is_proxy: false, tries: 4, on: Classes::ALL };
    let stacked = chain(vec![library, proxy(NEW_ISTIO), proxy(INBOUND)], 1, None);
    assert_eq!([Connect, Overload].map(|class| most(&stacked, class)), [12, 4]);
}
