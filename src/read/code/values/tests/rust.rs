//! Values in Rust. In each text, `ask` asks.

use super::{asked, check, shown};
use crate::read::code::project::Project;
use crate::read::code::tree::Kind;
use crate::read::code::values::{definition, field, initial, trace};

/// The default of a trait is what counts as long as no type sets its own.
#[test]
fn constants_of_traits() {
    let head = "trait P { const N: u32 = 3; fn f(&self) { ask(Self::N) } } struct Q; ";
    let told = |rest: &str| shown(&trace(&Project::default(), &asked(&format!("{rest} {head}"))));
    assert_eq!(told("impl P for Q { const N: u32 = 8; }"), "?`Self::N`, which differs by type");
    assert_eq!(told("impl P for Q {}"), "3");
    assert_eq!(told("impl P for Q { const M: u32 = 8; }"), "3");
    assert_eq!(told("trait O { const N: u32; } impl O for Q { const N: u32 = 8; } impl P for Q {}"), "3");
}

#[test]
fn literals_locals_and_constants() {
    check(&[
        ("fn f() { ask(5u32) }", "5"),
        ("fn f() { ask(2f64) }", "2.0"),
        ("fn f() { let n = 3; ask(n) }", "3"),
        ("const MAX: u32 = 4; fn f() { ask(MAX as usize) }", "4"),
        ("static MAX: u32 = 4; fn f() { ask(&MAX) }", "4"),
        ("fn f() { const MAX: u32 = 6; ask(MAX) }", "6"),
        ("mod limits { pub const MAX: u32 = 7; } fn f() { ask(limits::MAX) }", "7"),
        ("struct C; impl C { const MAX: u32 = 8; fn f(&self) { ask(Self::MAX) } }", "8"),
        ("struct C; impl C { const MAX: u32 = 8; } fn f() { ask(C::MAX + 1) }", "9"),
        ("fn f() { ask(u32::MAX) }", "4294967295"),
        ("fn f() { ask(std::u64::MAX) }", "18446744073709551615"),
        ("fn f() { ask(None::<u32>) }", "none"),
        ("fn f() { ask(Some(Arc::new(5))) }", "5"),
        ("fn f() { let (a, b) = (1, 2); ask(b) }", "2"),
        ("fn f() { let p = (1, 2); ask(p.1) }", "2"),
        ("fn f() { ask([10, 20, 30][1]) }", "20"),
        // The nearest one that is in sight.
        ("fn f() { let n = 1; { let n = 2; } ask(n) }", "1"),
        ("fn f() { let n = 1; let n = n + 1; ask(n) }", "2"),
        ("fn f() { let n = 1; let g = |n: u32| ask(n); }", "?argument `n` of a closure"),
        ("const N: u32 = 1; fn f(n: u32) { ask(n) }", "?argument `n` of `f`"),
        ("fn f() { for n in 0..3 { ask(n) } }", "?`n` changes from pass to pass"),
        ("fn f(c: Config) { ask(c.retry.max) }", "?field `max` of `c.retry`"),
        // Circles end.
        ("const A: u32 = B; const B: u32 = A; fn f() { ask(A) }", "?not followed further"),
        ("fn g(n: u32) -> u32 { g(n + 1) } fn f() { ask(g(0)) }", "?not followed further"),
    ]);
}

#[test]
fn arithmetic() {
    check(&[
        ("fn f() { ask(2 + 3 * 4 - 20 / 6 % 2) }", "13"),
        ("fn f() { ask(7 / 2) }", "3"),
        ("fn f() { ask(7.0 / 2.0) }", "3.5"),
        ("fn f() { ask(-(3)) }", "-3"),
        ("fn f() { ask(1 << 4 | 1) }", "17"),
        ("fn f() { ask(2u64.pow(10).min(1000).max(3)) }", "1000"),
        ("fn f() { ask(std::cmp::min(3, 4).clamp(5, 6)) }", "5"),
        ("fn f() { ask(5u32.saturating_sub(3).saturating_mul(4)) }", "8"),
        ("fn f() { ask(3u32.saturating_sub(5)) }", "?a difference below zero"),
        ("fn f() { ask(2u128.pow(200)) }", "?larger than any whole number"),
        ("fn f() { ask(1 / 0) }", "?a division by zero"),
        ("fn f() { ask(3 > 2 && !(2 >= 3)) }", "true"),
        ("fn f(dev: bool) { ask(dev && false) }", "false"),
        ("fn f(dev: bool) { ask(dev && true) }", "?argument `dev` of `f`"),
        ("fn f() { ask(\"17\".parse::<u32>().unwrap()) }", "17"),
        ("fn f() { ask(u64::from(3u32) + u64::try_from(4i32).unwrap()) }", "7"),
        ("fn f() { ask([1, 2, 3].len()) }", "3"),
    ]);
}

#[test]
fn lengths_of_time() {
    check(&[
        ("use std::time::Duration; fn f() { ask(Duration::from_millis(250)) }", "250 ms"),
        ("use tokio::time::Duration; fn f() { ask(Duration::from_secs(2) * 2) }", "4 s"),
        ("use tokio::time; fn f() { ask(time::Duration::new(1, 500_000_000)) }", "1.5 s"),
        ("fn f() { ask(std::time::Duration::from_secs_f64(0.25) / 2) }", "125 ms"),
        (
            "use std::time::Duration; fn f() { ask(Duration::from_secs(1).mul_f64(1.5) + Duration::from_millis(1)) }",
            "1.501 s",
        ),
        ("use std::time::Duration; fn f() { ask(Duration::from_millis(1500).as_secs()) }", "1"),
        ("use std::time::Duration; fn f() { ask(Duration::from_millis(1500).as_millis() as u64) }", "1500"),
        ("use std::time::Duration; fn f() { ask(Duration::ZERO) }", "0 s"),
        ("use std::time::Duration; fn f() { ask(Duration::MAX.min(Duration::from_secs(9))) }", "9 s"),
        (
            "use std::time::Duration; fn f() { ask(Duration::from_secs(9).saturating_sub(Duration::from_secs(10))) }",
            "0 s",
        ),
        (
            "use std::time::Duration; fn f() { ask(Duration::from_secs(9) - Duration::from_secs(10)) }",
            "?a length of time below zero",
        ),
        (
            "use std::time::Duration; const MS: u64 = 20; const D: Duration = Duration::from_millis(MS * 5); fn f() { ask(D * 3) }",
            "300 ms",
        ),
        (
            "use std::time::Duration; const fn secs(n: u64) -> Duration { Duration::from_secs(n) } fn f() { ask(secs(3)) }",
            "3 s",
        ),
        ("use chrono::Duration; fn f() { ask(Duration::seconds(5).to_std().unwrap()) }", "5 s"),
        ("fn f() { ask(chrono::TimeDelta::try_minutes(2).unwrap()) }", "2 min"),
        ("fn f() { ask(humantime::parse_duration(\"1m 30s\").unwrap()) }", "90 s"),
        ("use std::time::Duration; fn f() { ask([1, 2].map(Duration::from_secs)) }", "[1 s, 2 s]"),
        (
            "use std::time::Duration; fn f() { ask([1, 2, 3].into_iter().map(|n| Duration::from_secs(n * 2)).take(2)) }",
            "[2 s, 4 s]",
        ),
        // A type of the project's own that is called the same.
        (
            "struct Duration; impl Duration { fn from_secs(n: u64) -> u64 { n * 60 } } fn f() { ask(Duration::from_secs(2)) }",
            "120",
        ),
    ]);
}

#[test]
fn what_may_be_absent_and_defaults_that_the_code_names() {
    check(&[
        ("fn f(n: Option<u32>) { ask(n.unwrap_or(3)) }", "3, unless argument `n` of `f`"),
        ("fn f() { ask(None.unwrap_or(3)) }", "3"),
        ("fn f() { ask(Some(4).unwrap_or(3)) }", "4"),
        (
            "fn f() { ask(std::env::var(\"TRIES\").ok().and_then(|v| v.parse().ok()).unwrap_or(3)) }",
            "3, unless environment variable TRIES",
        ),
        ("fn f() { ask(std::env::var(\"TRIES\").unwrap().parse().unwrap()) }", "?environment variable TRIES"),
        (
            "fn f() { ask(std::env::var(\"TRIES\").map(|v| v.parse().unwrap()).unwrap_or_else(|_| 5)) }",
            "5, unless environment variable TRIES",
        ),
        ("fn f(c: &C) { ask(c.max.map_or(3, |n| n + 1)) }", "3, unless field `max` of `c`"),
        ("fn f(c: &C) { ask(match c.max { Some(n) => n, None => 3 }) }", "3, unless field `max` of `c`"),
        ("fn f(c: &C) { ask(if let Some(n) = c.max { n } else { 3 }) }", "3, unless field `max` of `c`"),
        ("fn f(c: &C) { let Some(n) = c.max else { return; }; ask(n) }", "?field `max` of `c`"),
        ("fn f() { let Some(n) = Some(2) else { return; }; ask(n) }", "2"),
        ("fn f() { if let Some(n) = Some(2) && let m = n + 1 && m > n { ask(m * n) } }", "6"),
        ("fn f() { ask(limit()?.max(2)) }", "?result of `limit`"),
        // A call that gives nothing has a default, unless that is nothing, too: no time is left.
        ("fn f() { ask(retry_after().unwrap_or(Duration::from_secs(2))) }", "2 s, unless result of `retry_after`"),
        ("fn f(t: T) { ask(t.duration_since(now()).unwrap_or_default()) }", "?argument `t` of `f`"),
        ("fn f(t: T) { ask(t.duration_since(now()).unwrap_or(Duration::ZERO)) }", "?argument `t` of `f`"),
        ("fn f(c: &C) { ask(c.max.or(None).unwrap_or(0)) }", "0, unless field `max` of `c`"),
        ("fn f(c: &C) { ask(match c.max { Some(n) => Some(n.age), None => None }) }", "?field `age` of `c.max`"),
        // What stands in where arithmetic fails, or a list ends, is no default.
        ("fn f(n: u32) { ask(2u64.checked_pow(n).unwrap_or(9)) }", "?argument `n` of `f`"),
        ("fn f(n: u32) { ask([1, 2].get(n).copied().unwrap_or(9)) }", "?an element of a list"),
        ("fn f() { ask([1, 2].get(5).copied().unwrap_or(9)) }", "9"),
        ("fn f(d: Delays) { ask(d.next().unwrap_or(9)) }", "?another one each time"),
        ("fn f(c: &C, dev: bool) { ask(if dev { c.max } else { 3 }) }", "?depends on a condition"),
    ]);
}

#[test]
fn variables_that_change() {
    check(&[
        ("fn f() { let mut n = 1; n = 5; ask(n) }", "5"),
        ("fn f() { let mut n = 1; n += 5; n *= 2; ask(n) }", "12"),
        ("fn f() { let n; n = 5; ask(n) }", "5"),
        ("fn f() { let mut n = 1; ask(n); n = 5; }", "1"),
        ("fn f() { let mut n = 1; loop { ask(n); n += 1; } }", "?`n` changes while it runs"),
        ("fn f() { let mut n = 1; loop { n = 4; ask(n); n += 1; } }", "4"),
        ("fn f() { let mut n = 1; for _ in 0..3 { n += 1; } ask(n) }", "?`n` changes while it runs"),
        ("fn f() { let mut n = 1; loop { let mut n = 2; n += 1; ask(n); } }", "3"),
        ("fn f() { let mut n = 1; let mut g = || n += 1; g(); ask(n) }", "?`n` changes while it runs"),
        ("fn f() { let mut n = 9; if n > 5 { n = 5; } ask(n) }", "5"),
        ("fn f(a: bool) { let mut n = 9; if a { n = 5; } ask(n) }", "?depends on a condition"),
        ("fn f(a: bool) { let mut n = 9; if a { n = 5; return; } ask(n) }", "9"),
        ("fn f(a: bool) { let n; if a { n = 5; } else { n = 2 + 3; } ask(n) }", "5"),
        ("fn f() { let mut n = 1; change(&mut n); ask(n) }", "?`n` changes while it runs"),
        ("fn f() { let mut n = 1; ask(n); change(&mut n); }", "1"),
        ("fn f() { let mut v = vec![1]; ask(v.len()); }", "1"),
        ("fn f() { let mut v = vec![1]; v.push(2); ask(v.len()); }", "?what is put into `v`"),
        (
            "fn f() { let mut c = C { max: 1, ..C::new() }; change(&mut c); ask(c.max) }",
            "?`c.max` changes while it runs",
        ),
        ("fn f() { let mut c = C { max: 1, ..C::new() }; c.max = 7; ask(c.max) }", "7"),
        (
            "fn f() { let mut c = C { max: 1, ..C::new() }; loop { ask(c.max); c.max += 1; } }",
            "?`c.max` changes while it runs",
        ),
    ]);
    let first = |text| shown(&initial(&Project::default(), &asked(text)));
    assert_eq!(first("fn f() { let mut n = 1; loop { ask(n); n += 1; } }"), "1");
    assert_eq!(first("fn f() { let mut n = 1; loop { n += 1; ask(n); } }"), "2");
    assert_eq!(
        first("fn f(a: bool) { let mut n = 1; if a { n = 2; } loop { ask(n); n += 1; } }"),
        "?depends on a condition"
    );
}

#[test]
fn branches_and_functions() {
    check(&[
        ("fn f() { ask(if 2 > 1 { 3 } else { 4 }) }", "3"),
        ("fn f(a: bool) { ask(if a { 3 } else { 3 }) }", "3"),
        ("fn f(a: bool) { ask(if a { 3 } else { 4 }) }", "?depends on a condition"),
        ("fn f() { ask(match 7 { 0..=5 => 1, 6 | 7 => 2, _ => 3 }) }", "2"),
        ("fn g(n: u32) -> u32 { let m = n * 2; m + 1 } fn f() { ask(g(4)) }", "9"),
        ("fn g(n: u32) -> u32 { if n == 0 { return 10; } n } fn f() { ask(g(0) + g(1)) }", "11"),
        (
            "fn g(n: u32) -> u32 { match n { 0 => 1, 1 => return 2, n => n * 2 } } fn f() { ask(g(0) + g(1) * 10 + g(2) * 100) }",
            "421",
        ),
        ("fn g(n: u32) -> Result<u32, E> { if n > 5 { return Err(E); } Ok(n) } fn f() { ask(g(3)?) }", "3"),
        ("fn g(a: bool) -> u32 { if a { return 1; } 2 } fn f(a: bool) { ask(g(a)) }", "?depends on a condition"),
        ("fn g() -> u32 { for i in 0..9 { if i > 3 { return i; } } 4 } fn f() { ask(g()) }", "?depends on a condition"),
        ("async fn g() -> u32 { 3 } async fn f() { ask(g().await) }", "3"),
        ("fn f() { let g = |n| n * 3; ask(g(2)) }", "6"),
        ("fn f() { let k = 5; let g = move |n| n * k; ask(g(2)) }", "10"),
        ("fn g(h: impl Fn(u32) -> u32) -> u32 { h(2) } fn f() { ask(g(|n| n + 1)) }", "3"),
        (
            "struct P { n: u32 } impl P { fn twice(&self) -> u32 { self.n * 2 } } fn f() { let p = P { n: 4 }; ask(p.twice()) }",
            "8",
        ),
        (
            "struct P { n: u32 } impl P { fn new(n: u32) -> Self { Self { n } } fn n(&self) -> u32 { self.n } } fn f() { ask(P::new(6).n()) }",
            "6",
        ),
        ("fn f() { let h = || { 4 }; static L: LazyLock<u32> = LazyLock::new(|| 5); ask(h() + *L) }", "9"),
        ("enum K { A, B } fn g(k: K) -> u32 { match k { K::A => 1, K::B => 2 } } fn f() { ask(g(K::B)) }", "2"),
        ("fn f() { ask(if cfg!(any(test, feature = \"testsuite\")) { 3 } else { 4 }) }", "4"),
        ("fn f() { ask(if cfg!(windows) { 3 } else { 4 }) }", "?depends on a condition"),
        ("fn f() { ask(elsewhere::limit() + 1) }", "?result of `elsewhere::limit`"),
    ]);
}

#[test]
fn records_and_what_they_take_from_others() {
    let config = "struct C { max: u32, min: u32 } impl Default for C { fn default() -> Self { C { max: 5, min: 1 } } }";
    check(&[
        (&format!("{config} fn f() {{ ask(C {{ max: 7, ..Default::default() }}.min) }}"), "1"),
        (&format!("{config} fn f() {{ let c = C {{ max: 7, ..C::default() }}; ask(c.max) }}"), "7"),
        (&format!("{config} const D: C = C {{ max: 2, min: 1 }}; fn f() {{ ask(D.max) }}"), "2"),
        (&format!("{config} fn f() {{ ask(C::default().max) }}"), "5"),
        ("struct W(u32, u32); fn f() { let w = W(4, 5); ask(w.1) }", "5"),
        // What all places that make one say. The name of the field is one that is searched for: all of them are in the tree.
        (
            "struct C { retries: u32 } impl C { fn new() -> Self { Self { retries: 3 } } fn f(&self) { ask(self.retries) } }",
            "3",
        ),
        (
            "struct C { retries: u32 } impl C { fn new(retries: u32) -> Self { Self { retries } } fn f(&self) { ask(self.retries) } }",
            "?field `retries` of `self`",
        ),
        (
            "struct C { retries: u32 } impl C { fn new() -> Self { Self { retries: 3 } } fn f(&self) { ask(self.retries) } fn set(&mut self) { self.retries = 4; } }",
            "?field `retries` of `self`",
        ),
        (
            "struct C { retries: u32 } fn g() -> C { C { retries: 3 } } impl C { fn f(&self) { ask(self.retries) } }",
            "?field `retries` of `self`",
        ),
        (
            "struct C { retries: u32 } impl C { fn a() -> Self { C { retries: 3 } } fn b() -> Self { C { retries: 4 } } fn f(&self) { ask(self.retries) } }",
            "?field `retries` of `self`",
        ),
        (
            "struct C { retries: u32 } impl C { fn a() -> Self { C { retries: 3 } } fn b() -> Self { C { retries: 3, ..C::a() } } fn f(&self) { ask(self.retries) } }",
            "3",
        ),
        (
            "struct C { max: u32 } impl C { fn new() -> Self { Self { max: 3 } } fn f(&self) { ask(self.max) } }",
            "?field `max` of `self`",
        ),
    ]);
    let place = asked(&format!("{config} fn f() {{ let c = C {{ min: 0, ..Default::default() }}; ask(c) }}"));
    assert_eq!(shown(&field(&Project::default(), &place, "max")), "5");
    assert_eq!(shown(&field(&Project::default(), &place, "min")), "0");
    assert_eq!(shown(&field(&Project::default(), &place, "mid")), "?field `mid`");
}

#[test]
fn a_definition_is_the_construct_behind_names_and_wrappers() {
    let text = |place: &crate::read::code::tree::Place, text: &str| {
        text.get(place.span().range()).unwrap_or_default().to_string()
    };
    for (source, expected) in [
        (
            "fn f() { let s = E::from_millis(2).map(jitter).take(3); ask(s.clone()) }",
            "E::from_millis(2).map(jitter).take(3)",
        ),
        ("fn f() { let b = E::from_millis(2); let s = Some(b.take(3)); ask(&s) }", "b.take(3)"),
        ("fn b() -> impl Iterator { E::from_millis(2).take(3) } fn f() { ask(b()) }", "E::from_millis(2).take(3)"),
        ("static S: Lazy<S> = Lazy::new(|| S::builder().build()); fn f() { ask(&*S) }", "S::builder().build()"),
        ("fn f(c: Client) { let r = c.get(1).retry(2); ask(r) }", "c.get(1).retry(2)"),
        ("fn f() { let g = |x| x; ask(g) }", "|x| x"),
        ("fn f(p: Policy) { ask(p) }", "p"),
        ("fn f() { let mut p = a(); p = b(); ask(p) }", "b()"),
        ("fn f() { let mut p = a(); loop { ask(p); p = b(); } }", "p"),
        ("fn f() { let mut p = a(); warm(&mut p); ask(p) }", "a()"),
        ("fn f() { ask(5) }", "5"),
    ] {
        let place = definition(&Project::default(), &asked(source));
        assert_eq!(text(&place, source), expected, "{source}");
    }
    // What a method of a construct is called on is found in the same way.
    let source = "fn f() { let base = E::from_millis(2).max(9); let s = base.map(jitter); ask(s) }";
    let chain = definition(&Project::default(), &asked(source));
    let Kind::Method { on, .. } = chain.kind() else { panic!("a method") };
    assert_eq!(text(&definition(&Project::default(), &chain.at(*on)), source), "E::from_millis(2).max(9)");
}

#[test]
fn values_say_where_they_are_written() {
    let source =
        "const MS: u64 = 20; fn f() { let n = 3; ask(Duration::from_millis(MS * n) + Duration::from_secs(1)) }";
    let spans = trace(&Project::default(), &asked(source)).spans;
    let texts: Vec<&str> = spans.iter().map(|span| &source[span.range()]).collect();
    assert_eq!(texts, ["20", "3", "Duration::from_secs(1)"]);
}

#[test]
fn hostile_code_is_not_followed_for_ever() {
    let many = |one: &str, n: usize| one.repeat(n);
    for (text, expected) in [
        // Each doubles the work of the one before.
        (format!("fn f() {{ let x = 1; {} ask(x) }}", many("let x = x + x;", 40)), "?not followed further"),
        (format!("fn f() {{ ask(1{}) }}", many(" + 1", 5_000)), "?not followed further"),
        (format!("fn f() {{ let x = 1; {} ask(x) }}", many("let y = 2;", 20_000)), "1"),
        (format!("fn f() {{ let mut x = 1; {} ask(x) }}", many("x += 1;", 20_000)), "?not followed further"),
        (format!("fn f() {{ let x = 1; {} ask(x) }}", many("{ let x = 2; }", 20_000)), "1"),
        (format!("fn f() {{ ask([{}].len()) }}", many("1,", 20_000)), "?a long list"),
        ("fn g(n: u32) -> u32 { g(n - 1) + g(n - 2) } fn f() { ask(g(9)) }".to_string(), "?not followed further"),
        (
            "fn g(n: u32) -> u32 { let m = if n > 3 { g(n - 1) } else { 0 }; match m { 0 => g(n + 1), k => k } } fn f() { ask(g(9)) }"
                .to_string(),
            "?depends on a condition",
        ),
    ] {
        let place = asked(&text);
        // Loops and libraries ask from deep within their own steps: a question must not need much of the stack.
        let ask = move || shown(&trace(&Project::default(), &place));
        let found = std::thread::Builder::new().stack_size(1 << 20).spawn(ask).unwrap().join().unwrap();
        assert_eq!(found, expected, "{}", &text[..60]);
    }
}
