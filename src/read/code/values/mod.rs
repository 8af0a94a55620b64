//! The value tracer: what is this node's value here? Known, or unknown and why; and where it is written. Language-blind.
//!
//! ```text
//! node ─► scope: what does this name mean, what changes it?  ─► eval, flow, calls: its value ─► Traced
//!           words: durations, wrappers, random functions …       arithmetic: exact     spread: random, unknown ─► Delay
//! ```
//!
//! A question takes a bounded number of steps; what lies beyond is "not followed further". Where a value depends on what is not
//! seen, it is unknown, except that a default that the code itself names counts as the value (`unwrap_or(3)`): then
//! [`Traced::overridden`] says what may be there instead.

mod arithmetic;
mod calls;
mod delay;
mod domain;
mod eval;
mod flow;
mod known;
mod linear;
mod scope;
mod spread;
#[cfg(test)]
mod tests;

pub use delay::{Delay, delay, delay_in, spread};
pub use domain::Env as Bindings;

use super::project::Project;
use super::tree::{Kind, Name, Place, Sym};
use crate::facts::{Nanos, Value, Why};
use crate::source::Span;
use domain::{Env, Got, Val};
use eval::Tracer;
use scope::How;

/// A value that is known.
#[derive(Clone, Debug)]
pub enum Known {
    /// A whole number.
    Int(i128),
    /// Any other number.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A text.
    Text(Sym),
    /// A length of time.
    Duration(Nanos),
    /// `None`, `null`: known to be absent.
    Absent,
    /// A list of values, each of which may be unknown.
    List(Vec<Traced>),
    /// Something that is no plain value: a call, record, closure, function. Where it is constructed.
    Construct(Place),
}

/// A value with where it was said.
#[derive(Clone, Debug)]
pub struct Traced {
    /// The value, or why it is not known.
    pub value: Value<Known>,
    /// Where it is written: the literals that it comes from, in the order of reading; a length of time that is made on the spot
    /// counts as a whole. Never empty.
    pub spans: Vec<Span>,
    /// What is taken instead, if it is there: the value is a default that the code names.
    pub overridden: Option<Why>,
}

impl Traced {
    /// A value that is known.
    pub fn known(value: Known, span: Span) -> Self {
        Traced { value: Value::Known(value), spans: vec![span], overridden: None }
    }

    /// A value that is not known.
    pub fn unknown(why: impl Into<std::borrow::Cow<'static, str>>, span: Span) -> Self {
        Traced { value: Value::Unknown(Box::new(Why::Other(why.into()))), spans: vec![span], overridden: None }
    }
}

/// The value of a node.
pub fn trace(project: &Project, place: &Place) -> Traced {
    trace_in(project, place, &Bindings::default())
}

/// The value of a node where some names are known to stand for values: what [`definition_in`] found in a function that was
/// called.
pub fn trace_in(project: &Project, place: &Place, bindings: &Bindings) -> Traced {
    known(Tracer::new(project, false).value(place, bindings), place)
}

/// The value of a node in the first pass of the loops around it: what changes in them has its value from before.
pub fn initial(project: &Project, place: &Place) -> Traced {
    known(Tracer::new(project, true).value(place, &Env::default()), place)
}

/// The value of a field of what a node is.
pub fn field(project: &Project, place: &Place, name: &str) -> Traced {
    let tracer = Tracer::new(project, false);
    let whole = tracer.value(place, &Env::default());
    known(tracer.field(&whole, place, &Sym::from(name), place), place)
}

/// The construct that a node stands for: locals, constants and results of simple functions are followed, wrappers that change
/// nothing (`Some`, `Ok`, `Arc::new`, clones, borrows) are taken off. The node itself if nothing is to be followed.
pub fn definition(project: &Project, place: &Place) -> Place {
    definition_in(project, place, &Bindings::default()).0
}

/// The same, from and to a place where names are known to stand for values: in a function that was called, its parameters.
pub fn definition_in(project: &Project, place: &Place, bindings: &Bindings) -> (Place, Bindings) {
    /// Names that lead on to names.
    const FURTHEST: usize = 16;
    let tracer = Tracer::new(project, false);
    let (mut place, mut bindings) = (place.clone(), bindings.clone());
    for _ in 0..FURTHEST {
        if let Val::Construct(of, env) = tracer.value(&place, &bindings).value {
            return (of, env);
        }
        // No construct: at least what a name stands for.
        let Some(next) = named(project, &place) else { break };
        if matches!(place.unit.kind(next.id), Kind::Constant { .. }) {
            bindings = Env::default();
        }
        place = match next.kind() {
            Kind::Constant { value, .. } => next.at(*value),
            _ => next,
        };
    }
    (place, bindings)
}

/// What names stand for in a function or closure that is called with these values for its parameters, each as seen from where
/// it stands; on top of what names stood for where it was made.
pub fn bound(project: &Project, function: &Place, made: &Bindings, args: &[(Sym, Place, Bindings)]) -> Bindings {
    let tracer = Tracer::new(project, false);
    args.iter().fold(made.clone(), |bindings, (param, arg, seen)| {
        bindings.with(scope::local(&function.unit, function.id, param), tracer.value(arg, seen))
    })
}

/// What a name stands for, as it is declared, if nothing changes it.
fn named(project: &Project, place: &Place) -> Option<Place> {
    let Kind::Name(name @ Name { text, full }) = place.kind() else { return None };
    if full.is_some() {
        return project.named(&place.unit, name);
    }
    let declared = scope::declared(&place.unit, place.id, text)?;
    let changes = scope::changes(&place.unit, &declared, place.id, false, None)?;
    match (place.unit.kind(declared.by), declared.how) {
        (Kind::Let { value: Some(value), .. }, How::Let) if changes.is_empty() => Some(place.at(*value)),
        (Kind::Held { value, .. }, How::Held) => Some(place.at(*value)),
        _ => None,
    }
}

/// What was found, as it is handed out.
fn known(got: Got, place: &Place) -> Traced {
    let value = match got.value {
        Val::Int(n) => Known::Int(n),
        Val::Float(n) => Known::Float(n),
        Val::Bool(value) => Known::Bool(value),
        Val::Text(text) => Known::Text(text),
        Val::Time(nanos) => Known::Duration(Nanos(u64::try_from(nanos).unwrap_or(u64::MAX))),
        Val::Absent => Known::Absent,
        Val::List(items) => Known::List(items.into_iter().map(|item| known(item, place)).collect()),
        Val::Construct(of, _) => Known::Construct(of),
        Val::Open(open) => {
            let value = Value::Unknown(Box::new(open.why));
            return Traced { value, spans: spans(got.spans, place), overridden: got.overridden };
        }
    };
    Traced { value: Value::Known(value), spans: spans(got.spans, place), overridden: got.overridden }
}

fn spans(spans: Vec<Span>, place: &Place) -> Vec<Span> {
    if spans.is_empty() { vec![place.span()] } else { spans }
}
