//! What budgets leave of tries (contracts.md D-13).

use super::*;
use crate::graph::paths::{self, By};

fn budgeted(mut policy: Policy, ratio: f64) -> Policy {
    let budget = Budget {
        ratio: written(ratio),
        floor: written(Floor::PerSecond(0.0)),
        window: written(Limit::None),
        base: BudgetBase::Originals,
    };
    policy.budget = written(Limit::At(Box::new(budget)));
    policy
}

/// [T-46], [T-47], D-13
#[test]
fn budgets_bound_the_worst_path_only_where_all_layers_have_one() {
    let node = node_of(chain(&|| vec![budgeted(code(3), 0.1)]), "ledger");
    assert_eq!((node.worst, node.figure_tries), (Amount::Exact(27), Amount::Exact(27)));
    assert!((node.bounded.unwrap() - 1.331).abs() < 1e-9);
    assert_eq!(Some(node.figure), node.bounded);

    let mut sketch = Sketch::default();
    sketch.call("web", "a", [budgeted(code(3), 0.1)]);
    sketch.call("a", "b", [code(3)]);
    sketch.call("b", "ledger", [budgeted(of_unknown_tries(code(1)), 0.2)]);
    let node = node_of(sketch, "ledger");
    assert_eq!((node.figure, node.is_lower_bound), (9.0, true));
    // 1.1 × 3 × 1.2: an unknown count with a budget is bounded by the budget.
    assert!((node.bounded.unwrap() - 3.96).abs() < 1e-9);
}

/// [T-48] on an edge: a floor of 10/s in each of 50 instances, 1000 requests per second.
#[test]
fn a_floor_counts_where_the_rate_is_known() {
    let mut policy = budgeted(code(3), 0.2);
    if let Some(Limit::At(budget)) = policy.budget.known().cloned() {
        policy.budget = written(Limit::At(Box::new(Budget { floor: written(Floor::PerSecond(10.0)), ..*budget })));
    }
    let mut sketch = Sketch::default();
    let edge = sketch.call("web", "db", [policy]);
    let web = sketch.declared("web");
    (web.rate, web.instances) = (Some(written(1000.0)), Some(written(50)));
    let factor = edge_of(sketch, edge).factor;
    assert_eq!((factor.bounded, factor.parts[0].bound), (Some(1.7), Some(1.7)));
}

#[test]
fn of_equal_alternatives_the_one_without_a_budget_decides() {
    let alternatives = vec![vec![budgeted(sidecar(3, FIVE_XX), 0.1)], vec![sidecar(3, FIVE_XX)]];
    let mut sketch = Sketch::default();
    let edge = sketch.layered("web", "db", vec![alternatives]);
    let factor = edge_of(sketch, edge).factor;
    assert_eq!((factor.tries, factor.bounded, factor.all_bounded), (Amount::Exact(3), Some(3.0), false));
}

/// What nothing holds counts, however many more tries budgets hold: 4 × 4 of which they leave 1.25 × 1.25, beside 3 × 4.
#[test]
fn a_path_that_budgets_hold_hides_none_that_they_do_not() {
    let both = |first: &dyn Fn(Policy) -> Policy| {
        let mut sketch = Sketch::default();
        sketch.call("web", "a", [first(code(4))]);
        sketch.call("a", "db", [budgeted(code(4), 0.25)]);
        sketch.call("web", "b", [code(3)]);
        sketch.call("b", "db", [code(4)]);
        node_of(sketch, "db")
    };
    let node = both(&|policy| budgeted(policy, 0.25));
    assert_eq!((node.worst, node.load), (Amount::Exact(16), Amount::Exact(28)));
    assert_eq!((node.bounded, node.figure, node.figure_tries), (Some(12.0), 12.0, Amount::Exact(12)));
    // With a budget at one of both hops all 16 count, of which it leaves 4 × 1.25.
    let node = both(&|policy| policy);
    assert_eq!((node.bounded, node.figure, node.figure_tries), (Some(12.0), 16.0, Amount::Exact(16)));
}

/// A way that budgets hold counts again with all its tries where a layer without one follows: 4 × 4 × 2 and not 3 × 4 × 2.
#[test]
fn a_layer_without_a_budget_further_down_makes_all_tries_count() {
    let mut sketch = Sketch::default();
    for (to, tries, share) in [("a", 4, Some(0.25)), ("b", 3, None)] {
        for (from, to) in [("web", to), (to, "db")] {
            sketch.call(from, to, [share.map_or(code(tries), |share| budgeted(code(tries), share))]);
        }
    }
    sketch.call("db", "disk", [code(2)]);
    let (db, disk) = (sketch.service("db"), sketch.service("disk"));
    sketch.analysed(|system| {
        let of = |node: petgraph::graph::NodeIndex| &system.amplification.nodes[node.index()];
        assert_eq!((of(db).figure, of(disk).figure, of(disk).figure_tries), (9.0, 32.0, Amount::Exact(32)));
        let best = |node, by| paths::k_best(system, node, 1, by)[0].product;
        assert_eq!(best(db, By::Figure).tries, Amount::Exact(9));
        assert_eq!(best(db, By::Tries).tries, Amount::Exact(16));
        assert_eq!((best(disk, By::Figure).tries, best(disk, By::Figure).bounded), (Amount::Exact(32), 3.125));
    });
}

/// Round a circle that multiplies nothing, what enters at one service reaches all: 9 with budgets that leave 1.5625, and
/// 3 without, at either end.
#[test]
fn what_budgets_hold_goes_round_a_circle_beside_what_they_do_not() {
    for hops in [Some(3), None] {
        go_round(hops);
    }
}

fn go_round(max_hops: Option<u64>) {
    let mut sketch = Sketch::default();
    sketch.call("web", "x", [budgeted(code(3), 0.25)]);
    sketch.call("x", "a", [budgeted(code(3), 0.25)]);
    sketch.call("cron", "b", [code(3)]);
    for (from, to) in [("a", "b"), ("b", "c"), ("c", "a")] {
        sketch.call(from, to, [code(1)]);
    }
    for name in ["a", "b", "c"] {
        let node = sketch.service(name);
        sketch.net.graph[node].service.max_hops = max_hops.map(written);
    }
    let nodes = ["a", "b", "c"].map(|name| sketch.service(name));
    sketch.analysed(|system| {
        for node in nodes {
            let node = &system.amplification.nodes[node.index()];
            assert_eq!((node.worst, node.figure, node.bounded), (Amount::Exact(9), 3.0, Some(3.0)));
        }
    });
}

/// Of two routes the one with fewer tries and no budget decides: the edge shows the most tries and keeps the other beside.
#[test]
fn of_alternatives_with_different_budgets_the_one_that_nothing_holds_counts() {
    let alternatives = vec![vec![budgeted(sidecar(9, FIVE_XX), 0.25)], vec![sidecar(5, FIVE_XX)]];
    let mut sketch = Sketch::default();
    sketch.layered("web", "a", vec![alternatives]);
    let edge = sketch.call("a", "db", [budgeted(sidecar(2, FIVE_XX), 0.25)]);
    let (first, db) = (EdgeIndex::<u32>::new(0), sketch.service("db"));
    sketch.analysed(|system| {
        let node = &system.amplification.nodes[db.index()];
        assert_eq!((node.worst, node.figure, node.bounded), (Amount::Exact(18), 10.0, Some(6.25)));
        let load = &system.amplification.edges[first.index()];
        let (_, unheld) = load.unheld.as_ref().unwrap();
        assert_eq!((load.factor.tries, unheld.tries, unheld.figure()), (Amount::Exact(9), Amount::Exact(5), 5.0));
        assert!(system.amplification.edges[edge.index()].unheld.is_none());
        let tries = |by| {
            let path = paths::k_best(system, db, 1, by).remove(0);
            path.hops.iter().map(|hop| hop.factor.parts[0].tries).collect::<Vec<_>>()
        };
        assert_eq!(tries(By::Figure), [Amount::Exact(5), Amount::Exact(2)]);
        assert_eq!(tries(By::Tries), [Amount::Exact(9), Amount::Exact(2)]);
    });
}
