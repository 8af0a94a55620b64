//! The storm and its repaired twin: what one sees when the program is tried for the first time. The table in
//! `testdata/storm/README.md` was worked out by hand; the whole text of the run stands in `testdata/storm.out`.

use assert_cmd::Command;
use serde_json::Value;

fn run(arguments: &[&str]) -> std::process::Output {
    Command::cargo_bin("retrylint").unwrap().args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = run(arguments);
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}\n{}", String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn the_storm_is_found_where_it_is_written() {
    let report = json(&["check", "--format", "json", "testdata/storm"]);
    let mut found: Vec<String> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|f| f["pedantic"] == false)
        .map(|f| {
            let path = f["path"].as_str().unwrap().trim_start_matches("testdata/storm/");
            format!("{} {} {path}:{}", f["severity"].as_str().unwrap(), f["rule"].as_str().unwrap(), f["line"])
        })
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            "error deadline-inversion gateway/envoy.yaml:30",
            "error deadline-inversion mesh/payments.yaml:14",
            "error non-idempotent-retry mesh/payments.yaml:15",
            "error retry-amplification services/payments/appsettings.json:9",
            "note implicit-retries gateway/envoy.yaml:25",
            "note implicit-retries services.yaml:12",
            "warning missing-circuit-breaker mesh/payments.yaml:13",
            "warning missing-jitter services/payments/appsettings.json:12",
            "warning missing-jitter services/reports/src/rates.rs:14",
            "warning missing-retry-budget mesh/payments.yaml:13",
            "warning missing-retry-budget services/payments/appsettings.json:9",
            "warning retry-on-permanent-error services/reports/src/rates.rs:14",
            "warning stacked-retries mesh/rates.yaml:13",
        ]
    );
}

#[test]
fn every_number_of_the_table_is_computed() {
    let graph = json(&["graph", "--format", "json", "testdata/storm"]);
    let service =
        |name: &str| graph["services"].as_array().unwrap().iter().find(|s| s["name"] == name).unwrap().clone();
    for (name, load, slowest) in [
        ("gateway", 1, Some(9_075.0)),
        ("checkout", 3, Some(9_000.0)),
        ("payments", 9, Some(14_000.0)),
        ("ledger", 27, None),
    ] {
        assert_eq!(service(name)["load"], load, "{name}");
        assert_eq!(service(name)["slowest_answer_ms"].as_f64(), slowest, "{name}");
    }
    assert_eq!(service("ledger")["worst_path"]["factor"], 27);
    assert_eq!(service("ledger")["worst_path"]["class"], "overload");
    // A 503 is passed on as it is, hop after hop.
    let hops = service("ledger")["worst_path"]["hops"].clone();
    let classes: Vec<&str> = hops.as_array().unwrap().iter().map(|hop| hop["class"].as_str().unwrap()).collect();
    assert_eq!(classes, ["overload"; 3]);
    let call = |to: &str| graph["calls"].as_array().unwrap().iter().find(|c| c["to"] == to).unwrap().clone();
    let tries = |to: &str, position: &str, class: &str| {
        let call = call(to);
        let at = call["positions"].as_array().unwrap().iter().find(|p| p["position"] == position).unwrap().clone();
        at["tries"][class].clone()
    };
    assert_eq!(tries("checkout", "gateway", "overload"), 3);
    assert_eq!(tries("payments", "client-sidecar", "overload"), 3);
    assert_eq!(tries("ledger", "caller-code", "overload"), 3);
    // Istio's default retries what was never sent, and nothing else over HTTP.
    assert!(tries("ledger", "client-sidecar", "overload").is_null());
    assert_eq!(tries("ledger", "client-sidecar", "connect"), 3);
}

#[test]
fn one_call_in_code_multiplies_with_two_proxies() {
    let report = json(&["check", "--format", "json", "testdata/storm"]);
    let stacked = report["findings"].as_array().unwrap().iter().find(|f| f["rule"] == "stacked-retries").unwrap();
    assert_eq!(
        stacked["message"],
        "one call from `reports` to `rates` can become 18 requests: 3 × 3 × 2 tries in layers"
    );
    let mut places: Vec<String> = stacked["labels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|label| {
            format!("{}:{}", label["path"].as_str().unwrap().trim_start_matches("testdata/storm/"), label["line"])
        })
        .collect();
    places.sort();
    assert_eq!(places, ["gateway/partners.yaml:28", "mesh/rates.yaml:13", "services/reports/src/rates.rs:14"]);
    let graph = json(&["graph", "--format", "json", "testdata/storm"]);
    let rates = graph["services"].as_array().unwrap().iter().find(|s| s["name"] == "rates").unwrap();
    assert_eq!(rates["load"], 18);
}

#[test]
fn what_a_user_sees_is_what_was_read_and_approved() {
    let output = run(&["testdata/storm"]);
    assert_eq!(output.status.code(), Some(1));
    snapbox::assert_data_eq!(
        String::from_utf8(output.stdout).unwrap(),
        snapbox::Data::read_from(std::path::Path::new("testdata/storm.out"), None).raw()
    );
}

#[test]
fn the_repaired_twin_is_silent() {
    let output = run(&["testdata/calm"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "");
    let report = json(&["check", "--format", "json", "testdata/calm"]);
    assert!(report["findings"].as_array().unwrap().iter().all(|f| f["pedantic"] == true), "{report:#}");
    let graph = json(&["graph", "--format", "json", "testdata/calm"]);
    let ledger = graph["services"].as_array().unwrap().iter().find(|s| s["name"] == "ledger").unwrap();
    assert_eq!(ledger["load"], 3);
}
