//! The recipes of `docs/ci.md`, and the hooks for pre-commit.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_yaml::Value;

use crate::folder::Folder;
use crate::lint;
use crate::runner::{read, root};

const THREE: &str = "services:\n  web:\n    calls: [{ to: api, retry: { attempts: 3, backoff: exponential, base: 100ms, cap: 2s, \
                     jitter: full }, timeout: { attempt: 1s, total: 20s }, budget: { ratio: 0.2 }, breaker: { ratio: 0.5, \
                     minimum: 20, open: 30s } }]\n  api: { calls: [] }\n";

/// The fenced blocks of a page in a language.
fn fences(page: &str, language: &str) -> Vec<String> {
    let start = format!("```{language}\n");
    page.split(&start).skip(1).map(|rest| rest.split("```").next().unwrap().to_string()).collect()
}

fn program() -> PathBuf {
    assert_cmd::cargo::cargo_bin("retrylint")
}

#[test]
fn recipes_are_yaml_and_workflows_that_actionlint_takes() {
    let recipes = fences(&read("docs/ci.md"), "yaml");
    let names: Vec<&str> = recipes.iter().map(|recipe| recipe.lines().next().unwrap()).collect();
    let workflow = "# .github/workflows/retrylint.yml";
    assert_eq!(names, [workflow, workflow, "# .gitlab-ci.yml", "# .pre-commit-config.yaml"]);
    let folder = Folder::new("recipes-workflows", &[]);
    let mut workflows = Vec::new();
    for recipe in recipes.iter().chain(&fences(&read("README.md"), "yaml")) {
        let value: Value = serde_yaml::from_str(recipe).unwrap();
        assert!(value.is_mapping(), "{recipe}");
        if value["jobs"].is_mapping() {
            let file = folder.path(&format!("{}.yml", workflows.len()));
            std::fs::write(&file, recipe).unwrap();
            workflows.push(file);
        }
    }
    assert!(workflows.len() >= 2);
    assert_eq!(lint::actionlint(&workflows), None);
}

/// What the documentation says of the action is what the action has.
#[test]
fn inputs_and_outputs_are_documented_as_they_are() {
    let page = read("docs/ci.md");
    let action: Value = serde_yaml::from_str(&read("action.yml")).unwrap();
    let rows = |heading: &str| -> Vec<Vec<String>> {
        let table = page.split(heading).nth(1).unwrap().split("\n\n").next().unwrap();
        let cells = |row: &str| row.split('|').map(|cell| cell.trim().trim_matches('`').to_string()).skip(1).collect();
        table.lines().skip(2).map(cells).collect()
    };
    let keys = |name: &str| -> Vec<String> {
        action[name].as_mapping().unwrap().iter().map(|(key, _)| key.as_str().unwrap().to_string()).collect()
    };
    let inputs = rows("| input | default | meaning |");
    assert_eq!(inputs.iter().map(|row| row[0].clone()).collect::<Vec<_>>(), keys("inputs"));
    for row in &inputs {
        assert_eq!(action["inputs"][row[0].as_str()]["default"].as_str(), Some(row[1].as_str()), "{}", row[0]);
    }
    assert_eq!(rows("| output | meaning |").iter().map(|row| row[0].clone()).collect::<Vec<_>>(), keys("outputs"));
    for recipe in fences(&page, "yaml").iter().chain(&fences(&read("README.md"), "yaml")) {
        let value: Value = serde_yaml::from_str(recipe).unwrap();
        for step in value["jobs"]["retrylint"]["steps"].as_sequence().into_iter().flatten() {
            let ours = step["uses"].as_str().is_some_and(|action| action.starts_with("OWNER/retrylint@"));
            for (input, _) in step["with"].as_mapping().into_iter().flatten().filter(|_| ours) {
                assert!(keys("inputs").contains(&input.as_str().unwrap().to_string()), "{input:?}");
            }
        }
    }
}

#[test]
fn the_commands_of_the_recipes_run_and_write_their_files() {
    let page = read("docs/ci.md");
    let commands: Vec<&str> = page
        .lines()
        .filter_map(|line| line.split_once("retrylint --").map(|(before, rest)| (before, line, rest)))
        .filter(|(before, ..)| before.trim() == "-" || before.ends_with("run: ") || before.ends_with("sh '"))
        .map(|(before, line, _)| line[before.len()..].split('\'').next().unwrap())
        .collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    let folder = Folder::new("recipes-commands", &[]);
    let storm = folder.path("storm");
    copy(&root().join("testdata/storm"), &storm);
    let path = format!("{}:{}", program().parent().unwrap().display(), std::env::var("PATH").unwrap());
    for command in commands {
        let mut bash = Command::new("bash");
        bash.args(["-ec", command]).current_dir(&storm).env("PATH", &path);
        let output = bash.env("GITHUB_STEP_SUMMARY", storm.join("summary.md")).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
    for file in ["summary.md", "gl-code-quality-report.json", "retrylint.xml"] {
        assert!(std::fs::read_to_string(storm.join(file)).unwrap().contains("27 requests"), "{file}");
    }
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-r").args([from, to]).status().unwrap().success());
}

/// A scratch repository with files in its index.
fn repository(folder: &Folder, name: &str, files: &[(&str, &str)]) -> PathBuf {
    let here = folder.path(name);
    for (file, text) in files {
        std::fs::create_dir_all(&here).unwrap();
        std::fs::write(here.join(file), text).unwrap();
    }
    let commit = ["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", "a"];
    for arguments in [&["init", "--quiet"][..], &["add", "."], &commit] {
        let mut git = Command::new("git");
        assert!(
            git.args(arguments).current_dir(&here).env("GIT_CONFIG_GLOBAL", "/dev/null").status().unwrap().success()
        );
    }
    here
}

/// With the hook that takes the program on `PATH`: the other one differs in building it first.
#[test]
fn the_hook_checks_the_repository_when_a_file_of_its_kinds_is_there() {
    let Some(pre_commit) = lint::tool(&["pre-commit"]) else { return };
    let folder = Folder::new("recipes-hooks", &[]);
    let hooks = repository(&folder, "hooks", &[(".pre-commit-hooks.yaml", &read(".pre-commit-hooks.yaml"))]);
    let path = format!("{}:{}", program().parent().unwrap().display(), std::env::var("PATH").unwrap());
    let run = |name: &str, files: &[(&str, &str)]| {
        let here = repository(&folder, name, files);
        let mut command = Command::new(&pre_commit);
        command.arg("try-repo").arg(&hooks).args(["retrylint-system", "--all-files", "--color=never"]);
        command.current_dir(here).env("PATH", &path).env("PRE_COMMIT_HOME", folder.path("home"));
        let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap())
    };
    let nine = THREE.replace("attempts: 3", "attempts: 9");
    let (status, log) = run("nine", &[("services.yaml", &nine)]);
    assert_eq!(status, Some(1), "{log}");
    assert!(
        log.contains("Failed") && log.contains("services.yaml:3:") && log.contains("warning[excessive-attempts]"),
        "{log}"
    );
    let (status, log) = run("three", &[("services.yaml", THREE)]);
    assert_eq!(status, Some(0), "{log}");
    assert!(log.contains("Passed"), "{log}");
    let (status, log) = run("other", &[("notes.txt", &nine)]);
    assert_eq!(status, Some(0), "{log}");
    assert!(log.contains("(no files to check)Skipped"), "{log}");
}

/// Whoever installs it from the registry gets what it is built and tested from, and nothing of this repository's surroundings.
#[test]
fn the_package_holds_what_is_embedded_and_nothing_of_ci() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["package", "--list", "--allow-dirty", "--offline"]).current_dir(root());
    let output = cargo.output().unwrap();
    let list = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let names: Vec<&str> = list.lines().collect();
    for folder in ["rules", "rules/libraries", "rules/languages", "docs/schemas"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap()) {
            let name = format!("{folder}/{}", entry.file_name().to_str().unwrap());
            assert!(entry.path().is_dir() || names.contains(&name.as_str()), "{name}");
        }
    }
    let added = [".cargo_vcs_info.json", "Cargo.toml.orig", "Cargo.lock", "Cargo.toml", "README.md", "CHANGELOG.md"];
    let folders = ["src/", "rules/", "docs/", "tests/", "testdata/", "LICENSE-"];
    for name in names {
        assert!(added.contains(&name) || folders.iter().any(|folder| name.starts_with(folder)), "{name}");
        assert!(!name.starts_with("tests/action") && !name.starts_with("tests/documentation"), "{name}");
    }
}

#[test]
fn both_hooks_run_the_same() {
    let hooks: Value = serde_yaml::from_str(&read(".pre-commit-hooks.yaml")).unwrap();
    let [built, installed] = hooks.as_sequence().unwrap().as_slice() else { panic!("two hooks") };
    assert_eq!((built["id"].as_str(), built["language"].as_str()), (Some("retrylint"), Some("rust")));
    assert_eq!((installed["id"].as_str(), installed["language"].as_str()), (Some("retrylint-system"), Some("system")));
    for key in ["entry", "pass_filenames", "require_serial", "types_or"] {
        assert!(!built[key].is_null() && built[key] == installed[key], "{key}");
    }
}
