//! Retries that nobody wrote. Page: `rules/implicit-retries.md`.

use std::collections::HashMap;

use petgraph::graph::NodeIndex;

use super::view::EdgeView;
use super::{EdgeRef, Findings, advice};
use crate::facts::{Classes, Dialect, Policy, PolicyId, PolicyKind, Position, words};
use crate::finding::{Identity, Severity};
use crate::graph::amount::Amount;
use crate::graph::paths::{BestPaths, By};
use crate::graph::{Nest, Path, System};
use crate::read::NEWEST_ISTIO;

pub(super) fn check(system: &System, findings: &mut Findings) {
    let mut on_best_path = Factors::default();
    for view in EdgeView::all(system) {
        for layer in view.edge.layers.iter().filter(|layer| layer.position.is_request_path()) {
            for nest in &layer.alternatives {
                for id in &nest.policies {
                    let Some(policy) = system.facts.policy(*id) else { continue };
                    if policy.kind == PolicyKind::Default && policy.tries().is_some_and(|tries| tries > 1) {
                        report(system, &view, nest, *id, policy, &mut on_best_path, findings);
                    }
                }
            }
        }
    }
}

fn report<'s, 'a>(
    system: &'s System<'a>,
    view: &EdgeView,
    nest: &Nest,
    id: PolicyId,
    policy: &Policy,
    on_best_path: &mut Factors<'s, 'a>,
    findings: &mut Findings,
) {
    let by = policy.attempts.default_by().unwrap_or(&policy.source).to_owned();
    let times = times(policy.tries().unwrap_or(1).saturating_sub(1));
    let product = on_best_path.product(system, view, id).or_else(|| product_on_edge(system, view, id));
    let repeats_unsafe = repeats_unsafe(view, policy);
    // The caller's own default is one, whether it stands in a sidecar or in a gateway; what the callee's side does is another.
    let inbound = policy.position >= Position::ServerSidecar;
    let place = if inbound { format!(" {}", advice::place(policy.position)) } else { String::new() };
    let which = policy.attempts.default_reference().unwrap_or_else(|| policy.position.name());
    let draft =
        findings.report(nest.site, format!("{by} retries {} {times}{place} although no file says so", view.arrow()));
    draft
        .about(id, policy)
        // Whichever release it is, the default is the same one.
        .identity(Identity::Place(format!("default of {} {which}", policy.source).into()))
        .on_edge(view.at)
        .confidence(nest.confidence)
        .default_of(&format!("{by}\0{which}"))
        .many(format!("{by} retries {times}{place} in "), " places although no file says so")
        .label(format!(
            "{}, so {by}'s default stands: {}",
            if inbound { "no inbound policy is set" } else { "nothing set here" },
            advice::tries_in_words(policy)
        ));
    if let Some(on) = policy.retries_on.known() {
        let failures = on.and(view.possible()).in_words(policy.dialect);
        if !failures.is_empty() {
            draft.note(format!("it repeats a request after {}", words::list(&failures)));
        }
    }
    draft.help(match policy.dialect {
        Dialect::Istio if policy.position == Position::ServerSidecar => {
            "`defaultInboundHttpRetryPolicy: {}` in the mesh configuration switches it off"
        }
        Dialect::Istio => "write `retries: { attempts: 0 }` where a repeated call is not wanted, or the number that is",
        Dialect::Envoy => "write `num_retries: 0` where a repeated call is not wanted, or the number that is",
        _ => "write the number of tries that is wanted, one where a repeated call is not",
    });
    match product {
        Some(product) => draft.severity(Severity::Warning).weight(product).note(format!(
            "it is a factor in {} requests for one at `{}`",
            words::factor(product),
            view.callee.display
        )),
        None if repeats_unsafe => {
            draft.severity(Severity::Warning).note("among what it repeats are requests that must not be made twice")
        }
        None => draft.severity(Severity::Note),
    };
    if policy.dialect == Dialect::Istio && by == newest_istio() {
        draft.note(format!(
            "the defaults are those of {by}; `version` under `[dialects.istio]` in retrylint.toml names another"
        ));
    }
}

/// The release whose defaults hold where nobody names one.
fn newest_istio() -> String {
    let (major, minor) = NEWEST_ISTIO;
    format!("Istio {major}.{minor}")
}

/// `once`, `twice`, `three times`.
fn times(retries: u64) -> String {
    match retries {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{} times", words::number(n)),
    }
}

/// Whether a known unsafe method is repeated in a class in which it may have been carried out.
fn repeats_unsafe(view: &EdgeView, policy: &Policy) -> bool {
    let Some(operation) = &view.edge.operation else { return false };
    let is_unsafe = super::non_idempotent_retry::is_unsafe(operation, view.edge.protocol) == Some(true);
    let covered = operation
        .method
        .as_deref()
        .is_none_or(|method| policy.methods.known().is_some_and(|methods| methods.covers(method)));
    is_unsafe
        && covered
        && view.edge.idempotent != Some(true)
        && policy.retries_on.known().is_some_and(|on| !on.and(Classes::UNSAFE).and(view.possible()).is_empty())
}

/// The tries of the edge alone, if the default is one of two or more factors of an overload above the limit.
fn product_on_edge(system: &System, view: &EdgeView, id: PolicyId) -> Option<f64> {
    let (class, factor) = view.load?.deciding();
    (Classes::OVERLOAD.contains(class)
        && factor.figure() > system.limits.max_amplification
        && factor.parts.len() >= 2
        && factor.parts.iter().any(|part| part.policy == id))
    .then_some(factor.tries.as_f64())
}

/// What multiplies on the worst path into each callee, looked up once.
#[derive(Default)]
struct Factors<'s, 'a> {
    paths: Option<BestPaths<'s, 'a>>,
    by_callee: HashMap<NodeIndex, Vec<(EdgeRef, PolicyId)>>,
}

impl<'s, 'a> Factors<'s, 'a> {
    /// What one request becomes at the callee by its worst path, if that is above the limit, in an overload or timeout
    /// class, and the default on this edge is a factor of it.
    fn product(&mut self, system: &'s System<'a>, view: &EdgeView, id: PolicyId) -> Option<f64> {
        let node = system.amplification.nodes.get(view.target.index())?;
        if node.figure <= system.limits.max_amplification {
            return None;
        }
        let paths = self.paths.get_or_insert_with(|| BestPaths::new(system, 1));
        let factors = self.by_callee.entry(view.target).or_insert_with(|| {
            let best = paths.to(view.target, By::Figure);
            let is_overload = |path: &&Path| path.hops.last().is_some_and(|hop| Classes::OVERLOAD.contains(hop.class));
            let hops = best.iter().filter(is_overload).flat_map(|path| &path.hops);
            let parts = hops.flat_map(|hop| hop.factor.parts.iter().map(|part| (EdgeRef::Net(hop.edge), part)));
            parts.filter(|(_, part)| part.tries > Amount::ONE).map(|(edge, part)| (edge, part.policy)).collect()
        });
        factors.contains(&(view.at, id)).then_some(node.figure_tries.as_f64())
    }
}
