//! Failure classes: what may go wrong with one try, and sets of them (contracts.md D-10).

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Dialect;

/// What happened to one try. HTTP and gRPC answers are apart, because the tokens that name them are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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

    /// The names of gRPC codes, each at its number.
    pub const CODES: [&str; 17] = [
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
            Class::ServerError => "500 or another 5xx",
            Class::RateLimited => "429",
            Class::Conflict => "408, 409 or 425",
            Class::ClientError => "4xx",
            Class::Unavailable => "UNAVAILABLE",
            Class::Exhausted => "RESOURCE_EXHAUSTED",
            Class::Deadline => "DEADLINE_EXCEEDED",
            Class::Aborted => "ABORTED or CANCELLED",
            Class::Internal => "INTERNAL, UNKNOWN or DATA_LOSS",
            Class::Rejected => "other gRPC codes",
            Class::BreakerOpen => "breaker open",
        }
    }

    /// The one code of several that a dialect has a word for: Envoy's `cancelled` is never ABORTED.
    fn only_code(self, dialect: Dialect) -> Option<&'static str> {
        match (dialect, self) {
            (Dialect::Envoy | Dialect::Istio, Class::Aborted) => Some("CANCELLED"),
            (Dialect::Envoy | Dialect::Istio, Class::Internal) => Some("INTERNAL"),
            _ => None,
        }
    }

    /// What many of it are called where they are listed: `refused connections`.
    fn plural(self) -> &'static str {
        match self {
            Class::Connect => "refused connections",
            Class::Unsent => "refused streams",
            Class::Reset => "lost connections",
            Class::TryTimeout => "timed-out tries",
            Class::BadGateway => "502, 504",
            Class::ServerError => "500 and the like",
            Class::Conflict => "408, 409, 425",
            Class::ClientError => "400 and the like",
            Class::Aborted => "ABORTED, CANCELLED",
            Class::Internal => "INTERNAL, UNKNOWN, DATA_LOSS",
            Class::BreakerOpen => "open breakers",
            Class::Overload
            | Class::RateLimited
            | Class::Unavailable
            | Class::Exhausted
            | Class::Deadline
            | Class::Rejected => self.describe(),
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
        if let Some(class) = Class::ALL.into_iter().find(|class| class.name() == text) {
            return Some(class);
        }
        if let Ok(status) = text.parse::<u16>() {
            return Class::of_status(status);
        }
        let code = Class::CODES.iter().position(|name| *name == text)?;
        Class::of_grpc(u8::try_from(code).ok()?)
    }
}

/// A set of failure classes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Classes(#[cfg_attr(test, schemars(with = "Vec<Class>"))] u32);

impl Classes {
    /// No class.
    pub const NONE: Classes = Classes(0);
    /// Every class: the meaning of "no predicate".
    pub const ALL: Classes = Classes((1 << Class::COUNT) - 1);
    /// What fails without an answer: of an HTTP client that gives every answer as one that it is, all that fails.
    pub const UNANSWERED: Classes = Classes::of(&[Class::Connect, Class::Unsent, Class::Reset, Class::TryTimeout]);
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

    /// Every HTTP 5xx.
    const ALL_5XX: Classes = Classes::of(&[Class::Overload, Class::BadGateway, Class::ServerError]);
    /// Every HTTP 4xx.
    const ALL_4XX: Classes = Classes::of(&[Class::RateLimited, Class::Conflict, Class::ClientError]);
    /// Every gRPC code that is an error.
    const ALL_GRPC: Classes = Classes::of(&[
        Class::Unavailable,
        Class::Exhausted,
        Class::Deadline,
        Class::Aborted,
        Class::Internal,
        Class::Rejected,
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

    /// What it holds in a reader's words, in the order of D-10: `refused connections`, `503`. Statuses that are all there
    /// are one item: `all 5xx`. Of several codes, those that `dialect` has a word for.
    pub fn in_words(self, dialect: Dialect) -> Vec<&'static str> {
        const WHOLE: [(Classes, &str); 3] =
            [(Classes::ALL_5XX, "all 5xx"), (Classes::ALL_4XX, "all 4xx"), (Classes::ALL_GRPC, "all gRPC codes")];
        self.told(&WHOLE, |class| class.only_code(dialect).unwrap_or_else(|| class.plural()))
    }

    /// The same in few words, for tables, what most policies are about first: `5xx, connections, timeouts`.
    pub fn in_brief(self, dialect: Dialect) -> Vec<&'static str> {
        if Classes::ALL_5XX.without(self).is_empty() {
            let rest = self.without(Classes::ALL_5XX).in_brief(dialect);
            return std::iter::once("5xx").chain(rest).collect();
        }
        const WHOLE: [(Classes, &str); 5] = [
            (Classes::of(&[Class::Connect, Class::Unsent, Class::Reset]), "connections"),
            (Classes::of(&[Class::Connect, Class::Unsent]), "refused"),
            (Classes::of(&[Class::Overload, Class::BadGateway]), "502–504"),
            (Classes::ALL_4XX, "4xx"),
            (Classes::ALL_GRPC, "gRPC codes"),
        ];
        self.told(&WHOLE, |class| match class {
            Class::Connect => "no connection",
            Class::Reset => "resets",
            Class::TryTimeout => "timeouts",
            Class::ServerError => "other 5xx",
            Class::Conflict => "408/409/425",
            Class::ClientError => "other 4xx",
            Class::Aborted => class.only_code(dialect).unwrap_or("ABORTED/CANCELLED"),
            Class::Internal => class.only_code(dialect).unwrap_or("INTERNAL/UNKNOWN"),
            other => other.plural(),
        })
    }

    /// One word for each of `whole` that is all there, the first that fits, else one for each class.
    fn told(self, whole: &[(Classes, &'static str)], one: impl Fn(Class) -> &'static str) -> Vec<&'static str> {
        let mut left = self;
        let mut words = Vec::new();
        for class in self.iter() {
            if !left.contains(class) {
                continue;
            }
            let all = whole.iter().find(|(set, _)| set.contains(class) && set.without(self).is_empty());
            let (said, word) = all.copied().unwrap_or((Classes::of(&[class]), one(class)));
            left = left.without(said);
            words.push(word);
        }
        words
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

impl<'de> Deserialize<'de> for Classes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<Class>::deserialize(deserializer).map(|classes| classes.into_iter().collect())
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
    fn sets_are_told_in_words_and_whole_groups_as_one() {
        let words = |classes: &[Class]| Classes::of(classes).in_words(Dialect::Code).join(", ");
        assert_eq!(words(&[Class::Unsent, Class::Connect]), "refused connections, refused streams");
        let five = [Class::Overload, Class::BadGateway, Class::ServerError];
        assert_eq!(words(&five), "all 5xx");
        assert_eq!(words(&five[..2]), "503, 502, 504");
        assert_eq!(words(&five[1..]), "502, 504, 500 and the like");
        assert_eq!(
            Classes::ALL.in_words(Dialect::Code),
            [
                "refused connections",
                "refused streams",
                "lost connections",
                "timed-out tries",
                "all 5xx",
                "all 4xx",
                "all gRPC codes",
                "open breakers"
            ]
        );
        assert_eq!(Classes::NONE.in_words(Dialect::Code), [""; 0]);
        let brief = |classes: &[Class]| Classes::of(classes).in_brief(Dialect::Code).join(", ");
        let lost = [Class::Connect, Class::Unsent, Class::Reset, Class::TryTimeout];
        assert_eq!(brief(&[&lost[..], &five].concat()), "5xx, connections, timeouts");
        assert_eq!(brief(&[&lost[..2], &five[..2]].concat()), "refused, 502–504");
        assert_eq!(brief(&[Class::Connect, Class::Reset, Class::ServerError]), "no connection, resets, other 5xx");
    }

    #[test]
    fn of_several_codes_those_are_named_that_the_dialect_means() {
        let set = Classes::of(&[Class::Connect, Class::Unsent, Class::Unavailable, Class::Aborted]);
        for (dialect, word) in
            [(Dialect::Istio, "CANCELLED"), (Dialect::Envoy, "CANCELLED"), (Dialect::Code, "ABORTED/CANCELLED")]
        {
            assert_eq!(set.in_brief(dialect), ["refused", "UNAVAILABLE", word]);
        }
        let set = Classes::of(&[Class::Conflict, Class::Aborted, Class::Internal]);
        assert_eq!(set.in_words(Dialect::Istio), ["408, 409, 425", "CANCELLED", "INTERNAL"]);
        assert_eq!(
            set.in_words(Dialect::Manifest),
            ["408, 409, 425", "ABORTED, CANCELLED", "INTERNAL, UNKNOWN, DATA_LOSS"]
        );
        assert_eq!(set.in_brief(Dialect::Manifest), ["408/409/425", "ABORTED/CANCELLED", "INTERNAL/UNKNOWN"]);
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
