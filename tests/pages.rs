//! The rule catalogue is its own test: every page's fences are little projects, run through the whole program, and what it
//! finds must be exactly what the page marks.
//!
//! Under `## Bad`, `## Good` and `## Near misses`, fences with `file=<path>` make one project per heading. `#~ text` or
//! `//~ text` marks the line that a finding of the page's rule starts on, with a part of its message; where comments are
//! impossible, a fence of `path:line: text` lines called `findings` says the same. What only `--pedantic` shows may be
//! marked and need not be.

mod pages {
    pub mod page;
    pub mod run;
    pub mod wording;
}

use pages::page::{Page, Project};
use pages::run;
use retrylint::rules::{ALL, Rule};

fn pages() -> impl Iterator<Item = (&'static Rule, Page)> {
    ALL.iter().map(|rule| (rule, Page::parse(rule.page)))
}

/// What differs between the marks of a project and what is found in it; empty if nothing does.
fn differences(rule: &str, project: &Project) -> Vec<String> {
    let found = run::findings(rule, project);
    let mut out = Vec::new();
    for mark in &project.marks {
        let is_met = found.iter().any(|finding| {
            finding.path == mark.path && finding.line == mark.line && finding.message.contains(&*mark.text)
        });
        if !is_met {
            out.push(format!("  missing  {}:{}: {}", mark.path, mark.line, mark.text));
        }
    }
    for finding in &found {
        let is_marked = project.marks.iter().any(|mark| {
            finding.path == mark.path && finding.line == mark.line && finding.message.contains(&*mark.text)
        });
        if !is_marked && !finding.pedantic {
            out.push(format!("  unmarked {}:{}: {}", finding.path, finding.line, finding.message));
        }
    }
    out
}

#[test]
fn every_page_finds_exactly_what_it_marks() {
    let mut report = String::new();
    for (rule, page) in pages() {
        for project in &page.projects {
            let differences = differences(rule.id, project);
            if !differences.is_empty() {
                report.push_str(&format!("rules/{}.md, {}:\n{}\n", rule.id, project.heading, differences.join("\n")));
            }
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
fn every_page_has_a_marked_bad_a_good_and_a_near_miss() {
    for (rule, page) in pages() {
        let project = |heading: &str| {
            page.projects
                .iter()
                .find(|project| project.heading == heading)
                .unwrap_or_else(|| panic!("rules/{}.md has no fences under `## {heading}`", rule.id))
        };
        assert!(!project("Bad").marks.is_empty(), "rules/{}.md: its Bad marks nothing", rule.id);
        assert!(project("Good").marks.is_empty(), "rules/{}.md: its Good is marked", rule.id);
        assert!(!project("Near misses").files.is_empty(), "rules/{}.md", rule.id);
        assert!(page.headings.iter().any(|heading| heading == "When to ignore it"), "rules/{}.md", rule.id);
        assert!(!page.intro.trim().is_empty(), "rules/{}.md says nothing before its examples", rule.id);
    }
}

#[test]
fn pages_and_checks_are_paired() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let names = |folder: &str, ending: &str| -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(root.join(folder))
            .unwrap()
            .filter_map(|entry| {
                entry.unwrap().file_name().to_str()?.strip_suffix(ending).map(|name| name.replace('_', "-"))
            })
            .collect();
        names.sort();
        names
    };
    let ids: Vec<&str> = ALL.iter().map(|rule| rule.id).collect();
    assert_eq!(names("rules", ".md"), ids, "every page is in the list of rules, and nothing else is");
    let sources = names("src/rules", ".rs");
    for id in ids {
        assert!(sources.iter().any(|source| source == id), "src/rules/{} is missing", id.replace('-', "_"));
    }
}

#[test]
fn messages_follow_the_wording_style() {
    let mut report = String::new();
    for (rule, page) in pages() {
        for complaint in pages::wording::of_summary(&rule.meta().summary) {
            report.push_str(&format!("rules/{}.md: {complaint}\n", rule.id));
        }
        for project in &page.projects {
            for finding in run::findings(rule.id, project) {
                for complaint in pages::wording::of_finding(&finding) {
                    report.push_str(&format!("rules/{}.md, {}: {complaint}\n", rule.id, project.heading));
                }
            }
        }
    }
    assert!(report.is_empty(), "\n{report}");
}
