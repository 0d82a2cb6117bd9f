//! Reading and deleting messages, once each.

use base::Result;
use boxed::boxed;
use devices::{ChangeContext, NewEvent};
use model::event::{MessageContext, RichMessage};
use model::ids::{ChannelId, PushId};
use model::term::DayKind;
use roaring::RoaringBitmap;
use store::counters::{self, Metric};
use store::{Tx, messages};

use super::InboxCaller;
use super::mailbox::{Held, Mailbox};
use crate::Sending;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Read,
    Deleted,
}

#[boxed]
impl Sending {
    /// Marks messages for all channels of the user. Messages that are not in the inbox, or are marked already, are skipped.
    pub async fn mark_messages(
        &self,
        caller: InboxCaller,
        asking: Option<ChannelId>,
        pushes: Vec<PushId>,
        mark: Mark,
    ) -> Result<()> {
        let app = caller.app;
        self.0
            .devices
            .change_audience(app, move |tx, context| {
                let mailbox = Mailbox::open(tx, app, &caller.user, asking)?;
                let now = context.journal.now();
                let (mut marked, mut viewers) = (RoaringBitmap::new(), RoaringBitmap::new());
                for push in &pushes {
                    let Some(held) = mailbox.find(tx, *push, now)? else { continue };
                    let number = held.message.number;
                    if (mark == Mark::Read && mailbox.is_read(number)) || !marked.insert(number.0) {
                        continue;
                    }
                    tell(tx, context, &held, mark)?;
                    viewers.insert(held.viewer.ordinal.0);
                }
                // Once for all messages, because every call reads and writes the set of the day.
                if mark == Mark::Read && !viewers.is_empty() {
                    context.happened(tx, DayKind::MessageView, &viewers)?;
                }
                if marked.is_empty() {
                    return Ok(());
                }
                let nothing = RoaringBitmap::new();
                match mark {
                    Mark::Read => mailbox.mark(tx, &marked, &nothing, now),
                    Mark::Deleted => mailbox.mark(tx, &nothing, &marked, now),
                }
            })
            .await
    }
}

fn tell(tx: &mut Tx<'_>, context: &mut ChangeContext<'_>, held: &Held<'_>, mark: Mark) -> Result<()> {
    let (app, now, channel) = (context.app, context.journal.now(), held.viewer);
    let text = held.text().map(|text| (held.message.number, text));
    let head = messages::heads(tx, app, text)?.pop();
    let message_context = head.and_then(|(_, head)| MessageContext::of(head.details.extra));
    let push = held.message.shared_push.sent_at(held.message.sent);
    let body = RichMessage { push, context: message_context };
    let (event, metric) = match mark {
        Mark::Read => (NewEvent::RichRead(body), Metric::RichReads),
        Mark::Deleted => (NewEvent::RichDelete(body), Metric::RichDeletions),
    };
    context.journal.event(Some(channel.ordinal), event)?;
    counters::add(tx, app, metric, now, &channel.device_type, 1)?;
    Ok(counters::add_of_push(tx, app, held.message.push, metric, now, &channel.device_type, 1)?)
}
