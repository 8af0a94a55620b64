//! retrylint.toml: what the user tells retrylint about a repository. Read through the spanned tree, so that a misspelt key
//! is underlined in the user's own file, with the key that was meant.
//!
//! `[services]` and `[[calls]]` are facts like any other and are lowered into [`Facts`]; everything else is a setting.

#[cfg(test)]
mod documentation_tests;
mod find;
pub mod keys;
mod layers;
#[cfg(test)]
mod layers_tests;
mod patterns;
mod sections;
mod settings;
#[cfg(test)]
mod tests;
mod unmatched;
#[cfg(test)]
mod unmatched_tests;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use find::{FILE_NAME, find};
pub use keys::{DEFAULTS, bare, quoted};
pub use layers::Layer;
pub use settings::{Setting, WrittenAt};

/// One thing that is wrong with a retrylint.toml: where, what, and what would be right.
pub use crate::read::vocabulary::Fault as ConfigError;

use crate::facts::Facts;
use crate::facts::words::in_words;
use crate::finding::Severity;
use crate::limits::Limits;
use crate::read::{NEWEST_ISTIO, ReadSettings};
use crate::scan::whole;
use crate::source::{FileId, Source, Span};

/// The settings of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Config {
    /// Where they come from; none if there is no retrylint.toml.
    pub path: Option<PathBuf>,
    /// The folder that all patterns are relative to: that of retrylint.toml, or one above it and all that it extends.
    pub base: Option<PathBuf>,
    /// `baseline`: the file of known findings, from the folder of the file that names it.
    pub baseline: Option<PathBuf>,
    /// `[scan]`.
    pub scan: Scan,
    /// `[limits]`.
    pub limits: Limits,
    /// `[rules]`: the level of each rule that is named, by id.
    pub rules: BTreeMap<String, RuleLevel>,
    /// `[[per-path]]`, in the order written, those of extended files first: of two that take a path the later one wins.
    pub per_path: Vec<PerPath>,
    /// `[dialects.…]` and `[[library]]`.
    pub read: ReadSettings,
    /// A release of Istio that is newer than those that are known, with its place; its file's number is that of its layer. The
    /// newest known one holds instead.
    pub unknown_istio: Option<(Span, (u32, u32))>,
    /// `[[environment]]`, in the order written, those of extended files last: of two that take a path the first has it.
    pub environments: Vec<Environment>,
    /// The files, from which [`Config::facts`] reads services and calls: each extends the one before it.
    pub layers: Vec<Layer>,
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

/// `[[per-path]]`: levels of rules for findings that stand in some files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerPath {
    /// Globs, relative to [`Config::base`].
    pub paths: Vec<String>,
    /// The level of each rule that is named, by id.
    pub rules: BTreeMap<String, RuleLevel>,
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

impl Config {
    /// Reads the file at `path` and those that it extends. `rules` are the ids that `[rules]` may name.
    ///
    /// # Errors
    /// If one cannot be read, or if anything in it is unknown or of the wrong kind.
    pub fn load(path: &Path, rules: &[&str]) -> Result<Config, LoadError> {
        let layers = layers::load(path)?;
        match Config::of(&layers, rules) {
            Ok(config) => Ok(Config { path: Some(path.to_path_buf()), ..config }),
            Err((layer, errors)) => {
                let source_file = layers.get(layer).map_or_else(|| Source::new(FILE_NAME, ""), Layer::source);
                Err(LoadError::Invalid { source_file, errors })
            }
        }
    }

    /// Reads the text of a retrylint.toml; spans of errors are in file 0. What it extends is not looked for.
    ///
    /// # Errors
    /// Everything that is unknown or of the wrong kind, in the order of the text.
    pub fn parse(text: &str, rules: &[&str]) -> Result<Config, Vec<ConfigError>> {
        Config::of(&[Layer { path: None, text: text.into() }], rules).map_err(|(_, errors)| errors)
    }

    /// Reads layers, the outermost first, or says which is wrong and how.
    fn of(layers: &[Layer], rules: &[&str]) -> Result<Config, (usize, Vec<ConfigError>)> {
        let mut reader = sections::Reader::new(rules);
        let (base, below) = layers::bases(layers);
        for (at, (layer, below)) in layers.iter().zip(below).enumerate() {
            reader
                .layer(FileId(at as u32), &layer.text, &layers::folder(layer), &below)
                .map_err(|errors| (at, errors))?;
        }
        Ok(Config { base, layers: layers.to_vec(), ..reader.config })
    }

    /// The files themselves, for those that point into them, in the order of [`Config::layers`].
    pub fn sources(&self) -> Vec<Source> {
        self.layers.iter().filter(|layer| layer.path.is_some()).map(Layer::source).collect()
    }

    /// The services and calls that they state, with spans in `files`, which are theirs.
    pub fn facts(&self, files: &[FileId]) -> Facts {
        let mut reader = sections::Reader::new(&[]);
        for (layer, file) in self.layers.iter().zip(files) {
            // They were read without a fault before. Without the list of rules every name of one is a fault now.
            let _ = reader.layer(*file, &layer.text, Path::new(""), "");
        }
        reader.facts
    }

    /// What is said about settings that nothing answers to: patterns that no file and no folder has, in the order of the files,
    /// and a release that is not known. `paths` are those of the run.
    pub fn unmatched(&self, paths: &[PathBuf]) -> Vec<String> {
        let mut said = unmatched::patterns_of_nothing(self, paths);
        said.extend(self.unknown_istio.and_then(|(at, (major, minor))| {
            let layer = self.layers.get(at.file.0 as usize)?.source();
            let (path, line) = (&layer.path, layer.position(at.start).line);
            let (newest_major, newest) = NEWEST_ISTIO;
            Some(format!(
                "{path}:{line}: Istio {major}.{minor} is newer than any release that is known here; the defaults of \
                 {newest_major}.{newest} are taken"
            ))
        }));
        said
    }

    /// The folder that all patterns are relative to, from the root of the file system.
    pub fn whole_base(&self) -> PathBuf {
        let here = std::env::current_dir().unwrap_or_default();
        whole(&here, self.base.as_deref().unwrap_or(Path::new("")))
    }

    /// The level of a rule, if the settings name it.
    pub fn rule(&self, id: &str) -> Option<RuleLevel> {
        self.rules.get(id).copied()
    }
}
