//! Messages as their viewers read them: texts filled in with what is known of each, and messages left out that need more than that.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::Result;
use model::ids::{AppId, MessageNumber, PushId};
use model::inbox::MessageFilling;
use model::time::UtcMillis;
use personalization::ValueMap;
use personalization::limits::OUTPUT_BYTES;
use roaring::RoaringBitmap;
use store::Tx;
use store::messages::{self, TextHead};

use super::mailbox::Held;
use crate::personal::{self, Caused};

/// A message that is there, and the number of its text.
pub(super) type There<'m> = (Held<'m>, u32);

/// What is needed to show messages of one inbox or of several, read in one go.
pub(super) struct Readings {
    heads: HashMap<(MessageNumber, u32), TextHead>,
    /// Those that decide whether there is a message.
    bodies: HashMap<(MessageNumber, u32), String>,
    /// What is known of the viewers.
    values: HashMap<u32, ValueMap>,
    /// What their events told about the messages that these caused.
    causes: HashMap<(PushId, u32), Caused>,
}

impl Readings {
    /// Reads what the heads of the messages need, and the values of further names.
    pub(super) fn read<'t, 'm: 't>(
        tx: &mut Tx<'_>,
        app: AppId,
        there: impl Iterator<Item = &'t There<'m>> + Clone,
        mut names: BTreeSet<String>,
        now: UtcMillis,
    ) -> Result<Self> {
        let texts: BTreeSet<_> = there.clone().map(text_of).collect();
        let heads: HashMap<_, TextHead> = messages::heads(tx, app, texts)?.into_iter().collect();
        let mut viewers = RoaringBitmap::new();
        let mut viewers_of: BTreeMap<PushId, RoaringBitmap> = BTreeMap::new();
        for one in there {
            if heads.get(&text_of(one)).is_some_and(|head| head.details.filling.is_some()) {
                let (Held { message, viewer }, _) = one;
                viewers.insert(viewer.ordinal.0);
                viewers_of.entry(message.push).or_default().insert(viewer.ordinal.0);
            }
        }
        for head in heads.values().filter(|head| head.details.filling.is_some()) {
            let icons = head.details.icons.iter().flat_map(BTreeMap::values);
            let texts = std::iter::once(&head.title).chain(head.details.extra.values()).chain(icons);
            names.extend(texts.flat_map(|text| MessageFilling::names(text)));
        }
        let needs_body = |head: &TextHead| head.details.filling.as_ref().is_some_and(MessageFilling::needs_body);
        let needed = heads.iter().filter(|(_, head)| needs_body(head)).map(|(text, _)| *text);
        let bodies = messages::bodies(tx, app, needed)?.into_iter();
        let bodies: HashMap<_, _> =
            bodies.filter_map(|(text, body)| Some((text, String::from_utf8(body).ok()?))).collect();
        names.extend(bodies.values().flat_map(|body| MessageFilling::names(body)));
        let values = personal::values_of(tx, app, &viewers, &names, now)?;
        Ok(Self { heads, bodies, values, causes: personal::causes_of(tx, app, &viewers_of)? })
    }

    /// The text of a message for its viewer. `None` if there is no message for them: some need values that are not known of
    /// everybody.
    pub(super) fn head(&self, there: &There<'_>, now: UtcMillis) -> Option<Cow<'_, TextHead>> {
        let head = self.heads.get(&text_of(there))?;
        let Some(filling) = &head.details.filling else { return Some(Cow::Borrowed(head)) };
        let values = self.values(there);
        let mut head = head.clone();
        head.details.filling = None;
        let icons = head.details.icons.take().map(|icons| filling.filled_icons(&icons, &values, now));
        head.details.icons = icons.transpose().ok()?.filter(|icons| !icons.is_empty());
        let mut n_bytes = head.details.icons.iter().flat_map(BTreeMap::values).map(String::len).sum::<usize>();
        for text in std::iter::once(&mut head.title).chain(head.details.extra.values_mut()) {
            *text = filling.filled(text, false, &values, now).ok()?;
            n_bytes += text.len();
            // A long value in many of them would fill the memory.
            if n_bytes > OUTPUT_BYTES {
                return None;
            }
        }
        if let Some(body) = self.bodies.get(&text_of(there)) {
            filling.filled(body, false, &values, now).ok()?;
        }
        Some(Cow::Owned(head))
    }

    /// The body of a message for its viewer; `None` as for the head. Bytes that are not text stay as they are.
    pub(super) fn body(&self, there: &There<'_>, written: Vec<u8>, now: UtcMillis) -> Option<Vec<u8>> {
        let head = self.heads.get(&text_of(there))?;
        let Some(filling) = head.details.filling.as_ref().filter(|filling| !filling.keeps_body()) else {
            return Some(written);
        };
        let Ok(text) = std::str::from_utf8(&written) else { return Some(written) };
        let is_html = head.content_type.contains("html");
        Some(filling.filled(text, is_html, &self.values(there), now).ok()?.into_bytes())
    }

    /// What an event told goes before what is known of the viewer.
    fn values(&self, (held, _): &There<'_>) -> Cow<'_, ValueMap> {
        let viewer = held.viewer.ordinal.0;
        let known = self.values.get(&viewer).map_or_else(Cow::default, Cow::Borrowed);
        match self.causes.get(&(held.message.push, viewer)) {
            Some(told) => {
                let mut all = known.into_owned();
                told.clone().join(&mut all);
                Cow::Owned(all)
            }
            None => known,
        }
    }
}

fn text_of((held, text): &There<'_>) -> (MessageNumber, u32) {
    (held.message.number, *text)
}
