//! Functions that are followed: those that say how long to wait, and those of things that do. And code that is handed over.

use std::sync::Arc;

use super::branch::is_error;
use super::value::{Code, Origins, Unknown, Val};
use super::{CALLS, Flow, Machine, Out, Outs, State, bind_all, names, one};
use crate::read::code::tree::{Arg, Exit, Id, Kind, Name, Place, Sym, Unit};
use crate::read::code::words::{last_of, lists};

/// The label of the exit by which a function that calls itself begins again.
pub(super) const AGAIN: &str = "\u{0}again";

impl Machine<'_> {
    /// Runs a function that is called by name, if it is worth it and can be seen.
    pub(super) fn follow_function(
        &self,
        unit: &Arc<Unit>,
        id: Id,
        name: &Name,
        args: &[Val],
        state: &State,
    ) -> Option<Outs> {
        let full = name.full.as_deref()?;
        if self.calls.get() >= CALLS {
            return None;
        }
        let by_name = self.names_schedule(full) || self.is_default(full);
        if !by_name && !full.starts_with("crate::") {
            return None;
        }
        let place = self.project.item(unit, full)?;
        let Kind::Function { returns, .. } = place.kind() else { return None };
        let gives_time = returns.as_ref().is_some_and(|returned| self.is_time_type(returned));
        // What says of an error whether it is worth another try.
        let is_truth = |name: &Name| lists(&self.words.loops.truth_types, name.best());
        let judges = args.iter().any(is_error) && returns.as_ref().is_some_and(is_truth);
        if !by_name && !gives_time && !judges {
            return None;
        }
        self.run_function(unit, id, &place, None, args, state).map(|(outs, _)| outs)
    }

    /// Runs a method, if it is worth it and can be seen: that of something whose type is known, or of the type that the loop
    /// stands in.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn follow_method(
        &self,
        unit: &Arc<Unit>,
        id: Id,
        on: Id,
        name: &Sym,
        receiver: &Val,
        args: &[Val],
        state: &State,
    ) -> Option<Outs> {
        if self.calls.get() >= CALLS {
            return None;
        }
        let (seen_from, owner) = match receiver {
            Val::Record(record) => record.of.as_ref().and_then(|of| Some((&of.unit, of.name.full.clone()?))),
            _ if self.names_schedule(name) => self.owner(unit, on).map(|owner| (unit, owner)),
            _ => None,
        }?;
        let place = self.project.item(seen_from, &format!("{owner}::{name}"))?;
        if !matches!(place.kind(), Kind::Function { body: Some(_), .. }) {
            return None;
        }
        let is_known = matches!(receiver, Val::Record(_));
        let (outs, changed) = self.run_function(unit, id, &place, Some(receiver.clone()), args, state)?;
        let all = outs.into_iter().zip(changed).map(|(mut out, receiver)| {
            // What the method did to its receiver shows where that is kept.
            if is_known && let Some(receiver) = receiver {
                names::store(unit, on, receiver, &mut out.state);
            }
            out
        });
        Some(all.collect())
    }

    /// The type whose method is called: that of the function that the call stands in, for its own receiver.
    fn owner(&self, unit: &Arc<Unit>, on: Id) -> Option<Sym> {
        let Kind::Name(name) = unit.kind(on) else { return None };
        let function = unit.function_of(on)?;
        let Kind::Function { params, owner, .. } = unit.kind(function) else { return None };
        let param = params.iter().find(|param| param.name.as_ref() == Some(&name.text))?;
        let ty = param.ty.as_ref().or(owner.as_ref())?;
        ty.full.clone()
    }

    /// Runs a function. Gives its ways, and what became of the receiver in each; none if it is better taken for an operation.
    fn run_function(
        &self,
        unit: &Arc<Unit>,
        id: Id,
        place: &Place,
        receiver: Option<Val>,
        args: &[Val],
        state: &State,
    ) -> Option<(Outs, Vec<Option<Val>>)> {
        let (outs, changed, is_settled) = self.run_any(unit, id, place, receiver, args, state)?;
        is_settled.then_some((outs, changed))
    }

    /// The same for any function, and whether something known comes out of it; none if it has more ways than are gone.
    pub(super) fn run_any(
        &self,
        unit: &Arc<Unit>,
        id: Id,
        place: &Place,
        receiver: Option<Val>,
        args: &[Val],
        state: &State,
    ) -> Option<(Outs, Vec<Option<Val>>, bool)> {
        let Kind::Function { params, body: Some(body), .. } = place.kind() else { return None };
        let node = self.site.get().unwrap_or(if self.is_own(unit) { id } else { self.target });
        let by_name = match place.kind() {
            Kind::Function { path, .. } if self.names_schedule(path) => Origins::SCHEDULE,
            _ => Origins::NOTHING,
        };
        let mut inner = state.clone();
        let log = &inner.log;
        let before = (log.tries.len(), log.choices.len(), log.waits.len(), inner.steps.len(), log.either.len());
        let frame = inner.enter_function();
        let values = receiver.iter().chain(args).cloned().chain(std::iter::repeat(Val::unknown()));
        let own = params.first().and_then(|param| param.name.clone()).filter(|_| receiver.is_some());
        for (param, value) in params.iter().zip(values) {
            if let Some(name) = &param.name {
                inner.bind(name, value);
            }
        }
        self.calls.set(self.calls.get() + 1);
        let site = self.site.get();
        self.site.set(site.or(Some(node)));
        let was_cut = self.is_cut.replace(false);
        let outs = self.run(&place.unit, *body, inner);
        let is_cut = self.is_cut.replace(was_cut);
        self.site.set(site);
        self.calls.set(self.calls.get() - 1);
        // What it gives on the ways that were left out is not known.
        if is_cut {
            return None;
        }
        let mut ways: Vec<(State, Val, Option<Val>)> = Vec::new();
        let mut gone = Vec::new();
        for mut out in outs {
            let changed = own.as_ref().and_then(|own| out.state.get(own).cloned());
            out.state.leave_function(frame);
            let inside = out.state.log.choices.get(before.1..).unwrap_or_default();
            let on = Unknown::of(by_name.and(out.state.asked_since(before.0)));
            let on = inside.iter().fold(on, |all, choice| all.and(&choice.on));
            let is_read = inside.iter().all(|choice| choice.is_read || !choice.on.from.has(Origins::ERROR));
            out.state.keep_given(before.0);
            out.state.log.choices.truncate(before.1);
            out.state.log.either.truncate(before.4);
            for waited in out.state.log.waits.iter_mut().skip(before.2) {
                waited.node = node;
            }
            for step in out.state.steps.iter_mut().skip(before.3) {
                if let super::Step::Wait(waited) = step {
                    waited.node = node;
                }
            }
            let value = match out.flow {
                Flow::Value(value) | Flow::Leave(Exit::Return, _, value) => value,
                flow @ Flow::Leave(..) => {
                    gone.push((Out { state: out.state, flow }, changed));
                    continue;
                }
            };
            // Ways that come to the same are one; of others it is chosen here, by whatever was chosen inside.
            let alike =
                |(known, other, _): &&mut (State, Val, Option<Val>)| *other == value && known.is_like(&out.state);
            match ways.iter_mut().find(alike) {
                Some((known, ..)) => known.log.know_of_both(&out.state.log),
                None => {
                    out.state.choose(node, ways.len(), &on, is_read);
                    ways.push((out.state, value, changed));
                }
            }
        }
        // What does not come out as something known is better taken for an operation, unless it waits.
        let is_settled = |(after, value, changed): &(State, Val, Option<Val>)| {
            let has_changed = matches!(receiver, Some(Val::Record(_))) && *changed != receiver;
            settled(value) || has_changed || after.log.waits.len() > before.2 || after.log.tries.len() > before.0
        };
        let is_settled = ways.iter().any(is_settled);
        if let [(only, ..)] = ways.as_mut_slice() {
            only.log.choices.truncate(before.1);
        }
        let (outs, changed) = ways
            .into_iter()
            .map(|(state, value, changed)| (Out::value(state, value), changed))
            .chain(gone)
            .take(super::widen::WAYS)
            .unzip();
        Some((outs, changed, is_settled))
    }

    /// Asks an object by one of its methods: what that gives, and what becomes of the object. Of several ways the first; none if
    /// one of them gives something that is not known.
    pub fn ask(&self, id: Id, method: &Place, object: Val, args: Vec<Val>) -> Option<(Val, Val)> {
        let unit = self.unit;
        let (outs, changed) = self.run_function(unit, id, method, Some(object), &args, &State::default())?;
        let ways = outs.into_iter().zip(changed).filter_map(|(out, changed)| match out.flow {
            Flow::Value(value) => Some(settled(&value).then_some(value).zip(changed)),
            Flow::Leave(..) => None,
        });
        let ways: Vec<(Val, Val)> = ways.collect::<Option<_>>()?;
        ways.into_iter().next()
    }

    /// Runs a closure with these arguments; its exits end it alone.
    pub(super) fn run_closure(&self, code: &Code, args: Vec<Val>, state: State) -> Outs {
        let Kind::Closure { params, body, .. } = code.unit.kind(code.id) else { return one(state, Val::unknown()) };
        if self.calls.get() >= CALLS {
            return one(state, Val::unknown());
        }
        let mut state = state;
        let depth = state.enter();
        let mut args = args.into_iter();
        for param in params {
            let value = args.next().unwrap_or_else(Val::unknown);
            bind_all(&mut state, std::slice::from_ref(param), value);
        }
        self.calls.set(self.calls.get() + 1);
        let outs = self.run(&code.unit, *body, state);
        self.calls.set(self.calls.get() - 1);
        let all = outs.into_iter().map(|mut out| {
            out.state.leave(depth);
            match out.flow {
                Flow::Leave(Exit::Return, _, value) => Out::value(out.state, value),
                flow => Out { state: out.state, flow },
            }
        });
        self.limited(all.collect())
    }

    /// What is waited in a closure or block, and nothing else of it.
    pub(super) fn waits_of(&self, code: &Code, state: State) -> State {
        let waits = |id: Id| match code.unit.kind(id) {
            Kind::Call { of, .. } => {
                code.unit.callee(*of).is_some_and(|name| self.words.loops.waits.of_path(name.best()).is_some())
            }
            Kind::Method { name, .. } => self.words.loops.wait_methods.get(name).is_some(),
            _ => false,
        };
        if !code.unit.below(code.id).any(waits) {
            return state;
        }
        let before = (state.log.tries.len(), state.log.choices.len());
        let outs = self.run_closure(code, Vec::new(), state.clone());
        // Of several ways the one that waits most.
        let most = outs.into_iter().map(|out| out.state).max_by_key(|state| state.log.waits.len());
        let Some(mut after) = most else { return state };
        after.log.tries.truncate(before.0);
        after.log.choices.truncate(before.1);
        after
    }

    /// Whether a call by name is one of the function that is looked at.
    pub(super) fn calls_target(&self, unit: &Unit, name: &Name) -> bool {
        match unit.kind(self.target) {
            Kind::Function { path, .. } => name.full.as_deref() == Some(path),
            _ => false,
        }
    }

    /// Whether a method call is one of the method that is looked at, on the same receiver.
    pub(super) fn calls_own_method(&self, unit: &Unit, on: Id, name: &str) -> bool {
        let Kind::Function { name: own, params, .. } = unit.kind(self.target) else { return false };
        let receiver = params.first().and_then(|param| param.name.as_ref());
        **own == *name && matches!(unit.kind(on), Kind::Name(name) if Some(&name.text) == receiver)
    }

    /// The function begins again, with these arguments.
    pub(super) fn again(&self, unit: &Arc<Unit>, args: &[Arg], state: State) -> Outs {
        let Kind::Function { params, .. } = unit.kind(self.target) else { return one(state, Val::unknown()) };
        let ids: Vec<Id> = args.iter().map(|arg| arg.value).collect();
        let has_receiver = params.len() == args.len() + 1;
        let names: Vec<Option<Sym>> =
            params.iter().skip(usize::from(has_receiver)).map(|param| param.name.clone()).collect();
        self.each(unit, &ids, state, |mut state, values| {
            for (name, value) in names.iter().zip(values) {
                if let Some(name) = name {
                    let value = match value {
                        Val::Number(number) => Val::number((*number).clone().varying()),
                        other => other,
                    };
                    state.set(name, value);
                }
            }
            vec![Out { state, flow: Flow::Leave(Exit::Continue, Some(AGAIN.into()), Val::Unit) }]
        })
    }

    fn is_default(&self, full: &str) -> bool {
        values_defaults(&self.words.values.defaults, full)
    }

    fn is_time_type(&self, returned: &Name) -> bool {
        self.words.loops.time_types.iter().any(|ty| **ty == *returned.last())
    }
}

/// Whether more is known of a value than that something was called.
pub(super) fn settled(value: &Val) -> bool {
    match value {
        Val::Unknown(_) | Val::Try(_) | Val::Option(_) | Val::Unit | Val::Closure(_) => false,
        Val::Present(inner) | Val::Good(inner) => settled(inner),
        Val::Bad(_) => false,
        Val::Number(_)
        | Val::Bool(_)
        | Val::Text(_)
        | Val::Absent
        | Val::List(_)
        | Val::Series(_)
        | Val::Record(_)
        | Val::Moment(_)
        | Val::Pause(_) => true,
    }
}

/// Whether a function makes what a type begins with.
fn values_defaults(defaults: &[String], full: &str) -> bool {
    let last = last_of(full);
    defaults.iter().any(|one| last_of(one) == last)
}
