//! `retrylint check`: findings.

use std::time::Instant;

use retrylint::fingerprint::fingerprints;
use retrylint::pipeline;
use retrylint::report::summary::survey;
use retrylint::report::{Report, Selection, select};

use super::options::options;
use super::progress::Progress;
use super::{Failure, formats, screen};
use crate::cli::Check;

/// Whether no finding is at the level that fails.
pub fn run(args: &Check) -> Result<bool, Failure> {
    let started = Instant::now();
    screen::choose(args.terminal.color);
    formats::check_files(&args.output)?;
    let mut options = options(&args.input)?;
    if let Some(tries) = args.max_attempts {
        options.config.limits.max_attempts = tries;
    }
    if let Some(times) = args.max_amplification {
        options.config.limits.max_amplification = times;
        // Whoever allows more than what is an error by default does not want an error below that either.
        options.config.limits.error_amplification = options.config.limits.error_amplification.max(times);
    }
    let progress = Progress::start(args.terminal);
    let world = pipeline::read(&options)?;
    let systems = world.systems();
    let (findings, off) = world.check_and_count(&systems);
    let fingerprints = fingerprints(&findings, &world.sources);
    drop(progress);

    let selection = Selection { pedantic: args.pedantic, select: args.select.clone(), ignore: args.ignore.clone() };
    let (entries, mut counts) = select(&findings, &fingerprints, &selection);
    counts.off = off;
    let summary = survey(&world.facts, &world.counts, &systems, counts);
    let report = Report { entries, sources: &world.sources, summary: &summary, show_suppressed: args.terminal.verbose };
    formats::write(&report, args)?;
    if !args.terminal.quiet {
        screen::print_to_stderr(&summary.text(Some(started.elapsed()), screen::stderr_look()));
    }
    Ok(args.fail_on.level().is_none_or(|level| counts.at_least(level) == 0))
}
