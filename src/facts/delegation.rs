//! [`Delegation`]: objects that leave routes to other objects.

use std::sync::Arc;

use serde::Serialize;

use super::{Caller, Position};
use crate::source::Span;

/// The name of a configuration object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct ObjectName {
    /// Its name.
    pub name: Arc<str>,
    /// Its namespace; none if no file says it.
    pub namespace: Option<Arc<str>>,
}

/// An object that leaves some of its routes to another one, and so says who calls through that one's policies: an Istio
/// VirtualService with `delegate`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Delegation {
    /// To whom.
    pub to: ObjectName,
    /// In whose proxies.
    pub position: Position,
    /// Who calls.
    pub caller: Caller,
    /// Its environment (D-2).
    pub environment: Option<Arc<str>>,
    /// Where it is written.
    pub span: Span,
}
