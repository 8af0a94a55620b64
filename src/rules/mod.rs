//! Systems in, findings out: the registry of rules, and the steps between what checks report and what users see.
//!
//! A rule is a page (`rules/<id>.md`: everything a user needs) and a check of the same name (`src/rules/<id>.rs`). Checks
//! see one [`System`], that is one environment, and know nothing of each other; what holds in several environments, which
//! of two findings about one defect stands, and what a comment silences is decided here, once for all of them:
//!
//! ```text
//! checks ─► adjust (confidence, roles) ─► precedence ─► merge environments ─► suppress ─► join defaults ─► group, sort
//! ```

mod advice;
mod bounds;
#[cfg(test)]
mod check_tests;
mod delay_advice;
mod findings;
#[cfg(test)]
mod fixture;
mod notation;
mod page;
mod precedence;
mod settle;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod time_tests;
mod view;

pub use findings::{Draft, EdgeRef, Findings};
pub use page::{Category, Meta, Pedantic};
pub use view::{EdgeView, Ends, nest_of, policies};

use std::sync::LazyLock;

use crate::finding::Finding;
use crate::graph::System;
use crate::suppress;

/// A rule: its page and its check.
#[derive(Debug)]
pub struct Rule {
    /// Its name, in kebab-case, for ever.
    pub id: &'static str,
    /// Its page, front matter included.
    pub page: &'static str,
    /// Looks at one environment and reports.
    pub check: fn(&System, &mut Findings),
    meta: &'static LazyLock<Meta>,
}

macro_rules! rules {
    ($($id:literal => $module:ident),+ $(,)?) => {
        $(mod $module;)+
        /// Every rule, sorted by id.
        pub static ALL: &[Rule] = &[$(Rule {
            id: $id,
            page: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/", $id, ".md")),
            check: $module::check,
            meta: {
                static META: LazyLock<Meta> = LazyLock::new(|| page::meta(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/", $id, ".md"))));
                &META
            },
        }),+];
    };
}

rules! {
    "backoff-exceeds-deadline" => backoff_exceeds_deadline,
    "blocking-sleep-in-async" => blocking_sleep_in_async,
    "deadline-inversion" => deadline_inversion,
    "excessive-attempts" => excessive_attempts,
    "frozen-jitter" => frozen_jitter,
    "idempotency-key-in-loop" => idempotency_key_in_loop,
    "ignored-attempt-timeout" => ignored_attempt_timeout,
    "implicit-retries" => implicit_retries,
    "ineffective-retry" => ineffective_retry,
    "missing-circuit-breaker" => missing_circuit_breaker,
    "missing-jitter" => missing_jitter,
    "missing-retry-budget" => missing_retry_budget,
    "missing-timeout" => missing_timeout,
    "no-backoff" => no_backoff,
    "non-idempotent-retry" => non_idempotent_retry,
    "pool-exhaustion" => pool_exhaustion,
    "retry-amplification" => retry_amplification,
    "retry-cycle" => retry_cycle,
    "retry-on-permanent-error" => retry_on_permanent_error,
    "sleep-after-last-attempt" => sleep_after_last_attempt,
    "stacked-retries" => stacked_retries,
    "swallowed-exhaustion" => swallowed_exhaustion,
    "timeout-stacking" => timeout_stacking,
    "unbounded-retries" => unbounded_retries,
    "uncapped-backoff" => uncapped_backoff,
    "unknown-suppression" => unknown_suppression,
    "unreachable-attempts" => unreachable_attempts,
    "unreadable-file" => unreadable_file,
    "unresolved-callee" => unresolved_callee,
    "unused-suppression" => unused_suppression,
    "weak-jitter" => weak_jitter,
}

impl Rule {
    /// What the page's front matter says.
    pub fn meta(&self) -> &'static Meta {
        self.meta
    }

    /// The page behind its front matter as a reader wants it: without the markers that only tests need.
    pub fn body(&self) -> String {
        page::body(self.page)
    }
}

/// The rule of an id.
pub fn find(id: &str) -> Option<&'static Rule> {
    let at = ALL.binary_search_by(|rule| rule.id.cmp(id)).ok()?;
    ALL.get(at)
}

/// What changes the findings of a run besides the facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Keep findings in test code (D-18).
    pub include_tests: bool,
}

/// Runs every rule on every environment. The findings are sorted worst first, then by path, position and rule; those that
/// a comment or a standing decision covers are marked, those that only `--pedantic` shows are marked, none is left out.
pub fn check(systems: &[System], options: Options) -> Vec<Finding> {
    let Some((facts, today)) = systems.first().map(|system| (system.facts, system.limits.today)) else {
        return Vec::new();
    };
    let mut drafts = Vec::new();
    for system in systems {
        let mut own = Findings::of(ALL, system);
        settle::adjust(&mut own, facts, options);
        precedence::apply(&mut own);
        settle::stamp(&mut own, system);
        drafts.append(&mut own);
    }
    let mut drafts = settle::merge(drafts);
    settle::hold_everywhere(&mut drafts, systems.len(), facts);
    let used = suppress::apply(facts, today, drafts.iter_mut().map(|draft| &mut draft.finding));
    let mut drafts = settle::join_defaults(drafts);
    let is_part = facts.environments().len() > systems.len();
    let mut unused = unused_suppression::drafts(facts, today, &used, is_part);
    settle::adjust(&mut unused, facts, options);
    suppress::apply(facts, today, unused.iter_mut().map(|draft| &mut draft.finding));
    drafts.append(&mut unused);
    settle::finish(drafts, facts)
}
