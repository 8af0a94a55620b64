use petgraph::graph::NodeIndex;

use super::*;
use crate::facts::Operation;
use crate::graph::Net;
use crate::graph::nets::{Sketch, code, written};

fn node_of(mut sketch: Sketch, service: &str) -> NodeLoad {
    let node = sketch.service(service);
    sketch.analysed(|system| system.amplification.nodes[node.index()].clone())
}

/// Load and worst path of a service.
fn of(sketch: Sketch, service: &str) -> (f64, f64) {
    let node = node_of(sketch, service);
    (node.load.as_f64(), node.worst.as_f64())
}

/// Calls `from -> to` with so many tries, whatever fails.
fn plain(calls: &[(&str, &str, u64)]) -> Sketch {
    let mut sketch = Sketch::default();
    for (from, to, tries) in calls {
        sketch.call(from, to, [code(*tries)]);
    }
    sketch
}

/// [T-22]
#[test]
fn a_circle_without_an_end_is_unbounded_and_so_is_what_hangs_on_it() {
    let mut sketch = plain(&[("web", "a", 3), ("a", "b", 2), ("b", "a", 2), ("b", "db", 1), ("web", "cdn", 2)]);
    let nodes = ["a", "b", "db", "cdn"].map(|name| sketch.service(name));
    sketch.analysed(|system| {
        let of = |at: usize| &system.amplification.nodes[nodes[at].index()];
        for at in 0..3 {
            assert_eq!((of(at).load, of(at).worst, of(at).bounded), (Amount::Unbounded, Amount::Unbounded, None));
            assert_eq!(of(at).amplification, f64::INFINITY);
        }
        assert_eq!(of(3).load, Amount::Exact(2));
        let cycle = &system.amplification.cycles[0];
        assert_eq!((cycle.gain, cycle.total, cycle.max_hops), (4.0, Amount::Unbounded, None));
        assert_eq!(cycle.nodes, nodes[..2]);
        assert_eq!(cycle.edges.len(), 2);
    });
}

#[test]
fn a_circle_without_retries_is_endless_load_but_no_amplification() {
    let mut sketch = plain(&[("web", "a", 3), ("a", "b", 1), ("b", "a", 1)]);
    let b = sketch.service("b");
    sketch.analysed(|system| {
        let node = &system.amplification.nodes[b.index()];
        assert_eq!((node.load, node.worst, node.amplification), (Amount::Unbounded, Amount::Exact(3), 3.0));
        assert_eq!(system.amplification.cycles[0].gain, 1.0);
    });
}

/// [T-23]
#[test]
fn a_hop_limit_ends_a_circle() {
    let mut sketch = plain(&[("a", "a", 4), ("a", "db", 2)]);
    sketch.declared("a").max_hops = Some(written(3));
    let (a, db) = (sketch.service("a"), sketch.service("db"));
    sketch.analysed(|system| {
        let of = |node: NodeIndex| &system.amplification.nodes[node.index()];
        assert_eq!((of(a).load, of(a).base, of(a).worst), (Amount::Exact(85), Amount::Exact(4), Amount::Exact(64)));
        assert_eq!((of(db).load, of(db).worst), (Amount::Exact(170), Amount::Exact(128)));
        let cycle = &system.amplification.cycles[0];
        assert_eq!((cycle.gain, cycle.total, cycle.max_hops), (4.0, Amount::Exact(85), Some(3)));
    });
}

/// Two services, three hops: one round and a half. 1 + 2·3 at the first, 2 + 2·3·2 at the second.
#[test]
fn a_hop_limit_counts_calls_and_not_rounds() {
    let mut sketch = plain(&[("a", "b", 2), ("b", "a", 3)]);
    sketch.declared("b").max_hops = Some(written(3));
    let (a, b) = (sketch.service("a"), sketch.service("b"));
    sketch.analysed(|system| {
        let of = |node: NodeIndex| &system.amplification.nodes[node.index()];
        assert_eq!((of(a).load, of(a).worst), (Amount::Exact(7), Amount::Exact(6)));
        assert_eq!((of(b).load, of(b).worst), (Amount::Exact(14), Amount::Exact(12)));
        assert_eq!(system.amplification.cycles[0].gain, 6.0);
    });
    let mut sketch = plain(&[("a", "b", 2), ("b", "a", 3)]);
    sketch.declared("b").max_hops = Some(written(0));
    assert_eq!(of(sketch, "b"), (0.0, 1.0));
}

/// [T-24]
#[test]
fn a_circle_that_fades_has_a_closed_form() {
    let mut sketch = Sketch::default();
    let edge = sketch.call("a", "a", [code(3)]);
    sketch.edge_mut(edge).per_request = 0.1;
    let a = sketch.service("a");
    sketch.analysed(|system| {
        let node = &system.amplification.nodes[a.index()];
        assert!((node.load.as_f64() - 1.428_571_428_571).abs() < 1e-9);
        assert!((node.base.as_f64() - 1.111_111_111_111).abs() < 1e-9);
        assert_eq!(node.worst, Amount::Exact(3));
        let cycle = &system.amplification.cycles[0];
        assert!((cycle.gain - 0.3).abs() < 1e-12);
        assert!((cycle.total.as_f64() - 1.428_571_428_571).abs() < 1e-9);
    });
}

/// Two circles through one service, gains 0.25 and 0.5: 1 / (1 − 0.75) = 4. With 0.5 and 0.5 there is no end.
#[test]
fn circles_that_share_a_service_add_up() {
    let knot = |second: f64| {
        let mut sketch = plain(&[("a", "b", 1), ("a", "c", 1)]);
        for (from, share) in [("b", 0.25), ("c", second)] {
            let edge = sketch.call(from, "a", [code(1)]);
            sketch.edge_mut(edge).per_request = share;
        }
        node_of(sketch, "a").load
    };
    assert!((knot(0.5).as_f64() - 4.0).abs() < 1e-9);
    assert_eq!(knot(0.75), Amount::Unbounded);
}

/// D-15
#[test]
fn operations_that_differ_close_no_circle() {
    let circle = |back: &str| {
        let mut sketch = plain(&[("web", "a", 3)]);
        for (from, to, operation) in [("a", "b", "POST /charge"), ("b", "a", back)] {
            let edge = sketch.call(from, to, [code(2)]);
            sketch.edge_mut(edge).operation = Some(Operation::parse(operation));
        }
        sketch
    };
    assert_eq!(of(circle("POST /charge"), "b").0, f64::INFINITY);
    // The webhook reaches a: 3 + 3·2·2, and calls nobody from there.
    assert_eq!(of(circle("POST /webhook"), "b"), (6.0, 6.0));
    assert_eq!(of(circle("POST /webhook"), "a"), (15.0, 12.0));
    circle("POST /webhook").analysed(|system| assert!(system.amplification.cycles.is_empty()));
    // The near miss: one of both is unknown.
    let mut sketch = circle("POST /webhook");
    let last = sketch.net.graph.edge_indices().next_back().unwrap();
    sketch.edge_mut(last).operation = None;
    assert_eq!(of(sketch, "b").0, f64::INFINITY);
}

/// D-5
#[test]
fn a_circle_that_nothing_enters_has_one_root() {
    let mut sketch = plain(&[("zeta", "alpha", 2), ("alpha", "zeta", 3)]);
    sketch.declared("zeta").max_hops = Some(written(1));
    let (alpha, zeta) = (sketch.service("alpha"), sketch.service("zeta"));
    sketch.analysed(|system| {
        assert_eq!(system.amplification.nodes[alpha.index()].load, Amount::ONE);
        assert_eq!(system.amplification.nodes[zeta.index()].load, Amount::Exact(3));
    });
}

/// A deep chain must not cost the stack.
#[test]
fn a_chain_of_thirty_thousand_hops_is_walked() {
    let mut sketch = Sketch::default();
    let mut from = sketch.add("n");
    for _ in 0..30_000 {
        let to = sketch.add("n");
        let edge = sketch.edge(Vec::new());
        sketch.net.graph.add_edge(from, to, edge);
        from = to;
    }
    // And once more as a circle, which goes through the search for components.
    let closed = {
        let mut net = Net { graph: sketch.net.graph.clone(), ..Net::default() };
        let edge = sketch.edge(Vec::new());
        net.graph.add_edge(from, NodeIndex::new(0), edge);
        Sketch { facts: sketch.facts.clone(), net }
    };
    sketch.analysed(|system| assert_eq!(system.amplification.nodes[from.index()].load, Amount::ONE));
    closed.analysed(|system| assert_eq!(system.amplification.nodes[from.index()].load, Amount::Unbounded));
}

/// A repeatable stream of numbers (xorshift).
fn dice(seed: &mut u64, below: u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed >> 11) % below
}

/// Knots with a hop limit against all walks of so many hops, counted one hop after the other.
#[test]
fn limited_knots_agree_with_a_count_of_walks() {
    let mut seed = 0x2026_1130;
    for round in 0..300 {
        let size = dice(&mut seed, 4) as usize + 1;
        let hops = dice(&mut seed, 5);
        let mut sketch = Sketch::default();
        let entry = sketch.add("web");
        let nodes: Vec<NodeIndex> = (0..size).map(|i| sketch.add(&format!("n{i}"))).collect();
        let sink = sketch.add("z");
        // A ring, so that all of it is one knot, and some calls across.
        let mut calls: Vec<(usize, usize, u128)> =
            (0..size).map(|i| (i, (i + 1) % size, u128::from(dice(&mut seed, 3) + 1))).collect();
        for _ in 0..dice(&mut seed, 3) {
            let (from, to) = (dice(&mut seed, size as u64) as usize, dice(&mut seed, size as u64) as usize);
            calls.push((from, to, u128::from(dice(&mut seed, 3) + 1)));
        }
        for (from, to, tries) in &calls {
            let edge = sketch.edge(vec![vec![vec![code(*tries as u64)]]]);
            sketch.net.graph.add_edge(nodes[*from], nodes[*to], edge);
        }
        let edge = sketch.edge(vec![vec![vec![code(2)]]]);
        sketch.net.graph.add_edge(entry, nodes[0], edge);
        let edge = sketch.edge(vec![vec![vec![code(3)]]]);
        sketch.net.graph.add_edge(nodes[size - 1], sink, edge);
        sketch.net.graph[nodes[0]].service.max_hops = Some(written(hops));

        let (mut load, mut worst) = (vec![0; size], vec![0; size]);
        (load[0], worst[0]) = (2, 2);
        let (mut all, mut most) = (load.clone(), worst.clone());
        for _ in 0..hops {
            let (mut next, mut far) = (vec![0; size], vec![0; size]);
            for (from, to, tries) in &calls {
                next[*to] += load[*from] * tries;
                far[*to] = far[*to].max(worst[*from] * tries);
            }
            (load, worst) = (next, far);
            all.iter_mut().zip(&load).for_each(|(all, now)| *all += now);
            most.iter_mut().zip(&worst).for_each(|(most, now)| *most = (*most).max(*now));
        }
        sketch.analysed(|system| {
            let of = |node: NodeIndex| {
                let node = &system.amplification.nodes[node.index()];
                (node.load, node.worst)
            };
            for at in 0..size {
                let expected = (Amount::Exact(all[at]), Amount::Exact(most[at].max(1)));
                assert_eq!(of(nodes[at]), expected, "knot {round}, service {at}");
            }
            let (load, worst) = (all[size - 1] * 3, (most[size - 1] * 3).max(1));
            assert_eq!(of(sink), (Amount::Exact(load), Amount::Exact(worst)), "below knot {round}");
        });
    }
}

/// Any tangle of calls is analysed without a panic, and what is said about it holds together.
#[test]
fn tangles_of_every_kind_are_analysed() {
    use crate::graph::nets::{FIVE_XX, OLD_ISTIO, sidecar, timed};
    let mut seed = 0xbadc_0ffe;
    for _ in 0..150 {
        let size = dice(&mut seed, 7) + 1;
        let mut sketch = Sketch::default();
        let nodes: Vec<NodeIndex> = (0..size).map(|i| sketch.add(&format!("n{i}"))).collect();
        for _ in 0..dice(&mut seed, 14) {
            let pick = |seed: &mut u64| nodes[dice(seed, size) as usize];
            let (from, to) = (pick(&mut seed), pick(&mut seed));
            let set = [FIVE_XX, OLD_ISTIO][dice(&mut seed, 2) as usize];
            let policies = [code(dice(&mut seed, 3) + 1), sidecar(dice(&mut seed, 3) + 1, set)];
            let layers = policies.into_iter().take(dice(&mut seed, 3) as usize);
            let layers = layers.map(|policy| vec![vec![timed(Some(1000), Some(8000), policy)]]).collect();
            let mut edge = sketch.edge(layers);
            edge.per_request = [1.0, 1.0, 2.0, 0.5, 0.1, 0.0][dice(&mut seed, 6) as usize];
            edge.one_of = (dice(&mut seed, 4) == 0).then(|| "either".into());
            edge.is_async = dice(&mut seed, 5) == 0;
            edge.operation = match dice(&mut seed, 3) {
                0 => None,
                1 => Some(Operation::parse("GET /a")),
                _ => Some(Operation::parse("GET /b")),
            };
            sketch.net.graph.add_edge(from, to, edge);
        }
        sketch.analysed(|system| {
            for node in &nodes {
                let told = &system.amplification.nodes[node.index()];
                assert!(told.worst >= Amount::ONE, "{told:?}");
                assert!(told.load.as_f64() >= told.base.as_f64() * 0.999_999 || told.base.is_unbounded(), "{told:?}");
                assert!(told.amplification >= 0.999_999, "{told:?}");
                let best = crate::graph::paths::k_best(system, *node, 3, crate::graph::paths::By::Tries);
                assert!(best.iter().all(|path| path.product.tries <= told.worst), "{best:?} above {told:?}");
                crate::graph::outage::hard_outage(system, *node);
            }
            for cycle in &system.amplification.cycles {
                assert_eq!((cycle.nodes.len(), cycle.gain >= 0.0), (cycle.edges.len(), true));
            }
        });
    }
}
