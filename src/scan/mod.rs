//! The scan: what is there, which of it speaks of retries, and the facts in it.
//!
//! ```text
//! paths ─► walk ─► read once ─► prefilter ─► parse (all cores) ─► number by path ─► facts
//! ```
//!
//! The result is the same for any number of threads: files are numbered in the order of their paths before any fact is
//! made, and facts are put together in that order.

mod contents;
mod globs;
mod place;
mod walk;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use rayon::prelude::*;

use crate::facts::{Facts, File, FileKind, Problem, Role};
use crate::read::{self, Parsed, ReadSettings, Words};
use crate::source::{FileId, Source, Sources, Span};
use contents::Contents;
pub use globs::Globs;
use walk::Candidate;
pub use walk::{LeftOut, LeftOutBy};

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
    /// Whether files without any of the dialects' words are left unparsed. Off only to show that it changes nothing.
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
    /// The facts; `files` has the same numbers as `sources`.
    pub facts: Facts,
    /// What was looked at, for the summary.
    pub counts: Counts,
}

/// What was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files by kind, those without any fact included.
    pub files: BTreeMap<FileKind, usize>,
    /// Their bytes.
    pub bytes: u64,
    /// Files of test code that were left out.
    pub tests: usize,
    /// Paths that were named and are left out all the same.
    pub left_out: Vec<LeftOut>,
}

impl Counts {
    /// How many files were looked at.
    pub fn total(&self) -> usize {
        self.files.values().sum()
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
    /// The machine has no threads to give.
    #[error("cannot start threads: {0}")]
    Threads(String),
}

/// A file that has something to say.
struct Kept {
    shown: String,
    relative: String,
    kind: FileKind,
    role: Role,
    named: bool,
    text: Arc<str>,
    outcome: Outcome,
}

enum Outcome {
    Parsed(Box<Parsed>),
    Unreadable { message: String, recognised: bool },
}

/// Depth costs at most the JSON parser's 512 levels of stack, which unoptimised builds make large.
const STACK: usize = 16 << 20;

/// Scans. The run goes on over files that cannot be read: each is a [`Problem`].
///
/// # Errors
/// If a named path is not there, or a pattern is none.
pub fn scan(settings: &ScanSettings) -> Result<Scan, ScanError> {
    let include = Globs::new(&settings.include)?;
    let exclude = Globs::new(&settings.exclude)?;
    let environments: Vec<(Arc<str>, Globs)> = settings
        .environments
        .iter()
        .map(|(name, paths)| Ok((name.as_str().into(), Globs::new(paths)?)))
        .collect::<Result<_, ScanError>>()?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(settings.threads)
        .stack_size(STACK)
        .build()
        .map_err(|error| ScanError::Threads(error.to_string()))?;
    let (mut candidates, left_out) = walk::candidates(settings, &include, &exclude)?;
    let mut counts = Counts { left_out, ..Counts::default() };
    if !settings.include_tests {
        let all = candidates.len();
        candidates.retain(|candidate| candidate.role != Role::Test);
        counts.tests = all - candidates.len();
    }
    let results: Vec<Looked> =
        pool.install(|| candidates.into_par_iter().map(|candidate| look(candidate, settings)).collect());
    let stdin =
        settings.stdin.as_ref().and_then(|(name, bytes)| match walk::why_not_taken(name, &include, &exclude, false) {
            None => Some(pool.install(|| look_at_stdin(name, bytes, settings))),
            Some(by) => {
                counts.left_out.push(LeftOut { path: name.clone(), by });
                None
            }
        });
    let mut kept = Vec::new();
    for looked in results.into_iter().chain(stdin) {
        if let Some(kind) = looked.kind {
            *counts.files.entry(kind).or_default() += 1;
        }
        counts.bytes += looked.bytes;
        kept.extend(looked.kept);
    }
    kept.sort_by(|a, b| a.shown.cmp(&b.shown));
    Ok(put_together(kept, counts, settings, &environments, &pool))
}

/// What came of one file.
struct Looked {
    kind: Option<FileKind>,
    bytes: u64,
    kept: Option<Kept>,
}

fn look(candidate: Candidate, settings: &ScanSettings) -> Looked {
    let contents = match &candidate.problem {
        Some(problem) => Contents::Unreadable { message: problem.clone(), matters: true, size: 0 },
        None => contents::read(&candidate.path, settings.max_file_size),
    };
    judge(candidate, contents, settings)
}

fn look_at_stdin(name: &str, bytes: &[u8], settings: &ScanSettings) -> Looked {
    let contents = if bytes.len() as u64 > settings.max_file_size {
        contents::too_large(bytes.len() as u64, settings.max_file_size)
    } else {
        contents::decode(bytes.to_vec())
    };
    let candidate = Candidate {
        path: PathBuf::from(name),
        shown: name.to_string(),
        relative: name.to_string(),
        kind: place::kind(name),
        named: true,
        role: Role::Production,
        problem: None,
    };
    judge(candidate, contents, settings)
}

fn judge(candidate: Candidate, contents: Contents, settings: &ScanSettings) -> Looked {
    let Candidate { shown, relative, kind, named, role, .. } = candidate;
    match contents {
        Contents::Unreadable { message, matters, size } => {
            let shown_kind = kind.unwrap_or(FileKind::Yaml);
            let outcome = Outcome::Unreadable { message, recognised: false };
            let keep = || Kept { shown, relative, kind: shown_kind, role, named, text: "".into(), outcome };
            Looked { kind, bytes: size, kept: (matters || named).then(keep) }
        }
        Contents::Text(text) => {
            let kind = kind.unwrap_or_else(|| place::kind_by_shape(&text));
            let bytes = text.len() as u64;
            // A named file is parsed in any case: whoever names it wants to know whether it can be read.
            if settings.prefilter && !named && !Words::get().hold(&text) {
                return Looked { kind: Some(kind), bytes, kept: None };
            }
            let parsed = catch_unwind(AssertUnwindSafe(|| read::parse_file(&shown, kind, &text, named)));
            let outcome = match parsed {
                Ok(parsed) if parsed.has_something(&text) => Outcome::Parsed(Box::new(parsed)),
                Ok(_) => return Looked { kind: Some(kind), bytes, kept: None },
                Err(_) => Outcome::Unreadable { message: BUG.to_string(), recognised: true },
            };
            let kept = Kept { shown, relative, kind, role, named, text: text.into(), outcome };
            Looked { kind: Some(kind), bytes, kept: Some(kept) }
        }
    }
}

const BUG: &str = "retrylint itself failed on this file, which is a bug; please report it with the file";

fn put_together(
    kept: Vec<Kept>,
    counts: Counts,
    settings: &ScanSettings,
    environments: &[(Arc<str>, Globs)],
    pool: &rayon::ThreadPool,
) -> Scan {
    let read: Vec<(File, Source, Facts)> = pool.install(|| {
        kept.into_par_iter()
            .enumerate()
            .map(|(id, kept)| facts_of(FileId(id as u32), kept, settings, environments))
            .collect()
    });
    let mut facts = Facts::default();
    let mut sources = Vec::with_capacity(read.len());
    for (file, source, own) in read {
        facts.absorb(own);
        facts.files.push(file);
        sources.push(source);
    }
    read::finish(&mut facts, &settings.read);
    Scan { sources: Sources::new(sources), facts, counts }
}

fn facts_of(
    id: FileId,
    kept: Kept,
    settings: &ScanSettings,
    environments: &[(Arc<str>, Globs)],
) -> (File, Source, Facts) {
    let Kept { shown, relative, kind, role, named, text, outcome } = kept;
    let problem = |message: String, recognised: bool| Facts {
        problems: vec![Problem { span: Span::new(id, 0..0), message, partial: false, recognised, template: false }],
        ..Facts::default()
    };
    let mut facts = match outcome {
        Outcome::Parsed(mut parsed) => {
            parsed.renumber(id);
            catch_unwind(AssertUnwindSafe(|| parsed.read(&shown, &text, &settings.read)))
                .unwrap_or_else(|_| problem(BUG.to_string(), true))
        }
        Outcome::Unreadable { message, recognised } => problem(message, recognised),
    };
    let environment = environments
        .iter()
        .find(|(_, paths)| paths.take(&relative))
        .map(|(name, _)| name.clone())
        .or_else(|| place::environment(&relative).map(Into::into));
    facts.stamp(environment.as_ref(), role);
    let path: Arc<str> = shown.into();
    let file = File { path: path.clone(), kind, environment, role, named };
    (file, Source::new(path, text), facts)
}

#[cfg(test)]
mod tests;
