use super::*;

fn text(of: At, text: &str) -> &str {
    &text[of.start as usize..of.end as usize]
}

/// One line for each item: depth, kind, name, whether it is test code, header.
fn listed(source: &str) -> Vec<String> {
    let outline = Outline::of(source);
    assert_eq!(outline.broken, None, "{source}");
    let line = |(id, item): (u32, &Item)| {
        let depth = ". ".repeat(outline.around(id).count() - 1);
        let test = if item.is_test { " test" } else { "" };
        format!("{depth}{:?} {}{test} | {}", item.kind, name_of(item, source), text(item.header, source).trim_end())
    };
    (0u32..).zip(&outline.items).map(line).collect()
}

#[test]
fn every_kind_of_item_is_found_with_its_name_and_header() {
    for (source, expected) in [
        ("pub(crate) const MAX: u32 = { 3 };", "Const MAX | pub(crate) const MAX: u32 = { 3 };"),
        ("const _: () = assert!(true);", "Const _ | const _: () = assert!(true);"),
        ("static mut N: [u8; 2] = [1; 2];", "Static N | static mut N: [u8; 2] = [1; 2];"),
        ("use a::{b, c as d};", "Use  | use a::{b, c as d};"),
        ("extern crate alloc as a;", "ExternCrate alloc | extern crate alloc as a;"),
        ("unsafe extern \"C\" { fn f(); }", "Foreign  | unsafe extern \"C\""),
        ("extern { fn f(); }", "Foreign  | extern"),
        ("pub const unsafe extern \"C\" fn f() {}", "Fn f | pub const unsafe extern \"C\" fn f()"),
        ("extern fn f() {}", "Fn f | extern fn f()"),
        (
            "async fn r#try<F: Fn() -> u8>(f: F) -> Result<(), E> where F: Fn(u8) -> u8 { g() }",
            "Fn try | async fn r#try<F: Fn() -> u8>(f: F) -> Result<(), E> where F: Fn(u8) -> u8",
        ),
        ("fn f<const N: usize>() -> M<{ N + 1 }, { 2 }> { x }", "Fn f | fn f<const N: usize>() -> M<{ N + 1 }, { 2 }>"),
        (
            "fn f(x: [u8; { 3 }]) -> Option<Box<dyn Fn(u8) -> u8>> { x }",
            "Fn f | fn f(x: [u8; { 3 }]) -> Option<Box<dyn Fn(u8) -> u8>>",
        ),
        ("pub struct A<T>(T) where T: B;", "Struct A | pub struct A<T>(T) where T: B;"),
        ("struct A { b: u8 }", "Struct A | struct A"),
        ("union U { a: u8 }", "Struct U | union U"),
        ("enum E { A, B { c: u8 } }", "Enum E | enum E"),
        ("type A<T> = B<{ 1 }>;", "Type A | type A<T> = B<{ 1 }>;"),
        ("macro_rules! m { ($x:expr) => { $x }; }", "MacroRules m | macro_rules! m"),
        ("macro_rules! m ( () => {} );", "MacroRules m | macro_rules! m"),
        ("pub macro m($x:expr) { $x }", "MacroRules m | pub macro m($x:expr)"),
        ("::std::thread_local! { static A: u8 = 1; }", "Macro thread_local | ::std::thread_local!"),
        ("thread_local!(static A: u8 = 1);", "Macro thread_local | thread_local!"),
        ("mod a;", "Mod a | mod a;"),
        ("unsafe impl<T: A<B = C>> Send for x::W<T> {}", "Impl W | unsafe impl<T: A<B = C>> Send for x::W<T>"),
        ("impl<const N: usize> dyn A<{ N }> {}", "Impl A | impl<const N: usize> dyn A<{ N }>"),
        (
            "impl<F> T for F where F: for<'a> Fn(&'a u8) -> u8 {}",
            "Impl F | impl<F> T for F where F: for<'a> Fn(&'a u8) -> u8",
        ),
        ("impl T for [u8] {}", "Impl  | impl T for [u8]"),
        ("pub unsafe auto trait T: A<B> {}", "Trait T | pub unsafe auto trait T: A<B>"),
        ("trait A = B + C;", "Trait A | trait A = B + C;"),
    ] {
        assert_eq!(listed(source), [expected], "{source}");
    }
}

#[test]
fn items_of_modules_impls_and_traits_stand_below_them() {
    let source = "\
//! About.
use a::b;
/// Documented.
#[derive(A)] // and so on
pub struct S;
impl<T> fmt::Display for S<T> {
    const N: u8 = 1;
    type Out = u8;
    fn f(&self) { mod inner { fn deep() {} } }
    made! { fn hidden() {} }
}
mod m {
    #![allow(x)]
    trait T { fn a(); fn b() { } }
    mod n { fn c() {} }
}
fn last() {}
";
    let expected = [
        "Use  | use a::b;",
        "Struct S | pub struct S;",
        "Impl S | impl<T> fmt::Display for S<T>",
        ". Const N | const N: u8 = 1;",
        ". Type Out | type Out = u8;",
        ". Fn f | fn f(&self)",
        ". Macro made | made!",
        "Mod m | mod m",
        ". Trait T | trait T",
        ". . Fn a | fn a();",
        ". . Fn b | fn b()",
        ". Mod n | mod n",
        ". . Fn c | fn c()",
        "Fn last | fn last()",
    ];
    assert_eq!(listed(source), expected);
    let outline = Outline::of(source);
    let named = |name: &str| (0u32..).zip(&outline.items).find(|(_, item)| name_of(item, source) == name).unwrap();
    assert_eq!(text(named("S").1.range, source), "/// Documented.\n#[derive(A)] // and so on\npub struct S;");
    assert_eq!(outline.items[2].of_trait.map(|name| text(name, source)), Some("Display"));
    assert_eq!(text(named("f").1.body.unwrap(), source), "{ mod inner { fn deep() {} } }");
    assert_eq!(outline.module(Some(named("c").0), "crate::x", source), "crate::x::m::n");
    assert_eq!(outline.module(Some(named("N").0), "crate::x", source), "crate::x");
    let inside: Vec<_> = outline.inside(Some(named("m").0)).map(|(_, item)| name_of(item, source)).collect();
    assert_eq!(inside, ["T", "n"]);
    assert_eq!(outline.inside(None).count(), 5);
    let at =
        |needle: &str| outline.at(source.find(needle).unwrap()).map(|id| name_of(&outline.items[id as usize], source));
    assert_eq!(
        ["deep", "// and", "made", "fn b", "last", "//! About"].map(at),
        [Some("f"), Some("S"), Some("made"), Some("b"), Some("last"), None,]
    );
}

#[test]
fn attributes_tell_test_code_and_files_of_modules() {
    for (attribute, is_test) in [
        ("#[test]", true),
        ("#[tokio::test(flavor = \"multi_thread\")]", true),
        ("#[::core::prelude::v1::test]", true),
        ("#[rstest]", true),
        ("#[bench]", true),
        ("#[test_case(1, 2; \"one\")]", true),
        ("#[cfg(test)]", true),
        ("#[cfg(all(test, feature = \"x\"))]", true),
        ("#[cfg(any(test, fuzzing))]", true),
        ("#[cfg(all(not(unix), test))]", true),
        ("/// Doc.\n#[cfg(test)]\n// why\n#[allow(x)]", true),
        ("#[cfg(not(test))]", false),
        ("#[cfg(all(unix, not(any(test, fuzzing))))]", false),
        ("#[cfg(feature = \"test\")]", false),
        ("#[cfg_attr(test, derive(A))]", false),
        ("#[doc = \"test\"]", false),
        ("#[test::main]", false),
        ("// #[test]", false),
        ("/// #[test]", false),
    ] {
        let source = format!("fn before() {{}} {attribute} fn f() {{}} fn after() {{}}");
        let source = source.replace("// #[test] fn", "// #[test]\nfn");
        let outline = Outline::of(&source);
        assert_eq!(
            outline.items.iter().map(|item| item.is_test).collect::<Vec<_>>(),
            [false, is_test, false],
            "{source}"
        );
    }
    for (source, expected) in [
        ("#[cfg(test)] mod a { #[test] fn b() {} } fn c() {}", vec!["#[cfg(test)] mod a { #[test] fn b() {} }"]),
        ("mod a { #![cfg(test)] fn b() {} } fn c() {}", vec!["mod a { #![cfg(test)] fn b() {} }"]),
        ("impl A { #[cfg(test)] fn b() {} fn c() {} }", vec!["#[cfg(test)] fn b() {}"]),
        ("#![cfg(test)] fn c() {}", vec!["#![cfg(test)] fn c() {}"]),
        ("#![cfg(not(test))] fn c() {}", vec![]),
    ] {
        let outline = Outline::of(source);
        assert_eq!(outline.tests(source).map(|range| text(range, source)).collect::<Vec<_>>(), expected);
    }
    let source = "#[cfg(unix)] #[path = \"sys/unix.rs\"] mod sys;";
    assert_eq!(Outline::of(source).items[0].path.map(|path| text(path, source)), Some("sys/unix.rs"));
}

#[test]
fn what_does_not_match_is_told_and_what_stands_before_is_kept() {
    for (source, broken, names) in [
        ("fn a() {} fn b() { ( } fn c() {}", None, vec!["a", "b", "c"]),
        ("fn a() {} fn b() { fn c() {}", Some("{ fn c"), vec!["a"]),
        ("fn a() {} } fn b() {}", Some("} fn b"), vec!["a"]),
        ("mod m { fn a() {} fn b( } fn c() {}", Some("( }"), vec!["m", "a"]),
        ("mod m { fn a() {}", Some("{ fn a"), vec!["m", "a"]),
        ("fn a() {} fn b", Some("fn b"), vec!["a"]),
        ("fn a() {} # x fn b() {}", Some("# x"), vec!["a"]),
        // An item that is cut off does not swallow what follows.
        ("mod m { fn a } fn b() {}", None, vec!["m", "a", "b"]),
        ("what is this { } fn b() {}", None, vec!["", "b"]),
        ("", None, vec![]),
    ] {
        let outline = Outline::of(source);
        assert_eq!(outline.broken, broken.map(|broken| source.find(broken).unwrap()), "{source}");
        assert_eq!(outline.items.iter().map(|item| name_of(item, source)).collect::<Vec<_>>(), names, "{source}");
    }
}

#[test]
fn depth_and_size_cost_no_more_than_a_pass() {
    for open in [
        "mod a {",
        "{",
        "(",
        "#[a(",
        "impl A for ",
        "const A: B = [",
        "fn a() {",
        "pub ",
        "a::",
        "unsafe ",
        "\"",
        "/*",
        "'",
    ] {
        let source = open.repeat(100_000);
        let outline = Outline::of(&source);
        assert!(outline.items.len() <= 100_000);
        assert!(outline.items.iter().all(|item| item.range.start <= item.range.end));
        outline.tests(&source).count();
        outline.at(source.len() / 2);
    }
}

proptest::proptest! {
    #[test]
    fn ranges_are_nested_whatever_the_text(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..30)) {
        let source: String = pieces.concat();
        let outline = Outline::of(&source);
        for (id, item) in (0u32..).zip(&outline.items) {
            proptest::prop_assert!(item.range.start <= item.header.start && item.header.end <= item.range.end, "{source}: {item:?}");
            proptest::prop_assert!(item.body.is_none_or(|body| body.start == item.header.end && item.range.covers(body)), "{source}: {item:?}");
            let parent = item.parent.and_then(|parent| outline.get(parent));
            proptest::prop_assert!(parent.is_none_or(|parent| parent.range.covers(item.range)), "{source}: {item:?}");
            proptest::prop_assert!(item.next > id && item.next as usize <= outline.items.len());
            proptest::prop_assert!(source.get(item.range.start as usize..item.range.end as usize).is_some());
        }
    }
}

const PIECES: &[&str] = &[
    "fn ",
    "a",
    " ",
    "{",
    "}",
    "(",
    ")",
    ";",
    "impl ",
    "mod ",
    "trait ",
    "use ",
    "const ",
    "#[",
    "]",
    "#![cfg(test)]",
    "<",
    ">",
    "for ",
    "pub ",
    "extern ",
    "\"C\"",
    "!",
    "::",
    "macro_rules",
    "é",
    "///\n",
    "'",
    "\n",
    "=",
    "unsafe ",
    "static ",
    "where ",
];
