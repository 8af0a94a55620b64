//! What decides which failures are retried: a predicate of the library, a list of statuses, a function of the user's own that
//! asks what the language's words know.

use std::sync::Arc;

use super::super::format::Target;
use super::Engine;
use super::spot::Spot;
use super::state::{Got, Said};
use crate::facts::{Class, Classes, Value, Why};
use crate::read::code::project::Project;
use crate::read::code::statuses;
use crate::read::code::tree::{Arm, Id, Kind, Literal, Name, Op, Test, Unit};
use crate::read::code::values::{Known, Traced};
use crate::read::code::words::Words;
use crate::read::code::words::values::Operation;

/// Questions within questions.
const DEEPEST: u32 = 32;

impl Engine<'_> {
    /// The failures that a predicate holds for.
    pub(super) fn predicate(&self, place: &Spot, depth: u32) -> Said {
        let here = vec![place.span()];
        if let Some(said) = self.described(place, depth + 1).and_then(|state| state.get(Target::Predicate).cloned()) {
            // Named in code, although its classes are the library's.
            return Said { spans: here, ..said };
        }
        let traced = self.trace(place);
        let statuses = match &traced.value {
            Value::Known(Known::List(items)) => items.iter().map(class).collect::<Option<Vec<Class>>>(),
            Value::Known(Known::Int(_) | Known::Text(_)) => class(&traced).map(|class| vec![class]),
            _ => None,
        };
        if let Some(statuses) = statuses {
            let classes = Classes::of(&statuses);
            return Said::written(Got::Classes(classes, classes), traced.spans);
        }
        let definition = self.definition(place);
        let why = match definition.kind() {
            Kind::Closure { body, .. } | Kind::Function { body: Some(body), .. } => {
                let words = Words::of(definition.unit.language);
                let asked = Asked { project: self.project, unit: &definition.unit, words };
                if let Some(classes) = asked.holds(*body, DEEPEST) {
                    // What holds for everything names nothing.
                    let named = if classes == Classes::ALL { Classes::NONE } else { classes };
                    return Said::written(Got::Classes(classes, named), here);
                }
                "decided by a function of its own"
            }
            _ => "decided by something that is not followed",
        };
        Said::unknown(Why::Other(why.into()), here)
    }
}

/// The class of a status, or of its name.
fn class(value: &Traced) -> Option<Class> {
    match &value.value {
        Value::Known(Known::Int(status)) => Class::of_status(u16::try_from(*status).ok()?),
        Value::Known(Known::Text(text)) => Class::parse(text),
        _ => None,
    }
}

/// Questions about a failure, in a function that gives back whether it is tried again.
struct Asked<'u> {
    project: &'u Project,
    unit: &'u Arc<Unit>,
    words: &'u Words,
}

impl Asked<'_> {
    /// The failures for which a condition holds, exactly; none if it asks anything that is not known.
    fn holds(&self, id: Id, depth: u32) -> Option<Classes> {
        let depth = depth.checked_sub(1)?;
        let not = |classes: Classes| Classes::ALL.without(classes);
        if let Some(asked) = statuses::asked(self.unit, self.words, id) {
            return Some(asked.classes());
        }
        match self.unit.kind(id) {
            Kind::Literal(Literal::Bool(is)) => Some(if *is { Classes::ALL } else { Classes::NONE }),
            Kind::Block(statements) => match statements.as_slice() {
                [only] => self.holds(*only, depth),
                _ => None,
            },
            Kind::Method { name, .. } => {
                self.words.loops.error_tests.get(name).map(|group| Classes::of(group.classes()))
            }
            // Another function of the project's own.
            Kind::Call { of, .. } => {
                let full = self.unit.callee(*of)?.full.as_deref().filter(|full| full.starts_with("crate::"))?;
                let called = self.project.item(self.unit, full)?;
                match called.kind() {
                    Kind::Function { body: Some(body), .. } => {
                        Asked { unit: &called.unit, ..*self }.holds(*body, depth)
                    }
                    _ => None,
                }
            }
            Kind::Operator { op, of } => {
                let mut all = of.iter().map(|one| self.holds(*one, depth));
                match op {
                    Op::Or => all.try_fold(Classes::NONE, |known, one| Some(known.or(one?))),
                    Op::And => all.try_fold(Classes::ALL, |known, one| Some(known.and(one?))),
                    Op::Not => all.next()?.map(not),
                    Op::Eq => self.equal(of),
                    Op::Ne => self.equal(of).map(not),
                    _ => None,
                }
            }
            Kind::Branch { arms, .. } => {
                let mut rest = Classes::ALL;
                let mut all = Classes::NONE;
                for arm in arms {
                    let taken = self.taken(arm, depth)?.and(rest);
                    all = all.or(self.holds(arm.body, depth)?.and(taken));
                    rest = rest.without(taken);
                }
                // A way without a value would be no condition.
                rest.is_empty().then_some(all)
            }
            _ => None,
        }
    }

    /// The failures that an arm takes, of those that reach it.
    fn taken(&self, arm: &Arm, depth: u32) -> Option<Classes> {
        if arm.guard.is_some() {
            return None;
        }
        match &arm.test {
            Test::Otherwise { .. } => Some(Classes::ALL),
            Test::Holds(condition) => self.holds(*condition, depth),
            Test::Failure { kinds, .. } | Test::Is { kinds, .. } if !kinds.is_empty() => {
                kinds.iter().try_fold(Classes::NONE, |known, kind| Some(known.or(self.named(kind)?)))
            }
            Test::Failure { .. } => Some(Classes::ALL),
            Test::Equals(values) => {
                values.iter().try_fold(Classes::NONE, |known, value| Some(known.or(self.constant(*value)?)))
            }
            Test::Is { .. } | Test::Success { .. } => None,
        }
    }

    /// The class that one side of a comparison names.
    fn equal(&self, of: &[Id]) -> Option<Classes> {
        of.iter().find_map(|side| self.constant(*side))
    }

    fn constant(&self, id: Id) -> Option<Classes> {
        match self.unit.kind(id) {
            Kind::Name(name) => self.named(name),
            Kind::Literal(Literal::Int(status, _)) => {
                Some(Classes::of(&[Class::of_status(u16::try_from(*status).ok()?)?]))
            }
            // Wrapped: there may be none.
            Kind::Call { of, args, .. } => match args.as_slice() {
                [only] if self.unit.callee(*of).is_some_and(|name| self.wraps(name)) => {
                    match self.unit.kind(only.value) {
                        Kind::Name(name) => self.named(name),
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn wraps(&self, name: &Name) -> bool {
        let functions = &self.words.values.functions;
        functions.of_path(name.best()) == Some(Operation::Same)
    }

    fn named(&self, name: &Name) -> Option<Classes> {
        Some(Classes::of(self.words.loops.failures.of_path(name.best())?.classes()))
    }
}
