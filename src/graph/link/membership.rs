//! Who is in the mesh (contracts.md D-9).

use std::collections::HashMap;
use std::sync::Arc;

use super::scope::Scope;
use crate::facts::{Confidence, Workload};
use crate::graph::Membership;

/// What namespaces say about the mesh.
#[derive(Debug, Default)]
pub(super) struct Spaces {
    labels: HashMap<Arc<str>, Label>,
    any_is_in: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    In,
    Out,
    /// The object was seen, and has no label.
    Missing,
    /// There is a label that cannot be told.
    Unclear,
}

impl Spaces {
    /// Reads all namespaces; what an environment says about one wins over what its base says.
    pub fn gather(scope: Scope<'_>) -> Self {
        let mut labels: HashMap<Arc<str>, (bool, Label)> = HashMap::new();
        for namespace in scope.namespaces() {
            let label = match namespace.mesh.as_ref().map(|mesh| mesh.known()) {
                Some(Some(true)) => Label::In,
                Some(Some(false)) => Label::Out,
                Some(None) => Label::Unclear,
                None if namespace.declared => Label::Missing,
                None => continue,
            };
            let is_own = namespace.environment.is_some();
            let slot = labels.entry(namespace.name.clone()).or_insert((is_own, label));
            if slot.1 == Label::Missing || (is_own && !slot.0 && label != Label::Missing) {
                *slot = (is_own, label);
            }
        }
        let any_is_in = labels.values().any(|(_, label)| *label == Label::In);
        Spaces { labels: labels.into_iter().map(|(name, (_, label))| (name, label)).collect(), any_is_in }
    }

    /// What the workloads of a service and its namespace say; `Unknown` if they say nothing.
    pub fn says(&self, workloads: &[&Workload], namespace: Option<&Arc<str>>) -> Membership {
        let mut is_out = false;
        let mut is_unclear = false;
        for mesh in workloads.iter().filter_map(|workload| workload.mesh.as_ref()) {
            match mesh.known() {
                Some(true) => return Membership::Member,
                Some(false) => is_out = true,
                None => is_unclear = true,
            }
        }
        if is_out || is_unclear {
            return if is_out { Membership::Outside } else { Membership::Unknown };
        }
        let namespace = namespace.or_else(|| workloads.iter().find_map(|workload| workload.namespace.as_ref()));
        match namespace.and_then(|name| self.labels.get(name)) {
            Some(Label::In) => Membership::Member,
            Some(Label::Out) => Membership::Outside,
            // Where others are labelled, leaving one out is a statement.
            Some(Label::Missing) if self.any_is_in => Membership::Outside,
            _ => Membership::Unknown,
        }
    }
}

/// What decides whether one service is in the mesh.
#[derive(Clone, Copy, Debug)]
pub(super) struct Standing {
    /// What its workload or namespace says.
    pub said: Membership,
    /// Whether no workload of it is shown.
    pub is_unseen: bool,
    /// Whether it may be a member without saying so: proxies and external services may not.
    pub may_be_assumed: bool,
    /// Whether an object of the mesh names it.
    pub is_named: bool,
}

impl Standing {
    /// How sure it is that this service calls through the mesh, given whether a mesh object names its callee.
    pub fn as_caller(self, callee_is_named: bool) -> Option<Confidence> {
        match self.said {
            Membership::Member => Some(Confidence::High),
            _ if self.said == Membership::Outside || !self.may_be_assumed => None,
            _ => (self.is_unseen && callee_is_named).then_some(Confidence::Medium),
        }
    }

    /// How sure it is that this service has a proxy of the mesh in front of it.
    pub fn as_callee(self) -> Option<Confidence> {
        self.as_caller(self.is_named)
    }
}

#[cfg(test)]
mod tests;
