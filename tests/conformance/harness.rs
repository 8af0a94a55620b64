//! What the examples of `rules/libraries/*.toml` are run with: an operation that fails and a server that does not answer well,
//! both of which write down when they were tried.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

/// After so many tries the operation succeeds, so that what never gives up comes to an end.
pub const ENOUGH: usize = 12;

/// What the operation fails with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed;

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("failed")
    }
}

impl std::error::Error for Failed {}

/// One try: when it began and when it ended.
#[derive(Clone, Copy)]
struct Try {
    start: Instant,
    end: Instant,
}

static TRIES: Mutex<Vec<Try>> = Mutex::new(Vec::new());

fn tries() -> MutexGuard<'static, Vec<Try>> {
    TRIES.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Writes down a try that ends at once. Its number, from 1.
fn tried() -> usize {
    let now = Instant::now();
    let mut tries = tries();
    tries.push(Try { start: now, end: now });
    tries.len()
}

/// The operation of most examples.
pub async fn op() -> Result<(), Failed> {
    blocking_op()
}

/// The same for code that is not asynchronous.
pub fn blocking_op() -> Result<(), Failed> {
    if tried() < ENOUGH { Err(Failed) } else { Ok(()) }
}

/// An operation that never ends: a try lasts until it is dropped.
pub async fn hanging_op() -> Result<(), Failed> {
    struct Ends(usize);
    impl Drop for Ends {
        fn drop(&mut self) {
            ended(self.0);
        }
    }
    let _ends = Ends(tried());
    std::future::pending().await
}

/// Writes down that a try has ended.
fn ended(number: usize) {
    if let Some(one) = tries().get_mut(number - 1) {
        one.end = Instant::now();
    }
}

/// What the server does with each request.
#[derive(Clone, Copy)]
pub enum Server {
    /// There is none.
    None,
    /// It answers with this status.
    Status(u16),
    /// It reads the request and never answers.
    Hang,
    /// It reads the request and closes the connection.
    Reset,
}

/// One example.
pub struct Example {
    pub name: &'static str,
    pub server: Server,
    /// Whether it needs the real clock: threads that sleep, clocks of the system, sockets.
    pub real: bool,
    pub runs: usize,
    pub run: fn(String) -> Pin<Box<dyn Future<Output = ()>>>,
}

/// Runs an example as often as it says, and prints what was measured as one line of JSON. Of every number the least, the one
/// that nine of ten runs stay below, and the greatest; times are nanoseconds.
pub fn measure(example: &Example) {
    let mut attempts = Span::default();
    let mut elapsed = Span::default();
    let (mut delays, mut lengths) = (Vec::<Span>::new(), Vec::<Span>::new());
    for _ in 0..example.runs {
        tries().clear();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(!example.real)
            .build()
            .expect("a runtime");
        let took = runtime.block_on(async {
            let url = serve(example.server).await;
            let start = Instant::now();
            (example.run)(url).await;
            let took = start.elapsed();
            // The server needs a moment to see that the last connection was closed.
            if example.real {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            took
        });
        drop(runtime);
        let tries = tries();
        attempts.add(tries.len() as u128);
        elapsed.add(took.as_nanos());
        for (i, one) in tries.iter().enumerate() {
            at(&mut lengths, i).add((one.end - one.start).as_nanos());
        }
        for (i, pair) in tries.windows(2).enumerate() {
            at(&mut delays, i).add(pair[1].start.saturating_duration_since(pair[0].end).as_nanos());
        }
    }
    println!(
        "{{\"example\":\"{}\",\"runs\":{},\"attempts\":{attempts},\"elapsed\":{elapsed},\"delays\":[{}],\"tries\":[{}]}}",
        example.name,
        example.runs,
        list(&delays),
        list(&lengths)
    );
}

#[derive(Clone, Default)]
struct Span(Vec<u128>);

impl Span {
    fn add(&mut self, value: u128) {
        self.0.push(value);
    }
}

impl std::fmt::Display for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut all = self.0.clone();
        all.sort_unstable();
        let last = all.len().saturating_sub(1);
        let [least, most, greatest] = [0, last * 9 / 10, last].map(|i| all.get(i).copied().unwrap_or_default());
        write!(f, "[{least},{most},{greatest}]")
    }
}

fn at(spans: &mut Vec<Span>, i: usize) -> &mut Span {
    if spans.len() <= i {
        spans.resize(i + 1, Span::default());
    }
    &mut spans[i]
}

fn list(spans: &[Span]) -> String {
    spans.iter().map(Span::to_string).collect::<Vec<_>>().join(",")
}

/// Starts the server. Its address, without a path; one that nobody listens on if there is none.
async fn serve(server: Server) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    if !matches!(server, Server::None) {
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(answer(server, stream));
            }
        });
    }
    url
}

/// Takes one request. The try begins with it, and ends with the answer, or when the client closes the connection.
async fn answer(server: Server, mut stream: TcpStream) {
    let mut request = vec![0; 65536];
    let Ok(1..) = stream.read(&mut request).await else { return };
    let number = tried();
    match server {
        Server::None | Server::Reset => {}
        Server::Status(status) => {
            let status = if number < ENOUGH { status } else { 200 };
            let text = format!("HTTP/1.1 {status} \r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            let _ = stream.write_all(text.as_bytes()).await;
        }
        Server::Hang => while let Ok(1..) = stream.read(&mut request).await {},
    }
    ended(number);
}
