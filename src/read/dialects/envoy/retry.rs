//! One retry policy with what stands around it, put into a [`Policy`]: how many tries, for which failures, how far apart.

use super::headers::Headers;
use super::proto::{self, BY, entry, field, list};
use super::tokens::{CODES, HEADERS, HTTP3, Tokens};
use super::{matching, problems};
use crate::facts::{
    AttemptTimeoutFlaw, Attempts, Backoff, BackoffKind, Class, Classes, Confidence, Count, Counts, Hedging, Jitter,
    Limit, Nanos, Origin, Policy, PolicyKind, Sourced, Value, Why,
};
use crate::read::data::tree::Node;
use crate::read::data::value::shorten;
use crate::source::Span;

/// What decides how a route retries.
#[derive(Debug)]
pub(super) struct Given<'a, 't> {
    /// The retry policy in force: the cluster's, else the route's, else the virtual host's.
    pub policy: Option<Node<'t>>,
    /// The route's policy, else the virtual host's, whatever the cluster says: Envoy takes the limit on one try from here
    /// alone.
    pub of_route: Option<Node<'t>>,
    /// The hedge policy in force.
    pub hedge: Option<Node<'t>>,
    /// Headers that the route adds.
    pub headers: &'a Headers<'t>,
    /// Whether the cluster speaks HTTP/3; none if it is defined elsewhere.
    pub is_quic: Option<bool>,
    /// Whether clients may set the retry headers themselves.
    pub trusts_clients: bool,
    /// The route's timeout, which an attempt timeout must stay below; none where `max_stream_duration` has replaced it.
    pub route_timeout: Option<&'a Sourced<Limit<Nanos>>>,
}

/// What is retried.
struct Conditions {
    classes: Sourced<Classes>,
    written: Classes,
    /// Whether any condition is in force; none if that cannot be told.
    in_force: Option<bool>,
}

/// Puts the retry policy into `policy`, which already has its route, callee and total.
pub(super) fn apply(policy: &mut Policy, given: &Given<'_, '_>) {
    policy.jitter = Sourced::default_of(Jitter::FULL, BY, "retry_back_off");
    policy.jitter_switch = false;
    policy.retries_on = Sourced::default_of(Classes::NONE, BY, "retry_on");
    policy.observed = Sourced::default_of(true, BY, "upstream_rq_retry");
    policy.kind = PolicyKind::TimeLimit;
    if let Some(node) = given.policy {
        policy.span = node.span();
        policy.ineffective.extend(problems::spelling(node));
    }
    if given.policy.is_none() && given.headers.retry_on.is_empty() {
        policy.ineffective.extend(hedging_problems(given, false, false));
        return;
    }
    if let Some(node) = given.policy.filter(|node| !node.is_map()) {
        leave_open(policy, node);
        return;
    }
    let conditions = conditions(policy, given);
    if let Some(node) = given.of_route.and_then(|node| field(node, "per_try_timeout")) {
        policy.attempt_timeout = proto::limit(node);
    }
    if conditions.in_force == Some(false) {
        // The attempt limit holds all the same (M-21), but nothing comes after it; of hedging only that remains that a try
        // goes on when its time is up (M-12: per_try 0.3 s, timeout 2 s, one try, 2.0 s).
        if is_hedged(given) {
            policy.attempt_timeout = policy.attempt_timeout.clone().map(|_| Limit::None);
        }
        policy.retries_on = conditions.classes;
        policy.ineffective.extend(hedging_problems(given, false, true));
        return;
    }
    policy.kind = PolicyKind::Config;
    policy.retries_on = conditions.classes;
    policy.names_classes = conditions.written;
    if policy.retries_on.known().is_none() {
        policy.confidence = Confidence::Medium;
    }
    attempts(policy, given);
    ignore_long_attempts(policy, given.route_timeout);
    if let Some(node) = given.policy {
        policy.backoff = backoff(field(node, "retry_back_off"));
        policy.methods = matching::retried_methods(node);
        if let Some(limited) = field(node, "rate_limited_retry_back_off") {
            policy.reads_retry_after = Sourced::written(true, limited.span());
        }
        policy.other_host = list(node, "retry_host_predicate")
            .filter_map(|predicate| proto::text(predicate, "name"))
            .any(|name| name.ends_with("previous_hosts"));
    } else {
        policy.backoff = backoff(None);
    }
    hedge(policy, given);
    never_retried(policy, given.policy);
    if policy.ineffective.iter().any(|problem| problem.rejected) && policy.attempts.known().is_some() {
        let at = policy.attempts.span().unwrap_or(policy.span);
        policy.attempts = Sourced::unknown(Why::Other("Envoy rejects this configuration".into()), at);
    }
}

/// A policy that is filled in later, or no policy at all: nothing of it is known but that it is there.
fn leave_open(policy: &mut Policy, node: Node<'_>) {
    fn unknown<T>(why: &Why, node: Node<'_>) -> Sourced<T> {
        Sourced::unknown(why.clone(), node.span())
    }
    let what = || node.text().map_or_else(|| "a list".to_string(), shorten);
    let why =
        &proto::hole(node).unwrap_or_else(|| Why::Malformed { found: what().into(), expected: "a mapping".into() });
    policy.kind = PolicyKind::Config;
    policy.confidence = Confidence::Medium;
    policy.attempts = unknown(why, node);
    policy.retries_on = unknown(why, node);
    policy.attempt_timeout = unknown(why, node);
    policy.backoff.kind = unknown(why, node);
    policy.backoff.base = unknown(why, node);
    policy.backoff.cap = unknown(why, node);
}

/// What is retried, with what is wrong about how that is said.
fn conditions(policy: &mut Policy, given: &Given<'_, '_>) -> Conditions {
    let mut tokens = Tokens::default();
    let mut unknown: Option<(Why, Span)> = None;
    let own = given.policy.and_then(|node| field(node, "retry_on"));
    for node in own.into_iter().chain(given.headers.retry_on.iter().copied()) {
        match (proto::hole(node), node.text()) {
            (Some(why), _) => unknown = Some((why, node.span())),
            (None, Some(text)) => tokens.add(text),
            (None, None) => {
                if let Some(policy_node) = given.policy.filter(|_| node.is_seq()) {
                    policy.ineffective.push(problems::conditions_as_list(policy_node, node));
                }
                let (found, expected) = (if node.is_seq() { "a list" } else { "a mapping" }, "text with commas");
                unknown = Some((Why::Malformed { found: found.into(), expected: expected.into() }, node.span()));
            }
        }
    }
    let at = own.or(given.headers.retry_on.first().copied()).map_or(policy.span, Node::span);
    if given.trusts_clients && tokens.known.is_empty() && unknown.is_none() && given.policy.is_some() {
        unknown = Some((Why::Other("trusted clients name the conditions".into()), at));
    }
    let codes = Codes::read(given);
    let headers = given.policy.and_then(|node| field(node, "retriable_headers")).filter(|node| !is_empty(*node));
    let mut effective = tokens.known.len();
    let without_codes = tokens.has(CODES) && codes.node.is_none() && !given.headers.is_open;
    let without_headers = tokens.has(HEADERS) && headers.is_none() && !given.headers.is_open;
    let without_quic = tokens.has(HTTP3) && given.is_quic == Some(false);
    effective -= usize::from(without_codes) + usize::from(without_headers) + usize::from(without_quic);
    let is_inert = effective == 0 && unknown.is_none();

    if let Some(node) = given.policy
        && unknown.is_none()
    {
        match own {
            Some(own) if !(tokens.known.is_empty() && tokens.unknown.is_empty()) => {
                policy.ineffective.extend(problems::unknown_tokens(
                    node,
                    own,
                    &tokens,
                    is_inert && tokens.known.is_empty(),
                ));
                if without_codes {
                    policy.ineffective.push(problems::token_without_list(node, own, CODES, is_inert));
                }
                if without_headers {
                    policy.ineffective.push(problems::token_without_list(node, own, HEADERS, is_inert));
                }
                if is_inert && without_quic && tokens.known.len() == 1 {
                    policy.ineffective.push(problems::quic_over_tcp(node, own));
                }
            }
            _ if is_inert => policy.ineffective.extend(problems::without_conditions(node)),
            _ => {}
        }
        // Where nothing is retried for want of conditions, that has been said.
        if own.is_some() && !tokens.known.is_empty() {
            if let Some(listed) = codes.node.filter(|_| !tokens.has(CODES)) {
                let bare: Vec<u64> = codes.known.iter().copied().filter(|code| !tokens.cover(*code)).collect();
                if !bare.is_empty() {
                    policy.ineffective.push(problems::list_without_token(node, listed, &tokens, CODES, &bare));
                }
            }
            if let Some(listed) = headers.filter(|_| !tokens.has(HEADERS)) {
                policy.ineffective.push(problems::list_without_token(node, listed, &tokens, HEADERS, &[]));
            }
        }
    }

    let mut written = tokens.classes();
    if tokens.has(CODES) {
        let of_code = |code: &u64| u16::try_from(*code).ok().and_then(Class::of_status);
        written = written.or(codes.known.iter().filter_map(of_code).collect());
    }
    let answers = "which answers are retried is decided by their headers";
    if unknown.is_none() && !is_inert {
        // `5xx` says it all already; under anything less, the headers or codes may add the overload answers.
        let is_open = (tokens.has(HEADERS) && !without_headers)
            || (tokens.has(CODES) && !codes.is_complete)
            || given.headers.is_open;
        if is_open && !tokens.has("5xx") {
            unknown = Some((Why::Other(answers.into()), at));
        } else if tokens.has(HTTP3) && given.is_quic != Some(false) && effective == 1 {
            unknown = Some((Why::Other("HTTP/3 failures alone".into()), at));
        }
    }
    let classes = match unknown {
        Some((why, at)) => Sourced::unknown(why, at),
        None if own.is_none() && given.headers.retry_on.is_empty() => {
            Sourced::default_of(Classes::NONE, BY, "retry_on")
        }
        None => Sourced::written(if is_inert { Classes::NONE } else { written }, at),
    };
    let in_force = if classes.known().is_some() || effective > 0 { Some(!is_inert) } else { None };
    Conditions { classes, written, in_force }
}

/// `retriable_status_codes`.
struct Codes<'t> {
    /// The list, if it has items.
    node: Option<Node<'t>>,
    /// Codes that can be told.
    known: Vec<u64>,
    /// Whether that is all of them.
    is_complete: bool,
}

impl<'t> Codes<'t> {
    fn read(given: &Given<'_, 't>) -> Codes<'t> {
        let node = given.policy.and_then(|node| field(node, "retriable_status_codes")).filter(|node| !is_empty(*node));
        let counts: Vec<_> = node.into_iter().flat_map(Node::items).map(proto::count).collect();
        let known: Vec<u64> = counts.iter().filter_map(|count| count.known().copied()).collect();
        let is_complete = known.len() == counts.len() && node.is_none_or(Node::is_seq);
        Codes { node, known, is_complete }
    }
}

/// Whether a repeated field has no items. A template in its place may have some.
fn is_empty(node: Node<'_>) -> bool {
    node.is_seq() && node.items().len() == 0
}

/// The count: the header's, else `num_retries`, else one retry.
fn attempts(policy: &mut Policy, given: &Given<'_, '_>) {
    let (key, retries) = match (&given.headers.max_retries, given.policy.and_then(|node| entry(node, "num_retries"))) {
        (Some(count), _) => ("x-envoy-max-retries".to_string(), count.clone()),
        (None, Some(entry)) => (entry.key.to_string(), proto::count(entry.value)),
        (None, None) => ("num_retries".to_string(), Sourced::default_of(1, BY, "num_retries")),
    };
    policy.count = retries.known().filter(|_| retries.is_written()).map(|written| Count {
        key: key.into(),
        written: *written,
        counts: Counts::Retries,
    });
    policy.attempts = retries.map(|retries| Attempts::Times(retries.saturating_add(1)));
}

/// Exponential with full jitter, which cannot be switched off: retry `n` waits up to `min(2^(n-1) * base, max)` (M-1).
fn backoff(block: Option<Node<'_>>) -> Backoff {
    let base = block.and_then(|block| field(block, "base_interval")).map_or_else(
        || Sourced::default_of(Nanos::from_millis(25), BY, "retry_back_off"),
        // What is shorter than a millisecond is taken for one.
        |node| proto::duration(node).map(|time| time.max(Nanos::from_millis(1))),
    );
    let cap = match block.and_then(|block| field(block, "max_interval")) {
        Some(node) => proto::duration(node).map(Limit::At),
        None => Sourced {
            value: match &base.value {
                Value::Known(base) => Value::Known(Limit::At(base.times(10))),
                Value::Unknown(why) => Value::Unknown(why.clone()),
            },
            origin: Origin::Default { by: BY, reference: "max_interval" },
        },
    };
    Backoff {
        kind: Sourced::default_of(BackoffKind::Exponential, BY, "retry_back_off"),
        base,
        factor: Sourced::default_of(2.0, BY, "retry_back_off"),
        cap,
        skip: 0,
    }
}

/// An attempt limit that is not below the route's timeout is ignored (M-22, M-23). Where there is only one try, that
/// changes nothing.
fn ignore_long_attempts(policy: &mut Policy, route_timeout: Option<&Sourced<Limit<Nanos>>>) {
    if let Some(total) = route_timeout
        && let (Some(attempt), Some(limit)) = (policy.attempt_timeout.limit(), total.limit())
        && attempt >= limit
        && policy.may_retry()
    {
        policy.attempt_timeout_flaw = Some(AttemptTimeoutFlaw::NotBelowTotal(total.clone()));
    }
}

/// Whether a try goes on when its time is up.
fn is_hedged(given: &Given<'_, '_>) -> bool {
    given.hedge.and_then(|node| proto::flag(node, "hedge_on_per_try_timeout")) == Some(true)
}

/// Hedging: when an attempt's time is up, another is sent and the first goes on. Any condition will do to switch it on.
/// What is sent so is a retry like any other: `5xx/2` makes three tries, however they fail.
fn hedge(policy: &mut Policy, given: &Given<'_, '_>) {
    let has_limit = policy.attempt_timeout_flaw.is_none() && !policy.attempt_timeout.is_none();
    policy.ineffective.extend(hedging_problems(given, true, has_limit));
    if !is_hedged(given) || !has_limit {
        return;
    }
    let retries = policy.attempts.clone().map(|attempts| match attempts {
        Attempts::Times(n) => n.saturating_sub(1),
        Attempts::Unbounded | Attempts::ByTime => u64::MAX,
    });
    let delay = policy.attempt_timeout.clone().map(|limit| limit.at().unwrap_or_default());
    // The limit cuts nothing any more: a request that hangs ends with the route's timeout, after 2 s and not 0.9 s (M-28).
    policy.attempt_timeout = delay.clone().map(|_| Limit::None);
    policy.hedging = Some(Box::new(Hedging { copies: retries, delay, counts_as_try: true }));
    policy.names_classes.insert(Class::TryTimeout);
    policy.retries_on = policy.retries_on.clone().map(|mut classes| {
        classes.insert(Class::TryTimeout);
        classes
    });
}

fn hedging_problems(given: &Given<'_, '_>, has_conditions: bool, has_limit: bool) -> Vec<crate::facts::Ineffective> {
    // What trusted clients send cannot be told.
    let has_conditions = has_conditions || given.trusts_clients;
    given.hedge.map(|node| problems::hedging(node, has_conditions, has_limit)).unwrap_or_default()
}

/// A timed-out try is a reset to Envoy: without a condition that covers resets the limit only makes the request fail
/// earlier (M-21).
fn never_retried(policy: &mut Policy, node: Option<Node<'_>>) {
    let is_retried = policy.retries_on.known().is_none_or(|classes| classes.contains(Class::TryTimeout));
    if policy.attempt_timeout.limit().is_some()
        && policy.attempt_timeout_flaw.is_none()
        && !is_retried
        && policy.may_retry()
    {
        let written = node.and_then(|node| field(node, "retry_on")).and_then(Node::text).unwrap_or_default().trim();
        // Conditions are few and short; of anything else, only what is missing is worth copying.
        let corrected = match written {
            "" => "retry_on: reset".into(),
            long if long.len() > 200 => "retry_on: reset".into(),
            conditions => format!("retry_on: {conditions},reset").into(),
        };
        policy.attempt_timeout_flaw = Some(AttemptTimeoutFlaw::NeverRetried { add: "reset".into(), corrected });
    }
}
