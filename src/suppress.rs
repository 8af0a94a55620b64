//! Comments that silence findings: marks what they cover, and remembers which of them did anything. Nothing is deleted.

use crate::facts::{Facts, Scope, Suppression};
use crate::finding::{Finding, Identity, Suppressed};
use crate::source::{FileId, Span};

/// For each suppression of the facts, for each rule that it names: whether it covered a finding.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Used(Vec<Vec<bool>>);

impl Used {
    /// Whether rule `rule` (by its place in the comment) of suppression `suppression` (by index) covered anything.
    pub fn contains(&self, suppression: usize, rule: usize) -> bool {
        self.0.get(suppression).and_then(|rules| rules.get(rule)).copied().unwrap_or_default()
    }
}

/// Marks every finding that a comment covers: one on the primary place, or for paths on any labelled hop. A finding that
/// is already accepted keeps that mark, and the comment still counts as used.
pub fn apply<'f>(facts: &Facts, findings: impl Iterator<Item = &'f mut Finding>) -> Used {
    let mut used = Used(facts.suppressions.iter().map(|one| vec![false; one.rules.len()]).collect());
    let mut by_file: std::collections::HashMap<FileId, Vec<usize>> = std::collections::HashMap::new();
    for (index, suppression) in facts.suppressions.iter().enumerate() {
        by_file.entry(suppression.span.file).or_default().push(index);
    }
    for finding in findings {
        let places = match finding.identity {
            Identity::Path { .. } => finding.labels.len(),
            Identity::Place(_) => 1,
        };
        let mut by = None;
        for label in finding.labels.iter().take(places) {
            for index in by_file.get(&label.span.file).into_iter().flatten() {
                let Some(suppression) = facts.suppressions.get(*index) else { continue };
                if !covers(suppression, label.span) {
                    continue;
                }
                for (place, _) in suppression.rules.iter().enumerate().filter(|(_, (rule, _))| rule == finding.rule) {
                    if let Some(slot) = used.0.get_mut(*index).and_then(|rules| rules.get_mut(place)) {
                        *slot = true;
                    }
                    by = by.or(Some(suppression));
                }
            }
        }
        if let Some(suppression) = by
            && finding.suppressed.is_none()
        {
            finding.suppressed = Some(Suppressed {
                by: if suppression.scope == Scope::File { "file" } else { "inline" },
                reason: suppression.reason.clone(),
                span: Some(suppression.span),
            });
        }
    }
    used
}

/// Whether a place in the same file lies in what a suppression covers.
fn covers(suppression: &Suppression, place: Span) -> bool {
    match suppression.scope {
        Scope::File => true,
        Scope::Range(range) => (range.start..range.end.max(range.start.saturating_add(1))).contains(&place.start),
    }
}
