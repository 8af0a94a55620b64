//! Functions and methods that are known by name: what the words of the language say of them.

use super::arithmetic::{self, Combine};
use super::domain::{Env, Got, Optional, Val};
use super::eval::{Tracer, because, constant_value};
use super::flow::is_default;
use super::linear::Linear;
use super::spread::{self, fresh};
use crate::read::code::tree::{Arg, Kind, Name, Op, Place, Sym};
use crate::read::code::words::values::{Operation, Random};
use crate::read::code::words::{entry, lists};
use crate::read::data::duration::{self, Syntax};

/// Lists do not become longer than this.
const ELEMENTS: usize = 256;

impl Tracer<'_> {
    /// What a function that is known by name gives. None if it is not known.
    pub fn known_function(
        &self,
        place: &Place,
        name: &Name,
        types: &[Name],
        args: &[(Option<Sym>, Got)],
    ) -> Option<Got> {
        let words = self.words(place);
        let path = name.best();
        let first = args.first().map(|(_, got)| got);
        if let Some(got) = self.environment(place, path, first).or_else(|| self.made_duration(place, path, args)) {
            return Some(got);
        }
        if let Some(random) = words.random.of_path(path) {
            let values: Vec<&Got> = args.iter().map(|(_, got)| got).collect();
            return self.random(place, random, &values, types);
        }
        if args.is_empty()
            && let Some(constant) = entry(&words.constants, path)
        {
            return Some(Got::new(constant_value(*constant), place.span()));
        }
        let operation = words.functions.of_path(path)?;
        let rest: Vec<Got> = args.iter().skip(1).map(|(_, got)| got.clone()).collect();
        self.operation(place, operation, first?, &rest)
    }

    /// What a method that is known by name gives. None if it is not known, or is one of a construct's own.
    pub fn known_method(
        &self,
        place: &Place,
        receiver: &Got,
        name: &Sym,
        types: &[Name],
        args: &[Arg],
        env: &Env,
    ) -> Option<Got> {
        let words = self.words(place);
        let values = || -> Vec<Got> { self.arguments(place, args, env).into_iter().map(|(_, got)| got).collect() };
        if let Some(random) = words.random.get(name) {
            let values = values();
            let got = self.random(place, random, &values.iter().collect::<Vec<_>>(), types);
            if got.is_some() {
                return got;
            }
        }
        let number = self.as_number(receiver);
        let is_number = matches!(number.value, Val::Time(_) | Val::Open(_)) && args.is_empty();
        if let Some(unit) = words.parts.get(name).filter(|_| is_number) {
            return Some(arithmetic::part(&number, unit.nanos(), true, place));
        }
        if let Some(unit) = words.fractional_parts.get(name).filter(|_| is_number) {
            return Some(arithmetic::part(&number, unit.nanos(), false, place));
        }
        let operation = words.methods.get(name)?;
        self.operation(place, operation, receiver, &values())
    }

    /// What is done to a value, and to those behind it. None if it is a construct that has a method of its own by that name.
    fn operation(&self, place: &Place, operation: Operation, first: &Got, rest: &[Got]) -> Option<Got> {
        use Operation as O;
        let second = rest.first();
        match operation {
            O::Same => return Some(first.clone()),
            O::Result => return self.called(first, Vec::new(), place),
            O::Converted => return Some(self.as_number(first).optional(Optional::No)),
            O::Once => return Some(first.with(Val::List(vec![first.clone()]))),
            O::ParseDuration => return Some(self.parsed_duration(place, first)),
            _ => {}
        }
        if let Val::List(items) = &first.value {
            return Some(self.on_list(place, operation, first, items, rest));
        }
        // Of a construct these may be adapters of its own; of the result of a call they ask for a value.
        let is_construct = matches!(first.value, Val::Construct(..));
        let number = self.as_number(first);
        let is_unfollowed = number.why().is_some();
        let combine = |how: Combine| {
            let second = self.as_number(second?);
            Some(self.combined(how, &number, &second, place))
        };
        let by = |op: Op| combine(Combine::By(op));
        let rounded = |round: fn(f64) -> f64| match &number.value {
            Val::Float(n) => number.with(Val::Float(round(*n))),
            _ => number.clone(),
        };
        match operation {
            O::Fallback | O::FallbackResult | O::FallbackDefault | O::ApplyOr => {
                self.fallback(place, operation, if is_unfollowed { &number } else { first }, rest)
            }
            O::Apply if is_construct => None,
            O::Apply => self.applied(place, first, second?),
            _ if is_construct && !is_unfollowed => None,
            O::Successive => Some(fresh(because("another one each time"), place).beside(first)),
            O::Take | O::Skip | O::Chain | O::Repeat | O::First | O::Last | O::Len if is_construct => None,
            O::Take | O::Skip | O::Chain | O::Repeat | O::First | O::Last | O::Len => {
                let why = first.why().cloned().unwrap_or_else(|| because("part of something unknown"));
                Some(fresh(why, place).beside(first))
            }
            O::At => Some(self.element(first, second?, place)),
            O::Add => by(Op::Add),
            O::Sub => by(Op::Sub),
            O::Mul => by(Op::Mul),
            O::Div => by(Op::Div),
            O::Rem => by(Op::Rem),
            O::Pow => by(Op::Pow),
            O::Shl => by(Op::Shl),
            O::Shr => by(Op::Shr),
            O::SubToZero => combine(Combine::SubToZero),
            O::Distance => combine(Combine::Distance),
            O::Min => combine(Combine::Min),
            O::Max => combine(Combine::Max),
            O::Clamp => {
                let low = combine(Combine::Max)?;
                Some(self.combined(Combine::Min, &low, &self.as_number(rest.get(1)?), place))
            }
            O::PowOfTwo => Some(self.combined(Combine::By(Op::Pow), &number.with(Val::Int(2)), &number, place)),
            O::Floor => Some(rounded(f64::floor)),
            O::Ceil => Some(rounded(f64::ceil)),
            O::Round => Some(rounded(f64::round)),
            O::Sqrt => number.value.number().map(|n| number.with(Val::Float(n.sqrt()))),
            O::ParseNumber => Some(match &number.value {
                Val::Text(text) => match (text.parse(), text.parse()) {
                    (Ok(n), _) => number.with(Val::Int(n)),
                    (_, Ok(n)) => number.with(Val::Float(n)),
                    _ => fresh(because(format!("`{text}` as a number")), place),
                },
                _ => number,
            }),
            O::Same | O::Result | O::Converted | O::Once | O::ParseDuration => None,
        }
    }

    fn parsed_duration(&self, place: &Place, text: &Got) -> Got {
        let Val::Text(written) = &text.value else { return self.as_number(text) };
        let joined: String = written.split_whitespace().collect();
        match duration::parse(&joined, Syntax::Any) {
            Some(nanos) => text.with(arithmetic::time(nanos.0.into())),
            None => fresh(because(format!("`{written}` as a length of time")), place),
        }
    }

    /// A value, or what stands in for it where it is absent. A default that the code names counts where it cannot be told.
    fn fallback(&self, place: &Place, operation: Operation, first: &Got, rest: &[Got]) -> Option<Got> {
        let second = rest.first();
        let instead = || match operation {
            Operation::Fallback | Operation::ApplyOr => second.cloned(),
            Operation::FallbackResult => self.called(second?, Vec::new(), place),
            _ => None,
        };
        let unknown = || fresh(because("what stands in for an absent value"), place);
        Some(match &first.value {
            Val::Absent => instead().unwrap_or_else(unknown),
            Val::Open(open) if open.optional != Optional::No => match instead() {
                Some(got) if is_default(open.optional, &got) => Got { overridden: Some(open.why.clone()), ..got },
                Some(Got { value: Val::Absent, .. }) => first.clone(),
                _ => first.clone().optional(Optional::No),
            },
            _ if operation == Operation::ApplyOr => self.applied(place, first, rest.get(1)?)?,
            Val::Open(_) => first.clone(),
            _ => first.clone(),
        })
    }

    /// What a function gives for a value that may be absent.
    fn applied(&self, place: &Place, first: &Got, function: &Got) -> Option<Got> {
        if let Val::Absent = first.value {
            return Some(first.clone());
        }
        let optional = match &first.value {
            Val::Open(open) => open.optional,
            _ => Optional::No,
        };
        let got = self.called(function, vec![(None, first.clone())], place)?;
        match &got.value {
            Val::Open(_) => Some(got.optional(optional)),
            // It is there only if what it was made of is.
            _ if optional != Optional::No => Some(fresh(first.why().cloned()?, place).optional(optional).beside(&got)),
            _ => Some(got),
        }
    }

    fn on_list(&self, place: &Place, operation: Operation, list: &Got, items: &[Got], rest: &[Got]) -> Got {
        let unknown = |why: &'static str| fresh(because(why), place).beside(list);
        let second = rest.first();
        let count = second.and_then(|second| second.value.int()).and_then(|n| usize::try_from(n).ok());
        let with = |items: Vec<Got>| list.with(Val::List(items));
        match (operation, count) {
            (Operation::Len, _) => list.with(Val::Int(items.len() as i128)),
            (Operation::First, _) => items.first().cloned().unwrap_or_else(|| list.with(Val::Absent)),
            (Operation::Last, _) => items.last().cloned().unwrap_or_else(|| list.with(Val::Absent)),
            (Operation::At, _) => {
                second.map_or_else(|| unknown("an element of a list"), |key| self.element(list, key, place))
            }
            (Operation::Take, Some(n)) => with(items.iter().take(n).cloned().collect()),
            (Operation::Skip, Some(n)) => with(items.iter().skip(n).cloned().collect()),
            (Operation::Chain, _) => match second.map(|second| &second.value) {
                Some(Val::List(more)) if items.len() + more.len() <= ELEMENTS => {
                    with(items.iter().chain(more).cloned().collect())
                }
                _ => unknown("a list of unknown length"),
            },
            (Operation::Repeat, Some(n)) if n <= ELEMENTS => match items {
                [one] => with(vec![one.clone(); n]),
                _ => unknown("a list of unknown length"),
            },
            (Operation::Apply, _) => {
                let each = |item: &Got| self.called(second?, vec![(None, item.clone())], place);
                let all: Option<Vec<Got>> = items.iter().map(each).collect();
                all.map_or_else(|| unknown("a list of unknown elements"), with)
            }
            (Operation::Fallback | Operation::FallbackResult | Operation::FallbackDefault, _) => list.clone(),
            (Operation::Min | Operation::Max, _) if rest.is_empty() => {
                let how = if operation == Operation::Min { Combine::Min } else { Combine::Max };
                let mut items = items.iter().cloned();
                let Some(first) = items.next() else { return list.with(Val::Absent) };
                items.fold(first, |a, b| self.combined(how, &a, &b, place))
            }
            (Operation::Successive, _) => unknown("another one each time"),
            _ => unknown("a list"),
        }
    }

    /// A random value. None if nothing is drawn here.
    fn random(&self, place: &Place, random: Random, args: &[&Got], types: &[Name]) -> Option<Got> {
        let words = self.words(place);
        let zero = || Linear::number(0.0);
        match random {
            Random::Source => Some(Got::new(Val::Construct(place.clone(), Env::default()), place.span())),
            Random::Fraction => Some(spread::drawn(Some((zero(), Linear::number(1.0))), place)),
            Random::Full => {
                let of = self.as_number(args.first()?);
                let between = spread::bounds(&of).map(|(_, high)| (zero(), high));
                let got = spread::with_time(spread::drawn(between, place), spread::is_time(&of));
                Some(spread::as_unknown_as(got, &of).beside(&of))
            }
            Random::Any => {
                let is_fraction = |name: &Name| lists(&words.fractions, name.best());
                let by_let = place.unit.parent(place.id).is_some_and(
                    |parent| matches!(place.unit.kind(parent), Kind::Let { ty: Some(ty), .. } if is_fraction(ty)),
                );
                let between = (by_let || types.iter().any(is_fraction)).then(|| (zero(), Linear::number(1.0)));
                Some(spread::drawn(between, place))
            }
            Random::Range => {
                let (low, high) = match args {
                    [] => return Some(spread::drawn(None, place)),
                    [range] => self.ends(range)?,
                    [low, high, ..] => (self.as_number(low), self.as_number(high)),
                };
                let between = spread::single(&low).zip(spread::single(&high));
                let is_time = spread::is_time(&low) || spread::is_time(&high);
                let got = spread::as_unknown_as(spread::with_time(spread::drawn(between, place), is_time), &high);
                // What it comes from is what its bounds come from.
                let from = Got { spans: Vec::new(), ..got }.beside(&low).beside(&high);
                Some(if from.spans.is_empty() { Got { spans: vec![place.span()], ..from } } else { from })
            }
        }
    }

    /// The ends of a range.
    fn ends(&self, range: &Got) -> Option<(Got, Got)> {
        let Val::Construct(of, env) = &range.value else { return None };
        let Kind::Range { from, to: Some(to), .. } = of.kind() else { return None };
        let low = match from {
            Some(from) => self.value(&of.at(*from), env),
            None => Got { spans: Vec::new(), ..Got::new(Val::Int(0), of.span()) },
        };
        Some((self.as_number(&low), self.as_number(&self.value(&of.at(*to), env))))
    }
}
