//! What an entry says when something of it is met: settings, and the conditions that they hold under.

use std::sync::Arc;

use super::targets::{Kind, Target};
use super::values::{Reader, Ref, Root, Step, Value};
use super::{Combining, keys};
use crate::read::data::tree::{Entry, Node};
use crate::read::vocabulary::values::{TEXT, WHOLE};
use crate::read::vocabulary::{Faults, found, plain, quoted, suggestion};

/// One target and what it is set to.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The target.
    pub target: Target,
    /// Its value.
    pub value: Value,
}

/// Settings that hold together, if their tests do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clause {
    /// All of them must hold.
    pub tests: Vec<(Ref, Value)>,
    /// What is set then, in the order written.
    pub set: Vec<Setting>,
    /// A layer of this kind is laid on the stack, and the settings are about it.
    pub push: Option<Layer>,
    /// The settings are about this layer of the stack, from 0.
    pub layer: Option<usize>,
    /// `from` is built of parts of this kind.
    pub part: Option<Arc<str>>,
    /// Where the parts, or the fields of `shape`, are.
    pub from: Option<Ref>,
    /// What follows is a record of this shape's fields.
    pub shape: Option<Arc<str>>,
}

/// What is said in one place: the first clause whose tests hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Says(pub Vec<Clause>);

/// What a layer of a stack does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// Retries.
    Retry,
    /// A time limit.
    Timeout,
    /// A breaker.
    Breaker,
    /// A cap on what is in flight, or on a rate.
    Limiter,
    /// Copies without a failure.
    Hedging,
    /// Anything else: it is there, and changes nothing that is known here.
    Other,
}

pub(super) const LAYERS: [(&str, Layer); 6] = [
    ("retry", Layer::Retry),
    ("timeout", Layer::Timeout),
    ("breaker", Layer::Breaker),
    ("limiter", Layer::Limiter),
    ("hedging", Layer::Hedging),
    ("other", Layer::Other),
];

/// What is said by the keys of a table: methods, fields, arguments.
pub type Table = Vec<(Arc<str>, Says)>;

impl Says {
    /// Every setting in any of its clauses.
    pub fn settings(&self) -> impl Iterator<Item = &Setting> {
        self.0.iter().flat_map(|clause| &clause.set)
    }

    /// Whether a clause sets a target.
    pub fn sets(&self, target: Target) -> bool {
        self.settings().any(|setting| setting.target == target)
    }
}

/// A table of clauses, or a list of such tables.
pub(super) fn says(key: &str, node: Node<'_>, values: &Reader<'_>, faults: &mut Faults) -> Says {
    if node.is_map() {
        return Says(vec![clause(node, values, faults)]);
    }
    if !node.is_seq() || node.items().any(|item| !item.is_map()) {
        faults.misfit(key, node, "a table such as `{ retries = \"$0\" }`, or a list of them");
        return Says::default();
    }
    let last = node.items().len().saturating_sub(1);
    let mut all = Vec::with_capacity(node.items().len());
    for (i, item) in node.items().enumerate() {
        if i < last && item.get("if").is_none() {
            faults.add(item.span(), "without `if` this always holds, and what stands behind it never does", None);
        }
        all.push(clause(item, values, faults));
    }
    Says(all)
}

/// `method`, `field`, `argument`: a table of what is said, by name.
pub(super) fn table(entry: &Entry<'_>, values: &Reader<'_>, faults: &mut Faults) -> Table {
    if !faults.is_map(entry, "a table") {
        return Vec::new();
    }
    let entries = entry.value.written_entries();
    entries.map(|entry| (entry.key.into(), says(entry.key, entry.value, values, faults))).collect()
}

/// `callback`: what is said of statements in a closure, by their path: `"$0.Retry.Delay"`.
pub(super) fn callback(entry: &Entry<'_>, values: &Reader<'_>, faults: &mut Faults) -> Vec<(Callback, Says)> {
    if !faults.is_map(entry, "a table") {
        return Vec::new();
    }
    let mut all = Vec::new();
    for entry in entry.value.written_entries() {
        let mut inner = Faults::default();
        let path = values.reference(entry.value, entry.key, &mut inner);
        match path.map(|path| (path.root, path.path)) {
            Some((Root::Argument(parameter), path)) if inner.list.is_empty() && !path.is_empty() => {
                let says = says(entry.key, entry.value, values, faults);
                all.push((Callback { parameter, path }, says));
            }
            _ => faults.add(
                entry.key_span,
                format!("`{}` is no path in a callback", entry.key),
                Some("write what the callback's parameter is asked for: `\"$0.Retry.Delay\"`".to_string()),
            ),
        }
    }
    all
}

/// A place in a callback: `o => o.Retry.Delay = …` is parameter 0, path `Retry.Delay`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback {
    /// Which parameter of the closure.
    pub parameter: usize,
    /// From there on.
    pub path: Vec<Step>,
}

/// One table: tests, structure, settings.
pub(super) fn clause(node: Node<'_>, values: &Reader<'_>, faults: &mut Faults) -> Clause {
    let mut clause = Clause::default();
    let mut count = None;
    for entry in node.written_entries() {
        if let Some(target) = Target::parse(entry.key) {
            if let Target::Attempts | Target::Retries = target
                && count.replace(target).is_some_and(|other| other != target)
            {
                faults.add(entry.key_span, "`attempts` and `retries` say the same thing in two ways", None);
            }
            if let Some(value) = values.value(entry.key, entry.value, target.kind(), faults) {
                clause.set.push(Setting { target, value });
            }
            continue;
        }
        match entry.key {
            "if" => clause.tests = tests(&entry, values, faults),
            "push" => clause.push = layer(&entry, faults),
            "layer" => clause.layer = plain(&entry, WHOLE, faults).and_then(|index| index.try_into().ok()),
            "part" => clause.part = plain(&entry, TEXT, faults),
            "shape" => clause.shape = plain(&entry, TEXT, faults),
            "from" => clause.from = values.reference_of(entry.value, faults),
            _ => {
                let known: Vec<&str> = Target::ALL.iter().map(|(name, _)| *name).chain(keys::CLAUSE.names()).collect();
                let help = suggestion(entry.key, &known).unwrap_or_else(|| format!("known here: {}", quoted(&known)));
                faults.add(entry.key_span, format!("`{}` is nothing that can be set", entry.key), Some(help));
            }
        }
    }
    if clause.part.is_some() && clause.from.is_none() {
        faults.add(node.span(), "`part` needs `from`: where the parts are", Some("from = \"$value\"".to_string()));
    }
    clause
}

fn tests(entry: &Entry<'_>, values: &Reader<'_>, faults: &mut Faults) -> Vec<(Ref, Value)> {
    if !entry.value.is_map() {
        faults.misfit("if", entry.value, "a table such as `{ \"$value\" = false }`");
        return Vec::new();
    }
    let mut all = Vec::new();
    for test in entry.value.written_entries() {
        // The key's own place is what a fault about it underlines.
        let mut inner = Faults::default();
        let reference = values.reference(entry.value, test.key, &mut inner);
        faults.list.extend(
            inner.list.into_iter().map(|fault| crate::read::vocabulary::Fault { span: test.key_span, ..fault }),
        );
        let value = values.value(test.key, test.value, Kind::Any, faults);
        if let (Some(reference), Some(value)) = (reference, value) {
            all.push((reference, value));
        }
    }
    all
}

fn layer(entry: &Entry<'_>, faults: &mut Faults) -> Option<Layer> {
    let text = entry.value.text().unwrap_or_default();
    let layer = LAYERS.iter().find(|(name, _)| *name == text).map(|(_, layer)| *layer);
    if layer.is_none() {
        let known: Vec<&str> = LAYERS.iter().map(|(name, _)| *name).collect();
        let help = suggestion(text, &known).unwrap_or_else(|| format!("known here: {}", quoted(&known)));
        faults.add(entry.value.span(), format!("{} is no layer", found(entry.value)), Some(help));
    }
    layer
}

/// `[combine]`: how parts of a kind are joined, by operator.
pub(super) fn combine(entry: &Entry<'_>, faults: &mut Faults) -> Vec<(Arc<str>, Arc<str>, Combining)> {
    let mut all = Vec::new();
    if !faults.is_map(entry, "a table") {
        return all;
    }
    for part in entry.value.written_entries() {
        if !faults.is_map(&part, "a table such as `{ \"|\" = \"first\" }`") {
            continue;
        }
        for way in part.value.written_entries() {
            if !keys::OPERATORS.contains(&way.key) {
                faults.add(
                    way.key_span,
                    format!("`{}` is no operator", way.key),
                    Some(format!("known here: {}", quoted(&keys::OPERATORS))),
                );
                continue;
            }
            let combining = plain(&way, keys::WAYS, faults);
            all.extend(combining.map(|combining| (part.key.into(), way.key.into(), combining)));
        }
    }
    all
}
