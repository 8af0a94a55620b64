//! How delays between tries grow: the loop is run beyond its end and its waits are measured; what fits the series is what it is.

use super::Candidate;
use super::bounds::tries;
use super::classify::Verdict;
use super::run::number::{Number, nanos};
use super::run::value::Val;
use super::run::{Leaving, Mode, State, Step, Waited};
use super::series::{Delay, fit, keep_to};
use crate::facts::{Backoff, BackoffKind, Frozen, Jitter, Sourced, Value};
use crate::read::code::tree::{Id, Kind, LoopKind};

/// Delays that are measured: enough to tell how they grow.
const MEASURED: usize = 8;
/// Passes after which a series that grows is taken to have no cap but a written one.
const FURTHEST: u32 = 40;

/// The delays of a loop.
#[derive(Clone, Debug)]
pub struct Delays {
    /// How they grow.
    pub backoff: Backoff,
    /// Their random part.
    pub jitter: Sourced<Jitter>,
    /// Where it is drawn once for all tries.
    pub frozen: Option<Frozen>,
    /// A wait that blocks the thread.
    pub blocking: Option<Id>,
}

/// Measures the delays of a loop. `last`: how it ends, for loops whose tries are counted.
pub fn measure(candidate: &Candidate, verdict: &Verdict, last: Option<&State>) -> Delays {
    let waits: Vec<&Waited> = verdict.ends.iter().flat_map(|end| &end.state.log.waits).collect();
    let blocking = waits.iter().find(|wait| wait.is_blocking).map(|wait| wait.node);
    let within = verdict.ends.iter().find_map(|end| end.state.log.waits_within);
    if let (false, Some(node)) = (verdict.waits, within) {
        let fitted = fit(candidate.unit.span(node), &[]);
        return Delays { backoff: fitted.backoff, jitter: fitted.jitter, frozen: None, blocking };
    }
    if !verdict.waits {
        return Delays {
            backoff: Backoff::at_once(candidate.span()),
            jitter: written(candidate, Jitter::NONE),
            frozen: None,
            blocking,
        };
    }
    let series = grown(candidate, verdict);
    let wait = series.first().map(|delay| delay.node).or(waits.first().map(|wait| wait.node));
    let fitted = fit(candidate.unit.span(wait.unwrap_or(candidate.id)), &series);
    let mut delays = Delays { backoff: fitted.backoff, jitter: fitted.jitter, frozen: fitted.frozen, blocking };
    if candidate.goes_through_list()
        && let Some(kind) =
            delays.backoff.kind.known().filter(|kind| !matches!(kind, BackoffKind::Fixed | BackoffKind::None))
        && !matches!(kind, BackoffKind::Schedule(_))
    {
        let written = series.iter().filter_map(|delay| delay.number.as_ref()).map(Number::nanos).collect();
        delays.backoff.kind.value = Value::Known(BackoffKind::Schedule(written));
    }
    if let Some(last) = last {
        keep_to(&mut delays.backoff, &between(last, candidate.tries_before(verdict) > 0, false));
    }
    delays
}

impl Candidate<'_> {
    /// Whether the loop goes through a list that is written out.
    fn goes_through_list(&self) -> bool {
        let Kind::Loop { kind: LoopKind::Each { over, .. }, .. } = self.unit.kind(self.id) else { return false };
        self.unit.below(*over).any(|id| matches!(self.unit.kind(id), Kind::List(_)))
    }
}

/// The delays of passes beyond the last one.
fn grown(candidate: &Candidate, verdict: &Verdict) -> Vec<Delay> {
    let machine = candidate.machine(Mode::Grow, &verdict.ops).noting(&verdict.tried);
    let before = candidate.tries_before(verdict) > 0;
    let mut state = machine.start();
    let mut beyond = false;
    for number in 1..=FURTHEST {
        let mut next = best(machine.pass(number, state.clone()));
        if next.is_none() && !beyond {
            beyond = true;
            machine.go_beyond();
            next = best(machine.pass(number, state.clone()));
        }
        // Behind the last element of a list comes nothing; the wait for it is one all the same.
        let Some(next) = next else { return between(&state, before, true) };
        state = next;
        let all = between(&state, before, false);
        let is_enough = all.len() >= MEASURED
            && (!grows(&all) || all.iter().any(|delay| delay.number.as_ref().is_some_and(|n| n.cap.is_some())));
        if is_enough || machine.is_exhausted() {
            break;
        }
    }
    between(&state, before, false)
}

fn grows(all: &[Delay]) -> bool {
    match all {
        [.., a, b] => match (&a.number, &b.number) {
            (Some(a), Some(b)) => b.nominal > a.nominal * 1.000_1,
            _ => false,
        },
        _ => false,
    }
}

/// Of the ways that go on, the one that takes things as they are, and of those the one that waits and knows how long.
fn best(ends: Vec<super::run::End>) -> Option<State> {
    let going = ends.into_iter().filter(|end| end.how == Leaving::GoesOn).map(|end| end.state);
    let rank = |state: &State| {
        let waits = &state.log.waits;
        let known = waits.iter().filter(|wait| wait.delay.as_number().is_some()).count();
        let longest = waits.iter().filter_map(|wait| wait.delay.as_number()).map(|number| nanos(number.nominal)).max();
        (
            state.against,
            std::cmp::Reverse(usize::from(!waits.is_empty())),
            std::cmp::Reverse(tries(state)),
            std::cmp::Reverse((known, longest)),
        )
    };
    going.min_by_key(rank)
}

/// The delays between the tries on a way. `tried`: whether one was made before; `goes_on`: whether one is made behind.
fn between(state: &State, mut tried: bool, goes_on: bool) -> Vec<Delay> {
    let has_tries = tries(state) > 0;
    let mut all: Vec<Delay> = Vec::new();
    let mut current: Option<Delay> = None;
    for step in &state.steps {
        match step {
            Step::Try => {
                if tried && let Some(delay) = current.take() {
                    all.push(delay);
                }
                current = None;
                tried = true;
            }
            Step::Pass if !has_tries => {
                all.extend(current.take());
            }
            Step::Pass => {}
            Step::Wait(wait) => {
                let delay = one(wait);
                current = Some(match current.take() {
                    Some(before) => sum(before, delay),
                    None => delay,
                });
            }
        }
    }
    if !has_tries || goes_on {
        all.extend(current);
    }
    all
}

fn one(wait: &Waited) -> Delay {
    match &wait.delay {
        Val::Number(number) => Delay { number: Some((**number).clone()), why: None, node: wait.node },
        other => Delay { number: None, why: other.origin().why.map(|why| why.0.clone()), node: wait.node },
    }
}

fn sum(a: Delay, b: Delay) -> Delay {
    use crate::read::code::words::values::Operation;
    match (&a.number, &b.number) {
        (Some(x), Some(y)) => Delay { number: Number::combine(Operation::Add, x, y), ..a },
        // What is not known of one is not known of both.
        (Some(_), None) => b,
        _ => a,
    }
}

fn written<T>(candidate: &Candidate, value: T) -> Sourced<T> {
    Sourced::written(value, candidate.span())
}
