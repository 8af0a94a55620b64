//! Virtual hosts: each destination of each route becomes a [`Policy`], and a [`Call`] where the proxy has a name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::cluster::{self, Cluster};
use super::headers::Headers;
use super::matching::Match;
use super::problems;
use super::proto::{self, BY, at, entry, field, list, text};
use super::retry::{self, Given};
use super::walk::Host;
use super::who::Identity;
use crate::facts::{
    Call, CallSource, Callee, Caller, Classes, Confidence, Dialect, Evidence, Facts, Ineffective, Limit, Methods,
    Nanos, Policy, PolicyKind, Position, Protocol, Route, ServiceRef, Sourced, Why,
};
use crate::read::Context;
use crate::read::data::tree::{Entry, Node};
use crate::read::data::value::shorten;
use crate::source::Span;

/// Reads the virtual hosts of one document.
pub(super) struct Reader<'a, 't> {
    /// The file.
    pub context: &'a Context<'a>,
    /// Who calls.
    pub who: &'a Identity,
    /// Clusters of the document, by name.
    pub clusters: &'a HashMap<&'t str, Cluster<'t>>,
    /// What is read goes here.
    pub facts: &'a mut Facts,
    calls: HashSet<(Span, ServiceKey, Option<Protocol>)>,
    said: HashSet<Span>,
}

type ServiceKey = crate::facts::Host;

/// One destination of a route.
struct Destination<'t> {
    /// The cluster's name; or why there is none.
    cluster: Result<&'t str, Why>,
    /// Where it is named.
    span: Span,
    /// Its entry among weighted clusters.
    weighted: Option<Node<'t>>,
}

/// A route with what encloses it.
struct Place<'t> {
    host: Host<'t>,
    host_name: &'t str,
    route: Node<'t>,
    action: Node<'t>,
    order: u32,
    matched: Match,
    is_split: bool,
}

impl<'a, 't> Reader<'a, 't> {
    /// A reader that has read nothing yet.
    pub fn new(
        context: &'a Context<'a>,
        who: &'a Identity,
        clusters: &'a HashMap<&'t str, Cluster<'t>>,
        facts: &'a mut Facts,
    ) -> Self {
        Reader { context, who, clusters, facts, calls: HashSet::new(), said: HashSet::new() }
    }

    /// Reads a virtual host.
    pub fn host(&mut self, host: Host<'t>) {
        let domain = list(host.node, "domains").find_map(Node::text);
        let host_name = text(host.node, "name").or(domain).unwrap_or("a virtual host");
        let mut replaced = Replaced::default();
        for (order, route) in list(host.node, "routes").enumerate() {
            let Some(action) = field(route, "route") else { continue };
            let destinations = destinations(action);
            let place = Place {
                host,
                host_name,
                route,
                action,
                order: u32::try_from(order).unwrap_or(u32::MAX),
                matched: Match::read(field(route, "match")),
                is_split: destinations.len() > 1,
            };
            for destination in destinations {
                self.destination(&place, &destination, &mut replaced);
            }
        }
        self.dead_host_policy(host, host_name, &replaced);
    }

    fn destination(&mut self, place: &Place<'t>, destination: &Destination<'t>, replaced: &mut Replaced) {
        if destination.cluster.as_ref().is_ok_and(|name| cluster::is_no_service(name)) {
            return;
        }
        let cluster = destination.cluster.as_ref().ok().and_then(|name| self.clusters.get(name));
        let callee = callee(place, destination, cluster);
        let levels = [destination.weighted, Some(place.route), Some(place.host.node), place.host.config];
        let headers = Headers::read(levels.into_iter().flatten());
        let (route_policy, host_policy) = (entry(place.action, "retry_policy"), entry(place.host.node, "retry_policy"));
        let cluster_policy = cluster.and_then(|cluster| cluster.retry);
        let policy_in_force = cluster_policy.or(route_policy).or(host_policy);
        replaced.note(cluster_policy, route_policy);

        let mut policy = self.policy(place.action.span(), self.name(place, destination));
        policy.callee = callee.clone();
        policy.route = Some(Route {
            list: place.host.node.span(),
            order: place.order,
            methods: place.matched.methods.clone(),
            path: place.matched.path.clone(),
            conditional: place.matched.is_conditional,
        });
        let (total, is_route_timeout) = total(place);
        policy.total.limit = total;
        match cluster {
            Some(cluster) => policy.connect_timeout = Some(cluster.connect_timeout.clone()),
            None => elsewhere(&mut policy, destination.span),
        }
        for name in ["timeout", "idle_timeout"] {
            policy.ineffective.extend(problems::time(place.action, name));
        }
        let route_timeout = policy.total.limit.clone();
        let given = Given {
            policy: policy_in_force.map(|entry| entry.value),
            hedge: field(place.action, "hedge_policy").or_else(|| field(place.host.node, "hedge_policy")),
            headers: &headers,
            is_quic: cluster.map(|cluster| cluster.is_quic),
            trusts_clients: place
                .host
                .manager
                .is_some_and(|manager| field(manager, "internal_address_config").is_some()),
            route_timeout: is_route_timeout.then_some(&route_timeout),
        };
        retry::apply(&mut policy, &given);
        if is_inbound(destination) {
            self.turn_inward(&mut policy);
        }
        let retries = policy.kind == PolicyKind::Config;
        self.facts.policies.push(policy);
        self.call(place, destination, &callee);
        self.dead_parts(place, destination, &headers, retries, cluster_policy.and(route_policy));
    }

    /// Settings beside the policy in force that have no effect. They stand apart, so that what is in force is still looked at.
    fn dead_parts(
        &mut self,
        place: &Place<'t>,
        destination: &Destination<'t>,
        headers: &Headers<'t>,
        retries: bool,
        dead: Option<Entry<'t>>,
    ) {
        let mut dead_parts: Vec<Ineffective> =
            headers.ignored.iter().map(|(name, value)| problems::late_header(*value, name)).collect();
        if let Some(count) =
            headers.max_retries.as_ref().filter(|count| !retries && count.known().is_some_and(|n| *n > 0))
            && let Some(at) = count.span()
            && !place.host.manager.is_some_and(|manager| field(manager, "internal_address_config").is_some())
        {
            dead_parts.push(problems::lonely_max_retries(at));
        }
        if let Some(entry) = dead.filter(|entry| !is_nothing(entry.value)) {
            let cluster = destination.cluster.as_ref().copied().unwrap_or_default();
            dead_parts.push(problems::dead_route_policy(entry.value.span(), cluster));
        }
        for part in dead_parts {
            self.set_aside(part, self.name(place, destination));
        }
    }

    fn dead_host_policy(&mut self, host: Host<'t>, host_name: &str, replaced: &Replaced) {
        // A tree of matchers may hold routes that are not read here.
        let Some(policy) = entry(host.node, "retry_policy").filter(|_| field(host.node, "matcher").is_none()) else {
            return;
        };
        if replaced.routes == 0 || replaced.inherits || is_nothing(policy.value) {
            return;
        }
        let by = match (replaced.by_route, replaced.by_cluster) {
            (true, false) => "each of its routes has its own",
            (false, true) => "the clusters of its routes have their own",
            _ => "each of its routes, or its cluster, has its own",
        };
        let name: Arc<str> = format!("retry policy of {}", shorten(host_name)).into();
        self.set_aside(problems::dead_host_policy(policy.value.span(), &shorten(host_name), by), name);
    }

    /// A finding about a setting that is no part of any policy in force.
    fn set_aside(&mut self, part: Ineffective, name: Arc<str>) {
        if !self.said.insert(part.span) {
            return;
        }
        let mut policy = self.policy(part.span, name);
        policy.kind = PolicyKind::TimeLimit;
        policy.retries_on = Sourced::default_of(Classes::NONE, BY, "retry_on");
        policy.callee = Callee::Unknown(Why::Other("not in force".into()));
        policy.ineffective.push(part);
        self.facts.policies.push(policy);
    }

    fn policy(&self, span: Span, name: Arc<str>) -> Policy {
        let mut policy = Policy::new(Dialect::Envoy, "envoy", BY, span, name);
        policy.caller = self.who.caller.clone();
        policy.position = self.who.position;
        policy
    }

    /// `inbound|8080||` of Istio's: the proxy stands before the application whose name it has.
    fn turn_inward(&self, policy: &mut Policy) {
        policy.position = Position::ServerSidecar;
        if let Some(service) = &self.who.service {
            policy.callee = Callee::Service { service: service.clone(), hosts: Vec::new() };
        }
        policy.caller = Caller::Unknown(Why::Other("whoever calls this service".into()));
    }

    /// `route /pay of shop`, or the route's own name.
    fn name(&self, place: &Place<'t>, destination: &Destination<'t>) -> Arc<str> {
        let mut name = match text(place.route, "name").filter(|name| !name.is_empty()) {
            Some(name) => format!("route {}", shorten(name)),
            None => {
                let method = match &place.matched.methods {
                    Methods::Only(methods) => format!("{} ", methods.join("|")),
                    Methods::Any | Methods::Idempotent => String::new(),
                };
                let path = place.matched.shown.as_deref().filter(|path| !path.is_empty()).unwrap_or("/");
                format!("route {method}{} of {}", shorten(path), shorten(place.host_name))
            }
        };
        if let (true, Ok(cluster)) = (place.is_split, &destination.cluster) {
            name.push_str(&format!(" to {}", shorten(cluster)));
        }
        name.into()
    }

    /// The call that a route of a proxy with a name is. Routes of one virtual host exclude one another, and so do the
    /// destinations of a split.
    fn call(&mut self, place: &Place<'t>, destination: &Destination<'t>, callee: &Callee) {
        let (Some(caller), Callee::Service { service, .. }) = (&self.who.service, callee) else {
            return;
        };
        if is_inbound(destination) {
            return;
        }
        let list = place.host.node.span();
        if !self.calls.insert((list, service.host.clone(), place.matched.protocol)) {
            return;
        }
        self.facts.calls.push(Call {
            caller: caller.clone(),
            callee: service.clone(),
            span: destination.span,
            source: CallSource::Route,
            environment: None,
            per_request: Sourced::default_of(1.0, BY, "route"),
            operation: None,
            protocol: place.matched.protocol,
            one_of: Some(format!("{}:{}", self.context.path, list.start).into()),
            is_async: false,
            idempotent: None,
            propagates_deadline: None,
            confidence: if service.evidence == Evidence::Written { Confidence::High } else { Confidence::Medium },
        });
    }
}

/// Which policies of a virtual host's routes replace the host's own.
#[derive(Debug, Default)]
struct Replaced {
    routes: u32,
    by_route: bool,
    by_cluster: bool,
    inherits: bool,
}

impl Replaced {
    fn note(&mut self, cluster: Option<Entry<'_>>, route: Option<Entry<'_>>) {
        self.routes += 1;
        match (cluster, route) {
            (_, Some(_)) => self.by_route = true,
            (Some(_), None) => self.by_cluster = true,
            (None, None) => self.inherits = true,
        }
    }
}

/// Whether a policy says nothing at all.
fn is_nothing(policy: Node<'_>) -> bool {
    policy.is_map() && policy.written_entries().next().is_none()
}

fn is_inbound(destination: &Destination<'_>) -> bool {
    destination.cluster.as_ref().is_ok_and(|name| name.starts_with("inbound|"))
}

fn destinations<'t>(action: Node<'t>) -> Vec<Destination<'t>> {
    let named = |node: Node<'t>, weighted| Destination {
        cluster: proto::hole(node).map_or_else(|| node.text().ok_or(Why::Other("no cluster is named".into())), Err),
        span: node.span(),
        weighted,
    };
    let by_header = |node: Node<'t>, weighted| Destination {
        cluster: Err(Why::Other(format!("request header {}", shorten(node.text().unwrap_or("?"))).into())),
        span: node.span(),
        weighted,
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
        if let Some(node) = field(item, "name") {
            if node.text().is_none_or(|name| seen.insert(name)) {
                out.push(named(node, Some(item)));
            }
        } else if let Some(node) = field(item, "cluster_header") {
            out.push(by_header(node, Some(item)));
        }
    }
    if out.is_empty()
        && let Some(node) = field(action, "cluster_specifier_plugin")
    {
        out.push(Destination {
            cluster: Err(Why::Other("a cluster specifier plugin".into())),
            span: node.span(),
            weighted: None,
        });
    }
    out
}

/// Who is called, and by which further names callers know it.
fn callee(place: &Place<'_>, destination: &Destination<'_>, cluster: Option<&Cluster<'_>>) -> Callee {
    let name = match &destination.cluster {
        Ok(name) => *name,
        Err(why) => return Callee::Unknown(why.clone()),
    };
    let callee = match cluster {
        Some(cluster) => cluster.callee.clone(),
        None => match cluster::by_name(name, destination.span, Evidence::Written) {
            Some(service) => Callee::Service { service, hosts: Vec::new() },
            None => Callee::Unknown(Why::Other("the cluster's name is no host".into())),
        },
    };
    let Callee::Service { service, .. } = callee else {
        return callee;
    };
    let mut hosts: Vec<ServiceRef> = Vec::new();
    for domain in list(place.host.node, "domains") {
        if let Some(host) = domain.text().and_then(|text| ServiceRef::written(text, None, domain.span()))
            && host.host != service.host
            && hosts.iter().all(|known| known.host != host.host)
        {
            hosts.push(host);
            if hosts.len() == 16 {
                break; // Istio lists every spelling of a name; the rest are ports of the same
            }
        }
    }
    Callee::Service { service, hosts }
}

/// The limit of all tries together, and whether it is the route's `timeout`. A route with `max_stream_duration` has no
/// other limit: then neither `timeout` nor its default counts, and an attempt timeout is never too long (measured).
fn total(place: &Place<'_>) -> (Sourced<Limit<Nanos>>, bool) {
    let limited = |node: Node<'_>| {
        proto::duration(node).map(|time| if time == Nanos::ZERO { Limit::None } else { Limit::At(time) })
    };
    if let Some(block) = field(place.action, "max_stream_duration") {
        let limit = match field(block, "max_stream_duration") {
            Some(node) => limited(node),
            None => Sourced::written(Limit::None, block.span()),
        };
        return (limit, false);
    }
    let limit = field(place.action, "timeout")
        .map_or_else(|| Sourced::default_of(Limit::At(Nanos::from_secs(15)), BY, "timeout"), limited);
    (limit, true)
}

/// The cluster is in another file: its budget, outlier detection and connect timeout are set there, or not at all.
fn elsewhere(policy: &mut Policy, at: Span) {
    fn unknown<T>(at: Span) -> Sourced<T> {
        Sourced::unknown(Why::Other("the cluster is defined elsewhere".into()), at)
    }
    policy.budget = unknown(at);
    policy.breaker = unknown(at);
    policy.connect_timeout = Some(unknown(at));
}
