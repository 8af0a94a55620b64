//! Which failures are tried again: what a loop asks of an error before it goes on.

use super::Candidate;
use super::classify::Verdict;
use super::run::{Choice, End, Leaving, Origins};
use crate::facts::{Class, Classes, Sourced};
use crate::read::code::tree::{Id, Kind, Literal, Name, Op, Test};
use crate::read::code::words::loops::Group;

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
    is_opaque: bool,
    at: Option<Id>,
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
        // An answer that failed by its status is of the class that the status says.
        let by_status = end
            .state
            .log
            .tries
            .iter()
            .filter(|tried| tried.failed)
            .find_map(|tried| candidate.status_asked(tried.of.node));
        let mut asked = Asked { classes: Classes::ALL, named: Classes::NONE, is_opaque: false, at: None };
        if let Some((classes, node)) = by_status {
            asked = Asked { classes, named: classes, is_opaque: false, at: Some(node) };
        }
        for choice in &end.state.log.choices {
            if choice.on.from.has(Origins::ERROR) {
                asked = candidate.narrowed(asked, choice, verdict);
            }
        }
        if let Some(told) = decided_by_what_is_told(verdict, end) {
            asked = Asked { is_opaque: true, at: asked.at.or(Some(told)), ..asked };
        }
        all = Some(match all {
            None => asked,
            Some(before) => Asked {
                classes: before.classes.or(asked.classes),
                named: before.named.or(asked.named),
                is_opaque: before.is_opaque || asked.is_opaque,
                at: before.at.or(asked.at),
            },
        });
    }
    let asked = all.unwrap_or(Asked { classes: Classes::ALL, named: Classes::NONE, is_opaque: true, at: None });
    let span = asked.at.map_or(candidate.span(), |node| candidate.unit.span(node));
    let retries_on =
        if asked.is_opaque { Sourced::written(Classes::ASSUMED, span) } else { Sourced::written(asked.classes, span) };
    let named = if asked.is_opaque { Classes::NONE } else { asked.named };
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
    /// The classes that a question about an answer's status stands for.
    fn status_asked(&self, node: Id) -> Option<(Classes, Id)> {
        let classes = self.classes_of(node)?;
        Some((classes, node))
    }

    fn narrowed(&self, asked: Asked, choice: &Choice, verdict: &Verdict) -> Asked {
        let unit = self.unit;
        // A question both answers of which go on says nothing.
        let both = |way: usize| {
            let mut going = verdict.ends.iter().filter(|end| end.how == Leaving::GoesOn);
            going.any(|end| end.state.log.choices.iter().any(|one| one.node == choice.node && one.way == way))
        };
        let opaque = Asked { is_opaque: true, at: asked.at.or(Some(choice.node)), ..asked };
        let with = |classes: Classes, at: Id| Asked {
            classes: asked.classes.and(classes),
            named: asked.named.or(classes),
            is_opaque: asked.is_opaque,
            at: asked.at.or(Some(at)),
        };
        match unit.kind(choice.node) {
            Kind::Branch { arms, .. } => {
                let Some(arm) = arms.get(choice.way) else {
                    // What the arms did not take: all but what they ask for.
                    return if (0..arms.len()).any(both) { asked } else { opaque };
                };
                if both(usize::MAX) && arm.guard.is_none() {
                    return asked;
                }
                match &arm.test {
                    Test::Failure { kinds, .. } | Test::Is { kinds, .. } if !kinds.is_empty() => {
                        match self.classes_of_names(kinds) {
                            Some(classes) => with(classes, choice.node),
                            None => opaque,
                        }
                    }
                    Test::Failure { .. } if arm.guard.is_none() => asked,
                    Test::Equals(values) => {
                        let all: Option<Vec<Classes>> = values.iter().map(|value| self.classes_of(*value)).collect();
                        match all {
                            Some(all) => with(all.into_iter().fold(Classes::NONE, Classes::or), choice.node),
                            None => opaque,
                        }
                    }
                    // A guard is a question of its own.
                    _ if arm.guard.is_some() => asked,
                    _ => opaque,
                }
            }
            _ => {
                if both(1) && both(0) {
                    return asked;
                }
                // `a != b` asks for all others.
                let asks_for = match unit.kind(choice.node) {
                    Kind::Operator { op: Op::Ne, .. } => 0,
                    _ => 1,
                };
                match (self.classes_of(choice.node), choice.way) {
                    (Some(classes), way) if way == asks_for => with(classes, choice.node),
                    (Some(classes), _) => {
                        Asked { classes: asked.classes.without(classes), at: asked.at.or(Some(choice.node)), ..asked }
                    }
                    (None, _) => opaque,
                }
            }
        }
    }

    fn classes_of_names(&self, names: &[Name]) -> Option<Classes> {
        let each = names.iter().map(|name| self.words.loops.failures.of_path(name.best()));
        let groups: Option<Vec<Group>> = each.collect();
        Some(groups?.into_iter().map(classes).fold(Classes::NONE, Classes::or))
    }

    /// The classes that a condition or constant stands for, if it is known by name or number.
    fn classes_of(&self, node: Id) -> Option<Classes> {
        let unit = self.unit;
        let words = &self.words.loops;
        match unit.kind(node) {
            Kind::Method { name, .. } => words.error_tests.get(name).map(classes),
            Kind::Name(name) => words.failures.of_path(name.best()).map(classes),
            Kind::Literal(Literal::Int(status, _)) => {
                let status = u16::try_from(*status).ok()?;
                Class::of_status(status).map(|class| Classes::of(&[class]))
            }
            Kind::Operator { op: Op::Eq | Op::Ne, of } => of.iter().find_map(|id| match unit.kind(*id) {
                Kind::Method { .. } => None,
                _ => self.classes_of(*id),
            }),
            _ => None,
        }
    }
}

fn classes(group: Group) -> Classes {
    Classes::of(group.classes())
}
