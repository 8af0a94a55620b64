//! A repository that has findings already: baselines, `--since`, suppressions that end.

mod folder;

use std::process::Command;

use folder::{Folder, Run};
use serde_json::Value;

/// Calls from `web`, each with so many tries; more than six are a warning, `excessive-attempts`.
fn manifest(calls: &[(&str, u32)]) -> String {
    let call = |(to, attempts): &(&str, u32)| {
        format!(
            "      - to: {to}\n        retry: {{ attempts: {attempts}, backoff: exponential, base: 100ms, cap: 2s, jitter: \
             full }}\n        timeout: {{ attempt: 1s, total: 20s }}\n        budget: {{ ratio: 0.2 }}\n        breaker: {{ \
             ratio: 0.5, minimum: 20, open: 30s }}\n"
        )
    };
    let calls: String = calls.iter().map(call).collect();
    format!("services:\n  web:\n    calls:\n{calls}")
}

/// Two of them, whose tries stand in lines 5 and 10.
fn calls(first: u32, second: u32) -> String {
    manifest(&[("api", first), ("db", second)])
}

fn write(folder: &Folder, file: &str, text: &str) {
    std::fs::write(folder.path(file), text).unwrap();
}

fn read(folder: &Folder, file: &str) -> String {
    std::fs::read_to_string(folder.path(file)).unwrap()
}

/// Runs git in the folder; what the machine has set up for it does not count.
fn git(folder: &Folder, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .current_dir(folder.path(""))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .args(["-c", "user.name=test", "-c", "user.email=test@example.com", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

fn commit(folder: &Folder) {
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "x"]);
}

/// Lines of the findings that a run shows.
fn lines(run: &Run) -> Vec<u32> {
    run.stdout.lines().map(|line| line.split(':').nth(1).unwrap().parse().unwrap()).collect()
}

#[test]
fn what_the_baseline_knows_does_not_count_and_is_not_lost() {
    let folder = Folder::new("baseline", &[("s.yaml", &calls(9, 8))]);
    assert_eq!(folder.run(&[]).status, 1);
    let run = folder.run(&["--write-baseline", "known.json"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    assert!(run.stderr.starts_with("Wrote 2 findings to known.json\n"), "{}", run.stderr);
    let run = folder.run(&["--baseline", "known.json"]);
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    assert!(run.stderr.ends_with("\nNothing to report; 2 suppressed by the baseline\n"), "{}", run.stderr);
    let json: Value =
        serde_json::from_str(&folder.run(&["--baseline", "known.json", "--format", "json"]).stdout).unwrap();
    assert_eq!(json["findings"][0]["suppressed"]["by"], "baseline");
    assert_eq!((&json["summary"]["suppressed"], &json["summary"]["baseline"]), (&2.into(), &2.into()));
    assert_eq!(folder.run(&[]).status, 1);
    // Named in the settings it holds without a flag, for whoever runs from below too.
    std::fs::create_dir(folder.path("sub")).unwrap();
    write(&folder, "retrylint.toml", "baseline = \"known.json\"\n");
    assert_eq!(folder.run(&[]).status, 0);
    assert_eq!(folder.run(&["--isolated"]).status, 1);
}

#[test]
fn a_known_finding_moves_with_its_lines_and_is_new_when_its_value_changes() {
    let folder = Folder::new("baseline-moves", &[("s.yaml", &calls(9, 8))]);
    folder.run(&["--write-baseline", "known.json"]);
    let check = || folder.run(&["--baseline", "known.json", "--format", "concise"]);
    write(&folder, "s.yaml", &format!("# one\n\n# two\n{}", calls(9, 8)));
    assert_eq!(check().status, 0);
    write(&folder, "s.yaml", &calls(9, 7));
    let run = check();
    assert_eq!((run.status, lines(&run)), (1, vec![10]));
    // Milder is no excuse for being quiet, and mended is mended.
    assert!(run.stderr.contains("\n1 finding of the baseline no longer occurs; `--prune-baseline known.json` drops"));
    write(&folder, "s.yaml", &calls(9, 6));
    assert_eq!(check().status, 0);
}

#[test]
fn of_equal_findings_as_many_are_known_as_were_written() {
    let twice = |n: usize| manifest(&vec![("api", 9); n]);
    let folder = Folder::new("baseline-equal", &[("s.yaml", &twice(2))]);
    let run = folder.run(&["--write-baseline", "known.json"]);
    assert!(run.stderr.starts_with("Wrote 2 findings"), "{}", run.stderr);
    let count = |n: usize| {
        write(&folder, "s.yaml", &twice(n));
        lines(&folder.run(&["--baseline", "known.json", "--format", "concise"])).len()
    };
    assert_eq!([count(1), count(2), count(3)], [0, 0, 1]);
}

#[test]
fn a_baseline_is_the_same_from_any_folder() {
    let folder = Folder::new("baseline-below", &[(".git/HEAD", ""), ("deploy/s.yaml", &calls(9, 8))]);
    folder.run(&["--write-baseline", "a.json"]);
    let run: Run =
        folder.command(&["--write-baseline", "../b.json"]).current_dir(folder.path("deploy")).output().unwrap().into();
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(read(&folder, "a.json"), read(&folder, "b.json"));
    assert!(read(&folder, "a.json").contains("{ \"path\": \"deploy/s.yaml\", \"rule\": \"excessive-attempts\""));
}

#[test]
fn a_baseline_holds_what_the_run_would_show_and_says_what_it_does_not() {
    let folder = Folder::new("baseline-shown", &[("s.yaml", &calls(9, 8))]);
    let run = folder.run(&["--write-baseline", "known.json", "--ignore", "excessive-attempts"]);
    assert!(
        run.stderr.starts_with("Wrote 0 findings to known.json; 2 that --select or --ignore leave out are not in it\n"),
        "{}",
        run.stderr
    );
    // Whoever writes anew does not lose what the settings' baseline knew, and a comment needs no entry.
    write(&folder, "retrylint.toml", "baseline = \"known.json\"\n");
    folder.run(&["--write-baseline", "known.json"]);
    let written = read(&folder, "known.json");
    folder.run(&["--write-baseline", "known.json"]);
    assert_eq!(read(&folder, "known.json"), written);
    assert_eq!(written.matches("fingerprint").count(), 2);
    let allowed = calls(9, 8).replacen("jitter: full }", "jitter: full } # retrylint: allow(excessive-attempts) so", 1);
    write(&folder, "s.yaml", &allowed);
    folder.run(&["--write-baseline", "known.json"]);
    assert_eq!(read(&folder, "known.json").matches("fingerprint").count(), 1);
}

#[test]
fn pruning_drops_what_is_gone_and_takes_in_nothing() {
    let folder = Folder::new("prune", &[("s.yaml", &calls(9, 8)), ("t/u.yaml", "a: 1\n")]);
    folder.run(&["--write-baseline", "known.json"]);
    write(&folder, "s.yaml", &calls(10, 8));
    let run = folder.run(&["--prune-baseline", "known.json", "--format", "concise"]);
    assert_eq!((run.status, lines(&run)), (1, vec![5]));
    assert!(run.stderr.starts_with("Dropped 1 finding from known.json, 1 finding left\n"), "{}", run.stderr);
    assert_eq!(read(&folder, "known.json").matches("fingerprint").count(), 1);
    // Who reads a part cannot tell what is gone; a switched-off rule and an unreadable file find nothing either.
    let run = folder.run(&["--prune-baseline", "known.json", "t"]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("s.yaml of the baseline is not among what is read"), "{}", run.stderr);
    write(&folder, "retrylint.toml", "[rules]\nexcessive-attempts = \"off\"\n");
    assert!(folder.run(&["--prune-baseline", "known.json"]).stderr.starts_with("Dropped 0 findings"));
    let per_path = "[[per-path]]\npaths = [\"s.yaml\"]\nrules = { excessive-attempts = \"off\" }\n";
    write(&folder, "retrylint.toml", per_path);
    assert!(folder.run(&["--prune-baseline", "known.json"]).stderr.starts_with("Dropped 0 findings"));
    write(&folder, "s.yaml", "services:\n\tcalls: [\n");
    assert!(folder.run(&["--prune-baseline", "known.json", "--isolated"]).stderr.starts_with("Dropped 0 findings"));
    std::fs::remove_file(folder.path("s.yaml")).unwrap();
    assert!(folder.run(&["--prune-baseline", "known.json", "--isolated"]).stderr.starts_with("Dropped 1 finding "));
}

#[test]
fn a_baseline_that_cannot_be_used_is_a_failure_that_says_what_to_do() {
    let folder = Folder::new("baseline-wrong", &[("s.yaml", &calls(9, 8)), ("v2.json", "{ \"version\": 2 }")]);
    write(&folder, "merge.json", "{\n<<<<<<< HEAD\n");
    for (arguments, message, help) in [
        (["--baseline", "none.json"], "cannot read the baseline none.json", "`--write-baseline none.json` writes one"),
        (["--baseline", "v2.json"], "has version 2", "use the retrylint that wrote it"),
        (["--baseline", "merge.json"], "a merge conflict is left in it (line 2)", "keep the lines of both sides"),
        (["--prune-baseline", "s.yaml"], "the baseline s.yaml is not valid: not JSON", "mend it"),
        (["--write-baseline", "s.yaml"], "s.yaml is no baseline and stays as it is", "name another file"),
        (["--write-baseline", "no/x.json"], "cannot write the baseline no/x.json", "a folder that is there"),
    ] {
        let run = folder.run(&arguments);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(run.stderr.contains(message) && run.stderr.contains(help), "{arguments:?}: {}", run.stderr);
    }
    assert_eq!(read(&folder, "s.yaml"), calls(9, 8));
    assert!(!folder.path("none.json").exists());
    write(&folder, "retrylint.toml", "baseline = \"none.json\"\n");
    assert_eq!(folder.run(&[]).status, 2);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_file_to_wait_for() {
    let folder = Folder::new("pipes", &[("s.yaml", &calls(9, 8))]);
    assert!(Command::new("mkfifo").arg(folder.path("pipe")).status().unwrap().success());
    for (arguments, message) in [
        (["--baseline", "pipe"], "cannot read the baseline pipe: it is a pipe"),
        (["--prune-baseline", "pipe"], "cannot read the baseline pipe: it is a pipe"),
        (["--write-baseline", "pipe"], "pipe is no baseline and stays as it is"),
        (["--config", "pipe"], "cannot read pipe: it is a pipe"),
    ] {
        let run = folder.run(&arguments);
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(run.stderr.contains(message), "{arguments:?}: {}", run.stderr);
    }
    write(&folder, "retrylint.toml", "baseline = \"pipe\"\n");
    assert_eq!(folder.run(&[]).status, 2);
    // Settings that are not where they are said to be are not the same as none.
    std::fs::remove_file(folder.path("retrylint.toml")).unwrap();
    assert_eq!(folder.run(&[]).status, 1);
    std::os::unix::fs::symlink("nowhere.toml", folder.path("retrylint.toml")).unwrap();
    let run = folder.run(&[]);
    assert_eq!((run.status, run.stderr.contains("no such file or folder")), (2, true), "{}", run.stderr);
}

#[test]
fn since_shows_what_lies_on_lines_that_changed() {
    let folder = Folder::new("since", &[("s.yaml", &calls(9, 8))]);
    git(&folder, &["init", "-q"]);
    commit(&folder);
    let since = |revision: &str| folder.run(&["--format", "concise", "--since", revision]);
    let run = since("HEAD");
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    assert!(run.stderr.ends_with("\nNothing to report; 2 on lines that did not change\n"), "{}", run.stderr);
    // Not committed, moved down by other lines, and a line taken away beside it.
    write(&folder, "s.yaml", &calls(9, 7));
    assert_eq!(lines(&since("HEAD")), [10]);
    write(&folder, "s.yaml", &format!("# new\n{}", calls(9, 8)));
    assert_eq!(lines(&since("HEAD")), [0; 0]);
    let without = calls(9, 8).replacen("        timeout: { attempt: 1s, total: 20s }\n", "", 1);
    write(&folder, "s.yaml", &without);
    assert_eq!(lines(&since("HEAD")), [5]);
    // A file that git does not know is new; one that was moved is not, but for what changed in it.
    write(&folder, "s.yaml", &calls(9, 8));
    write(&folder, "new.yaml", &calls(9, 8).replace("web", "app"));
    let run = since("HEAD");
    assert_eq!((lines(&run), run.stdout.matches("new.yaml").count()), (vec![5, 10], 2));
    std::fs::remove_file(folder.path("s.yaml")).unwrap();
    write(&folder, "new.yaml", &calls(9, 7));
    assert_eq!(lines(&since("HEAD")), [10]);
}

#[test]
fn since_compares_with_the_revision_or_with_where_the_branch_left_it() {
    let folder = Folder::new("since-fork", &[("s.yaml", &calls(9, 8))]);
    git(&folder, &["init", "-q"]);
    commit(&folder);
    git(&folder, &["checkout", "-q", "-b", "feature"]);
    write(&folder, "s.yaml", &calls(10, 8));
    commit(&folder);
    git(&folder, &["checkout", "-q", "main"]);
    write(&folder, "s.yaml", &calls(9, 12));
    commit(&folder);
    git(&folder, &["checkout", "-q", "feature"]);
    let since = |revision: &str| lines(&folder.run(&["--format", "concise", "--since", revision]));
    assert_eq!(since("main"), [5, 10]);
    assert_eq!(since("main..."), [5]);
    assert_eq!(since("HEAD"), [0; 0]);
    // As a hook would run it.
    let mut command = folder.command(&["--format", "concise", "--since", "HEAD~1"]);
    let run: Run = command.env("GIT_DIR", "nowhere").env("GIT_INDEX_FILE", "nowhere").output().unwrap().into();
    assert_eq!(lines(&run), [5]);
}

#[test]
fn a_submodule_is_compared_with_the_commit_that_the_revision_has_of_it() {
    let folder = Folder::new("since-submodule", &[("origin/s.yaml", &calls(9, 8)), ("top/note.txt", "")]);
    let at = |name: &str, arguments: &[&str]| git(&folder, &[&["-C", name], arguments].concat());
    let save = |name: &str| {
        at(name, &["add", "-A"]);
        at(name, &["commit", "-q", "-m", "x"]);
    };
    at("origin", &["init", "-q"]);
    save("origin");
    at("top", &["init", "-q"]);
    at("top", &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../origin", "sub"]);
    save("top");
    let since = |revision: &str| {
        let mut command = folder.command(&["--format", "concise", "--since", revision]);
        lines(&command.current_dir(folder.path("top")).output().unwrap().into())
    };
    assert_eq!(since("HEAD"), [0; 0]);
    write(&folder, "top/sub/s.yaml", &calls(9, 7));
    assert_eq!(since("HEAD"), [10]);
    // What is committed there changed all the same, until the repository around it has that commit.
    save("top/sub");
    assert_eq!(since("HEAD"), [10]);
    save("top");
    assert_eq!(since("HEAD"), [0; 0]);
    assert_eq!(since("HEAD~1"), [10]);
    // Without a repository of its own it cannot be compared.
    std::fs::remove_file(folder.path("top/sub/.git")).unwrap();
    assert_eq!(since("HEAD"), [5, 10]);
}

#[test]
fn a_path_counts_as_changed_if_any_of_its_hops_does() {
    let hop = |to: &str, tries: u32| {
        format!(
            "calls:\n      - to: {to}\n        retry: {{ attempts: {tries}, on: [overload], backoff: fixed, base: 1ms }}\n        \
             timeout: {{ attempt: 1s, total: 20s }}\n"
        )
    };
    let chain = |tries: u32| format!("services:\n  web:\n    {}  mid:\n    {}", hop("mid", tries), hop("leaf", 3));
    let folder = Folder::new("since-path", &[("s.yaml", &chain(2))]);
    git(&folder, &["init", "-q"]);
    commit(&folder);
    write(&folder, "s.yaml", &chain(3));
    // Its place is the last hop, in line 10; what changed is the first, in line 5.
    let run = folder.run(&["--format", "concise", "--select", "retry-amplification", "--since", "HEAD"]);
    assert_eq!(lines(&run), [10], "{}", run.stdout);
    write(&folder, "s.yaml", &format!("{}# end\n", chain(2)));
    let run = folder.run(&["--format", "concise", "--select", "retry-amplification", "--since", "HEAD"]);
    assert_eq!(lines(&run), [0; 0]);
}

#[test]
fn a_revision_that_cannot_be_read_is_a_failure_that_says_what_to_do() {
    let folder = Folder::new("since-wrong", &[("s.yaml", &calls(9, 8))]);
    let fails = |run: Run, message: &str, help: &str| {
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{}", run.stderr);
        assert!(run.stderr.contains(message) && run.stderr.contains(help), "{}", run.stderr);
    };
    fails(folder.run(&["--since", "HEAD"]), "is not a git repository", "`--since` needs a work tree of git");
    git(&folder, &["init", "-q"]);
    fails(folder.run(&["--since", "HEAD"]), "git knows no revision `HEAD`", "`git branch --all`");
    commit(&folder);
    write(&folder, "s.yaml", &calls(9, 7));
    commit(&folder);
    for revision in ["nope", "HEAD..HEAD", "--output=x", "-h", "", "...", "HEAD\n"] {
        fails(folder.run(&[&format!("--since={revision}")]), "git knows no revision", "");
    }
    assert!(!folder.path("x").exists());
    let empty: Run = folder.command(&["--since", "HEAD"]).env("PATH", "").output().unwrap().into();
    fails(empty, "cannot run git: it is not installed", "install git");
    let shallow = Folder::new("since-shallow", &[]);
    let url = format!("file://{}", folder.path("").display());
    git(&shallow, &["clone", "-q", "--depth", "1", &url, "clone"]);
    let mut command = shallow.command(&["--since", "HEAD~1"]);
    let run: Run = command.current_dir(shallow.path("clone")).output().unwrap().into();
    fails(run, "git knows no revision `HEAD~1`", "this clone is shallow");
}

/// git runs what a repository configures on many occasions; none of them is ours.
#[cfg(unix)]
#[test]
fn nothing_that_a_repository_configures_is_run() {
    let folder = Folder::new("since-hostile", &[("s.yaml", &calls(9, 8))]);
    git(&folder, &["init", "-q"]);
    commit(&folder);
    let ran = folder.path("ran").display().to_string();
    for (name, arguments) in [
        ("core.fsmonitor", ""),
        ("diff.external", ""),
        ("diff.x.textconv", ""),
        ("diff.x.command", ""),
        ("filter.x.clean", "; cat"),
        ("filter.x.smudge", "; cat"),
        ("core.pager", ""),
        ("core.sshCommand", ""),
    ] {
        git(&folder, &["config", name, &format!("touch {ran}{arguments}")]);
    }
    write(&folder, ".gitattributes", "*.yaml diff=x filter=x\n");
    write(&folder, "s.yaml", &calls(9, 7));
    let run = folder.run(&["--format", "concise", "--since", "HEAD"]);
    assert_eq!(lines(&run), [10], "{}", run.stderr);
    assert!(!folder.path("ran").exists());
    // That it would have run otherwise.
    git(&folder, &["--no-pager", "diff"]);
    assert!(folder.path("ran").exists());
}

#[test]
fn a_suppression_holds_to_the_end_of_its_last_day() {
    let until = "jitter: full } # retrylint: allow(excessive-attempts, until=2027-01-31) for the sale";
    let folder = Folder::new("until", &[("s.yaml", &calls(9, 3).replacen("jitter: full }", until, 1))]);
    let on = |day: &str| folder.run(&["--format", "concise", "--today", day]);
    let run = on("2027-01-31");
    assert_eq!((run.status, run.stdout.as_str()), (0, ""));
    let run = on("2027-02-01");
    assert_eq!(run.status, 1);
    assert!(run.stdout.contains("[excessive-attempts]"), "{}", run.stdout);
    assert!(run.stdout.contains("[unused-suppression]: `allow(excessive-attempts)` ended on 2027-01-31"));
    // The day may come from the environment; the option wins.
    let at = |epoch: &str, arguments: &[&str]| -> Run {
        folder.command(arguments).env("SOURCE_DATE_EPOCH", epoch).output().unwrap().into()
    };
    assert_eq!(at("1801440000", &[]).status, 1);
    assert_eq!(at("1801353600", &[]).status, 0);
    assert_eq!(at("1801440000", &["--today", "2027-01-31"]).status, 0);
    let run = at("yesterday", &[]);
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("`SOURCE_DATE_EPOCH` is no number of seconds since 1970"), "{}", run.stderr);
    let run = on("2027-02-30");
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("a day such as `2027-01-31`"), "{}", run.stderr);
}

/// `web` and `cron` leave `a` too soon, and `a` leaves `b` too soon: three calls, each with an end of its own. What is
/// known or allowed of one of them hides none of the others.
#[test]
fn a_decision_about_one_call_that_leaves_too_soon_is_none_about_another() {
    let call = |from: &str, to: &str, comment: &str| {
        format!(
            "  {from}:\n    calls:\n      - to: {to}\n        retry: {{ attempts: 4, backoff: none }}\n        timeout: {{ \
             attempt: 2s }}{comment}\n"
        )
    };
    let text = |[web, cron, a]: [&str; 3]| {
        let calls = [call("web", "a", web), call("cron", "a", cron), call("a", "b", a), call("b", "c", "")];
        format!("services:\n{}", calls.concat())
    };
    let shown = |folder: &Folder, more: &[&str]| {
        lines(&folder.run(&[&["--format", "concise", "--select", "deadline-inversion"], more].concat()))
    };
    let allow = " # retrylint: allow(deadline-inversion) on purpose";
    let folder = Folder::new("inversions", &[("s.yaml", &text(["", "", ""]))]);
    assert_eq!(shown(&folder, &[]), [6, 11, 16]);
    for (comments, left) in [([allow, "", ""], [11, 16]), (["", allow, ""], [6, 16]), (["", "", allow], [6, 11])] {
        write(&folder, "s.yaml", &text(comments));
        assert_eq!(shown(&folder, &[]), left);
    }
    // A baseline of `a` alone, for which nobody calls it.
    write(&folder, "s.yaml", &format!("services:\n{}{}", call("a", "b", ""), call("b", "c", "")));
    folder.run(&["--write-baseline", "known.json"]);
    write(&folder, "s.yaml", &text(["", "", ""]));
    assert_eq!(shown(&folder, &["--baseline", "known.json"]), [6, 11]);
}

#[test]
fn a_standing_decision_holds_to_the_end_of_its_last_day() {
    let accept = "[services.leaf]\naccept = { max-amplification = 9, reason = \"sized for it\", until = 2027-01-31 }\n";
    let hop = |to: &str| {
        format!(
            "calls: [{{ to: {to}, retry: {{ attempts: 3, on: [overload], backoff: none }}, timeout: {{ attempt: 1s }} }}]"
        )
    };
    let chain = format!("services:\n  web:\n    {}\n  mid:\n    {}\n", hop("mid"), hop("leaf"));
    let folder = Folder::new("accept-until", &[("retrylint.toml", accept), ("s.yaml", &chain)]);
    let on = |day: &str| {
        let rules = "retry-amplification,unused-suppression";
        folder.run(&["--format", "concise", "--select", rules, "--today", day])
    };
    assert_eq!(on("2027-01-31").stdout, "");
    let run = on("2027-02-01");
    assert!(run.stdout.contains("[retry-amplification]"), "{}", run.stdout);
    assert!(
        run.stdout.contains("retrylint.toml:2:10: warning[unused-suppression]: `accept` of `leaf` ended on 2027-01-31")
    );
}
