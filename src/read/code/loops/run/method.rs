//! Method calls: what is done to a result, a number, a point in time; else what the method of a type of the project does.

use std::sync::Arc;

use super::call::optional;
use super::names::store;
use super::value::{Origins, Val};
use super::{Flow, Machine, Out, Outs, State, one};
use crate::read::code::tree::{Arg, Exit, Id, Name, Sym, Unit};
use crate::read::code::words::loops::Outcome;
use crate::read::code::words::values::Operation;
use crate::read::code::words::{lists, values::Random};

impl Machine<'_> {
    /// A method call.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn method(
        &self,
        unit: &Arc<Unit>,
        id: Id,
        on: Id,
        name: &Sym,
        types: &[Name],
        args: &[Arg],
        state: State,
    ) -> Outs {
        let words = &self.words.loops;
        if self.is_own(unit) && self.calls_own_method(unit, on, name) && !state.is_elsewhere() {
            return self.again(unit, args, state);
        }
        if self.words.values.methods.get(name) == Some(Operation::Successive)
            && let Some(outs) = self.successive(unit, on, &state)
        {
            return outs;
        }
        if let Some(outs) = self.status_condition(unit, id, &state) {
            return outs;
        }
        let ids: Vec<Id> = std::iter::once(on).chain(args.iter().map(|arg| arg.value)).collect();
        self.each(unit, &ids, state, |mut state, values| {
            let Some((receiver, rest)) = values.split_first() else { return one(state, Val::unknown()) };
            if lists(&words.observes, name) {
                self.observed(unit, id, &mut state);
                return one(state, Val::Unit);
            }
            let tried = receiver.tried();
            if tried.is_some() || matches!(receiver, Val::Good(_) | Val::Bad(_)) {
                if words.through.iter().any(|one| **one == **name) {
                    return one(state, receiver.clone());
                }
                if words.to_option.iter().any(|one| **one == **name) {
                    return one(state, optional(receiver));
                }
                if words.unwraps.iter().any(|one| **one == **name) {
                    // Schedules that end are unwrapped by those who know that they do not.
                    if receiver.origin().from.has(Origins::SCHEDULE) {
                        return one(state, super::branch::unwrapped(receiver));
                    }
                    return self.unwrap(unit, on, state, receiver);
                }
            }
            if matches!(receiver, Val::Present(_) | Val::Absent) && words.unwraps.iter().any(|one| **one == **name) {
                return match receiver {
                    Val::Present(inner) => one(state, (**inner).clone()),
                    _ => vec![Out { state, flow: Flow::Leave(Exit::Abort, None, Val::Unit) }],
                };
            }
            if let Some(told) = words.answers.get(name)
                && !matches!(receiver, Val::Number(_) | Val::Text(_) | Val::List(_))
            {
                let origin = receiver.origin();
                let of = match receiver {
                    Val::Try(of) => *of,
                    _ => self.attempt(unit, id, origin.heart, Origins::NOTHING),
                };
                return self.telling(unit, id, state, of, told == Outcome::Failure);
            }
            if let Some(wait) = words.wait_methods.get(name) {
                return self.wait(unit, id, wait, state, rest);
            }
            if words.limit_methods.get(name).is_some() && tried.is_some() && rest.len() == 1 {
                let of = self.attempt(unit, id, tried.map(|of| of.heart), Origins::NOTHING);
                return one(state, Val::Try(of));
            }
            if let Some(clock) = words.clock.get(name)
                && !matches!(receiver, Val::Number(_))
            {
                return one(state, self.clock(clock, &values));
            }
            if let Some(parts) = self.parts(name, receiver) {
                return one(state, parts);
            }
            if let Some(how) = self.words.values.random.get(name) {
                let types: Vec<&str> = types.iter().map(Name::last).collect();
                let rest = if how == Random::Full { &values } else { rest };
                return one(state, self.random(how, rest, &types, unit.span(id)));
            }
            if lists(&words.reversals, name)
                && let Some(value) = self.reversed(receiver)
            {
                return one(state, value);
            }
            if let Val::List(items) = receiver
                && lists(&self.words.values.changes, name)
            {
                store(unit, on, self.changed_list(items, name, rest), &mut state);
                return one(state, Val::unknown());
            }
            if let (Val::Bool(holds), [given], true) = (receiver, rest, lists(&words.conditionals, name)) {
                return self.given_if(*holds, given, state);
            }
            if lists(&words.checked_differences, name)
                && let Some(difference) = self.difference(&values)
            {
                return one(state, difference);
            }
            if let Some(outs) = self.fallback(unit, id, name, receiver, rest, &state) {
                return outs;
            }
            if lists(&words.rounded_divisions, name)
                && let Some(value) = self.operate(Operation::Div, &values)
            {
                return one(state, self.operate(Operation::Ceil, &[value]).unwrap_or_else(Val::unknown));
            }
            if let Some(operation) = self.words.values.methods.get(name)
                && tried.is_none()
            {
                if operation == Operation::Apply
                    && let (Val::Present(inner), [Val::Closure(code)]) = (receiver, rest)
                {
                    let outs = self.run_closure(code, vec![(**inner).clone()], state);
                    return self.then(outs, |state, value| one(state, Val::Present(value.into())));
                }
                if let Some(value) = self.operate(operation, &values) {
                    return one(state, value);
                }
            }
            if let Some(outs) = self.follow_method(unit, id, on, name, receiver, rest, &state) {
                return outs;
            }
            let name = format!("{}::{name}", self.spoken(unit, on));
            self.operation(unit, id, &name, state, &values)
        })
    }

    /// `x.unwrap_or(y)` where it is not known what `x` is: what the code itself names.
    fn fallback(
        &self,
        unit: &Arc<Unit>,
        id: Id,
        name: &str,
        receiver: &Val,
        rest: &[Val],
        state: &State,
    ) -> Option<Outs> {
        let operation = self.words.values.methods.get(name)?;
        if !matches!(receiver, Val::Unknown(_) | Val::Try(_) | Val::Option(_)) {
            return None;
        }
        match (operation, rest) {
            (Operation::Fallback, [Val::Number(_)]) => {
                // What all callers give comes before what stands in for it.
                let given = if state.is_elsewhere() { Val::unknown() } else { self.traced(unit, id, name) };
                let value = if matches!(given, Val::Number(_)) { given } else { rest.first()?.clone() };
                Some(one(state.clone(), value))
            }
            (Operation::FallbackResult, [Val::Closure(code)]) => {
                let outs = self.run_closure(code, Vec::new(), state.clone());
                let is_settled = |out: &Out| matches!(&out.flow, Flow::Value(Val::Number(_)));
                outs.iter().any(is_settled).then_some(outs)
            }
            (Operation::Fallback | Operation::FallbackResult | Operation::FallbackDefault, _) => {
                match self.traced(unit, id, name) {
                    Val::Unknown(_) => None,
                    known => Some(one(state.clone(), known)),
                }
            }
            _ => None,
        }
    }
}
