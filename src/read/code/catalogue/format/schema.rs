//! The schema of what a catalogue's entry may write as a value: made from the targets and their kinds.

use serde_json::{Value, json};

use super::example::{EXPECTED, NOT_READ};
use super::keys::CLAUSE;
use super::targets::{Kind, Target};
use super::values::SETS;
use super::versions::KINDS;
use crate::read::vocabulary::schema::{self, RATE, Schema, TEXT, any_of, reference, sentence, text, told};
use crate::read::vocabulary::{Is, Key, Need, Table};

const VERSION: &str = r"[0-9]+(\.[0-9]+){0,2}";
/// `$0`, `$base_ms ms`, `$on.0`, `$0.Retry.Delay`.
const REFERENCE: &str = r"^\s*\$[A-Za-z0-9_]+(\.[^.\s]+)*(\s+(ns|us|ms|s|min|h|d|%|/s|in flight))?\s*$";

/// Defines everything that tables of the catalogue refer to.
pub fn define(schema: &mut Schema) {
    let range = format!(r"\s*(>=|<=|>|<|=)\s*{VERSION}\s*");
    let ranges = format!("{range}(,{range})*");
    let clause = clause(schema);
    let expected = expected();
    for (name, value) in [
        ("version", text(&format!("^{VERSION}$"))),
        ("versions", text(&format!("^{ranges}$"))),
        ("package", text(&format!("^({}):@?[^@]+(@{ranges})?$", KINDS.join("|")))),
        ("reference", told("What stands in code: `$0`, `$times`, `$value`, `$base_ms ms`.", text(REFERENCE))),
        ("place", text(r"^\$[0-9]+(\.[^.\s]+)+$")),
        (
            "tests",
            json!({ "type": "object", "propertyNames": reference("reference"), "additionalProperties": reference("any-value") }),
        ),
        ("clause", clause),
        (
            "says",
            told(
                "Targets and what they are set to; or a list of such tables with `if`, of which the first that holds counts.",
                one_or_more("clause"),
            ),
        ),
        ("failures", failures()),
        ("measure", json!({ "type": "object" })),
        ("expected", expected),
        ("expect", one_or_more("expected")),
    ] {
        schema.defs.insert(name.into(), value);
    }
    let kinds = Target::ALL.iter().map(|(_, target)| target.kind());
    let parts = kinds.clone().flat_map(|kind| kind.parts()).map(|(_, kind)| *kind);
    for kind in kinds.chain(parts).chain(EXPECTED.iter().map(|(_, _, kind)| *kind)).chain([Kind::Any]) {
        schema.defs.insert(name(kind), value(kind));
    }
}

fn one_or_more(name: &str) -> Value {
    any_of(vec![reference(name), json!({ "type": "array", "items": reference(name) })])
}

/// What may be set together.
fn clause(schema: &mut Schema) -> Value {
    let mut clause = schema.body(&CLAUSE);
    for (name, target) in Target::ALL {
        clause["properties"][name] = told(&sentence(target.about()), of(target.kind()));
    }
    clause
}

/// What an example may expect.
fn expected() -> Value {
    let targets = Target::ALL.iter().filter(|(_, target)| !NOT_READ.contains(target));
    let mut properties: serde_json::Map<String, Value> =
        targets.map(|(name, target)| (name.to_string(), of(target.kind()))).collect();
    for (name, _, kind) in EXPECTED {
        let also = properties.remove(*name);
        properties.insert(name.to_string(), any_of([of(*kind)].into_iter().chain(also).collect()));
    }
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// What schemas call a value of a kind.
fn name(kind: Kind) -> String {
    let name = match kind {
        Kind::Count => "tries-value",
        Kind::Whole => "whole-value",
        Kind::Number => "number-value",
        Kind::Time => "time-value",
        Kind::Limit => "limit-value",
        Kind::Added => "added-value",
        Kind::Schedule => "schedule-value",
        Kind::Words(words) => return format!("word-{}", words.first().unwrap()),
        Kind::Jitter => "jitter-value",
        Kind::Predicate => "predicate-value",
        Kind::Methods => "methods-value",
        Kind::Budget => "budget-value",
        Kind::Floor => "floor-value",
        Kind::Breaker => "breaker-value",
        Kind::Hedge => "hedge-value",
        Kind::Switch => "switch-value",
        Kind::Text => "text-value",
        Kind::Code => "code-value",
        Kind::Any => "any-value",
    };
    name.to_string()
}

/// A value of a kind: each is defined once.
fn of(kind: Kind) -> Value {
    reference(&name(kind))
}

/// Everything that may be written for a kind.
fn value(kind: Kind) -> Value {
    let mut all = literals(kind);
    all.push(reference("reference"));
    let list = |item: Value| json!({ "type": "array", "items": item });
    match kind {
        Kind::Schedule => all.push(list(of(Kind::Time))),
        Kind::Methods => all.push(list(of(Kind::Text))),
        Kind::Predicate => all.push(list(reference("failures"))),
        _ => {}
    }
    all.push(json!({
        "type": "object",
        "description": "One of several, by what `of` is in code; `else` takes the rest.",
        "required": ["of"],
        "properties": { "of": reference("reference") },
        "additionalProperties": of(kind),
    }));
    if kind.folds() {
        let items = |item: Value| json!({ "type": "array", "items": item, "minItems": 1 });
        let factors = if kind.factor() == kind { vec![of(kind)] } else { vec![of(kind), of(kind.factor())] };
        let mut folds = json!({ "mul": items(any_of(factors)) });
        ["add", "sub", "min", "max"].iter().for_each(|fold| folds[fold] = items(of(kind)));
        all.push(table("Computed from several.", folds, 1));
    }
    if kind == Kind::Count {
        all.push(table("Retries: as many as delays add up to less than this.", json!({ "fit": of(Kind::Time) }), 1));
    }
    if kind == Kind::Predicate {
        let mut unless = table(
            "Every failure, unless one of these names stands in that code.",
            json!({ "unless": any_of(vec![text(TEXT), list(text(TEXT))]), "in": reference("reference") }),
            2,
        );
        unless["required"] = json!(["unless", "in"]);
        all.push(unless);
    }
    if !kind.parts().is_empty() {
        let parts: Value = kind.parts().iter().map(|(name, kind)| (name.to_string(), of(*kind))).collect();
        all.push(table("Its parts.", parts, kind.parts().len()));
    }
    any_of(all)
}

/// A table of at least one of these, and at most so many.
fn table(about: &str, properties: Value, most: usize) -> Value {
    json!({
        "type": "object",
        "description": about,
        "properties": properties,
        "minProperties": 1,
        "maxProperties": most,
        "additionalProperties": false,
    })
}

/// What is written without referring to code.
fn literals(kind: Kind) -> Vec<Value> {
    let mut words: Vec<&str> = Vec::new();
    words.extend(kind.may_be_none().then_some("none"));
    let mut all = match kind {
        Kind::Count | Kind::Whole => vec![json!({ "type": "integer", "minimum": 0 })],
        Kind::Number => vec![json!({ "type": "number" })],
        Kind::Time | Kind::Limit | Kind::Added => vec![json!({ "const": 0 }), text(schema::DURATION)],
        Kind::Floor => vec![json!({ "const": 0 }), text(RATE), text(r"^\s*[0-9]+\s*in flight\s*$")],
        Kind::Switch => vec![json!({ "type": "boolean" })],
        Kind::Predicate => vec![reference("failures")],
        Kind::Text => vec![text(r"^\s*[^\s$]")],
        Kind::Any => vec![json!({ "type": ["number", "boolean"] }), text(r"^\s*[^\s$]")],
        _ => Vec::new(),
    };
    match kind {
        Kind::Count => words.push("unbounded"),
        Kind::Words(of) => words.extend(of),
        Kind::Jitter => words.extend(["full", "equal", "decorrelated"]),
        Kind::Methods => words.extend(["any", "idempotent"]),
        Kind::Predicate => words.push("opaque"),
        _ => {}
    }
    words.extend(kind.may_be_unknown().then_some("unknown"));
    if !words.is_empty() && kind != Kind::Any {
        all.push(json!({ "enum": words }));
    }
    all
}

/// A set of failure classes, or one of them.
fn failures() -> Value {
    let sets: Vec<&str> = SETS.iter().map(|(name, _)| *name).collect();
    told("A failure class, or several that have a name.", any_of(vec![json!({ "enum": sets }), reference("class")]))
}

/// Tables that have no place of their own among the tables of keys: what a clause says, the parts of values, what an example
/// expects. Each with a shape's `sets` that holds it, or none if it is what is expected.
pub fn tables() -> Vec<(&'static Table, Option<&'static str>)> {
    let any = |name: &'static str| Key::new(name, Is::Defined("any-value"), "");
    let table = |name: &'static str, keys: Vec<Key>, needs: &'static [Need]| -> &'static Table {
        let keys: &'static [Key] = keys.leak();
        let keys: &'static [&'static [Key]] = vec![keys].leak();
        Box::leak(Box::new(Table { name, place: "", shape: "", about: "", keys, needs }))
    };
    let mut clause: Vec<Key> = Target::ALL.iter().map(|(name, _)| any(name)).collect();
    clause.extend(CLAUSE.keys());
    let mut all = vec![(table("clause", clause, CLAUSE.needs), Some(""))];
    for (name, target) in Target::ALL.iter().filter(|(_, target)| !target.kind().parts().is_empty()) {
        let parts = target.kind().parts().iter().map(|(name, _)| any(name)).collect();
        all.push((table(name, parts, &[]), Some(name)));
    }
    let readable = Target::ALL.iter().filter(|(_, target)| !NOT_READ.contains(target)).map(|(name, _)| *name);
    let mut expected: Vec<&str> = readable.chain(EXPECTED.iter().map(|(name, ..)| *name)).collect();
    expected.sort_unstable();
    expected.dedup();
    all.push((table("expected", expected.into_iter().map(any).collect(), &[]), None));
    all
}
