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

use rayon::prelude::*;

use super::group::{Shown, is_more, shown};
use super::paint::{Paint, Tone, visible_width};
use super::{Look, Report, snippet, text};
use crate::finding::{Finding, Severity};

/// Findings that one thread draws in a row.
const AT_ONCE: usize = 256;

/// All findings, with an empty line behind each.
pub fn render(report: &Report<'_>, look: Look) -> String {
    let draw = |findings: &[Shown<'_>]| {
        let mut out = String::new();
        for shown in findings {
            finding(shown, report, look, &mut out);
            out.push('\n');
        }
        out
    };
    // Of a large report, the pictures cost more than everything that was found out before.
    let parts: Vec<String> = shown(&report.findings()).par_chunks(AT_ONCE).map(draw).collect();
    let mut out = String::with_capacity(parts.iter().map(String::len).sum());
    // Each part is freed once it is copied.
    parts.into_iter().for_each(|part| out.push_str(&part));
    out
}

fn finding(shown: &Shown<'_>, report: &Report<'_>, look: Look, out: &mut String) {
    let paint = Paint(look.colour);
    let finding = shown.finding;
    headline(finding, &paint, look, out);
    let list = shown.list(report.sources, &str::to_string);
    match &list {
        Some(places) => push(out, places, "", look),
        None => out.push_str(&snippet::draw(finding, report.sources, look)),
    }
    // The first note is the reading of the picture, and stands before what to do about it; the rest is for later.
    let mut notes = finding.notes.iter().filter(|note| list.is_none() || !is_more(note));
    if let Some(first) = notes.next() {
        push(out, first, "", look);
    }
    if let Some(help) = &finding.help {
        push(out, help, &paint.tone(Tone::Help, "help: "), look);
    }
    for note in notes {
        push(out, note, &paint.tone(Tone::Help, "note: "), look);
    }
    if !finding.environments.is_empty() {
        let names: Vec<&str> = finding.environments.iter().map(|name| &**name).collect();
        push(out, &format!("holds in {}", names.join(", ")), &paint.tone(Tone::Help, "note: "), look);
    }
    if let Some(suppressed) = &finding.suppressed {
        let reason = if suppressed.reason.is_empty() { "no reason given" } else { &suppressed.reason };
        push(out, &format!("{}: {reason}", suppressed.by), &paint.tone(Tone::Help, "suppressed: "), look);
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

/// Adds text that may have several lines, wrapped and indented, with a mark in front and its further lines below its first.
fn push(out: &mut String, body: &str, mark: &str, look: Look) {
    let hang = visible_width(mark);
    let body = text::block(body);
    for (row, line) in text::wrap(&body, look.width.saturating_sub(2 + hang).max(20)).iter().enumerate() {
        let lead = if row == 0 { mark.to_string() } else { " ".repeat(hang) };
        out.push_str(format!("  {lead}{line}").trim_end());
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Label;
    use crate::report::{Entry, examples, summary::Summary};
    use crate::source::{FileId, Sources, Span};

    fn full(findings: &[Finding], sources: &Sources, look: Look) -> String {
        let entries = findings.iter().map(|finding| Entry { finding, fingerprint: "0" }).collect();
        let summary = Summary::default();
        render(&Report { entries, sources, summary: &summary, show_suppressed: false }, look)
    }

    #[test]
    fn a_path_over_three_files_shows_all_three() {
        let (sources, finding) = examples::path();
        assert_eq!(
            full(&[finding], &sources, Look::PLAIN),
            "\
error[retry-amplification]: one request to `web` can become 27 requests at `ledger`
     ╭─[mesh/checkout.yaml:14:17]
  14 │       attempts: 2
     ·                 ┬
     ·                 ╰── web → checkout: two retries, three tries (×3)
     ╭─[services/checkout/src/client.rs:31:25]
  31 │         .with_max_times(2)
     ·                         ┬
     ·                         ╰── checkout → payments: two retries, three tries (×3 = 9)
     ╭─[gateway/envoy.yaml:188:32]
 188 │                   num_retries: 2
     ·                                ┬
     ·                                ╰── payments → ledger: two retries, three tries (×3 = 27)
  worst for overload (503 at every hop); no layer on this path has a budget
  help: retry at one hop only: `attempts: 0` in mesh/checkout.yaml and no retry in checkout's client
        leaves 3×,
        or bound it: `retry_budget: { budget_percent: { value: 20 } }` on cluster `ledger` leaves
        11.25×
  note: web → checkout is owned by @team-web, checkout → payments by @team-pay

"
        );
    }

    #[test]
    fn sixty_columns_are_enough() {
        let (sources, finding) = examples::path();
        let shown = full(&[finding], &sources, Look { colour: false, width: 60 });
        assert!(shown.lines().all(|line| text::width(line) <= 60), "{shown}");
    }

    #[test]
    fn colours_change_nothing_but_colours() {
        let (sources, finding) = examples::path();
        let plain = full(std::slice::from_ref(&finding), &sources, Look::PLAIN);
        let painted = full(&[finding], &sources, Look { colour: true, ..Look::PLAIN });
        assert_ne!(plain, painted);
        assert_eq!(anstream::adapter::strip_str(&painted).to_string(), plain);
    }

    #[test]
    fn hostile_contents_reach_the_terminal_as_pictures() {
        let line = format!("\u{feff}\tkey\u{1b}[2J\u{7}\u{9b}\u{202e}日本: 2 # {}\r\n", "x".repeat(10_000));
        let sources = examples::sources(&[("a\u{1b}]0;x\u{7}\n.yaml", &line)]);
        let mut finding = examples::finding("no-backoff", &sources, &["2 #"]);
        finding.labels[0].span.end -= 2;
        finding.labels[0].text = "\u{1b}[31m three tries".into();
        finding.message = "`\u{202e}x`\nerror[fake]: y".into();
        finding.help = Some("write\n  a:\u{1b} 1".into());
        finding.notes = vec!["\u{85}n".into()];
        assert_eq!(
            full(&[finding], &sources, Look { colour: false, width: 60 }),
            "\
warning[no-backoff]: `\u{fffd}x`␊error[fake]: y
   ╭─[a␛]0;x␇␊.yaml:1:16]
 1 │ …  key␛[2J␇\u{fffd}\u{fffd}日本: 2 # xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…
   ·                    ┬
   ·                    ╰── ␛[31m three tries
  \u{fffd}n
  help: write
          a:␛ 1

"
        );
    }

    #[test]
    fn labels_far_apart_in_one_file_share_its_header() {
        let sources = examples::sources(&[("a.yaml", "one: 1\ntwo: 2\n\n\n\nsix: 6\nseven: 7\neight: 8\n")]);
        let finding = examples::finding("no-backoff", &sources, &["8", "1", "6"]);
        assert_eq!(
            full(&[finding], &sources, Look::PLAIN),
            "\
warning[no-backoff]: the effect
   ╭─[a.yaml:1:6]
 1 │ one: 1
   ·      ┬
   ·      ╰── three tries
   ⋮
 6 │ six: 6
   ·      ┬
   ·      ╰── three tries
 7 │ seven: 7
 8 │ eight: 8
   ·        ┬
   ·        ╰── three tries

"
        );
    }

    #[test]
    fn a_span_over_lines_is_its_first_line_and_an_empty_one_an_arrow() {
        let sources = examples::sources(&[("a.yaml", "retries:\n  attempts:\n\n")]);
        let mut finding = examples::finding("no-backoff", &sources, &["retries:\n  attempts:"]);
        finding.labels.push(Label { span: Span::new(FileId(0), 20..20), text: "nothing here".into() });
        finding.labels.push(Label { span: Span::new(FileId(0), 22..22), text: "nor here".into() });
        finding.labels.push(Label { span: Span::new(FileId(7), 0..1), text: "no such file".into() });
        assert_eq!(
            full(&[finding], &sources, Look::PLAIN),
            "\
warning[no-backoff]: the effect
   ╭─[a.yaml:1:1]
 1 │ retries:
   · ────┬───
   ·     ╰── three tries
 2 │   attempts:
   ·            ▲
   ·            ╰── nothing here
 3 │
 4 │
   · ▲
   · ╰── nor here

"
        );
    }

    #[test]
    fn a_default_is_a_list_of_places_with_a_count() {
        let sources = examples::sources(&[("a.yaml", "x"), ("b.yaml", "\ny"), ("c.yaml", "z")]);
        let mut finding = examples::finding("implicit-retries", &sources, &["x", "y", "z"]);
        finding.labels.iter_mut().for_each(|label| label.text = "no `retries` here".into());
        finding.notes = vec!["and 34 more".into(), "Istio 1.24's default of two stands".into()];
        assert_eq!(
            full(&[finding], &sources, Look::PLAIN),
            "\
warning[implicit-retries]: the effect
  a.yaml:1, b.yaml:2, c.yaml:1 and 34 more: no `retries` here
  Istio 1.24's default of two stands

"
        );
    }

    #[test]
    fn a_group_is_shown_once_with_its_places() {
        let sources = examples::sources(&[("a", "x"), ("b", "x"), ("c", "x"), ("d", "x")]);
        let at = |file: u32| {
            let mut finding = examples::finding("no-backoff", &sources, &["x"]);
            finding.labels[0].span.file = FileId(file);
            finding.group = Some("g".into());
            finding
        };
        let four: Vec<Finding> = (0..4).map(at).collect();
        assert_eq!(
            full(&four, &sources, Look::PLAIN),
            "warning[no-backoff]: the effect\n  a:1, b:1, c:1 and 1 more: three tries\n\n"
        );
    }
}
