//! Runs the program over a page's project.

use std::sync::atomic::{AtomicUsize, Ordering};

use retrylint::finding::Finding;
use retrylint::pipeline::{Options, analyse_dir};

use super::page::Project;

/// A finding as the tests look at it.
#[derive(Debug)]
pub struct Found {
    /// Path of the primary place, relative to the project.
    pub path: String,
    /// Its line, from 1.
    pub line: usize,
    pub message: String,
    pub labels: Vec<String>,
    pub notes: Vec<String>,
    pub help: Option<String>,
    pub pedantic: bool,
}

/// What one rule finds in a project, suppressed findings left out.
pub fn findings(rule: &str, project: &Project) -> Vec<Found> {
    static FOLDERS: AtomicUsize = AtomicUsize::new(0);
    let name = format!("retrylint-page-{}-{}", std::process::id(), FOLDERS.fetch_add(1, Ordering::Relaxed));
    let folder = std::env::temp_dir().join(name);
    for (path, text) in &project.files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut options = Options::default();
    options.scan.base = Some(folder.clone());
    let analysis = analyse_dir(&folder, &options).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();

    let base = format!("{}/", folder.display());
    let show = |finding: &Finding| {
        let primary = finding.primary().unwrap();
        let source = analysis.world.sources.get(primary.span.file).unwrap();
        Found {
            path: source.path.strip_prefix(&base).unwrap_or(&source.path).to_owned(),
            line: source.position(primary.span.start).line as usize,
            message: finding.message.clone(),
            labels: finding.labels.iter().map(|label| label.text.clone()).filter(|text| !text.is_empty()).collect(),
            notes: finding.notes.clone(),
            help: finding.help.clone(),
            pedantic: finding.pedantic,
        }
    };
    analysis.findings.iter().filter(|finding| finding.rule == rule && finding.suppressed.is_none()).map(show).collect()
}
