//! Finding channels by id and by address, and named users by the beginning of their ids.

use base::{Findings, Found, FoundKind, Result, SearchText};
use boxed::boxed;
use model::device_type::DeviceType;
use model::ids::{AppId, ChannelId, NamedUserId};
use store::channels::{self, Channel, Key};
use store::{Tx, named_users};

use crate::Devices;
use crate::channels::address_key;

/// How the kinds of keys begin that are addresses.
const ADDRESSES: &str = "address:";
/// One more than are shown, to tell whether there are more.
const MOST_USERS: u32 = 11;

#[boxed]
impl Devices {
    pub async fn search(&self, app: AppId, text: SearchText) -> Result<[Findings; 2]> {
        self.0.store.read(move |tx| Ok([channels(tx, app, text.as_str())?, users(tx, app, text.as_str())?])).await
    }
}

fn channels(tx: &mut Tx<'_>, app: AppId, text: &str) -> Result<Findings> {
    let mut findings = Findings::default();
    if let Ok(id) = text.parse::<ChannelId>() {
        channels::by_id(tx, app, id)?.into_iter().for_each(|channel| findings.add(found(&channel)));
    }
    for channel in with_address(tx, app, text)? {
        findings.add(found(&channel));
    }
    Ok(findings)
}

/// The channels of all types that have an address.
pub fn with_address(tx: &mut Tx<'_>, app: AppId, address: &str) -> Result<Vec<Channel>> {
    let kinds = channels::kinds_of_keys(tx, app, ADDRESSES)?;
    let types = kinds.iter().filter_map(|kind| DeviceType::from_name(kind.strip_prefix(ADDRESSES)?));
    let keys: Vec<Key> = types.map(|device_type| address_key(&device_type, address)).collect();
    let mut ordinals = channels::by_keys(tx, app, keys)?;
    ordinals.sort_unstable();
    ordinals.dedup();
    let mut rows = Vec::new();
    for ordinal in ordinals {
        rows.extend(channels::by_ordinal(tx, app, ordinal)?);
    }
    Ok(rows)
}

/// Ids with letters of another case are other ids, and people type names as they come: `Kim` finds `kim-7`, too.
fn users(tx: &mut Tx<'_>, app: AppId, text: &str) -> Result<Findings> {
    let mut findings = Findings::default();
    for beginning in spellings(text) {
        let Ok(start) = NamedUserId::new(&beginning) else { continue };
        let page = named_users::page(tx, app, Some(&start), MOST_USERS)?;
        for user in page.into_iter().take_while(|user| user.id.as_str().starts_with(&beginning)) {
            let id = user.id.as_str().to_owned();
            findings.add(Found { kind: FoundKind::NamedUser, id, title: None, matched: None });
        }
    }
    Ok(findings)
}

/// As it was typed, in small letters, with a capital at the beginning, and in capitals; each once.
fn spellings(text: &str) -> Vec<String> {
    let small = text.to_lowercase();
    let capital = small.chars().take(1).flat_map(char::to_uppercase).chain(small.chars().skip(1)).collect();
    let mut spellings = vec![text.to_owned()];
    for spelling in [small, capital, text.to_uppercase()] {
        if !spellings.contains(&spelling) {
            spellings.push(spelling);
        }
    }
    spellings
}

/// Its device type, and whose it is.
fn found(channel: &Channel) -> Found {
    let title = match &channel.named_user {
        Some(user) => format!("{} of {}", channel.device_type, user.as_str()),
        None => channel.device_type.to_string(),
    };
    Found { kind: FoundKind::Channel, id: channel.id.to_string(), title: Some(title), matched: None }
}
