//! Everything that one try does: its own nodes, and those of the project's functions that it calls.

use std::collections::HashSet;

use super::address::Reader;
use super::key::{Extent, Key};
use super::request::{ClientCall, Request, is_waited_for};
use super::scene::{Scene, binding, function};
use crate::read::code::tree::{Arm, Id, Kind, Name, Place, Sym, Test, Unit};
use crate::read::code::words::last_of;
use crate::read::code::words::loops::{Wrapper, has};
use crate::source::Span;

/// So many nodes of one try are looked at, those of called functions included.
const MOST_NODES: usize = 20_000;
/// So many functions are entered.
const MOST_FUNCTIONS: usize = 64;

/// What was seen on the way.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub requests: Vec<Request>,
    pub clients: Vec<ClientCall>,
    pub keys: Vec<Key>,
    /// Where the status of an answer becomes an error.
    pub status_error: Option<Span>,
    /// What limits the time of a part of the try: the time, and whether the try waits for it.
    pub limits: Vec<Scene>,
    /// Functions of the project that are called, each with the call.
    pub entered: Vec<(Place, Place)>,
    /// What the try itself waits for, by name: `get`, `client.charge`.
    pub tried: Vec<Sym>,
    /// The words of the functions and methods that it waits for and that are not followed.
    pub leaves: Vec<Sym>,
    /// Whether it asks this machine's files for something.
    pub is_local: bool,
    /// What is called where nothing more is known: a parameter.
    pub calls_parameter: bool,
    /// Whether something may fail that is no exchange with a service: what looks at an answer, reads more out of it.
    pub fails_otherwise: bool,
    /// Whether not everything was looked at.
    pub is_cut: bool,
}

/// Looks at everything that a try does.
pub(super) fn walk(reader: &Reader<'_>, roots: Vec<Scene>, extent: &Extent) -> Seen {
    let mut walk = Walk { reader, extent, seen: Seen::default(), todo: roots, nodes: 0, begun: HashSet::new() };
    walk.todo.reverse();
    while let Some(scene) = walk.todo.pop() {
        walk.visit(&scene);
    }
    walk.seen
}

struct Walk<'a, 'p> {
    reader: &'a Reader<'p>,
    extent: &'a Extent,
    seen: Seen,
    todo: Vec<Scene>,
    nodes: usize,
    /// Requests by where they begin, so that one that is built and sent in two places is one.
    begun: HashSet<(usize, Id)>,
}

impl Walk<'_, '_> {
    fn visit(&mut self, scene: &Scene) {
        // A function handed over by its name.
        if let Kind::Name(name) = scene.kind() {
            let found = scene.resolve(self.reader.project);
            let meant = match found.kind() {
                Kind::Function { .. } | Kind::Closure { .. } => Some(found.clone()),
                _ => function(self.reader.project, &scene.place, name).map(Scene::new),
            };
            match meant {
                Some(meant) => self.enter(scene, meant, None, &[]),
                None => self.seen.leaves.push(name.text.clone()),
            }
            return;
        }
        for id in self.inside(scene) {
            self.look(&scene.at(id));
        }
    }

    /// The nodes below a node in the order in which they are reached: without functions that are only declared, and without
    /// what is done after a failure, apart from the try, or elsewhere.
    fn inside(&mut self, scene: &Scene) -> Vec<Id> {
        let unit = &scene.place.unit;
        let below = unit.below(scene.place.id);
        let (first, mut at) = (*below.start(), Some(*below.end()));
        let mut after_failure: HashSet<Id> = HashSet::new();
        let mut found = Vec::new();
        while let Some(id) = at.filter(|id| *id >= first) {
            let kind = unit.kind(id);
            let is_apart = self.extent.leaves_out(&scene.place.at(id)) || unit.is_detached(id);
            if matches!(kind, Kind::Function { .. }) || is_apart || after_failure.contains(&id) {
                at = unit.node(id).first.checked_sub(1);
                continue;
            }
            if let Kind::Branch { arms, .. } | Kind::Guarded { catch: arms, .. } = kind {
                let failures = arms.iter().filter(|arm| matches!(arm.test, Test::Failure { .. }));
                after_failure.extend(failures.map(|arm| arm.body));
            }
            self.nodes += 1;
            if self.nodes > MOST_NODES {
                self.seen.is_cut = true;
                break;
            }
            found.push(id);
            at = id.checked_sub(1);
        }
        found.reverse();
        found
    }

    fn look(&mut self, scene: &Scene) {
        self.seen.keys.extend(self.reader.key(scene, self.extent));
        if !matches!(scene.kind(), Kind::Method { .. } | Kind::Call { .. }) {
            self.seen.fails_otherwise |= asks_a_local(scene);
            return;
        }
        if let Some(request) = self.reader.request(scene) {
            self.seen.clients.extend(self.reader.sent_through(&request));
            let key = (std::sync::Arc::as_ptr(&request.at.place.unit) as usize, request.at.place.id);
            // Entered twice with other arguments, it is another request.
            if self.begun.insert(key) || !scene.is_own() {
                self.seen.requests.push(request);
            }
        }
        match scene.kind() {
            Kind::Method { on, name, name_at, args, .. } => {
                let words = &self.reader.words.requests;
                if words.status_errors.iter().any(|word| **word == **name) {
                    let at = name_at.in_file(scene.place.unit.file);
                    self.seen.status_error.get_or_insert(at);
                    self.seen.fails_otherwise = true;
                }
                let receiver = scene.at(*on);
                match self.method(&receiver, name) {
                    Some(method) => self.enter(scene, Scene::new(method), Some(receiver), args),
                    None if self.is_local(&receiver, name) => self.seen.is_local = true,
                    None => {
                        self.handed_over(scene, std::iter::once(*on).chain(args.iter().map(|arg| arg.value)));
                        self.seen.clients.extend(self.reader.client_call(scene));
                        let is_leaf = self.is_leaf(scene);
                        if is_leaf {
                            self.seen.leaves.push(name.clone());
                        }
                        let is_exchange = words.exchanges.iter().any(|one| **one == **name);
                        self.seen.fails_otherwise |= (is_leaf || is_result(scene)) && !is_exchange;
                    }
                }
                self.note(scene);
            }
            Kind::Call { of, args, .. } => {
                let Kind::Name(name) = scene.place.unit.kind(*of) else {
                    return self.closure(scene, *of, args);
                };
                if crate::read::code::words::lists(&self.reader.words.requests.limits, name.best()) {
                    self.seen.limits.extend(args.first().map(|arg| scene.at(arg.value)));
                }
                match function(self.reader.project, &scene.place, name) {
                    Some(called) => self.enter(scene, Scene::new(called), None, args),
                    None if name.full.is_none() => self.closure(scene, *of, args),
                    None if is_within(&self.reader.words.purposes.local, name.best()) => self.seen.is_local = true,
                    None if self.makes_failure(name.best()) => self.seen.fails_otherwise = true,
                    None if self.does_nothing(name.best()) => {}
                    None => {
                        self.handed_over(scene, args.iter().map(|arg| arg.value));
                        self.seen.clients.extend(self.reader.client_call(scene));
                        let is_leaf = self.is_leaf(scene);
                        if is_leaf {
                            self.seen.leaves.push(name.last().into());
                        }
                        let begins = self.reader.words.requests.functions.of_path(name.best()).is_some();
                        self.seen.fails_otherwise |= (is_leaf || is_result(scene)) && !begins;
                    }
                }
                self.note(scene);
            }
            _ => {}
        }
    }

    /// Whether the try waits for a call that is not followed: for itself, or for what is made of its result on the spot
    /// (`call().map_err(…)?`), which asks nobody.
    fn is_leaf(&self, scene: &Scene) -> bool {
        let unit = &scene.place.unit;
        let through = |name: &Sym| self.reader.words.loops.through.iter().any(|one| **one == **name);
        let is_own = |name: &Sym| self.reader.words.purposes.own.contains(&name.to_string());
        match scene.kind() {
            Kind::Method { on, name, .. } if through(name) && is_call(unit, *on) => return false,
            Kind::Method { name, args, .. } if args.is_empty() && is_own(name) && !is_awaited(scene) => return false,
            _ => {}
        }
        let mut outer = scene.clone();
        while !is_waited_for(&outer) {
            let Some(parent) = unit.parent(outer.place.id) else { return false };
            match unit.kind(parent) {
                Kind::Method { on, name, .. } if *on == outer.place.id && through(name) => outer = outer.at(parent),
                _ => return false,
            }
        }
        true
    }

    /// Whether a method is one that asks nothing but this machine's files: that of such a type, if the type is told; else by its
    /// name, in a function that has to do with that type.
    fn is_local(&self, receiver: &Scene, name: &str) -> bool {
        let local = &self.reader.words.purposes.local_methods;
        let mut types = local.iter().filter(|(_, methods)| methods.iter().any(|one| one == name)).map(|(ty, _)| &**ty);
        match self.reader.type_of(receiver).and_then(|ty| ty.full) {
            Some(full) => types.any(|ty| *ty == *full),
            None => types.any(|ty| speaks_of(&receiver.place, ty)),
        }
    }

    /// Whether a call makes a failure: `Err(error)`, `bail!("…")`.
    fn makes_failure(&self, path: &str) -> bool {
        let words = &self.reader.words.loops;
        words.wrappers.of_path(path) == Some(Wrapper::Failure) || has(&words.names.leaves, last_of(path))
    }

    /// Whether a call asks nobody for anything: it waits between tries, or says what came of one.
    fn does_nothing(&self, path: &str) -> bool {
        let words = &self.reader.words.loops;
        words.waits.of_path(path).is_some() || words.wrappers.of_path(path).is_some()
    }

    /// Asynchronous functions of the project that are handed by their names to what is not followed, which then calls them:
    /// `charge.retry(policy)`, `Retry::spawn(delays, charge)`.
    fn handed_over(&mut self, scene: &Scene, ids: impl Iterator<Item = Id>) {
        for given in ids.map(|id| scene.at(id)) {
            let Kind::Name(name) = given.kind() else { continue };
            let meant = name.full.as_ref().and_then(|_| function(self.reader.project, &given.place, name));
            if let Some(meant) = meant.filter(|meant| matches!(meant.kind(), Kind::Function { is_async: true, .. })) {
                self.enter(&given, Scene::new(meant), None, &[]);
            }
        }
    }

    /// Remembers what the try itself waits for.
    fn note(&mut self, scene: &Scene) {
        if !scene.is_own() || !is_waited_for(scene) || self.seen.tried.len() > 8 {
            return;
        }
        let unit = &scene.place.unit;
        let shown = match scene.kind() {
            Kind::Call { of, .. } => unit.callee(*of).map(|name| name.text.to_string()),
            Kind::Method { on, name, .. } => match unit.kind(*on) {
                Kind::Name(receiver) => Some(format!("{}.{name}", receiver.text)),
                Kind::Member { name: receiver, .. } => Some(format!("{receiver}.{name}")),
                _ => Some(name.to_string()),
            },
            _ => None,
        };
        self.seen.tried.extend(shown.map(Sym::from));
    }

    /// What is called is a closure, or a parameter.
    fn closure(&mut self, scene: &Scene, of: Id, args: &[crate::read::code::tree::Arg]) {
        let found = scene.at(of).resolve(self.reader.project);
        match found.kind() {
            Kind::Closure { params, body, .. } => {
                // One that stands in the try is looked at where it stands, unless its parameters say more.
                let is_below = self.extent.covers(&found.at(*body));
                if !is_below || !params.is_empty() || !found.is_own() {
                    self.enter(scene, found.clone(), None, args);
                }
            }
            Kind::Function { .. } => self.enter(scene, found.clone(), None, args),
            Kind::Name(name) => {
                let bound = binding(&found.place, &name.text).map(|id| found.place.unit.kind(id));
                self.seen.calls_parameter |= matches!(bound, Some(Kind::Function { .. } | Kind::Closure { .. }));
                self.seen.fails_otherwise = true;
                if is_waited_for(scene) {
                    self.seen.leaves.push(name.last().into());
                }
            }
            _ => {}
        }
    }

    /// The method of the project that a call means, where the type of its receiver can be told.
    fn method(&self, receiver: &Scene, name: &str) -> Option<Place> {
        let owner = self.reader.type_of(receiver)?.full?;
        let place = self.reader.project.item(&receiver.place.unit, &format!("{owner}::{name}"))?;
        matches!(place.kind(), Kind::Function { body: Some(_), .. }).then_some(place)
    }

    fn enter(&mut self, from: &Scene, called: Scene, receiver: Option<Scene>, args: &[crate::read::code::tree::Arg]) {
        if matches!(called.kind(), Kind::Function { .. }) {
            if self.seen.entered.len() >= MOST_FUNCTIONS {
                self.seen.is_cut = true;
                return;
            }
            self.seen.entered.push((called.place.clone(), from.place.clone()));
        }
        self.todo.extend(from.enter(self.reader.project, &called, receiver, args));
    }
}

/// Whether it is asked of a local whether it worked: what put it there is not seen here.
fn asks_a_local(scene: &Scene) -> bool {
    let unit = &scene.place.unit;
    let asks = |arm: &Arm| matches!(arm.test, Test::Success { .. } | Test::Failure { .. });
    match scene.kind() {
        Kind::Branch { on: Some(on), arms } => matches!(unit.kind(*on), Kind::Name(_)) && arms.iter().any(asks),
        Kind::Outcome { of, .. } => matches!(unit.kind(*of), Kind::Name(_)),
        _ => false,
    }
}

/// Whether what a node gives is what the function or closure around it gives.
fn is_result(scene: &Scene) -> bool {
    let unit = &scene.place.unit;
    let mut at = scene.place.id;
    while let Some(parent) = unit.parent(at) {
        match unit.kind(parent) {
            Kind::Block(ids) if ids.last() == Some(&at) => {}
            Kind::Branch { arms, .. } if arms.iter().any(|arm| arm.body == at) => {}
            Kind::Function { body: Some(body), .. } => return *body == at,
            Kind::Closure { .. } => return true,
            _ => return false,
        }
        at = parent;
    }
    false
}

/// Whether a path leads into one of these modules.
pub(super) fn is_within(modules: &[String], path: &str) -> bool {
    modules.iter().any(|module| path.strip_prefix(&**module).is_some_and(|rest| rest.starts_with("::")))
}

/// Whether a node is a call, or waits for one.
fn is_call(unit: &Unit, id: Id) -> bool {
    match unit.kind(id) {
        Kind::Call { .. } | Kind::Method { .. } => true,
        Kind::Await(of) => is_call(unit, *of),
        _ => false,
    }
}

fn is_awaited(scene: &Scene) -> bool {
    let unit = &scene.place.unit;
    unit.parent(scene.place.id).is_some_and(|parent| matches!(unit.kind(parent), Kind::Await(_)))
}

/// Whether the function around a place has something of a type: an argument, a local, what a function of that type makes.
fn speaks_of(place: &Place, ty: &str) -> bool {
    let unit = &place.unit;
    let Some(function) = unit.function_of(place.id) else { return false };
    let is_it = |name: &Name| name.full.as_deref() == Some(ty);
    unit.below(function).any(|id| match unit.kind(id) {
        Kind::Function { params, .. } => params.iter().filter_map(|param| param.ty.as_ref()).any(is_it),
        Kind::Let { ty: Some(ty), .. } => is_it(ty),
        Kind::Name(Name { full: Some(full), .. }) => full.rsplit_once("::").is_some_and(|(owner, _)| owner == ty),
        _ => false,
    })
}
