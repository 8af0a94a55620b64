//! Whose file is it: from the `paths` of services to the service that a file belongs to (contracts.md D-3).
//!
//! A plain folder is one hash entry and a file asks for its ancestors, deepest first, so that thousands of services with
//! thousands of files cost no more than the depth of the tree. Real globs are grouped by the folder before their first
//! wildcard and asked in the same walk.

use std::collections::HashMap;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::identity::{Id, Identities};
use super::scope::{Scope, declared_host};
use crate::source::FileId;

/// A pattern longer than this is not a path that anybody wrote.
const LONGEST: usize = 1024;

/// Which service owns which paths.
#[derive(Default)]
pub(super) struct Ownership {
    /// Read as relative to the file that declares them, which is how people mean them.
    relative: Claims,
    /// Read as relative to the scanned root: asked only where the first reading finds nothing.
    rooted: Claims,
    known: HashMap<FileId, Option<Id>>,
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
        for service in scope.services().filter(|service| !service.paths.is_empty()) {
            let id = names.own(&declared_host(service), None);
            let id = names.follow(id);
            let declared_in = scope.facts.file(service.span.file).map_or("", |file| &*file.path);
            let folder = declared_in.rsplit_once('/').map_or("", |(folder, _)| folder);
            for path in &service.paths {
                let path = path.trim().trim_start_matches("./").trim_matches('/');
                let path = if path == "." { "" } else { path };
                if path.len() > LONGEST {
                    continue;
                }
                if !folder.is_empty() {
                    let plain = escape(folder);
                    ownership.relative.claim(&format!("{plain}/{path}"), id);
                    ownership.rooted.claim(path, id);
                } else {
                    ownership.relative.claim(path, id);
                }
            }
        }
        ownership.relative.build();
        ownership.rooted.build();
        ownership
    }

    /// The service that a file belongs to, if exactly one covers it best.
    pub fn owner(&mut self, scope: Scope<'_>, file: FileId) -> Option<Id> {
        if let Some(known) = self.known.get(&file) {
            return *known;
        }
        let path = scope.facts.file(file).map(|file| file.path.trim_start_matches("./"));
        let owner = path.and_then(|path| match self.relative.owner(path).or_else(|| self.rooted.owner(path)) {
            Some(Owner::One(id)) => Some(id),
            Some(Owner::Disputed) | None => None,
        });
        self.known.insert(file, owner);
        owner
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
