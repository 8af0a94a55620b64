//! Routing choices whose ways meet again (math.md T-12): a request takes one of them, so below the place where they meet
//! the greatest counts and not the sum.
//!
//! The walk forward cannot know which of them is the worst for a service further down: each such service gets a look back
//! of its own, which picks, and a walk over what was picked. A way that only looks worse where several are added up may
//! hide the worst path, so a second walk keeps to that path, and the greater one counts. All are linear in what lies above
//! the service; graphs in which that would be too much keep the sum, which is never too low.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;

use super::NodeLoad;
use super::amount::Amount;
use super::amplification::{Arrivals, Walk, amplification, emits, fan_out};
use super::handover::answers;
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
        let sums = Back::of(walk, node, &above, |a, b| a + b);
        let greatest = Back::of(walk, node, &above, Amount::max);
        let mut picked = sums.picked(walk, &above);
        let mut load = forward(walk, &above, &picked).load;
        let path = greatest.path(walk, &above, node);
        if path.iter().any(|edge| is_choice(walk, *edge) && !picked.contains(edge)) {
            keep_to(walk, &path, &mut picked);
            load = load.max(forward(walk, &above, &picked).load);
        }
        let base = base(walk, node, &above);
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

/// What one request becomes, and the kind of failure that the handler below then sees.
type Becomes = (Amount, usize);

/// The look back from a service: what one request at each service above becomes here, by the kind of failure that its own
/// calls end with.
struct Back {
    at: HashMap<NodeIndex, Vec<Amount>>,
    over: HashMap<EdgeIndex, Vec<Becomes>>,
}

impl Back {
    /// `join` puts calls that are made together into one; of those that exclude one another the greatest counts.
    fn of(walk: &mut Walk, target: NodeIndex, above: &[NodeIndex], join: fn(Amount, Amount) -> Amount) -> Back {
        let (net, kinds) = (walk.net, walk.alike.count());
        let mut back = Back { at: HashMap::new(), over: HashMap::new() };
        for node in above.iter().rev().filter(|node| **node != target) {
            let mut all = vec![Amount::ZERO; kinds];
            let mut groups: BTreeMap<Arc<str>, Vec<Amount>> = BTreeMap::new();
            for edge in net.graph.edges(*node).filter(|edge| !walk.order.is_closing(edge.id())) {
                let over = match back.at.get(&edge.target()) {
                    Some(below) => over(walk, edge.id(), Some(below)),
                    None if edge.target() == target => over(walk, edge.id(), None),
                    None => continue,
                };
                let amounts = over.iter().map(|(amount, _)| *amount);
                match &edge.weight().one_of {
                    None => all.iter_mut().zip(amounts).for_each(|(sum, amount)| *sum = join(*sum, amount)),
                    Some(group) => {
                        let most = groups.entry(group.clone()).or_insert_with(|| vec![Amount::ZERO; kinds]);
                        most.iter_mut().zip(amounts).for_each(|(most, amount)| *most = most.max(amount));
                    }
                }
                back.over.insert(edge.id(), over);
            }
            for most in groups.into_values() {
                all.iter_mut().zip(most).for_each(|(sum, amount)| *sum = join(*sum, amount));
            }
            back.at.insert(*node, all);
        }
        back
    }

    /// The greatest way of each choice, for the kind of failure that matters to those further up.
    fn picked(&self, walk: &Walk, above: &[NodeIndex]) -> HashSet<EdgeIndex> {
        let mut picked = HashSet::new();
        let mut seen: HashMap<NodeIndex, usize> = HashMap::new();
        for node in above {
            let Some(at) = self.at.get(node) else { continue };
            let kind = *seen.entry(*node).or_insert_with(|| greatest(at));
            let mut groups: BTreeMap<Arc<str>, (Amount, EdgeIndex)> = BTreeMap::new();
            for edge in walk.net.graph.edges(*node) {
                let Some((amount, below)) = self.over.get(&edge.id()).and_then(|over| over.get(kind)) else { continue };
                match &edge.weight().one_of {
                    None => _ = seen.entry(edge.target()).or_insert(*below),
                    Some(group) => {
                        let most = groups.entry(group.clone()).or_insert((*amount, edge.id()));
                        // Of equals the edge that was added first, whatever order they are looked at in.
                        if *amount > most.0 || (*amount == most.0 && edge.id() < most.1) {
                            *most = (*amount, edge.id());
                        }
                    }
                }
            }
            for (_, edge) in groups.into_values() {
                picked.insert(edge);
                let below = self.over.get(&edge).and_then(|over| over.get(kind));
                if let (Some((_, below)), Some((_, callee))) = (below, walk.net.graph.edge_endpoints(edge)) {
                    seen.entry(callee).or_insert(*below);
                }
            }
        }
        picked
    }

    /// The path on which one request becomes most.
    fn path(&self, walk: &Walk, above: &[NodeIndex], target: NodeIndex) -> Vec<EdgeIndex> {
        let mut path = Vec::new();
        let entries = above.iter().filter(|node| walk.entry(**node) > Amount::ZERO);
        let starts = entries.filter_map(|node| Some((*node, greatest(self.at.get(node)?))));
        let amount = |(node, kind): &(NodeIndex, usize)| self.at.get(node).and_then(|at| at.get(*kind)).copied();
        let mut at = starts.reduce(|best, one| if amount(&one) > amount(&best) { one } else { best });
        // Calls that lead back are left out, so it ends.
        while let Some((node, kind)) = at.filter(|(node, _)| *node != target) {
            let ways = walk.net.graph.edges(node).filter_map(|edge| {
                let (amount, below) = self.over.get(&edge.id())?.get(kind)?;
                Some((*amount, *below, edge.id(), edge.target()))
            });
            let best =
                ways.reduce(|best, one| if one.0 > best.0 || (one.0 == best.0 && one.2 < best.2) { one } else { best });
            path.extend(best.map(|(_, _, edge, _)| edge));
            at = best.map(|(_, below, _, callee)| (callee, below));
        }
        path
    }
}

/// The kind with the most requests, the first of equals.
fn greatest(at: &[Amount]) -> usize {
    let kinds = at.iter().enumerate();
    kinds.reduce(|best, one| if one.1 > best.1 { one } else { best }).map_or(0, |(kind, _)| kind)
}

/// What one request over an edge becomes, by the kind that comes out of it. `below`: what it becomes further down, by the
/// kind that the callee's handler sees; none if the callee is the service in question.
fn over(walk: &mut Walk, edge: EdgeIndex, below: Option<&[Amount]>) -> Vec<Becomes> {
    let (net, alike) = (walk.net, walk.alike);
    let mut out = vec![(Amount::ZERO, 0); alike.count()];
    let (Some(weight), Some((_, callee))) = (net.graph.edge_weight(edge), net.graph.edge_endpoints(edge)) else {
        return out;
    };
    let view = View::new(weight, Default::default());
    let mut pass = |class, hop, amount, below| {
        for outcome in walk.tries.outcomes(view, class, hop, &mut walk.scratch) {
            let becomes = fan_out(weight) * outcome.product.tries * amount;
            if let Some(slot) = out.get_mut(alike.kind(outcome.class)).filter(|slot| becomes > slot.0) {
                *slot = (becomes, below);
            }
        }
        walk.scratch.next_edge();
    };
    match below {
        None => alike.arriving(view.protocol).iter().for_each(|class| pass(*class, Hop::Last, Amount::ONE, 0)),
        Some(below) => {
            let emits = emits(net, callee);
            for (kind, (amount, class)) in below.iter().zip(alike.representatives()).enumerate() {
                for class in answers(*class, view.protocol, emits).iter().filter(|_| *amount > Amount::ZERO) {
                    pass(class, Hop::Above, *amount, kind);
                }
            }
        }
    }
    out
}

/// What enters from outside becomes at a service if nothing is tried again, of every choice the greatest way.
fn base(walk: &Walk, target: NodeIndex, above: &[NodeIndex]) -> Amount {
    let mut becomes: HashMap<NodeIndex, Amount> = HashMap::new();
    let mut total = Amount::ZERO;
    for node in above.iter().rev() {
        let mut sum = if *node == target { Amount::ONE } else { Amount::ZERO };
        let mut groups: BTreeMap<Arc<str>, Amount> = BTreeMap::new();
        for edge in walk.net.graph.edges(*node).filter(|edge| !walk.order.is_closing(edge.id())) {
            let Some(below) = becomes.get(&edge.target()).copied().filter(|_| *node != target) else { continue };
            let over = fan_out(edge.weight()) * below;
            match &edge.weight().one_of {
                None => sum = sum + over,
                Some(group) => {
                    let most = groups.entry(group.clone()).or_insert(over);
                    *most = most.max(over);
                }
            }
        }
        sum = groups.into_values().fold(sum, |sum, most| sum + most);
        becomes.insert(*node, sum);
        total = total + walk.entry(*node) * sum;
    }
    total
}

fn is_choice(walk: &Walk, edge: EdgeIndex) -> bool {
    walk.net.graph.edge_weight(edge).is_some_and(|edge| edge.one_of.is_some())
}

/// Picks the ways of a path, in place of those that they exclude.
fn keep_to(walk: &Walk, path: &[EdgeIndex], picked: &mut HashSet<EdgeIndex>) {
    let graph = &walk.net.graph;
    let group = |edge: EdgeIndex| Some((graph.edge_endpoints(edge)?.0, graph.edge_weight(edge)?.one_of.as_ref()?));
    for edge in path.iter().copied().filter(|edge| is_choice(walk, *edge)) {
        picked.retain(|other| group(*other) != group(edge));
        picked.insert(edge);
    }
}

/// Walks over what lies above a service, of choices only over the ways that were picked.
fn forward(walk: &mut Walk, above: &[NodeIndex], picked: &HashSet<EdgeIndex>) -> NodeLoad {
    let mut arrivals = Arrivals::none(walk.alike);
    let mut told = NodeLoad::default();
    for node in above {
        let over = |walk: &Walk, edge: EdgeIndex| {
            !walk.order.is_closing(edge) && (!is_choice(walk, edge) || picked.contains(&edge))
        };
        walk.gather(*node, over, &mut arrivals);
        walk.enter(*node, &mut arrivals);
        walk.keep(*node, &arrivals);
        told = walk.told(*node, &arrivals);
    }
    // The service itself comes last: everything else in the list calls it, directly or not.
    told
}
