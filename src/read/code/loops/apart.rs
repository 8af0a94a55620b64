//! What stands in a loop and is no part of its tries (contracts.md D-6): calls whose failure ends the loop, and what is only
//! come to on the way out of it.

use super::Candidate;
use super::classify::Verdict;
use super::run::Leaving;
use crate::read::code::tree::{Exit, Id, Kind};

/// So many ways through a pass are all of them; where there are more, some may have been left out.
const ALL_WAYS: usize = 40;

/// The nodes below a loop that are no part of its tries, each with everything below it.
pub fn apart(candidate: &Candidate, verdict: &Verdict) -> Vec<Id> {
    let unit = candidate.unit;
    let mut all = candidate.ending_calls(verdict);
    all.extend(candidate.on_the_way_out());
    // What is tried again is never left out, wherever it stands.
    let holds_operation = |id: &Id| verdict.ops.iter().chain(&verdict.hearts).any(|own| unit.is_below(*own, *id));
    all.retain(|id| !holds_operation(id));
    all.sort_unstable();
    all.dedup();
    all
}

impl Candidate<'_> {
    /// The calls after whose failure there is no other pass: `login().await?`.
    fn ending_calls(&self, verdict: &Verdict) -> Vec<Id> {
        if verdict.ends.len() > ALL_WAYS {
            return Vec::new();
        }
        let failed = |goes_on: bool| {
            let ends = verdict.ends.iter().filter(move |end| (end.how == Leaving::GoesOn) == goes_on);
            ends.flat_map(|end| &end.state.log.tries).filter(|tried| tried.failed).map(|tried| tried.of.node)
        };
        let going_on: Vec<Id> = failed(true).collect();
        let unit = self.unit;
        let waits = unit.below(self.id).any(|id| matches!(unit.kind(id), Kind::Await(_)));
        // What builds a request may fail too, and is a part of the try: it is not what is waited for.
        let is_call = |id: Id| match waits {
            true => unit.parent(id).is_some_and(|parent| matches!(unit.kind(parent), Kind::Await(_))),
            false => matches!(unit.kind(id), Kind::Call { .. }),
        };
        failed(false).filter(|id| *id != self.id && !going_on.contains(id) && is_call(*id)).collect()
    }

    /// What leaves the loop whichever way it goes: what an exit gives, and the statements before it from which nothing leads
    /// into another pass. It is done once at most.
    fn on_the_way_out(&self) -> Vec<Id> {
        let unit = self.unit;
        let Kind::Loop { label, body, .. } = unit.kind(self.id) else { return Vec::new() };
        // Out of a block with a label, it goes on behind that.
        let goes_on = |id: Id| {
            unit.below(id).any(|id| match unit.kind(id) {
                Kind::Exit { how: Exit::Continue, .. } => true,
                Kind::Exit { how: Exit::Break, label: target, .. } => target.is_some() && target != label,
                _ => false,
            })
        };
        let mut all = Vec::new();
        for id in unit.below(*body) {
            let Kind::Exit { how, label: target, .. } = unit.kind(id) else { continue };
            let mut between = unit.around(id).take_while(|around| *around != self.id);
            let leaves = match how {
                Exit::Return => !between.any(|id| matches!(unit.kind(id), Kind::Closure { .. } | Kind::Spawn(_))),
                Exit::Break if target.is_some() => target == label,
                Exit::Break => !between.any(|id| matches!(unit.kind(id), Kind::Loop { .. } | Kind::Closure { .. })),
                Exit::Continue | Exit::Raise | Exit::Abort => false,
            };
            if !leaves || goes_on(id) {
                continue;
            }
            all.push(id);
            if let Some(Kind::Block(statements)) = unit.parent(id).map(|parent| unit.kind(parent)) {
                let before = statements.iter().rev().skip_while(|statement| **statement != id).skip(1);
                all.extend(before.take_while(|statement| !goes_on(**statement)));
            }
        }
        all
    }
}
