//! Retries that no budget bounds. Page: `rules/missing-retry-budget.md`.

use super::{Findings, advice, bounds};
use crate::facts::{Limit, Policy, Upstream, Value, words};
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for found in bounds::unbounded(system, has_budget) {
        let callee = &found.callee.display;
        let retriers = match found.callers.len() {
            0 => "retries towards it have".to_owned(),
            1 => "its caller's retries have".to_owned(),
            n => format!("the retries of its {} callers have", words::number(n as u64)),
        };
        let message = format!("an overload of `{callee}` is answered with {}: {retriers} no budget", found.load());
        let help = found.layers.iter().find_map(|(_, policy, _)| advice::budget(policy, callee));
        if let Some(draft) = bounds::report(&found, message, findings) {
            draft.help(match help {
                Some((what, place)) => format!("let retries be a share of the traffic: {what} {place}"),
                None => {
                    "let retries be a share of the traffic, a fifth for example, wherever the client can count both"
                        .to_owned()
                }
            });
        }
    }
}

/// Whether a budget or a cap on parallel retries bounds a policy; none if that cannot be told.
fn has_budget(policy: Option<&Policy>, upstream: Option<&Upstream>) -> Option<bool> {
    let own = policy.map_or(Some(false), |policy| present(&policy.budget.value));
    let theirs = upstream
        .map_or(Some(false), |upstream| either(present(&upstream.budget.value), present(&upstream.retry_cap.value)));
    either(own, theirs)
}

/// Whether a limit is there; none if unknown.
pub(super) fn present<T>(value: &Value<Limit<T>>) -> Option<bool> {
    match value {
        Value::Known(Limit::At(_)) => Some(true),
        Value::Known(Limit::None) => Some(false),
        Value::Unknown(_) => None,
    }
}

/// Whether one of two is there: yes if either is, unknown if that hangs on an unknown one.
pub(super) fn either(a: Option<bool>, b: Option<bool>) -> Option<bool> {
    match (a, b) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_budget_is_not_a_missing_one() {
        assert_eq!(either(Some(false), None), None);
        assert_eq!(either(Some(true), None), Some(true));
        assert_eq!(either(Some(false), Some(false)), Some(false));
    }
}
