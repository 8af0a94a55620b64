//! Whether facts from a file hold together: all that they point to is there, and no number is one that no reader makes. What
//! comes after reading counts on it.

use crate::facts::{CallId, Facts, Policy, PolicyId, Visit, Visitor};
use crate::source::{Source, Span};

/// Each environment is a system of its own that all facts are asked for; more than so many are none that anybody has.
const MOST_ENVIRONMENTS: usize = 10_000;

/// Goes through all facts.
///
/// # Errors
/// The first thing that is wrong, as a clause: which fact, and what.
pub(super) fn check(facts: &mut Facts, sources: &[Source]) -> Result<(), String> {
    let mut checker = Checker { sources, policies: facts.policies.len(), calls: facts.calls.len(), fault: None };
    let Facts {
        files,
        policies,
        upstreams,
        calls,
        services,
        workloads,
        kube_services,
        namespaces,
        meshes,
        route_uses,
        enclosures,
        suppressions,
        misdirected,
        unread,
        problems,
    } = facts;
    checker.all("files", files)?;
    checker.all("policies", policies)?;
    checker.all("upstreams", upstreams)?;
    checker.all("calls", calls)?;
    checker.all("services", services)?;
    checker.all("workloads", workloads)?;
    checker.all("kube_services", kube_services)?;
    checker.all("namespaces", namespaces)?;
    checker.all("meshes", meshes)?;
    checker.all("route_uses", route_uses)?;
    checker.all("enclosures", enclosures)?;
    checker.all("suppressions", suppressions)?;
    checker.all("misdirected", misdirected)?;
    checker.all("unread", unread)?;
    checker.all("problems", problems)?;
    let environments = facts.environments().len();
    if environments > MOST_ENVIRONMENTS {
        return Err(format!("there are {environments} environments, and at most {MOST_ENVIRONMENTS} can be"));
    }
    match circle(&facts.policies) {
        Some(at) => Err(format!("`policies` {at} is inside itself")),
        None => Ok(()),
    }
}

/// A policy that is reached from itself by what it stands inside.
fn circle(policies: &[Policy]) -> Option<usize> {
    // The walk that came by: none is walked twice.
    let mut seen = vec![0_usize; policies.len()];
    for start in 0..policies.len() {
        let mut at = start;
        while let Some(slot) = seen.get_mut(at).filter(|slot| **slot == 0) {
            *slot = start + 1;
            let Some(outer) = policies.get(at).and_then(|policy| policy.inside) else { break };
            at = outer.0 as usize;
            if seen.get(at) == Some(&(start + 1)) {
                return Some(at);
            }
        }
    }
    None
}

struct Checker<'s> {
    sources: &'s [Source],
    policies: usize,
    calls: usize,
    fault: Option<String>,
}

impl Checker<'_> {
    fn all<T: Visit>(&mut self, list: &str, facts: &mut [T]) -> Result<(), String> {
        for (at, fact) in facts.iter_mut().enumerate() {
            fact.visit(self);
            if let Some(fault) = self.fault.take() {
                return Err(format!("`{list}` {at} {fault}"));
            }
        }
        Ok(())
    }

    fn require(&mut self, holds: bool, fault: impl FnOnce() -> String) {
        if !holds && self.fault.is_none() {
            self.fault = Some(fault());
        }
    }

    fn place(&mut self, span: Span, is_known: impl Fn(&Source) -> bool) {
        let source = self.sources.get(span.file.0 as usize);
        self.require(source.is_some(), || format!("stands in file {}, which is not among `files`", span.file.0));
        let holds = span.start <= span.end && source.is_none_or(is_known);
        let path = source.map_or("", |source| &*source.path);
        let (start, end) = (span.start, span.end);
        self.require(holds, || format!("points to bytes {start} to {end} of {path}, of which no line is kept"));
    }
}

impl Visitor for Checker<'_> {
    fn span(&mut self, span: &mut Span) {
        self.place(*span, |source| source.knows(span.start, span.end));
    }

    fn extent(&mut self, span: &mut Span) {
        self.place(*span, |source| source.knows(span.start, span.start) && source.knows(span.end, span.end));
    }

    fn policy(&mut self, id: &mut PolicyId) {
        let all = self.policies;
        self.require((id.0 as usize) < all, || format!("speaks of policy {}, of {all}", id.0));
    }

    fn call(&mut self, id: &mut CallId) {
        let all = self.calls;
        self.require((id.0 as usize) < all, || format!("speaks of call {}, of {all}", id.0));
    }

    fn number(&mut self, number: f64) {
        self.require(number.is_finite() && number >= 0.0, || format!("has the number {number}, which is below zero"));
    }

    fn tries(&mut self, tries: u64) {
        self.require(tries > 0, || "has no try at all".to_string());
    }
}
