//! What a series of delays is: how it grows, how chance spreads it, what holds it down.

use super::run::number::{Number, nanos};
use crate::facts::{Backoff, BackoffKind, Freeze, Frozen, Jitter, JitterAt, Limit, Sourced, Value, Why};
use crate::read::code::tree::Id;
use crate::source::Span;

/// One delay: all waits between two tries.
#[derive(Clone, Debug)]
pub struct Delay {
    /// How long it is.
    pub number: Option<Number>,
    /// Why that is not known.
    pub why: Option<Why>,
    /// What waits.
    pub node: Id,
}

/// What a series of delays is.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// How they grow.
    pub backoff: Backoff,
    /// Their random part.
    pub jitter: Sourced<Jitter>,
    /// Where it is drawn once for all tries.
    pub frozen: Option<Frozen>,
}

/// What a series of delays is.
/// `at`: where they are waited for, for what is written nowhere.
pub fn fit(at: Span, series: &[Delay]) -> Fitted {
    let numbers: Vec<&Number> = series.iter().map_while(|delay| delay.number.as_ref()).collect();
    let unknown = series.iter().find(|delay| delay.number.is_none());
    let Some(first) = numbers.first() else {
        let why = unknown.and_then(|delay| delay.why.clone());
        let why = why.unwrap_or(Why::Other("a delay that is not followed".into()));
        return Fitted {
            backoff: Backoff {
                kind: Sourced::unknown(why.clone(), at),
                base: Sourced::unknown(why.clone(), at),
                factor: Sourced::unknown(why.clone(), at),
                cap: Sourced::unknown(why.clone(), at),
                skip: 0,
            },
            jitter: Sourced::unknown(why, at),
            frozen: None,
        };
    };
    let span = first.span.unwrap_or(at);
    let nominal: Vec<f64> = numbers.iter().map(|number| number.nominal).collect();
    let cap = numbers.iter().find_map(|number| number.cap);
    let shape = shape(&nominal, cap.map(|cap| cap.at));
    let (cap, cap_span) = match (cap, shape.plateau) {
        (Some(cap), _) if !matches!(shape.kind, BackoffKind::Fixed) => (Limit::At(nanos(cap.at)), cap.span),
        (_, Some(plateau)) => (Limit::At(nanos(plateau)), None),
        _ => (Limit::None, None),
    };
    let (jitter, base) = spread(at, &numbers, span);
    let base = base.map_or(shape.base, |base| base);
    let frozen = numbers.iter().find_map(|number| number.chance).filter(|chance| chance.pass == 0);
    let frozen = frozen.filter(|chance| chance.span.is_some_and(|span| span.file == at.file));
    let is_decorrelated = jitter.known().is_some_and(|jitter| jitter.decorrelated);
    let kind = if is_decorrelated { BackoffKind::Exponential } else { shape.kind };
    Fitted {
        backoff: Backoff {
            kind: Sourced::written(kind, span),
            base: Sourced::written(nanos(base), span),
            factor: Sourced::written(if is_decorrelated { 3.0 } else { shape.factor }, span),
            cap: Sourced::written(cap, cap_span.unwrap_or(span)),
            skip: shape.skip,
        },
        jitter,
        frozen: frozen.and_then(|chance| chance.span).map(|span| Frozen { span, how: Freeze::DrawnOnce }),
    }
}

struct Shape {
    kind: BackoffKind,
    base: f64,
    factor: f64,
    skip: u32,
    plateau: Option<f64>,
}

/// What kind of series these delays are.
/// `cap`: what they are known to be held down to.
fn shape(nominal: &[f64], cap: Option<f64>) -> Shape {
    let first = nominal.first().copied().unwrap_or_default();
    let near = |a: f64, b: f64| (a - b).abs() <= b.abs() * 0.02 + 1_000.0;
    let fixed = |base: f64| Shape { kind: BackoffKind::Fixed, base, factor: 1.0, skip: 0, plateau: None };
    if nominal.iter().all(|delay| *delay == 0.0) {
        return Shape { kind: BackoffKind::None, ..fixed(0.0) };
    }
    if nominal.iter().all(|delay| near(*delay, first)) {
        return fixed(first);
    }
    // What does not grow any more at the end is held down.
    let last = nominal.last().copied().unwrap_or_default();
    let flat = nominal.iter().rev().take_while(|delay| **delay == last).count();
    let is_held = flat >= 2 || cap.is_some_and(|cap| near(last, cap));
    let plateau = is_held.then_some(last);
    let growing = nominal.get(..nominal.len() - if is_held { flat } else { 0 }).unwrap_or_default();
    let [a, b, ..] = nominal else { return fixed(first) };
    let fits = |at: &dyn Fn(usize) -> f64| growing.iter().enumerate().all(|(i, delay)| near(*delay, at(i)));
    let factor = b / a;
    let step = b - a;
    let exponential = *a > 0.0 && factor > 1.0 && (growing.len() >= 2 || plateau.is_some());
    if *a > 0.0 && growing.len() >= 2 && fits(&|i| a + step * i as f64) && growing.len() != 2 {
        let skip = (a / step - 1.0).round();
        let is_multiple = skip >= 0.0 && near(step * (skip + 1.0), *a);
        if is_multiple {
            return Shape { kind: BackoffKind::Linear, base: step, factor: 1.0, skip: skip as u32, plateau };
        }
    }
    if exponential && fits(&|i| a * factor.powi(i as i32)) {
        return Shape { kind: BackoffKind::Exponential, base: *a, factor: tidy(factor), skip: 0, plateau };
    }
    let fibonacci = |i: usize| (0..i).fold((*a, *a), |(x, y), _| (y, x + y)).0;
    // The first delay is there twice, unless the series begins behind it.
    let skip = [0, 1].into_iter().find(|skip| growing.len() >= 4 && fits(&|i| fibonacci(i + skip)));
    if let Some(skip) = skip {
        return Shape { kind: BackoffKind::Fibonacci, base: *a, factor: 1.0, skip: skip as u32, plateau };
    }
    let schedule = nominal.iter().take(16).map(|delay| nanos(*delay)).collect();
    Shape { kind: BackoffKind::Schedule(schedule), base: first, factor: 1.0, skip: 0, plateau: None }
}

fn tidy(factor: f64) -> f64 {
    (factor * 1000.0).round() / 1000.0
}

/// The random part of a series, and the first delay where that is another one than it looks.
fn spread(at: Span, numbers: &[&Number], span: Span) -> (Sourced<Jitter>, Option<f64>) {
    let chances = || numbers.iter().filter_map(|number| number.chance);
    let Some(chance) = chances().next() else { return (Sourced::written(Jitter::NONE, span), None) };
    let at_span = chance.span.filter(|span| span.file == at.file).unwrap_or(span);
    let unknown = || (Sourced::unknown(Why::Other("random in a way that is not followed".into()), at_span), None);
    if chances().any(|chance| chance.is_unknown) {
        return unknown();
    }
    // Before the first delay that is held down nothing shows which comes first.
    let how = if chances().any(|chance| chance.after_cap) { JitterAt::AfterCap } else { JitterAt::BeforeCap };
    let known = |jitter: Jitter, base: Option<f64>| (Sourced::written(Jitter { at: how, ..jitter }, at_span), base);
    let near = |a: f64, b: f64| (a - b).abs() <= b.abs() * 0.02 + 1e-3;
    // Each delay is drawn from the one before: from the same floor up to three times as much.
    if let [a, b, c, ..] = numbers
        && a.low > 0.0
        && near(b.low, a.low)
        && near(c.low, a.low)
        && b.high > a.high * 1.5
    {
        return known(Jitter::DECORRELATED, Some(a.low));
    }
    let random = numbers.iter().filter(|number| number.chance.is_some() && number.nominal > 0.0);
    let shares: Vec<(f64, f64, f64)> = random
        .map(|number| (number.low / number.nominal, number.high / number.nominal, number.high - number.nominal))
        .collect();
    let Some((low, high, plus)) = shares.first().copied() else { return unknown() };
    let lows = shares.iter().all(|share| near(share.0, low));
    let same_share = shares.iter().all(|share| near(share.1, high));
    let same_plus = shares.iter().all(|share| near(share.2, plus));
    if lows && near(low, 1.0) && same_plus && plus > 0.0 {
        return known(Jitter::additive(nanos(plus)), None);
    }
    if lows && same_share {
        return known(Jitter { low: tidy(low), high: tidy(high), ..Jitter::NONE }, None);
    }
    unknown()
}

/// A series that does not come out as the loop really waits is given as it is.
pub fn keep_to(backoff: &mut Backoff, real: &[Delay]) {
    let known: Option<Vec<f64>> = real.iter().map(|delay| delay.number.as_ref().map(|number| number.nominal)).collect();
    let (Some(known), Some(kind)) = (known, backoff.kind.known()) else { return };
    if known.is_empty() || matches!(kind, BackoffKind::Schedule(_)) {
        return;
    }
    let agrees = known.iter().enumerate().all(|(i, delay)| {
        backoff.nominal(i as u64 + 1).is_none_or(|nominal| (nominal.0 as f64 - delay).abs() <= delay * 0.02 + 1_000.0)
    });
    if !agrees {
        let delays = known.iter().take(64).map(|delay| nanos(*delay)).collect();
        backoff.kind.value = Value::Known(BackoffKind::Schedule(delays));
    }
}
