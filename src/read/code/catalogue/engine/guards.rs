//! Budgets, breakers and hedges of what was set: by a table, by options, by settings one by one.

use super::super::format::Target;
use super::meaning::{Read, limit, number, time, whole};
use super::state::{Got, Said, State};
use crate::facts::{Breaker, Budget, BudgetBase, Floor, Hedging, Limit, Sourced, Why};

pub(super) fn budget(got: &Got, said: &Said) -> Read<Limit<Budget>> {
    let fields = match got {
        Got::None => return Ok(Limit::None),
        Got::Fields(fields) => fields,
        _ => return Err(Why::Other("a budget that is not followed".into())),
    };
    let field = |name: &str| fields.iter().find(|(field, _)| &**field == name).map(|(_, said)| said);
    let missing = || Sourced::<f64>::default_of(0.0, said.by, "budget");
    let base = match field("base").map(|said| &said.got) {
        Some(Got::Word(word)) => match &**word {
            "all" => BudgetBase::All,
            "in-flight" => BudgetBase::InFlight,
            "successes" => BudgetBase::Successes,
            _ => BudgetBase::Originals,
        },
        _ => BudgetBase::Originals,
    };
    Ok(Limit::At(Budget {
        ratio: field("ratio").map_or_else(missing, |said| said.sourced(number)),
        floor: field("floor").map_or_else(
            || missing().map(Floor::PerSecond),
            |said| {
                said.sourced(|got| match got {
                    Got::PerSecond(rate) => Ok(Floor::PerSecond(*rate)),
                    Got::InFlight(count) => Ok(Floor::InFlight(*count)),
                    Got::None => Ok(Floor::PerSecond(0.0)),
                    _ => Err(Why::Other("a floor that is no rate".into())),
                })
            },
        ),
        window: field("window")
            .map_or_else(|| Sourced::default_of(Limit::None, said.by, "budget"), |said| said.sourced(limit)),
        base,
    }))
}

pub(super) fn boxed<T>(limit: Limit<T>) -> Limit<Box<T>> {
    match limit {
        Limit::At(value) => Limit::At(Box::new(value)),
        Limit::None => Limit::None,
    }
}

/// A breaker that a layer lays: by a table, by options, by settings one by one.
pub(super) fn breaker(state: &State) -> Breaker {
    let mut breaker = match state.get(Target::Breaker).map(|said| &said.got) {
        Some(Got::Fields(fields)) => breaker_of(fields),
        _ => Breaker::default(),
    };
    let singles = [Target::Ratio, Target::Consecutive, Target::Minimum, Target::Window, Target::Open, Target::Probes];
    for target in singles {
        if let Some(said) = state.get(target) {
            put(&mut breaker, target.name(), said);
        }
    }
    breaker
}

pub(super) fn breaker_of(fields: &[(std::sync::Arc<str>, Said)]) -> Breaker {
    let mut breaker = Breaker::default();
    for (name, said) in fields {
        put(&mut breaker, name, said);
    }
    breaker
}

fn put(breaker: &mut Breaker, name: &str, said: &Said) {
    match name {
        "ratio" => breaker.ratio = Some(said.sourced(number)),
        "consecutive" => breaker.consecutive = Some(said.sourced(whole)),
        "minimum" => breaker.minimum = Some(said.sourced(whole)),
        "window" => breaker.window = Some(said.sourced(time)),
        "open" => breaker.open = Some(said.sourced(time)),
        "probes" => breaker.probes = Some(said.sourced(whole)),
        _ => {}
    }
}

pub(super) fn hedging(state: &State) -> Option<Box<Hedging>> {
    let fields = match state.get(Target::Hedge).map(|said| &said.got) {
        Some(Got::Fields(fields)) => fields.as_slice(),
        _ => &[],
    };
    let unknown = Said::unknown(Why::Other("not told".into()), Vec::new());
    let get = |target: Target| {
        let field = fields.iter().find(|(field, _)| &**field == target.name()).map(|(_, said)| said);
        field.or_else(|| state.get(target)).unwrap_or(&unknown).clone()
    };
    Some(Box::new(Hedging {
        copies: get(Target::Copies).sourced(whole),
        delay: get(Target::Delay).sourced(time),
        counts_as_try: false,
    }))
}
