//! Files whose words are ours (the services manifest, retrylint.toml): every key is known and every value fits, or a
//! [`Fault`] says where not and what would be right. Nothing in such a file is dropped in silence.
//!
//! A [`Kind`] is a kind of value, a [`Table`] the keys of a mapping; both are told once, for readers, schemas and pages.

#[cfg(test)]
pub mod agreement;
mod kind;
#[cfg(test)]
pub mod schema;
mod table;
pub mod values;

pub use kind::{Is, Kind, Names};
pub use table::{Key, Need, Table};

use super::data::tree::{Entry, Node};
use super::data::value::{hole, shorten};
use crate::facts::{Sourced, Why};
use crate::source::Span;
use crate::suggest::did_you_mean;

/// Something in a file that does not fit its vocabulary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The smallest thing at fault.
    pub span: Span,
    /// What is wrong, lower case, without a full stop.
    pub message: String,
    /// What would be right: `did you mean ...?`, the known keys, the text to write.
    pub help: Option<String>,
}

/// What kind of file is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Settings, in TOML: what stands there is meant as it stands.
    #[default]
    Settings,
    /// A manifest, in any format: values may be filled in later, and are unknown until then.
    Manifest,
}

/// The faults of one file, in the order found.
#[derive(Debug, Default)]
pub struct Faults {
    /// All of them.
    pub list: Vec<Fault>,
    /// The kind of file.
    pub form: Form,
}

impl Faults {
    /// None yet.
    pub fn of(form: Form) -> Faults {
        Faults { list: Vec::new(), form }
    }

    /// Why a value is not there yet: a template hole, an environment variable. In settings nothing fills them in.
    pub fn hole(&self, node: Node<'_>) -> Option<Why> {
        if self.form == Form::Manifest { hole(node) } else { None }
    }

    /// Notes a fault.
    pub fn add(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        self.list.push(Fault { span, message: message.into(), help });
    }

    /// A key that a table does not have.
    pub fn unknown(&mut self, entry: &Entry<'_>, table: &Table) {
        self.unknown_key(entry, table.place, &table.names());
    }

    /// A key that `place` (`a call`, `[scan]`) does not know.
    pub fn unknown_key(&mut self, entry: &Entry<'_>, place: &str, known: &[&str]) {
        let help = suggestion(entry.key, known).unwrap_or_else(|| format!("known here: {}", quoted(known)));
        self.add(entry.key_span, format!("unknown key `{}` in {place}", shorten(entry.key)), Some(help));
    }

    /// A name that stands for nothing (`no policy is named`), with the nearest of those that do.
    pub fn unknown_name<'a>(
        &mut self,
        span: Span,
        what: &str,
        name: &str,
        known: impl IntoIterator<Item = &'a str> + Clone,
    ) {
        let help = did_you_mean(name, known).map(|near| format!("did you mean `{near}`?"));
        self.add(span, format!("{what} `{}`", shorten(name)), help);
    }

    /// A value of the wrong kind.
    pub fn misfit(&mut self, key: &str, node: Node<'_>, expected: &str) {
        self.add(node.span(), format!("`{}` should be {expected}, found {}", shorten(key), found(node)), None);
    }

    /// Whether the entry holds a mapping. Null and template holes are not and no fault either; all else is.
    pub fn is_map(&mut self, entry: &Entry<'_>, expected: &str) -> bool {
        let node = entry.value;
        if !node.is_map() && !node.is_null() && self.hole(node).is_none() {
            self.misfit(entry.key, node, expected);
        }
        node.is_map()
    }
}

/// `did you mean ...?`, if a candidate is near.
pub fn suggestion(word: &str, known: &[&str]) -> Option<String> {
    did_you_mean(word, known.iter().copied()).map(|near| format!("did you mean `{near}`?"))
}

/// Words in backticks, with commas between.
pub fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// The entries in force: merge keys applied. Costs nothing where there are none, unlike [`Node::entries`]: of duplicates
/// both come, and the last one wins because it comes last.
pub fn fields<'t>(node: Node<'t>) -> impl Iterator<Item = Entry<'t>> {
    let merged = node.written_entries().any(|entry| entry.key == "<<").then(|| node.entries());
    let plain = merged.is_none().then(|| node.written_entries());
    merged.into_iter().flatten().chain(plain.into_iter().flatten())
}

/// The value of an entry. Null: none, as if it were not written. A template hole or environment variable: unknown. What
/// is no such value: a fault, and unknown.
pub fn value<T: Clone>(entry: &Entry<'_>, kind: Kind<T>, faults: &mut Faults) -> Option<Sourced<T>> {
    let node = entry.value;
    if node.is_null() {
        return None;
    }
    if let Some(why) = faults.hole(node) {
        return Some(Sourced::unknown(why, node.span()));
    }
    Some(match kind.parse(node) {
        Some(value) => Sourced::written(value, node.span()),
        None => {
            let expected = kind.is.expected(faults.form);
            faults.misfit(entry.key, node, &expected);
            let found = node.text().map_or_else(|| found(node), shorten);
            Sourced::unknown(Why::Malformed { found: found.into(), expected }, node.span())
        }
    })
}

/// The known value of an entry, for settings that cannot be unknown; a hole is none.
pub fn plain<T: Clone>(entry: &Entry<'_>, kind: Kind<T>, faults: &mut Faults) -> Option<T> {
    let node = entry.value;
    if node.is_null() || faults.hole(node).is_some() {
        return None;
    }
    let value = kind.parse(node);
    if value.is_none() {
        faults.misfit(entry.key, node, &kind.is.expected(faults.form));
    }
    value
}

/// Texts of a list, or the one text that stands in its place, each with its node. Other items are faults.
pub fn texts<'t>(entry: &Entry<'t>, is: Is, faults: &mut Faults) -> Vec<(&'t str, Node<'t>)> {
    let node = entry.value;
    let one = (!node.is_seq() && !node.is_null()).then_some(node);
    let mut out = Vec::with_capacity(node.items().len());
    for item in node.items().chain(one) {
        match values::string(item).filter(|text| !text.trim().is_empty()) {
            Some(text) => out.push((text, item)),
            None if faults.hole(item).is_some() => {}
            None => faults.misfit(entry.key, item, &is.expected(faults.form)),
        }
    }
    out
}

/// What stands somewhere, for a message.
pub fn found(node: Node<'_>) -> String {
    match node.text() {
        Some(text) if node.is_quoted() => format!("the text \"{}\"", shorten(text)),
        Some(text) => format!("`{}`", shorten(text)),
        None if node.is_map() => "a mapping".to_string(),
        None if node.is_seq() => "a list".to_string(),
        None => "nothing".to_string(),
    }
}
