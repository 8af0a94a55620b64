//! How many tries of one policy fit into a limit (math.md section 8). Two answers, both needed: when every try runs into
//! its own limit, and when every try fails at once. Amplification never goes by the first: a total limit does not hold
//! back what fails fast.

use super::slowest::repeats_slow;
use crate::facts::{Attempts, Limit, Measures, Nanos, Policy, Protocol};

/// Tries that are looked at one by one; from there on all are as far apart as the last two.
const SERIES: u64 = 4096;

/// How a try fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// At once: a refused connection, a 503.
    Fast,
    /// By running into its attempt limit, or a little before. What repeats nothing that may take so long goes on after fast
    /// failures only.
    Slow(Protocol),
}

/// Which delays are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// The least ones: what does not fit even then can never run.
    Least,
    /// The nominal ones: what is typical.
    Nominal,
}

/// The time from the start of try `i` (from 1) to that of the next. None if it is unknown; `Some(None)` if the next never
/// starts by itself, since nothing ends a slow try.
fn step(policy: &Policy, i: u64, pace: Pace, waits: Waits) -> Option<Option<Nanos>> {
    let delay = policy.delay(i)?;
    let delay = match waits {
        Waits::Least => delay.least,
        Waits::Nominal => delay.nominal,
    };
    let is_slow = matches!(pace, Pace::Slow(protocol) if repeats_slow(policy, protocol));
    if !is_slow || policy.total.measures == Measures::Delays {
        return Some(Some(delay));
    }
    // The attempt limit alone, without the time to connect: what does not fit even then can never run.
    Some(match policy.attempt_limit()? {
        Limit::At(limit) => Some(limit + delay),
        Limit::None => None,
    })
}

/// Tries of a policy, if they are known; `u64::MAX` without end.
fn count(policy: &Policy) -> Option<u64> {
    Some(match policy.attempts.known()? {
        Attempts::Times(n) => (*n).max(1),
        Attempts::Unbounded | Attempts::ByTime => u64::MAX,
    })
}

/// How many tries start before `limit`. None if that is unknown; `u64::MAX` if there is no end to them.
pub fn tries_within(policy: &Policy, limit: Nanos, pace: Pace, waits: Waits) -> Option<u64> {
    let count = count(policy)?;
    let (mut at, mut tries) = (Nanos::ZERO, 1);
    while tries < count {
        let Some(gap) = step(policy, tries, pace, waits)? else { break };
        if tries >= SERIES {
            let Some(more) = (limit - at).0.saturating_sub(1).checked_div(gap.0) else { return Some(count) };
            return Some(tries.saturating_add(more).min(count));
        }
        at = at + gap;
        if at >= limit {
            break;
        }
        tries += 1;
    }
    Some(tries)
}

/// How many tries start within the policy's own total; all of them if it has none. None if that is unknown.
fn within_total(policy: &Policy, pace: Pace, waits: Waits) -> Option<u64> {
    match policy.total.limit.known()? {
        Limit::At(limit) => tries_within(policy, *limit, pace, waits),
        Limit::None => count(policy),
    }
}

/// Tries that start within the total if each runs into its attempt limit. None if that is unknown, or if no other follows
/// a slow one.
pub fn slow_tries(policy: &Policy, protocol: Protocol, waits: Waits) -> Option<u64> {
    if repeats_slow(policy, protocol) { within_total(policy, Pace::Slow(protocol), waits) } else { None }
}

/// When each try starts, those past the total left out; at most 1,000. None if that is unknown.
pub fn starts(policy: &Policy, pace: Pace, waits: Waits) -> Option<Vec<Nanos>> {
    let tries = within_total(policy, pace, waits)?.min(1000);
    let mut at = Nanos::ZERO;
    let mut starts = vec![at];
    for i in 1..tries {
        let Some(gap) = step(policy, i, pace, waits)? else { break };
        at = at + gap;
        starts.push(at);
    }
    Some(starts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{AttemptTimeoutFlaw, Class, Classes, Jitter};
    use crate::graph::nets::{code, of_unknown_tries, on, timed, waiting, written};

    /// Tries that start within the total if each fails at once.
    fn fast_tries(policy: &Policy) -> Option<u64> {
        within_total(policy, Pace::Fast, Waits::Least)
    }

    fn slow(policy: &Policy) -> Option<u64> {
        slow_tries(policy, Protocol::Http, Waits::Least)
    }

    fn starts_in_secs(policy: &Policy, waits: Waits) -> Vec<u64> {
        let starts = starts(policy, Pace::Slow(Protocol::Http), waits).unwrap();
        starts.into_iter().map(|at| at.0 / 1_000_000_000).collect()
    }

    /// [T-34]
    #[test]
    fn a_total_limit_holds_back_slow_failures_only() {
        let policy = timed(Some(1000), Some(2000), code(4));
        assert_eq!((slow(&policy), fast_tries(&policy)), (Some(2), Some(4)));
        assert_eq!(starts_in_secs(&policy, Waits::Least), [0, 1]);
        // The near miss: a nanosecond more and the third starts.
        let policy = timed(Some(1000), Some(2001), code(4));
        assert_eq!(slow(&policy), Some(3));
    }

    /// [T-35]
    #[test]
    fn delays_count_against_the_total() {
        let policy = timed(Some(3000), Some(10_000), waiting(&[1000, 2000, 4000], Jitter::NONE, code(4)));
        assert_eq!(slow(&policy), Some(3));
        assert_eq!(starts_in_secs(&policy, Waits::Least), [0, 4, 9]);
    }

    /// [T-36]: the third try starts at 26 s; the fourth would after 44 s.
    #[test]
    fn the_fourth_try_of_the_standard_handler_never_starts() {
        let policy = timed(Some(10_000), Some(30_000), waiting(&[2000, 4000, 8000], Jitter::NONE, code(4)));
        assert_eq!(slow_tries(&policy, Protocol::Http, Waits::Nominal), Some(3));
        assert_eq!(starts_in_secs(&policy, Waits::Nominal), [0, 12, 26]);
    }

    /// [T-37], [T-39], [T-40], [T-45]: what is left of the try is the total.
    #[test]
    fn an_attempt_limit_that_is_not_below_the_total_leaves_one_slow_try() {
        let kourier = timed(Some(600_000), Some(600_000), code(4));
        assert_eq!(slow(&kourier), Some(1));
        let grpc = timed(None, Some(2000), code(5));
        assert_eq!((slow(&grpc), fast_tries(&grpc)), (Some(1), Some(5)));
        let mut envoy = timed(Some(20_000), Some(15_000), code(3));
        let total = envoy.total.limit.clone();
        envoy.attempt_timeout_flaw = Some(AttemptTimeoutFlaw::NotBelowTotal(total));
        assert_eq!(slow(&envoy), Some(1));
        let client = timed(Some(25_000), Some(15_000), code(4));
        assert_eq!(slow(&client), Some(1));
        // [T-40], the same file in Istio, which has no route timeout by default.
        let istio = timed(Some(20_000), None, code(3));
        assert_eq!(slow(&istio), Some(3));
    }

    /// [T-38]
    #[test]
    fn full_jitter_may_wait_for_nothing() {
        let fixed = timed(Some(50), Some(150), waiting(&[435, 870], Jitter::NONE, code(3)));
        assert_eq!((slow(&fixed), fast_tries(&fixed)), (Some(1), Some(1)));
        let full = timed(Some(50), Some(150), waiting(&[435, 870], Jitter::FULL, code(3)));
        assert_eq!((slow_tries(&full, Protocol::Http, Waits::Nominal), fast_tries(&full)), (Some(1), Some(3)));
    }

    /// [T-43]: behind a caller that leaves after 2 s, two of three tries start.
    #[test]
    fn a_caller_that_leaves_bounds_the_tries_that_it_waits_for() {
        let policy = timed(Some(1000), None, waiting(&[100, 200], Jitter::NONE, code(3)));
        assert_eq!(tries_within(&policy, Nanos::from_secs(2), Pace::Slow(Protocol::Http), Waits::Least), Some(2));
        let starts = starts(&policy, Pace::Slow(Protocol::Http), Waits::Least).unwrap();
        assert_eq!(starts, [0, 1100, 2300].map(Nanos::from_millis));
    }

    /// Three tries of 2 s within 3 s: of slow ones two start. What repeats refused connections alone has no slow tries
    /// beyond the first, and goes on after fast ones.
    #[test]
    fn what_repeats_nothing_slow_has_no_slow_tries() {
        let policy = |classes| timed(Some(2000), Some(3000), waiting(&[100, 100], Jitter::NONE, on(classes, code(3))));
        let classes = Classes::of(&[Class::Connect, Class::Unavailable]);
        let (http, grpc) = (Protocol::Http, Protocol::Grpc);
        assert_eq!(slow_tries(&policy(classes), http, Waits::Least), None);
        assert_eq!(slow_tries(&policy(classes), grpc, Waits::Least), Some(2));
        assert_eq!(slow_tries(&policy(Classes::of(&[Class::Overload])), http, Waits::Least), Some(2));
        assert_eq!(fast_tries(&policy(classes)), Some(3));
        let starts = starts(&policy(classes), Pace::Slow(http), Waits::Least).unwrap();
        assert_eq!(starts, [0, 100, 200].map(Nanos::from_millis));
    }

    #[test]
    fn huge_and_endless_counts_come_to_an_end() {
        let limited = |policy| timed(Some(1), Some(10_000), policy);
        assert_eq!(slow(&limited(code(u64::MAX))), Some(10_000));
        let mut endless = limited(code(1));
        endless.attempts = written(Attempts::Unbounded);
        assert_eq!((slow(&endless), fast_tries(&endless)), (Some(10_000), Some(u64::MAX)));
        assert_eq!(slow(&of_unknown_tries(limited(code(1)))), None);
    }
}
