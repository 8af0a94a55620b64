//! The baseline: findings that a repository had when it adopted retrylint. They are marked, counted and kept, and do not
//! fail a run; what is new does.
//!
//! An entry is matched by its fingerprint alone, never by line or message, so that code may move and wording improve. The
//! rest of it is for people. Writing and pruning are separate acts: pruning never hides a new finding.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::facts::words::in_words;
use crate::finding::{Finding, Identity, Suppressed};
use crate::regular;
use crate::report::{Entry, json};
use crate::source::Sources;

/// The version of the format that is written and read.
const VERSION: u64 = 1;
/// Bytes of a baseline at most: whatever is larger is something else.
const MOST: u64 = 64 << 20;
/// What every baseline has, an empty one too.
const MARK: &[u8] = b"\"findings\": [";
/// What [`Suppressed::by`] says of what a baseline covers.
pub const BY: &str = "baseline";

/// A baseline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Baseline {
    /// The known findings.
    pub findings: Vec<Known>,
}

/// A known finding. The order is that of the file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Known {
    /// The file of its primary place, from the root of the repository.
    #[serde(default)]
    pub path: String,
    /// The rule's id.
    #[serde(default)]
    pub rule: String,
    /// What it is recognised by.
    pub fingerprint: String,
    /// What a person recognises it by: the enclosing name, the two ends of a path of calls, or the text at fault.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub hint: String,
}

/// Why a baseline cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// It is not there, or not readable.
    #[error("cannot read the baseline {path}: {}", in_words(error))]
    Unreadable {
        /// As named.
        path: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// It is something else.
    #[error("the baseline {path} is not valid: {message}")]
    Invalid {
        /// As named.
        path: String,
        /// Where and why.
        message: String,
    },
    /// It is of another version.
    #[error("the baseline {path} has version {version}, and this retrylint reads version {VERSION}")]
    Version {
        /// As named.
        path: String,
        /// Its version, as written.
        version: String,
    },
}

impl BaselineError {
    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            BaselineError::Unreadable { path, error } if error.kind() == std::io::ErrorKind::NotFound => {
                format!("`--write-baseline {path}` writes one")
            }
            BaselineError::Unreadable { .. } => "name a file that can be read".into(),
            BaselineError::Invalid { path, .. } => {
                format!(
                    "mend it (of a merge keep the lines of both sides), or write it anew with `--write-baseline {path}`"
                )
            }
            BaselineError::Version { path, .. } => {
                format!("use the retrylint that wrote it, or write it anew with `--write-baseline {path}`")
            }
        }
    }
}

impl Baseline {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// If it is not there, no JSON, of another version, or an entry has no fingerprint.
    pub fn load(path: &Path) -> Result<Baseline, BaselineError> {
        let shown = || path.display().to_string();
        let unreadable = |error| BaselineError::Unreadable { path: shown(), error };
        let mut text = String::new();
        let file = regular::open(path).map_err(unreadable)?;
        file.take(MOST).read_to_string(&mut text).map_err(unreadable)?;
        Baseline::parse(&text).map_err(|wrong| match wrong {
            Wrong::Version(version) => BaselineError::Version { path: shown(), version },
            Wrong::Shape(message) => BaselineError::Invalid { path: shown(), message },
        })
    }

    /// Whether a baseline may be written to `path`: nothing is there, or a baseline, whatever is wrong with it.
    pub fn may_replace(path: &Path) -> bool {
        let file = match regular::open(path) {
            Ok(file) => file,
            Err(error) => return error.kind() != std::io::ErrorKind::InvalidInput,
        };
        let mut bytes = Vec::new();
        let read = file.take(MOST).read_to_end(&mut bytes);
        read.is_err() || bytes.trim_ascii().is_empty() || memchr::memmem::find(&bytes, MARK).is_some()
    }

    fn parse(text: &str) -> Result<Baseline, Wrong> {
        let shape = |message: &str| Wrong::Shape(message.to_string());
        let mut document: Value = serde_json::from_str(text).map_err(|error| {
            let is_merge = text.lines().any(|line| line.starts_with("<<<<<<<") || line.starts_with(">>>>>>>"));
            let hint = if is_merge { "a merge conflict is left in it" } else { "not JSON" };
            Wrong::Shape(format!("{hint} (line {})", error.line()))
        })?;
        match document.get("version") {
            None => return Err(shape("it has no `version`")),
            Some(version) if version.as_u64() == Some(VERSION) => {}
            Some(version) => {
                return Err(Wrong::Version(crate::read::data::value::shorten(&version.to_string())));
            }
        }
        let Some(Value::Array(findings)) = document.get_mut("findings").map(Value::take) else {
            return Err(shape("`findings` should be a list"));
        };
        let known = findings.into_iter().enumerate().map(|(at, entry)| {
            serde_json::from_value(entry).map_err(|_| Wrong::Shape(format!("entry {} has no `fingerprint`", at + 1)))
        });
        Ok(Baseline { findings: known.collect::<Result<_, _>>()? })
    }

    /// A baseline of these findings. `name` gives a path as the repository names it.
    pub fn of(entries: &[Entry<'_>], sources: &Sources, name: impl Fn(&str) -> String) -> Baseline {
        let known = entries.iter().map(|entry| {
            let source = entry.finding.primary().and_then(|label| sources.get(label.span.file));
            Known {
                path: source.map(|source| name(&source.path)).unwrap_or_default(),
                rule: entry.finding.rule.to_string(),
                fingerprint: entry.fingerprint.to_string(),
                hint: hint(entry.finding, sources),
            }
        });
        let mut findings: Vec<Known> = known.collect();
        findings.sort();
        Baseline { findings }
    }

    /// The text of the file: one finding a line and in a stable order, so that merges are small.
    pub fn text(&self) -> String {
        // Texts hold no line break in JSON, so that the lines of an entry can become one.
        let line = |known| json::print(known).lines().map(str::trim).collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = self.findings.iter().map(line).collect();
        let lines = if lines.is_empty() { String::new() } else { format!("\n    {}\n  ", lines.join(",\n    ")) };
        format!("{{\n  \"version\": {VERSION},\n  \"findings\": [{lines}]\n}}\n")
    }

    /// Marks the findings that are known, unless a comment or a standing decision covers them already.
    pub fn apply(&self, findings: &mut [Finding], fingerprints: &[String]) {
        let known: HashSet<&str> = self.findings.iter().map(|known| known.fingerprint.as_str()).collect();
        for (finding, fingerprint) in findings.iter_mut().zip(fingerprints) {
            if finding.suppressed.is_none() && known.contains(fingerprint.as_str()) {
                finding.suppressed =
                    Some(Suppressed { by: BY, reason: "known when the baseline was written".into(), span: None });
            }
        }
    }

    /// The baseline without the entries that no longer occur, and how many these are. `may_occur` keeps those that the run
    /// could not have found.
    pub fn pruned(&self, fingerprints: &[String], may_occur: impl Fn(&Known) -> bool) -> (Baseline, usize) {
        let found: HashSet<&str> = fingerprints.iter().map(String::as_str).collect();
        let is_kept = |known: &&Known| found.contains(known.fingerprint.as_str()) || may_occur(known);
        let findings: Vec<Known> = self.findings.iter().filter(is_kept).cloned().collect();
        let dropped = self.findings.len() - findings.len();
        (Baseline { findings }, dropped)
    }
}

enum Wrong {
    Version(String),
    Shape(String),
}

/// Characters of a hint.
const HINT: usize = 60;

/// What a person recognises a finding by.
fn hint(finding: &Finding, sources: &Sources) -> String {
    let text = match &finding.identity {
        Identity::Path { from, to } => format!("{from}..{to}"),
        Identity::Place(name) if !name.is_empty() => name.to_string(),
        Identity::Place(_) => {
            let text = finding.primary().and_then(|label| Some(sources.get(label.span.file)?.slice(label.span)));
            text.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
        }
    };
    text.chars().take(HINT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::examples;

    const FILE: &str = "{\n  \"version\": 1,\n  \"findings\": [\n    { \"path\": \"a.yaml\", \"rule\": \"no-backoff\", \
         \"fingerprint\": \"0000000000000002\", \"hint\": \"spec.http[0]\" },\n    { \"path\": \"b.yaml\", \"rule\": \"retry-amplification\", \
         \"fingerprint\": \"0000000000000001\", \"hint\": \"web..ledger\" }\n  ]\n}\n";

    fn two() -> (Sources, [Finding; 2]) {
        let sources = examples::sources(&[("a.yaml", "attempts: 2\n"), ("b.yaml", "retries: 9\n")]);
        let path = Identity::Path { from: "web".into(), to: "ledger".into() };
        let a = examples::finding("no-backoff", &sources, &["attempts: 2"]);
        let b = Finding { identity: path, ..examples::finding("retry-amplification", &sources, &["retries: 9"]) };
        (sources, [a, b])
    }

    #[test]
    fn a_finding_is_one_line_and_the_order_is_that_of_the_paths() {
        let (sources, [a, b]) = two();
        let entry = |finding, fingerprint| Entry { finding, fingerprint };
        let one =
            Baseline::of(&[entry(&b, "0000000000000001"), entry(&a, "0000000000000002")], &sources, str::to_string);
        assert_eq!(one.text(), FILE);
        assert_eq!(Baseline::parse(FILE).ok(), Some(one.clone()));
        let mut odd = one.clone();
        odd.findings[0].path = "a\u{202e}\nb\"".into();
        assert!(odd.text().contains("{ \"path\": \"a\\u202e\\nb\\\"\", \"rule\""), "{}", odd.text());
        assert_eq!(Baseline::parse(&odd.text()).ok(), Some(odd));
        let none = Baseline::default();
        assert_eq!(none.text(), "{\n  \"version\": 1,\n  \"findings\": []\n}\n");
        assert_eq!(Baseline::parse(&none.text()).ok(), Some(none));
    }

    #[test]
    fn what_is_known_is_marked_and_what_a_comment_covers_keeps_its_mark() {
        let (_, [a, b]) = two();
        let inline = Suppressed { by: "inline", reason: "drained".into(), span: None };
        let mut findings = [a.clone(), b, Finding { suppressed: Some(inline), ..a }];
        let fingerprints = ["1", "2", "3"].map(str::to_string);
        let known = |fingerprint: &str| Known {
            path: String::new(),
            rule: String::new(),
            fingerprint: fingerprint.into(),
            hint: String::new(),
        };
        Baseline { findings: vec![known("1"), known("3"), known("9")] }.apply(&mut findings, &fingerprints);
        let by = findings.map(|finding| finding.suppressed.map(|suppressed| suppressed.by));
        assert_eq!(by, [Some("baseline"), None, Some("inline")]);
    }

    #[test]
    fn pruning_drops_what_is_gone_and_never_adds() {
        let baseline = Baseline::parse(FILE).ok().unwrap();
        let prints = ["0000000000000002", "0000000000000007"].map(str::to_string);
        let (pruned, dropped) = baseline.pruned(&prints, |_| false);
        assert_eq!((pruned.findings.as_slice(), dropped), (&baseline.findings[..1], 1));
        let (pruned, dropped) = baseline.pruned(&prints, |known| known.path == "b.yaml");
        assert_eq!((pruned, dropped), (baseline, 0));
    }

    #[test]
    fn what_is_no_baseline_says_why() {
        let wrong = |text: &str| match Baseline::parse(text) {
            Err(Wrong::Shape(message) | Wrong::Version(message)) => message,
            Ok(_) => "read".into(),
        };
        assert_eq!(wrong("{\n  \"version\": 1,\n"), "not JSON (line 3)");
        assert_eq!(wrong("{\n<<<<<<< HEAD\n"), "a merge conflict is left in it (line 2)");
        assert_eq!(wrong("[]"), "it has no `version`");
        assert_eq!(wrong("{\"version\": 2}"), "2");
        assert_eq!(wrong("{\"version\": 1.0}"), "1.0");
        assert_eq!(wrong("{\"version\": 1, \"findings\": {}}"), "`findings` should be a list");
        assert_eq!(
            wrong("{\"version\": 1, \"findings\": [{\"fingerprint\": \"1\"}, {\"rule\": \"x\"}]}"),
            "entry 2 has no `fingerprint`"
        );
        // What a later version may add to an entry changes nothing.
        assert_eq!(wrong("{\"version\": 1, \"findings\": [{\"fingerprint\": \"1\", \"owner\": 3}]}"), "read");
    }
}
