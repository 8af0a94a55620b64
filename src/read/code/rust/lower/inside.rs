//! Macros among items: `cfg_if!`, `lazy_static!`, `thread_local!` and whatever else holds items.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Item, Token};

use super::super::names;
use super::{Lower, join};
use crate::read::code::tree::Kind;

/// Braces within braces deeper than this are not looked into: each is parsed anew.
const DEEPEST: u32 = 6;

/// An item in a macro.
enum Inside {
    Item(Box<Item>),
    Lazy(Box<Lazy>),
}

/// `static ref NAME: Type = value;` of `lazy_static!`.
struct Lazy {
    name: syn::Ident,
    value: Expr,
}

/// The names that a macro among items defines, as far as they stand in it.
pub(in super::super) fn defined_in(mac: &syn::Macro) -> Vec<syn::Ident> {
    let name = |one: &Inside| match one {
        Inside::Item(item) => names::defined(item).cloned(),
        Inside::Lazy(lazy) => Some(lazy.name.clone()),
    };
    inside(&mac.tokens).iter().filter_map(name).collect()
}

fn inside(tokens: &TokenStream) -> Vec<Inside> {
    let mut found = Vec::new();
    look(tokens, DEEPEST, &mut found);
    found
}

fn look(tokens: &TokenStream, depth: u32, found: &mut Vec<Inside>) {
    let items = |input: ParseStream| {
        let mut items = Vec::new();
        while !input.is_empty() {
            items.push(input.parse::<Item>()?);
        }
        Ok(items)
    };
    let Some(depth) = depth.checked_sub(1) else { return };
    if let Ok(items) = items.parse2(tokens.clone()) {
        // Macros in macros are not followed.
        let read = items.into_iter().filter(|item| !matches!(item, Item::Macro(_)));
        found.extend(read.map(|item| Inside::Item(Box::new(item))));
    } else if let Ok(all) = lazies.parse2(tokens.clone()) {
        found.extend(all.into_iter().map(Box::new).map(Inside::Lazy));
    } else {
        for token in tokens.clone() {
            if let TokenTree::Group(group) = token
                && group.delimiter() == Delimiter::Brace
            {
                look(&group.stream(), depth, found);
            }
        }
    }
}

fn lazies(input: ParseStream) -> syn::Result<Vec<Lazy>> {
    let mut all = Vec::new();
    while !input.is_empty() {
        input.call(syn::Attribute::parse_outer)?;
        input.parse::<syn::Visibility>()?;
        input.parse::<Token![static]>()?;
        input.parse::<Token![ref]>()?;
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        input.parse::<syn::Type>()?;
        input.parse::<Token![=]>()?;
        let value = input.parse()?;
        input.parse::<Token![;]>()?;
        all.push(Lazy { name, value });
    }
    Ok(all)
}

impl Lower<'_> {
    /// A macro among items: the items in it, or those that its rules make.
    pub(super) fn item_macro(&mut self, one: &syn::ItemMacro) {
        if one.ident.is_some() {
            for id in self.macro_rules(one) {
                self.b.item(id);
            }
            return;
        }
        self.b.enter_macro();
        for one in inside(&one.mac.tokens) {
            match one {
                Inside::Item(item) => self.item(&item),
                Inside::Lazy(lazy) => self.lazy(&lazy),
            }
        }
        self.b.leave_macro();
    }

    fn lazy(&mut self, one: &Lazy) {
        let mark = self.b.mark();
        let name = self.plain(&one.name);
        let path = self.sym(&format!("{}::{name}", self.path));
        let value = self.alone(|lower| lower.expr(&one.value));
        let at = join(self.at(one.name.span()), self.b.at(value));
        let id = self.b.add(mark, Kind::Constant { name, path, value }, at);
        self.b.item(id);
    }
}
