//! What values are found, by the language that they are written in; the trees of the others are made by hand.

mod chance;
mod files;
mod hand;
mod others;
mod rust;

use std::sync::Arc;

use super::{Delay, Known, Traced, delay, trace};
use crate::facts::{Jitter, Nanos, Value};
use crate::read::code::fixture;
use crate::read::code::project::Project;
use crate::read::code::tree::{Kind, Place};

/// A value, short: `3`, `250 ms`, `none`, `?argument ...`.
fn shown(traced: &Traced) -> String {
    let value = match &traced.value {
        Value::Known(known) => match known {
            Known::Int(n) => n.to_string(),
            Known::Float(n) => format!("{n:?}"),
            Known::Bool(value) => value.to_string(),
            Known::Text(text) => format!("{text:?}"),
            Known::Duration(nanos) => nanos.to_string(),
            Known::Absent => "none".to_string(),
            Known::List(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", ")),
            Known::Construct(place) => {
                format!("<{:?}>", std::mem::discriminant(place.kind())).replace("Discriminant", "")
            }
        },
        Value::Unknown(why) => format!("?{why}"),
    };
    match &traced.overridden {
        Some(why) => format!("{value}, unless {why}"),
        None => value,
    }
}

/// A delay, short: `1 s x [0.5, 1.5] + 100 ms`.
fn delayed(delay: &Delay) -> String {
    let jitter = match &delay.jitter {
        Value::Known(jitter) if jitter.is_none() => String::new(),
        Value::Known(Jitter { low, high, plus, least, .. }) => {
            let least = if *least == Nanos::ZERO { String::new() } else { format!(", at least {least}") };
            format!(" x [{low}, {high}] + {plus}{least}")
        }
        Value::Unknown(why) => format!(" x ?{why}"),
    };
    shown(&delay.nominal) + &jitter
}

/// What is asked in a text: the argument of the last call of `ask`.
fn asked(text: &str) -> Place {
    let unit = fixture::unit(text);
    let found = unit.ids().filter_map(|(_, node)| match &node.kind {
        Kind::Call { of, args, .. } if unit.callee(*of).is_some_and(|callee| &*callee.text == "ask") => {
            Some(args[0].value)
        }
        _ => None,
    });
    let id = found.last().expect("something is asked");
    Place { unit: Arc::clone(&unit), id }
}

/// What the argument of `ask` is in each text.
fn check(rows: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (text, expected) in rows {
        let found = shown(&trace(&Project::default(), &asked(text)));
        if found != *expected {
            wrong.push(format!("{text}\n  is {found}\n  not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the delay is that is the argument of `ask`, in each text.
fn check_delays(rows: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (text, expected) in rows {
        let found = delayed(&delay(&Project::default(), &asked(text)));
        if found != *expected {
            wrong.push(format!("{text}\n  is {found}\n  not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
