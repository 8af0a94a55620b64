//! Branches and loops.

use syn::{Expr, Pat};

use super::cfg::Alternatives;
use super::macros::Matched;
use super::patterns::{Asked, NOTHING, Through, asks_option};
use super::{Lower, join};
use crate::read::code::tree::{Arm, At, Exit, Id, Kind, Literal, LoopKind, Op, Sym, Test};

/// One of the conditions that `&&` joins.
pub(super) enum Condition<'e> {
    /// `let P = e`.
    Let(&'e Pat, &'e Expr),
    /// `matches!(e, P)`.
    Matches(Box<Matched>),
    /// `e.is_ok()`, `e.is_err()`, and the `e` in it; whether failure is asked for.
    Outcome(&'e Expr, &'e Expr, bool),
    /// Anything else.
    Plain(&'e Expr),
}

/// What is asked by `e.is_ok()`, `!e.is_err()` …; whether failure is asked for.
pub(super) fn outcome(expr: &Expr) -> Option<(&Expr, bool)> {
    let (expr, is_denied) = affirmed(expr);
    let Expr::MethodCall(call) = expr else { return None };
    let failed = if call.method == "is_ok" {
        false
    } else if call.method == "is_err" {
        true
    } else {
        return None;
    };
    (call.args.is_empty() && call.turbofish.is_none()).then_some((&*call.receiver, failed != is_denied))
}

/// An expression without parentheses and `!`, and whether these deny it.
fn affirmed(mut expr: &Expr) -> (&Expr, bool) {
    let mut is_denied = false;
    loop {
        expr = match expr {
            Expr::Paren(one) => &one.expr,
            Expr::Group(one) => &one.expr,
            Expr::Unary(one) if matches!(one.op, syn::UnOp::Not(_)) => {
                is_denied = !is_denied;
                &one.expr
            }
            _ => return (expr, is_denied),
        };
    }
}

/// The conditions that `&&` joins, in the order in which they stand.
pub(super) fn conjuncts(expr: &Expr) -> Vec<&Expr> {
    let mut found = Vec::new();
    let mut rest = expr;
    while let Expr::Binary(one) = rest
        && matches!(one.op, syn::BinOp::And(_))
    {
        found.push(&*one.right);
        rest = &one.left;
    }
    found.push(rest);
    found.reverse();
    found
}

/// A `matches!`, and whether it is denied.
fn matched(expr: &Expr) -> Option<(Matched, bool)> {
    match affirmed(expr) {
        (Expr::Macro(one), is_denied) => Matched::of(&one.mac).map(|matched| (matched, is_denied)),
        _ => None,
    }
}

/// What one condition asks.
pub(super) fn condition(expr: &Expr) -> Condition<'_> {
    if let Expr::Let(one) = expr {
        return Condition::Let(&one.pat, &one.expr);
    }
    if let Some((of, failed)) = outcome(expr) {
        return Condition::Outcome(expr, of, failed);
    }
    match matched(expr) {
        Some((matched, false)) => Condition::Matches(Box::new(matched)),
        _ => Condition::Plain(expr),
    }
}

impl Lower<'_> {
    /// The node of what is asked, without the `.ok()` or `.err()` that the patterns allow to take off.
    pub(super) fn scrutinee(&mut self, expr: &Expr, pats: &[&Pat]) -> (Id, Through) {
        if let Expr::MethodCall(call) = expr
            && call.args.is_empty()
            && pats.iter().all(|pat| asks_option(pat))
        {
            if call.method == "ok" {
                return (self.expr(&call.receiver), Through::Ok);
            }
            if call.method == "err" {
                return (self.expr(&call.receiver), Through::Err);
            }
        }
        (self.expr(expr), NOTHING)
    }

    /// `if`, with its `else if`s as further arms where they only ask whether something holds.
    pub(super) fn if_else(&mut self, first: &syn::ExprIf) -> (Id, At) {
        let mark = self.b.mark();
        let mut arms = Vec::new();
        let mut one = first;
        let mut end = self.delimited(&first.then_branch.brace_token.span);
        loop {
            if let Some((matched, true)) = matched(&one.cond) {
                let (id, at) = self.if_not(one, &matched);
                if arms.is_empty() {
                    return (id, at);
                }
                end = at;
                arms.push(Arm { test: Test::Otherwise { binds: Vec::new() }, guard: None, body: id });
                break;
            }
            let parts: Vec<Condition> = conjuncts(&one.cond).into_iter().map(condition).collect();
            if parts.iter().any(|part| !matches!(part, Condition::Plain(_))) {
                let asked = arms.is_empty();
                let (id, at) = self.if_asked(one, parts);
                if asked {
                    return (id, at);
                }
                end = at;
                arms.push(Arm { test: Test::Otherwise { binds: Vec::new() }, guard: None, body: id });
                break;
            }
            let holds = self.expr(&one.cond);
            let body = self.block(&one.then_branch);
            end = join(end, self.delimited(&one.then_branch.brace_token.span));
            arms.push(Arm { test: Test::Holds(holds), guard: None, body });
            match one.else_branch.as_ref().map(|(_, expr)| &**expr) {
                Some(Expr::If(next)) => one = next,
                Some(expr) => {
                    let (body, at) = self.whole(expr);
                    end = join(end, at);
                    arms.push(Arm { test: Test::Otherwise { binds: Vec::new() }, guard: None, body });
                    break;
                }
                None => break,
            }
        }
        let at = join(self.at(first.if_token.span), end);
        (self.b.add(mark, Kind::Branch { on: None, arms }, at), at)
    }

    /// `if !matches!(x, P) { a } else { b }`: a Branch on `x`, in which P leads to `b`.
    fn if_not(&mut self, one: &syn::ExprIf, matched: &Matched) -> (Id, At) {
        let mark = self.b.mark();
        let (on, through) = self.scrutinee(&matched.expr, &[&matched.pat]);
        let asked = self.asked(&matched.pat, through);
        let otherwise = asked.otherwise();
        let mut at = self.between(one.if_token.span, one.then_branch.brace_token.span.close());
        let guard = self.guarded(asked.guard, &matched.pat);
        let body = match &one.else_branch {
            Some((_, expr)) => {
                let (body, end) = self.whole(expr);
                at = join(at, end);
                body
            }
            None => self.leaf(Kind::Block(Vec::new()), self.pattern_at(&matched.pat)),
        };
        let mut arms = vec![Arm { test: asked.test, guard, body }];
        self.same_way(asked.also, &mut arms);
        let body = self.block(&one.then_branch);
        arms.push(Arm { test: otherwise, guard: None, body });
        (self.b.add(mark, Kind::Branch { on: Some(on), arms }, at), at)
    }

    /// An `if` that asks about a value.
    fn if_asked(&mut self, one: &syn::ExprIf, parts: Vec<Condition>) -> (Id, At) {
        let mark = self.b.mark();
        let (on, mut arms, otherwise) = self.scoped(|lower| {
            let (on, asked, guard) = lower.conditions(parts);
            let otherwise =
                if guard == asked.guard { asked.otherwise() } else { Test::Otherwise { binds: Vec::new() } };
            let body = lower.block(&one.then_branch);
            let mut arms = vec![Arm { test: asked.test, guard, body }];
            lower.same_way(asked.also, &mut arms);
            (on, arms, otherwise)
        });
        let mut at = self.between(one.if_token.span, one.then_branch.brace_token.span.close());
        if let Some((_, expr)) = &one.else_branch {
            let (body, end) = self.whole(expr);
            at = join(at, end);
            arms.push(Arm { test: otherwise, guard: None, body });
        }
        (self.b.add(mark, Kind::Branch { on: Some(on), arms }, at), at)
    }

    /// Conditions of which one asks about a value: that value, what is asked of it, and what else must hold. Binds names.
    fn conditions(&mut self, parts: Vec<Condition>) -> (Id, Asked, Option<Id>) {
        let is_let = |part: &Condition| matches!(part, Condition::Let(..));
        let is_plain = |part: &Condition| matches!(part, Condition::Plain(_));
        let lead = parts.iter().position(is_let).or_else(|| parts.iter().position(|part| !is_plain(part)));
        let lead = lead.unwrap_or_default();
        // The others are a guard, which stands behind the scrutinee.
        let mut before = Vec::new();
        let mut after = Vec::new();
        let mut leading = None;
        for (at, part) in parts.into_iter().enumerate() {
            match at.cmp(&lead) {
                std::cmp::Ordering::Less => before.push(part),
                std::cmp::Ordering::Equal => leading = Some(part),
                std::cmp::Ordering::Greater => after.push(part),
            }
        }
        let (on, asked) = match leading {
            Some(Condition::Let(pat, expr)) => {
                let (on, through) = self.scrutinee(expr, &[pat]);
                let asked = self.asked(pat, through);
                let names = self.binds(pat);
                self.bind(&names);
                (on, asked)
            }
            Some(Condition::Outcome(_, of, failed)) => (self.expr(of), exactly(failed)),
            Some(Condition::Matches(matched)) => {
                let (on, through) = self.scrutinee(&matched.expr, &[&matched.pat]);
                let mut asked = self.asked(&matched.pat, through);
                let names = self.binds(&matched.pat);
                asked.guard = self.scoped(|lower| {
                    lower.bind(&names);
                    lower.guarded(asked.guard, &matched.pat)
                });
                asked.is_exact &= asked.guard.is_none();
                (on, asked)
            }
            Some(Condition::Plain(expr)) => {
                let on = self.expr(expr);
                (
                    on,
                    Asked {
                        test: Test::Otherwise { binds: Vec::new() },
                        guard: None,
                        is_exact: false,
                        also: Vec::new(),
                    },
                )
            }
            None => (self.opaque(At { start: 0, end: 0 }), exactly(true)),
        };
        let guard = self.all_hold(asked.guard, before.into_iter().chain(after));
        (on, asked, guard)
    }

    /// A condition as a truth value.
    fn as_value(&mut self, part: Condition) -> Id {
        match part {
            Condition::Plain(expr) | Condition::Outcome(expr, ..) => self.expr(expr),
            Condition::Let(pat, expr) => {
                let id = self.asks(expr, pat);
                let names = self.binds(pat);
                self.bind(&names);
                id
            }
            Condition::Matches(matched) => self.asks(&matched.expr, &matched.pat),
        }
    }

    /// Whether a value has a shape, as a truth value: an Outcome, else a Branch over two of them.
    pub(super) fn asks(&mut self, expr: &Expr, pat: &Pat) -> Id {
        let mark = self.b.mark();
        let (on, through) = self.scrutinee(expr, &[pat]);
        let asked = self.asked(pat, through);
        let at = join(self.b.at(on), self.pattern_at(pat));
        if asked.is_exact {
            let failed = matches!(asked.test, Test::Failure { .. });
            return self.b.add(mark, Kind::Outcome { of: on, failed }, at);
        }
        let names = self.binds(pat);
        let otherwise = asked.otherwise();
        let guard = self.scoped(|lower| {
            lower.bind(&names);
            lower.guarded(asked.guard, pat)
        });
        let pat_at = self.pattern_at(pat);
        let truth = |value: bool| Kind::Literal(Literal::Bool(value));
        let mut arms = Vec::new();
        for test in std::iter::once(asked.test).chain(asked.also) {
            let body = self.leaf(truth(true), pat_at);
            arms.push(Arm { test, guard: guard.filter(|_| arms.is_empty()), body });
        }
        let body = self.leaf(truth(false), pat_at);
        arms.push(Arm { test: otherwise, guard: None, body });
        self.b.add(mark, Kind::Branch { on: Some(on), arms }, at)
    }

    /// Arms for tests that lead the same way as the last arm: out by the same exit, or on behind the branch.
    pub(super) fn same_way(&mut self, tests: Vec<Test>, arms: &mut Vec<Arm>) {
        let Some(body) = arms.last().map(|arm| arm.body) else { return };
        let at = self.b.at(body);
        let mut last = body;
        while let Kind::Block(ids) = self.b.kind(last)
            && let Some(id) = ids.last()
        {
            last = *id;
        }
        let exit = match self.b.kind(last) {
            Kind::Exit { how, label, .. } => Some((*how, label.clone())),
            _ => None,
        };
        for test in tests {
            let kind = match &exit {
                Some((how, label)) => Kind::Exit { how: *how, label: label.clone(), value: None },
                None => Kind::Block(Vec::new()),
            };
            let body = self.leaf(kind, at);
            arms.push(Arm { test, guard: None, body });
        }
    }

    /// `match`.
    pub(super) fn a_match(&mut self, one: &syn::ExprMatch) -> (Id, At) {
        let mark = self.b.mark();
        let pats: Vec<&Pat> = one.arms.iter().map(|arm| &arm.pat).collect();
        let (on, through) = self.scrutinee(&one.expr, &pats);
        let mut arms = Vec::new();
        let (mut all_succeeded, mut all_failed) = (false, false);
        let mut there = Alternatives::default();
        for arm in one.arms.iter().filter(|arm| there.takes(&arm.attrs)) {
            self.scoped(|lower| {
                let mut asked = lower.asked(&arm.pat, through);
                if let Test::Otherwise { binds } = &mut asked.test
                    && asked.guard.is_none()
                {
                    // What the arms before have left.
                    let binds = std::mem::take(binds);
                    asked.test = match (all_succeeded, all_failed) {
                        (true, false) => Test::Failure { binds, kinds: Vec::new() },
                        (false, true) => Test::Success { binds },
                        _ => Test::Otherwise { binds },
                    };
                }
                let names = lower.binds(&arm.pat);
                lower.bind(&names);
                let guard = lower.guarded(asked.guard, &arm.pat);
                if asked.is_exact && guard.is_none() {
                    all_succeeded |= matches!(asked.test, Test::Success { .. });
                    all_failed |= matches!(asked.test, Test::Failure { .. });
                }
                let body = lower.expr(&arm.body);
                arms.push(Arm { test: asked.test, guard, body });
                lower.same_way(asked.also, &mut arms);
            });
        }
        let at = self.between(one.match_token.span, one.brace_token.span.close());
        (self.b.add(mark, Kind::Branch { on: Some(on), arms }, at), at)
    }

    /// The guard of an arm together with what the test does not express. What it binds (`if let Some(d) = next()`) stays in
    /// sight.
    pub(super) fn guarded(&mut self, unclear: Option<Id>, pat: &Pat) -> Option<Id> {
        let Pat::Guard(one) = pat else { return unclear };
        let parts = conjuncts(&one.guard);
        self.all_hold(unclear, parts.into_iter().map(condition))
    }

    /// Conditions, as one, behind one that is there.
    pub(super) fn all_hold<'e>(&mut self, first: Option<Id>, rest: impl Iterator<Item = Condition<'e>>) -> Option<Id> {
        let mark = first.map_or_else(|| self.b.mark(), |first| self.b.mark_of(first));
        let mut all: Vec<Id> = first.into_iter().collect();
        for part in rest {
            let id = self.as_value(part);
            all.push(id);
        }
        match all.as_slice() {
            [] => None,
            [only] => Some(*only),
            [first, .., last] => {
                let at = join(self.b.at(*first), self.b.at(*last));
                Some(self.b.add(mark, Kind::Operator { op: Op::And, of: all }, at))
            }
        }
    }

    /// `loop`.
    pub(super) fn a_loop(&mut self, one: &syn::ExprLoop) -> (Id, At) {
        let mark = self.b.mark();
        let body = self.block(&one.body);
        let at = self.loop_at(&one.label, one.loop_token.span, &one.body);
        let label = self.label(one.label.as_ref().map(|label| &label.name));
        (self.b.add(mark, Kind::Loop { kind: LoopKind::Forever, label, body }, at), at)
    }

    /// `while`.
    pub(super) fn a_while(&mut self, one: &syn::ExprWhile) -> (Id, At) {
        let mark = self.b.mark();
        let at = self.loop_at(&one.label, one.while_token.span, &one.body);
        let label = self.label(one.label.as_ref().map(|label| &label.name));
        let joined = conjuncts(&one.cond);
        if !joined.iter().any(|part| matches!(part, Expr::Let(_))) {
            let holds = self.expr(&one.cond);
            let body = self.block(&one.body);
            return (self.b.add(mark, Kind::Loop { kind: LoopKind::While(holds), label, body }, at), at);
        }
        let parts = joined.into_iter().map(condition).collect();
        let body_at = self.delimited(&one.body.brace_token.span);
        let (on, mut arms) = self.scoped(|lower| {
            let (on, asked, guard) = lower.conditions(parts);
            let body = lower.block(&one.body);
            let mut arms = vec![Arm { test: asked.test, guard, body }];
            lower.same_way(asked.also, &mut arms);
            (on, arms)
        });
        let while_at = self.at(one.while_token.span);
        let out = self.leaf(Kind::Exit { how: Exit::Break, label: None, value: None }, while_at);
        arms.push(Arm { test: Test::Otherwise { binds: Vec::new() }, guard: None, body: out });
        let branch = self.b.add(mark, Kind::Branch { on: Some(on), arms }, join(while_at, body_at));
        let body = self.b.add(mark, Kind::Block(vec![branch]), body_at);
        (self.b.add(mark, Kind::Loop { kind: LoopKind::Forever, label, body }, at), at)
    }

    /// `for`.
    pub(super) fn a_for(&mut self, one: &syn::ExprForLoop) -> (Id, At) {
        let mark = self.b.mark();
        let at = self.loop_at(&one.label, one.for_token.span, &one.body);
        let label = self.label(one.label.as_ref().map(|label| &label.name));
        let over = self.expr(&one.expr);
        let vars = self.binds(&one.pat);
        let kind = match self.b.kind(over) {
            Kind::Range { .. } if vars.len() < 2 => LoopKind::Count { var: vars.first().cloned(), range: over },
            _ => LoopKind::Each { vars: vars.clone(), over },
        };
        let body = self.scoped(|lower| {
            lower.bind(&vars);
            lower.block(&one.body)
        });
        (self.b.add(mark, Kind::Loop { kind, label, body }, at), at)
    }

    fn loop_at(&self, label: &Option<syn::Label>, token: proc_macro2::Span, body: &syn::Block) -> At {
        let first = label.as_ref().map_or(token, |label| label.name.apostrophe);
        self.between(first, body.brace_token.span.close())
    }

    /// A label without its quote.
    pub(super) fn label(&mut self, label: Option<&syn::Lifetime>) -> Option<Sym> {
        label.map(|label| self.plain(&label.ident))
    }
}

/// All failures, or all successes.
fn exactly(failed: bool) -> Asked {
    let test = match failed {
        true => Test::Failure { binds: Vec::new(), kinds: Vec::new() },
        false => Test::Success { binds: Vec::new() },
    };
    Asked { test, guard: None, is_exact: true, also: Vec::new() }
}
