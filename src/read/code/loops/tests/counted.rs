//! Tries that are easy to miscount: what a macro takes, bounds in patterns and conditions, tries before and behind the loop. And
//! waits that only look as if no try followed them.

use super::{check, first, tell_all};
use crate::facts::{Attempts, Limit, Nanos};

/// Whether a loop is said to wait after its last try.
fn waits_in_vain(body: &str) -> bool {
    first(body).policy.in_code.is_some_and(|code| code.sleep_after_last.is_some())
}

#[test]
fn what_a_macro_takes_is_not_its_local_of_that_name() {
    let rules = |taken: &str| {
        format!(
            "use std::time::Duration; use tokio::time::sleep; macro_rules! retry {{ (${taken}:expr, $e:expr) => {{{{ let mut n = 0;
             loop {{ match $e {{ Ok(x) => break Ok(x), Err(e) => {{ n += 1; if n >= ${taken} {{ break Err(e); }}
             sleep(Duration::from_millis(100)).await; }} }} }} }}}} }}
             async fn fetch(c: &C) {{ retry!(4, c.get(\"http://a/x\").send().await); }}"
        )
    };
    assert_eq!(tell_all(&rules("n")), tell_all(&rules("max")));
    assert!(!tell_all(&rules("n")).contains("1 "), "{}", tell_all(&rules("n")));
}

#[test]
fn a_guard_holds_for_all_alternatives_of_its_pattern() {
    check(&[
        (
            "success and failure under one guard",
            "let mut i = 0; loop { match get().await { Ok(r) if r.status().is_success() => return Ok(r),
             Ok(_) | Err(_) if i < 2 => { i += 1; sleep(Duration::from_secs(1)).await; } r => return r } }",
            "3 fixed 1s none",
        ),
        (
            "the near miss: failure alone is tried again",
            "let mut i = 0; loop { match get().await { Ok(r) if r.status().is_success() => return Ok(r),
             Err(_) if i < 2 => { i += 1; sleep(Duration::from_secs(1)).await; } r => return r } }",
            "3 fixed 1s none",
        ),
    ]);
}

#[test]
fn the_last_delay_of_a_list_is_one() {
    let body = "for d in [100u64, 500, 2000] { match get().await { Ok(r) => return Ok(r),
        Err(_) => sleep(Duration::from_millis(d)).await } } get().await";
    check(&[("with a try behind it", body, "4 schedule 100ms,500ms,2s none")]);
    assert!(!waits_in_vain(body));
    let body = "for d in [1, 2, 60] { match get().await { Ok(r) => return Ok(r),
        Err(e) => { last = Err(e); sleep(Duration::from_secs(d)).await } } } last";
    check(&[("without one", body, "3 schedule 1s,2s,60s none")]);
    assert!(waits_in_vain(body));
    // The near miss: a list that ends by an element that is no delay.
    let body = "for d in [Some(1), Some(2), None] { match get().await { Ok(r) => return Ok(r),
        Err(e) => match d { Some(d) => sleep(Duration::from_secs(d)).await, None => return Err(e) } } } unreachable!()";
    check(&[("no delay at the end", body, "3 schedule 1s,2s none")]);
    assert!(!waits_in_vain(body));
}

#[test]
fn a_count_that_is_asked_first_ends_the_loop_behind_a_try() {
    let ranged = |condition: &str| {
        format!(
            "for i in 0..3 {{ let r = c.get(U).send().await?; if {condition} {{ sleep(Duration::from_secs(1)).await; continue; }}
             return Ok(r); }} Err(e)"
        )
    };
    let counted = |condition: &str| {
        format!(
            "let mut n = 0; loop {{ let r = c.get(U).send().await?; if {condition} {{ n += 1; sleep(Duration::from_secs(1)).await;
             continue; }} return Ok(r); }}"
        )
    };
    let first = ranged("i < 2 && r.status().is_server_error()");
    let last = ranged("r.status().is_server_error() && i < 2");
    check(&[
        ("first in a range", &first, "3 fixed 1s none"),
        ("last in a range", &last, "3 fixed 1s none"),
        ("first", &counted("n < 5 && r.status().is_server_error()"), "6 fixed 1s none"),
        ("last", &counted("r.status().is_server_error() && n < 5"), "6 fixed 1s none"),
    ]);
    assert!(!waits_in_vain(&first) && !waits_in_vain(&last));
    // The near miss: the count that is asked never comes, and the range alone ends it.
    let in_vain = |bound: u32| {
        format!(
            "for i in 0..3 {{ let r = get().await; if i < {bound} && r.is_err() {{ sleep(Duration::from_secs(1)).await; continue; }}
             return r; }} Err(e)"
        )
    };
    check(&[("never", &in_vain(5), "3 fixed 1s none"), ("in time", &in_vain(2), "3 fixed 1s none")]);
    assert!(waits_in_vain(&in_vain(5)) && !waits_in_vain(&in_vain(2)));
}

#[test]
fn a_try_before_the_loop_is_one() {
    let ranged =
        "let mut res = get().await; for _ in 0..2 { if res.is_ok() { break; } sleep(Duration::from_secs(1)).await;
        res = get().await; } res";
    let asked = "let mut n = 0; let mut res = get().await; while let Err(_) = res { if n == 2 { break; } n += 1;
        sleep(Duration::from_secs(1)).await; res = get().await; } res";
    let status = "let mut r = c.get(U).send().await?; for _ in 0..3 { if !r.status().is_server_error() { break; }
        sleep(Duration::from_secs(1)).await; r = c.get(U).send().await?; } Ok(r)";
    check(&[
        ("a range", ranged, "3 fixed 1s none"),
        ("while let", asked, "3 fixed 1s none"),
        ("the status of an answer", status, "4 fixed 1s none"),
    ]);
    assert!(!waits_in_vain(ranged) && !waits_in_vain(asked) && !waits_in_vain(status));
    // The near miss: what is put into a local anew is the client, and no try.
    let client = "let mut client = connect().await?; for i in 0..3 { match client.send(m).await { Ok(r) => return Ok(r),
        Err(e) if i == 2 => return Err(e), Err(_) => { sleep(Duration::from_secs(1)).await; client = connect().await?; } } }
        Err(e)";
    check(&[("a new client", client, "3 fixed 1s none")]);
    assert!(!waits_in_vain(client));
    // The wait behind the try before the loop is the first.
    let growing = "let mut wait = Duration::from_millis(100); let mut res = get().await;
        for _ in 0..4 { if res.is_ok() { break; } sleep(wait).await; wait *= 2; res = get().await; } res";
    check(&[("growing", growing, "5 exponential 100ms x2 none")]);
    // The near miss: it is tried before it is waited for.
    let body = "let mut res = Err(e); for _ in 0..3 { res = get().await; if res.is_ok() { break; }
        sleep(Duration::from_secs(1)).await; } res";
    check(&[("nothing before", body, "3 fixed 1s none")]);
    assert!(waits_in_vain(body));
}

#[test]
fn a_try_that_is_wrapped_is_one() {
    let limited = |last: &str| {
        format!(
            "for i in 0..3 {{ match tokio::time::timeout(Duration::from_secs(2), get()).await {{ Ok(Ok(r)) => return Ok(r),
             {last} _ => sleep(Duration::from_secs(1)).await }} }} Err(e)"
        )
    };
    let block = |last: &str| {
        format!(
            "for i in 0..3 {{ match async {{ get().await }}.await {{ Ok(r) => return Ok(r), {last}
             Err(_) => sleep(Duration::from_secs(1)).await }} }} Err(e)"
        )
    };
    let ends_limited = limited("Ok(Err(e)) if i == 2 => return Err(e), Err(_) if i == 2 => panic!(\"timeout\"),");
    let ends_block = block("Err(e) if i == 2 => return Err(e),");
    check(&[("a limit", &ends_limited, "3 fixed 1s none"), ("a block", &ends_block, "3 fixed 1s none")]);
    assert!(!waits_in_vain(&ends_limited) && !waits_in_vain(&ends_block));
    // The near misses: nothing ends them but the range.
    check(&[("a limit", &limited(""), "3 fixed 1s none"), ("a block", &block(""), "3 fixed 1s none")]);
    assert!(waits_in_vain(&limited("")) && waits_in_vain(&block("")));
}

#[test]
fn a_limit_that_was_set_before_the_loop_ends_it() {
    let body = |before: &str, tried: &str| format!("{before} loop {{ {tried} sleep(PAUSE).await; }}");
    let deadline = "let deadline = Instant::now() + Duration::from_secs(12);";
    let pinned = "let over = sleep(Duration::from_secs(15)); tokio::pin!(over);";
    for (before, tried, seconds) in [
        (
            deadline,
            "match timeout_at(deadline, get()).await { Ok(Ok(r)) => return Ok(r), Ok(Err(_)) => {} Err(_) => bail!(\"late\"), }",
            Some(12),
        ),
        (deadline, "if let Ok(r) = timeout_at(deadline, get()).await? { return Ok(r); }", Some(12)),
        ("", "if let Ok(r) = timeout_at(self.deadline, get()).await? { return Ok(r); }", None),
        (
            pinned,
            "tokio::select! { _ = &mut over => bail!(\"late\"), r = get() => match r { Ok(r) => return Ok(r), Err(_) => {} } }",
            Some(15),
        ),
        (
            pinned,
            "if let Ok(r) = get().await { return Ok(r); } tokio::select! { _ = &mut over => bail!(\"late\"), _ = sleep(PAUSE) => continue, }",
            Some(15),
        ),
    ] {
        let site = first(&body(before, tried));
        assert_eq!(site.policy.attempts.known(), Some(&Attempts::ByTime), "{tried}");
        let limit = seconds.map(|seconds| Limit::At(Nanos::from_secs(seconds)));
        assert_eq!(site.policy.total.limit.known(), limit.as_ref(), "{tried}");
    }
    // The near misses: a limit of each try, and one that nobody leaves by.
    for (before, tried) in [
        ("", "let at = Instant::now() + PAUSE; if let Ok(Ok(r)) = timeout_at(at, get()).await { return Ok(r); }"),
        (deadline, "if let Ok(Ok(r)) = timeout_at(deadline, get()).await { return Ok(r); }"),
        ("", "tokio::select! { _ = sleep(PAUSE) => {} r = get() => match r { Ok(r) => return Ok(r), Err(_) => {} } }"),
    ] {
        let site = first(&body(before, tried));
        assert_eq!(site.policy.attempts.known(), Some(&Attempts::Unbounded), "{tried}");
    }
}

#[test]
fn a_failure_that_is_not_counted_goes_on_without_end() {
    let arms = |first: &str| {
        format!(
            "let mut n = 0; loop {{ match self.c.get(U).send().await {{ {first} Ok(r) => return Ok(r),
             Err(e) if n >= 3 => return Err(e), Err(_) => {{ n += 1; sleep(PAUSE).await; }} }} }}"
        )
    };
    let slow = "Ok(r) if r.status() == 429 => { sleep(PAUSE).await; continue }";
    let growing = "Ok(r) if r.status() == 429 => { sleep(delay).await; delay = (delay * 2).min(MOST); }";
    let growing =
        format!("const MOST: Duration = Duration::from_millis(400); let mut delay = PAUSE; {}", arms(growing));
    check(&[
        ("one of two", &arms(slow), "unbounded fixed 100ms none"),
        ("with a delay that grows as far as it may", &growing, "unbounded fixed 100ms none"),
        // The near misses: it counts, it does not wait, something else decides.
        (
            "counted",
            &arms("Ok(r) if r.status() == 429 && n < 3 => { n += 1; sleep(PAUSE).await; }"),
            "4 fixed 100ms none",
        ),
        ("at once", &arms("Ok(r) if r.status() == 429 => continue,"), "4 fixed 100ms none"),
        (
            "by something outside",
            &arms("Ok(r) if r.status() == 429 && self.may_go_on() => { sleep(PAUSE).await; }"),
            "4 fixed 100ms none",
        ),
    ]);
}
