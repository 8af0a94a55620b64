//! Where a run of `check` writes what: one format to standard output, and one to each file that `--output` names.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use retrylint::facts::words::in_words;
use retrylint::report::{Look, Report, concise, full, github, gitlab, json, jsonl, junit, markdown, sarif};
use retrylint::repository::Repository;

use super::{Failure, screen};
use crate::cli::{Check, Format};

/// Finds out before anything is read whether the files of `--output` can be written, and each by one format only.
pub fn check_files(outputs: &[(Format, PathBuf)]) -> Result<(), Failure> {
    let mut seen: Vec<(PathBuf, Format)> = Vec::new();
    for (format, file) in outputs {
        let shown = file.display();
        if file.is_dir() {
            let example = file.join(format!("retrylint.{}", name(*format)));
            return Err(Failure::Said(
                format!("cannot write {shown}: it is a folder"),
                Some(format!("name a file in it: `--output {}={}`", name(*format), example.display())),
            ));
        }
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if !folder.is_dir() {
            return Err(Failure::Said(
                format!("cannot write {shown}: there is no folder {}", folder.display()),
                Some(format!("make it first: `mkdir -p {}`", folder.display())),
            ));
        }
        let file = one_name(folder, file);
        if let Some((_, other)) = seen.iter().find(|(seen, _)| *seen == file) {
            return Err(Failure::Said(
                format!("two outputs go to {shown}: {} and {}", name(*other), name(*format)),
                Some("give each `--output` a file of its own".into()),
            ));
        }
        seen.push((file, *format));
    }
    Ok(())
}

/// The one name of a file that may be written in several ways.
fn one_name(folder: &Path, file: &Path) -> PathBuf {
    let in_folder = || Some(folder.canonicalize().ok()?.join(file.file_name()?));
    file.canonicalize().ok().or_else(in_folder).unwrap_or_else(|| file.to_path_buf())
}

/// Writes all files, then standard output.
pub fn write(report: &Report<'_>, args: &Check) -> Result<(), Failure> {
    let repository = Repository::around(Path::new("."));
    for (format, file) in &args.output {
        let text = render(*format, report, args, Look::PLAIN, &repository);
        std::fs::write(file, text).map_err(|error| {
            let help = "name a file that may be written with `--output`";
            Failure::Said(format!("cannot write {}: {}", file.display(), in_words(&error)), Some(help.into()))
        })?;
    }
    let text = render(args.format, report, args, screen::stdout_look(), &repository);
    match args.format {
        Format::Full | Format::Concise => screen::print(&text),
        _ => screen::print_raw(&text),
    }
}

fn render(format: Format, report: &Report<'_>, args: &Check, look: Look, repository: &Repository) -> String {
    let locate = |path: &str| repository.path(path);
    match format {
        Format::Full => full::render(report, look),
        Format::Concise => concise::render(report, look),
        Format::Json => json::render(report),
        Format::Jsonl => jsonl::render(report),
        Format::Sarif => sarif::render(
            report,
            &sarif::Options {
                category: &args.sarif_category,
                include_suppressed: args.sarif_include_suppressed,
                locate: &locate,
            },
        ),
        Format::Github => github::render(report, &locate),
        Format::Gitlab => gitlab::render(report, &locate),
        Format::Junit => junit::render(report, args.fail_on.level(), &locate),
        Format::Markdown => markdown::render(report, &locate),
    }
}

/// What a format is called on the command line.
fn name(format: Format) -> String {
    format.to_possible_value().map_or_else(String::new, |value| value.get_name().to_string())
}
