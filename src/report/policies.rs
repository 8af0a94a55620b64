//! Every retry policy that was found, with the values that are in force: as a table for people, as JSON for programs.

mod json;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use super::summary::{is_listed, policies_in};
use super::table::{Align, Table};
use super::{Look, text};
use crate::facts::{
    Attempts, Backoff, BackoffKind, Callee, Caller, Classes, Dialect, Facts, Limit, Nanos, Policy, PolicyId,
    PolicyKind, Position, Sourced, Upstream, words,
};
use crate::graph::System;
use crate::source::Sources;

#[cfg(test)]
pub(super) use json::Document;
pub use json::render as json;

/// A policy with the two ends of its call.
#[derive(Debug)]
struct Row<'a> {
    id: PolicyId,
    policy: &'a Policy,
    caller: Option<String>,
    callee: Option<String>,
    position: Position,
    /// What its proxy knows of the callee: a cluster or DestinationRule, often of another file.
    upstream: Option<&'a Upstream>,
}

/// The policies to list, sorted by path and place. Test code is left out unless asked for.
fn rows<'a>(facts: &'a Facts, systems: &'a [System<'_>], include_tests: bool) -> Vec<Row<'a>> {
    let is_shown = |policy: &Policy| is_listed(policy) || (include_tests && policy.kind != PolicyKind::TimeLimit);
    let bounds = bounds(systems);
    let mut rows: Vec<Row<'a>> = policies_in(facts, systems)
        .filter(|(_, policy)| is_shown(policy))
        .map(|(id, policy)| Row {
            id,
            policy,
            caller: caller(id, policy, systems),
            callee: callee(id, policy, systems),
            position: position(id, policy, systems),
            upstream: bounds.get(&id).and_then(|index| facts.upstreams.get(*index as usize)),
        })
        .collect();
    rows.sort_by_key(|row| (row.policy.span, row.id));
    rows
}

/// The settings for the callee that bound each policy, on the first edge where some do.
fn bounds(systems: &[System<'_>]) -> HashMap<PolicyId, u32> {
    let mut bounds = HashMap::new();
    for net in systems.iter().map(|system| &system.net) {
        let open = net.open.iter().map(|(_, edge)| edge);
        for layer in net.graph.edge_weights().chain(open).flat_map(|edge| &edge.layers) {
            for nest in &layer.alternatives {
                let Some(upstream) = nest.upstream else { continue };
                for id in &nest.policies {
                    bounds.entry(*id).or_insert(upstream);
                }
            }
        }
    }
    bounds
}

/// Where a policy stands in the first environment that has placed it.
fn position(id: PolicyId, policy: &Policy, systems: &[System<'_>]) -> Position {
    let placed = |system: &System<'_>| system.net.resolved.get(id.0 as usize)?.position;
    systems.iter().find_map(placed).unwrap_or(policy.position)
}

/// The name of an end of a policy in the first environment that knows it.
fn resolved(
    id: PolicyId,
    systems: &[System<'_>],
    end: fn(&crate::graph::Resolved) -> Option<petgraph::graph::NodeIndex>,
) -> Option<String> {
    systems.iter().find_map(|system| {
        let node = end(system.net.resolved.get(id.0 as usize)?)?;
        Some(system.net.graph.node_weight(node)?.display.to_string())
    })
}

fn caller(id: PolicyId, policy: &Policy, systems: &[System<'_>]) -> Option<String> {
    resolved(id, systems, |resolved| resolved.caller).or_else(|| match &policy.caller {
        Caller::Service(service) => Some(service.host.display()),
        Caller::ByPath | Caller::Beside | Caller::Members { .. } | Caller::Unknown(_) => None,
    })
}

fn callee(id: PolicyId, policy: &Policy, systems: &[System<'_>]) -> Option<String> {
    resolved(id, systems, |resolved| resolved.callee).or_else(|| match &policy.callee {
        Callee::Service { service, .. } => Some(service.host.display()),
        Callee::Named(_) | Callee::Unknown(_) => None,
    })
}

/// The table. Where it is wider than the terminal, what is longest gives way.
pub fn table(facts: &Facts, systems: &[System<'_>], sources: &Sources, include_tests: bool, look: Look) -> String {
    let rows = rows(facts, systems, include_tests);
    if rows.is_empty() {
        return "no retry policies\n".to_string();
    }
    let mut table = Table::named_by(
        2,
        &[
            ("place", Align::Path),
            ("call", Align::Left),
            ("layer", Align::Left),
            ("tries", Align::Right),
            ("delay", Align::Left),
            ("jitter", Align::Left),
            ("attempt", Align::Right),
            ("total", Align::Right),
            ("retries on", Align::Left),
            ("source", Align::Left),
        ],
    );
    for row in &rows {
        let Row { policy, .. } = row;
        let place = sources.get(policy.span.file).map_or_else(String::new, |source| {
            format!("{}:{}", text::line(&source.path), source.position(policy.site().start).line)
        });
        let end = |name: &Option<String>, unknown: &str| name.clone().unwrap_or_else(|| unknown.to_string());
        let any = if matches!(policy.caller, Caller::Members { .. }) { "(mesh)" } else { "?" };
        table.push(vec![
            place,
            format!("{} → {}", text::line(&end(&row.caller, any)), text::line(&end(&row.callee, "?"))),
            row.position.name().to_string(),
            tries(policy),
            delay(&policy.backoff),
            jitter(policy),
            limit(&policy.attempt_timeout),
            limit(&policy.total.limit),
            policy.retries_on.known().map_or_else(|| "?".to_string(), |classes| set(*classes, policy.dialect)),
            source(policy),
        ]);
    }
    // Which columns give way, and how narrow they may become.
    table.render(look, &[(0, 24), (8, 20), (1, 16), (4, 10)])
}

/// `3`, and of hedged tries with their copies `1, ×2 hedged`; `3, hedged` if the copies are among the tries.
fn tries(policy: &Policy) -> String {
    let hedged = match policy.hedging.as_ref().map(|hedging| hedging.copies.known()) {
        None | Some(Some(0)) => String::new(),
        Some(_) if policy.copies_of_each_try() == Some(0) => ", hedged".into(),
        Some(Some(copies)) => format!(", ×{} hedged", words::grouped(u128::from(*copies) + 1)),
        Some(None) => ", ×? hedged".into(),
    };
    let tries = match policy.attempts.known() {
        Some(Attempts::Times(n)) => words::grouped(u128::from(*n)),
        Some(Attempts::Unbounded) => "unbounded".into(),
        Some(Attempts::ByTime) => "by time".into(),
        None => "?".into(),
    };
    format!("{tries}{hedged}")
}

/// `25 ms ×2 to 250 ms`, `1 s`, `none`.
fn delay(backoff: &Backoff) -> String {
    let shown = |delay: Option<Nanos>| delay.map_or_else(|| "?".to_string(), |delay| delay.to_string());
    let first = || shown(backoff.first());
    let cap = || match backoff.cap.known() {
        Some(Limit::At(cap)) => format!(" to {cap}"),
        Some(Limit::None) => String::new(),
        None => " to ?".into(),
    };
    match backoff.kind.known() {
        None => "?".into(),
        Some(BackoffKind::None) => "none".into(),
        Some(BackoffKind::Fixed) => first(),
        Some(BackoffKind::Linear) => {
            format!("{} +{}{}", first(), shown(backoff.base.known().copied()), cap())
        }
        Some(BackoffKind::Exponential) => {
            let factor = backoff.factor.known().map_or_else(|| "?".to_string(), |factor| words::factor(*factor));
            format!("{} ×{factor}{}", first(), cap())
        }
        Some(BackoffKind::Fibonacci) => format!("{} fibonacci{}", first(), cap()),
        Some(BackoffKind::Schedule(delays)) => {
            let shown: Vec<String> = delays.iter().take(3).map(Nanos::to_string).collect();
            let more = if delays.len() > 3 { ", …" } else { "" };
            format!("{}{more}", shown.join(", "))
        }
    }
}

fn jitter(policy: &Policy) -> String {
    match (policy.backoff.kind.known(), policy.jitter.known()) {
        (Some(BackoffKind::None), _) => "–".into(),
        (_, Some(jitter)) => jitter.kind().into(),
        (_, None) => "?".into(),
    }
}

fn limit(limit: &Sourced<Limit<Nanos>>) -> String {
    match limit.known() {
        Some(Limit::At(time)) => time.to_string(),
        Some(Limit::None) => "none".into(),
        None => "?".into(),
    }
}

/// Longer lists of what is retried are cut: a table is for the eye, JSON has all of them.
const WIDEST_SET: usize = 31;

fn set(classes: Classes, dialect: Dialect) -> String {
    if classes == Classes::ALL {
        return "everything".into();
    }
    if classes.is_empty() {
        return "nothing".into();
    }
    let words = classes.in_brief(dialect);
    let shown = |count: usize| {
        let names = words.iter().take(count).copied().collect::<Vec<_>>().join(", ");
        if count < words.len() { format!("{names} and {} more", words.len() - count) } else { names }
    };
    let fits = (1..=words.len()).rev().map(shown).find(|text| text::width(text) <= WIDEST_SET);
    fits.unwrap_or_else(|| shown(1))
}

/// `istio`, and for what nobody wrote `istio default`.
fn source(policy: &Policy) -> String {
    let source = text::line(&policy.source);
    if policy.kind == PolicyKind::Default { format!("{source} default") } else { source.into_owned() }
}
