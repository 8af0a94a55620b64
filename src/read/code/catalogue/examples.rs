//! The examples of the catalogue's files: what each says that must be read is what is read.

use std::sync::Arc;

use super::format::{Example, Expect, ExpectKey, Library, Target, Value};
use super::index::Catalogue;
use super::{format, sites};
use crate::facts::{Attempts, BackoffKind, Classes, Confidence, Jitter, Limit, Methods, Nanos, Policy};
use crate::read::code::fixture;
use crate::read::code::packages::{PackageId, Packages};
use crate::read::code::project::Project;
use crate::read::code::site::Site;

/// A version that is newer than all that entries tell apart.
const NEWEST: (u64, u64, u64) = (0, 999, 0);

#[test]
fn every_example_reads_as_it_says() {
    let mut wrong = Vec::new();
    for (file, text) in super::files::FILES {
        let library = format::parse(text, None).unwrap_or_else(|faults| panic!("{file}: {faults:#?}"));
        for example in &library.examples {
            let name = example.name.as_deref().unwrap_or("an example");
            wrong.extend(check(&library, example).into_iter().map(|what| format!("{file}, {name}: {what}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Everything that is read of an example otherwise than it says.
fn check(library: &Library, example: &Example) -> Vec<String> {
    let sites = read(library, example);
    let found: Vec<&Site> = sites.iter().collect();
    if found.len() != example.expect.len() {
        let shown = |site: &&Site| format!("{} {:?}", site.policy.source, site.policy.attempts.value);
        let found: Vec<String> = found.iter().map(shown).collect();
        return vec![format!("{} policies instead of {}: {found:?}", found.len(), example.expect.len())];
    }
    let pairs = found.iter().zip(&example.expect);
    pairs.flat_map(|(site, expected)| expected.iter().filter_map(|one| mismatch(site, one, &example.code))).collect()
}

/// The sites of an example, in a package that depends on what the catalogue knows.
fn read(library: &Library, example: &Example) -> Vec<Site> {
    let catalogue = Arc::new(Catalogue::default());
    let mut dependencies: Vec<(String, String, (u64, u64, u64))> = Vec::new();
    for (_, text) in super::files::FILES {
        let other = format::parse(text, None).unwrap_or_else(|faults| panic!("{faults:#?}"));
        for package in &other.packages {
            let own = example.version.filter(|_| library.packages.first().is_some_and(|own| own.name == package.name));
            let newest = package.versions.newest().unwrap_or(NEWEST);
            // Of a family, one.
            let package = package.name.replace('*', "sts");
            dependencies.push((package.replace('-', "_"), package, own.unwrap_or(newest)));
        }
    }
    // Of a package in several files, the range of the library itself counts.
    let own = |name: &str| library.packages.iter().any(|package| package.is(name));
    dependencies.sort_by_key(|(_, package, _)| !own(package));
    let mut known: Vec<(&str, &str, (u64, u64, u64))> = Vec::new();
    for (name, package, version) in &dependencies {
        if !known.iter().any(|(other, ..)| other == name) {
            known.push((name, package, *version));
        }
    }
    let unit = fixture::unit_with(&example.code, &known);
    let package = fixture::package(&known);
    let project = Project::new(Packages::new(vec![package])).looking_for(catalogue);
    assert_eq!(unit.package, Some(PackageId(0)));
    sites(&project, &unit)
}

fn mismatch(site: &Site, expected: &Expect, code: &str) -> Option<String> {
    let policy = &site.policy;
    let of = |what: &str, is: String, should: String| (is != should).then(|| format!("{what} is {is}, not {should}"));
    let value = &expected.value;
    let key = match expected.key {
        ExpectKey::Delays => {
            let Value::List(items) = value else { return Some("delays are a list".into()) };
            let is: Vec<Option<Nanos>> = (1..=items.len() as u64).map(|i| policy.backoff.nominal(i)).collect();
            let should: Vec<Option<Nanos>> = items
                .iter()
                .map(|item| match item {
                    Value::Time(time) => Some(*time),
                    _ => None,
                })
                .collect();
            return of("delays", format!("{is:?}"), format!("{should:?}"));
        }
        ExpectKey::Line => {
            let before = code.get(..policy.span.start as usize).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            return of("line", line.to_string(), plain(value));
        }
        ExpectKey::Operations => return of("operations", site.operations.len().to_string(), plain(value)),
        ExpectKey::Confidence => {
            let is = match policy.confidence {
                Confidence::High => "high",
                Confidence::Medium => "medium",
                Confidence::Low => "low",
            };
            return of("confidence", is.into(), plain(value));
        }
        ExpectKey::Target(target) => target,
    };
    let (is, should) = target(policy, key, value);
    of(key.name(), is, should)
}

/// A target as it is and as it should be, in the same words.
fn target(policy: &Policy, target: Target, value: &Value) -> (String, String) {
    let unknown = || "unknown".to_string();
    let should = plain(value);
    let limit = |limit: Option<&Limit<Nanos>>| match limit {
        Some(Limit::At(time)) => format!("{time:?}"),
        Some(Limit::None) => "none".into(),
        None => unknown(),
    };
    let switch = |is: Option<&bool>| is.map_or_else(unknown, ToString::to_string);
    let is = match target {
        Target::Attempts => match policy.attempts.known() {
            Some(Attempts::Times(n)) => n.to_string(),
            Some(Attempts::Unbounded) => "unbounded".into(),
            Some(Attempts::ByTime) => "by-time".into(),
            None => unknown(),
        },
        Target::Backoff => match policy.backoff.kind.known() {
            Some(BackoffKind::None) => "none".into(),
            Some(BackoffKind::Fixed) => "fixed".into(),
            Some(BackoffKind::Linear) => "linear".into(),
            Some(BackoffKind::Exponential) => "exponential".into(),
            Some(BackoffKind::Fibonacci) => "fibonacci".into(),
            Some(BackoffKind::Schedule(_)) => "schedule".into(),
            None => unknown(),
        },
        Target::Base => policy.backoff.base.known().map_or_else(unknown, |time| format!("{time:?}")),
        Target::Factor => policy.backoff.factor.known().map_or_else(unknown, |n| plain(&Value::Float(*n))),
        Target::Cap => limit(policy.backoff.cap.known()),
        Target::Jitter => return jitter(policy.jitter.known(), value),
        Target::AttemptTimeout => limit(policy.attempt_timeout.known()),
        Target::Total => limit(policy.total.limit.known()),
        Target::ConnectTimeout => limit(policy.connect_timeout.as_ref().and_then(|limit| limit.known())),
        Target::Predicate => {
            let is = policy.retries_on.known().map_or_else(unknown, |classes| format!("{classes:?}"));
            return (
                is,
                match value {
                    Value::Classes(classes) => format!("{classes:?}"),
                    _ => unknown(),
                },
            );
        }
        Target::Methods => match policy.methods.known() {
            Some(Methods::Any) => "any".into(),
            Some(Methods::Idempotent) => "idempotent".into(),
            Some(Methods::Only(methods)) => format!("{methods:?}"),
            None => unknown(),
        },
        Target::Observed => switch(policy.observed.known()),
        Target::ReadsRetryAfter => switch(policy.reads_retry_after.known()),
        Target::Blocking => policy.in_code.as_ref().is_some_and(|in_code| in_code.blocking_sleep.is_some()).to_string(),
        Target::Inert => {
            let labels: Vec<&str> = policy.ineffective.iter().map(|one| one.label.as_str()).collect();
            labels.first().map_or_else(|| "none".into(), ToString::to_string)
        }
        Target::Frozen => {
            let how = policy.in_code.as_ref().and_then(|in_code| in_code.frozen_jitter);
            how.map_or_else(|| "none".into(), |frozen| format!("{:?}", frozen.how).to_lowercase())
        }
        Target::Purpose => format!("{:?}", policy.purpose).to_lowercase(),
        Target::Budget => match (policy.budget.known(), value) {
            (Some(Limit::At(budget)), Value::Fields(fields)) => {
                let ratio = fields.iter().find(|(name, _)| &**name == "ratio").map(|(_, ratio)| plain(ratio));
                return (
                    budget.ratio.known().map_or_else(unknown, |n| plain(&Value::Float(*n))),
                    ratio.unwrap_or_default(),
                );
            }
            (Some(Limit::None), _) => "none".into(),
            (Some(_), _) => "some".into(),
            (None, _) => unknown(),
        },
        other => format!("nothing that an example can ask for: {}", other.name()),
    };
    (is, should)
}

fn jitter(is: Option<&Jitter>, should: &Value) -> (String, String) {
    let Value::Fields(fields) = should else {
        return (is.map_or("unknown", Jitter::kind).to_string(), plain(should));
    };
    let mut wanted = Jitter::NONE;
    for (name, value) in fields {
        match (&**name, value) {
            ("low", Value::Float(n)) => wanted.low = *n,
            ("high", Value::Float(n)) => wanted.high = *n,
            ("plus", Value::Time(time)) => wanted.plus = *time,
            ("least", Value::Time(time)) => wanted.least = *time,
            _ => {}
        }
    }
    let show = |jitter: &Jitter| format!("{:.6} {:.6} {:?} {:?}", jitter.low, jitter.high, jitter.plus, jitter.least);
    (is.map_or_else(|| "unknown".into(), show), show(&wanted))
}

fn plain(value: &Value) -> String {
    match value {
        Value::None => "none".into(),
        Value::Unknown => "unknown".into(),
        Value::Word(word) => word.to_string(),
        Value::Int(n) => n.to_string(),
        Value::Float(n) => format!("{n:.6}"),
        Value::Bool(is) => is.to_string(),
        Value::Time(time) => format!("{time:?}"),
        Value::Classes(classes) if *classes == Classes::ALL => "any".into(),
        Value::List(items) => format!("{:?}", items.iter().map(plain).collect::<Vec<_>>()),
        other => format!("{other:?}"),
    }
}
