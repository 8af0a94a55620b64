//! The tries of one edge for one failure class (contracts.md D-10): the class is fed through the layers from the callee
//! outward; each layer multiplies if it retries what it sees, and hands on what it says when it gives up.
//!
//! Alternatives and classes that come out in several forms make more than one outcome. Of each class that may come out,
//! only the most tries are kept, and beside them what budgets hold less of, so an edge costs its layers times a few dozen.

use super::amount::Amount;
use super::budgets::{self, Traffic};
use super::handover::{self, Speaker};
use super::product::Product;
use super::{Edge, EdgeLoad, Factor, Layer, Nest, Part};
use crate::facts::{Attempts, Class, Classes, Facts, Limit, Methods, Policy, PolicyId, Protocol};

/// Tries up to which a policy that only time ends is counted; beyond, it counts as unbounded (D-11).
const MOST_BY_TIME: u64 = 1000;

/// Where on a path an edge stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// Its callee is the service in question: the failure may come about just inside any layer.
    Last,
    /// Further up: the failure is what the callee's handler answered, and passes every layer.
    Above,
}

/// An edge with the traffic that its budgets see.
#[derive(Clone, Copy, Debug)]
pub struct View<'n> {
    edge: &'n Edge,
    traffic: Traffic,
    /// What it is spoken in; unknown counts as HTTP.
    pub protocol: Protocol,
}

impl<'n> View<'n> {
    /// Of an edge.
    pub fn new(edge: &'n Edge, traffic: Traffic) -> Self {
        View { edge, traffic, protocol: edge.protocol.unwrap_or(Protocol::Http) }
    }
}

/// One way in which an edge can end: what is handed outward, after how many tries at most.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// What the caller's handler sees.
    pub class: Class,
    /// Tries that reach the callee.
    pub product: Product,
    /// Whether a policy that time ends was counted.
    pub about: bool,
    /// The last of the layers that multiplied, in [`Scratch::trail`]; zero for none.
    trail: u32,
}

/// A layer that multiplied, and the one before it.
#[derive(Clone, Copy, Debug)]
struct Step {
    part: Part,
    before: u32,
}

/// Buffers of [`Tries::outcomes`], kept between edges.
#[derive(Debug, Default)]
pub struct Scratch {
    now: Vec<Outcome>,
    next: Vec<Outcome>,
    nest: Vec<Outcome>,
    inner: Vec<Outcome>,
    trail: Vec<Step>,
}

/// What a policy does to a failing request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retry {
    /// Tries; none without end. Unknown ones are 1.
    times: Option<u64>,
    /// What is retried.
    pub(super) on: Classes,
    /// Copies that hedging sends, the first included.
    copies: u64,
    /// Who hands outward.
    pub(super) speaker: Speaker,
    /// Whether tries or copies are unknown.
    is_unknown: bool,
    /// Whether `times` is counted from a limit on time.
    about: bool,
    /// Whether it has a budget of its own.
    has_budget: bool,
    /// Whether it leaves some methods alone.
    is_choosy: bool,
}

impl Retry {
    fn of(policy: &Policy) -> Retry {
        let (times, known, about) = match policy.attempts.known() {
            Some(Attempts::Times(n)) => (Some((*n).max(1)), true, false),
            Some(Attempts::Unbounded) => (None, true, false),
            Some(Attempts::ByTime) => by_time(policy),
            None => (Some(1), false, false),
        };
        let copies = policy.copies_of_each_try();
        Retry {
            times,
            on: policy.retries_on.known().copied().unwrap_or(Classes::ASSUMED),
            copies: copies.map_or(1, |copies| copies.saturating_add(1)),
            speaker: Speaker::of(policy),
            is_unknown: !known || copies.is_none(),
            about,
            has_budget: policy.budget.limit().is_some(),
            is_choosy: policy.methods.known().is_some_and(|methods| *methods != Methods::Any),
        }
    }

    /// What a hedge is sent for: besides what is retried, a try that is merely slow.
    pub(super) fn hedged_on(&self) -> Classes {
        self.on.or(Classes::of(&[Class::TryTimeout, Class::Deadline]))
    }

    /// Whether it sends copies at all.
    pub(super) fn is_hedged(&self) -> bool {
        self.copies > 1
    }

    /// Tries for a class, and whether unknown ones hide behind them.
    fn tries(&self, class: Class) -> (Amount, bool) {
        let retried = self.on.contains(class);
        let tries = match self.times {
            _ if !retried => Amount::ONE,
            Some(n) => Amount::Exact(n.into()),
            None => Amount::Unbounded,
        };
        if self.copies > 1 && self.hedged_on().contains(class) {
            return (tries * Amount::Exact(self.copies.into()), self.is_unknown);
        }
        (tries, retried && self.is_unknown)
    }
}

/// The tries that fit into a policy's total (D-11), whether that is known, and that it is about so many.
fn by_time(policy: &Policy) -> (Option<u64>, bool, bool) {
    let jitter = policy.jitter.known().copied();
    match policy.total.limit.known() {
        Some(Limit::None) => (None, true, false),
        Some(Limit::At(limit)) => {
            let jitter = jitter.unwrap_or(crate::facts::Jitter::NONE);
            match policy.backoff.tries_within(*limit, &jitter, MOST_BY_TIME) {
                Some(Some(tries)) => (Some(tries), true, true),
                Some(None) => (None, true, false),
                None => (Some(1), false, false),
            }
        }
        None => (Some(1), false, false),
    }
}

/// All policies, looked up once, and what follows for edges.
#[derive(Debug)]
pub struct Tries<'a> {
    facts: &'a Facts,
    pub(super) retries: Vec<Retry>,
    /// Whether there is any budget at all.
    pub(super) any_budget: bool,
}

impl<'a> Tries<'a> {
    /// For the policies of `facts`.
    pub fn new(facts: &'a Facts) -> Self {
        let retries: Vec<Retry> = facts.policies.iter().map(Retry::of).collect();
        let any_budget = retries.iter().any(|retry| retry.has_budget)
            || facts.upstreams.iter().any(|upstream| upstream.budget.limit().is_some());
        Tries { facts, retries, any_budget }
    }

    /// Policies of an edge with unknown tries, and those that may stand on it, in order of id: whatever is computed for it
    /// is a lower bound.
    pub fn unknown_on(&self, edge: &Edge) -> Vec<PolicyId> {
        let possible = handover::possible(edge.protocol.unwrap_or(Protocol::Http));
        let retry = |id: &PolicyId| self.retries.get(id.0 as usize).filter(|retry| !retry.on.and(possible).is_empty());
        let may = |id: &PolicyId| retry(id).filter(|retry| !self.leaves_alone(edge, *id, retry));
        let unknown = policies(edge).filter(|id| may(id).is_some_and(|retry| retry.is_unknown));
        let mut unknown: Vec<PolicyId> =
            unknown.chain(edge.unclaimed.iter().copied().filter(|id| may(id).is_some())).collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown
    }

    /// Whether what goes over an edge has a method that a policy does not send again.
    fn leaves_alone(&self, edge: &Edge, id: PolicyId, retry: &Retry) -> bool {
        retry.is_choosy && self.facts.policy(id).is_some_and(|policy| !edge.may_repeat(policy))
    }

    /// Everything that may come out of an edge if its innermost party sees `class`, each with its most tries. One class
    /// comes out several times where budgets hold one product of tries more than another.
    pub fn outcomes<'s>(&self, view: View, class: Class, hop: Hop, scratch: &'s mut Scratch) -> &'s [Outcome] {
        let fresh = Outcome { class, product: Product::ONE, about: false, trail: 0 };
        scratch.now.clear();
        scratch.now.push(fresh);
        for layer in view.edge.layers.iter().rev() {
            self.through(view, layer, scratch);
            if hop == Hop::Last {
                // It may as well come about here, outside of this layer: everything further in counts 1.
                merge(&mut scratch.now, fresh, self.any_budget);
            }
        }
        &scratch.now
    }

    /// Takes every outcome so far through one layer.
    fn through(&self, view: View, layer: &Layer, scratch: &mut Scratch) {
        let Scratch { now, next, nest: current, inner, trail } = scratch;
        next.clear();
        for nest in &layer.alternatives {
            current.clone_from(now);
            for id in nest.policies.iter().rev() {
                let Some(retry) = self.retries.get(id.0 as usize) else { continue };
                inner.clear();
                for outcome in current.iter() {
                    let outcome = self.retried(view, (layer, nest, *id), retry, *outcome, trail);
                    for class in retry.speaker.hands_out(outcome.class, view.protocol).iter() {
                        merge(inner, Outcome { class, ..outcome }, self.any_budget);
                    }
                }
                std::mem::swap(current, inner);
            }
            current.drain(..).for_each(|outcome| merge(next, outcome, self.any_budget));
        }
        if !layer.alternatives.is_empty() {
            std::mem::swap(now, next);
        }
    }

    /// One outcome after one policy has retried it, or not.
    fn retried(
        &self,
        view: View,
        (layer, nest, id): (&Layer, &Nest, PolicyId),
        retry: &Retry,
        outcome: Outcome,
        trail: &mut Vec<Step>,
    ) -> Outcome {
        let (tries, is_unknown) = retry.tries(outcome.class);
        if (tries == Amount::ONE && !is_unknown) || self.leaves_alone(view.edge, id, retry) {
            return outcome;
        }
        // Policies are large and far apart in memory; most have no budget to look up.
        let bound = (retry.has_budget || nest.upstream.is_some()).then(|| self.bound(view, nest, id)).flatten();
        let site = nest.site_of(id, self.facts);
        let part = Part { policy: id, position: layer.position, site, tries, bound };
        trail.push(Step { part, before: outcome.trail });
        let own = if is_unknown { f64::INFINITY } else { tries.as_f64() };
        let bounded = bound.map_or(own, |bound| bound.min(own));
        Outcome {
            class: outcome.class,
            product: outcome.product * Product { tries, bounded, all_bounded: bound.is_some() },
            about: outcome.about || retry.about,
            trail: trail.len() as u32,
        }
    }

    /// What the budget over a policy leaves of it.
    fn bound(&self, view: View, nest: &Nest, id: PolicyId) -> Option<f64> {
        let upstream = nest.upstream.and_then(|at| self.facts.upstreams.get(at as usize));
        let budget = budgets::budget_of(self.facts.policy(id)?, upstream)?;
        budgets::bound(budget, view.traffic)
    }

    /// The factor of an outcome that [`Tries::outcomes`] left in `scratch`.
    pub fn factor(&self, view: View, outcome: &Outcome, scratch: &Scratch) -> Factor {
        let mut parts = Vec::new();
        let mut at = outcome.trail;
        // The trail ends with the outermost layer, which is how parts are listed.
        while let Some(step) = (at as usize).checked_sub(1).and_then(|at| scratch.trail.get(at)) {
            if step.part.tries != Amount::ONE {
                parts.push(step.part);
            }
            at = step.before;
        }
        Factor {
            tries: outcome.product.tries,
            parts,
            unknown: self.unknown_on(view.edge),
            bounded: outcome.product.bounded(),
            all_bounded: outcome.product.all_bounded,
            about: outcome.about,
        }
    }

    /// The factor of an edge for one class, whatever comes out: the most tries.
    pub fn most(&self, view: View, class: Class, hop: Hop, scratch: &mut Scratch) -> Factor {
        scratch.trail.clear();
        let most = most(self.outcomes(view, class, hop, scratch));
        most.map_or_else(Factor::default, |outcome| self.factor(view, &outcome, scratch))
    }

    /// The tries of that factor alone.
    pub fn most_tries(&self, view: View, class: Class, hop: Hop, scratch: &mut Scratch) -> Amount {
        scratch.trail.clear();
        most(self.outcomes(view, class, hop, scratch)).map_or(Amount::ONE, |outcome| outcome.product.tries)
    }

    /// The class with the most tries among those that arrive, taken from `arriving` (the first of equals), the one that
    /// levels go by, and the one among `unsent` that has more connection attempts than that.
    pub fn greatest(&self, view: View, arriving: &[Class], unsent: &[Class], scratch: &mut Scratch) -> EdgeLoad {
        scratch.trail.clear();
        let (class, factor) = match self.pick(view, arriving, scratch, Product::by_tries) {
            Some((class, outcome)) => (class, self.factor(view, &outcome, scratch)),
            None => (Class::Overload, Factor::default()),
        };
        let unheld = self
            .any_budget
            .then(|| self.pick(view, arriving, scratch, Product::by_figure))
            .flatten()
            .filter(|(_, outcome)| outcome.product.figure() > factor.figure())
            .map(|(class, outcome)| (class, self.factor(view, &outcome, scratch)));
        let unsent = self
            .pick(view, unsent, scratch, Product::by_tries)
            .filter(|(_, outcome)| outcome.product.tries > factor.tries)
            .map(|(class, outcome)| (class, self.factor(view, &outcome, scratch)));
        EdgeLoad { class, factor, unheld, unsent }
    }

    /// The outcome of these classes that is greatest by an order, with its class; the first of equals.
    fn pick(
        &self,
        view: View,
        classes: &[Class],
        scratch: &mut Scratch,
        order: impl Fn(&Product) -> (Amount, Amount),
    ) -> Option<(Class, Outcome)> {
        let mut best: Option<(Class, Outcome)> = None;
        for class in classes {
            for outcome in self.outcomes(view, *class, Hop::Last, scratch) {
                if best.is_none_or(|(_, best)| order(&outcome.product) > order(&best.product)) {
                    best = Some((*class, *outcome));
                }
            }
        }
        best
    }
}

impl Scratch {
    /// Forgets the layers of the edges before; their outcomes can no longer be made into factors.
    pub fn next_edge(&mut self) {
        self.trail.clear();
    }
}

/// The outcome with the most tries, the first of equals.
fn most(outcomes: &[Outcome]) -> Option<Outcome> {
    outcomes.iter().copied().reduce(|a, b| if b.product.by_tries() > a.product.by_tries() { b } else { a })
}

/// Adds an outcome in place of those that hand out the same class and can come out greater by no measure, unless it is one
/// of those itself. Where there are budgets, what they hold may: behind a layer of which only the budget is known.
fn merge(outcomes: &mut Vec<Outcome>, new: Outcome, any_budget: bool) {
    let covers = |a: &Product, b: &Product| {
        let is_alike = a.all_bounded == b.all_bounded || (b.all_bounded && !any_budget);
        a.tries >= b.tries && a.bounded >= b.bounded && is_alike
    };
    if outcomes.iter().any(|old| old.class == new.class && covers(&old.product, &new.product)) {
        return;
    }
    let mut is_placed = false;
    outcomes.retain_mut(|old| {
        if old.class != new.class || !covers(&new.product, &old.product) {
            return true;
        }
        *old = new;
        !std::mem::replace(&mut is_placed, true)
    });
    if !is_placed {
        outcomes.push(new);
    }
    // Of three the one in the middle is greatest neither by its tries nor by its bounded number.
    let alike = |old: &Outcome| old.class == new.class && old.product.all_bounded == new.product.all_bounded;
    if outcomes.iter().filter(|old| alike(old)).count() > 2 {
        let tries = || outcomes.iter().filter(|old| alike(old)).map(|old| old.product.tries);
        let (least, most) = (tries().fold(Amount::Unbounded, Amount::min), tries().fold(Amount::ZERO, Amount::max));
        outcomes.retain(|old| !alike(old) || old.product.tries == least || old.product.tries == most);
    }
}

/// Every policy on an edge.
pub(super) fn policies(edge: &Edge) -> impl Iterator<Item = PolicyId> {
    edge.layers.iter().flat_map(|layer| &layer.alternatives).flat_map(|nest| nest.policies.iter().copied())
}

#[cfg(test)]
#[path = "tries_tests.rs"]
mod tests;
