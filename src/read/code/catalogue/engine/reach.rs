//! Which locals and fields may stand for a construct of a library: cheap, by names alone, so that only their chains are followed.

use std::collections::HashSet;

use crate::read::code::tree::{Id, Kind, Unit};

/// Locals that take their value from locals that take theirs from others.
const MOST_PASSES: usize = 6;

/// Names that may stand for a construct.
#[derive(Debug, Default)]
pub(super) struct Reach<'u> {
    locals: HashSet<&'u str>,
    fields: HashSet<&'u str>,
    /// Functions in which one is made.
    makers: HashSet<&'u str>,
}

impl<'u> Reach<'u> {
    /// From the constructs of a unit.
    pub(super) fn of(unit: &'u Unit, constructs: &[Id]) -> Self {
        let mut reach = Reach::default();
        for construct in constructs {
            if let Some(Kind::Function { name, .. }) = unit.function_of(*construct).map(|id| unit.kind(id)) {
                reach.makers.insert(name);
            }
        }
        for _ in 0..MOST_PASSES {
            if !reach.pass(unit, constructs) {
                break;
            }
        }
        reach
    }

    /// Adds what takes its value from what is known; whether that was anything new.
    fn pass(&mut self, unit: &'u Unit, constructs: &[Id]) -> bool {
        let mut known: Vec<Id> = constructs.to_vec();
        known.extend(unit.ids().filter(|(_, node)| self.is_reached(unit, &node.kind)).map(|(id, _)| id));
        known.sort_unstable();
        let holds = |id: Id| {
            let below = unit.below(id);
            known.get(known.partition_point(|known| known < below.start())).is_some_and(|id| below.contains(id))
        };
        let before = self.locals.len() + self.fields.len();
        for (_, node) in unit.ids() {
            match &node.kind {
                Kind::Let { names, value: Some(value), .. } if holds(*value) => {
                    self.locals.extend(names.iter().map(|name| &**name));
                }
                Kind::Held { name: Some(name), value, .. } if holds(*value) => _ = self.locals.insert(name),
                Kind::Assign { place, value, .. } if holds(*value) => match unit.kind(*place) {
                    Kind::Name(name) => _ = self.locals.insert(&name.text),
                    Kind::Member { name, .. } => _ = self.fields.insert(name),
                    _ => {}
                },
                Kind::Record { fields, .. } => {
                    let reached = fields.iter().filter(|field| holds(field.value));
                    self.fields.extend(reached.filter_map(|field| field.name.as_deref()));
                }
                _ => {}
            }
        }
        self.locals.len() + self.fields.len() > before
    }

    fn is_reached(&self, unit: &Unit, kind: &Kind) -> bool {
        match kind {
            Kind::Name(name) if name.full.is_none() => self.locals.contains(&*name.text),
            Kind::Member { name, .. } => self.fields.contains(&**name),
            Kind::Method { name, .. } => self.makers.contains(&**name),
            Kind::Call { of, .. } => unit.callee(*of).is_some_and(|name| self.makers.contains(name.last())),
            _ => false,
        }
    }

    /// Whether a local or field may stand for a construct.
    pub(super) fn has(&self, unit: &Unit, id: Id) -> bool {
        matches!(unit.kind(id), Kind::Name(_) | Kind::Member { .. }) && self.is_reached(unit, unit.kind(id))
    }
}
