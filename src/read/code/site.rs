//! [`Site`]: a place in code where something is tried again, before it is known who calls whom.

use super::tree::Id;
use crate::facts::Policy;
use crate::source::Span;

/// A place in code where something is tried again.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Numbers, limits and conditions. Caller, callee, methods, purpose and nesting are filled in later.
    pub policy: Policy,
    /// The construct: the loop, the call that starts the tries, the construction of the client. What stands below it is
    /// enclosed by it.
    pub construct: Id,
    /// The roots of what is done once per try: the loop's body, the closure, the requests made on a client. Nodes of the same
    /// unit; empty if they are not seen.
    pub operations: Vec<Id>,
    /// Where it comes from.
    pub from: Finder,
    /// The constructs that it is read from: builders, options, parts, in this file or in another one.
    pub uses: Vec<Span>,
    /// Whether it only says how something would be tried, and nothing in its file does so. If another file does, that is the
    /// site; see [`catalogue::finish`](super::catalogue::finish).
    pub is_described: bool,
}

/// Who found a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finder {
    /// The loop recogniser.
    Loops,
    /// The library catalogue.
    Catalogue,
}
