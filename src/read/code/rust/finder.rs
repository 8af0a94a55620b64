//! Finds what paths name in other files, and who calls a function. Whatever is read for that is read once.
//!
//! Threads share a finder. Everything that it keeps follows from the texts alone, so that no answer depends on who asked first.

use std::collections::BTreeSet;
use std::hash::Hash;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;

use super::callers::{self, Index, Vocabulary};
use super::find::{Crate, Hit, Search};
use super::items::{ItemKind, name_of};
use super::source::Source;
use super::{Input, layout};
use crate::read::code::files::{self, Files};
use crate::read::code::packages::{From, PackageId, Packages};
use crate::read::code::project::{Callers, Finder};
use crate::read::code::tree::{Id, Kind, Place, Sym, Unit};
use crate::source::FileId;

/// Longer paths than this name nothing.
const LONGEST: usize = 64;

/// What is made once for each key, by whichever thread needs it first; the others wait.
#[derive(Debug)]
struct Once<K, V>(Mutex<FxHashMap<K, Arc<OnceLock<V>>>>);

impl<K, V> Default for Once<K, V> {
    fn default() -> Self {
        Once(Mutex::default())
    }
}

impl<K: Eq + Hash, V: Clone> Once<K, V> {
    /// Making one value must not need the same one.
    fn get(&self, key: K, make: impl FnOnce() -> V) -> V {
        let slot = {
            let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(all.entry(key).or_default())
        };
        slot.get_or_init(make).clone()
    }
}

/// A path that was asked for: from where, the package, the path.
type Asked = (Arc<[Crate]>, PackageId, String);

/// The files of each package, with their modules.
type Members = FxHashMap<Option<PackageId>, Vec<(FileId, Arc<str>)>>;

/// Finds what paths name.
#[derive(Debug)]
pub struct Modules {
    files: Arc<dyn Files>,
    sources: Once<FileId, Option<Arc<Source>>>,
    items: Once<(FileId, u32), Option<Arc<Unit>>>,
    vocabularies: Once<PackageId, Arc<[(FileId, Vocabulary)]>>,
    indices: Once<FileId, Arc<Index>>,
    /// By the function, and whether all were asked for or none.
    callers: Once<(FileId, u32, bool), Callers>,
    homes: Once<FileId, Arc<[Crate]>>,
    hits: Once<Asked, Option<Hit>>,
    members: OnceLock<Members>,
    dependents: OnceLock<FxHashMap<PackageId, Vec<PackageId>>>,
    shown: Mutex<BTreeSet<FileId>>,
}

impl Modules {
    /// In these files.
    pub fn new(files: Arc<dyn Files>) -> Self {
        Modules {
            files,
            sources: Once::default(),
            items: Once::default(),
            vocabularies: Once::default(),
            indices: Once::default(),
            callers: Once::default(),
            homes: Once::default(),
            hits: Once::default(),
            members: OnceLock::new(),
            dependents: OnceLock::new(),
            shown: Mutex::default(),
        }
    }

    /// A file of the run.
    pub(super) fn source(&self, path: &str) -> Option<Arc<Source>> {
        let file = self.files.number(path)?;
        self.sources.get(file, || {
            let text = self.files.text(path)?;
            Some(Arc::new(Source::new(file, path.into(), text)))
        })
    }

    /// The same by its number.
    pub(super) fn source_of(&self, file: FileId) -> Option<Arc<Source>> {
        self.source(&self.files.path(file)?)
    }

    /// The full path of an item, as its own file has it.
    pub(super) fn full_path(&self, packages: &Packages, source: &Source, item: u32) -> Option<String> {
        let package = packages.of(&source.path).and_then(|id| packages.get(id));
        Some(format!("{}::{}", layout::module(package, &source.path), path(source, item)?))
    }

    /// The files of a package; those of no package for none.
    pub(super) fn files_of(&self, packages: &Packages, package: Option<PackageId>) -> &[(FileId, Arc<str>)] {
        let members = self.members.get_or_init(|| {
            let mut members: FxHashMap<Option<PackageId>, Vec<(FileId, Arc<str>)>> = FxHashMap::default();
            for (file, path) in self.files.sources() {
                members.entry(packages.of(&path)).or_default().push((file, path));
            }
            members
        });
        members.get(&package).map_or(&[], Vec::as_slice)
    }

    /// The packages that depend on one.
    pub(super) fn dependents(&self, packages: &Packages, on: PackageId) -> &[PackageId] {
        let dependents = self.dependents.get_or_init(|| {
            let mut dependents: FxHashMap<PackageId, Vec<PackageId>> = FxHashMap::default();
            for (id, package) in packages.iter() {
                for dependency in package.dependencies.values() {
                    if let From::Inside(Some(on)) = dependency.from {
                        dependents.entry(on).or_default().push(id);
                    }
                }
            }
            dependents
        });
        dependents.get(&on).map_or(&[], Vec::as_slice)
    }

    /// What the files of a package call, mention and define that may hold all of these words.
    pub(super) fn speaking_of(
        &self,
        packages: &Packages,
        package: PackageId,
        words: &[&str],
    ) -> impl Iterator<Item = (FileId, Arc<Index>)> {
        let vocabularies = self.vocabularies.get(package, || {
            let files = self.files_of(packages, Some(package)).iter();
            files.filter_map(|(file, path)| Some((*file, Vocabulary::of(&self.files.text(path)?)))).collect()
        });
        let may = |(_, words_of): &&(FileId, Vocabulary)| words.iter().all(|word| words_of.may_hold(word));
        let files: Vec<FileId> = vocabularies.iter().filter(may).map(|(file, _)| *file).collect();
        files.into_iter().filter_map(|file| Some((file, self.index(file)?)))
    }

    fn index(&self, file: FileId) -> Option<Arc<Index>> {
        let path = self.files.path(file)?;
        Some(
            self.indices
                .get(file, || Arc::new(self.files.text(&path).map_or_else(Index::default, |text| Index::of(&text)))),
        )
    }

    /// The files of a package in which a type has something of that name.
    pub(super) fn with_member(
        &self,
        packages: &Packages,
        package: PackageId,
        owner: &str,
        name: &str,
    ) -> Vec<Arc<Source>> {
        let words = [owner, name];
        let files = self.speaking_of(packages, package, &words);
        let files = files.filter(|(_, index)| index.has_member(owner, name));
        files.filter_map(|(file, _)| self.source(&self.files.path(file)?)).collect()
    }

    /// The tree of one item.
    pub(super) fn unit(&self, packages: &Packages, source: &Source, item: u32) -> Option<Arc<Unit>> {
        self.items.get((source.file, item), || {
            let package = packages.of(&source.path).and_then(|id| Some((id, packages.get(id)?)));
            let module = layout::module(package.map(|(_, package)| package), &source.path);
            let input = Input { file: source.file, text: &source.text, module: &module, package };
            super::item(input, &source.outline, source.names(input), &path(source, item)?).map(Arc::new)
        })
    }

    /// An item, as a place in its tree.
    pub(super) fn place(&self, packages: &Packages, source: &Source, item: u32) -> Option<Place> {
        let unit = self.unit(packages, source, item)?;
        let about = source.outline.get(item)?;
        let name = name_of(about, &source.text);
        let is_it = |id: &Id| match unit.kind(*id) {
            _ if !about.range.covers(unit.at(*id)) => false,
            Kind::Function { name: own, .. } => about.kind == ItemKind::Fn && **own == *name,
            Kind::Constant { name: own, .. } => {
                matches!(about.kind, ItemKind::Const | ItemKind::Static) && **own == *name
            }
            Kind::Type { name: own, .. } => {
                matches!(about.kind, ItemKind::Struct | ItemKind::Enum | ItemKind::Trait) && **own == *name
            }
            _ => false,
        };
        // What stands in an item comes before it.
        let id = unit.ids().map(|(id, _)| id).filter(is_it).last()?;
        self.show(source.file);
        Some(Place { unit, id })
    }

    /// Remembers that spans may point into a file.
    pub(super) fn show(&self, file: FileId) {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).insert(file);
    }

    /// What a path names, seen from a unit.
    pub(super) fn hit(&self, packages: &Packages, from: &Unit, full: &str) -> Option<Hit> {
        let parts: Vec<&str> = full.split("::").take(LONGEST + 1).collect();
        let (first, rest) = parts.split_first().filter(|_| parts.len() <= LONGEST)?;
        let id = from.package?;
        if *first == "crate" {
            let homes = self.homes(packages, from.file, id);
            return self.hits.get((Arc::clone(&homes), id, full.to_owned()), || {
                let mut search = Search::new(self, packages);
                // A module of the library and of a program is one text; other things are looked for in both.
                homes.iter().find_map(|home| search.within(home, rest).ok().flatten())
            });
        }
        let package = packages.get(id)?;
        if package.dependencies.contains_key(*first) || *package.library_name == **first {
            let search = || Search::new(self, packages).in_crate(id, first, rest).ok().flatten();
            return self.hits.get((Arc::default(), id, full.to_owned()), search);
        }
        (!rest.is_empty()).then(|| Hit::Outside(full.to_owned()))
    }

    /// The crates that a file may be part of: of those that reach it, else of all.
    fn homes(&self, packages: &Packages, file: FileId, id: PackageId) -> Arc<[Crate]> {
        self.homes.get(file, || self.find_homes(packages, file, id).into())
    }

    fn find_homes(&self, packages: &Packages, file: FileId, id: PackageId) -> Vec<Crate> {
        let (Some(package), Some(path)) = (packages.get(id), self.files.path(file)) else { return Vec::new() };
        let home = |root: &Arc<str>| Crate { package: id, root: Arc::clone(root) };
        let mut roots = package.library.iter().chain(&package.programs);
        if let Some(root) = roots.clone().find(|root| ***root == *path) {
            return vec![home(root)];
        }
        let all: Vec<Crate> =
            roots.by_ref().filter(|root| layout::below(files::folder(root), &path).is_some()).map(home).collect();
        if all.len() < 2 {
            return all;
        }
        let reaching: Vec<Crate> =
            all.iter().filter(|home| self.reaches(packages, home, package, &path).is_some()).cloned().collect();
        if reaching.is_empty() { all } else { reaching }
    }

    fn reaches(
        &self,
        packages: &Packages,
        home: &Crate,
        package: &crate::read::code::packages::Package,
        path: &str,
    ) -> Option<bool> {
        let module = layout::module(Some(package), path);
        let parts: Vec<&str> = module.split("::").skip(1).collect();
        Search::new(self, packages).reaches(home, &parts, path)
    }
}

/// The path of an item within its file: `inner::Client::send`. None of what has no name.
fn path(source: &Source, item: u32) -> Option<String> {
    let mut names: Vec<&str> = source.outline.around(item).map(|(_, item)| name_of(item, &source.text)).collect();
    names.reverse();
    (!names.iter().any(|name| name.is_empty())).then(|| names.join("::"))
}

impl Finder for Modules {
    fn item(&self, packages: &Packages, from: &Unit, full: &str) -> Option<Place> {
        match self.hit(packages, from, full)? {
            Hit::Item(source, item) => self.place(packages, &source, item),
            Hit::Outside(_) => None,
        }
    }

    fn outside(&self, packages: &Packages, from: &Unit, full: &str) -> Option<Sym> {
        match self.hit(packages, from, full)? {
            Hit::Item(..) => None,
            Hit::Outside(path) => Some(path.into()),
        }
    }

    fn methods(&self, packages: &Packages, from: &Unit, full: &str) -> Vec<Sym> {
        let Some(Hit::Item(source, item)) = self.hit(packages, from, full) else { return Vec::new() };
        let owner = source.outline.get(item).map_or("", |item| name_of(item, &source.text));
        source.methods(owner).map(Sym::from).collect()
    }

    fn callers(&self, packages: &Packages, from: &Unit, full: &str, all_or_none: bool) -> Callers {
        let Some(target) = callers::Target::new(self, packages, from, full) else { return Callers::default() };
        let key = (target.source.file, target.item, all_or_none);
        self.callers.get(key, || target.callers(self, packages, all_or_none))
    }

    fn is_test(&self, packages: &Packages, file: FileId) -> bool {
        let Some(path) = self.files.path(file) else { return false };
        let Some((id, package)) = packages.of(&path).and_then(|id| Some((id, packages.get(id)?))) else { return false };
        let homes = self.homes(packages, file, id);
        let reaching: Vec<bool> =
            homes.iter().filter_map(|home| self.reaches(packages, home, package, &path)).collect();
        !reaching.is_empty() && reaching.iter().all(|in_tests| *in_tests)
    }

    fn texts(&self) -> Vec<(FileId, Arc<str>)> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let text = |file: &FileId| {
            let source = self.source(&self.files.path(*file)?)?;
            Some((*file, Arc::clone(&source.text)))
        };
        shown.iter().filter_map(text).collect()
    }
}
