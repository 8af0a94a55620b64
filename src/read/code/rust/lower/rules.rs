//! `macro_rules!`: what a rule writes is read like a function whose parameters are what the rule takes.

use std::collections::HashSet;

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};
use syn::parse::Parser;

use super::super::names::text;
use super::{Lower, join, whole_of};
use crate::read::code::tree::{Id, Param};

impl Lower<'_> {
    /// A function for each rule whose result reads as statements once its `$name`s are plain names. Offsets stay right: all
    /// tokens keep their places.
    pub(super) fn macro_rules(&mut self, one: &syn::ItemMacro) -> Vec<Id> {
        let Some(ident) = &one.ident else { return Vec::new() };
        let name = format!("{}!", text(ident));
        let mut ids = Vec::new();
        let mut groups: Vec<Group> = Vec::new();
        for token in one.mac.tokens.clone() {
            if let TokenTree::Group(group) = token {
                groups.push(group);
            }
        }
        // Pairs of what a rule takes and what it writes.
        for pair in groups.chunks_exact(2) {
            let [takes, writes] = pair else { continue };
            let mut names = Vec::new();
            placeholders(takes.stream(), &mut names);
            let mut own = HashSet::new();
            plain_names(writes.stream(), &mut own);
            let names: Vec<(Ident, Ident)> = names.into_iter().map(|name| (apart(&name, &own), name)).collect();
            let Ok(stmts) = syn::Block::parse_within.parse2(plain(writes.stream(), &names)) else { continue };
            if stmts.is_empty() {
                continue;
            }
            let mark = self.b.mark();
            self.b.enter_macro();
            let at = self.at(whole_of(&TokenTree::Group(writes.clone())));
            let id = self.alone(|lower| {
                let syms: Vec<_> = names.iter().map(|(name, _)| lower.plain(name)).collect();
                lower.bind(&syms);
                let params = syms.iter().map(|name| Param { name: Some(name.clone()), ty: None, default: None });
                let params = params.collect();
                let body = lower.below(&name, |lower| lower.statements(&stmts, at));
                let first = lower.at(whole_of(&TokenTree::Group(takes.clone())));
                lower.made(mark, &name, params, body, join(first, at))
            });
            self.b.leave_macro();
            ids.push(id);
        }
        ids
    }
}

/// The names that a rule takes: `x` of `$x:expr`.
fn placeholders(tokens: TokenStream, names: &mut Vec<Ident>) {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => placeholders(group.stream(), names),
            TokenTree::Punct(punct) if punct.as_char() == '$' => {
                if let Some(TokenTree::Ident(ident)) = tokens.peek() {
                    names.push(ident.clone());
                }
            }
            _ => {}
        }
    }
}

/// The names that are written without a `$`: those of the macro's own locals among them.
fn plain_names(tokens: TokenStream, names: &mut HashSet<String>) {
    let mut is_taken = false;
    for token in tokens {
        match &token {
            TokenTree::Group(group) => plain_names(group.stream(), names),
            TokenTree::Ident(ident) if !is_taken => {
                names.insert(text(ident));
            }
            _ => {}
        }
        is_taken = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '$');
    }
}

/// A name for what a rule takes that none of its own has: `$n` and `n` are two.
fn apart(name: &Ident, own: &HashSet<String>) -> Ident {
    let mut free = text(name);
    if !own.contains(&free) {
        return name.clone();
    }
    while own.contains(&free) {
        free.push('_');
    }
    Ident::new(&free, name.span())
}

/// `$x` becomes a plain name, `$( … ),*` what stands in it, once.
/// `names`: what the rule takes, behind what it is called here.
fn plain(tokens: TokenStream, names: &[(Ident, Ident)]) -> TokenStream {
    let mut result = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), plain(group.stream(), names));
                inner.set_span(group.span());
                result.extend([TokenTree::Group(inner)]);
            }
            TokenTree::Punct(punct) if punct.as_char() == '$' => {
                if let Some(TokenTree::Group(group)) = tokens.peek()
                    && group.delimiter() == Delimiter::Parenthesis
                {
                    let inner = plain(group.stream(), names);
                    tokens.next();
                    result.extend(inner);
                    // The separator, if there is one, and how often.
                    let is_count = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if matches!(punct.as_char(), '*' | '+' | '?'));
                    if tokens.next_if(is_count).is_none() {
                        result.extend(tokens.next());
                        tokens.next_if(is_count);
                    }
                } else if let Some(TokenTree::Ident(taken)) = tokens.peek()
                    && let Some((name, _)) = names.iter().find(|(_, known)| known == taken)
                {
                    let mut name = name.clone();
                    name.set_span(taken.span());
                    tokens.next();
                    result.extend([TokenTree::Ident(name)]);
                }
            }
            token => result.extend([token]),
        }
    }
    result
}
