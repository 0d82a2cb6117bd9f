//! `aerogram app web-origins`: the origins whose web pages may register browsers with the key of the app.

use anyhow::Result;
use clap::Args;
use http::Method;
use model::app::{AppKey, ORIGIN_SHAPE, WebOrigin};
use serde::Deserialize;
use serde_json::json;

use crate::client::{Client, Reply};
use crate::config::app_key;
use crate::output::{self, ID};

// Shows the origins, after those that are given have been added or removed.
#[derive(Args, Debug)]
pub(super) struct WebOrigins {
    /// Key of the app
    #[arg(value_name = "KEY", allow_hyphen_values = true, value_parser = app_key)]
    app: AppKey,
    /// Let pages of this origin register browsers, such as https://shop.example
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    add: Vec<WebOrigin>,
    /// Do not let pages of this origin register browsers any more; those that are registered stay
    #[arg(long, value_name = "ORIGIN", value_parser = origin)]
    remove: Vec<WebOrigin>,
}

#[derive(Deserialize)]
struct Answered {
    app: Shown,
}

#[derive(Deserialize)]
struct Shown {
    web_origins: Vec<String>,
}

impl WebOrigins {
    pub(super) async fn ask(&self, client: &Client) -> Result<Reply> {
        let Self { app, add, remove } = self;
        let path = format!("/operator/apps/{app}");
        let shown = client.get(&path).await?;
        if add.is_empty() && remove.is_empty() {
            return Ok(shown);
        }
        let mut origins = shown.read::<Answered>()?.app.web_origins;
        origins.retain(|origin| remove.iter().chain(add).all(|other| other.as_str() != origin));
        origins.extend(add.iter().map(|origin| origin.as_str().to_owned()));
        client.send(Method::PATCH, &path, &json!({ "web_origins": origins })).await
    }

    pub(super) fn show(reply: &Reply) -> Result<()> {
        let rows: Vec<_> = reply.read::<Answered>()?.app.web_origins.into_iter().map(|origin| [origin]).collect();
        output::table([("WEB ORIGINS", ID)], &rows)
    }
}

fn origin(text: &str) -> Result<WebOrigin, &'static str> {
    text.parse().map_err(|_| ORIGIN_SHAPE)
}
