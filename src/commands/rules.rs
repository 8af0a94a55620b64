//! `retrylint rules`: the list of rules.

use retrylint::finding::Severity;
use retrylint::report::table::{Align, Table};
use retrylint::rules::{self, Pedantic};

use super::{Failure, screen};
use crate::cli::Rules;

/// Prints it.
pub fn run(args: &Rules) -> Result<bool, Failure> {
    screen::choose(args.terminal.color);
    let mut table = Table::new(&[
        ("rule", Align::Left),
        ("category", Align::Left),
        ("levels", Align::Left),
        ("what it finds", Align::Left),
    ]);
    for rule in rules::ALL {
        let meta = rule.meta();
        let levels: Vec<&str> = meta.levels.iter().copied().map(Severity::name).collect();
        let pedantic = if meta.pedantic == Pedantic::Always { " (--pedantic)" } else { "" };
        table.push(vec![
            rule.id.to_string(),
            meta.category.name().to_string(),
            levels.join(", "),
            format!("{}{pedantic}", meta.summary),
        ]);
    }
    screen::print(&table.render(screen::table_look(), &[]))?;
    Ok(true)
}
