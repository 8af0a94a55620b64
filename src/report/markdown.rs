//! `--format markdown`: for the summary of a CI job and for a comment on a pull request. The worst of the run first, then the
//! findings as people see them, groups folded; what is long is collapsed.

mod escape;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use super::details::{Detail, details};
use super::group::{Shown, is_more, shown};
use super::repository::Locate;
use super::{Report, text};
use crate::facts::words;
use crate::finding::{Finding, Severity};
use crate::source::Sources;
use escape::{code, inline};

/// Bytes of the whole text. A comment on GitHub holds 65,536 characters, a job's summary 1 MiB.
const MOST_BYTES: usize = 65_000;
/// Of those, what headings and the last sentence may take.
const RESERVED: usize = 2_000;
/// Findings of one level that are seen without opening a list.
const OPEN: usize = 10;
/// Places, notes and help that are told of one finding.
const MOST_DETAILS: usize = 12;
/// Characters of one text.
const LONGEST: usize = 600;
/// Bytes of one finding: of a longer one only the headline is told, so that no finding pushes out the others.
const MOST_ITEM: usize = 8_000;
/// Bytes from which on the summary says no more.
const MOST_HEAD: usize = 16_000;

/// The levels, worst first, and their headings.
const LEVELS: [(Severity, &str); 3] =
    [(Severity::Error, "Errors"), (Severity::Warning, "Warnings"), (Severity::Note, "Notes")];

/// The text, with a line break at its end, small enough for a comment on GitHub. Whatever stems from a file is escaped.
pub fn render(report: &Report<'_>, locate: Locate<'_>) -> String {
    let findings = report.findings();
    let all = shown(&findings);
    let mut out = head(report);
    let mut room = MOST_BYTES.saturating_sub(RESERVED + out.len());
    let mut left_out = 0;
    for (level, heading) in LEVELS {
        let mut items: Vec<(String, usize)> = Vec::new();
        for shown in all.iter().filter(|shown| shown.finding.severity == level) {
            // What comes later matters less: once there is no room, the rest is left out.
            let item = Some(()).filter(|()| left_out == 0).map(|()| item(shown, report.sources, locate));
            match item.filter(|item| item.len() <= room) {
                Some(item) => {
                    room -= item.len();
                    items.push((item, shown.count()));
                }
                None => left_out += shown.count(),
            }
        }
        section(heading, level, &items, &mut out);
    }
    if left_out > 0 {
        let findings = words::counted(left_out as u64, "finding is", "findings are");
        out.push_str(&format!("\n{findings} left out here for want of room; `--format json` has all of them.\n"));
    }
    out
}

/// The counts as a heading, then what the summary says.
fn head(report: &Report<'_>) -> String {
    let mut out = format!("## retrylint: {}\n\n", inline(&lowered(&report.summary.counts_text())));
    let all = report.summary.lines(None);
    for (index, line) in all.iter().enumerate() {
        if out.len() > MOST_HEAD {
            out.push_str(&format!(
                "- and {}\n",
                words::counted((all.len() - index) as u64, "further line", "further lines")
            ));
            break;
        }
        out.push_str(&format!("- {}\n", lines(line)));
    }
    out
}

/// `Nothing to report` within a sentence.
fn lowered(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The findings of one level. Notes, and what comes behind the first findings of another level, are to be opened.
fn section(heading: &str, level: Severity, items: &[(String, usize)], out: &mut String) {
    let is_note = level == Severity::Note;
    let (first, rest) = items.split_at(if is_note { 0 } else { items.len().min(OPEN) });
    if !first.is_empty() {
        out.push_str(&format!("\n### {heading}\n\n"));
    }
    first.iter().for_each(|(item, _)| out.push_str(item));
    if !rest.is_empty() {
        let count = words::grouped(rest.iter().map(|(_, count)| *count as u128).sum());
        let title = if is_note { format!("{heading}: {count}") } else { format!("{heading}: {count} more") };
        out.push_str(&format!("\n<details><summary>{title}</summary>\n\n"));
        rest.iter().for_each(|(item, _)| out.push_str(item));
        out.push_str("\n</details>\n");
    }
}

/// A finding as an item of a list, with a list of what it rests on.
fn item(shown: &Shown<'_>, sources: &Sources, locate: Locate<'_>) -> String {
    let finding = shown.finding;
    let mut headline = format!("- **{}**: {}", finding.rule, inline(&short(&finding.message)));
    if finding.suppressed.is_some() {
        headline.push_str(" (suppressed)");
    }
    headline.push('\n');
    let mut out = headline.clone();
    let list = shown.list(sources, locate);
    let mut details = details(finding, sources, locate);
    match &list {
        Some(places) => {
            out.push_str(&format!("  - {}\n", lines(places)));
            details.retain(|detail| match detail {
                Detail::Place(..) => false,
                Detail::Note(note) => !is_more(note),
                Detail::Help(_) => true,
            });
        }
        None => out.extend(bare_place(finding, sources, locate)),
    }
    for detail in details.iter().take(MOST_DETAILS) {
        let line = match detail {
            Detail::Place(place, says) => format!("{}: {}", code(place), lines(says)),
            Detail::Note(note) => lines(note),
            Detail::Help(help) => format!("help: {}", lines(help)),
        };
        out.push_str(&format!("  - {line}\n"));
    }
    if let Some(more) = details.len().checked_sub(MOST_DETAILS).filter(|more| *more > 0) {
        out.push_str(&format!("  - and {}\n", words::counted(more as u64, "further line", "further lines")));
    }
    if let Some(suppressed) = &finding.suppressed {
        let reason = if suppressed.reason.is_empty() { "no reason given" } else { &suppressed.reason };
        out.push_str(&format!("  - suppressed: {}\n", lines(reason)));
    }
    if out.len() > MOST_ITEM { headline } else { out }
}

/// The primary place, if nothing is said of it.
fn bare_place(finding: &Finding, sources: &Sources, locate: Locate<'_>) -> Option<String> {
    let label = finding.primary().filter(|label| label.text.is_empty())?;
    let source = sources.get(label.span.file)?;
    let place = format!("{}:{}", locate(&source.path), source.position(label.span.start).line);
    Some(format!("  - {}\n", code(&place)))
}

/// Text of which only the line breaks are Markdown.
fn lines(body: &str) -> String {
    let body = short(body);
    let lines: Vec<String> = text::block(&body)
        .split('\n')
        .map(|line| {
            let indent = line.chars().take_while(|c| *c == ' ').count();
            format!("{}{}", "&nbsp;".repeat(indent), inline(line))
        })
        .collect();
    lines.join("<br>")
}

/// The text, or the start of a long one.
fn short(text: &str) -> Cow<'_, str> {
    if text.chars().nth(LONGEST).is_none() {
        return text.into();
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}
