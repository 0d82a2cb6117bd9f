//! The job of a list: adds the list's term to its members, removes it from former ones, and deletes old rows, a slice at a time.

use std::collections::HashSet;

use audience::index::Index;
use base::Result;
use devices::{ChangeContext, Membership, OwnChange};
use jobs::{ClaimedJob, Job, LEASE, Left, Stop};
use model::channel::ChannelRef;
use model::ids::{AppId, Id, NamedUserId, TermId};
use model::static_list::Member;
use model::term::Term;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::Tx;
use store::channels::Holder;
use store::lists::{self, Upload};
use store::named_users::{self, NamedUser};
use uuid::Uuid;

use super::content::member;
use super::record::{Applied, ListOrRemains, Task};
use crate::Targeting;

/// Rows in one transaction. Each may take a handful of statements, and nothing else of the app is written meanwhile.
const ROWS_PER_SLICE: u32 = 500;

/// Every list has one job at most: its id follows from the list's name.
const JOBS: Uuid = Uuid::from_u128(0x6c69_7374);

/// Adds the job that applies the list's record to its members to the transaction that changes the record. An existing job has
/// not finished, and sees the change before it does.
pub(super) fn enqueue(tx: &mut Tx<'_>, app: AppId, list: &str, now: UtcMillis) -> Result<()> {
    let id = Id::from_uuid(Uuid::new_v5(&JOBS, list.as_bytes()));
    jobs::enqueue_as(tx, app, id, now, &ApplyList { list: list.to_owned() })
}

/// Updates the members of an uploaded list.
#[derive(Serialize, Deserialize)]
pub(crate) struct ApplyList {
    list: String,
}

impl Job for ApplyList {
    type Room = Targeting;
    const NAME: &'static str = "apply_list";

    /// Running it twice is harmless: each slice does the next step of the list's record and writes its progress into the same
    /// transaction, and adding a member a second time changes nothing.
    async fn run(self, targeting: &Targeting, claimed: &ClaimedJob, stop: &Stop) -> Result<()> {
        let (store, shared_clock) = (&targeting.0.store, &targeting.0.shared_clock);
        let next = || async {
            let index = targeting.0.index.get(claimed.app).await?;
            let (job, list) = (claimed.clone(), self.list.clone());
            let (now, lease) = (targeting.0.clock.now(), shared_clock.lease_begin().plus(LEASE));
            store.write(claimed.app, move |tx| slice(tx, (&job, lease), &index, &list, now)).await
        };
        jobs::in_slices((store, shared_clock), claimed, stop, next).await
    }
}

fn slice(
    tx: &mut Tx<'_>,
    (claimed, lease): (&ClaimedJob, UtcMillis),
    index: &Index,
    list: &str,
    now: UtcMillis,
) -> Result<Left> {
    let app = claimed.app;
    let Some(mut record) = ListOrRemains::load(tx, app, list)? else { return end(tx, claimed) };
    let Some(task) = record.next_task() else { return end(tx, claimed) };
    jobs::renew(tx, claimed, lease)?;
    let term = Term::List(list.to_owned());
    let mut context = ChangeContext::new(app, index, now);
    let term_id = context.number(tx, &term)?;
    let mut change = MemberChange { context, term, term_id };
    match task {
        Task::Apply { content, after } => {
            let upload = Upload { list, number: content.upload };
            let rows = lists::after(tx, app, upload, after.as_ref(), ROWS_PER_SLICE)?;
            change.apply(tx, &rows)?;
            content.applied = match rows.last() {
                Some(last) => Applied::Through { kind: last.kind.clone(), identifier: last.identifier.clone() },
                None => Applied::Everything,
            };
        }
        Task::Withdraw { upload: number, content, replaced } => {
            let upload = Upload { list, number };
            let rows = lists::after(tx, app, upload, None, ROWS_PER_SLICE)?;
            let stays: HashSet<lists::Member> = match content {
                Some(number) => lists::among(tx, app, Upload { list, number }, &rows)?.into_iter().collect(),
                None => HashSet::new(),
            };
            change.withdraw(tx, rows.iter().filter(|row| !stays.contains(row)))?;
            lists::delete(tx, app, upload, &rows)?;
            if rows.is_empty() {
                replaced.retain(|other| *other != number);
            }
        }
        Task::DeleteRows { upload: number, discarded } => {
            let upload = Upload { list, number };
            let rows = lists::after(tx, app, upload, None, ROWS_PER_SLICE)?;
            lists::delete(tx, app, upload, &rows)?;
            if rows.is_empty() {
                discarded.retain(|other| *other != number);
            }
        }
    }
    change.context.journal.write(tx, app)?;
    record.save(tx, app, list, now)?;
    Ok(Left::More)
}

fn end(tx: &mut Tx<'_>, claimed: &ClaimedJob) -> Result<Left> {
    jobs::settle(tx, claimed)?;
    Ok(Left::Nothing)
}

/// One slice of work on one list.
struct MemberChange<'a> {
    context: ChangeContext<'a>,
    term: Term,
    term_id: TermId,
}

impl MemberChange<'_> {
    /// Puts rows on the list. Users who do not exist are made, so that channels they get later are on the list too.
    fn apply<'r>(&mut self, tx: &mut Tx<'_>, rows: impl IntoIterator<Item = &'r lists::Member>) -> Result<()> {
        let Meant { users, channels } = self.meant(tx, rows)?;
        let term_id = self.term_id;
        let known = named_users::among(tx, self.context.app, &users)?;
        let known_ids: HashSet<&NamedUserId> = known.iter().map(|user| &user.id).collect();
        let new: Vec<NamedUserId> = users.into_iter().filter(|id| !known_ids.contains(id)).collect();
        named_users::insert_many(tx, self.context.app, &new, &[term_id], self.context.journal.now())?;
        let without = known.into_iter().filter(|user| !user.terms.contains(&term_id)).collect();
        self.change_users(tx, without, Membership::Joins)?;
        for channel in channels.into_iter().filter(|channel| !channel.terms.contains(&term_id)) {
            self.change_channel(tx, &channel, Membership::Joins)?;
        }
        Ok(())
    }

    /// Takes rows off the list.
    fn withdraw<'r>(&mut self, tx: &mut Tx<'_>, rows: impl IntoIterator<Item = &'r lists::Member>) -> Result<()> {
        let Meant { users, channels } = self.meant(tx, rows)?;
        let term_id = self.term_id;
        let known = named_users::among(tx, self.context.app, &users)?;
        let with = known.into_iter().filter(|user| user.terms.contains(&term_id)).collect();
        self.change_users(tx, with, Membership::Leaves)?;
        for channel in channels.into_iter().filter(|channel| channel.terms.contains(&term_id)) {
            self.change_channel(tx, &channel, Membership::Leaves)?;
        }
        Ok(())
    }

    fn meant<'r>(&self, tx: &mut Tx<'_>, rows: impl IntoIterator<Item = &'r lists::Member>) -> Result<Meant> {
        let (mut users, mut wanted) = (Vec::new(), Vec::new());
        for row in rows {
            match member(row)? {
                Member::NamedUser(id) => users.push(id),
                Member::Channel(column, id) => wanted.push(ChannelRef { id, claimed: Some(column.claimed()) }),
                // Channels have no aliases here.
                Member::Alias(_) => {}
            }
        }
        Ok(Meant { users, channels: self.context.meant(tx, &wanted)?.installed })
    }

    fn change_users(&mut self, tx: &mut Tx<'_>, users: Vec<NamedUser>, membership: Membership) -> Result<()> {
        let list = &self.term;
        self.context.change_users(tx, users, |holdings| holdings.set_membership(list, membership))
    }

    fn change_channel(&mut self, tx: &mut Tx<'_>, row: &Holder, membership: Membership) -> Result<()> {
        self.context.change_own(tx, row, &[OwnChange::List { list: &self.term, membership }])
    }
}

/// The channels and users that rows mean.
struct Meant {
    /// Whether they exist or not.
    users: Vec<NamedUserId>,
    /// The installed channels. A channel of another type than its row says is left out: another row may mean it.
    channels: Vec<Holder>,
}
