//! [`did_you_mean`]: the word that a misspelt one was probably meant to be.

/// Longer words are no typing errors, and would make the table large.
const LONGEST: usize = 64;

/// The candidate nearest to `word`, if it is near enough to be what was meant: at most a third of the letters wrong, and
/// never more than three. Case and `_` for `-` cost nothing. Of equally near candidates the first.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = letters(word)?;
    let allowed = (word.len() / 3).clamp(1, 3);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let Some(other) = letters(candidate) else { continue };
        // The difference in length alone is a lower bound of the distance.
        if word.len().abs_diff(other.len()) > allowed {
            continue;
        }
        let distance = distance(&word, &other);
        // A word of which nothing is left is another word.
        let is_near = distance <= allowed && distance < word.len().max(other.len());
        if is_near && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The letters that count; none if the word is empty or too long to be a typing error.
fn letters(word: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = word
        .chars()
        .take(LONGEST + 1)
        .map(|letter| if letter == '_' { '-' } else { letter.to_ascii_lowercase() })
        .collect();
    (!letters.is_empty() && letters.len() <= LONGEST).then_some(letters)
}

/// Letters to insert, delete or replace, or neighbours to swap, each counted once.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new(); // two rows ago, for swaps
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut last_a = None;
    for (i, letter_a) in a.iter().enumerate() {
        let mut row = Vec::with_capacity(b.len() + 1);
        row.push(i + 1);
        let mut left = i + 1;
        let mut last_b = None;
        for (j, letter_b) in b.iter().enumerate() {
            let at = |row: &[usize], k: usize| row.get(k).copied().unwrap_or(usize::MAX / 2);
            let replaced = at(&above, j) + usize::from(letter_a != letter_b);
            let mut least = replaced.min(at(&above, j + 1) + 1).min(left + 1);
            if j > 0 && last_a == Some(letter_b) && last_b == Some(letter_a) {
                least = least.min(at(&before, j - 1) + 1);
            }
            row.push(least);
            left = least;
            last_b = Some(letter_b);
        }
        last_a = Some(letter_a);
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().unwrap_or(a.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [&str; 6] = ["attempts", "retries", "backoff", "max-attempts", "per-request", "to"];

    #[test]
    fn a_slip_finds_its_word() {
        assert_eq!(did_you_mean("attempt", KEYS), Some("attempts"));
        assert_eq!(did_you_mean("retires", KEYS), Some("retries"));
        assert_eq!(did_you_mean("bakcoff", KEYS), Some("backoff"));
        assert_eq!(did_you_mean("per_request", KEYS), Some("per-request"));
        assert_eq!(did_you_mean("Max-Attempts", KEYS), Some("max-attempts"));
    }

    #[test]
    fn another_word_is_no_slip() {
        assert_eq!(did_you_mean("timeout", KEYS), None);
        assert_eq!(did_you_mean("x", KEYS), None);
        assert_eq!(did_you_mean("", KEYS), None);
        assert_eq!(did_you_mean(&"a".repeat(100_000), KEYS), None);
    }

    #[test]
    fn the_nearest_wins_and_of_equals_the_first() {
        assert_eq!(did_you_mean("cat", ["cart", "cat"]), Some("cat"));
        assert_eq!(did_you_mean("cat", ["bat", "hat"]), Some("bat"));
    }

    #[test]
    fn swapped_neighbours_are_one_error() {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        assert_eq!(distance(&chars("ab"), &chars("ba")), 1);
        assert_eq!(distance(&chars("kitten"), &chars("sitting")), 3);
        assert_eq!(distance(&chars(""), &chars("abc")), 3);
    }
}
