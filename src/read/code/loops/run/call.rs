//! Calls: what waits, what limits, what computes, what is followed; everything else is an operation.

use std::rc::Rc;
use std::sync::Arc;

use super::names::makes_variant;
use super::number::{Chance, Number};
use super::value::{Code, Origins, Pause, Record, Series, Try, Type, Unknown, Val};
use super::{Flow, Machine, Out, Outs, State, Step, Waited, one, origins};
use crate::read::code::tree::{Arg, Exit, Id, Kind, Literal, Name, Sym, Unit};
use crate::read::code::words::loops::{Clock, Limit, Wait, Wrapper, has};
use crate::read::code::words::values::Operation;
use crate::read::code::words::{last_of, lists};

impl Machine<'_> {
    /// A call by name or of a value.
    pub(super) fn call(&self, unit: &Arc<Unit>, id: Id, of: Id, types: &[Name], args: &[Arg], state: State) -> Outs {
        let Some(name) = unit.callee(of) else {
            let ids: Vec<Id> = std::iter::once(of).chain(args.iter().map(|arg| arg.value)).collect();
            return self.each(unit, &ids, state, |state, values| self.operation(unit, id, "", state, &values));
        };
        let path = name.best();
        let words = &self.words.loops;
        if lists(&words.observes, path) {
            let mut state = state;
            self.observed(unit, id, &mut state);
            return one(state, Val::Unit);
        }
        if lists(&words.aborts, path) {
            return vec![Out { state, flow: Flow::Leave(Exit::Abort, None, Val::Unit) }];
        }
        if lists(&words.asserts, path)
            && let Some(asked) = args.first()
        {
            let outs = self.run(unit, asked.value, state);
            return self.then(outs, |state, value| match value {
                Val::Bool(false) => vec![Out { state, flow: Flow::Leave(Exit::Abort, None, Val::Unit) }],
                _ => one(state, Val::Unit),
            });
        }
        // A function that was handed over to what is followed.
        let handed = state.get(path).filter(|_| name.full.is_none());
        if let Some(Val::Closure(Code { gives: Some(of), .. })) = handed {
            let of = Try { from: of.from.and(Origins::GIVEN), ..*of };
            return one(state, Val::Try(of));
        }
        if state.is_elsewhere() && matches!(handed, Some(Val::Closure(_) | Val::Unknown(_))) {
            let of = self.attempt(unit, id, None, Origins::GIVEN);
            let mut state = state;
            if self.site.get().is_some_and(|site| self.ops.contains(&site)) {
                state.steps.push(Step::Try);
            }
            return one(state, Val::Try(of));
        }
        // A function that calls itself goes on.
        if self.is_own(unit) && self.calls_target(unit, name) && !state.is_elsewhere() {
            return self.again(unit, args, state);
        }
        let ids: Vec<Id> = args.iter().map(|arg| arg.value).collect();
        self.each(unit, &ids, state, |state, values| {
            if let Some(outs) = self.leaving(unit, id, name, &state) {
                return outs;
            }
            let named = || args.iter().map(|arg| arg.name.clone()).zip(values.iter().cloned()).collect::<Vec<_>>();
            if let Some(wrapper) = words.wrappers.of_path(path)
                && values.len() <= 1
            {
                return one(state, wrapped(wrapper, values.into_iter().next()));
            }
            if let Some(wait) = words.waits.of_path(path) {
                return self.wait(unit, id, wait, state, &values);
            }
            if let Some(limit) = words.limits.of_path(path) {
                let over = self.over_at(unit, id, limit, &state, &values);
                let mut state = state;
                if over.is_some() {
                    self.choose(unit, &mut state, id, 1, &Unknown::of(Origins::CLOCK));
                }
                let mut outs = self.limited_try(unit, id, state, &values);
                outs.extend(over);
                return outs;
            }
            if let Some(clock) = words.clock.of_path(path) {
                return one(state, self.clock(clock, &values));
            }
            if let Some(how) = self.words.values.random.of_path(path) {
                let types: Vec<&str> = types.iter().map(Name::last).collect();
                return one(state, self.random(how, &values, &types, unit.span(id)));
            }
            if let Some(duration) = self.duration(path, &named(), unit.span(id)) {
                return one(state, duration);
            }
            if lists(&words.blocking_places, path) {
                return self.inside(unit, id, state, &values);
            }
            match self.words.values.functions.of_path(path) {
                Some(Operation::Result) => return self.inside(unit, id, state, &values),
                Some(operation) => {
                    if let Some(value) = self.operate(operation, &values) {
                        return one(state, value);
                    }
                }
                None => {}
            }
            if let Some(outs) = self.follow_function(unit, id, name, &values, &state) {
                return outs;
            }
            if makes_variant(path) {
                let fields = values.into_iter().enumerate().map(|(at, value)| (Sym::from(at.to_string()), value));
                let of = Type { name: name.clone(), unit: Arc::clone(unit) };
                let record = Record { of: Some(of), fields: fields.collect() };
                return one(state, Val::Record(record.into()));
            }
            self.operation(unit, id, path, state, &values)
        })
    }

    /// A call that is not looked into: an operation, or something that its name says more of.
    pub(super) fn operation(&self, unit: &Arc<Unit>, id: Id, name: &str, mut state: State, values: &[Val]) -> Outs {
        let names = &self.words.loops.names;
        let origin = origins(values);
        let last = last_of(name);
        let receiver = name.strip_suffix(last).unwrap_or_default();
        // Asked of a result that is not decided yet, the question whether to try again decides it. What was asked of its error
        // before is no result.
        let asked =
            |value: &Val| value.tried().filter(|of| !of.from.has(Origins::ERROR) || of.from.has(Origins::GIVEN));
        if has(&names.asks, last)
            && let Some(of) = values.iter().find_map(asked)
            && self.unit.is_below(of.node, self.target)
            && state.failed(of).is_none()
        {
            return self.telling(unit, id, state, of, true);
        }
        if let Some(Val::Pause(pause)) = values.iter().find(|value| matches!(value, Val::Pause(_))) {
            return one(state, Val::Pause(pause.clone()));
        }
        // What says that it sleeps does; of what says that it backs off only what is awaited does.
        let is_awaited = unit.parent(id).is_some_and(|parent| matches!(unit.kind(parent), Kind::Await(_)));
        let waits = has(&names.sleeps, last) || is_awaited && has(&names.waits, last) && !has(&names.asks, last);
        if waits {
            let node = if self.is_own(unit) { id } else { self.site.get().unwrap_or(self.target) };
            return one(state, Val::Pause(Pause { node, delay: delay_among(values) }.into()));
        }
        // Blocks that are handed on to be awaited run where they are awaited; here that is now.
        for value in values {
            if let Val::Closure(code) = value
                && code.is_async
            {
                state = self.waits_of(code, state);
            }
        }
        if self.is_random_name(last) {
            let chance =
                Chance { span: Some(unit.span(id)), pass: self.pass.get(), after_cap: false, is_unknown: true };
            if let Some(number) = values.iter().find_map(Val::as_number) {
                return one(state, Val::number(Number { chance: Some(chance), ..number.clone() }));
            }
            return one(state, self.chance_unknown(chance));
        }
        self.note_try(unit, id, &mut state);
        state.log.forget(id);
        let made = Origins::MADE_OF_COUNT.and(Origins::MADE_OF_ITEM);
        let kept = made.and(Origins::SCHEDULE).and(Origins::CANCEL).and(Origins::TOLD);
        let mut from = origin.from.only(kept);
        if origin.from.has(Origins::ITEM) {
            from = from.and(Origins::MADE_OF_ITEM);
        }
        if origin.from.has(Origins::COUNT) {
            from = from.and(Origins::MADE_OF_COUNT);
        }
        // What is asked of an error comes from it; what is done with it does not.
        if values.first().is_some_and(|first| first.origin().from.has(Origins::ERROR)) && !is_awaited {
            from = from.and(Origins::ERROR);
        }
        if values.iter().skip(1).any(|value| value.origin().from.has(Origins::ERROR)) {
            from = from.and(Origins::TOLD);
        }
        if has(&names.schedules, last) || has(&names.schedules, receiver) || has(&names.asks, last) {
            from = from.and(Origins::SCHEDULE);
        }
        if has(&names.cancels, last) || has(&names.cancels, receiver) {
            from = from.and(Origins::CANCEL);
        }
        let results = values.iter().find_map(Val::tried).filter(|of| of.is_awaited).map(|of| of.heart);
        let heart = results.or(values.first().filter(|_| name.contains("::")).and_then(|first| first.origin().heart));
        one(state, Val::Try(self.attempt(unit, id, heart, from)))
    }

    /// Notes that a call is made that makes a try.
    pub(super) fn note_try(&self, unit: &Arc<Unit>, id: Id, state: &mut State) {
        if self.is_own(unit) && !state.is_elsewhere() && self.tried.contains(&id) {
            state.steps.push(Step::Try);
        }
    }

    /// What is awaited: a wait waits, a block runs, and anything else is what it was.
    pub(super) fn awaited(&self, unit: &Arc<Unit>, id: Id, mut state: State, value: Val) -> Outs {
        match value {
            Val::Pause(pause) => {
                self.note_wait(pause.node, &pause.delay, false, &mut state);
                one(state, Val::from(Origins::CANCEL))
            }
            Val::Closure(code) => {
                self.note_try(unit, id, &mut state);
                let state = self.waits_of(&code, state);
                let of = self.attempt(unit, id, None, Origins::NOTHING);
                one(state, Val::Try(of))
            }
            // A stream of delays waits by giving its next one.
            Val::Try(of) if of.from.has(Origins::SCHEDULE) && self.is_next_delay(unit, id) => {
                self.note_wait(id, &Val::from(Origins::SCHEDULE), false, &mut state);
                one(state, Val::Unknown(value.origin()))
            }
            Val::Try(of) => one(state, Val::Try(Try { is_awaited: true, ..of })),
            value => one(state, value),
        }
    }

    /// Whether the next of something is awaited that says by its name that it deals out delays.
    fn is_next_delay(&self, unit: &Arc<Unit>, id: Id) -> bool {
        let called = match unit.kind(id) {
            Kind::Await(of) => unit.kind(*of),
            other => other,
        };
        matches!(called, Kind::Method { on, name, .. }
            if self.words.values.methods.get(name) == Some(Operation::Successive)
                && has(&self.words.loops.names.retries, &self.spoken(unit, *on)))
    }

    fn note_wait(&self, node: Id, delay: &Val, is_blocking: bool, state: &mut State) {
        let waited = Waited { node, delay: delay.clone(), is_blocking };
        state.log.waits.push(waited.clone());
        state.steps.push(Step::Wait(waited));
    }

    pub(super) fn wait(&self, unit: &Arc<Unit>, id: Id, wait: Wait, mut state: State, values: &[Val]) -> Outs {
        let node = if self.is_own(unit) { id } else { self.target };
        let given = values.first().cloned().unwrap_or_else(Val::unknown);
        let delay = match (wait, &given) {
            (Wait::Until, Val::Moment(Some(at))) => Val::Number(at.clone()),
            (Wait::Until, other) => Val::Unknown(other.origin()),
            (Wait::BlockingMillis | Wait::AwaitedMillis, Val::Number(number)) => Val::number(number.times(1e6, true)),
            (Wait::BlockingSeconds, Val::Number(number)) => Val::number(number.times(1e9, true)),
            _ => given,
        };
        match wait {
            Wait::Awaited | Wait::AwaitedMillis | Wait::Until => one(state, Val::Pause(Pause { node, delay }.into())),
            Wait::Blocking | Wait::BlockingMillis | Wait::BlockingSeconds => {
                self.note_wait(node, &delay, true, &mut state);
                one(state, Val::Unit)
            }
        }
    }

    /// `timeout(limit, op())`: what it gives failed if the operation did or took too long.
    /// The way on which the time that was set before the loop is over: the try is cut, as are all that would follow.
    fn over_at(&self, unit: &Arc<Unit>, id: Id, limit: Limit, state: &State, values: &[Val]) -> Option<Out> {
        let at = set_before(limit, values)?;
        let time = Unknown { limit: at, ..Unknown::of(Origins::CLOCK) };
        let mut state = state.clone();
        self.choose(unit, &mut state, id, 0, &time);
        let of = self.attempt(unit, id, values.get(1).and_then(|of| of.origin().heart), Origins::NOTHING);
        state.decide(of, true);
        let error = Unknown { heart: Some(of.heart), ..Unknown::of(Origins::ERROR.and(Origins::CLOCK)) };
        Some(Out::value(state, Val::Bad(Val::Unknown(error).into())))
    }

    fn limited_try(&self, unit: &Arc<Unit>, id: Id, mut state: State, values: &[Val]) -> Outs {
        self.note_try(unit, id, &mut state);
        let Some(inner) = values.get(1) else { return one(state, Val::unknown()) };
        match inner {
            // What waits for something and gives up when the time is over, waits.
            Val::Unknown(_) | Val::Pause(_) if values.first().is_some_and(|limit| limit.as_number().is_some()) => {
                let of = self.attempt(unit, id, inner.origin().heart, Origins::NOTHING);
                one(state, Val::Try(of))
            }
            Val::Closure(code) => {
                let state = self.waits_of(code, state);
                one(state, Val::Try(self.attempt(unit, id, None, Origins::NOTHING)))
            }
            other => {
                let heart = other.tried().map(|of| of.heart).or(other.origin().heart);
                one(state, Val::Try(self.attempt(unit, id, heart, Origins::NOTHING)))
            }
        }
    }

    pub(super) fn clock(&self, clock: Clock, values: &[Val]) -> Val {
        match clock {
            // Before the loop, the clock stands at its start.
            Clock::Now if self.pass.get() == 0 => Val::Moment(Some(Number::time(0.0, None).into())),
            Clock::Now => Val::Moment(None),
            Clock::Elapsed | Clock::Between => Val::Unknown(Unknown { from: Origins::CLOCK, ..origins(values) }),
        }
    }

    /// The next of what is in a variable.
    pub(super) fn successive(&self, unit: &Arc<Unit>, on: Id, state: &State) -> Option<Outs> {
        let Kind::Name(name) = unit.kind(on) else { return None };
        let mut state = state.clone();
        let (next, rest) = match state.get(&name.text)? {
            Val::List(items) => {
                let next = items.first().map_or(Val::Absent, |item| Val::Present(item.clone().into()));
                (next, Val::List(items.get(1..).unwrap_or_default().to_vec().into()))
            }
            Val::Series(series) => {
                let is_over = series.known_len().is_some_and(|len| len < 1.0);
                let next = if is_over { Val::Absent } else { Val::Present(series.at(0.0).into()) };
                let one_less = |len: &Val| match len.as_number() {
                    Some(number) => Val::number(number.each(|len| (len - 1.0).max(0.0)).varying()),
                    None => len.clone(),
                };
                let is_open = series.len.is_some() && series.known_len().is_none();
                let next = match &series.len {
                    Some(Val::Unknown(why)) if is_open => {
                        Val::Unknown(Unknown { from: why.from.and(Origins::SCHEDULE), ..why.clone() })
                    }
                    _ => next,
                };
                let len = series.len.as_ref().map(one_less);
                (next, Val::Series(Series { first: series.at(1.0), step: series.step, len, to: None }.into()))
            }
            _ => return None,
        };
        // In any pass, there may be another one or none.
        let next = match next {
            Val::Present(item) if self.mode == super::Mode::Explore => {
                Val::Unknown(Unknown { from: Origins::SCHEDULE.and(item.origin().from), ..item.origin() })
            }
            next => next,
        };
        state.set(&name.text, rest);
        Some(one(state, next))
    }

    /// The value of a result; without one the thread ends.
    pub(super) fn unwrap(&self, unit: &Arc<Unit>, on: Id, state: State, value: &Val) -> Outs {
        let ways = self.ask_failed(unit, on, state, value).into_iter();
        ways.map(|(state, failed)| {
            if failed {
                Out { state, flow: Flow::Leave(Exit::Abort, None, Val::Unit) }
            } else {
                Out::value(state, super::branch::unwrapped(value))
            }
        })
        .collect()
    }

    /// What a function that is handed over does where it is run; its own exits end it alone.
    fn inside(&self, unit: &Arc<Unit>, id: Id, mut state: State, values: &[Val]) -> Outs {
        self.note_try(unit, id, &mut state);
        match values.first() {
            Some(Val::Closure(code)) if self.is_own(&code.unit) => {
                let state = self.waits_of(code, state);
                one(state, Val::Try(self.attempt(unit, id, None, Origins::NOTHING)))
            }
            _ => one(state, Val::Try(self.attempt(unit, id, None, Origins::NOTHING))),
        }
    }

    pub(super) fn observed(&self, unit: &Arc<Unit>, id: Id, state: &mut State) {
        if self.is_own(unit) && !state.is_elsewhere() {
            state.log.observed = Some(id);
        }
    }

    fn is_random_name(&self, name: &str) -> bool {
        has(&self.words.values.random_names, name)
    }

    /// Whether an operation is none that is tried again.
    pub fn is_stop(&self, unit: &Arc<Unit>, node: Id) -> bool {
        let words = &self.words.loops;
        match unit.kind(node) {
            Kind::Method { name, .. } => lists(&words.stops, name) || has(&words.names.cancels, name),
            Kind::Call { of, .. } => unit
                .callee(*of)
                .is_some_and(|name| lists(&words.stops, name.best()) || has(&words.names.cancels, name.last())),
            _ => false,
        }
    }

    /// Whether a call waits or logs: no operation.
    pub(super) fn is_wait_or_log(&self, unit: &Arc<Unit>, node: Id) -> bool {
        let words = &self.words.loops;
        match unit.kind(node) {
            Kind::Method { name, .. } => words.wait_methods.get(name).is_some() || lists(&words.observes, name),
            Kind::Call { of, .. } => unit
                .callee(*of)
                .is_some_and(|name| words.waits.of_path(name.best()).is_some() || lists(&words.observes, name.best())),
            _ => true,
        }
    }

    /// What a receiver is called: its last name.
    pub(super) fn spoken(&self, unit: &Unit, id: Id) -> String {
        match unit.kind(id) {
            Kind::Name(name) => name.last().to_owned(),
            Kind::Member { name, .. } | Kind::Method { name, .. } => name.to_string(),
            Kind::Await(of) => match unit.kind(*of) {
                Kind::Method { name, .. } => name.to_string(),
                _ => String::new(),
            },
            Kind::Literal(Literal::Text(_)) => String::new(),
            _ => String::new(),
        }
    }
}

/// The length of time among arguments, else the last one, as what is waited for.
fn delay_among(values: &[Val]) -> Val {
    let delay = values.iter().rev().find(|value| value.as_number().is_some_and(|number| number.is_time));
    match delay.or(values.last()) {
        Some(delay @ Val::Number(_)) => delay.clone(),
        Some(other) => Val::Unknown(Unknown { from: other.origin().from.and(Origins::SCHEDULE), ..other.origin() }),
        None => Val::from(Origins::SCHEDULE),
    }
}

/// The point in time that a limit was set to before the loop, as far from its start as is known; none if it is not set there.
fn set_before(limit: Limit, values: &[Val]) -> Option<Option<Rc<Number>>> {
    match (limit, values.first()?) {
        (Limit::For, _) | (Limit::Until, Val::Moment(None)) => None,
        (Limit::Until, Val::Moment(at)) => Some(at.clone()),
        (Limit::Until, _) => Some(None),
    }
}

fn wrapped(wrapper: Wrapper, value: Option<Val>) -> Val {
    let value = value.unwrap_or(Val::Unit);
    match wrapper {
        Wrapper::Success => Val::Good(value.into()),
        Wrapper::Failure => Val::Bad(value.into()),
        Wrapper::Present => Val::Present(value.into()),
        Wrapper::Absent => Val::Absent,
    }
}

/// A result as an optional value.
pub(super) fn optional(value: &Val) -> Val {
    match value {
        Val::Try(of) => Val::Option(*of),
        Val::Good(inner) => Val::Present(inner.clone()),
        Val::Bad(_) => Val::Absent,
        other => other.clone(),
    }
}
