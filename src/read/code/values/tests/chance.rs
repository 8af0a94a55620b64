//! Delays with a random part. In each text, `ask` asks.

use super::{asked, check_delays, delayed};
use crate::facts::{JitterAt, Value};
use crate::read::code::project::Project;
use crate::read::code::tree::Kind;
use crate::read::code::values::{delay, spread};

#[test]
fn jitter_of_delays_that_are_known() {
    let d = "use std::time::Duration; use rand::Rng; const D: Duration = Duration::from_secs(1);";
    let rows = [
        ("ask(D)", "1 s"),
        ("ask(D + Duration::from_millis(fastrand::u64(0..100)))", "1 s x [1, 1] + 100 ms"),
        ("ask(D + Duration::from_millis(rand::rng().random_range(50..=100)))", "1.05 s x [1, 1] + 50 ms"),
        ("ask(D.mul_f64(rand::rng().random_range(0.5..1.5)))", "1 s x [0.5, 1.5] + 0 s"),
        ("let mut rng = rand::thread_rng(); ask(D.mul_f64(rng.gen_range(0.8..=1.2)))", "1 s x [0.8, 1.2] + 0 s"),
        ("let j = rand::rng().random_range(-0.1..=0.1); ask(D.mul_f64(1.0 + j))", "1 s x [0.9, 1.1] + 0 s"),
        ("ask(D * rand::random_range(80..=120) / 100)", "1 s x [0.8, 1.2] + 0 s"),
        ("ask(Duration::from_millis(rand::random_range(0..=D.as_millis() as u64)))", "1 s x [0, 1] + 0 s"),
        ("ask(rand::random_range(Duration::ZERO..D))", "1 s x [0, 1] + 0 s"),
        ("ask(D.mul_f64(rand::random::<f64>()))", "1 s x [0, 1] + 0 s"),
        ("let share: f64 = rand::random(); ask(D.mul_f64(share))", "1 s x [0, 1] + 0 s"),
        ("ask(D + D.mul_f64(rand::random_range(0.0..0.3)))", "1 s x [1, 1.3] + 0 s"),
        ("ask(D / 2 + rand::random_range(Duration::ZERO..=D / 2))", "1 s x [0.5, 1] + 0 s"),
        (
            "let half = D.as_millis() as u64 / 2; ask(Duration::from_millis(half + fastrand::u64(0..half)))",
            "1 s x [0.5, 1] + 0 s",
        ),
        ("ask(Duration::from_millis(rand::random::<u64>() % 1000 + 1))", "1.001 s x [0.000999001, 1] + 0 s"),
        ("ask(Duration::from_millis(rand::random_range(100..500)))", "500 ms x [0.2, 1] + 0 s"),
        ("let j = D / 5; ask(D - j + rand::random_range(Duration::ZERO..j * 2))", "1 s x [0.8, 1.2] + 0 s"),
        ("ask(D - Duration::from_millis(fastrand::u64(0..=250)))", "1 s x [0.75, 1] + 0 s"),
        ("ask(tokio_retry::strategy::jitter(D))", "1 s x [0, 1] + 0 s"),
        // Capped after it was spread: what jitter does is said of the delay before.
        ("ask(D.mul_f64(fastrand::f64() + 0.5).min(Duration::from_millis(1200)))", "1 s x [0.5, 1.5] + 0 s"),
        ("ask((D + D).min(D).mul_f64(rand::random_range(0.5..=1.0)))", "1 s x [0.5, 1] + 0 s"),
        // Random, and nobody knows how.
        ("ask(D + Duration::from_millis(rand::random::<u64>()))", "1 s x ?random within bounds that are not known"),
        ("ask(add_jitter(D))", "?`add_jitter` is not followed x ?`add_jitter` is not followed"),
        ("ask(D + Duration::from_millis(fastrand::u64(0..x())))", "1 s x ?random within bounds that are not known"),
        // Near misses: a seed, a name that only sounds like it.
        ("let operand = 3; ask(D * operand)", "3 s"),
    ];
    let rows: Vec<(String, &str)> =
        rows.iter().map(|(body, expected)| (format!("{d} fn f() {{ {body} }}"), *expected)).collect();
    check_delays(&rows.iter().map(|(text, expected)| (text.as_str(), *expected)).collect::<Vec<_>>());
}

#[test]
fn jitter_of_delays_that_are_not_known() {
    check_delays(&[
        (
            "fn f(d: Duration) { ask(d + d.mul_f64(rand::random_range(0.0..0.5))) }",
            "?argument `d` of `f` x [1, 1.5] + 0 s",
        ),
        (
            "fn f(d: u64) { ask(Duration::from_millis(d + fastrand::u64(0..d / 4))) }",
            "?argument `d` of `f` x [1, 1.25] + 0 s",
        ),
        ("fn f(d: u64) { ask(Duration::from_millis(fastrand::u64(0..=d))) }", "?argument `d` of `f` x [0, 1] + 0 s"),
        (
            "fn f(d: u64) { ask(Duration::from_millis(fastrand::u64(0..d) + 1)) }",
            "?argument `d` of `f` x [0, 1] + 0 s, at least 1 ms",
        ),
        (
            "fn f(d: u64) { let most = d.saturating_mul(20 * 2) / 100; let j = fastrand::u64(0..most); ask(Duration::from_millis(d.saturating_sub(most / 2).saturating_add(j))) }",
            "?argument `d` of `f` x [0.8, 1.2] + 0 s",
        ),
        (
            "fn f(d: u64, most: u64) { ask(Duration::from_millis(d.saturating_sub(most) + fastrand::u64(0..9))) }",
            "?argument `d` of `f` x [1, 1] + 9 ms",
        ),
        (
            "fn f(c: C) { ask(c.base + Duration::from_millis(fastrand::u64(0..100))) }",
            "?field `base` of `c` x [1, 1] + 100 ms",
        ),
        (
            "fn f(n: u32) { let d = D * 2u32.pow(n); ask(d / 2 + rand::random_range(ZERO..d / 2)) } const D: Duration = Duration::from_secs(1); const ZERO: Duration = Duration::ZERO;",
            "?argument `n` of `f` x [0.5, 1] + 0 s",
        ),
        (
            "fn f(d: Duration, j: Duration) { ask(d + rand::random_range(Duration::ZERO..j)) }",
            "?argument `d` of `f` x ?random within bounds that are not known",
        ),
        (
            "fn f(d: Duration) { ask(d.mul_f64(rand::random_range(0.9..1.1)).min(Duration::from_secs(3))) }",
            "?argument `d` of `f` x [0.9, 1.1] + 0 s",
        ),
        (
            "fn f(d: Duration) { ask(d - Duration::from_millis(fastrand::u64(0..100))) }",
            "?argument `d` of `f` x ?a random part that is no share of the delay",
        ),
        ("fn f(d: Duration) { ask(d) }", "?argument `d` of `f`"),
    ]);
}

#[test]
fn chance_in_functions_and_where_it_is_drawn() {
    let text = "fn jittered(d: Duration) -> Duration { let ms = d.as_millis() as u64; Duration::from_millis(ms / 2 + fastrand::u64(0..=ms / 2)) }
        fn f() { let frozen = jittered(Duration::from_secs(4)); loop { go(); ask(FRESH) } }";
    for (asks, is_fresh) in [("frozen", false), ("jittered(Duration::from_secs(4))", true)] {
        let place = asked(&text.replace("FRESH", asks));
        let delay = delay(&Project::default(), &place);
        assert_eq!(delayed(&delay), "4 s x [0.5, 1] + 0 s");
        let a_loop =
            place.unit.ids().find(|(_, node)| matches!(node.kind, Kind::Loop { .. })).map(|(id, _)| id).unwrap();
        let drawn: Vec<bool> = delay.drawn.iter().map(|drawn| place.unit.is_below(drawn.id, a_loop)).collect();
        assert_eq!(drawn, [is_fresh]);
    }
}

#[test]
fn what_a_function_does_to_a_delay() {
    for (text, expected) in [
        ("fn f() { ask(|d| d.mul_f64(rand::random_range(0.5..1.5))) }", "[0.5, 1.5]"),
        ("fn f() { ask(|d: Duration| d + d / 10) }", "?function that makes delays of its own"),
        ("fn f() { ask(|_| Duration::from_millis(fastrand::u64(0..9))) }", "?function that makes delays of its own"),
        ("use tokio_retry::strategy::jitter; fn f() { ask(jitter) }", "[0, 1]"),
        ("fn f() { ask(unseen) }", "?function that is not followed"),
        ("fn mine(d: Duration) -> Duration { rand::random_range(d / 2..=d) } fn f() { ask(mine) }", "[0.5, 1]"),
    ] {
        let (jitter, _) = spread(&Project::default(), &asked(text));
        let found = match jitter {
            Value::Known(jitter) => format!("[{}, {}]", jitter.low, jitter.high),
            Value::Unknown(why) => format!("?{why}"),
        };
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn a_cap_comes_before_or_after_chance() {
    let at = |body: &str| match delay(&Project::default(), &asked(&format!("fn f(d: Duration) {{ {body} }}"))).jitter {
        Value::Known(jitter) => Some(jitter.at),
        Value::Unknown(_) => None,
    };
    assert_eq!(at("ask((d * rand::random_range(1..=2)).min(Duration::from_secs(9)))"), Some(JitterAt::BeforeCap));
    assert_eq!(at("ask(d.min(Duration::from_secs(9)) * rand::random_range(1..=2))"), Some(JitterAt::AfterCap));
}
