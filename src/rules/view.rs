//! [`EdgeView`]: an edge with everything that was computed for it, so that rules look at edges between services and at
//! routes whose callers nobody knows in one loop.

use petgraph::visit::EdgeRef as _;

use super::EdgeRef;
use crate::graph::{Edge, EdgeLoad, EdgeTime, Node, System};

/// An edge and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct EdgeView<'s> {
    /// Which one.
    pub at: EdgeRef,
    /// Who calls; none if nobody knows.
    pub caller: Option<&'s Node>,
    /// Who is called.
    pub callee: &'s Node,
    /// The edge.
    pub edge: &'s Edge,
    /// Its tries.
    pub load: Option<&'s EdgeLoad>,
    /// Its times.
    pub time: Option<&'s EdgeTime>,
}

impl<'s> EdgeView<'s> {
    /// Every edge of a system: those between services by index, then the open ones.
    pub fn all(system: &'s System<'_>) -> impl Iterator<Item = EdgeView<'s>> {
        let graph = &system.net.graph;
        let closed = graph.edge_references().filter_map(move |edge| {
            Some(EdgeView {
                at: EdgeRef::Net(edge.id()),
                caller: Some(graph.node_weight(edge.source())?),
                callee: graph.node_weight(edge.target())?,
                edge: edge.weight(),
                load: system.amplification.edges.get(edge.id().index()),
                time: system.deadlines.edges.get(edge.id().index()),
            })
        });
        let open = system.net.open.iter().enumerate().filter_map(move |(index, (callee, edge))| {
            Some(EdgeView {
                at: EdgeRef::Open(index),
                caller: None,
                callee: graph.node_weight(*callee)?,
                edge,
                load: system.amplification.open.get(index),
                time: system.deadlines.open.get(index),
            })
        });
        closed.chain(open)
    }

    /// `web → ledger`, or `any caller → ledger`.
    pub fn arrow(&self) -> String {
        format!("{} → {}", self.caller.map_or("any caller", |node| &node.display), self.callee.display)
    }
}
