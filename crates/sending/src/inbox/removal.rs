//! The end of messages: deletion by the operator, and forgetting messages that have ended.

use std::time::Duration;

use audience::codec;
use base::{Error, Result};
use boxed::boxed;
use model::event::SharedPush;
use model::ids::{AppId, PushId};
use model::inbox::TextChoice;
use model::payload::Push;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::Tx;
use store::messages::{self, Message};
use store::pushes::{self, PushRow, PushState};

use super::decode;
use super::mailing::expires;
use crate::Sending;
use crate::push::stored_push;

/// How long the holders of an ended message are kept: meanwhile devices learn of the end by a changed listing.
const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// Rows that are forgotten in one transaction, and messages if they have few: few enough that others do not wait long.
const ROWS_AT_ONCE: u64 = 5000;
const MESSAGES_AT_ONCE: u32 = 200;
/// Messages that servers delete in one transaction.
pub(super) const DELETED_AT_ONCE: u32 = 500;

#[boxed]
impl Sending {
    /// Removes a message from all inboxes at once, and its texts from the database. A push whose audience is not chosen yet is
    /// sent without it. Doing it twice is the same as doing it once.
    pub async fn delete_message(&self, app: AppId, push: PushId) -> Result<()> {
        let deleted = self.delete_messages(app, vec![push]).await?;
        if deleted.is_empty() { Err(Error::NotFound("message")) } else { Ok(()) }
    }

    /// As [`Sending::delete_message`], for many. Returns the pushes that have a message.
    pub async fn delete_messages(&self, app: AppId, pushes: Vec<PushId>) -> Result<Vec<PushId>> {
        let now = self.0.clock.now();
        let mut deleted = Vec::new();
        for some in pushes.chunks(DELETED_AT_ONCE as usize) {
            let some = some.to_vec();
            let write = move |tx: &mut Tx<'_>| {
                let mut deleted = Vec::new();
                for push in &some {
                    deleted.extend(delete(tx, app, *push, now)?.then_some(*push));
                }
                Ok::<_, Error>(deleted)
            };
            deleted.extend(self.0.store.write(app, write).await?);
        }
        Ok(deleted)
    }

    /// Whether the message of a push was deleted or has expired, so that devices would not find it.
    pub(crate) async fn message_has_ended(&self, app: AppId, row: &PushRow, push: &Push) -> Result<bool> {
        let (now, id) = (self.0.clock.now(), row.id);
        let known = self.0.store.read(move |tx| messages::by_push(tx, app, id)).await?;
        // A message that expired before it had holders is not known.
        let ends = known.map_or_else(|| expires(push, row.created), |message| Some(message.ends));
        Ok(ends.is_some_and(|ends| ends <= now))
    }

    /// Safe to run twice: forgetting a forgotten message does nothing.
    pub async fn forget_ended_messages(&self, app: AppId) -> Result<()> {
        let before = self.0.clock.now().minus(KEPT_FOR);
        while !self.0.store.read(move |tx| messages::ended_before(tx, app, before, 1)).await?.is_empty() {
            self.0.store.write(app, move |tx| forget_some(tx, app, before)).await?;
        }
        Ok(())
    }
}

/// Whether the push has a message, which is then in no inbox.
pub(super) fn delete(tx: &mut Tx<'_>, app: AppId, push: PushId, now: UtcMillis) -> Result<bool> {
    if let Some(message) = messages::by_push(tx, app, push)? {
        messages::end(tx, app, message.number, now)?;
        return Ok(true);
    }
    let row = pushes::by_id(tx, app, push)?.filter(|row| row.state == PushState::Accepted);
    let content = row.as_ref().map(stored_push).transpose()?.flatten();
    let Some(content) = content.filter(Push::has_message) else { return Ok(false) };
    let never_held = Message {
        number: messages::take_number(tx, app)?,
        push,
        sent: now,
        expires: None,
        ends: now,
        shared_push: SharedPush::of(push),
        texts: TextChoice::of(&content),
        slices: codec::encode(&RoaringBitmap::new()),
    };
    messages::insert(tx, app, &never_held)?;
    Ok(true)
}

fn forget_some(tx: &mut Tx<'_>, app: AppId, before: UtcMillis) -> Result<()> {
    let mut n_rows = 0;
    for message in messages::ended_before(tx, app, before, MESSAGES_AT_ONCE)? {
        let slices = decode(&message.slices)?;
        n_rows += messages::forget(tx, app, &message, &slices)?;
        if n_rows >= ROWS_AT_ONCE {
            break;
        }
    }
    Ok(())
}
