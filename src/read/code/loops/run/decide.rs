//! What an object decides that is asked whether to try again.

use super::value::{Origins, Pause, Unknown, Val};
use super::{Flow, Machine, Outs, State, one};
use crate::read::code::tree::{Id, Kind, Place};
use crate::read::code::words::values::Operation;

/// What comes of one question.
#[derive(Clone, Debug)]
pub enum Decision {
    /// There is another try.
    Again {
        /// How long it waits before; none where that is not seen.
        delay: Option<Val>,
        /// What becomes of the object.
        object: Val,
        /// Whether there is a way without another try, too.
        may_end: bool,
    },
    /// There is none.
    Enough,
}

impl Machine<'_> {
    /// What a call gives, evaluated once, whatever its function is called.
    pub fn made(&self, id: Id) -> Val {
        let made = self.value_before(id);
        if matches!(made, Val::Record(_)) {
            return made;
        }
        let Kind::Call { of, args, .. } = self.unit.kind(id) else { return made };
        let full = self.unit.callee(*of).and_then(|name| name.full.as_deref());
        let Some(function) = full.and_then(|full| self.project.item(self.unit, full)) else { return made };
        let args: Vec<Id> = args.iter().map(|arg| arg.value).collect();
        let outs = self.each(self.unit, &args, State::default(), |state, values| {
            let ran = self.run_any(self.unit, id, &function, None, &values, &state);
            ran.map_or_else(|| one(state, Val::unknown()), |(outs, ..)| outs)
        });
        self.the_only(outs)
    }

    /// Asks an object after a try that failed, by a method that takes the request and the result. Of several ways one with
    /// another try: failures that are not worth it end it earlier, and others do not. None if what it says is not followed.
    pub fn decide(&self, id: Id, method: &Place, object: Val) -> Option<Decision> {
        let error = Val::Bad(Val::Unknown(Unknown::of(Origins::ERROR)).into());
        let args = [Val::unknown(), error];
        let (outs, changed, _) = self.run_any(self.unit, id, method, Some(object), &args, &State::default())?;
        let mut ends = false;
        let mut object = None;
        let mut delays: Vec<Option<Val>> = Vec::new();
        for (out, changed) in outs.into_iter().zip(changed) {
            let Flow::Value(value) = out.flow else { continue };
            match (value, changed) {
                (Val::Absent, _) => ends = true,
                (Val::Present(future), Some(changed)) => {
                    delays.push(self.waited(&future));
                    object.get_or_insert(changed);
                }
                _ => return None,
            }
        }
        match object {
            Some(object) => Some(Decision::Again { delay: agreed(delays), object, may_end: ends }),
            None => ends.then_some(Decision::Enough),
        }
    }

    /// What is given where a condition holds: `is_worth_it.then(|| sleep(delay))`.
    pub(super) fn given_if(&self, holds: bool, given: &Val, state: State) -> Outs {
        let outs = match given {
            _ if !holds => return one(state, Val::Absent),
            Val::Closure(code) => self.run_closure(code, Vec::new(), state),
            value => one(state, value.clone()),
        };
        self.then(outs, |state, value| one(state, Val::Present(value.into())))
    }

    /// One number less another; absent where nothing would be left to take it from.
    pub(super) fn difference(&self, values: &[Val]) -> Option<Val> {
        let difference = self.operate(Operation::Sub, values)?;
        let left = difference.as_number()?.exact()?;
        Some(if left < 0.0 { Val::Absent } else { Val::Present(difference.into()) })
    }

    /// How long a future waits: one that waits, a block that does, something that holds one.
    fn waited(&self, future: &Val) -> Option<Val> {
        match future {
            Val::Pause(pause) => Some(Pause::clone(pause).delay),
            Val::Closure(code) if code.is_async => {
                let state = self.waits_of(code, State::default());
                match state.log.waits.as_slice() {
                    [only] => Some(only.delay.clone()),
                    _ => None,
                }
            }
            Val::Record(record) => record.fields.iter().find_map(|(_, value)| match value {
                Val::Pause(_) => self.waited(value),
                _ => None,
            }),
            _ => None,
        }
    }
}

/// The delay of all ways; none where they wait for other times.
fn agreed(delays: Vec<Option<Val>>) -> Option<Val> {
    let length = |delay: &Val| delay.as_number().map(|number| (number.nominal, number.low, number.high));
    let mut known = delays.into_iter().flatten();
    let first = known.next()?;
    known.all(|other| length(&other) == length(&first)).then_some(first)
}
