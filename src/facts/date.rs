//! [`Date`]: the day until which a suppression holds.

use std::borrow::Cow;
use std::fmt;

use serde::de::Unexpected;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A day of the calendar, `2027-01-31`, in no time zone. The order is that of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(with = "String", extend("format" = "date")))]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

/// What a date looks like, for messages.
pub const DATE: &str = "a day such as `2027-01-31`";

impl Date {
    /// From `YYYY-MM-DD` (RFC 3339 full-date), if the calendar has that day.
    pub fn parse(text: &str) -> Option<Date> {
        let mut parts = text.split('-');
        let mut number = |digits: usize| {
            let part = parts.next()?;
            let is_number = part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| part.parse::<u16>().ok()).flatten()
        };
        let (year, month, day) = (number(4)?, u8::try_from(number(2)?).ok()?, u8::try_from(number(2)?).ok()?);
        let is_day = parts.next().is_none() && (1..=days(year, month)).contains(&day);
        is_day.then_some(Date { year, month, day })
    }

    /// The day in UTC on which so many seconds have passed since 1970; none before that and past the year 9999.
    pub fn from_unix(seconds: u64) -> Option<Date> {
        let mut left = seconds / 86_400;
        let mut year = 1970;
        loop {
            let length = u64::from(if is_leap(year) { 366_u16 } else { 365 });
            if left < length {
                break;
            }
            left -= length;
            year = Some(year + 1).filter(|year| *year <= 9999)?;
        }
        let mut month = 1;
        while left >= u64::from(days(year, month)) {
            left -= u64::from(days(year, month));
            month += 1;
        }
        Some(Date { year, month, day: left as u8 + 1 })
    }
}

/// Days of a month; none where there is no such month.
fn days(year: u16, month: u8) -> u8 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

fn is_leap(year: u16) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <Cow<'de, str>>::deserialize(deserializer)?;
        Date::parse(&text).ok_or_else(|| serde::de::Error::invalid_value(Unexpected::Str(&text), &DATE))
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_a_day_that_the_calendar_has() {
        for text in ["2027-01-31", "2028-02-29", "2000-02-29", "0001-12-31"] {
            assert_eq!(Date::parse(text).map(|date| date.to_string()).as_deref(), Some(text));
        }
        for text in [
            "2027-02-29",
            "2100-02-29",
            "2027-04-31",
            "2027-13-01",
            "2027-00-01",
            "2027-01-00",
            "2027-1-31",
            "27-01-31",
            "2027-01-31T00:00",
            "2027-01",
            "2027-01-31-1",
            "+027-01-01",
            "2027/01/31",
            "",
            "next week",
        ] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }

    #[test]
    fn dates_follow_each_other_as_days_do() {
        let date = |text| Date::parse(text).unwrap();
        assert!(date("2027-01-31") < date("2027-02-01"));
        assert!(date("2026-12-31") < date("2027-01-01"));
        assert!(date("2027-01-31") == date("2027-01-31"));
    }

    #[test]
    fn seconds_since_1970_are_a_day_in_utc() {
        let day = |seconds| Date::from_unix(seconds).map(|date| date.to_string());
        assert_eq!(day(0).as_deref(), Some("1970-01-01"));
        assert_eq!(day(86_399).as_deref(), Some("1970-01-01"));
        assert_eq!(day(86_400).as_deref(), Some("1970-01-02"));
        // 2000-02-29 00:00:00 UTC, and the day after it.
        assert_eq!(day(951_782_400).as_deref(), Some("2000-02-29"));
        assert_eq!(day(951_868_800).as_deref(), Some("2000-03-01"));
        assert_eq!(day(1_798_675_200).as_deref(), Some("2026-12-31"));
        assert_eq!(day(u64::MAX), None);
    }
}
