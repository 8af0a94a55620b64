//! Loops that ask something of which not all is seen whether to go on: an object, a function, a macro.

use super::{check, first, tell_all};
use crate::facts::Classes;

/// A state of one's own that asks the policy of a library, in a module that speaks of retries too.
const STATE: &str = "use std::time::{Duration, SystemTime}; use reqwest_retry::policies::ExponentialBackoff; use reqwest_retry::{RetryDecision, RetryPolicy, Retryable};
    pub struct RetryState { retry_policy: ExponentialBackoff, start_time: SystemTime, total_retries: u32, url: Url }
    impl RetryState {
      pub fn start(retry_policy: ExponentialBackoff, url: Url) -> Self { Self { retry_policy, start_time: SystemTime::now(), total_retries: 0, url } }
      pub fn should_retry(&mut self, err: &(dyn Error + 'static), error_retries: u32) -> Option<Duration> {
        self.total_retries += error_retries;
        match retryable(err) {
          Some(Retryable::Transient) => {
            let decision = self.retry_policy.should_retry(self.start_time, self.total_retries);
            if let RetryDecision::Retry { execute_after } = decision { self.total_retries += 1; return Some(left(execute_after)); }
            None
          }
          Some(Retryable::Fatal) | None => None,
        }
      }
      pub async fn sleep_backoff(&self, duration: Duration) { tokio::time::sleep(duration).await; }
    }";

#[test]
fn an_object_that_asks_the_policy_of_a_library_decides_how_often() {
    let state = |body: &str| {
        tell_all(&format!(
            "{STATE} async fn get(urls: &[Url], op: F, policy: ExponentialBackoff) -> Result<A, E> {{
               let mut state = RetryState::start(policy, url()); {body} }}"
        ))
    };
    let asks = "if let Some(backoff) = state.should_retry(&err, err.retries()) { state.sleep_backoff(backoff).await; continue; } return Err(err);";
    assert_eq!(
        state(&format!("loop {{ match op().await {{ Ok(ok) => return Ok(ok), Err(err) => {{ {asks} }} }} }}")),
        "? delay ? jitter ?"
    );
    // In a guard, behind what is made of the result, from within a loop inside.
    assert_eq!(
        state(
            "loop { match op().await { Ok(ok) => return Ok(ok),
               Err(err) if let Some(backoff) = state.should_retry(err.error(), 0) => state.sleep_backoff(backoff).await,
               Err(err) => return Err(err) } }"
        ),
        "? delay ? jitter ?"
    );
    assert_eq!(
        state(&format!(
            "loop {{ let result = op().await; let answer = match result {{ Ok(ok) => ok, Err(err) => {{ {asks} }} }}; return Ok(answer); }}"
        )),
        "? delay ? jitter ?"
    );
    assert_eq!(
        state(
            "'retry: loop { for (i, url) in urls.iter().enumerate() { match op(url.clone()).await { Ok(ok) => return Ok(ok), Err(err) => {
               if i + 1 < urls.len() && err.may_be_elsewhere() { continue; }
               if let Some(backoff) = state.should_retry(&err, err.retries()) { state.sleep_backoff(backoff).await; continue 'retry; }
               return if state.total_retries > 0 { Err(err.after(state.total_retries)) } else { Err(err) }; } } } unreachable!(); }"
        ),
        "? delay ? jitter ?"
    );
    // The near miss: whatever it says, the loop goes on.
    assert_eq!(
        state(
            "loop { match op().await { Ok(ok) => return Ok(ok), Err(err) => { state.should_retry(&err, 0); tokio::time::sleep(Duration::from_secs(1)).await; } } }"
        ),
        "unbounded fixed 1s none"
    );
}

/// A function of one way more than are gone is not read to its end, and what it gives there is not known.
#[test]
fn a_function_with_more_ways_than_are_gone_decides_how_often() {
    let delay = |ways: usize, last: &str| {
        let ways: String =
            (0..ways).map(|n| format!("if err.is_{n}() {{ return Some(Duration::from_secs(1)); }}")).collect();
        tell_all(&format!(
            "use std::time::Duration; fn retry_delay(err: &E) -> Option<Duration> {{ {ways} {last} }}
             async fn get(op: F) -> Result<A, E> {{ loop {{ match op().await {{ Ok(ok) => return Ok(ok), Err(err) => match retry_delay(&err) {{
               Some(delay) => tokio::time::sleep(delay).await, None => return Err(err) }} }} }} }}"
        ))
    };
    assert_eq!(delay(2, "None"), "? fixed 1s none");
    assert_eq!(delay(60, "None"), "? delay ? jitter ?");
    // The near miss: there is always a delay.
    assert_eq!(delay(0, "Some(Duration::from_secs(1))"), "unbounded fixed 1s none");
}

#[test]
fn what_is_told_of_the_failure_decides_how_often_and_which() {
    let failing =
        |body: &str| format!("loop {{ match get().await {{ Ok(b) => return Ok(b), Err(e) => {{ {body} }} }} }}");
    let knows_all = |body: &str| first(&failing(body)).policy.retries_on.known() == Some(&Classes::ALL);
    for decides in [
        "if let Some(_) = gate.proceed(&e) { sleep(PAUSE).await; continue; } return Err(e);",
        "if gate.allows(&e) { sleep(PAUSE).await; continue; } return Err(e);",
        "if gate.proceed(&e).is_err() { return Err(e); } sleep(PAUSE).await;",
        "if gate.proceed(e.kind()).is_err() { return Err(e); } sleep(PAUSE).await;",
        "match policy.should_retry(&e, e.count()) { Some(_) => sleep(PAUSE).await, None => return Err(e) }",
    ] {
        assert_eq!(super::tell(&failing(decides)), "? fixed 100ms none", "{decides}");
        assert!(!knows_all(decides), "{decides}");
    }
    // The near misses: it goes on whatever is said, or nothing is told of the failure.
    for goes_on in [
        "if gate.note(&e).is_err() { count(); } sleep(PAUSE).await;",
        "gate.proceed(&e); sleep(PAUSE).await;",
        "self.reopen().await?; sleep(PAUSE).await;",
    ] {
        assert_eq!(super::tell(&failing(goes_on)), "unbounded fixed 100ms none", "{goes_on}");
        assert!(knows_all(goes_on), "{goes_on}");
    }
}

#[test]
fn a_second_try_in_the_arm_of_the_failure_is_a_try() {
    check(&[
        (
            "without end",
            "loop { match get(&url).await { Ok(v) => return Ok(v), Err(_) => { if let Ok(v) = get(&url).await { return Ok(v); } sleep(PAUSE).await; } } }",
            "unbounded fixed 100ms none",
        ),
        (
            "two tries in each of three passes",
            "for _ in 0..3 { match get(&url).await { Ok(v) => return Ok(v), Err(_) => { if let Ok(v) = get(&url).await { return Ok(v); } } } sleep(PAUSE).await; } Err(e)",
            "6 fixed 100ms none",
        ),
        // The near misses: another operation, another target.
        (
            "another operation",
            "loop { match get(&url).await { Ok(v) => return Ok(v), Err(_) => { if let Ok(v) = cached(&url).await { return Ok(v); } sleep(PAUSE).await; } } }",
            "",
        ),
        (
            "another target",
            "loop { match get(&url).await { Ok(v) => return Ok(v), Err(_) => { if let Ok(v) = get(&mirror).await { return Ok(v); } sleep(PAUSE).await; } } }",
            "",
        ),
    ]);
}

#[test]
fn a_macro_may_leave() {
    let with = |rules: &str, arm: &str| {
        tell_all(&format!(
            "use std::time::Duration; {rules} async fn get(op: F) -> Result<A, E> {{ loop {{ match op().await {{ Ok(ok) => return Ok(ok), Err(e) => {{ {arm} }} }} }} }}"
        ))
    };
    let waits = "tokio::time::sleep(Duration::from_secs(1)).await;";
    // What it writes is seen: it always leaves, at times, never.
    let leaves = "macro_rules! give_up { ($e:expr) => { return Err($e.into()) }; }";
    assert_eq!(with(leaves, &format!("{waits} give_up!(e);")), "");
    let at_times = "macro_rules! give_up { ($e:expr) => { if $e.is_fatal() { return Err($e) } }; }";
    assert_eq!(with(at_times, &format!("give_up!(e); {waits}")), "? fixed 1s none");
    let never = "macro_rules! return_nothing { ($e:expr) => { note($e) }; }";
    assert_eq!(with(never, &format!("return_nothing!(e); {waits}")), "unbounded fixed 1s none");
    // It is not seen, and its name says so, or does not.
    assert_eq!(with("", &format!("if e.is_fatal() {{ return_err!(e); }} {waits}")), "? fixed 1s none");
    assert_eq!(with("", &format!("if e.is_fatal() {{ note_err!(e); }} {waits}")), "unbounded fixed 1s none");
}
