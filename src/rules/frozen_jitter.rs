//! Random delays that are not random where it matters. Page: `rules/frozen-jitter.md`.

use super::view::policies;
use super::{Findings, advice};
use crate::facts::{Attempts, Freeze, words};
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for (id, policy, ends) in policies(system) {
        let Some(frozen) = policy.in_code.as_ref().and_then(|code| code.frozen_jitter) else { continue };
        // A single retry has one delay: drawn before the tries or between them, it is the same draw.
        let retries = match policy.attempts.known() {
            Some(Attempts::Times(tries)) if *tries > 2 || frozen.how != Freeze::DrawnOnce => {
                words::retries(tries.saturating_sub(1))
            }
            Some(Attempts::Times(_)) | None => continue,
            Some(Attempts::Unbounded | Attempts::ByTime) => "retries".to_owned(),
        };
        if policy.last_delay().is_some_and(|last| last.nominal < system.limits.min_jitter_delay) {
            continue;
        }
        let callee = ends.callee_or("the callee");
        let (effect, cause, help) = match frozen.how {
            Freeze::DrawnOnce => (
                "wait the same random time each: callers that collide once collide again",
                "drawn once, before the first try",
                "draw the random part between the tries, anew for each delay",
            ),
            Freeze::Sequence => (
                "wait the same series of delays in all callers: those that fail together come back together",
                "drawn once, for all who use the series",
                "make the series anew for each call, or draw the random part between the tries",
            ),
            Freeze::Seed => (
                "wait the same random series in every instance: those that fail together come back together",
                "a fixed seed draws the same numbers everywhere",
                "leave the seed out: the generator then seeds itself",
            ),
        };
        let message = format!("{retries} to {callee} {effect}");
        advice::report_in_code(
            findings,
            policy,
            (frozen.span, cause),
            "the random part of its delay never changes",
            message,
        )
        .about(id, policy)
        .help(help);
    }
}
