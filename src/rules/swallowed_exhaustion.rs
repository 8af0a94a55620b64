//! Tries that all failed, reported as success. Page: `rules/swallowed-exhaustion.md`.

use super::view::policies;
use super::{Findings, advice};
use crate::facts::{Attempts, Purpose, words};
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for (id, policy, ends) in policies(system) {
        let Some(code) = policy.in_code.as_deref() else { continue };
        let Some(at) = code.swallowed.filter(|_| policy.purpose == Purpose::Request) else { continue };
        let tries = match policy.attempts.known() {
            Some(Attempts::Times(tries)) => format!("{} that all failed", words::tries(*tries)),
            _ => "tries that all failed".to_owned(),
        };
        let function = code.function.as_deref().map_or("the function".to_owned(), |name| format!("`{name}`"));
        let callee = ends.callee.map(|node| format!(" to `{}`", node.display)).unwrap_or_default();
        let message =
            format!("after {tries}{callee}, {function} reports success: its caller goes on as if the work were done");
        let place = (at, "success, although every try failed");
        advice::report_in_code(findings, policy, place, "goes on after its last try as if that had worked", message)
            .about(id, policy)
            .help("return the last error here, or say in the result that nothing was done");
    }
}
