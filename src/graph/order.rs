//! The order in which a graph is walked: callers before callees, with every knot of mutual calls in one piece.

use std::collections::{HashMap, HashSet, VecDeque};

use petgraph::Direction::{Incoming, Outgoing};
use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;

use super::Net;
use crate::facts::Operation;

/// Edges looked at for each operation of a knot before it counts as a cycle without further proof.
const WORK: usize = 1 << 20;

/// Callers first.
#[derive(Debug, Default)]
pub struct Order {
    /// What to take up next.
    pub steps: Vec<Step>,
    /// Cycles of calls, self-calls among them.
    pub knots: Vec<Knot>,
    /// By node: its place in `steps`.
    position: Vec<u32>,
    /// By node: its knot, if it is in one.
    knot_of: HashMap<NodeIndex, usize>,
    /// Edges that lead back but close no cycle, since their operation is another one (D-15).
    closing: HashSet<EdgeIndex>,
}

/// One piece of the walk.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A service on its own.
    Service(NodeIndex),
    /// A knot, by index.
    Knot(usize),
}

/// Services that call one another in a circle.
#[derive(Debug)]
pub struct Knot {
    /// All of them, the first by name in front.
    pub nodes: Vec<NodeIndex>,
    /// The calls among them.
    pub edges: Vec<EdgeIndex>,
    /// One way round, from the first service that lies on one.
    pub round: Vec<EdgeIndex>,
    /// Whether nothing else calls into it: then its first service is a root.
    pub is_root: bool,
}

impl Order {
    /// Of a graph, in time linear in its services and calls.
    pub fn new(net: &Net) -> Self {
        let mut order = Order::default();
        if !order.without_knots(net) {
            order.steps.clear();
            order.with_knots(net);
        }
        order.position = vec![0; net.graph.node_count()];
        for (at, step) in order.steps.iter().enumerate() {
            let knot = match step {
                Step::Service(node) => std::slice::from_ref(node),
                Step::Knot(knot) => order.knots.get(*knot).map(|knot| knot.nodes.as_slice()).unwrap_or_default(),
            };
            knot.iter().for_each(|node| order.position[node.index()] = at as u32);
        }
        order
    }

    /// Component by component.
    fn with_knots(&mut self, net: &Net) {
        // Kosaraju's algorithm in petgraph keeps its own stack; Tarjan's there recurses, once for each service of a chain.
        // Its components come callees first.
        for mut nodes in petgraph::algo::kosaraju_scc(&net.graph).into_iter().rev() {
            let calls_itself = |node: &NodeIndex| net.graph.find_edge(*node, *node).is_some();
            if nodes.len() == 1 && !nodes.iter().any(calls_itself) {
                self.steps.extend(nodes.into_iter().map(Step::Service));
                continue;
            }
            nodes.sort_by(|a, b| net.graph[*a].display.cmp(&net.graph[*b].display).then(a.cmp(b)));
            self.component(net, nodes);
        }
    }

    /// Kahn's order, if there is one.
    fn without_knots(&mut self, net: &Net) -> bool {
        let mut open: Vec<u32> = vec![0; net.graph.node_count()];
        for edge in net.graph.raw_edges() {
            open[edge.target().index()] += 1;
        }
        let mut ready: VecDeque<NodeIndex> = net.graph.node_indices().filter(|n| open[n.index()] == 0).collect();
        while let Some(node) = ready.pop_front() {
            self.steps.push(Step::Service(node));
            for callee in net.graph.neighbors(node) {
                let left = &mut open[callee.index()];
                *left -= 1;
                if *left == 0 {
                    ready.push_back(callee);
                }
            }
        }
        self.steps.len() == net.graph.node_count()
    }

    /// Files a component of more than one service, or of one that calls itself.
    fn component(&mut self, net: &Net, nodes: Vec<NodeIndex>) {
        let members: HashSet<NodeIndex> = nodes.iter().copied().collect();
        let mut edges: Vec<EdgeIndex> = nodes
            .iter()
            .flat_map(|node| net.graph.edges(*node))
            .filter(|edge| members.contains(&edge.target()))
            .map(|edge| edge.id())
            .collect();
        edges.sort_unstable();
        let is_root = !nodes
            .iter()
            .any(|node| net.graph.neighbors_directed(*node, Incoming).any(|caller| !members.contains(&caller)));
        match round(net, &nodes, &edges) {
            Some(round) => {
                self.knot_of.extend(nodes.iter().map(|node| (*node, self.knots.len())));
                self.steps.push(Step::Knot(self.knots.len()));
                self.knots.push(Knot { nodes, edges, round, is_root });
            }
            None => self.untie(net, &nodes, &members, is_root),
        }
    }

    /// A component in which no request can go round: its services in the order in which a walk from its entries finishes
    /// them, and the calls that lead back set aside.
    fn untie(&mut self, net: &Net, nodes: &[NodeIndex], members: &HashSet<NodeIndex>, is_root: bool) {
        let entered =
            |node: &NodeIndex| net.graph.neighbors_directed(*node, Incoming).any(|caller| !members.contains(&caller));
        let mut starts: Vec<NodeIndex> = nodes.iter().copied().filter(entered).collect();
        if is_root {
            starts.extend(nodes.first());
        }
        starts.extend(nodes);
        // 1: on the stack; 2: finished.
        let mut state: HashMap<NodeIndex, u8> = HashMap::new();
        let mut finished = Vec::new();
        for start in starts {
            if state.contains_key(&start) {
                continue;
            }
            state.insert(start, 1);
            let mut stack = vec![(start, net.graph.neighbors(start).detach())];
            while let Some((node, walk)) = stack.last_mut() {
                match walk.next(&net.graph) {
                    Some((edge, callee)) if members.contains(&callee) => match state.get(&callee) {
                        None => {
                            state.insert(callee, 1);
                            stack.push((callee, net.graph.neighbors(callee).detach()));
                        }
                        Some(1) => {
                            self.closing.insert(edge);
                        }
                        Some(_) => {}
                    },
                    Some(_) => {}
                    None => {
                        state.insert(*node, 2);
                        finished.push(*node);
                        stack.pop();
                    }
                }
            }
        }
        self.steps.extend(finished.into_iter().rev().map(Step::Service));
    }

    /// Where a service comes up: below everything that calls it.
    pub fn position(&self, node: NodeIndex) -> u32 {
        self.position.get(node.index()).copied().unwrap_or(u32::MAX)
    }

    /// The knot of a service, if it is in one.
    pub fn knot_of(&self, node: NodeIndex) -> Option<usize> {
        if self.knots.is_empty() { None } else { self.knot_of.get(&node).copied() }
    }

    /// Whether an edge joins two services of one knot.
    pub fn is_internal(&self, net: &Net, edge: EdgeIndex) -> bool {
        !self.knots.is_empty()
            && net.graph.edge_endpoints(edge).is_some_and(|(from, to)| {
                let knot = self.knot_of(from);
                knot.is_some() && knot == self.knot_of(to)
            })
    }

    /// Whether an edge leads back without closing a cycle: requests over it arrive, and are not followed further.
    pub fn is_closing(&self, edge: EdgeIndex) -> bool {
        !self.closing.is_empty() && self.closing.contains(&edge)
    }

    /// Services that an edge leads back to without closing a cycle.
    pub fn closed_at(&self, net: &Net) -> Vec<NodeIndex> {
        let mut nodes: Vec<NodeIndex> =
            self.closing.iter().filter_map(|edge| Some(net.graph.edge_endpoints(*edge)?.1)).collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Whether a service is a root: nobody calls it, or nobody outside of its circle and it is the first of that.
    pub fn is_root(&self, net: &Net, node: NodeIndex) -> bool {
        let mut callers = net.graph.edges_directed(node, Incoming).filter(|edge| !self.is_closing(edge.id()));
        match self.knot_of(node).and_then(|knot| self.knots.get(knot)) {
            Some(knot) => knot.is_root && knot.nodes.first() == Some(&node),
            None => callers.next().is_none(),
        }
    }
}

/// One way round within a component, shortest from its first service that lies on one. None if every circle holds two
/// calls whose known operations differ: what one triggers is not the other (D-15).
fn round(net: &Net, nodes: &[NodeIndex], edges: &[EdgeIndex]) -> Option<Vec<EdgeIndex>> {
    let operation = |edge: &EdgeIndex| net.graph.edge_weight(*edge).and_then(|edge| edge.operation.as_ref());
    let mut operations: Vec<&Operation> = Vec::new();
    let mut seen = HashSet::new();
    operations.extend(edges.iter().filter_map(operation).filter(|operation| seen.insert(*operation)));
    if operations.len() < 2 || operations.len().saturating_mul(edges.len()) > WORK {
        return way_round(net, nodes, edges);
    }
    operations.into_iter().find_map(|one| {
        let fitting: Vec<EdgeIndex> =
            edges.iter().copied().filter(|edge| operation(edge).is_none_or(|other| other == one)).collect();
        way_round(net, nodes, &fitting)
    })
}

/// The shortest circle through the first service that has one, over these edges only.
fn way_round(net: &Net, nodes: &[NodeIndex], edges: &[EdgeIndex]) -> Option<Vec<EdgeIndex>> {
    let mut calls: HashMap<NodeIndex, Vec<(NodeIndex, EdgeIndex)>> = HashMap::new();
    let mut callers: HashMap<NodeIndex, u32> = HashMap::new();
    for edge in edges {
        let (from, to) = net.graph.edge_endpoints(*edge)?;
        calls.entry(from).or_default().push((to, *edge));
        *callers.entry(to).or_default() += 1;
    }
    // What nobody in here calls, or what calls nobody in here, lies on no circle: peeled off until nothing changes, so
    // that every search below but the last few succeeds.
    let mut idle: Vec<NodeIndex> = nodes.iter().copied().filter(|node| !callers.contains_key(node)).collect();
    while let Some(node) = idle.pop() {
        for (callee, _) in calls.remove(&node).unwrap_or_default() {
            if let Some(left) = callers.get_mut(&callee) {
                *left -= 1;
                if *left == 0 {
                    callers.remove(&callee);
                    idle.push(callee);
                }
            }
        }
    }
    // A service that is left either lies on a circle or is reached from one; a walk against the arrows cannot leave.
    let start = nodes.iter().copied().find(|node| calls.contains_key(node))?;
    let mut back: HashMap<NodeIndex, (NodeIndex, EdgeIndex)> = HashMap::new();
    for (from, targets) in &calls {
        for (to, edge) in targets {
            let entry = back.entry(*to).or_insert((*from, *edge));
            if edge < &entry.1 {
                *entry = (*from, *edge);
            }
        }
    }
    shortest(&calls, start).or_else(|| {
        // The first by name only hangs on a circle: follow callers until one repeats.
        let mut at = start;
        let mut seen = HashSet::new();
        while seen.insert(at) {
            at = back.get(&at)?.0;
        }
        shortest(&calls, at)
    })
}

/// The shortest circle through `start`, breadth first.
fn shortest(calls: &HashMap<NodeIndex, Vec<(NodeIndex, EdgeIndex)>>, start: NodeIndex) -> Option<Vec<EdgeIndex>> {
    let mut came: HashMap<NodeIndex, (NodeIndex, EdgeIndex)> = HashMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for (callee, edge) in calls.get(&node).into_iter().flatten() {
            if *callee == start {
                let mut round = vec![*edge];
                let mut at = node;
                while at != start {
                    let (before, edge) = came.get(&at)?;
                    round.push(*edge);
                    at = *before;
                }
                round.reverse();
                return Some(round);
            }
            if !came.contains_key(callee) {
                came.insert(*callee, (node, *edge));
                queue.push_back(*callee);
            }
        }
    }
    None
}

/// Everything from which a service can be reached, itself included, in no particular order.
pub fn ancestors(net: &Net, node: NodeIndex) -> HashSet<NodeIndex> {
    reach(net, node, Incoming)
}

/// Everything that can be reached from a service, itself included.
pub fn descendants(net: &Net, node: NodeIndex) -> HashSet<NodeIndex> {
    reach(net, node, Outgoing)
}

fn reach(net: &Net, node: NodeIndex, direction: petgraph::Direction) -> HashSet<NodeIndex> {
    let mut seen = HashSet::from([node]);
    let mut stack = vec![node];
    while let Some(node) = stack.pop() {
        stack.extend(net.graph.neighbors_directed(node, direction).filter(|next| seen.insert(*next)));
    }
    seen
}
