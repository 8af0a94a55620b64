//! The settings in force as a list, each with where it comes from: what `retrylint config` shows.

use std::collections::HashMap;

use super::keys::{DEFAULTS, bare};
use super::{Config, Layer};
use crate::read::data::toml;
use crate::read::data::tree::{Entry, Node};
use crate::read::vocabulary::fields;
use crate::source::{FileId, Span};

/// One setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The table that it stands in: empty at the top, `limits`, `services.web`; of several the number from 1, `calls[2]`.
    pub table: String,
    /// Its key.
    pub key: String,
    /// Its value, as it is or would be written.
    pub value: String,
    /// Where it is written; none where nobody wrote it and the default holds.
    pub written: Option<WrittenAt>,
}

/// Where a setting is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenAt {
    /// The file, by its place in [`Config::layers`].
    pub layer: usize,
    /// The value.
    pub span: Span,
}

/// Settings under construction: what a later file says replaces what an earlier one says, in its place.
#[derive(Default)]
struct List {
    all: Vec<Setting>,
    at: HashMap<(String, String), usize>,
}

impl List {
    fn add(&mut self, setting: Setting) {
        let at = *self.at.entry((setting.table.clone(), setting.key.clone())).or_insert(self.all.len());
        match self.all.get_mut(at) {
            Some(slot) => *slot = setting,
            None => self.all.push(setting),
        }
    }
}

impl Config {
    /// All settings: first those that have a default, then everything else that is written, in the order of the files.
    /// Of a file with faults, what was understood.
    pub fn settings(&self) -> Vec<Setting> {
        let mut list = List::default();
        for (name, table) in DEFAULTS {
            for (key, value) in table.defaults() {
                let (table, key, value) = (name.to_string(), key.name.to_string(), value.to_string());
                list.add(Setting { table, key, value, written: None });
            }
        }
        let mut tables = HashMap::new();
        for (at, layer) in self.layers.iter().enumerate() {
            let tree = toml::parse(FileId(at as u32), &layer.text);
            let mut written = Written { at, layer, list: &mut list, tables: &mut tables };
            tree.documents().flat_map(fields).for_each(|entry| written.entry("", &entry));
        }
        list.all
    }
}

/// What one file says.
struct Written<'w> {
    at: usize,
    layer: &'w Layer,
    list: &'w mut List,
    /// How many tables of each list there are so far.
    tables: &'w mut HashMap<String, usize>,
}

impl Written<'_> {
    fn entry(&mut self, table: &str, entry: &Entry<'_>) {
        let (key, value) = (bare(entry.key), entry.value);
        let name = if table.is_empty() { key } else { format!("{table}.{key}") };
        // What stands between braces is one value.
        let is_table = |node: Node<'_>| node.is_map() && !self.text(node).starts_with('{');
        if is_table(value) {
            fields(value).for_each(|field| self.entry(&name, &field));
        } else if value.is_seq() && value.items().len() > 0 && value.items().all(is_table) {
            for item in value.items() {
                let number = self.tables.entry(name.clone()).or_default();
                *number += 1;
                let table = format!("{name}[{number}]");
                fields(item).for_each(|field| self.entry(&table, &field));
            }
        } else {
            self.leaf(table, entry);
        }
    }

    fn text(&self, node: Node<'_>) -> &str {
        self.layer.text.get(node.span().range()).unwrap_or_default()
    }

    fn leaf(&mut self, table: &str, entry: &Entry<'_>) {
        let span = entry.value.span();
        let value = self.text(entry.value).to_string();
        self.list.add(Setting {
            table: table.to_string(),
            key: bare(entry.key),
            value,
            written: Some(WrittenAt { layer: self.at, span }),
        });
    }
}
