//! The README shows what the program really says.

use assert_cmd::Command;

#[test]
fn the_readme_shows_real_output() {
    let readme = std::fs::read_to_string("README.md").unwrap();
    let output = Command::cargo_bin("retrylint").unwrap().arg("testdata/readme").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("can become 12 requests"), "{said}");
    assert!(readme.contains(said.trim_end()), "the README's output is out of date; it should be\n{said}");
}

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
