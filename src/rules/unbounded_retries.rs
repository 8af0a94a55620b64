//! Policies that never give up. Page: `rules/unbounded-retries.md`.

use super::view::policies;
use super::{Findings, advice};
use crate::facts::{BackoffKind, Nanos, Policy, Purpose, Why, words};
use crate::finding::Severity;
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for (id, policy, ends) in policies(system) {
        // Unknown is not unbounded: a limit that is read from the environment is still a limit.
        if !policy.is_unbounded() || has_time_limit(policy) {
            continue;
        }
        let waits = waits(policy);
        let how = if waits == Some(false) { "without end and without any delay" } else { "without end" };
        let draft = findings.report(
            advice::site(policy, policy.attempts.span()),
            format!("a {} is repeated {how} while {} fails", ends.call(policy), ends.callee_or("its callee")),
        );
        draft
            .about(id, policy)
            .label(match policy.attempts.default_by() {
                Some(by) => format!("{by}'s default is no limit"),
                None => "no limit on tries or time".to_owned(),
            })
            .help(format!("give up at some point, for example {}", advice::tries(policy, 3)));
        // What is repeated after one kind of failure only ends with any other.
        if !policy.names_classes.is_empty() && policy.retries_on.known() == Some(&policy.names_classes) {
            let failures = policy.names_classes.in_words(policy.dialect);
            let failures: Vec<String> = failures.into_iter().map(str::to_owned).collect();
            draft.note(format!(
                "it repeats a request after {}, and ends with any other failure",
                words::list(&failures)
            ));
        }
        if let Some(by) = policy.attempts.default_by() {
            draft.default_of(by).many(format!("{by} retries without end in "), " places that set no limit");
        }
        let is_loop_of_its_own = policy.purpose != Purpose::Request || !policy.position.is_request_path();
        if is_loop_of_its_own && is_capped(policy) {
            // Reconnecting for ever, slowly, is what such loops are for.
            draft.severity(Severity::Note).pedantic();
        } else if waits == Some(false) {
            draft.severity(Severity::Error);
        } else {
            draft.severity(Severity::Warning);
        }
    }
}

/// Whether time ends it after all, also where something that is not read here decides how much of it.
fn has_time_limit(policy: &Policy) -> bool {
    let set_elsewhere = matches!(policy.total.limit.why(), Some(Why::Environment(_) | Why::Template(_)));
    policy.total.limit.limit().is_some() || set_elsewhere
}

/// Whether there is a delay between tries; none if that cannot be told.
fn waits(policy: &Policy) -> Option<bool> {
    match policy.backoff.kind.known()? {
        BackoffKind::None => Some(false),
        BackoffKind::Schedule(delays) => Some(delays.iter().any(|delay| *delay > Nanos::ZERO)),
        _ => policy.backoff.base.known().map(|base| *base > Nanos::ZERO),
    }
}

/// Whether the delay is there and does not grow for ever.
fn is_capped(policy: &Policy) -> bool {
    match policy.backoff.kind.known() {
        Some(BackoffKind::Fixed | BackoffKind::Schedule(_)) => waits(policy) == Some(true),
        Some(BackoffKind::Linear | BackoffKind::Exponential | BackoffKind::Fibonacci) => {
            waits(policy) == Some(true) && policy.backoff.cap.limit().is_some()
        }
        Some(BackoffKind::None) | None => false,
    }
}
