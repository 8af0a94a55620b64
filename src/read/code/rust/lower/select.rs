//! `select!` of tokio, futures and crossbeam.

use syn::parse::{Parse, ParseStream};
use syn::{Expr, Pat, Token};

use super::Lower;
use super::control::condition;
use super::patterns::NOTHING;
use crate::read::code::build::Mark;
use crate::read::code::tree::{Arm, At, Contender, Id, Kind, Test};

/// What stands in a `select!`.
pub(super) struct SelectArms(Vec<SelectArm>);

struct SelectArm {
    /// What is waited for, and what its value must be; none of `else`, `default` and `complete`.
    waits: Option<(Pat, Expr)>,
    condition: Option<Expr>,
    body: Expr,
}

impl Parse for SelectArms {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        if input.peek(syn::Ident) && input.peek2(Token![;]) {
            // `biased;`
            input.parse::<syn::Ident>()?;
            input.parse::<Token![;]>()?;
        }
        let mut arms = Vec::new();
        while !input.is_empty() {
            arms.push(input.parse()?);
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(SelectArms(arms))
    }
}

impl Parse for SelectArm {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let mut condition = None;
        let waits = if input.peek(Token![else]) {
            input.parse::<Token![else]>()?;
            None
        } else if input.peek(syn::Ident) && input.peek2(Token![=>]) {
            input.parse::<syn::Ident>()?;
            None
        } else if is_channel(input) {
            let expr = input.parse()?;
            match input.parse::<Option<Token![->]>>()? {
                Some(_) => Some((Pat::parse_single(input)?, expr)),
                None => None,
            }
        } else {
            let pat = Pat::parse_multi_with_leading_vert(input)?;
            input.parse::<Token![=]>()?;
            let expr = input.parse()?;
            if input.peek(Token![,]) {
                input.parse::<Token![,]>()?;
                input.parse::<Token![if]>()?;
                condition = Some(input.parse()?);
            }
            Some((pat, expr))
        };
        input.parse::<Token![=>]>()?;
        let body = Expr::parse_with_earlier_boundary_rule(input)?;
        Ok(SelectArm { waits, condition, body })
    }
}

/// crossbeam's `recv(r) -> v`, `send(s, v) -> r`, `default(d)`.
fn is_channel(input: ParseStream) -> bool {
    let ahead = input.fork();
    let is_word =
        ahead.parse::<syn::Ident>().is_ok_and(|ident| ident == "recv" || ident == "send" || ident == "default");
    is_word && ahead.parse::<proc_macro2::Group>().is_ok() && (ahead.peek(Token![->]) || ahead.peek(Token![=>]))
}

impl Lower<'_> {
    /// What is there first.
    pub(super) fn race(&mut self, arms: SelectArms, mark: Mark, at: At) -> Id {
        let contenders = arms.0.into_iter().map(|arm| self.scoped(|lower| lower.contender(&arm, at))).collect();
        self.b.add(mark, Kind::Race(contenders), at)
    }

    fn contender(&mut self, arm: &SelectArm, at: At) -> Contender {
        let Some((pat, expr)) = &arm.waits else {
            let on = self.opaque(at);
            let body = self.expr(&arm.body);
            return Contender { on, arm: Arm { test: Test::Otherwise { binds: Vec::new() }, guard: None, body } };
        };
        let on = self.expr(expr);
        let asked = self.asked(pat, NOTHING);
        let names = self.binds(pat);
        self.bind(&names);
        let guard = self.all_hold(asked.guard, arm.condition.iter().map(condition));
        let body = self.expr(&arm.body);
        Contender { on, arm: Arm { test: asked.test, guard, body } }
    }
}
