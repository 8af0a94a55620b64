//! Virtual hosts, routes and their destinations. What a level says is looked up once, however many levels inherit it, so
//! that a large file costs no more than its length.

use std::collections::HashSet;
use std::sync::Arc;

use super::matching::Match;
use super::problems;
use super::proto::{self, BY, at, field, list, modest, text};
use super::walk::Host;
use super::who;
use crate::facts::{Ineffective, Limit, Methods, Nanos, ObjectName, ServiceRef, Sourced, Why};
use crate::read::data::tree::{Entry, Node};
use crate::read::data::value::shorten;
use crate::source::Span;

/// As many names of one virtual host are kept: Istio lists every spelling, and the rest are ports of the same.
const MAX_DOMAINS: usize = 16;

/// A virtual host.
pub(super) struct HostLevel<'t> {
    /// Its place, which makes its routes one list.
    pub span: Span,
    /// Its name, or its first domain.
    pub name: String,
    /// The route configuration that it belongs to, where a proxy elsewhere takes that by name.
    pub part_of: Option<ObjectName>,
    /// Its retry policy.
    pub retry: Option<Entry<'t>>,
    /// Its hedge policy.
    pub hedge: Option<Node<'t>>,
    /// Headers that it and its configuration add.
    pub headers: [Option<Node<'t>>; 2],
    /// Its domains that are hosts: names by which callers know what stands behind it.
    pub hosts: Vec<ServiceRef>,
    /// Whether clients may set the retry headers: by default Envoy drops them all (M-7).
    pub trusts_clients: bool,
    /// Whether only the proxy's own machine reaches it.
    pub is_local: bool,
    /// Whether a tree of matchers may hold routes that are not read.
    pub has_matcher: bool,
}

impl<'t> HostLevel<'t> {
    /// Looks up what routes inherit.
    pub fn read(host: &Host<'t>) -> HostLevel<'t> {
        let node = host.node;
        let mut hosts: Vec<ServiceRef> = Vec::new();
        for domain in list(node, "domains").take(8 * MAX_DOMAINS) {
            if hosts.len() < MAX_DOMAINS
                && let Some(host) = domain.text().and_then(|text| ServiceRef::written(text, None, domain.span()))
                && hosts.iter().all(|known| known.host != host.host)
            {
                hosts.push(host);
            }
        }
        let domain = list(node, "domains").find_map(Node::text);
        HostLevel {
            span: node.span(),
            name: shorten(text(node, "name").or(domain).unwrap_or("a virtual host")),
            part_of: host.resource.and_then(who::route_configuration),
            retry: modest(node, "retry_policy"),
            hedge: modest(node, "hedge_policy").map(|entry| entry.value),
            headers: [field(node, "request_headers_to_add"), host.headers],
            hosts,
            trusts_clients: host.trusts_clients,
            is_local: host.is_local,
            has_matcher: field(node, "matcher").is_some(),
        }
    }
}

/// A route that sends requests on.
pub(super) struct RouteLevel<'t> {
    /// What it does with a request.
    pub span: Span,
    /// `/pay of shop`, or its own name.
    pub name: String,
    /// Its place in the virtual host.
    pub order: u32,
    /// Which requests it takes.
    pub matched: Match,
    /// Its retry policy.
    pub retry: Option<Entry<'t>>,
    /// Its hedge policy.
    pub hedge: Option<Node<'t>>,
    /// Headers that it adds.
    pub headers: Option<Node<'t>>,
    /// The limit of all tries together.
    pub total: Sourced<Limit<Nanos>>,
    /// Whether that is the route's `timeout`, which an attempt timeout must stay below.
    pub is_timeout: bool,
    /// Times that Envoy would not take.
    pub problems: Vec<Ineffective>,
    /// Where requests go.
    pub destinations: Vec<Destination<'t>>,
}

impl<'t> RouteLevel<'t> {
    /// Reads a route. None for redirects and direct answers.
    pub fn read(node: Node<'t>, order: usize, host: &HostLevel<'t>) -> Option<RouteLevel<'t>> {
        let action = field(node, "route")?;
        let matched = Match::read(field(node, "match"));
        let name = match text(node, "name").filter(|name| !name.is_empty()) {
            Some(name) => shorten(name),
            None => {
                let method = match &matched.methods {
                    Methods::Only(methods) => format!("{} ", shorten(&methods.join("|"))),
                    Methods::Any | Methods::Idempotent => String::new(),
                };
                let path = matched.shown.as_deref().filter(|path| !path.is_empty()).unwrap_or("/");
                format!("{method}{} of {}", shorten(path), host.name)
            }
        };
        let (total, is_timeout) = total(action);
        Some(RouteLevel {
            span: action.span(),
            name,
            order: u32::try_from(order).unwrap_or(u32::MAX),
            matched,
            retry: modest(action, "retry_policy"),
            hedge: modest(action, "hedge_policy").map(|entry| entry.value),
            headers: field(node, "request_headers_to_add"),
            total,
            is_timeout,
            problems: ["timeout", "idle_timeout"].into_iter().filter_map(|name| problems::time(action, name)).collect(),
            destinations: destinations(action),
        })
    }

    /// `route /pay of shop`, with the destination where there are several.
    pub fn policy_name(&self, destination: &Destination<'_>) -> Arc<str> {
        match &destination.cluster {
            Ok(cluster) if self.destinations.len() > 1 => format!("route {} to {}", self.name, shorten(cluster)).into(),
            _ => format!("route {}", self.name).into(),
        }
    }
}

/// The limit of all tries together, and whether it is the route's `timeout`. A route with `max_stream_duration` has no
/// other limit: then neither `timeout` nor its default counts, and an attempt timeout is never too long (measured).
fn total(action: Node<'_>) -> (Sourced<Limit<Nanos>>, bool) {
    if let Some(block) = field(action, "max_stream_duration") {
        let limit = match field(block, "max_stream_duration") {
            Some(node) => proto::limit(node),
            None => Sourced::written(Limit::None, block.span()),
        };
        return (limit, false);
    }
    let default = || Sourced::default_of(Limit::At(Nanos::from_secs(15)), BY, "timeout");
    (field(action, "timeout").map_or_else(default, proto::limit), true)
}

/// One destination of a route.
#[derive(Debug)]
pub(super) struct Destination<'t> {
    /// The cluster's name; or why there is none.
    pub cluster: Result<&'t str, Why>,
    /// Where it is named.
    pub span: Span,
    /// Headers that its entry among weighted clusters adds.
    pub headers: Option<Node<'t>>,
}

impl Destination<'_> {
    /// `inbound|8080||` of Istio's: the application beside the proxy.
    pub fn is_inbound(&self) -> bool {
        self.cluster.as_ref().is_ok_and(|name| name.starts_with("inbound|"))
    }

    /// `outbound|8080|v2|ledger.bank.svc.cluster.local` of Istio's: a service of the mesh, named by one of its proxies.
    pub fn is_outbound(&self) -> bool {
        self.cluster.as_ref().is_ok_and(|name| name.starts_with("outbound|"))
    }
}

fn destinations<'t>(action: Node<'t>) -> Vec<Destination<'t>> {
    let named = |node: Node<'t>, headers| Destination {
        cluster: proto::hole(node).map_or_else(|| node.text().ok_or(Why::Other("no cluster is named".into())), Err),
        span: node.span(),
        headers,
    };
    let by_header = |node: Node<'t>, headers| Destination {
        cluster: Err(Why::Other(format!("request header {}", shorten(node.text().unwrap_or("?"))).into())),
        span: node.span(),
        headers,
    };
    if let Some(node) = field(action, "cluster") {
        return vec![named(node, None)];
    }
    if let Some(node) = field(action, "cluster_header") {
        return vec![by_header(node, None)];
    }
    let mut out = Vec::new();
    let mut seen = HashSet::new();
    for item in at(action, &["weighted_clusters"]).into_iter().flat_map(|split| list(split, "clusters")) {
        // A weight of 0 gets no request.
        if field(item, "weight").is_some_and(|weight| proto::count(weight).known() == Some(&0)) {
            continue;
        }
        let headers = field(item, "request_headers_to_add");
        if let Some(node) = field(item, "name") {
            if node.text().is_none_or(|name| seen.insert(name)) {
                out.push(named(node, headers));
            }
        } else if let Some(node) = field(item, "cluster_header") {
            out.push(by_header(node, headers));
        }
    }
    if out.is_empty()
        && let Some(node) = field(action, "cluster_specifier_plugin")
    {
        let cluster = Err(Why::Other("a cluster specifier plugin".into()));
        out.push(Destination { cluster, span: node.span(), headers: None });
    }
    out
}
