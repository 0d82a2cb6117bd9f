//! The payloads of remote data: which there are, and in which order.

use model::remote_data::{ConfigScope, merge};
use model::time::UtcMillis;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use tenancy::App;

use crate::answers::DataSource;
use crate::documents::{Stored, needs_contact};
use crate::served::{Place, Reader, flag, form, holdout, message};
use crate::snapshot::Snapshot;

/// Whether devices ask the service before they show messages, and where.
const AUDIENCE_CHECK: &str = "additional_audience_check";

/// Everything that a device downloads.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RemoteData")]
pub struct DataPayloads {
    pub(crate) payloads: Vec<DataPayload>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RemoteDataPayload")]
pub(crate) struct DataPayload {
    /// `app_config`, `in_app_messages`, `preference_forms`, `feature_flags` or `experiments`.
    r#type: &'static str,
    /// When any of the data last changed.
    timestamp: String,
    data: Map<String, Value>,
}

/// An app whose data never changed has only the configuration, so that no device looks for in-app automation. Once there was
/// anything, all types are there, also those that are empty now: devices stop what is missing from them.
pub(crate) fn payloads(
    app: &App,
    snapshot: &Snapshot,
    source: DataSource,
    reader: &Reader,
    base: &str,
) -> Vec<DataPayload> {
    let place = Place { base, key: app.key.as_str() };
    let has_data = snapshot.changed > UtcMillis::default();
    let timestamp = if has_data { snapshot.changed } else { app.created }.to_api();
    let payload =
        |r#type: &'static str, data: Map<String, Value>| DataPayload { r#type, timestamp: timestamp.clone(), data };
    let list = |name: &'static str, items: Vec<Value>| payload(name, Map::from_iter([(name.to_owned(), items.into())]));

    let is_meant = |stored: &&(String, Stored)| match source {
        DataSource::App => !needs_contact(&stored.1.body),
        DataSource::Contact => needs_contact(&stored.1.body),
    };
    let messages = snapshot.messages.iter().filter(is_meant).map(|(id, stored)| message(id, stored, reader, place));
    let mut of_messages = list("in_app_messages", messages.collect());
    of_messages.data.insert("frequency_constraints".to_owned(), snapshot.constraints.clone().into());
    if source == DataSource::Contact {
        return if has_data { vec![of_messages] } else { Vec::new() };
    }
    let mut all = vec![payload("app_config", config(snapshot, reader, place))];
    if has_data {
        let forms = snapshot.forms.iter().filter_map(|(id, stored)| form(id, stored, reader));
        let flags = snapshot.flags.iter().map(|(id, stored)| flag(id, stored, place));
        let holdouts = snapshot.holdouts.iter().map(|(id, stored)| holdout(id, stored));
        all.push(of_messages);
        all.push(list("preference_forms", forms.collect()));
        all.push(list("feature_flags", flags.collect()));
        all.push(list("experiments", holdouts.collect()));
    }
    all
}

/// The values of the app, and above them those that the service needs to be found.
fn config(snapshot: &Snapshot, reader: &Reader, place: Place<'_>) -> Map<String, Value> {
    let mut config = Map::new();
    for scope in [ConfigScope::Common, ConfigScope::Platform(reader.platform)] {
        snapshot.config(scope).into_iter().for_each(|values| merge(&mut config, values));
    }
    let base = place.base;
    let mut own = json!({"airship_config": {
        "device_api_url": base, "analytics_url": base, "remote_data_url": base, "wallet_url": base,
    }});
    if snapshot.messages.iter().any(|(_, stored)| needs_contact(&stored.body)) {
        own["fetch_contact_remote_data"] = true.into();
    }
    let overrides = |stored: &Stored| stored.body.get("additional_audience_check_overrides").cloned();
    let asks = |overrides: Value| overrides["bypass"] != true && overrides.get("url").is_none();
    if snapshot.messages.iter().filter_map(|(_, stored)| overrides(stored)).any(asks) {
        own["in_app_config"] = json!({AUDIENCE_CHECK: {"enabled": true}});
    }
    if let Value::Object(own) = own {
        merge(&mut config, &own);
    }
    let url = format!("{base}/api/remote-audience-check/app/{}", place.key);
    let wanted = config.get("in_app_config").and_then(|of_in_app| of_in_app.get(AUDIENCE_CHECK));
    // Airship's examples have it beside the key below which libraries look for it.
    if let Some(Value::Object(mut check)) = wanted.or_else(|| config.get(AUDIENCE_CHECK)).cloned() {
        check.entry("url").or_insert(url.into());
        let check = json!({"in_app_config": {AUDIENCE_CHECK: check}});
        check.as_object().into_iter().for_each(|check| merge(&mut config, check));
    }
    config
}
