//! Clusters: who stands behind one, and the limits that Envoy keeps for it (budget, caps, outlier detection).

use std::sync::Arc;

use super::proto::{self, BY, at, count_or, field, list, modest, text};
use super::who::Identity;
use crate::facts::{
    Breaker, Budget, BudgetBase, Callee, Dialect, Evidence, Floor, Host, Limit, Nanos, Place, ServiceRef, Sourced,
    Upstream, Why,
};
use crate::read::data::tree::{Entry, Node};
use crate::source::Span;

/// Where the options of an HTTP upstream stand.
const HTTP_OPTIONS: &str = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/// A cluster as routes need it.
#[derive(Debug)]
pub(super) struct Cluster<'t> {
    /// Who stands behind it.
    pub callee: Callee,
    /// How long connecting may take.
    pub connect_timeout: Sourced<Limit<Nanos>>,
    /// Its retry policy, which replaces those of route and virtual host.
    pub retry: Option<Entry<'t>>,
    /// Whether it speaks HTTP/3.
    pub is_quic: bool,
}

impl<'t> Cluster<'t> {
    /// Reads what routes need.
    pub fn read(node: Node<'t>, name: &str) -> Cluster<'t> {
        let options = at(node, &["typed_extension_protocol_options", HTTP_OPTIONS]);
        let connect_timeout = field(node, "connect_timeout").map_or_else(
            || Sourced::default_of(Limit::At(Nanos::from_secs(5)), BY, "connect_timeout"),
            |node| proto::duration(node).map(Limit::At),
        );
        let quic = options.and_then(|options| {
            at(options, &["explicit_http_config", "http3_protocol_options"])
                .or_else(|| at(options, &["auto_config", "http3_protocol_options"]))
        });
        Cluster {
            callee: callee(node, name),
            connect_timeout,
            retry: options.and_then(|options| modest(options, "retry_policy")),
            is_quic: quic.is_some(),
        }
    }
}

/// Clusters of Istio's that are no service.
pub(super) fn is_no_service(name: &str) -> bool {
    matches!(
        name,
        "BlackHoleCluster"
            | "PassthroughCluster"
            | "InboundPassthroughCluster"
            | "InboundPassthroughClusterIpv4"
            | "InboundPassthroughClusterIpv6"
    )
}

/// The service of a cluster's name: the host in `outbound|…`, else the name itself. None for names with holes and for
/// `inbound|…`.
pub(super) fn by_name(name: &str, at: Span, evidence: Evidence) -> Option<ServiceRef> {
    if name.is_empty() || proto::is_placeholder(name) || name.starts_with("inbound|") {
        return None;
    }
    let is_plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':'));
    let host = if is_plain || name.starts_with("outbound") {
        Host::parse(name)?
    } else {
        // `httproute/default/shop/rule/0`: a name of a control plane's, no host; whole, so that no two of them meet.
        Host::Name { name: name.to_ascii_lowercase().into(), namespace: None }
    };
    Some(ServiceRef { host, from_namespace: None, evidence, at: Some(at) })
}

/// Who stands behind a cluster, best evidence first.
fn callee(node: Node<'_>, name: &str) -> Callee {
    let at_name = field(node, "name").map_or(node.span(), Node::span);
    let to = |service: ServiceRef| Callee::Service { service, hosts: Vec::new() };
    if name.starts_with("inbound|") {
        return Callee::Unknown(Why::Other("the application beside this proxy".into()));
    }
    if name.starts_with("outbound")
        && let Some(service) = by_name(name, at_name, Evidence::Written)
    {
        return to(service);
    }
    let mut holes: Vec<Arc<str>> = Vec::new();
    let (mut is_local, mut is_address) = (false, false);
    for address in addresses(node) {
        if let Some(written) = address.text()
            && let Some(host) = Host::parse(written)
            && proto::hole(address).is_none()
        {
            if written.eq_ignore_ascii_case("host.docker.internal") {
                is_local = true;
                continue;
            }
            let at = Some(address.span());
            return to(ServiceRef { host, from_namespace: None, evidence: Evidence::Written, at });
        }
        match proto::hole(address) {
            Some(Why::Environment(variable)) => holes.push(variable.into()),
            Some(_) => holes.push(name.into()),
            None if is_loopback(address) => is_local = true,
            None => is_address = true,
        }
    }
    if let Some(service) = at(node, &["eds_cluster_config", "service_name"])
        && let Some(written) = service.text()
        && let Some(service) = by_name(written, service.span(), Evidence::Written)
    {
        return to(service);
    }
    if !holes.is_empty() || (is_local && !is_address) {
        // Neither a variable's name nor that of a local port is a service by itself; it may be the name of a known one.
        holes.push(name.into());
        holes.dedup();
        return Callee::Named(holes);
    }
    if is_address {
        let by_name = by_name(name, at_name, Evidence::Inferred);
        return by_name.map_or_else(|| Callee::Named(vec![name.into()]), to);
    }
    let custom = at(node, &["cluster_type", "name"]).and_then(Node::text).unwrap_or_default();
    if text(node, "type").is_some_and(|kind| kind == "ORIGINAL_DST")
        || custom.contains("original_dst")
        || custom.contains("dynamic_forward_proxy")
    {
        return Callee::Unknown(Why::Other("decided by each request's own destination".into()));
    }
    match by_name(name, at_name, Evidence::Written) {
        Some(service) => to(service),
        None => Callee::Unknown(Why::Other("the cluster's name is not told".into())),
    }
}

/// The address of each endpoint; of a socket that is a path, the path.
fn addresses<'t>(cluster: Node<'t>) -> impl Iterator<Item = Node<'t>> {
    let endpoints = field(cluster, "load_assignment").into_iter().flat_map(|assignment| list(assignment, "endpoints"));
    let endpoints = endpoints.flat_map(|locality| list(locality, "lb_endpoints"));
    let endpoints = endpoints.filter_map(|endpoint| at(endpoint, &["endpoint", "address"]));
    // v2 listed them directly.
    endpoints.chain(list(cluster, "hosts")).filter_map(|address| {
        at(address, &["socket_address", "address"]).or_else(|| at(address, &["pipe", "path"])).or(Some(address))
    })
}

fn is_loopback(address: Node<'_>) -> bool {
    let Some(text) = address.text() else {
        return true; // an internal listener of Envoy's own
    };
    text == "localhost" || text == "0.0.0.0" || text == "::1" || text.starts_with("127.") || text.contains(['/', '@'])
}

/// How many hosts stand behind it, where they are listed one by one: DNS may add any number.
fn hosts(cluster: Node<'_>) -> Option<u64> {
    let mut count = 0;
    for address in addresses(cluster) {
        let is_fixed = address.text().is_none_or(|text| text.parse::<std::net::IpAddr>().is_ok() || text.contains('/'));
        if !is_fixed || proto::hole(address).is_some() {
            return None;
        }
        count += 1;
    }
    (count > 0).then_some(count)
}

/// The limits of a cluster. None where not even its name says whom they are about.
pub(super) fn upstream(node: Node<'_>, name: &str, cluster: &Cluster<'_>, who: &Identity) -> Option<Upstream> {
    let at_name = field(node, "name").map_or(node.span(), Node::span);
    let callee = match &cluster.callee {
        Callee::Service { service, .. } => service.clone(),
        Callee::Named(_) | Callee::Unknown(_) => by_name(name, at_name, Evidence::Inferred)?,
    };
    // Of several thresholds for one priority the first holds; requests of high priority are rare.
    let thresholds = field(node, "circuit_breakers").into_iter().flat_map(|breakers| list(breakers, "thresholds"));
    let threshold = thresholds
        .into_iter()
        .find(|threshold| text(*threshold, "priority").is_none_or(|priority| priority == "DEFAULT" || priority == "0"));
    let budget = threshold.and_then(|threshold| field(threshold, "retry_budget"));
    Some(Upstream {
        callee,
        names: vec![name.into()],
        caller: who.caller.clone(),
        position: who.position,
        dialect: Dialect::Envoy,
        span: node.span(),
        environment: None,
        budget: budget.map_or_else(
            || Sourced::default_of(Limit::None, BY, "retry_budget"),
            |budget| Sourced::written(Limit::At(Box::new(read_budget(budget))), budget.span()),
        ),
        retry_cap: match budget {
            // A budget replaces the cap, whatever else is written (M-45).
            Some(budget) => Sourced::written(Limit::None, budget.span()),
            None => cap(threshold, "max_retries", 3),
        },
        breaker: field(node, "outlier_detection").map_or_else(
            || Sourced::default_of(Limit::None, BY, "outlier_detection"),
            |outlier| Sourced::written(Limit::At(Box::new(outlier_detection(outlier))), outlier.span()),
        ),
        max_connections: cap(threshold, "max_connections", 1024),
        connect_timeout: cluster.connect_timeout.clone(),
        hosts: hosts(node),
        object: None,
        is_patch: false,
    })
}

/// A cap of a threshold. The largest number that fits is how "none" is written.
fn cap(threshold: Option<Node<'_>>, name: &'static str, default: u64) -> Sourced<Limit<u64>> {
    let count = threshold
        .map_or_else(|| Sourced::default_of(default, BY, name), |threshold| count_or(threshold, name, default));
    count.map(|n| if n >= u64::from(u32::MAX) { Limit::None } else { Limit::At(n) })
}

fn read_budget(node: Node<'_>) -> Budget {
    let percent = field(node, "budget_percent");
    let floor = count_or(node, "min_retry_concurrency", 3);
    Budget {
        ratio: match percent {
            None => Sourced::default_of(0.2, BY, "budget_percent"),
            // `{}` is a percentage too: none.
            Some(percent) if percent.is_map() && percent.get("value").is_none() => {
                Sourced::written(0.0, percent.span())
            }
            Some(percent) => proto::number(percent).map(|percent| percent / 100.0),
        },
        floor: floor.map(Floor::InFlight),
        window: field(node, "budget_interval")
            .map_or_else(|| Sourced::default_of(Limit::None, BY, "budget_interval"), proto::limit),
        base: BudgetBase::InFlight,
    }
}

fn outlier_detection(node: Node<'_>) -> Breaker {
    let time = |name: &'static str, default: u64| {
        field(node, name).map_or_else(|| Sourced::default_of(Nanos::from_secs(default), BY, name), proto::duration)
    };
    // An "enforcing" share of 0 only counts, it ejects nobody.
    let is_enforced = |name: &'static str, default: u64| count_or(node, name, default).known() != Some(&0);
    let consecutive = if is_enforced("enforcing_consecutive_5xx", 100) {
        Some(count_or(node, "consecutive_5xx", 5))
    } else if is_enforced("enforcing_consecutive_gateway_failure", 0) {
        Some(count_or(node, "consecutive_gateway_failure", 5))
    } else {
        None
    };
    let by_share = is_enforced("enforcing_failure_percentage", 0);
    Breaker {
        ratio: by_share
            .then(|| count_or(node, "failure_percentage_threshold", 85).map(|percent| percent as f64 / 100.0)),
        consecutive,
        minimum: by_share.then(|| count_or(node, "failure_percentage_request_volume", 50)),
        window: Some(time("interval", 10)),
        open: Some(time("base_ejection_time", 30)),
        probes: None,
        max_ejection_percent: Some(count_or(node, "max_ejection_percent", 10).map(|percent| percent as f64)),
        always_eject_one: proto::flag(node, "always_eject_one_host").unwrap_or(false),
        place: Place::Inside,
    }
}
