//! The facts: what every input, whatever its language or dialect, is lowered into. Plain data; the types of parsers stop
//! at `read/`, and everything after it sees facts only.
//!
//! Facts are a file format (contracts.md D-22): all of them are written by `retrylint facts` and read back. What points elsewhere is
//! met by [`Visit`].

mod backoff;
mod call;
mod date;
mod delays;
mod enclosure;
mod failure;
mod host;
mod in_code;
mod policy;
mod position;
mod route_use;
mod service;
mod suppression;
mod time;
mod upstream;
mod value;
mod visit;
pub mod words;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use backoff::{Backoff, BackoffKind, Jitter, JitterAt};
pub use call::{Call, CallId, CallSource, Methods, Operation, PathMatch, Protocol, Route, is_idempotent};
pub use date::{DATE, Date};
pub use delays::Delay;
pub use enclosure::Enclosure;
pub use failure::{Class, Classes};
pub use in_code::{Freeze, Frozen, InCode};
pub use policy::{
    AttemptTimeoutFlaw, Attempts, Check, Count, Counts, Exhausted, Hedging, Ineffective, Measures, Policy, PolicyId,
    PolicyKind, Purpose, Total,
};
pub use position::{Dialect, Position, Proxy};
pub use route_use::{LeftOut, ObjectName, RouteUse};
pub use service::{
    Accept, Callee, Caller, Evidence, Host, KubeService, Mesh, Namespace, PortProtocol, Service, ServiceRef,
    ServiceSource, Workload,
};
pub use suppression::{Misdirected, Scope, Suppression};
pub use time::Nanos;
pub use upstream::{Breaker, Budget, BudgetBase, Floor, Place, Upstream};
pub(crate) use value::interned;
pub use value::{Limit, Origin, Sourced, Value, Why};
pub use visit::{Visit, Visitor};

use crate::source::{FileId, Span};

/// Everything that was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Facts {
    /// The files that were read, by [`FileId`].
    pub files: Vec<File>,
    /// Retry policies and time limits.
    pub policies: Vec<Policy>,
    /// Settings of proxies about a callee.
    pub upstreams: Vec<Upstream>,
    /// Who calls whom.
    pub calls: Vec<Call>,
    /// Declared services.
    pub services: Vec<Service>,
    /// Kubernetes workloads.
    pub workloads: Vec<Workload>,
    /// Kubernetes Services.
    pub kube_services: Vec<KubeService>,
    /// Namespaces.
    pub namespaces: Vec<Namespace>,
    /// Meshes of which objects were seen.
    pub meshes: Vec<Mesh>,
    /// Who uses the routes of other objects.
    pub route_uses: Vec<RouteUse>,
    /// Functions in code that the tries of policies call.
    pub enclosures: Vec<Enclosure>,
    /// Comments that suppress findings.
    pub suppressions: Vec<Suppression>,
    /// Comments to retrylint that are not understood.
    pub misdirected: Vec<Misdirected>,
    /// Objects that retry in ways that are not read yet.
    pub unread: Vec<Unread>,
    /// What could not be read.
    pub problems: Vec<Problem>,
}

/// An object that is known to retry, and of which nothing is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unread {
    /// Its kind, as it calls itself.
    pub kind: Arc<str>,
    /// Where it stands.
    pub span: Span,
}

/// A file that was looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct File {
    /// Path as shown, relative to the scanned root's base, `/` between its parts.
    pub path: Arc<str>,
    /// What it was read as, for the summary: `YAML`, `JSON`, `TOML`.
    pub kind: FileKind,
    /// The environment that its path puts it in (D-2).
    pub environment: Option<Arc<str>>,
    /// Production, example or test (D-18).
    pub role: Role,
    /// Whether it was named on the command line.
    pub named: bool,
    /// The file of facts that tells of it, where several are linked: paths of one say nothing of another's. None for what was
    /// read from the disk, and for all files of a run with nothing else.
    pub told_by: Option<Arc<str>>,
}

impl File {
    /// Its path without what tells it apart from a file of another repository.
    pub fn own_path(&self) -> &str {
        let own = self.told_by.as_ref().and_then(|told_by| self.path.strip_prefix(&**told_by)?.strip_prefix(':'));
        own.unwrap_or(&self.path)
    }
}

/// What a file was read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// YAML.
    Yaml,
    /// JSON, with or without comments.
    Json,
    /// TOML.
    Toml,
    /// Rust.
    Rust,
}

impl FileKind {
    /// The name used in output.
    pub fn name(self) -> &'static str {
        match self {
            FileKind::Yaml => "YAML",
            FileKind::Json => "JSON",
            FileKind::Toml => "TOML",
            FileKind::Rust => "Rust",
        }
    }
}

/// What a file is for (D-18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// What runs.
    Production,
    /// Configuration that people copy: findings become notes.
    Example,
    /// Tests: left out unless asked for.
    Test,
}

/// How sure a reader is of a fact; a finding has the least of the facts that it rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Name evidence only, or the generic shape.
    Low,
    /// Inferred names, assumed membership, structure of a loop.
    Medium,
    /// Written in a recognised dialect.
    High,
}

/// Something that could not be read: the run goes on without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Problem {
    /// Where reading broke; the start of the file if no place is to blame.
    pub span: Span,
    /// What was wrong: in words that stand behind "cannot be read: ", or on their own if it is `partial`.
    pub message: String,
    /// Whether only this place is left out, and everything else of the document is read.
    pub partial: bool,
    /// Whether the file is of a recognised dialect (a warning) or merely YAML or JSON (a note).
    pub recognised: bool,
    /// Whether it is a template that was not rendered: always a note.
    pub template: bool,
}

/// Adds the facts of one kind. The first file's are taken as they are: one that describes a whole system would be twice in
/// memory.
fn take<T>(all: &mut Vec<T>, mut own: Vec<T>) {
    if all.is_empty() {
        *all = own;
    } else {
        all.append(&mut own);
    }
}

impl Facts {
    /// Adds the facts of one file. Indices of policies and calls inside `other` are local to it and are moved.
    pub fn absorb(&mut self, mut other: Facts) {
        let policies = self.policies.len() as u32;
        let calls = self.calls.len() as u32;
        for policy in &mut other.policies {
            if let Some(outer) = &mut policy.inside {
                outer.0 += policies;
            }
            policy.calls.iter_mut().for_each(|call| call.0 += calls);
        }
        for mesh in &mut other.meshes {
            for default in [&mut mesh.client_default, &mut mesh.inbound_default].into_iter().flatten() {
                default.0 += policies;
            }
        }
        other.enclosures.iter_mut().for_each(|enclosure| enclosure.outer.0 += policies);
        take(&mut self.files, other.files);
        take(&mut self.policies, other.policies);
        take(&mut self.upstreams, other.upstreams);
        take(&mut self.calls, other.calls);
        take(&mut self.services, other.services);
        take(&mut self.workloads, other.workloads);
        take(&mut self.kube_services, other.kube_services);
        take(&mut self.namespaces, other.namespaces);
        take(&mut self.meshes, other.meshes);
        take(&mut self.route_uses, other.route_uses);
        take(&mut self.enclosures, other.enclosures);
        take(&mut self.suppressions, other.suppressions);
        take(&mut self.misdirected, other.misdirected);
        take(&mut self.unread, other.unread);
        take(&mut self.problems, other.problems);
    }

    /// Puts every fact that names no environment of its own into this one, and marks policies of test code.
    pub fn stamp(&mut self, environment: Option<&Arc<str>>, role: Role) {
        fn set(slot: &mut Option<Arc<str>>, environment: Option<&Arc<str>>) {
            if slot.is_none() {
                *slot = environment.cloned();
            }
        }
        for policy in &mut self.policies {
            set(&mut policy.environment, environment);
            policy.test_code |= role == Role::Test;
        }
        self.upstreams.iter_mut().for_each(|fact| set(&mut fact.environment, environment));
        self.calls.iter_mut().for_each(|fact| set(&mut fact.environment, environment));
        self.services.iter_mut().for_each(|fact| set(&mut fact.environment, environment));
        self.workloads.iter_mut().for_each(|fact| set(&mut fact.environment, environment));
        self.kube_services.iter_mut().for_each(|fact| set(&mut fact.environment, environment));
        self.namespaces.iter_mut().for_each(|fact| set(&mut fact.environment, environment));
        self.meshes.iter_mut().for_each(|fact| set(&mut fact.environment, environment));
        self.route_uses.iter_mut().for_each(|fact| set(&mut fact.environment, environment));
    }

    /// Forgets what is said about files of other environments than this one. Policies and calls stay, since others name them by
    /// number: [`Net::in_environment`](crate::graph::Net::in_environment) tells them apart.
    pub fn leave_out_others(&mut self, environment: &str) {
        let files = &self.files;
        let is_in = |span: Span| {
            let of = files.get(span.file.0 as usize).and_then(|file| file.environment.as_deref());
            of.is_none_or(|of| of == environment)
        };
        self.problems.retain(|one| is_in(one.span));
        self.suppressions.retain(|one| is_in(one.span));
        self.misdirected.retain(|one| is_in(one.span));
        self.unread.retain(|one| is_in(one.span));
    }

    /// The environments that occur in them, by name.
    pub fn environments(&self) -> BTreeSet<&Arc<str>> {
        let mut seen: BTreeSet<&Arc<str>> = BTreeSet::new();
        seen.extend(self.policies.iter().filter_map(|fact| fact.environment.as_ref()));
        seen.extend(self.upstreams.iter().filter_map(|fact| fact.environment.as_ref()));
        seen.extend(self.calls.iter().filter_map(|fact| fact.environment.as_ref()));
        seen.extend(self.services.iter().filter_map(|fact| fact.environment.as_ref()));
        seen.extend(self.workloads.iter().filter_map(|fact| fact.environment.as_ref()));
        seen.extend(self.kube_services.iter().filter_map(|fact| fact.environment.as_ref()));
        seen.extend(self.namespaces.iter().filter_map(|fact| fact.environment.as_ref()));
        seen.extend(self.route_uses.iter().filter_map(|fact| fact.environment.as_ref()));
        seen.extend(self.meshes.iter().filter_map(|fact| fact.environment.as_ref()));
        // What is not read of an environment is no reason to say that there is none.
        seen.extend(self.unread.iter().filter_map(|fact| self.file(fact.span.file)?.environment.as_ref()));
        seen
    }

    /// The policy of an id.
    pub fn policy(&self, id: PolicyId) -> Option<&Policy> {
        self.policies.get(id.0 as usize)
    }

    /// All policies with their ids.
    pub fn policies(&self) -> impl Iterator<Item = (PolicyId, &Policy)> {
        self.policies.iter().enumerate().map(|(id, policy)| (PolicyId(id as u32), policy))
    }

    /// The file of an id.
    pub fn file(&self, id: FileId) -> Option<&File> {
        self.files.get(id.0 as usize)
    }
}
