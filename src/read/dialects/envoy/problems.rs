//! Settings that Envoy rejects or that do nothing, in the words of `ineffective-retry`.

use super::proto::{entry, field, hole, in_seconds, spelled};
use super::tokens::{self, CODES, Tokens};
use crate::facts::{Ineffective, Nanos, words};
use crate::read::data::duration::{self, Syntax};
use crate::read::data::tree::Node;
use crate::read::data::value::{number, shorten};
use crate::source::Span;
use crate::suggest::did_you_mean;

/// A setting that loads and does nothing.
fn inert(span: Span, message: impl Into<String>, label: impl Into<String>, help: impl Into<String>) -> Ineffective {
    Ineffective { span, message: message.into(), label: label.into(), help: help.into(), rejected: false }
}

/// A setting with which the configuration does not load.
fn rejected(span: Span, message: impl Into<String>, label: impl Into<String>, help: impl Into<String>) -> Ineffective {
    Ineffective { rejected: true, ..inert(span, message, label, help) }
}

/// Fields of a retry policy.
const FIELDS: [&str; 14] = [
    "retry_on",
    "num_retries",
    "per_try_timeout",
    "per_try_idle_timeout",
    "retry_priority",
    "retry_host_predicate",
    "retry_options_predicates",
    "host_selection_retry_max_attempts",
    "retriable_status_codes",
    "retry_back_off",
    "rate_limited_retry_back_off",
    "retriable_headers",
    "retriable_request_headers",
    "refresh_cluster_on_retry",
];

/// Other dialects' names, with ours.
const FOREIGN: [(&str, &str); 8] = [
    ("attempts", "num_retries"),
    ("retries", "num_retries"),
    ("max_retries", "num_retries"),
    ("max_attempts", "num_retries"),
    ("per_try_timeout_ms", "per_try_timeout"),
    ("timeout", "per_try_timeout"),
    ("backoff", "retry_back_off"),
    ("retry_backoff", "retry_back_off"),
];

/// What is wrong with the spelling of a retry policy: fields, counts, times, back-off.
pub(super) fn spelling(policy: Node<'_>) -> Vec<Ineffective> {
    let mut out = Vec::new();
    for entry in policy.entries() {
        let key = snake(entry.key);
        if FIELDS.contains(&key.as_str()) || key.starts_with('@') {
            continue;
        }
        // A field that is like none of ours may be newer than this program: silence.
        let foreign = FOREIGN.iter().find(|(name, _)| *name == key).map(|(_, ours)| *ours);
        let near = || did_you_mean(&key, FIELDS);
        if let Some(name) = foreign.or_else(near) {
            let ours = spelled(policy, name);
            out.push(rejected(
                entry.key_span,
                format!("Envoy rejects this configuration: a retry policy has no field `{}`", shorten(entry.key)),
                "unknown field",
                format!("the field is called `{ours}`"),
            ));
        }
    }
    out.extend(retries(policy));
    for name in ["per_try_timeout", "per_try_idle_timeout"] {
        out.extend(time(policy, name));
    }
    out.extend(backoff(policy));
    if let Some(limited) = entry(policy, "rate_limited_retry_back_off") {
        out.extend(time(limited.value, "max_interval"));
        let is_empty =
            |node: Node<'_>| field(node, "reset_headers").is_none_or(|list| list.is_seq() && list.items().len() == 0);
        if limited.value.is_map() && is_empty(limited.value) {
            let (key, headers) = (limited.key, spelled(policy, "reset_headers"));
            out.push(rejected(
                limited.value.span(),
                format!("Envoy rejects `{key}` without `{headers}`"),
                "names no header to read the delay from",
                format!("`{key}: {{ {headers}: [{{ name: Retry-After, format: SECONDS }}] }}`"),
            ));
        }
    }
    out
}

/// `numRetries` as `num_retries`.
fn snake(key: &str) -> String {
    let mut out = String::with_capacity(key.len() + 4);
    for c in key.chars().take(60) {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// A count that is no `uint32`.
fn retries(policy: Node<'_>) -> Option<Ineffective> {
    let entry = entry(policy, "num_retries")?;
    let node = if entry.value.is_map() { entry.value.get("value")? } else { entry.value };
    let text = node.text().filter(|_| hole(node).is_none())?;
    let written = number(text)?;
    let fits = written >= 0.0 && written.fract() == 0.0 && written <= f64::from(u32::MAX);
    let right = if written < 0.0 { 0.0 } else { written.round().min(3.0) };
    (!fits).then(|| {
        rejected(
            node.span(),
            format!("Envoy rejects `{}: {}`: it counts retries from 0 to 4294967295", entry.key, shorten(text)),
            "not a whole number of retries",
            format!("`{}: {right}`", entry.key),
        )
    })
}

/// A duration that another dialect would take.
pub(super) fn time(node: Node<'_>, name: &str) -> Option<Ineffective> {
    let entry = entry(node, name)?;
    let text = entry.value.text().filter(|_| hole(entry.value).is_none())?.trim();
    if duration::parse(text, Syntax::Proto).is_some() {
        return None;
    }
    let is_negative = text.starts_with('-');
    let positive = text.strip_prefix('-').unwrap_or(text);
    let meant = duration::parse(positive, Syntax::Any).or_else(|| number(positive).map(Nanos::from_secs_f64))?;
    let why =
        if is_negative { "a duration is not negative" } else { "a duration is a number of seconds that ends in `s`" };
    Some(rejected(
        entry.value.span(),
        format!("Envoy rejects `{}: {}`: {why}", entry.key, shorten(text)),
        if is_negative { "negative" } else { "not a duration in seconds" },
        format!("`{}: {}`", entry.key, in_seconds(meant)),
    ))
}

fn backoff(policy: Node<'_>) -> Vec<Ineffective> {
    let Some(block) = entry(policy, "retry_back_off").filter(|entry| entry.value.is_map()) else {
        return Vec::new();
    };
    let mut out: Vec<Ineffective> =
        ["base_interval", "max_interval"].into_iter().filter_map(|name| time(block.value, name)).collect();
    let (base_key, max_key) = (spelled(policy, "base_interval"), spelled(policy, "max_interval"));
    let Some(base) = field(block.value, "base_interval") else {
        out.push(rejected(
            block.value.span(),
            format!("Envoy rejects `{}` without `{base_key}`", block.key),
            "the first delay is missing",
            format!("`{}: {{ {base_key}: 0.025s }}`", block.key),
        ));
        return out;
    };
    let known = super::proto::duration(base).known().copied();
    if known == Some(Nanos::ZERO) {
        out.push(rejected(
            base.span(),
            format!("Envoy rejects `{base_key}: 0s`: the first delay must be longer than zero"),
            "not longer than zero",
            format!("`{base_key}: 0.025s`"),
        ));
    }
    let max = field(block.value, "max_interval");
    if let (Some(base), Some(node)) = (known, max)
        && let Some(max) = super::proto::duration(node).known().copied()
        && max < base
    {
        out.push(rejected(
            node.span(),
            format!("Envoy rejects this configuration: `{max_key}` of {max} is below `{base_key}` of {base}"),
            format!("below the first delay of {base}"),
            format!("`{max_key}: {}`", in_seconds(base.times(10))),
        ));
    }
    out
}

/// `retry_on` as a list.
pub(super) fn conditions_as_list(policy: Node<'_>, conditions: Node<'_>) -> Ineffective {
    let key = spelled(policy, "retry_on");
    let items: Vec<&str> = conditions.items().take(16).filter_map(Node::text).collect();
    rejected(
        conditions.span(),
        format!("Envoy rejects `{key}` as a list: it is one text with commas"),
        "a list",
        format!("`{key}: \"{}\"`", shorten(&items.join(","))),
    )
}

/// Nothing that the policy says makes Envoy retry.
pub(super) fn without_conditions(policy: Node<'_>) -> Option<Ineffective> {
    let count = entry(policy, "num_retries");
    // `num_retries: 0` and `{}` are how a policy is switched off.
    let is_off = count.is_some_and(|count| super::proto::count(count.value).known() == Some(&0));
    let wants_retries = ["num_retries", "retry_back_off", "retriable_status_codes", "retriable_headers"]
        .into_iter()
        .any(|name| field(policy, name).is_some());
    if is_off || !wants_retries {
        return None;
    }
    let key = spelled(policy, "retry_on");
    let (span, what) = match count {
        Some(count) => {
            let text = count.value.text().map(shorten).unwrap_or_default();
            (count.value.span(), format!("`{}: {text}` retries nothing", count.key))
        }
        None => (policy.span(), "this retry policy retries nothing".into()),
    };
    Some(inert(
        span,
        format!("{what}: no `{key}` says which failures"),
        format!("without `{key}` there is one try"),
        format!("`{key}: \"connect-failure,refused-stream\"`, or `5xx` where repeating a request does no harm"),
    ))
}

/// Tokens that Envoy does not know. `is_all`: no other condition is in force.
pub(super) fn unknown_tokens(
    policy: Node<'_>,
    conditions: Node<'_>,
    tokens: &Tokens<'_>,
    is_all: bool,
) -> Option<Ineffective> {
    let shown: Vec<String> = tokens.unknown.iter().take(3).map(|token| format!("`{}`", shorten(token))).collect();
    let first = tokens.unknown.first()?;
    let key = spelled(policy, "retry_on");
    let verb = if tokens.unknown.len() == 1 { "is no retry condition" } else { "are no retry conditions" };
    let effect = match (is_all, tokens.unknown.len()) {
        (true, _) => "nothing is retried",
        (false, 1) => "Envoy drops it without a word",
        (false, _) => "Envoy drops them without a word",
    };
    let status = first.parse::<u16>().ok().filter(|status| (100..600).contains(status));
    let help = match (status, tokens::nearest(first)) {
        (Some(status), _) => {
            let codes = spelled(policy, "retriable_status_codes");
            format!("`{key}: {}` with `{codes}: [{status}]`", joined(tokens, CODES))
        }
        (None, Some(near)) => format!("`{key}: {}`", joined(tokens, near)),
        (None, None) if is_all => format!("`{key}: \"connect-failure,refused-stream\"`"),
        (None, None) => format!("`{key}: {}`", quoted(&tokens.known.join(","))),
    };
    Some(inert(
        conditions.span(),
        format!("{} {verb}: {effect}", words::list(&shown)),
        if is_all { "no condition that Envoy knows" } else { "partly unknown to Envoy" },
        help,
    ))
}

/// The known tokens and one more.
fn joined(tokens: &Tokens<'_>, more: &str) -> String {
    let mut all: Vec<&str> = tokens.known.clone();
    if !all.contains(&more) {
        all.push(more);
    }
    quoted(&all.join(","))
}

fn quoted(text: &str) -> String {
    if text.contains(',') { format!("\"{text}\"") } else { text.to_string() }
}

/// `retriable-status-codes` or `retriable-headers` without its list.
pub(super) fn token_without_list(
    policy: Node<'_>,
    conditions: Node<'_>,
    token: &'static str,
    is_all: bool,
) -> Ineffective {
    let (list, example) = if token == CODES {
        (spelled(policy, "retriable_status_codes"), "[503]")
    } else {
        (spelled(policy, "retriable_headers"), "[{ name: x-retry-me, present_match: true }]")
    };
    let effect = if is_all { ", so nothing is retried" } else { "" };
    inert(
        conditions.span(),
        format!("`{token}` matches nothing: `{list}` is empty{effect}"),
        "a condition without its list",
        format!("`{list}: {example}`"),
    )
}

/// A list without its token. `what`: the listed codes that nothing else retries, or the headers.
pub(super) fn list_without_token(
    policy: Node<'_>,
    list: Node<'_>,
    tokens: &Tokens<'_>,
    token: &'static str,
    codes: &[u64],
) -> Ineffective {
    let key = spelled(policy, "retry_on");
    let name =
        if token == CODES { spelled(policy, "retriable_status_codes") } else { spelled(policy, "retriable_headers") };
    let message = if codes.is_empty() {
        format!("`{name}` does nothing: `{key}` lacks `{token}`")
    } else {
        let shown: Vec<String> = codes.iter().take(5).map(ToString::to_string).collect();
        let verb = if codes.len() == 1 { "is" } else { "are" };
        format!("{} {verb} not retried: `{key}` lacks `{token}`", words::list(&shown))
    };
    inert(list.span(), message, "in force only with its condition", format!("`{key}: {}`", joined(tokens, token)))
}

/// A policy of QUIC conditions alone, on a cluster that does not speak it.
pub(super) fn quic_over_tcp(policy: Node<'_>, conditions: Node<'_>) -> Ineffective {
    let key = spelled(policy, "retry_on");
    inert(
        conditions.span(),
        format!("`{}` matches nothing on a cluster without HTTP/3: nothing is retried", tokens::HTTP3),
        "never happens over TCP",
        format!("`{key}: connect-failure`"),
    )
}

/// Hedging that cannot start, and fields of it that are not implemented. `can_start`: a condition is in force and there is
/// a time after which to hedge.
pub(super) fn hedging(hedge: Node<'_>, has_conditions: bool, has_attempt_timeout: bool) -> Vec<Ineffective> {
    let mut out = Vec::new();
    for name in ["initial_requests", "additional_request_chance"] {
        if let Some(entry) = entry(hedge, name) {
            let on = spelled(hedge, "hedge_on_per_try_timeout");
            out.push(inert(
                entry.value.span(),
                format!("`{}` does nothing: Envoy has not implemented it", entry.key),
                "not implemented",
                format!("`{on}: true` is the only kind of hedging there is"),
            ));
        }
    }
    if super::proto::flag(hedge, "hedge_on_per_try_timeout") == Some(true)
        && let Some(entry) = entry(hedge, "hedge_on_per_try_timeout")
    {
        let (lacks, help) = if !has_conditions {
            (spelled(hedge, "retry_on"), "`retry_on: 5xx` in the retry policy")
        } else if !has_attempt_timeout {
            (
                spelled(hedge, "per_try_timeout"),
                "`per_try_timeout: 0.25s` in the retry policy, below the route's timeout",
            )
        } else {
            return out;
        };
        out.push(inert(
            entry.value.span(),
            format!("`{}` never sends a second request: the retry policy has no `{lacks}` in force", entry.key),
            "nothing to hedge on",
            help,
        ));
    }
    out
}

/// A virtual host's policy that each of its routes replaces.
pub(super) fn dead_host_policy(policy: Span, host: &str, by: &str) -> Ineffective {
    inert(
        policy,
        format!("the retry policy of virtual host `{host}` is never used: {by}"),
        "replaced as a whole, nothing of it is merged",
        "delete it, or delete the policies that replace it",
    )
}

/// The limits on one try. Envoy takes them from the route's or the virtual host's policy, whoever decides on the retries:
/// measured, cluster `5xx/2` with per_try 0.3 s under a timeout of 3 s, hang: one try, 3.0 s; the limit in the route's
/// policy instead: three tries, 0.9 s.
const TRY_LIMITS: [&str; 2] = ["per_try_timeout", "per_try_idle_timeout"];

/// Whether a policy limits the time of one try.
pub(super) fn limits_tries(policy: Node<'_>) -> bool {
    TRY_LIMITS.iter().any(|name| field(policy, name).is_some())
}

/// A route's policy beside one of its cluster, which replaces all of it but the limits on one try.
pub(super) fn dead_route_policy(policy: Node<'_>, cluster: &str) -> Option<Ineffective> {
    let limits: Vec<&str> = TRY_LIMITS.iter().filter_map(|name| entry(policy, name)).map(|entry| entry.key).collect();
    let cluster = shorten(cluster);
    match (limits.first(), policy.written_entries().count() > limits.len()) {
        (_, false) => None,
        (None, true) => Some(inert(
            policy.span(),
            format!("this retry policy is never used: cluster `{cluster}` has its own, which replaces it"),
            "replaced as a whole, nothing of it is merged",
            "delete it, or move what it says to the cluster's `retry_policy`",
        )),
        (Some(limit), true) => Some(inert(
            policy.span(),
            format!(
                "of this retry policy only `{limit}` is used: cluster `{cluster}` has its own, which replaces the rest"
            ),
            format!("replaced but for `{limit}`"),
            format!("leave `{limit}` here and move the rest to the cluster's `retry_policy`"),
        )),
    }
}

/// Limits on one try in a cluster's policy.
pub(super) fn try_limits_of_cluster(policy: Node<'_>) -> impl Iterator<Item = Ineffective> {
    TRY_LIMITS.iter().filter_map(move |name| entry(policy, name)).map(|limit| {
        let key = limit.key;
        inert(
            limit.value.span(),
            format!("`{key}` does nothing in a cluster's retry policy: no try is cut"),
            "read from the route's policy only",
            format!("move `{key}` to the `retry_policy` of the route or its virtual host; the cluster's still decides on the retries"),
        )
    })
}

/// A timeout header that comes too late.
pub(super) fn late_header(value: Node<'_>, name: &str) -> Ineffective {
    let per_try = name.contains("per-try");
    let time = value.text().and_then(|text| text.parse::<u64>().ok()).map_or(Nanos::from_secs(1), Nanos::from_millis);
    let time = in_seconds(time);
    inert(
        value.span(),
        format!("`{name}` does nothing here: Envoy reads it before it adds headers"),
        "added too late",
        if per_try {
            format!("`per_try_timeout: {time}` in the retry policy")
        } else {
            format!("`timeout: {time}` in the route")
        },
    )
}

/// A count for a request that nothing retries.
pub(super) fn lonely_max_retries(span: Span) -> Ineffective {
    inert(
        span,
        "`x-envoy-max-retries` retries nothing: no condition says which failures",
        "a count without conditions",
        "`retry_policy: { retry_on: \"connect-failure,refused-stream\" }` in the route",
    )
}
