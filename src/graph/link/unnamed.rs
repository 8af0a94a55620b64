//! Services of retrylint.toml that nothing else names: what is stated of them changes nothing, and their names are often
//! misspelt.

use std::collections::BTreeSet;

use super::inference::likenesses;
use crate::facts::{Callee, Facts, Host, Service, ServiceRef, ServiceSource};
use crate::suggest::did_you_mean;

/// Those of some services of retrylint.toml that nothing else names, each with the name that was probably meant. Whatever
/// the linker might take for one of them names it.
pub(crate) fn unnamed<'f>(facts: &Facts, mut stated: Vec<&'f Service>) -> Vec<(&'f Service, Option<String>)> {
    if stated.is_empty() {
        return Vec::new();
    }
    let callees =
        || facts.calls.iter().map(|call| &call.callee).chain(facts.policies.iter().map(|policy| &policy.callee));
    let asked_for = callees().flat_map(|callee| match callee {
        Callee::Service { service, hosts } => std::iter::once(service).chain(hosts).collect(),
        Callee::Named(_) | Callee::Unknown(_) => Vec::new(),
    });
    let callers = (facts.calls.iter().map(|call| &call.caller))
        .chain(facts.policies.iter().map(|policy| &policy.caller))
        .filter_map(|caller| caller.service());
    let variables = facts.workloads.iter().flat_map(|workload| workload.variables.iter().map(|(_, host)| host));
    let upstreams = facts.upstreams.iter().map(|upstream| &upstream.callee);
    let mut names: BTreeSet<String> = BTreeSet::new();
    let mut refer = |reference: &ServiceRef| {
        // `ledger.bank` names `ledger`, whether or not there is a namespace `bank`.
        let shown = reference.host.display();
        names.extend(shown.split_once('.').map(|(name, _)| name.to_string()));
        names.insert(shown);
    };
    asked_for.chain(callers).chain(variables).chain(upstreams).for_each(&mut refer);
    let declared = facts.services.iter().filter(|service| service.source != ServiceSource::Settings);
    for service in declared {
        names.insert(service.name.to_string());
        names.extend(service.aliases.iter().map(Host::display));
    }
    names.extend(facts.upstreams.iter().flat_map(|upstream| &upstream.names).map(ToString::to_string));
    names.extend(facts.workloads.iter().map(|workload| workload.name.to_string()));
    names.extend(facts.kube_services.iter().map(|service| service.name.to_string()));
    let alike: BTreeSet<String> = callees()
        .flat_map(|callee| match callee {
            Callee::Named(names) => names.iter().flat_map(|name| likenesses(name)).collect(),
            Callee::Service { .. } | Callee::Unknown(_) => Vec::new(),
        })
        .collect();
    stated.retain(|service| {
        let known = |name: &str| {
            names.contains(&name.to_ascii_lowercase()) || likenesses(name).iter().any(|one| alike.contains(one))
        };
        !known(&service.name) && !service.aliases.iter().any(|alias| known(&alias.display()))
    });
    let meant = |name: &str| did_you_mean(name, names.iter().map(String::as_str)).map(str::to_string);
    stated.into_iter().map(|service| (service, meant(&service.name))).collect()
}
