//! Policies of the project's own that a library asks after each try (tower's `Policy`): where one is made, a policy is described,
//! whether or not its count can be told. The library's layer, if it stands beside, takes the numbers from here (see
//! [`merge`](crate::read::code::assemble)).

use std::sync::Arc;

use super::Candidate;
use super::run::number::Number;
use super::run::{Decision, Mode, Val};
use super::series::Delay;
use super::site;
use crate::facts::{Attempts, Confidence, Sourced, Why};
use crate::read::code::packages::From;
use crate::read::code::project::Project;
use crate::read::code::site::Site;
use crate::read::code::tree::{Id, Kind, Name, Place, Sym, Unit};
use crate::read::code::values::definition;
use crate::read::code::words::loops::has;
use crate::read::code::words::{Words, last_of};
use crate::source::Span;

/// Tries after which there is no end.
const ENDLESS: usize = 64;
/// Constructs of one unit that are looked at.
const MOST: usize = 256;

/// The policies that a unit makes.
pub fn sites(project: &Project, words: &Words, unit: &Arc<Unit>) -> Vec<Site> {
    if words.loops.deciders.is_empty() {
        return Vec::new();
    }
    let own = implementing(words, unit);
    let handed = handed(project, words, unit);
    let mut sites: Vec<Site> = Vec::new();
    for (id, _) in unit.ids() {
        let Some((of, ty)) = made(unit, id) else { continue };
        let last = last_of(&ty);
        let names = &words.loops.names;
        let speaks = has(&names.schedules, last) || has(&names.retries, last);
        let is_worth_it = speaks || own.iter().any(|own| ***own == *last) || handed.contains(&id);
        if !is_worth_it || sites.len() >= MOST || is_own_making(unit, id, last) {
            continue;
        }
        let Some(asked) = asked(project, words, unit, &ty).filter(|asked| !hands_on(asked)) else { continue };
        let top = top(unit, id);
        sites.push(described(&Candidate::new(project, words, unit, top), of, &asked));
    }
    // What is made of another one is the outer one.
    let spans: Vec<Span> = sites.iter().map(|site| site.policy.span).collect();
    let is_inner =
        |span: &Span| spans.iter().any(|other| other != span && other.start <= span.start && span.end <= other.end);
    sites.retain(|site| !is_inner(&site.policy.span));
    sites
}

/// The type that a record or call makes, if its name tells: as written and in full. `Policy { .. }`, `Policy(3)`, `Policy::new(3)`.
fn made(unit: &Unit, id: Id) -> Option<(&Name, Sym)> {
    let name = match unit.kind(id) {
        Kind::Record { of: Some(name), .. } => return Some((name, name.full.clone()?)),
        Kind::Call { of, .. } => unit.callee(*of)?,
        Kind::Name(name) => name,
        _ => return None,
    };
    let full = name.full.as_ref()?;
    let is_type = |part: &str| part.starts_with(char::is_uppercase) && part.chars().any(char::is_lowercase);
    match full.rsplit_once("::") {
        Some((owner, _)) if is_type(last_of(owner)) => match unit.kind(id) {
            Kind::Call { .. } => Some((name, owner.into())),
            _ => None,
        },
        // A name alone is one of a type without fields, unless it is what is called.
        _ if is_type(name.last()) && !is_callee(unit, id) => Some((name, full.clone())),
        _ => None,
    }
}

fn is_callee(unit: &Unit, id: Id) -> bool {
    unit.parent(id).is_some_and(|parent| matches!(unit.kind(parent), Kind::Call { of, .. } if *of == id))
}

/// Types that a unit implements a trait of deciders for.
fn implementing<'u>(words: &Words, unit: &'u Unit) -> Vec<&'u Sym> {
    let is_decider = |base: &Name| words.loops.deciders.iter().any(|one| last_of(&one.of) == base.last());
    let types = unit.ids().filter_map(|(_, node)| match &node.kind {
        Kind::Type { name, bases, .. } if bases.iter().any(is_decider) => Some(name),
        _ => None,
    });
    types.collect()
}

/// What is handed to something that asks deciders, as names tell: `RetryLayer::new(policy)`, `.retry(policy)`.
fn handed(project: &Project, words: &Words, unit: &Arc<Unit>) -> Vec<Id> {
    let names = &words.loops.names;
    let is_asking = |method: &str| words.loops.deciders.iter().any(|one| one.method == method);
    let args = unit.ids().filter_map(|(_, node)| match &node.kind {
        Kind::Call { of, args, .. } => {
            let path = unit.callee(*of)?.best();
            let owner = path.rsplit("::").nth(1)?;
            (has(&names.retries, owner)).then(|| args.first())?
        }
        Kind::Method { name, args, .. } if is_asking(name) && args.len() == 1 => args.first(),
        _ => None,
    });
    let definitions = args.map(|arg| definition(project, &Place { unit: Arc::clone(unit), id: arg.value }));
    definitions.filter(|place| Arc::ptr_eq(&place.unit, unit)).map(|place| place.id).collect()
}

/// Whether a construct stands in a function of its own type: then it is a step on the way.
fn is_own_making(unit: &Unit, id: Id, ty: &str) -> bool {
    let function = unit.function_of(id).map(|function| unit.kind(function));
    matches!(function, Some(Kind::Function { owner: Some(owner), .. }) if owner.last() == ty)
}

/// The method of a type of the project's own that a library asks; none if the type implements no such trait.
fn asked(project: &Project, words: &Words, unit: &Arc<Unit>, ty: &str) -> Option<Place> {
    words.loops.deciders.iter().find_map(|decider| {
        let place = project.item(unit, &format!("{ty}::{}", decider.method))?;
        let Kind::Function { body: Some(_), params, .. } = place.kind() else { return None };
        let around = place.unit.parent(place.id).map(|around| place.unit.kind(around));
        let Some(Kind::Type { bases, .. }) = around else { return None };
        let is_it = |base: &Name| {
            let full = base.full.as_deref()?;
            let path = if full == decider.of { full.into() } else { project.outside(&place.unit, full)? };
            (*path == *decider.of && is_from_outside(project, &place.unit, full)).then_some(())
        };
        (params.len() == 3 && bases.iter().any(|base| is_it(base).is_some())).then_some(place)
    })
}

/// Whether a path begins with a package from a registry, as far as that is known.
fn is_from_outside(project: &Project, unit: &Unit, full: &str) -> bool {
    let first = full.split("::").next().unwrap_or(full);
    let package = unit.package.and_then(|id| project.packages.get(id));
    package
        .and_then(|package| package.dependencies.get(first))
        .is_none_or(|dependency| dependency.from == From::Outside)
}

/// Whether a policy asks another one that it holds: that one is the policy.
fn hands_on(asked: &Place) -> bool {
    let Kind::Function { name, .. } = asked.kind() else { return false };
    let unit = &asked.unit;
    unit.below(asked.id).any(|id| {
        matches!(unit.kind(id), Kind::Method { on, name: called, args, .. }
            if called == name && args.len() == 2 && matches!(unit.kind(*on), Kind::Member { .. }))
    })
}

/// The last method of the chain that begins with a node.
fn top(unit: &Unit, id: Id) -> Id {
    let mut top = id;
    while let Some(parent) = unit.parent(top)
        && matches!(unit.kind(parent), Kind::Method { on, .. } if *on == top)
    {
        top = parent;
    }
    top
}

fn described(candidate: &Candidate, of: &Name, asked: &Place) -> Site {
    let (attempts, delays) = decided(candidate, asked);
    let mut site = site::described(candidate, of.best(), attempts, Some(&delays));
    let why = Why::Other("the policy decides which failures are worth another try".into());
    site.policy.retries_on = Sourced::unknown(why, candidate.span());
    site.policy.confidence = Confidence::Medium;
    site
}

/// How often it says that there is another try, each one failing, and how long it waits.
fn decided(candidate: &Candidate, asked: &Place) -> (Sourced<Attempts>, Vec<Delay>) {
    let span = candidate.span();
    let machine = candidate.machine(Mode::Count, &[]);
    let mut object = machine.made(candidate.id);
    let unknown = |why: &'static str| Sourced::unknown(Why::Other(why.into()), span);
    let mut delays = Vec::new();
    if !matches!(object, Val::Record(_)) {
        return (unknown("the policy is not followed to what it is made of"), delays);
    }
    let mut never_ends = true;
    for _ in 0..ENDLESS {
        match machine.decide(candidate.id, asked, object) {
            Some(Decision::Enough) if delays.is_empty() => return (unknown("decided by the policy"), delays),
            Some(Decision::Enough) => {
                let tries = delays.len() as u64 + 1;
                return (Sourced::written(Attempts::Times(tries), span), delays);
            }
            Some(Decision::Again { delay, object: next, may_end }) => {
                never_ends &= !may_end;
                delays.push(waited(candidate, asked, delay));
                object = next;
            }
            None => return (unknown("decided by the policy"), delays),
        }
    }
    // Whatever ends it may be the failure, or something that is not seen.
    (if never_ends { Sourced::written(Attempts::Unbounded, span) } else { unknown("decided by the policy") }, delays)
}

/// A delay as it is seen; a future that is ready at once does not wait.
fn waited(candidate: &Candidate, asked: &Place, delay: Option<Val>) -> Delay {
    let span = candidate.span();
    let number = match &delay {
        Some(delay) => delay.as_number().cloned(),
        None => is_ready(asked).then(|| Number::time(0.0, Some(span))),
    };
    let why = number.is_none().then(|| Why::Other("the policy decides how long it waits".into()));
    Delay { number, why, node: candidate.id }
}

/// Whether a method gives nothing but futures that are ready at once.
fn is_ready(asked: &Place) -> bool {
    const READY: &str = "future::ready";
    let unit = &asked.unit;
    let is_ready = |id: Id| match unit.kind(id) {
        Kind::Call { of, .. } => unit.callee(*of).is_some_and(|name| name.best().ends_with(READY)),
        _ => false,
    };
    unit.below(asked.id).any(is_ready)
}
