//! Waits that hold a thread of the asynchronous runtime. Page: `rules/blocking-sleep-in-async.md`.

use super::view::policies;
use super::{Findings, advice, delay_advice};
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for (id, policy, ends) in policies(system) {
        let Some(at) = policy.in_code.as_ref().and_then(|code| code.blocking_sleep) else { continue };
        let delays = delay_advice::series(policy).map(|delays| format!(" for {delays}")).unwrap_or_default();
        let message = format!(
            "each retry of a {} blocks a thread of the async runtime{delays}: every other task on it stands still",
            ends.call(policy)
        );
        advice::report_in_code(
            findings,
            policy,
            (at, "blocks the thread"),
            "waits without giving its thread away",
            message,
        )
        .about(id, policy)
        .help("await the runtime's own timer, or move the whole call to a thread for blocking work");
    }
}
