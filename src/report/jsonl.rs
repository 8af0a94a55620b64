//! `--format jsonl`: a finding per line, each the same object as in `json`, for programs that read while the list grows. The
//! last line is `{"version":1,"summary":{…}}`: who has read it has read a complete run.

use serde::Serialize;

use super::json::{self, FindingJson, VERSION};
use super::{Report, summary::Summary};

/// The lines, each with a line break at its end.
pub fn render(report: &Report<'_>) -> String {
    let mut out = String::new();
    for entry in &report.entries {
        out.push_str(&json::line(&Line::Finding(&FindingJson::of(entry, report.sources))));
    }
    out.push_str(&json::line(&Line::Last(Last { version: VERSION, summary: report.summary })));
    out
}

/// A finding, or the summary: that is the last line, and the one that says that the run was complete.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub(super) enum Line<'a> {
    Finding(&'a FindingJson<'a>),
    Last(Last<'a>),
}

/// The last line, which says that the run was complete.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Last<'a> {
    /// Version of this format.
    #[cfg_attr(test, schemars(extend("const" = VERSION)))]
    version: u32,
    /// What was looked at and what came of it.
    summary: &'a Summary,
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::report::hostile::Hostile;

    #[test]
    fn every_line_is_an_object_and_the_last_is_the_summary() {
        let hostile = Hostile::new();
        let text = render(&hostile.report());
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let (last, findings) = lines.split_last().unwrap();
        assert_eq!((&last["version"], last["summary"].is_object()), (&1.into(), true));
        let all: Value = serde_json::from_str(&json::render(&hostile.report())).unwrap();
        assert_eq!(all["findings"].as_array().unwrap(), findings);
        assert_eq!(last["summary"], all["summary"]);
    }

    #[test]
    fn a_run_without_findings_is_one_line() {
        let (sources, summary) = (crate::source::Sources::default(), Summary::default());
        let report = Report { entries: Vec::new(), sources: &sources, summary: &summary, show_suppressed: false };
        let text = render(&report);
        assert!(text.starts_with("{\"version\":1,\"summary\":{") && text.ends_with("}\n"), "{text}");
        assert_eq!(text.lines().count(), 1);
    }
}
