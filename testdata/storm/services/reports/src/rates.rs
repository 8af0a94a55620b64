//! Exchange rates, fetched anew for each report.

use std::collections::HashMap;
use std::time::Duration;

use tokio_retry::Retry;
use tokio_retry::strategy::FixedInterval;

use crate::limits;

const URL: &str = "http://rates.shop.svc.cluster.local:8080/latest";

pub async fn latest(client: &reqwest::Client) -> Result<HashMap<String, f64>, reqwest::Error> {
    let delays = FixedInterval::from_millis(500).take(limits::RATES);
    Retry::spawn(delays, || fetch(client)).await
}

async fn fetch(client: &reqwest::Client) -> Result<HashMap<String, f64>, reqwest::Error> {
    let answer = client.get(URL).timeout(Duration::from_secs(4)).send().await?;
    answer.error_for_status()?.json().await
}
