//! The published JSON Schema and the reader know the same words.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;
use crate::facts::{Class, Position};

const SCHEMA: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/schemas/services.schema.json"));

fn schema() -> Value {
    serde_json::from_str(SCHEMA).unwrap()
}

fn is_valid(manifest: &str) -> bool {
    let manifest: Value = serde_yaml::from_str(manifest).unwrap();
    jsonschema::draft202012::new(&schema()).unwrap().is_valid(&manifest)
}

fn keys(value: &Value) -> BTreeSet<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(ToString::to_string).collect()
}

fn words(value: &Value) -> BTreeSet<String> {
    value.as_array().unwrap().iter().map(|word| word.as_str().unwrap().to_string()).collect()
}

#[test]
fn the_schema_names_the_keys_that_the_reader_knows() {
    let schema = schema();
    assert!(jsonschema::meta::is_valid(&schema));
    let defs = &schema["$defs"];
    assert_eq!(keys(&schema["properties"]), set(TOP_KEYS));
    for (name, known) in [
        ("service", SERVICE_KEYS),
        ("accept", ACCEPT_KEYS),
        ("described-call", CALL_KEYS),
        ("policy", POLICY_KEYS),
        ("retry", RETRY_KEYS),
        ("hedge", HEDGE_KEYS),
    ] {
        assert_eq!(keys(&defs[name]["properties"]), set(known), "{name}");
    }
    for (name, known) in [("timeout", TIMEOUT_KEYS), ("budget", BUDGET_KEYS), ("breaker", BREAKER_KEYS)] {
        assert_eq!(keys(&defs[name]["oneOf"][1]["properties"]), set(known), "{name}");
    }
    let retry = &defs["retry"]["properties"];
    assert_eq!(keys(&retry["jitter"]["oneOf"][1]["properties"]), set(JITTER_KEYS));
    assert_eq!(words(&retry["jitter"]["oneOf"][0]["enum"]), set(JITTERS));
    assert_eq!(words(&retry["backoff"]["oneOf"][0]["enum"]), set(BACKOFFS));
    assert_eq!(words(&defs["layer"]["enum"]), set(&Position::ALL.map(Position::name)));
    let classes: BTreeSet<String> = Class::ALL.iter().map(|class| class.name().to_string()).collect();
    assert_eq!(words(&defs["class"]["oneOf"][0]["enum"]), classes);
    assert!(words(&defs["class"]["oneOf"][3]["enum"]).iter().all(|code| Class::parse(code).is_some()));
}

/// Each of these is read without a problem and valid by the schema.
#[test]
fn good_manifests_are_valid_and_read_without_a_problem() {
    for manifest in [
        "services: { web: { calls: [] }, db: null }",
        "services: { web: { calls: [db, { to: shop }] }, db: null }",
        "services: { web: { calls: [ { to: shop, retry: { attempts: 3, backoff: exponential, base: 100ms, jitter: full } } ] } }",
        "services: { web: { calls: [ { to: shop, retry: { retries: unbounded, on: [503, overload, UNAVAILABLE] } } ] } }",
        "services: { web: { calls: [ { to: shop, retry: { attempts: 3, backoff: [100ms, PT2S, '00:00:30'], cap: none } } ] } }",
        "services: { web: { calls: [ { to: shop, timeout: { attempt: 1m30s, total: none }, budget: { ratio: 10%, floor: 3/s } } ] } }",
        "services: { web: { calls: [ { to: shop, budget: { ratio: 0.2, floor: 3, base: in-flight }, breaker: none } ] } }",
        "services: { web: { calls: [ { to: shop, policy: p } ], rate: 500/s, emits: 500 } }\npolicies: { p: { layer: gateway, timeout: none } }",
        "services: { web: { calls: [], paths: web/**, accept: { max-amplification: 9, reason: fine, until: 2027-01-31 } } }\nx-notes: [1]",
    ] {
        assert!(is_valid(manifest), "{manifest}");
        assert_eq!(problems(manifest), 0, "{manifest}");
    }
}

/// What is filled in later is unknown, and no mistake.
#[test]
fn holes_are_valid_and_read_as_unknown() {
    for manifest in [
        "services: { web: { calls: [ { to: shop, retry: { attempts: '${TRIES}', backoff: fixed, base: '${WAIT:-1s}' } } ] } }",
        "services: { web: { calls: [ { to: shop, retry: { retries: '${TRIES}' } } ], rate: '${RATE}', pool: '${POOL}' } }",
        "services: { web: { calls: [ { to: shop, timeout: { attempt: '${LIMIT}' }, budget: { ratio: '${SHARE}' } } ] } }",
    ] {
        assert!(is_valid(manifest), "{manifest}");
        assert!(is_valid(&manifest.replace("${", "{{ ")), "{manifest}");
        assert_eq!(problems(manifest), 0, "{manifest}");
    }
}

/// Each of these is a problem for the reader and invalid by the schema.
#[test]
fn misspelt_keys_and_wrong_values_are_neither_valid_nor_read_in_silence() {
    for manifest in [
        "services: { web: { calls: [ { to: shop, retrys: { attempts: 3 } } ] } }",
        "services: { web: { calls: [ { to: shop, retry: { attempt: 3 } } ] } }",
        "services: { web: { calls: [ { to: shop, retry: { backoff: none } } ] } }",
        "services: { web: { calls: [ { to: shop, retry: { attempts: 0 } } ] } }",
        "services: { web: { calls: [ { to: shop, retry: { attempts: '3' } } ] } }",
        "services: { web: { calls: [ { to: shop, retry: { attempts: 3, on: [5xx] } } ] } }",
        "services: { web: { calls: [ { to: shop, retry: { attempts: 3, jitter: { proportional: 2 } } } ] } }",
        "services: { web: { calls: [ { to: shop, timeout: 2s } ] } }",
        "services: { web: { calls: [ { to: shop, timeout: { attempt: 30 } } ] } }",
        "services: { web: { calls: [ { to: shop, budget: { floor: 3/s } } ] } }",
        "services: { web: { calls: [ { to: shop, breaker: { threshold: 3 } } ] } }",
        "services: { web: { calls: [ { per-request: 1 } ] } }",
        "services: { web: { calls: [], rate: 500 } }",
        "services: { web: { calls: [], accept: { max-amplification: 9 } } }",
        "services: { web: { calls: [], accept: { max-amplification: 0, reason: fine } } }",
        "services: { web: { calls: [], accept: { max-amplification: 9, reason: fine, until: soon } } }",
        "services: { web: { calls: [] } }\nversion: 2",
        "services: { web: { calls: [] } }\npolicys: {}",
    ] {
        assert!(!is_valid(manifest), "{manifest}");
        assert!(problems(manifest) > 0, "{manifest}");
    }
}

fn problems(manifest: &str) -> usize {
    let tree = crate::read::data::yaml::parse(crate::source::FileId(0), manifest);
    let settings = crate::read::ReadSettings::default();
    let context = Context { file: crate::source::FileId(0), path: "services.yaml", settings: &settings };
    let mut facts = Facts::default();
    tree.documents().for_each(|document| read(document, &context, &mut facts));
    facts.problems.len()
}
