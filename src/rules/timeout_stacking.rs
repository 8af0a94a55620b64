//! Timeout times tries. Page: `rules/timeout-stacking.md`.

use super::view::{Enclosed, Spoken, enclosed, policies};
use super::{Draft, Findings, advice, delay_advice};
use crate::facts::{Nanos, Policy, Protocol, Purpose, Sourced, words};
use crate::graph::System;
use crate::graph::slowest::{repeats_slow, slowest};
use crate::source::Span;

pub(super) fn check(system: &System, findings: &mut Findings) {
    let limit = system.limits.max_total_wait;
    let spoken = Spoken::of(system);
    for (id, policy, ends) in policies(system) {
        if !policy.position.is_request_path() || policy.purpose != Purpose::Request {
            continue;
        }
        let Some(Stack { slowest, tries, attempt }) = stack(policy, spoken.protocol(id)) else { continue };
        if slowest <= limit || !is_written(policy) {
            continue;
        }
        let stacked = format!("{} of {attempt} each", words::tries(tries));
        let draft = findings.report(
            site(policy),
            format!("a {} may take {slowest}: {stacked}{}", ends.call(policy), with_delays(policy, tries)),
        );
        draft.about(id, policy).label(stacked).help(within(policy, tries, limit));
        connecting(policy, draft);
    }
    inside_shorter_limits(system, findings);
}

/// A layer that goes on for longer than one that encloses it on the same edge waits.
fn inside_shorter_limits(system: &System, findings: &mut Findings) {
    for Enclosed { view, policy: (id, policy), position, limit, by: (_, outer) } in enclosed(system) {
        let protocol = view.edge.protocol.unwrap_or(Protocol::Http);
        let Some(Stack { slowest, tries, attempt }) = stack(policy, protocol) else { continue };
        let is_written = is_written(policy) && is_written(outer);
        if slowest <= limit || !is_written || policy.purpose != Purpose::Request {
            continue;
        }
        let draft = findings.report(
            site(policy),
            format!(
                "`{}`: the retries {} may take {slowest}, but what encloses them gives up after {limit}",
                view.arrow(),
                advice::place(position)
            ),
        );
        draft
            .about(id, policy)
            .on_edge(view.at)
            .label(format!("{} of {attempt} each", words::tries(tries)))
            .related(
                advice::site(outer, outer.attempt_timeout.span().or(outer.total.limit.span())),
                format!("gives up after {limit}"),
            )
            .help(format!("end the inner retries first: {}", within(policy, tries, limit)));
        connecting(policy, draft);
    }
}

/// The time to connect comes on top of each try where its limit starts on an open connection; a default one is told, not
/// counted (contracts.md D-14).
fn connecting(policy: &Policy, draft: &mut Draft) {
    let connect = policy.connect_timeout.as_ref();
    if let Some((limit, by)) = connect.and_then(|connect| Some((connect.limit()?, connect.default_by()?))) {
        draft.note(format!("each try may take {limit} more to connect, by {by}'s default"));
    }
}

/// How to end within `limit`: with shorter tries, since a limit on the whole call that cuts the last ones off leaves tries
/// that never start. Where the delays alone take longer, or no try has a limit of its own, only that is left.
fn within(policy: &Policy, tries: u64, limit: Nanos) -> String {
    let connecting = policy
        .connect_timeout
        .as_ref()
        .filter(|connect| connect.is_written())
        .and_then(Sourced::limit)
        .copied()
        .unwrap_or_default();
    let between = policy.delays(tries - 1).map(|delays| delays.greatest).unwrap_or_default();
    let left = limit - between - connecting.times(tries);
    // A tenth of a second, so that there is little to type.
    let share = Nanos(left.0 / tries / TENTH.0 * TENTH.0);
    if policy.attempt_timeout.limit().is_some() && share > Nanos::ZERO {
        format!("{} keeps {} within {limit}", delay_advice::attempt_timeout(policy, share), words::tries(tries))
    } else {
        format!("limit the whole call: {}", delay_advice::total_timeout(policy, limit))
    }
}

const TENTH: Nanos = Nanos::from_millis(100);

/// Where the time of a try is written, else that of the whole call.
fn site(policy: &Policy) -> Span {
    let written = policy.attempt_timeout.span().or(policy.total.limit.span()).or(policy.attempts.span());
    advice::site(policy, written)
}

/// Slow tries one after the other.
struct Stack {
    slowest: Nanos,
    tries: u64,
    attempt: Nanos,
}

/// None where no try follows a slow one: one long try stacks nothing.
fn stack(policy: &Policy, protocol: Protocol) -> Option<Stack> {
    let tries = policy.tries().filter(|tries| *tries >= 2 && repeats_slow(policy, protocol))?;
    Some(Stack { slowest: slowest(policy, protocol)?, tries, attempt: policy.attempt_limit()?.at()? })
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
