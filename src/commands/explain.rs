//! `retrylint explain`: a rule's page.

use retrylint::finding::Severity;
use retrylint::rules;

use super::{Failure, screen};
use crate::cli::{Explain, unknown_rule};

/// Prints it.
pub fn run(args: &Explain) -> Result<bool, Failure> {
    let Some(rule) = rules::find(&args.rule) else {
        return Err(Failure::Said(unknown_rule(&args.rule), None));
    };
    let meta = rule.meta();
    let levels: Vec<&str> = meta.levels.iter().copied().map(Severity::name).collect();
    let head = format!("# {}\n\n{} ({}; {})\n\n", rule.id, meta.summary, meta.category.name(), levels.join(", "));
    screen::print(&(head + &rule.body()))?;
    Ok(true)
}
