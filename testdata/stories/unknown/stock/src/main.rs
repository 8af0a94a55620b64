use backon::{ExponentialBuilder, Retryable};
use std::time::Duration;

async fn stock(http: &reqwest::Client, article: &str) -> reqwest::Result<String> {
    let backend = std::env::var("BACKEND").unwrap_or_default();
    let ask = || async { http.get(format!("{backend}/stock/{article}")).send().await?.text().await };
    ask.retry(ExponentialBuilder::default().with_max_times(2).with_jitter()).await
}

#[tokio::main]
async fn main() {
    let http = reqwest::Client::builder().timeout(Duration::from_secs(2)).build().unwrap_or_default();
    println!("{:?}", stock(&http, "umbrella").await);
}
