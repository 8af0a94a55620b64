//! What a dry run knows of a value.

use std::rc::Rc;
use std::sync::Arc;

use super::number::Number;
use crate::facts::Why;
use crate::read::code::tree::{Id, Name, Sym, Unit};
use crate::source::Span;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Val {
    /// A number or length of time.
    Number(Rc<Number>),
    /// A truth value.
    Bool(bool),
    /// A text.
    Text(Sym),
    /// Nothing.
    Unit,
    /// `None`, `null`.
    Absent,
    /// Something that may be absent and is not.
    Present(Rc<Val>),
    /// A result that is made here: it worked.
    Good(Rc<Val>),
    /// A result that is made here: it failed.
    Bad(Rc<Val>),
    /// Several values.
    List(Rc<Vec<Val>>),
    /// Numbers at equal distances: a range, the same value again and again.
    Series(Rc<Series>),
    /// Something with fields, or a variant with values, which are its fields `0`, `1` …
    Record(Rc<Record>),
    /// What something gave that was called: an operation that may have failed.
    Try(Try),
    /// The optional value of one.
    Option(Try),
    /// A point in time; how far it is from the one at which the run begins, if that is known.
    Moment(Option<Rc<Number>>),
    /// Something that waits as soon as it is awaited.
    Pause(Rc<Pause>),
    /// A closure, or a block to be awaited.
    Closure(Code),
    /// Not known.
    Unknown(Unknown),
}

/// Numbers at equal distances.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The first.
    pub first: Val,
    /// How far the next one is.
    pub step: f64,
    /// How many there are: a number, or why that is not known; none without end.
    pub len: Option<Val>,
    /// The end of a range as written, whether or not it is in it.
    pub to: Option<Val>,
}

/// Something with fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its type or variant.
    pub of: Option<Type>,
    /// Its fields.
    pub fields: Vec<(Sym, Val)>,
}

/// The type or variant of something, as it is called where that is made.
#[derive(Clone, Debug)]
pub struct Type {
    /// Its name.
    pub name: Name,
    /// Where that name is written: `crate::` is the package of this unit.
    pub unit: Arc<Unit>,
}

impl PartialEq for Type {
    fn eq(&self, other: &Type) -> bool {
        self.name == other.name
    }
}

/// What an operation gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Try {
    /// Which of all that were made in the run.
    pub serial: u32,
    /// The call. In functions that were followed it is the call that was followed.
    pub node: Id,
    /// The operation at the heart of it: of `wrap(op())` it is `op()`.
    pub heart: Id,
    /// What it comes from, where that says more than that it was called.
    pub from: Origins,
    /// Whether it was awaited.
    pub is_awaited: bool,
}

/// Something that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Pause {
    /// The call.
    pub node: Id,
    /// For how long.
    pub delay: Val,
}

/// Code that may be run later.
#[derive(Clone, Debug)]
pub struct Code {
    /// Where it stands.
    pub unit: Arc<Unit>,
    /// The closure.
    pub id: Id,
    /// Whether it is awaited, not called.
    pub is_async: bool,
    /// What it gives, where it does nothing but hand on what was there before.
    pub gives: Option<Try>,
}

impl PartialEq for Code {
    fn eq(&self, other: &Code) -> bool {
        self.id == other.id && Arc::ptr_eq(&self.unit, &other.unit)
    }
}

/// A value that is not known, and what it comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Unknown {
    /// What it comes from.
    pub from: Origins,
    /// Why it is not known.
    pub why: Option<Rc<(Why, Span)>>,
    /// Where time is compared: with what.
    pub limit: Option<Rc<Number>>,
    /// The operation whose answer or error it comes from.
    pub heart: Option<Id>,
    /// What would come out if it were the pass that is at hand that counts.
    pub hint: Option<bool>,
}

/// What an unknown value comes from: a set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origins(u16);

impl Origins {
    /// Nothing in particular.
    pub const NOTHING: Origins = Origins(0);
    /// The error of an operation.
    pub const ERROR: Origins = Origins(1);
    /// The answer of an operation.
    pub const ANSWER: Origins = Origins(2);
    /// The clock.
    pub const CLOCK: Origins = Origins(4);
    /// A number that changes from pass to pass.
    pub const COUNT: Origins = Origins(8);
    /// Something that says how long to wait, or whether to go on: `backoff`, `retry_policy`.
    pub const SCHEDULE: Origins = Origins(16);
    /// Something that says that somebody wants it to end.
    pub const CANCEL: Origins = Origins(32);
    /// A call that was not followed.
    pub const CALL: Origins = Origins(64);
    /// A number from outside: an argument, a setting.
    pub const OUTSIDE: Origins = Origins(128);
    /// One of a list whose length is not known.
    pub const ITEM: Origins = Origins(256);
    /// What an operation gave that took a number that changes from pass to pass.
    pub const MADE_OF_COUNT: Origins = Origins(512);
    /// What a function gave that was handed over to what is followed.
    pub const GIVEN: Origins = Origins(1024);

    /// What an operation gave that took one of a list: another target each time.
    pub const MADE_OF_ITEM: Origins = Origins(2048);
    /// What a call gave that was told, besides other things, how an operation failed.
    pub const TOLD: Origins = Origins(4096);

    /// Both.
    pub fn and(self, other: Origins) -> Origins {
        Origins(self.0 | other.0)
    }

    /// Those that are in both.
    pub fn only(self, other: Origins) -> Origins {
        Origins(self.0 & other.0)
    }

    /// Whether it has any of these.
    pub fn has(self, any: Origins) -> bool {
        self.0 & any.0 != 0
    }
}

impl Unknown {
    /// From this alone.
    pub fn of(from: Origins) -> Unknown {
        Unknown { from, ..Unknown::default() }
    }

    /// What comes out of two values, one of them at least unknown.
    pub fn and(&self, other: &Unknown) -> Unknown {
        Unknown {
            from: self.from.and(other.from),
            why: self.why.clone().or_else(|| other.why.clone()),
            limit: self.limit.clone().or_else(|| other.limit.clone()),
            heart: self.heart.or(other.heart),
            hint: None,
        }
    }
}

impl Val {
    /// Not known, from this.
    pub fn from(from: Origins) -> Val {
        Val::Unknown(Unknown::of(from))
    }

    /// Not known at all.
    pub fn unknown() -> Val {
        Val::from(Origins::NOTHING)
    }

    /// A number.
    pub fn number(number: Number) -> Val {
        Val::Number(Rc::new(number))
    }

    /// As a number, if it is known.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Val::Number(number) => Some(number),
            Val::Present(inner) | Val::Good(inner) => inner.as_number(),
            _ => None,
        }
    }

    /// What it comes from, as far as that matters for whatever is made of it.
    pub fn origin(&self) -> Unknown {
        match self {
            Val::Unknown(unknown) => unknown.clone(),
            Val::Number(number) if number.varies => Unknown::of(Origins::COUNT),
            Val::Try(one) | Val::Option(one) => {
                Unknown { heart: Some(one.heart), ..Unknown::of(Origins::CALL.and(one.from)) }
            }
            Val::Moment(_) => Unknown::of(Origins::CLOCK),
            Val::Present(inner) | Val::Good(inner) | Val::Bad(inner) => inner.origin(),
            Val::List(items) => all(items.iter()),
            Val::Record(record) => all(record.fields.iter().map(|(_, value)| value)),
            _ => Unknown::default(),
        }
    }

    /// The operation that it is the result of.
    pub fn tried(&self) -> Option<Try> {
        match self {
            Val::Try(one) | Val::Option(one) => Some(*one),
            Val::Present(inner) | Val::Good(inner) | Val::Bad(inner) => inner.tried(),
            Val::List(items) => items.iter().find_map(Val::tried),
            _ => None,
        }
    }
}

fn all<'a>(values: impl Iterator<Item = &'a Val>) -> Unknown {
    values.take(16).fold(Unknown::default(), |all, one| all.and(&one.origin()))
}

impl Series {
    /// The element at a place, from 0, whether or not there are so many.
    pub fn at(&self, place: f64) -> Val {
        match &self.first {
            Val::Number(first) => {
                let shift = place * self.step;
                Val::number(Number { varies: self.step != 0.0 || first.varies, ..first.each(|value| value + shift) })
            }
            other => other.clone(),
        }
    }

    /// How many there are, if that is known.
    pub fn known_len(&self) -> Option<f64> {
        self.len.as_ref()?.as_number()?.exact()
    }
}

impl Record {
    /// A field.
    pub fn field(&self, name: &str) -> Option<&Val> {
        self.fields.iter().find(|(field, _)| **field == *name).map(|(_, value)| value)
    }

    /// The last part of the name of its type or variant.
    pub fn last(&self) -> &str {
        self.of.as_ref().map_or("", |of| of.name.last())
    }
}
