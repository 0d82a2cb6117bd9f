//! Reading the records of live messages within bounds: so many of them, and so many bytes, however large each is.

use base::{Error, Result};
use model::event::{LiveContent, Many};
use model::ids::{AppId, Offset};
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

/// Takes the messages after an offset and up to another, with the sets of their channels, oldest first. Returns whether these are
/// all; otherwise there is at least one, from which the next read can go on.
pub(crate) fn read(
    tx: &mut Tx<'_>,
    app: AppId,
    (mut after, until): (Offset, Offset),
    bounds: Bounds,
    mut take: impl FnMut(Message, Vec<u8>) -> Result<()>,
) -> Result<bool> {
    let (mut n_records, mut n_bytes) = (0, 0);
    while after < until {
        if n_records >= bounds.n_records || n_bytes >= bounds.n_bytes {
            return Ok(false);
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
            let (message, channels) = parse(offset, &body)?;
            take(message, channels)?;
            after = offset;
        }
        if is_last {
            break;
        }
    }
    Ok(true)
}

/// The message of a record, and the set of its channels.
fn parse(offset: Offset, body: &[u8]) -> Result<(Message, Vec<u8>)> {
    let (many, rest): (Many, _) = postcard::take_from_bytes(body).map_err(Error::internal)?;
    let content: LiveContent = postcard::from_bytes(rest).map_err(Error::internal)?;
    let message = Message {
        at: offset,
        occurred: many.occurred,
        push: many.push.push_id,
        expires: content.expires,
        content: content.message.into(),
    };
    Ok((message, many.ordinals))
}
