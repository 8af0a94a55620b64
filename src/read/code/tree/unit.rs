//! [`Unit`]: the tree of one file, and [`Place`]: a node of one.

use std::sync::Arc;

use super::{At, Id, Kind, Name, Node, Sym};
use crate::read::code::index::Index;
use crate::read::code::packages::PackageId;
use crate::source::{FileId, Span};

/// What an import brings in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The name in this file; none where only its methods matter (`use a::Trait as _`).
    pub name: Option<Sym>,
    /// The full path.
    pub full: Sym,
}

/// One file, or those items of it that were asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Unit {
    /// The file.
    pub file: FileId,
    /// Which language it is in: a key of [`crate::read::code::words::Words`].
    pub language: &'static str,
    /// The package that it belongs to.
    pub package: Option<PackageId>,
    /// The path of its module within its package: `crate::retry`.
    pub module: Sym,
    /// The arena.
    pub nodes: Vec<Node>,
    /// Functions, types and constants at the top or in inline modules.
    pub items: Vec<Id>,
    /// What its imports bring in, anywhere in the file.
    pub imports: Vec<Import>,
    /// Modules of which everything is imported: `backon` of `use backon::*`.
    pub globs: Vec<Sym>,
    /// Byte ranges of test code (D-18).
    pub tests: Vec<At>,
    /// Nodes that come out of a macro, sorted: facts from there are of medium confidence.
    pub from_macro: Vec<Id>,
    /// Blocks that have a label, sorted: a `break` with it goes on behind the block, whose value is then that of the `break`.
    pub labels: Vec<(Id, Sym)>,
    /// Nodes that are lent to be changed: `x` of `&mut x`, `ref x`; sorted.
    pub lent: Vec<Id>,
    /// What is looked up in it.
    pub(in crate::read::code) index: Index,
}

impl Unit {
    /// A node. Ids come from this unit; an unknown one is a node that says nothing.
    pub fn node(&self, id: Id) -> &Node {
        const NOTHING: Node = Node { kind: Kind::Opaque(Vec::new()), at: At { start: 0, end: 0 }, first: 0 };
        static STILL_NOTHING: Node = NOTHING;
        self.nodes.get(id as usize).unwrap_or(&STILL_NOTHING)
    }

    /// What a node is.
    pub fn kind(&self, id: Id) -> &Kind {
        &self.node(id).kind
    }

    /// Where a node stands.
    pub fn at(&self, id: Id) -> At {
        self.node(id).at
    }

    /// Where a node stands, with its file.
    pub fn span(&self, id: Id) -> Span {
        self.at(id).in_file(self.file)
    }

    /// Everything below a node and the node itself, children before parents.
    pub fn below(&self, id: Id) -> std::ops::RangeInclusive<Id> {
        self.node(id).first..=id
    }

    /// Whether `inner` is `outer` or stands below it.
    pub fn is_below(&self, inner: Id, outer: Id) -> bool {
        self.below(outer).contains(&inner)
    }

    /// The node around a node; none for items at the top.
    pub fn parent(&self, id: Id) -> Option<Id> {
        self.index.parents.get(id as usize).copied().filter(|parent| *parent != id)
    }

    /// The nodes around a node, innermost first.
    pub fn around(&self, id: Id) -> impl Iterator<Item = Id> {
        std::iter::successors(self.parent(id), |id| self.parent(*id))
    }

    /// The function that a node stands in; closures are part of theirs.
    pub fn function_of(&self, id: Id) -> Option<Id> {
        self.around(id).find(|id| matches!(self.kind(*id), Kind::Function { .. }))
    }

    /// All nodes with their ids, children before parents.
    pub fn ids(&self) -> impl Iterator<Item = (Id, &Node)> {
        self.nodes.iter().enumerate().map(|(id, node)| (id as Id, node))
    }

    /// Whether a place is test code.
    pub fn is_test(&self, at: At) -> bool {
        self.tests.iter().any(|test| test.covers(at))
    }

    /// Whether a node starts something that nothing here waits for: a statement, not a value that is kept or given.
    pub fn is_detached(&self, id: Id) -> bool {
        if !matches!(self.kind(id), Kind::Spawn(_)) {
            return false;
        }
        let Some(around) = self.parent(id) else { return false };
        match self.kind(around) {
            Kind::Let { names, .. } => names.is_empty(),
            Kind::Block(statements) if statements.last() != Some(&id) => true,
            Kind::Block(_) => self.parent(around).is_some_and(|outer| match self.kind(outer) {
                Kind::Loop { body, .. } => *body == around,
                Kind::Function { returns, .. } => returns.is_none(),
                _ => false,
            }),
            _ => false,
        }
    }

    /// The label of a block.
    pub fn label(&self, block: Id) -> Option<&Sym> {
        let at = self.labels.binary_search_by_key(&block, |(id, _)| *id).ok()?;
        self.labels.get(at).map(|(_, label)| label)
    }

    /// Whether a node comes out of a macro.
    pub fn is_from_macro(&self, id: Id) -> bool {
        self.from_macro.binary_search(&id).is_ok()
    }

    /// The name that a call is made by.
    pub fn callee(&self, of: Id) -> Option<&Name> {
        match self.kind(of) {
            Kind::Name(name) => Some(name),
            _ => None,
        }
    }
}

/// A node together with its unit: what a name refers to may stand in another file.
#[derive(Clone, Debug)]
pub struct Place {
    /// The unit.
    pub unit: Arc<Unit>,
    /// The node.
    pub id: Id,
}

impl Place {
    /// What the node is.
    pub fn kind(&self) -> &Kind {
        self.unit.kind(self.id)
    }

    /// Where it stands.
    pub fn span(&self) -> Span {
        self.unit.span(self.id)
    }

    /// Another node of the same unit.
    pub fn at(&self, id: Id) -> Place {
        Place { unit: Arc::clone(&self.unit), id }
    }
}
