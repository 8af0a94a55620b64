//! Who the proxy of a document is: by its own name (`node.cluster`), or whoever's file it is.

use std::sync::Arc;

use super::proto::{self, field, text};
use crate::facts::{Caller, Dialect, Host, ObjectName, Position, RouteUse, Service, ServiceRef, ServiceSource};
use crate::read::data::tree::Node;
use crate::source::Span;

/// Who calls through the policies of a document, and where that stands.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    /// Who calls.
    pub caller: Caller,
    /// Where the proxy stands.
    pub position: Position,
    /// The caller, if the document names it.
    pub service: Option<ServiceRef>,
}

impl Identity {
    /// From `node` of a bootstrap. Without a name of its own, a proxy belongs to the service whose file it is (D-3).
    pub fn of(node: Option<Node<'_>>) -> Identity {
        let by_path = || Identity { caller: Caller::ByPath, position: Position::ClientSidecar, service: None };
        let Some((node, name)) = node.and_then(|node| Some((node, field(node, "cluster")?))) else {
            return by_path();
        };
        if let Some(why) = proto::hole(name) {
            return Identity { caller: Caller::Unknown(why), position: Position::Gateway, service: None };
        }
        let Some(mut service) = name.text().and_then(|text| ServiceRef::written(text, None, name.span())) else {
            return by_path();
        };
        // Istio's agents call themselves `sidecar~10.0.0.7~shop-5d4.bank~bank.svc.cluster.local`.
        let id = text(node, "id").unwrap_or_default();
        let is_sidecar = id.starts_with("sidecar~");
        if let Some(namespace) =
            id.split('~').nth(2).and_then(|pod| pod.split_once('.')).map(|(_, namespace)| namespace)
            && let Host::Dotted(host) = &service.host
            && let Some(stem) = host.strip_suffix(namespace).and_then(|stem| stem.strip_suffix('.'))
        {
            service.host = Host::Name { name: stem.into(), namespace: Some(namespace.into()) };
        }
        let position = if is_sidecar { Position::ClientSidecar } else { Position::Gateway };
        Identity { caller: Caller::Service(service.clone()), position, service: Some(service) }
    }

    /// Who calls through what only the proxy's own machine reaches, or anybody does.
    pub fn caller(&self, is_local: bool) -> Caller {
        match &self.caller {
            Caller::ByPath if is_local => Caller::Beside,
            caller => caller.clone(),
        }
    }

    /// The use of a route configuration that stands elsewhere, by its name.
    pub fn uses(&self, name: Node<'_>, is_local: bool) -> Option<RouteUse> {
        let of = name.text().filter(|_| proto::hole(name).is_none()).and_then(route_configuration)?;
        let (position, caller) = (self.position, self.caller(is_local));
        Some(RouteUse { of, position, caller, hands_down: None, whole: None, environment: None, span: name.span() })
    }

    /// The proxy as a service that calls others. A sidecar is none: its service is the application beside it.
    pub fn declared(&self, span: Span) -> Option<Service> {
        let service = self.service.as_ref().filter(|_| self.position == Position::Gateway)?;
        let (name, namespace): (Arc<str>, _) = match &service.host {
            Host::Name { name, namespace } => (Arc::clone(name), namespace.clone()),
            Host::Dotted(host) => (Arc::clone(host), None),
        };
        let mut declared = Service::new(name, service.at.unwrap_or(span), ServiceSource::Proxy);
        declared.namespace = namespace;
        declared.is_proxy = true;
        Some(declared)
    }
}

/// A route configuration by its name.
pub(super) fn route_configuration(name: &str) -> Option<ObjectName> {
    let is_name = !name.is_empty() && !proto::is_placeholder(name);
    is_name.then(|| ObjectName { dialect: Dialect::Envoy, name: name.into(), namespace: None })
}
