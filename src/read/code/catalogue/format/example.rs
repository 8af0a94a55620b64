//! [`Example`]: code, and what must be read in it. Every one of them is a test, and the source of a program that measures
//! whether the library really does so.

use std::sync::Arc;

use super::keys;
use super::targets::{Kind, Target};
use super::values::{Reader, Value};
use super::versions::version;
use crate::read::code::packages::Version;
use crate::read::data::tree::{Entry, Node};
use crate::read::vocabulary::values::{TEXT, string};
use crate::read::vocabulary::{Faults, found, plain};

/// Code, and what must be read in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// What it shows, for whoever reads the file.
    pub name: Option<Arc<str>>,
    /// The code: a whole file.
    pub code: Arc<str>,
    /// What the file is called.
    pub file: Arc<str>,
    /// The version of the library that it is for; the newest if none is given.
    pub version: Option<Version>,
    /// Its policies, in the order in which they stand; empty for code in which none is.
    pub expect: Vec<Vec<Expect>>,
}

/// One thing that must be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// Which.
    pub key: ExpectKey,
    /// What it must be.
    pub value: Value,
}

/// What may be expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectKey {
    /// What that target sets.
    Target(Target),
    /// The nominal delays, from the first on.
    Delays,
    /// The line that the policy begins in, from 1.
    Line,
    /// `high`, `medium` or `low`.
    Confidence,
    /// The places that operations are seen in.
    Operations,
}

/// What only examples say, and more words for what entries say too.
pub(super) const EXPECTED: &[(&str, ExpectKey, Kind)] = &[
    ("delays", ExpectKey::Delays, Kind::Schedule),
    ("line", ExpectKey::Line, Kind::Whole),
    ("confidence", ExpectKey::Confidence, Kind::Words(&["high", "medium", "low"])),
    ("operations", ExpectKey::Operations, Kind::Whole),
    ("attempts", ExpectKey::Target(Target::Attempts), Kind::Words(&["unbounded", "by-time"])),
    ("jitter", ExpectKey::Target(Target::Jitter), Kind::Words(&["additive", "proportional"])),
    ("backoff", ExpectKey::Target(Target::Backoff), Kind::Words(&["schedule"])),
];

/// Targets that are no part of what is read.
pub(super) const NOT_READ: &[Target] = &[
    Target::Retries,
    Target::Limit,
    Target::Policy,
    Target::Operation,
    Target::Inner,
    Target::Config,
    Target::Env,
    Target::Schedule,
    Target::Concurrency,
    Target::Ratio,
    Target::Consecutive,
    Target::Minimum,
    Target::Window,
    Target::Open,
    Target::Probes,
    Target::Copies,
    Target::Delay,
    Target::Floor,
];

pub(super) fn example(node: Node<'_>, faults: &mut Faults) -> Option<Example> {
    let mut example = Example { name: None, code: "".into(), file: "".into(), version: None, expect: Vec::new() };
    for entry in node.written_entries() {
        // As it stands: lines are counted in it.
        let text = |faults: &mut Faults| -> Arc<str> {
            let text = string(entry.value);
            if text.is_none() {
                faults.misfit(entry.key, entry.value, "a text");
            }
            text.unwrap_or_default().into()
        };
        match entry.key {
            "name" => example.name = plain(&entry, TEXT, faults),
            "code" => example.code = text(faults),
            "file" => example.file = text(faults),
            "version" => {
                example.version = entry.value.text().filter(|_| entry.value.is_quoted()).and_then(version);
                if example.version.is_none() {
                    faults.misfit("version", entry.value, "a version in quotes such as `\"1.3.0\"`");
                }
            }
            // How the program is run that measures it: whoever runs it reads this.
            "measure" => _ = faults.is_map(&entry, "a table"),
            "expect" => example.expect = expectations(&entry, faults),
            _ => faults.unknown(&entry, &keys::EXAMPLE),
        }
    }
    if example.code.trim().is_empty() || example.file.trim().is_empty() || node.get("expect").is_none() {
        faults.add(node.span(), "an example needs `code`, `file` and `expect`", None);
        return None;
    }
    Some(example)
}

fn expectations(entry: &Entry<'_>, faults: &mut Faults) -> Vec<Vec<Expect>> {
    let node = entry.value;
    if node.is_map() {
        return vec![one(node, faults)];
    }
    if !node.is_seq() || node.items().any(|item| !item.is_map()) {
        faults.misfit("expect", node, "a table, or a list of them; `[]` where nothing must be found");
        return Vec::new();
    }
    node.items().map(|item| one(item, faults)).collect()
}

fn one(node: Node<'_>, faults: &mut Faults) -> Vec<Expect> {
    let values = Reader { params: &[] };
    let mut all = Vec::new();
    for entry in node.written_entries() {
        let own = EXPECTED.iter().find(|(name, ..)| *name == entry.key);
        let target = Target::parse(entry.key).filter(|target| !NOT_READ.contains(target));
        // First by what only examples say (`additive`), then as entries have it.
        let mut tried = Faults::default();
        let special =
            own.and_then(|(_, key, kind)| Some((*key, values.value(entry.key, entry.value, *kind, &mut tried)?)));
        let (key, value) = match (special, target) {
            (Some((key, value)), _) => (key, Some(value)),
            (None, Some(target)) => {
                (ExpectKey::Target(target), values.value(entry.key, entry.value, target.kind(), faults))
            }
            (None, None) if own.is_some() => {
                faults.list.append(&mut tried.list);
                continue;
            }
            (None, None) => {
                let known: Vec<&str> = EXPECTED
                    .iter()
                    .map(|(name, ..)| *name)
                    .chain(Target::ALL.iter().filter(|(_, target)| !NOT_READ.contains(target)).map(|(name, _)| *name))
                    .collect();
                faults.unknown_key(&entry, "what an example expects", &known);
                continue;
            }
        };
        match value {
            Some(Value::Ref(_)) => {
                faults.add(entry.value.span(), format!("{} is no value", found(entry.value)), None);
            }
            Some(value) => all.push(Expect { key, value }),
            None => {}
        }
    }
    all
}
