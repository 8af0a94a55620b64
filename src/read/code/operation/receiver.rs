//! What a receiver is: its written type, that of the field that it is, the type whose function made it.

use super::address::Reader;
use super::scene::{Scene, binding};
use crate::read::code::tree::{Kind, Name, Place};

impl Reader<'_> {
    /// The type of what a node stands for, where it is written or where its constructor is called on it.
    pub fn type_of(&self, scene: &Scene) -> Option<Name> {
        let found = scene.resolve(self.project);
        let unit = &found.place.unit;
        match found.kind() {
            Kind::Name(name) => type_of_name(&found.place, name),
            Kind::Member { of, name } => match unit.kind(*of) {
                Kind::Name(of) => self.field(&found.place, &type_of_name(&found.place, of)?, name),
                _ => None,
            },
            Kind::Record { of, .. } => of.clone(),
            Kind::Call { of, .. } => constructed(unit.callee(*of)?),
            _ => None,
        }
    }

    /// The written type of a field.
    fn field(&self, from: &Place, owner: &Name, field: &str) -> Option<Name> {
        let own = owner.full.as_deref()?;
        let defined = self.project.item(&from.unit, own)?;
        let unit = &defined.unit;
        let Kind::Type { name, .. } = unit.kind(defined.id) else { return None };
        // The fields of a type and its methods may stand in blocks of their own.
        let types = unit.items.iter().filter_map(|id| match unit.kind(*id) {
            Kind::Type { name: other, members, .. } if other == name => Some(members),
            _ => None,
        });
        types.flatten().find_map(|member| match unit.kind(*member) {
            Kind::Let { names, ty: Some(ty), .. } if names.iter().any(|name| **name == *field) => Some(ty.clone()),
            _ => None,
        })
    }
}

/// The type of a local name, as it is written; that of a receiver is its method's.
pub(super) fn type_of_name(place: &Place, name: &Name) -> Option<Name> {
    let unit = &place.unit;
    match unit.kind(binding(place, &name.text)?) {
        Kind::Let { ty, .. } => ty.clone(),
        Kind::Function { params, owner, .. } => {
            let at = params.iter().position(|param| param.name.as_ref() == Some(&name.text))?;
            params.get(at)?.ty.clone().or_else(|| owner.clone().filter(|_| at == 0))
        }
        _ => None,
    }
}

/// The type whose function makes one: `payments_client::PaymentsClient` of `payments_client::PaymentsClient::new`.
fn constructed(name: &Name) -> Option<Name> {
    let around = |path: &str| path.rsplit_once("::").map(|(around, _)| around.into());
    let full = name.full.as_deref().and_then(around);
    Some(Name { text: around(&name.text).or_else(|| full.clone())?, full })
}
