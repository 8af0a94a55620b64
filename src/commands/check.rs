//! `retrylint check`: findings.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

use retrylint::facts::words::in_words;
use retrylint::fingerprint::fingerprints;
use retrylint::pipeline;
use retrylint::report::summary::survey;
use retrylint::report::{Look, Report, Selection, concise, full, json, sarif, select};

use super::options::options;
use super::progress::Progress;
use super::{Failure, screen};
use crate::cli::{Check, Format};

/// Whether no finding is at the level that fails.
pub fn run(args: &Check) -> Result<bool, Failure> {
    let started = Instant::now();
    screen::choose(args.terminal.color);
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
    for (format, file) in &args.output {
        let text = render(*format, &report, args, Look::PLAIN);
        std::fs::write(file, text)
            .map_err(|error| Failure::Said(format!("cannot write {}: {}", file.display(), in_words(&error)), None))?;
    }
    let text = render(args.format, &report, args, screen::stdout_look());
    match args.format {
        Format::Full | Format::Concise => screen::print(&text)?,
        Format::Json | Format::Sarif => screen::print_raw(&text)?,
    }
    if !args.terminal.quiet {
        screen::print_to_stderr(&summary.text(Some(started.elapsed()), screen::stderr_look()));
    }
    Ok(args.fail_on.level().is_none_or(|level| counts.at_least(level) == 0))
}

fn render(format: Format, report: &Report<'_>, args: &Check, look: Look) -> String {
    match format {
        Format::Full => full::render(report, look),
        Format::Concise => concise::render(report, look),
        Format::Json => json::render(report),
        Format::Sarif => {
            let root = repository();
            let known = RefCell::new(HashMap::new());
            let locate = |path: &str| {
                let mut known = known.borrow_mut();
                known.entry(path.to_string()).or_insert_with(|| below(root.as_deref(), path)).clone()
            };
            let include_suppressed = args.sarif_include_suppressed;
            sarif::render(
                report,
                &sarif::Options { category: &args.sarif_category, include_suppressed, locate: &locate },
            )
        }
    }
}

/// The root of the repository that the run started in; without one, where it started.
fn repository() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?.canonicalize().ok()?;
    let root = here.ancestors().find(|folder| folder.join(".git").exists());
    Some(root.unwrap_or(&here).to_path_buf())
}

/// A path below the root, links resolved, `/` between its parts; as it is shown if it is no file (standard input).
fn below(root: Option<&Path>, path: &str) -> String {
    let Ok(whole) = Path::new(path).canonicalize() else { return path.to_string() };
    let inside = root.and_then(|root| whole.strip_prefix(root).ok());
    inside.unwrap_or(&whole).to_string_lossy().replace('\\', "/")
}
