//! Settings in a closure that a construct is given: `o => { o.Retry.MaxRetryAttempts = 5; }`.

use std::sync::Arc;

use super::super::format::{Says, Shape, Step, Target};
use super::Engine;
use super::identity::Found;
use super::scope::Scope;
use super::spot::Spot;
use super::state::State;
use crate::facts::Why;
use crate::read::code::tree::{Arg, Id, Kind, Sym, Unit};

/// Members and methods on the way from a closure's parameter.
const MOST_STEPS: usize = 64;

/// One statement about a parameter of the closure.
struct Event<'u> {
    id: Id,
    parameter: usize,
    path: Vec<Step>,
    /// What is assigned.
    value: Option<Id>,
    /// What a method is given, and what it is called on.
    args: &'u [Arg],
    on: Option<Id>,
    /// Whether it is done whatever happens.
    is_sure: bool,
}

impl<'p> Engine<'p> {
    /// What closures among the arguments say.
    pub(super) fn callbacks(&self, found: &Found<'p>, scope: &Scope<'_>, state: &mut State, depth: u32) {
        let Some(table) = found.all(|says| Some(&says.callback).filter(|table| !table.is_empty())).next() else {
            return;
        };
        for arg in scope.args {
            let place = self.definition(&scope.place.at(arg.value));
            let Kind::Closure { params, .. } = place.kind() else { continue };
            if let Some(escape) = escape(&place.unit, place.id, params) {
                let why = Why::Other("settings that are handed on to a function".into());
                for (_, says) in table {
                    self.unsure(says, found, state, &why, &place.at(escape));
                }
                continue;
            }
            for event in events(&place.unit, place.id, params) {
                self.event(found, table, &place, &event, state, depth);
            }
        }
    }

    fn event(
        &self,
        found: &Found<'p>,
        table: &'p [(super::super::format::Callback, Says)],
        closure: &Spot,
        event: &Event<'_>,
        state: &mut State,
        depth: u32,
    ) {
        let at = closure.at(event.id);
        for (callback, says) in table.iter().filter(|(callback, _)| callback.parameter == event.parameter) {
            let Some(rest) = event.path.strip_prefix(callback.path.as_slice()) else { continue };
            let key: Option<Arc<str>> = event.path.last().map(name_of);
            let scope = Scope {
                args: event.args,
                receiver: event.on,
                value: event.value.map(|value| closure.at(value)),
                said: Some(at.span()),
                key: key.as_ref(),
                ..Scope::bare(found.library, at.clone())
            };
            match rest {
                [] if event.is_sure => self.apply(says, &scope, state, depth),
                [] => self.unsure(says, found, state, &CONDITION, &at),
                [Step::Member(_)] => self.option(says, found, event, &scope, state, depth),
                _ => {}
            }
        }
    }

    /// A field of options that lie at a path: `o.Retry.MaxRetryAttempts = 5` where `$0.Retry` is of a shape.
    fn option(
        &self,
        says: &'p Says,
        found: &Found<'p>,
        event: &Event<'_>,
        scope: &Scope<'_>,
        state: &mut State,
        depth: u32,
    ) {
        let Some(Step::Member(name)) = event.path.last() else { return };
        for clause in &says.0 {
            let Some(shape) = clause.shape.as_ref().and_then(|id| found.library.shape(id)) else { continue };
            let Some((key, field)) = shape.says.field.iter().find(|(known, _)| known == name) else { continue };
            let scope = Scope { key: Some(key), ..scope.clone() };
            let layer = clause.layer;
            let mut inner = match layer {
                Some(place) => match state.layers.get_mut(place) {
                    Some(layer) => std::mem::take(&mut layer.state),
                    None => continue,
                },
                None => std::mem::take(state),
            };
            if event.is_sure {
                self.apply(field, &scope, &mut inner, depth);
            } else {
                let span = scope.place.span();
                inner.blur(field.settings().map(|set| set.target).collect::<Vec<_>>(), &CONDITION, span);
            }
            match layer.and_then(|place| state.layers.get_mut(place)) {
                Some(layer) => layer.state = inner,
                None => *state = inner,
            }
        }
    }

    /// All that is said here may hold, or not.
    fn unsure(&self, says: &Says, found: &Found<'p>, state: &mut State, why: &Why, at: &Spot) {
        for clause in &says.0 {
            let own = clause.set.iter().map(|setting| setting.target);
            let shape: Option<&Shape> = clause.shape.as_ref().and_then(|id| found.library.shape(id));
            let fields = shape.into_iter().flat_map(|shape| &shape.says.field).flat_map(|(_, says)| says.settings());
            let targets: Vec<Target> = own.chain(fields.map(|setting| setting.target)).collect();
            match clause.layer {
                Some(place) => {
                    if let Some(layer) = state.layers.get_mut(place) {
                        layer.state.blur(targets, why, at.span());
                    }
                }
                None => state.blur(targets, why, at.span()),
            }
        }
    }
}

pub(super) const CONDITION: Why = Why::Other(std::borrow::Cow::Borrowed("set on some of the ways through the code"));

fn name_of(step: &Step) -> Arc<str> {
    match step {
        Step::Member(name) | Step::Call(name) => name.clone(),
        Step::Argument(position) => position.to_string().into(),
    }
}

/// Statements about the closure's parameters, in the order in which they stand.
fn events<'u>(unit: &'u Unit, closure: Id, params: &[Sym]) -> Vec<Event<'u>> {
    let mut all = Vec::new();
    for id in unit.below(closure) {
        let (place, value, args, on): (Id, Option<Id>, &[Arg], Option<Id>) = match unit.kind(id) {
            Kind::Assign { place, op: None, value } => (*place, Some(*value), &[], None),
            Kind::Method { on, args, .. } => (id, None, args, Some(*on)),
            _ => continue,
        };
        let Some((root, path)) = path(unit, place) else { continue };
        let Some(parameter) = params.iter().position(|param| *param == root) else { continue };
        let mut around = unit.around(id).take_while(|around| *around != closure);
        let is_sure = !around.any(|around| {
            matches!(
                unit.kind(around),
                Kind::Branch { .. } | Kind::Loop { .. } | Kind::Closure { .. } | Kind::Guarded { .. }
            )
        });
        all.push(Event { id, parameter, path, value, args, on, is_sure });
    }
    all
}

/// A place where a parameter is handed on whole: whoever gets it may set anything.
fn escape(unit: &Unit, closure: Id, params: &[Sym]) -> Option<Id> {
    unit.below(closure).find(|id| {
        let Kind::Name(name) = unit.kind(*id) else { return false };
        if name.full.is_some() || !params.contains(&name.text) {
            return false;
        }
        match unit.parent(*id).map(|parent| unit.kind(parent)) {
            Some(Kind::Member { .. }) => false,
            Some(Kind::Method { on, .. }) => on != id,
            Some(Kind::Call { .. } | Kind::Record { .. } | Kind::List(_)) => true,
            _ => false,
        }
    })
}

/// From a local to what is asked of it: members, then the last method. Methods before that one are taken for such that give
/// back what they were called on.
pub(super) fn path(unit: &Unit, id: Id) -> Option<(Sym, Vec<Step>)> {
    let mut steps = Vec::new();
    let mut at = id;
    for _ in 0..MOST_STEPS {
        match unit.kind(at) {
            Kind::Name(name) if name.full.is_none() => {
                steps.reverse();
                return Some((name.text.clone(), steps));
            }
            Kind::Member { of, name } => {
                steps.push(Step::Member(name.clone()));
                at = *of;
            }
            Kind::Method { on, name, .. } => {
                if at == id {
                    steps.push(Step::Call(name.clone()));
                }
                at = *on;
            }
            _ => return None,
        }
    }
    None
}
