//! A line on standard error while a long run goes on: only on a terminal, and only past half a second.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::cli::Terminal;

/// Shows its line until it is dropped.
pub struct Progress(Option<(Sender<()>, JoinHandle<()>)>);

impl Progress {
    /// Starts to wait.
    pub fn start(terminal: Terminal) -> Self {
        if terminal.no_progress || terminal.quiet || !std::io::stderr().is_terminal() {
            return Progress(None);
        }
        let (stop, stopped) = channel::<()>();
        let thread = std::thread::spawn(move || {
            let is_over = |time: u64| {
                !matches!(
                    stopped.recv_timeout(Duration::from_millis(time)),
                    Err(std::sync::mpsc::RecvTimeoutError::Timeout)
                )
            };
            if is_over(500) {
                return;
            }
            let mut stderr = std::io::stderr();
            let mut seconds = 0;
            loop {
                let time = if seconds == 0 { String::new() } else { format!(" {seconds} s") };
                let _ = write!(stderr, "\rreading files …{time}").and_then(|()| stderr.flush());
                if is_over(1000) {
                    break;
                }
                seconds += 1;
            }
            let _ = write!(stderr, "\r{}\r", " ".repeat(40)).and_then(|()| stderr.flush());
        });
        Progress(Some((stop, thread)))
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.0.take() {
            drop(stop);
            let _ = thread.join();
        }
    }
}
