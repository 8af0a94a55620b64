//! Files that have an end: opening a pipe would wait for whoever writes into it.

use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::path::Path;

/// Opens the regular file at `path`, through links.
///
/// # Errors
/// If it is not there, not readable, a folder, or a pipe, a socket or a device.
pub fn open(path: &Path) -> Result<File> {
    let found = std::fs::metadata(path)?;
    if found.is_dir() {
        return Err(ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "it is a pipe, a socket or a device, and no file"));
    }
    File::open(path)
}
