//! What happens to a local between its definition and the loop: the statements in between that touch it are run, in order. And
//! what becomes of something that is lent to be changed.

use std::rc::Rc;
use std::sync::Arc;

use super::follow::settled;
use super::names::{Passed, root_of, store};
use super::value::{Origins, Record, Unknown, Val};
use super::{Flow, Machine, Mode, Outs, State};
use crate::facts::Why;
use crate::read::code::tree::{Arg, Id, Kind, Sym, Unit};
use crate::read::code::words::lists;
use crate::read::code::words::values::Operation;

/// Steps for a statement before the loop; what a longer one leaves is not known.
const STEPS: u32 = 2_000;
/// Why a local is not known that something before the loop changes.
const CHANGED: &str = "changed before the loop";

impl Machine<'_> {
    /// What a local holds behind these statements, which stand behind its definition.
    pub(super) fn since(&self, name: &Sym, asked: Id, defined: Val, statements: &[Passed]) -> Val {
        let mut value = defined;
        for Passed { statement, is_repeated } in statements {
            let touching = self.touching(name, *statement, matches!(value, Val::Record(_)));
            if touching.is_empty() {
                continue;
            }
            // What is in something that is not known is looked up by others.
            let is_set = |id: &Id| matches!(self.unit.kind(*id), Kind::Assign { place, .. } if matches!(self.unit.kind(*place), Kind::Name(_)));
            if !settled(&value) && !touching.iter().any(is_set) {
                continue;
            }
            let adds_up = *is_repeated && touching.iter().any(|id| self.adds_up(name, *id));
            let is_clear = settled(&value) && !adds_up && touching.iter().all(|id| self.is_done_once(*id, *statement));
            value = if is_clear { self.behind(name, asked, value, *statement) } else { self.is_changed(asked) };
        }
        value
    }

    /// The nodes of a statement that may change a local or what is in it.
    fn touching(&self, name: &Sym, statement: Id, is_record: bool) -> Vec<Id> {
        let unit = self.unit;
        let words = &self.words.values;
        let below = unit.below(statement);
        let changes = |id: &Id| match unit.kind(*id) {
            Kind::Method { on, name: method, .. } => {
                let is_by_name = lists(&words.changes, method)
                    || words.methods.get(method) == Some(Operation::Successive)
                    || is_record && *id == statement;
                is_by_name && root_of(unit, *on).is_some_and(|(root, _)| root == *name)
            }
            _ => false,
        };
        unit.touched(name, below.clone()).chain(below.filter(changes)).collect()
    }

    /// Whether a node changes something where it stands: not later, not again and again, not somewhere else.
    fn is_done_once(&self, id: Id, statement: Id) -> bool {
        let unit = self.unit;
        let mut around = unit.around(id).take_while(|around| unit.is_below(*around, statement));
        let is_deferred = |kind: &Kind| matches!(kind, Kind::Closure { .. } | Kind::Loop { .. } | Kind::Spawn(_));
        let is_lent = !matches!(unit.kind(id), Kind::Assign { .. } | Kind::Method { .. });
        !is_lent && !is_deferred(unit.kind(statement)) && !around.any(|around| is_deferred(unit.kind(around)))
    }

    /// Whether a node makes something else of a local each time: what is set anew is the same again.
    fn adds_up(&self, name: &Sym, id: Id) -> bool {
        let unit = self.unit;
        let is_it = |id: Id| matches!(unit.kind(id), Kind::Name(one) if one.text == *name && one.full.is_none());
        match unit.kind(id) {
            Kind::Assign { op: None, value, .. } => unit.below(*value).any(is_it),
            _ => true,
        }
    }

    /// What a local holds behind one statement.
    fn behind(&self, name: &Sym, asked: Id, value: Val, statement: Id) -> Val {
        let mut state = State::default();
        state.bind(name, value.clone());
        let fuel = self.fuel.get();
        let steps = fuel.min(STEPS);
        self.fuel.set(steps);
        let pass = self.pass.replace(0);
        let outs = self.run(self.unit, statement, state);
        self.pass.set(pass);
        let left = self.fuel.get();
        self.fuel.set(fuel - (steps - left));
        if left == 0 {
            return self.is_changed(asked);
        }
        let mut values = outs.iter().filter(|out| matches!(out.flow, Flow::Value(_)));
        let Some(first) = values.next().and_then(|out| out.state.get(name).cloned()) else { return value };
        values.fold(first, |all, out| match out.state.get(name) {
            Some(other) => self.agreed(asked, all, other),
            None => all,
        })
    }

    /// What can be said of two values, one of which it is.
    fn agreed(&self, asked: Id, one: Val, other: &Val) -> Val {
        match (&one, other) {
            (Val::Number(a), Val::Number(b)) if (a.low, a.high, a.nominal) == (b.low, b.high, b.nominal) => one,
            (Val::Record(a), Val::Record(b)) if a.of == b.of && a.fields.len() == b.fields.len() => {
                let fields = a.fields.iter().map(|(name, value)| {
                    let value = match b.field(name) {
                        Some(other) => self.agreed(asked, value.clone(), other),
                        None => self.is_changed(asked),
                    };
                    (Sym::clone(name), value)
                });
                Val::Record(Rc::new(Record { of: a.of.clone(), fields: fields.collect() }))
            }
            (a, b) if *a == *b => one,
            _ => self.is_changed(asked),
        }
    }

    /// Not known, for something before the loop changes it.
    fn is_changed(&self, asked: Id) -> Val {
        let why = Some((Why::Other(CHANGED.into()), self.unit.span(asked)).into());
        Val::Unknown(Unknown { why, ..Unknown::of(Origins::OUTSIDE) })
    }

    /// What is lent to be changed is not what it was.
    pub(super) fn lent_to(&self, unit: &Arc<Unit>, args: &[Arg], mut outs: Outs) -> Outs {
        for arg in args.iter().filter(|arg| is_lent(unit, arg.value)) {
            let Some((root, _)) = root_of(unit, arg.value) else { continue };
            for out in &mut outs {
                if out.state.get(&root).is_some_and(is_data) {
                    store(unit, arg.value, Val::from(Origins::COUNT), &mut out.state);
                }
            }
        }
        outs
    }

    /// A list after a method that changes it.
    pub(super) fn changed_list(&self, items: &[Val], method: &str, args: &[Val]) -> Val {
        let words = &self.words.loops;
        if self.mode == Mode::Explore && self.pass.get() > 0 {
            return Val::from(Origins::COUNT);
        }
        let cut = |args: &[Val]| args.first().and_then(Val::as_number).and_then(|len| len.exact());
        match args {
            [one] if lists(&words.appends, method) => {
                Val::List(items.iter().chain([one]).cloned().collect::<Vec<_>>().into())
            }
            args if lists(&words.cuts, method)
                && let Some(len) = cut(args) =>
            {
                Val::List(items.iter().take(len as usize).cloned().collect::<Vec<_>>().into())
            }
            _ => Val::from(Origins::COUNT),
        }
    }
}

/// Whether a value was looked for before the loop and is not known for what happens there.
pub(super) fn was_changed(unknown: &Unknown) -> bool {
    unknown.why.as_ref().is_some_and(|why| matches!(&why.0, Why::Other(why) if **why == *CHANGED))
}

/// Whether a node is lent to be changed: `x` of `&mut x`.
pub(super) fn is_lent(unit: &Unit, id: Id) -> bool {
    unit.lent.binary_search(&id).is_ok()
}

/// Numbers, flags and what holds them: of all else nothing is known that could change.
pub(super) fn is_data(value: &Val) -> bool {
    matches!(value, Val::Number(_) | Val::Bool(_) | Val::List(_) | Val::Series(_) | Val::Record(_))
}
