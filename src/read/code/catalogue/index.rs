//! [`Catalogue`]: all libraries, looked up by the last part of a path or by the name of a method, so that a unit is walked once
//! however many libraries there are.

use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;

use super::format::{Library, Shape};
use super::{files, format};
use crate::read::code::words::last_of;

/// All libraries that are looked for.
#[derive(Debug)]
pub struct Catalogue {
    libraries: Vec<Arc<Library>>,
    paths: FxHashMap<Box<str>, Vec<Entry>>,
    methods: FxHashMap<Box<str>, Vec<Entry>>,
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
        let mut catalogue =
            Catalogue { libraries: Vec::new(), paths: FxHashMap::default(), methods: FxHashMap::default() };
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

    /// All libraries.
    pub fn libraries(&self) -> impl Iterator<Item = &Library> {
        self.libraries.iter().map(|library| &**library)
    }
}

/// The last part of a path.
pub(super) fn last(path: &str) -> &str {
    last_of(path)
}

/// The libraries that come with the program. A file that is not understood is left out; a test sees to it that none is.
fn built_in() -> &'static [Arc<Library>] {
    static LIBRARIES: LazyLock<Vec<Arc<Library>>> = LazyLock::new(|| {
        files::FILES.iter().filter_map(|(_, text)| format::parse(text, None).ok()).map(Arc::new).collect()
    });
    &LIBRARIES
}
