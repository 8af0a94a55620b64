//! [`Finding`]: what a rule says, with every place that contributes.

use std::sync::Arc;

use serde::Serialize;

use crate::facts::Confidence;
use crate::source::Span;

/// How bad it is. The order is that of badness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// A reviewer would ask to change it before merging.
    Warning,
    /// It will hurt in the next outage.
    Error,
}

impl Severity {
    /// The name used in output and configuration.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// One defect.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The rule's id.
    pub rule: &'static str,
    /// How bad.
    pub severity: Severity,
    /// The least of the facts that it rests on.
    pub confidence: Confidence,
    /// Advice that only `--pedantic` shows.
    pub pedantic: bool,
    /// The effect in the reader's own numbers, then the cause; readable alone.
    pub message: String,
    /// Places, the primary one first.
    pub labels: Vec<Label>,
    /// How many of the others are read before the primary one.
    pub read_before: usize,
    /// Further facts, one sentence each.
    pub notes: Vec<String>,
    /// What to write instead.
    pub help: Option<String>,
    /// What identifies it across runs (contracts.md D-16).
    pub identity: Identity,
    /// Environments in which it holds; empty if the tree has none.
    pub environments: Vec<Arc<str>>,
    /// Findings with the same group may be shown as one by the formats for people.
    pub group: Option<Arc<str>>,
    /// The suppression that covers it.
    pub suppressed: Option<Suppressed>,
}

/// A place with what it contributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What stands there, in a few words; may be empty for the primary label.
    pub text: String,
}

/// What a fingerprint is made of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Identity {
    /// A finding about one policy or place: its enclosing name or key path. Path and text of the primary span are added.
    Place(Arc<str>),
    /// A finding about a path: caller-most and callee-most service.
    Path {
        /// Caller-most service.
        from: Arc<str>,
        /// Callee-most service.
        to: Arc<str>,
    },
}

/// Why a finding is not counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suppressed {
    /// `inline`, `file`, `accepted` or `baseline`.
    pub by: &'static str,
    /// The reason given.
    pub reason: String,
    /// Where it is said.
    #[serde(skip)]
    pub span: Option<Span>,
}

impl Finding {
    /// A finding of which only rule, level, place and message are known: sure, shown to everybody, and identified by its
    /// place alone.
    pub fn new(rule: &'static str, severity: Severity, span: Span, message: String) -> Finding {
        Finding {
            rule,
            severity,
            confidence: Confidence::High,
            pedantic: false,
            message,
            labels: vec![Label { span, text: String::new() }],
            read_before: 0,
            notes: Vec::new(),
            help: None,
            identity: Identity::Place("".into()),
            environments: Vec::new(),
            group: None,
            suppressed: None,
        }
    }

    /// The primary place. Every finding has one: [`Finding::labels`] is never empty.
    pub fn primary(&self) -> Option<&Label> {
        self.labels.first()
    }

    /// The places in the order in which they are read. The primary place of a path of calls that multiplies is in its last
    /// hop (contracts.md D-16), so what stands above it comes first; anything else starts there.
    pub fn in_reading_order(&self) -> Vec<&Label> {
        let mut labels: Vec<&Label> = self.labels.iter().collect();
        let end = self.labels.len().min(self.read_before + 1);
        if let Some(first) = labels.get_mut(..end).filter(|first| !first.is_empty()) {
            first.rotate_left(1);
        }
        labels
    }
}
