//! A small model of GitHub's runner: it takes the steps of `action.yml` as they stand, with the runner's files and variables, and
//! reads their log as the runner reads it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_yaml::Value;

use crate::folder::Folder;

/// Programs that the scripts may use, and `touch` for those who would misuse them; no others are on their path.
const PROGRAMS: [&str; 22] = [
    "awk",
    "bash",
    "cat",
    "chmod",
    "cp",
    "curl",
    "cut",
    "dirname",
    "env",
    "grep",
    "gzip",
    "head",
    "ln",
    "mkdir",
    "mktemp",
    "od",
    "sed",
    "sha256sum",
    "tail",
    "tar",
    "touch",
    "tr",
];
/// Commands that the runner knows.
const COMMANDS: [&str; 15] = [
    "add-mask",
    "add-matcher",
    "add-path",
    "debug",
    "echo",
    "endgroup",
    "error",
    "group",
    "notice",
    "remove-matcher",
    "save-state",
    "set-env",
    "set-output",
    "stop-commands",
    "warning",
];

/// The checkout that the tests run in.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a file of the checkout.
pub fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap()
}

/// Makes a program of a file.
pub fn executable(file: &Path) {
    assert!(Command::new("chmod").arg("+x").arg(file).status().unwrap().success());
}

/// A job of one step that uses the action.
pub struct Job<'a> {
    folder: &'a Folder,
    /// Where the action's checkout lies.
    pub action: PathBuf,
    pub workspace: PathBuf,
    pub inputs: BTreeMap<&'static str, String>,
    pub variables: BTreeMap<&'static str, String>,
}

/// What became of it.
#[derive(Debug, Default)]
pub struct Done {
    pub failed: bool,
    /// The names of the steps that ran, in order.
    pub steps: Vec<String>,
    /// What all of them printed.
    pub log: String,
    pub summary: String,
    /// The action's outputs.
    pub outputs: BTreeMap<String, String>,
    /// The file that went to code scanning.
    pub uploaded: Option<PathBuf>,
}

impl<'a> Job<'a> {
    /// A job in an empty workspace, with this checkout as the action's and a cargo that has built already.
    pub fn new(folder: &'a Folder) -> Self {
        for below in ["bin", "temp", "workspace"] {
            std::fs::create_dir_all(folder.path(below)).unwrap();
        }
        for program in PROGRAMS {
            let found = std::env::split_paths(&std::env::var_os("PATH").unwrap())
                .map(|folder| folder.join(program))
                .find(|file| file.is_file())
                .unwrap_or_else(|| panic!("the tests of the action need {program}"));
            std::os::unix::fs::symlink(found, folder.path("bin").join(program)).unwrap();
        }
        std::fs::write(folder.path("event.json"), "{}").unwrap();
        let job = Job {
            folder,
            action: root().to_path_buf(),
            workspace: folder.path("workspace"),
            inputs: BTreeMap::new(),
            variables: BTreeMap::from([
                ("RUNNER_OS", "Linux".to_string()),
                ("RUNNER_ARCH", "X64".to_string()),
                ("GITHUB_SERVER_URL", "https://github.com".to_string()),
            ]),
        };
        job.program("cargo", &build_of(&format!("ln -s '{}'", assert_cmd::cargo::cargo_bin("retrylint").display())));
        job
    }

    /// Puts a program on the path of the steps.
    pub fn program(&self, name: &str, script: &str) {
        let file = self.folder.path("bin").join(name);
        std::fs::write(&file, format!("#!/usr/bin/env bash\nset -eu\n{script}\n")).unwrap();
        executable(&file);
    }

    pub fn without(&self, program: &str) {
        std::fs::remove_file(self.folder.path("bin").join(program)).unwrap();
    }

    pub fn input(mut self, name: &'static str, value: &str) -> Self {
        self.inputs.insert(name, value.to_string());
        self
    }

    /// Runs all steps of `action.yml` as the runner does: until one fails.
    pub fn run(&self) -> Done {
        let action: Value = serde_yaml::from_str(&read("action.yml")).unwrap();
        let mut context = BTreeMap::from([("github.token".to_string(), "a-token".to_string())]);
        for (name, input) in entries(&action["inputs"]) {
            let given = self.inputs.get(name.as_str()).cloned();
            context
                .insert(format!("inputs.{name}"), given.unwrap_or_else(|| input["default"].as_str().unwrap().into()));
        }
        for name in self.inputs.keys() {
            assert!(!action["inputs"][*name].is_null(), "the action has no input {name}");
        }
        let mut done = Done::default();
        for step in action["runs"]["steps"].as_sequence().unwrap() {
            let name = step["name"].as_str().unwrap();
            if done.failed || step["if"].as_str().is_some_and(|condition| evaluate(condition, &context) != "true") {
                continue;
            }
            done.steps.push(name.to_string());
            if step["uses"].is_string() {
                done.uploaded = Some(PathBuf::from(evaluate(step["with"]["sarif_file"].as_str().unwrap(), &context)));
                continue;
            }
            let (status, outputs) = self.step(step, &context, &mut done);
            done.failed = status != 0;
            let id = step["id"].as_str().unwrap_or(name);
            context.extend(outputs.into_iter().map(|(key, value)| (format!("steps.{id}.outputs.{key}"), value)));
        }
        for (name, output) in entries(&action["outputs"]) {
            done.outputs.insert(name, evaluate(output["value"].as_str().unwrap(), &context));
        }
        done
    }

    fn step(
        &self,
        step: &Value,
        context: &BTreeMap<String, String>,
        done: &mut Done,
    ) -> (i32, BTreeMap<String, String>) {
        assert_eq!(step["shell"].as_str(), Some("bash"));
        let files = [("GITHUB_OUTPUT", "output"), ("GITHUB_STEP_SUMMARY", "summary")];
        let variables = entries(&step["env"]);
        let mut command = self.shell(step["run"].as_str().unwrap());
        command.envs(variables.iter().map(|(name, value)| (name, evaluate(value.as_str().unwrap(), context))));
        for (variable, file) in files {
            std::fs::write(self.folder.path(file), "").unwrap();
            command.env(variable, self.folder.path(file));
        }
        let output = command.output().unwrap();
        done.log.push_str(&String::from_utf8(output.stdout).unwrap());
        done.summary.push_str(&std::fs::read_to_string(self.folder.path("summary")).unwrap());
        (output.status.code().unwrap(), outputs(&std::fs::read_to_string(self.folder.path("output")).unwrap()))
    }

    /// A script, run as `shell: bash` is: both streams go to the log.
    pub fn shell(&self, script: &str) -> Command {
        let file = self.folder.path("temp/script.sh");
        std::fs::write(&file, script).unwrap();
        let bash = self.folder.path("bin/bash");
        let mut command = Command::new(&bash);
        command.args(["-c", "exec \"$@\" 2>&1", "-"]).arg(&bash).args(["--noprofile", "--norc", "-eo", "pipefail"]);
        command.arg(file).current_dir(&self.workspace).env_clear().envs(&self.variables);
        command.env("PATH", self.folder.path("bin")).env("HOME", self.folder.path("temp"));
        command
            .env("CI", "true")
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_EVENT_PATH", self.folder.path("event.json"));
        command.env("GITHUB_WORKSPACE", &self.workspace).env("RUNNER_TEMP", self.folder.path("temp"));
        command.env("GITHUB_ACTION_PATH", &self.action);
        command
    }
}

/// A cargo that says where it was called and how, and whose building is a command for the file to make.
pub fn build_of(make: &str) -> String {
    format!(
        "echo \"cargo in $PWD: $*\"\nwhile [ \"$1\" != --target-dir ]; do shift; done\n\
         mkdir -p \"$2/release\"\n{make} \"$2/release/retrylint\""
    )
}

/// A mapping's keys and values; none if it is not there.
fn entries(value: &Value) -> Vec<(String, Value)> {
    let pairs = value.as_mapping().into_iter().flatten();
    pairs.map(|(key, value)| (key.as_str().unwrap().to_string(), value.clone())).collect()
}

/// A text with expressions: the names of the context, alone or compared with a text. What is not set is empty.
fn evaluate(text: &str, context: &BTreeMap<String, String>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("${{") {
        let (expression, after) = behind.split_once("}}").unwrap();
        let value = |name: &str| context.get(name.trim()).cloned().unwrap_or_default();
        out.push_str(before);
        out.push_str(&match expression.split_once("==") {
            Some((name, text)) => (value(name) == text.trim().trim_matches('\'')).to_string(),
            None => value(expression),
        });
        rest = after;
    }
    out + rest
}

/// What stands in a file of outputs: `name<<END`, the value's lines, `END`, or `name=value`.
pub fn outputs(text: &str) -> BTreeMap<String, String> {
    let mut lines = text.lines();
    let mut outputs = BTreeMap::new();
    while let Some(line) = lines.next() {
        let (name, value) = match line.split_once("<<") {
            Some((name, end)) => (name, lines.by_ref().take_while(|line| *line != end).collect::<Vec<_>>().join("\n")),
            None => line.split_once('=').map(|(name, value)| (name, value.to_string())).unwrap(),
        };
        outputs.insert(name.to_string(), value);
    }
    outputs
}

/// The lines of a log that the runner takes for commands: `::command::` at the start of a line, `##[command]` anywhere in it,
/// and none between `::stop-commands::TOKEN` and `::TOKEN::`.
pub fn commands(log: &str) -> Vec<&str> {
    let mut stopped: Option<&str> = None;
    let mut found = Vec::new();
    for line in log.lines() {
        let known = |name: &str| COMMANDS.contains(&name.split(' ').next().unwrap());
        let new = line.trim_start().strip_prefix("::").and_then(|rest| rest.split_once("::"));
        let old = line.split_once("##[").and_then(|(_, rest)| rest.split_once(']'));
        match (stopped, new) {
            (Some(token), Some((name, _))) if name == token => stopped = None,
            (Some(_), _) => {}
            (None, Some(("stop-commands", token))) => stopped = Some(token),
            (None, Some((name, _))) if known(name) => found.push(line),
            (None, _) if old.is_some_and(|(name, _)| known(name)) => found.push(line),
            (None, _) => {}
        }
    }
    assert_eq!(stopped, None, "commands stay stopped: {log}");
    found
}

#[test]
fn commands_are_read_as_the_runner_reads_them() {
    let log = "::error file=a::b\n  ::notice::c\ntext ::error::d\n::unknown::e\nf ##[set-output name=x]g\n\
               ::stop-commands::t\n::error::h\n##[error]i\n::t::\n::warning::j\n";
    assert_eq!(commands(log), ["::error file=a::b", "  ::notice::c", "f ##[set-output name=x]g", "::warning::j"]);
}
