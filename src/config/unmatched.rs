//! Patterns that no file has. A typing error is the usual cause, and who is not told believes that the setting holds.
//!
//! A pattern is held against the disk and not against what was read: what it means may be of a kind that is not read, be left
//! out, or lie outside of the paths of this run. What cannot be told is not told.

use std::collections::{BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use ignore::gitignore::Gitignore;

use super::patterns::{Pattern, Use, patterns};
use super::{Config, layers};
use crate::repository;
use crate::scan::{Globs, SKIPPED, anchored, recorded, whole};
use crate::suggest::did_you_mean;

/// Entries of folders that are looked at in a run for all patterns together.
const MOST: usize = 50_000;

/// What is said about patterns that no file and no folder has, in the order of the files. `paths` are those of the run:
/// where one lies outside of the settings' folder, these settings are not its own, and nothing is said.
pub(super) fn patterns_of_nothing(config: &Config, paths: &[PathBuf]) -> Vec<String> {
    let here = std::env::current_dir().unwrap_or_default();
    let base = config.whole_base();
    // Facts have paths that lie elsewhere.
    let is_here = |path: &PathBuf| whole(&here, path).starts_with(&base) && !recorded::lies_at(path);
    if !paths.iter().all(is_here) {
        return Vec::new();
    }
    let mut disk = Disk { left: MOST };
    let sources = config.sources();
    let said = |pattern: &Pattern| {
        let folder = whole(&here, &layers::folder(config.layers.get(pattern.layer)?));
        let help = disk.help(pattern, &folder, &here)?;
        let source = sources.get(pattern.layer)?;
        let line = source.position(pattern.span.start).line;
        let Pattern { text, table, .. } = pattern;
        Some(format!("{}:{line}: `{text}` of {table} matches no file; {help}", source.path))
    };
    patterns(config).iter().filter_map(said).collect()
}

/// The disk, as far as it may still be looked at.
struct Disk {
    left: usize,
}

/// Whether anything has a path that a pattern takes.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    /// Something has, or that cannot be told.
    Maybe,
    /// Nothing has, though all its folders without a wildcard are there.
    Nothing,
    /// This folder is there, and nothing of this name in it.
    NotIn(PathBuf, String),
}

impl Disk {
    /// What to say about a pattern of nothing; none where there is nothing to say.
    fn help(&mut self, pattern: &Pattern, folder: &Path, here: &Path) -> Option<String> {
        let text = match pattern.used {
            // A service's paths start at a folder even where they are a single name.
            Use::Service => anchored(&format!("/{}", pattern.text.trim().trim_start_matches("./"))),
            Use::Exclude | Use::Other => anchored(&pattern.text),
        };
        if text.split('/').any(|part| part == "..") {
            return Some("patterns do not lead out of the folder of this file".to_string());
        }
        let found = self.find(folder, &text);
        let is_service = pattern.used == Use::Service;
        let mut elsewhere = || is_service && folder != here && self.find(here, &text) == Found::Maybe;
        if found == Found::Maybe || elsewhere() || is_ignored(folder, &text) {
            return None;
        }
        if let Some(meant) = self.meant(folder, &text, &found) {
            return Some(format!("did you mean `{}`?", meant.trim_start_matches("**/")));
        }
        // What may lie anywhere is often left out before it is there.
        if pattern.used == Use::Exclude && text.starts_with("**/") {
            return None;
        }
        if text.contains('\\') {
            return Some("write `/` between the parts of a path".to_string());
        }
        Some("paths start at the folder of this file".to_string())
    }

    fn find(&mut self, root: &Path, pattern: &str) -> Found {
        let mut parts = pattern.split('/').peekable();
        let mut folder = root.to_path_buf();
        while let Some(part) = parts.next_if(|part| !part.contains(['*', '?', '[', '{', '\\'])) {
            let next = folder.join(part);
            match next.symlink_metadata() {
                Ok(_) => folder = next,
                Err(error) if is_absent(&error) && folder.is_dir() => return Found::NotIn(folder, part.to_string()),
                Err(error) if is_absent(&error) => return Found::Nothing,
                Err(_) => return Found::Maybe,
            }
        }
        let Ok(globs) = Globs::new(&[format!("/{pattern}")]) else { return Found::Maybe };
        if SKIPPED.iter().any(|name| pattern.contains(name)) {
            return Found::Maybe;
        }
        if parts.peek().is_none() || parts.all(|part| part == "**") || self.has(root, folder, &globs) {
            return Found::Maybe;
        }
        match pattern.strip_prefix("**/") {
            Some(name) if !name.contains(['/', '*', '?', '[', '{', '\\']) => {
                Found::NotIn(root.to_path_buf(), name.to_string())
            }
            _ => Found::Nothing,
        }
    }

    /// Whether a folder holds something whose path from `root` is taken, or may do so.
    fn has(&mut self, root: &Path, folder: PathBuf, globs: &Globs) -> bool {
        // What lies near the top is met first.
        let mut folders = VecDeque::from([folder]);
        while let Some(folder) = folders.pop_front() {
            let Ok(entries) = std::fs::read_dir(&folder) else { return true };
            for entry in entries {
                let Some(left) = self.left.checked_sub(1) else { return true };
                self.left = left;
                let Ok((kind, path)) = entry.and_then(|entry| Ok((entry.file_type()?, entry.path()))) else {
                    return true;
                };
                let below = path.strip_prefix(root).map(crate::scan::slashes).unwrap_or_default();
                // What lies behind a link is not looked at.
                if globs.take(&below) || kind.is_symlink() && path.is_dir() {
                    return true;
                }
                // What others wrote is never read, and there is much of it.
                if kind.is_dir() && !SKIPPED.iter().any(|name| path.file_name() == Some(name.as_ref())) {
                    folders.push_back(path);
                }
            }
        }
        false
    }

    /// The pattern with the name that is not there replaced by the nearest one that is, if that helps.
    fn meant(&mut self, root: &Path, pattern: &str, found: &Found) -> Option<String> {
        let Found::NotIn(folder, name) = found else { return None };
        let names =
            std::fs::read_dir(folder).ok()?.take(MOST).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let names: BTreeSet<String> = names.collect();
        let nearest = did_you_mean(name, names.iter().map(String::as_str))?;
        let mut parts: Vec<&str> = pattern.split('/').collect();
        *parts.iter_mut().find(|part| **part == *name)? = nearest;
        let meant = parts.join("/");
        (self.find(root, &meant) == Found::Maybe).then_some(meant)
    }
}

fn is_absent(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
}

/// Whether git ignores what a pattern means: then it may come and go.
fn is_ignored(root: &Path, pattern: &str) -> bool {
    let plain: PathBuf = pattern.split('/').filter(|part| *part != "**").collect();
    let path = root.join(plain);
    let top = repository::root(root, None);
    path.ancestors().skip(1).take_while(|folder| folder.starts_with(top)).any(|folder| {
        let file = folder.join(".gitignore");
        file.is_file() && Gitignore::new(file).0.matched_path_or_any_parents(&path, true).is_ignore()
    })
}
