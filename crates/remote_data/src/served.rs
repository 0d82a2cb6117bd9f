//! Stored things as devices read them: with their ids and dates, in the language and the units of the device, and without what only
//! the service needs.

use std::collections::HashSet;

use model::remote_data::{DataPlatform, merge};
use model::time::UtcMillis;
use serde_json::{Map, Value, json};

use crate::documents::{PERSONALIZATION, REQUIRES_ELIGIBILITY, Stored, is_personalized};
use crate::snapshot::Snapshot;

/// Libraries for Android count how long a banner stays in milliseconds from this version on, all others in seconds.
const MILLIS_SINCE: u32 = 18;

/// Keys of in-app messages that devices do not read.
const NOT_FOR_DEVICES: [&str; 4] = ["server_audience", "localizations", REQUIRES_ELIGIBILITY, PERSONALIZATION];

/// A kind of device, as far as what it gets depends on it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reader {
    pub(crate) platform: DataPlatform,
    counts_millis: bool,
    locale: DeviceLocale,
}

/// The language and the country of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct DeviceLocale {
    pub(crate) language: Option<String>,
    pub(crate) country: Option<String>,
}

/// Where devices find the service, and the key of the app.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) base: &'a str,
    pub(crate) key: &'a str,
}

impl Reader {
    /// A device that does not tell its version has a new library.
    pub(crate) fn new(platform: DataPlatform, sdk_version: Option<&str>, locale: DeviceLocale) -> Self {
        let major = sdk_version.and_then(|version| version.split('.').next()?.parse::<u32>().ok());
        let is_android = matches!(platform, DataPlatform::Android | DataPlatform::Amazon);
        Self { platform, counts_millis: is_android && major.is_none_or(|major| major >= MILLIS_SINCE), locale }
    }
}

/// The locales that any message has texts for, in small letters, as pairs of language and country.
#[derive(Debug, Default)]
pub(crate) struct Locales(HashSet<(Option<String>, Option<String>)>);

impl Locales {
    pub(crate) fn of(messages: &[(String, Stored)]) -> Self {
        let part = |locale: &Value, key: &str| locale.get(key).and_then(Value::as_str).map(str::to_lowercase);
        let all = messages.iter().flat_map(|(_, stored)| localizations(&stored.body)).map(|one| &one["locale"]);
        Self(all.map(|locale| (part(locale, "language"), part(locale, "country"))).collect())
    }
}

impl Snapshot {
    /// The parts of a locale that any message has texts for: devices in all other languages get the same.
    pub(crate) fn relevant_locale(&self, locale: DeviceLocale) -> DeviceLocale {
        let Locales(known) = &self.locales;
        let small = |part: Option<String>| part.map(|part| part.to_lowercase());
        let (language, country) = (small(locale.language), small(locale.country));
        let knows =
            |language: &Option<String>, country: &Option<String>| known.contains(&(language.clone(), country.clone()));
        let knows_both = language.is_some() && country.is_some() && knows(&language, &country);
        DeviceLocale {
            language: language.clone().filter(|_| knows_both || knows(&language, &None)),
            country: country.clone().filter(|_| knows_both || knows(&None, &country)),
        }
    }
}

/// A message whose audience only the service can evaluate, or whose texts differ from device to device, becomes one that devices
/// ask about.
pub(crate) fn message(id: &str, stored: &Stored, reader: &Reader, place: Place<'_>) -> Value {
    let mut message = stored.body.clone();
    if message.contains_key("server_audience") || is_personalized(&message) {
        let kind = message.insert("type".to_owned(), "deferred".into());
        message.remove("message");
        message.remove("actions");
        let url = format!("{}/api/in-app/{}/{id}/resolve", place.base, place.key);
        message.insert("deferred".to_owned(), json!({"type": kind, "url": url, "retry_on_timeout": true}));
    } else if let Some(shown) = shown(stored, reader) {
        message.insert("message".to_owned(), shown.into());
    }
    NOT_FOR_DEVICES.iter().for_each(|key| drop(message.remove(*key)));
    dated(message, "id", id, stored, UtcMillis::to_api)
}

/// The message itself, in the language and the units of a device; `None` if nothing is shown.
pub(crate) fn shown(stored: &Stored, reader: &Reader) -> Option<Map<String, Value>> {
    let mut message = stored.body.get("message")?.as_object()?.clone();
    if let Some(localization) = best(&stored.body, &reader.locale) {
        message.entry("rendered_locale").or_insert_with(|| localization["locale"].clone());
        localization["message"].as_object().into_iter().for_each(|above| merge(&mut message, above));
    }
    if reader.counts_millis && message.get("display_type").is_some_and(|kind| kind == "banner") {
        let duration = message.get_mut("display").and_then(|display| display.get_mut("duration"));
        if let Some(duration) = duration {
            *duration = duration.as_f64().map_or(Value::Null, |seconds| (seconds * 1000.0).into());
        }
    }
    Some(message)
}

/// `None` for a form that is not for the platform.
pub(crate) fn form(id: &str, stored: &Stored, reader: &Reader) -> Option<Value> {
    let platforms = stored.body.get("platforms").and_then(Value::as_array);
    let is_meant = platforms.is_none_or(|platforms| platforms.iter().any(|one| one == reader.platform.word()));
    is_meant.then(|| dated(stored.body.clone(), "form_id", id, stored, UtcMillis::to_api))
}

/// A flag whose audience only the service can evaluate becomes one that devices ask about.
pub(crate) fn flag(id: &str, stored: &Stored, place: Place<'_>) -> Value {
    let mut flag = stored.body.clone();
    let is_asked = flag.remove("server_audience").is_some();
    flag.insert("type".to_owned(), if is_asked { "deferred" } else { "static" }.into());
    flag.insert("reporting_metadata".to_owned(), json!({"flag_id": id}));
    if is_asked {
        flag.remove("variables");
        let url = format!("{}/api/feature-flags/{id}/resolve", place.base);
        flag.insert("deferred".to_owned(), json!({"url": url}));
    }
    let variants = flag.get_mut("variables").and_then(|variables| variables.get_mut("variants"));
    for variant in variants.and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut) {
        let metadata = json!({"flag_id": id, "variant_id": variant.get("id")});
        variant.insert("reporting_metadata".to_owned(), metadata);
    }
    if let Some(control) = flag.get_mut("control").and_then(Value::as_object_mut) {
        control.insert("reporting_metadata".to_owned(), json!({"flag_id": id, "control": true}));
    }
    let whole = Map::from_iter([("flag".to_owned(), flag.into())]);
    dated(whole, "flag_id", id, stored, UtcMillis::to_api)
}

/// Libraries for iOS read the dates of these only with milliseconds.
pub(crate) fn holdout(id: &str, stored: &Stored) -> Value {
    let mut definition = stored.body.clone();
    definition.remove("name");
    definition.insert("experiment_type".to_owned(), "holdout".into());
    definition.insert("type".to_owned(), "static".into());
    definition.insert("reporting_metadata".to_owned(), json!({"experiment_id": id}));
    let whole = Map::from_iter([("experiment_definition".to_owned(), definition.into())]);
    dated(whole, "experiment_id", id, stored, |time| format!("{}.000", time.to_api()))
}

fn dated(mut map: Map<String, Value>, key: &str, id: &str, stored: &Stored, date: fn(UtcMillis) -> String) -> Value {
    map.insert(key.to_owned(), id.into());
    map.insert("created".to_owned(), date(stored.created).into());
    map.insert("last_updated".to_owned(), date(stored.updated).into());
    map.into()
}

fn localizations(message: &Map<String, Value>) -> &[Value] {
    message.get("localizations").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The localization that says most about a locale, of those that say nothing else.
fn best<'m>(message: &'m Map<String, Value>, device: &DeviceLocale) -> Option<&'m Value> {
    let fits = |one: &&Value| {
        let locale = &one["locale"];
        let is_fine = |key: &str, own: &Option<String>| locale.get(key).is_none() || is(locale, key, own.as_ref());
        is_fine("language", &device.language) && is_fine("country", &device.country)
    };
    let weight = |one: &&Value| (one["locale"].get("language").is_some(), one["locale"].get("country").is_some());
    // Of equals the first.
    localizations(message).iter().rev().filter(fits).max_by_key(weight)
}

fn is(locale: &Value, key: &str, wanted: Option<&String>) -> bool {
    let own = locale.get(key).and_then(Value::as_str);
    own.zip(wanted).is_some_and(|(own, wanted)| own.eq_ignore_ascii_case(wanted))
}
