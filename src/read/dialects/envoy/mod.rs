//! Envoy's own configuration: bootstraps, resources as control planes send them, and what the admin port dumps, in both
//! spellings of protobuf JSON. One [`Policy`](crate::facts::Policy) for each destination of each route, one
//! [`Upstream`](crate::facts::Upstream) for each cluster.
//!
//! ```text
//! walk (clusters, virtual hosts) ─► cluster, who, levels ─► routes ─► retry ─► tokens, matching, headers
//!                                                                  └──► problems: what is rejected or inert
//! ```
//!
//! Retry policies of side calls (external authorisation, access logs, the control plane itself) are no part of a request's
//! way and are not looked at; neither are counts that only look like retries (`host_selection_retry_max_attempts`).

mod cluster;
mod headers;
mod levels;
mod matching;
mod problems;
mod proto;
mod retry;
mod routes;
mod tokens;
mod walk;
mod who;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use super::super::data::tree::Node;
use super::super::{Context, Dialect};
use crate::facts::Facts;
use cluster::Cluster;
use routes::Reader;
use who::Identity;

/// The reader of Envoy's configuration.
pub const DIALECT: Dialect = Dialect {
    name: "envoy",
    words: &[
        "static_resources",
        "staticResources",
        "dynamic_resources",
        "dynamicResources",
        "virtual_hosts",
        "virtualHosts",
        "type.googleapis.com/envoy.",
        "filter_chain",
        "ilterChain",
        "domains",
        "load_assignment",
        "loadAssignment",
        "eds_cluster_config",
        "edsClusterConfig",
        "circuit_breakers",
        "circuitBreakers",
        "outlier_detection",
        "outlierDetection",
        "lb_policy",
        "lbPolicy",
        "load_balancing_policy",
        "loadBalancingPolicy",
        "dns_lookup_family",
        "dnsLookupFamily",
        "typed_extension_protocol_options",
        "typedExtensionProtocolOptions",
    ],
    recognises: walk::recognises,
    read,
};

fn read(root: Node<'_>, context: &Context<'_>, facts: &mut Facts) {
    let found = walk::gather(root);
    let who = Identity::of(found.node);
    let mut clusters: HashMap<&str, Cluster<'_>> = HashMap::with_capacity(found.clusters.len());
    for node in &found.clusters {
        let Some(name) = proto::text(*node, "name").filter(|name| !cluster::is_no_service(name)) else { continue };
        let cluster = Cluster::read(*node, name);
        // `inbound|…` is the application beside the proxy, and its limits are the proxy's own.
        if !name.starts_with("inbound|") {
            facts.upstreams.extend(cluster::upstream(*node, name, &cluster, &who));
        }
        clusters.insert(name, cluster);
    }
    let mut reader = Reader::new(context, &who, &clusters, facts);
    for host in &found.hosts {
        reader.host(host);
    }
    facts.route_uses.extend(found.used.iter().filter_map(|(name, is_local)| who.uses(*name, *is_local)));
    if !found.hosts.is_empty() || !clusters.is_empty() || !found.used.is_empty() {
        facts.services.extend(who.declared(root.span()));
    }
}
