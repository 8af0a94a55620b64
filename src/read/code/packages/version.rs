//! Versions and what requirements say about them, as far as it takes to tell which one is in use.

/// A version: major, minor, patch.
pub type Version = (u64, u64, u64);

/// A version as written; what stands behind `-` and `+` is left out.
pub fn parse(text: &str) -> Option<Version> {
    let (version, given) = partial(text)?;
    (given == 3).then_some(version)
}

/// The parts of a version that are given, and how many they are: `1.2` is two, `1.*` one.
fn partial(text: &str) -> Option<(Version, usize)> {
    let text = text.trim().split(['-', '+']).next()?;
    let mut parts = [0; 3];
    let mut given = 0;
    for (slot, part) in parts.iter_mut().zip(text.split('.')) {
        if matches!(part, "*" | "x" | "X") {
            break;
        }
        *slot = part.parse().ok()?;
        given += 1;
    }
    let [major, minor, patch] = parts;
    Some(((major, minor, patch), given))
}

/// One part of a requirement: `>=1.0`, `^1`, `1.2`.
fn comparators(requirement: &str) -> impl Iterator<Item = (&str, &str)> {
    requirement.split(',').map(|part| {
        let part = part.trim();
        let version = part.trim_start_matches(['^', '~', '=', '>', '<']);
        (part.strip_suffix(version).unwrap_or_default(), version)
    })
}

/// The least version that a requirement allows; none if it names no lower end.
pub fn least(requirement: &str) -> Option<Version> {
    let ends = comparators(requirement).filter(|(operator, _)| !operator.starts_with('<'));
    ends.filter_map(|(_, version)| partial(version)).filter(|(_, given)| *given > 0).map(|(version, _)| version).max()
}

/// Whether a requirement allows a version. What is not understood allows everything.
pub fn allows(requirement: &str, version: Version) -> bool {
    comparators(requirement).all(|(operator, written)| {
        let Some((wanted, given)) = partial(written) else { return true };
        let (major, minor, patch) = wanted;
        // One past the greatest that agrees in the first so many parts.
        let above = |parts: usize| match parts {
            0 => (u64::MAX, u64::MAX, u64::MAX),
            1 => (major.saturating_add(1), 0, 0),
            2 => (major, minor.saturating_add(1), 0),
            _ => (major, minor, patch.saturating_add(1)),
        };
        match operator {
            "=" => wanted <= version && version < above(given),
            ">=" => version >= wanted,
            ">" => version >= above(given),
            "<" => version < wanted,
            "<=" => version < above(given),
            "~" => wanted <= version && version < above(given.min(2)),
            _ => {
                // Up to the first part that is not zero.
                let significant = [major, minor, patch].iter().take(given).position(|part| *part > 0);
                wanted <= version && version < above(significant.map_or(given, |at| at + 1))
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_understood_as_cargo_has_them() {
        for (requirement, yes, no) in [
            ("1", "1.9.4", "2.0.0"),
            ("1.2", "1.3.0", "1.1.9"),
            ("0.3", "0.3.9", "0.4.0"),
            ("0.0.3", "0.0.3", "0.0.4"),
            ("^0.5.1", "0.5.2", "0.5.0"),
            ("~1.2.3", "1.2.9", "1.3.0"),
            ("~1", "1.9.0", "2.0.0"),
            ("=1.2.3", "1.2.3", "1.2.4"),
            ("=1.2", "1.2.7", "1.3.0"),
            (">=1.0, <2", "1.5.0", "2.0.0"),
            (">1.0", "1.1.0", "1.0.5"),
            ("<=1.2", "1.2.9", "1.3.0"),
            ("1.*", "1.7.0", "2.0.0"),
        ] {
            assert!(allows(requirement, parse(yes).unwrap()), "{requirement} {yes}");
            assert!(!allows(requirement, parse(no).unwrap()), "{requirement} {no}");
        }
        assert!(allows("*", (9, 9, 9)) && allows("whatever", (1, 0, 0)));
    }

    #[test]
    fn the_least_version_is_the_lower_end() {
        for (requirement, version) in [
            ("1", Some((1, 0, 0))),
            ("^0.3.2", Some((0, 3, 2))),
            ("<2, >=1.4", Some((1, 4, 0))),
            ("1.*", Some((1, 0, 0))),
            ("=1.2.3-beta.1", Some((1, 2, 3))),
            ("*", None),
            ("<2", None),
            ("new", None),
        ] {
            assert_eq!(least(requirement), version, "{requirement}");
        }
    }
}
