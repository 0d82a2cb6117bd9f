//! Listings of the API, which come in pages.

use anyhow::Result;
use serde_json::{Map, Value};

use crate::client::{Client, own_path};

/// All things of a listing, page by page.
pub(super) async fn each(
    client: &Client,
    first: &str,
    items: &str,
    mut take: impl AsyncFnMut(Map<String, Value>) -> Result<()>,
) -> Result<()> {
    let mut next = Some(first.to_owned());
    while let Some(path) = next.take() {
        let mut page: Value = client.get(&path).await?.read()?;
        if let Value::Array(all) = page[items].take() {
            for one in all {
                if let Value::Object(one) = one {
                    take(one).await?;
                }
            }
        }
        next = page["next_page"].as_str().map(own_path);
    }
    Ok(())
}
