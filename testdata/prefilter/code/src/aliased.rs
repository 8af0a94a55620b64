use std::time::Duration;
use tokio::time::{sleep as nap, timeout};

/// It waits by a name that says nothing.
pub async fn fetch() -> Option<u32> {
    for _ in 0..4 {
        if let Ok(Ok(answer)) = timeout(Duration::from_secs(1), crate::client::load()).await {
            return Some(answer);
        }
        nap(Duration::from_millis(200)).await;
    }
    None
}
