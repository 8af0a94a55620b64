//! How long a call may take at most, layer by layer from the callee outward (contracts.md D-14, math.md section 9).
//!
//! A layer goes on only after a failure that it retries, and not every failure may take long:
//!
//! - A callee that is slow may answer anything in the end: each response and each code may be late, and the connection may
//!   be lost at any time until then. So a layer that retries any of those repeats a slow try.
//! - A try that its layer cuts ends as `try-timeout`, at its limit. Further out it is what that layer makes of it: a 504
//!   behind an Envoy, and still a timeout behind code.
//! - A connection that is refused, a stream that is refused and an open breaker are told at once. Only where the time to
//!   connect is known by itself a `connect` may take that long.
//!
//! So of a layer with `n` tries all but the last take as long as the slowest failure that it retries, and the last as long as
//! the slowest end of any try. Three tries of Istio's default around a callee of 10 s take 10 s and the delays; with
//! `retryOn: 5xx` they take 30 s.

use super::handover::{Speaker, possible};
use super::{Edge, Nest};
use crate::facts::{Attempts, Check, Class, Classes, Facts, Limit, Measures, Nanos, Policy, Protocol, Upstream};

/// Failures that are told at once.
const AT_ONCE: Classes = Classes::of(&[Class::Connect, Class::Unsent, Class::BreakerOpen]);

/// A time that something takes at most, and whether a written number is among what it rests on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Slowest {
    /// None: no finite bound.
    pub(super) time: Option<Nanos>,
    pub(super) is_written: bool,
}

impl Slowest {
    /// The greater of two, for alternatives.
    pub(super) fn or(self, other: Slowest) -> Slowest {
        match (self.time, other.time) {
            (None, _) => self,
            (_, None) => other,
            (Some(a), Some(b)) if b > a => other,
            _ => self,
        }
    }
}

/// The lesser of two bounds, either of which may be missing.
pub(super) fn least(a: Option<Nanos>, b: Option<Nanos>) -> Option<Nanos> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, None) | (None, one) => one,
    }
}

/// What is added up: everything, or only the time in which a try runs (delays hold no slot of a pool).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sum {
    Everything,
    Tries,
    FirstTry,
}

/// How something ends, and how late at most.
#[derive(Clone, Copy, Debug)]
struct Ends {
    /// However it ends.
    whole: Slowest,
    /// With a failure of each class; the outer none if it cannot end so, the inner one if there is no bound.
    failing: [Option<Option<Nanos>>; Class::COUNT],
    /// Whether it never answers, so that nothing but a limit ends it.
    hangs: bool,
}

impl Ends {
    /// A callee that answers within a time, if it is not known to hang.
    fn of(callee: Slowest, protocol: Protocol, hangs: bool) -> Ends {
        let mut ends = Ends { whole: callee, failing: [None; Class::COUNT], hangs };
        let answers = possible(protocol).without(AT_ONCE).without(Classes::of(&[Class::TryTimeout]));
        if !hangs {
            answers.iter().for_each(|class| ends.put(class, callee.time));
        }
        ends
    }

    /// It may also end so, and so late.
    fn put(&mut self, class: Class, time: Option<Nanos>) {
        if let Some(slot) = self.failing.get_mut(class as usize) {
            *slot = Some(match *slot {
                Some(before) => before.zip(time).map(|(a, b)| a.max(b)),
                None => time,
            });
        }
    }

    fn classes(&self) -> impl Iterator<Item = (Class, Option<Nanos>)> {
        Class::ALL.into_iter().zip(self.failing).filter_map(|(class, time)| Some((class, time?)))
    }

    /// Either of two alternatives.
    fn or(mut self, other: Ends) -> Ends {
        other.classes().for_each(|(class, time)| self.put(class, time));
        self.whole = self.whole.or(other.whole);
        self
    }
}

/// Whether a policy may try again after a slow try.
pub fn repeats_slow(policy: &Policy, protocol: Protocol) -> bool {
    policy.may_retry() && !retried(policy).and(possible(protocol)).without(AT_ONCE).is_empty()
}

fn retried(policy: &Policy) -> Classes {
    policy.retries_on.known().copied().unwrap_or(Classes::ASSUMED)
}

/// The slowest answer of one policy, if nothing but its own limits ends a try. None: no finite bound.
pub fn slowest(policy: &Policy, protocol: Protocol) -> Option<Nanos> {
    let callee = Ends::of(Slowest::default(), protocol, false);
    around(policy, None, protocol, &callee, Sum::Everything).whole.time
}

/// The time to connect that comes on top of each try, where the attempt limit starts on an open connection and the time
/// is written: for this callee, else with the policy. A default one never counts (D-14).
fn connect_time(policy: &Policy, upstream: Option<&Upstream>) -> Nanos {
    let Some(own) = &policy.connect_timeout else { return Nanos::ZERO };
    let for_callee = upstream.map(|upstream| &upstream.connect_timeout);
    let mut written = for_callee.into_iter().chain([own]).filter(|connect| connect.is_written());
    written.find_map(|connect| connect.limit().copied()).unwrap_or_default()
}

/// How a policy ends around something that ends as `inner`. `upstream`: settings for its callee.
fn around(policy: &Policy, upstream: Option<&Upstream>, protocol: Protocol, inner: &Ends, sum: Sum) -> Ends {
    let limit = match policy.attempt_limit() {
        Some(Limit::At(limit)) => Some(limit),
        // An unknown limit can only shorten what is inside.
        _ => None,
    };
    let connect = connect_time(policy, upstream);
    let hedged = hedged(policy);
    let attempt = |time: Option<Nanos>| Some(least(limit, time)? + connect + hedged?);

    // Whatever lies inside, it may not be reached, and what is under way may be lost.
    let mut tries = *inner;
    AT_ONCE.iter().for_each(|class| tries.put(class, Some(Nanos::ZERO)));
    if !inner.hangs {
        tries.put(Class::Reset, inner.whole.time);
    }
    if let Some(limit) = limit.filter(|limit| inner.whole.time.is_none_or(|time| time > *limit)) {
        tries.put(Class::TryTimeout, Some(limit));
    }

    let on = retried(policy).and(possible(protocol));
    let repeated = tries.classes().filter(|(class, _)| on.contains(*class)).map(|(_, time)| attempt(time));
    // None: nothing that it retries can happen.
    let repeated = repeated.reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b)));
    let count = match policy.attempts.known() {
        _ if sum == Sum::FirstTry || repeated.is_none() => Some(1),
        Some(Attempts::Times(n)) => Some((*n).max(1)),
        _ => None,
    };
    // Some code waits once more when the last try has failed.
    let waits_in_vain = policy.in_code.as_ref().is_some_and(|code| code.sleep_after_last.is_some());
    let delays = |n: u64| match sum {
        Sum::Everything if waits_in_vain && n > 1 => policy.delays(n).map(|sum| sum.greatest),
        Sum::Everything => policy.delays(n - 1).map(|sum| sum.greatest),
        Sum::Tries | Sum::FirstTry => Some(Nanos::ZERO),
    };
    // All tries but the last.
    let before = |n: u64| if n == 1 { Some(Nanos::ZERO) } else { Some(repeated??.times(n - 1)) };
    let counted = |last: Option<Nanos>| Some(before(count?)? + last? + delays(count?)?);
    let in_all = |last: Option<Nanos>| match (policy.total.limit.limit().copied(), policy.total.measures) {
        (None, _) => counted(last),
        (Some(total), Measures::Wall) => {
            let cut = match policy.total.check {
                Check::Cuts => Some(total),
                // It only stops a further try, and the last one may begin just before.
                Check::BetweenAttempts => last.map(|last| total + last),
            };
            least(cut, counted(last))
        }
        (Some(total), Measures::Delays) => count.and_then(|n| {
            let waited = delays(n).map_or(total, |sum| sum.min(total));
            Some(before(n)? + last? + waited)
        }),
    };
    let goes_on =
        count != Some(1) && (repeated != Some(Some(Nanos::ZERO)) || count.and_then(delays) != Some(Nanos::ZERO));
    let is_written = (limit.is_some() && policy.attempt_timeout.is_written())
        || (policy.total.limit.limit().is_some() && policy.total.limit.is_written())
        || (goes_on && (policy.attempts.is_written() || policy.backoff.base.is_written()))
        || connect > Nanos::ZERO
        || (inner.whole.time.is_some() && inner.whole.is_written);

    let last = attempt(inner.whole.time);
    let whole = Slowest { time: in_all(last), is_written };
    let mut ends = Ends { whole, failing: [None; Class::COUNT], hangs: inner.hangs };
    let speaker = Speaker::of(policy);
    let cuts = policy.total.limit.limit().is_some() && policy.total.check == Check::Cuts;
    let cut = (cuts && whole.time != counted(last)).then_some((Class::TryTimeout, whole.time));
    for (class, time) in tries.classes().map(|(class, time)| (class, in_all(attempt(time)))).chain(cut) {
        speaker.hands_out(class, protocol).iter().for_each(|class| ends.put(class, time));
    }
    ends
}

/// The time until the last copy of a hedged try is sent. None if it is unknown. A copy that counts as a try has its time
/// among the tries.
fn hedged(policy: &Policy) -> Option<Nanos> {
    match &policy.hedging {
        Some(hedging) if !hedging.counts_as_try => Some(hedging.delay.known()?.times(*hedging.copies.known()?)),
        _ => Some(Nanos::ZERO),
    }
}

/// The slowest answer of a call whose callee answers within `callee`: layers folded from the inside out, of alternatives
/// the greatest.
pub(super) fn fold(facts: &Facts, edge: &Edge, callee: Slowest) -> Slowest {
    through(facts, edge, callee, Sum::Everything, false)
}

fn through(facts: &Facts, edge: &Edge, callee: Slowest, sum: Sum, hangs: bool) -> Slowest {
    let protocol = edge.protocol.unwrap_or(Protocol::Http);
    let inner = Ends::of(callee, protocol, hangs);
    let ends = edge.layers.iter().rev().fold(inner, |inner, layer| {
        let of_nest = |nest: &Nest| {
            let upstream = nest.upstream.and_then(|at| facts.upstreams.get(at as usize));
            let policies = nest.policies.iter().rev().filter_map(|id| facts.policy(*id));
            policies.fold(inner, |inner, policy| {
                let sum = if edge.may_repeat(policy) { sum } else { Sum::FirstTry };
                around(policy, upstream, protocol, &inner, sum)
            })
        };
        layer.alternatives.iter().map(of_nest).reduce(Ends::or).unwrap_or(inner)
    });
    ends.whole
}

/// How long a call holds a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// If its first try is slow and no other follows.
    pub once: Nanos,
    /// If all of its tries are, without the delays between them.
    pub all: Nanos,
}

/// How long a call holds a connection if its callee never answers. None if nothing ends it.
pub fn held(facts: &Facts, edge: &Edge) -> Option<Held> {
    let hanging = |sum| through(facts, edge, Slowest::default(), sum, true).time;
    Some(Held { once: hanging(Sum::FirstTry)?, all: hanging(Sum::Tries)? })
}

#[cfg(test)]
#[path = "slowest_tests.rs"]
mod tests;
