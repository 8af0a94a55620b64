//! Whole projects in memory, through the real recognisers and the linker.

use std::sync::Arc;

use super::finish;
use crate::facts::{Attempts, Facts, File, FileKind, Limit, Nanos, Policy, PolicyKind, Role, Service, ServiceSource};
use crate::graph::Net;
use crate::graph::link::link;
use crate::read::code::files::{Files, memory::Memory};
use crate::read::code::languages::{LANGUAGES, Wanted};
use crate::read::code::packages::Packages;
use crate::read::code::project::Project;
use crate::read::code::rust::Input;
use crate::source::{FileId, Span};

/// The facts of all sources; each package with a program is a service.
fn read(texts: &[(&str, &str)]) -> Facts {
    let files = Arc::new(Memory::new(texts));
    let sources: Vec<&String> = files.0.keys().filter(|path| path.ends_with(".rs")).collect();
    let packages = Packages::gather(&*files, sources.iter().map(|path| path.as_str()));
    let language = LANGUAGES[0];
    let finder = (language.finder)(Arc::clone(&files) as Arc<dyn Files>);
    let project = Project::new(packages).with(language.name, finder);
    let mut facts = Facts::default();
    for path in files.0.keys() {
        facts.files.push(File {
            path: path.as_str().into(),
            kind: FileKind::Rust,
            environment: None,
            role: Role::Production,
            named: false,
            told_by: None,
        });
    }
    for (_, package) in project.packages.iter().filter(|(_, package)| package.has_binary) {
        let file = files.number(&format!("{}/Cargo.toml", package.dir)).expect("a manifest");
        let mut service = Service::new(package.name.clone(), Span { file, start: 0, end: 1 }, ServiceSource::Package);
        service.paths = vec![format!("{}/**", package.dir).into()];
        facts.services.push(service);
    }
    for path in sources {
        let text = &files.0[path];
        let id = project.packages.of(path);
        let package = id.and_then(|id| Some((id, project.packages.get(id)?)));
        let module = (language.module)(package.map(|(_, package)| package), path);
        let file: FileId = files.number(path).expect("a source");
        facts.absorb(project.read(language, Input { file, text, module: &module, package }, Wanted::default()));
    }
    finish(&mut facts);
    facts
}

fn package(name: &str, dependencies: &str) -> String {
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nreqwest = \"0.12\"\ntokio = \"1\"\n{dependencies}"
    )
}

/// Each edge with the tries of its code, outermost first: `web -> payments 3*4`.
fn edges(facts: &Facts) -> Vec<String> {
    let net: Net = link(facts, None);
    let mut all: Vec<String> = net
        .graph
        .edge_indices()
        .map(|index| {
            let (from, to) = net.graph.edge_endpoints(index).expect("two ends");
            let nests = net.graph[index].layers.iter().flat_map(|layer| &layer.alternatives);
            let tries = |ids: &[crate::facts::PolicyId]| {
                let tries =
                    ids.iter().map(|id| facts.policy(*id).unwrap().tries().map_or("?".into(), |n| n.to_string()));
                tries.collect::<Vec<String>>().join("*")
            };
            let nests: Vec<String> = nests.map(|nest| tries(&nest.policies)).collect();
            format!("{} -> {} {}", net.graph[from].display, net.graph[to].display, nests.join("|"))
        })
        .collect();
    all.sort();
    all
}

const LOOP: &str = "for attempt in 0..3 { match TRY.await { Ok(v) => return Ok(v), Err(e) => tokio::time::sleep(std::time::Duration::from_secs(1)).await } } Err(Failed)";

fn retry(what: &str) -> String {
    LOOP.replace("TRY", what)
}

#[test]
fn a_function_that_retries_calls_whatever_its_callers_hand_to_it() {
    let helper = format!(
        "pub async fn fetch_with_retry(http: &reqwest::Client, url: &str) -> Result<R, Failed> {{ {} }}",
        retry("http.get(url).send()")
    );
    let main =
        "mod net; async fn a(http: reqwest::Client) { net::fetch_with_retry(&http, \"http://payments/v1\").await; }
        async fn b(http: reqwest::Client) { net::fetch_with_retry(&http, &format!(\"http://orders/{}\", 1)).await; }
        async fn c(http: reqwest::Client, url: &str) { net::fetch_with_retry(&http, url).await; }
        async fn d(http: reqwest::Client) { c(http, \"http://mail/v1\").await; } fn main() {}";
    let facts =
        read(&[("web/Cargo.toml", &package("web", "")), ("web/src/main.rs", main), ("web/src/net.rs", &helper)]);
    assert_eq!(edges(&facts), ["web -> mail 3", "web -> orders 3", "web -> payments 3"]);
    // One place that retries is one policy, whoever calls it.
    assert_eq!(facts.policies.len(), 1);
}

#[test]
fn a_helper_that_is_given_what_to_do_retries_what_each_caller_gives_it() {
    let helper =
        format!("pub async fn with_retry<F, T>(f: F) -> Result<T, Failed> where F: Fn() -> T {{ {} }}", retry("f()"));
    let main = "mod net; async fn a(http: reqwest::Client) { net::with_retry(|| http.post(\"http://payments/v1\").send()).await; }
        async fn b(http: reqwest::Client) { net::with_retry(|| async { http.get(\"http://orders/v1\").send().await }).await; } fn main() {}";
    let facts =
        read(&[("web/Cargo.toml", &package("web", "")), ("web/src/main.rs", main), ("web/src/net.rs", &helper)]);
    assert_eq!(edges(&facts), ["web -> orders 3", "web -> payments 3"]);
}

#[test]
fn a_shared_library_retries_for_every_service_that_calls_it() {
    let library = format!(
        "pub async fn charge(http: &reqwest::Client) -> Result<R, Failed> {{ inner(http).await }}
        async fn inner(http: &reqwest::Client) -> Result<R, Failed> {{ {} }}",
        retry("http.get(\"http://payments/v1\").send()")
    );
    let uses = |call: &str| format!("async fn a(http: reqwest::Client) {{ {call} }} fn main() {{}}");
    let shared = "shared = { path = \"../shared\" }";
    let facts = read(&[
        ("shared/Cargo.toml", &package("shared", "")),
        ("shared/src/lib.rs", &library),
        ("web/Cargo.toml", &package("web", shared)),
        ("web/src/main.rs", &uses("shared::charge(&http).await;")),
        ("cart/Cargo.toml", &package("cart", shared)),
        ("cart/src/main.rs", &uses("use shared::charge; charge(&http).await;")),
        // Depends on it, and calls nothing of it.
        ("mail/Cargo.toml", &package("mail", shared)),
        ("mail/src/main.rs", &uses("work().await;")),
    ]);
    assert_eq!(edges(&facts), ["cart -> payments 3", "web -> payments 3"]);
}

#[test]
fn a_try_that_is_one_request_lasts_as_long_as_the_smallest_limit_lets_it() {
    let seconds = |n: u32| format!("std::time::Duration::from_secs({n})");
    let limits = |client: &str, what: &str| {
        let body = retry(what);
        let main = format!("async fn f() -> Result<R, Failed> {{ let http = {client}; {body} }} fn main() {{}}");
        let more = "reqwest-middleware = \"0.4\"\nreqwest-retry = \"0.7\"";
        let facts = read(&[("web/Cargo.toml", &package("web", more)), ("web/src/main.rs", &main)]);
        let shown = facts.policies.iter().map(|policy| (policy.kind, policy.attempt_timeout.known().copied()));
        shown.collect::<Vec<_>>()
    };
    let of = |all: &[(PolicyKind, Option<Limit<Nanos>>)], wanted: PolicyKind| {
        all.iter().find(|(kind, _)| *kind == wanted).unwrap_or_else(|| panic!("{all:?}")).1
    };
    let client = |n: u32| format!("reqwest::Client::builder().timeout({}).build()?", seconds(n));
    let plain = "http.get(\"http://payments/\").send()";
    let own = format!("http.get(\"http://payments/\").timeout({}).send()", seconds(1));
    let around = |n: u32| format!("tokio::time::timeout({}, {plain})", seconds(n));
    let at = |n: u64| Some(Limit::At(Nanos::from_secs(n)));
    for (client, what, expected) in [
        (client(3), plain.to_string(), at(3)),
        (client(3), own, at(1)),
        (client(1), around(5), at(1)),
        (client(5), around(1), at(1)),
        ("reqwest::Client::new()".to_string(), plain.to_string(), Some(Limit::None)),
        // Two requests take as long as both.
        (client(3), format!("async {{ {plain}.await; {plain}.await }}"), None),
    ] {
        assert_eq!(of(&limits(&client, &what), PolicyKind::Loop), expected, "{client} {what}");
    }
    // What limits the tries of a client that tries again limits none of those around it.
    let again = format!(
        "reqwest_middleware::ClientBuilder::new({}).with(reqwest_retry::RetryTransientMiddleware::new_with_policy(\
         reqwest_retry::policies::ExponentialBackoff::builder().build_with_max_retries(2))).build()",
        client(1)
    );
    let all = limits(&again, plain);
    assert_eq!((of(&all, PolicyKind::Loop), of(&all, PolicyKind::Library)), (None, at(1)));
    assert_eq!(of(&limits(&again, &around(9)), PolicyKind::Loop), at(9));
    let each = format!("http.get(\"http://payments/\").timeout({}).send()", seconds(1));
    assert_eq!(of(&limits(&again, &each), PolicyKind::Loop), None);
}

#[test]
fn a_function_that_only_one_try_calls_retries_inside_of_it() {
    let inner = format!(
        "pub async fn charge(http: &reqwest::Client) -> Result<R, Failed> {{ {} }}",
        retry("http.get(\"http://payments/v1\").send()")
    );
    let outer = format!(
        "mod net; async fn a(http: reqwest::Client) -> Result<R, Failed> {{ {} }} fn main() {{}}",
        retry("net::charge(&http)")
    );
    let with = |main: &str| {
        edges(&read(&[("web/Cargo.toml", &package("web", "")), ("web/src/main.rs", main), ("web/src/net.rs", &inner)]))
    };
    assert_eq!(with(&outer), ["web -> payments 3*3"]);
    // Called from elsewhere too, it is inside on the way that leads through the loop.
    let more = format!("{outer} async fn b(http: reqwest::Client) {{ net::charge(&http).await; }}");
    assert_eq!(with(&more), ["web -> payments 3*3"]);
}

#[test]
fn a_helper_tries_as_often_as_each_of_its_callers_says() {
    let helper = "pub async fn keep_on<F, Fut>(most: u32, mut f: F) -> Result<R, Failed> where F: FnMut() -> Fut {
        let mut n = 0; loop { n += 1; match f().await { Ok(v) => return Ok(v), Err(e) if n >= most => return Err(e),
        Err(_) => tokio::time::sleep(std::time::Duration::from_secs(1)).await } } }";
    let users = "mod net; async fn op() -> Result<R, Failed> { client().get(\"http://ledger/x\").send().await }
        async fn a() { net::keep_on(5, || async { client().get(\"http://billing/x\").send().await }).await; }
        async fn b() { net::keep_on(2, op).await; }
        async fn c(n: u32) { net::keep_on(n, || async { client().get(\"http://audit/x\").send().await }).await; } fn main() {}";
    let facts =
        read(&[("web/Cargo.toml", &package("web", "")), ("web/src/main.rs", users), ("web/src/net.rs", helper)]);
    // The helper's own loop does not know for whom; where the caller does not know either, nothing else does.
    assert_eq!(edges(&facts), ["web -> audit ?", "web -> billing ?|5", "web -> ledger ?|2"]);
}

#[test]
fn what_all_callers_limit_does_not_go_on_without_end() {
    let endless = "pub async fn fetch(http: &reqwest::Client) -> R { loop { if let Ok(v) = http.get(\"http://payments/\").send().await {
        return v; } tokio::time::sleep(std::time::Duration::from_secs(1)).await; } }";
    let limited = |seconds: u32| {
        format!("tokio::time::timeout(std::time::Duration::from_secs({seconds}), net::fetch(&http)).await;")
    };
    let with = |calls: &str| {
        let main = format!("mod net; async fn a(http: reqwest::Client) {{ {calls} }} fn main() {{}}");
        let facts =
            read(&[("web/Cargo.toml", &package("web", "")), ("web/src/main.rs", &main), ("web/src/net.rs", endless)]);
        let policy = facts.policies.iter().find(|policy| policy.kind == PolicyKind::Loop).expect("a loop");
        (policy.attempts.known().cloned(), policy.total.limit.known().copied())
    };
    let nine = Some(Limit::At(Nanos::from_secs(9)));
    assert_eq!(with(&limited(9)), (Some(Attempts::ByTime), nine));
    assert_eq!(with(&format!("{} {}", limited(4), limited(9))), (Some(Attempts::ByTime), nine));
    // The near misses: one call without a limit, and none at all.
    let endless = (Some(Attempts::Unbounded), Some(Limit::None));
    assert_eq!(with(&format!("{} net::fetch(&http).await;", limited(9))), endless);
    assert_eq!(with(""), endless);
}

#[test]
fn what_limits_a_request_of_a_try_that_retries_by_itself_is_no_limit_of_that_try() {
    let limited = "http.get(\"http://payments/\").timeout(std::time::Duration::from_secs(2)).send()";
    let inner = format!("async fn inner(http: &reqwest::Client) -> Result<R, Failed> {{ {} }}", retry(limited));
    let outer = format!("async fn outer(http: &reqwest::Client) -> Result<R, Failed> {{ {} }}", retry("inner(http)"));
    let text = format!("{inner} {outer} fn main() {{}}");
    let facts = read(&[("web/Cargo.toml", &package("web", "")), ("web/src/main.rs", &text)]);
    let limit = |function: &str| {
        let is_its =
            |policy: &&Policy| policy.in_code.as_ref().is_some_and(|code| code.function.as_deref() == Some(function));
        let policy =
            facts.policies.iter().filter(|policy| policy.kind == PolicyKind::Loop).find(is_its).expect("a loop");
        policy.attempt_timeout.known().copied()
    };
    assert_eq!((limit("inner"), limit("outer")), (Some(Limit::At(Nanos::from_secs(2))), None));
}

#[test]
fn a_client_that_is_handed_about_tries_where_its_requests_are_made() {
    let head = "use reqwest_middleware::{ClientBuilder, ClientWithMiddleware}; use reqwest_retry::{RetryTransientMiddleware, policies::ExponentialBackoff};
        fn client() -> ClientWithMiddleware { let policy = ExponentialBackoff::builder().build_with_max_retries(3);
        ClientBuilder::new(reqwest::Client::new()).with(RetryTransientMiddleware::new_with_policy(policy)).build() }";
    let with = |rest: &str| {
        let text = format!("{head} {rest} fn main() {{}}");
        let package = package("web", "reqwest-middleware = \"0.4\"\nreqwest-retry = \"0.8\"\n");
        edges(&read(&[("web/Cargo.toml", &package), ("web/src/main.rs", &text)]))
    };
    let tried = |client: &str| retry(&format!("{client}.get(\"http://payments/\").send()"));
    let argument = format!(
        "async fn get(http: &ClientWithMiddleware) -> Result<R, Failed> {{ {} }} async fn a() {{ let c = client(); get(&c).await; }}",
        tried("http")
    );
    assert_eq!(with(&argument), ["web -> payments 3*4"]);
    let field = format!(
        "struct Api {{ http: ClientWithMiddleware }} impl Api {{ fn new() -> Self {{ Self {{ http: client() }} }}
         async fn get(&self) -> Result<R, Failed> {{ {} }} }}",
        tried("self.http")
    );
    assert_eq!(with(&field), ["web -> payments 3*4"]);
    // The near miss: another client.
    let other = argument.replace("let c = client();", "let c = plain();");
    assert_eq!(with(&other), ["web -> payments 3"]);
}
