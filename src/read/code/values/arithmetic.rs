//! Arithmetic on exact values. What does not fit, or mixes what cannot be mixed, is not known. Numbers that are open are in
//! `spread`.

use super::domain::{Got, Val};
use super::linear::Linear;
use super::spread;
use crate::facts::{Nanos, Why};
use crate::read::code::tree::{Op, Place};

/// Anything that two values can be combined by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combine {
    /// An operator.
    By(Op),
    /// The difference, zero if it would be below.
    SubToZero,
    /// The distance.
    Distance,
    /// The lesser.
    Min,
    /// The greater.
    Max,
}

/// Two values combined at `at`.
pub(super) fn combine(how: Combine, a: &Got, b: &Got, at: &Place, whole_division: bool) -> Got {
    let exact = match decided(how, &a.value, &b.value).or_else(|| exact(how, &a.value, &b.value, whole_division)) {
        Some(value) => value,
        None if a.why().is_some() || b.why().is_some() => return spread::combine(how, a, b, at),
        None => Err("no number that fits"),
    };
    match exact {
        Ok(value) => {
            let halves = match (how, &b.value) {
                (Combine::By(Op::Div), Val::Int(2)) | (Combine::By(Op::Shr), Val::Int(1)) => true,
                (Combine::By(Op::Div), Val::Float(n)) => *n == 2.0,
                (Combine::By(Op::Mul), Val::Float(n)) => *n == 0.5,
                _ => false,
            };
            let less = matches!(how, Combine::By(Op::Sub) | Combine::SubToZero);
            let less = b.value.number().filter(|_| less).map(|less| Box::new(Linear::number(less)));
            Got { is_half: halves, less, ..a.with(value).beside(b) }
        }
        Err(why) => spread::fresh(Why::Other(why.into()), at).beside(a).beside(b),
    }
}

/// What one known side decides alone: `false && x`.
fn decided(how: Combine, a: &Val, b: &Val) -> Option<Result<Val, &'static str>> {
    let decides = |by: bool| [a, b].iter().any(|value| matches!(value, Val::Bool(value) if *value == by));
    match how {
        Combine::By(Op::And) if decides(false) => Some(Ok(Val::Bool(false))),
        Combine::By(Op::Or) if decides(true) => Some(Ok(Val::Bool(true))),
        _ => None,
    }
}

/// None if one of them is not exact, an error if there is no such value.
fn exact(how: Combine, a: &Val, b: &Val, whole_division: bool) -> Option<Result<Val, &'static str>> {
    use Val::{Bool, Float, Int, Text, Time};
    Some(match (a, b) {
        (Int(a), Int(b)) => whole(how, *a, *b, whole_division),
        (Float(a), Float(b)) => fraction(how, *a, *b),
        (Int(a), Float(b)) => fraction(how, *a as f64, *b),
        (Float(a), Int(b)) => fraction(how, *a, *b as f64),
        (Time(a), Time(b)) => times(how, *a, *b),
        (Time(time), factor @ (Int(_) | Float(_))) => match (how, factor.number()?) {
            (Combine::By(Op::Mul), by) => scaled(*time, factor, by, false),
            (Combine::By(Op::Div), 0.0) => Err("a division by zero"),
            (Combine::By(Op::Div), by) => scaled(*time, factor, by, true),
            _ => Err("a length of time with a number"),
        },
        (factor @ (Int(_) | Float(_)), Time(time)) => match (how, factor.number()?) {
            (Combine::By(Op::Mul), by) => scaled(*time, factor, by, false),
            _ => Err("a number with a length of time"),
        },
        (Bool(a), Bool(b)) => match how {
            Combine::By(Op::And) => Ok(Bool(*a && *b)),
            Combine::By(Op::Or) => Ok(Bool(*a || *b)),
            Combine::By(Op::Eq) => Ok(Bool(a == b)),
            Combine::By(Op::Ne | Op::BitXor) => Ok(Bool(a != b)),
            _ => Err("truth values"),
        },
        (Text(a), Text(b)) => match how {
            Combine::By(Op::Eq) => Ok(Bool(a == b)),
            Combine::By(Op::Ne) => Ok(Bool(a != b)),
            _ => Err("texts"),
        },
        _ => return None,
    })
}

fn whole(how: Combine, a: i128, b: i128, whole_division: bool) -> Result<Val, &'static str> {
    const LARGE: &str = "larger than any whole number";
    if let Some(result) = compared(how, &a, &b) {
        return Ok(Val::Bool(result));
    }
    let power =
        |base: i128, exponent: i128| u32::try_from(exponent).ok().and_then(|n| base.checked_pow(n)).ok_or(LARGE);
    let value = match how {
        Combine::By(Op::Div | Op::Rem) if b == 0 => return Err("a division by zero"),
        Combine::By(Op::Div) if !whole_division && a % b != 0 => return fraction(how, a as f64, b as f64),
        Combine::By(Op::Pow) if b < 0 => return fraction(how, a as f64, b as f64),
        Combine::By(op) => match op {
            Op::Add => a.checked_add(b),
            Op::Sub => a.checked_sub(b),
            Op::Mul => a.checked_mul(b),
            Op::Div => a.checked_div(b),
            Op::Rem => a.checked_rem(b),
            Op::Pow => Some(power(a, b)?),
            Op::Shl => a.checked_mul(power(2, b)?),
            Op::Shr => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)),
            Op::BitAnd => Some(a & b),
            Op::BitOr => Some(a | b),
            Op::BitXor => Some(a ^ b),
            _ => return Err("numbers"),
        },
        // Only for what has no sign is it zero; whether it has one is not seen.
        Combine::SubToZero if a < b => return Err("a difference below zero"),
        Combine::SubToZero => a.checked_sub(b),
        Combine::Distance => a.checked_sub(b).and_then(i128::checked_abs),
        Combine::Min => Some(a.min(b)),
        Combine::Max => Some(a.max(b)),
    };
    value.map(Val::Int).ok_or(LARGE)
}

fn fraction(how: Combine, a: f64, b: f64) -> Result<Val, &'static str> {
    if let Some(result) = compared(how, &a, &b) {
        return Ok(Val::Bool(result));
    }
    let value = match how {
        Combine::By(Op::Add) => a + b,
        Combine::By(Op::Sub) => a - b,
        Combine::By(Op::Mul) => a * b,
        Combine::By(Op::Div) => a / b,
        Combine::By(Op::Rem) => a % b,
        Combine::By(Op::Pow) => a.powf(b),
        Combine::Min => a.min(b),
        Combine::Max => a.max(b),
        Combine::Distance => (a - b).abs(),
        Combine::By(_) | Combine::SubToZero => return Err("numbers with a fraction"),
    };
    if value.is_finite() { Ok(Val::Float(value)) } else { Err("no number") }
}

fn times(how: Combine, a: i128, b: i128) -> Result<Val, &'static str> {
    if let Some(result) = compared(how, &a, &b) {
        return Ok(Val::Bool(result));
    }
    match how {
        Combine::By(Op::Add) => Ok(time(a + b)),
        Combine::By(Op::Sub) if a < b => Err("a length of time below zero"),
        Combine::By(Op::Sub) => Ok(time(a - b)),
        Combine::By(Op::Div) if b == 0 => Err("a division by zero"),
        Combine::By(Op::Div) => Ok(Val::Float(a as f64 / b as f64)),
        Combine::SubToZero => Ok(time((a - b).max(0))),
        Combine::Distance => Ok(time((a - b).abs())),
        Combine::Min => Ok(time(a.min(b))),
        Combine::Max => Ok(time(a.max(b))),
        Combine::By(_) => Err("lengths of time"),
    }
}

/// A length of time multiplied with or divided by a number; exactly if that is a whole one.
fn scaled(nanos: i128, factor: &Val, by: f64, divided: bool) -> Result<Val, &'static str> {
    if by < 0.0 {
        return Err("a length of time below zero");
    }
    Ok(match (factor, divided) {
        (Val::Int(n), false) => time(nanos.saturating_mul(*n)),
        (Val::Int(n), true) => time(nanos.checked_div(*n).ok_or("a division by zero")?),
        (_, false) => time((nanos as f64 * by).round() as i128),
        (_, true) => time((nanos as f64 / by).round() as i128),
    })
}

fn compared<T: PartialOrd>(how: Combine, a: &T, b: &T) -> Option<bool> {
    Some(match how {
        Combine::By(Op::Eq) => a == b,
        Combine::By(Op::Ne) => a != b,
        Combine::By(Op::Lt) => a < b,
        Combine::By(Op::Le) => a <= b,
        Combine::By(Op::Gt) => a > b,
        Combine::By(Op::Ge) => a >= b,
        _ => return None,
    })
}

/// A length of time of so many nanoseconds; what is longer than can be said is as long as can be said.
pub(super) fn time(nanos: i128) -> Val {
    Val::Time(nanos.clamp(0, i128::from(Nanos::MAX.0)))
}

/// The opposite of a value at `at`.
pub(super) fn negated(a: &Got, at: &Place) -> Got {
    match &a.value {
        Val::Int(n) => a.with(n.checked_neg().map_or(Val::Int(0), Val::Int)),
        Val::Float(n) => a.with(Val::Float(-n)),
        Val::Open(_) => spread::scaled(a, -1.0),
        _ => spread::fresh(Why::Other("no number that fits".into()), at).beside(a),
    }
}

/// A number of a unit as a length of time. `whole`: only whole numbers are taken, so a fraction was cut off on the way.
pub(super) fn duration(number: &Got, unit: u64, whole: bool, at: &Place) -> Got {
    match &number.value {
        Val::Int(n) if *n >= 0 => number.with(time(n.saturating_mul(i128::from(unit)))),
        Val::Float(n) if *n >= 0.0 => {
            let n = if whole { n.trunc() } else { *n };
            number.with(time((n * unit as f64).round() as i128))
        }
        // A length of time as a number of itself: the caller's types say that this cannot be.
        Val::Open(open) if !open.is_time => spread::with_time(spread::converted(number, unit as f64), true),
        _ => spread::fresh(Why::Other("no number that fits".into()), at).beside(number),
    }
}

/// A length of time as a number of a unit. `whole`: without its fraction.
pub(super) fn part(time: &Got, unit: u64, whole: bool, at: &Place) -> Got {
    match &time.value {
        Val::Time(nanos) if whole => time.with(Val::Int(nanos / i128::from(unit))),
        Val::Time(nanos) => time.with(Val::Float(*nanos as f64 / unit as f64)),
        Val::Open(_) => spread::with_time(spread::converted(time, 1.0 / unit as f64), false),
        _ => spread::fresh(Why::Other("no length of time".into()), at).beside(time),
    }
}
