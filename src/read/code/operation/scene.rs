//! A node in a call of the function that it stands in: what its parameters are bound to is known.

use std::rc::Rc;
use std::sync::Arc;

use crate::read::code::project::Project;
use crate::read::code::tree::{Arg, Id, Kind, Name, Place, Sym};
use crate::read::code::values::{self, Bindings};

/// Functions of the project are followed so deep.
const DEEPEST: u32 = 3;
/// Names are followed through so many bindings.
const LONGEST: usize = 16;

/// A node, in one call of the function around it.
#[derive(Clone, Debug)]
pub(in crate::read::code) struct Scene {
    pub place: Place,
    pub frame: Option<Rc<Frame>>,
    /// What names stand for, as far as it is a value.
    pub bindings: Bindings,
}

/// One call of a function.
#[derive(Debug)]
pub(in crate::read::code) struct Frame {
    /// The function or closure.
    pub function: Place,
    /// What its parameters are in this call.
    args: Vec<(Sym, Scene)>,
    bindings: Bindings,
    /// How many functions were entered on the way here.
    pub depth: u32,
    /// The call that led here.
    pub up: Option<Rc<Frame>>,
}

impl Scene {
    /// A node of which nothing is known but where it stands.
    pub fn new(place: Place) -> Scene {
        Scene { place, frame: None, bindings: Bindings::default() }
    }

    /// A node of the function that a frame is a call of.
    pub fn within(place: Place, frame: Option<Rc<Frame>>) -> Scene {
        let bindings = frame.as_ref().map(|frame| frame.bindings.clone()).unwrap_or_default();
        Scene { place, frame, bindings }
    }

    /// Another node of the same call.
    pub fn at(&self, id: Id) -> Scene {
        Scene { place: self.place.at(id), ..self.clone() }
    }

    /// What the node is.
    pub fn kind(&self) -> &Kind {
        self.place.kind()
    }

    /// Whether two are the same node, in whatever call.
    pub fn is_same(&self, other: &Scene) -> bool {
        is_same(&self.place, &other.place)
    }

    /// Whether the call is one of a function that was entered on the way.
    pub fn is_within(&self, function: &Place) -> bool {
        let mut frames = std::iter::successors(self.frame.as_ref(), |frame| frame.up.as_ref());
        frames.any(|frame| is_same(&frame.function, function))
    }

    /// The node that stands for this one's value, through names, arguments and what changes nothing.
    pub fn resolve(&self, project: &Project) -> Scene {
        let mut scene = self.clone();
        for _ in 0..LONGEST {
            if let Some(bound) = scene.bound() {
                scene = bound;
                continue;
            }
            let (place, bindings) = values::definition_in(project, &scene.place, &scene.bindings);
            if is_same(&place, &scene.place) {
                break;
            }
            let is_inside = scene.frame.as_ref().is_some_and(|frame| frame.holds(&place));
            let frame = scene.frame.filter(|_| is_inside);
            scene = Scene { place, frame, bindings };
        }
        scene
    }

    /// What a parameter is bound to in this call.
    pub fn bound(&self) -> Option<Scene> {
        let Kind::Name(name) = self.kind() else { return None };
        let mut frame = self.frame.as_ref();
        while let Some(one) = frame {
            if one.holds(&self.place)
                && let Some((_, arg)) = one.args.iter().find(|(param, _)| *param == name.text)
            {
                let is_shadowed = binding(&self.place, &name.text)
                    .is_some_and(|id| one.function.unit.is_below(id, one.function.id) && id != one.function.id);
                return (!is_shadowed).then(|| arg.clone());
            }
            frame = one.up.as_ref();
        }
        None
    }

    /// The body of a function or closure, in a call with these arguments. None if it has no body, calls itself, or lies too
    /// deep.
    pub fn enter(&self, project: &Project, function: &Scene, receiver: Option<Scene>, args: &[Arg]) -> Option<Scene> {
        let Scene { place: function, bindings: made, .. } = function;
        let depth = self.frame.as_ref().map_or(0, |frame| frame.depth);
        if self.is_within(function) {
            return None;
        }
        let (body, depth) = match function.kind() {
            Kind::Function { body: Some(body), .. } => (*body, depth + 1),
            Kind::Closure { body, .. } => (*body, depth),
            _ => return None,
        };
        if depth > DEEPEST {
            return None;
        }
        let args = self.given(function, receiver, args);
        let bindings = bound(project, function, made, &args);
        let frame = Frame { function: function.clone(), args, bindings, depth, up: self.frame.clone() };
        Some(Scene::within(function.at(body), Some(Rc::new(frame))))
    }

    /// What a function or closure is given for each of its parameters.
    fn given(&self, function: &Place, receiver: Option<Scene>, args: &[Arg]) -> Vec<(Sym, Scene)> {
        let params: Vec<Sym> = match function.kind() {
            // A parameter without a name keeps its place.
            Kind::Function { params, .. } => {
                params.iter().map(|param| param.name.clone().unwrap_or_else(|| Arc::from(""))).collect()
            }
            Kind::Closure { params, .. } => params.clone(),
            _ => Vec::new(),
        };
        let named = args.iter().filter_map(|arg| Some((arg.name.clone()?, self.at(arg.value))));
        let positional = args.iter().filter(|arg| arg.name.is_none() && !arg.spread).map(|arg| self.at(arg.value));
        named.chain(params.into_iter().zip(receiver.into_iter().chain(positional))).collect()
    }

    /// Whether it is a node of the try itself, not of a function that the try calls.
    pub fn is_own(&self) -> bool {
        let is_entered = |frame: &Rc<Frame>| frame.depth > 0 || matches!(frame.function.kind(), Kind::Closure { .. });
        !self.frame.as_ref().is_some_and(is_entered)
    }
}

impl Frame {
    /// A call of the function around a place where something is tried, as one of its callers makes it.
    pub fn of(project: &Project, function: Place, call: &Scene) -> Option<Rc<Frame>> {
        let (receiver, args) = match call.kind() {
            Kind::Call { args, .. } => (None, args),
            Kind::Method { on, args, .. } => (Some(call.at(*on)), args),
            _ => return None,
        };
        let args = call.given(&function, receiver, args);
        let bindings = bound(project, &function, &Bindings::default(), &args);
        Some(Rc::new(Frame { function, args, bindings, depth: 0, up: None }))
    }

    /// Whether a node stands in this function.
    fn holds(&self, place: &Place) -> bool {
        Arc::ptr_eq(&place.unit, &self.function.unit) && place.unit.is_below(place.id, self.function.id)
    }
}

fn bound(project: &Project, function: &Place, made: &Bindings, args: &[(Sym, Scene)]) -> Bindings {
    let args: Vec<(Sym, Place, Bindings)> =
        args.iter().map(|(param, arg)| (param.clone(), arg.place.clone(), arg.bindings.clone())).collect();
    values::bound(project, function, made, &args)
}

/// Whether two places are the same.
pub(in crate::read::code) fn is_same(one: &Place, other: &Place) -> bool {
    one.id == other.id && Arc::ptr_eq(&one.unit, &other.unit)
}

/// What binds a local name as seen from a node: the last `let` before it in the blocks around it, or the closure or function
/// whose parameter it is.
pub(in crate::read::code) fn binding(place: &Place, name: &str) -> Option<Id> {
    let unit = &place.unit;
    let mut inner = place.id;
    for outer in unit.around(place.id) {
        match unit.kind(outer) {
            Kind::Block(statements) => {
                let before = statements.iter().rev().skip_while(|id| **id != inner).skip(1);
                let binds =
                    |id: &&Id| matches!(unit.kind(**id), Kind::Let { names, .. } if names.iter().any(|n| **n == *name));
                if let Some(found) = before.clone().find(|id| binds(id)) {
                    return Some(*found);
                }
            }
            Kind::Closure { params, .. } if params.iter().any(|param| **param == *name) => return Some(outer),
            Kind::Function { params, .. } => {
                let is_param = params.iter().any(|param| param.name.as_deref() == Some(name));
                return is_param.then_some(outer);
            }
            _ => {}
        }
        inner = outer;
    }
    None
}

/// The function of the project that a name means, asked for from where it is used.
pub(in crate::read::code) fn function(project: &Project, place: &Place, name: &Name) -> Option<Place> {
    let is_function = |place: &Place| matches!(place.kind(), Kind::Function { body: Some(_), .. });
    let unit = &place.unit;
    if let Some(known) = project.named(unit, name) {
        return Some(known).filter(is_function);
    }
    // One that is declared in a block around it.
    let named = |id: &&Id| matches!(unit.kind(**id), Kind::Function { name: own, .. } if **own == *name.text);
    let found = unit.around(place.id).find_map(|id| match unit.kind(id) {
        Kind::Block(statements) => statements.iter().find(named).copied(),
        _ => None,
    })?;
    Some(place.at(found)).filter(is_function)
}
