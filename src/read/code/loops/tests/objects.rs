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
