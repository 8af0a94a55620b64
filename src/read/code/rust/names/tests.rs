//! What names mean: the text of a file, and the full path of each `call()` in it, in the order in which they stand.

use std::sync::Arc;

use crate::read::code::fixture::{package, unit, unit_with};
use crate::read::code::packages::{Dependency, From, Package, PackageId};
use crate::read::code::rust::lower::read_whole;
use crate::read::code::tree::{Kind, Unit};
use crate::source::FileId;

fn read(text: &str, module: &str, package: &Package) -> Unit {
    read_whole(FileId(0), text, module, Some((PackageId(0), package))).expect("the text of a test parses")
}

/// A package with a dependency from outside on `backoff`, `tokio`, `tokio-retry` (as `tr`), `retry` and `log`.
fn app() -> Package {
    let names = [("backoff", "backoff"), ("tokio", "tokio"), ("tr", "tokio-retry"), ("retry", "retry"), ("log", "log")];
    package(&names.map(|(name, package)| (name, package, (1, 0, 0))))
}

/// The full paths of what is called by name, `-` where nothing explains it.
fn called(unit: &Unit) -> Vec<String> {
    let full = |kind: &Kind| match kind {
        Kind::Call { of, .. } => unit.callee(*of).map(|name| name.full.as_deref().unwrap_or("-").to_owned()),
        _ => None,
    };
    unit.ids().filter_map(|(_, node)| full(&node.kind)).collect()
}

fn check(cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        assert_eq!(called(&read(text, "crate::m", &app())), *expected, "{text}");
    }
}

#[test]
fn imports() {
    check(&[
        ("use backoff::retry; fn f() { retry() }", &["backoff::retry"]),
        ("use backoff::retry as again; fn f() { again(); retry() }", &["backoff::retry", "-"]),
        (
            "use backoff::{future, future::{retry, retry as b}, self as c}; fn f() { retry(); b(); future::g(); c::h() }",
            &["backoff::future::retry", "backoff::future::retry", "backoff::future::g", "backoff::h"],
        ),
        ("use backoff::future::{self}; fn f() { future::retry() }", &["backoff::future::retry"]),
        ("pub(crate) use backoff::retry; mod a { fn f() { super::retry(); retry() } }", &["backoff::retry", "-"]),
        ("use backoff as b; use b::retry; fn f() { retry() }", &["backoff::retry"]),
        (
            "fn f() { use backoff::retry; { use tokio::retry as r; r() } retry() } fn g() { retry() }",
            &["tokio::retry", "backoff::retry", "-"],
        ),
        (
            "fn f() { backoff::retry(); ::backoff::retry(); tokio::time::sleep() }",
            &["backoff::retry", "backoff::retry", "tokio::time::sleep"],
        ),
        ("extern crate backoff as b; fn f() { b::retry() }", &["backoff::retry"]),
        ("use r#tokio::r#try; fn f() { r#try() }", &["tokio::try"]),
    ]);
}

#[test]
fn renamed_packages_have_their_own_name() {
    check(&[
        ("use tr::Retry; fn f() { Retry::spawn() }", &["tokio_retry::Retry::spawn"]),
        ("fn f() { tr::strategy::jitter() }", &["tokio_retry::strategy::jitter"]),
        // The package is not called so here.
        ("fn f() { tokio_retry::Retry::spawn() }", &["-"]),
    ]);
}

#[test]
fn what_is_called_like_a_known_crate_is_not_one() {
    check(&[
        ("mod backoff; fn f() { backoff::retry() }", &["crate::m::backoff::retry"]),
        ("mod backoff { pub fn retry() {} } fn f() { backoff::retry() }", &["crate::m::backoff::retry"]),
        ("mod backoff; use backoff::retry; fn f() { retry() }", &["crate::m::backoff::retry"]),
        ("use crate::util::backoff; fn f() { backoff::retry() }", &["crate::util::backoff::retry"]),
        (
            "use crate::util::backoff; use backoff::retry; fn f() { retry(); ::backoff::retry() }",
            &["crate::util::backoff::retry", "backoff::retry"],
        ),
        ("fn retry() {} fn f() { retry(); self::retry() }", &["crate::m::retry", "crate::m::retry"]),
        // One name for a function and for a module.
        (
            "mod retry; use retry::retry; fn f() { retry(); retry::Policy::new() }",
            &["crate::m::retry::retry", "crate::m::retry::Policy::new"],
        ),
        (
            "use crate::util::retry; fn retry() {} fn f() { retry(); retry::Policy::new() }",
            &["crate::m::retry", "crate::util::retry::Policy::new"],
        ),
        ("use retry::retry; fn f() { retry(); retry::delay::jitter() }", &["retry::retry", "retry::delay::jitter"]),
        (
            "mod a { pub mod backoff {} fn f() { backoff::retry() } } fn g() { backoff::retry() }",
            &["crate::m::a::backoff::retry", "backoff::retry"],
        ),
        ("mod a { use super::*; fn f() { backoff::retry() } } mod backoff {}", &["crate::m::backoff::retry"]),
        ("fn f() { fn retry() {} retry(); } fn g() { retry() }", &["crate::m::f::retry", "-"]),
        ("fn f() { mod backoff {} backoff::retry() }", &["crate::m::f::backoff::retry"]),
    ]);
}

#[test]
fn other_names_for_types() {
    check(&[
        ("type Policy = tr::Retry; fn f() { Policy::spawn() }", &["tokio_retry::Retry::spawn"]),
        ("struct C; type D = C; impl D { fn g() { Self::h(); D::h() } }", &["crate::m::C::h", "crate::m::C::h"]),
        ("type A = B; type B = A; fn f() { A::g() }", &["B::g"]),
        ("type Pair<T> = (T, T); fn f() { Pair::g() }", &["crate::m::Pair::g"]),
    ]);
}

#[test]
fn items_in_macros_have_names() {
    let text = "lazy_static! { static ref C: Client = c(); } cfg_if! { if #[cfg(unix)] { fn g() {} } } fn f() { C.get(h(C)); g() }";
    assert_eq!(called(&read(text, "crate::m", &app())), ["-", "-", "crate::m::g"]);
}

#[test]
fn members_of_the_workspace() {
    let mut package = app();
    let inside =
        Dependency { package: "shared-backoff".into(), from: From::Inside(None), version: None, locked: false };
    package.dependencies.insert("backoff".into(), inside);
    package.library_name = Arc::from("payments");
    let text = "use backoff::retry; fn f() { retry(); payments::run(); payments_client::get() }";
    assert_eq!(called(&read(text, "crate", &package)), ["backoff::retry", "payments::run", "-"]);
}

#[test]
fn paths_within_the_package() {
    check(&[
        (
            "fn f() { crate::a::g(); self::g(); super::g(); super::super::g() }",
            &["crate::a::g", "crate::m::g", "crate::g", "crate::g"],
        ),
        ("mod a { fn f() { super::g(); self::g(); crate::g() } }", &["crate::m::g", "crate::m::a::g", "crate::g"]),
        (
            "use super::limits; use self::a::g; mod a; fn f() { limits::get(); g() }",
            &["crate::limits::get", "crate::m::a::g"],
        ),
        ("struct C; impl C { fn g() { Self::h(); C::h() } }", &["crate::m::C::h", "crate::m::C::h"]),
        ("use crate::c::C; impl C { fn g() { Self::h() } }", &["crate::c::C::h"]),
        ("trait T { fn g() { Self::h() } }", &["crate::m::T::h"]),
        ("impl Unknown { fn g() { Self::h() } }", &["-"]),
        // Handed on by an inline module.
        (
            "mod a { pub use backoff::retry; } use a::retry; fn f() { retry(); a::retry() }",
            &["backoff::retry", "backoff::retry"],
        ),
    ]);
}

#[test]
fn std_and_the_prelude() {
    check(&[
        (
            "use core::time::Duration; fn f() { Duration::from_secs(); alloc::vec::f(); std::thread::sleep() }",
            &["std::time::Duration::from_secs", "std::vec::f", "std::thread::sleep"],
        ),
        (
            "fn f() { Ok(); Some(); Vec::new(); String::from(); Default::default(); u32::from() }",
            &[
                "std::result::Result::Ok",
                "std::option::Option::Some",
                "std::vec::Vec::new",
                "std::string::String::from",
                "std::default::Default::default",
                "std::u32::from",
            ],
        ),
        ("use crate::Result::{self, Ok}; fn f() { Ok(); Result::g() }", &["crate::Result::Ok", "crate::Result::g"]),
        ("enum Option {} fn f() { Option::g() }", &["crate::m::Option::g"]),
    ]);
}

#[test]
fn locals_are_no_items() {
    check(&[
        ("fn op() {} fn f(op: F) { op() }", &["-"]),
        ("fn op() {} fn f() { op(); let op = g; op() } fn h() { op() }", &["crate::m::op", "-", "crate::m::op"]),
        ("fn op() {} fn f() { { let op = 1; op(); } op() }", &["-", "crate::m::op"]),
        ("fn op() {} fn f() { g(|op| op()); op() }", &["-", "-", "crate::m::op"]),
        (
            "fn op() {} fn f() { match x { Some(op) => op(), None => op() } if let Some(op) = x { op() } else { op() } }",
            &["-", "crate::m::op", "-", "crate::m::op"],
        ),
        (
            "fn op() {} fn f() { for op in x { op() } while let Some(op) = x { op() } op() }",
            &["-", "-", "crate::m::op"],
        ),
        ("fn op() {} fn f() { let Some(op) = x else { return op() }; op() }", &["crate::m::op", "-"]),
        ("fn op() {} fn f() { let op = op(); op() }", &["crate::m::op", "-"]),
        ("fn op() {} fn f() { let op = 1; fn g() { op() } op() }", &["crate::m::op", "-"]),
        ("fn op() {} fn f() { match x { Err(e) if let Some(op) = e => op(), _ => op() } }", &["-", "crate::m::op"]),
        // A module of the same name is not hidden.
        ("fn f(backoff: B) { backoff::retry(); backoff() }", &["backoff::retry", "-"]),
        // Nor is a type parameter an item.
        ("struct T; fn f<T>() { T::g() } fn h() { T::g() }", &["-", "crate::m::T::g"]),
    ]);
}

#[test]
fn without_a_package_any_crate_may_exist() {
    let text = "use backon::Retryable; fn f() { backon::a(); Retryable::b(); Unknown::c(); d() }";
    assert_eq!(called(&unit(text)), ["backon::a", "backon::Retryable::b", "-", "-"]);
    // With one, a path that begins with none of its dependencies is none.
    let unit = unit_with(text, &[("tokio", "tokio", (1, 0, 0))]);
    assert_eq!(called(&unit), ["-", "backon::Retryable::b", "-", "-"]);
}

#[test]
fn macros_have_names() {
    check(&[
        (
            "use tokio::select; use log::warn as w; fn f() { my!(); w!(); tokio::join!(a); log::warn!() } ",
            &["-", "log::warn!", "tokio::join!", "log::warn!"],
        ),
        ("macro_rules! retry { () => {}; } fn f() { retry!() }", &["crate::retry!"]),
        // A function of that name is no macro.
        ("fn retry() {} fn f() { retry!() }", &["-"]),
    ]);
}

#[test]
fn a_unit_knows_its_imports() {
    let text = "use backoff::{self, retry as r, *}; use tr::Action as _; use log::prelude::*; use tr::*;
        mod a { use super::g; use self::E::*; enum E { A } }
        fn f() { use tokio::time::*; use tokio::spawn; }";
    let unit = read(text, "crate::m", &app());
    let imports: Vec<(Option<&str>, &str)> =
        unit.imports.iter().map(|import| (import.name.as_deref(), &*import.full)).collect();
    assert_eq!(
        imports,
        [
            (Some("backoff"), "backoff"),
            (Some("r"), "backoff::retry"),
            (None, "tokio_retry::Action"),
            (Some("g"), "crate::m::g"),
            (Some("spawn"), "tokio::spawn"),
        ]
    );
    let globs: Vec<&str> = unit.globs.iter().map(|glob| &**glob).collect();
    assert_eq!(globs, ["backoff", "log::prelude", "tokio_retry", "crate::m::a::E", "tokio::time"]);
}

#[test]
fn circles_and_long_paths_end() {
    let circle =
        "use a::b as c; use c::d as a; use super::*; mod e { use super::*; use f::*; } fn f() { a(); c::x(); y() }";
    read(circle, "crate", &app());
    let globs: String = (0..300).map(|n| format!("use m{n}::*; ")).collect();
    read(&format!("{globs} fn f() {{ {} }}", "x::y(); ".repeat(300)), "crate", &app());
    let long = format!("use {}::{{b, c}}; fn f() {{ {}() }}", ["a"; 200].join("::"), ["crate"; 200].join("::"));
    assert!(read(&long, "crate", &app()).imports.is_empty());
}
