//! Findings, policies and graphs as text: one file per format. Nothing here decides what is wrong, only how it is said.
//!
//! Formats for people (`full`, `concise`, `markdown`, the tables) clean every string before it is printed ([`text`]) and fold
//! groups ([`group`]). Formats for machines keep every finding; `json`, `jsonl` and `sarif` keep every byte too. What is read
//! beside the code it speaks of names files from the root of the repository on ([`repository`]).

pub mod concise;
mod details;
#[cfg(test)]
pub(crate) mod examples;
pub mod facts;
pub mod full;
pub mod github;
pub mod gitlab;
pub mod graph;
pub mod group;
#[cfg(test)]
mod hostile;
pub mod json;
pub mod jsonl;
pub mod junit;
pub mod markdown;
pub mod paint;
pub mod policies;
pub mod sarif;
#[cfg(test)]
pub(crate) mod schemas;
pub mod settings;
pub mod snippet;
pub mod summary;
pub mod table;
pub mod text;

use std::collections::HashSet;

pub use crate::repository;

use crate::baseline;
use crate::facts::Confidence;
use crate::finding::{Finding, Severity};
use crate::source::Sources;
use summary::Summary;

/// How text for people looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// Whether to use colours.
    pub colour: bool,
    /// Columns to fill.
    pub width: usize,
}

impl Look {
    /// Without colours, for files and pipes.
    pub const PLAIN: Look = Look { colour: false, width: 100 };
}

/// Which findings a run shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Advice and findings of low confidence too.
    pub pedantic: bool,
    /// Only these rules; all if empty. A rule that is named here is shown with its pedantic findings: who asks for a rule
    /// and is met with silence believes that all is well.
    pub select: Vec<String>,
    /// Not these rules.
    pub ignore: Vec<String>,
    /// Only findings with these fingerprints, where they are given: those on lines that changed.
    pub changed: Option<HashSet<String>>,
}

impl Selection {
    /// Whether a finding's rule is asked for at all.
    fn asks_for(&self, finding: &Finding) -> bool {
        let names = |rules: &[String]| rules.iter().any(|rule| rule == finding.rule);
        (self.select.is_empty() || names(&self.select)) && !names(&self.ignore)
    }

    /// Whether only `--pedantic` would show it.
    fn is_hidden(&self, finding: &Finding) -> bool {
        let is_advice = finding.pedantic || finding.confidence == Confidence::Low;
        is_advice && !self.pedantic && self.select.is_empty()
    }
}

/// A finding with its fingerprint.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The finding.
    pub finding: &'a Finding,
    /// What it is recognised by in the next run.
    pub fingerprint: &'a str,
}

/// What a run of `check` has to say, for every format.
#[derive(Debug)]
pub struct Report<'a> {
    /// Findings in the order of the report, suppressed ones included.
    pub entries: Vec<Entry<'a>>,
    /// The files that they point into.
    pub sources: &'a Sources,
    /// What was looked at, and the counts.
    pub summary: &'a Summary,
    /// Whether formats for people show what a comment silences.
    pub show_suppressed: bool,
}

impl<'a> Report<'a> {
    /// The findings that formats for people show.
    pub fn findings(&self) -> Vec<&'a Finding> {
        let findings = self.entries.iter().map(|entry| entry.finding);
        findings.filter(|finding| self.show_suppressed || finding.suppressed.is_none()).collect()
    }
}

/// Counts of findings by what becomes of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Counts {
    /// Shown errors.
    pub errors: usize,
    /// Shown warnings.
    pub warnings: usize,
    /// Shown notes.
    pub notes: usize,
    /// Silenced by a comment, a standing decision or the baseline.
    pub suppressed: usize,
    /// Those of them that only the baseline silences.
    pub baseline: usize,
    /// Shown as part of another one by formats for people.
    pub grouped: usize,
    /// Left out, and shown by `--pedantic`.
    pub pedantic: usize,
    /// Of rules that the command line did not ask for.
    pub deselected: usize,
    /// Of rules that the settings switch off.
    pub off: usize,
    /// On lines that did not change.
    pub unchanged: usize,
}

impl Counts {
    /// Shown findings of at least a level.
    pub fn at_least(&self, level: Severity) -> usize {
        match level {
            Severity::Error => self.errors,
            Severity::Warning => self.errors + self.warnings,
            Severity::Note => self.errors + self.warnings + self.notes,
        }
    }
}

/// The findings that a run shows, and the counts of all of them.
pub fn select<'a>(
    findings: &'a [Finding],
    fingerprints: &'a [String],
    selection: &Selection,
) -> (Vec<Entry<'a>>, Counts) {
    let mut counts = Counts::default();
    let mut entries = Vec::new();
    for (finding, fingerprint) in findings.iter().zip(fingerprints) {
        if !selection.asks_for(finding) {
            counts.deselected += 1;
            continue;
        }
        if let Some(suppressed) = &finding.suppressed {
            counts.suppressed += 1;
            counts.baseline += usize::from(suppressed.by == baseline::BY);
        } else if selection.is_hidden(finding) {
            counts.pedantic += 1;
            continue;
        } else if selection.changed.as_ref().is_some_and(|changed| !changed.contains(fingerprint)) {
            counts.unchanged += 1;
            continue;
        } else {
            match finding.severity {
                Severity::Error => counts.errors += 1,
                Severity::Warning => counts.warnings += 1,
                Severity::Note => counts.notes += 1,
            }
        }
        entries.push(Entry { finding, fingerprint });
    }
    let open: Vec<&Finding> =
        entries.iter().map(|entry| entry.finding).filter(|finding| finding.suppressed.is_none()).collect();
    counts.grouped = group::folded(&open);
    (entries, counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Suppressed;

    fn prints(n: usize) -> Vec<String> {
        (0..n).map(|n| n.to_string()).collect()
    }

    #[test]
    fn what_is_hidden_is_counted() {
        let sources = examples::sources(&[("a.yaml", "attempts: 2\n")]);
        let plain = examples::finding("no-backoff", &sources, &["attempts"]);
        let advice = Finding { pedantic: true, ..plain.clone() };
        let unsure = Finding { confidence: Confidence::Low, ..plain.clone() };
        let silenced = Finding {
            suppressed: Some(Suppressed { by: "inline", reason: "known".into(), span: None }),
            ..plain.clone()
        };
        let all = [plain, advice, unsure, silenced];
        let ids = prints(4);
        let (entries, counts) = select(&all, &ids, &Selection::default());
        assert_eq!(entries.len(), 2);
        assert_eq!(counts, Counts { warnings: 1, suppressed: 1, pedantic: 2, ..Counts::default() });
        let (entries, counts) = select(&all, &ids, &Selection { pedantic: true, ..Selection::default() });
        assert_eq!(entries.len(), 4);
        assert_eq!(counts, Counts { warnings: 3, suppressed: 1, ..Counts::default() });
    }

    #[test]
    fn findings_on_lines_that_did_not_change_are_counted_and_left_out() {
        let sources = examples::sources(&[("a.yaml", "attempts: 2\n")]);
        let plain = examples::finding("no-backoff", &sources, &["attempts"]);
        let advice = Finding { pedantic: true, ..plain.clone() };
        let known = Suppressed { by: "baseline", reason: String::new(), span: None };
        let silenced = Finding { suppressed: Some(known), ..plain.clone() };
        let all = [plain.clone(), plain, advice, silenced];
        let changed = Some(HashSet::from(["1".to_string()]));
        let ids = prints(4);
        let (entries, counts) = select(&all, &ids, &Selection { changed, ..Selection::default() });
        let shown: Vec<&str> = entries.iter().map(|entry| entry.fingerprint).collect();
        assert_eq!(shown, ["1", "3"]);
        let expected =
            Counts { warnings: 1, suppressed: 1, baseline: 1, pedantic: 1, unchanged: 1, ..Counts::default() };
        assert_eq!(counts, expected);
    }

    #[test]
    fn a_rule_asked_for_by_name_is_shown_with_its_advice() {
        let sources = examples::sources(&[("a.yaml", "attempts: 2\n")]);
        let one = Finding { pedantic: true, ..examples::finding("no-backoff", &sources, &["attempts"]) };
        let other = examples::finding("weak-jitter", &sources, &["attempts"]);
        let all = [one, other];
        let named = Selection { select: vec!["no-backoff".into()], ..Selection::default() };
        let ids = prints(2);
        let (shown, counts) = select(&all, &ids, &named);
        assert_eq!((shown.len(), counts.warnings, counts.deselected), (1, 1, 1));
        let ignored = Selection { ignore: vec!["weak-jitter".into()], ..Selection::default() };
        let (shown, counts) = select(&all, &ids, &ignored);
        assert_eq!((shown.len(), counts.pedantic, counts.deselected), (0, 1, 1));
    }
}
