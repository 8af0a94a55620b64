//! `cfg!(…)` and `#[cfg(…)]`: what holds in the program that is run for real.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, Lit, Meta, Token};

/// Conditions within conditions are looked into so deep.
const DEEPEST: u32 = 16;

/// Whether a condition holds where it counts: neither in tests nor in a debug build, on a machine that serves. None if that
/// depends on the platform, on features and the like.
pub(super) fn holds(tokens: &TokenStream) -> Option<bool> {
    condition(&syn::parse2(tokens.clone()).ok()?, DEEPEST)
}

/// Which of some statements or arms are there: not those whose condition does not hold, and of two that exclude each other
/// (`#[cfg(a)]`, `#[cfg(not(a))]`) the first.
#[derive(Debug, Default)]
pub(super) struct Alternatives {
    /// The conditions of those that were there, as written.
    taken: HashSet<String>,
}

impl Alternatives {
    /// Whether the next one is there. To be asked in order.
    pub(super) fn takes(&mut self, attrs: &[Attribute]) -> bool {
        let lists = attrs.iter().filter_map(|attr| match &attr.meta {
            Meta::List(list) if list.path.is_ident("cfg") => Some(&list.tokens),
            _ => None,
        });
        let conditions: Vec<&TokenStream> = lists.collect();
        let is_denied = |condition: &TokenStream| self.taken.contains(&opposite(condition));
        if conditions.iter().any(|condition| holds(condition) == Some(false) || is_denied(condition)) {
            return false;
        }
        // Two conditions on one: its opposite is not the opposite of either.
        if let [only] = conditions.as_slice() {
            self.taken.insert(only.to_string());
        }
        true
    }
}

/// `not(a)` of `a`, and `a` of `not(a)`, as text.
fn opposite(condition: &TokenStream) -> String {
    match syn::parse2::<Meta>(condition.clone()) {
        Ok(Meta::List(list)) if list.path.is_ident("not") => list.tokens.to_string(),
        _ => quote::quote!(not(#condition)).to_string(),
    }
}

/// What is set for tests, tools and browsers.
fn is_off(name: &str) -> bool {
    matches!(name, "test" | "debug_assertions" | "miri" | "loom" | "madsim" | "fuzzing" | "kani" | "doc" | "docsrs")
        || name.contains("wasm")
}

fn condition(meta: &Meta, depth: u32) -> Option<bool> {
    let depth = depth.checked_sub(1)?;
    match meta {
        Meta::Path(path) => is_off(&path.get_ident()?.to_string()).then_some(false),
        Meta::NameValue(pair) => {
            let Expr::Lit(syn::ExprLit { lit: Lit::Str(value), .. }) = &pair.value else { return None };
            let is_off = match pair.path.get_ident()?.to_string().as_str() {
                // A feature for tests is off.
                "feature" => value.value().contains("test"),
                "target_arch" | "target_family" | "target_os" => value.value().contains("wasm"),
                _ => false,
            };
            is_off.then_some(false)
        }
        Meta::List(list) => {
            let inner = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?;
            let inner = inner.iter().map(|meta| condition(meta, depth));
            if list.path.is_ident("not") {
                return inner.last()?.map(|holds| !holds);
            }
            let decides = list.path.is_ident("any");
            if !decides && !list.path.is_ident("all") {
                return None;
            }
            let all: Vec<Option<bool>> = inner.collect();
            if all.contains(&Some(decides)) {
                return Some(decides);
            }
            (!all.contains(&None)).then_some(!decides)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn what_is_only_for_tests_does_not_hold() {
        for (text, expected) in [
            ("test", Some(false)),
            ("not(test)", Some(true)),
            ("debug_assertions", Some(false)),
            ("any(test, feature = \"testsuite\")", Some(false)),
            ("all(unix, test)", Some(false)),
            ("any(unix, not(test))", Some(true)),
            ("not(target_arch = \"wasm32\")", Some(true)),
            ("any(wasm_browser, loom)", Some(false)),
            ("unix", None),
            ("any(test, feature = \"fast\")", None),
            ("all(unix, not(test))", None),
            ("not(target_os = \"linux\")", None),
            ("version(1, 2)", None),
            ("", None),
        ] {
            assert_eq!(holds(&text.parse().unwrap()), expected, "{text}");
        }
    }
}
