//! What is done to a local between its definition and the loop counts.

use std::sync::Arc;

use super::tell_all;
use crate::read::code::files::Files;
use crate::read::code::files::memory::Memory;
use crate::read::code::packages::Packages;
use crate::read::code::project::Project;
use crate::read::code::rust::{self, Input};
use crate::read::code::search::Search;

/// What is said of a loop whose tries these statements make `n` of.
fn tries(before: &str, n: &str) -> String {
    let text = format!(
        "use std::time::Duration; use tokio::time::sleep;
         struct Conf {{ most: u32, idle: Duration }}
         async fn fetch() -> Result<u8> {{ {before} for _ in 0..{n} {{ match get().await {{ Ok(v) => return Ok(v),
           Err(_) => sleep(Duration::from_secs(1)).await }} }} Err(e) }}"
    );
    tell_all(&text)
}

/// What is said of a loop over these delays.
fn delays(before: &str) -> String {
    tell_all(&format!(
        "use std::time::Duration; use tokio::time::sleep;
         async fn fetch() -> Result<u8> {{ {before} for s in d {{ match get().await {{ Ok(v) => return Ok(v),
           Err(_) => sleep(Duration::from_secs(s)).await }} }} Err(e) }}"
    ))
}

const CONF: &str = "let mut c = Conf { most: 3, idle: Duration::from_secs(1) };";

#[test]
fn what_is_set_after_the_definition_counts() {
    let conf = |then: &str| tries(&format!("{CONF} {then}"), "c.most");
    assert_eq!(conf(""), "3 fixed 1s none");
    assert_eq!(conf("c.most = 8;"), "8 fixed 1s none");
    assert_eq!(conf("c.most = 8; c.most = 5;"), "5 fixed 1s none");
    assert_eq!(conf("c.most += 4;"), "7 fixed 1s none");
    assert_eq!(tries("let mut n = 3; n += 4;", "n"), "7 fixed 1s none");
    // The near misses: another field, another local.
    assert_eq!(conf("c.idle = Duration::from_secs(9);"), "3 fixed 1s none");
    assert_eq!(conf("let mut d = Conf { most: 1, ..c }; d.most = 8;"), "3 fixed 1s none");
    assert_eq!(conf("{ let mut c = other(); c.most = 8; }"), "3 fixed 1s none");
}

#[test]
fn what_may_be_set_is_not_known() {
    let conf = |then: &str| tries(&format!("{CONF} {then}"), "c.most");
    assert_eq!(conf("if slow() { c.most = 8; }"), "? fixed 1s none");
    assert_eq!(conf("tweak(&mut c);"), "? fixed 1s none");
    assert_eq!(conf("let d = &mut c; d.most = 8;"), "? fixed 1s none");
    assert_eq!(conf("for host in hosts { c.most += 1; }"), "? fixed 1s none");
    assert_eq!(conf("let grow = || c.most += 1; grow();"), "? fixed 1s none");
    assert_eq!(tries("let mut n = 3; if slow() { n = 8; }", "n"), "? fixed 1s none");
    // The near misses: the same on all ways, another field, a look at it.
    assert_eq!(conf("if slow() { c.most = 3; }"), "3 fixed 1s none");
    assert_eq!(conf("if slow() { c.idle = Duration::from_secs(9); }"), "3 fixed 1s none");
    assert_eq!(conf("look(&c);"), "3 fixed 1s none");
    assert_eq!(tries("let mut n = 3; if slow() { n = 3; }", "n"), "3 fixed 1s none");
}

#[test]
fn what_is_set_again_and_again_is_not_known() {
    let within = |sets: &str| {
        tell_all(&format!(
            "use std::time::Duration; use tokio::time::sleep;
             async fn fetch() {{ let mut n = 3; for host in hosts {{ {sets} for _ in 0..n {{ match get().await {{ Ok(v) => break,
               Err(_) => sleep(Duration::from_secs(1)).await }} }} }} }}"
        ))
    };
    assert_eq!(within("n += 1;"), "? fixed 1s none");
    assert_eq!(within("other += 1;"), "3 fixed 1s none");
    assert_eq!(within("if slow() { n = n + 1; }"), "? fixed 1s none");
    assert_eq!(within("if slow() { n = 3; }"), "3 fixed 1s none");
    assert_eq!(within("n = 5;"), "5 fixed 1s none");
}

#[test]
fn why_it_is_not_known_is_said() {
    let text = format!(
        "use std::time::Duration; use tokio::time::sleep; struct Conf {{ most: u32, idle: Duration }}
         async fn fetch() -> Result<u8> {{ {CONF} if slow() {{ c.most = 8; }} for _ in 0..c.most {{ match get().await {{
           Ok(v) => return Ok(v), Err(_) => sleep(c.idle).await }} }} Err(e) }}"
    );
    let unit = crate::read::code::fixture::unit(&text);
    let sites = super::super::sites(&Project::default(), &unit);
    let [site] = sites.as_slice() else { panic!("one site, not {}", sites.len()) };
    let crate::facts::Value::Unknown(why) = &site.policy.attempts.value else { panic!("not known") };
    assert_eq!(**why, crate::facts::Why::Other("changed before the loop".into()));
    // The other field is what it was.
    assert_eq!(super::told(site).0, "? fixed 1s none");
}

#[test]
fn a_list_that_changes_before_the_loop_is_gone_through_as_it_is_then() {
    assert_eq!(delays("let mut d = vec![1, 2]; d.push(4); d.push(8);"), "4 exponential 1s x2 none");
    assert_eq!(delays("let mut d = vec![1, 2, 4, 9]; d.truncate(3);"), "3 exponential 1s x2 none");
    assert_eq!(delays("let mut d = vec![7, 1, 2, 4].into_iter(); d.next();"), "3 exponential 1s x2 none");
    assert_eq!(delays("let mut d = vec![4, 2, 1]; d.sort();"), "? delay ? jitter ?");
    assert_eq!(delays("let mut d = vec![1, 2]; if slow() { d.push(4); }"), "? delay ? jitter ?");
    assert_eq!(delays("let mut d = vec![1, 2]; for s in more { d.push(s); }"), "? delay ? jitter ?");
    // The near misses: another list, and a look at this one.
    assert_eq!(delays("let mut d = vec![1, 2, 4]; let mut e = d.clone(); e.push(8);"), "3 exponential 1s x2 none");
    assert_eq!(delays("let d = vec![1, 2, 4]; info!(\"{}\", d.len());"), "3 exponential 1s x2 none");
}

#[test]
fn a_counter_that_is_lent_in_the_loop_is_not_known() {
    let counted = |lends: &str| {
        tell_all(&format!(
            "use std::time::Duration; use tokio::time::sleep;
             async fn fetch() -> Result<u8> {{ let mut n = 0; loop {{ match get().await {{ Ok(v) => return Ok(v),
               Err(e) => {{ {lends} n += 1; if n >= 6 {{ return Err(e); }} sleep(Duration::from_secs(1)).await; }} }} }} }}"
        ))
    };
    assert_eq!(counted("bump(&mut n);"), "? fixed 1s none");
    assert_eq!(counted("bump(&mut other);"), "6 fixed 1s none");
    assert_eq!(counted("note(&n);"), "6 fixed 1s none");
}

#[test]
fn what_a_caller_gives_comes_before_a_default() {
    let called = |calls: &str| {
        let text = format!(
            "use std::time::Duration; use tokio::time::sleep; fn main() {{}}
             async fn fetch(n: Option<u32>) -> Result<u8> {{ let n = n.unwrap_or(3); for _ in 0..n {{ match get().await {{
               Ok(v) => return Ok(v), Err(_) => sleep(Duration::from_secs(1)).await }} }} Err(e) }} {calls}"
        );
        let path = "src/main.rs";
        let manifest = "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n";
        let files = Arc::new(Memory::new(&[("Cargo.toml", manifest), (path, &text)]));
        let packages = Packages::gather(&*files, [path].into_iter());
        let finder = (rust::LANGUAGE.finder)(Arc::clone(&files) as Arc<dyn Files>);
        let project = Project::new(packages).with(rust::LANGUAGE.name, finder);
        let id = project.packages.of(path);
        let package = id.and_then(|id| Some((id, project.packages.get(id)?)));
        let file = files.number(path).expect("the file is there");
        let input = Input { file, text: &text, module: "crate", package };
        let unit = rust::read(input, &Search::all_with([""]), rust::How::Whole).unit;
        let sites = super::super::sites(&project, &unit);
        sites.iter().map(|site| super::told(site).0).collect::<Vec<_>>().join(" | ")
    };
    assert_eq!(called("async fn a() { fetch(Some(9)).await; }"), "9 fixed 1s none");
    assert_eq!(called("async fn a() { fetch(None).await; }"), "3 fixed 1s none");
    assert_eq!(called(""), "3 fixed 1s none");
}
