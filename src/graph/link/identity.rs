//! Which service a name means (contracts.md D-1): every reference goes through hash maps once, and two references mean
//! the same service exactly if they come out with the same [`Id`].
//!
//! The order: exact; one side lacks the namespace and exactly one candidate has that name; the caller's own namespace;
//! aliases; else a service of its own. All candidates are gathered before anything is resolved, so that the answer does
//! not depend on the order of files.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::scope::{Folder, Scope, declared_host};
use crate::facts::{Host, PortProtocol, ServiceSource};
use crate::source::{FileId, Span};

/// Index of an identity in [`Identities`].
pub(super) type Id = u32;

/// In place of a namespace: none.
const NOWHERE: u32 = u32::MAX;

/// How well a service is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Known {
    /// Something refers to it.
    Referred,
    /// A Kubernetes object has its name.
    Object,
    /// A manifest, a proxy or retrylint.toml declares it.
    Declared,
}

/// A service, before it is known whether it becomes a node.
#[derive(Debug)]
pub(super) struct Identity {
    /// Lower case.
    pub name: Arc<str>,
    pub namespace: Option<Arc<str>>,
    /// Dotted, and what stands behind the dot is no known namespace: `api.stripe.com`.
    pub is_whole: bool,
    pub known: Known,
    /// Where a Kubernetes object of this name stands.
    pub object: Option<Span>,
    /// What its ports say they speak.
    pub ports: Ports,
    alias: Option<(ServiceSource, Option<Id>)>,
}

/// What the ports of a service say they speak, of all objects that speak of it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ports {
    is_opaque: bool,
    is_more: bool,
    /// Whether one of them speaks gRPC.
    pub speak_grpc: bool,
}

impl Ports {
    /// Whether no proxy can tell a request from the next, whatever port is called.
    pub fn are_opaque(self) -> bool {
        self.is_opaque && !self.is_more
    }

    fn add(&mut self, ports: &[PortProtocol]) {
        for port in ports {
            match port {
                PortProtocol::Opaque => self.is_opaque = true,
                PortProtocol::Http | PortProtocol::Grpc | PortProtocol::Unsaid => self.is_more = true,
            }
            self.speak_grpc |= *port == PortProtocol::Grpc;
        }
    }

    fn join(&mut self, other: Ports) {
        self.is_opaque |= other.is_opaque;
        self.is_more |= other.is_more;
        self.speak_grpc |= other.speak_grpc;
    }
}

/// In how many namespaces a name is known.
enum Homes {
    One(u32),
    Many,
}

/// Where a reference stands, for names that mean something only there (Envoy's clusters).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub file: Option<FileId>,
    pub caller: Option<Id>,
}

/// Names of clusters: each proxy has its own, so they are looked up in the file, then with the caller, then in the folder
/// if all of its proxies agree, and elsewhere only where all proxies do.
#[derive(Default)]
struct Clusters {
    by_file: HashMap<(Id, FileId), Id>,
    by_caller: HashMap<(Id, Id), Id>,
    by_folder: HashMap<(Id, u32), Option<Id>>,
    anywhere: HashMap<Id, Option<Id>>,
}

/// All identities of one environment.
pub(super) struct Identities {
    numbers: HashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
    spaces: HashSet<u32>,
    homes: HashMap<u32, Homes>,
    pairs: HashSet<(u32, u32)>,
    /// Names that some object or declaration has without any namespace.
    plain: HashSet<u32>,
    ids: HashMap<(u32, u32), Id>,
    all: Vec<Identity>,
    clusters: Clusters,
    /// The folder of each file, as a number.
    folders: Vec<u32>,
}

impl Identities {
    /// Gathers all names, namespaces, objects and declarations. Aliases of declarations are in force afterwards; those
    /// of selectors and clusters are added by their own modules.
    pub fn gather(scope: Scope<'_>) -> Identities {
        let mut names = Identities {
            numbers: HashMap::new(),
            texts: Vec::new(),
            spaces: HashSet::new(),
            homes: HashMap::new(),
            pairs: HashSet::new(),
            plain: HashSet::new(),
            ids: HashMap::new(),
            all: Vec::new(),
            clusters: Clusters::default(),
            folders: Vec::with_capacity(scope.facts.files.len()),
        };
        let mut folders: HashMap<Folder<'_>, u32> = HashMap::new();
        for at in 0..scope.facts.files.len() as u32 {
            let next = folders.len() as u32;
            names.folders.push(*folders.entry(scope.folder(FileId(at))).or_insert(next));
        }
        names.gather_spaces(scope);
        names.gather_homes(scope);
        names.gather_objects(scope);
        names.gather_declarations(scope);
        names
    }

    fn gather_spaces(&mut self, scope: Scope<'_>) {
        let objects = scope
            .workloads()
            .filter_map(|workload| workload.namespace.as_ref())
            .chain(scope.kube_services().filter_map(|service| service.namespace.as_ref()))
            .chain(scope.services().filter_map(|service| service.namespace.as_ref()))
            .chain(scope.namespaces().map(|namespace| &namespace.name));
        for space in objects {
            let space = self.number(space);
            self.spaces.insert(space);
        }
        for reference in scope.references() {
            // `ledger.bank.svc` proves that a namespace `bank` exists, and so does the object that refers.
            let written = match &reference.host {
                Host::Name { namespace, .. } => namespace.as_ref(),
                Host::Dotted(_) => None,
            };
            for space in written.into_iter().chain(&reference.from_namespace) {
                let space = self.number(space);
                self.spaces.insert(space);
            }
        }
    }

    fn gather_homes(&mut self, scope: Scope<'_>) {
        for workload in scope.workloads() {
            self.add_object_home(&workload.name, workload.namespace.as_ref());
        }
        for service in scope.kube_services() {
            self.add_object_home(&service.name, service.namespace.as_ref());
        }
        for service in scope.services() {
            self.add_home(&declared_host(service));
            if service.namespace.is_none() {
                let name = self.number(&service.name);
                self.plain.insert(name);
            }
            service.aliases.iter().for_each(|alias| self.add_home(alias));
        }
        scope.references().for_each(|reference| self.add_home(&reference.host));
    }

    fn add_object_home(&mut self, name: &Arc<str>, namespace: Option<&Arc<str>>) {
        let name = self.number(name);
        match namespace {
            Some(namespace) => {
                let space = self.number(namespace);
                self.add_pair(name, space);
            }
            None => {
                self.plain.insert(name);
            }
        }
    }

    fn add_home(&mut self, host: &Host) {
        let (name, space, _) = match host {
            Host::Name { namespace: None, .. } => return,
            host => self.key(host, None),
        };
        if space != NOWHERE {
            self.add_pair(name, space);
        }
    }

    fn add_pair(&mut self, name: u32, space: u32) {
        self.pairs.insert((name, space));
        let homes = self.homes.entry(name).or_insert(Homes::One(space));
        if matches!(homes, Homes::One(only) if *only != space) {
            *homes = Homes::Many;
        }
    }

    fn gather_objects(&mut self, scope: Scope<'_>) {
        for service in scope.kube_services() {
            let id = self.object(&service.name, service.namespace.as_ref());
            self.mark(id, Known::Object, Some(service.span));
            if let Some(identity) = self.all.get_mut(id as usize) {
                identity.ports.add(&service.ports);
            }
        }
        for workload in scope.workloads() {
            let id = self.object(&workload.name, workload.namespace.as_ref());
            self.mark(id, Known::Object, Some(workload.span));
        }
    }

    fn gather_declarations(&mut self, scope: Scope<'_>) {
        let mut services: Vec<_> = scope.services().collect();
        for service in &services {
            let id = self.own(&declared_host(service), None);
            let known = if service.source == ServiceSource::Kubernetes { Known::Object } else { Known::Declared };
            self.mark(id, known, None);
            if let Some(identity) = self.all.get_mut(id as usize) {
                identity.ports.add(&service.ports);
            }
        }
        services.sort_by_key(|service| service.source);
        for service in services {
            let target = self.own(&declared_host(service), None);
            for alias in &service.aliases {
                let from = service.namespace.as_ref().and_then(|space| self.numbers.get(space).copied());
                let alias = self.own(alias, from);
                // A service of that very name is meant by it, unless the user tells us otherwise. What a ServiceEntry
                // names as its endpoint is then what stands behind the entry.
                match (service.source, self.known(alias)) {
                    (ServiceSource::Kubernetes, Known::Object | Known::Declared) => {
                        self.add_alias(target, alias, service.source);
                    }
                    (ServiceSource::Settings, _) | (_, Known::Referred | Known::Object) => {
                        self.add_alias(alias, target, service.source);
                    }
                    (_, Known::Declared) => {}
                }
            }
        }
    }

    fn mark(&mut self, id: Id, known: Known, object: Option<Span>) {
        if let Some(identity) = self.all.get_mut(id as usize) {
            identity.known = identity.known.max(known);
            identity.object = identity.object.or(object);
        }
    }

    /// Makes one name mean another. Two that claim the same name with equal right leave it to itself.
    pub fn add_alias(&mut self, alias: Id, target: Id, source: ServiceSource) {
        if alias == target || self.follow(target) == alias {
            return;
        }
        if let Some(identity) = self.all.get_mut(alias as usize) {
            identity.alias = match identity.alias {
                Some((earlier, _)) if earlier > source => return,
                Some((earlier, other)) if earlier == source && other != Some(target) => Some((source, None)),
                _ => Some((source, Some(target))),
            };
        }
    }

    /// Gives what has another name the ports of that name, once all aliases are there.
    pub fn gather_ports(&mut self) {
        for id in 0..self.all.len() as Id {
            let target = self.follow(id);
            let ports = self.all.get(id as usize).filter(|_| target != id).map(|identity| identity.ports);
            if let (Some(ports), Some(target)) = (ports, self.all.get_mut(target as usize)) {
                target.ports.join(ports);
            }
        }
    }

    /// Makes the name of a cluster mean its endpoint's host, in that file, for that caller, and everywhere if all agree.
    pub fn add_cluster(&mut self, name: &str, target: Id, file: FileId, caller: Option<Id>) {
        let Some(host) = Host::parse(name) else { return };
        let alias = self.own(&host, None);
        let target = self.follow(target);
        if alias == target {
            return;
        }
        self.clusters.by_file.entry((alias, file)).or_insert(target);
        if let Some(caller) = caller {
            self.clusters.by_caller.entry((alias, caller)).or_insert(target);
        }
        let folder = self.folders.get(file.0 as usize).copied().unwrap_or(NOWHERE);
        for known in [
            self.clusters.by_folder.entry((alias, folder)).or_insert(Some(target)),
            self.clusters.anywhere.entry(alias).or_insert(Some(target)),
        ] {
            *known = known.filter(|known| *known == target);
        }
    }

    /// The service that a host means, seen from namespace `from` and from `place`.
    pub fn resolve(&mut self, host: &Host, from: Option<&str>, place: Place) -> Id {
        let from = from.and_then(|space| self.numbers.get(space).copied());
        let own = self.own(host, from);
        let id = self.follow(own);
        if self.known(id) > Known::Referred || self.clusters.anywhere.is_empty() {
            return id;
        }
        let clusters = &self.clusters;
        let here = place.file.and_then(|file| clusters.by_file.get(&(id, file)));
        let callers = place.caller.and_then(|caller| clusters.by_caller.get(&(id, caller)));
        let folder = || clusters.by_folder.get(&(id, *self.folders.get(place.file?.0 as usize)?)).copied().flatten();
        let anywhere = || clusters.anywhere.get(&id).copied().flatten();
        let target = here.or(callers).copied().or_else(folder).or_else(anywhere);
        target.map_or(id, |target| self.follow(target))
    }

    /// The identity of a Kubernetes object.
    pub fn object(&mut self, name: &Arc<str>, namespace: Option<&Arc<str>>) -> Id {
        let name = self.number(name);
        let space = match namespace {
            Some(namespace) => self.number(namespace),
            None => self.home(name, None),
        };
        self.id(name, space, false)
    }

    /// Through all aliases.
    pub fn follow(&self, id: Id) -> Id {
        let mut id = id;
        // Longer chains than cluster → Service → workload → declared name would go in circles.
        for _ in 0..8 {
            match self.all.get(id as usize).and_then(|identity| identity.alias) {
                Some((_, Some(target))) => id = target,
                _ => break,
            }
        }
        id
    }

    /// The identity of an id.
    pub fn get(&self, id: Id) -> Option<&Identity> {
        self.all.get(id as usize)
    }

    /// How well a service is known.
    pub fn known(&self, id: Id) -> Known {
        self.get(id).map_or(Known::Referred, |identity| identity.known)
    }

    /// All identities with their ids.
    pub fn iter(&self) -> impl Iterator<Item = (Id, &Identity)> {
        self.all.iter().enumerate().map(|(id, identity)| (id as Id, identity))
    }

    /// The identity that a host names by itself, before aliases.
    pub fn own(&mut self, host: &Host, from: Option<u32>) -> Id {
        let (name, space, is_whole) = self.key(host, from);
        self.id(name, space, is_whole)
    }

    fn key(&mut self, host: &Host, from: Option<u32>) -> (u32, u32, bool) {
        match host {
            Host::Name { name, namespace: Some(namespace) } => (self.number(name), self.number(namespace), false),
            Host::Name { name, namespace: None } => {
                let name = self.number(name);
                (name, self.home(name, from), false)
            }
            Host::Dotted(text) => {
                if let Some((name, rest)) = text.split_once('.')
                    && let Some(space) = self.numbers.get(rest).copied()
                    && self.spaces.contains(&space)
                {
                    return (self.number(&name.into()), space, false);
                }
                (self.number(text), NOWHERE, true)
            }
        }
    }

    /// The namespace of a name that comes without one.
    fn home(&self, name: u32, from: Option<u32>) -> u32 {
        match self.homes.get(&name) {
            None => NOWHERE,
            Some(Homes::One(space)) => *space,
            Some(Homes::Many) if self.plain.contains(&name) => NOWHERE,
            Some(Homes::Many) => from.filter(|space| self.pairs.contains(&(name, *space))).unwrap_or(NOWHERE),
        }
    }

    fn id(&mut self, name: u32, space: u32, is_whole: bool) -> Id {
        let next = self.all.len() as Id;
        let id = *self.ids.entry((name, space)).or_insert(next);
        if id == next {
            self.all.push(Identity {
                name: self.text(name).unwrap_or_default(),
                namespace: self.text(space),
                is_whole,
                known: Known::Referred,
                object: None,
                ports: Ports::default(),
                alias: None,
            });
        }
        id
    }

    fn text(&self, number: u32) -> Option<Arc<str>> {
        self.texts.get(number as usize).cloned()
    }

    fn number(&mut self, text: &Arc<str>) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let lower: Arc<str> = if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            text.to_ascii_lowercase().into()
        } else {
            text.clone()
        };
        let next = self.texts.len() as u32;
        let number = *self.numbers.entry(lower.clone()).or_insert(next);
        if number == next {
            self.texts.push(lower);
        }
        number
    }
}

#[cfg(test)]
mod tests;
