//! Ways through code: blocks, branches, and what functions give back on them.

use super::arithmetic::Combine;
use super::domain::{Env, Got, Optional, Val};
use super::eval::{Tracer, because, variant};
use super::scope::{self, Declared};
use super::spread::fresh;
use crate::read::code::tree::{Arm, Exit, Id, Kind, Literal, Name, Op, Place, Test};

/// Where code leads.
pub(super) struct Flow {
    /// What its value is, where control goes on behind it.
    pub on: Option<Got>,
    /// What its function gives back, where it ends.
    pub returned: Vec<Got>,
}

/// Whether an arm is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Yes,
    No,
    Perhaps,
}

impl Tracer<'_> {
    /// What a function or closure gives back whose body this is.
    pub fn body(&self, place: &Place, env: &Env) -> Got {
        let flow = self.run(place, env);
        let mut all = flow.returned;
        all.extend(flow.on);
        self.either(all, place)
    }

    /// One of several values: the one that they all are.
    fn either(&self, all: Vec<Got>, place: &Place) -> Got {
        let mut all = all.into_iter();
        let Some(first) = all.next() else { return fresh(because("control leaves"), place) };
        all.fold(first, |one, other| {
            if one.value.is_same(&other.value) {
                return one.beside(&other);
            }
            let got = fresh(because("depends on a condition"), place).beside(&one).beside(&other);
            match got.is_random() {
                true => super::spread::anywhere(got),
                false => got,
            }
        })
    }

    /// Goes through a node.
    pub fn run(&self, place: &Place, env: &Env) -> Flow {
        let flow = self.deeper(|| match place.kind() {
            Kind::Block(ids) => self.block(place, ids, env),
            Kind::Branch { on, arms } => self.branch(place, *on, arms, env),
            Kind::Exit { how, value, .. } => self.exit(place, *how, *value, env),
            _ if self.is_failure(place) => Flow { on: None, returned: Vec::new() },
            _ => Flow { on: Some(self.value(place, env)), returned: Vec::new() },
        });
        let further = || Flow { on: Some(fresh(because("not followed further"), place)), returned: Vec::new() };
        flow.unwrap_or_else(further)
    }

    fn exit(&self, place: &Place, how: Exit, value: Option<Id>, env: &Env) -> Flow {
        let value = value.map(|value| place.at(value)).filter(|value| how == Exit::Return && !self.is_failure(value));
        Flow { on: None, returned: value.iter().map(|value| self.value(value, env)).collect() }
    }

    /// Whether an expression makes a failure: `Err(e)`. Where a function fails, it has no result.
    fn is_failure(&self, place: &Place) -> bool {
        let Kind::Call { of, .. } = place.kind() else { return false };
        let failures = &self.words(place).failures;
        place.unit.callee(*of).is_some_and(|name| crate::read::code::words::lists(failures, name.best()))
    }

    fn block(&self, place: &Place, ids: &[Id], env: &Env) -> Flow {
        let mut returned = Vec::new();
        let Some((last, before)) = ids.split_last() else {
            return Flow { on: Some(fresh(because("nothing"), place)), returned };
        };
        for id in before {
            if !self.may_leave(place, *id) {
                continue;
            }
            let statement = place.at(*id);
            let flow = match statement.kind() {
                Kind::Block(_) | Kind::Branch { .. } | Kind::Exit { .. } => self.run(&statement, env),
                // From inside of a loop, say.
                _ => {
                    returned.push(fresh(because("the result of a loop"), &statement));
                    continue;
                }
            };
            returned.extend(flow.returned);
            if flow.on.is_none() {
                return Flow { on: None, returned };
            }
        }
        let flow = self.run(&place.at(*last), env);
        returned.extend(flow.returned);
        Flow { on: flow.on, returned }
    }

    /// Whether control may leave the function with a result within a statement, or never comes out behind it.
    fn may_leave(&self, place: &Place, id: Id) -> bool {
        let unit = &place.unit;
        let below = unit.below(id);
        if !self.spend(below.clone().count() / 16) {
            return false;
        }
        let leaves = |inner: Id| match unit.kind(inner) {
            Kind::Exit { how: Exit::Return, value, .. } => value.is_some() || inner == id,
            Kind::Exit { .. } => inner == id || matches!(unit.kind(id), Kind::Branch { .. }),
            _ => false,
        };
        let is_ours = |inner: Id| {
            let between = unit.around(inner).take_while(|around| *around <= id);
            !between.into_iter().any(|around| matches!(unit.kind(around), Kind::Closure { .. } | Kind::Function { .. }))
        };
        below.into_iter().any(|inner| leaves(inner) && is_ours(inner))
    }

    fn branch(&self, place: &Place, on: Option<Id>, arms: &[Arm], env: &Env) -> Flow {
        let on = on.map(|on| self.value(&place.at(on), env));
        // `x?` is x, where that is there.
        if let (Some(on), [Arm { test: Test::Failure { .. }, guard: None, body }]) = (&on, arms)
            && matches!(place.unit.kind(*body), Kind::Exit { .. })
        {
            return Flow { on: Some(on.clone()), returned: Vec::new() };
        }
        let (live, is_all) = self.live(place, on.as_ref(), arms, env);
        let mut flow = Flow { on: None, returned: Vec::new() };
        let mut values = Vec::new();
        for arm in &live {
            let one = self.run(&place.at(arm.body), env);
            flow.returned.extend(one.returned);
            values.extend(one.on.map(|value| (*arm, value)));
        }
        if !is_all {
            flow.on = Some(fresh(because("nothing"), place));
        }
        if let Some(on) = &on
            && let Some(got) = self.defaulted(place, on, &values)
        {
            return Flow { on: Some(got), ..flow };
        }
        let values: Vec<Got> = flow.on.take().into_iter().chain(values.into_iter().map(|(_, value)| value)).collect();
        if !values.is_empty() {
            flow.on = Some(self.either(values, place));
        }
        flow
    }

    /// The arms that may be taken, and whether one of them is in any case.
    fn live<'a>(&self, place: &Place, on: Option<&Got>, arms: &'a [Arm], env: &Env) -> (Vec<&'a Arm>, bool) {
        let mut live = Vec::new();
        for arm in arms {
            let mut taken = self.is_taken(place, on, &arm.test, env);
            if let Some(guard) = arm.guard.filter(|_| taken != Taken::No) {
                taken = match self.value(&place.at(guard), env).value {
                    Val::Bool(true) => taken,
                    Val::Bool(false) => Taken::No,
                    _ => Taken::Perhaps,
                };
            }
            match taken {
                Taken::No => {}
                Taken::Perhaps => live.push(arm),
                Taken::Yes => {
                    live.push(arm);
                    return (live, true);
                }
            }
        }
        // Where a value is matched, some arm takes it; what is asked one after another may all not hold.
        let is_exhaustive = arms.iter().any(|arm| {
            arm.guard.is_none() && !matches!(arm.test, Test::Equals(_) | Test::Holds(_) | Test::Otherwise { .. })
        });
        (live, is_exhaustive && arms.len() > 1)
    }

    fn is_taken(&self, place: &Place, on: Option<&Got>, test: &Test, env: &Env) -> Taken {
        let known = |holds: bool| if holds { Taken::Yes } else { Taken::No };
        let plain = |got: &Got| !matches!(got.value, Val::Open(_) | Val::Construct(..));
        match (test, on) {
            (Test::Otherwise { .. }, _) => Taken::Yes,
            (Test::Holds(id), _) => match self.value(&place.at(*id), env).value {
                Val::Bool(holds) => known(holds),
                _ => Taken::Perhaps,
            },
            (Test::Success { .. }, Some(on)) if plain(on) => Taken::Yes,
            (Test::Failure { .. }, Some(on)) if plain(on) => Taken::No,
            (Test::Is { kinds, .. }, Some(on)) if plain(on) => {
                let is_absent = matches!(on.value, Val::Absent);
                let asks_absent = |name: &Name| crate::read::code::words::lists(&self.words(place).absent, name.best());
                let asks_present = |name: &Name| self.is_wrapper(place, name);
                if kinds.iter().all(|name| asks_absent(name) || asks_present(name)) {
                    known(kinds.iter().any(|name| if is_absent { asks_absent(name) } else { asks_present(name) }))
                } else {
                    Taken::Perhaps
                }
            }
            (Test::Is { kinds, .. }, Some(on)) => match made_as(on) {
                Some(made) if kinds.iter().any(|kind| kind.full.as_deref() == Some(made)) => Taken::Yes,
                // Another variant of the same type.
                Some(made) if kinds.iter().all(|kind| kind.full.as_deref().is_some_and(|full| beside(full, made))) => {
                    Taken::No
                }
                _ => Taken::Perhaps,
            },
            (Test::Equals(ids), Some(on)) => {
                let equals = |id: &Id| self.equals(on, &place.at(*id), env);
                let all: Vec<Taken> = ids.iter().map(equals).collect();
                if all.contains(&Taken::Yes) {
                    Taken::Yes
                } else if all.contains(&Taken::Perhaps) {
                    Taken::Perhaps
                } else {
                    Taken::No
                }
            }
            _ => Taken::Perhaps,
        }
    }

    fn equals(&self, on: &Got, place: &Place, env: &Env) -> Taken {
        let compare = |op: Op, other: &Got| self.combined(Combine::By(op), on, other, place).value;
        let holds = |op: Op, id: Option<Id>| match id {
            Some(id) => match compare(op, &self.value(&place.at(id), env)) {
                Val::Bool(holds) => Some(holds),
                _ => None,
            },
            None => Some(true),
        };
        let holds = match place.kind() {
            Kind::Range { from, to, inclusive } => {
                let to = holds(if *inclusive { Op::Le } else { Op::Lt }, *to);
                holds(Op::Ge, *from).zip(to).map(|(from, to)| from && to)
            }
            Kind::Literal(Literal::Null) => match &on.value {
                Val::Absent => Some(true),
                Val::Open(_) | Val::Construct(..) => None,
                _ => Some(false),
            },
            _ => match compare(Op::Eq, &self.value(place, env)) {
                Val::Bool(holds) => Some(holds),
                _ => None,
            },
        };
        match holds {
            Some(true) => Taken::Yes,
            Some(false) => Taken::No,
            None => Taken::Perhaps,
        }
    }

    /// `match setting { Some(n) => n, None => 3 }`: the default that the code names for what is not there.
    fn defaulted(&self, place: &Place, on: &Got, values: &[(&Arm, Got)]) -> Option<Got> {
        let on = self.as_number(on);
        let Val::Open(open) = &on.value else { return None };
        if open.optional == Optional::No || values.len() < 2 {
            return None;
        }
        let is_payload = |arm: &Arm| match &arm.test {
            Test::Success { .. } => true,
            Test::Is { kinds, binds } => !binds.is_empty() && kinds.iter().all(|kind| self.is_wrapper(place, kind)),
            _ => false,
        };
        let (payload, rest): (Vec<_>, Vec<_>) = values.iter().partition(|(arm, _)| is_payload(arm));
        if payload.is_empty() || payload.iter().any(|(_, value)| value.why().is_none()) {
            return None;
        }
        let (_, first) = rest.first()?;
        // What is absent where that is stays as it is.
        if let ([(_, payload)], true) = (&payload[..], rest.iter().all(|(_, value)| matches!(value.value, Val::Absent)))
        {
            return Some(payload.clone().optional(open.optional));
        }
        let is_one = first.why().is_none() && rest.iter().all(|(_, value)| value.value.is_same(&first.value));
        let is_default = is_one && is_default(open.optional, first);
        is_default.then(|| Got { overridden: Some(open.why.clone()), ..first.clone() })
    }

    /// A variable after a statement that changes it on some of the ways through it.
    pub fn perhaps(&self, place: &Place, declared: &Declared, before: Got, env: &Env) -> Got {
        let unclear = |before: &Got| fresh(because("depends on a condition"), place).beside(before);
        let Kind::Branch { on, arms } = place.kind() else { return unclear(&before) };
        let on = on.map(|on| self.value(&place.at(on), env));
        let (live, is_all) = self.live(place, on.as_ref(), arms, env);
        if let ([arm], false) = (live.as_slice(), is_all)
            && let Some(got) = self.limited(place, declared, arm, &before, env)
        {
            return got;
        }
        let mut values = Vec::new();
        for arm in live {
            match self.after(&place.at(arm.body), declared, before.clone(), env) {
                Some(Some(got)) => values.push(got),
                // This way leaves.
                Some(None) => {}
                None => return unclear(&before),
            }
        }
        if !is_all {
            values.push(before);
        }
        self.either(values, place)
    }

    /// `if d > MAX { d = MAX }`: the lesser of the two, whichever it is.
    fn limited(&self, place: &Place, declared: &Declared, arm: &Arm, before: &Got, env: &Env) -> Option<Got> {
        let Test::Holds(test) = &arm.test else { return None };
        let Kind::Operator { op, of } = place.unit.kind(*test) else { return None };
        let [a, b] = of.as_slice() else { return None };
        let is_it = |id: &Id| scope::is_same(&place.unit, declared, *id);
        let (how, limit) = match (op, is_it(a), is_it(b)) {
            (Op::Gt | Op::Ge, true, false) => (Combine::Min, b),
            (Op::Lt | Op::Le, true, false) => (Combine::Max, b),
            (Op::Lt | Op::Le, false, true) => (Combine::Min, a),
            (Op::Gt | Op::Ge, false, true) => (Combine::Max, a),
            _ => return None,
        };
        let after = self.after(&place.at(arm.body), declared, before.clone(), env)??;
        let limit = self.value(&place.at(*limit), env);
        after.value.is_same(&limit.value).then(|| self.combined(how, before, &limit, place))
    }

    /// A variable behind an arm: `Some(None)` if control leaves in it, None if it cannot be told.
    fn after(&self, body: &Place, declared: &Declared, before: Got, env: &Env) -> Option<Option<Got>> {
        let statements: &[Id] = match body.kind() {
            Kind::Block(ids) => ids,
            _ => std::slice::from_ref(&body.id),
        };
        if let Some(last) = statements.last()
            && matches!(body.unit.kind(*last), Kind::Exit { .. })
        {
            return Some(None);
        }
        let is_set = |id: &Id| matches!(body.unit.kind(*id), Kind::Assign { place, .. } if scope::is_same(&body.unit, declared, *place));
        let inside = body.unit.assignments(body.unit.below(body.id));
        let changes = inside.iter().filter(|id| is_set(id)).count();
        let direct: Vec<&Id> = statements.iter().filter(|id| is_set(id)).collect();
        if changes != direct.len() || direct.len() > 1 {
            return None;
        }
        Some(Some(direct.iter().fold(before, |got, id| self.assigned(&body.at(**id), got, env))))
    }
}

/// Whether what stands in for something that may be absent is a default.
pub(super) fn is_default(of: Optional, instead: &Got) -> bool {
    let is_nothing = instead.value.number() == Some(0.0);
    !matches!(instead.value, Val::Absent) && (of == Optional::Setting || of == Optional::Result && !is_nothing)
}

/// The full path of the variant or record that something was made as.
fn made_as(got: &Got) -> Option<&str> {
    let Val::Construct(of, _) = &got.value else { return None };
    match of.kind() {
        Kind::Call { of: callee, .. } => {
            let name = of.unit.callee(*callee)?;
            // A function may give back any variant.
            name.full.as_deref().filter(|_| name.last().starts_with(char::is_uppercase))
        }
        Kind::Record { of: Some(name), .. } => name.full.as_deref(),
        _ => variant(got),
    }
}

/// Whether two variants are of one type.
fn beside(one: &str, other: &str) -> bool {
    let parent = |path: &'_ str| path.rsplit_once("::").map(|(parent, _)| parent.to_string());
    parent(one).is_some() && parent(one) == parent(other)
}
