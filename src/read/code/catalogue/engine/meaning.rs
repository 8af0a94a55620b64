//! What a value means for the fact that it is set for; why it is unknown where it means nothing.

use super::state::Got;
use crate::facts::{Classes, Jitter, Limit, Methods, Nanos, Why};

/// A value of a fact, or why it is not known.
pub(super) type Read<T> = Result<T, Why>;

pub(super) fn whole(got: &Got) -> Read<u64> {
    match got {
        Got::Int(n) => u64::try_from(*n).map_err(|_| Why::Other("a number below zero".into())),
        Got::Float(n) if n.fract() == 0.0 && *n >= 0.0 => Ok(*n as u64),
        Got::Unknown(why) => Err(why.clone()),
        _ => Err(Why::Other("no whole number".into())),
    }
}

pub(super) fn number(got: &Got) -> Read<f64> {
    match got {
        Got::Int(n) => Ok(*n as f64),
        Got::Float(n) if n.is_finite() => Ok(*n),
        Got::Unknown(why) => Err(why.clone()),
        _ => Err(Why::Other("no number".into())),
    }
}

pub(super) fn time(got: &Got) -> Read<Nanos> {
    match got {
        Got::Time(time) => Ok(*time),
        Got::Unknown(why) => Err(why.clone()),
        _ => Err(Why::Other("no length of time".into())),
    }
}

pub(super) fn limit(got: &Got) -> Read<Limit<Nanos>> {
    match got {
        Got::None => Ok(Limit::None),
        got => time(got).map(Limit::At),
    }
}

pub(super) fn jitter(got: &Got) -> Read<Jitter> {
    match got {
        Got::None => Ok(Jitter::NONE),
        Got::Jitter(jitter) => Ok(*jitter),
        _ => Err(Why::Other("a random part that is not followed".into())),
    }
}

pub(super) fn classes(got: &Got) -> Read<(Classes, Classes)> {
    match got {
        Got::Classes(all, named) => Ok((*all, *named)),
        Got::Unknown(why) => Err(why.clone()),
        _ => Err(Why::Other("decided by something that is not followed".into())),
    }
}

pub(super) fn methods(got: &Got) -> Read<Methods> {
    match got {
        Got::Methods(methods) => Ok(methods.clone()),
        _ => Err(Why::Other("methods that are not followed".into())),
    }
}

pub(super) fn switch(got: &Got) -> Read<bool> {
    match got {
        Got::Bool(is) => Ok(*is),
        Got::None => Ok(false),
        // Something is given that does it.
        Got::Code(_) => Ok(true),
        _ => Err(Why::Other("no switch".into())),
    }
}
