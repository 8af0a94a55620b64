//! `retrylint config`: the settings in force, and where each comes from.

use std::collections::HashMap;

use retrylint::config::{Config, Setting};
use retrylint::report::{json, text};
use serde::Serialize;

use super::options::settings;
use super::{Failure, screen};
use crate::cli::{self, ConfigFormat};

/// A setting as it is shown.
struct Shown {
    setting: Setting,
    from: From,
}

/// Where it comes from.
enum From {
    Default,
    File { path: String, line: u32 },
    CommandLine(&'static str),
}

/// Prints them.
pub fn run(args: &cli::Config) -> Result<bool, Failure> {
    let config = settings(&args.paths, args.config.as_ref(), args.isolated)?;
    let shown = shown(&config, &args.limits);
    screen::tell_unmatched(&config.unmatched(&args.paths));
    match args.format {
        ConfigFormat::Text => screen::print(&as_text(&shown))?,
        ConfigFormat::Json => screen::print_raw(&as_json(&config, &shown))?,
    }
    Ok(true)
}

fn shown(config: &Config, limits: &cli::Limits) -> Vec<Shown> {
    let sources = config.sources();
    let mut all: Vec<Shown> = config
        .settings()
        .into_iter()
        .map(|setting| {
            let place = setting.written.and_then(|at| Some((sources.get(at.layer)?, at.span)));
            let from = place.map_or(From::Default, |(source, span)| From::File {
                path: source.path.to_string(),
                line: source.position(span.start).line,
            });
            Shown { setting, from }
        })
        .collect();
    let mut in_force = config.limits.clone();
    limits.apply(&mut in_force);
    let mut change = |key: &str, option: &'static str, value: String| {
        if let Some(one) = all.iter_mut().find(|one| one.setting.table == "limits" && one.setting.key == key) {
            one.setting.value = value;
            one.from = From::CommandLine(option);
        }
    };
    if limits.max_attempts.is_some() {
        change("max-attempts", "--max-attempts", in_force.max_attempts.to_string());
    }
    if limits.max_amplification.is_some() {
        change("max-amplification", "--max-amplification", in_force.max_amplification.to_string());
        if in_force.error_amplification > config.limits.error_amplification {
            change("error-amplification", "--max-amplification", in_force.error_amplification.to_string());
        }
    }
    all
}

/// As one would write it, with a comment behind each line: a retrylint.toml that says everything.
fn as_text(all: &[Shown]) -> String {
    let line = |one: &Shown| format!("{} = {}", one.setting.key, one.setting.value.replace(['\n', '\r'], " "));
    let mut tables: Vec<(&str, Vec<&Shown>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for one in all {
        let table = one.setting.table.as_str();
        let at = *places.entry(table).or_insert(tables.len());
        match tables.get_mut(at) {
            Some((_, own)) => own.push(one),
            None => tables.push((table, vec![one])),
        }
    }
    // What stands in no table stands before all of them.
    tables.sort_by_key(|(table, _)| !table.is_empty());
    let mut out = String::new();
    for (table, own) in tables {
        let width = own.iter().map(|one| line(one).chars().count()).max().unwrap_or_default().min(WIDEST);
        if !table.is_empty() {
            out.push_str(if out.is_empty() { "" } else { "\n" });
            out.push_str(&text::line(&head(table)));
            out.push('\n');
        }
        for one in own {
            let from = match &one.from {
                From::Default => "default".to_string(),
                From::File { path, line } => format!("{path}:{line}"),
                From::CommandLine(option) => (*option).to_string(),
            };
            out.push_str(&text::line(&format!("{:width$}  # {from}", line(one))));
            out.push('\n');
        }
    }
    out
}

/// `[limits]`, or for `calls[2]`, the second of several, `[[calls]]`.
fn head(table: &str) -> String {
    let (mut name, mut in_quotes, mut in_number) = (String::new(), false, false);
    for c in table.chars() {
        in_quotes ^= c == '"';
        in_number |= c == '[' && !in_quotes;
        if !in_number {
            name.push(c);
        }
        in_number &= c != ']';
    }
    if table.ends_with(']') { format!("[[{name}]]") } else { format!("[{name}]") }
}

/// Columns that values are filled up to.
const WIDEST: usize = 60;

#[derive(Serialize)]
struct Json<'a> {
    version: u32,
    files: Vec<String>,
    settings: Vec<JsonSetting<'a>>,
}

#[derive(Serialize)]
struct JsonSetting<'a> {
    table: &'a str,
    key: &'a str,
    value: &'a str,
    from: &'static str,
    path: Option<&'a str>,
    line: Option<u32>,
    option: Option<&'static str>,
}

fn as_json(config: &Config, all: &[Shown]) -> String {
    let settings = all.iter().map(|Shown { setting, from }| {
        let (from, path, line, option) = match from {
            From::Default => ("default", None, None, None),
            From::File { path, line } => ("file", Some(path.as_str()), Some(*line), None),
            From::CommandLine(option) => ("command-line", None, None, Some(*option)),
        };
        JsonSetting { table: &setting.table, key: &setting.key, value: &setting.value, from, path, line, option }
    });
    let files = config.sources().iter().map(|source| source.path.to_string()).collect();
    json::print(&Json { version: json::VERSION, files, settings: settings.collect() })
}
