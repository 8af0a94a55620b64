//! Calls that come back to where they began. Page: `rules/retry-cycle.md`.

use super::{EdgeRef, Findings};
use crate::facts::words;
use crate::finding::Severity;
use crate::graph::{Cycle, System};

pub(super) fn check(system: &System, findings: &mut Findings) {
    for cycle in &system.amplification.cycles {
        if cycle.max_hops.is_some() {
            continue; // it ends, and what it adds up to is in every number already
        }
        report(system, cycle, cycle.gain >= 1.0, findings);
    }
}

fn report(system: &System, cycle: &Cycle, grows: bool, findings: &mut Findings) {
    let graph = &system.net.graph;
    let names: Vec<&str> =
        cycle.nodes.iter().filter_map(|node| graph.node_weight(*node)).map(|node| &*node.display).collect();
    let (Some(first), Some(last)) = (
        cycle.nodes.first().and_then(|node| graph.node_weight(*node)),
        cycle.nodes.last().and_then(|node| graph.node_weight(*node)),
    ) else {
        return;
    };
    // The edge that closes the cycle is the one to ask about.
    let mut edges = cycle.edges.iter().rev().filter_map(|id| Some((*id, graph.edge_weight(*id)?)));
    let Some((closing, edge)) = edges.next() else { return };
    let round = match names.as_slice() {
        [own] => format!("`{own}` calls itself"),
        _ => format!("{} → {} calls on in a cycle", names.join(" → "), first.display),
    };
    let gain = words::factor(cycle.gain);
    let message = if cycle.gain.is_infinite() {
        format!("{round} and nothing ends it: each round repeats the next one without end")
    } else if cycle.gain == 1.0 {
        // It does not grow, and never stops either.
        format!("{round} and nothing ends it: each round makes the next one")
    } else if grows {
        format!("{round} and nothing ends it: each round makes {gain} requests of one")
    } else {
        format!("{round}: one request becomes {} at `{}`", cycle.total, first.display)
    };
    let draft = findings.report(edge.span, message);
    draft
        .label(format!("back to `{}`", first.display))
        .path(&first.display, &last.display)
        .on_edge(EdgeRef::Net(closing))
        .confidence(edge.confidence)
        .weight(cycle.gain);
    for (id, edge) in edges.collect::<Vec<_>>().into_iter().rev() {
        let target = graph.edge_endpoints(id).and_then(|(_, target)| graph.node_weight(target));
        draft
            .related(edge.span, target.map_or_else(String::new, |node| format!("on to `{}`", node.display)))
            .on_edge(EdgeRef::Net(id))
            .confidence(edge.confidence);
    }
    if grows {
        draft.severity(Severity::Error).help(format!(
            "if a hop limit ends it, say so with `max-hops` on `{}` in the services manifest; else remove one of the calls",
            first.display
        ));
    } else {
        draft.severity(Severity::Note).note(format!(
            "each round makes {gain} requests of one, so all rounds add up to 1 / (1 - {gain}) = {}",
            cycle.total
        ));
        draft.help("keep each round below one request: a try more, and the sum has no end");
    }
}
