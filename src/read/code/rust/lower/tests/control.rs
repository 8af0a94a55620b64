//! Branches, loops, exits, statements.

use super::check;

#[test]
fn the_question_mark() {
    check(&[
        ("op()?", "op() ? [failure -> return]"),
        ("op().await?.body()?", "op().await ? [failure -> return].body() ? [failure -> return]"),
        ("try!(op())", "op() ? [failure -> return]"),
    ]);
}

#[test]
fn ifs_about_outcomes() {
    check(&[
        ("if r.is_ok() { a } else { b }", "r ? [success -> {a}, failure -> {b}]"),
        ("if r.is_err() { a }", "r ? [failure -> {a}]"),
        ("if !r.is_ok() { a } else { b }", "r ? [failure -> {a}, success -> {b}]"),
        ("if !(op().await.is_err()) { a }", "op().await ? [success -> {a}]"),
        ("if r.is_err() && n < 3 { a } else { b }", "r ? [failure when (n < 3) -> {a}, else -> {b}]"),
        ("if n < 3 && r.is_err() && m { a }", "r ? [failure when ((n < 3) && m) -> {a}]"),
        // One of several ways to get there.
        ("if r.is_err() || n > 3 { a }", "? [if (r:failed || (n > 3)) -> {a}]"),
        // Not about a result.
        ("if r.is_some() { a }", "? [if r.is_some() -> {a}]"),
        ("if r.is_ok_and(g) { a }", "? [if r.is_ok_and(g) -> {a}]"),
    ]);
}

#[test]
fn if_let() {
    check(&[
        ("if let Ok(v) = op() { a } else { b }", "op() ? [success v -> {a}, failure -> {b}]"),
        ("if let Err(e) = op() { a } else { b }", "op() ? [failure e -> {a}, success -> {b}]"),
        ("if let Err(E::T) = op() { a } else { b }", "op() ? [failure of E::T -> {a}, else -> {b}]"),
        ("if let Some(x) = op() { a } else { b }", "op() ? [is Some x -> {a}, else -> {b}]"),
        ("if let Err(e) = op() && n < 3 { a } else { b }", "op() ? [failure e when (n < 3) -> {a}, else -> {b}]"),
        (
            "if n < 3 && let Err(e) = op() && e.again() && let Some(d) = e.after() { a }",
            "op() ? [failure e when ((n < 3) && e.again() && e.after() ? [is Some d -> true, else -> false]) -> {a}]",
        ),
        ("if let Some(e) = op().err() { a } else { b }", "op() ? [failure e -> {a}, success -> {b}]"),
        ("if let Some(v) = op().await.ok() { a } else { b }", "op().await ? [success v -> {a}, failure -> {b}]"),
        ("if matches!(op(), Err(E::T)) { a }", "op() ? [failure of E::T -> {a}]"),
        ("if !matches!(op(), Ok(_)) { a } else { b }", "op() ? [success -> {b}, failure -> {a}]"),
        ("if !matches!(s, S::Up | S::Down) { a }", "s ? [is S::Up|S::Down -> {}, else -> {a}]"),
    ]);
}

#[test]
fn plain_ifs() {
    check(&[
        ("if a { b }", "? [if a -> {b}]"),
        (
            "if a { b } else if c { d } else if e { g } else { h }",
            "? [if a -> {b}, if c -> {d}, if e -> {g}, else -> {h}]",
        ),
        (
            "if a { b } else if r.is_ok() { c } else { d }",
            "? [if a -> {b}, else -> r ? [success -> {c}, failure -> {d}]]",
        ),
        ("if r.is_ok() { c } else if a { b }", "r ? [success -> {c}, failure -> ? [if a -> {b}]]"),
    ]);
}

#[test]
fn outcomes_as_values() {
    check(&[
        (
            "let b = r.is_ok(); let c = !r.is_ok(); r.is_err().then(g)",
            "let b = r:succeeded; let c = r:failed; r:failed.then(g)",
        ),
        ("matches!(r, Err(_)); matches!(r, Ok(v))", "r:failed; r:succeeded"),
        ("matches!(x, Err(E::T))", "x ? [failure of E::T -> true, else -> false]"),
        ("matches!(c, 429 | 500..=599)", "c ? [= 429|(500..=599) -> true, else -> false]"),
        ("matches!(x, Some(n) if n > 3)", "x ? [is Some n when (n > 3) -> true, else -> false]"),
        ("a || r.is_err()", "(a || r:failed)"),
    ]);
}

#[test]
fn matches() {
    check(&[
        ("match op() { Ok(v) => return v, Err(e) => g(e) }", "op() ? [success v -> return v, failure e -> g(e)]"),
        (
            "match op() { Ok(v) => break v, Err(e) if n < 3 => g(), Err(e) => return Err(e) }",
            "op() ? [success v -> break v, failure e when (n < 3) -> g(), failure e -> return Err(e)]",
        ),
        // What is left after all successes are failures, and the other way round.
        ("match op() { Ok(v) => a, _ => b }", "op() ? [success v -> a, failure -> b]"),
        ("match op() { Err(e) => a, other => b }", "op() ? [failure e -> a, success other -> b]"),
        ("match op() { Ok(v) if v > 1 => a, _ => b }", "op() ? [success v when (v > 1) -> a, else -> b]"),
        ("match op() { Err(E::T) => a, _ => b }", "op() ? [failure of E::T -> a, else -> b]"),
        ("match x { 1 => a, _ => b }", "x ? [= 1 -> a, else -> b]"),
        ("match op().ok() { Some(v) => a, None => b }", "op() ? [success v -> a, failure -> b]"),
        (
            "match op().err() { None => a, Some(E::T) => b, Some(e) => c }",
            "op() ? [success -> a, failure of E::T -> b, failure e -> c]",
        ),
        // The names of the error are asked for, so the call stays.
        ("match r.ok() { X::A => a, X::B => b }", "r.ok() ? [is X::A -> a, is X::B -> b]"),
    ]);
}

#[test]
fn let_else() {
    check(&[
        ("let Ok(v) = op() else { continue }; g(v)", "op() ? [success v -> {}, failure -> {continue}]; g(v)"),
        ("let Err(e) = op().await else { return };", "op().await ? [failure e -> {}, success -> {return}]"),
        ("let Some(x) = op() else { break };", "op() ? [is Some x -> {}, else -> {break}]"),
        ("let Some(v) = op().ok() else { continue };", "op() ? [success v -> {}, failure -> {continue}]"),
    ]);
}

#[test]
fn loops() {
    check(&[
        ("loop { g(); }", "loop {g()}"),
        ("'a: loop { break 'a; }", "'a: loop {break 'a}"),
        ("while n < 3 { n += 1 }", "while (n < 3) {n += 1}"),
        ("while op().is_err() && n < 3 { g() }", "while (op():failed && (n < 3)) {g()}"),
        ("while let Err(e) = op() { g() }", "loop {op() ? [failure e -> {g()}, else -> break]}"),
        (
            "'r: while let Some(x) = rx.recv().await && n < 3 { g() }",
            "'r: loop {rx.recv().await ? [is Some x when (n < 3) -> {g()}, else -> break]}",
        ),
        ("for i in 0..n { g() }", "count i in (0..n) {g()}"),
        ("for _ in 1..=MAX { g() }", "count _ in (1..=MAX) {g()}"),
        ("for i in (0..3) { g() }", "count i in (0..3) {g()}"),
        ("for i in (0..n).rev() { g() }", "each i in (0..n).rev() {g()}"),
        ("for (i, d) in ds.iter().enumerate() { g() }", "each i d in ds.iter().enumerate() {g()}"),
        ("for d in [1, 2] { g() }", "each d in [1, 2] {g()}"),
    ]);
}

#[test]
fn exits() {
    check(&[
        ("return; return 1", "return; return 1"),
        ("loop { break 5; continue; }", "loop {break 5; continue}"),
        (
            "'a: loop { 'b: for x in y { continue 'a; break 'b; } }",
            "'a: loop {'b: each x in y {continue 'a; break 'b}}",
        ),
        ("'b: { if a { break 'b 1; } 2 }", "'b: {? [if a -> {break 'b 1}]; 2}"),
        ("std::process::exit(1)", "abort 1"),
        ("use std::process; process::abort()", "abort"),
        // A function of its own.
        ("fn exit(n: u8) {} exit(1)", "fn crate::f::exit(n: u8) {}; exit(1)"),
    ]);
}

#[test]
fn lets() {
    check(&[
        ("let x; let y: u8; let z: Option<u8> = None;", "let x; let y: u8; let z: Option = null"),
        ("let (a, b) = (1, g());", "let a = 1; let b = g()"),
        ("let (a, (b, c)) = (1, (2, x));", "let a = 1; let b = 2; let c = x"),
        ("let (a, b) = g(); let P { c, d: [e, ..] } = p;", "let a b = g(); let c e = p"),
        // Apart, the second would read what the first has just bound.
        ("let (a, b) = (b, a);", "let a b = [b, a]"),
        ("let (a, .., b) = (1, 2, 3);", "let a b = [1, 2, 3]"),
        ("_ = g(); let _ = g(); let ref mut x = y; let v @ _ = w;", "let  = g(); let  = g(); let x = y; let v = w"),
        ("let x = if a { 1 } else { 2 };", "let x = ? [if a -> {1}, else -> {2}]"),
        (
            "let e = match op() { Ok(v) => return v, Err(e) => e };",
            "let e = op() ? [success v -> return v, failure e -> e]",
        ),
        ("const N: u32 = 3; static S: u8 = 1; g(N)", "const crate::f::N = 3; const crate::f::S = 1; g(N)"),
    ]);
}

#[test]
fn what_is_not_compiled_for_real() {
    check(&[
        ("#[cfg(test)] a(); #[cfg(not(test))] b(); #[cfg(debug_assertions)] let x = 1; c()", "b(); c()"),
        (
            "#[cfg(not(target_arch = \"wasm32\"))] sleep(d).await; #[cfg(target_arch = \"wasm32\")] wasm(d).await;",
            "sleep(d).await",
        ),
        ("#[cfg(unix)] a()?; #[cfg(not(unix))] b()?; c();", "a() ? [failure -> return]; c()"),
        ("#[cfg(not(feature = \"x\"))] { n += 1; } #[cfg(feature = \"x\")] m += 1; c()", "{n += 1}; c()"),
        // Nothing says that these exclude each other.
        ("#[cfg(unix)] a(); #[cfg(windows)] b(); #[allow(unused)] c()", "a(); b(); c()"),
        ("match x { #[cfg(test)] 1 => a, #[cfg(unix)] 2 => b, _ => c }", "x ? [= 2 -> b, else -> c]"),
    ]);
}

#[test]
fn what_a_guard_binds_is_in_sight() {
    check(&[(
        "match op() { Err(e) if let Some(d) = next(e) && d < MAX => sleep(d), other => other }",
        "op() ? [failure e when (next(e) ? [is Some d -> true, else -> false] && (d < MAX)) -> sleep(d), else other -> other]",
    )]);
}
