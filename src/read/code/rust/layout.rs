//! Where modules lie: the module that a file is, and the files that a module may be.

use crate::read::code::files::{self, join};
use crate::read::code::packages::Package;

const END: &str = ".rs";

/// The path of a file's module within its package, by where it lies: `crate::a::b` for `src/a/b.rs` and `src/a/b/mod.rs`. A file
/// that lies beside all roots goes by its own name.
pub fn module(package: Option<&Package>, file: &str) -> String {
    let stem = || format!("crate::{}", stem(file));
    let Some(package) = package else { return stem() };
    let roots = || package.programs.iter().chain(&package.library);
    if roots().any(|root| **root == *file) {
        return "crate".to_owned();
    }
    // The root whose folder is nearest: `src/bin/x/main.rs` before `src/lib.rs`.
    let nearest = roots().filter_map(|root| below(files::folder(root), file)).min_by_key(|rest| rest.len());
    let Some(rest) = nearest.and_then(|rest| rest.strip_suffix(END)) else { return stem() };
    let parts = rest.strip_suffix("/mod").unwrap_or(rest).split('/');
    std::iter::once("crate").chain(parts).collect::<Vec<_>>().join("::")
}

/// What is left of a path below a folder.
pub fn below<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    match folder {
        "" => Some(path),
        _ => {
            path.strip_prefix(folder)?.strip_prefix('/').or_else(|| path.strip_prefix(folder).filter(|_| folder == "/"))
        }
    }
}

/// The file name of a path without its ending.
pub fn stem(path: &str) -> &str {
    let name = files::name(path);
    name.strip_suffix(END).unwrap_or(name)
}

/// A file, as a place for modules of its own.
#[derive(Clone, Copy, Debug)]
pub struct Home<'a> {
    /// Its path.
    pub path: &'a str,
    /// Whether its modules lie beside it: it is a root, is called `mod.rs`, or was named by `#[path]`.
    pub is_main: bool,
}

/// The files that `mod name;` may mean, in a file and the inline modules `inner` of it. `named`: the text of `#[path = "…"]`.
pub fn candidates(home: Home<'_>, inner: &[&str], name: &str, named: Option<&str>) -> Vec<String> {
    let folder = files::folder(home.path).to_owned();
    let own = if home.is_main { Some(folder.clone()) } else { join(&folder, stem(home.path)) };
    let inside = |from: Option<String>| inner.iter().try_fold(from?, |folder, inner| join(&folder, inner));
    if let Some(named) = named {
        let from = if inner.is_empty() { Some(folder) } else { inside(own) };
        return from.and_then(|from| join(&from, named)).into_iter().collect();
    }
    let Some(folder) = inside(own) else { return Vec::new() };
    [format!("{name}{END}"), format!("{name}/mod{END}")].iter().filter_map(|path| join(&folder, path)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_module_of_a_file_follows_from_where_it_lies() {
        let package = Package {
            name: "web".into(),
            dir: "web".into(),
            has_binary: true,
            library: Some("web/src/lib.rs".into()),
            library_name: "web".into(),
            programs: vec!["web/src/bin/job.rs".into(), "web/src/bin/run/main.rs".into(), "web/src/main.rs".into()],
            dependencies: BTreeMap::new(),
        };
        for (file, path) in [
            ("web/src/lib.rs", "crate"),
            ("web/src/main.rs", "crate"),
            ("web/src/bin/job.rs", "crate"),
            ("web/src/bin/run/main.rs", "crate"),
            ("web/src/bin/run/limits.rs", "crate::limits"),
            ("web/src/a.rs", "crate::a"),
            ("web/src/a/b.rs", "crate::a::b"),
            ("web/src/a/mod.rs", "crate::a"),
            ("web/src/a/b/mod.rs", "crate::a::b"),
            ("web/build/x.rs", "crate::x"),
        ] {
            assert_eq!(module(Some(&package), file), path, "{file}");
        }
        assert_eq!(module(None, "a/b/c.rs"), "crate::c");
        let at_top = Package { library: Some("lib.rs".into()), programs: Vec::new(), ..package };
        assert_eq!(module(Some(&at_top), "a/b.rs"), "crate::a::b");
    }

    #[test]
    fn a_module_may_be_either_of_two_files_or_the_one_that_is_named() {
        let of = |path, is_main, inner: &[&str], named| candidates(Home { path, is_main }, inner, "m", named);
        for (path, is_main, inner, named, files) in [
            ("src/lib.rs", true, &[][..], None, &["src/m.rs", "src/m/mod.rs"][..]),
            ("src/a.rs", false, &[], None, &["src/a/m.rs", "src/a/m/mod.rs"]),
            ("src/a/mod.rs", true, &[], None, &["src/a/m.rs", "src/a/m/mod.rs"]),
            ("src/lib.rs", true, &["x", "y"], None, &["src/x/y/m.rs", "src/x/y/m/mod.rs"]),
            ("src/a.rs", false, &["x"], None, &["src/a/x/m.rs", "src/a/x/m/mod.rs"]),
            ("src/a.rs", false, &[], Some("os/unix.rs"), &["src/os/unix.rs"]),
            ("src/a.rs", false, &["x"], Some("unix.rs"), &["src/a/x/unix.rs"]),
            ("src/a/mod.rs", true, &["x"], Some("../unix.rs"), &["src/a/unix.rs"]),
            ("src/a.rs", false, &[], Some("../../../x.rs"), &[]),
        ] {
            assert_eq!(of(path, is_main, inner, named), files, "{path} {inner:?} {named:?}");
        }
    }
}
