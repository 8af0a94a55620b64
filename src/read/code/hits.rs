//! [`Hits`]: where a text holds one of the words that make it worth reading.

use aho_corasick::AhoCorasick;

/// Finds words in the three ways in which they are written: small, Capitalised, LARGE. Matching these case by case is much cheaper
/// than looking at no case at all.
#[derive(Clone, Debug)]
pub struct Hits(Option<AhoCorasick>);

impl Hits {
    /// Words in lower case.
    pub fn new<'a>(words: impl IntoIterator<Item = &'a str>) -> Self {
        let spellings = words.into_iter().flat_map(|word| {
            let first = word.chars().next().map_or(0, char::len_utf8);
            let (first, rest) = word.split_at_checked(first).unwrap_or_default();
            [word.to_owned(), first.to_uppercase() + rest, word.to_uppercase()]
        });
        // Only gigabytes of words could fail; then everything is read.
        Hits(AhoCorasick::new(spellings).ok())
    }

    /// Whether a text holds a word.
    pub fn is_match(&self, text: &str) -> bool {
        self.0.as_ref().is_none_or(|words| words.is_match(text))
    }

    /// Where words begin, in order. None if every place counts as one.
    pub fn places<'a>(&'a self, text: &'a str) -> Option<impl Iterator<Item = usize> + 'a> {
        self.0.as_ref().map(|words| words.find_iter(text).map(|found| found.start()))
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
}
