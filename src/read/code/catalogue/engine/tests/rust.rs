//! Rust as people write it, with the catalogue's own files.

use super::*;
use crate::facts::{Class, Classes, Confidence, Limit, PolicyKind};
use crate::read::code::fixture;

const KNOWN: &[(&str, &str, Version)] = &[
    ("backon", "backon", (1, 6, 0)),
    ("backoff", "backoff", (0, 4, 0)),
    ("reqwest", "reqwest", (0, 12, 28)),
    ("reqwest_middleware", "reqwest-middleware", (0, 4, 0)),
    ("reqwest_retry", "reqwest-retry", (0, 7, 0)),
    ("tokio_retry", "tokio-retry", (0, 3, 0)),
];

fn rust(text: &str) -> Vec<Site> {
    let project = Project::new(Packages::new(vec![fixture::package(KNOWN)]));
    sites(&project, &project.catalogue, &fixture::unit_with(text, KNOWN))
}

#[test]
fn a_client_in_a_field_is_called_through_self() {
    let text = r#"
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware};
use reqwest_retry::{policies::ExponentialBackoff, RetryTransientMiddleware};
use std::time::Duration;

pub struct Payments { http: ClientWithMiddleware, base: String }

impl Payments {
    pub fn new(base: String) -> anyhow::Result<Self> {
        let inner = reqwest::Client::builder().timeout(Duration::from_secs(2)).build()?;
        let policy = ExponentialBackoff::builder()
            .retry_bounds(Duration::from_millis(100), Duration::from_secs(5))
            .build_with_max_retries(3);
        let http = ClientBuilder::new(inner).with(RetryTransientMiddleware::new_with_policy(policy)).build();
        Ok(Self { http, base })
    }

    pub async fn charge(&self) -> anyhow::Result<()> {
        self.http.post(format!("{}/charge", self.base)).send().await?;
        Ok(())
    }

    pub async fn refund(&self, other: &ClientWithMiddleware) -> anyhow::Result<()> {
        other.post(format!("{}/refund", self.base)).send().await?;
        Ok(())
    }
}
"#;
    let [site] = rust(text).try_into().unwrap_or_else(|sites| panic!("{sites:#?}"));
    assert_eq!(brief(&site.policy), ("4".into(), vec![100, 200, 400], "full"));
    assert_eq!(site.policy.attempt_timeout.known(), Some(&Limit::At(Nanos::from_secs(2))));
    assert_eq!(site.operations.len(), 1, "the other client is somebody else's");
    // The numbers stand where the policy is made.
    assert!(text[site.policy.span.range()].starts_with("ExponentialBackoff::builder()"));
}

#[test]
fn predicates_that_ask_what_is_known() {
    let retried = |predicate: &str| {
        let text = format!(
            "use backon::{{ExponentialBuilder, Retryable}};\n{predicate}\n\
             async fn f() {{ fetch.retry(ExponentialBuilder::default()).when(predicate).await; }}"
        );
        let [site] = rust(&text).try_into().unwrap();
        (site.policy.retries_on.known().copied(), site.policy.confidence)
    };
    let high = |classes: &[Class]| (Some(Classes::of(classes)), Confidence::High);
    for (body, expected) in [
        ("e.is_timeout()", high(&[Class::TryTimeout])),
        ("e.is_timeout() || e.is_connect()", high(&[Class::TryTimeout, Class::Connect])),
        ("matches!(e.status(), Some(StatusCode::SERVICE_UNAVAILABLE))", (None, Confidence::Medium)),
        ("e.status() == Some(StatusCode::SERVICE_UNAVAILABLE)", high(&[Class::Overload])),
        ("e.is_timeout() && e.is_connect()", high(&[])),
        ("!e.is_timeout()", (Some(Classes::ALL.without(Classes::of(&[Class::TryTimeout]))), Confidence::High)),
        ("if e.is_connect() { true } else { e.is_timeout() }", high(&[Class::Connect, Class::TryTimeout])),
        ("e.is_fine()", (None, Confidence::Medium)),
        ("e.is_timeout() && self.on", (None, Confidence::Medium)),
        ("e.is_timeout() || is_fine(e)", (None, Confidence::Medium)),
    ] {
        let function = format!("fn predicate(e: &reqwest::Error) -> bool {{ {body} }}");
        let is = retried(&function);
        // What a pattern asks may be read one day; it must not be read wrongly.
        if body.starts_with("matches!") {
            assert!(is == expected || is == high(&[Class::Overload]), "{body}: {is:?}");
        } else {
            assert_eq!(is, expected, "{body}");
        }
    }
}

#[test]
fn fields_set_one_by_one() {
    let text = r#"
use backoff::{ExponentialBackoff, future::retry};
async fn f() {
    let mut policy = ExponentialBackoff::default();
    policy.max_elapsed_time = None;
    retry(policy, || async { Ok(fetch().await?) }).await;
}
"#;
    let [site] = rust(text).try_into().unwrap();
    assert_eq!(brief(&site.policy), ("unbounded".into(), vec![500, 750, 1125], "proportional"));
    assert_eq!(site.policy.retries_on.known(), Some(&Classes::ALL));
}

#[test]
fn a_policy_that_another_one_takes_up_is_part_of_it() {
    let first = "use tokio_retry::{Retry, strategy::FixedInterval};\n";
    let two = "FixedInterval::from_millis(100).take(2).chain(FixedInterval::from_millis(500).take(3))";
    let [site] = rust(&format!("{first}async fn f() {{ Retry::spawn({two}, op).await; }}")).try_into().unwrap();
    assert_eq!(site.policy.attempts.known(), None);
    let [_] = rust(&format!("{first}fn f() -> impl Iterator {{ {two} }}")).try_into().unwrap();
    let by_name =
        "let late = FixedInterval::from_millis(500).take(3); FixedInterval::from_millis(100).take(2).chain(late)";
    let [_] = rust(&format!("{first}fn f() -> impl Iterator {{ {by_name} }}")).try_into().unwrap();
    // Beside each other they are two.
    let beside = "(FixedInterval::from_millis(100).take(2), FixedInterval::from_millis(500).take(3))";
    assert_eq!(rust(&format!("{first}fn f() -> (A, B) {{ {beside} }}")).len(), 2);
}

#[test]
fn modules_of_the_project_are_no_libraries() {
    for text in [
        "mod backoff { pub fn retry() {} }\nfn f() { backoff::retry(policy, op); }",
        "use crate::backoff::retry;\nfn f() { retry(policy, op); }",
        "use mine::Retryable;\nasync fn f() { fetch.retry(policy).await; }",
        "// backon::Retryable\nfn f() { let s = \"backoff::retry(policy, op)\"; }",
        "async fn f() { let policy = other::ExponentialBackoff::builder().build_with_max_retries(3); }",
    ] {
        assert_eq!(rust(text), [], "{text}");
    }
}

#[test]
fn a_client_without_a_limit_is_known_to_have_none() {
    let text = "async fn f() { let http = reqwest::Client::new(); http.get(\"http://payments/\").send().await?; }";
    let [site] = rust(text).try_into().unwrap();
    assert_eq!((site.policy.kind, site.operations.len()), (PolicyKind::TimeLimit, 1));
    assert_eq!(site.policy.attempt_timeout.known(), Some(&Limit::None));
}
