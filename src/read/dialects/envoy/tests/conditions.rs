//! Measured.md 2.1: which token retries which failure, one token at a time with `num_retries: 2`.

use super::{retry, route, tries};
use crate::facts::{Class, Classes, Limit, Nanos, PolicyKind};

/// Every token, with what else its policy needs to be in force.
const POLICIES: [(&str, &str); 16] = [
    ("connect-failure", ""),
    ("refused-stream", ""),
    ("reset-before-request", ""),
    ("reset", ""),
    ("gateway-error", ""),
    ("5xx", ""),
    ("retriable-4xx", ""),
    ("envoy-ratelimited", ""),
    ("cancelled", ""),
    ("deadline-exceeded", ""),
    ("internal", ""),
    ("resource-exhausted", ""),
    ("unavailable", ""),
    ("[503]", ""),
    ("[429]", ""),
    ("[504]", ""),
];

fn classes(token: &str) -> Classes {
    let policy = match token.strip_prefix('[') {
        Some(codes) => {
            format!("{{ retry_on: retriable-status-codes, num_retries: 2, retriable_status_codes: [{codes} }}")
        }
        None => format!("{{ retry_on: {token}, num_retries: 2 }}"),
    };
    let policy = retry(&policy);
    assert_eq!(policy.tries(), Some(3), "{token}");
    assert!(policy.ineffective.is_empty(), "{token}: {:?}", policy.ineffective);
    assert_eq!(policy.retries_on.known(), Some(&policy.names_classes), "{token}");
    policy.names_classes
}

#[test]
fn each_failure_is_retried_by_the_measured_tokens_and_by_no_other() {
    // Failure, its class, and the tokens that give three tries; every other gives one.
    let rows: &[(&str, Class, &[&str])] = &[
        ("refused", Class::Connect, &["connect-failure", "reset-before-request", "reset", "gateway-error", "5xx"]),
        (
            "connect timeout",
            Class::Connect,
            &["connect-failure", "reset-before-request", "reset", "gateway-error", "5xx"],
        ),
        ("accept, then FIN", Class::Reset, &["reset", "gateway-error", "5xx"]),
        ("request read, then RST", Class::Reset, &["reset", "gateway-error", "5xx"]),
        (
            "REFUSED_STREAM, GOAWAY below the stream",
            Class::Unsent,
            &["refused-stream", "reset", "gateway-error", "5xx"],
        ),
        ("RST_STREAM CANCEL", Class::Reset, &["reset", "gateway-error", "5xx"]),
        ("bytes that are not HTTP", Class::Reset, &["reset", "gateway-error", "5xx"]),
        ("per_try_timeout", Class::TryTimeout, &["reset", "gateway-error", "5xx"]),
        ("500, 501", Class::ServerError, &["5xx"]),
        ("502, 504", Class::BadGateway, &["gateway-error", "5xx", "[504]"]),
        ("503", Class::Overload, &["gateway-error", "5xx", "[503]"]),
        ("503 + x-envoy-overloaded", Class::Overload, &["gateway-error", "5xx", "[503]"]),
        ("429", Class::RateLimited, &["[429]", "envoy-ratelimited"]),
        ("409", Class::Conflict, &["retriable-4xx"]),
        ("404", Class::ClientError, &[]),
        ("grpc-status 1", Class::Aborted, &["cancelled"]),
        ("grpc-status 4", Class::Deadline, &["deadline-exceeded"]),
        ("grpc-status 8", Class::Exhausted, &["resource-exhausted"]),
        ("grpc-status 13", Class::Internal, &["internal"]),
        ("grpc-status 14", Class::Unavailable, &["unavailable"]),
        ("grpc-status 5", Class::Rejected, &[]),
        // M-46, M-47.
        ("own overflow, no healthy host", Class::BreakerOpen, &[]),
    ];
    for (token, _) in POLICIES {
        let classes = classes(token);
        for (failure, class, tokens) in rows {
            assert_eq!(classes.contains(*class), tokens.contains(&token), "{token} on {failure}");
        }
    }
}

#[test]
fn one_counter_counts_the_retries_of_all_kinds() {
    // M-32: 500, 503, 503, 409 … are six tries in all under `5xx,retriable-4xx/5`.
    let policy = retry("{ retry_on: \"5xx,retriable-4xx\", num_retries: 5 }");
    assert_eq!(policy.tries(), Some(6));
    let on = policy.names_classes;
    assert!([Class::ServerError, Class::Overload, Class::Conflict].into_iter().all(|class| on.contains(class)));
    assert!(!on.contains(Class::ClientError), "a 404 is none of them");
}

#[test]
fn inert_policies_try_once_whatever_happens() {
    for policy in [
        "{ num_retries: 2 }",
        "{ retry_on: \"\", num_retries: 2 }",
        "{ retry_on: 5XX, num_retries: 2 }",
        "{ retry_on: \"foo,bar\", num_retries: 2 }",
        "{ retry_on: retriable-status-codes, num_retries: 2 }",
        "{ retry_on: retriable-status-codes, num_retries: 2, retriable_status_codes: [] }",
        "{ num_retries: 2, retriable_status_codes: [503] }",
        "{ num_retries: 2, retriable_headers: [{ name: x-again, present_match: true }] }",
        "{ retry_on: retriable-headers, num_retries: 2 }",
        "{ retry_on: http3-post-connect-failure, num_retries: 2 }",
    ] {
        let policy_read = retry(policy);
        assert_eq!(policy_read.kind, PolicyKind::TimeLimit, "{policy}");
        assert_eq!(policy_read.tries(), Some(1), "{policy}");
        assert_eq!(policy_read.retries_on.known(), Some(&Classes::NONE), "{policy}");
        assert_eq!(policy_read.ineffective.len(), 1, "{policy}: {:?}", policy_read.ineffective);
        assert!(!policy_read.ineffective[0].rejected, "{policy}");
    }
}

#[test]
fn unknown_tokens_are_dropped_and_the_rest_stands() {
    let policy = retry("{ retry_on: \"foo, connect-failure ,bar\", num_retries: 2 }");
    assert_eq!(policy.tries(), Some(3));
    assert_eq!(policy.names_classes, Classes::of(&[Class::Connect]));
}

#[test]
fn listed_codes_retry_their_classes_and_a_listed_success_none() {
    let codes =
        |codes: &str| retry(&format!("{{ retry_on: retriable-status-codes, retriable_status_codes: {codes} }}"));
    assert_eq!(codes("[429, \"503\"]").names_classes, Classes::of(&[Class::RateLimited, Class::Overload]));
    assert_eq!(codes("[408]").names_classes, Classes::of(&[Class::Conflict]));
    // A 200 is retried (M-43), but it is no failure.
    let success = codes("[200]");
    assert_eq!((success.tries(), success.names_classes), (Some(2), Classes::NONE));
    assert_eq!(success.kind, PolicyKind::Config);
}

#[test]
fn headers_that_decide_make_the_classes_unknown() {
    let policy = retry(
        "{ retry_on: \"connect-failure,retriable-headers\", retriable_headers: [{ name: x-again, present_match: true }] }",
    );
    assert_eq!(policy.tries(), Some(2));
    assert_eq!(policy.retries_on.known(), None);
    assert_eq!(policy.names_classes, Classes::of(&[Class::Connect]));
    // `5xx` says all of it already.
    let policy =
        retry("{ retry_on: \"5xx,retriable-headers\", retriable_headers: [{ name: x-again, present_match: true }] }");
    assert!(policy.retries_on.known().is_some_and(|classes| classes.contains(Class::ServerError)));
}

#[test]
fn hedging_retries_timed_out_tries_with_any_token_and_not_without() {
    let hedged = |policy: &str| {
        route(&format!("timeout: 2s, retry_policy: {policy}, hedge_policy: {{ hedge_on_per_try_timeout: true }}"))
    };
    let policy = hedged("{ retry_on: connect-failure, num_retries: 2, per_try_timeout: 0.3s }");
    assert_eq!(policy.names_classes, Classes::of(&[Class::Connect, Class::TryTimeout]));
    assert_eq!(policy.hedging.as_ref().and_then(|hedging| hedging.copies.known().copied()), Some(2));
    // M-12: without a token nothing is sent again.
    let policy = hedged("{ num_retries: 2, per_try_timeout: 0.3s }");
    assert!(policy.hedging.is_none());
    assert_eq!(policy.tries(), Some(1));
    // And the try goes on past its 0.3 s: it ended after the route's 2.0 s. Not so without hedging.
    assert_eq!(policy.attempt_limit(), Some(Limit::None));
    let cut = route("timeout: 2s, retry_policy: { num_retries: 2, per_try_timeout: 0.3s }");
    assert_eq!(cut.attempt_limit(), Some(Limit::At(Nanos::from_millis(300))));
}

#[test]
fn a_template_in_the_conditions_is_unknown_and_no_fault() {
    for conditions in ["${RETRY_ON}", "$RETRY_ON", "'{{ .Values.retryOn }}'", "@RETRY_ON@"] {
        let conditions = if conditions.starts_with('@') { format!("\"{conditions}\"") } else { conditions.into() };
        let policy =
            retry(&format!("{{ retry_on: {}, num_retries: 2 }}", conditions.replace("${RETRY_ON}", "\"${RETRY_ON}\"")));
        assert_eq!(policy.retries_on.known(), None, "{conditions}");
        assert_eq!(policy.tries(), Some(3), "{conditions}");
        assert!(policy.ineffective.is_empty(), "{conditions}: {:?}", policy.ineffective);
    }
}

#[test]
fn a_count_of_zero_switches_retries_off_and_is_no_fault() {
    assert_eq!(tries("{ retry_on: 5xx, num_retries: 0 }"), Some(1));
    let off = retry("{ num_retries: 0 }");
    assert!(off.ineffective.is_empty(), "{:?}", off.ineffective);
}
