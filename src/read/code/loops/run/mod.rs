//! A dry run: code is gone through as a machine would, every way that cannot be told apart from what is written side by side.
//! What is known (counters, constants, delays) is computed; an operation of which it is asked whether it worked has two ways
//! on. So whatever shape a loop has, its tries are counted and its delays measured by the same means.
//!
//! The run is bounded: so many steps, so many ways side by side, so deep. What lies beyond is not known.

mod answers;
mod ask;
mod before;
mod branch;
mod call;
mod decide;
mod failures;
mod follow;
mod inner;
mod kept;
mod macros;
mod method;
mod names;
pub mod number;
mod operate;
mod pass;
pub mod state;
pub mod value;
mod widen;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

pub use decide::Decision;
pub use pass::{End, Leaving};
pub use state::{Choice, State, Step, Waited};
pub use value::{Origins, Try, Unknown, Val};

use crate::read::code::project::Project;
use crate::read::code::tree::{Exit, Id, Kind, Literal, Part, Sym, Unit};
use crate::read::code::words::Words;
use crate::source::Span;
use number::Number;
use value::{Code, Record, Type};

/// How deep a run goes into code; an expression beyond is not known.
const DEPTH: u32 = 160;
/// Functions that are followed within each other at most.
const CALLS: u32 = 8;

/// What a run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One pass of many: what changes from pass to pass is not known.
    Explore,
    /// All passes, as they come, every try failing.
    Count,
    /// The same, and passes beyond the last one, to see how delays grow.
    Grow,
}

/// Runs code.
pub struct Machine<'a> {
    project: &'a Project,
    words: &'a Words,
    /// Where the loop stands.
    unit: &'a Arc<Unit>,
    /// The loop, or the function that calls itself.
    target: Id,
    mode: Mode,
    /// The operations that are tried again: in counting, they fail.
    ops: &'a [Id],
    /// The calls that make the tries.
    tried: &'a [Id],
    fuel: Cell<u32>,
    serial: Cell<u32>,
    pass: Cell<u32>,
    depth: Cell<u32>,
    calls: Cell<u32>,
    /// Variables from outside of the loop, once they were looked up.
    outside: RefCell<HashMap<Sym, Val>>,
    /// Comparisons of a number that changes with one that does not, in this pass.
    compared: RefCell<Vec<Compared>>,
    /// Beyond the last pass: no number that changes ends anything.
    is_beyond: Cell<bool>,
    /// The call in the loop whose function is followed.
    site: Cell<Option<Id>>,
    /// Whether ways were left out: what is the same on all that are left need not be so on all.
    is_cut: Cell<bool>,
}

/// A comparison of a number that changes from pass to pass with one that does not.
#[derive(Clone, Copy, Debug)]
pub struct Compared {
    /// The comparison.
    pub node: Id,
    /// What came out.
    pub holds: bool,
    /// How far the two are apart.
    pub distance: f64,
    /// Whether they are lengths of time.
    pub is_time: bool,
    /// Where the bound is written.
    pub bound: Option<Span>,
}

/// Where one way leads.
#[derive(Clone, Debug)]
pub struct Out {
    /// What holds there.
    pub state: State,
    /// How it gets there.
    pub flow: Flow,
}

/// How control goes on behind a node.
#[derive(Clone, Debug, PartialEq)]
pub enum Flow {
    /// With this value.
    Value(Val),
    /// It leaves.
    Leave(Exit, Option<Sym>, Val),
}

/// Ways side by side.
pub type Outs = Vec<Out>;

impl Out {
    fn value(state: State, value: Val) -> Out {
        Out { state, flow: Flow::Value(value) }
    }

    /// Behind a block with a label: what breaks out of it goes on.
    fn behind(mut self, label: &Sym) -> Out {
        match self.flow {
            Flow::Leave(Exit::Break, Some(target), value) if target == *label => {
                self.state.exit = None;
                Out::value(self.state, value)
            }
            flow => Out { flow, ..self },
        }
    }
}

fn one(state: State, value: Val) -> Outs {
    vec![Out::value(state, value)]
}

impl<'a> Machine<'a> {
    /// A machine for a loop.
    pub fn new(
        project: &'a Project,
        words: &'a Words,
        unit: &'a Arc<Unit>,
        target: Id,
        mode: Mode,
        ops: &'a [Id],
        given: &[(Sym, Val)],
    ) -> Machine<'a> {
        let fuel = if mode == Mode::Count { 60_000 } else { 20_000 };
        Machine {
            project,
            words,
            unit,
            target,
            mode,
            ops,
            tried: &[],
            fuel: Cell::new(fuel),
            serial: Cell::new(0),
            pass: Cell::new(0),
            depth: Cell::new(0),
            calls: Cell::new(0),
            outside: RefCell::new(given.iter().cloned().collect()),
            compared: RefCell::default(),
            is_beyond: Cell::new(false),
            site: Cell::new(None),
            is_cut: Cell::new(false),
        }
    }

    /// The same, noting a try wherever one of these calls is made.
    pub fn noting(self, tried: &'a [Id]) -> Machine<'a> {
        Machine { tried, ..self }
    }

    /// Whether the run came to its limits.
    pub fn is_exhausted(&self) -> bool {
        self.fuel.get() == 0
    }

    /// Whether ways were left out.
    pub fn is_cut(&self) -> bool {
        self.is_cut.get()
    }

    /// A new result of an operation.
    fn attempt(&self, unit: &Arc<Unit>, node: Id, heart: Option<Id>, from: Origins) -> Try {
        self.serial.set(self.serial.get().wrapping_add(1));
        let node =
            if self.is_own(unit) && self.site.get().is_none() { node } else { self.site.get().unwrap_or(self.target) };
        Try { serial: self.serial.get(), node, heart: heart.unwrap_or(node), from, is_awaited: false }
    }

    fn is_own(&self, unit: &Arc<Unit>) -> bool {
        Arc::ptr_eq(unit, self.unit)
    }

    /// Goes on behind each way that gives a value.
    fn then(&self, outs: Outs, mut next: impl FnMut(State, Val) -> Outs) -> Outs {
        let mut all = Vec::with_capacity(outs.len());
        for out in outs {
            match out.flow {
                Flow::Value(value) => all.extend(next(out.state, value)),
                Flow::Leave(..) => all.push(out),
            }
        }
        self.limited(all)
    }

    /// Runs nodes one after another and hands their values on.
    fn each(&self, unit: &Arc<Unit>, ids: &[Id], state: State, next: impl Fn(State, Vec<Val>) -> Outs) -> Outs {
        let mut ways = vec![(state, Vec::with_capacity(ids.len()))];
        let mut left = Vec::new();
        for id in ids {
            let mut on = Vec::with_capacity(ways.len());
            for (state, values) in ways {
                for out in self.run(unit, *id, state) {
                    match out.flow {
                        Flow::Value(value) => {
                            let mut values: Vec<Val> = values.clone();
                            values.push(value);
                            on.push((out.state, values));
                        }
                        Flow::Leave(..) => left.push(out),
                    }
                }
            }
            ways = self.limited(on);
        }
        for (state, values) in ways {
            left.extend(next(state, values));
        }
        self.limited(left)
    }

    /// Runs a node.
    pub(super) fn run(&self, unit: &Arc<Unit>, id: Id, state: State) -> Outs {
        let fuel = self.fuel.get();
        if fuel == 0 || self.depth.get() >= DEPTH {
            return one(state, Val::unknown());
        }
        self.fuel.set(fuel - 1);
        self.depth.set(self.depth.get() + 1);
        let outs = self.run_kind(unit, id, state);
        self.depth.set(self.depth.get() - 1);
        outs
    }

    fn run_kind(&self, unit: &Arc<Unit>, id: Id, state: State) -> Outs {
        match unit.kind(id) {
            Kind::Literal(literal) => {
                let span = Some(unit.span(id));
                one(
                    state,
                    match literal {
                        Literal::Int(value, _) => {
                            Val::number(Number::whole(i128::try_from(*value).unwrap_or(i128::MAX), span))
                        }
                        Literal::Float(value, _) => Val::number(Number::plain(*value, span)),
                        Literal::Text(text) => Val::Text(Sym::clone(text)),
                        Literal::Bool(value) => Val::Bool(*value),
                        Literal::Null => Val::Absent,
                        Literal::Unit => Val::Unit,
                    },
                )
            }
            Kind::Template(parts) => {
                let holes: Vec<Id> = parts
                    .iter()
                    .filter_map(|part| match part {
                        Part::Hole(hole) => Some(*hole),
                        Part::Text(_) => None,
                    })
                    .collect();
                self.each(unit, &holes, state, |state, values| one(state, Val::Unknown(origins(&values))))
            }
            Kind::Name(name) => {
                let value = self.name(unit, id, name, &state);
                one(state, value)
            }
            Kind::Member { of, name } => self.member(unit, id, *of, name, state),
            Kind::Index { of, key } => self.each(unit, &[*of, *key], state, |state, values| {
                let value = match values.as_slice() {
                    [Val::List(items), Val::Number(at)] if !at.varies => {
                        at.exact().and_then(|at| items.get(at as usize)).cloned().unwrap_or_else(Val::unknown)
                    }
                    _ => Val::Unknown(origins(&values)),
                };
                one(state, value)
            }),
            Kind::Operator { op, of } => self.operator(unit, id, *op, of, state),
            Kind::Outcome { .. } => self.condition(unit, id, state),
            Kind::List(items) => self.each(unit, items, state, |state, values| one(state, Val::List(values.into()))),
            Kind::Range { from, to, inclusive } => self.range(unit, *from, *to, *inclusive, state),
            Kind::Record { of, fields, base } => {
                let ids: Vec<Id> = fields.iter().map(|field| field.value).chain(*base).collect();
                self.each(unit, &ids, state, |state, mut values| {
                    let base = if base.is_some() { values.pop() } else { None };
                    let named =
                        fields.iter().zip(values).filter_map(|(field, value)| Some((field.name.clone()?, value)));
                    let mut all: Vec<(Sym, Val)> = named.collect();
                    if let Some(Val::Record(base)) = base {
                        for (name, value) in &base.fields {
                            if !all.iter().any(|(known, _)| known == name) {
                                all.push((Sym::clone(name), value.clone()));
                            }
                        }
                    }
                    let of = of.clone().map(|name| Type { name, unit: Arc::clone(unit) });
                    one(state, Val::Record(Record { of, fields: all }.into()))
                })
            }
            Kind::Call { of, args, types } => {
                let outs = self.call(unit, id, *of, types, args, state);
                self.lent_to(unit, args, outs)
            }
            Kind::Method { on, name, args, types, .. } => {
                let outs = self.method(unit, id, *on, name, types, args, state);
                self.lent_to(unit, args, outs)
            }
            Kind::Closure { is_async, params, body } => {
                let is_async = *is_async && params.is_empty();
                // `|| response` gives what was there before.
                let gives = match unit.kind(*body) {
                    Kind::Name(name) if params.is_empty() => state.get(&name.text).and_then(Val::tried),
                    _ => None,
                };
                one(state, Val::Closure(Code { unit: Arc::clone(unit), id, is_async, gives }))
            }
            Kind::Await(of) => {
                let outs = self.run(unit, *of, state);
                self.then(outs, |state, value| self.awaited(unit, id, state, value))
            }
            Kind::Block(ids) => {
                let outs = self.block(unit, ids, state);
                match unit.label(id) {
                    Some(label) => outs.into_iter().map(|out| out.behind(label)).collect(),
                    None => outs,
                }
            }
            Kind::Let { names, value, .. } => self.bind_let(unit, names, *value, state),
            Kind::Assign { place, op, value } => self.assign(unit, *place, *op, *value, state),
            Kind::Held { name, value, body } => {
                let outs = self.run(unit, *value, state);
                self.then(outs, |mut state, value| {
                    let depth = state.enter();
                    if let Some(name) = name {
                        state.bind(name, value);
                    }
                    closed(self.run(unit, *body, state), depth)
                })
            }
            Kind::Loop { kind, label, body } => self.inner_loop(unit, id, kind, label.as_ref(), *body, state),
            Kind::Branch { on, arms } => self.branch(unit, id, *on, arms, state),
            Kind::Guarded { body, catch, on_success, always } => {
                self.guarded(unit, id, *body, catch, *on_success, *always, state)
            }
            Kind::Race(contenders) => self.race(unit, id, contenders, state),
            Kind::Spawn(_) => one(state, Val::unknown()),
            Kind::Exit { how, label, value } => {
                let outs = match value {
                    Some(value) => self.run(unit, *value, state),
                    None => one(state, Val::Unit),
                };
                let leave = |value| Flow::Leave(*how, label.clone(), value);
                let is_here = |state: &State| self.is_own(unit) && !state.is_elsewhere();
                let all = outs.into_iter().map(|mut out| match out.flow {
                    Flow::Value(value) => {
                        if is_here(&out.state) {
                            out.state.exit = Some(id);
                        }
                        Out { state: out.state, flow: leave(value) }
                    }
                    Flow::Leave(..) => out,
                });
                all.collect()
            }
            Kind::Function { .. } | Kind::Type { .. } | Kind::Constant { .. } => one(state, Val::Unit),
            // What it is made of does not tell what it comes from.
            Kind::Opaque(ids) => self.each(unit, ids, state, |state, _| one(state, Val::unknown())),
        }
    }

    /// Statements; the value is that of the last one.
    pub(super) fn block(&self, unit: &Arc<Unit>, ids: &[Id], state: State) -> Outs {
        let depth = state.enter();
        let mut left = Vec::new();
        let mut ways = vec![(state, Val::Unit)];
        for (at, id) in ids.iter().enumerate() {
            let is_last = at + 1 == ids.len();
            let mut on: Vec<(State, Val)> = Vec::with_capacity(ways.len());
            for (state, _) in ways {
                for out in self.run(unit, *id, state) {
                    match out.flow {
                        Flow::Value(value) if is_last => on.push((out.state, value)),
                        Flow::Value(_) => join(&mut on, out.state),
                        Flow::Leave(..) => left.push(out),
                    }
                }
            }
            ways = self.limited(on);
        }
        left.extend(ways.into_iter().map(|(state, value)| Out::value(state, value)));
        self.limited(closed(left, depth))
    }

    fn bind_let(&self, unit: &Arc<Unit>, names: &[Sym], value: Option<Id>, state: State) -> Outs {
        let outs = match value {
            Some(value) => self.run(unit, value, state),
            None => one(state, Val::unknown()),
        };
        self.then(outs, |mut state, value| {
            bind_all(&mut state, names, value);
            one(state, Val::Unit)
        })
    }
}

/// Gives names their values: one value to one name, the parts of a list to many.
fn bind_all(state: &mut State, names: &[Sym], value: Val) {
    match (names, &value) {
        ([name], _) => state.bind(name, value),
        // `answer, err := f()`: the last one says whether it worked.
        ([others @ .., last], Val::Try(one)) => {
            let answer = Unknown { heart: Some(one.heart), ..Unknown::of(Origins::ANSWER) };
            others.iter().for_each(|name| state.bind(name, Val::Unknown(answer.clone())));
            state.bind(last, value);
        }
        _ => {
            let parts = match &value {
                Val::List(parts) if parts.len() == names.len() => Some(parts),
                _ => None,
            };
            for (at, name) in names.iter().enumerate() {
                let part = parts.and_then(|parts| parts.get(at)).cloned();
                state.bind(name, part.unwrap_or_else(|| Val::Unknown(value.origin())));
            }
        }
    }
}

/// Adds a way, unless one goes on like it already.
fn join(ways: &mut Vec<(State, Val)>, state: State) {
    match ways.iter_mut().find(|(known, _)| known.is_like(&state)) {
        Some((known, _)) => known.merge(&state),
        None => ways.push((state, Val::Unit)),
    }
}

/// What came into sight inside goes out of sight.
fn closed(mut outs: Outs, depth: usize) -> Outs {
    outs.iter_mut().for_each(|out| out.state.leave(depth));
    outs
}

/// What comes out of all these values is not known, but from where it comes.
fn origins(values: &[Val]) -> Unknown {
    values.iter().fold(Unknown::default(), |all, value| all.and(&value.origin()))
}
