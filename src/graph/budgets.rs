//! What retry budgets leave of a layer's tries (contracts.md D-13).

use crate::facts::{Budget, BudgetBase, Floor, Policy, Upstream};

/// Who sends through a budget, where that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Requests per second that one edge carries without retries.
    pub rate: Option<f64>,
    /// Instances of the caller; unknown counts as one.
    pub instances: Option<u64>,
}

/// The greatest factor that a budget allows if everything fails. None if its share is unknown, or allows everything.
///
/// A floor counts only where the rate is known: without it, the bound holds above the floor.
pub fn bound(budget: &Budget, traffic: Traffic) -> Option<f64> {
    let floor = match (budget.floor.known(), traffic.rate) {
        (Some(Floor::PerSecond(floor)), Some(rate)) if rate > 0.0 => {
            floor * traffic.instances.unwrap_or(1).max(1) as f64 / rate
        }
        _ => 0.0,
    };
    if budget.base == BudgetBase::Successes {
        // While everything fails there are no successes, and only the floor is left.
        return Some(1.0 + floor);
    }
    let ratio = *budget.ratio.known()?;
    if !ratio.is_finite() || ratio < 0.0 {
        return None;
    }
    match budget.base {
        BudgetBase::Originals => Some(1.0 + ratio + floor),
        BudgetBase::All | BudgetBase::InFlight => (ratio < 1.0).then(|| 1.0 / (1.0 - ratio) + floor),
        BudgetBase::Successes => None,
    }
}

/// The budget that stands over a policy: its own, else the one of its callee's settings.
pub fn budget_of<'a>(policy: &'a Policy, upstream: Option<&'a Upstream>) -> Option<&'a Budget> {
    policy.budget.limit().or_else(|| upstream?.budget.limit()).map(|budget| &**budget)
}

/// The factor that a cap on parallel retries leaves, if the time that a retry takes and the rate are known:
/// `1 + cap / (held * rate)`, held in seconds.
pub fn capped(cap: u64, held: f64, rate: f64) -> f64 {
    1.0 + cap as f64 / (held * rate)
}

/// Retries that Envoy's in-flight budget lets through if `failing` requests are active: a share of them, at least the
/// floor.
pub fn in_flight(active: u64, ratio: f64, floor: u64) -> u64 {
    // `as` saturates and maps NaN to zero.
    ((active as f64 * ratio) as u64).max(floor)
}

/// The same if all of them fail at the same moment: each that has failed has left the active ones, so that
/// `n * b / (1 + b)` are let through (measured, M-5).
pub fn in_flight_at_once(failing: u64, ratio: f64, floor: u64) -> u64 {
    ((failing as f64 * ratio / (1.0 + ratio)).round() as u64).max(floor).min(failing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Limit, Sourced, Value, Why};

    fn budget(ratio: f64, floor: Floor, base: BudgetBase) -> Budget {
        fn known<T>(value: T) -> Sourced<T> {
            Sourced::default_of(value, "a test", "value")
        }
        Budget { ratio: known(ratio), floor: known(floor), window: known(Limit::None), base }
    }

    fn close(value: Option<f64>, expected: f64) {
        let value = value.expect("a bound");
        assert!((value - expected).abs() < 1e-4, "{value} is not {expected}");
    }

    const NO_FLOOR: Floor = Floor::PerSecond(0.0);

    /// [T-46], [T-47]
    #[test]
    fn a_share_bounds_each_hop_and_hops_multiply() {
        let unknown = Traffic::default();
        let originals = |r| bound(&budget(r, NO_FLOOR, BudgetBase::Originals), unknown);
        close(originals(0.1), 1.1);
        close(originals(0.1).map(|b| b.powi(3)), 1.331);
        close(originals(0.2).map(|b| b.powi(3)), 1.728);
        let all = bound(&budget(0.1, NO_FLOOR, BudgetBase::All), unknown);
        close(all, 1.1111);
        close(all.map(|b| b.powi(3)), 1.3717);
        close(bound(&budget(0.2, Floor::InFlight(3), BudgetBase::InFlight), unknown), 1.25);
        // M-51: measured 1.18 and 1.65 under these bounds of 1.25 and 2.
        close(bound(&budget(0.5, Floor::InFlight(0), BudgetBase::InFlight), unknown), 2.0);
        assert_eq!(bound(&budget(1.0, Floor::InFlight(3), BudgetBase::InFlight), unknown), None);
    }

    /// [T-48]
    #[test]
    fn a_floor_grows_with_the_instances() {
        let budget = budget(0.2, Floor::PerSecond(10.0), BudgetBase::Originals);
        close(bound(&budget, Traffic { rate: Some(1000.0), instances: Some(50) }), 1.7);
        // Without the rate the floor is left out.
        close(bound(&budget, Traffic { rate: None, instances: Some(50) }), 1.2);
    }

    /// [T-49]
    #[test]
    fn retries_in_flight_are_a_share_of_the_active_requests() {
        assert_eq!(in_flight(25, 0.2, 3), 5);
        assert_eq!(in_flight(2, 0.2, 3), 3);
        assert_eq!([25, 50, 100].map(|n| in_flight_at_once(n, 0.2, 3)), [4, 8, 17]);
    }

    /// [T-50]
    #[test]
    fn a_cap_on_parallel_retries_bounds_by_time() {
        close(Some(capped(3, 0.1, 1000.0)), 1.03);
        close(Some(capped(1024, 0.1, 1000.0)), 11.24);
    }

    #[test]
    fn an_unknown_share_bounds_nothing() {
        let mut budget = budget(0.2, NO_FLOOR, BudgetBase::Originals);
        budget.ratio.value = Value::Unknown(Box::new(Why::Environment("SHARE".into())));
        assert_eq!(bound(&budget, Traffic::default()), None);
        budget.base = BudgetBase::Successes;
        assert_eq!(bound(&budget, Traffic::default()), Some(1.0));
    }
}
