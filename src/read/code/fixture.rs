//! Trees for tests: from Rust text, printed short, and checked.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::build::each_child;
use super::packages::{Dependency, From, Package, PackageId};
use super::rust::lower::read_whole;
use super::tree::{Arg, Arm, Exit, Id, Kind, Literal, LoopKind, Name, Op, Part, Test, Unit};
use crate::source::FileId;

/// A Rust text as the file of the module `crate`, without a package: any crate may exist.
pub(crate) fn unit(text: &str) -> Arc<Unit> {
    Arc::new(read_whole(FileId(0), text, "crate", None).expect("the text of a test parses"))
}

/// The same in a package with these dependencies from a registry: the name in code, the package's own name, the version that is
/// locked.
pub(crate) fn unit_with(text: &str, dependencies: &[(&str, &str, (u64, u64, u64))]) -> Arc<Unit> {
    let package = package(dependencies);
    let read = read_whole(FileId(0), text, "crate", Some((PackageId(0), &package)));
    Arc::new(read.expect("the text of a test parses"))
}

/// A package called `app` with these dependencies; see [`unit_with`].
pub(crate) fn package(dependencies: &[(&str, &str, (u64, u64, u64))]) -> Package {
    let dependency = |package: &str, version| Dependency {
        package: package.into(),
        from: From::Outside,
        version: Some(version),
        locked: true,
    };
    let dependencies: BTreeMap<Arc<str>, Dependency> =
        dependencies.iter().map(|(name, package, version)| ((*name).into(), dependency(package, *version))).collect();
    Package {
        name: "app".into(),
        dir: "".into(),
        has_binary: true,
        library: None,
        library_name: "app".into(),
        programs: Vec::new(),
        dependencies,
    }
}

/// The function of that name.
pub(crate) fn function(unit: &Unit, name: &str) -> Id {
    let is_it = |kind: &Kind| matches!(kind, Kind::Function { name: own, .. } if **own == *name);
    unit.ids().find(|(_, node)| is_it(&node.kind)).map(|(id, _)| id).expect("there is a function of that name")
}

/// The text that a node stands for.
pub(crate) fn text_at<'a>(unit: &Unit, id: Id, text: &'a str) -> &'a str {
    text.get(unit.span(id).range()).unwrap_or("(nowhere)")
}

/// Everything in a unit that is not as a tree must be.
pub(crate) fn faults(unit: &Unit) -> Vec<String> {
    let mut faults = Vec::new();
    let mut parents: Vec<Option<Id>> = vec![None; unit.nodes.len()];
    for (id, node) in unit.ids() {
        if node.first > id {
            faults.push(format!("{id} begins behind itself"));
        }
        let mut next = node.first;
        let mut children = Vec::new();
        each_child(&node.kind, |child| children.push(child));
        children.sort_unstable();
        for child in children {
            match parents.get_mut(child as usize) {
                Some(parent @ None) => *parent = Some(id),
                _ => faults.push(format!("{child} has another parent than {id}, or is not there")),
            }
            // Children lie side by side, without gaps, and fill what is below.
            if unit.node(child).first != next {
                faults.push(format!("a gap below {id} before {child}: {}", shape(unit, id)));
            }
            next = child + 1;
        }
        if next != id {
            faults.push(format!("a gap below {id} at its end: {}", shape(unit, id)));
        }
    }
    let roots: Vec<Id> = (0..unit.nodes.len() as Id).filter(|id| parents.get(*id as usize) == Some(&None)).collect();
    if roots != unit.items {
        faults.push(format!("roots {roots:?} are not the items {:?}", unit.items));
    }
    if !unit.from_macro.is_sorted() {
        faults.push("nodes from macros are not sorted".to_owned());
    }
    faults
}

/// All items, one a line.
pub(crate) fn shapes(unit: &Unit) -> String {
    unit.items.iter().map(|id| shape(unit, *id)).collect::<Vec<_>>().join("\n")
}

/// What the function `f` of a unit does, without the braces around it.
pub(crate) fn body(unit: &Unit) -> String {
    match unit.kind(function(unit, "f")) {
        Kind::Function { body: Some(body), .. } => match unit.kind(*body) {
            Kind::Block(ids) => all(unit, ids, "; "),
            _ => shape(unit, *body),
        },
        _ => String::new(),
    }
}

/// A node, short: like Rust, with `on ? [test -> body, …]` for branches.
pub(crate) fn shape(unit: &Unit, id: Id) -> String {
    let s = |id: &Id| shape(unit, *id);
    let opt = |id: &Option<Id>| id.as_ref().map(s).unwrap_or_default();
    match unit.kind(id) {
        Kind::Literal(literal) => match literal {
            Literal::Int(n, suffix) => format!("{n}{}", suffix.as_deref().unwrap_or_default()),
            Literal::Float(n, suffix) => format!("{n:?}{}", suffix.as_deref().unwrap_or_default()),
            Literal::Text(text) => format!("{text:?}"),
            Literal::Bool(value) => value.to_string(),
            Literal::Null => "null".to_owned(),
            Literal::Unit => "()".to_owned(),
        },
        Kind::Template(parts) => {
            let part = |part: &Part| match part {
                Part::Text(text) => text.to_string(),
                Part::Hole(id) => format!("{{{}}}", s(id)),
            };
            format!("`{}`", parts.iter().map(part).collect::<String>())
        }
        Kind::Name(name) => name.text.to_string(),
        Kind::Member { of, name } => format!("{}.{name}", s(of)),
        Kind::Index { of, key } => format!("{}[{}]", s(of), s(key)),
        Kind::Operator { op, of } => match of.as_slice() {
            [only] => format!("({}{})", sign(*op), s(only)),
            _ => format!("({})", of.iter().map(s).collect::<Vec<_>>().join(&format!(" {} ", sign(*op)))),
        },
        Kind::Outcome { of, failed } => format!("{}:{}", s(of), if *failed { "failed" } else { "succeeded" }),
        Kind::List(ids) => format!("[{}]", all(unit, ids, ", ")),
        Kind::Range { from, to, inclusive } => {
            format!("({}{}{})", opt(from), if *inclusive { "..=" } else { ".." }, opt(to))
        }
        Kind::Record { of, fields, base } => {
            let base = base.as_ref().map(|base| format!(" ..{}", s(base))).unwrap_or_default();
            format!("{}{{{}{base}}}", of.as_ref().map_or("", |of| &of.text), args(unit, fields))
        }
        Kind::Call { of, types, args: given } => format!("{}{}({})", s(of), generics(types), args(unit, given)),
        Kind::Method { on, name, types, args: given, .. } => {
            format!("{}.{name}{}({})", s(on), generics(types), args(unit, given))
        }
        Kind::Closure { params, body, is_async } => {
            format!("{}|{}| {}", if *is_async { "async " } else { "" }, params.join(", "), s(body))
        }
        Kind::Await(of) => format!("{}.await", s(of)),
        Kind::Block(ids) => {
            let label = unit.label(id).map(|label| format!("'{label}: ")).unwrap_or_default();
            format!("{label}{{{}}}", all(unit, ids, "; "))
        }
        Kind::Let { names, value, ty } => {
            let ty = ty.as_ref().map(|ty| format!(": {}", ty.text)).unwrap_or_default();
            let value = value.as_ref().map(|value| format!(" = {}", s(value))).unwrap_or_default();
            format!("let {}{ty}{value}", names.join(" "))
        }
        Kind::Assign { place, op, value } => {
            format!("{} {}= {}", s(place), op.map(sign).unwrap_or_default(), s(value))
        }
        Kind::Held { name, value, body } => {
            format!("held {} = {} {}", name.as_deref().unwrap_or("_"), s(value), s(body))
        }
        Kind::Loop { kind, label, body } => {
            let label = label.as_ref().map(|label| format!("'{label}: ")).unwrap_or_default();
            let kind = match kind {
                LoopKind::Count { var, range } => format!("count {} in {}", var.as_deref().unwrap_or("_"), s(range)),
                LoopKind::Each { vars, over } => format!("each {} in {}", vars.join(" "), s(over)),
                LoopKind::While(holds) => format!("while {}", s(holds)),
                LoopKind::DoWhile(holds) => format!("do while {}", s(holds)),
                LoopKind::Forever => "loop".to_owned(),
            };
            format!("{label}{kind} {}", s(body))
        }
        Kind::Branch { on, arms } => {
            let on = on.as_ref().map(|on| format!("{} ", s(on))).unwrap_or_default();
            format!("{on}? [{}]", arms.iter().map(|arm| self::arm(unit, arm)).collect::<Vec<_>>().join(", "))
        }
        Kind::Guarded { body, catch, on_success, always } => {
            let catch: Vec<String> = catch.iter().map(|arm| self::arm(unit, arm)).collect();
            format!("try {} [{}] else {} finally {}", s(body), catch.join(", "), opt(on_success), opt(always))
        }
        Kind::Race(contenders) => {
            let one = |one: &super::tree::Contender| format!("{} ? {}", s(&one.on), self::arm(unit, &one.arm));
            format!("race [{}]", contenders.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        Kind::Spawn(of) => format!("spawn {}", s(of)),
        Kind::Exit { how, label, value } => {
            let how = match how {
                Exit::Return => "return",
                Exit::Break => "break",
                Exit::Continue => "continue",
                Exit::Raise => "raise",
                Exit::Abort => "abort",
            };
            let label = label.as_ref().map(|label| format!(" '{label}")).unwrap_or_default();
            let value = value.as_ref().map(|value| format!(" {}", s(value))).unwrap_or_default();
            format!("{how}{label}{value}")
        }
        Kind::Function { path, params, marks, is_async, returns, body, .. } => {
            let param = |param: &super::tree::Param| {
                let ty = param.ty.as_ref().map(|ty| format!(": {}", ty.text)).unwrap_or_default();
                format!("{}{ty}", param.name.as_deref().unwrap_or("_"))
            };
            let params: Vec<String> = params.iter().map(param).collect();
            let returns = returns.as_ref().map(|ty| format!(" -> {}", ty.text)).unwrap_or_default();
            let body = body.as_ref().map(|body| format!(" {}", s(body))).unwrap_or_default();
            let is_async = if *is_async { "async " } else { "" };
            format!("{}{is_async}fn {path}({}){returns}{body}", marked(unit, marks), params.join(", "))
        }
        Kind::Type { name, marks, bases, members } => {
            let bases = bases.iter().map(|base| format!(" {}", base.text)).collect::<String>();
            format!(
                "{}type {name}{}{bases} [{}]",
                marked(unit, marks),
                if bases.is_empty() { "" } else { ":" },
                all(unit, members, "; ")
            )
        }
        Kind::Constant { path, value, .. } => format!("const {path} = {}", s(value)),
        Kind::Opaque(ids) => format!("opaque[{}]", all(unit, ids, ", ")),
    }
}

fn all(unit: &Unit, ids: &[Id], between: &str) -> String {
    ids.iter().map(|id| shape(unit, *id)).collect::<Vec<_>>().join(between)
}

fn args(unit: &Unit, args: &[Arg]) -> String {
    let one = |arg: &Arg| {
        let name = arg.name.as_ref().map(|name| format!("{name}: ")).unwrap_or_default();
        format!("{name}{}", shape(unit, arg.value))
    };
    args.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn generics(types: &[Name]) -> String {
    let types: Vec<&str> = types.iter().map(|ty| &*ty.text).collect();
    if types.is_empty() { String::new() } else { format!("::<{}>", types.join(", ")) }
}

fn marked(unit: &Unit, marks: &[Id]) -> String {
    marks.iter().map(|mark| format!("#{} ", shape(unit, *mark))).collect()
}

fn arm(unit: &Unit, arm: &Arm) -> String {
    let names = |binds: &[Arc<str>]| binds.iter().map(|bind| format!(" {bind}")).collect::<String>();
    let of = |kinds: &[Name]| {
        let kinds: Vec<&str> = kinds.iter().map(|kind| &*kind.text).collect();
        if kinds.is_empty() { String::new() } else { format!(" of {}", kinds.join("|")) }
    };
    let test = match &arm.test {
        Test::Success { binds } => format!("success{}", names(binds)),
        Test::Failure { binds, kinds } => format!("failure{}{}", of(kinds), names(binds)),
        Test::Is { binds, kinds } => {
            format!("is {}{}", kinds.iter().map(|kind| &*kind.text).collect::<Vec<_>>().join("|"), names(binds))
        }
        Test::Equals(values) => format!("= {}", all(unit, values, "|")),
        Test::Holds(condition) => format!("if {}", shape(unit, *condition)),
        Test::Otherwise { binds } => format!("else{}", names(binds)),
    };
    let guard = arm.guard.map(|guard| format!(" when {}", shape(unit, guard))).unwrap_or_default();
    format!("{test}{guard} -> {}", shape(unit, arm.body))
}

fn sign(op: Op) -> &'static str {
    match op {
        Op::Add => "+",
        Op::Sub | Op::Neg => "-",
        Op::Mul => "*",
        Op::Div => "/",
        Op::Rem => "%",
        Op::Pow => "**",
        Op::Shl => "<<",
        Op::Shr => ">>",
        Op::BitAnd => "&",
        Op::BitOr => "|",
        Op::BitXor => "^",
        Op::And => "&&",
        Op::Or => "||",
        Op::Not => "!",
        Op::Eq => "==",
        Op::Ne => "!=",
        Op::Lt => "<",
        Op::Le => "<=",
        Op::Gt => ">",
        Op::Ge => ">=",
    }
}
