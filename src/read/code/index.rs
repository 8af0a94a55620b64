//! [`Index`]: what is asked of a unit again and again, looked up instead of searched for.

use std::ops::RangeInclusive;

use super::build::each_child;
use super::tree::{Id, Kind, Name, Sym, Test, Unit};

/// What is looked up in a unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Index {
    /// The parent of each node; its own id for roots.
    pub parents: Vec<Id>,
    /// All assignments, sorted.
    assignments: Vec<Id>,
    /// Functions, types and constants by their full path, sorted.
    defined: Vec<(Sym, Id)>,
    /// Records by the full path of their type, sorted.
    made: Vec<(Sym, Id)>,
    /// Statements by the names that they bind for those behind them, and the block that they stand in, sorted.
    bound: Vec<(Sym, Id, Id)>,
    /// Assignments, and what is lent to be changed, by the local that they begin with (`o` of `o.max = 5`), sorted.
    touched: Vec<(Sym, Id)>,
    /// Members that are assigned or lent to be changed anywhere, by name, sorted.
    changed: Vec<Sym>,
}

impl Unit {
    /// Looks through the unit. To be called once, when all nodes are there.
    pub(super) fn look_through(&mut self) {
        self.lent.sort_unstable();
        let mut parents: Vec<Id> = (0..self.nodes.len() as Id).collect();
        let mut index = Index::default();
        for (id, node) in self.ids() {
            each_child(&node.kind, |child| {
                if let Some(parent) = parents.get_mut(child as usize) {
                    *parent = id;
                }
            });
            match &node.kind {
                Kind::Assign { place, .. } => {
                    index.assignments.push(id);
                    index.touched.extend(self.members(*place, &mut index.changed).map(|name| (name, id)));
                }
                Kind::Record { of: Some(name), .. } => index.made.extend(name.full.clone().map(|full| (full, id))),
                Kind::Let { names, .. } => index.bound.extend(names.iter().map(|name| (Sym::clone(name), id, id))),
                Kind::Branch { arms, .. } => {
                    // What a let-else binds is bound by an arm that does nothing.
                    let idle =
                        arms.iter().filter(|arm| matches!(self.kind(arm.body), Kind::Block(ids) if ids.is_empty()));
                    let binds = idle.flat_map(|arm| binds(&arm.test));
                    index.bound.extend(binds.map(|name| (Sym::clone(name), id, id)));
                }
                _ => {}
            }
            index.defined.extend(self.path_of(id).map(|path| (path, id)));
        }
        for id in &self.lent {
            index.touched.extend(self.members(*id, &mut index.changed).map(|name| (name, *id)));
        }
        for (_, parent, id) in &mut index.bound {
            *parent = parents.get(*id as usize).copied().unwrap_or(*id);
        }
        index.parents = parents;
        index.defined.sort();
        index.made.sort();
        index.bound.sort();
        index.touched.sort();
        index.changed.sort();
        index.changed.dedup();
        self.index = index;
    }

    /// The names of the members in a place, and the local that it begins with: `retry`, `max` and `o` of `o.retry.max`.
    fn members(&self, place: Id, names: &mut Vec<Sym>) -> Option<Sym> {
        let mut id = place;
        while let Kind::Member { of, .. } | Kind::Index { of, .. } = self.kind(id) {
            if let Kind::Member { name, .. } = self.kind(id) {
                names.push(Sym::clone(name));
            }
            id = *of;
        }
        match self.kind(id) {
            Kind::Name(Name { text, full: None }) => Some(Sym::clone(text)),
            _ => None,
        }
    }

    /// The full path of what a node defines. A type says none itself; what stands in it does.
    fn path_of(&self, id: Id) -> Option<Sym> {
        match self.kind(id) {
            Kind::Function { path, .. } | Kind::Constant { path, .. } => Some(Sym::clone(path)),
            Kind::Type { name, members, .. } => {
                let inner = members.iter().find_map(|member| match self.kind(*member) {
                    Kind::Function { path, .. } | Kind::Constant { path, .. } => path.rsplit_once("::"),
                    _ => None,
                });
                Some(inner.map_or_else(|| format!("{}::{name}", self.module).into(), |(path, _)| path.into()))
            }
            _ => None,
        }
    }

    /// The functions, types and constants of a full path: `crate::retry::MAX`. Several where one stands for each platform,
    /// where two traits have a method of one name, where tests have their own, and for a type and its methods' blocks.
    pub fn defined(&self, path: &str) -> impl Iterator<Item = Id> {
        of(&self.index.defined, path)
    }

    /// Whether a constant is a default that another type of this file sets anew: that of a trait, a base class.
    pub fn is_set_anew(&self, constant: Id) -> bool {
        let Kind::Constant { name, path, .. } = self.kind(constant) else { return false };
        let Some((owner, _)) = path.rsplit_once("::") else { return false };
        let is_it = |id: &Id| matches!(self.kind(*id), Kind::Constant { name: other, .. } if other == name);
        self.parent(constant).is_some_and(|parent| matches!(self.kind(parent), Kind::Type { .. }))
            && self.items.iter().any(|item| match self.kind(*item) {
                Kind::Type { bases, members, .. } => {
                    bases.iter().any(|base| base.full.as_deref() == Some(owner)) && members.iter().any(is_it)
                }
                _ => false,
            })
    }

    /// The records that make a value of a type, by its full path.
    pub fn made(&self, path: &str) -> impl Iterator<Item = Id> {
        of(&self.index.made, path)
    }

    /// The last statement of a block that binds a name for those behind it, and stands before a node.
    pub fn bound(&self, name: &str, block: Id, before: Id) -> Option<Id> {
        let bound = &self.index.bound;
        let to = bound.partition_point(|(known, parent, id)| (&**known, *parent, *id) < (name, block, before));
        let (known, parent, id) = bound.get(to.checked_sub(1)?)?;
        (**known == *name && *parent == block).then_some(*id)
    }

    /// The assignments to a local and what is in it, and where it is lent to be changed, among these nodes.
    pub fn touched(&self, name: &str, among: RangeInclusive<Id>) -> impl DoubleEndedIterator<Item = Id> {
        of_name(&self.index.touched, name, among)
    }

    /// The assignments among these nodes.
    pub fn assignments(&self, among: RangeInclusive<Id>) -> &[Id] {
        within(&self.index.assignments, among)
    }

    /// Whether a member of this name, of whatever, is assigned or lent to be changed anywhere.
    pub fn is_changed(&self, member: &Sym) -> bool {
        self.index.changed.binary_search(member).is_ok()
    }
}

/// The names that a test binds.
pub fn binds(test: &Test) -> &[Sym] {
    match test {
        Test::Success { binds } | Test::Failure { binds, .. } | Test::Is { binds, .. } | Test::Otherwise { binds } => {
            binds
        }
        Test::Equals(_) | Test::Holds(_) => &[],
    }
}

/// The entries of a sorted list for a name.
fn of<'a>(sorted: &'a [(Sym, Id)], name: &str) -> impl DoubleEndedIterator<Item = Id> + use<'a> {
    of_name(sorted, name, 0..=Id::MAX)
}

/// The entries of a sorted list for a name, among these nodes.
fn of_name<'a>(
    sorted: &'a [(Sym, Id)],
    name: &str,
    among: RangeInclusive<Id>,
) -> impl DoubleEndedIterator<Item = Id> + use<'a> {
    let from = sorted.partition_point(|(known, id)| (&**known, id) < (name, among.start()));
    let to = sorted.partition_point(|(known, id)| (&**known, id) <= (name, among.end()));
    sorted.get(from..to).unwrap_or_default().iter().map(|(_, id)| *id)
}

/// Those of a sorted list that lie in a range.
fn within(sorted: &[Id], range: RangeInclusive<Id>) -> &[Id] {
    let from = sorted.partition_point(|id| id < range.start());
    let to = sorted.partition_point(|id| id <= range.end());
    sorted.get(from..to).unwrap_or_default()
}
