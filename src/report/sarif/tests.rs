use serde_json::Value;

use super::*;
use crate::finding::Suppressed;
use crate::report::hostile::Hostile;
use crate::report::{examples, summary::Summary};
use crate::source::Sources;

fn sarif(findings: &[Finding], sources: &Sources, include_suppressed: bool) -> Value {
    let entries = findings.iter().map(|finding| Entry { finding, fingerprint: "00112233aabbccdd" }).collect();
    let summary = Summary::default();
    let report = Report { entries, sources, summary: &summary, show_suppressed: false };
    let locate = |path: &str| path.to_string();
    let options = Options { category: "retrylint/", include_suppressed, locate: &locate };
    serde_json::from_str(&render(&report, &options)).unwrap()
}

/// A path finding of a rule that exists, one with hostile names, a suppressed one.
fn hostile() -> (Sources, Vec<Finding>) {
    let sources = examples::sources(&[
        ("mesh/a b\u{1b}\u{202e}é#.yaml", "\u{feff}😀: 2\r\nlong: 1\n"),
        ("/abs/b.yaml", "x: 1\n"),
        ("empty.yaml", ""),
    ]);
    let mut path = examples::finding(rules::ALL[0].id, &sources, &["2", "x"]);
    path.identity = Identity::Path { from: "web".into(), to: "ledger".into() };
    path.message = "`[x](1)` \u{7} \u{9b}".into();
    path.help = Some("write `a: 1`".into());
    let mut empty = examples::finding(rules::ALL[1].id, &sources, &["x"]);
    empty.labels[0].span = crate::source::Span::new(crate::source::FileId(2), 0..0);
    let mut suppressed = examples::finding(rules::ALL[1].id, &sources, &["long"]);
    suppressed.suppressed = Some(Suppressed { by: "inline", reason: "drained by ops".into(), span: None });
    (sources, vec![path, empty, suppressed])
}

fn check(schema: &Value, instance: &Value) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(instance).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn every_log_is_valid() {
    let subset: Value = serde_json::from_str(include_str!("subset.schema.json")).unwrap();
    let (sources, findings) = hostile();
    for log in [sarif(&findings, &sources, true), sarif(&findings, &sources, false), sarif(&[], &sources, false)] {
        check(&subset, &log);
    }
}

/// The standard's own schema is OASIS's and not ours to copy: `RETRYLINT_SARIF_SCHEMA` names a copy of it.
#[test]
fn every_log_is_valid_by_the_standards_own_schema_where_it_is_at_hand() {
    let Some(file) = std::env::var_os("RETRYLINT_SARIF_SCHEMA") else {
        eprintln!("RETRYLINT_SARIF_SCHEMA is not set: only our own subset of the schema is checked");
        return;
    };
    // Its pattern for languages is no regular expression that every engine takes.
    let text = std::fs::read_to_string(file)
        .unwrap()
        .replace("^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$", "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$");
    let schema: Value = serde_json::from_str(&text).unwrap();
    let (sources, findings) = hostile();
    check(&schema, &sarif(&findings, &sources, true));
}

#[test]
fn columns_paths_and_links_are_as_code_scanning_takes_them() {
    let (sources, findings) = hostile();
    let log = sarif(&findings, &sources, false);
    let result = &log["runs"][0]["results"][0];
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "mesh/a%20b%1B%E2%80%AE%C3%A9%23.yaml");
    assert_eq!(place["artifactLocation"]["uriBaseId"], "%SRCROOT%");
    // The emoji is two code units, the BOM is none.
    assert_eq!(place["region"], serde_json::json!({ "startLine": 1, "startColumn": 5, "endLine": 1, "endColumn": 6 }));
    let related = &result["relatedLocations"];
    assert_eq!(related[1]["physicalLocation"]["artifactLocation"], serde_json::json!({ "uri": "file:///abs/b.yaml" }));
    let text = result["message"]["text"].as_str().unwrap();
    assert!(text.starts_with("`\\[x\\](1)` \u{7} \u{9b}\n- three tries: [mesh/"), "{text}");
    assert!(text.contains("[/abs/b.yaml:1](1)"), "{text}");
    assert!(text.ends_with("help: write `a: 1`"), "{text}");
    assert_eq!(result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap().len(), 2);
    // Of the emoji, `:2`, the line break, `long:1`, another one and the end; without the blanks.
    let units = [0xfeff, 0xd83d, 0xde00, 58, 50, 10, 108, 111, 110, 103, 58, 49, 10, 0xffff];
    let hash = (0..100).fold(0_u64, |hash, at| hash.wrapping_mul(37).wrapping_add(*units.get(at).unwrap_or(&0)));
    assert_eq!(result["partialFingerprints"]["primaryLocationLineHash"], format!("{hash:x}:1"));
    assert_eq!(result["partialFingerprints"]["retrylint/v1"], "00112233aabbccdd");
    assert_eq!(log["runs"][0]["columnKind"], "utf16CodeUnits");
    assert_eq!(log["runs"][0]["automationDetails"]["id"], "retrylint/");
}

#[test]
fn suppressed_findings_are_left_out_unless_asked_for() {
    let (sources, findings) = hostile();
    let results = |log: &Value| log["runs"][0]["results"].as_array().unwrap().clone();
    assert_eq!(results(&sarif(&findings, &sources, false)).len(), 2);
    let all = results(&sarif(&findings, &sources, true));
    assert_eq!(all[2]["suppressions"], serde_json::json!([{ "kind": "inSource", "justification": "drained by ops" }]));
}

#[test]
fn what_a_limit_cuts_off_is_said() {
    let sources = examples::sources(&[("a.yaml", "x: 1\n")]);
    let many = vec![examples::finding(rules::ALL[0].id, &sources, &["x"]); MOST_RESULTS + 1];
    let log = sarif(&many, &sources, false);
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), MOST_RESULTS);
    assert_eq!(
        log["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"],
        "one finding is left out: code scanning takes 25,000 at most"
    );
}

#[test]
fn places_beyond_the_limit_are_counted() {
    let sources = examples::sources(&[("a.yaml", "x: 1\n")]);
    let mut finding = examples::finding(rules::ALL[0].id, &sources, &["x"]);
    finding.labels = vec![finding.labels[0].clone(); MOST_LOCATIONS];
    finding.identity = Identity::Path { from: "web".into(), to: "ledger".into() };
    let silent = sarif(std::slice::from_ref(&finding), &sources, false);
    assert!(silent["runs"][0]["invocations"][0].get("toolExecutionNotifications").is_none());
    finding.labels.push(finding.labels[0].clone());
    let log = sarif(&[finding], &sources, false);
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["relatedLocations"].as_array().unwrap().len(), MOST_LOCATIONS);
    assert_eq!(result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap().len(), MOST_LOCATIONS);
    assert_eq!(
        log["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"],
        "one place is left out of one finding: code scanning takes 1,000 for each at most"
    );
}

#[test]
fn a_log_stays_below_its_size_and_keeps_what_is_worst() {
    let sources = examples::sources(&[("a.yaml", "x: 1\n")]);
    let mut findings = vec![examples::finding(rules::ALL[0].id, &sources, &["x"]); 40];
    findings[0].message = "the worst".into();
    let entries = || findings.iter().map(|finding| Entry { finding, fingerprint: "0" });
    let summary = Summary::default();
    let locate = |path: &str| path.to_string();
    let options = Options { category: "retrylint/", include_suppressed: false, locate: &locate };
    let within = |most: usize, count: usize| {
        let entries = entries().take(count).collect();
        render_within(most, &Report { entries, sources: &sources, summary: &summary, show_suppressed: false }, &options)
    };
    let whole = within(usize::MAX, 40);
    assert_eq!(within(whole.len(), 40), whole);
    let cut = within(whole.len() - 1, 40);
    assert!(cut.len() < whole.len() && cut.len() > whole.len() - 4_000, "{} {}", cut.len(), whole.len());
    let log: Value = serde_json::from_str(&cut).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert!(results[0]["message"]["text"].as_str().unwrap().starts_with("the worst"));
    let left_out = words::counted(40 - results.len() as u64, "finding is", "findings are");
    assert_eq!(
        log["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"],
        format!("{left_out} left out: code scanning takes 10 MB at most, compressed")
    );
    // The estimate of a result's size is exact.
    let (one, two) = (within(usize::MAX, 2), within(usize::MAX, 3));
    let places = Places { sources: &sources, locate: &locate };
    let entry = Entry { finding: &findings[1], fingerprint: "0" };
    assert_eq!(two.len() - one.len(), size(&result(&entry, &places, &LineHashes::new(&sources)).unwrap()));
}

#[test]
fn hostile_text_survives_unchanged() {
    let hostile = Hostile::new();
    let options = Options { category: "retrylint/", include_suppressed: false, locate: &str::to_string };
    let text = render(&hostile.report(), &options);
    let log: Value = serde_json::from_str(&text).unwrap();
    check(&serde_json::from_str(include_str!("subset.schema.json")).unwrap(), &log);
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), hostile.findings.len());
    for (result, finding) in results.iter().zip(&hostile.findings) {
        let text = result["message"]["text"].as_str().unwrap();
        assert!(text.starts_with(&region::escape(&finding.message)), "{text}");
        let uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
        assert!(uri.bytes().all(|byte| byte.is_ascii_graphic() && !b"<>\"`{}|\\^".contains(&byte)), "{uri}");
        assert_eq!(result["properties"]["group"], **finding.group.as_ref().unwrap());
    }
    assert!(text.contains("\"f%250A%3A%3Aerror%3A%3Apercent.yaml\"") && text.contains("\"f%60code%60%20"));
}

#[test]
fn every_rule_is_described_in_a_stable_order() {
    let sources = examples::sources(&[]);
    let log = sarif(&[], &sources, false);
    let rules = log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: Vec<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids, rules::ALL.iter().map(|rule| rule.id).collect::<Vec<_>>());
    assert!(ids.is_sorted());
    let cycle = rules.iter().find(|rule| rule["id"] == "retry-cycle").unwrap();
    assert_eq!(cycle["name"], "RetryCycle");
}
