//! Which failures are tried again: by the status of an answer, by what an error says, and without being asked for.

use super::{check, first, tell};
use crate::facts::{Class, Classes};
use crate::read::code::fixture;
use crate::read::code::project::Project;

const SERVER: &[Class] = &[Class::Overload, Class::BadGateway, Class::ServerError];
const UNANSWERED: &[Class] = &[Class::Connect, Class::Unsent, Class::Reset, Class::TryTimeout];

fn retried(body: &str) -> Classes {
    let site = first(body);
    *site.policy.retries_on.known().unwrap_or_else(|| panic!("{body}"))
}

fn named(body: &str) -> Classes {
    first(body).policy.names_classes
}

/// A loop of four tries around a request whose answer is looked at.
fn answered(condition: &str) -> String {
    format!(
        "let mut n = 0; loop {{ let r = self.c.get(U).send().await?; {condition} {{ n += 1; sleep(PAUSE).await; continue; }}
         return Ok(r); }}"
    )
}

#[test]
fn a_status_that_is_asked_for_is_what_is_tried_again() {
    let both = &[Class::Overload, Class::RateLimited][..];
    for (condition, classes) in [
        ("if r.status() == StatusCode::TOO_MANY_REQUESTS && n < 3", &[Class::RateLimited][..]),
        ("if r.status() == 503 && n < 3", &[Class::Overload]),
        ("if r.status().is_server_error() && n < 3", SERVER),
        ("if r.status().as_u16() >= 500 && n < 3", SERVER),
        ("if n < 3 && r.status().as_u16() / 100 == 5", SERVER),
        ("let status = r.status(); if n < 3 && (status == 429 || status == StatusCode::SERVICE_UNAVAILABLE)", both),
        ("let status = r.status().as_u16(); if matches!(status, 429 | 503) && n < 3", both),
        ("if [429u16, 503].contains(&r.status().as_u16()) && n < 3", both),
        ("if (500..600).contains(&r.status().as_u16()) && n < 3", SERVER),
    ] {
        let body = answered(condition);
        assert_eq!(tell(&body), "4 fixed 100ms none", "{condition}");
        assert_eq!(retried(&body), Classes::of(classes), "{condition}");
        assert_eq!(named(&body), Classes::of(classes), "{condition}");
    }
}

#[test]
fn one_question_about_a_status_leaves_less_for_the_next() {
    let bound = "n += 1; if n >= 3 { return Err(E); } sleep(PAUSE).await;";
    let body = |questions: &str| {
        format!(
            "let mut n = 0; loop {{ let r = self.c.get(U).send().await?; let status = r.status(); {questions} {bound} }}"
        )
    };
    for (questions, classes) in [
        ("if status.is_success() { return Ok(r); } if status.is_client_error() { return Err(F); }", SERVER),
        (
            "if status == 200 { return Ok(r); } if status != 429 && status < 500 { return Err(F); }",
            &[Class::RateLimited, Class::Overload, Class::BadGateway, Class::ServerError],
        ),
        (
            "match status { StatusCode::OK => return Ok(r), StatusCode::CONFLICT => {} _ => return Err(F) }",
            &[Class::Conflict],
        ),
        ("match status.as_u16() { 200..=299 => return Ok(r), 400..=499 => return Err(F), _ => {} }", SERVER),
    ] {
        assert_eq!(tell(&body(questions)), "3 fixed 100ms none", "{questions}");
        assert_eq!(retried(&body(questions)), Classes::of(classes), "{questions}");
    }
    // Whatever is no success names nothing, and neither does what is left when one status is taken out.
    let all = "if status.is_success() { return Ok(r); }";
    let most = "if status.is_success() { return Ok(r); } if status == 404 { return Err(F); }";
    for questions in [all, most] {
        let answers = [SERVER, &[Class::RateLimited, Class::Conflict, Class::ClientError]].map(Classes::of);
        assert_eq!(retried(&body(questions)), answers[0].or(answers[1]), "{questions}");
        assert_eq!(named(&body(questions)), Classes::NONE, "{questions}");
    }
}

#[test]
fn arms_that_look_at_the_answer_and_at_the_error() {
    let arms = |arms: &str| {
        format!("for n in 0..3 {{ match self.c.get(U).send().await {{ {arms} }} sleep(PAUSE).await; }} Err(E)")
    };
    for (text, classes) in [
        (
            "Ok(r) if r.status().is_success() => return Ok(r), Ok(r) if r.status().is_client_error() => return Err(F),
             Ok(_) => {} Err(e) if e.is_connect() => {} Err(e) => return Err(e)",
            &[Class::Connect, Class::Overload, Class::BadGateway, Class::ServerError][..],
        ),
        ("Ok(r) if r.status() == 429 => {} Ok(r) => return Ok(r), Err(e) => return Err(e)", &[Class::RateLimited]),
        (
            "Ok(r) => return Ok(r), Err(e) if e.is_connect() || e.is_timeout() => {} Err(e) => return Err(e)",
            &[Class::Connect, Class::TryTimeout],
        ),
        ("Ok(r) => return Ok(r), Err(e) if !e.is_timeout() => return Err(e), Err(_) => {}", &[Class::TryTimeout]),
        (
            "Ok(r) => return Ok(r), Err(e) => { let again = e.is_connect() || e.is_timeout(); if !again { return Err(e); } }",
            &[Class::Connect, Class::TryTimeout],
        ),
    ] {
        assert_eq!(retried(&arms(text)), Classes::of(classes), "{text}");
    }
    // What is only logged decides nothing.
    let logged = "Ok(r) => return Ok(r), Err(e) => { if e.is_timeout() { warn!(\"slow\"); } }";
    assert_eq!(retried(&arms(logged)), Classes::of(UNANSWERED));
    assert_eq!(named(&arms(logged)), Classes::NONE);
}

#[test]
fn an_answer_is_none_of_the_failures_of_a_client_that_gives_every_answer() {
    let tried = |operation: &str| {
        format!(
            "for n in 0..3 {{ match {operation} {{ Ok(r) => return Ok(r), Err(_) => sleep(PAUSE).await }} }} Err(E)"
        )
    };
    for operation in [
        "self.c.get(U).send().await",
        "reqwest::get(U).await",
        "self.c.post(U).json(&order).send().await.map_err(Failed::from)",
        "async { self.c.get(U).send().await?.text().await }.await",
    ] {
        assert_eq!(retried(&tried(operation)), Classes::of(UNANSWERED), "{operation}");
    }
    for operation in [
        "self.c.get(U).send().await.and_then(|r| r.error_for_status())",
        "async { self.c.get(U).send().await?.error_for_status()?.text().await }.await",
        "async { self.c.get(U).send().await?.json::<Order>().await }.await",
        "async { let r = self.c.get(U).send().await?; parse(r).await }.await",
        "async { let r = self.c.get(U).send().await?; if r.status().is_success() { Ok(r) } else { Err(F) } }.await",
        "ureq::get(U).call()",
        "self.get_object(U).await",
    ] {
        assert_eq!(retried(&tried(operation)), Classes::ALL, "{operation}");
    }
}

/// What a loop of three tries goes on for, where a function of the file says what is worth another try.
fn judged(function: &str, guard: &str) -> Classes {
    let text = format!(
        "use std::time::Duration; {function} async fn f() -> Result<String> {{ for n in 0..3 {{ match get().await {{
         Ok(r) => return Ok(r), Err(e) if {guard} => tokio::time::sleep(Duration::from_secs(1)).await,
         Err(e) => return Err(e) }} }} Err(E) }}"
    );
    let unit = fixture::unit(&text);
    let site = crate::read::code::loops::sites(&Project::default(), &unit).into_iter().next().expect("a site");
    *site.policy.retries_on.known().expect("known")
}

#[test]
fn a_function_that_is_told_of_the_error_is_followed() {
    let asks =
        "fn is_retryable(e: &Error) -> bool { e.is_connect() || e.status() == Some(StatusCode::SERVICE_UNAVAILABLE) }";
    let both = Classes::of(&[Class::Connect, Class::Overload]);
    assert_eq!(judged(asks, "is_retryable(&e)"), both);
    assert_eq!(judged(asks, "!is_retryable(&e)"), Classes::ALL.without(both));
    let matches =
        "fn transient(e: &Error) -> bool { match e.status() { Some(s) => s == 429, None => e.is_timeout() } }";
    // The near misses: what is asked there is not understood, or nothing is seen of it.
    for (function, guard) in [
        ("fn is_retryable(e: &Error) -> bool { e.is_odd() || e.is_connect() }", "is_retryable(&e)"),
        (matches, "transient(&e)"),
        ("", "is_retryable(&e)"),
    ] {
        assert_eq!(judged(function, guard), Classes::ASSUMED, "{function}");
    }
}

#[test]
fn variants_of_a_project_are_no_codes_of_grpc() {
    let tried = |kind: &str| {
        retried(&format!(
            "for n in 0..3 {{ match get().await {{ Ok(r) => return Ok(r), Err({kind}) => sleep(PAUSE).await, Err(e) => return Err(e) }} }} Err(E)"
        ))
    };
    assert_eq!(tried("ApiError::Unavailable"), Classes::ASSUMED);
    assert_eq!(tried("ApiError::Timeout"), Classes::of(&[Class::TryTimeout]));
}

#[test]
fn a_status_by_itself_is_no_retry() {
    check(&[
        ("it leaves", "loop { let r = get().await?; if r.status() == 503 { return Err(E); } sleep(PAUSE).await; }", ""),
        (
            "until it is there",
            "let mut tries = 0; let found = loop { let r = self.c.get(U).send().await?; match r.status() { StatusCode::NOT_FOUND => { sleep(PAUSE).await; tries += 1; }
             _ if r.status().is_success() => break Ok(r), status => break Err(status) } if tries >= 60 { break Err(E); } };",
            "",
        ),
        (
            "each page until there is none",
            "loop { let r = self.c.get(page).send().await?; if r.status() == 404 { break; } sleep(PAUSE).await; page += 1; }",
            "",
        ),
    ]);
}
