//! The path patterns of a retrylint.toml, each with the place where it is written.

use super::{Config, bare};
use crate::read::data::toml;
use crate::read::data::tree::{Entry, Node};
use crate::read::vocabulary::fields;
use crate::source::{FileId, Span};

/// What a pattern is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// `exclude`: it may stand there before there is anything to leave out.
    Exclude,
    /// `paths` of a service: read from the folder of the file that says them, and from where the run started.
    Service,
    /// Everything else.
    Other,
}

/// One pattern that is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    /// The table that it stands in: `[scan]`, `[services.web]`, `[[per-path]]`.
    pub table: String,
    /// What it is for.
    pub used: Use,
    /// As written.
    pub text: String,
    /// The file, by its place in [`Config::layers`].
    pub layer: usize,
    /// Where it stands in that file.
    pub span: Span,
}

/// All patterns in the order of the files. What a later file says instead of an earlier one is said by it alone.
pub(super) fn patterns(config: &Config) -> Vec<Pattern> {
    let mut all: Vec<Pattern> = Vec::new();
    for (layer, file) in config.layers.iter().enumerate() {
        let tree = toml::parse(FileId(layer as u32), &file.text);
        let mut own = Vec::new();
        for entry in tree.documents().flat_map(fields) {
            match entry.key {
                "scan" => {
                    for field in fields(entry.value) {
                        match field.key {
                            "include" => replace(&mut all, &mut own, "`include`".into(), Use::Other, &field, layer),
                            "exclude" => replace(&mut all, &mut own, "`exclude`".into(), Use::Exclude, &field, layer),
                            _ => {}
                        }
                    }
                }
                "services" => {
                    for service in fields(entry.value) {
                        let table = format!("`[services.{}]`", bare(service.key));
                        if let Some(paths) = service.value.entry("paths") {
                            replace(&mut all, &mut own, table, Use::Service, &paths, layer);
                        }
                    }
                }
                "per-path" | "environment" => {
                    let paths = entry.value.items().filter_map(|item| item.entry("paths"));
                    let table = format!("`[[{}]]`", entry.key);
                    paths.for_each(|paths| own.extend(of(&table, Use::Other, &paths, layer)));
                }
                _ => {}
            }
        }
        all.append(&mut own);
    }
    all
}

/// Adds the patterns of a setting to those of its file, and drops what earlier files say in the same setting.
fn replace(
    earlier: &mut Vec<Pattern>,
    own: &mut Vec<Pattern>,
    table: String,
    used: Use,
    entry: &Entry<'_>,
    layer: usize,
) {
    earlier.retain(|pattern| pattern.table != table);
    own.extend(of(&table, used, entry, layer));
}

/// One text, or a list of them.
fn of(table: &str, used: Use, entry: &Entry<'_>, layer: usize) -> Vec<Pattern> {
    let pattern = |node: Node<'_>| {
        let text = node.text()?.to_string();
        Some(Pattern { table: table.to_string(), used, text, layer, span: node.span() })
    };
    match entry.value.is_seq() {
        true => entry.value.items().filter_map(pattern).collect(),
        false => pattern(entry.value).into_iter().collect(),
    }
}
