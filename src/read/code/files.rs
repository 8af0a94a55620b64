//! Where code lies. Whatever asks for a file that the scan did not hand out (a package's manifest, the file of a constant) asks
//! here, so that tests give texts and the scan gives a disk.

use std::fmt::Debug;
use std::sync::Arc;

use crate::source::FileId;

/// Files by their path: `/` between its parts, neither `.` nor `..` in it (see [`join`]).
pub trait Files: Debug + Send + Sync {
    /// The number of a source file of the run; none of any other file.
    fn number(&self, path: &str) -> Option<FileId>;
    /// The path of a source file of the run.
    fn path(&self, file: FileId) -> Option<Arc<str>>;
    /// All source files of the run, by number.
    fn sources(&self) -> Vec<(FileId, Arc<str>)>;
    /// The text of a file; none if it is not there, too large, or no text.
    fn text(&self, path: &str) -> Option<Arc<str>>;
    /// Whether there is a file or folder.
    fn exists(&self, path: &str) -> bool;
    /// The names of what lies directly in a folder, sorted.
    fn names(&self, folder: &str) -> Vec<String>;
}

/// The folder of a path; empty for what lies at the top.
pub fn folder(path: &str) -> &str {
    match path.rsplit_once('/') {
        // The root of a file system is written `/`.
        Some(("", _)) => "/",
        Some((folder, _)) => folder,
        None => "",
    }
}

/// The last part of a path.
pub fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// A path as seen from a folder. None if it leads out of everything.
pub fn join(from: &str, path: &str) -> Option<String> {
    let is_absolute = path.starts_with('/');
    let root = if is_absolute || from.starts_with('/') { "/" } else { "" };
    let from = if is_absolute { "" } else { from };
    let mut parts: Vec<&str> = Vec::new();
    for part in from.split('/').chain(path.split(['/', '\\'])) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(format!("{root}{}", parts.join("/")))
}

/// Whether a path is a folder or lies in it.
pub fn is_inside(folder: &str, path: &str) -> bool {
    let rest = path.strip_prefix(folder);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || folder.is_empty() || folder == "/")
}

/// A folder and the folders around it, innermost first.
pub fn ancestors(folder: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(folder), |inner| {
        let is_top = inner.is_empty() || *inner == "/";
        (!is_top).then(|| self::folder(inner))
    })
}

#[cfg(test)]
pub mod memory {
    //! Files that are nowhere but in a test.

    use std::collections::BTreeMap;

    use super::*;

    /// Texts by path. Their numbers are their places.
    #[derive(Debug, Default)]
    pub struct Memory(pub BTreeMap<String, Arc<str>>);

    impl Memory {
        /// From paths and texts.
        pub fn new(files: &[(&str, &str)]) -> Memory {
            Memory(files.iter().map(|(path, text)| (path.to_string(), Arc::from(*text))).collect())
        }
    }

    impl Files for Memory {
        fn number(&self, path: &str) -> Option<FileId> {
            self.0.keys().position(|known| known == path).map(|at| FileId(at as u32))
        }

        fn path(&self, file: FileId) -> Option<Arc<str>> {
            self.0.keys().nth(file.0 as usize).map(|path| path.as_str().into())
        }

        fn sources(&self) -> Vec<(FileId, Arc<str>)> {
            (0..).map(FileId).zip(self.0.keys().map(|path| path.as_str().into())).collect()
        }

        fn text(&self, path: &str) -> Option<Arc<str>> {
            self.0.get(path).cloned()
        }

        fn exists(&self, path: &str) -> bool {
            self.0
                .keys()
                .any(|known| known.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
        }

        fn names(&self, folder: &str) -> Vec<String> {
            let inside = |path: &str| {
                let rest = if folder.is_empty() { path } else { path.strip_prefix(folder)?.strip_prefix('/')? };
                Some(rest.split('/').next()?.to_string())
            };
            let names: std::collections::BTreeSet<String> = self.0.keys().filter_map(|path| inside(path)).collect();
            names.into_iter().collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_as_a_file_system_would() {
        for (from, path, joined) in [
            ("a/b", "../c", Some("a/c")),
            ("a/b", "./c/./d", Some("a/b/c/d")),
            ("", "a//b/", Some("a/b")),
            ("/a", "b", Some("/a/b")),
            ("/a", "..", Some("/")),
            ("a", "/b/c", Some("/b/c")),
            ("a", "../..", None),
            ("/", "..", None),
        ] {
            assert_eq!(join(from, path).as_deref(), joined, "{from} {path}");
        }
        let inside = [("a", "a/b"), ("a", "a"), ("", "a"), ("/", "/a"), ("/a", "/a/b")];
        assert!(inside.iter().all(|(folder, path)| is_inside(folder, path)));
        assert!(!is_inside("a", "ab") && !is_inside("a/b", "a") && !is_inside("/a", "a"));
        assert_eq!(ancestors("a/b/c").collect::<Vec<_>>(), ["a/b/c", "a/b", "a", ""]);
        assert_eq!(ancestors("/a/b").collect::<Vec<_>>(), ["/a/b", "/a", "/"]);
    }
}
