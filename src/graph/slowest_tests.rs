use super::*;
use crate::facts::{Jitter, Total};
use crate::graph::nets::{FIVE_XX, NEW_ISTIO, Sketch, at, code, on, sidecar, timed, unknown, waiting, written};

fn secs(n: u64) -> Nanos {
    Nanos::from_secs(n)
}

fn millis(n: u64) -> Nanos {
    Nanos::from_millis(n)
}

fn slowest_of(policy: &Policy) -> Option<Nanos> {
    slowest(policy, Protocol::Http)
}

/// The slowest answer of a call through layers, outermost first, whose callee answers within 10 s.
fn around_ten_seconds(protocol: Option<Protocol>, layers: impl IntoIterator<Item = Policy>) -> Option<Nanos> {
    let mut sketch = Sketch::default();
    let edge = sketch.call("web", "api", layers);
    sketch.edge_mut(edge).protocol = protocol;
    sketch.declared("api").timeout = Some(written(secs(10)));
    sketch.analysed(|system| system.deadlines.edges[edge.index()].slowest)
}

/// [T-41], [T-42], [T-44]
#[test]
fn attempt_limits_stack_up() {
    assert_eq!(slowest_of(&timed(Some(30_000), None, code(3))), Some(secs(90)));
    assert_eq!(slowest_of(&timed(Some(30_000), None, code(4))), Some(secs(120)));
    assert_eq!(slowest_of(&timed(Some(2000), None, code(3))), Some(secs(6)));
    let window = timed(Some(400), None, waiting(&[50, 50], Jitter::NONE, code(3)));
    assert_eq!(slowest_of(&window), Some(millis(1300)));
}

/// [T-36]: 4 × 10 s + 2 + 4 + 8 s = 54 s, cut at 30 s.
#[test]
fn a_total_that_cuts_is_the_slowest_answer() {
    let delays = [2000, 4000, 8000];
    assert_eq!(slowest_of(&timed(Some(10_000), None, waiting(&delays, Jitter::NONE, code(4)))), Some(secs(54)));
    assert_eq!(slowest_of(&timed(Some(10_000), Some(30_000), waiting(&delays, Jitter::NONE, code(4)))), Some(secs(30)));
    // Jitter counts with its greatest delays.
    let jitter = Jitter::proportional(0.25);
    assert_eq!(slowest_of(&timed(Some(10_000), None, waiting(&delays, jitter, code(4)))), Some(millis(57_500)));
}

#[test]
fn a_total_that_is_only_looked_at_between_tries_lets_one_more_run() {
    let mut policy = timed(Some(10_000), Some(30_000), code(9));
    policy.total = Total { check: Check::BetweenAttempts, ..policy.total };
    assert_eq!(slowest_of(&policy), Some(secs(40)));
    policy.attempts = written(Attempts::ByTime);
    assert_eq!(slowest_of(&policy), Some(secs(40)));
    // What measures delays alone: 9 tries of 10 s, and at most 30 s of 8 × 5 s.
    let mut policy = timed(Some(10_000), Some(30_000), waiting(&[5000], Jitter::NONE, code(9)));
    policy.total = Total { measures: Measures::Delays, ..policy.total };
    assert_eq!(slowest_of(&policy), Some(secs(120)));
}

#[test]
fn without_a_limit_there_is_no_slowest_answer() {
    assert_eq!(slowest_of(&code(3)), None);
    let mut policy = timed(Some(1000), None, code(3));
    policy.attempts = unknown();
    assert_eq!(slowest_of(&policy), None);
    policy.total.limit = written(Limit::At(secs(8)));
    assert_eq!(slowest_of(&policy), Some(secs(8)));
    let mut policy = timed(None, None, code(1));
    policy.attempt_timeout = unknown();
    assert_eq!(slowest_of(&policy), None);
}

/// M-6: 3 tries, 0.5 s to connect before each 0.2 s.
#[test]
fn connecting_comes_on_top_where_it_is_written() {
    let mut policy = timed(Some(200), Some(5000), code(3));
    policy.connect_timeout = Some(written(Limit::At(millis(500))));
    assert_eq!(slowest_of(&policy), Some(millis(2100)));
    policy.connect_timeout = Some(crate::facts::Sourced::default_of(Limit::At(secs(5)), "Envoy", "connect_timeout"));
    assert_eq!(slowest_of(&policy), Some(millis(600)));
}

/// Three tries around a callee of 10 s, for each class alone.
#[test]
fn a_slow_try_is_repeated_where_what_it_ends_with_is() {
    let of = |class: Class, protocol| around_ten_seconds(protocol, [on(Classes::of(&[class]), code(3))]);
    for class in Class::ALL {
        let of_http = match class {
            // Told at once.
            Class::Connect | Class::Unsent | Class::BreakerOpen => 10,
            // No limit cuts a try.
            Class::TryTimeout => 10,
            Class::Reset | Class::Overload | Class::BadGateway | Class::ServerError => 30,
            Class::RateLimited | Class::Conflict | Class::ClientError => 30,
            // No answer of HTTP.
            _ => 10,
        };
        assert_eq!(of(class, None), Some(secs(of_http)), "{}", class.name());
    }
    let grpc = Some(Protocol::Grpc);
    assert_eq!(of(Class::Unavailable, grpc), Some(secs(30)));
    assert_eq!(of(Class::Overload, grpc), Some(secs(10)));
    assert_eq!(of(Class::Connect, grpc), Some(secs(10)));
    assert_eq!(around_ten_seconds(None, [on(Classes::NONE, code(3))]), Some(secs(10)));
    assert_eq!(around_ten_seconds(None, [code(3)]), Some(secs(30)));
    // What cannot be told is assumed to repeat timeouts and 503.
    let mut opaque = code(3);
    opaque.retries_on = unknown();
    assert_eq!(around_ten_seconds(None, [opaque]), Some(secs(30)));
}

#[test]
fn delays_come_on_top_of_one_slow_try_too() {
    let policy = waiting(&[200, 400], Jitter::NONE, on(Classes::of(&[Class::Connect]), code(3)));
    assert_eq!(around_ten_seconds(None, [policy]), Some(millis(10_600)));
    // What can never fail so is never repeated.
    let policy = waiting(&[200, 400], Jitter::NONE, on(Classes::of(&[Class::Unavailable]), code(3)));
    assert_eq!(around_ten_seconds(None, [policy]), Some(secs(10)));
}

/// A try that is cut after 4 s ends as a timeout; a 503 may come right before.
#[test]
fn a_cut_try_is_repeated_by_what_retries_timeouts() {
    let of = |class: Class| {
        let policy = timed(Some(4000), None, on(Classes::of(&[class]), code(3)));
        (around_ten_seconds(None, [policy.clone()]), slowest_of(&policy))
    };
    assert_eq!(of(Class::TryTimeout), (Some(secs(12)), Some(secs(12))));
    assert_eq!(of(Class::Overload), (Some(secs(12)), Some(secs(12))));
    assert_eq!(of(Class::Connect), (Some(secs(4)), Some(secs(4))));
    // Nothing is cut at 12 s that ends after 10 s.
    let late = timed(Some(12_000), None, on(Classes::of(&[Class::TryTimeout]), code(3)));
    assert_eq!(around_ten_seconds(None, [late]), Some(secs(10)));
}

/// A sidecar that cuts a try after 4 s, alone or inside of a library: what it hands on decides.
#[test]
fn what_a_layer_hands_on_is_what_the_next_one_repeats() {
    let library = |class: Class| on(Classes::of(&[class]), code(2));
    let cut = |policy| timed(Some(4000), None, policy);
    let connect = Classes::of(&[Class::Connect]);
    // An Envoy answers 504 for its timeout: no timeout of the library's, and none that it repeats.
    let sidecar = || cut(sidecar(3, connect));
    assert_eq!(around_ten_seconds(None, [library(Class::BadGateway), sidecar()]), Some(secs(8)));
    assert_eq!(around_ten_seconds(None, [library(Class::TryTimeout), sidecar()]), Some(secs(4)));
    // Code hands its timeout on as it is.
    let inner = || cut(on(connect, code(3)));
    assert_eq!(
        around_ten_seconds(None, [library(Class::TryTimeout), at(crate::facts::Position::Gateway, inner())]),
        Some(secs(8))
    );
    // A total that cuts is a timeout to what is around it.
    let total = || timed(None, Some(4000), on(connect, code(1)));
    assert_eq!(
        around_ten_seconds(None, [library(Class::TryTimeout), at(crate::facts::Position::Gateway, total())]),
        Some(secs(8))
    );
    // Three tries of 4 s, and twice that.
    let every = cut(crate::graph::nets::sidecar(3, FIVE_XX));
    assert_eq!(around_ten_seconds(None, [library(Class::BadGateway), every]), Some(secs(24)));
}

/// M-6, D-14: 0.5 s to connect, written. Two tries fail at that, the third answers after 10 s.
#[test]
fn a_connect_timeout_that_is_known_is_what_a_failed_connection_takes() {
    let of = |classes| {
        let mut policy = sidecar(3, classes);
        policy.connect_timeout = Some(written(Limit::At(millis(500))));
        around_ten_seconds(None, [policy])
    };
    assert_eq!(of(NEW_ISTIO), Some(millis(11_500)));
    assert_eq!(of(FIVE_XX), Some(millis(31_500)));
}

/// A callee that hangs answers nothing, so that only tries that are cut are repeated.
#[test]
fn what_hangs_is_held_again_only_where_timeouts_are_repeated() {
    let held_by = |class: Class| {
        let mut sketch = Sketch::default();
        let edge = sketch.call("web", "db", [timed(Some(2000), None, on(Classes::of(&[class]), code(3)))]);
        held(&sketch.facts, &sketch.net.graph[edge]).unwrap()
    };
    assert_eq!(held_by(Class::TryTimeout), Held { once: secs(2), all: secs(6) });
    assert_eq!(held_by(Class::Overload), Held { once: secs(2), all: secs(2) });
    assert_eq!(held_by(Class::Connect), Held { once: secs(2), all: secs(2) });
}

/// Three tries of 1 s with 10 s behind each, the last one too.
#[test]
fn code_that_waits_after_its_last_try_takes_that_long_as_well() {
    let delays = [10_000, 10_000, 10_000];
    let mut policy = timed(Some(1000), None, waiting(&delays, Jitter::NONE, code(3)));
    assert_eq!(slowest_of(&policy), Some(secs(23)));
    policy.in_code.get_or_insert_default().sleep_after_last = Some(policy.span);
    assert_eq!(slowest_of(&policy), Some(secs(33)));
}
