//! One defect, one finding: which of two rules about the same policy or edge stands (contracts.md D-16).

use std::collections::{HashMap, HashSet};

use super::findings::{Draft, EdgeRef};
use super::page::Category;
use crate::facts::PolicyId;

/// What two findings must share for one to silence the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    /// The policy at fault.
    Policy,
    /// An edge that the stronger one is about.
    Edge,
    /// Either.
    Both,
}

/// Stronger rule, what they must share, weaker rules.
const TABLE: &[(&str, Over, &[&str])] = &[
    ("unbounded-retries", Over::Policy, &["excessive-attempts"]),
    ("no-backoff", Over::Policy, &["uncapped-backoff", "excessive-backoff"]),
    ("uncapped-backoff", Over::Policy, &["excessive-backoff"]),
    ("missing-jitter", Over::Policy, &["frozen-jitter", "weak-jitter", "jitter-over-cap"]),
    ("frozen-jitter", Over::Policy, &["weak-jitter", "jitter-over-cap"]),
    ("weak-jitter", Over::Policy, &["jitter-over-cap"]),
    ("ignored-attempt-timeout", Over::Both, &["backoff-exceeds-deadline", "unreachable-attempts", "timeout-stacking"]),
    ("backoff-exceeds-deadline", Over::Both, &["unreachable-attempts", "timeout-stacking"]),
    ("unreachable-attempts", Over::Both, &["timeout-stacking"]),
    ("missing-timeout", Over::Edge, &["timeout-stacking", "deadline-inversion"]),
    ("retry-amplification", Over::Edge, &["stacked-retries"]),
];

/// A setting that does nothing makes what other rules say about its policy moot, but for what is repeated (safety).
const SILENCES_ALL: &str = "ineffective-retry";
/// Rules about a path or an edge go on speaking about such a policy: they count what is in force.
const ABOUT_EDGES: [&str; 4] = ["retry-amplification", "stacked-retries", "retry-cycle", "implicit-retries"];

/// Leaves out what a stronger finding of the same environment says already. What only `--pedantic` shows never silences
/// what everybody sees.
pub(super) fn apply(drafts: &mut Vec<Draft>) {
    let mut policies: HashMap<(PolicyId, &'static str), bool> = HashMap::new();
    let mut edges: HashMap<(EdgeRef, &'static str), bool> = HashMap::new();
    let strong: HashSet<&str> = TABLE.iter().map(|(rule, ..)| *rule).chain([SILENCES_ALL]).collect();
    for draft in drafts.iter().filter(|draft| strong.contains(draft.finding.rule)) {
        let pedantic = draft.finding.pedantic;
        for policy in &draft.policies {
            *policies.entry((*policy, draft.finding.rule)).or_insert(true) &= pedantic;
        }
        for edge in &draft.edges {
            *edges.entry((*edge, draft.finding.rule)).or_insert(true) &= pedantic;
        }
    }
    drafts.retain(|draft| {
        let rule = draft.finding.rule;
        let outranks = |stronger_is_pedantic: &bool| draft.finding.pedantic || !stronger_is_pedantic;
        let by_policy = |stronger: &'static str| {
            draft.policies.first().is_some_and(|policy| policies.get(&(*policy, stronger)).is_some_and(outranks))
        };
        let by_edge = |stronger: &'static str| {
            draft.edges.first().is_some_and(|edge| edges.get(&(*edge, stronger)).is_some_and(outranks))
        };
        let silenced =
            TABLE.iter().filter(|(_, _, weaker)| weaker.contains(&rule)).any(|(stronger, over, _)| match over {
                Over::Policy => by_policy(stronger),
                Over::Edge => by_edge(stronger),
                Over::Both => by_policy(stronger) || by_edge(stronger),
            });
        let is_moot = rule != SILENCES_ALL
            && !ABOUT_EDGES.contains(&rule)
            && super::find(rule).is_none_or(|rule| rule.meta().category != Category::Safety)
            && by_policy(SILENCES_ALL);
        !silenced && !is_moot
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_rule_outranks_itself_even_through_others() {
        // Each entry's weaker rules never appear as stronger than it: the table has no cycle.
        fn reaches(from: &str, to: &str, depth: usize) -> bool {
            depth > 0
                && TABLE
                    .iter()
                    .filter(|(rule, ..)| *rule == from)
                    .any(|(_, _, weaker)| weaker.iter().any(|next| *next == to || reaches(next, to, depth - 1)))
        }
        for (rule, ..) in TABLE {
            assert!(!reaches(rule, rule, TABLE.len()), "{rule}");
        }
    }
}
