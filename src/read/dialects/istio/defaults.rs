//! What Istio does although no object says so: two retries on every outbound HTTP route, and, since 1.24, two on inbound
//! ones for connections that failed before the request went out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{SOURCE, inherit, patch, retries};
use crate::facts::{
    Attempts, BackoffKind, Callee, Caller, Class, Classes, Confidence, Dialect, Facts, Jitter, Limit, Mesh, Nanos,
    Policy, PolicyId, PolicyKind, Position, Sourced, Why, interned,
};
use crate::source::Span;

/// The release that took 503 out of the default conditions and gave inbound routes a policy of their own.
const REWORKED: (u32, u32) = (1, 24);

/// Envoy waits from nothing up to this before the first retry, and up to ten times as long at most.
pub(super) const BASE: Nanos = Nanos::from_millis(25);
/// The largest delay, as a multiple of the first.
pub(super) const CAP: u64 = 10;

/// Whose defaults apply, as shown: the release that the settings name, or the newest known.
pub(super) fn by((major, minor): (u32, u32)) -> &'static str {
    interned(&format!("Istio {major}.{minor}"))
}

/// What is in force where `retryOn` is not written, as it would be written.
pub(super) const CONDITIONS: &str = "connect-failure,refused-stream,unavailable,cancelled";

/// The failures that are retried where `retryOn` is not written.
pub(super) fn retries_on(version: (u32, u32)) -> Sourced<Classes> {
    let mut classes = Classes::of(&[Class::Connect, Class::Unsent, Class::Unavailable, Class::Aborted]);
    if version < REWORKED {
        classes.insert(Class::Overload);
    }
    Sourced::default_of(classes, by(version), "retryOn")
}

/// A policy of an Istio proxy that does not retry: what all of them share.
pub(super) fn proxy(span: Span, name: impl Into<Arc<str>>) -> Policy {
    let mut policy = Policy::new(Dialect::Istio, SOURCE, "Istio", span, name);
    policy.position = Position::ClientSidecar;
    policy.caller = Caller::Members { namespace: None, labels: Vec::new() };
    policy.backoff.kind = Sourced::default_of(BackoffKind::Exponential, "Istio", "backoff");
    policy.backoff.base = Sourced::default_of(BASE, "Istio", "backoff");
    policy.backoff.factor = Sourced::default_of(2.0, "Istio", "backoff");
    policy.backoff.cap = Sourced::default_of(Limit::At(BASE.times(CAP)), "Istio", "backoff");
    policy.jitter = Sourced::default_of(Jitter::FULL, "Istio", "jitter");
    policy.jitter_switch = false;
    policy.connect_timeout = Some(Sourced::default_of(Limit::At(Nanos::from_secs(10)), "Istio", "connectTimeout"));
    // A proxy counts its retries in its metrics.
    policy.observed = Sourced::default_of(true, "Istio", "metrics");
    policy.other_host = true;
    policy
}

/// The default of every outbound HTTP route.
pub(super) fn client(version: (u32, u32), span: Span, name: impl Into<Arc<str>>) -> Policy {
    let mut policy = proxy(span, name);
    policy.kind = PolicyKind::Default;
    policy.attempts = Sourced::default_of(Attempts::Times(3), by(version), "retries");
    policy.retries_on = retries_on(version);
    policy
}

/// The default of inbound HTTP routes, which gRPC does not have.
fn inbound(version: (u32, u32), span: Span) -> Policy {
    let mut policy = inbound_proxy(span, "inbound default of the mesh");
    policy.kind = PolicyKind::Default;
    policy.attempts = Sourced::default_of(Attempts::Times(3), by(version), "defaultInboundHttpRetryPolicy");
    policy.retries_on = inbound_retries_on(version);
    policy
}

/// `reset-before-request`: what it retries never arrived (M-2).
pub(super) fn inbound_retries_on(version: (u32, u32)) -> Sourced<Classes> {
    Sourced::default_of(Classes::of(&[Class::Connect]), by(version), "defaultInboundHttpRetryPolicy.retryOn")
}

/// A policy of the callee's own proxy, whoever calls.
pub(super) fn inbound_proxy(span: Span, name: impl Into<Arc<str>>) -> Policy {
    let mut policy = proxy(span, name);
    policy.position = Position::ServerSidecar;
    policy.caller = Caller::Unknown(Why::Other("whoever calls a member of the mesh".into()));
    policy.callee = everyone();
    policy.other_host = false;
    policy
}

/// The callee of what holds for the whole mesh.
pub(super) fn everyone() -> Callee {
    Callee::Unknown(Why::Other("every member of the mesh".into()))
}

/// Leaves one mesh for each environment of those that were sighted, with its default policies: those of the mesh's
/// configuration where there is one, else Istio's own; and gives delegates what their roots say. To be called once, when all files are read.
///
/// A sighting without an environment serves all; so does configuration, until an environment has its own.
pub fn finish(facts: &mut Facts) {
    // First, so that a default that a delegate takes from its root is replaced like the root's own.
    inherit::settle(facts);
    patch::settle(facts);
    let (mut sightings, others): (Vec<Mesh>, Vec<Mesh>) =
        std::mem::take(&mut facts.meshes).into_iter().partition(|mesh| mesh.source == SOURCE);
    facts.meshes = others;
    sightings.sort_by_key(|mesh| mesh.span);
    let Some(first) = sightings.first().cloned() else {
        return;
    };

    // The first of each wins, so that the order of files, which is fixed, decides.
    let mut seen: BTreeMap<Option<Arc<str>>, Mesh> = BTreeMap::new();
    for mesh in sightings {
        let known = seen.entry(mesh.environment.clone()).or_insert_with(|| mesh.clone());
        known.client_default = known.client_default.or(mesh.client_default);
        known.inbound_default = known.inbound_default.or(mesh.inbound_default);
    }
    let for_all = seen.get(&None).cloned();
    let is_configured = |mesh: &Mesh| mesh.client_default.is_some() || mesh.inbound_default.is_some();
    let differ = seen.iter().any(|(environment, mesh)| environment.is_some() && is_configured(mesh));

    let environments: BTreeSet<Option<Arc<str>>> = match &for_all {
        None => seen.keys().cloned().collect(),
        Some(_) if !differ => BTreeSet::from([None]),
        Some(_) => {
            let of_files = facts.files.iter().filter_map(|file| file.environment.clone());
            of_files.map(Some).chain(seen.keys().filter(|environment| environment.is_some()).cloned()).collect()
        }
    };
    let of_environment = |environment: &Option<Arc<str>>| {
        let own = seen.get(environment).and_then(|mesh| mesh.client_default);
        own.or_else(|| for_all.as_ref()?.client_default)
    };
    replace_route_defaults(facts, of_environment);
    for environment in environments {
        let own = seen.get(&environment);
        let configured =
            |pick: fn(&Mesh) -> Option<PolicyId>| own.and_then(pick).or_else(|| for_all.as_ref().and_then(pick));
        let Mesh { span, version, .. } = *own.or(for_all.as_ref()).unwrap_or(&first);
        let client_default = configured(|mesh| mesh.client_default).unwrap_or_else(|| {
            let mut policy = client(version, span, "default of the mesh");
            policy.callee = everyone();
            add(facts, policy, environment.clone())
        });
        let inbound_default = configured(|mesh| mesh.inbound_default)
            .or_else(|| (version >= REWORKED).then(|| add(facts, inbound(version, span), environment.clone())));
        facts.meshes.push(Mesh {
            source: SOURCE.into(),
            version,
            span,
            environment,
            client_default: Some(client_default),
            inbound_default,
        });
    }
}

/// Routes that say nothing have the default of the mesh's configuration, where there is one.
fn replace_route_defaults(facts: &mut Facts, configured: impl Fn(&Option<Arc<str>>) -> Option<PolicyId>) {
    for at in 0..facts.policies.len() {
        let Some(policy) = facts.policies.get(at).filter(|policy| is_route_default(policy)) else {
            continue;
        };
        let default = configured(&policy.environment).and_then(|id| facts.policy(id));
        let Some(default) = default.filter(|default| default.kind == PolicyKind::Config).cloned() else {
            continue;
        };
        let Some(policy) = facts.policies.get_mut(at) else {
            continue;
        };
        policy.kind = default.kind;
        policy.attempts = default.attempts;
        policy.count = default.count;
        policy.backoff = default.backoff;
        policy.retries_on = default.retries_on;
        policy.names_classes = default.names_classes;
        policy.other_host = default.other_host;
        for rejected in policy.ineffective.iter_mut().filter(|one| one.rejected) {
            if let Some(what) = rejected.message.strip_suffix(retries::DEFAULT_STAYS) {
                rejected.message = format!("{what}the default of the mesh's configuration stays in force");
            }
        }
    }
}

/// Whether a policy is what a route has for want of `retries`.
fn is_route_default(policy: &Policy) -> bool {
    policy.dialect == Dialect::Istio
        && policy.kind == PolicyKind::Default
        && policy.route.is_some()
        && matches!(policy.position, Position::ClientSidecar | Position::Gateway)
}

fn add(facts: &mut Facts, mut policy: Policy, environment: Option<Arc<str>>) -> PolicyId {
    policy.environment = environment;
    policy.confidence = Confidence::High;
    let id = PolicyId(u32::try_from(facts.policies.len()).unwrap_or(u32::MAX));
    facts.policies.push(policy);
    id
}
