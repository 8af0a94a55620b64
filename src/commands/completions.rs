//! `retrylint completions`: a completion script for a shell.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, CommandFactory, ValueEnum};
use retrylint::facts::Class;
use retrylint::rules;

use super::{Failure, screen};
use crate::cli::{Cli, Completions, Format};

/// Prints it.
pub fn run(args: &Completions) -> Result<bool, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut with_names(Cli::command()), "retrylint", &mut script);
    screen::print_raw_with(|out| out.write_all(&script))?;
    Ok(true)
}

/// The command line with the names that may stand behind its options. Only a shell is told them: a help or an error that
/// lists dozens of names helps nobody.
fn with_names(command: Command) -> Command {
    command.mut_args(named).mut_subcommands(with_names)
}

fn named(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "select" | "ignore" | "rule" => {
            arg.value_parser(PossibleValuesParser::new(rules::ALL.iter().map(|rule| rule.id)))
        }
        "class" => arg.value_parser(PossibleValuesParser::new(Class::ALL.iter().map(|class| class.name()))),
        // The file behind it, the shell cannot know.
        "output" => arg.value_parser(PossibleValuesParser::new(Format::value_variants().iter().map(begun))),
        _ => arg,
    }
}

/// How a value of `--output` begins.
fn begun(format: &Format) -> &'static str {
    match format {
        Format::Full => "full=",
        Format::Concise => "concise=",
        Format::Json => "json=",
        Format::Jsonl => "jsonl=",
        Format::Sarif => "sarif=",
        Format::Github => "github=",
        Format::Gitlab => "gitlab=",
        Format::Junit => "junit=",
        Format::Markdown => "markdown=",
    }
}
