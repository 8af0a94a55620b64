//! `--environment`: every view and every count is of that environment and of what belongs to all.

use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::Value;

fn route(name: &str, attempts: u64) -> String {
    format!(
        "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{ name: {name} }}\nspec:\n  hosts: [{name}]\n  http:\n  \
         - timeout: 10s\n    retries: {{ attempts: {attempts}, perTryTimeout: 1s, retryOn: 5xx }}\n    \
         route: [{{ destination: {{ host: {name} }} }}]\n"
    )
}

/// One route for everybody, one of production's, and in staging another, a policy of nobody known, a file that does not end, an
/// object that is not read, and a comment that silences what is found there.
fn tree(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    let not_read =
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nspec: { rules: [{ retry: { attempts: 3 } }] }\n";
    let silenced =
        route("orders", 9).replace("    retries", "    # retrylint: allow(excessive-attempts) agreed\n    retries");
    for (path, text) in [
        ("base/pay.yaml", route("pay", 2)),
        ("overlays/prod/orders.yaml", route("orders", 5)),
        ("overlays/staging/orders.yaml", silenced),
        ("overlays/staging/job.yaml", "job: { retry: { attempts: 3, backoff: 1s } }\n".into()),
        ("overlays/staging/broken.yaml", format!("{}---\nspec: [\n", route("broken", 2))),
        ("overlays/staging/route.yaml", not_read.into()),
    ] {
        std::fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
        std::fs::write(folder.join(path), text).unwrap();
    }
    folder
}

fn json(command: &str, folder: &PathBuf, environment: Option<&str>) -> Value {
    let mut run = Command::cargo_bin("retrylint").unwrap();
    run.args([command, "--format", "json"])
        .arg(folder)
        .args(environment.iter().flat_map(|name| ["--environment", name]));
    serde_json::from_slice(&run.output().unwrap().stdout).unwrap()
}

#[test]
fn policies_are_those_of_the_environment_and_of_all() {
    let folder = tree("environment-policies");
    let shown = |environment| {
        let all = json("policies", &folder, environment)["policies"].as_array().unwrap().clone();
        let written = all.into_iter().filter(|policy| policy["kind"] == "config");
        let name = |policy: Value| {
            policy["path"].as_str().unwrap().rsplit_once("/environment-policies/").unwrap().1.to_string()
        };
        written.map(name).collect::<Vec<_>>()
    };
    assert_eq!(shown(Some("prod")), ["base/pay.yaml", "overlays/prod/orders.yaml"]);
    let staging = ["base/pay.yaml", "overlays/staging/job.yaml", "overlays/staging/orders.yaml"];
    assert_eq!(
        shown(Some("staging")).into_iter().filter(|path| !path.ends_with("broken.yaml")).collect::<Vec<_>>(),
        staging
    );
    assert!(shown(None).len() > 4);
}

#[test]
fn counts_and_findings_are_those_of_the_environment_and_of_all() {
    let folder = tree("environment-counts");
    let prod = json("check", &folder, Some("prod"));
    let summary = &prod["summary"];
    // Two routes, and the two defaults of the mesh.
    assert_eq!((&summary["policies"], &summary["coverage"]["unknown_callees"]), (&4.into(), &0.into()));
    assert_eq!((&summary["remarks"], &summary["suppressed"]), (&Value::Array(vec![]), &0.into()));
    let paths: Vec<&str> =
        prod["findings"].as_array().unwrap().iter().map(|finding| finding["path"].as_str().unwrap()).collect();
    assert!(paths.iter().all(|path| !path.contains("staging")), "{paths:?}");

    let staging = json("check", &folder, Some("staging"));
    let summary = &staging["summary"];
    assert_eq!((&summary["coverage"]["unknown_callees"], &summary["suppressed"]), (&1.into(), &1.into()));
    assert_eq!(summary["remarks"], serde_json::json!(["Retries of one object are not read yet: HTTPRoute"]));
    let has = |rule: &str| staging["findings"].as_array().unwrap().iter().any(|finding| finding["rule"] == rule);
    assert!(has("unreadable-file") && has("excessive-attempts"));
}

#[test]
fn what_silences_nothing_here_may_do_so_in_another_environment() {
    let folder = tree("environment-unused");
    // In the base, and about what only staging has.
    std::fs::write(
        folder.join("base/pay.yaml"),
        route("pay", 2).replace("    retries", "    # retrylint: allow(excessive-attempts) agreed\n    retries"),
    )
    .unwrap();
    let unused = |environment| {
        let found = json("check", &folder, environment)["findings"].as_array().unwrap().clone();
        found.into_iter().filter(|finding| finding["rule"] == "unused-suppression").count()
    };
    assert_eq!((unused(Some("prod")), unused(Some("staging")), unused(None)), (0, 0, 1));
}
