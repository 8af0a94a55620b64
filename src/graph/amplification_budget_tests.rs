//! What budgets leave of tries (contracts.md D-13).

use super::*;

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
    assert_eq!((node.worst, node.all_bounded), (Amount::Exact(27), true));
    assert!((node.bounded.unwrap() - 1.331).abs() < 1e-9);

    let mut sketch = Sketch::default();
    sketch.call("web", "a", [budgeted(code(3), 0.1)]);
    sketch.call("a", "b", [code(3)]);
    sketch.call("b", "ledger", [budgeted(of_unknown_tries(code(1)), 0.2)]);
    let node = node_of(sketch, "ledger");
    assert!(!node.all_bounded && node.is_lower_bound);
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
