//! Values: literals, names, operators, calls.

use super::check;
use crate::read::code::fixture::{function, text_at, unit};
use crate::read::code::tree::{Id, Kind};

#[test]
fn literals() {
    check(&[
        ("5; 5u32; 1_000; 0x1F; b'a'", "5; 5u32; 1000; 31; 97u8"),
        ("1.5; 2e3; 5f64", "1.5; 2000.0; 5.0f64"),
        (r#""a\n"; 'x'; b"ab"; c"cd""#, r#""a\n"; "x"; "ab"; "cd""#),
        ("true; (); None; Option::<u8>::None", "true; (); null; null"),
        // Greater than anything that is written for a count: its value is unknown.
        ("999999999999999999999999999999999999999999", "opaque[]"),
    ]);
}

#[test]
fn what_changes_nothing_leaves_no_node() {
    check(&[
        ("(a); &a; &mut a; *a; a as u64; unsafe { a }; const { a }", "a; a; a; a; a; a; a"),
        ("unsafe { g(); h() }", "{g(); h()}"),
        ("{ a }", "{a}"),
        ("(&(*a as u32)).b", "a.b"),
    ]);
}

#[test]
fn operators() {
    check(&[
        ("a + b * c - 1", "((a + (b * c)) - 1)"),
        ("a && b && c || d || e", "((a && b && c) || d || e)"),
        ("!a; -1; 1 << n; a % 2 == 0", "(!a); (-1); (1 << n); ((a % 2) == 0)"),
        ("a == b; a != b; a < b; a <= b; a > b; a >= b", "(a == b); (a != b); (a < b); (a <= b); (a > b); (a >= b)"),
        (
            "n += 1; n -= 1; d *= 2; d <<= 1; n = 0; o.retry.max = 5",
            "n += 1; n -= 1; d *= 2; d <<= 1; n = 0; o.retry.max = 5",
        ),
        ("0..n; 1..=n; ..3; 1..; ..", "(0..n); (1..=n); (..3); (1..); (..)"),
    ]);
}

#[test]
fn data() {
    check(&[
        ("[a, b]; (a, 1); vec![a]; [a; 3]; vec![0u8; 2]", "[a, b]; [a, 1]; [a]; [a, a, a]; [0u8, 0u8]"),
        // What the length or the value does is not written out.
        ("[a; n]; [g(); 3]; [a; 65]", "opaque[a, n]; opaque[g(), 3]; opaque[a, 65]"),
        ("P { a, b: 1, ..P::default() }; m::P {}", "P{a: a, b: 1 ..P::default()}; m::P{}"),
        (r#"o.a.0; v[0]; v[i]; v["k"]"#, "o.a.0; v[0]; v[i]; v.k"),
    ]);
}

#[test]
fn calls() {
    check(&[
        (
            "f(1, g(x)); m::f(); f::<u8, Vec<T>>(x); Vec::<u8>::new()",
            "f(1, g(x)); m::f(); f::<u8, Vec>(x); Vec::new::<u8>()",
        ),
        ("a.b(1).c::<T>().await.d", "a.b(1).c::<T>().await.d"),
        ("(self.f)(x); f(x)(y)", "self.f(x); f(x)(y)"),
        ("<T as Tr>::f(x); <Vec<u8>>::new()", "Tr::f(x); Vec::new()"),
        ("op.retry(p).when(q).await", "op.retry(p).when(q).await"),
        ("Ok(1); Some(x); Box::pin(async { x })", "Ok(1); Some(x); Box::pin(async || {x})"),
    ]);
}

#[test]
fn closures() {
    check(&[
        ("|x| x + 1; |_, (a, b), y: u8| { y }", "|x| (x + 1); |_, _, y| {y}"),
        ("|| async move { g().await }", "|| async || {g().await}"),
        ("async move |n| n; async { 1 }", "async |n| n; async || {1}"),
    ]);
}

#[test]
fn work_that_leaves_the_request() {
    check(&[
        ("tokio::spawn(async { g() })", "spawn tokio::spawn(async || {g()})"),
        ("use tokio::task; task::spawn_blocking(g)", "spawn task::spawn_blocking(g)"),
        ("std::thread::spawn(g); rayon::spawn(g)", "spawn std::thread::spawn(g); spawn rayon::spawn(g)"),
        // Retries, a child process, a function of the file's own.
        ("tokio_retry::Retry::spawn(s, g); c.spawn()", "tokio_retry::Retry::spawn(s, g); c.spawn()"),
        ("fn spawn() {} spawn(g)", "fn crate::f::spawn() {}; spawn(g)"),
    ]);
}

#[test]
fn a_node_stands_where_its_text_stands() {
    let text = "fn f() {\n    let é = (&op).retry(p).when(|e| e.x()).await?;\n    n += (1 + a[2]) as u64;\n}";
    let unit = unit(text);
    let texts = |want: fn(&Kind) -> bool| {
        let all: Vec<&str> =
            unit.ids().filter(|(_, node)| want(&node.kind)).map(|(id, _)| text_at(&unit, id, text)).collect();
        all
    };
    let methods = texts(|kind| matches!(kind, Kind::Method { .. }));
    assert_eq!(methods, ["(&op).retry(p)", "e.x()", "(&op).retry(p).when(|e| e.x())"]);
    assert_eq!(texts(|kind| matches!(kind, Kind::Await(_))), ["(&op).retry(p).when(|e| e.x()).await"]);
    assert_eq!(texts(|kind| matches!(kind, Kind::Branch { .. })), ["(&op).retry(p).when(|e| e.x()).await?"]);
    assert_eq!(texts(|kind| matches!(kind, Kind::Exit { .. })), ["?"]);
    assert_eq!(texts(|kind| matches!(kind, Kind::Let { .. })), ["let é = (&op).retry(p).when(|e| e.x()).await?;"]);
    assert_eq!(texts(|kind| matches!(kind, Kind::Assign { .. })), ["n += (1 + a[2]) as u64"]);
    assert_eq!(texts(|kind| matches!(kind, Kind::Index { .. })), ["a[2]"]);
    assert_eq!(text_at(&unit, function(&unit, "f"), text), text);
    let names: Vec<&str> = (0..unit.nodes.len() as Id)
        .filter_map(|id| match unit.kind(id) {
            Kind::Method { name_at, .. } => text.get(name_at.start as usize..name_at.end as usize),
            _ => None,
        })
        .collect();
    assert_eq!(names, ["retry", "x", "when"]);
}

#[test]
fn what_nests_as_deep_as_the_parser_is_given_fits_on_its_stack() {
    let texts = [
        format!("b{}", ".a()".repeat(5_000)),
        format!("{}1", "1 + ".repeat(5_000)),
        format!("{}1", "a && ".repeat(5_000)),
        format!("{}1", "a = ".repeat(2_500)),
        format!("{}{{}}", "if r.is_ok() {} else ".repeat(2_500)),
        format!("{}{{}}", "if r {} else ".repeat(5_000)),
        format!("{}1", "|| ".repeat(250)),
        format!("{}1", "return ".repeat(250)),
        format!("{}a{}", "(".repeat(250), ")".repeat(250)),
        format!("{}{}", "{".repeat(250), "}".repeat(250)),
        format!("{}{}", "if a { loop {".repeat(120), "}}".repeat(120)),
        format!("{}{}", "m!(".repeat(250), ")".repeat(250)),
        format!("{}{}", "m!{ a b (".repeat(120), ")}".repeat(120)),
        format!("match x {{ {}a{} => 1 }}", "Ok(".repeat(250), ")".repeat(250)),
        format!("match x {{ {}3{} => 1 }}", "Some(".repeat(250), ")".repeat(250)),
        format!("if let {}3{} = x {{}}", "(X { a: Err(".repeat(80), ") })".repeat(80)),
        format!("{}x{}", "matches!(".repeat(250), ", Ok(_))".repeat(250)),
        format!("{}x{}", "if !matches!(".repeat(80), ", Ok(_)) {}".repeat(80)),
    ];
    let read = move || texts.map(|text| unit(&format!("fn f() {{ {text} }}")).nodes.len());
    let read = std::thread::Builder::new().stack_size(64 << 20).spawn(read);
    let nodes = read.expect("a thread starts").join().expect("deep texts are read");
    // The whole chain, or at least the function around what is not read.
    assert!(nodes[0] > 5_000 && nodes[1] > 5_000 && nodes.iter().all(|count| *count > 2), "{nodes:?}");
}
