//! `aerogram import onesignal`: the CSV export of OneSignal's devices.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde_json::{Map, Value, json};

use super::Options;
use super::sending::Run;
use super::source::{BytesRead, Cells, Content, Row, Rows, header, records};
use super::total::Total;
use crate::config::Unusable;

#[derive(Args, Debug)]
pub(super) struct Onesignal {
    /// The file, plain or gzip, or `-` for standard input
    #[arg(value_name = "PATH")]
    file: PathBuf,

    #[command(flatten)]
    pub(super) options: Options,
}

impl Onesignal {
    pub(super) async fn run(&self, run: Run) -> Result<Total> {
        let (files, n_bytes) = ([self.file.clone()], BytesRead::default());
        let mut records = records(&self.file, &n_bytes)?;
        let header = header(records.next())?;
        if let Some(missing) =
            ["identifier", "device_type"].into_iter().find(|name| !header.iter().any(|known| known == name))
        {
            let text = format!("The file has no column '{missing}', which an export of OneSignal has.");
            return Err(Unusable::new(text).into());
        }
        let rows: Rows = Box::new(records.map(move |record| {
            let record = record?;
            let place = format!("line {}", record.line);
            let channel = Cells::read_short(&header, record).and_then(|cells| channel(&cells));
            Ok(Row { place, content: channel.map_or_else(Content::LeftOut, |channel| Content::line(&channel)) })
        }));
        run.files(&self.options, "onesignal".to_owned(), &files, n_bytes, rows).await
    }
}

/// Data tags become attributes, because each has a name and a value. The external user id is the named user.
fn channel(cells: &Cells<'_>) -> Result<Value, String> {
    if cells.get("invalid_identifier").is_some_and(is_true) {
        return Err("OneSignal could not reach the device any more (invalid_identifier).".to_owned());
    }
    let device_type = match cells.get("device_type").ok_or("It does not say what device it is (device_type).")? {
        "0" => "ios",
        "1" => "android",
        "2" => "amazon",
        "5" | "8" | "17" => "web",
        other => return Err(format!("Devices of OneSignal's type {other} cannot be reached here.")),
    };
    let mut channel = Map::new();
    let mut put = |key: &str, value: Value| drop(channel.insert(key.to_owned(), value));
    put("device_type", json!(device_type));
    put("opt_in", json!(!cells.get("notification_types").is_some_and(|types| types.starts_with('-') || types == "0")));
    for (column, key) in [
        ("id", "channel_id"),
        ("identifier", "push_address"),
        ("language", "locale_language"),
        ("country", "locale_country"),
        ("timezone_id", "timezone"),
        ("external_user_id", "named_user_id"),
        ("game_version", "app_version"),
        ("device_model", "device_model"),
        ("device_os", "device_os"),
    ] {
        if let Some(cell) = cells.get(column) {
            put(key, json!(cell));
        }
    }
    if device_type == "web" {
        let (Some(p256dh), Some(auth)) = (cells.get("web_p256"), cells.get("web_auth")) else {
            return Err(
                "The keys of the browser are not in the export; ask for the fields web_auth and web_p256.".to_owned()
            );
        };
        put("web", json!({"subscription": {"p256dh": p256dh, "auth": auth}}));
    }
    if let Some(tags) = cells.get("tags") {
        let tags: Map<String, Value> =
            serde_json::from_str(tags).map_err(|_| "tags: This must be an object of JSON.".to_owned())?;
        let attributes: Map<String, Value> =
            tags.into_iter().filter_map(|(name, value)| Some((name, attribute(value)?))).collect();
        put("attributes", Value::Object(attributes));
    }
    Ok(Value::Object(channel))
}

fn is_true(cell: &str) -> bool {
    matches!(cell.to_ascii_lowercase().as_str(), "t" | "true" | "1")
}

/// Numbers and objects stay as they are; everything else is a text.
fn attribute(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(_) | Value::Number(_) | Value::Object(_) => Some(value),
        Value::Bool(_) | Value::Array(_) => Some(json!(value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::csv_records::CsvRecord;

    fn made(columns: &[(&str, &str)]) -> Result<Value, String> {
        let header: Vec<String> = columns.iter().map(|(name, _)| (*name).to_owned()).collect();
        let record = CsvRecord { line: 2, cells: columns.iter().map(|(_, cell)| cell.as_bytes().to_vec()).collect() };
        channel(&Cells::read_short(&header, record).unwrap())
    }

    #[test]
    fn a_player_becomes_a_channel() {
        let player = [
            ("id", "9c36e8c7-5a73-47c0-9716-99fd3d4197d5"),
            ("identifier", "token"),
            ("session_count", "3"),
            ("language", "en"),
            ("timezone", "-28800"),
            ("game_version", "1.2"),
            ("device_os", "13"),
            ("device_type", "1"),
            ("device_model", "Pixel 8"),
            ("tags", r#"{"plan":"gold","age":"41","vip":true}"#),
            ("invalid_identifier", "f"),
            ("notification_types", "-2"),
            ("external_user_id", "kim"),
        ];
        let wanted = json!({
            "channel_id": "9c36e8c7-5a73-47c0-9716-99fd3d4197d5", "device_type": "android", "push_address": "token", "opt_in": false,
            "locale_language": "en", "app_version": "1.2", "device_os": "13", "device_model": "Pixel 8", "named_user_id": "kim",
            "attributes": {"plan": "gold", "age": "41", "vip": "true"},
        });
        assert_eq!(made(&player).unwrap(), wanted);
    }

    #[test]
    fn players_that_cannot_be_reached_are_left_out() {
        for (column, cell, word) in [
            ("invalid_identifier", "t", "invalid_identifier"),
            ("device_type", "11", "type 11"),
            ("device_type", "5", "web_auth"),
        ] {
            let mut player = vec![("identifier", "token")];
            if column != "device_type" {
                player.push(("device_type", "0"));
            }
            player.push((column, cell));
            assert!(made(&player).unwrap_err().contains(word), "{column}={cell}");
        }
    }
}
