//! `retrylint facts`: what it writes is an input like any other (contracts.md D-22).

mod folder;

use std::path::Path;

use folder::{Folder, Run};
use serde_json::{Value, json};

/// Trees that have, among them, every dialect, Rust, settings that are not understood and files that cannot be read.
const TREES: [&str; 5] = ["testdata/storm", "testdata/calm", "testdata/readme", "testdata/prefilter", "testdata"];

/// Commands whose output says everything that follows from facts.
const VIEWS: [&[&str]; 5] = [
    &["check", "--format", "json", "--pedantic"],
    &["check", "--format", "full", "--pedantic", "--verbose"],
    &["check", "--format", "github"],
    &["policies", "--format", "json"],
    &["graph", "--format", "json"],
];

fn retrylint(folder: &Path, arguments: &[&str], stdin: &str) -> Run {
    let mut command = assert_cmd::Command::cargo_bin("retrylint").unwrap();
    command.current_dir(folder).args(arguments).env("SOURCE_DATE_EPOCH", "1790000000").write_stdin(stdin);
    command.output().unwrap().into()
}

/// Everything that a run says but how long it took.
fn said(run: &Run) -> (i32, &str, Vec<&str>) {
    let lines = run.stderr.lines().map(|line| line.split(" in ").next().unwrap_or_default());
    (run.status, &run.stdout, lines.collect())
}

fn is_the_same(folder: &Path, tree: &str) {
    let facts = retrylint(folder, &["facts", "--include-tests", tree], "");
    assert_eq!((facts.status, facts.stderr.as_str()), (0, ""), "{tree}");
    for view in VIEWS {
        let with = |path: &'static str| [view, &["--include-tests", path]].concat();
        let whole = retrylint(folder, &[view, &["--include-tests", tree]].concat(), "");
        let linked = retrylint(folder, &with("-"), &facts.stdout);
        assert_eq!(said(&linked).1, said(&whole).1, "{tree} {view:?}");
        assert_eq!(said(&linked), said(&whole), "{tree} {view:?}");
    }
    let again = retrylint(folder, &["facts", "-"], &facts.stdout);
    assert!(again.stdout == facts.stdout, "{tree}: facts of facts are others");
}

#[test]
fn a_check_of_a_tree_is_a_check_of_its_facts() {
    for tree in TREES {
        is_the_same(Path::new(env!("CARGO_MANIFEST_DIR")), tree);
    }
}

const WEB: &str = "services:\n  web:\n    calls:\n      - { to: cart, retry: { attempts: 3, on: [overload] } }\n";
const SETTINGS: &str = "[limits]\nmax-attempts = 2\n\n[services.cart]\ncapacity = \"3/s\"\n\n[[calls]]\nfrom = \"cart\"\nto = \"stock\"\n\n\
                        [dialects.istio]\nversion = \"1.20\"\n";
const ROUTE: &str = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: { name: stock, namespace: shop }\nspec:\n  \
                     hosts: [stock]\n  http:\n    - route: [{ destination: { host: stock } }]\n";

#[test]
fn settings_are_facts_and_are_not_stated_twice() {
    let files = [("services.yaml", WEB), ("retrylint.toml", SETTINGS), ("mesh/stock.yaml", ROUTE)];
    let folder = Folder::new("facts-settings", &files);
    is_the_same(&folder.path(""), ".");
    folder.run(&["facts", "--output", "facts.json"]);
    let calls = |paths: &[&str]| {
        let run = folder.run(&[&["graph", "--format", "json"], paths].concat());
        let graph: Value = serde_json::from_str(&run.stdout).unwrap();
        graph["calls"].as_array().unwrap().len()
    };
    // web → cart of the manifest, cart → stock of the settings.
    assert_eq!(calls(&["."]), 2);
    assert_eq!(calls(&["facts.json"]), 2);
    assert_eq!(calls(&["facts.json", "--isolated"]), 2);
}

#[test]
fn what_include_takes_is_decided_where_facts_are_written() {
    let settings = "[scan]\ninclude = [\"deploy/**\"]\nexclude = [\"old.json\"]\n";
    let files = [("deploy/services.yaml", WEB), ("services.yaml", WEB), ("retrylint.toml", settings)];
    let folder = Folder::new("facts-include", &files);
    is_the_same(&folder.path(""), ".");
    folder.run(&["facts", "--output", "new.json"]);
    let summary = |path: &str| folder.run(&["check", path]).stderr;
    assert!(summary("new.json").contains("2 services, 1 call, 1 retry policy"), "{}", summary("new.json"));
    std::fs::copy(folder.path("new.json"), folder.path("old.json")).unwrap();
    assert!(summary("old.json").contains("`exclude` in retrylint.toml has `old.json`"), "{}", summary("old.json"));
}

#[test]
fn the_release_of_a_mesh_is_a_fact() {
    let files = [("here/retrylint.toml", SETTINGS), ("here/stock.yaml", ROUTE)];
    let folder = Folder::new("facts-release", &files);
    folder.run(&["facts", "here", "--output", "facts.json"]);
    let policies = |path: &str| folder.run(&["policies", "--format", "json", path]).stdout;
    let (there, elsewhere) = (policies("here"), policies("facts.json"));
    assert!(there.contains("Istio 1.20"), "{there}");
    assert_eq!(elsewhere, there);
}

#[test]
fn the_bytes_are_the_same_for_any_number_of_threads() {
    let facts = |threads: &str| {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        retrylint(root, &["facts", "--include-tests", "--threads", threads, "testdata"], "").stdout
    };
    let one = facts("1");
    assert!(one.starts_with("{\n \"kind\":\"retrylint-facts\",\n \"version\":1,\n"));
    assert!(one.ends_with("\n}\n"));
    assert_eq!(one, facts("7"));
}

const CHECKOUT: &str =
    "services:\n  checkout:\n    calls:\n      - { to: payments, retry: { attempts: 3, on: [overload] } }\n";
const PAYMENTS: &str =
    "services:\n  payments:\n    calls:\n      - { to: ledger, retry: { attempts: 4, on: [overload] } }\n";

fn two_repositories(name: &str) -> Folder {
    let files = [("checkout/services.yaml", CHECKOUT), ("payments/services.yaml", PAYMENTS)];
    let folder = Folder::new(name, &files);
    for one in ["checkout", "payments"] {
        let output = format!("../{one}.json");
        let run = retrylint(&folder.path(one), &["facts", "--output", &output], "");
        assert_eq!((run.status, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
    }
    folder
}

fn findings(run: &Run) -> Vec<Value> {
    let document: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr));
    document["findings"].as_array().unwrap().clone()
}

/// Rule, path and line of each finding that is not pedantic.
fn places(run: &Run) -> Vec<(String, String, u64)> {
    let text = |value: &Value| value.as_str().unwrap().to_string();
    let place = |one: &Value| (text(&one["rule"]), text(&one["path"]), one["line"].as_u64().unwrap());
    findings(run).iter().filter(|one| one["pedantic"] == false).map(place).collect()
}

#[test]
fn two_repositories_have_a_finding_together_that_neither_has_alone() {
    let folder = two_repositories("facts-linked");
    let check = |paths: &[&str]| {
        folder.run(&[&["check", "--format", "json", "--select", "retry-amplification"], paths].concat())
    };
    assert_eq!(places(&check(&["checkout.json"])), []);
    assert_eq!(places(&check(&["payments.json"])), []);
    // checkout × 3, payments × 4: 12 at the ledger.
    let both = check(&["checkout.json", "payments.json"]);
    let found = findings(&both);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["message"], "one request to `checkout` can become 12 requests at `ledger`");
    // Both files are called services.yaml, so each is called by who tells of it.
    let labels = found[0]["labels"].as_array().unwrap().iter();
    let mut at: Vec<(&str, u64)> =
        labels.map(|label| (label["path"].as_str().unwrap(), label["line"].as_u64().unwrap())).collect();
    at.sort_unstable();
    assert_eq!(at, [("checkout.json:services.yaml", 4), ("payments.json:services.yaml", 4)]);
    // The order in which they are named changes nothing, and neither does linking them beforehand.
    assert_eq!(check(&["payments.json", "checkout.json"]).stdout, both.stdout);
    let linked = folder.run(&["facts", "checkout.json", "payments.json"]).stdout;
    let run =
        retrylint(&folder.path(""), &["check", "--format", "json", "--select", "retry-amplification", "-"], &linked);
    assert_eq!(run.stdout, both.stdout);
    // A text shows both lines, which nobody has but the files of facts.
    std::fs::remove_dir_all(folder.path("checkout")).unwrap();
    std::fs::remove_dir_all(folder.path("payments")).unwrap();
    let text = folder.run(&["check", "checkout.json", "payments.json"]).stdout;
    assert!(
        text.contains("{ to: payments, retry: { attempts: 3") && text.contains("{ to: ledger, retry: { attempts: 4"),
        "{text}"
    );
}

#[test]
fn facts_and_files_are_linked_too() {
    let folder = two_repositories("facts-mixed");
    let run =
        folder.run(&["check", "--format", "json", "--select", "retry-amplification", "checkout", "payments.json"]);
    let found = findings(&run);
    assert_eq!(found.len(), 1, "{found:?}");
    // One lies below a folder here and the other is not here at all: their paths differ by themselves.
    let paths: Vec<&str> =
        found[0]["labels"].as_array().unwrap().iter().map(|label| label["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["services.yaml", "checkout/services.yaml"]);
}

const CLIENT: &str = "use tokio_retry::Retry;\nuse tokio_retry::strategy::FixedInterval;\n\nasync fn charge(client: \
                      &reqwest::Client) -> Result<(), reqwest::Error> {\n    \
                      Retry::spawn(FixedInterval::from_millis(500).take(2), || fetch(client)).await\n}\n\nasync fn \
                      fetch(client: &reqwest::Client) -> Result<(), reqwest::Error> {\n    \
                      client.get(\"http://ledger.shop.svc/x\").send().await?;\n    Ok(())\n}\n\nfn main() {}\n";

#[test]
fn a_path_of_one_repository_says_nothing_of_another_s() {
    let manifest = |name: &str| {
        format!(
            "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\n\n[dependencies]\nreqwest = \"0.12\"\ntokio-retry = \"0.3\"\n"
        )
    };
    let (a, b) = (manifest("orders"), manifest("billing"));
    let files = [
        ("a/Cargo.toml", a.as_str()),
        ("a/src/main.rs", CLIENT),
        ("b/Cargo.toml", b.as_str()),
        ("b/src/main.rs", CLIENT),
        // Of all of its repository.
        ("c/services.yaml", "services:\n  other:\n    paths: [\"**\"]\n    calls: [{ to: ledger.shop }]\n"),
    ];
    let folder = Folder::new("facts-paths", &files);
    for one in ["a", "b", "c"] {
        let output = format!("../{one}.json");
        assert_eq!(retrylint(&folder.path(one), &["facts", "--output", &output], "").status, 0);
    }
    let graph = folder.run(&["graph", "--format", "json", "a.json", "b.json", "c.json"]).stdout;
    let graph: Value = serde_json::from_str(&graph).unwrap();
    let calls = graph["calls"].as_array().unwrap().iter();
    let mut calls: Vec<(&str, &str)> =
        calls.map(|call| (call["from"].as_str().unwrap_or("?"), call["to"].as_str().unwrap())).collect();
    calls.sort_unstable();
    assert_eq!(calls, [("billing", "ledger"), ("orders", "ledger"), ("other", "ledger")]);
}

#[test]
fn settings_that_several_repositories_extend_are_there_once() {
    let base = "[[calls]]\nfrom = \"edge\"\nto = \"checkout\"\n";
    let extend = "extend = \"../base.toml\"\n";
    let files = [
        ("base.toml", base),
        ("checkout/retrylint.toml", extend),
        ("checkout/services.yaml", CHECKOUT),
        ("payments/retrylint.toml", extend),
        ("payments/services.yaml", PAYMENTS),
    ];
    let folder = Folder::new("facts-extended", &files);
    for one in ["checkout", "payments"] {
        let output = format!("../{one}.json");
        assert_eq!(retrylint(&folder.path(one), &["facts", "--output", &output], "").status, 0);
    }
    let calls = |arguments: &[&str]| {
        let run = folder.run(&[&["graph", "--format", "json"], arguments].concat());
        let graph: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.stderr));
        let calls = graph["calls"].as_array().unwrap().iter();
        let mut calls: Vec<(String, String, f64)> = calls
            .map(|call| {
                let text = |key: &str| call[key].as_str().unwrap().to_string();
                (text("from"), text("to"), call["per_request"].as_f64().unwrap())
            })
            .collect();
        calls.sort_by(|a, b| a.partial_cmp(b).unwrap());
        calls
    };
    let call = |from: &str, to: &str| (from.to_string(), to.to_string(), 1.0);
    let expected = [call("checkout", "payments"), call("edge", "checkout"), call("payments", "ledger")];
    assert_eq!(calls(&["checkout.json", "payments.json"]), expected);
    // Nor does a run with the same settings state them again.
    assert_eq!(calls(&["--config", "base.toml", "checkout.json", "payments.json"]), expected);
}

#[test]
fn one_that_lies_in_a_tree_is_read_as_nothing() {
    let folder = two_repositories("facts-in-tree");
    std::fs::copy(folder.path("payments.json"), folder.path("payments/facts.json")).unwrap();
    let run = folder.run(&["policies", "--format", "json", "payments"]);
    let policies: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(policies["policies"].as_array().unwrap().len(), 1);
    assert_eq!(run.stderr, "note: payments/facts.json is not read: facts are read where they are named one by one\n");
    std::fs::copy(folder.path("payments.json"), folder.path("payments/more.json")).unwrap();
    let run = folder.run(&["check", "payments"]);
    assert!(run.stderr.contains("note: payments/facts.json and 1 more are not read"), "{}", run.stderr);
    // What leaves out other files leaves out these.
    std::fs::write(folder.path(".retrylintignore"), "payments.json\n").unwrap();
    let run = folder.run(&["check", "payments.json"]);
    assert!(run.stderr.contains("payments.json is not read: .retrylintignore has `payments.json`"), "{}", run.stderr);
}

#[test]
fn only_lines_that_a_fact_speaks_of_are_kept() {
    let text = format!("# a secret\n\n\n{WEB}# another secret\n");
    let folder = Folder::new("facts-lines", &[("services.yaml", text.as_str())]);
    let facts: Value = serde_json::from_str(&folder.run(&["facts"]).stdout).unwrap();
    let lines = facts["sources"][0]["lines"].as_array().unwrap();
    // The service, and its call; `calls:` lies between two lines that a report shows.
    assert_eq!(
        lines,
        json!([
            { "line": 5, "start": 23, "text": "  web:" },
            { "line": 6, "start": 30, "text": "    calls:" },
            { "line": 7, "start": 41, "text": "      - { to: cart, retry: { attempts: 3, on: [overload] } }" },
        ])
        .as_array()
        .unwrap()
    );
}

#[test]
fn what_is_too_large_or_cut_off_ends_the_run() {
    let folder = two_repositories("facts-size");
    let facts = std::fs::read_to_string(folder.path("payments.json")).unwrap();
    let limit = |size: usize| {
        std::fs::write(folder.path("retrylint.toml"), format!("[scan]\nmax-file-size = {size}\n")).unwrap()
    };
    let status = || {
        let named = folder.run(&["check", "payments.json"]);
        let piped = retrylint(&folder.path(""), &["check", "-"], &facts);
        assert_eq!((named.status, &named.stdout), (piped.status, &piped.stdout), "{} {}", named.stderr, piped.stderr);
        (named.status, named.stderr)
    };
    // Sixteen times as much as of any other file.
    limit(facts.len().div_ceil(16));
    assert_eq!(status().0, 0);
    limit(facts.len().div_ceil(16) - 1);
    let (code, said) = status();
    assert_eq!(code, 2);
    assert!(said.starts_with("error: cannot read the facts in payments.json: it has"), "{said}");
    let cut = &facts[..facts.len() / 2];
    let run = retrylint(&folder.path(""), &["check", "--isolated", "-"], cut);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.starts_with("error: cannot read the facts in <stdin>: EOF while parsing"), "{}", run.stderr);
    assert!(run.stderr.ends_with("  help: write them anew: `retrylint facts` of this version\n"), "{}", run.stderr);
}

#[test]
fn where_it_cannot_be_written_is_said() {
    let folder = Folder::new("facts-output", &[("services.yaml", WEB)]);
    let run = folder.run(&["facts", "--output", "no/such/facts.json"]);
    let expected =
        "error: cannot write the facts no/such/facts.json: no such file or folder\n  help: name a file in a folder";
    assert_eq!(run.status, 2);
    assert!(run.stderr.starts_with(expected), "{}", run.stderr);
}

#[test]
fn facts_are_known_by_what_they_begin_with_and_not_by_their_name() {
    let folder = Folder::new("facts-names", &[("services.yaml", WEB)]);
    let here = folder.run(&["--format", "json", "services.yaml"]).stdout;
    for name in ["facts.json", "facts.yaml", "facts.toml", "facts.rs", "facts"] {
        assert_eq!(folder.run(&["facts", "services.yaml", "--output", name]).status, 0);
        assert_eq!(folder.run(&["--format", "json", name]).stdout, here, "{name}");
        // Written anew.
        assert_eq!(folder.run(&["facts", "services.yaml", "--output", name]).status, 0);
    }
    // What is something else stays what it is.
    let run = folder.run(&["facts", ".", "--output", "services.yaml"]);
    assert!(run.status == 2 && run.stderr.contains("is no file of facts"), "{}", run.stderr);
    assert_eq!(std::fs::read_to_string(folder.path("services.yaml")).unwrap(), WEB);
}

#[test]
fn settings_are_those_of_the_folder_in_which_facts_are_read() {
    let settings =
        "[rules]\nmissing-jitter = \"off\"\n[[per-path]]\npaths = [\"facts.json:services.yaml\"]\nrules = {}\n";
    let folder = Folder::new("facts-settings", &[("here/retrylint.toml", settings), ("there/services.yaml", WEB)]);
    folder.run(&["facts", "there", "--output", "facts.json"]);
    let here = |paths: &[&str]| -> Run {
        let mut command = folder.command(&["config"]);
        command.current_dir(folder.path("here")).args(paths).output().unwrap().into()
    };
    for paths in [&["../facts.json", "."][..], &[".", "../facts.json"], &["../facts.json"]] {
        let run = here(paths);
        assert!(run.stdout.contains("missing-jitter = \"off\""), "{paths:?} {}", run.stdout);
        assert!(!run.stderr.contains("matches no file"), "{}", run.stderr);
    }
}

#[test]
fn a_baseline_is_not_pruned_by_facts() {
    let folder = Folder::new("facts-prune", &[("services.yaml", WEB)]);
    folder.run(&["--write-baseline", "known.json", "services.yaml"]);
    let known = std::fs::read_to_string(folder.path("known.json")).unwrap();
    folder.run(&["facts", "services.yaml", "--output", "facts.json"]);
    std::fs::remove_file(folder.path("services.yaml")).unwrap();
    let run = folder.run(&["--prune-baseline", "known.json", "facts.json"]);
    assert!(run.status == 2 && run.stderr.contains("not pruned by facts"), "{}", run.stderr);
    assert_eq!(std::fs::read_to_string(folder.path("known.json")).unwrap(), known);
}

#[test]
fn counts_that_nobody_can_have_are_shown_and_no_more() {
    let folder = Folder::new("facts-counts", &[("services.yaml", WEB)]);
    let facts = folder.run(&["facts", "services.yaml"]).stdout;
    let hostile = facts.replace("\"yaml\":1", "\"yaml\":18446744073709551615,\"json\":5");
    assert_ne!(facts, hostile);
    std::fs::write(folder.path("hostile.json"), hostile).unwrap();
    let run = folder.run(&["hostile.json"]);
    assert!(run.status < 2 && run.stderr.contains("Read 18,446,744,073,709,551,615 files"), "{}", run.stderr);
}
