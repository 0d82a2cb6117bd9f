//! How often all pipelines together may send to a channel, as a line of an import.

use anyhow::{Context, Result};
use http::Method;
use serde_json::{Value, json};

use super::{Documents, Taken};
use crate::client::{Client, patiently};

const PATH: &str = "/api/pipelines/constraints";
const PIPELINES_THAT_SEND: &str = "/api/pipelines/filtered?enabled=true&limit=1";

impl Documents {
    /// They hold for the pipelines that are here as well, so they stay as they are if one of these sends, unless that may change.
    pub(in crate::commands::import) async fn put_rates(&self, rates: &Value) -> Result<Taken> {
        let client = &self.client;
        if pipeline_rates(client).await? == *rates {
            return Ok(Taken::AsItIs);
        }
        if !self.active {
            let sending: Value = patiently(|| client.get(PIPELINES_THAT_SEND)).await?.read()?;
            if sending["pipelines"] != json!([]) {
                return Ok(Taken::Kept);
            }
        }
        patiently(|| client.send(Method::PUT, PATH, rates)).await?;
        Ok(Taken::AsItIs)
    }
}

/// The rates that an app has, in an array.
pub(in crate::commands) async fn pipeline_rates(client: &Client) -> Result<Value> {
    let mut answer: Value = patiently(|| client.get(PATH)).await?.read()?;
    let rates = answer.get_mut("constraints").map(Value::take).filter(Value::is_array);
    rates.context(
        "The server's answer has no 'constraints' (do the versions match, and is it the service that answers?)",
    )
}
