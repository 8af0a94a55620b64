//! Helpers of the project's own: each call with known numbers is a place where something is tried again.

use super::tell_all;

const HELPER: &str = "use std::time::Duration; use tokio::time::sleep;
    async fn with_retry<F, Fut, T>(times: u32, pause: Duration, mut op: F) -> Result<T> where F: FnMut() -> Fut {
      let mut tries = 0; loop { match op().await { Ok(v) => return Ok(v), Err(e) => { tries += 1; if tries >= times { return Err(e); } sleep(pause).await; } } } }";

#[test]
fn a_call_of_a_helper_has_the_numbers_that_it_gives() {
    let call = |body: &str| tell_all(&format!("{HELPER} async fn fetch(times: u32) {{ {body} }}"));
    // The helper's own loop says that it does not know; the call does.
    assert_eq!(call(""), "? delay ? jitter ?");
    assert_eq!(call("with_retry(4, Duration::from_secs(2), || get()).await;"), "? delay ? jitter ? | 4 fixed 2s none");
    // What the caller does not know either is said once, of the helper.
    assert_eq!(call("with_retry(times, Duration::from_secs(2), || get()).await;"), "? delay ? jitter ?");
    // A function that is handed over by its name.
    let by_name = format!(
        "{HELPER} async fn get() -> Result<()> {{ Ok(()) }} async fn fetch() {{ with_retry(4, Duration::from_secs(2), get).await; }}"
    );
    assert_eq!(tell_all(&by_name), "? delay ? jitter ? | 4 fixed 2s none");
    // A number by its name is no function.
    let constant = format!(
        "{HELPER} const N: u32 = 4; async fn fetch(op: F) {{ with_retry(N, Duration::from_secs(2), op).await; }}"
    );
    assert_eq!(tell_all(&constant), "? delay ? jitter ?");
    // A function of that name from elsewhere is none of the project's.
    assert_eq!(call("other::with_retry(4, Duration::from_secs(2), || get()).await;"), "? delay ? jitter ?");
}

#[test]
fn helpers_that_hand_on_are_looked_through() {
    let text = format!(
        "{HELPER} async fn retry_twice<F>(op: F) -> Result<()> {{ with_retry(2, Duration::from_millis(50), op).await }}
         async fn fetch() {{ retry_twice(|| get()).await; }}"
    );
    assert_eq!(tell_all(&text), "? delay ? jitter ? | 2 fixed 50ms none");
    // The near miss: a helper that polls is no retry, and neither are its calls.
    let poll = "fn retry<F, R>(n: u32, mut f: F) -> R where F: FnMut() -> Option<R> {
        let mut count = 0; loop { if let Some(r) = f() { return r; } count += 1; if count > n { panic!(\"too late\"); } std::thread::sleep(Duration::from_millis(100)); } }
        fn test() { retry(100, || path.exists().then_some(())); }";
    assert_eq!(tell_all(poll), "");
}
