//! The stories that this tool was made for, each a folder of `testdata/stories` with its exact numbers.
//! The numbers are worked out in the comments of those files, not taken from the program.

use assert_cmd::Command;
use serde_json::Value;

fn json(arguments: &[&str]) -> Value {
    let output = Command::cargo_bin("retrylint").unwrap().args(arguments).output().unwrap();
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{arguments:?}: {e}\n{}", String::from_utf8_lossy(&output.stderr)))
}

fn service(story: &str, name: &str) -> Value {
    let graph = json(&["graph", "--format", "json", &format!("testdata/stories/{story}")]);
    let services = graph["services"].as_array().unwrap();
    services.iter().find(|s| s["name"] == name).unwrap_or_else(|| panic!("{story} has no {name}: {graph:#}")).clone()
}

/// Findings as `rule path:line severity`.
fn findings(story: &str) -> Vec<String> {
    let report = json(&["check", "--format", "json", &format!("testdata/stories/{story}")]);
    let mut all: Vec<String> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|f| f["pedantic"] == false)
        .map(|f| {
            let path = f["path"].as_str().unwrap().rsplit('/').next().unwrap();
            format!("{} {} {path}:{}", f["severity"].as_str().unwrap(), f["rule"].as_str().unwrap(), f["line"])
        })
        .collect();
    all.sort();
    all
}

fn message(story: &str, rule: &str) -> String {
    let report = json(&["check", "--format", "json", &format!("testdata/stories/{story}")]);
    let finding = report["findings"].as_array().unwrap().iter().find(|f| f["rule"] == rule).cloned();
    finding.unwrap_or_else(|| panic!("no {rule} in {report:#}"))["message"].as_str().unwrap().to_string()
}

#[test]
fn three_tries_over_three_hops_are_27() {
    let database = service("three-tries", "database");
    assert_eq!(database["load"], 27);
    assert_eq!(database["worst_path"]["factor"], 27);
    assert_eq!(service("three-tries", "payments")["load"], 9);
    assert!(message("three-tries", "retry-amplification").contains("27"));
}

#[test]
fn three_retries_over_three_hops_are_64() {
    assert_eq!(service("three-retries", "database")["worst_path"]["factor"], 64);
    assert!(message("three-retries", "retry-amplification").contains("64"));
}

#[test]
fn ten_callers_with_three_tries_each_are_three_times_the_load() {
    let shared = service("ten-callers", "shared");
    assert_eq!(shared["load"], 30);
    assert_eq!(shared["base"], 10);
    assert_eq!(shared["amplification"], 3.0);
    assert_eq!(shared["worst_path"]["factor"], 3);
    // Of ten equal paths the first one is shown.
    assert_eq!(shared["worst_path"]["hops"][0]["from"], "caller-01");
}

#[test]
fn five_hundred_clients_with_five_retries_send_2500_extra_requests() {
    Command::cargo_bin("retrylint")
        .unwrap()
        .args(["check", "testdata/stories/clients"])
        .assert()
        .stderr(predicates::str::contains("2,500 extra requests"));
}

#[test]
fn thirty_seconds_three_times_are_ninety() {
    let graph = json(&["graph", "--format", "json", "testdata/stories/long-timeout"]);
    let web = graph["services"].as_array().unwrap().iter().find(|s| s["name"] == "web").unwrap().clone();
    assert_eq!(web["slowest_answer_ms"], 90_000.0);
    assert!(message("long-timeout", "timeout-stacking").contains("90 s"));
}

#[test]
fn fifty_a_second_with_three_tries_of_two_seconds_need_300_of_200_connections() {
    let text = message("pool", "pool-exhaustion");
    assert!(text.contains("300") && text.contains("200"), "{text}");
    assert!(findings("pool").iter().any(|f| f.starts_with("error pool-exhaustion")));
}

#[test]
fn budgets_of_ten_per_cent_on_three_hops_leave_1331() {
    let database = service("budgets", "database");
    assert_eq!(database["worst_path"]["factor"], 27);
    let bounded = database["bounded_amplification"].as_f64().unwrap();
    assert!((bounded - 1.331).abs() < 1e-9, "{bounded}");
    assert_eq!(findings("budgets"), Vec::<String>::new());
}

/// 16 tries that budgets hold at 1.21, and 12 that nothing holds.
#[test]
fn of_two_paths_the_one_that_no_budget_holds_counts() {
    let db = service("two-budgets", "db");
    assert_eq!((&db["load"], &db["worst_path"]["factor"]), (&28.into(), &16.into()));
    assert_eq!(db["bounded_amplification"], 12);
    assert_eq!(message("two-budgets", "retry-amplification"), "one request to `web` can become 12 requests at `db`");
    let report = json(&["check", "--format", "json", "testdata/stories/two-budgets"]);
    let worst = &report["summary"]["worst_path"];
    assert_eq!(
        (&worst["factor"], &worst["hops"][0]["tries"], &worst["bounded"]),
        (&12.into(), &3.into(), &Value::Null)
    );
}

#[test]
fn three_istio_hops_on_defaults_are_no_storm() {
    let database = service("istio-defaults", "database");
    assert_eq!(database["load"], 1);
    assert_eq!(database["worst_path"]["factor"], 1);
    assert!(findings("istio-defaults").iter().all(|f| f.starts_with("note implicit-retries")));
}

#[test]
fn three_istio_hops_with_5xx_written_are_27() {
    assert_eq!(service("istio-5xx", "database")["worst_path"]["factor"], 27);
    assert!(findings("istio-5xx").iter().any(|f| f.starts_with("error retry-amplification")));
}

/// 2 x 3 by one way and 3 x 2 by the other: the load is their sum, the worst path one of them.
#[test]
fn two_ways_add_up_and_the_worst_path_is_one_of_them() {
    let prices = service("diamond", "prices");
    assert_eq!((&prices["load"], &prices["base"]), (&12.into(), &2.into()));
    assert_eq!(prices["amplification"], 6.0);
    assert_eq!(prices["worst_path"]["factor"], 6);
    assert!(findings("diamond").iter().any(|f| f.starts_with("warning retry-amplification")));
}

/// 4 tries of a library over two defaults of Istio that retry no 503.
#[test]
fn a_library_over_two_defaults_sends_four_requests() {
    assert_eq!(service("layers", "checkout")["load"], 4);
    let graph = json(&["graph", "--format", "json", "--class", "connect", "testdata/stories/layers"]);
    let checkout = graph["services"].as_array().unwrap().iter().find(|s| s["name"] == "checkout").unwrap().clone();
    assert_eq!(checkout["worst_path"]["factor"], 12, "never 36");
    assert!(findings("layers").iter().all(|f| f.starts_with("note implicit-retries")));
}

#[test]
fn a_service_that_answers_500_ends_what_repeats_503() {
    assert_eq!(service("emits", "database")["worst_path"]["factor"], 3);
    assert_eq!(service("emits", "payments")["worst_path"]["factor"], 9);
}

/// 3 x 1 s and 0.1 s + 0.2 s; the third try starts at 2.3 s, and 1 - 2 / 3.3 is 39 %.
#[test]
fn a_caller_that_leaves_after_two_seconds_leaves_3_3_seconds_of_work() {
    assert_eq!(service("deadline", "checkout")["slowest_answer_ms"], 3_300.0);
    let text = message("deadline", "deadline-inversion");
    assert!(text.contains("2 s") && text.contains("3.3 s"), "{text}");
}

/// Slow tries start at 0 s, 4 s and 9 s; the fourth would at 16 s.
#[test]
fn three_of_four_slow_tries_fit_and_all_four_fast_ones() {
    assert!(message("tries-that-fit", "unreachable-attempts").contains("only three of four"));
    assert_eq!(service("tries-that-fit", "reports")["load"], 4);
}

/// 3 x 3 known tries, and those of a chart that was not rendered.
#[test]
fn an_unknown_count_is_neither_none_nor_a_default() {
    let ledger = service("unknown", "ledger");
    assert_eq!(ledger["worst_path"]["factor"], 9);
    assert_eq!(ledger["lower_bound"], true);
    assert_eq!(service("unknown", "payments")["lower_bound"], false);
    let report = json(&["check", "--format", "json", "testdata/stories/unknown"]);
    assert_eq!(report["summary"]["coverage"]["calls_with_unknown_factor"], 1);
    assert_eq!(report["summary"]["coverage"]["unknown_callees"], 1);
}
