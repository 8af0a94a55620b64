//! [`Policy`]: one place where retrying (or its time limits) is configured or written by hand.

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{
    Backoff, Breaker, Budget, CallId, Callee, Caller, Classes, Confidence, Dialect, InCode, LeftOut, Limit, Methods,
    Nanos, ObjectName, Position, Route, Sourced, Why,
};
use crate::source::Span;

/// Index of a policy in [`Facts::policies`](super::Facts::policies).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct PolicyId(pub u32);

/// One place where retrying is configured or written by hand, with everything that is known about it. Large repositories
/// have a hundred thousand of these: what most of them lack is boxed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Policy {
    /// The construct that defines it: the `retry_policy` mapping, the route, the loop.
    pub span: Span,
    /// Its name as shown: `route /pay of shop`, `http[2] of ledger`, a key path. Also part of the fingerprint.
    pub name: Arc<str>,
    /// Where it comes from: `envoy`, `istio`, `dotnet`, `backon`, `hand-written`.
    pub source: Cow<'static, str>,
    /// How it is spelled; decides what help is written in.
    pub dialect: Dialect,
    /// The notation of its file, for help that can be pasted.
    pub notation: super::FileKind,
    /// Loop, library, configuration or a default that nobody wrote.
    pub kind: PolicyKind,
    /// Where it stands on its edge; two policies multiply only at different positions, or where one encloses the other.
    pub position: Position,
    /// The policy that encloses this one syntactically (an outer loop, decorator or layer).
    pub inside: Option<PolicyId>,
    /// Who calls through it.
    pub caller: Caller,
    /// Whom it calls.
    pub callee: Callee,
    /// The calls that it was written with, where the reader knows them: a manifest's, a statement in code, whoever calls
    /// the function in code that retries.
    pub calls: Vec<CallId>,
    /// What of its callee's traffic it covers; none covers everything.
    pub route: Option<Route>,
    /// Only facts of the same environment, or of none, are combined (D-2).
    pub environment: Option<Arc<str>>,
    /// Environments that have another policy in its place: a file of their own changes some of it.
    #[serde(default)]
    pub replaced_in: Vec<Arc<str>>,

    /// TOTAL tries, the first included.
    pub attempts: Sourced<Attempts>,
    /// How the count is spelled, for labels: `num_retries: 2` counts retries.
    pub count: Option<Count>,
    /// How delays between tries grow.
    pub backoff: Backoff,
    /// The random part of delays.
    pub jitter: Sourced<super::Jitter>,
    /// Whether its dialect has a switch for jitter at all; without one, missing-jitter is advice only.
    pub jitter_switch: bool,
    /// The limit of one try, as written; see [`Policy::attempt_limit`] for what is in force.
    pub attempt_timeout: Sourced<Limit<Nanos>>,
    /// Set where the proxy or library drops `attempt_timeout`, or never retries what it cuts: what is left instead.
    pub attempt_timeout_flaw: Option<AttemptTimeoutFlaw>,
    /// Where the attempt limit starts on an open connection: the time that connecting may take before (D-14, M-6).
    pub connect_timeout: Option<Sourced<Limit<Nanos>>>,
    /// The limit of all tries together.
    pub total: Total,
    /// Which failures are retried.
    pub retries_on: Sourced<Classes>,
    /// Classes among `retries_on` that the user wrote out one by one (safety rules want them *written*).
    pub names_classes: Classes,
    /// Which requests are retried.
    pub methods: Sourced<Methods>,
    /// Whether an idempotency key is visible on the request, or the operation is declared idempotent.
    pub idempotent: Sourced<Option<bool>>,
    /// A budget of its own; one at the callee's [`Upstream`](super::Upstream) counts as well.
    pub budget: Sourced<Limit<Box<Budget>>>,
    /// A breaker of its own.
    pub breaker: Sourced<Limit<Box<Breaker>>>,
    /// Hedging: copies sent without waiting for a failure.
    pub hedging: Option<Box<Hedging>>,
    /// Whether the schedule reads Retry-After or pushback.
    pub reads_retry_after: Sourced<bool>,
    /// Whether a retry is logged or counted.
    pub observed: Sourced<bool>,
    /// What happens when all tries are used up.
    pub exhausted: Exhausted,
    /// Whether every retry goes to another host (so that zero delay is harmless).
    pub other_host: bool,
    /// What kind of work it does; request-path limits apply to [`Purpose::Request`] only.
    pub purpose: Purpose,
    /// The object that it belongs to, where another one decides who calls through it (see [`super::RouteUse`]).
    pub part_of: Option<ObjectName>,
    /// What it leaves to that other one.
    pub left_out: LeftOut,
    /// Settings that do nothing or that are rejected.
    pub ineffective: Vec<Ineffective>,
    /// What is known of it because it stands in code.
    pub in_code: Option<Box<InCode>>,
    /// Whether it stands in test code (D-18).
    pub test_code: bool,
    /// How sure the reader is.
    pub confidence: Confidence,
}

/// Total tries of one policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Attempts {
    /// At most so many, the first included; never zero.
    Times(u64),
    /// No limit on count or time.
    Unbounded,
    /// Ended by [`Policy::total`] alone.
    ByTime,
}

/// How a count is spelled in the user's file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Count {
    /// The key or method: `num_retries`, `attempts`.
    pub key: Cow<'static, str>,
    /// The number as it stands there.
    pub written: u64,
    /// What that number counts.
    pub counts: Counts,
}

/// What a count counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Counts {
    /// Tries after the first.
    Retries,
    /// All tries.
    Attempts,
}

/// The limit of all tries together, what it measures and when it is looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Total {
    /// The limit.
    pub limit: Sourced<Limit<Nanos>>,
    /// Everything, or only the delays.
    pub measures: Measures,
    /// Whether it cuts a running try or is only looked at between tries.
    pub check: Check,
}

/// What a total limit measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Measures {
    /// The time from the start of the first try.
    Wall,
    /// The sum of the delays.
    Delays,
}

/// When a total limit is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Check {
    /// It cuts a running try.
    Cuts,
    /// It only stops a further try.
    BetweenAttempts,
}

/// What is wrong with a written attempt timeout.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AttemptTimeoutFlaw {
    /// The proxy ignores it, because it is not below this total.
    NotBelowTotal(Sourced<Limit<Nanos>>),
    /// It is in force, but a try that it cuts is in no retried class: nothing retries it. Holds what would (`5xx`).
    NeverRetried {
        /// What to add so that a timed-out try is retried: `reset`, `gateway-error` or `5xx`.
        add: Cow<'static, str>,
        /// The setting with that added, as text to be copied.
        corrected: Cow<'static, str>,
    },
}

/// How a policy came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PolicyKind {
    /// A loop written by hand.
    Loop,
    /// A library's policy in code.
    Library,
    /// Configuration.
    Config,
    /// A default that no file states.
    Default,
    /// No retrying at all: only time limits or a method to remember for the arithmetic. Not listed by `policies`.
    TimeLimit,
}

/// Hedging: further copies of a request, sent on a timer instead of on a failure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Hedging {
    /// Copies beyond the first.
    pub copies: Sourced<u64>,
    /// The wait before each.
    pub delay: Sourced<Nanos>,
    /// Whether a copy is one of the policy's tries, as Envoy has it; else copies are sent beside each try.
    pub counts_as_try: bool,
}

/// What happens when all tries are used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Exhausted {
    /// The caller gets an error.
    Error,
    /// The message goes to a dead-letter queue.
    DeadLetter,
    /// Nobody hears of it.
    Dropped,
    /// Not told.
    Unknown,
}

/// What kind of work a policy guards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Somebody waits for the answer.
    Request,
    /// Reconnect, subscribe, leader election, start-up: loops that may go on for ever with a capped delay.
    Reconnect,
    /// Waiting at start-up.
    Startup,
    /// Background work.
    Background,
    /// Files of this machine, locks on them: nobody else is asked.
    Local,
}

/// A setting that does nothing or that is rejected: what `ineffective-retry` says, in the reader's words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Ineffective {
    /// The smallest thing at fault.
    pub span: Span,
    /// Headline: what the setting does not do, and what really happens.
    pub message: String,
    /// What stands at the span, for its label.
    pub label: String,
    /// What to write instead: the text to paste in backquotes, or a sentence.
    pub help: String,
    /// Whether the control plane rejects the whole object (its policy is then not in force at all).
    pub rejected: bool,
}

impl Policy {
    /// Whether it retries at all, as far as is known: unknown counts as yes.
    pub fn may_retry(&self) -> bool {
        self.kind != PolicyKind::TimeLimit && !matches!(self.attempts.known(), Some(Attempts::Times(1)))
    }

    /// Known tries, if they are counted.
    pub fn tries(&self) -> Option<u64> {
        match self.attempts.known() {
            Some(Attempts::Times(n)) => Some(*n),
            _ => None,
        }
    }

    /// Whether it is known to go on for ever.
    pub fn is_unbounded(&self) -> bool {
        matches!(self.attempts.known(), Some(Attempts::Unbounded))
    }

    /// The attempt limit that is really in force: a written one that is ignored is not (its total cuts the try then).
    pub fn attempt_limit(&self) -> Option<Limit<Nanos>> {
        match &self.attempt_timeout_flaw {
            Some(AttemptTimeoutFlaw::NotBelowTotal(_)) => Some(Limit::None),
            _ => self.attempt_timeout.known().copied(),
        }
    }

    /// The place of the count: see [`Policy::place_of`].
    pub fn site(&self) -> Span {
        self.place_of(self.attempts.span())
    }

    /// Where a value of it is to be mended: where it is written, if that is inside of the policy's own construct, else the
    /// construct. A constant elsewhere is not where this policy would be mended. Of a configuration the whole file is its
    /// construct: a route's timeout stands beside its retries, an anchor above them.
    pub fn place_of(&self, value: Option<Span>) -> Span {
        let own = self.span;
        let is_inside = |at: &Span| self.dialect != Dialect::Code || (at.start >= own.start && at.end <= own.end);
        value.filter(|at| at.file == own.file && is_inside(at)).unwrap_or(own)
    }

    /// The count in the reader's words: "`num_retries: 2` means two retries: three tries". None for a default or a loop.
    pub fn count_in_words(&self) -> Option<String> {
        let count = self.count.as_ref()?;
        let tries = self.tries()?;
        let Count { key, written, .. } = count;
        let said = match (self.dialect, self.notation) {
            // A method, a field or an argument: the key alone does not tell.
            (Dialect::Code, _) => format!("{written} in `{key}`"),
            (_, super::FileKind::Toml) => format!("`{key} = {written}`"),
            _ => format!("`{key}: {written}`"),
        };
        let tries = super::words::tries(tries);
        Some(match count.counts {
            Counts::Retries => format!("{said} means {}: {tries}", super::words::retries(*written)),
            Counts::Attempts => format!("{said} means {tries}"),
        })
    }

    /// What hedging adds to each try, in words: `hedged with one copy`. None where nothing is hedged.
    pub fn hedged_in_words(&self) -> Option<String> {
        let copies = match self.hedging.as_ref().filter(|hedging| !hedging.counts_as_try)?.copies.known() {
            Some(0) => return None,
            Some(copies) => super::words::counted(*copies, "copy", "copies"),
            None => "an unknown number of copies".to_owned(),
        };
        Some(format!("hedged with {copies}"))
    }

    /// Copies that hedging sends beside each try; none if that is unknown.
    pub fn copies_of_each_try(&self) -> Option<u64> {
        match &self.hedging {
            Some(hedging) if !hedging.counts_as_try => hedging.copies.known().copied(),
            _ => Some(0),
        }
    }

    /// Requests that the callee gets at most of one call, copies included, if that is known and not without end.
    pub fn most_requests(&self) -> Option<u64> {
        Some(self.tries()?.saturating_mul(self.copies_of_each_try()?.saturating_add(1)))
    }

    /// Why parts of it are unknown, one text per part.
    pub fn unknowns(&self) -> Vec<&Why> {
        [
            self.attempts.why(),
            self.retries_on.why(),
            self.attempt_timeout.why(),
            self.total.limit.why(),
            self.backoff.kind.why(),
            self.jitter.why(),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

impl Policy {
    /// A policy of which nothing is known yet but where it stands: one try, no delay, no limits, all of them defaults of
    /// `by`. Readers overwrite what the file or the dialect says.
    pub fn new(
        dialect: Dialect,
        source: impl Into<Cow<'static, str>>,
        by: &'static str,
        span: Span,
        name: impl Into<Arc<str>>,
    ) -> Policy {
        fn default_of<T>(value: T, by: &'static str, reference: &'static str) -> Sourced<T> {
            Sourced::default_of(value, by, reference)
        }
        Policy {
            span,
            name: name.into(),
            source: source.into(),
            dialect,
            notation: super::FileKind::Yaml,
            kind: PolicyKind::Config,
            position: Position::CallerCode,
            inside: None,
            caller: Caller::ByPath,
            callee: Callee::Unknown(Why::Other("no callee is named".into())),
            calls: Vec::new(),
            route: None,
            environment: None,
            replaced_in: Vec::new(),
            attempts: default_of(Attempts::Times(1), by, "attempts"),
            count: None,
            backoff: Backoff {
                kind: default_of(super::BackoffKind::None, by, "backoff"),
                base: default_of(Nanos::ZERO, by, "backoff"),
                factor: default_of(1.0, by, "backoff"),
                cap: default_of(Limit::None, by, "backoff"),
                skip: 0,
            },
            jitter: default_of(super::Jitter::NONE, by, "jitter"),
            jitter_switch: true,
            attempt_timeout: default_of(Limit::None, by, "attempt timeout"),
            attempt_timeout_flaw: None,
            connect_timeout: None,
            total: Total {
                limit: default_of(Limit::None, by, "timeout"),
                measures: Measures::Wall,
                check: Check::Cuts,
            },
            retries_on: default_of(Classes::ALL, by, "retry condition"),
            names_classes: Classes::NONE,
            methods: default_of(Methods::Any, by, "methods"),
            idempotent: default_of(None, by, "idempotency"),
            budget: default_of(Limit::None, by, "retry budget"),
            breaker: default_of(Limit::None, by, "circuit breaker"),
            hedging: None,
            reads_retry_after: default_of(false, by, "Retry-After"),
            observed: default_of(false, by, "observation"),
            exhausted: Exhausted::Error,
            other_host: false,
            purpose: Purpose::Request,
            part_of: None,
            left_out: LeftOut::default(),
            ineffective: Vec::new(),
            in_code: None,
            test_code: false,
            confidence: Confidence::High,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_stays_small() {
        // A hundred thousand of them are normal in a large repository, and most of each is defaults.
        assert!(size_of::<Policy>() <= 1600, "{}", size_of::<Policy>());
    }
}
