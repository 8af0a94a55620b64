//! Timeout times tries. Page: `rules/timeout-stacking.md`.

use super::view::{EdgeView, policies};
use super::{Findings, advice, delay_advice};
use crate::facts::{Limit, Nanos, Policy, PolicyId, Position, Purpose, words};
use crate::graph::{System, deadlines};

pub(super) fn check(system: &System, findings: &mut Findings) {
    let limit = system.limits.max_total_wait;
    for (id, policy, ends) in policies(system) {
        if !policy.position.is_request_path() || policy.purpose != Purpose::Request {
            continue;
        }
        let (Some(slowest), Some(tries), Some(attempt)) = (deadlines::slowest(policy), policy.tries(), attempt(policy)) else {
            continue;
        };
        if tries < 2 || slowest <= limit || !is_written(policy) {
            continue;
        }
        let stacked = format!("{} of {attempt} each", words::tries(tries));
        let draft = findings.report(
            advice::site(policy, policy.attempt_timeout.span().or(policy.total.limit.span()).or(policy.attempts.span())),
            format!("a {} may take {slowest}: {stacked}{}", ends.call(policy), with_delays(policy, tries)),
        );
        draft.about(id, policy).label(stacked).help(format!(
            "limit the whole call: {}",
            delay_advice::total_timeout(policy, attempt.min(limit))
        ));
    }
    inside_shorter_limits(system, findings);
}

/// A layer that goes on for longer than one that encloses it on the same edge waits.
fn inside_shorter_limits(system: &System, findings: &mut Findings) {
    let mut said = std::collections::HashSet::new();
    for view in EdgeView::all(system) {
        let mut outer: Option<(Nanos, PolicyId)> = None;
        for layer in &view.edge.layers {
            // Alternatives are no stack: only a layer with a single one encloses for certain.
            for nest in &layer.alternatives {
                let mut enclosing = outer;
                for id in &nest.policies {
                    let Some(policy) = system.facts.policy(*id) else { continue };
                    if let Some((limit, by)) = enclosing {
                        report_inside(system, &view, (*id, policy, layer.position), (limit, by), &mut said, findings);
                    }
                    enclosing = tighter(enclosing, delay_advice::gives_up(policy), *id);
                }
                if layer.alternatives.len() == 1 {
                    outer = enclosing;
                }
            }
        }
    }
}

fn report_inside(
    system: &System,
    view: &EdgeView,
    (id, policy, position): (PolicyId, &Policy, Position),
    (limit, by): (Nanos, PolicyId),
    said: &mut std::collections::HashSet<(PolicyId, PolicyId)>,
    findings: &mut Findings,
) {
    let (Some(slowest), Some(tries), Some(attempt), Some(outer)) =
        (deadlines::slowest(policy), policy.tries(), attempt(policy), system.facts.policy(by))
    else {
        return;
    };
    if tries < 2 || slowest <= limit || !is_written(policy) || !is_written(outer) || policy.purpose != Purpose::Request {
        return;
    }
    if !said.insert((id, by)) {
        return;
    }
    let stacked = format!("{} of {attempt} each", words::tries(tries));
    let draft = findings.report(
        advice::site(policy, policy.attempt_timeout.span().or(policy.total.limit.span()).or(policy.attempts.span())),
        format!(
            "`{}`: the retries {} may take {slowest}, but what encloses them gives up after {limit}",
            view.arrow(),
            advice::place(position)
        ),
    );
    draft
        .about(id, policy)
        .on_edge(view.at)
        .label(stacked)
        .related(advice::site(outer, outer.attempt_timeout.span().or(outer.total.limit.span())), format!("gives up after {limit}"))
        .help(format!("end the inner retries first: {}", delay_advice::total_timeout(policy, limit)));
}

/// The earlier of two moments of giving up.
fn tighter(current: Option<(Nanos, PolicyId)>, own: Option<Nanos>, id: PolicyId) -> Option<(Nanos, PolicyId)> {
    match (current, own) {
        (Some((limit, _)), Some(own)) if own < limit => Some((own, id)),
        (None, Some(own)) => Some((own, id)),
        (current, _) => current,
    }
}

fn attempt(policy: &Policy) -> Option<Nanos> {
    match policy.attempt_limit()? {
        Limit::At(limit) => Some(limit),
        Limit::None => None,
    }
}

fn is_written(policy: &Policy) -> bool {
    policy.attempt_timeout.is_written() && policy.attempt_timeout.limit().is_some()
        || policy.total.limit.is_written() && policy.total.limit.limit().is_some()
}

fn with_delays(policy: &Policy, tries: u64) -> String {
    match policy.delays(tries - 1) {
        Some(delays) if delays.greatest > Nanos::ZERO => format!(", and up to {} between them", delays.greatest),
        _ => String::new(),
    }
}
