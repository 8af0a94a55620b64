//! The loop recogniser: retry loops written by hand, found by their structure (rust-crates.md section 10).
//!
//! ```text
//! loop ─► classify: is it a retry?  ─► bounds: how many tries, why not known   ─► Site
//!          run: goes through it         delays: how they grow, chance, caps
//!          as a machine would           conditions: which failures              purpose: for whom
//! ```

mod apart;
mod bounds;
mod classify;
mod conditions;
mod delays;
mod exits;
pub mod helpers;
mod objects;
mod policies;
mod purpose;
mod run;
mod series;
mod site;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use super::project::Project;
use super::site::Site;
use super::tree::{Id, Kind, LoopKind, Sym, Unit};
use super::words::Words;
use super::words::loops::has;
use crate::source::Span;
use run::{Machine, Mode, Val};

/// The retry loops of a unit, in the order in which they stand.
pub fn sites(project: &Project, unit: &Arc<Unit>) -> Vec<Site> {
    sites_by(project, Words::of(unit.language), unit)
}

/// The same, by the words of a language that may be another one.
fn sites_by(project: &Project, words: &Words, unit: &Arc<Unit>) -> Vec<Site> {
    let mut sites = Vec::new();
    for (id, node) in unit.ids() {
        let is_candidate = match &node.kind {
            Kind::Loop { .. } => true,
            Kind::Function { body: Some(body), .. } => calls_itself(unit, id, *body),
            _ => false,
        };
        if is_candidate {
            let candidate = Candidate::new(project, words, unit, id);
            if candidate.is_worth_it() {
                sites.extend(site::read(&candidate));
            }
        }
    }
    sites.extend(helpers::sites(project, words, unit));
    sites.extend(described(project, words, unit));
    sites.sort_by_key(|site| site.policy.span.start);
    sites
}

/// What is described in a unit: objects, and policies that a library asks. Of one that is made of the other, the policy counts
/// where it could be asked.
fn described(project: &Project, words: &Words, unit: &Arc<Unit>) -> Vec<Site> {
    let mut policies = policies::sites(project, words, unit);
    let mut objects = objects::sites(project, words, unit);
    let is_around = |policy: &Site, object: &Site| unit.is_below(object.construct, policy.construct);
    objects
        .retain(|object| !policies.iter().any(|one| one.policy.attempts.known().is_some() && is_around(one, object)));
    policies.retain(|policy| !objects.iter().any(|object| is_around(policy, object)));
    policies.append(&mut objects);
    policies
}

/// Whether a function calls itself, by its path or as a method of the same receiver.
fn calls_itself(unit: &Unit, function: Id, body: Id) -> bool {
    let Kind::Function { name, path, params, .. } = unit.kind(function) else { return false };
    let receiver = params.first().and_then(|param| param.name.as_ref());
    unit.below(body).any(|id| match unit.kind(id) {
        Kind::Call { of, .. } => unit.callee(*of).is_some_and(|called| called.full.as_deref() == Some(path)),
        Kind::Method { on, name: called, .. } => {
            called == name && matches!(unit.kind(*on), Kind::Name(on) if Some(&on.text) == receiver)
        }
        _ => false,
    })
}

/// A loop, or a function that calls itself, that is looked at.
pub(super) struct Candidate<'a> {
    project: &'a Project,
    words: &'a Words,
    unit: &'a Arc<Unit>,
    id: Id,
    function: Option<Id>,
    /// What the function around is given, where it is looked at for one of its calls.
    given: Vec<(Sym, Val)>,
}

impl<'a> Candidate<'a> {
    fn new(project: &'a Project, words: &'a Words, unit: &'a Arc<Unit>, id: Id) -> Self {
        let function = match unit.kind(id) {
            Kind::Function { .. } => Some(id),
            _ => unit.function_of(id),
        };
        Candidate { project, words, unit, id, function, given: Vec::new() }
    }

    fn machine<'b>(&'b self, mode: Mode, ops: &'b [Id]) -> Machine<'b> {
        Machine::new(self.project, self.words, self.unit, self.id, mode, ops, &self.given)
    }

    fn span(&self) -> Span {
        self.unit.span(self.id)
    }

    /// The name of the function around; empty where there is none.
    fn function_name(&self) -> &str {
        match self.function.map(|function| self.unit.kind(function)) {
            Some(Kind::Function { name, .. }) => name,
            _ => "",
        }
    }

    /// Whether there is any sign of a retry: something that waits or sends, or names that speak of tries. All others are not run.
    fn is_worth_it(&self) -> bool {
        let words = &self.words.loops;
        let unit = self.unit;
        let speaks = |name: &str| {
            has(&words.names.attempts, name) || has(&words.names.schedules, name) || has(&words.names.waits, name)
        };
        let requests = &self.words.requests;
        let waits = |id: Id| match unit.kind(id) {
            Kind::Call { of, .. } => unit.callee(*of).is_some_and(|name| {
                words.waits.of_path(name.best()).is_some() || requests.functions.of_path(name.best()).is_some()
            }),
            Kind::Method { name, .. } => {
                let sends = || requests.send.iter().any(|send| **send == **name);
                words.wait_methods.get(name).is_some() || speaks(name) || sends()
            }
            Kind::Name(name) => speaks(name.last()),
            Kind::Member { name, .. } => speaks(name),
            Kind::Loop { kind: LoopKind::Count { var: Some(var), .. }, .. } => speaks(var),
            _ => false,
        };
        unit.below(self.id).any(waits) || self.is_named_retry()
    }

    /// What a node says, in a word or two: `client.charge`.
    fn spoken(&self, id: Id) -> String {
        const FURTHEST: usize = 6;
        let unit = self.unit;
        let mut id = id;
        let mut parts: Vec<String> = Vec::new();
        for _ in 0..FURTHEST {
            match unit.kind(id) {
                Kind::Name(name) => {
                    parts.push(name.text.to_string());
                    break;
                }
                Kind::Member { of, name } => {
                    parts.push(name.to_string());
                    id = *of;
                }
                Kind::Method { on, name, .. } => {
                    parts.push(name.to_string());
                    id = *on;
                }
                Kind::Call { of, .. } => id = *of,
                Kind::Await(of) => id = *of,
                _ => break,
            }
        }
        parts.reverse();
        parts.join(".")
    }
}
