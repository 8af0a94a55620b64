//! The schemas in `docs/schemas` of what the program writes, against what it really writes.

use std::collections::BTreeSet;

use assert_cmd::Command;
use retrylint::facts::{Class, Position};
use serde_json::{Map, Value, json};

/// Trees whose outputs have, among them, every part that a schema describes.
const TREES: [&str; 6] = [
    "testdata/storm",
    "testdata/calm",
    "testdata/readme",
    "testdata/stories/budgets",
    "testdata/stories/clients",
    "testdata/schemas",
];

/// A command's arguments, its schema, and whether each of its lines is a document.
const OUTPUTS: [(&[&str], &str, bool); 5] = [
    (&["--format", "json"], "check", false),
    (&["--format", "jsonl"], "check-lines", true),
    (&["policies", "--format", "json"], "policies", false),
    (&["graph", "--format", "json"], "graph", false),
    (&["facts"], "facts", false),
];

fn documents(arguments: &[&str], tree: &str, lines: bool) -> Vec<Value> {
    let output =
        Command::cargo_bin("retrylint").unwrap().args(arguments).args(["--include-tests", tree]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let parse = |text: &str| serde_json::from_str(text).unwrap();
    if lines { text.lines().map(parse).collect() } else { vec![parse(&text)] }
}

fn schema(name: &str) -> Value {
    serde_json::from_str(&std::fs::read_to_string(format!("docs/schemas/{name}.schema.json")).unwrap()).unwrap()
}

/// The same schema, which takes nothing that it does not name.
fn strict(mut schema: Value) -> Value {
    fn close(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.values_mut().for_each(close);
                if map.get("properties").is_some_and(Value::is_object) && map.contains_key("required") {
                    map.insert("unevaluatedProperties".into(), Value::Bool(false));
                }
            }
            Value::Array(all) => all.iter_mut().for_each(close),
            _ => {}
        }
    }
    close(&mut schema);
    schema
}

fn validator(name: &str, change: fn(Value) -> Value) -> jsonschema::Validator {
    jsonschema::options().build(&change(schema(name))).unwrap()
}

fn errors(validator: &jsonschema::Validator, document: &Value) -> Vec<String> {
    validator.iter_errors(document).map(|error| format!("{error} at {}", error.instance_path())).collect()
}

#[test]
fn what_is_written_is_what_the_schemas_say_and_nothing_else() {
    for (arguments, name, lines) in OUTPUTS {
        assert!(jsonschema::meta::is_valid(&schema(name)), "{name}");
        let (open, closed) = (validator(name, |schema| schema), validator(name, strict));
        for tree in TREES {
            for document in documents(arguments, tree, lines) {
                assert_eq!(errors(&open, &document), Vec::<String>::new(), "{name} {tree}");
                assert_eq!(errors(&closed, &document), Vec::<String>::new(), "{name} {tree}");
            }
        }
    }
}

/// Every object in a document, as the path to it.
fn objects(value: &Value, at: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            out.push(at.to_string());
            map.iter().for_each(|(key, value)| objects(value, &format!("{at}/{}", key.replace('/', "~1")), out));
        }
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(index, value)| objects(value, &format!("{at}/{index}"), out))
        }
        _ => {}
    }
}

/// Keys that are not in every object of their kind.
fn is_optional(name: &str, path: &str, key: &str) -> bool {
    let is_attempts = path.ends_with("/attempts");
    name == "policies" && ((key == "by" && !is_attempts) || key == "schedule_ms")
}

#[test]
fn a_field_that_is_missing_and_one_of_another_type_are_refused() {
    for (arguments, name, lines) in OUTPUTS {
        let validator = validator(name, |schema| schema);
        let mut tried = 0;
        // Of facts there are more than of what follows from them.
        let trees: &[&str] =
            if name == "facts" { &["testdata/stories/pool"] } else { &["testdata/storm", "testdata/schemas"] };
        for document in trees.iter().flat_map(|tree| documents(arguments, tree, lines)) {
            let mut paths = Vec::new();
            objects(&document, "", &mut paths);
            // Maps, whose keys are data.
            paths.retain(|path| !["/files", "/tries", "/floor", "/methods"].iter().any(|map| path.ends_with(map)));
            for path in paths {
                let keys: Vec<String> = document.pointer(&path).unwrap().as_object().unwrap().keys().cloned().collect();
                for key in keys {
                    let mut without = document.clone();
                    map(&mut without, &path).remove(&key);
                    assert_eq!(validator.is_valid(&without), is_optional(name, &path, &key), "{name} {path} {key}");
                    let mut other = document.clone();
                    map(&mut other, &path).insert(key.clone(), json!([[{ "no": "such type" }]]));
                    assert!(!validator.is_valid(&other), "{name} {path} {key}");
                    tried += 1;
                }
                // What a later version adds is no error.
                let mut more = document.clone();
                map(&mut more, &path).insert("added".into(), json!(1));
                assert!(validator.is_valid(&more), "{name} {path}");
            }
        }
        assert!(tried > 50, "{name} {tried}");
    }
}

fn map<'a>(document: &'a mut Value, path: &str) -> &'a mut Map<String, Value> {
    document.pointer_mut(path).unwrap().as_object_mut().unwrap()
}

#[test]
fn no_schema_names_a_field_that_is_never_written() {
    fn names(value: &Value, out: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                if let Some(properties) = map.get("properties").and_then(Value::as_object) {
                    out.extend(properties.keys().cloned());
                }
                map.values().for_each(|value| names(value, out));
            }
            Value::Array(all) => all.iter().for_each(|value| names(value, out)),
            _ => {}
        }
    }
    fn keys(value: &Value, out: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => map.iter().for_each(|(key, value)| {
                out.insert(key.clone());
                keys(value, out);
            }),
            Value::Array(all) => all.iter().for_each(|value| keys(value, out)),
            _ => {}
        }
    }
    // No tree has every kind of fact.
    for (arguments, name, lines) in OUTPUTS.into_iter().filter(|(_, name, _)| *name != "facts") {
        let (mut named, mut written) = (BTreeSet::new(), BTreeSet::new());
        names(&schema(name), &mut named);
        TREES.iter().flat_map(|tree| documents(arguments, tree, lines)).for_each(|one| keys(&one, &mut written));
        let missing: Vec<&String> = named.difference(&written).collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
    }
}

/// The words that a definition lists, each with what it means.
fn words(definition: &Value) -> Value {
    definition["oneOf"].as_array().unwrap().iter().map(|one| one["const"].clone()).collect()
}

#[test]
fn every_class_and_position_is_named() {
    let classes: Vec<&str> = Class::ALL.iter().map(|class| class.name()).collect();
    let positions: Vec<&str> = Position::ALL.iter().map(|position| position.name()).collect();
    let (policies, graph) = (schema("policies"), schema("graph"));
    assert_eq!(words(&policies["$defs"]["class"]), json!(classes));
    assert_eq!(words(&graph["$defs"]["class"]), json!(classes));
    let of_policies = &policies["$defs"]["policy"]["properties"]["position"]["enum"];
    let of_graph = &graph["$defs"]["position"]["properties"]["position"]["enum"];
    assert_eq!((of_policies, of_graph), (&json!(positions), &json!(positions)));
    let layers: BTreeSet<&str> = Position::ALL.iter().map(|position| position.layer()).collect();
    let named = policies["$defs"]["policy"]["properties"]["layer"]["enum"].as_array().unwrap();
    assert_eq!(named.iter().map(|layer| layer.as_str().unwrap()).collect::<BTreeSet<&str>>(), layers);
}
