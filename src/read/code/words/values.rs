//! `[values.…]`: functions, methods and constants that the value tracer knows by name. Functions and constants are known by
//! the end of their path (`Duration::from_millis`), methods by their name.

use rustc_hash::FxHashMap;

use serde::Deserialize;

use super::Table;

/// What the value tracer knows by name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct ValueWords {
    /// Functions that make a length of time of a whole number of this unit.
    pub durations: Table<Unit>,
    /// The same, for numbers with a fraction.
    pub fractional_durations: Table<Unit>,
    /// Functions that add up a length of time out of several numbers.
    pub compound_durations: FxHashMap<String, Units>,
    /// Methods that say a length of time as a whole number of this unit.
    pub parts: Table<Unit>,
    /// Methods that say a length of time as a number of this unit, with its fraction.
    pub fractional_parts: Table<Unit>,
    /// Constants, and functions without arguments that give one: `4294967295`, `0.5`, `0 s`.
    pub constants: FxHashMap<String, Constant>,
    /// Functions and what they do to their arguments.
    pub functions: Table<Operation>,
    /// Methods and what they do to their receiver and arguments.
    pub methods: Table<Operation>,
    /// Functions that read an environment variable; its name is their first argument.
    pub environment: Vec<String>,
    /// Functions and methods that are random.
    pub random: Table<Random>,
    /// Words in the name of a function that make it likely that it is random, where it cannot be followed.
    pub random_names: super::loops::WordList,
    /// Methods that change their receiver, so that what it was before says nothing of what it is after.
    pub changes: Vec<String>,
    /// Functions that make the value a type begins with: `Default::default`.
    pub defaults: Vec<String>,
    /// Variants that say that nothing is there.
    pub absent: Vec<String>,
    /// Functions that make a failure.
    pub failures: Vec<String>,
    /// Types of numbers with a fraction.
    pub fractions: Vec<String>,
    /// Whether dividing whole numbers gives a whole number.
    pub whole_division: bool,
}

/// Units of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
pub enum Unit {
    /// Nanoseconds.
    #[serde(rename = "ns")]
    Nanos,
    /// Microseconds.
    #[serde(rename = "us")]
    Micros,
    /// Milliseconds.
    #[serde(rename = "ms")]
    Millis,
    /// Seconds.
    #[serde(rename = "s")]
    Seconds,
    /// Minutes.
    #[serde(rename = "min")]
    Minutes,
    /// Hours.
    #[serde(rename = "h")]
    Hours,
    /// Days.
    #[serde(rename = "d")]
    Days,
    /// Weeks.
    #[serde(rename = "w")]
    Weeks,
}

impl Unit {
    /// How many nanoseconds it has.
    pub const fn nanos(self) -> u64 {
        match self {
            Unit::Nanos => 1,
            Unit::Micros => 1_000,
            Unit::Millis => 1_000_000,
            Unit::Seconds => 1_000_000_000,
            Unit::Minutes => 60 * 1_000_000_000,
            Unit::Hours => 3_600 * 1_000_000_000,
            Unit::Days => 86_400 * 1_000_000_000,
            Unit::Weeks => 7 * 86_400 * 1_000_000_000,
        }
    }

    /// The unit of this name.
    fn named(name: &str) -> Option<Unit> {
        Some(match name {
            "ns" => Unit::Nanos,
            "us" => Unit::Micros,
            "ms" => Unit::Millis,
            "s" => Unit::Seconds,
            "min" => Unit::Minutes,
            "h" => Unit::Hours,
            "d" => Unit::Days,
            "w" => Unit::Weeks,
            _ => return None,
        })
    }
}

/// The units of the numbers that a function adds up to a length of time.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Units {
    /// By their order.
    Each(Vec<Unit>),
    /// By their names.
    Named(FxHashMap<String, Unit>),
}

impl Units {
    /// The unit of an argument.
    pub fn of(&self, at: usize, name: Option<&str>) -> Option<Unit> {
        match (self, name) {
            (Units::Each(units), None) => units.get(at).copied(),
            (Units::Named(units), Some(name)) => units.get(name).copied(),
            _ => None,
        }
    }
}

/// The value of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub enum Constant {
    /// A whole number.
    Int(i128),
    /// A number with a fraction.
    Float(f64),
    /// So many of a unit.
    Time(u64, Unit),
}

impl TryFrom<String> for Constant {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let constant = match text.split_once(' ') {
            Some((number, unit)) => number.parse().ok().zip(Unit::named(unit)).map(|(n, unit)| Constant::Time(n, unit)),
            None => (text.parse().map(Constant::Int)).or_else(|_| text.parse().map(Constant::Float)).ok(),
        };
        constant.ok_or_else(|| format!("`{text}` is no number and no length of time such as `5 s`"))
    }
}

/// What a function or method does. "The first" is the receiver of a method, else the first argument; the others follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// The first, unchanged: wrappers, clones, conversions that cannot fail, unwrapping.
    Same,
    /// The first, if it fits another type; what then stands in for it is no default.
    Converted,
    /// What the first, a function, gives.
    Result,
    /// The first; if that is absent, the second.
    Fallback,
    /// The first; if that is absent, what the second, a function, gives.
    FallbackResult,
    /// The first; if that is absent, what its type begins with.
    FallbackDefault,
    /// What the second, a function, gives for the first; absent if that is.
    Apply,
    /// What the third, a function, gives for the first; if that is absent, the second.
    ApplyOr,
    /// The next of several, the last one, one that is found: another one each time.
    Successive,
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The difference, zero if it would be below.
    SubToZero,
    /// The distance.
    Distance,
    /// The product.
    Mul,
    /// The quotient.
    Div,
    /// What division leaves.
    Rem,
    /// The first to the power of the second.
    Pow,
    /// Two to the power of the first.
    PowOfTwo,
    /// Shifted left.
    Shl,
    /// Shifted right.
    Shr,
    /// The lesser.
    Min,
    /// The greater.
    Max,
    /// The first, not below the second and not above the third.
    Clamp,
    /// The whole number below.
    Floor,
    /// The whole number above.
    Ceil,
    /// The nearest whole number.
    Round,
    /// The square root.
    Sqrt,
    /// A text as a number.
    ParseNumber,
    /// A text as a length of time: `1m 30s`.
    ParseDuration,
    /// How many there are.
    Len,
    /// The element at the second.
    At,
    /// The first element.
    First,
    /// The last element.
    Last,
    /// As many as the second says, from the start.
    Take,
    /// Without as many as the second says, from the start.
    Skip,
    /// The first and then the second.
    Chain,
    /// A list of the first alone.
    Once,
    /// As many as the second says of the first.
    Repeat,
}

/// How a function is random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Random {
    /// Anything in the range, or between the two numbers, that it is given; `Any` if it is given nothing.
    Range,
    /// Anything from 0 up to 1.
    Fraction,
    /// Anything from zero to what it is given.
    Full,
    /// Anything that the type asked for holds; of numbers with a fraction from 0 up to 1.
    Any,
    /// No value itself, but what random values are taken from.
    Source,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::code::words::Words as Language;

    #[test]
    fn constants_are_numbers_and_times() {
        let constant = |text: &str| Constant::try_from(text.to_string()).ok();
        assert_eq!(constant("18446744073709551615"), Some(Constant::Int(u64::MAX.into())));
        assert_eq!(constant("0.5"), Some(Constant::Float(0.5)));
        assert_eq!(constant("0 s"), Some(Constant::Time(0, Unit::Seconds)));
        assert_eq!(constant("0 fortnights"), None);
        assert_eq!(constant("many"), None);
    }

    #[test]
    fn the_longest_end_of_a_path_counts() {
        let words = &Language::of("rust").values;
        assert_eq!(words.functions.of_path("std::cmp::min"), Some(Operation::Min));
        assert_eq!(words.functions.of_path("core::option::Option::Some"), Some(Operation::Same));
        assert_eq!(words.functions.of_path("crate::admin"), None);
        assert_eq!(words.durations.of_path("tokio::time::Duration::from_secs"), Some(Unit::Seconds));
        assert_eq!(words.random.of_path("tokio_retry::strategy::jitter"), Some(Random::Full));
        assert_eq!(words.random.of_path("crate::jitter"), None);
    }
}
