//! Policies of the project's own that tower asks after each try.

use super::tell_all;

/// A policy that counts down and doubles its delay.
const COUNTED: &str = "use std::time::Duration; use tower::retry::Policy; use tokio::time::{Sleep, sleep};
    #[derive(Clone)] pub struct Attempts { left: usize, delay: Duration }
    impl Attempts { pub fn new(left: usize) -> Attempts { Attempts { left, delay: Duration::from_millis(100) } }
      fn advance(&mut self) { self.left = self.left.saturating_sub(1); self.delay = self.delay * 2; } }
    impl<R: Clone, T, E: Kind> Policy<R, T, E> for Attempts { type Future = Sleep;
      fn retry(&mut self, _: &mut R, result: &mut Result<T, E>) -> Option<Sleep> { match result { Ok(_) => None, Err(e) => {
        if self.left == 0 || !e.is_temporary() { return None; } let delay = self.delay; self.advance(); Some(sleep(delay)) } } }
      fn clone_request(&mut self, request: &R) -> Option<R> { Some(request.clone()) } }";

fn made(body: &str) -> String {
    tell_all(&format!("{COUNTED} {body}"))
}

#[test]
fn a_policy_is_asked_until_it_gives_up() {
    // It is left alone in its own constructor, and says how often where that is called.
    assert_eq!(made("fn f() -> Attempts { Attempts::new(3) }"), "4 exponential 100ms x2 none");
    assert_eq!(
        made("fn f() -> Attempts { Attempts { left: 2, delay: Duration::from_secs(1) } }"),
        "3 exponential 1s x2 none"
    );
    // Which of two delays it is depends on something that is not seen.
    let two =
        COUNTED.replace("let delay = self.delay;", "let delay = if fast() { self.delay } else { self.delay * 3 };");
    assert_eq!(tell_all(&format!("{two} fn f() -> Attempts {{ Attempts::new(3) }}")), "4 delay ? jitter ?");
    // How often is somebody else's business: it is a retry all the same.
    assert_eq!(made("fn f(n: usize) -> Attempts { Attempts::new(n) }"), "? exponential 100ms x2 none");
}

#[test]
fn futures_that_are_ready_wait_for_nothing() {
    let policy = |body: &str| {
        tell_all(&format!(
            "use std::future::{{Ready, ready}}; use tower::retry::{{Policy, RetryLayer}}; #[derive(Clone)] struct Twice(usize);
             impl<T: Clone, R, E> Policy<T, R, E> for Twice {{ type Future = Ready<()>;
               fn retry(&mut self, _: &mut T, result: &mut Result<R, E>) -> Option<Ready<()>> {{ {body} }}
               fn clone_request(&mut self, request: &T) -> Option<T> {{ Some(request.clone()) }} }}
             fn f() -> RetryLayer<Twice> {{ RetryLayer::new(Twice(2)) }}"
        ))
    };
    let counted = "if result.is_ok() || self.0 == 0 { return None; } self.0 -= 1; Some(ready(()))";
    assert_eq!(policy(counted), "3 at once");
    // Nothing but success ends it.
    assert_eq!(policy("if result.is_ok() { return None; } Some(ready(()))"), "unbounded at once");
    assert_eq!(policy("result.is_err().then(|| ready(()))"), "unbounded at once");
    assert_eq!(policy("self.0 = self.0.checked_sub(1)?; result.is_err().then(|| ready(()))"), "3 at once");
    // Something that is not seen may.
    assert_eq!(policy("if result.is_ok() || budget().is_empty() { return None; } Some(ready(()))"), "? at once");
}

#[test]
fn a_policy_whose_delays_begin_with_the_second_of_a_series() {
    let policy = "use std::time::Duration; use tower::retry::Policy; use std::pin::Pin; use tokio::time::{Sleep, sleep};
        pub enum Spread { None, Full }
        pub struct Wait { delay: Pin<Box<Sleep>> }
        #[derive(Clone)] pub struct Fibonacci { left: usize, before: Duration, now: Duration, most: Duration }
        impl Fibonacci { fn new(left: usize, first: Duration, most: Duration) -> Self {
            Fibonacci { left, before: Duration::from_secs(0), now: first, most } }
          fn advance(&mut self) { let sum = self.before.checked_add(self.now).unwrap_or(Duration::MAX);
            let next = std::cmp::min(sum, self.most); self.left = self.left.saturating_sub(1); self.before = self.now; self.now = next; }
          fn again(&mut self) -> Wait { self.advance(); let delay = Box::pin(sleep(self.now)); Wait { delay } } }
        impl<Q: Clone, R> Policy<Q, R, Error> for Fibonacci { type Future = Wait;
          fn retry(&mut self, _: &mut Q, result: &mut Result<R, Error>) -> Option<Wait> { match result {
            Ok(_) => None,
            Err(error) => { if self.left == 0 { return None; }
              if let Some(known) = error.downcast_ref::<Known>() { if known.is_temporary() { Some(self.again()) } else { None } } else { None } } } }
          fn clone_request(&mut self, request: &Q) -> Option<Q> { Some(request.clone()) } }
        #[test] fn grows() { let mut policy = Fibonacci::new(6, Duration::from_secs(1), Duration::from_secs(20)); }";
    assert_eq!(tell_all(policy), "7 fibonacci 1s none");
}

#[test]
fn neighbours_of_policies_are_none() {
    // The trait of the project's own.
    let own =
        COUNTED.replace("use tower::retry::Policy;", "mod retry { pub trait Policy<R, T, E> {} } use retry::Policy;");
    assert_eq!(tell_all(&format!("{own} fn f() -> Attempts {{ Attempts::new(3) }}")), "");
    // Handing on what another one decides is no policy, and neither is passing one through.
    let around = "struct Counted<P> { inner: P, count: Counter }
        impl<R, T, E, P: Policy<R, T, E>> Policy<R, T, E> for Counted<P> { type Future = P::Future;
          fn retry(&mut self, request: &mut R, result: &mut Result<T, E>) -> Option<P::Future> { let again = self.inner.retry(request, result);
            self.count.add(); again }
          fn clone_request(&mut self, request: &R) -> Option<R> { self.inner.clone_request(request) } }";
    assert_eq!(
        made(&format!("{around} fn f<P>(inner: P, count: Counter) -> Counted<P> {{ Counted {{ inner, count }} }}")),
        ""
    );
    assert_eq!(made("fn f(policy: Attempts) -> RetryLayer<Attempts> { RetryLayer::new(policy) }"), "");
    // A method of another trait that is called the same.
    let other = COUNTED.replace("Policy<R, T, E> for", "Other<R, T, E> for");
    assert_eq!(tell_all(&format!("{other} fn f() -> Attempts {{ Attempts::new(3) }}")), "");
}
