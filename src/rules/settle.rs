//! From what checks report to what users see: levels that the evidence carries, one finding for what holds in several
//! environments or for one default, groups, order (contracts.md D-16).

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use super::Options;
use super::findings::Draft;
use crate::facts::{Confidence, Facts, Role};
use crate::finding::{Finding, Identity, Label, Severity};
use crate::graph::System;
use crate::source::Span;

/// A finding about a default points to so many of the places where it stands.
const EXAMPLES: usize = 3;
/// From so many files on, findings with the same text are shown as one.
const GROUP_FILES: usize = 4;

/// Brings levels down to what the evidence carries, and leaves out test code unless it is asked for.
pub(super) fn adjust(drafts: &mut Vec<Draft>, facts: &Facts, options: Options) {
    let role = |span: Span| facts.file(span.file).map_or(Role::Production, |file| file.role);
    drafts.retain_mut(|draft| {
        let Some(primary) = draft.finding.labels.first() else { return false };
        let role = role(primary.span);
        let in_test = role == Role::Test
            || draft.policies.first().and_then(|id| facts.policy(*id)).is_some_and(|policy| policy.test_code);
        if in_test && !options.include_tests {
            return false;
        }
        let finding = &mut draft.finding;
        if finding.confidence == Confidence::Low {
            finding.pedantic = true;
        }
        if finding.severity == Severity::Error && finding.confidence < Confidence::High {
            finding.severity = Severity::Warning;
            finding.notes.push("a warning and no error: part of it is inferred, not written".to_owned());
        }
        if role == Role::Example {
            finding.severity = Severity::Note;
        }
        true
    });
}

/// Puts the environment on what holds in it.
pub(super) fn stamp(drafts: &mut [Draft], system: &System) {
    for draft in drafts.iter_mut().filter(|draft| !draft.everywhere) {
        draft.finding.environments = system.net.environment.iter().cloned().collect();
    }
}

/// Two findings of one rule are the same defect if they stand at the same place (and are about the same default, since two
/// defaults may share one), or for paths end at the same service.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Place(Span, Option<Arc<str>>),
    Path(Arc<str>),
}

/// One finding for what holds in several environments, with the numbers of the worst one.
pub(super) fn merge(drafts: Vec<Draft>) -> Vec<Draft> {
    let mut at: HashMap<(&'static str, Key), usize> = HashMap::with_capacity(drafts.len());
    let mut out: Vec<Draft> = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let Some(primary) = draft.finding.labels.first() else { continue };
        let key = match &draft.finding.identity {
            Identity::Place(_) => Key::Place(primary.span, draft.default.clone()),
            Identity::Path { to, .. } => Key::Path(to.clone()),
        };
        match at.entry((draft.finding.rule, key)) {
            std::collections::hash_map::Entry::Vacant(slot) => {
                slot.insert(out.len());
                out.push(draft);
            }
            std::collections::hash_map::Entry::Occupied(slot) => {
                if let Some(kept) = out.get_mut(*slot.get()) {
                    join_environments(kept, draft);
                }
            }
        }
    }
    out
}

/// What holds at one place in all environments, and rests on files that belong to none of them, is no matter of
/// environments. A path is: each environment has its own numbers.
pub(super) fn hold_everywhere(drafts: &mut [Draft], environments: usize, facts: &Facts) {
    let is_shared = |label: &Label| facts.file(label.span.file).is_some_and(|file| file.environment.is_none());
    for Draft { finding, .. } in drafts {
        let is_place = matches!(finding.identity, Identity::Place(_));
        if is_place && finding.environments.len() == environments && finding.labels.iter().all(is_shared) {
            finding.environments.clear();
        }
    }
}

fn join_environments(kept: &mut Draft, mut other: Draft) {
    let mut environments = std::mem::take(&mut kept.finding.environments);
    environments.append(&mut other.finding.environments);
    environments.sort();
    environments.dedup();
    let rank = |draft: &Draft| (!draft.finding.pedantic, draft.finding.severity);
    let is_worse = match rank(&other).cmp(&rank(kept)) {
        Ordering::Equal => other.weight > kept.weight,
        order => order == Ordering::Greater,
    };
    if is_worse {
        *kept = other;
    }
    kept.finding.environments = environments;
}

/// One finding for all places of one default: three of them are shown, the rest is counted. Suppressed ones stay apart, so
/// that a comment on one place silences that place only.
pub(super) fn join_defaults(drafts: Vec<Draft>) -> Vec<Draft> {
    type Which = (&'static str, Arc<str>, Severity, bool, Vec<Arc<str>>);
    let mut at: HashMap<Which, usize> = HashMap::new();
    let mut out: Vec<(Draft, Vec<Draft>)> = Vec::with_capacity(drafts.len());
    let mut drafts = drafts;
    drafts.sort_by_key(|draft| draft.finding.labels.first().map(|label| label.span));
    for draft in drafts {
        let finding = &draft.finding;
        let which =
            draft.default.clone().filter(|_| finding.suppressed.is_none()).map(|default| {
                (finding.rule, default, finding.severity, finding.pedantic, finding.environments.clone())
            });
        match which.and_then(|which| match at.entry(which) {
            std::collections::hash_map::Entry::Occupied(slot) => Some(*slot.get()),
            std::collections::hash_map::Entry::Vacant(slot) => {
                slot.insert(out.len());
                None
            }
        }) {
            Some(first) => {
                if let Some((_, others)) = out.get_mut(first) {
                    others.push(draft);
                }
            }
            None => out.push((draft, Vec::new())),
        }
    }
    out.into_iter().map(|(first, others)| joined(first, others)).collect()
}

fn joined(mut first: Draft, others: Vec<Draft>) -> Draft {
    if others.is_empty() {
        return first;
    }
    let count = others.len() + 1;
    if let Some((before, after)) = &first.many {
        first.finding.message = format!("{before}{count}{after}");
    }
    first.finding.confidence =
        others.iter().map(|other| other.finding.confidence).fold(first.finding.confidence, Ord::min);
    first.finding.labels.truncate(1);
    for label in others.iter().take(EXAMPLES - 1).filter_map(|other| other.finding.labels.first()) {
        first.finding.labels.push(Label { span: label.span, text: label.text.clone() });
    }
    if count > EXAMPLES {
        first.finding.notes.push(format!("and {} more", crate::facts::words::grouped((count - EXAMPLES) as u128)));
    }
    first
}

/// Groups and sorts: worst first, of one level what is about load before what is about time, safety and the rest, of one kind
/// that with the greatest numbers, then by path, position and rule.
pub(super) fn finish(mut drafts: Vec<Draft>, facts: &Facts) -> Vec<Finding> {
    drafts.sort_by(|a, b| {
        let about = |draft: &Draft| super::find(draft.finding.rule).map(|rule| rule.meta().category);
        let level = b.finding.severity.cmp(&a.finding.severity);
        level
            .then_with(|| about(a).cmp(&about(b)))
            .then_with(|| b.weight.total_cmp(&a.weight))
            .then_with(|| order(&a.finding, &b.finding))
    });
    let mut findings: Vec<Finding> = drafts.into_iter().map(|draft| draft.finding).collect();
    group(&mut findings, facts);
    findings
}

fn order(a: &Finding, b: &Finding) -> Ordering {
    let place =
        |finding: &Finding| finding.labels.first().map(|label| (label.span.file, label.span.start, label.span.end));
    place(a).cmp(&place(b)).then_with(|| a.rule.cmp(b.rule)).then_with(|| a.message.cmp(&b.message))
}

/// A message without the path of its own file, so that it is the same text for the next file.
fn text(finding: &Finding, path: &str) -> String {
    if path.is_empty() { finding.message.clone() } else { finding.message.replace(path, "") }
}

/// The same text in more than three files of one directory tree: one group, named after its first place.
fn group(findings: &mut [Finding], facts: &Facts) {
    if facts.files.len() < GROUP_FILES {
        return;
    }
    let path = |finding: &Finding| {
        finding.primary().and_then(|label| facts.file(label.span.file)).map_or("", |file| &*file.path)
    };
    type Members = (Arc<str>, Vec<usize>, Vec<u32>);
    let mut groups: HashMap<(&'static str, String, String), Members> = HashMap::new();
    for (index, finding) in findings.iter().enumerate().filter(|(_, finding)| finding.group.is_none()) {
        let path = path(finding);
        let tree = path.split_once('/').map_or("", |(tree, _)| tree);
        let file = finding.primary().map_or(0, |label| label.span.file.0);
        let (_, members, files) = groups
            .entry((finding.rule, text(finding, path), tree.to_owned()))
            .or_insert_with(|| (format!("{}:{path}", finding.rule).into(), Vec::new(), Vec::new()));
        members.push(index);
        // Findings come in order of path within a level; a file that comes back at another level counts once more at worst.
        if files.last() != Some(&file) {
            files.push(file);
        }
    }
    for (name, members, mut files) in groups.into_values() {
        files.sort_unstable();
        files.dedup();
        if files.len() >= GROUP_FILES {
            for member in members {
                if let Some(finding) = findings.get_mut(member) {
                    finding.group = Some(name.clone());
                }
            }
        }
    }
}
