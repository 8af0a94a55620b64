use super::*;
use crate::facts::Confidence;
use crate::finding::{Label, Severity};
use crate::source::Span;

const RULE: &str = "no-backoff";

fn comment(range: std::ops::Range<usize>, reason: &str) -> Suppression {
    let span = Span::new(FileId(0), 0..1);
    let scope = Scope::Range(Span::new(FileId(0), range));
    Suppression { span, rules: vec![(RULE.into(), span)], reason: reason.into(), until: None, scope }
}

fn finding(at: usize) -> Finding {
    Finding {
        rule: RULE,
        severity: Severity::Warning,
        confidence: Confidence::High,
        pedantic: false,
        message: String::new(),
        labels: vec![Label { span: Span::new(FileId(0), at..at + 1), text: String::new() }],
        read_before: 0,
        notes: Vec::new(),
        help: None,
        identity: Identity::Place("".into()),
        environments: Vec::new(),
        group: None,
        suppressed: None,
    }
}

/// Which comment speaks for a finding at each place, and which comments were of use.
fn applied(suppressions: Vec<Suppression>, places: &[usize]) -> (Vec<Option<String>>, Vec<bool>) {
    let count = suppressions.len();
    let facts = Facts { suppressions, ..Facts::default() };
    let mut findings: Vec<Finding> = places.iter().map(|at| finding(*at)).collect();
    let used = apply(&facts, Date::parse("2027-02-01"), findings.iter_mut());
    let by = findings.into_iter().map(|finding| Some(finding.suppressed?.reason)).collect();
    (by, (0..count).map(|index| used.contains(index, 0)).collect())
}

#[test]
fn of_comments_within_one_another_the_first_gives_the_reason_and_all_are_used() {
    let comments = vec![comment(0..100, "outer"), comment(10..20, "inner"), comment(30..40, "later")];
    let (by, used) = applied(comments, &[15, 25, 100]);
    assert_eq!(by, [Some("outer".into()), Some("outer".into()), None]);
    // Nothing stands at 30 to 40.
    assert_eq!(used, [true, true, false]);
}

#[test]
fn a_comment_holds_to_the_end_of_its_last_day() {
    let until = |day: &str| Suppression { until: Date::parse(day), ..comment(0..10, "for now") };
    let (by, used) = applied(vec![until("2027-02-01")], &[1]);
    assert_eq!((by, used), (vec![Some("for now".into())], vec![true]));
    // Over since yesterday: it silences nothing, and what it would silence is there.
    let (by, used) = applied(vec![until("2027-01-31")], &[1]);
    assert_eq!((by, used), (vec![None], vec![true]));
    // Another that covers the same place still holds.
    let (by, used) = applied(vec![until("2027-01-31"), comment(0..10, "still")], &[1]);
    assert_eq!((by, used), (vec![Some("still".into())], vec![true, true]));
}

#[test]
fn a_short_range_does_not_hide_the_long_one_before_it() {
    let (by, used) = applied(vec![comment(0..10, "a"), comment(2..4, "b"), comment(5..7, "c")], &[8]);
    assert_eq!((by, used), (vec![Some("a".into())], vec![true, false, false]));
    // An empty range covers its own place, and ends are outside.
    let (by, used) = applied(vec![comment(3..3, "a"), comment(0..3, "b")], &[3]);
    assert_eq!((by, used), (vec![Some("a".into())], vec![true, false]));
}

#[test]
fn another_file_and_another_rule_are_not_covered() {
    let mut other_file = comment(0..10, "x");
    other_file.span.file = FileId(1);
    let mut other_rule = comment(0..10, "x");
    other_rule.rules[0].0 = "missing-jitter".into();
    let (by, used) = applied(vec![other_file, other_rule], &[1]);
    assert_eq!((by, used), (vec![None], vec![false, false]));
}

/// One comment and one finding on each of many lines: each finding looks at its own comment, not at all of them.
#[test]
fn many_comments_cost_their_number() {
    let many = 100_000;
    let comments = (0..many).map(|i| comment(10 * i..10 * i + 9, "")).collect();
    let places: Vec<usize> = (0..many).map(|i| 10 * i + 3).collect();
    let (by, used) = applied(comments, &places);
    assert!(by.iter().all(Option::is_some) && used.into_iter().all(|used| used));
}
