use super::*;

fn comments(text: &str) -> Comments {
    super::read(text, super::super::scan::preamble(text), FileId(3))
}

fn text(of: At, text: &str) -> &str {
    &text[of.start as usize..of.end as usize]
}

/// The directives of a text: kind, name, what they cover.
fn stated(source: &str) -> Vec<(DirectiveKind, String, String)> {
    let all = comments(source);
    assert_eq!(all.facts.misdirected, [], "{source}");
    let of = |one: &Directive| {
        assert_eq!(text(one.at, source), &*one.name);
        (one.kind, one.name.to_string(), text(one.covers, source).to_owned())
    };
    all.directives.iter().map(of).collect()
}

#[test]
fn suppressions_have_their_rules_reason_and_scope() {
    let source = "\
fn a() {
    b(); // retrylint: allow(no-backoff, missing-jitter) drained by ops
    // retrylint: allow(no-backoff): legacy
    loop {
        c();
    }
}
/// Documented.
// retrylint: allow(uncapped-backoff)
fn d() {}
/* retrylint: allow-file(missing-timeout) */
";
    let found = comments(source).facts;
    let of = |one: &Suppression| {
        let rules: Vec<_> = one.rules.iter().map(|(name, span)| (name.as_str(), &source[span.range()])).collect();
        assert!(rules.iter().all(|(name, text)| name == text), "{rules:?}");
        let scope = match one.scope {
            Scope::File => "FILE".to_owned(),
            Scope::Range(span) => source[span.range()].to_owned(),
        };
        assert_eq!(one.span.file, FileId(3));
        let rules: Vec<_> = rules.into_iter().map(|(name, _)| name).collect();
        (rules.join(" "), one.reason.clone(), scope)
    };
    let expected = [
        (
            "no-backoff missing-jitter",
            "drained by ops",
            "    b(); // retrylint: allow(no-backoff, missing-jitter) drained by ops",
        ),
        ("no-backoff", "legacy", "loop {\n        c();\n    }"),
        ("uncapped-backoff", "", "fn d() {}"),
        ("missing-timeout", "", "FILE"),
    ];
    let expected = expected.map(|(rules, reason, scope)| (rules.to_owned(), reason.to_owned(), scope.to_owned()));
    assert_eq!(found.suppressions.iter().map(of).collect::<Vec<_>>(), expected);
}

#[test]
fn facts_about_code_cover_a_statement_a_function_or_the_file() {
    use DirectiveKind::{Calls, Service};
    for (source, kind, name, covers) in [
        ("fn a() {\n// retrylint: calls(payments)\nlet b = c().await; }", Calls, "payments", "let b = c().await;"),
        (
            "fn a() {\n  b(|| { // retrylint: calls( payments )\n  c }); }",
            Calls,
            "payments",
            "  b(|| { // retrylint: calls( payments )\n  c });",
        ),
        ("// retrylint: calls(payments)\nasync fn a() { b }\nfn c() {}", Calls, "payments", "async fn a() { b }"),
        ("use a;\n// retrylint: service(web)\nimpl A { }\nfn c() {}", Service, "web", "impl A { }"),
        // At the top of a file.
        ("// retrylint: service(web)\nfn a() {}\nfn c() {}", Service, "web", "fn a() {}"),
        ("//! About.\n// retrylint: service(web)\nuse a;\nfn c() {}", Service, "web", "FILE"),
        ("// retrylint: service(web)\n\nuse a::{b};\nfn c() {}", Service, "web", "FILE"),
        ("#!/bin/run\n// retrylint: service(web)\nmod a;\nfn c() {}", Service, "web", "FILE"),
        ("\u{feff}// retrylint: service(web)\n#![allow(a)]\nfn c() {}", Service, "web", "FILE"),
        ("// retrylint: service(web)\n", Service, "web", "FILE"),
        ("use a;\n// retrylint: service(web)\nuse b;", Service, "web", "use b;"),
        ("// retrylint: calls(web)\nuse b;", Calls, "web", "use b;"),
    ] {
        let covers = if covers == "FILE" { source } else { covers };
        assert_eq!(stated(source), [(kind, name.to_owned(), covers.to_owned())], "{source}");
    }
    let two: Vec<_> = stated("// retrylint: calls(a, b)\nfn c() {}").into_iter().map(|(_, name, _)| name).collect();
    assert_eq!(two, ["a", "b"]);
}

#[test]
fn what_is_not_understood_is_told_and_what_is_no_comment_is_not() {
    for (comment, at, suggestion) in [
        ("// retrylint: alow(no-backoff)", "alow", "retrylint: allow(…)"),
        ("// retrylint: call(a)", "call", "retrylint: calls(…)"),
        ("/* retrylint: calls a */", "retrylint: calls a", "retrylint: calls(name)"),
        ("// retrylint: service()", "retrylint: service()", "retrylint: service(name)"),
        ("// retrylint: allow(no-backoff", "retrylint: allow(no-backoff", "retrylint: allow(rule) reason"),
    ] {
        let source = format!("fn a() {{ b(); {comment}\n}}");
        let found = comments(&source);
        let [wrong] = found.facts.misdirected.as_slice() else { panic!("{comment}: {found:?}") };
        assert_eq!((&source[wrong.span.range()], wrong.suggestion.as_deref()), (at, Some(suggestion)));
        assert!(found.facts.suppressions.is_empty() && found.directives.is_empty());
    }
    for source in [
        "fn a() { b(\"// retrylint: allow(x)\"); }",
        "fn a() { b(r#\"\n// retrylint: allow(x)\n\"#); }",
        "// see retrylint: allow(x)\nfn a() {}",
        // Documentation, and what a comment quotes.
        "//! Silence with '// retrylint: allow-file(x) reason'.\nfn a() {}",
        "//! retrylint: allow-file(x)\nfn a() {}",
        "/// retrylint: allow(x)\nfn a() {}",
        "/// // retrylint: allow(x)\nfn a() {}",
        "/** retrylint: allow(x) */\nfn a() {}",
        "/*! retrylint: allow-file(x) */\nfn a() {}",
        "/* /* // retrylint: allow(x) */ */\nfn a() {}",
        "// // retrylint: allow(x)\nfn a() {}",
    ] {
        let found = comments(source);
        assert!(found.directives.is_empty() && found.facts == Facts::default(), "{source}: {found:?}");
    }
}

#[test]
fn the_mark_is_the_first_thing_in_its_comment() {
    for comment in [
        "// retrylint: allow(x)",
        "//retrylint: allow(x)",
        "//\tretrylint: allow(x)",
        "/*retrylint: allow(x)*/",
        "/* retrylint: allow(x) */",
        "/*\n * retrylint: allow(x)\n */",
    ] {
        let found = comments(&format!("{comment}\nfn a() {{}}")).facts;
        let [one] = found.suppressions.as_slice() else { panic!("{comment}: {found:?}") };
        assert_eq!(one.rules.iter().map(|(rule, _)| rule.as_str()).collect::<Vec<_>>(), ["x"], "{comment}");
    }
}

#[test]
fn a_file_that_does_not_parse_is_heard_too() {
    let source = "fn a( {\n// retrylint: allow(no-backoff)\nb();\n}}}} ((\n'\n// retrylint: allow-file(x)\n";
    let scopes: Vec<_> = comments(source).facts.suppressions.iter().map(|one| one.scope).collect();
    let start = source.find("b();").unwrap();
    assert_eq!(scopes, [Scope::Range(Span::new(FileId(3), start..start + 4)), Scope::File]);
}

#[test]
fn many_comments_on_one_line_cost_no_more_than_a_pass() {
    let source = "a(/* retrylint: allow(x) */); ".repeat(20_000);
    assert_eq!(comments(&source).facts.suppressions.len(), 20_000);
}
