//! CONTRIBUTING.md, ARCHITECTURE.md and SECURITY.md: what they name is there, and what they tell to do works.

use std::path::Path;

use assert_cmd::Command;
use retrylint::read::code::catalogue::format;
use retrylint::rules;
use serde_json::Value;

use crate::fences::{fences, holds};
use crate::{folder, read};

const PAGES: [&str; 3] = ["ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"];

/// Inline code of a page, outside of fences.
fn code(page: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut in_fence = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        } else if !in_fence {
            all.extend(line.split('`').skip(1).step_by(2).map(str::to_string));
        }
    }
    all
}

fn is_path(code: &str) -> bool {
    let ending = [".rs", ".md", ".toml", ".json"].iter().any(|ending| code.ends_with(ending));
    (code.contains('/') || ending) && !code.contains(|c: char| c.is_whitespace() || "<>$*…".contains(c))
}

/// `Findings::report`, `Sourced`, `DIALECTS`: what code calls something.
fn is_name(code: &str) -> bool {
    let plain = code.chars().all(|c| c.is_ascii_alphanumeric() || "_:".contains(c));
    plain && code.contains(|c: char| c.is_ascii_uppercase())
}

#[test]
fn every_path_is_there() {
    let mut paths = 0;
    for page in PAGES {
        // What users have is no file of the repository.
        for path in code(&read(page)).iter().filter(|code| is_path(code) && *code != "retrylint.toml") {
            paths += 1;
            assert!(Path::new(path).exists(), "{page}: {path}");
        }
    }
    assert!(paths > 50, "{paths}");
}

#[test]
fn every_name_is_one() {
    let mut sources = String::new();
    for folder in ["src", "tests", "rules"] {
        for entry in walkdir::WalkDir::new(folder).into_iter().map(Result::unwrap) {
            let is_source = entry.path().extension().is_some_and(|ending| ending == "rs" || ending == "toml");
            // This folder would hold whatever is asked for.
            if is_source && !entry.path().starts_with("tests/documentation") {
                sources.push_str(&read(entry.path().to_str().unwrap()));
            }
        }
    }
    let words: std::collections::HashSet<&str> =
        sources.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect();
    let mut names = 0;
    for page in PAGES {
        for name in code(&read(page)).iter().filter(|code| is_name(code) && *code != "RETRYLINT_DOCS") {
            names += 1;
            for part in name.split("::") {
                assert!(words.contains(part), "{page}: {name}");
            }
        }
    }
    assert!(names > 10, "{names}");
}

/// The whole file of the library walkthrough.
fn walkthrough() -> String {
    let page = read("CONTRIBUTING.md");
    let all: Vec<_> = fences(&page).into_iter().filter(|fence| fence.value("example") == Some("library")).collect();
    let [one] = &all[..] else { panic!("{} libraries", all.len()) };
    one.text.clone()
}

/// The same under `[[library]]`: its shapes, without what only files have.
fn as_setting(library: &str) -> String {
    let (shapes, _) = library.split_once("[[example]]").unwrap();
    let line = |line: &str| match line {
        line if line.starts_with("schema ") => String::new(),
        line if line.starts_with("[[shape") => format!("{}\n", line.replacen("[[shape", "[[library.shape", 1)),
        line if line.starts_with("[shape") => format!("{}\n", line.replacen("[shape", "[library.shape", 1)),
        line => format!("{line}\n"),
    };
    format!("[[library]]\n{}", shapes.lines().map(line).collect::<String>())
}

#[test]
fn the_library_of_the_walkthrough_is_a_file_of_the_catalogue() {
    let ids: Vec<&str> = rules::ALL.iter().map(|rule| rule.id).collect();
    let library = format::parse(&walkthrough(), Some(&ids)).unwrap_or_else(|faults| panic!("{faults:#?}"));
    assert_eq!(&*library.name, "acme-retry");
    assert_eq!((library.shapes.len(), library.examples.len()), (2, 1));
}

#[test]
fn the_library_of_the_walkthrough_reads_its_example() {
    let library = walkthrough();
    let table: toml::Table = library.parse().unwrap();
    let code = table["example"][0]["code"].as_str().unwrap().to_string();
    let manifest = "[package]\nname = \"web\"\nversion = \"0.1.0\"\n\n[dependencies]\nacme-retry = \"2.1\"\n";
    let main = format!("{code}\nasync fn op() -> Result<(), Failed> {{ Err(Failed) }}\n\nfn main() {{}}\n");
    let folder = folder("walkthrough", &[("Cargo.toml", manifest.into()), ("src/main.rs", main)]);
    let policies = || -> Value {
        let output = Command::cargo_bin("retrylint")
            .unwrap()
            .args(["policies", "--format", "json", "--quiet"])
            .arg(&folder)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_slice::<Value>(&output.stdout).unwrap_or_else(|error| panic!("{error}: {text}"))["policies"]
            .clone()
    };
    // Nobody knows the helper yet.
    assert_eq!(policies(), Value::Array(Vec::new()));
    std::fs::write(folder.join("retrylint.toml"), as_setting(&library)).unwrap();
    let known = policies();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(known.as_array().unwrap().len(), 1, "{known:#}");
    let policy = &known[0];
    assert_eq!((&policy["source"], &policy["kind"]), (&"acme-retry".into(), &"library".into()));
    assert_eq!(policy["attempts"]["value"], 3);
    assert_eq!(policy["backoff"]["base_ms"].as_f64(), Some(200.0));
    assert_eq!(policy["backoff"]["factor"].as_f64(), Some(2.0));
    assert_eq!(policy["jitter"]["kind"], "none");
}

/// What docs/getting-started.md says to write where something is unknown.
#[test]
fn what_is_told_is_heard() {
    let page = read("docs/getting-started.md");
    let ids: Vec<&str> = rules::ALL.iter().map(|rule| rule.id).collect();
    for fence in fences(&page).iter().filter(|fence| fence.language() == "toml") {
        assert!(retrylint::config::Config::parse(&fence.text, &ids).is_ok(), "{}", fence.text);
    }
    let story = |path: &str| read(&format!("testdata/stories/unknown/{path}"));
    let coverage = |name: &str, code: String| -> Value {
        let files = [
            ("services.yaml", story("services.yaml")),
            ("mesh/ledger.yaml", story("mesh/ledger.yaml")),
            ("stock/Cargo.toml", story("stock/Cargo.toml")),
            ("stock/src/main.rs", code),
        ];
        let folder = folder(name, &files);
        let output = Command::cargo_bin("retrylint").unwrap().args(["--format", "json"]).arg(&folder).output().unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["summary"]["coverage"].clone()
    };
    let code = story("stock/src/main.rs");
    assert_eq!(coverage("untold", code.clone())["unknown_callees"], 1);
    assert!(page.contains("`// retrylint: calls(ledger)`"));
    let told = code.replace("    ask.retry", "    // retrylint: calls(ledger)\n    ask.retry");
    assert_ne!(told, code);
    assert_eq!(coverage("told", told)["unknown_callees"], 0);
}

/// The limits that SECURITY.md tells are those of the readers.
#[test]
fn the_limits_are_those_of_the_program() {
    let page = read("SECURITY.md");
    for (said, file, written) in [
        ("| nesting of JSON | 512 levels |", "src/read/data/json.rs", "const MAX_DEPTH: usize = 512;"),
        ("| 16 times as much, 10,000 environments;", "src/scan/recorded/mod.rs", "const LARGER: u64 = 16;"),
        ("10,000 environments;", "src/scan/recorded/check.rs", "const MOST_ENVIRONMENTS: usize = 10_000;"),
        ("| nesting of TOML | 128 levels |", "src/read/data/toml.rs", "const MAX_DEPTH: usize = 128;"),
        ("| 1,000,000 in a file |", "src/read/data/yaml.rs", "const MAX_ALIASED: u64 = 1_000_000;"),
        ("| contents that git is asked for | 1 GiB |", "src/git.rs", "const MOST: u64 = 1 << 30;"),
    ] {
        assert!(page.contains(said), "{said}");
        assert!(holds(&read(file), written), "{file}: {written}");
    }
    assert_eq!(retrylint::scan::ScanSettings::default().max_file_size, 64 << 20);
}

/// Only git is started, and from one place; the compiler refuses unsafe code.
#[test]
fn what_is_said_of_the_sources_is_so() {
    for entry in walkdir::WalkDir::new("src").into_iter().map(Result::unwrap) {
        let path = entry.path().to_str().unwrap();
        if !entry.file_type().is_file() || path.contains("test") {
            continue;
        }
        let text = read(path);
        assert!(!text.contains("process::Command") || path == "src/git.rs", "{path} starts a program");
        // Addresses are read; nothing listens or connects.
        let is_wired =
            ["TcpStream", "TcpListener", "UdpSocket", "ToSocketAddrs"].iter().any(|word| text.contains(word));
        assert!(!is_wired, "{path} uses the network");
    }
    assert!(read("src/git.rs").contains(r#"Command::new("git")"#));
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    assert_eq!(manifest["lints"]["rust"]["unsafe_code"].as_str(), Some("forbid"));
}
