//! `retrylint facts`: the facts as one file, which is an input like any other.

use std::io::{BufWriter, Write};

use retrylint::facts::words::in_words;
use retrylint::pipeline;
use retrylint::report::facts;
use retrylint::scan::recorded;

use super::options::read;
use super::progress::Progress;
use super::{Failure, screen};
use crate::cli::Facts;

/// Writes it.
pub fn run(args: &Facts) -> Result<bool, Failure> {
    screen::choose(args.terminal.color);
    let options = read(&args.files)?;
    let progress = Progress::start(args.terminal);
    let mut gathered = pipeline::gather(&options)?;
    drop(progress);
    let unmatched = options.config.unmatched(&options.scan.paths);
    screen::tell_beside(&gathered.counts, &unmatched, &gathered.facts, args.terminal.quiet);
    let Some(path) = args.output.as_ref().filter(|path| path.as_os_str() != "-") else {
        screen::print_raw_with(|out| facts::write(&mut gathered, out))?;
        return Ok(true);
    };
    if std::fs::metadata(path).is_ok_and(|about| about.len() > 0) && !recorded::lies_at(path) {
        let said = format!("{} is there already, and is no file of facts", path.display());
        return Err(Failure::Said(said, Some("name another file, or remove it".to_string())));
    }
    let written = std::fs::File::create(path).and_then(|file| {
        let mut file = BufWriter::new(file);
        facts::write(&mut gathered, &mut file)?;
        file.flush()
    });
    written.map_err(|error| {
        let help = "name a file in a folder that is there and can be written to".to_string();
        Failure::Said(format!("cannot write the facts {}: {}", path.display(), in_words(&error)), Some(help))
    })?;
    Ok(true)
}
