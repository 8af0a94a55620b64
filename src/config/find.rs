//! Where the settings of a run are.

use std::path::{Path, PathBuf};

use crate::repository;

/// The name that is looked for.
pub const FILE_NAME: &str = "retrylint.toml";

/// The nearest retrylint.toml, from `start` upwards to the root of its repository. Outside of a repository as far as the
/// directory that the run started in, if `start` lies below it, else in the directory of `start` alone: what lies further
/// up may be anybody's.
pub fn find(start: &Path) -> Option<PathBuf> {
    let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
    find_from(start, here.as_deref())
}

fn find_from(start: &Path, here: Option<&Path>) -> Option<PathBuf> {
    let first = repository::folder(start)?;
    let root = repository::root(&first, here);
    let inside = first.ancestors().take_while(|directory| directory.starts_with(root));
    inside.map(|directory| directory.join(FILE_NAME)).find(|path| is_there(path))
}

/// Whether something has the name that is no folder. A link that leads nowhere is meant too: who reads it says what is wrong.
fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| !found.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A scratch directory that goes away.
    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Scratch {
            let path = std::env::temp_dir().join(format!("retrylint-find-{name}-{}", std::process::id()));
            let _ = std::fs::remove_dir_all(&path);
            std::fs::create_dir_all(path.join("repo/a/b")).unwrap();
            Scratch(path.canonicalize().unwrap())
        }

        fn touch(&self, path: &str) -> PathBuf {
            let path = self.0.join(path);
            std::fs::write(&path, "").unwrap();
            path
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_nearest_file_up_to_the_repository_root_is_found() {
        let scratch = Scratch::new("nearest");
        std::fs::create_dir(scratch.0.join("repo/.git")).unwrap();
        let outside = scratch.touch("retrylint.toml");
        assert_eq!(find(&scratch.0.join("repo/a/b")), None, "{}", outside.display());
        let root = scratch.touch("repo/retrylint.toml");
        assert_eq!(find(&scratch.0.join("repo/a/b")), Some(root.clone()));
        let near = scratch.touch("repo/a/retrylint.toml");
        assert_eq!(find(&scratch.0.join("repo/a/b")), Some(near));
        let file = scratch.touch("repo/x.yaml");
        assert_eq!(find(&file), Some(root));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_is_found_and_a_folder_is_not() {
        let scratch = Scratch::new("links");
        std::fs::create_dir(scratch.0.join("repo/.git")).unwrap();
        let root = scratch.touch("repo/retrylint.toml");
        std::fs::create_dir(scratch.0.join("repo/a/b/retrylint.toml")).unwrap();
        assert_eq!(find(&scratch.0.join("repo/a/b")), Some(root));
        let link = scratch.0.join("repo/a/retrylint.toml");
        std::os::unix::fs::symlink("nowhere.toml", &link).unwrap();
        assert_eq!(find(&scratch.0.join("repo/a/b")), Some(link));
    }

    #[test]
    fn outside_of_a_repository_only_the_directory_itself_counts() {
        let scratch = Scratch::new("outside");
        let above = scratch.touch("repo/retrylint.toml");
        assert_eq!(find(&scratch.0.join("repo/a")), None);
        // Who starts in a directory means the settings in it, whatever file below is named.
        assert_eq!(find_from(&scratch.0.join("repo/a/b"), Some(&scratch.0.join("repo"))), Some(above.clone()));
        assert_eq!(find_from(&scratch.0.join("repo/a/b"), Some(&scratch.0.join("repo/a"))), None);
        assert_eq!(find(&scratch.0.join("repo")), Some(above));
        assert_eq!(find(&scratch.0.join("nowhere/at/all")), None);
    }
}
