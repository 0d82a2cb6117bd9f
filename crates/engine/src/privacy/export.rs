//! The job that exports a person: lines of JSON, one for each row, kept with the request until they are fetched or too old.

use std::sync::Arc;

use base::{Error, Result};
use jobs::{ClaimedJob, Job, LEASE, Stop};
use model::ids::{AppId, Offset, Ordinal, PrivacyId};
use sending::messages_held_by;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::privacy::plan::{Entry, PLAN, Treatment};
use store::privacy::{self, After, Catalog, Person, Portion, Work};
use store::{Tx, Value, messages};

use super::person::{self, Former};
use super::progress::Receipt;
use super::{json as written, log, subject};
use crate::Rooms;

/// The size of a piece of the result, apart from its last line.
const PIECE_BYTES: usize = 256 * 1024;

/// Exports a person.
#[derive(Serialize, Deserialize)]
pub(super) struct ExportPerson {
    pub(super) request: PrivacyId,
}

impl Job for ExportPerson {
    type Room = Arc<Rooms>;
    const NAME: &'static str = "export_person";

    /// Safe to run twice: every run deletes what an earlier one has found and begins anew.
    async fn run(self, rooms: &Arc<Rooms>, claimed: &ClaimedJob, stop: &Stop) -> Result<()> {
        let (app, id, now) = (claimed.app, self.request, rooms.clock.now());
        let (job, lease) = (claimed.clone(), rooms.shared_clock.lease_begin().plus(LEASE));
        let Some(subject) = subject(&rooms.store, app, id).await? else {
            return jobs::settle_alone(&rooms.store, claimed).await;
        };
        let former = Former::look(&rooms.store, app, &subject).await?;
        let begin = move |tx: &mut Tx<'_>| {
            jobs::renew(tx, &job, lease)?;
            let Some(mut request) = privacy::get(tx, app, id)? else { return Ok(None) };
            privacy::forget_result(tx, app, id)?;
            let found = person::find(tx, app, &subject, former.clone(), now)?;
            // By which an erasure finds this export.
            request.person = Some(written(&found)?);
            privacy::save(tx, app, &request)?;
            Ok::<_, Error>(Some((found, Catalog::read(tx)?)))
        };
        let Some((person, catalog)) = rooms.store.write(app, begin).await? else {
            return jobs::settle_alone(&rooms.store, claimed).await;
        };
        let subject = Arc::new((person, catalog));
        let mut export = Export {
            rooms,
            claimed,
            request: id,
            subject,
            receipt: Receipt::default(),
            n_pieces: 0,
            lines: Vec::new(),
        };
        for entry in PLAN {
            if stop.is_requested() {
                let (job, due) = (claimed.clone(), rooms.shared_clock.now());
                return Ok(rooms.store.write(app, move |tx| jobs::postpone(tx, &job, due)).await?);
            }
            export.table(entry).await?;
        }
        export.end().await
    }
}

struct Export<'a> {
    rooms: &'a Rooms,
    claimed: &'a ClaimedJob,
    request: PrivacyId,
    /// The person, and the tables.
    subject: Arc<(Person, Catalog)>,
    receipt: Receipt,
    n_pieces: u32,
    lines: Vec<String>,
}

impl Export<'_> {
    async fn table(&mut self, entry: &'static Entry) -> Result<()> {
        let (app, mut after): (AppId, Option<After>) = (self.claimed.app, None);
        loop {
            let (subject, tenancy, last) = (self.subject.clone(), self.rooms.tenancy.clone(), after.clone());
            let read = move |tx: &mut Tx<'_>| {
                let (person, catalog) = &*subject;
                let (redaction, mut lines, mut n_unreadable) = (person.redaction(), Vec::new(), 0);
                let portion = match entry.treatment {
                    Treatment::Log => {
                        let from = match last.as_deref() {
                            Some([Value::Int(offset)]) => Offset(*offset),
                            Some(_) | None => Offset(0),
                        };
                        let names = log::Names { everywhere: redaction.clone(), of_theirs: redaction };
                        let found = log::export_some(tx, app, person, &names, from, &mut lines)?;
                        n_unreadable = found.n_unreadable;
                        Portion { n_found: found.n_found, next: found.next.map(|offset| vec![offset.into()]) }
                    }
                    Treatment::Answers => {
                        let from = match last.as_deref() {
                            Some([Value::Text(key)]) => key.as_str(),
                            Some(_) | None => "",
                        };
                        let (keys, next) = tenancy.answers_naming(tx, app, &redaction, person.asked, from)?;
                        lines.extend(keys.iter().map(|key| {
                            json!({"table": entry.table, "key": [key], "named_in": ["answer"]}).to_string()
                        }));
                        Portion { n_found: keys.len() as u64, next: next.map(|key| vec![Value::from(key)]) }
                    }
                    _ => {
                        let work = Work { app, person, redaction: &redaction, catalog };
                        let mut portion = privacy::export_some(tx, &work, entry, last.as_ref(), &mut lines)?;
                        if entry.table == "message" && last.is_none() {
                            portion.n_found += held(tx, app, person, &mut lines)?;
                        }
                        portion
                    }
                };
                Ok::<_, Error>((portion, lines, n_unreadable))
            };
            let (portion, lines, n_unreadable) = self.rooms.store.read(read).await?;
            if n_unreadable > 0 {
                self.rooms.metrics.records_unreadable(n_unreadable);
                let key = self.rooms.tenancy.key_for_log(app).await;
                tracing::warn!(app = key, n_unreadable, "records of the log cannot be read and are not exported");
            }
            self.receipt.add(entry.table, portion.n_found);
            self.lines.extend(lines);
            if self.lines.iter().map(String::len).sum::<usize>() >= PIECE_BYTES {
                self.write_piece().await?;
            }
            after = portion.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    async fn write_piece(&mut self) -> Result<()> {
        let lines = std::mem::take(&mut self.lines);
        let body: String = lines.into_iter().flat_map(|line| [line, "\n".to_owned()]).collect();
        let (app, id, n, claimed) = (self.claimed.app, self.request, self.n_pieces, self.claimed.clone());
        let body = self.rooms.tenancy.seal_export(id, n, body.as_bytes())?;
        let lease = self.rooms.shared_clock.lease_begin().plus(LEASE);
        let write = move |tx: &mut Tx<'_>| {
            jobs::renew(tx, &claimed, lease)?;
            // An erasure may have deleted the request meanwhile.
            if privacy::get(tx, app, id)?.is_some() {
                privacy::add_result(tx, app, id, n, body.clone())?;
            }
            Ok::<_, Error>(())
        };
        self.n_pieces += 1;
        self.rooms.store.write(app, write).await
    }

    async fn end(mut self) -> Result<()> {
        if !self.lines.is_empty() {
            self.write_piece().await?;
        }
        let (app, id, claimed, now) = (self.claimed.app, self.request, self.claimed.clone(), self.rooms.clock.now());
        let receipt = written(&self.receipt)?;
        let write = move |tx: &mut Tx<'_>| {
            if let Some(mut request) = privacy::get(tx, app, id)? {
                (request.ended, request.receipt) = (Some(now), receipt.clone());
                privacy::save(tx, app, &request)?;
            }
            Ok::<_, Error>(jobs::settle(tx, &claimed)?)
        };
        self.rooms.store.write(app, write).await
    }
}

/// The messages in the inboxes of the person's channels.
fn held(tx: &mut Tx<'_>, app: AppId, person: &Person, lines: &mut Vec<String>) -> Result<u64> {
    let ordinals: Vec<Ordinal> = person.channels.iter().map(|channel| channel.ordinal).collect();
    let numbers = messages_held_by(tx, app, &ordinals)?;
    let found = messages::by_numbers(tx, app, numbers)?;
    for message in &found {
        let heads = messages::heads(tx, app, [(message.number, 0)])?;
        let title = heads.first().map(|(_, head)| head.title.as_str());
        lines.push(
            json!({"table": "message", "push_id": message.push, "sent": message.sent.to_api(), "title": title})
                .to_string(),
        );
    }
    Ok(found.len() as u64)
}
