//! Settings that do nothing, or that the control plane rejects. Page: `rules/ineffective-retry.md`.

use super::Findings;
use super::view::policies;
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for (id, policy, _) in policies(system) {
        for setting in &policy.ineffective {
            let draft = findings.report(setting.span, setting.message.clone());
            draft.about(id, policy).label(setting.label.clone()).help(setting.help.clone());
            if setting.rejected {
                draft.note("the whole object is rejected: nothing that it says is in force");
            }
        }
    }
}
