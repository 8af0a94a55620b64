//! [`Amount`]: a number of requests that may be huge, fractional or without end.

use serde::{Serialize, Serializer};

/// A number of requests: exact while it is whole and fits 128 bits, a float beyond, or unbounded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Exactly so many.
    Exact(u128),
    /// A fraction, or too large to be exact.
    Real(f64),
    /// Without end.
    Unbounded,
}

impl Default for Amount {
    fn default() -> Self {
        Amount::ONE
    }
}

impl Amount {
    /// None.
    pub const ZERO: Amount = Amount::Exact(0);
    /// One.
    pub const ONE: Amount = Amount::Exact(1);

    /// From a float; whole numbers that floats hold exactly become exact.
    pub fn from_f64(value: f64) -> Amount {
        if value.is_infinite() {
            Amount::Unbounded
        } else if value.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(&value) {
            Amount::Exact(value as u128)
        } else {
            Amount::Real(value)
        }
    }

    /// As a float: infinite if unbounded.
    pub fn as_f64(self) -> f64 {
        match self {
            Amount::Exact(n) => n as f64,
            Amount::Real(x) => x,
            Amount::Unbounded => f64::INFINITY,
        }
    }

    /// Whether it is without end.
    pub fn is_unbounded(self) -> bool {
        self == Amount::Unbounded
    }

    /// The greater one.
    #[must_use]
    pub fn max(self, other: Amount) -> Amount {
        if other > self { other } else { self }
    }

    /// The lesser one.
    #[must_use]
    pub fn min(self, other: Amount) -> Amount {
        if other < self { other } else { self }
    }
}

impl PartialOrd for Amount {
    fn partial_cmp(&self, other: &Amount) -> Option<std::cmp::Ordering> {
        match (self, other) {
            (Amount::Exact(a), Amount::Exact(b)) => Some(a.cmp(b)),
            _ => self.as_f64().partial_cmp(&other.as_f64()),
        }
    }
}

impl std::ops::Mul for Amount {
    type Output = Amount;
    /// Zero times unbounded is zero: what is never called is not called endlessly.
    fn mul(self, other: Amount) -> Amount {
        match (self, other) {
            (Amount::Exact(0), _) | (_, Amount::Exact(0)) => Amount::ZERO,
            (Amount::Unbounded, _) | (_, Amount::Unbounded) => Amount::Unbounded,
            (Amount::Exact(a), Amount::Exact(b)) => {
                a.checked_mul(b).map_or(Amount::Real(a as f64 * b as f64), Amount::Exact)
            }
            (a, b) => Amount::from_f64(a.as_f64() * b.as_f64()),
        }
    }
}

impl std::ops::Add for Amount {
    type Output = Amount;
    fn add(self, other: Amount) -> Amount {
        match (self, other) {
            (Amount::Unbounded, _) | (_, Amount::Unbounded) => Amount::Unbounded,
            (Amount::Exact(a), Amount::Exact(b)) => {
                a.checked_add(b).map_or(Amount::Real(a as f64 + b as f64), Amount::Exact)
            }
            (a, b) => Amount::from_f64(a.as_f64() + b.as_f64()),
        }
    }
}

impl std::fmt::Display for Amount {
    /// `27`, `1,099,511,627,776`, `1.43`, `unbounded`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Amount::Exact(n) => f.write_str(&crate::facts::words::grouped(*n)),
            Amount::Real(x) => f.write_str(&crate::facts::words::factor(*x)),
            Amount::Unbounded => f.write_str("unbounded"),
        }
    }
}

impl Serialize for Amount {
    /// Whole numbers from 2^53 on are decimal strings, unbounded is the word (contracts.md D-19); what is not exact is a
    /// float.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match *self {
            Amount::Exact(n) => match u64::try_from(n) {
                Ok(n) if n < 1 << 53 => serializer.serialize_u64(n),
                _ => serializer.collect_str(&n),
            },
            // A number and no string: no digit is claimed that a float does not hold, nor the noise in its last ones.
            Amount::Real(x) if x.abs() < 1e6 => serializer.serialize_f64((x * 1e9).round() / 1e9),
            Amount::Real(x) => serializer.serialize_f64(x),
            Amount::Unbounded => serializer.serialize_str("unbounded"),
        }
    }
}

/// The schema of what is written of it.
#[cfg(test)]
impl schemars::JsonSchema for Amount {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Amount".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "A number; from 2^53 on the digits as text, since not every reader keeps such a number whole; \
                            `unbounded` if there is no end to it.",
            "oneOf": [
                { "type": "number", "minimum": 0 },
                { "type": "string", "pattern": "^([0-9]{16,}|unbounded)$" }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_stay_exact_as_long_as_they_can() {
        let big = Amount::Exact(1 << 100);
        assert_eq!(big * Amount::Exact(4), Amount::Exact(1 << 102));
        assert!(matches!(big * big, Amount::Real(_)));
        assert_eq!(Amount::Real(0.5) * Amount::Exact(4), Amount::Exact(2));
        assert_eq!(Amount::ZERO * Amount::Unbounded, Amount::ZERO);
        assert_eq!(Amount::Unbounded + Amount::ONE, Amount::Unbounded);
        assert!(Amount::Unbounded > Amount::Exact(u128::MAX));
    }

    #[test]
    fn json_keeps_large_integers_whole() {
        let json = |a: Amount| serde_json::to_string(&a).unwrap();
        assert_eq!(json(Amount::Exact(27)), "27");
        assert_eq!(json(Amount::Exact(9_007_199_254_740_992)), "\"9007199254740992\"");
        assert_eq!(json(Amount::Unbounded), "\"unbounded\"");
        assert_eq!(json(Amount::Real(1.5)), "1.5");
        assert_eq!(json(Amount::Real(1.1 * 1.1)), "1.21");
        // Past 128 bits a load is a float, and says so.
        let huge = Amount::Exact(20_u128.pow(29)) * Amount::Exact(20_u128.pow(29));
        let number: f64 = json(huge).parse().unwrap();
        assert!((number / 20_f64.powi(58) - 1.0).abs() < 1e-12, "{number}");
    }
}
