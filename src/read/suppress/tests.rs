use super::*;
use crate::read::data;
use crate::source::FileId;

fn yaml(text: &str) -> Facts {
    let tree = data::yaml::parse(FileId(0), text);
    assert_eq!(tree.errors, []);
    let mut facts = Facts::default();
    read(&tree, text, &mut facts);
    facts
}

/// Text that the only suppression covers.
fn covered_text<'t>(text: &'t str, facts: &Facts) -> &'t str {
    assert_eq!(facts.misdirected, []);
    match facts.suppressions.as_slice() {
        [Suppression { scope: Scope::Range(span), .. }] => &text[span.range()],
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_directive_names_rules_with_their_places_and_a_reason() {
    let text = "a: 1 # retrylint: allow(missing-jitter,  no-backoff) drained by ops\n";
    let facts = yaml(text);
    let [one] = facts.suppressions.as_slice() else { panic!() };
    let names: Vec<_> = one.rules.iter().map(|(name, span)| (name.as_str(), &text[span.range()])).collect();
    assert_eq!(names, [("missing-jitter", "missing-jitter"), ("no-backoff", "no-backoff")]);
    assert_eq!(one.reason, "drained by ops");
    assert_eq!(&text[one.span.range()], "retrylint: allow(missing-jitter,  no-backoff) drained by ops");
}

#[test]
fn the_last_day_stands_among_the_rules() {
    for list in ["no-backoff, until=2027-01-31", "until = 2027-01-31, no-backoff", "no-backoff, until: 2027-01-31"] {
        let facts = yaml(&format!("a: 1 # retrylint: allow({list}) for the sale\n"));
        let [one] = facts.suppressions.as_slice() else { panic!("{list}") };
        assert_eq!(one.rules.iter().map(|(rule, _)| rule.as_str()).collect::<Vec<_>>(), ["no-backoff"], "{list}");
        assert_eq!((one.until, one.reason.as_str()), (Date::parse("2027-01-31"), "for the sale"), "{list}");
    }
    assert_eq!(yaml("a: 1 # retrylint: allow(until-then)\n").suppressions[0].until, None);
    let wrong = |list: &str| {
        let facts = yaml(&format!("a: 1 # retrylint: allow({list}) why\n"));
        assert_eq!(facts.suppressions, []);
        facts.misdirected[0].message.clone()
    };
    assert_eq!(wrong("no-backoff, until=2027-02-29"), "`until=2027-02-29` is no day of the calendar");
    assert_eq!(wrong("no-backoff, until=soon"), "`until=soon` is no day of the calendar");
    assert_eq!(
        wrong("no-backoff, until=2027-01-31, until=2027-02-01"),
        "`retrylint: allow(…)` has two days at which it ends"
    );
    assert_eq!(wrong("until=2027-01-31"), "`retrylint: allow()` names no rules");
}

#[test]
fn behind_a_value_it_covers_the_line() {
    let text = "x:\n  - to: a # retrylint: allow(no-backoff)\n    retry: 3\n";
    assert_eq!(covered_text(text, &yaml(text)), "  - to: a # retrylint: allow(no-backoff)");
}

#[test]
fn behind_a_key_whose_value_begins_below_it_covers_the_entry() {
    let text = "- retries: # retrylint: allow(no-backoff)\n    attempts: 3\n  timeout: 2s\n";
    assert_eq!(covered_text(text, &yaml(text)), "- retries: # retrylint: allow(no-backoff)\n    attempts: 3");
}

#[test]
fn alone_it_covers_the_next_entry_or_item_as_a_whole() {
    let text = "a: 1\n# retrylint: allow(no-backoff)\n# and why\n\nb:\n  c: 1\n  d: 2\ne: 3\n";
    assert_eq!(covered_text(text, &yaml(text)), "b:\n  c: 1\n  d: 2");
    let text = "calls:\n  # retrylint: allow(no-backoff)\n  - to: a\n    retry: 3\n  - to: b\n";
    assert_eq!(covered_text(text, &yaml(text)), "to: a\n    retry: 3");
}

#[test]
fn above_nothing_it_covers_nothing() {
    let text = "a: 1\n# retrylint: allow(no-backoff)\n";
    assert_eq!(covered_text(text, &yaml(text)), "");
}

#[test]
fn a_whole_file_can_be_allowed() {
    let facts = yaml("# retrylint: allow-file(no-backoff): legacy\na: 1\n");
    assert_eq!(facts.suppressions[0].scope, Scope::File);
    assert_eq!(facts.suppressions[0].reason, "legacy");
}

#[test]
fn what_is_not_understood_is_told() {
    for (comment, at, suggestion) in [
        ("# retrylint: alow(no-backoff)", "alow", "retrylint: allow(…)"),
        ("# retrylint: ignore-file(no-backoff)", "ignore-file", "retrylint: allow-file(…)"),
        ("# retrylint: allow no-backoff", "retrylint: allow no-backoff", "retrylint: allow(rule) reason"),
        ("# retrylint: allow(no-backoff", "retrylint: allow(no-backoff", "retrylint: allow(rule) reason"),
        ("# retrylint: allow()", "retrylint: allow()", "retrylint: allow(rule) reason"),
        ("# retrylint:", "retrylint:", "retrylint: allow(…)"),
    ] {
        let text = format!("{comment}\na: 1\n");
        let facts = yaml(&text);
        assert_eq!(facts.suppressions, []);
        let [wrong] = facts.misdirected.as_slice() else { panic!("{comment}") };
        assert_eq!(&text[wrong.span.range()], at);
        assert_eq!(wrong.suggestion.as_deref(), Some(suggestion));
    }
}

#[test]
fn comments_that_merely_speak_of_the_program_are_left_alone() {
    let facts = yaml(
        "# see retrylint: allow(x) in its docs\n# retrylint says so\na: '# retrylint: allow(x)'\nb: |\n  # retrylint: allow(x)\n",
    );
    assert_eq!((facts.suppressions, facts.misdirected), (vec![], vec![]));
    assert_eq!(yaml("# retrylint: service(web)\na: 1\n").misdirected, []);
    let quoted =
        yaml("# write '# retrylint: allow-file(x) reason'\n# # retrylint: allow(x)\n# `# retrylint: alow(x)`\na: 1\n");
    assert_eq!((quoted.suppressions, quoted.misdirected), (vec![], vec![]));
    assert_eq!(yaml("## retrylint: allow(x)\na: 1\n").suppressions.len(), 1);
}

#[test]
fn json_and_toml_have_the_same_comments() {
    let text =
        "{\n  // retrylint: allow(no-backoff)\n  \"Retry\": { \"a\": 1 },\n  /* retrylint: allow(x) */\n  \"b\": 2\n}";
    let tree = data::json::parse_as(FileId(0), text, data::json::Strictness::Comments);
    let mut facts = Facts::default();
    read(&tree, text, &mut facts);
    let covered: Vec<_> = facts
        .suppressions
        .iter()
        .map(|one| match one.scope {
            Scope::Range(span) => &text[span.range()],
            Scope::File => "",
        })
        .collect();
    assert_eq!(covered, ["\"Retry\": { \"a\": 1 }", "\"b\": 2"]);

    let text = "# retrylint: allow(no-backoff)\n[retry]\nattempts = 3\n[other]\n";
    let tree = data::toml::parse(FileId(0), text);
    let mut facts = Facts::default();
    read(&tree, text, &mut facts);
    assert_eq!(covered_text(text, &facts), "retry]\nattempts = 3");
}
