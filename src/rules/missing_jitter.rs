//! Policies whose callers all wait for the same time. Page: `rules/missing-jitter.md`.

use super::view::policies;
use super::{Findings, advice, delay_advice};
use crate::facts::{Attempts, BackoffKind, Nanos, Policy, Purpose, words};
use crate::finding::Severity;
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for (id, policy, ends) in policies(system) {
        if !policy.jitter.known().is_some_and(|jitter| jitter.is_none()) || policy.hedging.is_some() {
            continue;
        }
        // Nobody but this machine is spared.
        if policy.purpose == Purpose::Local {
            continue;
        }
        let Some(retries) = retries(policy) else { continue };
        let Some(largest) = largest_delay(policy, retries) else { continue };
        if largest < system.limits.min_jitter_delay {
            continue;
        }
        let (Some(delays), Some(count)) = (delay_advice::series(policy), count(policy)) else {
            continue;
        };
        let callee = ends.callee_or("the callee");
        let message = format!(
            "{count} to {callee} after {delays}, the same for every caller: those that fail together come back together"
        );
        let site = policy.jitter.span().or(policy.backoff.kind.span()).or(policy.backoff.base.span());
        let draft = findings.report(advice::site(policy, site), message);
        draft.about(id, policy).label(match policy.jitter.default_by() {
            Some(by) => format!("no jitter, by {by}'s default"),
            None => "no jitter".to_owned(),
        });
        draft.help(format!("spread the delays: {}", delay_advice::jitter(policy)));
        match policy.purpose {
            Purpose::Startup => {
                draft.severity(Severity::Note);
            }
            _ if !policy.jitter_switch => {
                // Nothing that could be written: worth knowing, not worth a review comment.
                draft.severity(Severity::Note).pedantic();
            }
            _ => {}
        }
    }
}

/// Retries that have something to spread: more than one, counted or without end.
fn retries(policy: &Policy) -> Option<u64> {
    match policy.attempts.known()? {
        Attempts::Times(tries) if *tries > 2 => Some(tries - 1),
        // The first delays of an endless series show whether it matters.
        Attempts::Unbounded | Attempts::ByTime => Some(u64::MAX),
        Attempts::Times(_) => None,
    }
}

fn count(policy: &Policy) -> Option<String> {
    Some(match policy.attempts.known()? {
        Attempts::Times(tries) => words::retries(tries.saturating_sub(1)),
        Attempts::Unbounded | Attempts::ByTime => "retries".to_owned(),
    })
}

/// The largest nominal delay, fixed or grown.
fn largest_delay(policy: &Policy, retries: u64) -> Option<Nanos> {
    match policy.backoff.kind.known()? {
        BackoffKind::None => None,
        BackoffKind::Schedule(delays) => delays.iter().copied().max(),
        // Growth never shrinks, so the last is the largest.
        _ => policy.delay(retries).map(|delay| delay.nominal),
    }
}
