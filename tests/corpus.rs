//! Real configuration files, read where `RETRYLINT_CORPUS` says they are. They belong to others and are not part of this
//! repository. The policies below were read by hand in those files, with the semantics of their dialects beside them.

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

/// The folder, or none with a line that says so.
fn corpus() -> Option<PathBuf> {
    match std::env::var_os("RETRYLINT_CORPUS") {
        Some(path) => Some(PathBuf::from(path)),
        None => {
            eprintln!("skipped: RETRYLINT_CORPUS is not set, so no real configuration files were read");
            None
        }
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().map(|entry| entry.unwrap());
    entries.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

/// Policies of a file as `line source tries classes`, the mesh's own defaults (of which no file says anything) left out.
fn policies(path: &Path) -> Vec<String> {
    let output =
        Command::cargo_bin("retrylint").unwrap().args(["policies", "--format", "json"]).arg(path).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{}: {e}\n{}", path.display(), String::from_utf8_lossy(&output.stderr)));
    json["policies"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|policy| !policy["name"].as_str().unwrap().ends_with("default of the mesh"))
        .map(|policy| {
            let classes: Vec<&str> =
                policy["retries_on"].as_array().into_iter().flatten().map(|class| class.as_str().unwrap()).collect();
            format!(
                "{} {} {} {}",
                policy["line"],
                policy["source"].as_str().unwrap(),
                policy["attempts"]["value"],
                classes.join(",")
            )
        })
        .collect()
}

#[test]
fn every_file_is_read_without_a_failure() {
    let Some(corpus) = corpus() else { return };
    let files = files(&corpus);
    assert!(files.len() >= 39, "{}", files.len());
    for path in files {
        for command in ["check", "policies", "graph"] {
            let output = Command::cargo_bin("retrylint")
                .unwrap()
                .args([command, "--pedantic"][..if command == "check" { 2 } else { 1 }].iter())
                .arg(&path)
                .output()
                .unwrap();
            let code = output.status.code();
            assert!(
                matches!(code, Some(0 | 1)),
                "{command} {}: {code:?} {}",
                path.display(),
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
}

#[test]
fn the_policies_in_them_are_those_that_a_reader_finds() {
    let Some(corpus) = corpus() else { return };
    // Istio's default since 1.24: connect-failure, refused-stream, unavailable, cancelled; two retries, three tries.
    const ISTIO: &str = "istio 3 connect,unsent,unavailable,aborted";
    let at = |line: u32| format!("{line} {ISTIO}");
    let expected: Vec<(&str, Vec<String>)> = vec![
        (
            "istio__istio/samples__bookinfo__networking__virtual-service-all-v1.yaml",
            vec![at(9), at(22), at(35), at(48)],
        ),
        ("istio__istio/samples__bookinfo__networking__virtual-service-ratings-test-delay.yaml", vec![at(9), at(22)]),
        // DestinationRules without retries: nothing but subsets and TLS.
        ("istio__istio/samples__bookinfo__networking__destination-rule-all.yaml", vec![]),
        ("istio__istio/tests__testdata__config__destination-rule-all.yaml", vec![]),
        (
            "envoyproxy__gateway/internal__xds__translator__testdata__out__xds-ir__retry.routes.yaml",
            vec![
                // Three retries; code 500 is what `retriable-status-codes` adds.
                "14 envoy 4 connect,unsent,server-error,unavailable,aborted".into(),
                "37 envoy 3 connect,unsent,overload,unavailable,aborted".into(),
                // `reset` alone covers refused streams and timed-out tries too.
                "54 envoy 6 connect,unsent,reset,try-timeout".into(),
            ],
        ),
        (
            "envoyproxy__gateway/internal__xds__translator__testdata__out__xds-ir__retry-partial-invalid.routes.yaml",
            vec![
                "14 envoy 6 connect,unsent,reset,try-timeout,overload,rate-limited".into(),
                "40 envoy 3 connect,unsent,overload,unavailable,aborted".into(),
            ],
        ),
        // A cluster with max_retries and a budget: caps, no retry policy.
        ("envoyproxy__gateway/internal__xds__translator__testdata__out__xds-ir__circuit-breaker.clusters.yaml", vec![]),
        // Retries of side calls (authorization, keys) are not retries of requests.
        ("envoyproxy__gateway/internal__xds__translator__testdata__out__xds-ir__ext-auth-retry.listeners.yaml", vec![]),
        (
            "envoyproxy__gateway/internal__xds__translator__testdata__out__xds-ir__jwt-with-backend-tls-retry.listeners.yaml",
            vec![],
        ),
        // A CRD describes fields; it sets none.
        (
            "envoyproxy__gateway/charts__gateway-crds-helm__templates__generated__gateway.envoyproxy.io_securitypolicies.yaml",
            vec![],
        ),
        // Eleven routes, no retry_policy on any.
        ("open-telemetry__opentelemetry-demo/src__frontend-proxy__envoy.tmpl.yaml", vec![]),
        // Health checks and restart policies of Compose.
        ("open-telemetry__opentelemetry-demo/compose.yaml", vec![]),
        ("quickwit-oss__quickwit/docker-compose.yml", vec![]),
        ("istio__istio/releasenotes__notes__default-inbound-http-retry-policy.yaml", vec![]),
        ("istio__istio/samples__ambient-argo__meta-application.yaml", vec![]),
        ("istio__istio/manifests__charts__istio-control__istio-discovery__templates__autoscale.yaml", vec![]),
        // Workflow steps are run again, no request is.
        ("argoproj__argo-workflows/examples__retry-backoff.yaml", vec![]),
        ("argoproj__argo-workflows/examples__retry-container-to-completion.yaml", vec![]),
        ("App-vNext__Polly/samples__Chaos__appsettings.json", vec![]),
        // gRPC service configuration has no reader yet: the generic shape, at low confidence; `maxAttempts` counts tries.
        (
            "googleapis__gapic-showcase/showcase_grpc_service_config.json",
            vec!["50 generic 3 unavailable,internal".into(), "73 generic 5 unavailable,internal".into()],
        ),
    ];
    for (file, policies_by_hand) in expected {
        assert_eq!(policies(&corpus.join(file)), policies_by_hand, "{file}");
    }
}

#[test]
fn routes_that_istio_generates_for_a_gateway_have_what_they_write() {
    let Some(corpus) = corpus() else { return };
    let file = corpus.join("istio__istio/pilot__pkg__config__kube__gateway__testdata__http.golden.yaml");
    let policies = policies(&file);
    // Two routes write retries; `503,429` in retryOn are status codes. All others have Istio's default.
    let written: Vec<&String> =
        policies.iter().filter(|policy| policy.starts_with("364 ") || policy.starts_with("386 ")).collect();
    assert_eq!(
        written,
        [
            "364 istio 4 connect,unsent,overload,rate-limited,unavailable,aborted",
            "386 istio 3 connect,unsent,unavailable,aborted"
        ]
    );
    assert!(
        policies
            .iter()
            .all(|policy| policy.contains("istio 3 connect,unsent,unavailable,aborted") || policy.starts_with("364 "))
    );
}
