//! `retrylint policies`: every retry policy with its effective values.

use retrylint::pipeline;
use retrylint::report::policies;

use super::options::options;
use super::progress::Progress;
use super::{Failure, screen};
use crate::cli::{Policies, TableFormat};

/// Prints them.
pub fn run(args: &Policies) -> Result<bool, Failure> {
    screen::choose(args.terminal.color);
    let options = options(&args.input)?;
    let progress = Progress::start(args.terminal);
    let world = pipeline::read(&options)?;
    let systems = world.systems();
    drop(progress);
    screen::tell_beside(&world.counts, &world.unmatched, &world.facts, args.terminal.quiet);
    let tests = args.input.files.include_tests;
    match args.format {
        TableFormat::Table => {
            let look = screen::table_look();
            screen::print(&policies::table(&world.facts, &systems, &world.sources, tests, look))?;
        }
        TableFormat::Json => screen::print_raw(&policies::json(&world.facts, &systems, &world.sources, tests))?,
    }
    Ok(true)
}
