//! The devices of `bench import` and what users hold, the same in every run, as lines of each format; and books that tell whether
//! an export has them.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::loading::user_name;

#[derive(Clone, Copy)]
pub(super) enum Format {
    Csv,
    Onesignal,
    Pinpoint,
    Jsonl,
}

/// A device, as far as all formats can tell of it.
struct Device {
    id: String,
    token: String,
    user: String,
    age: u32,
    tag: String,
}

/// The user of every so many devices holds something itself.
const USERS_STEP: usize = 10;

/// How many channels and users that hold something there are, and a sum over what is known of them in any order.
#[derive(Default, Debug, PartialEq, Eq)]
pub(super) struct Books {
    n_channels: u64,
    n_users: u64,
    sum: u64,
}

/// The part of an exported line that is compared.
#[derive(Deserialize)]
struct Exported {
    channel_id: Option<String>,
    #[serde(default)]
    push_address: String,
    #[serde(default)]
    named_user_id: String,
    #[serde(default)]
    locale_language: String,
    #[serde(default)]
    opt_in: bool,
    #[serde(default)]
    attributes: Attributes,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    tag_groups: Groups,
    named_user: Option<ExportedUser>,
}

#[derive(Deserialize, Default)]
struct Attributes {
    age: Option<u32>,
}

/// What a user holds itself, as it is compared.
#[derive(Deserialize, Hash)]
struct ExportedUser {
    named_user_id: String,
    tags: BTreeMap<String, Vec<String>>,
    attributes: BTreeMap<String, u32>,
    subscription_lists: Vec<Subscriptions>,
}

#[derive(Deserialize, Hash)]
struct Subscriptions {
    scope: String,
    list_ids: Vec<String>,
}

#[derive(Deserialize, Default)]
struct Groups {
    #[serde(default)]
    interest: Vec<String>,
}

impl Device {
    fn new(n: u32) -> Self {
        let id = Uuid::from_u128(0x0f81_d4ae_7dec_41d0_a765_0000_0000_0000 | u128::from(n)).to_string();
        let token = format!("{:032X}{:032X}", u128::from(n) * 0x9e37_79b9_7f4a_7c15, n);
        Self { id, token, user: user_name(n), age: n % 90, tag: format!("interest-{}", n % 500) }
    }
}

/// What the users of some devices hold, as the line of an import.
fn held_by_users(n_devices: u32) -> impl Iterator<Item = Value> {
    (0..n_devices).step_by(USERS_STEP).map(|n| {
        let scoped = json!([{"scope": "app", "list_ids": [format!("list-{}", n % 7)]}]);
        let held = json!({"named_user_id": user_name(n), "tags": {"crm": [format!("tier-{}", n % 50)]},
                          "attributes": {"score": n % 1000}, "subscription_lists": scoped});
        json!({ "named_user": held })
    })
}

impl Format {
    /// JSON lines last: what they tell is all that the others do.
    pub(super) const ALL: [Self; 4] = [Self::Csv, Self::Onesignal, Self::Pinpoint, Self::Jsonl];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Onesignal => "onesignal",
            Self::Pinpoint => "pinpoint",
            Self::Jsonl => "jsonl",
        }
    }

    /// After `aerogram import`.
    pub(super) fn arguments(self, file: &Path) -> Vec<String> {
        let options: &[&str] = match self {
            Self::Csv => &["--ios", "--map", "age=attribute:age"],
            Self::Onesignal | Self::Pinpoint | Self::Jsonl => &[],
        };
        let file = file.display().to_string();
        [self.name()].iter().chain([&file.as_str()]).chain(options).map(|&word| word.to_owned()).collect()
    }

    pub(super) fn write(self, file: &Path, n_devices: u32) -> Result<()> {
        let mut out = BufWriter::new(File::create(file).context("a source cannot be written")?);
        match self {
            Self::Csv => writeln!(out, "channel_id,push_address,named_user_id,opt_in,locale_language,tags,age")?,
            Self::Onesignal => {
                writeln!(out, "id,identifier,external_user_id,device_type,language,tags,notification_types")?
            }
            Self::Pinpoint | Self::Jsonl => {}
        }
        for n in 0..n_devices {
            let Device { id, token, user, age, tag } = Device::new(n);
            match self {
                Self::Csv => writeln!(out, "{id},{token},{user},true,de,{tag},{age}")?,
                Self::Onesignal => writeln!(out, "{id},{token},{user},0,de,\"{{\"\"age\"\":{age}}}\",1")?,
                Self::Pinpoint => {
                    let line = json!({"Id": id, "ChannelType": "APNS", "Address": token, "EndpointStatus": "ACTIVE", "OptOut": "NONE",
                                      "Attributes": {"interest": [tag]}, "Metrics": {"age": age}, "Demographic": {"Locale": "de"},
                                      "User": {"UserId": user}});
                    writeln!(out, "{line}")?;
                }
                Self::Jsonl => {
                    let line = json!({"channel_id": id, "device_type": "ios", "opt_in": true, "push_address": token,
                                      "named_user_id": user, "locale_language": "de", "tags": [tag], "attributes": {"age": age}});
                    writeln!(out, "{line}")?;
                }
            }
        }
        if self.tells_of_users() {
            held_by_users(n_devices).try_for_each(|line| writeln!(out, "{line}"))?;
        }
        Ok(out.flush()?)
    }

    /// Whether lines tell what users hold themselves.
    fn tells_of_users(self) -> bool {
        matches!(self, Self::Jsonl)
    }

    /// What an export should have.
    pub(super) fn books(self, n_devices: u32) -> Result<Books> {
        let mut books = Books::default();
        for n in 0..n_devices {
            let Device { id, token, user, age, tag } = Device::new(n);
            let (tags, groups) = match self {
                Self::Csv | Self::Jsonl => (vec![tag], Vec::new()),
                Self::Pinpoint => (Vec::new(), vec![tag]),
                Self::Onesignal => (Vec::new(), Vec::new()),
            };
            books.n_channels += 1;
            books.add(&(&id, &token, &user, "de", true, Some(age), &tags, &groups));
        }
        if self.tells_of_users() {
            held_by_users(n_devices).try_for_each(|line| books.add_line(&line.to_string()))?;
        }
        Ok(books)
    }
}

impl Books {
    fn add(&mut self, known: &impl Hash) {
        let mut hasher = DefaultHasher::new();
        known.hash(&mut hasher);
        self.sum = self.sum.wrapping_add(hasher.finish());
    }

    /// Lines about anything but channels and users are passed over.
    pub(super) fn add_line(&mut self, line: &str) -> Result<()> {
        let exported: Exported = serde_json::from_str(line).context("a line of the export cannot be read")?;
        if let Some(user) = &exported.named_user {
            self.n_users += 1;
            self.add(user);
        }
        if let Some(id) = &exported.channel_id {
            self.n_channels += 1;
            let address = exported.push_address.to_ascii_uppercase();
            let Exported { named_user_id, locale_language, opt_in, attributes, tags, tag_groups, .. } = &exported;
            let language = locale_language.as_str();
            self.add(&(id, &address, named_user_id, language, *opt_in, attributes.age, tags, &tag_groups.interest));
        }
        Ok(())
    }
}
