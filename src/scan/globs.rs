//! Path patterns of retrylint.toml: as people write them in ignore files.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::ScanError;

/// A set of patterns. `legacy/**` and `legacy/` take everything below that folder, `*.gen.yaml` and `vendor` stand at any
/// depth, since they hold no `/`.
#[derive(Clone, Debug)]
pub struct Globs(GlobSet, Vec<String>);

impl Globs {
    /// From patterns as written.
    ///
    /// # Errors
    /// If one is no glob.
    pub fn new<S: AsRef<str>>(patterns: &[S]) -> Result<Globs, ScanError> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            let written = pattern.as_ref();
            let wrong = |error: globset::Error| ScanError::Glob {
                pattern: written.to_string(),
                message: error.kind().to_string(),
            };
            set.add(GlobBuilder::new(&anchored(written)).literal_separator(true).build().map_err(wrong)?);
        }
        let whole = |error: globset::Error| ScanError::Glob { pattern: String::new(), message: error.to_string() };
        let written = patterns.iter().map(|pattern| pattern.as_ref().to_string()).collect();
        Ok(Globs(set.build().map_err(whole)?, written))
    }

    /// Whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a path, or a folder that it lies in, is taken.
    pub fn take(&self, path: &str) -> bool {
        !self.is_empty() && folders(path).any(|part| self.0.is_match(part))
    }

    /// The first pattern that takes a path, or a folder that it lies in, as it was written.
    pub fn which(&self, path: &str) -> Option<&str> {
        let first = folders(path).filter_map(|part| self.0.matches(part).into_iter().min()).min()?;
        self.1.get(first).map(String::as_str)
    }
}

/// A pattern as a glob over whole paths: without a `/` in it, it stands at any depth.
pub(crate) fn anchored(written: &str) -> String {
    let bare = written.trim_start_matches("./").trim_end_matches('/');
    match bare.strip_prefix('/') {
        Some(rest) => rest.to_string(),
        None if bare.contains('/') => bare.to_string(),
        None => format!("**/{bare}"),
    }
}

/// The folders that a path lies in, from the outermost on, and the path itself.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at).filter(|at| *at > 0).chain([path.len()]);
    ends.filter_map(|end| path.get(..end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read_as_in_ignore_files() {
        let takes = |pattern: &str, path: &str| Globs::new(&[pattern]).unwrap().take(path);
        assert!(takes("legacy/**", "legacy/a/b.yaml"));
        assert!(takes("legacy/", "legacy/a/b.yaml"));
        assert!(takes("legacy", "x/legacy/b.yaml"));
        assert!(takes("*.gen.yaml", "x/y/a.gen.yaml"));
        assert!(takes("a/*.yaml", "a/b.yaml"));
        assert!(takes("/a.yaml", "a.yaml"));
        assert!(takes("./a/b", "a/b/c.yaml"));
        assert!(!takes("a/*.yaml", "a/b/c.yaml"));
        assert!(!takes("a/*.yaml", "x/a/b.yaml"));
        assert!(!takes("legacy", "legacy2/b.yaml"));
        assert!(!Globs::new::<&str>(&[]).unwrap().take("a"));
    }

    #[test]
    fn the_pattern_that_takes_a_path_is_known() {
        let globs = Globs::new(&["*.json", "./x/old/", "a/b.yaml"]).unwrap();
        assert_eq!(globs.which("x/old/y/b.yaml"), Some("./x/old/"));
        assert_eq!(globs.which("old/y/b.yaml"), None);
        assert_eq!(globs.which("a/b.yaml"), Some("a/b.yaml"));
        assert_eq!(globs.which("a/b.json"), Some("*.json"));
        assert_eq!(globs.which("b.yaml"), None);
    }

    #[test]
    fn a_pattern_that_is_none_is_an_error_that_shows_it() {
        let error = Globs::new(&["a/[b"]).unwrap_err();
        assert!(error.to_string().contains("a/[b"), "{error}");
    }
}
