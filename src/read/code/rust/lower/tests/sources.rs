//! Real sources: nothing panics, and what comes out is a tree.

use std::path::{Path, PathBuf};

use crate::read::code::fixture::faults;
use crate::read::code::rust::lower::read_whole;
use crate::source::FileId;

/// How many files are read; `RETRYLINT_SOURCE_FILES` says another number.
const FILES: usize = 60;

/// The crates that Cargo has fetched; `RETRYLINT_SOURCES` says another folder.
fn folder() -> Option<PathBuf> {
    let var = |name| std::env::var_os(name).map(PathBuf::from);
    let home = || var("CARGO_HOME").or_else(|| Some(var("HOME")?.join(".cargo")));
    var("RETRYLINT_SOURCES").or_else(|| Some(home()?.join("registry/src")))
}

#[test]
fn sources_become_trees() {
    let Some(folder) = folder() else { return };
    let is_rust = |path: &Path| path.extension().is_some_and(|end| end == "rs");
    let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    let files: Vec<_> = files.filter(|file| is_rust(file.path())).collect();
    let count = std::env::var("RETRYLINT_SOURCE_FILES").ok().and_then(|count| count.parse().ok()).unwrap_or(FILES);
    let every = files.len().div_ceil(count).max(1);
    let read = std::thread::Builder::new().stack_size(64 << 20).spawn(move || {
        let mut wrong = Vec::new();
        let mut slowest = (std::time::Duration::ZERO, String::new());
        for file in files.into_iter().step_by(every) {
            let Ok(text) = std::fs::read_to_string(file.path()) else { continue };
            let start = std::time::Instant::now();
            let Ok(unit) = read_whole(FileId(0), &text, "crate", None) else { continue };
            slowest = slowest.max((start.elapsed(), file.path().display().to_string()));
            let fault = faults(&unit).into_iter().next();
            wrong.extend(fault.map(|fault| format!("{}: {fault}", file.path().display())));
            proc_macro2::extra::invalidate_current_thread_spans();
        }
        println!("slowest: {slowest:?}");
        wrong
    });
    let wrong = read.expect("a thread starts").join().expect("no file panics");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
