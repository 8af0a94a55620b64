//! The arithmetic of delays (math.md section 7): single delays, their sums, their spread, the waves that they make.

use super::{Backoff, BackoffKind, Jitter, JitterAt, Limit, Nanos, Policy, Sourced};
use crate::source::Span;

/// Delays that are looked at one by one; from there on the last one stands for the rest. Growth has reached its cap or
/// the end of [`Nanos`] long before, so only a linear series without a cap is cut short.
const SERIES: u64 = 4096;

/// One delay between two tries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delay {
    /// Without its random part, capped.
    pub nominal: Nanos,
    /// At least so long.
    pub least: Nanos,
    /// At most so long.
    pub greatest: Nanos,
    /// On average so long.
    pub mean: Nanos,
}

impl Delay {
    /// `(greatest - least) / nominal`: 0 without jitter, 1 with full jitter. A delay of zero spreads nothing.
    pub fn spread(&self) -> f64 {
        if self.nominal == Nanos::ZERO {
            return if self.greatest > self.least { f64::INFINITY } else { 0.0 };
        }
        (self.greatest - self.least).0 as f64 / self.nominal.0 as f64
    }
}

impl std::ops::Add for Delay {
    type Output = Delay;
    fn add(self, other: Delay) -> Delay {
        Delay {
            nominal: self.nominal + other.nominal,
            least: self.least + other.least,
            greatest: self.greatest + other.greatest,
            mean: self.mean + other.mean,
        }
    }
}

impl Delay {
    fn times(self, n: u64) -> Delay {
        Delay {
            nominal: self.nominal.times(n),
            least: self.least.times(n),
            greatest: self.greatest.times(n),
            mean: self.mean.times(n),
        }
    }
}

impl Backoff {
    /// No delay at all, as it is written at `at`.
    pub fn at_once(at: Span) -> Backoff {
        Backoff {
            kind: Sourced::written(BackoffKind::None, at),
            base: Sourced::written(Nanos::ZERO, at),
            factor: Sourced::written(1.0, at),
            cap: Sourced::written(Limit::None, at),
            skip: 0,
        }
    }

    /// The cap, if it is known; `Nanos::MAX` for none.
    fn ceiling(&self) -> Option<Nanos> {
        self.cap.known().map(|cap| cap.at().unwrap_or(Nanos::MAX))
    }

    /// Delay `i` (from 1) before the cap. None if what it rests on is unknown.
    fn uncapped(&self, i: u64) -> Option<Nanos> {
        let i = i.max(1).saturating_add(u64::from(self.skip));
        let base = || self.base.known().copied();
        Some(match self.kind.known()? {
            BackoffKind::None => Nanos::ZERO,
            BackoffKind::Fixed => base()?,
            BackoffKind::Linear => base()?.times(i),
            BackoffKind::Exponential => {
                let power = i32::try_from(i - 1).unwrap_or(i32::MAX);
                base()?.scale(self.factor.known()?.powi(power))
            }
            BackoffKind::Fibonacci => base()?.times(fibonacci(i)),
            BackoffKind::Schedule(delays) => {
                let at = usize::try_from(i - 1).unwrap_or(usize::MAX);
                delays.get(at).or(delays.last()).copied().unwrap_or_default()
            }
        })
    }

    /// The first delay that is waited, before the cap: the base, unless delays are left out at the beginning. None if what it
    /// rests on is unknown.
    pub fn first(&self) -> Option<Nanos> {
        if self.skip == 0 { self.base.known().copied() } else { self.uncapped(1) }
    }

    /// The nominal delay before retry `i` (from 1). None if what it rests on is unknown.
    pub fn nominal(&self, i: u64) -> Option<Nanos> {
        if let Some(BackoffKind::None) = self.kind.known() {
            return Some(Nanos::ZERO);
        }
        Some(self.uncapped(i)?.min(self.ceiling()?))
    }

    /// The delay before retry `i` (from 1) with its random part. None if what it rests on is unknown.
    pub fn delay(&self, i: u64, jitter: &Jitter) -> Option<Delay> {
        let nominal = self.nominal(i)?;
        if let Some(BackoffKind::None) = self.kind.known() {
            return Some(Delay::default());
        }
        let cap = self.ceiling()?;
        if jitter.decorrelated {
            return Some(self.decorrelated(i, nominal, cap, jitter));
        }
        // Where the spread delay is capped, the cap holds; where the cap comes first, the random part may exceed it.
        let (spread, cap) = match jitter.at {
            JitterAt::BeforeCap => (self.uncapped(i)?, cap),
            JitterAt::AfterCap => (nominal, Nanos::MAX),
        };
        let low = spread.scale(jitter.low).max(jitter.least);
        let high = (spread.scale(jitter.high) + jitter.plus).max(low);
        let (least, greatest) = (low.min(cap), high.min(cap));
        Some(Delay { nominal, least, greatest, mean: mean_of_capped(low, high, cap) })
    }

    /// Each delay is uniform between the first one and `high` times the one before.
    fn decorrelated(&self, i: u64, nominal: Nanos, cap: Nanos, jitter: &Jitter) -> Delay {
        let base = self.base.known().copied().unwrap_or(nominal);
        let power = i32::try_from(i).unwrap_or(i32::MAX);
        let greatest = base.scale(jitter.high.powi(power)).min(cap);
        // The mean follows the recursion m(i) = (base + high * m(i - 1)) / 2, until it stands at the cap.
        let mut mean = base;
        for _ in 0..i.min(64) {
            mean = Nanos((base + mean.scale(jitter.high)).0 / 2).min(cap);
        }
        Delay { nominal, least: base.min(cap), greatest, mean }
    }

    /// The sum of the first `n` delays.
    pub fn sum(&self, n: u64, jitter: &Jitter) -> Option<Delay> {
        let mut sum = Delay::default();
        let mut previous = None;
        let flat_from = match self.kind.known()? {
            // Within a schedule, two equal neighbours say nothing about what follows.
            BackoffKind::Schedule(delays) => delays.len() as u64,
            // Fibonacci begins with 1, 1.
            _ => 3,
        };
        for i in 1..=n {
            let delay = self.delay(i, jitter)?;
            sum = sum + delay;
            if i >= SERIES || (i >= flat_from && previous == Some(delay)) {
                return Some(sum + delay.times(n - i));
            }
            previous = Some(delay);
        }
        Some(sum)
    }

    /// Whether one of the first `n` delays is held down by the cap. None if that cannot be told.
    pub fn reaches_cap(&self, n: u64) -> Option<bool> {
        let cap = self.ceiling()?;
        if cap == Nanos::MAX || n == 0 {
            return Some(false);
        }
        for i in 1..=n.min(SERIES) {
            if self.uncapped(i)? >= cap {
                return Some(true);
            }
        }
        Some(false)
    }

    /// When each try starts if every one fails at once and no delay is spread: 0, then the sums of nominal delays. At most
    /// 1,000 tries.
    pub fn waves(&self, tries: u64) -> Option<Vec<Nanos>> {
        let mut at = Nanos::ZERO;
        let mut waves = vec![at];
        for i in 1..tries.min(1000) {
            at = at + self.nominal(i)?;
            waves.push(at);
        }
        Some(waves)
    }

    /// How many tries fit into `limit` if each takes no time and each delay its mean (contracts.md D-11). None if that is
    /// unknown, `Some(None)` if it is more than `most`.
    pub fn tries_within(&self, limit: Nanos, jitter: &Jitter, most: u64) -> Option<Option<u64>> {
        let mut at = Nanos::ZERO;
        for tries in 1..=most {
            at = at + self.delay(tries, jitter)?.mean;
            if at >= limit {
                return Some(Some(tries));
            }
        }
        Some(None)
    }
}

impl Policy {
    /// The delay before retry `i` (from 1). None if it is unknown.
    pub fn delay(&self, i: u64) -> Option<Delay> {
        self.backoff.delay(i, self.known_jitter()?)
    }

    /// The sum of the first `n` delays. None if it is unknown.
    pub fn delays(&self, n: u64) -> Option<Delay> {
        if n == 0 {
            return Some(Delay::default());
        }
        self.backoff.sum(n, self.known_jitter()?)
    }

    /// The last delay of a policy whose tries are counted: the one before its last try.
    pub fn last_delay(&self) -> Option<Delay> {
        match self.tries()? {
            0 | 1 => None,
            tries => self.delay(tries - 1),
        }
    }

    /// The jitter; without any delay there is nothing that it could spread, known or not.
    fn known_jitter(&self) -> Option<&Jitter> {
        match self.backoff.kind.known() {
            Some(BackoffKind::None) => Some(&Jitter::NONE),
            _ => self.jitter.known(),
        }
    }
}

/// The mean of a uniform delay in `[low, high]` of which everything above `cap` becomes `cap`.
fn mean_of_capped(low: Nanos, high: Nanos, cap: Nanos) -> Nanos {
    if high <= cap || low >= high {
        return Nanos(low.0 / 2 + high.0 / 2 + (low.0 & high.0 & 1)).min(cap);
    }
    if low >= cap {
        return cap;
    }
    let (low, high, cap) = (low.0 as f64, high.0 as f64, cap.0 as f64);
    let below = (cap - low) / (high - low);
    Nanos((below * (low + cap) / 2.0 + (1.0 - below) * cap).round() as u64)
}

/// The `i`-th Fibonacci number, from 1: 1, 1, 2, 3, 5 …
fn fibonacci(i: u64) -> u64 {
    let (mut a, mut b) = (0_u64, 1_u64);
    for _ in 0..i.min(100) {
        (a, b) = (b, a.saturating_add(b));
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Limit, Sourced};

    fn known<T>(value: T) -> Sourced<T> {
        Sourced::default_of(value, "a test", "value")
    }

    fn millis(n: u64) -> Nanos {
        Nanos::from_millis(n)
    }

    fn secs(n: u64) -> Nanos {
        Nanos::from_secs(n)
    }

    fn backoff(kind: BackoffKind, base: Nanos, factor: f64, cap: Limit<Nanos>) -> Backoff {
        Backoff { kind: known(kind), base: known(base), factor: known(factor), cap: known(cap), skip: 0 }
    }

    fn doubling(base: Nanos, cap: Limit<Nanos>) -> Backoff {
        backoff(BackoffKind::Exponential, base, 2.0, cap)
    }

    /// [T-27], [T-33]: 2, 4, 8, 16, 32 s with 0 to 1000 ms added.
    #[test]
    fn a_constant_jitter_is_decoration_in_the_tail() {
        let (series, jitter) = (doubling(secs(2), Limit::None), Jitter::additive(secs(1)));
        let nominal: Vec<u64> = (1..=5).map(|i| series.nominal(i).unwrap().0 / 1_000_000_000).collect();
        assert_eq!(nominal, [2, 4, 8, 16, 32]);
        let sum = series.sum(5, &jitter).unwrap();
        assert_eq!((sum.least, sum.nominal, sum.greatest, sum.mean), (secs(62), secs(62), secs(67), millis(64_500)));
        let spreads: Vec<f64> = (1..=5).map(|i| series.delay(i, &jitter).unwrap().spread()).collect();
        assert_eq!(spreads, [0.5, 0.25, 0.125, 0.0625, 0.03125]);
        assert_eq!(series.waves(6).unwrap(), [0, 2, 6, 14, 30, 62].map(secs));
    }

    /// [T-28], [T-33]
    #[test]
    fn a_cap_beyond_the_series_is_never_reached() {
        let series = doubling(secs(1), Limit::At(secs(30)));
        assert_eq!(series.sum(4, &Jitter::NONE).unwrap().nominal, secs(15));
        assert_eq!(series.reaches_cap(4), Some(false));
        // The near miss: two retries later it is (32 s).
        assert_eq!(series.reaches_cap(6), Some(true));
        assert_eq!(series.nominal(6), Some(secs(30)));
        assert_eq!(series.waves(5).unwrap(), [0, 1, 3, 7, 15].map(secs));
    }

    /// [T-29]
    #[test]
    fn full_jitter_reaches_from_nothing_to_the_ceiling() {
        let series = doubling(millis(500), Limit::At(secs(8)));
        let greatest: Vec<Nanos> = (1..=3).map(|i| series.delay(i, &Jitter::FULL).unwrap().greatest).collect();
        assert_eq!(greatest, [millis(500), secs(1), secs(2)]);
        let sum = series.sum(3, &Jitter::FULL).unwrap();
        assert_eq!((sum.least, sum.greatest, sum.mean), (Nanos::ZERO, millis(3500), millis(1750)));
        assert_eq!(series.reaches_cap(3), Some(false));
    }

    /// [T-30]: the tenth delay with exponent i - 1, and with exponent i.
    #[test]
    fn an_exponential_without_a_cap_doubles_to_the_end() {
        let mut series = doubling(secs(1), Limit::None);
        assert_eq!(series.nominal(10), Some(secs(512)));
        series.skip = 1;
        assert_eq!(series.nominal(10), Some(secs(1024)));
        assert_eq!(series.first(), Some(secs(2)));
        series.skip = 0;
        assert_eq!(series.first(), Some(secs(1)));
    }

    /// [T-31]: three sleeps, of which two are followed by a try.
    #[test]
    fn a_sleep_after_the_last_try_is_no_delay_between_tries() {
        let series = doubling(secs(1), Limit::None);
        assert_eq!(series.sum(2, &Jitter::NONE).unwrap().nominal, secs(3));
        assert_eq!(series.sum(3, &Jitter::NONE).unwrap().nominal, secs(7));
    }

    /// M-1: Envoy's default, 25 ms doubling up to 250 ms, uniform from zero.
    #[test]
    fn envoy_delays_are_as_measured() {
        let series = doubling(millis(25), Limit::At(millis(250)));
        let delays: Vec<Delay> = (1..=5).map(|i| series.delay(i, &Jitter::FULL).unwrap()).collect();
        assert_eq!(delays.iter().map(|d| d.greatest).collect::<Vec<_>>(), [25, 50, 100, 200, 250].map(millis));
        assert!(delays.iter().all(|d| d.least == Nanos::ZERO));
        // Base and cap of 100 ms: 100 ms each time.
        let flat = doubling(millis(100), Limit::At(millis(100)));
        assert!((1..=4).all(|i| flat.delay(i, &Jitter::FULL).unwrap().greatest == millis(100)));
    }

    /// The rows of math.md 7.
    #[test]
    fn every_jitter_has_its_interval() {
        let series = backoff(BackoffKind::Fixed, secs(1), 1.0, Limit::None);
        let of = |jitter: Jitter| {
            let delay = series.delay(1, &jitter).unwrap();
            (delay.least, delay.greatest, delay.mean)
        };
        assert_eq!(of(Jitter::NONE), (secs(1), secs(1), secs(1)));
        assert_eq!(of(Jitter::FULL), (Nanos::ZERO, secs(1), millis(500)));
        assert_eq!(of(Jitter::EQUAL), (millis(500), secs(1), millis(750)));
        assert_eq!(of(Jitter::proportional(0.25)), (millis(750), millis(1250), secs(1)));
        assert_eq!(of(Jitter::additive(secs(1))), (secs(1), secs(2), millis(1500)));
        // From half a second to the delay, whatever that has grown to; not less than its floor, if that is above the delay.
        let bounded = Jitter { least: millis(500), ..Jitter::FULL };
        let delays = doubling(millis(250), Limit::None);
        let of = |i: u64| delays.delay(i, &bounded).map(|delay| (delay.least, delay.greatest, delay.mean));
        assert_eq!(of(4), Some((millis(500), secs(2), millis(1250))));
        assert_eq!(of(1), Some((millis(500), millis(500), millis(500))));
    }

    #[test]
    fn decorrelated_jitter_follows_its_own_recursion() {
        let series = doubling(secs(1), Limit::At(secs(20)));
        let delays: Vec<Delay> = (1..=4).map(|i| series.delay(i, &Jitter::DECORRELATED).unwrap()).collect();
        assert!(delays.iter().all(|d| d.least == secs(1)));
        assert_eq!(delays.iter().map(|d| d.greatest).collect::<Vec<_>>(), [3, 9, 20, 20].map(secs));
        // m(1) = (1 + 3) / 2, m(2) = (1 + 6) / 2
        assert_eq!(delays[0].mean, secs(2));
        assert_eq!(delays[1].mean, millis(3500));
    }

    #[test]
    fn jitter_after_the_cap_exceeds_it_and_before_it_does_not() {
        let series = doubling(secs(1), Limit::At(secs(2)));
        let after = Jitter { at: JitterAt::AfterCap, ..Jitter::proportional(0.5) };
        assert_eq!(series.delay(3, &after).unwrap().greatest, secs(3));
        assert_eq!(series.delay(2, &Jitter::proportional(0.5)).unwrap().greatest, secs(2));
        // 4 s ± 2 s, cut at 2 s: always 2 s. Spread first and capped then, the jitter is gone.
        let delay = series.delay(3, &Jitter::proportional(0.5)).unwrap();
        assert_eq!((delay.least, delay.greatest, delay.spread()), (secs(2), secs(2), 0.0));
    }

    #[test]
    fn linear_fibonacci_and_schedules_grow_in_their_own_way() {
        let sum = |b: Backoff, n| b.sum(n, &Jitter::NONE).unwrap().nominal;
        assert_eq!(sum(backoff(BackoffKind::Linear, secs(1), 1.0, Limit::None), 4), secs(10));
        assert_eq!(sum(backoff(BackoffKind::Fibonacci, secs(1), 1.0, Limit::None), 6), secs(20));
        let schedule = BackoffKind::Schedule(vec![secs(1), secs(1), secs(5)]);
        assert_eq!(sum(backoff(schedule, Nanos::ZERO, 1.0, Limit::None), 5), secs(17));
        assert_eq!(sum(backoff(BackoffKind::Fixed, secs(2), 1.0, Limit::None), 1_000_000), secs(2_000_000));
        assert_eq!(sum(backoff(BackoffKind::None, secs(2), 1.0, Limit::None), 9), Nanos::ZERO);
    }

    /// D-11: the crate backoff's default, 0.5 s growing by half to 60 s, ± 50 %, for 15 min.
    #[test]
    fn tries_that_end_by_time_are_counted_with_mean_delays() {
        let series = backoff(BackoffKind::Exponential, millis(500), 1.5, Limit::At(secs(60)));
        let jitter = Jitter { at: JitterAt::AfterCap, ..Jitter::proportional(0.5) };
        assert_eq!(series.tries_within(secs(900), &jitter, 1000), Some(Some(25)));
        let none = backoff(BackoffKind::None, Nanos::ZERO, 1.0, Limit::None);
        assert_eq!(none.tries_within(secs(900), &Jitter::NONE, 1000), Some(None));
    }

    #[test]
    fn huge_counts_and_unknown_parts_do_no_harm() {
        let series = doubling(secs(1), Limit::None);
        assert_eq!(series.sum(u64::MAX, &Jitter::NONE).unwrap().greatest, Nanos::MAX);
        let linear = backoff(BackoffKind::Linear, secs(1), 1.0, Limit::None);
        assert!(linear.sum(u64::MAX, &Jitter::FULL).is_some());
        let mut unknown = doubling(secs(1), Limit::None);
        unknown.base.value = crate::facts::Value::Unknown(Box::new(crate::facts::Why::Other("argument".into())));
        assert_eq!(unknown.sum(3, &Jitter::NONE), None);
        unknown.kind = known(BackoffKind::None);
        assert_eq!(unknown.delay(1, &Jitter::NONE), Some(Delay::default()));
    }
}
