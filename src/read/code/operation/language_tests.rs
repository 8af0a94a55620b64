//! What is tried, in trees as other languages would be lowered to: by words of their own, and nothing else.

use std::sync::Arc;

use super::address::Reader;
use super::{Tried, tried_by};
use crate::facts::{Callee, Limit, Nanos};
use crate::read::code::build::Builder;
use crate::read::code::project::Project;
use crate::read::code::tree::{Arg, At, Id, Kind, Literal, Name, Place};
use crate::read::code::words::Words;
use crate::source::FileId;

/// A node that is not laid down yet.
type N = Box<dyn FnOnce(&mut Builder) -> Kind>;

fn lay(b: &mut Builder, node: N) -> Id {
    let mark = b.mark();
    let kind = node(b);
    b.add(mark, kind, At { start: 0, end: 1 })
}

fn args(b: &mut Builder, all: Vec<(&'static str, N)>) -> Vec<Arg> {
    let one = |(name, value): (&str, N)| Arg {
        name: (!name.is_empty()).then(|| name.into()),
        value: lay(b, value),
        spread: false,
    };
    all.into_iter().map(one).collect()
}

fn text(text: &'static str) -> N {
    Box::new(move |_| Kind::Literal(Literal::Text(text.into())))
}

fn int(n: u128) -> N {
    Box::new(move |_| Kind::Literal(Literal::Int(n, None)))
}

fn name(text: &'static str, full: Option<&'static str>) -> N {
    Box::new(move |_| Kind::Name(Name { text: text.into(), full: full.map(Into::into) }))
}

fn local(text: &'static str) -> N {
    name(text, None)
}

fn call(full: &'static str, all: Vec<(&'static str, N)>) -> N {
    Box::new(move |b| {
        let of = lay(b, name(full, Some(full)));
        Kind::Call { of, types: Vec::new(), args: args(b, all) }
    })
}

fn method(on: N, name: &'static str, all: Vec<(&'static str, N)>) -> N {
    Box::new(move |b| {
        let on = lay(b, on);
        let name_at = At { start: 0, end: 1 };
        Kind::Method { on, name: name.into(), name_at, types: Vec::new(), args: args(b, all) }
    })
}

fn dictionary(all: Vec<(&'static str, N)>) -> N {
    Box::new(move |b| Kind::Record { of: None, fields: args(b, all), base: None })
}

fn wait(of: N) -> N {
    Box::new(move |b| Kind::Await(lay(b, of)))
}

/// What a closure with this body does, in a language of these words.
fn of(words: &str, body: N) -> Tried {
    let words: &'static Words = Box::leak(Box::new(toml::from_str(words).expect("words")));
    let mut builder = Builder::new(FileId(0), "another", None, "crate");
    let root =
        lay(&mut builder, Box::new(move |b| Kind::Closure { params: Vec::new(), body: lay(b, body), is_async: false }));
    let place = Place { unit: Arc::new(builder.finish()), id: root };
    tried_by(&Reader { project: &Project::default(), words }, &place, &[root], &[], None)
}

fn callee(tried: &Tried) -> Option<String> {
    tried.callee.service().map(|service| service.host.display())
}

#[test]
fn python_names_what_it_hands_over() {
    const WORDS: &str = r#"
        language = "python"
        [requests]
        timeouts = ["timeout"]
        schemes = ["http"]
        [requests.functions]
        POST = ["requests::post"]
        [keys]
        headers = ["idempotency-key"]
        makers = ["uuid::uuid4"]
    "#;
    // requests.post("http://payments/v1", headers={"Idempotency-Key": key}, timeout=3)
    let request = |key: N| {
        let headers = dictionary(vec![("Idempotency-Key", key)]);
        call("requests::post", vec![("", text("http://payments/v1")), ("headers", headers), ("timeout", int(3))])
    };
    let tried = of(WORDS, request(local("key")));
    assert_eq!(callee(&tried).as_deref(), Some("payments"));
    assert_eq!(tried.request.as_ref().and_then(|request| request.method.as_deref()), Some("POST"));
    assert_eq!(tried.key.map(|key| key.made_in_try.is_some()), Some(false));
    // A bare number is no length of time: there is a limit, and nobody can tell which.
    assert!(tried.limit.is_some_and(|limit| limit.known().is_none()));
    let fresh = of(WORDS, request(call("uuid::uuid4", vec![])));
    assert_eq!(fresh.key.map(|key| key.made_in_try.is_some()), Some(true));
}

#[test]
fn csharp_waits_for_methods_of_clients() {
    const WORDS: &str = r#"
        language = "csharp"
        [requests]
        schemes = ["http"]
        clients = ["Client"]
        plain-words = ["client", "http"]
        [requests.verbs]
        GET = ["GetAsync"]
    "#;
    // await client.GetAsync("http://ledger:80/balance")
    let get = method(local("client"), "GetAsync", vec![("", text("http://ledger:80/balance"))]);
    assert_eq!(callee(&of(WORDS, wait(get))).as_deref(), Some("ledger"));
    // await paymentsClient.ChargeAsync(request)
    let charge = method(local("paymentsClient"), "ChargeAsync", vec![("", local("request"))]);
    assert_eq!(of(WORDS, wait(charge)).callee, Callee::Named(vec!["paymentsClient".into()]));
    // await client.ChargeAsync(request)
    let charge = method(local("client"), "ChargeAsync", vec![("", local("request"))]);
    assert!(matches!(of(WORDS, wait(charge)).callee, Callee::Unknown(_)));
}

#[test]
fn without_words_nothing_is_a_request() {
    let get = || call("http::Get", vec![("", text("http://payments/v1"))]);
    assert!(matches!(of("language = 'go'", get()).callee, Callee::Unknown(_)));
    let words = "language = 'go'\n[requests]\nschemes = ['http']\n[requests.functions]\nGET = ['http::Get']";
    let tried = of(words, get());
    assert_eq!(
        (callee(&tried).as_deref(), tried.limit),
        (Some("payments"), None::<crate::facts::Sourced<Limit<Nanos>>>)
    );
}
