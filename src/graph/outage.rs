//! A hard outage (math.md section 2.2): requests at a service that never answers, for one request into every root. Handlers
//! that call one after the other and stop at the first error reach less of the graph than the worst case does.

use std::collections::HashMap;

use petgraph::graph::NodeIndex;
use petgraph::visit::EdgeRef;

use super::System;
use super::amount::Amount;
use super::amplification::fan_out;
use super::order::ancestors;

/// Requests that arrive at `target` while all of them fail. A service whose calls run one after the other (the default)
/// makes the first of them that cannot succeed, once, and stops there; one whose calls run at once makes all of them.
/// None where a circle of calls lies above it.
pub fn hard_outage(system: &System, target: NodeIndex) -> Option<Amount> {
    let (net, order) = (&system.net, &system.order);
    let mut above: Vec<NodeIndex> = ancestors(net, target).into_iter().collect();
    above.sort_unstable_by_key(|node| std::cmp::Reverse((order.position(*node), *node)));
    let mut hits: HashMap<NodeIndex, Amount> = HashMap::new();
    let mut total = Amount::ZERO;
    for node in above {
        if order.knot_of(node).is_some() {
            return None;
        }
        let parallel = net.graph.node_weight(node).and_then(|node| node.service.parallel.as_ref());
        let is_parallel = parallel.and_then(|parallel| parallel.known().copied()).unwrap_or_default();
        let mut calls: Vec<_> = net.graph.edges(node).filter(|edge| !order.is_closing(edge.id())).collect();
        calls.sort_unstable_by_key(|edge| edge.id());
        let failing = calls.into_iter().filter_map(|edge| {
            let below = hits.get(&edge.target()).copied().filter(|hits| *hits != Amount::ZERO)?;
            let tries = system.amplification.edges.get(edge.id().index())?.factor.tries;
            // A call that is made now and then is made now, and a handler that stops makes it once.
            let times = if is_parallel { fan_out(edge.weight()) } else { Amount::ONE };
            (fan_out(edge.weight()) != Amount::ZERO).then_some(times * tries * below)
        });
        let here = if node == target {
            Amount::ONE
        } else if is_parallel {
            failing.fold(Amount::ZERO, |sum, call| sum + call)
        } else {
            failing.into_iter().next().unwrap_or(Amount::ZERO)
        };
        if order.is_root(net, node) {
            total = total + here;
        }
        hits.insert(node, here);
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::nets::{Sketch, code, written};

    fn diamond(parallel: bool) -> Sketch {
        let mut sketch = Sketch::default();
        for (from, to, tries) in [("root", "x", 2), ("root", "y", 3), ("x", "d", 3), ("y", "d", 2)] {
            sketch.call(from, to, [code(tries)]);
        }
        sketch.declared("root").parallel = Some(written(parallel));
        sketch
    }

    /// [T-13]
    #[test]
    fn a_handler_that_stops_at_the_first_error_reaches_one_side() {
        for (parallel, hits) in [(false, 6), (true, 12)] {
            let mut sketch = diamond(parallel);
            let d = sketch.service("d");
            sketch.analysed(|system| {
                assert_eq!(hard_outage(system, d), Some(Amount::Exact(hits)));
                assert_eq!(system.amplification.nodes[d.index()].load, Amount::Exact(12));
            });
        }
    }

    /// [T-14]
    #[test]
    fn of_two_calls_in_a_row_the_second_is_never_made() {
        let mut sketch = Sketch::default();
        let edge = sketch.call("root", "d", [code(3)]);
        sketch.edge_mut(edge).per_request = 2.0;
        let d = sketch.service("d");
        sketch.analysed(|system| {
            assert_eq!(hard_outage(system, d), Some(Amount::Exact(3)));
            assert_eq!(system.amplification.nodes[d.index()].load, Amount::Exact(6));
        });
    }

    #[test]
    fn a_circle_above_has_no_figure() {
        let mut sketch = diamond(false);
        sketch.call("x", "root", []);
        let d = sketch.service("d");
        sketch.analysed(|system| assert_eq!(hard_outage(system, d), None));
    }
}
