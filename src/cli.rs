//! The command line, nothing else.

mod adopt;
mod help;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use retrylint::facts::Class;
use retrylint::facts::words::list;
use retrylint::finding::Severity;
use retrylint::rules;
use retrylint::suggest::did_you_mean;

use help::{EXAMPLES, EXIT, MORE, TEMPLATE};

pub use adopt::{Adoption, Completions, Config, ConfigFormat, Init, Limits, Man};

/// Finds retry storms before they happen: what an outage would do
#[derive(Debug, Parser)]
#[command(
    name = "retrylint",
    version,
    before_help = EXAMPLES,
    after_help = EXIT,
    after_long_help = MORE,
    help_template = TEMPLATE,
    args_conflicts_with_subcommands = true,
    max_term_width = 100
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub check: Check,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Findings (what runs without a command)
    #[command(max_term_width = 100)]
    Check(Check),
    /// Every retry policy found, with its effective values
    #[command(max_term_width = 100)]
    Policies(Policies),
    /// The call graph with tries, deadlines and amplification
    #[command(max_term_width = 100)]
    Graph(Graph),
    /// The facts as one file, to be linked with other repositories'
    ///
    /// Such a file is an input like any other: `retrylint check payments.json checkout.json`.
    #[command(max_term_width = 100)]
    Facts(Facts),
    /// A rule's page
    #[command(max_term_width = 100)]
    Explain(Explain),
    /// The list of rules
    #[command(max_term_width = 100)]
    Rules(Rules),
    /// Write a commented retrylint.toml for this repository
    #[command(max_term_width = 100)]
    Init(Init),
    /// The settings in force, and where each comes from
    #[command(max_term_width = 100)]
    Config(Config),
    /// A completion script for a shell
    #[command(max_term_width = 100)]
    Completions(Completions),
    /// The manual page
    #[command(max_term_width = 100, hide = true)]
    Man(Man),
}

impl Cli {
    /// The command to run: `check` if none is named.
    pub fn into_command(self) -> Command {
        self.command.unwrap_or(Command::Check(self.check))
    }
}

#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    pub input: Input,

    /// How findings are printed
    ///
    /// The summary goes to standard error in every format.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Output")]
    pub format: Format,
    /// Also write a format to a file; may be repeated
    ///
    /// One analysis, several reports: --output sarif=retrylint.sarif --output junit=retrylint.xml. Each needs a file of its own
    /// in a folder that exists.
    #[arg(long, value_parser = output, value_name = "FORMAT=FILE", help_heading = "Output")]
    pub output: Vec<(Format, PathBuf)>,
    /// Name of the analysis in SARIF
    ///
    /// Code scanning keeps the results of one name apart from those of another: needed where a repository is checked in
    /// several runs.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "retrylint/",
        hide_default_value = true,
        hide_short_help = true,
        help_heading = "Output"
    )]
    pub sarif_category: String,
    /// Keep suppressed findings in SARIF, marked
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    pub sarif_include_suppressed: bool,

    /// Only these rules
    ///
    /// Shown with their opinionated findings, as with --pedantic. What is left out is counted in the summary.
    #[arg(long, value_delimiter = ',', value_parser = rule, value_name = "RULE,…", help_heading = "Findings")]
    pub select: Vec<String>,
    /// Not these rules
    ///
    /// What is left out is counted in the summary. For good, write it under [rules] in retrylint.toml.
    #[arg(long, value_delimiter = ',', value_parser = rule, value_name = "RULE,…", help_heading = "Findings")]
    pub ignore: Vec<String>,
    /// Opinionated advice and findings of low confidence too
    ///
    /// Without it they are counted in the summary and do not change the exit status.
    #[arg(long, help_heading = "Findings")]
    pub pedantic: bool,
    /// Exit with 1 from this level on [default: warning]
    ///
    /// error, warning, note or never.
    #[arg(
        long,
        value_enum,
        default_value_t,
        hide_default_value = true,
        hide_possible_values = true,
        value_name = "LEVEL",
        help_heading = "Findings"
    )]
    pub fail_on: FailOn,
    #[command(flatten)]
    pub limits: Limits,

    #[command(flatten)]
    pub adoption: Adoption,

    #[command(flatten)]
    pub terminal: Terminal,
}

#[derive(Debug, Args)]
pub struct Policies {
    #[command(flatten)]
    pub input: Input,
    /// How policies are printed
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Output")]
    pub format: TableFormat,
    #[command(flatten)]
    pub terminal: Terminal,
}

#[derive(Debug, Args)]
pub struct Graph {
    #[command(flatten)]
    pub input: Input,
    /// How the graph is printed
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT", help_heading = "Output")]
    pub format: GraphFormat,
    /// Tries for this failure: connect, overload, 503, UNAVAILABLE …
    ///
    /// Services, paths and calls are counted as if every failure were of this class; without it each shows the class that is
    /// worst for it. Of connect and unsent nothing arrives at a service: the numbers are connection attempts.
    #[arg(long, value_parser = class, value_name = "CLASS", help_heading = "Output")]
    pub class: Option<Class>,
    /// Only what lies on a way from one service to another
    #[arg(long, value_parser = ends, value_name = "FROM..TO", conflicts_with = "around", help_heading = "Output")]
    pub path: Option<(String, String)>,
    /// Only a service, its callers and its callees
    #[arg(long, value_name = "SERVICE", help_heading = "Output")]
    pub around: Option<String>,
    #[command(flatten)]
    pub terminal: Terminal,
}

#[derive(Debug, Args)]
pub struct Facts {
    #[command(flatten)]
    pub files: Files,
    /// Write them to a file instead of standard output
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub terminal: Terminal,
}

#[derive(Debug, Args)]
pub struct Explain {
    /// The rule's id; `retrylint rules` lists them
    #[arg(value_name = "RULE")]
    pub rule: Option<String>,
}

#[derive(Debug, Args)]
pub struct Rules {
    #[command(flatten)]
    pub terminal: Terminal,
}

/// What is read, and which part of it is looked at.
#[derive(Debug, Args)]
pub struct Input {
    #[command(flatten)]
    pub files: Files,
    /// Only this environment (prod, staging …)
    ///
    /// Environments come from paths (overlays/prod, values-prod.yaml) and from [[environment]] in retrylint.toml. Each is a
    /// system of its own.
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    pub environment: Option<String>,
}

/// What is read.
#[derive(Debug, Args)]
pub struct Files {
    /// Files and folders; - is standard input [default: .]
    ///
    /// A file that is named is read where it holds what is known here, even if its name does not say so; each file is read
    /// once, whatever paths lead to it. What `retrylint facts` wrote is read as what it was written of.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The configuration file
    ///
    /// Without it, the nearest retrylint.toml upwards from the first path.
    #[arg(long, value_name = "FILE", conflicts_with = "isolated", help_heading = "Input")]
    pub config: Option<PathBuf>,
    /// Without any configuration file
    #[arg(long, hide_short_help = true, help_heading = "Input")]
    pub isolated: bool,
    /// Test code too
    ///
    /// Files below tests, testdata, fixtures and the like are left out, unless they are named.
    #[arg(long, help_heading = "Input")]
    pub include_tests: bool,
    /// The name that standard input goes by
    #[arg(long, value_name = "NAME", hide_short_help = true, help_heading = "Input")]
    pub stdin_filename: Option<String>,
    /// Threads [default: one per core]
    #[arg(
        long,
        value_name = "N",
        default_value_t = 0,
        hide_default_value = true,
        hide_short_help = true,
        help_heading = "Input"
    )]
    pub threads: usize,
}

/// What is seen besides the result.
#[derive(Clone, Copy, Debug, Args)]
pub struct Terminal {
    /// Colours: auto, always or never (NO_COLOR and CLICOLOR_FORCE are heard)
    #[arg(
        long,
        value_enum,
        default_value_t,
        hide_default_value = true,
        hide_possible_values = true,
        value_name = "WHEN",
        hide_short_help = true,
        help_heading = "Terminal"
    )]
    pub color: Color,
    /// No summary
    #[arg(long, short, hide_short_help = true, help_heading = "Terminal")]
    pub quiet: bool,
    /// Suppressed findings too
    #[arg(long, short, conflicts_with = "quiet", hide_short_help = true, help_heading = "Terminal")]
    pub verbose: bool,
    /// No progress line
    #[arg(long, hide_short_help = true, help_heading = "Terminal")]
    pub no_progress: bool,
}

/// Formats of findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people: each place in its file, and what to do
    #[default]
    Full,
    /// A line for each finding, for editors and grep
    Concise,
    /// Everything, for programs
    Json,
    /// The same, a finding a line; the last line is the summary
    Jsonl,
    /// For code scanning
    Sarif,
    /// Annotations in a GitHub workflow
    Github,
    /// GitLab's code quality report
    Gitlab,
    /// A test report: GitLab, Jenkins and others
    Junit,
    /// For a job's summary or a comment
    Markdown,
}

/// Formats of policies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum TableFormat {
    #[default]
    Table,
    Json,
}

/// Formats of the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum GraphFormat {
    #[default]
    Text,
    Dot,
    Json,
}

/// The level from which on a run fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    Error,
    #[default]
    Warning,
    Note,
    Never,
}

impl FailOn {
    /// The level; none for never.
    pub fn level(self) -> Option<Severity> {
        match self {
            FailOn::Error => Some(Severity::Error),
            FailOn::Warning => Some(Severity::Warning),
            FailOn::Note => Some(Severity::Note),
            FailOn::Never => None,
        }
    }
}

/// When colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

fn rule(id: &str) -> Result<String, String> {
    match rules::find(id) {
        Some(rule) => Ok(rule.id.to_string()),
        None => Err(unknown_rule(id)),
    }
}

/// What is said about an id that no rule has.
pub fn unknown_rule(id: &str) -> String {
    let ids = || rules::ALL.iter().map(|rule| rule.id);
    // A part of a name is as good as a misspelt one, if it is a part of one name only.
    let part = || {
        let mut with_part = ids().filter(|whole| id.len() > 3 && whole.contains(id));
        with_part.next().filter(|_| with_part.next().is_none())
    };
    let nearest = did_you_mean(id, ids()).or_else(part);
    let hint = nearest.map_or_else(|| "`retrylint rules` lists them".into(), |id| format!("did you mean `{id}`?"));
    format!("no rule is called `{}`; {hint}", retrylint::report::text::line(id))
}

fn output(text: &str) -> Result<(Format, PathBuf), String> {
    let (format, file) = text.split_once('=').ok_or("write it as FORMAT=FILE, for example `sarif=retrylint.sarif`")?;
    if file.is_empty() {
        return Err("the file is missing behind `=`".into());
    }
    if file == "-" {
        return Err("`-` is no file: what goes to standard output is chosen with --format".into());
    }
    Format::from_str(format, false).map(|format| (format, PathBuf::from(file))).map_err(|_| {
        let values: Vec<_> = Format::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect();
        let names: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
        let nearest = did_you_mean(format, names.iter().copied());
        let hint =
            nearest.map_or_else(|| format!("there are {}", list(&names)), |name| format!("did you mean `{name}`?"));
        format!("no format is called `{}`; {hint}", retrylint::report::text::line(format))
    })
}

fn class(text: &str) -> Result<Class, String> {
    Class::parse(text).ok_or_else(|| {
        let nearest = did_you_mean(text, Class::ALL.iter().map(|class| class.name()));
        let hint = nearest.map_or_else(
            || {
                let names: Vec<&str> = Class::ALL.iter().map(|class| class.name()).collect();
                format!("there are {}, HTTP statuses from 400 on and gRPC codes", list(&names))
            },
            |name| format!("did you mean `{name}`?"),
        );
        format!("no failure class is called `{text}`; {hint}")
    })
}

fn ends(text: &str) -> Result<(String, String), String> {
    match text.split_once("..") {
        Some((from, to)) if !from.is_empty() && !to.is_empty() => Ok((from.to_string(), to.to_string())),
        _ => Err("write it as FROM..TO, for example `web..ledger`".into()),
    }
}

fn tries(text: &str) -> Result<u64, String> {
    text.parse().ok().filter(|tries| *tries > 0).ok_or_else(|| "must be a whole number from 1 on".into())
}

fn amplification(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 1.0 => Ok(value),
        _ => Err("must be a number from 1 on".into()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_hold_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_fits_a_hundred_columns_with_examples_first() {
        let mut command = Cli::command();
        let names: Vec<String> = command.get_subcommands().map(|sub| sub.get_name().to_string()).collect();
        let mut helps = vec![command.render_help().to_string()];
        for name in names {
            let sub = command.find_subcommand_mut(&name).unwrap();
            helps.push(sub.render_help().to_string());
        }
        for help in &helps {
            assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
        }
        assert!(helps[0].starts_with("Examples:"), "{}", helps[0]);
    }

    #[test]
    fn long_help_explains_what_the_short_one_lists_on_a_screen() {
        let mut command = Cli::command();
        let (short, long) = (command.render_help().to_string(), command.render_long_help().to_string());
        // Half a hundred lines are what a tall terminal shows.
        assert!(short.lines().count() <= 60, "{}", short.lines().count());
        assert!(long.starts_with("Examples:") && long.len() > short.len());
        for heading in ["Exit status:", "Configuration:", "Environment variables:"] {
            assert!(long.contains(&format!("\n{heading}\n")), "{heading}");
        }
        // Every key that there is, so that the help does not fall behind.
        use retrylint::config::keys::{LIMITS, SCAN, TOP};
        for key in [&LIMITS, &SCAN, &TOP].into_iter().flat_map(|table| table.keys()) {
            assert!(long.contains(key.name), "{}", key.name);
        }
        for name in ["NO_COLOR", "CLICOLOR_FORCE", "COLUMNS", "SOURCE_DATE_EPOCH"] {
            assert!(long.contains(name), "{name}");
        }
        let wide: Vec<&str> = long.lines().filter(|line| line.chars().count() > 100).collect();
        assert!(wide.is_empty(), "{wide:?}");
    }

    #[test]
    fn misspelt_names_are_met_with_the_nearest() {
        assert_eq!(
            rule("unreadable-fiel").unwrap_err(),
            "no rule is called `unreadable-fiel`; did you mean `unreadable-file`?"
        );
        assert!(unknown_rule("amplification").ends_with("did you mean `retry-amplification`?"));
        assert!(unknown_rule("missing").ends_with("`retrylint rules` lists them"));
        assert!(unknown_rule("fi").ends_with("`retrylint rules` lists them"));
        assert_eq!(tries("0").unwrap_err(), "must be a whole number from 1 on");
        assert!(output("sarfi=x").unwrap_err().ends_with("did you mean `sarif`?"));
        assert!(output("junti=x").unwrap_err().ends_with("did you mean `junit`?"));
        assert_eq!(
            output("xyz=x").unwrap_err(),
            "no format is called `xyz`; there are full, concise, json, jsonl, sarif, github, gitlab, junit and markdown"
        );
        assert_eq!(output("json=./-"), Ok((Format::Json, PathBuf::from("./-"))));
        assert!(output("json=-").is_err() && output("json=").is_err() && output("json").is_err());
        assert!(class("overlaod").unwrap_err().ends_with("did you mean `overload`?"));
        assert_eq!(class("503"), Ok(Class::Overload));
        assert!(ends("web..").is_err());
        assert_eq!(ends("web..ledger"), Ok(("web".into(), "ledger".into())));
        assert!(amplification("0.5").is_err());
    }
}
