//! What a run is asked for: retrylint.toml first, then the command line, which wins.

use std::io::Read;
use std::path::{Path, PathBuf};

use retrylint::config::{self, Config};
use retrylint::pipeline::Options;
use retrylint::rules;
use retrylint::scan::recorded;

use super::Failure;
use crate::cli::{Files, Input};

/// The options of a command.
pub fn options(input: &Input) -> Result<Options, Failure> {
    Ok(Options { environment: input.environment.clone(), ..read(&input.files)? })
}

/// The same of what is read, and looked at as a whole.
pub fn read(input: &Files) -> Result<Options, Failure> {
    let config = settings(&input.paths, input.config.as_ref(), input.isolated)?;
    let mut options = Options::new(config);
    options.scan.include_tests = input.include_tests;
    options.scan.threads = input.threads;
    let is_stdin = |path: &PathBuf| path.as_os_str() == "-";
    let paths: Vec<PathBuf> = input.paths.iter().filter(|path| !is_stdin(path)).cloned().collect();
    if input.paths.iter().any(is_stdin) {
        let name = input.stdin_filename.clone().unwrap_or_else(|| "<stdin>".to_string());
        let bytes = standard_input(options.scan.max_file_size)
            .map_err(|error| Failure::Said(format!("cannot read standard input: {error}"), None))?;
        options.scan.stdin = Some((name, bytes));
        options.scan.paths = paths;
    } else if input.stdin_filename.is_some() {
        let help = "write `-` as the path";
        return Err(Failure::Said(
            "`--stdin-filename` names standard input, which is not read".into(),
            Some(help.into()),
        ));
    } else if !paths.is_empty() {
        options.scan.paths = paths;
    }
    Ok(options)
}

/// All bytes of standard input, or one more than will be taken of it.
fn standard_input(max: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut stdin = std::io::stdin();
    stdin.by_ref().take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max && recorded::begins(&bytes) {
        let more = recorded::largest(max) - max;
        stdin.take(more).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The settings: the file that is named, else the nearest one from the first path upwards.
pub fn settings(paths: &[PathBuf], named: Option<&PathBuf>, isolated: bool) -> Result<Config, Failure> {
    if isolated {
        return Ok(Config::default());
    }
    let ids: Vec<&str> = rules::ALL.iter().map(|rule| rule.id).collect();
    // Facts may lie anywhere: settings are those of the folder in which they are read.
    let is_place = |path: &&PathBuf| path.as_os_str() != "-" && !recorded::lies_at(path);
    let start = paths.iter().find(is_place).map_or(Path::new("."), PathBuf::as_path);
    let found = || config::find(start).map(relative);
    match named.cloned().or_else(found) {
        Some(path) => Ok(Config::load(&path, &ids)?),
        None => Ok(Config::default()),
    }
}

/// A path as one would write it from here, if it lies below.
fn relative(path: PathBuf) -> PathBuf {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    match here.ok().and_then(|here| path.strip_prefix(here).map(Path::to_path_buf).ok()) {
        Some(below) => below,
        None => path,
    }
}
