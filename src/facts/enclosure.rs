//! [`Enclosure`]: a function that the tries of one policy call, so that what retries in it stands inside that policy.

use serde::{Deserialize, Serialize};

use super::PolicyId;
use crate::source::Span;

/// A function in code that the tries of a policy call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Enclosure {
    /// The policy whose tries call it.
    pub outer: PolicyId,
    /// The function, in whatever file.
    pub function: Span,
    /// How many other functions lie in between.
    pub depth: u32,
    /// Whether nothing else calls it, nor any that lies in between.
    pub is_only: bool,
}
