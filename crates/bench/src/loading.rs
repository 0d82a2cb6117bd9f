//! Loads channels into the database, through the store.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use model::event::RecordKind;
use model::ids::{AppId, NamedUserId, Ordinal, TermId};
use model::term::{Term, TermChange, TermsRecord};
use model::time::Clock;
use store::attributes::{self, Owner};
use store::channels::{Channel, Key};
use store::log::NewRecord;
use store::{DatabaseUrl, Store, apps, channels, log, named_users, terms};

use crate::population::Population;
use crate::report::{self, duration, mebibytes, number};
use crate::server::{APP_KEY, DATABASE, Server};

const PER_TRANSACTION: u32 = 10_000;

/// Where a server has its data.
pub(crate) struct Place<'p> {
    pub(crate) folder: &'p Path,
    /// The URL of its database, if that is not in the folder.
    pub(crate) database: Option<&'p str>,
}

impl<'p> Place<'p> {
    pub(crate) fn embedded(folder: &'p Path) -> Self {
        Self { folder, database: None }
    }

    pub(crate) fn start(&self) -> Result<Server> {
        match self.database {
            None => Server::start(self.folder),
            Some(url) => Server::start_on(self.folder, url),
        }
    }

    fn url(&self) -> DatabaseUrl {
        match self.database {
            None => DatabaseUrl::Sqlite(self.folder.join(DATABASE)),
            Some(url) => DatabaseUrl::Postgres(url.to_owned()),
        }
    }
}

/// The named users of the channels.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Users {
    None,
    /// Each channel has a named user of its own.
    OneEach,
}

/// Fills the database of a folder, in an app that the server has created there.
pub(crate) async fn load(folder: &Path, population: &Population, n_channels: u32, users: Users) -> Result<()> {
    load_at(&Place::embedded(folder), population, n_channels, users).await.map(drop)
}

/// The same, wherever the server has its data; and how long it took to load them.
pub(crate) async fn load_at(
    place: &Place<'_>,
    population: &Population,
    n_channels: u32,
    users: Users,
) -> Result<Duration> {
    load_timed(place, population.terms(), n_channels, |ordinal, numbers| {
        let (mut channel, keys) = population.channel(ordinal, numbers);
        if users == Users::OneEach {
            channel.named_user = NamedUserId::new(&user_name(ordinal.0)).ok();
        }
        (channel, keys)
    })
    .await
}

/// The same with channels of any kind. `make` gets the numbers of the terms, in ascending order.
pub(crate) async fn load_channels(
    place: &Place<'_>,
    names: &[Term],
    n_channels: u32,
    make: impl Fn(Ordinal, &[TermId]) -> (Channel, Vec<Key>),
) -> Result<()> {
    load_timed(place, names, n_channels, make).await.map(drop)
}

/// The time is that of the loading. The server that makes the app before it is none of it.
async fn load_timed(
    place: &Place<'_>,
    names: &[Term],
    n_channels: u32,
    make: impl Fn(Ordinal, &[TermId]) -> (Channel, Vec<Key>),
) -> Result<Duration> {
    place.start()?.stop()?;
    let began = Instant::now();
    let (store, app) = open_at(place).await?;
    let names = names.to_vec();
    let numbered = store.write(app, move |tx| {
        let numbers: store::Result<Vec<TermId>> = names.iter().map(|term| terms::insert(tx, app, term)).collect();
        let numbers = numbers?;
        append_names(tx, app, &names, &numbers)?;
        Ok::<_, anyhow::Error>(numbers)
    });
    let numbers = numbered.await?;
    let mut writing = None;
    for first in (0..n_channels).step_by(PER_TRANSACTION as usize) {
        if first % 1_000_000 == 0 {
            report::progress(&format!("loading channel {}", number(f64::from(first))));
        }
        let ordinals = first..n_channels.min(first.saturating_add(PER_TRANSACTION));
        let batch: Vec<_> = ordinals.map(|ordinal| make(Ordinal(ordinal), &numbers)).collect();
        // The next batch is made while this one is written.
        if let Some(written) = writing.replace(tokio::spawn(insert(store.clone(), app, batch))) {
            written.await??;
        }
    }
    if let Some(written) = writing {
        written.await??;
    }
    let n_bytes = store.read(|tx| tx.database_bytes()).await?;
    store.close().await;
    let elapsed = began.elapsed();
    let per_second = number(f64::from(n_channels) / elapsed.as_secs_f64());
    report::line("loaded through the store", &format!("{} ({per_second}/s)", duration(elapsed)))?;
    report::line("size of the database", &mebibytes(u64::try_from(n_bytes)?))?;
    Ok(elapsed)
}

/// Gives every channel attributes of its own.
pub(crate) async fn load_attributes(
    place: &Place<'_>,
    n_channels: u32,
    make: impl Fn(Ordinal) -> Vec<attributes::Write>,
) -> Result<()> {
    let (store, app) = open_at(place).await?;
    for first in (0..n_channels).step_by(PER_TRANSACTION as usize) {
        let ordinals = first..n_channels.min(first.saturating_add(PER_TRANSACTION));
        let batch: Vec<_> = ordinals
            .flat_map(|ordinal| {
                let writes = make(Ordinal(ordinal)).into_iter();
                writes.map(move |write| (Owner::Channel(Ordinal(ordinal)), write))
            })
            .collect();
        let written =
            store.write(app, move |tx| attributes::set_all(tx, app, batch.iter().map(|(owner, write)| (owner, write))));
        written.await?;
    }
    store.close().await;
    Ok(())
}

/// The named user of a channel with a user of its own.
pub(crate) fn user_name(ordinal: u32) -> String {
    format!("user-{ordinal:08}")
}

/// The database of a folder, and the app in it.
pub(crate) async fn open(folder: &Path) -> Result<(Store, AppId)> {
    open_at(&Place::embedded(folder)).await
}

/// The same, wherever its data are.
pub(crate) async fn open_at(place: &Place<'_>) -> Result<(Store, AppId)> {
    let store = Store::open(&place.url()).await?;
    let found = store.read(|tx| apps::by_key(tx, APP_KEY)).await?;
    let (app, _) = found.context("the server has made no app")?;
    Ok((store, app.id))
}

async fn insert(store: Store, app: AppId, batch: Vec<(Channel, Vec<Key>)>) -> Result<()> {
    let n_channels = u32::try_from(batch.len())?;
    store
        .write(app, move |tx| {
            apps::take_ordinals(tx, app, n_channels)?;
            channels::insert_many(tx, app, &batch)?;
            let users: Vec<_> = batch.iter().filter_map(|(channel, _)| channel.named_user.clone()).collect();
            named_users::insert_many(tx, app, &users, &[], Clock::System.now())?;
            let changes = batch.iter().map(|(channel, _)| TermChange {
                ordinal: channel.ordinal,
                added: channel.terms.clone(),
                removed: Vec::new(),
            });
            append(tx, app, &TermsRecord { changes: changes.collect(), ..TermsRecord::default() })
        })
        .await
}

fn append_names(tx: &mut store::Tx<'_>, app: AppId, names: &[Term], numbers: &[TermId]) -> Result<()> {
    let named = names.iter().zip(numbers).map(|(term, number)| {
        let (group, tag) = term.key();
        (*number, group.to_owned(), tag.into_owned())
    });
    append(tx, app, &TermsRecord { new_terms: named.collect(), ..TermsRecord::default() })
}

fn append(tx: &mut store::Tx<'_>, app: AppId, record: &TermsRecord) -> Result<()> {
    let body = postcard::to_stdvec(record)?;
    let record = NewRecord { kind: RecordKind::Terms, ordinal: None, body };
    log::append(tx, app, Clock::System.now(), vec![record])?;
    Ok(())
}
