//! Policies whose tries follow one another at once. Page: `rules/no-backoff.md`.

use super::view::policies;
use super::{Findings, advice, delay_advice};
use crate::facts::{BackoffKind, Limit, Nanos, Policy, Purpose, words};
use crate::finding::Severity;
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for (id, policy, ends) in policies(system) {
        if policy.purpose != Purpose::Request || policy.hedging.is_some() || !has_no_delay(policy) {
            continue;
        }
        // One immediate retry has nothing to spread, and an unknown count may be one.
        let tries = match policy.tries() {
            Some(tries) if tries > 2 => words::tries(tries),
            None if policy.is_unbounded() => "endless tries".to_owned(),
            _ => continue,
        };
        let draft = findings.report(
            advice::site(policy, policy.backoff.kind.span().or(policy.backoff.base.span())),
            format!("{tries} with no delay between them for one {}", ends.call(policy)),
        );
        draft
            .about(id, policy)
            .label(format!("{tries} with no delay between them"))
            .help(format!("wait between tries: {}", delay_advice::delay(policy)));
        if policy.other_host {
            draft.severity(Severity::Note).note("each retry goes to another host, so no single host gets them all");
        }
    }
}

/// Whether it is known that every delay is zero.
fn has_no_delay(policy: &Policy) -> bool {
    match policy.backoff.kind.known() {
        Some(BackoffKind::None) => true,
        Some(BackoffKind::Schedule(delays)) => delays.iter().all(|delay| *delay == Nanos::ZERO),
        Some(_) => {
            let is_zero = policy.backoff.base.known() == Some(&Nanos::ZERO)
                || policy.backoff.cap.known() == Some(&Limit::At(Nanos::ZERO));
            let may_add = policy.jitter.known().is_none_or(|jitter| jitter.plus > Nanos::ZERO);
            is_zero && !may_add
        }
        None => false,
    }
}
