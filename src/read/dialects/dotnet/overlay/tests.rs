use super::*;
use crate::facts::{BackoffKind, Confidence, FileKind, Nanos, Role};
use crate::read::data::json;
use crate::read::{Context, ReadSettings};
use crate::source::FileId;

const BASE: &str = r#"{ "Catalog": {
    "Retry": { "MaxRetryAttempts": 5, "UseJitter": true, "BackoffType": "Exponential", "Delay": "00:00:01" },
    "AttemptTimeout": { "Timeout": "00:00:02" }, "TotalRequestTimeout": { "Timeout": "00:01:00" },
    "CircuitBreaker": { "FailureRatio": 0.5, "SamplingDuration": "00:00:20" } } }"#;

/// The policies of files, each with its environment, as they are once all are read.
fn read(files: &[(&str, Option<&str>, &str)]) -> Vec<Policy> {
    let mut facts = Facts::default();
    for (number, (path, environment, text)) in files.iter().enumerate() {
        let file = FileId(number as u32);
        let environment = environment.map(std::sync::Arc::from);
        let mut own = Facts::default();
        for document in json::parse(file, text).documents().filter(|document| super::super::recognises(*document)) {
            let context = Context { file, path, settings: &ReadSettings::default() };
            super::super::read(document, &context, &mut own);
        }
        own.stamp(environment.as_ref(), Role::Production);
        facts.policies.extend(own.policies);
        let (path, kind, role) = ((*path).into(), FileKind::Json, Role::Production);
        facts.files.push(File { path, kind, environment, role, named: false, told_by: None });
    }
    finish(&mut facts);
    facts.policies
}

fn both(over: &str) -> [Policy; 2] {
    let over = format!(r#"{{ "Catalog": {over} }}"#);
    let files = [("web/appsettings.json", None, BASE), ("web/appsettings.Production.json", Some("production"), &*over)];
    read(&files).try_into().unwrap()
}

fn secs(n: u64) -> Nanos {
    Nanos::from_secs(n)
}

#[test]
fn what_an_environments_file_says_holds_and_the_rest_is_its_bases() {
    let [base, production] = both(r#"{ "Retry": { "MaxRetryAttempts": 1 } }"#);
    assert_eq!((base.tries(), &base.replaced_in[..]), (Some(6), &["production".into()][..]));
    assert_eq!(production.environment.as_deref(), Some("production"));
    assert_eq!((production.tries(), production.confidence), (Some(2), Confidence::High));
    assert_eq!(production.attempts.span().unwrap().file, FileId(1));
    assert_eq!(production.site().file, FileId(1));
    assert_eq!(production.count.as_ref().unwrap().written, 1);
    assert_eq!(production.attempt_timeout, base.attempt_timeout);
    assert_eq!(production.total.limit, base.total.limit);
    assert_eq!(production.backoff, base.backoff);
    assert_eq!(production.jitter.value, base.jitter.value);
    assert_eq!(production.breaker, base.breaker);
    assert_eq!(production.name, base.name);
    assert!(production.replaced_in.is_empty());
}

#[test]
fn each_setting_is_laid_over_by_itself() {
    let over = r#"{ "Retry": { "BackoffType": "Linear", "Delay": "00:00:03" }, "AttemptTimeout": { "Timeout": "00:00:04" },
        "CircuitBreaker": { "FailureRatio": 0.2 } }"#;
    let [base, production] = both(over);
    assert_eq!(production.tries(), Some(6));
    assert_eq!(production.site(), base.site());
    assert_eq!(production.backoff.kind.known(), Some(&BackoffKind::Linear));
    assert_eq!(production.backoff.base.known(), Some(&secs(3)));
    assert_eq!(production.attempt_timeout.limit(), Some(&secs(4)));
    assert_eq!(production.total.limit.limit(), Some(&secs(60)));
    // The switch is the base's, what it means goes by how delays grow now.
    assert_eq!(base.jitter.known(), Some(&Jitter::DECORRELATED));
    assert_eq!(production.jitter.known(), Some(&Jitter::proportional(0.25)));
    let breaker = production.breaker.limit().unwrap();
    assert_eq!(breaker.ratio.as_ref().unwrap().known(), Some(&0.2));
    assert_eq!(breaker.window.as_ref().unwrap().known(), Some(&secs(20)));
}

#[test]
fn a_switch_for_jitter_is_laid_over_too() {
    let [_, off] = both(r#"{ "Retry": { "UseJitter": false } }"#);
    assert_eq!(off.jitter.known(), Some(&Jitter::NONE));
    let [_, on] = both(r#"{ "Retry": { "UseJitter": true } }"#);
    assert_eq!(on.jitter.known(), Some(&Jitter::DECORRELATED));
}

#[test]
fn what_the_environment_is_given_from_outside_is_unknown_there() {
    let [base, production] = both(r##"{ "Retry": { "MaxRetryAttempts": "#{Retries}#" } }"##);
    assert_eq!(base.tries(), Some(6));
    assert!(production.attempts.why().is_some());
    assert_eq!(production.count, None);
    assert_eq!(production.attempt_timeout, base.attempt_timeout);
}

#[test]
fn what_the_environment_mends_is_not_rejected_there() {
    let base = r#"{ "Catalog": { "Retry": { "MaxRetryAttempts": 0 }, "AttemptTimeout": { "Timeout": "00:00:02" } } }"#;
    let over = |retries: u32| format!(r#"{{ "Catalog": {{ "Retry": {{ "MaxRetryAttempts": {retries} }} }} }}"#);
    let rejected = |over: &str| {
        let files = [("appsettings.json", None, base), ("appsettings.Staging.json", Some("staging"), over)];
        read(&files).iter().map(|policy| policy.ineffective.len()).collect::<Vec<_>>()
    };
    assert_eq!(rejected(&over(2)), [1, 0]);
    assert_eq!(rejected(r#"{ "Catalog": { "Retry": { "UseJitter": true } } }"#), [1, 1]);
}

#[test]
fn other_folders_sections_and_environments_stay_apart() {
    let over = r#"{ "Catalog": { "Retry": { "MaxRetryAttempts": 1 } } }"#;
    let other = r#"{ "Orders": { "Retry": { "MaxRetryAttempts": 1 } } }"#;
    for (path, environment, text) in [
        ("cart/appsettings.Production.json", Some("production"), over),
        ("web/appsettings.Production.json", Some("production"), other),
        // Whether this file is ever read nobody says.
        ("web/appsettings.Acme.json", None, over),
    ] {
        let policies = read(&[("web/appsettings.json", None, BASE), (path, environment, text)]);
        assert!(policies[0].replaced_in.is_empty(), "{path}");
        assert_eq!((policies[1].tries(), policies[1].confidence), (Some(2), Confidence::Low), "{path}");
    }
    let files = [
        ("envs/prod/appsettings.json", Some("prod"), BASE),
        ("envs/prod/appsettings.Staging.json", Some("staging"), over),
    ];
    assert!(read(&files)[0].replaced_in.is_empty());
}

#[test]
fn several_environments_have_a_policy_each() {
    let over = |retries: u32| format!(r#"{{ "Catalog": {{ "Retry": {{ "MaxRetryAttempts": {retries} }} }} }}"#);
    let (staging, production) = (over(1), over(2));
    let policies = read(&[
        ("appsettings.Production.json", Some("production"), &production),
        ("appsettings.Staging.json", Some("staging"), &staging),
        ("appsettings.json", None, BASE),
    ]);
    assert_eq!(policies.iter().map(|policy| policy.tries()).collect::<Vec<_>>(), [Some(3), Some(2), Some(6)]);
    assert_eq!(policies[2].replaced_in, ["production".into(), "staging".into()]);
}
