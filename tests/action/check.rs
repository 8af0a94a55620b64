//! What the action says of a repository: how the job ends, annotations, the summary and the outputs.

use crate::folder::Folder;
use crate::runner::{Done, Job, commands, root};

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
const ALL: [&str; 4] = ["Install", "Check", "Upload to code scanning", "Verdict"];

/// A job about a folder of this repository.
fn about<'a>(folder: &'a Folder, path: &str) -> Job<'a> {
    let mut job = Job::new(folder);
    job.workspace = root().to_path_buf();
    job.input("path", path)
}

fn counted<'a>(done: &'a Done, names: &[&str]) -> Vec<&'a str> {
    names.iter().map(|name| done.outputs[*name].as_str()).collect()
}

fn levels(log: &str) -> [usize; 3] {
    let commands = commands(log);
    ["::error file=", "::warning file=", "::notice file="]
        .map(|level| commands.iter().filter(|command| command.starts_with(level)).count())
}

#[test]
fn a_storm_fails_the_job_with_annotations_a_summary_and_outputs() {
    let folder = Folder::new("action-storm", &[]);
    let done = about(&folder, "testdata/storm").run();
    assert!(done.failed, "{}", done.log);
    assert_eq!(done.steps, ["Install", "Check", "Verdict"]);
    assert_eq!(levels(&done.log), [4, 7, 2]);
    assert_eq!(commands(&done.log).len(), 13, "{}", done.log);
    assert_eq!(counted(&done, &["findings", "errors", "sarif-file"]), ["13", "4", ""]);
    assert_eq!(
        done.outputs["worst-path"],
        "gateway ×3 → checkout ×3 → payments ×3 → ledger = 27 requests for one (overload)"
    );
    assert!(done.log.contains("Findings at the level that fails the job (fail-on: warning), 13 of all levels"));
    for part in [
        "## retrylint: 4 errors, 7 warnings, 2 notes",
        "- Worst path: gateway ×3 → checkout ×3 → payments ×3 → ledger = 27 requests for one (overload)",
        "- 4 calls: 3 with every factor known, 1 with an inferred one",
        "- Slowest answer: checkout → payments waits 3 s for work that can take 14 s",
        "- **retry-amplification**: one request to <code>gateway</code> can become 27 requests at <code>ledger</code>",
    ] {
        assert!(done.summary.contains(part), "{part}: {}", done.summary);
    }
}

#[test]
fn without_findings_the_job_passes_and_says_what_it_looked_at() {
    let folder = Folder::new("action-calm", &[]);
    let done = about(&folder, "testdata/calm").input("upload-sarif", "true").run();
    assert!(!done.failed, "{}", done.log);
    assert_eq!(done.steps, ["Install", "Check", "Upload to code scanning"]);
    assert_eq!(commands(&done.log), [""; 0]);
    assert_eq!(counted(&done, &["findings", "errors"]), ["0", "0"]);
    assert!(done.outputs["worst-path"].ends_with("payments ×3 → ledger = 3 requests for one (overload)"));
    assert!(done.log.contains("\nRead 13 files ") && done.log.contains("\nNothing to report"), "{}", done.log);
    assert!(done.summary.starts_with("## retrylint: nothing to report"));
}

#[test]
fn what_was_found_is_uploaded_before_it_fails_the_job() {
    let folder = Folder::new("action-upload", &[]);
    let done = about(&folder, "testdata/storm").input("upload-sarif", "true").run();
    assert!(done.failed);
    assert_eq!(done.steps, ALL);
    let uploaded = done.uploaded.unwrap();
    assert_eq!(uploaded.to_str(), Some(done.outputs["sarif-file"].as_str()));
    assert!(uploaded.starts_with(folder.path("temp")));
    let sarif: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(uploaded).unwrap()).unwrap();
    assert_eq!(sarif["runs"][0]["results"].as_array().unwrap().len(), 13);
}

#[test]
fn the_sarif_file_is_where_it_is_wanted() {
    let folder = Folder::new("action-sarif", &[("workspace/services.yaml", NINE)]);
    let done = Job::new(&folder).input("sarif-file", "reports of today/out.sarif").run();
    assert_eq!(done.steps, ["Install", "Check", "Verdict"]);
    assert_eq!(done.outputs["sarif-file"], "reports of today/out.sarif");
    assert!(folder.path("workspace/reports of today/out.sarif").is_file());
    let refused = Job::new(&Folder::new("action-sarif-lines", &[])).input("sarif-file", "a\nerrors=0").run();
    assert!(refused.failed);
    assert_eq!(
        commands(&refused.log),
        ["::error title=retrylint::`sarif-file` is more than one line%0Ahelp: name one file"]
    );
}

/// What the runner is told is what retrylint says, and no less.
#[test]
fn the_job_says_what_the_program_says() {
    let folder = Folder::new("action-same", &[("workspace/services.yaml", NINE)]);
    let done = Job::new(&folder).run();
    let run = folder.run(&["--format", "github", "workspace"]);
    assert_eq!((run.status, done.failed), (1, true));
    assert_eq!(commands(&done.log), [run.stdout.replace("workspace/", "").trim_end()]);
    assert!(done.log.contains(run.stderr.lines().last().unwrap()), "{}", done.log);
}

#[test]
fn the_level_that_fails_the_job_is_chosen() {
    let run = |level: &str| {
        let folder = Folder::new(&format!("action-level-{level}"), &[("workspace/services.yaml", NINE)]);
        let done = Job::new(&folder).input("fail-on", level).run();
        assert_eq!(counted(&done, &["findings", "errors"]), ["1", "0"], "{}", done.log);
        done.failed
    };
    assert_eq!(["note", "warning", "error", "never"].map(run), [true, true, false, false]);
}

#[test]
fn what_cannot_be_checked_fails_the_job_whatever_the_level() {
    for (index, (input, value, said)) in [
        ("path", "nowhere", "error: cannot read nowhere: no such file or folder"),
        ("fail-on", "sometimes", "error: invalid value 'sometimes' for '--fail-on <LEVEL>'"),
        ("args", "--no-such-flag", "error: unexpected argument '--no-such-flag' found"),
        ("args", "--config=broken.toml", "error: unknown key `limitz`"),
        ("args", "--format=json", "error: the argument '--format <FORMAT>' cannot be used multiple times"),
    ]
    .into_iter()
    .enumerate()
    {
        let files = [("workspace/services.yaml", NINE), ("workspace/broken.toml", "[limitz]\n")];
        let folder = Folder::new(&format!("action-wrong-{index}"), &files);
        let job = Job::new(&folder).input("fail-on", "never").input("upload-sarif", "true").input(input, value);
        let done = job.run();
        assert!(done.failed, "{value}");
        assert_eq!(done.steps, ["Install", "Check"], "{value}");
        assert_eq!(counted(&done, &["findings", "errors", "worst-path", "sarif-file"]), [""; 4]);
        let [command] = commands(&done.log)[..] else { panic!("{value}: {}", done.log) };
        let start = format!("::error title=retrylint::retrylint could not check (exit status 2): {said}");
        assert!(command.starts_with(&start), "{value}: {command}");
        assert_eq!(done.summary, "");
    }
}

#[test]
fn inputs_are_never_read_by_a_shell() {
    let names = ["two words", "$(touch pwned)", "`touch pwned`", "; touch pwned", "-rf", "*", "a\"b'c"];
    let files: Vec<(String, String)> = names
        .iter()
        .enumerate()
        .map(|(index, name)| {
            (format!("workspace/{name}/services.yaml"), NINE.replace("web:", &format!("web-{index}:")))
        })
        .collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = Folder::new("action-hostile-inputs", &files);
    let done = Job::new(&folder).input("path", &format!("\n{}\r\n  \n", names.join("\n"))).run();
    assert_eq!(done.outputs["findings"], names.len().to_string(), "{}", done.log);

    let job = |name: &'static str, value: &str| {
        let folder = Folder::new("action-hostile-input", &[("workspace/services.yaml", NINE)]);
        let done = Job::new(&folder).input(name, value).run();
        for below in ["pwned", "workspace/pwned", "temp/pwned"] {
            assert!(!folder.path(below).exists(), "{name}: {value}");
        }
        assert_eq!(commands(&done.log).len(), 1, "{name}: {}", done.log);
        done
    };
    for value in ["$(touch pwned)", "`touch pwned`", "\"; touch pwned; \"", "'; touch pwned; '", "a\n::warning::b"] {
        for name in ["fail-on", "args", "path", "version", "annotations", "summary", "upload-sarif"] {
            assert!(job(name, value).failed, "{name}: {value}");
        }
    }
    // A file may be called so; nothing is carried out, and the one command is the finding.
    let done = job("sarif-file", "$(touch pwned)");
    assert_eq!(done.outputs["sarif-file"], "$(touch pwned)");
    assert!(!folder.path("workspace/pwned").exists());
}

#[test]
fn arguments_stand_on_lines_of_their_own() {
    let run = |args: &str| {
        let folder = Folder::new("action-args", &[("workspace/services.yaml", NINE)]);
        Job::new(&folder).input("args", args).run()
    };
    let done = run("--max-attempts=9\n\n--no-progress\n");
    assert_eq!((done.failed, done.outputs["findings"].as_str()), (false, "0"), "{}", done.log);
    let done = run("--max-attempts=8\n");
    assert_eq!((done.failed, done.outputs["findings"].as_str()), (true, "1"), "{}", done.log);
    for args in ["--max-attempts 9", "--pedantic --no-progress", "-v "] {
        let done = run(args);
        assert_eq!(
            commands(&done.log),
            [format!(
                "::error title=retrylint::`args` takes one argument on a line: {args}%0Ahelp: put each on a line of its own, \
                 with its value behind a `=`: `--max-attempts=5`"
            )]
        );
    }
    // A blank within a value is part of it.
    assert!(run("--config=no such.toml").log.contains("no such.toml"));
}

/// The repository is somebody else's, and so are the names in it: they tell the runner nothing.
#[test]
fn a_file_name_is_no_command() {
    let name = "workspace/a\n::error::b ##[set-output name=errors]0 ##[add-mask]c/::set-output name=findings::0.yaml";
    for (annotations, expected) in [("true", 1), ("false", 0)] {
        let folder = Folder::new("action-hostile-name", &[(name, NINE)]);
        let done = Job::new(&folder).input("annotations", annotations).run();
        let found = commands(&done.log);
        assert_eq!(found.len(), expected, "{}", done.log);
        assert!(found.iter().all(|command| command.starts_with("::warning file=a%0A%3A%3Aerror%3A%3Ab ##[set-output")));
        assert_eq!(counted(&done, &["findings", "errors"]), ["1", "0"]);
    }
    // What cannot be read is named in an error, by the runner's rules as well.
    for (path, shown) in [("no\r##[add-path]x", "no␍♯#[add-path]x"), ("50%0A::error::", "50%250A::error::")] {
        let done = Job::new(&Folder::new("action-hostile-path", &[])).input("path", path).run();
        let [command] = commands(&done.log)[..] else { panic!("{}", done.log) };
        let start = "::error title=retrylint::retrylint could not check (exit status 2): error: cannot read ";
        assert!(command.starts_with(&format!("{start}{shown}: no such file or folder%0Ahelp: ")), "{command}");
    }
}

#[test]
fn annotations_and_summary_can_be_left_out() {
    let folder = Folder::new("action-plain", &[("workspace/services.yaml", NINE)]);
    let done = Job::new(&folder).input("annotations", "false").input("summary", "false").run();
    assert!(done.failed);
    assert_eq!(commands(&done.log), [""; 0]);
    assert!(done.log.contains("warning[excessive-attempts]:"), "{}", done.log);
    assert_eq!(done.summary, "");
    let wrong = Job::new(&Folder::new("action-boolean", &[])).input("summary", "yes").run();
    assert_eq!(
        commands(&wrong.log),
        [
            "::error title=retrylint::`summary` is neither true nor false: yes%0Ahelp: write `summary: true` or `summary: false`"
        ]
    );
}

/// Colours would end up in the outputs.
#[test]
fn colours_of_the_workflow_do_not_reach_the_outputs() {
    let folder = Folder::new("action-colours", &[]);
    let mut job = about(&folder, "testdata/storm");
    job.variables.insert("CLICOLOR_FORCE", "1".into());
    let done = job.run();
    assert!(done.outputs["worst-path"].starts_with("gateway ×3"));
    assert!(!done.log.contains('\u{1b}'));
}

/// The whole path, however long, of whichever environment.
#[test]
fn the_worst_path_is_told_whole() {
    let mut text = String::from("services:\n");
    for at in 0..5 {
        let call = format!("{{ to: a-service-with-a-long-name-{}, retry: {{ attempts: 2, backoff: none }} }}", at + 1);
        text += &format!("  a-service-with-a-long-name-{at}: {{ environment: prod, calls: [{call}] }}\n");
    }
    let folder = Folder::new("action-long", &[("workspace/services.yaml", text.as_str())]);
    let mut job = Job::new(&folder);
    job.variables.insert("COLUMNS", "60".into());
    let path: Vec<String> = (0..5).map(|at| format!("a-service-with-a-long-name-{at} ×2")).collect();
    let told = format!("{} → a-service-with-a-long-name-5 = 32 requests for one (overload)", path.join(" → "));
    let done = job.run();
    assert_eq!(done.outputs["worst-path"], told, "{}", done.log);
}
