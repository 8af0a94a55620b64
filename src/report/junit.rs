//! `--format junit`: the XML that GitLab, Jenkins and GitHub's test reporters read. A rule is a test suite, a finding a test
//! case. A finding at the level that fails the run is a failure, any other one is skipped, so that the report is red when the
//! exit status is 1 and green when it is 0.

use std::collections::HashMap;
use std::fmt::Write;

use super::details::{Detail, details};
use super::repository::Locate;
use super::{Report, text};
use crate::finding::{Finding, Severity};
use crate::source::Sources;

/// The report, with a line break at its end. `fails` is the level from which on a finding is a failure; none if nothing
/// fails. Suppressed findings are left out; a run without any other has one test case, which has passed.
pub fn render(report: &Report<'_>, fails: Option<Severity>, locate: Locate<'_>) -> String {
    let mut suites: Vec<Suite> = Vec::new();
    let mut at: HashMap<&str, usize> = HashMap::new();
    for finding in report.entries.iter().map(|entry| entry.finding).filter(|finding| finding.suppressed.is_none()) {
        let index = *at.entry(finding.rule).or_insert_with(|| {
            suites.push(Suite { name: finding.rule, ..Suite::default() });
            suites.len() - 1
        });
        let fails = fails.is_some_and(|level| finding.severity >= level);
        if let Some(suite) = suites.get_mut(index) {
            suite.add(finding, fails, report.sources, locate);
        }
    }
    if suites.is_empty() {
        suites.push(Suite::passed());
    }
    let total = |count: fn(&Suite) -> usize| suites.iter().map(count).sum::<usize>();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    out.push_str(&format!(
        "<testsuites name=\"retrylint\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"0\">\n",
        total(|suite| suite.tests),
        total(|suite| suite.failures),
        total(|suite| suite.skipped),
    ));
    suites.iter().for_each(|suite| suite.write(&mut out));
    out.push_str("</testsuites>\n");
    out
}

/// The findings of one rule.
#[derive(Default)]
struct Suite {
    name: &'static str,
    tests: usize,
    failures: usize,
    skipped: usize,
    cases: String,
    /// How many cases have a name: readers show one of those that are called the same.
    names: HashMap<String, usize>,
}

impl Suite {
    fn passed() -> Self {
        let cases = "    <testcase classname=\"retrylint\" name=\"no findings\" time=\"0\"/>\n".to_owned();
        Suite { name: "retrylint", tests: 1, cases, ..Suite::default() }
    }

    fn add(&mut self, finding: &Finding, fails: bool, sources: &Sources, locate: Locate<'_>) {
        let place = finding.primary().and_then(|label| {
            let path = locate(&sources.get(label.span.file)?.path);
            Some((path, sources.get(label.span.file)?.position(label.span.start)))
        });
        let (name, file) = match &place {
            Some((path, at)) => (
                format!("{path}:{}:{} {}", at.line, at.column, finding.message),
                format!(" file=\"{}\" line=\"{}\"", attribute(path), at.line),
            ),
            None => (finding.message.clone(), String::new()),
        };
        let seen = self.names.entry(name.clone()).or_default();
        *seen += 1;
        let name = if *seen > 1 { format!("{name} ({seen})") } else { name };
        let lines: Vec<String> = details(finding, sources, locate).iter().map(Detail::text).collect();
        let (level, message) = (finding.severity.name(), attribute(&finding.message));
        let body = content(&lines.join("\n"));
        // Writing to memory cannot fail.
        let _ = writeln!(
            self.cases,
            "    <testcase classname=\"{}\" name=\"{}\"{file} time=\"0\">",
            finding.rule,
            attribute(&name)
        );
        let _ = if fails {
            writeln!(self.cases, "      <failure type=\"{level}\" message=\"{message}\">{body}</failure>")
        } else {
            writeln!(self.cases, "      <skipped message=\"{level}: {message}\">{body}</skipped>")
        };
        self.cases.push_str("    </testcase>\n");
        self.tests += 1;
        *(if fails { &mut self.failures } else { &mut self.skipped }) += 1;
    }

    fn write(&self, out: &mut String) {
        let Suite { name, tests, failures, skipped, cases, .. } = self;
        let _ = writeln!(
            out,
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" time=\"0\">"
        );
        out.push_str(cases);
        out.push_str("  </testsuite>\n");
    }
}

/// The value of an attribute. It is one line: a reader would take a line break for a blank.
fn attribute(value: &str) -> String {
    escape(&text::line(value))
}

/// Text between two tags.
fn content(value: &str) -> String {
    escape(&text::block(value))
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            // Of what XML 1.0 forbids, these two are no control characters, which are pictures already.
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use roxmltree::{Document, Node};

    use super::*;
    use crate::report::hostile::{self, Hostile, STRINGS};
    use crate::report::{Entry, examples, summary::Summary};

    fn junit(findings: &[Finding], sources: &Sources, fails: Option<Severity>) -> String {
        let entries = findings.iter().map(|finding| Entry { finding, fingerprint: "0" }).collect();
        let summary = Summary::default();
        let report = Report { entries, sources, summary: &summary, show_suppressed: true };
        render(&report, fails, &|path| format!("below/{path}"))
    }

    fn children<'a>(of: Node<'a, 'a>, name: &str) -> Vec<Node<'a, 'a>> {
        of.children().filter(|node| node.has_tag_name(name)).collect()
    }

    #[test]
    fn a_finding_is_a_failed_case_of_its_rule() {
        let (sources, mut finding) = examples::path();
        finding.notes.clear();
        finding.help = Some("write `a < b`".into());
        assert_eq!(
            junit(&[finding], &sources, Some(Severity::Warning)),
            "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"retrylint\" tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\" time=\"0\">
  <testsuite name=\"retry-amplification\" tests=\"1\" failures=\"1\" errors=\"0\" skipped=\"0\" time=\"0\">
    <testcase classname=\"retry-amplification\" name=\"below/gateway/envoy.yaml:188:32 one request to `web` can become 27 \
             requests at `ledger`\" file=\"below/gateway/envoy.yaml\" line=\"188\" time=\"0\">
      <failure type=\"error\" message=\"one request to `web` can become 27 requests at `ledger`\">\
             below/mesh/checkout.yaml:14: web → checkout: two retries, three tries (×3)
below/services/checkout/src/client.rs:31: checkout → payments: two retries, three tries (×3 = 9)
below/gateway/envoy.yaml:188: payments → ledger: two retries, three tries (×3 = 27)
help: write `a &lt; b`</failure>
    </testcase>
  </testsuite>
</testsuites>
"
        );
    }

    #[test]
    fn a_run_without_findings_has_one_case_that_passed() {
        let (sources, mut finding) = examples::path();
        finding.suppressed = Some(crate::finding::Suppressed { by: "inline", reason: "known".into(), span: None });
        for text in [junit(&[], &sources, Some(Severity::Note)), junit(&[finding], &sources, Some(Severity::Note))] {
            let document = Document::parse(&text).unwrap();
            let root = document.root_element();
            assert_eq!((root.attribute("tests"), root.attribute("failures")), (Some("1"), Some("0")));
            let cases = children(children(root, "testsuite")[0], "testcase");
            assert_eq!((cases.len(), cases[0].has_children()), (1, false));
        }
    }

    #[test]
    fn it_is_red_where_the_run_fails() {
        let sources = examples::sources(&[("a.yaml", "x: 1\n")]);
        let at = |severity| Finding { severity, ..examples::finding("no-backoff", &sources, &["x"]) };
        let all = [at(Severity::Error), at(Severity::Warning), at(Severity::Note)];
        let failures = |fails| {
            let text = junit(&all, &sources, fails);
            let document = Document::parse(&text).unwrap();
            let root = document.root_element();
            let suite = children(root, "testsuite")[0];
            assert_eq!(root.attribute("failures"), suite.attribute("failures"));
            let count = |name: &str| root.descendants().filter(|node| node.has_tag_name(name)).count();
            assert_eq!(root.attribute("failures"), Some(&*count("failure").to_string()));
            assert_eq!(root.attribute("skipped"), Some(&*count("skipped").to_string()));
            assert_eq!(count("testcase"), 3);
            count("failure")
        };
        assert_eq!(failures(Some(Severity::Error)), 1);
        assert_eq!(failures(Some(Severity::Warning)), 2);
        assert_eq!(failures(Some(Severity::Note)), 3);
        assert_eq!(failures(None), 0);
    }

    #[test]
    fn no_two_cases_are_called_the_same() {
        let sources = examples::sources(&[("a.yaml", "x: 1\n")]);
        let twice = vec![examples::finding("no-backoff", &sources, &["x"]); 2];
        let text = junit(&twice, &sources, None);
        let document = Document::parse(&text).unwrap();
        let cases = children(children(document.root_element(), "testsuite")[0], "testcase");
        let names: Vec<Option<&str>> = cases.iter().map(|case| case.attribute("name")).collect();
        assert_eq!(names, [Some("below/a.yaml:1:1 the effect"), Some("below/a.yaml:1:1 the effect (2)")]);
    }

    #[test]
    fn what_xml_forbids_is_replaced_and_markup_is_text() {
        assert_eq!(attribute("a\u{0}\u{1b}\n\t\u{fffe}\u{9b}"), "a␀␛␊␉\u{fffd}\u{fffd}");
        assert_eq!(content("]]><b>&\"'\u{b}\n"), "]]&gt;&lt;b&gt;&amp;&quot;&apos;␋\n");
    }

    #[test]
    fn hostile_text_stays_text() {
        let hostile = Hostile::new();
        let text = render(&hostile.report(), Some(Severity::Note), &|path| path.to_string());
        let document = Document::parse(&text).unwrap();
        let cases: Vec<Node<'_, '_>> = document.descendants().filter(|node| node.has_tag_name("testcase")).collect();
        assert_eq!(cases.len(), hostile.findings.len());
        let clean = |text: &str| text::line(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
        for string in STRINGS {
            let message = clean(&format!("message {string}"));
            let failure = document.descendants().find(|node| node.attribute("message") == Some(&message)).unwrap();
            let case = failure.parent().unwrap();
            assert_eq!(case.attribute("file"), Some(&*clean(&hostile::path(string))));
            assert!(failure.text().unwrap().contains(&clean(&format!("label {string}"))), "{:?}", failure.text());
        }
    }
}
