//! Files of code: to which packages they belong, what lies beside them, and the facts in each.
//!
//! Every file of code has a number, whether the prefilter lets it be read or not: what another file refers to may stand in it.

use std::collections::{BTreeMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::contents::{self, Contents};
use super::disk::Disk;
use super::walk::{Candidate, beside, shown, slashes, whole};
use super::{BUG, Environments, ScanSettings, data, problem};
use crate::facts::{Facts, FileKind, Role, Service, ServiceSource};
use crate::read::code::Language;
use crate::read::code::catalogue::Catalogue;
use crate::read::code::files::{self, Files};
use crate::read::code::languages::Wanted;
use crate::read::code::packages::{PackageId, Packages};
use crate::read::code::project::Project;
use crate::read::code::rust::Input;
use crate::source::{FileId, Span};

/// A file of code. There may be a hundred thousand of these.
pub struct CodeFile {
    /// Where it lies, as the packages know it.
    pub whole: Arc<str>,
    /// As shown; the same text where it is the same.
    pub shown: Arc<str>,
    pub kind: FileKind,
    pub environment: Option<Arc<str>>,
    role: Role,
    pub named: bool,
    /// Where it lies, if that is not `whole` to the letter.
    path: Option<PathBuf>,
    /// Whether it is only there for others to refer to.
    is_beside: bool,
}

/// The manifest of a package that is a service by itself.
pub struct Manifest {
    pub shown: String,
    pub environment: Option<Arc<str>>,
    pub role: Role,
    pub text: Arc<str>,
    service: Service,
}

/// The code of a run.
#[derive(Default)]
pub struct Code {
    pub packages: Packages,
    pub files: Vec<CodeFile>,
    pub manifests: Vec<Manifest>,
    /// What standard input holds, if it is code, and the file that it stands in for.
    pub stdin: Option<(Arc<str>, Contents)>,
}

/// What places a file.
struct Placing<'a> {
    here: PathBuf,
    settings: &'a ScanSettings,
    environments: &'a Environments,
}

impl Placing<'_> {
    fn file(&self, candidate: Candidate, is_beside: bool) -> Option<CodeFile> {
        let Candidate { path, shown, relative, kind, named, role, .. } = candidate;
        let whole: Arc<str> = slashes(&whole(&self.here, &path)).into();
        Some(CodeFile {
            shown: if shown == *whole { Arc::clone(&whole) } else { shown.into() },
            path: Some(path).filter(|path| path.to_str() != Some(&whole)),
            whole,
            kind: kind?,
            environment: self.environments.of(&relative),
            role,
            named,
            is_beside,
        })
    }
}

impl Code {
    /// Finds out what belongs to these files. `stdin`: a file of code that is not on the disk.
    pub fn gather(
        candidates: Vec<Candidate>,
        stdin: Option<(&str, &[u8])>,
        settings: &ScanSettings,
        environments: &Environments,
    ) -> Code {
        let here = std::env::current_dir().unwrap_or_default();
        let placing = Placing { here, settings, environments };
        let files = candidates.into_iter().filter_map(|candidate| placing.file(candidate, false)).collect();
        let mut code = Code { files, ..Code::default() };
        if let Some((name, bytes)) = stdin
            && let Some(file) = placing.file(data::stdin(name), false)
        {
            code.stdin = Some((Arc::clone(&file.whole), contents::given(bytes, settings.max_file_size, |_| true)));
            code.files.push(file);
        }
        if code.files.is_empty() {
            return code;
        }
        let disk = code.disk(settings);
        code.packages = Packages::gather(&disk, code.files.iter().map(|file| &*file.whole));
        code.add_beside(&placing);
        code.manifests = manifests(&code.packages, &code.files, &disk, &placing);
        code
    }

    /// Adds the files of packages that are not scanned as a whole: one file of them was named, or another depends on them.
    fn add_beside(&mut self, placing: &Placing<'_>) {
        let folders = placing.settings.paths.iter().filter(|path| path.is_dir());
        let scanned: Vec<PathBuf> = folders.map(|path| whole(&placing.here, path)).collect();
        let is_scanned = |folder: &str| scanned.iter().any(|root| Path::new(folder).starts_with(root));
        let roots = self.packages.iter().flat_map(|(_, package)| {
            // A root that lies elsewhere says nothing about what is beside it.
            let roots = package.library.iter().chain(&package.programs);
            roots.filter(|root| files::is_inside(&package.dir, root))
        });
        let folders: HashSet<&str> =
            roots.map(|root| files::folder(root)).filter(|folder| !is_scanned(folder)).collect();
        if folders.is_empty() {
            return;
        }
        let mut known: HashSet<Arc<str>> = self.files.iter().map(|file| Arc::clone(&file.whole)).collect();
        let found = folders.iter().flat_map(|folder| beside(Path::new(folder), placing.settings));
        let found = found.filter_map(|candidate| placing.file(candidate, true));
        let more: Vec<CodeFile> = found.filter(|file| known.insert(Arc::clone(&file.whole))).collect();
        self.files.extend(more);
    }

    fn disk(&self, settings: &ScanSettings) -> Disk {
        let given = self.stdin.as_ref().and_then(|(path, contents)| match contents {
            Contents::Text(text) => Some((Arc::clone(path), text.as_str().into())),
            Contents::Unreadable { .. } => None,
        });
        Disk::new(settings.max_file_size, given)
    }

    /// The project, once every file has its number.
    pub fn project(self, numbers: impl Iterator<Item = (Arc<str>, FileId)>, settings: &ScanSettings) -> Project {
        let disk: Arc<dyn Files> = Arc::new(self.disk(settings).numbered(numbers));
        let catalogue = Catalogue::new(&settings.read.libraries);
        let project = Project::new(self.packages).looking_for(Arc::new(catalogue));
        crate::read::code::languages::LANGUAGES
            .iter()
            .fold(project, |project, language| project.with(language.name, (language.finder)(Arc::clone(&disk))))
    }
}

/// The manifests of packages with a program, as files of the run.
fn manifests(packages: &Packages, files: &[CodeFile], disk: &Disk, placing: &Placing<'_>) -> Vec<Manifest> {
    let here = &placing.here;
    let base = placing.settings.base.as_ref().map_or_else(|| here.clone(), |base| whole(here, base));
    let mut of: BTreeMap<PackageId, Vec<&CodeFile>> = BTreeMap::new();
    for file in files.iter().filter(|file| !file.is_beside) {
        if let Some(id) = packages.of(&file.whole) {
            of.entry(id).or_default().push(file);
        }
    }
    let manifest = |(id, files): (PackageId, Vec<&CodeFile>)| {
        let package = packages.get(id).filter(|package| package.has_binary)?;
        let declared = packages.declared(id)?;
        let text = disk.text(&declared.manifest)?;
        // The folder as the files in it are shown, which may be another way to it.
        let folder = files.first().and_then(|first| {
            let below = first.whole.strip_prefix(&*package.dir)?.trim_start_matches('/');
            first.shown.strip_suffix(below).map(str::to_owned)
        });
        let paths = match &folder {
            Some(folder) => vec![format!("{}**", globset::escape(folder)).into()],
            // It lies around where the run started: all that is shown without a folder before it is in there.
            None if here.starts_with(&*package.dir) => vec!["**".into(), inside(&package.dir)],
            None => vec![inside(&shown(Path::new(&*package.dir), here))],
        };
        let place = Path::new(&*declared.manifest);
        let shown = folder.map_or_else(|| shown(place, here), |folder| folder + files::name(&declared.manifest));
        let relative = place.strip_prefix(&base).map_or_else(|_| shown.clone(), slashes);
        let is_example = files.iter().all(|file| file.role == Role::Example);
        let at = Span::new(FileId(0), declared.name.clone());
        let mut service = Service::new(Arc::clone(&package.name), at, ServiceSource::Package);
        service.paths = paths;
        let role = if is_example { Role::Example } else { Role::Production };
        Some(Manifest { shown, environment: placing.environments.of(&relative), role, text, service })
    };
    of.into_iter().filter_map(manifest).collect()
}

/// Everything in a folder.
fn inside(folder: &str) -> Arc<str> {
    format!("{}/**", globset::escape(folder)).into()
}

impl Manifest {
    /// The service that it declares.
    pub fn facts(&self, id: FileId) -> Facts {
        let mut service = self.service.clone();
        service.span.file = id;
        Facts { services: vec![service], ..Facts::default() }
    }
}

/// What came of one file.
pub struct Read {
    pub facts: Facts,
    /// Its text, if there are facts in it.
    pub text: Option<Arc<str>>,
    /// How many bytes it has; none if it was not looked at.
    pub bytes: Option<u64>,
    /// What it turned out to be for.
    pub role: Role,
}

/// What reading a file needs besides the file.
pub struct Reader<'a> {
    pub project: &'a Project,
    pub settings: &'a ScanSettings,
    pub stdin: Option<(Arc<str>, Contents)>,
}

impl CodeFile {
    /// The facts of a file.
    pub fn read(&self, id: FileId, reader: &Reader<'_>) -> Read {
        let CodeFile { role, named, .. } = *self;
        let nothing = |bytes| Read { facts: Facts::default(), text: None, bytes, role };
        let Some(language) = Language::of(self.kind).filter(|_| !self.is_beside) else {
            return nothing(None);
        };
        let packages = &reader.project.packages;
        let package = packages.of(&self.whole).and_then(|id| Some((id, packages.get(id)?)));
        let words = &reader.project.search(language.name, package.map(|(id, _)| id)).words;
        let max = reader.settings.max_file_size;
        let contents = match &reader.stdin {
            Some((whole, contents)) if *whole == self.whole => contents.clone(),
            _ => {
                let path = self.path.as_deref().unwrap_or_else(|| Path::new(&*self.whole));
                contents::read(path, max, |text| words.is_match(text))
            }
        };
        match contents {
            Contents::Unreadable { message, matters, size } => {
                let facts = if matters || named { problem(id, message, false) } else { Facts::default() };
                Read { facts, bytes: Some(size), ..nothing(None) }
            }
            Contents::Text(text) => {
                let bytes = Some(text.len() as u64);
                // A named file is read in any case: whoever names it wants to know whether it can be read.
                if reader.settings.prefilter && !named && !words.is_match(&text) {
                    return nothing(bytes);
                }
                let module = (language.module)(package.map(|(_, package)| package), &self.whole);
                let input = Input { file: id, text: &text, module: &module, package };
                let wanted = Wanted {
                    problems: named,
                    tests: reader.settings.include_tests,
                    whatever_it_needs: !reader.settings.prefilter,
                };
                let facts = catch_unwind(AssertUnwindSafe(|| reader.project.read(language, input, wanted)))
                    .unwrap_or_else(|_| problem(id, BUG.to_string(), true));
                if facts == Facts::default() {
                    return nothing(bytes);
                }
                let is_test = !named && reader.project.is_test(language.name, id);
                if is_test && !reader.settings.include_tests {
                    return nothing(bytes);
                }
                let role = if is_test { Role::Test } else { role };
                Read { facts, text: Some(text.into()), bytes, role }
            }
        }
    }
}
