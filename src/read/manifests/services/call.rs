//! What a manifest or retrylint.toml says about a call, retrying left out.

use std::sync::Arc;

use crate::facts::{
    Call, CallSource, Callee, Caller, Confidence, Evidence, Host, Operation, Protocol, ServiceRef, Sourced,
};
use crate::read::data::tree::Entry;
use crate::read::vocabulary::values::{NUMBER, SWITCH, TEXT, named};
use crate::read::vocabulary::{Faults, Kind, plain, value};
use crate::source::Span;

/// What a call is spoken in.
pub(super) const PROTOCOL: Kind<Protocol> = Kind::words(&[("http", Protocol::Http), ("grpc", Protocol::Grpc)]);
/// Calls of which one request makes one.
pub(super) const GROUP: Kind<Arc<str>> = named("the name of a group");

/// The fields of a call as they are met.
#[derive(Debug)]
pub struct CallFields<'t> {
    /// Whom it calls; the reader of the whole file knows how to resolve it.
    pub to: Option<Entry<'t>>,
    source: CallSource,
    per_request: Option<Sourced<f64>>,
    operation: Option<Operation>,
    protocol: Option<Protocol>,
    one_of: Option<Arc<str>>,
    is_async: bool,
    idempotent: Option<Sourced<bool>>,
    propagates_deadline: Option<Sourced<bool>>,
}

impl<'t> CallFields<'t> {
    /// A call of which nothing is known yet.
    pub fn new(source: CallSource) -> Self {
        CallFields {
            to: None,
            source,
            per_request: None,
            operation: None,
            protocol: None,
            one_of: None,
            is_async: false,
            idempotent: None,
            propagates_deadline: None,
        }
    }

    /// Takes one field; false if it is none of a call's own.
    pub fn take(&mut self, field: &Entry<'t>, faults: &mut Faults) -> bool {
        match field.key {
            "to" => self.to = Some(*field),
            "per-request" => self.per_request = value(field, NUMBER, faults),
            "operation" => self.operation = plain(field, TEXT, faults).map(|text| Operation::parse(&text)),
            "protocol" => self.protocol = plain(field, PROTOCOL, faults),
            "idempotent" => self.idempotent = value(field, SWITCH, faults),
            "one-of" => self.one_of = plain(field, GROUP, faults),
            "async" => self.is_async = plain(field, SWITCH, faults).unwrap_or(false),
            "propagates-deadline" => self.propagates_deadline = value(field, SWITCH, faults),
            _ => return false,
        }
        true
    }

    /// The call, written at `span`, to a host whose namespace defaults to the caller's.
    pub fn build(self, caller: ServiceRef, environment: Option<Arc<str>>, callee: Host, span: Span) -> Call {
        let callee = ServiceRef {
            host: callee,
            from_namespace: caller.from_namespace.clone(),
            evidence: Evidence::Written,
            at: Some(self.to.map_or(span, |to| to.value.span())),
        };
        let by = match self.source {
            CallSource::Settings => "retrylint.toml",
            _ => "the manifest",
        };
        Call {
            caller: Caller::Service(caller),
            callee: Callee::Service { service: callee, hosts: Vec::new() },
            span,
            source: self.source,
            environment,
            per_request: self.per_request.unwrap_or_else(|| Sourced::default_of(1.0, by, "per-request")),
            operation: self.operation,
            protocol: self.protocol,
            one_of: self.one_of,
            is_async: self.is_async,
            idempotent: self.idempotent,
            propagates_deadline: self.propagates_deadline,
            confidence: Confidence::High,
        }
    }
}
