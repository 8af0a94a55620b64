//! Arithmetic on numbers that are open: random, or not known. Random numbers are kept as an interval and what they are without
//! their random part, so that `d + rand(0..d / 2)`, `d * rand(0.8..1.2)` and `d / 2 + rand(0..d / 2)` come out as what they do
//! to `d`, be it known or not.

use super::arithmetic::Combine;
use super::domain::{Cap, Got, Nominal, Open, Optional, Val};
use super::linear::{Linear, Symbol};
use crate::facts::Why;
use crate::read::code::tree::{Op, Place};

/// Something new that is not known, and is named by where it stands.
pub(super) fn fresh(why: Why, at: &Place) -> Got {
    Got::unknown(why, Symbol { at: at.span(), path: "".into() })
}

/// The same, not known for the reason that another value is not.
pub(super) fn as_unknown_as(mut got: Got, other: &Got) -> Got {
    if let (Val::Open(open), Some(why)) = (&mut got.value, other.why()) {
        open.why = why.clone();
    }
    got
}

/// A number drawn at `at`, from `low` to `high`; from anywhere if they cannot be told.
pub(super) fn drawn(between: Option<(Linear, Linear)>, at: &Place) -> Got {
    let open = Open {
        why: Why::Other("random".into()),
        optional: Optional::No,
        between,
        nominal: Nominal::Soft { of: None },
        is_added: false,
        cap: Cap::None,
        is_time: false,
    };
    let mut got = Got::new(Val::Open(Box::new(open)), at.span());
    got.drawn.push(at.clone());
    got
}

/// A value as an interval; none if it is no number.
fn open(got: &Got) -> Option<Open> {
    if let Val::Open(open) = &got.value {
        return Some(Open::clone(open));
    }
    let number = Linear::number(got.value.number()?);
    Some(Open {
        why: Why::Other("random".into()),
        optional: Optional::No,
        between: Some((number.clone(), number.clone())),
        nominal: Nominal::Is(number),
        is_added: false,
        cap: Cap::None,
        is_time: matches!(got.value, Val::Time(_)),
    })
}

/// The number as such, if it is one number, known or not.
pub(super) fn single(got: &Got) -> Option<Linear> {
    let open = open(got)?;
    open.between.filter(|(low, high)| low == high).map(|(low, _)| low)
}

/// The least and the greatest that a number can be.
pub(super) fn bounds(got: &Got) -> Option<(Linear, Linear)> {
    open(got)?.between
}

/// Whether a value is a length of time.
pub(super) fn is_time(got: &Got) -> bool {
    matches!(&got.value, Val::Time(_)) || matches!(&got.value, Val::Open(open) if open.is_time)
}

/// The same with another opinion on whether it is a length of time.
pub(super) fn with_time(mut got: Got, is_time: bool) -> Got {
    if let Val::Open(open) = &mut got.value {
        open.is_time = is_time;
    }
    got
}

/// Two numbers combined at `at`, one of which is open.
pub(super) fn combine(how: Combine, a: &Got, b: &Got, at: &Place) -> Got {
    let is_random = a.is_random() || b.is_random();
    let why = a.why().or(b.why()).cloned().unwrap_or(Why::Other("no number that fits".into()));
    let is_limit = matches!(how, Combine::Min | Combine::Max);
    let open = |got: &Got| open(got).map(|open| if is_limit { open } else { capped(open) });
    let combined = open(a).zip(open(b)).and_then(|(x, y)| match how {
        Combine::By(Op::Add) => added(a, b, x, y),
        Combine::By(Op::Sub) => added(a, &scaled(b, -1.0), x, scaled_open(y, -1.0, true)),
        Combine::SubToZero => added(a, &scaled(b, -1.0), x, scaled_open(y, -1.0, true))
            .filter(|open| open.between.as_ref().is_some_and(|(low, _)| low.is_positive() == Some(true))),
        Combine::By(Op::Mul) => multiplied(x, y),
        Combine::By(Op::Div) => number(b).filter(|by| *by != 0.0).map(|by| scaled_open(x, 1.0 / by, false)),
        Combine::By(Op::Shl) => number(b).map(|by| scaled_open(x, by.exp2(), true)),
        Combine::By(Op::Shr) => number(b).map(|by| scaled_open(x, (-by).exp2(), false)),
        Combine::By(Op::Rem) if a.is_random() => remainder(x, &y),
        Combine::Min | Combine::Max if is_random => limited(how, x, y, b.is_random()),
        _ => None,
    });
    let is_half = match (how, number(b)) {
        (Combine::By(Op::Div), Some(by)) => by == 2.0,
        (Combine::By(Op::Mul), Some(by)) => by == 0.5,
        (Combine::By(Op::Shr), Some(by)) => by == 1.0,
        _ => false,
    };
    let value = match combined {
        Some(open) => Val::Open(Box::new(open)),
        None if is_random => drawn(None, at).value,
        None => fresh(why, at).value,
    };
    let less = if matches!(how, Combine::By(Op::Sub) | Combine::SubToZero) { single(b).map(Box::new) } else { None };
    let got = Got { is_half, less, ..a.with(value).beside(b) };
    // Without a random part and without anything unknown, it is a number like any other.
    settled(got)
}

/// Anything that became exact by being computed.
fn settled(got: Got) -> Got {
    if got.is_random() {
        return got;
    }
    let Val::Open(open) = &got.value else { return got };
    match (single(&got).and_then(|number| number.known()), open.is_time) {
        (Some(number), true) => got.with(super::arithmetic::time(number.round() as i128)),
        (Some(number), false) => got.with(Val::Float(number)),
        (None, _) => got,
    }
}

fn number(got: &Got) -> Option<f64> {
    got.value.number().filter(|_| !matches!(got.value, Val::Time(_)))
}

/// So many times as much.
pub(super) fn scaled(got: &Got, by: f64) -> Got {
    match &got.value {
        Val::Open(open) => got.with(Val::Open(Box::new(scaled_open(Open::clone(open), by, true)))),
        Val::Int(n) if by == -1.0 => got.with(n.checked_neg().map_or(Val::Float(-(*n as f64)), Val::Int)),
        value => got.with(value.number().map_or(Val::Absent, |n| Val::Float(n * by))),
    }
}

/// The same in another unit.
pub(super) fn converted(got: &Got, by: f64) -> Got {
    Got { is_half: got.is_half, ..scaled(got, by) }
}

/// `all`: also what a random factor was multiplied with. `d * rand(80..120) / 100` is about `d`, not about `d / 100`.
fn scaled_open(open: Open, by: f64, all: bool) -> Open {
    let between = open.between.map(|(low, high)| {
        let (low, high) = (low.scaled(by), high.scaled(by));
        if by < 0.0 { (high, low) } else { (low, high) }
    });
    let nominal = match open.nominal {
        Nominal::Is(nominal) => Nominal::Is(nominal.scaled(by)),
        Nominal::Soft { of } => Nominal::Soft { of: of.map(|of| if all { of.scaled(by) } else { of }) },
    };
    let cap = match open.cap {
        Cap::At(cap) if by >= 0.0 => Cap::At(cap * by),
        _ => open.cap,
    };
    Open { between, nominal, cap, optional: Optional::No, ..open }
}

fn added(a: &Got, b: &Got, x: Open, y: Open) -> Option<Open> {
    let (is_soft_x, is_soft_y) = (matches!(x.nominal, Nominal::Soft { .. }), matches!(y.nominal, Nominal::Soft { .. }));
    // The fixed part first.
    let (a, b, x, y) = if is_soft_x && !is_soft_y { (b, a, y, x) } else { (a, b, x, y) };
    let (low, high) = match (&x.between, &y.between) {
        (Some((low_x, high_x)), Some((low_y, high_y))) => low_x.plus(low_y).zip(high_x.plus(high_y)).unzip(),
        _ => (None, None),
    };
    let is_one_soft = is_soft_x != is_soft_y;
    // A random part that comes from the same literals is a share of the delay, else it is as much for any.
    let is_added = is_one_soft && x.is_single() && !a.spans.iter().any(|span| b.spans.contains(span));
    let nominal = match (&x.nominal, &y.nominal) {
        (Nominal::Is(one), Nominal::Is(two)) => Nominal::Is(one.plus(two)?),
        (Nominal::Is(fixed), Nominal::Soft { .. }) => match beside(a, fixed, &y) {
            Some(nominal) => Nominal::Is(nominal),
            None => Nominal::Soft { of: None },
        },
        _ => Nominal::Soft { of: None },
    };
    if low.is_none() && !a.is_random() && !b.is_random() {
        return None;
    }
    let why = if a.why().is_some() { x.why } else { y.why };
    Some(Open {
        why,
        optional: Optional::No,
        between: low.zip(high),
        nominal,
        is_added: x.is_added || y.is_added || is_added,
        cap: Cap::None,
        is_time: x.is_time || y.is_time,
    })
}

/// What a fixed part with a random one beside it is without the random one. None if the fixed part is the lesser thing.
fn beside(fixed: &Got, amount: &Linear, random: &Open) -> Option<Linear> {
    /// Less than this share of the whole keeps a delay above zero, no more.
    const LITTLE: f64 = 0.02;
    let Some((low, high)) = &random.between else { return Some(amount.clone()) };
    let is_from_zero = low.known() == Some(0.0);
    if fixed.is_half && is_from_zero && high.ratio(amount).is_some_and(|ratio| (ratio - 1.0).abs() < 0.01) {
        return amount.plus(high);
    }
    // As much less as is added on average.
    if let Some(less) = &fixed.less
        && is_from_zero
        && high.ratio(less).is_some_and(|ratio| (ratio - 2.0).abs() < 0.02)
    {
        return amount.plus(less);
    }
    let is_little = match (amount.known(), high.known()) {
        (Some(amount), Some(high)) => amount < LITTLE * high,
        // One beside a random share of something unknown.
        (Some(amount), None) => is_from_zero && amount <= if is_time(fixed) { 1e6 } else { 1.0 },
        _ => false,
    };
    if is_little {
        return None;
    }
    match (low.is_positive(), high.is_positive()) {
        (Some(true), _) if !is_from_zero => amount.plus(&random.nominal_or(low)),
        (_, Some(false)) => amount.plus(high),
        _ => Some(amount.clone()),
    }
}

impl Open {
    /// What it is about, if that lies within it; else another number.
    fn nominal_or(&self, other: &Linear) -> Linear {
        match &self.nominal {
            Nominal::Soft { of: Some(_) } => self.nominal().unwrap_or_else(|| other.clone()),
            _ => other.clone(),
        }
    }
}

fn multiplied(x: Open, y: Open) -> Option<Open> {
    let between = match (&x.between, &y.between) {
        (Some((low_x, high_x)), Some((low_y, high_y))) => {
            // The one that may be below zero is taken as the factor; delays are not.
            let is_factor_y = low_x.is_positive() != Some(false) || low_x.known() == Some(0.0);
            let (of, factor) =
                if is_factor_y { ((low_x, high_x), (low_y, high_y)) } else { ((low_y, high_y), (low_x, high_x)) };
            let least = if factor.0.is_positive() == Some(false) { of.1 } else { of.0 };
            let most = if factor.1.is_positive() == Some(false) { of.0 } else { of.1 };
            Some((least.times(factor.0)?, most.times(factor.1)?))
        }
        _ => None,
    };
    // `1.0 + rand(-0.1..0.1)`, `0.5 + rand()`: about one.
    let is_factor = |open: &Open| {
        let holds_one = |(low, high): &(Linear, Linear)| Some(low.known()? <= 1.0 && 1.0 <= high.known()?);
        !open.is_time && !open.is_single() && open.between.as_ref().and_then(holds_one) == Some(true)
    };
    let nominal = match (&x.nominal, &y.nominal) {
        (Nominal::Is(one), Nominal::Is(_)) if x.is_single() && is_factor(&y) => Nominal::Soft { of: Some(one.clone()) },
        (Nominal::Is(_), Nominal::Is(two)) if y.is_single() && is_factor(&x) => Nominal::Soft { of: Some(two.clone()) },
        (Nominal::Is(one), Nominal::Is(two)) => Nominal::Is(one.times(two)?),
        (Nominal::Is(fixed), Nominal::Soft { of }) | (Nominal::Soft { of }, Nominal::Is(fixed)) => {
            let of = of.as_ref().map_or_else(|| Some(fixed.clone()), |of| of.times(fixed));
            Nominal::Soft { of }
        }
        (Nominal::Soft { .. }, Nominal::Soft { .. }) => Nominal::Soft { of: None },
    };
    let is_known = x.is_single() && x.nominal().is_some_and(|nominal| nominal.known().is_some());
    Some(Open {
        why: if is_known { y.why } else { x.why },
        optional: Optional::No,
        between,
        nominal,
        is_added: x.is_added && x.is_time || y.is_added && y.is_time,
        cap: Cap::None,
        is_time: x.is_time || y.is_time,
    })
}

/// `rand % n`: anything from zero to n.
fn remainder(x: Open, y: &Open) -> Option<Open> {
    let (limit, _) = y.between.clone().filter(|(low, high)| low == high)?;
    if let Some((low, high)) = &x.between
        && low.is_positive() == Some(true)
        && high.is_at_most(&limit) == Some(true)
    {
        return Some(x);
    }
    let between = Some((Linear::number(0.0), limit));
    Some(Open { between, nominal: Nominal::Soft { of: None }, is_added: false, ..x })
}

/// A random number with a limit. A cap is remembered beside what it caps, for what jitter does is said of the delay before it.
fn limited(how: Combine, x: Open, y: Open, is_random_y: bool) -> Option<Open> {
    let (random, limit) = if is_random_y { (y, x) } else { (x, y) };
    let is_time = random.is_time || limit.is_time;
    let at = limit.between.filter(|(low, high)| low == high).and_then(|(low, _)| low.known());
    let random = Open { is_time, optional: Optional::No, ..random };
    Some(match (how, at) {
        (Combine::Max, Some(at)) => clipped(random, |number| number.max(at)),
        (Combine::Max, None) => random,
        (_, at) => {
            let cap = match (random.cap, at) {
                (Cap::At(cap), Some(at)) => Cap::At(cap.min(at)),
                (Cap::At(cap), None) | (_, Some(cap)) => Cap::At(cap),
                _ => Cap::Some,
            };
            Open { cap, ..random }
        }
    })
}

/// The same within limits. Where something is not known, so is whether they are reached.
fn clipped(open: Open, within: impl Fn(f64) -> f64) -> Open {
    let clip = |number: &Linear| number.known().map(|number| Linear::number(within(number)));
    let between = open.between.as_ref().and_then(|(low, high)| clip(low).zip(clip(high)));
    let nominal = match &open.nominal {
        Nominal::Is(nominal) => clip(nominal).map(Nominal::Is),
        Nominal::Soft { of } => Some(Nominal::Soft { of: of.as_ref().and_then(clip) }),
    };
    match between.zip(nominal) {
        Some((between, nominal)) => Open { between: Some(between), nominal, ..open },
        None => open,
    }
}

/// A number whose cap has come into force, since something else is done to it now.
fn capped(open: Open) -> Open {
    match open.cap {
        Cap::At(cap) => Open { cap: Cap::None, ..clipped(open, |number| number.min(cap)) },
        _ => open,
    }
}

/// The same, of which only is known that it is random.
pub(super) fn anywhere(got: Got) -> Got {
    let at = got.span();
    let why = got.why().cloned().unwrap_or(Why::Other("random".into()));
    let symbol = at.map(|at| Symbol { at, path: "".into() });
    let Some(symbol) = symbol else { return got };
    let mut unknown = Got::unknown(why, symbol);
    if let Val::Open(open) = &mut unknown.value {
        (open.between, open.nominal) = (None, Nominal::Soft { of: None });
    }
    got.into(unknown.value)
}
