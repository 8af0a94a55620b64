//! What is done to a construct by statements, by records that take from others, on some of the ways through the code.

use super::*;
use crate::facts::{Limit, PolicyKind};

fn acme() -> Library {
    library(
        r#"
[[shape]]
id = "policy"
is = "policy"
call = ["acme::Policy::new"]
record = ["acme::Policy"]
default = { retries = 3, backoff = "exponential", base = "1s", factor = 2.0, cap = "60s", jitter = "none", total = "none" }
[shape.field]
times = { retries = "$value" }
first = { base = "$value" }
within = { total = "$value" }
[shape.method]
times = { retries = "$0" }
first = { base = "$0" }
spread = { jitter = "full" }
[[shape]]
is = "run"
call = ["acme::run"]
policy = "$0"
operation = "$1"
"#,
    )
}

fn new() -> N {
    call("acme.Policy.new", vec![])
}

fn run(policy: N) -> N {
    call("acme.run", vec![("", policy), ("", closure(&[], call_local("fetch", vec![])))])
}

fn read(statements: Vec<N>) -> (String, Vec<u64>, &'static str) {
    brief(&only(&acme(), statements))
}

#[test]
fn statements_between_construct_and_use_count() {
    let p = || local("p");
    let times = |n: u128| set(member(p(), "times"), int(n));
    assert_eq!(read(vec![bind("p", new()), times(7), run(p())]).0, "8");
    // The last one holds; what comes behind the run does not.
    assert_eq!(read(vec![bind("p", new()), times(7), times(1), run(p()), times(9)]).0, "2");
    // A method whose result takes the place.
    let again = set(p(), method(p(), "times", vec![("", int(2))]));
    assert_eq!(read(vec![bind("p", new()), again, run(p())]).0, "3");
    // Another local changes nothing.
    assert_eq!(
        read(vec![bind("p", new()), bind("q", local("x")), set(member(local("q"), "times"), int(7)), run(p())]).0,
        "4"
    );
}

#[test]
fn a_method_as_a_statement_counts_where_it_changes_what_it_is_called_on() {
    let p = || local("p");
    let times = || method(p(), "times", vec![("", int(4))]);
    let of = |library: &Library, statement: N| only(library, vec![bind("p", new()), statement, run(p())]);
    let in_place = {
        let mut library = acme();
        library.shapes[0].in_place = true;
        library
    };
    let policy = of(&in_place, times());
    assert_eq!((brief(&policy).0.as_str(), policy.ineffective.len()), ("5", 0));
    let sometimes = || when(local("slow"), block(vec![times()]));
    assert!(brief(&of(&in_place, sometimes())).0.starts_with("unknown"));
    // One that gives another policy, which nobody takes.
    for statement in [times(), sometimes()] {
        let policy = of(&acme(), statement);
        assert_eq!((brief(&policy).0.as_str(), policy.ineffective.len()), ("4", 1));
        assert_eq!(policy.ineffective[0].message, "`times` has no effect");
    }
}

#[test]
fn what_is_done_on_some_of_the_ways_is_not_known() {
    let p = || local("p");
    let slow = || when(local("slow"), block(vec![set(member(p(), "times"), int(7))]));
    let (attempts, delays, jitter) = read(vec![bind("p", new()), slow(), run(p())]);
    assert_eq!((delays, jitter), (vec![1000, 2000, 4000], "none"));
    assert_eq!(attempts, "unknown: set on some of the ways through the code");
    // A builder that is another one on some of the ways: what is said on all of them stays.
    let other = when(local("slow"), block(vec![set(p(), method(p(), "first", vec![("", millis(5))]))]));
    let policy = only(&acme(), vec![bind("p", new()), other, run(method(p(), "times", vec![("", int(1))]))]);
    assert_eq!((brief(&policy).0.as_str(), policy.backoff.base.known(), brief(&policy).2), ("2", None, "none"));
    // Something else takes its place.
    let other = when(local("slow"), block(vec![set(p(), call("mine.policy", vec![]))]));
    assert!(read(vec![bind("p", new()), other, run(p())]).0.starts_with("unknown"));
}

#[test]
fn a_record_takes_the_rest_from_another() {
    let policy = |fields: Vec<A>, base: N| run(record_from("acme.Policy", fields, base));
    let default = || call("std.default.Default.default", vec![]);
    assert_eq!(read(vec![policy(vec![("times", int(5))], default())]).0, "6");
    let base = method(new(), "spread", vec![]);
    assert_eq!(read(vec![policy(vec![("times", int(5))], base)]), ("6".into(), vec![1000, 2000, 4000], "full"));
    let (attempts, delays, jitter) = read(vec![policy(vec![("times", int(5))], local("other"))]);
    assert_eq!((attempts.as_str(), delays, jitter), ("6", vec![], "unknown"));
    let within = run(record("acme.Policy", vec![("within", null())]));
    assert_eq!(only(&acme(), vec![within]).total.limit.known(), Some(&Limit::None));
}

/// A client with layers, and what is requested on it.
fn client() -> Library {
    library(
        r#"
[[shape]]
id = "client"
is = "client"
call = ["acme::Client::new"]
default = { limit = "none" }
method.timeout = { limit = "$0" }
request.timeout = { limit = "$0" }
[[shape]]
id = "stack"
is = "stack"
call = ["acme::Stack::new"]
order = "last-outermost"
inner = "$0"
[shape.method]
retry = { push = "retry", policy = "$0" }
timeout = { push = "timeout", limit = "$0" }
breaker = { push = "breaker", ratio = 0.5, minimum = "$0" }
hedge = { push = "hedging", copies = 2, delay = "$0" }
[[shape]]
id = "policy"
is = "policy"
call = ["acme::Policy::new"]
default = { retries = 3, backoff = "fixed", base = "1s", jitter = "none", total = "20s", total_check = "between-attempts" }
"#,
    )
}

fn stack(inner: N) -> N {
    call("acme.Stack.new", vec![("", inner)])
}

fn policies(statements: Vec<N>) -> Vec<Policy> {
    in_function(&client(), statements).into_iter().map(|site| site.policy).collect()
}

#[test]
fn layers_limit_by_where_they_stand() {
    let plain = || call("acme.Client.new", vec![]);
    let policy = || ("", call("acme.Policy.new", vec![]));
    // The last is the outermost: 2 s for each try, 9 s for all.
    let inside = method(stack(plain()), "timeout", vec![("", secs(2))]);
    let whole = method(method(inside, "retry", vec![policy()]), "timeout", vec![("", secs(9))]);
    let [one] = policies(vec![bind("c", whole)]).try_into().unwrap();
    assert_eq!(one.attempt_timeout.known(), Some(&Limit::At(Nanos::from_secs(2))));
    assert_eq!(one.total.limit.known(), Some(&Limit::At(Nanos::from_secs(9))));
    // Without a layer inside, the client's own limit is that of a try; an outer one beyond the policy's own changes nothing.
    let limited = method(plain(), "timeout", vec![("", millis(300))]);
    let whole = method(method(stack(limited), "retry", vec![policy()]), "timeout", vec![("", secs(60))]);
    let [one] = policies(vec![bind("c", whole)]).try_into().unwrap();
    assert_eq!(one.attempt_timeout.known(), Some(&Limit::At(Nanos::from_millis(300))));
    assert_eq!(one.total.limit.known(), Some(&Limit::At(Nanos::from_secs(20))));
    // A client that nobody limits is known to have no limit; one that is not seen is not.
    let [one] = policies(vec![bind("c", method(stack(plain()), "retry", vec![policy()]))]).try_into().unwrap();
    assert_eq!(one.attempt_timeout.known(), Some(&Limit::None));
    let [one] = policies(vec![bind("c", method(stack(local("x")), "retry", vec![policy()]))]).try_into().unwrap();
    assert_eq!(one.attempt_timeout.known(), None);
    assert!(!one.attempt_timeout.is_written());
}

#[test]
fn each_layer_that_retries_is_a_policy() {
    let policy = || ("", call("acme.Policy.new", vec![]));
    let inner = method(stack(local("x")), "retry", vec![policy()]);
    let both = method(method(inner, "breaker", vec![("", int(40))]), "retry", vec![policy()]);
    let [outer, inner] = policies(vec![bind("c", method(both, "hedge", vec![("", millis(50))]))]).try_into().unwrap();
    let place = |policy: &Policy| policy.breaker.limit().unwrap().place;
    use crate::facts::Place;
    assert_eq!((place(&outer), place(&inner)), (Place::Inside, Place::Outside));
    let breaker = outer.breaker.limit().unwrap();
    assert_eq!(breaker.minimum.as_ref().unwrap().known(), Some(&40));
    assert_eq!(outer.hedging.as_ref().unwrap().copies.known(), Some(&2));
    // The client's limit is that of the innermost tries; a layer between two is one of the outer tries.
    let at = |n: u64| Some(Limit::At(Nanos::from_secs(n)));
    let limits = |stack: N| {
        let [outer, inner] = policies(vec![bind("c", stack)]).try_into().unwrap();
        [outer, inner].map(|policy| policy.attempt_timeout.known().copied())
    };
    let once = || {
        let limited = method(call("acme.Client.new", vec![]), "timeout", vec![("", secs(2))]);
        method(stack(limited), "retry", vec![policy()])
    };
    assert_eq!(limits(method(once(), "retry", vec![policy()])), [None, at(2)]);
    let between = method(once(), "timeout", vec![("", secs(9))]);
    assert_eq!(limits(method(between, "retry", vec![policy()])), [at(9), at(2)]);
}

#[test]
fn what_is_sent_through_a_client_is_its_operations() {
    let made = bind("c", or_return(wait(method(call("acme.Client.new", vec![]), "timeout", vec![("", secs(5))]))));
    let send = |path: &'static str| wait(method(method(local("c"), "get", vec![("", text(path))]), "send", vec![]));
    let [site] = in_function(&client(), vec![made, send("/a"), or_return(send("/b"))]).try_into().unwrap();
    assert_eq!(site.policy.kind, PolicyKind::TimeLimit);
    assert_eq!(site.policy.attempt_timeout.known(), Some(&Limit::At(Nanos::from_secs(5))));
    assert_eq!(site.operations.len(), 2);
    // A client that is kept elsewhere is only described.
    let kept = record("crate.Shop", vec![("client", call("acme.Client.new", vec![]))]);
    let [site] = in_function(&client(), vec![kept]).try_into().unwrap();
    assert_eq!((site.operations.len(), site.is_described), (0, true));
    // At once, without a name.
    let direct = wait(method(method(call("acme.Client.new", vec![]), "get", vec![("", text("/a"))]), "send", vec![]));
    let [site] = in_function(&client(), vec![direct]).try_into().unwrap();
    assert_eq!(site.operations.len(), 1);
}

#[test]
fn any_code_is_read_in_bounded_time() {
    // A long chain, a deep nest of policies, locals that stand for one another.
    let mut chain = new();
    for _ in 0..400 {
        chain = method(chain, "times", vec![("", int(1))]);
    }
    in_function(&acme(), vec![run(chain)]);
    let mut nest = new();
    for _ in 0..100 {
        nest = run(nest);
    }
    in_function(&acme(), vec![nest]);
    let mut statements = vec![bind("p", new())];
    for _ in 0..3_000 {
        statements.push(set(member(local("p"), "times"), int(2)));
        statements.push(run(local("p")));
    }
    let start = std::time::Instant::now();
    in_function(&acme(), statements);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}
