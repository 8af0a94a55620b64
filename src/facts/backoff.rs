//! How delays between tries grow and how they are spread (contracts.md D-12); their arithmetic is in `delays`.

use serde::{Deserialize, Serialize};

use super::{Limit, Nanos, Sourced};

/// How delays grow. Nominal delay before retry `i` (from 1): `min(cap, base * factor^(i - 1))` for exponential.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Backoff {
    /// The shape.
    pub kind: Sourced<BackoffKind>,
    /// The first delay.
    pub base: Sourced<Nanos>,
    /// The growth of an exponential.
    pub factor: Sourced<f64>,
    /// The largest nominal delay.
    pub cap: Sourced<Limit<Nanos>>,
    /// Delays left out at the beginning of the series.
    pub skip: u32,
}

/// The shape of a series of delays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BackoffKind {
    /// No delay at all.
    None,
    /// The same delay each time.
    Fixed,
    /// `base * i`.
    Linear,
    /// `base * factor^(i - 1)`.
    Exponential,
    /// `base` times the Fibonacci numbers 1, 1, 2, 3, 5 …
    Fibonacci,
    /// These delays, the last one repeated.
    Schedule(Vec<Nanos>),
}

/// The random part: a nominal delay `d` becomes uniform in `[low * d, high * d + plus]`, but never less than `least`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Jitter {
    /// Factor of the least delay.
    pub low: f64,
    /// Factor of the greatest delay.
    pub high: f64,
    /// Constant added to the greatest delay.
    pub plus: Nanos,
    /// Where the interval begins at the least, `low` or not.
    pub least: Nanos,
    /// Before or after the cap.
    pub at: JitterAt,
    /// Decorrelated jitter keeps a recursion of its own: `[base, min(cap, 3 * previous)]`.
    pub decorrelated: bool,
}

/// Whether the cap is applied to the spread delay or to the nominal one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum JitterAt {
    /// Spread first, then capped: the cap holds.
    BeforeCap,
    /// Capped first, then spread: the cap may be exceeded.
    AfterCap,
}

impl Jitter {
    /// No random part.
    pub const NONE: Jitter = Jitter {
        low: 1.0,
        high: 1.0,
        plus: Nanos::ZERO,
        least: Nanos::ZERO,
        at: JitterAt::BeforeCap,
        decorrelated: false,
    };
    /// Anything from zero to the delay.
    pub const FULL: Jitter = Jitter { low: 0.0, ..Jitter::NONE };
    /// Anything from half the delay to the delay.
    pub const EQUAL: Jitter = Jitter { low: 0.5, ..Jitter::NONE };
    /// A recursion of its own.
    pub const DECORRELATED: Jitter = Jitter { low: 0.0, high: 3.0, decorrelated: true, ..Jitter::NONE };

    /// The delay plus or minus a share of it.
    pub fn proportional(share: f64) -> Jitter {
        Jitter { low: 1.0 - share, high: 1.0 + share, ..Jitter::NONE }
    }

    /// A constant added.
    pub fn additive(plus: Nanos) -> Jitter {
        Jitter { plus, ..Jitter::NONE }
    }

    /// Whether it spreads anything.
    pub fn is_none(&self) -> bool {
        self.low >= self.high && self.plus == Nanos::ZERO && !self.decorrelated
    }

    /// The kind shown in output, derived from the interval.
    pub fn kind(&self) -> &'static str {
        if self.decorrelated {
            "decorrelated"
        } else if self.is_none() {
            "none"
        } else if self.plus > Nanos::ZERO {
            "additive"
        } else if self.low == 0.0 && self.high == 1.0 {
            "full"
        } else if self.low == 0.5 && self.high == 1.0 {
            "equal"
        } else {
            "proportional"
        }
    }
}
