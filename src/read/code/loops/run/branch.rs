//! Branches: which arm is taken, what its names hold, what comes of it. And what is guarded against raising.

use std::sync::Arc;

use super::value::{Origins, Try, Unknown, Val};
use super::{Flow, Machine, Out, Outs, State, bind_all, closed, one};
use crate::read::code::statuses::pattern;
use crate::read::code::tree::{Arm, Exit, Id, Kind, Literal, Name, Sym, Test, Unit};
use crate::read::code::words::loops::{Outcome, Wrapper};

/// A way in which an arm may or may not take a value.
struct Asked {
    state: State,
    takes: bool,
    binds: Val,
}

impl Machine<'_> {
    /// A branch: its scrutinee, then the first arm that takes it.
    pub(super) fn branch(&self, unit: &Arc<Unit>, id: Id, on: Option<Id>, arms: &[Arm], state: State) -> Outs {
        let outs = match on {
            Some(on) => self.run(unit, on, state),
            None => one(state, Val::Unit),
        };
        self.then(outs, |state, value| self.arms(unit, id, arms, state, value, false))
    }

    /// The arms, in order. Where none takes the value, control goes on behind them with what is in it.
    pub(super) fn arms(&self, unit: &Arc<Unit>, id: Id, arms: &[Arm], state: State, value: Val, is_sure: bool) -> Outs {
        let mut all = Vec::new();
        let value = self.as_tried(unit, id, arms, value);
        let mut waiting = vec![state];
        for (way, arm) in arms.iter().enumerate() {
            // Of a run that is over, nothing more is known, however many arms there are.
            if self.is_exhausted() {
                break;
            }
            let rest = arms.get(way + 1..).unwrap_or_default();
            let mut on = Vec::new();
            for state in std::mem::take(&mut waiting) {
                for asked in self.test(unit, id, way, arm, rest, state, &value, is_sure) {
                    if !asked.takes {
                        on.push(asked.state);
                        continue;
                    }
                    let mut state = asked.state;
                    let depth = state.enter();
                    bind_all(&mut state, binds(&arm.test), asked.binds);
                    let chosen = state.log.choices.len();
                    let mut ways = match arm.guard {
                        Some(guard) => self.condition(unit, guard, state),
                        None => one(state, Val::Bool(true)),
                    };
                    // What a guard asks is asked of the value, unless it says of what else.
                    for out in &mut ways {
                        for choice in out.state.log.choices.iter_mut().skip(chosen) {
                            if choice.on.from == Origins::NOTHING {
                                choice.on = value.origin();
                            }
                        }
                    }
                    for out in ways {
                        match out.flow {
                            Flow::Value(Val::Bool(false)) => {
                                let mut state = out.state;
                                state.leave(depth);
                                on.push(state);
                            }
                            Flow::Value(_) => {
                                // What a let-else binds stays in sight.
                                let stays = matches!(unit.kind(arm.body), Kind::Block(ids) if ids.is_empty());
                                let handed_on = hands_on(unit, arm).then(|| match &value {
                                    Val::Absent | Val::Option(_) => Val::Absent,
                                    value => Val::Bad(error_of(value).into()),
                                });
                                let outs = match handed_on.filter(|_| out.state.is_elsewhere()) {
                                    Some(handed_on) => {
                                        let flow = Flow::Leave(Exit::Return, None, handed_on);
                                        vec![Out { state: out.state, flow }]
                                    }
                                    None => self.run(unit, arm.body, out.state),
                                };
                                all.extend(if stays { outs } else { closed(outs, depth) });
                            }
                            Flow::Leave(..) => all.push(out),
                        }
                    }
                }
            }
            waiting = self.limited(on);
        }
        let inside = match &value {
            Val::Record(_) => value.clone(),
            _ => unwrapped(&value),
        };
        all.extend(waiting.into_iter().map(|state| Out::value(state, inside.clone())));
        self.limited(all)
    }

    /// A value of which the arms ask whether it worked, as the result of an operation.
    fn as_tried(&self, unit: &Arc<Unit>, id: Id, arms: &[Arm], value: Val) -> Val {
        let tells = |arm: &Arm| match &arm.test {
            Test::Success { .. } | Test::Failure { .. } => true,
            Test::Is { kinds, .. } => kinds.iter().any(|kind| self.words.loops.variants.get(kind.last()).is_some()),
            _ => false,
        };
        match value {
            Val::Unknown(unknown) if !unknown.from.has(Origins::ERROR) && arms.iter().any(tells) => {
                Val::Try(self.attempt(unit, id, unknown.heart, unknown.from))
            }
            other => other,
        }
    }

    /// Whether variants say by their name that something failed and is to be tried again.
    fn tells_failure(&self, kinds: &[Name]) -> bool {
        kinds.iter().any(|kind| self.words.loops.variants.get(kind.last()) == Some(Outcome::Failure))
    }

    /// Whether an arm takes a value.
    #[allow(clippy::too_many_arguments)]
    fn test(
        &self,
        unit: &Arc<Unit>,
        id: Id,
        way: usize,
        arm: &Arm,
        rest: &[Arm],
        state: State,
        value: &Val,
        is_sure: bool,
    ) -> Vec<Asked> {
        let takes = |state: State, binds: Val| Asked { state, takes: true, binds };
        let passes = |state: State| Asked { state, takes: false, binds: Val::Unit };
        // The last arm of several takes whatever is left, as far as its kind goes.
        let is_last = rest.is_empty() && way > 0;
        match &arm.test {
            Test::Otherwise { .. } => vec![takes(state, value.clone())],
            Test::Success { .. } => {
                let ways = self.ask_failed(unit, id, state, value).into_iter();
                ways.map(|(state, failed)| if failed { passes(state) } else { takes(state, unwrapped(value)) })
                    .collect()
            }
            // Another variant of an enum that has one of that name.
            Test::Failure { .. } if matches!(value, Val::Record(record) if record.of.is_some()) => vec![passes(state)],
            Test::Failure { kinds, .. } => {
                let more = rest.iter().any(|arm| !matches!(arm.test, Test::Success { .. } | Test::Holds(_)));
                // Where another arm takes what is to be tried again, it is decided elsewhere which that is.
                let is_made = matches!(value, Val::Bad(_));
                let by_schedule = rest.iter().any(|arm| match &arm.test {
                    Test::Is { kinds, .. } => !is_made && self.tells_failure(kinds),
                    _ => false,
                });
                // An arm that names no kind takes every failure, and what else it asks is its guard's business; but an arm
                // for failures behind it shows that there are two sorts (`Ok(Err(e))`, `Err(elapsed)`).
                let sorts = rest.iter().any(|arm| matches!(arm.test, Test::Failure { .. }));
                let partly = match kinds.as_slice() {
                    [] => arm.guard.is_none() && (sorts || by_schedule),
                    _ => more || !is_last,
                };
                let mut all = Vec::new();
                for (state, failed) in self.ask_failed(unit, id, state, value) {
                    if !failed {
                        all.push(passes(state));
                        continue;
                    }
                    let error = error_of(value);
                    // Of two sorts the outer one, which stands behind, says that time is over.
                    if sorts && error.origin().from.has(Origins::CLOCK) {
                        all.push(passes(state));
                        continue;
                    }
                    if partly {
                        let mut other = state.clone();
                        let mut this = state;
                        let mut on = error.origin();
                        if by_schedule {
                            on.from = on.from.and(Origins::SCHEDULE);
                        }
                        self.choose(unit, &mut this, id, way, &on);
                        self.choose(unit, &mut other, id, usize::MAX, &on);
                        all.push(takes(this, error));
                        all.push(passes(other));
                    } else {
                        all.push(takes(state, error));
                    }
                }
                all
            }
            Test::Is { kinds, .. } => match self.is_kind(unit, id, state, value, kinds) {
                Kinds::Sure(state, true) => vec![takes(state, unwrapped(value))],
                Kinds::Sure(state, false) => vec![passes(state)],
                Kinds::Told(ways) => ways
                    .into_iter()
                    .map(|(state, is)| if is { takes(state, unwrapped(value)) } else { passes(state) })
                    .collect(),
                Kinds::Open(mut state) => {
                    let on = value.origin();
                    let mut ways = Vec::new();
                    if !is_last && !is_sure {
                        let mut other = state.clone();
                        self.choose(unit, &mut other, id, usize::MAX, &on);
                        ways.push(passes(other));
                    }
                    self.choose(unit, &mut state, id, way, &on);
                    ways.push(takes(state, unwrapped(value)));
                    ways
                }
            },
            Test::Equals(values) => self.equals(unit, id, way, values, state, value, is_last),
            Test::Holds(condition) => {
                let outs = self.condition(unit, *condition, state);
                let ways = outs.into_iter().map(|out| match out.flow {
                    Flow::Value(Val::Bool(false)) => passes(out.state),
                    _ => takes(out.state, Val::Unit),
                });
                ways.collect()
            }
        }
    }

    /// Whether a value is one of some literals or constants. Constants that say how an answer failed tell of the operation.
    #[allow(clippy::too_many_arguments)]
    fn equals(
        &self,
        unit: &Arc<Unit>,
        id: Id,
        way: usize,
        values: &[Id],
        state: State,
        value: &Val,
        is_last: bool,
    ) -> Vec<Asked> {
        let on = match unit.kind(id) {
            Kind::Branch { on, .. } => *on,
            _ => None,
        };
        if !matches!(value, Val::Number(_) | Val::Bool(_) | Val::Text(_))
            && !is_error(value)
            && let Some(these) = pattern(unit, self.words, on, values)
        {
            let of = self.told_of(unit, id, value);
            let ways = self.by_status(state, of, these).into_iter();
            return ways.map(|(state, takes)| Asked { state, takes, binds: value.clone() }).collect();
        }
        let is_failure = values.iter().any(|one| self.says_failure(unit, *one));
        if is_failure && !matches!(value, Val::Number(_) | Val::Bool(_) | Val::Text(_)) && !is_error(value) {
            let of = self.told_of(unit, id, value);
            let ways = self.failures(state, of).into_iter();
            return ways.map(|(state, failed)| Asked { state, takes: failed, binds: value.clone() }).collect();
        }
        let mut sure = Some(false);
        for one in values {
            let known = match (unit.kind(*one), value) {
                (Kind::Literal(Literal::Null), Val::Absent) => Some(true),
                (Kind::Literal(Literal::Null), Val::Present(_)) => Some(false),
                (Kind::Literal(Literal::Bool(a)), Val::Bool(b)) => Some(a == b),
                (Kind::Literal(Literal::Int(a, _)), Val::Number(b)) if !self.is_open(b) => {
                    b.exact().map(|b| b == *a as f64)
                }
                (Kind::Literal(Literal::Text(a)), Val::Text(b)) => Some(a == b),
                _ => None,
            };
            sure = match (sure, known) {
                (_, Some(true)) | (Some(true), _) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            };
            if sure == Some(true) {
                break;
            }
        }
        let mut state = state;
        let on = value.origin();
        match sure {
            Some(takes) => vec![Asked { state, takes, binds: value.clone() }],
            None if is_last => {
                self.choose(unit, &mut state, id, way, &on);
                vec![Asked { state, takes: true, binds: value.clone() }]
            }
            None => {
                let mut other = state.clone();
                self.choose(unit, &mut state, id, way, &on);
                self.choose(unit, &mut other, id, usize::MAX, &on);
                vec![
                    Asked { state, takes: true, binds: value.clone() },
                    Asked { state: other, takes: false, binds: Val::Unit },
                ]
            }
        }
    }

    /// Whether a value is of one of these kinds.
    fn is_kind(&self, unit: &Arc<Unit>, id: Id, state: State, value: &Val, kinds: &[Name]) -> Kinds {
        let words = &self.words.loops;
        let wrapper = kinds.iter().find_map(|kind| words.wrappers.of_path(kind.best()));
        match (value, wrapper) {
            (Val::Present(_), Some(Wrapper::Present)) | (Val::Absent, Some(Wrapper::Absent)) => {
                return Kinds::Sure(state, true);
            }
            (Val::Present(_), Some(Wrapper::Absent)) | (Val::Absent, Some(Wrapper::Present)) => {
                return Kinds::Sure(state, false);
            }
            (Val::Absent, _) => return Kinds::Sure(state, false),
            // What cannot fail here is there: `checked_mul` of numbers that are known.
            (Val::Number(_) | Val::Bool(_) | Val::Text(_) | Val::List(_), Some(Wrapper::Present | Wrapper::Absent)) => {
                return Kinds::Sure(state, wrapper == Some(Wrapper::Present));
            }
            (Val::Option(of), Some(Wrapper::Present | Wrapper::Absent)) => {
                let present = wrapper == Some(Wrapper::Present);
                let ways = self.ask_failed(unit, id, state, &Val::Option(*of));
                return Kinds::Told(ways.into_iter().map(|(state, failed)| (state, failed != present)).collect());
            }
            (Val::Record(record), None) if record.of.is_some() => {
                let is = kinds.iter().any(|kind| kind.last() == record.last());
                return Kinds::Sure(state, is);
            }
            _ => {}
        }
        // Variants whose name says whether it worked decide it, of what an operation gave.
        let told = kinds.iter().find_map(|kind| words.variants.get(kind.last()));
        if let (Some(told), Val::Try(_) | Val::Unknown(_)) = (told, value)
            && (!value.origin().from.has(Origins::ERROR) || value.origin().from.has(Origins::GIVEN))
        {
            let of = self.told_of(unit, id, value);
            let ways = self.failures(state, of).into_iter();
            return Kinds::Told(ways.map(|(state, failed)| (state, failed == (told == Outcome::Failure))).collect());
        }
        Kinds::Open(state)
    }

    /// The operation that a value tells of: the one that it is the result of, else one that stands for it.
    pub(super) fn told_of(&self, unit: &Arc<Unit>, id: Id, value: &Val) -> Try {
        match value {
            Val::Try(of) | Val::Option(of) => *of,
            other => {
                let origin = other.origin();
                self.attempt(unit, id, origin.heart, origin.from.only(Origins::MADE_OF_COUNT))
            }
        }
    }

    /// Something that may raise: it works, or the last thing that is called in it does not.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn guarded(
        &self,
        unit: &Arc<Unit>,
        id: Id,
        body: Id,
        catch: &[Arm],
        on_success: Option<Id>,
        always: Option<Id>,
        state: State,
    ) -> Outs {
        let statements: &[Id] = match unit.kind(body) {
            Kind::Block(ids) => ids,
            _ => std::slice::from_ref(&body),
        };
        let calls = |id: &Id| self.operation_in(unit, *id).is_some();
        let Some(at) = statements.iter().rposition(calls) else {
            let outs = self.run(unit, body, state);
            return self.finally(unit, always, outs);
        };
        let node = statements.get(at).and_then(|id| self.operation_in(unit, *id)).unwrap_or(body);
        let of = self.attempt(unit, node, None, Origins::NOTHING);
        let caught = |mut state: State| {
            let heart = Unknown { heart: Some(node), ..Unknown::of(Origins::ERROR) };
            if state.failed(of).is_none() {
                state.decide(of, true);
            }
            self.arms(unit, id, catch, state, Val::Bad(Val::Unknown(heart).into()), false)
        };
        let mut all = Vec::new();
        let fails_only = self.mode != super::Mode::Explore && self.is_op(of);
        if !fails_only {
            for mut out in self.run(unit, body, state.clone()) {
                match out.flow {
                    Flow::Leave(Exit::Raise, ..) => all.extend(caught(out.state)),
                    flow => {
                        out.state.decide(of, false);
                        let out = Out { state: out.state, flow };
                        match on_success {
                            Some(next) => all.extend(self.then(vec![out], |state, _| self.run(unit, next, state))),
                            None => all.push(out),
                        }
                    }
                }
            }
        }
        // Everything before the operation has been done when it fails.
        let before = statements.get(..at).unwrap_or_default();
        let outs = self.each(unit, before, state, |state, _| one(state, Val::Unit));
        for out in outs {
            match out.flow {
                Flow::Value(_) => {
                    let mut state = out.state;
                    self.note_try(unit, node, &mut state);
                    all.extend(caught(state));
                }
                Flow::Leave(..) => all.push(out),
            }
        }
        self.finally(unit, always, self.limited(all))
    }

    /// What is done in any case.
    fn finally(&self, unit: &Arc<Unit>, always: Option<Id>, outs: Outs) -> Outs {
        let Some(always) = always else { return outs };
        let mut all = Vec::with_capacity(outs.len());
        for out in outs {
            for after in self.run(unit, always, out.state.clone()) {
                all.push(match after.flow {
                    Flow::Value(_) => Out { state: after.state, flow: out.flow.clone() },
                    Flow::Leave(..) => after,
                });
            }
        }
        self.limited(all)
    }

    /// The call in a statement that is likely to fail: the outermost one that is awaited, else the outermost one.
    fn operation_in(&self, unit: &Arc<Unit>, id: Id) -> Option<Id> {
        let is_call = |id: &Id| {
            matches!(unit.kind(*id), Kind::Call { .. } | Kind::Method { .. }) && !self.is_wait_or_log(unit, *id)
        };
        unit.below(id).rev().find(is_call)
    }
}

/// Whether a value is of some kinds.
enum Kinds {
    /// It is known.
    Sure(State, bool),
    /// It is decided with whether an operation failed.
    Told(Vec<(State, bool)>),
    /// It is not known.
    Open(State),
}

/// Whether a value says how an operation failed: that it did is known.
pub(super) fn is_error(value: &Val) -> bool {
    let from = value.origin().from;
    from.has(Origins::ERROR) && !from.has(Origins::GIVEN)
}

/// Whether an arm returns the failure that it takes: `?`.
fn hands_on(unit: &Unit, arm: &Arm) -> bool {
    matches!(arm.test, Test::Failure { .. })
        && matches!(unit.kind(arm.body), Kind::Exit { how: Exit::Return, value: None, .. })
}

/// The names that a test binds.
fn binds(test: &Test) -> &[Sym] {
    match test {
        Test::Success { binds } | Test::Failure { binds, .. } | Test::Is { binds, .. } | Test::Otherwise { binds } => {
            binds
        }
        Test::Equals(_) | Test::Holds(_) => &[],
    }
}

/// What is in a value that worked, or that is there.
pub(super) fn unwrapped(value: &Val) -> Val {
    match value {
        Val::Present(inner) | Val::Good(inner) => (**inner).clone(),
        Val::Try(of) | Val::Option(of) => {
            Val::Unknown(Unknown { heart: Some(of.heart), ..Unknown::of(Origins::ANSWER.and(of.from)) })
        }
        Val::Record(record) if record.field("0").is_some() => match record.fields.as_slice() {
            [(_, only)] => only.clone(),
            fields => Val::List(fields.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>().into()),
        },
        other => other.clone(),
    }
}

/// How a value failed.
fn error_of(value: &Val) -> Val {
    match value {
        Val::Bad(inner) => {
            let origin = inner.origin();
            Val::Unknown(Unknown { from: origin.from.and(Origins::ERROR), ..origin })
        }
        other => Val::Unknown(Unknown { heart: other.origin().heart, ..Unknown::of(Origins::ERROR) }),
    }
}
