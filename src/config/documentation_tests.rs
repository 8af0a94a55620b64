//! docs/configuration.md and docs/adopting.md say what the reader knows, and every setting in them is one. The tables of the
//! former are made from those of the keys: `RETRYLINT_DOCS=write cargo test --lib documentation` rewrites them.

use super::keys::{CALL, DEFAULTS, ENVIRONMENT, ISTIO, LIMITS, PATHS, PER_PATH, SCAN, SERVICE};
use super::*;
use crate::facts::words::either;
use crate::read::vocabulary::{Is, Key};
use crate::rules;

const CONFIGURATION: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/configuration.md"));
const ADOPTING: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/adopting.md"));

fn ids() -> Vec<&'static str> {
    rules::ALL.iter().map(|rule| rule.id).collect()
}

fn fences(page: &str) -> impl Iterator<Item = &str> {
    page.split("```toml\n").skip(1).filter_map(|rest| rest.split_once("```")).map(|(fence, _)| fence)
}

/// A kind of value in a word or two.
fn kind(is: Is) -> String {
    match is {
        Is::Whole(0) => "whole number".into(),
        Is::Whole(least) => format!("whole number from {least}"),
        Is::Number(0) => "number".into(),
        Is::Number(least) => format!("number from {least}"),
        Is::Switch => "`true` or `false`".into(),
        Is::Duration | Is::Time => "time".into(),
        Is::Rate => "rate".into(),
        Is::Share => "share".into(),
        Is::Size => "size".into(),
        Is::Date => "day".into(),
        Is::Class => "failure class".into(),
        Is::Host => "name".into(),
        Is::TomlFile => "path of a TOML file".into(),
        Is::Text(what) if what.contains("path") => "path".into(),
        Is::Text(_) | Is::Reason | Is::IstioVersion => "text".into(),
        Is::Words(words) => either(&words.names().into_iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>()),
        Is::Some(Is::Host, _) => "names".into(),
        Is::Some(..) => "patterns".into(),
        Is::Map(..) => "table of rules and levels".into(),
        Is::Table(_) => "table".into(),
        other => panic!("{other:?} has no word"),
    }
}

/// A row for each key, those of a table in it behind it.
fn rows(keys: impl Iterator<Item = &'static Key>, within: &str, out: &mut String) {
    for key in keys {
        let default = match key.default {
            Some(default) => format!("`{default}`"),
            None if key.is_required => "required".into(),
            None => String::new(),
        };
        let inner = if let Is::Table(table) = key.is { Some(table) } else { None };
        let about = inner.map_or(key.about, |table| table.about);
        out.push_str(&format!("| `{within}{}` | {} | {default} | {about} |\n", key.name, kind(key.is)));
        if let Some(table) = inner {
            rows(table.keys(), &format!("{within}{}.", key.name), out);
        }
    }
}

#[test]
fn the_tables_are_those_of_the_keys() {
    let mut page = CONFIGURATION.to_string();
    let tables = [
        ("scan", &SCAN),
        ("limits", &LIMITS),
        ("per-path", &PER_PATH),
        ("services", &SERVICE),
        ("calls", &CALL),
        ("environment", &ENVIRONMENT),
        ("dialects.istio", &ISTIO),
    ];
    let keys = tables.map(|(name, table)| (name, table.keys().collect::<Vec<_>>()));
    for (name, keys) in keys.into_iter().chain([("top", PATHS.iter().collect())]) {
        let mut made = String::from("| key | type | default | what it says |\n|---|---|---|---|\n");
        rows(keys.into_iter(), "", &mut made);
        let start = format!("<!-- {name}: made by src/config/documentation_tests.rs -->\n");
        let (before, rest) = page.split_once(&start).unwrap_or_else(|| panic!("no {start}"));
        let (_, behind) = rest.split_once("<!-- end -->").unwrap();
        page = format!("{before}{start}\n{made}\n<!-- end -->{behind}");
    }
    if std::env::var_os("RETRYLINT_DOCS").is_some_and(|what| what == "write") {
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/configuration.md"), page).unwrap();
    } else {
        assert!(page == CONFIGURATION, "out of date: RETRYLINT_DOCS=write cargo test --lib documentation");
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
    for (name, table) in DEFAULTS {
        text.push_str(&format!("[{name}]\n"));
        table.defaults().for_each(|(key, default)| text.push_str(&format!("{} = {default}\n", key.name)));
    }
    let written = Config::parse(&text, &[]).unwrap();
    assert_eq!(Config { layers: Vec::new(), ..written }, Config::default());
}
