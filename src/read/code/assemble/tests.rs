use std::sync::Arc;

use super::{facts, finish};
use crate::facts::{
    Attempts, Callee, Caller, Classes, Dialect, Facts, Limit, Nanos, Policy, PolicyKind, Purpose, Sourced,
};
use crate::read::code::directive::{Directive, DirectiveKind};
use crate::read::code::fixture;
use crate::read::code::project::Project;
use crate::read::code::site::{Finder, Site};
use crate::read::code::tree::{At, Id, Kind, Unit};

/// Every loop is a site that tries its body, and every call of something called `retry` one that tries its closure.
fn sites(unit: &Unit) -> Vec<Site> {
    let of = |id: Id| match unit.kind(id) {
        Kind::Loop { body, .. } => Some((vec![*body], Finder::Loops)),
        Kind::Call { of, args, .. } if unit.callee(*of).is_some_and(|name| name.last() == "retry") => {
            Some((args.iter().map(|arg| arg.value).collect(), Finder::Catalogue))
        }
        _ => None,
    };
    let found = unit.ids().filter_map(|(id, _)| Some((id, of(id)?)));
    found
        .map(|(construct, (operations, from))| Site {
            policy: policy(unit, construct),
            construct,
            operations,
            apart: Vec::new(),
            from,
            uses: Vec::new(),
            is_described: false,
        })
        .collect()
}

fn policy(unit: &Unit, id: Id) -> Policy {
    let span = unit.span(id);
    let mut policy = Policy::new(Dialect::Code, "hand-written", "the test", span, "");
    policy.kind = PolicyKind::Loop;
    policy.attempts = Sourced::written(Attempts::Times(3), span);
    policy.retries_on = Sourced::written(Classes::ALL, span);
    policy
}

fn read(text: &str) -> Facts {
    read_with(text, &[])
}

fn read_with(text: &str, directives: &[(DirectiveKind, &str, &str)]) -> Facts {
    let unit = fixture::unit(text);
    let directives: Vec<Directive> = directives
        .iter()
        .map(|(kind, name, covers)| {
            let start = text.find(covers).expect("what is covered") as u32;
            let covers = At { start, end: start + covers.len() as u32 };
            Directive { at: covers, kind: *kind, name: (*name).into(), covers }
        })
        .collect();
    let sites = sites(&unit);
    facts(&Project::default(), &unit, sites, &directives)
}

/// The callees of the calls, in order.
fn callees(facts: &Facts) -> Vec<String> {
    let shown =
        |callee: &Callee| callee.service().map_or_else(|| format!("{callee:?}"), |service| service.host.display());
    facts.calls.iter().map(|call| shown(&call.callee)).collect()
}

#[test]
fn what_stands_in_the_tries_of_another_is_inside_of_it() {
    let inside = |text: &str| read(text).policies.iter().map(|policy| policy.inside.map(|id| id.0)).collect::<Vec<_>>();
    assert_eq!(inside("async fn f() { for i in 0..3 { retry(|| work()).await; } }"), [None, Some(0)]);
    assert_eq!(
        inside("async fn f() { for i in 0..3 { for j in 0..2 { retry(|| work()).await; } } }"),
        [None, Some(0), Some(1)]
    );
    // Beside each other, in the head of the loop, behind it.
    assert_eq!(
        inside("async fn f() { retry(|| a()).await; for i in 0..3 { b().await; } retry(|| c()).await; }"),
        [None; 3]
    );
    assert_eq!(inside("async fn f() { for i in 0..retry(|| n()) { b().await; } }"), [None, None]);
}

#[test]
fn one_place_that_both_finders_see_is_one_policy() {
    let text = "async fn f() { for d in delays() { get(\"http://payments/\").await; } }";
    let unit = fixture::unit(text);
    let site = |id: Id, from: Finder, known: bool| {
        let mut policy = policy(&unit, id);
        if !known {
            policy.attempts = Sourced::unknown(crate::facts::Why::Other("?".into()), unit.span(id));
        }
        Site {
            policy,
            construct: id,
            operations: Vec::new(),
            apart: Vec::new(),
            from,
            uses: Vec::new(),
            is_described: false,
        }
    };
    let of = |wanted: fn(&Kind) -> bool| unit.ids().find(|(_, node)| wanted(&node.kind)).unwrap().0;
    let around = of(|kind| matches!(kind, Kind::Loop { .. }));
    let series = of(|kind| matches!(kind, Kind::Call { .. }));
    for (one, other) in [
        (site(around, Finder::Loops, false), site(series, Finder::Catalogue, true)),
        (site(around, Finder::Loops, true), site(around, Finder::Catalogue, false)),
    ] {
        let facts = facts(&Project::default(), &unit, vec![one, other], &[]);
        assert_eq!(facts.policies.len(), 1);
        assert_eq!(facts.policies[0].tries(), Some(3));
    }
    // Two loops are two, and so are two of one finder.
    let twice = vec![site(around, Finder::Loops, true), site(series, Finder::Loops, true)];
    assert_eq!(facts(&Project::default(), &unit, twice, &[]).policies.len(), 2);
}

#[test]
fn a_retried_call_of_a_known_service_is_a_call() {
    let facts = read(
        "impl Client { async fn fetch(&self) { for i in 0..3 { self.http.post(\"http://payments/charge\").send().await; } } }
         async fn g() { for i in 0..3 { work().await; } }",
    );
    assert_eq!(callees(&facts), ["payments"]);
    let policy = &facts.policies[0];
    assert_eq!((&*policy.name, policy.calls.len(), &policy.caller), ("Client::fetch", 1, &Caller::ByPath));
    assert_eq!(facts.calls[0].operation.as_ref().unwrap().method.as_deref(), Some("POST"));
    assert_eq!(facts.calls[0].span, policy.span);
    let in_code = policy.in_code.as_ref().unwrap();
    assert_eq!((in_code.function.as_deref(), in_code.is_async), (Some("Client::fetch"), true));
    // Unknown: no call, and the reason.
    assert!(facts.policies[1].calls.is_empty());
    assert!(matches!(&facts.policies[1].callee, Callee::Unknown(_)));
}

#[test]
fn comments_state_what_cannot_be_told() {
    let text = "async fn f() { for i in 0..3 { work().await; } } async fn g() { for i in 0..3 { work().await; } }";
    let stated = read_with(
        text,
        &[
            (DirectiveKind::Calls, "payments", "for i in 0..3 { work().await; }"),
            (DirectiveKind::Calls, "orders", text),
            (DirectiveKind::Service, "checkout", "async fn f() { for i in 0..3 { work().await; } }"),
        ],
    );
    // The nearest one counts.
    assert_eq!(callees(&stated), ["payments", "orders"]);
    let within = |inner: &[(DirectiveKind, &str, &str)]| callees(&read_with(text, inner));
    assert_eq!(within(&[(DirectiveKind::Calls, "ledger", "work().await;")]), ["ledger"]);
    // Of two nobody knows which one is meant.
    let two = [(DirectiveKind::Calls, "ledger", "work().await;"), (DirectiveKind::Calls, "audit", "work().await")];
    assert!(within(&two).is_empty());
    let caller = |at: usize| stated.calls[at].caller.service().map(|service| service.host.display());
    assert_eq!((caller(0), caller(1)), (Some("checkout".into()), None));
}

#[test]
fn a_limit_around_the_whole_limits_all_tries() {
    let total = |text: &str| read(text).policies[0].total.limit.known().copied();
    let secs = |n| Some(Limit::At(Nanos::from_secs(n)));
    assert_eq!(
        total(
            "async fn f() { tokio::time::timeout(Duration::from_secs(5), async { for i in 0..3 { a().await; } }).await }"
        ),
        secs(5)
    );
    assert_eq!(total("async fn f() { timeout(Duration::from_secs(5), retry(|| a())).await }"), Some(Limit::None));
    assert_eq!(
        total("use tokio::time::timeout; async fn f() { timeout(Duration::from_secs(5), retry(|| a())).await }"),
        secs(5)
    );
    assert_eq!(
        total("async fn f() { for i in 0..3 { tokio::time::timeout(Duration::from_secs(5), a()).await; } }"),
        Some(Limit::None)
    );
}

#[test]
fn a_loop_is_known_by_what_it_is_for() {
    let purpose = |text: &str| read(text).policies[0].purpose;
    let moves = |call: &str| {
        format!(
            "async fn f() {{ for i in 0..3 {{ match {call} {{ Ok(f) => return f, Err(e) => tokio::time::sleep(P).await }} }} }}"
        )
    };
    assert_eq!(purpose(&moves("std::fs::rename(a, b)")), Purpose::Local);
    let waits = "use tokio::time::sleep; async fn a() -> Vec<u8> { loop { if let Ok(b) = tokio::fs::read(P).await { return b; } sleep(Q).await } }";
    assert_eq!(purpose(waits), Purpose::Local);
    let counts = "fn a() -> std::io::Result<()> { for i in 0..9 { match std::fs::rename(A, B) { Ok(()) => return Ok(()), Err(e) if i == 8 => return Err(e), Err(_) => std::thread::sleep(std::time::Duration::from_millis(100)) } } Ok(()) }";
    assert_eq!(purpose(counts), Purpose::Local);
    assert_eq!(purpose(&moves("storage::fs::rename(a, b).await")), Purpose::Request);
    // By a method of a type of files.
    let persists = |param: &str, body: &str| {
        format!(
            "use tempfile::NamedTempFile; async fn f(from: {param}, to: &Path) {{ let cell = Mutex::new(Some(from));
            for i in 0..3 {{ match {body} {{ Ok(f) => return f, Err(e) => tokio::time::sleep(P).await }} }} }}"
        )
    };
    let persist = "cell.lock().map_err(|_| Lost)?.take().unwrap().persist(to).map_err(|e| { if let Ok(mut one) = cell.lock() { *one = Some(e.file); } Lost })";
    assert_eq!(purpose(&persists("NamedTempFile", persist)), Purpose::Local);
    // The near misses: a type of which nothing is known, one of that name from elsewhere, a lock that somebody else holds.
    assert_eq!(purpose(&persists("Repository", persist)), Purpose::Request);
    assert_eq!(purpose(&persists("orders::NamedTempFile", persist)), Purpose::Request);
    assert_eq!(
        purpose(&persists("NamedTempFile", "cell.lock().await.and_then(|file| file.persist(to))")),
        Purpose::Request
    );
    // What is made of a result does not hide whose it is.
    assert_eq!(purpose(&moves("std::fs::read(a).and(storage.put(b).await.map_err(Lost))")), Purpose::Request);
    // Written to a file, but asked of somebody else.
    assert_eq!(purpose(&moves("std::fs::write(a, client.get(url).send().await)")), Purpose::Request);
    assert_eq!(
        purpose("async fn feed() { loop { match Feed::connect(a).await { Ok(f) => return f, Err(e) => log(e) } } }"),
        Purpose::Reconnect
    );
    assert_eq!(
        purpose("async fn main() { loop { match Pool::connect(a).await { Ok(f) => break, Err(e) => log(e) } } }"),
        Purpose::Startup
    );
    assert_eq!(
        purpose("async fn f() { tokio::spawn(async { loop { if send().await.is_ok() { break } } }); }"),
        Purpose::Background
    );
    assert_eq!(
        purpose("async fn f() { loop { match send(a).await { Ok(f) => return f, Err(e) => log(e) } } }"),
        Purpose::Request
    );
    // What is made of the result on the spot is no other operation; what else is waited for is.
    let opens = |made: &str| {
        format!(
            "async fn feed() {{ loop {{ match Feed::connect(a).await{made}? {{ Ok(f) => return f, Err(e) => log(e) }} }} }}"
        )
    };
    assert_eq!(purpose(&opens(".map_err(Lost)")), Purpose::Reconnect);
    assert_eq!(purpose(&opens(".greet().await.map_err(Lost)")), Purpose::Request);
    // A request is one, whatever the function around it is called.
    assert_eq!(
        purpose("async fn subscribe() { loop { if http.post(\"http://a/\").send().await.is_ok() { break } } }"),
        Purpose::Request
    );
}

#[test]
fn errors_made_of_statuses_count_only_where_every_error_is_tried_again() {
    let text = "async fn f() { for i in 0..3 { http.get(\"http://a/\").send().await?.error_for_status()?; } }";
    let status = |facts: &Facts| facts.policies[0].in_code.as_ref().unwrap().status_to_error;
    assert_eq!(status(&read(text)).map(|span| &text[span.range()]), Some("error_for_status"));
    let unit = fixture::unit(text);
    let mut some = sites(&unit);
    some[0].policy.names_classes = Classes::of(&[crate::facts::Class::Overload]);
    assert_eq!(status(&facts(&Project::default(), &unit, some, &[])), None);
}

#[test]
fn tests_in_a_file_call_nobody() {
    let text = "async fn f() { for i in 0..3 { reqwest::get(\"http://payments/\").await; } }";
    let mut unit = Unit::clone(&fixture::unit(text));
    unit.tests.push(At { start: 0, end: text.len() as u32 });
    let sites = sites(&unit);
    let facts = facts(&Project::default(), &Arc::new(unit), sites, &[]);
    assert!(facts.policies[0].test_code && facts.calls.is_empty());
}

#[test]
fn what_only_one_try_calls_stands_inside_of_it() {
    use crate::facts::{Enclosure, PolicyId};
    let mut facts =
        read("async fn f() { for i in 0..3 { g().await; } } async fn g() { for i in 0..3 { work().await; } }");
    let g = facts.policies[1].span;
    facts.enclosures.push(Enclosure { outer: PolicyId(0), function: g, depth: 0, is_only: true });
    // From further away, and of itself: neither counts.
    facts.enclosures.push(Enclosure { outer: PolicyId(1), function: g, depth: 0, is_only: true });
    finish(&mut facts);
    assert_eq!(facts.policies.iter().map(|policy| policy.inside).collect::<Vec<_>>(), [None, Some(PolicyId(0))]);
}

#[test]
fn requests_on_a_client_that_retries_are_its_tries_each_by_itself() {
    let text = "async fn f(key: String) {
        let client = build(inner());
        let other = plain();
        client.get(\"http://payments/v1\").send().await;
        client.post(\"http://orders/v1\").send().await;
        other.get(\"http://mail/v1\").send().await;
    }";
    let unit = fixture::unit(text);
    let is_made = |id: &Id| match unit.kind(*id) {
        Kind::Call { of, .. } => unit.callee(*of).is_some_and(|name| name.last() == "build"),
        _ => false,
    };
    let construct = unit.ids().map(|(id, _)| id).find(is_made).expect("the client");
    let site = Site {
        policy: policy(&unit, construct),
        construct,
        operations: Vec::new(),
        apart: Vec::new(),
        from: Finder::Catalogue,
        uses: Vec::new(),
        is_described: false,
    };
    let facts = facts(&Project::default(), &unit, vec![site], &[]);
    assert_eq!(callees(&facts), ["payments", "orders"]);
    assert_eq!(facts.policies[0].calls.len(), 2);
    // The one that must not be repeated speaks for both.
    let request = facts.policies[0].in_code.as_ref().and_then(|code| code.request.clone()).expect("a request");
    assert_eq!(request.method.as_deref(), Some("POST"));
}
