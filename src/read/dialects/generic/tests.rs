use super::*;
use crate::facts::{
    Attempts, BackoffKind, Class, Classes, Confidence, Counts, Dialect, Jitter, JitterAt, Nanos, Policy, PolicyKind,
};
use crate::read::ReadSettings;
use crate::read::data::{json, toml, tree::Tree, yaml};
use crate::source::FileId;

fn policies_of(path: &str, tree: &Tree) -> Vec<Policy> {
    assert_eq!(tree.errors, []);
    let mut facts = Facts::default();
    let context = Context { file: FileId(0), path, settings: &ReadSettings::default() };
    for document in tree.documents().filter(|document| recognises(*document)) {
        read(document, &context, &mut facts);
    }
    facts.policies
}

fn policies_in(path: &str, text: &str) -> Vec<Policy> {
    policies_of(path, &yaml::parse(FileId(0), text))
}

fn policies(text: &str) -> Vec<Policy> {
    policies_in("config/app.yaml", text)
}

fn policy(settings: &str) -> Policy {
    let [policy] = policies(&format!("payments: {{ retry: {{ {settings} }} }}")).try_into().unwrap();
    policy
}

#[test]
fn retry_settings_are_a_policy_of_low_confidence() {
    let text = "clients:\n  payments:\n    retry: { attempts: 3, delay: 250ms }\n";
    let [policy] = policies(text).try_into().unwrap();
    assert_eq!(&*policy.name, "clients.payments.retry");
    assert_eq!((policy.dialect, policy.kind), (Dialect::Generic, PolicyKind::Config));
    assert_eq!(policy.confidence, Confidence::Low);
    assert_eq!(policy.source, "generic");
    assert_eq!(policy.tries(), Some(3));
    assert_eq!(&text[policy.site().range()], "3");
    assert_eq!(policy.backoff.base.known(), Some(&Nanos::from_millis(250)));
    assert_eq!(policy.callee, Callee::Named(vec!["payments".into()]));
    // What is not written is unknown, not absent.
    assert_eq!(policy.backoff.kind.known(), None);
    assert_eq!(policy.jitter.known(), None);
    assert_eq!(policy.total.limit.known(), None);
    assert_eq!(policy.retries_on.known(), None);
    assert_eq!(policy.budget.known(), None);
}

/// [T-01]: Resilience4j's `maxAttempts: 3` are three tries.
#[test]
fn attempts_count_all_tries_and_retries_those_after_the_first() {
    for (count, tries, counts) in [
        ("attempts: 3", 3, Counts::Attempts),
        ("maxAttempts: 3", 3, Counts::Attempts),
        ("max_attempts: 3", 3, Counts::Attempts),
        ("max-attempts: \"3\"", 3, Counts::Attempts),
        ("retries: 3", 4, Counts::Retries),
        ("maxRetries: 3", 4, Counts::Retries),
        ("max_retries: 3", 4, Counts::Retries),
        ("retries: 0", 1, Counts::Retries),
        ("attempts: 0", 1, Counts::Attempts),
    ] {
        let policy = policy(&format!("{count}, delay: 1s"));
        assert_eq!(policy.tries(), Some(tries), "{count}");
        assert_eq!(policy.count.unwrap().counts, counts, "{count}");
    }
    assert_eq!(policy("retries: unlimited, delay: 1s").attempts.known(), Some(&Attempts::Unbounded));
    assert_eq!(policy("retries: unlimited, delay: 1s, deadline: 5m").attempts.known(), Some(&Attempts::ByTime));
    assert_eq!(policy("retries: -1, delay: 1s").attempts.known(), None);
    assert_eq!(policy("attempts: 3, retries: 3, delay: 1s").attempts.known(), None);
}

#[test]
fn json_and_toml_are_read_like_yaml() {
    let json = r#"{ "payments": { "retry": { "maxRetries": 2, "delayMs": 100 } } }"#;
    let toml = "[payments.retry]\nmax_retries = 2\ndelay_ms = 100\n";
    for tree in [json::parse(FileId(0), json), toml::parse(FileId(0), toml)] {
        let [policy] = policies_of("config/app", &tree).try_into().unwrap();
        assert_eq!(policy.tries(), Some(3));
        assert_eq!(policy.backoff.base.known(), Some(&Nanos::from_millis(100)));
    }
}

#[test]
fn a_number_without_a_unit_is_an_unknown_time() {
    assert_eq!(policy("attempts: 3, delay: 5").backoff.base.known(), None);
    assert_eq!(policy("attempts: 3, delay_seconds: 1.5").backoff.base.known(), Some(&Nanos::from_millis(1500)));
    assert_eq!(policy("attempts: 3, delay: 0").backoff.base.known(), Some(&Nanos::ZERO));
}

#[test]
fn growth_and_jitter_are_taken_where_they_are_told() {
    let policy =
        policy("attempts: 3, backoff: exponential, initialDelay: 1s, maxDelay: 30s, multiplier: 3, jitter: full");
    assert_eq!(policy.backoff.kind.known(), Some(&BackoffKind::Exponential));
    assert_eq!(policy.backoff.cap.limit(), Some(&Nanos::from_secs(30)));
    assert_eq!(policy.backoff.factor.known(), Some(&3.0));
    assert_eq!(policy.jitter.known(), Some(&Jitter::FULL));

    let nested = self::policy("attempts: 3, backoff: { type: fixed, initial: 2s, jitter: 0.2 }");
    assert_eq!(nested.backoff.kind.known(), Some(&BackoffKind::Fixed));
    assert_eq!(nested.backoff.base.known(), Some(&Nanos::from_secs(2)));
    let fifth = nested.jitter.known().unwrap();
    assert_eq!((fifth.low, fifth.high, fifth.at), (0.8, 1.2, JitterAt::AfterCap));

    assert_eq!(self::policy("attempts: 3, backoff: 100ms").backoff.base.known(), Some(&Nanos::from_millis(100)));
    assert_eq!(self::policy("attempts: 3, jitter: false").jitter.known(), Some(&Jitter::NONE));
    assert_eq!(self::policy("attempts: 3, jitter: true").jitter.known(), None);
}

#[test]
fn timeouts_are_taken_where_it_is_told_which() {
    let policy = policy("attempts: 3, perTryTimeout: 2s, totalTimeout: 10s");
    assert_eq!(policy.attempt_timeout.limit(), Some(&Nanos::from_secs(2)));
    assert_eq!(policy.total.limit.limit(), Some(&Nanos::from_secs(10)));
    let either = self::policy("attempts: 3, timeout: 2s");
    assert_eq!(either.attempt_timeout.known(), None);
    assert_eq!(either.total.limit.known(), None);
}

#[test]
fn classes_are_taken_if_all_of_them_are_known() {
    let on = |list: &str| policy(&format!("attempts: 3, on: {list}")).retries_on.known().copied();
    assert_eq!(on("[503, 429]"), Some(Classes::of(&[Class::Overload, Class::RateLimited])));
    assert_eq!(on("[503, gateway-error]"), None);
    assert_eq!(on("[]"), None);
}

#[test]
fn a_client_around_it_makes_a_count_enough_and_names_the_callee() {
    let [policy] =
        policies("upstream: { url: \"http://ledger.bank.svc:80\", retry: { attempts: 3 } }").try_into().unwrap();
    let Callee::Service { service, .. } = &policy.callee else { panic!("{:?}", policy.callee) };
    assert_eq!(service.host.display(), "ledger.bank");
    assert_eq!(policies("upstream: { client: payments, retry: { attempts: 3 } }").len(), 1);
    // The same without anything that shows a request.
    assert_eq!(policies("upstream: { color: red, retry: { attempts: 3 } }"), []);
    assert_eq!(policies("retry: { attempts: 3 }"), []);
}

#[test]
fn a_templated_count_is_unknown() {
    let policy = policy("attempts: \"${RETRIES:-3}\", delay: 1s");
    assert!(policy.attempts.why().is_some());
}

#[test]
fn what_is_switched_off_is_no_policy() {
    assert_eq!(policies("a: { retry: { enabled: false, attempts: 3, delay: 1s } }"), []);
    assert_eq!(policies("a: { retry: { enabled: true, attempts: 3, delay: 1s } }").len(), 1);
}

#[test]
fn words_that_only_look_like_retrying_stay_silent() {
    for text in [
        // GitLab CI.
        "test: { script: [make], retry: { max: 2, when: [runner_system_failure] } }",
        "test: { script: [make], retry: 3 }",
        // Buildkite.
        "steps: [ { command: make, retry: { automatic: { limit: 2 } } } ]",
        "steps: [ { command: make, retry: { attempts: 2, delay: 1s } } ]",
        // GitHub workflow.
        "on: push\njobs: { build: { steps: [ { uses: x/retry, with: { max_attempts: 3, timeout_minutes: 5 } } ] } }",
        "on: push\njobs: { build: { retry: { attempts: 3, delay: 1s } } }",
        // Ansible: a list of plays.
        "- hosts: all\n  tasks: [ { name: wait, retries: 5, delay: 10, until: x } ]",
        // Compose.
        "services: { db: { image: postgres, healthcheck: { retries: 5, interval: 10s, timeout: 5s } } }",
        "services: { db: { image: postgres, deploy: { restart_policy: { max_attempts: 3, delay: 5s } } } }",
        "services: { db: { image: postgres, retry: { attempts: 3, delay: 5s } } }",
        // Kubernetes objects of any kind: Argo, Tekton, Dapr, a VirtualService.
        "apiVersion: dapr.io/v1alpha1\nkind: Resiliency\nspec: { policies: { retry: { maxRetries: 3, duration: 5s, delay: 1s } } }",
        "httpRoutes: [ { apiVersion: x/v1, kind: HTTPRoute, spec: { rules: [ { retry: { attempts: 3, backoff: 1s } } ] } } ]",
        // An API description and a schema.
        "openapi: 3.0.0\nx-gateway: { retry: { attempts: 3, delay: 1s } }",
        "type: object\nproperties: { retry: { properties: { attempts: { type: integer }, delay: { type: string } } } }",
        "$schema: x\nproperties: { retry: { attempts: 3, delay: 1s } }",
        "retry: { attempts: { type: integer }, delay: { type: string } }",
        // A state machine.
        "StartAt: a\nStates: { a: { Retry: [ { MaxAttempts: 3, IntervalSeconds: 1 } ] } }",
        // Renovate.
        "packageRules: []\nretry: { attempts: 3, delay: 1s }",
        // Envoy's cap on parallel retries, and host selection.
        "circuit_breakers: { thresholds: [ { max_retries: 3, max_connections: 100 } ] }",
        "outlier: { maxRetries: 3, timeout: 1s }",
        "retry: { host_selection_retry_max_attempts: 5, delay: 1s }",
        // Texts about retrying, a flag, a bare number.
        "messages: { retry: { attempts: \"Attempts left\", delay: \"Please wait\" } }",
        "retry: { enabled: true, delay: 1s }",
        "retry: 3",
        "jobs: { retries: 3 }",
    ] {
        assert_eq!(policies(text), [], "{text}");
    }
}

#[test]
fn files_of_other_tools_stay_silent() {
    let text = "job: { retry: { attempts: 3, delay: 1s } }";
    assert_eq!(policies_in("config/app.yaml", text).len(), 1);
    for path in [
        ".gitlab-ci.yml",
        "ci/.gitlab-ci.d.yml",
        ".circleci/config.yml",
        ".buildkite/pipeline.yml",
        ".github/workflows/ci.yml",
        "ansible/group_vars/all.yml",
        "deploy/docker-compose.prod.yml",
        "compose.yaml",
        "renovate.json",
        "package.json",
        "charts/shop/values.schema.json",
        "retrylint.toml",
        ".config/nextest.toml",
        "locales/en.yaml",
        "azure-pipelines.yml",
    ] {
        assert_eq!(policies_in(path, text), [], "{path}");
    }
    // Helm values are settings of a program like any other.
    assert_eq!(policies_in("charts/shop/values.yaml", text).len(), 1);
}

#[test]
fn settings_come_in_the_order_written_and_lists_are_numbered() {
    let text = "sinks:\n  - retry: { attempts: 2, delay: 1s }\n  - retry: { attempts: 3, delay: 1s }\nz: { retry_policy: { attempts: 4, delay: 1s } }\n";
    let found = policies(text);
    let names: Vec<&str> = found.iter().map(|policy| &*policy.name).collect();
    assert_eq!(names, ["sinks[0].retry", "sinks[1].retry", "z.retry_policy"]);
}

#[test]
fn depth_costs_no_stack_and_aliases_no_time() {
    let mut bomb = "a0: &a0 { retry: { attempts: 2, delay: 1s } }\n".to_string();
    for i in 1..10 {
        let before = i - 1;
        bomb.push_str(&format!("a{i}: &a{i} {{ x: *a{before}, y: *a{before}, z: *a{before} }}\n"));
    }
    assert_eq!(policies(&bomb).len(), 1);
}

#[test]
fn no_cut_of_a_file_makes_the_reader_panic() {
    let text =
        "a: { url: x, retry: { attempts: 3, backoff: { type: exponential, max: 30s }, jitter: 0.2, on: [503] } }";
    for end in 0..text.len() {
        for document in yaml::parse(FileId(0), &text[..end]).documents().filter(|document| recognises(*document)) {
            let context = Context { file: FileId(0), path: "a.yaml", settings: &ReadSettings::default() };
            read(document, &context, &mut Facts::default());
        }
    }
}

/// A template may hold the same key in many branches, and a file may simply repeat it. What stands around them is looked at
/// once: with 50,000 of them the square would take hours.
#[test]
fn settings_beside_one_another_cost_their_number() {
    let text = format!("url: http://payments\n{}", "retry: { attempts: 3 }\n".repeat(50_000));
    let found = policies(&text);
    assert_eq!(found.len(), 50_000);
    assert!(found.iter().all(|policy| matches!(policy.callee, Callee::Service { .. })));
    assert_eq!(policies(&text.replace("url", "note")).len(), 0);
}
