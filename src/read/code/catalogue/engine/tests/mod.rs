mod identity;
mod languages;
mod policies;
mod rust;
mod statements;
mod tree;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::sites;
use crate::facts::{Attempts, Nanos, Policy};
use crate::read::code::catalogue::format::{self, Library};
use crate::read::code::catalogue::index::Catalogue;
use crate::read::code::packages::{Dependency, From, Package, PackageId, Packages, Version};
use crate::read::code::project::Project;
use crate::read::code::site::Site;
use crate::read::code::tree::Unit;
use tree::*;

/// A library of these shapes: `acme` 1.5.0.
fn library(shapes: &str) -> Library {
    let header = "schema = 1\nname = 'acme'\nlanguage = 'any'\npackages = ['cargo:acme-retry@>=1,<3']\n\
                  roots = ['acme']\naliases = { 'other::acme' = 'acme' }\nsource = 'its documentation'\n";
    format::parse(&format!("{header}{shapes}"), None).unwrap_or_else(|faults| panic!("{faults:#?}"))
}

/// A dependency as its manifest and lock file have it.
fn dependency(package: &str, from: From, version: Version, locked: bool) -> Dependency {
    Dependency { package: package.into(), from, version: Some(version), locked }
}

/// One package that depends on these, by the names that code has for them.
fn package(dependencies: &[(&str, Dependency)]) -> Packages {
    let dependencies: BTreeMap<Arc<str>, Dependency> =
        dependencies.iter().map(|(name, dependency)| ((*name).into(), dependency.clone())).collect();
    Packages::new(vec![Package {
        name: "shop".into(),
        dir: "".into(),
        has_binary: true,
        library: None,
        library_name: "shop".into(),
        programs: Vec::new(),
        dependencies,
    }])
}

const HERE: Option<PackageId> = Some(PackageId(0));

/// A package that depends on `acme` 1.5.0.
fn with_acme() -> Packages {
    package(&[("acme", dependency("acme-retry", From::Outside, (1, 5, 0), true))])
}

/// The sites of a unit.
fn find(library: Library, packages: Packages, unit: &Arc<Unit>) -> Vec<Site> {
    let project = Project::new(packages).looking_for(Arc::new(Catalogue::of(vec![Arc::new(library)])));
    sites(&project, &project.catalogue, unit)
}

/// The sites of a function of these statements, with everything imported that is used.
fn in_function(library: &Library, statements: Vec<N>) -> Vec<Site> {
    let unit = unit(HERE, &["acme.Retryable"], vec![function("f", &[], Vec::new(), block(statements))]);
    find(library.clone(), with_acme(), &unit)
}

/// The only policy of a function of these statements.
fn only(library: &Library, statements: Vec<N>) -> Policy {
    let [site] = in_function(library, statements).try_into().unwrap_or_else(|sites| panic!("{sites:#?}"));
    site.policy
}

/// Tries, nominal delays in milliseconds, kind of jitter.
fn brief(policy: &Policy) -> (String, Vec<u64>, &'static str) {
    let attempts = match policy.attempts.known() {
        Some(Attempts::Times(n)) => n.to_string(),
        Some(Attempts::Unbounded) => "unbounded".into(),
        Some(Attempts::ByTime) => "by-time".into(),
        None => format!("unknown: {}", policy.attempts.why().map(ToString::to_string).unwrap_or_default()),
    };
    let delays = (1..=3).map_while(|i| policy.backoff.nominal(i)).map(|delay: Nanos| delay.0 / 1_000_000).collect();
    (attempts, delays, policy.jitter.known().map_or("unknown", |jitter| jitter.kind()))
}
