//! Suppressions that name no rule, and comments to retrylint that it does not understand. Page: `rules/unknown-suppression.md`.

use super::{ALL, Findings};
use crate::graph::System;
use crate::suggest::did_you_mean;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for wrong in &system.facts.misdirected {
        let draft = findings.report(wrong.span, wrong.message.clone());
        draft.everywhere().label("not understood");
        draft.help(match &wrong.suggestion {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "a comment that silences a rule reads `retrylint: allow(rule) reason`".to_owned(),
        });
    }
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
