//! Values of the catalogue: literals, references to what stands in code, and what is computed from both. Their texts are
//! checked against the [`Kind`] of the target that they are written for.

use std::sync::Arc;

use super::targets::{Kind, Target};
use crate::facts::{Class, Classes, Nanos};
use crate::read::data::duration::{Syntax, parse as duration};
use crate::read::data::tree::Node;
use crate::read::data::value::{number, whole};
use crate::read::vocabulary::values::{TEXT, parse_rate, parse_whole};
use crate::read::vocabulary::{Faults, Is, found, quoted, suggestion, texts};

/// A value as an entry writes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `"none"`: known to be absent.
    None,
    /// `"unknown"`: something decides it that is not read.
    Unknown,
    /// A word of the target's vocabulary, or a text.
    Word(Arc<str>),
    /// A whole number.
    Int(i128),
    /// A number with a fraction.
    Float(f64),
    /// A switch.
    Bool(bool),
    /// A length of time.
    Time(Nanos),
    /// The floor of a budget, per second and instance.
    PerSecond(f64),
    /// The floor of a budget, in flight per instance.
    InFlight(u64),
    /// A set of failure classes.
    Classes(Classes),
    /// Several values: a schedule, methods.
    List(Vec<Value>),
    /// Parts of a jitter, budget, breaker or hedge, by name.
    Fields(Vec<(Arc<str>, Value)>),
    /// What stands somewhere in code.
    Ref(Ref),
    /// Computed from several.
    Fold(Fold, Vec<Value>),
    /// `{ fit = "$0" }`: a count of retries. As many as nominal delays, without their random part, add up to less than that.
    Fit(Box<Value>),
    /// One of several, by what `of` is in code: `{ of = "$value", Linear = "linear" }`. The case `else` takes the rest.
    Case {
        /// What decides.
        of: Ref,
        /// Name or text in code, and the value then.
        cases: Vec<(Arc<str>, Value)>,
    },
    /// `{ unless = ["lib::Error::permanent"], in = "$1" }`: every failure is retried, unless one of these names stands in
    /// that code: then it decides by itself, and nobody here knows how.
    Unless {
        /// Full paths.
        names: Vec<Arc<str>>,
        /// Where they are looked for.
        within: Ref,
    },
}

impl Value {
    /// Whether it depends on what was set for a target.
    pub fn refers_to(&self, target: Target) -> bool {
        match self {
            Value::Ref(reference) => reference.root == Root::Set(target),
            Value::List(items) | Value::Fold(_, items) => items.iter().any(|item| item.refers_to(target)),
            Value::Fields(fields) => fields.iter().any(|(_, value)| value.refers_to(target)),
            Value::Case { cases, .. } => cases.iter().any(|(_, value)| value.refers_to(target)),
            Value::Fit(limit) => limit.refers_to(target),
            _ => false,
        }
    }
}

/// How several values become one. Of classes, `add` is the union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// All multiplied.
    Mul,
    /// All added.
    Add,
    /// The first less the others.
    Sub,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

/// A reference: where it begins, where it goes on to, and the unit of a bare number there.
#[derive(Clone, Debug, PartialEq)]
pub struct Ref {
    /// Where it begins.
    pub root: Root,
    /// Members, arguments and calls from there on: `.Retry.0`, `.DisableForUnsafeHttpMethods()`.
    pub path: Vec<Step>,
    /// What a bare number means there: `ms`, `s`, `%`, `/s`, `in flight`.
    pub unit: Option<Unit>,
}

/// Where a reference begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Root {
    /// `$0`: the argument at this position.
    Argument(usize),
    /// `$times`: the parameter at this position of `params`.
    Param(usize),
    /// `$value`: what is assigned.
    Value,
    /// `$self`: the receiver.
    Receiver,
    /// `$marked`: the function under the mark.
    Marked,
    /// `$on`: the call in the receiver that matched `on`.
    On,
    /// `$base`: what was set so far.
    Set(Target),
}

/// One step of a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The argument at this position of a call.
    Argument(usize),
    /// A member or field.
    Member(Arc<str>),
    /// A method that is called.
    Call(Arc<str>),
}

/// What a bare number means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// So many nanoseconds.
    Nanos(u64),
    /// Hundredths.
    Percent,
    /// A rate per second.
    PerSecond,
    /// A number in flight.
    InFlight,
}

const UNITS: &[(&str, Unit)] = &[
    ("ns", Unit::Nanos(1)),
    ("us", Unit::Nanos(1_000)),
    ("ms", Unit::Nanos(1_000_000)),
    ("s", Unit::Nanos(1_000_000_000)),
    ("min", Unit::Nanos(60_000_000_000)),
    ("h", Unit::Nanos(3_600_000_000_000)),
    ("d", Unit::Nanos(86_400_000_000_000)),
    ("%", Unit::Percent),
    ("/s", Unit::PerSecond),
    ("in flight", Unit::InFlight),
];

/// Sets of failure classes that have a name, beside the classes themselves.
pub const SETS: &[(&str, Classes)] = &[
    ("any", Classes::ALL),
    ("none", Classes::NONE),
    ("http", Classes::HTTP),
    ("grpc", Classes::GRPC),
    ("5xx", Classes::of(&[Class::Overload, Class::BadGateway, Class::ServerError])),
    ("4xx", Classes::of(&[Class::RateLimited, Class::Conflict, Class::ClientError])),
    ("transport", TRANSPORT),
    (
        "transient-http",
        TRANSPORT.or(Classes::of(&[
            Class::Overload,
            Class::BadGateway,
            Class::ServerError,
            Class::RateLimited,
            Class::Conflict,
        ])),
    ),
];

const TRANSPORT: Classes = Classes::of(&[Class::Connect, Class::Unsent, Class::Reset, Class::TryTimeout]);

/// The classes of a word: a named set, a class, a status, a gRPC code.
pub fn classes(word: &str) -> Option<Classes> {
    let set = SETS.iter().find(|(name, _)| *name == word).map(|(_, set)| *set);
    set.or_else(|| Class::parse(word).map(|class| Classes::of(&[class])))
}

/// What stops retrying.
const STOPS: Is = Is::Some(&TEXT.is, "paths of what stops retrying");

/// Reads values of one shape: `params` are its parameters' names.
pub(super) struct Reader<'r> {
    /// Names that `$name` may mean, in their order.
    pub(super) params: &'r [Arc<str>],
}

impl Reader<'_> {
    /// A value for `target`; a fault where it cannot be one.
    pub(super) fn value(&self, key: &str, node: Node<'_>, kind: Kind, faults: &mut Faults) -> Option<Value> {
        let before = faults.list.len();
        let value = self.any(node, kind, faults);
        if value.is_none() && faults.list.len() == before {
            faults.misfit(key, node, &kind.expected());
        }
        value
    }

    fn any(&self, node: Node<'_>, kind: Kind, faults: &mut Faults) -> Option<Value> {
        if node.is_map() {
            return self.map(node, kind, faults);
        }
        if node.is_seq() {
            return self.list(node, kind, faults);
        }
        let text = node.text()?.trim();
        if !node.is_quoted() {
            return bare(text, kind);
        }
        if text.starts_with('$') {
            return self.reference(node, text, faults).map(Value::Ref);
        }
        word(text, kind)
    }

    fn map(&self, node: Node<'_>, kind: Kind, faults: &mut Faults) -> Option<Value> {
        let mut entries = node.written_entries();
        let first = entries.next()?;
        if node.get("of").is_some() {
            return self.case(node, kind, faults);
        }
        if kind == Kind::Predicate && node.get("unless").is_some() {
            return self.unless(node, faults);
        }
        if (kind, first.key) == (Kind::Count, "fit") && entries.next().is_none() {
            let limit = self.value("fit", first.value, Kind::Time, faults)?;
            return Some(Value::Fit(Box::new(limit)));
        }
        if let Some(fold) = fold(first.key).filter(|_| entries.next().is_none()) {
            if !kind.folds() || !first.value.is_seq() {
                faults.misfit(first.key, first.value, "a list of numbers or times");
                return None;
            }
            let factor = if fold == Fold::Mul { kind.factor() } else { kind };
            let mut all = Vec::with_capacity(first.value.items().len());
            for item in first.value.items() {
                // Of a product with a time one is a time and the others are numbers.
                let mut tried = Faults::default();
                let value = match self.value(first.key, item, kind, &mut tried) {
                    Some(value) => Some(value),
                    None if factor != kind => self.value(first.key, item, factor, faults),
                    None => {
                        faults.list.append(&mut tried.list);
                        None
                    }
                };
                all.push(value?);
            }
            return (!all.is_empty()).then_some(Value::Fold(fold, all));
        }
        let parts = kind.parts();
        if parts.is_empty() {
            faults.misfit(first.key, node, &kind.expected());
            return None;
        }
        let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
        let mut fields = Vec::with_capacity(parts.len());
        for entry in node.written_entries() {
            match parts.iter().find(|(name, _)| *name == entry.key) {
                Some((name, kind)) => fields.push(((*name).into(), self.value(name, entry.value, *kind, faults)?)),
                None => faults.unknown_key(&entry, kind.name(), &names),
            }
        }
        Some(Value::Fields(fields))
    }

    fn case(&self, node: Node<'_>, kind: Kind, faults: &mut Faults) -> Option<Value> {
        let of = node.get("of")?;
        let of = self.reference_of(of, faults)?;
        let mut cases = Vec::new();
        for entry in node.written_entries().filter(|entry| entry.key != "of") {
            cases.push((entry.key.into(), self.value(entry.key, entry.value, kind, faults)?));
        }
        Some(Value::Case { of, cases })
    }

    fn unless(&self, node: Node<'_>, faults: &mut Faults) -> Option<Value> {
        let mut names = Vec::new();
        let mut within = None;
        for entry in node.written_entries() {
            match entry.key {
                "unless" => names = texts(&entry, STOPS, faults),
                "in" => within = self.reference_of(entry.value, faults),
                _ => faults.unknown_key(&entry, "a predicate", &["unless", "in"]),
            }
        }
        if within.is_none() {
            faults.add(node.span(), "`unless` needs `in`: where its names are looked for", None);
        }
        let names = names.into_iter().map(|(name, _)| super::path(name)).collect();
        Some(Value::Unless { names, within: within? })
    }

    fn list(&self, node: Node<'_>, kind: Kind, faults: &mut Faults) -> Option<Value> {
        let items = |kind: Kind, faults: &mut Faults| -> Option<Vec<Value>> {
            node.items().map(|item| self.value(kind.name(), item, kind, faults)).collect()
        };
        match kind {
            Kind::Schedule => Some(Value::List(items(Kind::Time, faults)?)),
            Kind::Methods => Some(Value::List(items(Kind::Text, faults)?)),
            Kind::Predicate => {
                let mut all = Classes::NONE;
                for item in node.items() {
                    match item.text().and_then(classes) {
                        Some(classes) => all = all.or(classes),
                        None => {
                            let known: Vec<&str> =
                                SETS.iter().map(|(name, _)| *name).chain(Class::ALL.map(Class::name)).collect();
                            let help = item.text().and_then(|text| suggestion(text, &known));
                            let help = help.or_else(|| Some(format!("known here: {}", quoted(&known))));
                            faults.add(item.span(), format!("{} is no class of failures", found(item)), help);
                        }
                    }
                }
                Some(Value::Classes(all))
            }
            _ => None,
        }
    }

    /// A reference that must be one.
    pub(super) fn reference_of(&self, node: Node<'_>, faults: &mut Faults) -> Option<Ref> {
        match node.text().map(str::trim).filter(|text| text.starts_with('$')) {
            Some(text) => self.reference(node, text, faults),
            None => {
                faults.add(node.span(), format!("expected a reference such as `\"$0\"`, found {}", found(node)), None);
                None
            }
        }
    }

    /// `$0`, `$base_ms ms`, `$on.0`, `$0.Retry.Delay`.
    pub(super) fn reference(&self, node: Node<'_>, text: &str, faults: &mut Faults) -> Option<Ref> {
        let (whole_path, unit) = match text.split_once(char::is_whitespace) {
            None => (text, None),
            Some((before, unit)) => match UNITS.iter().find(|(name, _)| *name == unit.trim()) {
                Some((_, unit)) => (before, Some(*unit)),
                None => {
                    let known: Vec<&str> = UNITS.iter().map(|(name, _)| *name).collect();
                    let help = format!("known here: {}", quoted(&known));
                    faults.add(node.span(), format!("`{}` is no unit", unit.trim()), Some(help));
                    return None;
                }
            },
        };
        let mut parts = whole_path.strip_prefix('$').into_iter().flat_map(|path| path.split('.'));
        let name = parts.next().unwrap_or_default();
        let Some(root) = self.root(name) else {
            let known: Vec<&str> = ROOTS
                .iter()
                .map(|(name, _)| *name)
                .chain(self.params.iter().map(|name| &**name))
                .chain(Target::ALL.iter().map(|(name, _)| *name))
                .collect();
            let help = suggestion(name, &known).map(|help| help.replacen('`', "`$", 1));
            let help = help.unwrap_or_else(|| {
                "a reference is `$0`, `$self`, `$value`, `$marked`, `$on`, a name of `params`, or a target that was set"
                    .to_string()
            });
            faults.add(node.span(), format!("`{whole_path}` refers to nothing"), Some(help));
            return None;
        };
        let path = parts.map(step).collect::<Option<Vec<Step>>>();
        if path.is_none() {
            faults.add(node.span(), format!("`{whole_path}` has an empty part"), None);
        }
        Some(Ref { root, path: path?, unit })
    }

    fn root(&self, name: &str) -> Option<Root> {
        if let Ok(position) = name.parse::<usize>() {
            return Some(Root::Argument(position));
        }
        if let Some(position) = self.params.iter().position(|param| **param == *name) {
            return Some(Root::Param(position));
        }
        let fixed = ROOTS.iter().find(|(root, _)| *root == name).map(|(_, root)| root.clone());
        fixed.or_else(|| Target::parse(name).map(Root::Set))
    }
}

const ROOTS: &[(&str, Root)] =
    &[("value", Root::Value), ("self", Root::Receiver), ("marked", Root::Marked), ("on", Root::On)];

/// A step of a reference.
pub(super) fn step(text: &str) -> Option<Step> {
    if text.is_empty() {
        return None;
    }
    Some(match (text.parse(), text.strip_suffix("()")) {
        (Ok(position), _) => Step::Argument(position),
        (_, Some(method)) => Step::Call(method.into()),
        (_, None) => Step::Member(text.into()),
    })
}

fn fold(key: &str) -> Option<Fold> {
    Some(match key {
        "mul" => Fold::Mul,
        "add" => Fold::Add,
        "sub" => Fold::Sub,
        "min" => Fold::Min,
        "max" => Fold::Max,
        _ => return None,
    })
}

/// A value without quotes: a number or switch.
fn bare(text: &str, kind: Kind) -> Option<Value> {
    if let "true" | "false" = text {
        return matches!(kind, Kind::Switch | Kind::Any).then_some(Value::Bool(text == "true"));
    }
    let digits = text.replace('_', "");
    match kind {
        Kind::Count | Kind::Whole => parse_whole(&digits).map(|n| Value::Int(n.into())),
        Kind::Number => number(&digits).map(Value::Float),
        // A bare zero is the same in every unit.
        Kind::Time | Kind::Limit | Kind::Added => (number(&digits)? == 0.0).then_some(Value::Time(Nanos::ZERO)),
        Kind::Floor => (number(&digits)? == 0.0).then_some(Value::PerSecond(0.0)),
        // `503`.
        Kind::Predicate => classes(text).map(Value::Classes),
        Kind::Any => digits
            .parse()
            .map(Value::Int)
            .ok()
            .or_else(|| number(&digits).map(Value::Float))
            .or_else(|| Some(Value::Word(text.into()))),
        _ => None,
    }
}

/// A value in quotes that is no reference.
fn word(text: &str, kind: Kind) -> Option<Value> {
    if text == "unknown" && kind.may_be_unknown() {
        return Some(Value::Unknown);
    }
    if text == "none" && kind.may_be_none() {
        return Some(Value::None);
    }
    let one_of = |words: &[&str]| words.contains(&text).then(|| Value::Word(text.into()));
    match kind {
        Kind::Count => one_of(&["unbounded"]),
        Kind::Words(words) => one_of(words),
        Kind::Jitter => one_of(&["full", "equal", "decorrelated"]),
        Kind::Methods => one_of(&["any", "idempotent"]),
        Kind::Time | Kind::Limit | Kind::Added => duration(text, Syntax::Any).map(Value::Time),
        Kind::Floor => match text.strip_suffix("in flight") {
            Some(count) => whole(count.trim()).map(Value::InFlight),
            None => parse_rate(text).map(Value::PerSecond),
        },
        Kind::Predicate if text == "opaque" => Some(Value::Unknown),
        Kind::Predicate => classes(text).map(Value::Classes),
        Kind::Breaker | Kind::Switch | Kind::Schedule | Kind::Hedge | Kind::Budget => None,
        Kind::Text | Kind::Any => (!text.is_empty()).then(|| Value::Word(text.into())),
        Kind::Number | Kind::Whole | Kind::Code => None,
    }
}

/// The default of a parameter, from its text: a number, switch, `none` or word.
pub(super) fn literal(text: &str) -> Value {
    match text {
        "none" => Value::None,
        _ => bare(text, Kind::Any).unwrap_or_else(|| Value::Word(text.into())),
    }
}
