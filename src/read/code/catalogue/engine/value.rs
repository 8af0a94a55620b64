//! Values of an entry at one place in code: literals as they are, references through the value tracer.

use super::super::format::{Fold, Kind, Ref, Target, Unit, Value};
use super::scope::{Meant, Scope};
use super::spot::Spot;
use super::state::{Got, Said, State};
use super::{Engine, index_last};
use crate::facts::interned;
use crate::facts::{Classes, Jitter, JitterAt, Methods, Nanos, Value as Fact, Why};
use crate::read::code::tree::Kind as Node;
use crate::read::code::values::{Known, Traced};

impl Engine<'_> {
    /// What an entry's value is here; none where it refers to an argument that is not there.
    pub(super) fn value(
        &self,
        target: Target,
        value: &Value,
        kind: Kind,
        scope: &Scope<'_>,
        state: &State,
        depth: u32,
    ) -> Option<Said> {
        let constant = |got: Got| Said {
            got,
            spans: scope.said.into_iter().collect(),
            by: interned(&scope.library.name),
            reference: interned(target.name()),
            key: scope.key.cloned(),
        };
        Some(match value {
            Value::None => constant(Got::None),
            Value::Unknown => constant(Got::Unknown(self.undecided(scope))),
            Value::Word(word) if kind == Kind::Jitter => constant(jitter_of(word)),
            Value::Word(word) if kind == Kind::Methods => constant(methods_of(word)),
            Value::Word(word) => constant(Got::Word(word.clone())),
            Value::Int(n) => constant(Got::Int(*n)),
            Value::Float(n) => constant(Got::Float(*n)),
            Value::Bool(is) => constant(Got::Bool(*is)),
            Value::Time(time) => constant(Got::Time(*time)),
            Value::PerSecond(rate) => constant(Got::PerSecond(*rate)),
            Value::InFlight(count) => constant(Got::InFlight(*count)),
            Value::Classes(classes) => constant(Got::Classes(*classes, Classes::NONE)),
            Value::List(items) => {
                let inner = if kind == Kind::Schedule { Kind::Time } else { Kind::Text };
                let items = items.iter().map(|item| self.value(target, item, inner, scope, state, depth));
                constant(list(items.collect::<Option<Vec<Said>>>()?, kind))
            }
            Value::Fields(fields) => {
                let parts = kind.parts();
                let mut all = Vec::with_capacity(fields.len());
                for (name, value) in fields {
                    let (_, kind) = parts.iter().find(|(part, _)| *part == &**name)?;
                    let Some(said) = self.value(target, value, *kind, scope, state, depth) else { continue };
                    all.push((name.clone(), said));
                }
                if kind == Kind::Jitter { jitter(all, constant(Got::None)) } else { constant(Got::Fields(all)) }
            }
            Value::Ref(reference) => match scope.at(self, reference, state) {
                Meant::Missing => return None,
                Meant::Set(said) => Said { key: scope.key.cloned(), ..scaled(said, reference.unit) },
                // A parameter that was left out: its default is the library's.
                Meant::Entry(value) => {
                    let scope = Scope { said: None, ..scope.clone() };
                    scaled(self.value(target, value, Kind::Any, &scope, state, depth)?, reference.unit)
                }
                Meant::Code(place) => {
                    let said = self.code(target, &place, kind, reference.unit, depth);
                    Said { key: scope.key.cloned(), ..said }
                }
            },
            Value::Fold(fold, items) => {
                let kinds = (kind, if *fold == Fold::Mul { kind.factor() } else { kind });
                let one = |item: &Value| {
                    // Of a product with a time, the references tell by themselves which they are.
                    let kind = if matches!(item, Value::Ref(_)) && kinds.0 != kinds.1 { Kind::Any } else { kinds.0 };
                    self.value(target, item, kind, scope, state, depth)
                };
                let items = items.iter().map(one).collect::<Option<Vec<Said>>>()?;
                folded(*fold, items, constant(Got::None))
            }
            Value::Fit(limit) => {
                let limit = self.value(target, limit, Kind::Time, scope, state, depth)?;
                let got = super::finish::fitting(state, &limit.got);
                Said { got, ..limit }
            }
            Value::Case { of, cases } => {
                let Meant::Code(place) = scope.at(self, of, state) else { return None };
                let word = self.word(&place);
                let case = word.as_deref().and_then(|word| {
                    let is = |name: &str| name == word || index_last(name) == index_last(word);
                    cases.iter().find(|(name, _)| is(name)).or_else(|| cases.iter().find(|(name, _)| &**name == "else"))
                });
                match case {
                    Some((_, value)) => {
                        let scope = Scope { said: Some(place.span()), ..scope.clone() };
                        self.value(target, value, kind, &scope, state, depth)?
                    }
                    None => {
                        // A construct of the library's own may say it.
                        let said = self.code(target, &place, kind, None, depth);
                        Said { key: scope.key.cloned(), ..said }
                    }
                }
            }
            Value::Unless { names, within } => {
                let Meant::Code(place) = scope.at(self, within, state) else { return None };
                self.unless(names, &place, scope, constant(Got::Classes(Classes::ALL, Classes::NONE)))
            }
        })
    }

    /// Why a setting of the library has no value that is known.
    fn undecided(&self, scope: &Scope<'_>) -> Why {
        Why::Other(match scope.key {
            Some(key) => format!("decided by `{key}`").into(),
            None => format!("not said by the construct of {}", scope.library.name).into(),
        })
    }

    /// What code says for a target.
    fn code(&self, target: Target, place: &Spot, kind: Kind, unit: Option<Unit>, depth: u32) -> Said {
        match kind {
            Kind::Code => return Said::written(Got::Code(place.clone()), vec![place.span()]),
            Kind::Predicate => return self.predicate(place, depth),
            _ => {}
        }
        // A construct of a library may say it: options of a breaker, a kind of jitter.
        if let Some(said) = self.described(place, depth + 1).and_then(|state| state.get(target).cloned()) {
            return said;
        }
        let traced = self.trace(place);
        let spans = if traced.spans.is_empty() { vec![place.span()] } else { traced.spans.clone() };
        scaled(Said::written(got(&traced, kind, unit), spans), unit)
    }

    /// The word that decides a case: a text, or the last part of a name.
    pub(super) fn word(&self, place: &Spot) -> Option<String> {
        match self.trace(place).value {
            Fact::Known(Known::Text(text)) => return Some(text.to_string()),
            Fact::Known(Known::Bool(is)) => return Some(is.to_string()),
            Fact::Known(Known::Int(n)) => return Some(n.to_string()),
            _ => {}
        }
        let place = self.definition(place);
        match place.kind() {
            Node::Name(name) => Some(name.best().to_string()),
            Node::Member { name, .. } => Some(name.to_string()),
            Node::Call { of, .. } => place.unit.callee(*of).map(|name| name.best().to_string()),
            Node::Record { of: Some(name), .. } => Some(name.best().to_string()),
            _ => None,
        }
    }

    /// A test of a clause: whether it holds, or why that cannot be told.
    pub(super) fn test(
        &self,
        reference: &Ref,
        expected: &Value,
        scope: &Scope<'_>,
        state: &State,
        depth: u32,
    ) -> Result<bool, Why> {
        let place = match scope.at(self, reference, state) {
            Meant::Missing => return Ok(*expected == Value::None),
            Meant::Set(said) => return equals(&said.got, expected),
            Meant::Entry(value) => return Ok(value == expected),
            Meant::Code(place) => place,
        };
        if let Value::Word(word) = expected {
            // An id of a shape, a path, a word.
            if let Some(shape) = scope.library.shape(word) {
                let found = self.root(&place, depth).map(|root| root.found);
                return Ok(found.is_some_and(|found| found.shape == shape));
            }
            if word.contains("::") {
                return Ok(self.is_named(&place, word));
            }
            return match self.word(&place) {
                Some(is) => Ok(index_last(&is) == index_last(word)),
                None => Err(self.trace(&place).why()),
            };
        }
        let traced = self.trace(&place);
        equals(&got(&traced, Kind::Any, None), expected)
    }

    /// Whether code is a name, or a call, of this full path.
    fn is_named(&self, place: &Spot, path: &str) -> bool {
        let place = self.definition(place);
        let name = match place.kind() {
            Node::Name(name) => Some(name),
            Node::Call { of, .. } => place.unit.callee(*of),
            Node::Record { of, .. } => of.as_ref(),
            _ => None,
        };
        name.is_some_and(|name| self.full_paths(&place, name).iter().any(|known| known == path))
    }

    /// A predicate that holds for every failure, unless one of these names stands in the code.
    fn unless(&self, names: &[std::sync::Arc<str>], place: &Spot, scope: &Scope<'_>, any: Said) -> Said {
        let code = self.definition(place);
        let opaque = |why: &'static str| Said {
            got: Got::Unknown(Why::Other(why.into())),
            spans: vec![place.span()],
            key: scope.key.cloned(),
            ..any.clone()
        };
        if !matches!(code.kind(), Node::Closure { .. } | Node::Function { .. } | Node::Block(_)) {
            return opaque("what it does is not seen");
        }
        match self.names_stand_in(&code, names) {
            true => opaque("the operation decides which failures are worth another try"),
            false => any,
        }
    }

    /// Whether one of these names stands in the code, or in a function of the project that it calls.
    fn names_stand_in(&self, code: &Spot, names: &[std::sync::Arc<str>]) -> bool {
        let stands_in = |place: &Spot| {
            place.unit.below(place.id).any(|id| match place.unit.kind(id) {
                Node::Name(name) => names.iter().any(|wanted| {
                    index_last(wanted) == name.last()
                        && self.full_paths(place, name).iter().any(|path| **path == **wanted)
                }),
                _ => false,
            })
        };
        stands_in(code) || self.called_by(code).iter().any(stands_in)
    }

    /// Functions of the project that code calls, by name or by the name of a method of the same file.
    fn called_by(&self, code: &Spot) -> Vec<Spot> {
        let unit = &code.unit;
        let mut all: Vec<Spot> = Vec::new();
        for id in unit.below(code.id) {
            if all.len() >= 32 {
                break;
            }
            match unit.kind(id) {
                Node::Call { of, .. } => {
                    let name = unit.callee(*of);
                    let named = name.and_then(|name| self.project.named(unit, name));
                    all.extend(named.map(|place| Spot::new(&place.unit, place.id)));
                }
                Node::Method { name, .. } => {
                    let functions = self.methods_of(unit).get(name).cloned().unwrap_or_default();
                    all.extend(functions.into_iter().take(4).map(|id| code.at(id)));
                }
                _ => {}
            }
        }
        all
    }
}

impl Traced {
    /// Why it has no value that could be compared.
    fn why(self) -> Why {
        match self.value {
            Fact::Unknown(why) => *why,
            Fact::Known(_) => Why::Other("something that is no plain value".into()),
        }
    }
}

/// A traced value as one of a kind.
fn got(traced: &Traced, kind: Kind, unit: Option<Unit>) -> Got {
    let known = match &traced.value {
        Fact::Known(known) => known,
        Fact::Unknown(why) => return Got::Unknown((**why).clone()),
    };
    match (known, kind) {
        (Known::Absent, _) => Got::None,
        (Known::Int(0), Kind::Time | Kind::Limit | Kind::Added) => Got::Time(Nanos::ZERO),
        (Known::Int(_) | Known::Float(_), Kind::Time | Kind::Limit | Kind::Added) if unit.is_none() => {
            Got::Unknown(Why::Other("a number without a unit".into()))
        }
        (Known::Int(n), _) => Got::Int(*n),
        (Known::Float(n), _) => Got::Float(*n),
        (Known::Bool(is), _) => Got::Bool(*is),
        (Known::Text(text), Kind::Methods) => Got::Methods(Methods::Only(vec![text.to_ascii_uppercase().into()])),
        (Known::Text(text), _) => Got::Word(text.clone()),
        (Known::Duration(time), _) => Got::Time(*time),
        (Known::List(items), kind) => {
            let inner = if kind == Kind::Schedule { Kind::Time } else { Kind::Any };
            let items = items.iter().map(|item| Said::written(got(item, inner, unit), item.spans.clone()));
            list(items.map(|said| scaled(said, unit)).collect(), kind)
        }
        (Known::Construct(place), _) => Got::Unknown(Why::Other(match place.kind() {
            Node::Closure { .. } | Node::Function { .. } => "decided by a function".into(),
            _ => "not followed".into(),
        })),
    }
}

/// Values in a row: of methods, one value.
fn list(items: Vec<Said>, kind: Kind) -> Got {
    if kind != Kind::Methods {
        return Got::List(items);
    }
    let mut methods = Vec::with_capacity(items.len());
    for item in items {
        match item.got {
            Got::Word(word) => methods.push(word.to_ascii_uppercase().into()),
            Got::Methods(Methods::Only(mut more)) => methods.append(&mut more),
            Got::Unknown(why) => return Got::Unknown(why),
            _ => return Got::Unknown(Why::Other("a list of something else than methods".into())),
        }
    }
    Got::Methods(Methods::Only(methods))
}

/// A bare number in its unit; whatever has a unit of its own stays.
fn scaled(said: Said, unit: Option<Unit>) -> Said {
    let Some(unit) = unit else { return said };
    let number = match said.got {
        Got::Int(n) => n as f64,
        Got::Float(n) => n,
        _ => return said,
    };
    let got = match unit {
        _ if !number.is_finite() || number < 0.0 => Got::Unknown(Why::Other("a negative number".into())),
        Unit::Nanos(nanos) => Got::Time(match said.got {
            Got::Int(n) => Nanos(u64::try_from(n).unwrap_or(u64::MAX).saturating_mul(nanos)),
            _ => Nanos((number * nanos as f64).round() as u64),
        }),
        Unit::Percent => Got::Float(number / 100.0),
        Unit::PerSecond => Got::PerSecond(number),
        Unit::InFlight => Got::InFlight(number as u64),
    };
    Said { got, ..said }
}

/// Several values as one; `like` has the origin of a value that no code takes part in.
fn folded(fold: Fold, items: Vec<Said>, like: Said) -> Said {
    let mut spans: Vec<crate::source::Span> = Vec::new();
    for span in items.iter().flat_map(|item| &item.spans) {
        if !spans.contains(span) {
            spans.push(*span);
        }
    }
    let like = Said { spans, ..like };
    if let Some(why) = items.iter().find_map(Said::why) {
        return Said { got: Got::Unknown(why.clone()), ..like };
    }
    let is_time = items.iter().any(|item| matches!(item.got, Got::Time(_)));
    let mut numbers = Vec::with_capacity(items.len());
    let mut classes: Option<(Classes, Classes)> = None;
    for item in &items {
        match &item.got {
            Got::Int(n) => numbers.push(*n as f64),
            Got::Float(n) => numbers.push(*n),
            Got::Time(time) => numbers.push(time.0 as f64),
            // Nothing of a kind is no limit: the least of it and another is the other.
            Got::None if fold == Fold::Min => {}
            Got::Classes(all, named) => {
                let (a, b) = classes.unwrap_or_default();
                classes = Some((a.or(*all), b.or(*named)));
            }
            _ => {
                let why = Why::Other("computed from something that is no number".into());
                return Said { got: Got::Unknown(why), ..like };
            }
        }
    }
    if let Some((all, named)) = classes {
        return Said { got: Got::Classes(all, named), ..like };
    }
    let numbers = numbers.into_iter();
    let result = match fold {
        Fold::Mul => numbers.reduce(|a, b| a * b),
        Fold::Add => numbers.reduce(|a, b| a + b),
        Fold::Sub => numbers.reduce(|a, b| a - b),
        Fold::Min => numbers.reduce(f64::min),
        Fold::Max => numbers.reduce(f64::max),
    };
    let is_whole = items.iter().all(|item| matches!(item.got, Got::Int(_)));
    let got = match result {
        None => Got::None,
        // Saturates, and below zero is zero: as times do everywhere.
        Some(result) if is_time => Got::Time(Nanos(result.round() as u64)),
        Some(result) if is_whole => Got::Int(result as i128),
        Some(result) => Got::Float(result),
    };
    Said { got, ..like }
}

fn jitter_of(word: &str) -> Got {
    match word {
        "full" => Got::Jitter(Jitter::FULL),
        "equal" => Got::Jitter(Jitter::EQUAL),
        "decorrelated" => Got::Jitter(Jitter::DECORRELATED),
        _ => Got::Jitter(Jitter::NONE),
    }
}

fn methods_of(word: &str) -> Got {
    Got::Methods(if word == "idempotent" { Methods::Idempotent } else { Methods::Any })
}

/// A jitter of its parts; unknown if one of them is.
fn jitter(parts: Vec<(std::sync::Arc<str>, Said)>, like: Said) -> Said {
    let mut all = Jitter::NONE;
    let mut spans = like.spans.clone();
    for (name, said) in &parts {
        spans.extend(said.spans.iter().filter(|span| Some(*span) != like.spans.first()));
        match (&**name, &said.got) {
            (_, Got::Unknown(why)) => return Said { got: Got::Unknown(why.clone()), spans, ..like },
            ("low", Got::Float(n)) => all.low = *n,
            ("low", Got::Int(n)) => all.low = *n as f64,
            ("high", Got::Float(n)) => all.high = *n,
            ("high", Got::Int(n)) => all.high = *n as f64,
            ("plus", Got::Time(time)) => all.plus = *time,
            ("least", Got::Time(time)) => all.least = *time,
            ("at", Got::Word(word)) if &**word == "after-cap" => all.at = JitterAt::AfterCap,
            ("kind", _) => {
                let at = all.at;
                all = Jitter { at, ..Jitter::DECORRELATED };
            }
            _ => {}
        }
    }
    spans.dedup();
    Said { got: Got::Jitter(all), spans, ..like }
}

/// Whether a value is what an entry expects.
fn equals(got: &Got, expected: &Value) -> Result<bool, Why> {
    Ok(match (got, expected) {
        (Got::Unknown(why), _) => return Err(why.clone()),
        (Got::None, Value::None) => true,
        (Got::Bool(a), Value::Bool(b)) => a == b,
        (Got::Int(a), Value::Int(b)) => a == b,
        (Got::Int(a), Value::Float(b)) => *a as f64 == *b,
        (Got::Float(a), Value::Float(b)) => a == b,
        (Got::Float(a), Value::Int(b)) => *a == *b as f64,
        (Got::Time(a), Value::Time(b)) => a == b,
        (Got::Word(a), Value::Word(b)) => a == b,
        (Got::Methods(Methods::Any), Value::Word(word)) => &**word == "any",
        (Got::Jitter(jitter), Value::Word(word)) => jitter.kind() == &**word,
        (Got::Jitter(jitter), Value::None) => jitter.is_none(),
        _ => false,
    })
}
