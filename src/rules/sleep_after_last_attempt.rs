//! Waiting for a try that never comes. Page: `rules/sleep-after-last-attempt.md`.

use super::view::policies;
use super::{Findings, advice};
use crate::facts::{Attempts, Limit, Nanos, Policy, Purpose, words};
use crate::finding::Severity;
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for (id, policy, ends) in policies(system) {
        let Some(at) = policy.in_code.as_ref().and_then(|code| code.sleep_after_last) else { continue };
        let wait = wait(policy);
        let waits = wait.map_or_else(|| "one more delay".to_owned(), |wait| format!("another {wait}"));
        let tries = match policy.attempts.known() {
            Some(Attempts::Times(tries)) => words::tries(*tries),
            _ => "the last try".to_owned(),
        };
        let message = format!("a failed {} waits {waits} after {tries}, for a try that never comes", ends.call(policy));
        let place = (at, "also reached after the last try");
        let draft = advice::report_in_code(findings, policy, place, "waits after its last try, too", message);
        draft
            .about(id, policy)
            .help("wait only where another try follows: before each try but the first, or after a check of the count");
        // Nobody waits for background work, and a wait too short to notice is not worth a review comment.
        let is_short = wait.is_some_and(|wait| wait < system.limits.min_jitter_delay);
        if policy.purpose != Purpose::Request || is_short {
            draft.severity(Severity::Note).pedantic();
        }
    }
}

/// The nominal delay behind the last try: the one that a further retry would have had.
fn wait(policy: &Policy) -> Option<Nanos> {
    let nominal = policy.delay(policy.tries()?)?.nominal;
    Some(match policy.backoff.cap.known()? {
        Limit::At(cap) => nominal.min(*cap),
        Limit::None => nominal,
    })
}
