use std::time::Duration;
use tokio::time::sleep;

/// A loop without a loop.
pub async fn total(attempt: u32) -> Result<u32, reqwest::Error> {
    match crate::client::load().await {
        Err(_) if attempt < 3 => {
            sleep(Duration::from_millis(50)).await;
            Box::pin(total(attempt + 1)).await
        }
        other => other,
    }
}
