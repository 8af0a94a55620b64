use super::*;
use crate::facts::{
    Attempts, BackoffKind, BudgetBase, Callee, Caller, Class, Classes, Counts, Floor, Jitter, JitterAt, Limit, Nanos,
    Place, Policy, PolicyKind, Position, Protocol, Purpose, Why,
};
use crate::read::ReadSettings;
use crate::read::data::{json, toml, tree::Tree, yaml};
use crate::source::FileId;

fn facts_of(tree: &Tree) -> Facts {
    assert_eq!(tree.errors, []);
    let mut facts = Facts::default();
    let context = Context { file: FileId(0), path: "services.yaml", settings: &ReadSettings::default() };
    for document in tree.documents() {
        assert!(recognises(document));
        read(document, &context, &mut facts);
    }
    facts
}

fn facts(text: &str) -> Facts {
    facts_of(&yaml::parse(FileId(0), text))
}

/// The facts of one call from web with these further fields, which must be without problems.
fn policy(fields: &str) -> Policy {
    let facts = facts(&format!("services: {{ web: {{ calls: [ {{ to: shop, {fields} }} ] }} }}"));
    assert_eq!(facts.problems, []);
    facts.policies.into_iter().next().unwrap()
}

/// The problems of one call from web with these further fields: the text at fault and what is said.
fn problems(fields: &str) -> Vec<(String, String)> {
    problems_in(&format!("services: {{ web: {{ calls: [ {{ to: shop, {fields} }} ] }} }}"))
}

fn problems_in(text: &str) -> Vec<(String, String)> {
    let problems = facts(text).problems.into_iter();
    problems.map(|problem| (text[problem.span.range()].to_string(), problem.message)).collect()
}

fn is_recognised(text: &str) -> bool {
    yaml::parse(FileId(0), text).documents().any(recognises)
}

const EXAMPLE: &str = "\
services:
  web:
    rate: 500/s
    calls:
      - to: checkout
        per-request: 1
        retry: { attempts: 3, backoff: exponential, base: 100ms, cap: 2s, jitter: full }
        timeout: { attempt: 2s, total: 8s }
        budget: { ratio: 0.1, floor: 3/s }
  checkout:
    capacity: 800/s
    pool: 50
    calls:
      - { to: payments, policy: standard }
policies:
  standard: { retry: { retries: 2, backoff: fixed, base: 1s }, breaker: { ratio: 0.5 } }
";

#[test]
fn a_call_with_all_its_settings_is_a_call_and_a_policy() {
    let facts = facts(EXAMPLE);
    assert_eq!(facts.problems, []);
    assert_eq!(facts.calls.len(), 2);
    assert_eq!(facts.policies.len(), 2);
    let call = &facts.calls[0];
    assert_eq!(call.caller.service().unwrap().host.display(), "web");
    assert_eq!(call.callee.service().unwrap().host.display(), "checkout");
    assert_eq!(call.per_request.known(), Some(&1.0));
    assert!(call.per_request.is_written());
    assert!(!facts.calls[1].per_request.is_written());
    assert_eq!(call.source, CallSource::Manifest);

    let policy = &facts.policies[0];
    assert_eq!(policy.calls, [CallId(0)]);
    assert_eq!(&*policy.name, "web → checkout");
    assert_eq!(policy.kind, PolicyKind::Config);
    assert_eq!(policy.position, Position::CallerCode);
    assert_eq!(policy.source, "manifest");
    assert_eq!(policy.attempts.known(), Some(&Attempts::Times(3)));
    assert_eq!(&EXAMPLE[policy.site().range()], "3");
    assert!(EXAMPLE[policy.span.range()].starts_with("{ attempts: 3"));
    assert_eq!(policy.backoff.kind.known(), Some(&BackoffKind::Exponential));
    assert_eq!(policy.backoff.base.known(), Some(&Nanos::from_millis(100)));
    assert_eq!(policy.backoff.factor.known(), Some(&2.0));
    assert_eq!(policy.backoff.cap.limit(), Some(&Nanos::from_secs(2)));
    assert_eq!(policy.jitter.known(), Some(&Jitter::FULL));
    assert_eq!(policy.attempt_timeout.limit(), Some(&Nanos::from_secs(2)));
    assert_eq!(policy.total.limit.limit(), Some(&Nanos::from_secs(8)));
    assert_eq!(policy.retries_on.known(), Some(&Classes::ALL));
    let budget = policy.budget.limit().unwrap();
    assert_eq!(budget.ratio.known(), Some(&0.1));
    assert_eq!(budget.floor.known(), Some(&Floor::PerSecond(3.0)));
    assert_eq!(budget.base, BudgetBase::Originals);
    assert!(matches!(&policy.caller, Caller::Service(service) if service.host.display() == "web"));
    assert!(matches!(&policy.callee, Callee::Service { service, .. } if service.host.display() == "checkout"));
}

#[test]
fn services_carry_what_is_known_of_them() {
    let facts = facts(EXAMPLE);
    assert_eq!(facts.services.len(), 2);
    assert_eq!(&*facts.services[0].name, "web");
    assert_eq!(&EXAMPLE[facts.services[0].span.range()], "web");
    assert_eq!(facts.services[0].rate.as_ref().unwrap().known(), Some(&500.0));
    assert_eq!(facts.services[1].capacity.as_ref().unwrap().known(), Some(&800.0));
    assert_eq!(facts.services[1].pool.as_ref().unwrap().known(), Some(&50));
    assert_eq!(facts.services[1].source, ServiceSource::Manifest);
}

#[test]
fn a_named_policy_is_taken_and_shows_its_own_lines() {
    let facts = facts(EXAMPLE);
    let policy = &facts.policies[1];
    assert_eq!(policy.calls, [CallId(1)]);
    assert_eq!(policy.tries(), Some(3));
    assert_eq!(policy.count.as_ref().unwrap().counts, Counts::Retries);
    assert_eq!(&*policy.name, "policies.standard");
    assert!(EXAMPLE[policy.span.range()].starts_with("{ retries: 2"));
    assert_eq!(policy.breaker.limit().unwrap().ratio.as_ref().unwrap().known(), Some(&0.5));
}

#[test]
fn what_a_call_says_itself_beats_its_named_policy() {
    let facts = facts(
        "services: { web: { calls: [ { to: shop, policy: p, retry: { attempts: 5 } } ] } }
policies: { p: { retry: { attempts: 2 }, timeout: { total: 3s }, layer: gateway } }",
    );
    let policy = &facts.policies[0];
    assert_eq!(policy.tries(), Some(5));
    assert_eq!(policy.total.limit.limit(), Some(&Nanos::from_secs(3)));
    assert_eq!(policy.position, Position::Gateway);
    assert_eq!(&*policy.name, "web → shop");
}

#[test]
fn json_and_toml_are_read_like_yaml() {
    let json = r#"{ "services": { "web": { "calls": [ { "to": "shop", "retry": { "retries": 2 } } ] } } }"#;
    let toml = "[services.web]\ncalls = [ { to = \"shop\", retry = { retries = 2 } } ]\n";
    for facts in [facts_of(&json::parse(FileId(0), json)), facts_of(&toml::parse(FileId(0), toml))] {
        assert_eq!(facts.problems, []);
        assert_eq!(facts.policies[0].tries(), Some(3));
        assert_eq!(facts.calls[0].callee.service().unwrap().host.display(), "shop");
    }
}

#[test]
fn a_compose_file_is_no_manifest() {
    assert!(!is_recognised("services: { db: { image: postgres, healthcheck: { retries: 5 } } }"));
    assert!(!is_recognised("services: { web: { depends_on: [db], deploy: { restart_policy: { max_attempts: 3 } } } }"));
    assert!(!is_recognised("services: [ { calls: [] } ]"));
    assert!(!is_recognised("services: { web: { calls: 3 } }"));
    assert!(!is_recognised("web: { calls: [ { to: db } ] }"));
    assert!(!is_recognised("services: { web: { calls: [incoming, outgoing] } }"));
    assert!(!is_recognised("services: { web: { calls: [incoming] }, cart: { calls: [outgoing] } }"));
    assert!(is_recognised("services: { db: {}, web: { calls: [] } }"));
}

#[test]
fn a_call_of_which_nothing_else_is_known_is_a_mere_name() {
    let text = "services: { web: { calls: [checkout, { to: mail }, ledger.bank, localhost, [x]] }, checkout: {} }";
    let facts = facts(text);
    let calls: Vec<_> = facts
        .calls
        .iter()
        .map(|call| (call.callee.service().unwrap().host.display(), &text[call.span.range()]))
        .collect();
    assert_eq!(
        calls,
        [
            ("checkout".to_string(), "checkout"),
            ("mail".to_string(), "{ to: mail }"),
            ("ledger.bank".to_string(), "ledger.bank"),
        ]
    );
    assert_eq!(facts.calls[0].callee.service().unwrap().at, Some(facts.calls[0].span));
    let told: Vec<String> = problems_in(text).into_iter().map(|(at, _)| at).collect();
    assert_eq!(told, ["localhost", "[x]"]);
}

#[test]
fn counts_are_converted_and_a_contradiction_is_told() {
    assert_eq!(policy("retry: { retries: 0 }").tries(), Some(1));
    assert_eq!(policy("retry: { attempts: 3, retries: 2 }").tries(), Some(3));
    assert_eq!(policy("retry: { attempts: unbounded }").attempts.known(), Some(&Attempts::Unbounded));
    let by_time = policy("retry: { attempts: unbounded }, timeout: { total: 15m }");
    assert_eq!(by_time.attempts.known(), Some(&Attempts::ByTime));

    let text = "services: { web: { calls: [ { to: shop, retry: { attempts: 3, retries: 3 } } ] } }";
    let facts = facts(text);
    assert_eq!(facts.policies[0].tries(), None);
    assert!(facts.policies[0].attempts.why().is_some());
    let [(at, message)] = problems_in(text).try_into().unwrap();
    assert_eq!(at, "3");
    assert!(message.starts_with("`attempts: 3` and `retries: 3` contradict each other"), "{message}");
}

#[test]
fn a_count_that_is_no_count_is_unknown_and_told() {
    for (fields, at) in [
        ("retry: { attempts: 0 }", "0"),
        ("retry: { attempts: many }", "many"),
        ("retry: { retries: -1 }", "-1"),
        ("retry: { attempts: [3] }", "[3]"),
        ("retry: { backoff: none }", "{ backoff: none }"),
    ] {
        let [(found, _)] = problems(fields).try_into().unwrap();
        assert_eq!(found, at, "{fields}");
    }
    let retry = facts("services: { web: { calls: [ { to: shop, retry: { attempts: many } } ] } }");
    assert!(matches!(retry.policies[0].attempts.why(), Some(Why::Malformed { .. })));
}

#[test]
fn a_count_from_the_environment_is_unknown_and_no_problem() {
    let policy = policy("retry: { attempts: \"${RETRIES}\" }");
    assert_eq!(policy.attempts.why(), Some(&Why::Environment("RETRIES".into())));
}

#[test]
fn what_the_manifest_does_not_mention_is_unknown_and_what_it_leaves_out_has_a_default() {
    let bare = policy("retry: { attempts: 3 }");
    assert_eq!(bare.backoff.kind.known(), None);
    assert_eq!(bare.jitter.known(), None);
    assert_eq!(bare.attempt_timeout.known(), None);
    assert_eq!(bare.total.limit.known(), None);
    assert!(bare.budget.is_none());

    let told = policy("retry: { attempts: 3, backoff: exponential, base: 1s }, timeout: { attempt: 1s }");
    assert!(told.backoff.cap.is_none());
    assert_eq!(told.jitter.known(), Some(&Jitter::NONE));
    assert!(told.total.limit.is_none());

    let none = policy("retry: { attempts: 3, backoff: none }, timeout: none");
    assert_eq!(none.backoff.kind.known(), Some(&BackoffKind::None));
    assert_eq!(none.backoff.base.known(), Some(&Nanos::ZERO));
    assert!(none.attempt_timeout.is_none() && none.total.limit.is_none());
    assert!(none.total.limit.is_written());
}

#[test]
fn jitter_has_its_forms() {
    let jitter = |text: &str| policy(&format!("retry: {{ attempts: 3, jitter: {text} }}")).jitter.known().copied();
    assert_eq!(jitter("none"), Some(Jitter::NONE));
    assert_eq!(jitter("full"), Some(Jitter::FULL));
    assert_eq!(jitter("equal"), Some(Jitter::EQUAL));
    assert_eq!(jitter("decorrelated"), Some(Jitter::DECORRELATED));
    let quarter = jitter("{ proportional: 0.25 }").unwrap();
    assert_eq!((quarter.low, quarter.high, quarter.at), (0.75, 1.25, JitterAt::AfterCap));
    let second = jitter("{ additive: 1s }").unwrap();
    assert_eq!((second.low, second.high, second.plus), (1.0, 1.0, Nanos::from_secs(1)));
    assert_eq!(problems("retry: { attempts: 3, jitter: { proportional: 0.1, additive: 1s } }").len(), 1);
    assert_eq!(problems("retry: { attempts: 3, jitter: some }").len(), 1);
}

#[test]
fn backoff_may_be_a_list_of_delays() {
    let policy = policy("retry: { attempts: 4, backoff: [100ms, PT1S, \"00:00:05\"] }");
    let delays = vec![Nanos::from_millis(100), Nanos::from_secs(1), Nanos::from_secs(5)];
    assert_eq!(policy.backoff.kind.known(), Some(&BackoffKind::Schedule(delays)));
    let [(at, message)] = problems("retry: { attempts: 4, base: 1s }").try_into().unwrap();
    assert_eq!(at, "base");
    assert!(message.contains("how they grow is not said"));
}

#[test]
fn classes_take_names_statuses_and_codes() {
    let some = policy("retry: { attempts: 2, on: [connect, 503, UNAVAILABLE] }");
    let set = Classes::of(&[Class::Connect, Class::Overload, Class::Unavailable]);
    assert_eq!(some.retries_on.known(), Some(&set));
    assert_eq!(some.names_classes, set);
    assert_eq!(policy("retry: { attempts: 2, on: overload }").names_classes, Classes::of(&[Class::Overload]));
    let [(at, message)] = problems("retry: { attempts: 2, on: [overlaod] }").try_into().unwrap();
    assert_eq!((&*at, &*message), ("overlaod", "`overlaod` is no failure class; did you mean `overload`?"));
}

#[test]
fn a_call_without_retry_but_with_limits_is_a_time_limit() {
    let limit = policy("timeout: { attempt: 2s }");
    assert_eq!(limit.kind, PolicyKind::TimeLimit);
    assert_eq!(limit.tries(), Some(1));
    assert!(!limit.may_retry());
    assert_eq!(limit.attempt_timeout.limit(), Some(&Nanos::from_secs(2)));
    assert!(facts("services: { web: { calls: [ { to: shop } ] } }").policies.is_empty());
}

#[test]
fn breaker_hedge_and_layer_are_read() {
    let policy = policy(
        "layer: job, hedge: { copies: 2, delay: 50ms }, breaker: { consecutive: 5, open: 30s, probes: 1, place: outside }",
    );
    assert_eq!((policy.position, policy.purpose), (Position::Job, Purpose::Background));
    let hedging = policy.hedging.as_ref().unwrap();
    assert_eq!((hedging.copies.known(), hedging.delay.known()), (Some(&2), Some(&Nanos::from_millis(50))));
    let breaker = policy.breaker.limit().unwrap();
    assert_eq!(breaker.consecutive.as_ref().unwrap().known(), Some(&5));
    assert_eq!(breaker.open.as_ref().unwrap().known(), Some(&Nanos::from_secs(30)));
    assert_eq!(breaker.place, Place::Outside);
    let [(at, message)] = problems("layer: getway").try_into().unwrap();
    assert_eq!(at, "getway");
    assert!(message.ends_with("did you mean `gateway`?"), "{message}");
}

#[test]
fn every_field_of_a_call_is_read() {
    let facts = facts(
        "services: { web: { namespace: shop, environment: prod, calls: [ { to: ledger.bank, per-request: 2.5,
  operation: POST /charge, protocol: grpc, idempotent: true, one-of: route, async: true, propagates-deadline: false,
  retry: { attempts: 2 } } ] } }",
    );
    assert_eq!(facts.problems, []);
    let call = &facts.calls[0];
    assert_eq!(call.caller.service().unwrap().host, Host::Name { name: "web".into(), namespace: Some("shop".into()) });
    assert_eq!(call.callee.service().unwrap().host, Host::Dotted("ledger.bank".into()));
    assert_eq!(call.callee.service().unwrap().from_namespace.as_deref(), Some("shop"));
    assert_eq!(call.environment.as_deref(), Some("prod"));
    assert_eq!(call.per_request.known(), Some(&2.5));
    let operation = call.operation.as_ref().unwrap();
    assert_eq!((operation.method.as_deref(), operation.path.as_deref()), (Some("POST"), Some("/charge")));
    assert_eq!(call.protocol, Some(Protocol::Grpc));
    assert_eq!(call.one_of.as_deref(), Some("route"));
    assert!(call.is_async);
    assert_eq!(call.propagates_deadline.as_ref().unwrap().known(), Some(&false));
    let policy = &facts.policies[0];
    assert_eq!(policy.idempotent.known(), Some(&Some(true)));
    assert_eq!(policy.environment.as_deref(), Some("prod"));
    assert_eq!(&*policy.name, "web.shop → ledger.bank POST /charge");
}

#[test]
fn every_field_of_a_service_is_read() {
    let facts = facts(
        "services: { web: { paths: [web/**], aliases: [www, shop.example.com], owner: \"@team-web\", clients: 500, instances: 3,
  latency: 20ms, timeout: 5s, emits: 500, mode: parallel, max-hops: 4, calls: [],
  accept: { max-amplification: 9, reason: agreed, until: 2027-01-31 } } }",
    );
    assert_eq!(facts.problems, []);
    let web = &facts.services[0];
    assert_eq!(web.paths, ["web/**".into()]);
    assert_eq!(web.aliases.len(), 2);
    assert_eq!(web.owner.as_deref(), Some("@team-web"));
    assert_eq!(web.clients.as_ref().unwrap().known(), Some(&500));
    assert_eq!(web.instances.as_ref().unwrap().known(), Some(&3));
    assert_eq!(web.latency.as_ref().unwrap().known(), Some(&Nanos::from_millis(20)));
    assert_eq!(web.timeout.as_ref().unwrap().known(), Some(&Nanos::from_secs(5)));
    assert_eq!(web.emits.as_ref().unwrap().known(), Some(&Class::ServerError));
    assert_eq!(web.parallel.as_ref().unwrap().known(), Some(&true));
    assert_eq!(web.max_hops.as_ref().unwrap().known(), Some(&4));
    let accept = web.accept.as_ref().unwrap();
    assert_eq!((accept.max_amplification, &*accept.reason), (9.0, "agreed"));
    assert_eq!(accept.until.map(|day| day.to_string()).as_deref(), Some("2027-01-31"));
}

#[test]
fn a_misspelt_key_is_a_problem_with_the_key_that_was_meant() {
    for (text, at, message) in [
        (
            "services: { web: { calls: [ { to: a, retry: { attempt: 3 } } ] } }",
            "attempt",
            "unknown key `attempt` in `retry`; did you mean `attempts`?",
        ),
        (
            "services: { web: { calls: [ { to: a, polici: x } ] } }",
            "polici",
            "unknown key `polici` in a call; did you mean `policy`?",
        ),
        (
            "services: { web: { calls: [], capasity: 3/s } }",
            "capasity",
            "unknown key `capasity` in a service; did you mean `capacity`?",
        ),
        (
            "services: { web: { calls: [] } }\npolicys: {}",
            "policys",
            "unknown key `policys` in a services manifest; did you mean `policies`?",
        ),
        (
            "services: { web: { calls: [ { to: a, policy: standrad } ] } }\npolicies: { standard: {} }",
            "standrad",
            "no policy is named `standrad`; did you mean `standard`?",
        ),
    ] {
        let problems = problems_in(text);
        assert!(problems.contains(&(at.to_string(), message.to_string())), "{problems:?}");
    }
}

#[test]
fn a_value_of_the_wrong_kind_is_a_problem_that_says_what_stands_there() {
    let one = |fields: &str| problems(fields).pop().unwrap().1;
    assert_eq!(one("per-request: often"), "`per-request` should be a number that is not negative, found `often`");
    assert_eq!(one("async: \"true\""), "`async` should be `true` or `false`, found the text \"true\"");
    assert_eq!(
        one("retry: 3"),
        "`retry` should be a mapping such as `{ attempts: 3, backoff: exponential, base: 100ms }`, found `3`"
    );
    assert!(
        one("timeout: 2s").ends_with("write `timeout: { attempt: 2s }` for one try, `{ total: 2s }` for all of them")
    );
    let service =
        |fields: &str| problems_in(&format!("services: {{ web: {{ calls: [], {fields} }} }}")).pop().unwrap().1;
    assert_eq!(service("rate: 500"), "`rate` should be a rate such as `500/s` or `30/m`, found `500`");
    assert_eq!(service("accept: { max-amplification: 9 }"), "`accept` needs both `max-amplification` and `reason`");
    assert_eq!(
        service("accept: { max-amplification: 9, reason: … }"),
        "`reason` should be a text that says why, found `…`"
    );
    assert_eq!(
        service("accept: { max-amplification: 9, reason: agreed, until: 2027-02-30 }"),
        "`until` should be a day such as `2027-01-31`, found `2027-02-30`"
    );
}

#[test]
fn a_number_or_switch_without_quotes_is_no_text() {
    let one = |fields: &str| problems(fields).pop().unwrap().1;
    assert_eq!(one("one-of: 1"), "`one-of` should be the name of a group, found `1`");
    assert_eq!(one("operation: true"), "`operation` should be a text, found `true`");
    assert_eq!(problems("one-of: \"1\", operation: yes"), []);
    let calls = |calls: &str| problems_in(&format!("services: {{ web: {{ calls: {calls} }} }}"));
    assert!(calls("[{ to: shop }, 3]").pop().unwrap().1.starts_with("`calls` should be a list of names"));
    // Whole is what has no fraction.
    let pool = facts("services: { web: { calls: [], pool: 3.0, clients: 1e3 } }");
    assert_eq!(pool.problems, []);
    assert_eq!(pool.services[0].clients.as_ref().unwrap().known(), Some(&1000));
}

#[test]
fn what_is_filled_in_later_is_unknown_and_no_mistake() {
    let series = policy("retry: { attempts: 3, backoff: [1s, \"${WAIT}\"] }");
    assert_eq!(series.backoff.kind.known(), None);
    let facts = facts(
        "services: { web: { calls: [ { to: shop }, \"${CALLEE}\" ], accept: { max-amplification: \"${MOST}\", reason: agreed } } }",
    );
    assert_eq!(facts.problems, []);
    assert_eq!((facts.calls.len(), facts.services[0].accept.is_none()), (1, true));
}

#[test]
fn a_call_to_nobody_is_told_and_the_others_stay() {
    let facts = facts("services: { web: { calls: [ { per-request: 1 }, { to: localhost }, [x], { to: shop } ] } }");
    assert_eq!(facts.calls.len(), 1);
    assert_eq!(facts.problems.len(), 3);
    assert!(facts.problems.iter().all(|problem| problem.recognised && !problem.template));
}

#[test]
fn merge_keys_and_extension_fields_are_understood() {
    let facts = facts(
        "x-common: &common { per-request: 3 }\nversion: 1\nservices:\n  web:\n    calls:\n      - { <<: *common, to: shop }\n",
    );
    assert_eq!(facts.problems, []);
    assert_eq!(facts.calls[0].per_request.known(), Some(&3.0));
}

#[test]
fn ids_of_a_second_document_go_on_where_the_first_ended() {
    let text = "services: { a: { calls: [ { to: b } ] } }\n---\nservices: { b: { calls: [ { to: c, retry: { attempts: 2 } } ] } }";
    let facts = facts(text);
    assert_eq!(facts.policies[0].calls, [CallId(1)]);
}

#[test]
fn no_cut_of_a_file_makes_the_reader_panic() {
    for end in 0..EXAMPLE.len() {
        for document in yaml::parse(FileId(0), &EXAMPLE[..end]).documents().filter(|document| recognises(*document)) {
            let context = Context { file: FileId(0), path: "a.yaml", settings: &ReadSettings::default() };
            read(document, &context, &mut Facts::default());
        }
    }
}

#[test]
fn a_thousand_problems_are_a_hundred_and_a_count() {
    let calls = "{ to: shop, polici: x }, ".repeat(1_000);
    let facts = facts(&format!("services: {{ web: {{ calls: [ {calls} ] }} }}"));
    assert_eq!(facts.calls.len(), 1_000);
    assert_eq!(facts.problems.len(), 101);
    assert_eq!(facts.problems[100].message, "900 more problems from here on");
}

#[test]
fn what_is_written_in_a_wrong_way_is_unknown_and_not_left_out() {
    let of = |fields: &str, policies: &str| {
        let text =
            format!("services: {{ web: {{ calls: [ {{ to: shop, {fields} }} ] }} }}\npolicies: {{ {policies} }}\n");
        facts(&text).policies.into_iter().next()
    };
    for (fields, policies) in [
        ("retry: 3", ""),
        ("retry: [3]", ""),
        ("rety: { attempts: 3 }", ""),
        ("policy: standrd", "standard: { retry: { attempts: 3 } }"),
        ("policy: standard", "standard: 3"),
        ("policy: standard", "standard: { retyr: { attempts: 3 } }"),
        ("policy: '${P}'", "standard: { retry: { attempts: 3 } }"),
        ("policy: [standard]", "standard: { retry: { attempts: 3 } }"),
    ] {
        let policy = of(fields, policies).unwrap_or_else(|| panic!("{fields}"));
        assert_eq!((policy.kind, policy.attempts.known()), (PolicyKind::Config, None), "{fields}");
    }
    let hedged = of("hedge: 3", "").unwrap().hedging.unwrap();
    assert_eq!(hedged.copies.known(), None);
    // Nothing is written there, and other words say nothing about retrying.
    for fields in ["retry: null", "hedge: null", "policy: null", "note: 3"] {
        assert_eq!(of(fields, "").map(|policy| policy.kind), None, "{fields}");
    }
}

#[test]
fn a_misspelt_key_leaves_open_what_it_was_meant_to_say() {
    let of = |fields: &str| {
        let text = format!("services: {{ web: {{ calls: [ {{ to: shop, {fields} }} ] }} }}");
        facts(&text).policies.into_iter().next().unwrap()
    };
    let jitter = of("retry: { attempts: 3, backoff: fixed, base: 1s, jiter: full }");
    assert_eq!((jitter.tries(), jitter.jitter.known(), jitter.retries_on.known()), (Some(3), None, None));
    assert_eq!(jitter.backoff.base.known(), Some(&Nanos::from_secs(1)));
    let cap = of("retry: { attempts: 3, backoff: exponential, base: 1s, capp: 5s }");
    assert_eq!((cap.backoff.kind.known(), cap.backoff.cap.known()), (Some(&BackoffKind::Exponential), None));
    let total = of("timeout: { attempt: 1s, totl: 5s }");
    assert_eq!((total.attempt_limit(), total.total.limit.known()), (Some(Limit::At(Nanos::from_secs(1))), None));
    // Well spelt, what is missing has its default.
    let whole = of("retry: { attempts: 3, backoff: exponential, base: 1s }, timeout: { attempt: 1s }");
    assert_eq!((whole.jitter.known(), whole.backoff.cap.known()), (Some(&Jitter::NONE), Some(&Limit::None)));
    assert_eq!(whole.total.limit.known(), Some(&Limit::None));
}
