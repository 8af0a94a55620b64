//! HTTP statuses, and what code asks of them: `status.is_server_error()`, `status == TOO_MANY_REQUESTS`, `code >= 500`,
//! `matches!(status, 429 | 503)`, `e.status().is_some_and(|status| status == 503)`.

use super::tree::{Arg, Id, Kind, Literal, Name, Op, Sym, Test, Unit};
use super::words::Words;
use super::words::loops::{Outcome, Presence, StatusRange, has};
use super::words::values::Operation;
use crate::facts::{Class, Classes};

/// Questions within questions.
const DEEPEST: u32 = 16;

/// The first status there is.
const FIRST: u16 = 100;
/// The last one.
const LAST: u16 = 599;
/// The first that says that something failed (RFC 9110, section 15).
const FAILED: u16 = 400;

/// A set of HTTP statuses, 100 to 599.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statuses([u64; 8]);

impl Statuses {
    /// No status.
    pub const NONE: Statuses = Statuses([0; 8]);

    /// Every status.
    pub fn all() -> Statuses {
        Statuses::between(FIRST, LAST)
    }

    /// Every status that says that something failed.
    pub fn failed() -> Statuses {
        Statuses::between(FAILED, LAST)
    }

    /// From one to another, both included.
    pub fn between(from: u16, to: u16) -> Statuses {
        let mut set = [0; 8];
        for status in from.max(FIRST)..=to.min(LAST) {
            let at = usize::from(status - FIRST);
            if let Some(word) = set.get_mut(at / 64) {
                *word |= 1u64 << (at % 64);
            }
        }
        Statuses(set)
    }

    /// This one alone.
    pub fn of(status: u16) -> Statuses {
        Statuses::between(status, status)
    }

    /// Those in both.
    pub fn and(self, other: Statuses) -> Statuses {
        Statuses(std::array::from_fn(|at| self.word(at) & other.word(at)))
    }

    /// Those in either.
    pub fn or(self, other: Statuses) -> Statuses {
        Statuses(std::array::from_fn(|at| self.word(at) | other.word(at)))
    }

    /// Those that are not in the other.
    pub fn without(self, other: Statuses) -> Statuses {
        Statuses(std::array::from_fn(|at| self.word(at) & !other.word(at)))
    }

    fn word(self, at: usize) -> u64 {
        self.0.get(at).copied().unwrap_or_default()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self == Statuses::NONE
    }

    /// Whether a status is one of them.
    pub fn has(self, status: u16) -> bool {
        !self.and(Statuses::of(status)).is_empty()
    }

    /// What it says of an answer that its status is one of these: that it failed, where one of them does and the plainest
    /// success is none of them; that it worked, where none fails. What is not there yet, or wants another key, is in a state,
    /// and no failure, where nothing else is among them.
    pub fn outcome(self) -> Option<Outcome> {
        const OK: u16 = 200;
        let states = [401, 404, 407].map(Statuses::of).into_iter().fold(Statuses::NONE, Statuses::or);
        let failed = self.and(Statuses::failed());
        let fails = !failed.is_empty();
        if fails && failed.without(states).is_empty() {
            return None;
        }
        match fails {
            true if !self.has(OK) => Some(Outcome::Failure),
            false if !self.and(Statuses::between(OK, 299)).is_empty() => Some(Outcome::Success),
            _ => None,
        }
    }

    /// Whether it is whatever fails but for a few: most of the statuses of clients' errors, and most of servers'.
    pub fn is_most(self) -> bool {
        let count = |range: StatusRange| self.and(range.statuses()).0.iter().map(|word| word.count_ones()).sum::<u32>();
        [StatusRange::ClientError, StatusRange::ServerError].into_iter().all(|range| count(range) > 50)
    }

    /// The failure classes of those that say that something failed.
    pub fn classes(self) -> Classes {
        let mut classes = Classes::NONE;
        for status in (FAILED..=LAST).filter(|status| self.has(*status)) {
            if let Some(class) = Class::of_status(status) {
                classes.insert(class);
            }
        }
        classes
    }
}

impl StatusRange {
    /// The statuses in it.
    pub fn statuses(self) -> Statuses {
        let from = match self {
            StatusRange::Informational => 100,
            StatusRange::Success => 200,
            StatusRange::Redirection => 300,
            StatusRange::ClientError => 400,
            StatusRange::ServerError => 500,
        };
        Statuses::between(from, from + 99)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::code::fixture;

    /// What the condition of the only `if` of a function asks: statuses at the edges of what it holds for, and whether it holds
    /// without one.
    fn ask(condition: &str) -> Option<(String, bool)> {
        let unit = fixture::unit(&format!("fn f() {{ if {condition} {{ g(); }} }}"));
        let condition = unit.ids().find_map(|(_, node)| match &node.kind {
            Kind::Branch { arms, .. } => match arms.first()?.test {
                Test::Holds(condition) => Some(condition),
                _ => None,
            },
            _ => None,
        })?;
        let asked = asked(&unit, Words::of("rust"), condition)?;
        let mut ranges: Vec<(u16, u16)> = Vec::new();
        for status in (FIRST..=LAST).filter(|status| asked.for_.has(*status)) {
            match ranges.last_mut() {
                Some(last) if last.1 + 1 == status => last.1 = status,
                _ => ranges.push((status, status)),
            }
        }
        let shown = |(from, to): &(u16, u16)| if from == to { from.to_string() } else { format!("{from}-{to}") };
        Some((ranges.iter().map(shown).collect::<Vec<_>>().join(" "), asked.without_one))
    }

    #[test]
    fn questions_about_a_status_are_sets_of_statuses() {
        for (condition, statuses) in [
            ("status.is_server_error()", "500-599"),
            ("!r.status().is_success()", "100-199 300-599"),
            ("r.status() == StatusCode::TOO_MANY_REQUESTS", "429"),
            ("reqwest::StatusCode::OK != r.status()", "100-199 201-599"),
            ("r.status() == 503", "503"),
            ("r.status().as_u16() >= 500", "500-599"),
            ("400 <= status && status < 500", "400-499"),
            ("u16::from(r.status()) > 499", "500-599"),
            ("r.status.as_u16() / 100 == 5", "500-599"),
            ("status / 100 != 2", "100-199 300-599"),
            ("[429, 503].contains(&r.status().as_u16())", "429 503"),
            ("(500..600).contains(&status)", "500-599"),
            ("(500..=503).contains(&code)", "500-503"),
            ("r.status() == StatusCode::BAD_GATEWAY || status.as_u16() == 504", "502 504"),
        ] {
            assert_eq!(ask(condition).map(|(found, _)| found).as_deref(), Some(statuses), "{condition}");
        }
    }

    #[test]
    fn errors_without_an_answer_have_no_status() {
        for (condition, statuses, without_one) in [
            ("e.status().is_some_and(|s| s.is_server_error())", "500-599", false),
            ("e.status().is_none_or(|s| s == 429)", "429", true),
            ("e.status().map_or(true, |s| s.as_u16() >= 500)", "500-599", true),
            ("e.status().map(|s| s.is_client_error()).unwrap_or(false)", "400-499", false),
            ("e.status() == Some(StatusCode::SERVICE_UNAVAILABLE)", "503", false),
            ("e.status() != Some(StatusCode::NOT_FOUND)", "100-403 405-599", true),
        ] {
            assert_eq!(ask(condition), Some((statuses.to_owned(), without_one)), "{condition}");
        }
    }

    #[test]
    fn other_numbers_are_no_statuses() {
        for condition in [
            "r.len() == 503",
            "r.content_length() >= 500",
            "child.exit_code() == 1",
            "state == State::Accepted",
            "kind == ErrorKind::NotFound",
            "items.contains(&503)",
            "codes.contains(&r.status())",
            "e.status().is_some_and(|s| s.is_odd())",
            "r.is_success()",
        ] {
            assert_eq!(ask(condition), None, "{condition}");
        }
    }

    #[test]
    fn a_set_tells_how_it_went_where_it_can() {
        let server = Statuses::between(500, 599);
        assert_eq!(server.outcome(), Some(Outcome::Failure));
        assert_eq!(Statuses::all().without(server).outcome(), None);
        assert_eq!(Statuses::between(200, 299).outcome(), Some(Outcome::Success));
        assert_eq!(Statuses::all().without(Statuses::between(200, 299)).outcome(), Some(Outcome::Failure));
        assert_eq!(Statuses::all().without(Statuses::of(404)).outcome(), None);
        assert_eq!(Statuses::between(300, 399).outcome(), None);
        assert_eq!(Statuses::of(404).outcome(), None);
        assert_eq!(Statuses::of(401).or(Statuses::of(407)).outcome(), None);
        assert_eq!(Statuses::of(404).or(Statuses::of(503)).outcome(), Some(Outcome::Failure));
        assert_eq!(
            Statuses::of(429).or(Statuses::of(503)).classes(),
            Classes::of(&[Class::RateLimited, Class::Overload])
        );
        assert!(Statuses::failed().without(Statuses::of(404)).is_most());
        assert!(!server.or(Statuses::of(429)).is_most());
    }
}
