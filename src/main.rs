//! Arguments in, exit code out.

mod cli;
mod commands;

use std::process::ExitCode;

use clap::Parser;

use cli::{Cli, Command};

fn main() -> ExitCode {
    let result = match Cli::parse().into_command() {
        Command::Check(args) => commands::check::run(&args),
        Command::Policies(args) => commands::policies::run(&args),
        Command::Graph(args) => commands::graph::run(&args),
        Command::Facts(args) => commands::facts::run(&args),
        Command::Explain(args) => commands::explain::run(&args),
        Command::Rules(args) => commands::rules::run(&args),
        Command::Init(args) => commands::init::run(&args),
        Command::Config(args) => commands::config::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(failure) => {
            failure.print();
            ExitCode::from(2)
        }
    }
}
