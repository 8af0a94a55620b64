//! Rates and what they fill (contracts.md D-5, math.md section 12): requests per second at each service, connections held
//! against a pool, requests that clients add.

use petgraph::graph::NodeIndex;

use super::Net;
use super::alike::Alike;
use super::amount::Amount;
use super::amplification::Walk;
use super::order::Order;
use super::tries::Tries;
use crate::facts::Nanos;

/// Requests per second at one service.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate {
    /// While all is well.
    pub healthy: Option<f64>,
    /// If everything fails.
    pub worst: Option<Amount>,
}

/// The rates of all services, by node: those that enter, carried on over the calls. None where a root without a rate
/// reaches.
pub fn rates(net: &Net, tries: &Tries, alike: &Alike, order: &Order) -> Vec<Rate> {
    let mut rates = vec![Rate::default(); net.graph.node_count()];
    let own = |node: NodeIndex| net.graph.node_weight(node).and_then(|node| node.service.rate.as_ref());
    if !net.graph.node_indices().any(|node| own(node).is_some()) {
        return rates;
    }
    let mut unknown: Vec<bool> = vec![false; net.graph.node_count()];
    let mut stack: Vec<NodeIndex> = net
        .graph
        .node_indices()
        .filter(|node| match own(*node) {
            Some(rate) => rate.known().is_none(),
            None => order.is_root(net, *node),
        })
        .collect();
    stack.iter().for_each(|node| unknown[node.index()] = true);
    while let Some(node) = stack.pop() {
        for callee in net.graph.neighbors(node) {
            if !std::mem::replace(&mut unknown[callee.index()], true) {
                stack.push(callee);
            }
        }
    }
    let entries: Vec<Amount> = net
        .graph
        .node_indices()
        .map(|node| {
            let rate = own(node).and_then(|rate| rate.known().copied());
            Amount::from_f64(rate.filter(|rate| rate.is_finite() && *rate >= 0.0).unwrap_or(0.0))
        })
        .collect();
    let (nodes, _, _) = Walk::new(net, (tries, alike, order), &[], &entries).run();
    for ((rate, load), unknown) in rates.iter_mut().zip(&nodes).zip(unknown) {
        if !unknown {
            *rate = Rate { healthy: Some(load.base.as_f64()), worst: Some(load.load) };
        }
    }
    rates
}

/// Slots of a pool in use at a rate if each request holds one for so long: Little's law.
pub fn slots(rate: f64, held: Nanos) -> f64 {
    rate * held.as_secs_f64()
}

/// Requests that `clients` add if each of them retries as often as it may (math.md T-74).
pub fn extra_requests(clients: u64, tries: u64) -> u128 {
    u128::from(clients) * u128::from(tries.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::nets::{Sketch, code, of_unknown_tries, written};

    /// [T-61]: healthy, slow, and slow three times over.
    #[test]
    fn slots_in_use_are_the_rate_times_the_time_that_each_is_held() {
        let of = |millis| slots(50.0, Nanos::from_millis(millis));
        assert_eq!((of(40), of(2000), of(6000)), (2.0, 100.0, 300.0));
    }

    /// [T-62]: the rates at which a pool of 100 is just full.
    #[test]
    fn the_time_that_a_slot_is_held_bounds_the_rate() {
        let of = |rate, millis| slots(rate, Nanos::from_millis(millis));
        assert_eq!((of(2500.0, 40), of(50.0, 2000)), (100.0, 100.0));
        assert!((of(16.67, 6000) - 100.0).abs() < 0.05);
    }

    /// [T-74]
    #[test]
    fn every_client_adds_its_retries() {
        assert_eq!(extra_requests(500, 6), 2500);
        assert_eq!(extra_requests(500, 1), 0);
    }

    #[test]
    fn rates_follow_the_calls_and_tries_multiply_them() {
        let mut sketch = Sketch::default();
        sketch.declared("web").rate = Some(written(500.0));
        sketch.declared("app").rate = Some(written(20.0));
        sketch.call("web", "db", [code(3)]);
        let twice = sketch.call("app", "db", [of_unknown_tries(code(1))]);
        sketch.edge_mut(twice).per_request = 2.0;
        let db = sketch.service("db");
        sketch.analysed(|system| {
            let node = &system.amplification.nodes[db.index()];
            assert_eq!((node.rate, node.rate_worst), (Some(540.0), Some(Amount::Exact(1540))));
            assert!(node.is_lower_bound);
        });
    }

    #[test]
    fn a_root_without_a_rate_leaves_no_rate_below_it() {
        let mut sketch = Sketch::default();
        sketch.declared("web").rate = Some(written(500.0));
        sketch.call("web", "shop", [code(3)]);
        sketch.call("web", "db", [code(2)]);
        sketch.call("cron", "db", []);
        let (shop, db) = (sketch.service("shop"), sketch.service("db"));
        sketch.analysed(|system| {
            assert_eq!(system.amplification.nodes[shop.index()].rate, Some(500.0));
            assert_eq!(system.amplification.nodes[db.index()].rate, None);
            assert_eq!(system.amplification.nodes[db.index()].rate_worst, None);
        });
    }
}
