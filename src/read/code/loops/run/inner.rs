//! Loops within the one that is looked at, and races: of each one pass, of each one contender.

use std::sync::Arc;

use super::value::{Origins, Unknown, Val};
use super::{Flow, Machine, Out, Outs, State, one};
use crate::read::code::tree::{Contender, Exit, Id, LoopKind, Sym, Unit};

impl Machine<'_> {
    /// A loop inside: one pass of it stands for all. It is no loop of the one that is looked at, so its waits are not.
    pub(super) fn inner_loop(
        &self,
        unit: &Arc<Unit>,
        id: Id,
        kind: &LoopKind,
        label: Option<&Sym>,
        body: Id,
        mut state: State,
    ) -> Outs {
        self.forget_assigned(unit, id, &mut state);
        let waits = (state.log.waits.len(), state.steps.len());
        let depth = state.enter();
        let starts: Outs = match kind {
            LoopKind::Count { var, range } => {
                let outs = self.run(unit, *range, state);
                self.then(outs, |mut state, _| {
                    if let Some(var) = var {
                        state.bind(var, Val::from(Origins::ITEM));
                    }
                    one(state, Val::Unit)
                })
            }
            LoopKind::Each { vars, over } => {
                let outs = self.run(unit, *over, state);
                self.then(outs, |mut state, over| {
                    let item = Unknown { from: Origins::ITEM.and(over.origin().from), ..Unknown::default() };
                    vars.iter().for_each(|var| state.bind(var, Val::Unknown(item.clone())));
                    one(state, Val::Unit)
                })
            }
            LoopKind::While(test) => self.holding(unit, *test, true, state),
            LoopKind::DoWhile(_) | LoopKind::Forever => one(state, Val::Unit),
        };
        let outs = self.then(starts, |state, _| self.run(unit, body, state));
        let mut all = Vec::with_capacity(outs.len());
        for mut out in outs {
            let is_mine = |target: &Option<Sym>| target.is_none() || target.as_ref() == label;
            let (goes_on, value) = match &out.flow {
                Flow::Value(_) => (true, Val::Unit),
                Flow::Leave(Exit::Continue, target, _) if is_mine(target) => (true, Val::Unit),
                Flow::Leave(Exit::Break, target, value) if is_mine(target) => (false, value.clone()),
                Flow::Leave(..) => {
                    out.state.leave(depth);
                    all.push(out);
                    continue;
                }
            };
            // Nothing but an exit ends a loop without a condition.
            if goes_on && matches!(kind, LoopKind::Forever) {
                continue;
            }
            out.state.leave(depth);
            let within = out.state.log.waits.get(waits.0).map(|waited| waited.node);
            out.state.log.waits_within = out.state.log.waits_within.or(within);
            out.state.log.waits.truncate(waits.0);
            out.state.keep_tries(waits.1);
            all.push(Out::value(out.state, value));
        }
        self.limited(all)
    }

    /// The ways on which a condition holds, or does not.
    pub(super) fn holding(&self, unit: &Arc<Unit>, test: Id, wanted: bool, state: State) -> Outs {
        let outs = self.condition(unit, test, state);
        outs.into_iter().filter(|out| !matches!(&out.flow, Flow::Value(Val::Bool(holds)) if *holds != wanted)).collect()
    }

    /// What is there first: any of them may be. A wait beside an operation is the limit of its try.
    pub(super) fn race(&self, unit: &Arc<Unit>, id: Id, contenders: &[Contender], state: State) -> Outs {
        let mut all = Vec::new();
        let mut firsts = Vec::with_capacity(contenders.len());
        for (way, contender) in contenders.iter().enumerate() {
            for out in self.run(unit, contender.on, state.clone()) {
                firsts.push((way, contender, out));
            }
        }
        let operation = firsts.iter().find_map(|(_, _, out)| match &out.flow {
            Flow::Value(value) => value.tried().filter(|one| !self.is_stop(unit, one.heart)),
            Flow::Leave(..) => None,
        });
        for (way, contender, out) in firsts {
            let Flow::Value(value) = out.flow else {
                all.push(out);
                continue;
            };
            let mut state = out.state;
            let is_limit = matches!(value, Val::Pause(_));
            // A wait that began before the loop is the limit of all tries.
            let over = match &value {
                Val::Pause(pause) if !self.unit.is_below(pause.node, self.target) => Some(pause.delay.as_number()),
                _ => None,
            };
            if contenders.len() > 1 {
                let on = match over {
                    Some(limit) => Unknown { limit: limit.cloned().map(Into::into), ..Unknown::of(Origins::CLOCK) },
                    None => value.origin(),
                };
                self.choose(unit, &mut state, id, way, &on);
            }
            let values = match operation.filter(|_| is_limit) {
                Some(limited) => {
                    state.decide(limited, true);
                    one(state, Val::Unit)
                }
                None if over.is_some() => one(state, Val::Unit),
                None => self.awaited(unit, contender.on, state, value),
            };
            all.extend(self.then(values, |state, value| {
                let arm = std::slice::from_ref(&contender.arm);
                self.arms(unit, id, arm, state, value, is_limit)
            }));
        }
        self.limited(all)
    }
}
