//! Which failures are tried again: what a loop asks of an error before it goes on.

use super::Candidate;
use super::classify::Verdict;
use super::run::{Choice, End, Leaving, Origins};
use crate::facts::{Classes, Sourced};
use crate::read::code::statuses::Statuses;
use crate::read::code::tree::{Arm, Id, Kind, Test};

/// The failures that are tried again.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// All of them where nothing is asked; what is assumed where something is asked that cannot be read.
    pub retries_on: Sourced<Classes>,
    /// Those that are written one by one.
    pub named: Classes,
}

/// What one way asks.
#[derive(Clone, Copy)]
struct Asked {
    classes: Classes,
    named: Classes,
    /// What it would be if nothing were asked of an error.
    unasked: Classes,
    is_opaque: bool,
    at: Option<Id>,
}

impl Asked {
    /// Nothing is asked; these are tried again.
    fn nothing(classes: Classes) -> Asked {
        Asked { classes, named: Classes::NONE, unasked: classes, is_opaque: false, at: None }
    }
}

/// Reads what is asked of an error on the ways that go on.
pub fn read(candidate: &Candidate, verdict: &Verdict) -> Conditions {
    let going = verdict.ends.iter().filter(|end| end.how == Leaving::GoesOn);
    let tried = going.filter(|end| {
        verdict.ops.is_empty()
            || end.state.log.tries.iter().any(|tried| tried.failed && verdict.ops.contains(&tried.of.node))
    });
    let mut all: Option<Asked> = None;
    for end in tried {
        let mut asked = candidate.failed_by(verdict, end);
        if let Some(unread) = candidate.decided_by_the_error(verdict, end) {
            asked = Asked { is_opaque: true, at: asked.at.or(Some(unread)), ..asked };
        }
        if let Some(told) = decided_by_what_is_told(verdict, end) {
            asked = Asked { is_opaque: true, at: asked.at.or(Some(told)), ..asked };
        }
        all = Some(match all {
            None => asked,
            Some(before) => Asked {
                classes: before.classes.or(asked.classes),
                named: before.named.or(asked.named),
                unasked: before.unasked.or(asked.unasked),
                is_opaque: before.is_opaque || asked.is_opaque,
                at: before.at.or(asked.at),
            },
        });
    }
    let asked = all.unwrap_or(Asked { is_opaque: true, ..Asked::nothing(Classes::ALL) });
    let span = asked.at.map_or(candidate.span(), |node| candidate.unit.span(node));
    let retries_on =
        if asked.is_opaque { Sourced::written(Classes::ASSUMED, span) } else { Sourced::written(asked.classes, span) };
    // Where in the end everything is tried again, what was asked on the way there names nothing.
    let is_all = asked.unasked.without(asked.classes).is_empty();
    let named = if is_all { asked.named.without(asked.unasked) } else { asked.named };
    let named = if asked.is_opaque { Classes::NONE } else { named };
    Conditions { retries_on, named }
}

/// What was told how a try failed and let it go on, where it does not always: which failures those are is its own affair.
fn decided_by_what_is_told(verdict: &Verdict, end: &End) -> Option<Id> {
    let going = || verdict.ends.iter().filter(|end| end.how == Leaving::GoesOn);
    let goes_on = |node: Id, failed: bool| {
        going().any(|end| end.state.log.tries.iter().any(|one| one.of.node == node && one.failed == failed))
    };
    let choices = end.state.log.choices.iter().chain(&end.state.log.either);
    let chosen = choices.filter(|choice| choice.on.from.has(Origins::TOLD)).find(|choice| {
        !going().any(|end| end.state.log.choices.iter().any(|one| one.node == choice.node && one.way != choice.way))
    });
    let tries = end.state.log.tries.iter().filter(|tried| !verdict.ops.contains(&tried.of.node));
    let mut told = tries.filter(|tried| tried.of.from.has(Origins::TOLD));
    let decided = told.find(|tried| !goes_on(tried.of.node, !tried.failed)).map(|tried| tried.of.node);
    decided.or(chosen.map(|choice| choice.node))
}

impl Candidate<'_> {
    /// The failures by which a way goes on, as far as the operations themselves say: an answer fails by its status.
    fn failed_by(&self, verdict: &Verdict, end: &End) -> Asked {
        let failed = end.state.log.tries.iter().filter(|tried| tried.failed);
        let decisive = failed.filter(|tried| verdict.ops.is_empty() || verdict.ops.contains(&tried.of.node));
        let (mut by_status, mut by_error) = (None, None);
        for tried in decisive {
            let known = end.state.log.outcome(tried.of.heart);
            if known.statuses != Statuses::all() {
                by_status = by_status.or(Some((known.statuses, tried.of)));
                continue;
            }
            let possible = self.failures_of(&tried.of);
            let before = by_error.unwrap_or(Asked::nothing(Classes::NONE));
            by_error = Some(Asked {
                // What is asked for by name, it is taken to have.
                classes: before.classes.or(possible.or(known.named).and(known.failures)),
                named: before.named.or(known.named),
                unasked: before.unasked.or(possible),
                ..before
            });
        }
        let Some((set, of)) = by_status else { return by_error.unwrap_or(Asked::nothing(Classes::ALL)) };
        let classes = set.classes();
        // What is left where some are taken out names nothing.
        let is_named = !set.is_most();
        let named = if is_named { classes } else { Classes::NONE };
        Asked { classes, named, unasked: Classes::NONE, is_opaque: false, at: is_named.then_some(of.node) }
    }

    /// A question about an error that is not understood, and that decides whether the loop goes on.
    fn decided_by_the_error(&self, verdict: &Verdict, end: &End) -> Option<Id> {
        let unread = |choice: &&Choice| choice.on.from.has(Origins::ERROR) && !choice.is_read;
        let goes_on = |choice: &Choice, way: usize| {
            let mut going = verdict.ends.iter().filter(|end| end.how == Leaving::GoesOn);
            going.any(|end| end.state.log.choices.iter().any(|one| one.node == choice.node && one.way == way))
        };
        // A question both answers of which go on says nothing.
        let decides = |choice: &&Choice| match self.unit.kind(choice.node) {
            Kind::Branch { arms, .. } => match arms.get(choice.way) {
                Some(Arm { test: Test::Failure { kinds, .. }, .. }) if kinds.is_empty() => false,
                Some(Arm {
                    guard: Some(_),
                    test: Test::Otherwise { .. } | Test::Success { .. } | Test::Holds(_),
                    ..
                }) => false,
                Some(_) => !goes_on(choice, usize::MAX),
                None => !(0..arms.len()).any(|way| goes_on(choice, way)),
            },
            _ => !(goes_on(choice, 1) && goes_on(choice, 0)),
        };
        end.state.log.choices.iter().filter(unread).find(decides).map(|choice| choice.node)
    }
}
