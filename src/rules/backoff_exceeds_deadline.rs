//! Delays that alone use up the time limit. Page: `rules/backoff-exceeds-deadline.md`.

use super::view::policies;
use super::{Findings, advice, delay_advice};
use crate::facts::words;
use crate::graph::System;
use crate::graph::fitting::{Waits, fast_tries, slow_tries};

pub(super) fn check(system: &System, findings: &mut Findings) {
    for (id, policy, ends) in policies(system) {
        let (Some(total), Some(tries)) = (policy.total.limit.limit().copied(), policy.tries()) else { continue };
        let is_written = policy.total.limit.is_written() || policy.backoff.base.is_written();
        let Some(delays) = policy.delays(tries.saturating_sub(1)) else { continue };
        if tries < 2 || !is_written || delays.least < total {
            continue;
        }
        let Some(fast) = fast_tries(policy).filter(|fast| *fast < tries) else { continue };
        let fit = format!("only {} of {} can start within {total}", words::number(fast), words::tries(tries));
        let site = policy.total.limit.span().or(policy.backoff.base.span()).or(policy.attempts.span());
        let draft = findings.report(
            advice::site(policy, site),
            format!("{fit} of a {}: the delays between them take at least {}", ends.call(policy), delays.least),
        );
        draft.about(id, policy).label(fit).help(format!(
            "wait less, try less or allow more: {} holds {}, or set {}",
            delay_advice::total_timeout(policy, delay_advice::room(policy).unwrap_or(delays.greatest)),
            words::tries(tries),
            advice::tries(policy, fast),
        ));
        if let Some(span) = policy.backoff.base.span() {
            draft.related(span, format!("the least delays add up to {}", delays.least));
        }
        if let Some(slow) = slow_tries(policy, Waits::Least).filter(|slow| *slow < fast) {
            draft.note(format!("if each try runs into its own limit, {} of {} start", words::number(slow), words::number(tries)));
        }
    }
}
