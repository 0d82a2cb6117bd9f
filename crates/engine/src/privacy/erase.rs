//! The job that erases a person, table by table and in portions.
//!
//! First the channels are uninstalled, so that nothing new is sent to them; then everything is gone through. What was under way at
//! that moment, on whichever node, may still write: a delivery to the sandbox, a record, a dead letter. So after a while the tables
//! that such work writes to are gone through once more. At the end the database's file is cleaned.

use std::sync::Arc;
use std::time::Duration;

use base::{Error, Result};
use devices::{ChangeContext, uninstall_in};
use jobs::{ClaimedJob, Job, LEASE, Stop};
use model::ids::{AppId, PrivacyId};
use model::privacy::Redaction;
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::privacy::plan::{Entry, PLAN, Treatment};
use store::privacy::{self, After, Catalog, Person, Portion, Request, Work};
use store::{CleanUp, Extent, Tx, Value, log as store_log, webhooks};
use tenancy::Tenancy;

use super::person::{self, Former};
use super::progress::{Progress, Receipt, Stage};
use super::{json, log, read, subject};
use crate::Rooms;

/// Longer than anything takes that was under way: requests to providers end after a minute.
const LATE_AFTER: Duration = Duration::from_secs(5 * 60);
const CLEAN_AGAIN_AFTER: Duration = Duration::from_secs(30);
/// Then a reader holds on to the log for hours, and the receipt says so.
const MOST_BLOCKED: u32 = 120;

/// Erases a person.
#[derive(Serialize, Deserialize)]
pub(super) struct ErasePerson {
    pub(super) request: PrivacyId,
}

impl Job for ErasePerson {
    type Room = Arc<Rooms>;
    const NAME: &'static str = "erase_person";

    /// Safe to run twice: the person is looked up once and kept with the request, every portion writes its progress in its own
    /// transaction, and rows that are gone or cleaned are not found again.
    async fn run(self, rooms: &Arc<Rooms>, claimed: &ClaimedJob, stop: &Stop) -> Result<()> {
        let erasure = Erasure { rooms, claimed, request: self.request };
        loop {
            if stop.is_requested() {
                return erasure.postpone(Duration::ZERO).await;
            }
            let Some(progress) = erasure.progress().await? else {
                return jobs::settle_alone(&rooms.store, claimed).await;
            };
            match progress.stage {
                Stage::LookUp => erasure.look_up().await?,
                Stage::Erase | Stage::EraseLate => {
                    if erasure.erase(progress, stop).await? == Turn::Ends {
                        return Ok(());
                    }
                }
                Stage::CleanUp => return erasure.clean_up(progress).await,
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    GoesOn,
    Ends,
}

struct Erasure<'a> {
    rooms: &'a Rooms,
    claimed: &'a ClaimedJob,
    request: PrivacyId,
}

impl Erasure<'_> {
    const fn app(&self) -> AppId {
        self.claimed.app
    }

    /// `None` when the request is gone.
    async fn progress(&self) -> Result<Option<Progress>> {
        let (app, id) = (self.app(), self.request);
        let request = self.rooms.store.read(move |tx| privacy::get(tx, app, id)).await?;
        request.map(|request| read(&request.progress)).transpose()
    }

    async fn postpone(&self, by: Duration) -> Result<()> {
        let (claimed, due) = (self.claimed.clone(), self.rooms.clock.now().plus(by));
        Ok(self.rooms.store.write(claimed.app, move |tx| jobs::postpone(tx, &claimed, due)).await?)
    }

    /// From here on nothing is sent to the person, and the audience index forgets the channels on every node.
    async fn look_up(&self) -> Result<()> {
        let (app, id, claimed) = (self.app(), self.request, self.claimed.clone());
        let Some(subject) = subject(&self.rooms.store, app, id).await? else { return Ok(()) };
        let former = Former::look(&self.rooms.store, app, &subject).await?;
        let change = move |tx: &mut Tx<'_>, context: &mut ChangeContext<'_>| {
            let now = context.journal.now();
            jobs::renew(tx, &claimed, now.plus(LEASE))?;
            privacy::overwrite_deleted(tx)?;
            let Some(mut request) = privacy::get(tx, app, id)? else { return Ok(()) };
            let found = person::find(tx, app, &subject, former.clone(), now)?;
            let mut receipt: Receipt = read(&request.receipt)?;
            // Before the uninstallation, which deletes some of them.
            for entry in PLAN {
                receipt.add(entry.table, privacy::count_owned(tx, app, &found, entry)?.unwrap_or(0));
            }
            request.receipt = json(&receipt)?;
            uninstall_in(tx, context, found.channels.iter().map(|channel| channel.ordinal))?;
            // By their name, which a person who starts afresh may have a moment later.
            privacy::erase_by_name(tx, app, &found)?;
            request.person = Some(json(&found)?);
            request.progress = json(&Progress { stage: Stage::Erase, ..Progress::default() })?;
            Ok(privacy::save(tx, app, &request)?)
        };
        self.rooms.devices.change_audience(app, change).await
    }

    /// Goes through the tables that are left.
    async fn erase(&self, mut progress: Progress, stop: &Stop) -> Result<Turn> {
        let app = self.app();
        let is_late = progress.stage == Stage::EraseLate;
        let catalog = Arc::new(self.rooms.store.read(Catalog::read).await?);
        for (step, entry) in PLAN.iter().enumerate().skip(progress.step) {
            let is_kept = matches!(entry.treatment, Treatment::Kept(_));
            if is_kept || is_late && !entry.treatment.is_repeated() {
                continue;
            }
            progress.step = step;
            let mut after: Option<After> = None;
            loop {
                if stop.is_requested() {
                    return Ok(Turn::GoesOn);
                }
                let portion = TablePortion {
                    claimed: self.claimed.clone(),
                    request: self.request,
                    tenancy: self.rooms.tenancy.clone(),
                    catalog: catalog.clone(),
                    lease: self.rooms.clock.now().plus(LEASE),
                    entry,
                    after,
                };
                let before = progress.clone();
                match self.rooms.store.write(app, move |tx| portion.erase(tx, before.clone())).await? {
                    None => return Ok(Turn::GoesOn),
                    Some((next, now)) => (after, progress) = (next, now),
                }
                if after.is_none() {
                    break;
                }
            }
        }
        self.end_stage(progress).await
    }

    /// After the first time, waits for what is under way; after the second, the file is cleaned.
    async fn end_stage(&self, progress: Progress) -> Result<Turn> {
        // Other nodes write theirs within minutes, because the index has moved.
        self.rooms.index.save_indexes().await;
        let (app, id, claimed, now) = (self.app(), self.request, self.claimed.clone(), self.rooms.clock.now());
        let write = move |tx: &mut Tx<'_>| {
            let Some(mut request) = privacy::get(tx, app, id)? else { return Ok(Turn::GoesOn) };
            let head = store_log::head(tx, app)?;
            let (stage, turn) = match progress.stage {
                Stage::Erase => (Stage::EraseLate, Turn::Ends),
                Stage::LookUp | Stage::EraseLate | Stage::CleanUp => (Stage::CleanUp, Turn::GoesOn),
            };
            webhooks::restart_all(tx, app)?;
            if turn == Turn::Ends {
                jobs::postpone(tx, &claimed, now.plus(LATE_AFTER))?;
            }
            let log = progress.log.min(head);
            request.progress = json(&Progress { stage, step: 0, log, n_blocked: 0 })?;
            privacy::save(tx, app, &request)?;
            Ok::<_, Error>(turn)
        };
        self.rooms.store.write(app, write).await
    }

    /// The identifiers go from the request itself, and then everything deleted from the file.
    async fn clean_up(&self, progress: Progress) -> Result<()> {
        let (app, id, now) = (self.app(), self.request, self.rooms.clock.now());
        let prepare = move |tx: &mut Tx<'_>| {
            privacy::overwrite_deleted(tx)?;
            if let Some(mut request) = privacy::get(tx, app, id)? {
                (request.subject, request.person) = (None, None);
                privacy::save(tx, app, &request)?;
            }
            let extent = if progress.n_blocked == 0 { Extent::All } else { Extent::Log };
            privacy::request_clean_up(tx, extent);
            Ok::<_, Error>(())
        };
        self.rooms.store.write(app, prepare).await?;
        let claimed = self.claimed.clone();
        let end = move |tx: &mut Tx<'_>| {
            let Some(mut request) = privacy::get(tx, app, id)? else { return Ok(jobs::settle(tx, &claimed)?) };
            let clean_up = privacy::clean_up(tx);
            if clean_up == Some(CleanUp::Blocked) && progress.n_blocked < MOST_BLOCKED {
                request.progress = json(&Progress { n_blocked: progress.n_blocked + 1, ..progress.clone() })?;
                privacy::save(tx, app, &request)?;
                return Ok(jobs::postpone(tx, &claimed, now.plus(CLEAN_AGAIN_AFTER))?);
            }
            let mut receipt: Receipt = read(&request.receipt)?;
            receipt.set_clean_up(clean_up);
            (request.receipt, request.ended) = (json(&receipt)?, Some(now));
            privacy::save(tx, app, &request)?;
            Ok::<_, Error>(jobs::settle(tx, &claimed)?)
        };
        self.rooms.store.write(app, end).await
    }
}

/// Some rows of a table, and all that one transaction needs to erase them.
struct TablePortion {
    claimed: ClaimedJob,
    request: PrivacyId,
    tenancy: Tenancy,
    catalog: Arc<Catalog>,
    lease: UtcMillis,
    entry: &'static Entry,
    after: Option<After>,
}

impl TablePortion {
    /// Returns where to go on in the table, and how far the erasure has come; `None` when the request is gone.
    fn erase(&self, tx: &mut Tx<'_>, mut progress: Progress) -> Result<Option<(Option<After>, Progress)>> {
        let (app, entry) = (self.claimed.app, self.entry);
        jobs::renew(tx, &self.claimed, self.lease)?;
        privacy::overwrite_deleted(tx)?;
        let Some(mut request) = privacy::get(tx, app, self.request)? else { return Ok(None) };
        let mut person: Person = read(request.person.as_deref().unwrap_or_default())?;
        let is_late = progress.stage == Stage::EraseLate;
        // Whoever has the name now starts afresh.
        person.named_user.take_if(|_| is_late || matches!(entry.treatment, Treatment::Owned(_)));
        if is_late {
            // What named the person was cleaned by then, so that nothing written since does.
            person.asked = self.lease.minus(LEASE).minus(LATE_AFTER);
        }
        let redaction = person.redaction();
        let portion = match entry.treatment {
            Treatment::Log => erase_log(tx, app, &person, &mut progress)?,
            Treatment::Answers => {
                let after = match self.after.as_deref() {
                    Some([Value::Text(key)]) => key.as_str(),
                    Some(_) | None => "",
                };
                let (n_found, next) = self.tenancy.clean_answers(tx, app, &redaction, person.asked, after)?;
                Portion { n_found, next: next.map(|key| vec![Value::from(key)]) }
            }
            _ => {
                let work = Work { app, person: &person, redaction: &redaction, catalog: &self.catalog };
                privacy::erase_some(tx, &work, entry, self.after.as_ref())?
            }
        };
        note(tx, app, &mut request, entry, &portion, &progress)?;
        Ok(Some((portion.next, progress)))
    }
}

/// The first time up to where the log was when the person was looked up; then what has come since, for their ordinals only.
fn erase_log(tx: &mut Tx<'_>, app: AppId, person: &Person, progress: &mut Progress) -> Result<Portion> {
    let (redaction, until) = match progress.stage {
        Stage::EraseLate => (Redaction::default(), store_log::head(tx, app)?),
        Stage::LookUp | Stage::Erase | Stage::CleanUp => (person.redaction(), person.head),
    };
    let portion = log::erase_some(tx, app, person, &redaction, (progress.log, until))?;
    progress.log = portion.next.unwrap_or(until);
    // What is kept of the position is the progress; the key only says that there is more.
    Ok(Portion { n_found: portion.n_found, next: portion.next.map(|offset| vec![offset.into()]) })
}

fn note(
    tx: &mut Tx<'_>,
    app: AppId,
    request: &mut Request,
    entry: &Entry,
    portion: &Portion,
    progress: &Progress,
) -> Result<()> {
    let is_counted = progress.stage == Stage::Erase && matches!(entry.treatment, Treatment::Owned(_));
    if !is_counted {
        let mut receipt: Receipt = read(&request.receipt)?;
        receipt.add(entry.table, portion.n_found);
        request.receipt = json(&receipt)?;
    }
    request.progress = json(progress)?;
    Ok(privacy::save(tx, app, request)?)
}
