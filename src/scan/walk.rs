//! Which files there are: the named paths, the folders among them walked in parallel, in the end sorted by path.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;

use ignore::gitignore::Gitignore;
use ignore::{Match, WalkBuilder, WalkState};

use super::globs::Globs;
use super::{ScanError, ScanSettings, place};
use crate::facts::words::in_words;
use crate::facts::{FileKind, Role};

/// Folders that hold what others wrote or tools made.
const SKIPPED: [&str; 4] = ["target", "node_modules", "vendor", ".git"];

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
    /// What kept it from being looked at (a folder that may not be read).
    pub problem: Option<String>,
}

/// All files below the named paths that may hold configuration, by path, each once.
pub fn candidates(settings: &ScanSettings, include: &Globs, exclude: &Globs) -> Result<Vec<Candidate>, ScanError> {
    let here = std::env::current_dir().unwrap_or_default();
    let base = settings.base.as_ref().map_or(here.clone(), |base| whole(&here, base));
    let mut roots = Roots { here, base, ignored: HashMap::new() };
    let mut found = Vec::new();
    for root in &settings.paths {
        let about = std::fs::metadata(root)
            .map_err(|error| ScanError::Path { path: root.display().to_string(), message: in_words(&error) })?;
        if settings.follow_ignore_files && roots.ignores(root, about.is_dir()) {
            continue;
        }
        if about.is_dir() {
            folder(root, settings, &roots, &mut found);
        } else {
            let parent = root.parent().unwrap_or(root);
            found.push(Candidate { named: true, role: Role::Production, ..roots.candidate(parent, root.clone()) });
        }
    }
    found.retain(|candidate| is_taken(&candidate.relative, include, exclude));
    // Of two ways to one file, the one that names it.
    found.sort_by(|a, b| (&a.shown, !a.named).cmp(&(&b.shown, !b.named)));
    found.dedup_by(|b, a| a.shown == b.shown);
    Ok(found)
}

/// Whether patterns let a path through.
pub fn is_taken(relative: &str, include: &Globs, exclude: &Globs) -> bool {
    !exclude.take(relative) && (include.is_empty() || include.take(relative))
}

/// What paths are shown and matched relative to.
struct Roots {
    here: PathBuf,
    base: PathBuf,
    /// The ignore files of our own, by the folder that they lie in.
    ignored: HashMap<PathBuf, Gitignore>,
}

impl Roots {
    /// A file below a named folder.
    fn candidate(&self, root: &Path, path: PathBuf) -> Candidate {
        let shown = shown(&path, &self.here);
        let whole = whole(&self.here, &path);
        let below = slashes(path.strip_prefix(root).unwrap_or(&path));
        let relative = whole.strip_prefix(&self.base).map_or_else(|_| below.clone(), slashes);
        let (kind, role) = (place::kind(&shown), place::role(&below));
        Candidate { path, shown, relative, kind, named: false, role, problem: None }
    }

    /// Whether an ignore file of our own, here or in a folder above, leaves out a path that was named. What git ignores
    /// may be named, but tools that name every file must not bring back what was left out for us.
    fn ignores(&mut self, named: &Path, is_dir: bool) -> bool {
        let named = whole(&self.here, named);
        let mut answer = Match::None;
        // The nearest folder decides, as in a walk.
        for folder in named.ancestors().skip(1) {
            let rules = self.ignored.entry(folder.to_path_buf()).or_insert_with(|| {
                let file = folder.join(IGNORE_FILE);
                if file.is_file() { Gitignore::new(file).0 } else { Gitignore::empty() }
            });
            answer = rules.matched_path_or_any_parents(&named, is_dir).map(|_| ());
            if !answer.is_none() || folder.join(".git").exists() {
                break;
            }
        }
        answer.is_ignore()
    }
}

/// A path from the root of the file system, without `.` and `..`: what leads up and down again is the same place.
fn whole(here: &Path, path: &Path) -> PathBuf {
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

fn folder(root: &Path, settings: &ScanSettings, roots: &Roots, found: &mut Vec<Candidate>) {
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
    let all = Mutex::new(Vec::new());
    walk.build_parallel().run(|| {
        Box::new(|entry| {
            let candidate = match entry {
                Ok(entry) => {
                    let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
                    is_file.then(|| roots.candidate(root, entry.into_path())).filter(|file| file.kind.is_some())
                }
                Err(error) => unreadable(&error, root, roots),
            };
            if let Some(candidate) = candidate
                && let Ok(mut all) = all.lock()
            {
                all.push(candidate);
            }
            WalkState::Continue
        })
    });
    found.append(&mut all.into_inner().unwrap_or_default());
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
    Some(Candidate { kind: None, problem, ..roots.candidate(root, path.clone()) })
}

/// A path as shown: relative to where the run started if it lies below, `/` between its parts.
fn shown(path: &Path, here: &Path) -> String {
    let path = path.strip_prefix(here).unwrap_or(path);
    let mut shown = slashes(path);
    while let Some(rest) = shown.strip_prefix("./") {
        shown = rest.to_string();
    }
    if shown.is_empty() { ".".to_string() } else { shown }
}

fn slashes(path: &Path) -> String {
    let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
    let joined = parts.join("/");
    // The root is a part of its own.
    joined.strip_prefix("//").map_or(joined.clone(), |rest| format!("/{rest}"))
}
