//! By which words the use of a library is found in a text, before anything is parsed.

use super::format::{Is, Library, Origin, Shape};
use super::index::last;

/// Words of which a file must hold one for a library to be used in it: its name in code, and of those that the settings teach the
/// names of everything, which may be called without naming their package.
pub fn roots(library: &Library) -> Vec<String> {
    let roots = library.roots.iter().chain(library.aliases.iter().map(|(alias, _)| alias));
    // Of a family of packages, what all their names begin with.
    let roots = roots.map(|root| root.split_once('*').map_or(last(root), |(family, _)| family).to_owned());
    // Those of the catalogue are known by what they are about; what a helper of one's own is called, nobody can tell.
    if library.origin == Origin::File {
        return roots.collect();
    }
    let methods = library.shapes.iter().flat_map(|shape| &shape.method).map(ToString::to_string);
    roots.chain(paths(library).map(str::to_owned)).chain(methods).collect()
}

/// Types of a library that make a policy and whose names hold none of these words, as [`spelled`]: code that makes one is worth
/// reading. A name of one word would be found everywhere.
pub fn types(library: &Library, words: &[String]) -> Vec<String> {
    let shapes = library.shapes.iter().filter(|shape| shape.is == Is::Policy);
    let names = shapes.flat_map(Shape::paths).map(|path| telling(path)).filter(|name| {
        let small = name.to_lowercase();
        name.chars().filter(|c| c.is_uppercase()).count() > 1 && !words.iter().any(|word| small.contains(word.as_str()))
    });
    let mut names: Vec<String> = names.map(spelled).collect();
    names.sort();
    names.dedup();
    names
}

/// Names of which one stands wherever a construct of a library does, as [`spelled`].
pub fn constructs(library: &Library) -> Vec<String> {
    let methods = library.shapes.iter().flat_map(|shape| &shape.method).map(|method| &**method);
    // A type may go by another name; modules are left out anyway.
    let aliases =
        library.aliases.iter().map(|(alias, _)| last(alias)).filter(|name| name.starts_with(char::is_uppercase));
    let mut names: Vec<String> = paths(library).chain(methods).chain(aliases).map(spelled).collect();
    names.sort();
    names.dedup();
    names
}

/// A name, or the part of a path that nobody can leave out, as [`Hits`](crate::read::code::hits::Hits) wants it: with a small
/// letter at its beginning.
pub fn spelled(path: &str) -> String {
    let name = telling(path);
    let mut letters = name.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

fn paths(library: &Library) -> impl Iterator<Item = &str> {
    library.shapes.iter().flat_map(Shape::paths).map(|path| telling(path))
}

/// The part of a path that nobody can leave out: the type of a constructor, else the function, without the sign of a macro.
fn telling(path: &str) -> &str {
    let mut parts = path.rsplit("::");
    let last = parts.next().unwrap_or(path).trim_end_matches('!');
    parts.next().filter(|part| part.starts_with(char::is_uppercase)).unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::code::catalogue::Catalogue;

    #[test]
    fn types_that_make_policies_are_words_to_look_for() {
        let words = ["retry".to_string(), "backoff".to_string()];
        let catalogue = Catalogue::default();
        let mut all: Vec<String> = catalogue.libraries().flat_map(|library| types(library, &words)).collect();
        all.sort();
        all.dedup();
        assert_eq!(all, ["constantBuilder", "exponentialBuilder", "fibonacciBuilder", "fixedInterval", "noDelay"]);
    }

    #[test]
    fn a_construct_goes_by_its_type_or_its_function() {
        assert_eq!(spelled("acme::RetryClient::new"), "retryClient");
        assert_eq!(spelled("acme::get"), "get");
        assert_eq!(spelled("acme::again!"), "again");
        assert_eq!(spelled("retry"), "retry");
    }
}
