//! The scripts of the release workflow, which cannot run here as a whole: each in a scratch repository with a remote of its own,
//! and what they make is what the action installs.

use std::path::Path;
use std::process::Command;

use crate::folder::Folder;
use crate::install::{Released, copy};
use crate::runner::{executable, outputs, read, root};

/// What is released, with the runners that it is for.
pub const TARGETS: [&str; 5] = [
    "x86_64-unknown-linux-musl",
    "aarch64-unknown-linux-musl",
    "x86_64-apple-darwin",
    "aarch64-apple-darwin",
    "x86_64-pc-windows-msvc",
];

/// Runs one of the scripts in a folder: its exit status, and what it printed.
pub fn script(name: &str, folder: &Path, variables: &[(&str, &str)]) -> (i32, String) {
    let mut command = Command::new("bash");
    command.args(["-c", "exec \"$@\" 2>&1", "-", "bash"]).arg(root().join(".github/release").join(name));
    command.current_dir(folder).envs(variables.iter().copied());
    let output = command.output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=a", "-c", "user.email=a@example.com"]).args(arguments);
    let output = command.env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim_end().to_string()
}

/// A checkout with a remote of its own.
fn checkout(name: &str) -> Folder {
    let folder = Folder::new(name, &[]);
    let here = folder.path("checkout");
    copy(&here);
    std::fs::create_dir_all(folder.path("remote.git")).unwrap();
    git(&folder.path("remote.git"), &["init", "--quiet", "--bare"]);
    git(&here, &["init", "--quiet"]);
    git(&here, &["add", "."]);
    git(&here, &["commit", "--quiet", "-m", "what is built"]);
    git(&here, &["remote", "add", "origin", folder.path("remote.git").to_str().unwrap()]);
    folder
}

#[test]
fn the_version_is_that_of_the_tag_and_of_the_package_and_new() {
    let folder = checkout("release-version");
    let here = folder.path("checkout");
    let output = folder.path("output");
    let run = |tag: &str| {
        std::fs::write(&output, "").unwrap();
        script("version.sh", &here, &[("GITHUB_REF_NAME", tag), ("GITHUB_OUTPUT", output.to_str().unwrap())])
    };
    assert_eq!(run("build-v0.1.0"), (0, String::new()));
    assert_eq!(outputs(&std::fs::read_to_string(&output).unwrap())["version"], "0.1.0");
    for (tag, said) in [
        ("v0.1.0", "The tag is no build tag: v0.1.0; write it as build-v1.2.3.\n"),
        ("build-v0.1", "The tag is no build tag: build-v0.1; write it as build-v1.2.3.\n"),
        (
            "build-v0.2.0",
            "Cargo.toml is about another version than build-v0.2.0: write `version = \"0.2.0\"` there first.\n",
        ),
    ] {
        assert_eq!(run(tag), (1, said.to_string()));
    }
    git(&here, &["tag", "v0.1.0"]);
    git(&here, &["push", "--quiet", "origin", "v0.1.0"]);
    let (status, said) = run("build-v0.1.0");
    assert_eq!(
        (status, said.as_str()),
        (1, "v0.1.0 is released already; a release is never changed: take the next version.\n")
    );
}

#[test]
fn every_runner_installs_what_was_packed_for_it() {
    let runners = [("Linux", "X64"), ("Linux", "ARM64"), ("macOS", "X64"), ("macOS", "ARM64"), ("Windows", "X64")];
    let workflow = read(".github/workflows/release.yml");
    for ((system, processor), target) in runners.into_iter().zip(TARGETS) {
        assert!(workflow.contains(&format!("{{ target: {target}, os: ")), "{target}");
        let released = Released::new("release-runner").variable("RUNNER_OS", system).variable("RUNNER_ARCH", processor);
        let installed = released.install("");
        installed.is_released();
        let name = if system == "Windows" { "retrylint.exe" } else { "retrylint" };
        let binary = installed.binary.unwrap();
        assert!(binary.ends_with(&format!("/retrylint-0.1.0-{target}/{name}")), "{binary}");
    }
    assert_eq!(workflow.matches("{ target: ").count(), TARGETS.len());
}

/// A package is the same for the same program, and holds what its licences ask for.
#[test]
fn an_archive_holds_the_program_its_licences_and_the_readme() {
    let folder = Folder::new("release-package", &[("program", "x")]);
    let here = folder.path("checkout");
    copy(&here);
    let program = folder.path("program");
    let variables = [("VERSION", "0.1.0"), ("TARGET", TARGETS[0]), ("PROGRAM", program.to_str().unwrap())];
    assert_eq!(script("package.sh", &here, &variables), (0, String::new()));
    let list = Command::new("tar")
        .args(["-tzf"])
        .arg(here.join(format!("dist/retrylint-0.1.0-{}.tar.gz", TARGETS[0])))
        .output();
    let list = String::from_utf8(list.unwrap().stdout).unwrap();
    let mut names: Vec<&str> = list.lines().filter_map(|line| line.rsplit_once('/')).map(|(_, name)| name).collect();
    names.sort_unstable();
    assert_eq!(names, ["", "LICENSE-APACHE", "LICENSE-MIT", "README.md", "retrylint"]);
    assert_eq!(std::fs::read_dir(here.join("dist")).unwrap().count(), 1);
}

#[test]
fn a_release_that_lacks_a_target_is_none() {
    let folder = Folder::new("release-incomplete", &[("program", "x")]);
    let here = folder.path("checkout");
    copy(&here);
    let variables = |target: &'static str| [("VERSION", "0.1.0"), ("TARGET", target), ("PROGRAM", "../program")];
    for target in &TARGETS[1..] {
        assert_eq!(script("package.sh", &here, &variables(target)).0, 0);
    }
    let described =
        [("VERSION", "0.1.0"), ("GITHUB_SERVER_URL", "https://example.com"), ("GITHUB_REPOSITORY", "owner/retrylint")];
    assert_ne!(script("describe.sh", &here, &described).0, 0);
    assert!(!here.join("action/release").exists());
    assert_eq!(script("package.sh", &here, &variables(TARGETS[0])).0, 0);
    assert_eq!(script("describe.sh", &here, &described).0, 0);
    let release = std::fs::read_to_string(here.join("action/release")).unwrap();
    let lines: Vec<&str> = release.lines().skip(1).take(3).collect();
    assert_eq!(
        lines,
        ["version 0.1.0", "repository owner/retrylint", "url https://example.com/owner/retrylint/releases/download"]
    );
}

/// The tag comes last but for making the release visible: whoever sees it sees a whole release.
#[test]
fn the_tag_is_the_built_commit_with_the_checksums() {
    let folder = checkout("release-publish");
    let here = folder.path("checkout");
    let built = git(&here, &["rev-parse", "HEAD"]);
    for (file, text) in [("action/release", "version 0.1.0\n"), ("dist/SHA256SUMS", ""), ("dist/a.tar.gz", "")] {
        std::fs::create_dir_all(here.join(file).parent().unwrap()).unwrap();
        std::fs::write(here.join(file), text).unwrap();
    }
    let bin = folder.path("bin");
    std::fs::create_dir_all(&bin).unwrap();
    let gh = "#!/usr/bin/env bash\necho \"gh $* | tags: $(git ls-remote --tags origin | cut -f 2)\"\n";
    std::fs::write(bin.join("gh"), gh).unwrap();
    executable(&bin.join("gh"));
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let (status, log) =
        script("publish.sh", &here, &[("VERSION", "0.1.0"), ("PATH", &path), ("GIT_CONFIG_GLOBAL", "/dev/null")]);
    assert_eq!(status, 0, "{log}");
    assert_eq!(
        log,
        "gh auth setup-git | tags: \n\
         gh release create v0.1.0 --draft --title retrylint 0.1.0 --generate-notes dist/a.tar.gz dist/SHA256SUMS | tags: \n\
         gh release edit v0.1.0 --draft=false | tags: refs/tags/v0.1.0\n"
    );
    let remote = folder.path("remote.git");
    assert_eq!(git(&remote, &["rev-parse", "v0.1.0^"]), built);
    assert_eq!(git(&remote, &["diff", "--name-only", "v0.1.0^", "v0.1.0"]), "action/release");
    assert_eq!(git(&remote, &["show", "v0.1.0:action/release"]), "version 0.1.0");
    assert_eq!(git(&remote, &["branch"]), "");
}

/// The program that was built has to find the storm; one that finds nothing, or fails, is not released.
#[test]
fn a_program_that_was_built_is_tried() {
    let target = TARGETS[0];
    let folder = Folder::new("release-try", &[]);
    let program = folder.path(&format!("target/{target}/release/retrylint"));
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    std::fs::create_dir_all(folder.path("testdata")).unwrap();
    std::os::unix::fs::symlink(root().join("testdata/storm"), folder.path("testdata/storm")).unwrap();
    std::os::unix::fs::symlink(assert_cmd::cargo::cargo_bin("retrylint"), &program).unwrap();
    let run = || script("try.sh", &folder.path(""), &[("TARGET", target)]);
    let (status, log) = run();
    assert_eq!(status, 0, "{log}");
    std::fs::remove_file(&program).unwrap();
    assert_eq!(run().0, 1);
    std::fs::write(&program, "#!/bin/sh\n").unwrap();
    executable(&program);
    let (status, log) = run();
    assert_eq!(status, 1);
    assert_eq!(log, "The exit status for testdata/storm is 0, and should be 1.\n");
}
