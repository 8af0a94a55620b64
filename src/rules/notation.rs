//! What is to be pasted, in the notation of the file that it is for. Advice is written once, as YAML on one line, which
//! says the same as the TOML or JSON of the same keys.

use crate::facts::FileKind;

/// Entries such as `backoff: exponential, base: 100ms` as that notation writes them. What is no such text comes back as it
/// was.
pub(super) fn write(yaml: &str, kind: FileKind) -> String {
    match kind {
        FileKind::Yaml | FileKind::Rust => yaml.to_owned(),
        FileKind::Json => entries(yaml, ": ", '"'.into()).unwrap_or_else(|| yaml.to_owned()),
        FileKind::Toml => entries(yaml, " = ", None).unwrap_or_else(|| yaml.to_owned()),
    }
}

/// `key: value, key: value`; none if it is something else.
fn entries(yaml: &str, between: &str, quote: Option<char>) -> Option<String> {
    let quote = quote.map_or_else(String::new, String::from);
    let written = split(yaml).into_iter().map(|entry| {
        let (key, written) = entry.split_once(": ")?;
        let is_key = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        Some(format!("{quote}{}{quote}{between}{}", is_key.then_some(key)?, value(written, between, &quote)?))
    });
    Some(written.collect::<Option<Vec<String>>>()?.join(", "))
}

fn value(yaml: &str, between: &str, quote: &str) -> Option<String> {
    let inside = |open: char, close: char| yaml.strip_prefix(open)?.strip_suffix(close).map(str::trim);
    if let Some(map) = inside('{', '}') {
        let map = entries(map, between, quote.chars().next())?;
        return Some(format!("{{ {map} }}"));
    }
    if let Some(list) = inside('[', ']') {
        let items = split(list).into_iter().map(|item| value(item, between, quote));
        return Some(format!("[{}]", items.collect::<Option<Vec<String>>>()?.join(", ")));
    }
    let is_plain = yaml.parse::<f64>().is_ok() || yaml == "true" || yaml == "false";
    Some(if is_plain { yaml.to_owned() } else { format!("\"{yaml}\"") })
}

/// The parts between commas that stand in no brackets. A comma without a blank behind it belongs to a text.
fn split(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0_usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 && text.get(at + 1..).is_some_and(|rest| rest.starts_with(' ')) => {
                parts.extend(text.get(from..at).map(str::trim));
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.extend(text.get(from..).map(str::trim));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_written_as_its_file_is() {
        let both = |yaml| (write(yaml, FileKind::Toml), write(yaml, FileKind::Json));
        let case = |yaml, toml: &str, json: &str| assert_eq!(both(yaml), (toml.to_owned(), json.to_owned()));
        case("retry: { attempts: 1 }", "retry = { attempts = 1 }", r#""retry": { "attempts": 1 }"#);
        case("budget: { ratio: 0.2 }", "budget = { ratio = 0.2 }", r#""budget": { "ratio": 0.2 }"#);
        case(
            "backoff: exponential, base: 100ms, jitter: full",
            r#"backoff = "exponential", base = "100ms", jitter = "full""#,
            r#""backoff": "exponential", "base": "100ms", "jitter": "full""#,
        );
        case("on: [connect, unsent]", r#"on = ["connect", "unsent"]"#, r#""on": ["connect", "unsent"]"#);
        case("idempotent: true", "idempotent = true", r#""idempotent": true"#);
        case("retryOn: a,b", r#"retryOn = "a,b""#, r#""retryOn": "a,b""#);
        case(
            "a: { b: { c: 1, d: 2s } }",
            r#"a = { b = { c = 1, d = "2s" } }"#,
            r#""a": { "b": { "c": 1, "d": "2s" } }"#,
        );
        assert_eq!(write("retry: { attempts: 1 }", FileKind::Yaml), "retry: { attempts: 1 }");
    }

    #[test]
    fn what_is_no_entry_stays() {
        for text in ["reset", "", r#""MaxRetryAttempts": 2"#, "a:", ": b"] {
            assert_eq!(write(text, FileKind::Toml), text);
        }
    }
}
