//! `retries:` of an HTTP route, and what holds where it is missing, switched off by accident or rejected.

use super::{Rejection, defaults, duration, limited, may_be_templated, retry_on};
use crate::facts::{
    AttemptTimeoutFlaw, Attempts, Class, Classes, Count, Counts, Ineffective, Limit, Origin, Policy, PolicyKind,
    Sourced, Value, Why,
};
use crate::read::data::tree::{Entry, Node};
use crate::read::data::value::{self, hole, whole};

/// What is said of an object that is rejected: the routes are then the mesh's own.
pub(super) const DEFAULT_STAYS: &str = "its default of two retries stays in force";

/// The policy of one HTTP route, without caller and callee. `object` is the route's object as a message names it
/// (VirtualService `ledger`); `inherits` says why a missing value cannot be told, if it comes from elsewhere.
pub(super) fn policy(route: Node<'_>, name: &str, object: &str, inherits: Option<&Why>, version: (u32, u32)) -> Policy {
    let mut rejections = Vec::new();
    let inherits = inherits.cloned().or_else(|| {
        may_be_templated(route).then(|| Why::Template("a line of this file that only rendering shows".into()))
    });
    let entry = route.entry("retries").filter(|entry| !entry.value.is_null());
    let mut policy = match entry {
        Some(entry) => written(entry, name, version, &mut rejections),
        None => {
            let mut policy = defaults::client(version, route.span(), name);
            if let Some(why) = &inherits {
                policy.kind = PolicyKind::Config;
                policy.attempts = Sourced::unknown(why.clone(), route.span());
            }
            policy
        }
    };
    let no_timeout = || match &inherits {
        Some(why) => Sourced::unknown(why.clone(), route.span()),
        None => Sourced::default_of(Limit::None, "Istio", "timeout"),
    };
    policy.total.limit = duration(route.get("timeout"), "timeout", no_timeout, &mut rejections);
    policy.attempt_timeout_flaw = flaw(&policy, route);
    if !rejections.is_empty() {
        let ineffective = rejections.into_iter().map(|rejection| rejection.of(object, DEFAULT_STAYS)).collect();
        policy = Policy { ineffective, ..defaults::client(version, policy.span, name) };
    }
    misplaced(route, &mut policy);
    policy
}

/// Settings of the route that stand in one of its destinations, one level too deep.
fn misplaced(route: Node<'_>, policy: &mut Policy) {
    let destinations = route.get("route").into_iter().flat_map(Node::items);
    // One is enough to see the mistake.
    let Some(destination) =
        destinations.into_iter().find(|one| ["retries", "timeout"].iter().any(|key| one.get(key).is_some()))
    else {
        return;
    };
    for entry in ["retries", "timeout"].iter().filter_map(|key| destination.entry(key)) {
        policy.ineffective.push(Ineffective {
            span: entry.key_span,
            message: format!(
                "`{}` does nothing in a destination: it is a setting of the route, one level up",
                entry.key
            ),
            label: "not read here".to_string(),
            help: format!("`{}:` beside `route:`, not within it", entry.key),
            rejected: false,
        });
    }
}

fn written(entry: Entry<'_>, name: &str, version: (u32, u32), rejections: &mut Vec<Rejection>) -> Policy {
    let mut policy = defaults::proxy(entry.value.span(), name);
    policy.retries_on = defaults::retries_on(version);
    fill(&mut policy, entry.value, rejections);
    let retries = entry.value;
    let other = set_beside_attempts(retries);
    let attempts = retries.get("attempts").filter(|node| !node.is_null());
    match (attempts, other) {
        (None, Some(other)) if retries.is_map() && !may_be_templated(retries) => rejections.push(Rejection {
            span: other.key_span,
            what: format!("`{}` is set and `attempts` is not", other.key),
            label: "rejected without `attempts`".to_string(),
            help: "`attempts: 2`".to_string(),
        }),
        (Some(attempts), Some(other)) if attempts.text().and_then(|text| whole(text.trim())) == Some(0) => {
            rejections.push(Rejection {
                span: other.key_span,
                what: format!("`{}` is set although `attempts: 0` switches retries off", other.key),
                label: "rejected beside `attempts: 0`".to_string(),
                help: "`retries: { attempts: 0 }`".to_string(),
            });
        }
        (None, None) if retries.is_map() && !may_be_templated(retries) => policy.ineffective.push(Ineffective {
            span: entry.key_span,
            message:
                "`retries` without `attempts` switches retries off: Istio's default of two no longer holds, and one \
                      try is made"
                    .to_string(),
            label: "no `attempts` means none".to_string(),
            help: "`retries: { attempts: 2 }`".to_string(),
            rejected: false,
        }),
        _ => {}
    }
    if matches!(policy.retries_on.known(), Some(classes) if classes.is_empty())
        && policy.tries() != Some(1)
        && rejections.is_empty()
        && let Some(retry_on) = retries.get("retryOn")
    {
        policy.ineffective.push(Ineffective {
            span: retry_on.span(),
            message: "no failure is ever retried: `retryOn` names no condition that can arise here".to_string(),
            label: "matches no failure".to_string(),
            help: "`retryOn: connect-failure,refused-stream,503`".to_string(),
            rejected: false,
        });
    }
    policy
}

/// A setting that is pointless without a count, and with which a VirtualService must have one.
pub(super) fn set_beside_attempts(retries: Node<'_>) -> Option<Entry<'_>> {
    ["retryOn", "perTryTimeout", "retryRemoteLocalities"].iter().find_map(|key| retries.entry(key).filter(is_set))
}

/// Whether a key has a value that counts as set: an empty text is none.
fn is_set(entry: &Entry<'_>) -> bool {
    !entry.value.is_null() && entry.value.text() != Some("")
}

/// Overwrites what a retry policy says, of a route or of the whole mesh. A count that is missing is none.
pub(super) fn fill(policy: &mut Policy, retries: Node<'_>, rejections: &mut Vec<Rejection>) {
    if let Some(why) = hole(retries) {
        policy.attempts = Sourced::unknown(why.clone(), retries.span());
        policy.retries_on = Sourced::unknown(why, retries.span());
        return;
    }
    if !retries.is_map() {
        rejections.push(Rejection {
            span: retries.span(),
            what: "`retries` is no mapping".to_string(),
            label: "a mapping is wanted".to_string(),
            help: "`retries: { attempts: 2 }`".to_string(),
        });
        return;
    }
    fill_attempts(policy, retries, rejections);
    fill_conditions(policy, retries, rejections);
    let none = || Sourced::default_of(Limit::None, "Istio", "perTryTimeout");
    policy.attempt_timeout = duration(retries.get("perTryTimeout"), "perTryTimeout", none, rejections);
    if let Some(node) = retries.get("backoff").filter(|node| !node.is_null()) {
        let limit = duration(Some(node), "backoff", || limited(policy.backoff.base.clone()), rejections);
        let base = limit.map(|limit| limit.at().unwrap_or(defaults::BASE));
        policy.backoff.cap = Sourced {
            origin: Origin::Derived(vec![node.span()]),
            ..base.clone().map(|base| Limit::At(base.times(defaults::CAP)))
        };
        policy.backoff.base = base;
    }
    if retries.get("retryIgnorePreviousHosts").and_then(Node::text).and_then(value::boolean) == Some(false) {
        policy.other_host = false;
    }
}

fn fill_attempts(policy: &mut Policy, retries: Node<'_>, rejections: &mut Vec<Rejection>) {
    let Some(node) = retries.get("attempts").filter(|node| !node.is_null()) else {
        policy.attempts = if may_be_templated(retries) {
            Sourced::unknown(Why::Template("a line of this file that only rendering shows".into()), retries.span())
        } else {
            Sourced::written(Attempts::Times(1), retries.span())
        };
        return;
    };
    let written = value::written(node, "a whole number", whole);
    if let Some(retries) = written.known() {
        policy.count = Some(Count { key: "attempts".into(), written: *retries, counts: Counts::Retries });
    }
    if let Some(Why::Malformed { found, .. }) = written.why() {
        let text = node.text().unwrap_or_default().trim();
        let is_negative = text.strip_prefix('-').and_then(whole).is_some();
        rejections.push(Rejection {
            span: node.span(),
            what: format!("`attempts: {found}` is {}", if is_negative { "below zero" } else { "not a whole number" }),
            label: "retries after the first try are counted here".to_string(),
            help: format!("`attempts: {}`", if is_negative { 0 } else { 2 }),
        });
    }
    policy.attempts = written.map(|retries| Attempts::Times(retries.saturating_add(1)));
}

fn fill_conditions(policy: &mut Policy, retries: Node<'_>, rejections: &mut Vec<Rejection>) {
    let Some(node) = retries.get("retryOn").filter(|node| !node.is_null() && node.text() != Some("")) else {
        return;
    };
    let span = node.span();
    if let Some(why) = hole(node) {
        policy.retries_on = Sourced::unknown(why, span);
        return;
    }
    let Some(text) = node.text() else {
        rejections.push(Rejection {
            span,
            what: "`retryOn` is not a text".to_string(),
            label: "a list separated by commas is wanted".to_string(),
            help: "`retryOn: connect-failure,refused-stream,503`".to_string(),
        });
        return;
    };
    let read = retry_on::parse(text);
    if let Some(refused) = read.refused.first() {
        let (what, label) = match refused {
            retry_on::Refused::Blank(token) => (
                format!("`retryOn` has a blank beside `{}`, and the list is not trimmed", value::shorten(token)),
                "no blanks between conditions",
            ),
            retry_on::Refused::Unknown("") => ("`retryOn` has an empty condition".to_string(), "a comma too many"),
            retry_on::Refused::Unknown(token) => {
                (format!("`{}` is no condition of `retryOn`", value::shorten(token)), "unknown condition")
            }
        };
        let help = format!("`retryOn: {}`", retry_on::corrected(text));
        rejections.push(Rejection { span, what, label: label.to_string(), help });
    }
    policy.names_classes = read.classes;
    policy.retries_on = Sourced::written(read.classes, span);
}

/// What becomes of a written `perTryTimeout`: the proxy drops one that is not below `timeout`; and a try that it cuts is
/// only retried by conditions that hold for resets.
fn flaw(policy: &Policy, route: Node<'_>) -> Option<AttemptTimeoutFlaw> {
    policy.attempt_timeout.limit()?;
    let too_long = not_below_total(policy);
    if too_long.is_some() {
        return too_long;
    }
    let retries_cut_tries = match &policy.retries_on.value {
        Value::Known(classes) => classes.contains(Class::TryTimeout),
        Value::Unknown(_) => true,
    };
    let retries = policy.may_retry() && policy.retries_on.known() != Some(&Classes::NONE);
    (retries && !retries_cut_tries).then(|| {
        let written = route.at(&["retries", "retryOn"]).and_then(Node::text).filter(|text| !text.is_empty());
        let kept = written.map_or_else(|| defaults::CONDITIONS.to_string(), retry_on::corrected);
        let corrected = format!("retryOn: {kept},reset").into();
        AttemptTimeoutFlaw::NeverRetried { add: "reset".into(), corrected }
    })
}

/// Whether the proxy drops `perTryTimeout`, because it is not below `timeout`.
pub(super) fn not_below_total(policy: &Policy) -> Option<AttemptTimeoutFlaw> {
    let (attempt, total) = (policy.attempt_timeout.limit()?, policy.total.limit.limit()?);
    (attempt >= total).then(|| AttemptTimeoutFlaw::NotBelowTotal(policy.total.limit.clone()))
}
