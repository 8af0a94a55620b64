//! Settings as users meet them: levels for some files, files that build on others, what is in force, a first file, and what
//! a shell or a manual wants to know.

mod folder;

use folder::{Folder, Run};
use serde_json::Value;

/// Nine tries of one policy: a warning, `excessive-attempts`.
const NINE: &str = "\
services:
  web:
    calls:
      - to: api
        retry: { attempts: 9, backoff: exponential, base: 100ms, cap: 2s, jitter: full }
        timeout: { attempt: 1s, total: 20s }
        budget: { ratio: 0.2 }
        breaker: { ratio: 0.5, minimum: 20, open: 30s }
";

#[test]
fn levels_go_by_the_file_of_the_finding() {
    let settings = "\
[rules]
excessive-attempts = \"error\"
[[per-path]]
paths = [\"legacy/\"]
rules = { excessive-attempts = \"off\" }
[[per-path]]
paths = [\"legacy/kept.yaml\"]
rules = { excessive-attempts = \"note\" }
";
    let files = [
        (".git/HEAD", ""),
        ("retrylint.toml", settings),
        ("new/a.yaml", NINE),
        ("legacy/old.yaml", NINE),
        ("legacy/kept.yaml", &NINE.replace("web", "app")),
    ];
    let folder = Folder::new("per-path", &files);
    let run = folder.run(&["--format", "concise"]);
    let heads: Vec<String> =
        run.stdout.lines().map(|line| line.splitn(5, ':').take(4).collect::<Vec<_>>().join(":")).collect();
    assert_eq!(
        heads,
        ["new/a.yaml:5:28: error[excessive-attempts]", "legacy/kept.yaml:5:28: note[excessive-attempts]"]
    );
    assert!(run.stderr.ends_with("\n1 error, 1 note; 1 of rules that retrylint.toml switches off\n"), "{}", run.stderr);
    // From below, and with the path from there, it is the same file.
    let mut command = folder.command(&["--format", "concise", "kept.yaml", "old.yaml"]);
    let run: Run = command.current_dir(folder.path("legacy")).output().unwrap().into();
    assert!(run.stdout.starts_with("kept.yaml:5:28: note["), "{}", run.stdout);
    assert_eq!((run.status, run.stdout.lines().count()), (0, 1));
}

#[test]
fn a_file_builds_on_another() {
    let folder = Folder::new(
        "extend",
        &[
            (".git/HEAD", ""),
            ("retrylint.toml", "[limits]\nmax-attempts = 20\n[scan]\nexclude = [\"app/old/\"]\n"),
            ("app/retrylint.toml", "extend = \"../retrylint.toml\"\n[rules]\nno-backoff = \"off\"\n"),
            ("app/s.yaml", NINE),
            ("app/old/s.yaml", NINE),
        ],
    );
    let run = folder.run(&["app"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""), "{}", run.stderr);
    assert!(run.stderr.contains("1 call, 1 retry policy\n"), "the pattern of the outer file holds: {}", run.stderr);
    std::fs::write(folder.path("app/retrylint.toml"), "[rules]\nno-backoff = \"off\"\n").unwrap();
    assert_eq!(folder.run(&["app"]).status, 1);
    std::fs::write(folder.path("app/retrylint.toml"), "extend = \"../none.toml\"\n").unwrap();
    let run = folder.run(&["app"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("[app/retrylint.toml:1:10]") && run.stderr.contains("cannot read `../none.toml`"));
    std::fs::write(folder.path("app/retrylint.toml"), "extend = \"../retrylint.toml\"\n").unwrap();
    std::fs::write(folder.path("retrylint.toml"), "[limts]\n").unwrap();
    let run = folder.run(&["app"]);
    assert!(run.stderr.contains("retrylint.toml:1:2]") && run.stderr.contains("did you mean `limits`?"));
}

#[test]
fn the_settings_in_force_say_where_they_come_from() {
    let folder = Folder::new(
        "config",
        &[
            ("outer.toml", "[limits]\nmax-backoff = \"30s\"\nmax-attempts = 5\n"),
            (
                "retrylint.toml",
                "extend = \"outer.toml\"\n\n[limits]\nmax-attempts = 7\n[services.web]\npool = 3\n[[calls]]\nfrom = \"a\"\nto = \"b\"\n",
            ),
        ],
    );
    let run = folder.run(&["config", "--max-amplification", "12"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let said: Vec<String> =
        run.stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in [
        "extend = \"outer.toml\" # retrylint.toml:1",
        "max-attempts = 7 # retrylint.toml:4",
        "max-attempts-job = 10 # default",
        "max-amplification = 12 # --max-amplification",
        "error-amplification = 12 # --max-amplification",
        "max-backoff = \"30s\" # outer.toml:2",
        "[services.web]",
        "pool = 3 # retrylint.toml:6",
        "[[calls]]",
    ] {
        assert!(said.iter().any(|said| said == line), "{line}: {}", run.stdout);
    }
    // It is a retrylint.toml itself, and says the same.
    let again = Folder::new("config-again", &[("outer.toml", ""), ("retrylint.toml", &run.stdout)]).run(&["config"]);
    let values = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split("  #").next().unwrap().trim_end().to_string()).collect()
    };
    assert_eq!(values(&again.stdout), values(&run.stdout));

    let run = folder.run(&["config", "--format", "json"]);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!((&json["version"], json["files"].as_array().unwrap().len()), (&1.into(), 2));
    let schema: Value = serde_json::from_str(include_str!("../docs/schemas/config.schema.json")).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    assert!(schema.is_valid(&json));
    let changed = folder.run(&["config", "--max-attempts", "3", "--format", "json"]);
    assert!(schema.is_valid(&serde_json::from_str(&changed.stdout).unwrap()));
    let of = |table: &str, key: &str| {
        let settings = json["settings"].as_array().unwrap();
        settings.iter().find(|one| one["table"] == table && one["key"] == key).unwrap().clone()
    };
    let line = of("limits", "max-attempts");
    assert_eq!((&line["value"], &line["from"], &line["line"]), (&"7".into(), &"file".into(), &4.into()));
    assert_eq!(of("limits", "min-jitter")["from"], "default");
    assert_eq!(of("calls[1]", "to")["path"], "retrylint.toml");
    // Without a file everything is a default.
    let run = folder.run(&["config", "--isolated"]);
    assert!(run.stdout.lines().filter(|line| line.contains(" = ")).all(|line| line.ends_with("# default")));
    assert_eq!(folder.run(&["config", "--config", "none.toml"]).status, 2);
}

#[test]
fn a_first_file_changes_nothing_and_is_never_written_over() {
    let folder = Folder::new("init", &[(".git/HEAD", ""), ("overlays/prod/s.yaml", NINE)]);
    let before = folder.run(&["--format", "json"]);
    let printed = folder.run(&["init", "--stdout"]);
    assert_eq!((printed.status, printed.stderr.as_str()), (0, ""));
    assert!(!folder.path("retrylint.toml").exists());
    let run = folder.run(&["init"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    assert!(
        run.stderr.starts_with("Wrote retrylint.toml for 2 services and 1 environment; every setting"),
        "{}",
        run.stderr
    );
    let text = std::fs::read_to_string(folder.path("retrylint.toml")).unwrap();
    assert_eq!(text, printed.stdout);
    assert!(text.contains("#[services.web]") && text.contains("Environments found in paths: prod."), "{text}");
    let findings = |run: &Run| serde_json::from_str::<Value>(&run.stdout).unwrap()["findings"].clone();
    assert_eq!(findings(&folder.run(&["--format", "json"])), findings(&before));
    // Again: it stays as it is.
    std::fs::write(folder.path("retrylint.toml"), "[limits]\n").unwrap();
    let run = folder.run(&["init"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("is there already") && run.stderr.contains("retrylint init --stdout"));
    assert_eq!(std::fs::read_to_string(folder.path("retrylint.toml")).unwrap(), "[limits]\n");
    // Below it, the new file hides the old one.
    let run = folder.run(&["init", "overlays"]);
    assert!(run.stderr.contains("\nnote: ") && run.stderr.contains("`extend` in the new file"), "{}", run.stderr);
    // Paths in it start where it lies.
    let package = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\n[dependencies]\nbackon = \"1\"\n";
    let code = "use backon::{ExponentialBuilder, Retryable};\nasync fn main() {\n    get.retry(ExponentialBuilder::default()).await;\n}\n";
    let rust = Folder::new("init-rust", &[("a/b/Cargo.toml", package), ("a/b/src/main.rs", code)]);
    assert!(rust.run(&["init", "a", "--stdout"]).stdout.contains("#[services.shop]\n#paths = [\"b/**\"]"));
    for wrong in ["nowhere", "overlays/prod/s.yaml"] {
        assert_eq!(folder.run(&["init", wrong]).status, 2, "{wrong}");
    }
}

#[test]
fn shells_and_manuals_know_every_command() {
    let folder = Folder::new("shells", &[]);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let run = folder.run(&["completions", shell]);
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{shell}");
        for word in ["retrylint", "policies", "write-baseline", "completions", "help"] {
            assert!(run.stdout.contains(word), "{shell}: {word}");
        }
    }
    // Names as well as options, where the shell's script can hold them.
    for shell in ["bash", "zsh", "fish"] {
        let script = folder.run(&["completions", shell]).stdout;
        for word in ["excessive-attempts", "try-timeout", "sarif="] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(folder.run(&["completions", "tcsh"]).status, 2);
    let run = folder.run(&["man"]);
    assert!(run.stdout.starts_with(".ie \\n(.g .ds Aq") || run.stdout.contains(".TH retrylint 1"), "{}", run.stdout);
    assert!(run.stdout.contains("\\-\\-write\\-baseline"), "{}", run.stdout);
    assert_eq!(folder.run(&["man", "."]).status, 0);
    for page in ["retrylint.1", "retrylint-policies.1", "retrylint-init.1"] {
        assert!(folder.path(page).exists(), "{page}");
    }
    assert_eq!(folder.run(&["man", "no/such"]).status, 2);
}

/// `kubectl get virtualservices,destinationrules -o yaml | retrylint -`, and what a proxy answers on `/config_dump`.
#[test]
fn what_a_cluster_prints_is_read_without_a_name() {
    let list = "\
apiVersion: v1
items:
- apiVersion: networking.istio.io/v1
  kind: VirtualService
  metadata: { name: ledger, namespace: bank }
  spec:
    hosts: [ledger]
    http:
    - retries: { attempts: 8, perTryTimeout: 1s, retryOn: 5xx }
      route: [{ destination: { host: ledger } }]
kind: List
metadata: { resourceVersion: \"\" }
";
    let dump = r#"{ "configs": [ { "@type": "type.googleapis.com/envoy.admin.v3.RoutesConfigDump", "dynamic_route_configs": [
      { "route_config": { "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", "name": "out",
        "virtual_hosts": [ { "name": "v", "domains": ["*"], "routes": [ { "match": { "prefix": "/" }, "route": { "cluster": "ledger",
          "timeout": "20s", "retry_policy": { "retry_on": "5xx", "num_retries": 8, "per_try_timeout": "1s" } } } ] } ] } } ] } ] }"#;
    let folder = Folder::new("cluster", &[]);
    for (text, kind) in [(list, "YAML"), (dump, "JSON")] {
        let run: Run = folder.command(&["--format", "concise", "-"]).write_stdin(text).output().unwrap().into();
        assert_eq!(run.status, 1, "{}", run.stderr);
        let said = "[excessive-attempts]: one call to `ledger` can become nine requests";
        assert!(run.stdout.starts_with("<stdin>:") && run.stdout.contains(said), "{}", run.stdout);
        assert!(run.stderr.starts_with(&format!("Read 1 file (1 {kind})")), "{}", run.stderr);
    }
}

#[test]
fn settings_that_nothing_answers_to_are_told_once_on_standard_error() {
    let settings = "\
[services.wbe]
pool = 5
[services.api]
pool = 5
[services.job]
paths = [\"jobs/nightly\"]
[services.queue]
clients = 3
[services.ledger]
pool = 5
";
    let files = [
        (".git/HEAD", ""),
        ("retrylint.toml", settings),
        ("deploy/services.yaml", NINE),
        ("jobs/nightly/run.py", ""),
        ("other/services.yaml", ""),
        // A client that is called like a service that is known by its settings alone.
        (
            "jobs/nightly/appsettings.json",
            r#"{ "Resilience": { "LedgerClient": { "Retry": { "MaxRetryAttempts": 3, "Delay": "00:00:02" },
              "TotalRequestTimeout": { "Timeout": "00:00:30" } } } }"#,
        ),
    ];
    let folder = Folder::new("unanswered", &files);
    let expected = [
        "warning: retrylint.toml:1: no call and no other file names the service `wbe`; did you mean `web`?",
        "warning: retrylint.toml:7: no call and no other file names the service `queue`; without a call or `paths` it changes",
    ];
    let warnings = |run: Run| -> Vec<String> {
        run.stderr.lines().filter(|line| line.starts_with("warning: retrylint.toml")).map(str::to_string).collect()
    };
    let wide = |arguments: &[&str]| -> Run { folder.command(arguments).env("COLUMNS", "200").output().unwrap().into() };
    assert_eq!(warnings(wide(&["check"])), expected);
    for view in [&["policies"][..], &["graph", "--format", "dot"]] {
        let told = warnings(wide(view));
        assert_eq!((told.len(), told[0].as_str()), (2, expected[0]), "{view:?}");
    }
    // What does not read anything tells what it can.
    let patterns = "[scan]\nexclude = [\"deplyo/**\"]\n[services.wbe]\npool = 5\n";
    std::fs::write(folder.path("retrylint.toml"), patterns).unwrap();
    let told = "warning: retrylint.toml:2: `deplyo/**` of `exclude` matches no file; did you mean `deploy/**`?";
    assert_eq!(warnings(wide(&["config"])), [told]);
    // Nor does what is accepted of a service that a client is called like suppress nothing.
    let accepted = "[services.ledger]\naccept = { max-amplification = 9, reason = \"known\" }\n";
    for (settings, count) in [(accepted.to_string(), 0), (accepted.replace("ledger", "legder"), 1)] {
        std::fs::write(folder.path("retrylint.toml"), settings).unwrap();
        let run = folder.run(&["--select", "unused-suppression", "--format", "concise"]);
        assert_eq!(run.stdout.lines().count(), count, "{}", run.stdout);
    }
    std::fs::write(folder.path("retrylint.toml"), settings).unwrap();
    // Of a part of the repository nobody can tell what the rest names.
    assert_eq!(warnings(wide(&["deploy"])), [""; 0]);
    assert_eq!(warnings(wide(&["check", "--quiet"])), [""; 0]);
    let run = folder.run(&["--format", "json"]);
    let json: Value = serde_json::from_str(&run.stdout).unwrap();
    let whole = [expected[0].to_string(), format!("{} nothing", expected[1])];
    assert_eq!(json["summary"]["remarks"], serde_json::json!(whole));
    // What cannot be read may name them.
    std::fs::write(folder.path("other/services.yaml"), "services:\n\t- calls\n").unwrap();
    assert_eq!(warnings(wide(&["check"])), [""; 0]);
}

#[test]
fn patterns_that_leave_nothing_say_so() {
    let files = [(".git/HEAD", ""), ("a/services.yaml", NINE), ("b/services.yaml", NINE)];
    let folder = Folder::new("nothing-left", &files);
    let notes = |settings: &str, arguments: &[&str]| -> Vec<String> {
        std::fs::write(folder.path("retrylint.toml"), settings).unwrap();
        let run: Run = folder.command(arguments).env("COLUMNS", "200").output().unwrap().into();
        assert_eq!(run.status, i32::from(run.stderr.contains("excessive") || !run.stdout.is_empty()));
        assert!(!run.stderr.contains("retrylint reads"), "{}", run.stderr);
        run.stderr.lines().filter(|line| line.starts_with("note: ")).map(str::to_string).collect()
    };
    let included = "[scan]\ninclude = [\"a/**\"]\n";
    assert_eq!(
        notes(included, &["a", "b"]),
        ["note: nothing below b is read: no pattern of `include` in retrylint.toml takes it"]
    );
    assert_eq!(notes(included, &["."]), [""; 0]);
    let excluded = "[scan]\nexclude = [\"*/services.yaml\", \"*.toml\"]\n";
    let expected = "note: nothing below . is read: `exclude` in retrylint.toml has `*/services.yaml`";
    assert_eq!(notes(excluded, &[]), [expected]);
}

#[test]
fn a_service_that_only_a_slip_names_is_told() {
    let code = "
use backon::{ExponentialBuilder, Retryable};
// retrylint: calls(legder)
pub async fn one(client: &reqwest::Client, url: &str) -> Result<String, reqwest::Error> {
    (|| async { client.get(url).send().await?.text().await }).retry(ExponentialBuilder::default()).await
}
// retrylint: calls(orders-v2)
pub async fn two(client: &reqwest::Client, url: &str) -> Result<String, reqwest::Error> {
    (|| async { client.get(url).send().await?.text().await }).retry(ExponentialBuilder::default()).await
}
// retrylint: calls(ledger)
// retrylint: service(stok)
pub async fn three(client: &reqwest::Client, url: &str) -> Result<String, reqwest::Error> {
    (|| async { client.get(url).send().await?.text().await }).retry(ExponentialBuilder::default()).await
}
fn main() {}
";
    // `shard-2` and `orders-v2` are names like others, `brand-new` is like none, and the last slip is somebody's name.
    let calls = |to: &str| format!("[[calls]]\nfrom = \"web\"\nto = \"{to}\"\n");
    let settings = ["shard-2", "brand-new", "ledgr", "stocks"].map(calls).concat();
    let manifest =
        "services:\n  web: { calls: [{ to: ledger }, { to: stock }, { to: orders }, { to: shard-1 }] }\n  stocks: {}\n";
    let files = [
        (".git/HEAD", ""),
        (
            "Cargo.toml",
            "[package]\nname = \"cart\"\nversion = \"0.1.0\"\n[dependencies]\nbackon = \"1.3\"\nreqwest = \"0.12\"\n",
        ),
        ("src/main.rs", code),
        ("retrylint.toml", &*settings),
        ("services.yaml", manifest),
    ];
    let folder = Folder::new("slips", &files);
    let told = |arguments: &[&str]| {
        let run: Run = folder.command(arguments).env("COLUMNS", "200").output().unwrap().into();
        let mut told: Vec<String> =
            run.stderr.lines().filter(|line| line.starts_with("warning: ")).map(str::to_string).collect();
        told.sort();
        told
    };
    let expected = [
        "warning: retrylint.toml:9: nothing else names the service `ledgr`; did you mean `ledger`?",
        "warning: src/main.rs:12: nothing else names the service `stok`; did you mean `stock`?",
        "warning: src/main.rs:3: nothing else names the service `legder`; did you mean `ledger`?",
    ];
    assert_eq!(told(&["check"]), expected);
    assert_eq!(told(&["graph"]), expected);
    // Of a part of the repository nobody can tell what the rest names.
    assert_eq!(told(&["policies", "src"]), [""; 0]);
}
