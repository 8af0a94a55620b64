//! [`Catalogue`]: all libraries, looked up by the last part of a path or by the name of a method, so that a unit is walked once
//! however many libraries there are.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, LazyLock};

use super::format::{Is, Library, Shape};
use super::{files, format};

/// All libraries that are looked for.
#[derive(Debug)]
pub struct Catalogue {
    libraries: Vec<Arc<Library>>,
    paths: HashMap<Box<str>, Vec<Entry>>,
    methods: HashMap<Box<str>, Vec<Entry>>,
}

/// How a shape is written in code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// A call by name.
    Call,
    /// A record.
    Record,
    /// A mark of a function.
    Mark,
    /// A name on its own.
    Constant,
    /// A method, known by its name and by what it is called on.
    Method,
    /// A method of something that is in scope.
    MethodOf,
}

/// One way in which one shape is written.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    library: usize,
    shape: usize,
    pub(super) how: How,
    /// The full path; only the name of a [`How::Method`].
    pub(super) path: Arc<str>,
}

impl Default for Catalogue {
    /// The libraries that come with the program.
    fn default() -> Self {
        Catalogue::new(&[])
    }
}

impl Catalogue {
    /// The libraries that come with the program, and those of the settings. Of two with one name the settings' own counts.
    pub fn new(own: &[Arc<Library>]) -> Self {
        let is_replaced = |library: &Library| own.iter().any(|other| other.name == library.name);
        let built_in = built_in().iter().filter(|library| !is_replaced(library));
        Catalogue::of(own.iter().chain(built_in).cloned().collect())
    }

    /// These libraries and no others.
    pub fn of(libraries: Vec<Arc<Library>>) -> Self {
        let mut catalogue = Catalogue { libraries: Vec::new(), paths: HashMap::new(), methods: HashMap::new() };
        for (library, all) in libraries.iter().enumerate() {
            for (shape, one) in all.shapes.iter().enumerate() {
                let paths = [
                    (How::Call, &one.call),
                    (How::Record, &one.record),
                    (How::Mark, &one.mark),
                    (How::Constant, &one.constants),
                    (How::MethodOf, &one.method_of),
                    (How::Method, &one.method),
                ];
                for (how, path) in paths.into_iter().flat_map(|(how, paths)| paths.iter().map(move |path| (how, path)))
                {
                    let entry = Entry { library, shape, how, path: Arc::clone(path) };
                    let last: Box<str> = last(path).into();
                    // A method of a trait may be called by its path too.
                    if how != How::Method {
                        catalogue.paths.entry(last.clone()).or_default().push(entry.clone());
                    }
                    if matches!(how, How::Method | How::MethodOf) {
                        catalogue.methods.entry(last).or_default().push(entry);
                    }
                }
            }
        }
        catalogue.libraries = libraries;
        catalogue
    }

    /// What a path may be, by its last part.
    pub(super) fn paths(&self, last: &str) -> &[Entry] {
        self.paths.get(last).map_or(&[], Vec::as_slice)
    }

    /// What a method may be, by its name.
    pub(super) fn methods(&self, name: &str) -> &[Entry] {
        self.methods.get(name).map_or(&[], Vec::as_slice)
    }

    /// The library and shape of an entry.
    pub(super) fn get(&self, entry: &Entry) -> Option<(&Arc<Library>, &Shape)> {
        let library = self.libraries.get(entry.library)?;
        Some((library, library.shapes.get(entry.shape)?))
    }

    /// Words of which a file must hold one for a library to be used in it: names of packages in code, and names of in-house
    /// helpers, which may be called without naming their package.
    pub fn words(&self) -> Vec<String> {
        let mut words = BTreeSet::new();
        for library in &self.libraries {
            let roots = library.roots.iter().chain(library.aliases.iter().map(|(alias, _)| alias));
            // Of a family of packages, what all their names begin with.
            words.extend(roots.map(|root| root.split_once('*').map_or(last(root), |(family, _)| family).to_string()));
            let paths = library.shapes.iter().flat_map(Shape::paths).filter(|_| library.packages.is_empty());
            words.extend(paths.map(|path| telling(path).to_string()));
            let methods = library.shapes.iter().flat_map(|shape| &shape.method);
            words.extend(methods.filter(|_| library.packages.is_empty()).map(ToString::to_string));
        }
        words.into_iter().collect()
    }
}

/// Types of the libraries that come with the program that make a policy and whose names hold none of these words, spelled as
/// [`Hits`](crate::read::code::hits::Hits) wants them: code that makes one is worth reading. A name of one word would be found
/// everywhere.
pub fn telling_types(language: &str, words: &[String]) -> Vec<String> {
    let libraries = built_in().iter().filter(|library| &*library.language == language);
    let shapes = libraries.flat_map(|library| &library.shapes).filter(|shape| shape.is == Is::Policy);
    let names = shapes.flat_map(Shape::paths).map(|path| telling(path)).filter(|name| {
        let small = name.to_lowercase();
        name.chars().filter(|c| c.is_uppercase()).count() > 1 && !words.iter().any(|word| small.contains(word.as_str()))
    });
    let mut names: Vec<String> = names
        .filter_map(|name| Some(name.chars().next()?.to_lowercase().chain(name.chars().skip(1)).collect()))
        .collect();
    names.sort();
    names.dedup();
    names
}

/// The last part of a path.
pub(super) fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// The part of a path that nobody can leave out: the type of a constructor, else the function.
fn telling(path: &str) -> &str {
    let mut parts = path.rsplit("::");
    let last = parts.next().unwrap_or(path);
    parts.next().filter(|part| part.starts_with(char::is_uppercase)).unwrap_or(last)
}

/// The libraries that come with the program. A file that is not understood is left out; a test sees to it that none is.
fn built_in() -> &'static [Arc<Library>] {
    static LIBRARIES: LazyLock<Vec<Arc<Library>>> = LazyLock::new(|| {
        files::FILES.iter().filter_map(|(_, text)| format::parse(text, None).ok()).map(Arc::new).collect()
    });
    &LIBRARIES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_make_policies_are_words_to_look_for() {
        let words = ["retry".to_string(), "backoff".to_string()];
        let types = telling_types("rust", &words);
        assert_eq!(types, ["constantBuilder", "exponentialBuilder", "fibonacciBuilder", "fixedInterval", "noDelay"]);
        assert_eq!(telling_types("cobol", &words), [""; 0]);
    }
}
