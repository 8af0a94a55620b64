//! Data files: read once, judged by the prefilter, parsed. What has nothing to say is let go at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use super::contents::{self, Contents};
use super::left_out::{LeftOut, LeftOutBy};
use super::recorded::{self, Recorded};
use super::walk::Candidate;
use super::{BUG, ScanError, ScanSettings, place, problem};
use crate::facts::{Facts, FileKind, Role};
use crate::read::{self, Parsed, Words};
use crate::source::FileId;

/// A file that has something to say.
pub struct Kept {
    pub shown: String,
    pub relative: String,
    pub kind: FileKind,
    pub role: Role,
    pub named: bool,
    pub text: Arc<str>,
    outcome: Outcome,
}

enum Outcome {
    Parsed(Box<Parsed>),
    Unreadable { message: String, recognised: bool },
}

/// What came of one file.
pub struct Looked {
    pub kind: Option<FileKind>,
    pub bytes: u64,
    pub kept: Option<Kept>,
    /// Why it was not read although it was named.
    pub left_out: Option<LeftOut>,
    /// Of a file of facts that was named: what it tells.
    pub recorded: Result<Option<Recorded>, ScanError>,
}

impl Looked {
    fn new(kind: Option<FileKind>, bytes: u64, kept: Option<Kept>) -> Self {
        Looked { kind, bytes, kept, left_out: None, recorded: Ok(None) }
    }

    /// A file that was named and turns out to be nothing that is read.
    fn left_out(path: String, by: LeftOutBy) -> Looked {
        Looked { left_out: Some(LeftOut::new(path, by)), ..Looked::new(None, 0, None) }
    }
}

/// Looks at a file.
pub fn look(candidate: Candidate, settings: &ScanSettings) -> Looked {
    let max = if candidate.tells { recorded::largest(settings.max_file_size) } else { settings.max_file_size };
    let contents = match &candidate.problem {
        Some(problem) => Contents::Unreadable { message: problem.clone(), matters: true, size: 0 },
        None => contents::read(&candidate.path, max, |text| Words::get().hold(text)),
    };
    judge(candidate, contents, settings)
}

/// Standard input as a file of this name.
pub fn stdin(name: &str) -> Candidate {
    Candidate {
        path: PathBuf::from(name),
        shown: name.to_string(),
        relative: name.to_string(),
        kind: place::kind(name),
        named: true,
        role: Role::Production,
        tells: false,
        problem: None,
    }
}

/// Looks at what came from standard input.
pub fn look_at_stdin(name: &str, bytes: &[u8], settings: &ScanSettings) -> Looked {
    let tells = recorded::begins(bytes);
    let max = if tells { recorded::largest(settings.max_file_size) } else { settings.max_file_size };
    let contents = contents::given(bytes, max, |text| Words::get().hold(text));
    let candidate = Candidate { tells, ..stdin(name) };
    match contents {
        Contents::Text(text) if candidate.kind.is_none() && place::is_rust(&text) => {
            Looked::left_out(candidate.shown, LeftOutBy::UnnamedRust)
        }
        contents => judge(candidate, contents, settings),
    }
}

fn judge(candidate: Candidate, contents: Contents, settings: &ScanSettings) -> Looked {
    let Candidate { shown, relative, kind, named, role, tells, .. } = candidate;
    match contents {
        // Without them the run would be about something else.
        Contents::Unreadable { message, .. } if tells => {
            let recorded = Err(ScanError::Facts { path: shown, message });
            Looked { recorded, ..Looked::new(None, 0, None) }
        }
        Contents::Unreadable { message, matters, size } => {
            let shown_kind = kind.unwrap_or(FileKind::Yaml);
            let outcome = Outcome::Unreadable { message, recognised: false };
            let keep = || Kept { shown, relative, kind: shown_kind, role, named, text: "".into(), outcome };
            Looked::new(kind, size, (matters || named).then(keep))
        }
        Contents::Text(text) => {
            let is_told = kind.is_some() || !place::has_ending(&shown);
            let kind = kind.unwrap_or_else(|| place::kind_by_shape(&text));
            if kind == FileKind::Json && recorded::is_one(&text) {
                // One that nobody named describes again what lies around it.
                if !named {
                    return Looked::left_out(shown, LeftOutBy::Facts);
                }
                let recorded = recorded::read(&shown, &text).map(Some);
                return Looked { recorded, ..Looked::new(None, 0, None) };
            }
            let bytes = text.len() as u64;
            // A named file is parsed in any case: whoever names it wants to know whether it can be read.
            if settings.prefilter && !named && !Words::get().hold(&text) {
                return Looked::new(Some(kind), bytes, None);
            }
            let parsed = catch_unwind(AssertUnwindSafe(|| read::parse_file(&shown, kind, &text, named)));
            let outcome = match parsed {
                // Any text is YAML of a kind: what is wrong with notes as YAML is nothing that anybody wants to know.
                Ok(parsed) if !is_told && !parsed.is_known(&text) => {
                    return Looked::left_out(shown, LeftOutBy::Unknown);
                }
                Ok(parsed) if parsed.has_something(&text) => Outcome::Parsed(Box::new(parsed)),
                Ok(_) => return Looked::new(Some(kind), bytes, None),
                Err(_) => Outcome::Unreadable { message: BUG.to_string(), recognised: true },
            };
            let kept = Kept { shown, relative, kind, role, named, text: text.into(), outcome };
            Looked::new(Some(kind), bytes, Some(kept))
        }
    }
}

impl Kept {
    /// The facts of a file, once it has a number.
    pub fn facts(self, id: FileId, settings: &ScanSettings) -> Facts {
        match self.outcome {
            Outcome::Parsed(mut parsed) => {
                parsed.renumber(id);
                catch_unwind(AssertUnwindSafe(|| parsed.read(&self.shown, &self.text, &settings.read)))
                    .unwrap_or_else(|_| problem(id, BUG.to_string(), true))
            }
            Outcome::Unreadable { message, recognised } => problem(id, message, recognised),
        }
    }
}
