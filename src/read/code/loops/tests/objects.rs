//! Objects of the project's own that say how often and how long.

use super::tell_all;

#[test]
fn retry_parameters_are_policies_where_they_are_made() {
    let params = "use std::time::Duration; pub struct RetryParams { pub base_delay: Duration, pub max_attempts: usize }
        impl RetryParams { pub fn delay(&self, n: usize) -> Duration { self.base_delay * 2u32.pow(n as u32) } }";
    let made = |body: &str| tell_all(&format!("{params} {body}"));
    assert_eq!(
        made("fn f() -> RetryParams { RetryParams { base_delay: Duration::from_millis(100), max_attempts: 4 } }"),
        "4 exponential 100ms x2 none"
    );
    // Made for as many tries as somebody else says: nothing is described.
    assert_eq!(
        made(
            "fn f(n: usize) -> RetryParams { RetryParams { base_delay: Duration::from_millis(100), max_attempts: n } }"
        ),
        ""
    );
    // One try is no retry, and says so.
    assert_eq!(
        made("fn f() -> RetryParams { RetryParams { base_delay: Duration::from_millis(100), max_attempts: 1 } }"),
        "1 at once"
    );
    // A count that only says where something stands.
    assert_eq!(
        tell_all(
            "struct Message { delivery_attempts: u32, delay: u32 } fn f() -> Message { Message { delivery_attempts: 3, delay: 5 } }"
        ),
        ""
    );
}

#[test]
fn things_that_deal_out_delays_are_asked_until_they_have_no_more() {
    let backoff = "use std::time::Duration; pub struct Backoff { current: u64, tries: u32, max: u32 }
        impl Backoff { pub const fn new(base: u64, max: u32) -> Backoff { Backoff { current: base, tries: 0, max } }
          pub fn next_delay(&mut self) -> Option<Duration> { if self.tries >= self.max { return None; } self.tries += 1;
            let delay = self.current; self.current = (self.current * 2).min(500); Some(Duration::from_millis(delay)) } }";
    // Ten delays, eleven tries: the name of the bound says nothing of it.
    assert_eq!(
        tell_all(&format!("{backoff} pub const DEFAULT: Backoff = Backoff::new(2, 10);")),
        "11 exponential 2ms x2 cap 500ms none"
    );
    // The neighbour: a type of that name from elsewhere.
    assert_eq!(tell_all("pub const DEFAULT: Backoff = elsewhere::Backoff::new(2, 10);"), "");
}

/// An enum of one's own may have a `None` too, and a variant without values stands for itself.
#[test]
fn a_kind_of_backoff_decides_how_delays_are_dealt_out() {
    let backoff = "use std::time::Duration; enum Kind { None, Plain, Full } pub struct Backoff { kind: Kind, n: u32, max: u32, ms: u64, cap: u64 }
        impl Backoff { pub const fn plain(ms: u64, cap: u64, max: u32) -> Backoff { Backoff { kind: Kind::Plain, n: 0, max, ms, cap } }
          pub const fn full(ms: u64, cap: u64, max: u32) -> Backoff { Backoff { kind: Kind::Full, n: 0, max, ms, cap } }
          pub const fn none() -> Backoff { Backoff { kind: Kind::None, n: 0, max: 0, ms: 0, cap: 0 } }
          pub fn next_delay(&mut self) -> Option<Duration> { if self.n >= self.max { return None; } self.n += 1;
            match self.kind { Kind::None => None,
              Kind::Plain => { let ms = self.cap.min(self.ms); self.ms <<= 1; Some(Duration::from_millis(ms)) }
              Kind::Full => { let ms = self.cap.min(self.ms); self.ms <<= 1; Some(Duration::from_millis(rand::thread_rng().gen_range(0..ms))) } } } }";
    let made = |made: &str| tell_all(&format!("{backoff} pub const ONE: Backoff = Backoff::{made};"));
    assert_eq!(made("plain(2, 500, 10)"), "11 exponential 2ms x2 cap 500ms none");
    assert_eq!(made("full(2, 500, 10)"), "11 exponential 2ms x2 cap 500ms 0..1");
    // What deals out nothing describes nothing.
    assert_eq!(made("none()"), "");
}

#[test]
fn a_builder_is_what_it_was_made_into() {
    let backoff = "use std::time::Duration; pub struct ExponentialBackoff { current: u64, base: u64, factor: u64, max_delay: Option<Duration> }
        impl ExponentialBackoff {
          pub const fn from_millis(base: u64) -> ExponentialBackoff { ExponentialBackoff { current: base, base, factor: 1u64, max_delay: None } }
          pub const fn factor(mut self, factor: u64) -> ExponentialBackoff { self.factor = factor; self }
          pub const fn max_delay(mut self, duration: Duration) -> ExponentialBackoff { self.max_delay = Some(duration); self } }
        impl Iterator for ExponentialBackoff { type Item = Duration;
          fn next(&mut self) -> Option<Duration> {
            let delay = Duration::from_millis(self.current * self.factor);
            if let Some(ref most) = self.max_delay && delay > *most { return Some(*most); }
            self.current = self.current.saturating_mul(self.base); Some(delay) } }";
    let made = |made: &str| tell_all(&format!("{backoff} fn f() -> X {{ go(ExponentialBackoff::{made}) }}"));
    assert_eq!(
        made("from_millis(2).factor(250).max_delay(Duration::from_secs(30))"),
        "unbounded exponential 500ms x2 cap 30s none"
    );
    // The neighbour: how fast it grows comes from elsewhere.
    assert_eq!(made("from_millis(2).factor(self.factor).max_delay(Duration::from_secs(30))"), "");
}

#[test]
fn where_counting_begins_is_no_bound() {
    let retry = "use std::time::Duration; pub struct Retry { retries: u64, max_retries: u64 }
        impl Retry { fn next_sleep_ms(&self) -> u64 { (self.retries - 1) * 3000 + 500 } }";
    let made = |body: &str| tell_all(&format!("{retry} {body}"));
    assert_eq!(
        made("fn f() -> Retry { Retry { retries: 0, max_retries: settings().retries.unwrap_or(3) } }"),
        "4 delay ? jitter ?"
    );
    assert_eq!(made("fn f(n: u64) -> Retry { Retry { retries: 0, max_retries: n } }"), "");
    // What holds such an object is that.
    let policy = "use std::time::Duration; pub struct Params { pub base_delay: Duration, pub max_attempts: usize }
        pub struct RetryPolicy { num_attempts: usize, params: Params }
        impl RetryPolicy { fn of(params: Params) -> RetryPolicy { RetryPolicy { num_attempts: 0, params } } }
        fn f() -> RetryPolicy { RetryPolicy::of(Params { base_delay: Duration::from_secs(1), max_attempts: 3 }) }";
    assert_eq!(tell_all(policy), "3 delay ? jitter ?");
    // A length of time is no number of tries, whatever else its name says.
    let health = "struct Health { retry_initial_backoff_secs: u64, retry_max_duration_secs: u64 }
        fn f() -> Health { Health { retry_initial_backoff_secs: 1, retry_max_duration_secs: 3600 } }";
    assert_eq!(tell_all(health), "");
}

/// The whole is the most that `half..whole + 1` can give, and asking for the delay before the first try is refused.
#[test]
fn half_of_a_delay_is_random() {
    let params = "use std::time::Duration; pub struct RetryParams { pub base_delay: Duration, pub max_delay: Duration, pub max_attempts: usize }
        impl RetryParams { pub fn delay(&self, n: usize) -> Duration { assert!(n > 0, \"from one\");
          let ms = (self.base_delay.as_millis() as u64).saturating_mul(2u64.saturating_pow(n as u32 - 1)).min(self.max_delay.as_millis() as u64);
          Duration::from_millis(rand::rng().random_range(ms.div_ceil(2)..ms + 1)) } }
        fn f() -> RetryParams { RetryParams { base_delay: Duration::from_millis(250), max_delay: Duration::from_secs(20), max_attempts: 5 } }";
    assert_eq!(tell_all(params), "5 exponential 250ms x2 cap 20s 0.5..1");
}
