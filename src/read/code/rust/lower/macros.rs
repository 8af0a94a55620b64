//! Calls of macros. What the known ones do is written out; of others, whatever reads as Rust is kept, and marked as coming out of
//! a macro.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, MacroDelimiter, Pat, Stmt, Token};

use super::super::names::text;
use super::control::outcome;
use super::format;
use super::select::SelectArms;
use super::{Lower, join, whole_of};
use crate::read::code::build::Mark;
use crate::read::code::tree::{Arg, Arm, At, Exit, Id, Kind, Literal, Name, Op, Test};

/// Macros within macros deeper than this are not read: each is parsed anew.
const DEEPEST: u32 = 12;

/// `matches!(expr, pattern)`.
pub(super) struct Matched {
    pub(super) expr: Expr,
    /// With its guard, if it has one.
    pub(super) pat: Pat,
}

impl Matched {
    /// A call of `matches!`, read.
    pub(super) fn of(mac: &syn::Macro) -> Option<Matched> {
        let is_matches = mac.path.segments.last().is_some_and(|last| last.ident == "matches");
        let parse = |input: ParseStream| {
            let expr = input.parse()?;
            input.parse::<Token![,]>()?;
            let pat = Pat::parse_multi_with_leading_vert(input)?;
            let pat = match input.peek(Token![if]) {
                false => pat,
                true => Pat::Guard(syn::PatGuard {
                    attrs: Vec::new(),
                    pat: Box::new(pat),
                    if_token: input.parse()?,
                    guard: input.parse()?,
                }),
            };
            input.parse::<Option<Token![,]>>()?;
            Ok(Matched { expr, pat })
        };
        is_matches.then(|| parse.parse2(mac.tokens.clone()).ok()).flatten()
    }
}

/// An argument of a macro, as far as it reads as Rust.
pub(super) struct Piece {
    pub(super) name: Option<String>,
    pub(super) value: PieceValue,
}

/// See [`Piece`].
pub(super) enum PieceValue {
    Expr(Box<Expr>),
    Stmts(Vec<Stmt>, TokenStream),
    Unread(TokenStream),
}

/// The arguments of a macro: expressions; else statements; else whatever stands between commas.
fn pieces(tokens: &TokenStream) -> Vec<Piece> {
    if tokens.is_empty() {
        return Vec::new();
    }
    if let Ok(exprs) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone()) {
        return exprs.into_iter().map(piece).collect();
    }
    if let Ok(stmts) = syn::Block::parse_within.parse2(tokens.clone()) {
        return vec![Piece { name: None, value: PieceValue::Stmts(stmts, tokens.clone()) }];
    }
    let mut all = Vec::new();
    let mut chunk: Vec<TokenTree> = Vec::new();
    for token in tokens.clone() {
        match &token {
            TokenTree::Punct(punct) if matches!(punct.as_char(), ',' | ';') => {
                all.extend(loose(std::mem::take(&mut chunk)))
            }
            _ => chunk.push(token),
        }
    }
    all.extend(loose(chunk));
    all
}

/// `name = value` is a named argument.
fn piece(expr: Expr) -> Piece {
    if let Expr::Assign(assign) = &expr
        && let Expr::Path(path) = &*assign.left
        && let Some(ident) = path.path.get_ident()
    {
        return Piece { name: Some(text(ident)), value: PieceValue::Expr(assign.right.clone()) };
    }
    Piece { name: None, value: PieceValue::Expr(Box::new(expr)) }
}

/// What stands between two commas: `target: x`, `error = ?e`, `"key": value`, `key => value`, `%x`.
fn loose(mut tokens: Vec<TokenTree>) -> Option<Piece> {
    if tokens.is_empty() {
        return None;
    }
    let is = |at: usize, c: char| matches!(tokens.get(at), Some(TokenTree::Punct(punct)) if punct.as_char() == c);
    let name_end = (1..tokens.len()).find(|at| !(is(*at, '.') || matches!(tokens.get(*at), Some(TokenTree::Ident(_)))));
    let named = name_end.filter(|at| (is(*at, '=') && !is(at + 1, '=')) || (is(*at, ':') && !is(at + 1, ':')));
    let mut name = None;
    if let Some(at) = named {
        name = match tokens.first() {
            Some(TokenTree::Ident(ident)) => Some(text(ident)),
            Some(TokenTree::Literal(literal)) => {
                syn::parse2::<syn::LitStr>(TokenTree::Literal(literal.clone()).into()).ok().map(|text| text.value())
            }
            _ => None,
        };
        tokens.drain(..=at);
    }
    let is_sign = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if matches!(punct.as_char(), '?' | '%' | '>' | '#'));
    let signs = tokens.iter().take_while(|token| is_sign(token)).count();
    tokens.drain(..signs);
    let tokens: TokenStream = tokens.into_iter().collect();
    let value = match syn::parse2::<Expr>(tokens.clone()) {
        Ok(expr) => PieceValue::Expr(Box::new(expr)),
        Err(_) => PieceValue::Unread(tokens),
    };
    Some(Piece { name, value })
}

impl Lower<'_> {
    /// Where delimiters stand, with what is between them.
    pub(super) fn delimiter(&self, delimiter: &MacroDelimiter) -> At {
        self.delimited(match delimiter {
            MacroDelimiter::Paren(token) => &token.span,
            MacroDelimiter::Brace(token) => &token.span,
            MacroDelimiter::Bracket(token) => &token.span,
        })
    }

    /// A call of a macro.
    pub(super) fn macro_call(&mut self, mac: &syn::Macro) -> (Id, At) {
        let mark = self.b.mark();
        let at = join(self.path_at(None, &mac.path), self.delimiter(&mac.delimiter));
        if self.macros >= DEEPEST {
            return (self.opaque(at), at);
        }
        self.macros += 1;
        let id = match self.known(mac, mark, at) {
            Some(id) => id,
            None => {
                self.b.undo(mark);
                self.unknown(mac, mark, at)
            }
        };
        self.macros -= 1;
        (id, at)
    }

    /// The macros whose meaning is known.
    fn known(&mut self, mac: &syn::Macro, mark: Mark, at: At) -> Option<Id> {
        let name = text(&mac.path.segments.last()?.ident);
        Some(match name.as_str() {
            "format" | "format_args" => self.template(pieces(&mac.tokens), mark, at)?,
            "concat" => self.concatenated(pieces(&mac.tokens), mark, at),
            "cfg" => self.leaf(Kind::Literal(Literal::Bool(super::cfg::holds(&mac.tokens)?)), at),
            "vec" => self.a_vec(mac, at)?,
            "matches" => {
                let matched = Matched::of(mac)?;
                self.asks(&matched.expr, &matched.pat)
            }
            "select" | "select_biased" => {
                let arms: SelectArms = syn::parse2(mac.tokens.clone()).ok()?;
                self.race(arms, mark, at)
            }
            "panic" | "unreachable" | "todo" | "unimplemented" => {
                let value = self.message(&mac.tokens);
                self.b.add(mark, Kind::Exit { how: Exit::Abort, label: None, value }, at)
            }
            "bail" => {
                let pieces = pieces(&mac.tokens);
                self.failing(mac, pieces, mark, at)
            }
            "ensure" => {
                let mut pieces = pieces(&mac.tokens).into_iter();
                let PieceValue::Expr(condition) = pieces.next()?.value else { return None };
                self.ensured(mac, &condition, pieces.collect(), mark, at)
            }
            "try" => {
                let expr: Expr = syn::parse2(mac.tokens.clone()).ok()?;
                let on = self.expr(&expr);
                self.question(mark, on, at, mac.bang_token.span).0
            }
            "ready" => {
                let expr: Expr = syn::parse2(mac.tokens.clone()).ok()?;
                let on = self.expr(&expr);
                let body = self.leaf(Kind::Exit { how: Exit::Return, label: None, value: None }, at);
                let pending = Name { text: self.sym("Pending"), full: Some(self.sym("std::task::Poll::Pending")) };
                let test = Test::Is { binds: Vec::new(), kinds: vec![pending] };
                self.b.add(mark, Kind::Branch { on: Some(on), arms: vec![Arm { test, guard: None, body }] }, at)
            }
            "join" | "try_join" => {
                let args: Punctuated<Expr, Token![,]> = Punctuated::parse_terminated.parse2(mac.tokens.clone()).ok()?;
                let of = self.macro_leaf(mac);
                let args = self.args(args.iter());
                self.b.add(mark, Kind::Call { of, types: Vec::new(), args }, at)
            }
            "stream" | "try_stream" => {
                // What `?` and `return` leave here is the stream.
                let stmts = syn::Block::parse_within.parse2(mac.tokens.clone()).ok()?;
                let of = self.macro_leaf(mac);
                let body_mark = self.b.mark();
                let body_at = self.delimiter(&mac.delimiter);
                let body = self.statements(&stmts, body_at);
                let kind = Kind::Closure { params: Vec::new(), body, is_async: true };
                let value = self.b.add(body_mark, kind, body_at);
                let args = vec![Arg { name: None, value, spread: false }];
                self.b.add(mark, Kind::Call { of, types: Vec::new(), args }, at)
            }
            _ => return None,
        })
    }

    fn macro_leaf(&mut self, mac: &syn::Macro) -> Id {
        let name = self.macro_name(&mac.path);
        let at = join(self.path_at(None, &mac.path), self.at(mac.bang_token.span));
        self.leaf(Kind::Name(name), at)
    }

    /// Any other macro: a Call of its name.
    fn unknown(&mut self, mac: &syn::Macro, mark: Mark, at: At) -> Id {
        let of = self.macro_leaf(mac);
        self.b.enter_macro();
        let args = self.formatted(pieces(&mac.tokens));
        self.b.leave_macro();
        self.b.add(mark, Kind::Call { of, types: Vec::new(), args }, at)
    }

    /// The arguments of an attribute.
    pub(super) fn arguments(&mut self, tokens: TokenStream) -> Vec<Arg> {
        pieces(&tokens).into_iter().map(|piece| self.argument(piece)).collect()
    }

    /// Arguments, of which a text with holes takes those behind it that it shows.
    fn formatted(&mut self, pieces: Vec<Piece>) -> Vec<Arg> {
        let mut args = Vec::new();
        let mut pieces = pieces.into_iter();
        while let Some(piece) = pieces.next() {
            if let (None, Some(literal)) = (&piece.name, format::text_of(&piece))
                && format::has_holes(&literal.value())
            {
                let at = self.at(literal.span());
                let mark = self.b.mark();
                let rest: Vec<Piece> = pieces.collect();
                let (value, unused) = self.filled(&literal, rest, mark, at);
                args.push(Arg { name: None, value, spread: false });
                args.extend(unused.into_iter().map(|piece| self.argument(piece)));
                return args;
            }
            args.push(self.argument(piece));
        }
        args
    }

    pub(super) fn argument(&mut self, piece: Piece) -> Arg {
        let name = piece.name.map(|name| self.sym(&name));
        Arg { name, value: self.piece_value(piece.value), spread: false }
    }

    pub(super) fn piece_value(&mut self, value: PieceValue) -> Id {
        match value {
            PieceValue::Expr(expr) => self.expr(&expr),
            PieceValue::Stmts(stmts, tokens) => {
                let at = self.tokens_at(&tokens);
                self.statements(&stmts, at)
            }
            PieceValue::Unread(tokens) => self.unread(&tokens),
        }
    }

    /// Tokens that read as nothing: what stands in their groups may.
    fn unread(&mut self, tokens: &TokenStream) -> Id {
        let mark = self.b.mark();
        let at = self.tokens_at(tokens);
        let mut ids = Vec::new();
        if self.macros < DEEPEST {
            self.macros += 1;
            for token in tokens.clone() {
                if let TokenTree::Group(group) = token
                    && group.delimiter() != Delimiter::None
                {
                    let args = self.arguments(group.stream());
                    ids.extend(args.into_iter().map(|arg| arg.value));
                }
            }
            self.macros -= 1;
        }
        self.b.add(mark, Kind::Opaque(ids), at)
    }

    fn tokens_at(&self, tokens: &TokenStream) -> At {
        let mut ats = tokens.clone().into_iter().map(|token| self.at(whole_of(&token)));
        let Some(first) = ats.next() else { return At { start: 0, end: 0 } };
        ats.fold(first, join)
    }

    fn a_vec(&mut self, mac: &syn::Macro, at: At) -> Option<Id> {
        if let Ok(elems) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(mac.tokens.clone()) {
            return Some(self.list(elems.iter(), at).0);
        }
        let repeated = |input: ParseStream| {
            let elem: Expr = input.parse()?;
            input.parse::<Token![;]>()?;
            Ok((elem, input.parse::<Expr>()?))
        };
        let (elem, len) = repeated.parse2(mac.tokens.clone()).ok()?;
        Some(self.repeat(&elem, &len, at).0)
    }

    /// What a macro says when it ends the run.
    fn message(&mut self, tokens: &TokenStream) -> Option<Id> {
        let pieces = pieces(tokens);
        let at = self.tokens_at(tokens);
        let mark = self.b.mark();
        let args = self.formatted(pieces);
        match args.as_slice() {
            [] => None,
            [only] => Some(only.value),
            several => {
                let ids = several.iter().map(|arg| arg.value).collect();
                Some(self.b.add(mark, Kind::Opaque(ids), at))
            }
        }
    }

    /// `bail!(…)`: out of the function with `Err(bail!(…))`.
    fn failing(&mut self, mac: &syn::Macro, pieces: Vec<Piece>, mark: Mark, at: At) -> Id {
        let of_at = self.path_at(None, &mac.path);
        let value_mark = self.b.mark();
        let err = Name { text: self.sym("Err"), full: Some(self.sym("std::result::Result::Err")) };
        let of = self.leaf(Kind::Name(err), of_at);
        let inner_mark = self.b.mark();
        let inner_of = self.macro_leaf(mac);
        let args = self.formatted(pieces);
        let inner = self.b.add(inner_mark, Kind::Call { of: inner_of, types: Vec::new(), args }, at);
        let args = vec![Arg { name: None, value: inner, spread: false }];
        let value = self.b.add(value_mark, Kind::Call { of, types: Vec::new(), args }, at);
        self.b.add(mark, Kind::Exit { how: Exit::Return, label: None, value: Some(value) }, at)
    }

    /// `ensure!(condition, …)`: out of the function where it does not hold.
    fn ensured(&mut self, mac: &syn::Macro, condition: &Expr, pieces: Vec<Piece>, mark: Mark, at: At) -> Id {
        let (on, test) = match outcome(condition) {
            Some((of, failed)) => {
                let on = self.expr(of);
                let test = match failed {
                    true => Test::Success { binds: Vec::new() },
                    false => Test::Failure { binds: Vec::new(), kinds: Vec::new() },
                };
                (Some(on), test)
            }
            None => {
                let not_mark = self.b.mark();
                let (of, of_at) = self.whole(condition);
                (None, Test::Holds(self.b.add(not_mark, Kind::Operator { op: Op::Not, of: vec![of] }, of_at)))
            }
        };
        let body_mark = self.b.mark();
        let body = self.failing(mac, pieces, body_mark, at);
        self.b.add(mark, Kind::Branch { on, arms: vec![Arm { test, guard: None, body }] }, at)
    }

    /// `concat!("a", b)`.
    fn concatenated(&mut self, pieces: Vec<Piece>, mark: Mark, at: At) -> Id {
        use crate::read::code::tree::Part;
        let mut parts = Vec::new();
        for piece in pieces {
            match format::plain(&piece) {
                Some(text) => parts.push(Part::Text(self.sym(&text))),
                None => parts.push(Part::Hole(self.piece_value(piece.value))),
            }
        }
        self.parts(parts, mark, at)
    }
}

/// Text without holes as a literal, with holes as a template.
pub(super) fn literal_text(text: crate::read::code::tree::Sym) -> Kind {
    Kind::Literal(Literal::Text(text))
}
