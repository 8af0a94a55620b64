//! A loop that tries again as a site: everything that is known of it put together.

use super::Candidate;
use super::apart::apart;
use super::bounds::{self, Bound, tries};
use super::classify::{self, Verdict};
use super::delays::{self, Delays};
use super::run::{End, Flow, Leaving, Mode, Origins, Step, Val};
use super::series::{Delay, fit};
use super::{conditions, purpose};
use crate::facts::{
    Attempts, Backoff, BackoffKind, Check, Dialect, Exhausted, InCode, Jitter, Limit, Measures, Nanos, Policy,
    PolicyKind, Purpose, Sourced, Why,
};
use crate::read::code::site::{Finder, LIMITS_ITSELF, Site, unseen_limit};
use crate::read::code::tree::{Exit, Id, Kind};
use crate::read::code::words::lists;
use crate::source::Span;

/// Reads a loop; none if it does not try again.
pub fn read(candidate: &Candidate) -> Option<Site> {
    let verdict = classify::classify(candidate)?;
    let bound = bounds::count(candidate, &verdict);
    let last = bound.last.iter().max_by_key(|end| tries(&end.state)).map(|end| &end.state);
    let delays = delays::measure(candidate, &verdict, last.filter(|_| bound.attempts.known().is_some()));
    if is_wait(candidate, &delays) {
        return None;
    }
    let purpose = purpose::purpose(candidate, &verdict, bound.attempts.known(), bound.is_cancelled);
    Some(site(candidate, &verdict, bound, delays, purpose))
}

/// What is described where an object is made, whoever uses it. `ty`: what it is of; `series`: its delays, none if they are
/// decided elsewhere.
pub fn described(candidate: &Candidate, ty: &str, attempts: Sourced<Attempts>, series: Option<&[Delay]>) -> Site {
    let at = candidate.span();
    let name = candidate.shown_function().unwrap_or_else(|| ty.to_owned());
    let mut policy = Policy::new(Dialect::Code, "in-house", "the code", at, name.as_str());
    policy.kind = PolicyKind::Library;
    if attempts.known() == Some(&Attempts::Times(1)) {
        (policy.backoff, policy.jitter) = (Backoff::at_once(at), Sourced::written(Jitter::NONE, at));
    } else if let Some(series) = series {
        let fitted = fit(at, series);
        (policy.backoff, policy.jitter) = (fitted.backoff, fitted.jitter);
    } else {
        let why = || Why::Other("decided where it is used".into());
        policy.backoff.kind = Sourced::unknown(why(), at);
        policy.jitter = Sourced::unknown(why(), at);
    }
    policy.attempts = attempts;
    policy.attempt_timeout = unseen_limit(LIMITS_ITSELF, "the code");
    policy.in_code =
        Some(Box::new(InCode { function: candidate.shown_function().map(Into::into), ..InCode::default() }));
    Site {
        policy,
        construct: candidate.id,
        operations: Vec::new(),
        apart: Vec::new(),
        from: Finder::Loops,
        uses: vec![at],
        is_described: true,
    }
}

/// Functions that wait for something to be so look again after the same time: no retry. What backs off is one.
fn is_wait(candidate: &Candidate, delays: &Delays) -> bool {
    let grows = matches!(
        delays.backoff.kind.known(),
        Some(BackoffKind::Exponential | BackoffKind::Linear | BackoffKind::Fibonacci | BackoffKind::Schedule(_))
    );
    candidate.is_waiting() && !grows
}

fn site(candidate: &Candidate, verdict: &Verdict, bound: Bound, delays: Delays, purpose: Purpose) -> Site {
    let unit = candidate.unit;
    let span = candidate.span();
    let is_function = matches!(unit.kind(candidate.id), Kind::Function { .. });
    let name = candidate.shown_function().unwrap_or_else(|| "loop".to_owned());
    let mut policy = Policy::new(Dialect::Code, "hand-written", "the code", span, name.as_str());
    policy.kind = PolicyKind::Loop;
    policy.attempts = bound.attempts;
    policy.backoff = delays.backoff;
    policy.jitter = delays.jitter;
    policy.attempt_timeout =
        candidate.attempt_timeout(verdict).unwrap_or_else(|| unseen_limit(LIMITS_ITSELF, "the code"));
    if let Some(limit) = candidate.enclosing_limit() {
        policy.total.limit = limit;
        policy.total.check = Check::Cuts;
        if policy.attempts.known() == Some(&Attempts::Unbounded) {
            policy.attempts = policy.attempts.map(|_| Attempts::ByTime);
        }
    } else if let Some(limit) = bound.time {
        policy.total.limit = limit.map(Limit::At);
        policy.total.check = Check::BetweenAttempts;
        policy.total.measures = Measures::Wall;
    }
    let conditions = conditions::read(candidate, verdict);
    policy.retries_on = conditions.retries_on;
    policy.names_classes = conditions.named;
    let observed = verdict.ends.iter().filter(|end| end.how == Leaving::GoesOn).find_map(|end| end.state.log.observed);
    if let Some(observed) = observed {
        policy.observed = Sourced::written(true, unit.span(observed));
    }
    policy.purpose = purpose;
    let ending = candidate.ending(&bound.last);
    policy.exhausted = ending.exhausted;
    policy.confidence = verdict.confidence;
    let operation = verdict.hearts.first().map(|heart| candidate.spoken(*heart)).filter(|text| !text.is_empty());
    let is_counted = policy.tries().is_some_and(|tries| tries > 1);
    policy.in_code = Some(Box::new(InCode {
        function: candidate.shown_function().map(Into::into),
        operation: operation.map(Into::into),
        is_async: candidate.is_async(candidate.id),
        frozen_jitter: delays.frozen,
        sleep_after_last: if is_counted && !bound.tries_again { candidate.sleep_after_last(&bound.last) } else { None },
        blocking_sleep: delays.blocking.filter(|wait| candidate.is_async(*wait)).map(|wait| unit.span(wait)),
        swallowed: ending.swallowed.filter(|_| purpose == Purpose::Request && is_counted),
        ..InCode::default()
    }));
    let body = match unit.kind(candidate.id) {
        Kind::Loop { body, .. } | Kind::Function { body: Some(body), .. } => *body,
        _ => candidate.id,
    };
    let operations = if is_function { vec![body] } else { vec![candidate.id] };
    Site {
        policy,
        construct: candidate.id,
        operations,
        apart: apart(candidate, verdict),
        from: Finder::Loops,
        uses: Vec::new(),
        is_described: false,
    }
}

/// What comes of it when all tries have failed.
struct Ending {
    exhausted: Exhausted,
    swallowed: Option<Span>,
}

impl Candidate<'_> {
    /// The function around, as shown: `Client::fetch`.
    pub fn shown_function(&self) -> Option<String> {
        match self.unit.kind(self.function?) {
            Kind::Function { name, owner: Some(owner), .. } => Some(format!("{}::{name}", owner.last())),
            Kind::Function { name, .. } => Some(name.to_string()),
            _ => None,
        }
    }

    /// Whether a node stands in asynchronous code: not in a function that is handed over to be run elsewhere.
    pub fn is_async(&self, id: Id) -> bool {
        let unit = self.unit;
        if let Kind::Function { is_async, .. } = unit.kind(id) {
            return *is_async;
        }
        for around in unit.around(id) {
            match unit.kind(around) {
                Kind::Closure { is_async, .. } | Kind::Function { is_async, .. } => return *is_async,
                _ => {}
            }
        }
        false
    }

    /// The limit of one try: that of the call that limits it.
    fn attempt_timeout(&self, verdict: &Verdict) -> Option<Sourced<Limit<Nanos>>> {
        let unit = self.unit;
        // What made the client that a try uses stands elsewhere, and limits that client alone: see `operation`.
        let mut tries = verdict.ops.iter().chain(&verdict.hearts).filter(|op| unit.is_below(**op, self.id));
        let limited = tries.find_map(|op| {
            std::iter::once(*op)
                .chain(unit.around(*op).take_while(|around| *around < self.id))
                .find_map(|id| self.limit_of(id))
        })?;
        Some(self.limit(limited))
    }

    /// The limit of the whole loop.
    fn enclosing_limit(&self) -> Option<Sourced<Limit<Nanos>>> {
        let unit = self.unit;
        let inside = unit
            .around(self.id)
            .take_while(|around| !matches!(unit.kind(*around), Kind::Function { .. } | Kind::Loop { .. }));
        let limit = inside.into_iter().find_map(|around| self.limit_of(around))?;
        Some(self.limit(limit))
    }

    /// The limit that a call sets to what it is given.
    fn limit_of(&self, id: Id) -> Option<Id> {
        let words = &self.words.loops;
        match self.unit.kind(id) {
            Kind::Call { of, args, .. } if args.len() == 2 => {
                self.unit.callee(*of).filter(|name| words.limits.of_path(name.best()).is_some())?;
                args.first().map(|arg| arg.value)
            }
            Kind::Method { name, args, .. } if args.len() == 1 => {
                words.limit_methods.get(name)?;
                args.first().map(|arg| arg.value)
            }
            _ => None,
        }
    }

    fn limit(&self, id: Id) -> Sourced<Limit<Nanos>> {
        let machine = self.machine(Mode::Count, &[]);
        let value = machine.value_of(id);
        match &value {
            Val::Number(number) if number.is_time && !number.varies && number.exact().is_some() => {
                Sourced::written(Limit::At(number.nanos()), number.span.unwrap_or(self.unit.span(id)))
            }
            other => {
                let why = other.origin().why.map(|why| why.0.clone());
                let why = why.unwrap_or(Why::Other("decided at run time".into()));
                Sourced::unknown(why, self.unit.span(id))
            }
        }
    }

    /// A wait that is reached after the last try, whichever way the loop ends.
    fn sleep_after_last(&self, last: &[End]) -> Option<Span> {
        // Where no call is seen that makes a try, none is known to be the last.
        let most = last.iter().map(|end| tries(&end.state)).max().filter(|most| *most > 0)?;
        let mut ends = last.iter().filter(|end| tries(&end.state) == most && end.how != Leaving::GoesOn);
        let wait = |end: &End| {
            let after = end.state.steps.iter().rev().take_while(|step| !matches!(step, Step::Try));
            after.filter_map(|step| if let Step::Wait(wait) = step { Some(wait.node) } else { None }).next()
        };
        let first = wait(ends.next()?)?;
        ends.all(|end| wait(end).is_some()).then(|| self.unit.span(first))
    }

    /// What comes of it when all tries have failed.
    fn ending(&self, last: &[End]) -> Ending {
        let unknown = Ending { exhausted: Exhausted::Unknown, swallowed: None };
        let Some(most) = last.iter().map(|end| tries(&end.state)).max() else { return unknown };
        let machine = self.machine(Mode::Count, &[]);
        let returns_result = self.returns_result();
        let mut all: Vec<(Exhausted, Option<Span>)> = Vec::new();
        for end in last.iter().filter(|end| tries(&end.state) == most) {
            for out in machine.rest(end) {
                let (is_error, value) = match &out.flow {
                    Flow::Leave(Exit::Raise | Exit::Abort, ..) => (true, None),
                    Flow::Leave(_, _, value) | Flow::Value(value) => (false, Some(value)),
                };
                let ending = match value {
                    _ if is_error => (Exhausted::Error, None),
                    // Success with anything in it may say there that nothing was done.
                    Some(Val::Good(inner)) if returns_result && **inner != Val::Unit => (Exhausted::Unknown, None),
                    Some(Val::Good(_)) if returns_result => {
                        let at = out.state.exit.map(|exit| self.unit.span(exit)).or_else(|| self.last_value());
                        (Exhausted::Dropped, at)
                    }
                    Some(Val::Bad(_)) => (Exhausted::Error, None),
                    Some(Val::Unknown(unknown)) if unknown.from.has(Origins::ERROR) => (Exhausted::Error, None),
                    Some(_) if returns_result => (Exhausted::Error, None),
                    _ => (Exhausted::Unknown, None),
                };
                all.push(ending);
            }
        }
        let Some((first, swallowed)) = all.first().copied() else { return unknown };
        let same = all.iter().all(|(one, _)| *one == first);
        Ending { exhausted: if same { first } else { Exhausted::Unknown }, swallowed: swallowed.filter(|_| same) }
    }

    /// Whether the function around gives a result, and the loop stands in the function itself.
    fn returns_result(&self) -> bool {
        let unit = self.unit;
        let is_own = unit
            .around(self.id)
            .find(|around| matches!(unit.kind(*around), Kind::Closure { .. } | Kind::Function { .. }));
        let function = match unit.kind(self.id) {
            Kind::Function { .. } => Some(self.id),
            _ => is_own,
        };
        match function.map(|function| unit.kind(function)) {
            Some(Kind::Function { returns: Some(returns), .. }) => {
                lists(&self.words.loops.results, returns.last()) || returns.last().ends_with("Result")
            }
            _ => false,
        }
    }

    /// Where the last value of the function stands.
    fn last_value(&self) -> Option<Span> {
        let Kind::Function { body: Some(body), .. } = self.unit.kind(self.function?) else { return None };
        let mut id = *body;
        while let Kind::Block(ids) = self.unit.kind(id) {
            id = *ids.last()?;
        }
        Some(self.unit.span(id))
    }
}
