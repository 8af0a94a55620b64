//! Retries without any time limit. Page: `rules/missing-timeout.md`.

use super::view::{EdgeView, policies};
use super::{Findings, advice, delay_advice};
use crate::facts::{Attempts, Limit, Nanos, Policy, PolicyId, PolicyKind, Purpose, words};
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    let enclosed = Enclosed::of(system);
    for (id, policy, ends) in policies(system) {
        // A default that nobody wrote is a clause of implicit-retries.
        if policy.kind == PolicyKind::Default || !policy.attempts.is_written() || policy.purpose != Purpose::Request {
            continue;
        }
        if !is_unlimited(policy) || !enclosed.is_free(id) {
            continue;
        }
        let retries = match policy.attempts.known() {
            Some(Attempts::Times(tries)) if *tries > 1 => words::retries(tries - 1),
            Some(Attempts::Unbounded) => "retries without end".to_owned(),
            _ => continue,
        };
        let draft = findings.report(
            advice::site(policy, policy.attempts.span()),
            format!(
                "{retries} and no timeout: if {} hangs, its callers hang with it, and nothing is ever retried",
                ends.callee_or("the callee")
            ),
        );
        draft.about(id, policy).label(format!("{retries} and no timeout")).help(format!(
            "limit each try and the whole call, for example {} and {}",
            delay_advice::attempt_timeout(policy, Nanos::from_secs(2)),
            delay_advice::total_timeout(policy, Nanos::from_secs(5)),
        ));
        for at in enclosed.edges(id) {
            draft.on_edge(*at);
        }
    }
}

/// Whether it is known that neither a try nor the whole call has a limit.
fn is_unlimited(policy: &Policy) -> bool {
    policy.attempt_limit() == Some(Limit::None) && policy.total.limit.is_none()
}

/// For each policy: the edges that it stands on, and whether some layer around it there has a limit, or may have one.
struct Enclosed {
    by_policy: std::collections::HashMap<PolicyId, (bool, Vec<super::EdgeRef>)>,
}

impl Enclosed {
    fn of(system: &System) -> Enclosed {
        let mut by_policy = std::collections::HashMap::new();
        for view in EdgeView::all(system) {
            // The limit of the caller's own server encloses everything that it calls.
            let mut is_limited = view.caller.is_some_and(|caller| caller.service.timeout.is_some());
            // Outermost first: what stands before a layer encloses it.
            for layer in &view.edge.layers {
                let mut layer_limits = true;
                for nest in &layer.alternatives {
                    let mut inner = is_limited;
                    for id in &nest.policies {
                        let entry: &mut (bool, Vec<super::EdgeRef>) = by_policy.entry(*id).or_default();
                        entry.0 |= inner;
                        entry.1.push(view.at);
                        inner |= system.facts.policy(*id).is_some_and(|policy| !is_unlimited(policy));
                    }
                    layer_limits &= inner;
                }
                is_limited |= layer_limits;
            }
        }
        Enclosed { by_policy }
    }

    fn is_free(&self, id: PolicyId) -> bool {
        self.by_policy.get(&id).is_none_or(|(is_limited, _)| !is_limited)
    }

    fn edges(&self, id: PolicyId) -> &[super::EdgeRef] {
        self.by_policy.get(&id).map_or(&[], |(_, edges)| edges)
    }
}
