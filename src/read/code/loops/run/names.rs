//! Names: variables of the run, and what stands outside of the loop.

use std::sync::Arc;

use super::before::was_changed;
use super::number::Number;
use super::value::{Origins, Record, Type, Unknown, Val};
use super::{Flow, Machine, Mode, Outs, State, one};
use crate::facts::{Value, Why};
use crate::read::code::tree::{Id, Kind, Name, Op, Place, Sym, Unit};
use crate::read::code::values::{self, Known};
use crate::read::code::words::loops::has;

/// Members within each other that are followed at most.
const MEMBERS: usize = 8;

impl Machine<'_> {
    /// What a name means here.
    pub(super) fn name(&self, unit: &Arc<Unit>, id: Id, name: &Name, state: &State) -> Val {
        if let Some(value) = state.get(&name.text) {
            return value.clone();
        }
        if !state.is_elsewhere() && self.is_own(unit) && name.full.is_none() {
            return self.outside(&name.text, id);
        }
        match self.traced(unit, id, name.best()) {
            // A variant without values stands for itself: `BackoffKind::NoJitter`.
            Val::Unknown(_) if name.best().contains("::") && makes_variant(name.best()) => {
                let of = Type { name: name.clone(), unit: Arc::clone(unit) };
                Val::Record(Record { of: Some(of), fields: Vec::new() }.into())
            }
            value => value,
        }
    }

    /// A variable from outside of the loop.
    pub(super) fn outside(&self, name: &Sym, id: Id) -> Val {
        if let Some(known) = self.outside.borrow().get(name) {
            return known.clone();
        }
        // Until it is known it stands for itself: what it is made of may lead back to it.
        self.outside.borrow_mut().insert(Sym::clone(name), Val::from(Origins::OUTSIDE));
        let (definition, since) = self.definition(name, id);
        let value = match definition {
            Definition::Value(value) => self.since(name, id, self.before_the_loop(value), &since),
            Definition::Open(why) => {
                let why = Some((Why::Other(why.into()), self.unit.span(id)).into());
                Val::Unknown(Unknown { why, ..Unknown::of(Origins::OUTSIDE) })
            }
            Definition::None => self.traced(self.unit, id, name),
        };
        let value = self.marked(name, value);
        self.outside.borrow_mut().insert(Sym::clone(name), value.clone());
        value
    }

    /// An unknown value of which the name says something.
    pub(super) fn marked(&self, name: &str, value: Val) -> Val {
        let names = &self.words.loops.names;
        let Val::Unknown(mut unknown) = value else { return value };
        if has(&names.schedules, name) || has(&names.retries, name) {
            unknown.from = unknown.from.and(Origins::SCHEDULE);
        }
        if has(&names.cancels, name) {
            unknown.from = unknown.from.and(Origins::CANCEL);
        }
        if has(&names.deadlines, name) {
            unknown.from = unknown.from.and(Origins::CLOCK);
        }
        Val::Unknown(unknown)
    }

    /// The value of an expression that stands before the loop.
    fn before_the_loop(&self, id: Id) -> Val {
        let pass = self.pass.replace(0);
        let outs = self.run(self.unit, id, State::default());
        self.pass.set(pass);
        self.the_only(outs)
    }

    /// The value that all ways agree on.
    pub(super) fn the_only(&self, outs: Outs) -> Val {
        let mut values = outs.into_iter().filter_map(|out| match out.flow {
            Flow::Value(value) => Some(value),
            Flow::Leave(..) => None,
        });
        let Some(first) = values.next() else { return Val::unknown() };
        values
            .fold(first, |all, value| if all == value { all } else { Val::Unknown(all.origin().and(&value.origin())) })
    }

    /// What the value tracer says of a node.
    pub(super) fn traced(&self, unit: &Arc<Unit>, id: Id, name: &str) -> Val {
        let place = Place { unit: Arc::clone(unit), id };
        let traced = values::trace(self.project, &place);
        let span = traced.spans.first().copied();
        let value = self.known(traced.value, span, unit.span(id));
        self.marked(name, value)
    }

    fn known(&self, value: Value<Known>, span: Option<crate::source::Span>, asked: crate::source::Span) -> Val {
        match value {
            Value::Known(Known::Int(value)) => Val::number(Number::whole(value, span)),
            Value::Known(Known::Float(value)) => Val::number(Number::plain(value, span)),
            Value::Known(Known::Bool(value)) => Val::Bool(value),
            Value::Known(Known::Text(text)) => Val::Text(text),
            Value::Known(Known::Duration(nanos)) => Val::number(Number::time(nanos.0 as f64, span)),
            Value::Known(Known::Absent) => Val::Absent,
            Value::Known(Known::List(items)) => {
                let items = items.into_iter().take(256);
                let items = items.map(|item| self.known(item.value, item.spans.first().copied(), asked));
                Val::List(items.collect::<Vec<_>>().into())
            }
            Value::Known(Known::Construct(place)) => self.constructed(&place),
            Value::Unknown(why) => {
                Val::Unknown(Unknown { why: Some((*why, asked).into()), ..Unknown::of(Origins::OUTSIDE) })
            }
        }
    }

    /// Something that is made elsewhere.
    fn constructed(&self, place: &Place) -> Val {
        let worth = match place.kind() {
            Kind::Record { .. } | Kind::List(_) | Kind::Literal(_) | Kind::Closure { .. } => true,
            Kind::Call { of, .. } => place.unit.callee(*of).is_some_and(|name| self.names_schedule(name.best())),
            Kind::Method { .. } => true,
            _ => false,
        };
        if !worth || self.calls.get() >= super::CALLS {
            return Val::from(Origins::OUTSIDE);
        }
        self.calls.set(self.calls.get() + 1);
        let pass = self.pass.replace(0);
        let mut state = State::default();
        // Nothing of the loop is in sight there.
        state.enter_function();
        let value = self.the_only(self.run(&place.unit, place.id, state));
        self.pass.set(pass);
        self.calls.set(self.calls.get() - 1);
        match value {
            Val::Try(_) | Val::Option(_) => Val::from(Origins::OUTSIDE),
            value => value,
        }
    }

    /// A member: a field that the run has changed, one of something known, else what the tracer says.
    pub(super) fn member(&self, unit: &Arc<Unit>, id: Id, of: Id, name: &Sym, state: State) -> Outs {
        if let Some(path) = path_of(unit, id)
            && let Some(value) = state.get(&path)
        {
            let value = value.clone();
            return one(state, value);
        }
        let outs = self.run(unit, of, state);
        self.then(outs, |state, value| {
            let field = match &value {
                Val::Record(record) => record.field(name).cloned(),
                _ => None,
            };
            let value = match field {
                Some(field) => field,
                None => match value {
                    Val::Unknown(unknown) if unknown.from.has(Origins::ERROR.and(Origins::ANSWER)) => {
                        Val::Unknown(unknown)
                    }
                    Val::Unknown(unknown) if was_changed(&unknown) => Val::Unknown(unknown),
                    Val::Try(_) | Val::Option(_) => Val::Unknown(value.origin()),
                    _ => self.traced(unit, id, name),
                },
            };
            one(state, self.marked(name, value))
        })
    }

    /// Assignment.
    pub(super) fn assign(&self, unit: &Arc<Unit>, place: Id, op: Option<Op>, value: Id, state: State) -> Outs {
        let outs = match op {
            None => self.run(unit, value, state),
            Some(op) => self.operator_of(unit, place, op, &[place, value], state),
        };
        self.then(outs, |mut state, value| {
            store(unit, place, value, &mut state);
            one(state, Val::Unit)
        })
    }

    /// What is assigned below a node is not known any more, but that it changes.
    pub(super) fn forget_assigned(&self, unit: &Arc<Unit>, id: Id, state: &mut State) {
        for assignment in unit.assignments(unit.below(id)) {
            if let Kind::Assign { place, .. } = unit.kind(*assignment) {
                store(unit, *place, Val::from(Origins::COUNT), state);
            }
        }
    }

    /// What defines a local before the loop: the last statement before it that gives it a value whatever happens. With the
    /// statements behind that one, in order.
    pub(super) fn definition(&self, name: &str, asked: Id) -> (Definition, Vec<Passed>) {
        let mut since = Vec::new();
        let found = self.defined(name, asked, &mut since);
        since.reverse();
        (found, since)
    }

    fn defined(&self, name: &str, asked: Id, since: &mut Vec<Passed>) -> Definition {
        let unit = self.unit;
        // Asked from before the loop, what counts stands before the question.
        let from = if unit.is_below(asked, self.target) { self.target } else { asked };
        let mut inside = from;
        for around in unit.around(from) {
            match unit.kind(around) {
                Kind::Block(ids) => {
                    let at = ids.iter().position(|id| unit.is_below(inside, *id)).unwrap_or(ids.len());
                    for id in ids.iter().take(at).rev() {
                        match defines(unit, *id, name) {
                            Definition::None => since.push(Passed { statement: *id, is_repeated: false }),
                            found => return found,
                        }
                    }
                }
                Kind::Closure { params, .. } if params.iter().any(|param| **param == *name) => {
                    return Definition::Open("argument of a closure");
                }
                Kind::Function { .. } => return Definition::None,
                Kind::Loop { .. } | Kind::Branch { .. } | Kind::Race(_) if binds(unit.kind(around), name) => {
                    return Definition::Open("decided at run time");
                }
                _ => {}
            }
            if matches!(unit.kind(around), Kind::Loop { .. } | Kind::Closure { .. }) {
                since.iter_mut().for_each(|passed| passed.is_repeated = true);
            }
            inside = around;
        }
        Definition::None
    }

    /// Whether a path or name speaks of waiting or trying again.
    pub(super) fn names_schedule(&self, path: &str) -> bool {
        let names = &self.words.loops.names;
        let mut last = path.rsplit("::").take(2);
        last.any(|part| has(&names.schedules, part) || has(&names.waits, part))
    }

    /// Whether a number is not settled in this mode: it changes from pass to pass, and any pass is meant.
    pub(super) fn is_open(&self, number: &Number) -> bool {
        number.varies && (self.mode == Mode::Explore || self.is_beyond.get())
    }
}

/// A statement between what defines a local and where that is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passed {
    /// The statement.
    pub statement: Id,
    /// Whether it stands in a loop or closure in which the definition does not: it may have run before.
    pub is_repeated: bool,
}

/// What defines a local.
pub(super) enum Definition {
    /// This value.
    Value(Id),
    /// Something that is not one value, and why.
    Open(&'static str),
    /// Nothing here.
    None,
}

/// What a statement says of a local.
fn defines(unit: &Unit, id: Id, name: &str) -> Definition {
    match unit.kind(id) {
        Kind::Let { names, value, .. } if names.iter().any(|one| **one == *name) => match (names.as_slice(), value) {
            ([_], Some(value)) => Definition::Value(*value),
            _ => Definition::Open("one of several values"),
        },
        Kind::Assign { place, op: None, value } if is_name(unit, *place, name) => Definition::Value(*value),
        kind if binds(kind, name) => Definition::Open("decided at run time"),
        _ => Definition::None,
    }
}

fn is_name(unit: &Unit, id: Id, name: &str) -> bool {
    matches!(unit.kind(id), Kind::Name(one) if *one.text == *name)
}

/// Whether a branch, loop or race binds a name.
fn binds(kind: &Kind, name: &str) -> bool {
    use crate::read::code::tree::{LoopKind, Test};
    let test = |test: &Test| match test {
        Test::Success { binds } | Test::Failure { binds, .. } | Test::Is { binds, .. } | Test::Otherwise { binds } => {
            binds.iter().any(|one| **one == *name)
        }
        Test::Equals(_) | Test::Holds(_) => false,
    };
    match kind {
        Kind::Branch { arms, .. } => arms.iter().any(|arm| test(&arm.test)),
        Kind::Race(contenders) => contenders.iter().any(|one| test(&one.arm.test)),
        Kind::Loop { kind: LoopKind::Count { var, .. }, .. } => var.as_ref().is_some_and(|var| **var == *name),
        Kind::Loop { kind: LoopKind::Each { vars, .. }, .. } => vars.iter().any(|var| **var == *name),
        _ => false,
    }
}

/// Whether a path is that of a variant, tuple struct or class, as names tell: `Action::Retry`.
pub(super) fn makes_variant(path: &str) -> bool {
    path.rsplit("::")
        .next()
        .is_some_and(|last| last.starts_with(char::is_uppercase) && last.chars().any(char::is_lowercase))
}

/// The name of a place that is a local or members of one: `self.attempts`.
pub(super) fn path_of(unit: &Unit, id: Id) -> Option<Sym> {
    let (root, members) = root_of(unit, id)?;
    if members.is_empty() {
        return Some(root);
    }
    let mut path = root.to_string();
    for member in members {
        path.push('.');
        path.push_str(&member);
    }
    Some(path.into())
}

/// The local at the root of a place, and the members below it.
pub(super) fn root_of(unit: &Unit, id: Id) -> Option<(Sym, Vec<Sym>)> {
    let mut members = Vec::new();
    let mut id = id;
    loop {
        match unit.kind(id) {
            Kind::Name(name) if name.full.is_none() => {
                members.reverse();
                return Some((Sym::clone(&name.text), members));
            }
            Kind::Member { of, name } if members.len() < MEMBERS => {
                members.push(Sym::clone(name));
                id = *of;
            }
            _ => return None,
        }
    }
}

/// Gives a place a value.
pub(super) fn store(unit: &Unit, place: Id, value: Val, state: &mut State) {
    let Some((root, members)) = root_of(unit, place) else {
        // An element, or what a call gives: its root is not what it was.
        if let Kind::Index { of, .. } = unit.kind(place)
            && let Some((root, _)) = root_of(unit, *of)
        {
            state.set(&root, Val::from(Origins::COUNT));
        }
        return;
    };
    if members.is_empty() {
        state.set(&root, value);
    } else if !state.set_field(&root, &members, value.clone())
        && let Some(path) = path_of(unit, place)
    {
        state.set(&path, value);
    }
}
