//! HTTP statuses, and what code asks of them: `status.is_server_error()`, `status == TOO_MANY_REQUESTS`, `code >= 500`,
//! `matches!(status, 429 | 503)`, `e.status().is_some_and(|status| status == 503)`.

mod set;
#[cfg(test)]
mod tests;

pub use set::Statuses;
use set::{FIRST, LAST};

use super::tree::{Arg, Id, Kind, Literal, Name, Op, Sym, Test, Unit};
use super::words::Words;
use super::words::loops::{Presence, has};
use super::words::values::Operation;
use crate::facts::Classes;

/// Questions within questions.
const DEEPEST: u32 = 16;

/// Statuses by their names in the registry, in letters only.
const NAMES: &[(&str, u16)] = &[
    ("ok", 200),
    ("created", 201),
    ("accepted", 202),
    ("nocontent", 204),
    ("partialcontent", 206),
    ("movedpermanently", 301),
    ("found", 302),
    ("seeother", 303),
    ("notmodified", 304),
    ("temporaryredirect", 307),
    ("permanentredirect", 308),
    ("badrequest", 400),
    ("unauthorized", 401),
    ("paymentrequired", 402),
    ("forbidden", 403),
    ("notfound", 404),
    ("methodnotallowed", 405),
    ("notacceptable", 406),
    ("requesttimeout", 408),
    ("conflict", 409),
    ("gone", 410),
    ("preconditionfailed", 412),
    ("payloadtoolarge", 413),
    ("misdirectedrequest", 421),
    ("unprocessableentity", 422),
    ("locked", 423),
    ("faileddependency", 424),
    ("tooearly", 425),
    ("preconditionrequired", 428),
    ("toomanyrequests", 429),
    ("internalservererror", 500),
    ("notimplemented", 501),
    ("badgateway", 502),
    ("serviceunavailable", 503),
    ("gatewaytimeout", 504),
    ("insufficientstorage", 507),
];

/// The status that a constant stands for. Of names that mean other things as well (`Accepted`), the path must speak of statuses.
fn named(words: &Words, name: &Name) -> Option<u16> {
    let path = name.best();
    let last = name.last();
    let small: String = last.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
    let short = small.strip_prefix("status").unwrap_or(&small);
    let (_, status) = NAMES.iter().find(|(known, _)| *known == short)?;
    let speaks = path.to_ascii_lowercase().contains("status") || words.loops.failures.of_path(path).is_some();
    speaks.then_some(*status)
}

/// What a condition asks of a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Of what.
    pub of: Id,
    /// For which statuses it holds.
    pub for_: Statuses,
    /// Whether it holds where there is no status at all: of an error without an answer.
    pub without_one: bool,
}

impl Asked {
    /// The failures that it holds for, as far as one status of a class is enough.
    pub fn classes(&self) -> Classes {
        self.for_.classes().or(self.unanswered())
    }

    /// The classes that it holds for whatever the status.
    pub fn whole_classes(&self) -> Classes {
        let others = Statuses::failed().without(self.for_).classes();
        self.classes().without(others)
    }

    /// What fails without a status, if it holds for that.
    fn unanswered(&self) -> Classes {
        if self.without_one { Classes::ALL.without(Statuses::failed().classes()) } else { Classes::NONE }
    }

    /// The same question with the other answer.
    pub fn denied(self) -> Asked {
        Asked { for_: Statuses::all().without(self.for_), without_one: !self.without_one, ..self }
    }
}

/// What a condition asks of a status; none if it asks for anything else.
pub fn asked(unit: &Unit, words: &Words, id: Id) -> Option<Asked> {
    Reader { unit, words, given: None }.asked(id, DEEPEST)
}

/// The statuses that the values of a pattern stand for, where what is compared with them is a status.
pub fn pattern(unit: &Unit, words: &Words, on: Option<Id>, values: &[Id]) -> Option<Statuses> {
    let reader = Reader { unit, words, given: None };
    let is_status = on.is_some_and(|on| reader.is_status(on, DEEPEST));
    reader.values(values, is_status)
}

struct Reader<'u> {
    unit: &'u Unit,
    words: &'u Words,
    /// The argument of a closure that is given a status.
    given: Option<&'u Sym>,
}

impl<'u> Reader<'u> {
    fn asked(&self, id: Id, depth: u32) -> Option<Asked> {
        let depth = depth.checked_sub(1)?;
        let unit = self.unit;
        match unit.kind(id) {
            Kind::Block(statements) => match statements.as_slice() {
                [only] => self.asked(*only, depth),
                _ => None,
            },
            Kind::Method { on, name, args, .. } => self.by_method(*on, name, args, depth),
            Kind::Operator { op: Op::Not, of } => self.asked(*of.first()?, depth).map(Asked::denied),
            Kind::Operator { op: op @ (Op::And | Op::Or), of } => {
                let mut parts = of.iter().map(|part| self.asked(*part, depth));
                let first = parts.next()??;
                parts.try_fold(first, |all, part| {
                    let part = part?;
                    Some(match op {
                        Op::Or => Asked {
                            for_: all.for_.or(part.for_),
                            without_one: all.without_one || part.without_one,
                            ..all
                        },
                        _ => Asked {
                            for_: all.for_.and(part.for_),
                            without_one: all.without_one && part.without_one,
                            ..all
                        },
                    })
                })
            }
            Kind::Operator { op, of } => match of.as_slice() {
                [a, b] => self.compared(*op, *a, *b, depth).or_else(|| self.compared(turned(*op)?, *b, *a, depth)),
                _ => None,
            },
            // `matches!(status, 429 | 503)` as a value.
            Kind::Branch { on: Some(on), arms } => {
                let is_status = self.is_status(*on, depth);
                let mut for_ = Statuses::NONE;
                let mut rest = Statuses::all();
                for arm in arms.iter() {
                    let Kind::Literal(Literal::Bool(holds)) = unit.kind(arm.body) else { return None };
                    let takes = match &arm.test {
                        Test::Equals(values) => self.values(values, is_status)?,
                        Test::Otherwise { .. } => Statuses::all(),
                        _ => return None,
                    };
                    if arm.guard.is_some() {
                        return None;
                    }
                    if *holds {
                        for_ = for_.or(rest.and(takes));
                    }
                    rest = rest.without(takes);
                }
                (rest.is_empty() && is_status).then_some(Asked { of: *on, for_, without_one: false })
            }
            _ => None,
        }
    }

    fn by_method(&self, on: Id, name: &Sym, args: &'u [Arg], depth: u32) -> Option<Asked> {
        let words = &self.words.loops;
        let about = |of: Id, for_: Statuses| Asked { of, for_, without_one: false };
        if let Some(range) = words.status_tests.get(name) {
            return self.is_status(on, depth).then(|| about(on, range.statuses()));
        }
        if words.memberships.iter().any(|one| **one == **name) {
            let [arg] = args else { return None };
            let for_ = match self.unit.kind(on) {
                Kind::List(values) => self.values(values, true)?,
                _ => self.constant(on, true)?,
            };
            return self.is_status(arg.value, depth).then(|| about(arg.value, for_));
        }
        // `e.status().is_some_and(|status| …)`, `.map(|status| …).unwrap_or(false)`, `.map_or(true, |status| …)`.
        let literal = |arg: &Arg| match self.unit.kind(arg.value) {
            Kind::Literal(Literal::Bool(is)) => Some(*is),
            _ => None,
        };
        match (words.optional_tests.get(name), self.words.values.methods.get(name), args) {
            (Some(without_one), _, [test]) => {
                let asked = self.within(on, test, depth)?;
                Some(Asked { without_one: without_one == Presence::Optional, ..asked })
            }
            (_, Some(Operation::Apply), [test]) => self.within(on, test, depth),
            (_, Some(Operation::ApplyOr), [absent, test]) => {
                Some(Asked { without_one: literal(absent)?, ..self.within(on, test, depth)? })
            }
            (_, Some(Operation::Fallback), [absent]) => {
                Some(Asked { without_one: literal(absent)?, ..self.asked(on, depth)? })
            }
            (_, Some(Operation::FallbackDefault), []) => Some(Asked { without_one: false, ..self.asked(on, depth)? }),
            _ => None,
        }
    }

    /// What a closure asks of the status that it is given.
    fn within(&self, on: Id, test: &'u Arg, depth: u32) -> Option<Asked> {
        let Kind::Closure { params, body, .. } = self.unit.kind(test.value) else { return None };
        let [param] = params.as_slice() else { return None };
        if !self.is_status(on, depth) {
            return None;
        }
        let inner = Reader { given: Some(param), ..*self };
        Some(Asked { of: on, ..inner.asked(*body, depth)? })
    }

    /// `status == 503`, `status.as_u16() >= 500`, `status / 100 == 5`.
    fn compared(&self, op: Op, value: Id, with: Id, depth: u32) -> Option<Asked> {
        let about = |of: Id, for_: Statuses| Some(Asked { of, for_, without_one: op == Op::Ne });
        if let Kind::Operator { op: Op::Div, of } = self.unit.kind(value)
            && let [status, hundred] = of.as_slice()
            && self.number(*hundred) == Some(100)
            && self.is_status(*status, depth)
        {
            let digit = self.number(with).filter(|digit| (1..=5).contains(digit))?;
            let from = digit * 100;
            return match op {
                Op::Eq => about(*status, Statuses::between(from, from + 99)),
                Op::Ne => about(*status, Statuses::all().without(Statuses::between(from, from + 99))),
                Op::Ge => about(*status, Statuses::between(from, LAST)),
                Op::Gt => about(*status, Statuses::between(from + 100, LAST)),
                Op::Lt => about(*status, Statuses::between(FIRST, from - 1)),
                Op::Le => about(*status, Statuses::between(FIRST, from + 99)),
                _ => None,
            };
        }
        let is_status = self.is_status(value, depth);
        if let (Op::Eq | Op::Ne, Some(these)) = (op, self.constant(with, is_status)) {
            return about(value, if op == Op::Eq { these } else { Statuses::all().without(these) });
        }
        let number = self.number(with).filter(|number| is_status && (200..=600).contains(number))?;
        match op {
            Op::Ge => about(value, Statuses::between(number, LAST)),
            Op::Gt => about(value, Statuses::between(number + 1, LAST)),
            Op::Lt => about(value, Statuses::between(FIRST, number - 1)),
            Op::Le => about(value, Statuses::between(FIRST, number)),
            _ => None,
        }
    }

    /// The statuses of several constants and ranges.
    fn values(&self, values: &[Id], is_status: bool) -> Option<Statuses> {
        if values.is_empty() {
            return None;
        }
        values.iter().try_fold(Statuses::NONE, |all, value| Some(all.or(self.constant(*value, is_status)?)))
    }

    /// The statuses that a constant stands for; a number is one where what it is compared with is a status.
    fn constant(&self, id: Id, is_status: bool) -> Option<Statuses> {
        match self.unit.kind(id) {
            Kind::Name(name) => named(self.words, name).map(Statuses::of),
            Kind::Literal(Literal::Int(..)) => {
                self.number(id).filter(|number| is_status && (200..=LAST).contains(number)).map(Statuses::of)
            }
            Kind::Range { from: Some(from), to, inclusive } if is_status => {
                let from = self.number(*from).filter(|from| (FIRST..=LAST).contains(from))?;
                let to = match to {
                    Some(to) => self.number(*to)?.checked_sub(u16::from(!inclusive))?,
                    None => LAST,
                };
                Some(Statuses::between(from, to))
            }
            // `StatusCode::OK.as_u16()`, `Some(503)`.
            Kind::Method { on, args, .. } if args.is_empty() => self.constant(*on, is_status),
            Kind::Call { of, args, .. } => match args.as_slice() {
                [only] if self.wraps(*of) => self.constant(only.value, is_status),
                _ => None,
            },
            _ => None,
        }
    }

    fn number(&self, id: Id) -> Option<u16> {
        match self.unit.kind(id) {
            Kind::Literal(Literal::Int(number, _)) => u16::try_from(*number).ok(),
            _ => None,
        }
    }

    fn wraps(&self, of: Id) -> bool {
        let functions = &self.words.values.functions;
        self.unit.callee(of).is_some_and(|name| functions.of_path(name.best()) == Some(Operation::Same))
    }

    /// Whether a node is the status of something, by what it is called.
    fn is_status(&self, id: Id, depth: u32) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let says = |name: &str| has(&self.words.loops.names.statuses, name);
        match self.unit.kind(id) {
            Kind::Name(name) => says(name.last()) || self.given.is_some_and(|given| *name.text == **given),
            Kind::Member { name, .. } => says(name),
            Kind::Method { on, name, args, .. } => args.is_empty() && (says(name) || self.is_status(*on, depth)),
            Kind::Call { of, args, .. } => match args.as_slice() {
                [only] => self.wraps(*of) && self.is_status(only.value, depth),
                _ => false,
            },
            _ => false,
        }
    }
}

/// The same comparison with its sides turned round.
fn turned(op: Op) -> Option<Op> {
    Some(match op {
        Op::Eq | Op::Ne => op,
        Op::Lt => Op::Gt,
        Op::Le => Op::Ge,
        Op::Gt => Op::Lt,
        Op::Ge => Op::Le,
        _ => return None,
    })
}
