//! `--format gitlab`: a code quality report, which GitLab shows in merge requests.

use serde::Serialize;

use super::repository::Locate;
use super::{Entry, Report, json};
use crate::finding::Severity;
use crate::source::Sources;

/// A list with an object per finding, worst first, with a line break at its end. Suppressed findings are left out: GitLab
/// would show them as open.
pub fn render(report: &Report<'_>, locate: Locate<'_>) -> String {
    let open = report.entries.iter().filter(|entry| entry.finding.suppressed.is_none());
    let issues: Vec<Issue<'_>> = open.filter_map(|entry| Issue::of(entry, report.sources, locate)).collect();
    json::print(&issues)
}

#[derive(Serialize)]
struct Issue<'a> {
    description: &'a str,
    check_name: &'a str,
    fingerprint: &'a str,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
    end: u32,
}

impl<'a> Issue<'a> {
    /// None for a finding without a place, which GitLab does not take.
    fn of(entry: &Entry<'a>, sources: &Sources, locate: Locate<'_>) -> Option<Self> {
        let finding = entry.finding;
        let span = finding.primary()?.span;
        let source = sources.get(span.file)?;
        Some(Issue {
            description: &finding.message,
            check_name: finding.rule,
            fingerprint: entry.fingerprint,
            severity: match finding.severity {
                Severity::Error => "critical",
                Severity::Warning => "major",
                Severity::Note => "info",
            },
            location: Location {
                path: locate(&source.path),
                lines: Lines { begin: source.position(span.start).line, end: source.position(span.end).line },
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::report::hostile::{self, Hostile, STRINGS};
    use crate::report::{examples, summary::Summary};

    fn parse(report: &Report<'_>) -> Vec<Value> {
        serde_json::from_str(&render(report, &|path| format!("below/{path}"))).unwrap()
    }

    #[test]
    fn an_issue_has_what_gitlab_asks_for() {
        let (sources, finding) = examples::path();
        let note = crate::finding::Finding { severity: Severity::Note, ..finding.clone() };
        let warning = crate::finding::Finding { severity: Severity::Warning, ..finding.clone() };
        let mut silenced = finding.clone();
        silenced.suppressed = Some(crate::finding::Suppressed { by: "inline", reason: "known".into(), span: None });
        let summary = Summary::default();
        let entries = [&finding, &warning, &note, &silenced].map(|finding| Entry { finding, fingerprint: "0011" });
        let report = Report { entries: entries.into(), sources: &sources, summary: &summary, show_suppressed: true };
        let issues = parse(&report);
        assert_eq!(issues.len(), 3);
        assert_eq!(
            issues[0],
            json!({
                "description": "one request to `web` can become 27 requests at `ledger`",
                "check_name": "retry-amplification", "fingerprint": "0011", "severity": "critical",
                "location": { "path": "below/gateway/envoy.yaml", "lines": { "begin": 188, "end": 188 } }
            })
        );
        assert_eq!((&issues[1]["severity"], &issues[2]["severity"]), (&"major".into(), &"info".into()));
    }

    #[test]
    fn nothing_to_report_is_an_empty_list() {
        let (sources, summary) = (Sources::default(), Summary::default());
        let report = Report { entries: Vec::new(), sources: &sources, summary: &summary, show_suppressed: false };
        assert_eq!(render(&report, &str::to_string), "[]\n");
    }

    #[test]
    fn hostile_text_survives_unchanged() {
        let hostile = Hostile::new();
        let issues = parse(&hostile.report());
        assert_eq!(issues.len(), hostile.findings.len());
        for text in STRINGS {
            let issue = issues.iter().find(|issue| issue["description"] == format!("message {text}")).unwrap();
            assert_eq!(issue["location"]["path"], format!("below/{}", hostile::path(text)));
        }
        let prints: std::collections::HashSet<&str> =
            issues.iter().map(|issue| issue["fingerprint"].as_str().unwrap()).collect();
        assert_eq!(prints.len(), issues.len());
    }
}
