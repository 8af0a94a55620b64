use serde_json::{Value, json};

use super::*;
use crate::facts::{Dialect, Facts, File, FileKind, Position, Role};
use crate::graph::fixtures::{Tree, callee};
use crate::graph::link::{environments, link};
use crate::limits::Limits;
use crate::read::{ReadSettings, read_file};
use crate::report::Look;
use crate::source::{FileId, Source, Sources};

const WIDE: Look = Look { colour: false, width: 200 };

/// Three tries at each of three hops, two calls per request at the last, an asynchronous call beside it.
const CHAIN: &str = "\
services:
  web:
    rate: 10/s
    calls: [{ to: checkout, retry: { attempts: 3 }, timeout: { attempt: 1s } }]
  checkout:
    calls: [{ to: payments, retry: { attempts: 3 }, timeout: { attempt: 1s } }]
  payments:
    calls:
      - { to: ledger, per-request: 2, retry: { attempts: 3, on: [overload] }, timeout: { attempt: 1s } }
      - { to: audit, async: true }
";

fn facts(text: &str) -> (Facts, Sources) {
    let mut facts = read_file(FileId(0), "services.yaml", FileKind::Yaml, text, &ReadSettings::default());
    facts.files = vec![File {
        path: "services.yaml".into(),
        kind: FileKind::Yaml,
        environment: None,
        role: Role::Production,
        named: false,
        told_by: None,
    }];
    (facts, Sources::new(vec![Source::new("services.yaml", text)]))
}

fn systems<'a>(facts: &'a Facts, limits: &'a Limits) -> Vec<System<'a>> {
    environments(facts).into_iter().map(|environment| System::new(facts, limits, link(facts, environment))).collect()
}

fn shown(text: &str, focus: &Focus, class: Option<Class>) -> (Value, String, String) {
    let (facts, sources) = facts(text);
    let limits = Limits::default();
    let system = |environment| System::caused_by(&facts, &limits, link(&facts, environment), class);
    let systems: Vec<System<'_>> = environments(&facts).into_iter().map(system).collect();
    let views = view(&systems, focus, class).unwrap();
    (serde_json::from_str(&json_text(&views)).unwrap(), super::text(&views, &facts, &sources, WIDE), dot(&views))
}

fn json_text(views: &[View<'_>]) -> String {
    let mut out = Vec::new();
    write_json(views, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn names(json: &Value) -> Vec<&str> {
    json["services"].as_array().unwrap().iter().map(|service| service["name"].as_str().unwrap()).collect()
}

#[test]
fn json_has_every_number_of_a_service() {
    let (json, ..) = shown(CHAIN, &Focus::All, None);
    assert_eq!(json["version"], 1);
    assert_eq!(json["environments"], json!([]));
    assert_eq!(names(&json), ["web", "checkout", "payments", "audit", "ledger"]);
    let ledger = &json["services"][4];
    // 3 × 3 × 3 × 2 calls per request; the worst path leaves the two out.
    assert_eq!(ledger["load"], 54);
    assert_eq!(ledger["base"], 2);
    assert_eq!(ledger["amplification"], 27);
    assert_eq!(ledger["worst_path"]["factor"], 27);
    assert_eq!(ledger["worst_path"]["class"], "overload");
    assert_eq!(ledger["rate"], 20.0);
    assert_eq!(ledger["rate_worst"], 540);
    assert_eq!(ledger["lower_bound"], false);
    for key in ["namespace", "external", "bounded_amplification", "slowest_answer_ms", "unknown_factors"] {
        assert!(ledger.get(key).is_some(), "{key}");
    }
}

#[test]
fn json_has_every_position_of_a_call() {
    let (json, ..) = shown(CHAIN, &Focus::All, None);
    let calls = json["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 4);
    let last = calls.iter().find(|call| call["to"] == "ledger").unwrap();
    assert_eq!(last["from"], "payments");
    assert_eq!(last["per_request"], 2.0);
    assert_eq!(last["source"], "manifest");
    let policies = last["positions"][0]["policies"].clone();
    assert_eq!(
        last["positions"],
        json!([{ "position": "caller-code", "policies": policies, "inferred": false, "tries": { "overload": 3 } }])
    );
    let audit = calls.iter().find(|call| call["to"] == "audit").unwrap();
    assert_eq!((&audit["async"], &audit["positions"]), (&json!(true), &json!([])));
}

#[test]
fn unknown_tries_make_a_lower_bound_that_is_named() {
    let text = "services:\n  web:\n    calls: [{ to: api, retry: { attempts: \"${TRIES}\" } }]\n  api: { calls: [] }\n";
    let (json, shown, dot) = shown(text, &Focus::All, None);
    let api = &json["services"][1];
    assert_eq!((&api["load"], &api["lower_bound"]), (&json!(1), &json!(true)));
    assert_eq!(api["unknown_factors"][0]["why"], "environment variable TRIES");
    assert!(shown.contains("tries unknown (environment variable TRIES)"), "{shown}");
    assert!(shown.contains("web → api: ≥ 1×"), "{shown}");
    assert_eq!((&json["calls"][0]["tries"], &json["calls"][0]["lower_bound"]), (&json!(1), &json!(true)));
    assert!(dot.contains("[label=\"≥ ×1 overload\"]") && dot.contains("[label=\"api\\n≥ ×1\"]"), "{dot}");
}

#[test]
fn endless_tries_are_a_word() {
    let text = "services:\n  web:\n    calls: [{ to: api, retry: { attempts: unbounded } }]\n  api: { calls: [] }\n";
    let (json, ..) = shown(text, &Focus::All, None);
    let api = &json["services"][1];
    assert_eq!((&api["load"], &api["amplification"]), (&json!("unbounded"), &json!("unbounded")));
    assert_eq!(api["worst_path"]["factor"], "unbounded");
}

#[test]
fn a_part_of_the_graph_can_be_shown() {
    let path = |from: &str, to: &str| Focus::Path(from.into(), to.into());
    let (json, ..) = shown(CHAIN, &path("checkout", "ledger"), None);
    assert_eq!(names(&json), ["checkout", "payments", "ledger"]);
    assert_eq!(json["calls"].as_array().unwrap().len(), 2);
    let (json, ..) = shown(CHAIN, &path("ledger", "web"), None);
    assert!(names(&json).is_empty());
    let (json, ..) = shown(CHAIN, &Focus::Around("payments".into()), None);
    assert_eq!(names(&json), ["checkout", "payments", "audit", "ledger"]);
}

#[test]
fn two_services_without_a_way_between_them_are_told() {
    let (json, text, _) = shown(CHAIN, &Focus::Path("ledger".into(), "web".into()), None);
    assert_eq!(text, "no way leads from `ledger` to `web`\n");
    assert_eq!(names(&json), [] as [&str; 0]);
}

#[test]
fn tries_that_time_limits_are_about_so_many() {
    // Delays of 1 s each within 3 s: tries at 0, 1 and 2 s, and none at the end.
    let text = "services: { web: { calls: [{ to: shop, retry: { attempts: unbounded, backoff: fixed, base: 1s },
        timeout: { total: 3s } }] } }";
    let (_, text, _) = shown(text, &Focus::All, None);
    assert!(text.contains("web ×3 → shop = about 3 (overload)"), "{text}");
    assert!(text.contains("web → shop: about 3× for overload (503)"), "{text}");
    let (_, text, _) = shown(CHAIN, &Focus::All, None);
    assert!(!text.contains("about"), "{text}");
}

#[test]
fn a_service_that_is_not_there_is_an_error_with_the_nearest_name() {
    let (facts, _) = facts(CHAIN);
    let limits = Limits::default();
    let systems = systems(&facts, &limits);
    let error = view(&systems, &Focus::Around("paymets".into()), None).unwrap_err();
    assert_eq!(error, UnknownService { name: "paymets".into(), nearest: Some("payments".into()) });
}

#[test]
fn tries_are_shown_for_the_class_that_was_asked_for() {
    let (json, ..) = shown(CHAIN, &Focus::All, Some(Class::Connect));
    let tries: Vec<&Value> = json["calls"].as_array().unwrap().iter().map(|call| &call["tries"]).collect();
    // The last hop retries an overload only; nobody retries the call to `audit`.
    assert_eq!(tries, [&json!(3), &json!(3), &json!(1), &json!(1)]);
}

#[test]
fn text_lists_services_from_the_roots_on_and_calls_with_who_retries() {
    let (_, shown, _) = shown(CHAIN, &Focus::Path("checkout".into(), "payments".into()), None);
    let lines: Vec<&str> = shown.lines().collect();
    assert!(lines[0].starts_with("service   load  amplification  slowest answer"), "{shown}");
    assert!(lines[1].starts_with("checkout     3"), "{shown}");
    assert!(lines[2].starts_with("payments     9"), "{shown}");
    assert_eq!(lines[4], "checkout → payments: 3× for overload (503)");
    assert_eq!(lines[5], "  caller-code     three tries, manifest  services.yaml:6");
}

#[test]
fn a_call_that_somebody_unknown_retries_is_a_lower_bound() {
    let mut tree = Tree::default();
    tree.call("cart", "stock");
    tree.call("cart", "audit");
    tree.policy("appsettings.json", Dialect::Dotnet, Position::CallerCode, 4).callee = callee("stock");
    let limits = Limits::default();
    let systems = systems(&tree.facts, &limits);
    let views = view(&systems, &Focus::All, None).unwrap();
    let shown = super::text(&views, &tree.facts, &Sources::new(Vec::new()), WIDE);
    let said = "cart → stock: ≥ 1× for overload (503)\n  caller unknown  four tries, dotnet  \n";
    assert!(shown.contains(said), "{shown}");
    assert!(shown.contains("cart → audit: 1× for overload (503)\n  nobody retries\n"), "{shown}");
    let json: Value = serde_json::from_str(&json_text(&views)).unwrap();
    let stock = json["services"].as_array().unwrap().iter().find(|service| service["name"] == "stock").unwrap();
    assert_eq!((&stock["worst_path"]["factor"], &stock["lower_bound"]), (&json!(1), &json!(true)));
    let calls = json["calls"].as_array().unwrap().iter().map(|call| (call["to"].as_str().unwrap(), &call["unclaimed"]));
    assert_eq!(calls.collect::<Vec<_>>(), [("audit", &json!([])), ("stock", &json!([0]))]);
    assert_eq!(stock["unknown_factors"], json!([{ "policy": 0, "why": "nothing says whose it is" }]));
}

#[test]
fn dot_survives_hostile_names() {
    let text = "services:\n  'a\"]; x':\n    calls: [{ to: 'b\\\u{1b}' , retry: { attempts: 2 } }]\n";
    let (.., dot) = shown(text, &Focus::All, None);
    assert!(!dot.contains('\u{1b}'), "{dot}");
    for line in dot.lines().filter(|line| line.contains("->") || line.contains("label=")) {
        // Every quote that is not escaped opens or closes: their number is even.
        let quotes = line.replace("\\\\", "").replace("\\\"", "").matches('"').count();
        assert_eq!(quotes % 2, 0, "{line}");
    }
    let (.., dot) = shown(CHAIN, &Focus::All, None);
    assert!(dot.contains("  \"web\" -> \"checkout\" [label=\"×3 overload\"];\n"), "{dot}");
    assert!(dot.contains("  \"ledger\" [label=\"ledger\\n×27\"];\n"), "{dot}");
    assert!(dot.contains("  \"payments\" -> \"audit\" [label=\"\", style=dashed];\n"), "{dot}");
}

#[test]
fn services_and_calls_speak_of_the_class_that_was_asked_for() {
    // Nothing at the last hop retries a lost connection: 3 × 3 × 1, twice per request. Nothing of it arrives.
    let (json, text, dot) = shown(CHAIN, &Focus::All, Some(Class::Connect));
    let ledger = &json["services"][4];
    assert_eq!((&json["class"], &ledger["load"], &ledger["amplification"]), (&json!("connect"), &json!(18), &json!(9)));
    assert_eq!(ledger["worst_path"]["factor"], 9);
    assert_eq!(ledger["worst_path"]["class"], "connect");
    assert!(
        text.starts_with("if every failure is connect (no connection): the numbers are connection attempts"),
        "{text}"
    );
    assert!(text.contains("\nservice   attempts  amplification "), "{text}");
    assert!(text.contains("web ×3 → checkout ×3 → payments → ledger = 9 (connect)"), "{text}");
    assert!(text.contains("payments → ledger, 2 calls per request: 1× for connect"), "{text}");
    assert!(dot.contains("ledger\\n×9"), "{dot}");
    let (json, text, _) = shown(CHAIN, &Focus::All, Some(Class::Overload));
    assert_eq!(json["services"][4]["load"], 54);
    assert!(text.starts_with("if every failure is overload (503)\nservice   load "), "{text}");
    let (json, text, _) = shown(CHAIN, &Focus::All, None);
    assert_eq!(json["class"], Value::Null);
    assert!(text.starts_with("service   load "), "{text}");
}

#[test]
fn a_call_over_another_protocol_fails_in_its_own_words() {
    let text =
        "services:\n  web:\n    calls: [{ to: api, protocol: grpc, retry: { attempts: 3, on: [UNAVAILABLE] } }]\n";
    let (json, text, _) = shown(text, &Focus::All, Some(Class::Overload));
    // 503 is no gRPC code; UNAVAILABLE is what gRPC makes of it.
    assert_eq!(json["services"][1]["load"], 3);
    assert!(text.contains("web → api: 3× for unavailable (UNAVAILABLE)"), "{text}");
}

#[test]
fn hedged_tries_say_so_where_they_are_counted() {
    let hedged = |retry: &str| {
        let text =
            format!("services:\n  web:\n    calls: [{{ to: api, {retry}hedge: {{ copies: 1, delay: 50ms }} }}]\n");
        shown(&text, &Focus::All, None).1
    };
    assert!(hedged("").contains("one try hedged with one copy (×2), manifest"), "{}", hedged(""));
    let three = hedged("retry: { attempts: 3 }, ");
    assert!(three.contains("web → api: 6× for overload"), "{three}");
    assert!(three.contains("three tries hedged with one copy (×6), manifest"), "{three}");
}

#[test]
fn a_narrow_terminal_gets_paragraphs_and_places_on_lines_of_their_own() {
    let (facts, sources) = facts(CHAIN);
    let limits = Limits::default();
    let systems = systems(&facts, &limits);
    let views = view(&systems, &Focus::All, None).unwrap();
    let at = |width| super::text(&views, &facts, &sources, Look { colour: false, width });
    let narrow = at(45);
    assert!(narrow.starts_with("web\n  load 1 · amplification 1 · slowest answer "), "{narrow}");
    assert!(
        narrow.contains("\n  caller-code     three tries, manifest\n                  services.yaml:4\n"),
        "{narrow}"
    );
    assert!(at(200).contains("  caller-code     three tries, manifest  services.yaml:4\n"), "{}", at(200));
}

/// Two tries at each of `hops` hops in a row.
fn long_path(hops: usize) -> String {
    let call = |i: usize| format!("  s{i}: {{ calls: [{{ to: s{}, retry: {{ attempts: 2 }} }}] }}\n", i + 1);
    format!("services:\n{}", (0..hops).map(call).collect::<String>())
}

#[test]
fn of_a_very_long_path_the_last_hops_are_listed_and_the_others_counted() {
    let (json, ..) = shown(&long_path(70), &Focus::All, None);
    let worst = &json["services"][70]["worst_path"];
    let hops = worst["hops"].as_array().unwrap();
    // 70 hops, of which the first six are left out; 2 to the power of 70 counts them all.
    assert_eq!((hops.len(), &worst["hops_left_out"]), (64, &json!(6)));
    assert_eq!((&hops[0]["from"], &hops[63]["to"]), (&json!("s6"), &json!("s70")));
    assert_eq!(worst["factor"], "1180591620717411303424");

    let worst = &json["services"][64]["worst_path"];
    assert_eq!((worst["hops"].as_array().unwrap().len(), &worst["hops_left_out"]), (64, &json!(0)));
    assert_eq!(worst["hops"][0]["from"], "s0");
    assert_eq!(json["services"][0]["worst_path"]["hops_left_out"], 0);
}
