//! Suppressions that suppress nothing. Page: `rules/unused-suppression.md`.

use super::findings::Draft;
use super::{Findings, find};
use crate::facts::Facts;
use crate::graph::System;
use crate::suppress::Used;

/// What a comment silences is known only when every other rule has spoken: see [`drafts`].
pub(super) fn check(_: &System, _: &mut Findings) {}

/// A finding for every name in a suppression that covered nothing. Names of no rule are unknown-suppression's business.
pub(super) fn drafts(facts: &Facts, used: &Used) -> Vec<Draft> {
    let Some(rule) = find("unused-suppression") else { return Vec::new() };
    let mut drafts = Vec::new();
    for (index, suppression) in facts.suppressions.iter().enumerate() {
        for (place, (name, span)) in suppression.rules.iter().enumerate() {
            // A comment that allows this very finding is used by being there.
            if used.contains(index, place) || name == rule.id || find(name).is_none() {
                continue;
            }
            let mut draft = Draft::new(rule, *span, format!("`allow({name})` suppresses nothing"));
            draft.label(format!("no `{name}` is found here")).everywhere().help(if suppression.rules.len() > 1 {
                format!("remove `{name}` from the comment, so that it cannot hide a new finding")
            } else {
                "remove the comment, so that it cannot hide a new finding".to_owned()
            });
            drafts.push(draft);
        }
    }
    drafts
}
