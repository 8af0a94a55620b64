//! Exchange rates, fetched anew for each report.

use std::collections::HashMap;
use std::time::Duration;

use tokio_retry::RetryIf;
use tokio_retry::strategy::{ExponentialBackoff, jitter};

use crate::limits;

const URL: &str = "http://rates.shop.svc.cluster.local:8080/latest";

pub async fn latest(client: &reqwest::Client) -> Result<HashMap<String, f64>, reqwest::Error> {
    let delays = ExponentialBackoff::from_millis(2)
        .factor(100)
        .max_delay(Duration::from_secs(1))
        .map(jitter)
        .take(limits::RATES);
    RetryIf::spawn(delays, || fetch(client), may_pass).await
}

async fn fetch(client: &reqwest::Client) -> Result<HashMap<String, f64>, reqwest::Error> {
    let answer = client.get(URL).timeout(Duration::from_secs(4)).send().await?;
    answer.error_for_status()?.json().await
}

/// Whether another try may find what this one did not.
fn may_pass(error: &reqwest::Error) -> bool {
    error.is_connect() || error.is_timeout() || error.status().is_some_and(|status| status.is_server_error())
}
