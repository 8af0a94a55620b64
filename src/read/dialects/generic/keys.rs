//! Keys in every spelling: `maxAttempts`, `max_attempts`, `max-attempts`, `MaxAttempts`; and the unit that some end in.

/// Longer keys are none of ours.
const LONGEST: usize = 40;

/// The words of a key, in lower case.
fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in key.chars().take(LONGEST) {
        let starts = letter.is_ascii_uppercase() && was_lower;
        if starts || matches!(letter, '_' | '-' | '.' | ' ') {
            words.push(String::new());
        }
        if letter.is_ascii_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.push(letter.to_ascii_lowercase());
        }
        was_lower = letter.is_ascii_lowercase() || letter.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A key without its spelling: `maxattempts`.
pub(super) fn name(key: &str) -> String {
    words(key).concat()
}

/// A key's name without the unit that it ends in, and that unit in nanoseconds: `delay_ms`, `intervalSeconds`.
pub(super) fn name_and_unit(key: &str) -> (String, Option<u64>) {
    let mut words = words(key);
    let unit = match words.last().map(String::as_str) {
        Some("ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds") => 1_000_000,
        Some("s" | "sec" | "secs" | "second" | "seconds") => 1_000_000_000,
        Some("minute" | "minutes" | "mins") => 60_000_000_000,
        _ => return (words.concat(), None),
    };
    words.pop();
    (words.concat(), Some(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_the_same_in_every_spelling() {
        for key in ["maxAttempts", "max_attempts", "max-attempts", "MaxAttempts", "MAX_ATTEMPTS"] {
            assert_eq!(name(key), "maxattempts");
        }
    }

    #[test]
    fn a_unit_is_the_last_word_and_not_the_last_letters() {
        assert_eq!(name_and_unit("delay_ms"), ("delay".into(), Some(1_000_000)));
        assert_eq!(name_and_unit("intervalSeconds"), ("interval".into(), Some(1_000_000_000)));
        assert_eq!(name_and_unit("delays"), ("delays".into(), None));
        assert_eq!(name_and_unit("terms"), ("terms".into(), None));
    }
}
