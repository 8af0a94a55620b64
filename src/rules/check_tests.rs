//! Single checks on systems made by hand: exact numbers and words, and for each rule what it must not say.

use super::fixture::{Fixture, attempt_timeout, texts};
use super::*;
use crate::facts::{
    Attempts, BackoffKind, Breaker, Budget, BudgetBase, Class, Classes, Confidence, Dialect, Floor, Limit, Methods,
    Nanos, Operation, Policy, PolicyKind, Position, Purpose, Sourced, Why,
};
use crate::finding::Severity;
use crate::graph::Cycle;
use crate::graph::amount::Amount;

fn levels(drafts: &[Draft]) -> Vec<(Severity, bool)> {
    drafts.iter().map(|draft| (draft.finding.severity, draft.finding.pedantic)).collect()
}

#[test]
fn a_pool_is_filled_by_retries_and_not_by_slow_answers() {
    // [T-61]: a pool of 200, 50 calls a second, three tries of two seconds.
    let mut fixture = Fixture::new();
    let (web, ledger) = (fixture.service("web"), fixture.service("ledger"));
    let at = fixture.place();
    fixture.graph[web].service.pool = Some(Sourced::written(200, at));
    fixture.nodes[web.index()].rate = Some(50.0);
    let policy = fixture.policy(3, |policy| attempt_timeout(policy, Nanos::from_secs(2)));
    fixture.call(web, ledger, &[policy]);
    let drafts = fixture.check("pool-exhaustion");
    assert_eq!(levels(&drafts), [(Severity::Error, false)]);
    assert_eq!(
        drafts[0].finding.message,
        "when `ledger` hangs, `web` needs 300 connections and its pool has 200: its calls stop, also those to others"
    );
    assert_eq!(
        drafts[0].finding.notes,
        [
            "50/s × 6 s = 300 connections in use; the pool is full after 4 s",
            "with one try each it would be 100: the retries fill the pool, not the slow answers",
        ]
    );
    assert!(drafts[0].finding.help.as_ref().unwrap().contains("below 1.33 s here"));
}

#[test]
fn no_pool_is_counted_for_requests_that_go_round_without_an_end() {
    let mut fixture = Fixture::new();
    let (web, ledger) = (fixture.service("web"), fixture.service("ledger"));
    let at = fixture.place();
    fixture.graph[web].service.pool = Some(Sourced::written(200, at));
    fixture.nodes[web.index()].rate = Some(f64::INFINITY);
    let policy = fixture.policy(3, |policy| attempt_timeout(policy, Nanos::from_secs(2)));
    fixture.call(web, ledger, &[policy]);
    assert_eq!(fixture.check("pool-exhaustion").len(), 0);
}

#[test]
fn a_pool_that_is_large_enough_or_not_declared_is_fine() {
    let pool = |slots: Option<u64>, total: Option<Nanos>| {
        let mut fixture = Fixture::new();
        let (web, ledger) = (fixture.service("web"), fixture.service("ledger"));
        let at = fixture.place();
        fixture.graph[web].service.pool = slots.map(|slots| Sourced::written(slots, at));
        fixture.nodes[web.index()].rate = Some(50.0);
        let policy = fixture.policy(3, |policy| {
            attempt_timeout(policy, Nanos::from_secs(2));
            if let Some(total) = total {
                policy.total.limit = Sourced::written(Limit::At(total), policy.span);
            }
        });
        fixture.call(web, ledger, &[policy]);
        fixture.check("pool-exhaustion").len()
    };
    assert_eq!(pool(Some(300), None), 1, "saturation starts where the pool is full");
    assert_eq!(pool(Some(301), None), 0);
    assert_eq!(pool(None, None), 0);
    assert_eq!(pool(Some(200), Some(Nanos::from_millis(3900))), 0, "a total ends the tries early");
}

#[test]
fn a_pool_says_nothing_without_a_rate_or_a_limit_on_each_try() {
    let pool = |rate: Option<f64>, change: fn(&mut Policy)| {
        let mut fixture = Fixture::new();
        let (web, ledger) = (fixture.service("web"), fixture.service("ledger"));
        let at = fixture.place();
        fixture.graph[web].service.pool = Some(Sourced::written(200, at));
        fixture.nodes[web.index()].rate = rate;
        let policy = fixture.policy(3, change);
        fixture.call(web, ledger, &[policy]);
        fixture.check("pool-exhaustion").len()
    };
    let limited: fn(&mut Policy) = |policy| attempt_timeout(policy, Nanos::from_secs(2));
    assert_eq!(pool(Some(50.0), limited), 1);
    assert_eq!(pool(None, limited), 0);
    assert_eq!(pool(Some(50.0), |_| {}), 0);
}

#[test]
fn layers_on_one_edge_are_one_finding_at_the_greatest_of_them() {
    let mut fixture = Fixture::new();
    let (web, ledger) = (fixture.service("web"), fixture.service("ledger"));
    let code = fixture.policy(4, |_| {});
    let mesh = fixture.policy(3, |policy| policy.position = Position::ClientSidecar);
    fixture.call(web, ledger, &[code, mesh]);
    let drafts = fixture.check("stacked-retries");
    assert_eq!(levels(&drafts), [(Severity::Error, false)]);
    let finding = &drafts[0].finding;
    assert_eq!(finding.message, "one call from `web` to `ledger` can become 12 requests: 4 × 3 tries in layers");
    assert_eq!(finding.labels[0].span, fixture.facts.policies[0].span);
    assert_eq!(
        texts(&drafts[0]),
        [
            "in the caller's code: three retries, four tries (×4)",
            "in the caller's sidecar: two retries, three tries (×3)",
            "worst for overload (503)",
            "retry in one layer only: `retry: { attempts: 1 }` in services.yaml leaves 3×",
        ]
    );
}

#[test]
fn nine_requests_on_one_edge_warn_and_equal_layers_point_nearest_the_callee() {
    let mut fixture = Fixture::new();
    let (web, ledger) = (fixture.service("web"), fixture.service("ledger"));
    let code = fixture.policy(3, |_| {});
    let mesh = fixture.policy(3, |policy| policy.position = Position::ClientSidecar);
    fixture.call(web, ledger, &[code, mesh]);
    let drafts = fixture.check("stacked-retries");
    assert_eq!(levels(&drafts), [(Severity::Warning, false)]);
    assert_eq!(drafts[0].finding.labels[0].span, fixture.facts.policies[1].span);
}

#[test]
fn one_layer_and_connection_attempts_over_a_default_are_no_stack() {
    let mut fixture = Fixture::new();
    let (web, ledger) = (fixture.service("web"), fixture.service("ledger"));
    let code = fixture.policy(4, |_| {});
    let mesh = fixture.policy(3, |policy| {
        policy.position = Position::ClientSidecar;
        policy.kind = PolicyKind::Default;
    });
    fixture.call(web, ledger, &[code, mesh]);
    fixture.loads[0].unsent = Some((Class::Connect, fixture.factor(&[code, mesh])));
    fixture.loads[0].factor = fixture.factor(&[code]);
    assert!(fixture.check("stacked-retries").is_empty());
    // Once somebody has written the inner one, it is said, as connection attempts.
    fixture.facts.policies[1].kind = PolicyKind::Config;
    let drafts = fixture.check("stacked-retries");
    assert_eq!(levels(&drafts), [(Severity::Note, false)]);
    assert!(drafts[0].finding.message.contains("can become 12 connection attempts"));
}

#[test]
fn many_callers_over_one_place_are_one_finding() {
    let mut fixture = Fixture::new();
    let ledger = fixture.service("ledger");
    let mesh = fixture.policy(3, |policy| policy.position = Position::ClientSidecar);
    for name in ["web", "cart"] {
        let caller = fixture.service(name);
        let code = fixture.policy(2, |_| {});
        fixture.call(caller, ledger, &[code, mesh]);
    }
    let drafts = fixture.check("stacked-retries");
    assert_eq!(drafts.len(), 1);
    assert!(
        drafts[0].finding.notes.contains(&"the same for cart → ledger".to_owned()),
        "{:?}",
        drafts[0].finding.notes
    );
}

#[test]
fn clients_times_retries_are_extra_requests() {
    // [T-74] at the default limit: 500 clients with six retries each.
    let mut fixture = Fixture::new();
    let (web, ledger) = (fixture.service("web"), fixture.service("ledger"));
    let at = fixture.place();
    fixture.graph[web].service.clients = Some(Sourced::written(500, at));
    let six = fixture.policy(6, |_| {});
    let seven = fixture.policy(7, |_| {});
    fixture.call(web, ledger, &[six, seven]);
    let drafts = fixture.check("excessive-attempts");
    assert_eq!(drafts.len(), 1, "six tries are the limit and not above it");
    assert_eq!(
        drafts[0].finding.message,
        "one call from `web` to `ledger` can become seven requests, more than the six that `max-attempts` allows"
    );
    assert_eq!(drafts[0].finding.notes, ["500 clients that all use up their six retries send 3,000 extra requests"]);
}

#[test]
fn jobs_and_connection_attempts_have_a_limit_of_their_own() {
    let tries = |tries: u64, change: fn(&mut Policy)| {
        let mut fixture = Fixture::new();
        fixture.policy(tries, change);
        fixture.check("excessive-attempts").len()
    };
    let connects: fn(&mut Policy) = |policy| {
        policy.retries_on = Sourced::written(Classes::of(&[Class::Connect, Class::Unsent]), policy.span);
    };
    assert_eq!(tries(9, |_| {}), 1);
    assert_eq!(tries(9, connects), 0);
    assert_eq!(tries(11, connects), 1);
    assert_eq!(tries(9, |policy| policy.position = Position::Job), 0);
    assert_eq!(tries(9, |policy| policy.purpose = Purpose::Background), 0);
    // Nobody is asked too often by what asks nobody.
    assert_eq!(tries(99, |policy| policy.purpose = Purpose::Background), 1);
    assert_eq!(tries(99, |policy| policy.purpose = Purpose::Local), 0);
}

#[test]
fn local_retries_have_no_callee_to_be_told() {
    let notes = |purpose: Purpose| {
        let mut fixture = Fixture::new();
        fixture.policy(3, |policy| (policy.dialect, policy.purpose) = (Dialect::Code, purpose));
        fixture.check("unresolved-callee").len()
    };
    assert_eq!((notes(Purpose::Request), notes(Purpose::Local)), (1, 0));
}

#[test]
fn retrying_for_ever_is_worst_without_a_delay_and_fine_for_reconnecting() {
    let level = |change: fn(&mut Policy)| {
        let mut fixture = Fixture::new();
        fixture.policy(1, |policy| {
            policy.attempts = Sourced::written(Attempts::Unbounded, policy.span);
            policy.backoff.kind = Sourced::written(BackoffKind::Fixed, policy.span);
            policy.backoff.base = Sourced::written(Nanos::from_secs(1), policy.span);
            change(policy);
        });
        levels(&fixture.check("unbounded-retries"))
    };
    assert_eq!(level(|_| {}), [(Severity::Warning, false)]);
    assert_eq!(
        level(|policy| policy.backoff.kind = Sourced::written(BackoffKind::None, policy.span)),
        [(Severity::Error, false)]
    );
    assert_eq!(level(|policy| policy.purpose = Purpose::Reconnect), [(Severity::Note, true)]);
    assert_eq!(
        level(|policy| {
            policy.purpose = Purpose::Reconnect;
            policy.backoff.kind = Sourced::written(BackoffKind::None, policy.span);
        }),
        [(Severity::Error, false)]
    );
    // A limit that is read from the environment is a limit; so is one on the time.
    assert_eq!(level(|policy| policy.attempts = Sourced::unknown(Why::Environment("TRIES".into()), policy.span)), []);
    assert_eq!(level(|policy| policy.total.limit = Sourced::written(Limit::At(Nanos::from_secs(9)), policy.span)), []);
}

#[test]
fn what_goes_on_after_one_kind_of_failure_alone_says_which() {
    let notes = |named: &[Class], on: Classes| {
        let mut fixture = Fixture::new();
        let (web, db) = (fixture.service("web"), fixture.service("db"));
        let policy = fixture.policy(3, |policy| {
            policy.attempts = Sourced::written(Attempts::Unbounded, policy.span);
            policy.retries_on = Sourced::written(on, policy.span);
            policy.names_classes = Classes::of(named);
        });
        fixture.call(web, db, &[policy]);
        fixture.check("unbounded-retries").into_iter().flat_map(|draft| draft.finding.notes).collect::<Vec<_>>()
    };
    let limited = [Class::RateLimited];
    let told = "it repeats a request after 429, and ends with any other failure";
    assert_eq!(notes(&limited, Classes::of(&limited)), [told]);
    // The near misses: others are repeated as well, and none is named.
    assert_eq!(notes(&limited, Classes::of(&[Class::RateLimited, Class::Overload])), [""; 0]);
    assert_eq!(notes(&[], Classes::ALL), [""; 0]);
}

/// The level for a `POST` (or another operation) through a policy of two tries.
fn repeated(operation: Option<&str>, change: impl FnOnce(&mut Policy)) -> Vec<(Severity, bool)> {
    let mut fixture = Fixture::new();
    let (web, payments) = (fixture.service("web"), fixture.service("payments"));
    let policy = fixture.policy(2, |policy| {
        let on = Classes::of(&[Class::Overload, Class::BadGateway]);
        policy.retries_on = Sourced::written(on, policy.span);
        policy.names_classes = on;
        change(policy);
    });
    let edge = fixture.call(web, payments, &[policy]);
    fixture.graph[edge].operation = operation.map(Operation::parse);
    levels(&fixture.check("non-idempotent-retry"))
}

#[test]
fn a_request_that_must_not_be_repeated_is_an_error_where_both_are_known() {
    let error = [(Severity::Error, false)];
    assert_eq!(repeated(Some("POST /charge"), |_| {}), error);
    assert_eq!(repeated(Some("GET /balance"), |_| {}), []);
    assert_eq!(
        repeated(Some("POST /charge"), |policy| {
            policy.retries_on = Sourced::default_of(Classes::ALL, "x", "x");
            policy.names_classes = Classes::NONE;
        }),
        [(Severity::Warning, false)]
    );
    assert_eq!(repeated(None, |_| {}), [(Severity::Warning, true)]);
    assert_eq!(repeated(None, |policy| policy.names_classes = Classes::NONE), []);
}

#[test]
fn code_says_what_it_sends_even_where_it_does_not_say_to_whom() {
    let found = |operation: &str, change: fn(&mut Policy)| {
        let mut fixture = Fixture::new();
        fixture.policy(3, |policy| {
            policy.retries_on = Sourced::written(Classes::ALL, policy.span);
            let request = Some(Operation::parse(operation));
            policy.in_code = Some(Box::new(crate::facts::InCode { request, ..Default::default() }));
            change(policy);
        });
        let drafts = fixture.check("non-idempotent-retry");
        drafts.first().map(|draft| (draft.finding.severity, draft.finding.message.clone()))
    };
    let (severity, message) = found("POST /charge", |_| {}).expect("a finding");
    assert_eq!(severity, Severity::Warning);
    assert!(message.starts_with("one `POST /charge` can be carried out three times: "), "{message}");
    assert_eq!(found("GET /balance", |_| {}), None);
    assert_eq!(found("POST /charge", |policy| policy.idempotent = Sourced::written(Some(true), policy.span)), None);
    // Configuration that names nobody says nothing about what is sent.
    assert_eq!(found("POST /charge", |policy| policy.in_code = None), None);
}

#[test]
fn keys_safe_failures_and_restricted_methods_make_repeating_harmless() {
    let post = Some("POST /charge");
    assert_eq!(repeated(post, |policy| policy.idempotent = Sourced::written(Some(true), policy.span)), []);
    assert_eq!(repeated(post, |policy| policy.methods = Sourced::written(Methods::Idempotent, policy.span)), []);
    assert_eq!(
        repeated(post, |policy| policy.methods = Sourced::written(Methods::Only(vec!["GET".into()]), policy.span)),
        []
    );
    assert_eq!(
        repeated(post, |policy| {
            let on = Classes::of(&[Class::Connect, Class::RateLimited]);
            policy.retries_on = Sourced::written(on, policy.span);
            policy.names_classes = on;
        }),
        []
    );
    // What an opaque condition retries proves nothing.
    assert_eq!(
        repeated(post, |policy| {
            policy.retries_on = Sourced::unknown(Why::Other("a function".into()), policy.span);
            policy.names_classes = Classes::NONE;
        }),
        []
    );
}

fn a_budget(span: crate::source::Span) -> Sourced<Limit<Box<Budget>>> {
    let budget = Budget {
        ratio: Sourced::written(0.2, span),
        floor: Sourced::written(Floor::PerSecond(0.0), span),
        window: Sourced::written(Limit::None, span),
        base: BudgetBase::Originals,
    };
    Sourced::written(Limit::At(budget), span).boxed()
}

/// Findings of a rule for two callers (or one) of one service.
fn bounded(rule: &str, callers: &[&str], change: impl Fn(&mut Policy)) -> Vec<(Severity, bool)> {
    let mut fixture = Fixture::new();
    let ledger = fixture.service("ledger");
    for name in callers {
        let caller = fixture.service(name);
        let policy = fixture.policy(3, &change);
        fixture.call(caller, ledger, &[policy]);
    }
    levels(&fixture.check(rule))
}

#[test]
fn two_callers_without_a_budget_or_breaker_warn_once_and_one_is_advice() {
    for rule in ["missing-retry-budget", "missing-circuit-breaker"] {
        assert_eq!(bounded(rule, &["web", "cart"], |_| {}), [(Severity::Warning, false)]);
        assert_eq!(bounded(rule, &["web"], |_| {}), [(Severity::Warning, true)]);
        assert_eq!(bounded(rule, &["web", "cart"], |policy| policy.kind = PolicyKind::Default), []);
        assert_eq!(
            bounded(rule, &["web", "cart"], |policy| {
                policy.retries_on = Sourced::written(Classes::of(&[Class::Connect]), policy.span);
            }),
            []
        );
    }
}

/// A caller that is well-behaved says nothing of the others.
#[test]
fn a_budget_of_one_caller_does_not_bound_the_others() {
    let with = |callers: u32| {
        let mut fixture = Fixture::new();
        let ledger = fixture.service("ledger");
        for n in 0..callers {
            let caller = fixture.service(&format!("caller-{n}"));
            let policy = fixture.policy(3, |policy| {
                if n == 0 {
                    policy.budget = a_budget(policy.span);
                }
            });
            fixture.call(caller, ledger, &[policy]);
        }
        let drafts = fixture.check("missing-retry-budget");
        drafts.iter().map(|draft| (draft.finding.message.clone(), draft.finding.pedantic)).collect::<Vec<_>>()
    };
    let message =
        "an overload of `ledger` is answered with up to 3× the load: the retries of its two callers have no budget";
    assert_eq!(with(3), [(message.to_owned(), false)]);
    assert!(with(2)[0].1, "one caller without is advice");
    assert_eq!(with(1), []);
}

#[test]
fn two_operations_of_one_caller_are_one_caller() {
    for rule in ["missing-retry-budget", "missing-circuit-breaker"] {
        let mut fixture = Fixture::new();
        let (web, ledger) = (fixture.service("web"), fixture.service("ledger"));
        for operation in ["GET /balance", "GET /history"] {
            let policy = fixture.policy(3, |_| {});
            let edge = fixture.call(web, ledger, &[policy]);
            fixture.graph[edge].operation = Some(Operation::parse(operation));
        }
        assert_eq!(levels(&fixture.check(rule)), [(Severity::Warning, true)]);
    }
}

#[test]
fn a_budget_or_breaker_that_is_there_or_may_be_there_is_not_missing() {
    let budget = |policy: &mut Policy| policy.budget = a_budget(policy.span);
    assert_eq!(bounded("missing-retry-budget", &["web", "cart"], budget), []);
    assert_eq!(bounded("missing-circuit-breaker", &["web", "cart"], budget).len(), 1);
    let breaker = |policy: &mut Policy| {
        let breaker = Breaker::default();
        policy.breaker = Sourced::written(Limit::At(breaker), policy.span).boxed();
    };
    assert_eq!(bounded("missing-circuit-breaker", &["web", "cart"], breaker), []);
    let unknown = |policy: &mut Policy| {
        policy.budget = Sourced::unknown(Why::Environment("BUDGET".into()), policy.span);
        policy.breaker = Sourced::unknown(Why::Environment("BREAKER".into()), policy.span);
    };
    assert_eq!(bounded("missing-retry-budget", &["web", "cart"], unknown), []);
    assert_eq!(bounded("missing-circuit-breaker", &["web", "cart"], unknown), []);
}

/// A cycle of two services with this gain.
fn cycle(gain: f64, max_hops: Option<u64>, confidence: Confidence) -> Vec<Draft> {
    let mut fixture = Fixture::new();
    let (cart, prices) = (fixture.service("cart"), fixture.service("prices"));
    let (there, back) = (fixture.call(cart, prices, &[]), fixture.call(prices, cart, &[]));
    fixture.graph[back].confidence = confidence;
    let total = if gain < 1.0 { Amount::Real(1.0 / (1.0 - gain)) } else { Amount::Unbounded };
    fixture.cycles.push(Cycle { nodes: vec![cart, prices], edges: vec![there, back], gain, max_hops, total });
    let mut drafts = fixture.check("retry-cycle");
    settle::adjust(&mut drafts, &fixture.facts, Options::default());
    drafts
}

#[test]
fn a_cycle_that_grows_is_an_error_and_one_that_ends_is_not() {
    let growing = cycle(4.0, None, Confidence::High);
    assert_eq!(levels(&growing), [(Severity::Error, false)]);
    assert_eq!(
        growing[0].finding.message,
        "cart → prices → cart calls on in a cycle and nothing ends it: each round makes 4 requests of one"
    );
    assert_eq!(levels(&cycle(1.0, None, Confidence::High)), [(Severity::Error, false)]);
    assert_eq!(levels(&cycle(4.0, None, Confidence::Medium)), [(Severity::Warning, false)]);
    // A hop limit ends it, whatever its gain: the closed form for ever more rounds would be another number.
    assert!(cycle(4.0, Some(3), Confidence::High).is_empty());
    assert!(cycle(0.3, Some(3), Confidence::High).is_empty());
    // [T-24]: a tenth of a call, three tries.
    let shrinking = cycle(0.3, None, Confidence::High);
    assert_eq!(levels(&shrinking), [(Severity::Note, false)]);
    assert_eq!(
        shrinking[0].finding.message,
        "cart → prices → cart calls on in a cycle: one request becomes 1.43 at `cart`"
    );
}

#[test]
fn a_librarys_own_advice_stands_under_its_findings() {
    let help = |advice: &[(&str, &str)]| {
        let mut fixture = Fixture::new();
        let (web, ledger) = (fixture.service("web"), fixture.service("ledger"));
        let policy = fixture.policy(40, |policy| {
            let help = advice.iter().map(|(rule, text)| ((*rule).into(), (*text).into())).collect();
            policy.in_code = Some(Box::new(crate::facts::InCode { help, ..Default::default() }));
        });
        fixture.call(web, ledger, &[policy]);
        fixture.check("excessive-attempts")[0].finding.help.clone().unwrap()
    };
    let own = ("excessive-attempts", "`.take(n)` counts retries");
    assert_eq!(help(&[own, ("excessive-attempts", "the second"), ("no-backoff", "wait")]), own.1);
    assert_ne!(help(&[("no-backoff", "wait")]), "wait");
}
