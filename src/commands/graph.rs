//! `retrylint graph`: services, calls, and what follows.

use retrylint::pipeline;
use retrylint::report::graph::{self, Focus};

use super::options::options;
use super::progress::Progress;
use super::{Failure, screen};
use crate::cli::{Graph, GraphFormat};

/// Prints it.
pub fn run(args: &Graph) -> Result<bool, Failure> {
    screen::choose(args.terminal.color);
    let options = options(&args.input)?;
    let progress = Progress::start(args.terminal);
    let world = pipeline::read(&options)?;
    let systems = world.systems_if(args.class);
    drop(progress);
    screen::tell_beside(&world.counts, &world.unmatched, &world.facts, args.terminal.quiet);
    let focus = match (&args.path, &args.around) {
        (Some((from, to)), _) => Focus::Path(from.clone(), to.clone()),
        (None, Some(name)) => Focus::Around(name.clone()),
        (None, None) => Focus::All,
    };
    let views = graph::view(&systems, &focus, args.class)?;
    match args.format {
        GraphFormat::Text => {
            screen::print(&graph::text(&views, &world.facts, &world.sources, screen::table_look()))?;
        }
        GraphFormat::Dot => screen::print(&graph::dot(&views))?,
        GraphFormat::Json => screen::print_raw_with(|out| graph::write_json(&views, out))?,
    }
    Ok(true)
}
