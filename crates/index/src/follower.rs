//! The audience index of each app, kept in step with the app's log.

use std::collections::HashMap;
use std::sync::Arc;

use audience::codec;
use audience::index::Index;
use base::{Error, Result, UnreadableRecord};
use boxed::boxed;
use model::event::RecordKind;
use model::ids::{AppId, Offset};
use model::term::TermsRecord;
use parking_lot::Mutex;
use store::{Store, channels, log, term_sets, terms};
use tokio::sync::{Mutex as AsyncMutex, OnceCell};

use crate::Indexes;

const CHANNELS_PER_READ: u32 = 20_000;
const RECORDS_PER_READ: u32 = 5_000;

/// The indexes of the apps that this process has used. An index is loaded when it is first needed.
#[derive(Default)]
pub(crate) struct Audiences(Mutex<HashMap<AppId, Arc<OnceCell<Arc<Followed>>>>>);

/// An index and the turn to move it forward.
struct Followed {
    index: Arc<Index>,
    turn: AsyncMutex<()>,
    /// Where the log stood at the last snapshot.
    saved: Mutex<Offset>,
}

/// Why an index cannot be moved forward. One that is built anew from the channels has what the log cannot tell.
#[derive(Clone, Copy)]
enum Obstacle {
    /// Some of what it has not applied is not there any more.
    Gap,
    /// Which channels it is about is not known.
    Unreadable(UnreadableRecord),
}

impl Audiences {
    fn cell(&self, app: AppId) -> Arc<OnceCell<Arc<Followed>>> {
        self.0.lock().entry(app).or_default().clone()
    }

    pub(crate) fn apps(&self) -> Vec<AppId> {
        self.0.lock().keys().copied().collect()
    }

    pub(crate) fn forget(&self, app: AppId) {
        self.0.lock().remove(&app);
    }

    /// Gives up an index that is of no use any more, unless another has taken its place.
    fn give_up(&self, app: AppId, useless: &Arc<Followed>) {
        let mut cells = self.0.lock();
        if cells.get(&app).and_then(|cell| cell.get()).is_some_and(|followed| Arc::ptr_eq(followed, useless)) {
            cells.remove(&app);
        }
    }

    fn loaded(&self) -> Vec<(AppId, Arc<Followed>)> {
        let cells = self.0.lock();
        cells.iter().filter_map(|(app, cell)| Some((*app, cell.get()?.clone()))).collect()
    }

    fn is_loaded(&self, app: AppId) -> bool {
        let cells = self.0.lock();
        cells.get(&app).is_some_and(|cell| cell.initialized())
    }
}

#[boxed]
impl Indexes {
    /// The index as far as it has got. Its term numbers are right whenever they are there.
    pub async fn get(&self, app: AppId) -> Result<Arc<Index>> {
        Ok(self.followed(app).await?.index.clone())
    }

    /// The index after it has applied everything up to `offset`.
    pub async fn at(&self, app: AppId, offset: Offset) -> Result<Arc<Index>> {
        let followed = self.followed(app).await?;
        if followed.index.offset() >= offset {
            return Ok(followed.index.clone());
        }
        Ok(self.caught_up(app, followed).await?.index.clone())
    }

    /// The index after it has applied everything that is committed by now.
    pub async fn current(&self, app: AppId) -> Result<Arc<Index>> {
        let head = self.0.store.read(move |tx| log::head(tx, app)).await?;
        self.at(app, head).await
    }

    /// How many records of its log each loaded index has not applied.
    pub async fn records_behind(&self) -> Result<Vec<(AppId, i64)>> {
        // Before the offsets of the indexes: one that gets further meanwhile is not behind.
        let heads: HashMap<AppId, Offset> = self.0.store.read_all(log::heads).await?.into_iter().collect();
        let loaded = self.0.audiences.loaded().into_iter();
        let lags = loaded.map(|(app, followed)| {
            let head = heads.get(&app).map_or(0, |head| head.0);
            (app, (head - followed.index.offset().0).max(0))
        });
        Ok(lags.collect())
    }

    /// Applies new log records to a loaded index.
    pub async fn follow_log(&self, app: AppId) -> Result<()> {
        if !self.0.audiences.is_loaded(app) {
            return Ok(());
        }
        let followed = self.followed(app).await?;
        self.caught_up(app, followed).await?;
        Ok(())
    }

    /// Applies new log records. An index that cannot go on with them is replaced by a new one.
    async fn caught_up(&self, app: AppId, mut followed: Arc<Followed>) -> Result<Arc<Followed>> {
        while let Some(obstacle) = followed.catch_up(&self.0.store, app).await? {
            self.report(app, obstacle).await;
            self.0.audiences.give_up(app, &followed);
            followed = self.followed(app).await?;
        }
        Ok(followed)
    }

    async fn followed(&self, app: AppId) -> Result<Arc<Followed>> {
        let cell = self.0.audiences.cell(app);
        cell.get_or_try_init(|| self.load(app)).await.cloned()
    }

    /// Says why an index is built anew.
    async fn report(&self, app: AppId, obstacle: Obstacle) {
        let key = self.0.tenancy.key_for_log(app).await;
        match obstacle {
            Obstacle::Gap => {
                tracing::warn!(app = key, "an audience index is older than the log that is kept; it is built anew");
            }
            // The last snapshot may be from before it.
            Obstacle::Unreadable(record) => {
                let news = self.0.passed_over.news(app, vec![record]);
                news.iter().for_each(|record| record.report(&key, "audience_index"));
            }
        }
    }
}

impl Followed {
    /// Applies everything that the log has for it, or returns what it cannot get past.
    async fn catch_up(&self, store: &Store, app: AppId) -> Result<Option<Obstacle>> {
        let _turn = self.turn.lock().await;
        loop {
            let from = self.index.offset();
            let records = store.read(move |tx| log::terms_after(tx, app, from, RECORDS_PER_READ)).await?;
            if records.is_gap {
                return Ok(Some(Obstacle::Gap));
            }
            for (offset, body) in &records.found {
                let change = postcard::from_bytes::<TermsRecord>(body).ok();
                if change.and_then(|change| self.index.apply(*offset, &change).ok()).is_none() {
                    let record = UnreadableRecord::of_form(*offset, RecordKind::Terms);
                    return Ok(Some(Obstacle::Unreadable(record)));
                }
            }
            self.index.advance(records.looked);
            if records.found.len() < RECORDS_PER_READ as usize {
                return Ok(None);
            }
        }
    }
}

#[boxed]
impl Indexes {
    async fn load(&self, app: AppId) -> Result<Arc<Followed>> {
        let mut saved = self.read_snapshot(app).await;
        loop {
            let index = match saved.take() {
                Some(index) => index,
                None => build(&self.0.store, app).await?,
            };
            let followed = Followed { index: Arc::new(index), turn: AsyncMutex::new(()), saved: Mutex::default() };
            // The log may have been shortened since.
            let Some(obstacle) = followed.catch_up(&self.0.store, app).await? else {
                return Ok(Arc::new(followed));
            };
            self.report(app, obstacle).await;
        }
    }

    /// Writes a snapshot of every index that has moved since its last one.
    pub async fn save_indexes(&self) {
        for (app, followed) in self.0.audiences.loaded() {
            let offset = followed.index.offset();
            if *followed.saved.lock() == offset {
                continue;
            }
            match self.write_snapshot(app, followed.index.clone()).await {
                Ok(()) => *followed.saved.lock() = offset,
                Err(error) => tracing::warn!(error = &error as &dyn std::error::Error, "a snapshot was not written"),
            }
        }
    }
}

/// Builds an index from the current channels, in one snapshot with the log offset of that state.
pub async fn build(store: &Store, app: AppId) -> Result<Index> {
    store
        .read(move |tx| {
            let mut builder = Index::builder();
            for (id, group, tag) in terms::all(tx, app)? {
                builder.set_name(id, &group, &tag);
            }
            let mut first = 0;
            loop {
                let page = channels::terms_from(tx, app, first, CHANNELS_PER_READ)?;
                let Some((last, _)) = page.last() else { break };
                first = i64::from(last.0) + 1;
                for (ordinal, terms) in &page {
                    builder.push(*ordinal, terms).map_err(Error::internal)?;
                }
            }
            for term in term_sets::terms(tx, app)? {
                for part in term_sets::parts(tx, app, term)? {
                    builder.push_set(term, codec::decode(&part).map_err(Error::internal)?);
                }
            }
            Ok(builder.finish(log::head(tx, app)?))
        })
        .await
}
