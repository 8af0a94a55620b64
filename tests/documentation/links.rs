//! Links within the repository lead somewhere.

use std::path::{Component, Path, PathBuf};

use crate::{pages, read};

/// Targets of a page's links, code left out.
fn links(page: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut in_fence = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        }
        if in_fence {
            continue;
        }
        let mut rest = line;
        while let Some((_, behind)) = rest.split_once("](") {
            let Some((target, after)) = behind.split_once(')') else { break };
            all.push(target.to_string());
            rest = after;
        }
    }
    all
}

/// What a heading is called in links.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn anchors(page: &str) -> Vec<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect()
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(plain.pop(), "{} leaves the repository", path.display()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[test]
fn every_link_leads_somewhere() {
    let mut checked = 0;
    let mut dead = Vec::new();
    for path in pages() {
        let page = read(&path);
        for link in links(&page).into_iter().filter(|link| !link.contains("://")) {
            checked += 1;
            let (file, heading) = link.split_once('#').unwrap_or((&link, ""));
            let folder = Path::new(&path).parent().unwrap();
            let target = if file.is_empty() { PathBuf::from(&path) } else { plain(&folder.join(file)) };
            let is_there = target.exists()
                && (heading.is_empty()
                    || anchors(&read(target.to_str().unwrap())).iter().any(|anchor| anchor == heading));
            if !is_there {
                dead.push(format!("{path}: {link}"));
            }
        }
    }
    assert!(checked > 60, "{checked}");
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn links_and_anchors_are_read_as_they_are_shown() {
    assert_eq!(links("see [a](b.md#c) and\n```\n[x](y)\n```\n[`d`](e) [f](g)"), ["b.md#c", "e", "g"]);
    assert_eq!(anchor("`[limits]`: from where on"), "limits-from-where-on");
}
