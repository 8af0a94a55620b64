//! Manifests that the schema and the reader take, and those that neither does. That they agree on every key is held by
//! `vocabulary::agreement`.

use serde_json::{Value, json};

use super::*;
use crate::read::data::template;
use crate::read::vocabulary::agreement::{Agreement, By, Excuse, is_address};
use crate::report::schemas::of_manifests;

fn is_valid(manifest: &str) -> bool {
    let manifest: Value = serde_yaml::from_str(manifest).unwrap();
    jsonschema::draft202012::new(&of_manifests()).unwrap().is_valid(&manifest)
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
        assert_eq!(problems(manifest), 0, "{manifest}");
        let template = manifest.replace("${", "{{ ").replace("}'", " }}'");
        assert!(is_valid(&template), "{template}");
        assert_eq!(problems(&template), 0, "{template}");
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
    let tree = template::parse(crate::source::FileId(0), manifest);
    let settings = crate::read::ReadSettings::default();
    let context = Context { file: crate::source::FileId(0), path: "services.yaml", settings: &settings };
    let mut facts = Facts::default();
    tree.documents().for_each(|document| read(document, &context, &mut facts));
    facts.problems.len()
}

/// Whether a file is a manifest and read without a problem.
fn reads(file: &Value) -> Option<bool> {
    let mut file = file.clone();
    // Without any calls it would be no manifest.
    if let Some(services) = file["services"].as_object_mut() {
        services.insert("keep".into(), json!({ "calls": [] }));
    }
    let text = serde_yaml::to_string(&file).unwrap();
    let tree = template::parse(crate::source::FileId(0), &text);
    Some(tree.documents().all(recognises) && problems(&text) == 0)
}

#[test]
fn schema_and_reader_agree_on_every_value_of_every_key() {
    let excuses = [
        Excuse {
            why: "a key without a value is as good as none to the reader; the schema asks for what is missing",
            taken: By::Reader,
            holds: |_, _, written| written.is_null() || *written == json!({ "x": null }),
        },
        Excuse {
            why: "names of policies are known to the reader",
            taken: By::Schema,
            holds: |table, key, written| table == "call" && (key == "policy" || written.get("policy").is_some()),
        },
        Excuse {
            why: "addresses are nobody's name",
            taken: By::Schema,
            holds: |_, key, written| is_address(key, written),
        },
        Excuse {
            why: "`attempts` and `retries` contradict each other by their numbers",
            taken: By::Schema,
            holds: |table, key, written| {
                table == "retry" && matches!(key, "attempts" | "retries") && written.is_object()
            },
        },
        Excuse {
            why: "29 February is a day of some years only",
            taken: By::Schema,
            holds: |_, _, written| *written == json!("2027-02-29"),
        },
        Excuse {
            why: "a file whose services are all filled in later is not recognised",
            taken: By::Schema,
            holds: |table, key, written| table == "manifest" && key == "services" && written.is_string(),
        },
        Excuse {
            why: "a template prints names too",
            taken: By::Reader,
            holds: |_, _, written| written.get("{{ x }}").is_some(),
        },
        Excuse {
            why: "YAML 1.1 has `yes` for `true`, and a text in quotes is one",
            taken: By::Reader,
            holds: |_, _, written| *written == json!("yes"),
        },
    ];
    Agreement { schema: of_manifests(), reads: &reads, excuses: &excuses }.check(&keys::TOP, &[]);
}

#[test]
fn every_manifest_in_the_repository_is_valid() {
    let schema = jsonschema::draft202012::new(&of_manifests()).unwrap();
    let mut manifests = 0;
    for folder in ["testdata", "docs", "rules"] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap) {
            let is_yaml = entry.path().extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
            let Some(text) = is_yaml.then(|| std::fs::read_to_string(entry.path()).ok()).flatten() else { continue };
            let tree = template::parse(crate::source::FileId(0), &text);
            if tree.documents().count() == 1 && tree.documents().all(recognises) {
                let file: Value = serde_yaml::from_str(&text).unwrap();
                assert_eq!(schema.is_valid(&file), problems(&text) == 0, "{}", entry.path().display());
                manifests += 1;
            }
        }
    }
    assert!(manifests > 5, "{manifests}");
}
