//! What missing-retry-budget and missing-circuit-breaker share: per callee, who retries an overload towards it, and
//! whether anything bounds that.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use petgraph::graph::NodeIndex;

use super::view::EdgeView;
use super::{EdgeRef, advice};
use crate::facts::{Classes, Confidence, Policy, PolicyId, PolicyKind, Upstream, words};
use crate::graph::{Nest, Node, System};

/// Retries of an overload towards one callee that nothing of a kind bounds.
pub(super) struct Unbounded<'s> {
    /// Whom they reach.
    pub callee: &'s Node,
    /// The written policies, those with most tries first, each with its edge.
    pub layers: Vec<(PolicyId, &'s Policy, EdgeRef)>,
    /// The known services that retry towards it.
    pub callers: BTreeSet<NodeIndex>,
    /// Whether several callers or a long path make this a storm's doing rather than advice.
    pub is_storm: bool,
    /// The most tries of one call on any of these edges.
    pub tries: f64,
    /// The least sure of what it rests on.
    pub confidence: Confidence,
}

/// What a policy and a proxy's settings for its callee say: they bound it, they do not, or nobody can tell.
pub(super) type Bounds = fn(Option<&Policy>, Option<&Upstream>) -> Option<bool>;

/// Callees with retries that are known to be unbounded, in order of node.
pub(super) fn unbounded<'s>(system: &'s System<'_>, bounds: Bounds) -> Vec<Unbounded<'s>> {
    let mut by_callee: BTreeMap<NodeIndex, Option<Unbounded>> = BTreeMap::new();
    for view in EdgeView::all(system) {
        let slot = by_callee.entry(view.target).or_insert_with(|| {
            Some(Unbounded {
                callee: view.callee,
                layers: Vec::new(),
                callers: BTreeSet::new(),
                is_storm: false,
                tries: 1.0,
                confidence: Confidence::High,
            })
        });
        // Settings of the callee bound whoever calls through them, also where no policy of this edge names them.
        let of_callee = view.callee.upstreams.iter().filter_map(|index| system.facts.upstreams.get(*index as usize));
        if slot.is_some() && of_callee.into_iter().any(|upstream| bounds(None, Some(upstream)) != Some(false)) {
            *slot = None;
        }
        let Some(found) = slot else { continue };
        let on_edge = || {
            let nests = view.edge.layers.iter().flat_map(|layer| &layer.alternatives);
            nests.flat_map(|nest| {
                nest.policies.iter().filter_map(move |id| Some((nest, *id, system.facts.policy(*id)?)))
            })
        };
        let upstream = |nest: &Nest| nest.upstream.and_then(|index| system.facts.upstreams.get(index as usize));
        // Something bounds this call, or may; the calls of others it does not.
        if on_edge().any(|(nest, _, policy)| bounds(Some(policy), upstream(nest)) != Some(false)) {
            continue;
        }
        let mut retries = false;
        for (nest, id, policy) in on_edge() {
            let overload =
                policy.retries_on.known().is_some_and(|on| !on.and(Classes::OVERLOAD).and(view.possible()).is_empty());
            if policy.may_retry()
                && view.edge.may_repeat(policy)
                && overload
                && policy.kind != PolicyKind::Default
                && policy.position.is_request_path()
            {
                retries = true;
                found.layers.push((id, policy, view.at));
                found.confidence = found.confidence.min(policy.confidence).min(nest.confidence);
            }
        }
        if retries {
            // Two operations of one caller are two edges.
            if let EdgeRef::Net(edge) = view.at {
                found.callers.extend(system.net.graph.edge_endpoints(edge).map(|(caller, _)| caller));
            }
            found.tries = found.tries.max(view.load.map_or(1.0, |load| load.factor.tries.as_f64()));
        }
    }
    let mut out = Vec::new();
    for (node, found) in by_callee {
        let Some(mut found) = found.filter(|found| !found.layers.is_empty()) else { continue };
        let figure = system.amplification.nodes.get(node.index()).map_or(1.0, |load| load.figure);
        found.is_storm = found.callers.len() >= 2 || figure > system.limits.max_amplification;
        found.layers.sort_by_key(|(id, policy, _)| (std::cmp::Reverse(policy.tries().unwrap_or(u64::MAX)), *id));
        // A named policy that many calls use is one place.
        let mut seen = HashSet::new();
        found.layers.retain(|(_, policy, _)| seen.insert(advice::site(policy, policy.attempts.span())));
        out.push(found);
    }
    out
}

impl Unbounded<'_> {
    /// `up to 3× the load`, `requests without end`; a lower bound where the tries of a layer are unknown.
    pub(super) fn load(&self) -> String {
        load(self.tries, self.layers.iter().all(|(_, policy, _)| policy.attempts.known().is_some()))
    }
}

fn load(tries: f64, all_known: bool) -> String {
    match (tries.is_finite(), all_known) {
        (false, _) => "requests without end".to_owned(),
        (true, true) => format!("up to {}× the load", words::factor(tries)),
        (true, false) if tries > 1.0 => format!("at least {}× the load", words::factor(tries)),
        (true, false) => "an unknown multiple of the load".to_owned(),
    }
}

/// Says it: the layer with most tries first, two more as examples.
pub(super) fn report<'f>(
    found: &Unbounded,
    message: String,
    findings: &'f mut super::Findings,
) -> Option<&'f mut super::Draft> {
    let (id, policy, edge) = found.layers.first()?;
    let draft = findings.report(advice::site(policy, policy.attempts.span()), message);
    draft.about(*id, policy).on_edge(*edge).confidence(found.confidence).weight(found.tries);
    draft.label(advice::layer(policy));
    for (_, policy, _) in found.layers.iter().skip(1).take(2) {
        draft.related(advice::site(policy, policy.attempts.span()), format!("and here: {}", advice::layer(policy)));
    }
    if found.layers.len() > 3 {
        draft.note(format!("and {} more", found.layers.len() - 3));
    }
    if !found.is_storm {
        draft.pedantic();
    }
    Some(draft)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_without_bound_is_no_number() {
        assert_eq!(load(3.0, true), "up to 3× the load");
        assert_eq!(load(2.5, true), "up to 2.5× the load");
        assert_eq!(load(f64::INFINITY, true), "requests without end");
    }

    #[test]
    fn a_load_that_hangs_on_unknown_tries_is_a_lower_bound() {
        assert_eq!(load(3.0, false), "at least 3× the load");
        assert_eq!(load(1.0, false), "an unknown multiple of the load");
    }
}
