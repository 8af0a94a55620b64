//! Rust syntax into the neutral tree. What comes out of each form stands in the tests.
//!
//! - `x?` is a Branch over `x` with the arm Failure → Exit Return.
//! - What asks for `Ok` or `Err`, by pattern, `is_ok()`, `matches!` or `.ok()`, becomes Success and Failure here; nothing behind
//!   the lowering knows these words. Part of a pattern that a test cannot express (`Ok(Some(0))`) is a guard that is Opaque over
//!   the names and literals in it.
//! - Casts, borrows, dereferences, parentheses, `unsafe` and `const` blocks leave no node; `None` is [`Literal::Null`].
//! - `let (a, b) = (1, f())` are two Lets; what a let-else binds is bound by its Branch.
//! - A labelled *block* is a Block whose label the unit knows: `break 'a` goes on behind it.
//! - Fields of structs are Lets with a type and no value among the members of their Type.
//!
//! [`Literal::Null`]: crate::read::code::tree::Literal::Null

mod cfg;
mod control;
mod exprs;
mod format;
mod inside;
mod items;
mod literals;
mod macros;
mod patterns;
mod rules;
mod scopes;
mod select;
mod stmts;
mod types;

use proc_macro2::Span;

pub(super) use inside::defined_in;

use super::names::{Names, Scope};
use crate::read::code::build::Builder;
use crate::read::code::packages::{Package, PackageId};
use crate::read::code::tree::{At, Id, Kind, Name, Sym, Unit};
use crate::source::FileId;

/// The language of units that come from here.
pub const LANGUAGE: &str = "rust";

/// Adds the items of one parsed range to the unit in the making. `module`: the path of the module that they stand in, inline
/// modules included. `at`: from syn's spans to byte offsets of the whole file.
pub fn items(builder: &mut Builder, names: &Names, module: &str, at: &dyn Fn(Span) -> At, items: &[syn::Item]) {
    let mut lower = Lower::new(builder, names, module, at);
    items.iter().for_each(|item| lower.item(item));
}

/// Reads a whole text. For texts that are known to be harmless: nothing guards against deep nesting.
pub fn read_whole(
    file: FileId,
    source: &str,
    module: &str,
    package: Option<(PackageId, &Package)>,
) -> Result<Unit, syn::Error> {
    let parsed = syn::parse_file(source)?;
    let mut names = Names::new(package.map(|(_, package)| package));
    parsed.items.iter().for_each(|item| names.add(module, item));
    let mut builder = Builder::new(file, LANGUAGE, package.map(|(id, _)| id), module);
    names.tell(&mut builder);
    items(&mut builder, &names, module, &|span| whole(span.byte_range()), &parsed.items);
    Ok(builder.finish())
}

fn whole(range: std::ops::Range<usize>) -> At {
    let clamp = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    At { start: clamp(range.start), end: clamp(range.end) }
}

/// The lowering at one place.
struct Lower<'a> {
    b: &'a mut Builder,
    names: &'a Names,
    to_at: &'a dyn Fn(Span) -> At,
    /// The module.
    module: String,
    /// The path of the item around: `crate::retry::Client::send`; that of the module at its top.
    path: String,
    /// What `Self` is.
    own: Option<Name>,
    /// Locals that are in sight.
    locals: scopes::Locals,
    /// Type parameters that are in sight: never items.
    generics: scopes::Locals,
    /// Imports and items of the blocks around, outermost first.
    blocks: Vec<Scope>,
    /// How many macros are around.
    macros: u32,
}

impl<'a> Lower<'a> {
    fn new(b: &'a mut Builder, names: &'a Names, module: &str, to_at: &'a dyn Fn(Span) -> At) -> Self {
        Lower {
            b,
            names,
            to_at,
            module: module.to_owned(),
            path: module.to_owned(),
            own: None,
            locals: scopes::Locals::default(),
            generics: scopes::Locals::default(),
            blocks: Vec::new(),
            macros: 0,
        }
    }

    /// Where a token stands.
    fn at(&self, span: Span) -> At {
        (self.to_at)(span)
    }

    /// From one token to another.
    fn between(&self, first: Span, last: Span) -> At {
        join(self.at(first), self.at(last))
    }

    /// Between delimiters, themselves included.
    fn delimited(&self, span: &proc_macro2::extra::DelimSpan) -> At {
        self.between(span.open(), span.close())
    }

    fn sym(&mut self, text: &str) -> Sym {
        self.b.sym(text)
    }

    fn leaf(&mut self, kind: Kind, at: At) -> Id {
        self.b.leaf(kind, at)
    }

    /// Something of which only the place is known.
    fn opaque(&mut self, at: At) -> Id {
        self.leaf(Kind::Opaque(Vec::new()), at)
    }
}

/// Where a token stands; a group with its delimiters.
fn whole_of(token: &proc_macro2::TokenTree) -> Span {
    token.span()
}

/// The smallest range over both.
fn join(a: At, b: At) -> At {
    At { start: a.start.min(b.start), end: a.end.max(b.end) }
}

#[cfg(test)]
mod tests;
