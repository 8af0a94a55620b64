//! Numbers in words, as messages use them: `two retries`, `three tries`, `2,500 requests`.

/// A count in words up to twelve, in digits with grouping beyond.
pub fn number(n: u64) -> String {
    const WORDS: [&str; 13] =
        ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    usize::try_from(n).ok().and_then(|n| WORDS.get(n)).map_or_else(|| grouped(u128::from(n)), ToString::to_string)
}

/// `n` with the noun in the right form: `one try`, `three tries`.
pub fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(n), if n == 1 { one } else { many })
}

/// `one try`, `three tries`.
pub fn tries(n: u64) -> String {
    counted(n, "try", "tries")
}

/// `no retries`, `one retry`, `two retries`.
pub fn retries(n: u64) -> String {
    counted(n, "retry", "retries")
}

/// Digits in groups of three: `2,500`.
pub fn grouped(n: u128) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A factor with at most two decimals and no trailing zeros: `3`, `11.25`, `1.33`.
pub fn factor(value: f64) -> String {
    if value >= 1000.0 && value.fract() == 0.0 && value < 1e18 {
        return grouped(value as u128);
    }
    if value >= 1e18 {
        return format!("{value:.3e}");
    }
    ((value * 100.0).round() / 100.0).to_string()
}

/// `a`, `a and b`, `a, b and c`.
pub fn list<S: AsRef<str>>(items: &[S]) -> String {
    joined(items, "and")
}

/// `a`, `a or b`, `a, b or c`.
pub fn either<S: AsRef<str>>(items: &[S]) -> String {
    joined(items, "or")
}

fn joined<S: AsRef<str>>(items: &[S], word: &str) -> String {
    match items {
        [] => String::new(),
        [one] => one.as_ref().to_string(),
        [init @ .., last] => {
            let init: Vec<&str> = init.iter().map(AsRef::as_ref).collect();
            format!("{} {word} {}", init.join(", "), last.as_ref())
        }
    }
}

/// What the system says about a file or folder, in words of ours where it is one of the usual things.
pub fn in_words(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "no such file or folder".to_string(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        std::io::ErrorKind::IsADirectory => "it is a folder".to_string(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_trouble_with_files_has_words_of_ours() {
        let missing = std::fs::read("no/such/file").unwrap_err();
        assert_eq!(in_words(&missing), "no such file or folder");
        assert_eq!(in_words(&std::io::Error::other("disk on fire")), "disk on fire");
    }

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(retries(2), "two retries");
        assert_eq!(tries(1), "one try");
        assert_eq!(retries(0), "no retries");
        assert_eq!(tries(2500), "2,500 tries");
        assert_eq!(grouped(1_099_511_627_776), "1,099,511,627,776");
        assert_eq!(factor(1.331), "1.33");
        assert_eq!(factor(27.0), "27");
        assert_eq!(factor(2500.0), "2,500");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!((either(&["a", "b"]).as_str(), either(&["a", "b", "c"]).as_str()), ("a or b", "a, b or c"));
    }
}
