//! [`Spot`]: a node, and what the names in it stand for because of the calls that led to it.

use std::ops::Deref;
use std::sync::Arc;

use super::{Engine, QUESTION};
use crate::read::code::tree::{Id, Kind, Place, Test, Unit};
use crate::read::code::values::{self, Bindings, Traced};

/// A node, and what the parameters of the functions around it stand for.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    place: Place,
    bindings: Bindings,
}

impl Deref for Spot {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.place
    }
}

impl Spot {
    /// A node that was come upon in its own file.
    pub(super) fn new(unit: &Arc<Unit>, id: Id) -> Self {
        Spot { place: Place { unit: Arc::clone(unit), id }, bindings: Bindings::default() }
    }

    /// Another node of the same code.
    pub(super) fn at(&self, id: Id) -> Self {
        Spot { place: self.place.at(id), bindings: self.bindings.clone() }
    }

    /// What is waited for, or handed on if it failed: the node under it.
    fn peeled(&self) -> Spot {
        let unit = &self.place.unit;
        let mut id = self.place.id;
        // Children stand before their parents, so this ends.
        loop {
            id = match unit.kind(id) {
                Kind::Await(inner) => *inner,
                Kind::Branch { on: Some(on), arms } => match arms.as_slice() {
                    [arm] if matches!(arm.test, Test::Failure { .. }) => *on,
                    _ => break,
                },
                _ => break,
            };
        }
        self.at(id)
    }
}

impl Engine<'_> {
    /// The value of a node.
    pub(super) fn trace(&self, spot: &Spot) -> Traced {
        if !self.steps(QUESTION) {
            return Traced::unknown("too much to be followed", spot.span());
        }
        values::trace_in(self.project, &spot.place, &spot.bindings)
    }

    /// The construct that a node stands for. Waiting for it, and handing on its failure, changes nothing.
    pub(super) fn definition(&self, spot: &Spot) -> Spot {
        let mut spot = spot.clone();
        for _ in 0..16 {
            if !self.steps(QUESTION) {
                break;
            }
            let peeled = spot.peeled();
            let (place, bindings) = values::definition_in(self.project, &peeled.place, &peeled.bindings);
            let is_there = place.id == spot.place.id && Arc::ptr_eq(&place.unit, &spot.place.unit);
            spot = Spot { place, bindings };
            if is_there {
                break;
            }
        }
        spot
    }
}
