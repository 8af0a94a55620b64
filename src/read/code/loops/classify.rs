//! Is it a retry? All ways through one pass are looked at: a loop tries again if an operation that failed lets it go on, one
//! that worked makes it end, and something is waited for in between (rust-crates.md 10.3). What else goes round in circles
//! (pollers, consumers, tickers, searches, compare-and-swap) lacks one of these.

use std::sync::Arc;

use super::Candidate;
use super::run::{End, Leaving, Machine, Mode, Origins, Try};
use crate::facts::{Classes, Confidence};
use crate::read::code::operation::called;
use crate::read::code::tree::{Arm, Exit, Id, Kind, LoopKind, Name, Place, Sym, Test, Unit};
use crate::read::code::words::lists;
use crate::read::code::words::loops::{LoopWords, Outcome, has, parts};

/// A loop that tries again.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The calls that are tried again, as far as it is asked whether they worked.
    pub ops: Vec<Id>,
    /// The operation at the heart of each.
    pub hearts: Vec<Id>,
    /// The calls that make a try each time they are made.
    pub tried: Vec<Id>,
    /// The ends of any one pass.
    pub ends: Vec<End>,
    /// Whether something is waited for between two tries.
    pub waits: bool,
    /// How sure that is.
    pub confidence: Confidence,
}

/// Looks at a loop; none if it does not try again.
pub fn classify(candidate: &Candidate) -> Option<Verdict> {
    if candidate.is_polled() {
        return None;
    }
    let machine = candidate.machine(Mode::Explore, &[]);
    let start = machine.start();
    // Any pass but the first: what the pass before has left may be there.
    let ends = machine.pass(2, start);
    by_outcome(candidate, &machine, &ends)
        .or_else(|| by_schedule(candidate, &ends))
        .or_else(|| heedless(candidate, &machine, &ends))
        .or_else(|| by_name(candidate, &ends))
}

/// What becomes of an operation, by the ways through a pass.
struct Ways<'e> {
    /// Those that go on, each with the operations that failed on it.
    on: Vec<(&'e End, Vec<Try>)>,
    /// Those that leave.
    off: Vec<(&'e End, Vec<Try>)>,
}

impl<'e> Ways<'e> {
    fn of(ends: &'e [End]) -> Ways<'e> {
        let failed = |end: &'e End| {
            let mut all: Vec<Try> = Vec::new();
            for tried in end.state.log.tries.iter().filter(|tried| tried.failed) {
                if !all.iter().any(|known| known.node == tried.of.node) {
                    all.push(tried.of);
                }
            }
            (end, all)
        };
        let (on, off): (Vec<_>, Vec<_>) = ends.iter().map(failed).partition(|(end, _)| end.how == Leaving::GoesOn);
        Ways { on, off }
    }

    /// The operations whose failure alone lets the loop go on: one, or the same one called again where it failed.
    fn decisive(&self, candidate: &Candidate) -> Vec<Try> {
        let mut all: Vec<Try> = Vec::new();
        for (_, failed) in &self.on {
            let Some((first, again)) = failed.split_first() else { continue };
            if !again.iter().all(|one| candidate.calls_the_same(first.heart, one.heart)) {
                continue;
            }
            for one in failed {
                if !all.iter().any(|known| known.node == one.node) {
                    all.push(*one);
                }
            }
        }
        all
    }
}

fn by_outcome(candidate: &Candidate, machine: &Machine, ends: &[End]) -> Option<Verdict> {
    let words = candidate.words;
    let ways = Ways::of(ends);
    // Success ends it: on no way that goes on did everything work, but for a `continue` out of turn (a redirect).
    let goes_on_after_success = |(end, failed): &(&End, Vec<Try>)| {
        let log = &end.state.log;
        failed.is_empty() && !log.tries.is_empty() && (!log.continued || !log.waits.is_empty())
    };
    let ends_after_success =
        |(end, failed): &(&End, Vec<Try>)| failed.is_empty() && !matches!(end.how, Leaving::Left(Exit::Abort, _));
    if ways.on.iter().any(goes_on_after_success) || !ways.off.iter().any(ends_after_success) {
        return None;
    }
    let goes_on = |of: &Try| {
        let node = of.node;
        ways.on.iter().filter(move |(_, failed)| failed.iter().any(|one| one.node == node))
    };
    let mut decisive = ways.decisive(candidate);
    decisive.retain(|of| {
        let is_harmless = goes_on(of).all(|(end, _)| is_no_failure(candidate.unit, &words.loops, end));
        !is_harmless && !candidate.is_stop(machine, of)
    });
    if decisive.is_empty() {
        return None;
    }
    let waits = |of: &Try| goes_on(of).any(|(end, _)| !end.state.log.waits.is_empty());
    // What is waited for between two looks at it is a state; without waiting, the same is done once more.
    decisive.retain(|of| !(candidate.is_state(of) && waits(of)));
    let waits = decisive.iter().any(waits);
    if decisive.is_empty() {
        return None;
    }
    if !waits {
        // The same request once more is a retry whatever the counter is called.
        let is_request = |of: &Try| candidate.sends(of);
        decisive.retain(|of| !made_of_count(of) && (!is_local(candidate.unit, &words.loops, of) || is_request(of)));
        let says_so = candidate.counts_attempts() || candidate.is_named_retry();
        if decisive.is_empty() || !says_so && !decisive.iter().all(is_request) {
            return None;
        }
    }
    if candidate.goes_through_targets() {
        // Another one each time, as long as it says what is called and not how.
        decisive.retain(|of| waits && !of.from.has(Origins::MADE_OF_ITEM));
        if decisive.is_empty() {
            return None;
        }
    }
    Some(verdict(candidate, &decisive, ends, waits))
}

/// A wait that something deals out until it has no more (`backoff.next()`), where not all ways come to it: what is tried again is
/// told from success by something that is not seen as such.
fn by_schedule(candidate: &Candidate, ends: &[End]) -> Option<Verdict> {
    let dealt = |end: &End| {
        let of_schedule = end.state.log.choices.iter().filter(|choice| choice.on.from.has(Origins::SCHEDULE));
        of_schedule.map(|choice| (choice.node, choice.way)).collect::<Vec<_>>()
    };
    let is_schedule = |end: &&End| {
        end.how == Leaving::GoesOn
            && end
                .state
                .log
                .waits
                .iter()
                .any(|wait| wait.delay.origin().from.has(Origins::SCHEDULE) || wait.delay.as_number().is_some())
    };
    let going = ends.iter().find(|end| is_schedule(end) && !dealt(end).is_empty())?;
    let taken = dealt(going);
    let leaves = |end: &&End| end.how != Leaving::GoesOn;
    // It gives up where the schedule has no more.
    let (node, _) = *taken.iter().find(|(node, way)| {
        ends.iter()
            .filter(leaves)
            .any(|end| dealt(end).iter().any(|(other, other_way)| other == node && other_way != way))
    })?;
    // It ends without asking the schedule: that is success.
    let succeeds = ends.iter().filter(leaves).any(|end| {
        let is_abort = matches!(end.how, Leaving::Left(Exit::Abort, _));
        !is_abort && dealt(end).iter().all(|(other, _)| *other != node)
    });
    let consumes = going.state.log.tries.iter().any(|tried| candidate.is_stop_node(tried.of.heart));
    if !succeeds || consumes {
        return None;
    }
    let operations = candidate.operations();
    let mut verdict = verdict(candidate, &[], ends, true);
    verdict.hearts = operations;
    Some(verdict)
}

/// A counted loop that keeps what worked and goes on all the same: it makes every call that it can.
fn heedless(candidate: &Candidate, machine: &Machine, ends: &[End]) -> Option<Verdict> {
    let Kind::Loop { kind: LoopKind::Count { .. }, body, .. } = candidate.unit.kind(candidate.id) else { return None };
    if !(candidate.counts_attempts() || candidate.is_named_retry() || candidate.is_blank_count()) {
        return None;
    }
    let ways = Ways::of(ends);
    let mut decisive = ways.decisive(candidate);
    decisive.retain(|of| !candidate.is_stop(machine, of) && !made_of_count(of));
    let waits = |end: &End| !end.state.log.waits.is_empty();
    let kept = keeps_success(candidate.unit, *body);
    let all_go_on = ways.on.iter().any(|(_, failed)| failed.is_empty()) && ways.off.is_empty()
        || ways.off.iter().all(|(end, _)| end.how == Leaving::IsOver);
    let waits = ways.on.iter().any(|(end, failed)| !failed.is_empty() && waits(end));
    if decisive.is_empty() || !waits || !kept || !all_go_on {
        return None;
    }
    let verdict = verdict(candidate, &decisive, ends, true);
    Some(Verdict { confidence: Confidence::Low, ..verdict })
}

/// A loop in a function that says that it tries again, over something that is awaited: nothing tells success from failure, but
/// something ends it, and it counts its tries or waits between them.
fn by_name(candidate: &Candidate, ends: &[End]) -> Option<Verdict> {
    let unit = candidate.unit;
    let is_loop = matches!(unit.kind(candidate.id), Kind::Loop { kind, .. } if !matches!(kind, LoopKind::Each { .. }));
    let function = candidate.function_name();
    let names = &candidate.words.loops.names;
    let says = parts(function).any(|part| names.retries.contains(&part))
        && !parts(function).any(|part| names.asks_only.contains(&part));
    let is_counted = candidate.counts_attempts() || candidate.notes_attempts();
    if !is_loop || !says || !is_counted {
        return None;
    }
    let operations = candidate.operations();
    let is_operation = |id: &Id| !candidate.is_stop_node(*id);
    let operations: Vec<Id> = operations.into_iter().filter(is_operation).collect();
    let waits = ends.iter().any(|end| end.how == Leaving::GoesOn && !end.state.log.waits.is_empty());
    let aborts = ends.iter().any(|end| matches!(end.how, Leaving::Left(Exit::Abort, _)));
    let goes_on = ends.iter().any(|end| end.how == Leaving::GoesOn);
    let leaves = ends.iter().any(|end| end.how != Leaving::GoesOn);
    if operations.is_empty() || aborts || !goes_on || !leaves {
        return None;
    }
    let verdict = verdict(candidate, &[], ends, waits);
    let (ops, tried) = (operations.clone(), operations.clone());
    Some(Verdict { ops, tried, hearts: operations, confidence: Confidence::Low, ..verdict })
}

/// Whether an operation took a number that changes from pass to pass: another one each time.
fn made_of_count(of: &Try) -> bool {
    of.from.has(Origins::MADE_OF_COUNT)
}

fn verdict(candidate: &Candidate, decisive: &[Try], ends: &[End], waits: bool) -> Verdict {
    let mut verdict = Verdict {
        ops: decisive.iter().map(|of| of.node).collect(),
        hearts: decisive.iter().map(|of| of.heart).collect(),
        tried: decisive.iter().map(|of| candidate.maker(of)).collect(),
        ends: ends.to_vec(),
        waits,
        confidence: Confidence::Medium,
    };
    // What is asked is what the pass before has left in a local: the call that puts it there is tried again.
    for (at, of) in decisive.iter().enumerate() {
        let kept = candidate.kept(of.node).and_then(|name| candidate.refilled_by(name));
        let Some((call, is_handed_on)) = kept else { continue };
        // Whose failure leaves (`?`) is not what goes on failing.
        if !is_handed_on {
            verdict.ops.push(call);
        }
        for made in [verdict.hearts.get_mut(at), verdict.tried.get_mut(at)].into_iter().flatten() {
            *made = call;
        }
    }
    verdict
}

/// Whether the arm that takes success does nothing but keep what came of it in a variable.
fn keeps_success(unit: &Unit, body: Id) -> bool {
    unit.below(body).any(|id| match unit.kind(id) {
        Kind::Branch { arms, .. } => arms.iter().any(|arm| {
            matches!(arm.test, Test::Success { .. })
                && match unit.kind(arm.body) {
                    Kind::Assign { op: None, .. } => true,
                    Kind::Block(ids) => {
                        matches!(ids.as_slice(), [only] if matches!(unit.kind(*only), Kind::Assign { op: None, .. }))
                    }
                    _ => false,
                }
        }),
        _ => false,
    })
}

/// Whether a way that goes on does so for failures that are none: an interrupted system call, a name that is taken.
fn is_no_failure(unit: &Unit, words: &LoopWords, end: &End) -> bool {
    let names = |kinds: &[Name]| !kinds.is_empty() && kinds.iter().all(|kind| lists(&words.no_failures, kind.best()));
    let mentions = |id: Id| {
        unit.below(id).any(|id| matches!(unit.kind(id), Kind::Name(name) if lists(&words.no_failures, name.best())))
    };
    end.state.log.choices.iter().any(|choice| match unit.kind(choice.node) {
        Kind::Branch { arms, .. } => arms.get(choice.way).is_some_and(|arm: &Arm| match &arm.test {
            Test::Failure { kinds, .. } | Test::Is { kinds, .. } => names(kinds) || arm.guard.is_some_and(mentions),
            Test::Equals(values) => !values.is_empty() && values.iter().all(|value| mentions(*value)),
            _ => false,
        }),
        Kind::Operator { .. } => choice.way == 1 && mentions(choice.node),
        _ => false,
    })
}

/// Whether an operation is a local one that nobody tries again without waiting, but looks for another way.
fn is_local(unit: &Unit, words: &LoopWords, of: &Try) -> bool {
    let is = |id: Id| match unit.kind(id) {
        Kind::Method { name, .. } => lists(&words.stops_at_once, name),
        Kind::Call { of, .. } => unit.callee(*of).is_some_and(|name| lists(&words.stops_at_once, name.best())),
        _ => false,
    };
    is(of.heart) || is(of.node)
}

impl Candidate<'_> {
    /// Whether the function around is called over and over again by others: it is a state machine, not a loop.
    fn is_polled(&self) -> bool {
        parts(self.function_name()).next().is_some_and(|first| self.words.loops.names.polled.contains(&first))
    }

    /// Whether the function around says that it tries again.
    pub fn is_named_retry(&self) -> bool {
        has(&self.words.loops.names.retries, self.function_name())
    }

    /// Whether what bounds the loop, or what counts in it, says that it counts tries.
    pub fn counts_attempts(&self) -> bool {
        let words = &self.words.loops.names.attempts;
        let unit = self.unit;
        let speaks = |id: Id| {
            unit.below(id).any(|id| match unit.kind(id) {
                Kind::Name(name) => has(words, name.last()),
                Kind::Member { name, .. } => has(words, name),
                _ => false,
            })
        };
        let counts = unit.assignments(unit.below(self.id)).iter().any(|id| match unit.kind(*id) {
            Kind::Assign { place, op, value } => {
                (op.is_some() || matches!(unit.kind(*value), Kind::Operator { .. })) && speaks(*place)
            }
            _ => false,
        });
        let bounded = match unit.kind(self.id) {
            Kind::Loop { kind: LoopKind::Count { var, range }, .. } => {
                var.as_ref().is_some_and(|var| has(words, var)) || speaks(*range)
            }
            Kind::Loop { kind: LoopKind::Each { vars, over }, .. } => {
                let is_range = unit.below(*over).any(|id| matches!(unit.kind(id), Kind::Range { .. }));
                is_range && (vars.iter().any(|var| has(words, var)) || speaks(*over))
            }
            Kind::Loop { kind: LoopKind::While(test), .. } => speaks(*test),
            Kind::Function { params, .. } => {
                params.iter().filter_map(|param| param.name.as_ref()).any(|name| has(words, name))
            }
            _ => false,
        };
        counts || bounded
    }

    /// Whether something is called in it that says that a new try begins: `state.new_attempt()`.
    fn notes_attempts(&self) -> bool {
        let unit = self.unit;
        let words = &self.words.loops.names.attempts;
        unit.below(self.id).any(|id| matches!(unit.kind(id), Kind::Method { name, .. } if has(words, name)))
    }

    /// Whether the loop only counts: its number has no name.
    fn is_blank_count(&self) -> bool {
        matches!(self.unit.kind(self.id), Kind::Loop { kind: LoopKind::Count { var, .. }, .. }
            if var.as_ref().is_none_or(|var| var.starts_with('_')))
    }

    /// Whether something is a look at the answer of what has worked: by variants none of which says that it failed.
    fn is_state(&self, of: &Try) -> bool {
        let Kind::Branch { arms, .. } = self.unit.kind(of.node) else { return false };
        let variants = &self.words.loops.variants;
        let fails = |arm: &Arm| match &arm.test {
            Test::Success { .. } | Test::Failure { .. } => true,
            Test::Is { kinds, .. } => kinds.iter().any(|kind| variants.get(kind.last()) == Some(Outcome::Failure)),
            _ => false,
        };
        of.from.has(Origins::ANSWER) && !of.from.has(Origins::GIVEN) && !arms.iter().any(fails)
    }

    /// Whether each pass has another target: it goes through hosts, files, pages.
    fn goes_through_targets(&self) -> bool {
        let Kind::Loop { kind: LoopKind::Each { over, .. }, .. } = self.unit.kind(self.id) else { return false };
        let unit = self.unit;
        let counts = |id: Id| match unit.kind(id) {
            Kind::Range { .. } => true,
            Kind::Name(name) => has(&self.words.loops.names.schedules, name.last()),
            Kind::Member { name, .. } => has(&self.words.loops.names.schedules, name),
            _ => false,
        };
        !unit.below(*over).any(counts)
    }

    fn is_stop(&self, machine: &Machine, of: &Try) -> bool {
        machine.is_stop(self.unit, of.heart) || machine.is_stop(self.unit, of.node)
    }

    fn is_stop_node(&self, node: Id) -> bool {
        let machine = self.machine(Mode::Explore, &[]);
        machine.is_stop(self.unit, node)
    }

    /// The call that makes a try: the one at the heart of an operation where the loop makes it, whoever asks what came of it.
    fn maker(&self, of: &Try) -> Id {
        let is_call = matches!(self.unit.kind(of.heart), Kind::Call { .. } | Kind::Method { .. });
        if is_call && of.heart < self.id && self.unit.is_below(of.heart, self.id) { of.heart } else { of.node }
    }

    /// Whether what is tried sends a request.
    fn sends(&self, of: &Try) -> bool {
        self.does(of.heart).0 || of.node != of.heart && self.does(of.node).0
    }

    /// The failures that what is tried may have.
    pub fn failures_of(&self, of: &Try) -> Classes {
        let is_call = |id: &Id| matches!(self.unit.kind(*id), Kind::Call { .. } | Kind::Method { .. });
        self.does([of.node, of.heart].into_iter().find(is_call).unwrap_or(of.node)).1
    }

    /// Whether a call sends a request, and which failures it may have.
    fn does(&self, call: Id) -> (bool, Classes) {
        called(self.project, &Place { unit: Arc::clone(self.unit), id: call })
    }

    /// The local of which something asks whether what is in it worked: `res.is_ok()`, `let Err(_) = res`,
    /// `res.status().is_success()`.
    pub fn kept(&self, asks: Id) -> Option<&Sym> {
        let unit = self.unit;
        let is_answer =
            |id: Id| matches!(unit.kind(id), Kind::Method { name, .. } if self.words.loops.answers.get(name).is_some());
        let mut id = match unit.kind(asks) {
            Kind::Branch { on: Some(on), .. } => *on,
            _ => asks,
        };
        if is_answer(id) || unit.parent(id).is_some_and(is_answer) {
            while let Kind::Method { on, .. } | Kind::Member { of: on, .. } = unit.kind(id) {
                id = *on;
            }
        }
        match unit.kind(id) {
            Kind::Name(name) if name.full.is_none() => Some(&name.text),
            _ => None,
        }
    }

    /// The one call whose result the loop puts into a local, and whether its failure is handed on (`?`).
    fn refilled_by(&self, local: &str) -> Option<(Id, bool)> {
        let unit = self.unit;
        let mut calls = unit.assignments(unit.below(self.id)).iter().filter_map(|id| match unit.kind(*id) {
            Kind::Assign { place, op: None, value }
                if matches!(unit.kind(*place), Kind::Name(name) if *name.text == *local && name.full.is_none()) =>
            {
                Some(*value)
            }
            _ => None,
        });
        let value = calls.next().filter(|_| calls.next().is_none())?;
        let (mut call, mut is_handed_on) = (value, false);
        if let Kind::Branch { on: Some(on), .. } = unit.kind(call)
            && self.is_question(call)
        {
            (call, is_handed_on) = (*on, true);
        }
        if let Kind::Await(of) = unit.kind(call) {
            call = *of;
        }
        matches!(unit.kind(call), Kind::Call { .. } | Kind::Method { .. }).then_some((call, is_handed_on))
    }

    /// Everything that is called at the loop's own level and awaited: what may be tried again where nothing says what is.
    fn operations(&self) -> Vec<Id> {
        let unit = self.unit;
        let mut all = Vec::new();
        for id in unit.below(self.id) {
            let Kind::Await(of) = unit.kind(id) else { continue };
            let own = unit.around(id).take_while(|around| *around != self.id);
            let is_inner = own.into_iter().any(|around| matches!(unit.kind(around), Kind::Closure { .. }));
            if matches!(unit.kind(*of), Kind::Call { .. } | Kind::Method { .. }) && !is_inner {
                all.push(*of);
            }
        }
        all
    }
}
