//! What an environment's file changes: .NET lays `appsettings.Production.json` over `appsettings.json` key by key. The two
//! are read apart; here the section that both have becomes one policy of that environment, which the base's is no longer in.

use std::collections::HashMap;

use super::pipeline::{self, GROWTH_ELSEWHERE};
use crate::facts::{
    Attempts, Breaker, Callee, Dialect, Facts, File, Ineffective, Jitter, Limit, Policy, Sourced, Value, Why,
};
use crate::source::Span;

/// Whether a file only changes what `appsettings.json` says: then what it leaves out is written there, perhaps.
pub(super) fn is_overlay(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    name.strip_prefix("appsettings.").is_some_and(|rest| rest.contains('.'))
}

/// Where a section stands: who tells of the file, its folder, the section's path.
type Place<'f> = (Option<&'f str>, &'f str, String);

/// Lays the sections of environments over those of their base, once all files are read.
pub fn finish(facts: &mut Facts) {
    let mut bases: HashMap<Place<'_>, usize> = HashMap::new();
    let mut overlays: Vec<(usize, Place<'_>)> = Vec::new();
    for (at, policy) in facts.policies.iter().enumerate().filter(|(_, policy)| policy.dialect == Dialect::Dotnet) {
        let Some(file) = facts.files.get(policy.span.file.0 as usize) else { continue };
        let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
        let place = (told_by(file), folder, section(policy));
        if name.eq_ignore_ascii_case("appsettings.json") {
            bases.entry(place).or_insert(at);
        } else if is_overlay(name) && policy.environment.is_some() {
            overlays.push((at, place));
        }
    }
    let pairs: Vec<(usize, usize)> =
        overlays.into_iter().filter_map(|(over, place)| Some((*bases.get(&place)?, over))).collect();
    for (base, over) in pairs {
        let (Some(below), Some(policy)) = (facts.policies.get(base), facts.policies.get(over)) else { continue };
        if below.environment.is_some() && below.environment != policy.environment {
            continue;
        }
        let (laid, environment) = (lay(below, policy), policy.environment.clone());
        if let Some(policy) = facts.policies.get_mut(over) {
            *policy = laid;
        }
        if let Some(base) = facts.policies.get_mut(base) {
            base.replaced_in.extend(environment);
        }
    }
}

fn told_by(file: &File) -> Option<&str> {
    file.told_by.as_deref()
}

/// The section that holds the settings, however much of it a file has: a retry strategy alone is named by its own.
fn section(policy: &Policy) -> String {
    let name = policy.name.to_ascii_lowercase();
    name.strip_suffix(":retry").map_or(name.clone(), str::to_string)
}

/// The base with everything that stands in the overlay.
fn lay(base: &Policy, over: &Policy) -> Policy {
    let mut laid = base.clone();
    let mut gone: Vec<Span> = Vec::new();
    let mut take = Take { gone: &mut gone };
    if take.value(&mut laid.attempts, &over.attempts) {
        laid.count.clone_from(&over.count);
        laid.span = over.span;
    }
    take.value(&mut laid.backoff.base, &over.backoff.base);
    take.value(&mut laid.backoff.cap, &over.backoff.cap);
    take.value(&mut laid.attempt_timeout, &over.attempt_timeout);
    take.value(&mut laid.total.limit, &over.total.limit);
    take.value(&mut laid.reads_retry_after, &over.reads_retry_after);
    take.value(&mut laid.backoff.kind, &over.backoff.kind);
    laid.jitter = pipeline::jitter(switch(base, over, &mut take), &laid.backoff.kind);
    breaker(&mut laid.breaker, &over.breaker, &mut take);

    laid.attempts = match (laid.attempts.known(), laid.total.limit.limit()) {
        (Some(Attempts::Unbounded), Some(_)) => laid.attempts.map(|_| Attempts::ByTime),
        _ => laid.attempts,
    };
    if matches!(over.callee, Callee::Service { .. }) {
        laid.callee.clone_from(&over.callee);
    }
    laid.environment.clone_from(&over.environment);
    laid.replaced_in = Vec::new();
    let stays = |setting: &&Ineffective| !gone.contains(&setting.span);
    laid.ineffective = base.ineffective.iter().filter(stays).chain(&over.ineffective).cloned().collect();
    laid
}

/// Takes over what the overlay says, and notes what it takes the place of.
struct Take<'g> {
    gone: &'g mut Vec<Span>,
}

impl Take<'_> {
    fn value<T: Clone>(&mut self, base: &mut Sourced<T>, over: &Sourced<T>) -> bool {
        if !is_said(over) {
            return false;
        }
        self.gone.extend(base.span());
        base.clone_from(over);
        true
    }
}

/// Whether an overlay says anything about a setting: what it does not, it leaves to its base, to a default, to code.
fn is_said<T>(value: &Sourced<T>) -> bool {
    match &value.value {
        Value::Known(_) => value.is_written(),
        Value::Unknown(why) => !matches!(**why, Why::Other(_)),
    }
}

/// Whether delays are spread: what that looks like depends on how they grow, which the other file may say.
fn switch(base: &Policy, over: &Policy, take: &mut Take<'_>) -> Sourced<bool> {
    let is_on = |jitter: &Sourced<Jitter>| jitter.clone().map(|jitter| jitter != Jitter::NONE);
    match over.jitter.why() {
        Some(Why::Other(why)) if **why == *GROWTH_ELSEWHERE => {
            Sourced { value: Value::Known(true), origin: over.jitter.origin.clone() }
        }
        _ if is_said(&over.jitter) => {
            take.gone.extend(base.jitter.span());
            is_on(&over.jitter)
        }
        _ => is_on(&base.jitter),
    }
}

fn breaker(base: &mut Sourced<Limit<Box<Breaker>>>, over: &Sourced<Limit<Box<Breaker>>>, take: &mut Take<'_>) {
    let Some(over) = over.limit() else { return };
    let Value::Known(Limit::At(base)) = &mut base.value else { return };
    fn lay<T: Clone>(base: &mut Option<Sourced<T>>, over: Option<&Sourced<T>>, take: &mut Take<'_>) {
        if let (Some(base), Some(over)) = (base, over) {
            take.value(base, over);
        }
    }
    lay(&mut base.ratio, over.ratio.as_ref(), take);
    lay(&mut base.minimum, over.minimum.as_ref(), take);
    lay(&mut base.window, over.window.as_ref(), take);
    lay(&mut base.open, over.open.as_ref(), take);
}

#[cfg(test)]
mod tests;
