//! Fingerprints: what makes a finding the same one in the next run (contracts.md D-16).
//!
//! A finding keeps its fingerprint while its message is reworded, its line moves and its numbers change. It is made of the
//! rule, the path, the enclosing name and the text at fault, or of the rule and the two ends of a path of calls.

use std::collections::HashMap;

use crate::finding::{Finding, Identity};
use crate::source::{FileId, Sources};

/// One fingerprint for each finding, in their order: 16 hexadecimal digits. Equal findings are told apart by their place
/// among their equals, so that the list must be *all* findings of the run, in the order of the report, before any is
/// left out. Paths count as they are shown.
pub fn fingerprints(findings: &[Finding], sources: &Sources) -> Vec<String> {
    fingerprints_from(findings, sources, str::to_string)
}

/// The same with paths as `name` has them: from the root of the repository, so that nothing depends on the folder that a
/// run starts in.
pub fn fingerprints_from(findings: &[Finding], sources: &Sources, name: impl Fn(&str) -> String) -> Vec<String> {
    let mut names: HashMap<FileId, String> = HashMap::new();
    let mut name_of = |file: FileId| -> String {
        let name = || sources.get(file).map(|source| name(&source.path)).unwrap_or_default();
        names.entry(file).or_insert_with(name).clone()
    };
    let mut seen: HashMap<u64, u64> = HashMap::new();
    findings
        .iter()
        .map(|finding| {
            let base = base(finding, sources, &mut name_of);
            let ordinal = seen.entry(base).and_modify(|n| *n += 1).or_insert(1);
            // The first of its kind keeps the plain hash: another equal further down does not change it.
            let hash = if *ordinal == 1 { base } else { Fnv(base).field(&ordinal.to_string()).0 };
            format!("{hash:016x}")
        })
        .collect()
}

/// The hash of everything but the place among equals.
fn base(finding: &Finding, sources: &Sources, name_of: &mut impl FnMut(FileId) -> String) -> u64 {
    let hash = Fnv::new().field(finding.rule);
    match &finding.identity {
        Identity::Path { from, to } => hash.field("path").field(from).field(to).0,
        Identity::Place(name) => {
            let label = finding.primary();
            let source = label.and_then(|label| sources.get(label.span.file));
            let path = label.map(|label| name_of(label.span.file)).unwrap_or_default();
            let text = label.zip(source).map_or("", |(label, source)| source.slice(label.span));
            let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
            hash.field("place").field(&path).field(name).field(&text).0
        }
    }
}

/// FNV-1a with 64 bits: short, and the same for ever and on every machine, which the standard library's hashers do not
/// promise.
struct Fnv(u64);

impl Fnv {
    fn new() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    /// Adds a field and its end: `ab`, `c` and `a`, `bc` differ. 0xff occurs in no UTF-8 text.
    fn field(self, text: &str) -> Self {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Fnv(step(text.bytes().fold(self.0, step), 0xff))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::examples::{finding, sources};

    #[test]
    fn fnv_is_fnv() {
        // The published vector for "a" is af63dc4c8601ec8c; the end of the field is one more step.
        let a = 0xaf63_dc4c_8601_ec8c_u64;
        assert_eq!(Fnv::new().field("a").0, (a ^ 0xff).wrapping_mul(0x0100_0000_01b3));
    }

    #[test]
    fn moving_and_rewording_keep_it() {
        let before = sources(&[("a.yaml", "attempts: 2\n")]);
        let after = sources(&[("a.yaml", "# moved\n\nattempts:   2\n")]);
        let mut moved = finding("weak-jitter", &after, &["attempts:   2"]);
        moved.message = "said otherwise".into();
        let original = finding("weak-jitter", &before, &["attempts: 2"]);
        assert_eq!(fingerprints(&[original], &before), fingerprints(&[moved], &after));
    }

    #[test]
    fn another_rule_path_name_or_text_changes_it() {
        let sources = sources(&[("a.yaml", "attempts: 2\nattempts: 3\n"), ("b.yaml", "attempts: 2\n")]);
        let a = finding("weak-jitter", &sources, &["attempts: 2"]);
        let mut file = a.clone();
        file.labels[0].span.file.0 = 1;
        let rule = finding("no-backoff", &sources, &["attempts: 2"]);
        let text = finding("weak-jitter", &sources, &["attempts: 3"]);
        let name = Finding { identity: Identity::Place("spec.http[1]".into()), ..a.clone() };
        let all = fingerprints(&[a, file, rule, text, name], &sources);
        assert_eq!(all.iter().collect::<std::collections::HashSet<_>>().len(), 5);
    }

    #[test]
    fn equals_are_counted_and_the_first_stays_as_it_was() {
        let sources = sources(&[("a.yaml", "attempts: 2\n")]);
        let a = finding("weak-jitter", &sources, &["attempts: 2"]);
        let alone = fingerprints(std::slice::from_ref(&a), &sources);
        let both = fingerprints(&[a.clone(), a], &sources);
        assert_eq!(both[0], alone[0]);
        assert_ne!(both[0], both[1]);
    }

    #[test]
    fn a_path_is_its_two_ends() {
        let sources = sources(&[("a.yaml", "attempts: 2\n"), ("b.yaml", "attempts: 9\n")]);
        let ends = Identity::Path { from: "web".into(), to: "ledger".into() };
        let a = Finding { identity: ends.clone(), ..finding("retry-amplification", &sources, &["attempts: 2"]) };
        let b = Finding { identity: ends, ..finding("retry-amplification", &sources, &["attempts: 9"]) };
        assert_eq!(fingerprints(&[a], &sources), fingerprints(&[b], &sources));
    }
}
