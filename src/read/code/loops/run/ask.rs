//! Conditions: whether something holds, whether an operation failed.

use std::sync::Arc;

use super::value::{Origins, Try, Val};
use super::{Machine, Mode, Out, Outs, State, one};
use crate::read::code::tree::{Id, Kind, Op, Unit};

impl Machine<'_> {
    /// The ways on which a condition is known to hold or not; each gives a truth value.
    pub(super) fn condition(&self, unit: &Arc<Unit>, id: Id, state: State) -> Outs {
        match unit.kind(id) {
            Kind::Operator { op: op @ (Op::And | Op::Or), of } => {
                // `a && b` is decided by the first that does not hold, `a || b` by the first that does.
                let decides = *op == Op::Or;
                let mut ways: Outs = one(state, Val::Bool(!decides));
                for part in of {
                    ways = self.then(ways, |state, value| match value {
                        Val::Bool(holds) if holds == decides => one(state, value),
                        _ => self.condition(unit, *part, state),
                    });
                }
                ways
            }
            Kind::Operator { op: Op::Not, of } => {
                let Some(of) = of.first() else { return one(state, Val::unknown()) };
                let outs = self.condition(unit, *of, state);
                self.then(outs, |state, value| match value {
                    Val::Bool(holds) => one(state, Val::Bool(!holds)),
                    other => one(state, other),
                })
            }
            Kind::Outcome { of, failed } => {
                let outs = self.run(unit, *of, state);
                self.then(outs, |state, value| {
                    let ways = self.ask_failed(unit, *of, state, &value);
                    ways.into_iter().map(|(state, is)| Out::value(state, Val::Bool(is == *failed))).collect()
                })
            }
            _ => {
                let outs = self.run(unit, id, state);
                self.then(outs, |state, value| self.decided(unit, id, state, value))
            }
        }
    }

    /// A value as a truth value: both ways where it is not known.
    pub(super) fn decided(&self, unit: &Arc<Unit>, id: Id, mut state: State, value: Val) -> Outs {
        match value {
            Val::Bool(_) => one(state, value),
            Val::Option(one_try) => {
                let ways = self.ask_failed(unit, id, state, &Val::Option(one_try));
                ways.into_iter().map(|(state, failed)| Out::value(state, Val::Bool(!failed))).collect()
            }
            other => {
                let on = other.origin();
                let mut otherwise = state.clone();
                self.choose(unit, &mut state, id, 1, &on);
                self.choose(unit, &mut otherwise, id, 0, &on);
                match on.hint {
                    Some(true) => otherwise.against += 1,
                    Some(false) => state.against += 1,
                    None => {}
                }
                vec![Out::value(state, Val::Bool(true)), Out::value(otherwise, Val::Bool(false))]
            }
        }
    }

    /// Whether an operation failed: both ways where that was not decided yet.
    pub(super) fn ask_failed(&self, unit: &Arc<Unit>, asked: Id, state: State, value: &Val) -> Vec<(State, bool)> {
        let of = match value {
            Val::Good(_) | Val::Present(_) => return vec![(state, false)],
            Val::Bad(_) | Val::Absent => return vec![(state, true)],
            // Whether something about an error is so says nothing of the operation.
            Val::Try(of) | Val::Option(of) if of.from.has(Origins::ERROR) && !of.from.has(Origins::GIVEN) => {
                let on = value.origin();
                let mut other = state.clone();
                let mut state = state;
                self.choose(unit, &mut state, asked, 1, &on);
                self.choose(unit, &mut other, asked, 0, &on);
                return vec![(state, true), (other, false)];
            }
            Val::Try(of) | Val::Option(of) => *of,
            other => {
                let origin = other.origin();
                self.attempt(unit, asked, origin.heart, origin.from.only(Origins::MADE_OF_COUNT))
            }
        };
        self.failures(state, of)
    }

    /// Decides whether an operation failed, in every way that is possible.
    pub(super) fn failures(&self, mut state: State, of: Try) -> Vec<(State, bool)> {
        if let Some(failed) = state.failed(of) {
            return vec![(state, failed)];
        }
        if self.mode != Mode::Explore && self.is_op(of) && !self.is_beside(&state, of) {
            state.decide(of, true);
            return vec![(state, true)];
        }
        let mut success = state.clone();
        state.decide(of, true);
        success.decide(of, false);
        vec![(state, true), (success, false)]
    }

    /// Whether an operation is none of those that are tried, in a function that was handed what is: that alone is what fails,
    /// and whatever else the function does may work.
    pub(super) fn is_beside(&self, state: &State, of: Try) -> bool {
        state.is_elsewhere()
            && !of.from.has(Origins::GIVEN)
            && state.log.tries.iter().any(|tried| tried.of.from.has(Origins::GIVEN))
    }

    /// Whether an operation is one of those that are tried again.
    pub(super) fn is_op(&self, of: Try) -> bool {
        self.ops.contains(&of.node)
    }

    /// Both ways of something of which one says that an operation failed.
    pub(super) fn telling(&self, unit: &Arc<Unit>, id: Id, state: State, of: Try, holds_if_failed: bool) -> Outs {
        let _ = (unit, id);
        let ways = self.failures(state, of);
        self.limited(
            ways.into_iter().map(|(state, failed)| Out::value(state, Val::Bool(failed == holds_if_failed))).collect(),
        )
    }
}
