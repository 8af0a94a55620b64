//! The limits of contracts.md D-17, and the day on which they are applied; retrylint.toml's `[limits]` and the command line change them.

use serde::Serialize;

use crate::facts::{Date, Nanos};

/// From where on something is too much. `max_*` and `error_*` fire strictly above, `min_jitter` strictly below.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Limits {
    /// Tries of one policy on a request path.
    pub max_attempts: u64,
    /// Tries of one job, workflow or broker policy.
    pub max_attempts_job: u64,
    /// Amplification that warns.
    pub max_amplification: f64,
    /// Amplification that is an error.
    pub error_amplification: f64,
    /// Largest delay.
    pub max_backoff: Nanos,
    /// Slowest answer on a request path.
    pub max_total_wait: Nanos,
    /// Least spread of the last delay.
    pub min_jitter: f64,
    /// Delays below this need no jitter.
    pub min_jitter_delay: Nanos,
    /// The day of the run, against which the ends of suppressions are held. None: nothing ends.
    pub today: Option<Date>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_attempts: 6,
            max_attempts_job: 10,
            max_amplification: 4.0,
            error_amplification: 10.0,
            max_backoff: Nanos::from_secs(60),
            max_total_wait: Nanos::from_secs(60),
            min_jitter: 0.1,
            min_jitter_delay: Nanos::from_millis(100),
            today: None,
        }
    }
}
