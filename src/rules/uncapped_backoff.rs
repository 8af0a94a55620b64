//! Delays that grow without a ceiling. Page: `rules/uncapped-backoff.md`.

use super::view::policies;
use super::{Findings, advice, delay_advice};
use crate::facts::{Attempts, BackoffKind, Check, Nanos, Policy, Why};
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    let limit = system.limits.max_backoff;
    for (id, policy, ends) in policies(system) {
        let grows = matches!(
            policy.backoff.kind.known(),
            Some(BackoffKind::Exponential | BackoffKind::Linear | BackoffKind::Fibonacci)
        );
        if !grows || !policy.backoff.cap.is_none() || is_ended_by_total(policy, limit) {
            continue;
        }
        let text = match policy.attempts.known() {
            Some(Attempts::Times(tries)) if *tries > 1 => match policy.delay(tries - 1) {
                Some(last) if last.nominal > limit => format!("the last delay is {}", last.nominal),
                _ => continue,
            },
            Some(Attempts::Unbounded) => match (1..=64).find(|i| policy.delay(*i).is_some_and(|d| d.nominal > limit)) {
                Some(first) => {
                    format!("from the {} retry on the delay is above {limit}, and it keeps growing", ordinal(first))
                }
                None => continue,
            },
            _ => continue,
        };
        let series = delay_advice::series(policy);
        let draft = findings.report(
            advice::site(policy, policy.backoff.kind.span().or(policy.backoff.base.span())),
            format!("delays grow without a cap: {text} for one {}", ends.call(policy)),
        );
        draft
            .about(id, policy)
            .label(text)
            .help(format!("cap them: {}", delay_advice::cap(policy, Nanos::from_secs(5).min(limit))));
        if let Some(series) = series {
            draft.note(format!("the delays are {series}"));
        }
    }
}

/// Whether a limit on the whole call ends it before a delay could be too long.
fn is_ended_by_total(policy: &Policy, limit: Nanos) -> bool {
    policy.total.check == Check::Cuts && policy.total.limit.limit().is_some_and(|total| *total <= limit)
        // Set elsewhere, it may well be such a limit.
        || matches!(policy.total.limit.why(), Some(Why::Environment(_) | Why::Template(_)))
}

fn ordinal(n: u64) -> String {
    match n {
        1 => "first".to_owned(),
        2 => "second".to_owned(),
        3 => "third".to_owned(),
        n => format!("{n}th"),
    }
}
