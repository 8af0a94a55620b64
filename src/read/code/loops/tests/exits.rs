//! Ways out of a loop, and on in it: failures that are handed on after a try, states that are no failures, kinds of failures.

use super::{check, first};
use crate::facts::{Class, Classes};

#[test]
fn a_failure_that_is_handed_on_after_a_try_may_end_it() {
    check(&[
        (
            "a call that is given the failure",
            "loop { match get().await { Ok(b) => return Ok(b), Err(e) => { classify(e)?; sleep(PAUSE).await; } } }",
            "? fixed 100ms none",
        ),
        (
            "a call that is given a count",
            "let mut n = 0; loop { match get().await { Ok(b) => return Ok(b), Err(_) => { n += 1; limit(n)?; sleep(PAUSE).await; } } }",
            "? fixed 100ms none",
        ),
        (
            "a call that is given nothing",
            "loop { match get().await { Ok(b) => return Ok(b), Err(_) => { ctx.check()?; sleep(PAUSE).await; } } }",
            "? fixed 100ms none",
        ),
        (
            "a number that is not known counts down",
            "let mut left = most(); loop { match get().await { Ok(b) => return Ok(b),
               Err(e) => { left = left.checked_sub(1).ok_or(e)?; sleep(PAUSE).await; } } }",
            "? fixed 100ms none",
        ),
        (
            "a number counts down",
            "let mut left = 3; loop { match get().await { Ok(b) => return Ok(b),
               Err(e) => { left = left.checked_sub(1).ok_or(e)?; sleep(PAUSE).await; } } }",
            "4 fixed 100ms none",
        ),
        (
            "beside a count, it ends it earlier at most",
            "for attempt in 0..3 { match get().await { Ok(b) => return Ok(b), Err(e) => { classify(e)?; sleep(PAUSE).await; } } } Err(e)",
            "3 fixed 100ms none",
        ),
        // The near misses.
        (
            "its failure is not handed on",
            "loop { match get().await { Ok(b) => return Ok(b), Err(e) => { classify(e).ok(); sleep(PAUSE).await; } } }",
            "unbounded fixed 100ms none",
        ),
        (
            "a look at the failure itself",
            "loop { match get().await { Ok(b) => return Ok(b), Err(e) => { e.permit()?; sleep(PAUSE).await; } } }",
            "unbounded fixed 100ms none",
        ),
        (
            "another operation after the try",
            "loop { match get().await { Ok(b) => return Ok(b), Err(_) => { self.reopen().await?; sleep(PAUSE).await; } } }",
            "unbounded fixed 100ms none",
        ),
        (
            "asked before the try",
            "loop { let url = self.url()?; match get(url).await { Ok(b) => return Ok(b), Err(_) => sleep(PAUSE).await } }",
            "unbounded fixed 100ms none",
        ),
    ]);
}

#[test]
fn a_state_is_no_failure() {
    check(&[
        ("a state", "loop { match state().await? { St::Done => return Ok(()), St::Run => sleep(PAUSE).await } }", ""),
        (
            "a state in a variable",
            "loop { let s = state().await?; match s { St::Complete => return Ok(()), St::Pending => sleep(PAUSE).await } }",
            "",
        ),
        (
            "a state, so often",
            "for _ in 0..60 { match state().await? { St::Done => return Ok(()), _ => {} } sleep(PAUSE).await; } Err(e)",
            "",
        ),
        (
            "a state, its failure matched",
            "loop { match state().await { Ok(s) => match s { St::Done => return Ok(()), St::Run => sleep(PAUSE).await }, Err(e) => return Err(e) } }",
            "",
        ),
        // The near misses.
        (
            "an answer that asks for another try",
            "loop { match state().await? { St::Done => return Ok(()), St::Retry => sleep(PAUSE).await } }",
            "unbounded fixed 100ms none",
        ),
        (
            "done once more, without waiting for a state",
            "for attempt in 0..3 { match self.refresh()? { St::Complete => return Ok(()), St::Changed => {} } } Ok(())",
            "3 at once",
        ),
        (
            "a state, whose failure lets it go on too",
            "loop { match state().await { Ok(s) => match s { St::Done => return Ok(()), St::Run => sleep(PAUSE).await }, Err(_) => sleep(PAUSE).await } }",
            "unbounded fixed 100ms none",
        ),
        (
            "a failure that lets it go on",
            "loop { match state().await { Ok(_) => return Ok(()), Err(_) => sleep(PAUSE).await } }",
            "unbounded fixed 100ms none",
        ),
    ]);
}

#[test]
fn a_code_that_is_compared_is_a_kind_of_failure() {
    let classes = |guarded: &str| {
        let body = format!("for i in 0..3 {{ match get().await {{ Ok(b) => return Ok(b), {guarded} }} }} Err(e)");
        *first(&body).policy.retries_on.known().expect("known")
    };
    let unavailable = Classes::of(&[Class::Unavailable]);
    assert_eq!(
        classes("Err(s) if s.code() == tonic::Code::Unavailable => sleep(PAUSE).await, Err(e) => return Err(e)"),
        unavailable
    );
    assert_eq!(
        classes("Err(s) if s.code() == Code::Unavailable && i < 2 => sleep(PAUSE).await, Err(e) => return Err(e)"),
        unavailable
    );
    assert_eq!(
        classes("Err(s) if s.code() != Code::Unavailable || i == 2 => return Err(s), Err(_) => sleep(PAUSE).await"),
        unavailable
    );
    assert_eq!(
        classes("Err(s) => { if s.code() != Code::Unavailable { return Err(s); } sleep(PAUSE).await }"),
        unavailable
    );
    assert_eq!(
        classes("Err(s) => match s.code() { Code::Unavailable => sleep(PAUSE).await, _ => return Err(s) }"),
        unavailable
    );
    // The near misses: that code leaves, and no code is asked for.
    assert_eq!(
        classes("Err(s) if s.code() == Code::Unavailable => return Err(s), Err(_) => sleep(PAUSE).await"),
        Classes::ALL.without(unavailable)
    );
    assert_eq!(classes("Err(_) => sleep(PAUSE).await"), Classes::ALL);
    // The code of an answer says whether it failed.
    check(&[(
        "an answer's code",
        "for i in 0..3 { let r = get().await?; if r.code() != Code::Unavailable { return Ok(r); } sleep(PAUSE).await; } Err(e)",
        "3 fixed 100ms none",
    )]);
}
