//! Inboxes: the holders of each Message Center message, and what they did with it.
//!
//! A message is stored once. Its holders are fixed when its push is resolved and never change, so they are kept by message, as
//! bitmaps where there are many and as a row each where there are few. Reading and deleting happens all the time, so it is kept
//! by user, as bitmaps of messages. See docs/decisions/0003-inboxes-are-bitmaps.md.

mod group_removal;
mod listing;
mod mailbox;
mod mailing;
mod marks;
mod readings;
mod removal;
mod unread;
mod users;

use std::collections::BTreeSet;

use audience::block::slice_of;
use audience::codec;
use base::{Error, Result};
use model::app::AppKey;
use model::ids::{AppId, MessageNumber, Ordinal, PushId};
use model::inbox::InboxUserId;
use roaring::RoaringBitmap;
use store::{Tx, inbox_messages, messages};

pub(crate) use group_removal::DeleteMessages;
pub use group_removal::GroupDeletion;
pub use listing::{Inbox, MessageBody, MessageView};
pub(crate) use mailing::{Mailing, message_holders};
pub use marks::Mark;
pub use unread::{Unread, unread_of};
pub use users::{CreatedInbox, InboxView};

/// A user of an inbox who has proven to be one.
#[derive(Clone, Debug)]
pub struct InboxCaller {
    pub app: AppId,
    pub app_key: AppKey,
    pub user: InboxUserId,
}

/// Holders are kept in slices. A listing reads one row of its slice for every message there, which has 512 bytes at most, and a
/// message to ten million channels has 2,442 of them.
///
/// A message with no more holders than this is a row for each of them; one with more is so in slices with no more holders than
/// this. So the sets that all channels of a slice have to read are held by many of them.
const FEW_IN_ALL: u64 = 256;
const FEW_IN_SLICE: u64 = 8;

/// All holders of the message of a push, as long as they are known.
pub(crate) fn holders(tx: &mut Tx<'_>, app: AppId, push: PushId) -> Result<RoaringBitmap> {
    let Some(message) = messages::by_push(tx, app, push)? else { return Ok(RoaringBitmap::new()) };
    let mut holders = RoaringBitmap::new();
    for set in messages::holders(tx, app, message.number, &decode(&message.slices)?)? {
        holders |= decode(&set)?;
    }
    holders.extend(inbox_messages::holders(tx, app, message.number)?.into_iter().map(|Ordinal(number)| number));
    Ok(holders)
}

/// The messages that were put into the inboxes of channels and are not forgotten.
pub fn messages_held_by(tx: &mut Tx<'_>, app: AppId, channels: &[Ordinal]) -> Result<BTreeSet<MessageNumber>> {
    let held = inbox_messages::held_by(tx, app, channels.iter().copied())?;
    let mut numbers: BTreeSet<MessageNumber> = held.into_iter().map(|(number, _)| number).collect();
    for channel in channels {
        for (number, holders) in messages::held_within(tx, app, slice_of(*channel))? {
            if decode(&holders)?.contains(channel.0) {
                numbers.insert(number);
            }
        }
    }
    Ok(numbers)
}

fn decode(bytes: &[u8]) -> Result<RoaringBitmap> {
    codec::decode(bytes).map_err(Error::internal)
}
