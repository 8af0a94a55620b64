//! [`Shape`]: one construct of a library, how it is recognised and what it says.

use std::sync::Arc;

use super::says::{Callback, Clause, Says, Setting, Table, callback, clause, says, table};
use super::targets::Target;
use super::values::{Reader, Value};
use super::versions::Versions;
use super::{keys, path};
use crate::read::data::tree::{Entry, Node};
use crate::read::vocabulary::values::{SWITCH, TEXT};
use crate::read::vocabulary::{Faults, Kind, found, plain, quoted, suggestion, texts};

/// What a shape is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Is {
    /// Describes a policy.
    Policy,
    /// Starts what is tried.
    Run,
    /// Ordered layers.
    Stack,
    /// Combines with others into a policy.
    Part,
    /// Carries a policy to the calls made on it.
    Client,
    /// Says which failures are retried.
    Predicate,
    /// A call that retries by itself.
    Inner,
}

pub(super) const IS: [(&str, Is); 7] = [
    ("policy", Is::Policy),
    ("run", Is::Run),
    ("stack", Is::Stack),
    ("part", Is::Part),
    ("client", Is::Client),
    ("predicate", Is::Predicate),
    ("inner", Is::Inner),
];

/// Which of several layers is outermost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Order {
    /// The first that was added.
    #[default]
    FirstOutermost,
    /// The last that was added.
    LastOutermost,
}

pub(super) const ORDER: Kind<Order> =
    Kind::words(&[("first-outermost", Order::FirstOutermost), ("last-outermost", Order::LastOutermost)]);

/// A parameter of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: Arc<str>,
    /// What it is where it is left out.
    pub default: Option<Value>,
}

/// What must stand in the receiver of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum On {
    /// A method of this name.
    Method(Arc<str>),
    /// A call or record of this path.
    Path(Arc<str>),
    /// What is of this shape of the same library.
    Shape(Arc<str>),
}

/// Everything that a shape says; a `when` may replace parts of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sayings {
    /// What holds where nothing is written.
    pub default: Option<Says>,
    /// What the construct itself says.
    pub sets: Option<Says>,
    /// By methods of the chain. The key is `method`, or `chain` where `method` is what the shape is recognised by.
    pub method: Table,
    /// By methods of one call on a client: they hold for that call.
    pub request: Table,
    /// By fields of the record.
    pub field: Table,
    /// By arguments: a name of `params` or of the argument, a position, or `*` for every other one.
    pub argument: Table,
    /// By statements of a closure that is given to it.
    pub callback: Vec<(Callback, Says)>,
    /// Layers that it has before anything is added.
    pub layers: Vec<Clause>,
    /// Which layer is outermost.
    pub order: Option<Order>,
    /// Advice for findings of a rule about it.
    pub help: Vec<(Arc<str>, Arc<str>)>,
}

/// One construct of a library.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Its name within the library.
    pub id: Option<Arc<str>>,
    /// What it is.
    pub is: Is,
    /// Of which kind a part is.
    pub part: Option<Arc<str>>,
    /// Functions, constructors, macros, by full path.
    pub call: Vec<Arc<str>>,
    /// Methods by name; `on` says of what.
    pub method: Vec<Arc<str>>,
    /// One of these must stand in the receiver; empty asks for nothing.
    pub on: Vec<On>,
    /// Methods of a client that begin a call; empty where every method does that is not told of.
    pub sends: Vec<Arc<str>>,
    /// Whether its methods change what they are called on; else they give another one, and where that is dropped nothing has
    /// changed.
    pub in_place: bool,
    /// Methods of traits, or extension methods, by full path: the trait must be in scope.
    pub method_of: Vec<Arc<str>>,
    /// Record literals, by the full path of their type.
    pub record: Vec<Arc<str>>,
    /// Attributes, decorators, annotations, by full path.
    pub mark: Vec<Arc<str>>,
    /// Constants, by full path.
    pub constants: Vec<Arc<str>>,
    /// Names of the parameters, in order.
    pub params: Vec<Param>,
    /// `policy`, `operation`, `inner`, `name`, `config`, `env`.
    pub own: Vec<Setting>,
    /// What it says.
    pub says: Sayings,
    /// What it says instead in some versions; later ones win.
    pub when: Vec<(Versions, Sayings)>,
}

/// Targets that stand in the shape itself.
const OWN: &[Target] = &[Target::Policy, Target::Operation, Target::Inner, Target::Name, Target::Config, Target::Env];

impl Shape {
    /// Every full path that it matches by.
    pub fn paths(&self) -> impl Iterator<Item = &Arc<str>> {
        self.call.iter().chain(&self.method_of).chain(&self.record).chain(&self.mark).chain(&self.constants)
    }

    /// The shape's sayings, those of versions included.
    pub fn all_sayings(&self) -> impl Iterator<Item = &Sayings> {
        std::iter::once(&self.says).chain(self.when.iter().map(|(_, says)| says))
    }
}

/// Reads a shape; none if it is not even said what it is.
pub(super) fn shape(node: Node<'_>, rules: Option<&[&str]>, faults: &mut Faults) -> Option<Shape> {
    let is = is(node, faults)?;
    let params = params(node, faults);
    let names: Vec<Arc<str>> = params.iter().map(|param| Arc::clone(&param.name)).collect();
    let values = Reader { params: &names };
    let mut shape = Shape {
        id: None,
        is,
        part: None,
        call: Vec::new(),
        method: Vec::new(),
        on: Vec::new(),
        sends: Vec::new(),
        in_place: false,
        method_of: Vec::new(),
        record: Vec::new(),
        mark: Vec::new(),
        constants: Vec::new(),
        params,
        own: Vec::new(),
        says: Sayings::default(),
        when: Vec::new(),
    };
    for entry in node.written_entries() {
        let paths = |faults: &mut Faults| -> Vec<Arc<str>> {
            texts(&entry, keys::PATHS, faults).into_iter().map(|(text, _)| path(text)).collect()
        };
        match entry.key {
            "is" | "params" => {}
            "id" => shape.id = plain(&entry, TEXT, faults),
            "part" => shape.part = plain(&entry, TEXT, faults),
            "call" => shape.call = paths(faults),
            "method_of" => shape.method_of = paths(faults),
            "record" => shape.record = paths(faults),
            "mark" => shape.mark = paths(faults),
            "const" => shape.constants = paths(faults),
            // A list of names is what it matches; a table, what methods of the chain say.
            "method" if !entry.value.is_map() => {
                let names = texts(&entry, keys::METHODS, faults);
                shape.method = names.into_iter().map(|(text, _)| text.into()).collect();
            }
            "on" => {
                let all = texts(&entry, keys::ON, faults);
                shape.on = all.into_iter().map(|(text, _)| On::Method(text.into())).collect();
            }
            "sends" => {
                let all = texts(&entry, keys::SENDS, faults);
                shape.sends = all.into_iter().map(|(text, _)| text.into()).collect();
            }
            "in_place" => shape.in_place = plain(&entry, SWITCH, faults).unwrap_or(false),
            "when" => whens(&entry, &mut shape, &values, rules, faults),
            key => {
                if let Some(target) = Target::parse(key).filter(|target| OWN.contains(target)) {
                    if let Some(value) = values.value(key, entry.value, target.kind(), faults) {
                        shape.own.push(Setting { target, value });
                    }
                } else if !sayings(&entry, &mut shape.says, &values, rules, faults) {
                    faults.unknown(&entry, &keys::SHAPE);
                }
            }
        }
    }
    check(node, &shape, faults);
    Some(shape)
}

fn is(node: Node<'_>, faults: &mut Faults) -> Option<Is> {
    let known: Vec<&str> = IS.iter().map(|(name, _)| *name).collect();
    let Some(word) = node.get("is") else {
        let help = format!("one of {}", quoted(&known));
        faults.add(node.span(), "a shape needs `is`: what it is", Some(help));
        return None;
    };
    let is = IS.iter().find(|(name, _)| word.text() == Some(name)).map(|(_, is)| *is);
    if is.is_none() {
        let help = word.text().and_then(|text| suggestion(text, &known));
        let help = help.unwrap_or_else(|| format!("one of {}", quoted(&known)));
        faults.add(word.span(), format!("{} is no kind of shape", found(word)), Some(help));
    }
    is
}

/// `["label", "max=none", "exp_base=2"]`.
fn params(node: Node<'_>, faults: &mut Faults) -> Vec<Param> {
    let Some(entry) = node.entry("params") else { return Vec::new() };
    let all = texts(&entry, keys::PARAMS, faults);
    all.into_iter()
        .map(|(text, _)| match text.split_once('=') {
            Some((name, default)) => {
                Param { name: name.trim().into(), default: Some(super::values::literal(default.trim())) }
            }
            None => Param { name: text.trim().into(), default: None },
        })
        .collect()
}

fn whens(entry: &Entry<'_>, shape: &mut Shape, values: &Reader<'_>, rules: Option<&[&str]>, faults: &mut Faults) {
    if !entry.value.is_seq() || entry.value.items().any(|item| !item.is_map()) {
        faults.misfit("when", entry.value, "tables: `[[shape.when]]`");
        return;
    }
    for node in entry.value.items() {
        let mut says = Sayings::default();
        let mut versions = None;
        for entry in node.written_entries() {
            if entry.key == "versions" {
                versions = entry.value.text().and_then(Versions::parse);
                if versions.is_none() {
                    faults.misfit("versions", entry.value, "versions such as `\">=1.4, <2\"`");
                }
            } else if !sayings(&entry, &mut says, values, rules, faults) {
                faults.unknown(&entry, &keys::WHEN);
            }
        }
        match versions {
            Some(versions) => shape.when.push((versions, says)),
            None if node.get("versions").is_some() => {}
            None => faults.add(node.span(), "`when` needs `versions`", None),
        }
    }
}

/// Whether the entry is something that shapes and their versions say.
fn sayings(
    entry: &Entry<'_>,
    all: &mut Sayings,
    values: &Reader<'_>,
    rules: Option<&[&str]>,
    faults: &mut Faults,
) -> bool {
    match entry.key {
        "default" => all.default = Some(says("default", entry.value, values, faults)),
        "sets" => all.sets = Some(says("sets", entry.value, values, faults)),
        "method" | "chain" => all.method.extend(table(entry, values, faults)),
        "request" => all.request = table(entry, values, faults),
        "field" => all.field = table(entry, values, faults),
        "argument" => all.argument = table(entry, values, faults),
        "callback" => all.callback = callback(entry, values, faults),
        "layers" => {
            if !entry.value.is_seq() || entry.value.items().any(|item| !item.is_map()) {
                faults.misfit("layers", entry.value, "a list of tables such as `{ push = \"retry\" }`");
            } else {
                all.layers = entry.value.items().map(|item| clause(item, values, faults)).collect();
            }
        }
        "order" => all.order = plain(entry, ORDER, faults),
        "help" => {
            if faults.is_map(entry, "a table of advice by rule") {
                for advice in entry.value.written_entries() {
                    if let Some(rules) = rules.filter(|rules| !rules.contains(&advice.key)) {
                        faults.unknown_name(advice.key_span, "no rule is called", advice.key, rules.iter().copied());
                    }
                    all.help.extend(plain(&advice, TEXT, faults).map(|text| (advice.key.into(), text)));
                }
            }
        }
        _ => return false,
    }
    true
}

/// What must hold of a whole shape.
fn check(node: Node<'_>, shape: &Shape, faults: &mut Faults) {
    if shape.paths().next().is_none() && shape.method.is_empty() {
        faults.add(
            node.span(),
            "a shape needs something that it is recognised by",
            Some("one of `call`, `method`, `method_of`, `record`, `mark`, `const`".to_string()),
        );
    }
    if (shape.is == Is::Part) != shape.part.is_some() {
        let message =
            if shape.part.is_some() { "only a part has `part`" } else { "a part needs `part`: of which kind" };
        faults.add(node.span(), message, None);
    }
    if !shape.on.is_empty() && shape.method.is_empty() && shape.method_of.is_empty() {
        faults.add(node.span(), "`on` says what a method is called on, and there is no `method`", None);
    }
}
