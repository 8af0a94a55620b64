//! Callers that give up while the service they called is still retrying. Page: `rules/deadline-inversion.md`.

use std::collections::{HashMap, HashSet};

use petgraph::graph::{EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef as _;

use super::view::EdgeView;
use super::{EdgeRef, Findings, advice, delay_advice};
use crate::facts::{Limit, Policy, PolicyId, Protocol, words};
use crate::finding::Severity;
use crate::graph::System;
use crate::graph::deadlines::{Inversion, abandoned_share, inversion};
use crate::graph::slowest::{repeats_slow, slowest};
use crate::source::Span;

/// So many other calls that share the limit are named.
const OTHERS: usize = 3;

/// A call whose caller leaves too soon, and by which policy.
struct Wrong<'s> {
    view: EdgeView<'s>,
    callee: NodeIndex,
    policy: (PolicyId, &'s Policy),
    found: Inversion,
}

impl Wrong<'_> {
    fn severity(&self) -> Severity {
        match self.found.orphan {
            _ if self.view.edge.propagates_deadline => Severity::Note,
            Some(_) => Severity::Error,
            None => Severity::Warning,
        }
    }

    /// Where it is mended: at the limit of the caller.
    fn site(&self) -> Span {
        let (_, policy) = self.policy;
        advice::site(policy, policy.attempt_timeout.span().or(policy.total.limit.span()))
    }

    fn weight(&self) -> f64 {
        self.found.slowest.as_secs_f64() / self.found.gives_up.as_secs_f64().max(1e-9)
    }
}

/// Every wrong hop is a defect of its own: whoever waits longer, or ends sooner, at one of them has mended none of the
/// others. A limit that several calls share is one.
pub(super) fn check(system: &System, findings: &mut Findings) {
    let mut by_site: Vec<(Span, Vec<Wrong>)> = Vec::new();
    let mut index: HashMap<Span, usize> = HashMap::new();
    for view in EdgeView::all(system) {
        let Some(wrong) = wrong(system, view) else { continue };
        let at = *index.entry(wrong.site()).or_insert_with(|| {
            by_site.push((wrong.site(), Vec::new()));
            by_site.len() - 1
        });
        if let Some((_, all)) = by_site.get_mut(at) {
            all.push(wrong);
        }
    }
    for (site, mut all) in by_site {
        // Stable: of equals the first edge.
        all.sort_by(|a, b| b.severity().cmp(&a.severity()).then(b.weight().total_cmp(&a.weight())));
        if let Some((first, others)) = all.split_first() {
            report(system, site, first, others, findings);
        }
    }
}

fn wrong<'s>(system: &'s System, view: EdgeView<'s>) -> Option<Wrong<'s>> {
    let EdgeRef::Net(edge) = view.at else { return None };
    let found = inversion(system, edge)?;
    let (_, callee) = system.net.graph.edge_endpoints(edge)?;
    let id = view.time?.gives_up_by?;
    Some(Wrong { view, callee, policy: (id, system.facts.policy(id)?), found })
}

fn report(system: &System, site: Span, wrong: &Wrong, others: &[Wrong], findings: &mut Findings) {
    let Wrong { view, callee, policy: (id, policy), found } = wrong;
    let Inversion { gives_up, slowest, orphan } = *found;
    let (from, to) = (view.caller.map_or("any caller", |node| &*node.display), &*view.callee.display);
    let short = format!("`{from}` leaves `{to}` after {gives_up}, `{to}` may go on for {slowest}");
    let message = match wrong.severity() {
        Severity::Error => format!("{short} and starts new tries for nobody"),
        _ => short.clone(),
    };
    let draft = findings.report(site, message);
    draft
        .about(*id, policy)
        .on_edge(view.at)
        .severity(wrong.severity())
        .confidence(view.edge.confidence)
        .label(short)
        .weight(wrong.weight());
    for hop in slowest_chain(system, *callee) {
        draft.on_edge(EdgeRef::Net(hop));
        if let Some((span, text)) = describe(system, hop) {
            draft.related(span, text);
        }
    }
    if let Some(start) = orphan {
        draft.note(format!("the last try that `{to}` starts begins after {start}"));
    }
    draft.note(format!(
        "up to {} % of the time that `{to}` spends is for a caller that has left",
        words::factor((abandoned_share(gives_up, slowest) * 100.0).round())
    ));
    if !others.is_empty() {
        let names: Vec<String> = others.iter().take(OTHERS).map(|other| other.view.arrow()).collect();
        let more = others.len().saturating_sub(names.len());
        let and = if more > 0 { format!(" and {more} more") } else { String::new() };
        draft.note(format!("the same for {}{and}", words::list(&names)));
    }
    draft.help(format!(
        "let `{to}` end first: limit its calls to less than {gives_up} in all, or wait longer in `{from}`, for example {}",
        delay_advice::attempt_timeout(policy, slowest)
    ));
}

/// The calls that make a service slow, one below the other: at each service the slowest one that retries.
fn slowest_chain(system: &System, from: NodeIndex) -> Vec<EdgeIndex> {
    let mut chain = Vec::new();
    let mut seen = HashSet::from([from]);
    let mut at = from;
    loop {
        let slowest = |edge: EdgeIndex| system.deadlines.edges.get(edge.index()).and_then(|time| time.slowest);
        let next = system
            .net
            .graph
            .edges(at)
            .filter(|edge| !edge.weight().is_async && slowest(edge.id()).is_some())
            .max_by_key(|edge| (slowest(edge.id()), std::cmp::Reverse(edge.id())));
        match next {
            Some(edge) if seen.insert(edge.target()) => {
                chain.push(edge.id());
                at = edge.target();
            }
            _ => return chain,
        }
    }
}

/// What a hop adds to the wait, at the place where it is written.
fn describe(system: &System, hop: EdgeIndex) -> Option<(Span, String)> {
    let (caller, callee) = system.net.graph.edge_endpoints(hop)?;
    let (caller, callee) = (system.net.graph.node_weight(caller)?, system.net.graph.node_weight(callee)?);
    let edge = system.net.graph.edge_weight(hop)?;
    let in_all = system.deadlines.edges.get(hop.index())?.slowest?;
    let protocol = edge.protocol.unwrap_or(Protocol::Http);
    let policies = edge.layers.iter().flat_map(|layer| &layer.alternatives).flat_map(|nest| &nest.policies);
    let (.., policy) = policies
        .filter_map(|id| Some((*id, system.facts.policy(*id)?)))
        .filter_map(|(id, policy)| Some((slowest(policy, protocol)?, id, policy)))
        .max_by_key(|(slowest, id, _)| (*slowest, std::cmp::Reverse(*id)))?;
    let how = match (policy.tries(), policy.attempt_limit()) {
        (Some(tries), Some(Limit::At(limit)))
            if tries > 1 && repeats_slow(policy, protocol) && edge.may_repeat(policy) =>
        {
            format!("{} of {limit}", words::tries(tries))
        }
        _ => format!("{in_all} in all"),
    };
    let site = advice::site(policy, policy.attempts.span().or(policy.total.limit.span()));
    Some((site, format!("{} → {}: {how}, {in_all} at most", caller.display, callee.display)))
}

#[cfg(test)]
mod tests {
    use crate::facts::{Class, Classes, Policy};
    use crate::finding::Severity;
    use crate::graph::nets::{Sketch, code, on, timed};
    use crate::rules::{Draft, Findings, find};

    /// `web` and `cron` wait 2 s for `a`, which calls `b` like this.
    fn check(call: Policy) -> Vec<Draft> {
        let mut sketch = Sketch::default();
        for caller in ["web", "cron"] {
            sketch.call(caller, "a", [timed(Some(2000), None, code(1))]);
        }
        sketch.call("a", "b", [call]);
        let rule = find("deadline-inversion").unwrap();
        sketch.analysed(|system| Findings::of(std::slice::from_ref(rule), system))
    }

    /// All of the sketch stands at one place, as calls through one route do.
    #[test]
    fn calls_that_share_a_limit_are_one_finding() {
        let drafts = check(timed(Some(1000), None, code(4)));
        let [draft] = &drafts[..] else { panic!("{drafts:?}") };
        assert_eq!(
            (draft.finding.severity, &*draft.finding.message),
            (Severity::Error, "`web` leaves `a` after 2 s, `a` may go on for 4 s and starts new tries for nobody")
        );
        assert_eq!(
            draft.finding.notes,
            [
                "the last try that `a` starts begins after 3 s",
                "up to 50 % of the time that `a` spends is for a caller that has left",
                "the same for cron → a",
            ]
        );
    }

    /// `a` asks `b` once for 3 s, whatever it does after refused connections.
    #[test]
    fn a_callee_that_repeats_nothing_slow_does_not_go_on() {
        let refused = Classes::of(&[Class::Connect, Class::Unsent]);
        assert!(check(timed(Some(3000), None, on(refused, code(4)))).is_empty());
        assert_eq!(check(timed(Some(3000), None, on(Classes::of(&[Class::TryTimeout]), code(4)))).len(), 1);
    }
}
