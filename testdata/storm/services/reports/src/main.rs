mod limits;
mod rates;

#[tokio::main]
async fn main() -> Result<(), reqwest::Error> {
    let client = reqwest::Client::new();
    let rates = rates::latest(&client).await?;
    println!("{} rates", rates.len());
    Ok(())
}
