//! [`Nanos`]: a length of time in whole nanoseconds, saturating, printed as people write it.

use serde::{Deserialize, Serialize};

/// A length of time, in nanoseconds. Arithmetic saturates at 584 years.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Nanos(pub u64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Nanos = Nanos(0);
    /// As long as can be said.
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// Whole seconds.
    pub const fn from_secs(secs: u64) -> Self {
        Nanos(secs.saturating_mul(1_000_000_000))
    }

    /// Whole milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Nanos(millis.saturating_mul(1_000_000))
    }

    /// Seconds with a fraction; negative and NaN become zero, what is too large saturates.
    pub fn from_secs_f64(secs: f64) -> Self {
        // `as` saturates and maps NaN to zero: that is what is wanted.
        Nanos((secs * 1e9).round() as u64)
    }

    /// Seconds with a fraction.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Milliseconds with a fraction, as the JSON output gives them.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// As .NET writes it: `00:00:30`, `00:00:01.500`, `1.12:00:00`. Cut to whole milliseconds.
    pub fn as_timespan(self) -> String {
        let millis = self.0 / 1_000_000;
        let (seconds, millis) = (millis / 1000, millis % 1000);
        let (days, seconds) = (seconds / 86_400, seconds % 86_400);
        // Hours beyond a day are refused there, so days have a place of their own.
        let days = if days > 0 { format!("{days}.") } else { String::new() };
        let fraction = if millis > 0 { format!(".{millis:03}") } else { String::new() };
        format!("{days}{:02}:{:02}:{:02}{fraction}", seconds / 3600, seconds / 60 % 60, seconds % 60)
    }

    /// `factor` times as long, rounded to whole nanoseconds.
    pub fn scale(self, factor: f64) -> Self {
        Nanos((self.0 as f64 * factor).round() as u64)
    }

    /// `n` times as long.
    pub fn times(self, n: u64) -> Self {
        Nanos(self.0.saturating_mul(n))
    }
}

impl std::ops::Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl std::ops::Sub for Nanos {
    type Output = Nanos;
    /// Never below zero.
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }
}

impl std::iter::Sum for Nanos {
    fn sum<I: Iterator<Item = Nanos>>(iter: I) -> Nanos {
        iter.fold(Nanos::ZERO, |a, b| a + b)
    }
}

impl std::fmt::Display for Nanos {
    /// `250 ms`, `1.5 s`, `2 min`, `1 h`: the largest unit that needs no more than three decimals. From two days on what is no
    /// whole number of minutes is rounded: `2.3 days`, `77.3 years`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const UNITS: [(u64, &str); 4] =
            [(3_600_000_000_000, "h"), (60_000_000_000, "min"), (1_000_000_000, "s"), (1_000_000, "ms")];
        let whole = |unit: u64| self.0 >= unit && self.0.is_multiple_of(unit);
        if self.0 == 0 {
            return f.write_str("0 s");
        }
        // Sums stop there, so it is no figure of its own.
        if *self == Nanos::MAX {
            return f.write_str("584 years or more");
        }
        // Nobody counts years in seconds.
        const DAY: u64 = 24 * 3_600_000_000_000;
        const YEAR: u64 = 365 * DAY + DAY / 4;
        for (unit, name) in [(YEAR, "years"), (DAY, "days")] {
            if self.0 >= 2 * unit && !whole(UNITS[1].0) {
                return write!(f, "{} {name}", (self.0 as f64 / unit as f64 * 10.0).round() / 10.0);
            }
        }
        for (unit, name) in UNITS {
            // Hours and minutes only when whole, so that 90 s stays 90 s.
            let fits = if unit > 1_000_000_000 { whole(unit) && self.0 >= 2 * unit } else { self.0 >= unit };
            if fits {
                let value = (self.0 as f64 / unit as f64 * 1000.0).round() / 1000.0;
                return write!(f, "{value} {name}");
            }
        }
        write!(f, "{} ms", self.0 as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_printed_as_people_write_them() {
        let show = |n: Nanos| n.to_string();
        assert_eq!(show(Nanos::from_millis(250)), "250 ms");
        assert_eq!(show(Nanos::from_millis(43_500)), "43.5 s");
        assert_eq!(show(Nanos::from_secs(90)), "90 s");
        assert_eq!(show(Nanos::from_secs(60)), "60 s");
        assert_eq!(show(Nanos::from_secs(120)), "2 min");
        assert_eq!(show(Nanos::from_secs(7200)), "2 h");
        assert_eq!(show(Nanos(500)), "0.0005 ms");
        assert_eq!(show(Nanos::ZERO), "0 s");
    }

    #[test]
    fn a_time_at_the_end_of_the_scale_is_no_figure() {
        assert_eq!(Nanos::MAX.to_string(), "584 years or more");
        assert_eq!(Nanos(u64::MAX - 1).to_string(), "584.5 years");
        // 2.438 billion seconds, of 31,557,600 in a year.
        assert_eq!(Nanos::from_millis(2_438_127_198_020).to_string(), "77.3 years");
        assert_eq!(Nanos::from_millis(200_000_500).to_string(), "2.3 days");
        assert_eq!(Nanos::from_secs(72 * 3600).to_string(), "72 h");
    }

    #[test]
    fn a_timespan_has_a_place_for_days() {
        assert_eq!(Nanos::from_secs(3_661).as_timespan(), "01:01:01");
        assert_eq!(Nanos::from_millis(200).as_timespan(), "00:00:00.200");
        assert_eq!(Nanos::from_secs(36 * 3600).as_timespan(), "1.12:00:00");
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Nanos::MAX + Nanos(1), Nanos::MAX);
        assert_eq!(Nanos(1) - Nanos(2), Nanos::ZERO);
        assert_eq!(Nanos::from_secs_f64(f64::NAN), Nanos::ZERO);
        assert_eq!(Nanos::from_secs_f64(-1.0), Nanos::ZERO);
        assert_eq!(Nanos::from_secs_f64(f64::INFINITY), Nanos::MAX);
    }
}
