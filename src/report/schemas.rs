//! The schemas in `docs/schemas`: of what the program writes, made from the types that it writes, and of what it reads, made
//! from the tables of keys that its readers go by.
//!
//! They are rewritten by `RETRYLINT_DOCS=write cargo test --lib schemas`.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::{facts, graph, json, jsonl, policies, settings};
use crate::config;
use crate::read::code::catalogue::format;
use crate::read::manifests::services;
use crate::read::vocabulary::{Form, schema as tables};

/// The schema of a type, as its page names it.
fn schema<T: JsonSchema>(title: &str) -> Value {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    if let Some(map) = schema.as_object_mut() {
        map.insert("title".into(), title.into());
    }
    schema
}

/// The schema of retrylint.toml.
pub fn of_settings() -> Value {
    tables::schema("retrylint.toml", &config::keys::TOP, Form::Settings, format::schema::define)
}

/// The schema of a services manifest.
pub fn of_manifests() -> Value {
    let mut schema = tables::schema("retrylint services manifest", &services::keys::TOP, Form::Manifest, |_| {});
    schema["patternProperties"] = serde_json::json!({ "^x-": true });
    schema
}

/// Leaves out what speaks of Rust: links in descriptions, names of types, sizes of integers.
fn tidy(value: &mut Value) {
    match value {
        Value::Object(map) => {
            // Of one variant of several no more than what tells it from the others.
            if map.get("additionalProperties") == Some(&Value::Bool(false)) {
                map.remove("additionalProperties");
            }
            if map.get("format").is_some_and(|format| format != "date") {
                map.remove("format");
            }
            for (key, value) in map.iter_mut() {
                match value {
                    Value::String(text) if key == "description" => *text = plain(text),
                    Value::String(text) if key == "$ref" => {
                        if let Some(name) = text.strip_prefix("#/$defs/") {
                            *text = format!("#/$defs/{}", kebab(name));
                        }
                    }
                    Value::Object(named) if key == "$defs" => {
                        *named = std::mem::take(named).into_iter().map(|(name, value)| (kebab(&name), value)).collect();
                        named.values_mut().for_each(tidy);
                    }
                    value => tidy(value),
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// `policy` from `PolicyJson`, `sourced-attempts` from `Sourced_Attempts`.
fn kebab(name: &str) -> String {
    let mut out = String::new();
    for c in name.strip_suffix("Json").unwrap_or(name).chars() {
        if (c.is_ascii_uppercase() || c == '_') && !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        out.extend(c.to_lowercase().filter(|c| *c != '_'));
    }
    out
}

/// A comment on one line, without what only this repository's readers know: links, and numbers of decisions.
fn plain(comment: &str) -> String {
    let comment = comment.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut text = String::new();
    let mut rest = comment.as_str();
    while let Some((before, link)) = rest.split_once("[`") {
        let Some((path, behind)) = link.split_once("`]") else { break };
        let name = path.rsplit("::").next().unwrap_or(path);
        text.push_str(&format!("{before}`{name}`"));
        let target = behind.strip_prefix('(').and_then(|target| target.split_once(')'));
        rest = target.map_or(behind, |(_, behind)| behind);
    }
    text.push_str(rest);
    let is_number = |inner: &str| {
        inner.split([' ', ',']).any(|word| ["D-", "M-", "T-"].iter().any(|letter| word.starts_with(letter)))
    };
    while let Some((from, to)) = text.match_indices(" (").find_map(|(from, _)| {
        let inner = text.get(from + 2..)?.split_once(')')?.0;
        is_number(inner).then_some((from, from + 2 + inner.len() + 1))
    }) {
        text.replace_range(from..to, "");
    }
    text
}

#[test]
fn comments_are_plain() {
    assert_eq!(
        plain("An [`Op`](super::Op) of\n[`A::b`] (contracts.md D-1), `c` (or not)."),
        "An `Op` of `b`, `c` (or not)."
    );
    assert_eq!((kebab("PolicyJson").as_str(), kebab("Sourced_Attempts").as_str()), ("policy", "sourced-attempts"));
}

/// Names that a schema refers to.
fn references(value: &Value, out: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            let name = map.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix("#/$defs/"));
            out.extend(name.map(str::to_string));
            map.values().for_each(|value| references(value, out));
        }
        Value::Array(all) => all.iter().for_each(|value| references(value, out)),
        _ => {}
    }
}

#[test]
fn what_is_defined_is_used_and_what_is_used_is_defined() {
    for schema in [of_settings(), of_manifests()] {
        let mut used = BTreeSet::new();
        references(&schema, &mut used);
        let defined: BTreeSet<String> = schema["$defs"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(used, defined);
    }
}

#[test]
fn schemas_are_those_of_types_and_tables() {
    let all = [
        ("check", schema::<json::Document<'_>>("retrylint check --format json")),
        ("check-lines", schema::<jsonl::Line<'_>>("A line of retrylint check --format jsonl")),
        ("policies", schema::<policies::Document<'_>>("retrylint policies --format json")),
        ("graph", schema::<graph::Document<'_>>("retrylint graph --format json")),
        ("config", schema::<settings::Document<'_>>("retrylint config --format json")),
        ("facts", schema::<facts::Document<'_>>("retrylint facts")),
        ("retrylint", of_settings()),
        ("services", of_manifests()),
    ];
    for (name, schema) in all {
        let path = format!("{}/docs/schemas/{name}.schema.json", env!("CARGO_MANIFEST_DIR"));
        let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("RETRYLINT_DOCS").is_some_and(|what| what == "write") {
            std::fs::write(&path, text).unwrap();
        } else {
            let written = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(written == text, "{path} is out of date: RETRYLINT_DOCS=write cargo test --lib schemas");
        }
    }
}
