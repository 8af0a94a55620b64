//! Trees made by hand: what a lowering of the language would make of the text above each.

use std::sync::Arc;

use crate::read::code::build::{Builder, each_child};
use crate::read::code::tree::{Arg, At, Id, Kind, Literal, Name, Op, Param, Place, Unit};
use crate::source::FileId;

/// Makes a node of those below it.
type Make = Box<dyn FnOnce(&mut Builder, &[Id]) -> Kind>;

/// A node and what stands below it, not yet in a tree.
pub(super) struct Tree {
    kind: Make,
    below: Vec<Tree>,
}

fn tree(below: Vec<Tree>, kind: impl FnOnce(&mut Builder, &[Id]) -> Kind + 'static) -> Tree {
    Tree { kind: Box::new(kind), below }
}

pub(super) fn int(n: u128) -> Tree {
    tree(vec![], move |_, _| Kind::Literal(Literal::Int(n, None)))
}

pub(super) fn float(n: f64) -> Tree {
    tree(vec![], move |_, _| Kind::Literal(Literal::Float(n, None)))
}

pub(super) fn text(text: &'static str) -> Tree {
    tree(vec![], move |b, _| Kind::Literal(Literal::Text(b.sym(text))))
}

/// A local.
pub(super) fn local(name: &'static str) -> Tree {
    tree(vec![], move |b, _| Kind::Name(Name { text: b.sym(name), full: None }))
}

/// Something that imports lead to.
pub(super) fn path(full: &'static str) -> Tree {
    tree(vec![], move |b, _| Kind::Name(Name { text: b.sym(full), full: Some(b.sym(full)) }))
}

pub(super) fn member(of: Tree, name: &'static str) -> Tree {
    tree(vec![of], move |b, ids| Kind::Member { of: ids[0], name: b.sym(name) })
}

pub(super) fn op(op: Op, a: Tree, b: Tree) -> Tree {
    tree(vec![a, b], move |_, ids| Kind::Operator { op, of: ids.to_vec() })
}

pub(super) fn call(full: &'static str, args: Vec<(&'static str, Tree)>) -> Tree {
    let names: Vec<&str> = args.iter().map(|(name, _)| *name).collect();
    let below = std::iter::once(path(full)).chain(args.into_iter().map(|(_, arg)| arg)).collect();
    tree(below, move |b, ids| {
        let one =
            |(name, id): (&&str, &Id)| Arg { name: (!name.is_empty()).then(|| b.sym(name)), value: *id, spread: false };
        Kind::Call { of: ids[0], types: Vec::new(), args: names.iter().zip(&ids[1..]).map(one).collect() }
    })
}

pub(super) fn set(name: &'static str, value: Tree) -> Tree {
    tree(vec![value], move |b, ids| Kind::Let { names: vec![b.sym(name)], value: Some(ids[0]), ty: None })
}

pub(super) fn constant(name: &'static str, value: Tree) -> Tree {
    tree(vec![value], move |b, ids| {
        let path = b.sym(&format!("crate::{name}"));
        Kind::Constant { name: b.sym(name), path, value: ids[0] }
    })
}

pub(super) fn function(name: &'static str, params: &'static [&'static str], body: Vec<Tree>) -> Tree {
    let body = tree(body, |_, ids| Kind::Block(ids.to_vec()));
    tree(vec![body], move |b, ids| {
        let param = |name: &&str| Param { name: Some(b.sym(name)), ty: None, default: None };
        let params = params.iter().map(param).collect();
        Kind::Function {
            name: b.sym(name),
            owner: None,
            path: b.sym(&format!("crate::{name}")),
            params,
            marks: Vec::new(),
            is_async: false,
            returns: None,
            body: Some(ids[0]),
        }
    })
}

/// The unit of these items, each node at a place of its own.
pub(super) fn unit(language: &'static str, items: Vec<Tree>) -> Arc<Unit> {
    fn add(b: &mut Builder, next: &mut u32, tree: Tree) -> Id {
        let (mark, start) = (b.mark(), *next);
        *next += 1;
        let ids: Vec<Id> = tree.below.into_iter().map(|below| add(b, next, below)).collect();
        let kind = (tree.kind)(b, &ids);
        *next += 1;
        let mut below = Vec::new();
        each_child(&kind, |id| below.push(id));
        assert_eq!(below, ids, "children in the order in which they stand");
        b.add(mark, kind, At { start, end: *next })
    }
    let mut b = Builder::new(FileId(0), language, None, "crate");
    let mut next = 0;
    for item in items {
        let id = add(&mut b, &mut next, item);
        b.item(id);
    }
    Arc::new(b.finish())
}

/// The argument of the last call of a function of that name.
pub(super) fn argument_of(unit: &Arc<Unit>, name: &str) -> Place {
    let found = unit.ids().filter_map(|(_, node)| match &node.kind {
        Kind::Call { of, args, .. } if unit.callee(*of).is_some_and(|callee| callee.last() == name) => {
            Some(args[0].value)
        }
        _ => None,
    });
    Place { unit: Arc::clone(unit), id: found.last().expect("a call of that name") }
}
