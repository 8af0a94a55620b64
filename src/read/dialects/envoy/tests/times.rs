//! Measured.md 2.3, M-1, M-42 and T-37, T-40: which limits are in force, and how delays grow.

use super::{retry, route};
use crate::facts::{AttemptTimeoutFlaw, BackoffKind, Check, Jitter, Limit, Measures, Nanos, Policy, Sourced};

fn secs(seconds: f64) -> Nanos {
    Nanos::from_secs_f64(seconds)
}

fn flaw(policy: &Policy) -> &'static str {
    match &policy.attempt_timeout_flaw {
        None => "none",
        Some(AttemptTimeoutFlaw::NotBelowTotal(_)) => "not below total",
        Some(AttemptTimeoutFlaw::NeverRetried { .. }) => "never retried",
    }
}

#[test]
fn a_timed_out_try_is_retried_by_conditions_that_cover_resets_alone() {
    // M-21: per_try 0.3 s, timeout 5 s.
    let with = |conditions: &str| {
        route(&format!("timeout: 5s, retry_policy: {{ {conditions} num_retries: 3, per_try_timeout: 0.3s }}"))
    };
    for token in ["5xx", "gateway-error", "reset"] {
        let policy = with(&format!("retry_on: {token},"));
        assert_eq!((flaw(&policy), policy.tries()), ("none", Some(4)), "{token}");
        assert_eq!(policy.attempt_limit(), Some(Limit::At(secs(0.3))));
    }
    for conditions in ["retry_on: connect-failure,", "retry_on: retriable-status-codes, retriable_status_codes: [504],"]
    {
        let policy = with(conditions);
        assert_eq!((flaw(&policy), policy.tries()), ("never retried", Some(4)), "{conditions}");
        assert_eq!(policy.attempt_limit(), Some(Limit::At(secs(0.3))), "it holds all the same");
    }
    // Without conditions the limit holds for the one try, and `retry_on` is what is missing.
    let policy = with("");
    assert_eq!((flaw(&policy), policy.tries()), ("none", Some(1)));
    assert_eq!(policy.attempt_limit(), Some(Limit::At(secs(0.3))));
    assert_eq!(policy.ineffective.len(), 1);
    // A policy of nothing but the limit asks for no retries: nothing is wrong.
    let policy = retry("{ per_try_timeout: 1s }");
    assert_eq!((flaw(&policy), policy.ineffective.len()), ("none", 0));
}

#[test]
fn an_attempt_timeout_that_is_not_below_the_total_is_ignored() {
    let with = |timeout: &str, attempt: &str| {
        route(&format!("{timeout} retry_policy: {{ retry_on: 5xx, num_retries: 3, per_try_timeout: {attempt} }}"))
    };
    // M-22, T-40: 15 s is the default.
    let policy = with("", "20s");
    assert_eq!(flaw(&policy), "not below total");
    assert_eq!(policy.attempt_timeout.limit(), Some(&secs(20.0)), "what is written stays visible");
    assert_eq!(policy.attempt_limit(), Some(Limit::None));
    assert_eq!(policy.total.limit.limit(), Some(&secs(15.0)));
    assert_eq!(policy.total.limit.default_by(), Some("Envoy"));
    let Some(AttemptTimeoutFlaw::NotBelowTotal(total)) = &policy.attempt_timeout_flaw else { panic!() };
    assert_eq!(total.default_by(), Some("Envoy"));
    assert_eq!(flaw(&with("", "15s")), "not below total");
    assert_eq!(flaw(&with("", "14.999s")), "none");
    // M-23, T-37.
    assert_eq!(flaw(&with("timeout: 1s,", "1s")), "not below total");
    assert_eq!(flaw(&with("timeout: 1s,", "3s")), "not below total");
    assert_eq!(flaw(&with("timeout: 600s,", "600s")), "not below total");
    // M-24.
    assert_eq!(flaw(&with("timeout: 2s,", "0.8s")), "none");
    // M-26: no total, so nothing to be below.
    let policy = with("timeout: 0s,", "0.3s");
    assert_eq!(flaw(&policy), "none");
    assert!(policy.total.limit.is_none());
    // One try ends with the route's timeout either way.
    assert_eq!(
        flaw(&route("timeout: 1s, retry_policy: { retry_on: 5xx, num_retries: 0, per_try_timeout: 3s }")),
        "none"
    );
    assert_eq!(flaw(&retry("{ per_try_timeout: 20s }")), "none");
    // Neither is told.
    assert_eq!(flaw(&with("timeout: \"${TIMEOUT}\",", "20s")), "none");
    assert_eq!(flaw(&with("timeout: 1s,", "\"${TRY}\"")), "none");
}

#[test]
fn the_total_includes_all_retries_and_cuts() {
    // M-25, M-27.
    let policy = route("timeout: 2s, retry_policy: { retry_on: 5xx, num_retries: 3 }");
    assert_eq!(policy.total.limit.limit(), Some(&secs(2.0)));
    assert_eq!((policy.total.measures, policy.total.check), (Measures::Wall, Check::Cuts));
    assert!(policy.attempt_timeout.is_none(), "no attempt limit is known to be none");
}

#[test]
fn a_stream_limit_replaces_the_timeout_and_its_default() {
    // Measured on 1.40.0: with `max_stream_duration` a hanging request ends after 3 s, not after `timeout: 1s`, and
    // per_try 1.2 s makes three tries of it; without a value in it nothing ends at all.
    let policy = route("timeout: 1s, max_stream_duration: { max_stream_duration: 3s }");
    assert_eq!(policy.total.limit.limit(), Some(&secs(3.0)));
    let policy = route("max_stream_duration: { grpc_timeout_header_max: 3s }");
    assert!(policy.total.limit.is_none());
    let policy = route(
        "timeout: 1s, max_stream_duration: { max_stream_duration: 4s }, \
         retry_policy: { retry_on: 5xx, num_retries: 2, per_try_timeout: 1.2s }",
    );
    assert_eq!(flaw(&policy), "none");
    // Istio writes it so: no limit.
    assert!(route("timeout: 0s, max_stream_duration: { max_stream_duration: 0s }").total.limit.is_none());
}

#[test]
fn an_attempt_timeout_of_zero_is_none() {
    let policy = retry("{ retry_on: 5xx, per_try_timeout: 0s }");
    assert!(policy.attempt_timeout.is_none());
    assert_eq!(flaw(&policy), "none");
}

#[test]
fn hedging_lets_the_slow_try_go_on() {
    // M-28: per_try 0.3 s, timeout 2 s, `5xx/2`: three tries, and the failing request ends after 2.0 s.
    let policy = route(
        "timeout: 2s, retry_policy: { retry_on: 5xx, num_retries: 2, per_try_timeout: 0.3s }, \
         hedge_policy: { hedge_on_per_try_timeout: true }",
    );
    let hedging = policy.hedging.as_ref().unwrap();
    assert_eq!((hedging.copies.known(), hedging.delay.known()), (Some(&2), Some(&secs(0.3))));
    assert_eq!(policy.most_requests(), Some(3));
    assert_eq!(policy.attempt_limit(), Some(Limit::None));
    assert_eq!(flaw(&policy), "none");
    assert!(route("timeout: 2s, retry_policy: { retry_on: 5xx, per_try_timeout: 0.3s }").hedging.is_none());
}

#[test]
fn delays_double_from_25_ms_to_ten_times_that_with_full_jitter() {
    // M-1.
    let backoff = |policy: &str| retry(policy).backoff;
    let default = backoff("{ retry_on: 5xx }");
    assert_eq!(default.kind.known(), Some(&BackoffKind::Exponential));
    assert_eq!(default.base.known(), Some(&Nanos::from_millis(25)));
    assert_eq!(default.factor.known(), Some(&2.0));
    assert_eq!(default.cap.limit(), Some(&Nanos::from_millis(250)));
    assert!(!default.base.is_written());

    let base = backoff("{ retry_on: 5xx, retry_back_off: { base_interval: 0.1s } }");
    assert_eq!(base.base.known(), Some(&Nanos::from_millis(100)));
    assert_eq!((base.cap.limit(), base.cap.is_written()), (Some(&secs(1.0)), false));
    let both = backoff("{ retryOn: 5xx, retryBackOff: { baseInterval: 0.1s, maxInterval: 0.15s } }");
    assert_eq!((both.cap.limit(), both.cap.is_written()), (Some(&Nanos::from_millis(150)), true));
    // Below a millisecond counts as one.
    let tiny = backoff("{ retry_on: 5xx, retry_back_off: { base_interval: 0.0005s } }");
    assert_eq!(tiny.base.known(), Some(&Nanos::from_millis(1)));

    let policy = retry("{ retry_on: 5xx }");
    assert_eq!(policy.jitter.known(), Some(&Jitter::FULL));
    assert!(!policy.jitter_switch, "it cannot be switched off");
}

#[test]
fn a_delay_named_by_the_server_is_read_where_that_is_configured() {
    // M-42.
    let with = retry(
        "{ retry_on: retriable-status-codes, retriable_status_codes: [429], \
         rate_limited_retry_back_off: { reset_headers: [{ name: Retry-After, format: SECONDS }] } }",
    );
    assert_eq!(with.reads_retry_after.known(), Some(&true));
    assert!(with.ineffective.is_empty());
    let without = retry("{ retry_on: retriable-status-codes, retriable_status_codes: [429] }");
    assert_eq!(without.reads_retry_after.known(), Some(&false));
}

#[test]
fn durations_may_be_objects_and_templates_are_unknown() {
    let limit = |timeout: &str| -> Sourced<Limit<Nanos>> { route(&format!("timeout: {timeout}")).total.limit };
    assert_eq!(limit("{ seconds: 1 }").limit(), Some(&secs(1.0)));
    assert_eq!(limit("{ seconds: 1, nanos: 500000000 }").limit(), Some(&secs(1.5)));
    for text in ["\"${TIMEOUT}\"", "\"${TIMEOUT}s\"", "\"{{ timeout }}s\"", "\"@TIMEOUT@\""] {
        assert!(limit(text).known().is_none(), "{text}");
    }
}
