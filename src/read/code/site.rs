//! [`Site`]: a place in code where something is tried again, before it is known who calls whom.

use super::tree::{Id, Unit};
use crate::facts::{Limit, Nanos, Origin, Policy, Sourced, Value, Why};
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
    /// What stands below those and is no part of a try: its failure ends the tries, or it is only come to on the way out.
    pub apart: Vec<Id>,
    /// Where it comes from.
    pub from: Finder,
    /// The constructs that it is read from: builders, options, parts, in this file or in another one.
    pub uses: Vec<Span>,
    /// Whether it only says how something would be tried, and nothing in its file does so. If another file does, that is the
    /// site; see [`catalogue::finish`](super::catalogue::finish).
    pub is_described: bool,
}

impl Site {
    /// Whether a node below the operations is no part of a try: it stands apart, or nothing here waits for it.
    pub fn leaves_out(&self, unit: &Unit, id: Id) -> bool {
        let mut within = std::iter::once(id).chain(unit.around(id)).take_while(|id| !self.operations.contains(id));
        self.apart.iter().any(|apart| unit.is_below(id, *apart)) || within.any(|id| unit.is_detached(id))
    }
}

/// Who found a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finder {
    /// The loop recogniser.
    Loops,
    /// The library catalogue.
    Catalogue,
}

/// A count beyond which there is none: `u32::MAX` tries are as many as anybody has time for.
pub const COUNTLESS: f64 = 1e6;

/// The limit of one try where nothing says one: what is tried may limit itself in ways that are not looked at, so that no limit
/// in sight is not known to be none. Nobody wrote that, and whoever looks at what is tried may know better. `by`: whose default
/// it would be.
pub fn unseen_limit(why: &'static str, by: &'static str) -> Sourced<Limit<Nanos>> {
    Sourced {
        value: Value::Unknown(Box::new(Why::Other(why.into()))),
        origin: Origin::Default { by, reference: "attempt timeout" },
    }
}

/// Why a limit of one try is not known where what is tried is not looked into.
pub const LIMITS_ITSELF: &str = "what is tried may limit itself";
