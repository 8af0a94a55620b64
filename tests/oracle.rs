//! Generated systems with exact answers: every service's load and worst path, at a hundred to ten thousand calls. The
//! generator is not part of this repository; `RETRYLINT_GENERATOR` says where it is.

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// Generates a system of so many calls and gives back its folder, or none with a line that says why not.
fn generated(edges: u32, more: &[&str]) -> Option<PathBuf> {
    let Some(generator) = std::env::var_os("RETRYLINT_GENERATOR") else {
        eprintln!("skipped: RETRYLINT_GENERATOR is not set, so no generated system was compared with its answers");
        return None;
    };
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("oracle-{edges}{}", more.concat()));
    let made = Command::new("python3")
        .arg(generator)
        .args(["make", "--graph-only", "--edges", &edges.to_string(), "--out"])
        .arg(&folder)
        .args(more)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    Some(folder)
}

/// A number of the answers or of the program, in one spelling.
fn spelled(value: &Value) -> String {
    match value {
        Value::String(text) if text == "inf" => "unbounded".to_string(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Compares every service and gives back how many there are.
fn compared(edges: u32, more: &[&str]) -> usize {
    let Some(folder) = generated(edges, more) else { return 0 };
    let answers: Value = serde_json::from_slice(&std::fs::read(folder.join("oracle.json")).unwrap()).unwrap();
    let output = assert_cmd::Command::cargo_bin("retrylint")
        .unwrap()
        .args(["graph", "--format", "json"])
        .arg(folder.join("services.json"))
        .output()
        .unwrap();
    let graph: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    let services: HashMap<&str, &Value> =
        graph["services"].as_array().unwrap().iter().map(|s| (s["name"].as_str().unwrap(), s)).collect();
    let nodes = answers["nodes"].as_object().unwrap();
    for (name, node) in nodes {
        let service = services.get(name.as_str()).unwrap_or_else(|| panic!("{name} is missing"));
        assert_eq!(spelled(&service["load"]), spelled(&node["total_load"]), "load of {name}");
        let factor = service["worst_path"].get("factor").map_or_else(|| "1".to_string(), spelled);
        assert_eq!(factor, spelled(&node["max_product"]), "worst path of {name}");
    }
    nodes.len()
}

#[test]
fn every_service_of_generated_systems_is_exact() {
    for edges in [100, 1_000, 10_000] {
        let services = compared(edges, &[]);
        assert!(services == 0 || services >= edges as usize / 3, "{services}");
    }
}

#[test]
fn what_lies_behind_an_unbounded_call_is_unbounded_and_nothing_else() {
    compared(1_000, &["--unbounded", "5"]);
}
