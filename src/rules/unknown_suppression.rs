//! Suppressions that name no rule. Page: `rules/unknown-suppression.md`.

use super::{ALL, Findings};
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for suppression in &system.facts.suppressions {
        for (name, span) in suppression.rules.iter().filter(|(name, _)| super::find(name).is_none()) {
            let draft = findings.report(*span, format!("`allow({name})` suppresses nothing: there is no such rule"));
            draft.everywhere().label("no rule has this name");
            match nearest(name) {
                Some(rule) => draft.help(format!("did you mean `{rule}`?")),
                None => draft.help("`retrylint rules` lists the names"),
            };
        }
    }
}

/// The rule whose name is nearest, if it is near at all.
fn nearest(name: &str) -> Option<&'static str> {
    ALL.iter()
        .map(|rule| (distance(name, rule.id), rule.id))
        .filter(|(distance, id)| *distance * 3 <= id.len())
        .min()
        .map(|(_, id)| id)
}

/// Insertions, deletions and replacements that turn one name into the other. Names longer than any rule's are cut.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut before = i + 1;
        for (right, cell) in b.iter().zip(row.iter_mut().skip(1)) {
            let best = (diagonal + usize::from(left != right)).min(*cell + 1).min(before + 1);
            diagonal = *cell;
            *cell = best;
            before = best;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_miss_is_suggested_and_a_far_one_is_not() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(nearest("unreadable-fil"), Some("unreadable-file"));
        assert_eq!(nearest("everything"), None);
    }
}
