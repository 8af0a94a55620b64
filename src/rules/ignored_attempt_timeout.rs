//! A limit on one try that is dropped, or whose victims are never retried. Page: `rules/ignored-attempt-timeout.md`.

use super::view::policies;
use super::{Findings, advice, delay_advice};
use crate::facts::{AttemptTimeoutFlaw, Class, Limit, words};
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for (id, policy, _) in policies(system) {
        let (Some(flaw), Some(limit)) = (&policy.attempt_timeout_flaw, policy.attempt_timeout.limit()) else {
            continue;
        };
        if !policy.attempt_timeout.is_written() {
            continue;
        }
        let retries =
            policy.tries().map_or_else(|| "retries".to_owned(), |tries| words::retries(tries.saturating_sub(1)));
        let starts = if policy.tries() == Some(2) { "starts" } else { "start" };
        let site = advice::site(policy, policy.attempt_timeout.span());
        match flaw {
            AttemptTimeoutFlaw::NotBelowTotal(total) => {
                let Some(Limit::At(whole)) = total.known() else { continue };
                let whose = match total.default_by() {
                    Some(by) => format!("the route's timeout of {whole}, which is {by}'s default"),
                    None => format!("the route's timeout of {whole}"),
                };
                let text = format!("the limit of {limit} a try is ignored: it is not below {whose}");
                // A shorter limit alone would be the second flaw: both are told at once.
                let also = match policy.retries_on.known() {
                    Some(on) if policy.may_retry() && !on.contains(Class::TryTimeout) => {
                        "; and add `reset` to what is retried if the request may be repeated, since a try that is cut is in no retried class"
                    }
                    _ => "",
                };
                let draft = findings
                    .report(site, format!("{text}, so one slow try uses up all of it and {retries} never {starts}"));
                // The smallest total that gives every try its time.
                let room = limit.times(policy.tries().unwrap_or(2))
                    + policy.delays(policy.tries().unwrap_or(2) - 1).map(|d| d.greatest).unwrap_or_default();
                draft.about(id, policy).label(text).help(format!(
                    "give each try less than {whole}, for example {}, or the route more: a `timeout` of {} holds {}{also}",
                    delay_advice::attempt_timeout(policy, whole.scale(1.0 / policy.tries().unwrap_or(2).max(1) as f64)),
                    room,
                    words::tries(policy.tries().unwrap_or(2)),
                ));
                if let Some(span) = total.span() {
                    draft.related(span, format!("the whole request ends after {whole}"));
                }
            }
            AttemptTimeoutFlaw::NeverRetried { corrected, .. } => {
                let text = format!("a try that is cut after {limit} is not retried");
                let draft = findings.report(
                    site,
                    format!(
                        "{text}: `{}` retries other failures only, so the first slow try ends the call",
                        policy.name
                    ),
                );
                draft.about(id, policy).label(text).help(format!(
                    "`{corrected}` retries it, if the request may be repeated; else a plain timeout says the same"
                ));
                if let Some(span) = policy.retries_on.span() {
                    draft.related(span, "a timed-out try is none of these");
                }
            }
        }
    }
}
