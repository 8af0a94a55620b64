//! From a place to the construct that it stands for, and from there outward through the methods that were called on it.

use std::ops::ControlFlow;

use super::super::format::{Is, Library, On, Sayings, Says, Shape, Target, Value as Entry};
use super::changes::Done;
use super::clause::OF_A_POLICY;
use super::identity::Found;
use super::scope::{Meant, Scope, parts};
use super::spot::Spot;
use super::state::{Got, Said, State};
use super::{Engine, MOST_DEPTH};
use crate::facts::interned;
use crate::facts::{Value, Why};
use crate::read::code::tree::{Id, Kind};
use crate::read::code::values::Known;
use crate::read::code::words::Words;
use crate::read::code::words::values::Operation;

/// Methods of one chain that are followed, and names on the way to its beginning.
const MOST_LINKS: usize = 256;

/// Where a chain of methods begins, and what was called on it.
#[derive(Clone, Debug)]
pub(super) struct Root<'p> {
    pub(super) found: Found<'p>,
    /// The construct.
    pub(super) place: Spot,
    /// What was done to it, the first first: methods, and statements that change it.
    pub(super) methods: Vec<Done>,
}

impl<'p> Engine<'p> {
    /// Where the chain that ends here begins: locals and constants on the way are followed.
    pub(super) fn root(&self, place: &Spot, depth: u32) -> Option<Root<'p>> {
        if depth > MOST_DEPTH || !self.step() {
            return None;
        }
        let mut methods = Vec::new();
        let found = self.descend(place, |done, found| match found {
            Some(found) if describes(found.shape.is) => ControlFlow::Break((found, Spot::clone(done))),
            _ => {
                methods.push(done.clone());
                ControlFlow::Continue(())
            }
        });
        let (found, place) = found?;
        methods.reverse();
        Some(Root { found, place, methods })
    }

    /// Goes down a chain from its last method to its first construct, and tells of each what it is by itself. What statements in
    /// between do to it is nothing by itself.
    fn descend<T>(&self, place: &Spot, mut visit: impl FnMut(&Done, Option<Found<'p>>) -> ControlFlow<T>) -> Option<T> {
        let mut from = place.clone();
        for _ in 0..MOST_LINKS {
            if !self.step() {
                return None;
            }
            let mut place = self.definition(&from);
            if let Some(value) = self.field_value(&place) {
                from = value;
                continue;
            }
            // Where it has several values, the first one and what is done to it on some of the ways.
            let first = self.first_value(&place);
            if let Some(first) = &first {
                from = std::mem::replace(&mut place, first.clone());
            }
            for change in self.changes(&from, &place) {
                if let ControlFlow::Break(found) = visit(&change, None) {
                    return Some(found);
                }
            }
            if first.is_some() {
                from = place;
                continue;
            }
            let found = self.found(&place);
            let done = Done::surely(place);
            if let ControlFlow::Break(found) = visit(&done, found) {
                return Some(found);
            }
            let Kind::Method { on, .. } = done.kind() else { return None };
            from = done.at(*on);
        }
        None
    }

    /// What of a receiver matches the `on` of a shape.
    pub(super) fn on(&self, receiver: &Spot, library: &Library, shape: &Shape) -> Option<Spot> {
        let is = |place: &Spot, found: Option<&Found<'p>>| {
            shape.on.iter().any(|on| match on {
                On::Method(name) => matches!(place.kind(), Kind::Method { name: method, .. } if method == name),
                On::Shape(id) => {
                    found.is_some_and(|found| found.library.name == library.name && found.shape.id.as_ref() == Some(id))
                }
                On::Path(path) => self.has_path(place, path),
            })
        };
        self.descend(receiver, |done, found| match is(done, found.as_ref()) {
            true => ControlFlow::Break(Spot::clone(done)),
            false => ControlFlow::Continue(()),
        })
    }

    fn has_path(&self, place: &Spot, path: &str) -> bool {
        let name = match place.kind() {
            Kind::Call { of, .. } => place.unit.callee(*of),
            Kind::Record { of, .. } => of.as_ref(),
            Kind::Name(name) => Some(name),
            _ => None,
        };
        name.is_some_and(|name| self.full_paths(place, name).iter().any(|known| known == path))
    }

    /// Everything that is said of what stands here; none if nothing known describes it.
    pub(super) fn described(&self, place: &Spot, depth: u32) -> Option<State> {
        let root = self.root(place, depth)?;
        Some(self.state(&root, depth))
    }

    /// Everything that a construct and the methods called on it say.
    pub(super) fn state(&self, root: &Root<'p>, depth: u32) -> State {
        let mut state = self.construct(&root.found, &root.place, None, depth);
        for method in &root.methods {
            self.done(&root.found, method, &mut state, depth);
        }
        self.settle(root, &mut state, depth);
        state
    }

    /// A random part that is told by the first delay is one by the delay that holds in the end, whichever was said first.
    fn settle(&self, root: &Root<'p>, state: &mut State, depth: u32) {
        let says = |name: &str| {
            root.found
                .all(|says| Some(&says.method))
                .flatten()
                .find(|(known, _)| **known == *name)
                .map(|(_, says)| says)
        };
        let sets = |method: &&Done| match method.kind() {
            Kind::Method { name, .. } => says(name).is_some_and(|says| says.sets(Target::Jitter)),
            _ => false,
        };
        let Some(last) = root.methods.iter().rev().find(sets) else { return };
        let Kind::Method { name, .. } = last.kind() else { return };
        let jitter = says(name).into_iter().flat_map(Says::settings).filter(|setting| setting.target == Target::Jitter);
        if jitter.map(|setting| &setting.value).any(|value| value.refers_to(Target::Base)) {
            let mut again = state.clone();
            self.called(&root.found, last, &mut again, depth);
            if let Some(said) = again.get(Target::Jitter) {
                state.put(Target::Jitter, said.clone());
            }
        }
    }

    /// What a construct says by itself.
    pub(super) fn construct(&self, found: &Found<'p>, place: &Spot, marked: Option<Id>, depth: u32) -> State {
        let (shape, library) = (found.shape, &**found.library);
        let (mut args, mut receiver) = parts(place);
        if found.is_by_path && receiver.is_none() {
            receiver = args.first().map(|arg| arg.value);
            args = args.get(1..).unwrap_or_default();
        }
        let on = receiver.filter(|_| !shape.on.is_empty()).and_then(|on| self.on(&place.at(on), library, shape));
        let span = place.span();
        let scope = Scope { args, params: &shape.params, receiver, marked, on, ..Scope::bare(library, place.clone()) };
        let mut state = State {
            uses: vec![span],
            confidence: Some(found.confidence),
            has_jitter_switch: has_jitter_switch(library, shape),
            is_last_outermost: found
                .all(|says| says.order.as_ref())
                .next()
                .is_some_and(|order| *order == super::super::format::Order::LastOutermost),
            ..State::default()
        };
        for layer in
            found.all(|says| Some(&says.layers).filter(|layers| !layers.is_empty())).next().into_iter().flatten()
        {
            self.clause(layer, &scope, &mut state, depth);
        }
        // From the oldest to what the version in use says instead.
        let defaults: Vec<&Says> = found.all(|says| says.default.as_ref()).collect();
        for says in defaults.into_iter().rev() {
            self.apply(says, &scope, &mut state, depth);
        }
        name_defaults(shape, &mut state);
        let scope = Scope { said: Some(span), ..scope };
        self.settings(&shape.own, &scope, &mut state, depth);
        self.base(place, library, &mut state, depth);
        if let Some(says) = found.all(|says| says.sets.as_ref()).next() {
            self.apply(says, &scope, &mut state, depth);
        }
        if let Kind::Record { .. } = place.kind() {
            for arg in args {
                let name = arg.name.as_deref().unwrap_or_default();
                self.field(found, place, name, arg.value, &mut state, depth);
            }
        }
        self.arguments(found, &scope, &mut state, depth);
        self.callbacks(found, &scope, &mut state, depth);
        state.help.extend(found.all(|says| Some(&says.help)).flatten().cloned());
        state
    }

    /// What a record takes from another one.
    fn base(&self, place: &Spot, library: &Library, state: &mut State, depth: u32) {
        let Kind::Record { base: Some(base), .. } = place.kind() else { return };
        let base = place.at(*base);
        if let Some(other) = self.described(&base, depth + 1) {
            return state.merge(other);
        }
        let definition = self.definition(&base);
        let is_default = match definition.kind() {
            Kind::Call { of, .. } => definition.unit.callee(*of).is_some_and(|name| {
                let defaults = &Words::of(definition.unit.language).values.defaults;
                crate::read::code::words::lists(defaults, name.best())
            }),
            _ => false,
        };
        if !is_default {
            let targets: Vec<Target> = state.set.keys().copied().collect();
            let why = Why::Other(format!("the rest of a record of {}", library.name).into());
            state.blur(targets, &why, base.span());
        }
    }

    /// A field of a record that is of a shape.
    pub(super) fn field(&self, found: &Found<'p>, place: &Spot, name: &str, value: Id, state: &mut State, depth: u32) {
        let says = found.all(|says| Some(&says.field));
        let Some((key, says)) = says.flatten().find(|(field, _)| **field == *name) else { return };
        let value = place.at(value);
        let said = Some(value.span());
        let scope = Scope { value: Some(value), said, key: Some(key), ..Scope::bare(found.library, place.clone()) };
        self.apply(says, &scope, state, depth);
    }

    /// Arguments, by name, by position, and the others.
    fn arguments(&self, found: &Found<'p>, scope: &Scope<'_>, state: &mut State, depth: u32) {
        let mut tables = found.all(|says| Some(&says.argument).filter(|table| !table.is_empty())).peekable();
        if tables.peek().is_none() {
            return;
        }
        let tables: Vec<_> = tables.flatten().collect();
        // What the shape itself speaks of is none of the others.
        let own = found.shape.own.iter().filter_map(|setting| match &setting.value {
            Entry::Ref(reference) => match scope.at(self, reference, state) {
                Meant::Code(spot) => Some(spot.id),
                _ => None,
            },
            _ => None,
        });
        let spoken_of: Vec<Id> = own.collect();
        for arg in scope.args {
            let value = scope.place.at(arg.value);
            if arg.spread {
                let targets: Vec<Target> =
                    tables.iter().flat_map(|(_, says)| says.settings()).map(|setting| setting.target).collect();
                state.blur(targets, &Why::Other("arguments that are put together elsewhere".into()), value.span());
                continue;
            }
            let (name, position) = scope.name_of(arg);
            let position = position.map(|position| position.to_string());
            let by = |key: &str| tables.iter().find(|(known, _)| **known == *key);
            let others = || by("*").filter(|_| !spoken_of.contains(&arg.value));
            let says = name.and_then(by).or_else(|| by(position.as_deref()?)).or_else(others);
            if let Some((key, says)) = says {
                let said = Some(value.span());
                let scope = Scope { value: Some(value), said, key: Some(key), ..scope.clone() };
                self.apply(says, &scope, state, depth);
            }
        }
    }

    /// What a method says that is called on a construct.
    pub(super) fn called(&self, found: &Found<'p>, method: &Spot, state: &mut State, depth: u32) {
        let Kind::Method { on, name, name_at, args, .. } = method.kind() else { return };
        let end = method.unit.at(method.id).end;
        let span = crate::read::code::tree::At { start: name_at.start, end }.in_file(method.unit.file);
        // A policy that another one takes up is a part of it: `strategy.chain(other)`.
        if found.shape.is == Is::Policy {
            let taken = args.iter().filter_map(|arg| self.root(&method.at(arg.value), depth + 1));
            state.uses.extend(taken.filter(|root| root.found.shape.is == Is::Policy).map(|root| root.place.span()));
        }
        let tables = found.all(|says| Some(&says.method));
        if let Some((key, says)) = tables.flatten().find(|(known, _)| known == name) {
            let scope = Scope {
                args,
                receiver: Some(*on),
                said: Some(span),
                key: Some(key),
                ..Scope::bare(found.library, method.clone())
            };
            return self.apply(says, &scope, state, depth);
        }
        if found.shape.is == Is::Policy && !self.says_of(found, method) {
            let why = Why::Other(format!("`.{name}(..)` changes it in a way that is not known").into());
            state.blur(OF_A_POLICY, &why, span);
        }
    }

    /// Whether it is known what a method does to a construct, if it does anything.
    pub(super) fn says_of(&self, found: &Found<'p>, method: &Spot) -> bool {
        let Kind::Method { name, .. } = method.kind() else { return false };
        let meaning = Words::of(method.unit.language).values.methods.get(name);
        matches!(meaning, Some(Operation::Same | Operation::Converted))
            || found.all(|says| Some(&says.method)).flatten().any(|(known, _)| known == name)
    }

    /// A row of delays in place of a policy: as many retries as there are delays.
    pub(super) fn schedule(&self, place: &Spot) -> Option<State> {
        let traced = self.trace(place);
        let Value::Known(Known::List(items)) = &traced.value else { return None };
        let spans = if traced.spans.is_empty() { vec![place.span()] } else { traced.spans.clone() };
        let retries = Said::written(Got::Int(items.len() as i128), vec![place.span()]);
        let delays = items.iter().map(|item| {
            let got = match &item.value {
                Value::Known(Known::Duration(time)) => Got::Time(*time),
                Value::Known(_) => Got::Unknown(Why::Other("a delay that is no time".into())),
                Value::Unknown(why) => Got::Unknown((**why).clone()),
            };
            Said::written(got, item.spans.clone())
        });
        let mut state = State { uses: vec![place.span()], ..State::default() };
        state.put(Target::Schedule, Said::written(Got::List(delays.collect()), spans));
        state.put(Target::Retries, retries);
        state.put(
            Target::Jitter,
            Said {
                by: interned("a row of delays"),
                reference: interned("jitter"),
                ..Said::written(Got::None, Vec::new())
            },
        );
        Some(state)
    }

    /// Why what stands here is not read.
    pub(super) fn not_followed(&self, place: &Spot) -> Why {
        if let Value::Unknown(why) = self.trace(place).value {
            return *why;
        }
        Why::Other(match self.word(place) {
            Some(word) => format!("`{}` is not known", super::index_last(&word)).into(),
            None => "a policy that is not followed".into(),
        })
    }
}

impl<'p> Found<'p> {
    /// A part of what the shape says, as the version in use has it: what says it instead comes first.
    pub(super) fn all<T: 'p>(&self, pick: impl Fn(&'p Sayings) -> Option<T>) -> impl Iterator<Item = T> {
        let shape: &'p Shape = self.shape;
        let version = self.version;
        let newer = shape.when.iter().rev().filter(move |(versions, _)| version.is_some_and(|v| versions.contain(v)));
        newer.map(|(_, says)| says).chain(std::iter::once(&shape.says)).filter_map(pick)
    }
}

/// Whether such a shape says what a policy is.
fn describes(is: Is) -> bool {
    matches!(is, Is::Policy | Is::Stack | Is::Client | Is::Part | Is::Predicate)
}

/// Whether anything in the library spreads delays.
fn has_jitter_switch(library: &Library, shape: &Shape) -> bool {
    let in_tables = |says: &Sayings| {
        let tables = says.method.iter().chain(&says.field).chain(&says.argument).map(|(_, says)| says);
        tables.chain(says.callback.iter().map(|(_, says)| says)).any(|says| says.sets(Target::Jitter))
    };
    let is_given = |says: &Sayings| {
        says.sets.as_ref().is_some_and(|says| says.sets(Target::Jitter))
            || says.default.as_ref().is_some_and(|says| says.sets(Target::Jitter))
    };
    shape.all_sayings().any(in_tables)
        || library.shapes.iter().any(|part| {
            part.is == Is::Part
                && shape.is == Is::Run
                && part.all_sayings().any(|says| is_given(says) || in_tables(says))
        })
}

/// Says of defaults what would set them: a method, a field, an argument.
fn name_defaults(shape: &Shape, state: &mut State) {
    let tables = || shape.all_sayings().flat_map(|says| says.method.iter().chain(&says.field).chain(&says.argument));
    for (target, said) in &mut state.set {
        let also = match target {
            Target::Attempts => Target::Retries,
            Target::Retries => Target::Attempts,
            other => *other,
        };
        if said.spans.is_empty()
            && let Some((name, _)) = tables().find(|(_, says)| says.sets(*target) || says.sets(also))
        {
            said.reference = interned(name);
        }
    }
}
