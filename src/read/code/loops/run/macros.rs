//! Macros of the project's own that may leave the function in which they are called: `return_err!(e)`.

use std::sync::Arc;

use super::value::{Origins, Unknown, Val};
use super::{Flow, Machine, Out, Outs, State, one};
use crate::read::code::tree::{Exit, Id, Kind, Name, Unit};
use crate::read::code::words::last_of;
use crate::read::code::words::loops::has;

/// Whether a macro leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaves {
    /// Whatever happens.
    Always,
    /// On some way, or that is what its name says.
    Perhaps,
    Never,
}

impl Machine<'_> {
    /// The ways on behind a call of a macro that may leave; none where it is a call like others.
    pub(super) fn leaving(&self, unit: &Arc<Unit>, id: Id, name: &Name, state: &State) -> Option<Outs> {
        if !name.text.ends_with('!') {
            return None;
        }
        let leave = |state: State| Out { state, flow: Flow::Leave(Exit::Return, None, Val::unknown()) };
        match self.leaves(unit, id, name) {
            Leaves::Never => None,
            Leaves::Always => Some(vec![leave(state.clone())]),
            Leaves::Perhaps => {
                let on = Unknown::of(Origins::CALL);
                let (mut stays, mut left) = (state.clone(), state.clone());
                self.choose(unit, &mut stays, id, 1, &on);
                self.choose(unit, &mut left, id, 0, &on);
                let mut outs = one(stays, Val::Unknown(on));
                outs.push(leave(left));
                Some(outs)
            }
        }
    }

    /// What its rules say, where they stand in the file; else what its name does.
    fn leaves(&self, unit: &Unit, id: Id, called: &Name) -> Leaves {
        let last = last_of(&called.text);
        let path = format!("crate::{last}");
        let mut rules = unit.defined(&path).filter_map(|id| match unit.kind(id) {
            Kind::Function { body: Some(body), .. } => Some(*body),
            _ => None,
        });
        let Some(first) = rules.next() else {
            let names = &self.words.loops.names;
            let says = has(&names.leaves, last.trim_end_matches('!'));
            let is_statement = unit.parent(id).is_some_and(|parent| !matches!(unit.kind(parent), Kind::Let { .. }));
            return if says && is_statement { Leaves::Perhaps } else { Leaves::Never };
        };
        let all: Vec<Leaves> = std::iter::once(first).chain(rules).map(|body| leaves(unit, body)).collect();
        match all.first() {
            Some(first) if all.iter().all(|one| one == first) => *first,
            _ => Leaves::Perhaps,
        }
    }
}

/// Whether what a rule writes returns from the function in which it is written.
fn leaves(unit: &Unit, body: Id) -> Leaves {
    let returns = |id: Id| matches!(unit.kind(id), Kind::Exit { how: Exit::Return, .. });
    let last = match unit.kind(body) {
        Kind::Block(ids) => ids.last().copied(),
        _ => Some(body),
    };
    if last.is_some_and(returns) {
        return Leaves::Always;
    }
    let is_own = |id: Id| {
        let mut around = unit.around(id).take_while(|around| *around <= body);
        !around.any(|around| matches!(unit.kind(around), Kind::Closure { .. } | Kind::Function { .. }))
    };
    if unit.below(body).any(|id| returns(id) && is_own(id)) { Leaves::Perhaps } else { Leaves::Never }
}
