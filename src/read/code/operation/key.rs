//! Idempotency keys: whether a try carries one, and whether each try carries another (which protects nobody).

use super::address::Reader;
use super::scene::{Scene, binding, function};
use crate::read::code::tree::{Id, Kind, Literal, Place};
use crate::read::code::words::{lists, split};
use crate::source::Span;

/// Values are followed through so many names.
const DEEPEST: usize = 6;

/// A key that a try carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Where it is put in.
    pub span: Span,
    /// Where it is made anew in each try, if it is.
    pub made_in_try: Option<Span>,
}

/// What is done once per try.
#[derive(Clone, Debug)]
pub(super) struct Extent {
    /// The unit, at any of its nodes.
    pub unit: Place,
    /// The roots.
    pub roots: Vec<Id>,
    /// What stands below them and is not done once per try.
    pub apart: Vec<Id>,
}

impl Extent {
    /// Whether a node stands below the roots.
    pub fn covers(&self, scene: &Scene) -> bool {
        std::sync::Arc::ptr_eq(&self.unit.unit, &scene.place.unit)
            && self.roots.iter().any(|root| scene.place.unit.is_below(scene.place.id, *root))
    }

    /// Whether a node stands below the roots and is no part of a try.
    pub fn leaves_out(&self, place: &Place) -> bool {
        std::sync::Arc::ptr_eq(&self.unit.unit, &place.unit) && self.apart.contains(&place.id)
    }

    /// Whether a node is reached in each try.
    fn holds(&self, scene: &Scene) -> bool {
        self.covers(scene) || scene.frame.as_ref().is_some_and(|frame| frame.depth > 0)
    }
}

impl Reader<'_> {
    /// The key that a node puts into a request.
    pub fn key(&self, scene: &Scene, extent: &Extent) -> Option<Key> {
        let words = &self.words.keys;
        let is_field = |name: &str| words.fields.iter().any(|field| field == name);
        let value = match scene.kind() {
            Kind::Method { name, args, .. } => match args.as_slice() {
                [value] if is_field(name) => value.value,
                [header, value, ..] if self.is_header(&scene.at(header.value)) => value.value,
                _ => return None,
            },
            Kind::Call { args, .. } => match args.as_slice() {
                [header, value, ..] if self.is_header(&scene.at(header.value)) => value.value,
                _ => return None,
            },
            Kind::Record { fields, .. } => {
                let is_key = |name: &str| is_field(name) || self.names_header(name);
                fields.iter().find(|field| field.name.as_deref().is_some_and(is_key))?.value
            }
            // A message written as text or in a macro: what stands around the name is what may make the key.
            Kind::Literal(Literal::Text(text)) if is_field(text) => {
                let around = scene.place.unit.parent(scene.place.id)?;
                if matches!(
                    scene.place.unit.kind(around),
                    Kind::Call { .. } | Kind::Method { .. } | Kind::Branch { .. }
                ) {
                    return None;
                }
                around
            }
            _ => return None,
        };
        Some(Key { span: scene.at(value).place.span(), made_in_try: self.made(&scene.at(value), extent, 0) })
    }

    /// Whether an argument names a header that holds a key.
    fn is_header(&self, scene: &Scene) -> bool {
        let text = match scene.kind() {
            Kind::Literal(Literal::Text(text)) => text.clone(),
            Kind::Name(name) => self.text(scene).unwrap_or_else(|| name.last().into()),
            Kind::Call { args, .. } => match args.as_slice() {
                [only] => return self.is_header(&scene.at(only.value)),
                _ => return false,
            },
            _ => return false,
        };
        self.names_header(&text)
    }

    /// Whether a text is the name of such a header, however it is written.
    fn names_header(&self, text: &str) -> bool {
        self.words.keys.headers.contains(&split(text).join("-"))
    }

    /// Where a value is made anew in each try.
    fn made(&self, scene: &Scene, extent: &Extent, depth: usize) -> Option<Span> {
        if depth > DEEPEST || !extent.holds(scene) {
            return None;
        }
        let unit = &scene.place.unit;
        unit.below(scene.place.id).find_map(|id| {
            let at = scene.at(id);
            match at.kind() {
                Kind::Call { of, args, .. } => {
                    let name = unit.callee(*of)?;
                    if lists(&self.words.keys.makers, name.best()) {
                        return Some(at.place.span());
                    }
                    let body =
                        at.enter(self.project, &Scene::new(function(self.project, &at.place, name)?), None, args)?;
                    self.made(&body, extent, depth + 1)
                }
                Kind::Name(name) => {
                    let bound = at.bound();
                    let value = match bound {
                        Some(bound) => bound,
                        None => match unit.kind(binding(&at.place, &name.text)?) {
                            Kind::Let { value: Some(value), .. } => at.at(*value),
                            _ => return None,
                        },
                    };
                    self.made(&value, extent, depth + 1)
                }
                _ => None,
            }
        })
    }
}
