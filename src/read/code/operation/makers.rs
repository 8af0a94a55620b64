//! Where a value comes from that is handed about: through locals, arguments, fields and functions that give it, to what made it.

use super::address::Reader;
use super::receiver::type_of_name;
use super::scene::{Scene, binding, function};
use crate::read::code::tree::{Id, Kind, Name, Place, Sym};
use crate::read::code::words::last_of;
use crate::read::code::words::values::Operation;

/// So many steps are taken for one value.
const STEPS: usize = 64;
/// Calls of one function that are looked at.
const CALLS: usize = 16;
/// Chains of methods are followed so far.
const LONGEST: usize = 64;

impl Reader<'_> {
    /// What may have made the value of a node: the nodes of chains of methods, the last first. Of several callers each one's.
    pub fn makers(&self, scene: &Scene) -> Vec<Scene> {
        let mut found = Vec::new();
        let mut todo = vec![scene.clone()];
        let mut steps = STEPS;
        while let Some(next) = todo.pop() {
            let Some(left) = steps.checked_sub(1) else { break };
            steps = left;
            let chain = chain(&next.resolve(self.project));
            let Some(first) = chain.last().cloned() else { continue };
            found.extend(chain);
            match first.kind() {
                Kind::Name(name) => todo.extend(self.handed_in(&first, name)),
                Kind::Member { of, name } => {
                    if let Kind::Name(of) = first.place.unit.kind(*of) {
                        todo.extend(self.put_in(&first, of, name));
                    }
                }
                Kind::Call { of, .. } => {
                    if let Kind::Name(name) = first.place.unit.kind(*of)
                        && let Some(called) = function(self.project, &first.place, name)
                    {
                        todo.extend(self.given_back(&called));
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// What the callers of the function around hand in for a parameter.
    fn handed_in(&self, scene: &Scene, name: &Name) -> Vec<Scene> {
        let unit = &scene.place.unit;
        let Some(around) = binding(&scene.place, &name.text) else { return Vec::new() };
        let Kind::Function { params, path, .. } = unit.kind(around) else { return Vec::new() };
        let Some(at) = params.iter().position(|param| param.name.as_ref() == Some(&name.text)) else {
            return Vec::new();
        };
        let calls = self.project.callers(unit, path).places.into_iter().take(CALLS);
        let given = |call: Place| {
            let value = match call.kind() {
                Kind::Call { args, .. } => args.get(at)?.value,
                Kind::Method { on, args, .. } => match at.checked_sub(1) {
                    Some(at) => args.get(at)?.value,
                    None => *on,
                },
                _ => return None,
            };
            Some(Scene::new(call.at(value)))
        };
        calls.filter_map(given).collect()
    }

    /// What is put into a field where something of that type is made: by a function of the type, or in the same file.
    fn put_in(&self, scene: &Scene, of: &Name, field: &Sym) -> Vec<Scene> {
        let Some(owner) = type_of_name(&scene.place, of).and_then(|owner| owner.full) else { return Vec::new() };
        let unit = &scene.place.unit;
        let constructors = self.words.requests.constructors.iter();
        let made = constructors.filter_map(|name| self.project.item(unit, &format!("{owner}::{name}")));
        let mut values = Vec::new();
        for place in made.chain(std::iter::once(scene.place.clone())) {
            let unit = &place.unit;
            let value = |id: Id| {
                let Kind::Record { of: Some(of), fields, .. } = unit.kind(id) else { return None };
                let is_own = || match unit.kind(unit.function_of(id)?) {
                    Kind::Function { owner: Some(own), .. } => Some(own.last() == last_of(&owner)),
                    _ => None,
                };
                let is_it = of.last() == last_of(&owner) || of.last() == "Self" && is_own() == Some(true);
                fields.iter().find(|one| is_it && one.name.as_ref() == Some(field)).map(|one| one.value)
            };
            let found = match place.kind() {
                Kind::Function { body: Some(body), .. } => unit.below(*body).find_map(value),
                _ => unit.ids().find_map(|(id, _)| value(id)),
            };
            values.extend(found.map(|value| Scene::new(place.at(value))));
        }
        values
    }

    /// What a function gives back at its end.
    fn given_back(&self, function: &Place) -> Option<Scene> {
        let Kind::Function { body: Some(body), .. } = function.kind() else { return None };
        let unit = &function.unit;
        let mut id: Id = *body;
        for _ in 0..LONGEST {
            id = match unit.kind(id) {
                Kind::Block(ids) => *ids.last()?,
                Kind::Call { of, args, .. } => match args.as_slice() {
                    [only] if self.wraps(unit.callee(*of)?) => only.value,
                    _ => break,
                },
                _ => break,
            };
        }
        Some(Scene::new(function.at(id)))
    }

    fn wraps(&self, name: &Name) -> bool {
        let path = name.best();
        self.words.loops.wrappers.of_path(path).is_some()
            || self.words.values.functions.of_path(path) == Some(Operation::Same)
    }
}

/// The nodes of a chain of methods, the last first.
fn chain(scene: &Scene) -> Vec<Scene> {
    let unit = &scene.place.unit;
    let mut parts = Vec::new();
    let mut at = scene.place.id;
    for _ in 0..LONGEST {
        parts.push(scene.at(at));
        at = match unit.kind(at) {
            Kind::Method { on, .. } => *on,
            Kind::Await(of) => *of,
            Kind::Branch { on: Some(on), .. } => *on,
            _ => break,
        };
    }
    parts
}
