//! Tries that multiply along a path. Page: `rules/retry-amplification.md`.

use std::collections::HashMap;
use std::sync::Arc;

use petgraph::graph::NodeIndex;

use super::view::nest_of;
use super::{Draft, EdgeRef, Findings, advice};
use crate::facts::{Class, Confidence, words};
use crate::finding::Severity;
use crate::graph::amount::Amount;
use crate::graph::paths::BestPaths;
use crate::graph::{Hop, Node, NodeLoad, Part, Path, System};

/// So many paths are shown; the rest is a sum.
const PATHS: usize = 3;
/// So many factors are shown, those nearest the callee.
const FACTORS: usize = 24;
/// So many ways to switch retries off are named in the help.
const SWITCHES: usize = 3;

pub(super) fn check(system: &System, findings: &mut Findings) {
    let loads = &system.amplification.nodes;
    let mut order: Vec<NodeIndex> = system
        .net
        .graph
        .node_indices()
        .filter(|node| loads.get(node.index()).is_some_and(|load| level(system, load).is_some()))
        .collect();
    // The deepest service of a path first: what is worst there explains the services above it.
    let worst = |node: &NodeIndex| loads.get(node.index()).map_or(0.0, |load| load.worst.as_f64());
    order.sort_by(|a, b| worst(b).total_cmp(&worst(a)).then(a.cmp(b)));
    if order.is_empty() {
        return;
    }
    let mut paths = BestPaths::new(system, PATHS);
    let mut explained: HashMap<NodeIndex, f64> = HashMap::new();
    for node in order {
        let Some(load) = loads.get(node.index()) else { continue };
        if explained.get(&node).is_some_and(|product| *product >= load.worst.as_f64()) {
            continue;
        }
        let best = paths.to(node);
        if let Some(path) = best.first().filter(|path| is_product_of_hops(load, path)) {
            report(system, node, load, path, &best, findings);
            explain(system, path, &mut explained);
        }
    }
}

/// The level that a service's worst path has, if any; by the bounded figure where every layer has a budget. What has no end
/// at all is said by retry-cycle or unbounded-retries.
fn level(system: &System, load: &NodeLoad) -> Option<Severity> {
    if load.worst.is_unbounded() {
        return None;
    }
    let figure = load.bounded.filter(|_| load.all_bounded).unwrap_or(load.worst.as_f64());
    if figure > system.limits.error_amplification {
        Some(Severity::Error)
    } else {
        (figure > system.limits.max_amplification).then_some(Severity::Warning)
    }
}

fn multiplies(hop: &Hop) -> bool {
    hop.factor.tries > Amount::ONE
}

/// Whether two or more hops multiply, the last one among them. One hop alone is stacked-retries, unless requests come over it
/// once in each round of a cycle; where the last one adds nothing, the service above it has the same number and is the place
/// to look.
fn is_product_of_hops(load: &NodeLoad, path: &Path) -> bool {
    let multiplying = path.hops.iter().filter(|hop| multiplies(hop)).count();
    path.hops.last().is_some_and(multiplies) && (multiplying >= 2 || load.worst > path.product)
}

/// Remembers what this path says about the services on it.
fn explain(system: &System, path: &Path, explained: &mut HashMap<NodeIndex, f64>) {
    let mut product = Amount::ONE;
    for hop in &path.hops {
        product = product * hop.factor.tries;
        if let Some((_, target)) = system.net.graph.edge_endpoints(hop.edge) {
            let known = explained.entry(target).or_insert(0.0);
            *known = known.max(product.as_f64());
        }
    }
}

fn ends<'s>(system: &'s System, hop: &Hop) -> Option<(&'s Node, &'s Node)> {
    let (from, to) = system.net.graph.edge_endpoints(hop.edge)?;
    Some((system.net.graph.node_weight(from)?, system.net.graph.node_weight(to)?))
}

fn report(system: &System, node: NodeIndex, load: &NodeLoad, path: &Path, best: &[Path], findings: &mut Findings) {
    let Some((first, last)) = path.hops.first().zip(path.hops.last()) else { return };
    let Some(((root, _), (_, callee))) = ends(system, first).zip(ends(system, last)) else { return };
    let Some(site) = last.factor.greatest().map(|part| part.site) else { return };
    let Some(severity) = level(system, load) else { return };

    let least = if load.is_lower_bound { "at least " } else { "" };
    let about = if load.about { "about " } else { "" };
    let many = load.worst;
    // Calls per request are in no product of tries: where there are more or fewer than one, the figure is a multiple.
    let has_fan_out =
        path.hops.iter().filter_map(|hop| system.net.graph.edge_weight(hop.edge)).any(|edge| edge.per_request != 1.0);
    let what = if has_fan_out { "times as many at" } else { "requests at" };
    let message = format!(
        "one request to `{}` can become {least}{about}{many} {what} `{}`{}",
        root.display,
        callee.display,
        if has_fan_out { " as without retries" } else { "" }
    );
    let draft = findings.report(site, message);
    draft.severity(severity).path(&root.display, &callee.display).weight(many.as_f64());
    label_hops(system, path, draft);
    draft.note(format!("{}; {}", worst_for(system, path, &callee.display), budgets(system, load, path)));
    if many > path.product {
        draft.note(format!("{} without the cycle on the way, whose rounds multiply too", requests(path.product)));
    }
    for other in best.iter().skip(1) {
        draft.note(format!("also by {}: {}", route(system, other), requests(other.product)));
    }
    if let Some(rest) = rest(system, load, best) {
        draft.note(format!("all other paths together: {rest}"));
    }
    for (id, policy) in load.unknown.iter().filter_map(|id| Some((*id, system.facts.policy(*id)?))) {
        let why = system.why_unknown(id);
        draft.note(format!("one factor is unknown and counted as 1: `{}` ({why})", policy.name));
    }
    if let Some(owners) = owners(system, path) {
        draft.note(owners);
    }
    if let Some(help) = help(system, path, &callee.display) {
        draft.help(help);
    }
    let accept = system.net.graph.node_weight(node).and_then(|node| node.service.accept.as_ref());
    if let Some(accept) = accept.filter(|accept| !accept.is_expired(system.limits.today)) {
        if many.as_f64() <= accept.max_amplification {
            draft.accepted(accept);
        } else {
            draft.note(format!("accepted up to {}×: {}", words::factor(accept.max_amplification), accept.reason));
        }
    }
}

/// One label per factor, from the root on, each with the product so far; the last hop's is the primary one. A path of
/// thousands of hops, which somebody may feed us, would make the output grow with its square.
fn label_hops(system: &System, path: &Path, draft: &mut Draft) {
    let mut product = Amount::ONE;
    let mut is_first = true;
    let primary = path.hops.last().and_then(|hop| hop.factor.greatest());
    let all = path.hops.iter().flat_map(|hop| &hop.factor.parts).filter(|part| part.tries > Amount::ONE).count();
    let mut left_out = all.saturating_sub(FACTORS);
    if left_out > 0 {
        draft.note(format!("and {} factors above those that are shown", words::grouped(left_out as u128)));
    }
    for hop in &path.hops {
        let Some((from, to)) = ends(system, hop) else { continue };
        let edge = system.net.graph.edge_weight(hop.edge);
        draft.confidence(edge.map_or(Confidence::High, |edge| edge.confidence));
        for part in hop.factor.parts.iter().filter(|part| part.tries > Amount::ONE) {
            let Some(policy) = system.facts.policy(part.policy) else { continue };
            let nest = edge.and_then(|edge| nest_of(edge, part.policy));
            draft.confidence(nest.map_or(Confidence::High, |nest| nest.confidence).min(policy.confidence));
            product = product * part.tries;
            let so_far = if is_first { String::new() } else { format!(" = {product}") };
            is_first = false;
            let stacked = hop.factor.parts.iter().filter(|part| part.tries > Amount::ONE).count() > 1;
            let place = if stacked { format!(" {}", advice::place(part.position)) } else { String::new() };
            let text = format!(
                "{} → {}{place}: {} (×{}{so_far})",
                from.display,
                to.display,
                advice::layer(policy),
                part.tries
            );
            if primary.is_some_and(|primary| std::ptr::eq(primary, part)) {
                draft.label(text);
            } else if left_out > 0 {
                left_out -= 1;
            } else {
                draft.related(part.site, text);
            }
        }
    }
    for hop in path.hops.iter().rev() {
        draft.on_edge(EdgeRef::Net(hop.edge));
    }
}

/// `worst for overload (503 at every hop)`.
fn worst_for(system: &System, path: &Path, callee: &str) -> String {
    let Some(last) = path.hops.last().map(|hop| hop.class) else { return String::new() };
    // Classes that no policy tells apart are counted as one of them: the one that a reader would expect is shown.
    let shown = |class: Class| {
        let is_like = |other: &Class| system.alike.kind(*other) == system.alike.kind(class);
        [last, Class::Overload, Class::Unavailable].into_iter().find(is_like).unwrap_or(class)
    };
    // From the callee upwards; as long as nothing changes nothing is said.
    let above = path.hops.iter().rev().skip(1).map(|hop| shown(hop.class).describe());
    let mut above: Vec<&str> = above.skip_while(|class| *class == last.describe()).collect();
    above.dedup();
    if above.is_empty() {
        format!("worst for {} ({} at every hop)", last.name(), last.describe())
    } else {
        format!("worst for {} ({} at `{callee}`, {} further up)", last.name(), last.describe(), above.join(", then "))
    }
}

/// What budgets make of it.
fn budgets(system: &System, load: &NodeLoad, path: &Path) -> String {
    let parts = || path.hops.iter().flat_map(|hop| &hop.factor.parts).filter(|part| part.tries > Amount::ONE);
    match load.bounded {
        Some(bounded) if parts().any(|part| part.bound.is_some()) => {
            let all =
                if load.all_bounded { "every layer on this path has a budget" } else { "some layers have a budget" };
            let floor = path.hops.iter().find_map(|hop| floor(system, hop)).unwrap_or_default();
            format!("{all}: while they hold, {}{floor}", requests(Amount::from_f64(bounded)))
        }
        _ => "no layer on this path has a budget".to_owned(),
    }
}

/// The first floor of a hop's budgets that is in no figure: `, above its floor of 10/s per instance`.
fn floor(system: &System, hop: &Hop) -> Option<String> {
    let edge = system.net.graph.edge_weight(hop.edge)?;
    let (caller, _) = system.net.graph.edge_endpoints(hop.edge)?;
    let rate = system.amplification.nodes.get(caller.index())?.rate;
    let floor = hop.factor.multiplying().find_map(|part| advice::floor(system, edge, part, rate))?;
    Some(format!(", above {floor}"))
}

/// A number of requests in words.
fn requests(amount: Amount) -> String {
    format!("{amount} {}", if amount == Amount::ONE { "request" } else { "requests" })
}

/// `web → cart → ledger`.
fn route(system: &System, path: &Path) -> String {
    let mut names: Vec<Arc<str>> = Vec::with_capacity(path.hops.len() + 1);
    for hop in &path.hops {
        if let Some((from, to)) = ends(system, hop) {
            if names.is_empty() {
                names.push(from.display.clone());
            }
            names.push(to.display.clone());
        }
    }
    names.join(" → ")
}

/// What arrives by the paths that are not shown.
fn rest(system: &System, load: &NodeLoad, best: &[Path]) -> Option<String> {
    let Amount::Exact(all) = load.load else { return None };
    let shown: f64 = best
        .iter()
        .map(|path| {
            let fan_out: f64 = path
                .hops
                .iter()
                .filter_map(|hop| system.net.graph.edge_weight(hop.edge))
                .map(|edge| edge.per_request)
                .product();
            path.product.as_f64() * fan_out
        })
        .sum();
    let rest = all as f64 - shown;
    (best.len() == PATHS && rest >= 1.0).then(|| requests(Amount::from_f64(rest.round())))
}

/// Who looks after the hops, where files say so.
fn owners(system: &System, path: &Path) -> Option<String> {
    let owned: Vec<String> = path
        .hops
        .iter()
        .filter(|hop| multiplies(hop))
        .filter_map(|hop| ends(system, hop))
        .filter_map(|(from, to)| {
            let owner = from.service.owner.as_ref()?;
            Some(format!("{} → {} is owned by {owner}", from.display, to.display))
        })
        .collect();
    (!owned.is_empty()).then(|| owned.join(", "))
}

/// What would change it: retries at one hop only, or a budget at the last one.
fn help(system: &System, path: &Path, callee: &str) -> Option<String> {
    let last = path.hops.last()?;
    let kept = last.factor.greatest()?;
    let off: Vec<&Part> = path
        .hops
        .iter()
        .flat_map(|hop| &hop.factor.parts)
        .filter(|part| part.tries > Amount::ONE && !std::ptr::eq(*part, kept))
        .collect();
    let mut text = format!("retry at one hop only: {} leaves {}×", switches(system, path, &off), kept.tries);
    let policy = system.facts.policy(kept.policy)?;
    if kept.bound.is_none()
        && let Some(budget) = advice::budget(policy, callee)
    {
        let tries = kept.tries.as_f64();
        let left = path.product.as_f64() / tries * advice::budget_leaves(policy, tries);
        text.push_str(&format!(", or bound it: {budget} leaves {}×", words::factor(left)));
    }
    Some(text)
}

/// How to switch these parts off, and for which hops: `attempts: 0` for web → checkout in mesh/checkout.yaml.
fn switches(system: &System, path: &Path, off: &[&Part]) -> String {
    let mut out: Vec<(String, &str, Vec<String>)> = Vec::new();
    for hop in &path.hops {
        let Some((from, to)) = ends(system, hop) else { continue };
        for part in hop.factor.parts.iter().filter(|part| off.iter().any(|other| std::ptr::eq(*other, *part))) {
            let Some(policy) = system.facts.policy(part.policy) else { continue };
            let (how, file) = (advice::retry_off(policy), advice::path(system.facts, part.site));
            let arrow = format!("{} → {}", from.display, to.display);
            match out.iter_mut().find(|(other, place, _)| *other == how && *place == file) {
                Some((_, _, arrows)) => arrows.push(arrow),
                None => out.push((how, file, vec![arrow])),
            }
        }
    }
    let more: usize = out.iter().skip(SWITCHES).map(|(.., arrows)| arrows.len()).sum();
    let mut texts: Vec<String> = out
        .iter()
        .take(SWITCHES)
        .map(|(how, file, arrows)| format!("{how} for {} in {file}", words::list(&shortened(arrows))))
        .collect();
    if more > 0 {
        texts.push(format!("the same for {more} more"));
    }
    words::list(&texts)
}

/// The first few of a long list, and how many more there are.
fn shortened(arrows: &[String]) -> Vec<String> {
    let more = arrows.len().saturating_sub(SWITCHES);
    let rest = (more > 0).then(|| format!("{more} more"));
    arrows.iter().take(SWITCHES).cloned().chain(rest).collect()
}

#[cfg(test)]
#[path = "retry_amplification/tests.rs"]
mod tests;
