use std::time::Duration;
use tokio::time::timeout;

pub struct Limits {
    pub max_attempts: u32,
    pub size: usize,
}

pub fn standard() -> Limits {
    Limits { max_attempts: 5, size: 100 }
}

pub async fn drain(mut queue: tokio::sync::mpsc::Receiver<u32>) -> u32 {
    let mut sum = 0;
    while let Ok(Some(one)) = timeout(Duration::from_secs(1), queue.recv()).await {
        sum += one;
    }
    sum
}

pub fn total(attempt: u32) -> u32 {
    attempt + 1
}
