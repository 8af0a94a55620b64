//! Callers that give up while the service they called is still retrying. Page: `rules/deadline-inversion.md`.

use std::collections::HashSet;

use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef as _;

use super::view::EdgeView;
use super::{EdgeRef, Findings, advice, delay_advice};
use crate::facts::{Limit, Protocol, words};
use crate::finding::Severity;
use crate::graph::System;
use crate::graph::deadlines::{Inversion, abandoned_share, inversion};
use crate::graph::slowest::{repeats_slow, slowest};

/// Every wrong hop is a defect of its own: whoever waits longer, or ends sooner, at one of them has mended none of the
/// others.
pub(super) fn check(system: &System, findings: &mut Findings) {
    for view in EdgeView::all(system) {
        let EdgeRef::Net(edge) = view.at else { continue };
        let Some(Inversion { gives_up, slowest, orphan }) = inversion(system, edge) else { continue };
        let Some((_, callee)) = system.net.graph.edge_endpoints(edge) else { continue };
        let severity = match orphan {
            _ if view.edge.propagates_deadline => Severity::Note,
            Some(_) => Severity::Error,
            None => Severity::Warning,
        };
        let Some(id) = view.time.and_then(|time| time.gives_up_by) else { continue };
        let Some(policy) = system.facts.policy(id) else { continue };
        let (from, to) = (view.caller.map_or("any caller", |node| &*node.display), &*view.callee.display);
        let share = abandoned_share(gives_up, slowest);
        let short = format!("`{from}` leaves `{to}` after {gives_up}, `{to}` may go on for {slowest}");
        let draft = findings.report(
            advice::site(policy, policy.attempt_timeout.span().or(policy.total.limit.span())),
            match severity {
                Severity::Error => format!("{short} and starts new tries for nobody"),
                _ => short.clone(),
            },
        );
        draft
            .about(id, policy)
            .on_edge(view.at)
            .severity(severity)
            .confidence(view.edge.confidence)
            .label(short)
            .weight(slowest.as_secs_f64() / gives_up.as_secs_f64().max(1e-9));
        if let Some(caller) = view.caller {
            draft.call(&caller.display, &view.callee.display);
        }
        for hop in slowest_chain(system, callee) {
            draft.on_edge(EdgeRef::Net(hop));
            if let Some((span, text)) = describe(system, hop) {
                draft.related(span, text);
            }
        }
        if let Some(start) = orphan {
            draft.note(format!("the last try that `{to}` starts begins after {start}"));
        }
        draft.note(format!(
            "up to {} % of the time that `{to}` spends is for a caller that has left",
            words::factor((share * 100.0).round())
        ));
        draft.help(format!(
            "let `{to}` end first: limit its calls to less than {gives_up} in all, or wait longer in `{from}`, for example {}",
            delay_advice::attempt_timeout(policy, slowest)
        ));
    }
}

/// The calls that make a service slow, one below the other: at each service the slowest one that retries.
fn slowest_chain(system: &System, from: NodeIndex) -> Vec<EdgeIndex> {
    let mut chain = Vec::new();
    let mut seen = HashSet::from([from]);
    let mut at = from;
    loop {
        let slowest = |edge: EdgeIndex| system.deadlines.edges.get(edge.index()).and_then(|time| time.slowest);
        let next = system
            .net
            .graph
            .edges(at)
            .filter(|edge| !edge.weight().is_async && slowest(edge.id()).is_some())
            .max_by_key(|edge| (slowest(edge.id()), std::cmp::Reverse(edge.id())));
        match next {
            Some(edge) if seen.insert(edge.target()) => {
                chain.push(edge.id());
                at = edge.target();
            }
            _ => return chain,
        }
    }
}

/// What a hop adds to the wait, at the place where it is written.
fn describe(system: &System, hop: EdgeIndex) -> Option<(crate::source::Span, String)> {
    let (caller, callee) = system.net.graph.edge_endpoints(hop)?;
    let (caller, callee) = (system.net.graph.node_weight(caller)?, system.net.graph.node_weight(callee)?);
    let edge = system.net.graph.edge_weight(hop)?;
    let in_all = system.deadlines.edges.get(hop.index())?.slowest?;
    let protocol = edge.protocol.unwrap_or(Protocol::Http);
    let policies = edge.layers.iter().flat_map(|layer| &layer.alternatives).flat_map(|nest| &nest.policies);
    let (.., policy) = policies
        .filter_map(|id| Some((*id, system.facts.policy(*id)?)))
        .filter_map(|(id, policy)| Some((slowest(policy, protocol)?, id, policy)))
        .max_by_key(|(slowest, id, _)| (*slowest, std::cmp::Reverse(*id)))?;
    let how = match (policy.tries(), policy.attempt_limit()) {
        (Some(tries), Some(Limit::At(limit))) if tries > 1 && repeats_slow(policy, protocol) => {
            format!("{} of {limit}", words::tries(tries))
        }
        _ => format!("{in_all} in all"),
    };
    let site = advice::site(policy, policy.attempts.span().or(policy.total.limit.span()));
    Some((site, format!("{} → {}: {how}, {in_all} at most", caller.display, callee.display)))
}
