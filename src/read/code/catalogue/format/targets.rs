//! Targets: what an entry may set, and what kind of value each takes.

use std::borrow::Cow;

use crate::facts::words::either;

/// The targets, each told once: its comment is what schemas say of it, and tells whoever reads this.
macro_rules! targets {
    ($(#[doc = $about:literal] $target:ident = $name:literal: $kind:expr;)*) => {
        /// What an entry sets. Names are those of its file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Target {
            $(#[doc = $about] $target,)*
        }

        impl Target {
            /// All of them with their names.
            pub const ALL: &'static [(&'static str, Target)] = &[$(($name, Target::$target),)*];

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $(Target::$target => $name,)* }
            }

            /// What it takes.
            pub const fn kind(self) -> Kind {
                match self { $(Target::$target => $kind,)* }
            }

            /// What it says, in a sentence.
            pub const fn about(self) -> &'static str {
                match self { $(Target::$target => $about,)* }
            }
        }
    };
}

targets! {
    /// All tries.
    Attempts = "attempts": Kind::Count;
    /// Tries after the first.
    Retries = "retries": Kind::Count;
    /// How delays grow.
    Backoff = "backoff": Kind::Words(BACKOFFS);
    /// The first delay.
    Base = "base": Kind::Time;
    /// Growth of an exponential.
    Factor = "factor": Kind::Number;
    /// The greatest nominal delay, or `none`.
    Cap = "cap": Kind::Limit;
    /// Delays left out at the beginning.
    SkipDelays = "skip_delays": Kind::Whole;
    /// The delays one by one.
    Schedule = "schedule": Kind::Schedule;
    /// The random part: a delay d becomes anything from low*d to high*d + plus, but not less than `least`.
    Jitter = "jitter": Kind::Jitter;
    /// The limit of one try, or `none`.
    AttemptTimeout = "attempt_timeout": Kind::Limit;
    /// What connecting may take before that limit starts.
    ConnectTimeout = "connect_timeout": Kind::Limit;
    /// The limit of all tries, or `none`.
    Total = "total": Kind::Limit;
    /// What `total` measures.
    TotalMeasures = "total_measures": Kind::Words(&["wall", "delays"]);
    /// When `total` is looked at.
    TotalCheck = "total_check": Kind::Words(&["cuts", "between-attempts"]);
    /// A limit that is total outside of a retry, and of one try inside.
    Limit = "limit": Kind::Limit;
    /// Which failures are retried: `any`, classes, `opaque`, or the code that decides.
    Predicate = "predicate": Kind::Predicate;
    /// Which methods are retried.
    Methods = "methods": Kind::Methods;
    /// Whether the answer says when to come back.
    ReadsRetryAfter = "reads_retry_after": Kind::Switch;
    /// A retry budget.
    Budget = "budget": Kind::Budget;
    /// A cap on what is in flight.
    Concurrency = "concurrency": Kind::Whole;
    /// A circuit breaker.
    Breaker = "breaker": Kind::Breaker;
    /// Copies sent without a failure.
    Hedge = "hedge": Kind::Hedge;
    /// Whether a retry is logged or counted.
    Observed = "observed": Kind::Switch;
    /// Whether waiting blocks the thread.
    Blocking = "blocking": Kind::Switch;
    /// How the random part is the same for all tries.
    Frozen = "frozen": Kind::Words(&["drawn-once", "sequence", "seed"]);
    /// That the setting does nothing, and why; `none` takes that back.
    Inert = "inert": Kind::Text;
    /// What kind of work it is.
    Purpose = "purpose": Kind::Words(&["request", "reconnect", "startup", "background"]);
    /// The policy that it takes.
    Policy = "policy": Kind::Code;
    /// What is tried.
    Operation = "operation": Kind::Code;
    /// The client or stack inside.
    Inner = "inner": Kind::Code;
    /// What it is called.
    Name = "name": Kind::Text;
    /// The configuration section that it is joined with.
    Config = "config": Kind::Text;
    /// The environment variable that overrides it.
    Env = "env": Kind::Text;
    /// Of a breaker or budget: the share.
    Ratio = "ratio": Kind::Number;
    /// Of a breaker: failures in a row.
    Consecutive = "consecutive": Kind::Whole;
    /// Of a breaker: requests below which it stays closed.
    Minimum = "minimum": Kind::Whole;
    /// Of a breaker or budget: what it looks back on.
    Window = "window": Kind::Limit;
    /// Of a breaker: how long it stays open.
    Open = "open": Kind::Limit;
    /// Of a breaker: requests that try whether it can close.
    Probes = "probes": Kind::Whole;
    /// Of a hedge: copies beyond the first.
    Copies = "copies": Kind::Whole;
    /// Of a hedge: the wait before each.
    Delay = "delay": Kind::Time;
    /// Of a budget: retries that are always allowed, `3/s` or `3 in flight`.
    Floor = "floor": Kind::Floor;
}

impl Target {
    /// The target of a name.
    pub fn parse(name: &str) -> Option<Target> {
        Target::ALL.iter().find(|(known, _)| *known == name).map(|(_, target)| *target)
    }
}

/// What kind of value a target takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A count of tries, or `unbounded`.
    Count,
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// A length of time.
    Time,
    /// A length of time, or `none`.
    Limit,
    /// A length of time that is added to another.
    Added,
    /// A list of times.
    Schedule,
    /// One of these words.
    Words(&'static [&'static str]),
    /// A jitter.
    Jitter,
    /// Failure classes.
    Predicate,
    /// HTTP methods.
    Methods,
    /// A budget.
    Budget,
    /// The floor of a budget.
    Floor,
    /// A breaker.
    Breaker,
    /// A hedge.
    Hedge,
    /// A switch.
    Switch,
    /// A text.
    Text,
    /// Code: always a reference.
    Code,
    /// Whatever can be compared.
    Any,
}

/// Words of `backoff`; `none` is one of them as well.
const BACKOFFS: &[&str] = &["fixed", "linear", "exponential", "fibonacci"];

impl Kind {
    /// What a value of it looks like, for messages.
    pub fn expected(self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Kind::Count => "a whole number, `\"unbounded\"`, `\"unknown\"` or a reference such as `\"$0\"`",
            Kind::Whole => "a whole number or a reference such as `\"$0\"`",
            Kind::Number => "a number or a reference such as `\"$0\"`",
            Kind::Time => "a time such as `\"250ms\"` or a reference such as `\"$0\"`",
            Kind::Added => "a time such as `\"250ms\"` or a reference such as `\"$base\"`",
            Kind::Limit => "a time such as `\"250ms\"`, `\"none\"`, or a reference such as `\"$0\"`",
            Kind::Schedule => "a list of times or a reference such as `\"$0\"`",
            Kind::Words(words) => {
                let none = self.may_be_none().then_some("none");
                let all = none.into_iter().chain(words.iter().copied()).chain(["unknown"]);
                return Cow::Owned(either(&all.map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>()));
            }
            Kind::Jitter => {
                "`\"none\"`, `\"full\"`, `\"equal\"`, `\"decorrelated\"`, `\"unknown\"` or a table `{ low, high, plus, least, at }`"
            }
            Kind::Predicate => {
                "`\"any\"`, a list of failure classes, `\"opaque\"`, or a reference to the code that decides"
            }
            Kind::Methods => "`\"any\"`, `\"idempotent\"`, a list of methods, or a reference such as `\"$0\"`",
            Kind::Budget => "`\"none\"`, `\"unknown\"` or a table `{ ratio, floor, window, base }`",
            Kind::Floor => "a rate such as `\"3/s\"`, or `\"3 in flight\"`",
            Kind::Breaker => "`\"none\"`, a table `{ ratio, minimum, window, open }`, or a reference to its options",
            Kind::Hedge => "`\"none\"` or a table `{ copies, delay }`",
            Kind::Switch => "`true`, `false` or a reference such as `\"$0\"`",
            Kind::Text => "a text or a reference such as `\"$0\"`",
            Kind::Code => "a reference to code such as `\"$0\"` or `\"$self\"`",
            Kind::Any => "a value",
        })
    }

    /// What it is called in a message about its parts.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::Jitter => "a jitter",
            Kind::Budget => "a budget",
            Kind::Breaker => "a breaker",
            Kind::Hedge => "a hedge",
            _ => "a value",
        }
    }

    /// The parts of a table of it.
    pub(in super::super) fn parts(self) -> &'static [(&'static str, Kind)] {
        match self {
            Kind::Jitter => &[
                ("low", Kind::Number),
                ("high", Kind::Number),
                ("plus", Kind::Added),
                ("least", Kind::Added),
                ("at", Kind::Words(&["before-cap", "after-cap"])),
                ("kind", Kind::Words(&["decorrelated"])),
            ],
            Kind::Budget => &[
                ("ratio", Kind::Number),
                ("floor", Kind::Floor),
                ("window", Kind::Limit),
                ("base", Kind::Words(&["originals", "all", "in-flight", "successes"])),
            ],
            Kind::Breaker => &[
                ("ratio", Kind::Number),
                ("consecutive", Kind::Whole),
                ("minimum", Kind::Whole),
                ("window", Kind::Limit),
                ("open", Kind::Limit),
                ("probes", Kind::Whole),
            ],
            Kind::Hedge => &[("copies", Kind::Whole), ("delay", Kind::Time)],
            _ => &[],
        }
    }

    /// Whether `unknown` may be written for it.
    pub(super) fn may_be_unknown(self) -> bool {
        !matches!(self, Kind::Code | Kind::Text | Kind::Any)
    }

    /// Whether `none` may be written for it.
    pub(super) fn may_be_none(self) -> bool {
        matches!(
            self,
            Kind::Limit | Kind::Jitter | Kind::Budget | Kind::Breaker | Kind::Hedge | Kind::Words(BACKOFFS) | Kind::Any
        )
    }

    /// Whether it can be computed from several.
    pub(super) fn folds(self) -> bool {
        matches!(
            self,
            Kind::Count | Kind::Whole | Kind::Number | Kind::Time | Kind::Limit | Kind::Added | Kind::Predicate
        )
    }

    /// What the other factors of a product of it are.
    pub(in super::super) fn factor(self) -> Kind {
        match self {
            Kind::Time | Kind::Limit | Kind::Added => Kind::Number,
            other => other,
        }
    }
}
