//! Sets of HTTP statuses.

use crate::facts::{Class, Classes};
use crate::read::code::words::loops::{Outcome, StatusRange};

/// The first status there is.
pub(super) const FIRST: u16 = 100;
/// The last one.
pub(super) const LAST: u16 = 599;
/// The first that says that something failed (RFC 9110, section 15).
const FAILED: u16 = 400;

/// A set of HTTP statuses, 100 to 599.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statuses([u64; 8]);

impl Statuses {
    /// No status.
    pub const NONE: Statuses = Statuses([0; 8]);

    /// Every status.
    pub fn all() -> Statuses {
        Statuses::between(FIRST, LAST)
    }

    /// Every status that says that something failed.
    pub fn failed() -> Statuses {
        Statuses::between(FAILED, LAST)
    }

    /// From one to another, both included.
    pub fn between(from: u16, to: u16) -> Statuses {
        let mut set = [0; 8];
        for status in from.max(FIRST)..=to.min(LAST) {
            let at = usize::from(status - FIRST);
            if let Some(word) = set.get_mut(at / 64) {
                *word |= 1u64 << (at % 64);
            }
        }
        Statuses(set)
    }

    /// This one alone.
    pub fn of(status: u16) -> Statuses {
        Statuses::between(status, status)
    }

    /// Those in both.
    pub fn and(self, other: Statuses) -> Statuses {
        Statuses(std::array::from_fn(|at| self.word(at) & other.word(at)))
    }

    /// Those in either.
    pub fn or(self, other: Statuses) -> Statuses {
        Statuses(std::array::from_fn(|at| self.word(at) | other.word(at)))
    }

    /// Those that are not in the other.
    pub fn without(self, other: Statuses) -> Statuses {
        Statuses(std::array::from_fn(|at| self.word(at) & !other.word(at)))
    }

    fn word(self, at: usize) -> u64 {
        self.0.get(at).copied().unwrap_or_default()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self == Statuses::NONE
    }

    /// Whether a status is one of them.
    pub fn has(self, status: u16) -> bool {
        !self.and(Statuses::of(status)).is_empty()
    }

    /// What it says of an answer that its status is one of these: that it failed, where one of them does and the plainest
    /// success is none of them; that it worked, where none fails. What is not there yet, or wants another key, is in a state,
    /// and no failure, where nothing else is among them.
    pub fn outcome(self) -> Option<Outcome> {
        const OK: u16 = 200;
        let states = [401, 404, 407].map(Statuses::of).into_iter().fold(Statuses::NONE, Statuses::or);
        let failed = self.and(Statuses::failed());
        let fails = !failed.is_empty();
        if fails && failed.without(states).is_empty() {
            return None;
        }
        match fails {
            true if !self.has(OK) => Some(Outcome::Failure),
            false if !self.and(Statuses::between(OK, 299)).is_empty() => Some(Outcome::Success),
            _ => None,
        }
    }

    /// Whether it is whatever fails but for a few: most of the statuses of clients' errors, and most of servers'.
    pub fn is_most(self) -> bool {
        let count = |range: StatusRange| self.and(range.statuses()).0.iter().map(|word| word.count_ones()).sum::<u32>();
        [StatusRange::ClientError, StatusRange::ServerError].into_iter().all(|range| count(range) > 50)
    }

    /// The failure classes of those that say that something failed.
    pub fn classes(self) -> Classes {
        let mut classes = Classes::NONE;
        for status in (FAILED..=LAST).filter(|status| self.has(*status)) {
            if let Some(class) = Class::of_status(status) {
                classes.insert(class);
            }
        }
        classes
    }
}

impl StatusRange {
    /// The statuses in it.
    pub fn statuses(self) -> Statuses {
        let from = match self {
            StatusRange::Informational => 100,
            StatusRange::Success => 200,
            StatusRange::Redirection => 300,
            StatusRange::ClientError => 400,
            StatusRange::ServerError => 500,
        };
        Statuses::between(from, from + 99)
    }
}
