//! temp
use super::{Path, System};
use petgraph::graph::NodeIndex;
pub fn k_best(_: &System, _: NodeIndex, _: usize) -> Vec<Path> {
    Vec::new()
}
