//! Where a name is declared, and what changes it between there and where it stands.

use super::domain::Local;
use crate::read::code::index;
use crate::read::code::tree::{Arm, Id, Kind, LoopKind, Name, Op, Sym, Test, Unit};

/// So many statements that change a name are looked at; where there are more, it is not followed.
const LOOKED_AT: usize = 64;

/// A name that a function or block declares.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    /// The node that declares it.
    pub by: Id,
    /// As what.
    pub how: How,
    /// Where it is in sight, without what declares it.
    pub sight: (Id, Id),
    /// The name.
    pub local: Local,
}

/// As what a name is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// By a `Let`, as its only name.
    Let,
    /// By a `Let` of several names: at this place among them.
    Part(usize),
    /// As a parameter of a function.
    Param(usize),
    /// As a parameter of a closure.
    ClosureParam(usize),
    /// As the counter of a loop, or an item of what it goes through.
    Pass,
    /// By an arm of a branch, as its only name.
    Arm(usize),
    /// As what is held.
    Held,
    /// By something else: one of several names, a caught error.
    Other,
}

/// The declaration that a name at `from` means; none if it is none of its function.
pub(super) fn declared(unit: &Unit, from: Id, name: &Sym) -> Option<Declared> {
    let mut child = from;
    for parent in unit.around(from) {
        if let Some((by, how)) = declares(unit, parent, child, name) {
            let start = if by == parent { unit.node(by).first } else { by + 1 };
            return Some(Declared { by, how, sight: (start, parent), local: local(unit, by, name) });
        }
        child = parent;
    }
    None
}

/// The name as declared by a node.
pub(super) fn local(unit: &Unit, by: Id, name: &Sym) -> Local {
    Local { at: unit.span(by), name: Sym::clone(name) }
}

/// What declares the name in `parent`, seen from `child` in it.
fn declares(unit: &Unit, parent: Id, child: Id, name: &Sym) -> Option<(Id, How)> {
    match unit.kind(parent) {
        Kind::Block(_) => {
            let by = unit.bound(name, parent, child)?;
            Some((by, binds(unit, by, name)?))
        }
        Kind::Loop { kind, body, .. } if *body == child => {
            let names = match kind {
                LoopKind::Count { var, .. } => var.as_slice(),
                LoopKind::Each { vars, .. } => vars,
                _ => &[],
            };
            names.contains(name).then_some((parent, How::Pass))
        }
        Kind::Closure { params, body, .. } if *body == child => {
            let at = params.iter().rposition(|param| param == name)?;
            Some((parent, How::ClosureParam(at)))
        }
        Kind::Function { params, body, .. } if *body == Some(child) => {
            let at = params.iter().rposition(|param| param.name.as_ref() == Some(name))?;
            Some((parent, How::Param(at)))
        }
        Kind::Branch { arms, .. } => {
            let at = arms.iter().position(|arm| arm.body == child || arm.guard == Some(child))?;
            let arm = arms.get(at)?;
            let by_test = by_arm(arm, name).map(|only| (parent, if only { How::Arm(at) } else { How::Other }));
            by_test.or_else(|| by_guard(unit, arm.guard.filter(|_| arm.body == child)?, name))
        }
        Kind::Guarded { catch, .. } => {
            let arm = catch.iter().find(|arm| arm.body == child || arm.guard == Some(child))?;
            by_arm(arm, name).map(|_| (parent, How::Other))
        }
        Kind::Race(contenders) => {
            let arms = contenders.iter().map(|contender| &contender.arm);
            let arm = arms.into_iter().find(|arm| arm.body == child || arm.guard == Some(child))?;
            by_arm(arm, name).map(|_| (parent, How::Other))
        }
        Kind::Held { name: held, body, .. } if *body == child => {
            (held.as_ref() == Some(name)).then_some((parent, How::Held))
        }
        _ => None,
    }
}

/// How a statement binds a name for those behind it.
fn binds(unit: &Unit, id: Id, name: &Sym) -> Option<How> {
    match unit.kind(id) {
        Kind::Let { names, .. } => {
            let at = names.iter().rposition(|known| known == name)?;
            Some(if names.len() == 1 { How::Let } else { How::Part(at) })
        }
        // What a let-else binds is bound by an arm that does nothing.
        Kind::Branch { arms, .. } => {
            let (at, only) = arms.iter().enumerate().find_map(|(at, arm)| {
                let does_nothing = matches!(unit.kind(arm.body), Kind::Block(ids) if ids.is_empty());
                does_nothing.then(|| by_arm(arm, name)).flatten().map(|only| (at, only))
            })?;
            Some(if only { How::Arm(at) } else { How::Other })
        }
        _ => None,
    }
}

/// The further lets of a chain: `if let Some(a) = x && let Some(b) = y { … }`.
fn by_guard(unit: &Unit, guard: Id, name: &Sym) -> Option<(Id, How)> {
    let parts = match unit.kind(guard) {
        Kind::Operator { op: Op::And, of } => of.as_slice(),
        _ => std::slice::from_ref(&guard),
    };
    parts.iter().rev().find_map(|id| {
        let Kind::Branch { arms, .. } = unit.kind(*id) else { return None };
        let (at, only) = arms.iter().enumerate().find_map(|(at, arm)| Some((at, by_arm(arm, name)?)))?;
        Some((*id, if only { How::Arm(at) } else { How::Other }))
    })
}

/// Whether an arm binds a name, and if so whether it is the only one, bound to the whole.
fn by_arm(arm: &Arm, name: &Sym) -> Option<bool> {
    let binds = index::binds(&arm.test);
    let is_whole = binds.len() == 1 && !matches!(arm.test, Test::Failure { .. });
    binds.contains(name).then_some(is_whole)
}

/// Something that changes a variable before a place where it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// This assignment is made, whatever happens.
    Set(Id),
    /// This statement changes it on some of the ways through it.
    Perhaps(Id),
    /// It cannot be told what it is after this: it changes from pass to pass, or in a closure.
    Unclear(Id),
    /// It is lent to somebody who may change it: what it is made as stays, what is in it may not.
    Lent(Id),
}

/// What changes a variable, or a field of it, between its declaration and `at`, in order. `is_first`: in the first pass of the
/// loops around `at`. None if there is too much to look at.
pub(super) fn changes(
    unit: &Unit,
    declared: &Declared,
    at: Id,
    is_first: bool,
    field: Option<&Sym>,
) -> Option<Vec<Change>> {
    let (first, last) = declared.sight;
    if first > last {
        return Some(Vec::new());
    }
    let is_it = |id: Id| match (unit.kind(id), field) {
        (Kind::Member { of, name }, Some(field)) => name == field && is_same(unit, declared, *of),
        _ => is_same(unit, declared, id),
    };
    let changed = |id: Id| match unit.kind(id) {
        Kind::Assign { place, .. } => is_it(*place).then_some((id, true)),
        _ => is_it(id).then_some((id, false)),
    };
    let touched: Vec<Id> = unit.touched(&declared.local.name, first..=last).take(LOOKED_AT + 1).collect();
    if touched.len() > LOOKED_AT {
        return None;
    }
    let found: Vec<(Id, bool)> = touched.into_iter().filter_map(changed).collect();
    let found: Vec<Seen> = found.iter().map(|(id, is_set)| see(unit, declared, *id, at, *is_set)).collect();
    // What an earlier pass did comes before all that this one does.
    let carried = found.iter().filter(|seen| seen.is_carried && !is_first).map(|seen| match seen.is_set {
        true => Change::Unclear(seen.id),
        false => Change::Lent(seen.id),
    });
    let mut changes: Vec<Change> =
        carried.clone().find(|change| matches!(change, Change::Unclear(_))).into_iter().collect();
    changes.extend(carried.take(1));
    changes.extend(found.iter().filter_map(|seen| seen.change));
    // One statement may change it in several places.
    changes.dedup();
    Some(changes)
}

/// Whether a node is the variable.
pub(super) fn is_same(unit: &Unit, known: &Declared, id: Id) -> bool {
    let Kind::Name(Name { text, full: None }) = unit.kind(id) else { return false };
    *text == known.local.name && declared(unit, id, text).is_some_and(|found| found.local == known.local)
}

/// What one assignment does to a variable as seen from a place.
struct Seen {
    id: Id,
    /// Whether it is an assignment.
    is_set: bool,
    /// Whether an earlier pass of a loop, or call of a closure, around both may have done it.
    is_carried: bool,
    /// What it does on the way to that place.
    change: Option<Change>,
}

fn see(unit: &Unit, declared: &Declared, id: Id, at: Id, is_set: bool) -> Seen {
    let end = declared.sight.1;
    let repeats = |id: Id| matches!(unit.kind(id), Kind::Loop { .. } | Kind::Closure { .. });
    let mut statement = id;
    let mut is_inside = false;
    let mut around = unit.around(id).take_while(|around| *around <= end);
    // Up to what holds both.
    let both = loop {
        match around.next() {
            Some(both) if unit.is_below(at, both) => break both,
            Some(one) => {
                is_inside |= repeats(one);
                statement = one;
            }
            None => break end,
        }
    };
    let is_carried = std::iter::once(both).chain(around).any(|id| id != end && repeats(id));
    let is_before = id < unit.node(at).first;
    let change = match unit.kind(both) {
        _ if !is_before => None,
        // Another arm.
        Kind::Branch { arms, .. } if arms.iter().any(|arm| arm.body == statement) => None,
        Kind::Block(_) if statement == id && is_set => Some(Change::Set(id)),
        Kind::Block(_) if !is_inside && is_set && matches!(unit.kind(statement), Kind::Branch { .. }) => {
            Some(Change::Perhaps(statement))
        }
        _ if !is_set => Some(Change::Lent(id)),
        _ => Some(Change::Unclear(id)),
    };
    Seen { id, is_set, is_carried, change }
}

/// Whether a variable may have a method called on it that changes what is in it.
pub(super) fn is_filled(unit: &Unit, declared: &Declared, words: &[String]) -> bool {
    /// In sight of more nodes than this, it may.
    const LARGE: u32 = 20_000;
    let (first, last) = declared.sight;
    last.saturating_sub(first) > LARGE
        || (first..=last).any(|id| match unit.kind(id) {
            Kind::Method { on, name, .. } => words.iter().any(|word| **word == **name) && is_same(unit, declared, *on),
            _ => false,
        })
}
