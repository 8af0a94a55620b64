use super::*;
use crate::facts::{Caller, Class, Classes, Dialect, Jitter};
use crate::graph::fixtures::Tree;
use crate::graph::nets::{INBOUND, NEW_ISTIO, Sketch, at, code, on, sidecar, timed, waiting, written};

fn secs(n: u64) -> Nanos {
    Nanos::from_secs(n)
}

fn millis(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

/// M-6, where it is written for the callee: a DestinationRule's `connectTimeout`.
#[test]
fn connecting_counts_where_it_is_written_for_the_callee() {
    let with_upstream = |connect: Option<u64>| {
        let mut tree = Tree::default();
        let upstream = tree.upstream("mesh.yaml", Dialect::Istio, Caller::ByPath, "db");
        if let Some(millis) = connect {
            upstream.connect_timeout = written(Limit::At(Nanos::from_millis(millis)));
        }
        let mut sketch = Sketch { facts: tree.facts, ..Sketch::default() };
        let mut policy = timed(Some(200), Some(5000), code(3));
        policy.connect_timeout =
            Some(crate::facts::Sourced::default_of(Limit::At(secs(10)), "Istio", "connectTimeout"));
        let edge = sketch.call("web", "db", [policy]);
        sketch.edge_mut(edge).layers[0].alternatives[0].upstream = Some(0);
        sketch.analysed(|system| system.deadlines.edges[edge.index()].slowest)
    };
    assert_eq!(with_upstream(Some(500)), Some(millis(2100)));
    assert_eq!(with_upstream(None), Some(millis(600)));
}

/// [T-43]
#[test]
fn a_caller_that_leaves_early_abandons_the_rest() {
    let mut sketch = Sketch::default();
    let outer = sketch.call("web", "shop", [timed(Some(2000), None, code(3))]);
    let inner = sketch.call("shop", "db", [timed(Some(1000), None, waiting(&[100, 200], Jitter::NONE, code(3)))]);
    let shop = sketch.service("shop");
    sketch.analysed(|system| {
        let node = system.deadlines.nodes[shop.index()];
        assert_eq!(node, NodeTime { slowest: Some(millis(3300)), retries_below: true, is_written: true });
        assert_eq!(system.deadlines.edges[inner.index()].slowest, Some(millis(3300)));
        let edge = system.deadlines.edges[outer.index()];
        assert_eq!((edge.gives_up, edge.slowest), (Some(secs(2)), Some(secs(6))));
        assert!((abandoned_share(secs(2), millis(3300)) - 0.394).abs() < 1e-3);
    });
}

/// [T-45]: the total of the client's own is what ends it.
#[test]
fn an_outer_total_ends_inner_tries() {
    let mut sketch = Sketch::default();
    let client = timed(None, Some(15_000), code(1));
    let retry = timed(Some(25_000), None, code(4));
    let edge = sketch.layered("web", "db", vec![vec![vec![client, retry]]]);
    sketch.analysed(|system| {
        let edge = system.deadlines.edges[edge.index()];
        assert_eq!((edge.slowest, edge.gives_up), (Some(secs(15)), Some(secs(15))));
    });
}

#[test]
fn layers_fold_from_the_inside_out() {
    // The sidecar: 3 × 1 s. The loop around it: 2 × min(10 s, 3 s) + 0.5 s.
    let mut sketch = Sketch::default();
    let outer = timed(Some(10_000), None, waiting(&[500], Jitter::NONE, code(2)));
    let inner = timed(Some(1000), None, sidecar(3, crate::facts::Classes::ALL));
    let edge = sketch.call("web", "db", [outer, inner]);
    sketch.analysed(|system| {
        let edge = system.deadlines.edges[edge.index()];
        assert_eq!(edge.slowest, Some(millis(6500)));
        assert_eq!(edge.gives_up, Some(secs(1)));
        assert_eq!(edge.gives_up_by, Some(PolicyId(1)));
    });
}

#[test]
fn of_alternatives_the_slowest_counts() {
    let route = |limit| timed(limit, None, sidecar(3, crate::facts::Classes::ALL));
    let slowest = |routes: [Option<u64>; 2]| {
        let mut sketch = Sketch::default();
        let edge = sketch.layered("web", "db", vec![routes.map(|limit| vec![route(limit)]).to_vec()]);
        sketch.analysed(|system| system.deadlines.edges[edge.index()])
    };
    let both = slowest([Some(1000), Some(2000)]);
    assert_eq!((both.slowest, both.gives_up), (Some(secs(6)), Some(secs(2))));
    let one = slowest([Some(1000), None]);
    assert_eq!((one.slowest, one.gives_up), (None, None));
}

#[test]
fn the_callees_own_limits_are_nobody_giving_up() {
    let mut sketch = Sketch::default();
    let inbound = at(Position::ServerSidecar, timed(Some(1000), None, sidecar(2, crate::facts::Classes::ALL)));
    let edge = sketch.call("web", "db", [inbound]);
    sketch.analysed(|system| {
        let edge = system.deadlines.edges[edge.index()];
        assert_eq!((edge.slowest, edge.gives_up), (Some(secs(2)), None));
    });
}

#[test]
fn calls_run_one_after_the_other_unless_they_are_said_to_run_at_once() {
    let slowest = |parallel: bool, timeout: Option<u64>| {
        let mut sketch = Sketch::default();
        let twice = sketch.call("shop", "a", [timed(Some(1000), None, code(1))]);
        sketch.edge_mut(twice).per_request = 2.0;
        sketch.call("shop", "b", [timed(Some(3000), None, code(1))]);
        let event = sketch.call("shop", "audit", [timed(Some(60_000), None, code(9))]);
        sketch.edge_mut(event).is_async = true;
        for (callee, millis) in [("x", 4000), ("y", 500)] {
            let edge = sketch.call("shop", callee, [timed(Some(millis), None, code(1))]);
            sketch.edge_mut(edge).one_of = Some("either".into());
        }
        sketch.declared("shop").parallel = Some(written(parallel));
        sketch.declared("shop").timeout = timeout.map(|millis| written(Nanos::from_millis(millis)));
        let shop = sketch.service("shop");
        sketch.analysed(|system| system.deadlines.nodes[shop.index()])
    };
    // 2 × 1 s + 3 s + the greater of 4 s and 0.5 s; the event is not waited for.
    assert_eq!(slowest(false, None), NodeTime { slowest: Some(secs(9)), retries_below: false, is_written: true });
    assert_eq!(slowest(true, None).slowest, Some(secs(4)));
    assert_eq!(slowest(false, Some(2500)).slowest, Some(millis(2500)));
}

#[test]
fn a_call_without_limits_leaves_its_caller_without_a_bound() {
    let mut sketch = Sketch::default();
    sketch.call("shop", "a", [timed(Some(1000), None, code(2))]);
    sketch.call("shop", "b", []);
    let edge = sketch.call("web", "shop", [timed(None, Some(2000), code(1))]);
    let shop = sketch.service("shop");
    sketch.analysed(|system| {
        assert_eq!(system.deadlines.nodes[shop.index()].slowest, None);
        assert!(system.deadlines.nodes[shop.index()].retries_below);
        let edge = system.deadlines.edges[edge.index()];
        assert_eq!((edge.slowest, edge.gives_up), (Some(secs(2)), Some(secs(2))));
    });
}

#[test]
fn services_in_a_circle_have_no_bound_but_their_own() {
    let mut sketch = Sketch::default();
    let there = sketch.call("a", "b", [timed(Some(1000), None, code(2))]);
    sketch.call("b", "a", [timed(Some(1000), None, code(2))]);
    sketch.declared("b").timeout = Some(written(millis(700)));
    let (a, b) = (sketch.service("a"), sketch.service("b"));
    sketch.analysed(|system| {
        assert_eq!(system.deadlines.nodes[a.index()].slowest, None);
        assert_eq!(system.deadlines.nodes[b.index()].slowest, Some(millis(700)));
        assert!(system.deadlines.nodes[a.index()].retries_below);
        assert_eq!(system.deadlines.edges[there.index()].slowest, Some(millis(1400)));
    });
}

/// Two defaults of Istio at every hop repeat what never arrived. `db` is waited for 10 s and no longer: the answers of both
/// services above take as long, and the delays between three tries at each of two layers come on top.
#[test]
fn a_mesh_that_repeats_refused_connections_makes_nothing_slower() {
    let mesh = || {
        let layer = |policy| waiting(&[25, 50], Jitter::NONE, policy);
        [layer(sidecar(3, NEW_ISTIO)), layer(at(Position::ServerSidecar, sidecar(3, INBOUND)))]
    };
    let chain = |grpc: bool| {
        let mut sketch = Sketch::default();
        for (from, to, limit) in [("edge", "web", Some(15_000)), ("web", "api", None), ("api", "db", Some(10_000))] {
            sketch.call(from, to, [timed(limit, None, code(1))].into_iter().chain(mesh()));
        }
        let edge = EdgeIndex::new(0);
        let nodes = ["web", "api"].map(|name| sketch.service(name));
        let sketch = if grpc { sketch.all_grpc() } else { sketch };
        sketch.analysed(|system| {
            let slowest = nodes.map(|node| system.deadlines.nodes[node.index()].slowest);
            (slowest, system.deadlines.nodes[nodes[0].index()].retries_below, inversion(system, edge))
        })
    };
    // 10 s; and 10 s + 2 × 75 ms, which `edge` waits for. No retry matters.
    assert_eq!(chain(false), ([Some(millis(10_150)), Some(secs(10))], false, None));
    // Of gRPC the default repeats `unavailable`, which a callee may answer late: 3 × (10 s + 75 ms) + 75 ms.
    let (slowest, retries, inversion) = chain(true);
    assert_eq!((slowest, retries), ([Some(millis(30_300)), Some(secs(10))], true));
    assert_eq!(inversion.map(|found| (found.gives_up, found.slowest)), Some((secs(15), millis(30_300))));
}

/// Connections that are refused are repeated for 2 × 10 s, when the caller has left after 5 s.
#[test]
fn delays_alone_may_go_on_for_nobody() {
    let inverted = |delay: u64| {
        let mut sketch = Sketch::default();
        let edge = sketch.call("web", "api", [timed(Some(5000), None, code(1))]);
        let connect = on(Classes::of(&[Class::Connect]), code(3));
        sketch.call("api", "db", [timed(Some(6000), None, waiting(&[delay, delay], Jitter::NONE, connect))]);
        sketch.analysed(|system| inversion(system, edge))
    };
    let found = inverted(10_000).unwrap();
    assert_eq!((found.slowest, found.orphan), (secs(26), Some(secs(20))));
    // With 20 ms between them what is late is the one answer, which no retry makes later.
    assert_eq!(inverted(20), None);
}
