//! Single checks about delays and time limits on systems made by hand.

use super::fixture::{Fixture, attempt_timeout, texts};
use super::*;
use crate::facts::{BackoffKind, Dialect, Jitter, Limit, Nanos, Policy, Position, Purpose, Sourced};
use crate::finding::Severity;

fn levels(drafts: &[Draft]) -> Vec<(Severity, bool)> {
    drafts.iter().map(|draft| (draft.finding.severity, draft.finding.pedantic)).collect()
}

fn total(policy: &mut Policy, limit: Nanos) {
    policy.total.limit = Sourced::written(Limit::At(limit), policy.span);
}

/// Delays of 2, 4, 6 … seconds, spread and then capped at `cap`.
fn growing(policy: &mut Policy, cap: Limit<Nanos>, jitter: Jitter) {
    let at = policy.span;
    policy.backoff.kind = Sourced::written(BackoffKind::Linear, at);
    policy.backoff.base = Sourced::written(Nanos::from_secs(2), at);
    policy.backoff.cap = Sourced::written(cap, at);
    policy.jitter = Sourced::written(jitter, at);
}

#[test]
fn jitter_that_the_cap_cuts_off_is_none() {
    let weak = |cap: u64, jitter: Jitter| {
        let mut fixture = Fixture::new();
        fixture.policy(4, |policy| growing(policy, Limit::At(Nanos::from_secs(cap)), jitter));
        fixture.check("weak-jitter")
    };
    // The third delay is 6 s ± 1.5 s, of which a cap of 2 s leaves nothing.
    let quarter = Jitter::proportional(0.25);
    let drafts = weak(2, quarter);
    assert_eq!(levels(&drafts), [(Severity::Warning, false)]);
    assert!(drafts[0].finding.message.starts_with("the jitter spreads the last delay of 2 s by 0 s, 0 % of it"));
    // A cap of 5 s leaves 4.5 s to 5 s: exactly a tenth, which is enough.
    assert_eq!(weak(5, quarter).len(), 0);
    // Where the spread comes behind the cap, it stays; decorrelated jitter at its cap is not told.
    assert_eq!(weak(2, Jitter { at: crate::facts::JitterAt::AfterCap, ..quarter }).len(), 0);
    assert_eq!(weak(2, Jitter::DECORRELATED).len(), 0);
}

/// Whoever moves files of one machine comes back together with nobody.
#[test]
fn delays_of_local_retries_need_no_spread() {
    let found = |purpose: Purpose, jitter: Jitter, rule: &str| {
        let mut fixture = Fixture::new();
        fixture.policy(4, |policy| {
            growing(policy, Limit::At(Nanos::from_secs(2)), jitter);
            policy.purpose = purpose;
        });
        fixture.check(rule).len()
    };
    for (jitter, rule) in [(Jitter::proportional(0.25), "weak-jitter"), (Jitter::NONE, "missing-jitter")] {
        assert_eq!(found(Purpose::Request, jitter, rule), 1, "{rule}");
        assert_eq!(found(Purpose::Local, jitter, rule), 0, "{rule}");
    }
}

#[test]
fn no_delay_is_a_note_where_each_retry_goes_to_another_host() {
    let level = |other_host| {
        let mut fixture = Fixture::new();
        fixture.policy(3, |policy| {
            policy.backoff.kind = Sourced::written(BackoffKind::None, policy.span);
            policy.other_host = other_host;
        });
        levels(&fixture.check("no-backoff"))
    };
    assert_eq!(level(false), [(Severity::Warning, false)]);
    assert_eq!(level(true), [(Severity::Note, false)]);
}

/// A client's policy around a sidecar's, towards one service.
fn around(outer: impl FnOnce(&mut Policy), inner: impl FnOnce(&mut Policy), rule: &str) -> Vec<Draft> {
    let mut fixture = Fixture::new();
    let (web, ledger) = (fixture.service("web"), fixture.service("ledger"));
    let outer = fixture.policy(1, outer);
    let inner = fixture.policy(4, |policy| {
        policy.position = Position::ClientSidecar;
        inner(policy);
    });
    fixture.call(web, ledger, &[outer, inner]);
    fixture.check(rule)
}

#[test]
fn delays_that_outlast_the_client_around_them_leave_tries_without_a_start() {
    // 2, 4 and 6 s: tries start at 0, 2, 6 and 12 s; the client is gone after 10 s.
    let waits = |policy: &mut Policy| growing(policy, Limit::None, Jitter::NONE);
    let drafts = around(|policy| total(policy, Nanos::from_secs(10)), waits, "backoff-exceeds-deadline");
    assert_eq!(levels(&drafts), [(Severity::Warning, false)]);
    assert_eq!(
        drafts[0].finding.message,
        "only three of four tries can start within 10 s of a call from `web` to `ledger`: the delays between them take at \
         least 12 s"
    );
    assert!(texts(&drafts[0]).contains(&"gives up after 10 s".to_owned()), "{:?}", texts(&drafts[0]));
    // The last one starts right before the end, or nothing around it ends.
    assert!(around(|policy| total(policy, Nanos::from_millis(12_001)), waits, "backoff-exceeds-deadline").is_empty());
    assert!(around(|_| {}, waits, "backoff-exceeds-deadline").is_empty());
    // A total of its own says it first, and once.
    let own = |policy: &mut Policy| {
        waits(policy);
        total(policy, Nanos::from_secs(5));
    };
    let drafts = around(|policy| total(policy, Nanos::from_secs(10)), own, "backoff-exceeds-deadline");
    assert_eq!(drafts.len(), 1);
    assert!(drafts[0].finding.message.starts_with("only two of four tries can start within 5 s"));
}

#[test]
fn a_default_time_to_connect_is_told_and_not_counted() {
    let stacked = |connect: Option<Sourced<Limit<Nanos>>>| {
        let mut fixture = Fixture::new();
        fixture.policy(3, |policy| {
            attempt_timeout(policy, Nanos::from_secs(30));
            policy.connect_timeout = connect;
        });
        fixture.check("timeout-stacking").remove(0).finding
    };
    let by_default = stacked(Some(Sourced::default_of(Limit::At(Nanos::from_secs(10)), "Istio", "connectTimeout")));
    assert_eq!(
        by_default.message,
        "a call through `policy Span { file: FileId(0), start: 10, end: 15 }` may take 90 s: three tries of 30 s each"
    );
    assert_eq!(by_default.notes, ["each try may take 10 s more to connect, by Istio's default"]);
    assert!(stacked(None).notes.is_empty());
}

#[test]
fn shorter_tries_are_advised_where_a_limit_on_all_of_them_would_cut_the_last_ones_off() {
    let help = |configure: &dyn Fn(&mut Policy)| {
        let mut fixture = Fixture::new();
        fixture.policy(5, |policy| {
            policy.dialect = Dialect::Istio;
            attempt_timeout(policy, Nanos::from_secs(30));
            configure(policy);
        });
        fixture.check("timeout-stacking").remove(0).finding.help.unwrap()
    };
    // 5 x 12 s = 60 s.
    assert_eq!(help(&|_| {}), "`perTryTimeout: 12s` keeps five tries within 60 s");
    // A written time to connect comes on top of each: 5 x (7 s + 5 s).
    let connect = |policy: &mut Policy| {
        policy.connect_timeout = Some(Sourced::written(Limit::At(Nanos::from_secs(5)), policy.span));
    };
    assert_eq!(help(&connect), "`perTryTimeout: 7s` keeps five tries within 60 s");
    // 60 s between the tries leave nothing for them.
    let waits = |policy: &mut Policy| {
        policy.backoff.kind = Sourced::written(BackoffKind::Fixed, policy.span);
        policy.backoff.base = Sourced::written(Nanos::from_secs(15), policy.span);
    };
    assert_eq!(help(&waits), "limit the whole call: `timeout: 60s` on the route");
}

#[test]
fn the_limit_of_the_callers_own_server_is_a_timeout() {
    let missing = |limit: Option<Nanos>| {
        let mut fixture = Fixture::new();
        let (web, ledger) = (fixture.service("web"), fixture.service("ledger"));
        let at = fixture.place();
        fixture.graph[web].service.timeout = limit.map(|limit| Sourced::written(limit, at));
        let policy = fixture.policy(3, |_| {});
        fixture.call(web, ledger, &[policy]);
        levels(&fixture.check("missing-timeout"))
    };
    assert_eq!(missing(None), [(Severity::Warning, false)]);
    assert_eq!(missing(Some(Nanos::from_secs(10))), []);
}

#[test]
fn a_limit_with_two_flaws_is_told_both_at_once() {
    use crate::facts::{AttemptTimeoutFlaw, Class, Classes, Dialect, FileKind};
    let help = |on: &[Class], notation: FileKind| {
        let mut fixture = Fixture::new();
        fixture.policy(3, |policy| {
            (policy.dialect, policy.notation) = (Dialect::Envoy, notation);
            attempt_timeout(policy, Nanos::from_secs(20));
            total(policy, Nanos::from_secs(15));
            policy.attempt_timeout_flaw = Some(AttemptTimeoutFlaw::NotBelowTotal(policy.total.limit.clone()));
            policy.retries_on = Sourced::written(Classes::of(on), policy.span);
        });
        let [draft] = fixture.check("ignored-attempt-timeout").try_into().unwrap();
        draft.finding.help.unwrap()
    };
    // Three tries share 15 s, and 3 × 20 s hold all of them.
    let first = "give each try less than 15 s, for example `per_try_timeout: 5s`, or the route more: a `timeout` of 60 s \
                 holds three tries";
    assert_eq!(help(&[Class::Connect, Class::TryTimeout], FileKind::Yaml), first);
    assert_eq!(
        help(&[Class::Connect], FileKind::Yaml),
        format!(
            "{first}; and add `reset` to what is retried if the request may be repeated, since a try that is cut is in no \
             retried class"
        )
    );
    assert!(help(&[Class::TryTimeout], FileKind::Json).contains("`\"per_try_timeout\": \"5s\"`"));
}
