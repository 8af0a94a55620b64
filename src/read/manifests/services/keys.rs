//! The tables of a services manifest (contracts.md D-20): their keys, what each takes and what it says.

use super::call;
use super::policy::{BUDGET_BASE, FLOOR, PLACE};
use super::retry::{ATTEMPTS, BACKOFF, JITTER, RETRIES, SPREAD_WORDS};
use super::service::MODE;
use crate::facts::Position;
use crate::read::vocabulary::values::{
    CLASS, DAY, DURATION, FIRST, HOST, LIMIT, NONE, NUMBER, RATE, REASON, SHARE, SWITCH, TEXT, TEXTS, TIMES, WHOLE,
};
use crate::read::vocabulary::{Is, Key, Need, Table};

/// The top. What starts with `x-` is allowed too, and says nothing.
pub static TOP: Table = Table {
    name: "manifest",
    place: "a services manifest",
    shape: "a mapping with `services`",
    about: "who calls whom, how often, and with which retries; any YAML, JSON or TOML file of this shape is read",
    keys: &[&[
        Key::new(
            "services",
            Is::Map(&HOST.is, &Is::OrNothing(&Is::Table(&SERVICE))),
            "services by name; a name may be `name.namespace`, or the host of a service outside the system",
        )
        .required(),
        Key::new(
            "policies",
            Is::Map(&TEXT.is, &Is::OrNothing(&Is::Table(&POLICY))),
            "policies by name, for calls that say `policy:`",
        ),
        Key::new("version", FIRST.is, "version of this format"),
        Key::new("$schema", TEXT.is, "where the schema is that an editor goes by"),
    ]],
    needs: &[],
};

/// A service.
pub static SERVICE: Table = Table {
    name: "service",
    place: "a service",
    shape: "a mapping with `calls` and what is known of the service",
    about: "a service: what is known of it, and whom it calls",
    keys: &[
        &[Key::new(
            "calls",
            Is::List(&Is::Either(&[HOST.is, Is::Table(&CALL)], CALLS)),
            "whom it calls while it handles a request",
        )],
        OF_SERVICE,
    ],
    needs: &[],
};

/// What is said of a service itself: retrylint.toml has its calls elsewhere.
pub const OF_SERVICE: &[Key] = &[
    Key::new("namespace", TEXT.is, "its namespace; a service of the same name in another one is another service"),
    Key::new("environment", TEXT.is, "the environment that it belongs to; facts of two are never combined"),
    Key::new("paths", TEXTS, "patterns of the files that hold its code and configuration"),
    Key::new("aliases", ALIASES, "other host names of it"),
    Key::new("owner", TEXT.is, "who looks after it: shown beside findings"),
    Key::new("rate", RATE.is, "requests that arrive from outside the described system"),
    Key::new("clients", WHOLE.is, "clients that call it from outside"),
    Key::new("capacity", RATE.is, "requests that it can serve"),
    Key::new("pool", WHOLE.is, "connections or slots that its outgoing calls share"),
    Key::new("instances", WHOLE.is, "how many instances of it run"),
    Key::new("latency", DURATION.is, "time to answer while everything is healthy"),
    Key::new("timeout", DURATION.is, "the limit after which its server ends a request"),
    Key::new("emits", CLASS.is, "how it answers when its own calls have failed: `503`, `overload`, `UNAVAILABLE`"),
    Key::new("mode", MODE.is, "whether its calls run one after the other or at once").or("\"sequential\""),
    Key::new("max-hops", WHOLE.is, "calls that one request may follow round a cycle"),
    Key::new("accept", Is::Table(&ACCEPT), ""),
];

/// Further names of a service.
pub const ALIASES: Is = Is::Some(&HOST.is, "a list of texts");

/// `accept`.
pub static ACCEPT: Table = Table {
    name: "accept",
    place: "`accept`",
    shape: "a mapping with `max-amplification` and `reason`",
    about: "a decision that stands: so much amplification is fine here",
    keys: &[&[
        Key::new("max-amplification", TIMES.is, "requests that one may become here").required(),
        Key::new("reason", REASON.is, "why: shown with what it silences").required(),
        Key::new("until", DAY.is, "the last day on which it holds"),
    ]],
    needs: &[],
};

/// A call.
pub static CALL: Table = Table {
    name: "call",
    place: "a call",
    shape: "a mapping such as `{ to: checkout }`",
    about: "a call, and how it is repeated",
    keys: &[
        &[TO, Key::new("policy", Is::Text(NAME), "a name from `policies`; what the call says itself wins")],
        OF_CALL,
        OF_POLICY,
    ],
    needs: &[],
};

/// What calls look like, for messages.
pub(super) const CALLS: &str = "a list of names and of mappings such as `{ to: checkout }`";
/// What the name of a policy looks like.
pub(super) const NAME: &str = "the name of a policy";

/// Whom a call goes to.
pub const TO: Key =
    Key::new("to", HOST.is, "the service that is called: `name`, `name.namespace` or a host").required();

/// What is said of a call itself, retrying left out.
pub const OF_CALL: &[Key] = &[
    Key::new("per-request", NUMBER.is, "calls for one request that the caller handles").or("1"),
    Key::new("operation", TEXT.is, "`POST /charge`, or the name of an RPC"),
    Key::new("protocol", call::PROTOCOL.is, "what it is spoken in: decides which failures there are").or("\"http\""),
    Key::new("idempotent", SWITCH.is, "whether it may be repeated without harm"),
    Key::new("one-of", call::GROUP.is, "calls of one service with the same group exclude one another"),
    Key::new("async", SWITCH.is, "whether the caller does not wait for the answer").or("false"),
    Key::new("propagates-deadline", SWITCH.is, "whether the caller's deadline reaches the callee"),
];

/// A named policy.
pub static POLICY: Table = Table {
    name: "policy",
    place: "a policy",
    shape: "a policy: a mapping with `retry`, `timeout`, `budget` or `breaker`",
    about: "how calls are repeated that name it",
    keys: &[OF_POLICY],
    needs: &[],
};

/// What is said of retrying, in a call or under a name.
const OF_POLICY: &[Key] = &[
    Key::new("retry", Is::Table(&RETRY), ""),
    Key::new("timeout", Is::Either(TIMEOUT_OR_NONE, ""), "unknown if it is left out; `none` says that there is none"),
    Key::new("budget", Is::Either(BUDGET_OR_NONE, ""), ""),
    Key::new("breaker", Is::Either(BREAKER_OR_NONE, ""), ""),
    Key::new("hedge", Is::Table(&HEDGE), ""),
    Key::new("layer", Is::Words(&Position::ALL), "where on the edge the retry stands").or("\"caller-code\""),
];

const TIMEOUT_OR_NONE: &[Is] = &[NONE, Is::Table(&TIMEOUT)];
const BUDGET_OR_NONE: &[Is] = &[NONE, Is::Table(&BUDGET)];
const BREAKER_OR_NONE: &[Is] = &[NONE, Is::Table(&BREAKER)];

/// `retry`.
pub static RETRY: Table = Table {
    name: "retry",
    place: "`retry`",
    shape: "a mapping such as `{ attempts: 3, backoff: exponential, base: 100ms }`",
    about: "how often is tried, and when; delays are unknown unless `backoff` says how they grow",
    keys: &[&[
        Key::new("attempts", ATTEMPTS.is, "all tries, the first included"),
        Key::new("retries", RETRIES.is, "tries after the first"),
        Key::new("backoff", BACKOFF.is, "how delays grow, or the delays themselves"),
        Key::new("base", DURATION.is, "the first delay"),
        Key::new("factor", TIMES.is, "growth of an exponential").or("2"),
        Key::new("cap", LIMIT.is, "the largest delay").or("\"none\""),
        Key::new("jitter", JITTER.is, "the random part of delays").or("\"none\""),
        Key::new(
            "on",
            Is::Some(&CLASS.is, "a list of failure classes such as `[overload, try-timeout]`"),
            "failure classes that are retried; all of them if it is left out",
        ),
    ]],
    needs: &[
        Need::AnyOf(&["attempts", "retries"]),
        Need::With("base", &["backoff"]),
        Need::With("factor", &["backoff"]),
        Need::With("cap", &["backoff"]),
    ],
};

/// `jitter`: a word, or more than that.
pub(super) const SPREADS: &[Is] = &[SPREAD_WORDS.is, Is::Table(&SPREAD)];

/// A `jitter` that is more than a word.
pub static SPREAD: Table = Table {
    name: "jitter",
    place: "`jitter`",
    shape: "one of `{ proportional: 0.25 }` and `{ additive: 1s }`",
    about: "",
    keys: &[&[
        Key::new("proportional", SHARE.is, "so much more or less: 0.25 is a quarter"),
        Key::new("additive", DURATION.is, "up to so much more"),
    ]],
    needs: &[Need::One],
};

/// `timeout`.
pub static TIMEOUT: Table = Table {
    name: "timeout",
    place: "`timeout`",
    shape: "a mapping such as `{ attempt: 2s, total: 8s }`",
    about: "",
    keys: &[&[
        Key::new("attempt", LIMIT.is, "the limit of one try").or("\"none\""),
        Key::new("total", LIMIT.is, "the limit of all tries and delays together").or("\"none\""),
    ]],
    needs: &[],
};

/// `budget`.
pub static BUDGET: Table = Table {
    name: "budget",
    place: "`budget`",
    shape: "a mapping such as `{ ratio: 0.1 }`",
    about: "the share of traffic that may be retries",
    keys: &[&[
        Key::new("ratio", SHARE.is, "the share").required(),
        Key::new("floor", FLOOR.is, "retries that are always allowed: a rate per instance, or a number in flight"),
        Key::new("window", LIMIT.is, "the time that it is counted over"),
        Key::new("base", BUDGET_BASE.is, "what the ratio is of").or("\"originals\""),
    ]],
    needs: &[],
};

/// `breaker`.
pub static BREAKER: Table = Table {
    name: "breaker",
    place: "`breaker`",
    shape: "a mapping such as `{ ratio: 0.5, open: 30s }`",
    about: "a circuit breaker",
    keys: &[&[
        Key::new("ratio", SHARE.is, "the share of failures that opens it"),
        Key::new("consecutive", WHOLE.is, "failures in a row that open it"),
        Key::new("minimum", WHOLE.is, "requests below which it stays closed"),
        Key::new("window", DURATION.is, "the time that it looks at"),
        Key::new("open", DURATION.is, "how long it stays open"),
        Key::new("probes", WHOLE.is, "requests let through to see whether it can close"),
        Key::new("place", PLACE.is, "inside the retry it counts tries, outside whole sequences"),
    ]],
    needs: &[],
};

/// `hedge`.
pub static HEDGE: Table = Table {
    name: "hedge",
    place: "`hedge`",
    shape: "a mapping such as `{ copies: 1, delay: 50ms }`",
    about: "copies sent without waiting for a failure",
    keys: &[&[
        Key::new("copies", WHOLE.is, "copies beyond the first request").or("1"),
        Key::new("delay", DURATION.is, "the wait before each"),
    ]],
    needs: &[],
};
