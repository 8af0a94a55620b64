//! `--format sarif`: SARIF 2.1.0 as GitHub code scanning takes it. Own structs for the small part of the format that is used.

mod region;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Entry, Report, json};
use crate::facts::words;
use crate::finding::{Finding, Identity, Severity};
use crate::rules::{self, Pedantic, Rule};
use region::{Location, Message, Places};

/// Code scanning refuses more results than this in one run.
const MOST_RESULTS: usize = 25_000;
/// Related locations of one result; code scanning refuses more than a thousand.
const MOST_LOCATIONS: usize = 999;
/// Characters of a rule's description.
const MOST_DESCRIPTION: usize = 1_024;

/// What SARIF needs to know besides the findings.
pub struct Options<'a> {
    /// What tells this analysis from others of the same commit; `retrylint/` unless set.
    pub category: &'a str,
    /// Whether suppressed findings are written, marked. Code scanning does not know the mark and would show them as open.
    pub include_suppressed: bool,
    /// From the path of a file as shown to its path below the repository root, `/` between its parts, or to an absolute
    /// path if it lies elsewhere.
    pub locate: &'a dyn Fn(&str) -> String,
}

/// The log, with a line break at the end.
pub fn render(report: &Report<'_>, options: &Options<'_>) -> String {
    let places = Places { sources: report.sources, locate: options.locate };
    let is_written = |entry: &&Entry<'_>| options.include_suppressed || entry.finding.suppressed.is_none();
    // Findings come worst first, so that what a limit cuts off is what matters least.
    let results: Vec<SarifResult<'_>> = report
        .entries
        .iter()
        .filter(is_written)
        .filter_map(|entry| result(entry, &places))
        .take(MOST_RESULTS)
        .collect();
    let total = report.entries.iter().filter(is_written).count();
    let notifications = (total > results.len()).then(|| Notification {
        level: "warning",
        message: Message {
            text: format!(
                "{} left out: code scanning takes {} at most",
                words::counted((total - results.len()) as u64, "finding is", "findings are"),
                words::grouped(MOST_RESULTS as u128)
            ),
        },
    });
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
                tool_execution_notifications: notifications.into_iter().collect(),
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
        name: rule.id,
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

/// One finding; none if its place is unknown, which a result must have.
fn result<'a>(entry: &Entry<'a>, places: &Places<'a>) -> Option<SarifResult<'a>> {
    let finding = entry.finding;
    let primary = places.location(finding.primary()?.span, None, None)?;
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
    let fingerprints =
        [("primaryLocationLineHash", format!("{}:1", entry.fingerprint)), ("retrylint/v1", entry.fingerprint.into())];
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
        partial_fingerprints: fingerprints.into_iter().collect(),
        suppressions: finding
            .suppressed
            .iter()
            .map(|one| Suppression {
                kind: if one.by == "accepted" { "external" } else { "inSource" },
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
    text
}

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Tool,
    automation_details: Automation<'a>,
    column_kind: &'static str,
    invocations: [Invocation; 1],
    results: Vec<SarifResult<'a>>,
}

#[derive(Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver {
    name: &'static str,
    version: &'static str,
    semantic_version: &'static str,
    rules: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: &'static str,
    name: &'static str,
    short_description: Message,
    full_description: Message,
    help: Help,
    default_configuration: Configuration,
    properties: RuleProperties,
}

#[derive(Serialize)]
struct Help {
    text: String,
    markdown: String,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct RuleProperties {
    tags: [&'static str; 2],
    #[serde(rename = "problem.severity")]
    problem_severity: &'static str,
    precision: &'static str,
}

#[derive(Serialize)]
struct Automation<'a> {
    id: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Notification {
    level: &'static str,
    message: Message,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult<'a> {
    rule_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_index: Option<usize>,
    level: &'static str,
    message: Message,
    locations: [Location; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    code_flows: Vec<CodeFlow>,
    partial_fingerprints: BTreeMap<&'static str, String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressions: Vec<Suppression<'a>>,
    properties: ResultProperties<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CodeFlow {
    thread_flows: [ThreadFlow; 1],
}

#[derive(Serialize)]
struct ThreadFlow {
    locations: Vec<Step>,
}

#[derive(Serialize)]
struct Step {
    location: Location,
}

#[derive(Serialize)]
struct Suppression<'a> {
    kind: &'static str,
    justification: &'a str,
}

#[derive(Serialize)]
struct ResultProperties<'a> {
    confidence: crate::facts::Confidence,
    pedantic: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    environments: Vec<&'a str>,
}
