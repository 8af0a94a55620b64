//! Delays that alone use up the time limit. Page: `rules/backoff-exceeds-deadline.md`.

use std::collections::HashSet;

use super::view::{Enclosed, Ends, Spoken, enclosed, policies};
use super::{Draft, Findings, advice, delay_advice};
use crate::facts::{Nanos, Policy, PolicyId, words};
use crate::graph::System;
use crate::graph::fitting::{Pace, Waits, slow_tries, tries_within};

pub(super) fn check(system: &System, findings: &mut Findings) {
    let mut said = HashSet::new();
    let spoken = Spoken::of(system);
    for (id, policy, ends) in policies(system) {
        let Some(total) = policy.total.limit.limit().copied() else { continue };
        let site = policy.total.limit.span().or(policy.backoff.base.span()).or(policy.attempts.span());
        let is_written = policy.total.limit.is_written() || policy.backoff.base.is_written();
        let Some(exceeded) = exceeded(policy, total).filter(|_| is_written) else { continue };
        let draft = findings.report(advice::site(policy, site), exceeded.message(ends, policy));
        say(draft, (id, policy), &exceeded);
        draft.help(format!(
            "wait less, try less or allow more: {} holds {}, or set {}",
            delay_advice::total_timeout(policy, delay_advice::room(policy).unwrap_or(exceeded.greatest)),
            words::tries(exceeded.tries),
            advice::tries(policy, exceeded.fit),
        ));
        if let Some(slow) = slow_tries(policy, spoken.protocol(id), Waits::Least).filter(|slow| *slow < exceeded.fit) {
            draft.note(format!(
                "if each try runs into its own limit, {} of {} start",
                words::number(slow),
                words::number(exceeded.tries)
            ));
        }
        said.insert(id);
    }
    for Enclosed { view, policy: (id, policy), limit, by: (_, outer), .. } in enclosed(system) {
        let around = outer.attempt_timeout.span().or(outer.total.limit.span());
        let is_written = around.is_some() || policy.backoff.base.is_written();
        let Some(exceeded) = exceeded(policy, limit).filter(|_| is_written && !said.contains(&id)) else { continue };
        said.insert(id);
        let ends = Ends { caller: view.caller, callee: Some(view.callee) };
        let site = policy.backoff.base.span().or(policy.attempts.span());
        let draft = findings.report(advice::site(policy, site), exceeded.message(ends, policy));
        say(draft, (id, policy), &exceeded);
        draft.on_edge(view.at).help(format!(
            "what encloses these retries gives up after {limit}: wait less, or set {}",
            advice::tries(policy, exceeded.fit)
        ));
        if let Some(span) = around {
            draft.related(advice::site(outer, Some(span)), format!("gives up after {limit}"));
        }
    }
}

/// Delays that add up to a limit.
struct Exceeded {
    limit: Nanos,
    tries: u64,
    /// Tries that start within the limit if each fails at once.
    fit: u64,
    /// The least that the delays add up to.
    least: Nanos,
    /// The most.
    greatest: Nanos,
}

/// Whether the least delays of a policy reach a limit, so that not all of its tries can start within it.
fn exceeded(policy: &Policy, limit: Nanos) -> Option<Exceeded> {
    let tries = policy.tries().filter(|tries| *tries >= 2)?;
    let delays = policy.delays(tries - 1).filter(|delays| delays.least >= limit)?;
    let fit = tries_within(policy, limit, Pace::Fast, Waits::Least).filter(|fit| *fit < tries)?;
    Some(Exceeded { limit, tries, fit, least: delays.least, greatest: delays.greatest })
}

impl Exceeded {
    /// `only two of four tries can start within 5 s`.
    fn fit(&self) -> String {
        format!("only {} of {} can start within {}", words::number(self.fit), words::tries(self.tries), self.limit)
    }

    fn message(&self, ends: Ends<'_>, policy: &Policy) -> String {
        format!("{} of a {}: the delays between them take at least {}", self.fit(), ends.call(policy), self.least)
    }
}

fn say(draft: &mut Draft, (id, policy): (PolicyId, &Policy), exceeded: &Exceeded) {
    draft.about(id, policy).label(exceeded.fit());
    if let Some(span) = policy.backoff.base.span() {
        draft.related(span, format!("the least delays add up to {}", exceeded.least));
    }
}
