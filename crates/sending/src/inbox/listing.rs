//! Reading inboxes: the listing, single messages, and their bodies.

use std::collections::BTreeSet;
use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use model::app::AppKey;
use model::event::SharedPush;
use model::ids::{AppId, ChannelId, PushId};
use model::inbox::{MessageDetails, MessageFilling};
use model::time::UtcMillis;
use personalization::has_tags;
use store::messages::{self, TextHead};
use store::{Tx, channels, inbox_users};

use super::InboxCaller;
use super::mailbox::{Held, Mailbox};
use super::readings::{Readings, There};
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
                let messages = views(tx, caller.app, &mailbox, held, now)?;
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
            let mailbox = Mailbox::open(tx, app, &caller.user, Some(channel))?;
            let held = mailbox.ever_held(tx)?;
            views(tx, app, &mailbox, held, now)
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
                let text = held.text().ok_or(Error::NotFound("message"))?;
                let bytes = messages::body(tx, caller.app, held.message.number, text)?;
                let bytes = bytes.ok_or(Error::NotFound("message"))?;
                let written = std::str::from_utf8(&bytes).ok().filter(|text| has_tags(text));
                let names = written.map(MessageFilling::names).unwrap_or_default();
                let there = (held, text);
                let readings = Readings::read(tx, caller.app, std::iter::once(&there), names, now)?;
                let bytes = readings.body(&there, bytes, now).ok_or(Error::NotFound("message"))?;
                let view = view(&mailbox, &readings, &there, now).ok_or(Error::NotFound("message"))?;
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
    app: AppId,
    mailbox: &Mailbox<'_>,
    held: Vec<Held<'_>>,
    now: UtcMillis,
) -> Result<Vec<MessageView>> {
    let there = mailbox.visible(held, now);
    let readings = Readings::read(tx, app, there.iter(), BTreeSet::new(), now)?;
    Ok(there.iter().filter_map(|one| view(mailbox, &readings, one, now)).collect())
}

fn view(mailbox: &Mailbox<'_>, readings: &Readings, there: &There<'_>, now: UtcMillis) -> Option<MessageView> {
    let TextHead { title, content_type, details, size } = readings.head(there, now)?.into_owned();
    let message = &there.0.message;
    Some(MessageView {
        push: message.push,
        sent: message.sent,
        expires: message.expires,
        unread: !mailbox.is_read(message.number),
        title,
        content_type,
        details,
        size,
        shared_push: message.shared_push.clone(),
    })
}
