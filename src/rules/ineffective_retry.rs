//! Settings that do nothing, or that the control plane rejects. Page: `rules/ineffective-retry.md`.

use super::Findings;
use super::view::{idle, policies};
use crate::facts::PolicyKind;
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
    for (id, policy, ends) in idle(system).filter(|(_, policy, _)| policy.kind == PolicyKind::Config) {
        let message = format!(
            "Istio retries nothing here: every port of {} is declared to speak something other than plain HTTP",
            ends.callee_or("the destination")
        );
        let draft = findings.report(policy.site(), message);
        draft.about(id, policy).label("requests are not told apart on such a port".to_string()).help(
            "if what is sent is plain HTTP, call the port so (`name: http` in the Service, `protocol: HTTP` in the \
             ServiceEntry); if the client encrypts, nobody but the client can retry",
        );
    }
}
