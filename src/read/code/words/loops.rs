//! `[loops.…]`: what the loop recogniser knows by name. Functions and constants are known by the end of their path, methods and
//! variants by their name; parts of names are lower-case words (`max_retry_count` and `maxRetryCount` are `max`, `retry`, `count`).

use serde::Deserialize;

use super::Table;
use crate::facts::Class;

/// Letters of a name that are looked at.
const LONGEST: usize = 256;

/// What the loop recogniser knows by name.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct LoopWords {
    /// Functions that wait for a length of time, which is their first argument.
    pub waits: Table<Wait>,
    /// Methods that do.
    pub wait_methods: Table<Wait>,
    /// Functions that limit the time of what is their second argument; the limit is the first.
    pub limits: Table<Limit>,
    /// Methods that limit the time of their receiver; the limit is the first argument.
    pub limit_methods: Table<Limit>,
    /// Functions and methods that tell the time.
    pub clock: Table<Clock>,
    /// Functions that make a result, a value that may be absent.
    pub wrappers: Table<Wrapper>,
    /// Methods that hand the result that they are called on through, changed or not.
    pub through: Vec<String>,
    /// Methods that make an optional value of a result.
    pub to_option: Vec<String>,
    /// Methods that give the value of a result, or end the thread.
    pub unwraps: Vec<String>,
    /// Functions whose argument, a function, is run at once and on another thread, where waiting blocks nobody.
    pub blocking_places: Vec<String>,
    /// Methods and functions that tell whether an answer is good or bad.
    pub answers: Table<Outcome>,
    /// Variants that say whether something worked.
    pub variants: Table<Outcome>,
    /// Constants and variants that say how an answer failed.
    pub failures: Table<Group>,
    /// Methods that ask in which hundred an HTTP status is.
    pub status_tests: Table<StatusRange>,
    /// Methods that ask whether something is in a list or range.
    pub memberships: Vec<String>,
    /// Methods that ask something of what may be absent, by a closure.
    pub optional_tests: Table<Presence>,
    /// Methods that ask an error how it came to be.
    pub error_tests: Table<Group>,
    /// Kinds of errors after which going on at once is no retry: interrupted system calls, names that are taken.
    pub no_failures: Vec<String>,
    /// Macros and methods that log or count.
    pub observes: Vec<String>,
    /// Functions and methods that are no operation to be tried again: they wait for something, or take what comes.
    pub stops: Vec<String>,
    /// … unless something is waited for between the tries.
    pub stops_at_once: Vec<String>,
    /// Functions that end everything unless their first argument holds.
    pub asserts: Vec<String>,
    /// Functions that end everything: `panic!`.
    pub aborts: Vec<String>,
    /// Types that say whether something worked.
    pub results: Vec<String>,
    /// Types of conditions.
    pub truth_types: Vec<String>,
    /// Types that are lengths of time.
    pub time_types: Vec<String>,
    /// Methods of a condition that give something where it holds, and nothing else.
    pub conditionals: Vec<String>,
    /// Methods that take one number from another, and give nothing where that is less than nothing.
    pub checked_differences: Vec<String>,
    /// Traits whose implementations a library asks whether to try again.
    pub deciders: Vec<Decider>,
    /// Methods that put one more at the end of a list.
    pub appends: Vec<String>,
    /// Methods that leave so many of a list, from the start.
    pub cuts: Vec<String>,
    /// Methods that turn a list or range round.
    pub reversals: Vec<String>,
    /// Methods that divide and round up.
    pub rounded_divisions: Vec<String>,
    /// Methods that number the elements of a list.
    pub numberings: Vec<String>,
    /// Parts of names.
    pub names: Names,
}

/// A trait whose implementations a library asks after each try: they give what to wait for before the next one, or nothing.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decider {
    /// The trait, by its full path.
    #[serde(rename = "trait")]
    pub of: String,
    /// The method that is asked. After the receiver, it takes the request and the result.
    pub method: String,
}

/// Parts of names and what they tell.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Names {
    /// Of what counts tries: `attempt`, `retries`.
    pub attempts: WordList,
    /// Of functions that try again.
    pub retries: WordList,
    /// Of functions that wait, where they cannot be followed.
    pub sleeps: WordList,
    /// Of functions that wait if they are awaited.
    pub waits: WordList,
    /// Of things that say how long to wait: `backoff`.
    pub schedules: WordList,
    /// Of fields and methods that say how long to wait.
    pub delays: WordList,
    /// Units of time, and what else shows that something is a length of it.
    pub units: WordList,
    /// Of fields that count tries after the first.
    pub retry_counts: WordList,
    /// Of fields that only say where a count stands: `current`.
    pub states: WordList,
    /// Of functions that ask whether to try again.
    pub asks: WordList,
    /// Of functions that only speak of trying again: they ask, or say how often.
    pub asks_only: WordList,
    /// Of functions that wait until something is so, at the start: `wait`, `check`.
    pub waiting: WordList,
    /// The same, anywhere: `until`, `eventually`.
    pub waiting_anywhere: WordList,
    /// Of functions that are called over and over again by others: `poll`.
    pub polled: WordList,
    /// Of operations that connect.
    pub connects: WordList,
    /// Of functions that run when a program starts.
    pub starts: WordList,
    /// Of functions and operations that go on in the background.
    pub background: WordList,
    /// Of what says that somebody wants it to end: `shutdown`, `cancelled`.
    pub cancels: WordList,
    /// Of macros that leave the function in which they are called: `bail`.
    pub leaves: WordList,
    /// Of limits on time: `deadline`.
    pub deadlines: WordList,
    /// Of the statuses of answers: `status`.
    pub statuses: WordList,
}

/// A hundred of HTTP statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StatusRange {
    /// 100 to 199.
    Informational,
    /// 200 to 299.
    Success,
    /// 300 to 399.
    Redirection,
    /// 400 to 499.
    ClientError,
    /// 500 to 599.
    ServerError,
}

/// Whether a question holds where what it asks about is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// It does not.
    Required,
    /// It does.
    Optional,
}

/// How a wait waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wait {
    /// It gives something to be awaited.
    Awaited,
    /// It waits at once and blocks its thread.
    Blocking,
    /// It gives something to be awaited; its argument is the point in time that is waited for.
    Until,
    /// It gives something to be awaited, of so many milliseconds.
    AwaitedMillis,
    /// It waits at once for so many milliseconds and blocks its thread.
    BlockingMillis,
    /// It waits at once for so many seconds and blocks its thread.
    BlockingSeconds,
}

/// What a limit limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// A length of time.
    For,
    /// A point in time.
    Until,
}

/// How the time is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Clock {
    /// The point in time that it is.
    Now,
    /// The time since a point, which is the receiver or first argument.
    Elapsed,
    /// The time between two points.
    Between,
}

/// What a wrapper says of what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wrapper {
    /// It is what an operation gave.
    Success,
    /// It is how an operation failed.
    Failure,
    /// It is there.
    Present,
    /// Nothing is there.
    Absent,
}

/// Whether something worked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// It did.
    Success,
    /// It did not.
    Failure,
}

/// A failure class of D-10, or several of them that code asks for at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum Group {
    Connect,
    Unsent,
    Reset,
    TryTimeout,
    Overload,
    BadGateway,
    Http500,
    RateLimited,
    Conflict,
    Http400,
    Unavailable,
    Exhausted,
    Deadline,
    Aborted,
    Internal,
    Rejected,
    BreakerOpen,
    /// Every HTTP 5xx.
    ServerError,
    /// Every HTTP 4xx.
    ClientError,
    /// What only files of this machine answer: no failure of a call.
    Local,
}

impl Group {
    /// The classes of it.
    pub fn classes(self) -> &'static [Class] {
        match self {
            Group::Local => &[],
            Group::Connect => &[Class::Connect],
            Group::Unsent => &[Class::Unsent],
            Group::Reset => &[Class::Reset],
            Group::TryTimeout => &[Class::TryTimeout],
            Group::Overload => &[Class::Overload],
            Group::BadGateway => &[Class::BadGateway],
            Group::Http500 => &[Class::ServerError],
            Group::RateLimited => &[Class::RateLimited],
            Group::Conflict => &[Class::Conflict],
            Group::Http400 => &[Class::ClientError],
            Group::Unavailable => &[Class::Unavailable],
            Group::Exhausted => &[Class::Exhausted],
            Group::Deadline => &[Class::Deadline],
            Group::Aborted => &[Class::Aborted],
            Group::Internal => &[Class::Internal],
            Group::Rejected => &[Class::Rejected],
            Group::BreakerOpen => &[Class::BreakerOpen],
            Group::ServerError => &[Class::Overload, Class::BadGateway, Class::ServerError],
            Group::ClientError => &[Class::RateLimited, Class::Conflict, Class::ClientError],
        }
    }
}

/// The words of a name, lower-case: of `maxRetryCount`, `MAX_RETRY_COUNT` and `max_retry_count` they are `max`, `retry`, `count`.
pub fn parts(name: &str) -> impl Iterator<Item = String> {
    written(name).map(small)
}

/// Words, lower-case, that names are looked through for.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(from = "Vec<String>")]
pub struct WordList {
    words: Vec<String>,
    /// A bit for each first letter, and one for each length: nearly all parts of names are refused by these.
    letters: u32,
    lengths: u64,
}

impl From<Vec<String>> for WordList {
    fn from(words: Vec<String>) -> Self {
        let letters = words.iter().filter_map(|word| letter(word)).fold(0, |all, bit| all | bit);
        let lengths = words.iter().fold(0, |all, word| all | length(word));
        WordList { words, letters, lengths }
    }
}

impl std::ops::Deref for WordList {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.words
    }
}

fn letter(word: &str) -> Option<u32> {
    // Letters of either case, and whatever else there is, share five bits.
    word.bytes().next().map(|first| 1 << (first & 0x1f))
}

fn length(word: &str) -> u64 {
    1 << word.len().min(63)
}

/// Whether a name has one of these words in it.
pub fn has(list: &WordList, name: &str) -> bool {
    written(name).any(|part| match part.is_ascii() {
        true => {
            let may_be = list.lengths & length(part) != 0 && letter(part).is_some_and(|bit| list.letters & bit != 0);
            may_be && list.words.iter().any(|word| word.eq_ignore_ascii_case(part))
        }
        false => list.words.contains(&small(part)),
    })
}

/// The words of a name as they are written.
fn written(name: &str) -> impl Iterator<Item = &str> {
    // Nearly all names are ASCII, and are read by the byte.
    let is_ascii = name.is_ascii();
    let end = match is_ascii {
        true => name.len().min(LONGEST),
        false => name.char_indices().nth(LONGEST).map_or(name.len(), |(at, _)| at),
    };
    let mut rest = name.get(..end).unwrap_or_default();
    std::iter::from_fn(move || {
        let (start, end) = if is_ascii { ascii_word(rest.as_bytes()) } else { word(rest) };
        let part = rest.get(start..end)?;
        let behind = rest.get(end..)?;
        rest = behind;
        (!part.is_empty()).then_some(part)
    })
}

/// Where the first word of a name begins and ends.
fn word(name: &str) -> (usize, usize) {
    let start = name.find(char::is_alphanumeric).unwrap_or(name.len());
    let mut before = '_';
    let ends = |(_, letter): &(usize, char)| {
        let starts = letter.is_uppercase() && before.is_lowercase();
        before = *letter;
        starts || !letter.is_alphanumeric()
    };
    let rest = name.get(start..).unwrap_or_default();
    (start, rest.char_indices().find(ends).map_or(name.len(), |(at, _)| start + at))
}

/// The same of a name that is ASCII.
fn ascii_word(name: &[u8]) -> (usize, usize) {
    let start = name.iter().position(u8::is_ascii_alphanumeric).unwrap_or(name.len());
    let mut before = b'_';
    let ends = |letter: &u8| {
        let starts = letter.is_ascii_uppercase() && before.is_ascii_lowercase();
        before = *letter;
        starts || !letter.is_ascii_alphanumeric()
    };
    let rest = name.get(start..).unwrap_or_default();
    (start, rest.iter().position(ends).map_or(name.len(), |at| start + at))
}

fn small(part: &str) -> String {
    part.chars().flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words() {
        let of = |name: &str| parts(name).collect::<Vec<_>>();
        assert_eq!(of("maxRetryCount"), ["max", "retry", "count"]);
        assert_eq!(of("MAX_RETRY_COUNT"), ["max", "retry", "count"]);
        assert_eq!(of("retryable_scan"), ["retryable", "scan"]);
        assert_eq!(of("r#try"), ["r", "try"]);
        assert_eq!(of("nächsterVersuch_ÜBER2"), ["nächster", "versuch", "über2"]);
        assert_eq!(of("__a__B2c"), ["a", "b2c"]);
        assert!(of("").is_empty());
    }
}
