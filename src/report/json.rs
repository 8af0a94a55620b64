//! `check --format json` (contracts.md D-19): every finding, with byte offsets and lines. Fields are added, never changed.

mod rows;

use std::io::Write;

use serde::Serialize;

use rows::Rows;

use super::{Entry, Report, summary::Summary, text::shown_at};
use crate::finding::{Label, Suppressed};
use crate::source::{Sources, Span};

/// The version of all JSON output.
pub const VERSION: u32 = 1;

/// Findings and summary as JSON, with a line break at the end.
pub fn render(report: &Report<'_>) -> String {
    let findings = report.entries.iter().map(|entry| FindingJson::of(entry, report.sources));
    print(&Document { version: VERSION, findings: findings.collect(), summary: report.summary })
}

/// Any document, readable and with a line break at the end.
pub fn print(document: &impl Serialize) -> String {
    let mut text = Vec::new();
    // Text keys and finite numbers: writing to memory cannot fail.
    match write(document, &mut text) {
        Ok(()) => String::from_utf8(text).unwrap_or_default(),
        Err(_) => String::new(),
    }
}

/// The same, written as it comes about: a document whose parts are made while they are written is never whole in memory.
///
/// # Errors
/// If `out` cannot be written to.
pub fn write(document: &impl Serialize, out: impl Write) -> std::io::Result<()> {
    let mut out = Escaping(out);
    serde_json::to_writer_pretty(&mut out, document)?;
    out.0.write_all(b"\n")
}

/// A document of long lists, written as it comes about: two levels of it and their lists are laid out, and what stands in a list
/// has a line of its own.
///
/// # Errors
/// If `out` cannot be written to.
pub fn write_rows(document: &impl Serialize, out: impl Write) -> std::io::Result<()> {
    let mut out = Escaping(out);
    document.serialize(&mut serde_json::Serializer::with_formatter(&mut out, Rows::default()))?;
    out.0.write_all(b"\n")
}

/// A document on one line, with a line break at the end.
pub fn line(document: &impl Serialize) -> String {
    let mut out = Escaping(Vec::new());
    match serde_json::to_writer(&mut out, document) {
        Ok(()) => String::from_utf8(out.0).map(|text| text + "\n").unwrap_or_default(),
        Err(_) => String::new(),
    }
}

/// JSON may go to a terminal or a log as well, and needs to escape no more than the first 32 characters: the others on which
/// a terminal acts are escaped here. Outside of strings a document has none of them but line breaks.
struct Escaping<W>(W);

impl<W: Write> Write for Escaping<W> {
    /// Takes all of `bytes`, which serde_json cuts at the ends of characters.
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let text =
            std::str::from_utf8(bytes).map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))?;
        let acts = |at: usize, c: char| c != '\n' && shown_at(text, at).is_some();
        let mut from = 0;
        // Below 0x7f everything but line breaks and commands to a CI runner is escaped already, and nearly all of a document
        // lies there.
        let is_plain = bytes.iter().all(|byte| *byte < 0x7f) && !text.contains("##");
        for (at, c) in text.char_indices().filter(|(at, c)| !is_plain && acts(*at, *c)) {
            self.0.write_all(bytes.get(from..at).unwrap_or_default())?;
            // None of them lies beyond the basic plane, where it would take two escapes.
            write!(self.0, "\\u{:04x}", c as u32)?;
            from = at + c.len_utf8();
        }
        self.0.write_all(bytes.get(from..).unwrap_or_default())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// The findings of a run and what it looked at. Fields are added in later versions, never changed or taken away: ignore what you do
/// not know.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Document<'a> {
    /// Version of this format.
    #[cfg_attr(test, schemars(extend("const" = VERSION)))]
    version: u32,
    /// Worst first; suppressed ones included.
    findings: Vec<FindingJson<'a>>,
    /// What was looked at and what came of it.
    summary: &'a Summary,
}

/// One defect, in `json` and `jsonl` alike. Its place is that of its primary label.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FindingJson<'a> {
    /// The rule's id: `retrylint explain ID` shows its page.
    #[cfg_attr(test, schemars(regex(pattern = "^[a-z]+(-[a-z]+)*$")))]
    rule: &'a str,
    /// How bad it is.
    #[cfg_attr(test, schemars(extend("enum" = ["error", "warning", "note"])))]
    severity: &'a str,
    /// The least of the facts that it rests on.
    confidence: crate::facts::Confidence,
    /// The effect, then the cause; readable alone.
    message: &'a str,
    #[serde(flatten)]
    #[cfg_attr(test, schemars(with = "Place<'static>"))]
    place: Option<Place<'a>>,
    /// Every place that contributes, the primary one first.
    #[cfg_attr(test, schemars(length(min = 1)))]
    labels: Vec<LabelJson<'a>>,
    /// Further facts.
    notes: &'a [String],
    /// What to write instead.
    help: Option<&'a str>,
    /// The same in the next run, whatever becomes of message, lines and numbers; no two findings of a run share it.
    #[cfg_attr(test, schemars(regex(pattern = "^[0-9a-f]{16}$")))]
    fingerprint: &'a str,
    /// Shown under `--pedantic` only.
    pedantic: bool,
    /// The comment or setting that silences it.
    suppressed: Option<SuppressedJson<'a>>,
    /// Formats for people show the findings of one group as one.
    group: Option<&'a str>,
    /// Where it holds; empty if the tree has no environments, or in all of them.
    environments: Vec<&'a str>,
}

impl<'a> FindingJson<'a> {
    pub(super) fn of(entry: &Entry<'a>, sources: &'a Sources) -> Self {
        let finding = entry.finding;
        FindingJson {
            rule: finding.rule,
            severity: finding.severity.name(),
            confidence: finding.confidence,
            message: &finding.message,
            place: finding.primary().and_then(|label| Place::of(label.span, sources)),
            labels: finding
                .labels
                .iter()
                .enumerate()
                .filter_map(|(index, label)| LabelJson::of(label, index == 0, sources))
                .collect(),
            notes: &finding.notes,
            help: finding.help.as_deref(),
            fingerprint: entry.fingerprint,
            pedantic: finding.pedantic,
            suppressed: finding.suppressed.as_ref().map(|one| SuppressedJson::of(one, sources)),
            group: finding.group.as_deref(),
            environments: finding.environments.iter().map(|name| &**name).collect(),
        }
    }
}

/// A place, in bytes and as people count.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Place<'a> {
    /// The file, as shown from where the run started.
    path: &'a str,
    /// First byte.
    start: u32,
    /// One past the last byte.
    end: u32,
    /// From 1.
    #[cfg_attr(test, schemars(range(min = 1)))]
    line: u32,
    /// From 1, in characters.
    #[cfg_attr(test, schemars(range(min = 1)))]
    column: u32,
    /// From 1.
    #[cfg_attr(test, schemars(range(min = 1)))]
    end_line: u32,
    /// From 1, in characters.
    #[cfg_attr(test, schemars(range(min = 1)))]
    end_column: u32,
}

impl<'a> Place<'a> {
    /// The place of a span, if its file is known.
    pub fn of(span: Span, sources: &'a Sources) -> Option<Self> {
        let source = sources.get(span.file)?;
        let (from, to) = (source.position(span.start), source.position(span.end));
        Some(Place {
            path: &source.path,
            start: span.start,
            end: span.end,
            line: from.line,
            column: from.column,
            end_line: to.line,
            end_column: to.column,
        })
    }
}

/// A place that contributes, and what stands there.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LabelJson<'a> {
    #[serde(flatten)]
    place: Place<'a>,
    /// What stands there; may be empty.
    text: &'a str,
    /// Whether it is the place of the finding.
    primary: bool,
}

impl<'a> LabelJson<'a> {
    fn of(label: &'a Label, primary: bool, sources: &'a Sources) -> Option<Self> {
        Some(LabelJson { place: Place::of(label.span, sources)?, text: &label.text, primary })
    }
}

/// What silences a finding.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SuppressedJson<'a> {
    /// A comment at the place, one for its file, a decision in retrylint.toml, or the baseline.
    #[cfg_attr(test, schemars(extend("enum" = ["inline", "file", "accepted", "baseline"])))]
    by: &'a str,
    /// May be empty.
    reason: &'a str,
    /// Where that stands.
    path: Option<&'a str>,
    /// From 1.
    #[cfg_attr(test, schemars(range(min = 1)))]
    line: Option<u32>,
}

impl<'a> SuppressedJson<'a> {
    fn of(suppressed: &'a Suppressed, sources: &'a Sources) -> Self {
        let place = suppressed.span.and_then(|span| Some((sources.get(span.file)?, span.start)));
        SuppressedJson {
            by: suppressed.by,
            reason: &suppressed.reason,
            path: place.map(|(source, _)| &*source.path),
            line: place.map(|(source, start)| source.position(start).line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_acts_on_stands_in_it_and_nothing_is_lost() {
        let text = "a\u{1b}[31m\u{7f}\u{9b}31m\u{202e}\u{2066}\u{200b}\u{feff}\n é☕😀";
        let printed = print(&[text]);
        assert!(!printed.contains(|c: char| c != '\n' && crate::report::text::visible(c).is_some()), "{printed}");
        assert!(printed.contains("\\u007f\\u009b31m\\u202e") && printed.contains("é☕😀"), "{printed}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&printed).unwrap(), [text]);
    }
    use crate::finding::Finding;
    use crate::report::examples;

    fn json(finding: &Finding, sources: &Sources) -> serde_json::Value {
        let summary = Summary::default();
        let entries = vec![Entry { finding, fingerprint: "00112233aabbccdd" }];
        serde_json::from_str(&render(&Report { entries, sources, summary: &summary, show_suppressed: false })).unwrap()
    }

    #[test]
    fn every_field_of_the_contract_is_there() {
        let (sources, finding) = examples::path();
        let all = json(&finding, &sources);
        assert_eq!(all["version"], 1);
        let one = &all["findings"][0];
        for (key, value) in [
            ("rule", serde_json::json!("retry-amplification")),
            ("severity", "error".into()),
            ("confidence", "high".into()),
            ("path", "gateway/envoy.yaml".into()),
            ("line", 188.into()),
            ("column", 32.into()),
            ("end_line", 188.into()),
            ("end_column", 33.into()),
            ("start", 218.into()),
            ("end", 219.into()),
            ("fingerprint", "00112233aabbccdd".into()),
            ("pedantic", false.into()),
            ("suppressed", serde_json::Value::Null),
            ("group", serde_json::Value::Null),
        ] {
            assert_eq!(one[key], value, "{key}");
        }
        assert_eq!(one["notes"].as_array().unwrap().len(), 2);
        assert!(one["help"].is_string());
        let label = &one["labels"][0];
        assert_eq!(
            *label,
            serde_json::json!({
                "path": "gateway/envoy.yaml", "start": 218, "end": 219, "line": 188, "column": 32, "end_line": 188,
                "end_column": 33, "text": "payments → ledger: two retries, three tries (×3 = 27)", "primary": true
            })
        );
        assert_eq!(one["labels"][1]["primary"], false);
    }

    #[test]
    fn a_suppression_keeps_its_reason_and_place() {
        let sources = examples::sources(&[("a.yaml", "x: 1 # retrylint: allow(no-backoff) known\n")]);
        let mut finding = examples::finding("no-backoff", &sources, &["x"]);
        let span = Some(examples::span(&sources, "# retrylint"));
        finding.suppressed = Some(Suppressed { by: "inline", reason: "known".into(), span });
        assert_eq!(
            json(&finding, &sources)["findings"][0]["suppressed"],
            serde_json::json!({ "by": "inline", "reason": "known", "path": "a.yaml", "line": 1 })
        );
    }

    #[test]
    fn hostile_text_survives_unchanged() {
        let path = "a\u{1b}\u{202e}\n.yaml";
        let sources = examples::sources(&[(path, "日本: 2\r\n")]);
        let mut finding = examples::finding("no-backoff", &sources, &["2"]);
        finding.message = "\u{7}\u{0}\"\\".into();
        let one = &json(&finding, &sources)["findings"][0];
        assert_eq!(one["path"], path);
        assert_eq!(one["message"], "\u{7}\u{0}\"\\");
        assert_eq!(one["column"], 5);
        assert_eq!(one["start"], 8);
    }
}
