//! Jitter that stands still while the delay grows. Page: `rules/weak-jitter.md`.

use super::view::policies;
use super::{Findings, advice, delay_advice};
use crate::facts::{Dialect, Nanos, Purpose, words};
use crate::graph::System;

pub(super) fn check(system: &System, findings: &mut Findings) {
    for (id, policy, _) in policies(system) {
        // Nobody but this machine is spared.
        if policy.purpose == Purpose::Local {
            continue;
        }
        let Some(jitter) = policy.jitter.known().filter(|jitter| !jitter.is_none()) else { continue };
        let Some(last) = policy.last_delay().filter(|last| last.nominal >= system.limits.min_jitter_delay) else {
            continue;
        };
        let spread = last.spread();
        // Of a recursion of its own only the bounds are known: where they meet, the spread cannot be told.
        let is_untold = jitter.decorrelated && spread <= 0.0;
        if policy.tries().is_none_or(|tries| tries <= 2) || spread >= system.limits.min_jitter || is_untold {
            continue;
        }
        let width = last.greatest - last.least;
        let share = words::factor((spread * 100.0).round());
        let text = format!("the jitter spreads the last delay of {} by {width}, {share} % of it", last.nominal);
        let draft = findings.report(
            advice::site(policy, policy.jitter.span()),
            format!("{text}: callers that fail together come back together"),
        );
        draft.about(id, policy).label(text).help(match policy.dialect {
            Dialect::Istio | Dialect::Envoy | Dialect::Code => {
                "let the random part grow with the delay: half of each delay, for example".to_owned()
            }
            _ => format!("let the random part grow with the delay: {}", delay_advice::jitter(policy)),
        });
        if jitter.plus > Nanos::ZERO
            && let Some(first) = policy.delay(1)
        {
            draft.note(format!(
                "on the first delay of {} it is {} %",
                first.nominal,
                words::factor((first.spread() * 100.0).round())
            ));
        }
    }
}
