//! Items: functions, types, constants, modules.

use super::super::names::text;
use super::{Lower, join};
use crate::read::code::build::Mark;
use crate::read::code::tree::{Arg, At, Id, Kind, Name, Param, Sym};

impl Lower<'_> {
    /// An item at the top or in an inline module.
    pub(super) fn item(&mut self, item: &syn::Item) {
        if let syn::Item::Mod(module) = item {
            if let Some((_, items)) = &module.content {
                self.inner(&module.ident, |lower| items.iter().for_each(|item| lower.item(item)));
            }
            return;
        }
        if let syn::Item::Macro(one) = item {
            return self.item_macro(one);
        }
        if let Some(id) = self.item_node(item) {
            self.b.item(id);
        }
    }

    /// What stands in an inline module.
    fn inner(&mut self, ident: &syn::Ident, inside: impl FnOnce(&mut Self)) {
        let module = format!("{}::{}", self.module, text(ident));
        let outer = (std::mem::replace(&mut self.module, module.clone()), std::mem::replace(&mut self.path, module));
        inside(self);
        (self.module, self.path) = outer;
    }

    /// The node of an item, if it has one.
    pub(super) fn item_node(&mut self, item: &syn::Item) -> Option<Id> {
        use syn::Item;
        Some(match item {
            Item::Fn(one) => self.function(&one.attrs, &one.sig, Some(&one.block), None),
            Item::Impl(one) => self.an_impl(one),
            Item::Trait(one) => self.a_trait(one),
            Item::Struct(one) => self.a_struct(one),
            Item::Enum(one) => self.an_enum(one),
            Item::Const(one) => {
                self.constant(&one.ident, &one.expr, self.between(one.const_token.span, one.semi_token.span))
            }
            Item::Static(one) => {
                self.constant(&one.ident, &one.expr, self.between(one.static_token.span, one.semi_token.span))
            }
            _ => return None,
        })
    }

    /// `path` with a name behind it, for what is done in there.
    pub(super) fn below<T>(&mut self, name: &str, inside: impl FnOnce(&mut Self) -> T) -> T {
        let path = format!("{}::{name}", self.path);
        let outer = std::mem::replace(&mut self.path, path);
        let result = inside(self);
        self.path = outer;
        result
    }

    fn constant(&mut self, ident: &syn::Ident, value: &syn::Expr, at: At) -> Id {
        let mark = self.b.mark();
        let name = self.plain(ident);
        let path = self.sym(&format!("{}::{name}", self.path));
        let value = self.fresh(|lower| lower.expr(value));
        self.b.add(mark, Kind::Constant { name, path, value }, at)
    }

    /// What the locals around do not reach into.
    fn fresh<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::take(&mut self.locals);
        let result = inside(self);
        self.locals = outer;
        result
    }

    /// A function. `owner`: the type that it is a method of.
    fn function(
        &mut self,
        attrs: &[syn::Attribute],
        signature: &syn::Signature,
        body: Option<&syn::Block>,
        owner: Option<Name>,
    ) -> Id {
        let mark = self.b.mark();
        let name = self.plain(&signature.ident);
        let path = self.sym(&format!("{}::{name}", self.path));
        let marks = self.marks(attrs);
        self.fresh(|lower| {
            lower.with_generics(&signature.generics, |lower| {
                let params: Vec<Param> = signature.inputs.iter().map(|param| lower.param(param)).collect();
                let returns = lower.returned(&signature.output);
                let first = lower.between(signature.fn_token.span, signature.paren_token.span.close());
                let first = signature.asyncness.map_or(first, |token| join(lower.at(token.span), first));
                let last = body.map_or(first, |body| lower.delimited(&body.brace_token.span));
                let body = body.map(|body| lower.below(&name, |lower| lower.block(body)));
                let is_async = signature.asyncness.is_some();
                let kind = Kind::Function { name, owner, path, params, marks, is_async, returns, body };
                lower.b.add(mark, kind, join(first, last))
            })
        })
    }

    fn param(&mut self, param: &syn::FnArg) -> Param {
        match param {
            syn::FnArg::Receiver(receiver) => {
                let name = self.sym("self");
                self.locals.bind(Sym::clone(&name));
                let ty = match &receiver.kind {
                    syn::ReceiverKind::Typed(_, ty) => self.outermost(ty),
                    _ => self.own.clone(),
                };
                Param { name: Some(name), ty, default: None }
            }
            syn::FnArg::Typed(param) => {
                let binds = self.binds(&param.pat);
                let name = match binds.as_slice() {
                    [name] => Some(Sym::clone(name)),
                    _ => None,
                };
                self.bind(&binds);
                Param { name, ty: self.outermost(&param.ty), default: None }
            }
        }
    }

    /// The type that methods are defined on, with the path that they have in common.
    fn owner(&mut self, ty: &syn::Type) -> (Name, String) {
        let unknown = self.sym("?");
        let name = self.outermost(ty).unwrap_or(Name { text: unknown, full: None });
        let path = match name.full.as_deref().filter(|full| full.starts_with("crate::")) {
            Some(full) => full.to_owned(),
            None => format!("{}::{}", self.path, name.last()),
        };
        (name, path)
    }

    fn an_impl(&mut self, one: &syn::ItemImpl) -> Id {
        let mark = self.b.mark();
        let marks = self.marks(&one.attrs);
        self.with_generics(&one.generics, |lower| {
            let (own, path) = lower.owner(&one.self_ty);
            let bases = one.trait_.iter().map(|(path, ..)| lower.type_name(None, path)).collect();
            let outer = (std::mem::replace(&mut lower.path, path), lower.own.replace(own.clone()));
            let members = one.items.iter().filter_map(|item| lower.impl_item(item, &own)).collect();
            (lower.path, lower.own) = outer;
            let name = lower.sym(own.last());
            let at = lower.between(one.impl_token.span, one.brace_token.span.close());
            lower.b.add(mark, Kind::Type { name, marks, bases, members }, at)
        })
    }

    fn impl_item(&mut self, item: &syn::ImplItem, own: &Name) -> Option<Id> {
        use syn::ImplItem;
        Some(match item {
            ImplItem::Fn(one) => self.function(&one.attrs, &one.sig, Some(&one.block), Some(own.clone())),
            ImplItem::Const(one) => {
                self.constant(&one.ident, &one.expr, self.between(one.const_token.span, one.semi_token.span))
            }
            _ => return None,
        })
    }

    fn a_trait(&mut self, one: &syn::ItemTrait) -> Id {
        let mark = self.b.mark();
        let marks = self.marks(&one.attrs);
        let name = self.plain(&one.ident);
        let full = self.sym(&format!("{}::{name}", self.path));
        let own = Name { text: Sym::clone(&name), full: Some(full) };
        self.with_generics(&one.generics, |lower| {
            let bases = lower.traits(one.supertraits.iter());
            let outer = lower.own.replace(own.clone());
            let members =
                lower.below(&name, |lower| one.items.iter().filter_map(|item| lower.trait_item(item, &own)).collect());
            lower.own = outer;
            let at = lower.between(one.trait_token.span, one.brace_token.span.close());
            lower.b.add(mark, Kind::Type { name, marks, bases, members }, at)
        })
    }

    fn trait_item(&mut self, item: &syn::TraitItem, own: &Name) -> Option<Id> {
        use syn::TraitItem;
        Some(match item {
            TraitItem::Fn(one) => self.function(&one.attrs, &one.sig, one.default.as_ref(), Some(own.clone())),
            TraitItem::Const(one) => {
                let (_, value) = one.default.as_ref()?;
                self.constant(&one.ident, value, self.between(one.const_token.span, one.semi_token.span))
            }
            _ => return None,
        })
    }

    fn a_struct(&mut self, one: &syn::ItemStruct) -> Id {
        let mark = self.b.mark();
        let marks = self.marks(&one.attrs);
        let name = self.plain(&one.ident);
        let (members, last) = self.with_generics(&one.generics, |lower| {
            let members = one.fields.iter().filter_map(|field| lower.field(field)).collect();
            let last = match &one.fields {
                syn::Fields::Named(fields) => fields.brace_token.span.close(),
                syn::Fields::Unnamed(fields) => fields.paren_token.span.close(),
                syn::Fields::Unit => one.ident.span(),
            };
            (members, last)
        });
        let at = self.between(one.struct_token.span, last);
        self.b.add(mark, Kind::Type { name, marks, bases: Vec::new(), members }, at)
    }

    /// A named field: its type tells what is reached through it.
    fn field(&mut self, field: &syn::Field) -> Option<Id> {
        let ident = field.ident.as_ref()?;
        let name = self.plain(ident);
        let ty = self.outermost(&field.ty);
        let at = self.at(ident.span());
        Some(self.leaf(Kind::Let { names: vec![name], value: None, ty }, at))
    }

    fn an_enum(&mut self, one: &syn::ItemEnum) -> Id {
        let mark = self.b.mark();
        let marks = self.marks(&one.attrs);
        let name = self.plain(&one.ident);
        let members = self.below(&name, |lower| {
            one.variants
                .iter()
                .filter_map(|variant| {
                    let (_, value) = variant.discriminant.as_ref()?;
                    Some(lower.constant(&variant.ident, value, lower.at(variant.ident.span())))
                })
                .collect()
        });
        let at = self.between(one.enum_token.span, one.brace_token.span.close());
        self.b.add(mark, Kind::Type { name, marks, bases: Vec::new(), members }, at)
    }

    /// Attributes, doc comments left out.
    pub(super) fn marks(&mut self, attrs: &[syn::Attribute]) -> Vec<Id> {
        let is_mark = |attr: &&syn::Attribute| !attr.path().is_ident("doc");
        attrs.iter().filter(is_mark).map(|attr| self.attribute(&attr.meta)).collect()
    }

    fn attribute(&mut self, meta: &syn::Meta) -> Id {
        let mark = self.b.mark();
        let path = meta.path();
        let of_at = self.path_at(None, path);
        let name = self.type_name(None, path);
        let of = self.leaf(Kind::Name(name), of_at);
        match meta {
            syn::Meta::Path(_) => of,
            syn::Meta::List(list) => {
                let args = self.arguments(list.tokens.clone());
                let at = join(of_at, self.delimiter(&list.delimiter));
                self.b.add(mark, Kind::Call { of, types: Vec::new(), args }, at)
            }
            syn::Meta::NameValue(pair) => {
                let (value, value_at) = self.whole(&pair.value);
                let args = vec![Arg { name: None, value, spread: false }];
                self.b.add(mark, Kind::Call { of, types: Vec::new(), args }, join(of_at, value_at))
            }
        }
    }

    /// A function of a macro's own making: see `rules`.
    pub(super) fn made(&mut self, mark: Mark, name: &str, params: Vec<Param>, body: Id, at: At) -> Id {
        let path = self.sym(&format!("crate::{name}"));
        let name = self.sym(name);
        let kind = Kind::Function {
            name,
            owner: None,
            path,
            params,
            marks: Vec::new(),
            is_async: false,
            returns: None,
            body: Some(body),
        };
        self.b.add(mark, kind, at)
    }

    /// Runs with no locals and no `self` in sight.
    pub(super) fn alone<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        self.fresh(inside)
    }
}
