//! What the references of an entry mean at one place in code: its arguments, its receiver, what was set so far.

use std::sync::Arc;

use super::super::format::{Library, Param, Ref, Root, Step, Value};
use super::Engine;
use super::spot::Spot;
use super::state::{Said, State};
use crate::read::code::tree::{Arg, Id, Kind};
use crate::source::Span;

/// One construct, as the values of an entry see it.
#[derive(Clone, Debug)]
pub(super) struct Scope<'s> {
    /// The library whose entry it is.
    pub(super) library: &'s Library,
    /// A node of the unit that everything here stands in.
    pub(super) place: Spot,
    /// The arguments.
    pub(super) args: &'s [Arg],
    /// Their names in the entry.
    pub(super) params: &'s [Param],
    /// The receiver.
    pub(super) receiver: Option<Id>,
    /// The function under a mark.
    pub(super) marked: Option<Id>,
    /// What matched `on`.
    pub(super) on: Option<Spot>,
    /// What is assigned.
    pub(super) value: Option<Spot>,
    /// What the settings of the entry itself are written as; none for defaults.
    pub(super) said: Option<Span>,
    /// The method, field or argument.
    pub(super) key: Option<&'s Arc<str>>,
}

/// What a reference means.
pub(super) enum Meant<'s> {
    /// This code.
    Code(Spot),
    /// A value of the entry: a parameter that was left out.
    Entry(&'s Value),
    /// What was set before.
    Set(Said),
    /// Nothing is there.
    Missing,
}

impl<'s> Scope<'s> {
    /// A place without arguments.
    pub(super) fn bare(library: &'s Library, place: Spot) -> Self {
        Scope {
            library,
            place,
            args: &[],
            params: &[],
            receiver: None,
            marked: None,
            on: None,
            value: None,
            said: None,
            key: None,
        }
    }

    /// The argument at a position: by position, else by the name of the parameter there.
    fn argument(&self, position: usize) -> Option<Id> {
        let mut positional = self.args.iter().filter(|arg| arg.name.is_none()).take_while(|arg| !arg.spread);
        let by_name = || {
            let name = &self.params.get(position)?.name;
            self.args.iter().find(|arg| arg.name.as_deref() == Some(name))
        };
        positional.nth(position).or_else(by_name).map(|arg| arg.value)
    }

    /// The name or position by which an argument is spoken of in the entry.
    pub(super) fn name_of<'a>(&'a self, arg: &'a Arg) -> (Option<&'a str>, Option<usize>) {
        let position = self
            .args
            .iter()
            .filter(|other| other.name.is_none())
            .position(|other| other.value == arg.value)
            .filter(|_| arg.name.is_none());
        let name = arg.name.as_deref().or_else(|| Some(&*self.params.get(position?)?.name));
        let position = position.or_else(|| self.params.iter().position(|param| Some(&*param.name) == name));
        (name, position)
    }

    /// What stands at a reference.
    pub(super) fn at(&self, engine: &Engine<'_>, reference: &Ref, state: &State) -> Meant<'s> {
        let of_id = |id: Option<Id>| id.map(|id| self.place.at(id));
        let start = match &reference.root {
            Root::Argument(position) => of_id(self.argument(*position)),
            Root::Param(position) => match self.argument(*position) {
                Some(id) => Some(self.place.at(id)),
                None => {
                    let default = self.params.get(*position).and_then(|param| param.default.as_ref());
                    return default.map_or(Meant::Missing, Meant::Entry);
                }
            },
            Root::Value => self.value.clone(),
            Root::Receiver => of_id(self.receiver),
            Root::Marked => of_id(self.marked),
            Root::On => self.on.clone(),
            Root::Set(target) => return state.get(*target).cloned().map_or(Meant::Missing, Meant::Set),
        };
        let Some(mut place) = start else { return Meant::Missing };
        for step in &reference.path {
            match self.step(engine, &place, step) {
                Some(next) => place = next,
                None => return Meant::Missing,
            }
        }
        Meant::Code(place)
    }

    /// An argument of a call, a field of a record.
    fn step(&self, engine: &Engine<'_>, place: &Spot, step: &Step) -> Option<Spot> {
        let place = engine.definition(place);
        let (args, _) = parts(&place);
        let value = match step {
            Step::Argument(position) => args.iter().filter(|arg| arg.name.is_none()).nth(*position)?.value,
            Step::Member(name) => args.iter().rev().find(|arg| arg.name.as_deref() == Some(name))?.value,
            Step::Call(_) => return None,
        };
        Some(place.at(value))
    }
}

/// The arguments or fields of a construct, and its receiver.
pub(super) fn parts(place: &Spot) -> (&[Arg], Option<Id>) {
    match place.kind() {
        Kind::Call { args, .. } => (args, None),
        Kind::Method { on, args, .. } => (args, Some(*on)),
        Kind::Record { fields, .. } => (fields, None),
        _ => (&[], None),
    }
}
