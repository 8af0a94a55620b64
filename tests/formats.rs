//! The formats of `check` as files and on standard output: the same text in both, paths from the root of the repository on,
//! and names that try to be more than names.

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
  api:
    calls: []
";

const FORMATS: [&str; 9] = ["full", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "markdown"];

#[test]
fn a_file_holds_what_standard_output_would() {
    let folder = Folder::new("both", &[(".git/HEAD", ""), ("services.yaml", NINE)]);
    let outputs: Vec<String> = FORMATS.iter().map(|format| format!("{format}=out.{format}")).collect();
    let arguments: Vec<&str> =
        outputs.iter().flat_map(|output| ["--output", output]).chain(["services.yaml"]).collect();
    assert_eq!(folder.run(&arguments).status, 1);
    for format in FORMATS {
        let printed = folder.run(&["--format", format, "services.yaml"]);
        assert_eq!(printed.status, 1, "{format}");
        assert_eq!(std::fs::read_to_string(folder.path(&format!("out.{format}"))).unwrap(), printed.stdout, "{format}");
        assert!(printed.stderr.contains("1 warning"), "{format}");
    }
}

#[test]
fn what_is_read_beside_the_repository_names_files_from_its_root_on() {
    let folder = Folder::new("below", &[(".git/HEAD", ""), ("deploy/web/services.yaml", NINE)]);
    let run = |format: &str| -> Run {
        let mut command = folder.command(&["--format", format]);
        command.current_dir(folder.path("deploy/web")).output().unwrap().into()
    };
    for (format, place) in [
        ("sarif", "\"uri\": \"deploy/web/services.yaml\""),
        (
            "github",
            "::warning file=deploy/web/services.yaml,line=5,endLine=5,col=28,endColumn=29,title=excessive-attempts::",
        ),
        ("gitlab", "\"path\": \"deploy/web/services.yaml\""),
        ("junit", "file=\"deploy/web/services.yaml\" line=\"5\""),
        ("markdown", "<code>deploy/web/services.yaml:5</code>"),
    ] {
        let text = run(format).stdout;
        assert!(text.contains(place), "{format}: {text}");
    }
    for format in ["full", "concise", "json", "jsonl"] {
        let text = run(format).stdout;
        assert!(text.contains("services.yaml") && !text.contains("deploy/"), "{format}: {text}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_anything_is_read() {
    let folder = Folder::new("unwritable", &[("services.yaml", NINE), ("reports/old.json", "")]);
    for (arguments, error, help) in [
        (
            &["--output", "json=no/such/out.json"][..],
            "cannot write no/such/out.json: there is no folder no/such",
            "make it first: `mkdir -p no/such`",
        ),
        (
            &["--output", "json=reports"],
            "cannot write reports: it is a folder",
            "name a file in it: `--output json=reports/retrylint.json`",
        ),
        (
            &["--output", "json=a.json", "--output", "sarif=./reports/../a.json"],
            "two outputs go to ./reports/../a.json: json and sarif",
            "give each `--output` a file of its own",
        ),
        (
            &["--output", "json=reports/old.json", "--output", "json=reports/old.json"],
            "two outputs go to reports/old.json: json and json",
            "give each `--output` a file of its own",
        ),
    ] {
        let run = folder.run(arguments);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments:?}");
        assert_eq!(run.stderr, format!("error: {error}\n  help: {help}\n"));
        assert!(!folder.path("a.json").exists(), "{arguments:?}");
    }
    // Two files in one folder, and one of two folders, are no clash.
    let run = folder.run(&["--output", "json=a.json", "--output", "sarif=reports/a.json", "services.yaml"]);
    assert_eq!(run.status, 1, "{}", run.stderr);
}

#[test]
fn without_findings_every_format_says_so_in_its_way() {
    let folder = Folder::new("nothing", &[("services.yaml", &NINE.replace("attempts: 9", "attempts: 3"))]);
    let out = |format: &str| {
        let run = folder.run(&["--format", format]);
        assert_eq!(run.status, 0, "{format}");
        run.stdout
    };
    assert_eq!((out("github").as_str(), out("gitlab").as_str()), ("", "[]\n"));
    assert!(out("junit").contains("tests=\"1\" failures=\"0\""));
    assert_eq!(out("jsonl").lines().count(), 1);
    assert!(
        out("markdown").starts_with("## retrylint: nothing to report\n\n- Read 1 file (1 YAML): 2 services, 1 call")
    );
}

/// The level that fails the run is the one from which on a case has failed.
#[test]
fn the_test_report_is_red_if_the_exit_status_is_1() {
    let folder = Folder::new("red", &[("services.yaml", NINE)]);
    for (level, status, counts) in [
        ("warning", 1, "failures=\"1\" errors=\"0\" skipped=\"0\""),
        ("error", 0, "failures=\"0\" errors=\"0\" skipped=\"1\""),
    ] {
        let run = folder.run(&["--format", "junit", "--fail-on", level]);
        assert_eq!(run.status, status);
        assert!(run.stdout.contains(counts), "{}", run.stdout);
    }
}

#[cfg(unix)]
#[test]
fn a_hostile_file_name_is_a_name_in_every_format() {
    let name = "a%0A::error::b\n::error::c|`<script>`]]>\u{1b}[2J\u{202e},x:y.yaml";
    let folder = Folder::new("hostile-formats", &[(".git/HEAD", ""), (name, NINE)]);
    let acts = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    let out = |format: &str| {
        let run = folder.run(&["--format", format]);
        assert_eq!(run.status, 1, "{format}: {}", run.stderr);
        assert!(!run.stdout.contains(acts), "{format}: {:?}", run.stdout);
        run.stdout
    };
    let json = |format: &str| -> Value { serde_json::from_str(&out(format)).unwrap() };
    assert_eq!(json("json")["findings"][0]["path"], name);
    assert_eq!(json("gitlab")[0]["location"]["path"], name);
    let uri =
        json("sarif")["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].clone();
    assert_eq!(
        uri,
        "a%250A%3A%3Aerror%3A%3Ab%0A%3A%3Aerror%3A%3Ac%7C%60%3Cscript%3E%60%5D%5D%3E%1B%5B2J%E2%80%AE%2Cx%3Ay.yaml"
    );
    let github = out("github");
    assert_eq!(github.lines().count(), 1);
    assert!(
        github.starts_with(
            "::warning file=a%250A%3A%3Aerror%3A%3Ab%0A%3A%3Aerror%3A%3Ac|`<script>`]]>␛[2J\u{fffd}%2Cx%3Ay.yaml,line=5,"
        ),
        "{github}"
    );
    assert!(out("junit").contains("file=\"a%0A::error::b␊::error::c|`&lt;script&gt;`]]&gt;␛[2J\u{fffd},x:y.yaml\""));
    assert!(out("markdown").contains(
        "<code>a%0A::error::b␊::error::c&#124;&#96;&lt;script&gt;&#96;&#93;&#93;&gt;␛&#91;2J\u{fffd},x:y.yaml:5</code>"
    ));
    assert_eq!(out("jsonl").lines().count(), 2);
    assert!(out("concise").starts_with("a%0A::error::b␊::error::c|`<script>`]]>␛[2J\u{fffd},x:y.yaml:5:"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_name_that_is_not_utf_8_is_told_as_far_as_it_can_be() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new("latin-1", &[(".git/HEAD", ""), ("deploy/readme.txt", "")]);
    std::fs::write(folder.path("deploy").join(std::ffi::OsStr::from_bytes(b"caf\xe9.yaml")), NINE).unwrap();
    let run = |format: &str| -> Run {
        let mut command = folder.command(&["--format", format]);
        command.current_dir(folder.path("deploy")).output().unwrap().into()
    };
    for (format, place) in [
        ("concise", "caf\u{fffd}.yaml:5:28: warning"),
        ("sarif", "\"deploy/caf%EF%BF%BD.yaml\""),
        ("github", "file=deploy/caf\u{fffd}.yaml,"),
        ("gitlab", "\"deploy/caf\u{fffd}.yaml\""),
        ("junit", "file=\"deploy/caf\u{fffd}.yaml\""),
        ("markdown", "<code>deploy/caf\u{fffd}.yaml:5</code>"),
    ] {
        let run = run(format);
        assert!(run.stdout.contains(place), "{format}: {}{}", run.stdout, run.stderr);
    }
}

/// Every example in the documentation is a line that the program writes, up to its `…`.
#[test]
fn the_documented_examples_are_real() {
    let page = std::fs::read_to_string("docs/formats.md").unwrap();
    let mut told = 0;
    for section in page.split("\n## ").skip(1) {
        let format = section.lines().next().unwrap();
        let Some(example) = section.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()) else {
            continue;
        };
        let output = assert_cmd::Command::cargo_bin("retrylint")
            .unwrap()
            .args(["--format", format, "testdata/storm"])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        for line in example.lines() {
            let found = match line.strip_suffix('…') {
                Some(start) => text.lines().any(|written| written.starts_with(start)),
                None => text.lines().any(|written| written == line),
            };
            assert!(found, "{format} does not write {line}");
        }
        told += 1;
    }
    assert_eq!(told, FORMATS.len());
    for format in FORMATS {
        assert!(page.contains(&format!("\n## {format}\n")), "{format}");
    }
}
