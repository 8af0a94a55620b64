//! Where a repository begins, and paths as it names them: from its root, whatever folder a run starts in. Fingerprints and
//! baselines rest on such paths.

use std::path::{Path, PathBuf};

/// The folder of a path, links resolved: itself if it is one.
pub(crate) fn folder(start: &Path) -> Option<PathBuf> {
    let start = start.canonicalize().or_else(|_| std::path::absolute(start)).ok()?;
    if start.is_dir() { Some(start) } else { start.parent().map(Path::to_path_buf) }
}

/// The root of the repository that a folder lies in. Outside of one the directory that the run started in, if the folder
/// lies below it, else the folder itself.
pub(crate) fn root<'p>(folder: &'p Path, here: Option<&'p Path>) -> &'p Path {
    let repository = folder.ancestors().find(|directory| directory.join(".git").exists());
    repository.or(here.filter(|here| folder.starts_with(here))).unwrap_or(folder)
}

/// A repository, or the folder that stands for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    root: PathBuf,
}

impl Repository {
    /// The one that a path lies in.
    pub fn of(start: &Path) -> Repository {
        let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
        let folder = folder(start).or_else(|| here.clone()).unwrap_or_default();
        Repository { root: root(&folder, here.as_deref()).to_path_buf() }
    }

    /// Its root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path as the repository names it, `/` between its parts: from the root on, links resolved. What lies elsewhere, or
    /// is no file (standard input), keeps its name.
    pub fn name(&self, shown: &str) -> String {
        let whole = Path::new(shown).canonicalize().ok();
        let below = whole.as_deref().and_then(|whole| whole.strip_prefix(&self.root).ok());
        below.map_or_else(|| shown.to_string(), |below| below.to_string_lossy().replace('\\', "/"))
    }
}
