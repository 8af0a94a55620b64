use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Value, json};

use super::*;
use crate::config::Config;
use crate::pipeline::{self, Analysis, Options};
use crate::report::summary::Summary;
use crate::report::{Entry, Look, Report, facts, full, json as json_report};

/// Files that have most kinds of facts among them.
const TREES: [&str; 5] =
    ["testdata/storm", "testdata/readme", "testdata/schemas", "testdata/stories/budgets", "testdata/stories/istio-5xx"];

fn options(name: &str, bytes: &[u8]) -> Options {
    let mut options = Options::new(Config::default());
    options.scan.paths.clear();
    options.scan.stdin = Some((name.into(), bytes.to_vec()));
    options
}

fn written(options: &Options) -> String {
    let mut out = Vec::new();
    facts::write(&mut pipeline::gather(options).unwrap(), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn of_tree(tree: &str) -> Value {
    let mut options = Options::new(Config::default());
    options.scan.paths = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(tree)];
    options.scan.include_tests = true;
    serde_json::from_str(&written(&options)).unwrap()
}

/// `web` calls `cart` three times and `cart` calls nobody.
fn small() -> Value {
    let text = "services:\n  web:\n    calls:\n      - { to: cart, retry: { attempts: 3 } }\n";
    serde_json::from_str(&written(&options("services.yaml", text.as_bytes()))).unwrap()
}

/// What is wrong with a file that is this one with another value somewhere.
fn fault(document: &Value) -> String {
    match read("x.json", &document.to_string()) {
        Ok(_) => "nothing".into(),
        Err(error) => error.to_string(),
    }
}

fn with(pointer: &str, value: Value) -> String {
    let mut document = small();
    *document.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
    fault(&document)
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    assert_eq!(fault(&small()), "nothing");
    let table = [
        ("/version", json!(2), "they are of version 2, and version 1 is read"),
        ("/sources", json!([]), "there are 1 files and the lines of 0"),
        (
            "/sources/0/lines",
            json!([]),
            "`policies` 0 points to bytes 55 to 70 of services.yaml, of which no line is kept",
        ),
        ("/sources/0/lines/1/line", json!(9), "line 9 of services.yaml cannot stand where it does"),
        ("/sources/0/lines/1/start", json!(3), "line 3 of services.yaml cannot stand where it does"),
        ("/sources/0/lines/1/line", json!(0), "line 0 of services.yaml cannot stand where it does"),
        ("/sources/0/lines/2/start", json!(4_294_967_295_u32), "line 4 of services.yaml cannot stand where it does"),
        ("/sources/0/lines/1/text", json!("a\nb"), "line 3 of services.yaml cannot stand where it does"),
        ("/facts/policies/0/span/file", json!(7), "`policies` 0 stands in file 7, which is not among `files`"),
        ("/facts/policies/0/span/end", json!(4_000_000_000_u32), "`policies` 0 points to bytes"),
        ("/facts/policies/0/span/start", json!(99), "`policies` 0 points to bytes 99 to"),
        ("/facts/policies/0/inside", json!(0), "`policies` 0 is inside itself"),
        ("/facts/policies/0/inside", json!(1), "`policies` 0 speaks of policy 1, of 1"),
        ("/facts/policies/0/calls", json!([1]), "`policies` 0 speaks of call 1, of 1"),
        ("/facts/policies/0/attempts/value", json!({ "known": { "times": 0 } }), "`policies` 0 has no try at all"),
        ("/facts/calls/0/per_request/value", json!({ "known": -1.5 }), "`calls` 0 has the number -1.5, which is below"),
    ];
    for (pointer, value, expected) in table {
        let said = with(pointer, value.clone());
        let expected = format!("cannot read the facts in x.json: {expected}");
        assert!(said.starts_with(&expected), "{pointer} {value}: {said}");
    }
    // Of what has another shape the reader of JSON says what and where.
    for (pointer, value) in [
        ("/facts/policies/0/span/start", json!(-1)),
        ("/facts/policies/0/kind", json!("nonsense")),
        ("/facts/policies/0", json!([])),
        ("/facts/services/0/name", json!(null)),
        ("/facts", json!("facts")),
        ("/counts", json!({})),
        ("/sources/0/lines/0/line", json!(4_294_967_296_u64)),
    ] {
        let said = with(pointer, value.clone());
        assert!(said.contains(" at line 1 column "), "{pointer} {value}: {said}");
    }
    let mut huge = small().to_string();
    huge = huge.replacen("\"known\":1.0", "\"known\":1e999", 1);
    assert!(read("x.json", &huge).unwrap_err().to_string().contains("number out of range"));
}

#[test]
fn there_are_only_so_many_environments() {
    let with = |environments: usize| {
        let mut document = small();
        let service = document["facts"]["services"][0].clone();
        let services = document["facts"]["services"].as_array_mut().unwrap();
        services.extend((0..environments).map(|name| {
            let mut service = service.clone();
            service["environment"] = json!(format!("e{name}"));
            service
        }));
        fault(&document)
    };
    assert_eq!(with(10_000), "nothing");
    assert!(with(10_001).ends_with("there are 10001 environments, and at most 10000 can be"));
}

#[test]
fn policies_may_not_stand_inside_each_other() {
    let mut document = of_tree("testdata/storm");
    let policies = document["facts"]["policies"].as_array_mut().unwrap();
    for (at, outer) in [(0, 1), (1, 2), (2, 0)] {
        policies[at]["inside"] = json!(outer);
    }
    assert!(fault(&document).ends_with("is inside itself"), "{}", fault(&document));
    document["facts"]["policies"][2]["inside"] = json!(3);
    assert_eq!(fault(&document), "nothing");
}

#[test]
fn another_version_is_told_whatever_its_shape() {
    let later = json!({ "kind": KIND, "version": 9, "facts": [] }).to_string();
    assert_eq!(
        read("x.json", &later).unwrap_err().to_string(),
        "cannot read the facts in x.json: they are of version 9, and version 1 is read"
    );
}

#[test]
fn it_is_known_by_what_it_says_of_itself() {
    assert!(is_one("{\"kind\":\"retrylint-facts\""));
    assert!(is_one("\u{feff} {\n  \"kind\" : \"retrylint-facts\", \"version\": 1"));
    // Sorted by another tool.
    assert!(is_one("{ \"facts\": {}, \"kind\": \"retrylint-facts\" }"));
    assert!(!is_one("{ \"facts\": { \"kind\": \"retrylint-facts\" } }"));
    assert!(!is_one("{ \"name\": \"retrylint-facts\" }"));
    assert!(!is_one("{ \"kind\": \"Service\" }"));
    assert!(!is_one(""));
    assert!(begins(b"{\"kind\":\"retrylint-facts\",") && !begins(b"{\"kind\":\"Service\","));
    assert_eq!((largest(10), largest(u64::MAX)), (160, u64::MAX));
}

#[test]
fn a_file_that_is_cut_off_is_an_error_at_every_byte() {
    let whole = small().to_string();
    for end in (30..whole.len() - 1).filter(|end| whole.is_char_boundary(*end)) {
        assert!(read("x.json", &whole[..end]).is_err(), "{end}");
    }
}

/// Numbers in an order that is the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % sides.max(1) as u64) as usize
    }
}

#[test]
fn numbers_are_read_back_as_they_were() {
    let mut dice = Dice(0x5eed);
    for _ in 0..2000 {
        let number = dice.roll(usize::MAX) as f64 / 1e17;
        let written = serde_json::to_string(&number).unwrap();
        assert_eq!(serde_json::from_str::<f64>(&written).unwrap(), number, "{written}");
    }
}

fn pointers(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_string());
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| pointers(value, &format!("{at}/{key}"), out)),
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(key, value)| pointers(value, &format!("{at}/{key}"), out))
        }
        _ => {}
    }
}

/// Puts something else somewhere.
fn disturb(document: &mut Value, dice: &mut Dice) {
    let mut all = Vec::new();
    pointers(document, "", &mut all);
    let pick = |dice: &mut Dice| all[1 + dice.roll(all.len() - 1)].clone();
    let at = pick(dice);
    let odd =
        [json!(null), json!(-0.5), json!(""), json!("\u{202e}*\n"), json!([]), json!({}), json!(true), json!("none")];
    let other = document.pointer(&pick(dice)).cloned().unwrap_or_default();
    let value = match (dice.roll(8), document.pointer(&at)) {
        (0, _) => odd[dice.roll(odd.len())].clone(),
        (1, _) => other,
        (_, Some(Value::Number(number))) => {
            let numbers =
                [0, 1, 2, number.as_u64().unwrap_or(7).wrapping_add(1), u64::from(u32::MAX), 1 << 53, u64::MAX];
            json!(numbers[dice.roll(numbers.len())])
        }
        (_, Some(Value::String(_))) if other.is_string() => other,
        (_, Some(Value::Bool(value))) => json!(!value),
        (_, Some(value)) => value.clone(),
        (_, None) => json!(null),
    };
    if let Some(slot) = document.pointer_mut(&at) {
        match slot {
            Value::Array(all) if dice.roll(2) == 0 => {
                let copy = all.get(dice.roll(all.len())).cloned();
                all.extend(copy);
            }
            slot => *slot = value,
        }
    }
    if dice.roll(6) == 0 {
        let (outer, key) = at.rsplit_once('/').unwrap();
        if let Some(map) = document.pointer_mut(outer).and_then(Value::as_object_mut) {
            map.remove(key);
        }
    }
}

#[test]
fn what_is_joined_holds_together_and_is_told_again() {
    let documents = TREES.map(of_tree);
    let mut dice = Dice(0xface);
    let mut joined = 0;
    for round in 0..200 {
        let one = |name: &str, dice: &mut Dice| {
            let mut document = documents[dice.roll(documents.len())].clone();
            if round % 4 > 0 {
                disturb(&mut document, dice);
            }
            read(name, &document.to_string()).ok()
        };
        let (Some(a), Some(b)) = (one("a.json", &mut dice), one("b.json", &mut dice)) else { continue };
        let policies = a.facts.policies.len() + b.facts.policies.len();
        let mut scan = join(crate::scan::Scan::default(), vec![a, b]);
        assert_eq!(scan.facts.policies.len(), policies);
        let mut out = Vec::new();
        facts::write(&mut scan, &mut out).unwrap();
        let crate::scan::Scan { sources, mut facts, .. } = scan;
        let sources = sources.into_files();
        assert_eq!(check::check(&mut facts, &sources), Ok(()));
        let again = read("c.json", &String::from_utf8(out).unwrap()).unwrap();
        assert_eq!(again.facts, facts);
        let paths = |sources: &[Source]| sources.iter().map(|source| Arc::clone(&source.path)).collect::<Vec<_>>();
        assert_eq!(paths(&again.sources), paths(&sources));
        assert!(paths(&sources).is_sorted());
        joined += 1;
    }
    assert!(joined > 50, "{joined}");
}

/// Everything that can be said of facts; none if they are refused.
fn everything(bytes: &[u8]) -> Option<usize> {
    let Analysis { world, findings, fingerprints } = Analysis::new(&options("x.json", bytes)).ok()?;
    let entries =
        findings.iter().zip(&fingerprints).map(|(finding, fingerprint)| Entry { finding, fingerprint }).collect();
    let report = Report { entries, sources: &world.sources, summary: &Summary::default(), show_suppressed: true };
    Some(json_report::render(&report).len() + full::render(&report, Look::PLAIN).len())
}

#[test]
fn what_is_changed_at_random_is_refused_or_read_and_never_the_end_of_a_run() {
    let documents = TREES.map(of_tree);
    let mut dice = Dice(0x5eed);
    let (mut read, mut refused) = (0, 0);
    for round in 0..300 {
        let mut document = documents[round % documents.len()].clone();
        for _ in 0..=dice.roll(3) {
            disturb(&mut document, &mut dice);
        }
        let text = document.to_string();
        match catch_unwind(AssertUnwindSafe(|| everything(text.as_bytes()))) {
            Ok(Some(_)) => read += 1,
            Ok(None) => refused += 1,
            Err(_) => panic!("round {round}: {text}"),
        }
    }
    assert!(read > 50 && refused > 50, "{read} {refused}");
}
