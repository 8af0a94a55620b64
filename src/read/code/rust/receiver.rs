//! Of which type a method's receiver is, as far as parameters, fields and what is made by name tell.

use super::find::Hit;
use super::finder::Modules;
use crate::read::code::packages::Packages;
use crate::read::code::tree::{Id, Kind, Name, Unit};
use crate::read::code::words::last_of;

/// Types that lead on to the one inside of them.
const WRAPPERS: [&str; 9] = ["Arc", "Rc", "Box", "Mutex", "RwLock", "RefCell", "Option", "Cow", "Data"];
/// Fields of fields are looked through this far.
const DEEPEST: usize = 4;

/// What is known of a receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// Of the type.
    Same,
    /// Of another.
    Other,
    /// A variable or field of which nothing is known.
    Unknown,
    /// Whatever something else gives.
    Result,
}

/// Whether a receiver is of the type called `owner`.
pub fn receiver(modules: &Modules, packages: &Packages, unit: &Unit, on: Id, owner: &str) -> Receiver {
    match unit.kind(on) {
        Kind::Name(_) | Kind::Member { .. } => {}
        Kind::Call { .. } | Kind::Record { .. } => {
            return made(unit, on).map_or(Receiver::Result, |name| compare(&name, owner));
        }
        _ => return Receiver::Result,
    }
    match type_of(modules, packages, unit, on, DEEPEST) {
        Some(name) => compare(&name, owner),
        None => Receiver::Unknown,
    }
}

fn compare(name: &str, owner: &str) -> Receiver {
    match last_of(name) {
        last if last == owner => Receiver::Same,
        last if WRAPPERS.contains(&last) => Receiver::Unknown,
        _ => Receiver::Other,
    }
}

fn type_of(modules: &Modules, packages: &Packages, unit: &Unit, id: Id, depth: usize) -> Option<String> {
    let text = |name: &Name| name.best().to_owned();
    match unit.kind(id) {
        Kind::Name(name) => {
            let function = unit.function_of(id)?;
            let Kind::Function { owner, params, .. } = unit.kind(function) else { return None };
            if *name.text == *"self" {
                return owner.as_ref().map(text);
            }
            let bound = unit.below(function).rev().find_map(|at| match unit.kind(at) {
                Kind::Let { names, value, ty } if at < id && matches!(&**names, [only] if *only == name.text) => {
                    Some(ty.as_ref().map(text).or_else(|| value.and_then(|value| made(unit, value))))
                }
                _ => None,
            });
            bound.unwrap_or_else(|| {
                let param = params.iter().find(|param| param.name.as_ref() == Some(&name.text));
                param?.ty.as_ref().map(text)
            })
        }
        Kind::Member { of, name } if depth > 0 => {
            let owner = type_of(modules, packages, unit, *of, depth - 1)?;
            let Hit::Item(source, item) = modules.hit(packages, unit, &owner)? else { return None };
            let place = modules.place(packages, &source, item)?;
            let Kind::Type { members, .. } = place.kind() else { return None };
            members.iter().find_map(|member| match place.unit.kind(*member) {
                Kind::Let { names, ty: Some(ty), .. } if names.contains(name) => Some(text(ty)),
                _ => None,
            })
        }
        _ => None,
    }
}

/// The type that a constructor or literal makes: `T` of `T::new(…)`, of `T { … }`.
fn made(unit: &Unit, id: Id) -> Option<String> {
    match unit.kind(id) {
        Kind::Record { of, .. } => of.as_ref().map(|name| name.best().to_owned()),
        Kind::Call { of, .. } => {
            let (owner, _) = unit.callee(*of)?.best().rsplit_once("::")?;
            let is_type = last_of(owner).starts_with(char::is_uppercase);
            is_type.then(|| owner.to_owned())
        }
        _ => None,
    }
}
