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
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (path, text) in [("services.yaml", MANIFEST), ("pay.yaml", ROUTE)].iter().chain(files) {
        std::fs::write(folder.join(path), text).unwrap();
    }
    let output =
        Command::cargo_bin("retrylint").unwrap().args(["graph", "--format", "json"]).arg(&folder).output().unwrap();
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
