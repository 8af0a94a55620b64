//! What a try does: whom it calls, by which method, with which key (contracts.md D-4).
//!
//! ```text
//! roots ─► walk: nodes, functions of the project, closures ─► requests, clients, keys ─► Tried
//! ```
//!
//! Evidence, best first: a written or constant address; the name of a setting that holds one; a client that has a service's
//! name. Of equal evidence for several services nothing follows.

mod address;
pub(super) mod client;
mod key;
mod makers;
mod receiver;
mod request;
pub(super) mod scene;
mod walk;

use std::sync::Arc;

use crate::facts::{
    Callee, Classes, Limit, Nanos, Operation, Origin, Protocol, ServiceRef, Sourced, Value, Why, is_idempotent,
};
use crate::source::Span;

use super::project::Project;
use super::tree::{Id, Kind, Place, Sym};
use super::values::{self, Known};
use super::words::{Words, split};
use address::{Address, Reader};
use key::Extent;
pub use key::Key;
use request::{ClientCall, Kinship, Request};
use scene::{Frame, Scene};
use walk::Seen;

/// What one try does.
#[derive(Clone, Debug)]
pub struct Tried {
    /// Whom it calls.
    pub callee: Callee,
    /// What is called there.
    pub request: Option<Operation>,
    /// What it is spoken in, where that can be told.
    pub protocol: Option<Protocol>,
    /// What is tried, in a word or two: `get`, `client.charge`.
    pub shown: Option<Arc<str>>,
    /// The limit of one try that the operation sets itself.
    pub limit: Option<Sourced<Limit<Nanos>>>,
    /// The key that it carries.
    pub key: Option<Key>,
    /// Where it turns the status of an answer into an error.
    pub status_error: Option<Span>,
    /// The failures that it can have: without an answer alone, of a client that gives every answer as one.
    pub fails_by: Classes,
    /// Functions of the project that it calls, each with the call.
    pub entered: Vec<(Place, Place)>,
    /// Whether all that it does is to open a connection, to join something.
    pub only_connects: bool,
    /// Whether all that it does is to ask this machine's files for something.
    pub only_local: bool,
    /// Whether what it does is handed to the function around it as an argument.
    pub is_parameter: bool,
}

impl Tried {
    /// What can be said of several that are tried under one policy: the worst of them. None of none.
    pub fn all(several: &[&Tried]) -> Option<Tried> {
        let [first, rest @ ..] = several else { return None };
        let mut all = Tried::clone(first);
        if rest.is_empty() {
            return Some(all);
        }
        let is_unsafe = |tried: &&&Tried| {
            let method = tried.request.as_ref().and_then(|request| request.method.as_deref());
            method.is_some_and(|method| !is_idempotent(method))
        };
        let worst: Vec<&&Tried> = several.iter().filter(is_unsafe).collect();
        let looked_at = if worst.is_empty() { several.iter().collect() } else { worst };
        all.request = looked_at.first().and_then(|tried| tried.request.clone());
        let made = looked_at.iter().filter_map(|tried| tried.key).find(|key| key.made_in_try.is_some());
        let all_have = looked_at.iter().all(|tried| tried.key.is_some());
        all.key = made.or(looked_at.first().and_then(|tried| tried.key).filter(|_| all_have));
        for other in rest {
            all.limit =
                all.limit.filter(|limit| other.limit.as_ref().is_some_and(|other| other.known() == limit.known()));
            all.status_error = all.status_error.or(other.status_error);
            all.fails_by = all.fails_by.or(other.fails_by);
            all.only_connects &= other.only_connects;
            all.only_local &= other.only_local;
            all.entered.extend(other.entered.iter().cloned());
        }
        Some(all)
    }
}

/// What the nodes below `roots` do, without those `apart`, in the call of the function around them that `frame` is of.
pub(super) fn tried(
    project: &Project,
    unit: &Place,
    roots: &[Id],
    apart: &[Id],
    frame: Option<std::rc::Rc<Frame>>,
) -> Tried {
    tried_by(&Reader { project, words: Words::of(unit.unit.language) }, unit, roots, apart, frame)
}

/// The same, by these words.
fn tried_by(reader: &Reader<'_>, unit: &Place, roots: &[Id], apart: &[Id], frame: Option<std::rc::Rc<Frame>>) -> Tried {
    let scenes = roots.iter().map(|root| Scene::within(unit.at(*root), frame.clone())).collect();
    let extent = Extent { unit: unit.clone(), roots: roots.to_vec(), apart: apart.to_vec() };
    let seen = walk::walk(reader, scenes, &extent);
    let (mut callee, request, protocol) = callee(&seen, roots.is_empty());
    // Of what is only made here, the name says whose client it is.
    if roots.is_empty()
        && let Some(name) = reader.made_for(unit)
    {
        callee = Callee::Named(vec![name]);
    }
    let key = seen.keys.iter().find(|key| key.made_in_try.is_some()).or(seen.keys.first()).copied();
    Tried {
        callee,
        request,
        protocol,
        shown: seen.tried.first().cloned(),
        limit: limit(reader, &seen),
        key,
        status_error: seen.status_error,
        fails_by: fails_by(reader, &seen),
        only_connects: only_connects(&seen, reader.words),
        only_local: seen.is_local && seen.requests.is_empty() && seen.clients.is_empty() && seen.leaves.is_empty(),
        is_parameter: seen.calls_parameter,
        entered: seen.entered,
    }
}

/// Whom a try calls, what it calls there, in what.
fn callee(seen: &Seen, is_unseen: bool) -> (Callee, Option<Operation>, Option<Protocol>) {
    let addressed: Vec<&Request> = seen
        .requests
        .iter()
        .filter(|request| matches!(request.address, Address::Host { .. } | Address::Names { .. }))
        .collect();
    // The clients of which most is known.
    let how = seen.clients.iter().map(|client| client.how).min();
    let clients: Vec<&ClientCall> = seen.clients.iter().filter(|client| Some(client.how) == how).collect();
    if !addressed.is_empty() {
        let targets = addressed.iter().map(|request| target(&request.address)).collect();
        return (one_of(targets), operation(&addressed), Some(Protocol::Http));
    }
    let requests: Vec<&Request> = seen.requests.iter().collect();
    let request = operation(&requests);
    let is_strong = clients.iter().any(|client| client.how == Kinship::Client || client.address.is_known());
    // A client with a service's name, and a request through it: the request says what is called.
    let through = requests.iter().filter_map(|request| request.client.as_ref()).count();
    if !clients.is_empty() && (is_strong || requests.is_empty() || through > 0) {
        let targets = clients.iter().map(|client| match target(&client.address) {
            Some(callee) => Some(callee),
            None if client.address == Address::Nowhere => None,
            None => Some(Callee::Named(client.names.clone())),
        });
        let callee = one_of(targets.collect());
        let called = clients.first().filter(|first| clients.iter().all(|other| other.method == first.method));
        let called = called.map(|client| Operation { method: None, path: Some(client.method.clone()) });
        let is_grpc = clients.iter().all(|client| client.is_generated);
        return (callee, request.or(called), is_grpc.then_some(Protocol::Grpc));
    }
    let why = match (requests.first().map(|request| &request.address), is_unseen) {
        (Some(Address::Nowhere), _) => "it calls this machine".into(),
        (Some(Address::Unknown(why)), _) => return (Callee::Unknown(why.clone()), request, Some(Protocol::Http)),
        (Some(_), _) => "the address of its client is not told".into(),
        (None, true) => "what is tried is not seen".into(),
        (None, false) if seen.calls_parameter => "what is tried is an argument of the function around it".into(),
        (None, false) if seen.is_cut => "what is tried does too much to be followed".into(),
        (None, false) => "nothing in what is tried says whom it calls".into(),
    };
    (Callee::Unknown(Why::Other(why)), request, None)
}

fn target(address: &Address) -> Option<Callee> {
    match address {
        Address::Host { service, .. } => Some(Callee::Service { service: service.clone(), hosts: Vec::new() }),
        Address::Names { names, .. } => Some(Callee::Named(names.clone())),
        Address::Path(_) | Address::Nowhere | Address::Unknown(_) => None,
    }
}

/// The one that all are; what is not told is left out.
fn one_of(all: Vec<Option<Callee>>) -> Callee {
    let mut known = all.into_iter().flatten();
    let Some(first) = known.next() else { return Callee::Unknown(Why::Other("it calls this machine".into())) };
    match known.all(|other| is_same(&first, &other)) {
        true => first,
        false => Callee::Unknown(Why::Other("it calls several services".into())),
    }
}

fn is_same(one: &Callee, other: &Callee) -> bool {
    let host = |service: &ServiceRef| service.host.clone();
    match (one, other) {
        (Callee::Service { service: one, .. }, Callee::Service { service: other, .. }) => host(one) == host(other),
        (Callee::Named(one), Callee::Named(other)) => one == other,
        _ => false,
    }
}

/// What is called: of several requests the one that must not be repeated, else what all have in common.
fn operation(requests: &[&Request]) -> Option<Operation> {
    let method = |request: &&Request| request.verb.map(|verb| verb.name());
    let of = |request: &&Request| {
        let path = match &request.address {
            Address::Host { path, .. } | Address::Names { path, .. } => path.clone(),
            Address::Path(path) => Some(path.clone()),
            Address::Nowhere | Address::Unknown(_) => None,
        };
        Operation { method: method(request).map(Arc::from), path }
    };
    let is_unsafe = |request: &&&Request| method(request).is_some_and(|method| !is_idempotent(method));
    if let Some(worst) = requests.iter().find(is_unsafe) {
        return Some(of(worst));
    }
    let first = of(requests.first()?);
    let common = |same: bool, value: Option<Arc<str>>| value.filter(|_| same);
    let same_method = requests.iter().all(|request| of(request).method == first.method);
    let same_path = requests.iter().all(|request| of(request).path == first.path);
    let operation = Operation { method: common(same_method, first.method), path: common(same_path, first.path) };
    (operation.method.is_some() || operation.path.is_some()).then_some(operation)
}

/// The time limit that a try sets itself: what encloses it as a whole, else that of its request.
fn limit(reader: &Reader<'_>, seen: &Seen) -> Option<Sourced<Limit<Nanos>>> {
    let of_requests: Vec<&Scene> = seen.requests.iter().filter_map(|request| request.limit.as_ref()).collect();
    let all_limited = of_requests.len() == seen.requests.len();
    let scene = match (seen.limits.as_slice(), of_requests.as_slice()) {
        ([one], _) => one,
        ([], [one]) if all_limited => *one,
        _ => return None,
    };
    Some(time(reader.project, scene))
}

/// A length of time, as a limit.
pub(super) fn time(project: &Project, scene: &Scene) -> Sourced<Limit<Nanos>> {
    let found = scene.resolve(project);
    let traced = values::trace_in(project, &found.place, &found.bindings);
    let value = match traced.value {
        Value::Known(Known::Duration(time)) => Value::Known(Limit::At(time)),
        Value::Known(Known::Absent) => Value::Known(Limit::None),
        Value::Known(_) => Value::Unknown(Box::new(Why::Other("not a length of time".into()))),
        Value::Unknown(why) => Value::Unknown(why),
    };
    let origin = match traced.spans.as_slice() {
        [one] => Origin::Written(*one),
        [] => Origin::Written(found.place.span()),
        _ => Origin::Derived(traced.spans),
    };
    Sourced { value, origin }
}

/// What one call does, with what is done with its result on the spot (`send().await.and_then(…)`): whether it sends a request, and
/// which failures it can have. Where all that may fail is an exchange with a service whose every answer is one, whatever its
/// status, there is none by status.
pub(super) fn called(project: &Project, call: &Place) -> (bool, Classes) {
    let call = &call.at(client::whole(&call.unit, call.id));
    let reader = Reader { project, words: Words::of(call.unit.language) };
    let extent = Extent { unit: call.clone(), roots: vec![call.id], apart: Vec::new() };
    let seen = walk::walk(&reader, vec![Scene::new(call.clone())], &extent);
    (!seen.requests.is_empty(), fails_by(&reader, &seen))
}

fn fails_by(reader: &Reader<'_>, seen: &Seen) -> Classes {
    let judging = &reader.words.requests.judging;
    let judges = |request: &Request| {
        let begun = match request.at.kind() {
            Kind::Call { of, .. } => request.at.place.unit.callee(*of).and_then(|name| name.full.clone()),
            _ => None,
        };
        let client = request.client.as_ref().and_then(|client| reader.type_of(client)).and_then(|ty| ty.full);
        begun.into_iter().chain(client).any(|path| walk::is_within(judging, &path))
    };
    // A client that is known by its name alone may do anything.
    let is_other = seen.clients.iter().any(|client| !client.method.is_empty())
        || seen.fails_otherwise
        || seen.is_cut
        || seen.calls_parameter;
    if seen.requests.is_empty() || is_other || seen.requests.iter().any(judges) {
        return Classes::ALL;
    }
    Classes::UNANSWERED
}

/// Whether everything that a try waits for opens a connection.
fn only_connects(seen: &Seen, words: &Words) -> bool {
    let connects = |name: &Sym| split(name).iter().any(|word| words.purposes.reconnect.contains(word));
    seen.requests.is_empty() && !seen.leaves.is_empty() && seen.leaves.iter().all(connects)
}

#[cfg(test)]
mod language_tests;
#[cfg(test)]
mod tests;
