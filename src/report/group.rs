//! Which findings people see as one (contracts.md D-16). Formats for machines keep each.

use std::collections::{HashMap, HashSet};

use super::text;
use crate::finding::{Finding, Label};
use crate::source::Sources;

/// Findings of one group are shown as one if they lie in more than this many files.
const FILES: usize = 3;
/// Places that are shown of many.
const PLACES: usize = 3;

/// One finding as people see it: alone, or standing for its group.
#[derive(Debug)]
pub struct Shown<'a> {
    /// Never empty; the first one stands for all.
    members: Vec<&'a Finding>,
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
                Some(shown) => shown.members.push(finding),
                None => {
                    places.insert(key, all.len());
                    all.push(Shown { members: vec![finding] });
                }
            },
            None => all.push(Shown { members: vec![finding] }),
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

impl<'a> Shown<'a> {
    /// The finding whose text is shown.
    pub fn finding(&self) -> &'a Finding {
        // `shown` makes none without a member.
        self.members[0]
    }

    /// How many findings it stands for.
    pub fn count(&self) -> usize {
        self.members.len()
    }

    /// The places in a row, `a.yaml:9, b.yaml:11, c.yaml:8 and 34 more: what stands there`, where a picture of each would
    /// say the same again and again: a group, or labels of one text in several files.
    pub fn list(&self, sources: &Sources) -> Option<String> {
        let labels: Vec<&Label> = if self.count() > 1 {
            self.members.iter().filter_map(|finding| finding.primary()).collect()
        } else {
            let labels = &self.finding().labels;
            let first = labels.first()?;
            let is_same = labels.iter().all(|label| label.text == first.text);
            if labels.len() < PLACES || !is_same {
                return None;
            }
            labels.iter().collect()
        };
        let places = labels.iter().take(PLACES).filter_map(|label| {
            let source = sources.get(label.span.file)?;
            Some(format!("{}:{}", text::line(&source.path), source.position(label.span.start).line))
        });
        let mut list = places.collect::<Vec<_>>().join(", ");
        if labels.len() > PLACES {
            list.push_str(&format!(" and {} more", labels.len() - PLACES));
        }
        let what = labels.first().map_or("", |label| &label.text);
        if !what.is_empty() {
            list.push_str(": ");
            list.push_str(&text::line(what));
        }
        Some(list)
    }
}
