use super::*;

fn step(from: &str, tries: u128) -> Step {
    Step { from: from.into(), tries: Amount::Exact(tries) }
}

fn summary() -> Summary {
    Summary {
        findings: Counts { errors: 3, warnings: 5, suppressed: 1, grouped: 2, pedantic: 4, ..Counts::default() },
        test_files: 0,
        unread: BTreeMap::new(),
        left_out: Vec::new(),
        files: [(FileKind::Yaml, 1033), (FileKind::Json, 1)].into(),
        services: 12,
        calls: 31,
        policies: 19,
        without_retries: 0,
        coverage: Coverage {
            calls_known: 19,
            calls_inferred: 0,
            calls_with_unknown_factor: 7,
            calls_without_policy: 5,
            unknown_callees: 7,
            unknown_callers: 0,
        },
        worst_path: Some(WorstPath {
            hops: vec![step("web", 3), step("checkout", 3), step("edge", 1), step("payments", 3)],
            to: "ledger".into(),
            factor: Amount::Exact(27),
            class: "overload",
            lower_bound: false,
            about: false,
            bounded: None,
            environment: None,
        }),
        slowest_answer: Some(Slowest::new(
            "web".into(),
            "checkout".into(),
            Some(Nanos::from_secs(10)),
            Nanos::from_millis(43_500),
        )),
        extra_requests: vec![Extra {
            service: "app".into(),
            clients: 500,
            to: "api".into(),
            retries: 5,
            requests: 2500,
        }],
        notes: Vec::new(),
    }
}

#[test]
fn the_last_lines_count_everything() {
    let look = Look { colour: false, width: 200 };
    assert_eq!(
        summary().text(Some(Duration::from_millis(80)), look),
        "Read 1,034 files (1,033 YAML, 1 JSON) in 0.08 s: 12 services, 31 calls, 19 retry policies\n\
         Worst path: web ×3 → checkout ×3 → edge → payments ×3 → ledger = 27 requests for one (overload)\n\
         500 clients of app × five retries = 2,500 extra requests at api\n\
         31 calls: 19 with every factor known, 7 with an unknown one, 5 without any policy; 7 retried calls have \
         unknown callees and are in no number above\n\
         Slowest answer: web → checkout waits 10 s for work that can take 43.5 s\n\
         3 errors, 5 warnings; 2 shown with another of the same text; 1 suppressed; 4 opinionated findings with \
         --pedantic\n"
    );
}

#[test]
fn what_was_not_asked_for_or_not_read_is_counted_too() {
    let mut summary = summary();
    (summary.findings.deselected, summary.findings.off, summary.test_files) = (3, 1200, 12);
    let text = summary.text(None, Look { colour: false, width: 200 });
    assert!(text.starts_with("Read 1,034 files (1,033 YAML, 1 JSON), 12 of test code left out: 12 services"), "{text}");
    let end = "; 3 left out by --select or --ignore; 1,200 of rules that retrylint.toml switches off\n";
    assert!(text.ends_with(end), "{text}");
    let counts = |suppressed, baseline, unchanged| {
        let findings = Counts { suppressed, baseline, unchanged, ..Counts::default() };
        Summary { findings, ..summary.clone() }.counts_text()
    };
    assert_eq!(counts(3, 0, 0), "Nothing to report; 3 suppressed");
    assert_eq!(counts(3, 3, 0), "Nothing to report; 3 suppressed by the baseline");
    assert_eq!(
        counts(3, 2, 4),
        "Nothing to report; 3 suppressed, 2 of them by the baseline; 4 on lines that did not change"
    );
}

#[test]
fn routes_that_never_retry_are_told_instead_of_what_could_have_been_read() {
    let summary = Summary { files: [(FileKind::Yaml, 1)].into(), without_retries: 11, ..Summary::default() };
    let text = summary.text(None, Look::PLAIN);
    assert!(text.contains("11 routes and calls were read, and nothing retries"), "{text}");
    assert!(!text.contains("was found"), "{text}");
    let none = Summary { without_retries: 0, ..summary }.text(None, Look::PLAIN);
    assert!(none.contains("no retry policy and no call was found"), "{none}");
}

#[test]
fn who_names_what_is_left_out_hears_why_and_nothing_else() {
    let left_out = vec!["a.yaml is not read: .retrylintignore has `a.*`".to_string()];
    let text = Summary { left_out, ..Summary::default() }.text(None, Look::PLAIN);
    assert!(text.contains("\nnote: a.yaml is not read: .retrylintignore has `a.*`\n"), "{text}");
    assert!(!text.contains("no retry policy"), "{text}");
}

#[test]
fn calls_of_which_none_is_known_say_what_is_unknown() {
    let mut summary = summary();
    summary.calls = 2;
    summary.coverage = Coverage { calls_with_unknown_factor: 2, ..Coverage::default() };
    let text = summary.text(None, Look { colour: false, width: 200 });
    assert!(text.contains("\n2 calls: 2 with an unknown factor\n"), "{text}");
}

#[test]
fn bounds_and_endless_paths_say_so() {
    let mut path = summary().worst_path.unwrap();
    path.lower_bound = true;
    assert!(path.text().ends_with("= at least 27 requests for one (overload)"));
    path.factor = Amount::Unbounded;
    path.environment = Some("prod".into());
    assert!(path.text().starts_with("Worst path in prod: web ×3"));
    assert!(path.text().ends_with("= requests without end for one (overload)"));
}

#[test]
fn a_path_that_no_line_can_hold_shows_its_ends() {
    let mut path = summary().worst_path.unwrap();
    path.hops = (0..12).map(|n| step(&format!("s{n}"), 2)).collect();
    path.factor = Amount::Exact(4096);
    assert_eq!(
        path.text(),
        "Worst path: s0 ×2 → s1 ×2 → s2 ×2 → s3 ×2 → 4 more → s8 ×2 → s9 ×2 → s10 ×2 → s11 ×2 → ledger = 4,096 \
         requests for one (overload)"
    );
}

#[test]
fn an_empty_tree_hears_what_would_have_been_read() {
    let text = Summary::default().text(None, Look::PLAIN);
    assert!(text.starts_with("Read 0 files: 0 services, 0 calls, 0 retry policies\nwarning: no retry"), "{text}");
    assert!(text.ends_with("Nothing to report\n"));
    assert!(text.lines().all(|line| text::width(line) <= 100));
}

#[test]
fn json_has_the_fields_of_the_contract() {
    let mut summary = summary();
    summary.findings.notes = 2;
    summary.notes = vec!["one edge was dropped".into()];
    let text = serde_json::to_string(&summary).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&json["errors"], &json["notes"]), (&3.into(), &2.into()));
    assert_eq!(json["remarks"], serde_json::json!(["one edge was dropped"]));
    // A key that comes twice is read as the last one, and the other is lost.
    assert_eq!(text.matches("\"notes\":").count(), 1);
    assert_eq!(json["files"], serde_json::json!({ "yaml": 1033, "json": 1 }));
    assert_eq!(json["coverage"]["calls_with_unknown_factor"], 7);
    assert_eq!(json["worst_path"]["factor"], 27);
    assert_eq!(json["slowest_answer"]["takes_ms"], 43_500.0);
    assert_eq!(json["extra_requests"][0]["requests"], 2500);
}

#[test]
fn policies_without_any_call_say_what_is_missing() {
    let with = |calls, services, unknown_callees| {
        let coverage = Coverage { unknown_callees, ..Coverage::default() };
        Summary { calls, services, policies: 6, coverage, ..Summary::default() }.text(None, Look::PLAIN)
    };
    let says = "No call is known, so nothing is multiplied: `[[calls]]` in retrylint.toml says who calls whom\n";
    assert!(with(0, 4, 0).contains(says));
    // The near misses: calls there are, nobody who could call, and what is missing is told already.
    for text in [with(1, 4, 0), with(0, 1, 0), with(0, 4, 2)] {
        assert!(!text.contains("No call is known"), "{text}");
    }
}
