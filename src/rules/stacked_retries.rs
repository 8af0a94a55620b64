//! Layers that multiply on one edge. Page: `rules/stacked-retries.md`.

use super::view::{EdgeView, nest_of};
use super::{EdgeRef, Findings, advice};
use crate::facts::{Class, Confidence, Facts, Policy, PolicyKind, words};
use crate::finding::Severity;
use crate::graph::{Factor, Part, System};
use crate::source::Span;

pub(super) fn check(system: &System, findings: &mut Findings) {
    let facts = system.facts;
    // One place stacked under by many callers is one defect: the worst of them speaks, the others are named.
    let mut seen: Vec<(Span, Vec<EdgeView>)> = Vec::new();
    let mut index: std::collections::HashMap<Span, usize> = std::collections::HashMap::new();
    for view in EdgeView::all(system) {
        // A layer without end is unbounded-retries' business, whatever stands around it.
        let Some((_, factor)) = stacked(facts, &view).filter(|(_, factor)| !factor.tries.is_unbounded()) else {
            continue;
        };
        let Some(site) = factor.greatest().map(|part| part.site) else { continue };
        let at = *index.entry(site).or_insert_with(|| {
            seen.push((site, Vec::new()));
            seen.len() - 1
        });
        if let Some((_, views)) = seen.get_mut(at) {
            views.push(view);
        }
    }
    for (_, mut views) in seen {
        // Stable: of equals the first edge.
        views.sort_by(|a, b| {
            let ((a_arrives, a_tries), (b_arrives, b_tries)) = (weight(facts, a), weight(facts, b));
            b_arrives.cmp(&a_arrives).then(b_tries.total_cmp(&a_tries))
        });
        if let Some((first, others)) = views.split_first() {
            report(system, first, others, findings);
        }
    }
}

/// Requests count more than any number of connection attempts.
fn weight(facts: &Facts, view: &EdgeView) -> (bool, f64) {
    stacked(facts, view).map_or((false, 0.0), |(arrives, factor)| (arrives.is_some(), factor.tries.as_f64()))
}

/// The class in which two or more layers multiply (none: only in classes that never arrive), with the factor.
fn stacked<'v>(facts: &Facts, view: &EdgeView<'v>) -> Option<(Option<Class>, &'v Factor)> {
    let load = view.load?;
    // First what levels go by.
    for (class, factor) in [load.deciding(), (load.class, &load.factor)] {
        if factor.multiplying().count() >= 2 {
            return Some((Some(class), factor));
        }
    }
    let (_, unsent) = load.unsent.as_ref()?;
    // A default that repeats only what was never sent is said once, by implicit-retries.
    let chosen = unsent
        .multiplying()
        .filter(|part| facts.policy(part.policy).is_some_and(|policy| policy.kind != PolicyKind::Default))
        .count();
    (chosen >= 2).then_some((None, unsent))
}

fn report(system: &System, view: &EdgeView, others: &[EdgeView], findings: &mut Findings) {
    let facts = system.facts;
    let Some((class, factor)) = stacked(facts, view) else { return };
    let Some(primary) = factor.greatest() else { return };
    let parts: Vec<(&Part, &Policy)> =
        factor.multiplying().filter_map(|part| Some((part, facts.policy(part.policy)?))).collect();
    let Some((_, policy)) = parts.iter().find(|(part, _)| std::ptr::eq(*part, primary)) else { return };

    let at_least = if factor.unknown.is_empty() { "" } else { "at least " };
    let about = if factor.about { "about " } else { "" };
    let what = if class.is_some() { "requests" } else { "connection attempts" };
    let product = parts.iter().map(|(part, _)| part.tries.to_string()).collect::<Vec<_>>().join(" × ");
    let from = view.caller.map_or_else(String::new, |caller| format!("from `{}` ", caller.display));
    let callee = &view.callee.display;
    let total = factor.tries;
    let draft = findings.report(
        primary.site,
        format!("one call {from}to `{callee}` can become {at_least}{about}{total} {what}: {product} tries in layers"),
    );
    draft.about(primary.policy, policy).on_edge(view.at).confidence(view.edge.confidence).weight(total.as_f64());
    for (part, policy) in &parts {
        let text = format!("{}: {} (×{})", advice::place(part.position), advice::layer(policy), part.tries);
        let confidence = nest_of(view.edge, part.policy).map_or(Confidence::High, |nest| nest.confidence);
        draft.confidence(confidence.min(policy.confidence));
        if std::ptr::eq(*part, primary) {
            draft.label(text);
        } else {
            draft.related(part.site, text);
        }
    }
    match class {
        Some(class) => {
            draft.severity(if factor.figure() > system.limits.error_amplification {
                Severity::Error
            } else {
                Severity::Warning
            });
            draft.note(format!("worst for {} ({})", class.name(), class.describe()));
        }
        None => {
            draft.severity(Severity::Note);
            draft.note("only what never reached the callee is repeated by both: connections, not load");
        }
    }
    if let Some(bounded) = factor.bounded.filter(|bounded| *bounded < total.as_f64()) {
        let rate = match view.at {
            EdgeRef::Net(edge) => system.net.graph.edge_endpoints(edge),
            EdgeRef::Open(_) => None,
        };
        let rate = rate.and_then(|(caller, _)| system.amplification.nodes.get(caller.index())?.rate);
        let floor = factor.multiplying().find_map(|part| advice::floor(system, view.edge, part, rate));
        let floor = floor.map_or_else(String::new, |floor| format!(", above {floor}"));
        draft.note(format!("while budgets hold, {} {what}{floor}", words::factor(bounded)));
    }
    if !others.is_empty() {
        let names: Vec<String> = others.iter().take(3).map(EdgeView::arrow).collect();
        let more = others.len().saturating_sub(names.len());
        let and = if more > 0 { format!(" and {more} more") } else { String::new() };
        draft.note(format!("the same for {}{and}", words::list(&names)));
    }
    // Keeping the layer nearest to the callee keeps the one that knows most about it.
    if let Some(((kept, _), outer)) = parts.split_last() {
        let off = outer.iter().map(|(part, policy)| {
            // What stays may be in the same file.
            let function = policy.in_code.as_ref().and_then(|code| code.function.as_ref());
            let place = match function.filter(|_| part.site.file == kept.site.file) {
                Some(function) => format!("`{function}`"),
                None => advice::path(facts, part.site).to_owned(),
            };
            format!("{} in {place}", advice::retry_off(policy))
        });
        let off: Vec<String> = off.collect();
        draft.help(format!("retry in one layer only: {} leaves {}×", words::list(&off), kept.tries));
    }
    if let Some(accept) = &view.callee.service.accept
        && total.as_f64() <= accept.max_amplification
        && !accept.is_expired(system.limits.today)
    {
        draft.accepted(accept);
    }
}
