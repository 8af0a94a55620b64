use super::*;
use crate::facts::{
    Attempts, BackoffKind, Class, Classes, Confidence, Counts, Dialect, Jitter, Limit, Methods, Nanos, Place, Policy,
    PolicyKind, Position,
};
use crate::read::ReadSettings;
use crate::read::data::{json, tree::Tree, yaml};
use crate::source::FileId;

fn policies_in(path: &str, tree: &Tree) -> Vec<Policy> {
    assert_eq!(tree.errors, []);
    let mut facts = Facts::default();
    let context = Context { file: FileId(0), path, settings: &ReadSettings::default() };
    for document in tree.documents().filter(|document| recognises(*document)) {
        read(document, &context, &mut facts);
    }
    facts.policies
}

fn policies(text: &str) -> Vec<Policy> {
    policies_in("src/Shop/appsettings.json", &json::parse_as(FileId(0), text, json::Strictness::Comments))
}

/// The policy of the one section `Payments` with these entries.
fn policy(section: &str) -> Policy {
    let [policy] = policies(&format!("{{ \"Payments\": {{ {section} }} }}")).try_into().unwrap();
    policy
}

fn secs(seconds: u64) -> Nanos {
    Nanos::from_secs(seconds)
}

const WHOLE: &str = r#"{
  // Comments and trailing commas are allowed here.
  "HttpClients": {
    "Payments": {
      "Resilience": {
        "TotalRequestTimeout": { "Timeout": "00:00:20" },
        "Retry": { "MaxRetryAttempts": 2, "BackoffType": "Constant", "Delay": "00:00:01", "UseJitter": false, "MaxDelay": "00:00:05" },
        "CircuitBreaker": { "FailureRatio": 0.5, "MinimumThroughput": 10, "SamplingDuration": "00:00:10", "BreakDuration": "00:00:15" },
        "AttemptTimeout": { "Timeout": "00:00:04" },
      },
    },
  },
}"#;

/// [T-01]
#[test]
fn max_retry_attempts_counts_retries() {
    let policy = policy(r#""Retry": { "MaxRetryAttempts": 3 }"#);
    assert_eq!(policy.tries(), Some(4));
    assert_eq!(policy.count_in_words().as_deref(), Some("`MaxRetryAttempts: 3` means three retries: four tries"));
}

#[test]
fn a_whole_section_is_one_policy() {
    let [policy] = policies(WHOLE).try_into().unwrap();
    assert_eq!(&*policy.name, "HttpClients:Payments:Resilience");
    assert_eq!((policy.dialect, policy.kind), (Dialect::Dotnet, PolicyKind::Config));
    assert_eq!((policy.position, policy.confidence), (Position::CallerCode, Confidence::High));
    assert_eq!(policy.callee, Callee::Named(vec!["Payments".into()]));
    assert_eq!(policy.tries(), Some(3));
    assert_eq!(policy.count.as_ref().unwrap().counts, Counts::Retries);
    assert_eq!(&WHOLE[policy.site().range()], "2");
    assert!(WHOLE[policy.span.range()].starts_with("{\n        \"TotalRequestTimeout\""));
    assert_eq!(policy.backoff.kind.known(), Some(&BackoffKind::Fixed));
    assert_eq!(policy.backoff.base.known(), Some(&secs(1)));
    assert_eq!(policy.backoff.cap.limit(), Some(&secs(5)));
    assert_eq!(policy.jitter.known(), Some(&Jitter::NONE));
    assert!(policy.jitter.is_written());
    assert_eq!(policy.total.limit.limit(), Some(&secs(20)));
    assert_eq!(policy.attempt_timeout.limit(), Some(&secs(4)));
    let breaker = policy.breaker.limit().unwrap();
    assert_eq!(breaker.ratio.as_ref().unwrap().known(), Some(&0.5));
    assert_eq!(breaker.minimum.as_ref().unwrap().known(), Some(&10));
    assert_eq!(breaker.window.as_ref().unwrap().known(), Some(&secs(10)));
    assert_eq!(breaker.open.as_ref().unwrap().known(), Some(&secs(15)));
    assert_eq!(breaker.place, Place::Inside);
    assert_eq!(policy.ineffective, []);
}

#[test]
fn what_the_standard_handler_leaves_out_has_its_defaults() {
    let policy =
        policy(r#""TotalRequestTimeout": { "Timeout": "00:00:40" }, "AttemptTimeout": { "Timeout": "00:00:12" }"#);
    assert_eq!(policy.attempts.known(), Some(&Attempts::Times(4)));
    assert_eq!(policy.attempts.default_by(), Some(".NET standard handler"));
    assert_eq!(policy.backoff.kind.known(), Some(&BackoffKind::Exponential));
    assert_eq!(policy.backoff.base.known(), Some(&secs(2)));
    assert_eq!(policy.backoff.factor.known(), Some(&2.0));
    assert!(policy.backoff.cap.is_none());
    assert_eq!(policy.jitter.known(), Some(&Jitter::DECORRELATED));
    assert_eq!(policy.reads_retry_after.known(), Some(&true));
    assert_eq!(policy.methods.known(), Some(&Methods::Any));
    let breaker = policy.breaker.limit().unwrap();
    assert_eq!(breaker.ratio.as_ref().unwrap().known(), Some(&0.1));
    assert_eq!(breaker.minimum.as_ref().unwrap().known(), Some(&100));
    assert_eq!(breaker.window.as_ref().unwrap().known(), Some(&secs(30)));
    assert_eq!(breaker.open.as_ref().unwrap().known(), Some(&secs(5)));
    let retried = policy.retries_on.known().unwrap();
    for class in
        [Class::Connect, Class::Reset, Class::TryTimeout, Class::Overload, Class::ServerError, Class::RateLimited]
    {
        assert!(retried.contains(class), "{}", class.name());
    }
    assert!(!retried.contains(Class::ClientError) && !retried.contains(Class::BreakerOpen));
    assert_eq!(policy.names_classes, Classes::NONE);

    let limits = self::policy(r#""Retry": { "MaxRetryAttempts": 1 }, "CircuitBreaker": { "FailureRatio": 0.2 }"#);
    assert_eq!(limits.total.limit.limit(), Some(&secs(30)));
    assert_eq!(limits.attempt_timeout.limit(), Some(&secs(10)));
    assert_eq!(limits.tries(), Some(2));
}

#[test]
fn keys_have_no_case_and_may_be_flattened() {
    for text in [
        r#"{ "payments": { "retry": { "maxretryattempts": "5" }, "attempttimeout": { "timeout": "00:00:01" } } }"#,
        r#"{ "payments": { "Retry:MaxRetryAttempts": 5, "AttemptTimeout:Timeout": "00:00:01" } }"#,
        r#"{ "payments:Retry:MaxRetryAttempts": 5, "Payments:AttemptTimeout": { "Timeout": "00:00:01" } }"#,
    ] {
        let [policy] = policies(text).try_into().unwrap();
        assert_eq!(policy.tries(), Some(6), "{text}");
        assert_eq!(policy.attempt_timeout.limit(), Some(&secs(1)), "{text}");
        assert_eq!(&*policy.name, "payments", "{text}");
    }
}

#[test]
fn yaml_is_read_like_json() {
    let text = "
Clients:
  - Name: a
    Ledger:
      Retry: { MaxRetryAttempts: 4, BackoffType: Linear }
      AttemptTimeout: { Timeout: 00:00:01 }
";
    let [policy] = policies_in("config/app.yaml", &yaml::parse(FileId(0), text)).try_into().unwrap();
    assert_eq!(policy.tries(), Some(5));
    assert_eq!(policy.backoff.kind.known(), Some(&BackoffKind::Linear));
    assert_eq!(policy.jitter.known(), Some(&Jitter::proportional(0.25)));
    assert_eq!(policy.callee, Callee::Named(vec!["Ledger".into()]));
}

#[test]
fn an_address_beside_the_section_names_the_callee() {
    let text = r#"{ "HttpClients": { "Pay": { "BaseAddress": "http://payments.shop.svc:8080/v1", "Resilience": {
        "Retry": { "MaxRetryAttempts": 2 }, "AttemptTimeout": { "Timeout": "00:00:01" } } } } }"#;
    let [policy] = policies(text).try_into().unwrap();
    let Callee::Service { service, .. } = &policy.callee else { panic!("{:?}", policy.callee) };
    assert_eq!(service.host.display(), "payments.shop");
    assert_eq!(service.evidence, Evidence::Written);
}

#[test]
fn a_section_without_a_telling_name_has_no_callee() {
    let text =
        r#"{ "Resilience": { "Retry": { "MaxRetryAttempts": 2 }, "AttemptTimeout": { "Timeout": "00:00:01" } } }"#;
    let [policy] = policies(text).try_into().unwrap();
    assert!(matches!(policy.callee, Callee::Unknown(_)));
    // The address of something further out says nothing about this client.
    let text = r#"{ "Url": "http://web", "Shop": { "Payments": { "Resilience": {
        "Retry": { "MaxRetryAttempts": 2 }, "AttemptTimeout": { "Timeout": "00:00:01" } } } } }"#;
    let [policy] = policies(text).try_into().unwrap();
    assert_eq!(policy.callee, Callee::Named(vec!["Payments".into()]));
}

#[test]
fn a_retry_alone_leaves_its_timeouts_to_the_code() {
    let policy = policy(r#""Retry": { "MaxRetryAttempts": 5 }"#);
    assert_eq!(&*policy.name, "Payments:Retry");
    assert_eq!(policy.tries(), Some(6));
    assert_eq!(policy.backoff.kind.known(), Some(&BackoffKind::Exponential));
    assert_eq!(policy.total.limit.known(), None);
    assert_eq!(policy.attempt_timeout.known(), None);
    assert_eq!(policy.breaker.known(), None);
}

#[test]
fn a_retry_of_polly_itself_has_other_defaults() {
    let text = r#"{ "Polly": { "Payments": { "Retry": { "MaxRetryAttempts": 5 } } } }"#;
    let [policy] = policies(text).try_into().unwrap();
    assert_eq!(policy.tries(), Some(6));
    assert_eq!(policy.backoff.kind.known(), Some(&BackoffKind::Fixed));
    assert_eq!(policy.backoff.base.known(), Some(&secs(2)));
    assert_eq!(policy.jitter.known(), Some(&Jitter::NONE));
    assert!(!policy.jitter.is_written());
    assert_eq!(policy.jitter.default_by(), Some("Polly"));
    assert_eq!(policy.retries_on.known(), None);
    assert_eq!(policy.callee, Callee::Named(vec!["Payments".into()]));
}

#[test]
fn the_largest_integer_means_without_end() {
    let alone = policy(r#""Retry": { "MaxRetryAttempts": 2147483647 }"#);
    assert_eq!(alone.attempts.known(), Some(&Attempts::Unbounded));
    let standard =
        policy(r#""Retry": { "MaxRetryAttempts": 2147483647 }, "AttemptTimeout": { "Timeout": "00:00:05" }"#);
    assert_eq!(standard.attempts.known(), Some(&Attempts::ByTime));
}

#[test]
fn values_out_of_range_are_rejected_at_start_up() {
    let rejected = |section: &str| {
        let policy = policy(section);
        let [ineffective] = policy.ineffective.clone().try_into().unwrap();
        assert!(ineffective.rejected);
        (policy, ineffective)
    };
    let other = r#""AttemptTimeout": { "Timeout": "00:00:05" }"#;
    let (policy, zero) = rejected(&format!(r#""Retry": {{ "MaxRetryAttempts": 0 }}, {other}"#));
    assert_eq!(policy.tries(), None);
    assert_eq!(
        zero.message,
        "`MaxRetryAttempts: 0` is rejected when the application starts: it needs a number of retries from 1 on"
    );
    // No retry was wanted, so one is not the right number.
    assert_eq!(
        zero.help,
        "no number switches retries off; where none are wanted, leave the retry strategy out: `AddResilienceHandler` \
         without `AddRetry` instead of the standard handler, which always retries"
    );
    let (_, less) = rejected(&format!(r#""Retry": {{ "MaxRetryAttempts": -1 }}, {other}"#));
    assert_eq!(less.help, "`\"MaxRetryAttempts\": 1`");
    let (_, delay) = rejected(&format!(r#""Retry": {{ "UseJitter": true, "Delay": "2s" }}, {other}"#));
    assert!(delay.message.starts_with("`Delay: 2s` is rejected"), "{}", delay.message);
    assert_eq!(delay.help, "`\"Delay\": \"00:00:02\"`");
    let (policy, days) = rejected(r#""Retry": { "UseJitter": true }, "AttemptTimeout": { "Timeout": "30" }"#);
    assert!(days.message.ends_with("and a bare number counts days: 30 days"), "{}", days.message);
    assert_eq!(days.help, "`\"Timeout\": \"00:00:30\"`");
    assert_eq!(policy.attempt_timeout.known(), None);
    let (_, ratio) = rejected(&format!(r#""CircuitBreaker": {{ "FailureRatio": 50 }}, {other}"#));
    assert!(ratio.message.contains("a share from 0 to 1"), "{}", ratio.message);
    let (_, kind) = rejected(&format!(r#""Retry": {{ "BackoffType": "Fibonacci" }}, {other}"#));
    assert!(kind.message.contains("Constant, Linear or Exponential"), "{}", kind.message);
}

#[test]
fn an_attempt_must_fit_into_the_total_and_the_window_hold_two_of_them() {
    let text = r#""TotalRequestTimeout": { "Timeout": "00:00:05" }, "AttemptTimeout": { "Timeout": "00:00:08" }"#;
    let [total] = policy(text).ineffective.try_into().unwrap();
    assert_eq!(
        total.message,
        "the handler is rejected when the application starts: one try may take 8 s, all of them together 5 s"
    );
    assert_eq!(total.help, r#"`"TotalRequestTimeout": { "Timeout": "00:00:24" }`"#);

    let text = r#""TotalRequestTimeout": { "Timeout": "00:01:00" }, "AttemptTimeout": { "Timeout": "00:00:20" }"#;
    let [window] = policy(text).ineffective.try_into().unwrap();
    assert_eq!(
        window.message,
        "the handler is rejected when the application starts: `SamplingDuration` is 30 s (its default), less than two tries of 20 s"
    );
    assert_eq!(window.help, r#"`"CircuitBreaker": { "SamplingDuration": "00:00:40" }`"#);

    // Exactly twice as long, exactly as long: both are accepted.
    let text = r#""TotalRequestTimeout": { "Timeout": "00:00:15" }, "AttemptTimeout": { "Timeout": "00:00:15" }"#;
    assert_eq!(policy(text).ineffective, []);
}

#[test]
fn tokens_of_deployment_tools_are_unknown_and_not_rejected() {
    for token in ["#{Retries}#", "__Retries__", "${RETRIES}"] {
        let text =
            format!(r#""Retry": {{ "MaxRetryAttempts": "{token}" }}, "AttemptTimeout": {{ "Timeout": "00:00:05" }}"#);
        let policy = policy(&text);
        assert_eq!(policy.ineffective, []);
        assert!(policy.attempts.why().is_some());
    }
}

#[test]
fn an_overlay_does_not_bring_the_defaults() {
    let text = r#"{ "Payments": { "Retry": { "MaxRetryAttempts": 9 }, "AttemptTimeout": { "Timeout": "00:00:05" } } }"#;
    let tree = json::parse(FileId(0), text);
    let [policy] = policies_in("src/appsettings.Production.json", &tree).try_into().unwrap();
    assert_eq!(policy.tries(), Some(10));
    assert_eq!(policy.confidence, Confidence::Low);
    assert_eq!(policy.total.limit.known(), None);
    assert_eq!(policy.jitter.known(), None);
    let [base] = policies_in("src/appsettings.json", &tree).try_into().unwrap();
    assert_eq!(base.total.limit.known(), Some(&Limit::At(secs(30))));
}

#[test]
fn other_systems_with_similar_keys_are_left_alone() {
    for text in [
        // MicroProfile Fault Tolerance.
        "Shop: { Retry: { maxRetries: 3, delay: 200 }, CircuitBreaker: { failureRatio: 0.5 } }",
        // Resilience4j.
        "resilience4j: { retry: { instances: { a: { maxAttempts: 3 } } }, circuitbreaker: { instances: { a: {} } } }",
        // Some program's own retry, in its own case.
        "payments: { retry: { maxRetryAttempts: 3 } }",
        // A Kubernetes object.
        "apiVersion: example.org/v1\nkind: Client\nspec: { Retry: { MaxRetryAttempts: 3 }, AttemptTimeout: { Timeout: 5s } }",
        // One section of five, and none of it about retrying.
        "Payments: { TotalRequestTimeout: { Timeout: '00:00:05' } }",
        "Payments: { CircuitBreaker: { Enabled: true }, Retry: { Enabled: true } }",
        "Retry: 3\nTotalRequestTimeout: 5\nAttemptTimeout: 2",
    ] {
        assert_eq!(policies_in("config.yaml", &yaml::parse(FileId(0), text)), [], "{text}");
    }
    assert!(policies(r#"{ "Logging": { "LogLevel": { "Default": "Information" } } }"#).is_empty());
}

#[test]
fn two_clients_are_two_policies_and_an_alias_bomb_is_small() {
    let section = r#"{ "Retry": { "MaxRetryAttempts": 2 }, "AttemptTimeout": { "Timeout": "00:00:01" } }"#;
    assert_eq!(policies(&format!(r#"{{ "A": {section}, "B": {section} }}"#)).len(), 2);
    let mut bomb = "a0: &a0 { Retry: { MaxRetryAttempts: 2 } }\n".to_string();
    for i in 1..10 {
        let before = i - 1;
        bomb.push_str(&format!("a{i}: &a{i} {{ x: *a{before}, y: *a{before}, z: *a{before} }}\n"));
    }
    assert_eq!(policies_in("a.yaml", &yaml::parse(FileId(0), &bomb)).len(), 1);
}

#[test]
fn no_cut_of_a_file_makes_the_reader_panic() {
    for end in (0..WHOLE.len()).filter(|end| WHOLE.is_char_boundary(*end)) {
        // YAML reads most of what JSON refuses.
        for document in yaml::parse(FileId(0), &WHOLE[..end]).documents().filter(|document| recognises(*document)) {
            let context = Context { file: FileId(0), path: "a.yaml", settings: &ReadSettings::default() };
            read(document, &context, &mut Facts::default());
        }
    }
}

#[test]
fn the_options_of_the_documentation_are_read() {
    let text =
        r#"{ "RetryOptions": { "Retry": { "BackoffType": "Linear", "UseJitter": false, "MaxRetryAttempts": 3 } } }"#;
    let [policy] = policies(text).try_into().unwrap();
    assert_eq!(policy.tries(), Some(4));
    assert_eq!(policy.backoff.kind.known(), Some(&BackoffKind::Linear));
    assert_eq!(policy.jitter.known(), Some(&Jitter::NONE));
    assert!(matches!(policy.callee, Callee::Unknown(_)));
}
