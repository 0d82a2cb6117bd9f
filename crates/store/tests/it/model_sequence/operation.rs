//! The operations, how they are chosen, and how they are applied to a store.

use model::app::{Mode, UserRules};
use model::device_type::DeviceType;
use model::ids::{AppId, NamedUserId, Ordinal, TermId};
use model::time::UtcMillis;
use proptest::collection::vec;
use proptest::prelude::*;
use store::apps::{self, App, SecretHashes};
use store::blocks::{self, BlockProgress};
use store::channels::{self, Channel, Key};
use store::counters::{self, Metric};
use store::documents::{self, DocumentKind};
use store::idempotency::{self, Kept};
use store::jobs::{self, ClaimedJob};
use store::pushes::{self, PushState, PushTexts, Tally};
use store::{Tx, log, sandbox, terms};

use crate::sample;

pub(super) const DEVICE_TYPES: [DeviceType; 2] = [DeviceType::Ios, DeviceType::Web];
/// Long enough that it is not stored as it is.
const LONG_VALUE: usize = 2000;

#[derive(Clone, Debug)]
pub(super) struct Transaction {
    /// Milliseconds since the last one.
    pub(super) step: i64,
    pub(super) operations: Vec<Operation>,
}

/// What an operation can look at besides its own fields.
#[derive(Clone, Debug)]
pub(super) struct Circumstances {
    pub(super) now: UtcMillis,
    /// Every job claimed so far, also those that have been settled or lost since.
    pub(super) held: Vec<ClaimedJob>,
}

impl Circumstances {
    pub(super) fn in_ms(&self, ms: i64) -> UtcMillis {
        UtcMillis(self.now.0 + ms)
    }

    pub(super) fn job(&self, n: usize) -> Option<&ClaimedJob> {
        self.held.get(n.checked_rem(self.held.len())?)
    }
}

#[derive(Clone, Debug)]
pub(super) enum Operation {
    CreateApp { n: u8 },
    ChangeApp { app: AppId, n: u8 },
    DeleteApp { app: AppId },
    EraseApp { app: AppId, at_most: u64 },
    Append { app: AppId, n: u8 },
    NumberTerm { app: AppId, tag: u8 },
    Register { app: AppId, n: u32, traits: u32 },
    UpdateChannel { app: AppId, ordinal: u32, n: u32, traits: u32 },
    SetKeys { app: AppId, ordinal: u32, keys: Vec<u8> },
    Enqueue { app: AppId, n: u32, due_in: i64 },
    Claim { lease: i64, at_most: u32 },
    Renew { held: usize, lease: i64 },
    Postpone { held: usize, delay: i64 },
    Settle { held: usize },
    ReleaseAll,
    Put { app: AppId, n: u8, body: u8 },
    Remove { app: AppId, n: u8 },
    Accept { app: AppId, n: u32 },
    SetState { app: AppId, n: u32, state: PushState },
    AddTally { app: AppId, n: u32, device_type: usize, count: u64, reason: Option<u8> },
    AddBlock { app: AppId, n: u32, number: u32 },
    SaveBlock { app: AppId, n: u32, number: u32, tries: u32, settled: bool },
    Count { app: AppId, device_type: usize, hours_ago: i64, n: u64 },
    Keep { app: AppId, key: u8, n: u8 },
    Forget { age: i64 },
    Deliver { app: AppId, push: u32, n: u32 },
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    Done,
    Was(bool),
    Number(i64),
    Claimed(Vec<ClaimedJob>),
    Robbed(Vec<(Ordinal, Key)>),
}

pub(super) fn transaction() -> impl Strategy<Value = Transaction> {
    (tens(0..4), vec(operation(), 1..4)).prop_map(|(step, operations)| Transaction { step, operations })
}

fn operation() -> impl Strategy<Value = Operation> {
    let of_apps = prop_oneof![
        (0..4_u8).prop_map(|n| Operation::CreateApp { n }),
        (app(), 0..4_u8).prop_map(|(app, n)| Operation::ChangeApp { app, n }),
        app().prop_map(|app| Operation::DeleteApp { app }),
        (app(), 1..4_u64).prop_map(|(app, at_most)| Operation::EraseApp { app, at_most }),
        (app(), 0..4_u8).prop_map(|(app, n)| Operation::Append { app, n }),
        (app(), 0..3_u8).prop_map(|(app, tag)| Operation::NumberTerm { app, tag }),
    ];
    let of_channels = prop_oneof![
        (app(), 0..6_u32, 0..64_u32).prop_map(|(app, n, traits)| Operation::Register { app, n, traits }),
        (app(), 0..4_u32, 0..6_u32, 0..64_u32).prop_map(|(app, ordinal, n, traits)| Operation::UpdateChannel {
            app,
            ordinal,
            n,
            traits
        }),
        (app(), 0..4_u32, vec(0..6_u8, 0..4)).prop_map(|(app, ordinal, keys)| Operation::SetKeys {
            app,
            ordinal,
            keys
        }),
    ];
    let of_jobs = prop_oneof![
        (app(), 0..6_u32, tens(-2..6)).prop_map(|(app, n, due_in)| Operation::Enqueue { app, n, due_in }),
        (app(), 0..6_u32, tens(-2..6)).prop_map(|(app, n, due_in)| Operation::Enqueue { app, n, due_in }),
        (tens(0..10), 0..4_u32).prop_map(|(lease, at_most)| Operation::Claim { lease, at_most }),
        (tens(0..10), 0..4_u32).prop_map(|(lease, at_most)| Operation::Claim { lease, at_most }),
        (any::<usize>(), tens(0..10)).prop_map(|(held, lease)| Operation::Renew { held, lease }),
        (any::<usize>(), tens(0..10)).prop_map(|(held, delay)| Operation::Postpone { held, delay }),
        any::<usize>().prop_map(|held| Operation::Settle { held }),
        Just(Operation::ReleaseAll),
    ];
    let of_pushes = prop_oneof![
        (app(), 0..2_u32).prop_map(|(app, n)| Operation::Accept { app, n }),
        (app(), 0..2_u32, prop_oneof![Just(PushState::Sending), Just(PushState::Done)])
            .prop_map(|(app, n, state)| Operation::SetState { app, n, state }),
        (app(), 0..2_u32, 0..2_usize, 0..5_u64, proptest::option::of(0..3_u8)).prop_map(
            |(app, n, device_type, count, reason)| Operation::AddTally { app, n, device_type, count, reason }
        ),
        (app(), 0..2_u32, 0..2_u32).prop_map(|(app, n, number)| Operation::AddBlock { app, n, number }),
        (app(), 0..2_u32, 0..2_u32, 0..9_u32, any::<bool>())
            .prop_map(|(app, n, number, tries, settled)| { Operation::SaveBlock { app, n, number, tries, settled } }),
    ];
    let of_the_rest = prop_oneof![
        (app(), 0..3_u8, 0..9_u8).prop_map(|(app, n, body)| Operation::Put { app, n, body }),
        (app(), 0..3_u8).prop_map(|(app, n)| Operation::Remove { app, n }),
        (app(), 0..2_usize, 0..3_i64, 0..9_u64).prop_map(|(app, device_type, hours_ago, n)| Operation::Count {
            app,
            device_type,
            hours_ago,
            n
        }),
        (app(), 0..3_u8, 0..9_u8).prop_map(|(app, key, n)| Operation::Keep { app, key, n }),
        tens(0..20).prop_map(|age| Operation::Forget { age }),
        (app(), 0..2_u32, 0..4_u32).prop_map(|(app, push, n)| Operation::Deliver { app, push, n }),
    ];
    prop_oneof![of_apps, of_channels, of_jobs, of_pushes, of_the_rest]
}

/// The apps made at the beginning more often than those that may come later, or never.
fn app() -> impl Strategy<Value = AppId> {
    prop_oneof![5 => Just(AppId(1)), 2 => Just(AppId(2)), 1 => Just(AppId(3))]
}

/// Milliseconds in steps, so that things often happen at the very same time.
fn tens(range: std::ops::Range<i64>) -> impl Strategy<Value = i64> {
    range.prop_map(|n| n * 10)
}

impl Operation {
    pub(super) fn apply(&self, tx: &mut Tx<'_>, circumstances: &Circumstances) -> store::Result<Answer> {
        let now = circumstances.now;
        match self {
            Operation::CreateApp { n } => Ok(Answer::Number(apps::insert(tx, &sample::app(*n))?.id.0)),
            Operation::ChangeApp { app, n } => {
                let changed = App {
                    id: *app,
                    key: sample::app(*n).key,
                    name: format!("changed {n}"),
                    mode: Mode::Production,
                    user_rules: UserRules::default(),
                    approval_above: Some(u32::from(*n)),
                    web_origins: Vec::new(),
                    proof_public_key: None,
                    created: now,
                    data_changed: UtcMillis::default(),
                };
                apps::change(tx, &changed)?;
                apps::set_secrets(tx, *app, &secrets(*n)).map(done)
            }
            Operation::DeleteApp { app } => apps::delete(tx, *app).map(Answer::Was),
            Operation::EraseApp { app, at_most } => {
                while apps::erase_some(tx, *app, *at_most)? {}
                Ok(Answer::Done)
            }
            Operation::Append { app, n } => {
                Ok(Answer::Number(log::append(tx, *app, now, vec![sample::record([*n]); usize::from(*n)])?.0))
            }
            Operation::NumberTerm { app, tag } => {
                Ok(Answer::Number(i64::from(terms::insert(tx, *app, &term(*tag))?.0)))
            }
            Operation::Register { app, n, traits } => {
                let ordinal = apps::take_ordinal(tx, *app)?;
                channels::insert(tx, *app, &channel(ordinal, *n, *traits))?;
                Ok(Answer::Number(i64::from(ordinal.0)))
            }
            Operation::UpdateChannel { app, ordinal, n, traits } => {
                channels::update(tx, *app, &channel(Ordinal(*ordinal), *n, *traits)).map(done)
            }
            Operation::SetKeys { app, ordinal, keys } => {
                let keys: Vec<_> = keys.iter().copied().map(key).collect();
                channels::replace_keys(tx, *app, Ordinal(*ordinal), &keys).map(Answer::Robbed)
            }
            Operation::Enqueue { app, n, due_in } => {
                jobs::enqueue(tx, *app, sample::job(*n, circumstances.in_ms(*due_in).0)).map(done)
            }
            Operation::Claim { lease, at_most } => {
                sample::claim(tx, now, circumstances.in_ms(*lease), *at_most).map(Answer::Claimed)
            }
            Operation::Renew { held, lease } => match circumstances.job(*held) {
                Some(job) => jobs::renew(tx, job, circumstances.in_ms(*lease)).map(done),
                None => Ok(Answer::Done),
            },
            Operation::Postpone { held, delay } => match circumstances.job(*held) {
                Some(job) => jobs::postpone(tx, job, circumstances.in_ms(*delay)).map(done),
                None => Ok(Answer::Done),
            },
            Operation::Settle { held } => match circumstances.job(*held) {
                Some(job) => jobs::settle(tx, job).map(done),
                None => Ok(Answer::Done),
            },
            Operation::ReleaseAll => jobs::release_all(tx, now).map(count),
            Operation::Put { app, n, body } => {
                documents::put(tx, *app, DocumentKind::Platform, &n.to_string(), &body.to_string(), now).map(done)
            }
            Operation::Remove { app, n } => {
                documents::delete(tx, *app, DocumentKind::Platform, &n.to_string()).map(Answer::Was)
            }
            Operation::Accept { app, n } => {
                pushes::insert(tx, *app, &sample::push(*n), &PushTexts::default()).map(done)
            }
            Operation::SetState { app, n, state } => {
                pushes::set_state(tx, *app, sample::id(*n), *state, sample::NOW).map(done)
            }
            Operation::AddTally { app, n, device_type, count, reason } => {
                let tally = tally(*count, *reason);
                pushes::add_tally(tx, *app, sample::id(*n), &DEVICE_TYPES[*device_type], &tally).map(done)
            }
            Operation::AddBlock { app, n, number } => {
                blocks::insert(tx, *app, &sample::block(*n, *number), sample::progress()).map(done)
            }
            Operation::SaveBlock { app, n, number, tries, settled } => {
                blocks::save(tx, *app, &sample::block(*n, *number), progress(*tries, *settled)).map(done)
            }
            Operation::Count { app, device_type, hours_ago, n } => {
                let at = circumstances.in_ms(-hours_ago * 3_600_000);
                counters::add(tx, *app, Metric::Sends, at, &DEVICE_TYPES[*device_type], *n).map(done)
            }
            Operation::Keep { app, key, n } => idempotency::keep(tx, *app, &key.to_string(), &kept(*n), now).map(done),
            Operation::Forget { age } => {
                idempotency::forget_before(tx, &store::Part::ALL, circumstances.in_ms(-age), u32::MAX).map(count)
            }
            Operation::Deliver { app, push, n } => {
                let deliveries: Vec<_> = (0..*n).map(|channel| sample::delivery(*push, channel)).collect();
                sandbox::add(tx, *app, &deliveries).map(done)
            }
        }
    }
}

fn done((): ()) -> Answer {
    Answer::Done
}

fn count(n: u64) -> Answer {
    Answer::Number(i64::try_from(n).unwrap())
}

pub(super) fn secrets(n: u8) -> SecretHashes {
    SecretHashes { app: [n | 0x80; 32], master: [n | 0x40; 32] }
}

pub(super) fn term(tag: u8) -> model::term::Term {
    sample::term("group", &tag.to_string())
}

/// Every bit of `traits` is about one column.
pub(super) fn channel(ordinal: Ordinal, n: u32, traits: u32) -> Channel {
    let has = |bit: u32| traits & (1 << bit) != 0;
    Channel {
        ordinal,
        installed: has(0),
        address: has(1).then(|| format!("address {traits}")),
        language: has(2).then(|| "en".to_owned()),
        named_user: NamedUserId::new("Ann").ok().filter(|_| has(3)),
        last_registration: has(4).then_some(UtcMillis(i64::from(traits))),
        terms: (0..6).filter(|bit| has(*bit)).map(|bit| TermId(bit * 100)).collect(),
        ..sample::channel(n)
    }
}

pub(super) fn key(n: u8) -> Key {
    let value = if n == 5 { "long ".repeat(LONG_VALUE) } else { (n / 2).to_string() };
    sample::key(if n.is_multiple_of(2) { "address" } else { "device" }, value)
}

pub(super) fn tally(count: u64, reason: Option<u8>) -> Tally {
    Tally {
        targeted: count,
        delivered: count * 2,
        gone: count * 3,
        failed: count * 4,
        expired: count * 5,
        reason: reason.map(|n| format!("reason {n}")),
    }
}

pub(super) fn progress(tries: u32, settled: bool) -> BlockProgress {
    BlockProgress { settled, tries, delivered: vec![1; tries as usize], ..sample::progress() }
}

pub(super) fn kept(n: u8) -> Kept {
    Kept { request: vec![n], answer: n.to_string() }
}
