//! What the documentation says is so: commands say what is shown, quotes stand where they are quoted from, tables are those of
//! the program, links and paths lead somewhere, and walkthroughs work.
//!
//! Generated parts are rewritten by `RETRYLINT_DOCS=write cargo test --test documentation`.

mod fences;
mod links;
mod output;
mod tables;
mod walkthroughs;

use std::path::PathBuf;

fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The pages: those of the root, those below `docs`, the rules and the stories.
fn pages() -> Vec<String> {
    let mut pages = Vec::new();
    for folder in [".", "docs", "rules", "testdata/storm", "testdata/calm"] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path.to_str().unwrap().trim_start_matches("./").to_string());
            }
        }
    }
    pages.sort();
    assert!(pages.iter().any(|page| page == "README.md") && pages.len() > 30, "{pages:?}");
    pages
}

/// A folder of its own with these files, for whoever asks to remove.
fn folder(name: &str, files: &[(&str, String)]) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("retrylint-{name}-{}", std::process::id()));
    for (path, text) in files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}
