//! Runs the program over a page's project.

use retrylint::facts::Confidence;
use retrylint::finding::Severity;
use retrylint::graph::{self, System};
use retrylint::limits::Limits;
use retrylint::rules::{self, Options};
use retrylint::scan::{ScanSettings, scan};

use super::page::Project;

/// A finding as the tests look at it.
#[derive(Debug)]
pub struct Found {
    /// Path of the primary place, relative to the project.
    pub path: String,
    /// Its line, from 1.
    pub line: usize,
    pub severity: Severity,
    pub confidence: Confidence,
    pub message: String,
    pub labels: Vec<String>,
    pub notes: Vec<String>,
    pub help: Option<String>,
    pub pedantic: bool,
}

/// What one rule finds in a project, suppressed findings left out.
pub fn findings(rule: &str, project: &Project) -> Vec<Found> {
    let folder =
        std::env::temp_dir().join(format!("retrylint-pages-{}-{:?}", std::process::id(), std::thread::current().id()));
    let _ = std::fs::remove_dir_all(&folder);
    for (path, text) in &project.files {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let settings = ScanSettings { paths: vec![folder.clone()], base: Some(folder.clone()), ..ScanSettings::default() };
    let scan = scan(&settings).unwrap();
    let limits = Limits::default();
    let systems: Vec<System> = graph::link::environments(&scan.facts)
        .into_iter()
        .map(|environment| System::new(&scan.facts, &limits, graph::link::link(&scan.facts, environment)))
        .collect();
    let found = rules::check(&systems, Options::default());
    std::fs::remove_dir_all(&folder).unwrap();
    let show = |finding: &retrylint::finding::Finding| {
        let primary = finding.primary().unwrap();
        let source = scan.sources.get(primary.span.file).unwrap();
        let base = folder.to_string_lossy().into_owned();
        Found {
            path: source.path.trim_start_matches(&base).trim_start_matches('/').to_owned(),
            line: source.position(primary.span.start).line as usize,
            severity: finding.severity,
            confidence: finding.confidence,
            message: finding.message.clone(),
            labels: finding.labels.iter().map(|label| label.text.clone()).filter(|text| !text.is_empty()).collect(),
            notes: finding.notes.clone(),
            help: finding.help.clone(),
            pedantic: finding.pedantic,
        }
    };
    found.iter().filter(|finding| finding.rule == rule && finding.suppressed.is_none()).map(show).collect()
}
