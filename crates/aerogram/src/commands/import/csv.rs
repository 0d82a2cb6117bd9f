//! `aerogram import csv`: a file whose columns are told to be parts of channels, or a list of tokens.

mod columns;

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use model::csv_records::CsvRecord;
use serde_json::{Map, Value, json};

use super::Options;
use super::sending::Run;
use super::source::{BytesRead, Cells, Content, Row, Rows, header, records};
use super::total::Total;
use crate::config::Unusable;

#[derive(Args, Debug)]
pub(super) struct Csv {
    /// The file, plain or gzip, or `-` for standard input
    #[arg(value_name = "PATH")]
    file: PathBuf,
    /// What a column is: push_address, channel_id, device_type, named_user_id, alias, opt_in, background, tags,
    /// subscription_lists, timezone, locale_language, locale_country, app_version, sdk_version, device_model, device_os, tag:GROUP
    /// or attribute:NAME. Columns of these names need not be told, and others are passed over, which is said
    #[arg(long, value_name = "COLUMN=FIELD", value_delimiter = ',', value_parser = mapped)]
    map: Vec<(String, Field)>,
    /// All of them are iOS devices; a file of one column is a list of APNs tokens
    #[arg(long, conflicts_with_all = ["android", "amazon"])]
    ios: bool,
    /// All of them are Android devices; a file of one column is a list of FCM tokens
    #[arg(long, conflicts_with = "amazon")]
    android: bool,
    /// All of them are Amazon devices; a file of one column is a list of ADM registration ids
    #[arg(long)]
    amazon: bool,

    #[command(flatten)]
    pub(super) options: Options,
}

/// The part of a channel that a column is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Field {
    Text(&'static str),
    Flag(&'static str),
    /// Several words, between bars or semicolons.
    Words(&'static str),
    /// A tag of a group, or several.
    Tag(String),
    Attribute(String),
}

const TEXTS: [&str; 12] = [
    "push_address",
    "channel_id",
    "device_type",
    "named_user_id",
    "alias",
    "timezone",
    "locale_language",
    "locale_country",
    "app_version",
    "device_model",
    "device_os",
    "sdk_version",
];
const FLAGS: [&str; 2] = ["opt_in", "background"];
const WORDS: [&str; 2] = ["tags", "subscription_lists"];

impl Field {
    fn of(name: &str) -> Option<Self> {
        let among = |names: &[&'static str]| names.iter().find(|known| **known == name).copied();
        if let Some(group) = name.strip_prefix("tag:").filter(|group| !group.is_empty()) {
            return Some(Field::Tag(group.to_owned()));
        }
        if let Some(attribute) = name.strip_prefix("attribute:").filter(|attribute| !attribute.is_empty()) {
            return Some(Field::Attribute(attribute.to_owned()));
        }
        let text = among(&TEXTS).map(Field::Text);
        text.or_else(|| among(&FLAGS).map(Field::Flag)).or_else(|| among(&WORDS).map(Field::Words))
    }

    /// Of those that have one.
    fn names() -> impl Iterator<Item = &'static str> {
        TEXTS.into_iter().chain(FLAGS).chain(WORDS)
    }

    fn put(&self, cell: &str, channel: &mut Map<String, Value>) -> Result<(), String> {
        match self {
            Field::Text(key) => drop(channel.insert((*key).to_owned(), json!(cell))),
            Field::Flag(key) => drop(channel.insert((*key).to_owned(), json!(flag(cell)?))),
            Field::Words(key) => drop(channel.insert((*key).to_owned(), json!(words(cell)))),
            Field::Tag(group) => below(channel, "tag_groups", group, json!(words(cell))),
            Field::Attribute(name) => below(channel, "attributes", name, value(cell)),
        }
        Ok(())
    }
}

impl Csv {
    pub(super) async fn run(&self, run: Run) -> Result<Total> {
        let (files, n_bytes) = ([self.file.clone()], BytesRead::default());
        let mut records = records(&self.file, &n_bytes)?.peekable();
        if let Some(Ok(first)) = records.peek() {
            columns::are_between_commas(first)?;
        }
        let device_type = self.device_type();
        let is_list = matches!(records.peek(), Some(Ok(first)) if first.cells.len() == 1) && self.map.is_empty();
        let mut not_imported = Vec::new();
        let rows: Rows = match device_type.filter(|_| is_list) {
            Some(device_type) => {
                let tokens = records.filter(|record| !matches!(record, Ok(record) if columns::is_token_header(record)));
                Box::new(tokens.map(move |record| {
                    let record = record?;
                    let place = format!("line {}", record.line);
                    let content = match token(record) {
                        Ok(token) => {
                            let address = token.trim();
                            Content::line(&json!({"device_type": device_type, "opt_in": true, "push_address": address}))
                        }
                        Err(why) => Content::LeftOut(why),
                    };
                    Ok(Row { place, content })
                }))
            }
            None => {
                let header = header(records.next())?;
                let fields = self.fields(&header)?;
                not_imported = columns::passed_over(&header, &fields);
                columns::note(&not_imported, &fields);
                Box::new(records.map(move |record| {
                    let record = record?;
                    let place = format!("line {}", record.line);
                    let channel = Cells::read(&header, record).and_then(|cells| channel(&cells, &fields, device_type));
                    Ok(Row { place, content: channel.map_or_else(Content::LeftOut, |channel| Content::line(&channel)) })
                }))
            }
        };
        let how = format!("csv {device_type:?} {:?}", self.map);
        let total = run.files(&self.options, how, &files, n_bytes, rows).await?;
        Ok(Total { not_imported, ..total })
    }

    fn device_type(&self) -> Option<&'static str> {
        let chosen = [(self.ios, "ios"), (self.android, "android"), (self.amazon, "amazon")];
        chosen.into_iter().find(|(is_chosen, _)| *is_chosen).map(|(_, name)| name)
    }

    /// What the columns are, by their names.
    fn fields(&self, header: &[String]) -> Result<BTreeMap<String, Field>> {
        let mut fields: BTreeMap<String, Field> =
            header.iter().filter_map(|column| Some((column.clone(), Field::of(column)?))).collect();
        for (column, field) in &self.map {
            if !header.contains(column) {
                let text =
                    format!("--map {column}=…: The file has no column '{column}'. It has: {}.", header.join(", "));
                return Err(Unusable::new(text).into());
            }
            fields.retain(|_, known| known != field);
            fields.insert(column.clone(), field.clone());
        }
        let has = |name: &'static str| fields.values().any(|field| *field == Field::Text(name));
        if !has("push_address") && !has("channel_id") {
            let text = format!(
                "No column is told to be the address; use --map COLUMN=push_address. The file has: {}.",
                header.join(", ")
            );
            return Err(Unusable::new(text).into());
        }
        if self.device_type().is_none() && !has("device_type") {
            let text = "What the devices are is not told: use --ios, --android, --amazon or --map COLUMN=device_type.";
            return Err(Unusable::new(text.to_owned()).into());
        }
        Ok(fields)
    }
}

/// The only cell of a row.
fn token(record: CsvRecord) -> Result<String, String> {
    let [cell] = <[Vec<u8>; 1]>::try_from(record.cells)
        .map_err(|cells| format!("It has {} columns, and the first line has 1.", cells.len()))?;
    String::from_utf8(cell).map_err(|_| "It is not UTF-8.".to_owned())
}

fn channel(cells: &Cells<'_>, fields: &BTreeMap<String, Field>, device_type: Option<&str>) -> Result<Value, String> {
    let mut channel = Map::from_iter([("opt_in".to_owned(), json!(true))]);
    channel.extend(device_type.map(|device_type| ("device_type".to_owned(), json!(device_type))));
    for (column, cell) in cells.given() {
        if let Some(field) = fields.get(column) {
            field.put(cell, &mut channel).map_err(|problem| format!("{column}: {problem}"))?;
        }
    }
    Ok(Value::Object(channel))
}

fn mapped(text: &str) -> Result<(String, Field), String> {
    let (column, name) = text.split_once('=').ok_or("It must look like COLUMN=push_address.")?;
    let field = Field::of(name).ok_or_else(|| {
        let known: Vec<&str> = Field::names().collect();
        format!("'{name}' is no part of a channel; there are {}, tag:GROUP and attribute:NAME.", known.join(", "))
    })?;
    Ok((column.to_owned(), field))
}

fn flag(cell: &str) -> Result<bool, String> {
    match cell.to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "1" => Ok(true),
        "false" | "f" | "no" | "n" | "0" => Ok(false),
        _ => Err(format!("'{cell}' is neither true nor false.")),
    }
}

fn words(cell: &str) -> Vec<&str> {
    cell.split(['|', ';']).map(str::trim).filter(|word| !word.is_empty()).collect()
}

/// A number as JSON writes it, or a text.
fn value(cell: &str) -> Value {
    serde_json::from_str::<serde_json::Number>(cell).map_or_else(|_| json!(cell), Value::Number)
}

/// Puts a value into an object of the channel.
fn below(channel: &mut Map<String, Value>, object: &str, key: &str, value: Value) {
    let object = channel.entry(object).or_insert_with(|| json!({}));
    if let Value::Object(object) = object {
        object.insert(key.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(header: &[&str], cells: &[&str], map: &[&str]) -> Value {
        let header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
        let csv = Csv {
            file: PathBuf::new(),
            map: map.iter().map(|text| mapped(text).unwrap()).collect(),
            ios: true,
            android: false,
            amazon: false,
            options: Options {
                dry_run: false,
                skip: 0,
                start_over: false,
                state: None,
                yes: true,
                refused: None,
                connections: 1,
            },
        };
        let record = CsvRecord { line: 2, cells: cells.iter().map(|cell| cell.as_bytes().to_vec()).collect() };
        channel(&Cells::read(&header, record).unwrap(), &csv.fields(&header).unwrap(), csv.device_type()).unwrap()
    }

    #[test]
    fn columns_become_parts_of_a_channel() {
        let header = ["token", "customer", "plan", "age", "named_user_id", "groups", "opt_in"];
        let cells = ["AB", "kim", "gold", "41", "passed over", "a| b", "no"];
        let map = ["token=push_address", "customer=named_user_id", "plan=tag:plan", "age=attribute:age", "groups=tags"];
        assert_eq!(
            made(&header, &cells, &map),
            json!({"device_type": "ios", "push_address": "AB", "named_user_id": "kim", "tag_groups": {"plan": ["gold"]},
                "attributes": {"age": 41}, "tags": ["a", "b"], "opt_in": false})
        );
        assert_eq!(
            made(&["push_address", "alias"], &["AB", ""], &[]),
            json!({"device_type": "ios", "push_address": "AB", "opt_in": true})
        );
    }

    #[test]
    fn a_mapping_is_checked() {
        assert!(mapped("token").is_err());
        assert!(mapped("token=adress").unwrap_err().contains("push_address"));
        assert!(flag("maybe").is_err());
    }
}
