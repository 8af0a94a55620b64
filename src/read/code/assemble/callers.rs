//! Who makes the tries of a site: the code that it stands in, or whoever calls the function around it (contracts.md D-3).

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use crate::facts::{Callee, Enclosure, PolicyId};
use crate::read::code::operation::scene::{Frame, Scene};
use crate::read::code::operation::{Tried, tried};
use crate::read::code::project::Project;
use crate::read::code::tree::{Id, Kind, Place, Sym};
use crate::source::Span;

/// So many calls of a function that retries are told apart.
const MOST: usize = 64;
/// Callers of callers are looked at so far up.
const HIGHEST: usize = 3;

/// The tries of a site, as one of those makes them who call the function around it.
pub(super) struct Use {
    /// What they do.
    pub tried: Tried,
    /// The site, or the call.
    pub span: Span,
    /// Whether it is the site itself.
    pub is_here: bool,
}

/// What a site tries, and where; each request on a client by itself, for they are tries apart.
pub(super) fn uses(project: &Project, site: &Place, operations: &[Id], apart: &[Id]) -> Vec<Use> {
    if operations.len() < 2 && operations.iter().all(|operation| is_near(site, *operation)) {
        return uses_of(project, site, operations, apart, site.span());
    }
    let mut uses = Vec::new();
    for operation in operations.iter().take(MOST) {
        let place = site.at(*operation);
        uses.extend(uses_of(project, &place, &[*operation], apart, place.span()));
    }
    uses.truncate(MOST);
    uses
}

/// Whether what is tried stands in the construct that tries it, or in the same function.
fn is_near(site: &Place, operation: Id) -> bool {
    let unit = &site.unit;
    unit.is_below(operation, site.id) || !matches!(unit.kind(operation), Kind::Method { .. } | Kind::Await(_))
}

/// The site itself, and those who call the function around it where only they say whom it calls, or where they stand in
/// other packages.
fn uses_of(project: &Project, site: &Place, operations: &[Id], apart: &[Id], span: Span) -> Vec<Use> {
    let own = tried(project, site, operations, apart, None);
    let needs_callers =
        matches!(own.callee, Callee::Unknown(_)) && (own.is_parameter || rests_on_parameter(site, operations));
    let mut uses = vec![Use { tried: own.clone(), span, is_here: true }];
    let Some(function) = function_around(site) else { return uses };
    if needs_callers {
        for (call, frame) in frames(project, &function, HIGHEST) {
            let bound = tried(project, site, operations, apart, Some(frame));
            if !matches!(bound.callee, Callee::Unknown(_)) && uses.len() < MOST {
                uses.push(Use { tried: bound, span: call.span(), is_here: false });
            }
        }
    } else if is_shared(project, site) && !matches!(own.callee, Callee::Unknown(_)) {
        let others = in_other_packages(project, &function);
        uses.extend(others.into_iter().map(|call| Use { tried: own.clone(), span: call.span(), is_here: false }));
    }
    uses
}

/// The function around a node.
fn function_around(place: &Place) -> Option<Place> {
    Some(place.at(place.unit.function_of(place.id)?))
}

/// The full path of a function.
fn path(function: &Place) -> Option<&Sym> {
    match function.kind() {
        Kind::Function { path, .. } => Some(path),
        _ => None,
    }
}

/// Whether the tries use a parameter of the function around them.
fn rests_on_parameter(site: &Place, operations: &[Id]) -> bool {
    let unit = &site.unit;
    let Some(Kind::Function { params, .. }) = unit.function_of(site.id).map(|id| unit.kind(id)) else { return false };
    let is_parameter = |name: &Sym| params.iter().any(|param| param.name.as_ref() == Some(name));
    let mut below = operations.iter().flat_map(|root| unit.below(*root));
    below.any(|id| matches!(unit.kind(id), Kind::Name(name) if name.full.is_none() && is_parameter(&name.text)))
}

/// The calls of a function outside of tests.
fn calls_of(project: &Project, function: &Place, path: &str) -> impl Iterator<Item = Place> {
    project.callers(&function.unit, path).places.into_iter().filter(|place| !is_test(place)).take(MOST)
}

/// All calls of the function around a node outside of tests; none if there may be others.
pub(super) fn all_calls(project: &Project, place: &Place) -> Option<Vec<Place>> {
    let function = function_around(place)?;
    let mut calls = project.all_callers(&function.unit, path(&function)?)?;
    calls.retain(|call| !is_test(call));
    (!calls.is_empty()).then_some(calls)
}

fn is_test(place: &Place) -> bool {
    place.unit.is_test(place.unit.at(place.id))
}

/// Whether other packages can use the code of this one.
fn is_shared(project: &Project, site: &Place) -> bool {
    let package = site.unit.package.and_then(|id| project.packages.get(id));
    package.is_some_and(|package| package.library.is_some())
}

/// Calls of a function with what they hand to it; what is itself handed to the function around a call is looked for with
/// those who call that one.
fn frames(project: &Project, function: &Place, height: usize) -> Vec<(Place, Rc<Frame>)> {
    let Some(path) = path(function) else { return Vec::new() };
    let mut found = Vec::new();
    for call in calls_of(project, function, path) {
        if found.len() >= MOST {
            break;
        }
        let outer = match function_around(&call) {
            Some(outer) if height > 1 && hands_on(&call) => frames(project, &outer, height - 1),
            _ => Vec::new(),
        };
        let above = outer.into_iter().map(|(place, frame)| (place, Some(frame)));
        for (place, frame) in above.chain(std::iter::once((call.clone(), None))) {
            let scene = Scene::within(call.clone(), frame);
            found.extend(Frame::of(project, function.clone(), &scene).map(|frame| (place, frame)));
        }
    }
    found
}

/// Whether a call hands on a parameter of the function around it.
fn hands_on(call: &Place) -> bool {
    let args = match call.kind() {
        Kind::Call { args, .. } | Kind::Method { args, .. } => args,
        _ => return false,
    };
    let roots: Vec<Id> = args.iter().map(|arg| arg.value).collect();
    rests_on_parameter(call, &roots)
}

/// The calls of a function in other packages, through functions of its own.
fn in_other_packages(project: &Project, function: &Place) -> Vec<Place> {
    let mut found = Vec::new();
    let mut seen: HashSet<Sym> = HashSet::new();
    let mut todo = vec![(function.clone(), 0)];
    while let Some((function, height)) = todo.pop() {
        let Some(path) = path(&function).filter(|path| seen.insert(Arc::clone(path))) else { continue };
        for call in calls_of(project, &function, path) {
            if call.unit.package != function.unit.package {
                if found.len() < MOST {
                    found.push(call);
                }
            } else if height < HIGHEST
                && let Some(outer) = function_around(&call)
            {
                todo.push((outer, height + 1));
            }
        }
    }
    found
}

/// Of the functions that a try calls, those that lead to something that retries.
pub(super) fn enclosed(
    project: &Project,
    outer: PolicyId,
    entered: &[(Place, Place)],
    may_retry: impl Fn(&Place) -> bool,
) -> Vec<Enclosure> {
    let retrying: Vec<&Place> =
        entered.iter().filter(|(function, _)| may_retry(function)).map(|(_, call)| call).collect();
    if retrying.is_empty() {
        return Vec::new();
    }
    let leads_there = |function: &Place| {
        let holds =
            |call: &&&Place| Arc::ptr_eq(&call.unit, &function.unit) && function.unit.is_below(call.id, function.id);
        may_retry(function) || retrying.iter().any(|call| holds(&call))
    };
    let mut found: Vec<Enclosure> = Vec::new();
    for (function, call) in entered.iter().filter(|(function, _)| leads_there(function)) {
        let around = function_around(call).map(|around| around.span());
        // The try itself calls it, or a function that was met before.
        let (depth, is_only) = match found.iter().find(|one| Some(one.function) == around) {
            Some(one) => (one.depth + 1, one.is_only),
            None => (0, true),
        };
        let is_only = is_only && is_only_call(project, function, call);
        found.push(Enclosure { outer, function: function.span(), depth, is_only });
    }
    found
}

/// Whether a call is the only one of a function.
fn is_only_call(project: &Project, function: &Place, call: &Place) -> bool {
    let Some(path) = path(function) else { return false };
    let Some(callers) = project.all_callers(&function.unit, path) else { return false };
    let mut places = callers.iter().filter(|place| !is_test(place));
    places.next().is_some_and(|first| first.span() == call.span()) && places.next().is_none()
}
