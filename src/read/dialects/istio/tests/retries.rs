//! Counts, conditions, times, and what Istio makes of them when they are wrong.

use super::*;
use crate::facts::{AttemptTimeoutFlaw, Attempts, BackoffKind, Counts, Jitter, Limit, PolicyKind, Position, Why};

/// A VirtualService with one route that has these lines beside its destination.
fn with(lines: &str) -> String {
    let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{ name: ledger, namespace: bank }}\n\
         spec:\n  hosts: [ledger]\n  http:\n  - route: [{{ destination: {{ host: ledger }} }}]\n{lines}"
    )
}

fn policy(text: &str) -> Policy {
    let facts = facts(text);
    let [policy] = facts.policies.as_slice() else { panic!("{:#?}", facts.policies) };
    policy.clone()
}

/// [T-01]
#[test]
fn attempts_counts_retries() {
    let text =
        with("timeout: 3s\nretries: { attempts: 2, perTryTimeout: 1s, retryOn: 'connect-failure,refused-stream,503' }");
    assert_eq!(known(&policy(&with("retries: { attempts: 3 }")).attempts), Attempts::Times(4));
    let policy = policy(&text);
    assert_eq!(known(&policy.attempts), Attempts::Times(3));
    assert_eq!(at(&text, &policy.attempts), "2");
    assert_eq!(policy.count.as_ref().unwrap().counts, Counts::Retries);
    assert_eq!(policy.count_in_words().unwrap(), "`attempts: 2` means two retries: three tries");
    let classes = Classes::of(&[Class::Connect, Class::Unsent, Class::Overload]);
    assert_eq!((known(&policy.retries_on), policy.names_classes), (classes, classes));
    assert_eq!(known(&policy.attempt_timeout), Limit::At(ms(1000)));
    assert_eq!(known(&policy.total.limit), Limit::At(ms(3000)));
    assert_eq!((policy.kind, policy.position), (PolicyKind::Config, Position::ClientSidecar));
    assert_eq!(policy.ineffective, []);
    assert_eq!(
        &text[policy.span.range()],
        "{ attempts: 2, perTryTimeout: 1s, retryOn: 'connect-failure,refused-stream,503' }"
    );
}

#[test]
fn delays_grow_from_25_to_250_milliseconds_with_full_jitter() {
    let policy = policy(&with("retries: { attempts: 1 }"));
    assert_eq!(known(&policy.backoff.kind), BackoffKind::Exponential);
    assert_eq!((known(&policy.backoff.base), known(&policy.backoff.cap)), (ms(25), Limit::At(ms(250))));
    assert_eq!((known(&policy.jitter), policy.jitter_switch), (Jitter::FULL, false));
    assert_eq!(known(&policy.connect_timeout.unwrap()), Limit::At(ms(10_000)));
}

#[test]
fn a_written_backoff_is_the_base_and_a_tenth_of_the_cap() {
    let text = with("retries: { attempts: 1, backoff: 100ms }");
    let policy = policy(&text);
    assert_eq!((known(&policy.backoff.base), known(&policy.backoff.cap)), (ms(100), Limit::At(ms(1000))));
    assert_eq!(at(&text, &policy.backoff.cap), "100ms");
}

/// [T-04]
#[test]
fn without_retries_the_mesh_retries_twice() {
    let text = with("timeout: 3s");
    let policy = policy(&text);
    assert_eq!((policy.kind, known(&policy.attempts)), (PolicyKind::Default, Attempts::Times(3)));
    assert!(is_default(&policy.attempts, "Istio 1.31"));
    assert_eq!(known(&policy.retries_on), default_classes());
    assert_eq!(policy.names_classes, Classes::NONE);
    assert_eq!(known(&policy.total.limit), Limit::At(ms(3000)));
    assert!(text[policy.span.range()].starts_with("route: [{ destination"), "the route brings it in");
}

#[test]
fn before_1_24_the_default_retries_503_too() {
    let policy = &facts_at("a.yaml", &with("timeout: 3s"), (1, 23)).policies[0];
    assert!(is_default(&policy.attempts, "Istio 1.23"));
    assert_eq!(known(&policy.retries_on), default_classes().or(Classes::of(&[Class::Overload])));
}

#[test]
fn an_empty_key_is_no_retries_block() {
    for lines in ["retries:", "retries: null"] {
        let policy = policy(&with(lines));
        assert_eq!((policy.kind, known(&policy.attempts)), (PolicyKind::Default, Attempts::Times(3)));
    }
}

/// [T-04]
#[test]
fn attempts_zero_is_one_try_and_no_mistake() {
    let text = with("retries: { attempts: 0 }");
    let policy = policy(&text);
    assert_eq!((policy.kind, known(&policy.attempts)), (PolicyKind::Config, Attempts::Times(1)));
    assert_eq!(at(&text, &policy.attempts), "0");
    assert_eq!(policy.ineffective, []);
    assert!(!policy.may_retry());
}

#[test]
fn retries_without_attempts_switch_retries_off_without_a_word() {
    for lines in ["retries: {}", "retries: { backoff: 50ms }", "retries: { attempts: , backoff: 50ms }"] {
        let text = with(lines);
        let facts = facts(&text);
        let (found, under) = only_ineffective(&text, &facts);
        assert_eq!((under, found.rejected), ("retries", false));
        assert_eq!(
            found.message,
            "`retries` without `attempts` switches retries off: Istio's default of two no longer holds, and one try is made"
        );
        assert_eq!(known(&facts.policies[0].attempts), Attempts::Times(1));
    }
}

#[test]
fn conditions_or_a_try_limit_without_attempts_are_rejected() {
    for (lines, key) in [
        ("retries: { perTryTimeout: 2s }", "perTryTimeout"),
        ("retries: { retryOn: 5xx, backoff: 50ms }", "retryOn"),
        ("retries: { retryRemoteLocalities: true }", "retryRemoteLocalities"),
    ] {
        let text = with(lines);
        let facts = facts(&text);
        let (found, under) = only_ineffective(&text, &facts);
        assert_eq!((under, found.rejected), (key, true));
        assert_eq!(
            found.message,
            format!(
                "Istio rejects VirtualService `ledger`: `{key}` is set and `attempts` is not; its default of two retries \
                 stays in force"
            )
        );
        // What is rejected does not hold; the default does.
        let policy = &facts.policies[0];
        assert_eq!((policy.kind, known(&policy.attempts)), (PolicyKind::Default, Attempts::Times(3)));
        assert_eq!(known(&policy.retries_on), default_classes());
        assert_eq!(known(&policy.attempt_timeout), Limit::None);
    }
}

#[test]
fn attempts_zero_beside_conditions_is_rejected() {
    let text = with("retries: { attempts: 0, retryOn: 5xx }");
    let facts = facts(&text);
    let (found, under) = only_ineffective(&text, &facts);
    assert_eq!((under, found.rejected, &*found.help), ("retryOn", true, "`retries: { attempts: 0 }`"));
    // An empty condition is none.
    assert_eq!(policy(&with("retries: { attempts: 0, retryOn: '' }")).ineffective, []);
}

#[test]
fn a_blank_or_an_unknown_word_in_the_conditions_is_rejected() {
    for (written, what, help) in [
        ("\"5xx, reset\"", "`retryOn` has a blank beside `reset`, and the list is not trimmed", "retryOn: 5xx,reset"),
        ("5XX", "`5XX` is no condition of `retryOn`", "retryOn: 5xx"),
        ("gateway-errors,reset", "`gateway-errors` is no condition of `retryOn`", "retryOn: gateway-error,reset"),
        ("599", "`599` is no condition of `retryOn`", "retryOn: connect-failure,refused-stream"),
    ] {
        let text =
            with(&format!("retries: {{ attempts: 3, retryOn: {} }}", written.replace("5xx,reset", "\"5xx,reset\"")));
        let text = text.replace("gateway-errors,reset", "'gateway-errors,reset'");
        let facts = facts(&text);
        let (found, under) = only_ineffective(&text, &facts);
        assert!(found.rejected && under.contains(written.trim_matches('"')), "{under}");
        assert_eq!(
            found.message,
            format!("Istio rejects VirtualService `ledger`: {what}; its default of two retries stays in force")
        );
        assert_eq!(found.help, format!("`{help}`"));
        assert_eq!(facts.policies[0].tries(), Some(3));
        assert_eq!(known(&facts.policies[0].retries_on), default_classes());
    }
}

#[test]
fn what_is_rejected_in_one_route_takes_the_other_routes_along() {
    let two = |first: &str| {
        facts(&format!(
            "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: {{ name: ledger, namespace: bank }}\nspec:\n  \
             hosts: [ledger]\n  http:\n    - match: [{{ uri: {{ prefix: /a }} }}]\n      \
             route: [{{ destination: {{ host: ledger }} }}]\n      retries: {first}\n    \
             - route: [{{ destination: {{ host: ledger }} }}]\n      timeout: 9s\n      retries: {{ attempts: 4, retryOn: 5xx }}\n"
        ))
        .policies
    };
    let rejected = two("{ attempts: 3, retryOn: 5XX }");
    assert_eq!(rejected.len(), 2);
    assert_eq!(rejected[0].ineffective, rejected[1].ineffective, "one mistake is one finding");
    assert_eq!((rejected[1].tries(), known(&rejected[1].total.limit)), (Some(3), Limit::None));
    assert_eq!(known(&rejected[1].retries_on), default_classes());
    // A setting that merely does nothing leaves the others as they are.
    let inert = two("{ numRetries: 3 }");
    assert_eq!(inert[1].ineffective, []);
    assert_eq!((inert[1].tries(), known(&inert[1].total.limit)), (Some(5), Limit::At(ms(9_000))));
}

#[test]
fn times_below_a_millisecond_are_rejected() {
    for (lines, what) in [
        ("timeout: 0s", "`timeout: 0s` is below its least duration of 1 ms"),
        ("timeout: 10", "`timeout: 10` is not a duration"),
        ("retries: { attempts: 1, perTryTimeout: 0s }", "`perTryTimeout: 0s` is below its least duration of 1 ms"),
        ("retries: { attempts: 1, perTryTimeout: 100us }", "`perTryTimeout: 100us` is not in whole milliseconds"),
        ("retries: { attempts: 1, backoff: 0ms }", "`backoff: 0ms` is below its least duration of 1 ms"),
        ("retries: { attempts: -1 }", "`attempts: -1` is below zero"),
        ("retries: { attempts: two }", "`attempts: two` is not a whole number"),
        ("retries: 3", "`retries` is no mapping"),
        ("retries: [3]", "`retries` is no mapping"),
    ] {
        let text = with(lines);
        let facts = facts(&text);
        let (found, _) = only_ineffective(&text, &facts);
        assert!(found.rejected);
        assert_eq!(
            found.message,
            format!("Istio rejects VirtualService `ledger`: {what}; its default of two retries stays in force")
        );
        assert_eq!(facts.policies[0].tries(), Some(3));
        assert_eq!(known(&facts.policies[0].total.limit), Limit::None);
    }
    assert_eq!(policy(&with("timeout: 1ms\nretries: { attempts: 1, backoff: 1.5s }")).ineffective, []);
}

#[test]
fn conditions_that_cannot_arise_retry_nothing() {
    let text = with("retries: { attempts: 2, retryOn: retriable-status-codes }");
    let facts = facts(&text);
    let (found, under) = only_ineffective(&text, &facts);
    assert_eq!((under, found.rejected), ("retriable-status-codes", false));
    assert_eq!(known(&facts.policies[0].retries_on), Classes::NONE);
    // With a code it does.
    let policy = policy(&with("retries: { attempts: 2, retryOn: 'retriable-status-codes,503' }"));
    assert_eq!((policy.ineffective.len(), known(&policy.retries_on)), (0, Classes::of(&[Class::Overload])));
}

#[test]
fn a_cut_try_is_retried_by_reset_conditions_only() {
    let never = |conditions: &str| {
        let corrected = format!("retryOn: {conditions},reset").into();
        Some(AttemptTimeoutFlaw::NeverRetried { add: "reset".into(), corrected })
    };
    // Written conditions replace the default ones, which have to be repeated.
    let bare = policy(&with("retries: { attempts: 2, perTryTimeout: 2s }"));
    assert_eq!(bare.attempt_timeout_flaw, never("connect-failure,refused-stream,unavailable,cancelled"));
    let codes = policy(&with("retries: { attempts: 2, perTryTimeout: 2s, retryOn: 'connect-failure,504' }"));
    assert_eq!(codes.attempt_timeout_flaw, never("connect-failure,504"));
    for condition in ["reset", "5xx", "gateway-error"] {
        let lines = format!("retries: {{ attempts: 2, perTryTimeout: 2s, retryOn: {condition} }}");
        assert_eq!(policy(&with(&lines)).attempt_timeout_flaw, None);
    }
    // No try limit, no flaw; and with one try nothing is retried anyway.
    assert_eq!(policy(&with("retries: { attempts: 2 }")).attempt_timeout_flaw, None);
}

#[test]
fn a_try_limit_that_is_not_below_the_timeout_is_dropped() {
    let policy1 = policy(&with("timeout: 2s\nretries: { attempts: 2, perTryTimeout: 2s, retryOn: 5xx }"));
    assert!(matches!(policy1.attempt_timeout_flaw, Some(AttemptTimeoutFlaw::NotBelowTotal(_))));
    assert_eq!(policy1.attempt_limit(), Some(Limit::None));
    // T-40: without `timeout` there is none, so that 20 s hold.
    let policy2 = policy(&with("retries: { attempts: 2, perTryTimeout: 20s, retryOn: 5xx }"));
    assert_eq!(policy2.attempt_timeout_flaw, None);
    assert_eq!(known(&policy2.total.limit), Limit::None);
    assert!(is_default(&policy2.total.limit, "Istio"));
}

#[test]
fn what_a_template_or_the_environment_decides_is_unknown() {
    let policy = policy(&with("retries: { attempts: '${RETRIES}', retryOn: '$CONDITIONS', perTryTimeout: '${T}' }"));
    assert_eq!(policy.attempts.why(), Some(&Why::Environment("RETRIES".into())));
    assert_eq!(policy.retries_on.why(), Some(&Why::Environment("CONDITIONS".into())));
    assert_eq!(policy.attempt_timeout.why(), Some(&Why::Environment("T".into())));
    assert_eq!((policy.ineffective.len(), policy.attempt_timeout_flaw), (0, None));
}

#[test]
fn anchors_give_each_route_its_own_policy_at_the_shared_place() {
    let text = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: { name: shop }\nspec:\n  hosts: [shop]\n  \
                http:\n  - retries: &r { attempts: 4 }\n    match: [{ uri: { exact: /a } }]\n    route: [{ destination: { host: a } }]\n  \
                - retries: *r\n    route: [{ destination: { host: b } }]\n";
    let facts = facts(text);
    let tries: Vec<_> = facts.policies.iter().map(|policy| (policy.tries(), at(text, &policy.attempts))).collect();
    assert_eq!(tries, [(Some(5), "4"), (Some(5), "4")]);
}

#[test]
fn what_a_chart_leaves_to_rendering_is_unknown() {
    let text = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata:\n  name: {{ .Release.Name }}\nspec:\n  hosts: [ledger]\n  http:\n  \
                - route:\n    - destination: { host: ledger }\n    {{- with .Values.retries }}\n    retries:\n      attempts: {{ .attempts }}\n      \
                retryOn: 5xx\n    {{- end }}\n  - route:\n    - destination: { host: ledger }\n    {{- toYaml .Values.route | nindent 4 }}\n";
    let facts = facts(text);
    let [written, left] = facts.policies.as_slice() else { panic!("{:#?}", facts.policies) };
    assert!(matches!(written.attempts.why(), Some(Why::Template(_))));
    assert!(known(&written.retries_on).contains(Class::ServerError));
    // The second route may have retries, or none: its default cannot be told.
    assert!(matches!(left.attempts.why(), Some(Why::Template(_))));
    assert_eq!(left.kind, PolicyKind::Config);
    assert!(facts.policies.iter().all(|policy| policy.ineffective.is_empty() && policy.total.limit.known().is_none()));
    assert_eq!(&*facts.policies[0].name, "http[0]", "an expression is no name");
    // Where no line is printed, what is missing is missing, and the default holds.
    let text = "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata: { name: shop }\nspec:\n  hosts: ['{{ .Values.host }}']\n  \
                http:\n  - route:\n    - destination: { host: ledger }\n---\n{{ include \"more\" . }}\n";
    assert_eq!(super::facts(text).policies[0].tries(), Some(3));
}

#[test]
fn settings_of_the_route_do_nothing_in_a_destination() {
    let text = with("").replace("host: ledger } }", "host: ledger }, timeout: 5s, retries: { attempts: 3 } }");
    let facts = facts(&text);
    let [policy] = facts.policies.as_slice() else { panic!() };
    assert_eq!((policy.kind, policy.tries(), known(&policy.total.limit)), (PolicyKind::Default, Some(3), Limit::None));
    let found: Vec<_> = policy.ineffective.iter().map(|one| (&text[one.span.range()], one.rejected)).collect();
    assert_eq!(found, [("retries", false), ("timeout", false)]);
    assert_eq!(
        policy.ineffective[0].message,
        "`retries` does nothing in a destination: it is a setting of the route, one level up"
    );
}
