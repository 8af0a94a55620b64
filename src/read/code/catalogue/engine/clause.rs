//! What an entry says, done to the state: the first clause whose tests hold, its settings, layers and parts.

use std::sync::Arc;

use super::super::format::{Clause, Says, Setting, Shape, Target};
use super::scope::{Meant, Scope};
use super::spot::Spot;
use super::state::{Got, Inert, Laid, Said, State};
use super::{Engine, MOST_DEPTH};
use crate::facts::Why;
use crate::read::code::tree::Kind;
use crate::read::code::words::Words;
use crate::read::code::words::values::Operation;
use crate::source::Span;

/// What an unknown policy leaves unknown.
pub(super) const OF_A_POLICY: [Target; 3] = [Target::Attempts, Target::Backoff, Target::Jitter];

impl Engine<'_> {
    /// Does what is said to the state.
    pub(super) fn apply(&self, says: &Says, scope: &Scope<'_>, state: &mut State, depth: u32) {
        for (i, clause) in says.0.iter().enumerate() {
            let mut tests = clause.tests.iter();
            let holds = tests.try_fold(true, |holds, (reference, expected)| {
                Ok(holds && self.test(reference, expected, scope, state, depth)?)
            });
            match holds {
                Ok(true) => return self.clause(clause, scope, state, depth),
                Ok(false) => {}
                Err(why) => {
                    // It may be this clause or any behind it.
                    let targets = says.0.iter().skip(i).flat_map(|clause| &clause.set).map(|setting| setting.target);
                    return state.blur(targets.collect::<Vec<_>>(), &why, self.place_of(scope));
                }
            }
        }
    }

    /// Where a setting stands.
    fn place_of(&self, scope: &Scope<'_>) -> Span {
        scope.said.unwrap_or_else(|| scope.value.as_ref().unwrap_or(&scope.place).span())
    }

    /// Does one clause to the state, whose tests hold.
    pub(super) fn clause(&self, clause: &Clause, scope: &Scope<'_>, state: &mut State, depth: u32) {
        if let Some(kind) = clause.push {
            let mut inner = State::default();
            self.settings(&clause.set, scope, &mut inner, depth);
            state.uses.append(&mut inner.uses);
            state.objects.append(&mut inner.objects);
            let at = self.place_of(scope);
            return state.layers.push(Laid { kind, state: inner, at });
        }
        if let Some(place) = clause.layer {
            // Taken out and put back: what is said of a layer does not see the others.
            let Some(layer) = state.layers.get_mut(place) else { return };
            let mut inner = std::mem::take(&mut layer.state);
            self.within(clause, scope, &mut inner, depth);
            if let Some(layer) = state.layers.get_mut(place) {
                layer.state = inner;
            }
            return;
        }
        self.within(clause, scope, state, depth);
    }

    fn within(&self, clause: &Clause, scope: &Scope<'_>, state: &mut State, depth: u32) {
        let from = match &clause.from {
            Some(reference) => match scope.at(self, reference, state) {
                Meant::Code(place) => Some(place),
                _ => None,
            },
            None => scope.value.clone(),
        };
        if let (Some(kind), Some(from)) = (&clause.part, &from) {
            let part = self.part(kind, from, scope.library, depth + 1);
            state.merge(part);
        }
        if let (Some(id), Some(from)) = (&clause.shape, &from)
            && let Some(shape) = scope.library.shape(id)
        {
            self.options(shape, from, scope, state, depth);
        }
        self.settings(&clause.set, scope, state, depth);
    }

    /// An object of a shape's fields, or a construct of that shape.
    fn options(&self, shape: &Shape, from: &Spot, scope: &Scope<'_>, state: &mut State, depth: u32) {
        if let Some(described) = self.described(from, depth + 1) {
            return state.merge(described);
        }
        let place = self.definition(from);
        let is_record = matches!(place.kind(), Kind::Record { .. });
        if is_record || super::scope::parts(&place).0.iter().any(|arg| arg.name.is_some()) {
            self.fields(&shape.says.field, &place, scope.library, state, depth);
        } else {
            let targets = shape.says.field.iter().flat_map(|(_, says)| says.settings()).map(|setting| setting.target);
            state.blur(targets.collect::<Vec<_>>(), &Why::Other("options that are not followed".into()), from.span());
        }
    }

    /// Fields of a record, as a table of fields has them.
    pub(super) fn fields(
        &self,
        table: &[(Arc<str>, Says)],
        place: &Spot,
        library: &super::super::format::Library,
        state: &mut State,
        depth: u32,
    ) {
        let (args, _) = super::scope::parts(place);
        for arg in args {
            let Some(name) = &arg.name else { continue };
            if let Some((key, says)) = table.iter().find(|(field, _)| field == name) {
                let value = place.at(arg.value);
                let said = Some(value.span());
                let scope = Scope { value: Some(value), said, key: Some(key), ..Scope::bare(library, place.clone()) };
                self.apply(says, &scope, state, depth);
            }
        }
    }

    /// Does settings one after the other.
    pub(super) fn settings(&self, settings: &[Setting], scope: &Scope<'_>, state: &mut State, depth: u32) {
        for setting in settings {
            let target = setting.target;
            let Some(said) = self.value(target, &setting.value, target.kind(), scope, state, depth) else { continue };
            match (target, said.got) {
                (Target::Policy, Got::Code(place)) => self.policy(&place, state, depth),
                (Target::Inert, Got::Word(word)) if &*word == "none" => state.inert.clear(),
                (Target::Inert, Got::Word(why)) => {
                    let key = scope.key.cloned().unwrap_or_else(|| scope.library.name.clone());
                    state.inert.push(Inert::new(scope.said.unwrap_or_else(|| scope.place.span()), &key, &why));
                }
                (_, got) => state.put(target, Said { got, ..said }),
            }
        }
    }

    /// The construct that a node stands for, or is a copy of.
    fn made(&self, place: &Spot) -> Spot {
        let mut made = self.definition(place);
        while let Kind::Method { on, name, .. } = made.kind()
            && Words::of(made.unit.language).values.methods.get(name) == Some(Operation::Same)
            && self.step()
        {
            made = self.definition(&made.at(*on));
        }
        made
    }

    /// Takes over a policy that is given as code.
    fn policy(&self, place: &Spot, state: &mut State, depth: u32) {
        if depth < MOST_DEPTH
            && let Some(policy) = self.described(place, depth + 1)
        {
            // Where it is given on, its numbers are where it was made first.
            let given = policy.given.clone();
            state.merge(policy);
            state.given = given.or_else(|| Some(self.made(place)));
            return;
        }
        if let Some(schedule) = self.schedule(place) {
            state.merge(schedule);
            return;
        }
        let why = self.not_followed(place);
        state.blur(OF_A_POLICY, &why, place.span());
        // A policy of the project's own may be made of what the library has: that is not there a second time.
        let definition = self.definition(place);
        state.objects.extend([place.span(), definition.span()]);
        for arg in super::scope::parts(&definition).0 {
            state.uses.extend(self.root(&definition.at(arg.value), depth + 1).map(|root| root.place.span()));
        }
    }
}
