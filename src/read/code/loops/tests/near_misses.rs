//! Loops that are no retries (rust-crates.md 10.4, rules.md "Near misses"): each stays silent, and most have a neighbour that
//! differs by the one thing that tells, and is found.

use super::{check, tell_all};

#[test]
fn loops_that_go_on_after_success_stay_silent() {
    check(&[
        (
            "a ticker",
            "let mut interval = tokio::time::interval(PAUSE); loop { interval.tick().await; self.report().await; }",
            "",
        ),
        ("a background job", "loop { if let Err(e) = self.flush().await { warn!(\"{e}\"); } sleep(PAUSE).await; }", ""),
        (
            "a background job that looks at its result",
            "loop { match self.flush().await { Ok(()) => debug!(\"done\"), Err(e) => warn!(\"{e}\") } sleep(PAUSE).await; }",
            "",
        ),
        (
            "a refresher: the wait is on the success side",
            "loop { match self.resolve().await { Ok(ttl) => sleep(ttl).await, Err(e) => return Err(e) } }",
            "",
        ),
        (
            "accept",
            "loop { match listener.accept().await { Ok((s, _)) => { tokio::spawn(handle(s)); } Err(e) => { warn!(\"{e}\"); sleep(PAUSE).await; } } }",
            "",
        ),
        (
            "a consumer",
            "while let Some(m) = rx.recv().await { if let Err(e) = self.handle(m).await { error!(\"{e}\"); sleep(PAUSE).await; } } Ok(())",
            "",
        ),
        (
            "a consumer that backs off",
            "loop { match consumer.fetch().await { Ok(batch) => self.handle(batch).await, Err(e) => { sleep(PAUSE).await; } } }",
            "",
        ),
        (
            "an actor",
            "loop { tokio::select! { m = self.rx.recv() => match m { Some(m) => self.on(m).await, None => return Ok(()) }, _ = sleep(PAUSE) => self.tick() } }",
            "",
        ),
        (
            "a job worker",
            "loop { match self.queue.pop_job().await { Ok(Some(job)) => { self.work(job).await; continue; } Ok(None) => {} Err(e) => warn!(\"{e}\") } sleep(PAUSE).await; }",
            "",
        ),
        (
            "pages",
            "let mut out = Vec::new(); for page in 0..10 { out.push(self.get(page).await?); sleep(PAUSE).await; } Ok(out)",
            "",
        ),
        (
            "pages by token",
            "let mut token = None; loop { let page = self.list(token).await?; all.extend(page.items); if page.next.is_none() { return Ok(all); } token = page.next; sleep(PAUSE).await; }",
            "",
        ),
        (
            "each item once",
            "for item in items { if let Err(e) = self.send(item).await { warn!(\"{e}\"); sleep(PAUSE).await; } } Ok(())",
            "",
        ),
    ]);
}

#[test]
fn waiting_for_something_stays_silent() {
    check(&[
        (
            "a status",
            "loop { let s = self.describe().await?; if s.state == State::Ready { return Ok(s); } sleep(PAUSE).await; }",
            "",
        ),
        (
            "a status, matched",
            "loop { match self.describe().await? { State::Running => return Ok(()), State::Failed => return Err(e), _ => sleep(PAUSE).await } }",
            "",
        ),
        (
            "pending is no failure",
            "loop { match self.token().await { Ok(Some(t)) => return Ok(t), Ok(None) => sleep(PAUSE).await, Err(e) => return Err(e) } }",
            "",
        ),
        ("a file", "while !path.exists() { sleep(PAUSE).await; } Ok(())", ""),
        (
            "a permit",
            "loop { match self.semaphore.try_acquire() { Ok(p) => return Ok(p), Err(_) => sleep(PAUSE).await } }",
            "",
        ),
        ("a limiter", "loop { match limiter.check() { Ok(()) => return Ok(()), Err(wait) => sleep(wait).await } }", ""),
        (
            "an owner",
            "loop { arc = match Arc::try_unwrap(arc) { Ok(v) => return Ok(v), Err(a) => a }; if start.elapsed() > PAUSE { return Err(e); } std::thread::sleep(PAUSE); }",
            "",
        ),
        (
            "a lock",
            "loop { match file.try_lock() { Ok(()) => return Ok(()), Err(_) => { if start.elapsed() >= PAUSE { return Err(e); } std::thread::sleep(PAUSE); } } }",
            "",
        ),
        (
            "a timer beside an answer",
            "loop { tokio::select! { r = &mut answer => return r, _ = sleep(PAUSE) => warn!(\"still waiting\") } }",
            "",
        ),
        (
            "the neighbour: an operation",
            "loop { match self.lease().await { Ok(p) => return Ok(p), Err(_) => sleep(PAUSE).await } }",
            "unbounded fixed 100ms none",
        ),
    ]);
    let waits = |name: &str, wait: &str| {
        tell_all(&format!(
            "use std::time::Duration; use tokio::time::sleep; async fn {name}(addr: Addr) -> Result<()> {{ let mut d = Duration::from_millis(10); for _ in 0..30 {{ match connect(addr).await {{ Ok(_) => return Ok(()), Err(_) => {{ {wait} }} }} }} Err(e) }}"
        ))
    };
    assert_eq!(waits("wait_for_port", "sleep(Duration::from_secs(1)).await;"), "");
    assert_eq!(waits("open_port", "sleep(Duration::from_secs(1)).await;"), "30 fixed 1s none");
    assert_eq!(waits("wait_for_port", "sleep(d).await; d *= 2;"), "30 exponential 10ms x2 none");
}

#[test]
fn loops_that_look_for_another_way_stay_silent() {
    check(&[
        (
            "compare and swap",
            "loop { match value.compare_exchange(old, new) { Ok(_) => return Ok(()), Err(now) => old = now } }",
            "",
        ),
        (
            "compare and swap that yields",
            "for attempt in 0..100 { match value.compare_exchange_weak(old, new) { Ok(_) => return Ok(()), Err(now) => { old = now; std::hint::spin_loop(); } } } Err(e)",
            "",
        ),
        (
            "a free name",
            "for attempt in 0..100 { let path = dir.join(format!(\"tmp{attempt}\")); match File::create_new(&path) { Ok(f) => return Ok(f), Err(e) if e.kind() == ErrorKind::AlreadyExists => continue, Err(e) => return Err(e) } } Err(e)",
            "",
        ),
        (
            "a free port",
            "for attempt in 0..10 { if let Ok(l) = TcpListener::bind((host, 8000 + attempt)) { return Ok(l); } } Err(e)",
            "",
        ),
        (
            "a level that fits",
            "for attempt in 0..20 { let problem = scaled(attempt); if let Ok(s) = solve(&problem).await { return Ok(s); } } Err(e)",
            "",
        ),
        (
            "hosts",
            "for host in hosts { match self.call(host).await { Ok(v) => return Ok(v), Err(e) => warn!(\"{e}\") } } Err(e)",
            "",
        ),
        (
            "an interrupted system call",
            "let mut retries = 0; loop { retries += 1; match poll_once(fd) { Err(e) if e.kind() == ErrorKind::Interrupted => continue, r => return r } }",
            "",
        ),
        (
            "a password",
            "for attempt in 0..3 { match read_password() { Ok(p) => return Ok(p), Err(e) => warn!(\"{e}\") } } Err(e)",
            "",
        ),
        (
            "no count and no wait",
            "loop { match self.step().await { Ok(v) => return Ok(v), Err(e) => self.fix(e) } }",
            "",
        ),
        (
            "failure leaves",
            "loop { match self.op().await { Ok(v) => self.keep(v), Err(e) => return Err(e) } sleep(PAUSE).await; }",
            "",
        ),
        (
            "both leave",
            "for attempt in 0..3 { match self.op().await { Ok(v) => return Ok(v), Err(e) => return Err(e) } } Err(e)",
            "",
        ),
        (
            "one region after the other",
            "for region in [\"us\", \"eu\", \"ap\"] { if let Ok(v) = self.get(format!(\"http://{region}.ledger/x\")).await { return Ok(v); } sleep(PAUSE).await; } Err(e)",
            "",
        ),
        (
            "one host after the other",
            "for host in &self.hosts { match Client::connect(host).await { Ok(v) => return Ok(v), Err(_) => sleep(PAUSE).await } } Err(e)",
            "",
        ),
        (
            "attempts of something else",
            "for attempt in msg.attempts.iter() { if let Err(e) = self.note(attempt).await { warn!(\"{e}\"); } } Ok(())",
            "",
        ),
    ]);
    let polled = "use std::time::Duration; impl S { fn poll_ready(&mut self) -> Poll<Result<()>> { loop { match self.connect() { Ok(_) => return Poll::Ready(Ok(())), Err(_) => std::thread::sleep(Duration::from_secs(1)) } } } }";
    assert_eq!(tell_all(polled), "");
    assert_eq!(tell_all(&polled.replace("poll_ready", "open")), "unbounded fixed 1s none");
}
