//! Comments that silence findings: marks what they cover, and remembers which of them did anything. Nothing is deleted.

use std::collections::HashMap;

use crate::facts::{Date, Facts, Scope, Suppression};
use crate::finding::{Finding, Identity, Suppressed};
use crate::source::FileId;

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
/// is already accepted keeps that mark, and the comment still counts as used. So does one that holds no more, which marks
/// nothing.
pub fn apply<'f>(facts: &Facts, today: Option<Date>, findings: impl Iterator<Item = &'f mut Finding>) -> Used {
    let mut used = Used(facts.suppressions.iter().map(|one| vec![false; one.rules.len()]).collect());
    let mut by_rule: HashMap<(FileId, &str), Named> = HashMap::new();
    for (index, suppression) in facts.suppressions.iter().enumerate() {
        for (place, (rule, _)) in suppression.rules.iter().enumerate() {
            let (start, end) = extent(suppression);
            let one = Allowed { start, end, reach: end, index, place };
            by_rule.entry((suppression.span.file, rule)).or_default().0.push(one);
        }
    }
    by_rule.values_mut().for_each(Named::sort);
    for finding in findings {
        let places = match finding.identity {
            Identity::Path { .. } => finding.labels.len(),
            Identity::Place(_) => 1,
        };
        let mut by = None;
        for label in finding.labels.iter().take(places) {
            let Some(named) = by_rule.get(&(label.span.file, finding.rule)) else { continue };
            // The first comment of the file gives the reason.
            let mut first: Option<usize> = None;
            for one in named.at(label.span.start) {
                if let Some(slot) = used.0.get_mut(one.index).and_then(|rules| rules.get_mut(one.place)) {
                    *slot = true;
                }
                if facts.suppressions.get(one.index).is_some_and(|one| !one.is_expired(today)) {
                    first = Some(first.map_or(one.index, |first| first.min(one.index)));
                }
            }
            by = by.or(first.and_then(|index| facts.suppressions.get(index)));
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

/// The range that a suppression covers, in its own file.
fn extent(suppression: &Suppression) -> (u32, u32) {
    match suppression.scope {
        Scope::File => (0, u32::MAX),
        Scope::Range(range) => (range.start, range.end.max(range.start.saturating_add(1))),
    }
}

/// One name in one comment.
struct Allowed {
    start: u32,
    end: u32,
    /// The furthest end of this one and all before it.
    reach: u32,
    index: usize,
    place: usize,
}

/// All comments of a file that name one rule, by where they begin to cover.
#[derive(Default)]
struct Named(Vec<Allowed>);

impl Named {
    fn sort(&mut self) {
        self.0.sort_by_key(|one| (one.start, one.index));
        let mut reach = 0;
        for one in &mut self.0 {
            reach = one.end.max(reach);
            one.reach = reach;
        }
    }

    /// Those that cover a place: from the last that begins before it, backwards as far as any still reaches it.
    fn at(&self, place: u32) -> impl Iterator<Item = &Allowed> {
        let before = self.0.get(..self.0.partition_point(|one| one.start <= place)).unwrap_or_default();
        before.iter().rev().take_while(move |one| one.reach > place).filter(move |one| one.end > place)
    }
}

#[cfg(test)]
mod tests;
