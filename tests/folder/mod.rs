//! A folder to run in, for tests of the command line.

use std::path::PathBuf;
use std::process::Output;

use assert_cmd::Command;

/// A folder of its own that goes away.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("retrylint-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        for (file, text) in files {
            let file = path.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn run(&self, arguments: &[&str]) -> Run {
        self.command(arguments).output().unwrap().into()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::cargo_bin("retrylint").unwrap();
        command.current_dir(&self.0).args(arguments);
        for variable in ["NO_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "CI", "COLUMNS", "SOURCE_DATE_EPOCH"] {
            command.env_remove(variable);
        }
        command
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.0.join(file)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a run said.
pub struct Run {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Run {
            status: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}
