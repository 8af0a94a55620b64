//! Retries that no breaker ends. Page: `rules/missing-circuit-breaker.md`.

use super::missing_retry_budget::{either, present};
use super::{Findings, advice, bounds};
use crate::facts::{Policy, Upstream};
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for found in bounds::unbounded(system, has_breaker) {
        let callee = &found.callee.display;
        let message = format!(
            "while `{callee}` is down it gets {} for as long as that lasts: no breaker stands in front of it",
            found.load()
        );
        let help = found.layers.first().map(|(_, policy, _)| advice::breaker(policy, callee));
        if let Some(draft) = bounds::report(&found, message, findings) {
            draft.help(help.unwrap_or_default());
        }
    }
}

/// Whether a breaker or outlier detection stands in front of the callee; none if that cannot be told.
fn has_breaker(policy: Option<&Policy>, upstream: Option<&Upstream>) -> Option<bool> {
    let theirs = upstream.map_or(Some(false), |upstream| present(&upstream.breaker.value));
    either(policy.map_or(Some(false), |policy| present(&policy.breaker.value)), theirs)
}
