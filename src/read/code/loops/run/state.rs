//! One way through the code: what variables hold, what was decided, what happened.

use super::kept::Kept;
use super::value::{Origins, Record, Try, Unknown, Val};
use super::widen::joined;
use crate::facts::Classes;
use crate::read::code::statuses::Statuses;
use crate::read::code::tree::{Id, Sym};
use std::rc::Rc;

/// One way through the code.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Variables, innermost last.
    slots: Kept<Slot>,
    /// Where the variables of the function that is run begin.
    base: usize,
    /// Functions that are being run within each other.
    functions: usize,
    /// What was decided of operations: whether they failed.
    decided: Kept<(u32, bool)>,
    /// What happened in this pass.
    pub log: Log,
    /// Tries and waits of all passes; kept where tries are counted.
    pub steps: Kept<Step>,
    /// How often something was taken to be other than it is, to see what comes beyond the last pass.
    pub against: u32,
    /// The exit by which it left.
    pub exit: Option<Id>,
}

#[derive(Clone, Debug, PartialEq)]
struct Slot {
    name: Sym,
    value: Val,
}

/// What happened in one pass.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// Operations of which it was asked whether they worked.
    pub tries: Kept<Tried>,
    /// Waits at the loop's own level.
    pub waits: Kept<Waited>,
    /// A wait in a loop within: nobody knows how often, or how long in all.
    pub waits_within: Option<Id>,
    /// What is known of how operations went.
    pub outcomes: Kept<Outcome>,
    /// What was decided without being known.
    pub choices: Kept<Choice>,
    /// The same, of ways that came to the same and are one now: on one of them each of these was taken.
    pub either: Kept<Choice>,
    /// Where something was logged or counted.
    pub observed: Option<Id>,
    /// Whether the pass ended with a `continue`.
    pub continued: bool,
}

/// What is known of how an operation went: what is not ruled out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The operation, by the call at its heart.
    pub heart: Id,
    /// The statuses that its answer may have.
    pub statuses: Statuses,
    /// The failures that it may have had.
    pub failures: Classes,
    /// Those of them that were asked for by name.
    pub named: Classes,
}

impl Outcome {
    /// Nothing is known.
    fn any(heart: Id) -> Outcome {
        Outcome { heart, statuses: Statuses::all(), failures: Classes::ALL, named: Classes::NONE }
    }
}

impl Log {
    /// What is known of how an operation went.
    pub fn outcome(&self, heart: Id) -> Outcome {
        self.outcomes.iter().find(|one| one.heart == heart).copied().unwrap_or_else(|| Outcome::any(heart))
    }

    /// More is known of it.
    pub fn know(&mut self, outcome: Outcome) {
        let at = self.outcomes.iter().position(|one| one.heart == outcome.heart);
        match at.and_then(|at| self.outcomes.get_mut(at)) {
            Some(slot) => *slot = outcome,
            None => self.outcomes.push(outcome),
        }
    }

    /// An operation is called once more: nothing is known.
    pub fn forget(&mut self, heart: Id) {
        if self.outcomes.iter().any(|one| one.heart == heart) {
            self.outcomes.retain(|one| one.heart != heart);
        }
    }

    /// What is known on both of two ways.
    pub fn know_of_both(&mut self, other: &Log) {
        if self.outcomes == other.outcomes {
            return;
        }
        let both = |one: &Outcome| {
            let another = other.outcomes.iter().find(|another| another.heart == one.heart)?;
            Some(Outcome {
                heart: one.heart,
                statuses: one.statuses.or(another.statuses),
                failures: one.failures.or(another.failures),
                named: one.named.or(another.named),
            })
        };
        let both: Vec<Outcome> = self.outcomes.iter().filter_map(both).collect();
        *self.outcomes = both;
    }
}

/// An operation of which it was asked whether it worked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    /// The operation.
    pub of: Try,
    /// Whether it failed.
    pub failed: bool,
}

/// A wait.
#[derive(Clone, Debug, PartialEq)]
pub struct Waited {
    /// The call that waits; in the loop's own file.
    pub node: Id,
    /// For how long.
    pub delay: Val,
    /// Whether it blocks the thread.
    pub is_blocking: bool,
}

/// Something that could not be decided; the state goes one way.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The condition, or the branch.
    pub node: Id,
    /// Which way: of a condition 1 if it holds, of a branch the arm.
    pub way: usize,
    /// What it rests on.
    pub on: Unknown,
    /// Whether what it asks of a failure is part of what is known of the operation now.
    pub is_read: bool,
}

/// A try or a wait.
#[derive(Clone, Debug)]
pub enum Step {
    /// The operation is called.
    Try,
    /// A wait.
    Wait(Waited),
    /// A new pass begins.
    Pass,
}

impl State {
    /// Where variables stand now; see [`State::leave`].
    pub fn enter(&self) -> usize {
        self.slots.len()
    }

    /// Lets go of the variables that came since.
    pub fn leave(&mut self, depth: usize) {
        self.slots.truncate(depth);
    }

    /// A function begins: its variables alone are in sight. Gives what [`State::leave_function`] wants.
    pub fn enter_function(&mut self) -> (usize, usize) {
        let before = (self.base, self.slots.len());
        self.base = self.slots.len();
        self.functions += 1;
        before
    }

    /// It ends.
    pub fn leave_function(&mut self, before: (usize, usize)) {
        self.slots.truncate(before.1);
        self.base = before.0;
        self.functions = self.functions.saturating_sub(1);
    }

    /// Whether a function is being run that the loop calls.
    pub fn is_elsewhere(&self) -> bool {
        self.functions > 0
    }

    /// A new variable.
    pub fn bind(&mut self, name: &Sym, value: Val) {
        if self.slots.len() < 4096 {
            self.slots.push(Slot { name: Sym::clone(name), value });
        }
    }

    /// What a variable holds.
    pub fn get(&self, name: &str) -> Option<&Val> {
        self.slots.iter().skip(self.base).rev().find(|slot| *slot.name == *name).map(|slot| &slot.value)
    }

    /// Gives a variable a value; false if there is none of that name.
    pub fn set(&mut self, name: &str, value: Val) -> bool {
        let base = self.base;
        match self.slots.iter_mut().skip(base).rev().find(|slot| *slot.name == *name) {
            Some(slot) => {
                slot.value = value;
                true
            }
            None => false,
        }
    }

    /// Gives a field of a variable a value; false if that variable holds nothing with fields.
    pub fn set_field(&mut self, name: &str, path: &[Sym], value: Val) -> bool {
        let Some(Val::Record(record)) = self.get(name).cloned() else { return false };
        let Some(changed) = with_field(&record, path, value) else { return false };
        self.set(name, Val::Record(Rc::new(changed)))
    }

    /// Whether an operation failed, if that was decided.
    pub fn failed(&self, one: Try) -> Option<bool> {
        self.decided.iter().rev().find(|(serial, _)| *serial == one.serial).map(|(_, failed)| *failed)
    }

    /// Decides whether an operation failed.
    pub fn decide(&mut self, one: Try, failed: bool) {
        if self.decided.len() >= 64 {
            self.decided.drain(..32);
        }
        self.decided.push((one.serial, failed));
        self.log.tries.push(Tried { of: one, failed });
    }

    /// Notes that something was decided without being known.
    pub fn choose(&mut self, node: Id, way: usize, on: &Unknown, is_read: bool) {
        self.log.choices.push(Choice { node, way, on: on.clone(), is_read });
    }

    /// A new pass begins.
    pub fn begin_pass(&mut self) {
        self.log = Log::default();
        self.steps.push(Step::Pass);
    }

    /// What was asked since of operations that are forgotten: what comes of it rests on their answers.
    pub fn asked_since(&self, since: usize) -> Origins {
        let asked = self.log.tries.iter().skip(since).filter(|tried| !tried.of.from.has(Origins::GIVEN));
        let kept = Origins::TOLD.and(Origins::SCHEDULE).and(Origins::CANCEL);
        asked.fold(Origins::NOTHING, |all, tried| all.and(Origins::CALL).and(tried.of.from.only(kept)))
    }

    /// Forgets what was tried since, but for what was handed over.
    pub fn keep_given(&mut self, since: usize) {
        let given = |tried: &&Tried| tried.of.from.has(Origins::GIVEN);
        let kept: Vec<Tried> = self.log.tries.iter().skip(since).filter(given).copied().collect();
        self.log.tries.truncate(since);
        self.log.tries.extend(kept);
    }

    /// Forgets the waits among the steps that came since; tries are tries wherever they stand.
    pub fn keep_tries(&mut self, since: usize) {
        let tries = self.steps.iter().skip(since).filter(|step| matches!(step, Step::Try)).count();
        self.steps.truncate(since);
        self.steps.extend(std::iter::repeat_n(Step::Try, tries));
    }

    /// Whether two states go on alike: the same variables, tries and waits.
    pub fn is_like(&self, other: &State) -> bool {
        self.slots == other.slots
            && self.log.tries == other.log.tries
            && self.log.waits.len() == other.log.waits.len()
            && self.log.waits.iter().zip(&other.log.waits).all(|(a, b)| a.node == b.node)
            && self.log.observed.is_some() == other.log.observed.is_some()
    }

    /// Takes in a state in which the same was tried and waited for: of variables that differ nothing is known any more. False if
    /// the two do not go on from the same place.
    pub fn widen(&mut self, other: &State) -> bool {
        let is_one_place = self.base == other.base
            && self.functions == other.functions
            && self.exit == other.exit
            && self.slots.len() == other.slots.len()
            && self.slots.iter().zip(&other.slots).all(|(one, other)| one.name == other.name);
        let waits = |state: &State| state.log.waits.iter().map(|wait| wait.node).collect::<Vec<_>>();
        let tries = |state: &State| {
            state.log.tries.iter().map(|one| (one.of.node, one.of.from, one.failed)).collect::<Vec<_>>()
        };
        let is_one_story = tries(self) == tries(other)
            && waits(self) == waits(other)
            && self.log.continued == other.log.continued
            && self.steps.len() == other.steps.len();
        if !is_one_place || !is_one_story {
            return false;
        }
        for (slot, other) in self.slots.iter_mut().zip(&other.slots) {
            if slot.value != other.value {
                slot.value = joined(&slot.value, &other.value);
            }
        }
        self.decided.retain(|one| other.decided.contains(one));
        self.log.observed = self.log.observed.or(other.log.observed);
        self.merge(other);
        true
    }

    /// Whether two states begin the next pass alike.
    pub fn holds_the_same(&self, other: &State) -> bool {
        self.slots == other.slots
    }

    /// Of two states that go on alike, what can be said of both; what was chosen in one of them only is kept beside it.
    pub fn merge(&mut self, other: &State) {
        let (mine, theirs) = (&self.log.choices, &other.log.choices);
        let differ = |one: &&Choice| !(mine.contains(one) && theirs.contains(one));
        let either: Vec<Choice> = mine.iter().chain(theirs).filter(differ).chain(&other.log.either).cloned().collect();
        for one in either {
            if self.log.either.len() < 64 && !self.log.either.contains(&one) {
                self.log.either.push(one);
            }
        }
        self.log.choices.retain(|choice| other.log.choices.contains(choice));
        self.log.know_of_both(&other.log);
    }
}

/// A record with one field changed; fields of fields are gone down to.
fn with_field(record: &Record, path: &[Sym], value: Val) -> Option<Record> {
    let (first, rest) = path.split_first()?;
    let mut changed = record.clone();
    let at = changed.fields.iter().position(|(field, _)| field == first);
    let value = match (rest, at) {
        ([], _) => value,
        (rest, Some(at)) => match changed.fields.get(at) {
            Some((_, Val::Record(inner))) => Val::Record(Rc::new(with_field(inner, rest, value)?)),
            _ => return None,
        },
        (_, None) => return None,
    };
    match at.and_then(|at| changed.fields.get_mut(at)) {
        Some((_, field)) => *field = value,
        None => changed.fields.push((Sym::clone(first), value)),
    }
    Some(changed)
}
