//! [`InCode`]: what only code can do to a retry, as the rules about code need to see it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Operation;
use crate::source::Span;

/// What is known of a policy because it stands in code.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct InCode {
    /// The function around it, as shown: `Client::fetch`.
    pub function: Option<Arc<str>>,
    /// What is tried, in a word or two: `client.charge`, `get`.
    pub operation: Option<Arc<str>>,
    /// What is requested of the callee, as far as it can be told.
    pub request: Option<Operation>,
    /// Whether it runs in asynchronous code.
    pub is_async: bool,
    /// Where the random part of delays is drawn, if that is not once per try.
    pub frozen_jitter: Option<Frozen>,
    /// A wait that is reached after the last try, before giving up.
    pub sleep_after_last: Option<Span>,
    /// A wait that blocks the thread, in asynchronous code.
    pub blocking_sleep: Option<Span>,
    /// Where a function that returns a result returns success after the last failed try.
    pub swallowed: Option<Span>,
    /// Where the tried operation turns an answer's status into an error, while every error is tried again.
    pub status_to_error: Option<Span>,
    /// Advice that its library has for findings of a rule, by the rule's id; of several for one rule the first.
    pub help: Vec<(Arc<str>, Arc<str>)>,
    /// The constructs of libraries that it is read from, in any file: builders, options, parts.
    pub built_of: Vec<Span>,
    /// Whether it only says how something would be tried, and nothing in its file does so.
    pub is_described: bool,
    /// Where an idempotency key is made anew in each try.
    pub key_in_attempt: Option<Span>,
}

/// A random part of a delay that is the same for all tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Frozen {
    /// Where it is drawn.
    pub span: Span,
    /// How it came to be frozen.
    pub how: Freeze,
}

/// How a random part is frozen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Freeze {
    /// Drawn once, before the tries.
    DrawnOnce,
    /// A series of delays that is made once and used by everyone.
    Sequence,
    /// A fixed seed: every instance draws the same numbers.
    Seed,
}
