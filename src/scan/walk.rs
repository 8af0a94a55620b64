//! Which files there are: the named paths, the folders among them walked in parallel, in the end sorted by path.
//!
//! The crate `ignore` walks and not `walkdir`: it reads .gitignore files as git does, and on all cores. Tests, which walk
//! explicit trees, use `walkdir`.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use ignore::gitignore::Gitignore;
use ignore::{Match, WalkBuilder, WalkState};

use super::globs::Globs;
use super::left_out::{LeftOut, LeftOutBy};
use super::{ScanError, ScanSettings, contents, place};
use crate::facts::words::in_words;
use crate::facts::{FileKind, Role};
use crate::read::code::Language;

/// Folders that hold what others wrote or tools made.
pub(crate) const SKIPPED: [&str; 4] = ["target", "node_modules", "vendor", ".git"];

/// The ignore file of our own.
const IGNORE_FILE: &str = ".retrylintignore";

/// A file to look at.
#[derive(Debug)]
pub struct Candidate {
    /// Where it lies.
    pub path: PathBuf,
    /// As shown.
    pub shown: String,
    /// Relative to the folder that patterns are relative to; below the named folder if it lies elsewhere.
    pub relative: String,
    /// As what; none for a named file whose name does not say.
    pub kind: Option<FileKind>,
    /// Whether it was named itself.
    pub named: bool,
    /// From its path below the named one.
    pub role: Role,
    /// Whether it was named and begins as a file of facts.
    pub tells: bool,
    /// What kept it from being looked at (a folder that may not be read).
    pub problem: Option<String>,
}

impl Candidate {
    /// Whether it is a file of code.
    pub fn is_code(&self) -> bool {
        self.kind.is_some_and(|kind| Language::of(kind).is_some())
    }
}

/// What there is below the named paths.
#[derive(Debug, Default)]
pub struct Walked {
    /// All files that may hold configuration or code, by path, each once.
    pub candidates: Vec<Candidate>,
    /// The named paths that are left out.
    pub left_out: Vec<LeftOut>,
    /// How many files there are in languages that are not read.
    pub unread: BTreeMap<Cow<'static, str>, usize>,
}

/// Walks the named paths.
pub fn walk(settings: &ScanSettings, include: &Globs, exclude: &Globs) -> Result<Walked, ScanError> {
    let mut roots = Roots::new(settings);
    let mut found = Vec::new();
    let mut left_out = Vec::new();
    let mut unread: BTreeMap<Cow<'static, str>, usize> = BTreeMap::new();
    for root in &settings.paths {
        let about = std::fs::metadata(root)
            .map_err(|error| ScanError::Path { path: root.display().to_string(), message: in_words(&error) })?;
        let parent = root.parent().unwrap_or(root);
        let named = roots.candidate(parent, root.clone());
        let ignored = settings.follow_ignore_files.then(|| roots.ignores(root, about.is_dir())).flatten();
        // Patterns are relative to the base: a folder that lies elsewhere is judged by what is below it.
        let is_judged = !about.is_dir() || whole(&roots.here, root).starts_with(&roots.base);
        // Whatever it is called.
        let tells = !about.is_dir() && contents::begins_as_facts(root);
        let named = Candidate { kind: if tells { Some(FileKind::Json) } else { named.kind }, ..named };
        let by = ignored
            .or_else(|| is_judged.then(|| why_not_taken(&named.relative, include, exclude, about.is_dir())).flatten());
        let by = by.or_else(|| place::language(&named.shown).filter(|_| !about.is_dir()).map(LeftOutBy::language));
        // What `include` takes was decided where facts were written.
        if let Some(by) = by.filter(|by| !(tells && *by == LeftOutBy::Include)) {
            left_out.push(LeftOut::new(named.shown, by));
            continue;
        }
        if about.is_dir() {
            let Below { files: mut below, others } = folder(root, settings, &roots);
            for (relative, language) in others {
                if why_not_taken(&relative, include, exclude, false).is_none() {
                    *unread.entry(language.into()).or_default() += 1;
                }
            }
            below.sort_by(|a, b| a.shown.cmp(&b.shown));
            let mut first = None;
            below.retain(|file| match why_not_taken(&file.relative, include, exclude, false) {
                Some(by) => {
                    first.get_or_insert(by);
                    false
                }
                None => true,
            });
            // Who asks for a folder and hears of no file in it must hear why.
            if let Some(by) = first.filter(|_| below.is_empty()) {
                left_out.push(LeftOut::new(named.shown, LeftOutBy::Below(Box::new(by))));
            }
            found.append(&mut below);
        } else {
            found.push(Candidate { named: true, role: Role::Production, tells, ..named });
        }
    }
    // Of two ways to one file, the one that names it.
    found.sort_by(|a, b| (!a.named, &a.shown).cmp(&(!b.named, &b.shown)));
    // Below one folder no file is met twice, since links are not followed.
    if settings.paths.len() > 1 {
        let mut seen = HashSet::new();
        found.retain(|file| seen.insert(file.path.canonicalize().unwrap_or_else(|_| file.path.clone())));
    }
    found.sort_by(|a, b| a.shown.cmp(&b.shown));
    Ok(Walked { candidates: found, left_out, unread })
}

/// The files of code below a folder that nobody named: what is scanned may refer to what stands in them.
pub fn beside(root: &Path, settings: &ScanSettings) -> Vec<Candidate> {
    let mut found = folder(root, settings, &Roots::new(settings)).files;
    found.retain(|file| file.is_code() && file.role != Role::Test && file.problem.is_none());
    found
}

/// Which patterns leave out a path. A folder may hold what `include` takes although it is not taken itself.
pub fn why_not_taken(relative: &str, include: &Globs, exclude: &Globs, is_dir: bool) -> Option<LeftOutBy> {
    if let Some(pattern) = exclude.which(relative) {
        return Some(LeftOutBy::Exclude(pattern.to_string()));
    }
    (!is_dir && !include.is_empty() && !include.take(relative)).then_some(LeftOutBy::Include)
}

/// What paths are shown and matched relative to.
struct Roots {
    here: PathBuf,
    base: PathBuf,
    /// The ignore files of our own, by the folder that they lie in.
    ignored: HashMap<PathBuf, Gitignore>,
}

impl Roots {
    fn new(settings: &ScanSettings) -> Roots {
        let here = std::env::current_dir().unwrap_or_default();
        let base = settings.base.as_ref().map_or(here.clone(), |base| whole(&here, base));
        Roots { here, base, ignored: HashMap::new() }
    }

    /// A file below a named folder.
    fn candidate(&self, root: &Path, path: PathBuf) -> Candidate {
        let shown = shown(&path, &self.here);
        let whole = whole(&self.here, &path);
        let below = slashes(path.strip_prefix(root).unwrap_or(&path));
        let relative = whole.strip_prefix(&self.base).map_or_else(|_| below.clone(), slashes);
        let (kind, role) = (place::kind(&shown), place::role(&below));
        Candidate { path, shown, relative, kind, named: false, role, tells: false, problem: None }
    }

    /// The line of an ignore file of our own, here or in a folder above, that leaves out a path that was named. What git ignores
    /// may be named, but tools that name every file must not bring back what was left out for us.
    fn ignores(&mut self, named: &Path, is_dir: bool) -> Option<LeftOutBy> {
        let named = whole(&self.here, named);
        let mut answer = Match::None;
        // The nearest folder decides, as in a walk.
        for folder in named.ancestors().skip(1) {
            let rules = self.ignored.entry(folder.to_path_buf()).or_insert_with(|| {
                let file = folder.join(IGNORE_FILE);
                if file.is_file() { Gitignore::new(file).0 } else { Gitignore::empty() }
            });
            answer = rules
                .matched_path_or_any_parents(&named, is_dir)
                .map(|rule| (rule.original().to_string(), shown(&folder.join(IGNORE_FILE), &self.here)));
            if !answer.is_none() || folder.join(".git").exists() {
                break;
            }
        }
        match answer {
            Match::Ignore((line, file)) => Some(LeftOutBy::IgnoreFile(line, file)),
            Match::None | Match::Whitelist(_) => None,
        }
    }
}

/// A path from the root of the file system, without `.` and `..`: what leads up and down again is the same place.
pub fn whole(here: &Path, path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    // Joining leaves an absolute path as it is.
    for part in here.join(path).components() {
        match part {
            Component::ParentDir => {
                whole.pop();
            }
            part => whole.push(part),
        }
    }
    whole
}

/// What lies below a folder, in no order.
#[derive(Default)]
struct Below {
    /// What may be read.
    files: Vec<Candidate>,
    /// What is written in other languages, test code left out: the path that patterns judge, and the language.
    others: Vec<(String, &'static str)>,
}

fn folder(root: &Path, settings: &ScanSettings, roots: &Roots) -> Below {
    let follow = settings.follow_ignore_files;
    let mut walk = WalkBuilder::new(root);
    // No links are followed: a loop ends nowhere, and a file seen twice would be two.
    walk.follow_links(false)
        .hidden(true)
        .ignore(false)
        .git_global(false)
        .git_ignore(follow)
        .git_exclude(follow)
        .parents(follow)
        .require_git(false)
        .threads(settings.threads)
        .filter_entry(|entry| {
            let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
            entry.depth() == 0 || !is_dir || !SKIPPED.iter().any(|name| entry.file_name() == *name)
        });
    if follow {
        walk.add_custom_ignore_filename(IGNORE_FILE);
    }
    let all = Mutex::new(Below::default());
    walk.build_parallel().run(|| {
        Box::new(|entry| {
            let candidate = match entry {
                Ok(entry) => {
                    let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                    is_file.then(|| roots.candidate(root, entry.into_path()))
                }
                Err(error) => unreadable(&error, root, roots),
            };
            if let (Some(candidate), Ok(mut all)) = (candidate, all.lock()) {
                if candidate.kind.is_some() || candidate.problem.is_some() {
                    all.files.push(candidate);
                } else if let Some(language) =
                    place::language(&candidate.shown).filter(|_| candidate.role != Role::Test)
                {
                    all.others.push((candidate.relative, language));
                }
            }
            WalkState::Continue
        })
    });
    all.into_inner().unwrap_or_default()
}

fn unreadable(error: &ignore::Error, root: &Path, roots: &Roots) -> Option<Candidate> {
    // Errors of ignore files and link loops wrap others; only those of a place can be shown at it.
    let (path, cause) = match error {
        ignore::Error::WithPath { path, err } => (path, err),
        ignore::Error::WithDepth { err, .. } => return unreadable(err, root, roots),
        _ => return None,
    };
    let cause = cause.io_error()?;
    if cause.kind() == std::io::ErrorKind::NotFound {
        return None;
    }
    let problem = Some(in_words(cause));
    // Whoever names a folder wants to know whether it can be read.
    let named = path == root;
    Some(Candidate { kind: None, problem, named, ..roots.candidate(root, path.clone()) })
}

/// A path as shown: relative to where the run started if it lies below, `/` between its parts.
pub fn shown(path: &Path, here: &Path) -> String {
    let path = path.strip_prefix(here).unwrap_or(path);
    let mut shown = slashes(path);
    while let Some(rest) = shown.strip_prefix("./") {
        shown = rest.to_string();
    }
    if shown.is_empty() { ".".to_string() } else { shown }
}

/// A path with `/` between its parts.
pub fn slashes(path: &Path) -> String {
    let mut text = String::with_capacity(path.as_os_str().len());
    for part in path.components() {
        // The root is a part of its own.
        if part != Component::RootDir {
            text.push_str(&part.as_os_str().to_string_lossy());
        }
        text.push('/');
    }
    if text.len() > 1 {
        text.pop();
    }
    text
}
