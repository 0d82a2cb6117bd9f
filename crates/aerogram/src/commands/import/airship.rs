//! `aerogram import airship`: channels and named users of Airship, or of any other service that speaks its API, page by page.

use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use model::app::{AppKey, Secret};
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use super::Options;
use super::answers::patiently;
use super::origin::Origin;
use super::progress::Progress;
use super::sending::{Run, Sender};
use super::source::{Content, Row};
use super::total::Total;
use crate::client::{Client, own_path};
use crate::commands::exported_channel::{LeftOut, line_of};
use crate::commands::listing::objects_of;
use crate::config::{Authorities, BaseUrl, HEADING as SETTINGS, app_key, secret};

const CHANNELS: &str = "/api/channels/";
/// In the folder in which the command runs.
const STATE: &str = "airship.aerogram-import";
const NAMED_USERS: &str = "/api/named_users/";

#[derive(Args, Debug)]
pub(super) struct Airship {
    /// Where its API is; https://go.airship.eu in Europe
    #[arg(long, value_name = "URL", default_value = "https://go.urbanairship.com")]
    from: BaseUrl,
    /// Key of the app there
    #[arg(long, value_name = "KEY", allow_hyphen_values = true, value_parser = app_key, help_heading = SETTINGS)]
    airship_key: AppKey,
    /// Master secret of the app there; set it in AEROGRAM_AIRSHIP_SECRET, because other users of the machine see command lines
    #[arg(long, value_name = "SECRET", allow_hyphen_values = true, value_parser = secret, help_heading = SETTINGS)]
    airship_secret: Secret,

    #[command(flatten)]
    pub(super) options: Options,
}

impl Airship {
    pub(super) async fn run(&self, run: Run, authorities: &Authorities) -> Result<Total> {
        let (key, secret) = (self.airship_key.to_string(), self.airship_secret.reveal());
        let from = Arc::new(Client::of_another(&self.from, &key, secret, authorities)?);
        let origin = Origin { how: format!("airship {} {key}", self.from), files: Vec::new() };
        let state = self.options.state.clone().unwrap_or_else(|| STATE.into());
        let mut sender = run.sender(&self.options, origin, Some(state), Progress::of_unknown()?)?;
        let begin = sender.go_on_with_page().unwrap_or_else(|| CHANNELS.to_owned());
        if begin.starts_with(CHANNELS.trim_end_matches('/')) {
            pages(&from, &mut sender, begin, "channels", channel).await?;
            pages(&from, &mut sender, NAMED_USERS.to_owned(), "named_users", |user| named_user(&user)).await?;
        } else {
            pages(&from, &mut sender, begin, "named_users", |user| named_user(&user)).await?;
        }
        sender.finish().await
    }
}

/// Reads the pages of a listing from one on. Each names the next, which is fetched while the rows of the one before are sent.
async fn pages(
    from: &Arc<Client>,
    sender: &mut Sender<'_>,
    first: String,
    items: &'static str,
    row: impl Fn(Map<String, Value>) -> Option<Row>,
) -> Result<()> {
    sender.begin_page(Some(&first));
    let mut fetching = JoinSet::new();
    fetching.spawn(page(from.clone(), first, items));
    while let Some(fetched) = fetching.join_next().await {
        let Page { rows, next } = fetched.context("A request broke off")??;
        if let Some(next) = &next {
            fetching.spawn(page(from.clone(), next.clone(), items));
        }
        for one in rows.into_iter().filter_map(&row) {
            sender.add(one).await?;
        }
        if next.is_some() {
            sender.begin_page(next.as_deref());
        }
    }
    sender.flush().await
}

/// A page of a listing.
struct Page {
    rows: Vec<Map<String, Value>>,
    next: Option<String>,
}

async fn page(from: Arc<Client>, path: String, items: &str) -> Result<Page> {
    let mut page: Value = patiently(|| from.get(&path)).await?.read()?;
    let rows = objects_of(&mut page, items)?;
    Ok(Page { rows, next: page["next_page"].as_str().map(own_path) })
}

/// Channels that are uninstalled are of no use to anybody.
fn channel(channel: Map<String, Value>) -> Option<Row> {
    let place = format!("channel {}", channel.get("channel_id").and_then(Value::as_str).unwrap_or("without an id"));
    let content = match line_of(channel) {
        Ok(line) => Content::line(&line),
        Err(LeftOut::Uninstalled) => return None,
        Err(LeftOut::Type(name)) => Content::LeftOut(format!("There are no channels of type {name} here.")),
    };
    Some(Row { place, content })
}

/// What a user holds itself. Its channels name it.
fn named_user(user: &Map<String, Value>) -> Option<Row> {
    let id = user.get("named_user_id").and_then(Value::as_str)?;
    Some(Row {
        place: format!("named user {id}"),
        content: Content::line(&json!({ "named_user": held_by_user(user)? })),
    })
}

/// The part of a looked up named user that an import sets; `None` if there is nothing.
pub(in crate::commands) fn held_by_user(user: &Map<String, Value>) -> Option<Map<String, Value>> {
    let is_held = |value: &Value| match value {
        Value::Object(object) => !object.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    let held = ["tags", "attributes", "subscription_lists"].into_iter().filter_map(|key| Some((key, user.get(key)?)));
    let mut kept: Map<String, Value> =
        held.filter(|(_, value)| is_held(value)).map(|(key, value)| (key.to_owned(), value.clone())).collect();
    if kept.is_empty() {
        return None;
    }
    kept.insert("named_user_id".to_owned(), json!(user.get("named_user_id")?));
    Some(kept)
}
