//! Reading inboxes: the listing, single messages, and their bodies.

use std::collections::HashMap;
use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use model::app::AppKey;
use model::event::SharedPush;
use model::ids::{AppId, ChannelId, MessageNumber, PushId};
use model::inbox::MessageDetails;
use model::time::UtcMillis;
use store::messages::{self, TextHead};
use store::{Tx, channels, inbox_users};

use super::InboxCaller;
use super::mailbox::{Held, Mailbox};
use crate::Sending;

/// A change may become visible this much later than its instant. A listing is dated back as far, so that changes it could not see
/// count as newer.
const LAG: Duration = Duration::from_secs(5);

/// A message as its holder sees it.
#[derive(Clone, Debug)]
pub struct MessageView {
    pub push: PushId,
    pub sent: UtcMillis,
    pub expires: Option<UtcMillis>,
    pub unread: bool,
    pub title: String,
    pub content_type: String,
    pub details: MessageDetails,
    /// Bytes of the body.
    pub size: u32,
    pub shared_push: SharedPush,
}

#[derive(Clone, Debug)]
pub struct MessageBody {
    pub content_type: String,
    pub bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
pub enum Inbox {
    /// Since the instant that the caller knows.
    Unchanged,
    /// The newest first.
    Listed { last_modified: UtcMillis, messages: Vec<MessageView> },
}

#[boxed]
impl Sending {
    /// The inbox, unless it is as it was at an instant that an earlier listing was dated with.
    pub async fn inbox(
        &self,
        caller: InboxCaller,
        asking: Option<ChannelId>,
        known: Option<UtcMillis>,
    ) -> Result<Inbox> {
        let now = self.0.clock.now();
        self.0
            .store
            .read(move |tx| {
                let mailbox = Mailbox::open(tx, caller.app, &caller.user, asking)?;
                let held = mailbox.ever_held(tx)?;
                let since = mailbox.changed.max(messages::forgotten(tx, caller.app)?);
                let changed = held.iter().map(|held| last_change(held, now)).fold(since, UtcMillis::max);
                // Headers have seconds.
                if known.is_some_and(|known| known.seconds() >= changed.seconds()) {
                    return Ok(Inbox::Unchanged);
                }
                let messages = views(tx, &caller, &mailbox, held, now)?;
                Ok(Inbox::Listed { last_modified: changed.min(now.minus(LAG)), messages })
            })
            .await
    }

    /// What the person of a channel sees in the inbox, for those who help them. Nothing if the device has never opened one.
    pub async fn inbox_of_channel(&self, app: AppId, app_key: AppKey, channel: ChannelId) -> Result<Vec<MessageView>> {
        let now = self.0.clock.now();
        let read = move |tx: &mut Tx<'_>| {
            let row = channels::by_id(tx, app, channel)?.ok_or(Error::NotFound("channel"))?;
            let Some(user) = inbox_users::owner(tx, app, row.ordinal)? else { return Ok(Vec::new()) };
            let caller = InboxCaller { app, app_key: app_key.clone(), user };
            let mailbox = Mailbox::open(tx, &caller, Some(channel))?;
            let held = mailbox.ever_held(tx)?;
            views(tx, &caller, &mailbox, held, now)
        };
        self.0.store.read(read).await
    }

    pub async fn inbox_message(
        &self,
        caller: InboxCaller,
        asking: Option<ChannelId>,
        push: PushId,
    ) -> Result<(MessageView, MessageBody)> {
        let now = self.0.clock.now();
        self.0
            .store
            .read(move |tx| {
                let mailbox = Mailbox::open(tx, caller.app, &caller.user, asking)?;
                let held = mailbox.find(tx, push, now)?.ok_or(Error::NotFound("message"))?;
                let (number, text) = (held.message.number, held.text().ok_or(Error::NotFound("message"))?);
                let view = views(tx, &caller, &mailbox, vec![held], now)?.pop().ok_or(Error::NotFound("message"))?;
                let bytes = messages::body(tx, caller.app, number, text)?.ok_or(Error::NotFound("message"))?;
                let body = MessageBody { content_type: view.content_type.clone(), bytes };
                Ok((view, body))
            })
            .await
    }
}

fn last_change(held: &Held<'_>, now: UtcMillis) -> UtcMillis {
    if held.message.ends <= now { held.message.ends } else { held.message.sent }
}

/// The visible messages, the newest first.
fn views(
    tx: &mut Tx<'_>,
    caller: &InboxCaller,
    mailbox: &Mailbox<'_>,
    held: Vec<Held<'_>>,
    now: UtcMillis,
) -> Result<Vec<MessageView>> {
    let there = mailbox.visible(held, now);
    let texts = there.iter().map(|(held, text)| (held.message.number, *text));
    let mut heads: HashMap<MessageNumber, TextHead> = messages::heads(tx, caller.app, texts)?.into_iter().collect();
    let views = there.into_iter().filter_map(|(Held { message, .. }, _)| {
        let TextHead { title, content_type, details, size } = heads.remove(&message.number)?;
        Some(MessageView {
            push: message.push,
            sent: message.sent,
            expires: message.expires,
            unread: !mailbox.is_read(message.number),
            title,
            content_type,
            details,
            size,
            shared_push: message.shared_push,
        })
    });
    Ok(views.collect())
}
