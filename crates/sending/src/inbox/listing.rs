//! Reading inboxes: the listing, single messages, and their bodies.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use base::{Error, Result};
use boxed::boxed;
use model::app::AppKey;
use model::event::SharedPush;
use model::ids::{AppId, ChannelId, MessageNumber, Ordinal, PushId};
use model::inbox::{MessageDetails, MessageFilling};
use model::time::UtcMillis;
use personalization::ValueMap;
use roaring::RoaringBitmap;
use store::messages::{self, TextHead};
use store::{Tx, channels, inbox_users};

use super::InboxCaller;
use super::mailbox::{Held, Mailbox};
use crate::{Sending, personal};

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
            let mailbox = Mailbox::open(tx, app, &caller.user, Some(channel))?;
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
                let viewer = held.viewer.ordinal;
                let bytes = messages::body(tx, caller.app, number, text)?.ok_or(Error::NotFound("message"))?;
                let filling = messages::heads(tx, caller.app, [(number, text)].into_iter())?.pop();
                let bytes = match filling.and_then(|(_, head)| Some((head.details.filling?, head.content_type))) {
                    Some((filling, content_type)) if bytes.windows(2).any(|two| two == b"{{") => {
                        let written = String::from_utf8_lossy(&bytes);
                        let is_html = content_type.contains("html");
                        let names = MessageFilling::names(&written);
                        let values = values_of_reader(tx, caller.app, push, viewer, &names)?;
                        let filled = filling.filled(&written, is_html, &values, now);
                        filled.map_err(|_| Error::NotFound("message"))?.into_bytes()
                    }
                    Some(_) | None => bytes,
                };
                let view = views(tx, &caller, &mailbox, vec![held], now)?.pop().ok_or(Error::NotFound("message"))?;
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
    let mut views = Vec::with_capacity(there.len());
    for (Held { message, viewer }, _) in there {
        let Some(mut head) = heads.remove(&message.number) else { continue };
        if !fill_in(tx, caller.app, (message.push, viewer.ordinal), &mut head, now)? {
            continue;
        }
        let TextHead { title, content_type, details, size } = head;
        views.push(MessageView {
            push: message.push,
            sent: message.sent,
            expires: message.expires,
            unread: !mailbox.is_read(message.number),
            title,
            content_type,
            details,
            size,
            shared_push: message.shared_push,
        });
    }
    Ok(views)
}

/// Fills in the texts of a message for its reader. Returns whether there is a message for them: some need values that are not known
/// of everybody.
fn fill_in(
    tx: &mut Tx<'_>,
    app: AppId,
    (push, reader): (PushId, Ordinal),
    head: &mut TextHead,
    now: UtcMillis,
) -> Result<bool> {
    let Some(filling) = head.details.filling.take() else { return Ok(true) };
    let texts = || std::iter::once(&head.title).chain(head.details.extra.values());
    let names: BTreeSet<String> = texts().flat_map(|text| MessageFilling::names(text)).collect();
    let values = values_of_reader(tx, app, push, reader, &names)?;
    for text in std::iter::once(&mut head.title).chain(head.details.extra.values_mut()) {
        match filling.filled(text, false, &values, now) {
            Ok(filled) => *text = filled,
            Err(_) => return Ok(false),
        }
    }
    Ok(true)
}

fn values_of_reader(
    tx: &mut Tx<'_>,
    app: AppId,
    push: PushId,
    reader: Ordinal,
    names: &BTreeSet<String>,
) -> Result<ValueMap> {
    let only = RoaringBitmap::from_iter([reader.0]);
    let mut found = personal::values_of(tx, app, &only, names)?;
    personal::add_causes(tx, app, push, &only, &mut found)?;
    Ok(found.remove(&reader.0).unwrap_or_default())
}
