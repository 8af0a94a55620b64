//! [`RouteUse`]: routes that stand in one object and are used through another, which says who calls.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Caller, Dialect, Policy, Position, ServiceRef};
use crate::source::Span;

/// The name of a configuration object that holds routes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ObjectName {
    /// Whose object it is: a VirtualService of Istio's, a route configuration of Envoy's.
    pub dialect: Dialect,
    /// Its name.
    pub name: Arc<str>,
    /// Its namespace; none if no file says it, or if objects of its kind have none.
    pub namespace: Option<Arc<str>>,
}

/// Something uses the routes of an object by its name, and so says who calls through that one's policies: an Istio
/// VirtualService with `delegate`, an Envoy listener with `rds`, and the whole object of which the routes are a patch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RouteUse {
    /// Whose routes.
    pub of: ObjectName,
    /// In whose proxies.
    pub position: Position,
    /// Who calls; [`Caller::ByPath`] by the file that this stands in.
    pub caller: Caller,
    /// What holds for these routes where they say nothing themselves, as the policy of the route that leads to them. None
    /// if nothing is handed down.
    pub hands_down: Option<Box<Policy>>,
    /// The names by which callers reach the object, if this is that object itself, whole: what its patches leave out. None for
    /// a use by another one.
    pub whole: Option<Vec<ServiceRef>>,
    /// Its environment (D-2).
    pub environment: Option<Arc<str>>,
    /// Where it is written.
    pub span: Span,
}

/// What a policy says nothing about because the object that uses it may (see [`RouteUse::hands_down`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// Everything about retries.
    pub retries: bool,
    /// The limit of all tries together.
    pub timeout: bool,
}
