//! Policies with more tries than help. Page: `rules/excessive-attempts.md`.

use super::view::policies;
use super::{Findings, advice};
use crate::facts::{Class, Classes, Policy, Purpose, words};
use crate::graph::System;
use crate::graph::load::extra_requests;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for (id, policy, ends) in policies(system) {
        if policy.purpose == Purpose::Local {
            continue;
        }
        let Some(tries) = policy.tries() else { continue };
        let (limit, name) = limit(system, policy);
        if tries <= limit {
            continue;
        }
        let draft = findings.report(
            advice::site(policy, policy.attempts.span()),
            format!(
                "one {} can become {} requests, more than the {} that `{name}` allows",
                ends.call(policy),
                words::number(tries),
                words::number(limit)
            ),
        );
        draft
            .about(id, policy)
            .weight(tries as f64)
            .label(policy.count_in_words().unwrap_or_else(|| advice::layer(policy)))
            .help(format!(
                "what has failed {} times in a row is down rather than unlucky: {} covers the unlucky case",
                words::number(tries.min(limit)),
                advice::tries(policy, 3)
            ));
        if let Some(by) = policy.attempts.default_by() {
            draft.default_of(by).many(
                format!("{by} can send {} requests for one call in ", words::number(tries)),
                " places that set no limit",
            );
        }
        if let Some(clients) = ends.caller.and_then(|node| node.service.clients.as_ref()?.known().copied()) {
            draft.note(format!(
                "{} clients that all use up their {} send {} extra requests",
                words::grouped(u128::from(clients)),
                words::retries(tries - 1),
                words::grouped(extra_requests(clients, tries))
            ));
        }
    }
}

/// The limit that holds for a policy, with its name.
fn limit(system: &System, policy: &Policy) -> (u64, &'static str) {
    const NEVER_SENT: Classes = Classes::of(&[Class::Connect, Class::Unsent]);
    // Repeating what never reached anybody costs connections, not work.
    let only_connects = policy.retries_on.known().is_some_and(|on| on.without(NEVER_SENT).is_empty());
    if only_connects || policy.purpose != Purpose::Request || !policy.position.is_request_path() {
        (system.limits.max_attempts_job, "max-attempts-job")
    } else {
        (system.limits.max_attempts, "max-attempts")
    }
}
