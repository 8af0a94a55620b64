//! Host names in Istio's objects: one without a dot lies in the namespace of the object that names it, not in that of
//! the service.

use std::sync::Arc;

use crate::facts::{Evidence, Host, ServiceRef, Why};
use crate::read::data::tree::Node;
use crate::read::data::value;
use crate::read::dialects::kubernetes::Metadata;
use crate::source::Span;

/// The service that a destination names, or why that cannot be told.
pub(super) fn service(node: Node<'_>, object: &Metadata) -> Result<ServiceRef, Why> {
    if let Some(why) = value::hole(node) {
        return Err(why);
    }
    let text = node.text().unwrap_or_default();
    named(text, object.namespace.as_ref(), node.span())
        .ok_or_else(|| Why::Other(format!("`{}` names no single service", value::shorten(text)).into()))
}

/// The services that a list of hosts names; wildcards and addresses are none.
pub(super) fn services(hosts: Option<Node<'_>>, object: &Metadata) -> Vec<ServiceRef> {
    hosts.into_iter().flat_map(Node::items).filter_map(|host| service(host, object).ok()).collect()
}

/// A host in an object of `namespace`.
pub(super) fn named(text: &str, namespace: Option<&Arc<str>>, at: Span) -> Option<ServiceRef> {
    let mut host = Host::parse(text)?;
    if let Host::Name { namespace: none @ None, .. } = &mut host
        && !text.contains('.')
    {
        *none = namespace.cloned();
    }
    Some(ServiceRef { host, from_namespace: namespace.cloned(), evidence: Evidence::Written, at: Some(at) })
}
