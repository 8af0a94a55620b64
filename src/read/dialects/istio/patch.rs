//! Patches of DestinationRules: mappings are merged key by key, so that what a patch leaves out holds from the object of its
//! name, the host first of all.

use std::collections::HashMap;

use crate::facts::{Breaker, Budget, Evidence, Facts, Limit, ObjectName, Sourced, Upstream, Value};

/// Fills in what patches leave out, once all files are read. One that says of nobody what it is about, and that has no such
/// object, is about nothing that is known here.
pub(super) fn settle(facts: &mut Facts) {
    if !facts.upstreams.iter().any(|upstream| upstream.is_patch) {
        return;
    }
    let mut whole: HashMap<ObjectName, Vec<Upstream>> = HashMap::new();
    for upstream in facts.upstreams.iter().filter(|upstream| !upstream.is_patch) {
        if let Some(object) = &upstream.object {
            whole.entry(object.clone()).or_default().push(upstream.clone());
        }
    }
    facts.upstreams.retain_mut(|upstream| {
        if !upstream.is_patch {
            return true;
        }
        let all = upstream.object.as_ref().and_then(|object| whole.get(object)).map(Vec::as_slice).unwrap_or_default();
        let same = all.iter().find(|base| base.environment.is_some() && base.environment == upstream.environment);
        if let Some(base) = same.or_else(|| all.iter().find(|base| base.environment.is_none())) {
            merge(upstream, base);
            return true;
        }
        upstream.callee.evidence == Evidence::Written
    });
}

fn merge(patch: &mut Upstream, base: &Upstream) {
    if patch.callee.evidence != Evidence::Written {
        patch.callee.clone_from(&base.callee);
        patch.caller.clone_from(&base.caller);
    }
    match (at_mut(&mut patch.budget), base.budget.limit()) {
        (Some(patch), Some(base)) => merge_budgets(patch, base),
        _ => keep(&mut patch.budget, &base.budget),
    }
    match (at_mut(&mut patch.breaker), base.breaker.limit()) {
        (Some(patch), Some(base)) => merge_breakers(patch, base),
        _ => keep(&mut patch.breaker, &base.breaker),
    }
    keep(&mut patch.retry_cap, &base.retry_cap);
    keep(&mut patch.max_connections, &base.max_connections);
    keep(&mut patch.connect_timeout, &base.connect_timeout);
    patch.is_patch = false;
}

fn at_mut<T>(value: &mut Sourced<Limit<T>>) -> Option<&mut T> {
    match &mut value.value {
        Value::Known(Limit::At(value)) => Some(value),
        _ => None,
    }
}

fn merge_budgets(patch: &mut Budget, base: &Budget) {
    keep(&mut patch.ratio, &base.ratio);
    keep(&mut patch.floor, &base.floor);
    keep(&mut patch.window, &base.window);
}

fn merge_breakers(patch: &mut Breaker, base: &Breaker) {
    fn keep_some<T: Clone>(patch: &mut Option<Sourced<T>>, base: &Option<Sourced<T>>) {
        match (patch, base) {
            (Some(patch), Some(base)) => keep(patch, base),
            (patch @ None, base) => patch.clone_from(base),
            (Some(_), None) => {}
        }
    }
    keep_some(&mut patch.consecutive, &base.consecutive);
    keep_some(&mut patch.window, &base.window);
    keep_some(&mut patch.open, &base.open);
    keep_some(&mut patch.max_ejection_percent, &base.max_ejection_percent);
}

/// What the patch does not write, the base says.
fn keep<T: Clone>(patch: &mut Sourced<T>, base: &Sourced<T>) {
    if !patch.is_written() {
        patch.clone_from(base);
    }
}
