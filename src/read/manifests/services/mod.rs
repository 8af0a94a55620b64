//! The services manifest: who calls whom, how often, and with which retries (ux.md, contracts.md D-20).
//!
//! Recognised by its shape alone: a top-level `services` map in which at least one entry has a list of `calls` (Compose
//! files have `services` too, and no calls). Its words are ours, so an unknown key is a problem with a suggestion.

mod call;
pub mod keys;
mod policy;
mod retry;
#[cfg(test)]
mod schema_tests;
mod service;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

pub use call::CallFields;
pub use service::service_field;

use crate::facts::{CallId, CallSource, Facts, Host, Problem, Service, ServiceSource, Why, words};
use crate::read::Context;
use crate::read::data::tree::{Entry, Node};
use crate::read::vocabulary::values::{FIRST, HOST, TEXT, string};
use crate::read::vocabulary::{Fault, Faults, Form, fields, plain};
use policy::Settings;

/// The reader of services manifests.
pub const DIALECT: crate::read::Dialect =
    crate::read::Dialect { name: "manifest", words: &["calls"], recognises, read };

/// Whether a document is a services manifest: some entry of its `services` has a list of `calls` that is empty, or starts
/// with a mapping or with the name of another entry. Other formats have lists of words there.
pub fn recognises(document: Node<'_>) -> bool {
    let Some(services) = document.get("services") else { return false };
    let names: OnceCell<HashSet<&str>> = OnceCell::new();
    let is_service = |name: &str| {
        names.get_or_init(|| services.written_entries().map(|service| service.key).collect()).contains(name)
    };
    let is_call = |call: Node<'_>| call.is_map() || call.text().is_some_and(is_service);
    services.written_entries().any(|service| {
        service.value.get("calls").is_some_and(|calls| calls.is_seq() && calls.items().next().is_none_or(is_call))
    })
}

/// Reads a manifest.
pub fn read(document: Node<'_>, _: &Context<'_>, facts: &mut Facts) {
    let mut reader = Reader {
        facts,
        faults: Faults::of(Form::Manifest),
        policies: HashMap::new(),
        names: Vec::new(),
        hosts: HashMap::new(),
    };
    reader.document(document);
    let is_template = document.tree().is_template;
    let mut faults = reader.faults.list;
    let more = faults.split_off(faults.len().min(TOLD));
    if let Some(next) = more.first() {
        let message = format!("{} more problems from here on", words::grouped(more.len() as u128));
        faults.push(Fault { span: next.span, message, help: None });
    }
    facts.problems.extend(faults.into_iter().map(|fault| problem(fault, is_template)));
}

/// A fault as a problem of a recognised file.
fn problem(fault: Fault, template: bool) -> Problem {
    let message = match fault.help {
        Some(help) => format!("{}; {help}", fault.message),
        None => fault.message,
    };
    Problem { span: fault.span, message, partial: true, recognised: true, template }
}

/// So many problems of one manifest are told one by one.
const TOLD: usize = 100;

/// More names than this are not searched for the one that was meant.
const MANY: usize = 200;

struct Reader<'t, 'f> {
    facts: &'f mut Facts,
    faults: Faults,
    /// The named policies, each read once however many calls use it.
    policies: HashMap<&'t str, Settings>,
    /// The first of their names, for suggestions.
    names: Vec<&'t str>,
    /// Hosts by their text: a million calls go to few services.
    hosts: HashMap<&'t str, Option<Host>>,
}

impl<'t> Reader<'t, '_> {
    fn document(&mut self, document: Node<'t>) {
        // Policies first: calls refer to them, wherever they stand.
        if let Some(policies) = document.entry("policies")
            && self.faults.is_map(&policies, "a mapping of names to policies")
        {
            for entry in fields(policies.value) {
                let settings = Settings::named(&entry, &mut self.faults);
                if self.names.len() < MANY {
                    self.names.push(entry.key);
                }
                self.policies.insert(entry.key, settings);
            }
        }
        for entry in fields(document) {
            match entry.key {
                "services" => self.services(&entry),
                "policies" => {}
                "$schema" => _ = plain(&entry, TEXT, &mut self.faults),
                "version" => _ = plain(&entry, FIRST, &mut self.faults),
                key if key.starts_with("x-") => {}
                _ => self.faults.unknown(&entry, &keys::TOP),
            }
        }
    }

    fn services(&mut self, services: &Entry<'t>) {
        let mut seen = HashSet::new();
        for entry in fields(services.value) {
            if !seen.insert(entry.key) {
                let message = format!("service `{}` is declared twice", entry.key);
                self.faults.add(entry.key_span, message, Some("join the two".to_string()));
            }
            self.service(&entry);
        }
    }

    fn service(&mut self, entry: &Entry<'t>) {
        let Some(host) = Host::parse(entry.key) else {
            let message = format!("`{}` is no name of a service", entry.key);
            self.faults.add(entry.key_span, message, None);
            return;
        };
        let (name, namespace) = match &host {
            Host::Name { name, namespace } => (Arc::clone(name), namespace.clone()),
            Host::Dotted(whole) => (Arc::clone(whole), None),
        };
        let mut service = Service::new(name, entry.key_span, ServiceSource::Manifest);
        service.namespace = namespace;
        let mut calls = None;
        if self.faults.is_map(entry, keys::SERVICE.shape) {
            for field in fields(entry.value) {
                if field.key == "calls" {
                    calls = Some(field);
                } else if !service_field(&mut service, &field, &mut self.faults) {
                    self.faults.unknown(&field, &keys::SERVICE);
                }
            }
        }
        if let Some(calls) = calls {
            let caller = Caller::of(host, &service, entry);
            if calls.value.is_seq() {
                self.facts.calls.reserve(calls.value.items().len());
                calls.value.items().for_each(|call| self.call(call, &caller));
            } else if !calls.value.is_null() {
                self.faults.misfit("calls", calls.value, "a list of calls");
            }
        }
        self.facts.services.push(service);
    }

    fn call(&mut self, node: Node<'t>, caller: &Caller) {
        let mut call = CallFields::new(CallSource::Manifest);
        if let Some(name) = string(node) {
            // `calls: [payments]`: a call of which nothing else is known.
            let Some(callee) = self.host(node, name) else { return };
            let call = call.build(caller.reference.clone(), caller.environment.clone(), callee, node.span());
            self.facts.calls.push(call);
            return;
        }
        if !node.is_map() {
            if self.faults.hole(node).is_none() {
                self.faults.misfit("calls", node, keys::CALLS);
            }
            return;
        }
        let mut settings = Settings::default();
        let mut named = None;
        for field in fields(node) {
            match field.key {
                "to" => call.to = Some(field),
                "policy" => named = Some(field),
                _ if call.take(&field, &mut self.faults) || settings.take(&field, &mut self.faults) => {}
                _ => {
                    self.faults.unknown(&field, &keys::CALL);
                    settings.misspelt(&field, &keys::CALL);
                }
            }
        }
        let Some(callee) = self.callee(node, &call) else { return };
        if let Some(named) = named.filter(|named| !named.value.is_null()) {
            let span = named.value.span();
            // A policy that is not found is not left out.
            let why = match string(named.value).map(|name| (name, self.policies.get(name))) {
                _ if self.faults.hole(named.value).is_some() => self.faults.hole(named.value),
                Some((_, Some(policy))) => {
                    settings.fill(policy);
                    None
                }
                Some((name, None)) => {
                    self.faults.unknown_name(span, "no policy is named", name, self.names.iter().copied());
                    Some(Why::Other("no policy has this name".into()))
                }
                None => {
                    self.faults.misfit("policy", named.value, keys::NAME);
                    Some(Why::Other("this is no name of a policy".into()))
                }
            };
            if let Some(why) = why {
                settings.fill(&Settings::unknown(&why, span));
            }
        }
        let id = CallId(u32::try_from(self.facts.calls.len()).unwrap_or(u32::MAX));
        let call = call.build(caller.reference.clone(), caller.environment.clone(), callee, node.span());
        if let Some(policy) = settings.build(&call, id) {
            self.facts.policies.push(policy);
        }
        self.facts.calls.push(call);
    }

    /// The host that a call goes to; none, with a fault, if it names none.
    fn callee(&mut self, node: Node<'t>, call: &CallFields<'t>) -> Option<Host> {
        let Some(to) = call.to.filter(|to| !to.value.is_null()) else {
            let help = Some("`to` names the service that is called".to_string());
            self.faults.add(node.span(), "a call without `to`", help);
            return None;
        };
        let Some(text) = string(to.value) else {
            if self.faults.hole(to.value).is_none() {
                self.faults.misfit("to", to.value, &HOST.is.expected(Form::Manifest));
            }
            return None;
        };
        self.host(to.value, text)
    }

    /// The host that a text names; none, with a fault, if it names none.
    fn host(&mut self, node: Node<'t>, text: &'t str) -> Option<Host> {
        let host = self.hosts.entry(text).or_insert_with(|| Host::parse(text)).clone();
        if host.is_none() && self.faults.hole(node).is_none() {
            self.faults.misfit("to", node, &HOST.is.expected(Form::Manifest));
        }
        host
    }
}

/// Who makes the calls of one entry.
struct Caller {
    reference: crate::facts::ServiceRef,
    environment: Option<Arc<str>>,
}

impl Caller {
    fn of(host: Host, service: &Service, entry: &Entry<'_>) -> Caller {
        // `namespace:` completes the name; the rest of a dotted one is decided at linking.
        let host = match host {
            Host::Name { name, namespace } => Host::Name { name, namespace: service.namespace.clone().or(namespace) },
            dotted @ Host::Dotted(_) => dotted,
        };
        Caller {
            reference: crate::facts::ServiceRef {
                host,
                from_namespace: service.namespace.clone(),
                evidence: crate::facts::Evidence::Written,
                at: Some(entry.key_span),
            },
            environment: service.environment.clone(),
        }
    }
}
