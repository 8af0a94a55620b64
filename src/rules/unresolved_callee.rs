//! Retried calls of which nobody can tell where they go. Page: `rules/unresolved-callee.md`.

use super::Findings;
use super::view::policies;
use crate::facts::{Callee, Dialect, Purpose};
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for (id, policy, ends) in policies(system) {
        // What asks this machine's files calls nobody.
        if policy.dialect != Dialect::Code || policy.purpose == Purpose::Local || ends.callee.is_some() {
            continue;
        }
        let what = policy.in_code.as_ref().and_then(|code| code.operation.as_deref());
        let what = what.map_or("what is retried here".to_owned(), |what| format!("`{what}`"));
        let why = match &policy.callee {
            Callee::Unknown(why) => why.to_string(),
            Callee::Named(names) => format!("no known service is called {}", or(names)),
            // Another environment's, perhaps.
            Callee::Service { .. } => continue,
        };
        findings
            .report(policy.span, format!("{what} calls a service that cannot be told, so its retries are in no figure"))
            .about(id, policy)
            .label(why)
            .help("name the service in a comment above it: `// retrylint: calls(payments)`");
    }
}

fn or(names: &[std::sync::Arc<str>]) -> String {
    let names: Vec<String> = names.iter().take(3).map(|name| format!("`{name}`")).collect();
    names.join(" or ")
}
