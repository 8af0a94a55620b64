//! What one finder describes and the other one uses: layers whose policy is an object of the project's own, clients in loops.

use super::facts;
use crate::facts::{Attempts, Limit, Nanos, Policy};
use crate::read::code::packages::Packages;
use crate::read::code::project::Project;
use crate::read::code::{catalogue, fixture, loops};

/// The policies of a file of a package that depends on these, by both finders.
fn policies(dependencies: &[(&str, &str, (u64, u64, u64))], text: &str) -> Vec<Policy> {
    let unit = fixture::unit_with(text, dependencies);
    let project = Project::new(Packages::new(vec![fixture::package(dependencies)])).looking_for(Default::default());
    let mut sites = catalogue::sites(&project, &unit);
    sites.append(&mut loops::sites(&project, &unit));
    facts(&project, &unit, sites, &[]).policies
}

/// Tries, the line, and the policy around: `4 @7`, `3 @2 in 0`.
fn told(text: &str, policies: &[Policy]) -> Vec<String> {
    let line = |policy: &Policy| text[..policy.span.start as usize].matches('\n').count() + 1;
    let tries = |policy: &Policy| policy.tries().map_or("?".to_string(), |tries| tries.to_string());
    let inside = |policy: &Policy| policy.inside.map_or(String::new(), |outer| format!(" in {}", outer.0));
    policies.iter().map(|policy| format!("{} @{}{}", tries(policy), line(policy), inside(policy))).collect()
}

const TOWER: &[(&str, &str, (u64, u64, u64))] = &[("tower", "tower", (0, 5, 3)), ("tokio", "tokio", (1, 0, 0))];

const POLICY: &str = "use std::time::Duration; use tokio::time::{Sleep, sleep}; use tower::retry::{Policy, RetryLayer}; \
    use tower::ServiceBuilder; #[derive(Clone)] struct Attempts { left: usize } \
    impl<R: Clone, T, E> Policy<R, T, E> for Attempts { type Future = Sleep; \
      fn retry(&mut self, _: &mut R, result: &mut Result<T, E>) -> Option<Sleep> { \
        if result.is_ok() || self.left == 0 { return None; } self.left -= 1; Some(sleep(Duration::from_millis(50))) } \
      fn clone_request(&mut self, request: &R) -> Option<R> { Some(request.clone()) } }";

#[test]
fn a_layer_takes_its_numbers_from_the_object_that_is_made_beside_it() {
    let read = |body: &str| {
        let text = format!("{POLICY}\n{body}");
        let policies = policies(TOWER, &text);
        (told(&text, &policies), policies)
    };
    let (told, policies) = read(
        "fn f() -> S {\n let policy = Attempts { left: 3 };\n \
         ServiceBuilder::new().retry(policy).timeout(Duration::from_secs(1)).service(inner()) }",
    );
    // One policy: with the object's tries, where the object is made, and the stack's limit.
    assert_eq!(told, ["4 @3"]);
    assert_eq!(policies[0].attempt_timeout.known(), Some(&Limit::At(Nanos(1_000_000_000))));
    assert_eq!(policies[0].backoff.nominal(1), Some(Nanos(50_000_000)));
    assert_eq!(read("fn f() -> L {\n RetryLayer::new(Attempts { left: 1 }) }").0, ["2 @3"]);
    // One that never gives up ends with the limit around it.
    let endless = POLICY.replace(" || self.left == 0", "").replace("self.left -= 1; ", "");
    let text = format!(
        "{endless}\nfn f() -> S {{ ServiceBuilder::new().timeout(Duration::from_secs(9)).retry(Attempts {{ left: 1 }}).service(i()) }}"
    );
    assert_eq!(self::policies(TOWER, &text)[0].attempts.known(), Some(&Attempts::ByTime));
    // Made in another function, it is a policy of its own, and the layer says that it does not know.
    let apart =
        "fn policy() -> Attempts {\n Attempts { left: 3 } }\nfn f(policy: Attempts) -> L {\n RetryLayer::new(policy) }";
    assert_eq!(read(apart).0, ["4 @3", "? @5"]);
}

#[test]
fn the_tries_of_an_sdk_stand_inside_of_a_loop_around_its_calls() {
    const AWS: &[(&str, &str, (u64, u64, u64))] = &[
        ("aws_config", "aws-config", (1, 13, 0)),
        ("aws_sdk_s3", "aws-sdk-s3", (1, 100, 0)),
        ("tokio", "tokio", (1, 0, 0)),
    ];
    let read = |config: &str| {
        let text = format!(
            "async fn f() -> Result<O, E> {{\nlet config = {config}; let client = aws_sdk_s3::Client::new(&config);\n\
             for attempt in 0..4 {{\n match client.get_object().bucket(\"b\").key(\"k\").send().await {{ Ok(o) => return Ok(o), \
             Err(e) => tokio::time::sleep(std::time::Duration::from_secs(1)).await }} }} Err(last) }}"
        );
        told(&text, &policies(AWS, &text))
    };
    assert_eq!(read("aws_config::load_from_env().await"), ["3 @2 in 1", "4 @3"]);
    let off = "aws_config::from_env().retry_config(aws_config::retry::RetryConfig::disabled()).load().await";
    assert_eq!(read(off), ["1 @2 in 1", "4 @3"]);
    // Whatever is set elsewhere is not known.
    assert_eq!(read("shared_config().await"), ["? @2 in 1", "4 @3"]);
}

#[test]
fn an_object_that_a_loop_asks_is_no_policy_beside_it() {
    let head = "use std::time::Duration; struct Backoff { next: Duration } impl Backoff { fn new() -> Self { Self { next: Duration::from_millis(100) } }
        fn next(&mut self) -> Duration { let delay = self.next; self.next = (self.next * 2).min(Duration::from_secs(3)); delay } }\n";
    let read = |body: &str| {
        let text = format!("{head}{body}");
        told(&text, &policies(&[("tokio", "tokio", (1, 0, 0))], &text))
    };
    let looped = |asked: &str| {
        format!(
            "for n in 0..4 {{\n match get().await {{ Ok(v) => return Ok(v), Err(e) if n == 3 => return Err(e), Err(_) => tokio::time::sleep({asked}).await }} }} Err(E)"
        )
    };
    let own = format!("async fn f() -> R {{ let mut backoff = Backoff::new();\n {} }}", looped("backoff.next()"));
    assert_eq!(read(&own), ["4 @4"]);
    // The near miss: a loop beside it that does not ask it.
    let other = format!(
        "async fn f() -> R {{ let mut backoff = Backoff::new();\n {} }}",
        looped("Duration::from_secs(1)").replace("Err(E)", "g(backoff)")
    );
    assert_eq!(read(&other), ["? @3", "4 @4"]);
}
