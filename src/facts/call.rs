//! [`Call`]: one service calls another, and [`Route`]: which of a callee's requests a policy covers (contracts.md D-7).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Callee, Caller, Confidence, Sourced};
use crate::source::Span;

/// Index of a call in [`Facts::calls`](super::Facts::calls).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct CallId(pub u32);

/// A service calls another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Call {
    /// Who calls; [`Caller::ByPath`] by the file that it is said in. Of callers that are not told there is no call.
    pub caller: Caller,
    /// Who is called.
    pub callee: Callee,
    /// Where it is said.
    pub span: Span,
    /// What says so.
    pub source: CallSource,
    /// Its environment (D-2).
    pub environment: Option<Arc<str>>,
    /// Calls per request that the caller handles; may be a fraction.
    pub per_request: Sourced<f64>,
    /// What is called.
    pub operation: Option<Operation>,
    /// What it is spoken in; unknown counts as HTTP.
    pub protocol: Option<Protocol>,
    /// Calls of one caller that share a group exclude one another: a routing choice (math.md T-12).
    pub one_of: Option<Arc<str>>,
    /// Whether the caller does not wait: a queue, an event.
    pub is_async: bool,
    /// Whether it may be repeated without harm, where that is declared.
    pub idempotent: Option<Sourced<bool>>,
    /// Whether the caller's deadline reaches the callee.
    pub propagates_deadline: Option<Sourced<bool>>,
    /// How sure the reader is.
    pub confidence: Confidence,
}

/// What says that a call exists; the order is that of precedence (D-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CallSource {
    /// A proxy's route.
    Route,
    /// Source code.
    Code,
    /// A services manifest.
    Manifest,
    /// retrylint.toml.
    Settings,
}

impl CallSource {
    /// The name used in output.
    pub fn name(self) -> &'static str {
        match self {
            CallSource::Route => "route",
            CallSource::Code => "code",
            CallSource::Manifest => "manifest",
            CallSource::Settings => "settings",
        }
    }
}

/// What an edge is spoken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// HTTP with its status codes.
    Http,
    /// gRPC with its own.
    Grpc,
}

impl Protocol {
    /// The name used in output.
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Http => "http",
            Protocol::Grpc => "grpc",
        }
    }
}

/// An operation: `POST /charge`, or a gRPC method.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Operation {
    /// The HTTP method, upper case.
    pub method: Option<Arc<str>>,
    /// The literal path, or the name of the RPC.
    pub path: Option<Arc<str>>,
}

impl Operation {
    /// From `POST /charge`, `/charge`, `POST` or an RPC name such as `payments.Payments/Charge`.
    pub fn parse(text: &str) -> Operation {
        let text = text.trim();
        let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let is_method = !first.is_empty() && first.len() <= 10 && first.bytes().all(|b| b.is_ascii_uppercase());
        let (method, path) = if is_method { (Some(first.into()), rest.trim()) } else { (None, text) };
        Operation { method, path: (!path.is_empty()).then(|| path.into()) }
    }
}

/// Which requests a policy covers, and its place among the routes that compete with it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Route {
    /// The ordered list that it stands in (a virtual host, a VirtualService): routes with the same list compete, and the
    /// first that matches wins.
    pub list: Span,
    /// Its place in the list, from 0.
    pub order: u32,
    /// Methods that it is limited to.
    pub methods: Methods,
    /// Paths that it is limited to.
    pub path: PathMatch,
    /// Whether it has conditions that are not modelled (headers, queries): it may or may not match.
    pub conditional: bool,
    /// What the requests that it takes are spoken in, where it takes only those.
    pub protocol: Option<Protocol>,
}

/// Which HTTP methods are covered or retried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Methods {
    /// All of them.
    Any,
    /// GET, HEAD, OPTIONS, TRACE, PUT, DELETE.
    Idempotent,
    /// These, upper case.
    Only(Vec<Arc<str>>),
}

impl Methods {
    /// Whether a method is covered.
    pub fn covers(&self, method: &str) -> bool {
        match self {
            Methods::Any => true,
            Methods::Idempotent => is_idempotent(method),
            Methods::Only(methods) => methods.iter().any(|m| m.eq_ignore_ascii_case(method)),
        }
    }

    /// Whether a method that must not be repeated (POST, PATCH …) may be among them.
    pub fn may_be_unsafe(&self) -> bool {
        match self {
            Methods::Any => true,
            Methods::Idempotent => false,
            Methods::Only(methods) => methods.iter().any(|m| !is_idempotent(m)),
        }
    }
}

/// Whether RFC 9110 calls a method idempotent.
pub fn is_idempotent(method: &str) -> bool {
    ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].iter().any(|m| m.eq_ignore_ascii_case(method))
}

/// Which paths a route takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PathMatch {
    /// All of them.
    Any,
    /// Exactly this.
    Exact(Arc<str>),
    /// What starts so.
    Prefix(Arc<str>),
    /// A pattern that is not evaluated.
    Pattern(Arc<str>),
}

impl PathMatch {
    /// Whether it takes a literal path; `None` if that cannot be told.
    pub fn takes(&self, path: &str) -> Option<bool> {
        match self {
            PathMatch::Any => Some(true),
            PathMatch::Exact(exact) => Some(path == &**exact),
            PathMatch::Prefix(prefix) => Some(path.starts_with(&**prefix)),
            PathMatch::Pattern(_) => None,
        }
    }
}
