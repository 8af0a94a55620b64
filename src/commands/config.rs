//! `retrylint config`: the settings in force, and where each comes from.

use retrylint::config::Config;
use retrylint::report::settings::{self, From, Shown};

use super::options;
use super::{Failure, screen};
use crate::cli::{self, ConfigFormat};

/// Prints them.
pub fn run(args: &cli::Config) -> Result<bool, Failure> {
    let config = options::settings(&args.paths, args.config.as_ref(), args.isolated)?;
    let shown = shown(&config, &args.limits);
    screen::tell_unmatched(&config.unmatched(&args.paths));
    match args.format {
        ConfigFormat::Text => screen::print(&settings::text(&shown))?,
        ConfigFormat::Json => screen::print_raw(&settings::json(&config, &shown))?,
    }
    Ok(true)
}

fn shown(config: &Config, limits: &cli::Limits) -> Vec<Shown> {
    let sources = config.sources();
    let mut all: Vec<Shown> = config
        .settings()
        .into_iter()
        .map(|setting| {
            let place = setting.written.and_then(|at| Some((sources.get(at.layer)?, at.span)));
            let from = place.map_or(From::Default, |(source, span)| From::File {
                path: source.path.to_string(),
                line: source.position(span.start).line,
            });
            Shown { setting, from }
        })
        .collect();
    let mut in_force = config.limits.clone();
    limits.apply(&mut in_force);
    let mut change = |key: &str, option: &'static str, value: String| {
        if let Some(one) = all.iter_mut().find(|one| one.setting.table == "limits" && one.setting.key == key) {
            one.setting.value = value;
            one.from = From::CommandLine(option);
        }
    };
    if limits.max_attempts.is_some() {
        change("max-attempts", "--max-attempts", in_force.max_attempts.to_string());
    }
    if limits.max_amplification.is_some() {
        change("max-amplification", "--max-amplification", in_force.max_amplification.to_string());
        if in_force.error_amplification > config.limits.error_amplification {
            change("error-amplification", "--max-amplification", in_force.error_amplification.to_string());
        }
    }
    all
}
