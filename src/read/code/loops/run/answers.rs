//! Statuses of answers: what a question about one tells of the operation that gave the answer. On each way is known which
//! statuses the answer may still have, so that the second question about it is asked of what the first one has left.

use std::sync::Arc;

use super::branch::is_error;
use super::value::{Try, Val};
use super::{Machine, Mode, Out, Outs, State, one};
use crate::read::code::statuses::{Asked, Statuses, asked};
use crate::read::code::tree::{Id, Unit};
use crate::read::code::words::loops::Outcome;

impl Machine<'_> {
    /// A condition that asks about a status; none if it asks for anything else.
    pub(super) fn status_condition(&self, unit: &Arc<Unit>, id: Id, state: &State) -> Option<Outs> {
        let asked = asked(unit, self.words, id)?;
        let outs = self.run(unit, asked.of, state.clone());
        Some(self.then(outs, |state, value| self.asked_status(unit, id, state, &value, &asked)))
    }

    fn asked_status(&self, unit: &Arc<Unit>, id: Id, state: State, value: &Val, asked: &Asked) -> Outs {
        // Of an error it tells the kind.
        if is_error(value) {
            return self.decided(unit, id, state, Val::Unknown(value.origin()));
        }
        match value {
            Val::Number(_) | Val::Bool(_) | Val::Text(_) | Val::List(_) => {
                self.decided(unit, id, state, Val::Unknown(value.origin()))
            }
            Val::Absent => one(state, Val::Bool(asked.without_one)),
            _ => {
                let of = self.told_of(unit, id, value);
                let ways = self.by_status(state, of, asked.for_).into_iter();
                self.limited(ways.map(|(state, holds)| Out::value(state, Val::Bool(holds))).collect())
            }
        }
    }

    /// The ways on which the status of what an operation gave is one of these, and those on which it is not.
    pub(super) fn by_status(&self, state: State, of: Try, these: Statuses) -> Vec<(State, bool)> {
        let known = state.log.outcome(of.heart);
        let sides = [(true, known.statuses.and(these)), (false, known.statuses.without(these))];
        let fails = |set: Statuses| set.outcome() == Some(Outcome::Failure);
        let fails_only = self.mode != Mode::Explore
            && self.is_op(of)
            && !self.is_beside(&state, of)
            && sides.iter().any(|(_, set)| fails(*set));
        let mut ways = Vec::with_capacity(2);
        for (holds, set) in sides {
            if set.is_empty() || fails_only && !fails(set) {
                continue;
            }
            let mut state = state.clone();
            state.log.know(super::state::Outcome { statuses: set, ..known });
            if let Some(outcome) = set.outcome() {
                let failed = outcome == Outcome::Failure;
                match state.failed(of) {
                    None => state.decide(of, failed),
                    Some(before) if before != failed => continue,
                    Some(_) => {}
                }
            }
            ways.push((state, holds));
        }
        ways
    }
}
