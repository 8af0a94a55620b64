//! VirtualService: one policy for each HTTP route, distinct destination and kind of caller. TLS and TCP routes retry nothing.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::defaults;
use super::host;
use super::retries;
use super::route_match::{self, Binding, Match};
use super::{is_patch, may_be_templated, object_name};
use crate::facts::{
    Call, CallId, CallSource, Callee, Caller, Confidence, Facts, Host, LeftOut, Methods, ObjectName, Operation,
    PathMatch, Policy, Position, Problem, Route, RouteUse, Service, ServiceRef, ServiceSource, Sourced, Why,
};
use crate::read::Context;
use crate::read::data::tree::Node;
use crate::read::data::value;
use crate::read::dialects::kubernetes::{Metadata, plain, text_of};
use crate::source::Span;

/// A route is one policy for each gateway and destination. Real files stay far below this many; a hostile one must not
/// fill the memory with the product of its lists.
const MAX_FACTS: usize = 50_000;

/// What names more hosts times gateways than this is not looked up for its patches: each gateway repeats all hosts.
const MAX_PATCHED: usize = 64;

/// Who calls through the routes of an object without hosts.
const DECIDED_ELSEWHERE: &str = "decided by the VirtualService that delegates to this one";

/// What all routes of one object share.
struct VirtualService {
    object: Metadata,
    /// What callers ask for.
    hosts: Vec<ServiceRef>,
    /// Whether a destination's own name may be among them, although it is not written.
    has_patterns: bool,
    bindings: Vec<Binding>,
    /// Only callers here see it (`exportTo`).
    exported_to: Option<Arc<str>>,
    /// It has no hosts: another VirtualService delegates to it, or an overlay patches it.
    is_part: bool,
}

/// Whose proxies hold a route, as far as one policy can say.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Vantage {
    Mesh { namespace: Option<Arc<str>>, labels: Vec<(Arc<str>, Arc<str>)> },
    Gateway(Host),
    Unknown,
}

/// A vantage with what a policy needs of it.
struct View<'m> {
    position: Position,
    caller: Caller,
    matches: Vec<&'m Match>,
}

pub(super) fn read(document: Node<'_>, object: Metadata, context: &Context<'_>, facts: &mut Facts) {
    let Some(spec) = document.get("spec") else {
        return;
    };
    let service = VirtualService {
        hosts: host::services(spec.get("hosts"), &object),
        has_patterns: spec.get("hosts").is_some_and(|hosts| hosts.items().any(may_be_any_service)),
        bindings: route_match::bindings(spec.get("gateways"), &object).unwrap_or_else(|| vec![Binding::Mesh]),
        exported_to: exported_to(spec, &object),
        is_part: spec.get("hosts").is_none_or(Node::is_null),
        object,
    };
    let Some(http) = spec.get("http") else {
        return;
    };
    facts.route_uses.extend(service.whole());
    let mut left = MAX_FACTS;
    for (place, base) in service.routes(http, context) {
        if !service.read_route(&place, &base, &mut left, facts) {
            facts.problems.push(Problem {
                span: place.route.span(),
                message:
                    "routes, gateways and destinations multiply to more than 50,000 policies: the rest is left out"
                        .to_string(),
                partial: true,
                recognised: true,
                template: false,
            });
            return;
        }
    }
}

/// `exportTo: ["."]`, or one named namespace.
fn exported_to(spec: Node<'_>, object: &Metadata) -> Option<Arc<str>> {
    let mut all = spec.get("exportTo")?.items();
    let (Some(one), None) = (all.next(), all.next()) else {
        return None;
    };
    match plain(one)? {
        "." => object.namespace.clone(),
        "*" | "~" => None,
        name => Some(name.into()),
    }
}

/// A route in its list.
struct Place<'t> {
    http: Node<'t>,
    route: Node<'t>,
    order: usize,
}

impl VirtualService {
    /// Every route with its policy. What is rejected in one of them takes the others along: the whole object is not there.
    fn routes<'t>(&self, http: Node<'t>, context: &Context<'_>) -> Vec<(Place<'t>, Policy)> {
        let mut seen = HashSet::new();
        let mut routes: Vec<(Place<'t>, Policy)> = http
            .items()
            .enumerate()
            // An alias of an earlier route never matches: that one is first.
            .filter(|(_, route)| seen.insert(route.id()))
            .map(|(order, route)| Place { http, route, order })
            .map(|place| {
                let policy = self.policy(&place, context);
                (place, policy)
            })
            .collect();
        let rejection =
            routes.iter().flat_map(|(_, policy)| &policy.ineffective).find(|setting| setting.rejected).cloned();
        if let Some(rejection) = rejection {
            for (_, policy) in &mut routes {
                if !policy.ineffective.iter().any(|setting| setting.rejected) {
                    *policy = Policy {
                        ineffective: vec![rejection.clone()],
                        confidence: policy.confidence,
                        ..defaults::client(context.settings.istio_version, policy.span, policy.name.clone())
                    };
                }
            }
        }
        routes
    }

    /// Whether there was room for all of it. `base` is the route's policy.
    fn read_route(&self, place: &Place<'_>, base: &Policy, left: &mut usize, facts: &mut Facts) -> bool {
        let destinations = self.destinations(place.route);
        let delegate = self.delegate(place.route);
        if destinations.is_empty() && delegate.is_none() {
            return true;
        }
        let matches = route_match::matches(place.route, &self.object);
        let Some(views) = self.views(&matches, left) else {
            return false;
        };
        for view in views {
            if let Some((to, span)) = &delegate {
                if !spend(left, 1) {
                    return false;
                }
                if let Caller::Service(gateway) = &view.caller {
                    declare(gateway, *span, facts);
                }
                let is_rejected = base.ineffective.iter().any(|setting| setting.rejected);
                facts.route_uses.push(RouteUse {
                    of: to.clone(),
                    position: view.position,
                    caller: view.caller.clone(),
                    hands_down: (!is_rejected).then(|| Box::new(base.clone())),
                    whole: None,
                    environment: None,
                    span: *span,
                });
            }
            let (methods, path, conditional) = route_match::union(&view.matches);
            let cost = 1 + (self.hosts.len() + size(&methods, &view.caller)) / 8;
            for destination in &destinations {
                if !spend(left, cost) {
                    return false;
                }
                let mut policy = base.clone();
                policy.position = view.position;
                policy.part_of =
                    self.is_part.then(|| object_name(self.object.name.clone(), self.object.namespace.clone()));
                policy.caller = self.away_from(&view.caller, destination);
                policy.route = Some(Route {
                    list: place.http.span(),
                    order: u32::try_from(place.order).unwrap_or(u32::MAX),
                    methods: methods.clone(),
                    path: path.clone(),
                    // A part is only reached where the route that leads to it matches too.
                    conditional: conditional || self.is_part,
                    protocol: None,
                });
                policy.callee = match destination {
                    Ok(service) => {
                        let own = self.has_patterns.then(|| service.clone());
                        let hosts = self.hosts.iter().cloned().chain(own.filter(|_| !self.hosts.is_empty())).collect();
                        Callee::Service { service: service.clone(), hosts }
                    }
                    Err(why) => Callee::Unknown(why.clone()),
                };
                if let (Caller::Service(gateway), Ok(callee)) = (&policy.caller, destination) {
                    policy.calls = vec![add_call(gateway, callee, (&methods, &path), facts)];
                }
                facts.policies.push(policy);
            }
        }
        true
    }

    /// Who calls through this object, and by which names: what patches of it need not say.
    fn whole(&self) -> impl Iterator<Item = RouteUse> {
        let size = self.hosts.len().saturating_mul(self.bindings.len());
        let is_named = !self.is_part && !self.object.name.contains("{{") && size <= MAX_PATCHED;
        self.bindings.iter().filter(move |_| is_named).map(|binding| {
            let (position, caller) = self.callers(binding, None);
            RouteUse {
                of: object_name(self.object.name.clone(), self.object.namespace.clone()),
                position,
                caller,
                hands_down: None,
                whole: Some(self.hosts.clone()),
                environment: None,
                span: self.object.span,
            }
        })
    }

    /// Who calls through a binding, as far as a match narrows it.
    fn callers(&self, binding: &Binding, matched: Option<&Match>) -> (Position, Caller) {
        match binding {
            Binding::Unknown(why) => (Position::ClientSidecar, Caller::Unknown(why.clone())),
            Binding::Gateway(gateway) => (Position::Gateway, Caller::Service(gateway.clone())),
            Binding::Mesh => {
                let namespace = matched.and_then(|one| one.namespace.clone()).or_else(|| self.exported_to.clone());
                let labels = matched.map(|one| one.labels.clone()).unwrap_or_default();
                (Position::ClientSidecar, Caller::Members { namespace, labels })
            }
        }
    }

    /// The policy of a route, as everyone has it.
    fn policy(&self, place: &Place<'_>, context: &Context<'_>) -> Policy {
        let object = format!("VirtualService `{}`", self.object.name);
        // What a template decides is no name to speak of.
        let name = match self.object.name.contains("{{") {
            true => format!("http[{}]", place.order),
            false => format!("http[{}] of {}", place.order, self.object.name),
        };
        let inherits =
            self.is_part.then(|| Why::Other("this VirtualService has no hosts: what leads to it may set this".into()));
        let mut policy =
            retries::policy(place.route, &name, &object, inherits.as_ref(), context.settings.istio_version);
        if self.is_part && is_patch(context.path) {
            policy.confidence = Confidence::Low;
        }
        // A line that only rendering shows may say it after all, and what is rejected takes nothing.
        let is_settled = may_be_templated(place.route) || policy.ineffective.iter().any(|setting| setting.rejected);
        if self.is_part && !is_settled {
            let lacks = |key: &str| place.route.get(key).is_none_or(Node::is_null);
            policy.left_out = LeftOut { retries: lacks("retries"), timeout: lacks("timeout") };
        }
        policy
    }

    /// The VirtualService that a route leaves its requests to: one level, and only where it says nothing else (a part has no
    /// parts of its own).
    fn delegate(&self, route: Node<'_>) -> Option<(ObjectName, Span)> {
        let delegate = route.get("delegate").filter(|delegate| delegate.is_map() && !self.is_part)?;
        let name = plain(delegate.get("name")?)?.into();
        let namespace = match delegate.get("namespace").filter(|namespace| !namespace.is_null()) {
            Some(namespace) => Some(plain(namespace)?.into()),
            None => self.object.namespace.clone(),
        };
        Some((object_name(name, namespace), delegate.span()))
    }

    /// The services that requests of a route go to, each once; destinations without weight get none.
    fn destinations(&self, route: Node<'_>) -> Vec<Result<ServiceRef, Why>> {
        if let Some(delegate) = route.get("delegate").filter(|delegate| delegate.is_map())
            && route.get("retries").is_some_and(|retries| !retries.is_null())
        {
            let name = text_of(delegate, "name").map(value::shorten).unwrap_or_default();
            return vec![Err(Why::Other(
                format!("the routes of VirtualService `{name}`, to which it delegates").into(),
            ))];
        }
        let Some(list) = route.get("route") else {
            return Vec::new();
        };
        if let Some(why) = value::hole(list) {
            return vec![Err(why)];
        }
        let is_idle = |entry: Node<'_>| text_of(entry, "weight").is_some_and(|weight| weight.trim() == "0");
        let all_idle = list.items().all(is_idle);
        let mut seen = HashSet::new();
        let mut out = Vec::new();
        for entry in list.items().filter(|entry| all_idle || !is_idle(*entry)) {
            let Some(node) = entry.at(&["destination", "host"]).filter(|node| !node.is_null()) else {
                continue;
            };
            match host::service(node, &self.object) {
                Ok(service) => {
                    if seen.insert(service.host.clone()) {
                        out.push(Ok(service));
                    }
                }
                Err(why) => out.push(Err(why)),
            }
        }
        out
    }

    /// The callers of a route, each with the entries of `match:` that hold for it. None if there is no room for them.
    fn views<'m>(&self, matches: &'m [Match], left: &mut usize) -> Option<Vec<View<'m>>> {
        let mut views: Vec<View<'m>> = Vec::new();
        let mut places: HashMap<Vantage, usize> = HashMap::new();
        for one in matches {
            let bindings = one.bindings.as_ref().unwrap_or(&self.bindings);
            // Most routes have one entry and one binding: only what goes beyond counts.
            if !spend(left, bindings.len().saturating_sub(1) / 8) {
                return None;
            }
            for binding in bindings {
                // What leads to a part decides who calls.
                let decided = || Binding::Unknown(Why::Other(DECIDED_ELSEWHERE.into()));
                let binding = if self.is_part { &decided() } else { binding };
                let (position, caller) = self.callers(binding, Some(one));
                let vantage = match &caller {
                    Caller::Service(gateway) => Vantage::Gateway(gateway.host.clone()),
                    Caller::Members { namespace, labels } => {
                        Vantage::Mesh { namespace: namespace.clone(), labels: labels.clone() }
                    }
                    _ => Vantage::Unknown,
                };
                let at = *places.entry(vantage).or_insert(views.len());
                match views.get_mut(at) {
                    Some(view) => view.matches.push(one),
                    None => views.push(View { position, caller, matches: vec![one] }),
                }
            }
        }
        Some(views)
    }

    /// A gateway is often named like the one service behind it, which it is not: it would call itself.
    fn away_from(&self, caller: &Caller, destination: &Result<ServiceRef, Why>) -> Caller {
        let (Caller::Service(gateway), Ok(service)) = (caller, destination) else {
            return caller.clone();
        };
        match (&gateway.host, &service.host) {
            (Host::Name { name, namespace }, Host::Name { name: other, .. }) if name == other => {
                let host = Host::Name { name: format!("{name}-gateway").into(), namespace: namespace.clone() };
                Caller::Service(ServiceRef { host, ..gateway.clone() })
            }
            _ => caller.clone(),
        }
    }
}

/// Whether a host may be the name of any service of the cluster: `*`, `*.local`, or what a template decides.
fn may_be_any_service(host: Node<'_>) -> bool {
    let is_wide = |text: &str| text == "*" || (text.starts_with("*.") && text.ends_with(".local"));
    value::hole(host).is_some() || host.text().is_some_and(is_wide)
}

/// Takes from what is left, if that is enough.
fn spend(left: &mut usize, cost: usize) -> bool {
    let rest = left.checked_sub(cost);
    *left = rest.unwrap_or(*left);
    rest.is_some()
}

/// How many texts a policy repeats of these.
fn size(methods: &Methods, caller: &Caller) -> usize {
    let methods = if let Methods::Only(methods) = methods { methods.len() } else { 0 };
    let labels = if let Caller::Members { labels, .. } = caller { labels.len() } else { 0 };
    methods + labels
}

/// The gateway as a service.
fn declare(gateway: &ServiceRef, span: Span, facts: &mut Facts) {
    if let Host::Name { name, namespace } = &gateway.host
        && facts.services.last().is_none_or(|last| last.name != *name || last.namespace != *namespace)
    {
        let at = gateway.at.unwrap_or(span);
        let service = Service::new(name.clone(), at, ServiceSource::Proxy);
        facts.services.push(Service { namespace: namespace.clone(), is_proxy: true, ..service });
    }
}

/// The gateway as a service, and its call of the destination.
fn add_call(
    gateway: &ServiceRef,
    callee: &ServiceRef,
    (methods, path): (&Methods, &PathMatch),
    facts: &mut Facts,
) -> CallId {
    let span = callee.at.or(gateway.at);
    // References of a written file have a place.
    let span = span.unwrap_or_else(|| Span::new(crate::source::FileId(0), 0..0));
    declare(gateway, span, facts);
    let method = match methods {
        Methods::Only(methods) if methods.len() == 1 => methods.first().cloned(),
        _ => None,
    };
    let path = match path {
        PathMatch::Exact(path) => Some(path.clone()),
        _ => None,
    };
    let id = CallId(u32::try_from(facts.calls.len()).unwrap_or(u32::MAX));
    facts.calls.push(Call {
        caller: Caller::Service(gateway.clone()),
        callee: Callee::Service { service: callee.clone(), hosts: Vec::new() },
        span,
        source: CallSource::Route,
        environment: None,
        per_request: Sourced::default_of(1.0, "Istio", "route"),
        operation: (method.is_some() || path.is_some()).then_some(Operation { method, path }),
        protocol: None,
        // A request takes one of a gateway's routes.
        one_of: Some(format!("routes of {}", gateway.host.display()).into()),
        is_async: false,
        idempotent: None,
        propagates_deadline: None,
        confidence: Confidence::High,
    });
    id
}
