//! `--format sarif`: SARIF 2.1.0 as GitHub code scanning takes it. Own structs for the small part of the format that is used.

mod line_hash;
mod log;
mod region;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::repository::Locate;
use super::{Entry, Report, json};
use crate::facts::words;
use crate::finding::{Finding, Identity, Severity};
use crate::rules::{self, Pedantic, Rule};
use line_hash::LineHashes;
use log::*;
use region::{Location, Message, Places};

/// Code scanning refuses more results than this in one run; it shows the first 5,000.
const MOST_RESULTS: usize = 25_000;
/// Related locations of one result, and steps of its flow; code scanning refuses more than a thousand locations.
const MOST_LOCATIONS: usize = 999;
/// Characters of a rule's description.
const MOST_DESCRIPTION: usize = 1_024;
/// Bytes of a log. Code scanning takes 10 MB after compression, which makes a twentieth of a real log; to be sure, this
/// counts on a quarter.
const MOST_BYTES: usize = 40_000_000;

/// What SARIF needs to know besides the findings.
pub struct Options<'a> {
    /// What tells this analysis from others of the same commit; `retrylint/` unless set.
    pub category: &'a str,
    /// Whether suppressed findings are written, marked. Code scanning does not know the mark and would show them as open.
    pub include_suppressed: bool,
    /// From the path of a file as shown to its path below the repository root, `/` between its parts, or to an absolute
    /// path if it lies elsewhere.
    pub locate: Locate<'a>,
}

/// The log, with a line break at the end.
pub fn render(report: &Report<'_>, options: &Options<'_>) -> String {
    render_within(MOST_BYTES, report, options)
}

fn render_within(most_bytes: usize, report: &Report<'_>, options: &Options<'_>) -> String {
    let places = Places { sources: report.sources, locate: options.locate };
    let hashes = LineHashes::new(report.sources);
    let is_written = |entry: &&Entry<'_>| options.include_suppressed || entry.finding.suppressed.is_none();
    // Findings come worst first, so that what a limit cuts off is what matters least.
    let written = || report.entries.iter().filter(is_written);
    let mut results: Vec<SarifResult<'_>> =
        written().filter_map(|entry| result(entry, &places, &hashes)).take(MOST_RESULTS).collect();
    let mut notifications: Vec<String> = places_left_out(written().take(MOST_RESULTS)).into_iter().collect();
    let left_out = written().count() - results.len();
    if left_out > 0 {
        let most = words::grouped(MOST_RESULTS as u128);
        notifications.push(format!("{}: code scanning takes {most} at most", findings_left_out(left_out)));
    }
    let text = log(&results, &notifications, options);
    if text.len() <= most_bytes {
        return text;
    }
    let sizes: Vec<usize> = results.iter().map(size).collect();
    // Room for the sentence about it.
    let mut used = text.len().saturating_sub(sizes.iter().sum()) + 1_000;
    let fitting = sizes.iter().take_while(|size| {
        used += **size;
        used <= most_bytes
    });
    let fitting = fitting.count();
    notifications
        .push(format!("{}: code scanning takes 10 MB at most, compressed", findings_left_out(results.len() - fitting)));
    results.truncate(fitting);
    log(&results, &notifications, options)
}

/// Bytes of a result within a log.
fn size(result: &SarifResult<'_>) -> usize {
    const INDENT: usize = 8;
    let text = json::print(result);
    text.len() + text.lines().count() * INDENT + ",".len()
}

fn findings_left_out(count: usize) -> String {
    format!("{} left out", words::counted(count as u64, "finding is", "findings are"))
}

/// What is said about places beyond the limit.
fn places_left_out<'a>(entries: impl Iterator<Item = &'a Entry<'a>>) -> Option<String> {
    let over = entries.map(|entry| entry.finding.labels.len().saturating_sub(MOST_LOCATIONS)).filter(|over| *over > 0);
    let (findings, places) = over.fold((0_u64, 0_u64), |(findings, places), over| (findings + 1, places + over as u64));
    (findings > 0).then(|| {
        format!(
            "{} left out of {}: code scanning takes 1,000 for each at most",
            words::counted(places, "place is", "places are"),
            words::counted(findings, "finding", "findings"),
        )
    })
}

fn log(results: &[SarifResult<'_>], notifications: &[String], options: &Options<'_>) -> String {
    json::print(&Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [Run {
            tool: Tool {
                driver: Driver {
                    name: "retrylint",
                    version: env!("CARGO_PKG_VERSION"),
                    semantic_version: env!("CARGO_PKG_VERSION"),
                    rules: rules::ALL.iter().map(descriptor).collect(),
                },
            },
            automation_details: Automation { id: options.category },
            column_kind: "utf16CodeUnits",
            invocations: [Invocation {
                execution_successful: true,
                tool_execution_notifications: notifications
                    .iter()
                    .map(|text| Notification { level: "warning", message: Message { text: text.clone() } })
                    .collect(),
            }],
            results,
        }],
    })
}

fn descriptor(rule: &Rule) -> Descriptor {
    let meta = rule.meta();
    let body = rule.body();
    let about = body.split("\n## ").next().unwrap_or_default().trim();
    let level = meta.levels.first().copied().unwrap_or(Severity::Warning);
    Descriptor {
        id: rule.id,
        name: pascal(rule.id),
        short_description: Message { text: meta.summary.clone() },
        full_description: Message { text: about.chars().take(MOST_DESCRIPTION).collect() },
        help: Help { text: body.clone(), markdown: body },
        default_configuration: Configuration { level: level.name() },
        properties: RuleProperties {
            tags: ["reliability", meta.category.name()],
            problem_severity: match level {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "recommendation",
            },
            precision: if meta.pedantic == Pedantic::Never { "high" } else { "medium" },
        },
    }
}

/// `RetryCycle` for `retry-cycle`: the name is for people, and must not be the id.
fn pascal(id: &str) -> String {
    let word = |word: &str| {
        let mut chars = word.chars();
        chars.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + chars.as_str())
    };
    id.split('-').map(word).collect()
}

/// One finding; none if its place is unknown, which a result must have.
fn result<'a>(entry: &Entry<'a>, places: &Places<'a>, hashes: &LineHashes<'_>) -> Option<SarifResult<'a>> {
    let finding = entry.finding;
    let span = finding.primary()?.span;
    let primary = places.location(span, None, None)?;
    let related: Vec<Location> = finding
        .labels
        .iter()
        .take(MOST_LOCATIONS)
        .enumerate()
        .filter(|(_, label)| !label.text.is_empty())
        .filter_map(|(index, label)| places.location(label.span, Some(&label.text), Some(index as u32)))
        .collect();
    let is_path = matches!(finding.identity, Identity::Path { .. });
    let flow: Vec<Step> = finding
        .in_reading_order()
        .into_iter()
        .filter(|_| is_path)
        .take(MOST_LOCATIONS)
        .filter_map(|label| places.location(label.span, Some(&label.text), None))
        .map(|location| Step { location })
        .collect();
    let mut fingerprints = BTreeMap::from([("retrylint/v1", entry.fingerprint.to_string())]);
    fingerprints.extend(hashes.of(span.file, primary.line()).map(|hash| ("primaryLocationLineHash", hash)));
    Some(SarifResult {
        rule_id: finding.rule,
        rule_index: rules::ALL.iter().position(|rule| rule.id == finding.rule),
        level: finding.severity.name(),
        message: Message { text: text(finding, &related) },
        locations: [primary],
        related_locations: related,
        code_flows: if flow.is_empty() {
            Vec::new()
        } else {
            vec![CodeFlow { thread_flows: [ThreadFlow { locations: flow }] }]
        },
        partial_fingerprints: fingerprints,
        suppressions: finding
            .suppressed
            .iter()
            .map(|one| Suppression {
                kind: if matches!(one.by, "accepted" | "baseline") { "external" } else { "inSource" },
                justification: &one.reason,
            })
            .collect(),
        properties: ResultProperties {
            confidence: finding.confidence,
            pedantic: finding.pedantic,
            group: finding.group.as_deref(),
            environments: finding.environments.iter().map(|name| &**name).collect(),
        },
    })
}

/// The message, each related place with a link, notes and help: all that code scanning shows of a result.
fn text(finding: &Finding, related: &[Location]) -> String {
    let mut text = region::escape(&finding.message);
    for location in related {
        if let (Some(id), Some(message)) = (location.id, &location.message) {
            text.push_str(&format!("\n- {}: [{}]({id})", region::escape(&message.text), location.shown()));
        }
    }
    for note in &finding.notes {
        text.push_str(&format!("\n{}", region::escape(note)));
    }
    if let Some(help) = &finding.help {
        text.push_str(&format!("\nhelp: {}", region::escape(help)));
    }
    if !finding.environments.is_empty() {
        let names: Vec<&str> = finding.environments.iter().map(|name| &**name).collect();
        text.push_str(&format!("\nholds in {}", region::escape(&names.join(", "))));
    }
    text
}
