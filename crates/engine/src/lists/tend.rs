//! The job of a list: puts the list's term on everybody who is on it, takes it from everybody who no longer is, and deletes
//! rows that have served their time, a slice at a time.

use std::collections::BTreeSet;

use audience::index::Index;
use model::ids::NamedUserId;
use model::static_list::{ChannelColumn, Member};
use model::term::Term;
use model::time::UtcMillis;
use store::channels::{self, Channel};
use store::jobs::{self, ClaimedJob};
use store::lists::{self, Generation};
use store::{Tx, apps, named_users};

use super::content::member;
use super::record::{Applied, Record, Task};
use crate::desk::Desk;
use crate::worker::{LEASE, Stop};
use crate::{Engine, Error, Result};

/// Rows in one transaction. Each may take a handful of statements, and nothing else of the app is written meanwhile.
const ROWS_PER_SLICE: u32 = 500;
/// After so many slices the job queues up again, so that other jobs get their turn.
const SLICES_PER_RUN: usize = 40;

impl Engine {
    /// Running it twice is harmless: each slice does what the list's record says is next and writes into the same
    /// transaction how far it got, and putting somebody on a list a second time changes nothing.
    pub(crate) async fn tend_list(&self, claimed: &ClaimedJob, list: String, stop: &Stop) -> Result<()> {
        for _ in 0..SLICES_PER_RUN {
            if stop.is_requested() {
                break;
            }
            let index = self.index(claimed.app).await?;
            let (job, list, now) = (claimed.clone(), list.clone(), self.clock().now());
            let slice = move |tx: &mut Tx<'_>| slice(tx, &job, &index, &list, now);
            match self.0.store.write(claimed.app, slice).await? {
                Left::More => {}
                Left::Nothing => return Ok(()),
            }
        }
        let (claimed, now) = (claimed.clone(), self.clock().now());
        self.0.store.write(claimed.app, move |tx| jobs::postpone(tx, &claimed, now).map(drop)).await?;
        Ok(())
    }
}

enum Left {
    More,
    Nothing,
}

fn slice(tx: &mut Tx<'_>, claimed: &ClaimedJob, index: &Index, list: &str, now: UtcMillis) -> Result<Left> {
    let app = claimed.app;
    apps::hold(tx, app)?;
    let record = Record::load_even_deleted(tx, app, list)?;
    let Some((mut record, task)) = record.and_then(|record| record.next_task().map(|task| (record, task))) else {
        jobs::settle(tx, claimed)?;
        return Ok(Left::Nothing);
    };
    if !jobs::renew(tx, claimed, now.plus(LEASE))? {
        return Err(Error::Conflict("another worker has taken this list over".to_owned()));
    }
    let mut tending = Tending { desk: Desk::new(app, index, now), list, term: Term::List(list.to_owned()) };
    match task {
        Task::Apply { content, after } => {
            let rows = lists::after(tx, app, Generation { list, number: content }, after.as_ref(), ROWS_PER_SLICE)?;
            tending.apply(tx, &rows)?;
            record.applied = match rows.last() {
                Some(last) => Applied::Through { kind: last.kind.clone(), identifier: last.identifier.clone() },
                None => Applied::Everything,
            };
        }
        Task::Withdraw { replaced } => {
            let generation = Generation { list, number: replaced };
            let rows = lists::after(tx, app, generation, None, ROWS_PER_SLICE)?;
            tending.withdraw(tx, &rows, record.content)?;
            match rows.last() {
                Some(last) => lists::delete_through(tx, app, generation, last)?,
                None => record.replaced.retain(|number| *number != replaced),
            }
        }
        Task::DeleteRows { discarded } => {
            let generation = Generation { list, number: discarded };
            match lists::after(tx, app, generation, None, ROWS_PER_SLICE)?.last() {
                Some(last) => lists::delete_through(tx, app, generation, last)?,
                None => record.discarded.retain(|number| *number != discarded),
            }
        }
    }
    tending.desk.journal.write(tx, app)?;
    record.save(tx, app, list, now)?;
    Ok(Left::More)
}

/// One slice of work on one list.
struct Tending<'a> {
    desk: Desk<'a>,
    list: &'a str,
    term: Term,
}

impl Tending<'_> {
    /// Puts rows on the list. Users who do not exist are made, so that channels they get later are on the list too;
    /// channels that do not exist, or are of another type than the row says, are passed over.
    fn apply(&mut self, tx: &mut Tx<'_>, rows: &[lists::Member]) -> Result<()> {
        let number = self.desk.number(tx, &self.term)?;
        let mut new_users = Vec::new();
        for row in rows {
            match member(row)? {
                Member::NamedUser(id) => match named_users::get(tx, self.desk.app, &id)? {
                    None => new_users.push(id),
                    Some(user) if user.terms.binary_search(&number).is_ok() => {}
                    Some(_) => self.change_user(tx, &id, put_on)?,
                },
                Member::Channel(column, id) => {
                    let found = installed(channels::by_id(tx, self.desk.app, id)?, column);
                    if let Some(channel) = found.filter(|channel| channel.terms.binary_search(&number).is_err()) {
                        self.change_channel(tx, channel, put_on)?;
                    }
                }
                // Channels have no aliases here.
                Member::Alias(_) => {}
            }
        }
        Ok(named_users::insert_many(tx, self.desk.app, &new_users, &[number], self.desk.journal.now())?)
    }

    /// Takes rows off the list that are not in its content.
    fn withdraw(&mut self, tx: &mut Tx<'_>, rows: &[lists::Member], content: Option<i64>) -> Result<()> {
        let app = self.desk.app;
        let number = self.desk.number(tx, &self.term)?;
        for row in rows {
            if let Some(content) = content
                && lists::contains(tx, app, Generation { list: self.list, number: content }, row)?
            {
                continue;
            }
            match member(row)? {
                Member::NamedUser(id) => {
                    let user = named_users::get(tx, app, &id)?;
                    if user.is_some_and(|user| user.terms.binary_search(&number).is_ok()) {
                        self.change_user(tx, &id, take_off)?;
                    }
                }
                // A channel of another type was not put on the list by this row, and may be on it by another.
                Member::Channel(column, id) => {
                    let found = installed(channels::by_id(tx, app, id)?, column);
                    if let Some(channel) = found.filter(|channel| channel.terms.binary_search(&number).is_ok()) {
                        self.change_channel(tx, channel, take_off)?;
                    }
                }
                Member::Alias(_) => {}
            }
        }
        Ok(())
    }

    fn change_user(&mut self, tx: &mut Tx<'_>, id: &NamedUserId, change: fn(&mut BTreeSet<Term>, &Term)) -> Result<()> {
        let term = self.term.clone();
        self.desk.change_user(tx, id, |holdings| change(&mut holdings.memberships, &term))
    }

    fn change_channel(&mut self, tx: &mut Tx<'_>, row: Channel, change: fn(&mut BTreeSet<Term>, &Term)) -> Result<()> {
        let opened = self.desk.open(tx, row)?;
        let mut after = opened.state.clone();
        change(&mut after.own.memberships, &self.term);
        self.desk.save(tx, opened, &after)?;
        Ok(())
    }
}

fn put_on(memberships: &mut BTreeSet<Term>, list: &Term) {
    memberships.insert(list.clone());
}

fn take_off(memberships: &mut BTreeSet<Term>, list: &Term) {
    memberships.remove(list);
}

/// The channel a row means: one that is there and has the type that the row says.
fn installed(channel: Option<Channel>, column: ChannelColumn) -> Option<Channel> {
    channel.filter(|channel| channel.installed && column.claimed().matches(&channel.device_type))
}
