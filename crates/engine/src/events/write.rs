//! Writing a page of events as text, straight into one piece of memory that all of them share.

use std::collections::HashMap;
use std::io::Write as _;
use std::ops::Range;

use bytes::Bytes;
use model::event::{EventOffset, RecordKind};
use model::ids::{AppId, EventId, Ordinal, PushId};
use model::time::UtcMillis;

use super::PublicEvent;
use super::bodies::{self, Stored};
use super::devices::{Device, Devices};
use super::gather::{Content, OneShape, Told};
use crate::causes::Causes;
use crate::{Error, Result};

/// A guess, to begin with.
const BYTES_PER_EVENT: usize = 768;

/// The events, and all of them together with a line break after each.
pub(super) fn write(
    app: AppId,
    told: &[Told<'_>],
    devices: &Devices,
    causes: &HashMap<PushId, Causes>,
) -> Result<(Vec<PublicEvent>, Bytes)> {
    let mut page = Writing::default();
    page.text.reserve(told.len() * BYTES_PER_EVENT);
    for one in told {
        match &one.content {
            Content::One(shape) => page.one(app, one, *shape, devices)?,
            Content::Many(shared, channels) => {
                let (many, body) = (&shared.many, bodies::of_many(shared, None)?);
                let causes = causes.get(&many.push.push_id);
                let name = one.record.kind.public_name().unwrap_or_default();
                for (place, ordinal) in channels {
                    let Some(device) = accepted(one, devices, *ordinal) else { continue };
                    let id = EventId::of(name, many.push.push_id, device.id);
                    let offset = EventOffset::new(one.record.offset, *place);
                    let cause = causes.and_then(|causes| causes.get(ordinal.0));
                    let own = cause.map(|cause| bodies::of_many(shared, Some(cause))).transpose()?;
                    let body = own.as_ref().unwrap_or(&body);
                    page.event(one, offset, id, many.occurred, &About::Device(device), Some(body));
                }
            }
        }
    }
    Ok(page.finish())
}

/// The channel of an event, if what wants the event also wants it of this channel. Channels are never deleted as long as their
/// app exists.
fn accepted<'d>(told: &Told<'_>, devices: &'d Devices, ordinal: Ordinal) -> Option<&'d Device> {
    let device = devices.get(ordinal)?;
    let is_wanted = told.clauses.iter().any(|clause| {
        clause.channels.as_ref().is_none_or(|channels| channels.contains(ordinal.0))
            && clause.accepts_device(&device.device_type, device.named_user.as_deref())
    });
    is_wanted.then_some(device)
}

/// Whom an event is about.
enum About<'d> {
    Nobody,
    Device(&'d Device),
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
    fn one(&mut self, app: AppId, told: &Told<'_>, shape: OneShape, devices: &Devices) -> Result<()> {
        let device = match told.record.ordinal {
            None => None,
            Some(ordinal) => match accepted(told, devices, ordinal) {
                Some(device) => Some(device),
                None => return Ok(()),
            },
        };
        let stored: Stored<'_> = serde_json::from_slice(&told.record.body).map_err(Error::internal)?;
        let about = match device {
            Some(device) => About::Device(device),
            None if told.record.kind == RecordKind::Custom => {
                bodies::of_customer(app, stored.body)?.map_or(About::Nobody, About::User)
            }
            None => About::Nobody,
        };
        let offset = EventOffset::new(told.record.offset, 0);
        let of_push;
        let body = match shape {
            OneShape::Empty => None,
            OneShape::Stored => Some(stored.body.get().as_bytes()),
            OneShape::Push => {
                of_push = bodies::of_push(stored.body)?;
                Some(of_push.as_slice())
            }
        };
        self.event(told, offset, stored.id, stored.occurred, &about, body);
        Ok(())
    }

    fn event(
        &mut self,
        told: &Told<'_>,
        offset: EventOffset,
        id: EventId,
        occurred: UtcMillis,
        about: &About<'_>,
        body: Option<&[u8]>,
    ) {
        let start = self.text.len();
        let kind = told.record.kind;
        // Writing to memory does not fail.
        let _ = write!(self.text, "{{\"id\":\"{id}\",\"offset\":\"{offset}\",\"occurred\":\"");
        self.text.extend_from_slice(self.occurred.text(occurred).as_bytes());
        self.text.extend_from_slice(b"\",\"processed\":\"");
        self.text.extend_from_slice(self.processed.text(told.record.at).as_bytes());
        self.text.extend_from_slice(b"\",\"type\":\"");
        self.text.extend_from_slice(kind.public_name().unwrap_or_default().as_bytes());
        self.text.push(b'"');
        let device = match about {
            About::Nobody => None,
            About::Device(device) => {
                self.text.push(b',');
                self.text.extend_from_slice(&device.json);
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
