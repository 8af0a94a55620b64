//! Retried calls of which nobody can tell where they go. Page: `rules/unresolved-callee.md`.

use std::sync::Arc;

use super::Findings;
use super::view::policies;
use crate::facts::{Callee, Dialect, Purpose};
use crate::graph::System;
use crate::read::code::words::split;

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
            Callee::Named(names) => match telling(names) {
                names if names.is_empty() => "nothing in what is tried names a known service".to_owned(),
                names => format!("no known service is called {}", or(&names)),
            },
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

/// Parts of names that are meant to say what is called.
const TELLING: [&str; 14] = [
    "client", "stub", "service", "svc", "server", "api", "url", "uri", "host", "addr", "address", "endpoint",
    "backend", "upstream",
];

/// Those of the names that are meant to say what is called: of a client, an address, a setting. What a local happens to be
/// called (`r`, `credentials`) is not asked for.
fn telling(names: &[Arc<str>]) -> Vec<Arc<str>> {
    let is_setting = |name: &str| name.len() > 1 && !name.contains(char::is_lowercase);
    let tells = |name: &str| split(name).iter().any(|part| TELLING.contains(&part.as_str()));
    names.iter().filter(|name| is_setting(name) || tells(name)).cloned().collect()
}

fn or(names: &[Arc<str>]) -> String {
    let names: Vec<String> = names.iter().take(3).map(|name| format!("`{name}`")).collect();
    names.join(" or ")
}
