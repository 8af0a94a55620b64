//! What the README quotes of the example; its output is compared in `tests/documentation/output.rs`, with that of every page.

#[test]
fn the_readme_quotes_the_example_files() {
    let readme = std::fs::read_to_string("README.md").unwrap();
    for (file, line) in [
        ("testdata/readme/checkout/appsettings.json", r#""Retry": { "MaxRetryAttempts": 3 }"#),
        ("testdata/readme/mesh/payments.yaml", "retries: { attempts: 2, perTryTimeout: 1s, retryOn: 5xx }"),
    ] {
        assert!(std::fs::read_to_string(file).unwrap().contains(line), "{file}");
        assert!(readme.contains(line), "{line}");
    }
}
