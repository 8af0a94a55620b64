//! Requests that are made on a client which retries by itself: they are its tries, wherever it was made.

use std::sync::Arc;

use super::address::Reader;
use super::scene::Scene;
use crate::read::code::project::Project;
use crate::read::code::tree::{Id, Kind, Place, Unit};
use crate::read::code::words::Words;

/// Chains of methods are followed so far.
const LONGEST: usize = 64;

/// For each of these constructs the requests that are made in the unit on what it makes.
pub(in crate::read::code) fn requests_on(project: &Project, unit: &Arc<Unit>, constructs: &[Id]) -> Vec<Vec<Id>> {
    let mut found = vec![Vec::new(); constructs.len()];
    let reader = Reader { project, words: Words::of(unit.language) };
    let mut by_id: Vec<(Id, usize)> = constructs.iter().enumerate().map(|(at, id)| (*id, at)).collect();
    by_id.sort_unstable();
    if by_id.is_empty() {
        return found;
    }
    for (id, node) in unit.ids() {
        let Kind::Method { on, name, .. } = &node.kind else { continue };
        if !reader.may_begin(name) {
            continue;
        }
        let scene = Scene::new(Place { unit: Arc::clone(unit), id });
        let made = spine(unit, &scene.at(*on).resolve(project));
        let meant = made.iter().find_map(|part| {
            let first = by_id.partition_point(|(construct, _)| construct < part);
            by_id.get(first).filter(|(construct, _)| construct == part)
        });
        let Some((construct, _)) = meant.copied() else { continue };
        if reader.request(&scene).is_none() {
            continue;
        }
        let whole = whole(unit, id);
        for (_, at) in by_id.iter().filter(|(other, _)| *other == construct) {
            if let Some(requests) = found.get_mut(*at).filter(|requests| requests.last() != Some(&whole)) {
                requests.push(whole);
            }
        }
    }
    found
}

/// The nodes of a chain of methods, the last first; none of another unit.
fn spine(unit: &Arc<Unit>, scene: &Scene) -> Vec<Id> {
    let mut parts = Vec::new();
    let mut at = scene.place.id;
    if !Arc::ptr_eq(unit, &scene.place.unit) {
        return parts;
    }
    for _ in 0..LONGEST {
        parts.push(at);
        at = match unit.kind(at) {
            Kind::Method { on, .. } => *on,
            Kind::Await(of) => *of,
            Kind::Branch { on: Some(on), .. } => *on,
            _ => break,
        };
    }
    parts
}

/// The whole of what is done with what a node begins: `client.get(url).send().await`.
fn whole(unit: &Unit, id: Id) -> Id {
    let mut whole = id;
    for outer in unit.around(id).take(LONGEST) {
        match unit.kind(outer) {
            Kind::Method { on, .. } if *on == whole => {}
            Kind::Await(of) if *of == whole => {}
            _ => break,
        }
        whole = outer;
    }
    whole
}
