//! What a manifest or retrylint.toml says about a service itself.

use crate::facts::{Accept, DATE, Date, Host, Service};
use crate::read::data::tree::Entry;
use crate::read::data::value::hole;
use crate::read::vocabulary::values::{
    DURATION, RATE, TEXT, TEXTS, TIMES, WHOLE, class, duration, rate, text, times, whole,
};
use crate::read::vocabulary::{Faults, fields, plain, texts, value};

/// Keys of a service in a manifest.
pub const SERVICE_KEYS: &[&str] = &[
    "calls",
    "namespace",
    "environment",
    "paths",
    "aliases",
    "owner",
    "rate",
    "clients",
    "capacity",
    "pool",
    "instances",
    "latency",
    "timeout",
    "emits",
    "mode",
    "max-hops",
    "accept",
];

/// Those of them that say something about the service itself: retrylint.toml has its calls elsewhere.
pub const OWN_KEYS: &[&str] = match SERVICE_KEYS {
    [_calls, own @ ..] => own,
    [] => &[],
};

/// Keys of `accept`.
pub const ACCEPT_KEYS: &[&str] = &["max-amplification", "reason", "until"];

/// Takes one field of a service; false if there is none of that name (`calls` is the caller's business).
pub fn service_field(service: &mut Service, field: &Entry<'_>, faults: &mut Faults) -> bool {
    match field.key {
        "namespace" => service.namespace = plain(field, TEXT, faults, text),
        "environment" => service.environment = plain(field, TEXT, faults, text),
        "paths" => {
            for (path, node) in texts(field, TEXTS, faults) {
                match globset::Glob::new(path) {
                    Ok(_) => service.paths.push(path.into()),
                    Err(error) => faults.add(node.span(), format!("`{path}` is no pattern: {}", error.kind()), None),
                }
            }
        }
        "aliases" => service.aliases = aliases(field, faults),
        "owner" => service.owner = plain(field, TEXT, faults, text),
        "rate" => service.rate = value(field, RATE, faults, rate),
        "clients" => service.clients = value(field, WHOLE, faults, whole),
        "capacity" => service.capacity = value(field, RATE, faults, rate),
        "pool" => service.pool = value(field, WHOLE, faults, whole),
        "instances" => service.instances = value(field, WHOLE, faults, whole),
        "latency" => service.latency = value(field, DURATION, faults, duration),
        "timeout" => service.timeout = value(field, DURATION, faults, duration),
        "emits" => {
            service.emits = value(field, "a failure class, an HTTP status or a gRPC code", faults, class);
        }
        "mode" => {
            service.parallel = value(field, "`sequential` or `parallel`", faults, |node| match node.text()? {
                "sequential" => Some(false),
                "parallel" => Some(true),
                _ => None,
            });
        }
        "max-hops" => service.max_hops = value(field, WHOLE, faults, whole),
        "accept" => service.accept = accept(field, faults),
        _ => return false,
    }
    true
}

fn aliases(field: &Entry<'_>, faults: &mut Faults) -> Vec<Host> {
    let mut out = Vec::new();
    for (name, node) in texts(field, TEXTS, faults) {
        match Host::parse(name) {
            Some(host) => out.push(host),
            None if hole(node).is_some() => {}
            None => faults.misfit(field.key, node, "names of the service"),
        }
    }
    out
}

/// What a reason must be.
const REASON: &str = "a text that says why";

/// Whether a text says anything: no placeholder.
fn says_why(reason: &str) -> bool {
    reason.chars().any(char::is_alphanumeric)
}

/// `accept = { max-amplification = 9, reason = "…" }`: both are needed, since a decision without a reason cannot be
/// judged by the next reader. `until = 2027-01-31` is the last day on which it holds.
fn accept(field: &Entry<'_>, faults: &mut Faults) -> Option<Accept> {
    if !faults.is_map(field, "a mapping with `max-amplification` and `reason`") {
        return None;
    }
    let before = faults.list.len();
    let (mut max_amplification, mut reason, mut until) = (None, None, None);
    for entry in fields(field.value) {
        match entry.key {
            "max-amplification" => max_amplification = plain(&entry, TIMES, faults, times),
            "reason" => reason = plain(&entry, REASON, faults, |node| text(node).filter(|reason| says_why(reason))),
            "until" => until = plain(&entry, DATE, faults, |node| Date::parse(node.text()?)),
            _ => faults.unknown_key(&entry, "`accept`", ACCEPT_KEYS),
        }
    }
    let (Some(max_amplification), Some(reason)) = (max_amplification, reason) else {
        if faults.list.len() == before {
            faults.add(field.key_span, "`accept` needs both `max-amplification` and `reason`", None);
        }
        return None;
    };
    Some(Accept { max_amplification, reason: reason.to_string().into(), until, span: field.value.span() })
}
