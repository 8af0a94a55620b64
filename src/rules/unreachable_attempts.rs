//! Tries that do not fit into the time limit when each runs into its own. Page: `rules/unreachable-attempts.md`.

use super::view::{Spoken, policies};
use super::{Findings, advice, delay_advice};
use crate::facts::{Limit, words};
use crate::finding::Severity;
use crate::graph::System;
use crate::graph::fitting::{Waits, slow_tries};

pub(super) fn check(system: &System, findings: &mut Findings) {
    let spoken = Spoken::of(system);
    for (id, policy, ends) in policies(system) {
        let (Some(total), Some(tries)) = (policy.total.limit.limit().copied(), policy.tries()) else { continue };
        let Some(Limit::At(attempt)) = policy.attempt_limit() else { continue };
        // A time finding needs at least one written number; what a library ships is not the file's fault.
        if !policy.attempt_timeout.is_written() && !policy.total.limit.is_written() {
            continue;
        }
        // What goes on after fast failures only has no slow tries.
        let Some(slow) = slow_tries(policy, spoken.protocol(id), Waits::Least).filter(|slow| *slow < tries) else {
            continue;
        };
        let fit = format!("only {} of {} start within {total}", words::number(slow), words::tries(tries));
        let site =
            if policy.total.limit.is_written() { policy.total.limit.span() } else { policy.attempt_timeout.span() };
        let draft = findings.report(
            advice::site(policy, site),
            format!("{fit} when each takes its {attempt}, in a {}", ends.call(policy)),
        );
        draft.about(id, policy).label(format!("{fit} when each takes its {attempt}"));
        let room = delay_advice::room(policy);
        draft.help(match room {
            Some(room) => format!(
                "{} holds all of them; so does {} within {total}",
                delay_advice::total_timeout(policy, room),
                advice::tries(policy, slow)
            ),
            None => format!("set {}", advice::tries(policy, slow)),
        });
        if let Some(span) = policy.attempt_timeout.span() {
            draft.related(span, format!("a try may take {attempt}"));
        }
        if let Some(span) = policy.attempts.span() {
            draft.related(span, words::tries(tries));
        }
        draft.note(format!("all {} still happen when tries fail fast", words::number(tries)));
        if !policy.attempt_timeout.is_written() {
            draft.severity(Severity::Note).pedantic();
        }
    }
}
