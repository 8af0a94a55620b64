//! Names that only retrylint.toml or a comment to retrylint says: they are often misspelt, and then what is stated is about
//! a service that is not there.

use std::collections::BTreeSet;

use super::inference::likenesses;
use crate::facts::{CallSource, Callee, Facts, Host, Service, ServiceRef, ServiceSource};
use crate::suggest::did_you_mean;

/// All that names services. Whatever the linker might take for one of them names it.
struct Names {
    /// As they are written, in lower case.
    written: BTreeSet<String>,
    /// What names that are merely alike are compared by.
    alike: BTreeSet<String>,
}

/// Those of some services of retrylint.toml that nothing else names, each with the name that was probably meant.
pub(crate) fn unnamed<'f>(facts: &Facts, mut stated: Vec<&'f Service>) -> Vec<(&'f Service, Option<String>)> {
    if stated.is_empty() {
        return Vec::new();
    }
    let is_other = |service: &Service| service.source != ServiceSource::Settings;
    let names = Names::gather(facts, references(facts).map(|(service, _)| service), is_other);
    stated.retain(|service| {
        !names.hold(&service.name) && !service.aliases.iter().any(|alias| names.hold(&alias.display()))
    });
    let meant = |name: &str| did_you_mean(name, names.written()).map(str::to_string);
    stated.into_iter().map(|service| (service, meant(&service.name))).collect()
}

/// References by which somebody tells us of a service that nothing else names and that is called much like a known one, each
/// with that one's name; once for each name. `is_comment` knows those in comments; the calls of retrylint.toml are the others.
pub(crate) fn misspelt(facts: &Facts, is_comment: impl Fn(&ServiceRef) -> bool) -> Vec<(&ServiceRef, String)> {
    let is_stated = |(service, source): &(&ServiceRef, Option<CallSource>)| {
        *source == Some(CallSource::Settings) || is_comment(service)
    };
    let (mut stated, others): (Vec<_>, Vec<_>) = references(facts).partition(is_stated);
    if stated.is_empty() {
        return Vec::new();
    }
    let names = Names::gather(facts, others.into_iter().map(|(service, _)| service), |_| true);
    let mut seen = BTreeSet::new();
    stated.retain(|(service, _)| !names.hold(&service.host.display()) && seen.insert(&service.host));
    let with_meant = |(service, _): (&'_ ServiceRef, _)| {
        let name = service.host.display();
        did_you_mean(&name, names.written()).filter(|meant| is_slip(&name, meant)).map(str::to_string)
    };
    stated.into_iter().filter_map(|one| Some((one.0, with_meant(one)?))).collect()
}

/// Whether one name may be a slip for another: `orders-v2`, `shard-2` and `ledger-db` are names of their own.
fn is_slip(name: &str, other: &str) -> bool {
    let letters = |text: &str| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    let parts = |text: &str| text.split(['-', '_', '.']).count();
    parts(name) == parts(other) && letters(name) != letters(other)
}

/// Callers and callees of calls and policies, those of calls with what tells of them.
fn references(facts: &Facts) -> impl Iterator<Item = (&ServiceRef, Option<CallSource>)> {
    let calls = facts.calls.iter().map(|call| (&call.caller, &call.callee, Some(call.source)));
    let policies = facts.policies.iter().map(|policy| (&policy.caller, &policy.callee, None));
    calls.chain(policies).flat_map(|(caller, callee, source)| {
        let callees = match callee {
            Callee::Service { service, hosts } => std::iter::once(service).chain(hosts).collect(),
            Callee::Named(_) | Callee::Unknown(_) => Vec::new(),
        };
        caller.service().into_iter().chain(callees).map(move |service| (service, source))
    })
}

impl Names {
    /// Those that `references` mean, that anything but code and routes declares, and that `counts` of the declared services.
    fn gather<'f>(
        facts: &'f Facts,
        references: impl Iterator<Item = &'f ServiceRef>,
        counts: impl Fn(&Service) -> bool,
    ) -> Names {
        let mut written: BTreeSet<String> = BTreeSet::new();
        let variables = facts.workloads.iter().flat_map(|workload| workload.variables.iter().map(|(_, host)| host));
        let upstreams = facts.upstreams.iter().map(|upstream| &upstream.callee);
        for reference in references.chain(variables).chain(upstreams) {
            // `ledger.bank` names `ledger`, whether or not there is a namespace `bank`.
            let shown = reference.host.display();
            written.extend(shown.split_once('.').map(|(name, _)| name.to_string()));
            written.insert(shown);
        }
        for service in facts.services.iter().filter(|service| counts(service)) {
            written.insert(service.name.to_string());
            written.extend(service.aliases.iter().map(Host::display));
        }
        written.extend(facts.upstreams.iter().flat_map(|upstream| &upstream.names).map(ToString::to_string));
        written.extend(facts.workloads.iter().map(|workload| workload.name.to_string()));
        written.extend(facts.kube_services.iter().map(|service| service.name.to_string()));
        let callees =
            facts.calls.iter().map(|call| &call.callee).chain(facts.policies.iter().map(|policy| &policy.callee));
        let alike = callees.flat_map(|callee| match callee {
            Callee::Named(names) => names.iter().flat_map(|name| likenesses(name)).collect(),
            Callee::Service { .. } | Callee::Unknown(_) => Vec::new(),
        });
        Names { alike: alike.collect(), written }
    }

    fn hold(&self, name: &str) -> bool {
        self.written.contains(&name.to_ascii_lowercase()) || likenesses(name).iter().any(|one| self.alike.contains(one))
    }

    fn written(&self) -> impl Iterator<Item = &str> {
        self.written.iter().map(String::as_str)
    }
}
