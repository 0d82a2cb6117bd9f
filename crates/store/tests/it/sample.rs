//! Rows to store, each told apart by a number.

use model::app::{AppKey, Mode};
use model::device_type::DeviceType;
use model::event::RecordKind;
use model::ids::{AppId, ChannelId, Id, Offset, Ordinal, TermId};
use model::payload::push_type::PushType;
use model::tag::{Tag, TagGroup};
use model::term::Term;
use model::time::UtcMillis;
use store::apps::{self, NewApp, SecretHashes};
use store::blocks::{BlockKey, BlockProgress};
use store::channels::{Channel, Key};
use store::counters::{self, Grain, Metric};
use store::jobs::{self, ClaimedJob, Lane, NewJob};
use store::log::NewRecord;
use store::nodes::Node;
use store::pushes::{PushRow, PushState};
use store::recipients::{self, Recipient, Wanted};
use store::sandbox::SandboxDelivery;
use store::{Error, Store, Tx};
use uuid::Uuid;

pub(crate) const NOW: UtcMillis = UtcMillis(1_700_000_000_000);

pub(crate) fn id<Kind>(n: u32) -> Id<Kind> {
    Id::from_uuid(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0000 | u128::from(n)))
}

pub(crate) fn app(n: u8) -> NewApp {
    NewApp {
        key: AppKey::new(&format!("app-{n:018}")).unwrap(),
        name: format!("App {n}"),
        mode: Mode::Development,
        created: NOW,
        secrets: SecretHashes { app: [n; 32], master: [n ^ 0xff; 32] },
    }
}

/// Makes an app and answers its number.
pub(crate) async fn make_app(store: &Store, n: u8) -> AppId {
    let made = store.write(AppId(0), move |tx| apps::insert(tx, &app(n))).await;
    made.unwrap().id
}

/// A channel that can be reached.
pub(crate) fn channel(n: u32) -> Channel {
    Channel {
        ordinal: Ordinal(n),
        id: id(n),
        device_type: DeviceType::Android,
        installed: true,
        address: Some(format!("address {n}")),
        language: Some("de".to_owned()),
        country: None,
        named_user: None,
        created: NOW,
        last_registration: Some(NOW),
        terms: vec![TermId(n), TermId(n + 300)],
        profile: format!("{{\"n\":{n}}}"),
    }
}

pub(crate) fn key(kind: &str, value: impl Into<String>) -> Key {
    Key { kind: kind.to_owned(), value: value.into() }
}

pub(crate) fn term(group: &str, tag: &str) -> Term {
    Term::Tag { group: TagGroup::new(group).unwrap(), tag: Tag::new(tag).unwrap() }
}

pub(crate) fn record(body: impl Into<Vec<u8>>) -> NewRecord {
    NewRecord { kind: RecordKind::Send, ordinal: None, body: body.into() }
}

pub(crate) fn job(n: u32, due: i64) -> NewJob {
    NewJob {
        id: id(n),
        kind: "sample",
        lane: "sample".to_owned(),
        due: UtcMillis(due),
        turn: 0,
        push: None,
        payload: n.to_be_bytes().to_vec(),
    }
}

pub(crate) fn node(n: u32) -> Node {
    serde_json::from_str(&n.to_string()).unwrap()
}

/// Claims what has been due the longest, always as the same node.
pub(crate) fn claim(
    tx: &mut Tx<'_>,
    now: UtcMillis,
    lease_until: UtcMillis,
    at_most: u32,
) -> store::Result<Vec<ClaimedJob>> {
    let due = jobs::due(tx, &store::Part::ALL, now, at_most)?;
    let wanted: Vec<_> = due.jobs.iter().take(at_most as usize).map(|job| (job.app, job.id)).collect();
    jobs::claim(tx, node(7), &wanted, now, lease_until)
}

pub(crate) fn push(n: u32) -> PushRow {
    PushRow {
        id: id(n),
        operation: id(n + 1000),
        created: NOW,
        expires: None,
        push_type: PushType::UnicastPush,
        state: PushState::Accepted,
        paused: false,
        accepted_at: Offset(i64::from(n)),
        redact: false,
        payload: Some(format!("{{\"n\":{n}}}")),
    }
}

pub(crate) fn block(push: u32, number: u32) -> BlockKey {
    BlockKey { push: id(push), device_type: DeviceType::Android, number }
}

pub(crate) fn progress() -> BlockProgress {
    BlockProgress {
        settled: false,
        tries: 0,
        pending: vec![1, 2, 3],
        delivered: Vec::new(),
        gone: Vec::new(),
        failed: Vec::new(),
    }
}

pub(crate) fn delivery(push: u32, channel: u32) -> SandboxDelivery {
    SandboxDelivery {
        delivery: id(push * 1_000_000 + channel),
        push: id(push),
        channel: id(channel),
        device_type: "android".to_owned(),
        transport: "fcm".to_owned(),
        at: NOW,
        request: format!("{{\"push\":{push},\"channel\":{channel}}}"),
    }
}

/// The name carried by a conflict.
pub(crate) fn conflict<T: std::fmt::Debug>(done: store::Result<T>) -> String {
    match done {
        Err(Error::Conflict(constraint)) => constraint.to_string(),
        other => panic!("a conflict was expected: {other:?}"),
    }
}

pub(crate) fn lane(app: AppId) -> Lane {
    Lane { app, name: "sample".to_owned() }
}

/// A recipient that outlives its row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) ordinal: Ordinal,
    pub(crate) id: ChannelId,
    pub(crate) address: String,
    pub(crate) language: Option<String>,
    pub(crate) country: Option<String>,
    pub(crate) profile: Option<String>,
}

impl From<Recipient<'_>> for Reached {
    fn from(Recipient { ordinal, id, address, language, country, profile }: Recipient<'_>) -> Self {
        let [language, country, profile] = [language, country, profile].map(|text| text.map(str::to_owned));
        Self { ordinal, id, address: address.to_owned(), language, country, profile }
    }
}

pub(crate) fn reached_between(
    tx: &mut Tx<'_>,
    app: AppId,
    (first, last): (Ordinal, Ordinal),
    wanted: Wanted,
) -> store::Result<Vec<Reached>> {
    let mut reached = Vec::new();
    recipients::visit_between(tx, app, first, last, wanted, |recipient| reached.push(recipient.into()))?;
    Ok(reached)
}

pub(crate) fn reached_among(
    tx: &mut Tx<'_>,
    app: AppId,
    ordinals: &[Ordinal],
    wanted: Wanted,
) -> store::Result<Vec<Reached>> {
    let mut reached = Vec::new();
    recipients::visit_among(tx, app, ordinals, wanted, |recipient| reached.push(recipient.into()))?;
    Ok(reached)
}

/// How many jobs wait or run, and how many of them are leased.
pub(crate) fn job_depth(tx: &mut Tx<'_>) -> store::Result<(i64, i64)> {
    let sql = "select count(*), coalesce(cast(sum(case when leased > 0 then 1 else 0 end) as bigint), 0) from job";
    tx.query_one(sql, &[], |row| Ok((row.get(0)?, row.get(1)?)))
}

/// What an app has counted over all time, which has to be the same by the hour and by the day.
pub(crate) fn total(tx: &mut Tx<'_>, app: AppId, metric: Metric, device_type: &DeviceType) -> store::Result<i64> {
    let hours = counters::sums(tx, app, &[metric], &(i64::MIN..i64::MAX), Grain::Hour)?;
    let by_hour: i64 = hours.iter().filter(|sum| sum.device_type == *device_type).map(|sum| sum.n).sum();
    let days = counters::totals_until(tx, app, &[metric], i64::MAX)?;
    let by_day: i64 = days.iter().filter(|total| total.device_type == *device_type).map(|total| total.n).sum();
    assert_eq!(by_hour, by_day);
    Ok(by_hour)
}
