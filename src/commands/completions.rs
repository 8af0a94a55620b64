//! `retrylint completions`: a completion script for a shell.

use clap::CommandFactory;

use super::{Failure, screen};
use crate::cli::{Cli, Completions};

/// Prints it.
pub fn run(args: &Completions) -> Result<bool, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "retrylint", &mut script);
    screen::print_raw_with(|out| out.write_all(&script))?;
    Ok(true)
}
