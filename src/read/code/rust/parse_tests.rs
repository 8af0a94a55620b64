use super::super::{How, Read, STACK, item, read};
use super::*;
use crate::read::code::fixture::{faults, function, shape, shapes, text_at};
use crate::read::code::rust::guard::tests::{HOSTILE, nested};
use crate::read::code::search::Search;
use crate::read::code::tree::Kind;
use crate::source::FileId;

/// Runs on a thread like those that read files.
pub(in crate::read::code::rust) fn on_large_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, run).unwrap();
        thread.join().unwrap()
    })
}

fn input(text: &str) -> Input<'_> {
    Input { file: FileId(7), text, module: "crate::m", package: None }
}

fn read_as(text: &str, how: How) -> Read {
    let read = on_large_stack(|| read(input(text), &Search::all_with(["retry", "sleep"]), how));
    assert_eq!(faults(&read.unit), [""; 0]);
    read
}

fn ranges(text: &str) -> Read {
    read_as(text, How::Ranges)
}

/// The paths of the functions of a unit.
fn functions(unit: &Unit) -> Vec<&str> {
    let paths = unit.nodes.iter().filter_map(|node| match &node.kind {
        Kind::Function { path, .. } => Some(&**path),
        _ => None,
    });
    paths.collect()
}

/// What could not be read: the text from there on, up to a few letters, and the message.
fn problems<'t>(read: &Read, text: &'t str) -> Vec<(&'t str, String)> {
    let told = |problem: &Problem| {
        assert_eq!((problem.span.file, problem.recognised), (FileId(7), true));
        let rest = &text[problem.span.start as usize..];
        (rest.get(..10).unwrap_or(rest), problem.message.clone())
    };
    read.problems.iter().map(told).collect()
}

#[test]
fn what_is_worth_it_is_read_and_names_know_the_rest() {
    let source = "\
use tokio::time::sleep as pause;
use super::limits::*;
const MAX: u32 = 3;
pub struct Client;
fn helper() -> u32 { 4 }
fn unread() { helper() }
impl Client {
    const N: u32 = 5;
    async fn send(&self) { retry(MAX, Self::N, helper(), Client, inner::deep()).await }
    fn quiet(&self) {}
}
mod inner { pub fn deep() { crate::m::helper(); retry() } pub fn flat() {} }
#[cfg(test)]
mod tests { #[test] fn checks() { sleep() } }
";
    let read = ranges(source);
    assert_eq!(functions(&read.unit), ["crate::m::Client::send", "crate::m::inner::deep", "crate::m::tests::checks"]);
    assert_eq!(shapes(&read.unit).matches("const").count(), 2, "{}", shapes(&read.unit));
    let send = function(&read.unit, "send");
    assert_eq!(text_at(&read.unit, send, source), source.lines().nth(8).unwrap().trim());
    let names = read.unit.below(send).filter_map(|id| match read.unit.kind(id) {
        Kind::Name(name) => Some(name.best().to_owned()),
        _ => None,
    });
    assert_eq!(
        names.collect::<Vec<_>>(),
        [
            "retry",
            "crate::m::MAX",
            "crate::m::Client::N",
            "crate::m::helper",
            "crate::m::Client",
            "crate::m::inner::deep",
        ]
    );
    assert_eq!(read.unit.imports.len(), 1);
    assert_eq!(read.unit.globs.iter().map(|glob| &**glob).collect::<Vec<_>>(), ["crate::limits"]);
    let tests: Vec<_> = read.unit.tests.iter().map(|at| &source[at.start as usize..at.end as usize]).collect();
    assert_eq!(
        tests,
        [source
            .split_once("inner::deep()")
            .unwrap()
            .1
            .split_once("#[cfg")
            .map(|(_, rest)| format!("#[cfg{}", rest.trim_end()))
            .unwrap()]
    );
    assert!(read.unit.is_test(read.unit.at(function(&read.unit, "checks"))));
    assert!(read.problems.is_empty());
    // Nothing of it holds a word of these.
    let nothing = on_large_stack(|| super::super::read(input(source), &Search::all_with(["backoff"]), How::Ranges));
    assert_eq!((nothing.unit.nodes.len(), nothing.unit.imports.len()), (0, 0));
}

#[test]
fn names_mean_the_same_whatever_is_left_out() {
    let source = "\
use tokio::time;
type Pause = time::Sleep;
type Own = Client;
type Many<T> = Vec<T>;
struct Client;
fn f(a: Pause, b: Own, c: inner::Far, d: Many<u8>) { retry(Own::new(), Pause::until(), Many::new()) }
mod inner { pub type Far = super::Client; type Near = super::time::Instant; fn g(a: Near) { retry() } }
impl Iterator for Client { type Item = u8; fn next(&mut self) {} }
pin_project! { /// Held.
    pub struct Pinned { #[pin] inner: u8 } }
lazy! { static ref ONE: u8 = { fn hidden() {} 1 }; }
made! { fn made() { fn hidden() {} } }
fn h() { retry(Pinned::new(), made(), ONE, hidden()) }
";
    let names = |how: How, name: &str| -> Vec<String> {
        let unit = read_as(source, how).unit;
        let function = function(&unit, name);
        let kinds = unit.below(function).map(|id| format!("{:?}", unit.kind(id)));
        kinds.map(|kind| kind.chars().filter(|char| !char.is_ascii_digit()).collect()).collect()
    };
    for name in ["f", "g", "h"] {
        assert_eq!(names(How::Ranges, name), names(How::Whole, name));
    }
    let all = names(How::Ranges, "f").concat() + &names(How::Ranges, "g").concat();
    for full in ["tokio::time::Sleep", "crate::m::Client::new", "crate::m::Client\"", "tokio::time::Instant"] {
        assert!(all.contains(full), "{full}: {all}");
    }
    let defined = names(How::Ranges, "h").concat();
    for full in ["crate::m::Pinned::new", "crate::m::made", "crate::m::ONE"] {
        assert!(defined.contains(full), "{full}: {defined}");
    }
    assert!(!defined.contains("crate::m::hidden"), "{defined}");
    // The type that an impl is made of takes no impl with it.
    assert!(!shapes(&ranges(source).unit).contains("Iterator"));
}

#[test]
fn statements_for_tests_are_test_code_too() {
    let source = "\
fn f() {
    retry();
    #[cfg(test)]
    retry(1);
    #[cfg(not(test))]
    retry(2);
    match x { #[cfg(test)] A => retry(3), B => retry(4) }
    #[cfg(all(test, unix))]
    { retry(5); }
    retry(6, \"#[cfg(test)]\");
}
";
    for how in [How::Ranges, How::Whole] {
        let read = read_as(source, how);
        let tests: Vec<_> = read.unit.tests.iter().map(|at| &source[at.start as usize..at.end as usize]).collect();
        assert_eq!(
            tests,
            ["#[cfg(test)]\n    retry(1);", "#[cfg(test)] A => retry(3)", "#[cfg(all(test, unix))]\n    { retry(5); }",]
        );
    }
}

#[test]
fn spans_are_those_of_the_file() {
    let body = "fn a() {}\nimpl Größe { fn ä() {} fn f(&self) { retry(\"é\", 'ß', /* ü */ r#\"“\"#) } }\nmacro_rules! m { () => {} }\n";
    for before in [
        "",
        "\u{feff}",
        "#!/usr/bin/env run-cargo-script\n",
        "\u{feff}#!/usr/bin/env ü\r\n---cargo\n[package]\n---\n",
        "// ünï\n/* cödé */\n",
        "#![allow(x)]\n",
    ] {
        let source = format!("{before}{body}");
        for how in [How::Ranges, How::Whole] {
            let read = read_as(&source, how);
            assert_eq!(read.problems, [], "{before}");
            let texts: Vec<_> =
                read.unit.below(function(&read.unit, "f")).map(|id| text_at(&read.unit, id, &source)).collect();
            assert_eq!(
                texts,
                [
                    "retry",
                    "\"é\"",
                    "'ß'",
                    "r#\"“\"#",
                    "retry(\"é\", 'ß', /* ü */ r#\"“\"#)",
                    "{ retry(\"é\", 'ß', /* ü */ r#\"“\"#) }",
                    "fn f(&self) { retry(\"é\", 'ß', /* ü */ r#\"“\"#) }",
                ]
            );
        }
    }
}

#[test]
fn an_item_that_does_not_parse_costs_no_other() {
    let source = "\
use tokio::time::sleep;
fn a() { sleep() }
fn b() { sleep( ; }
impl C { fn d() { sleep() } fn e() { let = sleep(); } }
mod m { use super::*; fn f() { x::sleep() } }
fn quiet() { what even is this }
";
    for how in [How::Ranges, How::Whole] {
        let read = read_as(source, how);
        assert_eq!(functions(&read.unit), ["crate::m::a", "crate::m::C::d", "crate::m::m::f"]);
        assert_eq!(read.unit.imports.len(), 1);
        let mut expected = vec![
            ("}\nimpl C {".to_owned(), "`b` does not parse: brackets do not match"),
            ("= sleep();".to_owned(), "`e` does not parse: "),
        ];
        if how == How::Whole {
            expected.push(("even is th".to_owned(), "`quiet` does not parse: "));
        }
        let found = problems(&read, source);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for ((at, message), (expected_at, begins)) in found.iter().zip(&expected) {
            assert!(at == expected_at && message.starts_with(begins), "{found:?}");
        }
        assert!(read.problems.iter().all(|problem| problem.partial && !problem.template));
    }
}

#[test]
fn a_file_whose_brackets_do_not_match_is_read_up_to_there() {
    for (source, at, message, functions_read) in [
        ("fn a() { retry() } fn b() { retry( fn c() { ", "{ retry( f", "`{` is never closed", vec!["crate::m::a"]),
        ("fn a() { retry() } } fn b() { retry() }", "} fn b() {", "`}` closes nothing", vec!["crate::m::a"]),
        ("mod m { fn a() { retry() }", "{ fn a() {", "`{` is never closed", vec!["crate::m::m::a"]),
        ("fn a() { retry() } fn b", "fn b", "an item does not end", vec!["crate::m::a"]),
        (
            "fn a() { retry() } /* /* */ fn b() { retry() }",
            "/* /* */ f",
            "a comment is never closed",
            vec!["crate::m::a"],
        ),
    ] {
        let read = ranges(source);
        assert_eq!(problems(&read, source), [(at, message.to_owned())]);
        assert!(!read.problems[0].partial);
        assert_eq!(functions(&read.unit), functions_read);
    }
    let lexing = "fn a() { retry() } fn b() { retry(\u{201c}) } fn c() { retry() }";
    let read = ranges(lexing);
    assert_eq!(functions(&read.unit), ["crate::m::a", "crate::m::c"]);
    assert_eq!(
        problems(&read, lexing),
        [("\u{201c}) } fn ", "`b` does not parse: no word begins like this, or a text has no end".to_owned(),)]
    );
    for (source, is_template) in [
        ("fn a() { retry({{ count }}) } fn b() {", true),
        ("{% if x %} fn a() { retry() } {% endif %} }", true),
        ("macro_rules! m { () => {{ retry() }} } fn b() { \"{{\" ", false),
        ("fn a() { retry({{{{{{{{{{ ", false),
        ("fn a() {{ retry();\n }} } fn b() {", false),
        ("fn a() { retry(); {%\u{7} } fn b() {", false),
    ] {
        let read = ranges(source);
        assert!(
            !read.problems.is_empty() && read.problems.iter().all(|problem| problem.template == is_template),
            "{source}"
        );
    }
}

#[test]
fn hostile_nesting_costs_its_own_item_only() {
    for (open, middle, close, most, why) in HOSTILE {
        for (count, how) in [(100_000, How::Ranges), (6_000, How::Whole)] {
            let body = nested(open, middle, close, count).replacen("x =", "retry", 1);
            let source = format!(
                "// retrylint: allow(no-backoff)\nfn a() {{ retry() }}\n{body}\nimpl B {{ fn c() {{ retry() }} }}\n"
            );
            let read = read_as(&source, how);
            assert_eq!(functions(&read.unit), ["crate::m::a", "crate::m::B::c"], "{open}");
            let told: Vec<_> = read.problems.iter().map(|problem| (&*problem.message, problem.partial)).collect();
            assert_eq!(told, [(*why, true)], "{open}");
            assert_eq!(read.facts.suppressions.len(), 1);
        }
        // As much as is let through is parsed, lowered and dropped on the stack that there is.
        let deep = format!("{}{middle}{}", open.repeat(most - 8), close.repeat(most - 8));
        for source in [
            format!("fn f() {{ retry; x = {deep}; }}"),
            format!("fn f() {{ retry; let x: {deep} = y; }}"),
            format!("fn f() {{ retry; if let {deep} = y {{}} }}"),
            format!("fn f() {{ retry!({deep}) }}"),
            format!("retry! {{ {deep} }}"),
        ] {
            let told = read_as(&source, How::Ranges).problems;
            assert!(told.iter().all(|problem| problem.message.contains("does not parse")), "{told:?}");
        }
    }
}

#[test]
fn too_much_at_once_is_not_parsed() {
    let source = format!("fn a() {{ retry() }} fn b() {{ retry(\"{}\") }}", "x".repeat(9_000_000));
    let read = ranges(&source);
    assert_eq!(functions(&read.unit), ["crate::m::a"]);
    assert_eq!(
        problems(&read, &source),
        [("fn b() { r", "`b` does not parse: 9 MB at once are too much for the parser".to_owned(),)]
    );
}

#[test]
fn one_item_is_read_by_its_path() {
    let source = "\
use std::time::Duration;
pub const MAX: u32 = 3;
#[cfg(unix)] static PAUSE: Duration = Duration::from_secs(1);
#[cfg(windows)] static PAUSE: Duration = Duration::from_secs(2);
struct Client { max: u32 }
impl Client { const N: u32 = 4; fn new() -> Self { Client { max: MAX } } }
impl Default for Client { fn default() -> Self { Self::new() } }
trait Send { fn retries() -> u32 { 5 } }
enum Level { Low = 1, High = 2 }
mod inner { pub mod more { pub const DEEP: u32 = 6; } impl super::Client { fn far() {} } }
fn broken() { ( ; }
";
    for (path, expected) in [
        ("MAX", Some("const crate::m::MAX = 3")),
        ("Client::N", None),
        ("Nothing", None),
        ("inner::MAX", None),
        ("Client::Nothing", None),
        ("broken", Some("")),
    ] {
        let unit = on_large_stack(|| both_ways(source, path));
        match (path, &unit) {
            ("Client::N", Some(unit)) => assert_eq!(unit.items.len(), 1),
            (_, unit) => assert_eq!(unit.as_ref().map(shapes).as_deref(), expected, "{path}"),
        }
    }
    for (path, count) in [
        ("PAUSE", 2),
        ("Client", 1),
        ("Client::new", 1),
        ("Client::default", 1),
        ("Send::retries", 1),
        ("Level::High", 1),
        ("inner::more::DEEP", 1),
        ("inner::Client::far", 1),
    ] {
        let unit = on_large_stack(|| both_ways(source, path)).unwrap();
        assert_eq!(unit.items.len(), count, "{path}: {}", shapes(&unit));
        assert_eq!(unit.imports.len(), 1);
        assert_eq!(faults(&unit), [""; 0]);
        let first = unit.items[0];
        assert!(!shape(&unit, first).is_empty());
    }
}

/// An item, which comes out the same whether it is known already what names mean in its file or not.
fn both_ways(source: &str, path: &str) -> Option<Unit> {
    let outline = Outline::of(source);
    let names = Reading::names_of(input(source), &outline);
    assert!(names.is_some());
    let known = item(input(source), &outline, names, path);
    assert_eq!(known, item(input(source), &outline, None, path), "{path}");
    known
}

#[test]
fn names_are_known_if_the_imports_parse() {
    let names = |source: &str| on_large_stack(|| Reading::names_of(input(source), &Outline::of(source)).is_some());
    assert!(names("use a::b; fn f() { ( ; }"));
    assert!(names(""));
    assert!(!names("use a::b c; fn f() {}"));
}
