//! Reading the records of live messages within bounds: so many of them, and so many bytes, however large each is.

use audience::codec;
use base::{Result, UnreadableRecord};
use model::event::{LiveContent, Many, RecordKind};
use model::ids::{AppId, Offset};
use roaring::RoaringBitmap;
use store::{Tx, log};

use crate::message::Message;

/// Records asked for at once. A record is some tens of kilobytes at most: a message, and the channels of a block.
const PORTION: u32 = 32;

/// Where reading stops.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) n_records: u32,
    /// Nothing more is asked for after these.
    pub(crate) n_bytes: usize,
}

/// What was read.
pub(crate) struct Looked {
    /// From here the next read goes on.
    pub(crate) up_to: Offset,
    /// Whether these are all.
    pub(crate) is_end: bool,
    /// The records that were passed over.
    pub(crate) unreadable: Vec<UnreadableRecord>,
}

/// Takes the messages after an offset and up to another, with their channels, oldest first.
pub(crate) fn read(
    tx: &mut Tx<'_>,
    app: AppId,
    (mut after, until): (Offset, Offset),
    bounds: Bounds,
    mut take: impl FnMut(Message, RoaringBitmap),
) -> Result<Looked> {
    let (mut n_records, mut n_bytes, mut unreadable) = (0, 0, Vec::new());
    while after < until {
        if n_records >= bounds.n_records || n_bytes >= bounds.n_bytes {
            return Ok(Looked { up_to: after, is_end: false, unreadable });
        }
        let (n_wanted, mut portion) = (PORTION.min(bounds.n_records - n_records), Vec::new());
        log::visit_lives(tx, app, after, until, n_wanted, |offset, body| {
            n_bytes += body.len();
            portion.push((offset, body.to_vec()));
            Ok(())
        })?;
        let is_last = portion.len() < n_wanted as usize;
        n_records += n_wanted;
        for (offset, body) in portion {
            match parse(offset, &body) {
                Some((message, channels)) => take(message, channels),
                None => unreadable.push(UnreadableRecord::of_form(offset, RecordKind::Live)),
            }
            after = offset;
        }
        if is_last {
            break;
        }
    }
    Ok(Looked { up_to: until.max(after), is_end: true, unreadable })
}

/// The message of a record, and its channels.
fn parse(offset: Offset, body: &[u8]) -> Option<(Message, RoaringBitmap)> {
    let (many, rest): (Many, _) = postcard::take_from_bytes(body).ok()?;
    let content: LiveContent = postcard::from_bytes(rest).ok()?;
    let channels = codec::decode(&many.ordinals).ok()?;
    let message = Message {
        at: offset,
        occurred: many.occurred,
        push: many.push.push_id,
        expires: content.expires,
        content: content.message.into(),
    };
    Some((message, channels))
}
