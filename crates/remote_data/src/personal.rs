//! Messages whose texts differ from device to device. All devices may ask for one at the same moment, so that it is read once for
//! each kind of device, and kept until the data changes or there is too much of it. For each device it is only filled in.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base::{Error, Result};
use model::ids::AppId;
use model::payload::personal::PersonalizedBody;
use model::time::UtcMillis;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::kept::Kept;
use crate::resolving::ResolvedMessage;
use crate::served::{Reader, shown};
use crate::snapshot::Snapshot;
use crate::{ItemKind, RemoteData};

/// Bytes of messages of one app that are kept: the longest ones for a few kinds of devices, or hundreds of typical ones.
const MOST_BYTES: usize = 16 * 1024 * 1024;
/// The text of a message takes so many times its length once it is read: as JSON, and what varies as templates and with its names.
const READ_FACTOR: usize = 8;
/// What a message takes besides that.
const KEPT_BYTES: usize = 1024;

/// The messages that were read of a snapshot, by their ids and the devices that get the same text.
#[derive(Default)]
pub(crate) struct PersonalMessages(Mutex<Kept<(String, Reader), Cell>>);

/// A message that is read once for all requests that wait for it.
type Cell = Arc<OnceCell<Arc<PersonalMessage>>>;

pub(crate) struct PersonalMessage {
    body: PersonalizedBody,
    names: BTreeSet<String>,
    /// What it takes in memory, roughly.
    n_bytes: usize,
}

impl PersonalMessages {
    /// What they take in memory.
    pub(crate) fn n_bytes(&self) -> usize {
        self.0.lock().n_bytes()
    }

    fn cell(&self, variant: &(String, Reader)) -> Cell {
        self.0.lock().get_or_default(variant)
    }

    /// Gives up the messages that were used longest ago, until the rest is not too much.
    fn make_room(&self, newest: &(String, Reader)) {
        let mut kept = self.0.lock();
        kept.measure(newest, |cell| cell.get().map_or(0, |message| message.n_bytes));
        kept.make_room(MOST_BYTES, newest);
    }
}

impl RemoteData {
    /// A message as devices of a kind get it, before anything is filled in.
    pub(crate) async fn personal_message(
        &self,
        app: AppId,
        snapshot: &Arc<Snapshot>,
        variant: &(String, Reader),
    ) -> Result<Arc<PersonalMessage>> {
        let cell = snapshot.personal_messages.cell(variant);
        if let Some(message) = cell.get() {
            return Ok(message.clone());
        }
        let mut is_new = false;
        let read = || {
            is_new = true;
            let (snapshot, variant) = (snapshot.clone(), variant.clone());
            // A long message takes a while, and those who wait for other answers must not.
            let read = tokio::task::spawn_blocking(move || PersonalMessage::read(&snapshot, &variant).map(Arc::new));
            async move { read.await.map_err(Error::internal)? }
        };
        let message = cell.get_or_try_init(read).await?.clone();
        if is_new {
            snapshot.personal_messages.make_room(variant);
            self.0.snapshots.make_room(app);
        }
        Ok(message)
    }
}

impl PersonalMessage {
    fn read(snapshot: &Snapshot, (id, reader): &(String, Reader)) -> Result<Self> {
        let stored = Snapshot::find(&snapshot.messages, id).ok_or(ItemKind::Message.not_found())?;
        let whole = json!({"message": shown(stored, reader), "actions": stored.body.get("actions")});
        let body = PersonalizedBody::new(&whole);
        let n_bytes = KEPT_BYTES + READ_FACTOR * whole.to_string().len();
        Ok(Self { names: body.names(), body, n_bytes })
    }

    /// The names under which values of the device are looked for.
    pub(crate) const fn names(&self) -> &BTreeSet<String> {
        &self.names
    }

    /// The answer to a device; `None` if it cannot be shown with these values. Takes a while if there is much to fill in, so it
    /// is not for threads that answer requests.
    pub(crate) fn filled(&self, values: &BTreeMap<String, Value>, now: UtcMillis) -> Option<ResolvedMessage> {
        let mut filled = self.body.filled(values, now).ok()?;
        let message = match filled["message"].take() {
            Value::Object(message) => Some(message),
            _ => None,
        };
        let actions = Some(filled["actions"].take()).filter(|actions| !actions.is_null());
        Some(ResolvedMessage { audience_match: true, message, actions })
    }
}

#[cfg(test)]
mod tests {
    use model::remote_data::DataPlatform;

    use super::*;
    use crate::documents::Stored;
    use crate::served::DeviceLocale;

    fn message() -> Stored {
        let Value::Object(body) = json!({
            "message": {"text": "Hi {{first_name}}"}, "actions": {"open": "{{place}}"},
            "localizations": [{"locale": {"language": "nb"}, "message": {"text": "Hei {{first_name}}"}}],
        }) else {
            panic!("it is an object")
        };
        Stored { version: 1, created: UtcMillis(0), updated: UtcMillis(0), body }
    }

    fn variant(language: Option<&str>) -> (String, Reader) {
        let locale = DeviceLocale { language: language.map(str::to_owned), country: None };
        ("a".to_owned(), Reader::new(DataPlatform::Ios, None, locale))
    }

    #[test]
    fn a_message_is_read_for_each_kind_of_device_and_filled_in_for_each_device() {
        let mut snapshot = Snapshot::default();
        snapshot.messages.push(("a".to_owned(), message()));
        let values = |name: &str| BTreeMap::from([("first_name".to_owned(), json!(name))]);
        for (language, greeting) in [(None, "Hi"), (Some("nb"), "Hei"), (Some("de"), "Hi")] {
            let read = PersonalMessage::read(&snapshot, &variant(language)).unwrap();
            assert_eq!(read.names(), &BTreeSet::from(["first_name".to_owned(), "place".to_owned()]));
            for name in ["Kim", "Lee"] {
                let told = read.filled(&values(name), UtcMillis(0)).unwrap();
                assert_eq!(told.message.unwrap()["text"], format!("{greeting} {name}"));
                assert_eq!(told.actions, Some(json!({"open": ""})));
            }
        }
        let (_, reader) = variant(None);
        assert!(PersonalMessage::read(&snapshot, &("b".to_owned(), reader)).is_err());
    }

    #[test]
    fn what_was_read_stays_and_is_counted_until_there_is_too_much() {
        let messages = PersonalMessages::default();
        let add = |language: &str, n_bytes: usize| {
            let variant = variant(Some(language));
            let body = PersonalizedBody::new(&json!({}));
            let message = PersonalMessage { names: BTreeSet::new(), body, n_bytes };
            messages.cell(&variant).set(Arc::new(message)).unwrap_or_else(|_| panic!("it is new"));
            messages.make_room(&variant);
        };
        add("nb", MOST_BYTES / 2);
        add("de", MOST_BYTES / 2);
        assert!(messages.cell(&variant(Some("nb"))).initialized());
        assert_eq!(messages.n_bytes(), MOST_BYTES / 2 * 2);
        add("fr", 1);
        assert_eq!(messages.n_bytes(), MOST_BYTES / 2 + 1, "the one that was used longest ago has gone");
        assert!(messages.cell(&variant(Some("nb"))).initialized());
        assert!(!messages.cell(&variant(Some("de"))).initialized());
    }
}
