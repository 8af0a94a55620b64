//! Packages and their versions: `cargo:backon@>=1.0,<2`.

use std::sync::Arc;

use crate::read::code::packages::Version;

/// Kinds of packages, by the registry that names them.
pub const KINDS: &[&str] = &["cargo", "nuget", "pypi", "npm", "maven", "golang"];

/// A package that an entry is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageRef {
    /// The registry: one of [`KINDS`].
    pub kind: Arc<str>,
    /// Its name there; `aws-sdk-*` for all that begin so.
    pub name: Arc<str>,
    /// Which versions of it.
    pub versions: Versions,
}

/// A range of versions; empty takes all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Versions(Vec<(Bound, Version)>);

/// One comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    AtLeast,
    Above,
    AtMost,
    Below,
    Exactly,
}

impl Versions {
    /// From `>=1.0,<2`; none if it is no such list.
    pub fn parse(text: &str) -> Option<Versions> {
        let mut all = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (bound, rest) = [
                (">=", Bound::AtLeast),
                ("<=", Bound::AtMost),
                (">", Bound::Above),
                ("<", Bound::Below),
                ("=", Bound::Exactly),
            ]
            .into_iter()
            .find_map(|(sign, bound)| Some((bound, part.strip_prefix(sign)?)))?;
            all.push((bound, version(rest.trim())?));
        }
        Some(Versions(all))
    }

    /// A version in it that is as new as any: the least that it allows in its newest line.
    #[cfg(test)]
    pub fn newest(&self) -> Option<Version> {
        let (_, (major, minor, patch)) = self.0.iter().find(|(bound, _)| *bound == Bound::Below)?;
        Some(match (major, minor, patch) {
            (0, 0, patch) => (0, 0, patch.saturating_sub(1)),
            (0, minor, _) => (0, minor.saturating_sub(1), 999),
            (major, ..) => (major.saturating_sub(1), 999, 0),
        })
    }

    /// Whether a version lies in it.
    pub fn contain(&self, version: Version) -> bool {
        self.0.iter().all(|(bound, than)| match bound {
            Bound::AtLeast => version >= *than,
            Bound::Above => version > *than,
            Bound::AtMost => version <= *than,
            Bound::Below => version < *than,
            Bound::Exactly => version == *than,
        })
    }
}

/// A version of up to three numbers; what is missing is zero.
pub fn version(text: &str) -> Option<Version> {
    let mut parts = text.split('.').map(|part| part.parse::<u64>().ok());
    let version = (parts.next()??, parts.next().unwrap_or(Some(0))?, parts.next().unwrap_or(Some(0))?);
    parts.next().is_none().then_some(version)
}

impl PackageRef {
    /// Whether a package of this name is meant.
    pub fn is(&self, name: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(family) => name.starts_with(family),
            None => *self.name == *name,
        }
    }

    /// From `kind:name@versions`; the versions may be missing.
    pub fn parse(text: &str) -> Option<PackageRef> {
        let (kind, rest) = text.split_once(':')?;
        // Names of npm may begin with an `@`.
        let at = rest.rfind('@').filter(|at| *at > 0);
        let (name, versions) = match at {
            Some(at) => (rest.get(..at)?, Versions::parse(rest.get(at + 1..)?)?),
            None => (rest, Versions::default()),
        };
        let is_known = KINDS.contains(&kind) && !name.is_empty();
        is_known.then(|| PackageRef { kind: kind.into(), name: name.into(), versions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_what_they_say() {
        for (text, inside, outside) in [
            (">=1.0,<2", vec![(1, 0, 0), (1, 9, 9)], vec![(0, 9, 9), (2, 0, 0)]),
            ("<1.4", vec![(1, 3, 9)], vec![(1, 4, 0)]),
            (">1.2.3, <=1.3", vec![(1, 2, 4), (1, 3, 0)], vec![(1, 2, 3), (1, 3, 1)]),
            ("=2.0.1", vec![(2, 0, 1)], vec![(2, 0, 2)]),
        ] {
            let versions = Versions::parse(text).unwrap();
            assert!(inside.into_iter().all(|version| versions.contain(version)), "{text}");
            assert!(!outside.into_iter().any(|version| versions.contain(version)), "{text}");
        }
        for text in ["", "1.0", ">=1.x", ">=1.2.3.4", ">=1.0,", "~1"] {
            assert_eq!(Versions::parse(text), None, "{text}");
        }
    }

    #[test]
    fn packages_name_their_registry() {
        let package = PackageRef::parse("npm:@acme/retry@>=1").unwrap();
        assert_eq!((&*package.kind, &*package.name), ("npm", "@acme/retry"));
        assert_eq!(&*PackageRef::parse("cargo:backon").unwrap().name, "backon");
        let family = PackageRef::parse("cargo:aws-sdk-*@>=1").unwrap();
        assert!(family.is("aws-sdk-s3") && !family.is("aws-config"));
        assert!(package.is("@acme/retry") && !package.is("@acme/retry-more"));
        for text in ["backon", "crates:backon", "cargo:", "cargo:backon@1"] {
            assert_eq!(PackageRef::parse(text), None, "{text}");
        }
    }
}
