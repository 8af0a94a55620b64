//! What is known about each service: declarations merged by precedence, and the name that it is shown by
//! (contracts.md D-1, D-8).

use std::collections::HashMap;
use std::sync::Arc;

use super::Linker;
use super::scope::declared_host;
use crate::facts::{Origin, Service, Sourced, Value, Workload};

impl Linker<'_> {
    /// Fills in what is declared about each node, once all nodes are there.
    pub(super) fn describe(&mut self) {
        let mut services: Vec<&Service> = self.scope.services().collect();
        // Later ones win: better sources, and the environment's own before its base.
        services.sort_by_key(|service| (service.source, service.environment.is_some()));
        for service in services {
            let id = self.names.own(&declared_host(service), None);
            let id = self.names.follow(id);
            let Some(node) = self.node_of(id).and_then(|node| self.graph.node_weight_mut(node)) else { continue };
            merge(&mut node.service, service);
            node.declared = true;
        }
        for node in self.graph.node_indices() {
            let Some(id) = self.id_of(node) else { continue };
            let instances = replicas(self.workloads.of(id));
            if let Some(node) = self.graph.node_weight_mut(node)
                && node.service.instances.is_none()
            {
                node.service.instances = instances;
            }
        }
        self.show_names();
    }

    /// `name`, or `name.namespace` where two would look alike.
    fn show_names(&mut self) {
        let mut alike: HashMap<Arc<str>, u32> = HashMap::new();
        for node in self.graph.node_weights() {
            *alike.entry(node.name.clone()).or_default() += 1;
        }
        for node in self.graph.node_weights_mut() {
            let is_alone = alike.get(&node.name).is_none_or(|count| *count < 2);
            node.display = match &node.namespace {
                Some(namespace) if !is_alone => format!("{}.{namespace}", node.name).into(),
                _ => node.name.clone(),
            };
        }
    }
}

/// Lays a declaration over what is known so far.
fn merge(known: &mut Service, over: &Service) {
    fn lay<T: Clone>(known: &mut Option<T>, over: &Option<T>) {
        if over.is_some() {
            known.clone_from(over);
        }
    }
    let Service {
        name: _,
        namespace: _,
        environment,
        span,
        source,
        paths,
        aliases,
        is_proxy,
        owner,
        rate,
        clients,
        capacity,
        pool,
        instances,
        latency,
        timeout,
        emits,
        parallel,
        max_hops,
        accept,
        // Looked at with the ports of all objects of the service.
        ports: _,
    } = over;
    known.span = *span;
    known.source = *source;
    known.environment.clone_from(environment);
    if !paths.is_empty() {
        known.paths.clone_from(paths);
    }
    known.aliases.extend(aliases.iter().cloned());
    known.is_proxy |= is_proxy;
    lay(&mut known.owner, owner);
    lay(&mut known.rate, rate);
    lay(&mut known.clients, clients);
    lay(&mut known.capacity, capacity);
    lay(&mut known.pool, pool);
    lay(&mut known.instances, instances);
    lay(&mut known.latency, latency);
    lay(&mut known.timeout, timeout);
    lay(&mut known.emits, emits);
    lay(&mut known.parallel, parallel);
    lay(&mut known.max_hops, max_hops);
    lay(&mut known.accept, accept);
}

/// Replicas of all workloads of a service; none if nothing is written, or not everything can be told.
fn replicas(workloads: &[&Workload]) -> Option<Sourced<u64>> {
    match workloads {
        [] => None,
        [one] => one.replicas.clone(),
        several => {
            let mut sum = 0u64;
            let mut spans = Vec::new();
            for workload in several {
                let replicas = workload.replicas.as_ref()?;
                sum = sum.saturating_add(*replicas.known()?);
                spans.extend(replicas.span());
            }
            Some(Sourced { value: Value::Known(sum), origin: Origin::Derived(spans) })
        }
    }
}
