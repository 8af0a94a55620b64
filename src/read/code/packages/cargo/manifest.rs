//! What one Cargo.toml says by itself.

use std::ops::Range;
use std::sync::Arc;

use crate::read::data::toml;
use crate::read::data::tree::Node;
use crate::source::FileId;

/// A manifest. One that cannot be read says nothing.
#[derive(Debug, Default)]
pub struct Manifest {
    /// The package's name and where it stands.
    pub name: Option<(Arc<str>, Range<usize>)>,
    /// Where the workspace is, if that is written.
    pub root: Option<String>,
    /// The library's name in code, if it is not the package's.
    pub library_name: Option<String>,
    /// Its root, if it is not `src/lib.rs`.
    pub library_path: Option<String>,
    /// Programs as listed: name, and path if it is written.
    pub programs: Vec<(String, Option<String>)>,
    /// Whether programs are looked for where they usually lie.
    pub finds_programs: bool,
    /// What it depends on: to run, then to build, then for tests.
    pub dependencies: Vec<Written>,
    /// What members inherit, if it is the root of a workspace.
    pub workspace: Option<Vec<Written>>,
}

/// A dependency as written.
#[derive(Debug)]
pub struct Written {
    /// What code calls it.
    pub key: String,
    /// The package's own name, where it is renamed.
    pub package: Option<String>,
    /// Its folder.
    pub path: Option<String>,
    /// Which versions.
    pub requirement: Option<String>,
    /// Whether the workspace says the rest.
    pub inherits: bool,
}

impl Manifest {
    /// From the text of a manifest; what is readable beside an error counts.
    pub fn new(text: &str) -> Manifest {
        let tree = toml::parse(FileId(0), text);
        let Some(root) = tree.documents().next() else { return Manifest::default() };
        let package = root.get_any(&["package", "project"]);
        let name = package.and_then(|package| package.get("name")).and_then(|name| {
            let text = name.text().filter(|text| !text.is_empty())?;
            Some((text.into(), unquoted(name.span().range())))
        });
        let library = root.get("lib");
        let mut dependencies = Vec::new();
        for kinds in [
            &["dependencies"][..],
            &["build-dependencies", "build_dependencies"],
            &["dev-dependencies", "dev_dependencies"],
        ] {
            dependencies.extend(root.get_any(kinds).into_iter().flat_map(written));
            let targets = root.get("target").into_iter().flat_map(|targets| targets.entries());
            dependencies.extend(targets.filter_map(|target| target.value.get_any(kinds)).flat_map(written));
        }
        let workspace = root.get("workspace");
        Manifest {
            name,
            root: package.and_then(|package| said(package, "workspace")),
            library_name: library.and_then(|library| said(library, "name")),
            library_path: library.and_then(|library| said(library, "path")),
            programs: root
                .get("bin")
                .into_iter()
                .flat_map(|bins| bins.items())
                .filter_map(|bin| Some((said(bin, "name")?, said(bin, "path"))))
                .collect(),
            finds_programs: package.and_then(|package| said(package, "autobins")).as_deref() != Some("false"),
            dependencies,
            workspace: workspace.map(|shared| shared.get("dependencies").into_iter().flat_map(written).collect()),
        }
    }
}

/// The range of a text without its quotes.
fn unquoted(range: Range<usize>) -> Range<usize> {
    range.start + 1..range.end.saturating_sub(1).max(range.start + 1)
}

fn said(node: Node<'_>, key: &str) -> Option<String> {
    node.get(key)?.text().map(str::to_string)
}

fn written(table: Node<'_>) -> Vec<Written> {
    let one = |key: &str, value: Node<'_>| Written {
        key: key.to_string(),
        package: said(value, "package"),
        path: said(value, "path"),
        requirement: value.text().map(str::to_string).or_else(|| said(value, "version")),
        inherits: said(value, "workspace").as_deref() == Some("true"),
    };
    table.entries().into_iter().map(|entry| one(entry.key, entry.value)).collect()
}
