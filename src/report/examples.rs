//! Findings made by hand, for the tests of the formats.

use crate::facts::Confidence;
use crate::finding::{Finding, Identity, Label, Severity};
use crate::source::{FileId, Source, Sources, Span};

/// Sources from paths and texts.
pub fn sources(files: &[(&str, &str)]) -> Sources {
    Sources::new(files.iter().map(|(path, text)| Source::new(*path, *text)).collect())
}

/// The first place of a text in any file.
pub fn span(sources: &Sources, text: &str) -> Span {
    let found = sources.iter().find_map(|(file, source)| Some((file, source.text()?.find(text)?)));
    let (file, at) = found.unwrap_or((FileId(0), 0));
    Span::new(file, at..at + text.len())
}

/// A warning whose labels are these texts, each at its first place.
pub fn finding(rule: &'static str, sources: &Sources, places: &[&str]) -> Finding {
    let label = |text: &&str| Label { span: span(sources, text), text: "three tries".into() };
    Finding {
        rule,
        severity: Severity::Warning,
        confidence: Confidence::High,
        pedantic: false,
        message: "the effect".into(),
        labels: places.iter().map(label).collect(),
        read_before: 0,
        notes: Vec::new(),
        help: None,
        identity: Identity::Place("spec.http[0]".into()),
        environments: Vec::new(),
        group: None,
        suppressed: None,
    }
}

/// The finding of the specification: one path over three files.
pub fn path() -> (Sources, Finding) {
    let pad = |lines: usize, text: &str| format!("{}{text}\n", "\n".repeat(lines - 1));
    let sources = sources(&[
        ("mesh/checkout.yaml", &pad(14, "      attempts: 2")),
        ("services/checkout/src/client.rs", &pad(31, "        .with_max_times(2)")),
        ("gateway/envoy.yaml", &pad(188, "                  num_retries: 2")),
    ]);
    let label = |file: u32, text: &str, says: &str| {
        let source = sources.get(FileId(file)).unwrap();
        let at = source.text().unwrap().find(text).unwrap() + text.len() - 1;
        Label { span: Span::new(FileId(file), at..at + 1), text: says.into() }
    };
    let labels = vec![
        label(2, "retries: 2", "payments → ledger: two retries, three tries (×3 = 27)"),
        label(0, "attempts: 2", "web → checkout: two retries, three tries (×3)"),
        label(1, "times(2", "checkout → payments: two retries, three tries (×3 = 9)"),
    ];
    let finding = Finding {
        rule: "retry-amplification",
        severity: Severity::Error,
        message: "one request to `web` can become 27 requests at `ledger`".into(),
        labels,
        notes: vec![
            "worst for overload (503 at every hop); no layer on this path has a budget".into(),
            "web → checkout is owned by @team-web, checkout → payments by @team-pay".into(),
        ],
        help: Some(
            "retry at one hop only: `attempts: 0` in mesh/checkout.yaml and no retry in checkout's client leaves 3×,\nor \
             bound it: `retry_budget: { budget_percent: { value: 20 } }` on cluster `ledger` leaves 11.25×"
                .into(),
        ),
        read_before: 2,
        identity: Identity::Path { from: "web".into(), to: "ledger".into() },
        ..finding("retry-amplification", &sources, &[])
    };
    (sources, finding)
}
