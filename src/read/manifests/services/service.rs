//! What a manifest or retrylint.toml says about a service itself.

use super::keys;
use crate::facts::{Accept, Host, Service};
use crate::read::data::tree::Entry;
use crate::read::vocabulary::values::{CLASS, DAY, DURATION, RATE, REASON, TEXT, TEXTS, TIMES, WHOLE};
use crate::read::vocabulary::{Faults, Kind, fields, plain, texts, value};

/// Whether the calls of a service run at once.
pub(super) const MODE: Kind<bool> = Kind::words(&[("sequential", false), ("parallel", true)]);

/// Takes one field of a service; false if there is none of that name (`calls` is the caller's business).
pub fn service_field(service: &mut Service, field: &Entry<'_>, faults: &mut Faults) -> bool {
    match field.key {
        "namespace" => service.namespace = plain(field, TEXT, faults),
        "environment" => service.environment = plain(field, TEXT, faults),
        "paths" => {
            for (path, node) in texts(field, TEXTS, faults) {
                match globset::Glob::new(path) {
                    Ok(_) => service.paths.push(path.into()),
                    Err(error) => faults.add(node.span(), format!("`{path}` is no pattern: {}", error.kind()), None),
                }
            }
        }
        "aliases" => service.aliases = aliases(field, faults),
        "owner" => service.owner = plain(field, TEXT, faults),
        "rate" => service.rate = value(field, RATE, faults),
        "clients" => service.clients = value(field, WHOLE, faults),
        "capacity" => service.capacity = value(field, RATE, faults),
        "pool" => service.pool = value(field, WHOLE, faults),
        "instances" => service.instances = value(field, WHOLE, faults),
        "latency" => service.latency = value(field, DURATION, faults),
        "timeout" => service.timeout = value(field, DURATION, faults),
        "emits" => service.emits = value(field, CLASS, faults),
        "mode" => service.parallel = value(field, MODE, faults),
        "max-hops" => service.max_hops = value(field, WHOLE, faults),
        "accept" => service.accept = accept(field, faults),
        _ => return false,
    }
    true
}

fn aliases(field: &Entry<'_>, faults: &mut Faults) -> Vec<Host> {
    let mut out = Vec::new();
    for (name, node) in texts(field, keys::ALIASES, faults) {
        match Host::parse(name) {
            Some(host) => out.push(host),
            None if faults.hole(node).is_some() => {}
            None => faults.misfit(field.key, node, "names of the service"),
        }
    }
    out
}

/// `accept = { max-amplification = 9, reason = "…" }`: both are needed, since a decision without a reason cannot be
/// judged by the next reader. `until = 2027-01-31` is the last day on which it holds.
fn accept(field: &Entry<'_>, faults: &mut Faults) -> Option<Accept> {
    if !faults.is_map(field, keys::ACCEPT.shape) {
        return None;
    }
    let before = faults.list.len();
    // What is filled in later is no mistake, and decides nothing yet.
    let mut is_open = false;
    let (mut max_amplification, mut reason, mut until) = (None, None, None);
    for entry in fields(field.value) {
        is_open |= faults.hole(entry.value).is_some();
        match entry.key {
            "max-amplification" => max_amplification = plain(&entry, TIMES, faults),
            "reason" => reason = plain(&entry, REASON, faults),
            "until" => until = plain(&entry, DAY, faults),
            _ => faults.unknown(&entry, &keys::ACCEPT),
        }
    }
    let (Some(max_amplification), Some(reason)) = (max_amplification, reason) else {
        if faults.list.len() == before && !is_open {
            faults.add(field.key_span, "`accept` needs both `max-amplification` and `reason`", None);
        }
        return None;
    };
    Some(Accept { max_amplification, reason: reason.to_string().into(), until, span: field.value.span() })
}
