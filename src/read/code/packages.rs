//! Packages: which name in code is which package, and which files belong together (contracts.md D-3; rust-crates.md section 0).

mod cargo;
mod lock;
mod version;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use super::files::{self, Files};

pub use version::Version;

/// Index of a package in [`Packages`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageId(pub u32);

/// A package: a Cargo package, later a project, a module.
#[derive(Clone, Debug, PartialEq)]
pub struct Package {
    /// Its name as written in its manifest.
    pub name: Arc<str>,
    /// Its folder, in the paths of [`Files`].
    pub dir: Arc<str>,
    /// Whether it has a program, so that it is a service by itself.
    pub has_binary: bool,
    /// The file that is the root of its library, if it has one: `payments/src/lib.rs`.
    pub library: Option<Arc<str>>,
    /// What the library is called in code: `-` is `_`.
    pub library_name: Arc<str>,
    /// The files that are the roots of its programs.
    pub programs: Vec<Arc<str>>,
    /// What it depends on, by the name that its code uses (renamed packages by their new name, `-` is `_`).
    pub dependencies: BTreeMap<Arc<str>, Dependency>,
}

/// One dependency.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependency {
    /// The package's own name: `tokio-retry`.
    pub package: Arc<str>,
    /// Where it comes from.
    pub from: From,
    /// The version in the lock file; the least one that the requirement allows where there is no lock file.
    pub version: Option<Version>,
    /// Whether `version` is what the lock file says.
    pub locked: bool,
}

/// Where a dependency comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// A registry, or git: what the package is known for.
    Outside,
    /// The workspace or a folder beside it: whatever its name, it is the project's own.
    Inside(Option<PackageId>),
}

/// Where a package says what it is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// The path of its manifest.
    pub manifest: Arc<str>,
    /// The byte range of the name in it.
    pub name: Range<usize>,
}

/// All packages of a run, by folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packages {
    all: Vec<Package>,
    declared: Vec<Declared>,
    /// Folders with a manifest; none for one that describes no package, or cannot be read.
    by_folder: HashMap<Arc<str>, Option<PackageId>>,
}

impl Packages {
    /// Packages from what is known of each.
    pub fn new(all: Vec<Package>) -> Self {
        let ids = (0..all.len() as u32).map(|id| Some(PackageId(id)));
        let by_folder = all.iter().map(|package| Arc::clone(&package.dir)).zip(ids).collect();
        Packages { all, declared: Vec::new(), by_folder }
    }

    /// The packages that these source files belong to, and those beside them that they depend on.
    pub fn gather<'p>(files: &dyn Files, sources: impl Iterator<Item = &'p str>) -> Self {
        let cargo::Found { packages, others } = cargo::gather(files, sources);
        let (all, declared): (Vec<_>, Vec<_>) = packages.into_iter().unzip();
        let mut packages = Packages { declared, ..Packages::new(all) };
        packages.by_folder.extend(others.into_iter().map(|folder| (folder.into(), None)));
        packages
    }

    /// A package.
    pub fn get(&self, id: PackageId) -> Option<&Package> {
        self.all.get(id.0 as usize)
    }

    /// All with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (PackageId, &Package)> {
        self.all.iter().enumerate().map(|(id, package)| (PackageId(id as u32), package))
    }

    /// The package that a file belongs to: the one whose manifest is nearest.
    pub fn of(&self, path: &str) -> Option<PackageId> {
        files::ancestors(files::folder(path)).find_map(|folder| self.by_folder.get(folder)).copied().flatten()
    }

    /// Where a package says its name.
    pub fn declared(&self, id: PackageId) -> Option<&Declared> {
        self.declared.get(id.0 as usize)
    }
}
