//! What the tries of one policy enclose (contracts.md D-6): not what others try by the same name, and not what is done once they
//! are over, what ends them by failing, or what nobody waits for.

use super::{facts, finish};
use crate::facts::{Facts, Policy};
use crate::read::code::packages::Packages;
use crate::read::code::project::Project;
use crate::read::code::{catalogue, fixture, loops};

const DEPENDENCIES: &[(&str, &str, (u64, u64, u64))] = &[
    ("backon", "backon", (1, 6, 0)),
    ("reqwest", "reqwest", (0, 12, 0)),
    ("tokio", "tokio", (1, 0, 0)),
    ("tokio_retry", "tokio-retry", (0, 3, 0)),
];

const HEAD: &str = "use backon::{ConstantBuilder, Retryable}; use std::time::Duration; use tokio::time::sleep; \
    use tokio_retry::{Retry, strategy::FixedInterval}; pub struct Er; type R = Result<u32, Er>;";

/// A request to `ledger`.
const OP: &str = "async fn op() -> R { reqwest::get(\"http://ledger/x\").await.map_err(|_| Er).map(|_| 1) }";

/// Each policy as `function tries`, with those around it: `pay 4 in x 3`.
fn told(text: &str) -> Vec<String> {
    let facts = read(text);
    let known = |policy: &Policy| {
        let function = policy.in_code.as_ref().and_then(|code| code.function.clone()).unwrap_or_default();
        format!("{function} {}", policy.tries().map_or("?".into(), |tries| tries.to_string()))
    };
    let around = |policy: &Policy| policy.inside.and_then(|outer| facts.policy(outer)).map(known);
    let all = retrying(&facts).map(|policy| match around(policy) {
        Some(outer) => format!("{} in {outer}", known(policy)),
        None => known(policy),
    });
    all.collect()
}

/// Whom the last policy calls.
fn callee(text: &str) -> Option<String> {
    Some(retrying(&read(text)).last()?.callee.service()?.host.display())
}

/// The policies that try more than once: those of plain clients do not.
fn retrying(facts: &Facts) -> impl Iterator<Item = &Policy> {
    facts.policies.iter().filter(|policy| policy.tries() != Some(1))
}

fn read(text: &str) -> Facts {
    let unit = fixture::unit_with(&format!("{HEAD} {OP} {text}"), DEPENDENCIES);
    let project = Project::new(Packages::new(vec![fixture::package(DEPENDENCIES)])).looking_for(Default::default());
    let mut sites = catalogue::sites(&project, &unit);
    sites.append(&mut loops::sites(&project, &unit));
    let mut facts = facts(&project, &unit, sites, &[]);
    finish(&mut facts);
    facts
}

/// A loop that does something before each try, tries this, and does that with what came of it.
fn tries(most: u32, before: &str, tried: &str, then: &str) -> String {
    format!(
        "for i in 0..{most} {{ {before} match {tried} {{ Ok(v) => {then}, Err(e) if i == {} => return Err(e), \
         Err(_) => sleep(Duration::from_millis(99)).await }} }} Err(Er)",
        most - 1
    )
}

/// A function that tries to reach `ledger` so often.
fn function(name: &str, most: u32) -> String {
    let request = "reqwest::get(\"http://ledger/y\").await.map_err(|_| Er).map(|_| 1)";
    format!("async fn {name}() -> R {{ {} }}", tries(most, "", request, "return Ok(v)"))
}

/// The loop `x` of three tries beside a function `inner` of four tries.
fn beside(inner: &str, before: &str, tried: &str, then: &str) -> Vec<String> {
    told(&format!("{} async fn x() -> R {{ {} }}", function(inner, 4), tries(3, before, tried, then)))
}

#[test]
fn policies_that_try_one_function_by_its_name_are_alternatives() {
    let retried =
        |what: &str, retries: u32| format!("{what}.retry(ConstantBuilder::default().with_max_times({retries})).await");
    let by_name =
        |name: &str, what: &str, retries: u32| format!("async fn {name}() -> R {{ {} }}", retried(what, retries));
    let two = |what: &str| told(&format!("{} {}", by_name("a", what, 7), by_name("b", what, 2)));
    assert_eq!(two("op"), ["a 8", "b 3"]);
    assert_eq!(two("(|| async { op().await })"), ["a 8", "b 3"]);
    let branches =
        format!("async fn a(c: bool) -> R {{ if c {{ {} }} else {{ {} }} }}", retried("op", 1), retried("op", 2));
    assert_eq!(told(&branches), ["a 2", "a 3"]);
    let closure = format!("async fn a() -> R {{ let f = || op(); {}; {} }}", retried("f", 1), retried("f", 2));
    assert_eq!(told(&closure), ["a 2", "a 3"]);
    let spawned = |name: &str, n: u32| {
        format!("async fn {name}() -> R {{ Retry::spawn(FixedInterval::from_millis(100).take({n}), op).await }}")
    };
    assert_eq!(told(&format!("{} {}", spawned("a", 7), spawned("b", 2))), ["a 8", "b 3"]);
    // What the function does is inside of them, of the one that tries most often.
    let (seven, two) = (by_name("a", "pay", 7), by_name("b", "pay", 2));
    assert_eq!(told(&format!("{} {seven} {two}", function("pay", 4))), ["pay 4 in a 8", "a 8", "b 3"]);
    assert_eq!(told(&format!("{} {two} {seven}", function("pay", 4))), ["pay 4 in a 8", "b 3", "a 8"]);
    // One that tries the other.
    let nested = format!("{} {}", by_name("l1", "op", 1), by_name("l2", "l1", 2));
    assert_eq!(told(&nested), ["l1 2 in l2 3", "l2 3"]);
    assert_eq!(callee(&nested).as_deref(), Some("ledger"));
    // The construct stands in the loop, wherever the closure is made.
    let looped = format!("async fn a() -> R {{ let f = || op(); {} }}", tries(2, "", &retried("f", 2), "return Ok(v)"));
    assert_eq!(told(&looped), ["a 2", "a 3 in a 2"]);
}

#[test]
fn what_is_done_after_success_is_not_tried_again() {
    let then = |then: &str| beside("pay", "", "op().await", then);
    assert_eq!(then("return pay().await"), ["pay 4", "x 3"]);
    assert_eq!(then("{ let paid = pay().await; return paid; }"), ["pay 4", "x 3"]);
    // Written on the spot.
    let here = format!("{{ {} }}", tries(2, "", "pay().await", "return Ok(v)").replace(" Err(Er)", " return Err(Er);"));
    assert_eq!(then(&here), ["pay 4 in x 2", "x 3", "x 2"]);
    let text = "async fn x() -> R { let mut n = 0; loop { let v = match op().await { Ok(v) => v, Err(e) if n == 2 => return Err(e), \
                Err(_) => { n += 1; sleep(Duration::from_millis(99)).await; continue } }; return pay().await; } }";
    assert_eq!(told(&format!("{} {text}", function("pay", 4))), ["pay 4", "x 3"]);
    // What fails there is tried again with all before.
    let again = "match pay().await { Ok(v) => return Ok(v), Err(_) => sleep(Duration::from_millis(99)).await }";
    assert_eq!(then(again), ["pay 4 in x 3", "x 3"]);
    assert_eq!(beside("pay", "", "pay().await", "return Ok(v)"), ["pay 4 in x 3", "x 3"]);
    // It is not whom the tries call either.
    let text = |then: &str| format!("async fn x() -> R {{ {} }}", tries(3, "", "op().await", then));
    let pay = "reqwest::get(\"http://pay/x\").await";
    assert_eq!(callee(&text(&format!("{{ {pay}?; return Ok(1); }}"))).as_deref(), Some("ledger"));
    let again = format!("match {pay} {{ Ok(_) => return Ok(1), Err(_) => sleep(Duration::from_millis(99)).await }}");
    assert_eq!(callee(&text(&again)), None);
}

#[test]
fn a_call_whose_failure_ends_the_tries_is_not_tried_again() {
    let before = |before: &str| beside("tok", before, "op().await", "return Ok(v)");
    for ends in [
        "let _t = tok().await?;",
        "tok().await.map_err(|_| Er)?;",
        "let _t = match tok().await { Ok(t) => t, Err(e) => return Err(e) };",
        "let Ok(_t) = tok().await else { return Err(Er) };",
    ] {
        assert_eq!(before(ends), ["tok 4", "x 3"], "{ends}");
    }
    let goes_on =
        "let _t = match tok().await { Ok(t) => t, Err(_) => { sleep(Duration::from_millis(99)).await; continue } };";
    assert_eq!(before(goes_on), ["tok 4 in x 3", "x 3"]);
    // It ends the block, whose failure is then tried again.
    let block = beside("tok", "", "async { tok().await?; op().await }.await", "return Ok(v)");
    assert_eq!(block, ["tok 4 in x 3", "x 3"]);
    let closure =
        "async fn x() -> R { (|| async { tok().await?; op().await }).retry(ConstantBuilder::default()).await }";
    assert_eq!(told(&format!("{} {closure}", function("tok", 4))), ["tok 4 in x 4", "x 4"]);
    // One failure ends them, another one of the same operation does not.
    let status = "async fn x() -> R { for i in 0..3 { let r = client().send().await?; \
                  if r.status().is_server_error() { sleep(Duration::from_millis(99)).await; continue } return Ok(1); } Err(Er) }";
    let tried = status.replace("client().send()", "tok()");
    assert_eq!(told(&format!("{} {tried}", function("tok", 4))), ["tok 4 in x 3", "x 3"]);
    // Whom the tries call.
    let text = |before: &str| format!("async fn x() -> R {{ {} }}", tries(3, before, "op().await", "return Ok(v)"));
    let auth = "reqwest::get(\"http://auth/t\").await";
    assert_eq!(callee(&text(&format!("let _t = {auth}?;"))).as_deref(), Some("ledger"));
    assert_eq!(callee(&text(&format!("if {auth}.is_err() {{ continue }}"))), None);
}

#[test]
fn what_is_started_beside_the_tries_is_no_part_of_them() {
    let before = |before: &str| beside("bg", before, "op().await", "return Ok(v)");
    assert_eq!(before("tokio::spawn(bg());"), ["bg 4", "x 3"]);
    assert_eq!(before("let _ = tokio::spawn(async { bg().await });"), ["bg 4", "x 3"]);
    let closure =
        "async fn x() -> R { (|| async { tokio::spawn(bg()); op().await }).retry(ConstantBuilder::default()).await }";
    assert_eq!(told(&format!("{} {closure}", function("bg", 4))), ["bg 4", "x 4"]);
    // In a function that the try calls.
    let called = "async fn both() -> R { tokio::spawn(bg()); op().await }";
    let text = format!(
        "{} {called} async fn x() -> R {{ {} }}",
        function("bg", 4),
        tries(3, "", "both().await", "return Ok(v)")
    );
    assert_eq!(told(&text), ["bg 4", "x 3"]);
    // What is waited for is tried, whoever runs it.
    assert_eq!(beside("bg", "", "tokio::spawn(bg()).await", "return Ok(v)"), ["bg 4 in x 3", "x 3"]);
    assert_eq!(beside("bg", "let task = tokio::spawn(bg());", "task.await", "return Ok(v)"), ["bg 4 in x 3", "x 3"]);
}
