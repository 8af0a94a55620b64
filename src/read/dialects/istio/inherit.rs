//! What a VirtualService without hosts takes from the one that delegates to it: retries and timeout, each as a whole, and
//! only where it says nothing itself. Where none delegates to it, nobody knows, unless it is a patch of one that has hosts:
//! lists of such objects are patched as a whole, so that its routes are all that there are, with Istio's defaults.

use std::collections::HashMap;

use super::retries;
use crate::facts::{
    AttemptTimeoutFlaw, Attempts, Caller, Confidence, Facts, Limit, ObjectName, Origin, Policy, PolicyKind, RouteUse,
    Sourced,
};

/// More different roots than this say nothing in common.
const MOST: usize = 32;

/// Fills in what delegates leave out, once all files are read.
pub(super) fn settle(facts: &mut Facts) {
    let uses = std::mem::take(&mut facts.route_uses);
    let mut roots: HashMap<&ObjectName, Vec<&RouteUse>> = HashMap::new();
    for one in &uses {
        let known = roots.entry(&one.of).or_default();
        if known.len() <= MOST && !known.iter().any(|known| hands_down_alike(known, one)) {
            known.push(one);
        }
    }
    for policy in &mut facts.policies {
        let left_out = policy.left_out;
        let Some(roots) = policy.part_of.as_ref().and_then(|object| roots.get(object)).filter(|all| all.len() <= MOST)
        else {
            continue;
        };
        let environment = policy.environment.clone();
        let in_reach = roots
            .iter()
            .filter(|root| root.environment.is_none() || environment.is_none() || root.environment == environment);
        // Seen with the object that it patches, it is no part any more.
        if in_reach.clone().any(|root| root.whole.is_some()) {
            policy.confidence = Confidence::High;
            if let ([RouteUse { caller: members @ Caller::Members { .. }, .. }], 1) =
                (roots.as_slice(), in_reach.count())
            {
                policy.caller = members.clone();
            }
            take_defaults(policy);
            continue;
        }
        if !left_out.retries && !left_out.timeout {
            continue;
        }
        let Some(given) = in_reach.map(|root| root.hands_down.as_deref()).collect::<Option<Vec<&Policy>>>() else {
            continue;
        };
        let Some((first, others)) = given.split_first() else { continue };
        if left_out.retries && others.iter().all(|other| retry_alike(first, other)) {
            take_retries(policy, first);
        }
        if left_out.timeout && others.iter().all(|other| end_alike(first, other)) {
            policy.total.limit = first.total.limit.clone();
        }
        // Retries and timeout may now stand together that their own files do not show side by side.
        if let Some(flaw) = retries::not_below_total(policy) {
            policy.attempt_timeout_flaw = Some(flaw);
        }
    }
    facts.route_uses = uses;
}

/// What a route has that says nothing and inherits nothing.
fn take_defaults(policy: &mut Policy) {
    if policy.left_out.retries {
        policy.kind = PolicyKind::Default;
        policy.attempts = match &policy.retries_on.origin {
            Origin::Default { by, .. } => Sourced::default_of(Attempts::Times(3), by, "retries"),
            _ => return,
        };
    }
    if policy.left_out.timeout {
        policy.total.limit = Sourced::default_of(Limit::None, "Istio", "timeout");
    }
}

fn take_retries(policy: &mut Policy, given: &Policy) {
    policy.kind = given.kind;
    policy.attempts = given.attempts.clone();
    policy.count.clone_from(&given.count);
    policy.backoff = given.backoff.clone();
    policy.attempt_timeout = given.attempt_timeout.clone();
    // One that the root's own timeout makes is no flaw of a part with another timeout.
    let flaw = given.attempt_timeout_flaw.clone();
    policy.attempt_timeout_flaw = flaw.filter(|flaw| matches!(flaw, AttemptTimeoutFlaw::NeverRetried { .. }));
    policy.retries_on = given.retries_on.clone();
    policy.names_classes = given.names_classes;
    policy.other_host = given.other_host;
}

fn hands_down_alike(one: &RouteUse, other: &RouteUse) -> bool {
    let are_alike = match (&one.hands_down, &other.hands_down) {
        (Some(one), Some(other)) => retry_alike(one, other) && end_alike(one, other),
        (one, other) => one.is_none() && other.is_none(),
    };
    are_alike && one.environment == other.environment && one.whole.is_some() == other.whole.is_some()
}

/// Whether two policies retry in the same way, wherever that is written.
fn retry_alike(one: &Policy, other: &Policy) -> bool {
    let shape = |policy: &Policy| {
        (
            (policy.kind, policy.attempts.value.clone(), policy.retries_on.value.clone()),
            (policy.attempt_timeout.value.clone(), policy.backoff.base.value.clone(), policy.other_host),
        )
    };
    shape(one) == shape(other)
}

/// Whether two policies give up after the same time.
fn end_alike(one: &Policy, other: &Policy) -> bool {
    one.total.limit.value == other.total.limit.value
}
