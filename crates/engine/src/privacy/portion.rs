//! A portion of an erasure: some rows of one table. They are searched in a transaction that only reads; the transaction that writes
//! looks at what was found once more, so that nobody waits for the search and nothing stale is written.

use std::sync::Arc;
use std::time::Duration;

use base::Result;
use jobs::ClaimedJob;
use model::ids::{AppId, Offset, PrivacyId};
use model::privacy::Redaction;
use model::time::UtcMillis;
use sending::union_of_sets;
use store::privacy::plan::{Entry, Treatment};
use store::privacy::{self, After, Catalog, Found, Person, Request, Work};
use store::{Tx, Value, log as store_log};
use tenancy::Tenancy;

use super::progress::{Progress, Receipt, Stage};
use super::{json, log, read};

/// Longer than anything takes that was under way: requests to providers end after a minute.
pub(super) const LATE_AFTER: Duration = Duration::from_secs(5 * 60);

/// Some rows of a table, and all that it takes to search and erase them.
#[derive(Clone)]
pub(super) struct TablePortion {
    pub(super) claimed: ClaimedJob,
    pub(super) request: PrivacyId,
    pub(super) tenancy: Tenancy,
    pub(super) catalog: Arc<Catalog>,
    pub(super) now: UtcMillis,
    /// Until when the job is held, by the time on which all nodes agree.
    pub(super) lease: UtcMillis,
    pub(super) entry: &'static Entry,
}

/// What a search has found, and how far the erasure has come with it.
#[derive(Clone)]
pub(super) struct Searched {
    pub(super) found: Found,
    pub(super) progress: Progress,
}

impl TablePortion {
    /// Searches rows after a key; `None` when the request is gone.
    pub(super) fn search(
        &self,
        tx: &mut Tx<'_>,
        after: Option<&After>,
        mut progress: Progress,
    ) -> Result<Option<Searched>> {
        let app = self.claimed.app;
        let Some(request) = privacy::get(tx, app, self.request)? else { return Ok(None) };
        let person = self.person(&request, progress.stage)?;
        let redaction = person.redaction();
        let found = match self.entry.treatment {
            Treatment::Log => {
                let until = if progress.stage == Stage::EraseLate { store_log::head(tx, app)? } else { person.head };
                let found = log::search(tx, app, &person, &names(&person, progress.stage), (progress.log, until))?;
                // What is kept of the position is the progress; the key only says that there is more.
                progress.log = match found.next.as_deref() {
                    Some([Value::Int(next)]) => Offset(*next),
                    Some(_) | None => until,
                };
                found
            }
            Treatment::Answers => {
                let after = after.and_then(|key| text(key)).unwrap_or_default();
                let (keys, next) = self.tenancy.answers_naming(tx, app, &redaction, person.asked, after)?;
                let key = |key: String| vec![Value::from(key)];
                Found { is_by_id: false, keys: keys.into_iter().map(key).collect(), next: next.map(key) }
            }
            _ => privacy::search(tx, &self.work(&person, &redaction), self.entry, after)?,
        };
        Ok(Some(Searched { found, progress }))
    }

    /// Erases what was found, and writes how far the erasure has come. Returns whether the request is still there.
    pub(super) fn erase(&self, tx: &mut Tx<'_>, searched: &Searched) -> Result<bool> {
        let app = self.claimed.app;
        jobs::renew(tx, &self.claimed, self.lease)?;
        privacy::overwrite_deleted(tx)?;
        let Some(mut request) = privacy::get(tx, app, self.request)? else { return Ok(false) };
        let Searched { found, progress } = searched;
        let person = self.person(&request, progress.stage)?;
        let redaction = person.redaction();
        let n_found = match self.entry.treatment {
            _ if found.is_empty() => 0,
            Treatment::Log => {
                let offsets: Vec<Offset> = found.keys.iter().filter_map(offset).collect();
                log::erase(tx, app, &person, &names(&person, progress.stage), &offsets)?
            }
            Treatment::Answers => {
                let keys: Vec<&str> = found.keys.iter().filter_map(|key| text(key)).collect();
                self.tenancy.clean_answers(tx, app, &redaction, person.asked, &keys)?
            }
            Treatment::Outcomes => {
                privacy::clean_outcomes(tx, &self.work(&person, &redaction), &found.keys, union_of_sets)?
            }
            Treatment::Documents => {
                let cleaned = privacy::clean_documents(tx, &self.work(&person, &redaction), &found.keys)?;
                campaigns::note_cleaned(tx, app, &cleaned, self.now)?;
                remote_data::note_cleaned(tx, app, &cleaned, self.now)?;
                cleaned.n()
            }
            _ => privacy::erase(tx, &self.work(&person, &redaction), self.entry, found)?,
        };
        self.note(tx, app, &mut request, n_found, progress)?;
        Ok(true)
    }

    /// The person as they are looked for at a stage.
    fn person(&self, request: &Request, stage: Stage) -> Result<Person> {
        let mut person: Person = read(request.person.as_deref().unwrap_or_default())?;
        let is_late = stage == Stage::EraseLate;
        // Whoever has the name now starts afresh.
        person.named_user.take_if(|_| is_late || matches!(self.entry.treatment, Treatment::Owned(_)));
        if is_late {
            // What named the person was cleaned by then, so that nothing written since does.
            person.asked = self.now.minus(LATE_AFTER);
        }
        Ok(person)
    }

    fn work<'w>(&'w self, person: &'w Person, redaction: &'w Redaction) -> Work<'w> {
        Work { app: self.claimed.app, person, redaction, catalog: &self.catalog }
    }

    fn note(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        request: &mut Request,
        n_found: u64,
        progress: &Progress,
    ) -> Result<()> {
        let is_counted = progress.stage == Stage::Erase && matches!(self.entry.treatment, Treatment::Owned(_));
        if !is_counted {
            let mut receipt: Receipt = read(&request.receipt)?;
            receipt.add(self.entry.table, n_found);
            request.receipt = json(&receipt)?;
        }
        request.progress = json(progress)?;
        Ok(privacy::save(tx, app, request)?)
    }
}

/// The first time all names count, up to where the log was when the person was looked up. What has come since may name a person who
/// starts afresh, unless it is about a push to a channel of the person who is erased.
fn names(person: &Person, stage: Stage) -> log::Names {
    let of_theirs = person.redaction();
    let everywhere = if stage == Stage::EraseLate { Redaction::default() } else { of_theirs.clone() };
    log::Names { everywhere, of_theirs }
}

fn text(key: &After) -> Option<&str> {
    match key.as_slice() {
        [Value::Text(text)] => Some(text),
        _ => None,
    }
}

fn offset(key: &After) -> Option<Offset> {
    match key.as_slice() {
        [Value::Int(offset)] => Some(Offset(*offset)),
        _ => None,
    }
}
