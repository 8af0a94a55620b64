//! The engine knows no language: the same entries' mechanics on trees as other languages give them.

use super::*;
use crate::facts::{Limit, Methods};
use crate::read::code::tree::Op;

const POLLY: &str = include_str!("../../fixtures/polly.toml");
const TENACITY: &str = include_str!("../../fixtures/tenacity.toml");

fn polly() -> Library {
    format::parse(POLLY, None).unwrap()
}

fn tenacity() -> Library {
    format::parse(TENACITY, None).unwrap()
}

fn of(library: Library, imports: &[&str], items: Vec<N>) -> Vec<Site> {
    find(library, Packages::default(), &unit(None, imports, items))
}

fn body(statements: Vec<N>) -> N {
    function("Configure", &["services"], Vec::new(), block(statements))
}

#[test]
fn csharp_options_object_and_builder() {
    // new ResiliencePipelineBuilder().AddTimeout(30 s).AddRetry(new RetryStrategyOptions { … }).AddTimeout(2 s)
    let options = |fields: Vec<A>| record("Polly.Retry.RetryStrategyOptions", fields);
    let pipeline = |options: N| {
        let builder = call("Polly.ResiliencePipelineBuilder", vec![]);
        let outer = method(builder, "AddTimeout", vec![("", secs(30))]);
        let retry = method(outer, "AddRetry", vec![("", options)]);
        body(vec![bind("pipeline", method(retry, "AddTimeout", vec![("", secs(2))]))])
    };
    let one = |fields: Vec<A>| {
        let [site] = of(polly(), &[], vec![pipeline(options(fields))]).try_into().unwrap();
        site.policy
    };
    let exponential = || ("BackoffType", path("Polly.DelayBackoffType.Exponential"));
    let policy =
        one(vec![("MaxRetryAttempts", int(5)), ("Delay", millis(500)), exponential(), ("UseJitter", yes(true))]);
    assert_eq!(brief(&policy), ("6".into(), vec![500, 1000, 2000], "decorrelated"));
    assert_eq!(policy.total.limit.known(), Some(&Limit::At(Nanos::from_secs(30))));
    assert_eq!(policy.attempt_timeout.known(), Some(&Limit::At(Nanos::from_secs(2))));
    // Nothing but defaults; jitter of a constant delay is a quarter either way.
    assert_eq!(brief(&one(vec![])), ("4".into(), vec![2000, 2000, 2000], "none"));
    assert_eq!(brief(&one(vec![("UseJitter", yes(true))])).2, "proportional");
    assert_eq!(brief(&one(vec![("MaxRetryAttempts", int(2_147_483_647))])).0, "unbounded");
    assert!(brief(&one(vec![("MaxRetryAttempts", local("n"))])).0.starts_with("unknown"));
}

#[test]
fn csharp_standard_handler_with_a_callback() {
    let handler = |statements: Vec<N>| {
        let client = method(local("services"), "AddHttpClient", vec![("", text("payments"))]);
        let configure = closure(&["o"], block(statements));
        body(vec![method(client, "AddStandardResilienceHandler", vec![("", configure)])])
    };
    let one = |statements: Vec<N>| {
        let imports = ["Microsoft.Extensions.DependencyInjection.*"];
        let [site] = of(polly(), &imports, vec![handler(statements)]).try_into().unwrap();
        site.policy
    };
    let retry = |field: &'static str| member(member(local("o"), "Retry"), field);
    let policy = one(vec![]);
    assert_eq!(brief(&policy), ("4".into(), vec![2000, 4000, 8000], "decorrelated"));
    assert_eq!(&*policy.name, "payments");
    assert_eq!(policy.total.limit.known(), Some(&Limit::At(Nanos::from_secs(30))));
    assert_eq!(policy.attempt_timeout.known(), Some(&Limit::At(Nanos::from_secs(10))));
    assert_eq!(policy.breaker.limit().unwrap().minimum.as_ref().unwrap().known(), Some(&100));
    let policy = one(vec![
        set(retry("MaxRetryAttempts"), int(5)),
        set(retry("Delay"), millis(200)),
        set(member(member(local("o"), "AttemptTimeout"), "Timeout"), secs(3)),
        method(member(local("o"), "Retry"), "DisableForUnsafeHttpMethods", vec![]),
    ]);
    assert_eq!(brief(&policy), ("6".into(), vec![200, 400, 800], "decorrelated"));
    assert_eq!(policy.attempt_timeout.known(), Some(&Limit::At(Nanos::from_secs(3))));
    assert_eq!(policy.methods.known(), Some(&Methods::Idempotent));
    // Under a condition it may be one or the other; handed on, anything.
    let policy = one(vec![when(local("slow"), block(vec![set(retry("MaxRetryAttempts"), int(5))]))]);
    assert_eq!(brief(&policy).0, "unknown: set on some of the ways through the code");
    let policy = one(vec![call_local("Configure", vec![("", local("o"))])]);
    assert!(policy.attempts.why().is_some() && policy.attempt_timeout.why().is_some());
    // On anything else than a client of that factory it is somebody else's method.
    let other = method(local("services"), "AddStandardResilienceHandler", vec![]);
    assert!(of(polly(), &[], vec![body(vec![other])]).is_empty());
}

#[test]
fn python_decorator_with_parts() {
    // @retry(stop=stop_after_attempt(5) | stop_after_delay(30), wait=wait_exponential(multiplier=1, max=10))
    let decorated = |mark: N| vec![function("fetch", &["url"], vec![mark], block(vec![call_local("get", vec![])]))];
    let one = |mark: N| {
        let sites = of(tenacity(), &[], decorated(mark));
        assert_eq!(sites.len(), 1);
        assert_eq!(sites[0].operations.len(), 1, "the body is what is tried");
        sites[0].policy.clone()
    };
    let stop = || {
        let attempts = call("tenacity.stop_after_attempt", vec![("", int(5))]);
        op(Op::BitOr, vec![attempts, call("tenacity.stop_after_delay", vec![("", int(30))])])
    };
    let wait = call("tenacity.wait_exponential", vec![("multiplier", int(1)), ("max", int(10))]);
    let policy = one(call("tenacity.retry", vec![("stop", stop()), ("wait", wait)]));
    assert_eq!(brief(&policy), ("5".into(), vec![1000, 2000, 4000], "none"));
    assert_eq!(policy.backoff.cap.known(), Some(&Limit::At(Nanos::from_secs(10))));
    assert_eq!(policy.total.limit.known(), Some(&Limit::At(Nanos::from_secs(30))));
    // Without arguments, for ever and without delay.
    assert_eq!(brief(&one(path("tenacity.retry"))), ("unbounded".into(), vec![0, 0, 0], "none"));
    assert_eq!(&*one(path("tenacity.retry")).name, "fetch");
    // A decorator of another library.
    assert!(of(tenacity(), &[], decorated(path("mine.retry"))).is_empty());
    // Arguments from elsewhere may be any.
    let spread = one(call("tenacity.retry", vec![("stop", stop()), ("*", local("more"))]));
    assert!(spread.observed.why().is_some());
}

#[test]
fn java_annotation_with_named_arguments() {
    let lib = format::parse(
        r#"
schema = 1
name = "spring-retry"
language = "java"
packages = ["maven:org.springframework.retry:spring-retry"]
roots = ["org.springframework.retry.annotation"]
source = "its documentation"
[[shape]]
is = "run"
mark = ["org.springframework.retry.annotation.Retryable"]
operation = "$marked"
default = { attempts = 3, backoff = "fixed", base = "1s", jitter = "none" }
[shape.argument]
maxAttempts = { attempts = "$value" }
backoff = { part = "backoff", from = "$value" }
[[shape]]
is = "part"
part = "backoff"
call = ["org.springframework.retry.annotation.Backoff"]
params = ["delay=1000", "multiplier=0", "maxDelay=0"]
sets = [
    { if = { "$multiplier" = 0 }, backoff = "fixed", base = "$delay ms" },
    { backoff = "exponential", base = "$delay ms", factor = "$multiplier", cap = "$maxDelay ms" },
]
"#,
        None,
    )
    .unwrap();
    // @Retryable(maxAttempts = 4, backoff = @Backoff(delay = 200, multiplier = 3.0, maxDelay = 1000))
    let one = |arguments: Vec<A>| {
        let mark = call("org.springframework.retry.annotation.Retryable", arguments);
        let sites = of(lib.clone(), &[], vec![function("charge", &[], vec![mark], block(vec![]))]);
        brief(&sites[0].policy)
    };
    let backoff = call(
        "org.springframework.retry.annotation.Backoff",
        vec![("delay", int(200)), ("multiplier", float(3.0)), ("maxDelay", int(1000))],
    );
    assert_eq!(one(vec![("maxAttempts", int(4)), ("backoff", backoff)]), ("4".into(), vec![200, 600, 1000], "none"));
    assert_eq!(one(vec![]), ("3".into(), vec![1000, 1000, 1000], "none"));
    let plain = call("org.springframework.retry.annotation.Backoff", vec![("delay", int(50))]);
    assert_eq!(one(vec![("backoff", plain)]), ("3".into(), vec![50, 50, 50], "none"));
}

#[test]
fn typescript_options_object() {
    let lib = format::parse(
        r#"
schema = 1
name = "async-retry"
language = "typescript"
packages = ["npm:async-retry"]
roots = ["async-retry"]
source = "its documentation"
[[shape]]
is = "run"
call = ["async-retry::default"]
operation = "$0"
default = { retries = 10, backoff = "exponential", base = "1s", factor = 2, jitter = { low = 1.0, high = 2.0, at = "before-cap" } }
argument.1 = { shape = "options" }
[[shape]]
id = "options"
is = "policy"
record = ["async-retry::Options"]
[shape.field]
retries = { retries = "$value" }
minTimeout = { base = "$value ms" }
factor = { factor = "$value" }
randomize = [ { if = { "$value" = false }, jitter = "none" } ]
onRetry = { observed = true }
"#,
        None,
    )
    .unwrap();
    let one = |options: N| {
        let run = call("async-retry.default", vec![("", closure(&[], call_local("fetch", vec![]))), ("", options)]);
        let [site] =
            of(lib.clone(), &[], vec![function("load", &["more"], Vec::new(), block(vec![run]))]).try_into().unwrap();
        site.policy
    };
    // retry(() => fetch(), { retries: 2, minTimeout: 50, randomize: false, onRetry: log })
    let policy = one(record(
        "",
        vec![("retries", int(2)), ("minTimeout", int(50)), ("randomize", yes(false)), ("onRetry", local("log"))],
    ));
    assert_eq!(brief(&policy), ("3".into(), vec![50, 100, 200], "none"));
    assert_eq!(policy.observed.known(), Some(&true));
    assert_eq!(brief(&one(record("", vec![]))).0, "11");
    assert!(one(local("more")).attempts.why().is_some());
}
