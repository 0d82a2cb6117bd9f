//! `aerogram import pinpoint`: the export of a segment of Amazon Pinpoint, one endpoint a line.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use model::ids::ChannelId;
use serde::Deserialize;
use serde_json::{Number, Value, json};

use super::Options;
use super::sending::Run;
use super::source::{BytesRead, Content, Row, Rows, lines};
use super::total::Total;
use crate::config::number_in;

#[derive(Args, Debug)]
pub(super) struct Pinpoint {
    /// The files of the export, plain or gzip
    #[arg(value_name = "PATH", required = true)]
    files: Vec<PathBuf>,
    /// How many endpoints at most, to try it out
    #[arg(long, value_name = "N", value_parser = number_in(1_usize..=usize::MAX))]
    limit: Option<usize>,

    #[command(flatten)]
    pub(super) options: Options,
}

/// What an endpoint has that a channel can have.
#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Endpoint {
    id: Option<String>,
    channel_type: String,
    address: Option<String>,
    endpoint_status: Option<String>,
    opt_out: Option<String>,
    attributes: Option<Lists>,
    metrics: Option<BTreeMap<String, Number>>,
    demographic: Option<Demographic>,
    user: Option<User>,
}

type Lists = BTreeMap<String, Vec<String>>;

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Demographic {
    app_version: Option<String>,
    locale: Option<String>,
    model: Option<String>,
    platform_version: Option<String>,
    timezone: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct User {
    user_id: Option<String>,
    user_attributes: Option<Lists>,
}

impl Pinpoint {
    pub(super) async fn run(&self, run: Run) -> Result<Total> {
        let n_bytes = BytesRead::default();
        let rows = lines(&self.files, &n_bytes).take(self.limit.unwrap_or(usize::MAX)).map(|line| {
            let (place, line) = line?;
            let channel = match serde_json::from_slice(&line) {
                Ok(endpoint) => channel(endpoint),
                Err(error) => Err(format!("This is no endpoint: {error}.")),
            };
            Ok(Row { place, content: channel.map_or_else(Content::LeftOut, |channel| Content::line(&channel)) })
        });
        let rows: Rows = Box::new(rows);
        run.files(&self.options, "pinpoint".to_owned(), &self.files, n_bytes, rows).await
    }
}

/// Attributes of endpoints and of their users are sets of words, as the tags of a group are. Metrics are attributes.
fn channel(endpoint: Endpoint) -> Result<Value, String> {
    let device_type = match endpoint.channel_type.as_str() {
        "APNS" | "APNS_SANDBOX" => "ios",
        "GCM" | "FCM" => "android",
        "ADM" => "amazon",
        other => return Err(format!("Endpoints of the type {other} cannot be reached here.")),
    };
    if endpoint.endpoint_status.as_deref() == Some("INACTIVE") {
        return Err("Pinpoint could not reach the endpoint any more (INACTIVE).".to_owned());
    }
    let is_opted_out = endpoint.opt_out.as_deref() == Some("ALL");
    let mut channel = json!({"device_type": device_type, "opt_in": !is_opted_out});
    let user = endpoint.user.unwrap_or_default();
    let about = endpoint.demographic.unwrap_or_default();
    let (language, country) = match about.locale.as_deref().map(|locale| locale.split_once(['_', '-'])) {
        Some(Some((language, country))) => (Some(language.to_owned()), Some(country.to_owned())),
        Some(None) => (about.locale, None),
        None => (None, None),
    };
    for (key, value) in [
        // Other ids than UUIDs are the choice of the app, and the channel gets one of ours.
        ("channel_id", endpoint.id.filter(|id| id.parse::<ChannelId>().is_ok())),
        ("push_address", endpoint.address),
        ("named_user_id", user.user_id),
        ("locale_language", language),
        ("locale_country", country),
        ("timezone", about.timezone),
        ("app_version", about.app_version),
        ("device_model", about.model),
        ("device_os", about.platform_version),
    ] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            channel[key] = json!(value);
        }
    }
    let mut groups = endpoint.attributes.unwrap_or_default();
    for (name, values) in user.user_attributes.unwrap_or_default() {
        groups.entry(name).or_default().extend(values);
    }
    groups.retain(|_, values| !values.is_empty());
    if !groups.is_empty() {
        channel["tag_groups"] = json!(groups);
    }
    if let Some(metrics) = endpoint.metrics.filter(|metrics| !metrics.is_empty()) {
        channel["attributes"] = json!(metrics);
    }
    Ok(channel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_becomes_a_channel() {
        let endpoint = r#"{"Id":"9c36e8c7-5a73-47c0-9716-99fd3d4197d5","ChannelType":"GCM","Address":"token","EndpointStatus":"ACTIVE",
            "OptOut":"NONE","RequestId":"x","Location":{"Country":"DE"},"Attributes":{"interests":["news","sport"]},
            "Metrics":{"level":7.0},"Demographic":{"AppVersion":"1.2","Locale":"de_DE","Make":"Google","Model":"Pixel 8",
            "Platform":"android","PlatformVersion":"13","Timezone":"Europe/Berlin"},
            "User":{"UserId":"kim","UserAttributes":{"interests":["news"],"plan":["gold"]}},"EffectiveDate":"2024-01-01T00:00:00Z"}"#;
        let wanted = json!({
            "channel_id": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5", "device_type": "android", "opt_in": true, "push_address": "token",
            "named_user_id": "kim", "locale_language": "de", "locale_country": "DE", "timezone": "Europe/Berlin", "app_version": "1.2",
            "device_model": "Pixel 8", "device_os": "13", "attributes": {"level": 7.0},
            "tag_groups": {"interests": ["news", "sport", "news"], "plan": ["gold"]},
        });
        assert_eq!(channel(serde_json::from_str(endpoint).unwrap()).unwrap(), wanted);
    }

    #[test]
    fn endpoints_that_cannot_be_reached_are_left_out() {
        for (endpoint, word) in [
            (r#"{"ChannelType":"EMAIL"}"#, "EMAIL"),
            (r#"{"ChannelType":"APNS","EndpointStatus":"INACTIVE"}"#, "INACTIVE"),
        ] {
            assert!(channel(serde_json::from_str(endpoint).unwrap()).unwrap_err().contains(word));
        }
        let opted_out = r#"{"ChannelType":"APNS","Address":"A","OptOut":"ALL"}"#;
        assert_eq!(channel(serde_json::from_str(opted_out).unwrap()).unwrap()["opt_in"], false);
    }
}
