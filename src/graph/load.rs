//! Rates and what they fill (contracts.md D-5, math.md section 12): requests per second at each service, connections held
//! against a pool, requests that clients add.

use petgraph::graph::NodeIndex;

use super::alike::Alike;
use super::amount::Amount;
use super::amplification::{Walk, fan_out};
use super::order::Order;
use super::tries::Tries;
use super::{Net, System, deadlines};
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

/// How a pool fills when what its service calls gets slow (math.md T-61). Slots are held while a try runs, not while one
/// is waited for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoolUse {
    /// Slots that there are.
    pub pool: u64,
    /// Requests per second that the service gets.
    pub rate: f64,
    /// How long one request holds slots if every call runs into its attempt limit once.
    pub held_once: Nanos,
    /// How long if every try does.
    pub held: Nanos,
}

impl PoolUse {
    /// Slots in use with one slow try for each call.
    pub fn slots_once(&self) -> f64 {
        slots(self.rate, self.held_once)
    }

    /// Slots in use with every try slow.
    pub fn slots(&self) -> f64 {
        slots(self.rate, self.held)
    }

    /// Whether the pool is used up.
    pub fn is_exhausted(&self) -> bool {
        self.slots() >= self.pool as f64
    }

    /// How long the pool lasts once everything is slow. None if it does not run out.
    pub fn lasts(&self) -> Option<Nanos> {
        self.is_exhausted().then(|| Nanos::from_secs_f64(self.pool as f64 / self.rate))
    }
}

/// Slots in use: Little's law.
pub fn slots(rate: f64, held: Nanos) -> f64 {
    rate * held.as_secs_f64()
}

/// The greatest rate that a pool sustains.
pub fn max_rate(pool: u64, held: Nanos) -> f64 {
    pool as f64 / held.as_secs_f64()
}

/// The pool of a service against its outgoing calls. None unless pool and rate are known and every call that it waits for
/// has a limit.
pub fn pool_use(system: &System, node: NodeIndex) -> Option<PoolUse> {
    let service = &system.net.graph.node_weight(node)?.service;
    let pool = *service.pool.as_ref()?.known()?;
    let rate = system.amplification.nodes.get(node.index())?.rate?;
    let (mut held_once, mut held) = (Nanos::ZERO, Nanos::ZERO);
    for edge in system.net.graph.edges(node) {
        if edge.weight().is_async {
            continue;
        }
        let times = fan_out(edge.weight()).as_f64();
        let call = deadlines::held(system.facts, edge.weight())?;
        held_once = held_once + call.once.scale(times);
        held = held + call.all.scale(times);
    }
    (held > Nanos::ZERO).then_some(PoolUse { pool, rate, held_once, held })
}

/// Requests that `clients` add if each of them retries as often as it may (math.md T-74).
pub fn extra_requests(clients: u64, tries: u64) -> u128 {
    u128::from(clients) * u128::from(tries.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::nets::{Sketch, code, of_unknown_tries, timed, written};

    /// [T-61]
    #[test]
    fn the_retries_and_not_the_slowdown_fill_the_pool() {
        let mut sketch = Sketch::default();
        let web = sketch.declared("web");
        (web.rate, web.pool) = (Some(written(50.0)), Some(written(200)));
        let node = sketch.service("web");
        sketch.call("web", "db", [timed(Some(2000), None, code(3))]);
        sketch.analysed(|system| {
            let pool = pool_use(system, node).unwrap();
            assert_eq!((pool.slots_once(), pool.slots()), (100.0, 300.0));
            assert!(pool.is_exhausted());
            assert_eq!(pool.lasts(), Some(Nanos::from_secs(4)));
        });
        assert_eq!(slots(50.0, Nanos::from_millis(40)), 2.0);
    }

    #[test]
    fn a_pool_says_nothing_without_a_rate_or_a_limit() {
        let mut sketch = Sketch::default();
        sketch.declared("web").pool = Some(written(200));
        let node = sketch.service("web");
        sketch.call("web", "db", [timed(Some(2000), None, code(3))]);
        sketch.analysed(|system| assert_eq!(pool_use(system, node), None));

        let mut sketch = Sketch::default();
        let web = sketch.declared("web");
        (web.rate, web.pool) = (Some(written(50.0)), Some(written(200)));
        sketch.call("web", "db", [code(3)]);
        sketch.analysed(|system| assert_eq!(pool_use(system, node), None));
    }

    /// [T-62]
    #[test]
    fn the_time_that_a_slot_is_held_bounds_the_rate() {
        let of = |millis| max_rate(100, Nanos::from_millis(millis));
        assert_eq!((of(40), of(2000)), (2500.0, 50.0));
        assert!((of(6000) - 16.67).abs() < 0.01);
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
