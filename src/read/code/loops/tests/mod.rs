//! What is recognised and what stays silent, on loops as people write them.

mod before;
mod conditions;
mod counted;
mod deciders;
mod exits;
mod helpers;
mod near_misses;
mod objects;
mod policies;
mod shapes;
mod trees;

use crate::facts::{Attempts, BackoffKind, Jitter, Limit, Nanos};
use crate::read::code::fixture;
use crate::read::code::project::Project;
use crate::read::code::site::Site;

/// What is said of a loop, in short: `3 exponential 100ms x2 cap 2s full`.
#[derive(Clone, Debug, PartialEq)]
struct Told(String);

impl Told {
    fn parse(text: &str) -> Told {
        Told(text.to_owned())
    }
}

fn time(nanos: Nanos) -> String {
    match nanos.0 {
        n if n % 1_000_000_000 == 0 => format!("{}s", n / 1_000_000_000),
        n if n % 1_000_000 == 0 => format!("{}ms", n / 1_000_000),
        n => format!("{n}ns"),
    }
}

fn told(site: &Site) -> Told {
    let policy = &site.policy;
    let attempts = match policy.attempts.known() {
        Some(Attempts::Times(n)) => n.to_string(),
        Some(Attempts::Unbounded) => "unbounded".to_owned(),
        Some(Attempts::ByTime) => "by time".to_owned(),
        None => "?".to_owned(),
    };
    let backoff = &policy.backoff;
    let base = || backoff.base.known().map_or("?".to_owned(), |base| time(*base));
    let mut parts = vec![attempts];
    match backoff.kind.known() {
        Some(BackoffKind::None) => parts.push("at once".to_owned()),
        Some(BackoffKind::Fixed) => parts.push(format!("fixed {}", base())),
        Some(BackoffKind::Linear) => parts.push(format!("linear {}", base())),
        Some(BackoffKind::Exponential) => {
            let factor = backoff.factor.known().copied().unwrap_or_default();
            parts.push(format!("exponential {} x{factor}", base()));
        }
        Some(BackoffKind::Fibonacci) => parts.push(format!("fibonacci {}", base())),
        Some(BackoffKind::Schedule(delays)) => {
            let delays: Vec<String> = delays.iter().map(|delay| time(*delay)).collect();
            parts.push(format!("schedule {}", delays.join(",")));
        }
        None => parts.push("delay ?".to_owned()),
    }
    if let Some(Limit::At(cap)) = backoff.cap.known() {
        parts.push(format!("cap {}", time(*cap)));
    }
    if !matches!(backoff.kind.known(), Some(BackoffKind::None)) {
        parts.push(match policy.jitter.known() {
            None => "jitter ?".to_owned(),
            Some(jitter) if *jitter == Jitter::NONE => "none".to_owned(),
            Some(jitter) if jitter.plus > Nanos::ZERO => format!("plus {}", time(jitter.plus)),
            Some(jitter) if jitter.decorrelated => "decorrelated".to_owned(),
            Some(jitter) => format!("{}..{}", jitter.low, jitter.high),
        });
    }
    Told(parts.join(" "))
}

/// Loops in the body of an asynchronous function that gives a result, and what is said of each; nothing for those that are none.
fn check(cases: &[(&str, &str, &str)]) {
    let mut wrong = Vec::new();
    for (name, body, expected) in cases {
        let found = tell(body);
        if found != *expected {
            wrong.push(format!("{name}: `{found}`, not `{expected}`"));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// What is said of the loops of a body, one after another.
fn tell(body: &str) -> String {
    let text = format!("{HEAD} async fn fetch(&self) -> Result<String> {{ {body} }} }}");
    tell_all(&text)
}

/// The first site of a body.
fn first(body: &str) -> Site {
    let unit = fixture::unit(&format!("{HEAD} async fn fetch(&self) -> Result<String> {{ {body} }} }}"));
    super::sites(&Project::default(), &unit).into_iter().next().expect("a site")
}

fn tell_all(text: &str) -> String {
    let unit = fixture::unit(text);
    let sites = super::sites(&Project::default(), &unit);
    sites.iter().map(|site| told(site).0).collect::<Vec<_>>().join(" | ")
}

const HEAD: &str = "use std::time::{Duration, Instant}; use tokio::time::sleep; use rand::Rng; const BASE: usize = 2; const MAX: u32 = 5; const PAUSE: Duration = Duration::from_millis(100); \
    struct Client { attempts: u32 } impl Client {";
