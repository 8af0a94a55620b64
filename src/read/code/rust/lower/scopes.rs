//! Names in sight: locals, and what they hide.

use rustc_hash::FxHashMap;

use proc_macro2::Span;

use super::super::names::{Path, Within, text};
use super::Lower;
use crate::read::code::tree::{At, Id, Kind, Literal, Name, Sym};

/// Locals in sight, with how often each is bound.
#[derive(Debug, Default)]
pub(super) struct Locals {
    counts: FxHashMap<Sym, usize>,
    bound: Vec<Sym>,
}

impl Locals {
    /// What is bound from now on can be let go of by [`Locals::leave`].
    pub(super) fn enter(&self) -> usize {
        self.bound.len()
    }

    /// Lets go of what was bound since.
    pub(super) fn leave(&mut self, depth: usize) {
        for name in self.bound.drain(depth.min(self.bound.len())..) {
            if let Some(count) = self.counts.get_mut(&name) {
                *count = count.saturating_sub(1);
            }
        }
    }

    /// Binds a name.
    pub(super) fn bind(&mut self, name: Sym) {
        *self.counts.entry(Sym::clone(&name)).or_default() += 1;
        self.bound.push(name);
    }

    /// Whether a name is bound.
    pub(super) fn has(&self, name: &str) -> bool {
        self.counts.get(name).is_some_and(|count| *count > 0)
    }
}

impl Lower<'_> {
    /// What is bound in there is out of sight afterwards.
    pub(super) fn scoped<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let depth = self.locals.enter();
        let result = inner(self);
        self.locals.leave(depth);
        result
    }

    /// Binds names.
    pub(super) fn bind(&mut self, names: &[Sym]) {
        names.iter().for_each(|name| self.locals.bind(Sym::clone(name)));
    }

    /// A path that stands where a type or module is meant: locals do not hide it.
    pub(super) fn type_name(&mut self, qself: Option<&syn::QSelf>, path: &syn::Path) -> Name {
        self.named(qself, path, false)
    }

    /// A path that stands where a value is meant.
    pub(super) fn value_name(&mut self, qself: Option<&syn::QSelf>, path: &syn::Path) -> Name {
        self.named(qself, path, true)
    }

    fn named(&mut self, qself: Option<&syn::QSelf>, path: &syn::Path, is_value: bool) -> Name {
        let mut written = Path::of(path);
        if let Some(qself) = qself {
            if qself.position == 0 {
                // `<Type>::name`
                let Some(of) = self.outermost(&qself.ty) else {
                    return Name { text: self.sym(&written.text()), full: None };
                };
                let rest = written.text();
                let text = self.sym(&format!("{}::{rest}", of.text));
                let full = of.full.map(|full| self.sym(&format!("{full}::{rest}")));
                return Name { text, full };
            }
            written.is_rooted = false;
        }
        let text = self.sym(&written.text());
        let full = self.resolved(&written, is_value).map(|full| self.sym(&full));
        Name { text, full }
    }

    fn resolved(&self, path: &Path, is_value: bool) -> Option<String> {
        let (first, rest) = path.parts.split_first()?;
        let is_hidden = !path.is_rooted
            && (rest.is_empty() && is_value && (first == "self" || self.locals.has(first)) || self.generics.has(first));
        if is_hidden {
            return None;
        }
        if first == "Self" {
            let own = self.own.as_ref()?.full.as_ref()?;
            return Some(if rest.is_empty() { own.to_string() } else { format!("{own}::{}", rest.join("::")) });
        }
        self.names.resolve(path, &Within { module: &self.module, blocks: &self.blocks })
    }

    /// The name of a macro, with its `!`.
    pub(super) fn macro_name(&mut self, path: &syn::Path) -> Name {
        let written = Path::of(path);
        let full = self.names.resolve_macro(&written, &Within { module: &self.module, blocks: &self.blocks });
        let text = self.sym(&format!("{}!", written.text()));
        Name { text, full: full.map(|full| self.sym(&full)) }
    }

    /// A node for a path; `None` is nothing.
    pub(super) fn path(&mut self, qself: Option<&syn::QSelf>, path: &syn::Path) -> Id {
        let at = self.path_at(qself, path);
        let name = self.value_name(qself, path);
        let is_none = name.full.as_deref() == Some("std::option::Option::None");
        self.leaf(if is_none { Kind::Literal(Literal::Null) } else { Kind::Name(name) }, at)
    }

    /// Where a path stands, type arguments included.
    pub(super) fn path_at(&self, qself: Option<&syn::QSelf>, path: &syn::Path) -> At {
        use syn::spanned::Spanned;
        let first = match (qself, path.leading_colon, path.segments.first()) {
            (Some(qself), ..) => qself.lt_token.span,
            (None, Some(colons), _) => colons.spans[0],
            (None, None, Some(segment)) => segment.ident.span(),
            (None, None, None) => Span::call_site(),
        };
        let last = path.segments.last().map_or(first, |segment| match &segment.arguments {
            syn::PathArguments::None => segment.ident.span(),
            syn::PathArguments::AngleBracketed(arguments) => arguments.gt_token.span,
            syn::PathArguments::Parenthesized(arguments) => match &arguments.output {
                syn::ReturnType::Default => arguments.paren_token.span.close(),
                syn::ReturnType::Type(_, ty) => ty.span(),
            },
        });
        self.between(first, last)
    }

    /// A name of a local or a macro's own thing: resolved to nothing.
    pub(super) fn plain(&mut self, ident: &proc_macro2::Ident) -> Sym {
        self.b.sym(&text(ident))
    }
}
