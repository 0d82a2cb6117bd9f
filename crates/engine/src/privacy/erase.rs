//! The job that erases a person, table by table and in portions.
//!
//! First the channels are uninstalled, so that nothing new is sent to them; then everything is gone through. What was under way at
//! that moment, on whichever node, may still write: a delivery to the sandbox, a record, a dead letter. So after a while the tables
//! that such work writes to are gone through once more. At the end the database's file is cleaned.

use std::sync::Arc;
use std::time::Duration;

use base::{Error, Result};
use devices::{ChangeContext, change_uploads_under_way, uninstall_in};
use jobs::{ClaimedJob, Job, LEASE, Stop};
use model::ids::{AppId, PrivacyId};
use model::time::UtcMillis;
use serde::{Deserialize, Serialize};
use store::privacy::plan::{PLAN, Treatment};
use store::privacy::{self, After, Catalog, Person, PersonUpload};
use store::{CleanUp, Extent, Tx, log as store_log, webhooks};
use targeting::uploads_under_way;

use super::person::{self, Former};
use super::portion::{LATE_AFTER, TablePortion};
use super::progress::{Progress, Receipt, Stage};
use super::{json, read, subject};
use crate::Rooms;

/// An upload that was under way when the person was looked up is waited for. It ends by itself: the edge gives up on silent
/// senders, and uploads of processes that have died are discarded after an hour.
const UPLOADS_LOOKED_AT_AFTER: Duration = Duration::from_secs(60);
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
                // The person has to be known until the last row was left out, and what the upload says at its end is looked at.
                Stage::EraseLate if erasure.is_upload_under_way().await? => {
                    return erasure.postpone(UPLOADS_LOOKED_AT_AFTER).await;
                }
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

    /// Whether a list is coming in whose upload had begun before the person was looked up.
    async fn is_upload_under_way(&self) -> Result<bool> {
        let (app, id) = (self.app(), self.request);
        let look = move |tx: &mut Tx<'_>| {
            let request = privacy::get(tx, app, id)?;
            let Some(person) = request.and_then(|request| request.person) else { return Ok(false) };
            let (person, under_way): (Person, _) = (read(&person)?, all_uploads_under_way(tx, app)?);
            Ok::<_, Error>(person.uploads.iter().any(|upload| under_way.contains(upload)))
        };
        self.rooms.store.read(look).await
    }

    async fn postpone(&self, by: Duration) -> Result<()> {
        let (claimed, due) = (self.claimed.clone(), self.rooms.shared_clock.now().plus(by));
        Ok(self.rooms.store.write(claimed.app, move |tx| jobs::postpone(tx, &claimed, due)).await?)
    }

    /// From here on nothing is sent to the person, and the audience index forgets the channels on every node.
    async fn look_up(&self) -> Result<()> {
        let (app, id, claimed) = (self.app(), self.request, self.claimed.clone());
        let Some(subject) = subject(&self.rooms.store, app, id).await? else { return Ok(()) };
        let former = Former::look(&self.rooms.store, app, &subject).await?;
        let shared_clock = self.rooms.shared_clock.clone();
        let change = move |tx: &mut Tx<'_>, context: &mut ChangeContext<'_>| {
            let now = context.journal.now();
            jobs::renew(tx, &claimed, shared_clock.lease_begin().plus(LEASE))?;
            privacy::overwrite_deleted(tx)?;
            let Some(mut request) = privacy::get(tx, app, id)? else { return Ok(()) };
            let mut found = person::find(tx, app, &subject, former.clone(), now)?;
            found.uploads = all_uploads_under_way(tx, app)?;
            let mut receipt: Receipt = read(&request.receipt)?;
            // Before the uninstallation, which deletes some of them.
            for entry in PLAN {
                receipt.add(entry.table, privacy::count_owned(tx, app, &found, entry)?.unwrap_or(0));
            }
            // Before a list is applied that would make the user anew.
            receipt.add("list_member", privacy::delete_list_rows(tx, app, &found)?);
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
        let mut renewed = UtcMillis(0);
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
                    now: self.rooms.clock.now(),
                    lease: self.rooms.shared_clock.lease_begin().plus(LEASE),
                    entry,
                };
                let (now, searching, from, before) = (portion.now, portion.clone(), after.clone(), progress.clone());
                let search = move |tx: &mut Tx<'_>| searching.search(tx, from.as_ref(), before.clone());
                let Some(searched) = self.rooms.store.read(search).await? else { return Ok(Turn::GoesOn) };
                (after, progress) = (searched.found.next.clone(), searched.progress.clone());
                // A search that finds nothing holds up nobody, but the job has to stay ours.
                if !searched.found.is_empty() || now >= renewed.plus(LEASE / 3) {
                    if !self.rooms.store.write(app, move |tx| portion.erase(tx, &searched)).await? {
                        return Ok(Turn::GoesOn);
                    }
                    if matches!(entry.treatment, Treatment::Documents) {
                        // The app may tell now that the data for its devices has changed.
                        self.rooms.tenancy.forget_known_apps();
                    }
                    renewed = now;
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
        let (app, id, claimed) = (self.app(), self.request, self.claimed.clone());
        let due = self.rooms.shared_clock.now().plus(LATE_AFTER);
        let write = move |tx: &mut Tx<'_>| {
            let Some(mut request) = privacy::get(tx, app, id)? else { return Ok(Turn::GoesOn) };
            let head = store_log::head(tx, app)?;
            let (stage, turn) = match progress.stage {
                Stage::Erase => (Stage::EraseLate, Turn::Ends),
                Stage::LookUp | Stage::EraseLate | Stage::CleanUp => (Stage::CleanUp, Turn::GoesOn),
            };
            webhooks::restart_all(tx, app)?;
            if turn == Turn::Ends {
                jobs::postpone(tx, &claimed, due)?;
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
        let (claimed, again) = (self.claimed.clone(), self.rooms.shared_clock.now().plus(CLEAN_AGAIN_AFTER));
        let end = move |tx: &mut Tx<'_>| {
            let Some(mut request) = privacy::get(tx, app, id)? else { return Ok(jobs::settle(tx, &claimed)?) };
            let clean_up = privacy::clean_up(tx);
            if clean_up == Some(CleanUp::Blocked) && progress.n_blocked < MOST_BLOCKED {
                request.progress = json(&Progress { n_blocked: progress.n_blocked + 1, ..progress.clone() })?;
                privacy::save(tx, app, &request)?;
                return Ok(jobs::postpone(tx, &claimed, again)?);
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

/// The uploads of all lists whose rows are coming in, and of those whose rows are changes.
fn all_uploads_under_way(tx: &mut Tx<'_>, app: AppId) -> Result<Vec<PersonUpload>> {
    Ok([uploads_under_way(tx, app)?, change_uploads_under_way(tx, app)?].concat())
}
