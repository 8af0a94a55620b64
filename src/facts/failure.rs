//! Failure classes: what may go wrong with one try, and sets of them (contracts.md D-10).

use serde::{Serialize, Serializer};

/// What happened to one try. HTTP and gRPC answers are apart, because the tokens that name them are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Class {
    /// No connection, or lost before the request's headers went out.
    Connect,
    /// Refused stream, or a GOAWAY below it: never processed.
    Unsent,
    /// Connection lost mid-request, or a broken answer.
    Reset,
    /// The attempt's own limit was hit.
    TryTimeout,
    /// HTTP 503.
    Overload,
    /// HTTP 502 or 504.
    BadGateway,
    /// Any other HTTP 5xx.
    ServerError,
    /// HTTP 429.
    RateLimited,
    /// HTTP 408, 409 or 425.
    Conflict,
    /// Any other HTTP 4xx.
    ClientError,
    /// gRPC UNAVAILABLE.
    Unavailable,
    /// gRPC RESOURCE_EXHAUSTED.
    Exhausted,
    /// gRPC DEADLINE_EXCEEDED.
    Deadline,
    /// gRPC ABORTED or CANCELLED.
    Aborted,
    /// gRPC INTERNAL, UNKNOWN or DATA_LOSS.
    Internal,
    /// Every other gRPC code.
    Rejected,
    /// The caller's own breaker or limiter said no, or no host was healthy: nothing was sent.
    BreakerOpen,
}

impl Class {
    /// How many classes there are.
    pub const COUNT: usize = 17;

    /// All classes, in the order of D-10.
    pub const ALL: [Class; Class::COUNT] = [
        Class::Connect,
        Class::Unsent,
        Class::Reset,
        Class::TryTimeout,
        Class::Overload,
        Class::BadGateway,
        Class::ServerError,
        Class::RateLimited,
        Class::Conflict,
        Class::ClientError,
        Class::Unavailable,
        Class::Exhausted,
        Class::Deadline,
        Class::Aborted,
        Class::Internal,
        Class::Rejected,
        Class::BreakerOpen,
    ];

    /// The name used in output and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Class::Connect => "connect",
            Class::Unsent => "unsent",
            Class::Reset => "reset",
            Class::TryTimeout => "try-timeout",
            Class::Overload => "overload",
            Class::BadGateway => "bad-gateway",
            Class::ServerError => "server-error",
            Class::RateLimited => "rate-limited",
            Class::Conflict => "conflict",
            Class::ClientError => "client-error",
            Class::Unavailable => "unavailable",
            Class::Exhausted => "exhausted",
            Class::Deadline => "deadline",
            Class::Aborted => "aborted",
            Class::Internal => "internal",
            Class::Rejected => "rejected",
            Class::BreakerOpen => "breaker-open",
        }
    }

    /// What the class is in a reader's words, for messages.
    pub fn describe(self) -> &'static str {
        match self {
            Class::Connect => "no connection",
            Class::Unsent => "stream refused",
            Class::Reset => "connection lost mid-request",
            Class::TryTimeout => "try timed out",
            Class::Overload => "503",
            Class::BadGateway => "502 or 504",
            Class::ServerError => "500 and other 5xx",
            Class::RateLimited => "429",
            Class::Conflict => "408, 409 or 425",
            Class::ClientError => "4xx",
            Class::Unavailable => "UNAVAILABLE",
            Class::Exhausted => "RESOURCE_EXHAUSTED",
            Class::Deadline => "DEADLINE_EXCEEDED",
            Class::Aborted => "ABORTED or CANCELLED",
            Class::Internal => "INTERNAL or UNKNOWN",
            Class::Rejected => "other gRPC codes",
            Class::BreakerOpen => "breaker open",
        }
    }

    /// The class of an HTTP status from 400 on; other statuses are no failure.
    pub fn of_status(status: u16) -> Option<Class> {
        Some(match status {
            503 => Class::Overload,
            502 | 504 => Class::BadGateway,
            500..=599 => Class::ServerError,
            429 => Class::RateLimited,
            408 | 409 | 425 => Class::Conflict,
            400..=499 => Class::ClientError,
            _ => return None,
        })
    }

    /// The class of a gRPC code by number (1 to 16).
    pub fn of_grpc(code: u8) -> Option<Class> {
        Some(match code {
            14 => Class::Unavailable,
            8 => Class::Exhausted,
            4 => Class::Deadline,
            1 | 10 => Class::Aborted,
            2 | 13 | 15 => Class::Internal,
            3 | 5..=7 | 9 | 11 | 12 | 16 => Class::Rejected,
            _ => return None,
        })
    }

    /// The class of a name: one of ours, an HTTP status such as `503`, or a gRPC code such as `UNAVAILABLE`.
    pub fn parse(text: &str) -> Option<Class> {
        const GRPC: [&str; 17] = [
            "OK",
            "CANCELLED",
            "UNKNOWN",
            "INVALID_ARGUMENT",
            "DEADLINE_EXCEEDED",
            "NOT_FOUND",
            "ALREADY_EXISTS",
            "PERMISSION_DENIED",
            "RESOURCE_EXHAUSTED",
            "FAILED_PRECONDITION",
            "ABORTED",
            "OUT_OF_RANGE",
            "UNIMPLEMENTED",
            "INTERNAL",
            "UNAVAILABLE",
            "DATA_LOSS",
            "UNAUTHENTICATED",
        ];
        if let Some(class) = Class::ALL.into_iter().find(|class| class.name() == text) {
            return Some(class);
        }
        if let Ok(status) = text.parse::<u16>() {
            return Class::of_status(status);
        }
        let code = GRPC.iter().position(|name| *name == text)?;
        Class::of_grpc(u8::try_from(code).ok()?)
    }
}

/// A set of failure classes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Classes(u32);

impl Classes {
    /// No class.
    pub const NONE: Classes = Classes(0);
    /// Every class: the meaning of "no predicate".
    pub const ALL: Classes = Classes((1 << Class::COUNT) - 1);
    /// What an opaque predicate is *assumed* to retry (D-10).
    pub const ASSUMED: Classes = Classes::of(&[
        Class::Connect,
        Class::Unsent,
        Class::Reset,
        Class::TryTimeout,
        Class::Overload,
        Class::BadGateway,
        Class::Unavailable,
    ]);
    /// The classes in which a request may have been executed before it failed (D-10: "yes" and "depends").
    pub const UNSAFE: Classes = Classes::of(&[
        Class::Reset,
        Class::TryTimeout,
        Class::BadGateway,
        Class::ServerError,
        Class::Conflict,
        Class::Deadline,
        Class::Aborted,
        Class::Internal,
    ]);
    /// What an HTTP edge can produce.
    pub const HTTP: Classes = Classes::of(&[
        Class::Connect,
        Class::Unsent,
        Class::Reset,
        Class::TryTimeout,
        Class::Overload,
        Class::BadGateway,
        Class::ServerError,
        Class::RateLimited,
        Class::Conflict,
        Class::ClientError,
        Class::BreakerOpen,
    ]);
    /// What a gRPC edge can produce.
    pub const GRPC: Classes = Classes::of(&[
        Class::Connect,
        Class::Unsent,
        Class::Reset,
        Class::TryTimeout,
        Class::Unavailable,
        Class::Exhausted,
        Class::Deadline,
        Class::Aborted,
        Class::Internal,
        Class::Rejected,
        Class::BreakerOpen,
    ]);
    /// The classes that say "the callee has too much to do" or "it does not answer in time".
    pub const OVERLOAD: Classes = Classes::of(&[
        Class::TryTimeout,
        Class::Overload,
        Class::BadGateway,
        Class::RateLimited,
        Class::Unavailable,
        Class::Exhausted,
        Class::Deadline,
    ]);

    /// The set of these classes.
    pub const fn of(classes: &[Class]) -> Classes {
        let mut bits = 0;
        let mut i = 0;
        while i < classes.len() {
            bits |= 1 << classes[i] as u32;
            i += 1;
        }
        Classes(bits)
    }

    /// Whether a class is in the set.
    pub const fn contains(self, class: Class) -> bool {
        self.0 & (1 << class as u32) != 0
    }

    /// Puts a class in.
    pub fn insert(&mut self, class: Class) {
        self.0 |= 1 << class as u32;
    }

    /// The classes in both.
    #[must_use]
    pub const fn and(self, other: Classes) -> Classes {
        Classes(self.0 & other.0)
    }

    /// The classes in either.
    #[must_use]
    pub const fn or(self, other: Classes) -> Classes {
        Classes(self.0 | other.0)
    }

    /// The classes in this and not in the other.
    #[must_use]
    pub const fn without(self, other: Classes) -> Classes {
        Classes(self.0 & !other.0)
    }

    /// Whether it holds no class.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The classes, in the order of D-10.
    pub fn iter(self) -> impl Iterator<Item = Class> {
        Class::ALL.into_iter().filter(move |class| self.contains(*class))
    }
}

impl FromIterator<Class> for Classes {
    fn from_iter<I: IntoIterator<Item = Class>>(classes: I) -> Self {
        let mut set = Classes::NONE;
        classes.into_iter().for_each(|class| set.insert(class));
        set
    }
}

impl std::fmt::Debug for Classes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter().map(Class::name)).finish()
    }
}

impl Serialize for Classes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_parses_back() {
        for class in Class::ALL {
            assert_eq!(Class::parse(class.name()), Some(class));
        }
        assert_eq!(Class::parse("503"), Some(Class::Overload));
        assert_eq!(Class::parse("UNAVAILABLE"), Some(Class::Unavailable));
        assert_eq!(Class::parse("UNKNOWN"), Some(Class::Internal));
        assert_eq!(Class::parse("OK"), None);
        assert_eq!(Class::parse("200"), None);
    }

    #[test]
    fn sets_hold_what_was_put_in() {
        let set = Classes::of(&[Class::Connect, Class::BreakerOpen]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [Class::Connect, Class::BreakerOpen]);
        assert_eq!(Classes::ALL.iter().count(), Class::COUNT);
        assert_eq!(Classes::HTTP.or(Classes::GRPC), Classes::ALL);
        assert!(Classes::UNSAFE.and(set).is_empty());
    }
}
