//! Comments that speak to retrylint: which rules they silence, and where.
//!
//! In data files `# retrylint: allow(rule, rule) reason` behind a value covers its line, and the whole entry if the entry's value
//! begins below; alone on a line it covers the next entry or item. `allow-file(…)` covers the file. `until=2027-01-31` among the
//! rules is the last day on which the comment holds. What is written is read here
//! for code too; what it covers there, the languages know.

use super::data::tree::{Comment, Data, Tree};
use crate::facts::{Date, Facts, Misdirected, Scope, Suppression};
use crate::source::Span;

/// What every directive begins with.
pub const MARK: &str = "retrylint:";

/// What a comment says to retrylint.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// Nothing.
    Nothing,
    /// Something that is not understood.
    Wrong(Misdirected),
    /// `allow(…)`, `allow-file(…)`: rules are silenced.
    Allow {
        /// The directive.
        span: Span,
        /// The rules, each with its place.
        rules: Vec<(String, Span)>,
        /// What stands behind the list.
        reason: String,
        /// The last day on which they are.
        until: Option<Date>,
        /// Whether the whole file is meant.
        whole_file: bool,
    },
    /// `calls(…)`, `service(…)`: a fact about code.
    States {
        /// Which.
        fact: Fact,
        /// The services, each with its place.
        names: Vec<(String, Span)>,
    },
}

/// What is stated of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// Whom it calls.
    Calls,
    /// Whose it is.
    Service,
}

/// Adds the suppressions of all comments of a tree to `facts`. `text` is the text of the file that its spans lie in.
pub fn read(tree: &Tree, text: &str, facts: &mut Facts) {
    let mut extents = None;
    for comment in &tree.comments {
        match said(text, comment.span) {
            // Facts about code, and mistakes in them, are none of a data file's business.
            Said::Nothing | Said::States { .. } => {}
            Said::Wrong(wrong) => facts.misdirected.push(wrong),
            Said::Allow { span, rules, reason, until, whole_file } => {
                let scope = if whole_file {
                    Scope::File
                } else {
                    Scope::Range(covered(text, comment, extents.get_or_insert_with(|| Extents::of(tree))))
                };
                facts.suppressions.push(Suppression { span, rules, reason, until, scope });
            }
        }
    }
}

/// Whether any comment of a tree speaks to retrylint.
pub fn speaks_to_us(tree: &Tree, text: &str) -> bool {
    tree.comments.iter().any(|comment| find(text, comment.span).is_some())
}

/// Where the directive's mark stands in the file: it is the first thing in its comment. Documentation (`///`, `//!`, `/** */`,
/// `/*! */`) speaks to people, and so does what a comment quotes.
fn find(text: &str, comment: Span) -> Option<usize> {
    let body = text.get(comment.range())?;
    let said = match (body.strip_prefix("//"), body.strip_prefix("/*")) {
        (Some(line), _) => line.trim_start_matches([' ', '\t']),
        (_, Some(block)) => {
            let said = block.trim_start();
            // The star that many write before each line of a block.
            said.strip_prefix('*').filter(|_| said.len() < block.len()).map_or(said, str::trim_start)
        }
        _ => body.trim_start_matches('#').trim_start_matches([' ', '\t']),
    };
    said.starts_with(MARK).then_some(comment.end as usize - said.len())
}

/// What a comment says. `text` is that of the file.
pub fn said(text: &str, comment: Span) -> Said {
    let Some(mark) = find(text, comment) else { return Said::Nothing };
    let file = comment.file;
    let rest = text.get(mark..comment.end as usize).unwrap_or_default();
    let rest = rest.trim_end().strip_suffix("*/").unwrap_or(rest).trim_end();
    let span = Span::new(file, mark..mark + rest.len());
    let after = rest.strip_prefix(MARK).unwrap_or_default();
    let word_start = mark + MARK.len() + (after.len() - after.trim_start().len());
    let after = after.trim_start();
    let word_len = after.find(|c: char| !(c.is_alphanumeric() || c == '-' || c == '_')).unwrap_or(after.len());
    let (word, behind) = after.split_at_checked(word_len).unwrap_or((after, ""));
    let wrong = |span: Span, message: String, suggestion: String| {
        Said::Wrong(Misdirected { span, message, suggestion: Some(suggestion) })
    };
    let fact = match word {
        "calls" => Some(Fact::Calls),
        "service" => Some(Fact::Service),
        "allow" | "allow-file" => None,
        _ => {
            let word_span = if word.is_empty() { span } else { Span::new(file, word_start..word_start + word.len()) };
            let meant = match word.to_ascii_lowercase().as_str() {
                "alow-file" | "allow-files" | "allowfile" | "allow_file" | "ignore-file" | "disable-file" => {
                    "allow-file"
                }
                "call" | "callee" => "calls",
                "services" | "caller" => "service",
                _ => "allow",
            };
            return wrong(word_span, format!("`{MARK} {word}` is not understood"), format!("{MARK} {meant}(…)"));
        }
    };
    let (what, example) = match fact {
        None => ("rules", "(rule) reason"),
        Some(_) => ("service", "(name)"),
    };
    let example = format!("{MARK} {word}{example}");
    let open = behind.len() - behind.trim_start().len();
    let list_start = word_start + word.len() + open + 1;
    let Some(list) = behind.trim_start().strip_prefix('(') else {
        return wrong(span, format!("`{MARK} {word}` names no {what}"), example);
    };
    let Some((list, reason)) = list.split_once(')') else {
        return wrong(span, format!("`{MARK} {word}(` is not closed"), example);
    };
    let mut names = listed(list, list_start, span);
    let mut until = None;
    if fact.is_none() {
        for (written, at) in names.extract_if(.., |(name, _)| until_of(name).is_some()) {
            let date = until_of(&written).unwrap_or_default();
            let message = match Date::parse(date) {
                Some(_) if until.is_some() => format!("`{MARK} {word}(…)` has two days at which it ends"),
                Some(date) => {
                    until = Some(date);
                    continue;
                }
                None => format!("`{written}` is no day of the calendar"),
            };
            return wrong(at, message, format!("{MARK} {word}(rule, until=2027-01-31) reason"));
        }
    }
    if names.is_empty() {
        return wrong(span, format!("`{MARK} {word}()` names no {what}"), example);
    }
    match fact {
        Some(fact) => Said::States { fact, names },
        None => {
            let reason = reason.trim().trim_start_matches([':', '-', '–', '—']).trim().to_string();
            Said::Allow { span, rules: names, reason, until, whole_file: word == "allow-file" }
        }
    }
}

/// What stands behind `until=`.
fn until_of(name: &str) -> Option<&str> {
    name.strip_prefix("until")?.trim_start().strip_prefix(['=', ':']).map(str::trim)
}

/// The names between commas, each with its place. `start` is where the list begins.
fn listed(list: &str, start: usize, span: Span) -> Vec<(String, Span)> {
    let mut names = Vec::new();
    let mut at = start;
    for name in list.split(',') {
        let start = at + (name.len() - name.trim_start().len());
        at += name.len() + 1;
        let name = name.trim();
        if !name.is_empty() {
            names.push((name.to_string(), Span::new(span.file, start..start + name.len())));
        }
    }
    names
}

/// An entry or item of a collection.
struct Extent {
    start: u32,
    end: u32,
    /// Where an entry's value begins; for items the same as `start`.
    value: u32,
}

/// Entries and items by where they begin, the widest first among those that begin together.
struct Extents(Vec<Extent>);

impl Extents {
    fn of(tree: &Tree) -> Self {
        let node = |id: &u32| tree.nodes.get(*id as usize);
        let mut all = Vec::new();
        for parent in &tree.nodes {
            match &parent.data {
                Data::Seq(items) => all.extend(items.iter().filter_map(node).map(|item| Extent {
                    start: item.start,
                    end: item.end,
                    value: item.start,
                })),
                Data::Map(pairs) => all.extend(pairs.iter().filter_map(|(key, value)| {
                    let (key, value) = (node(key)?, node(value)?);
                    Some(Extent { start: key.start, end: key.end.max(value.end), value: value.start })
                })),
                _ => {}
            }
        }
        all.sort_unstable_by_key(|extent| (extent.start, std::cmp::Reverse(extent.end)));
        Extents(all)
    }

    /// The entries and items that begin at or behind an offset.
    fn from(&self, at: u32) -> impl Iterator<Item = &Extent> {
        self.0.iter().skip(self.0.partition_point(|extent| extent.start < at))
    }
}

fn covered(text: &str, comment: &Comment, extents: &Extents) -> Span {
    let Span { file, start, end } = comment.span;
    if comment.alone {
        // With nothing behind it, it covers nothing and will be called unused.
        let (start, end) = extents.from(end).next().map_or((end, end), |extent| (extent.start, extent.end));
        return Span { file, start, end };
    }
    let before = text.get(..start as usize).unwrap_or_default();
    let line = before.rfind('\n').map_or(0, |at| at + 1) as u32;
    // `retries: # retrylint: allow(…)`: the value begins below the comment, and is meant.
    let on_line = extents.from(line).take_while(|extent| extent.start < start);
    let until = on_line.filter(|extent| extent.value >= end).map(|extent| extent.end).max().unwrap_or(end);
    Span { file, start: line, end: until.max(end) }
}

#[cfg(test)]
mod tests;
