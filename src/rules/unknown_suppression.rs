//! Suppressions that name no rule. Page: `rules/unknown-suppression.md`.

use super::{ALL, Findings};
use crate::graph::System;
use crate::suggest::did_you_mean;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for suppression in &system.facts.suppressions {
        for (name, span) in suppression.rules.iter().filter(|(name, _)| super::find(name).is_none()) {
            let draft = findings.report(*span, format!("`allow({name})` suppresses nothing: there is no such rule"));
            draft.everywhere().label("no rule has this name");
            match did_you_mean(name, ALL.iter().map(|rule| rule.id)) {
                Some(rule) => draft.help(format!("did you mean `{rule}`?")),
                None => draft.help("`retrylint rules` lists the names"),
            };
        }
    }
}
