//! [`Library`]: one file of the catalogue, or one `[[library]]` of retrylint.toml.

use std::sync::Arc;

use super::example::{Example, example};
use super::says::combine;
use super::shape::{On, Shape, shape};
use super::versions::{KINDS, PackageRef};
use super::{keys, path};
use crate::read::code::packages::{Dependency, From, Package};
use crate::read::data::tree::{Entry, Node};
use crate::read::vocabulary::values::{FIRST, TEXT, named};
use crate::read::vocabulary::{Faults, plain, quoted, texts};

/// How a library spells a policy.
#[derive(Clone, Debug, PartialEq)]
pub struct Library {
    /// Where its entry stands.
    pub origin: Origin,
    /// Its name as shown.
    pub name: Arc<str>,
    /// The language of the code that it is used from.
    pub language: Arc<str>,
    /// One of these must be a dependency; empty asks for none.
    pub packages: Vec<PackageRef>,
    /// Paths that its own begin with.
    pub roots: Vec<Arc<str>>,
    /// Re-exports: what begins with the first is what begins with the second.
    pub aliases: Vec<(Arc<str>, Arc<str>)>,
    /// What was read for it.
    pub source: Option<Arc<str>>,
    /// How parts of a kind are joined: kind, operator, way.
    pub combine: Vec<(Arc<str>, Arc<str>, Combining)>,
    /// Its constructs.
    pub shapes: Vec<Shape>,
    /// Code, and what must be read in it.
    pub examples: Vec<Example>,
}

/// How two parts become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combining {
    /// Whatever comes first ends it.
    First,
    /// Both must have come.
    Last,
    /// Delays are added.
    Sum,
}

/// Where an entry stands: what it must have differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file of the catalogue.
    File,
    /// `[[library]]` of retrylint.toml.
    Settings,
}

impl Library {
    /// The shape of an id.
    pub fn shape(&self, id: &str) -> Option<&Shape> {
        self.shapes.iter().find(|shape| shape.id.as_deref() == Some(id))
    }

    /// Whether a dependency is what the library is known for.
    pub fn is(&self, dependency: &Dependency) -> bool {
        dependency.from == From::Outside
            && self.packages.iter().any(|package| {
                package.is(&dependency.package)
                    && dependency.version.is_none_or(|version| package.versions.contain(version))
            })
    }

    /// Whether the code of a package may use it; of no package that is known, any code may.
    pub fn may_be_used_by(&self, package: Option<&Package>) -> bool {
        let depends = |package: &Package| package.dependencies.values().any(|dependency| self.is(dependency));
        self.packages.is_empty() || package.is_none_or(depends)
    }
}

/// Reads a library; none if it has not even a name.
pub fn library(node: Node<'_>, origin: Origin, rules: Option<&[&str]>, faults: &mut Faults) -> Option<Library> {
    let mut library = Library {
        origin,
        name: "".into(),
        language: "".into(),
        packages: Vec::new(),
        roots: Vec::new(),
        aliases: Vec::new(),
        source: None,
        combine: Vec::new(),
        shapes: Vec::new(),
        examples: Vec::new(),
    };
    for entry in node.written_entries() {
        match entry.key {
            "schema" => _ = plain(&entry, FIRST, faults),
            "name" => library.name = plain(&entry, TEXT, faults).unwrap_or_default(),
            "language" => library.language = plain(&entry, TEXT, faults).unwrap_or_default(),
            "packages" => library.packages = packages(&entry, faults),
            "roots" => library.roots = roots(&entry, faults),
            "aliases" => library.aliases = aliases(&entry, faults),
            "source" => library.source = plain(&entry, TEXT, faults),
            "combine" => library.combine = combine(&entry, faults),
            "shape" => {
                let tables = tables(&entry, faults);
                library.shapes = tables.into_iter().filter_map(|node| shape(node, rules, faults)).collect();
            }
            "example" => {
                let tables = tables(&entry, faults);
                library.examples = tables.into_iter().filter_map(|node| example(node, faults)).collect();
            }
            _ => faults.unknown(&entry, &keys::LIBRARY),
        }
    }
    let required: &[&str] = match origin {
        Origin::File => &["schema", "name", "language", "packages", "roots", "source", "shape"],
        Origin::Settings => &["name", "language", "roots", "shape"],
    };
    let missing: Vec<&str> = required.iter().copied().filter(|key| is_missing(node, key)).collect();
    if !missing.is_empty() {
        faults.add(node.span(), format!("a library needs {}", quoted(&missing)), None);
    }
    resolve(node, &mut library, faults);
    (!library.name.is_empty()).then_some(library)
}

/// Whether a library does not say something; without a shape it says nothing at all.
fn is_missing(node: Node<'_>, key: &str) -> bool {
    node.get(key).is_none_or(|value| key == "shape" && value.is_seq() && value.items().len() == 0)
}

fn tables<'t>(entry: &Entry<'t>, faults: &mut Faults) -> Vec<Node<'t>> {
    if !entry.value.is_seq() || entry.value.items().any(|item| !item.is_map()) {
        faults.misfit(entry.key, entry.value, &format!("tables: `[[{}]]`", entry.key));
        return Vec::new();
    }
    entry.value.items().collect()
}

fn packages(entry: &Entry<'_>, faults: &mut Faults) -> Vec<PackageRef> {
    let mut all = Vec::new();
    for (text, node) in texts(entry, keys::PACKAGES, faults) {
        match PackageRef::parse(text) {
            Some(package) => all.push(package),
            None => {
                let help = format!("write `kind:name@versions`, with the kind one of {}", quoted(KINDS));
                faults.add(node.span(), format!("`{text}` names no package"), Some(help));
            }
        }
    }
    all
}

fn roots(entry: &Entry<'_>, faults: &mut Faults) -> Vec<Arc<str>> {
    let all = texts(entry, keys::ROOTS, faults);
    all.into_iter().map(|(text, _)| path(text)).collect()
}

fn aliases(entry: &Entry<'_>, faults: &mut Faults) -> Vec<(Arc<str>, Arc<str>)> {
    if !faults.is_map(entry, "a table: the path of a re-export, and what it is") {
        return Vec::new();
    }
    let mut all = Vec::new();
    for alias in entry.value.written_entries() {
        all.extend(plain(&alias, named("a path"), faults).map(|real| (path(alias.key), path(&real))));
    }
    all
}

/// What is said in one place about another: paths under roots, ids, kinds of parts.
fn resolve(node: Node<'_>, library: &mut Library, faults: &mut Faults) {
    let nodes: Vec<Node<'_>> = node.get("shape").map(|shapes| shapes.items().collect()).unwrap_or_default();
    let ids: Vec<Arc<str>> = library.shapes.iter().filter_map(|shape| shape.id.clone()).collect();
    let kinds: Vec<Arc<str>> = library.shapes.iter().filter_map(|shape| shape.part.clone()).collect();
    for (i, id) in ids.iter().enumerate() {
        if ids.iter().take(i).any(|other| other == id) {
            faults.add(node.span(), format!("two shapes are called `{id}`"), None);
        }
    }
    for node in &nodes {
        for key in ["call", "method_of", "record", "mark", "const"] {
            let Some(entry) = node.entry(key) else { continue };
            let mut ignored = Faults::default();
            for (text, at) in texts(&entry, keys::PATHS, &mut ignored) {
                let path = path(text);
                let mut known = library.roots.iter().chain(library.aliases.iter().map(|(alias, _)| alias));
                // Without any root, that is what is told.
                if !library.roots.is_empty() && !known.any(|root| super::is_within(&path, root)) {
                    let roots: Vec<&str> = library.roots.iter().map(|root| &**root).collect();
                    let help = format!("paths here begin with {}", quoted(&roots));
                    faults.add(at.span(), format!("`{text}` lies under no root"), Some(help));
                }
            }
        }
        // References to other shapes may stand anywhere below.
        for inner in node.walk() {
            for entry in inner.written_entries() {
                let known: &[Arc<str>] = match entry.key {
                    "shape" => &ids,
                    "part" => &kinds,
                    _ => continue,
                };
                if let Some(text) = entry.value.text().map(str::trim)
                    && !known.iter().any(|id| **id == *text)
                {
                    let what = if entry.key == "shape" { "no shape is called" } else { "no part is of the kind" };
                    faults.unknown_name(entry.value.span(), what, text, known.iter().map(|id| &**id));
                }
            }
        }
    }
    if let Some(combine) = node.get("combine") {
        for part in combine.written_entries().filter(|part| !kinds.iter().any(|kind| **kind == *part.key)) {
            faults.unknown_name(part.key_span, "no part is of the kind", part.key, kinds.iter().map(|kind| &**kind));
        }
    }
    for shape in &mut library.shapes {
        for on in &mut shape.on {
            let On::Method(text) = on else { continue };
            if ids.contains(text) {
                *on = On::Shape(Arc::clone(text));
            } else if text.contains("::") || text.contains('.') {
                *on = On::Path(path(text));
            }
        }
    }
}
