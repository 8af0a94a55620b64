//! [`Hits`]: where a text holds one of the words that make it worth reading.

use aho_corasick::{AhoCorasick, Match, MatchKind};

/// Finds words in the three ways in which they are written: small, Capitalised, LARGE. Matching these case by case is much cheaper
/// than looking at no case at all.
#[derive(Clone, Debug)]
pub struct Hits {
    /// None if every place counts as a word.
    words: Option<AhoCorasick>,
    /// The first of the patterns that only count where a word of a name begins.
    parts: usize,
}

/// Spellings of a word.
const SPELLINGS: usize = 3;

impl Hits {
    /// Words in lower case, wherever they stand.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        Hits::with_parts(words, [])
    }

    /// The same, and words that only count where a word of a name begins: `tries` is in `max_tries` and `maxTries`, not in
    /// `entries`.
    pub fn with_parts<'a>(words: impl IntoIterator<Item = &'a str>, parts: impl IntoIterator<Item = &'a str>) -> Self {
        let words: Vec<&str> = words.into_iter().collect();
        let first = words.len() * SPELLINGS;
        let spellings = words.into_iter().chain(parts).flat_map(|word| {
            let first = word.chars().next().map_or(0, char::len_utf8);
            let (first, rest) = word.split_at_checked(first).unwrap_or_default();
            [word.to_owned(), first.to_uppercase() + rest, word.to_uppercase()]
        });
        // Leftmost matches alone are found by the vector instructions. Only gigabytes of words could fail; then everything is read.
        let words = AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(spellings).ok();
        Hits { words, parts: first }
    }

    /// Whether a text holds a word.
    pub fn is_match(&self, text: &str) -> bool {
        self.places(text).is_none_or(|mut places| places.next().is_some())
    }

    /// Where words begin, in order. None if every place counts as one.
    pub fn places<'a>(&'a self, text: &'a str) -> Option<impl Iterator<Item = usize> + 'a> {
        let found = self.words.as_ref()?.find_iter(text);
        Some(found.filter(|found| self.counts(text, *found)).map(|found| found.start()))
    }

    fn counts(&self, text: &str, found: Match) -> bool {
        if found.pattern().as_usize() < self.parts {
            return true;
        }
        let before = found.start().checked_sub(1).and_then(|at| text.as_bytes().get(at));
        match text.as_bytes().get(found.start()) {
            Some(first) if first.is_ascii_lowercase() => !before.is_some_and(u8::is_ascii_lowercase),
            // `maxTries` and `MAXTries` are Capitalised; `INDUSTRIES` is LARGE.
            _ if found.pattern().as_usize() % SPELLINGS == SPELLINGS - 1 => !before.is_some_and(u8::is_ascii_uppercase),
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_three_spellings() {
        let hits = Hits::new(["retry", "backoff"]);
        let text = "retry Retry RETRY rEtry ExponentialBackoff BackOff";
        let found: Vec<_> = hits.places(text).unwrap().collect();
        assert_eq!(found, [0, 6, 12, text.find("Backoff").unwrap()]);
        assert!(hits.is_match("MAX_RETRY") && !hits.is_match("BackOff"));
        assert!(!Hits::new([]).is_match("retry"));
    }

    #[test]
    fn a_part_counts_where_a_word_of_a_name_begins() {
        let hits = Hits::with_parts(["sleep"], ["tries"]);
        for text in ["tries", "max_tries", "maxTries", "Tries", "HTTPTries", "MAX_TRIES", "n2tries", "nanosleep"] {
            assert!(hits.is_match(text), "{text}");
        }
        for text in ["entries", "Entries", "ENTRIES", "countries of the world", "tRIES"] {
            assert!(!hits.is_match(text), "{text}");
        }
        assert_eq!(hits.places("entries, tries").unwrap().collect::<Vec<_>>(), [9]);
    }
}
