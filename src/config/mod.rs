//! retrylint.toml: what the user tells retrylint about a repository. Read through the spanned tree, so that a misspelt key
//! is underlined in the user's own file, with the key that was meant.
//!
//! `[services]` and `[[calls]]` are facts like any other and are lowered into [`Facts`]; everything else is a setting.

mod find;
mod sections;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use find::{FILE_NAME, find};
pub use sections::{
    CALL_KEYS, DIALECT_KEYS, ENVIRONMENT_KEYS, ISTIO_KEYS, LIBRARY_KEYS, LIMIT_KEYS, RULE_LEVELS, SCAN_KEYS,
    SERVICE_KEYS, SHAPE_KEYS, TOP_KEYS, WHEN_KEYS, clause_keys,
};

/// One thing that is wrong with a retrylint.toml: where, what, and what would be right.
pub use crate::read::vocabulary::Fault as ConfigError;

use crate::facts::Facts;
use crate::facts::words::in_words;
use crate::finding::Severity;
use crate::limits::Limits;
use crate::read::ReadSettings;
use crate::read::data::toml;
use crate::source::{FileId, Source};

/// The settings of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Where they come from; none if there is no retrylint.toml.
    pub path: Option<PathBuf>,
    /// `[scan]`.
    pub scan: Scan,
    /// `[limits]`.
    pub limits: Limits,
    /// `[rules]`: the level of each rule that is named, by id.
    pub rules: BTreeMap<String, RuleLevel>,
    /// `[dialects.…]` and `[[library]]`.
    pub read: ReadSettings,
    /// `[[environment]]`, in the order written: of two that take a path the first has it.
    pub environments: Vec<Environment>,
    /// The text, from which [`Config::facts`] reads services and calls.
    text: Arc<str>,
}

/// What is read of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scan {
    /// Globs, relative to the directory of retrylint.toml; only what one of them takes is read. Empty: everything.
    pub include: Vec<String>,
    /// Globs of what is left out, named files too.
    pub exclude: Vec<String>,
    /// Whether .gitignore and its like hold.
    pub follow_ignore_files: bool,
    /// Larger files are not read, in bytes.
    pub max_file_size: u64,
}

impl Default for Scan {
    fn default() -> Self {
        Scan { include: Vec::new(), exclude: Vec::new(), follow_ignore_files: true, max_file_size: 64 * 1024 * 1024 }
    }
}

/// What `[rules]` says of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleLevel {
    /// Not run.
    Off,
    /// All its findings have this level.
    At(Severity),
}

/// `[[environment]]`: the files that belong to one (D-2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// Its name.
    pub name: Arc<str>,
    /// Globs, relative to the directory of retrylint.toml.
    pub paths: Vec<String>,
}

/// Why a retrylint.toml cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It cannot be opened or is not text.
    #[error("cannot read {}: {}", path.display(), in_words(error))]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// It says something that is not understood.
    #[error("{} is not valid", source_file.path)]
    Invalid {
        /// The file, for underlining; the errors' spans are in it.
        source_file: Source,
        /// Everything that is wrong with it, in the order of the text. Never empty.
        errors: Vec<ConfigError>,
    },
}

/// Bytes of a retrylint.toml at most: whatever is larger is something else, a device that never ends for one.
const MOST: u64 = 4 << 20;

fn read(path: &Path) -> std::io::Result<String> {
    use std::io::Read;
    let mut text = String::new();
    std::fs::File::open(path)?.take(MOST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST {
        return Err(std::io::Error::new(
            std::io::ErrorKind::FileTooLarge,
            "a retrylint.toml of more than 4 MiB is none",
        ));
    }
    Ok(text)
}

impl Config {
    /// Reads the file at `path`. `rules` are the ids that `[rules]` may name.
    ///
    /// # Errors
    /// If it cannot be read, or if anything in it is unknown or of the wrong kind.
    pub fn load(path: &Path, rules: &[&str]) -> Result<Config, LoadError> {
        let text = read(path).map_err(|error| LoadError::Unreadable { path: path.to_path_buf(), error })?;
        let shown = path.to_string_lossy().replace('\\', "/");
        match Config::parse(&text, rules) {
            Ok(config) => Ok(Config { path: Some(path.to_path_buf()), ..config }),
            Err(errors) => Err(LoadError::Invalid { source_file: Source::new(shown, text), errors }),
        }
    }

    /// Reads the text of a retrylint.toml; spans of errors are in file 0.
    ///
    /// # Errors
    /// Everything that is unknown or of the wrong kind, in the order of the text.
    pub fn parse(text: &str, rules: &[&str]) -> Result<Config, Vec<ConfigError>> {
        let tree = toml::parse(FileId(0), text);
        let mut reader = sections::Reader::new(rules, &tree);
        // Of what is not TOML, only that is told: values that the parser made up are nobody's fault.
        if tree.errors.is_empty() {
            tree.documents().for_each(|document| reader.document(document));
        }
        reader.finish(text)
    }

    /// The file itself, for those that point into it; none if there is none. Its path is shown relative to where the run
    /// started if it lies below.
    pub fn source(&self) -> Option<Source> {
        let path = self.path.as_deref()?;
        let here = std::env::current_dir().and_then(|here| here.canonicalize()).unwrap_or_default();
        let shown = path.strip_prefix(&here).unwrap_or(path);
        Some(Source::new(shown.to_string_lossy().replace('\\', "/"), self.text.clone()))
    }

    /// The services and calls that it states, with spans in `file`.
    pub fn facts(&self, file: FileId) -> Facts {
        let tree = toml::parse(file, &self.text);
        let mut reader = sections::Reader::new(&[], &tree);
        tree.documents().for_each(|document| reader.document(document));
        reader.facts
    }

    /// The level of a rule, if the settings name it.
    pub fn rule(&self, id: &str) -> Option<RuleLevel> {
        self.rules.get(id).copied()
    }
}
