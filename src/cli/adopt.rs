//! Options and commands that bring retrylint into a repository and keep it there.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use retrylint::facts::{DATE, Date};

use super::{amplification, tries};

/// What is known already, and what is new.
#[derive(Debug, Args)]
pub struct Adoption {
    /// Known findings, which do not count
    ///
    /// Written by --write-baseline. Without it, `baseline` in retrylint.toml names the file. A known finding is marked and counted in the summary.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Adoption")]
    pub baseline: Option<PathBuf>,
    /// Write what this run finds as the baseline
    ///
    /// What the other options leave out is not written; comments and decisions need no baseline. The file is written anew.
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        conflicts_with = "baseline",
        help_heading = "Adoption"
    )]
    pub write_baseline: Option<PathBuf>,
    /// Drop what no longer occurs from the baseline
    ///
    /// Never adds anything. Everything that it was written for must be read.
    #[arg(
        long,
        value_name = "FILE",
        value_hint = ValueHint::FilePath,
        conflicts_with_all = ["baseline", "write_baseline", "environment"],
        hide_short_help = true,
        help_heading = "Adoption"
    )]
    pub prune_baseline: Option<PathBuf>,
    /// Only findings on lines changed since a revision
    ///
    /// A revision of git. Everything is still read, since a finding may rest on a file that did not change. What is not committed counts as
    /// changed. `main...` is where this branch left main.
    #[arg(long, value_name = "REV", conflicts_with_all = ["write_baseline", "prune_baseline"], help_heading = "Adoption")]
    pub since: Option<String>,
    /// The day of the run, for suppressions that end [default: today]
    ///
    /// Without it SOURCE_DATE_EPOCH says the day, else the clock, in UTC.
    #[arg(long, value_name = "DATE", value_parser = date, hide_short_help = true, help_heading = "Adoption")]
    pub today: Option<Date>,
}

/// Limits that are changed for one run.
#[derive(Clone, Debug, Default, Args)]
pub struct Limits {
    /// Amplification above which a path is reported [default: 4]
    ///
    /// How many requests one request may become at any service. More than error-amplification in retrylint.toml (10) is an
    /// error; a larger value here raises that too.
    #[arg(long, value_name = "N", value_parser = amplification, hide_short_help = true, help_heading = "Findings")]
    pub max_amplification: Option<f64>,
    /// Tries that one policy may make [default: 6]
    ///
    /// All tries, the first included.
    #[arg(long, value_name = "N", value_parser = tries, hide_short_help = true, help_heading = "Findings")]
    pub max_attempts: Option<u64>,
}

impl Limits {
    /// Puts them in the place of those that the settings say.
    pub fn apply(&self, limits: &mut retrylint::limits::Limits) {
        if let Some(tries) = self.max_attempts {
            limits.max_attempts = tries;
        }
        if let Some(times) = self.max_amplification {
            limits.max_amplification = times;
            // Whoever allows more than what is an error by default does not want an error below that either.
            limits.error_amplification = limits.error_amplification.max(times);
        }
    }
}

#[derive(Debug, Args)]
pub struct Init {
    /// The folder to look at
    #[arg(value_name = "PATH", default_value = ".", hide_default_value = true, value_hint = ValueHint::DirPath)]
    pub path: PathBuf,
    /// Print the file instead of writing it
    #[arg(long)]
    pub stdout: bool,
}

#[derive(Debug, Args)]
pub struct Config {
    /// Files and folders, from which the nearest retrylint.toml is looked for [default: .]
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
    /// The configuration file [default: the nearest retrylint.toml upwards]
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "isolated",
        value_hint = ValueHint::FilePath,
        help_heading = "Input"
    )]
    pub config: Option<PathBuf>,
    /// Without any configuration file
    #[arg(long, help_heading = "Input")]
    pub isolated: bool,
    #[command(flatten)]
    pub limits: Limits,
    /// How settings are printed
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Output")]
    pub format: ConfigFormat,
}

/// Formats of settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ConfigFormat {
    #[default]
    Text,
    Json,
}

#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// Write one page for each command into this folder instead of printing the main one
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub folder: Option<PathBuf>,
}

fn date(text: &str) -> Result<Date, String> {
    Date::parse(text).ok_or_else(|| format!("should be {DATE}"))
}
