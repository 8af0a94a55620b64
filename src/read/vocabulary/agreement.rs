//! Readers and schemas say the same: every key of every table is given every kind of value, and the reader must find no
//! fault just where the schema finds none.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{Is, Key, Need, Table};

/// Why a reader and a schema may differ about a value at a key.
pub struct Excuse {
    /// Why they cannot agree.
    pub why: &'static str,
    /// Who takes it.
    pub taken: By,
    /// Whether it is about this: the table's name, the key, what is written there.
    pub holds: fn(&str, &str, &Value) -> bool,
}

/// Who takes a value that the other does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The reader.
    Reader,
    /// The schema.
    Schema,
}

/// A reader beside its schema.
pub struct Agreement<'a> {
    /// The schema.
    pub schema: Value,
    /// Whether the reader takes a whole file; none where the file cannot be written in its format.
    pub reads: &'a dyn Fn(&Value) -> Option<bool>,
    /// What may differ.
    pub excuses: &'a [Excuse],
}

/// Whether an address, or several, stand where a service is named: none of them is a name.
pub fn is_address(key: &str, written: &Value) -> bool {
    let is = |text: &str| text.matches(':').count() > 1 || text == "localhost" || text == "10.0.0.1";
    let is_there = match written {
        Value::String(text) => is(text),
        Value::Array(items) => items.iter().any(|item| item.as_str().is_some_and(is)),
        Value::Object(map) => map.keys().any(|key| is(key)),
        _ => false,
    };
    is_there && ["services", "calls", "from", "to", "aliases"].contains(&key)
}

/// What was found.
#[derive(Default)]
struct Found {
    tables: BTreeSet<&'static str>,
    excused: BTreeSet<&'static str>,
    differences: Vec<String>,
    tried: usize,
}

/// A whole file around a table.
type Wrap<'w> = &'w dyn Fn(Value) -> Value;

impl Agreement<'_> {
    /// Holds them against each other: the file whose top is the first table, and other tables in what surrounds them.
    pub fn check(&self, top: &'static Table, others: &[(&'static Table, Wrap<'_>)]) {
        assert!(jsonschema::meta::is_valid(&self.schema));
        let validator = jsonschema::options().build(&self.schema).unwrap();
        let mut found = Found::default();
        self.table(&validator, top, &|top| top, &mut found);
        for (table, wrap) in others {
            self.table(&validator, table, wrap, &mut found);
        }
        let differences = found.differences.join("\n");
        assert!(differences.is_empty(), "{} differ:\n{differences}", found.differences.len());
        for excuse in self.excuses {
            assert!(found.excused.contains(excuse.why), "nothing needs this any more: {}", excuse.why);
        }
        assert!(found.tried > 1_000, "{}", found.tried);
    }

    fn table(&self, validator: &jsonschema::Validator, table: &'static Table, wrap: Wrap<'_>, found: &mut Found) {
        if !found.tables.insert(table.name) {
            return;
        }
        let mut compare = |key: &str, written: &Value, file: Value| {
            let (says, Some(reads)) = (validator.is_valid(&file), (self.reads)(&file)) else { return };
            found.tried += 1;
            if says == reads {
                return;
            }
            let taken = if says { By::Schema } else { By::Reader };
            let is_it = |excuse: &&Excuse| excuse.taken == taken && (excuse.holds)(table.name, key, written);
            match self.excuses.iter().find(is_it) {
                Some(excuse) => _ = found.excused.insert(excuse.why),
                None => found
                    .differences
                    .push(format!("taken by {taken:?}: `{key}` of {}: {written} in {file}", table.name)),
            }
        };
        let whole = Value::Object(minimal(table, &[], true));
        compare("", &whole, wrap(whole.clone()));
        for key in table.keys() {
            for written in candidates(key.is) {
                let mut fields = minimal(table, &[key], true);
                fields.insert(key.name.into(), written.clone());
                compare(key.name, &written, wrap(Value::Object(fields)));
            }
            // Without what must be there, with what must not be, and every two keys together.
            let mut without = minimal(table, &[], true);
            if without.remove(key.name).is_some() {
                compare(key.name, &Value::Null, wrap(Value::Object(without)));
            }
            let mut more = minimal(table, &[key], true);
            more.insert(format!("{}z", key.name), sample(key.is));
            compare(key.name, &json!("unknown key"), wrap(Value::Object(more)));
            for other in table.keys().skip_while(|other| other.name != key.name).skip(1) {
                let mut both = minimal(table, &[key, other], false);
                both.insert(key.name.into(), sample(key.is));
                both.insert(other.name.into(), sample(other.is));
                compare(key.name, &json!({ other.name: sample(other.is) }), wrap(Value::Object(both)));
            }
        }
        for key in table.keys() {
            for (inner, put) in tables(key.is) {
                let wrap = |inner: Value| {
                    let mut fields = minimal(table, &[key], true);
                    fields.insert(key.name.into(), put(inner));
                    wrap(Value::Object(fields))
                };
                self.table(validator, inner, &wrap, found);
            }
        }
    }
}

/// The least that a table must hold, and what some keys ask for beside them.
fn minimal(table: &Table, with: &[&Key], is_complete: bool) -> Map<String, Value> {
    let key = |name: &str| table.keys().find(|key| key.name == name).map(|key| sample(key.is));
    let is_there = |name: &str| with.iter().any(|key| key.name == name);
    let mut fields: Map<String, Value> =
        table.keys().filter(|key| key.is_required).map(|key| (key.name.into(), sample(key.is))).collect();
    for need in table.needs {
        match need {
            Need::AnyOf(keys) if !keys.iter().any(|key| is_there(key)) => {
                fields.extend(keys.iter().take(1).filter_map(|name| Some((name.to_string(), key(name)?))));
            }
            Need::One if with.is_empty() && is_complete => {
                fields.extend(table.keys().take(1).map(|key| (key.name.into(), sample(key.is))));
            }
            Need::With(name, others) if is_there(name) && is_complete => {
                fields.extend(others.iter().take(1).filter_map(|name| Some((name.to_string(), key(name)?))));
            }
            Need::Just(name, of, word) if is_there(name) && is_complete => _ = fields.insert((*of).into(), json!(word)),
            _ => {}
        }
    }
    fields
}

/// A table in a value, with how it gets there.
type Inside = (&'static Table, Box<dyn Fn(Value) -> Value>);

/// The tables in a value.
fn tables(is: Is) -> Vec<Inside> {
    let inside = |is: Is, put: fn(Value) -> Value| -> Vec<Inside> {
        let wrap = |(table, inner): (_, Box<dyn Fn(Value) -> Value>)| {
            (table, Box::new(move |value| put(inner(value))) as Box<dyn Fn(Value) -> Value>)
        };
        tables(is).into_iter().map(wrap).collect()
    };
    match is {
        Is::Table(table) => vec![(table, Box::new(|value| value))],
        Is::Either(each, _) => each.iter().flat_map(|is| tables(*is)).collect(),
        Is::Some(item, _) | Is::List(item) | Is::Series(item) => inside(*item, |value| json!([value])),
        Is::Map(_, values) => inside(*values, |value| json!({ "x": value })),
        Is::OrNothing(is) => tables(*is),
        _ => Vec::new(),
    }
}

/// A value that is right.
fn sample(is: Is) -> Value {
    match is {
        Is::Whole(_) | Is::Number(_) | Is::Only(_) | Is::Share => json!(1),
        Is::Switch => json!(true),
        Is::Duration | Is::Time => json!("1s"),
        Is::Rate => json!("5/s"),
        Is::Size => json!("5 MB"),
        Is::Date => json!("2027-01-31"),
        Is::IstioVersion => json!("1.24"),
        Is::TomlFile => json!("x.toml"),
        Is::Text(_) | Is::Reason | Is::Host => json!("x"),
        Is::Class => json!("overload"),
        Is::Rule => json!("missing-jitter"),
        Is::Words(words) => json!(words.names().first()),
        Is::Either(each, _) => sample(*each.first().unwrap()),
        Is::Some(item, _) | Is::List(item) | Is::Series(item) => json!([sample(*item)]),
        Is::Table(table) => Value::Object(minimal(table, &[], true)),
        Is::Map(names, values) => json!({ sample(*names).as_str().unwrap(): sample(*values) }),
        Is::Defined(name) => match name {
            "package" => json!("cargo:x@>=1"),
            "versions" => json!(">=1, <2"),
            "version" => json!("1.2"),
            "place" => json!("$0.x"),
            "code-value" | "reference" => json!("$0"),
            "says" | "clause" | "measure" => json!({}),
            "tests" => json!({ "$0": 1 }),
            "expect" => json!([]),
            _ => json!("x"),
        },
        Is::OrNothing(is) => sample(*is),
    }
}

/// Everything that is tried as a value.
fn candidates(is: Is) -> Vec<Value> {
    let mut all = scalars();
    words(is, &mut all);
    all.push(sample(is));
    if let Is::Defined(_) = is {
        all.extend(computed());
    }
    let mut more = vec![json!([]), json!([[]]), json!([{}]), json!({}), json!([{ "x": 1 }]), json!({ "x": 1 })];
    more.extend([json!(["x"]), json!([1]), json!([sample(is), sample(is)])]);
    match is {
        Is::Map(names, values) => {
            let name = sample(*names);
            more.extend(all.iter().filter_map(|one| Some(json!({ one.as_str()?: sample(*values) }))));
            more.extend(candidates(*values).into_iter().map(|one| json!({ name.as_str().unwrap(): one })));
        }
        Is::Defined(_) => more.extend(LISTED.map(|one| json!([one]))),
        Is::Either(..) | Is::Some(..) | Is::List(_) | Is::Series(_) => {
            more.extend(all.iter().map(|one| json!([one])));
        }
        _ => {}
    }
    all.extend(more);
    all
}

/// The words of a value's enumerations, and of those inside it.
fn words(is: Is, all: &mut Vec<Value>) {
    match is {
        Is::Words(words) => all.extend(words.names().into_iter().map(Value::from)),
        Is::Either(each, _) => each.iter().for_each(|is| words(*is, all)),
        Is::Some(item, _) | Is::Series(item) => words(*item, all),
        Is::Class => all.extend(["overload", "UNAVAILABLE", "503", " 503 ", "600"].map(Value::from)),
        _ => {}
    }
}

/// Numbers, switches and texts of all kinds, nothing, and what entries of the catalogue may write.
fn scalars() -> Vec<Value> {
    let mut all = vec![
        json!(null),
        json!(-1),
        json!(0),
        json!(1),
        json!(2),
        json!(503),
        json!(9_007_199_254_740_993_i64),
        json!(-0.5),
        json!(0.0),
        json!(0.5),
        json!(1.0),
        json!(1.5),
        json!(3.0),
        json!(1e9),
        json!(1e300),
        json!(true),
        json!(false),
    ];
    all.extend(TEXTS.map(Value::from));
    all
}

/// What entries of the catalogue may compute.
fn computed() -> [Value; 18] {
    [
        json!({ "of": "$0" }),
        json!({ "of": "$0", "Fixed": "1s", "else": 3 }),
        json!({ "of": "x" }),
        json!({ "mul": ["$0", 2] }),
        json!({ "add": ["1s", "$0"] }),
        json!({ "add": ["503", "connect"] }),
        json!({ "min": [] }),
        json!({ "min": [1], "max": [1] }),
        json!({ "fit": "$0" }),
        json!({ "fit": "$0", "x": 1 }),
        json!({ "unless": "x", "in": "$0" }),
        json!({ "unless": ["x"] }),
        json!({ "low": 0.5, "high": "$0", "plus": "1s", "at": "after-cap" }),
        json!({ "ratio": 0.5, "floor": "3/s" }),
        json!({ "ratio": 0.5, "probes": 3 }),
        json!({ "copies": 1, "delay": "1s" }),
        json!(["$0", "1s"]),
        json!({ "$0": 1, "$1.x": "y" }),
    ]
}

/// Items of lists where there may be any.
const LISTED: [&str; 9] = ["", "1", "5s", "503", "connect", "GET", "none", "$0", "${X}"];

const TEXTS: [&str; 80] = [
    "",
    " ",
    "x",
    "1",
    "-1",
    "0",
    "1.5",
    "1e3",
    "true",
    "yes",
    "none",
    "unbounded",
    "unknown",
    "any",
    "idempotent",
    "opaque",
    "transient-http",
    "full",
    "fixed",
    "5s",
    " 5s ",
    "1m30s",
    "1.s",
    ".5s",
    ".s",
    "5",
    "5 s",
    "-5s",
    "0s",
    "0.0s",
    "PT2S",
    "P1D",
    "P1DT2H",
    "PT",
    "P",
    "P1",
    "pt0.5s",
    "PT1S1M",
    "00:00:30",
    "1.02:03:04.5",
    "24:00:00",
    "00:30",
    "10%",
    "100.0%",
    "101%",
    "+5%",
    "1e1%",
    "500/s",
    "0.5/min",
    "1e3/s",
    "-1/s",
    "5/d",
    "3 in flight",
    "localhost",
    "10.0.0.1",
    "5 ib",
    "5 MB",
    "5MiB",
    "0 kb",
    "x.toml",
    "${X}",
    "${X:-3}",
    "$(X)",
    "$X",
    "{{ x }}",
    "2027-01-31",
    "2027-02-29",
    "2027-02-30",
    "2027-13-01",
    "1.24",
    "2.1",
    "1.",
    "cargo:x",
    "cargo:x@>=1,<2",
    ">=1, <2",
    "$0",
    "$value ms",
    "$0.a.b",
    "$0 x",
    "acme::x",
];
