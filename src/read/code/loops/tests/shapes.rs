//! The shapes of rust-crates.md 10.2, with the tries and delays that they make.

use super::check;

#[test]
fn generated_idioms_are_counted_exactly() {
    check(&[
        (
            "for n 250ms, whatever the last one",
            "let mut last = None;
             for attempt in 0..4 { match get().await { Ok(body) => return Ok(body), Err(e) => { tracing::warn!(\"{e}\"); last = Some(e); } }
               tokio::time::sleep(Duration::from_millis(250)).await; }
             Err(last.unwrap())",
            "4 fixed 250ms none",
        ),
        (
            "while",
            "let mut tries = 0; while tries < 3 { if let Ok(body) = get().await { return Ok(body); } tries += 1; sleep(Duration::from_secs(1)).await; }
             Err(anyhow!(\"gave up\"))",
            "3 fixed 1s none",
        ),
        (
            "loop with full jitter",
            "let mut attempt = 0u32; loop { match get().await { Ok(body) => return Ok(body), Err(e) => { attempt += 1; if attempt >= 5 { return Err(e); }
               let ceil = (50u64 << attempt.min(6)).min(2_000); let wait = rand::rng().random_range(0..=ceil);
               tokio::time::sleep(Duration::from_millis(wait)).await; } } }",
            "5 exponential 100ms x2 cap 2s 0..1",
        ),
        (
            "unbounded",
            "loop { match get().await { Ok(body) => return Ok(body), Err(e) => tracing::warn!(\"again: {e}\") }
               tokio::time::sleep(Duration::from_millis(500)).await; }",
            "unbounded fixed 500ms none",
        ),
        (
            "a constant in the function",
            "const PAUSE: Duration = Duration::from_millis(300); let mut last = None;
             for _ in 0..3 { match get().await { Ok(body) => return Ok(body), Err(e) => last = Some(e) } sleep(PAUSE).await; } Err(last.unwrap())",
            "3 fixed 300ms none",
        ),
        (
            "inclusive",
            "let mut last = None; for attempt in 0..=3 { match get().await { Ok(body) => return Ok(body), Err(e) => last = Some(e) }
               let ceil = (50u64 << attempt.min(6)).min(2_000); sleep(Duration::from_millis(rand::rng().random_range(0..=ceil))).await; } Err(last.unwrap())",
            "4 exponential 50ms x2 cap 2s 0..1",
        ),
        (
            "counting down",
            "let mut left = 3; loop { match get().await { Ok(body) => return Ok(body), Err(e) => { left -= 1; if left == 0 { return Err(e); } } }
               sleep(Duration::from_millis(200)).await; }",
            "3 fixed 200ms none",
        ),
        (
            "the first call outside",
            "let (mut tries, mut res) = (1, get().await); while res.is_err() && tries < 4 { sleep(Duration::from_secs(1)).await; res = get().await; tries += 1; } res",
            "4 fixed 1s none",
        ),
        (
            "a count that is a sum of constants",
            "let mut tries = 0; while tries < (BASE + 1) { if let Ok(body) = get().await { return Ok(body); } tries += 1; sleep(Duration::from_secs(1)).await; } Err(e)",
            "3 fixed 1s none",
        ),
    ]);
}

#[test]
fn every_shape_of_the_wild_is_found() {
    check(&[
        (
            "H1: a guard on the counter",
            "for attempt in 0..3 { match self.op().await { Ok(v) => return Ok(v), Err(e) if attempt + 1 < 3 => sleep(Duration::from_secs(1)).await, Err(e) => return Err(e) } } unreachable!()",
            "3 fixed 1s none",
        ),
        (
            "H2: the wait at the top, inclusive",
            "for attempt in 0..=MAX { if attempt > 0 { sleep(Duration::from_millis(100) * attempt).await; } if let Ok(v) = self.op().await { return Ok(v); } } Err(e)",
            "6 linear 100ms none",
        ),
        (
            "H3: counted after the test",
            "let mut tries = 0; loop { match self.op().await { Ok(v) => break Ok(v), Err(e) => { if tries >= MAX { return Err(e); } tries += 1; sleep(Duration::from_secs(1)).await; } } }",
            "6 fixed 1s none",
        ),
        (
            "H3: counted before the test",
            "let mut tries = 0; loop { match self.op().await { Ok(v) => break Ok(v), Err(e) => { tries += 1; if tries >= MAX { return Err(e); } sleep(Duration::from_secs(1)).await; } } }",
            "5 fixed 1s none",
        ),
        (
            "H3: `>` makes one more",
            "let mut tries = 0; loop { match self.op().await { Ok(v) => break Ok(v), Err(e) => { tries += 1; if tries > MAX { return Err(e); } sleep(Duration::from_secs(1)).await; } } }",
            "6 fixed 1s none",
        ),
        (
            "H3: counting down, tested first",
            "let mut retries = 4; loop { match self.op().await { Ok(v) => break Ok(v), Err(e) => { if retries == 0 { return Err(e); } retries -= 1; sleep(Duration::from_secs(1)).await; } } }",
            "5 fixed 1s none",
        ),
        (
            "H4: let-else",
            "for delay in [1, 3, 10] { let Err(e) = self.op().await else { return Ok(()); }; if !retryable(&e) { return Err(e); } sleep(Duration::from_secs(delay)).await; } Err(e)",
            "3 schedule 1s,3s,10s none",
        ),
        (
            "H5: the error falls through",
            "let mut delay = Duration::from_millis(50); loop { let r = self.op().await; let err = match r { Ok(v) => return Ok(v), Err(e) => e };
               n += 1; if n >= 4 { return Err(err); } sleep(delay).await; delay = std::cmp::min(delay * 2, Duration::from_secs(1)); }",
            "? exponential 50ms x2 cap 1s none",
        ),
        ("H6: while let", "while let Err(e) = self.op().await { sleep(Duration::from_secs(2)).await; } Ok(())", "unbounded fixed 2s none"),
        (
            "H6: that takes from a list",
            "let mut delays = [1, 2, 4].into_iter(); while let Err(e) = self.op().await { let Some(d) = delays.next() else { return Err(e); }; sleep(Duration::from_secs(d)).await; } Ok(())",
            "4 exponential 1s x2 none",
        ),
        (
            "H7: while, the result in a variable",
            "let mut attempt = 0; while attempt < 4 { let r = match self.op().await { Ok(v) => v, Err(e) => { attempt += 1; sleep(Duration::from_millis(1 << attempt)).await; continue; } }; return Ok(r); } Err(e)",
            "4 exponential 2ms x2 none",
        ),
        (
            "H8: a list of delays that may be absent",
            "for d in [Some(Duration::from_secs(1)), Some(Duration::from_secs(3)), None] { let Err(e) = self.op().await else { return Ok(()); };
               match d { Some(d) => sleep(d).await, None => return Err(e) } } unreachable!()",
            "3 schedule 1s,3s none",
        ),
        (
            "H9: reconnect",
            "let mut backoff = Backoff::default(); loop { match self.connect().await { Ok(s) => return Ok(s), Err(_) => sleep(backoff.next().unwrap()).await } }",
            "unbounded delay ? jitter ?",
        ),
        (
            "H10: cancelled while it waits",
            "loop { match self.op().await { Ok(v) => return Ok(v), Err(e) => warn!(\"{e}\") } tokio::select! { _ = sleep(Duration::from_secs(5)) => {}, _ = self.cancel.cancelled() => return Err(e) } }",
            "unbounded fixed 5s none",
        ),
        (
            "H11: an object that decides",
            "let mut r = Retry::new(); loop { match r.attempt(|| self.op()) { RetryResult::Success(v) => return Ok(v), RetryResult::Err(e) => return Err(e),
               RetryResult::Retry(ms) => std::thread::sleep(Duration::from_millis(ms)) } }",
            "? delay ? jitter ?",
        ),
        (
            "H13: success does not end it",
            "let mut x = None; for _ in 0..100 { match self.op().await { Ok(v) => x = Some(v), Err(e) => warn!(\"{e}\") } sleep(Duration::from_secs(1)).await; } Ok(x)",
            "100 fixed 1s none",
        ),
        (
            "no wait, but a count of tries",
            "for attempt in 0..3 { match self.op().await { Ok(v) => return Ok(v), Err(e) => warn!(\"{attempt}: {e}\") } } Err(e)",
            "3 at once",
        ),
        (
            "the answer's status decides",
            "let mut attempt = 1; loop { let response = match client.execute(request).await { Ok(r) => r, Err(_) if attempt < 3 => { sleep(PAUSE * attempt).await; attempt += 1; continue; } Err(e) => return Err(e) };
               let status = response.status(); if (status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS) && attempt < 3 { sleep(PAUSE * attempt).await; attempt += 1; continue; }
               if status.is_success() { return Ok(response); } return Err(status); }",
            "3 linear 100ms none",
        ),
        (
            "a list of delays is no list of targets",
            "for pause in [100, 200, 400] { match self.get(\"http://ledger/x\").await { Ok(v) => return Ok(v), Err(_) => sleep(Duration::from_millis(pause)).await } } Err(e)",
            "3 schedule 100ms,200ms,400ms none",
        ),
        (
            "a last try behind the loop",
            "for _ in 0..3 { match self.op().await { Ok(v) => return Ok(v), Err(_) => sleep(PAUSE).await } } self.op().await",
            "4 fixed 100ms none",
        ),
        (
            "another call behind the loop",
            "for _ in 0..3 { match self.op().await { Ok(v) => return Ok(v), Err(_) => sleep(PAUSE).await } } self.other().await",
            "3 fixed 100ms none",
        ),
        (
            "spread after a cap that the first delay does not reach",
            "let mut d = 1000u64; for i in 0..6 { match self.op().await { Ok(v) => return Ok(v), Err(e) => { if i == 5 { return Err(e); }
               sleep(Duration::from_millis(d + rand::random::<u64>() % 500)).await; d = (d * 2).min(2000); } } } Err(e)",
            "6 exponential 1s x2 cap 2s plus 500ms",
        ),
        (
            "a loop within waits",
            "let mut retries = 0; loop { match self.run().await { Ok(v) => return Ok(v), Err(e) => warn!(\"{e}\") } retries += 1; if retries > 2 { return Err(e); }
               self.state = loop { sleep(PAUSE).await; if let Ok(state) = State::rebuild().await { break state; } }; }",
            "3 delay ? jitter ? | unbounded fixed 100ms none",
        ),
        (
            "out of a block, on in the loop",
            "for _ in 0..3 { 'one: { match self.op().await { Ok(v) => return Ok(v), Err(e) => { if e.told() { break 'one; } warn!(\"{e}\"); } } } sleep(PAUSE).await; } Err(e)",
            "3 fixed 100ms none",
        ),
    ]);
}

/// H12
#[test]
fn a_function_that_calls_itself_is_a_loop() {
    let text = "use tokio::time::sleep; use std::time::Duration;
        async fn call(op: Op, attempt: u32) -> Result<String> { match op.run().await { Ok(v) => Ok(v), Err(e) if attempt >= 3 => Err(e),
          Err(_) => { sleep(Duration::from_secs(1)).await; Box::pin(call(op, attempt + 1)).await } } }";
    assert_eq!(super::tell_all(text), "? fixed 1s none");
    // The near miss: what goes down a tree.
    let walk = "fn walk(node: &Node) -> Result<()> { for child in node.children() { if let Err(e) = walk(child) { return Err(e); } } Ok(()) }";
    assert_eq!(super::tell_all(walk), "");
}

#[test]
fn an_object_that_is_asked_with_the_error_decides_how_often() {
    check(&[
        (
            "an object made for the tries",
            "let mut state = State::start(self.policy());
             loop { match get().await { Ok(body) => return Ok(body),
               Err(e) if let Some(wait) = state.should_retry(&e) => { sleep(Duration::from_secs(1)).await; }
               Err(e) => return Err(e) } }",
            "? fixed 1s none",
        ),
        (
            "asked after some failures, the others leave as it does where it has no more",
            "let mut backoff = self.backoff.clone();
             loop { match get().await { Ok(body) => return Ok(body),
               Err(e) if spurious(&e) => match backoff.next_delay() { Some(wait) => { sleep(Duration::from_secs(1)).await; continue; } None => return Err(e) },
               Err(e) => return Err(e) } }",
            "? fixed 1s none",
        ),
        (
            "an object of which nothing is seen",
            "let mut state = State::start(self.settings().retry_policy());
             loop { match get().await { Ok(body) => return Ok(body),
               Err(e) if let Some(wait) = state.should_retry(e.inner(), e.count()) => { sleep(Duration::from_secs(1)).await; }
               Err(e) => return Err(e.with(state.total())) } }",
            "? fixed 1s none",
        ),
        (
            "a look at the error alone says nothing of how often",
            "loop { match get().await { Ok(body) => return Ok(body), Err(e) if e.is_fatal() => return Err(e),
               Err(_) => sleep(Duration::from_secs(1)).await } }",
            "unbounded fixed 1s none",
        ),
    ]);
}

#[test]
fn no_limit_in_sight_is_not_known_to_be_none() {
    let retry = |call: &str| {
        format!(
            "loop {{ match {call}.await {{ Ok(b) => return Ok(b), Err(_) => sleep(Duration::from_secs(1)).await }} }}"
        )
    };
    let limit = |call: &str| super::first(&retry(call)).policy.attempt_timeout;
    assert!(limit("client.get()").known().is_none() && !limit("client.get()").is_written());
    // Whichever comes first, the count or the time; where both must come, time alone ends nothing.
    let total = |ends: &str| {
        let counted = format!(
            "let start = Instant::now(); let mut n = 0; loop {{ match get().await {{ Ok(b) => return Ok(b),
               Err(e) => {{ n += 1; if {ends} {{ return Err(e); }} sleep(Duration::from_secs(1)).await; }} }} }}"
        );
        let policy = super::first(&counted).policy;
        (policy.attempts.known().copied(), policy.total.limit.known().copied())
    };
    let at = |seconds| Some(crate::facts::Limit::At(crate::facts::Nanos::from_secs(seconds)));
    let five = Some(crate::facts::Attempts::Times(5));
    assert_eq!(total("n >= 5 || start.elapsed() > Duration::from_secs(10)"), (five, at(10)));
    assert_eq!(total("n >= 5"), (five, Some(crate::facts::Limit::None)));
    let written = limit("tokio::time::timeout(Duration::from_secs(2), client.get())");
    assert_eq!(written.known(), Some(&crate::facts::Limit::At(crate::facts::Nanos::from_secs(2))));
}

/// What is tried is handed to an object that counts, through an enum that says what comes next.
#[test]
fn an_object_that_tries_counts_the_tries() {
    let told = |decides: &str, body: &str| {
        super::tell_all(&format!(
            "use std::time::Duration; pub enum Next {{ Done(u8), Err(Error), Retry(u64) }} pub struct Retry {{ done: u64, most: u64 }}
             impl Retry {{ fn start(settings: &Settings) -> Result<Retry> {{ let most = settings.net()?.retry.unwrap_or(3); Ok(Retry {{ done: 0, most }}) }}
               fn attempt(&mut self, f: impl FnOnce() -> Result<u8>) -> Next {{ match f() {{
                 Err(ref e) if spurious(e) && self.done < self.most => {{ if let Err(e) = self.shell().warn(e) {{ return Next::Err(e); }} {decides} Next::Retry(self.pause()) }}
                 Err(e) => Next::Err(e), Ok(v) => Next::Done(v) }} }}
               fn pause(&self) -> u64 {{ self.done * 3000 + 500 }} }}
             {body}"
        ))
    };
    let body = "async fn get(settings: &Settings) -> Result<u8> { let mut retry = Retry::start(settings)?;
        loop { let answer = fetch().await; match retry.attempt(|| answer) { Next::Done(v) => return Ok(v), Next::Err(e) => return Err(e),
          Next::Retry(ms) => tokio::time::sleep(Duration::from_millis(ms)).await } } }";
    assert_eq!(told("self.done += 1;", body), "4 schedule 3500ms,6500ms,9500ms none");
    let helper = "fn with_retry(settings: &Settings, mut f: impl FnMut() -> Result<u8>) -> Result<u8> { let mut retry = Retry::start(settings)?;
        loop { match retry.attempt(&mut f) { Next::Done(v) => return Ok(v), Next::Err(e) => return Err(e),
          Next::Retry(ms) => std::thread::sleep(Duration::from_millis(ms)) } } }";
    assert_eq!(told("self.done += 1;", helper), "4 schedule 3500ms,6500ms,9500ms none");
    // The neighbour forgets to count: then only the kind of failure decides, and nothing says how often.
    assert_eq!(told("", body), "? fixed 500ms none");
}

#[test]
fn a_comparison_that_is_passed_by_ends_nothing() {
    let body = |range: &str, test: &str| {
        format!(
            "for i in {range} {{ if {test} {{ reseed(); }}
               match get().await {{ Ok(body) => return Ok(body), Err(_) => sleep(Duration::from_secs(1)).await }} }} Err(e)"
        )
    };
    check(&[
        ("of three", &body("0..4", "i == 3"), "4 fixed 1s none"),
        ("of many thousands", &body("0..65536", "i == 3"), "65536 fixed 1s none"),
        ("of how many is not known", &body("0..given()", "i == 3"), "? fixed 1s none"),
        ("without end", &body("0..", "i == 3"), "unbounded fixed 1s none"),
        ("without end, again and again", &body("0..", "i % 3 == 0"), "unbounded fixed 1s none"),
    ]);
}

#[test]
fn a_count_that_is_still_on_its_way_ends_a_loop() {
    check(&[(
        "in steps of three",
        "let mut n = 0; loop { match get().await { Ok(body) => return Ok(body), Err(e) => { n += 3; if n == 30 { return Err(e); } } }
           sleep(Duration::from_secs(1)).await; }",
        "10 fixed 1s none",
    )]);
}

#[test]
fn options_of_a_request_hide_no_loop() {
    let body = |options: usize, option: &str| {
        format!(
            "let mut n = 0; let mut d = 0; loop {{ let mut req = http.post(\"http://inv/x\"); {}
               match req.send().await {{ Ok(r) => return Ok(r), Err(e) => {{ n += 1; if n > 3 {{ return Err(e); }} sleep(Duration::from_secs(1)).await; }} }} }}",
            option.repeat(options)
        )
    };
    let header = "if let Some(v) = &self.a { req = req.header(\"a\", v); } ";
    check(&[
        ("none", &body(0, header), "4 fixed 1s none"),
        ("five", &body(5, header), "4 fixed 1s none"),
        ("twenty", &body(20, header), "4 fixed 1s none"),
        ("that are counted", &body(10, "if self.b() { d += 1; } "), "4 fixed 1s none"),
        // The most that there may be.
        ("that use tries up", &body(10, "if self.b() { n += 1; } "), "4 fixed 1s none"),
    ]);
}

#[test]
fn the_same_request_at_once_is_tried_again_whatever_counts() {
    check(&[
        ("blank", "for _ in 0..3 { if let Ok(r) = self.c.get(U).send().await { return Ok(r); } } Err(E)", "3 at once"),
        (
            "a letter",
            "let mut n = 0; loop { match self.c.get(U).send().await { Ok(r) => return Ok(r), Err(e) if n >= 4 => return Err(e), Err(_) => { n += 1; continue } } }",
            "5 at once",
        ),
        (
            "down to nothing",
            "let mut left = 3; loop { match reqwest::get(U).await { Ok(r) => return Ok(r), Err(e) => { left -= 1; if left == 0 { return Err(e); } } } }",
            "3 at once",
        ),
        (
            "by its status",
            "let mut n = 0; loop { let r = self.c.get(U).send().await?; if r.status().is_server_error() && n < 2 { n += 1; continue; } return Ok(r); }",
            "3 at once",
        ),
        // The near misses.
        (
            "another one each time",
            "for page in 0..3 { if let Ok(r) = self.c.get(url(page)).send().await { return Ok(r); } } Err(E)",
            "",
        ),
        ("mirrors", "for host in hosts { if let Ok(r) = self.c.get(host).send().await { return Ok(r); } } Err(E)", ""),
        (
            "with another token",
            "loop { let r = self.c.get(U).send().await?; if r.status() == 401 && !renewed { self.renew().await?; renewed = true; continue; } return Ok(r); }",
            "",
        ),
        ("a local thing", "for n in 0..9 { if let Ok(f) = File::create_new(path(n)) { return Ok(f); } } Err(E)", ""),
        ("a channel", "for _ in 0..3 { if self.tx.send(7).await.is_ok() { return Ok(()); } } Err(E)", ""),
        ("what works goes on", "for _ in 0..3 { let r = self.c.get(U).send().await?; all.push(r); } Ok(all)", ""),
    ]);
}
