//! `--format full`: for people at a terminal. The effect, then each place that contributes in its own file and words, then
//! what would change it.
//!
//! ```text
//! error[retry-amplification]: one request to `web` can become 27 requests at `ledger`
//!     ╭─[mesh/checkout.yaml:14:17]
//!  14 │       attempts: 2
//!     ·                 ┬
//!     ·                 ╰── web → checkout: two retries, three tries (×3)
//!   worst for overload (503 at every hop)
//!   help: …
//! ```

use super::group::{Shown, shown};
use super::paint::{Paint, Tone};
use super::{Look, Report, snippet, text};
use crate::finding::{Finding, Severity};

/// All findings, with an empty line behind each.
pub fn render(report: &Report<'_>, look: Look) -> String {
    let mut out = String::new();
    for shown in shown(&report.findings) {
        finding(&shown, report, look, &mut out);
        out.push('\n');
    }
    out
}

fn finding(shown: &Shown<'_>, report: &Report<'_>, look: Look, out: &mut String) {
    let paint = Paint(look.colour);
    let finding = shown.finding();
    headline(finding, &paint, look, out);
    match shown.list(report.sources) {
        Some(places) => push(out, &places, "  ", "", look),
        None => out.push_str(&snippet::draw(&finding.labels, report.sources, finding.severity, look)),
    }
    // What stands first among the notes is the reading of the picture; the rest is for later.
    let (first, rest) = finding.notes.split_first().map_or((None, &[][..]), |(first, rest)| (Some(first), rest));
    if let Some(first) = first {
        push(out, first, "  ", "", look);
    }
    if let Some(help) = &finding.help {
        push(out, help, "  ", &paint.tone(Tone::Help, "help: "), look);
    }
    for note in rest {
        push(out, note, "  ", &paint.tone(Tone::Help, "note: "), look);
    }
    if !finding.environments.is_empty() {
        let names: Vec<&str> = finding.environments.iter().map(|name| &**name).collect();
        push(out, &format!("holds in {}", names.join(", ")), "  ", &paint.tone(Tone::Help, "note: "), look);
    }
    if let Some(suppressed) = &finding.suppressed {
        let reason = if suppressed.reason.is_empty() { "no reason given" } else { &suppressed.reason };
        push(out, &format!("{}: {reason}", suppressed.by), "  ", &paint.tone(Tone::Help, "suppressed: "), look);
    }
}

fn headline(finding: &Finding, paint: &Paint, look: Look, out: &mut String) {
    let tone = match finding.severity {
        Severity::Error => Tone::Error,
        Severity::Warning => Tone::Warning,
        Severity::Note => Tone::Note,
    };
    let head = format!("{}[{}]", finding.severity.name(), finding.rule);
    let message = format!("{head}: {}", text::line(&finding.message));
    for (row, line) in text::wrap(&message, look.width.saturating_sub(2)).iter().enumerate() {
        let line = match line.strip_prefix(&head) {
            Some(rest) if row == 0 => format!("{}{}", paint.tone(tone, &head), paint.tone(Tone::Strong, rest)),
            _ => format!("  {}", paint.tone(Tone::Strong, line)),
        };
        out.push_str(&line);
        out.push('\n');
    }
}

/// Adds text that may have several lines, wrapped, with a mark in front and its further lines below its first.
fn push(out: &mut String, body: &str, indent: &str, mark: &str, look: Look) {
    let hang = if mark.is_empty() { 0 } else { super::paint::visible_width(mark) };
    let body = text::block(body);
    for (row, line) in text::wrap(&body, look.width.saturating_sub(indent.len() + hang).max(20)).iter().enumerate() {
        let lead = if row == 0 { mark.to_string() } else { " ".repeat(hang) };
        out.push_str(format!("{indent}{lead}{line}").trim_end());
        out.push('\n');
    }
}
