//! Types, as far as they matter: the outermost name.

use super::Lower;
use crate::read::code::tree::Name;

impl Lower<'_> {
    /// The outermost name of a type, borrows and pointers taken off: `Arc` of `&Arc<Client>`, the trait of `impl` and `dyn`.
    pub(super) fn outermost(&mut self, ty: &syn::Type) -> Option<Name> {
        use syn::Type;
        let mut ty = ty;
        loop {
            ty = match ty {
                Type::Group(one) => &one.elem,
                Type::Paren(one) => &one.elem,
                Type::Ptr(one) => &one.elem,
                Type::Reference(one) => &one.elem,
                Type::Path(one) => return Some(self.type_name(one.qself.as_ref(), &one.path)),
                Type::ImplTrait(one) => return self.first_trait(one.bounds.iter()),
                Type::TraitObject(one) => return self.first_trait(one.bounds.iter()),
                _ => return None,
            };
        }
    }

    fn first_trait<'b>(&mut self, mut bounds: impl Iterator<Item = &'b syn::TypeParamBound>) -> Option<Name> {
        let path = bounds.find_map(|bound| match bound {
            syn::TypeParamBound::Trait(bound) => Some(&bound.path),
            _ => None,
        })?;
        Some(self.type_name(None, path))
    }

    /// The traits among bounds.
    pub(super) fn traits<'b>(&mut self, bounds: impl Iterator<Item = &'b syn::TypeParamBound>) -> Vec<Name> {
        bounds
            .filter_map(|bound| match bound {
                syn::TypeParamBound::Trait(bound) => Some(self.type_name(None, &bound.path)),
                _ => None,
            })
            .collect()
    }

    /// The outermost names of type arguments.
    pub(super) fn types(&mut self, arguments: &syn::AngleBracketedGenericArguments) -> Vec<Name> {
        arguments
            .args
            .iter()
            .filter_map(|argument| match argument {
                syn::GenericArgument::Type(ty) => self.outermost(ty),
                _ => None,
            })
            .collect()
    }

    /// The type arguments anywhere in a path.
    pub(super) fn types_of_path(&mut self, path: &syn::Path) -> Vec<Name> {
        let mut types = Vec::new();
        for segment in &path.segments {
            if let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments {
                types.extend(self.types(arguments));
            }
        }
        types
    }

    /// What a function returns; none if nothing.
    pub(super) fn returned(&mut self, output: &syn::ReturnType) -> Option<Name> {
        match output {
            syn::ReturnType::Default => None,
            syn::ReturnType::Type(_, ty) => self.outermost(ty),
        }
    }

    /// Brings type parameters into sight for what is done in there.
    pub(super) fn with_generics<T>(&mut self, generics: &syn::Generics, inner: impl FnOnce(&mut Self) -> T) -> T {
        let depth = self.generics.enter();
        for param in &generics.params {
            let name = match param {
                syn::GenericParam::Type(param) => self.plain(&param.ident),
                syn::GenericParam::Const(param) => self.plain(&param.ident),
                syn::GenericParam::Lifetime(_) => continue,
            };
            self.generics.bind(name);
        }
        let result = inner(self);
        self.generics.leave(depth);
        result
    }
}
