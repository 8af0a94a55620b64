//! Callers that give up while the service they called is still retrying. Page: `rules/deadline-inversion.md`.

use std::collections::HashSet;

use petgraph::Direction;
use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef as _;

use super::view::EdgeView;
use super::{EdgeRef, Findings, advice, delay_advice};
use crate::facts::{Limit, Nanos, Policy, words};
use crate::finding::Severity;
use crate::graph::fitting::{Pace, Waits, starts};
use crate::graph::{System, deadlines};

pub(super) fn check(system: &System, findings: &mut Findings) {
    let wrong: HashSet<EdgeIndex> =
        system.net.graph.edge_indices().filter(|edge| inversion(system, *edge).is_some()).collect();
    for view in EdgeView::all(system) {
        let EdgeRef::Net(edge) = view.at else { continue };
        let Some((gives_up, slowest)) = inversion(system, edge) else { continue };
        // The outermost wrong hop speaks for the whole path below it.
        let Some((caller, callee)) = system.net.graph.edge_endpoints(edge) else { continue };
        if system.net.graph.edges_directed(caller, Direction::Incoming).any(|above| wrong.contains(&above.id())) {
            continue;
        }
        let orphan = first_orphan(system, callee, gives_up);
        let severity = match orphan {
            _ if view.edge.propagates_deadline => Severity::Note,
            Some(_) => Severity::Error,
            None => Severity::Warning,
        };
        let Some(id) = view.time.and_then(|time| time.gives_up_by) else { continue };
        let Some(policy) = system.facts.policy(id) else { continue };
        let (from, to) = (view.caller.map_or("any caller", |node| &*node.display), &*view.callee.display);
        let share = deadlines::abandoned_share(gives_up, slowest);
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
            draft.path(&caller.display, &view.callee.display);
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

/// When the caller gives up and how long the callee may go on, if that is longer and holds a retry.
fn inversion(system: &System, edge: EdgeIndex) -> Option<(Nanos, Nanos)> {
    let (_, callee) = system.net.graph.edge_endpoints(edge)?;
    let node = system.deadlines.nodes.get(callee.index())?;
    let time = system.deadlines.edges.get(edge.index())?;
    let is_async = system.net.graph.edge_weight(edge)?.is_async;
    let (gives_up, slowest) = (time.gives_up?, node.slowest?);
    (!is_async && gives_up < slowest && node.retries_below && (node.is_written || time.is_written))
        .then_some((gives_up, slowest))
}

/// When the last try that any call of a service starts begins, if that is not before `gives_up`.
fn first_orphan(system: &System, service: NodeIndex, gives_up: Nanos) -> Option<Nanos> {
    system
        .net
        .graph
        .edges(service)
        .flat_map(|edge| edge.weight().layers.iter().map(move |layer| (edge.weight(), layer)))
        .flat_map(|(edge, layer)| layer.alternatives.iter().map(move |nest| (edge, nest)))
        .flat_map(|(edge, nest)| nest.policies.iter().map(move |id| (edge, id)))
        .filter_map(|(edge, id)| last_start(system.facts.policy(*id).filter(|policy| edge.may_repeat(policy))?))
        .filter(|start| *start >= gives_up)
        .max()
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

/// When a policy's last try starts if each runs into its limit.
fn last_start(policy: &Policy) -> Option<Nanos> {
    policy.may_retry().then(|| starts(policy, Pace::Slow, Waits::Nominal)?.last().copied()).flatten()
}

/// What a hop adds to the wait, at the place where it is written.
fn describe(system: &System, hop: EdgeIndex) -> Option<(crate::source::Span, String)> {
    let (caller, callee) = system.net.graph.edge_endpoints(hop)?;
    let (caller, callee) = (system.net.graph.node_weight(caller)?, system.net.graph.node_weight(callee)?);
    let edge = system.net.graph.edge_weight(hop)?;
    let slowest = system.deadlines.edges.get(hop.index())?.slowest?;
    let policies = edge.layers.iter().flat_map(|layer| &layer.alternatives).flat_map(|nest| &nest.policies);
    let (_, policy) = policies
        .filter_map(|id| Some((*id, system.facts.policy(*id)?)))
        .filter(|(_, policy)| deadlines::slowest(policy).is_some())
        .max_by_key(|(id, policy)| (deadlines::slowest(policy), std::cmp::Reverse(*id)))?;
    let how = match (policy.tries().filter(|_| edge.may_repeat(policy)), policy.attempt_limit()) {
        (Some(tries), Some(Limit::At(limit))) if tries > 1 => format!("{} of {limit}", words::tries(tries)),
        _ => format!("{slowest} in all"),
    };
    let site = advice::site(policy, policy.attempts.span().or(policy.total.limit.span()));
    Some((site, format!("{} → {}: {how}, {slowest} at most", caller.display, callee.display)))
}
