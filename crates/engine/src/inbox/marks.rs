//! What users do with their messages: reading and deleting them, once each.

use model::event::{AssociatedPush, Campaign, MessageContext, RecordKind, RichMessage, SharedPush};
use model::ids::{ChannelId, PushId};
use model::term::DayKind;
use model::time::UtcMillis;
use roaring::RoaringBitmap;
use store::counters::{self, Metric};
use store::{Tx, messages};

use super::InboxCaller;
use super::mailbox::{Held, Mailbox};
use crate::desk::Desk;
use crate::{Engine, Result};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Read,
    Deleted,
}

impl Engine {
    /// Marks messages for all channels of the user. Those that are not in the inbox, or are marked already, are passed over.
    pub async fn mark_messages(
        &self,
        caller: InboxCaller,
        asking: Option<ChannelId>,
        pushes: Vec<PushId>,
        mark: Mark,
    ) -> Result<()> {
        let app = caller.app;
        self.at_desk(app, move |tx, desk| {
            let mailbox = Mailbox::open(tx, &caller, asking)?;
            let now = desk.journal.now();
            let (mut marked, mut viewers) = (RoaringBitmap::new(), RoaringBitmap::new());
            for push in &pushes {
                let Some(held) = mailbox.find(tx, *push, now)? else { continue };
                let number = held.message.number;
                if (mark == Mark::Read && mailbox.is_read(number)) || !marked.insert(number.0) {
                    continue;
                }
                tell(tx, desk, &held, mark)?;
                viewers.insert(held.viewer.ordinal.0);
            }
            // IdempotencyKey for all messages: each time the set of the day is read and written.
            if mark == Mark::Read && !viewers.is_empty() {
                desk.happened(tx, DayKind::MessageView, &viewers)?;
            }
            let nothing = RoaringBitmap::new();
            match mark {
                _ if marked.is_empty() => Ok(()),
                Mark::Read => mailbox.mark(tx, &marked, &nothing, now),
                Mark::Deleted => mailbox.mark(tx, &nothing, &marked, now),
            }
        })
        .await
    }
}

fn tell(tx: &mut Tx<'_>, desk: &mut Desk<'_>, held: &Held<'_>, mark: Mark) -> Result<()> {
    let (kind, metric) = match mark {
        Mark::Read => (RecordKind::RichRead, Metric::RichReads),
        Mark::Deleted => (RecordKind::RichDelete, Metric::RichDeletions),
    };
    let (app, now, channel) = (desk.app, desk.journal.now(), held.viewer);
    let text = held.text().map(|text| (held.message.number, text));
    let head = messages::heads(tx, app, text)?.pop();
    let context = head.and_then(|(_, head)| MessageContext::of(head.details.extra));
    let body = RichMessage { push: associated(&held.message.told, held.message.sent), context };
    desk.journal.event(kind, Some(channel.ordinal), body)?;
    let platform = channel.device_type.to_string();
    counters::add(tx, app, metric, now, &platform, 1)?;
    Ok(counters::add_of_push(tx, app, held.message.push, metric, now, &platform, 1)?)
}

fn associated(told: &SharedPush, sent: UtcMillis) -> AssociatedPush {
    let categories = Some(told.categories.clone()).filter(|categories| !categories.is_empty());
    AssociatedPush {
        push_id: told.push_id,
        group_id: told.group_id,
        variant_id: told.variant_id,
        time: Some(sent.to_iso()),
        campaigns: categories.map(|categories| Campaign { categories }),
    }
}
