//! Macros, known and unknown.

use super::check;
use crate::read::code::fixture::{body, faults, function, shapes, unit};
use crate::read::code::tree::Kind;

#[test]
fn texts() {
    check(&[
        (r#"format!("a")"#, r#""a""#),
        (r#"format!("http://{}/v{v}/{id:>3}", h, id = g(1))"#, "`http://{h}/v{v}/{g(1)}`"),
        (r#"format!("{1}-{0}-{{}}", a, b)"#, "`{b}-{a}-{}`"),
        (r#"format_args!("{:?}", x.y)"#, "`{x.y}`"),
        // Shown twice: the second time as something unknown.
        (r#"format!("{0}{0}", g())"#, "`{g()}{opaque[]}`"),
        (r#"concat!("a", 1, X)"#, "`a1{X}`"),
        (r#"concat!("a", "b")"#, r#""ab""#),
    ]);
}

#[test]
fn logs_and_the_like() {
    check(&[
        (r#"println!("done")"#, r#"println!("done")"#),
        (r#"warn!("try {} of {n}", a)"#, "warn!(`try {a} of {n}`)"),
        (r#"tracing::warn!(error = ?e, attempt, "again {}", n)"#, "tracing::warn!(error: e, attempt, `again {n}`)"),
        (r#"info!(target: "t", %e, "x")"#, r#"info!(target: "t", e, "x")"#),
        (r#"write!(f, "{}", x)"#, "write!(f, `{x}`)"),
        (r#"anyhow!("no {x}")"#, "anyhow!(`no {x}`)"),
        ("assert!(a == b); dbg!(x)", "assert!((a == b)); dbg!(x)"),
        (r#"env!("X")"#, r#"env!("X")"#),
    ]);
}

#[test]
fn ways_out() {
    check(&[
        (
            r#"panic!("no {x}"); unreachable!(); todo!(); unimplemented!("a")"#,
            r#"abort `no {x}`; abort; abort; abort "a""#,
        ),
        (r#"bail!("no {x}")"#, "return Err(bail!(`no {x}`))"),
        ("bail!(E::T)", "return Err(bail!(E::T))"),
        (r#"ensure!(a < b, "no")"#, r#"? [if (!(a < b)) -> return Err(ensure!("no"))]"#),
        ("ensure!(r.is_ok(), E)", "r ? [failure -> return Err(ensure!(E))]"),
        ("let x = ready!(p);", "let x = p ? [is Pending -> return]"),
    ]);
}

#[test]
fn what_is_there_first() {
    check(&[
        (
            "tokio::select! { biased; _ = sleep(d) => {} r = op(), if n < 3 => r?, else => return }",
            "race [sleep(d) ? else -> {}, op() ? else r when (n < 3) -> r ? [failure -> return], opaque[] ? else -> return]",
        ),
        (
            "select! { Some(x) = rx.recv() => g(x), Err(e) = h => { break } }",
            "race [rx.recv() ? is Some x -> g(x), h ? failure e -> {break}]",
        ),
        (
            "futures::select! { a = fa => a, complete => break, default => {} }",
            "race [fa ? else a -> a, opaque[] ? else -> break, opaque[] ? else -> {}]",
        ),
        (
            "select! { recv(r) -> m => g(m), default(d) => {} }",
            "race [recv(r) ? else m -> g(m), opaque[] ? else -> {}]",
        ),
        ("tokio::join!(a(), b())", "tokio::join!(a(), b())"),
        ("try_stream! { yield op()?; }", "try_stream!(async || {opaque[op() ? [failure -> return]]})"),
    ]);
}

#[test]
fn other_macros_keep_what_reads_as_rust() {
    check(&[
        (r#"json!({ "a": op(), "b": [1, g(x)], "c": null })"#, r#"json!(opaque[op(), [1, g(x)], null])"#),
        ("retry!(3, op().await)", "retry!(3, op().await)"),
        ("retry! { let x = op(); x? }", "retry!({let x = op(); x ? [failure -> return]})"),
        ("my!(x => op(y), z)", "my!(x: op(y), z)"),
        ("my!(x y (op(z)))", "my!(opaque[op(z)])"),
        ("my!(a: 1, b = 2)", "my!(a: 1, b: 2)"),
        ("my!()", "my!()"),
    ]);
}

#[test]
fn only_what_had_to_be_guessed_is_marked() {
    let unit = unit("fn f() { vec![a]; retry!(b); select! { x = c => {} } }");
    let names = unit.ids().filter(|(id, _)| unit.is_from_macro(*id)).map(|(_, node)| &node.kind);
    let names: Vec<&str> = names.map(|kind| if let Kind::Name(name) = kind { &*name.text } else { "" }).collect();
    assert_eq!(names, ["b"]);
}

#[test]
fn items_in_macros() {
    let unit = unit(
        "cfg_if! { if #[cfg(unix)] { fn f() { a } } else { fn g() { b } } }
         lazy_static! { pub static ref N: u32 = 3; static ref M: u8 = n(); }
         thread_local! { static T: u8 = 1; }
         criterion_main!(x);",
    );
    assert_eq!(faults(&unit), Vec::<String>::new());
    assert_eq!(
        shapes(&unit),
        "fn crate::f() {a}\nfn crate::g() {b}\nconst crate::N = 3\nconst crate::M = n()\nconst crate::T = 1"
    );
    assert!(unit.is_from_macro(function(&unit, "f")));
}

#[test]
fn rules_of_macros_are_functions() {
    let text = "macro_rules! retry {
        ($op:expr, $max:expr) => {{
            for _ in 0..$max { match $op { Ok(v) => return v, Err(e) => log(e) } }
        }};
        ($($op:expr),*) => { $(g($op);)* h($crate::MAX) };
        ($t:ty) => { impl $t for $crate };
    }
    fn f() { retry!(op(), 3) }";
    let unit = unit(text);
    assert_eq!(faults(&unit), Vec::<String>::new());
    let shapes = shapes(&unit);
    let mut lines = shapes.lines();
    assert_eq!(
        lines.next(),
        Some("fn crate::retry!(op, max) {{count _ in (0..max) {op ? [success v -> return v, failure e -> log(e)]}}}")
    );
    assert_eq!(lines.next(), Some("fn crate::retry!(op) {g(op); h(crate::MAX)}"));
    assert_eq!(lines.next(), Some("fn crate::f() {retry!(op(), 3)}"));
    assert_eq!(body(&unit), "retry!(op(), 3)");
    let a_loop = unit.ids().find(|(_, node)| matches!(node.kind, Kind::Loop { .. })).map(|(id, _)| id).unwrap();
    assert!(text[unit.span(a_loop).range()].starts_with("for _ in 0..$max { match $op"));
    assert!(unit.is_from_macro(a_loop));
}

#[test]
fn what_a_rule_takes_keeps_apart_from_its_own_names() {
    let unit = unit(
        "macro_rules! m { ($n:expr, $r#type:ident, $x:expr) => {{ let n_ = 0; let n = n_ + $n; g(r#type, $r#type, $x) }}; }",
    );
    assert_eq!(faults(&unit), Vec::<String>::new());
    assert_eq!(shapes(&unit), "fn crate::m!(n__, type_, x) {{let n_ = 0; let n = (n_ + n__); g(type, type_, x)}}");
}
