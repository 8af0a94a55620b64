//! `retrylint man`: the manual page, or one for each command, for whoever packages retrylint.

use clap::CommandFactory;
use retrylint::facts::words::in_words;

use super::{Failure, screen};
use crate::cli::{Cli, Man};

/// Prints or writes it.
pub fn run(args: &Man) -> Result<bool, Failure> {
    let command = Cli::command();
    let Some(folder) = &args.folder else {
        let page = clap_mangen::Man::new(command);
        screen::print_raw_with(|out| page.render(out))?;
        return Ok(true);
    };
    clap_mangen::generate_to(command, folder).map_err(|error| {
        let message = format!("cannot write manual pages to {}: {}", folder.display(), in_words(&error));
        Failure::Said(message, Some("name a folder that is there and can be written to".into()))
    })?;
    Ok(true)
}
