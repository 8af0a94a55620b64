//! Arithmetic, comparisons, ranges, and what functions known by name do to their arguments.

use std::sync::Arc;

use super::branch::is_error;
use super::number::{Chance, Number};
use super::value::{Origins, Series, Unknown, Val};
use super::{Compared, Machine, Outs, State, one, origins};
use crate::read::code::tree::{Id, Kind, Op, Sym, Unit};
use crate::read::code::words::values::{Operation, Random};
use crate::read::code::words::{entry, values};
use crate::source::Span;

impl Machine<'_> {
    /// An operator.
    pub(super) fn operator(&self, unit: &Arc<Unit>, id: Id, op: Op, of: &[Id], state: State) -> Outs {
        match op {
            Op::And | Op::Or | Op::Not => self.condition(unit, id, state),
            _ => self.operator_of(unit, id, op, of, state),
        }
    }

    pub(super) fn operator_of(&self, unit: &Arc<Unit>, id: Id, op: Op, of: &[Id], state: State) -> Outs {
        if matches!(op, Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge)
            && let Some(outs) = self.status_condition(unit, id, &state)
        {
            return outs;
        }
        // `code == Code::Unavailable` tells of the operation whose code it is.
        if let (Op::Eq | Op::Ne, [a, b]) = (op, of)
            && let Some((value, _)) =
                [(*a, *b), (*b, *a)].into_iter().find(|(_, constant)| self.says_failure(unit, *constant))
        {
            let outs = self.run(unit, value, state);
            return self.then(outs, |state, value| {
                // Of an error it tells the kind.
                if is_error(&value) {
                    return self.decided(unit, id, state, Val::Unknown(value.origin()));
                }
                let of = self.told_of(unit, id, &value);
                self.telling(unit, id, state, of, op == Op::Eq)
            });
        }
        self.each(unit, of, state, |state, values| {
            let value = match values.as_slice() {
                [a, b] => self.binary(id, op, a, b),
                [a] if op == Op::Neg => match a.as_number() {
                    Some(number) => Val::number(number.times(-1.0, number.is_time)),
                    None => Val::Unknown(a.origin()),
                },
                _ => Val::Unknown(origins(&values)),
            };
            one(state, value)
        })
    }

    fn binary(&self, id: Id, op: Op, a: &Val, b: &Val) -> Val {
        let unknown = || Val::Unknown(a.origin().and(&b.origin()));
        let operation = match op {
            Op::Add => Operation::Add,
            Op::Sub => Operation::Sub,
            Op::Mul => Operation::Mul,
            Op::Div => Operation::Div,
            Op::Rem => Operation::Rem,
            Op::Pow => Operation::Pow,
            Op::Shl => Operation::Shl,
            Op::Shr => Operation::Shr,
            Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge => return self.compared(id, op, a, b),
            Op::BitAnd | Op::BitOr => {
                return match (a, b) {
                    (Val::Bool(a), Val::Bool(b)) => Val::Bool(if op == Op::BitOr { *a || *b } else { *a && *b }),
                    _ => unknown(),
                };
            }
            _ => return unknown(),
        };
        self.calculated(operation, a, b)
    }

    fn calculated(&self, operation: Operation, a: &Val, b: &Val) -> Val {
        let unknown = || Val::Unknown(a.origin().and(&b.origin()));
        match (a, b) {
            // A point in time and a length of it.
            (Val::Moment(from), b) if operation == Operation::Add => {
                let by = b.as_number();
                let at = match (from, by) {
                    (Some(from), Some(by)) => Number::combine(operation, from, by),
                    _ => None,
                };
                Val::Moment(at.map(Into::into))
            }
            (Val::Moment(_), Val::Moment(_)) => Val::from(Origins::CLOCK),
            _ => match (a.as_number(), b.as_number()) {
                (Some(x), Some(y)) => Number::combine(operation, x, y).map_or_else(unknown, Val::number),
                _ => unknown(),
            },
        }
    }

    fn compared(&self, id: Id, op: Op, a: &Val, b: &Val) -> Val {
        let mut on = a.origin().and(&b.origin());
        match (a, b) {
            (Val::Number(x), Val::Number(y)) => {
                let is_open = self.is_open(x) || self.is_open(y);
                match Number::compare(op, x, y) {
                    Some(holds) if is_open => on.hint = Some(holds),
                    Some(holds) => {
                        self.note_compared(id, x, y, holds);
                        return Val::Bool(holds);
                    }
                    None => {}
                }
            }
            (Val::Bool(x), Val::Bool(y)) if matches!(op, Op::Eq | Op::Ne) => {
                return Val::Bool((x == y) == (op == Op::Eq));
            }
            (Val::Text(x), Val::Text(y)) if matches!(op, Op::Eq | Op::Ne) => {
                return Val::Bool((x == y) == (op == Op::Eq));
            }
            (Val::Absent, Val::Absent) if matches!(op, Op::Eq | Op::Ne) => return Val::Bool(op == Op::Eq),
            (Val::Absent, Val::Present(_)) | (Val::Present(_), Val::Absent) if matches!(op, Op::Eq | Op::Ne) => {
                return Val::Bool(op == Op::Ne);
            }
            (Val::Moment(Some(at)), Val::Moment(None)) | (Val::Moment(None), Val::Moment(Some(at))) => {
                on.limit = Some(at.clone());
            }
            (Val::Unknown(time), Val::Number(limit)) | (Val::Number(limit), Val::Unknown(time))
                if time.from.has(Origins::CLOCK) =>
            {
                on.limit = Some(limit.clone());
            }
            _ => {}
        }
        Val::Unknown(on)
    }

    fn note_compared(&self, node: Id, x: &Number, y: &Number, holds: bool) {
        let (changing, fixed) = match (x.varies, y.varies) {
            (true, false) => (x, y),
            (false, true) => (y, x),
            _ => return,
        };
        // Counting down to nothing, the bound is where counting begins.
        let bound =
            if fixed.nominal.abs() <= 1.0 { changing.span.or(fixed.span) } else { fixed.span.or(changing.span) };
        // Times end soon, however many nanoseconds they have.
        let is_time = fixed.is_time;
        let distance = if is_time { 0.0 } else { (x.nominal - y.nominal).abs() };
        self.compared.borrow_mut().push(Compared { node, holds, distance, is_time, bound });
    }

    /// A range.
    pub(super) fn range(
        &self,
        unit: &Arc<Unit>,
        from: Option<Id>,
        to: Option<Id>,
        inclusive: bool,
        state: State,
    ) -> Outs {
        let ids: Vec<Id> = from.into_iter().chain(to).collect();
        self.each(unit, &ids, state, |state, mut values| {
            let last = if to.is_some() { values.pop() } else { None };
            let first = values.pop().unwrap_or_else(|| Val::number(Number::whole(0, None)));
            let len = last.as_ref().map(|last| match (first.as_number(), last.as_number()) {
                (Some(a), Some(b)) => {
                    let more = if inclusive && a.is_whole && b.is_whole { 1.0 } else { 0.0 };
                    let len = Number::combine(Operation::Sub, b, a).map(|len| len.each(|len| (len + more).max(0.0)));
                    // The bound is what is written, not where counting begins.
                    len.map_or_else(Val::unknown, |len| Val::number(Number { span: b.span, ..len }))
                }
                _ => Val::Unknown(last.origin().and(&first.origin())),
            });
            one(state, Val::Series(Series { first, step: 1.0, len, to: last }.into()))
        })
    }

    /// What a function or method does that is known by name; none where it does nothing to numbers and lists.
    pub(super) fn operate(&self, operation: Operation, args: &[Val]) -> Option<Val> {
        let first = args.first()?;
        let second = args.get(1);
        let number = |change: &dyn Fn(f64) -> f64| {
            Some(first.as_number().map_or_else(|| Val::Unknown(first.origin()), |n| Val::number(n.each(change))))
        };
        Some(match operation {
            Operation::Same | Operation::Converted => first.clone(),
            Operation::Fallback => match first {
                Val::Absent | Val::Bad(_) => second?.clone(),
                Val::Present(inner) | Val::Good(inner) => (**inner).clone(),
                // What cannot fail here is there: `checked_add` of numbers that are known.
                Val::Number(_) => first.clone(),
                _ => return None,
            },
            Operation::Add
            | Operation::Sub
            | Operation::SubToZero
            | Operation::Distance
            | Operation::Mul
            | Operation::Div
            | Operation::Rem
            | Operation::Pow
            | Operation::Shl
            | Operation::Shr
            | Operation::Min
            | Operation::Max => self.calculated(operation, first, second?),
            Operation::Clamp => {
                let low = self.calculated(Operation::Max, first, second?);
                self.calculated(Operation::Min, &low, args.get(2)?)
            }
            Operation::PowOfTwo => return number(&f64::exp2),
            Operation::Floor => return number(&f64::floor),
            Operation::Ceil => return number(&f64::ceil),
            Operation::Round => return number(&f64::round),
            Operation::Sqrt => return number(&f64::sqrt),
            Operation::Len => match first {
                Val::List(items) => Val::number(Number::whole(items.len() as i128, None)),
                _ => return None,
            },
            Operation::First | Operation::Last | Operation::At => {
                let Val::List(items) = first else { return None };
                let found = match operation {
                    Operation::First => items.first(),
                    Operation::Last => items.last(),
                    _ => {
                        let at = second?.as_number()?;
                        if self.is_open(at) {
                            return Some(Val::Unknown(
                                items.iter().fold(Unknown::of(Origins::COUNT), |all, one| all.and(&one.origin())),
                            ));
                        }
                        items.get(at.exact()? as usize)
                    }
                };
                found.map_or(Val::Absent, |item| Val::Present(item.clone().into()))
            }
            Operation::Take | Operation::Skip => return self.part(operation, first, second?),
            Operation::Chain => match (first, second?) {
                (Val::List(a), Val::List(b)) => Val::List(a.iter().chain(b.iter()).cloned().collect::<Vec<_>>().into()),
                (Val::List(a), other) => Val::Unknown(origins(a).and(&other.origin())),
                _ => return None,
            },
            Operation::Once => Val::List(vec![first.clone()].into()),
            Operation::Repeat => {
                let len = second?.clone();
                Val::Series(Series { first: first.clone(), step: 0.0, len: Some(len), to: None }.into())
            }
            _ => return None,
        })
    }

    /// The start or the rest of a list or series.
    fn part(&self, operation: Operation, all: &Val, count: &Val) -> Option<Val> {
        let takes = operation == Operation::Take;
        match all {
            Val::List(items) => {
                let count = count.as_number()?.exact()? as usize;
                let part =
                    if takes { items.get(..count.min(items.len())) } else { items.get(count.min(items.len())..) };
                Some(Val::List(part?.to_vec().into()))
            }
            Val::Series(series) => {
                let (first, len) = if takes {
                    let len = match &series.len {
                        None => count.clone(),
                        Some(len) => self.calculated(Operation::Min, count, len),
                    };
                    (series.first.clone(), Some(len))
                } else {
                    let skipped = count.as_number()?.exact()?;
                    (
                        series.at(skipped),
                        series.len.as_ref().map(|len| self.calculated(Operation::SubToZero, len, count)),
                    )
                };
                Some(Val::Series(Series { first, step: series.step, len, to: None }.into()))
            }
            // Of a series that cannot be seen into the length is known.
            Val::Unknown(unknown) if takes => {
                let first = Val::Unknown(unknown.clone());
                Some(Val::Series(Series { first, step: 0.0, len: Some(count.clone()), to: None }.into()))
            }
            _ => None,
        }
    }

    /// The series backwards.
    pub(super) fn reversed(&self, all: &Val) -> Option<Val> {
        match all {
            Val::List(items) => Some(Val::List(items.iter().rev().cloned().collect::<Vec<_>>().into())),
            Val::Series(series) => {
                let first = match series.known_len() {
                    Some(len) => series.at(len - 1.0),
                    None => Val::from(Origins::COUNT),
                };
                Some(Val::Series(Series { first, step: -series.step, len: series.len.clone(), to: None }.into()))
            }
            _ => None,
        }
    }

    /// Something random.
    pub(super) fn random(&self, how: Random, args: &[Val], types: &[&str], span: Span) -> Val {
        let chance = Chance { span: Some(span), pass: self.pass.get(), after_cap: false, is_unknown: false };
        let between = |from: &Number, to: &Number| Val::number(Number::random(from, to, chance));
        match (how, args) {
            (Random::Source, _) => Val::unknown(),
            (Random::Fraction, _) => between(&Number::plain(0.0, None), &Number::plain(1.0, None)),
            (Random::Range, [Val::Series(series)]) => {
                match (series.first.as_number(), series.to.as_ref().and_then(Val::as_number)) {
                    // Of `half..whole + 1` the whole is the most that can come out.
                    (Some(from), Some(to)) if is_open(series, from, to) && from.low > 0.0 => {
                        between(from, &Number { cap: to.cap, ..to.each(|to| to - 1.0) })
                    }
                    (Some(from), Some(to)) => between(from, to),
                    _ => self.chance_unknown(chance),
                }
            }
            (Random::Range, [from, to]) => match (from.as_number(), to.as_number()) {
                (Some(from), Some(to)) => between(from, to),
                _ => self.chance_unknown(chance),
            },
            (Random::Full, [of]) => match of.as_number() {
                Some(of) => between(&Number { is_time: of.is_time, ..Number::plain(0.0, None) }, of),
                None => self.chance_unknown(chance),
            },
            (Random::Any | Random::Range, _) => match types.first() {
                Some(name) if name.starts_with('f') => between(&Number::plain(0.0, None), &Number::plain(1.0, None)),
                Some(_) => between(&Number::whole(0, None), &Number::whole(i128::from(u64::MAX), None)),
                None => self.chance_unknown(chance),
            },
            _ => self.chance_unknown(chance),
        }
    }

    /// Random, nobody knows how.
    pub(super) fn chance_unknown(&self, chance: Chance) -> Val {
        let chance = Chance { is_unknown: true, ..chance };
        Val::Number(Number { chance: Some(chance), ..Number::plain(0.0, None) }.into())
    }

    /// A length of time that a function makes.
    pub(super) fn duration(&self, path: &str, args: &[(Option<Sym>, Val)], span: Span) -> Option<Val> {
        let words = &self.words.values;
        let unit = words.durations.of_path(path).or_else(|| words.fractional_durations.of_path(path));
        if let Some(unit) = unit {
            let (_, value) = args.first()?;
            return Some(in_unit(value, unit, span));
        }
        let units = entry(&words.compound_durations, path)?;
        let mut sum = Number::time(0.0, None);
        for (at, (name, value)) in args.iter().enumerate() {
            let part = in_unit(value, units.of(at, name.as_deref())?, span);
            sum = Number::combine(Operation::Add, &sum, part.as_number()?)?;
        }
        Some(Val::number(sum))
    }

    /// A length of time as a number of some unit.
    pub(super) fn parts(&self, method: &str, value: &Val) -> Option<Val> {
        let words = &self.words.values;
        let whole = words.parts.get(method);
        let unit = whole.or_else(|| words.fractional_parts.get(method))?;
        let number = value.as_number()?;
        let number = number.times(1.0 / unit.nanos() as f64, false);
        Some(Val::number(Number { is_whole: whole.is_some(), ..number }))
    }

    /// Whether a node is a constant that says how an answer failed: `TOO_MANY_REQUESTS`, `503`.
    pub(super) fn says_failure(&self, unit: &Arc<Unit>, id: Id) -> bool {
        match unit.kind(id) {
            Kind::Name(name) => self.words.loops.failures.of_path(name.best()).is_some(),
            _ => false,
        }
    }
}

/// A number of a unit, as a length of time. Made of a number that is written on the spot, it is written as a whole.
fn in_unit(value: &Val, unit: values::Unit, span: Span) -> Val {
    match value.as_number() {
        Some(number) => {
            let is_here =
                number.span.is_some_and(|at| at.file == span.file && span.start <= at.start && at.end <= span.end);
            let span = if is_here { Some(span) } else { number.span };
            Val::number(Number { span, ..number.times(unit.nanos() as f64, true) })
        }
        None => Val::Unknown(value.origin()),
    }
}

/// Whether a range of whole numbers leaves its end out.
fn is_open(series: &Series, from: &Number, to: &Number) -> bool {
    to.is_whole && !to.is_time && series.known_len() == Some((to.high - from.low).max(0.0))
}
