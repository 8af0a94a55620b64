use petgraph::graph::EdgeIndex;

use super::*;
use crate::facts::{Attempts, Budget, BudgetBase, Classes, Floor, Hedging, Limit, Nanos, Policy, Position, Sourced};
use crate::graph::nets::{
    FIVE_XX, INBOUND, NEW_ISTIO, OLD_ISTIO, Sketch, at, code, of_unknown_tries, on, sidecar, unknown, waiting, written,
};

#[path = "amplification_budget_tests.rs"]
mod budgets;

/// Load and worst path of a service.
fn of(sketch: Sketch, service: &str) -> (f64, f64) {
    let node = node_of(sketch, service);
    (node.load.as_f64(), node.worst.as_f64())
}

fn node_of(mut sketch: Sketch, service: &str) -> NodeLoad {
    let node = sketch.service(service);
    sketch.analysed(|system| system.amplification.nodes[node.index()].clone())
}

fn edge_of(sketch: Sketch, edge: EdgeIndex) -> EdgeLoad {
    sketch.analysed(|system| system.amplification.edges[edge.index()].clone())
}

/// Calls `from -> to` with so many tries, whatever fails.
fn plain(calls: &[(&str, &str, u64)]) -> Sketch {
    let mut sketch = Sketch::default();
    for (from, to, tries) in calls {
        sketch.call(from, to, [code(*tries)]);
    }
    sketch
}

/// web -> a -> b -> ledger with the same layers on every call.
fn chain(layers: &dyn Fn() -> Vec<Policy>) -> Sketch {
    let mut sketch = Sketch::default();
    for (from, to) in [("web", "a"), ("a", "b"), ("b", "ledger")] {
        sketch.call(from, to, layers());
    }
    sketch
}

/// The tries of every class on one call, connection attempts included.
fn tries_of(sketch: &Sketch, edge: EdgeIndex, class: Class) -> u64 {
    let tries = Tries::new(&sketch.facts);
    let view = View::new(&sketch.net.graph[edge], Traffic::default());
    tries.most(view, class, Hop::Last, &mut Scratch::default()).tries.as_f64() as u64
}

/// Requests (or connection attempts) at the end of a chain if its leaf fails with `class`: worst over what handlers make
/// of it.
fn at_the_leaf(sketch: &Sketch, class: Class) -> u64 {
    let tries = Tries::new(&sketch.facts);
    let mut scratch = Scratch::default();
    let mut states: Vec<(Class, u64)> = Vec::new();
    for at in (0..sketch.net.graph.edge_count()).rev().map(EdgeIndex::new) {
        let view = View::new(&sketch.net.graph[at], Traffic::default());
        let (_, callee) = sketch.net.graph.edge_endpoints(at).unwrap();
        let from: Vec<(Class, u64, Hop)> = if states.is_empty() {
            vec![(class, 1, Hop::Last)]
        } else {
            let answered = |(class, n): &(Class, u64)| {
                let n = *n;
                answers(*class, view.protocol, emits(&sketch.net, callee))
                    .iter()
                    .map(move |c| (c, n, Hop::Above))
                    .collect::<Vec<_>>()
            };
            states.iter().flat_map(answered).collect()
        };
        states = from
            .into_iter()
            .flat_map(|(class, n, hop)| {
                let out = tries.outcomes(view, class, hop, &mut scratch).to_vec();
                out.into_iter().map(move |o| (o.class, n * o.product.tries.as_f64() as u64))
            })
            .collect();
    }
    states.into_iter().map(|(_, n)| n).max().unwrap()
}

/// [T-05], [T-06], [T-07]
#[test]
fn tries_multiply_along_a_chain() {
    let three = [("a", "b", 3), ("b", "c", 3), ("c", "d", 3), ("d", "e", 3), ("e", "f", 3)];
    let loads: Vec<f64> = ["a", "b", "c", "d"].map(|service| of(plain(&three[..3]), service).0).to_vec();
    assert_eq!(loads, [1.0, 3.0, 9.0, 27.0]);
    let four = [("a", "b", 4), ("b", "c", 4), ("c", "d", 4)];
    let loads: Vec<f64> = ["a", "b", "c", "d"].map(|service| of(plain(&four), service).0).to_vec();
    assert_eq!(loads, [1.0, 4.0, 16.0, 64.0]);
    assert_eq!(of(plain(&three), "f"), (243.0, 243.0));
}

/// [T-08]
#[test]
fn loads_add_up_where_paths_meet() {
    let diamond = [("root", "x", 2), ("root", "y", 3), ("x", "d", 3), ("y", "d", 2)];
    assert_eq!(of(plain(&diamond), "x").0, 2.0);
    assert_eq!(of(plain(&diamond), "y").0, 3.0);
    assert_eq!(of(plain(&diamond), "d"), (12.0, 6.0));
    assert_eq!(node_of(plain(&diamond), "d").amplification, 6.0);
}

/// [T-09]
#[test]
fn many_callers_are_no_amplification() {
    for (tries, load) in [(3, 30.0), (4, 40.0)] {
        let mut sketch = Sketch::default();
        (0..10).for_each(|i| {
            sketch.call(&format!("caller-{i}"), "s", [code(tries)]);
        });
        let node = node_of(sketch, "s");
        assert_eq!((node.load.as_f64(), node.base.as_f64()), (load, 10.0));
        assert_eq!((node.amplification, node.worst.as_f64()), (tries as f64, tries as f64));
    }
}

/// [T-10]
#[test]
fn fan_out_is_load_and_no_amplification() {
    let mut sketch = Sketch::default();
    let twice = sketch.call("api", "db", [code(1)]);
    sketch.edge_mut(twice).per_request = 2.0;
    sketch.call("api", "ext", [code(4)]);
    let db = sketch.service("db");
    let ext = sketch.service("ext");
    sketch.analysed(|system| {
        let of = |node: NodeIndex| &system.amplification.nodes[node.index()];
        assert_eq!((of(db).load, of(db).worst, of(db).amplification), (Amount::Exact(2), Amount::ONE, 1.0));
        assert_eq!((of(ext).load, of(ext).worst), (Amount::Exact(4), Amount::Exact(4)));
    });
}

/// [T-11]: 2^40 paths, and every edge is looked at once.
#[test]
fn forty_diamonds_cost_a_visit_to_each_edge() {
    let mut sketch = Sketch::default();
    for i in 0..40 {
        for side in ["left", "right"] {
            let side = format!("{side}-{i}");
            sketch.call(&format!("n-{i}"), &side, [code(1)]);
            sketch.call(&side, &format!("n-{}", i + 1), [code(1)]);
        }
    }
    let (root, last) = (sketch.service("n-0"), sketch.service("n-40"));
    let (tries, order) = (Tries::new(&sketch.facts), Order::new(&sketch.net));
    let alike = Alike::new(&tries, &sketch.net);
    let entries: Vec<Amount> =
        sketch.net.graph.node_indices().map(|node| if node == root { Amount::ONE } else { Amount::ZERO }).collect();
    let (nodes, _, visits) = Walk::new(&sketch.net, (&tries, &alike, &order), &[], &entries).run();
    assert_eq!(nodes[last.index()].load, Amount::Exact(1_099_511_627_776));
    assert_eq!((visits, sketch.net.graph.edge_count()), (160, 160));
}

/// [T-12]
#[test]
fn of_a_choice_only_the_greatest_counts() {
    let diamond = |group: Option<&str>| {
        let mut sketch = Sketch::default();
        for (to, tries) in [("x", 2), ("y", 3)] {
            let edge = sketch.call("root", to, [code(tries)]);
            sketch.edge_mut(edge).one_of = group.map(Into::into);
        }
        sketch.call("x", "d", [code(3)]);
        sketch.call("y", "d", [code(2)]);
        sketch.call("d", "e", [code(2)]);
        sketch
    };
    assert_eq!(of(diamond(Some("route")), "d"), (6.0, 6.0));
    assert_eq!(of(diamond(Some("route")), "e"), (12.0, 12.0));
    assert_eq!(node_of(diamond(Some("route")), "d").base, Amount::ONE);
    assert_eq!(of(diamond(None), "d"), (12.0, 6.0));

    // Two choices that lead to the same service, and a call beside them.
    let mut sketch = Sketch::default();
    for tries in [2, 5] {
        let edge = sketch.call("root", "d", [code(tries)]);
        sketch.edge_mut(edge).one_of = Some("route".into());
    }
    sketch.call("root", "d", [code(1)]);
    assert_eq!(of(sketch, "d"), (6.0, 5.0));
}

/// [T-21]
#[test]
fn all_classes_hold_those_that_no_retry_helps() {
    let mut sketch = Sketch::default();
    let edge = sketch.call("web", "auth", [code(4)]);
    assert_eq!(tries_of(&sketch, edge, Class::ClientError), 4);
    // The near miss: server errors only.
    let edge = sketch.call("web", "db", [on(FIVE_XX, code(4))]);
    assert_eq!(tries_of(&sketch, edge, Class::ClientError), 1);
}

/// [T-15], [T-16], [T-17], [T-18], [T-66]
#[test]
fn layers_of_one_edge_multiply() {
    let of_layers = |policies: Vec<Policy>| {
        let mut sketch = Sketch::default();
        sketch.call("app", "sdk", policies);
        of(sketch, "sdk").1
    };
    let nest = |counts: &[u64]| {
        let mut sketch = Sketch::default();
        sketch.layered("app", "api", vec![vec![counts.iter().map(|n| code(*n)).collect()]]);
        of(sketch, "api").1
    };
    assert_eq!((nest(&[3, 3, 5]), nest(&[3, 5])), (45.0, 15.0));
    assert_eq!((nest(&[4, 3]), nest(&[4, 1])), (12.0, 4.0));
    assert_eq!(nest(&[3, 3]), 9.0);
    // Polly's four tries around Istio's default before 1.24, for a 503.
    assert_eq!(of_layers(vec![code(4), sidecar(3, OLD_ISTIO)]), 12.0);
    assert_eq!(of_layers(vec![at(Position::Broker, code(5)), at(Position::Consumer, code(3)), code(3)]), 45.0);
}

/// [T-18], since Istio 1.24: no request, but connection attempts.
#[test]
fn what_never_arrives_is_no_load() {
    let mut sketch = Sketch::default();
    let edge = sketch.call("app", "api", [code(4), sidecar(3, NEW_ISTIO)]);
    let load = edge_of(sketch, edge);
    assert_eq!((load.class, load.factor.tries), (Class::Overload, Amount::Exact(4)));
    let (class, factor) = load.unsent.unwrap();
    assert_eq!((class, factor.tries, factor.parts.len()), (Class::Connect, Amount::Exact(12), 2));
    // The near miss: where everything that arrives is retried as often, there is nothing more to say.
    let mut sketch = Sketch::default();
    let edge = sketch.call("app", "api", [code(4), sidecar(3, OLD_ISTIO)]);
    assert!(edge_of(sketch, edge).unsent.is_none());
}

/// [T-19], [T-19b], M-49
#[test]
fn a_layer_multiplies_only_for_what_it_retries() {
    let old = chain(&|| vec![sidecar(3, OLD_ISTIO)]);
    assert_eq!((at_the_leaf(&old, Class::Overload), at_the_leaf(&old, Class::ServerError)), (27, 1));
    assert_eq!(at_the_leaf(&old, Class::Connect), 27);
    assert_eq!(of(old, "ledger"), (27.0, 27.0));

    let new = chain(&|| vec![sidecar(3, NEW_ISTIO)]);
    assert_eq!((at_the_leaf(&new, Class::Overload), at_the_leaf(&new, Class::Connect)), (1, 3));
    assert_eq!(of(new, "ledger"), (1.0, 1.0));

    let five = chain(&|| vec![sidecar(3, FIVE_XX)]);
    for class in [Class::Overload, Class::Connect, Class::Reset, Class::ServerError] {
        assert_eq!(at_the_leaf(&five, class), 27, "{}", class.name());
    }
    assert_eq!(of(five, "ledger"), (27.0, 27.0));
}

/// [T-21]: what is wrong with the request stays wrong, and costs every try all the same.
#[test]
fn permanent_errors_cost_all_tries_where_they_are_retried() {
    let three_tries = |on_classes: Classes| chain(&|| vec![on(on_classes, code(3))]);
    assert_eq!(at_the_leaf(&three_tries(Classes::ALL), Class::ClientError), 27);
    assert_eq!(at_the_leaf(&three_tries(Classes::of(&[Class::ClientError])), Class::ClientError), 27);
    // The near miss: all 5xx and no 4xx.
    assert_eq!(at_the_leaf(&three_tries(FIVE_XX), Class::ClientError), 1);
}

/// [T-20], M-49
#[test]
fn a_service_that_answers_500_stops_what_retries_503() {
    let mut sketch = chain(&|| vec![sidecar(3, OLD_ISTIO)]);
    sketch.declared("b").emits = Some(written(Class::ServerError));
    assert_eq!(at_the_leaf(&sketch, Class::Overload), 3);
    assert_eq!(of(sketch, "ledger"), (3.0, 3.0));
}

/// D-10, M-49: a library of four over both Istio defaults: 12 connection attempts, never 36; 4 requests.
#[test]
fn a_library_over_both_istio_defaults_on_http() {
    let both = |set| vec![code(4), sidecar(3, set), at(Position::ServerSidecar, sidecar(3, INBOUND))];
    let mut sketch = Sketch::default();
    let edge = sketch.call("web", "shop", both(NEW_ISTIO));
    assert_eq!((tries_of(&sketch, edge, Class::Connect), tries_of(&sketch, edge, Class::Overload)), (12, 4));
    assert_eq!(of(sketch, "shop").1, 4.0);
    // Before 1.24, with 503 in the set, the second of both connection failures multiplies through.
    let mut sketch = Sketch::default();
    let edge = sketch.call("web", "shop", both(OLD_ISTIO));
    assert_eq!(tries_of(&sketch, edge, Class::Overload), 12);
    assert_eq!(of(sketch, "shop").1, 12.0);
}

/// D-10, M-3: on gRPC every Envoy hands out UNAVAILABLE, which Istio's default retries.
#[test]
fn istio_defaults_multiply_on_grpc() {
    let chain = chain(&|| vec![sidecar(3, NEW_ISTIO)]).all_grpc();
    assert_eq!((at_the_leaf(&chain, Class::Connect), at_the_leaf(&chain, Class::Reset)), (27, 9));
    // An UNAVAILABLE of the leaf itself passes through every hop.
    assert_eq!(of(chain, "ledger"), (27.0, 27.0));

    let mut sketch = Sketch::default();
    let edge = sketch.call("web", "shop", [code(4), sidecar(3, NEW_ISTIO)]);
    let sketch = sketch.all_grpc();
    assert_eq!(tries_of(&sketch, edge, Class::Connect), 12);
    assert_eq!((tries_of(&sketch, edge, Class::Unavailable), tries_of(&sketch, edge, Class::Reset)), (12, 4));
    assert_eq!(of(sketch, "shop").1, 12.0);

    // With an inbound policy as well: 36 connection attempts (measured), still 12 requests.
    let mut sketch = Sketch::default();
    let inbound = at(Position::ServerSidecar, sidecar(3, INBOUND));
    let edge = sketch.call("web", "shop", [code(4), sidecar(3, NEW_ISTIO), inbound]);
    let sketch = sketch.all_grpc();
    assert_eq!(tries_of(&sketch, edge, Class::Connect), 36);
    assert_eq!(of(sketch, "shop").1, 12.0);
}

/// M-48: two Envoys, one behind the other.
#[test]
fn stacked_envoys_are_as_measured() {
    let stacked = |outer: Classes, inner: Classes, class| {
        let mut sketch = Sketch::default();
        let edge = sketch.call("web", "shop", [sidecar(3, outer), at(Position::Gateway, sidecar(3, inner))]);
        tries_of(&sketch, edge, class)
    };
    for class in [Class::Overload, Class::ServerError, Class::Connect, Class::Reset, Class::TryTimeout] {
        assert_eq!(stacked(FIVE_XX, FIVE_XX, class), 9, "{}", class.name());
    }
    let everything = Classes::HTTP;
    assert_eq!(stacked(Classes::of(&[Class::Connect]), everything, Class::Connect), 3);
    assert_eq!(stacked(Classes::of(&[Class::Reset]), everything, Class::Reset), 3);
    let gateway_error = FIVE_XX.without(Classes::of(&[Class::ServerError]));
    assert_eq!(stacked(gateway_error, FIVE_XX, Class::ServerError), 3);
}

/// M-4: what an overflowing Envoy sheds is a 503 to the Envoy in front, and never arrives.
#[test]
fn shed_requests_are_retried_in_front_and_are_no_load() {
    let mut sketch = Sketch::default();
    let inner = at(Position::Gateway, sidecar(1, Classes::NONE));
    let edge = sketch.call("web", "shop", [sidecar(3, Classes::of(&[Class::BreakerOpen])), inner]);
    assert_eq!(tries_of(&sketch, edge, Class::BreakerOpen), 3);
    assert_eq!(of(sketch, "shop").1, 1.0);
}

#[test]
fn a_failure_crosses_from_http_to_grpc_and_back() {
    let mut sketch = Sketch::default();
    let unavailable = Classes::of(&[Class::Unavailable]);
    let overload = Classes::of(&[Class::Overload]);
    let grpc = sketch.call("web", "shop", [on(unavailable, code(3))]);
    sketch.edge_mut(grpc).protocol = Some(Protocol::Grpc);
    sketch.call("shop", "ledger", [on(overload, code(3))]);
    let back = sketch.call("mobile", "web", [on(overload, code(2))]);
    sketch.edge_mut(back).protocol = Some(Protocol::Http);
    assert_eq!(of(sketch, "ledger"), (18.0, 18.0));
}

#[test]
fn callers_of_both_protocols_see_the_same_outage() {
    let mut sketch = Sketch::default();
    sketch.call("web", "db", [on(Classes::of(&[Class::Overload]), code(3))]);
    let grpc = sketch.call("app", "db", [on(Classes::of(&[Class::Unavailable]), code(2))]);
    sketch.edge_mut(grpc).protocol = Some(Protocol::Grpc);
    let node = node_of(sketch, "db");
    assert_eq!((node.load, node.worst, node.class), (Amount::Exact(5), Amount::Exact(3), Some(Class::Overload)));
}

/// D-6
#[test]
fn alternatives_do_not_multiply() {
    let routes = vec![vec![sidecar(3, FIVE_XX)], vec![sidecar(5, NEW_ISTIO)], vec![sidecar(2, FIVE_XX)]];
    let mut sketch = Sketch::default();
    let edge = sketch.layered("web", "db", vec![vec![vec![code(2)]], routes]);
    assert_eq!(tries_of(&sketch, edge, Class::Connect), 10);
    let load = edge_of(sketch, edge);
    assert_eq!(load.factor.tries, Amount::Exact(6));
    let parts: Vec<(u32, f64)> = load.factor.parts.iter().map(|p| (p.policy.0, p.tries.as_f64())).collect();
    assert_eq!(parts, [(0, 2.0), (1, 3.0)]);
    assert_eq!(load.unsent.unwrap().1.tries, Amount::Exact(10));
}

/// [T-64], [T-65]
#[test]
fn hedges_multiply() {
    let hedged = |tries, copies, counts_as_try| {
        let mut policy = code(tries);
        let delay = written(Nanos::from_millis(500));
        policy.hedging = Some(Box::new(Hedging { copies: written(copies), delay, counts_as_try }));
        let mut sketch = Sketch::default();
        sketch.call("web", "db", [policy]);
        of(sketch, "db").1
    };
    assert_eq!((hedged(1, 3, false), hedged(3, 1, false)), (4.0, 6.0));
    // Measured with Envoy, `5xx/2`, per_try 0.3 s, hedged: three requests, whether they hang (M-28) or end with a 503
    // at once, after 0.2 s, 0.4 s or 0.7 s. Copies are taken from the retries.
    assert_eq!(hedged(3, 2, true), 3.0);
}

/// D-11, D-13
#[test]
fn unknown_tries_count_one_and_are_named() {
    let mut sketch = plain(&[("web", "shop", 3), ("db", "disk", 2)]);
    let flag = sketch.call("shop", "cart", [of_unknown_tries(code(1))]);
    sketch.call("cart", "db", [code(3)]);
    let (shop, db, disk) = (sketch.service("shop"), sketch.service("db"), sketch.service("disk"));
    let (named, edge) = (sketch.net.graph[flag].layers[0].alternatives[0].policies[0], flag);
    sketch.analysed(|system| {
        let of = |node: NodeIndex| &system.amplification.nodes[node.index()];
        assert_eq!((of(db).worst, of(db).is_lower_bound, &of(db).unknown), (Amount::Exact(9), true, &vec![named]));
        assert_eq!((of(disk).worst, of(disk).bounded), (Amount::Exact(18), None));
        assert!(!of(shop).is_lower_bound);
        assert_eq!(of(shop).bounded, Some(3.0));
        let factor = &system.amplification.edges[edge.index()].factor;
        assert_eq!((factor.tries, factor.bounded, factor.unknown.len()), (Amount::ONE, None, 1));
    });
}

#[test]
fn an_opaque_predicate_retries_what_is_assumed() {
    let mut policy = code(3);
    policy.retries_on = unknown();
    let mut sketch = Sketch::default();
    let edge = sketch.call("web", "db", [policy]);
    assert_eq!((tries_of(&sketch, edge, Class::Overload), tries_of(&sketch, edge, Class::ServerError)), (3, 1));
    assert!(!node_of(sketch, "db").is_lower_bound);
}

#[test]
fn without_end_is_said_so_and_goes_down_the_graph() {
    let mut forever = code(1);
    forever.attempts = written(Attempts::Unbounded);
    let mut sketch = plain(&[("db", "disk", 2), ("cron", "disk", 2)]);
    sketch.call("web", "db", [forever]);
    let node = node_of(sketch, "disk");
    assert_eq!((node.load, node.worst, node.bounded), (Amount::Unbounded, Amount::Unbounded, None));
}

/// D-11: 1 s and 15 s of total are 15 tries, and "about".
#[test]
fn tries_that_time_ends_are_counted_about() {
    let by_time = |delay: u64| {
        let mut policy = waiting(&[delay], crate::facts::Jitter::NONE, code(1));
        policy.attempts = written(Attempts::ByTime);
        policy.total.limit = written(Limit::At(Nanos::from_secs(15)));
        let mut sketch = plain(&[("db", "disk", 2)]);
        sketch.call("web", "db", [policy]);
        node_of(sketch, "disk")
    };
    assert_eq!((by_time(1000).worst, by_time(1000).about), (Amount::Exact(30), true));
    assert_eq!((by_time(1).worst, by_time(1).about), (Amount::Unbounded, false));
}

#[test]
fn open_edges_have_tries_and_add_no_load() {
    let mut sketch = plain(&[("web", "db", 2)]);
    let db = sketch.service("db");
    let edge = sketch.edge(vec![vec![vec![at(Position::Gateway, sidecar(3, FIVE_XX))]]]);
    sketch.net.open.push((db, edge));
    sketch.analysed(|system| {
        assert_eq!(system.amplification.open[0].factor.tries, Amount::Exact(3));
        assert_eq!(system.amplification.nodes[db.index()].load, Amount::Exact(2));
    });
}

#[test]
fn the_class_is_one_that_the_callers_can_see() {
    let grpc = chain(&|| vec![code(2)]).all_grpc();
    assert_eq!(node_of(grpc, "ledger").class, Some(Class::Unavailable));
    assert_eq!(node_of(chain(&|| vec![code(2)]), "ledger").class, Some(Class::Overload));
    let picky = chain(&|| vec![on(Classes::of(&[Class::RateLimited]), code(2))]);
    assert_eq!(node_of(picky, "ledger").class, Some(Class::RateLimited));
    assert_eq!(node_of(plain(&[("web", "db", 2)]), "web").class, None);
}

#[test]
fn a_call_that_is_never_made_brings_nothing() {
    let mut sketch = Sketch::default();
    let edge = sketch.call("web", "db", [code(3)]);
    sketch.edge_mut(edge).per_request = 0.0;
    let node = node_of(sketch, "db");
    assert_eq!((node.load, node.worst, node.bounded), (Amount::ZERO, Amount::ONE, Some(1.0)));
}

#[test]
fn huge_products_neither_wrap_nor_stop() {
    let mut sketch = Sketch::default();
    for i in 0..50 {
        sketch.call(&format!("n-{i:02}"), &format!("n-{:02}", i + 1), [code(1000)]);
    }
    let node = node_of(sketch, "n-50");
    assert!((node.worst.as_f64() / 1e150 - 1.0).abs() < 1e-9);
}

#[test]
fn sourced_values_that_are_no_numbers_count_as_one() {
    let mut sketch = Sketch::default();
    let edge = sketch.call("web", "db", [code(3)]);
    sketch.edge_mut(edge).per_request = f64::NAN;
    sketch.declared("web").rate = Some(Sourced::default_of(f64::NAN, "a test", "rate"));
    assert_eq!(of(sketch, "db").0, 3.0);
}
