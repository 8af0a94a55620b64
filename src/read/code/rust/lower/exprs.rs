//! Expressions.

use syn::{BinOp, Expr, Lit, UnOp};

use super::control::outcome;
use super::literals::operator;
use super::{Lower, join};
use crate::read::code::build::Mark;
use crate::read::code::tree::{Arg, Arm, At, Exit, Id, Kind, Literal, Op, Test};

/// Functions whose work leaves the request.
const SPAWNING: [&str; 17] = [
    "tokio::spawn",
    "tokio::task::spawn",
    "tokio::task::spawn_blocking",
    "tokio::task::spawn_local",
    "std::thread::spawn",
    "async_std::task::spawn",
    "async_std::task::spawn_blocking",
    "async_std::task::spawn_local",
    "smol::spawn",
    "smol::unblock",
    "actix_rt::spawn",
    "actix_web::rt::spawn",
    "rayon::spawn",
    "async_global_executor::spawn",
    "wasm_bindgen_futures::spawn_local",
    "tauri::async_runtime::spawn",
    "ntex::rt::spawn",
];

/// Repeated values up to this many are written out.
const WRITTEN_OUT: u128 = 64;

impl Lower<'_> {
    /// The node of an expression.
    pub(super) fn expr(&mut self, expr: &Expr) -> Id {
        self.whole(expr).0
    }

    /// The node of an expression, and where the expression stands: parentheses, casts and borrows around it included.
    pub(super) fn whole(&mut self, expr: &Expr) -> (Id, At) {
        let mark = self.b.mark();
        // What hangs on to the left is gone through by a loop: chains of methods may be long.
        let mut links = Vec::new();
        let mut base = expr;
        loop {
            let next = match base {
                Expr::MethodCall(one) => &one.receiver,
                Expr::Await(one) => &one.base,
                Expr::Try(one) => &one.expr,
                Expr::Field(one) => &one.base,
                Expr::Index(one) => &one.expr,
                Expr::Cast(one) => &one.expr,
                Expr::Call(one) if !matches!(*one.func, Expr::Path(_)) => &one.func,
                Expr::Binary(one) if !matches!(one.op, BinOp::And(_) | BinOp::Or(_)) && operator(&one.op).is_some() => {
                    &one.left
                }
                _ => break,
            };
            links.push(base);
            base = next;
        }
        let (mut id, mut at) = self.base(base);
        while let Some(link) = links.pop() {
            (id, at) = self.link(link, mark, id, at);
        }
        (id, at)
    }

    /// Something that hangs on to the right of what is there.
    fn link(&mut self, link: &Expr, mark: Mark, on: Id, on_at: At) -> (Id, At) {
        let (kind, at) = match link {
            Expr::MethodCall(one) => {
                let at = join(on_at, self.at(one.paren_token.span.close()));
                let failed = one.method == "is_err";
                if (failed || one.method == "is_ok") && one.args.is_empty() {
                    (Kind::Outcome { of: on, failed }, at)
                } else {
                    let name = self.plain(&one.method);
                    let types = one.turbofish.as_ref().map(|types| self.types(types)).unwrap_or_default();
                    let args = self.args(one.args.iter());
                    (Kind::Method { on, name, name_at: self.at(one.method.span()), types, args }, at)
                }
            }
            Expr::Await(one) => (Kind::Await(on), join(on_at, self.at(one.await_token.span))),
            Expr::Try(one) => return self.question(mark, on, on_at, one.question_token.span),
            Expr::Field(one) => {
                let (name, span) = match &one.member {
                    syn::Member::Named(name) => (self.plain(name), name.span()),
                    syn::Member::Unnamed(index) => (self.sym(&index.index.to_string()), index.span),
                };
                (Kind::Member { of: on, name }, join(on_at, self.at(span)))
            }
            Expr::Index(one) => {
                let at = join(on_at, self.at(one.bracket_token.span.close()));
                match &*one.index {
                    Expr::Lit(syn::ExprLit { lit: Lit::Str(key), .. }) => {
                        (Kind::Member { of: on, name: self.sym(&key.value()) }, at)
                    }
                    key => (Kind::Index { of: on, key: self.expr(key) }, at),
                }
            }
            Expr::Cast(one) => {
                use syn::spanned::Spanned;
                return (on, join(on_at, self.at(one.ty.span())));
            }
            Expr::Call(one) => {
                let at = join(on_at, self.at(one.paren_token.span.close()));
                (Kind::Call { of: on, types: Vec::new(), args: self.args(one.args.iter()) }, at)
            }
            Expr::Binary(one) => {
                let (right, right_at) = self.whole(&one.right);
                let at = join(on_at, right_at);
                match operator(&one.op) {
                    Some((op, false)) => (Kind::Operator { op, of: vec![on, right] }, at),
                    Some((op, true)) => (Kind::Assign { place: on, op: Some(op), value: right }, at),
                    None => (Kind::Opaque(vec![on, right]), at),
                }
            }
            _ => (Kind::Opaque(vec![on]), on_at),
        };
        (self.b.add(mark, kind, at), at)
    }

    /// `x?`.
    pub(super) fn question(&mut self, mark: Mark, on: Id, on_at: At, token: proc_macro2::Span) -> (Id, At) {
        let token = self.at(token);
        let body = self.leaf(Kind::Exit { how: Exit::Return, label: None, value: None }, token);
        let test = Test::Failure { binds: Vec::new(), kinds: Vec::new() };
        let arms = vec![Arm { test, guard: None, body }];
        let at = join(on_at, token);
        (self.b.add(mark, Kind::Branch { on: Some(on), arms }, at), at)
    }

    /// Arguments by position.
    pub(super) fn args<'e>(&mut self, args: impl Iterator<Item = &'e Expr>) -> Vec<Arg> {
        args.map(|arg| Arg { name: None, value: self.expr(arg), spread: false }).collect()
    }

    /// What does not hang on anything.
    fn base(&mut self, expr: &Expr) -> (Id, At) {
        let mark = self.b.mark();
        match expr {
            Expr::Paren(one) => (self.expr(&one.expr), self.delimited(&one.paren_token.span)),
            Expr::Group(one) => self.whole(&one.expr),
            Expr::Reference(one) => {
                let (id, at) = self.behind(one.and_token.span, &one.expr);
                if one.mutability.is_some() {
                    self.b.lend(id);
                }
                (id, at)
            }
            Expr::RawAddr(one) => {
                let (id, at) = self.behind(one.and_token.span, &one.expr);
                if matches!(one.mutability, syn::PointerMutability::Mut(_)) {
                    self.b.lend(id);
                }
                (id, at)
            }
            Expr::Unary(one) => self.unary(expr, one),
            Expr::Lit(one) => {
                let id = self.literal(&one.lit);
                (id, self.b.at(id))
            }
            Expr::Path(one) => {
                let id = self.path(one.qself.as_ref(), &one.path);
                (id, self.b.at(id))
            }
            Expr::Call(one) => self.call(one),
            Expr::Binary(one) => self.logic(one),
            Expr::Assign(one) if matches!(*one.left, Expr::Infer(_)) => {
                let (value, at) = self.behind(one.eq_token.span, &one.right);
                (self.b.add(mark, Kind::Let { names: Vec::new(), value: Some(value), ty: None }, at), at)
            }
            Expr::Assign(one) => {
                let (place, first) = self.whole(&one.left);
                let (value, last) = self.whole(&one.right);
                let at = join(first, last);
                (self.b.add(mark, Kind::Assign { place, op: None, value }, at), at)
            }
            Expr::Array(one) => self.list(one.elems.iter(), self.delimited(&one.bracket_token.span)),
            Expr::Tuple(one) => {
                let at = self.delimited(&one.paren_token.span);
                match one.elems.is_empty() {
                    true => (self.leaf(Kind::Literal(Literal::Unit), at), at),
                    false => self.list(one.elems.iter(), at),
                }
            }
            Expr::Repeat(one) => self.repeat(&one.expr, &one.len, self.delimited(&one.bracket_token.span)),
            Expr::Range(one) => self.range(one),
            Expr::Struct(one) => self.record(one),
            Expr::Closure(one) => self.closure(one),
            Expr::Async(one) => {
                let body = self.block(&one.block);
                let at = self.between(one.async_token.span, one.block.brace_token.span.close());
                (self.b.add(mark, Kind::Closure { params: Vec::new(), body, is_async: true }, at), at)
            }
            Expr::Block(one) => {
                let at = self.delimited(&one.block.brace_token.span);
                let block = self.block(&one.block);
                let Some(label) = &one.label else { return (block, at) };
                if let Some(name) = self.label(Some(&label.name)) {
                    self.b.label(block, name);
                }
                (block, join(self.at(label.name.apostrophe), at))
            }
            Expr::Unsafe(one) => self.transparent(one.unsafe_token.span, &one.block),
            Expr::Const(one) => self.transparent(one.const_token.span, &one.block),
            Expr::TryBlock(one) => {
                // What `?` leaves here is the block, not the function.
                let body = self.block(&one.block);
                let at = self.between(one.try_token.span, one.block.brace_token.span.close());
                (self.b.add(mark, Kind::Opaque(vec![body]), at), at)
            }
            Expr::If(one) => self.if_else(one),
            Expr::Match(one) => self.a_match(one),
            Expr::Loop(one) => self.a_loop(one),
            Expr::While(one) => self.a_while(one),
            Expr::ForLoop(one) => self.a_for(one),
            Expr::Let(one) => {
                let id = self.asks(&one.expr, &one.pat);
                (id, join(self.at(one.let_token.span), self.b.at(id)))
            }
            Expr::Return(one) => self.exit(Exit::Return, one.return_token.span, None, one.expr.as_deref()),
            Expr::Break(one) => self.exit(Exit::Break, one.break_token.span, one.label.as_ref(), one.expr.as_deref()),
            Expr::Continue(one) => self.exit(Exit::Continue, one.continue_token.span, one.label.as_ref(), None),
            Expr::Yield(one) => {
                let mut at = self.at(one.yield_token.span);
                let of = one.expr.as_ref().map(|expr| {
                    let (id, end) = self.whole(expr);
                    at = join(at, end);
                    id
                });
                (self.b.add(mark, Kind::Opaque(of.into_iter().collect()), at), at)
            }
            Expr::Macro(one) => self.macro_call(&one.mac),
            Expr::Infer(one) => {
                let at = self.at(one.underscore_token.span);
                (self.opaque(at), at)
            }
            other => {
                use syn::spanned::Spanned;
                let at = self.at(other.span());
                (self.opaque(at), at)
            }
        }
    }

    /// What leaves no node before an expression.
    fn behind(&mut self, token: proc_macro2::Span, expr: &Expr) -> (Id, At) {
        let (id, at) = self.whole(expr);
        (id, join(self.at(token), at))
    }

    fn unary(&mut self, expr: &Expr, one: &syn::ExprUnary) -> (Id, At) {
        let mark = self.b.mark();
        let span = match &one.op {
            UnOp::Deref(token) => return self.behind(token.spans[0], &one.expr),
            UnOp::Not(token) => token.spans[0],
            UnOp::Neg(token) => token.spans[0],
            _ => return self.whole(&one.expr),
        };
        if let Some((of, failed)) = outcome(expr) {
            let of = self.expr(of);
            let at = join(self.at(span), self.end_of(expr));
            return (self.b.add(mark, Kind::Outcome { of, failed }, at), at);
        }
        let op = if matches!(one.op, UnOp::Not(_)) { Op::Not } else { Op::Neg };
        let (of, at) = self.behind(span, &one.expr);
        (self.b.add(mark, Kind::Operator { op, of: vec![of] }, at), at)
    }

    /// Where an expression of the form `!(r.is_ok())` ends.
    fn end_of(&self, mut expr: &Expr) -> At {
        loop {
            expr = match expr {
                Expr::Unary(one) => &one.expr,
                Expr::Group(one) => &one.expr,
                Expr::Paren(one) => return self.delimited(&one.paren_token.span),
                Expr::MethodCall(one) => return self.delimited(&one.paren_token.span),
                _ => return At { start: u32::MAX, end: 0 },
            };
        }
    }

    /// `a && b && c` and `a || b || c`, as one node each.
    fn logic(&mut self, one: &syn::ExprBinary) -> (Id, At) {
        let mark = self.b.mark();
        let op = if matches!(one.op, BinOp::And(_)) { Op::And } else { Op::Or };
        let mut parts = vec![&*one.right];
        let mut rest = &*one.left;
        while let Expr::Binary(inner) = rest
            && std::mem::discriminant(&inner.op) == std::mem::discriminant(&one.op)
        {
            parts.push(&inner.right);
            rest = &inner.left;
        }
        parts.push(rest);
        parts.reverse();
        let mut of = Vec::with_capacity(parts.len());
        let mut at: Option<At> = None;
        for part in parts {
            let (id, part_at) = self.whole(part);
            of.push(id);
            at = Some(at.map_or(part_at, |at| join(at, part_at)));
        }
        let at = at.unwrap_or(At { start: 0, end: 0 });
        (self.b.add(mark, Kind::Operator { op, of }, at), at)
    }

    /// A call by name.
    fn call(&mut self, one: &syn::ExprCall) -> (Id, At) {
        let mark = self.b.mark();
        let Expr::Path(path) = &*one.func else { return self.whole(&one.func) };
        let name_at = self.path_at(path.qself.as_ref(), &path.path);
        let name = self.value_name(path.qself.as_ref(), &path.path);
        let types = self.types_of_path(&path.path);
        let at = join(name_at, self.at(one.paren_token.span.close()));
        let full = name.full.clone();
        let full = full.as_deref().unwrap_or_default();
        if matches!(full, "std::process::exit" | "std::process::abort") {
            let value = one.args.first().map(|arg| self.expr(arg));
            return (self.b.add(mark, Kind::Exit { how: Exit::Abort, label: None, value }, at), at);
        }
        let of = self.leaf(Kind::Name(name), name_at);
        let args = self.args(one.args.iter());
        let call = self.b.add(mark, Kind::Call { of, types, args }, at);
        if SPAWNING.contains(&full) {
            return (self.b.add(mark, Kind::Spawn(call), at), at);
        }
        (call, at)
    }

    /// A list.
    pub(super) fn list<'e>(&mut self, elems: impl Iterator<Item = &'e Expr>, at: At) -> (Id, At) {
        let mark = self.b.mark();
        let ids = elems.map(|elem| self.expr(elem)).collect();
        (self.b.add(mark, Kind::List(ids), at), at)
    }

    /// `[x; n]`: a List if `n` is small and written, with `x` in its first place and what equals it in the others.
    pub(super) fn repeat(&mut self, elem: &Expr, len: &Expr, at: At) -> (Id, At) {
        let mark = self.b.mark();
        let count = match len {
            Expr::Lit(syn::ExprLit { lit: Lit::Int(count), .. }) => count.base10_parse::<u128>().ok(),
            _ => None,
        };
        if let (Some(count @ 1..=WRITTEN_OUT), Expr::Lit(_) | Expr::Path(_)) = (count, elem) {
            let ids = (0..count).map(|_| self.expr(elem)).collect();
            return (self.b.add(mark, Kind::List(ids), at), at);
        }
        let of = vec![self.expr(elem), self.expr(len)];
        (self.b.add(mark, Kind::Opaque(of), at), at)
    }

    /// `a..b`.
    pub(super) fn range(&mut self, one: &syn::ExprRange) -> (Id, At) {
        let mark = self.b.mark();
        let (mut at, is_inclusive) = match &one.limits {
            syn::RangeLimits::HalfOpen(dots) => (self.between(dots.spans[0], dots.spans[1]), false),
            syn::RangeLimits::Closed(dots) => (self.between(dots.spans[0], dots.spans[2]), true),
        };
        let mut end = |lower: &mut Self, expr: Option<&Expr>| {
            let (id, end_at) = lower.whole(expr?);
            at = join(at, end_at);
            Some(id)
        };
        let from = end(self, one.start.as_deref());
        let to = end(self, one.end.as_deref());
        (self.b.add(mark, Kind::Range { from, to, inclusive: is_inclusive }, at), at)
    }

    fn record(&mut self, one: &syn::ExprStruct) -> (Id, At) {
        let mark = self.b.mark();
        let name = self.type_name(one.qself.as_ref(), &one.path);
        let first = self.path_at(one.qself.as_ref(), &one.path);
        let mut fields = Vec::with_capacity(one.fields.len());
        for field in &one.fields {
            let name = match &field.member {
                syn::Member::Named(name) => self.plain(name),
                syn::Member::Unnamed(index) => self.sym(&index.index.to_string()),
            };
            fields.push(Arg { name: Some(name), value: self.expr(&field.expr), spread: false });
        }
        let base = one.rest.as_ref().map(|base| self.expr(base));
        let at = join(first, self.at(one.brace_token.span.close()));
        (self.b.add(mark, Kind::Record { of: Some(name), fields, base }, at), at)
    }

    fn closure(&mut self, one: &syn::ExprClosure) -> (Id, At) {
        let mark = self.b.mark();
        self.scoped(|lower| {
            let mut params = Vec::with_capacity(one.inputs.len());
            for input in &one.inputs {
                let names = lower.binds(input);
                lower.bind(&names);
                params.push(match names.as_slice() {
                    [name] => name.clone(),
                    _ => lower.sym("_"),
                });
            }
            let (body, body_at) = lower.whole(&one.body);
            let first = match (&one.asyncness, &one.capture) {
                (Some(token), _) => token.span,
                (None, Some(token)) => token.span,
                (None, None) => one.inputs_begin.spans[0],
            };
            let at = join(lower.at(first), body_at);
            let is_async = one.asyncness.is_some();
            (lower.b.add(mark, Kind::Closure { params, body, is_async }, at), at)
        })
    }

    /// A block that is only marked as something: what stands in it, if that is one expression.
    fn transparent(&mut self, token: proc_macro2::Span, block: &syn::Block) -> (Id, At) {
        let at = self.between(token, block.brace_token.span.close());
        match block.stmts.as_slice() {
            [syn::Stmt::Expr(expr, None)] => (self.expr(expr), at),
            _ => (self.block(block), at),
        }
    }

    fn exit(
        &mut self,
        how: Exit,
        token: proc_macro2::Span,
        label: Option<&syn::Lifetime>,
        value: Option<&Expr>,
    ) -> (Id, At) {
        let mark = self.b.mark();
        let mut at = self.at(token);
        if let Some(label) = label {
            at = join(at, self.at(label.ident.span()));
        }
        let label = self.label(label);
        let value = value.map(|value| {
            let (id, end) = self.whole(value);
            at = join(at, end);
            id
        });
        (self.b.add(mark, Kind::Exit { how, label, value }, at), at)
    }
}
