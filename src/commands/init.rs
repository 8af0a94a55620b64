//! `retrylint init`: a commented retrylint.toml for a repository.

use std::io::{ErrorKind, Write};
use std::path::Path;

use retrylint::config::{self, Config, FILE_NAME};
use retrylint::facts::words::in_words;
use retrylint::init;
use retrylint::pipeline::{self, Options};

use super::{Failure, screen};
use crate::cli::Init;

/// Looks at the folder and writes the file, never over one that is there.
pub fn run(args: &Init) -> Result<bool, Failure> {
    let shown = args.path.join(FILE_NAME);
    let shown = shown.strip_prefix(".").unwrap_or(&shown).display().to_string();
    // Paths in the file start at its folder, and so does everything that is found from here on.
    std::env::set_current_dir(&args.path).map_err(|error| {
        let message = format!("cannot look at {}: {}", args.path.display(), in_words(&error));
        Failure::Said(message, Some("name the folder that the file should lie in".into()))
    })?;
    let path = Path::new(FILE_NAME);
    // Told before a long look at the folder, and once more by whoever writes.
    if !args.stdout && path.symlink_metadata().is_ok() {
        return Err(is_there(&shown));
    }
    let world = pipeline::read(&Options::new(Config::default()))?;
    let (text, services, environments) = init::settings(&world.facts, &world.systems());
    if args.stdout {
        screen::print_raw(&text)?;
        return Ok(true);
    }
    let outer = config::find(Path::new("."));
    let file = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => is_there(&shown),
        _ => {
            let help = "`--stdout` prints it instead".to_string();
            Failure::Said(format!("cannot write {shown}: {}", in_words(&error)), Some(help))
        }
    })?;
    let count = |n: usize, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    screen::say(&format!(
        "Wrote {shown} for {} and {}; every setting in it is commented out",
        count(services, "service", "services"),
        count(environments, "environment", "environments"),
    ));
    // It was looked for before the new file was there.
    if let Some(outer) = outer {
        screen::say(&format!(
            "note: {} no longer holds here; `extend` in the new file brings it back",
            outer.display()
        ));
    }
    Ok(true)
}

fn is_there(shown: &str) -> Failure {
    Failure::Said(
        format!("{shown} is there already and stays as it is"),
        Some("`retrylint init --stdout` prints a new one, `retrylint config` shows what the old one says".into()),
    )
}
