//! The scan: what is there, which of it speaks of retries, and the facts in it.
//!
//! ```text
//! paths ─► walk ─► data: read once ─► prefilter ─► parse (all cores) ─┐
//!            └───► code: packages, files beside them ─────────────────┴► number by path ─► facts ─► join
//!                                                    files of facts that were named ─────────────────┘
//! ```
//!
//! The result is the same for any number of threads: files are numbered in the order of their paths before any fact is
//! made, and facts are put together in that order.

mod code;
mod contents;
mod data;
mod disk;
mod globs;
mod left_out;
mod place;
pub mod recorded;
mod walk;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::facts::{Facts, File, FileKind, Problem, Role};
use crate::read::ReadSettings;
use crate::read::code::languages;
use crate::source::{FileId, Source, Sources, Span};
use code::{Code, CodeFile, Manifest, Reader};
use data::{Kept, Looked};
pub use globs::Globs;
pub(crate) use globs::anchored;
pub use left_out::{LeftOut, LeftOutBy};
use walk::Candidate;
pub use walk::slashes;
pub(crate) use walk::{SKIPPED, whole};

/// What to scan, and how.
#[derive(Clone, Debug)]
pub struct ScanSettings {
    /// Files and folders.
    pub paths: Vec<PathBuf>,
    /// A file's text instead, with the name it goes by.
    pub stdin: Option<(String, Vec<u8>)>,
    /// Only what these patterns take; everything if empty. They hold for named files too.
    pub include: Vec<String>,
    /// Nothing that these patterns take. They hold for named files too.
    pub exclude: Vec<String>,
    /// What patterns are relative to: the folder of retrylint.toml; where the run started if unset.
    pub base: Option<PathBuf>,
    /// Whether .gitignore and .retrylintignore are followed.
    pub follow_ignore_files: bool,
    /// Larger files are not read.
    pub max_file_size: u64,
    /// Threads; 0 for one per core.
    pub threads: usize,
    /// Whether files without any of the dialects' words are left unparsed, and code in which no site may stand. Off only to show
    /// that it changes nothing.
    pub prefilter: bool,
    /// Whether test code is read too.
    pub include_tests: bool,
    /// Environments by name, with the patterns of their paths; they win over what paths say by themselves.
    pub environments: Vec<(String, Vec<String>)>,
    /// Settings that change what files mean.
    pub read: ReadSettings,
}

impl Default for ScanSettings {
    fn default() -> Self {
        ScanSettings {
            paths: vec![PathBuf::from(".")],
            stdin: None,
            include: Vec::new(),
            exclude: Vec::new(),
            base: None,
            follow_ignore_files: true,
            // Dumps of a proxy's configuration have tens of megabytes.
            max_file_size: 64 << 20,
            threads: 0,
            prefilter: true,
            include_tests: false,
            environments: Vec::new(),
            read: ReadSettings::default(),
        }
    }
}

/// Everything that was found.
#[derive(Debug, Default)]
pub struct Scan {
    /// The files that facts point into.
    pub sources: Sources,
    /// The facts of each file; `files` has the same numbers as `sources`.
    pub facts: Facts,
    /// What was looked at, for the summary.
    pub counts: Counts,
}

/// What was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Looked"))]
pub struct Counts {
    /// Files by kind, those without any fact included.
    pub files: BTreeMap<FileKind, usize>,
    /// Their bytes.
    pub bytes: u64,
    /// Files of test code that were left out.
    pub tests: usize,
    /// Paths that were named and are left out all the same.
    pub left_out: Vec<LeftOut>,
    /// Files in languages that are not read, below the named folders.
    pub unread: BTreeMap<Cow<'static, str>, usize>,
}

impl Counts {
    fn add(&mut self, kind: Option<FileKind>, bytes: u64) {
        if let Some(kind) = kind {
            *self.files.entry(kind).or_default() += 1;
        }
        self.bytes += bytes;
    }

    /// How many files were looked at.
    pub fn total(&self) -> usize {
        self.files.values().fold(0, |sum, count| sum.saturating_add(*count))
    }
}

/// Why there is nothing to scan: the command line or the configuration is wrong.
#[derive(Debug, thiserror::Error)]
pub enum ScanError {
    /// A named path.
    #[error("cannot read {path}: {message}")]
    Path {
        /// As named.
        path: String,
        /// Why.
        message: String,
    },
    /// A pattern.
    #[error("`{pattern}` is not a path pattern: {message}")]
    Glob {
        /// As written.
        pattern: String,
        /// Why.
        message: String,
    },
    /// A file of facts.
    #[error("cannot read the facts in {path}: {message}")]
    Facts {
        /// As shown.
        path: String,
        /// Why.
        message: String,
    },
    /// The machine has no threads to give.
    #[error("cannot start threads: {0}")]
    Threads(String),
}

/// The environments that the settings name, with the paths in them.
struct Environments(Vec<(Arc<str>, Globs)>);

impl Environments {
    fn new(settings: &ScanSettings) -> Result<Self, ScanError> {
        let all = settings.environments.iter().map(|(name, paths)| Ok((name.as_str().into(), Globs::new(paths)?)));
        Ok(Environments(all.collect::<Result<_, ScanError>>()?))
    }

    /// The environment of a path.
    fn of(&self, relative: &str) -> Option<Arc<str>> {
        self.0.iter().find(|(_, paths)| paths.take(relative)).map(|(name, _)| Arc::clone(name))
    }
}

/// A file with a number.
enum Entry {
    Data(Kept),
    Code(CodeFile),
    Manifest(Box<Manifest>),
}

const BUG: &str = "retrylint itself failed on this file, which is a bug; please report it with the file";

/// Scans. The run goes on over files that cannot be read: each is a [`Problem`]. What needs the facts of all files is left to
/// [`read::finish`](crate::read::finish).
///
/// # Errors
/// If a named path is not there or is a file of facts that cannot be read, or a pattern is none.
pub fn scan(settings: &ScanSettings) -> Result<Scan, ScanError> {
    let include = Globs::new(&settings.include)?;
    let exclude = Globs::new(&settings.exclude)?;
    let environments = Environments::new(settings)?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(settings.threads)
        .stack_size(languages::STACK)
        .build()
        .map_err(|error| ScanError::Threads(error.to_string()))?;
    let walk::Walked { mut candidates, left_out, unread } = walk::walk(settings, &include, &exclude)?;
    let mut counts = Counts { left_out, unread, ..Counts::default() };
    if !settings.include_tests {
        let all = candidates.len();
        candidates.retain(|candidate| candidate.role != Role::Test);
        counts.tests = all - candidates.len();
    }
    let mut stdin = settings.stdin.as_ref().map(|(name, bytes)| (name.as_str(), bytes.as_slice()));
    let by = |name: &str| {
        let patterns = walk::why_not_taken(name, &include, &exclude, false);
        patterns.or_else(|| place::language(name).map(LeftOutBy::language))
    };
    if let Some((name, bytes)) = stdin
        && let Some(by) = by(name)
        && !(by == LeftOutBy::Include && recorded::begins(bytes))
    {
        counts.left_out.push(LeftOut::new(name, by));
        stdin = None;
    }
    let (data_stdin, code_stdin) =
        if stdin.is_some_and(|(name, _)| data::stdin(name).is_code()) { (None, stdin) } else { (stdin, None) };
    let (code, data): (Vec<Candidate>, Vec<Candidate>) = candidates.into_iter().partition(Candidate::is_code);
    let looked = || {
        let looked: Vec<Looked> = data.into_par_iter().map(|candidate| data::look(candidate, settings)).collect();
        let stdin = data_stdin.map(|(name, bytes)| data::look_at_stdin(name, bytes, settings));
        looked.into_iter().chain(stdin).collect::<Vec<_>>()
    };
    let (looked, code) = pool.install(|| (looked(), Code::gather(code, code_stdin, settings, &environments)));
    let (mut kept, mut recorded) = (Vec::new(), Vec::new());
    for looked in looked {
        counts.add(looked.kind, looked.bytes);
        counts.left_out.extend(looked.left_out);
        kept.extend(looked.kept);
        recorded.extend(looked.recorded?);
    }
    counts.left_out = left_out::folded(counts.left_out);
    let scan = pool.install(|| put_together(kept, code, counts, settings, &environments));
    Ok(if recorded.is_empty() { scan } else { recorded::join(scan, recorded) })
}

/// Facts that say nothing but that a file cannot be read.
fn problem(id: FileId, message: String, recognised: bool) -> Facts {
    let problem = Problem { span: Span::new(id, 0..0), message, partial: false, recognised, template: false };
    Facts { problems: vec![problem], ..Facts::default() }
}

/// A file with everything that came of it.
struct Done {
    file: File,
    text: Option<Arc<str>>,
    facts: Option<Box<Facts>>,
    /// Of code: that it was looked at, and its size.
    bytes: Option<u64>,
}

/// Numbers the files by path, reads the code and makes facts of everything.
fn put_together(
    kept: Vec<Kept>,
    mut code: Code,
    mut counts: Counts,
    settings: &ScanSettings,
    environments: &Environments,
) -> Scan {
    let data_paths: HashSet<String> = kept.iter().map(|kept| kept.shown.clone()).collect();
    let mut entries: Vec<Entry> = kept.into_iter().map(Entry::Data).collect();
    entries.extend(std::mem::take(&mut code.files).into_iter().map(Entry::Code));
    let manifests = std::mem::take(&mut code.manifests);
    // A manifest that is there as a file of data has a number already.
    let (known, manifests): (Vec<_>, Vec<_>) =
        manifests.into_iter().partition(|manifest| data_paths.contains(&manifest.shown));
    let known: HashMap<String, Manifest> = known.into_iter().map(|one| (one.shown.clone(), one)).collect();
    entries.extend(manifests.into_iter().map(Box::new).map(Entry::Manifest));
    entries.sort_by(|a, b| a.shown().cmp(b.shown()));

    let numbers = entries.iter().enumerate().filter_map(|(id, entry)| match entry {
        Entry::Code(file) => Some((Arc::clone(&file.whole), FileId(id as u32))),
        Entry::Data(_) | Entry::Manifest(_) => None,
    });
    let stdin = code.stdin.clone();
    let project = code.project(numbers, settings);
    let reader = Reader { project: &project, settings, stdin };
    let done: Vec<Done> = entries
        .into_par_iter()
        .enumerate()
        .map(|(id, entry)| entry.read(FileId(id as u32), &reader, &known, environments))
        .collect();

    let empty: Arc<str> = "".into();
    let mut found: HashMap<FileId, Arc<str>> = project.texts().collect();
    let mut facts = Facts::default();
    let mut sources = Vec::with_capacity(done.len());
    for (id, Done { file, text, facts: own, bytes }) in done.into_iter().enumerate() {
        if let Some(bytes) = bytes {
            counts.add(Some(file.kind), bytes);
        }
        if let Some(own) = own {
            facts.absorb(*own);
        }
        let text = text.or_else(|| found.remove(&FileId(id as u32))).unwrap_or_else(|| Arc::clone(&empty));
        sources.push(Source::new(Arc::clone(&file.path), text));
        facts.files.push(file);
    }
    Scan { sources: Sources::new(sources), facts, counts }
}

impl Entry {
    fn shown(&self) -> &str {
        match self {
            Entry::Data(kept) => &kept.shown,
            Entry::Code(file) => &file.shown,
            Entry::Manifest(manifest) => &manifest.shown,
        }
    }

    fn read(
        self,
        id: FileId,
        reader: &Reader<'_>,
        manifests: &HashMap<String, Manifest>,
        environments: &Environments,
    ) -> Done {
        let file = |path: Arc<str>, kind, environment, role, named| {
            let told_by = None;
            File { path, kind, environment, role, named, told_by }
        };
        let (file, text, mut facts, bytes) = match self {
            Entry::Data(kept) => {
                let stated = environments.of(&kept.relative);
                let environment = stated.or_else(|| place::environment(&kept.relative).map(Into::into));
                let file = file(kept.shown.as_str().into(), kept.kind, environment, kept.role, kept.named);
                let text = Arc::clone(&kept.text);
                let declared = manifests.get(&kept.shown).map(|manifest| manifest.facts(id));
                let mut facts = kept.facts(id, reader.settings);
                facts.absorb(declared.unwrap_or_default());
                (file, Some(text), facts, None)
            }
            // Code belongs to all environments: `src/local/` is a module.
            Entry::Code(code) => {
                let code::Read { facts, text, bytes, role } = code.read(id, reader);
                (file(code.shown, code.kind, code.environment, role, code.named), text, facts, bytes)
            }
            Entry::Manifest(manifest) => {
                let facts = manifest.facts(id);
                let Manifest { shown, environment, role, text, .. } = *manifest;
                (file(shown.into(), FileKind::Toml, environment, role, false), Some(text), facts, None)
            }
        };
        facts.stamp(file.environment.as_ref(), file.role);
        let facts = (facts != Facts::default()).then(|| Box::new(facts));
        Done { file, text, facts, bytes }
    }
}

#[cfg(test)]
mod tests;
