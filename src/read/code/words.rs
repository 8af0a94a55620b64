//! The words of a language, as data: `rules/languages/<language>.toml`. The vocabulary of those files is closed: what a section
//! may say stands in the types below, and an unknown key is an error that a test finds.

use std::fmt::Debug;
use std::hash::Hash;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use serde::Deserialize;

pub mod loops;
pub mod requests;
pub mod values;

pub use loops::LoopWords;
pub use requests::{KeyWords, PurposeWords, RequestWords};
pub use values::ValueWords;

/// What the recognisers need to know of a language's vocabulary.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct Words {
    /// The language: what [`Unit::language`](super::tree::Unit::language) says.
    pub language: String,
    /// In lower case: a file that holds none of these, written small, Capitalised or LARGE, retries nothing by itself.
    pub search: Vec<String>,
    /// The same, where a word of a name begins: `tries` in `max_tries`, not in `entries`.
    pub search_parts: loops::WordList,
    /// What the value tracer knows by name.
    pub values: ValueWords,
    /// What the loop recogniser knows by name.
    pub loops: LoopWords,
    /// How requests are made.
    pub requests: RequestWords,
    /// What makes it harmless to send one again.
    pub keys: KeyWords,
    /// What a try is for.
    pub purposes: PurposeWords,
}

/// One language.
struct Language {
    name: &'static str,
    text: &'static str,
}

/// All languages, each with its file.
const LANGUAGES: &[Language] = &[
    Language { name: "rust", text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/languages/rust.toml")) },
    // What is behind the lowering must not care which language it was.
    #[cfg(test)]
    Language { name: "csharp", text: include_str!("words/fixtures/csharp.toml") },
    #[cfg(test)]
    Language { name: "python", text: include_str!("words/fixtures/python.toml") },
    #[cfg(test)]
    Language { name: "go", text: include_str!("words/fixtures/go.toml") },
];

impl Words {
    /// The words of a language; no words at all for one that is not known.
    pub fn of(language: &str) -> &'static Words {
        static ALL: LazyLock<Vec<Words>> =
            LazyLock::new(|| LANGUAGES.iter().map(|language| read(language).unwrap_or_default()).collect());
        static NONE: LazyLock<Words> = LazyLock::new(Words::default);
        LANGUAGES.iter().position(|known| known.name == language).and_then(|at| ALL.get(at)).unwrap_or(&NONE)
    }

    /// Whether code in which a name stands is found by that name alone.
    pub fn searches_for(&self, name: &str) -> bool {
        let small = name.to_lowercase();
        self.search.iter().any(|word| small.contains(&**word)) || loops::has(&self.search_parts, name)
    }
}

fn read(language: &Language) -> Result<Words, toml::de::Error> {
    toml::from_str(language.text)
}

/// The ends of a path, longest first: `a::b::c`, `b::c`, `c`. Keys of word lists name the end of a path, as people know it by.
pub fn ends(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |rest| behind_first(rest)).take(16)
}

/// What stands behind the first `::`. Asked of every name in every loop: the standard search for two letters takes longer to
/// prepare than a name to read.
fn behind_first(path: &str) -> Option<&str> {
    memchr::memchr_iter(b':', path.as_bytes()).find_map(|at| path.get(at..)?.strip_prefix("::"))
}

/// The last part of a path: `c` of `a::b::c`.
pub fn last_of(path: &str) -> &str {
    memchr::memrchr(b':', path.as_bytes()).and_then(|at| path.get(at + 1..)).unwrap_or(path)
}

/// Words by what they mean: the file gives a list of words for each meaning, and names no word twice.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "FxHashMap<T, Vec<String>>", bound = "T: Copy + Eq + Hash + Debug + Deserialize<'de>")]
pub struct Table<T>(FxHashMap<String, T>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table(FxHashMap::default())
    }
}

impl<T: Copy + Debug> TryFrom<FxHashMap<T, Vec<String>>> for Table<T> {
    type Error = String;

    fn try_from(lists: FxHashMap<T, Vec<String>>) -> Result<Self, String> {
        let mut all = FxHashMap::default();
        for (meaning, words) in lists {
            for word in words {
                if let Some(other) = all.get(&word) {
                    return Err(format!("`{word}` is both {other:?} and {meaning:?}"));
                }
                all.insert(word, meaning);
            }
        }
        Ok(Table(all))
    }
}

impl<T: Copy> Table<T> {
    /// What this word means.
    pub fn get(&self, word: &str) -> Option<T> {
        self.0.get(word).copied()
    }

    /// All words.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// What a path means: by the word that names most of its end.
    pub fn of_path(&self, path: &str) -> Option<T> {
        ends(path).find_map(|end| self.get(end))
    }
}

/// The entry of a table for a path: the one that names most of its end.
pub fn entry<'a, T>(table: &'a FxHashMap<String, T>, path: &str) -> Option<&'a T> {
    ends(path).find_map(|end| table.get(end))
}

/// The words of a name, lower case: `PaymentsClient`, `payments_client` and `payments-client` alike.
pub fn split(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = '_';
    for c in name.chars().take(256) {
        let starts = c.is_uppercase() && (before.is_lowercase() || before.is_numeric());
        if (starts || !c.is_alphanumeric()) && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a list names the end of a path.
pub fn lists(list: &[String], path: &str) -> bool {
    ends(path).any(|end| list.iter().any(|word| word == end))
}

#[cfg(test)]
mod tests {
    use super::values::Unit;
    use super::*;

    #[test]
    fn every_language_reads_and_says_its_own_name() {
        for language in LANGUAGES {
            let words = read(language).unwrap_or_else(|error| panic!("{}: {error}", language.name));
            assert_eq!(words.language, language.name);
            assert_eq!(*Words::of(language.name), words);
        }
        assert_eq!(*Words::of("klingon"), Words::default());
    }

    #[test]
    fn an_unknown_key_is_an_error() {
        assert!(toml::from_str::<Words>("language = 'x'\n[values.durations]\nms = ['f']").is_ok());
        assert!(toml::from_str::<Words>("language = 'x'\n[values.duration]\nms = ['f']").is_err());
        assert!(toml::from_str::<Words>("language = 'x'\n[values.durations]\nfortnight = ['f']").is_err());
    }

    #[test]
    fn a_path_is_known_by_its_ends() {
        assert_eq!(ends("std::cmp::min").collect::<Vec<_>>(), ["std::cmp::min", "cmp::min", "min"]);
        assert_eq!(ends("min").collect::<Vec<_>>(), ["min"]);
        assert_eq!(ends("a:b::c").collect::<Vec<_>>(), ["a:b::c", "c"]);
        assert_eq!(["std::cmp::min", "min", "r#try", "é::é", ""].map(last_of), ["min", "min", "r#try", "é", ""]);
    }

    #[test]
    fn a_word_has_one_meaning() {
        let twice = toml::from_str::<Table<Unit>>("ms = ['tick']\ns = ['tick']");
        assert!(twice.is_err_and(|error| error.message().contains("`tick` is both")));
    }
}
