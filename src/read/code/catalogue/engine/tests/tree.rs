//! Trees written by hand, in any language's style. Places are made up: every leaf is one byte, and what holds others reaches
//! from the first to the last of them.

use std::sync::Arc;

use crate::read::code::build::Builder;
use crate::read::code::packages::PackageId;
use crate::read::code::tree::{Arg, Arm, At, Exit, Id, Import, Kind, Literal, Name, Op, Param, Test, Unit};
use crate::source::FileId;

/// Where things are laid down.
pub(super) struct Ground {
    builder: Builder,
    at: u32,
}

/// A node that is not laid down yet.
pub(super) type N = Box<dyn FnOnce(&mut Ground) -> Id>;

fn node(kind: impl FnOnce(&mut Ground) -> Kind + 'static) -> N {
    Box::new(move |ground| {
        let (mark, start) = (ground.builder.mark(), ground.at);
        ground.at += 1;
        let kind = kind(ground);
        let at = At { start, end: ground.at };
        ground.builder.add(mark, kind, at)
    })
}

fn name_of(text: &str, full: Option<&str>) -> Name {
    Name { text: text.into(), full: full.map(Into::into) }
}

/// A local.
pub(super) fn local(text: &'static str) -> N {
    node(move |_| Kind::Name(name_of(text, None)))
}

/// Something that is imported or a path; dots are `::`.
pub(super) fn path(full: &'static str) -> N {
    node(move |_| Kind::Name(known(full)))
}

fn known(full: &str) -> Name {
    let full = full.replace('.', "::");
    let last = full.rsplit("::").next().unwrap_or_default().to_string();
    name_of(&last, Some(&full))
}

pub(super) fn int(n: u128) -> N {
    node(move |_| Kind::Literal(Literal::Int(n, None)))
}

pub(super) fn float(n: f64) -> N {
    node(move |_| Kind::Literal(Literal::Float(n, None)))
}

pub(super) fn text(text: &'static str) -> N {
    node(move |_| Kind::Literal(Literal::Text(text.into())))
}

pub(super) fn yes(is: bool) -> N {
    node(move |_| Kind::Literal(Literal::Bool(is)))
}

pub(super) fn null() -> N {
    node(|_| Kind::Literal(Literal::Null))
}

/// An argument or field: by position with an empty name.
pub(super) type A = (&'static str, N);

fn args(ground: &mut Ground, all: Vec<A>) -> Vec<Arg> {
    let one = |ground: &mut Ground, (name, value): A| Arg {
        name: (!name.is_empty() && name != "*").then(|| name.into()),
        value: value(ground),
        spread: name == "*",
    };
    all.into_iter().map(|arg| one(ground, arg)).collect()
}

/// A call by full path.
pub(super) fn call(full: &'static str, all: Vec<A>) -> N {
    node(move |ground| {
        let of = path(full)(ground);
        Kind::Call { of, types: Vec::new(), args: args(ground, all) }
    })
}

/// A call by a name that is not resolved.
pub(super) fn call_local(text: &'static str, all: Vec<A>) -> N {
    node(move |ground| {
        let of = local(text)(ground);
        Kind::Call { of, types: Vec::new(), args: args(ground, all) }
    })
}

pub(super) fn method(on: N, name: &'static str, all: Vec<A>) -> N {
    node(move |ground| {
        let on = on(ground);
        let start = ground.at;
        let name_at = At { start, end: start + 1 };
        Kind::Method { on, name: name.into(), name_at, types: Vec::new(), args: args(ground, all) }
    })
}

/// A record; without a type where that is empty.
pub(super) fn record(full: &'static str, fields: Vec<A>) -> N {
    node(move |ground| Kind::Record {
        of: (!full.is_empty()).then(|| known(full)),
        fields: args(ground, fields),
        base: None,
    })
}

/// A record that takes the rest from another one.
pub(super) fn record_from(full: &'static str, fields: Vec<A>, base: N) -> N {
    node(move |ground| Kind::Record { of: Some(known(full)), fields: args(ground, fields), base: Some(base(ground)) })
}

pub(super) fn member(of: N, name: &'static str) -> N {
    node(move |ground| Kind::Member { of: of(ground), name: name.into() })
}

pub(super) fn list(items: Vec<N>) -> N {
    node(move |ground| Kind::List(items.into_iter().map(|item| item(ground)).collect()))
}

pub(super) fn op(op: Op, of: Vec<N>) -> N {
    node(move |ground| Kind::Operator { op, of: of.into_iter().map(|one| one(ground)).collect() })
}

pub(super) fn block(statements: Vec<N>) -> N {
    node(move |ground| Kind::Block(statements.into_iter().map(|one| one(ground)).collect()))
}

pub(super) fn closure(params: &'static [&'static str], body: N) -> N {
    node(move |ground| Kind::Closure {
        params: params.iter().map(|param| (*param).into()).collect(),
        body: body(ground),
        is_async: false,
    })
}

pub(super) fn set(place: N, value: N) -> N {
    node(move |ground| {
        let place = place(ground);
        Kind::Assign { place, op: None, value: value(ground) }
    })
}

pub(super) fn bind(name: &'static str, value: N) -> N {
    node(move |ground| Kind::Let { names: vec![name.into()], value: Some(value(ground)), ty: None })
}

pub(super) fn wait(of: N) -> N {
    node(move |ground| Kind::Await(of(ground)))
}

/// A branch that is taken if something holds.
pub(super) fn when(holds: N, body: N) -> N {
    node(move |ground| {
        let test = Test::Holds(holds(ground));
        Kind::Branch { on: None, arms: vec![Arm { test, guard: None, body: body(ground) }] }
    })
}

/// What hands a failure on.
pub(super) fn or_return(of: N) -> N {
    node(move |ground| {
        let on = of(ground);
        let body = node(|_| Kind::Exit { how: Exit::Return, label: None, value: None })(ground);
        let test = Test::Failure { binds: Vec::new(), kinds: Vec::new() };
        Kind::Branch { on: Some(on), arms: vec![Arm { test, guard: None, body }] }
    })
}

/// A function of the file, with its marks.
pub(super) fn function(name: &'static str, params: &'static [&'static str], marks: Vec<N>, body: N) -> N {
    owned_function(None, name, params, marks, body)
}

pub(super) fn owned_function(
    owner: Option<&'static str>,
    name: &'static str,
    params: &'static [&'static str],
    marks: Vec<N>,
    body: N,
) -> N {
    node(move |ground| {
        let marks = marks.into_iter().map(|mark| mark(ground)).collect();
        let body = body(ground);
        Kind::Function {
            name: name.into(),
            owner: owner.map(|owner| name_of(owner, Some(&format!("crate::{owner}")))),
            path: format!("crate::{name}").into(),
            params: params.iter().map(|param| Param { name: Some((*param).into()), ty: None, default: None }).collect(),
            marks,
            is_async: true,
            returns: None,
            body: Some(body),
        }
    })
}

pub(super) fn constant(name: &'static str, value: N) -> N {
    node(move |ground| Kind::Constant {
        name: name.into(),
        path: format!("crate::{name}").into(),
        value: value(ground),
    })
}

/// A length of time, as the tracer knows it.
pub(super) fn millis(n: u128) -> N {
    call("std.time.Duration.from_millis", vec![("", int(n))])
}

pub(super) fn secs(n: u128) -> N {
    call("std.time.Duration.from_secs", vec![("", int(n))])
}

/// A file of these items, with these imports.
pub(super) fn unit(package: Option<PackageId>, imports: &[&str], items: Vec<N>) -> Arc<Unit> {
    let mut ground = Ground { builder: Builder::new(FileId(0), "rust", package, "crate"), at: 0 };
    for import in imports {
        match import.strip_suffix(".*") {
            Some(module) => {
                let module = ground.builder.sym(&module.replace('.', "::"));
                ground.builder.glob(module);
            }
            None => {
                let full = import.replace('.', "::");
                let name = full.rsplit("::").next().map(Into::into);
                ground.builder.import(Import { name, full: full.as_str().into() });
            }
        }
    }
    for item in items {
        let id = item(&mut ground);
        ground.builder.item(id);
    }
    Arc::new(ground.builder.finish())
}
