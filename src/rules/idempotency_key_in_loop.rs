//! Idempotency keys that change with every try. Page: `rules/idempotency-key-in-loop.md`.

use super::view::policies;
use super::{Findings, advice};
use crate::facts::words;
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for (id, policy, ends) in policies(system) {
        let Some(at) = policy.in_code.as_ref().and_then(|code| code.key_in_attempt) else { continue };
        let times = policy.tries().map_or_else(
            || "several times".to_owned(),
            |tries| match tries {
                2 => "twice".to_owned(),
                tries => format!("{} times", words::number(tries)),
            },
        );
        let message =
            format!("one {} can be carried out {times}: each try has an idempotency key of its own", ends.call(policy));
        advice::report_in_code(
            findings,
            policy,
            (at, "a new key in each try"),
            "each try makes a key of its own",
            message,
        )
        .about(id, policy)
        .help("make the key once, before the first try, and send the same one with all of them");
    }
}
