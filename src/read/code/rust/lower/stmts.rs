//! Blocks and statements.

use syn::visit::Visit;

use super::super::names::{Scope, Within, text};
use super::Lower;
use super::cfg::Alternatives;
use crate::read::code::tree::{Arm, At, Id, Kind, Name, Sym};

/// Tuples of more values than this stay together.
const WIDEST: usize = 16;

impl Lower<'_> {
    /// A block, in which what it binds is in sight.
    pub(super) fn block(&mut self, block: &syn::Block) -> Id {
        let at = self.delimited(&block.brace_token.span);
        self.statements(&block.stmts, at)
    }

    /// Statements as a Block.
    pub(super) fn statements(&mut self, stmts: &[syn::Stmt], at: At) -> Id {
        let mark = self.b.mark();
        let mut scope = Scope::of_block(&self.path);
        for stmt in stmts {
            if let syn::Stmt::Item(item) = stmt {
                scope.add(item);
            }
        }
        let has_items = !scope.is_empty();
        if has_items {
            self.blocks.push(scope);
            self.tell_block();
        }
        let ids = self.scoped(|lower| {
            let mut ids = Vec::with_capacity(stmts.len());
            let mut there = Alternatives::default();
            for stmt in stmts {
                if there.takes(attrs_of(stmt)) {
                    lower.statement(stmt, &mut ids);
                }
            }
            ids
        });
        if has_items {
            self.blocks.pop();
        }
        self.b.add(mark, Kind::Block(ids), at)
    }

    fn tell_block(&mut self) {
        if let Some(scope) = self.blocks.last() {
            self.names.tell_scope(scope, &Within { module: &self.module, blocks: &self.blocks }, self.b);
        }
    }

    fn statement(&mut self, stmt: &syn::Stmt, ids: &mut Vec<Id>) {
        match stmt {
            syn::Stmt::Local(local) => self.local(local, ids),
            syn::Stmt::Item(syn::Item::Macro(one)) if one.ident.is_none() => {
                let (id, _) = self.macro_call(&one.mac);
                ids.push(id);
            }
            syn::Stmt::Item(item) => ids.extend(self.item_node(item)),
            syn::Stmt::Expr(expr, _) => ids.push(self.expr(expr)),
            syn::Stmt::Macro(one) => {
                let (id, _) = self.macro_call(&one.mac);
                ids.push(id);
            }
        }
    }

    fn local(&mut self, local: &syn::Local, ids: &mut Vec<Id>) {
        let at = self.between(local.let_token.span, local.semi_token.span);
        let (pat, ty) = match &local.pat {
            syn::Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pat => (pat, None),
        };
        let ty = ty.and_then(|ty| self.outermost(ty));
        match &local.init {
            Some(init) => match &init.diverge {
                Some((_, otherwise)) => ids.push(self.let_else(pat, &init.expr, otherwise, at)),
                None => self.let_value(pat, &init.expr, ty, at, ids),
            },
            None => {
                let names = self.binds(pat);
                self.bind(&names);
                ids.push(self.leaf(Kind::Let { names, value: None, ty }, at));
            }
        }
    }

    fn let_value(&mut self, pat: &syn::Pat, value: &syn::Expr, ty: Option<Name>, at: At, ids: &mut Vec<Id>) {
        if let (syn::Pat::Tuple(pats), syn::Expr::Tuple(values)) = (pat, value)
            && pats.elems.len() == values.elems.len()
            && pats.elems.len() <= WIDEST
            && !pats.elems.iter().any(|pat| matches!(pat, syn::Pat::Rest(_)))
        {
            let names = self.binds(pat);
            let mut mentions = Mentions { names: &names, found: false };
            mentions.visit_expr(value);
            if !mentions.found {
                for (pat, value) in pats.elems.iter().zip(&values.elems) {
                    self.let_value(pat, value, None, at, ids);
                }
                return;
            }
        }
        let mark = self.b.mark();
        let value = self.expr(value);
        let names = self.binds(pat);
        self.bind(&names);
        ids.push(self.b.add(mark, Kind::Let { names, value: Some(value), ty }, at));
    }

    /// `let P = e else { d };`: a Branch whose names stay in sight.
    fn let_else(&mut self, pat: &syn::Pat, value: &syn::Expr, otherwise: &syn::Expr, at: At) -> Id {
        let mark = self.b.mark();
        let (on, through) = self.scrutinee(value, &[pat]);
        let asked = self.asked(pat, through);
        let pat_at = self.pattern_at(pat);
        let body = self.leaf(Kind::Block(Vec::new()), pat_at);
        let otherwise_test = asked.otherwise();
        let mut arms = vec![Arm { test: asked.test, guard: asked.guard, body }];
        arms.extend(asked.also.into_iter().map(|test| {
            let body = self.leaf(Kind::Block(Vec::new()), pat_at);
            Arm { test, guard: None, body }
        }));
        let body = self.expr(otherwise);
        arms.push(Arm { test: otherwise_test, guard: None, body });
        let names = self.binds(pat);
        self.bind(&names);
        self.b.add(mark, Kind::Branch { on: Some(on), arms }, at)
    }
}

/// The attributes of a statement; those of an item are its own.
fn attrs_of(stmt: &syn::Stmt) -> &[syn::Attribute] {
    use syn::Expr;
    let syn::Stmt::Expr(expr, _) = stmt else {
        return match stmt {
            syn::Stmt::Local(one) => &one.attrs,
            syn::Stmt::Macro(one) => &one.attrs,
            _ => &[],
        };
    };
    let mut expr = expr;
    loop {
        // What stands before the whole is kept where it begins.
        expr = match expr {
            Expr::Assign(one) => &one.left,
            Expr::Binary(one) => &one.left,
            Expr::Cast(one) => &one.expr,
            Expr::Await(one) => return &one.attrs,
            Expr::Block(one) => return &one.attrs,
            Expr::Break(one) => return &one.attrs,
            Expr::Call(one) => return &one.attrs,
            Expr::Continue(one) => return &one.attrs,
            Expr::Field(one) => return &one.attrs,
            Expr::ForLoop(one) => return &one.attrs,
            Expr::If(one) => return &one.attrs,
            Expr::Lit(one) => return &one.attrs,
            Expr::Loop(one) => return &one.attrs,
            Expr::Macro(one) => return &one.attrs,
            Expr::Match(one) => return &one.attrs,
            Expr::MethodCall(one) => return &one.attrs,
            Expr::Path(one) => return &one.attrs,
            Expr::Return(one) => return &one.attrs,
            Expr::Struct(one) => return &one.attrs,
            Expr::Try(one) => return &one.attrs,
            Expr::Unary(one) => return &one.attrs,
            Expr::Unsafe(one) => return &one.attrs,
            Expr::While(one) => return &one.attrs,
            _ => return &[],
        };
    }
}

/// Whether an expression speaks of one of these names.
struct Mentions<'a> {
    names: &'a [Sym],
    found: bool,
}

impl<'ast> Visit<'ast> for Mentions<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(ident) = path.get_ident() {
            let ident = text(ident);
            self.found = self.found || self.names.iter().any(|name| **name == *ident);
        }
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, _: &'ast syn::Macro) {
        self.found = true;
    }
}
