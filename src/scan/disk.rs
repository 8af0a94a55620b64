//! The disk, as code is looked up on it: by whole paths, `/` between their parts.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::contents::{self, Contents};
use crate::read::code::files::Files;
use crate::source::FileId;

/// The disk, and the numbers of the source files of the run.
#[derive(Debug, Default)]
pub struct Disk {
    /// Larger files are not read.
    max_file_size: u64,
    numbers: FxHashMap<Arc<str>, FileId>,
    paths: FxHashMap<FileId, Arc<str>>,
    /// What stands in for a file: standard input.
    given: Option<(Arc<str>, Arc<str>)>,
}

impl Disk {
    /// A disk of which no file has a number yet. `given`: a path, and the text that is there instead of the file's.
    pub fn new(max_file_size: u64, given: Option<(Arc<str>, Arc<str>)>) -> Self {
        Disk { max_file_size, given, ..Disk::default() }
    }

    /// Gives numbers to source files.
    #[must_use]
    pub fn numbered(mut self, files: impl Iterator<Item = (Arc<str>, FileId)>) -> Self {
        self.numbers = files.collect();
        self.paths = self.numbers.iter().map(|(path, id)| (*id, Arc::clone(path))).collect();
        self
    }

    fn stands_in(&self, path: &str) -> Option<&Arc<str>> {
        self.given.as_ref().filter(|(given, _)| **given == *path).map(|(_, text)| text)
    }
}

impl Files for Disk {
    fn number(&self, path: &str) -> Option<FileId> {
        self.numbers.get(path).copied()
    }

    fn path(&self, file: FileId) -> Option<Arc<str>> {
        self.paths.get(&file).cloned()
    }

    fn sources(&self) -> Vec<(FileId, Arc<str>)> {
        let mut all: Vec<_> = self.paths.iter().map(|(id, path)| (*id, Arc::clone(path))).collect();
        all.sort();
        all
    }

    fn text(&self, path: &str) -> Option<Arc<str>> {
        if let Some(text) = self.stands_in(path) {
            return Some(Arc::clone(text));
        }
        match contents::read(Path::new(path), self.max_file_size, |_| false) {
            Contents::Text(text) => Some(text.into()),
            Contents::Unreadable { .. } => None,
        }
    }

    fn exists(&self, path: &str) -> bool {
        self.stands_in(path).is_some() || Path::new(path).exists()
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }
}
