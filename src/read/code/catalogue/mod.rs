//! The library catalogue: how libraries spell a policy is data (`rules/libraries/*.toml`), read and applied here (contracts.md,
//! end).
//!
//! ```text
//! files, [[library]] ─► format: shapes and what they say ─► index ─┐
//! unit ─► each node: does it match? ─► engine: from a run to its policy, from its constructor outward ─► state ─► Policy
//! ```

mod engine;
#[cfg(test)]
mod examples;
mod files;
pub mod format;
mod index;
pub mod telling;

use std::collections::HashSet;
use std::sync::Arc;

pub use index::Catalogue;

use super::project::Project;
use super::site::Site;
use super::tree::Unit;
use crate::facts::{Attempts, Facts, PolicyKind, Sourced};
use crate::source::Span;

/// The uses of catalogued libraries in a unit, in the order in which they stand.
pub fn sites(project: &Project, unit: &Arc<Unit>) -> Vec<Site> {
    engine::sites(project, &project.catalogue, unit)
}

/// Policies that one file describes and another one runs are not there twice: the run is the policy, and of the description
/// only its limits of time stay. To be called once all files are read.
pub fn finish(facts: &mut Facts) {
    let code = facts.policies.iter().filter_map(|policy| policy.in_code.as_deref());
    let run: HashSet<Span> =
        code.filter(|code| !code.is_described).flat_map(|code| code.built_of.iter().copied()).collect();
    if run.is_empty() {
        return;
    }
    for policy in &mut facts.policies {
        let Some(code) = policy.in_code.as_deref().filter(|code| code.is_described) else { continue };
        if code.built_of.iter().any(|span| run.contains(span)) {
            policy.kind = PolicyKind::TimeLimit;
            policy.attempts = Sourced::default_of(Attempts::Times(1), "retrylint", "described only");
        }
    }
}
