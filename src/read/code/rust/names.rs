//! What names in a Rust file mean: `use` items, modules, items of the file, dependencies of its package.
//!
//! Full paths are canonical: the first part is `crate` for what the package itself defines, the *package's own* name (`-` is `_`)
//! for a dependency from outside however the package renames it, the name in code for a member of the workspace and for the
//! package's own library as its programs see it, and `std` for `std`, `core` and `alloc`. Names of the prelude are written
//! out (`std::result::Result::Ok`); primitive types count as modules of `std` (`std::u32::MAX`).

mod scope;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::read::code::build::Builder;
use crate::read::code::packages::{From, Package};
use crate::read::code::tree::{Import, Sym};

pub(super) use scope::{Path, Scope, defined, text};

/// How often an import may lead on to another before it is given up: imports may form circles.
const FURTHEST: u32 = 8;

/// Longer paths than this are not looked into.
const LONGEST: usize = 64;

/// What a file and its package say about names.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// From the name in code to the canonical first part.
    crates: FxHashMap<String, String>,
    /// Whether the package, and so all crates that there are, is known.
    is_packaged: bool,
    /// `macro_rules!` of the file.
    macros: FxHashSet<String>,
    /// By the path of the module; inline modules have their own.
    modules: FxHashMap<String, Scope>,
    /// The modules in the order in which they were first heard of.
    order: Vec<String>,
}

impl Names {
    /// What the package of a file says. Without a package every crate may exist, under the name that the code uses.
    pub fn new(package: Option<&Package>) -> Self {
        let mut names = Names { is_packaged: package.is_some(), ..Names::default() };
        let Some(package) = package else { return names };
        names.crates.insert(package.library_name.to_string(), package.library_name.to_string());
        for (name, dependency) in &package.dependencies {
            let canonical = match dependency.from {
                From::Outside => dependency.package.replace('-', "_"),
                From::Inside(_) => name.to_string(),
            };
            names.crates.insert(name.to_string(), canonical);
        }
        names
    }

    /// What an item of a module says: imports, definitions; inline modules with all that they hold.
    pub fn add(&mut self, module: &str, item: &syn::Item) {
        self.scope(module).add(item);
        if let syn::Item::Macro(syn::ItemMacro { ident: Some(name), .. }) = item {
            self.macros.insert(text(name));
        }
        if let syn::Item::Mod(inline) = item
            && let Some((_, items)) = &inline.content
        {
            let inner = format!("{module}::{}", text(&inline.ident));
            self.scope(&inner);
            items.iter().for_each(|item| self.add(&inner, item));
        }
        if let syn::Item::ExternCrate(one) = item
            && let Some((_, alias)) = &one.rename
            && module == "crate"
            && one.ident != "self"
        {
            let canonical = self.crates.get(&text(&one.ident)).cloned().unwrap_or_else(|| text(&one.ident));
            self.crates.insert(text(alias), canonical);
        }
    }

    /// An item of a module of which no more is known than its name.
    pub fn define(&mut self, module: &str, name: &str) {
        self.scope(module).items.insert(name.to_owned());
    }

    /// The same of a module in a module.
    pub fn define_module(&mut self, module: &str, name: &str) {
        self.scope(module).inner.insert(name.to_owned());
    }

    /// A `macro_rules!`, wherever it stands, without its `!`.
    pub fn define_macro(&mut self, name: &str) {
        self.macros.insert(name.to_owned());
    }

    fn scope(&mut self, module: &str) -> &mut Scope {
        if !self.modules.contains_key(module) {
            self.order.push(module.to_owned());
        }
        self.modules.entry(module.to_owned()).or_default()
    }

    /// Tells the unit what the imports at the top and in inline modules bring in. To be called once per file.
    pub fn tell(&self, builder: &mut Builder) {
        for module in &self.order {
            if let Some(scope) = self.modules.get(module) {
                self.tell_scope(scope, &Within { module, blocks: &[] }, builder);
            }
        }
    }

    /// The same of one scope.
    pub(super) fn tell_scope(&self, scope: &Scope, within: &Within, builder: &mut Builder) {
        for (name, path) in &scope.written {
            let full = self.import(path, within, name.as_deref(), 1);
            let name = name.as_deref().map(|name| builder.sym(name));
            builder.import(Import { name, full: full.as_str().into() });
        }
        for path in &scope.globs {
            let full: Sym = self.import(path, within, None, 1).as_str().into();
            builder.glob(full);
        }
    }

    /// The full path of what is written at a place; none where nothing explains its first part.
    pub(super) fn resolve(&self, path: &Path, within: &Within) -> Option<String> {
        self.look(path, within, None, 0).or_else(|| self.as_written(path))
    }

    /// The full path of a macro, with its `!`.
    pub(super) fn resolve_macro(&self, path: &Path, within: &Within) -> Option<String> {
        if let [name] = path.parts.as_slice() {
            if let Some(Found::Import(blocks, target)) = within.find(name) {
                let within = Within { module: within.module, blocks };
                return Some(self.import(target, &within, Some(name), 1) + "!");
            }
            if self.macros.contains(name) || within.blocks.iter().any(|scope| scope.macros.contains(name)) {
                return Some(format!("crate::{name}!"));
            }
            let target = self.modules.get(within.module)?.leads_to(name)?;
            let outside = Within { module: within.module, blocks: &[] };
            return Some(self.import(target, &outside, Some(name), 1) + "!");
        }
        self.resolve(path, within).map(|path| path + "!")
    }

    /// A path of which nothing is known but that it is one: a crate, if it is not known which there are.
    fn as_written(&self, path: &Path) -> Option<String> {
        let first = path.parts.first()?;
        let is_crate_like = path.parts.len() > 1 && first.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        (!self.is_packaged && is_crate_like).then(|| path.text())
    }

    /// The full path of an import's target, of which `steps`, from 1, have been gone. `name`: what the import binds, which says nothing about its own target.
    fn import(&self, path: &Path, within: &Within, name: Option<&str>, steps: u32) -> String {
        self.look(path, within, name, steps).unwrap_or_else(|| path.text())
    }

    fn look(&self, path: &Path, within: &Within, not: Option<&str>, steps: u32) -> Option<String> {
        if steps > FURTHEST {
            return None;
        }
        let (first, rest) = path.parts.split_first()?;
        if path.is_rooted {
            return self.a_crate(first).map(|first| joined(&first, rest)).or_else(|| Some(path.text()));
        }
        match first.as_str() {
            "crate" => return Some(self.through(joined("crate", rest), steps)),
            "self" => return Some(self.through(joined(within.module, rest), steps)),
            "super" => {
                let ups = 1 + rest.iter().take_while(|part| *part == "super").count();
                let mut module = within.module;
                for _ in 0..ups {
                    module = module.rsplit_once("::").map_or("crate", |(outer, _)| outer);
                }
                return Some(self.through(joined(module, rest.get(ups - 1..).unwrap_or_default()), steps));
            }
            _ => {}
        }
        let is_itself = not == Some(first.as_str());
        match within.find(first).filter(|_| !is_itself) {
            Some(Found::Import(blocks, target)) => {
                let within = Within { module: within.module, blocks };
                return Some(joined(&self.import(target, &within, Some(first), steps + 1), rest));
            }
            Some(Found::Item(path)) => return Some(joined(&format!("{path}::{first}"), rest)),
            None => {}
        }
        let is_itself = is_itself && within.blocks.is_empty();
        if let Some(found) = self.in_module(within.module, first, rest, is_itself, steps) {
            return Some(found);
        }
        // Only imports speak of a crate itself.
        let may_be_crate = !rest.is_empty() || steps > 0;
        if may_be_crate && let Some(first) = self.a_crate(first) {
            return Some(joined(&first, rest));
        }
        self.in_prelude(first).map(|first| joined(&first, rest))
    }

    /// What a module knows by a name: its imports, its items, what it takes in whole from other modules of the file.
    fn in_module(&self, module: &str, name: &str, rest: &[String], not_imports: bool, steps: u32) -> Option<String> {
        if steps > FURTHEST {
            return None;
        }
        let scope = self.modules.get(module)?;
        let within = Within { module, blocks: &[] };
        if scope.has_item(name, !rest.is_empty()) && !scope.aliases.contains_key(name) {
            return Some(self.through(joined(&format!("{module}::{name}"), rest), steps));
        }
        if !not_imports && let Some(target) = scope.leads_to(name) {
            // `use retry::retry;` brings in a function, and `retry::delay` goes on to mean the crate.
            let is_same = target.parts.len() == 2 && target.parts.iter().all(|part| part == name);
            if !(is_same && !rest.is_empty() && self.crates.contains_key(name)) {
                return Some(self.through(joined(&self.import(target, &within, Some(name), steps + 1), rest), steps));
            }
        }
        if scope.items.contains(name) || scope.inner.contains(name) {
            return Some(self.through(joined(&format!("{module}::{name}"), rest), steps));
        }
        if steps > 0 {
            // What leads on from an import is not looked for in globs: these could lead to each other.
            return None;
        }
        // Only from modules of this file, and not on from there: what other files hold is the project's to say.
        scope.globs.iter().take(LONGEST).find_map(|glob| {
            // Where globs lead on to globs the ways multiply: a few steps are enough.
            let from = self.import(glob, &within, None, steps + FURTHEST / 2);
            let there = self.modules.get(&from).filter(|there| !std::ptr::eq(*there, scope))?;
            there.knows(name).then(|| self.through(joined(&format!("{from}::{name}"), rest), steps + 1))
        })
    }

    /// Follows what a module of this file hands on: `crate::inner::Client` where `inner` says `pub use reqwest::Client`.
    fn through(&self, full: String, steps: u32) -> String {
        if steps > FURTHEST {
            return full;
        }
        let parts: Vec<&str> = full.split("::").collect();
        let mut module = String::new();
        for (at, part) in parts.iter().enumerate().take(LONGEST) {
            if at > 0
                && let Some(scope) = self.modules.get(&module)
                && let Some(target) = scope.leads_to(part)
                && (scope.aliases.contains_key(*part) || !scope.has_item(part, at + 1 < parts.len()))
            {
                let within = Within { module: &module, blocks: &[] };
                let head = self.import(target, &within, Some(part), steps + 1);
                let rest: Vec<String> = parts.iter().skip(at + 1).map(|part| (*part).to_owned()).collect();
                return joined(&head, &rest);
            }
            if at > 0 {
                module.push_str("::");
            }
            module.push_str(part);
        }
        full
    }

    fn a_crate(&self, name: &str) -> Option<String> {
        match name {
            "std" | "core" | "alloc" => Some("std".to_owned()),
            _ => self.crates.get(name).cloned(),
        }
    }

    fn in_prelude(&self, name: &str) -> Option<String> {
        let module = match name {
            "Some" | "None" => "std::option::Option",
            "Ok" | "Err" => "std::result::Result",
            "Option" => "std::option",
            "Result" => "std::result",
            "Vec" => "std::vec",
            "Box" => "std::boxed",
            "String" | "ToString" => "std::string",
            "Default" => "std::default",
            "From" | "Into" | "TryFrom" | "TryInto" | "AsRef" | "AsMut" => "std::convert",
            "Iterator" | "IntoIterator" | "DoubleEndedIterator" | "ExactSizeIterator" | "Extend" | "FromIterator" => {
                "std::iter"
            }
            "Clone" => "std::clone",
            "Drop" | "Fn" | "FnMut" | "FnOnce" | "AsyncFn" | "AsyncFnMut" | "AsyncFnOnce" => "std::ops",
            "Future" | "IntoFuture" => "std::future",
            "ToOwned" => "std::borrow",
            "Eq" | "Ord" | "PartialEq" | "PartialOrd" => "std::cmp",
            "Copy" | "Send" | "Sized" | "Sync" | "Unpin" => "std::marker",
            "drop" => "std::mem",
            "bool" | "char" | "str" | "f32" | "f64" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8"
            | "u16" | "u32" | "u64" | "u128" | "usize" => "std",
            _ => return None,
        };
        Some(format!("{module}::{name}"))
    }
}

/// Where a name is read: the module, and the scopes of the blocks around, outermost first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Within<'a> {
    pub(super) module: &'a str,
    pub(super) blocks: &'a [Scope],
}

/// What a block knows by a name.
enum Found<'a> {
    /// An import, and the blocks from which its target is read.
    Import(&'a [Scope], &'a Path),
    /// An item of the function with this path.
    Item(&'a str),
}

impl<'a> Within<'a> {
    /// What the blocks around know by a name, innermost first.
    fn find(&self, name: &str) -> Option<Found<'a>> {
        (0..self.blocks.len()).rev().find_map(|at| {
            let scope = self.blocks.get(at)?;
            match scope.leads_to(name) {
                Some(path) => Some(Found::Import(self.blocks.get(..=at)?, path)),
                None => scope.knows(name).then_some(Found::Item(&scope.path)),
            }
        })
    }
}

fn joined(first: &str, rest: &[String]) -> String {
    let mut path = first.to_owned();
    for part in rest {
        path.push_str("::");
        path.push_str(part);
    }
    path
}

#[cfg(test)]
mod tests;
