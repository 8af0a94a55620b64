//! What is done to a construct between the place that makes it and the place that uses it: `policy.max_interval = …;`,
//! `builder.add(…);`, `builder = builder.add(…);`, `if … { … }`, `configure(&mut policy)`.

use std::ops::Deref;
use std::sync::Arc;

use super::super::format::{Says, Step, Target};
use super::Engine;
use super::callback::{self, CONDITION};
use super::identity::Found;
use super::spot::Spot;
use super::state::{Inert, State};
use crate::facts::Why;
use crate::read::code::tree::{Id, Kind, Sym, Unit};

/// Statements that are looked at between one construct and one use of it.
const MOST_STATEMENTS: usize = 2_000;
/// Methods in a row.
const MOST_LINKS: usize = 256;

/// Something that is done to a construct: a method that is called on it, an assignment to a field, a loan.
#[derive(Clone, Debug)]
pub(super) struct Done {
    spot: Spot,
    how: How,
}

/// How something is done.
#[derive(Clone, Copy, Debug, Default)]
struct How {
    /// Whatever happens.
    is_sure: bool,
    /// Nobody takes what it gives: of no use, where that is all that it does.
    is_dropped: bool,
}

impl Deref for Done {
    type Target = Spot;

    fn deref(&self) -> &Spot {
        &self.spot
    }
}

impl Done {
    /// It is done whatever happens.
    pub(super) fn surely(spot: Spot) -> Self {
        Done { spot, how: How { is_sure: true, is_dropped: false } }
    }
}

impl<'p> Engine<'p> {
    /// The value that a local begins with, where what it is later depends on the way through the code.
    pub(super) fn first_value(&self, local: &Spot) -> Option<Spot> {
        let unit = &local.unit;
        let Kind::Name(name) = local.kind() else { return None };
        if name.full.is_some() {
            return None;
        }
        let mut inner = local.id;
        let mut left = MOST_STATEMENTS;
        for around in unit.around(local.id) {
            match unit.kind(around) {
                Kind::Block(statements) => {
                    for statement in statements.iter().rev().filter(|id| **id < inner) {
                        if left == 0 || !self.step() {
                            return None;
                        }
                        left -= 1;
                        if let Kind::Let { names, value, .. } = unit.kind(*statement)
                            && names.contains(&name.text)
                        {
                            return value.filter(|_| names.len() == 1).map(|value| local.at(value));
                        }
                    }
                }
                Kind::Closure { params, .. } if params.contains(&name.text) => return None,
                Kind::Function { .. } => return None,
                _ => {}
            }
            inner = around;
        }
        None
    }

    /// What is done to a construct on the way to a local that stands for it, the last first.
    pub(super) fn changes(&self, local: &Spot, construct: &Spot) -> Vec<Done> {
        let unit = &local.unit;
        let Kind::Name(name) = local.kind() else { return Vec::new() };
        if name.full.is_some() || !Arc::ptr_eq(unit, &construct.unit) || construct.id >= local.id {
            return Vec::new();
        }
        // It may have had another name first.
        let first = unit.around(construct.id).take(4).find_map(|around| match unit.kind(around) {
            Kind::Let { names, .. } => names.first().filter(|_| names.len() == 1),
            _ => None,
        });
        let is_it = |root: &Sym| *root == name.text || Some(root) == first;
        let mut all = Vec::new();
        let mut inner = local.id;
        let mut left = MOST_STATEMENTS;
        for around in unit.around(local.id) {
            if let Kind::Block(statements) = unit.kind(around) {
                let before = statements.iter().rev().filter(|id| **id < inner);
                for statement in before.take_while(|id| **id > construct.id && !unit.is_below(construct.id, **id)) {
                    if left == 0 || !self.step() {
                        break;
                    }
                    left -= 1;
                    let mut done = done_by(unit, *statement, &is_it);
                    done.reverse();
                    all.extend(done.into_iter().map(|(id, how)| Done { spot: local.at(id), how }));
                }
            }
            if unit.node(around).first <= construct.id {
                break;
            }
            inner = around;
        }
        all
    }

    /// Does to the state what is done to the construct.
    pub(super) fn done(&self, found: &Found<'p>, done: &Done, state: &mut State, depth: u32) {
        let field = |place: Id| match callback::path(&done.unit, place)?.1.as_slice() {
            [Step::Member(field)] => Some(field.clone()),
            _ => None,
        };
        match (done.kind(), done.how.is_sure) {
            (Kind::Method { name, name_at, .. }, _) if done.how.is_dropped && !found.shape.in_place => {
                let says = found.all(|says| Some(&says.method)).flatten().find(|(known, _)| known == name);
                if let Some((key, _)) = says.filter(|(_, says)| sets(says).next().is_some()) {
                    let help = format!("{TAKE_IT}{key}(..);`");
                    state
                        .inert
                        .push(Inert { help: Some(help), ..Inert::new(name_at.in_file(done.unit.file), key, DROPPED) });
                }
            }
            (Kind::Method { .. }, true) => self.called(found, done, state, depth),
            (Kind::Assign { place, op: None, value }, true) => {
                if let Some(name) = field(*place) {
                    self.field(found, done, &name, *value, state, depth);
                }
            }
            (Kind::Method { name, .. }, false) => {
                let says = found.all(|says| Some(&says.method)).flatten().find(|(known, _)| known == name);
                state.blur(
                    says.into_iter().flat_map(|(_, says)| sets(says)).collect::<Vec<_>>(),
                    &CONDITION,
                    done.span(),
                );
            }
            (Kind::Assign { place, .. }, _) if field(*place).is_some() => {
                let name = field(*place);
                let says =
                    found.all(|says| Some(&says.field)).flatten().find(|(known, _)| Some(known) == name.as_ref());
                state.blur(
                    says.into_iter().flat_map(|(_, says)| sets(says)).collect::<Vec<_>>(),
                    &CONDITION,
                    done.span(),
                );
            }
            (kind, _) => {
                let why = if matches!(kind, Kind::Name(_)) { HANDED_ON } else { CONDITION };
                let targets: Vec<Target> = state.set.keys().copied().collect();
                state.blur(targets, &why, done.span());
            }
        }
    }
}

/// Why a method has no effect, and what to do.
const DROPPED: &str = "it gives a new policy, which nobody takes; this one stays as it is";
const TAKE_IT: &str = "take what it gives: `let policy = policy.";

const HANDED_ON: Why = Why::Other(std::borrow::Cow::Borrowed("handed to a function that may change it"));

fn sets(says: &Says) -> impl Iterator<Item = Target> {
    says.settings().map(|setting| setting.target)
}

/// What is lent to be changed in a statement.
fn lent(unit: &Unit, statement: Id) -> &[Id] {
    let below = unit.below(statement);
    let from = unit.lent.partition_point(|id| id < below.start());
    let to = unit.lent.partition_point(|id| id <= below.end());
    unit.lent.get(from..to).unwrap_or_default()
}

/// What a statement does to a local, the first first, and whether it is done whatever happens.
fn done_by(unit: &Unit, statement: Id, is_it: &impl Fn(&Sym) -> bool) -> Vec<(Id, How)> {
    let mut done = Vec::new();
    match unit.kind(statement) {
        Kind::Method { .. } | Kind::Assign { .. } => act(unit, statement, is_it, true, &mut done),
        // A further description under another name is none of this one's.
        Kind::Let { .. } => {}
        Kind::Branch { .. } | Kind::Loop { .. } | Kind::Guarded { .. } | Kind::Block(_) | Kind::Held { .. } => {
            for id in unit.below(statement) {
                let is_statement = || unit.parent(id).is_some_and(|parent| matches!(unit.kind(parent), Kind::Block(_)));
                if matches!(unit.kind(id), Kind::Method { .. } | Kind::Assign { .. }) && is_statement() {
                    act(unit, id, is_it, false, &mut done);
                }
            }
        }
        _ => {}
    }
    let lent = lent(unit, statement);
    let is_lent = |id: &Id| matches!(unit.kind(*id), Kind::Name(name) if name.full.is_none() && is_it(&name.text));
    done.extend(lent.iter().find(|id| is_lent(id)).map(|id| (*id, How::default())));
    done
}

/// What a method called as a statement, or an assignment, does to a local.
fn act(unit: &Unit, id: Id, is_it: &impl Fn(&Sym) -> bool, is_sure: bool, done: &mut Vec<(Id, How)>) {
    let how = How { is_sure, is_dropped: false };
    match unit.kind(id) {
        Kind::Assign { place, op: None, value } => match callback::path(unit, *place) {
            Some((root, path)) if is_it(&root) && !path.is_empty() => done.push((id, how)),
            // It becomes what methods make of it, or something else.
            Some((root, _)) if is_it(&root) => match links(unit, *value, is_it) {
                Some(methods) => done.extend(methods.into_iter().map(|method| (method, how))),
                None => done.push((id, How::default())),
            },
            _ => {}
        },
        Kind::Method { .. } => {
            if let Some(methods) = links(unit, id, is_it) {
                done.extend(methods.into_iter().map(|method| (method, How { is_dropped: true, ..how })));
            }
        }
        _ => {}
    }
}

/// The methods of a chain that begins with the local, the first that is called first.
fn links(unit: &Unit, id: Id, is_it: &impl Fn(&Sym) -> bool) -> Option<Vec<Id>> {
    let mut methods = Vec::new();
    let mut at = id;
    for _ in 0..MOST_LINKS {
        match unit.kind(at) {
            Kind::Method { on, .. } => {
                methods.push(at);
                at = *on;
            }
            Kind::Await(of) => at = *of,
            Kind::Branch { on: Some(on), .. } => at = *on,
            Kind::Name(name) if name.full.is_none() && is_it(&name.text) => {
                methods.reverse();
                return Some(methods);
            }
            _ => return None,
        }
    }
    None
}
