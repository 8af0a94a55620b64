//! A rule's page: front matter into [`Meta`], the rest into the text that `explain` shows.

use serde::{Deserialize, Deserializer};

use crate::finding::Severity;

/// What the front matter of a page says.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Meta {
    /// The defect in one line.
    pub summary: String,
    /// What it is about.
    pub category: Category,
    /// Levels that the check may pick; the first is the default.
    #[serde(deserialize_with = "levels")]
    pub levels: Vec<Severity>,
    /// Whether it is shown only under `--pedantic`.
    pub pedantic: Pedantic,
    /// The release that brought it.
    pub since: String,
    /// Whether it can be mended by the program.
    pub fix: FixKind,
}

/// What a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Category {
    /// How much load.
    Storm,
    /// How long, and for whom.
    Time,
    /// What is repeated.
    Safety,
    /// Breakers, budgets, pools.
    Breaker,
    /// Settings, files and comments.
    Hygiene,
}

impl Category {
    /// The name used in output.
    pub fn name(self) -> &'static str {
        match self {
            Category::Storm => "storm",
            Category::Time => "time",
            Category::Safety => "safety",
            Category::Breaker => "breaker",
            Category::Hygiene => "hygiene",
        }
    }
}

/// Whether a rule's findings are shown only under `--pedantic`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pedantic {
    /// No.
    Never,
    /// The check decides.
    Sometimes,
    /// Yes.
    Always,
}

/// Whether, and how safely, a finding can be mended by the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FixKind {
    /// Not at all.
    None,
    /// Keeping meaning and comments.
    Safe,
    /// Changing what happens at run time.
    Unsafe,
}

/// `error, warning` as a list.
fn levels<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Severity>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let level = |word: &str| {
        [Severity::Error, Severity::Warning, Severity::Note]
            .into_iter()
            .find(|level| level.name() == word)
            .ok_or_else(|| serde::de::Error::custom(format!("`{word}` is no level")))
    };
    text.split(',').map(|word| level(word.trim())).collect()
}

/// Front matter and the text behind it.
fn split(page: &str) -> (&str, &str) {
    page.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).unwrap_or(("", page))
}

/// Reads the front matter. The pages are part of the program and a test reads every one, so a page that does not parse
/// never leaves the workshop; if one did, its rule would be a note without a summary rather than a crash.
pub(super) fn meta(page: &str) -> Meta {
    parse(page).unwrap_or(Meta {
        summary: String::new(),
        category: Category::Hygiene,
        levels: vec![Severity::Note],
        pedantic: Pedantic::Never,
        since: String::new(),
        fix: FixKind::None,
    })
}

fn parse(page: &str) -> Result<Meta, serde_yaml::Error> {
    serde_yaml::from_str(split(page).0)
}

/// The text behind the front matter. Markers (`#~ …`, `//~ …`) and fences of expected findings are for tests only; the
/// marker's text is worth reading, so it becomes an ordinary comment.
pub(super) fn body(page: &str) -> String {
    let mut out = String::with_capacity(page.len());
    let mut in_findings = false;
    for line in split(page).1.lines() {
        if in_findings {
            in_findings = line.trim() != "```";
        } else if line.starts_with("```findings") {
            in_findings = true;
        } else {
            match strip_marker(line) {
                // A line of its own that held nothing but a marker goes altogether.
                Some("") => {}
                Some(text) => {
                    out.push_str(text);
                    out.push('\n');
                }
                None => {
                    out.push_str(line);
                    out.push('\n');
                }
            }
        }
    }
    out.trim().to_owned() + "\n"
}

/// A line without its marker, if it has one.
fn strip_marker(line: &str) -> Option<&str> {
    let at = ["#~", "//~"].iter().filter_map(|marker| line.find(marker)).min()?;
    line.get(..at).map(str::trim_end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::ALL;

    #[test]
    fn every_page_has_front_matter_that_parses() {
        for rule in ALL {
            let meta = parse(rule.page).unwrap_or_else(|error| panic!("rules/{}.md: {error}", rule.id));
            assert!(!meta.levels.is_empty() && !meta.summary.is_empty() && !meta.since.is_empty(), "{}", rule.id);
            assert_eq!(&meta, rule.meta());
        }
    }

    #[test]
    fn a_body_has_no_markers_and_no_expected_findings() {
        let page = "---\nsummary: x\n---\n\nWhy.\n\n```yaml file=a.yaml\nretries: 9 #~ nine\n```\n\n```findings\na.yaml:1: nine\n```\n\nEnd.\n";
        assert_eq!(body(page), "Why.\n\n```yaml file=a.yaml\nretries: 9\n```\n\n\nEnd.\n");
        for rule in ALL {
            assert!(!rule.body().contains("#~") && !rule.body().contains("```findings"), "{}", rule.id);
            assert!(!rule.body().starts_with("---"), "{}", rule.id);
        }
    }

    #[test]
    fn levels_are_a_list_and_wrong_ones_are_errors() {
        let page = |levels: &str| {
            format!(
                "---\nsummary: x\ncategory: storm\nlevels: {levels}\npedantic: never\nsince: 0.1.0\nfix: none\n---\n"
            )
        };
        assert_eq!(parse(&page("error, note")).unwrap().levels, [Severity::Error, Severity::Note]);
        assert!(parse(&page("error, fatal")).is_err());
        assert!(parse("no front matter").is_err());
    }
}
