//! What happens between checks and users, on findings made by hand.

use super::findings::Draft;
use super::*;
use crate::facts::{
    Accept, Confidence, Date, Facts, File, FileKind, PolicyId, Role, Scope, ServiceSource, Suppression,
};
use crate::finding::Severity;
use crate::graph::Net;
use crate::graph::fixtures::Tree;
use crate::limits::Limits;
use crate::source::{FileId, Span};

fn file(path: &str, role: Role) -> File {
    File { path: path.into(), kind: FileKind::Yaml, environment: None, role, named: false, told_by: None }
}

fn span(file: u32, start: u32) -> Span {
    Span { file: FileId(file), start, end: start + 1 }
}

fn draft(id: &str, at: Span, message: &str) -> Draft {
    Draft::new(find(id).unwrap(), at, message.to_owned())
}

fn facts(files: &[(&str, Role)]) -> Facts {
    Facts { files: files.iter().map(|(path, role)| file(path, *role)).collect(), ..Facts::default() }
}

fn system<'a>(facts: &'a Facts, limits: &'a Limits, environment: Option<&str>) -> System<'a> {
    let net = Net { environment: environment.map(Into::into), ..Net::default() };
    System::new(facts, limits, net)
}

#[test]
fn errors_need_high_confidence() {
    let facts = facts(&[("a.yaml", Role::Production)]);
    let mut sure = draft("unbounded-retries", span(0, 0), "x");
    sure.severity(Severity::Error);
    let mut unsure = sure.clone();
    unsure.confidence(Confidence::Medium);
    let mut guess = sure.clone();
    guess.confidence(Confidence::Low);
    let mut drafts = vec![sure, unsure, guess];
    settle::adjust(&mut drafts, &facts, Options::default());
    let levels: Vec<_> = drafts.iter().map(|draft| (draft.finding.severity, draft.finding.pedantic)).collect();
    assert_eq!(levels, [(Severity::Error, false), (Severity::Warning, false), (Severity::Warning, true)]);
}

#[test]
fn examples_give_notes_and_tests_give_nothing_unless_asked() {
    let facts = facts(&[("docs/a.yaml", Role::Example), ("tests/a.yaml", Role::Test)]);
    let drafts = vec![draft("unbounded-retries", span(0, 0), "x"), draft("unbounded-retries", span(1, 0), "x")];
    let mut quiet = drafts.clone();
    settle::adjust(&mut quiet, &facts, Options::default());
    assert_eq!(quiet.len(), 1);
    assert_eq!(quiet[0].finding.severity, Severity::Note);
    let mut asked = drafts;
    settle::adjust(&mut asked, &facts, Options { include_tests: true });
    assert_eq!(asked.len(), 2);
}

#[test]
fn a_stronger_finding_silences_a_weaker_one_about_the_same_policy_only() {
    let about = |id: &str, policy: u32| {
        let mut draft = draft(id, span(0, policy), "x");
        draft.policies.push(PolicyId(policy));
        draft
    };
    let mut drafts = vec![
        about("unbounded-retries", 1),
        about("excessive-attempts", 1),
        about("excessive-attempts", 2),
        about("ineffective-retry", 2),
        about("non-idempotent-retry", 2),
        about("stacked-retries", 2),
    ];
    precedence::apply(&mut drafts);
    let left: Vec<_> = drafts.iter().map(|draft| (draft.finding.rule, draft.policies[0].0)).collect();
    // Ineffective settings silence what is said of their policy, but neither safety nor what counts along edges.
    assert_eq!(
        left,
        [("unbounded-retries", 1), ("ineffective-retry", 2), ("non-idempotent-retry", 2), ("stacked-retries", 2)]
    );
}

#[test]
fn advice_never_silences_what_everybody_sees() {
    let mut strong = draft("unbounded-retries", span(0, 0), "x");
    strong.pedantic().policies.push(PolicyId(1));
    let mut weak = draft("excessive-attempts", span(0, 0), "x");
    weak.policies.push(PolicyId(1));
    let mut drafts = vec![strong, weak];
    precedence::apply(&mut drafts);
    assert_eq!(drafts.len(), 2);
}

#[test]
fn a_storm_along_a_path_silences_the_stacks_on_its_edges() {
    let on = |id: &str, edges: &[u32]| {
        let mut draft = draft(id, span(0, 0), "x");
        for edge in edges {
            draft.on_edge(EdgeRef::Net(petgraph::graph::EdgeIndex::new(*edge as usize)));
        }
        draft
    };
    let mut drafts =
        vec![on("retry-amplification", &[3, 2, 1]), on("stacked-retries", &[2]), on("stacked-retries", &[4])];
    precedence::apply(&mut drafts);
    assert_eq!(drafts.len(), 2);
}

#[test]
fn what_holds_in_two_environments_is_said_once_with_the_worse_numbers() {
    let facts = Facts::default();
    let limits = Limits::default();
    let stamped = |environment: &str, message: &str, weight: f64| {
        let mut drafts = vec![draft("excessive-attempts", span(0, 5), message)];
        drafts[0].weight(weight);
        settle::stamp(&mut drafts, &system(&facts, &limits, Some(environment)));
        drafts.remove(0)
    };
    let merged = settle::merge(vec![stamped("prod", "nine", 9.0), stamped("dev", "seven", 7.0)]);
    assert_eq!(merged.len(), 1);
    assert_eq!(merged[0].finding.message, "nine");
    assert_eq!(merged[0].finding.environments, ["dev".into(), "prod".into()]);
}

#[test]
fn what_holds_everywhere_names_no_environment_unless_it_stands_in_one() {
    let limits = Limits::default();
    let names = |environment: Option<&str>, holds_in: &[&str], is_path: bool| {
        let mut facts = facts(&[("mesh.yaml", Role::Production)]);
        facts.files[0].environment = environment.map(Into::into);
        let stamped = |name: &&str| {
            let mut draft = draft("excessive-attempts", span(0, 5), "x");
            if is_path {
                draft.path(&"web".into(), &"ledger".into());
            }
            let mut drafts = vec![draft];
            settle::stamp(&mut drafts, &system(&facts, &limits, Some(name)));
            drafts.remove(0)
        };
        let mut merged = settle::merge(holds_in.iter().map(stamped).collect());
        settle::hold_everywhere(&mut merged, 2, &facts);
        merged[0].finding.environments.len()
    };
    assert_eq!(names(None, &["dev", "prod"], false), 0);
    assert_eq!(names(None, &["prod"], false), 1);
    assert_eq!(names(Some("prod"), &["dev", "prod"], false), 2);
    assert_eq!(names(None, &["dev", "prod"], true), 2, "the numbers of a path are those of one environment");
}

#[test]
fn paths_to_one_service_are_one_finding_whatever_their_last_hop_says() {
    let path = |to: &str, at: u32| {
        let mut draft = draft("retry-amplification", span(0, at), "x");
        draft.path(&"web".into(), &to.into());
        draft
    };
    assert_eq!(settle::merge(vec![path("ledger", 1), path("ledger", 9), path("audit", 1)]).len(), 2);
}

#[test]
fn findings_about_one_default_are_one_with_three_examples_and_a_count() {
    let drafts: Vec<Draft> = (0..37)
        .rev()
        .map(|i| {
            let mut draft = draft("implicit-retries", span(i, 0), "one");
            draft.default_of("Istio").many("Istio retries ", " calls twice although no file says so").label("here");
            draft
        })
        .collect();
    let joined = settle::join_defaults(drafts);
    assert_eq!(joined.len(), 1);
    let finding = &joined[0].finding;
    assert_eq!(finding.message, "Istio retries 37 calls twice although no file says so");
    let files: Vec<u32> = finding.labels.iter().map(|label| label.span.file.0).collect();
    assert_eq!(files, [0, 1, 2]);
    assert_eq!(finding.notes, ["and 34 more"]);
}

#[test]
fn the_same_text_in_four_files_of_one_tree_is_a_group_and_in_three_is_not() {
    let paths = ["mesh/a.yaml", "mesh/b.yaml", "mesh/c.yaml", "mesh/d.yaml", "other/a.yaml", "other/b.yaml"];
    let facts = facts(&paths.map(|path| (path, Role::Production)));
    let drafts = (0..6).map(|i| draft("excessive-attempts", span(i, 0), "nine")).collect();
    let findings = settle::finish(drafts, &facts);
    let groups: Vec<_> = findings.iter().map(|finding| finding.group.as_deref()).collect();
    let group = Some("excessive-attempts:mesh/a.yaml");
    assert_eq!(groups, [group, group, group, group, None, None]);
}

#[test]
fn findings_come_worst_first_storms_before_the_rest_then_by_path_position_and_rule() {
    let mut error = draft("unbounded-retries", span(3, 3), "e");
    error.severity(Severity::Error);
    let drafts = vec![
        draft("excessive-attempts", span(2, 9), "late"),
        draft("ineffective-retry", span(2, 4), "b"),
        draft("excessive-attempts", span(2, 4), "a"),
        draft("excessive-attempts", span(1, 7), "early"),
        error,
    ];
    let order: Vec<String> =
        settle::finish(drafts, &Facts::default()).into_iter().map(|finding| finding.message).collect();
    // `ineffective-retry` is about hygiene and waits for all that is about load.
    assert_eq!(order, ["e", "early", "a", "late", "b"]);
}

fn today() -> Option<Date> {
    Date::parse("2027-02-01")
}

/// Runs suppression as `check` does, on drafts made by hand.
fn suppressed(facts: &Facts, drafts: &mut [Draft]) -> Vec<String> {
    let used = crate::suppress::apply(facts, today(), drafts.iter_mut().map(|draft| &mut draft.finding));
    unused_suppression::drafts(facts, today(), &used, false).into_iter().map(|draft| draft.finding.message).collect()
}

fn comment(at: Span, rules: &[&str], scope: Scope) -> Suppression {
    Suppression {
        span: at,
        rules: rules.iter().map(|rule| (rule.to_string(), at)).collect(),
        reason: "agreed".to_owned(),
        until: None,
        scope,
    }
}

#[test]
fn a_comment_marks_what_it_covers_and_nothing_else() {
    let range = Span { file: FileId(0), start: 10, end: 20 };
    let facts = Facts {
        suppressions: vec![comment(span(0, 8), &["excessive-attempts", "weak-jitter"], Scope::Range(range))],
        ..Facts::default()
    };
    let mut drafts = vec![
        draft("excessive-attempts", span(0, 12), "in"),
        draft("excessive-attempts", span(0, 20), "behind"),
        draft("excessive-attempts", span(1, 12), "elsewhere"),
        draft("unbounded-retries", span(0, 12), "another rule"),
    ];
    // `weak-jitter` may be no rule of this build: then it is unknown and not unused.
    let unused = suppressed(&facts, &mut drafts);
    assert_eq!(unused.len(), usize::from(find("weak-jitter").is_some()));
    let marks: Vec<_> = drafts.iter().map(|draft| draft.finding.suppressed.as_ref().map(|by| by.by)).collect();
    assert_eq!(marks, [Some("inline"), None, None, None]);
}

#[test]
fn a_path_is_covered_on_any_of_its_hops_and_another_finding_on_its_first_place_only() {
    let facts = Facts {
        suppressions: vec![comment(span(1, 0), &["retry-amplification", "excessive-attempts"], Scope::File)],
        ..Facts::default()
    };
    let mut path = draft("retry-amplification", span(0, 0), "path");
    path.path(&"web".into(), &"ledger".into()).related(span(1, 5), "a hop");
    let mut place = draft("excessive-attempts", span(0, 0), "place");
    place.related(span(1, 5), "an example");
    let mut drafts = vec![path, place];
    let unused = suppressed(&facts, &mut drafts);
    assert_eq!(drafts[0].finding.suppressed.as_ref().map(|by| (by.by, &*by.reason)), Some(("file", "agreed")));
    assert_eq!(drafts[1].finding.suppressed, None);
    assert_eq!(unused, ["`allow(excessive-attempts)` suppresses nothing"]);
}

#[test]
fn misspelt_and_unused_suppressions_are_findings_of_a_whole_run() {
    let mut facts = facts(&[("a.yaml", Role::Production)]);
    facts.suppressions = vec![
        comment(span(0, 3), &["excessive-attempt"], Scope::File),
        comment(span(0, 50), &["retry-cycle"], Scope::File),
    ];
    let limits = Limits::default();
    let systems = [system(&facts, &limits, Some("dev")), system(&facts, &limits, Some("prod"))];
    let findings = check(&systems, Options::default());
    let told: Vec<_> =
        findings.iter().map(|finding| (finding.rule, finding.severity, finding.help.as_deref())).collect();
    assert_eq!(
        told,
        [
            ("unknown-suppression", Severity::Error, Some("did you mean `excessive-attempts`?")),
            ("unused-suppression", Severity::Warning, Some("remove the comment, so that it cannot hide a new finding")),
        ]
    );
    // A comment is in no environment.
    assert!(findings.iter().all(|finding| finding.environments.is_empty()));
}

#[test]
fn every_rule_is_listed_once_in_order_and_has_a_page_of_its_name() {
    let ids: Vec<&str> = ALL.iter().map(|rule| rule.id).collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(ids, sorted);
}

#[test]
fn a_comment_whose_last_day_is_over_says_so() {
    let with = |until: &str, place: u32| {
        let one = Suppression { until: Date::parse(until), ..comment(span(0, 8), &["weak-jitter"], Scope::File) };
        let facts = Facts { suppressions: vec![one], ..Facts::default() };
        let rule = if place == 0 { "no-backoff" } else { "weak-jitter" };
        let mut drafts = [draft(rule, span(0, 12), "a")];
        let used = crate::suppress::apply(&facts, today(), drafts.iter_mut().map(|draft| &mut draft.finding));
        let unused = unused_suppression::drafts(&facts, today(), &used, false);
        let said: Vec<(String, bool)> = unused
            .into_iter()
            .map(|draft| (draft.finding.message, draft.finding.help.is_some_and(|help| help.starts_with("mend"))))
            .collect();
        (drafts[0].finding.suppressed.is_some(), said)
    };
    let ended = "`allow(weak-jitter)` ended on 2027-01-31".to_owned();
    assert_eq!(with("2027-01-31", 1), (false, vec![(ended.clone(), true)]));
    assert_eq!(with("2027-02-01", 1), (true, vec![]));
    // What it was written for is gone: then it need not be mended.
    assert_eq!(with("2027-01-31", 0), (false, vec![(ended, false)]));
}

#[test]
fn an_accept_of_a_service_that_nothing_else_names_covers_nothing() {
    let mut tree = Tree::default();
    tree.call("web", "ledger");
    tree.call("web", "mail.tools");
    for name in ["ledgr", "Ledger", "mail", "unheard-of"] {
        let at = tree.span("retrylint.toml");
        let service = tree.service(name);
        service.source = ServiceSource::Settings;
        service.accept = Some(Accept { max_amplification: 9.0, reason: "agreed".into(), until: None, span: at });
    }
    // Declared without any decision.
    tree.service("cart").source = ServiceSource::Settings;
    let drafts = unused_suppression::drafts(&tree.facts, today(), &crate::suppress::Used::default(), false);
    let said: Vec<_> = drafts.iter().map(|draft| (&*draft.finding.message, draft.finding.help.as_deref())).collect();
    assert_eq!(
        said,
        [
            (
                "`accept` covers nothing: no call and no other file names `ledgr`",
                Some("did you mean `[services.ledger]`?")
            ),
            (
                "`accept` covers nothing: no call and no other file names `unheard-of`",
                Some("remove it, so that it cannot hide a new finding")
            ),
        ]
    );
}
