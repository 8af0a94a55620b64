//! Numbers and lengths of time as a dry run knows them: an interval where chance has a say, with what capped it.

use crate::facts::Nanos;
use crate::read::code::tree::Op;
use crate::read::code::words::values::Operation;
use crate::source::Span;

/// A number, or a length of time in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// At least this.
    pub low: f64,
    /// At most this.
    pub high: f64,
    /// Without its random part.
    pub nominal: f64,
    /// Whether it is a length of time.
    pub is_time: bool,
    /// Whether it is a whole number, so that dividing it leaves a remainder.
    pub is_whole: bool,
    /// Whether it is another one in each pass.
    pub varies: bool,
    /// What it is held down to, if something does.
    pub cap: Option<Cap>,
    /// Where chance comes in.
    pub chance: Option<Chance>,
    /// Half of something: adding as much at random makes the whole.
    pub is_half: bool,
    /// Where it is written: the first literal or constant that it comes from.
    pub span: Option<Span>,
}

/// A ceiling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cap {
    /// The ceiling.
    pub at: f64,
    /// Where it is written.
    pub span: Option<Span>,
}

/// The random part of a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chance {
    /// Where it is drawn, if that stands in the file of the loop.
    pub span: Option<Span>,
    /// The pass in which it is drawn; 0 is before the loop.
    pub pass: u32,
    /// Whether it is drawn after the cap was applied.
    pub after_cap: bool,
    /// Whether the interval says nothing: something random that could not be followed.
    pub is_unknown: bool,
}

impl Number {
    /// A number that is written.
    pub fn whole(value: i128, span: Option<Span>) -> Number {
        Number { is_whole: true, ..Number::plain(value as f64, span) }
    }

    /// A number that may have a fraction.
    pub fn plain(value: f64, span: Option<Span>) -> Number {
        let value = bounded(value);
        Number {
            low: value,
            high: value,
            nominal: value,
            is_time: false,
            is_whole: false,
            varies: false,
            cap: None,
            chance: None,
            is_half: value == 0.5,
            span,
        }
    }

    /// A length of time.
    pub fn time(nanos: f64, span: Option<Span>) -> Number {
        Number { is_time: true, is_half: false, ..Number::plain(nanos, span) }
    }

    /// Anything between two numbers.
    pub fn random(from: &Number, to: &Number, chance: Chance) -> Number {
        let (low, high) = (from.low.min(to.low), to.high.max(from.low));
        // The part without chance: the whole of a fraction, what a spread is around, else what can come out at most.
        let middle = (low + high) / 2.0;
        let around_one = !to.is_time && ((middle - 1.0).abs() < 1e-9 || (low - 1.0).abs() < 1e-9 && high <= 2.0);
        let is_upper_half = high > 0.0 && (low / high - 0.5).abs() < 0.02;
        let nominal = if low == 0.0 || (high - 1.0).abs() < 1e-9 || is_upper_half {
            high
        } else if around_one {
            1.0
        } else {
            middle
        };
        let cap = to.cap.or(from.cap);
        let chance = Chance { after_cap: cap.is_some(), ..chance };
        Number { low, high, nominal, cap, chance: Some(chance), is_half: false, ..to.clone() }
    }

    /// Whether it is a single number.
    pub fn exact(&self) -> Option<f64> {
        (self.low == self.high && self.chance.is_none_or(|chance| !chance.is_unknown)).then_some(self.low)
    }

    /// As a length of time.
    pub fn nanos(&self) -> Nanos {
        nanos(self.nominal)
    }

    /// The same, known to change from pass to pass.
    pub fn varying(mut self) -> Number {
        self.varies = true;
        self
    }

    /// The same number in another unit, as a length of time.
    pub fn times(&self, factor: f64, is_time: bool) -> Number {
        let scale = |value: f64| bounded(value * factor);
        let cap = self.cap.map(|cap| Cap { at: scale(cap.at), ..cap });
        let (low, high, nominal) = (scale(self.low), scale(self.high), scale(self.nominal));
        Number { low, high, nominal, is_time, cap, ..self.clone() }
    }

    /// The same with each bound changed by something that keeps their order.
    pub fn each(&self, change: impl Fn(f64) -> f64) -> Number {
        let change = |value: f64| bounded(change(value));
        let cap = self.cap.map(|cap| Cap { at: change(cap.at), ..cap });
        Number {
            low: change(self.low),
            high: change(self.high),
            nominal: change(self.nominal),
            cap,
            is_half: false,
            ..self.clone()
        }
    }

    /// What comes out of two numbers; none where that makes no sense.
    pub fn combine(operation: Operation, a: &Number, b: &Number) -> Option<Number> {
        use Operation::{Add, Distance, Div, Max, Min, Mul, Pow, Rem, Shl, Shr, Sub, SubToZero};
        let ends = |f: &dyn Fn(f64, f64) -> f64| {
            let all = [f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)];
            (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(f64::NEG_INFINITY, f64::max))
        };
        let plain = |f: &dyn Fn(f64, f64) -> f64| {
            let (low, high) = ends(f);
            (low, high, f(a.nominal, b.nominal))
        };
        let whole = a.is_whole && b.is_whole;
        let divided = move |x: f64, y: f64| if whole && !a.is_time { (x / y).trunc() } else { x / y };
        let (low, high, nominal) = match operation {
            Add => {
                let (low, high) = ends(&|x, y| x + y);
                (low, high, added(a, b))
            }
            Sub | SubToZero => {
                let least = if operation == SubToZero { 0.0 } else { f64::NEG_INFINITY };
                plain(&|x, y| (x - y).max(least))
            }
            Distance => plain(&|x, y| (x - y).abs()),
            Mul => plain(&|x, y| x * y),
            Div if b.low > 0.0 || b.high < 0.0 => plain(&divided),
            Rem if b.low > 0.0 => {
                if a.high < b.low {
                    (a.low, a.high, a.nominal)
                } else if a.low == a.high && b.low == b.high {
                    plain(&|x, y| x % y)
                } else {
                    (0.0, b.high, b.high)
                }
            }
            Pow => plain(&f64::powf),
            Shl => plain(&|x, y| x * y.exp2()),
            Shr => plain(&|x, y| (x / y.exp2()).floor()),
            Min => plain(&f64::min),
            Max => plain(&f64::max),
            _ => return None,
        };
        if low.is_nan() || high.is_nan() || nominal.is_nan() {
            return None;
        }
        let is_time = match operation {
            Div => a.is_time && !b.is_time,
            Mul => a.is_time || b.is_time,
            Pow | Shl | Shr => a.is_time,
            _ => a.is_time || b.is_time,
        };
        let by_half = |n: &Number, other: &Number| n.exact() == Some(0.5) && other.exact().is_some();
        Some(Number {
            low: bounded(low),
            high: bounded(high),
            nominal: bounded(nominal),
            is_time,
            is_whole: whole && !matches!(operation, Div) || whole && operation == Div && !a.is_time,
            varies: a.varies || b.varies,
            cap: capped(operation, a, b),
            chance: drawn(operation, a, b),
            is_half: match operation {
                Div => b.exact() == Some(2.0) && a.exact().is_some(),
                Shr => b.exact() == Some(1.0) && a.exact().is_some(),
                Mul => by_half(a, b) || by_half(b, a),
                _ => false,
            },
            span: written(operation, a, b),
        })
    }

    /// How two numbers compare; none if that is not certain.
    pub fn compare(op: Op, a: &Number, b: &Number) -> Option<bool> {
        let sure = |yes: bool, no: bool| {
            if yes {
                Some(true)
            } else if no {
                Some(false)
            } else {
                None
            }
        };
        match op {
            Op::Lt => sure(a.high < b.low, a.low >= b.high),
            Op::Le => sure(a.high <= b.low, a.low > b.high),
            Op::Gt => sure(a.low > b.high, a.high <= b.low),
            Op::Ge => sure(a.low >= b.high, a.high < b.low),
            Op::Eq | Op::Ne => {
                let equal = match (a.exact(), b.exact()) {
                    (Some(a), Some(b)) => Some(a == b),
                    _ if a.high < b.low || b.high < a.low => Some(false),
                    _ => None,
                }?;
                Some(equal == (op == Op::Eq))
            }
            _ => None,
        }
    }
}

/// A length of time in whole nanoseconds.
pub fn nanos(value: f64) -> Nanos {
    Nanos(value.max(0.0).round() as u64)
}

/// Numbers stay finite: what goes beyond is as large as can be.
fn bounded(value: f64) -> f64 {
    value.clamp(-1e30, 1e30)
}

/// A sum without its random part. What is added at random to a half makes the whole; anything else added at random is no part
/// of the nominal number.
fn added(a: &Number, b: &Number) -> f64 {
    let (sure, chance) = match (a.chance, b.chance) {
        (None, Some(_)) => (a, b),
        (Some(_), None) => (b, a),
        _ => return a.nominal + b.nominal,
    };
    if chance.low != 0.0 || chance.high == 0.0 {
        return a.nominal + b.nominal;
    }
    let makes_whole = sure.is_half && (chance.high - sure.nominal).abs() <= sure.nominal.abs() * 0.02 + 1.0;
    if makes_whole || sure.nominal == 0.0 { sure.nominal + chance.high } else { sure.nominal }
}

/// What holds the result down.
fn capped(operation: Operation, a: &Number, b: &Number) -> Option<Cap> {
    let of = |n: &Number| Cap { at: n.high, span: n.span };
    match operation {
        Operation::Min => match (a.varies, b.varies) {
            (true, false) => Some(of(b)),
            (false, true) => Some(of(a)),
            _ => a.cap.or(b.cap),
        },
        Operation::Add | Operation::Sub | Operation::SubToZero | Operation::Max => a.cap.or(b.cap),
        // A cap on an exponent or on one factor caps the product.
        Operation::Mul | Operation::Div | Operation::Pow | Operation::Shl => {
            let (held, other) = match (a.cap, b.cap) {
                (Some(cap), None) => ((cap, true), b),
                (None, Some(cap)) => ((cap, false), a),
                _ => return None,
            };
            if other.varies {
                return None;
            }
            let (cap, is_first) = held;
            let at = Number { low: cap.at, high: cap.at, nominal: cap.at, cap: None, chance: None, ..a.clone() };
            let factor = Number { low: other.nominal, high: other.nominal, cap: None, chance: None, ..other.clone() };
            let whole = if is_first {
                Number::combine(operation, &at, &factor)
            } else {
                Number::combine(operation, &factor, &at)
            };
            whole.map(|whole| Cap { at: whole.high, span: cap.span })
        }
        _ => None,
    }
}

/// Where chance comes into the result.
fn drawn(operation: Operation, a: &Number, b: &Number) -> Option<Chance> {
    let chance = a.chance.or(b.chance)?;
    let sure = if a.chance.is_some() { b } else { a };
    // What is capped already and then spread may exceed its cap; a cap over what was spread holds.
    let spreads = matches!(operation, Operation::Add | Operation::Sub | Operation::SubToZero | Operation::Mul);
    let after_cap = chance.after_cap || spreads && sure.cap.is_some();
    Some(Chance { after_cap: after_cap && operation != Operation::Min, ..chance })
}

/// Where the result is written: a length of time says more than what it is multiplied by.
fn written(operation: Operation, a: &Number, b: &Number) -> Option<Span> {
    let scales = matches!(operation, Operation::Mul | Operation::Pow | Operation::Shl | Operation::Div);
    if scales && (b.is_time && !a.is_time || a.varies && !b.varies) { b.span.or(a.span) } else { a.span.or(b.span) }
}
