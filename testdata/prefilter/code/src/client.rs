use std::time::Duration;
use reqwest::{Client, Error};

/// Nothing but the library says that it matters.
pub async fn load() -> Result<u32, Error> {
    let client = Client::builder().timeout(Duration::from_secs(3)).build()?;
    client.get("http://ledger/total").send().await?.json().await
}
