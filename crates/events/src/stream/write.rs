//! Writing a page of events as text, straight into one piece of memory that all of them share.

use std::collections::HashMap;
use std::io::Write as _;
use std::ops::Range;

use ::devices::ContactKey;
use base::{Error, Result};
use bytes::Bytes;
use model::event::{EventOffset, RecordKind};
use model::ids::{EventId, Ordinal, PushId};
use model::time::UtcMillis;
use sending::Causes;

use super::PublicEvent;
use super::bodies::{self, Stored};
use super::devices::{PageDevices, Shown};
use super::filter::WholeTest;
use super::gather::{Content, OneShape, PageRecord};

/// A guess, to begin with.
const BYTES_PER_EVENT: usize = 768;

/// The events, and all of them together with a line break after each.
pub(super) fn write(
    contact_key: &ContactKey,
    records: &[PageRecord<'_>],
    devices: &mut PageDevices,
    causes: &HashMap<PushId, Causes>,
) -> Result<(Vec<PublicEvent>, Bytes)> {
    let mut page = Writing::default();
    page.text.reserve(records.len() * BYTES_PER_EVENT);
    for one in records {
        match &one.content {
            Content::One(shape) => page.one(contact_key, one, *shape, devices)?,
            Content::Many(shared, channels) => {
                let (many, body) = (&shared.many, bodies::of_many(shared, None)?);
                let causes = causes.get(&many.push.push_id);
                let name = one.record.kind.public_name().unwrap_or_default();
                for (index, ordinal) in channels {
                    let Some((device, whole)) = accepted(one, devices, *ordinal)? else { continue };
                    let id = EventId::of(name, many.push.push_id, device.id);
                    let offset = EventOffset::new(one.record.offset, *index);
                    let cause = causes.and_then(|causes| causes.get(ordinal.0));
                    let own = cause.map(|cause| bodies::of_many(shared, Some(cause))).transpose()?;
                    let body = own.as_ref().unwrap_or(&body);
                    page.event(one, offset, id, many.occurred, &About::Device(device), Some(body));
                    page.test_last(&whole)?;
                }
            }
        }
    }
    Ok(page.finish())
}

/// The channel of an event, if a clause that accepts the event also accepts this channel as it was, and what such clauses require
/// of the whole event.
fn accepted<'d, 'f>(
    PageRecord { record, clauses, .. }: &PageRecord<'f>,
    devices: &'d mut PageDevices,
    ordinal: Ordinal,
) -> Result<Option<(Shown<'d>, WholeTest<'f>)>> {
    let mut whole = None;
    let shown = devices.show(ordinal, record, |device_type, user| {
        whole = WholeTest::of(clauses.iter().copied().filter(|clause| {
            clause.channels.as_ref().is_none_or(|channels| channels.contains(ordinal.0))
                && clause.accepts_device(device_type, user)
        }));
        whole.is_some()
    })?;
    Ok(shown.zip(whole))
}

/// The subject of an event.
enum About<'d> {
    Nobody,
    Device(Shown<'d>),
    /// A named user who has no device.
    User(Vec<u8>),
}

#[derive(Default)]
struct Writing {
    text: Vec<u8>,
    events: Vec<(PublicEvent, Range<usize>)>,
    occurred: Instant,
    processed: Instant,
}

impl Writing {
    fn one(
        &mut self,
        contact_key: &ContactKey,
        on_page: &PageRecord<'_>,
        shape: OneShape,
        devices: &mut PageDevices,
    ) -> Result<()> {
        let accepted = match on_page.record.ordinal {
            None => WholeTest::of(on_page.clauses.iter().copied()).map(|whole| (None, whole)),
            Some(ordinal) => accepted(on_page, devices, ordinal)?.map(|(device, whole)| (Some(device), whole)),
        };
        let Some((device, whole)) = accepted else { return Ok(()) };
        let stored: Stored<'_> = serde_json::from_slice(&on_page.record.body).map_err(Error::internal)?;
        let about = match device {
            Some(device) => About::Device(device),
            None if on_page.record.kind == RecordKind::Custom => {
                bodies::of_customer(contact_key, stored.body)?.map_or(About::Nobody, About::User)
            }
            None => About::Nobody,
        };
        let offset = EventOffset::new(on_page.record.offset, 0);
        let made;
        let body = match shape {
            OneShape::Empty => None,
            OneShape::Stored => Some(stored.body.get().as_bytes()),
            OneShape::Contact => {
                made = bodies::of_contact(contact_key, stored.body)?;
                Some(made.as_slice())
            }
            OneShape::Push => {
                made = bodies::of_push(stored.body)?;
                Some(made.as_slice())
            }
        };
        self.event(on_page, offset, stored.id, stored.occurred, &about, body);
        self.test_last(&whole)
    }

    /// Takes the last event away again if it does not pass.
    fn test_last(&mut self, whole: &WholeTest<'_>) -> Result<()> {
        let Some((_, range)) = self.events.last() else { return Ok(()) };
        let text = self.text.get(range.clone()).unwrap_or_default();
        if !whole.passes(text)? {
            self.text.truncate(range.start);
            self.events.pop();
        }
        Ok(())
    }

    fn event(
        &mut self,
        on_page: &PageRecord<'_>,
        offset: EventOffset,
        id: EventId,
        occurred: UtcMillis,
        about: &About<'_>,
        body: Option<&[u8]>,
    ) {
        let start = self.text.len();
        let kind = on_page.record.kind;
        // Writing to memory does not fail.
        let _ = write!(self.text, "{{\"id\":\"{id}\",\"offset\":\"{offset}\",\"occurred\":\"");
        self.text.extend_from_slice(self.occurred.text(occurred).as_bytes());
        self.text.extend_from_slice(b"\",\"processed\":\"");
        self.text.extend_from_slice(self.processed.text(on_page.record.at).as_bytes());
        self.text.extend_from_slice(b"\",\"type\":\"");
        self.text.extend_from_slice(kind.public_name().unwrap_or_default().as_bytes());
        self.text.push(b'"');
        let device = match about {
            About::Nobody => None,
            About::Device(device) => {
                self.text.push(b',');
                self.text.extend_from_slice(device.json);
                Some(device)
            }
            About::User(user) => {
                self.text.extend_from_slice(b",\"user\":");
                self.text.extend_from_slice(user);
                None
            }
        };
        if let Some(body) = body {
            self.text.extend_from_slice(b",\"body\":");
            self.text.extend_from_slice(body);
        }
        self.text.push(b'}');
        let end = self.text.len();
        self.text.push(b'\n');
        let event = PublicEvent {
            offset,
            kind,
            id,
            channel: device.map(|device| device.id),
            ordinal: device.map(|device| device.ordinal),
            json: Bytes::new(),
        };
        self.events.push((event, start..end));
    }

    fn finish(self) -> (Vec<PublicEvent>, Bytes) {
        let text = Bytes::from(self.text);
        let whole = |(event, range): (PublicEvent, Range<usize>)| PublicEvent { json: text.slice(range), ..event };
        (self.events.into_iter().map(whole).collect(), text)
    }
}

/// An instant as text. Neighbors in the log mostly share theirs.
#[derive(Default)]
struct Instant(Option<(UtcMillis, String)>);

impl Instant {
    fn text(&mut self, instant: UtcMillis) -> &str {
        if self.0.as_ref().is_none_or(|(known, _)| *known != instant) {
            self.0 = Some((instant, instant.to_iso()));
        }
        self.0.as_ref().map_or("", |(_, text)| text)
    }
}
