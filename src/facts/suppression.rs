//! [`Suppression`]: a comment that silences rules on a place, with its reason.

use serde::{Deserialize, Serialize};

use super::Date;
use crate::source::Span;

/// `# retrylint: allow(missing-jitter, no-backoff) reason`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Suppression {
    /// The directive in its comment.
    pub span: Span,
    /// Each rule it names, with its place.
    pub rules: Vec<(String, Span)>,
    /// The reason behind it; may be empty.
    pub reason: String,
    /// The last day on which it holds: `allow(rule, until=2027-01-31)`. None: for ever.
    pub until: Option<Date>,
    /// What it covers.
    pub scope: Scope,
}

impl Suppression {
    /// Whether it holds no more. Where nobody says what day it is, it does.
    pub fn is_expired(&self, today: Option<Date>) -> bool {
        is_past(self.until, today)
    }
}

/// Whether a last day is over.
pub fn is_past(until: Option<Date>, today: Option<Date>) -> bool {
    until.zip(today).is_some_and(|(until, today)| until < today)
}

/// What a suppression covers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// Findings whose primary span starts in this range (or, for path rules, any labelled hop).
    Range(Span),
    /// The whole file.
    File,
}

/// A comment that speaks to retrylint and is not understood: `# retrylint: alow(missing-jitter)`. Whoever wrote it
/// believes that it does something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Misdirected {
    /// What is wrong, in the comment.
    pub span: Span,
    /// What is wrong: lower case, without a full stop, readable alone.
    pub message: String,
    /// What was probably meant, as text to write.
    pub suggestion: Option<String>,
}
