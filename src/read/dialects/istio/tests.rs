//! What Istio's objects become, with numbers from the semantics documents, worked out by hand.

mod defaults;
mod destination_rules;
mod identity;
mod retries;
mod routes;

use crate::facts::{
    Callee, Caller, Class, Classes, Facts, FileKind, Host, Ineffective, Nanos, Origin, Policy, ServiceRef, Sourced,
    Value,
};
use crate::read::{DIALECTS, ReadSettings, read_file};
use crate::source::FileId;

/// The facts of one YAML file, as the newest Istio means it.
fn facts(text: &str) -> Facts {
    facts_at("mesh/a.yaml", text, ReadSettings::default().istio_version)
}

fn facts_at(path: &str, text: &str, istio_version: (u32, u32)) -> Facts {
    let facts =
        read_file(FileId(0), path, FileKind::Yaml, text, &ReadSettings { istio_version, ..ReadSettings::default() });
    let words = || DIALECTS.iter().flat_map(|dialect| dialect.words);
    assert!(facts == Facts::default() || words().any(|word| text.contains(word)), "the prefilter would miss this");
    facts
}

/// The text at a value's place.
fn at<'t, T>(text: &'t str, value: &Sourced<T>) -> &'t str {
    &text[value.span().unwrap().range()]
}

fn service(name: &str, namespace: Option<&str>) -> Host {
    Host::Name { name: name.into(), namespace: namespace.map(Into::into) }
}

fn callee(policy: &Policy) -> (&ServiceRef, Vec<Host>) {
    match &policy.callee {
        Callee::Service { service, hosts } => (service, hosts.iter().map(|host| host.host.clone()).collect()),
        other => panic!("{other:?}"),
    }
}

fn everyone() -> Caller {
    Caller::Members { namespace: None, labels: vec![] }
}

/// What Istio retries since 1.24 where nothing is written.
fn default_classes() -> Classes {
    Classes::of(&[Class::Connect, Class::Unsent, Class::Unavailable, Class::Aborted])
}

fn ms(millis: u64) -> Nanos {
    Nanos::from_millis(millis)
}

/// The only ineffective setting of the only policy, with the text under it.
fn only_ineffective<'t>(text: &'t str, facts: &Facts) -> (Ineffective, &'t str) {
    let all: Vec<Ineffective> = facts.policies.iter().flat_map(|policy| policy.ineffective.clone()).collect();
    assert_eq!(all.len(), 1, "{all:#?}");
    let one = all.into_iter().next().unwrap();
    let under = &text[one.span.range()];
    (one, under)
}

fn known<T: Clone>(value: &Sourced<T>) -> T {
    match &value.value {
        Value::Known(value) => value.clone(),
        Value::Unknown(why) => panic!("unknown: {why}"),
    }
}

fn is_default<T>(value: &Sourced<T>, whose: &str) -> bool {
    matches!(&value.origin, Origin::Default { by, .. } if *by == whose)
}
