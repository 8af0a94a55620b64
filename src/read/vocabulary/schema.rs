//! JSON Schemas (draft 2020-12) of files in our own words, made from their tables.

use serde_json::{Map, Value, json};

use super::{Form, Is, Key, Need, Table};
use crate::facts::Class;
use crate::rules;

/// A schema under construction.
pub struct Schema {
    form: Form,
    /// `$defs`.
    pub defs: Map<String, Value>,
}

/// The schema of a file whose top has the keys of this table, and what else it defines.
pub fn schema(title: &str, table: &Table, form: Form, define: impl FnOnce(&mut Schema)) -> Value {
    let mut schema = Schema { form, defs: Map::new() };
    let mut root = schema.body(table);
    root["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    root["title"] = json!(title);
    define(&mut schema);
    root["$defs"] = Value::Object(schema.defs);
    root
}

/// What a schema takes that takes any of these.
pub fn any_of(mut all: Vec<Value>) -> Value {
    if all.len() == 1 { all.remove(0) } else { json!({ "anyOf": all }) }
}

/// A text of this form.
pub fn text(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

/// A description as a sentence.
pub fn sentence(about: &str) -> String {
    let about = about.trim();
    let mut chars = about.chars();
    let first = chars.next().map(|c| c.to_uppercase().collect::<String>()).unwrap_or_default();
    let end = if about.ends_with(['.', '?']) { "" } else { "." };
    format!("{first}{}{end}", chars.as_str())
}

/// Any text that is not empty.
pub const TEXT: &str = r"\S";
/// A length of time with its unit, in every spelling: `1m30s`, `PT1M30S`, `00:01:30`.
pub const DURATION: &str = concat!(
    r"^\s*(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h|d))+\s*$",
    r"|^\s*[Pp](?=[0-9Tt])([0-9]+([.,][0-9]+)?[Ww])?([0-9]+([.,][0-9]+)?[Dd])?",
    r"([Tt](?=[0-9])([0-9]+([.,][0-9]+)?[Hh])?([0-9]+([.,][0-9]+)?[Mm])?([0-9]+([.,][0-9]+)?[Ss])?)?\s*$",
    r"|^\s*([0-9]+[.:])?0*(1?[0-9]|2[0-3]):0*[0-5]?[0-9]:0*[0-5]?[0-9](\.[0-9]{1,7})?\s*$",
);
/// A rate.
pub const RATE: &str = r"^\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*/\s*(s|sec|second|m|min|minute|h|hour)\s*$";
const SHARE: &str = r"^\s*(0*100(\.0*)?|0*[0-9]{1,2}(\.[0-9]*)?|\.[0-9]+)\s*%\s*$";
const SIZE: &str = r"^\s*0*[1-9][0-9]*\s*([kKmMgG][iI]?)?[bB]\s*$";
const DATE: &str = concat!(
    "^[0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])",
    "|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|[12][0-9]))$",
);
const HOST: &str = r"^\s*[^\s*\[|{$%<][^\s|{$%<]*\s*$|^\s*outbound";
/// What is filled in later. In YAML, `{{` starts a mapping without quotes, and a template all the same.
const HOLE: &str = r"\$\{.*\}|\$\(.*\)|^\$[A-Za-z0-9_]+$|\{\{.*\}\}";

impl Schema {
    /// What a value of this kind must be.
    pub fn of(&mut self, is: Is) -> Value {
        let mut all = Vec::new();
        let takes_holes = self.add(is, &mut all);
        if self.form == Form::Manifest && !takes_holes {
            all.push(self.hole());
        }
        any_of(all)
    }

    /// Adds what a value of this kind may be; true if a hole is among that, or must not be.
    fn add(&mut self, is: Is, all: &mut Vec<Value>) -> bool {
        match is {
            Is::Whole(0) => self.shared("count", json!({ "type": "integer", "minimum": 0 }), all),
            Is::Whole(least) => plain(json!({ "type": "integer", "minimum": least }), all),
            Is::Number(least) => plain(json!({ "type": "number", "minimum": least }), all),
            Is::Switch => plain(json!({ "type": "boolean" }), all),
            Is::Only(number) => plain(json!({ "const": number }), all),
            Is::Duration => {
                let duration = told("`250ms`, `1m30s`, `0.25s`, `PT2S`, `00:00:30`.", text(DURATION));
                self.shared("duration", duration, all)
            }
            Is::Time => {
                let mut duration = self.of(Is::Duration);
                // `PT0S` and `0.0s` have no other digit.
                duration["pattern"] = json!("[1-9]");
                all.push(duration);
                true
            }
            Is::Rate => self.shared("rate", told("`500/s`, `30/m`, `1000/h`.", text(RATE)), all),
            Is::Share => {
                let number = json!({ "type": "number", "minimum": 0, "maximum": 1 });
                self.shared("share", told("`0.1` or `10%`.", any_of(vec![number, text(SHARE)])), all)
            }
            Is::Size => plain(any_of(vec![json!({ "type": "integer", "minimum": 1 }), text(SIZE)]), all),
            Is::Date => plain(json!({ "type": "string", "format": "date", "pattern": DATE }), all),
            Is::IstioVersion => plain(text(r"^\s*1(\.[0-9]+)+\s*$"), all),
            Is::TomlFile => plain(text(r"\.toml\s*$"), all),
            Is::Reason => plain(text(r"[\p{L}\p{N}]"), all),
            Is::Host => self.shared("host", told("`name`, `name.namespace`, or any host.", text(HOST)), all),
            Is::Class => self.shared("class", class(), all),
            Is::Rule => {
                let ids: Vec<&str> = rules::ALL.iter().map(|rule| rule.id).collect();
                self.shared("rule", told("The id of a rule.", json!({ "enum": ids })), all)
            }
            Is::Text(_) => {
                all.push(text(TEXT));
                true
            }
            Is::Words(words) => match words.names().as_slice() {
                [word] => plain(json!({ "const": word }), all),
                words => plain(json!({ "enum": words }), all),
            },
            Is::Either(each, _) => {
                let mut takes_holes = false;
                each.iter().for_each(|is| takes_holes |= self.add(*is, all));
                takes_holes
            }
            Is::Some(Is::Text(_), _) => {
                let texts = any_of(vec![text(TEXT), json!({ "type": "array", "items": text(TEXT) })]);
                self.defs.insert("texts".into(), texts);
                all.push(reference("texts"));
                true
            }
            Is::Some(item, _) => {
                let one = self.of(*item);
                all.extend([one.clone(), json!({ "type": "array", "items": one })]);
                true
            }
            Is::List(item) => {
                all.push(json!({ "type": "array", "items": self.of(*item) }));
                true
            }
            Is::Series(item) => plain(json!({ "type": "array", "items": self.of(*item), "minItems": 1 }), all),
            Is::Table(table) => {
                if !self.defs.contains_key(table.name) {
                    // A table may be part of itself.
                    self.defs.insert(table.name.into(), Value::Null);
                    let mut body = self.body(table);
                    if self.form == Form::Manifest {
                        let about = body.as_object_mut().and_then(|body| body.remove("description"));
                        body = json!({ "anyOf": [body, self.hole()] });
                        about.into_iter().for_each(|about| body["description"] = about);
                    }
                    self.defs.insert(table.name.into(), body);
                }
                all.push(reference(table.name));
                true
            }
            Is::Map(names, values) => {
                let mut map = json!({ "type": "object", "additionalProperties": self.of(*values) });
                // A name is never a hole.
                match names {
                    Is::Text(_) => {}
                    Is::Host => map["propertyNames"] = text(HOST),
                    names => map["propertyNames"] = self.of(*names),
                }
                plain(map, all)
            }
            Is::Defined(name) => {
                all.push(reference(name));
                true
            }
            Is::OrNothing(is) => {
                all.extend([self.of(*is), json!({ "type": "null" })]);
                true
            }
        }
    }

    /// Defines what is used in many places.
    fn shared(&mut self, name: &str, schema: Value, all: &mut Vec<Value>) -> bool {
        let schema = match self.form {
            Form::Settings => schema,
            Form::Manifest => {
                let mut schema = schema;
                let about = schema.as_object_mut().and_then(|schema| schema.remove("description"));
                let mut each = match schema.get_mut("anyOf") {
                    Some(Value::Array(each)) => std::mem::take(each),
                    _ => vec![schema],
                };
                each.push(self.hole());
                let mut open = any_of(each);
                about.into_iter().for_each(|about| open["description"] = about);
                open
            }
        };
        self.defs.insert(name.into(), schema);
        all.push(reference(name));
        true
    }

    fn hole(&mut self) -> Value {
        let about = "A value that something else fills in: `${NAME}`, `{{ name }}`. It is read as unknown.";
        self.defs.insert("hole".into(), told(about, text(HOLE)));
        reference("hole")
    }

    /// A table with its keys.
    pub fn body(&mut self, table: &Table) -> Value {
        let mut body = json!({ "type": "object", "additionalProperties": false });
        if !table.about.is_empty() {
            body["description"] = json!(sentence(table.about));
        }
        body["properties"] = table.keys().map(|key| (key.name.to_string(), self.key(key))).collect();
        let required: Vec<&str> = table.keys().filter(|key| key.is_required).map(|key| key.name).collect();
        if !required.is_empty() {
            body["required"] = json!(required);
        }
        let any = |keys: &[&str]| keys.iter().map(|key| json!({ "required": [key] })).collect::<Value>();
        for need in table.needs {
            match need {
                Need::AnyOf(keys) => body["anyOf"] = any(keys),
                Need::One => (body["minProperties"], body["maxProperties"]) = (json!(1), json!(1)),
                Need::With(key, [other]) => body["dependentRequired"][key] = json!([other]),
                Need::With(key, others) => body["dependentSchemas"][key] = json!({ "anyOf": any(others) }),
                Need::Just(key, of, word) => {
                    body["if"] = json!({ "properties": { *of: { "const": word } }, "required": [of] });
                    body["then"] = json!({ "required": [key] });
                    body["else"] = json!({ "properties": { *key: false } });
                }
                Need::NotBoth(one, other) => body["not"] = json!({ "required": [one, other] }),
            }
        }
        body
    }

    fn key(&mut self, key: &Key) -> Value {
        let mut schema = self.of(key.is);
        // What is told where the table is defined is not told again.
        let about = match key.is {
            Is::Either(each, _) if key.about.is_empty() => each.iter().find_map(|is| match is {
                Is::Table(table) => Some(table.about),
                _ => None,
            }),
            _ => Some(key.about),
        };
        if let Some(about) = about.filter(|about| !about.is_empty()) {
            schema["description"] = json!(sentence(about));
        }
        if let Some(default) = key.default {
            schema["default"] = serde_json::from_str(default).unwrap();
        }
        schema
    }
}

/// A value of its own, which says nothing of holes.
fn plain(schema: Value, all: &mut Vec<Value>) -> bool {
    all.push(schema);
    false
}

/// What is defined under a name.
pub fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// With what it is, in a sentence.
pub fn told(about: &str, mut schema: Value) -> Value {
    schema["description"] = json!(about);
    schema
}

/// A failure class in each of its spellings.
fn class() -> Value {
    let codes: Vec<&str> = Class::CODES.into_iter().filter(|code| Class::parse(code).is_some()).collect();
    told(
        "A failure class, an HTTP status or a gRPC code.",
        any_of(vec![
            json!({ "enum": Class::ALL.map(Class::name) }),
            json!({ "type": "integer", "minimum": 400, "maximum": 599 }),
            text(r"^\s*[45][0-9][0-9]\s*$"),
            json!({ "enum": codes }),
        ]),
    )
}

#[test]
fn descriptions_are_sentences() {
    assert_eq!(sentence("the files"), "The files.");
    assert_eq!(sentence(" All tries."), "All tries.");
    assert_eq!(sentence("`none` is one"), "`none` is one.");
}
