//! From a path to the item that it names: from the root of a crate down its modules, through imports, re-exports and aliases.

use std::sync::Arc;

use super::finder::Modules;
use super::items::{Item, ItemKind};
use super::layout::{Home, candidates};
use super::source::{Scope, Source};
use super::uses::Use;
use crate::read::code::packages::{From, PackageId, Packages};

/// Modules and imports that are looked at for one path. Imports may form circles.
const MOST: u32 = 256;
/// Imports that are followed one after the other.
const DEEPEST: u32 = 16;

/// The root of a crate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Crate {
    /// Its package.
    pub package: PackageId,
    /// Its root file.
    pub root: Arc<str>,
}

/// What a path leads to.
#[derive(Clone, Debug)]
pub enum Hit {
    /// An item of a file.
    Item(Arc<Source>, u32),
    /// Something of another package, by its path there.
    Outside(String),
}

impl Hit {
    fn is_same(&self, other: &Hit) -> bool {
        match (self, other) {
            (Hit::Item(source, item), Hit::Item(other, other_item)) => source.file == other.file && item == other_item,
            (Hit::Outside(path), Hit::Outside(other)) => path == other,
            _ => false,
        }
    }
}

/// Several different things are named alike, and which one is meant cannot be told.
#[derive(Debug)]
pub struct Several;

type Looked = Result<Option<Hit>, Several>;

/// A module: of a file, or inline in one.
#[derive(Clone, Debug)]
struct Spot {
    source: Arc<Source>,
    scope: Scope,
    /// Whether the file's modules lie beside it.
    is_main: bool,
    /// Its path from the root of the crate.
    path: Vec<String>,
}

/// One search.
pub struct Search<'a> {
    modules: &'a Modules,
    packages: &'a Packages,
    steps: u32,
}

impl<'a> Search<'a> {
    /// A search that has not begun.
    pub fn new(modules: &'a Modules, packages: &'a Packages) -> Self {
        Search { modules, packages, steps: 0 }
    }

    /// What a path within a crate names. `parts`: what stands behind `crate`.
    pub fn within(&mut self, home: &Crate, parts: &[&str]) -> Looked {
        self.walk(home, parts, 0)
    }

    /// What a path that begins with the name of a crate names, seen from a package.
    pub fn in_crate(&mut self, package: PackageId, name: &str, parts: &[&str]) -> Looked {
        self.other(package, name, parts, 0)
    }

    /// Whether a module of a crate is a file, and, if so, whether only tests have it.
    pub fn reaches(&mut self, home: &Crate, parts: &[&str], file: &str) -> Option<bool> {
        let mut at = vec![(self.root(home)?, false)];
        for part in parts {
            let mut next = Vec::new();
            for (spot, in_tests) in &at {
                for (id, item) in spot.source.named(spot.scope, part) {
                    let in_tests = *in_tests || spot.source.is_test(id);
                    next.extend(self.inside(spot, id, item, part).into_iter().map(|spot| (spot, in_tests)));
                }
            }
            at = next;
        }
        let ends = at.iter().filter(|(spot, _)| spot.scope.is_none() && *spot.source.path == *file);
        ends.map(|(_, in_tests)| *in_tests).min()
    }

    fn root(&self, home: &Crate) -> Option<Spot> {
        let source = self.modules.source(&home.root)?;
        Some(Spot { source, scope: None, is_main: true, path: Vec::new() })
    }

    fn walk(&mut self, home: &Crate, parts: &[&str], depth: u32) -> Looked {
        match self.root(home) {
            Some(root) if depth <= DEEPEST => self.look(home, &root, parts, depth),
            _ => Ok(None),
        }
    }

    /// What `parts` name, seen from a module.
    fn look(&mut self, home: &Crate, spot: &Spot, parts: &[&str], depth: u32) -> Looked {
        self.steps += 1;
        let Some((first, rest)) = parts.split_first().filter(|_| self.steps <= MOST) else { return Ok(None) };
        let items = spot.source.named(spot.scope, first);
        let found =
            if rest.is_empty() { thing(spot, &items)? } else { self.in_items(home, spot, &items, first, rest, depth)? };
        if found.is_some() {
            return Ok(found);
        }
        let uses = spot.source.uses(spot.scope);
        let mut found = None;
        for one in uses.iter().filter(|one| one.name.as_deref() == Some(first)) {
            join(&mut found, self.follow(home, spot, one, rest, depth)?)?;
        }
        if found.is_none() {
            for one in uses.iter().filter(|one| one.name.is_none()) {
                // What is taken from another package whole may hold anything.
                let through = self.follow(home, spot, one, parts, depth)?;
                join(&mut found, through.filter(|hit| matches!(hit, Hit::Item(..))))?;
            }
        }
        Ok(found)
    }

    /// What `rest` names within the modules and types of a name.
    fn in_items(
        &mut self,
        home: &Crate,
        spot: &Spot,
        items: &[(u32, &Item)],
        name: &str,
        rest: &[&str],
        depth: u32,
    ) -> Looked {
        let mut found = None;
        for (id, item) in items {
            for inner in self.inside(spot, *id, item, name) {
                join(&mut found, self.look(home, &inner, rest, depth)?)?;
            }
        }
        let is_type = |item: &Item| matches!(item.kind, ItemKind::Struct | ItemKind::Enum | ItemKind::Trait);
        if let ([member], None) = (rest, &found)
            && items.iter().any(|(_, item)| is_type(item))
        {
            return self.member(home, spot, name, member);
        }
        Ok(found)
    }

    /// What a type has of that name: in its own file, else in any other of its package.
    fn member(&self, home: &Crate, spot: &Spot, owner: &str, name: &str) -> Looked {
        let here = spot.source.members(owner, name);
        if !here.is_empty() {
            return one(&spot.source, &here);
        }
        let mut found = None;
        for source in self.modules.with_member(self.packages, home.package, owner, name) {
            if let Some(hit) = one(&source, &source.members(owner, name))? {
                join(&mut found, Some(hit))?;
            }
        }
        Ok(found)
    }

    /// The modules that an item may be: inline, or the files that are there.
    fn inside(&mut self, spot: &Spot, id: u32, item: &Item, name: &str) -> Vec<Spot> {
        if item.kind != ItemKind::Mod {
            return Vec::new();
        }
        let path: Vec<String> = spot.path.iter().cloned().chain([name.to_owned()]).collect();
        if item.body.is_some() {
            return vec![Spot { scope: Some(id), path, ..spot.clone() }];
        }
        let named = spot.source.path_of(item);
        let inner: Vec<&str> = spot.path.iter().map(String::as_str).collect();
        let inner = inner.get(inner.len() - self.inline_depth(spot)..).unwrap_or_default();
        let home = Home { path: &spot.source.path, is_main: spot.is_main };
        let sources = candidates(home, inner, name, named).into_iter().filter_map(|path| self.modules.source(&path));
        sources
            .map(|source| {
                let is_main = named.is_some() || source.path.ends_with("/mod.rs");
                Spot { source, scope: None, is_main, path: path.clone() }
            })
            .collect()
    }

    /// How many inline modules a spot is in.
    fn inline_depth(&self, spot: &Spot) -> usize {
        spot.scope.map_or(0, |id| spot.source.outline.around(id).count()).min(spot.path.len())
    }

    /// Where an import leads, with what stands behind its name.
    fn follow(&mut self, home: &Crate, spot: &Spot, one: &Use, rest: &[&str], depth: u32) -> Looked {
        let path: Vec<&str> = one.path.iter().map(String::as_str).chain(rest.iter().copied()).collect();
        let Some((first, behind)) = path.split_first() else { return Ok(None) };
        let module: Vec<&str> = spot.path.iter().map(String::as_str).collect();
        let from = |base: &[&str], rest: &[&str]| -> Vec<String> {
            base.iter().chain(rest).map(|part| (*part).to_owned()).collect()
        };
        let absolute = match *first {
            _ if one.is_rooted => None,
            "crate" => Some(from(&[], behind)),
            "self" => Some(from(&module, behind)),
            "super" => {
                let ups = path.iter().take_while(|part| **part == "super").count();
                let base = module.get(..module.len().saturating_sub(ups)).unwrap_or_default();
                Some(from(base, path.get(ups..).unwrap_or_default()))
            }
            first if self.has(spot, first, one) => Some(from(&module, &path)),
            _ => None,
        };
        match absolute {
            Some(parts) => {
                let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
                self.walk(home, &parts, depth + 1)
            }
            None => self.other(home.package, first, behind, depth + 1),
        }
    }

    /// Whether a module knows a name other than by this import.
    fn has(&self, spot: &Spot, name: &str, not: &Use) -> bool {
        let is_other = |one: &Use| one != not && one.name.as_deref() == Some(name);
        !spot.source.named(spot.scope, name).is_empty() || spot.source.uses(spot.scope).iter().any(is_other)
    }

    fn other(&mut self, from: PackageId, name: &str, parts: &[&str], depth: u32) -> Looked {
        let outside = |first: &str| {
            let path: Vec<&str> = std::iter::once(first).chain(parts.iter().copied()).collect();
            Ok(Some(Hit::Outside(path.join("::"))))
        };
        let packages = self.packages;
        let Some(package) = packages.get(from) else { return Ok(None) };
        let dependency = package.dependencies.get(name);
        let id = match dependency.map(|dependency| dependency.from) {
            None if *package.library_name == *name => from,
            None if matches!(name, "std" | "core" | "alloc") => return outside("std"),
            None => return Ok(None),
            Some(From::Outside) => {
                return outside(&dependency.map(|one| one.package.replace('-', "_")).unwrap_or_default());
            }
            Some(From::Inside(None)) => return Ok(None),
            Some(From::Inside(Some(id))) => id,
        };
        let Some(root) = packages.get(id).and_then(|package| package.library.clone()) else { return Ok(None) };
        self.walk(&Crate { package: id, root }, parts, depth)
    }
}

/// The one thing among items of a name that is no module.
fn thing(spot: &Spot, items: &[(u32, &Item)]) -> Looked {
    let is_thing = |kind| !matches!(kind, ItemKind::Mod | ItemKind::Type | ItemKind::ExternCrate | ItemKind::Use);
    let things: Vec<(u32, &Item)> = items.iter().copied().filter(|(_, item)| is_thing(item.kind)).collect();
    one(&spot.source, &things)
}

fn one(source: &Arc<Source>, items: &[(u32, &Item)]) -> Looked {
    match items {
        [] => Ok(None),
        [(id, _)] => Ok(Some(Hit::Item(Arc::clone(source), *id))),
        _ => Err(Several),
    }
}

/// Adds what was found to what is known already.
fn join(known: &mut Option<Hit>, found: Option<Hit>) -> Result<(), Several> {
    match (&known, found) {
        (Some(known), Some(found)) if !known.is_same(&found) => Err(Several),
        (None, found) => {
            *known = found;
            Ok(())
        }
        _ => Ok(()),
    }
}
