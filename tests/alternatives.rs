//! Two descriptions of one thing are alternatives, never a product: a dump beside the routes it was made from. What stands at
//! another place on the way multiplies.

use assert_cmd::Command;
use serde_json::Value;

const MANIFEST: &str = "services:
  web:
    calls: [{ to: pay, retry: { attempts: 4, backoff: exponential, base: 100ms, cap: 1s, jitter: full } }]
";

const ROUTE: &str = "apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: pay, namespace: shop }
spec:
  hosts: [pay]
  http: [{ route: [{ destination: { host: pay } }], timeout: 5s, retries: { attempts: 5, retryOn: 5xx } }]
";

/// The tries of `web → pay` for a 503, with these further files.
fn tries(name: &str, files: &[(&str, &str)]) -> Value {
    tries_in(name, None, &[&[("services.yaml", MANIFEST), ("pay.yaml", ROUTE)], files].concat())
}

/// The tries of `web → pay` for a 503 in one environment, with these files alone.
fn tries_in(name: &str, environment: Option<&str>, files: &[(&str, &str)]) -> Value {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (path, text) in files {
        std::fs::create_dir_all(folder.join(path).parent().unwrap()).unwrap();
        std::fs::write(folder.join(path), text).unwrap();
    }
    let mut command = Command::cargo_bin("retrylint").unwrap();
    command.args(["graph", "--format", "json"]).arg(&folder);
    command.args(environment.iter().flat_map(|name| ["--environment", name]));
    let output = command.output().unwrap();
    let graph: Value = serde_json::from_slice(&output.stdout).unwrap();
    let calls = graph["calls"].as_array().unwrap();
    calls.iter().find(|call| call["from"] == "web" && call["to"] == "pay").unwrap()["tries"].clone()
}

fn routes(cluster: &str) -> String {
    format!(
        r#"{{ "virtual_hosts": [{{ "name": "pay", "domains": ["pay"], "routes": [{{ "match": {{ "prefix": "/" }},
        "route": {{ "cluster": "{cluster}", "timeout": "5s", "retry_policy": {{ "retry_on": "5xx", "num_retries": 3 }} }} }}] }}] }}"#
    )
}

#[test]
fn a_dump_beside_its_source_is_no_further_layer() {
    // Four of the client's, six of the route's; the dump's four are the same sidecar's and less.
    let dump = routes("outbound|80||pay.shop.svc.cluster.local");
    assert_eq!(tries("dump", &[("dump.json", &dump)]), 24);
    assert_eq!(tries("no-dump", &[]), 24);
}

#[test]
fn a_gateway_in_between_is_one() {
    let gateway = routes("pay");
    assert_eq!(tries("gateway", &[("gateway.json", &gateway)]), 96);
}

/// A route of the mesh that tries three times, or a patch of it that tries six times; `head` says whose.
fn route(head: &str, spec: &str) -> String {
    format!(
        "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{ {head} }}\nspec: {{ {spec}, http: [{{ \
         route: [{{ destination: {{ host: pay }} }}], retries: {{ attempts: 5, retryOn: 5xx }} }}] }}\n"
    )
}

#[test]
fn a_patch_need_not_repeat_what_its_base_says() {
    let plain = "services:\n  web: { calls: [{ to: pay }] }\n";
    let base = route("name: pay", "hosts: [pay]").replace("attempts: 5", "attempts: 2");
    let tries = |name: &str, environment: &str, patch: &str| {
        let files = [("services.yaml", plain), ("base/vs.yaml", &base), ("overlays/prod/retries.yaml", patch)];
        let other = route("name: other", "hosts: [other]").replace("host: pay", "host: other");
        tries_in(name, Some(environment), &[&files[..], &[("overlays/staging/vs.yaml", &*other)]].concat())
    };
    let patch = route("name: pay", "exportTo: ['*']");
    assert_eq!(tries("patch", "prod", &patch), 6);
    // Elsewhere the base holds as it is.
    assert_eq!(tries("patch-elsewhere", "staging", &patch), 3);
    // Of another object, or of one of that name in another namespace, nobody knows who calls.
    assert_eq!(tries("patch-other", "prod", &route("name: other", "exportTo: ['*']")), 3);
    assert_eq!(tries("patch-namespace", "prod", &route("name: pay, namespace: shop", "exportTo: ['*']")), 3);
}

#[test]
fn a_patch_within_a_kustomization_is_one_and_a_patch_of_paths_is_told() {
    let base = route("name: pay", "hosts: [pay]").replace("attempts: 5", "attempts: 2");
    let inline: String = route("name: pay", "exportTo: ['*']").lines().map(|line| format!("    {line}\n")).collect();
    let merge = format!("resources: [../../base]\npatches:\n- patch: |-\n{inline}");
    let steps = "resources: [../../base]\npatches:\n- target: { kind: VirtualService, name: pay }\n  patch: |-\n    \
                 - { op: replace, path: /spec/http/0/retries/attempts, value: 9 }\n";
    let files = [
        ("services.yaml", "services:\n  web: { calls: [{ to: pay }] }\n"),
        ("base/vs.yaml", &base),
        ("overlays/prod/kustomization.yaml", &merge),
        ("overlays/staging/kustomization.yaml", steps),
    ];
    assert_eq!(tries_in("kustomization", Some("prod"), &files), 6);
    assert_eq!(tries_in("kustomization", Some("staging"), &files), 3);
    let remarks = |environment: &str| {
        let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("kustomization");
        let mut command = Command::cargo_bin("retrylint").unwrap();
        let output = command.args(["--format", "json", "--environment", environment]).arg(&folder).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["summary"]["remarks"].clone()
    };
    assert_eq!(remarks("staging"), serde_json::json!(["Retries of one object are not read yet: JSON patch"]));
    assert_eq!(remarks("prod"), serde_json::json!([]));
}
