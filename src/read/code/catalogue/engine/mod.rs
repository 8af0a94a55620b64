//! The engine: which nodes of a unit are of a shape, and what the shapes say of them.
//!
//! From a run to the construct of its policy (`chain`), from there outward through the methods in the order in which they are
//! called (`clause`), with values through the tracer (`value`, `scope`), into what was set (`state`), and from there into a
//! policy (`finish`).

mod callback;
mod chain;
mod changes;
mod clause;
mod fields;
mod finish;
mod guards;
mod identity;
mod meaning;
mod part;
mod predicate;
mod reach;
mod scope;
mod spot;
mod state;
#[cfg(test)]
mod tests;
mod uses;
mod value;

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::sync::Arc;

use super::format::{Is, Layer, Target};
use super::index::{Catalogue, last as index_last};
use crate::facts::interned;
use crate::facts::{Confidence, InCode};
use crate::read::code::project::Project;
use crate::read::code::site::{Finder, Site};
use crate::read::code::tree::{Id, Kind, Sym, Unit};
use crate::source::Span;
use identity::Found;
use spot::Spot;
use state::{Got, State};

/// Constructs within constructs that are followed.
const MOST_DEPTH: u32 = 12;
/// Links of chains that are followed for one unit; hostile code could have any number.
const MOST_STEPS: u32 = 400_000;
/// What a question to the value tracer counts as: each may look at thousands of nodes.
const QUESTION: u32 = 40;

/// Everything that is needed to read one unit.
pub(super) struct Engine<'p> {
    project: &'p Project,
    catalogue: &'p Catalogue,
    unit: Arc<Unit>,
    left: Cell<u32>,
    methods: OnceCell<HashMap<Sym, Vec<Id>>>,
    fields: OnceCell<fields::Fields>,
}

/// A node that is of a shape.
struct Hit<'p> {
    id: Id,
    found: Found<'p>,
    /// The function under the mark.
    marked: Option<Id>,
}

/// The uses of catalogued libraries in a unit, in the order in which they stand.
pub(super) fn sites(project: &Project, catalogue: &Catalogue, unit: &Arc<Unit>) -> Vec<Site> {
    let engine = Engine {
        project,
        catalogue,
        unit: Arc::clone(unit),
        left: Cell::new(MOST_STEPS),
        methods: OnceCell::new(),
        fields: OnceCell::new(),
    };
    let hits = engine.hits();
    let mut sites = Vec::new();
    // What something else is made of is not there a second time.
    let mut used: Vec<Span> = Vec::new();
    for hit in hits.iter().filter(|hit| matches!(hit.found.shape.is, Is::Run | Is::Inner)) {
        sites.extend(engine.run(hit, &mut used));
    }
    let described = engine.uses(&hits);
    for is in [&[Is::Stack, Is::Client][..], &[Is::Part], &[Is::Policy]] {
        let mut these = Vec::new();
        for hit in hits.iter().filter(|hit| is.contains(&hit.found.shape.is)) {
            let span = unit.span(hit.id);
            if !used.contains(&span) {
                these.push((span, engine.described_site(hit, &described, &mut used)));
            }
        }
        // A client inside of another one was met before or after it.
        sites.extend(these.into_iter().filter(|(span, _)| !used.contains(span)).flat_map(|(_, sites)| sites));
    }
    sites.sort_by_key(|site| (site.policy.span, site.construct));
    sites
}

impl<'p> Engine<'p> {
    /// Whether another link may be followed.
    fn step(&self) -> bool {
        self.steps(1)
    }

    /// Whether something that counts as so many links may still be done.
    fn steps(&self, count: u32) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(count));
        left >= count
    }

    fn place(&self, id: Id) -> Spot {
        Spot::new(&self.unit, id)
    }

    /// Functions of the unit by their names.
    fn methods_of(&self, unit: &Arc<Unit>) -> &HashMap<Sym, Vec<Id>> {
        static NONE: std::sync::LazyLock<HashMap<Sym, Vec<Id>>> = std::sync::LazyLock::new(HashMap::new);
        if !Arc::ptr_eq(unit, &self.unit) {
            return &NONE;
        }
        self.methods.get_or_init(|| {
            let mut all: HashMap<Sym, Vec<Id>> = HashMap::new();
            for (id, node) in unit.ids() {
                if let Kind::Function { name, owner: Some(_), .. } = &node.kind {
                    all.entry(name.clone()).or_default().push(id);
                }
            }
            all
        })
    }

    /// Every node that is of a shape.
    fn hits(&self) -> Vec<Hit<'p>> {
        let unit = &self.unit;
        let mut hits = Vec::new();
        let mut marks: Vec<Id> = Vec::new();
        for (id, node) in unit.ids() {
            let found = match &node.kind {
                Kind::Function { marks: own, .. } => {
                    let own = own.iter().filter_map(|mark| Some((*mark, self.mark(&self.place(*mark))?)));
                    for (mark, found) in own {
                        marks.push(mark);
                        hits.push(Hit { id: mark, found, marked: Some(id) });
                    }
                    None
                }
                // What is called by a name is the call.
                Kind::Name(_) => {
                    let parent = unit.parent(id).map(|parent| unit.kind(parent));
                    let is_called = matches!(parent, Some(Kind::Call { of, .. }) if *of == id);
                    (!is_called).then(|| self.found(&self.place(id))).flatten()
                }
                Kind::Call { .. } | Kind::Record { .. } | Kind::Method { .. } => self.found(&self.place(id)),
                _ => None,
            };
            hits.extend(found.map(|found| Hit { id, found, marked: None }));
        }
        hits.retain(|hit| hit.marked.is_some() || !marks.contains(&hit.id));
        hits.sort_by_key(|hit| hit.id);
        hits
    }

    /// Something that starts tries, or a call that tries again by itself.
    fn run(&self, hit: &Hit<'p>, used: &mut Vec<Span>) -> Vec<Site> {
        let place = self.place(hit.id);
        let mut state = self.construct(&hit.found, &place, hit.marked, 0);
        let mut top = hit.id;
        for method in self.outward(hit.id) {
            self.called(&hit.found, &self.place(method), &mut state, 0);
            top = method;
        }
        if !self.is_plausible(hit, &state) {
            return Vec::new();
        }
        used.append(&mut state.uses.clone());
        let operations = match state.get(Target::Operation).map(|said| &said.got) {
            Some(Got::Code(operation)) => self.operation(operation),
            _ if hit.found.shape.is == Is::Inner => vec![top],
            _ => Vec::new(),
        };
        let construct = hit.marked.unwrap_or(top);
        self.finish(hit, state, construct, &operations, used)
    }

    /// Whether a method that is known by a trait in scope is really that trait's: others have methods of that name too. Then
    /// something is known of its policy, or what it is called on can be tried, or what follows is the library's.
    fn is_plausible(&self, hit: &Hit<'p>, state: &State) -> bool {
        let place = self.place(hit.id);
        let Kind::Method { on, .. } = place.kind() else { return true };
        if hit.found.shape.method_of.is_empty() {
            return true;
        }
        let is_policy = state.uses.len() > 1;
        let tried = self.definition(&place.at(*on));
        let is_tried = matches!(tried.kind(), Kind::Closure { .. } | Kind::Function { .. } | Kind::Block(_));
        let next = self.unit.parent(hit.id).map(|parent| self.unit.kind(parent));
        let goes_on = match next {
            Some(Kind::Await(_)) => true,
            Some(Kind::Method { on, name, .. }) => {
                *on == hit.id && hit.found.all(|says| Some(&says.method)).flatten().any(|(known, _)| known == name)
            }
            _ => false,
        };
        is_policy || is_tried || goes_on
    }

    /// The node of what is tried: the function or closure itself, if it stands in this unit.
    fn operation(&self, place: &Spot) -> Vec<Id> {
        let definition = self.definition(place);
        let node = if Arc::ptr_eq(&definition.unit, &self.unit) { definition } else { place.clone() };
        if !Arc::ptr_eq(&node.unit, &self.unit) {
            return Vec::new();
        }
        match node.kind() {
            Kind::Function { body: Some(body), .. } => vec![*body],
            _ => vec![node.id],
        }
    }

    /// The methods that are called on a node, from the inside, as far as nothing else comes between.
    fn outward(&self, id: Id) -> impl Iterator<Item = Id> {
        let mut at = id;
        std::iter::from_fn(move || {
            let parent = self.unit.parent(at)?;
            let is_on = matches!(self.unit.kind(parent), Kind::Method { on, .. } if *on == at);
            at = parent;
            is_on.then_some(parent)
        })
    }

    /// The sites of a state: one for each layer that retries. A client inside that only limits time is no site of its own.
    fn finish(&self, hit: &Hit<'p>, state: State, construct: Id, operations: &[Id], used: &mut Vec<Span>) -> Vec<Site> {
        let unit = &self.unit;
        let span = match hit.marked {
            Some(_) => unit.span(hit.id),
            None => unit.span(construct),
        };
        let function = hit.marked.or_else(|| unit.function_of(construct));
        let about = finish::About {
            span,
            name: self.name(construct, function),
            by: interned(&hit.found.library.name),
            in_code: InCode {
                function: function.and_then(|id| self.shown(id)),
                is_async: self.is_async(construct, function),
                ..InCode::default()
            },
            is_run: matches!(hit.found.shape.is, Is::Run | Is::Inner),
        };
        let inner = match state.get(Target::Inner).map(|said| &said.got) {
            Some(Got::Code(place)) => Some(self.described(place, 1)),
            _ => None,
        };
        let is_limit = |inner: &&State| !inner.retries() && inner.layers.iter().all(|layer| layer.kind != Layer::Retry);
        if let Some(inner) = inner.iter().flatten().find(is_limit) {
            used.extend(inner.uses.iter().copied());
        }
        let uses: Vec<Span> = state.uses.iter().chain(&state.objects).copied().collect();
        let is_from_macro = unit.is_from_macro(hit.id);
        let policies = finish::policies(state, inner, &about);
        let site = |(mut policy, given): (crate::facts::Policy, Option<Spot>)| {
            // A policy that is made beside, in the same function, is where its numbers are.
            let beside = given.filter(|given| {
                Arc::ptr_eq(&given.unit, unit)
                    && unit.function_of(given.id) == unit.function_of(construct)
                    && !unit.is_below(given.id, construct)
            });
            policy.span = beside.map_or(span, |given| given.span());
            policy.test_code = unit.is_test(unit.at(construct));
            if is_from_macro {
                policy.confidence = policy.confidence.min(Confidence::Medium);
            }
            Site {
                policy,
                construct,
                operations: operations.to_vec(),
                apart: Vec::new(),
                from: Finder::Catalogue,
                uses: uses.clone(),
                is_described: !about.is_run,
            }
        };
        policies.into_iter().map(site).collect()
    }

    /// What a construct is called: by the variable that holds it, else by the function around it.
    fn name(&self, construct: Id, function: Option<Id>) -> String {
        let unit = &self.unit;
        let held = unit.around(construct).take(3).find_map(|around| match unit.kind(around) {
            Kind::Let { names, .. } => names.first().filter(|_| names.len() == 1).cloned(),
            Kind::Constant { name, .. } => Some(name.clone()),
            _ => None,
        });
        let function = function.and_then(|id| self.shown(id));
        match (held, function) {
            (Some(held), Some(function)) => format!("{held} in {function}"),
            (Some(name), None) | (None, Some(name)) => name.to_string(),
            (None, None) => unit.module.to_string(),
        }
    }

    /// A function as shown: with the type that it belongs to.
    fn shown(&self, function: Id) -> Option<Sym> {
        match self.unit.kind(function) {
            Kind::Function { name, owner: Some(owner), .. } => Some(format!("{}::{name}", owner.last()).into()),
            Kind::Function { name, .. } => Some(name.clone()),
            _ => None,
        }
    }

    /// Whether a construct stands in asynchronous code: the innermost closure or function around it decides.
    fn is_async(&self, construct: Id, function: Option<Id>) -> bool {
        let unit = &self.unit;
        let around = unit.around(construct).chain(function).find_map(|around| match unit.kind(around) {
            Kind::Closure { is_async, .. } | Kind::Function { is_async, .. } => Some(*is_async),
            _ => None,
        });
        around.unwrap_or(false)
    }
}
