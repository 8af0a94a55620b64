//! Exits by handing a failure on (`?`) out of what is done when a try has failed: whoever is asked there decides whether there is
//! another try.

use super::Candidate;
use super::run::{Choice, End, Origins, Unknown};
use crate::read::code::tree::{Exit, Id, Kind, Test};

impl Candidate<'_> {
    /// The calls that a way asked after a try had failed, and whose own failure would leave: `limit(n)?`. What is awaited is an
    /// operation of its own and decides nothing.
    pub(super) fn asked_after_failure(&self, end: &End, ops: &[Id]) -> Vec<Choice> {
        let tries = &end.state.log.tries;
        let failed = tries.iter().position(|tried| tried.failed && ops.contains(&tried.of.node));
        let Some(failed) = failed else { return Vec::new() };
        let behind = tries.iter().skip(failed + 1);
        let asked = behind.filter(|tried| !ops.contains(&tried.of.node) && self.is_handed_on(tried.of.node));
        let choices = asked.map(|tried| Choice {
            node: tried.of.node,
            way: usize::from(tried.failed),
            on: Unknown { from: tried.of.from.and(Origins::CALL), heart: Some(tried.of.heart), ..Unknown::default() },
            is_read: false,
        });
        choices.collect()
    }

    /// Whether a condition is whether a call failed that was given the failure of a try, and hands its own on: `classify(e)?`.
    /// What is asked of the failure itself (`e.into_transient()?`) is a look at its kind.
    pub(super) fn hands_failure_to_a_call(&self, node: Id) -> bool {
        let unit = self.unit;
        let Kind::Branch { on: Some(on), .. } = unit.kind(node) else { return false };
        if !self.is_question(node) {
            return false;
        }
        let mut id = *on;
        loop {
            match unit.kind(id) {
                Kind::Await(of) => id = *of,
                Kind::Method { on, name, .. } if self.words.loops.through.iter().any(|one| **one == **name) => id = *on,
                Kind::Method { args, .. } | Kind::Call { args, .. } => return !args.is_empty(),
                _ => return false,
            }
        }
    }

    /// Whether the result of a call, or of a question, is handed on where it failed, without being awaited.
    fn is_handed_on(&self, node: Id) -> bool {
        let unit = self.unit;
        if self.is_question(node) {
            return matches!(unit.kind(node), Kind::Branch { on: Some(on), .. } if !self.is_awaited(*on));
        }
        let mut inside = node;
        for around in unit.around(node) {
            match unit.kind(around) {
                Kind::Method { on, .. } if *on == inside => inside = around,
                Kind::Branch { on: Some(on), .. } if *on == inside => return self.is_question(around),
                _ => return false,
            }
        }
        false
    }

    fn is_awaited(&self, id: Id) -> bool {
        self.unit.below(id).any(|id| matches!(self.unit.kind(id), Kind::Await(_)))
    }

    /// Whether a branch hands a failure on: `?`.
    pub(super) fn is_question(&self, node: Id) -> bool {
        let Kind::Branch { arms, .. } = self.unit.kind(node) else { return false };
        arms.iter().any(|arm| {
            matches!(arm.test, Test::Failure { .. })
                && matches!(self.unit.kind(arm.body), Kind::Exit { how: Exit::Return, value: None, .. })
        })
    }
}
