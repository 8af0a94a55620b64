//! The command line as users meet it: arguments, streams, exit status.

mod folder;

use std::process::Stdio;

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
/// The same with three tries: nothing to report.
const THREE: &str = "\
services:
  web:
    calls:
      - to: api
        retry: { attempts: 3, backoff: exponential, base: 100ms, cap: 2s, jitter: full }
        timeout: { attempt: 1s, total: 20s }
        budget: { ratio: 0.2 }
        breaker: { ratio: 0.5, minimum: 20, open: 30s }
  api:
    calls: []
";

#[test]
fn the_exit_status_is_the_same_for_every_format() {
    let bad = Folder::new("status-bad", &[("services.yaml", NINE)]);
    let good = Folder::new("status-good", &[("services.yaml", THREE)]);
    for format in ["full", "concise", "json", "jsonl", "sarif", "github", "gitlab", "junit", "markdown"] {
        assert_eq!(bad.run(&["--format", format]).status, 1, "{format}");
        assert_eq!(good.run(&["check", "--format", format, "."]).status, 0, "{format}");
        assert_eq!(bad.run(&["--format", format, "nowhere"]).status, 2, "{format}");
    }
}

#[test]
fn the_level_that_fails_can_be_chosen() {
    let folder = Folder::new("fail-on", &[("services.yaml", NINE)]);
    assert_eq!(folder.run(&["--fail-on", "error"]).status, 0);
    assert_eq!(folder.run(&["--fail-on", "warning"]).status, 1);
    assert_eq!(folder.run(&["--fail-on", "note"]).status, 1);
    assert_eq!(folder.run(&["--fail-on", "never"]).status, 0);
    assert_eq!(folder.run(&["--max-attempts", "9"]).status, 0);
    assert_eq!(folder.run(&["--ignore", "excessive-attempts"]).status, 0);
}

#[test]
fn findings_go_to_standard_output_and_the_summary_to_standard_error() {
    let folder = Folder::new("streams", &[("services.yaml", NINE)]);
    let run = folder.run(&[]);
    assert!(run.stdout.starts_with("warning[excessive-attempts]: "), "{}", run.stdout);
    assert!(run.stdout.contains("services.yaml:5:"), "{}", run.stdout);
    assert!(!run.stdout.contains("Read 1 file"), "{}", run.stdout);
    assert!(run.stderr.starts_with("Read 1 file (1 YAML) in "), "{}", run.stderr);
    assert!(run.stderr.contains("2 services, 1 call, 1 retry policy\n"), "{}", run.stderr);
    assert!(run.stderr.contains("1 warning"), "{}", run.stderr);
    let quiet = folder.run(&["--quiet"]);
    assert_eq!((quiet.stdout, quiet.stderr.as_str()), (run.stdout, ""));
}

#[test]
fn silence_says_what_it_looked_at() {
    let good = Folder::new("silent", &[("services.yaml", THREE)]);
    let run = good.run(&[]);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.contains("2 services, 1 call, 1 retry policy\n"), "{}", run.stderr);
    assert!(run.stderr.contains("\nNothing to report"), "{}", run.stderr);
    let empty = Folder::new("empty", &[]);
    let run = empty.run(&[]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    assert!(run.stderr.contains("warning: no retry policy and no call was found; retrylint reads Envoy"));
}

#[test]
fn one_run_writes_several_formats() {
    let folder = Folder::new("outputs", &[("services.yaml", NINE)]);
    let run = folder.run(&["--format", "concise", "--output", "sarif=out.sarif", "--output", "json=out.json"]);
    assert_eq!(run.status, 1);
    assert!(run.stdout.starts_with("services.yaml:5:"), "{}", run.stdout);
    let read =
        |file: &str| -> Value { serde_json::from_str(&std::fs::read_to_string(folder.path(file)).unwrap()).unwrap() };
    assert_eq!(read("out.sarif")["runs"][0]["results"][0]["ruleId"], "excessive-attempts");
    assert_eq!(read("out.json")["findings"][0]["rule"], "excessive-attempts");
}

#[test]
fn sarif_paths_start_at_the_root_of_the_repository() {
    let folder = Folder::new("root", &[(".git/HEAD", ""), ("deploy/web/services.yaml", NINE)]);
    let mut command = folder.command(&["--format", "sarif"]);
    let output = command.current_dir(folder.path("deploy/web")).output().unwrap();
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();
    let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(*place, serde_json::json!({ "uri": "deploy/web/services.yaml", "uriBaseId": "%SRCROOT%" }));
}

#[test]
fn output_is_the_same_for_any_number_of_threads() {
    let files: Vec<(String, &str)> = (0..20).map(|n| (format!("s{n}/services.yaml"), NINE)).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let folder = Folder::new("threads", &files);
    for arguments in
        [&["--format", "json"][..], &["policies", "--format", "json"], &["graph", "--format", "json"], &["facts"]]
    {
        let with = |threads: &str| folder.run(&[arguments, &["--threads", threads]].concat()).stdout;
        assert_eq!(with("1"), with("4"));
    }
}

#[test]
fn colours_are_used_when_asked_for_and_not_in_pipes() {
    let folder = Folder::new("colours", &[("services.yaml", NINE)]);
    let painted = |run: Run| run.stdout.contains('\u{1b}');
    assert!(!painted(folder.run(&[])));
    assert!(painted(folder.run(&["--color", "always"])));
    let with = |name: &str, value: &str| -> Run { folder.command(&[]).env(name, value).output().unwrap().into() };
    assert!(painted(with("CLICOLOR_FORCE", "1")));
    assert!(!painted(with("NO_COLOR", "1")));
    let forced: Run = folder.command(&["--color", "never"]).env("CLICOLOR_FORCE", "1").output().unwrap().into();
    assert!(!painted(forced));
}

#[test]
fn sixty_columns_are_enough() {
    let folder = Folder::new("narrow", &[("services.yaml", NINE)]);
    let run: Run = folder.command(&[]).env("COLUMNS", "60").output().unwrap().into();
    for line in run.stdout.lines().chain(run.stderr.lines()) {
        assert!(line.chars().count() <= 60, "{line}");
    }
}

#[test]
fn a_reader_that_stops_reading_is_no_failure() {
    let folder = Folder::new("pipe", &[("services.yaml", NINE)]);
    for format in ["full", "json"] {
        let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin("retrylint"))
            .args(["--format", format])
            .current_dir(folder.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let run: Run = child.wait_with_output().unwrap().into();
        assert_eq!(run.status, 1, "{}", run.stderr);
        assert!(!run.stderr.contains("panicked") && !run.stderr.contains("error:"), "{}", run.stderr);
    }
}

#[test]
fn a_wrong_setting_is_underlined_in_the_users_file() {
    let folder = Folder::new("settings", &[("retrylint.toml", "[limts]\nmax-attempts = 9\n"), ("s.yaml", NINE)]);
    let run = folder.run(&[]);
    assert_eq!((run.status, run.stdout.as_str()), (2, ""));
    assert!(
        run.stderr.contains("[retrylint.toml:1:2]") && run.stderr.contains("did you mean `limits`?"),
        "{}",
        run.stderr
    );
    assert_eq!(folder.run(&["--isolated"]).status, 1);
    std::fs::write(folder.path("retrylint.toml"), "[limits]\nmax-attempts = 9\n").unwrap();
    assert_eq!(folder.run(&[]).status, 0);
    assert_eq!(folder.run(&["--config", "missing.toml"]).status, 2);
}

#[test]
fn settings_change_levels_and_switch_rules_off() {
    let folder =
        Folder::new("levels", &[("retrylint.toml", "[rules]\nexcessive-attempts = \"note\"\n"), ("s.yaml", NINE)]);
    let run = folder.run(&[]);
    assert_eq!(run.status, 0);
    assert!(run.stdout.starts_with("note[excessive-attempts]"), "{}", run.stdout);
    std::fs::write(folder.path("retrylint.toml"), "[rules]\nexcessive-attempts = \"off\"\n").unwrap();
    assert_eq!(folder.run(&[]).stdout, "");
}

#[test]
fn misspelt_names_get_a_suggestion() {
    let folder = Folder::new("misspelt", &[("services.yaml", NINE)]);
    for (arguments, hint) in [
        (&["--select", "excesive-attempts"][..], "did you mean `excessive-attempts`?"),
        (&["explain", "excesive-attempts"], "did you mean `excessive-attempts`?"),
        (&["chekc"], "write `retrylint check`"),
        (&["graph", "--around", "wbe"], "did you mean `web`?"),
        (&["graph", "--path", "web..ap"], "did you mean `api`?"),
        (&["graph", "--class", "overlaod"], "did you mean `overload`?"),
        (&["--output", "sarfi=x"], "did you mean `sarif`?"),
        (&["--output", "json=-"], "--format"),
    ] {
        let run = folder.run(arguments);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains(hint), "{arguments:?}: {}", run.stderr);
    }
}

#[test]
fn standard_input_is_a_file_like_any_other() {
    let folder = Folder::new("stdin", &[]);
    let mut command = folder.command(&["check", "--format", "concise", "--stdin-filename", "deploy/s.yaml", "-"]);
    let run: Run = command.write_stdin(NINE).output().unwrap().into();
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert!(run.stdout.starts_with("deploy/s.yaml:5:"), "{}", run.stdout);
    assert_eq!(folder.run(&["--stdin-filename", "x.yaml"]).status, 2);
}

#[test]
fn a_folder_named_like_a_command_is_reached_with_its_path() {
    let folder = Folder::new("named", &[("check/services.yaml", NINE), ("graph/services.yaml", THREE)]);
    assert!(folder.run(&["./check", "--format", "concise"]).stdout.starts_with("check/services.yaml:5:"));
    assert_eq!(folder.run(&["./graph"]).status, 0);
}

#[test]
fn an_unreadable_file_is_a_finding_and_no_failure() {
    let folder = Folder::new("unreadable", &[("services.yaml", THREE)]);
    std::fs::write(folder.path("broken.yaml"), "services:\n\tcalls: [\n").unwrap();
    let run = folder.run(&["--format", "concise", "broken.yaml", "services.yaml"]);
    assert!(run.status < 2, "{}", run.stderr);
    assert!(run.stdout.contains("[unreadable-file]"), "{}", run.stdout);
}

#[test]
fn an_environment_that_is_not_there_is_an_error() {
    let folder = Folder::new("environment", &[("overlays/prod/s.yaml", NINE), ("overlays/dev/s.yaml", THREE)]);
    assert_eq!(folder.run(&["--environment", "prod"]).status, 1);
    let run = folder.run(&["--environment", "prdo"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("did you mean `prod`?"), "{}", run.stderr);
}

#[test]
fn policies_and_graph_say_what_is_there_and_exit_with_0() {
    let folder = Folder::new("views", &[("services.yaml", NINE)]);
    let run = folder.run(&["policies"]);
    assert_eq!(run.status, 0);
    assert!(run.stdout.contains("web → api") && run.stdout.contains("100 ms ×2 to 2 s"), "{}", run.stdout);
    assert_eq!(run.stderr, "");
    let run = folder.run(&["graph"]);
    assert_eq!(run.status, 0);
    assert!(run.stdout.contains("web → api") && run.stdout.contains("nine tries"), "{}", run.stdout);
    let run = folder.run(&["graph", "--format", "dot"]);
    assert!(run.stdout.starts_with("digraph retrylint {"), "{}", run.stdout);
}

#[test]
fn rules_and_explain_print_the_pages() {
    let folder = Folder::new("pages", &[]);
    assert!(folder.run(&["rules"]).stdout.contains("\nexcessive-attempts "));
    let run = folder.run(&["explain", "excessive-attempts"]);
    assert_eq!(run.status, 0);
    assert!(run.stdout.starts_with("# excessive-attempts\n"), "{}", run.stdout);
    assert!(!run.stdout.contains("#~"), "{}", run.stdout);
}

#[test]
fn help_fits_a_hundred_columns() {
    let folder = Folder::new("help", &[]);
    for arguments in
        [&["-h"][..], &["--help"], &["check", "-h"], &["policies", "-h"], &["graph", "-h"], &["facts", "-h"]]
    {
        let run = folder.run(arguments);
        assert_eq!(run.status, 0);
        assert!(run.stdout.lines().all(|line| line.chars().count() <= 100), "{}", run.stdout);
    }
    // One screen, examples first and none of them wrapped.
    let screen: Run = folder.command(&["-h"]).env("COLUMNS", "80").output().unwrap().into();
    let examples = screen.stdout.lines().skip(1).take_while(|line| !line.is_empty());
    assert!(screen.stdout.starts_with("Examples:"));
    assert_eq!(examples.filter(|line| line.starts_with("  retrylint")).count(), 6, "{}", screen.stdout);
    assert!(screen.stdout.lines().count() <= 56, "{}", screen.stdout);
    // The word does what the option does.
    assert_eq!(folder.run(&["help"]).stdout, folder.run(&["--help"]).stdout);
    for command in ["check", "graph", "explain"] {
        let run = folder.run(&["help", command]);
        assert_eq!((run.status, run.stdout), (0, folder.run(&[command, "--help"]).stdout));
    }
    // What a shell completes is not listed.
    assert!(!folder.run(&["help", "explain"]).stdout.contains("retry-amplification"));
    let run = folder.run(&["--select"]);
    assert!(run.status == 2 && !run.stderr.contains("no-backoff"), "{}", run.stderr);
}

/// Nothing that a file says or is called may reach the terminal as anything but text.
#[cfg(unix)]
#[test]
fn hostile_names_and_contents_reach_the_terminal_as_pictures() {
    let hostile = NINE
        .replace("web", "\"w\\u001b[2Jeb\"")
        .replace("api", "\"a\\u0007\\u009b\\u202epi\"")
        .replace("attempts: 9", "attempts: 9 # \u{202e}\u{9b}31m");
    let folder = Folder::new("hostile", &[("a\u{1b}]0;owned\u{7}\n\u{202e}.yaml", &hostile), ("b\u{1b}.yaml", "{")]);
    let acts = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    for arguments in [
        &["--pedantic"][..],
        &["--pedantic", "--format", "concise"],
        &["policies"],
        &["graph"],
        &["graph", "--format", "dot"],
        &["facts"],
        &["b\u{1b}.yaml", "--pedantic"],
        &["no\u{1b}where"],
        &["graph", "--around", "\u{1b}"],
        &["--select", "\u{1b}[2J"],
        &["explain", "\u{1b}[2J"],
    ] {
        let run = folder.run(arguments);
        assert!(!run.stdout.contains(acts), "{arguments:?}: {:?}", run.stdout);
        assert!(!run.stderr.contains(acts), "{arguments:?}: {:?}", run.stderr);
    }
    let json = folder.run(&["--format", "json"]).stdout;
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["findings"][0]["path"], "a\u{1b}]0;owned\u{7}\n\u{202e}.yaml");
}

#[test]
fn what_the_settings_state_about_services_counts() {
    let settings = "\
[services.api]
accept = { max-amplification = 20, reason = \"drained by ops\" }

[[calls]]
from = \"edge\"
to = \"web\"
per-request = 2
";
    let folder = Folder::new("stated", &[("retrylint.toml", settings), ("deploy/services.yaml", NINE)]);
    let graph: Value = serde_json::from_str(&folder.run(&["graph", "--format", "json"]).stdout).unwrap();
    let names: Vec<&str> =
        graph["services"].as_array().unwrap().iter().map(|service| service["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["edge", "web", "api"]);
    assert_eq!(graph["services"][2]["load"], 18);
    // From another folder the nearest settings upwards hold too, and paths are shown from there.
    let mut command = folder.command(&["policies"]);
    let run: Run = command.current_dir(folder.path("deploy")).output().unwrap().into();
    assert!(run.stdout.contains("services.yaml:5"), "{}", run.stdout);
}

#[test]
fn nothing_is_hidden_without_a_count() {
    let folder = Folder::new("hidden", &[("services.yaml", NINE)]);
    for arguments in [&["--ignore", "excessive-attempts"][..], &["--select", "no-backoff"]] {
        let run = folder.run(arguments);
        assert_eq!((run.status, run.stdout.as_str()), (0, ""));
        assert!(run.stderr.ends_with("\nNothing to report; 1 left out by --select or --ignore\n"), "{}", run.stderr);
    }
    std::fs::write(folder.path("retrylint.toml"), "[rules]\nexcessive-attempts = \"off\"\n").unwrap();
    let run = folder.run(&[]);
    assert!(
        run.stderr.ends_with("\nNothing to report; 1 of rules that retrylint.toml switches off\n"),
        "{}",
        run.stderr
    );
    let json: Value = serde_json::from_str(&folder.run(&["--format", "json"]).stdout).unwrap();
    assert_eq!((&json["summary"]["off"], &json["summary"]["deselected"]), (&1.into(), &0.into()));
}

#[test]
fn a_named_path_that_is_excluded_says_by_what() {
    let settings = "[scan]\nexclude = [\"legacy/\"]\n";
    let folder = Folder::new(
        "excluded",
        &[
            (".git/HEAD", ""),
            ("retrylint.toml", settings),
            ("legacy/s.yaml", NINE),
            ("b.yaml", NINE),
            (".retrylintignore", "/b.yaml\n"),
        ],
    );
    let run = folder.run(&["legacy/s.yaml", "b.yaml"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    assert!(run.stderr.contains("\nnote: legacy/s.yaml is not read: `exclude` in retrylint.toml has `legacy/`\n"));
    assert!(run.stderr.contains("\nnote: b.yaml is not read: .retrylintignore has `/b.yaml`\n"), "{}", run.stderr);
    assert!(!run.stderr.contains("no retry policy"), "{}", run.stderr);
    for command in ["policies", "graph"] {
        assert!(folder.run(&[command, "legacy"]).stderr.starts_with("note: legacy is not read: "), "{command}");
    }
    // Below a folder that is named, what is left out is left out as asked.
    let run = folder.run(&[]);
    assert!(run.stderr.contains("no retry policy") && !run.stderr.contains("is not read"), "{}", run.stderr);
}

#[test]
fn help_is_written_in_the_notation_of_the_file() {
    let toml = "[services.web]\n[[services.web.calls]]\nto = \"api\"\nretry = { attempts = 9 }\n[services.api]\n";
    let folder = Folder::new("notation", &[("services.toml", toml)]);
    let run = folder.run(&["--pedantic"]);
    for text in
        ["`attempts = 9` means nine tries", "`attempts = 3` covers", "`budget = { ratio = 0.2 }`", "open = \"30s\""]
    {
        assert!(run.stdout.contains(text), "{text}: {}", run.stdout);
    }
    let yaml = Folder::new("notation-yaml", &[("services.yaml", NINE)]).run(&[]);
    assert!(yaml.stdout.contains("`attempts: 3` covers"), "{}", yaml.stdout);
}

#[test]
fn the_same_file_by_two_names_is_one() {
    let folder = Folder::new("twice", &[("a/x.yaml", "a: 1\n"), ("b.yaml", NINE)]);
    let run = folder.run(&["--format", "concise", "a/../b.yaml", "b.yaml", "."]);
    assert_eq!(run.stdout.lines().count(), 1, "{}", run.stdout);
    assert!(run.stderr.contains("1 call, 1 retry policy\n"), "{}", run.stderr);
}

#[test]
fn a_failure_that_changes_on_its_way_up_says_where() {
    let chain = "\
services:
  web:
    calls: [{ to: payments, retry: { attempts: 3, on: [server-error] } }]
  payments:
    emits: 500
    calls: [{ to: ledger, retry: { attempts: 3, on: [overload] } }]
";
    let run = Folder::new("changes", &[("services.yaml", chain)]).run(&["--select", "retry-amplification"]);
    let said = run.stdout.replace("\n  ", " ");
    assert!(said.contains("can become 9 requests at `ledger`"), "{said}");
    assert!(said.contains("worst for overload (503 at `ledger`, 500 or another 5xx further up)"), "{said}");
}

#[test]
fn a_folder_of_other_languages_says_that_they_are_not_read() {
    let folder = Folder::new("languages", &[("a.py", "x = 1\n"), ("b/c.go", ""), ("b/d.go", "")]);
    let wide = |arguments: &[&str]| -> Run { folder.command(arguments).env("COLUMNS", "120").output().unwrap().into() };
    let run = wide(&[]);
    assert_eq!(run.status, 0);
    let stderr = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(stderr.contains("and Rust code; 2 Go files and 1 Python file here are not read yet"), "{stderr}");
    let run = wide(&["a.py"]);
    assert!(run.stderr.starts_with("Read 0 files in "), "{}", run.stderr);
    assert!(run.stderr.contains("\nnote: a.py is not read: Python is not read yet; "), "{}", run.stderr);
}

/// As an ordinary user: root may read everything.
#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_told_with_what_to_do() {
    use std::os::unix::fs::PermissionsExt;

    let folder = Folder::new("closed", &[("closed/a.yaml", NINE), ("b.yaml", NINE)]);
    let close = |path: &str, mode: u32| {
        std::fs::set_permissions(folder.path(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    close("closed", 0o000);
    close("b.yaml", 0o000);
    let is_root = std::fs::File::open(folder.path("b.yaml")).is_ok();
    if !is_root {
        let run = folder.run(&["--format", "concise", "closed", "b.yaml"]);
        assert_eq!(
            run.stdout,
            "b.yaml:1:1: warning[unreadable-file]: b.yaml cannot be read: permission denied\n\
             closed:1:1: warning[unreadable-file]: closed cannot be read: permission denied\n"
        );
        assert!(folder.run(&["b.yaml"]).stdout.contains("help: let whoever runs retrylint read it, or leave it out"));
        let run = folder.run(&["policies", "b.yaml"]);
        assert!(run.stderr.contains("warning: b.yaml cannot be read: permission denied\n"), "{}", run.stderr);
        let run = folder.run(&["closed/a.yaml"]);
        assert_eq!(run.status, 2);
        assert!(run.stderr.contains("help: let whoever runs retrylint enter the folders above it\n"), "{}", run.stderr);
    }
    close("closed", 0o755);
}

#[test]
fn a_table_without_a_file_says_that_it_could_not_be_read() {
    let folder = Folder::new("broken", &[("a.yaml", "services:\n\t- calls: x\n"), ("b.yaml", "{")]);
    let run = folder.run(&["policies", "a.yaml"]);
    assert!(run.stderr.starts_with("warning: a.yaml cannot be read: "), "{}", run.stderr);
    let run = folder.run(&["graph", "a.yaml", "b.yaml"]);
    assert!(run.stderr.starts_with("warning: a.yaml and 1 more cannot be read; `retrylint check` says why\n"));
}

#[test]
fn holes_of_templates_are_told() {
    let service = |retries: &str| {
        format!(
            "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{ name: web }}\nspec:\n  hosts: [web]\n  http:\n  - route: [{{ destination: {{ host: web }} }}]\n    retries: {{ attempts: {retries}, retryOn: 5xx }}\n"
        )
    };
    let said = |retries: &str| {
        let text = service(retries);
        Folder::new("template-holes", &[("templates/web.yaml", text.as_str())]).run(&[]).stderr
    };
    let told =
        "\nValues that templates fill in are unknown here: read what is rendered, for example `helm template . | ";
    assert!(said("{{ .Values.retries }}").contains(told), "{}", said("{{ .Values.retries }}"));
    assert!(!said("2").contains(told));
}
