//! Who uses the routes of which object (contracts.md D-3): VirtualServices that others delegate to, route configurations
//! that a proxy takes by name.

use std::collections::HashMap;
use std::sync::Arc;

use super::Linker;
use super::policies::Standing;
use super::scope::{Folder, Scope};
use crate::facts::{Caller, Dialect, Host, ObjectName, Policy, RouteUse};

/// More kinds of callers than this are not told apart for one object.
const MOST: usize = 32;

/// Uses of routes, by the object that holds them.
#[derive(Default)]
pub(super) struct Uses<'f> {
    /// Of objects whose name means the same everywhere: all of them count.
    all: HashMap<&'f ObjectName, Vec<(usize, &'f RouteUse)>>,
    own: OwnNames<'f>,
}

/// Names that each proxy has for itself, so that two proxies may use one name for different routes.
#[derive(Default)]
struct OwnNames<'f> {
    /// The proxy that uses a name in a folder; none if there are several.
    in_folder: HashMap<(&'f ObjectName, Folder<'f>), Option<usize>>,
    /// The proxy that uses a name at all.
    anywhere: HashMap<&'f ObjectName, Option<usize>>,
    /// The folder that holds the routes of a name.
    homes: HashMap<&'f ObjectName, Option<Folder<'f>>>,
}

impl<'f> Uses<'f> {
    /// Those of one environment.
    pub fn gather(scope: Scope<'f>) -> Self {
        let mut uses = Uses::default();
        for (index, one) in scope.route_uses() {
            if has_own_names(&one.of) {
                let is_same = |other: &usize| scope.facts.route_uses.get(*other).is_some_and(|other| alike(other, one));
                let folder = scope.folder(one.span.file);
                for known in [
                    uses.own.in_folder.entry((&one.of, folder)).or_insert(Some(index)),
                    uses.own.anywhere.entry(&one.of).or_insert(Some(index)),
                ] {
                    *known = known.filter(is_same);
                }
                continue;
            }
            let known = uses.all.entry(&one.of).or_default();
            // Several routes of one object may lead to another.
            if known.len() < MOST && !known.iter().any(|(_, known)| alike(known, one)) {
                known.push((index, one));
            }
        }
        let of_proxies = |(_, policy): (_, &'f Policy)| Some((policy.part_of.as_ref()?, policy.span.file));
        for (object, file) in scope.policies().filter_map(of_proxies).filter(|(object, _)| has_own_names(object)) {
            let folder = scope.folder(file);
            let home = uses.own.homes.entry(object).or_insert(Some(folder));
            *home = home.filter(|home| *home == folder);
        }
        uses
    }

    /// The uses of the object that a policy belongs to.
    pub fn of(&self, linker: &mut Linker<'f>, policy: &Policy) -> Vec<(usize, &'f RouteUse)> {
        let Some(object) = &policy.part_of else { return Vec::new() };
        if !has_own_names(object) {
            return self.all.get(object).cloned().unwrap_or_default();
        }
        let index = self.own.of(linker, object, policy);
        index.and_then(|index| Some((index, linker.scope.facts.route_uses.get(index)?))).into_iter().collect()
    }
}

impl OwnNames<'_> {
    /// The one proxy that uses a policy's routes: that of its folder, else the only one, if no other folder has routes of
    /// that name and the file is not itself part of a service.
    fn of(&self, linker: &mut Linker<'_>, object: &ObjectName, policy: &Policy) -> Option<usize> {
        let file = policy.span.file;
        if let Some(known) = self.in_folder.get(&(object, linker.scope.folder(file))) {
            return *known;
        }
        self.homes.get(object).copied().flatten()?;
        let index = self.anywhere.get(object).copied().flatten()?;
        linker.caller(&policy.caller, file).is_none().then_some(index)
    }
}

/// Whether names of such objects are each proxy's own. Those of a control plane's objects are not.
fn has_own_names(object: &ObjectName) -> bool {
    object.dialect == Dialect::Envoy
}

/// Whether the same callers use the same routes in the same way.
fn alike(one: &RouteUse, other: &RouteUse) -> bool {
    let are_same = match (&one.caller, &other.caller) {
        (Caller::Service(one), Caller::Service(other)) => {
            (&one.host, &one.from_namespace) == (&other.host, &other.from_namespace)
        }
        (Caller::ByPath, Caller::ByPath)
        | (Caller::Beside, Caller::Beside)
        | (Caller::Unknown(_), Caller::Unknown(_)) => one.span.file == other.span.file,
        (one, other) => one == other,
    };
    are_same && one.position == other.position && names(one).eq(names(other))
}

/// By what callers reach the object itself, wherever that is written.
fn names(one: &RouteUse) -> impl Iterator<Item = &Host> {
    one.whole.iter().flatten().map(|service| &service.host)
}

impl Linker<'_> {
    /// Routes in an object that a proxy with a name uses exclude one another like those in its own file: the group of the
    /// calls that its own routes make.
    pub(super) fn routes_of(&self, policy: &Policy, standing: &Standing) -> Option<Arc<str>> {
        let used = self.scope.facts.route_uses.get(standing.used?)?;
        let Caller::Service(proxy) = &used.caller else { return None };
        Some(match used.of.dialect {
            // Of a virtual host.
            Dialect::Envoy => {
                let list = policy.route.as_ref()?.list;
                format!("{}:{}", self.scope.facts.file(list.file)?.path, list.start).into()
            }
            // Of the whole gateway.
            _ => format!("routes of {}", proxy.host.display()).into(),
        })
    }
}

#[cfg(test)]
mod tests;
