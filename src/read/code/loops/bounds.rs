//! How many tries a loop makes: it is run until it ends, every try failing (rust-crates.md 10.2). Where it does not end by what is
//! known, what it asks before going on says why.

use super::Candidate;
use super::classify::Verdict;
use super::run::{Choice, Compared, End, Leaving, Machine, Mode, Origins, State, Step, Unknown};
use crate::facts::{Attempts, Nanos, Sourced, Why};
use crate::read::code::loops::run::number;
use crate::read::code::site::COUNTLESS;
use crate::read::code::tree::{Arg, Exit, Id, Kind, LoopKind, Sym, Test};
use crate::source::Span;

/// Passes that are run at most.
const PASSES: u32 = 1000;
/// Passes after which a loop that nothing counts is taken to go on for ever.
const ENOUGH: u32 = 6;
/// States that are carried on side by side.
const STATES: usize = 4;

/// How a loop is bounded.
#[derive(Clone, Debug)]
pub struct Bound {
    /// All tries.
    pub attempts: Sourced<Attempts>,
    /// A limit on time that is looked at between tries, where there is one.
    pub time: Option<Sourced<Nanos>>,
    /// How it ends when all tries have failed, with everything that happened; none where it does not end.
    pub last: Vec<End>,
    /// Whether it is tried once more behind the loop.
    pub tries_again: bool,
    /// Whether it ends when somebody wants it to.
    pub is_cancelled: bool,
}

/// Runs a loop to its end.
pub fn count(candidate: &Candidate, verdict: &Verdict) -> Bound {
    let bound = run(candidate, verdict);
    // Of several that are asked for, one may fail for ever without being counted.
    if verdict.ops.len() < 2 || !matches!(bound.attempts.known(), Some(Attempts::Times(_))) {
        return bound;
    }
    verdict.ops.iter().find_map(|op| uncounted(candidate, verdict, *op)).map_or(bound, |at| Bound {
        attempts: Sourced::written(Attempts::Unbounded, at),
        time: None,
        last: Vec::new(),
        tries_again: false,
        is_cancelled: false,
    })
}

/// Where a loop goes on after a failure of this operation as if nothing had happened: it waits, nothing has changed, and nobody
/// outside decides whether it goes on.
fn uncounted(candidate: &Candidate, verdict: &Verdict, op: Id) -> Option<Span> {
    let is_open = matches!(
        candidate.unit.kind(candidate.id),
        Kind::Loop { kind: LoopKind::Forever | LoopKind::While(_) | LoopKind::DoWhile(_), .. }
    );
    if !is_open {
        return None;
    }
    let ops = [op];
    let machine = candidate.machine(Mode::Count, &ops).noting(&verdict.tried);
    let start = machine.start();
    if !machine.begins(&start) {
        return None;
    }
    let mut gates = Gates::default();
    let mut states = vec![start];
    let mut stuck = None;
    for pass in 1..=ENOUGH {
        let mut on = Vec::new();
        for state in std::mem::take(&mut states) {
            for end in machine.pass(pass, state.clone()) {
                gates.see(&end, &candidate.asked_after_failure(&end, &verdict.ops));
                if end.how != Leaving::GoesOn {
                    continue;
                }
                let fails = end.state.log.tries.iter().any(|tried| tried.failed && tried.of.node == op);
                let waited = end.state.log.waits.last().map(|wait| wait.node);
                if fails && end.state.holds_the_same(&state) {
                    stuck = stuck.or(waited);
                }
                join(&mut on, end.state);
            }
        }
        on.truncate(STATES);
        states = on;
    }
    let is_decided = gates.unknown(candidate).is_some() || gates.time.is_some() || gates.is_cancelled();
    stuck.filter(|_| !is_decided && !machine.is_exhausted() && !machine.is_cut()).map(|at| candidate.unit.span(at))
}

fn run(candidate: &Candidate, verdict: &Verdict) -> Bound {
    let machine = candidate.machine(Mode::Count, &verdict.ops).noting(&verdict.tried);
    let mut states = vec![machine.start()];
    let mut gates = Gates::default();
    let mut before: Vec<Compared> = Vec::new();
    let mut last: Vec<End> = Vec::new();
    let mut passes = 0;
    if !machine.begins(&states[0]) {
        states.clear();
    }
    while !states.is_empty() && passes < PASSES && !machine.is_exhausted() {
        passes += 1;
        let mut compared = Vec::new();
        let mut on: Vec<State> = Vec::new();
        let mut off = Vec::new();
        for state in states {
            for end in machine.pass(passes, state) {
                gates.see(&end, &candidate.asked_after_failure(&end, &verdict.ops));
                match end.how {
                    Leaving::GoesOn => join(&mut on, end.state),
                    _ => off.push(end),
                }
            }
            compared.extend(machine.comparisons());
        }
        on.sort_by_key(|state| std::cmp::Reverse(tries(state)));
        on.truncate(STATES);
        if on.is_empty() {
            let bound = flipped(&before, &compared).or_else(|| candidate.range_span(&machine));
            last = off;
            // A limit on time may end it before the count does.
            gates.unknown(candidate);
            return Bound { time: gates.time(), ..finished(candidate, verdict, last, bound, gates.is_cancelled()) };
        }
        let counting = nearest(compared.iter().filter(|one| is_nearing(one, &before, &compared)));
        let length = candidate.known_len(&machine);
        let next = counting.min(length.unwrap_or(f64::INFINITY));
        if passes >= ENOUGH && next > COUNTLESS {
            break;
        }
        if passes >= ENOUGH
            && let Some(len) = length.filter(|len| *len > f64::from(PASSES) && counting > *len)
        {
            // Nothing but the range ends it, however long that is.
            let span = candidate.range_span(&machine).unwrap_or(candidate.span());
            let attempts = Sourced::written(Attempts::Times(len as u64), span);
            let is_cancelled = gates.is_cancelled();
            return Bound { attempts, time: gates.time(), last, tries_again: false, is_cancelled };
        }
        before = compared;
        states = on;
    }
    let span = candidate.span();
    let attempts = match gates.unknown(candidate) {
        Some((why, span)) => Sourced::unknown(why, span),
        None if machine.is_exhausted() || machine.is_cut() || passes >= PASSES => {
            Sourced::unknown(Why::Other("a loop that is not followed to its end".into()), span)
        }
        None if gates.time.is_some() => {
            Sourced::written(Attempts::ByTime, gates.time.as_ref().map_or(span, |(_, at)| *at))
        }
        None => Sourced::written(Attempts::Unbounded, span),
    };
    Bound { attempts, time: gates.time(), last, tries_again: false, is_cancelled: gates.is_cancelled() }
}

fn finished(
    candidate: &Candidate,
    verdict: &Verdict,
    last: Vec<End>,
    bound: Option<Span>,
    is_cancelled: bool,
) -> Bound {
    let most = last.iter().map(|end| tries(&end.state)).max().unwrap_or(0);
    // Where the operation is called from elsewhere, each pass is a try.
    let passes = last.iter().map(|end| end.state.steps.iter().filter(|step| matches!(step, Step::Pass)).count()).max();
    let most = if most == 0 { passes.unwrap_or(0) } else { most };
    let before = candidate.tries_before(verdict);
    let goes_on = |end: &End| matches!(end.how, Leaving::IsOver | Leaving::Left(Exit::Break, _));
    let tries_again = last.iter().any(goes_on) && candidate.tries_behind(verdict);
    let span = bound.unwrap_or(candidate.span());
    let attempts = match most + before + usize::from(tries_again) {
        0 => Sourced::unknown(Why::Other("a loop that never runs".into()), span),
        all => Sourced::written(Attempts::Times(all as u64), span),
    };
    Bound { attempts, time: None, last, tries_again, is_cancelled }
}

/// How often the operation was called on the way to a state.
pub fn tries(state: &State) -> usize {
    state.steps.iter().filter(|step| matches!(step, Step::Try)).count()
}

/// Adds a state, unless one goes on like it: then the one with more waits stays.
fn join(states: &mut Vec<State>, state: State) {
    let waits = |state: &State| state.steps.iter().filter(|step| matches!(step, Step::Wait(_))).count();
    match states.iter_mut().find(|known| known.holds_the_same(&state)) {
        Some(known) if (tries(&state), waits(&state)) > (tries(known), waits(known)) => *known = state,
        Some(_) => {}
        None => states.push(state),
    }
}

/// The least distance of a count from what ends it.
fn nearest<'a>(compared: impl Iterator<Item = &'a Compared>) -> f64 {
    compared.map(|one| one.distance).fold(f64::INFINITY, f64::min)
}

/// Whether a count is on its way to what it is compared with: past the one pass that `i == 3` is about, it will not come back.
fn is_nearing(one: &Compared, before: &[Compared], now: &[Compared]) -> bool {
    let of = |all: &[Compared]| nearest(all.iter().filter(|other| other.node == one.node));
    one.is_time || of(now) < of(before)
}

/// The bound of the comparison that came out otherwise than in the pass before.
fn flipped(before: &[Compared], now: &[Compared]) -> Option<Span> {
    let is_new = |one: &&Compared| before.iter().any(|known| known.node == one.node && known.holds != one.holds);
    let found = now.iter().rev().find(is_new).or_else(|| if before.is_empty() { now.last() } else { None });
    found.and_then(|one| one.bound)
}

/// Conditions of which one way leads out of the loop and another one on.
#[derive(Default)]
struct Gates {
    on: Vec<(Id, usize)>,
    off: Vec<(Id, usize, Unknown)>,
    time: Option<(Option<Nanos>, Span)>,
}

impl Gates {
    fn see(&mut self, end: &End, asked_after: &[Choice]) {
        let log = &end.state.log;
        // What is asked whether to go on decides like a condition, although it may be an operation of its own. So does what is
        // told how a try failed.
        let asked = log.tries.iter().filter(|tried| tried.of.from.has(Origins::SCHEDULE.and(Origins::TOLD)));
        let asked = asked.map(|tried| Choice {
            node: tried.of.node,
            way: usize::from(tried.failed),
            on: Unknown { from: tried.of.from, heart: Some(tried.of.heart), ..Unknown::default() },
            is_read: false,
        });
        let asked: Vec<Choice> = asked.collect();
        for choice in log.choices.iter().chain(&log.either).chain(&asked).chain(asked_after) {
            if end.how == Leaving::GoesOn {
                if self.on.len() < 512 && !self.on.contains(&(choice.node, choice.way)) {
                    self.on.push((choice.node, choice.way));
                }
            } else if self.off.len() < 512
                && !self.off.iter().any(|(node, way, _)| *node == choice.node && *way == choice.way)
            {
                self.off.push((choice.node, choice.way, choice.on.clone()));
            }
        }
    }

    /// Those that end it: on one way it never goes on, on another it does.
    fn all(&self) -> impl Iterator<Item = (Id, &Unknown)> {
        let ends = |(node, way, _): &&(Id, usize, Unknown)| {
            self.on.iter().any(|(on, _)| on == node) && !self.on.contains(&(*node, *way))
        };
        self.off.iter().filter(ends).map(|(node, _, on)| (*node, on))
    }

    fn is_cancelled(&self) -> bool {
        self.all().any(|(_, on)| on.from.has(Origins::CANCEL))
    }

    /// Why it cannot be told how many tries there are.
    fn unknown(&mut self, candidate: &Candidate) -> Option<(Why, Span)> {
        let mut time = None;
        let mut why = None;
        for (node, on) in self.all() {
            let from = on.from;
            let is_decided = candidate.asks_an_object(node) || candidate.hands_failure_to_a_call(node);
            let is_error = from.has(Origins::ERROR.and(Origins::ANSWER)) && !is_decided;
            if from.has(Origins::CLOCK) {
                let limit = on.limit.as_ref().and_then(|limit| limit.exact()).map(number::nanos);
                let at = on.limit.as_ref().and_then(|limit| limit.span).unwrap_or(candidate.unit.span(node));
                time = time.or(Some((limit, at)));
            } else if from.has(Origins::SCHEDULE) {
                why = why.or_else(|| Some(reason(candidate, node, on, "decided by")));
            } else if from.has(Origins::COUNT) || from.has(Origins::ITEM) {
                why = Some(reason(candidate, node, on, "ends by"));
            } else if !is_error && !from.has(Origins::CANCEL) && from != Origins::NOTHING {
                why = why.or_else(|| Some(reason(candidate, node, on, "ends by")));
            }
        }
        self.time = time;
        why
    }

    fn time(&self) -> Option<Sourced<Nanos>> {
        let (limit, span) = self.time?;
        Some(match limit {
            Some(limit) => Sourced::written(limit, span),
            None => Sourced::unknown(Why::Other("a point in time from elsewhere".into()), span),
        })
    }
}

fn reason(candidate: &Candidate, node: Id, on: &Unknown, how: &str) -> (Why, Span) {
    match &on.why {
        Some(why) => (why.0.clone(), why.1),
        None => {
            let text = candidate.spoken(node);
            let why = if text.is_empty() { "decided at run time".to_owned() } else { format!("{how} `{text}`") };
            (Why::Other(why.into()), candidate.unit.span(node))
        }
    }
}

impl Candidate<'_> {
    /// Whether a condition hands the failure to an object that was made before the loop: `state.should_retry(&error)`. How often
    /// that says yes is its own affair.
    fn asks_an_object(&self, node: Id) -> bool {
        let unit = self.unit;
        let Kind::Branch { on, arms } = unit.kind(node) else { return false };
        let failures = std::iter::once(node).chain(unit.around(node)).take_while(|around| *around <= self.id);
        let failures: Vec<&Sym> = failures
            .filter_map(|id| match unit.kind(id) {
                Kind::Branch { arms, .. } => Some(arms),
                _ => None,
            })
            .flatten()
            .filter_map(|arm| match &arm.test {
                Test::Failure { binds, .. } => Some(binds),
                _ => None,
            })
            .flatten()
            .collect();
        let asked = arms.iter().flat_map(|arm| match arm.test {
            Test::Holds(condition) => [arm.guard, Some(condition)],
            _ => [arm.guard, None],
        });
        let asks = |id: Id| match unit.kind(id) {
            Kind::Method { on, args, .. } => {
                let is_failure = |id| matches!(unit.kind(id), Kind::Name(name) if failures.contains(&&name.text));
                matches!(unit.kind(*on), Kind::Name(name) if name.full.is_none() && self.is_made_before(&name.text))
                    && args.iter().any(|arg| unit.below(arg.value).any(is_failure))
            }
            _ => false,
        };
        asked.flatten().chain(*on).any(|condition| unit.below(condition).any(asks))
    }

    /// Whether a local of this name is made before the loop.
    fn is_made_before(&self, local: &str) -> bool {
        let unit = self.unit;
        let Some(function) = unit.function_of(self.id) else { return false };
        let before = *unit.below(function).start()..*unit.below(self.id).start();
        before
            .into_iter()
            .any(|id| matches!(unit.kind(id), Kind::Let { names, .. } if names.iter().any(|name| **name == *local)))
    }

    /// How many elements the loop goes through, if it does and that is known.
    fn known_len(&self, machine: &Machine) -> Option<f64> {
        match machine.gone_through(self.over()?)? {
            super::run::Val::List(items) => Some(items.len() as f64),
            super::run::Val::Series(series) => series.known_len(),
            _ => None,
        }
    }

    /// Where it is written how many elements that are.
    fn range_span(&self, machine: &Machine) -> Option<Span> {
        match machine.gone_through(self.over()?)? {
            super::run::Val::Series(series) => series.len.as_ref()?.as_number()?.span,
            _ => Some(self.unit.span(self.over()?)),
        }
    }

    fn over(&self) -> Option<Id> {
        match self.unit.kind(self.id) {
            Kind::Loop { kind: LoopKind::Count { range, .. }, .. } => Some(*range),
            Kind::Loop { kind: LoopKind::Each { over, .. }, .. } => match self.unit.kind(*over) {
                Kind::Method { on, name, .. } if self.words.loops.numberings.iter().any(|one| **one == **name) => {
                    Some(*on)
                }
                _ => Some(*over),
            },
            _ => None,
        }
    }

    /// Tries before the loop: the same call, whose failure leads into it.
    pub(super) fn tries_before(&self, verdict: &Verdict) -> usize {
        let unit = self.unit;
        let Some(called) = verdict.hearts.first().and_then(|heart| self.called(*heart)) else { return 0 };
        let mut inside = self.id;
        for around in unit.around(self.id) {
            match unit.kind(around) {
                Kind::Block(ids) => {
                    let at = ids.iter().position(|id| unit.is_below(inside, *id)).unwrap_or(0);
                    for id in ids.iter().take(at).rev() {
                        let calls = |one: Id| self.called(one).as_ref() == Some(&called) && !self.is_deferred(one, *id);
                        if unit.below(*id).any(calls) && self.leads_on(*id, verdict) {
                            return 1;
                        }
                    }
                }
                Kind::Function { .. } | Kind::Closure { .. } | Kind::Loop { .. } => return 0,
                _ => {}
            }
            inside = around;
        }
        0
    }

    /// Whether the same call stands behind the loop too: a last try, once the loop is over.
    fn tries_behind(&self, verdict: &Verdict) -> bool {
        let unit = self.unit;
        let Some(called) = verdict.hearts.first().and_then(|heart| self.called(*heart)) else { return false };
        let around = unit.around(self.id).take_while(|id| {
            !matches!(unit.kind(*id), Kind::Function { .. } | Kind::Closure { .. } | Kind::Loop { .. })
        });
        let calls = |statement: Id| {
            let is_it = |one: Id| self.called(one).as_ref() == Some(&called) && !self.is_deferred(one, statement);
            unit.below(statement).any(is_it)
        };
        around.into_iter().any(|around| match unit.kind(around) {
            Kind::Block(ids) => ids.iter().skip_while(|id| !unit.is_below(self.id, **id)).skip(1).any(|id| calls(*id)),
            _ => false,
        })
    }

    /// Whether a node stands in a closure or loop within a statement.
    fn is_deferred(&self, id: Id, statement: Id) -> bool {
        let mut around =
            self.unit.around(id).take_while(|around| *around >= id && self.unit.is_below(*around, statement));
        around.any(|around| matches!(self.unit.kind(around), Kind::Closure { .. } | Kind::Loop { .. }))
    }

    /// Whether a statement before the loop is left on success, or keeps its result for a condition of the loop.
    fn leads_on(&self, statement: Id, verdict: &Verdict) -> bool {
        let unit = self.unit;
        let leaves = |id: Id| match unit.kind(id) {
            Kind::Branch { arms, .. } => arms.iter().any(|arm| {
                matches!(arm.test, crate::read::code::tree::Test::Success { .. })
                    && unit
                        .below(arm.body)
                        .any(|id| matches!(unit.kind(id), Kind::Exit { how: Exit::Return | Exit::Break, .. }))
            }),
            _ => false,
        };
        let keeps = match (unit.kind(statement), unit.kind(self.id)) {
            (Kind::Let { names, .. }, Kind::Loop { kind: LoopKind::While(test), .. }) => {
                unit.below(*test).any(|id| matches!(unit.kind(id), Kind::Name(name) if names.contains(&name.text)))
            }
            (Kind::Let { names, .. }, _) => {
                verdict.ops.iter().filter_map(|op| self.kept(*op)).any(|name| names.contains(name))
            }
            _ => false,
        };
        keeps || unit.below(statement).any(leaves)
    }

    /// Whether two calls ask the same for the same, as far as that is written.
    pub(super) fn calls_the_same(&self, one: Id, other: Id) -> bool {
        let args = |id: Id| match self.unit.kind(id) {
            Kind::Call { args, .. } | Kind::Method { args, .. } => args.as_slice(),
            _ => &[],
        };
        let is_same = |(a, b): (&Arg, &Arg)| match (self.unit.kind(a.value), self.unit.kind(b.value)) {
            (Kind::Literal(a), Kind::Literal(b)) => a == b,
            _ => Some(self.spoken(a.value)).filter(|text| !text.is_empty()) == Some(self.spoken(b.value)),
        };
        let called = self.called(one);
        let (a, b) = (args(one), args(other));
        called.is_some() && called == self.called(other) && a.len() == b.len() && a.iter().zip(b).all(is_same)
    }

    /// What a call calls, as text: the callee and the receiver.
    fn called(&self, id: Id) -> Option<String> {
        match self.unit.kind(id) {
            Kind::Call { of, .. } => self.unit.callee(*of).map(|name| name.best().to_owned()),
            Kind::Method { on, name, .. } => Some(format!("{}.{name}", self.spoken(*on))),
            _ => None,
        }
    }
}
