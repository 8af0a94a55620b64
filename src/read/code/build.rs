//! Building a [`Unit`]: nodes in post-order, names shared. Used by the lowerings, and by tests that write trees by hand.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use super::index::Index;
use super::packages::PackageId;
use super::tree::{Arg, At, Id, Import, Kind, LoopKind, Node, Part, Sym, Test, Unit};
use crate::source::FileId;

/// Where a subtree begins; see [`Builder::mark`].
#[derive(Clone, Copy, Debug)]
pub struct Mark(Id);

/// A unit in the making. Children must be added before their parent, and between [`Builder::mark`] and
/// [`Builder::add`] nothing but what stands below the new node.
#[derive(Debug)]
pub struct Builder {
    unit: Unit,
    names: FxHashSet<Sym>,
    in_macro: u32,
}

impl Builder {
    /// An empty unit. `module`: its path within its package, `crate::retry`.
    pub fn new(file: FileId, language: &'static str, package: Option<PackageId>, module: &str) -> Self {
        let unit = Unit {
            file,
            language,
            package,
            module: module.into(),
            nodes: Vec::new(),
            items: Vec::new(),
            imports: Vec::new(),
            globs: Vec::new(),
            tests: Vec::new(),
            from_macro: Vec::new(),
            labels: Vec::new(),
            lent: Vec::new(),
            index: Index::default(),
        };
        Builder { unit, names: FxHashSet::default(), in_macro: 0 }
    }

    /// A shared name.
    pub fn sym(&mut self, text: &str) -> Sym {
        if let Some(known) = self.names.get(text) {
            return Arc::clone(known);
        }
        let sym: Sym = text.into();
        self.names.insert(Arc::clone(&sym));
        sym
    }

    /// Remembers where a subtree begins: to be called before its first child is added.
    pub fn mark(&self) -> Mark {
        Mark(self.unit.nodes.len() as Id)
    }

    /// Where the subtree of a node begins, to put another node around it and what was added since.
    pub fn mark_of(&self, id: Id) -> Mark {
        Mark(self.unit.node(id).first)
    }

    /// Adds a node over everything since `mark`.
    pub fn add(&mut self, mark: Mark, kind: Kind, at: At) -> Id {
        let id = self.unit.nodes.len() as Id;
        self.unit.nodes.push(Node { kind, at, first: mark.0.min(id) });
        if self.in_macro > 0 {
            self.unit.from_macro.push(id);
        }
        id
    }

    /// Adds a node without children.
    pub fn leaf(&mut self, kind: Kind, at: At) -> Id {
        self.add(self.mark(), kind, at)
    }

    /// What is added until [`Builder::leave_macro`] comes out of a macro.
    pub fn enter_macro(&mut self) {
        self.in_macro += 1;
    }

    /// See [`Builder::enter_macro`].
    pub fn leave_macro(&mut self) {
        self.in_macro = self.in_macro.saturating_sub(1);
    }

    /// Takes back everything since `mark`: a macro body that turned out not to parse.
    pub fn undo(&mut self, mark: Mark) {
        self.unit.nodes.truncate(mark.0 as usize);
        // Ids since then stand at the end.
        while self.unit.labels.last().is_some_and(|(id, _)| *id >= mark.0) {
            self.unit.labels.pop();
        }
        for list in [&mut self.unit.from_macro, &mut self.unit.lent] {
            while list.last().is_some_and(|id| *id >= mark.0) {
                list.pop();
            }
        }
    }

    /// An item of the file: a function, type or constant at the top or in an inline module.
    pub fn item(&mut self, id: Id) {
        self.unit.items.push(id);
    }

    /// A block has a label.
    pub fn label(&mut self, block: Id, label: Sym) {
        self.unit.labels.push((block, label));
    }

    /// A node is lent to be changed: `x` of `&mut x`.
    pub fn lend(&mut self, id: Id) {
        self.unit.lent.push(id);
    }

    /// An import.
    pub fn import(&mut self, import: Import) {
        self.unit.imports.push(import);
    }

    /// A module of which everything is imported.
    pub fn glob(&mut self, module: Sym) {
        self.unit.globs.push(module);
    }

    /// A range of test code.
    pub fn test(&mut self, at: At) {
        self.unit.tests.push(at);
    }

    /// The node that was added under an id.
    pub fn kind(&self, id: Id) -> &Kind {
        self.unit.kind(id)
    }

    /// Where a node stands.
    pub fn at(&self, id: Id) -> At {
        self.unit.at(id)
    }

    /// The finished unit.
    pub fn finish(mut self) -> Unit {
        self.unit.look_through();
        self.unit
    }
}

/// Calls `visit` for each child of a node, in the order in which they stand.
pub fn each_child(kind: &Kind, mut visit: impl FnMut(Id)) {
    fn args(args: &[Arg], visit: &mut impl FnMut(Id)) {
        args.iter().for_each(|arg| visit(arg.value));
    }
    fn arm(arm: &super::tree::Arm, visit: &mut impl FnMut(Id)) {
        match &arm.test {
            Test::Equals(values) => values.iter().copied().for_each(&mut *visit),
            Test::Holds(condition) => visit(*condition),
            Test::Success { .. } | Test::Failure { .. } | Test::Is { .. } | Test::Otherwise { .. } => {}
        }
        arm.guard.into_iter().for_each(&mut *visit);
        visit(arm.body);
    }
    match kind {
        Kind::Literal(_) | Kind::Name(_) => {}
        Kind::Template(parts) => parts.iter().for_each(|part| {
            if let Part::Hole(hole) = part {
                visit(*hole);
            }
        }),
        Kind::Member { of, .. } | Kind::Outcome { of, .. } => visit(*of),
        Kind::Index { of, key } => [*of, *key].into_iter().for_each(visit),
        Kind::Operator { of, .. } => of.iter().copied().for_each(visit),
        Kind::List(items) | Kind::Block(items) | Kind::Opaque(items) => items.iter().copied().for_each(visit),
        Kind::Range { from, to, .. } => from.iter().chain(to).copied().for_each(visit),
        Kind::Record { fields, base, .. } => {
            args(fields, &mut visit);
            base.iter().copied().for_each(visit);
        }
        Kind::Call { of, args: all, .. } => {
            visit(*of);
            args(all, &mut visit);
        }
        Kind::Method { on, args: all, .. } => {
            visit(*on);
            args(all, &mut visit);
        }
        Kind::Closure { body, .. } => visit(*body),
        Kind::Await(of) | Kind::Spawn(of) => visit(*of),
        Kind::Let { value, .. } => value.iter().copied().for_each(visit),
        Kind::Assign { place, value, .. } => [*place, *value].into_iter().for_each(visit),
        Kind::Held { value, body, .. } => [*value, *body].into_iter().for_each(visit),
        Kind::Loop { kind, body, .. } => {
            match kind {
                LoopKind::Count { range, .. } => visit(*range),
                LoopKind::Each { over, .. } => visit(*over),
                LoopKind::While(test) | LoopKind::DoWhile(test) => visit(*test),
                LoopKind::Forever => {}
            }
            visit(*body);
        }
        Kind::Branch { on, arms } => {
            on.iter().copied().for_each(&mut visit);
            arms.iter().for_each(|one| arm(one, &mut visit));
        }
        Kind::Guarded { body, catch, on_success, always } => {
            visit(*body);
            catch.iter().for_each(|one| arm(one, &mut visit));
            on_success.iter().chain(always).copied().for_each(visit);
        }
        Kind::Race(contenders) => contenders.iter().for_each(|one| {
            visit(one.on);
            arm(&one.arm, &mut visit);
        }),
        Kind::Exit { value, .. } => value.iter().copied().for_each(visit),
        Kind::Function { params, marks, body, .. } => {
            params.iter().filter_map(|param| param.default).for_each(&mut visit);
            marks.iter().chain(body).copied().for_each(visit);
        }
        Kind::Type { marks, members, .. } => marks.iter().chain(members).copied().for_each(visit),
        Kind::Constant { value, .. } => visit(*value),
    }
}
