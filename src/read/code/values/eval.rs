//! What a node's value is: literals, names, members, operators. Calls are in `calls` and `known`, ways through code in `flow`.

use std::cell::Cell;

use super::arithmetic::{self, Combine, combine};
use super::domain::{Env, Got, Optional, Val};
use super::linear::Symbol;
use super::scope::{self, Change, Declared, How};
use super::spread::fresh;
use crate::facts::Why;
use crate::read::code::project::Project;
use crate::read::code::tree::{Arg, Id, Kind, Literal, Name, Op, Part, Place, Sym, Test};
use crate::read::code::words::values::{Constant, Operation, ValueWords};
use crate::read::code::words::{Words, entry};

/// Steps of one question.
const STEPS: u32 = 4_000;
/// Steps within each other.
const DEPTH: u32 = 64;
/// Elements of a list that are looked at.
const ELEMENTS: usize = 256;

/// Follows values for one question.
pub(super) struct Tracer<'p> {
    pub project: &'p Project,
    /// Whether values are asked for as they are in the first pass of the loops around.
    pub is_first: bool,
    steps: Cell<u32>,
    depth: Cell<u32>,
}

/// A reason in plain words.
pub(super) fn because(why: impl Into<std::borrow::Cow<'static, str>>) -> Why {
    Why::Other(why.into())
}

impl<'p> Tracer<'p> {
    /// A tracer for one question.
    pub fn new(project: &'p Project, is_first: bool) -> Self {
        Tracer { project, is_first, steps: Cell::new(STEPS), depth: Cell::new(DEPTH) }
    }

    /// The words of the language that a place is written in.
    pub fn words(&self, place: &Place) -> &'static ValueWords {
        &Words::of(place.unit.language).values
    }

    /// Takes a number of steps, if there are so many left.
    pub fn spend(&self, steps: usize) -> bool {
        let left = self.steps.get().checked_sub(u32::try_from(steps).unwrap_or(u32::MAX));
        self.steps.set(left.unwrap_or_default());
        left.is_some()
    }

    /// Goes one step deeper, if there are steps left. None if not.
    pub fn deeper<T>(&self, step: impl FnOnce() -> T) -> Option<T> {
        let depth = self.depth.get().checked_sub(1).filter(|_| self.spend(1))?;
        self.depth.set(depth);
        let result = step();
        self.depth.set(depth + 1);
        Some(result)
    }

    /// The value of a node.
    pub fn value(&self, place: &Place, env: &Env) -> Got {
        self.deeper(|| self.of_kind(place, env)).unwrap_or_else(|| fresh(because("not followed further"), place))
    }

    fn of_kind(&self, place: &Place, env: &Env) -> Got {
        let got = |value| Got::new(value, place.span());
        match place.kind() {
            Kind::Literal(literal) => self.literal(place, literal),
            Kind::Template(parts) => self.template(place, parts, env),
            Kind::Name(name) => self.name(place, name, env),
            Kind::Member { of, name } => self.member(place, *of, name, env),
            Kind::Index { of, key } => self.indexed(place, *of, *key, env),
            Kind::Operator { op, of } => self.operator(place, *op, of, env),
            Kind::List(items) => self.list(place, items, env),
            Kind::Call { of, types, args } => self.call(place, *of, types, args, env),
            Kind::Method { on, name, types, args, .. } => self.method(place, *on, name, types, args, env),
            Kind::Await(of) => self.awaited(place, *of, env),
            Kind::Block(_) | Kind::Branch { .. } | Kind::Exit { .. } => {
                self.run(place, env).on.unwrap_or_else(|| fresh(because("control leaves"), place))
            }
            Kind::Held { body, .. } => self.value(&place.at(*body), env),
            Kind::Record { .. }
            | Kind::Range { .. }
            | Kind::Closure { .. }
            | Kind::Function { .. }
            | Kind::Type { .. }
            | Kind::Spawn(_) => got(Val::Construct(place.clone(), env.clone())),
            Kind::Constant { value, .. } => self.value(&place.at(*value), &Env::default()),
            Kind::Outcome { .. } => fresh(because("whether a call succeeds"), place),
            Kind::Loop { .. } => fresh(because("the result of a loop"), place),
            Kind::Let { .. } | Kind::Assign { .. } | Kind::Guarded { .. } | Kind::Race(_) | Kind::Opaque(_) => {
                fresh(because("code that is not followed"), place)
            }
        }
    }

    fn literal(&self, place: &Place, literal: &Literal) -> Got {
        let value = match literal {
            Literal::Int(n, Some(suffix)) if self.words(place).fractions.iter().any(|ty| **ty == **suffix) => {
                Val::Float(*n as f64)
            }
            Literal::Int(n, _) => i128::try_from(*n).map_or(Val::Float(*n as f64), Val::Int),
            Literal::Float(n, _) => Val::Float(*n),
            Literal::Text(text) => Val::Text(Sym::clone(text)),
            Literal::Bool(value) => Val::Bool(*value),
            Literal::Null => Val::Absent,
            Literal::Unit => return fresh(because("nothing"), place),
        };
        Got::new(value, place.span())
    }

    fn indexed(&self, place: &Place, of: Id, key: Id, env: &Env) -> Got {
        let (of, key) = (self.value(&place.at(of), env), self.value(&place.at(key), env));
        self.element(&of, &key, place)
    }

    fn list(&self, place: &Place, items: &[Id], env: &Env) -> Got {
        if items.len() > ELEMENTS {
            return fresh(because("a long list"), place);
        }
        let items: Vec<Got> = items.iter().map(|item| self.value(&place.at(*item), env)).collect();
        let nothing = Got { spans: Vec::new(), ..Got::new(Val::Absent, place.span()) };
        let mut list = items.iter().fold(nothing, |list, item| list.beside(item));
        if list.spans.is_empty() {
            list.spans.push(place.span());
        }
        list.into(Val::List(items))
    }

    /// What is awaited is what its body gives.
    fn awaited(&self, place: &Place, of: Id, env: &Env) -> Got {
        let got = self.value(&place.at(of), env);
        if let Val::Construct(of, inner) = &got.value
            && let Kind::Closure { body, params, .. } = of.kind()
            && params.is_empty()
        {
            return self.body(&of.at(*body), inner);
        }
        got
    }

    fn template(&self, place: &Place, parts: &[Part], env: &Env) -> Got {
        let mut text = String::new();
        let mut all = Got::new(Val::Absent, place.span());
        for part in parts {
            match part {
                Part::Text(known) => text.push_str(known),
                Part::Hole(hole) => {
                    let got = self.value(&place.at(*hole), env);
                    match &got.value {
                        Val::Text(known) => text.push_str(known),
                        Val::Int(n) => text.push_str(&n.to_string()),
                        _ => return Got::new(Val::Construct(place.clone(), env.clone()), place.span()),
                    }
                    all = all.beside(&got);
                }
            }
        }
        all.into(Val::Text(text.into()))
    }

    fn operator(&self, place: &Place, op: Op, of: &[Id], env: &Env) -> Got {
        let mut values = of.iter().map(|id| self.value(&place.at(*id), env));
        let Some(first) = values.next() else { return fresh(because("nothing"), place) };
        match op {
            Op::Not => match &first.value {
                Val::Bool(value) => first.with(Val::Bool(!value)),
                _ => fresh(because("depends on a condition"), place).beside(&first),
            },
            Op::Neg => arithmetic::negated(&first, place),
            _ => values.fold(first, |a, b| self.combined(Combine::By(op), &a, &b, place)),
        }
    }

    /// Two values combined.
    pub fn combined(&self, how: Combine, a: &Got, b: &Got, place: &Place) -> Got {
        if let (Combine::By(op @ (Op::Eq | Op::Ne)), Some(one), Some(two)) = (how, variant(a), variant(b)) {
            return a.with(Val::Bool((one == two) == (op == Op::Eq))).beside(b);
        }
        let (a, b) = (self.as_number(a), self.as_number(b));
        combine(how, &a, &b, place, self.words(place).whole_division)
    }

    /// A value from which something is computed: what only names a construct is not known.
    pub fn as_number(&self, got: &Got) -> Got {
        let Val::Construct(of, _) = &got.value else { return got.clone() };
        let what = match of.kind() {
            Kind::Name(name) => format!("`{}` is not seen", name.text),
            Kind::Call { of: callee, .. } => match of.unit.callee(*callee) {
                Some(name) => format!("result of `{}`", name.text),
                None => "result of a call".to_string(),
            },
            Kind::Method { name, .. } => format!("result of `{name}`"),
            _ => return got.clone(),
        };
        let drawn = got.drawn.clone();
        Got { drawn, ..fresh(because(what), of).optional(Optional::Result) }
    }

    /// The value of a name.
    fn name(&self, place: &Place, name: &Name, env: &Env) -> Got {
        if name.full.is_none()
            && let Some(declared) = scope::declared(&place.unit, place.id, &name.text)
        {
            return self.local(place, &declared, env);
        }
        let words = self.words(place);
        let known =
            || entry(&words.constants, name.best()).map(|constant| Got::new(constant_value(*constant), place.span()));
        let is_own = name.full.as_deref().is_some_and(|full| full.starts_with("crate::"));
        if !is_own && let Some(got) = known() {
            return got;
        }
        if let Some(found) = self.project.named(&place.unit, name) {
            if found.unit.is_set_anew(found.id) {
                let symbol = Symbol { at: found.span(), path: Sym::clone(&name.text) };
                return Got::unknown(because(format!("`{}`, which differs by type", name.text)), symbol);
            }
            return self.value(&found, &Env::default());
        }
        known().unwrap_or_else(|| Got::new(Val::Construct(place.clone(), env.clone()), place.span()))
    }

    /// The value of a local where it stands.
    fn local(&self, place: &Place, declared: &Declared, env: &Env) -> Got {
        let symbol = || Symbol { at: declared.local.at, path: Sym::clone(&declared.local.name) };
        let name = &declared.local.name;
        let Some(changes) = scope::changes(&place.unit, declared, place.id, self.is_first, None) else {
            return Got::unknown(because("not followed further"), symbol());
        };
        let at = |id: Id| place.at(id);
        // What is set anew forgets what was before.
        let anew = changes.iter().rposition(
            |change| matches!(change, Change::Set(id) if matches!(place.unit.kind(*id), Kind::Assign { op: None, .. })),
        );
        let (mut got, rest) = match anew {
            Some(_) => (Got::unknown(because("nothing"), symbol()), changes.get(anew.unwrap_or_default()..)),
            None => (self.declared(place, declared, env), Some(changes.as_slice())),
        };
        for change in rest.unwrap_or_default() {
            got = match *change {
                Change::Set(id) => self.assigned(&at(id), got, env),
                Change::Perhaps(id) => self.perhaps(&at(id), declared, got, env),
                Change::Lent(_) if matches!(got.value, Val::Construct(..)) => got,
                Change::Unclear(_) | Change::Lent(_) => {
                    Got::unknown(because(format!("`{name}` changes while it runs")), symbol())
                }
            };
        }
        if matches!(got.value, Val::List(_))
            && self.spend(64)
            && scope::is_filled(&place.unit, declared, &self.words(place).changes)
        {
            return Got::unknown(because(format!("what is put into `{name}`")), symbol());
        }
        got
    }

    /// The value of a variable after an assignment to it.
    pub fn assigned(&self, assign: &Place, before: Got, env: &Env) -> Got {
        let Kind::Assign { op, value, .. } = assign.kind() else { return before };
        let value = self.value(&assign.at(*value), env);
        match op {
            Some(op) => self.combined(Combine::By(*op), &before, &value, assign),
            None => value,
        }
    }

    /// The value that a declaration gives.
    fn declared(&self, place: &Place, declared: &Declared, env: &Env) -> Got {
        if let Some(bound) = env.get(&declared.local) {
            return bound.clone();
        }
        let by = place.at(declared.by);
        let name = &declared.local.name;
        let unknown = |why: String| {
            Got::unknown(because(why), Symbol { at: declared.local.at, path: Sym::clone(&declared.local.name) })
        };
        let value = match (by.kind(), declared.how) {
            (Kind::Let { value: Some(value), .. }, How::Let) => return self.value(&by.at(*value), env),
            (Kind::Let { value: Some(value), names, .. }, How::Part(at)) => {
                let whole = self.value(&by.at(*value), env);
                match &whole.value {
                    Val::List(items) if items.len() == names.len() => items.get(at).cloned(),
                    _ => None,
                }
            }
            (Kind::Branch { on: Some(on), arms }, How::Arm(at)) => {
                let is_payload = arms.get(at).is_some_and(|arm| match &arm.test {
                    Test::Is { kinds, .. } => kinds.iter().all(|kind| self.is_wrapper(place, kind)),
                    Test::Success { .. } | Test::Otherwise { .. } => true,
                    _ => false,
                });
                is_payload.then(|| self.value(&by.at(*on), env))
            }
            (Kind::Held { value, .. }, How::Held) => Some(self.value(&by.at(*value), env)),
            (Kind::Function { .. }, How::Param(at)) => return self.argument(&by, at, name),
            (_, How::ClosureParam(_)) => return unknown(format!("argument `{name}` of a closure")),
            (_, How::Pass) => return unknown(format!("`{name}` changes from pass to pass")),
            _ => None,
        };
        value.unwrap_or_else(|| unknown(format!("`{name}` is not followed")))
    }

    /// Whether a name wraps a value without changing it: `Some`.
    pub fn is_wrapper(&self, place: &Place, name: &Name) -> bool {
        self.words(place).functions.of_path(name.best()) == Some(Operation::Same)
    }

    /// The value of a member.
    fn member(&self, place: &Place, of: Id, name: &Sym, env: &Env) -> Got {
        let of = place.at(of);
        // What was set on a local counts before what it was made with.
        let mut before = None;
        if let Kind::Name(local) = of.kind()
            && local.full.is_none()
            && let Some(declared) = scope::declared(&place.unit, of.id, &local.text)
        {
            let changes = scope::changes(&place.unit, &declared, place.id, self.is_first, Some(name));
            let symbol = || Symbol { at: declared.local.at, path: format!("{}.{name}", local.text).into() };
            match changes.as_deref() {
                Some([]) => {}
                Some([.., Change::Set(id)]) => before = Some(self.assigned_member(&place.at(*id), env, symbol())),
                _ => {
                    before =
                        Some(Got::unknown(because(format!("`{}.{name}` changes while it runs", local.text)), symbol()))
                }
            }
        }
        before.unwrap_or_else(|| {
            let whole = self.value(&of, env);
            self.field(&whole, &of, name, place)
        })
    }

    fn assigned_member(&self, assign: &Place, env: &Env, symbol: Symbol) -> Got {
        match assign.kind() {
            Kind::Assign { op: None, value, .. } => self.value(&assign.at(*value), env),
            _ => Got::unknown(because("changes while it runs"), symbol),
        }
    }

    /// The value of a field of what `of` is.
    pub fn field(&self, whole: &Got, of: &Place, name: &Sym, at: &Place) -> Got {
        match &whole.value {
            Val::List(items) => {
                if let Some(item) = name.parse().ok().and_then(|n: usize| items.get(n)) {
                    return item.clone();
                }
            }
            Val::Construct(record, env) => {
                // A constructor by position.
                if let (Kind::Call { of, args, .. }, Ok(n)) = (record.kind(), name.parse::<usize>())
                    && record.unit.callee(*of).is_some_and(|name| name.last().starts_with(char::is_uppercase))
                    && let Some(arg) = args.get(n)
                {
                    return self.value(&record.at(arg.value), env);
                }
                if let Kind::Record { of: ty, fields, base } = record.kind() {
                    let named = |field: &&Arg| field.name.as_ref() == Some(name);
                    if let Some(field) = fields.iter().rev().find(named) {
                        return self.value(&record.at(field.value), env);
                    }
                    if let Some(base) = base {
                        let base = self.base(&record.at(*base), ty.as_ref(), env);
                        return self.field(&base, record, name, at);
                    }
                }
            }
            Val::Open(_) => return self.unseen_field(whole, of, name),
            _ => {}
        }
        fresh(because(format!("field `{name}`")), at).optional(Optional::Setting)
    }

    /// What a record takes its other fields from: `..Default::default()` is that of its type.
    fn base(&self, base: &Place, ty: Option<&Name>, env: &Env) -> Got {
        if let Kind::Call { of, args, .. } = base.kind()
            && args.is_empty()
            && let Some(name) = base.unit.callee(*of)
            && let Some(ty) = ty.and_then(|ty| ty.full.as_deref())
            && self.words(base).defaults.iter().any(|known| *known == *name.text)
            && let Some(function) = self.project.item(&base.unit, &format!("{ty}::{}", name.last()))
            && let Some(got) = self.apply(&function, &Env::default(), Vec::new(), base)
        {
            return got;
        }
        self.value(base, env)
    }

    /// The field of something that is not seen: of the function's own object, what the only place that makes one says.
    fn unseen_field(&self, whole: &Got, of: &Place, name: &Sym) -> Got {
        if let Kind::Name(own) = of.kind()
            && let Some(declared) = scope::declared(&of.unit, of.id, &own.text)
            && let (Kind::Function { owner: Some(owner), .. }, How::Param(0)) =
                (of.unit.kind(declared.by), declared.how)
            && owner_is(&of.unit, declared.by, &own.text)
            && let Some(full) = owner.full.as_deref()
            && let Some(got) = self.only_made(of, full, name)
        {
            return got;
        }
        let mut got = whole.clone();
        if let Val::Open(open) = &mut got.value
            && let Some(symbol) = open.between.as_ref().and_then(|(low, _)| low.symbol.clone())
        {
            let path: Sym = format!("{}.{name}", symbol.path).into();
            let why = match &open.why {
                Why::Other(_) if !symbol.path.is_empty() => because(format!("field `{name}` of `{}`", symbol.path)),
                why => why.clone(),
            };
            return Got {
                drawn: got.drawn,
                ..Got::unknown(why, Symbol { path, ..symbol }).optional(Optional::Setting)
            };
        }
        fresh(because(format!("field `{name}`")), of).optional(Optional::Setting)
    }

    /// A field of which all records of a type say the same, if only its own functions make any and nothing sets it later. The
    /// unit may hold only some of its file; but whatever has a field with a word that is searched for is there.
    fn only_made(&self, at: &Place, full: &str, name: &Sym) -> Option<Got> {
        /// So many records are looked at.
        const RECORDS: usize = 8;
        let unit = &at.unit;
        if !Words::of(unit.language).searches_for(name) || unit.is_changed(name) {
            return None;
        }
        let is_own = |id: Id| {
            let owner = unit.function_of(id).map(|function| unit.kind(function));
            matches!(owner, Some(Kind::Function { owner: Some(owner), .. }) if owner.full.as_deref() == Some(full))
        };
        let made = unit.made(full).filter(|id| !unit.is_test(unit.at(*id))).take(RECORDS + 1);
        let mut same: Option<Got> = None;
        for (at_most, id) in made.enumerate() {
            let record = at.at(id);
            let Kind::Record { fields, base, .. } = record.kind() else { return None };
            let field = match fields.iter().find(|field| field.name.as_ref() == Some(name)) {
                Some(field) if is_own(id) && at_most < RECORDS => field,
                // Taken from another one.
                None if base.is_some() => continue,
                _ => return None,
            };
            let got = self.value(&record.at(field.value), &Env::default());
            same = match same {
                _ if got.why().is_some() => return None,
                Some(first) if !first.value.is_same(&got.value) => return None,
                Some(first) => Some(first),
                None => Some(got),
            };
        }
        same
    }

    /// The element of a list.
    pub fn element(&self, of: &Got, key: &Got, at: &Place) -> Got {
        match (&of.value, &key.value) {
            (Val::List(items), Val::Int(n)) => match usize::try_from(*n).ok().and_then(|n| items.get(n)) {
                Some(item) => item.clone(),
                None => of.with(Val::Absent),
            },
            // What is looked up by a name may be missing; which of a list is taken is another matter.
            (_, Val::Text(name)) => fresh(because(format!("entry `{name}`")), at).optional(Optional::Setting),
            _ => fresh(because("an element of a list"), at),
        }
    }
}

/// Whether the first parameter is the object itself, by the type that it has.
fn owner_is(unit: &crate::read::code::tree::Unit, function: Id, name: &Sym) -> bool {
    let Kind::Function { params, owner, .. } = unit.kind(function) else { return false };
    let first = params.first();
    first.is_some_and(|first| {
        first.name.as_ref() == Some(name)
            && (first.ty.is_none() || first.ty.as_ref().map(Name::best) == owner.as_ref().map(Name::best))
    })
}

pub(super) fn constant_value(constant: Constant) -> Val {
    match constant {
        Constant::Int(n) => Val::Int(n),
        Constant::Float(n) => Val::Float(n),
        Constant::Time(n, unit) => arithmetic::time(i128::from(n) * i128::from(unit.nanos())),
    }
}

/// The full path of a variant or constructor that a value is.
pub(super) fn variant(got: &Got) -> Option<&str> {
    let Val::Construct(of, _) = &got.value else { return None };
    match of.kind() {
        Kind::Name(name) => name.full.as_deref(),
        _ => None,
    }
}
