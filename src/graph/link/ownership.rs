//! Whose file is it: from the `paths` of services to the service that a file belongs to (contracts.md D-3).
//!
//! A plain folder is one hash entry and a file asks for its ancestors, deepest first, so that thousands of services with
//! thousands of files cost no more than the depth of the tree. Real globs are grouped by the folder before their first
//! wildcard and asked in the same walk.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::identity::{Id, Identities};
use super::scope::{Scope, declared_host};
use crate::facts::{File, Service, ServiceSource, Workload};
use crate::source::FileId;

/// A pattern longer than this is not a path that anybody wrote.
const LONGEST: usize = 1024;

/// Which service owns which paths.
#[derive(Default)]
pub(super) struct Ownership {
    /// By who tells of the files: a path of one repository says nothing of another's.
    of: HashMap<Option<Arc<str>>, Repository>,
    known: HashMap<FileId, Option<Id>>,
}

/// The paths of one repository.
#[derive(Default)]
struct Repository {
    /// Read as relative to the file that declares them, which is how people mean them.
    relative: Claims,
    /// Read as relative to the scanned root: asked only where the first reading finds nothing.
    rooted: Claims,
    /// The folders of packages: asked last, since whoever writes `paths` knows better.
    packages: Claims,
}

#[derive(Default)]
struct Claims {
    folders: HashMap<String, Owner>,
    globs: HashMap<String, Globs>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    One(Id),
    /// Two services claim the same path: nobody knows.
    Disputed,
}

#[derive(Default)]
struct Globs {
    /// Pattern and owner, until `set` is built of them.
    patterns: Vec<(String, Id)>,
    set: Option<GlobSet>,
}

impl Ownership {
    /// Reads the paths of all declared services.
    pub fn gather(scope: Scope<'_>, names: &mut Identities) -> Self {
        let mut ownership = Ownership::default();
        let (packages, services): (Vec<&Service>, Vec<&Service>) = scope
            .services()
            .filter(|service| !service.paths.is_empty())
            .partition(|service| service.source == ServiceSource::Package);
        for service in services {
            let id = names.own(&declared_host(service), None);
            let id = names.follow(id);
            let declared_in = scope.facts.file(service.span.file).map_or("", File::own_path);
            let repository = ownership.repository(scope, service);
            let folder = declared_in.rsplit_once('/').map_or("", |(folder, _)| folder);
            for path in &service.paths {
                let path = path.trim().trim_start_matches("./").trim_matches('/');
                let path = if path == "." { "" } else { path };
                if path.len() > LONGEST {
                    continue;
                }
                if !folder.is_empty() {
                    let plain = escape(folder);
                    repository.relative.claim(&format!("{plain}/{path}"), id);
                    repository.rooted.claim(path, id);
                } else {
                    repository.relative.claim(path, id);
                }
            }
        }
        for repository in ownership.of.values_mut() {
            repository.relative.build();
            repository.rooted.build();
        }
        ownership.gather_packages(scope, packages, names);
        ownership
    }

    /// The repository that a service is declared in.
    fn repository(&mut self, scope: Scope<'_>, service: &Service) -> &mut Repository {
        let file = scope.facts.file(service.span.file);
        self.of.entry(file.and_then(|file| file.told_by.clone())).or_default()
    }

    /// Packages own their folders, by the name of whoever claims the same folder (contracts.md D-3).
    fn gather_packages(&mut self, scope: Scope<'_>, packages: Vec<&Service>, names: &mut Identities) {
        let images = Images::gather(scope);
        let others = scope.services().filter(|service| service.source > ServiceSource::Kubernetes);
        let declared: HashSet<Id> = others.map(|service| names.own(&declared_host(service), None)).collect();
        for package in packages {
            let own = names.own(&declared_host(package), None);
            let repository = self.repository(scope, package);
            let claimed = package.paths.iter().find_map(|path| {
                let folder = path.strip_suffix("/**").unwrap_or(path);
                repository.relative.folders.get(folder).or_else(|| repository.rooted.folders.get(folder))
            });
            let other = match claimed {
                Some(Owner::One(id)) => Some(*id),
                Some(Owner::Disputed) => None,
                None if names.get(own).is_some_and(|identity| identity.object.is_some()) => None,
                None => images.workload(&package.name).map(|load| names.object(&load.name, load.namespace.as_ref())),
            };
            if let Some(other) = other.filter(|_| !declared.contains(&own)) {
                names.add_alias(own, other, ServiceSource::Package);
            }
            let id = names.follow(own);
            package.paths.iter().for_each(|path| repository.packages.claim(path, id));
        }
        self.of.values_mut().for_each(|repository| repository.packages.build());
    }

    /// The service that a file belongs to, if exactly one covers it best.
    pub fn owner(&mut self, scope: Scope<'_>, file: FileId) -> Option<Id> {
        if let Some(known) = self.known.get(&file) {
            return *known;
        }
        let about = scope.facts.file(file);
        let owner = about.and_then(|file| {
            let Repository { relative, rooted, packages } = self.of.get(&file.told_by)?;
            let path = file.own_path().trim_start_matches("./");
            match [relative, rooted, packages].into_iter().find_map(|claims| claims.owner(path))? {
                Owner::One(id) => Some(id),
                Owner::Disputed => None,
            }
        });
        self.known.insert(file, owner);
        owner
    }
}

/// Workloads by what their containers run.
struct Images<'f>(HashMap<&'f str, Option<&'f Workload>>);

impl<'f> Images<'f> {
    fn gather(scope: Scope<'f>) -> Self {
        let mut images: HashMap<&str, Option<&Workload>> = HashMap::new();
        for workload in scope.workloads() {
            for image in &workload.images {
                let name = image.rsplit('/').next().unwrap_or(image);
                let slot = images.entry(name).or_insert(Some(workload));
                *slot = slot.filter(|known| (&known.name, &known.namespace) == (&workload.name, &workload.namespace));
            }
        }
        Images(images)
    }

    /// The one workload that runs an image of this name.
    fn workload(&self, package: &str) -> Option<&'f Workload> {
        self.0.get(package).copied().flatten()
    }
}

impl Claims {
    fn claim(&mut self, pattern: &str, id: Id) {
        let pattern = pattern.trim_end_matches('/');
        let plain = pattern.strip_suffix("/**").or_else(|| pattern.strip_suffix("/**/*")).unwrap_or(pattern);
        let plain = if plain == "**" { "" } else { plain };
        match plain.find(['*', '?', '[', '{', '\\']) {
            None => {
                let owner = self.folders.entry(plain.to_string()).or_insert(Owner::One(id));
                if *owner != Owner::One(id) {
                    *owner = Owner::Disputed;
                }
            }
            Some(at) => {
                let before = plain.get(..at).unwrap_or_default();
                let folder = before.rsplit_once('/').map_or("", |(folder, _)| folder);
                let globs = self.globs.entry(folder.to_string()).or_default();
                globs.patterns.push((plain.to_string(), id));
            }
        }
    }

    fn build(&mut self) {
        for globs in self.globs.values_mut() {
            let mut set = GlobSetBuilder::new();
            // Two matchers for each pattern: the thing itself, and everything below it.
            globs.patterns.retain(|(pattern, _)| {
                let glob = |text: &str| GlobBuilder::new(text).literal_separator(true).build();
                match (glob(pattern), glob(&format!("{pattern}/**"))) {
                    (Ok(itself), Ok(below)) => {
                        set.add(itself).add(below);
                        true
                    }
                    _ => false,
                }
            });
            globs.set = set.build().ok();
        }
    }

    /// The best claim on a path: the deepest folder that claims it, a glob that starts there before the folder itself.
    fn owner(&self, path: &str) -> Option<Owner> {
        let mut ancestor = path;
        loop {
            let matched = self.globs.get(ancestor).and_then(|globs| globs.owner(path));
            if let Some(owner) = matched.or_else(|| self.folders.get(ancestor).copied()) {
                return Some(owner);
            }
            if ancestor.is_empty() {
                return None;
            }
            ancestor = ancestor.rsplit_once('/').map_or("", |(folder, _)| folder);
        }
    }
}

impl Globs {
    /// The owner of the longest pattern that matches.
    fn owner(&self, path: &str) -> Option<Owner> {
        let mut best: Option<(usize, Owner)> = None;
        for at in self.set.as_ref()?.matches(path) {
            let (pattern, id) = self.patterns.get(at / 2)?;
            best = Some(match best {
                Some((length, owner)) if length > pattern.len() => (length, owner),
                Some((length, owner)) if length == pattern.len() && owner != Owner::One(*id) => {
                    (length, Owner::Disputed)
                }
                _ => (pattern.len(), Owner::One(*id)),
            });
        }
        best.map(|(_, owner)| owner)
    }
}

/// A folder's name as a pattern that matches it alone. A folder with wildcards in its name is rare enough to be left out
/// of the literal lookup.
fn escape(folder: &str) -> String {
    globset::escape(folder)
}

#[cfg(test)]
mod package_tests;

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(claimed: &[(&str, Id)]) -> Claims {
        let mut claims = Claims::default();
        claimed.iter().for_each(|(pattern, id)| claims.claim(pattern, *id));
        claims.build();
        claims
    }

    fn owner(claims: &Claims, path: &str) -> Option<Id> {
        match claims.owner(path) {
            Some(Owner::One(id)) => Some(id),
            _ => None,
        }
    }

    #[test]
    fn a_bare_folder_covers_everything_below_and_nothing_beside() {
        let claims = claims(&[("services/web", 1), ("services/web/admin/**", 2)]);
        assert_eq!(owner(&claims, "services/web/deploy/envoy.yaml"), Some(1));
        assert_eq!(owner(&claims, "services/web/admin/envoy.yaml"), Some(2));
        assert_eq!(owner(&claims, "services/website/envoy.yaml"), None);
        assert_eq!(owner(&claims, "envoy.yaml"), None);
    }

    #[test]
    fn a_real_glob_is_one() {
        let claims = claims(&[("services/pay*", 1), ("**/ledger/**", 2), ("services/*/shared/*.yaml", 3)]);
        assert_eq!(owner(&claims, "services/payments/src/a.yaml"), Some(1));
        assert_eq!(owner(&claims, "a/b/ledger/c/d.yaml"), Some(2));
        assert_eq!(owner(&claims, "services/cart/shared/a.yaml"), Some(3));
        assert_eq!(owner(&claims, "services/cart/shared/deep/a.yaml"), None);
    }

    #[test]
    fn a_path_that_two_services_claim_belongs_to_neither() {
        let claims =
            claims(&[("services/web", 1), ("services/web/", 2), ("services/cart", 3), ("services/cart/**", 3)]);
        assert_eq!(owner(&claims, "services/web/a.yaml"), None);
        assert_eq!(owner(&claims, "services/cart/a.yaml"), Some(3));
    }

    #[test]
    fn a_pattern_that_does_not_parse_claims_nothing() {
        let claims = claims(&[("services/[", 1), ("services/{a", 2)]);
        assert_eq!(owner(&claims, "services/["), None);
    }
}
