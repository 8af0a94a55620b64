use std::sync::Arc;

use super::{Tried, tried};
use crate::facts::{Callee, Limit, Nanos, Protocol, ServiceRef};
use crate::read::code::fixture;
use crate::read::code::project::Project;
use crate::read::code::tree::{Id, Kind, Place, Unit};

/// What the closure or loop body in the function `f` does: the first of them that stands there.
fn of(text: &str) -> Tried {
    let unit = fixture::unit(text);
    let root = root(&unit);
    tried(&Project::default(), &Place { unit: Arc::clone(&unit), id: root }, &[root], &[], None)
}

fn root(unit: &Unit) -> Id {
    let function = fixture::function(unit, "f");
    let first = unit.below(function).filter_map(|id| match unit.kind(id) {
        Kind::Closure { .. } => Some(id),
        Kind::Loop { body, .. } => Some(*body),
        _ => None,
    });
    first.min_by_key(|id| unit.at(*id).start).expect("a closure or a loop")
}

/// The callee in short: `payments` as it is written, `? PAYMENTS_URL` where it is a name, `- why` where it is unknown.
fn callee(text: &str) -> String {
    match of(text).callee {
        Callee::Service { service, .. } => service.host.display(),
        Callee::Named(names) => format!("? {}", names.join(", ")),
        Callee::Unknown(why) => format!("- {why}"),
    }
}

/// A try that does this, in a function with an HTTP client.
fn with(before: &str, try_: &str) -> String {
    format!("{before}\nasync fn f(http: &reqwest::Client, key: String) {{ retry(|| async {{ {try_} }}).await }}")
}

#[test]
fn a_written_address_is_found_wherever_it_is_written() {
    let mut wrong: Vec<String> = Vec::new();
    for (before, try_, expected) in [
        ("", r#"http.get("http://payments:8080/v1").send().await"#, "payments"),
        ("", r#"reqwest::get("http://payments.prod.svc.cluster.local/v1").await"#, "payments.prod"),
        ("", r#"http.post(format!("http://payments:8080/v1/{id}")).send().await"#, "payments"),
        ("", r#"http.get(format!("http://payments:{port}/v1")).send().await"#, "payments"),
        ("", r#"http.request(Method::POST, "https://api.stripe.com/v1/charges").send().await"#, "api.stripe.com"),
        ("", r#"let url = Url::parse("http://payments:8080")?.join("/v1")?; http.get(url).send().await"#, "payments"),
        ("", r#"http.get(base.join("/v1")).send().await"#, "- what is called is decided where this is used"),
        (r#"const URL: &str = "http://payments/v1";"#, "http.get(URL).send().await", "payments"),
        (r#"static HOST: &str = "payments";"#, r#"http.get(format!("http://{HOST}:80/v1")).send().await"#, "payments"),
        (r#"const BASE: &str = "http://payments";"#, r#"http.get(BASE.to_owned() + "/v1").send().await"#, "payments"),
        (
            "",
            r#"let req = Request::builder().method("POST").uri("http://payments/v1").body(())?; http.request(req).await"#,
            "payments",
        ),
        ("", r#"ureq::get("http://payments/v1").timeout(t).call()"#, "payments"),
        // No services: this machine, addresses, names set apart for tests.
        ("", r#"http.get("http://localhost:8080/v1").send().await"#, "- it calls this machine"),
        ("", r#"http.get("http://10.0.0.7/v1").send().await"#, "- it calls this machine"),
        ("", r#"http.get("https://api.example.com/v1").send().await"#, "- it calls this machine"),
        // Maps have a `get` too, and not every text with a scheme is asked for something.
        ("", r#"cache.get("payments").await"#, "? cache"),
        ("", r#"store.read("s3://payments/v1").await"#, "? store"),
        (
            "",
            r#"tracing::warn!("see https://payments/docs"); work().await"#,
            "- nothing in what is tried says whom it calls",
        ),
        // Two services, or twice the same.
        (
            "",
            r#"http.get("http://payments/a").send().await?; http.get("http://orders/a").send().await"#,
            "- it calls several services",
        ),
        ("", r#"http.get("http://payments/a").send().await?; http.get("http://payments/b").send().await"#, "payments"),
        // What is done after a failure is not what is tried.
        (
            "",
            r#"match http.get("http://payments/a").send().await { Ok(v) => v, Err(e) => { http.post("http://alerts/a").send().await; } }"#,
            "payments",
        ),
    ] {
        let found = callee(&with(before, try_));
        if found != expected {
            wrong.push(format!("{before} {try_}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn settings_and_clients_name_what_they_call() {
    let mut wrong: Vec<String> = Vec::new();
    for (before, try_, expected) in [
        ("", r#"http.get(env::var("PAYMENTS_URL")?).send().await"#, "? PAYMENTS_URL"),
        (
            "",
            r#"let base = std::env::var("PAYMENTS_URL").unwrap_or_else(|_| "http://payments:80".into()); http.get(format!("{base}/v1")).send().await"#,
            "? PAYMENTS_URL, payments",
        ),
        ("", r#"http.get(format!("{}/v1", config.payments_url)).send().await"#, "? payments_url"),
        ("", r#"http.get(&settings.payments.base_url).send().await"#, "? payments.base_url"),
        ("", r#"http.get(config.get_string("payments.url")?).send().await"#, "? payments.url"),
        ("", r#"http.get(config.url).send().await"#, "- what is called is decided where this is used"),
        ("", r#"PaymentsClient::connect("http://payments:50051").await?.charge(req).await"#, "payments"),
        (
            "use payments_proto::payments_client::PaymentsClient;",
            r#"let mut client = PaymentsClient::new(channel.clone()); client.charge(req).await"#,
            "? PaymentsClient",
        ),
        (
            "use payments_proto::payments_client::PaymentsClient;",
            r#"let channel = Channel::from_static("http://payments:50051").connect().await?; PaymentsClient::new(channel).charge(req).await"#,
            "payments",
        ),
        ("", r#"state.payments_client.charge(req).await"#, "? payments_client"),
        ("", r#"payments.charge(req).await"#, "? payments"),
        ("", r#"client.charge(req).await"#, "- nothing in what is tried says whom it calls"),
        ("", r#"payments_client::charge(req).await"#, "? payments_client"),
        // An address says more than a name.
        ("", r#"let token = auth.token().await?; http.get("http://payments/v1").send().await"#, "payments"),
    ] {
        let found = callee(&with(before, try_));
        if found != expected {
            wrong.push(format!("{before} {try_}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn functions_of_the_project_are_followed_with_what_they_are_given() {
    const GET: &str = "async fn get(http: &reqwest::Client, url: &str) -> Result<String> {
        let res = http.get(url).timeout(Duration::from_secs(30)).send().await?;
        Ok(res.error_for_status()?.text().await?)
    }";
    for try_ in [
        r#"async fn f(http: reqwest::Client) { const URL: &str = "http://payments/v1"; Retry::spawn(s, || get(&http, URL)).await }"#,
        r#"async fn f(http: reqwest::Client) { for i in 0..3 { match get(&http, "http://payments/v1").await { Ok(v) => return Ok(v), Err(e) => sleep(d).await } } }"#,
        r#"async fn f(http: reqwest::Client) { retry(|| async { fetch(&http, "v1").await }).await }
           async fn fetch(http: &reqwest::Client, path: &str) -> R { get(http, &format!("http://payments/{path}")).await }"#,
    ] {
        let tried = of(&format!("{GET}\n{try_}"));
        let Callee::Service { service: ServiceRef { host, .. }, .. } = &tried.callee else {
            panic!("{try_}: {:?}", tried.callee)
        };
        assert_eq!(host.display(), "payments", "{try_}");
        let request = tried.request.expect("a request");
        assert_eq!((request.method.as_deref(), request.path.as_deref()), (Some("GET"), Some("/v1")), "{try_}");
        assert_eq!(
            tried.limit.and_then(|limit| limit.known().copied()),
            Some(Limit::At(Nanos::from_secs(30))),
            "{try_}"
        );
        assert!(tried.status_error.is_some(), "{try_}");
    }
    // A function that calls itself, and one that is not there.
    assert_eq!(
        callee(r#"async fn f() { retry(|| again(1)).await } async fn again(n: u32) { again(n + 1).await }"#),
        "- nothing in what is tried says whom it calls"
    );
    // Methods of the project's own types.
    assert_eq!(
        callee(
            r#"struct Api { http: reqwest::Client } impl Api {
                 async fn f(&self) { retry(|| self.get("/v1")).await }
                 async fn get(&self, path: &str) { self.http.get(format!("http://payments{path}")).send().await }
               }"#
        ),
        "payments"
    );
    // A client's path alone: the type whose method it is says whose.
    assert_eq!(
        callee(
            r#"struct PaymentsClient { http: reqwest::Client, base_url: String } impl PaymentsClient {
                 async fn f(&self) { retry(|| self.http.get(format!("{}/v1", self.base_url)).send()).await }
               }"#
        ),
        "? PaymentsClient.base_url"
    );
}

#[test]
fn a_request_is_told_by_method_and_path() {
    for (try_, method, path) in [
        (r#"http.post("http://payments/charge?x=1").send().await"#, Some("POST"), Some("/charge")),
        (r#"http.get("http://payments").send().await"#, Some("GET"), None),
        (r#"http.put(format!("http://payments/v1/{id}")).send().await"#, Some("PUT"), None),
        (r#"http.request(Method::PATCH, "http://payments/v1").send().await"#, Some("PATCH"), Some("/v1")),
        (r#"http.request(method, "http://payments/v1").send().await"#, None, Some("/v1")),
        (r#"http.execute(Request::post("http://payments/v1").body(b)?).await"#, Some("POST"), Some("/v1")),
        // Of several, the one that must not be sent twice.
        (
            r#"http.get("http://payments/token").send().await?; http.post("http://payments/charge").send().await"#,
            Some("POST"),
            Some("/charge"),
        ),
        (r#"payments.charge(req).await"#, None, Some("charge")),
    ] {
        let request = of(&with("", try_)).request.unwrap_or_else(|| panic!("{try_}"));
        assert_eq!((request.method.as_deref(), request.path.as_deref()), (method, path), "{try_}");
    }
    let generated = "use payments_proto::payments_client::PaymentsClient;";
    let grpc = |try_: &str| of(&with(generated, try_)).protocol;
    assert_eq!(grpc("let mut c = PaymentsClient::new(ch); c.charge(req).await"), Some(Protocol::Grpc));
    assert_eq!(grpc("payments.charge(req).await"), None);
}

#[test]
fn a_key_protects_only_if_all_tries_carry_the_same() {
    // Whether a key is seen, and whether each try has another.
    let key = |before: &str, try_: &str| {
        let text = format!(
            "async fn f(http: &reqwest::Client, key: String) {{ {before}; retry(|| async {{ {try_} }}).await }}
             fn fresh() -> String {{ Uuid::new_v4().to_string() }}"
        );
        of(&text).key.map(|key| key.made_in_try.is_some())
    };
    for (before, try_, expected) in [
        ("", r#"http.post("http://p/c").header("Idempotency-Key", &key).send().await"#, Some(false)),
        (
            "",
            r#"http.post("http://p/c").header("idempotency-key", Uuid::new_v4().to_string()).send().await"#,
            Some(true),
        ),
        (
            "let k = Uuid::new_v4()",
            r#"http.post("http://p/c").header(IDEMPOTENCY_KEY, k.to_string()).send().await"#,
            Some(false),
        ),
        (
            "",
            r#"let k = Uuid::new_v4(); http.post("http://p/c").header("X-Idempotency-Key", k.to_string()).send().await"#,
            Some(true),
        ),
        ("", r#"http.post("http://p/c").header("Idempotency-Key", fresh()).send().await"#, Some(true)),
        ("let k = fresh()", r#"http.post("http://p/c").header("Idempotency-Key", k).send().await"#, Some(false)),
        ("", r#"payments.charge(Charge { request_id: key.clone(), amount }).await"#, Some(false)),
        ("", r#"payments.charge(Charge { idempotency_key: Uuid::now_v7(), amount }).await"#, Some(true)),
        ("", r#"queue.send_message().message_deduplication_id(&key).send().await"#, Some(false)),
        ("", r#"http.post("http://p/c").header("X-Request-Id", &key).send().await"#, None),
        ("", r#"http.post("http://p/c").header("Authorization", &key).send().await"#, None),
        ("", r#"let id = Uuid::new_v4(); http.post("http://p/c").header("X-Trace", id).send().await"#, None),
    ] {
        assert_eq!(key(before, try_), expected, "{before} {try_}");
    }
}

#[test]
fn a_limit_of_one_try_is_that_of_its_request_or_what_encloses_it() {
    let limit = |try_: &str| of(&with("", try_)).limit.and_then(|limit| limit.known().copied());
    let secs = |n| Some(Limit::At(Nanos::from_secs(n)));
    for (try_, expected) in [
        (r#"http.get("http://p/").timeout(Duration::from_secs(2)).send().await"#, secs(2)),
        (r#"tokio::time::timeout(Duration::from_secs(3), http.get("http://p/").send()).await"#, secs(3)),
        (r#"http.get("http://p/").send().await"#, None),
        (r#"http.get("http://p/").timeout(limit).send().await"#, None),
        // One of two requests: the other may take as long as it likes.
        (
            r#"http.get("http://p/a").timeout(Duration::from_secs(2)).send().await?; http.get("http://p/b").send().await"#,
            None,
        ),
    ] {
        assert_eq!(limit(try_), expected, "{try_}");
    }
}

#[test]
fn opening_a_connection_is_no_request() {
    let only = |try_: &str| of(&with("", try_)).only_connects;
    assert!(only("Feed::connect(addr).await"));
    assert!(only("PgPoolOptions::new().connect(&url).await"));
    assert!(!only(r#"let c = Client::connect(addr).await?; c.charge(req).await"#));
    assert!(!only(r#"http.get("http://p/").send().await"#));
}
