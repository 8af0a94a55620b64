//! [`Scope`]: the facts of one environment (contracts.md D-2). Facts without an environment belong to all of them; facts of
//! two environments never meet, because everything the linker reads comes through here.

use std::sync::Arc;

use crate::facts::{
    Call, CallId, Callee, Facts, File, Host, KubeService, Mesh, Namespace, Policy, PolicyId, Role, RouteUse, Service,
    ServiceRef, Upstream, Workload,
};
use crate::source::FileId;

/// The environments that occur in the facts, by name; one run without any if none does.
pub fn environments(facts: &Facts) -> Vec<Option<Arc<str>>> {
    let seen = facts.environments();
    if seen.is_empty() { vec![None] } else { seen.into_iter().cloned().map(Some).collect() }
}

/// The facts of one environment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scope<'f> {
    pub facts: &'f Facts,
    environment: Option<&'f str>,
}

/// A folder of one repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Folder<'f> {
    /// Who tells of its files (see [`File::told_by`](crate::facts::File::told_by)).
    told_by: Option<&'f str>,
    path: &'f str,
}

impl<'f> Scope<'f> {
    pub fn new(facts: &'f Facts, environment: Option<&'f str>) -> Self {
        Scope { facts, environment }
    }

    /// Whether a fact of this environment, or of none, is in it.
    pub fn holds(self, environment: &Option<Arc<str>>) -> bool {
        environment.is_none() || environment.as_deref() == self.environment
    }

    pub fn calls(self) -> impl Iterator<Item = (CallId, &'f Call)> {
        let calls = self.facts.calls.iter().enumerate().map(|(at, call)| (CallId(at as u32), call));
        calls.filter(move |(_, call)| self.holds(&call.environment))
    }

    pub fn call(self, id: CallId) -> Option<&'f Call> {
        self.facts.calls.get(id.0 as usize).filter(|call| self.holds(&call.environment))
    }

    pub fn policies(self) -> impl Iterator<Item = (PolicyId, &'f Policy)> {
        self.facts.policies().filter(move |(_, policy)| self.has(policy))
    }

    pub fn policy(self, id: PolicyId) -> Option<&'f Policy> {
        self.facts.policy(id).filter(|policy| self.has(policy))
    }

    /// Whether a policy is one of this environment, which has none of its own in its place.
    pub fn has(self, policy: &Policy) -> bool {
        let is_here = |environment: &Arc<str>| self.environment == Some(environment);
        self.holds(&policy.environment) && !policy.replaced_in.iter().any(is_here)
    }

    pub fn upstreams(self) -> impl Iterator<Item = (u32, &'f Upstream)> {
        let upstreams = self.facts.upstreams.iter().enumerate().map(|(at, upstream)| (at as u32, upstream));
        upstreams.filter(move |(_, upstream)| self.holds(&upstream.environment))
    }

    pub fn services(self) -> impl Iterator<Item = &'f Service> {
        self.facts.services.iter().filter(move |service| self.holds(&service.environment))
    }

    pub fn workloads(self) -> impl Iterator<Item = &'f Workload> {
        self.facts.workloads.iter().filter(move |workload| self.holds(&workload.environment))
    }

    pub fn kube_services(self) -> impl Iterator<Item = &'f KubeService> {
        self.facts.kube_services.iter().filter(move |service| self.holds(&service.environment))
    }

    pub fn namespaces(self) -> impl Iterator<Item = &'f Namespace> {
        self.facts.namespaces.iter().filter(move |namespace| self.holds(&namespace.environment))
    }

    pub fn route_uses(self) -> impl Iterator<Item = (usize, &'f RouteUse)> {
        let uses = self.facts.route_uses.iter().enumerate();
        uses.filter(move |(_, one)| self.holds(&one.environment))
    }

    /// The folder that a file stands in.
    pub fn folder(self, file: FileId) -> Folder<'f> {
        let file = self.facts.file(file);
        let path = file.map_or("", File::own_path);
        Folder {
            told_by: file.and_then(|file| file.told_by.as_deref()),
            path: path.rsplit_once('/').map_or("", |(folder, _)| folder),
        }
    }

    /// The mesh whose defaults are in force: that of this environment, else the one that belongs to all.
    pub fn mesh(self) -> Option<&'f Mesh> {
        let mut meshes = self.facts.meshes.iter().filter(|mesh| self.holds(&mesh.environment));
        let first = meshes.next()?;
        if first.environment.is_some() {
            return Some(first);
        }
        Some(meshes.find(|mesh| mesh.environment.is_some()).unwrap_or(first))
    }

    /// Enclosing policies of a policy, itself first. A chain longer than this is no program that anybody wrote.
    pub fn enclosing(self, id: PolicyId) -> impl Iterator<Item = (PolicyId, &'f Policy)> {
        const LONGEST: usize = 32;
        let mut seen = Vec::new();
        std::iter::successors(Some(id), move |id| self.policy(*id)?.inside)
            .take(LONGEST)
            .take_while(move |id| {
                let is_new = !seen.contains(id);
                seen.push(*id);
                is_new
            })
            .map_while(move |id| Some((id, self.policy(id)?)))
    }

    /// Whether a policy is in force on edges at all. Objects that the control plane rejects are not; tests inside a
    /// production file do not run there; and what is low in confidence must not change the numbers of what is not.
    pub fn is_in_force(self, policy: &Policy) -> bool {
        let in_test_file = self.facts.file(policy.span.file).is_some_and(|file| file.role == Role::Test);
        !policy.ineffective.iter().any(|setting| setting.rejected)
            && (!policy.test_code || in_test_file)
            && policy.confidence > crate::facts::Confidence::Low
    }

    /// Every reference to a service.
    pub fn references(self) -> impl Iterator<Item = &'f ServiceRef> {
        let calls = self.calls().flat_map(|(_, call)| call.caller.service().into_iter().chain(call.callee.service()));
        let policies = self.policies().flat_map(|(_, policy)| {
            let (service, hosts) = match &policy.callee {
                Callee::Service { service, hosts } => (Some(service), hosts.as_slice()),
                _ => (None, [].as_slice()),
            };
            policy.caller.service().into_iter().chain(service).chain(hosts)
        });
        let upstreams = self.upstreams().flat_map(|(_, up)| std::iter::once(&up.callee).chain(up.caller.service()));
        let uses = self.route_uses().filter_map(|(_, one)| one.caller.service());
        calls.chain(policies).chain(upstreams).chain(uses)
    }
}

/// The name that a declaration gives its service.
pub(super) fn declared_host(service: &Service) -> Host {
    match &service.namespace {
        None if service.name.contains('.') => Host::Dotted(service.name.clone()),
        namespace => Host::Name { name: service.name.clone(), namespace: namespace.clone() },
    }
}
