//! Tries that are easy to miscount: what a macro takes, bounds in patterns and conditions, tries before and behind the loop. And
//! waits that only look as if no try followed them.

use super::{check, tell_all};

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
