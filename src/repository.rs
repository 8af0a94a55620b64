//! Where a repository begins, and what a file is called in it: its path from the root on, wherever in it the run started.
//! Code scanning, annotations, code quality and test reports need it to find the file; fingerprints and baselines rest on it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::scan::slashes;

/// From the path of a file as shown to what it is called in the report.
pub type Locate<'a> = &'a dyn Fn(&str) -> String;

/// The folder of a path, links resolved: itself if it is one.
pub(crate) fn folder(start: &Path) -> Option<PathBuf> {
    let start = start.canonicalize().or_else(|_| std::path::absolute(start)).ok()?;
    if start.is_dir() { Some(start) } else { start.parent().map(Path::to_path_buf) }
}

/// The root of the repository that a folder lies in: the nearest folder upwards that has a `.git`. Outside of one the
/// directory that the run started in, if the folder lies below it, else the folder itself.
pub(crate) fn root<'p>(folder: &'p Path, here: Option<&'p Path>) -> &'p Path {
    let repository = folder.ancestors().find(|directory| directory.join(".git").exists());
    repository.or(here.filter(|here| folder.starts_with(here))).unwrap_or(folder)
}

/// A repository, or the folder that stands for one.
#[derive(Debug)]
pub struct Repository {
    /// Where the run started, links resolved; none if that folder is gone.
    here: Option<PathBuf>,
    root: PathBuf,
    known: RefCell<HashMap<String, String>>,
}

impl Repository {
    /// The repository around the folder that a run starts in.
    pub fn around(here: &Path) -> Self {
        let here = here.canonicalize().ok();
        let root = here.as_deref().map(|here| root(here, None).to_path_buf()).unwrap_or_default();
        Repository { here, root, known: RefCell::default() }
    }

    /// The one that a path lies in, for a run that starts in the current directory.
    pub fn of(path: &Path) -> Self {
        let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
        let folder = folder(path).or_else(|| here.clone()).unwrap_or_default();
        let root = root(&folder, here.as_deref()).to_path_buf();
        Repository { here, root, known: RefCell::default() }
    }

    /// Its root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path, as shown from where the run started, below the root: links resolved, `/` between its parts. The whole path if
    /// it lies elsewhere.
    pub fn path(&self, shown: &str) -> String {
        if let Some(path) = self.known.borrow().get(shown) {
            return path.clone();
        }
        let path = self.here.as_deref().map_or_else(|| shown.to_string(), |here| self.below(&here.join(shown)));
        self.known.borrow_mut().insert(shown.to_string(), path.clone());
        path
    }

    fn below(&self, path: &Path) -> String {
        let whole = resolved(path);
        slashes(whole.strip_prefix(&self.root).unwrap_or(&whole))
    }
}

/// The path with its links resolved, as far as it is there: standard input has only a name, and a name that is not UTF-8 is
/// not found by how it is shown. Then its folder says where it lies.
fn resolved(path: &Path) -> PathBuf {
    let real = path.ancestors().find_map(|part| Some(part.canonicalize().ok()?.join(path.strip_prefix(part).ok()?)));
    real.unwrap_or_else(|| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, files: &[&str]) -> Self {
            let path = std::env::temp_dir().join(format!("retrylint-repository-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            for file in files {
                let file = path.join(file);
                std::fs::create_dir_all(file.parent().unwrap()).unwrap();
                std::fs::write(file, "").unwrap();
            }
            Folder(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn paths_start_at_the_root_wherever_the_run_did() {
        let folder = Folder::new("root", &[".git/HEAD", "deploy/web/a.yaml", "mesh/b.yaml"]);
        let repository = Repository::around(&folder.0.join("deploy/web"));
        assert_eq!(repository.path("a.yaml"), "deploy/web/a.yaml");
        assert_eq!(repository.path("../../mesh/b.yaml"), "mesh/b.yaml");
        assert_eq!(repository.path(&slashes(&folder.0.join("mesh/b.yaml"))), "mesh/b.yaml");
        // Asked again, it says the same.
        assert_eq!(repository.path("a.yaml"), "deploy/web/a.yaml");
    }

    #[test]
    fn without_a_repository_paths_start_where_the_run_did() {
        let folder = Folder::new("none", &["deploy/a.yaml"]);
        assert_eq!(Repository::around(&folder.0.join("deploy")).path("a.yaml"), "a.yaml");
    }

    #[test]
    fn a_path_that_is_named_brings_its_own_repository() {
        let folder = Folder::new("named", &["repo/.git/HEAD", "repo/deploy/a.yaml", "alone/b.yaml"]);
        let repository = Repository::of(&folder.0.join("repo/deploy/a.yaml"));
        assert_eq!(repository.root(), folder.0.join("repo").canonicalize().unwrap());
        assert_eq!(repository.path(&slashes(&folder.0.join("repo/deploy/a.yaml"))), "deploy/a.yaml");
        let alone = Repository::of(&folder.0.join("alone"));
        assert_eq!(alone.path(&slashes(&folder.0.join("alone/b.yaml"))), "b.yaml");
    }

    #[test]
    fn what_lies_elsewhere_keeps_its_whole_path() {
        let folder = Folder::new("outside", &["repo/.git/HEAD", "other/a.yaml"]);
        let path = Repository::around(&folder.0.join("repo")).path("../other/a.yaml");
        assert!(path.starts_with('/') && path.ends_with("/other/a.yaml") && !path.contains(".."), "{path}");
    }

    #[test]
    fn what_is_no_file_lies_where_its_folder_does() {
        let folder = Folder::new("stdin", &[".git/HEAD", "deploy/a.yaml"]);
        let repository = Repository::around(&folder.0.join("deploy"));
        assert_eq!(repository.path("<stdin>"), "deploy/<stdin>");
        assert_eq!(repository.path("new/caf\u{fffd}.yaml"), "deploy/new/caf\u{fffd}.yaml");
    }

    #[cfg(unix)]
    #[test]
    fn links_are_resolved_and_a_backslash_is_part_of_a_name() {
        let folder = Folder::new("links", &[".git/HEAD", "real/a\\b.yaml"]);
        std::os::unix::fs::symlink(folder.0.join("real"), folder.0.join("link")).unwrap();
        assert_eq!(Repository::around(&folder.0).path("link/a\\b.yaml"), "real/a\\b.yaml");
    }
}
