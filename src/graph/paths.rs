//! The worst paths to a service, each hop with its class and factor.
//!
//! For each service above and each kind of failure that may reach its handler, the `k` best ways from a root are kept,
//! callers first; no path is enumerated. A path that is not among the best of a service is beaten, with whatever follows,
//! by the `k` that are. Budgets make three lists of one (contracts.md D-13): ways with a layer that no budget bounds are
//! worth their tries whatever follows; those of which every layer has one are worth what budgets leave, or their tries once
//! a layer without one follows.

use std::collections::{HashMap, HashSet};

use petgraph::Direction::Incoming;
use petgraph::graph::{EdgeIndex, EdgeReference, NodeIndex};
use petgraph::visit::EdgeRef;

use super::amount::Amount;
use super::amplification::{emits, fan_out, spoken, traffic_from};
use super::handover::answers;
use super::order::{Knot, ancestors};
use super::product::Product;
use super::tries::{self, Outcome, Scratch, View};
use super::{Edge, Hop, Path, System};
use crate::facts::Class;

/// Ways looked at in one circle, and hops looked back over to see that none of them repeats itself.
const WORK: usize = 1 << 20;

/// Which of two paths is the greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// By its product of tries.
    Tries,
    /// By what levels go by: what budgets leave, if every layer that multiplies has one.
    Figure,
}

impl By {
    /// The greater first by this one, then by the other.
    fn measure(self, product: &Product) -> (Amount, Amount) {
        match self {
            By::Tries => product.by_tries(),
            By::Figure => product.by_figure(),
        }
    }
}

/// A way from a root to a service.
#[derive(Clone, Copy, Debug)]
struct Way {
    product: Product,
    hops: u32,
    /// The same for every way over the same edges.
    path: u32,
    /// Its last hop: edge, class that goes into it, class that comes out, and the way before (in [`Search::ways`]). None
    /// at a root.
    last: Option<(EdgeIndex, Class, Class, u32)>,
    /// What the last hop added.
    added: Product,
}

struct Search<'s, 'a> {
    system: &'s System<'a>,
    k: usize,
    /// Everything that was kept.
    ways: Vec<Way>,
    /// By service and kind of failure: indices of the best ways.
    best: HashMap<(NodeIndex, usize), Vec<u32>>,
    /// One number for each sequence of edges.
    paths: HashMap<(EdgeIndex, u32), u32>,
    scratch: Scratch,
    /// What was looked at within circles so far, as [`WORK`] counts it.
    spent: usize,
}

/// The `k` greatest paths to a service, the greatest first; of equals the shorter. Each path counts once, with the class
/// that is worst for it. Empty for a root.
pub fn k_best(system: &System, node: NodeIndex, k: usize, by: By) -> Vec<Path> {
    if k == 0 || node.index() >= system.net.graph.node_count() {
        return Vec::new();
    }
    let mut search = Search::new(system, k);
    search.climb(ancestors(&system.net, node));
    search.to(node, by)
}

/// The same for many services of one system, for the price of one: what is shared above them is looked at once.
pub struct BestPaths<'s, 'a> {
    search: Search<'s, 'a>,
}

impl<'s, 'a> BestPaths<'s, 'a> {
    /// Prepares to tell the `k` best paths to any service.
    pub fn new(system: &'s System<'a>, k: usize) -> Self {
        let mut search = Search::new(system, k);
        if k > 0 {
            search.climb(system.net.graph.node_indices().collect());
        }
        BestPaths { search }
    }

    /// As [`k_best`].
    pub fn to(&mut self, node: NodeIndex, by: By) -> Vec<Path> {
        if self.search.k == 0 { Vec::new() } else { self.search.to(node, by) }
    }

    /// The last hops of the path with most tries to a service, at most so many, and how many stand above them. None for a
    /// root.
    pub fn end_of_worst(&mut self, node: NodeIndex, most: usize) -> Option<(Vec<Hop>, usize)> {
        let way = self.search.ways_to(node, By::Tries).into_iter().next()?;
        let hops = self.search.last_hops(&way, most);
        let above = (way.hops as usize).saturating_sub(hops.len());
        Some((hops, above))
    }
}

impl<'s, 'a> Search<'s, 'a> {
    fn new(system: &'s System<'a>, k: usize) -> Self {
        let (ways, best, paths) = (Vec::new(), HashMap::new(), HashMap::new());
        Search { system, k, ways, best, paths, scratch: Scratch::default(), spent: 0 }
    }

    /// The best paths to a service whose callers' lists are filled.
    fn to(&mut self, node: NodeIndex, by: By) -> Vec<Path> {
        let ways = self.ways_to(node, by);
        ways.iter().map(|way| Path { hops: self.last_hops(way, usize::MAX), product: way.product }).collect()
    }

    /// The same as ways, of which no hop is told yet.
    fn ways_to(&mut self, node: NodeIndex, by: By) -> Vec<Way> {
        let system = self.system;
        let mut found = Vec::new();
        for cause in system.alike.causes() {
            for edge in system.net.graph.edges_directed(node, Incoming) {
                let view = View::new(edge.weight(), traffic_from(system, edge.source(), edge.weight()));
                self.over(edge, spoken(*cause, view.protocol), tries::Hop::Last, &mut found);
            }
        }
        best_of(&mut found, self.k, by)
    }

    /// Fills the lists of all these services, callers first.
    fn climb(&mut self, above: HashSet<NodeIndex>) {
        let order = &self.system.order;
        let mut above: Vec<NodeIndex> = above.into_iter().collect();
        above.sort_unstable_by_key(|node| (order.position(*node), *node));
        let mut done = None;
        for node in above {
            match order.knot_of(node) {
                None => self.arrive(node, |search, edge| !search.system.order.is_closing(edge.id())),
                Some(knot) if done == Some(knot) => {}
                Some(knot) => {
                    done = Some(knot);
                    if let Some(knot) = order.knots.get(knot) {
                        self.circle(knot);
                    }
                }
            }
        }
    }

    /// The best ways to a service over those of its calls that `over` lets through.
    fn arrive(&mut self, node: NodeIndex, over: impl Fn(&Self, &EdgeReference<'_, Edge>) -> bool) {
        let system = self.system;
        let emits = emits(&system.net, node);
        let is_root = system.order.is_root(&system.net, node);
        for (kind, below) in system.alike.representatives().iter().enumerate() {
            let mut found = Vec::new();
            if is_root {
                found.push(Way { product: Product::ONE, hops: 0, path: 0, last: None, added: Product::ONE });
            }
            for edge in system.net.graph.edges_directed(node, Incoming) {
                if !over(self, &edge) {
                    continue;
                }
                let protocol = View::new(edge.weight(), Default::default()).protocol;
                for class in answers(*below, protocol, emits).iter() {
                    self.over(edge, class, tries::Hop::Above, &mut found);
                }
            }
            let kept = self.worth_keeping(found);
            let first = self.ways.len() as u32;
            self.best.insert((node, kind), (first..first + kept.len() as u32).collect());
            self.ways.extend(kept);
        }
    }

    /// Services that call one another: their lists feed one another, one hop more each time. A way stops where it would
    /// come to a service again.
    fn circle(&mut self, knot: &Knot) {
        let system = self.system;
        for node in &knot.nodes {
            self.arrive(*node, |search, edge| !search.system.order.is_internal(&search.system.net, edge.id()));
        }
        let kinds = system.alike.count();
        let keys = || knot.nodes.iter().flat_map(|node| (0..kinds).map(move |kind| (*node, kind)));
        let until = self.spent.saturating_add(WORK);
        let mut before: Vec<Vec<u32>> = keys().map(|key| self.edges_of(key)).collect();
        for _ in 0..knot.nodes.len() {
            for node in &knot.nodes {
                // Within one round, too: in a ring, each way is one hop longer than the one before it.
                if self.spent < until {
                    self.arrive(*node, |_, _| true);
                }
            }
            let now: Vec<Vec<u32>> = keys().map(|key| self.edges_of(key)).collect();
            if now == before || self.spent >= until {
                break;
            }
            before = now;
        }
    }

    /// The sequences of edges of a list.
    fn edges_of(&self, key: (NodeIndex, usize)) -> Vec<u32> {
        let ids = self.best.get(&key).into_iter().flatten();
        ids.filter_map(|id| Some(self.ways.get(*id as usize)?.path)).collect()
    }

    /// Every way over one edge if `class` goes back over it.
    fn over(&mut self, edge: EdgeReference<'_, Edge>, class: Class, hop: tries::Hop, found: &mut Vec<Way>) {
        let system = self.system;
        if fan_out(edge.weight()) == Amount::ZERO {
            return;
        }
        let may_repeat = system.order.is_internal(&system.net, edge.id()) || system.order.is_closing(edge.id());
        let view = View::new(edge.weight(), traffic_from(system, edge.source(), edge.weight()));
        self.scratch.next_edge();
        let outcomes = system.tries.outcomes(view, class, hop, &mut self.scratch).to_vec();
        for outcome in outcomes {
            let key = (edge.source(), system.alike.kind(outcome.class));
            let Some(before) = self.best.get(&key) else { continue };
            for id in before.clone() {
                let Some(way) = self.ways.get(id as usize).copied() else { continue };
                if may_repeat {
                    let (passes, hops) = self.passes(&way, edge.target());
                    self.spent = self.spent.saturating_add(1 + hops);
                    if passes {
                        continue;
                    }
                }
                let next = self.paths.len() as u32 + 1;
                let path = *self.paths.entry((edge.id(), way.path)).or_insert(next);
                found.push(Way {
                    product: way.product * outcome.product,
                    hops: way.hops + 1,
                    path,
                    last: Some((edge.id(), class, outcome.class, id)),
                    added: outcome.product,
                });
            }
        }
    }

    /// Whether a way has come through a service, and how many hops it took to see that. Once out of the service's circle, a
    /// way is not in it again.
    fn passes(&self, way: &Way, node: NodeIndex) -> (bool, usize) {
        let order = &self.system.order;
        let knot = order.knot_of(node);
        let mut at = Some(*way);
        let mut hops = 0;
        while let Some(Way { last: Some((edge, _, _, before)), .. }) = at {
            hops += 1;
            let ends = self.system.net.graph.edge_endpoints(edge);
            if ends.is_some_and(|(from, to)| from == node || to == node) {
                return (true, hops);
            }
            if knot.is_some() && ends.is_none_or(|(from, _)| order.knot_of(from) != knot) {
                break;
            }
            at = self.ways.get(before as usize).copied();
        }
        (false, hops)
    }

    /// The last hops of a way, at most so many, with their factors. Ways are kept for kinds of failure; here each hop gets
    /// the class of its kind that really comes up from the hop below, the same one as there if it is passed on.
    fn last_hops(&mut self, way: &Way, most: usize) -> Vec<Hop> {
        let mut hops = Vec::new();
        let mut at = Some(*way);
        let mut place = tries::Hop::Last;
        let mut below: Option<Class> = None;
        while let Some(Way { last: Some((edge, kept, out, before)), added, .. }) = at.filter(|_| hops.len() < most) {
            let class = below.map_or(kept, |below| self.class_above(edge, kept, below));
            let mut factor = super::Factor::default();
            below = Some(out);
            if let (Some(weight), Some((from, _))) =
                (self.system.net.graph.edge_weight(edge), self.system.net.graph.edge_endpoints(edge))
            {
                let view = View::new(weight, traffic_from(self.system, from, weight));
                self.scratch.next_edge();
                let outcomes = self.system.tries.outcomes(view, class, place, &mut self.scratch);
                let alike = &self.system.alike;
                let same_kind = outcomes.iter().copied().filter(|outcome| alike.kind(outcome.class) == alike.kind(out));
                // Of one kind that from which the way got its product. Of equals the class that went in, if it comes out
                // unchanged.
                let fits = |outcome: &Outcome| (outcome.product != added, outcome.class != class, outcome.class != out);
                if let Some(outcome) = same_kind.reduce(|a, b| if fits(&b) < fits(&a) { b } else { a }) {
                    factor = self.system.tries.factor(view, &outcome, &self.scratch);
                    below = Some(outcome.class);
                }
            }
            hops.push(Hop { edge, class, factor });
            place = tries::Hop::Above;
            at = self.ways.get(before as usize).copied();
        }
        hops.reverse();
        hops
    }
}

impl Search<'_, '_> {
    /// The ways of which one may be the greatest for a service further down.
    fn worth_keeping(&self, mut found: Vec<Way>) -> Vec<Way> {
        if !self.system.tries.any_budget {
            return best_of(&mut found, self.k, By::Tries);
        }
        let (mut held, mut open): (Vec<Way>, Vec<Way>) = found.into_iter().partition(|way| way.product.all_bounded);
        let mut kept = best_of(&mut open, self.k, By::Tries);
        kept.extend(best_of(&mut held, self.k, By::Tries));
        let is_kept = |kept: &[Way], way: &Way| kept.iter().any(|k| (k.path, k.product) == (way.path, way.product));
        for way in best_of(&mut held, self.k, By::Figure) {
            if !is_kept(&kept, &way) {
                kept.push(way);
            }
        }
        kept
    }

    /// The class that goes back over an edge if its callee, after what came up from `below`, answers with the kind of
    /// `kept`.
    fn class_above(&self, edge: EdgeIndex, kept: Class, below: Class) -> Class {
        let net = &self.system.net;
        let (Some(weight), Some((_, callee))) = (net.graph.edge_weight(edge), net.graph.edge_endpoints(edge)) else {
            return kept;
        };
        let protocol = View::new(weight, Default::default()).protocol;
        let kind = self.system.alike.kind(kept);
        answers(below, protocol, emits(net, callee))
            .iter()
            .filter(|class| self.system.alike.kind(*class) == kind)
            .min_by_key(|class| *class != below)
            .unwrap_or(kept)
    }
}

/// The `k` greatest, each sequence of edges once.
fn best_of(ways: &mut [Way], k: usize, by: By) -> Vec<Way> {
    // Of equals the one whose last call was named first; stable, so that the class that was tried first stays in front.
    let edge = |way: &Way| way.last.map(|(edge, ..)| edge);
    ways.sort_by(|a, b| {
        let measure = by.measure(&b.product).partial_cmp(&by.measure(&a.product));
        let by_product = measure.unwrap_or(std::cmp::Ordering::Equal);
        by_product.then(a.hops.cmp(&b.hops)).then(edge(a).cmp(&edge(b))).then(a.path.cmp(&b.path))
    });
    let mut seen = HashSet::new();
    let mut best = Vec::with_capacity(k.min(ways.len()));
    for way in ways.iter() {
        if best.len() < k && seen.insert(way.path) {
            best.push(*way);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::nets::{FIVE_XX, NEW_ISTIO, OLD_ISTIO, Sketch, code, sidecar};
    use crate::limits::Limits;

    /// Paths as `product: service service …` with the tries of each hop.
    fn shown(mut sketch: Sketch, service: &str, k: usize) -> Vec<String> {
        let node = sketch.service(service);
        sketch.analysed(|system| {
            let name = |node: NodeIndex| system.net.graph[node].name.to_string();
            let show = |path: &Path| {
                let mut text = format!("{}:", path.product.tries);
                for (at, hop) in path.hops.iter().enumerate() {
                    let (from, to) = system.net.graph.edge_endpoints(hop.edge).unwrap();
                    if at == 0 {
                        text += &format!(" {}", name(from));
                    }
                    text += &format!(" x{} {}", hop.factor.tries, name(to));
                }
                text
            };
            let best = k_best(system, node, k, By::Tries);
            let products = |paths: &[Path]| paths.iter().map(|path| path.product).collect::<Vec<_>>();
            for by in [By::Tries, By::Figure] {
                // Without budgets both are the same.
                assert_eq!(products(&BestPaths::new(system, k).to(node, by)), products(&best));
            }
            best.iter().map(show).collect()
        })
    }

    fn plain(calls: &[(&str, &str, u64)]) -> Sketch {
        let mut sketch = Sketch::default();
        for (from, to, tries) in calls {
            sketch.call(from, to, [code(*tries)]);
        }
        sketch
    }

    #[test]
    fn paths_come_in_order_of_their_products() {
        let calls =
            [("root", "x", 2), ("root", "y", 3), ("x", "d", 3), ("y", "d", 5), ("cron", "y", 2), ("root", "d", 2)];
        assert_eq!(shown(plain(&calls), "d", 3), ["15: root x3 y x5 d", "10: cron x2 y x5 d", "6: root x2 x x3 d"]);
        assert_eq!(shown(plain(&calls), "d", 9).len(), 4);
        assert_eq!(shown(plain(&calls), "root", 9), [""; 0]);
        assert_eq!(shown(plain(&calls), "d", 0), [""; 0]);
    }

    /// 2^40 paths: the three best are found without looking at them all.
    #[test]
    fn the_best_of_a_chain_of_diamonds_are_found() {
        let mut sketch = Sketch::default();
        for i in 0..40 {
            for (side, tries) in [("left", 2), ("right", 1)] {
                let side = format!("{side}-{i}");
                sketch.call(&format!("n-{i}"), &side, [code(tries)]);
                sketch.call(&side, &format!("n-{}", i + 1), [code(1)]);
            }
        }
        let node = sketch.service("n-40");
        sketch.analysed(|system| {
            let products: Vec<Amount> =
                k_best(system, node, 3, By::Figure).iter().map(|path| path.product.tries).collect();
            assert_eq!(products, [1 << 40, 1 << 39, 1 << 39].map(Amount::Exact));
        });
    }

    /// Measured with a gateway `5xx/2`: three tries if the callee resets or lets each try time out, as if it answers 503.
    /// The proxy hands out another class than went in, and the tries are that one's.
    #[test]
    fn a_hop_has_the_tries_of_its_path_where_the_class_changes_on_the_way_out() {
        for (class, tries) in [(Class::TryTimeout, 3), (Class::Reset, 3), (Class::Overload, 3), (Class::RateLimited, 1)]
        {
            let mut sketch = Sketch::default();
            sketch.call("gateway", "checkout", [sidecar(3, FIVE_XX)]);
            let node = sketch.service("checkout");
            let limits = Limits::default();
            let system = System::caused_by(&sketch.facts, &limits, sketch.net, Some(class));
            let hops: Vec<Amount> =
                k_best(&system, node, 1, By::Tries)[0].hops.iter().map(|hop| hop.factor.tries).collect();
            assert_eq!(hops, [Amount::Exact(tries)], "{}", class.name());
        }
    }

    #[test]
    fn every_hop_says_which_class_it_sees() {
        let mut sketch = Sketch::default();
        for (from, to) in [("web", "a"), ("a", "ledger")] {
            sketch.call(from, to, [code(2), sidecar(3, OLD_ISTIO)]);
        }
        let node = sketch.service("ledger");
        sketch.analysed(|system| {
            let best = k_best(system, node, 1, By::Figure);
            let hops: Vec<(&str, usize)> =
                best[0].hops.iter().map(|hop| (hop.class.name(), hop.factor.parts.len())).collect();
            assert_eq!((best[0].product.tries, hops), (Amount::Exact(36), vec![("overload", 2), ("overload", 2)]));
            assert_eq!(best[0].product.tries, system.amplification.nodes[node.index()].worst);
        });
    }

    /// A path counts once, with its worst class, however many classes go over it.
    #[test]
    fn a_path_is_listed_once() {
        let mut sketch = Sketch::default();
        sketch.call("web", "a", [sidecar(3, FIVE_XX)]);
        sketch.call("a", "ledger", [sidecar(3, NEW_ISTIO)]);
        sketch.call("web", "ledger", [sidecar(2, OLD_ISTIO)]);
        assert_eq!(shown(sketch, "ledger", 5), ["3: web x3 a x1 ledger", "2: web x2 ledger"]);
    }

    #[test]
    fn a_path_stops_where_it_would_repeat_itself() {
        let calls = [("web", "a", 2), ("a", "b", 2), ("b", "a", 3), ("b", "b", 7), ("b", "db", 1), ("cron", "b", 1)];
        assert_eq!(shown(plain(&calls), "db", 9), ["4: web x2 a x2 b x1 db", "1: cron x1 b x1 db"]);
        assert_eq!(shown(plain(&calls), "a", 9), ["3: cron x1 b x3 a", "2: web x2 a"]);
    }

    /// Every service calls the next twenty: ways round are long, and each must be looked back over.
    #[test]
    fn a_large_tangle_costs_no_more_than_its_share() {
        let mut sketch = Sketch::default();
        for i in 0..200 {
            for next in 1..=20 {
                sketch.call(&format!("s-{i}"), &format!("s-{}", (i + next) % 200), [code(2)]);
            }
        }
        sketch.analysed(|system| {
            let spent = BestPaths::new(system, 3).search.spent;
            // Until the work is used up, and to the end of the service at which that happens: 20 callers, 3 ways of up to
            // 200 hops from each, for every class that may be meant.
            assert!((WORK..WORK + 20 * 3 * 200 * Class::COUNT).contains(&spent), "{spent}");
        });
    }
}
