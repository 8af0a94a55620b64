//! Objects of the project's own that say how often and how long: retry parameters, things that deal out delays. Where one is made
//! with known numbers, a policy is described, whoever uses it.

use std::rc::Rc;
use std::sync::Arc;

use super::Candidate;
use super::run::number::Number;
use super::run::value::Record;
use super::run::{Machine, Mode, Val};
use super::series::Delay;
use super::site;
use crate::facts::{Attempts, Classes, Confidence, Sourced, Why};
use crate::read::code::project::Project;
use crate::read::code::site::{COUNTLESS, Site};
use crate::read::code::tree::{Id, Kind, Name, Place, Sym, Unit};
use crate::read::code::words::Words;
use crate::read::code::words::loops::{has, parts};
use crate::read::code::words::values::Operation;
use crate::source::Span;

/// Delays that are asked for.
const ASKED: usize = 8;
/// Delays after which a thing that deals them out has no end.
const ENDLESS: usize = 64;

/// The policies that a unit describes.
pub fn sites(project: &Project, words: &Words, unit: &Arc<Unit>) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::new();
    for (id, node) in unit.ids() {
        let is_made = match &node.kind {
            Kind::Record { of: Some(of), fields, .. } => {
                let named = fields.iter().filter_map(|field| field.name.as_ref());
                let names: Vec<&Sym> = named.collect();
                let speaks = speaks(words, of.last());
                names.iter().any(|name| counts(words, name)) && (speaks || names.iter().any(|name| delays(words, name)))
            }
            Kind::Call { of, .. } => unit.callee(*of).is_some_and(|name| makes(words, name)) && !is_link(unit, id),
            Kind::Method { .. } => starts_as(words, unit, id) && !is_link(unit, id),
            _ => false,
        };
        if !is_made {
            continue;
        }
        let candidate = Candidate::new(project, words, unit, id);
        sites.extend(described(&candidate));
    }
    // What is made of something that is described itself is the outer one.
    let spans: Vec<Span> = sites.iter().map(|site| site.policy.span).collect();
    let is_inner =
        |span: &Span| spans.iter().any(|other| other != span && other.start <= span.start && span.end <= other.end);
    sites.retain(|site| !is_inner(&site.policy.span));
    sites
}

/// Whether a field says how many tries there are.
fn counts(words: &Words, field: &str) -> bool {
    let names = &words.loops.names;
    let is_time = delays(words, field) || has(&names.units, field);
    has(&names.attempts, field) && !is_time && parts(field).all(|part| !names.states.contains(&part))
}

/// Whether a field says how long to wait.
fn delays(words: &Words, field: &str) -> bool {
    has(&words.loops.names.delays, field)
}

/// Whether a function is one of a type that says by its name what it is for: `RetryParams::standard`, `Backoff::new`.
fn makes(words: &Words, name: &Name) -> bool {
    name.best().rsplit("::").nth(1).is_some_and(|owner| speaks(words, owner))
}

/// Whether a type says by its name that it is about trying again.
fn speaks(words: &Words, ty: &str) -> bool {
    let names = &words.loops.names;
    ty.starts_with(char::is_uppercase) && (has(&names.schedules, ty) || has(&names.retries, ty))
}

/// Whether a chain begins with such a function.
fn starts_as(words: &Words, unit: &Unit, id: Id) -> bool {
    const LONGEST: usize = 32;
    let mut id = id;
    for _ in 0..LONGEST {
        match unit.kind(id) {
            Kind::Method { on, .. } => id = *on,
            Kind::Call { of, .. } => return unit.callee(*of).is_some_and(|name| makes(words, name)),
            _ => return false,
        }
    }
    false
}

/// Whether a call is the receiver of a method: the chain goes on.
fn is_link(unit: &Unit, id: Id) -> bool {
    unit.parent(id).is_some_and(|parent| matches!(unit.kind(parent), Kind::Method { on, .. } if *on == id))
}

fn described(candidate: &Candidate) -> Option<Site> {
    let machine = candidate.machine(Mode::Count, &[]);
    let value = machine.value_before(candidate.id);
    let (record, methods) = telling(candidate, record_of(&value)?)?;
    let dealt = methods.next.as_ref().and_then(|next| dealt(candidate, &machine, next, &record));
    let (attempts, series) = match dealt {
        Some(dealt) => dealt,
        None => {
            let attempts = counted(candidate, &record)?;
            let tries = match attempts.known() {
                Some(Attempts::Times(1)) => Vec::new(),
                _ => methods.nth.as_ref().map(|nth| asked(candidate, &machine, nth, &record)).unwrap_or_default(),
            };
            (attempts, tries)
        }
    };
    attempts.known()?;
    let mut site = site::described(candidate, record.last(), attempts, (!series.is_empty()).then_some(&series));
    site.policy.retries_on = Sourced::written(Classes::ASSUMED, candidate.span());
    // Nothing but the names of its fields says that it is about retries.
    site.policy.confidence = Confidence::Low;
    Some(site)
}

/// The fields that a value has, or what is in it.
fn record_of(value: &Val) -> Option<&Rc<Record>> {
    match value {
        Val::Record(record) => Some(record),
        Val::Good(inner) | Val::Present(inner) => record_of(inner),
        _ => None,
    }
}

/// The object that says how often: this one, else one that it holds.
fn telling(candidate: &Candidate, record: &Rc<Record>) -> Option<(Rc<Record>, Methods)> {
    let of = |record: &Rc<Record>| {
        let methods = Methods::of(candidate, record)?;
        let says = methods.next.is_some() || counted(candidate, record).is_some();
        says.then(|| (Rc::clone(record), methods))
    };
    let mut held = record.fields.iter().filter_map(|(_, value)| record_of(value));
    of(record).or_else(|| held.find_map(of))
}

/// What an object can be asked.
struct Methods {
    /// For the next delay; it has no more when that is absent.
    next: Option<Place>,
    /// For the delay before the n-th retry.
    nth: Option<Place>,
}

impl Methods {
    /// The methods of the project's own type that a record is of; none for what comes from elsewhere.
    fn of(candidate: &Candidate, record: &Record) -> Option<Methods> {
        let of = record.of.as_ref()?;
        let full = of.name.full.as_ref()?;
        let project = candidate.project;
        let own = match project.item(&of.unit, full)?.kind() {
            Kind::Type { name, .. } => Sym::clone(name),
            _ => return None,
        };
        let names = &candidate.words.loops.names;
        let mut methods = Methods { next: None, nth: None };
        for name in project.methods(&of.unit, full) {
            let is_next = candidate.words.values.methods.get(&name) == Some(Operation::Successive);
            if !has(&names.delays, &name) && !is_next {
                continue;
            }
            let Some(place) = project.item(&of.unit, &format!("{full}::{name}")) else { continue };
            let Kind::Function { params, returns: Some(returns), body: Some(_), .. } = place.kind() else { continue };
            // What makes one, or changes it, says nothing yet.
            if *returns.last() == *own {
                continue;
            }
            let is_time = candidate.words.loops.time_types.iter().any(|ty| **ty == *returns.last());
            match params.len() {
                1 if (is_next || !is_time) && methods.next.is_none() => methods.next = Some(place),
                2 if is_time && methods.nth.is_none() => methods.nth = Some(place),
                _ => {}
            }
        }
        Some(methods)
    }
}

/// How many tries a record says there are.
fn counted(candidate: &Candidate, record: &Record) -> Option<Sourced<Attempts>> {
    let counting = || record.fields.iter().filter(|(name, _)| counts(candidate.words, name));
    let is_zero = |value: &Val| value.as_number().and_then(Number::exact) == Some(0.0);
    // Beside another number, none at all is where something begins to count, and no bound.
    let (name, value) = match counting().find(|(_, value)| !is_zero(value)) {
        Some(bound) => bound,
        None => counting().next()?,
    };
    let number = value.as_number()?;
    let count = number.exact()?;
    let is_of_retries = has(&candidate.words.loops.names.retry_counts, name);
    if count < 1.0 && !is_of_retries {
        return None;
    }
    let span = number.span.unwrap_or(candidate.span());
    if count > COUNTLESS {
        return Some(Sourced::written(Attempts::Unbounded, span));
    }
    // Retries come after the first try.
    let more = u64::from(is_of_retries);
    let tries = (count as u64).saturating_add(more).max(1);
    Some(Sourced::written(Attempts::Times(tries), span))
}

/// The delays of something that deals them out, and how many tries they make. None of what stays as it is when it is asked: it
/// only says how long to wait.
fn dealt(
    candidate: &Candidate,
    machine: &Machine,
    next: &Place,
    record: &Rc<Record>,
) -> Option<(Sourced<Attempts>, Vec<Delay>)> {
    let span = candidate.span();
    let mut series = Vec::new();
    let mut object = Val::Record(record.clone());
    let unknown = || Sourced::unknown(Why::Other("delays that are not followed".into()), span);
    for _ in 0..ENDLESS {
        let Some((value, changed)) = machine.ask(candidate.id, next, object.clone(), Vec::new()) else {
            return (!series.is_empty()).then(|| (unknown(), series));
        };
        let number = match &value {
            // An object that deals out nothing at all is more likely misread than made for a single try.
            Val::Absent if series.is_empty() => return Some((unknown(), series)),
            Val::Absent => {
                let tries = series.len() as u64 + 1;
                return Some((Sourced::written(Attempts::Times(tries), span), series));
            }
            Val::Number(_) if series.is_empty() && changed == object => return None,
            value => value.as_number().cloned(),
        };
        let Some(number) = number else { return Some((unknown(), series)) };
        series.push(delay(candidate, number));
        object = changed;
    }
    Some((Sourced::written(Attempts::Unbounded, span), series))
}

/// The delays that are asked for by their number, from 0, or from 1 where 0 is refused.
fn asked(candidate: &Candidate, machine: &Machine, nth: &Place, record: &Rc<Record>) -> Vec<Delay> {
    let at = |n: usize| {
        let number = Val::number(Number::whole(n as i128, None).varying());
        let (value, _) = machine.ask(candidate.id, nth, Val::Record(record.clone()), vec![number])?;
        value.as_number().cloned()
    };
    let from = usize::from(at(0).is_none());
    (from..from + ASKED).map_while(|n| at(n).map(|number| delay(candidate, number))).collect()
}

fn delay(candidate: &Candidate, number: Number) -> Delay {
    Delay { number: Some(number), why: None, node: candidate.id }
}
