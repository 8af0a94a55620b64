//! ServiceEntry: services that the mesh is told about, most of them outside the cluster.

use super::host;
use crate::facts::{Facts, Host, PortProtocol, Service, ServiceSource};
use crate::read::data::tree::Node;
use crate::read::dialects::kubernetes::{Metadata, distinct, plain, protocol_of};

/// With endpoints, all hosts are names of one service; without, each host stands for itself.
pub(super) fn read(document: Node<'_>, object: &Metadata, facts: &mut Facts) {
    let Some(spec) = document.get("spec") else {
        return;
    };
    let hosts: Vec<_> = spec.get("hosts").into_iter().flat_map(Node::items).collect();
    let endpoints: Vec<Host> = spec
        .get("endpoints")
        .into_iter()
        .flat_map(Node::items)
        .filter_map(|endpoint| Host::parse(plain(endpoint.get("address")?)?))
        .collect();
    let has_endpoints = spec.get("endpoints").is_some_and(|endpoints| endpoints.items().len() > 0);
    let ports = distinct(spec.get("ports").into_iter().flat_map(Node::items).map(port_protocol));
    let mut shared: Option<Service> = None;
    for node in hosts {
        let Ok(reference) = host::service(node, object) else {
            continue;
        };
        match &mut shared {
            Some(service) if has_endpoints => service.aliases.push(reference.host),
            _ => {
                facts.services.extend(shared.take());
                let mut service = declared(&reference.host, node);
                service.ports.clone_from(&ports);
                service.aliases.push(reference.host);
                shared = Some(service);
            }
        }
    }
    if let Some(service) = &mut shared
        && has_endpoints
    {
        service.aliases.extend(endpoints);
    }
    facts.services.extend(shared);
}

/// `protocol: TLS`; here a port's name means nothing.
fn port_protocol(port: Node<'_>) -> PortProtocol {
    port.get("protocol").and_then(plain).map_or(PortProtocol::Unsaid, protocol_of)
}

fn declared(host: &Host, node: Node<'_>) -> Service {
    let (name, namespace) = match host {
        Host::Name { name, namespace } => (name.clone(), namespace.clone()),
        Host::Dotted(whole) => (whole.clone(), None),
    };
    Service { namespace, ..Service::new(name, node.span(), ServiceSource::Kubernetes) }
}
