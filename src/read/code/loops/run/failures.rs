//! Failures: what a question about an error tells of the operation that failed. On each way is known which failures are not ruled
//! out, whoever asks: the loop itself, or a function that it hands the error to.

use std::sync::Arc;

use super::state::Outcome;
use super::value::{Origins, Unknown};
use super::{Machine, State};
use crate::facts::{Class, Classes};
use crate::read::code::statuses::asked;
use crate::read::code::tree::{Arm, Id, Kind, Literal, Name, Op, Test, Unit};
use crate::read::code::words::loops::Group;

/// The failures that a question is answered yes for.
#[derive(Clone, Copy)]
struct Taken {
    /// The classes of them.
    some: Classes,
    /// Those classes of which there is none for which the answer is no.
    whole: Classes,
}

impl Taken {
    const NOTHING: Taken = Taken { some: Classes::NONE, whole: Classes::NONE };

    fn of(classes: Classes) -> Taken {
        Taken { some: classes, whole: classes }
    }

    fn or(self, other: Taken) -> Taken {
        Taken { some: self.some.or(other.some), whole: self.whole.or(other.whole) }
    }
}

impl Machine<'_> {
    /// Notes that something was decided without being known; see [`Choice`](super::Choice).
    pub(super) fn choose(&self, unit: &Arc<Unit>, state: &mut State, id: Id, way: usize, on: &Unknown) {
        let heart = on.heart.filter(|_| on.from.has(Origins::ERROR));
        let known = heart.and_then(|heart| self.narrowed(unit, state.log.outcome(heart), id, way));
        state.choose(id, way, on, known.is_some());
        if let Some(known) = known {
            state.log.know(known);
        }
    }

    /// What is known of a failure after a question about it; none if the question is not understood.
    fn narrowed(&self, unit: &Unit, known: Outcome, id: Id, way: usize) -> Option<Outcome> {
        let with = |taken: Taken| Outcome {
            failures: known.failures.and(taken.some),
            named: known.named.or(taken.some),
            ..known
        };
        let without = |taken: Taken| Outcome { failures: known.failures.without(taken.whole), ..known };
        match unit.kind(id) {
            Kind::Branch { arms, .. } => match arms.get(way) {
                Some(arm) => self.taken_by(unit, arm).map(with),
                // What the arms did not take: all but what they ask for.
                None => {
                    let unguarded = arms.iter().filter(|arm| arm.guard.is_none());
                    let taken: Option<Vec<Taken>> = unguarded.map(|arm| self.taken_by(unit, arm)).collect();
                    Some(without(taken?.into_iter().fold(Taken::NOTHING, Taken::or)))
                }
            },
            kind => {
                // `a != b` asks for all others.
                let asks_for = usize::from(!matches!(kind, Kind::Operator { op: Op::Ne, .. }));
                let taken = self.taken(unit, id)?;
                Some(if way == asks_for { with(taken) } else { without(taken) })
            }
        }
    }

    /// The failures that an arm takes, if it says which.
    fn taken_by(&self, unit: &Unit, arm: &Arm) -> Option<Taken> {
        match &arm.test {
            Test::Failure { kinds, .. } | Test::Is { kinds, .. } if !kinds.is_empty() => {
                self.classes_of_names(kinds).map(Taken::of)
            }
            Test::Equals(values) => {
                let all: Option<Vec<Taken>> = values.iter().map(|value| self.taken(unit, *value)).collect();
                all.map(|all| all.into_iter().fold(Taken::NOTHING, Taken::or))
            }
            _ => None,
        }
    }

    fn classes_of_names(&self, names: &[Name]) -> Option<Classes> {
        let each = names.iter().map(|name| self.words.loops.failures.of_path(name.best()));
        let groups: Option<Vec<Group>> = each.collect();
        Some(groups?.into_iter().map(classes).fold(Classes::NONE, Classes::or))
    }

    /// The failures that a condition or constant stands for, if it is known by name or number: of `a != b` those of `a == b`.
    fn taken(&self, unit: &Unit, node: Id) -> Option<Taken> {
        if let Some(asked) = asked(unit, self.words, node) {
            let is_denied = matches!(unit.kind(node), Kind::Operator { op: Op::Ne, .. });
            let asked = if is_denied { asked.denied() } else { asked };
            return Some(Taken { some: asked.classes(), whole: asked.whole_classes() });
        }
        self.classes_of(unit, node).map(Taken::of)
    }

    fn classes_of(&self, unit: &Unit, node: Id) -> Option<Classes> {
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
                _ => self.classes_of(unit, *id),
            }),
            _ => None,
        }
    }
}

fn classes(group: Group) -> Classes {
    Classes::of(group.classes())
}
