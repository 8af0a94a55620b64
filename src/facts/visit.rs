//! [`Visit`]: everything in facts that points elsewhere, and every number that has bounds, handed to a [`Visitor`] one by one.
//!
//! Types name all their fields here, so that one that is added does not compile until somebody has said what it holds.

use std::borrow::Cow;
use std::sync::Arc;

use super::{
    Accept, AttemptTimeoutFlaw, Attempts, Backoff, BackoffKind, Breaker, Budget, BudgetBase, Call, CallId, CallSource,
    Callee, Caller, Check, Class, Classes, Confidence, Count, Counts, Date, Dialect, Enclosure, Evidence, Exhausted,
    Facts, File, FileKind, Floor, Freeze, Frozen, Hedging, Host, InCode, Ineffective, Jitter, JitterAt, KubeService,
    LeftOut, Limit, Measures, Mesh, Methods, Misdirected, Namespace, Nanos, ObjectName, Operation, Origin, PathMatch,
    Place, Policy, PolicyId, PolicyKind, PortProtocol, Position, Problem, Protocol, Purpose, Role, Route, RouteUse,
    Scope, Service, ServiceRef, ServiceSource, Sourced, Suppression, Total, Unread, Upstream, Value, Why, Workload,
};
use crate::source::Span;

/// What is done with each.
pub trait Visitor {
    /// A place that a report may show.
    fn span(&mut self, span: &mut Span);

    /// A range that is only asked what it holds: of these none is ever shown.
    fn extent(&mut self, span: &mut Span) {
        self.span(span);
    }

    /// A policy of the same facts.
    fn policy(&mut self, _: &mut PolicyId) {}

    /// A call of the same facts.
    fn call(&mut self, _: &mut CallId) {}

    /// A number that is never below zero.
    fn number(&mut self, _: f64) {}

    /// A number of tries, which is never zero.
    fn tries(&mut self, _: u64) {}
}

/// A fact or a part of one.
pub trait Visit {
    /// Shows the visitor what is in it.
    fn visit(&mut self, visitor: &mut impl Visitor);
}

macro_rules! fields {
    ($($type:ident { $($field:ident),* $(,)? })*) => {
        $(impl Visit for $type {
            fn visit(&mut self, visitor: &mut impl Visitor) {
                let $type { $($field),* } = self;
                $($field.visit(visitor);)*
            }
        })*
    };
}

macro_rules! nothing {
    ($($type:ty),* $(,)?) => {
        $(impl Visit for $type {
            fn visit(&mut self, _: &mut impl Visitor) {}
        })*
    };
}

nothing! {
    bool, u32, u64, String, Arc<str>, Cow<'static, str>,
    BackoffKind, BudgetBase, CallSource, Check, Class, Classes, Confidence, Count, Counts, Date, Dialect, Evidence,
    Exhausted, File, FileKind, Freeze, Host, JitterAt, LeftOut, Measures, Methods, Nanos, ObjectName, Operation,
    PathMatch, Place, PolicyKind, PortProtocol, Position, Protocol, Purpose, Role, ServiceSource, Why,
}

fields! {
    Facts {
        files, policies, upstreams, calls, services, workloads, kube_services, namespaces, meshes, route_uses, enclosures,
        suppressions, misdirected, unread, problems,
    }
    Policy {
        span, name, source, dialect, notation, kind, position, inside, caller, callee, calls, route, environment, replaced_in, attempts,
        count, backoff, jitter, jitter_switch, attempt_timeout, attempt_timeout_flaw, connect_timeout, total, retries_on,
        names_classes, methods, idempotent, budget, breaker, hedging, reads_retry_after, observed, exhausted, other_host,
        purpose, part_of, left_out, ineffective, in_code, test_code, confidence,
    }
    Backoff { kind, base, factor, cap, skip }
    Total { limit, measures, check }
    Hedging { copies, delay, counts_as_try }
    Ineffective { span, message, label, help, rejected }
    InCode {
        function, operation, request, is_async, frozen_jitter, sleep_after_last, blocking_sleep, swallowed,
        status_to_error, help, built_of, is_described, key_in_attempt,
    }
    Frozen { span, how }
    Upstream {
        callee, names, caller, position, dialect, span, environment, budget, retry_cap, breaker, max_connections,
        connect_timeout, hosts, object, is_patch,
    }
    Budget { ratio, floor, window, base }
    Breaker {
        ratio, consecutive, minimum, window, open, probes, max_ejection_percent, always_eject_one, place,
    }
    Call {
        caller, callee, span, source, environment, per_request, operation, protocol, one_of, is_async, idempotent,
        propagates_deadline, confidence,
    }
    Service {
        name, namespace, environment, span, source, paths, aliases, is_proxy, owner, rate, clients, capacity, pool,
        instances, latency, timeout, emits, parallel, max_hops, accept, ports,
    }
    ServiceRef { host, from_namespace, evidence, at }
    Accept { max_amplification, reason, until, span }
    Workload { name, namespace, environment, span, labels, mesh, replicas, images, variables }
    KubeService { name, namespace, environment, span, selector, ports }
    Namespace { name, environment, span, mesh, declared }
    RouteUse { of, position, caller, hands_down, whole, environment, span }
    Misdirected { span, message, suggestion }
    Unread { kind, span }
    Problem { span, message, partial, recognised, template }
}

impl Visit for Span {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        visitor.span(self);
    }
}

impl Visit for PolicyId {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        visitor.policy(self);
    }
}

impl Visit for CallId {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        visitor.call(self);
    }
}

impl Visit for f64 {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        visitor.number(*self);
    }
}

impl Visit for Attempts {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        match self {
            Attempts::Times(tries) => visitor.tries(*tries),
            Attempts::Unbounded | Attempts::ByTime => {}
        }
    }
}

impl Visit for Floor {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        match self {
            Floor::PerSecond(rate) => rate.visit(visitor),
            Floor::InFlight(_) => {}
        }
    }
}

impl Visit for Jitter {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        // More than the whole delay may be taken off it, so `low` may lie below zero.
        let Jitter { low: _, high, plus: _, least: _, at: _, decorrelated: _ } = self;
        high.visit(visitor);
    }
}

impl Visit for Route {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        let Route { list, order: _, methods: _, path: _, conditional: _, protocol: _ } = self;
        visitor.extent(list);
    }
}

impl Visit for Enclosure {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        let Enclosure { outer, function, depth: _, is_only: _ } = self;
        outer.visit(visitor);
        visitor.extent(function);
    }
}

impl Visit for Suppression {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        let Suppression { span, rules, reason: _, until: _, scope } = self;
        span.visit(visitor);
        rules.visit(visitor);
        match scope {
            Scope::Range(range) => visitor.extent(range),
            Scope::File => {}
        }
    }
}

impl Visit for Mesh {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        let Mesh { source: _, version: _, span, environment: _, client_default, inbound_default } = self;
        span.visit(visitor);
        client_default.visit(visitor);
        inbound_default.visit(visitor);
    }
}

impl Visit for Caller {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        match self {
            Caller::Service(service) => service.visit(visitor),
            Caller::ByPath | Caller::Beside | Caller::Members { namespace: _, labels: _ } | Caller::Unknown(_) => {}
        }
    }
}

impl Visit for Callee {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        match self {
            Callee::Service { service, hosts } => {
                service.visit(visitor);
                hosts.visit(visitor);
            }
            Callee::Named(_) | Callee::Unknown(_) => {}
        }
    }
}

impl Visit for AttemptTimeoutFlaw {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        match self {
            AttemptTimeoutFlaw::NotBelowTotal(limit) => limit.visit(visitor),
            AttemptTimeoutFlaw::NeverRetried { add: _, corrected: _ } => {}
        }
    }
}

impl Visit for Origin {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        match self {
            Origin::Written(span) => span.visit(visitor),
            Origin::Derived(spans) => spans.visit(visitor),
            Origin::Default { by: _, reference: _ } => {}
        }
    }
}

impl<T: Visit> Visit for Sourced<T> {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        let Sourced { value, origin } = self;
        match value {
            Value::Known(value) => value.visit(visitor),
            Value::Unknown(_) => {}
        }
        origin.visit(visitor);
    }
}

impl<T: Visit> Visit for Limit<T> {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        match self {
            Limit::At(value) => value.visit(visitor),
            Limit::None => {}
        }
    }
}

impl<T: Visit> Visit for Option<T> {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        self.iter_mut().for_each(|value| value.visit(visitor));
    }
}

impl<T: Visit> Visit for Vec<T> {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        self.iter_mut().for_each(|value| value.visit(visitor));
    }
}

impl<T: Visit> Visit for Box<T> {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        (**self).visit(visitor);
    }
}

impl<A: Visit, B: Visit> Visit for (A, B) {
    fn visit(&mut self, visitor: &mut impl Visitor) {
        self.0.visit(visitor);
        self.1.visit(visitor);
    }
}
