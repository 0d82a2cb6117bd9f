//! Files that come in row by row, for lists of all kinds: rows are stored as they arrive, a few thousand to a transaction, and
//! count only when all of them are there. Any error before that leaves everything as it was.

use std::time::Duration;

use base::{Error, Result};
use model::ids::AppId;
use model::time::{Clock, UtcMillis};
use serde::{Deserialize, Serialize};
use store::lists::UploadNumber;
use store::{Store, Tx};

const ROWS_PER_TRANSACTION: usize = 2000;
/// Bad rows that are kept for display. All are counted.
pub const MOST_BAD_ROWS: usize = 1000;
/// The precision of the time at which an upload was last alive.
const NOTE_LIFE_EVERY: Duration = Duration::from_secs(60);
/// The edge gives up on a sender who is silent for a minute, so an upload this old has died with its process.
const DEAD_AFTER: Duration = Duration::from_secs(60 * 60);

/// An upload whose rows are still coming in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receiving {
    pub number: UploadNumber,
    /// When rows last came, give or take a minute.
    pub heard: UtcMillis,
}

impl Receiving {
    /// Whether the process that received it has died.
    pub fn is_dead(&self, now: UtcMillis) -> bool {
        self.heard < now.minus(DEAD_AFTER)
    }
}

/// A list that takes files.
pub trait Receiver: Clone + Send + Sync + 'static {
    type Row: Clone + Send + Sync + 'static;
    /// What is stored of the list apart from rows.
    type Record;

    /// Fails when the list is gone.
    fn load(&self, tx: &mut Tx<'_>, app: AppId) -> Result<Self::Record>;

    fn save(&self, tx: &mut Tx<'_>, app: AppId, record: Self::Record, now: UtcMillis) -> Result<()>;

    /// Begins an upload and returns its number.
    fn receive(record: &mut Self::Record, now: UtcMillis) -> UploadNumber;

    fn receiving(record: &mut Self::Record) -> &mut Vec<Receiving>;

    /// Gives up an upload, and has its rows deleted.
    fn discard(
        &self,
        tx: &mut Tx<'_>,
        app: AppId,
        record: &mut Self::Record,
        number: UploadNumber,
        now: UtcMillis,
    ) -> Result<()>;

    /// Stores rows, without those of people who are being erased.
    fn add(&self, tx: &mut Tx<'_>, app: AppId, number: UploadNumber, rows: &[Self::Row]) -> Result<()>;
}

/// A file that is being received. A dropped one is cleaned up within hours.
pub struct ReceivedFile<R: Receiver> {
    store: Store,
    clock: Clock,
    app: AppId,
    list: R,
    number: UploadNumber,
    batch: Vec<R::Row>,
}

impl<R: Receiver> ReceivedFile<R> {
    pub async fn begin(store: Store, clock: Clock, app: AppId, list: R) -> Result<Self> {
        let (own, now) = (list.clone(), clock.now());
        let begin = move |tx: &mut Tx<'_>| {
            let mut record = own.load(tx, app)?;
            let number = R::receive(&mut record, now);
            own.save(tx, app, record, now)?;
            Ok::<_, Error>(number)
        };
        let number = store.write(app, begin).await?;
        Ok(Self { store, clock, app, list, number, batch: Vec::with_capacity(ROWS_PER_TRANSACTION) })
    }

    pub async fn add(&mut self, row: R::Row) -> Result<()> {
        self.batch.push(row);
        if self.batch.len() < ROWS_PER_TRANSACTION {
            return Ok(());
        }
        let rows = std::mem::replace(&mut self.batch, Vec::with_capacity(ROWS_PER_TRANSACTION));
        self.change(rows, |_, record, number, now| {
            let upload = R::receiving(record).iter_mut().find(|upload| upload.number == number);
            match upload.filter(|upload| upload.heard < now.minus(NOTE_LIFE_EVERY)) {
                Some(upload) => upload.heard = now,
                None => return Ok(Changed::No),
            }
            Ok(Changed::Yes)
        })
        .await
    }

    /// Stores the last rows, and does what follows from all of them being there. After this the upload survives anything but the
    /// loss of the database.
    pub async fn finish(
        mut self,
        complete: impl Fn(&mut Tx<'_>, &mut R::Record, UploadNumber, UtcMillis) -> Result<()> + Send + 'static,
    ) -> Result<()> {
        let rows = std::mem::take(&mut self.batch);
        self.change(rows, move |tx, record, number, now| complete(tx, record, number, now).map(|()| Changed::Yes)).await
    }

    /// Ends the upload without any effect on the list but its status.
    pub async fn give_up(self) -> Result<()> {
        let (list, app) = (self.list.clone(), self.app);
        let discard = move |tx: &mut Tx<'_>, record: &mut R::Record, number: UploadNumber, now: UtcMillis| {
            list.discard(tx, app, record, number, now).map(|()| Changed::Yes)
        };
        self.change(Vec::new(), discard).await
    }

    /// Stores rows and changes the list's record in one transaction, unless the list or the upload is gone.
    async fn change(
        &self,
        rows: Vec<R::Row>,
        change: impl Fn(&mut Tx<'_>, &mut R::Record, UploadNumber, UtcMillis) -> Result<Changed> + Send + 'static,
    ) -> Result<()> {
        let (app, list, number, now) = (self.app, self.list.clone(), self.number, self.clock.now());
        let write = move |tx: &mut Tx<'_>| {
            let mut record = list.load(tx, app)?;
            if !R::receiving(&mut record).iter().any(|upload| upload.number == number) {
                return Err(Error::Conflict("This upload took too long and was given up; repeat it.".to_owned()));
            }
            list.add(tx, app, number, &rows)?;
            match change(tx, &mut record, number, now)? {
                Changed::Yes => list.save(tx, app, record, now),
                Changed::No => Ok(()),
            }
        };
        self.store.write(app, write).await
    }
}

/// Whether a record has to be written back.
enum Changed {
    Yes,
    No,
}
