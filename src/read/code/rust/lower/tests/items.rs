//! Items: paths, owners, attributes.

use crate::read::code::fixture::{faults, function, shapes, unit};
use crate::read::code::tree::Kind;

fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        let unit = unit(text);
        assert_eq!(faults(&unit), Vec::<String>::new(), "{text}");
        assert_eq!(shapes(&unit), *expected, "{text}");
    }
}

#[test]
fn functions() {
    check(&[
        (
            "pub async fn f(a: &str, mut b: Option<u8>) -> io::Result<()> { a }",
            "async fn crate::f(a: str, b: Option) -> io::Result {a}",
        ),
        (
            "fn f<F: Fn()>(op: F, State(c): State<C>, (x, y): (u8, u8), g: impl Fn() -> u8, d: &dyn Tr) -> impl Future {}",
            "fn crate::f(op: F, c: State, _, g: Fn, d: Tr) -> Future {}",
        ),
        ("fn f() { fn g() { fn h() {} } }", "fn crate::f() {fn crate::f::g() {fn crate::f::g::h() {}}}"),
        ("mod a { mod b { fn f() {} } fn g() {} }", "fn crate::a::b::f() {}\nfn crate::a::g() {}"),
    ]);
}

#[test]
fn types_and_their_methods() {
    check(&[
        (
            "struct C { url: String, inner: Arc<Inner> } struct U; struct T(u8);",
            "type C [let url: String; let inner: Arc]\ntype U []\ntype T []",
        ),
        (
            "struct C; impl C { const N: u32 = 3; async fn g(&self, x: u8) -> Self { x } }",
            "type C []\ntype C [const crate::C::N = 3; async fn crate::C::g(self: C, x: u8) -> Self {x}]",
        ),
        (
            "impl<P> Policy<P> for Attempts<P> { fn retry(&mut self) {} }",
            "type Attempts: Policy [fn crate::Attempts::retry(self: Attempts) {}]",
        ),
        ("mod a { use super::C; impl C { fn g() {} } } struct C;", "type C [fn crate::C::g() {}]\ntype C []"),
        ("impl Ext for Vec<u8> { fn g(self) {} }", "type Vec: Ext [fn crate::Vec::g(self: Vec) {}]"),
        (
            "trait Tr: Send + Base { fn g(&self); fn h() { a } const N: u8; const M: u8 = 1; }",
            "type Tr: Send Base [fn crate::Tr::g(self: Tr); fn crate::Tr::h() {a}; const crate::Tr::M = 1]",
        ),
        ("enum E { A = 3, B, C(u8) }", "type E [const crate::E::A = 3]"),
        (
            "const N: u32 = 3; static S: Lazy<C> = Lazy::new(|| C::new());",
            "const crate::N = 3\nconst crate::S = Lazy::new(|| C::new())",
        ),
    ]);
}

#[test]
fn attributes() {
    check(&[
        (
            "/// Doc.\n#[tokio::main(flavor = \"x\")] #[retry(max = 3, on(E::T), jitter)] #[inline] fn f() {}",
            "#tokio::main(flavor: \"x\") #retry(max: 3, on(E::T), jitter) #inline fn crate::f() {}",
        ),
        ("#[derive(Clone, Debug)] struct S;", "#derive(Clone, Debug) type S []"),
        ("#[path = \"x.rs\"] fn f() {}", "#path(\"x.rs\") fn crate::f() {}"),
        ("struct S; impl S { #[cached] fn g() {} }", "type S []\ntype S [#cached fn crate::S::g() {}]"),
    ]);
}

#[test]
fn methods_know_their_type() {
    let unit = unit("mod a { pub struct C; } use a::C as D; impl Tr for D { fn g(&self) {} } fn h() {}");
    let Kind::Function { owner: Some(owner), path, .. } = unit.kind(function(&unit, "g")) else { panic!("a method") };
    assert_eq!((&*owner.text, owner.full.as_deref(), &**path), ("D", Some("crate::a::C"), "crate::a::C::g"));
    let Kind::Function { owner, .. } = unit.kind(function(&unit, "h")) else { panic!("a function") };
    assert_eq!(*owner, None);
}
