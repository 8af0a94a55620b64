//! Requests that are made on a client which retries by itself: they are its tries, wherever it was made.

use std::sync::Arc;

use super::address::Reader;
use super::scene::Scene;
use crate::read::code::project::Project;
use crate::read::code::tree::{Id, Kind, Place, Unit};
use crate::read::code::words::Words;
use crate::source::Span;

/// Chains of methods are followed so far.
const LONGEST: usize = 64;

/// For each of these constructs the requests that are made in the unit on what it makes.
pub(in crate::read::code) fn requests_on(project: &Project, unit: &Arc<Unit>, constructs: &[Id]) -> Vec<Vec<Id>> {
    let mut found = vec![Vec::new(); constructs.len()];
    let reader = Reader { project, words: Words::of(unit.language) };
    // By where they stand: a function that hands one on may have been parsed by itself.
    let mut by_span: Vec<(Span, usize)> = constructs.iter().enumerate().map(|(at, id)| (unit.span(*id), at)).collect();
    by_span.sort_unstable();
    if by_span.is_empty() {
        return found;
    }
    for (id, node) in unit.ids() {
        let Kind::Method { on, name, .. } = &node.kind else { continue };
        if !reader.may_begin(name) {
            continue;
        }
        let scene = Scene::new(Place { unit: Arc::clone(unit), id });
        if reader.request(&scene).is_none() {
            continue;
        }
        let made = reader.makers(&scene.at(*on));
        let meant = made.iter().map(|part| part.place.span()).find_map(|part| {
            let first = by_span.partition_point(|(construct, _)| *construct < part);
            by_span.get(first).filter(|(construct, _)| *construct == part)
        });
        let Some((construct, _)) = meant.copied() else { continue };
        let whole = whole(unit, id);
        for (_, at) in by_span.iter().filter(|(other, _)| *other == construct) {
            if let Some(requests) = found.get_mut(*at).filter(|requests| requests.last() != Some(&whole)) {
                requests.push(whole);
            }
        }
    }
    found
}

/// The whole of what is done with what a node begins: `client.get(url).send().await`.
pub(super) fn whole(unit: &Unit, id: Id) -> Id {
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
