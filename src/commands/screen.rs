//! The two streams: results on standard output, everything else on standard error; colours, width, and readers that stop
//! reading.

use std::io::{ErrorKind, IsTerminal, Write};

use anstream::{AutoStream, ColorChoice};
use retrylint::facts::{Facts, Problem};
use retrylint::report::{Look, text};
use retrylint::scan::Counts;

use super::Failure;
use crate::cli::Color;

/// Widest text: long lines are hard to read, whatever the terminal can show.
const WIDEST: usize = 120;
/// Widest table: its lines are read across a few words only.
const WIDEST_TABLE: usize = 240;
/// Narrower than this, nothing fits.
const NARROWEST: usize = 40;

/// Bytes that are written at once.
const BUFFER: usize = 1 << 16;

/// Makes the choice hold for both streams. `NO_COLOR`, `CLICOLOR_FORCE` and `TERM=dumb` decide where it is automatic.
pub fn choose(color: Color) {
    match color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    }
    .write_global();
}

/// How text on standard output looks.
pub fn stdout_look() -> Look {
    let stdout = std::io::stdout();
    Look { colour: AutoStream::choice(&stdout) != ColorChoice::Never, width: width(stdout.is_terminal(), WIDEST) }
}

/// How a table on standard output looks: as wide as the terminal, and as it likes where it goes to a file or to another
/// program.
pub fn table_look() -> Look {
    let is_terminal = std::io::stdout().is_terminal();
    Look { width: if is_terminal { width(true, WIDEST_TABLE) } else { usize::MAX }, ..stdout_look() }
}

/// The columns that text on standard output fills; none where it goes to a file or to another program.
pub fn stdout_columns() -> Option<usize> {
    std::io::stdout().is_terminal().then(|| width(true, WIDEST))
}

/// How text on standard error looks.
pub fn stderr_look() -> Look {
    let stderr = std::io::stderr();
    Look { colour: AutoStream::choice(&stderr) != ColorChoice::Never, width: width(stderr.is_terminal(), WIDEST) }
}

/// How lines on standard error look that are searched for in logs: they are broken on a terminal, and where `COLUMNS` is set.
pub fn line_look() -> Look {
    let look = stderr_look();
    let is_fitted = std::io::stderr().is_terminal() || std::env::var_os("COLUMNS").is_some();
    if is_fitted { look } else { Look { width: usize::MAX, ..look } }
}

/// Writes text for people to standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    let stdout = std::io::stdout();
    let choice = AutoStream::choice(&stdout);
    written(AutoStream::new(stdout.lock(), choice).write_all(text.as_bytes()))
}

/// Writes text for programs to standard output, byte for byte.
pub fn print_raw(text: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    written(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
}

/// The same for text that is made as it is written.
pub fn print_raw_with(write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>) -> Result<(), Failure> {
    let mut stdout = std::io::BufWriter::with_capacity(BUFFER, std::io::stdout().lock());
    written(write(&mut stdout).and_then(|()| stdout.flush()))
}

/// A reader that stops reading has seen enough: that is no failure.
fn written(result: std::io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Said(format!("cannot write to standard output: {error}"), None))
        }
        _ => Ok(()),
    }
}

/// Writes to standard error. Where not even that works, there is nobody to tell.
pub fn print_to_stderr(text: &str) {
    let stderr = std::io::stderr();
    let choice = AutoStream::choice(&stderr);
    let _ = AutoStream::new(stderr.lock(), choice).write_all(text.as_bytes());
}

/// Says which of the named paths are left out, which settings nothing answers to, and what could not be read: a table that
/// lacks them does not.
pub fn tell_beside(counts: &Counts, unmatched: &[String], facts: &Facts, quiet: bool) {
    if !quiet {
        counts.left_out.iter().for_each(|left_out| tell("note", &left_out.to_string()));
        tell_unmatched(unmatched);
        unreadable(facts).iter().for_each(|unreadable| tell("warning", unreadable));
    }
}

/// Says which settings nothing answers to.
pub fn tell_unmatched(unmatched: &[String]) {
    unmatched.iter().for_each(|unmatched| tell("warning", unmatched));
}

fn tell(level: &str, what: &str) {
    say(&format!("{level}: {what}"));
}

/// Says a line on standard error.
pub fn say(line: &str) {
    print_to_stderr(&format!("{}\n", fitted(&text::line(line), 2)));
}

/// A text that begins `hang` columns from the left or less, as wide as [`line_look`] says, its further lines indented by as many.
pub fn fitted(body: &str, hang: usize) -> String {
    text::wrap(body, line_look().width.saturating_sub(hang)).join(&format!("\n{:hang$}", ""))
}

/// What could not be read: `check` has a finding for each, a table has nothing.
fn unreadable(facts: &Facts) -> Option<String> {
    let whole = |problem: &&Problem| !problem.partial && !problem.template;
    let problems: Vec<&Problem> = facts.problems.iter().filter(whole).collect();
    let first = problems.first()?;
    let path = facts.file(first.span.file).map_or("a file", |file| &*file.path);
    Some(match problems.len() - 1 {
        0 => format!("{path} cannot be read: {}", first.message),
        n => format!("{path} and {n} more cannot be read; `retrylint check` says why"),
    })
}

/// Columns to fill: those of the terminal, within reason; elsewhere those that `COLUMNS` names, or a hundred.
fn width(is_terminal: bool, widest: usize) -> usize {
    let named = || std::env::var("COLUMNS").ok()?.parse::<usize>().ok();
    let columns = if is_terminal { terminal_width(widest).or_else(named) } else { named() };
    columns.unwrap_or(Look::PLAIN.width).clamp(NARROWEST, widest)
}

/// The terminal's width. Clap knows it and does not say; a line that it wraps does.
fn terminal_width(widest: usize) -> Option<usize> {
    let probe = "x ".repeat(widest);
    let mut command = clap::Command::new("width").about(probe).max_term_width(widest).help_template("{about}");
    command.render_help().to_string().lines().map(str::len).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_is_always_a_sensible_one() {
        assert!((NARROWEST..=WIDEST).contains(&width(false, WIDEST)));
        assert!((NARROWEST..=WIDEST).contains(&width(true, WIDEST)));
    }
}
