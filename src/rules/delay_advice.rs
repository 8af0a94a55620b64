//! Delays in words, and what to write about them in the dialect at hand: shared by the rules about delays and times.

use super::advice::code;
use crate::facts::{BackoffKind, Dialect, Nanos, Policy, words};

/// How to give a policy a delay that grows, is capped and is spread.
pub(super) fn delay(policy: &Policy) -> String {
    let yaml = match policy.dialect {
        Dialect::Istio => "backoff: 100ms",
        Dialect::Envoy => "retry_back_off: { base_interval: 0.1s, max_interval: 1s }",
        Dialect::Dotnet => r#""BackoffType": "Exponential", "Delay": "00:00:00.200", "UseJitter": true"#,
        Dialect::Manifest | Dialect::Generic => "backoff: exponential, base: 100ms, cap: 2s, jitter: full",
        Dialect::Code => return "an exponential delay with a cap and jitter".to_owned(),
    };
    code(policy, yaml)
}

/// How to switch jitter on.
pub(super) fn jitter(policy: &Policy) -> String {
    match policy.dialect {
        Dialect::Dotnet => code(policy, r#""UseJitter": true"#),
        Dialect::Manifest | Dialect::Generic => code(policy, "jitter: full"),
        Dialect::Istio | Dialect::Envoy | Dialect::Code => "a random part that grows with the delay".to_owned(),
    }
}

/// How to cap delays at `cap`.
pub(super) fn cap(policy: &Policy, cap: Nanos) -> String {
    match policy.dialect {
        Dialect::Dotnet => format!("`\"MaxDelay\": \"{}\"`", cap.as_timespan()),
        Dialect::Envoy => code(policy, &format!("max_interval: {}s", cap.as_secs_f64())),
        Dialect::Manifest | Dialect::Generic => code(policy, &format!("cap: {}s", cap.as_secs_f64())),
        Dialect::Istio | Dialect::Code => format!("a largest delay of {cap}"),
    }
}

/// What the limit of one try is called, set to `limit`.
pub(super) fn attempt_timeout(policy: &Policy, limit: Nanos) -> String {
    let secs = limit.as_secs_f64();
    match policy.dialect {
        Dialect::Istio => code(policy, &format!("perTryTimeout: {secs}s")),
        Dialect::Envoy => code(policy, &format!("per_try_timeout: {secs}s")),
        Dialect::Dotnet => format!("`\"AttemptTimeout\": {{ \"Timeout\": \"{}\" }}`", limit.as_timespan()),
        Dialect::Manifest | Dialect::Generic => code(policy, &format!("timeout: {{ attempt: {secs}s }}")),
        Dialect::Code => format!("a limit of {limit} on each try"),
    }
}

/// What the limit of the whole call is called, set to `limit`.
pub(super) fn total_timeout(policy: &Policy, limit: Nanos) -> String {
    let secs = limit.as_secs_f64();
    match policy.dialect {
        Dialect::Istio | Dialect::Envoy => format!("{} on the route", code(policy, &format!("timeout: {secs}s"))),
        Dialect::Dotnet => format!("`\"TotalRequestTimeout\": {{ \"Timeout\": \"{}\" }}`", limit.as_timespan()),
        Dialect::Manifest | Dialect::Generic => code(policy, &format!("timeout: {{ total: {secs}s }}")),
        Dialect::Code => format!("a limit of {limit} around all tries"),
    }
}

/// The delays of a policy in words: `1 s, 2 s and 4 s`; of many the first three and the last, `1 s, 2 s, 4 s … 128 s`; of a
/// series without end the first three, `1 s, 2 s, 4 s …`.
pub(super) fn series(policy: &Policy) -> Option<String> {
    let nominal = |i| policy.delay(i).map(|delay| delay.nominal.to_string());
    if policy.backoff.kind.known() == Some(&BackoffKind::Fixed) {
        return nominal(1);
    }
    let retries = policy.tries().map(|tries| tries.saturating_sub(1));
    if let Some(retries) = retries.filter(|retries| *retries <= 4) {
        return Some(words::list(&(1..=retries).map(nominal).collect::<Option<Vec<_>>>()?));
    }
    let first = (1..=3).map(nominal).collect::<Option<Vec<_>>>()?.join(", ");
    Some(match retries {
        Some(retries) => format!("{first} … {}", nominal(retries)?),
        None => format!("{first} …"),
    })
}

/// The time that all tries and delays take together at most, the limit of the whole call left out.
pub(super) fn room(policy: &Policy) -> Option<Nanos> {
    let tries = policy.tries()?;
    Some(policy.attempt_limit()?.at()?.times(tries) + policy.delays(tries.saturating_sub(1))?.greatest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Attempts, Jitter};
    use crate::graph::nets::{code, written};

    #[test]
    fn a_long_series_ends_with_its_own_last_delay() {
        let series_of = |attempts| {
            let mut policy = code(2);
            policy.attempts = written(attempts);
            policy.backoff.kind = written(BackoffKind::Exponential);
            policy.backoff.base = written(Nanos::from_secs(1));
            policy.backoff.factor = written(2.0);
            policy.backoff.cap = written(crate::facts::Limit::None);
            policy.jitter = written(Jitter::NONE);
            series(&policy).unwrap()
        };
        assert_eq!(series_of(Attempts::Times(4)), "1 s, 2 s and 4 s");
        // Eight retries: the last one waits 2^7 s, not the 16 s of the fifth.
        assert_eq!(series_of(Attempts::Times(9)), "1 s, 2 s, 4 s … 128 s");
        assert_eq!(series_of(Attempts::Unbounded), "1 s, 2 s, 4 s …");
    }
}
