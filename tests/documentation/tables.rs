//! Parts of pages that are made of the program's own data: between `<!-- NAME: made by tests/documentation -->` and
//! `<!-- end -->`.

use std::collections::BTreeSet;
use std::fmt::Write;

use retrylint::facts::FileKind;
use retrylint::finding::Severity;
use retrylint::read::DIALECTS;
use retrylint::read::code::languages::LANGUAGES;
use retrylint::rules::{self, Category, Pedantic};

use crate::read;

/// The page with the part of this name made anew.
fn with_part(page: &str, name: &str, part: &str) -> String {
    let start = format!("<!-- {name}: made by tests/documentation -->\n");
    let (before, rest) = page.split_once(&start).unwrap_or_else(|| panic!("no {start}"));
    let (_, behind) = rest.split_once("<!-- end -->").unwrap_or_else(|| panic!("{name} does not end"));
    format!("{before}{start}\n{part}\n<!-- end -->{behind}")
}

/// Compares the page with one whose parts are made anew, or writes that one.
fn check(path: &str, parts: &[(&str, String)]) {
    let page = read(path);
    let made = parts.iter().fold(page.clone(), |page, (name, part)| with_part(&page, name, part));
    if std::env::var_os("RETRYLINT_DOCS").is_some_and(|what| what == "write") {
        std::fs::write(path, &made).unwrap();
    } else {
        assert!(page == made, "{path} is out of date: RETRYLINT_DOCS=write cargo test --test documentation");
    }
}

fn rules_of(category: Category) -> String {
    let mut table = String::from("| rule | level | what it finds |\n|---|---|---|\n");
    for rule in rules::ALL.iter().filter(|rule| rule.meta().category == category) {
        let meta = rule.meta();
        let levels: Vec<&str> = meta.levels.iter().copied().map(Severity::name).collect();
        let pedantic = match meta.pedantic {
            Pedantic::Never => "",
            Pedantic::Sometimes => " ◦",
            Pedantic::Always => " •",
        };
        writeln!(table, "| [{0}](../rules/{0}.md) | {1}{pedantic} | {2} |", rule.id, levels.join(", "), meta.summary)
            .unwrap();
    }
    table
}

#[test]
fn the_index_of_rules_is_current() {
    let categories = [Category::Storm, Category::Time, Category::Safety, Category::Breaker, Category::Hygiene];
    let listed: usize = categories.iter().map(|category| rules_of(*category).lines().count() - 2).sum();
    assert_eq!(listed, rules::ALL.len());
    let parts: Vec<(&str, String)> = categories.iter().map(|category| (category.name(), rules_of(*category))).collect();
    check("docs/rules.md", &parts);
    assert!(read("CHANGELOG.md").contains(&format!("- **Rules**: {},", rules::ALL.len())));
}

fn dialects() -> String {
    let mut table = String::from("| dialect | a file without any of these words is not parsed for it |\n|---|---|\n");
    for dialect in DIALECTS {
        let words: Vec<String> = dialect.words.iter().map(|word| format!("`{word}`")).collect();
        writeln!(table, "| {} | {} |", dialect.name, words.join(", ")).unwrap();
    }
    table
}

/// A file of the catalogue as the table needs it.
struct Library {
    name: String,
    language: String,
    packages: Vec<String>,
    starts: BTreeSet<String>,
    source: String,
    examples: usize,
}

fn libraries() -> Vec<Library> {
    let mut files: Vec<_> = std::fs::read_dir("rules/libraries").unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|path| library(&read(path.to_str().unwrap()))).collect()
}

fn library(text: &str) -> Library {
    let table: toml::Table = text.parse().unwrap();
    let word = |key: &str| table[key].as_str().unwrap().to_string();
    let tables = |key: &str| table.get(key).and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let mut starts = BTreeSet::new();
    for shape in tables("shape") {
        for key in ["call", "record", "mark", "method_of"] {
            let paths = match shape.get(key) {
                Some(toml::Value::Array(paths)) => paths.clone(),
                Some(path) => vec![path.clone()],
                None => Vec::new(),
            };
            starts.extend(paths.iter().filter_map(|path| owner(path.as_str()?)));
        }
    }
    let packages = table["packages"].as_array().unwrap().iter().map(|package| package.as_str().unwrap().to_string());
    Library {
        name: word("name"),
        language: word("language"),
        packages: packages.collect(),
        starts,
        source: word("source"),
        examples: tables("example").len(),
    }
}

/// The type, or where there is none the function, that a path names: `ExponentialBuilder` of
/// `backon::ExponentialBuilder::new`.
fn owner(path: &str) -> Option<String> {
    let is_type = |part: &&str| part.starts_with(|c: char| c.is_ascii_uppercase());
    path.split("::").filter(is_type).last().or_else(|| path.rsplit("::").next()).map(str::to_string)
}

fn library_table() -> String {
    let mut table =
        String::from("| library | packages and versions | recognised by | examples |\n|---|---|---|---:|\n");
    for library in libraries() {
        let packages: Vec<String> = library
            .packages
            .iter()
            .map(|package| {
                let (name, versions) = package.split_once('@').unwrap_or((package, "all"));
                format!("`{}` {versions}", name.split_once(':').map_or(name, |(_, name)| name))
            })
            .collect();
        let mut starts: Vec<String> = library.starts.iter().map(|start| format!("`{start}`")).collect();
        let more = starts.len().saturating_sub(8);
        starts.truncate(8);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let (name, starts) = (&library.name, starts.join(", "));
        writeln!(
            table,
            "| [{name}](../rules/libraries/{name}.toml) | {} | {starts}{more} | {} |",
            packages.join("; "),
            library.examples
        )
        .unwrap();
    }
    table
}

fn source_table() -> String {
    let mut table = String::from("| library | what its entry was written from |\n|---|---|\n");
    for library in libraries() {
        writeln!(table, "| {} | {} |", library.name, library.source).unwrap();
    }
    table
}

#[test]
fn the_coverage_is_current() {
    check("docs/coverage.md", &[("dialects", dialects()), ("libraries", library_table()), ("sources", source_table())]);
}

#[test]
fn every_dialect_and_language_is_described() {
    let page = read("docs/coverage.md");
    let described: Vec<&str> =
        page.lines().filter_map(|line| line.strip_prefix("### `")?.split_once('`')).map(|(name, _)| name).collect();
    let dialects: Vec<&str> = DIALECTS.iter().map(|dialect| dialect.name).collect();
    assert_eq!(described, dialects, "a section for each dialect, in their order");
    for language in LANGUAGES {
        assert!(page.contains(&format!("`{}`", language.name)), "{}", language.name);
        assert!(libraries().iter().any(|library| library.language == language.name));
    }
    assert_eq!(LANGUAGES.iter().map(|language| language.kind).collect::<Vec<_>>(), [FileKind::Rust]);
}

#[test]
fn a_type_is_what_a_library_is_recognised_by() {
    assert_eq!(owner("backon::ExponentialBuilder::new").as_deref(), Some("ExponentialBuilder"));
    assert_eq!(owner("tower::retry::RetryLayer").as_deref(), Some("RetryLayer"));
    assert_eq!(owner("backoff::future::retry").as_deref(), Some("retry"));
}
