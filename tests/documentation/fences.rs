//! Fences of a page, and those that quote a file: ```` ```yaml from=testdata/x.yaml ````.

use crate::{pages, read};

/// A fence.
pub struct Fence {
    /// What stands behind its backticks: a language, and perhaps `key=value` pairs.
    pub info: String,
    /// Its lines.
    pub text: String,
}

impl Fence {
    pub fn language(&self) -> &str {
        self.info.split_whitespace().next().unwrap_or_default()
    }

    pub fn value(&self, key: &str) -> Option<&str> {
        self.info.split_whitespace().find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='))
    }
}

/// The fences of a page. A fence within a longer one is part of it.
pub fn fences(page: &str) -> Vec<Fence> {
    let mut all = Vec::new();
    // How it is opened, blanks and ticks, and the fence.
    let mut open: Option<(String, Fence)> = None;
    for line in page.lines() {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        let ticks = line[blanks..].chars().take_while(|c| *c == '`').count();
        match &mut open {
            None if ticks >= 3 => {
                let info = line[blanks + ticks..].trim().to_string();
                open = Some((line[..blanks + ticks].to_string(), Fence { info, text: String::new() }));
            }
            None => {}
            Some((opened, _)) if line == opened => all.extend(open.take().map(|(_, fence)| fence)),
            Some((opened, fence)) => {
                let indent = opened.trim_end_matches('`');
                fence.text.extend([line.strip_prefix(indent).unwrap_or(line), "\n"]);
            }
        }
    }
    assert!(open.is_none(), "a fence is not closed: {page}");
    all
}

/// Whether the lines stand in the text in this order, however far both are indented; `…` stands for any lines.
pub fn holds(text: &str, lines: &str) -> bool {
    let text: Vec<&str> = text.lines().map(str::trim).collect();
    let mut rest = &text[..];
    for piece in lines.split("…\n") {
        let piece: Vec<&str> = piece.lines().map(str::trim).collect();
        if piece.is_empty() {
            continue;
        }
        match rest.windows(piece.len()).position(|window| window == piece) {
            Some(at) => rest = &rest[at + piece.len()..],
            None => return false,
        }
    }
    true
}

#[test]
fn quotes_stand_where_they_are_quoted_from() {
    let mut quotes = 0;
    for path in pages() {
        for fence in fences(&read(&path)) {
            let Some(file) = fence.value("from") else { continue };
            quotes += 1;
            assert!(
                !fence.text.trim().is_empty() && holds(&read(file), &fence.text),
                "{path}: {file} does not hold\n{}",
                fence.text
            );
        }
    }
    assert!(quotes > 5, "{quotes}");
}

#[test]
fn what_is_left_out_is_left_out_in_order() {
    assert!(holds("a\nb\nc\n", "a\n…\nc\n"));
    assert!(!holds("a\nb\nc\n", "c\n…\na\n"));
    assert!(!holds("a\nb\nc\n", "a\nc\n"));
}
