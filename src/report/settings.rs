//! `retrylint config`: the settings in force, as a retrylint.toml that says all of them and as JSON.

use std::collections::HashMap;

use serde::Serialize;

use super::json::VERSION;
use crate::config::{Config, Setting};

/// A setting as it is shown.
pub struct Shown {
    /// The setting.
    pub setting: Setting,
    /// Where it comes from.
    pub from: From,
}

/// Where it comes from.
pub enum From {
    /// Nobody says it.
    Default,
    /// A line of a file.
    File {
        /// Its path, as shown.
        path: String,
        /// From 1.
        line: u32,
    },
    /// This option.
    CommandLine(&'static str),
}

/// As one would write it, with a comment behind each line: a retrylint.toml that says everything.
pub fn text(all: &[Shown]) -> String {
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
            out.push_str(&super::text::line(&head(table)));
            out.push('\n');
        }
        for one in own {
            let from = match &one.from {
                From::Default => "default".to_string(),
                From::File { path, line } => format!("{path}:{line}"),
                From::CommandLine(option) => (*option).to_string(),
            };
            out.push_str(&super::text::line(&format!("{:width$}  # {from}", line(one))));
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

/// The settings in force, and where each comes from. Fields are added in later versions, never changed or taken away: ignore what
/// you do not know.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Document<'a> {
    /// Version of this format.
    #[cfg_attr(test, schemars(extend("const" = VERSION)))]
    version: u32,
    /// The files that settings are read from: each extends the one before it.
    files: Vec<String>,
    /// Table by table.
    settings: Vec<SettingJson<'a>>,
}

/// A setting.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct SettingJson<'a> {
    /// Empty at the top, `limits`, `services.web`; of several the number from 1, `calls[2]`.
    table: &'a str,
    /// Its key in that table.
    key: &'a str,
    /// As it is or would be written in TOML.
    value: &'a str,
    /// What says it.
    #[cfg_attr(test, schemars(extend("enum" = ["default", "file", "command-line"])))]
    from: &'static str,
    /// The file, where it comes from one.
    path: Option<&'a str>,
    /// The line in it, from 1.
    #[cfg_attr(test, schemars(range(min = 1)))]
    line: Option<u32>,
    /// The option, where it comes from the command line.
    option: Option<&'static str>,
}

/// As JSON, with a line break at the end.
pub fn json(config: &Config, all: &[Shown]) -> String {
    let settings = all.iter().map(|Shown { setting, from }| {
        let (from, path, line, option) = match from {
            From::Default => ("default", None, None, None),
            From::File { path, line } => ("file", Some(path.as_str()), Some(*line), None),
            From::CommandLine(option) => ("command-line", None, None, Some(*option)),
        };
        SettingJson { table: &setting.table, key: &setting.key, value: &setting.value, from, path, line, option }
    });
    let files = config.sources().iter().map(|source| source.path.to_string()).collect();
    super::json::print(&Document { version: VERSION, files, settings: settings.collect() })
}
