//! Everything that can be asked of a store about the things that the operations name, and the model's
//! answers.

use model::device_type::DeviceType;
use model::ids::{AppId, ChannelId, Offset, Ordinal, TermId};
use model::time::UtcMillis;
use store::apps::{self, App};
use store::blocks::{self, BlockProgress};
use store::channels::{self, Channel};
use store::counters::Metric;
use store::documents::{self, Document, DocumentKind};
use store::idempotency::{self, Kept};
use store::jobs::JobKey;
use store::log::{self, Record};
use store::pushes::{self, PushRow, Tally};
use store::recipients::Wanted;
use store::sandbox::{self, Filter, SandboxDelivery};
use store::{Part, Tx, jobs, terms};

use super::END;
use super::operation::{self, DEVICE_TYPES};
use super::oracle::Model;
use crate::sample::{self, Reached, job_depth};

const APPS: std::ops::RangeInclusive<i64> = 1..=8;
const ALL: u32 = 10_000;
const EVERYTHING: Wanted = Wanted { locale: true, profile: true };

#[derive(Debug, PartialEq)]
pub(super) struct View {
    apps: Vec<App>,
    of_apps: Vec<AppView>,
    job_depth: (i64, i64),
    next_due: Option<UtcMillis>,
    /// By app and id, with the time each is due: what is claimed next depends on it, so that two orders of a batch that differ in
    /// nothing else are told apart.
    jobs: Vec<(JobKey, UtcMillis)>,
}

#[derive(Debug, PartialEq)]
struct AppView {
    secrets: Option<([u8; 32], [u8; 32])>,
    by_key: Option<AppId>,
    log_head: Offset,
    log: Vec<Record>,
    log_page: Vec<Record>,
    terms: Vec<(TermId, String, String)>,
    term_numbers: Vec<Option<TermId>>,
    channels: Vec<Channel>,
    channel_page: Vec<ChannelId>,
    channels_by_id: Vec<Option<Channel>>,
    installed: Vec<Option<Ordinal>>,
    terms_of_channels: Vec<(Ordinal, Vec<TermId>)>,
    recipients: Vec<Reached>,
    recipients_among: Vec<Reached>,
    n_keys: Vec<usize>,
    key_holders: Vec<Option<Ordinal>>,
    documents: Vec<Document>,
    first_document: Option<Document>,
    pushes: Vec<Option<PushRow>>,
    tallies: Vec<Vec<(DeviceType, Tally)>>,
    unsettled: Vec<i64>,
    blocks: Vec<Option<BlockProgress>>,
    totals: Vec<i64>,
    kept: Vec<Option<Kept>>,
    sandbox_head: i64,
    sandbox: Vec<(i64, SandboxDelivery)>,
    sandbox_page: Vec<(i64, SandboxDelivery)>,
    sandbox_newest: Vec<(i64, SandboxDelivery)>,
}

/// Which recipients are asked for: a range, and some of it.
const BETWEEN: (Ordinal, Ordinal) = (Ordinal(1), Ordinal(4));
const AMONG: [Ordinal; 3] = [Ordinal(1), Ordinal(3), Ordinal(4)];
const OF_PUSH: u32 = 1;
/// Where a page begins.
const PAGE_CHANNEL: u32 = 2;

impl View {
    pub(super) fn read(tx: &mut Tx<'_>) -> store::Result<Self> {
        Ok(Self {
            apps: apps::list(tx)?,
            of_apps: APPS.map(|app| AppView::read(tx, AppId(app))).collect::<store::Result<_>>()?,
            job_depth: job_depth(tx)?,
            next_due: jobs::next_due(tx)?,
            jobs: jobs(tx)?,
        })
    }
}

fn jobs(tx: &mut Tx<'_>) -> store::Result<Vec<(JobKey, UtcMillis)>> {
    let all = jobs::due(tx, &Part::ALL, END, ALL)?.jobs;
    let mut all: Vec<_> = all.into_iter().map(|job| ((job.app, job.id), job.due)).collect();
    all.sort();
    Ok(all)
}

impl AppView {
    fn read(tx: &mut Tx<'_>, app: AppId) -> store::Result<Self> {
        let found = apps::by_id(tx, app)?;
        let by_key = match &found {
            Some((app, _)) => apps::by_key(tx, app.key.as_str())?.map(|(app, _)| app.id),
            None => None,
        };
        let page = channels::page(tx, app, Some(sample::id(PAGE_CHANNEL)), 2)?;
        let of_push = Filter { push: Some(sample::id(OF_PUSH)), channel: None };
        Ok(Self {
            secrets: found.map(|(_, secrets)| (secrets.app, secrets.master)),
            by_key,
            log_head: log::head(tx, app)?,
            log: log::after(tx, app, Offset(0), ALL)?,
            log_page: log::after(tx, app, Offset(2), 2)?,
            terms: terms::all(tx, app)?,
            term_numbers: each(0..3, |tag| terms::find(tx, app, &operation::term(tag)))?,
            channels: channels::page(tx, app, None, ALL)?,
            channel_page: page.into_iter().map(|channel| channel.id).collect(),
            channels_by_id: each(0..6, |n| channels::by_id(tx, app, sample::id(n)))?,
            installed: each(0..6, |n| channels::ordinal_of(tx, app, sample::id(n)))?,
            terms_of_channels: channels::terms_from(tx, app, 1, 3)?,
            recipients: sample::reached_between(tx, app, BETWEEN, EVERYTHING)?,
            recipients_among: sample::reached_among(tx, app, &AMONG, EVERYTHING)?,
            n_keys: each(0..4, |n| Ok(channels::keys_of(tx, app, Ordinal(n))?.len()))?,
            key_holders: each(0..6, |n| channels::by_key(tx, app, &operation::key(n)))?,
            documents: documents::list(tx, app, DocumentKind::Platform)?,
            first_document: documents::get(tx, app, DocumentKind::Platform, "0")?,
            pushes: each(0..3, |n| pushes::by_id(tx, app, sample::id(n)))?,
            tallies: each(0..3, |n| pushes::tallies(tx, app, sample::id(n)))?,
            unsettled: each(0..3, |n| blocks::unsettled(tx, app, sample::id(n)))?,
            blocks: each(0..6, |n| blocks::get(tx, app, &sample::block(n / 2, n % 2)))?,
            totals: each(DEVICE_TYPES, |device_type| sample::total(tx, app, Metric::Sends, &device_type))?,
            kept: each(0..3, |key: u8| idempotency::find(tx, app, &key.to_string()))?,
            sandbox_head: sandbox::head(tx, app)?,
            sandbox: sandbox::after(tx, app, 0, Filter::default(), ALL)?,
            sandbox_page: sandbox::after(tx, app, 1, of_push, 2)?,
            sandbox_newest: sandbox::newest(tx, app, i64::MAX, of_push, 2)?,
        })
    }
}

fn each<N, T>(names: impl IntoIterator<Item = N>, look: impl FnMut(N) -> store::Result<T>) -> store::Result<Vec<T>> {
    names.into_iter().map(look).collect()
}

impl Model {
    pub(super) fn view(&self) -> View {
        View {
            apps: self.apps.values().map(|state| state.app.clone()).collect(),
            of_apps: APPS.map(|app| self.view_of(AppId(app))).collect(),
            job_depth: (to_i64(self.jobs.len()), to_i64(self.jobs.values().filter(|job| job.leased).count())),
            next_due: self.jobs.values().map(|job| job.due).min(),
            jobs: self.jobs.iter().map(|(key, job)| (*key, job.due)).collect(),
        }
    }

    fn view_of(&self, app: AppId) -> AppView {
        let state = self.apps.get(&app);
        let log: Vec<_> = of(app, &self.log, |(app, _)| *app).map(|(_, record)| record.clone()).collect();
        let terms =
            of(app, &self.terms, |(app, _)| *app).map(|((_, id), (group, tag))| (*id, group.clone(), tag.clone()));
        let terms: Vec<_> = terms.collect();
        let channels: Vec<_> = of(app, &self.channels, |(app, _)| *app).map(|(_, channel)| channel.clone()).collect();
        let by_id = |n| channels.iter().find(|channel| channel.id == sample::id(n));
        let installed = || channels.iter().filter(|channel| channel.installed);
        let recipients: Vec<_> = installed().filter_map(recipient).collect();
        let between = |recipient: &&Reached| (BETWEEN.0..=BETWEEN.1).contains(&recipient.ordinal);
        let blocks = || of(app, &self.blocks, |(app, ..)| *app);
        let tallies =
            |n| of(app, &self.tallies, |(app, ..)| *app).filter(move |((_, push, _), _)| *push == sample::id(n));
        let documents: Vec<_> =
            of(app, &self.documents, |(app, _)| *app).map(|(_, document)| document.clone()).collect();
        let sandbox =
            of(app, &self.sandbox, |(app, _)| *app).map(|((_, position), delivery)| (*position, delivery.clone()));
        let sandbox: Vec<_> = sandbox.collect();
        let of_push: Vec<_> =
            sandbox.iter().filter(|(_, delivery)| delivery.push == sample::id(OF_PUSH)).cloned().collect();
        let page = by_id(PAGE_CHANNEL).map(|first| channels.iter().filter(|channel| channel.ordinal >= first.ordinal));
        AppView {
            secrets: state.map(|state| (state.secrets.app, state.secrets.master)),
            by_key: state.map(|state| state.app.id),
            log_head: Offset(state.map_or(0, |state| state.log_head)),
            log_page: log.iter().filter(|record| record.offset > Offset(2)).take(2).cloned().collect(),
            log,
            term_numbers: (0..3)
                .map(|tag| {
                    terms.iter().find(|(_, _, known)| operation::term(tag).key().1 == *known).map(|(id, ..)| *id)
                })
                .collect(),
            terms,
            channel_page: page.into_iter().flatten().map(|channel| channel.id).take(2).collect(),
            channels_by_id: (0..6).map(|n| by_id(n).cloned()).collect(),
            installed: (0..6)
                .map(|n| by_id(n).filter(|channel| channel.installed).map(|found| found.ordinal))
                .collect(),
            terms_of_channels: installed()
                .filter(|channel| channel.ordinal >= Ordinal(1))
                .map(|channel| (channel.ordinal, channel.terms.clone()))
                .take(3)
                .collect(),
            recipients: recipients.iter().filter(between).cloned().collect(),
            recipients_among: recipients.iter().filter(|found| AMONG.contains(&found.ordinal)).cloned().collect(),
            channels,
            n_keys: (0..4)
                .map(|n| self.keys.iter().filter(|((of, _), holder)| *of == app && **holder == Ordinal(n)).count())
                .collect(),
            key_holders: (0..6).map(|n| self.keys.get(&(app, operation::key(n))).copied()).collect(),
            first_document: documents.iter().find(|document| document.id == "0").cloned(),
            documents,
            pushes: (0..3).map(|n| self.pushes.get(&(app, sample::id(n))).cloned()).collect(),
            tallies: (0..3)
                .map(|n| tallies(n).map(|((_, _, device_type), tally)| (device_type.clone(), tally.clone())).collect())
                .collect(),
            unsettled: (0..3)
                .map(|n| {
                    blocks().filter(|((_, push, _), progress)| *push == sample::id(n) && !progress.settled).count()
                })
                .map(to_i64)
                .collect(),
            blocks: (0..6).map(|n| self.blocks.get(&(app, sample::id(n / 2), n % 2)).cloned()).collect(),
            totals: DEVICE_TYPES.map(|device_type| self.totals.get(&(app, device_type)).copied().unwrap_or(0)).to_vec(),
            kept: (0..3).map(|key: u8| self.kept.get(&(app, key.to_string())).map(|(_, kept)| kept.clone())).collect(),
            sandbox_head: state.map_or(0, |state| state.sandbox_head),
            sandbox_page: of_push.iter().filter(|(position, _)| *position > 1).take(2).cloned().collect(),
            sandbox_newest: of_push[of_push.len().saturating_sub(2)..].to_vec(),
            sandbox,
        }
    }
}

/// The rows of one app.
fn of<K, V>(
    app: AppId,
    map: &std::collections::BTreeMap<K, V>,
    owner: impl Fn(&K) -> AppId,
) -> impl Iterator<Item = (&K, &V)> {
    map.iter().filter(move |(key, _)| owner(key) == app)
}

fn recipient(channel: &Channel) -> Option<Reached> {
    let channel = channel.clone();
    Some(Reached {
        ordinal: channel.ordinal,
        id: channel.id,
        address: channel.address?,
        language: channel.language,
        country: channel.country,
        profile: Some(channel.profile),
    })
}

fn to_i64(n: usize) -> i64 {
    i64::try_from(n).unwrap()
}
