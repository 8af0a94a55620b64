//! Each destination of each route becomes a [`Policy`], and a [`Call`] where the proxy has a name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::cluster::{self, Cluster};
use super::headers::Headers;
use super::levels::{Destination, HostLevel, RouteLevel};
use super::problems;
use super::proto::{BY, list};
use super::retry::{self, Given};
use super::walk::Host;
use super::who::Identity;
use crate::facts::{
    Call, CallSource, Callee, Caller, Classes, Confidence, Dialect, Evidence, Facts, Ineffective, Policy, PolicyKind,
    Position, Protocol, Route, Sourced, Why,
};
use crate::read::Context;
use crate::read::data::tree::{Entry, Node};
use crate::source::Span;

/// Reads the virtual hosts of one document.
pub(super) struct Reader<'a, 't> {
    context: &'a Context<'a>,
    who: &'a Identity,
    clusters: &'a HashMap<&'t str, Cluster<'t>>,
    facts: &'a mut Facts,
    /// Calls that stand in the facts: by virtual host, callee and protocol.
    calls: HashSet<(Span, crate::facts::Host, Option<Protocol>)>,
    /// Settings beside the policies in force that have been named.
    said: HashSet<Span>,
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
    pub fn host(&mut self, node: &Host<'t>) {
        let host = HostLevel::read(node);
        let mut replaced = Replaced::default();
        for (order, route) in list(node.node, "routes").enumerate() {
            let Some(route) = RouteLevel::read(route, order, &host) else { continue };
            for destination in &route.destinations {
                self.destination(&host, &route, destination, &mut replaced);
            }
        }
        self.dead_host_policy(&host, &replaced);
    }

    fn destination(
        &mut self,
        host: &HostLevel<'t>,
        route: &RouteLevel<'t>,
        destination: &Destination<'t>,
        replaced: &mut Replaced,
    ) {
        if destination.cluster.as_ref().is_ok_and(|name| cluster::is_no_service(name)) {
            return;
        }
        let cluster = destination.cluster.as_ref().ok().and_then(|name| self.clusters.get(name));
        let callee = callee(host, destination, cluster);
        let levels = [destination.headers, route.headers].into_iter().chain(host.headers);
        let headers = Headers::read(levels.flatten());
        let cluster_policy = cluster.and_then(|cluster| cluster.retry);
        replaced.note(cluster_policy, route.retry);

        let mut policy = self.policy(route.span, route.policy_name(destination));
        policy.caller = self.who.caller(host.is_local);
        policy.callee = callee.clone();
        policy.route = Some(Route {
            list: host.span,
            order: route.order,
            methods: route.matched.methods.clone(),
            path: route.matched.path.clone(),
            conditional: route.matched.is_conditional,
            protocol: route.matched.protocol,
        });
        policy.total.limit = route.total.clone();
        policy.ineffective.clone_from(&route.problems);
        match cluster {
            Some(cluster) => policy.connect_timeout = Some(cluster.connect_timeout.clone()),
            None => elsewhere(&mut policy, destination.span),
        }
        let of_route = route.retry.or(host.retry);
        let given = Given {
            policy: cluster_policy.or(of_route).map(|entry| entry.value),
            of_route: of_route.map(|entry| entry.value),
            hedge: route.hedge.or(host.hedge),
            headers: &headers,
            is_quic: cluster.map(|cluster| cluster.is_quic),
            trusts_clients: host.trusts_clients,
            route_timeout: route.is_timeout.then_some(&route.total),
        };
        retry::apply(&mut policy, &given);
        if destination.is_inbound() {
            self.turn_inward(&mut policy);
        } else if self.who.service.is_none() {
            policy.part_of.clone_from(&host.part_of);
            if destination.is_outbound() {
                // The dump of some sidecar of a mesh: it stands where the routes stand that it was made from (D-6).
                policy.caller = Caller::Members { namespace: None, labels: Vec::new() };
            }
        }
        let retries = policy.kind == PolicyKind::Config;
        self.facts.policies.push(policy);
        self.call(host, route, destination, &callee);

        // Settings beside the policy in force stand apart, so that what is in force is still looked at.
        for (name, value) in &headers.ignored {
            self.set_aside(problems::late_header(*value, name), route.policy_name(destination));
        }
        if let Some(count) = headers.max_retries.filter(|count| count.known().is_some_and(|n| *n > 0))
            && let Some(at) = count.span()
            && !retries
            && !host.trusts_clients
        {
            self.set_aside(problems::lonely_max_retries(at), route.policy_name(destination));
        }
        if let (Some(own), Ok(cluster)) = (cluster_policy, &destination.cluster) {
            if let Some(problem) = route.retry.and_then(|dead| problems::dead_route_policy(dead.value, cluster)) {
                self.set_aside(problem, route.policy_name(destination));
            }
            for problem in problems::try_limits_of_cluster(own.value) {
                self.set_aside(problem, route.policy_name(destination));
            }
        }
    }

    fn dead_host_policy(&mut self, host: &HostLevel<'t>, replaced: &Replaced) {
        let Some(policy) = host.retry.filter(|policy| !is_nothing(policy.value)) else {
            return;
        };
        // Its limit on one try still holds where only the cluster has a policy of its own.
        let is_used = replaced.inherits || (replaced.by_cluster && problems::limits_tries(policy.value));
        if replaced.routes == 0 || is_used || host.has_matcher {
            return;
        }
        let by = match (replaced.by_route, replaced.by_cluster) {
            (true, false) => "each of its routes has its own",
            (false, true) => "the clusters of its routes have their own",
            _ => "each of its routes, or its cluster, has its own",
        };
        let name = format!("retry policy of {}", host.name).into();
        self.set_aside(problems::dead_host_policy(policy.value.span(), &host.name, by), name);
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

    /// The proxy stands before the application whose name it has.
    fn turn_inward(&self, policy: &mut Policy) {
        policy.position = Position::ServerSidecar;
        if let Some(service) = &self.who.service {
            policy.callee = Callee::Service { service: service.clone(), hosts: Vec::new() };
        }
        policy.caller = Caller::Unknown(Why::Other("whoever calls this service".into()));
    }

    /// The call that a route of a proxy with a name is. Routes of one virtual host exclude one another, and so do the
    /// destinations of a split.
    fn call(&mut self, host: &HostLevel<'t>, route: &RouteLevel<'t>, destination: &Destination<'t>, callee: &Callee) {
        let (Some(caller), Callee::Service { service, .. }) = (&self.who.service, callee) else {
            return;
        };
        let protocol = route.matched.protocol;
        if destination.is_inbound() || !self.calls.insert((host.span, service.host.clone(), protocol)) {
            return;
        }
        self.facts.calls.push(Call {
            caller: Caller::Service(caller.clone()),
            callee: Callee::Service { service: service.clone(), hosts: Vec::new() },
            span: destination.span,
            source: CallSource::Route,
            environment: None,
            per_request: Sourced::default_of(1.0, BY, "route"),
            operation: None,
            protocol,
            one_of: Some(format!("{}:{}", self.context.path, host.span.start).into()),
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
        self.routes = self.routes.saturating_add(1);
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

/// Who is called, and by which further names callers know it.
fn callee(host: &HostLevel<'_>, destination: &Destination<'_>, cluster: Option<&Cluster<'_>>) -> Callee {
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
    let hosts = host.hosts.iter().filter(|host| host.host != service.host).cloned().collect();
    Callee::Service { service, hosts }
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
