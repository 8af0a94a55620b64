//! `--since`: which findings touch lines that changed since a revision.
//!
//! The files as they are read, saved or not committed, are compared with those of the revision, so that new and untracked
//! files count as changed, and a file that was moved is compared with what it was. Only files that a finding points into
//! are compared.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use imara_diff::{Algorithm, Diff, InternedInput};

use crate::finding::Finding;
use crate::git::{Blob, Commit, Git, GitError, Tree};
use crate::source::{FileId, Source, Sources, Span};

/// A revision to compare with.
#[derive(Debug)]
pub struct Since {
    git: Git,
    commit: Commit,
}

/// Files as they are read, with their paths from the root of a repository.
type Files<'s> = BTreeMap<FileId, (&'s str, String)>;

/// A moved file shares at least this much of its lines with what it was.
const ALIKE: f64 = 0.5;
/// Files that a new file is compared with at most, to find what it was.
const CANDIDATES: usize = 200;

impl Since {
    /// The revision of the repository that a path lies in.
    ///
    /// # Errors
    /// If there is no git, no repository or no such revision.
    pub fn new(start: &Path, revision: &str) -> Result<Since, GitError> {
        let folder = crate::repository::folder(start).unwrap_or_default();
        let git = Git::of(&folder)?;
        let commit = git.commit(revision)?;
        Ok(Since { git, commit })
    }

    /// For each finding whether any of its places lies on a line that changed. What lies outside of the repository, standard
    /// input for one, counts as changed: nobody can tell.
    ///
    /// # Errors
    /// If git cannot read the revision.
    pub fn touched(&self, findings: &[Finding], sources: &Sources) -> Result<Vec<bool>, GitError> {
        let files = findings.iter().flat_map(|finding| &finding.labels).map(|label| label.span.file);
        let files: HashSet<FileId> = files.collect();
        let changes = self.changes(files, sources)?;
        let touches = |span: Span| match (changes.get(&span.file), sources.get(span.file)) {
            (Some(changes), Some(source)) => changes.touch(span, source),
            _ => true,
        };
        Ok(findings.iter().map(|finding| finding.labels.iter().any(|label| touches(label.span))).collect())
    }

    /// What changed in each file; files outside of the repository, and those of
    /// which only some lines are known, are left out.
    fn changes(&self, files: HashSet<FileId>, sources: &Sources) -> Result<HashMap<FileId, Changes>, GitError> {
        let mut now: Files<'_> = BTreeMap::new();
        for file in files {
            let Some(source) = sources.get(file) else { continue };
            let Some(text) = source.text() else { continue };
            let Ok(whole) = Path::new(&*source.path).canonicalize() else { continue };
            let Ok(below) = whole.strip_prefix(self.git.root()) else { continue };
            now.insert(file, (text, below.to_string_lossy().replace('\\', "/")));
        }
        self.compare(now)
    }

    /// What changed in each of these files. A file of a submodule is compared with the commit that the revision has of it;
    /// where that cannot be read, all of it counts as changed.
    fn compare(&self, mut now: Files<'_>) -> Result<HashMap<FileId, Changes>, GitError> {
        let Tree { files: then, submodules } = self.git.tree(&self.commit)?;
        let mut changes = HashMap::new();
        for (folder, commit) in &submodules {
            let below = |path: &str| Some(path.strip_prefix(&**folder)?.strip_prefix('/')?.to_string());
            let (own, rest): (Files<'_>, Files<'_>) = now.into_iter().partition(|(_, (_, path))| below(path).is_some());
            now = rest;
            let own = own.into_iter().filter_map(|(file, (text, path))| Some((file, (text, below(&path)?))));
            let own: Files<'_> = own.collect();
            if own.is_empty() {
                continue;
            }
            let files: Vec<FileId> = own.keys().copied().collect();
            let compared = self.submodule(folder, commit).and_then(|submodule| submodule.compare(own).ok());
            let mut compared = compared.unwrap_or_default();
            changes.extend(files.into_iter().map(|file| (file, compared.remove(&file).unwrap_or_else(Changes::all))));
        }
        let same_path: Vec<Blob> = now.values().filter_map(|(_, path)| then.get(path)).cloned().collect();
        let mut contents = self.git.contents(&same_path)?;
        let is_new = now.values().any(|(_, path)| !then.contains_key(path));
        let gone = if is_new { self.gone(&then) } else { Vec::new() };
        for (file, (text, path)) in &now {
            let before = match then.get(path) {
                Some(blob) => contents.get(blob).cloned(),
                None => {
                    let candidates = candidates(path, &gone);
                    let missing = candidates.iter().map(|(_, blob)| (*blob).clone());
                    let missing: Vec<Blob> = missing.filter(|blob| !contents.contains_key(blob)).collect();
                    contents.extend(self.git.contents(&missing)?);
                    most_alike(text, candidates.iter().filter_map(|(_, blob)| contents.get(blob)))
                }
            };
            let changed = match before {
                Some(before) => Changes::between(&String::from_utf8_lossy(&before), text),
                None => Changes::all(),
            };
            changes.insert(*file, changed);
        }
        Ok(changes)
    }

    /// A commit of the submodule in a folder; none if the submodule is not there.
    fn submodule(&self, folder: &str, commit: &Commit) -> Option<Since> {
        let folder = self.git.root().join(folder).canonicalize().ok()?;
        // Without a repository of its own, git would answer for the one around it.
        let git = Git::of(&folder).ok().filter(|git| git.root() == folder)?;
        Some(Since { git, commit: commit.clone() })
    }

    /// Files of the revision that are not there any more.
    fn gone<'t>(&self, then: &'t BTreeMap<String, Blob>) -> Vec<(&'t str, &'t Blob)> {
        let is_gone = |path: &str| self.git.root().join(path).symlink_metadata().is_err();
        then.iter().filter(|(path, _)| is_gone(path)).map(|(path, blob)| (path.as_str(), blob)).collect()
    }
}

/// What a new file may have been: files that are gone and end alike, those of its name first.
fn candidates<'t, T: Copy>(path: &str, gone: &[(&'t str, T)]) -> Vec<(&'t str, T)> {
    let name = |path: &str| path.rsplit_once('/').map_or(path, |(_, name)| name).to_string();
    let ending = |path: &str| name(path).rsplit_once('.').map(|(_, ending)| ending.to_string());
    let mut alike: Vec<_> = gone.iter().copied().filter(|(gone, _)| ending(gone) == ending(path)).collect();
    alike.sort_by_key(|(gone, _)| name(gone) != name(path));
    alike.truncate(CANDIDATES);
    alike
}

/// The text that shares most lines with a file, if these are enough to call the file moved; of equals the first.
fn most_alike<'c>(now: &str, then: impl Iterator<Item = &'c Vec<u8>>) -> Option<Vec<u8>> {
    let mut best: Option<(usize, &Vec<u8>)> = None;
    for bytes in then {
        let text = String::from_utf8_lossy(bytes);
        let shared = shared(now, &text);
        let longest = lines(now).count().max(lines(&text).count());
        if shared as f64 >= ALIKE * longest as f64 && shared > best.map_or(0, |(most, _)| most) {
            best = Some((shared, bytes));
        }
    }
    best.map(|(_, bytes)| bytes.clone())
}

/// Lines that two texts have in common, wherever they stand; blank ones say nothing.
fn shared(a: &str, b: &str) -> usize {
    let mut count: HashMap<&str, usize> = HashMap::new();
    lines(a).filter(|line| !line.trim().is_empty()).for_each(|line| *count.entry(line).or_default() += 1);
    lines(b)
        .filter(|line| {
            let left = count.get_mut(line);
            left.is_some_and(|left| {
                let is_left = *left > 0;
                *left = left.saturating_sub(1);
                is_left
            })
        })
        .count()
}

/// Lines without their ends: git may store another end than it writes.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.trim_start_matches('\u{feff}').lines()
}

/// Lines of a file that changed, from 0, in order.
#[derive(Debug, PartialEq, Eq)]
struct Changes(Vec<Range<u32>>);

impl Changes {
    /// Every line.
    fn all() -> Changes {
        Changes(std::iter::once(0..u32::MAX).collect())
    }

    /// What changed from one text to another. Where lines were taken away, the lines on both sides of the gap changed.
    fn between(then: &str, now: &str) -> Changes {
        let mut input: InternedInput<&str> = InternedInput::default();
        input.update_before(lines(then));
        input.update_after(lines(now));
        let mut diff = Diff::compute(Algorithm::Histogram, &input);
        diff.postprocess_no_heuristic(&input);
        Changes(
            diff.hunks()
                .map(|hunk| match hunk.after {
                    gap if gap.is_empty() => gap.start.saturating_sub(1)..gap.start.saturating_add(1),
                    lines => lines,
                })
                .collect(),
        )
    }

    /// Whether a place lies on any of them, in whole or in part.
    fn touch(&self, span: Span, source: &Source) -> bool {
        let first = source.line_of(span.start) as u32;
        let last = source.line_of(span.end.saturating_sub(1).max(span.start)) as u32;
        let from = self.0.partition_point(|lines| lines.end <= first);
        self.0.get(from).is_some_and(|lines| lines.start <= last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changed lines, each range by its first line and the one behind its last.
    fn changed(then: &str, now: &str) -> Vec<(u32, u32)> {
        Changes::between(then, now).0.into_iter().map(|lines| (lines.start, lines.end)).collect()
    }

    #[test]
    fn changed_lines_are_those_of_the_new_text() {
        assert_eq!(changed("a\nb\nc\n", "a\nb\nc\n"), []);
        assert_eq!(changed("a\nb\nc\n", "a\nX\nc\n"), [(1, 2)]);
        assert_eq!(changed("a\nb\nc\n", "X\na\nb\nc\nY\n"), [(0, 1), (4, 5)]);
        assert_eq!(changed("", "a\nb\n"), [(0, 2)]);
    }

    #[test]
    fn a_gap_touches_the_lines_on_both_sides() {
        assert_eq!(changed("a\nb\nc\nd\n", "a\nd\n"), [(0, 2)]);
        assert_eq!(changed("a\nb\n", "b\n"), [(0, 1)]);
        assert_eq!(changed("a\nb\n", "a\n"), [(0, 2)]);
    }

    #[test]
    fn other_ends_of_lines_are_no_change() {
        assert_eq!(changed("a\nb\n", "a\r\nb\r\n"), []);
        assert_eq!(changed("a\nb\n", "\u{feff}a\nb"), []);
    }

    #[test]
    fn a_place_is_touched_by_any_of_its_lines() {
        let source = Source::new("a", "0\n1\n2\n3\n4\n");
        let touches = |changes: &[(u32, u32)], from: usize, to: usize| {
            let changes = changes.iter().map(|(start, end)| *start..*end).collect();
            Changes(changes).touch(Span::new(FileId(0), from..to), &source)
        };
        // Lines 1 and 2, with the line break behind them, which is not a line more.
        assert!(touches(&[(2, 3)], 2, 6));
        assert!(!touches(&[(3, 4)], 2, 6));
        assert!(!touches(&[(0, 1)], 2, 6));
        assert!(touches(&[(0, 1), (1, 2)], 2, 3));
        // An empty place lies on its line.
        assert!(touches(&[(4, 5)], 8, 8));
        assert!(!touches(&[], 0, 10));
    }

    #[test]
    fn a_moved_file_is_known_by_the_lines_it_kept() {
        let (half, other) = (b"a\nb\nx\ny\n".to_vec(), b"p\nq\nr\ns\n".to_vec());
        let most = b"a\nb\nc\nz\n".to_vec();
        let now = "a\nb\nc\nd\n";
        assert_eq!(most_alike(now, [&half, &most, &other].into_iter()), Some(most));
        assert_eq!(most_alike(now, [&half].into_iter()), Some(half));
        assert_eq!(most_alike(now, [&other, &b"a\n\n\n\n".to_vec()].into_iter()), None);
    }

    #[test]
    fn only_files_that_end_alike_may_be_what_a_new_one_was() {
        let gone = [("a/x.yaml", 0), ("b/y.yaml", 1), ("c/y.rs", 2), ("y", 3)];
        let names: Vec<&str> = candidates("new/y.yaml", &gone).into_iter().map(|(path, _)| path).collect();
        assert_eq!(names, ["b/y.yaml", "a/x.yaml"]);
    }
}
