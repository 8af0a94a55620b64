//! The call graph with what follows from it: text for people, DOT for drawing, JSON for programs.

mod dot;
mod json;
#[cfg(test)]
mod tests;
mod text;

use std::collections::HashSet;

use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::facts::{Class, Protocol};
use crate::graph::amount::Amount;
use crate::graph::amplification::spoken;
use crate::graph::order::{Step, ancestors, descendants};
use crate::graph::tries::{Hop, Scratch, View as Lane};
use crate::graph::{Edge, Factor, Net, Node, System};
use crate::suggest::did_you_mean;

pub use dot::render as dot;
#[cfg(test)]
pub(super) use json::Document;
pub use json::write as write_json;
pub use text::render as text;

/// Which part of the graph is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Focus {
    /// All of it.
    #[default]
    All,
    /// Services and calls on a way from one service to another.
    Path(String, String),
    /// A service, its callers and its callees.
    Around(String),
}

/// No service has the name that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no service is called `{name}`")]
pub struct UnknownService {
    /// As asked for.
    pub name: String,
    /// The nearest name that there is.
    pub nearest: Option<String>,
}

/// One environment as it is shown.
#[derive(Debug)]
pub struct View<'a> {
    system: &'a System<'a>,
    /// Services, callers before callees.
    nodes: Vec<NodeIndex>,
    /// The same by index of node.
    is_shown: Vec<bool>,
    /// Calls in the order of their callers, then of their callees.
    edges: Vec<EdgeIndex>,
    /// Tries are shown for this failure; without it, for the one with the most.
    class: Option<Class>,
    /// What is said if there is nothing to show.
    nothing: String,
}

/// What is shown of each environment. Where a class is asked for, `systems` are those of that class
/// ([`System::caused_by`]), so that services and calls speak of the same failure.
///
/// # Errors
/// If no environment has a service of a name in `focus`.
pub fn view<'a>(
    systems: &'a [System<'a>],
    focus: &Focus,
    class: Option<Class>,
) -> Result<Vec<View<'a>>, UnknownService> {
    let names: &[&String] = match focus {
        Focus::All => &[],
        Focus::Path(from, to) => &[from, to],
        Focus::Around(name) => &[name],
    };
    for name in names {
        if !systems.iter().any(|system| !find(&system.net, name).is_empty()) {
            let known = systems.iter().flat_map(|system| system.net.graph.node_weights());
            let nearest = did_you_mean(name, known.map(|node| &*node.display)).map(ToString::to_string);
            return Err(UnknownService { name: (*name).clone(), nearest });
        }
    }
    Ok(systems.iter().map(|system| View::new(system, focus, class)).collect())
}

/// Services of a name: as shown, or without its namespace.
fn find(net: &Net, name: &str) -> Vec<NodeIndex> {
    let with = |by: fn(&Node) -> &str| {
        net.graph
            .node_indices()
            .filter(|node| net.graph.node_weight(*node).is_some_and(|node| by(node) == name))
            .collect()
    };
    let exact: Vec<NodeIndex> = with(|node| &node.display);
    if exact.is_empty() { with(|node| &node.name) } else { exact }
}

/// What stands before a number of tries: unknown ones make it a bound, those that are limited by time an estimate.
fn how_sure(is_lower_bound: bool, about: bool) -> &'static str {
    match (is_lower_bound, about) {
        (true, _) => "≥ ",
        (false, true) => "about ",
        (false, false) => "",
    }
}

impl<'a> View<'a> {
    fn new(system: &'a System<'a>, focus: &Focus, class: Option<Class>) -> Self {
        let net = &system.net;
        let shown: Option<HashSet<NodeIndex>> = match focus {
            Focus::All => None,
            Focus::Path(from, to) => {
                let below: HashSet<NodeIndex> =
                    find(net, from).into_iter().flat_map(|at| descendants(net, at)).collect();
                let above: HashSet<NodeIndex> = find(net, to).into_iter().flat_map(|at| ancestors(net, at)).collect();
                Some(below.intersection(&above).copied().collect())
            }
            Focus::Around(name) => {
                let centre = find(net, name);
                Some(centre.iter().flat_map(|at| net.graph.neighbors_undirected(*at)).chain(centre.clone()).collect())
            }
        };
        let is_shown = |node: NodeIndex| shown.as_ref().is_none_or(|shown| shown.contains(&node));
        let order = &system.order;
        let mut nodes = Vec::new();
        for step in &order.steps {
            match step {
                Step::Service(node) => nodes.push(*node),
                Step::Knot(knot) => {
                    nodes.extend(order.knots.get(*knot).into_iter().flat_map(|knot| &knot.nodes).copied())
                }
            }
        }
        nodes.retain(|node| is_shown(*node));
        let is_shown_by_index = net.graph.node_indices().map(is_shown).collect();
        let mut place = vec![usize::MAX; net.graph.node_count()];
        for (at, node) in nodes.iter().enumerate() {
            if let Some(slot) = place.get_mut(node.index()) {
                *slot = at;
            }
        }
        let at = |node: NodeIndex| place.get(node.index()).copied().unwrap_or(usize::MAX);
        let centre: Option<Vec<NodeIndex>> = match focus {
            Focus::Around(name) => Some(find(net, name)),
            Focus::All | Focus::Path(..) => None,
        };
        let mut edges: Vec<(usize, usize, EdgeIndex)> = net
            .graph
            .edge_references()
            .filter(|edge| is_shown(edge.source()) && is_shown(edge.target()))
            .filter(|edge| {
                centre.as_ref().is_none_or(|centre| centre.contains(&edge.source()) || centre.contains(&edge.target()))
            })
            .map(|edge| (at(edge.source()), at(edge.target()), edge.id()))
            .collect();
        edges.sort_unstable();
        View {
            system,
            nodes,
            is_shown: is_shown_by_index,
            edges: edges.into_iter().map(|(_, _, edge)| edge).collect(),
            class,
            nothing: match focus {
                Focus::Path(from, to) => format!("no way leads from `{from}` to `{to}`"),
                Focus::All | Focus::Around(_) => "no services".to_string(),
            },
        }
    }

    /// The tries of a call if its callee fails in this way, and what that is in the call's own protocol.
    fn told(&self, edge: &Edge, class: Class) -> (Class, Factor) {
        let class = spoken(class, edge.protocol.unwrap_or(Protocol::Http));
        (class, self.most(edge, class))
    }

    fn most(&self, edge: &Edge, class: Class) -> Factor {
        let mut scratch = Scratch::default();
        self.system.tries.most(Lane::new(edge, Default::default()), class, Hop::Last, &mut scratch)
    }

    /// The tries that [`View::most`] has, alone.
    fn most_tries(&self, edge: &Edge, class: Class) -> Amount {
        let mut scratch = Scratch::default();
        self.system.tries.most_tries(Lane::new(edge, Default::default()), class, Hop::Last, &mut scratch)
    }

    fn node(&self, node: NodeIndex) -> Option<&'a Node> {
        self.system.net.graph.node_weight(node)
    }

    /// Calls between services with their ends, then routes whose callers nobody knows.
    fn calls(&self) -> impl Iterator<Item = Shown<'a>> {
        let net = &self.system.net;
        let closed = self.edges.iter().filter_map(|id| {
            let (from, to) = net.graph.edge_endpoints(*id)?;
            Some(Shown {
                from: Some(self.node(from)?),
                to: self.node(to)?,
                edge: net.graph.edge_weight(*id)?,
                load: self.system.amplification.edges.get(id.index()),
            })
        });
        let open =
            net.open.iter().enumerate().filter(|(_, (to, _))| self.is_shown.get(to.index()) == Some(&true)).filter_map(
                |(at, (to, edge))| {
                    Some(Shown { from: None, to: self.node(*to)?, edge, load: self.system.amplification.open.get(at) })
                },
            );
        closed.chain(open)
    }
}

/// A call as it is shown.
struct Shown<'a> {
    /// None if nobody knows who calls.
    from: Option<&'a Node>,
    to: &'a Node,
    edge: &'a Edge,
    load: Option<&'a crate::graph::EdgeLoad>,
}

impl Shown<'_> {
    /// The failure and the tries to show: for the class that was asked for, else those with the most.
    fn tries(&self, view: &View<'_>) -> Option<(Class, Factor)> {
        match view.class {
            Some(class) => Some(view.told(self.edge, class)),
            None => self.load.map(|load| (load.class, load.factor.clone())),
        }
    }
}
