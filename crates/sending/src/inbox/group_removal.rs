//! Deletes the messages that a schedule, an experiment or a pipeline has sent from all inboxes. There can be any number of them.

use base::Result;
use boxed::boxed;
use jobs::{ClaimedJob, Job, LEASE, Stop};
use model::ids::{AppId, MessageNumber, PushId};
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::{Tx, messages, pushes};
use uuid::Uuid;

use super::removal::{DELETED_AT_ONCE, delete};
use crate::Sending;

/// The messages that were deleted at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupDeletion {
    /// The pushes whose messages are gone.
    pub deleted: Vec<PushId>,
    /// Whether a job deletes the others.
    pub goes_on: bool,
}

/// Selects messages of a group.
#[derive(Clone, Copy)]
struct Deletion {
    app: AppId,
    group: Uuid,
    /// Only pushes accepted by then.
    until: UtcMillis,
    now: UtcMillis,
}

/// How far a deletion has got: messages that are in no inbox yet come first, since they may be delivered meanwhile.
#[derive(Clone, Copy)]
enum Cursor {
    Accepted { after: PushId },
    Sent { after: Option<MessageNumber> },
}

const FIRST_ACCEPTED: Cursor = Cursor::Accepted { after: PushId::from_uuid(Uuid::nil()) };
const FIRST_SENT: Cursor = Cursor::Sent { after: None };

/// The result of one step.
struct Portion {
    deleted: Vec<PushId>,
    /// Where to continue.
    next: Option<Cursor>,
}

#[boxed]
impl Sending {
    /// Deletes the messages of everything a group has sent so far from all inboxes: some hundred at once, the others by a job.
    pub async fn delete_messages_of_group(&self, app: AppId, group: Uuid) -> Result<GroupDeletion> {
        let now = self.0.clock.now();
        let write = move |tx: &mut Tx<'_>| {
            let deletion = Deletion { app, group, until: now, now };
            let accepted = deletion.step(tx, FIRST_ACCEPTED)?;
            let sent = deletion.step(tx, FIRST_SENT)?;
            let goes_on = matches!(accepted.next, Some(Cursor::Accepted { .. })) || sent.next.is_some();
            if goes_on {
                jobs::enqueue(tx, app, now, &DeleteMessages { group, until: now })?;
            }
            Ok(GroupDeletion { deleted: [accepted.deleted, sent.deleted].concat(), goes_on })
        };
        self.0.store.write(app, write).await
    }
}

/// Deletes from all inboxes the messages of a push group that were accepted by `until`.
#[derive(Serialize, Deserialize)]
pub(crate) struct DeleteMessages {
    group: Uuid,
    until: UtcMillis,
}

impl Job for DeleteMessages {
    type Room = Sending;
    const NAME: &'static str = "delete_messages";

    /// Safe to run twice: every run starts over, and deleting a message twice is the same as deleting it once.
    async fn run(self, sending: &Sending, claimed: &ClaimedJob, stop: &Stop) -> Result<()> {
        let Self { group, until } = self;
        let mut next = Some(FIRST_ACCEPTED);
        while let Some(cursor) = next {
            let (job, now, app) = (claimed.clone(), sending.0.clock.now(), claimed.app);
            let (due, lease) = (sending.0.shared_clock.now(), sending.0.shared_clock.lease_begin().plus(LEASE));
            if stop.is_requested() {
                sending.0.store.write(app, move |tx| jobs::postpone(tx, &job, due)).await?;
                return Ok(());
            }
            let write = move |tx: &mut Tx<'_>| -> Result<_> {
                jobs::renew(tx, &job, lease)?;
                let next = Deletion { app, group, until, now }.step(tx, cursor)?.next;
                if next.is_none() {
                    jobs::settle(tx, &job)?;
                }
                Ok(next)
            };
            next = sending.0.store.write(app, write).await?;
        }
        Ok(())
    }
}

impl Deletion {
    fn step(&self, tx: &mut Tx<'_>, cursor: Cursor) -> Result<Portion> {
        match cursor {
            Cursor::Accepted { after } => self.delete_accepted(tx, after),
            Cursor::Sent { after } => self.delete_sent(tx, after),
        }
    }

    fn delete_accepted(&self, tx: &mut Tx<'_>, after: PushId) -> Result<Portion> {
        let page = pushes::accepted(tx, self.app, after, DELETED_AT_ONCE)?;
        let next = match page.last() {
            Some(last) if page.len() >= DELETED_AT_ONCE as usize => Cursor::Accepted { after: last.id },
            Some(_) | None => FIRST_SENT,
        };
        let mut deleted = Vec::new();
        for push in page {
            let is_meant =
                push.created <= self.until && push.origin.and_then(|origin| origin.group()) == Some(self.group);
            if is_meant && delete(tx, self.app, push.id, self.now)? {
                deleted.push(push.id);
            }
        }
        Ok(Portion { deleted, next: Some(next) })
    }

    fn delete_sent(&self, tx: &mut Tx<'_>, after: Option<MessageNumber>) -> Result<Portion> {
        let page = messages::of_group(tx, self.app, self.group, self.until, after, DELETED_AT_ONCE)?;
        let is_full = page.len() >= DELETED_AT_ONCE as usize;
        let next = page.last().filter(|_| is_full).map(|(last, _)| Cursor::Sent { after: Some(*last) });
        let mut deleted = Vec::with_capacity(page.len());
        for (number, push) in page {
            messages::end(tx, self.app, number, self.now)?;
            deleted.push(push);
        }
        Ok(Portion { deleted, next })
    }
}
