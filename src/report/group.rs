//! Which findings people see as one (contracts.md D-16). Formats for machines keep each.

use std::collections::{HashMap, HashSet};

use super::repository::Locate;
use super::text;
use crate::facts::words;
use crate::finding::{Finding, Label};
use crate::source::Sources;

/// Findings of one group are shown as one if they lie in more than this many files.
const FILES: usize = 3;
/// Places that are shown of many.
const PLACES: usize = 3;

/// One finding as people see it: alone, or standing for its group.
#[derive(Debug)]
pub struct Shown<'a> {
    /// The one that stands for all.
    pub finding: &'a Finding,
    /// Those that are folded away.
    others: Vec<&'a Finding>,
}

/// Folds the findings, which keep their order: a group stands where its first member did.
pub fn shown<'a>(findings: &[&'a Finding]) -> Vec<Shown<'a>> {
    let mut files: HashMap<Key<'_>, HashSet<u32>> = HashMap::new();
    for finding in findings {
        if let (Some(key), Some(label)) = (key(finding), finding.primary()) {
            files.entry(key).or_default().insert(label.span.file.0);
        }
    }
    let mut all: Vec<Shown<'a>> = Vec::new();
    let mut places: HashMap<Key<'_>, usize> = HashMap::new();
    for &finding in findings {
        let folded = key(finding).filter(|key| files.get(key).is_some_and(|files| files.len() > FILES));
        match folded {
            Some(key) => match places.get(&key).and_then(|at| all.get_mut(*at)) {
                Some(shown) => shown.others.push(finding),
                None => {
                    places.insert(key, all.len());
                    all.push(Shown { finding, others: Vec::new() });
                }
            },
            None => all.push(Shown { finding, others: Vec::new() }),
        }
    }
    all
}

/// Findings that are folded away: all members of a group but the one that is shown.
pub fn folded(findings: &[&Finding]) -> usize {
    findings.len() - shown(findings).len()
}

type Key<'a> = (&'a str, &'a str, crate::finding::Severity, bool);

fn key(finding: &Finding) -> Option<Key<'_>> {
    Some((finding.rule, finding.group.as_deref()?, finding.severity, finding.suppressed.is_some()))
}

impl Shown<'_> {
    /// How many findings it stands for.
    pub fn count(&self) -> usize {
        self.others.len() + 1
    }

    /// The places in a row, `a.yaml:9, b.yaml:11, c.yaml:8 and 34 more: what stands there`, where a picture of each would
    /// say the same again and again: a group, or the labels of one default in several places. `locate` says what a file is
    /// called here.
    pub fn list(&self, sources: &Sources, locate: Locate<'_>) -> Option<String> {
        let (labels, more): (Vec<&Label>, String) = if self.count() > 1 {
            let labels = std::iter::once(self.finding).chain(self.others.iter().copied());
            let more = match self.count().saturating_sub(PLACES) {
                0 => String::new(),
                more => format!("and {} more", words::grouped(more as u128)),
            };
            (labels.filter_map(Finding::primary).take(PLACES).collect(), more)
        } else {
            let labels = &self.finding.labels;
            let first = labels.first()?;
            let is_one_text = labels.iter().all(|label| label.text == first.text);
            let is_one_file = labels.iter().all(|label| label.span.file == first.span.file);
            if labels.len() < PLACES || !is_one_text || (is_one_file && self.more().is_none()) {
                return None;
            }
            (labels.iter().take(PLACES).collect(), self.more().unwrap_or_default().to_string())
        };
        let places = labels.iter().filter_map(|label| {
            let source = sources.get(label.span.file)?;
            Some(format!("{}:{}", text::line(&locate(&source.path)), source.position(label.span.start).line))
        });
        let mut list = places.collect::<Vec<_>>().join(", ");
        if !more.is_empty() {
            list = format!("{list} {more}");
        }
        if let Some(label) = labels.first().filter(|label| !label.text.is_empty()) {
            list = format!("{list}: {}", text::line(&label.text));
        }
        Some(list)
    }

    /// The note that counts the places of a default beyond its examples (`and 34 more`): it belongs to the list of places.
    fn more(&self) -> Option<&str> {
        self.finding.notes.iter().map(String::as_str).find(|note| is_more(note))
    }
}

/// Whether a note only counts further places.
pub fn is_more(note: &str) -> bool {
    note.strip_prefix("and ")
        .and_then(|rest| rest.strip_suffix(" more"))
        .is_some_and(|count| !count.is_empty() && count.bytes().all(|b| b.is_ascii_digit() || b == b','))
}
