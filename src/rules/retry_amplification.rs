//! Tries that multiply along a path. Page: `rules/retry-amplification.md`.

use std::collections::HashMap;
use std::sync::Arc;

use petgraph::graph::NodeIndex;

use super::view::nest_of;
use super::{Draft, EdgeRef, Findings, advice};
use crate::facts::{Class, Confidence, words};
use crate::finding::Severity;
use crate::graph::amount::Amount;
use crate::graph::paths::{BestPaths, By};
use crate::graph::product::Product;
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
        .filter(|node| loads.get(node.index()).is_some_and(|load| level(system, load.figure).is_some()))
        .collect();
    // The deepest service of a path first: what is worst there explains the services above it.
    let figure = |node: &NodeIndex| loads.get(node.index()).map_or(0.0, |load| load.figure);
    order.sort_by(|a, b| figure(b).total_cmp(&figure(a)).then(a.cmp(b)));
    if order.is_empty() {
        return;
    }
    let mut paths = BestPaths::new(system, PATHS);
    let mut explained: HashMap<NodeIndex, f64> = HashMap::new();
    for node in order {
        let Some(load) = loads.get(node.index()) else { continue };
        if explained.get(&node).is_some_and(|figure| *figure >= load.figure) {
            continue;
        }
        let best = paths.to(node, By::Figure);
        let Some(told) = told(system, load, &best) else { continue };
        if explained.get(&node).is_none_or(|figure| *figure < told.figure) {
            report(system, node, load, &told, &best, findings);
            explain(system, told.path, &mut explained);
        }
    }
}

/// The level of a figure, if any. What has no end at all is said by retry-cycle or unbounded-retries.
fn level(system: &System, figure: f64) -> Option<Severity> {
    if figure.is_infinite() {
        None
    } else if figure > system.limits.error_amplification {
        Some(Severity::Error)
    } else {
        (figure > system.limits.max_amplification).then_some(Severity::Warning)
    }
}

fn multiplies(hop: &Hop) -> bool {
    hop.factor.tries > Amount::ONE
}

/// The path that a finding tells of, and what one request becomes on it.
struct Told<'p> {
    path: &'p Path,
    /// What its level goes by.
    figure: f64,
    many: Amount,
    /// Whether the rounds of a cycle on the way multiply too.
    goes_round: bool,
}

/// The greatest path of which two or more hops multiply. One hop alone is stacked-retries, unless requests come over it once
/// in each round of a cycle, and hides no path beside it. Where the last hop of the greatest path adds nothing, the service
/// above it has the same number and is the place to look.
fn told<'p>(system: &System, load: &NodeLoad, best: &'p [Path]) -> Option<Told<'p>> {
    let multiplying = |path: &Path| path.hops.iter().filter(|hop| multiplies(hop)).count();
    let ends = |path: &&Path| path.hops.last().is_some_and(multiplies);
    let (first, others) = best.split_first()?;
    ends(&first).then_some(())?;
    let goes_round = load.goes_round(first);
    if goes_round || multiplying(first) >= 2 {
        return Some(Told { path: first, figure: load.figure, many: load.requests(first), goes_round });
    }
    let path = others.iter().filter(ends).find(|path| multiplying(path) >= 2)?;
    let (figure, many) = (path.product.figure(), path.product.tries);
    level(system, figure).map(|_| Told { path, figure, many, goes_round: false })
}

/// Remembers what this path says about the services on it.
fn explain(system: &System, path: &Path, explained: &mut HashMap<NodeIndex, f64>) {
    let mut product = Product::ONE;
    for hop in &path.hops {
        product = product * hop.factor.product();
        if let Some((_, target)) = system.net.graph.edge_endpoints(hop.edge) {
            let known = explained.entry(target).or_insert(0.0);
            *known = known.max(product.figure());
        }
    }
}

fn ends<'s>(system: &'s System, hop: &Hop) -> Option<(&'s Node, &'s Node)> {
    let (from, to) = system.net.graph.edge_endpoints(hop.edge)?;
    Some((system.net.graph.node_weight(from)?, system.net.graph.node_weight(to)?))
}

fn report(system: &System, node: NodeIndex, load: &NodeLoad, told: &Told, best: &[Path], findings: &mut Findings) {
    let Told { path, figure, many, goes_round } = *told;
    let Some((first, last)) = path.hops.first().zip(path.hops.last()) else { return };
    let Some(((root, _), (_, callee))) = ends(system, first).zip(ends(system, last)) else { return };
    let Some(site) = last.factor.greatest().map(|part| part.site) else { return };
    let Some(severity) = level(system, figure) else { return };

    let least = if load.is_lower_bound { "at least " } else { "" };
    let about = if path.hops.iter().any(|hop| hop.factor.about) { "about " } else { "" };
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
    draft.note(format!("{}; {}", worst_for(system, path, &callee.display), budgets(system, path)));
    if goes_round {
        draft.note(format!("{} without the cycle on the way, whose rounds multiply too", requests(path.product.tries)));
    }
    for other in best.iter().filter(|other| !std::ptr::eq(*other, path)) {
        let held = match other.product.bounded() {
            Some(bounded) if other.product.all_bounded && bounded < other.product.tries.as_f64() => {
                format!(", which budgets hold at {}", words::factor(bounded))
            }
            _ => String::new(),
        };
        draft.note(format!("also by {}: {}{held}", route(system, other), requests(other.product.tries)));
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
    if let Some(help) = help(system, told) {
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
                draft.label(text).primary_is_next();
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
fn budgets(system: &System, path: &Path) -> String {
    let bounded = || {
        let parts = || path.hops.iter().flat_map(|hop| hop.factor.multiplying());
        path.product.bounded().filter(|_| parts().any(|part| part.bound.is_some()))
    };
    let Some(bounded) = bounded() else { return "no layer on this path has a budget".to_owned() };
    let floor = path.hops.iter().find_map(|hop| floor(system, hop)).unwrap_or_default();
    let held = format!("while they hold, {}{floor}", requests(Amount::from_f64(bounded)));
    if path.product.all_bounded {
        return format!("every layer on this path has a budget: {held}");
    }
    let without = path.hops.iter().filter(|hop| hop.factor.multiplying().any(|part| part.bound.is_none()));
    let arrows: Vec<String> = without
        .filter_map(|hop| ends(system, hop))
        .map(|(from, to)| format!("{} → {}", from.display, to.display))
        .collect();
    if arrows.is_empty() {
        return format!("some layers have a budget: {held}");
    }
    let have = if arrows.len() == 1 { "has" } else { "have" };
    format!(
        "some layers have a budget: {held}; {} {have} none, so that every try counts",
        words::list(&shortened(&arrows))
    )
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
            path.product.tries.as_f64() * fan_out
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

/// What would change it: retries at one hop only, or budgets.
fn help(system: &System, told: &Told) -> Option<String> {
    let path = told.path;
    let kept = path.hops.last()?.factor.greatest()?;
    let off: Vec<&Part> =
        path.hops.iter().flat_map(|hop| hop.factor.multiplying()).filter(|part| !std::ptr::eq(*part, kept)).collect();
    let mut text = format!("retry at one hop only: {} leaves {}×", switches(system, path, &off), kept.tries);
    if let Some(bound) = bound_all(system, told) {
        text.push_str(&bound);
    }
    Some(text)
}

/// Budgets for every layer that has none, since one without leaves the finding as it is (contracts.md D-13). None where that
/// cannot be written, or where what they leave is still as bad.
fn bound_all(system: &System, told: &Told) -> Option<String> {
    let path = told.path;
    let is_unknown = path.hops.iter().any(|hop| !hop.factor.unknown.is_empty());
    if is_unknown || told.goes_round {
        return None;
    }
    let mut left = 1.0;
    let mut budgets: Vec<(String, Vec<String>)> = Vec::new();
    for hop in &path.hops {
        let (_, to) = ends(system, hop)?;
        for part in hop.factor.multiplying() {
            let tries = part.tries.as_f64();
            if let Some(bound) = part.bound {
                left *= bound.min(tries);
                continue;
            }
            let policy = system.facts.policy(part.policy)?;
            left *= advice::budget_leaves(policy, tries);
            let (what, place) = advice::budget(policy, &to.display)?;
            match budgets.iter_mut().find(|(other, _)| *other == what) {
                Some((_, places)) if places.contains(&place) => {}
                Some((_, places)) => places.push(place),
                None => budgets.push((what, vec![place])),
            }
        }
    }
    if budgets.is_empty() || level(system, left) >= level(system, told.figure) {
        return None;
    }
    let (it, leaves) = match budgets.iter().map(|(_, places)| places.len()).sum() {
        1 => ("it", "leaves"),
        _ => ("all of it", "leave"),
    };
    let budgets: Vec<String> =
        budgets.iter().map(|(what, places)| format!("{what} {}", words::list(&shortened(places)))).collect();
    Some(format!(", or bound {it}: {} {leaves} {}×", words::list(&budgets), words::factor(left)))
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
