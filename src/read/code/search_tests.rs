use super::*;
use crate::read::code::fixture;

/// The searches of a package without libraries, and of one that depends on reqwest.
fn searches() -> Searches {
    let packages = vec![fixture::package(&[]), fixture::package(&[("reqwest", "reqwest", (0, 12, 9))])];
    Searches::new(Words::of("rust"), &Catalogue::default(), &Packages::new(packages))
}

const PLAIN: Option<PackageId> = Some(PackageId(0));
const WITH_REQWEST: Option<PackageId> = Some(PackageId(1));

#[test]
fn what_repeats_needs_a_name_that_speaks_of_tries_or_waits() {
    let searches = searches();
    let search = searches.of(PLAIN);
    for text in [
        "for _ in 0..3 { if timeout(d, op()).await.is_ok() { break } sleep(d) }",
        "while attempt < 3 { timeout(d, op()) }",
        "loop { timeout(d, op()); Timer::after(d).await; }",
        "loop { timeout(d, op()); self.pause() }",
        "loop { timeout(d, op()); tokio::time::delay_for(d) }",
        "fn fetch_retried() { timeout(d, op()); loop {} }",
    ] {
        assert!(search.may_hold_site(text, || true), "{text}");
    }
    for text in ["loop { timeout(d, op()) }", "loop { set_read_timeout(d); accept() }", "while timeout > 0 { step() }"]
    {
        assert!(!search.may_hold_site(text, || true), "{text}");
    }
    // Without a loop these names alone try nothing again.
    for text in ["timeout(d, op()); self.pause()", "attempt(op)", "sleep(d)"] {
        assert!(!search.may_hold_site(text, || false), "{text}");
    }
}

#[test]
fn helpers_and_objects_go_by_their_names_or_fields() {
    let searches = searches();
    let search = searches.of(PLAIN);
    for text in [
        "with_retry(|| op())",
        "RetryPolicy::new()",
        "DelayStrategy::new()",
        "Limits { max_attempts: 3, pause: d }",
        "Limits { tries: 3, poll_interval: d }",
    ] {
        assert!(search.may_hold_site(text, || false), "{text}");
    }
    for text in ["with_timeout(|| op())", "TimeoutPolicy::new()", "Limits { max_attempts: 3 }", "Limits { timeout: d }"]
    {
        assert!(!search.may_hold_site(text, || false), "{text}");
    }
}

#[test]
fn a_library_counts_where_the_package_depends_on_it() {
    let searches = searches();
    let text = "reqwest::Client::builder().timeout(d)";
    assert!(searches.of(WITH_REQWEST).may_hold_site(text, || false));
    assert!(searches.of(None).may_hold_site(text, || false), "where no package is known");
    assert!(!searches.of(PLAIN).may_hold_site(text, || false));
    assert!(!searches.of(WITH_REQWEST).may_hold_site("tokio::time::timeout(d, op())", || false));
    // So do the words by which its files are found.
    assert!(searches.of(WITH_REQWEST).words.is_match("reqwest::get(url)"));
    assert!(!searches.of(PLAIN).words.is_match("reqwest::get(url)"));
    assert!(!searches.of(WITH_REQWEST).words.is_match("tonic::Request::new(())"));
    assert!(searches.of(None).words.is_match("tonic::Request::new(())"));
    for search in [searches.of(PLAIN), searches.of(WITH_REQWEST), searches.of(None)] {
        assert!(search.words.is_match("max_retries: 3") && search.words.is_match("// retrylint: calls shop"));
        assert!(search.words.is_match("let tries = 3;") && !search.words.is_match("let entries = 3;"));
    }
}

#[test]
fn whatever_it_needs_leaves_the_words_alone() {
    let searches = searches();
    let search = searches.of(PLAIN).whatever_it_needs();
    assert!(search.may_hold_site("attempt(op)", || false));
    assert!(search.words.is_match("sleep") && !search.words.is_match("entries"));
}
