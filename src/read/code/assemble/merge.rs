//! One site for each place, and which of them stands inside which.

use std::collections::HashMap;
use std::sync::Arc;

use crate::facts::{Attempts, Limit, Policy, PolicyId};
use crate::read::code::site::{Finder, Site};
use crate::read::code::tree::{Id, Kind, LoopKind, Unit};
use crate::source::Span;

/// The sites in the order in which they stand, those that are two views of one place united.
pub fn merge(unit: &Arc<Unit>, mut sites: Vec<Site>) -> Vec<Site> {
    // Outer ones first: of two that begin at the same place, the one that ends later.
    sites.sort_by_key(|site| (unit.at(site.construct).start, std::cmp::Reverse(unit.at(site.construct).end)));
    let mut merged: Vec<Site> = Vec::with_capacity(sites.len());
    for site in sites {
        // What is one place with it stands near it in this order: a strategy in the head of a loop follows the loop.
        match merged.iter_mut().rev().take(8).find(|other| is_one(unit, other, &site)) {
            Some(other) => unite(other, site),
            None => merged.push(site),
        }
    }
    let mut merged = adopt(unit, merged);
    let users: Vec<Id> = merged.iter().filter(|site| knows_its_tries(site)).map(|site| site.construct).collect();
    merged.retain(|site| !is_object(site) || !users.iter().any(|user| is_used(unit, site.construct, *user)));
    merged
}

/// Whether a site is an object that says how to try again, and nothing that does.
fn is_object(site: &Site) -> bool {
    site.from == Finder::Loops && site.is_described
}

/// Whether a site is a loop, or the call of a helper, whose tries are known: also those that an object counts for it.
fn knows_its_tries(site: &Site) -> bool {
    site.from == Finder::Loops && !site.is_described && site.policy.attempts.known().is_some()
}

/// Whether an object is used by something in the same function: it is made there, or in a local that is named there.
fn is_used(unit: &Unit, object: Id, user: Id) -> bool {
    if unit.is_below(object, user) {
        return true;
    }
    let value = std::iter::once(object).chain(unit.around(object)).find_map(|id| match unit.kind(unit.parent(id)?) {
        Kind::Let { names, value: Some(value), .. } if *value == id => Some(names),
        _ => None,
    });
    let is_named = |names: &Vec<_>| {
        let is_it = |id: Id| match unit.kind(id) {
            Kind::Name(name) => name.full.is_none() && names.contains(&name.text),
            _ => false,
        };
        unit.below(user).any(is_it)
    };
    unit.function_of(object) == unit.function_of(user) && value.is_some_and(is_named)
}

/// A layer whose policy is an object of the project's own knows what that object is known to do: where it is made beside, in the
/// same function, the layer is the site, and its numbers stand where the object is made.
fn adopt(unit: &Unit, mut sites: Vec<Site>) -> Vec<Site> {
    let is_beside = |one: &Site, other: &Site| unit.function_of(one.construct) == unit.function_of(other.construct);
    let mut adopted: Vec<Id> = Vec::new();
    let objects: Vec<Site> = sites.iter().filter(|site| is_object(site)).cloned().collect();
    for layer in sites.iter_mut().filter(|site| site.from == Finder::Catalogue) {
        let is_its = |object: &&Site| layer.uses.contains(&object.policy.span) && is_beside(layer, object);
        if layer.policy.attempts.known().is_some() {
            continue;
        }
        let Some(object) = objects.iter().find(is_its) else { continue };
        adopted.push(object.construct);
        let (own, known) = (&mut layer.policy, &object.policy);
        let is_limited = matches!(own.total.limit.known(), Some(Limit::At(_)));
        own.attempts = known.attempts.clone().map(|attempts| match attempts {
            // Without a count, a limit on time is what ends it.
            Attempts::Unbounded if is_limited => Attempts::ByTime,
            attempts => attempts,
        });
        own.backoff = known.backoff.clone();
        own.jitter = known.jitter.clone();
        own.retries_on = known.retries_on.clone();
        own.confidence = own.confidence.min(known.confidence);
        own.span = known.span;
    }
    sites.retain(|site| site.from == Finder::Catalogue || !site.is_described || !adopted.contains(&site.construct));
    sites
}

/// Whether two sites are one place, seen by both finders: the same construct, or a loop and the library's series of delays
/// that it goes through.
fn is_one(unit: &Unit, one: &Site, other: &Site) -> bool {
    if one.from == other.from {
        return false;
    }
    let goes_through = |around: &Site, series: &Site| {
        around.from == Finder::Loops
            && matches!(unit.kind(around.construct), Kind::Loop { kind: LoopKind::Each { over, .. }, .. } if unit.is_below(series.construct, *over))
    };
    one.construct == other.construct || goes_through(one, other) || goes_through(other, one)
}

/// Keeps of two views of one place the one that knows more, with the tries of the one that sees them.
fn unite(known: &mut Site, other: Site) {
    let (construct, operations, apart) = match known.from {
        Finder::Loops => (known.construct, known.operations.clone(), known.apart.clone()),
        Finder::Catalogue => (other.construct, other.operations.clone(), other.apart.clone()),
    };
    let unknowns = |site: &Site| (site.policy.attempts.known().is_none(), site.policy.unknowns().len());
    if unknowns(&other) < unknowns(known) {
        *known = other;
    }
    known.construct = construct;
    known.apart = apart;
    if !operations.is_empty() {
        known.operations = operations;
    }
}

/// For each site the one whose tries it is part of: the innermost. A client made elsewhere is part of those tries that all
/// requests on it stand in; of several layers of one construct, each is part of the one before. What several of them try by one
/// name is part of the one that tries most often.
pub fn nests(unit: &Unit, sites: &[Site]) -> Vec<Option<PolicyId>> {
    // Ranges of tries, outer ones first.
    let mut tries: Vec<(Id, Id, usize)> = Vec::new();
    for (at, site) in sites.iter().enumerate() {
        for root in &site.operations {
            let below = unit.below(*root);
            tries.push((*below.start(), *below.end(), at));
        }
    }
    let mut most: HashMap<Id, u64> = HashMap::new();
    for site in sites {
        let known = most.entry(site.construct).or_default();
        *known = how_often(&site.policy).max(*known);
    }
    let construct = |at: usize| sites.get(at).map_or(0, |site| site.construct);
    let often = |at: usize| most.get(&construct(at)).copied();
    tries.sort_by_key(|(first, last, at)| (*first, std::cmp::Reverse(*last), often(*at), construct(*at), *at));
    let mut places: Vec<(Id, usize)> = Vec::with_capacity(sites.len());
    for (at, site) in sites.iter().enumerate() {
        match is_made_elsewhere(unit, site) {
            true => places.extend(site.operations.iter().map(|operation| (*operation, at))),
            false => places.push((site.construct, at)),
        }
    }
    places.sort_unstable();
    let mut inside: Vec<Option<Option<usize>>> = vec![None; sites.len()];
    let mut open: Vec<(Id, Id, usize)> = Vec::new();
    let mut next = tries.into_iter().peekable();
    for (place, at) in places {
        while let Some(range) = next.next_if(|(first, _, _)| *first <= place) {
            while open.last().is_some_and(|(_, last, _)| *last < range.0) {
                open.pop();
            }
            open.push(range);
        }
        let is_other = |other: usize| {
            let leaves_out = sites.get(other).is_some_and(|other| other.leaves_out(unit, place));
            other != at && !leaves_out && !is_layer_beside(sites, other, at)
        };
        let around = open.iter().rev().take(64).find(|(_, last, site)| place <= *last && is_other(*site));
        let around = around.map(|(_, _, outer)| *outer);
        if let Some(slot) = inside.get_mut(at) {
            // Of several places all must stand in the same tries.
            *slot = Some(slot.map_or(around, |known| known.filter(|known| Some(*known) == around)));
        }
    }
    let mut inside: Vec<Option<usize>> = inside.into_iter().map(Option::flatten).collect();
    for at in 1..sites.len() {
        if is_layer_beside(sites, at - 1, at)
            && let Some(slot) = inside.get_mut(at)
        {
            *slot = Some(at - 1);
        }
    }
    inside.into_iter().map(|outer| outer.map(|outer| PolicyId(outer as u32))).collect()
}

/// How often a policy tries, as far as it is known.
pub fn how_often(policy: &Policy) -> u64 {
    match policy.attempts.known() {
        Some(Attempts::Times(n)) => *n,
        Some(Attempts::Unbounded) => u64::MAX,
        Some(Attempts::ByTime) | None => 0,
    }
}

/// The innermost site of a unit whose tries hold a place of its file.
pub fn around(unit: &Unit, sites: &[Site], place: Span) -> Option<PolicyId> {
    let tries =
        sites.iter().enumerate().flat_map(|(at, site)| site.operations.iter().map(move |root| (at, site, *root)));
    let holds = tries.filter(|(_, site, root)| {
        let is_apart = site.apart.iter().any(|apart| covers(unit.span(*apart), place));
        covers(unit.span(*root), place) && !is_apart
    });
    let (at, ..) = holds.min_by_key(|(_, _, root)| unit.at(*root).end - unit.at(*root).start)?;
    Some(PolicyId(at as u32))
}

fn covers(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

/// Whether the requests of a site stand outside of its construct. Code that is handed over by its name is no request: it is
/// tried where the construct stands, as often as that says, and other constructs that try it too are not in its way.
fn is_made_elsewhere(unit: &Unit, site: &Site) -> bool {
    let is_below =
        |operation: &Id| unit.is_below(*operation, site.construct) || unit.is_below(site.construct, *operation);
    let is_code = |operation: &Id| {
        let is_body = |around: Id| matches!(unit.kind(around), Kind::Function { .. });
        matches!(unit.kind(*operation), Kind::Closure { .. }) || unit.parent(*operation).is_some_and(is_body)
    };
    let is_here = |operation: &Id| is_below(operation) || is_code(operation);
    site.from == Finder::Catalogue && !site.operations.is_empty() && !site.operations.iter().any(is_here)
}

/// Whether two sites are layers of one construct.
fn is_layer_beside(sites: &[Site], one: usize, other: usize) -> bool {
    match (sites.get(one), sites.get(other)) {
        (Some(one), Some(other)) => {
            one.construct == other.construct && one.from == Finder::Catalogue && other.from == Finder::Catalogue
        }
        _ => false,
    }
}
