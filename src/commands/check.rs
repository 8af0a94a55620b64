//! `retrylint check`: findings.

use std::time::Instant;

use retrylint::fingerprint::fingerprints_from;
use retrylint::pipeline;
use retrylint::report::summary::survey;
use retrylint::report::{Report, Selection, select};

use super::adopt::{Adoption, today};
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
    args.limits.apply(&mut options.config.limits);
    options.config.limits.today = today(args.adoption.today)?;
    let adoption = Adoption::new(args, &options)?;
    let progress = Progress::start(args.terminal);
    let world = pipeline::read(&options)?;
    let systems = world.systems();
    let (mut findings, off) = world.check_and_count(&systems);
    let fingerprints = fingerprints_from(&findings, &world.sources, |path| adoption.repository.path(path));
    drop(progress);

    let changed = adoption.changed(&findings, &fingerprints, &world)?;
    let selection =
        Selection { pedantic: args.pedantic, select: args.select.clone(), ignore: args.ignore.clone(), changed };
    let remark = adoption.settle(&mut findings, &fingerprints, &selection, &world)?;
    let (entries, mut counts) = select(&findings, &fingerprints, &selection);
    counts.off = off;
    let mut summary = survey(&world.facts, &world.counts, &systems, counts);
    summary.notes.extend(world.unmatched.iter().map(|unmatched| format!("warning: {unmatched}")));
    summary.notes.extend(remark);
    let report = Report { entries, sources: &world.sources, summary: &summary, show_suppressed: args.terminal.verbose };
    formats::write(&report, args)?;
    if !args.terminal.quiet {
        screen::print_to_stderr(&summary.text(Some(started.elapsed()), screen::line_look()));
    }
    Ok(args.fail_on.level().is_none_or(|level| counts.at_least(level) == 0))
}
