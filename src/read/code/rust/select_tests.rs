use super::*;
use crate::read::code::catalogue::Catalogue;
use crate::read::code::packages::Packages;
use crate::read::code::rust::items::name_of;
use crate::read::code::search::Searches;
use crate::read::code::words::Words;

fn chosen(source: &str) -> Vec<&str> {
    let outline = Outline::of(source);
    let is_taken = worth_reading(source, &outline, &Hits::new(["retry", "sleep"]), true);
    let taken = outline.items.iter().zip(is_taken).filter(|(_, is_taken)| *is_taken);
    taken.map(|(item, _)| name_of(item, source)).collect()
}

#[test]
fn functions_with_a_word_are_read_with_the_constants_and_imports_around() {
    let source = "\
use retry::{a};
const MAX: u8 = 3;
mod other;
struct Retry;
// retry
/// Retries.
fn documented() { /* sleep */ b(); }
fn acts() { sleep(); }
impl Retry { const N: u8 = 1; fn c() {} fn d() { x.retry() } }
impl retry::Policy for A { fn e() {} fn f() {} }
impl B for Retry { fn g() {} }
#[retry] trait T { fn h(); }
thread_local! { static RETRY: u8 = 1; }
mod m { use super::x; fn i() { \"retry\" } fn j() {} }
#[cfg(test)] mod tests { use super::x; const K: u8 = 1; fn k() {} }
#[cfg(test)] mod more { const L: u8 = 1; fn l() { retry() } }
";
    assert_eq!(chosen(source), ["", "MAX", "other", "acts", "N", "d", "A", "T", "thread_local", "", "i", "L", "l",]);
}

#[test]
fn test_code_is_left_alone_where_it_is_not_asked_for() {
    let source = "\
use retry::a;
fn acts() { retry(); }
#[test] fn tried() { retry(); sleep(); }
#[cfg(test)] mod tests { use super::acts; fn retried() { retry() } mod inner { fn f() { sleep() } } }
fn last() { sleep(); }
";
    let taken = |source: &'static str, tests: bool| {
        let outline = Outline::of(source);
        let is_taken = worth_reading(source, &outline, &Hits::new(["retry", "sleep"]), tests);
        let taken = outline.items.iter().zip(is_taken).filter(|(_, is_taken)| *is_taken);
        taken.map(|(item, _)| name_of(item, source)).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(taken(source, false), " acts last");
    assert_eq!(taken(source, true), " acts tried  retried f last");
    let whole = "#![cfg(test)]\nfn tried() { retry(); }";
    assert_eq!((taken(whole, false), taken(whole, true)), (String::new(), "tried".to_owned()));
}

#[test]
fn an_import_for_tests_counts_where_it_stands_and_not_in_a_module_of_tests() {
    let source = "\
#[cfg(any(test, feature = \"testing\"))] type Pause = u8;
#[cfg(test)] const MAX: u8 = 1;
#[cfg(test)] mod tests { type Hidden = u8; const K: u8 = 1; fn k() {} }
#[cfg(any(test, feature = \"testing\"))] fn a() { retry() }
";
    assert_eq!(chosen(source), ["Pause", "MAX", "a"]);
}

#[test]
fn without_a_word_that_does_something_nothing_is_read() {
    for source in [
        "use retry::a; const MAX: u8 = 3; struct Retry; fn b() {} // retry",
        "/// Retry.\nfn a() {}",
        "impl Retry { fn a() {} }",
        "fn a() {}",
        "pub const MAX_RETRY: u8 = 3; static SLEEP: &str = \"sleep\"; mod retry;",
        "",
    ] {
        assert_eq!(chosen(source), [""; 0], "{source}");
    }
    let table = format!("const MAX: [u8; 9999] = [{}]; fn a() {{ retry() }}", "0, ".repeat(9999));
    assert_eq!(chosen(&table), ["a"]);
}

#[test]
fn of_many_constants_those_are_read_that_are_named() {
    let many: String =
        (0..60).map(|n| format!("const C{n}: u8 = {};", if n == 7 { "C9 + r#C11" } else { "0" })).collect();
    let source = format!("{many} fn a() {{ retry(C7, \"C8\") /* C10 */ }} fn b() {{ C12 }}");
    assert_eq!(chosen(&source), ["C7", "C9", "C11", "a"]);
    let few = "const A: u8 = 1; fn a() { retry() }";
    assert_eq!(chosen(few), ["A", "a"]);
}

#[test]
fn a_file_is_read_if_a_site_may_stand_in_what_is_taken_of_it() {
    let words = Words::of("rust");
    let searches = Searches::new(words, &Catalogue::of(Vec::new()), &Packages::default());
    let may_hold = |source: &str| {
        let outline = Outline::of(source);
        let is_taken = worth_reading(source, &outline, &searches.of(None).words, true);
        assert!(is_taken.contains(&true), "{source}");
        may_hold_site(source, &outline, &is_taken, searches.of(None))
    };
    for source in [
        "fn a() { loop { sleep() } }",
        "fn a() { for attempt in 0..3 { op() } }",
        // It calls itself.
        "fn a(attempt: u8) { op().or_else(|_| a(attempt + 1)) }",
        "impl A { fn send(&self, attempt: u8) { self.send(attempt + 1) } }",
        "fn a() { fn b(attempt: u8) { b(attempt + 1) } }",
        // What is renamed outside of the function that names it.
        "use tokio::time::sleep as nap; fn a() { loop { timeout(op()); nap() } }",
        "type Nap = DelayStrategy; fn a() { timeout(Nap::new()) }",
        // Constants are read with the functions.
        "static A: Lazy<B> = Lazy::new(|| loop { pause() }); fn a() { timeout() }",
        "impl Retry for A { fn a() { with_retry(op) } }",
        "task! { loop { sleep() } }",
    ] {
        assert!(may_hold(source), "{source}");
    }
    for source in [
        "fn a() { sleep() }",
        "fn a(attempt: u8) { op().or_else(|_| b(attempt + 1)) }",
        "impl A { fn send(&self, attempt: u8) { self.post(attempt + 1) } }",
        "impl A for B { fn a() { attempt() } }",
        "fn a() { /* loop */ sleep(\"for\") }",
        "use tokio::time::sleep; fn a() { loop { timeout(op()); nap() } }",
        "type Nap = Time; fn a() { timeout(Nap::new()) }",
        "static A: Lazy<B> = Lazy::new(|| pause()); fn a() { timeout() }",
    ] {
        assert!(!may_hold(source), "{source}");
    }
}
