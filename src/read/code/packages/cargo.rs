//! Cargo packages: their manifests, what these inherit from the workspace, and what the lock file makes of it.
//!
//! ```text
//! source files ─► nearest Cargo.toml ─► path dependencies, again and again ─► packages by folder ─► dependencies, versions
//! ```

mod manifest;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use rayon::prelude::*;

use super::lock::Lock;
use super::version::least;
use super::{Declared, Dependency, From, Package, PackageId};
use crate::read::code::files::{self, Files, join};
use manifest::{Manifest, Written};

const MANIFEST: &str = "Cargo.toml";
const LOCK: &str = "Cargo.lock";

/// More packages than this behind path dependencies are no project that anybody wrote.
const MOST_BESIDE: usize = 10_000;

/// What was found.
pub struct Found {
    /// The packages, by folder.
    pub packages: Vec<(Package, Declared)>,
    /// Folders with a manifest that describes no package.
    pub others: Vec<String>,
}

/// The packages of source files, and those that they depend on by path.
pub fn gather<'p>(files: &dyn Files, sources: impl Iterator<Item = &'p str>) -> Found {
    let mut places = Places { files, known: HashMap::new() };
    let folders: BTreeSet<&str> = sources.map(files::folder).collect();
    let nearest: BTreeSet<String> = folders.into_iter().filter_map(|folder| places.nearest(folder, MANIFEST)).collect();
    let read = |folder: String| {
        let manifest = read(files, &folder);
        (folder, manifest)
    };
    let mut manifests: BTreeMap<String, Manifest> = nearest.into_par_iter().map(read).collect();

    let mut todo: Vec<String> = manifests.keys().cloned().collect();
    let mut members: BTreeSet<String> = todo.iter().cloned().collect();
    while let Some(folder) = todo.pop() {
        let root = root(&folder, &mut places, &mut manifests);
        let around = places.nearest(&folder, ".git");
        let around = around.as_deref().unwrap_or_else(|| files::folder(root.as_deref().unwrap_or(&folder)));
        let beside = inside(&folder, root.as_deref(), &manifests);
        // What a manifest names elsewhere on the disk is nobody's business.
        for folder in beside.into_iter().filter(|folder| files::is_inside(around, folder)) {
            if members.len() < MOST_BESIDE + manifests.len()
                && !members.contains(&folder)
                && places.has(&folder, MANIFEST)
            {
                manifests.entry(folder.clone()).or_insert_with_key(|folder| self::read(files, folder));
                members.insert(folder.clone());
                todo.push(folder);
            }
        }
    }

    let roots: Vec<Option<String>> = members.iter().map(|folder| root(folder, &mut places, &mut manifests)).collect();
    let (known, others): (Vec<_>, Vec<_>) = members
        .iter()
        .zip(roots)
        .filter_map(|(folder, root)| Some((folder.as_str(), manifests.get(folder)?, root)))
        .partition(|(_, manifest, _)| manifest.name.is_some());
    let others = others.into_iter().map(|(folder, ..)| folder.to_string()).collect();

    let mut packages: Vec<(Package, Declared)> =
        known.par_iter().map(|(folder, manifest, _)| package(files, folder, manifest)).collect();
    let ids: HashMap<&str, PackageId> =
        known.iter().enumerate().map(|(id, (folder, ..))| (*folder, PackageId(id as u32))).collect();
    let libraries: Vec<Arc<str>> = packages.iter().map(|(package, _)| Arc::clone(&package.library_name)).collect();
    let mut locked: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
    for (at, (folder, ..)) in known.iter().enumerate() {
        locked.entry(places.nearest(folder, LOCK)).or_default().push(at);
    }
    let resolved: Vec<(usize, BTreeMap<Arc<str>, Dependency>)> = locked
        .into_par_iter()
        .flat_map_iter(|(lock, members)| {
            let text = lock.and_then(|folder| files.text(&join(&folder, LOCK)?));
            let lock = text.map(|text| Lock::new(&text));
            let one = |at: usize| {
                let (folder, manifest, root) = known.get(at)?;
                let root = root.as_deref().and_then(|root| Some((root, manifests.get(root)?)));
                let scope = Scope { folder, manifest, root, lock: lock.as_ref(), ids: &ids, libraries: &libraries };
                Some((at, scope.dependencies()))
            };
            members.into_iter().filter_map(one).collect::<Vec<_>>()
        })
        .collect();
    for (at, dependencies) in resolved {
        if let Some((package, _)) = packages.get_mut(at) {
            package.dependencies = dependencies;
        }
    }
    Found { packages, others }
}

fn read(files: &dyn Files, folder: &str) -> Manifest {
    join(folder, MANIFEST)
        .and_then(|path| files.text(&path))
        .map_or_else(Manifest::default, |text| Manifest::new(&text))
}

/// What lies where; a folder is looked at once.
struct Places<'f> {
    files: &'f dyn Files,
    known: HashMap<String, bool>,
}

impl Places<'_> {
    fn has(&mut self, folder: &str, name: &str) -> bool {
        let Some(path) = join(folder, name) else { return false };
        *self.known.entry(path).or_insert_with_key(|path| self.files.exists(path))
    }

    /// The nearest folder, this one or around it, that holds a file. A repository ends the search.
    fn nearest(&mut self, folder: &str, name: &str) -> Option<String> {
        for folder in files::ancestors(folder) {
            if self.has(folder, name) {
                return Some(folder.to_string());
            }
            if self.has(folder, ".git") {
                break;
            }
        }
        None
    }
}

/// The folder of the workspace that a package belongs to.
fn root(folder: &str, places: &mut Places<'_>, manifests: &mut BTreeMap<String, Manifest>) -> Option<String> {
    if let Some(written) = manifests.get(folder).and_then(|manifest| manifest.root.as_deref()) {
        let root = join(folder, written)?;
        let files = places.files;
        let manifest = manifests.entry(root.clone()).or_insert_with_key(|root| read(files, root));
        return manifest.workspace.is_some().then_some(root);
    }
    let mut from = Some(folder);
    while let Some(at) = from {
        let nearest = places.nearest(at, MANIFEST)?;
        let files = places.files;
        let manifest = manifests.entry(nearest.clone()).or_insert_with_key(|folder| read(files, folder));
        if manifest.workspace.is_some() {
            return Some(nearest);
        }
        if places.has(&nearest, ".git") {
            return None;
        }
        let around = files::folder(&nearest);
        from = (around.len() < nearest.len()).then(|| folder.get(..around.len())).flatten();
    }
    None
}

/// The folders of path dependencies.
fn inside(folder: &str, root: Option<&str>, manifests: &BTreeMap<String, Manifest>) -> Vec<String> {
    let Some(manifest) = manifests.get(folder) else { return Vec::new() };
    let root = root.and_then(|root| Some((root, manifests.get(root)?)));
    let written = manifest.dependencies.iter();
    written.filter_map(|written| source(written, folder, root)).filter_map(|source| source.folder()).collect()
}

/// A dependency with what it inherits: what is written of it, and the folder that its path starts from.
struct Source<'m> {
    written: &'m Written,
    folder: &'m str,
}

impl Source<'_> {
    fn folder(&self) -> Option<String> {
        join(self.folder, self.written.path.as_deref()?)
    }
}

fn source<'m>(written: &'m Written, folder: &'m str, root: Option<(&'m str, &'m Manifest)>) -> Option<Source<'m>> {
    if !written.inherits {
        return Some(Source { written, folder });
    }
    let (folder, root) = root?;
    let written = root.workspace.as_ref()?.iter().find(|shared| shared.key == written.key)?;
    Some(Source { written, folder })
}

/// What a package is, its dependencies aside.
fn package(files: &dyn Files, folder: &str, manifest: &Manifest) -> (Package, Declared) {
    let (name, at) = manifest.name.clone().unwrap_or_default();
    let here = |path: &str| join(folder, path).filter(|path| files.exists(path)).map(Arc::from);
    let library = match &manifest.library_path {
        Some(path) => here(path),
        None => here("src/lib.rs"),
    };
    let mut programs: Vec<Arc<str>> = Vec::new();
    for (program, path) in &manifest.programs {
        programs.extend(match path {
            Some(path) => here(path),
            None => here(&format!("src/bin/{program}.rs"))
                .or_else(|| here(&format!("src/bin/{program}/main.rs")))
                .or_else(|| here("src/main.rs").filter(|_| *program == *name)),
        });
    }
    if manifest.finds_programs {
        programs.extend(here("src/main.rs"));
        for name in join(folder, "src/bin").map(|folder| files.names(&folder)).unwrap_or_default() {
            let path =
                if name.ends_with(".rs") { format!("src/bin/{name}") } else { format!("src/bin/{name}/main.rs") };
            programs.extend(here(&path));
        }
    }
    programs.sort();
    programs.dedup();
    let library_name = manifest.library_name.as_deref().unwrap_or(&name).replace('-', "_");
    let manifest = join(folder, MANIFEST).unwrap_or_default();
    let package = Package {
        name,
        dir: folder.into(),
        has_binary: !programs.is_empty(),
        library,
        library_name: library_name.into(),
        programs,
        dependencies: BTreeMap::new(),
    };
    (package, Declared { manifest: manifest.into(), name: at })
}

/// What the dependencies of a package are looked up in.
struct Scope<'m> {
    folder: &'m str,
    manifest: &'m Manifest,
    root: Option<(&'m str, &'m Manifest)>,
    lock: Option<&'m Lock>,
    ids: &'m HashMap<&'m str, PackageId>,
    libraries: &'m [Arc<str>],
}

impl Scope<'_> {
    fn dependencies(&self) -> BTreeMap<Arc<str>, Dependency> {
        let mut all = BTreeMap::new();
        for own in &self.manifest.dependencies {
            let Some(source) = source(own, self.folder, self.root) else { continue };
            let (name, dependency) = self.dependency(&own.key, &source);
            // What runs stands before what builds and tests.
            all.entry(name).or_insert(dependency);
        }
        all
    }

    fn dependency(&self, key: &str, source: &Source<'_>) -> (Arc<str>, Dependency) {
        let Written { package, path, requirement, .. } = source.written;
        let own_name = package.as_deref().unwrap_or(key);
        if path.is_some() {
            let id = source.folder().and_then(|folder| self.ids.get(folder.as_str()).copied());
            let library = id.and_then(|id| self.libraries.get(id.0 as usize)).filter(|_| package.is_none());
            let name = library.map_or_else(|| key.replace('-', "_").into(), Arc::clone);
            let from = From::Inside(id);
            return (name, Dependency { package: own_name.into(), from, version: None, locked: false });
        }
        let this = self.manifest.name.as_ref().map_or("", |(name, _)| name);
        let locked = self.lock.and_then(|lock| lock.version(this, own_name, requirement.as_deref()));
        let version = locked.or_else(|| least(requirement.as_deref()?));
        let dependency =
            Dependency { package: own_name.into(), from: From::Outside, version, locked: locked.is_some() };
        (key.replace('-', "_").into(), dependency)
    }
}
