//! Why a command could not do its job: said on standard error, with what to try.

use retrylint::config::LoadError;
use retrylint::facts::words::in_words;
use retrylint::finding::{Finding, Severity};
use retrylint::pipeline;
use retrylint::report::graph::UnknownService;
use retrylint::report::paint::{Paint, Tone};
use retrylint::report::{Look, snippet, text};
use retrylint::scan::ScanError;
use retrylint::source::Sources;
use retrylint::suggest::did_you_mean;

use super::screen;

/// What was wrong with the command line, the settings or a path.
#[derive(Debug)]
pub enum Failure {
    /// A sentence, and what would help.
    Said(String, Option<String>),
    /// retrylint.toml cannot be used.
    Settings(LoadError),
}

impl From<pipeline::Failure> for Failure {
    fn from(failure: pipeline::Failure) -> Self {
        let message = failure.to_string();
        match failure {
            pipeline::Failure::Environment { help, .. } => Failure::Said(message, Some(help)),
            pipeline::Failure::Scan(error) => Failure::Said(message, help_for(&error)),
        }
    }
}

/// A path that is not there may be a command that is misspelt, or that there is not.
fn help_for(error: &ScanError) -> Option<String> {
    let (path, message) = match error {
        ScanError::Path { path, message } => (path, message),
        ScanError::Facts { .. } => return Some("write them anew: `retrylint facts` of this version".to_owned()),
        ScanError::Glob { .. } | ScanError::Threads(_) => return None,
    };
    if *message == in_words(&std::io::ErrorKind::PermissionDenied.into()) {
        return Some("let whoever runs retrylint enter the folders above it".to_owned());
    }
    let commands = ["check", "policies", "graph", "facts", "explain", "rules", "init", "config", "completions", "help"];
    if let Some(command) = did_you_mean(path, commands) {
        return Some(format!("for the command, write `retrylint {command}`"));
    }
    let is_word = !path.is_empty() && path.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    is_word.then(|| "nor is there a command of that name; `retrylint --help` lists them".to_owned())
}

impl From<UnknownService> for Failure {
    fn from(unknown: UnknownService) -> Self {
        let help = match &unknown.nearest {
            Some(name) => format!("did you mean `{name}`?"),
            None => "`retrylint graph` shows all of them".to_string(),
        };
        Failure::Said(unknown.to_string(), Some(help))
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        Failure::Settings(error)
    }
}

impl Failure {
    /// Says it on standard error.
    pub fn print(&self) {
        screen::print_to_stderr(&self.text(screen::stderr_look()));
    }

    fn text(&self, look: Look) -> String {
        match self {
            Failure::Said(message, help) => said(message, help.as_deref(), look),
            Failure::Settings(LoadError::Invalid { source_file, errors }) => {
                let text = source_file.text().cloned().unwrap_or_else(|| "".into());
                let copy = retrylint::source::Source::new(source_file.path.clone(), text);
                let (sources, file) = Sources::default().with(copy);
                let mut out = String::new();
                for error in errors {
                    let mut span = error.span;
                    span.file = file;
                    out.push_str(&head(&error.message, look));
                    out.push_str(&snippet::draw(
                        &Finding::new("", Severity::Error, span, String::new()),
                        &sources,
                        look,
                    ));
                    out.push_str(&help(error.help.as_deref(), look));
                }
                out
            }
            Failure::Settings(error @ LoadError::Unreadable { .. }) => {
                said(&error.to_string(), Some("`--isolated` runs without any"), look)
            }
        }
    }
}

fn said(message: &str, hint: Option<&str>, look: Look) -> String {
    format!("{}{}", head(message, look), help(hint, look))
}

fn head(message: &str, look: Look) -> String {
    let error = Paint(look.colour).tone(Tone::Error, "error");
    format!("{error}: {}\n", screen::fitted(&text::line(message), 7))
}

fn help(hint: Option<&str>, look: Look) -> String {
    hint.map_or_else(String::new, |hint| {
        let help = Paint(look.colour).tone(Tone::Help, "help:");
        format!("  {help} {}\n", screen::fitted(&text::line(hint), 8))
    })
}
