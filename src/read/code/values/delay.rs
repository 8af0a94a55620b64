//! Delays: what they are without their random part, what that part is, and where it is drawn.

use super::domain::{Cap, Env, Got, Nominal, Open, Val};
use super::eval::{Tracer, because};
use super::linear::{Linear, Symbol};
use super::{Bindings, Known, Traced, known};
use crate::facts::{Jitter, JitterAt, Nanos, Value, Why};
use crate::read::code::project::Project;
use crate::read::code::tree::Place;

/// A delay as it is written.
#[derive(Clone, Debug)]
pub struct Delay {
    /// Without its random part, and capped.
    pub nominal: Traced,
    /// What the random part does to it; [`Jitter::NONE`] if it is known to have none.
    pub jitter: Value<Jitter>,
    /// Where the random part is drawn: calls in the function that was asked about. A delay whose random part is drawn outside of
    /// the loop that waits is the same each time.
    pub drawn: Vec<Place>,
}

/// The delay that a node says.
pub fn delay(project: &Project, place: &Place) -> Delay {
    delay_in(project, place, &Bindings::default())
}

/// The same where some names are known to stand for values.
pub fn delay_in(project: &Project, place: &Place, bindings: &Bindings) -> Delay {
    let tracer = Tracer::new(project, false);
    let got = tracer.as_number(&tracer.value(place, bindings));
    let jitter = jitter(&got);
    let drawn = got.drawn.clone();
    Delay { nominal: nominal(got, place), jitter, drawn }
}

/// What a function does to the delay that it is given: the `f` of `delays.map(f)`. With where it draws.
pub fn spread(project: &Project, function: &Place) -> (Value<Jitter>, Vec<Place>) {
    let tracer = Tracer::new(project, false);
    let callee = tracer.value(function, &Env::default());
    let symbol = Symbol { at: function.span(), path: "".into() };
    let argument = Got::unknown(because("the delay before"), symbol.clone());
    let argument = super::spread::with_time(argument, true);
    let unknown = |why: &'static str| (Value::Unknown(Box::new(because(why))), Vec::new());
    let Some(got) = tracer.called(&callee, vec![(None, argument)], function) else {
        return unknown("function that is not followed");
    };
    let before = Linear::symbol(symbol);
    let own = "function that makes delays of its own";
    match &got.value {
        Val::Open(open) if got.is_random() => {
            let jitter = jitter_of(open, Some(&before));
            let is_of_it = open.between.as_ref().is_none_or(|(_, high)| high.symbol == before.symbol);
            if is_of_it { (jitter, got.drawn) } else { unknown(own) }
        }
        Val::Open(open) if open.nominal().as_ref() == Some(&before) => (Value::Known(Jitter::NONE), Vec::new()),
        _ => unknown(own),
    }
}

/// The nominal delay.
fn nominal(got: Got, place: &Place) -> Traced {
    let Val::Open(open) = &got.value else { return known(got, place) };
    let nominal = open.nominal().filter(|_| got.is_random());
    let number = match (nominal.and_then(|nominal| nominal.known()), open.cap) {
        (Some(number), Cap::At(cap)) => Some(number.min(cap)),
        (number, Cap::None) => number,
        (_, Cap::At(_) | Cap::Some) => None,
    };
    let value = match number {
        Some(number) if open.is_time => Value::Known(Known::Duration(Nanos(number.round() as u64))),
        Some(number) if number.fract() == 0.0 && number.abs() < 1e18 => Value::Known(Known::Int(number as i128)),
        Some(number) => Value::Known(Known::Float(number)),
        None => Value::Unknown(Box::new(open.why.clone())),
    };
    Traced { value, ..known(got, place) }
}

/// What the random part of a delay does to it.
fn jitter(got: &Got) -> Value<Jitter> {
    if !got.is_random() {
        return Value::Known(Jitter::NONE);
    }
    match &got.value {
        Val::Open(open) => jitter_of(open, None),
        _ => Value::Unknown(Box::new(because("random in a way that is not followed"))),
    }
}

/// What a random number does to what it is without its random part, or to what it is said to be made of.
fn jitter_of(open: &Open, of: Option<&Linear>) -> Value<Jitter> {
    const BOUNDS: &str = "random within bounds that are not known";
    let unknown = |why: Why| Value::Unknown(Box::new(why));
    let nominal = of.cloned().or_else(|| open.nominal());
    let (Some((low, high)), Some(nominal)) = (&open.between, nominal) else {
        return unknown(match (&open.nominal, &open.why) {
            (Nominal::Soft { .. }, Why::Other(why)) if why != "random" => because(why.clone()),
            _ => because(BOUNDS),
        });
    };
    match interval(open, &nominal, low, high) {
        Some(jitter) => Value::Known(jitter),
        None if high.symbol.is_some() && high.symbol != nominal.symbol => unknown(because(BOUNDS)),
        None => unknown(because("a random part that is no share of the delay")),
    }
}

fn interval(open: &Open, nominal: &Linear, low: &Linear, high: &Linear) -> Option<Jitter> {
    let at = if open.cap == Cap::None { JitterAt::AfterCap } else { JitterAt::BeforeCap };
    let nanos = |nanos: f64| Nanos(nanos.round() as u64);
    let jitter = |low: f64, high: f64, plus: f64, least: f64| {
        let is_sound = low.is_finite() && high.is_finite() && low <= high + 1e-9 && plus >= 0.0;
        // What is no length of time has no nanoseconds.
        let is_sound = is_sound && (open.is_time || plus == 0.0 && least == 0.0);
        let (low, high) = (tidy(low.max(0.0)), tidy(high));
        is_sound.then_some(Jitter { low, high, plus: nanos(plus), least: nanos(least), at, ..Jitter::NONE })
    };
    // As much for any delay.
    let surplus = high.plus(&nominal.scaled(-1.0)).and_then(|surplus| surplus.known());
    if open.is_added
        && open.is_time
        && let (Some(surplus), Some(lower)) = (surplus, low.ratio(nominal))
    {
        return jitter(lower, 1.0, surplus, 0.0);
    }
    let (lower, least) = match low.ratio(nominal) {
        Some(lower) => (lower, 0.0),
        // A fixed time at the least.
        None => (0.0, low.known().filter(|least| *least >= 0.0)?),
    };
    match high.ratio(nominal) {
        Some(upper) => jitter(lower, upper, 0.0, least),
        None => {
            let share = if nominal.share == 0.0 { None } else { Some(high.share / nominal.share) }?;
            jitter(lower, share, high.rest - share * nominal.rest, least)
        }
    }
}

/// Without what binary fractions leave behind: 0.8, not 0.8000000000000002.
fn tidy(share: f64) -> f64 {
    (share * 1e9).round() / 1e9
}
