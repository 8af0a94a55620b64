//! Text that may go to a terminal or into the log of a CI job: cleaned of what either would act on, measured, wrapped,
//! clipped.
//!
//! Everything that stems from a file (contents, names of files and services, values in messages) passes [`line()`] or
//! [`block()`] before it is printed. Each replaced character becomes one visible character, so that columns stay.

use std::borrow::Cow;

/// Text for one line: control characters, line breaks and bidirectional controls become visible symbols, commands to a CI
/// runner text that looks like them.
pub fn line(text: &str) -> Cow<'_, str> {
    clean(text, false)
}

/// Text that may have several lines (help to be pasted): like [`line()`], but line breaks stay.
pub fn block(text: &str) -> Cow<'_, str> {
    clean(text, true)
}

fn clean(text: &str, keep_breaks: bool) -> Cow<'_, str> {
    let shown = |at: usize, c: char| if keep_breaks && c == '\n' { None } else { shown_at(text, at) };
    let is_clean = text.char_indices().all(|(at, c)| shown(at, c).is_none());
    let cleaned = if is_clean {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.char_indices().map(|(at, c)| shown(at, c).unwrap_or(c)).collect())
    };
    // Without a break in it, the text may be where a line begins.
    if !keep_breaks || !cleaned.contains('\n') {
        return if is_command(&cleaned) { Cow::Owned(no_command(&cleaned)) } else { cleaned };
    }
    if cleaned.split('\n').any(is_command) {
        return Cow::Owned(cleaned.split('\n').map(no_command).collect::<Vec<_>>().join("\n"));
    }
    cleaned
}

/// Whether the runner of a workflow on GitHub would take a line as a command: `::error::x`, whatever blanks stand before it.
fn is_command(line: &str) -> bool {
    line.trim_start().starts_with("::")
}

/// The line with its first colon as the sign of a ratio, which looks the same, if it would be a command.
fn no_command(line: &str) -> String {
    if is_command(line) { line.replacen(':', "∶", 1) } else { line.to_owned() }
}

/// Whether a text begins with `##[`, which that runner takes as a command wherever it stands, or with `##vso[` or
/// `##teamcity[`, which others do.
fn begins_mark(text: &str) -> bool {
    let rest = text.strip_prefix("##").map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_lowercase()));
    rest.is_some_and(|rest| rest.starts_with('['))
}

/// What to show instead of the character at a place of a text; none if it is harmless there.
pub fn shown_at(text: &str, at: usize) -> Option<char> {
    let rest = text.get(at..)?;
    visible(rest.chars().next()?).or_else(|| begins_mark(rest).then_some('♯'))
}

/// What to show instead of a character that a terminal would act on; none for one that is harmless.
pub fn visible(c: char) -> Option<char> {
    match c {
        // Unicode has a picture of each control character, in order.
        '\0'..='\x1f' => char::from_u32(0x2400 + c as u32),
        '\x7f' => Some('␡'),
        '\u{80}'..='\u{9f}'
        | '\u{061c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}'
        | '\u{feff}' => Some('\u{fffd}'),
        _ => None,
    }
}

/// Columns that a character takes: two for East Asian wide characters and emoji, none for combining marks.
pub fn char_width(c: char) -> usize {
    match c as u32 {
        // Nearly all of what is shown, told by one comparison.
        0..0x0300 => 1,
        0x0300..=0x036f | 0x0483..=0x0489 | 0x1ab0..=0x1aff | 0x20d0..=0x20f0 | 0xfe00..=0xfe0f | 0xfe20..=0xfe2f => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f680..=0x1f6ff
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// Columns that a text takes.
pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(char_width).sum() }
}

/// Breaks text at blanks into lines of at most `limit` columns; line breaks in it stay. A word that is longer than a line
/// (a path) is left whole: a broken path can be neither read nor clicked. What stands in backticks is to be copied, and is
/// broken only where it does not fit on a line of its own. Blanks at the start of a line (pasted YAML) stay.
pub fn wrap(text: &str, limit: usize) -> Vec<String> {
    // No character takes more columns than bytes.
    if text.len() <= limit && !text.contains('\n') && !text.contains("  ") && !text.ends_with(' ') {
        return vec![text.to_owned()];
    }
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let indent: String = paragraph.chars().take_while(|c| *c == ' ').collect();
        let mut current = indent.clone();
        let mut used = indent.len();
        let mut is_start = true;
        for word in words(paragraph, limit.saturating_sub(indent.len())) {
            let columns = width(word);
            let breaks = !is_start && used + 1 + columns > limit;
            if breaks {
                lines.push(std::mem::replace(&mut current, indent.clone()));
                used = indent.len();
                is_start = true;
            }
            if !is_start {
                current.push(' ');
                used += 1;
            }
            // What was harmless within a line must not become a command at the start of one.
            current.push_str(&if breaks { Cow::Owned(no_command(word)) } else { Cow::Borrowed(word) });
            used += columns;
            is_start = false;
        }
        lines.push(current);
    }
    lines
}

/// Units that stay with their number.
const UNITS: [&str; 8] = ["ns", "µs", "ms", "s", "min", "h", "d", "%"];

/// The words of a line; text in backticks that fits into `limit` columns is one word, and so is a number with its unit.
fn words(line: &str, limit: usize) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line.trim_matches(' ');
    // Whether the words that come stand in backticks that are too wide for one line.
    let mut is_inside = false;
    while !rest.is_empty() {
        let first = rest.find(' ').unwrap_or(rest.len());
        let word = rest.get(..first).unwrap_or(rest);
        let toggles = word.matches('`').count() % 2 == 1;
        // Up to the blank behind the closing backtick.
        let closed = || {
            let close = first + rest.get(first..)?.find('`')?;
            let end = rest.get(close..)?.find(' ').map_or(rest.len(), |blank| close + blank);
            rest.get(..end).filter(|quoted| width(quoted) <= limit)
        };
        let quoted = Some(()).filter(|()| toggles && !is_inside).and_then(|()| closed());
        is_inside ^= toggles && quoted.is_none();
        let word = quoted.or_else(|| with_unit(rest, first)).unwrap_or(word);
        words.push(word);
        rest = rest.get(word.len()..).unwrap_or_default().trim_start_matches(' ');
    }
    words
}

/// A number and the unit behind the blank at `blank`, with what clings to it: `6.075 s,`.
fn with_unit(text: &str, blank: usize) -> Option<&str> {
    let number = text.get(..blank)?.trim_start_matches('(');
    let is_number = number.starts_with(|c: char| c.is_ascii_digit())
        && number.chars().all(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
        && number.ends_with(|c: char| c.is_ascii_digit());
    let behind = text.get(blank + 1..)?;
    let end = behind.find(' ').unwrap_or(behind.len());
    let unit = behind.get(..end)?.trim_end_matches([',', ';', ':', ')', '.']);
    (is_number && UNITS.contains(&unit)).then(|| text.get(..blank + 1 + end)).flatten()
}

/// Text cut to `limit` columns, with `…` where something was left out.
pub fn clip(text: &str, limit: usize) -> Cow<'_, str> {
    if width(text) <= limit {
        return Cow::Borrowed(text);
    }
    let mut used = 0;
    let kept = text.chars().take_while(|c| {
        used += char_width(*c);
        used < limit
    });
    Cow::Owned(kept.chain(['…']).collect())
}

/// Text of which the last `limit` columns are left, with `…` where something was left out.
pub fn clip_start(text: &str, limit: usize) -> Cow<'_, str> {
    let mut over = width(text).saturating_sub(limit);
    if over == 0 {
        return Cow::Borrowed(text);
    }
    over += 1; // for the ellipsis
    let mut cut = 0;
    let kept = text.chars().skip_while(|c| {
        let is_cut = cut < over;
        cut += char_width(*c);
        is_cut
    });
    Cow::Owned(std::iter::once('…').chain(kept).collect())
}

/// Text filled up with blanks to `columns`.
pub fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_that_are_too_wide_are_broken_inside_and_end_where_they_end() {
        let text = "write `a: { bbbb: 1, cccc: 2 }` in a file for `web app` now";
        assert_eq!(wrap(text, 16), ["write `a: {", "bbbb: 1, cccc: 2", "}` in a file for", "`web app` now"]);
    }

    #[test]
    fn a_number_keeps_its_unit() {
        assert_eq!(wrap("retried after 1 s, the same", 15), ["retried after", "1 s, the same"]);
        assert_eq!(wrap("up to (78 %) of it", 9), ["up to", "(78 %) of", "it"]);
        assert_eq!(wrap("it has 3 tries", 8), ["it has 3", "tries"]);
    }

    #[test]
    fn what_a_terminal_would_act_on_becomes_visible_and_keeps_its_column() {
        let hostile = "a\u{1b}[31m\u{7}\u{9b}\u{202e}b\r\nc\u{7f}\u{200f}";
        let clean = line(hostile);
        assert_eq!(clean, "a␛[31m␇\u{fffd}\u{fffd}b␍␊c␡\u{fffd}");
        assert_eq!(clean.chars().count(), hostile.chars().count());
        assert_eq!(block("a\n\tb"), "a\n␉b");
    }

    #[test]
    fn harmless_text_is_not_copied() {
        for text in
            ["café ☕ 日本", "src/a.rs", "a::b", "#[test]", "# a", "## b [c]", "##", ":a", "C:\\a", "##A[", "::x"]
        {
            assert_eq!(matches!(line(text), Cow::Borrowed(_)), text != "::x", "{text}");
        }
        assert!(matches!(block("a\nb ::c::\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn no_line_is_a_command_to_the_runner_of_a_workflow() {
        assert_eq!(line("::error::x"), "∶:error::x");
        assert_eq!(line(" \u{a0}::error::x"), " \u{a0}∶:error::x");
        assert_eq!(line("a\n::error::x"), "a␊::error::x");
        assert_eq!(line("a ##[error]x ##vso[task]y"), "a ♯#[error]x ♯#vso[task]y");
        assert_eq!(line("###[x"), "#♯#[x");
        assert_eq!(block("a\n  ::error::x\n::y"), "a\n  ∶:error::x\n∶:y");
        assert_eq!(wrap("a ::error::x b", 11), ["a", "∶:error::x", "b"]);
        assert_eq!(wrap("a ::error::x b", 12), ["a ::error::x", "b"]);
        assert_eq!(width("∶:error♯"), 8);
    }

    #[test]
    fn wrapping_counts_columns_and_leaves_long_words_whole() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("日本 日本", 5), ["日本", "日本"]);
        assert_eq!(wrap("see a/very/long/path now", 8), ["see", "a/very/long/path", "now"]);
        assert_eq!(wrap("retries:\n  attempts: 0", 40), ["retries:", "  attempts: 0"]);
        assert_eq!(wrap("", 10), [""]);
        // What fits is left as it is, but for blanks that stand where a line could break.
        assert_eq!(wrap("fits as it is", 13), ["fits as it is"]);
        assert_eq!(wrap("a  b ", 40), ["a b"]);
        assert_eq!(wrap("write `a: 1`, or", 8), ["write", "`a: 1`,", "or"]);
        assert_eq!(wrap("write `much too long`", 8), ["write", "`much", "too", "long`"]);
        assert_eq!(wrap("one ` alone", 8), ["one `", "alone"]);
    }

    #[test]
    fn clipping_says_that_something_is_missing() {
        assert_eq!(clip("abcdef", 4), "abc…");
        assert_eq!(clip("abcd", 4), "abcd");
        assert_eq!(clip("日本語", 4), "日…");
        assert_eq!(clip_start("abcdef", 4), "…def");
        assert_eq!(clip_start("日本語", 4), "…語");
        assert_eq!(pad("日本", 6), "日本  ");
    }
}
