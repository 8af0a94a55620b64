//! docs/configuration.md and docs/adopting.md say what the reader knows, and every setting in them is one.

use std::collections::BTreeSet;

use super::*;
use crate::rules;

const CONFIGURATION: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/configuration.md"));
const ADOPTING: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/adopting.md"));

fn ids() -> Vec<&'static str> {
    rules::ALL.iter().map(|rule| rule.id).collect()
}

/// The part of the page under the heading that begins so.
fn section(heading: &str) -> &'static str {
    let parts = CONFIGURATION.split("\n## ").skip(1);
    let found: Vec<&str> = parts.filter(|part| part.starts_with(heading)).collect();
    let [one] = found.as_slice() else { panic!("{heading}: {} sections", found.len()) };
    one
}

/// Keys in the first column of a section's table.
fn keys(section: &str) -> BTreeSet<&str> {
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split_once('`')).map(|(key, _)| key).collect()
}

fn fences(page: &str) -> impl Iterator<Item = &str> {
    page.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```")).map(|(fence, _)| fence)
}

#[test]
fn every_key_has_its_row_and_no_row_is_of_no_key() {
    for (heading, known) in [
        ("At the top", &["extend", "baseline"][..]),
        ("`[scan]`", SCAN_KEYS),
        ("`[limits]`", LIMIT_KEYS),
        ("`[[per-path]]`", PER_PATH_KEYS),
        ("`[services.NAME]`", SERVICE_KEYS),
        ("`[[calls]]`", CALL_KEYS),
        ("`[[environment]]`", ENVIRONMENT_KEYS),
        ("`[dialects.istio]`", ISTIO_KEYS),
    ] {
        assert_eq!(keys(section(heading)), known.iter().copied().collect(), "{heading}");
    }
    for key in TOP_KEYS {
        assert!(CONFIGURATION.contains(&format!("`{key}`")) || CONFIGURATION.contains(&format!("[{key}")), "{key}");
    }
    for key in ACCEPT_KEYS {
        assert!(section("`[services.NAME]`").contains(&format!("`{key}`")), "{key}");
    }
}

#[test]
fn every_default_is_told() {
    for (table, keys) in DEFAULTS {
        let section = section(&format!("`[{table}]`"));
        for (key, default) in *keys {
            let row = section.lines().find(|line| line.starts_with(&format!("| `{key}`"))).unwrap();
            assert!(row.contains(&format!("`{default}`")), "{row}");
        }
    }
}

#[test]
fn every_setting_on_the_pages_is_read() {
    let ids = ids();
    let all: Vec<&str> = fences(CONFIGURATION).chain(fences(ADOPTING)).collect();
    assert!(all.len() > 10);
    for fence in all {
        assert!(Config::parse(fence, &ids).is_ok(), "{fence}");
    }
}

/// The table of defaults, which the pages, `retrylint config` and the schema quote, is what the reader starts from.
#[test]
fn the_defaults_are_those_that_are_told() {
    let mut text = String::new();
    for (table, keys) in DEFAULTS {
        text.push_str(&format!("[{table}]\n"));
        keys.iter().for_each(|(key, default)| text.push_str(&format!("{key} = {default}\n")));
    }
    let written = Config::parse(&text, &[]).unwrap();
    assert_eq!(Config { layers: Vec::new(), ..written }, Config::default());
    let schema: serde_json::Value =
        serde_json::from_str(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/schemas/retrylint.schema.json")))
            .unwrap();
    for (key, default) in DEFAULTS.iter().find(|(table, _)| *table == "limits").unwrap().1 {
        let told: serde_json::Value = serde_json::from_str(default).unwrap();
        assert_eq!(schema["properties"]["limits"]["properties"][key]["default"], told, "{key}");
    }
    let told = schema["$defs"]["levels"]["propertyNames"]["enum"].as_array().unwrap().iter();
    assert_eq!(told.map(|id| id.as_str().unwrap()).collect::<BTreeSet<_>>(), ids().into_iter().collect());
}
