//! Failures that no further try can change. Page: `rules/retry-on-permanent-error.md`.

use super::view::policies;
use super::{Findings, advice};
use crate::facts::{Class, Classes, Dialect, Policy, PolicyKind, words};
use crate::finding::Severity;
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for (id, policy, ends) in policies(system) {
        if policy.kind == PolicyKind::Default || !policy.may_retry() {
            continue;
        }
        let permanent = Classes::of(&[Class::ClientError, Class::Rejected]);
        let named = policy.names_classes.and(permanent);
        let times = policy
            .tries()
            .map_or_else(|| "again and again".to_owned(), |tries| format!("{} times", words::number(tries)));
        let help = help(policy);
        let site = advice::site(policy, policy.retries_on.span().or(policy.attempts.span()));
        if !named.is_empty() {
            let which: Vec<&str> = named.iter().map(Class::describe).collect();
            findings
                .report(
                    site,
                    format!(
                        "a {} that can only fail is sent {times}: {} is retried",
                        ends.call(policy),
                        words::list(&which)
                    ),
                )
                .about(id, policy)
                .label("retries answers that will not change")
                .help(help);
            continue;
        }
        let everything = policy.retries_on.known().is_some_and(|on| on.contains(Class::ClientError));
        let code = policy.in_code.as_deref();
        let Some(code) = code.filter(|_| everything && policy.dialect == Dialect::Code) else { continue };
        match code.status_to_error {
            Some(at) => {
                let message = format!(
                    "a {} that can only fail is sent {times}: a 400 or 404 is an error here, and every error is retried",
                    ends.call(policy)
                );
                advice::report_in_code(
                    findings,
                    policy,
                    (at, "makes an error of every 4xx"),
                    "retries every error",
                    message,
                )
                .about(id, policy)
                .help(help);
            }
            // What the errors are is not seen: worth a thought, not a review comment.
            None if ends.callee.is_some() => {
                findings
                    .report(
                        site,
                        format!("every error of a {} is retried, also those that no try can change", ends.call(policy)),
                    )
                    .about(id, policy)
                    .severity(Severity::Note)
                    .pedantic()
                    .label("retries every error")
                    .help(help);
            }
            None => {}
        }
    }
}

/// What to write instead.
fn help(policy: &Policy) -> &'static str {
    match policy.dialect {
        Dialect::Code => {
            "look at the error before the next try: retry lost connections, timeouts, 429 and 5xx, and return everything else at once"
        }
        _ => "retry connection failures, 429 and 5xx only: other 4xx answers come back the same",
    }
}
