//! Which workloads stand behind which service: by name, and by the selectors of Kubernetes Services. Where a selector picks
//! exactly one workload, the names of both mean one service (contracts.md D-1, aliases).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::identity::{Id, Identities, Known};
use super::scope::Scope;
use crate::facts::{KubeService, ServiceSource, Workload};

/// A selector whose rarest label is on more workloads than this says nothing about identity.
const BROAD: usize = 256;

/// The workloads behind each service.
#[derive(Debug, Default)]
pub(super) struct Workloads<'f> {
    of: HashMap<Id, Vec<&'f Workload>>,
}

impl<'f> Workloads<'f> {
    /// Joins selectors and workloads, and adds the aliases that follow.
    pub fn gather(scope: Scope<'f>, names: &mut Identities) -> Self {
        let all: Vec<&Workload> = scope.workloads().collect();
        let ids: Vec<Id> = all.iter().map(|load| names.object(&load.name, load.namespace.as_ref())).collect();
        let mut labelled: HashMap<(&Arc<str>, &Arc<str>), Vec<u32>> = HashMap::new();
        for (at, workload) in all.iter().enumerate() {
            for (key, value) in &workload.labels {
                labelled.entry((key, value)).or_default().push(at as u32);
            }
        }

        let mut selected: Vec<(Id, Vec<u32>)> = Vec::new();
        for service in scope.kube_services() {
            let picked = pick(service, &all, &labelled);
            if !picked.is_empty() {
                selected.push((names.object(&service.name, service.namespace.as_ref()), picked));
            }
        }
        add_aliases(names, &ids, &selected);

        let mut of: HashMap<Id, Vec<&Workload>> = HashMap::new();
        let mut seen = HashSet::new();
        let by_name = ids.iter().enumerate().map(|(at, id)| (*id, at as u32));
        let by_selector = selected.iter().flat_map(|(id, picked)| picked.iter().map(|at| (*id, *at)));
        for (id, at) in by_name.chain(by_selector) {
            let id = names.follow(id);
            if let Some(workload) = all.get(at as usize)
                && seen.insert((id, at))
            {
                let behind = of.entry(id).or_default();
                if behind.len() < BROAD {
                    behind.push(workload);
                }
            }
        }
        Workloads { of }
    }

    /// Looks through aliases that were added since.
    pub fn follow(&mut self, names: &Identities) {
        let moved: Vec<Id> = self.of.keys().copied().filter(|id| names.follow(*id) != *id).collect();
        for id in moved {
            let behind = self.of.remove(&id).unwrap_or_default();
            self.of.entry(names.follow(id)).or_default().extend(behind);
        }
    }

    /// The workloads behind a service.
    pub fn of(&self, id: Id) -> &[&'f Workload] {
        self.of.get(&id).map_or(&[], Vec::as_slice)
    }
}

/// The workloads that a selector picks, as indices.
fn pick(service: &KubeService, all: &[&Workload], labelled: &HashMap<(&Arc<str>, &Arc<str>), Vec<u32>>) -> Vec<u32> {
    let lists = service.selector.iter().map(|(key, value)| labelled.get(&(key, value)).map_or(&[][..], Vec::as_slice));
    let Some(rarest) = lists.min_by_key(|list| list.len()).filter(|list| list.len() <= BROAD) else {
        return Vec::new();
    };
    let picks = |workload: &Workload| {
        let same_space = match (&service.namespace, &workload.namespace) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        };
        same_space && service.selector.iter().all(|label| workload.labels.contains(label))
    };
    rarest.iter().copied().filter(|at| all.get(*at as usize).is_some_and(|workload| picks(workload))).collect()
}

fn add_aliases(names: &mut Identities, ids: &[Id], selected: &[(Id, Vec<u32>)]) {
    // For each workload: the Services that pick it alone, and those that pick it among others.
    let mut alone: Vec<Vec<Id>> = vec![Vec::new(); ids.len()];
    let mut among: Vec<Vec<Id>> = vec![Vec::new(); ids.len()];
    for (service, picked) in selected {
        let lists = if picked.len() == 1 { &mut alone } else { &mut among };
        for at in picked {
            if let Some(list) = lists.get_mut(*at as usize)
                && !list.contains(service)
                && list.len() < BROAD
            {
                list.push(*service);
            }
        }
    }
    let services: HashSet<Id> = selected.iter().map(|(service, _)| *service).collect();
    for ((workload, alone), among) in ids.iter().zip(&alone).zip(&among) {
        let group: Vec<Id> = if alone.is_empty() {
            // One version of several: it goes by the name of its Service, unless several claim it.
            match among.as_slice() {
                [service] if !services.contains(workload) => {
                    if names.known(*workload) < Known::Declared {
                        names.add_alias(*workload, *service, ServiceSource::Kubernetes);
                    }
                    continue;
                }
                _ => continue,
            }
        } else {
            std::iter::once(*workload).chain(alone.iter().copied().filter(|id| id != workload)).collect()
        };
        if let Some(main) = main_name(names, *workload, alone, &group) {
            for id in group {
                if id != main && names.known(id) < Known::Declared {
                    names.add_alias(id, main, ServiceSource::Kubernetes);
                }
            }
        }
    }
}

/// Of the names of one workload, the one that it goes by: a declared one; that of the workload if a Service has it too;
/// else the Service's, the shortest of several. None if several are declared and none of them is the workload's.
fn main_name(names: &Identities, workload: Id, services: &[Id], group: &[Id]) -> Option<Id> {
    let declared: Vec<Id> = group.iter().copied().filter(|id| names.known(*id) == Known::Declared).collect();
    match declared.as_slice() {
        [] if services.contains(&workload) => Some(workload),
        [] => services.iter().copied().min_by_key(|id| {
            let name = names.get(*id).map(|identity| identity.name.clone()).unwrap_or_default();
            (name.len(), name)
        }),
        [one] => Some(*one),
        _ => declared.contains(&workload).then_some(workload),
    }
}
