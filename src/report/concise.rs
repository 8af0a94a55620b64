//! `--format concise`: one line for each finding, `path:line:column: error[rule]: message`, as editors and `grep` take it.

use super::group::shown;
use super::paint::{Paint, Tone};
use super::{Look, Report, text};
use crate::facts::words;
use crate::finding::Severity;

/// All findings, a line each.
pub fn render(report: &Report<'_>, look: Look) -> String {
    let paint = Paint(look.colour);
    let mut out = String::new();
    for shown in shown(&report.findings()) {
        let finding = shown.finding;
        let place = finding.primary().and_then(|label| {
            let source = report.sources.get(label.span.file)?;
            let at = source.position(label.span.start);
            Some(format!("{}:{}:{}: ", text::line(&source.path), at.line, at.column))
        });
        let tone = match finding.severity {
            Severity::Error => Tone::Error,
            Severity::Warning => Tone::Warning,
            Severity::Note => Tone::Note,
        };
        let head = paint.tone(tone, &format!("{}[{}]", finding.severity.name(), finding.rule));
        let place = place.unwrap_or_default();
        out.push_str(&format!("{place}{head}: {}", text::line(&finding.message)));
        if shown.count() > 1 {
            out.push_str(&format!(" (and {} more places)", words::grouped(shown.count() as u128 - 1)));
        }
        if finding.suppressed.is_some() {
            out.push_str(" (suppressed)");
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Finding, Label};
    use crate::report::{Entry, examples, summary::Summary};
    use crate::source::{FileId, Span};

    fn lines(findings: &[Finding], sources: &crate::source::Sources) -> String {
        let entries = findings.iter().map(|finding| Entry { finding, fingerprint: "0" }).collect();
        let summary = Summary::default();
        render(&Report { entries, sources, summary: &summary, show_suppressed: false }, Look::PLAIN)
    }

    #[test]
    fn a_line_per_finding_with_its_place() {
        let (sources, finding) = examples::path();
        assert_eq!(
            lines(&[finding], &sources),
            "gateway/envoy.yaml:188:32: error[retry-amplification]: one request to `web` can become 27 requests at `ledger`\n"
        );
    }

    #[test]
    fn a_hostile_name_stays_on_its_line() {
        let sources = examples::sources(&[("a\u{1b}[2J\n\u{202e}b.yaml", "\u{feff}日本: 2\r\n")]);
        let mut finding = examples::finding("no-backoff", &sources, &["2"]);
        finding.message = "`\u{7}x\ny`".into();
        assert_eq!(lines(&[finding], &sources), "a␛[2J␊\u{fffd}b.yaml:1:5: warning[no-backoff]: `␇x␊y`\n");
    }

    #[test]
    fn a_group_in_four_files_is_one_line_and_in_three_it_is_three() {
        let sources = examples::sources(&[("a", "x"), ("b", "x"), ("c", "x"), ("d", "x")]);
        let at = |file: u32| {
            let mut finding = examples::finding("no-backoff", &sources, &["x"]);
            finding.labels = vec![Label { span: Span::new(FileId(file), 0..1), text: String::new() }];
            finding.group = Some("g".into());
            finding
        };
        let four: Vec<Finding> = (0..4).map(at).collect();
        assert_eq!(lines(&four, &sources), "a:1:1: warning[no-backoff]: the effect (and 3 more places)\n");
        assert_eq!(lines(&four[..3], &sources).lines().count(), 3);
    }
}
