//! What a type keeps in a field: `self.client` is what the one record of that type was given for it.

use std::collections::HashMap;
use std::sync::Arc;

use super::Engine;
use super::spot::Spot;
use crate::read::code::tree::{Id, Kind, Sym, Unit};

/// By type and field: the value that records give it; none if there are several.
pub(super) type Fields = HashMap<(Sym, Sym), Option<Id>>;

impl Engine<'_> {
    /// The value of a field of the object that a method is called on, if one record in this file gives it and nothing else sets
    /// it.
    pub(super) fn field_value(&self, member: &Spot) -> Option<Spot> {
        let Kind::Member { of, name } = member.kind() else { return None };
        let (unit, Kind::Name(object)) = (&member.unit, member.unit.kind(*of)) else { return None };
        if !Arc::ptr_eq(unit, &self.unit) || object.full.is_some() {
            return None;
        }
        let function = unit.function_of(member.id)?;
        let Kind::Function { owner: Some(owner), params, .. } = unit.kind(function) else { return None };
        if params.first()?.name.as_ref() != Some(&object.text) {
            return None;
        }
        let fields = self.fields.get_or_init(|| fields(unit));
        let value = fields.get(&(Sym::from(owner.best()), name.clone())).copied().flatten()?;
        Some(Spot::new(unit, value))
    }
}

fn fields(unit: &Unit) -> Fields {
    let mut all = Fields::new();
    for (id, node) in unit.ids().filter(|(_, node)| !unit.is_test(node.at)) {
        match &node.kind {
            Kind::Record { of: Some(of), fields, .. } => {
                for field in fields {
                    let Some(name) = &field.name else { continue };
                    all.entry((Sym::from(of.best()), name.clone()))
                        .and_modify(|value| *value = None)
                        .or_insert(Some(field.value));
                }
            }
            // Set later on, it may be any.
            Kind::Assign { place, .. } => {
                if let Kind::Member { name, .. } = unit.kind(*place)
                    && let Some(Kind::Function { owner: Some(owner), .. }) =
                        unit.function_of(id).map(|id| unit.kind(id))
                {
                    all.insert((Sym::from(owner.best()), name.clone()), None);
                }
            }
            _ => {}
        }
    }
    all
}
