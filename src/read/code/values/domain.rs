//! What the tracer reckons with: exact values, constructs with what their locals stand for, and numbers that are open because
//! they are random or not known.

use std::sync::Arc;

use super::linear::{Linear, Symbol};
use crate::facts::Why;
use crate::read::code::tree::{Place, Sym};
use crate::source::Span;

/// So many places are remembered of a value.
const PLACES: usize = 16;

/// A value, where it is written, and what may change it.
#[derive(Clone, Debug)]
pub(super) struct Got {
    /// The value.
    pub value: Val,
    /// Where it is written.
    pub spans: Vec<Span>,
    /// Where random numbers are drawn for it: the calls, as seen from the function that was asked about.
    pub drawn: Vec<Place>,
    /// What would be taken instead, if it were there.
    pub overridden: Option<Why>,
    /// Whether it is one half of something: jitter is often half a delay and as much again at random.
    pub is_half: bool,
    /// What was taken off it: jitter is often as much less, and twice that at random.
    pub less: Option<Box<Linear>>,
}

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Val {
    /// A whole number.
    Int(i128),
    /// Another number.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A text.
    Text(Sym),
    /// A length of time in nanoseconds.
    Time(i128),
    /// `None`, `null`.
    Absent,
    /// A list.
    List(Vec<Got>),
    /// A call, record, closure, function; with what the names in it stand for.
    Construct(Place, Env),
    /// A number that is not one number.
    Open(Box<Open>),
}

/// A number that is random or not known.
#[derive(Clone, Debug)]
pub(super) struct Open {
    /// Why it is not known.
    pub why: Why,
    /// Whether it may be absent, so that a default that the code names for that case counts.
    pub optional: Optional,
    /// Between which values it lies. None if that cannot be told.
    pub between: Option<(Linear, Linear)>,
    /// What it is without its random part.
    pub nominal: Nominal,
    /// Whether what is added at random is as much for any delay.
    pub is_added: bool,
    /// The most that it can be for all that stands above, in force after the random part has come in.
    pub cap: Cap,
    /// Whether it is a length of time, so that numbers in it are nanoseconds.
    pub is_time: bool,
}

/// Whether something unknown may be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Optional {
    /// It is there, or what stands in for it is no default: the result of arithmetic, the next one of a list.
    No,
    /// It is set from outside: an argument, a field, an environment variable. What stands in for it is a default.
    Setting,
    /// A call gives it. What stands in for it is a default, unless that is nothing at all: "no time is left" is no default.
    Result,
}

/// A limit that is in force after the random part has come in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cap {
    /// There is none.
    None,
    /// There is one, not known.
    Some,
    /// This.
    At(f64),
}

/// What a random number is without its random part.
#[derive(Clone, Debug)]
pub(super) enum Nominal {
    /// This.
    Is(Linear),
    /// All of it is random. `of`: what it was multiplied with.
    Soft {
        /// What a random factor was multiplied with.
        of: Option<Linear>,
    },
}

/// What names stand for: arguments of the calls that were followed. A list whose tail is shared.
#[derive(Clone, Debug, Default)]
pub struct Env(Option<Arc<Bound>>);

#[derive(Debug)]
struct Bound {
    local: Local,
    value: Got,
    rest: Env,
}

/// A name where it is declared: a local, a parameter, the counter of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Local {
    /// Where what declares it stands: a `Let`, a `Loop`, a `Closure`, a `Function`, a `Branch`, a `Held`. A file may be read
    /// more than once, in parts; places stay the same.
    pub at: Span,
    /// Its name.
    pub name: Sym,
}

impl Env {
    /// With a name more.
    pub(super) fn with(&self, local: Local, value: Got) -> Env {
        Env(Some(Arc::new(Bound { local, value, rest: self.clone() })))
    }

    /// What a name stands for.
    pub(super) fn get(&self, local: &Local) -> Option<&Got> {
        let bound = std::iter::successors(self.0.as_deref(), |bound| bound.rest.0.as_deref());
        bound.take(256).find(|bound| bound.local == *local).map(|bound| &bound.value)
    }
}

// A shared list is dropped link by link: dropping it by recursion would go as deep as it is long.
impl Drop for Bound {
    fn drop(&mut self) {
        let mut rest = self.rest.0.take();
        while let Some(bound) = rest {
            rest = Arc::into_inner(bound).and_then(|mut bound| bound.rest.0.take());
        }
    }
}

impl Got {
    /// A value that is written at `span`.
    pub fn new(value: Val, span: Span) -> Self {
        Got { value, spans: vec![span], drawn: Vec::new(), overridden: None, is_half: false, less: None }
    }

    /// A value that is not known, and may be a number.
    pub fn unknown(why: Why, symbol: Symbol) -> Self {
        let span = symbol.at;
        let number = Linear::symbol(symbol);
        let open = Open {
            why,
            optional: Optional::No,
            between: Some((number.clone(), number.clone())),
            nominal: Nominal::Is(number),
            is_added: false,
            cap: Cap::None,
            is_time: false,
        };
        Got::new(Val::Open(Box::new(open)), span)
    }

    /// The same value, which may be absent or not.
    pub fn optional(mut self, optional: Optional) -> Self {
        if let Val::Open(open) = &mut self.value {
            open.optional = optional;
        }
        self
    }

    /// Adds where another value came from, and what may change it: this one was computed from both.
    pub fn beside(mut self, other: &Got) -> Self {
        for span in &other.spans {
            if self.spans.len() < PLACES && !self.spans.contains(span) {
                self.spans.push(*span);
            }
        }
        for place in &other.drawn {
            let is_new = !self.drawn.iter().any(|known| known.span() == place.span());
            if self.drawn.len() < PLACES && is_new {
                self.drawn.push(place.clone());
            }
        }
        if self.overridden.is_none() {
            self.overridden.clone_from(&other.overridden);
        }
        self
    }

    /// Another value that comes from the same places.
    pub fn with(&self, value: Val) -> Self {
        Got { value, is_half: false, less: None, ..self.clone() }
    }

    /// Another value that comes from the same places, this one taken away.
    pub fn into(self, value: Val) -> Self {
        Got { value, is_half: false, less: None, ..self }
    }

    /// Whether a random number is in it.
    pub fn is_random(&self) -> bool {
        !self.drawn.is_empty()
    }

    /// Where it is written.
    pub fn span(&self) -> Option<Span> {
        self.spans.first().copied()
    }

    /// Why it is not known.
    pub fn why(&self) -> Option<&Why> {
        match &self.value {
            Val::Open(open) => Some(&open.why),
            _ => None,
        }
    }
}

impl Val {
    /// The number, if it is exact; of a length of time its nanoseconds.
    pub fn number(&self) -> Option<f64> {
        match self {
            Val::Int(n) | Val::Time(n) => Some(*n as f64),
            Val::Float(n) => Some(*n),
            _ => None,
        }
    }

    /// The whole number, if it is one.
    pub fn int(&self) -> Option<i128> {
        match self {
            Val::Int(n) => Some(*n),
            _ => None,
        }
    }

    /// Whether two values are the same, as far as can be told.
    pub fn is_same(&self, other: &Val) -> bool {
        match (self, other) {
            (Val::Int(a), Val::Int(b)) | (Val::Time(a), Val::Time(b)) => a == b,
            (Val::Float(a), Val::Float(b)) => a == b,
            (Val::Bool(a), Val::Bool(b)) => a == b,
            (Val::Text(a), Val::Text(b)) => a == b,
            (Val::Absent, Val::Absent) => true,
            (Val::List(a), Val::List(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.value.is_same(&b.value))
            }
            (Val::Construct(a, _), Val::Construct(b, _)) => a.span() == b.span(),
            _ => false,
        }
    }
}

impl Open {
    /// What it is without its random part, if that can be told. Of what is random altogether: what a random factor was multiplied
    /// with, if that is about as much, else the most that it can be.
    pub fn nominal(&self) -> Option<Linear> {
        const ABOUT: f64 = 4.0;
        match (&self.nominal, &self.between) {
            (Nominal::Is(nominal), _) => Some(nominal.clone()),
            (Nominal::Soft { of: Some(of) }, Some((low, high)))
                if low.is_at_most(of) == Some(true)
                    && of.is_at_most(high) == Some(true)
                    && high.ratio(of).is_some_and(|ratio| ratio <= ABOUT) =>
            {
                Some(of.clone())
            }
            (Nominal::Soft { .. }, Some((_, high))) => Some(high.clone()),
            (Nominal::Soft { .. }, None) => None,
        }
    }

    /// Whether it is one value, if not a known one.
    pub fn is_single(&self) -> bool {
        self.between.as_ref().is_some_and(|(low, high)| low == high)
    }
}
