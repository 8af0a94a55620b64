use super::*;
use crate::facts::{Check, Class, Classes, Confidence, Count, Counts, Limit, Measures, Methods, PolicyKind};
use crate::read::code::tree::Op;

/// A builder and a run, as most libraries have them.
fn acme() -> Library {
    library(
        r#"
[[shape]]
id = "policy"
is = "policy"
call = ["acme::Policy::new"]
default = { retries = 3, backoff = "exponential", base = "1s", factor = 2.0, cap = "60s", jitter = "none", total = "none" }
[shape.method]
times = { retries = "$0" }
tries = { attempts = "$0" }
forever = { attempts = "unbounded" }
first = { base = "$0" }
slower = { base = { mul = ["$base", "$0"] } }
at_most = { cap = { min = ["$0", "30s"] } }
within = { total = "$0", total_measures = "delays", total_check = "between-attempts" }
jitter = { jitter = { low = 1.0, high = 2.0, at = "after-cap" } }
spread = { jitter = { low = 1.0, high = 1.0, plus = "$base" } }
kind = { backoff = { of = "$0", Constant = "fixed", Growing = "exponential" } }
map = [ { if = { "$0" = "acme::jitter" }, jitter = "full" }, { backoff = "unknown", jitter = "unknown" } ]
seed = { inert = "a seed alone spreads nothing" }
build = {}
[[shape.when]]
versions = "<1.4"
method = { jitter = { jitter = "full" } }

[[shape]]
id = "run"
is = "run"
method_of = ["acme::Retryable::retry"]
operation = "$self"
policy = "$0"
[shape.method]
when = { predicate = "$0" }
notify = { observed = true }
call = { blocking = true }

[[shape]]
is = "predicate"
call = ["acme::transient"]
sets = { predicate = ["connect", "503"] }
"#,
    )
}

fn builder() -> N {
    call("acme.Policy.new", vec![])
}

fn run(policy: N) -> N {
    wait(method(closure(&[], call_local("fetch", vec![])), "retry", vec![("", policy)]))
}

#[test]
fn a_chain_is_applied_from_its_constructor_outward() {
    let lib = acme();
    for (policy, expected) in [
        (builder(), ("4", vec![1000, 2000, 4000], "none")),
        (method(builder(), "times", vec![("", int(5))]), ("6", vec![1000, 2000, 4000], "none")),
        (method(builder(), "tries", vec![("", int(5))]), ("5", vec![1000, 2000, 4000], "none")),
        (method(builder(), "times", vec![("", int(0))]), ("1", vec![1000, 2000, 4000], "none")),
        // The last one wins.
        (
            method(method(builder(), "times", vec![("", int(5))]), "times", vec![("", int(2))]),
            ("3", vec![1000, 2000, 4000], "none"),
        ),
        (method(builder(), "forever", vec![]), ("unbounded", vec![1000, 2000, 4000], "none")),
        // What was set so far: 100 ms times 3.
        (
            method(method(builder(), "first", vec![("", millis(100))]), "slower", vec![("", int(3))]),
            ("4", vec![300, 600, 1200], "none"),
        ),
        // The other way round the factor is lost.
        (
            method(method(builder(), "slower", vec![("", int(3))]), "first", vec![("", millis(100))]),
            ("4", vec![100, 200, 400], "none"),
        ),
        (method(builder(), "kind", vec![("", path("acme.Kind.Constant"))]), ("4", vec![1000, 1000, 1000], "none")),
        (method(builder(), "map", vec![("", path("acme.jitter"))]), ("4", vec![1000, 2000, 4000], "full")),
        (method(builder(), "map", vec![("", path("mine.jitter"))]), ("4", vec![], "unknown")),
        (method(builder(), "spread", vec![]), ("4", vec![1000, 2000, 4000], "additive")),
        (method(builder(), "at_most", vec![("", secs(2))]), ("4", vec![1000, 2000, 2000], "none")),
        (method(builder(), "clone", vec![]), ("4", vec![1000, 2000, 4000], "none")),
    ] {
        let (attempts, delays, jitter) = brief(&only(&lib, vec![run(policy)]));
        assert_eq!((attempts.as_str(), delays, jitter), expected);
    }
}

#[test]
fn what_is_not_known_says_why() {
    let lib = acme();
    let policy = only(&lib, vec![run(method(builder(), "shake", vec![]))]);
    assert_eq!(brief(&policy).0, "unknown: `.shake(..)` changes it in a way that is not known");
    let policy = only(&lib, vec![run(method(builder(), "first", vec![("", int(5))]))]);
    assert_eq!(policy.backoff.base.why().unwrap().to_string(), "a number without a unit");
    let policy = only(&lib, vec![run(method(builder(), "kind", vec![("", path("acme.Kind.Odd"))]))]);
    assert!(policy.backoff.kind.known().is_none());
    // Whoever calls the function decides.
    let unit = unit(
        HERE,
        &["acme.Retryable"],
        vec![function("f", &["n"], Vec::new(), run(method(builder(), "times", vec![("", local("n"))])))],
    );
    let sites = find(lib, with_acme(), &unit);
    assert!(sites[0].policy.attempts.why().is_some());
}

#[test]
fn locals_constants_and_functions_are_followed() {
    let lib = acme();
    let base = || bind("base", method(builder(), "first", vec![("", millis(100))]));
    let policy = only(&lib, vec![base(), run(method(local("base"), "times", vec![("", int(1))]))]);
    assert_eq!(brief(&policy), ("2".into(), vec![100, 200, 400], "none"));
    // Twice under one name.
    let again = bind("base", method(local("base"), "times", vec![("", int(1))]));
    let policy = only(&lib, vec![base(), again, run(local("base"))]);
    assert_eq!(brief(&policy), ("2".into(), vec![100, 200, 400], "none"));
    let items = |policy: N| {
        vec![
            constant("POLICY", method(builder(), "times", vec![("", int(8))])),
            function("policy", &["n"], Vec::new(), method(builder(), "times", vec![("", local("n"))])),
            function("f", &[], Vec::new(), block(vec![run(policy)])),
        ]
    };
    for (policy, attempts) in [(path("crate.POLICY"), "9"), (call("crate.policy", vec![("", int(6))]), "7")] {
        let unit = unit(HERE, &["acme.Retryable"], items(policy));
        let sites = find(lib.clone(), with_acme(), &unit);
        // What a run uses is not listed a second time.
        let attempts_of: Vec<String> =
            sites.iter().filter(|site| !site.is_described).map(|site| brief(&site.policy).0).collect();
        assert_eq!(attempts_of, [attempts]);
    }
}

#[test]
fn a_run_has_its_own_methods_and_its_operation() {
    let lib = acme();
    let whole = wait(method(
        method(method(closure(&[], call_local("fetch", vec![])), "retry", vec![("", builder())]), "notify", vec![]),
        "when",
        vec![("", call("acme.transient", vec![]))],
    ));
    let [site] = in_function(&lib, vec![whole]).try_into().unwrap();
    assert_eq!(site.policy.observed.known(), Some(&true));
    let classes = Classes::of(&[Class::Connect, Class::Overload]);
    assert_eq!(site.policy.retries_on.known(), Some(&classes));
    assert_eq!(site.operations.len(), 1);
    assert!(site.operations[0] < site.construct);
    assert_eq!(site.policy.confidence, Confidence::High);

    // A function of the user's own is not judged.
    let own = method(
        method(closure(&[], call_local("fetch", vec![])), "retry", vec![("", builder())]),
        "when",
        vec![("", closure(&["e"], call_local("is_fine", vec![("", local("e"))])))],
    );
    let policy = only(&lib, vec![own]);
    assert_eq!(policy.retries_on.why().unwrap().to_string(), "decided by a function of its own");
    assert_eq!(policy.confidence, Confidence::Medium);

    // Blocking matters in asynchronous code, and the functions here are.
    let blocking =
        method(method(closure(&[], call_local("fetch", vec![])), "retry", vec![("", builder())]), "call", vec![]);
    let policy = only(&lib, vec![blocking]);
    assert!(policy.in_code.unwrap().blocking_sleep.is_some());
}

#[test]
fn values_say_where_they_come_from() {
    let lib = acme();
    let policy = only(&lib, vec![run(method(builder(), "times", vec![("", int(5))]))]);
    assert_eq!(policy.count, Some(Count { key: "times".into(), written: 5, counts: Counts::Retries }));
    assert!(policy.attempts.is_written());
    assert_eq!((policy.jitter.default_by(), policy.jitter.default_reference()), (Some("acme"), Some("jitter")));
    assert_eq!(policy.backoff.base.default_reference(), Some("first"));
    assert!(policy.jitter_switch);
    let policy = only(&lib, vec![run(method(builder(), "jitter", vec![]))]);
    assert!(policy.jitter.is_written());
    assert_eq!((policy.source.as_ref(), policy.kind, &*policy.name), ("acme", PolicyKind::Library, "f"));
    let policy = only(&lib, vec![run(method(builder(), "within", vec![("", secs(7))]))]);
    assert_eq!(policy.total.limit.known(), Some(&Limit::At(Nanos::from_secs(7))));
    assert_eq!((policy.total.measures, policy.total.check), (Measures::Delays, Check::BetweenAttempts));
    let forever = method(method(builder(), "forever", vec![]), "within", vec![("", secs(7))]);
    assert_eq!(brief(&only(&lib, vec![run(forever)])).0, "by-time");
    let inert = only(&lib, vec![run(method(builder(), "seed", vec![("", int(7))]))]);
    assert_eq!(inert.ineffective.len(), 1);
    assert_eq!(inert.ineffective[0].message, "`seed` has no effect");
}

#[test]
fn a_policy_that_nothing_runs_is_a_site_of_its_own() {
    let lib = acme();
    let statements = || vec![bind("policy", method(builder(), "times", vec![("", int(9))]))];
    let [site] = in_function(&lib, statements()).try_into().unwrap();
    assert!(site.is_described && site.operations.is_empty());
    assert_eq!((brief(&site.policy).0.as_str(), &*site.policy.name), ("10", "policy in f"));
    // Through a local, the longest description counts.
    let mut more = statements();
    more.push(bind("longer", method(local("policy"), "jitter", vec![])));
    let [site] = in_function(&lib, more).try_into().unwrap();
    assert_eq!(brief(&site.policy), ("10".into(), vec![1000, 2000, 4000], "proportional"));
    // Run in the same function, it is there once.
    let mut run_too = statements();
    run_too.push(run(local("policy")));
    let [site] = in_function(&lib, run_too).try_into().unwrap();
    assert!(!site.is_described);
}

#[test]
fn functional_options_and_rows_of_delays() {
    let lib = library(
        r#"
[[shape]]
is = "run"
call = ["acme::Do"]
operation = "$0"
default = { attempts = 10, backoff = "exponential", base = "100ms", factor = 2, jitter = { low = 1.0, high = 1.0, plus = "100ms" } }
argument."*" = { part = "option", from = "$value" }
[[shape]]
is = "part"
part = "option"
call = ["acme::Attempts"]
sets = [ { if = { "$0" = 0 }, attempts = "unbounded" }, { attempts = "$0" } ]
[[shape]]
is = "part"
part = "option"
call = ["acme::Delay"]
sets = { base = "$0" }
[[shape]]
is = "run"
call = ["acme::each"]
policy = "$0"
operation = "$1"
"#,
    );
    let do_with = |options: Vec<A>| {
        let mut all = vec![("", closure(&[], call_local("fetch", vec![])))];
        all.extend(options);
        call("acme.Do", all)
    };
    let attempts = |n: u128| ("", call("acme.Attempts", vec![("", int(n))]));
    let delay = ("", call("acme.Delay", vec![("", secs(1))]));
    let policy = only(&lib, vec![do_with(vec![attempts(3), delay])]);
    assert_eq!(brief(&policy), ("3".into(), vec![1000, 2000, 4000], "additive"));
    assert_eq!(brief(&only(&lib, vec![do_with(vec![attempts(0)])])).0, "unbounded");
    // As many as nobody has time for are no count.
    assert_eq!(brief(&only(&lib, vec![do_with(vec![attempts(u128::from(u64::MAX))])])).0, "unbounded");
    assert_eq!(brief(&only(&lib, vec![do_with(vec![attempts(u128::from(u32::MAX))])])).0, "unbounded");
    assert_eq!(brief(&only(&lib, vec![do_with(vec![attempts(1_000_000)])])).0, "1000000");
    assert_eq!(brief(&only(&lib, vec![do_with(vec![])])).0, "10");
    // Something of the user's own among them may set anything.
    let odd = only(&lib, vec![do_with(vec![("", call("mine.options", vec![]))])]);
    assert!(odd.attempts.why().is_some() && odd.backoff.base.why().is_some());

    let row = list(vec![millis(100), secs(1), secs(5)]);
    let policy = only(&lib, vec![call("acme.each", vec![("", row), ("", local("op"))])]);
    assert_eq!(brief(&policy), ("4".into(), vec![100, 1000, 5000], "none"));
}

#[test]
fn methods_and_statuses_are_read_from_lists() {
    let lib = library(
        r#"
[[shape]]
is = "run"
call = ["acme::run"]
operation = "$op"
params = ["op", "methods", "statuses", "after=false"]
default = { retries = 1, backoff = "none", jitter = "none" }
sets = { methods = "$methods", predicate = "$statuses", reads_retry_after = "$after" }
"#,
    );
    let run = |rest: Vec<A>| {
        let mut all = vec![("", local("op"))];
        all.extend(rest);
        call("acme.run", all)
    };
    let methods = || list(vec![text("get"), text("PUT")]);
    let policy = only(&lib, vec![run(vec![("", methods()), ("statuses", list(vec![int(503), int(429)]))])]);
    assert_eq!(policy.methods.known(), Some(&Methods::Only(vec!["GET".into(), "PUT".into()])));
    let classes = Classes::of(&[Class::Overload, Class::RateLimited]);
    assert_eq!((policy.retries_on.known(), policy.names_classes), (Some(&classes), classes));
    assert_eq!(policy.reads_retry_after.known(), Some(&false));
    assert!(!policy.reads_retry_after.is_written());
    let policy = only(&lib, vec![run(vec![("", methods()), ("", list(vec![int(503), local("x")]))])]);
    assert!(policy.retries_on.why().is_some());
}

#[test]
fn parts_joined_by_operators() {
    let lib = library(
        r#"
combine = { stop = { "|" = "first", "&" = "last" }, wait = { "+" = "sum" } }
[[shape]]
is = "run"
call = ["acme::retry"]
default = { attempts = "unbounded", backoff = "none", jitter = "none", total = "none" }
[shape.argument]
stop = { part = "stop", from = "$value" }
wait = { part = "wait", from = "$value" }
[[shape]]
is = "part"
part = "stop"
call = ["acme::after"]
sets = { attempts = "$0" }
[[shape]]
is = "part"
part = "stop"
call = ["acme::within"]
sets = { total = "$0 s" }
[[shape]]
is = "part"
part = "wait"
call = ["acme::fixed"]
sets = { backoff = "fixed", base = "$0 s" }
[[shape]]
is = "part"
part = "wait"
call = ["acme::random"]
params = ["min=0", "max=1"]
sets = { jitter = { low = 1.0, high = 1.0, plus = "$max s" } }
"#,
    );
    let after = |n: u128| call("acme.after", vec![("", int(n))]);
    let within = |n: u128| call("acme.within", vec![("", int(n))]);
    let of = |stop: N, wait: N| only(&lib, vec![call("acme.retry", vec![("stop", stop), ("wait", wait)])]);
    let fixed = |n: u128| call("acme.fixed", vec![("", int(n))]);
    let random = || call("acme.random", vec![]);
    let policy = of(op(Op::BitOr, vec![after(5), within(30)]), op(Op::Add, vec![fixed(2), random()]));
    assert_eq!(brief(&policy), ("5".into(), vec![2000, 2000, 2000], "additive"));
    assert_eq!(policy.total.limit.known(), Some(&Limit::At(Nanos::from_secs(30))));
    assert_eq!(brief(&of(op(Op::BitOr, vec![after(5), after(3)]), fixed(1))).0, "3");
    assert_eq!(brief(&of(within(30), fixed(1))).0, "by-time");
    let both = of(op(Op::BitAnd, vec![after(5), within(30)]), op(Op::Add, vec![fixed(2), fixed(1)]));
    assert_eq!(
        brief(&both),
        ("unknown: ends only when several conditions hold".into(), vec![3000, 3000, 3000], "none")
    );
    // A part of the user's own, and an operator that is not known.
    assert_eq!(brief(&of(call("mine.stop", vec![]), fixed(1))).0, "unknown: `stop` is not known");
    assert!(of(op(Op::BitXor, vec![after(5), after(3)]), fixed(1)).attempts.why().is_some());
}
