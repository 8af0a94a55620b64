//! Names and contents that try to be more than text, as one table for the tests of all formats.

use super::summary::{Step, Summary, WorstPath};
use super::{Entry, Report, examples, text};
use crate::finding::{Finding, Identity, Severity};
use crate::graph::amount::Amount;
use crate::rules;
use crate::source::{FileId, Sources, Span};

/// What a file, a service or a value may be called.
pub(super) const STRINGS: [&str; 29] = [
    "\u{1b}[31mred\u{1b}]0;title\u{7}",
    "\u{9b}31m\u{7f}\u{85}",
    "\u{0}\u{1}\u{b}\u{1f}",
    "\u{202e}txt.exe\u{2066}\u{200b}\u{feff}",
    "\u{fffe}\u{ffff}\u{fffd}",
    "%0A::error::percent",
    "\n::error::line",
    "\r\n::stop-commands::x\r",
    "\u{2028}\u{2029}separators",
    ",title=other,line=1::x",
    "##[add-mask]x",
    "::error::start",
    " \t::set-output name=x::blank",
    "::a ::add-mask::within ::b::",
    "##vso[task.setvariable variable=x]y",
    "##teamcity[buildStatus text='x']",
    "]]>cdata<![CDATA[",
    "<script>alert('1')</script>",
    "&amp;&#10;\"quoted\"",
    "--><!-- comment",
    "</code></summary></details>",
    "a|b||c",
    "`code` ``` fence",
    "[link](javascript:x) ![image](http://example.invalid/x)",
    "@team #1 www.example.invalid https://example.invalid",
    "*bold* _it_ ~~gone~~ $x$ \\",
    "\n\n# heading\n\n- item\n\n    code",
    "back\\slash",
    "{\"summary\": {}}\n{\"summary\": {}}",
];

/// What a file of such a name is called: those that try to be commands stand where its path begins.
pub(super) fn path(text: &str) -> String {
    let is_command = text.trim_start().starts_with("::") || text.starts_with("##");
    format!("{}{text}.yaml", if is_command && !text.contains('\n') { "" } else { "f" })
}

/// A finding about a file for each of the strings, which stand in its name, its text and everything that is said; the levels
/// take turns, and one path goes through all files.
pub(super) struct Hostile {
    pub sources: Sources,
    pub findings: Vec<Finding>,
    fingerprints: Vec<String>,
    summary: Summary,
}

impl Hostile {
    pub fn new() -> Self {
        let files: Vec<(String, String)> = STRINGS.iter().map(|text| (path(text), format!("{text}: 2\n"))).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let sources = examples::sources(&files);
        let levels = [Severity::Error, Severity::Warning, Severity::Note];
        let mut findings: Vec<Finding> = STRINGS
            .iter()
            .enumerate()
            .map(|(index, text)| {
                let mut finding = examples::finding(rules::ALL[index % rules::ALL.len()].id, &sources, &["x"]);
                finding.severity = levels[index % levels.len()];
                finding.labels[0].span = Span::new(FileId(index as u32), 0..text.len());
                finding.labels[0].text = format!("label {text}");
                finding.message = format!("message {text}");
                finding.notes = vec![format!("note {text}"), format!("further {text}")];
                finding.help = Some(format!("help {text}"));
                finding.environments = vec![(*text).into()];
                finding.group = Some((*text).into());
                finding
            })
            .collect();
        let mut path = findings[0].clone();
        path.labels = findings.iter().map(|finding| finding.labels[0].clone()).collect();
        path.identity = Identity::Path { from: "web".into(), to: "ledger".into() };
        findings.push(path);
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        let fingerprints = (0..findings.len()).map(|index| format!("{index:016x}")).collect();
        let hops =
            STRINGS.iter().take(3).map(|text| Step { from: text.to_string(), tries: Amount::Exact(3) }).collect();
        let summary = Summary {
            policies: 1,
            worst_path: Some(WorstPath {
                hops,
                to: STRINGS.concat(),
                factor: Amount::Exact(27),
                class: "overload",
                lower_bound: false,
                about: false,
                bounded: None,
                environment: Some(STRINGS[6].into()),
            }),
            left_out: vec![STRINGS.concat()],
            notes: vec![STRINGS.concat()],
            ..Summary::default()
        };
        Hostile { sources, findings, fingerprints, summary }
    }

    pub fn report(&self) -> Report<'_> {
        let entries = self.findings.iter().zip(&self.fingerprints);
        Report {
            entries: entries.map(|(finding, fingerprint)| Entry { finding, fingerprint }).collect(),
            sources: &self.sources,
            summary: &self.summary,
            show_suppressed: false,
        }
    }
}

/// The characters in a text on which a terminal would act; line breaks are none.
pub(super) fn acting(text: &str) -> Vec<char> {
    text.chars().filter(|c| *c != '\n' && text::visible(*c).is_some()).collect()
}

/// The lines that the runner of a CI job would take as commands.
pub(super) fn commands(text: &str) -> Vec<&str> {
    let is_mark = |line: &str| ["##[", "##vso[", "##teamcity["].iter().any(|mark| line.contains(mark));
    text.lines().filter(|line| line.trim_start().starts_with("::") || is_mark(line)).collect()
}

/// No format lets anything through on which a terminal or a log viewer acts.
#[test]
fn every_format_is_clean() {
    let hostile = Hostile::new();
    let report = hostile.report();
    let locate = |path: &str| path.to_string();
    let look = super::Look::PLAIN;
    let sarif = super::sarif::Options { category: "retrylint/", include_suppressed: true, locate: &locate };
    for (name, text) in [
        ("full", super::full::render(&report, look)),
        ("concise", super::concise::render(&report, look)),
        ("json", super::json::render(&report)),
        ("jsonl", super::jsonl::render(&report)),
        ("sarif", super::sarif::render(&report, &sarif)),
        ("github", super::github::render(&report, &locate)),
        ("gitlab", super::gitlab::render(&report, &locate)),
        ("junit", super::junit::render(&report, Some(Severity::Warning), &locate)),
        ("markdown", super::markdown::render(&report, &locate)),
    ] {
        assert!(acting(&text).is_empty(), "{name}: {:?}", acting(&text));
        assert!(text.ends_with('\n') && text.contains("message"), "{name}");
        // One of them consists of commands, which are its own.
        if name != "github" {
            assert!(commands(&text).is_empty(), "{name}: {:?}", commands(&text));
        }
    }
    // However narrow: what is wrapped begins a line anywhere.
    for width in 20..100 {
        let look = super::Look { colour: false, width };
        for text in [super::full::render(&report, look), report.summary.text(None, look)] {
            assert!(commands(&text).is_empty(), "{width}: {:?}", commands(&text));
        }
    }
}
