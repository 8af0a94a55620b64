//! Routing choices whose ways meet again (math.md T-12): a request takes one of them, so below the place where they meet
//! the greatest counts and not the sum.
//!
//! The walk forward cannot know which of them is the worst for a service further down: each such service gets a look back
//! of its own, which picks, and a walk over what was picked. Both are linear in what lies above it; graphs in which that
//! would be too much keep the sum, which is never too low.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;

use super::NodeLoad;
use super::amount::Amount;
use super::amplification::{Arrivals, Walk, amplification, fan_out};
use super::order::{ancestors, descendants};
use super::tries::{Hop, View};

/// Edges looked at for the choices of one graph.
const WORK: usize = 1 << 20;

/// Corrects load and base of every service below a choice whose ways meet there.
pub(super) fn refine(walk: &mut Walk, nodes: &mut [NodeLoad]) {
    let mut left = WORK;
    let mut met: Vec<NodeIndex> = meeting(walk, &mut left).into_iter().collect();
    met.sort_unstable_by_key(|node| (walk.order.position(*node), *node));
    for node in met {
        let mut above: Vec<NodeIndex> = ancestors(walk.net, node).into_iter().collect();
        above.sort_unstable_by_key(|node| (walk.order.position(*node), *node));
        let edges: usize = above.iter().map(|node| walk.net.graph.edges(*node).count()).sum();
        if above.iter().any(|node| walk.order.knot_of(*node).is_some()) || edges > left {
            continue;
        }
        left -= edges;
        let (picked, _) = back(walk, node, &above, most_tries);
        let (_, base) = back(walk, node, &above, |_, _, _| Amount::ONE);
        let load = forward(walk, &above, &picked).load;
        if let Some(told) = nodes.get_mut(node.index()) {
            (told.load, told.base) = (load, base);
            told.amplification = amplification(load, base, told.worst);
        }
    }
}

/// Services that more than one way of the same choice leads to.
fn meeting(walk: &Walk, left: &mut usize) -> HashSet<NodeIndex> {
    let mut groups: BTreeMap<(NodeIndex, Arc<str>), BTreeSet<NodeIndex>> = BTreeMap::new();
    for edge in walk.net.graph.edge_references() {
        if let Some(group) = &edge.weight().one_of {
            groups.entry((edge.source(), group.clone())).or_default().insert(edge.target());
        }
    }
    let mut met = HashSet::new();
    for callees in groups.into_values().filter(|callees| callees.len() > 1) {
        let mut reached: HashMap<NodeIndex, u32> = HashMap::new();
        for callee in callees {
            let below = descendants(walk.net, callee);
            *left = left.saturating_sub(below.len());
            if *left == 0 {
                return met;
            }
            below.into_iter().for_each(|node| *reached.entry(node).or_default() += 1);
        }
        met.extend(reached.into_iter().filter(|(_, ways)| *ways > 1).map(|(node, _)| node));
    }
    met
}

/// Looks back from a service: what one request at each service above becomes here if of every choice the greatest way is
/// taken. Returns the ways that were picked, and what enters from outside becomes in total.
fn back(
    walk: &mut Walk,
    target: NodeIndex,
    above: &[NodeIndex],
    mut tries: impl FnMut(&mut Walk, EdgeIndex, Hop) -> Amount,
) -> (HashSet<EdgeIndex>, Amount) {
    let net = walk.net;
    let mut becomes: HashMap<NodeIndex, Amount> = HashMap::from([(target, Amount::ONE)]);
    let mut picked = HashSet::new();
    let mut total = Amount::ZERO;
    for node in above.iter().rev() {
        let mut sum = if *node == target { Amount::ONE } else { Amount::ZERO };
        let mut groups: BTreeMap<Arc<str>, (Amount, EdgeIndex)> = BTreeMap::new();
        for edge in net.graph.edges(*node).filter(|edge| !walk.order.is_closing(edge.id())) {
            let Some(below) = becomes.get(&edge.target()).copied().filter(|_| *node != target) else { continue };
            let hop = if edge.target() == target { Hop::Last } else { Hop::Above };
            let over = fan_out(edge.weight()) * tries(walk, edge.id(), hop) * below;
            match &edge.weight().one_of {
                None => sum = sum + over,
                Some(group) => {
                    let most = groups.entry(group.clone()).or_insert((over, edge.id()));
                    // Of equals the edge that was added first, whatever order they are looked at in.
                    if over > most.0 || (over == most.0 && edge.id() < most.1) {
                        *most = (over, edge.id());
                    }
                }
            }
        }
        for (over, edge) in groups.into_values() {
            sum = sum + over;
            picked.insert(edge);
        }
        becomes.insert(*node, sum);
        total = total + walk.entry(*node) * sum;
    }
    (picked, total)
}

/// The most tries of an edge for anything that may go back over it.
fn most_tries(walk: &mut Walk, edge: EdgeIndex, hop: Hop) -> Amount {
    let Some(edge) = walk.net.graph.edge_weight(edge) else { return Amount::ONE };
    let view = View::new(edge, Default::default());
    let classes = match hop {
        Hop::Last => walk.alike.arriving(view.protocol),
        Hop::Above => walk.alike.representatives(),
    };
    let mut most = Amount::ONE;
    for class in classes {
        let outcomes = walk.tries.outcomes(view, *class, hop, &mut walk.scratch);
        most = outcomes.iter().fold(most, |most, outcome| most.max(outcome.product.tries));
    }
    walk.scratch.next_edge();
    most
}

/// Walks over what lies above a service, of choices only over the ways that were picked.
fn forward(walk: &mut Walk, above: &[NodeIndex], picked: &HashSet<EdgeIndex>) -> NodeLoad {
    let mut arrivals = Arrivals::none(walk.alike);
    let mut told = NodeLoad::default();
    for node in above {
        let over = |walk: &Walk, edge: EdgeIndex| {
            let is_choice = walk.net.graph.edge_weight(edge).is_some_and(|edge| edge.one_of.is_some());
            !walk.order.is_closing(edge) && (!is_choice || picked.contains(&edge))
        };
        walk.gather(*node, over, &mut arrivals);
        walk.enter(*node, &mut arrivals);
        walk.keep(*node, &arrivals);
        told = walk.told(*node, &arrivals);
    }
    // The service itself comes last: everything else in the list calls it, directly or not.
    told
}
