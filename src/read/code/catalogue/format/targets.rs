//! Targets: what an entry may set, and what kind of value each takes.

/// What an entry sets. Names are those of its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// All tries.
    Attempts,
    /// Tries after the first.
    Retries,
    /// How delays grow.
    Backoff,
    /// The first delay.
    Base,
    /// Growth of an exponential.
    Factor,
    /// The greatest nominal delay.
    Cap,
    /// Delays left out at the beginning.
    SkipDelays,
    /// The delays one by one.
    Schedule,
    /// The random part.
    Jitter,
    /// The limit of one try.
    AttemptTimeout,
    /// What connecting may take before that limit starts.
    ConnectTimeout,
    /// The limit of all tries.
    Total,
    /// What `total` measures.
    TotalMeasures,
    /// When `total` is looked at.
    TotalCheck,
    /// A limit that is total outside of a retry, and of one try inside.
    Limit,
    /// Which failures are retried.
    Predicate,
    /// Which methods are retried.
    Methods,
    /// Whether the answer says when to come back.
    ReadsRetryAfter,
    /// A retry budget.
    Budget,
    /// A cap on what is in flight.
    Concurrency,
    /// A breaker.
    Breaker,
    /// Copies sent without a failure.
    Hedge,
    /// Whether a retry is logged or counted.
    Observed,
    /// Whether waiting blocks the thread.
    Blocking,
    /// How the random part is the same for all, if there is one.
    Frozen,
    /// That a setting does nothing, and why.
    Inert,
    /// What kind of work it is.
    Purpose,
    /// The policy that a run takes.
    Policy,
    /// What is tried.
    Operation,
    /// What a stack is laid around: a client, a service, another stack. Its limits and retries are inside of all layers.
    Inner,
    /// What it is called.
    Name,
    /// The configuration section that it is joined with.
    Config,
    /// The environment variable that overrides it.
    Env,
    /// A breaker's part; see [`Kind::parts`].
    Ratio,
    /// A breaker's part.
    Consecutive,
    /// A breaker's part.
    Minimum,
    /// A breaker's or budget's part.
    Window,
    /// A breaker's part.
    Open,
    /// A breaker's part.
    Probes,
    /// A hedge's part.
    Copies,
    /// A hedge's part.
    Delay,
    /// A budget's part.
    Floor,
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

impl Target {
    /// All of them with their names.
    pub const ALL: &'static [(&'static str, Target)] = &[
        ("attempts", Target::Attempts),
        ("retries", Target::Retries),
        ("backoff", Target::Backoff),
        ("base", Target::Base),
        ("factor", Target::Factor),
        ("cap", Target::Cap),
        ("skip_delays", Target::SkipDelays),
        ("schedule", Target::Schedule),
        ("jitter", Target::Jitter),
        ("attempt_timeout", Target::AttemptTimeout),
        ("connect_timeout", Target::ConnectTimeout),
        ("total", Target::Total),
        ("total_measures", Target::TotalMeasures),
        ("total_check", Target::TotalCheck),
        ("limit", Target::Limit),
        ("predicate", Target::Predicate),
        ("methods", Target::Methods),
        ("reads_retry_after", Target::ReadsRetryAfter),
        ("budget", Target::Budget),
        ("concurrency", Target::Concurrency),
        ("breaker", Target::Breaker),
        ("hedge", Target::Hedge),
        ("observed", Target::Observed),
        ("blocking", Target::Blocking),
        ("frozen", Target::Frozen),
        ("inert", Target::Inert),
        ("purpose", Target::Purpose),
        ("policy", Target::Policy),
        ("operation", Target::Operation),
        ("inner", Target::Inner),
        ("name", Target::Name),
        ("config", Target::Config),
        ("env", Target::Env),
        ("ratio", Target::Ratio),
        ("consecutive", Target::Consecutive),
        ("minimum", Target::Minimum),
        ("window", Target::Window),
        ("open", Target::Open),
        ("probes", Target::Probes),
        ("copies", Target::Copies),
        ("delay", Target::Delay),
        ("floor", Target::Floor),
    ];

    /// The target of a name.
    pub fn parse(name: &str) -> Option<Target> {
        Target::ALL.iter().find(|(known, _)| *known == name).map(|(_, target)| *target)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        Target::ALL.iter().find(|(_, target)| *target == self).map_or("target", |(name, _)| name)
    }

    /// What it takes.
    pub fn kind(self) -> Kind {
        match self {
            Target::Attempts | Target::Retries => Kind::Count,
            Target::Backoff => Kind::Words(BACKOFFS),
            Target::Base | Target::Delay => Kind::Time,
            Target::Factor | Target::Ratio => Kind::Number,
            Target::Cap
            | Target::AttemptTimeout
            | Target::ConnectTimeout
            | Target::Total
            | Target::Limit
            | Target::Window
            | Target::Open => Kind::Limit,
            Target::SkipDelays
            | Target::Concurrency
            | Target::Consecutive
            | Target::Minimum
            | Target::Probes
            | Target::Copies => Kind::Whole,
            Target::Schedule => Kind::Schedule,
            Target::Jitter => Kind::Jitter,
            Target::TotalMeasures => Kind::Words(&["wall", "delays"]),
            Target::TotalCheck => Kind::Words(&["cuts", "between-attempts"]),
            Target::Predicate => Kind::Predicate,
            Target::Methods => Kind::Methods,
            Target::ReadsRetryAfter | Target::Observed | Target::Blocking => Kind::Switch,
            Target::Budget => Kind::Budget,
            Target::Floor => Kind::Floor,
            Target::Breaker => Kind::Breaker,
            Target::Hedge => Kind::Hedge,
            Target::Purpose => Kind::Words(&["request", "reconnect", "startup", "background"]),
            Target::Frozen => Kind::Words(&["drawn-once", "sequence", "seed"]),
            Target::Policy | Target::Operation | Target::Inner => Kind::Code,
            Target::Inert | Target::Name | Target::Config | Target::Env => Kind::Text,
        }
    }
}

impl Kind {
    /// What a value of it looks like, for messages.
    pub fn expected(self) -> &'static str {
        match self {
            Kind::Count => "a whole number, `\"unbounded\"`, `\"unknown\"` or a reference such as `\"$0\"`",
            Kind::Whole => "a whole number or a reference such as `\"$0\"`",
            Kind::Number => "a number or a reference such as `\"$0\"`",
            Kind::Time => "a time such as `\"250ms\"` or a reference such as `\"$0\"`",
            Kind::Added => "a time such as `\"250ms\"` or a reference such as `\"$base\"`",
            Kind::Limit => "a time such as `\"250ms\"`, `\"none\"`, or a reference such as `\"$0\"`",
            Kind::Schedule => "a list of times or a reference such as `\"$0\"`",
            Kind::Words(BACKOFFS) => {
                "`\"none\"`, `\"fixed\"`, `\"linear\"`, `\"exponential\"`, `\"fibonacci\"` or `\"unknown\"`"
            }
            Kind::Words(["wall", ..]) => "`\"wall\"` or `\"delays\"`",
            Kind::Words(["cuts", ..]) => "`\"cuts\"` or `\"between-attempts\"`",
            Kind::Words(["drawn-once", ..]) => "`\"drawn-once\"`, `\"sequence\"` or `\"seed\"`",
            Kind::Words(["request", ..]) => "`\"request\"`, `\"reconnect\"`, `\"startup\"` or `\"background\"`",
            Kind::Words(_) => "one of its words",
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
        }
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
